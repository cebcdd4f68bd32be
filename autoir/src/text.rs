//! The text form of dictionaries.
//!
//! In: a dictionary, or its text. Out: the other one. The first line is the version, the
//! last item counts the operations, so that a file that was cut off is told from a whole one.
//! The same dictionary always gives the same bytes. What cannot be read gives diagnostics
//! that point into the text, as many as there are mistakes.
//!
//! ```text
//! isaforge-dictionary 1
//! (operation add
//!   (parameters width count)
//!   (arguments a b)
//!   (formula |i < count: dst[i] = a[i] + b[i]|)
//!   (result
//!     (bound 0 int)
//!     ...)
//!   (member _mm512_add_epi8 x86 single
//!     (mnemonic vpaddb)
//!     (features AVX512BW)
//!     (operand a __m512i u8 512 register)
//!     (returns dst __m512i u8)
//!     (values 8 64)
//!     (bind a b)
//!     (evidence |identical (1)|)))
//! (end 1)
//! ```

use crate::dictionary::{Binding, Dictionary, Evidence, Member, Operation, Returned};
use crate::lex::{fail, header, name, whole};
use semantics::diagnostic::Diagnostic;
use semantics::instruction::{Element, Form, Operand, Role};
use semantics::print::variable;
use semantics::sexpr::{self, Sexpr};
use semantics::span::Source;
use semantics::spelling::{self, Spelling};
use similarity::skeleton;
use std::fmt;

/// The first line of a dictionary.
pub const FILE_VERSION: &str = "isaforge-dictionary 1";

/// Any text as one word: between bars unless it is a plain name.
fn word(text: &str) -> String {
    variable(&text.replace(['|', '\n'], " "))
}

fn words<'a>(list: impl IntoIterator<Item = &'a String>) -> String {
    list.into_iter().map(|w| format!(" {}", word(w))).collect()
}

impl fmt::Display for Dictionary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{FILE_VERSION}")?;
        self.operations.iter().try_for_each(|o| write!(f, "{o}"))?;
        writeln!(f, "(end {})", self.operations.len())
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "(operation {}", word(&self.name))?;
        writeln!(f, "  (parameters{})", words(&self.parameters))?;
        writeln!(f, "  (arguments{})", words(&self.arguments))?;
        write!(f, "  (formula {})", word(&self.formula))?;
        if self.swizzle {
            f.write_str("\n  (swizzle)")?;
        }
        for result in &self.results {
            f.write_str("\n  (result")?;
            for node in &result.nodes {
                write!(f, "\n    {node}")?;
            }
            f.write_str(")")?;
        }
        self.members.iter().try_for_each(|m| write!(f, "{m}"))?;
        f.write_str(")\n")
    }
}

fn form(form: Form) -> &'static str {
    match form {
        Form::Single => "single",
        Form::Free => "free",
        Form::Sequence => "sequence",
        Form::Library => "library",
    }
}

impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, isa) = (word(&self.name), word(&self.isa));
        write!(f, "\n  (member {name} {isa} {}", form(self.form))?;
        if let Some(mnemonic) = &self.mnemonic {
            write!(f, "\n    (mnemonic {})", word(mnemonic))?;
        }
        if !self.features.is_empty() {
            write!(f, "\n    (features{})", words(&self.features))?;
        }
        for o in &self.operands {
            let (name, c_type) = (word(&o.name), word(&o.c_type));
            write!(
                f,
                "\n    (operand {name} {c_type} {} {} ",
                o.element, o.width
            )?;
            match o.role {
                Role::Register => f.write_str("register)")?,
                Role::Mask => f.write_str("mask)")?,
                Role::Pointer { align: 1 } => f.write_str("pointer)")?,
                Role::Pointer { align } => write!(f, "pointer {align})")?,
                Role::Rounding => f.write_str("rounding)")?,
                Role::Sae => f.write_str("sae)")?,
                Role::Scale => f.write_str("scale)")?,
                Role::Immediate { max } => write!(f, "immediate {max})")?,
                Role::Range { least, max } => write!(f, "range {least} {max})")?,
            }
        }
        for o in &self.outputs {
            let (name, c_type) = (word(&o.name), word(&o.c_type));
            write!(f, "\n    (returns {name} {c_type} {}", o.element)?;
            for (lo, hi) in &o.undefined {
                write!(f, " ({lo} {hi})")?;
            }
            f.write_str(")")?;
        }
        f.write_str("\n    (values")?;
        self.values.iter().try_for_each(|v| write!(f, " {v}"))?;
        f.write_str(")\n    (bind")?;
        for b in &self.bindings {
            match b {
                Binding::Operand(name) => write!(f, " {}", word(name))?,
                Binding::Zero => f.write_str(" 0")?,
            }
        }
        write!(f, ")\n    (evidence {}))", word(&self.evidence.to_string()))
    }
}

