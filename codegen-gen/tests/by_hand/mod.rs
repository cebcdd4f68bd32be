//! Programs and instructions written by hand, so that emission is tested without a search.

use autoir::instructions::{Implementation, OperandSource, Selection};
use autoir::program::{Argument, Bound, Formal, Instance, Node, Program, Value};
use semantics::instruction::{Element, Form, Operand, Role};
use semantics::sort::Sort;
use semantics::subst::replace_vars;
use semantics::term::Term;
use std::sync::Arc;

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
    let instance = Instance {
        operation: name.to_owned(),
        values: Vec::new(),
        arguments: vec![Bound::Open; operands.len()],
        formals: (0..operands.len())
            .map(|k| Formal {
                name: format!("x{k}"),
                element,
                width: operands[k].1,
                role: Role::Register,
            })
            .collect(),
        term: replace_vars(term, &map.collect()),
    };
    let operand = |&(n, width): &(&str, u32)| Operand {
        name: n.to_owned(),
        c_type: format!("__m{width}i"),
        element,
        width,
        role: Role::Register,
    };
    let implementation = Implementation {
        instruction: name.to_owned(),
        mnemonic: None,
        form: Form::Single,
        features: Vec::new(),
        operands: operands.iter().map(operand).collect(),
        sources: (0..operands.len()).map(OperandSource::Formal).collect(),
        c_type: "__m512i".to_owned(),
        width: term.width(),
    };
    (instance, implementation)
}

/// A program over these instructions.
pub(crate) fn program(instructions: &[(Instance, Implementation)]) -> Program {
    let operations = instructions
        .iter()
        .map(|(instance, _)| Arc::new(instance.clone()));
    Program::over(operations.collect())
}

/// What implements the operations of these instructions.
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
