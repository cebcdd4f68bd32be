//! Errata: recorded mistakes in a vendor's text, and what is right.
//!
//! In: a YAML list. Out: [`Erratum`]s by intrinsic name. An erratum says which intrinsics it
//! is about (names with alternatives in braces), what is wrong, what is right and how that is
//! known. It is never applied silently: what it was applied to is recorded in the
//! instruction's origin and counted by the loader. It reads no vendor text.
//!
//! ```yaml
//! - erratum: kortest-value
//!   intrinsics: ["_mm512_kortest{z,c}"]
//!   texts: 1f0c2d3e 98badcfe
//!   wrong: The text sets flags; the function returns one of them.
//!   established: Compared with the processor on random and edge masks.
//!   right:
//!     signed: [a]            # these operands hold signed elements
//!     elements: {a: SI8}     # these hold such elements, in the vendor's words
//!     types: {i: int}        # the C function takes these types, at run time; or returns, `dst`
//!     rounding: [sae]        # these operands choose the direction of rounding
//!     zero_from: 32          # bits of the result from this one up are zero
//!     pseudocode: |          # a text of our own instead; {W}, {E}, {N}: width of the result,
//!       dst[31:0] := 0       # of an element of the first operand that has any, W/E
//!     lines: {"9f3a01bc": "i := j*8"}  # instead of the line of that mark, wherever it stands
//!     refuse: a reason       # the text cannot be used, nor is there a better one here
//! ```
//!
//! `texts` names what the erratum was found in, by eight digits for each text ([`VendorText`]): the
//! body, or where only operands are mended their declarations. In a file of another version,
//! which says something else there, the erratum is not applied. Without `texts` it is applied
//! to all of its intrinsics. `lines` name what they mend by themselves: a line, which may stand in
//! texts of versions that nobody here has; the rest of the text stays the vendor's.
//!
//! An erratum with `right: {}` records a mistake that the reading here is not misled by.

use crate::family::Mapped;
use crate::family::expr::{Bindings, Value};
use crate::family::template::{Problem, Template};
use crate::intel::types::c_type_width;
use crate::manifest::read;
use crate::signature::{Signature, element_of};
use crate::yaml::error as yaml_error;
use semantics::diagnostic::Diagnostic;
use semantics::instruction::{Element, Instruction, Role};
use semantics::span::{Source, Span};
use semantics::spelling::Spelling;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// One recorded mistake.
#[derive(Clone, Debug)]
pub struct Erratum {
    /// Its name.
    pub name: String,
    /// What is wrong, in our words.
    pub wrong: String,
    /// How that was established.
    pub established: String,
    /// What is right.
    right: Right,
    /// The marks of the texts that it mends; it mends any where there are none.
    texts: BTreeSet<u32>,
    /// The file, for diagnostics about the replacement text.
    source: Source,
}

#[derive(Clone, Debug)]
struct Right {
    signed: Vec<String>,
    elements: BTreeMap<String, Element>,
    types: BTreeMap<String, String>,
    rounding: Vec<String>,
    zero_from: Option<u32>,
    pseudocode: Option<Template>,
    refuse: Option<String>,
    lines: BTreeMap<u32, String>,
}

