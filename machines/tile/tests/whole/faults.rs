//! Faults in programs.
//!
//! In: a program, a random number. Out: the program with one thing changed: a constant, a factor, how
//! often a loop runs, a command or an instruction that is missing, twice there or exchanged with the one
//! behind it, another register.

use semantics::machine::{Machine, OperandKind};
use semantics::random::Random;
use tile::mapped::Code;
use tile::program::Placed;
use tile::systolic::program::{Amount, Command, CommandNode};

/// A program with a fault.
pub(crate) struct Planted {
    pub(crate) code: Code,
    pub(crate) what: String,
}

/// By how much numbers are changed.
const BY: [i64; 8] = [1, -1, 2, 4, 16, -16, 64, 1 << 32];

/// Plants a fault; none where the place that was drawn has no room for one.
pub(crate) fn plant(code: &Code, machine: &Machine, random: &mut Random) -> Option<Planted> {
    let mut code = code.clone();
    let what = match &mut code {
        Code::Commands(program, _) => {
            let hosts = program.host.len() as u64;
            if hosts > 0 && random.below(3) == 0 {
                let at = random.below(hosts) as usize;
                of_words(&mut program.host[at].code, machine, random)?
            } else {
                of_nodes(&mut program.body, random)?
            }
        }
        Code::Function(function) => of_words(&mut function.code, machine, random)?,
    };
    Some(Planted { code, what })
}

fn count(nodes: &[CommandNode]) -> u64 {
    let of = |n: &CommandNode| match n {
        CommandNode::Loop { body, .. } => 1 + count(body),
        CommandNode::Do(_) => 1,
    };
    nodes.iter().map(of).sum()
}

/// Calls `f` with the list and the place of the node of that number.
fn with_node<T>(
    nodes: &mut Vec<CommandNode>,
    number: &mut u64,
    f: &mut dyn FnMut(&mut Vec<CommandNode>, usize) -> T,
) -> Option<T> {
    for at in 0..nodes.len() {
        if *number == 0 {
            return Some(f(nodes, at));
        }
        *number -= 1;
        if let CommandNode::Loop { body, .. } = &mut nodes[at]
            && let Some(done) = with_node(body, number, f)
        {
            return Some(done);
        }
    }
    None
}

fn of_nodes(body: &mut Vec<CommandNode>, random: &mut Random) -> Option<String> {
    let mut number = random.below(count(body));
    let kind = random.below(8);
    let by = *random.pick(&BY);
    let drawn = random.next_bits();
    with_node(body, &mut number, &mut |list, at| match kind {
        0 => {
            let gone = list.remove(at);
            Some(format!("without {gone:?}"))
        }
        1 if at + 1 < list.len() && list[at] != list[at + 1] => {
            list.swap(at, at + 1);
            Some(format!("exchanged {:?} and {:?}", list[at], list[at + 1]))
        }
        _ => match &mut list[at] {
            CommandNode::Loop { count, .. } => {
                *count = (*count + by.signum()).max(0);
                Some(format!("a loop runs {count} times"))
            }
            CommandNode::Do(command) => of_command(command, by, drawn),
        },
    })?
}

fn of_command(command: &mut Command, by: i64, drawn: u64) -> Option<String> {
    let many = command.operands.len() as u64;
    if many == 0 {
        return None;
    }
    let operand = &mut command.operands[(drawn % many) as usize];
    let Amount {
        constant, terms, ..
    } = operand;
    match (drawn >> 8) % 3 {
        0 if !terms.is_empty() => {
            let at = (drawn >> 16) as usize % terms.len();
            let factor = terms.values_mut().nth(at)?;
            *factor += by.clamp(-16, 16);
        }
        _ => *constant = constant.wrapping_add(by),
    }
    Some(format!("{command:?}"))
}

fn of_words(code: &mut Vec<Placed>, machine: &Machine, random: &mut Random) -> Option<String> {
    let at = random.below(code.len() as u64) as usize;
    let by = *random.pick(&BY[..7]);
    let operand = random.next_bits() as usize;
    match random.below(6) {
        0 => {
            let gone = code.remove(at);
            Some(format!("without {gone:?} at {at}"))
        }
        1 if at + 1 < code.len() && code[at] != code[at + 1] => {
            code.swap(at, at + 1);
            Some(format!("exchanged at {at}"))
        }
        _ => {
            let (k, values) = &mut code[at];
            let found = &machine.instructions[*k];
            if values.is_empty() {
                return None;
            }
            let operand = operand % values.len();
            let value = &mut values[operand];
            match found.operands[operand].kind {
                OperandKind::Register { file, .. } => {
                    let many = i64::from(machine.files[file].count);
                    *value = (*value + by.signum()).rem_euclid(many);
                }
                OperandKind::Immediate { target: true, .. } => {
                    *value += by.signum() * i64::from(machine.word);
                }
                OperandKind::Immediate { .. } => *value += by,
            }
            let signed = |k: usize| {
                matches!(
                    found.operands[k].kind,
                    OperandKind::Immediate { signed: true, .. }
                )
            };
            found.encoding.word(values, signed).ok()?;
            Some(format!("{} at {at}", found.text(machine, values)))
        }
    }
}
