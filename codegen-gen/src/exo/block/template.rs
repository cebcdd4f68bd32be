//! The C text of a block: the words of its commands with Exo's names for the operands.
//!
//! In: a block whose procedure performs instructions and does nothing else. Out: statements
//! of inline assembly for Exo's template, with braces as it wants them.

use crate::command;
use semantics::machine::block::{Block, BlockOperand, stride};
use semantics::machine::procedure::{Action, Binary, Value, ValueKind};
use semantics::machine::{Field, Machine, MachineInstruction, OperandKind};

/// The statements.
pub(super) fn of(machine: &Machine, block: &Block) -> Option<String> {
    let statement = |action: &Action| {
        let Action::Perform(at, arguments) = action else {
            return None;
        };
        let is_it = |i: &&MachineInstruction| i.procedure == Some(*at);
        let found = machine.instructions.iter().find(is_it)?;
        let arguments = arguments.iter().map(|a| value(a, block));
        command(machine, found, &arguments.collect::<Option<Vec<_>>>()?)
    };
    let all = block.procedure.body.iter().map(statement);
    Some(all.collect::<Option<Vec<_>>>()?.join(" "))
}

/// One command; the registers of its operands are chosen by the compiler.
fn command(machine: &Machine, found: &MachineInstruction, arguments: &[String]) -> Option<String> {
    let bits = found.encoding.bits;
    if found.encoding.fields.is_empty() {
        return Some(format!(
            "__asm__ volatile(\".word {bits:#x}\" ::: \"memory\");"
        ));
    }
    let given = |field: &Field, at: u32| match found.operands[field.operand].kind {
        OperandKind::Register { .. } if field.at == at => Some(format!("%{}", field.operand)),
        _ => None,
    };
    let statement = command::statement(machine, found, &given)?;
    let inputs = arguments.iter().map(|a| format!("\"r\"({a})"));
    let inputs = inputs.collect::<Vec<_>>().join(", ");
    Some(format!(
        "__asm__ volatile(\"{statement}\" :: {inputs} : \"memory\");"
    ))
}

/// A number of 64 bits as C.
fn value(v: &Value, block: &Block) -> Option<String> {
    Some(match &v.kind {
        ValueKind::Constant(n) => format!("{:#x}ull", *n as u64),
        ValueKind::Operand(at) => operand(block.procedure.operands.get(*at)?, block)?,
        ValueKind::Binary(op, a, b) => {
            let (a, b) = (value(a, block)?, value(b, block)?);
            let sign = match op {
                Binary::Add => '+',
                Binary::Sub => '-',
                Binary::Mul => '*',
                _ => return None,
            };
            format!("({a} {sign} {b})")
        }
        _ => return None,
    })
}

fn operand(name: &str, block: &Block) -> Option<String> {
    for (own, operand) in &block.operands {
        let text = match operand {
            BlockOperand::Size(_) => format!("(unsigned long long){{{own}}}"),
            BlockOperand::Real => format!(
                "(unsigned long long)((union {{{{ float f; unsigned u; }}}}){{{{ *{{{own}}} }}}}).u"
            ),
            BlockOperand::Tile { array: Some(_), .. } => {
                format!("(unsigned long long){{{own}_data}}")
            }
            BlockOperand::Tile { element, .. } if name == stride(own) => {
                let bytes = element.width()? / 8;
                return Some(format!(
                    "(unsigned long long){{{own}}}.strides[0] * {bytes}"
                ));
            }
            BlockOperand::Tile { .. } => {
                format!("(unsigned long long)(__UINTPTR_TYPE__)&{{{own}_data}}")
            }
        };
        if own == name {
            return Some(text);
        }
    }
    None
}
