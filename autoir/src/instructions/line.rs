//! The lines of a table: instructions without their meanings.
//!
//! In: instances with what implements them. Out: one line for each, and back. A line that is
//! not understood is nothing: the digest of the whole has told of damage before.

use super::{Implementation, OperandSource};
use crate::program::text::Given;
use crate::program::{Bound, Formal, Instance};
use crate::transfer::Transfer;
use semantics::instruction::{Element, Form, Operand, Role};
use semantics::spelling;
use semantics::term::Term;

/// What is known of an instruction without its meaning.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// What tells the instance: the operation, the numbers, the form of the arguments.
    pub instance: &'a str,
    /// The operation and its numbers.
    pub operation: &'a str,
    /// The name in C.
    pub instruction: &'a str,
    /// What it is on the machine.
    pub form: Form,
    /// The width of its result; 0 when it only writes memory.
    pub width: u32,
    /// What it moves, when it only does that.
    pub transfer: Option<Transfer>,
    pub(super) term: usize,
    elements: &'a str,
    features: &'a str,
    rest: &'a str,
}

/// The text that tells an instance: four columns. How elements are read is not part of it.
pub(super) fn instance_text(instance: &Instance) -> String {
    let values: Vec<String> = instance.values.iter().map(i64::to_string).collect();
    let bound = |b: &Bound| match b {
        Bound::Open => "x".to_owned(),
        Bound::Zero => "0".to_owned(),
        Bound::Same(k) => format!("={k}"),
        Bound::Memory => "memory".to_owned(),
    };
    let arguments: Vec<String> = instance.arguments.iter().map(bound).collect();
    let formal = |f: &Formal| format!("{};{}", f.width, role(f.role));
    let formals: Vec<String> = instance.formals.iter().map(formal).collect();
    let range = |(lo, hi): &(u32, u32)| format!("{lo}-{hi}");
    let undefined: Vec<String> = instance.undefined.iter().map(range).collect();
    format!(
        "{} {}\t{}\t{}\t{}",
        instance.operation,
        values.join(","),
        arguments.join(","),
        formals.join("|"),
        undefined.join(",")
    )
}

/// The line of an instruction.
pub(super) fn row(instance: &Instance, implementation: &Implementation, term: usize) -> String {
    let form = match implementation.form {
        Form::Single => "single",
        Form::Free => "free",
        Form::Sequence => "sequence",
        Form::Library => "library",
    };
    let operand = |o: &Operand| {
        let (role, width) = (role(o.role), o.width);
        format!("{};{};{};{width};{role}", o.name, o.c_type, o.element)
    };
    let source = |s: &OperandSource| match s {
        OperandSource::Formal(k) => format!("x{k}"),
        OperandSource::Constant(c) => c.to_string(),
    };
    let operands: Vec<String> = implementation.operands.iter().map(operand).collect();
    let sources: Vec<String> = implementation.sources.iter().map(source).collect();
    let elements: Vec<String> = instance
        .formals
        .iter()
        .map(|f| f.element.to_string())
        .collect();
    [
        instance_text(instance),
        elements.join(","),
        instance.transfer.map_or(String::new(), |t| t.to_string()),
        term.to_string(),
        implementation.instruction.clone(),
        form.to_owned(),
        implementation.features.join(","),
        implementation.width.to_string(),
        implementation.mnemonic.clone().unwrap_or_default(),
        format!("{};{}", implementation.c_type, implementation.element),
        operands.join("|"),
        sources.join(","),
    ]
    .join("\t")
}

/// The parts of a list, of which an empty text has none.
fn list(text: &str, by: char) -> impl Iterator<Item = &str> {
    text.split(by).filter(|part| !part.is_empty())
}

