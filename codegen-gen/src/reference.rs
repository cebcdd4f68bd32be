//! Instructions as functions of portable C: an emulation header.
//!
//! In: the instructions of a set, with their meanings, and its C types. Out: the text of a header
//! ([`header`]) with one function for each instruction, of the name and the types that programs
//! use, so that they run on any machine that has a C compiler; and which instructions it lacks, and
//! why. It includes no header of a vendor, needs no extension of C, and is made from the meanings:
//! what disagrees with it disagrees with the description. It checks nothing itself.

mod body;

use crate::check_harness::c_type;
use body::{Body, Written, words};
use semantics::instruction::{Instruction, Operand};
use semantics::sort::Sort;
use semantics::spelling::{self, Spelling};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// What all functions use.
const PRELUDE: &str = include_str!("reference/prelude.c");

/// An emulation header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reference {
    /// The file.
    pub text: String,
    /// The instructions that have a function.
    pub written: BTreeSet<String>,
    /// The others, and why they have none.
    pub left_out: Vec<(String, String)>,
}

/// What the header of an instruction set is called where its manifest names none.
pub fn file_name(isa: &str) -> String {
    format!("{isa}_reference.h")
}

/// The header of some instructions; `types` are the C types of their set with their widths in
/// bits, `about` goes into the first comment, a line each.
pub fn header(
    isa: &str,
    types: &BTreeMap<String, u32>,
    instructions: &[&Instruction],
    about: &[String],
) -> Reference {
    let mut functions = String::new();
    let (mut written, mut left_out) = (BTreeSet::new(), Vec::new());
    for instruction in instructions {
        match function(instruction, types) {
            Ok(text) => {
                functions.push_str(&text);
                written.insert(instruction.name.clone());
            }
            Err(why) => left_out.push((instruction.name.clone(), why)),
        }
    }
    let mut text = String::new();
    for line in about {
        let _ = writeln!(text, "/* {} */", spelling::line(line).replace("*/", "* /"));
    }
    for (name, why) in &left_out {
        let _ = writeln!(text, "/* `{name}` is not here: {} */", spelling::line(why));
    }
    let upper = |c: char| match c.is_ascii_alphanumeric() {
        true => c.to_ascii_uppercase(),
        false => '_',
    };
    let guard: String = isa.chars().map(upper).collect();
    let _ = write!(
        text,
        "#ifndef {guard}_REFERENCE_H\n#define {guard}_REFERENCE_H\n\n\
         #include <stdint.h>\n#include <string.h>\n\n{PRELUDE}\n"
    );
    text.push_str(&typedefs(types));
    text.push_str(&functions);
    text.push_str("\n#endif\n");
    Reference {
        text,
        written,
        left_out,
    }
}

/// The types. Those that are as wide as each other are one, so that programs may cast them.
fn typedefs(types: &BTreeMap<String, u32>) -> String {
    let mut text = String::new();
    let mut done = BTreeSet::new();
    for (name, &width) in types
        .iter()
        .filter(|(name, _)| Spelling::Identifier.takes(name))
    {
        let bytes = width.div_ceil(8);
        if number(width).is_none() && done.insert(bytes) {
            let _ = writeln!(
                text,
                "#ifndef REF_BYTES_{bytes}\n#define REF_BYTES_{bytes}\n\
                 typedef struct {{ unsigned char byte[{bytes}]; }} ref_bytes_{bytes};\n#endif"
            );
        }
        let is = number(width).map_or_else(|| format!("ref_bytes_{bytes}"), str::to_owned);
        let _ = writeln!(text, "typedef {is} {name};");
    }
    text
}

/// The number of C that has so many bits.
fn number(width: u32) -> Option<&'static str> {
    Some(match width {
        8 => "uint8_t",
        16 => "uint16_t",
        32 => "uint32_t",
        64 => "uint64_t",
        _ => return None,
    })
}

/// How a value of a type is made of bits and taken apart.
enum Held {
    /// A number of C, or an address.
    Number,
    /// A float of C of so many bits.
    Float(u32),
    /// A structure of so many bytes.
    Bytes(u32),
}

