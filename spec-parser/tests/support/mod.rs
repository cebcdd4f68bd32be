//! What the tests of dialects share: descriptions from a text, and instructions that are run.
#![allow(dead_code)] // each test uses its part

use semantics::bits::Bits;
use semantics::diagnostic::render;
use semantics::eval::{CompiledTerms, Input};
use semantics::instruction::Instruction;
use semantics::value::Value;
use spec_parser::specs::{Specs, load};
use std::fs;
use std::path::Path;

const TARGETS: &str = "features:\n  ZV: {flag: zv, cpuinfo: zv}\nmodels: {}\n";

/// The set of a manifest that names the feature `ZV` and one file `one.yaml`, with that text.
pub(crate) fn described(manifest: &str, families: &str) -> Specs {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in [
        ("manifest.yaml", manifest),
        ("targets.yaml", TARGETS),
        ("one.yaml", families),
    ] {
        fs::write(folder.path().join(name), text).expect("a temporary file");
    }
    load(&folder.path().join("manifest.yaml")).unwrap_or_else(|d| panic!("{}", render(&d)))
}

/// One of the sets that are described in the repository.
pub(crate) fn shipped(isa: &str) -> Specs {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../isa-specs")).join(isa);
    load(&folder.join("manifest.yaml")).unwrap_or_else(|d| panic!("{}", render(&d)))
}

/// Nothing of a set is without a meaning; prints how much there is.
pub(crate) fn assert_whole(specs: &Specs) {
    let diagnostics = &specs.diagnostics;
    assert!(diagnostics.is_empty(), "{}", render(diagnostics));
    let (families, instructions) = (specs.families, specs.instructions.len());
    println!("{families} families, {instructions} intrinsics");
}

pub(crate) fn find<'s>(specs: &'s Specs, name: &str) -> &'s Instruction {
    let found = specs.instructions.iter().find(|i| i.name == name);
    found.unwrap_or_else(|| panic!("there is no {name}"))
}

/// The meaning of an instruction, ready to run.
pub(crate) fn program(instruction: &Instruction) -> CompiledTerms {
    let inputs = instruction.operands.iter().map(|o| Input {
        name: o.name.clone(),
        sort: o.var().sort(),
    });
    let inputs: Vec<Input> = inputs.collect();
    CompiledTerms::compile(&[instruction.term()], &inputs).expect("it can be run")
}

/// The result of an instruction on values of its operands' widths.
pub(crate) fn result(instruction: &Instruction, values: impl IntoIterator<Item = Bits>) -> Bits {
    let values: Vec<Value> = values.into_iter().map(Value::Bv).collect();
    program(instruction).run(&values)[0].bits().clone()
}