/// Errata by the name of the intrinsic.
#[derive(Clone, Debug, Default)]
pub struct Errata {
    by_intrinsic: BTreeMap<String, Vec<Arc<Erratum>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawErratum {
    erratum: String,
    intrinsics: Vec<String>,
    #[serde(default)]
    texts: String,
    wrong: String,
    established: String,
    right: RawRight,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRight {
    #[serde(default)]
    signed: Vec<String>,
    #[serde(default)]
    elements: BTreeMap<String, String>,
    #[serde(default)]
    types: BTreeMap<String, String>,
    #[serde(default)]
    rounding: Vec<String>,
    zero_from: Option<u32>,
    pseudocode: Option<String>,
    refuse: Option<String>,
    #[serde(default)]
    lines: BTreeMap<String, String>,
}

/// Reads a file of errata.
///
/// # Errors
/// What is wrong with it, each with its place.
pub fn load(path: &Path) -> Result<Errata, Vec<Diagnostic>> {
    let source = read(path).map_err(|d| vec![d])?;
    parse(&source)
}

/// Reads errata from a text.
///
/// # Errors
/// What is wrong with it, each with its place.
pub fn parse(source: &Source) -> Result<Errata, Vec<Diagnostic>> {
    let raw: Vec<RawErratum> =
        crate::yaml::from_str(source.text()).map_err(|e| vec![yaml_error(source, 0, &e)])?;
    let mut errata = Errata::default();
    let mut problems = Vec::new();
    for item in raw {
        let place = place_of(source, &item.erratum);
        let problem = |message: String| Diagnostic::error(message).at(source, place);
        let named = Spelling::Name.check("an erratum", &item.erratum);
        let names: Result<Vec<Vec<String>>, String> =
            named.and_then(|()| item.intrinsics.iter().map(|p| alternatives(p)).collect());
        let pseudocode = item.right.pseudocode.as_deref().map(|text| {
            let mut mapped = Mapped::default();
            push_block(&mut mapped, text, source, place);
            Template::parse(mapped).map_err(|p: Problem| p.message)
        });
        let elements = elements(&item.right.elements)
            .and_then(|elements| known(&item.right.types).map(|()| elements));
        let texts: Result<BTreeSet<u32>, String> =
            item.texts.split_whitespace().map(read_mark).collect();
        let lines = lines(item.right.lines);
        let elements = elements.and_then(|elements| Ok((elements, texts?, lines?)));
        match (names, pseudocode.transpose(), elements) {
            (Ok(names), Ok(pseudocode), Ok((elements, texts, lines))) => {
                let erratum = Arc::new(Erratum {
                    name: item.erratum,
                    wrong: item.wrong,
                    established: item.established,
                    right: Right {
                        signed: item.right.signed,
                        elements,
                        types: item.right.types,
                        rounding: item.right.rounding,
                        zero_from: item.right.zero_from,
                        pseudocode,
                        refuse: item.right.refuse,
                        lines,
                    },
                    texts,
                    source: source.clone(),
                });
                for name in names.into_iter().flatten() {
                    let list = errata.by_intrinsic.entry(name.clone()).or_default();
                    if let Some(other) = list.iter().find(|e| e.excludes(&erratum)) {
                        let (a, b) = (&other.name, &erratum.name);
                        problems.push(problem(format!("`{a}` and `{b}` both replace `{name}`")));
                    }
                    list.push(Arc::clone(&erratum));
                }
            }
            (Err(message), ..) | (_, Err(message), _) | (.., Err(message)) => {
                problems.push(problem(message));
            }
        }
    }
    if problems.is_empty() {
        Ok(errata)
    } else {
        Err(problems)
    }
}

/// What a vendor says of an intrinsic, as marks that differ where texts do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VendorText<'a> {
    /// Of the body, blanks left out.
    pub body: u32,
    /// Of the declarations: names, types and elements of operands and result.
    pub declared: u32,
    /// The body itself, each line of which has a mark.
    pub text: &'a str,
}

impl VendorText<'_> {
    /// The marks of a body and of a signature.
    pub fn of<'a>(body: &'a str, signature: &Signature) -> VendorText<'a> {
        let returns = &signature.returns;
        let mut declared = format!("{} {}", returns.c_type, returns.element);
        for o in &signature.operands {
            declared += &format!(";{} {} {} {:?}", o.name, o.c_type, o.element, o.role);
        }
        VendorText {
            body: mark(body),
            declared: mark(&declared),
            text: body,
        }
    }
}

