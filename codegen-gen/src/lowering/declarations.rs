//! Declarations of all operations of an instruction set in LLVM IR, for who calls them.
//!
//! In: a dictionary. Out: `autoir_ISA_calls.ll`, a declaration for each operation and set of
//! numbers with the features that a caller needs, constants among the parameters.

use super::calls::{range, symbol};
use super::{Groups, features, triple};
use crate::artefact::{Artefact, Input, Set};
use crate::header::functions;
use semantics::spelling::line;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The file of a set.
pub(super) fn artefact<'a>(input: &'a Input<'a>, set: &'a Set) -> Artefact<'a> {
    let path = format!("llvm/autoir_{}_calls.ll", set.isa);
    Artefact::new(path, move |out| write(input, set, out))
}

fn write(input: &Input<'_>, set: &Set, out: &mut dyn Write) -> io::Result<String> {
    write!(out, "{}", input.header(";"))?;
    out.write_all(
        b";\n; What a module may call; `isaforge lower` puts the instructions in place of the calls.\n\n",
    )?;
    out.write_all(triple(set).as_bytes())?;
    let types = types(input, set);
    let mut groups = Groups::default();
    let (mut count, mut constant) = (0, 0);
    for function in functions(input.dictionary, set) {
        let parameters = function.parameters();
        let typed = parameters.iter().map(|o| match o.role.is_constant() {
            true => Some("i32".to_owned()),
            false => llvm_type(&types, &o.c_type),
        });
        let declared = function.member.outputs.first();
        let declared = declared.map_or("void", |o| o.c_type.as_str());
        let result = llvm_type(&types, declared);
        let (Some(typed), Some(result)) = (typed.collect::<Option<Vec<_>>>(), result) else {
            continue;
        };
        let group = groups.of(features(function.member, set));
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
    groups.write("nounwind", out)?;
    Ok(format!("{count} declarations, {constant} with constants"))
}

/// The types of C that rows have, as clang passes them: what the operands and results of a
/// set's instructions are in LLVM is known from those that have rows.
fn types<'a>(input: &'a Input<'a>, set: &'a Set) -> BTreeMap<&'a str, &'a str> {
    let mut types = BTreeMap::new();
    for (_, member) in input.dictionary.members().filter(|(_, m)| m.isa == set.isa) {
        let Some(row) = set.rows.get(&member.name) else {
            continue;
        };
        let operands = member.operands.iter().map(|o| o.c_type.as_str());
        let results = member.outputs.first().map(|o| o.c_type.as_str());
        let llvm = row.operands.iter().chain([&row.result]);
        if member.operands.len() == row.operands.len() {
            types.extend(operands.chain(results).zip(llvm.map(String::as_str)));
        }
    }
    types
}

/// A type of C as clang passes it.
fn llvm_type(types: &BTreeMap<&str, &str>, c: &str) -> Option<String> {
    if c == "void" || c.contains('*') {
        return Some(if c == "void" { "void" } else { "ptr" }.to_owned());
    }
    types.get(c).map(|ty| (*ty).to_owned())
}
