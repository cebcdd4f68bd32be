//! The data file of the Intrinsics Guide.
//!
//! In: the XML text, schemas 3.4 to 3.6. Out: one [`Entry`] for each intrinsic, with the
//! place of its pseudocode in the file. It reads the pseudocode no further: [`super::guide`]
//! has it lowered.

use super::types::c_type_width;
use crate::signature::{Returned, Signature, element_of};
use roxmltree::{Document, Node, ParsingOptions};
use semantics::diagnostic::Diagnostic;
use semantics::instruction::{Element, Form, Operand, Role};
use semantics::span::{Source, Span};

mod older;
#[cfg(test)]
mod tests;

/// The most nodes of a data file; version 3.6.9 has a quarter of a million.
const MAX_NODES: u32 = 8_000_000;

/// A value that an intrinsic takes or returns, as written.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its type in C.
    pub c_type: String,
    /// Its element type; empty when not told.
    pub etype: String,
    /// Bits of an immediate.
    pub immediate_bits: Option<u32>,
    /// Bits that a pointer points at.
    pub memory_bits: Option<u32>,
    /// What an address has to be a multiple of, in bytes; 1 where nothing is said.
    pub align: u32,
}

/// One intrinsic as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// The technology: a group of instruction-set extensions.
    pub tech: String,
    /// What it returns.
    pub returns: Parameter,
    /// What it takes, in C order.
    pub parameters: Vec<Parameter>,
    /// Processor features that it needs.
    pub features: Vec<String>,
    /// The category, e.g. `Arithmetic`.
    pub category: String,
    /// The mnemonics, each with its operand form; several when it is a sequence.
    pub instructions: Vec<String>,
    /// The guide says that it is a sequence of instructions.
    pub sequence: bool,
    /// Where its pseudocode stands in the file, undecoded.
    pub operation: Option<Span>,
    /// Where the entry stands in the file.
    pub span: Span,
}

/// Reads the file.
///
/// # Errors
/// When the text is not XML at all; what is wrong with single entries is in the second
/// part of the result, and those entries are left out.
pub fn read(source: &Source) -> Result<(Vec<Entry>, Vec<Diagnostic>), Diagnostic> {
    // No document types: entities of a file's own can make it grow without bound.
    let options = ParsingOptions {
        allow_dtd: false,
        nodes_limit: MAX_NODES,
        ..ParsingOptions::default()
    };
    let document = Document::parse_with_options(source.text(), options).map_err(|error| {
        let at = error.pos();
        let line: usize = source
            .text()
            .split_inclusive('\n')
            .take(at.row.saturating_sub(1) as usize)
            .map(str::len)
            .sum();
        let place = line + at.col.saturating_sub(1) as usize;
        let (message, hint) = in_words(&error);
        Diagnostic::error(message)
            .at(source, Span::new(place, place + 1))
            .hint(hint)
    })?;
    let mut entries = Vec::new();
    let mut problems = Vec::new();
    for node in document
        .root_element()
        .children()
        .filter(|n| n.has_tag_name("intrinsic"))
    {
        match entry(node) {
            Ok(entry) => entries.push(entry),
            Err(message) => problems.push(
                Diagnostic::error(message)
                    .at(source, head(node))
                    .hint("this entry is left out"),
            ),
        }
    }
    if entries.is_empty() && problems.is_empty() {
        problems.push(
            Diagnostic::error("there is no `<intrinsic>` in this file")
                .at(source, head(document.root_element())),
        );
    }
    Ok((entries, problems))
}

/// What is wrong with a file, and how to mend it.
fn in_words(error: &roxmltree::Error) -> (String, &'static str) {
    match error {
        roxmltree::Error::DtdDetected => (
            "a document type is not read: its entities could grow without bound".to_owned(),
            "take the `<!DOCTYPE …>` away; the data file needs none",
        ),
        roxmltree::Error::NodesLimitReached => (
            format!("this file has more than {MAX_NODES} nodes"),
            "the data file of the Intrinsics Guide is expected here",
        ),
        error => (
            format!("this is not XML: {error}"),
            "the data file of the Intrinsics Guide is expected here",
        ),
    }
}

/// The place of an element's opening tag, roughly.
fn head(node: Node<'_, '_>) -> Span {
    let range = node.range();
    Span::new(range.start, range.end.min(range.start + 60))
}

