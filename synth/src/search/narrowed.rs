//! Narrowed values: wide lanes of one or two registers brought together in one.
//!
//! In: a value that is part of a wider one, or saturated from it, for so many lanes. Out: how it is
//! chosen, and its register. Where one register does not hold those lanes of the wider value, that
//! is chosen for and placed with half the lanes, in two registers; what is narrowed to less than half
//! may be narrowed in steps. Which instructions narrow lanes is searched for once for each target, for
//! nothing but that ([`Sequence`]), so that its cost is known before it is chosen.

use super::cover::{Choices, Expression, How, PARTS, Style, cheaper};
use super::dealt::undealt;
use super::place::Placed;
use super::{Grammar, Search};
use crate::alternatives::{at_once, uncut};
use crate::cost::Cost;
use crate::fragment::{self, lane_width, regular};
use crate::goal::Goal;
use crate::lanes::Counterexamples;
use crate::sequence::{Sequence, register};
use autoir::program::{Node, Value};
use semantics::build;
use semantics::digest::Digests;
use semantics::op::{Op, OpCode};
use semantics::range::range;
use semantics::sort::Sort;
use semantics::term::Term;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Goals that may be spent on how lanes are narrowed.
const GOALS: usize = 400;
/// What saturates.
const SATURATING: [OpCode; 4] = [OpCode::SatSS, OpCode::SatSU, OpCode::SatUS, OpCode::SatUU];

impl Search<'_> {
    /// The cheapest piece that one operation computes, as it is written or at once.
    pub(super) fn by_one(
        &mut self,
        e: &Expression,
        choices: &mut Choices,
        t: Term,
    ) -> Option<(u64, How)> {
        let found = self.by_operation(e, choices, t);
        let other = at_once(t).and_then(|other| self.by_operation(e, choices, other));
        cheaper(found, other)
    }

    /// Whether a register holds so many lanes of a value.
    pub(super) fn holds(&self, lanes: u32, t: Term) -> bool {
        let widths = &self.candidates.widths;
        widths.of_lanes(lanes, lane_width(t)) <= widths.widest()
    }

    /// Whether so many lanes of an expression are no more than one register.
    pub(super) fn fill_one(&self, lanes: u32, e: &Expression) -> bool {
        let widths = &self.candidates.widths;
        widths.is_one(widths.of_lanes(lanes, e.element))
    }

    /// The cheapest way to narrow a wider value, from one register where that is a way; of parts of what
    /// a register holds only where there is no other way to compute them.
    pub(super) fn by_narrowing(
        &mut self,
        e: &Expression,
        choices: &mut Choices,
        t: Term,
        known: bool,
    ) -> Option<(u64, How)> {
        let mut best = None;
        let all = Narrowing::all(t);
        for &how in &all {
            let cut = how.to.args_of(OpCode::Extract).is_some();
            if known && cut && self.holds(choices.lanes, how.of) {
                continue;
            }
            // Registers may hold what no operation computes in them. Operands are not looked for in two
            // as well: there are too many of them.
            let in_two = choices.depth == 0 || !self.holds(choices.lanes, how.of);
            let mut from = |registers| self.narrowing(e, choices, how, registers);
            let one = from(1);
            best = cheaper(best, one.or_else(|| in_two.then(|| from(2))?));
            if in_two && choices.style == Style::Dealt {
                best = cheaper(best, self.narrowing_of_dealt(e, choices, how));
            }
        }
        match all.is_empty() || choices.depth == 0 {
            true => best,
            false => cheaper(best, self.by_joining(e, choices, t)),
        }
    }

    fn narrowing(
        &mut self,
        e: &Expression,
        choices: &mut Choices,
        how: Narrowing,
        registers: u32,
    ) -> Option<(u64, How)> {
        let of = how.of;
        let lanes = how.lanes(choices.lanes / registers, registers, Lying::Plain);
        // How lanes are narrowed is not searched for by narrowing such, but for what is moved.
        let open = self.memory.narrows;
        let free = open.is_none_or(|open| lanes.is_moved() && !open.is_moved());
        // Less than a register is not cut in two.
        let least = match registers {
            1 => 2 * lanes.wide,
            _ => self.candidates.widths.narrowest(),
        };
        if !free || lanes.lanes * lanes.wide < least || !self.holds(lanes.lanes, of) {
            return None;
        }
        // Looked up, or searched for once: the wider value is chosen for only where it can be narrowed.
        let cost = u64::from(self.sequence(lanes)?.cost) * PARTS;
        let flow = match registers {
            1 => self.border(e, choices, &[of])?,
            _ => {
                let below = self.choices_below(e, of, choices)?;
                2 * below.made.get(&of)?.as_ref()?.0
            }
        };
        Some((flow + cost, How::Narrowed { of, lanes }))
    }

    /// The choice for a value of an expression with half the lanes.
    pub(super) fn choices_below(
        &mut self,
        e: &Expression,
        of: Term,
        choices: &Choices,
    ) -> Option<Rc<Choices>> {
        self.choices_by(&e.below(of), choices.lanes / 2, choices.style)
    }

    /// Whether lanes of a chosen cover are narrowed by moving their parts.
    pub(super) fn moves_parts(&mut self, e: &Expression, lanes: u32) -> bool {
        let Some(choices) = self.choices(e, lanes) else {
            return false;
        };
        let (mut seen, mut work) = (HashSet::new(), vec![e.root]);
        while let Some(t) = work.pop() {
            let made = choices.made.get(&t).and_then(Option::as_ref);
            let Some((_, how)) = made.filter(|_| seen.insert(t)) else {
                continue;
            };
            if matches!(how, How::Narrowed { .. } | How::Joined) {
                return true;
            }
            work.extend(how.operands());
        }
        false
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
            if let Lying::Packed(block) = lanes.lying {
                let registers = self.place_dealt(e, (of, block), choices, depth, placed)?;
                return self.sequence(lanes)?.placed(&mut self.graph, &registers);
            }
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
    pub(super) fn sequence(&self, lanes: Lanes) -> Option<Sequence> {
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
        let found = match (self.narrowed(lanes, &named), &inputs[..]) {
            (None, &[whole]) => self.narrowed_by_halves(lanes, whole),
            (found, _) => found,
        };
        if found.is_none() && self.limits.limit.passed().is_some() {
            return None;
        }
        Some(found.and_then(|(value, cost)| {
            Sequence::new(self.graph.extract(&[value]), cost, self.candidates)
        }))
    }

    /// The cheapest register of the narrowed lanes of registers, and what it costs.
    fn narrowed(&mut self, lanes: Lanes, registers: &[Term]) -> Option<(Value, Cost)> {
        let mut best = None;
        for goal in lanes.goals(registers) {
            let found = self.solve(&self.padded(&goal), 1);
            // What a goal costs does not count what is made before it.
            let whole = found.map(|(value, _)| (value, self.estimator.sum(&self.graph, &[value])));
            best = super::cheaper(best, whole);
        }
        best
    }

    /// The lanes of the two halves of a register, narrowed.
    fn narrowed_by_halves(&mut self, lanes: Lanes, whole: Value) -> Option<(Value, Cost)> {
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
        self.narrowed(halves, &named)
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
    lying: Lying,
}

/// How the lanes of two registers lie.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Lying {
    /// Those of the first register before those of the second.
    Plain,
    /// Those of both in blocks of so many bits of the narrowed register ([`super::dealt`]).
    Packed(u32),
    /// Halves of lanes in each, of which one register of dealt lanes is made, the second one.
    Interleaved(u32, bool),
    /// Those of both in such blocks, of which one register of lanes in their order is made, the second one.
    Gathered(u32, bool),
}

