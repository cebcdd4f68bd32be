//! Narrowed values: wide lanes of one or two registers brought together in one.
//!
//! In: a value that is part of a wider one, or saturated from it, for so many lanes. Out: how it is
//! chosen, and its register. Where one register does not hold those lanes of the wider value, that
//! is chosen for and placed with half the lanes, in two registers; what is narrowed to less than half
//! may be narrowed in steps. Which instructions narrow lanes is searched for once for each target, for
//! nothing but that ([`Sequence`]), so that its cost is known before it is chosen.

use super::cover::{Choices, Expression, How, PARTS, cheaper};
use super::place::Placed;
use super::{Grammar, Search};
use crate::fragment::{self, lane_width, regular};
use crate::goal::Goal;
use crate::lanes::Counterexamples;
use crate::sequence::{Sequence, register};
use autoir::program::{Node, Value};
use semantics::build;
use semantics::digest::Digests;
use semantics::op::{Op, OpCode};
use semantics::sort::Sort;
use semantics::term::Term;
use std::collections::HashMap;
use std::rc::Rc;

/// Goals that may be spent on how lanes are narrowed.
const GOALS: usize = 400;
/// What saturates.
const SATURATING: [OpCode; 4] = [OpCode::SatSS, OpCode::SatSU, OpCode::SatUS, OpCode::SatUU];

