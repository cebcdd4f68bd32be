//! Sequences: instructions over whole registers that were found once for a target, for nothing else.
//!
//! In: a program over a target's candidates, its inputs, its result; or a line of text. Out:
//! [`Sequence`], and the line that another run reads back. A line that does not fit the candidates (their
//! number, arguments, widths) is no sequence. What a sequence computes is proved where it is used.

use crate::candidates::Candidates;
use crate::cost::Cost;
use autoir::program::{Argument, Node, Program, Value};
use semantics::bits::Bits;
use semantics::instruction::Role;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::str::FromStr;
use std::sync::Arc;

/// Instructions over registers.
#[derive(Clone)]
pub(crate) struct Sequence {
    pub(crate) program: Arc<Program>,
    /// The registers that it reads, in order.
    pub(crate) inputs: Vec<Value>,
    /// The register that it makes.
    pub(crate) value: Value,
    /// What its instructions cost.
    pub(crate) cost: Cost,
}

impl Sequence {
    /// A line: `cost inputs`, then what each value is, the last one the result. Nothing where it reads
    /// memory.
    pub(crate) fn write(&self) -> Option<String> {
        let mut line = format!("{} {}", self.cost, self.inputs.len());
        let mut place: BTreeMap<Value, usize> = BTreeMap::new();
        let rest = self.program.needed(&[self.value]);
        let rest = rest.into_iter().filter(|v| !self.inputs.contains(v));
        for v in self.inputs.iter().copied().chain(rest) {
            match self.program.node(v) {
                Node::Input { width, .. } if self.inputs.contains(&v) => {
                    write!(line, ";input {width}").ok()?;
                }
                Node::Constant(bits) => write!(line, ";constant {bits}").ok()?,
                Node::Cast { value, width } => {
                    write!(line, ";cast {} {width}", place.get(value)?).ok()?;
                }
                Node::Apply { operation, args } => {
                    write!(line, ";apply {operation}").ok()?;
                    for arg in args {
                        match arg {
                            Argument::Value(value) => {
                                write!(line, " {}", place.get(value)?).ok()?
                            }
                            Argument::Immediate(bits) => write!(line, " {bits}").ok()?,
                            Argument::Address(..) => return None,
                        }
                    }
                }
                _ => return None,
            }
            place.insert(v, place.len());
        }
        (place.get(&self.value)? + 1 == place.len()).then_some(line)
    }

    /// The sequence of a line.
    pub(crate) fn read(line: &str, candidates: &Candidates) -> Option<Sequence> {
        let mut parts = line.split(';');
        let (cost, count) = parts.next()?.split_once(' ')?;
        let (cost, count) = (cost.parse().ok()?, count.parse::<usize>().ok()?);
        let mut program = Program::over(Arc::clone(&candidates.instances));
        let mut made: Vec<Value> = Vec::new();
        for part in parts {
            let words: Vec<&str> = part.split(' ').collect();
            let node = read_node(&words, &program, &made, candidates)?;
            (matches!(node, Node::Input { .. }) == (made.len() < count)).then_some(())?;
            made.push(program.add(node));
        }
        Some(Sequence {
            inputs: made.get(..count)?.to_vec(),
            value: *made.last()?,
            program: Arc::new(program),
            cost,
        })
    }
}

fn read_node(
    words: &[&str],
    program: &Program,
    made: &[Value],
    candidates: &Candidates,
) -> Option<Node> {
    let (&kind, rest) = words.split_first()?;
    let number = |at: usize| rest.get(at)?.parse::<u32>().ok();
    let value = |word: &str| made.get(usize::from_str(word).ok()?).copied();
    let held = |width: &u32| candidates.widths.is_held(*width);
    Some(match (kind, rest) {
        ("input", [_]) => Node::Input {
            name: made.len().to_string(),
            lo: 0,
            width: number(0).filter(held)?,
        },
        ("constant", [bits]) => Node::Constant(bits.parse().ok()?),
        ("cast", [of, _]) => Node::Cast {
            value: value(of)?,
            width: number(1).filter(held)?,
        },
        ("apply", [operation, args @ ..]) => {
            let operation: usize = operation.parse().ok()?;
            let formals = &candidates.list.get(operation)?.instance.formals;
            (formals.len() == args.len()).then_some(())?;
            let argument = |(formal, word): (&autoir::program::Formal, &&str)| {
                let (argument, width) = match formal.role {
                    Role::Register | Role::Mask => {
                        let value = value(word)?;
                        (Argument::Value(value), program.width(value))
                    }
                    _ => {
                        let bits: Bits = word.parse().ok()?;
                        let width = bits.width();
                        (Argument::Immediate(bits), width)
                    }
                };
                (width == formal.width).then_some(argument)
            };
            let args = formals.iter().zip(args).map(argument);
            Node::Apply {
                operation,
                args: args.collect::<Option<_>>()?,
            }
        }
        _ => return None,
    })
}