impl<'a> Row<'a> {
    /// An instruction from its line.
    pub(super) fn read(line: &'a str) -> Option<Row<'a>> {
        let end = line.match_indices('\t').nth(3)?.0;
        let (instance, rest) = (line.get(..end)?, line.get(end + 1..)?);
        let mut parts = rest.splitn(8, '\t');
        Some(Row {
            instance,
            operation: instance.split('\t').next()?,
            elements: parts.next()?,
            transfer: match parts.next()? {
                "" => None,
                text => Some(Transfer::read(text)?),
            },
            term: parts.next()?.parse().ok()?,
            instruction: parts.next()?,
            form: match parts.next()? {
                "single" => Form::Single,
                "free" => Form::Free,
                "sequence" => Form::Sequence,
                "library" => Form::Library,
                _ => return None,
            },
            features: parts.next()?,
            width: parts.next()?.parse().ok()?,
            rest: parts.next()?,
        })
    }

    /// The features that it needs.
    pub fn features(&self) -> impl Iterator<Item = &'a str> + 'a {
        list(self.features, ',')
    }

    /// Whether these can be the arguments of what it implements.
    pub fn accepts(&self, given: &[Given]) -> bool {
        match (self.arguments(), self.formals()) {
            (Some(arguments), Some(formals)) => Given::fit(given, &arguments, &formals),
            _ => false,
        }
    }

    /// The form of the arguments of what it implements.
    fn arguments(&self) -> Option<Vec<Bound>> {
        let bound = |b: &str| match b {
            "x" => Some(Bound::Open),
            "0" => Some(Bound::Zero),
            "memory" => Some(Bound::Memory),
            _ => Some(Bound::Same(b.strip_prefix('=')?.parse().ok()?)),
        };
        list(self.instance.split('\t').nth(1)?, ',')
            .map(bound)
            .collect()
    }

    /// The open arguments of what it implements.
    fn formals(&self) -> Option<Vec<Formal>> {
        let arguments = self.arguments()?;
        let open = (0..arguments.len()).filter(|&k| arguments[k] == Bound::Open);
        let texts = list(self.instance.split('\t').nth(2)?, '|');
        let elements = list(self.elements, ',');
        let formal = |((k, text), read): ((usize, &str), &str)| {
            let mut parts = text.split(';');
            Some(Formal {
                name: format!("x{k}"),
                element: element(read)?,
                width: parts.next()?.parse().ok()?,
                role: read_role(parts.next()?)?,
            })
        };
        open.zip(texts).zip(elements).map(formal).collect()
    }

    /// Whether it accesses memory, or leaves bits of its result undefined: no operation of a
    /// search.
    pub fn is_plain(&self) -> bool {
        let mut columns = self.instance.split('\t').skip(1);
        let arguments = columns.next().unwrap_or_default();
        let undefined = columns.nth(1).unwrap_or_default();
        !list(arguments, ',').any(|a| a == "memory") && undefined.is_empty()
    }

    /// The bits of the result that may be anything.
    fn undefined(&self) -> Option<Vec<(u32, u32)>> {
        let range = |text: &str| {
            let (lo, hi) = text.split_once('-')?;
            Some((lo.parse().ok()?, hi.parse().ok()?))
        };
        list(self.instance.split('\t').nth(3)?, ',')
            .map(range)
            .collect()
    }

    /// What it implements, given the meaning.
    pub(super) fn instance(&self, term: Term) -> Option<Instance> {
        let (operation, values) = self.operation.rsplit_once(' ')?;
        Some(Instance {
            operation: operation.to_owned(),
            values: list(values, ',')
                .map(|v| v.parse().ok())
                .collect::<Option<_>>()?,
            arguments: self.arguments()?,
            formals: self.formals()?,
            undefined: self.undefined()?,
            transfer: self.transfer,
            term,
        })
    }

    /// How it is written.
    pub fn implementation(&self) -> Option<Implementation> {
        let mut parts = self.rest.split('\t');
        let (mnemonic, result) = (parts.next()?, parts.next()?);
        let (c_type, read_as) = result.rsplit_once(';')?;
        let operands = list(parts.next()?, '|').map(operand);
        let operands = operands.collect::<Option<Vec<_>>>()?;
        let features: Vec<String> = self.features().map(str::to_owned).collect();
        let names = spelling::Names {
            name: self.instruction,
            isa: "any",
            mnemonic: Some(mnemonic),
            features: &features,
            operands: &operands,
        };
        names.check().ok()?;
        spelling::result("dst", c_type).ok()?;
        let source = |text: &str| match text.strip_prefix('x') {
            Some(k) => Some(OperandSource::Formal(k.parse().ok()?)),
            None => Some(OperandSource::Constant(text.parse().ok()?)),
        };
        Some(Implementation {
            instruction: self.instruction.to_owned(),
            mnemonic: (!mnemonic.is_empty()).then(|| mnemonic.to_owned()),
            form: self.form,
            features,
            c_type: c_type.to_owned(),
            element: element(read_as)?,
            operands,
            sources: list(parts.next()?, ',')
                .map(source)
                .collect::<Option<_>>()?,
            width: self.width,
        })
    }
}

fn operand(text: &str) -> Option<Operand> {
    let mut parts = text.split(';');
    Some(Operand {
        name: parts.next()?.to_owned(),
        c_type: parts.next()?.to_owned(),
        element: element(parts.next()?)?,
        width: parts.next()?.parse().ok()?,
        role: read_role(parts.next()?)?,
    })
}

fn element(text: &str) -> Option<Element> {
    let width = |text: &str| text.parse().ok();
    Some(match text {
        "bf16" => Element::Bfloat16,
        "mask" => Element::Mask,
        "bits" => Element::Untyped,
        _ => match text.split_at_checked(1)? {
            ("i", w) => Element::Signed(width(w)?),
            ("u", w) => Element::Unsigned(width(w)?),
            ("f", w) => Element::Float(width(w)?),
            _ => return None,
        },
    })
}

fn role(role: Role) -> String {
    match role {
        Role::Register => "register".to_owned(),
        Role::Mask => "mask".to_owned(),
        Role::Immediate { max } => format!("immediate {max}"),
        Role::Range { least, max } => format!("range {least} {max}"),
        Role::Rounding => "rounding".to_owned(),
        Role::Sae => "sae".to_owned(),
        Role::Scale => "scale".to_owned(),
        Role::Pointer { align } => format!("pointer {align}"),
    }
}

fn read_role(text: &str) -> Option<Role> {
    Some(match text {
        "register" => Role::Register,
        "mask" => Role::Mask,
        "rounding" => Role::Rounding,
        "sae" => Role::Sae,
        "scale" => Role::Scale,
        _ if text.starts_with("pointer ") => Role::Pointer {
            align: text["pointer ".len()..].parse().ok()?,
        },
        _ => match text.strip_prefix("range ").and_then(|r| r.split_once(' ')) {
            Some((least, max)) => Role::Range {
                least: least.parse().ok()?,
                max: max.parse().ok()?,
            },
            None => Role::Immediate {
                max: text.strip_prefix("immediate ")?.parse().ok()?,
            },
        },
    })
}