impl Lanes {
    /// Whether they lie in one register.
    pub(super) fn are_whole(self) -> bool {
        self.registers == 1
    }

    /// Whether parts of one register's lanes are moved.
    fn is_moved(self) -> bool {
        self.are_whole() && self.part().is_some()
    }

    /// The lowest bit of a lane that stays, where lanes are cut.
    fn part(self) -> Option<u32> {
        let args = self.narrow.args_of(OpCode::Extract)?;
        u32::try_from(args[1].as_int()?).ok()
    }

    /// What is asked, whatever run it is in.
    pub(crate) fn question(self, grammar: Grammar) -> Vec<String> {
        let narrow = Digests::default().of(self.narrow).to_string();
        let [wide, lanes, registers] =
            [self.wide, self.lanes, self.registers].map(|n| n.to_string());
        let lying = format!("{:?}", self.lying);
        vec![
            narrow,
            wide,
            lanes,
            registers,
            lying,
            format!("{grammar:?}"),
        ]
    }

    /// The register and the lane in it of each narrowed lane.
    fn places(self, narrow: u32) -> Vec<(u32, u32)> {
        let all = self.registers * self.lanes;
        let mut places = vec![(0, 0); all as usize];
        for k in 0..all {
            let at = match self.lying {
                Lying::Packed(block) => undealt(k, all, block / narrow),
                _ => k,
            };
            places[at as usize] = (k / self.lanes, k % self.lanes);
        }
        places
    }

    /// The halves of dealt lanes beside each other.
    fn interleaving(self, registers: &[Term], block: u32, upper: bool) -> Goal {
        let first = u32::from(upper) * self.lanes / 2;
        let piece = |k: u32| {
            let lane = undealt(first + k / 2, self.lanes, block / self.wide);
            build::extract(registers[k as usize % 2], lane * self.wide, self.wide)
        };
        Goal {
            element: self.wide,
            elements: (0..self.lanes).map(|k| Some(piece(k))).collect(),
        }
    }

