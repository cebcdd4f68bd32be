//! Sequences: instructions over whole registers that were found once for a target, for nothing else.
//!
//! In: a program over registers with a cost, or a line of text. Out: [`Sequence`], the line that another
//! run reads back, its nodes in another program. A line with an operation that is no candidate is no
//! sequence. What a sequence computes is proved where it is used.

use crate::candidates::Candidates;
use crate::cost::Cost;
use autoir::program::text::{self, Given};
use autoir::program::{Instance, Node, Program, Value};
use semantics::sexpr;
use semantics::span::{Source, Span};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Instructions over registers.
#[derive(Clone)]
pub(crate) struct Sequence {
    /// A program with one output, over the inputs [`register`].
    program: Arc<Program>,
    /// The candidates that its operations are.
    numbers: Vec<usize>,
    /// What its instructions cost.
    pub(crate) cost: Cost,
}

/// The name of the register that is given in this place.
pub(crate) fn register(k: usize) -> String {
    format!("operand{k}")
}

impl Sequence {
    /// A program of candidates as a sequence.
    pub(crate) fn new(program: Program, cost: Cost, candidates: &Candidates) -> Option<Sequence> {
        let number =
            |instance: &Arc<Instance>| candidates.instances.iter().position(|i| i == instance);
        let numbers = program.operations.iter().map(number);
        Some(Sequence {
            numbers: numbers.collect::<Option<_>>()?,
            program: Arc::new(program),
            cost,
        })
    }

    /// The cost and the program, on one line.
    pub(crate) fn write(&self) -> String {
        let program = self.program.to_string().replace('\n', " ");
        format!("{} (program sequence {program})", self.cost)
    }

    /// The sequence of a line.
    pub(crate) fn read(line: &str, candidates: &Candidates) -> Option<Sequence> {
        let (cost, program) = line.split_once(' ')?;
        let source = Source::new("a cached sequence", program);
        let items = sexpr::read(&source, Span::new(0, program.len())).ok()?;
        let resolve = |operation: &str, values: &[i64], given: &[Given]| {
            let is = |i: &&Arc<Instance>| {
                let fits = || Given::fit(given, &i.arguments, &i.formals);
                i.operation == operation && i.values == values && fits()
            };
            candidates.instances.iter().find(is).map(Arc::clone)
        };
        let (_, program) = text::read(&source, items.first()?, &resolve).ok()?;
        let one = program.outputs.len() == 1;
        Sequence::new(program, cost.parse().ok()?, candidates).filter(|_| one)
    }

    /// What it makes of registers, in a program of candidates; nothing where they are not of its widths.
    pub(crate) fn placed(&self, program: &mut Program, registers: &[Value]) -> Option<Value> {
        let mut place: BTreeMap<Value, Value> = BTreeMap::new();
        for (v, node) in self.program.nodes().iter().enumerate() {
            let value = match node {
                Node::Input { name, lo, width } => {
                    let given = (0..registers.len()).find(|k| *name == register(*k))?;
                    let whole = *lo == 0 && program.width(registers[given]) == *width;
                    whole.then_some(registers[given])?
                }
                node => program.add(node.moved(&place, &mut |operation| self.numbers[operation])),
            };
            place.insert(v, value);
        }
        place.get(self.program.outputs.first()?).copied()
    }
}
