//! Declarations of all operations of x86 in LLVM IR, for who calls them.
//!
//! In: a dictionary. Out: `autoir_x86_calls.ll`, a declaration for each operation and set of
//! numbers with the features that a caller needs, constants among the parameters.

use super::calls::{range, symbol};
use super::features;
use crate::artefact::{Artefact, Input};
use crate::header::functions;
use semantics::spelling::line;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The file.
pub(super) fn artefact<'a>(input: &'a Input<'a>) -> Artefact<'a> {
    Artefact::new("llvm/autoir_x86_calls.ll", move |out| write(input, out))
}

fn write(input: &Input<'_>, out: &mut dyn Write) -> io::Result<String> {
    write!(out, "{}", input.header(";"))?;
    out.write_all(
        b";\n; What a module may call; `isaforge lower` puts the instructions in place of the calls.\n\n\
          target triple = \"x86_64-unknown-linux-gnu\"\n",
    )?;
    let mut groups: BTreeMap<String, usize> = BTreeMap::new();
    let (mut count, mut constant) = (0, 0);
    for function in functions(input.dictionary) {
        let parameters = function.parameters();
        let typed = parameters.iter().map(|o| match o.role.is_constant() {
            true => Some("i32".to_owned()),
            false => llvm_type(&function.c_type(&o.c_type)),
        });
        let result = llvm_type(&function.result());
        let (Some(typed), Some(result)) = (typed.collect::<Option<Vec<_>>>(), result) else {
            continue;
        };
        let next = groups.len();
        let group = *groups
            .entry(features(function.member, &input.flags))
            .or_insert(next);
        let mnemonic = line(function.member.mnemonic.as_deref().unwrap_or("-"));
        writeln!(out, "\n; {} {mnemonic}", function.member.name)?;
        let constants = parameters.iter().enumerate();
        let constants: Vec<_> = constants
            .filter_map(|(k, o)| Some((k, o, o.role.constants()?)))
            .collect();
        for (k, operand, allowed) in &constants {
            writeln!(out, "; argument {k}, {}: {}", operand.name, range(*allowed))?;
        }
        let name = symbol(&function.variant.name);
        writeln!(
            out,
            "declare {result} @{name}({}) #{group}",
            typed.join(", ")
        )?;
        count += 1;
        constant += usize::from(!constants.is_empty());
    }
    out.write_all(b"\n")?;
    let mut groups: Vec<(usize, String)> = groups.into_iter().map(|(f, n)| (n, f)).collect();
    groups.sort();
    for (number, features) in groups {
        let features = match features.is_empty() {
            true => String::new(),
            false => format!(" \"target-features\"=\"{features}\""),
        };
        writeln!(out, "attributes #{number} = {{ nounwind{features} }}")?;
    }
    Ok(format!("{count} declarations, {constant} with constants"))
}

/// A type of C as clang passes it.
fn llvm_type(c: &str) -> Option<String> {
    if c.contains('*') {
        return Some("ptr".to_owned());
    }
    let words: Vec<&str> = c.split_whitespace().filter(|w| *w != "const").collect();
    let vector = |bits: u32, kind: &str| {
        Some(match kind {
            "" => format!("<{} x float>", bits / 32),
            "d" => format!("<{} x double>", bits / 64),
            "i" => format!("<{} x i64>", bits / 64),
            "h" => format!("<{} x half>", bits / 16),
            "bh" => format!("<{} x bfloat>", bits / 16),
            _ => return None,
        })
    };
    let plain = match words.as_slice() {
        ["void"] => "void",
        ["float"] => "float",
        ["double"] => "double",
        ["_Float16"] => "half",
        ["AUTOIR_BF16"] => "bfloat",
        ["char"] | ["signed" | "unsigned", "char"] | ["__mmask8"] => "i8",
        ["short"] | ["unsigned", "short"] | ["__mmask16"] => "i16",
        ["int"] | ["unsigned"] | ["unsigned", "int"] | ["__mmask32"] => "i32",
        ["long", "long"] | ["unsigned", "long", "long"] | ["__mmask64"] | ["size_t"] => "i64",
        [name] => {
            let name = name.strip_prefix("__m")?;
            let digits = name
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(name.len());
            return vector(name[..digits].parse().ok()?, &name[digits..]);
        }
        _ => return None,
    };
    Some(plain.to_owned())
}