impl Search<'_> {
    /// Whether a register holds so many lanes of a value.
    pub(super) fn holds(&self, lanes: u32, t: Term) -> bool {
        let widths = &self.candidates.widths;
        widths.of_lanes(lanes, lane_width(t)) <= widths.widest()
    }

    /// The cheapest way to narrow a wider value; of parts of what a register holds only where there is
    /// no other way to compute them.
    pub(super) fn by_narrowing(
        &mut self,
        e: &Expression,
        choices: &mut Choices,
        t: Term,
        known: bool,
    ) -> Option<(u64, How)> {
        let mut best = None;
        for how in Narrowing::all(t) {
            let Some(lanes) = self
                .lanes_of(how, choices)
                .filter(|l| !known || !l.is_moved())
            else {
                continue;
            };
            let Some(sequence) = self.sequence(lanes) else {
                continue;
            };
            let of = how.of;
            let flow = match lanes.registers {
                1 => self.border(e, choices, &[of]),
                _ => {
                    let below = self.choices_below(e, of, choices);
                    let made = below.and_then(|below| below.made.get(&of)?.clone());
                    made.map(|(flow, _)| 2 * flow)
                }
            };
            let cost = u64::from(sequence.cost) * PARTS;
            let found = flow.map(|flow| (flow + cost, How::Narrowed { of, lanes }));
            best = cheaper(best, found);
        }
        best
    }

    /// What is narrowed where a value is chosen in so many lanes; nothing where two registers do not
    /// hold it, or what is searched for is a way to narrow such.
    fn lanes_of(&self, how: Narrowing, choices: &Choices) -> Option<Lanes> {
        let registers = match self.holds(choices.lanes, how.of) {
            true => 1,
            false => 2,
        };
        let lanes = Lanes {
            wide: lane_width(how.of),
            narrow: replaced(how.to, how.of, wide(lane_width(how.of))),
            lanes: choices.lanes / registers,
            registers,
        };
        let open = self.memory.narrows;
        let free = open.is_none_or(|open| lanes.is_moved() && !open.is_moved());
        (free && lanes.lanes >= 2 && self.holds(lanes.lanes, how.of)).then_some(lanes)
    }

    /// The choice for a value of an expression with half the lanes.
    fn choices_below(
        &mut self,
        e: &Expression,
        of: Term,
        choices: &Choices,
    ) -> Option<Rc<Choices>> {
        self.choices_by(&e.below(of), choices.lanes / 2, choices.by_rules)
    }

    /// The register of a value that is narrowed.
    pub(super) fn place_narrowed(
        &mut self,
        e: &Expression,
        (of, lanes): (Term, Lanes),
        choices: &Choices,
        depth: usize,
        placed: &mut Placed,
    ) -> Option<Value> {
        let mut registers = Vec::new();
        if lanes.registers == 1 {
            registers.push(self.place(e, choices, of, depth, placed)?);
        } else {
            let (below, choices) = (e.below(of), self.choices_below(e, of, choices)?);
            for first in placed.all_lanes().step_by(choices.lanes as usize) {
                let mut own = Placed::new(&below, &choices, first);
                registers.push(self.place(&below, &choices, of, depth, &mut own)?);
            }
        }
        let sequence = self.sequence(lanes)?;
        sequence.placed(&mut self.graph, &registers)
    }

    /// The instructions that narrow lanes.
    fn sequence(&self, lanes: Lanes) -> Option<Sequence> {
        let (candidates, prover) = (self.candidates, self.prover);
        let limits = super::Limits {
            goals: GOALS,
            ..self.limits
        };
        let find = || {
            let known = Counterexamples::default();
            let search = Search::new(candidates, &[], lanes.narrow, prover, limits, known);
            search.find_sequence(lanes)
        };
        candidates.narrowed(lanes, limits.grammar, find)
    }

    /// Searches for the instructions that narrow lanes; no answer where time or memory was over.
    fn find_sequence(mut self, lanes: Lanes) -> Option<Option<Sequence>> {
        self.memory.narrows = Some(lanes);
        let width = self.candidates.widths.of_lanes(lanes.lanes, lanes.wide);
        let input = |k: u32| Node::Input {
            name: register(k as usize),
            lo: 0,
            width,
        };
        let inputs = (0..lanes.registers).map(|k| self.graph.add(input(k)));
        let inputs: Vec<Value> = inputs.collect();
        let named: Vec<Term> = inputs.iter().map(|&input| self.named(input)).collect();
        let found = self.solve(&self.padded(&lanes.goal(&named)), 1);
        let found = match (found, &inputs[..]) {
            (None, &[whole]) => self.narrowed_by_halves(lanes, whole),
            (found, _) => found.map(|(value, _)| value),
        };
        if found.is_none() && self.limits.limit.passed().is_some() {
            return None;
        }
        Some(found.and_then(|value| {
            let cost = self.estimator.sum(&self.graph, &[value]);
            Sequence::new(self.graph.extract(&[value]), cost, self.candidates)
        }))
    }

    /// The lanes of the two halves of a register, narrowed.
    fn narrowed_by_halves(&mut self, lanes: Lanes, whole: Value) -> Option<Value> {
        let half = self.graph.width(whole) / 2;
        if !self.candidates.widths.is_vector(half) || half != lanes.lanes / 2 * lanes.wide {
            return None;
        }
        let register = self.named(whole);
        let halves = [0, half].map(|from| Goal {
            element: lanes.wide,
            elements: (from..from + half)
                .step_by(lanes.wide as usize)
                .map(|lo| Some(build::extract(register, lo, lanes.wide)))
                .collect(),
        });
        let mut named = Vec::new();
        for goal in halves {
            let (value, _) = self.solve(&goal, 1)?;
            named.push(self.named(value));
        }
        let halves = Lanes {
            lanes: lanes.lanes / 2,
            registers: 2,
            ..lanes
        };
        Some(self.solve(&self.padded(&halves.goal(&named)), 1)?.0)
    }
}

/// The variable for a lane that is narrowed.
fn wide(width: u32) -> Term {
    Term::var("@wide", Sort::Bv(width))
}

/// Lanes that are narrowed, of how many registers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Lanes {
    /// The width of a lane.
    wide: u32,
    /// What becomes of the lane that is a variable of that width.
    narrow: Term,
    /// Lanes of each register.
    lanes: u32,
    registers: u32,
}

impl Lanes {
    /// Whether they lie in one register.
    pub(super) fn are_whole(self) -> bool {
        self.registers == 1
    }

