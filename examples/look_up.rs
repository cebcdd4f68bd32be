//! Loads a dictionary, looks an instruction up, and computes what it does.
//!
//! `isaforge build --isa x86,rvm --output DIR` writes a dictionary. Then
//!
//! ```text
//! cargo run --release --example look_up -- DIR/x86,rvm.dictionary _mm_avg_epu8
//! ```

use isaforge::autoir::dictionary::Binding;
use isaforge::semantics::bits::Bits;
use isaforge::semantics::eval::CompiledTerms;
use isaforge::semantics::sort::Sort;
use isaforge::semantics::value::{Memory, Value};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, name] = arguments.as_slice() else {
        eprintln!("usage: look_up DICTIONARY INSTRUCTION");
        return ExitCode::FAILURE;
    };
    match look_up(path, name) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn look_up(path: &str, name: &str) -> Result<(), String> {
    let dictionary = isaforge::read_dictionary(path)?;

    // An instruction, and the operation that it was proved to be.
    let (operation, member) = dictionary
        .member(name)
        .ok_or_else(|| format!("there is no `{name}` in {path}"))?;
    println!("{name} is {}: {}", operation.name, operation.formula);
    for (parameter, value) in operation.parameters.iter().zip(&member.values) {
        println!("  {parameter} = {value}");
    }
    for (argument, binding) in operation.arguments.iter().zip(&member.bindings) {
        match binding {
            Binding::Operand(operand) => println!("  {argument} is its operand {operand}"),
            Binding::Zero => println!("  {argument} is zero"),
        }
    }
    println!("  proved: {}", member.evidence);
    for other in operation.members.iter().filter(|m| m.isa != member.isa) {
        println!("  on {} it is {}", other.isa, other.name);
    }

    // The same member from the operation's side, and its meaning at the member's numbers.
    let same = dictionary.operation(&operation.name);
    assert_eq!(same.and_then(|o| o.member(name)), Some(member));
    let term = member.term(operation).map_err(|error| error.to_string())?;

    // Compiled once, a meaning runs on many inputs: here all bytes of operand k are k + 1.
    let program = CompiledTerms::of(term);
    let inputs = program.inputs().iter().zip(1..);
    let values: Vec<Value> = inputs
        .map(|(input, byte)| match input.sort {
            Sort::Bv(width) => {
                let bytes = vec![byte; width.div_ceil(8) as usize];
                Value::Bv(Bits::from_bytes(width, &bytes))
            }
            Sort::Bool => Value::Bool(true),
            Sort::Int => Value::Int(i64::from(byte)),
            Sort::Mem => Value::Mem(Memory {
                fill: byte,
                ..Memory::default()
            }),
        })
        .collect();
    for (input, value) in program.inputs().iter().zip(&values) {
        if let Value::Bv(bits) = value {
            println!("{} = {bits}", input.name);
        }
    }
    match &program.run(&values)[0] {
        Value::Bv(bits) => println!("result = {bits}"),
        other => println!("result = {other:?}"),
    }
    Ok(())
}
