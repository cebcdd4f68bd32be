//! Programs and instructions written by hand, so that emission is tested without a search.

use autoir::instructions::{Implementation, InstructionTable, OperandSource, Selection};
use autoir::program::{Argument, Bound, Formal, Instance, Node, Program, Value};
use autoir::transfer::Transfer;
use semantics::build as b;
use semantics::instruction::{Element, Form, Operand, Role};
use semantics::sort::Sort;
use semantics::subst::replace_vars;
use semantics::term::Term;
use std::collections::BTreeSet;
use std::sync::Arc;
use synth::cost::CostTable;
use synth::operations::TargetOperations;
use target::{Held, RegisterClass};

/// An instruction whose operands, registers of some elements, are the arguments of an operation
/// of its own; the term is over the operands' names.
pub(crate) fn instruction(
    name: &str,
    operands: &[(&str, u32)],
    element: Element,
    term: Term,
) -> (Instance, Implementation) {
    let named = |k: usize| Term::var(&format!("x{k}"), Sort::Bv(operands[k].1));
    let map = (0..operands.len()).map(|k| (operands[k].0, named(k)));
    let operand = |&(n, width): &(&str, u32)| Operand {
        name: n.to_owned(),
        c_type: format!("__m{width}i"),
        element,
        width,
        role: Role::Register,
    };
    let operands: Vec<Operand> = operands.iter().map(operand).collect();
    made(name, &operands, replace_vars(term, &map.collect()))
}

/// An instruction that returns a register of 512 bits, if it returns anything. The term is over
/// `x0`, `x1`, …: the memory first where an operand is an address, then the operands.
fn made(name: &str, operands: &[Operand], term: Term) -> (Instance, Implementation) {
    let memory = usize::from(operands.iter().any(|o| o.role.is_pointer()));
    let formals = operands.iter().enumerate().map(|(k, o)| Formal {
        name: format!("x{}", k + memory),
        element: o.element,
        width: o.width,
        role: o.role,
    });
    let open = vec![Bound::Open; operands.len()];
    let mut instance = Instance {
        operation: name.to_owned(),
        values: Vec::new(),
        arguments: [vec![Bound::Memory; memory], open].concat(),
        formals: formals.collect(),
        undefined: Vec::new(),
        transfer: None,
        term,
    };
    instance.transfer = Transfer::of(&instance);
    let implementation = Implementation {
        instruction: name.to_owned(),
        mnemonic: None,
        form: Form::Single,
        features: Vec::new(),
        operands: operands.to_vec(),
        sources: (0..operands.len()).map(OperandSource::Formal).collect(),
        c_type: "__m512i".to_owned(),
        element: Element::Untyped,
        width: instance.width(),
    };
    (instance, implementation)
}

/// Loads, stores and broadcasts of registers of 512 bits.
#[allow(dead_code)] // Not every test moves data.
pub(crate) fn moves() -> Vec<(Instance, Implementation)> {
    let (memory, at) = (Term::var("x0", Sort::Mem), Term::var("x1", Sort::Bv(64)));
    let value = Term::var("x2", Sort::Bv(512));
    let pointer = Role::Pointer { align: 1 };
    let load = b::read(memory, at, 64);
    let store = b::write(memory, at, value);
    let number = |element: u32| Term::var("x0", Sort::Bv(element));
    let broadcast = |element: u32, ty: &str| {
        let name = format!("_mm512_set1_epi{element}");
        let term = b::concat(&vec![number(element); 512 / element as usize]);
        transfer(&name, &[("a", ty, element, Role::Register)], term)
    };
    vec![
        transfer(
            "_mm512_loadu_si512",
            &[("p", "void const*", 64, pointer)],
            load,
        ),
        transfer(
            "_mm512_storeu_si512",
            &[
                ("p", "void*", 64, pointer),
                ("a", "__m512i", 512, Role::Register),
            ],
            store,
        ),
        broadcast(8, "char"),
        broadcast(16, "short"),
        broadcast(32, "int"),
    ]
}

/// An instruction that only moves data.
fn transfer(
    name: &str,
    operands: &[(&str, &str, u32, Role)],
    term: Term,
) -> (Instance, Implementation) {
    let operand = |o: &(&str, &str, u32, Role)| Operand {
        name: o.0.to_owned(),
        c_type: o.1.to_owned(),
        element: Element::Untyped,
        width: o.2,
        role: o.3,
    };
    let operands: Vec<Operand> = operands.iter().map(operand).collect();
    let made = made(name, &operands, term);
    assert!(made.0.transfer.is_some(), "{name}");
    made
}

/// A target that has these instructions, each of one cycle, and registers of 512 bits.
#[allow(dead_code)] // Not every test chooses instructions.
pub(crate) fn target(instructions: &[(Instance, Implementation)]) -> TargetOperations {
    let costs = CostTable::uniform("one cycle each", 10, 10);
    let class = RegisterClass {
        width: 512,
        c_type: "__m512i".to_owned(),
        needs: Some("AVX512F".to_owned()),
        count: 16,
        unrolled: None,
        held: Some(Held {
            constraint: "v".to_owned(),
            before: Vec::new(),
            constants: Vec::new(),
            loads: true,
        }),
    };
    let table = InstructionTable::of(instructions);
    TargetOperations::new(table, BTreeSet::new(), costs, vec![class])
}

/// A program over these instructions.
pub(crate) fn program(instructions: &[(Instance, Implementation)]) -> Program {
    let operations = instructions
        .iter()
        .map(|(instance, _)| Arc::new(instance.clone()));
    Program::over(operations.collect())
}

/// What implements the operations of these instructions.
#[allow(dead_code)] // Not every test chooses instructions.
pub(crate) fn selection(instructions: &[(Instance, Implementation)]) -> Selection {
    instructions.iter().cloned().collect()
}

/// Bits of an input.
pub(crate) fn input(name: &str, lo: u32, width: u32) -> Node {
    Node::Input {
        name: name.to_owned(),
        lo,
        width,
    }
}

/// An operation on values.
pub(crate) fn apply(operation: usize, args: &[Value]) -> Node {
    Node::Apply {
        operation,
        args: args.iter().map(|&v| Argument::Value(v)).collect(),
    }
}
