//! Reachability: whether the search finds what a target has.
//!
//! In: the candidates of a target. Out: for an operation at its numbers a [`Probe`], the window
//! that computes what the operation means, spelled as it means it or through identities
//! ([`identities`]) that leave the value as it is, and what the operation itself costs on that
//! window. A search that gives a dearer program has lost the operation.
//!
//! Operations with masks are not asked for: a window has no operand that is one.

pub mod identities;

use crate::candidates::{Candidate, Candidates};
use crate::compile::{Given, Options, Outcome, Sought, compile_window};
use crate::cost::Cost;
use crate::estimate::{Estimator, WindowInput};
use crate::lanes::Counterexamples;
use autoir::program::{Argument, Formal, Node, Program};
use kernel::tree::{Expr, ExprKind};
use kernel::types::{Elem, Type};
use lowering::window::{Input, Source, Store, Window};
use semantics::bits::Bits;
use semantics::instruction::Role;
use semantics::random::Random;
use semantics::span::Span;
use semantics::subst::replace_vars;
use semantics::term::Term;
use smt::prover::Prover;
use std::collections::HashMap;
use std::sync::Arc;

/// How the meaning of an operation is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spelling {
    /// As the dictionary has it.
    Meaning,
    /// Through so many identities, chosen by a seed.
    Identities(usize, u64),
}

/// A window that one operation computes.
pub struct Probe {
    /// The window.
    pub window: Window,
    /// What a program of that operation alone costs.
    pub cost: Cost,
}

/// What became of a probe.
#[derive(Clone, Debug)]
pub struct Reached {
    /// The cheapest instruction for the operation.
    pub instruction: String,
    /// What the operation costs.
    pub cost: Cost,
    /// What was found, with its cost and instructions; nothing when it is no program.
    pub found: Option<(Cost, Vec<String>)>,
    /// Why there is none.
    pub why: Option<String>,
    /// What was searched for.
    pub window: Term,
}

impl Reached {
    /// Whether what was found costs no more than the operation.
    pub fn is_reached(&self) -> bool {
        self.found
            .as_ref()
            .is_some_and(|(cost, _)| *cost <= self.cost)
    }
}

/// The window of one operation at its numbers; none where an operand cannot be one of a window.
/// Constants in the code are drawn by the seed.
pub fn probe(candidates: &Candidates, at: usize, spelling: Spelling, seed: u64) -> Option<Probe> {
    let candidate = &candidates.list[at];
    if !candidates.widths.is_vector(candidate.width) {
        return None;
    }
    let mut random = Random::new(seed ^ at as u64);
    let (mut inputs, mut args, mut constants) = (Vec::new(), Vec::new(), HashMap::new());
    let mut graph = Program::over(Arc::clone(&candidates.instances));
    for formal in &candidate.instance.formals {
        if let Some(allowed) = formal.role.constants() {
            let value = allowed.nth(random.below(allowed.count()))?;
            let bits = Bits::from_u64(formal.width, value.into());
            constants.insert(formal.name.as_str(), Term::bits(bits.clone()));
            args.push(Argument::Immediate(bits));
            continue;
        }
        let input = input(candidates, candidate, formal)?;
        let value = graph.add(Node::Input {
            name: input.name.clone(),
            lo: 0,
            width: formal.width,
        });
        args.push(Argument::Value(value));
        inputs.push(input);
    }
    let term = replace_vars(candidate.term(), &constants);
    let term = match spelling {
        Spelling::Meaning => term,
        Spelling::Identities(count, seed) => identities::written(term, count, seed)?,
    };
    let value = graph.add(Node::Apply {
        operation: at,
        args,
    });
    let window = window(candidate, inputs, term)?;
    let weights = candidates.list.iter().map(|c| &c.weight);
    let inputs = WindowInput::of(&window);
    let estimator = Estimator::new(weights, &candidates.costs, &candidates.widths, &inputs);
    let cost = estimator.window(&graph, &[value]).cost;
    Some(Probe { window, cost })
}

/// Searches for the program of a probe.
pub fn reached(
    candidates: &Candidates,
    at: usize,
    probe: &Probe,
    prover: &Prover,
    options: Options,
) -> Reached {
    let known = Counterexamples::default();
    let window = &probe.window;
    let given = Given {
        known: &known,
        sought: Sought::Any,
        with_claims: false,
    };
    let (program, report, _) = compile_window(window, candidates, prover, options, given);
    let instructions = |p: &Program| {
        let used = p.nodes().iter().filter_map(|node| match node {
            Node::Apply { operation, .. } => Some(&p.operations[*operation]),
            _ => None,
        });
        let name = |i: &Arc<autoir::program::Instance>| {
            let same = candidates.list.iter().find(|c| c.instance == *i);
            same.map_or_else(|| i.operation.clone(), |c| c.instruction.clone())
        };
        used.map(name).collect()
    };
    let why = match &report.outcome {
        Outcome::Proved(_) => None,
        other => Some(format!("{other:?}").chars().take(200).collect()),
    };
    let found = program.map(|p| (report.cost, instructions(&p)));
    Reached {
        instruction: candidates.list[at].instruction.clone(),
        cost: probe.cost,
        found,
        why,
        window: window.term,
    }
}

/// An operand as a register that is filled from memory.
fn input(candidates: &Candidates, candidate: &Candidate, formal: &Formal) -> Option<Input> {
    if formal.role != Role::Register || !candidates.widths.is_held(formal.width) {
        return None;
    }
    let element = formal.element.width().unwrap_or(candidate.natural);
    Some(Input {
        name: formal.name.clone(),
        ty: lanes(formal.width, element)?,
        source: Source::Register(0),
    })
}

/// A vector of unsigned elements as wide as a kernel's may be.
fn lanes(width: u32, element: u32) -> Option<Type> {
    let element = element.next_power_of_two().clamp(8, 64);
    (width.is_multiple_of(element) && width > element).then(|| Type {
        elem: Elem::unsigned(element),
        lanes: width / element,
    })
}

fn window(candidate: &Candidate, inputs: Vec<Input>, term: Term) -> Option<Window> {
    let output = lanes(candidate.width, candidate.natural)?;
    let nowhere = Span { start: 0, end: 0 };
    let value = Expr {
        kind: ExprKind::Const(vec![0]),
        ty: output,
        span: nowhere,
    };
    (!inputs.is_empty()).then(|| Window {
        name: candidate.instruction.clone(),
        span: nowhere,
        inputs,
        output,
        term,
        store: Store::Register(1),
        value,
        accumulate: false,
        chains: 0,
        dealt: Vec::new(),
        leftover: false,
    })
}