fn entry(node: Node<'_, '_>) -> Result<Entry, String> {
    let attribute = |n: Node<'_, '_>, key: &str| n.attribute(key).unwrap_or("").trim().to_owned();
    let name = attribute(node, "name");
    if name.is_empty() {
        return Err("an `<intrinsic>` without a name".to_owned());
    }
    let child = |tag: &str| node.children().find(|n| n.has_tag_name(tag));
    let texts = |tag: &str| -> Vec<String> {
        node.children()
            .filter(|n| n.has_tag_name(tag))
            .filter_map(|n| n.text())
            .map(|t| t.trim().to_owned())
            .collect()
    };
    let returns = match child("return") {
        Some(r) => parameter(r),
        // Schemas before 3.5 give the type on the entry itself.
        None => Parameter {
            name: "dst".to_owned(),
            c_type: attribute(node, "rettype"),
            ..Parameter::default()
        },
    };
    if returns.c_type.is_empty() {
        return Err(format!("`{name}` has no return type"));
    }
    let described = texts("description").join(" ");
    let parameters: Vec<Parameter> = node
        .children()
        .filter(|n| n.has_tag_name("parameter"))
        .map(parameter)
        .filter(|p| p.c_type != "void")
        .map(|p| Parameter {
            align: alignment(&described, &p.name),
            ..p
        })
        .collect();
    let mut entry = Entry {
        tech: attribute(node, "tech"),
        returns,
        parameters,
        // `AVX512F/KNCNI`: either will do; the second is of a line of processors that has ended.
        features: texts("CPUID")
            .iter()
            .filter_map(|f| f.split('/').next().map(str::to_owned))
            .collect(),
        category: texts("category").into_iter().next().unwrap_or_default(),
        instructions: node
            .children()
            .filter(|n| n.has_tag_name("instruction"))
            .map(|n| {
                let words = [attribute(n, "name"), attribute(n, "form")];
                words.join(" ").trim().to_lowercase()
            })
            .collect(),
        sequence: [Some(node), child("instruction"), child("operation")]
            .into_iter()
            .flatten()
            .any(|n| attribute(n, "sequence").eq_ignore_ascii_case("true")),
        operation: operation(child("operation"))?,
        span: head(node),
        name,
    };
    older::complete(&mut entry);
    Ok(entry)
}

/// The place of a body's text; none when there is no text.
fn operation(node: Option<Node<'_, '_>>) -> Result<Option<Span>, String> {
    let Some(node) = node else { return Ok(None) };
    if node.children().any(|n| !n.is_text()) {
        return Err("an `<operation>` holds something other than text".to_owned());
    }
    let mut texts = node.children();
    let Some(first) = texts.next() else {
        return Ok(None);
    };
    let last = texts.next_back().unwrap_or(first);
    let (mut from, mut to) = (first.range().start, last.range().end);
    let text = &node.document().input_text()[from..to];
    if let Some(bare) = text.strip_prefix("<![CDATA[") {
        from += "<![CDATA[".len();
        to -= if bare.ends_with("]]>") { 3 } else { 0 };
    }
    Ok(Some(Span::new(from, to)))
}

fn parameter(node: Node<'_, '_>) -> Parameter {
    let attribute = |key: &str| node.attribute(key).unwrap_or("").trim().to_owned();
    Parameter {
        name: attribute("varname"),
        c_type: attribute("type"),
        etype: attribute("etype"),
        immediate_bits: attribute("immwidth").parse().ok(),
        memory_bits: attribute("memwidth").parse().ok(),
        align: 1,
    }
}

/// What a description says that a parameter must be a multiple of, in bytes.
fn alignment(described: &str, name: &str) -> u32 {
    let said = described
        .split(name)
        .skip(1)
        .filter_map(|rest| rest.trim_start().strip_prefix("must be aligned on a "))
        .find_map(|rest| rest.split_once("-byte boundary")?.0.parse().ok());
    said.filter(|bytes: &u32| bytes.is_power_of_two())
        .unwrap_or(1)
}

/// The floats that a C type holds; other types do not tell their elements.
fn float_type(c_type: &str) -> Element {
    match c_type.trim_start_matches("const ").trim() {
        "__m128" | "__m256" | "__m512" | "float" => Element::Float(32),
        "__m128d" | "__m256d" | "__m512d" | "double" => Element::Float(64),
        "__m128h" | "__m256h" | "__m512h" | "_Float16" => Element::Float(16),
        "__m128bh" | "__m256bh" | "__m512bh" => Element::Bfloat16,
        _ => Element::Untyped,
    }
}

