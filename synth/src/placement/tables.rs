//! What tables of constants are written as.
//!
//! In: a placed program. Out: for each of its tables the width of its elements, which those who read
//! the code see it by. The bytes are the same whatever it is.

use autoir::program::{Argument, Node, Program, Region, Value};
use semantics::bits::Bits;
use std::collections::BTreeMap;

/// Elements of what nobody speaks of elements of.
const OTHERS: u32 = 32;

/// The tables of a program, each with the width of its elements: those that the first user of what is
/// loaded from it speaks of.
pub(super) fn elements(program: &Program) -> BTreeMap<Bits, u32> {
    let mut all = BTreeMap::new();
    for (value, node) in program.nodes().iter().enumerate() {
        let Node::Apply { args, .. } = node else {
            continue;
        };
        for arg in args {
            if let Argument::Address(Region::Table(bits), _) = arg {
                let known = all.entry(bits.clone());
                known.or_insert_with(|| of_user(program, value));
            }
        }
    }
    all
}

/// The width of the elements that the first user of a value speaks of.
fn of_user(program: &Program, value: Value) -> u32 {
    let used = |node: &Node| match node {
        Node::Apply { operation, args } => {
            let at = args.iter().position(|a| *a == Argument::Value(value))?;
            program.operation(*operation).formals[at].element.width()
        }
        _ => None,
    };
    let element = program.nodes().iter().find_map(used);
    element
        .filter(|e| matches!(e, 8 | 16 | 32 | 64))
        .unwrap_or(OTHERS)
}