    /// Lanes in their order, of two registers of dealt ones.
    fn gathering(self, registers: &[Term], block: u32, upper: bool) -> Goal {
        let places = Lanes {
            lying: Lying::Packed(block),
            ..self
        }
        .places(self.wide / 2);
        let first = if upper { self.lanes as usize } else { 0 };
        let own = &places[first..first + self.lanes as usize];
        let lane =
            |&(r, k): &(u32, u32)| build::extract(registers[r as usize], k * self.wide, self.wide);
        Goal {
            element: self.wide,
            elements: own.iter().map(|place| Some(lane(place))).collect(),
        }
    }

    /// Lanes of two registers of dealt ones, of which one register of lanes in their order is made.
    pub(super) fn gathered(width: u32, lanes: u32, block: u32, upper: bool) -> Lanes {
        Lanes {
            lying: Lying::Gathered(block, upper),
            ..Lanes::interleaved(width, lanes, block, upper)
        }
    }

    /// Halves of lanes of two registers, of which a register of dealt lanes is made.
    pub(super) fn interleaved(width: u32, lanes: u32, block: u32, upper: bool) -> Lanes {
        Lanes {
            wide: width,
            narrow: wide(width),
            lanes,
            registers: 2,
            lying: Lying::Interleaved(block, upper),
        }
    }

    /// The narrowed lanes of registers: as pieces that are moved, where lanes are cut; as a function of
    /// lanes, which what packs computes, but for pieces of one register.
    fn goals(self, registers: &[Term]) -> Vec<Goal> {
        let element = lane_width(self.narrow);
        match self.lying {
            Lying::Interleaved(block, upper) => {
                return vec![self.interleaving(registers, block, upper)];
            }
            Lying::Gathered(block, upper) => return vec![self.gathering(registers, block, upper)],
            Lying::Plain | Lying::Packed(_) => {}
        }
        let goal = |narrow: &dyn Fn(Term) -> Term| {
            let lane = |register: Term, k: u32| build::extract(register, k * self.wide, self.wide);
            let all = self.places(element).into_iter();
            let all = all.map(|(r, k)| lane(registers[r as usize], k));
            let elements = all.map(|lane| Some(narrow(lane))).collect();
            Goal { element, elements }
        };
        let cut = self
            .part()
            .map(|lo| goal(&|lane| build::extract(lane, lo, element)));
        let computed = !self.is_moved();
        let computed = computed.then(|| goal(&|lane| replaced(self.narrow, wide(self.wide), lane)));
        cut.into_iter().chain(computed).collect()
    }
}

/// How a value is narrowed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Narrowing {
    /// A wider value.
    pub(super) of: Term,
    /// What it is narrowed to.
    pub(super) to: Term,
}

impl Narrowing {
    /// Of so many lanes in each of so many registers.
    pub(super) fn lanes(self, lanes: u32, registers: u32, lying: Lying) -> Lanes {
        let width = lane_width(self.of);
        Lanes {
            wide: width,
            narrow: replaced(self.to, self.of, wide(width)),
            lanes,
            registers,
            lying,
        }
    }

    /// Ways to narrow a value: at once, and to twice its width first. None for bits that are no whole
    /// bytes.
    pub(super) fn all(t: Term) -> Vec<Narrowing> {
        let cut = [t].into_iter().chain(uncut(t));
        let all = cut.flat_map(|t| [t].into_iter().chain(saturated(t)));
        all.flat_map(Narrowing::of).collect()
    }

    fn of(t: Term) -> Vec<Narrowing> {
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

/// The low bits of a value that they hold, saturated.
fn saturated(t: Term) -> Option<Term> {
    let (op, args) = t.as_app().filter(|(op, _)| op.code == OpCode::Extract)?;
    let lowest = args[1].as_int() == Some(0) && regular(args[0]) && op.params[0] < 64;
    let (least, most) = lowest.then(|| range(args[0]))?;
    let end = 1i128 << op.params[0];
    let code = match least < 0 {
        true if least >= -end / 2 && most < end / 2 => OpCode::SatSS,
        false if most < end => OpCode::SatSU,
        _ => return None,
    };
    Term::raw_app(Op::with(code, op.params[0]), &args[..1]).ok()
}

/// A term with another in the place of one in it.
fn replaced(t: Term, old: Term, new: Term) -> Term {
    fragment::as_bits(fragment::replace(t, &mut HashMap::from([(old, new)])))
}

impl Expression {
    /// A value of it as an expression of its own.
    pub(super) fn below(&self, of: Term) -> Expression {
        Expression {
            root: of,
            leaves: Rc::clone(&self.leaves),
            streams: Rc::clone(&self.streams),
            element: lane_width(of),
            lanes: self.lanes,
            view: self.view,
            dealt: self.dealt.clone(),
        }
    }
}