    /// Whether parts of one register's lanes are moved; those of two are computed, by what packs.
    fn is_moved(self) -> bool {
        self.are_whole() && self.narrow.args_of(OpCode::Extract).is_some()
    }

    /// What is asked, whatever run it is in.
    pub(crate) fn question(self, grammar: Grammar) -> Vec<String> {
        let narrow = Digests::default().of(self.narrow).to_string();
        let [wide, lanes, registers] =
            [self.wide, self.lanes, self.registers].map(|n| n.to_string());
        vec![narrow, wide, lanes, registers, format!("{grammar:?}")]
    }

    /// The narrowed lanes of registers.
    fn goal(self, registers: &[Term]) -> Goal {
        let element = lane_width(self.narrow);
        let moved = self
            .narrow
            .args_of(OpCode::Extract)
            .filter(|_| self.is_moved());
        let lo = moved.and_then(|args| u32::try_from(args[1].as_int()?).ok());
        let lane = |register: Term, k: u32| {
            let lane = build::extract(register, k * self.wide, self.wide);
            match lo {
                Some(lo) => build::extract(lane, lo, element),
                None => replaced(self.narrow, wide(self.wide), lane),
            }
        };
        let lanes = |&register| (0..self.lanes).map(move |k| Some(lane(register, k)));
        let elements = registers.iter().flat_map(lanes).collect();
        Goal { element, elements }
    }
}

/// How a value is narrowed.
#[derive(Clone, Copy, Debug)]
struct Narrowing {
    /// A wider value.
    of: Term,
    /// What it is narrowed to.
    to: Term,
}

impl Narrowing {
    /// Ways to narrow a value: at once, and to twice its width first. None for bits that are no whole
    /// bytes.
    fn all(t: Term) -> Vec<Narrowing> {
        let Some((op, args)) = t.as_app() else {
            return Vec::new();
        };
        let lo = match op.code {
            OpCode::Extract => args[1].as_int().and_then(|lo| u32::try_from(lo).ok()),
            _ => SATURATING.contains(&op.code).then_some(0),
        };
        let Some(lo) = lo.filter(|lo| lo.is_multiple_of(8)) else {
            return Vec::new();
        };
        let (of, width) = (args[0], lane_width(t));
        if !regular(of) || lane_width(of) <= width {
            return Vec::new();
        }
        let at_once = Narrowing { of, to: t };
        let in_steps = (lane_width(of) > 2 * width).then(|| Narrowing::in_steps(op, of, lo, width));
        [Some(at_once), in_steps.flatten()]
            .into_iter()
            .flatten()
            .collect()
    }

    fn in_steps(op: Op, wide: Term, lo: u32, width: u32) -> Option<Narrowing> {
        let from = lo.min(lane_width(wide) - 2 * width);
        let at = |from: u32| Term::int(i64::from(from));
        let (first, of, rest) = match op.code {
            OpCode::Extract => (OpCode::Extract, vec![wide, at(from)], vec![at(lo - from)]),
            OpCode::SatSS | OpCode::SatSU => (OpCode::SatSS, vec![wide], Vec::new()),
            _ => (OpCode::SatUU, vec![wide], Vec::new()),
        };
        let of = Term::raw_app(Op::with(first, 2 * width), &of).ok()?;
        let to = Term::raw_app(op, &[vec![of], rest].concat()).ok()?;
        Some(Narrowing { of, to })
    }
}

/// A term with another in the place of one in it.
fn replaced(t: Term, old: Term, new: Term) -> Term {
    fragment::as_bits(fragment::replace(t, &mut HashMap::from([(old, new)])))
}

impl Expression {
    /// A value of it as an expression of its own.
    fn below(&self, of: Term) -> Expression {
        Expression {
            root: of,
            leaves: Rc::clone(&self.leaves),
            streams: Rc::clone(&self.streams),
            element: lane_width(of),
            lanes: self.lanes,
            viewed: self.viewed,
        }
    }
}
