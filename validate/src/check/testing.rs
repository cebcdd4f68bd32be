//! Instructions for the tests of the check, from pseudocode.
//!
//! In: operands and a body. Out: an instruction, lowered as specifications are. Nothing of it
//! is in the program.

use semantics::instruction::{Element, Form, Instruction, Operand, Role};
use semantics::span::{Source, Span};
use spec_parser::intel::lower::lower_body;
use spec_parser::signature::{Returned, Signature};

/// An operand.
pub(crate) fn operand(
    name: &str,
    c_type: &str,
    element: Element,
    width: u32,
    role: Role,
) -> Operand {
    Operand {
        name: name.to_owned(),
        c_type: c_type.to_owned(),
        element,
        width,
        role,
    }
}

/// A 128-bit register of 32-bit integers.
pub(crate) fn register(name: &str) -> Operand {
    operand(name, "__m128i", Element::Signed(32), 128, Role::Register)
}

/// A 128-bit register of single precision.
pub(crate) fn floats(name: &str) -> Operand {
    operand(name, "__m128", Element::Float(32), 128, Role::Register)
}

/// An instruction that returns what its first register is, or nothing.
pub(crate) fn instruction(
    name: &str,
    operands: Vec<Operand>,
    returns: bool,
    body: &str,
) -> Instruction {
    let first = operands.iter().find(|o| o.role == Role::Register);
    let returns = match first.filter(|_| returns) {
        Some(o) => Returned {
            c_type: o.c_type.clone(),
            element: o.element,
            width: o.width,
        },
        None => Returned {
            c_type: "void".to_owned(),
            element: Element::Untyped,
            width: 0,
        },
    };
    let signature = Signature {
        name: name.to_owned(),
        isa: "x86".to_owned(),
        returns,
        operands,
        features: vec!["SSE2".to_owned()],
        mnemonic: None,
        form: Form::Single,
    };
    let source = Source::new("test", body);
    lower_body(&signature, &source, Span::new(0, body.len()), false)
        .expect("the body has a meaning")
}