impl Dictionary {
    /// Reads what [`Display`](fmt::Display) writes.
    ///
    /// # Errors
    /// Diagnostics that point into the text.
    pub fn read(source: &Source) -> Result<Dictionary, Vec<Diagnostic>> {
        let range = header(source, FILE_VERSION, "a dictionary")?;
        let items = sexpr::read(source, range)?;
        let mut dictionary = Dictionary::default();
        let mut diagnostics = Vec::new();
        let mut ended = None;
        for item in &items {
            if ended.is_some() {
                diagnostics.push(
                    Diagnostic::error("the dictionary has ended before this")
                        .at(source, item.span)
                        .hint("`(end N)` is the last item of the file"),
                );
                break;
            }
            if let Some([count]) = item.form("end") {
                ended = whole::<usize>(source, count).ok();
                continue;
            }
            match operation(source, item) {
                Ok(o) => dictionary.operations.push(o),
                Err(more) => diagnostics.extend(more),
            }
        }
        if diagnostics.is_empty() && ended != Some(dictionary.operations.len()) {
            diagnostics.push(
                Diagnostic::error("the dictionary is not complete")
                    .at(source, semantics::span::Span::new(range.end, range.end))
                    .hint("the file was cut off; make it again with `isaforge build`"),
            );
        }
        dictionary.operations.sort_by(|a, b| a.name.cmp(&b.name));
        if diagnostics.is_empty() {
            Ok(dictionary)
        } else {
            Err(diagnostics)
        }
    }
}

fn names(source: &Source, list: &[Sexpr]) -> Result<Vec<String>, Diagnostic> {
    let all = list.iter().map(|e| Ok(name(source, e)?.to_owned()));
    all.collect()
}

/// Whether all of these are names: back ends write them as they are.
fn identifiers(source: &Source, what: &str, list: &[Sexpr]) -> Result<(), Diagnostic> {
    list.iter().try_for_each(|e| {
        let wrong = Spelling::Identifier.check(what, name(source, e)?);
        wrong.or_else(|wrong| fail(source, e.span, wrong))
    })
}

fn operation(source: &Source, item: &Sexpr) -> Result<Operation, Vec<Diagnostic>> {
    let one = |d: Diagnostic| vec![d];
    let Some([title, fields @ ..]) = item.form("operation") else {
        return fail(source, item.span, "expected an operation").map_err(one);
    };
    let mut out = Operation {
        name: name(source, title).map_err(one)?.to_owned(),
        parameters: Vec::new(),
        arguments: Vec::new(),
        results: Vec::new(),
        formula: String::new(),
        swizzle: false,
        members: Vec::new(),
    };
    let mut diagnostics = Vec::new();
    identifiers(
        source,
        "the name of an operation",
        std::slice::from_ref(title),
    )
    .map_err(one)?;
    for field in fields {
        if let Err(more) = operation_field(source, field, &mut out) {
            diagnostics.extend(more);
        }
    }
    if diagnostics.is_empty() {
        Ok(out)
    } else {
        Err(diagnostics)
    }
}

fn operation_field(source: &Source, e: &Sexpr, out: &mut Operation) -> Result<(), Vec<Diagnostic>> {
    let one = |d: Diagnostic| vec![d];
    if let Some(list) = e.form("parameters") {
        identifiers(source, "a parameter", list).map_err(one)?;
        out.parameters = names(source, list).map_err(one)?;
    } else if let Some(list) = e.form("arguments") {
        identifiers(source, "an argument", list).map_err(one)?;
        out.arguments = names(source, list).map_err(one)?;
    } else if let Some([text]) = e.form("formula") {
        out.formula = name(source, text).map_err(one)?.to_owned();
    } else if e.form("swizzle") == Some(&[]) {
        out.swizzle = true;
    } else if let Some(nodes) = e.form("result") {
        let parameters = out.parameters.len();
        out.results
            .push(skeleton::text::read(source, nodes, parameters)?);
    } else if let Some(fields) = e.form("member") {
        let found = member(source, e, fields).map_err(one)?;
        if found.values.len() != out.parameters.len() || found.bindings.len() != out.arguments.len()
        {
            let message = format!("`{}` has not a value for each parameter", found.name);
            return fail(source, e.span, message).map_err(one);
        }
        out.members.push(found);
    } else {
        return fail(source, e.span, "expected a part of an operation").map_err(one);
    }
    Ok(())
}

fn member(source: &Source, e: &Sexpr, fields: &[Sexpr]) -> Result<Member, Diagnostic> {
    let [title, isa, kind, fields @ ..] = fields else {
        return fail(source, e.span, "a member has a name, a set and a form");
    };
    let mut out = Member {
        name: name(source, title)?.to_owned(),
        isa: name(source, isa)?.to_owned(),
        mnemonic: None,
        form: match kind.atom() {
            Some("single") => Form::Single,
            Some("free") => Form::Free,
            Some("sequence") => Form::Sequence,
            Some("library") => Form::Library,
            _ => {
                return fail(
                    source,
                    kind.span,
                    "expected single, free, sequence or library",
                );
            }
        },
        features: Vec::new(),
        operands: Vec::new(),
        outputs: Vec::new(),
        values: Vec::new(),
        bindings: Vec::new(),
        evidence: Evidence::default(),
    };
    fields
        .iter()
        .try_for_each(|field| member_field(source, field, &mut out))?;
    spelt(&out).or_else(|wrong| fail(source, title.span, wrong))?;
    Ok(out)
}