/// The role of a constant that says how to compute, not with what.
fn control(name: &str, etype: &str) -> Option<Role> {
    match (name, etype) {
        ("rounding", "IMM") => Some(Role::Rounding),
        ("sae", "IMM") => Some(Role::Sae),
        ("scale", "IMM") => Some(Role::Scale),
        _ => None,
    }
}

/// The width of an immediate whose width is not told: that of the instructions' field.
const IMMEDIATE_BITS: u32 = 8;

impl Parameter {
    /// The operand that this parameter is; pointers are 64-bit addresses.
    fn operand(&self) -> Operand {
        let pointer = self.c_type.contains('*') || self.c_type.contains('[');
        let (role, width) = if pointer {
            (Role::Pointer { align: self.align }, 64)
        } else if let Some(role) = control(&self.name, &self.etype) {
            (role, IMMEDIATE_BITS)
        } else if let Some(max) = super::constants::most(&self.c_type) {
            (Role::Immediate { max }, IMMEDIATE_BITS)
        } else if self.etype == "IMM" {
            let bits = self
                .immediate_bits
                .unwrap_or(IMMEDIATE_BITS)
                .min(IMMEDIATE_BITS);
            let max = (1 << bits) - 1;
            (Role::Immediate { max }, IMMEDIATE_BITS)
        } else if self.c_type.starts_with("__mmask") {
            (Role::Mask, c_type_width(&self.c_type).unwrap_or(64))
        } else {
            (Role::Register, c_type_width(&self.c_type).unwrap_or(64))
        };
        Operand {
            name: self.name.clone(),
            c_type: self.c_type.clone(),
            element: match element_of(&self.etype) {
                Element::Untyped if role == Role::Register => float_type(&self.c_type),
                element => element,
            },
            width,
            role,
        }
    }
}

impl Entry {
    /// The signature that lowering needs.
    pub fn signature(&self) -> Signature {
        Signature {
            name: self.name.clone(),
            isa: "x86".to_owned(),
            returns: Returned {
                c_type: self.returns.c_type.clone(),
                element: self.result_element(),
                width: c_type_width(&self.returns.c_type).unwrap_or(64),
            },
            operands: self.operands(),
            features: self.features.clone(),
            mnemonic: self.instructions.first().cloned(),
            form: self.form(),
        }
    }

    /// The types in C of the operands and of the result: with the name and the technology
    /// they tell entries apart.
    pub fn types(&self) -> Vec<&str> {
        let returned = std::iter::once(&self.returns);
        let all = self.parameters.iter().chain(returned);
        all.map(|p| p.c_type.as_str()).collect()
    }

    fn operands(&self) -> Vec<Operand> {
        let mut operands: Vec<Operand> = self.parameters.iter().map(Parameter::operand).collect();
        // Two kinds of instruction have a control word of that name, not a direction.
        let most = |i: &String| match i.trim_start_matches('v') {
            "cvtps2ph" => Some(255),
            name if name.starts_with("round") => Some(15),
            _ => None,
        };
        if let Some(max) = self.instructions.iter().find_map(most) {
            for operand in operands.iter_mut().filter(|o| o.role == Role::Rounding) {
                operand.role = Role::Immediate { max };
            }
        }
        operands
    }

    /// The result's element type, or where it is not told that of the type in C.
    fn result_element(&self) -> Element {
        match element_of(&self.returns.etype) {
            Element::Untyped if self.returns.c_type.starts_with("__mmask") => Element::Mask,
            Element::Untyped => float_type(&self.returns.c_type),
            element => element,
        }
    }

    fn form(&self) -> Form {
        if self.tech == "SVML" {
            Form::Library
        } else if self.category == "Cast" {
            Form::Free
        } else if self.sequence || !one_operation(&self.instructions) {
            Form::Sequence
        } else {
            Form::Single
        }
    }
}

/// Whether the mnemonics are of one instruction: there is one, or they are spellings that
/// differ in one letter, like `vpermi2d` and `vpermt2d`, which differ in what they overwrite.
fn one_operation(instructions: &[String]) -> bool {
    let mut names = instructions
        .iter()
        .map(|i| i.split(' ').next().unwrap_or_default());
    let Some(first) = names.next() else {
        return false;
    };
    names.all(|name| {
        let differ = first.bytes().zip(name.bytes()).filter(|(x, y)| x != y);
        name.len() == first.len() && differ.count() <= 1
    })
}
