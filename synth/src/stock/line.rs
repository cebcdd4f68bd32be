//! The lines of a stock: instructions without their meanings.
//!
//! In: machine operations. Out: one line for each, and back. A line that is not
//! understood is nothing: the digest of the whole has told of damage before.

use autoir::program::Machine;
use semantics::instruction::{Element, Form, Operand, Role};
use semantics::term::Term;

/// What is known of an instruction without its meaning.
pub(crate) struct Head<'a> {
    /// Its name in C.
    pub(crate) intrinsic: &'a str,
    /// What it is on the machine.
    pub(crate) form: Form,
    /// Features that it needs.
    features: &'a str,
    /// The width of its result, 0 for what is no bits.
    pub(crate) width: u32,
    /// The number of its meaning's node.
    pub(super) term: usize,
    operation: &'a str,
    values: &'a str,
    mnemonic: &'a str,
    c_type: &'a str,
    operands: &'a str,
}

/// The line of an instruction.
pub(super) fn head(machine: &Machine, form: Form, term: usize) -> String {
    let form = match form {
        Form::Single => "single",
        Form::Free => "free",
        Form::Sequence => "sequence",
        Form::Library => "library",
    };
    let values: Vec<String> = machine.values.iter().map(i64::to_string).collect();
    let operands: Vec<String> = machine
        .operands
        .iter()
        .map(|o| {
            let (role, width) = (role(o.role), o.width);
            format!("{};{};{};{width};{role}", o.name, o.c_type, o.element)
        })
        .collect();
    [
        machine.intrinsic.clone(),
        form.to_owned(),
        machine.features.join(","),
        machine.term.sort().width().unwrap_or(0).to_string(),
        term.to_string(),
        machine.operation.clone(),
        values.join(","),
        machine.mnemonic.clone().unwrap_or_default(),
        machine.c_type.clone(),
        operands.join("|"),
    ]
    .join("\t")
}

impl<'a> Head<'a> {
    /// An instruction from its line.
    pub(super) fn read(line: &'a str) -> Option<Head<'a>> {
        let mut parts = line.split('\t');
        Some(Head {
            intrinsic: parts.next()?,
            form: match parts.next()? {
                "single" => Form::Single,
                "free" => Form::Free,
                "sequence" => Form::Sequence,
                "library" => Form::Library,
                _ => return None,
            },
            features: parts.next()?,
            width: parts.next()?.parse().ok()?,
            term: parts.next()?.parse().ok()?,
            operation: parts.next()?,
            values: parts.next()?,
            mnemonic: parts.next()?,
            c_type: parts.next()?,
            operands: parts.next()?,
        })
    }

    /// The features that it needs.
    pub(crate) fn features(&self) -> impl Iterator<Item = &'a str> + 'a {
        self.features.split(',').filter(|name| !name.is_empty())
    }

    /// Whether it has an operand that is an address.
    pub(crate) fn addresses(&self) -> bool {
        self.operands.split('|').any(|o| o.ends_with(";pointer"))
    }

    /// The instruction, given its meaning.
    pub(super) fn machine(&self, term: Term) -> Option<Machine> {
        let values = self.values.split(',').filter(|v| !v.is_empty());
        let operands = self.operands.split('|').filter(|o| !o.is_empty());
        Some(Machine {
            operation: self.operation.to_owned(),
            values: values.map(|v| v.parse().ok()).collect::<Option<_>>()?,
            intrinsic: self.intrinsic.to_owned(),
            mnemonic: (!self.mnemonic.is_empty()).then(|| self.mnemonic.to_owned()),
            operands: operands.map(operand).collect::<Option<_>>()?,
            c_type: self.c_type.to_owned(),
            features: self.features().map(str::to_owned).collect(),
            term,
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
        Role::Rounding => "rounding".to_owned(),
        Role::Sae => "sae".to_owned(),
        Role::Scale => "scale".to_owned(),
        Role::Pointer => "pointer".to_owned(),
    }
}

fn read_role(text: &str) -> Option<Role> {
    Some(match text {
        "register" => Role::Register,
        "mask" => Role::Mask,
        "rounding" => Role::Rounding,
        "sae" => Role::Sae,
        "scale" => Role::Scale,
        "pointer" => Role::Pointer,
        _ => Role::Immediate {
            max: text.strip_prefix("immediate ")?.parse().ok()?,
        },
    })
}