/// Whether the names of a member are names: back ends write them as they are.
fn spelt(member: &Member) -> Result<(), String> {
    spelling::Names {
        name: &member.name,
        isa: &member.isa,
        mnemonic: member.mnemonic.as_deref(),
        features: &member.features,
        operands: &member.operands,
    }
    .check()?;
    let mut outputs = member.outputs.iter();
    outputs.try_for_each(|o| spelling::result(&o.name, &o.c_type))
}

fn member_field(source: &Source, e: &Sexpr, out: &mut Member) -> Result<(), Diagnostic> {
    if let Some([text]) = e.form("mnemonic") {
        out.mnemonic = Some(name(source, text)?.to_owned());
    } else if let Some(list) = e.form("features") {
        out.features = names(source, list)?;
    } else if let Some([title, c_type, kind, width, role @ ..]) = e.form("operand") {
        out.operands.push(Operand {
            name: name(source, title)?.to_owned(),
            c_type: name(source, c_type)?.to_owned(),
            element: element(source, kind)?,
            width: whole(source, width)?,
            role: operand_role(source, e, role)?,
        });
    } else if let Some([title, c_type, kind, undefined @ ..]) = e.form("returns") {
        let range = |r: &Sexpr| match r.list() {
            Some([lo, hi]) => Ok((whole(source, lo)?, whole(source, hi)?)),
            _ => fail(source, r.span, "expected a range of bits, as `(0 8)`"),
        };
        out.outputs.push(Returned {
            name: name(source, title)?.to_owned(),
            c_type: name(source, c_type)?.to_owned(),
            element: element(source, kind)?,
            undefined: undefined.iter().map(range).collect::<Result<_, _>>()?,
        });
    } else if let Some(list) = e.form("values") {
        let values = list.iter().map(|v| whole(source, v));
        out.values = values.collect::<Result<_, _>>()?;
    } else if let Some(list) = e.form("bind") {
        let bind = |b: &Sexpr| match b.atom() {
            Some("0") => Ok(Binding::Zero),
            _ => Ok(Binding::Operand(name(source, b)?.to_owned())),
        };
        out.bindings = list.iter().map(bind).collect::<Result<_, _>>()?;
    } else if let Some([text]) = e.form("evidence") {
        let read = Evidence::read(name(source, text)?);
        let hint = "expected steps with counts, as `identical (1)`";
        out.evidence = read.map_or_else(|| fail(source, text.span, hint), Ok)?;
    } else {
        return fail(source, e.span, "expected a part of a member");
    }
    Ok(())
}

fn operand_role(source: &Source, e: &Sexpr, role: &[Sexpr]) -> Result<Role, Diagnostic> {
    let words: Vec<Option<&str>> = role.iter().map(Sexpr::atom).collect();
    match words.as_slice() {
        [Some("register")] => Ok(Role::Register),
        [Some("mask")] => Ok(Role::Mask),
        [Some("pointer")] => Ok(Role::Pointer { align: 1 }),
        [Some("pointer"), _] => Ok(Role::Pointer {
            align: whole(source, &role[1])?,
        }),
        [Some("rounding")] => Ok(Role::Rounding),
        [Some("sae")] => Ok(Role::Sae),
        [Some("scale")] => Ok(Role::Scale),
        [Some("immediate"), _] => Ok(Role::Immediate {
            max: whole(source, &role[1])?,
        }),
        [Some("range"), _, _] => Ok(Role::Range {
            least: whole(source, &role[1])?,
            max: whole(source, &role[2])?,
        }),
        _ => fail(
            source,
            e.span,
            "an operand ends with register, mask, `pointer ALIGN`, rounding, sae, scale, `immediate MAX` or `range LEAST MAX`",
        ),
    }
}

fn element(source: &Source, e: &Sexpr) -> Result<Element, Diagnostic> {
    let text = e.atom().unwrap_or_default();
    let width = |prefix: &str| text.strip_prefix(prefix)?.parse::<u32>().ok();
    match text {
        "bf16" => return Ok(Element::Bfloat16),
        "mask" => return Ok(Element::Mask),
        "bits" => return Ok(Element::Untyped),
        _ => {}
    }
    let found = width("i")
        .map(Element::Signed)
        .or_else(|| width("u").map(Element::Unsigned))
        .or_else(|| width("f").map(Element::Float));
    match found {
        Some(element) => Ok(element),
        None => fail(source, e.span, "expected an element type, as `u8`"),
    }
}