/// The mark of a text: FNV-1a of 32 bits over what is no blank.
fn mark(text: &str) -> u32 {
    let bytes = text.bytes().filter(|b| !b.is_ascii_whitespace());
    bytes.fold(0x811c_9dc5, |mark, byte| {
        (mark ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

/// A mark as it is written.
fn read_mark(text: &str) -> Result<u32, String> {
    let digits = text.len() == 8 && text.bytes().all(|b| b.is_ascii_hexdigit());
    let mark = digits.then(|| u32::from_str_radix(text, 16).ok()).flatten();
    mark.ok_or_else(|| format!("`{text}` is no mark of a text: eight digits of base 16"))
}

/// What stands instead of lines, by their marks.
fn lines(raw: BTreeMap<String, String>) -> Result<BTreeMap<u32, String>, String> {
    let one = |(mark, text): (String, String)| {
        // The text around them may be that of an XML file.
        if text.contains(['<', '>', '&', '\n']) {
            return Err(format!("`{text}` is no line without `<`, `>` and `&`"));
        }
        Ok((read_mark(&mark)?, text))
    };
    raw.into_iter().map(one).collect()
}

/// The elements of operands, as the vendor spells them.
fn elements(raw: &BTreeMap<String, String>) -> Result<BTreeMap<String, Element>, String> {
    raw.iter()
        .map(|(operand, etype)| match element_of(etype) {
            Element::Untyped => Err(format!("`{etype}` is no element type")),
            element => Ok((operand.clone(), element)),
        })
        .collect()
}

/// Whether types in C are known.
fn known(types: &BTreeMap<String, String>) -> Result<(), String> {
    let unknown = |c_type: &&String| c_type_width(c_type).is_none_or(|width| width == 0);
    match types.values().find(unknown) {
        Some(c_type) => Err(format!("`{c_type}` is no type of a value in C")),
        None => Ok(()),
    }
}

/// Where an erratum's name stands.
fn place_of(source: &Source, name: &str) -> Span {
    let at = source
        .text()
        .find(&format!("erratum: {name}"))
        .map_or(0, |n| n + "erratum: ".len());
    Span::new(at, at + name.len())
}

/// Adds the lines of a block, each traced to where it stands after `place`.
fn push_block(mapped: &mut Mapped, text: &str, source: &Source, place: Span) {
    let mut from = place.end;
    for line in text.split_inclusive('\n') {
        let bare = line.trim();
        let at = source.text()[from..].find(bare).map_or(from, |n| from + n);
        let indent = line.len() - line.trim_start().len();
        mapped.push_verbatim(line, at.saturating_sub(indent));
        from = at + bare.len();
    }
}

/// So many names may one pattern stand for, and so long may it be.
const MOST_NAMES: usize = 4096;
const LONGEST_PATTERN: usize = 1000;

/// The names that a pattern with alternatives in braces stands for.
fn alternatives(pattern: &str) -> Result<Vec<String>, String> {
    if pattern.len() > LONGEST_PATTERN {
        return Err(format!(
            "a pattern of names is longer than {LONGEST_PATTERN} bytes"
        ));
    }
    let (mut names, mut rest) = (vec![String::new()], pattern);
    while let Some((before, after)) = rest.split_once('{') {
        let (choices, after) = after
            .split_once('}')
            .ok_or_else(|| format!("`{{` without `}}` in `{pattern}`"))?;
        let choices: Vec<&str> = choices.split(',').collect();
        if names.len() * choices.len() > MOST_NAMES {
            return Err(format!(
                "`{pattern}` stands for more than {MOST_NAMES} names"
            ));
        }
        let longer = |name: &String| {
            let name = format!("{name}{before}");
            choices.iter().map(move |choice| format!("{name}{choice}"))
        };
        names = names.iter().flat_map(longer).collect();
        rest = after;
    }
    Ok(names.iter().map(|name| format!("{name}{rest}")).collect())
}

impl Errata {
    /// The errata about an intrinsic.
    pub fn of(&self, intrinsic: &str) -> &[Arc<Erratum>] {
        self.by_intrinsic.get(intrinsic).map_or(&[], Vec::as_slice)
    }

    /// The names that some erratum is about, in order.
    pub fn intrinsics(&self) -> impl Iterator<Item = &str> {
        self.by_intrinsic.keys().map(String::as_str)
    }
}

impl Erratum {
    /// The mark of the part of a text that it is about.
    pub fn mark(&self, found: VendorText) -> u32 {
        let right = &self.right;
        let operands = !right.signed.is_empty()
            || !right.elements.is_empty()
            || !right.types.is_empty()
            || !right.rounding.is_empty();
        let text =
            right.pseudocode.is_some() || right.refuse.is_some() || right.zero_from.is_some();
        match operands && !text {
            true => found.declared,
            false => found.body,
        }
    }

    /// Whether it mends single lines, wherever they stand.
    pub fn names_lines(&self) -> bool {
        !self.right.lines.is_empty()
    }

    /// The text with the lines that it mends; none where it mends no lines.
    pub fn amended(&self, text: &str) -> Option<String> {
        let right = |line: &str| match self.right.lines.get(&mark(line)) {
            Some(right) => format!("{right}\n"),
            None => line.to_owned(),
        };
        let lines = text.split_inclusive('\n').map(right);
        self.names_lines().then(|| lines.collect())
    }

    /// Whether what a vendor says is the text that it was found in.
    pub fn is_about(&self, found: VendorText) -> bool {
        if self.names_lines() {
            let mut lines = found.text.lines();
            return lines.any(|line| self.right.lines.contains_key(&mark(line)));
        }
        self.texts.is_empty() || self.texts.contains(&self.mark(found))
    }

    /// Whether both say what stands instead of the vendor's text.
    fn excludes(&self, other: &Erratum) -> bool {
        let text = |e: &Erratum| e.right.pseudocode.is_some() || e.right.refuse.is_some();
        let lines = (self.names_lines(), other.names_lines());
        match (text(self), text(other)) {
            (true, true) => true,
            (mine, other) => mine && lines.1 || other && lines.0,
        }
    }

    /// Why the text cannot be used, if so.
    pub fn refusal(&self) -> Option<&str> {
        self.right.refuse.as_deref()
    }

    /// Corrects a signature.
    pub fn correct_signature(&self, signature: &mut Signature) {
        if let Some(c_type) = self.right.types.get("dst") {
            let returns = &mut signature.returns;
            returns.c_type.clone_from(c_type);
            returns.width = c_type_width(c_type).unwrap_or(returns.width);
        }
        for operand in &mut signature.operands {
            if let Some(element) = self.right.elements.get(&operand.name) {
                operand.element = *element;
            }
            if let Element::Unsigned(w) = operand.element
                && self.right.signed.contains(&operand.name)
            {
                operand.element = Element::Signed(w);
            }
            if let Some(c_type) = self.right.types.get(&operand.name) {
                operand.c_type.clone_from(c_type);
                operand.width = c_type_width(c_type).unwrap_or(operand.width);
                operand.role = Role::Register;
            }
            if self.right.rounding.contains(&operand.name) {
                operand.role = Role::Rounding;
            }
        }
    }

    /// The text to be used instead of the vendor's, if there is one.
    ///
    /// # Errors
    /// When the replacement has a placeholder that nothing binds.
    pub fn replacement(&self, signature: &Signature) -> Option<Result<Mapped, Diagnostic>> {
        let template = self.right.pseudocode.as_ref()?;
        Some(template.render(&bindings(signature)).map_err(|p| {
            Diagnostic::error(p.message)
                .at(&self.source, p.span)
                .hint("an erratum's text may use {W}, {E} and {N}")
        }))
    }

    /// Moves a diagnostic on the replacement to where it was written.
    pub fn located(&self, text: &Mapped, mut diagnostic: Diagnostic) -> Diagnostic {
        if let Some((_, span)) = diagnostic.place {
            diagnostic.place = Some((self.source.clone(), text.locate(span)));
        }
        diagnostic.with_note(format!("in the erratum `{}`", self.name))
    }

    /// Corrects an instruction, and records that this was done.
    pub fn correct(&self, instruction: &mut Instruction) {
        if let (Some(from), Some(output)) = (self.right.zero_from, instruction.outputs.first_mut())
        {
            let width = output.term.width();
            if from > 0 && from < width {
                let low = semantics::build::extract(output.term, 0, from);
                output.term = semantics::build::zext(low, width);
            }
        }
        instruction.origin.errata.push(self.name.clone());
    }
}

/// Width of the result, width of an element, and how many there are.
fn bindings(signature: &Signature) -> Bindings {
    let width = i64::from(signature.returns.width);
    let element = signature
        .operands
        .iter()
        .filter(|o| o.role == Role::Register)
        .find_map(|o| o.element.width())
        .map_or(width, i64::from);
    BTreeMap::from([
        ("W".to_owned(), Value::Int(width)),
        ("E".to_owned(), Value::Int(element)),
        ("N".to_owned(), Value::Int(width / element.max(1))),
    ])
}