/// How a type holds its bits.
fn held(c_type: &str, width: u32, types: &BTreeMap<String, u32>) -> Written<Held> {
    let bare = c_type.trim_start_matches("const ").trim();
    if c_type.contains('*') {
        return Ok(Held::Number);
    }
    match (bare, types.get(bare)) {
        ("float", _) => Ok(Held::Float(32)),
        ("double", _) => Ok(Held::Float(64)),
        ("_Float16", _) => Err("not every compiler has `_Float16`".to_owned()),
        (_, Some(_)) if !Spelling::Identifier.takes(bare) => {
            Err(format!("`{bare}` is no name of a type"))
        }
        (_, Some(_)) => Ok(match number(width) {
            Some(_) => Held::Number,
            None => Held::Bytes(width.div_ceil(8)),
        }),
        (_, None) => Ok(Held::Number),
    }
}

/// The function of an instruction.
fn function(instruction: &Instruction, types: &BTreeMap<String, u32>) -> Written<String> {
    let mut parameters = Vec::new();
    let mut known = Vec::new();
    let mut first = Vec::new();
    for operand in &instruction.operands {
        let name = format!("p_{}", operand.name);
        parameters.push(format!("{} {name}", c_type(&operand.c_type)));
        let bits = format!("x_{}", operand.name);
        first.extend(taken(operand, &name, &bits, types)?);
        known.push((operand.var(), bits));
    }
    let mut body = Body::new(known);
    let mut result = None;
    let mut memory = None;
    for output in &instruction.outputs {
        match output.term.sort() {
            Sort::Mem => memory = Some(output.term),
            _ if output.c_type == "void" => {
                return Err("it changes registers of the machine".to_owned());
            }
            _ => result = Some(output),
        }
    }
    let mut last = Vec::new();
    let mut returned = "void".to_owned();
    if let Some(output) = result {
        let address = body.address(output.term)?;
        returned = c_type(&output.c_type);
        let width = output.term.width();
        last = match held(&returned, width, types)? {
            Held::Number => vec![format!(
                "return ({returned}){};",
                address.trim_start_matches('&')
            )],
            Held::Float(_) => vec![
                format!("{returned} result;"),
                format!("memcpy(&result, {address}, sizeof result);"),
                "return result;".to_owned(),
            ],
            Held::Bytes(bytes) => vec![
                format!("{returned} result;"),
                format!("ref_write((uint64_t)(uintptr_t)result.byte, {address}, {bytes});"),
                "return result;".to_owned(),
            ],
        };
    }
    if let Some(memory) = memory {
        body.perform(memory)?;
    }
    let parameters = match parameters.is_empty() {
        true => "void".to_owned(),
        false => parameters.join(", "),
    };
    let name = &instruction.name;
    let mut text = format!("\nstatic inline {returned} {name}({parameters})\n{{\n");
    for line in first.into_iter().chain(body.finish()).chain(last) {
        let _ = writeln!(text, "    {line}");
    }
    text.push_str("}\n");
    Ok(text)
}

/// The statements that make the bits of an operand.
fn taken(
    operand: &Operand,
    name: &str,
    bits: &str,
    types: &BTreeMap<String, u32>,
) -> Written<Vec<String>> {
    let width = operand.width;
    let unused = format!("(void){bits};");
    let made = match held(&operand.c_type, width, types)? {
        Held::Number if operand.role.is_pointer() => {
            vec![format!("uint64_t {bits} = (uint64_t)(uintptr_t){name};")]
        }
        Held::Number => vec![format!(
            "uint64_t {bits} = (uint64_t){name} & ref_mask({width});"
        )],
        Held::Float(width) => vec![
            format!("uint{width}_t n_{bits};"),
            format!("memcpy(&n_{bits}, &{name}, sizeof n_{bits});"),
            format!("uint64_t {bits} = n_{bits};"),
        ],
        Held::Bytes(bytes) => {
            let array = words(width.max(65));
            let (size, at) = match width > 64 {
                true => (format!("[{array}] = {{0}}"), bits.to_owned()),
                false => (" = 0".to_owned(), format!("&{bits}")),
            };
            vec![
                format!("uint64_t {bits}{size};"),
                format!("ref_read({at}, (uint64_t)(uintptr_t){name}.byte, {bytes});"),
            ]
        }
    };
    Ok(made.into_iter().chain([unused]).collect())
}
