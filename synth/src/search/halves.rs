//! Halves: what is done with the lower half of a register and then with the upper one.
//!
//! In: an operation on values that fill half a register, or two such values that are to lie in one.
//! Out: the operation that reads the upper halves of whole registers, or that leaves its result above
//! what another register holds, where the target has one for no more ([`crate::twins`]). Nothing is
//! moved or loaded for itself then, and what is computed lane by lane of both halves is computed once.

use super::Search;
use super::cover::{Choices, Expression, How, PARTS};
use super::place::Placed;
use crate::cost::Cost;
use crate::fragment::lane_width;
use crate::goal::Goal;
use crate::twins::Twin;
use autoir::program::{Argument, Node, Value};
use semantics::bits::Bits;
use semantics::instruction::Role;
use semantics::term::Term;

/// How many operations below a value may be computed of whole registers for it.
const DEPTH: usize = 3;

impl Search<'_> {
    /// When the upper half does not matter, the lower half seen as a wider register.
    pub(super) fn low_half(&mut self, goal: &Goal, depth: usize) -> Option<(Value, Cost)> {
        if goal.width() == self.candidates.widths.narrowest() {
            return self.low_piece(goal);
        }
        let vector = goal.width() > self.candidates.widths.narrowest();
        let (value, cost) = self.solve(&goal.lower_half().filter(|_| vector)?, depth + 1)?;
        Some((
            self.graph.add(Node::Cast {
                value,
                width: goal.width(),
            }),
            cost,
        ))
    }

    /// An operation applied, or its twin where its operands are upper halves.
    pub(super) fn applied(&mut self, operation: usize, args: Vec<Argument>) -> Value {
        let (operation, args) = match self.of_uppers(operation, &args) {
            Some(found) => found,
            None => (operation, args),
        };
        self.graph.add(Node::Apply { operation, args })
    }

    fn of_uppers(&mut self, operation: usize, args: &[Argument]) -> Option<(usize, Vec<Argument>)> {
        let candidates = self.candidates;
        let formals = &candidates.list[operation].instance.formals;
        let widths = &candidates.widths;
        let (mut upper, mut any) = (0, false);
        let mut wide = args.to_vec();
        for (k, (formal, arg)) in formals.iter().zip(args).enumerate() {
            let half = !widths.is_vector(formal.width) && widths.is_vector(2 * formal.width);
            let Argument::Value(value) = *arg else {
                continue;
            };
            if half && formal.role == Role::Register {
                let (whole, moved) = self.upper_of(value, formal.width, DEPTH)?;
                wide[k] = Argument::Value(whole);
                upper |= 1u32.checked_shl(u32::try_from(k).ok()?)?;
                any |= moved;
            }
        }
        if !any {
            return None;
        }
        let twin = candidates.twin(operation, Twin::Reads(upper))?;
        let no_more = candidates.cost_of(twin.operation) <= candidates.cost_of(operation);
        no_more.then_some((twin.operation, wide))
    }

    /// A register whose upper half holds the low bits of a value, and whether that is another place
    /// than they have in it.
    fn upper_of(&mut self, value: Value, half: u32, depth: usize) -> Option<(Value, bool)> {
        let (value, seen) = self.uncast(value);
        if seen < half {
            return None;
        }
        match self.graph.node(value).clone() {
            Node::Constant(bits) => {
                let low: Bits = bits.extract(0, half);
                let both = low.concat(&low);
                Some((self.graph.add(Node::Constant(both)), false))
            }
            Node::Input { name, lo, .. } => {
                let from = lo.checked_sub(half)?;
                let whole = self.input(&name).filter(|input| input.in_memory)?.width;
                let aligned = from.is_multiple_of(2 * half) && from + 2 * half <= whole;
                let node = Node::Input {
                    name,
                    lo: from,
                    width: 2 * half,
                };
                aligned.then(|| (self.graph.add(node), true))
            }
            Node::Apply { operation, args } => self.computed_upper(value, operation, &args, depth),
            _ => None,
        }
    }

    /// The same of what an operation computes: where it gives the same in both halves, or treats lanes
    /// alike and apart and its operands are upper halves.
    fn computed_upper(
        &mut self,
        value: Value,
        operation: usize,
        args: &[Argument],
        depth: usize,
    ) -> Option<(Value, bool)> {
        let candidates = self.candidates;
        let c = &candidates.list[operation];
        let half = c.width / 2;
        if !candidates.widths.is_vector(c.width) {
            return None;
        }
        if candidates.repeats(operation) {
            return Some((value, false));
        }
        if depth == 0 || !c.is_by_lanes() {
            return None;
        }
        let (mut wide, mut any) = (args.to_vec(), false);
        for (formal, arg) in c.instance.formals.iter().zip(&mut wide) {
            let Argument::Value(value) = *arg else {
                continue;
            };
            if formal.width != c.width || formal.role != Role::Register {
                return None;
            }
            let (whole, moved) = self.upper_of(value, half, depth - 1)?;
            *arg = Argument::Value(whole);
            any |= moved;
        }
        let whole = self.graph.add(Node::Apply {
            operation,
            args: wide,
        });
        for goal in self.claims.get(&value).cloned().unwrap_or_default() {
            self.claim_above(whole, &goal, half);
        }
        Some((whole, any))
    }

    /// What the lower half of another value holds, said of the upper half of a register.
    fn claim_above(&mut self, value: Value, goal: &Goal, half: u32) {
        let lanes = (half / goal.element) as usize;
        if half.is_multiple_of(goal.element) && goal.elements.len() >= lanes {
            let above = goal.elements[..lanes].iter().copied();
            let goal = Goal {
                element: goal.element,
                elements: std::iter::repeat_n(None, lanes).chain(above).collect(),
            };
            self.claim(value, &goal);
        }
    }

    /// A value computed with half the lanes in half a register, and the other half above it by an
    /// operation that leaves it there.
    pub(super) fn by_joining(
        &mut self,
        e: &Expression,
        choices: &Choices,
        t: Term,
    ) -> Option<(u64, How)> {
        let candidates = self.candidates;
        let width = choices.lanes * lane_width(t);
        let half = width / 2;
        if width != candidates.widths.narrowest() || choices.lanes < 4 {
            return None;
        }
        let library = self.lane_library(choices.lanes / 2);
        let leaves = |operation: usize| {
            let fits = candidates.list[operation].width == half;
            fits && candidates.twin(operation, Twin::Leaves).is_some()
        };
        let known = self.memory.cuts.of(t).into_iter().any(|cut| {
            let piece = self.fragment(t, &cut);
            piece.is_some_and(|piece| {
                let mut entries = library.find(piece.1).iter();
                entries.any(|entry| leaves(library.ops[entry.op].candidate))
            })
        });
        if !known {
            return None;
        }
        let below = self.choices_below(e, t, choices)?;
        let (flow, How::Operation { op, .. }) = below.made.get(&t)?.as_ref()? else {
            return None;
        };
        let operation = below.lane_library.ops[*op].candidate;
        let twin = candidates.twin(operation, Twin::Leaves)?;
        let (one, other) = (
            candidates.cost_of(operation),
            candidates.cost_of(twin.operation),
        );
        let more = u64::from(other.saturating_sub(one)) * PARTS;
        leaves(operation).then_some((2 * flow + more, How::Joined))
    }

    /// The register of a value that is joined of halves.
    pub(super) fn place_joined(
        &mut self,
        e: &Expression,
        t: Term,
        choices: &Choices,
        depth: usize,
        placed: &mut Placed,
    ) -> Option<Value> {
        let (below, half) = (e.below(t), self.choices_below(e, t, choices)?);
        let mut registers = Vec::new();
        for first in placed.all_lanes().step_by(half.lanes as usize) {
            let mut own = Placed::new(&below, &half, first);
            registers.push(self.place(&below, &half, t, depth, &mut own)?);
        }
        let goal = placed.goal(t, &self.candidates.widths);
        self.joined_pair(&registers, &goal, half.lanes as usize, depth)
    }

    /// The widest registers from those that together hold a goal, where they divide it and that costs
    /// no more for each than a store and a load.
    pub(crate) fn in_widest(&mut self, values: Vec<Value>, goal: &Goal) -> Vec<Value> {
        let part = goal.elements.len() / values.len().max(1);
        let width = goal.width().min(self.candidates.widths.widest());
        let each = (width / goal.element) as usize;
        let divides = part > 0 && each > part && each.is_multiple_of(part);
        if !divides || !goal.width().is_multiple_of(width) || !self.candidates.widths.is_one(width)
        {
            return values;
        }
        let mut all = Vec::new();
        for (k, group) in values.chunks(each / part).enumerate() {
            let apart = self.estimate(group).cost;
            let whole = self.joined(group, &goal.part(k * each, each), part, 0);
            let most = apart + self.processor().operation;
            let whole = whole.filter(|whole| self.estimate(&[*whole]).cost <= most);
            match whole {
                Some(whole) => all.push(whole),
                None => return values,
            }
        }
        all
    }

    /// One register from those that hold its parts of so many elements.
    pub(super) fn joined(
        &mut self,
        values: &[Value],
        goal: &Goal,
        part: usize,
        depth: usize,
    ) -> Option<Value> {
        let mut now = values.to_vec();
        let mut part = part;
        while now.len() > 1 {
            let mut next = Vec::new();
            for (k, pair) in now.chunks(2).enumerate() {
                let piece = goal.part(2 * k * part, 2 * part);
                let value = self.joined_pair(pair, &piece, part, depth)?;
                next.push(value);
            }
            now = next;
            part *= 2;
        }
        now.first().copied()
    }

    /// The register that holds the elements of one value, so many, and those of another above them.
    pub(super) fn joined_pair(
        &mut self,
        pair: &[Value],
        goal: &Goal,
        part: usize,
        depth: usize,
    ) -> Option<Value> {
        let mut elements = Vec::new();
        for (at, &value) in pair.iter().enumerate() {
            let register = self.named(value);
            elements.extend((0..part).map(|lane| {
                let lo = lane as u32 * goal.element;
                goal.elements[at * part + lane]
                    .map(|_| semantics::build::extract(register, lo, goal.element))
            }));
        }
        let moves = self.padded(&Goal {
            element: goal.element,
            elements,
        });
        let bits = part as u32 * goal.element;
        let value = match *pair {
            [low, high] => self.left_above(low, high, bits),
            _ => None,
        };
        let value = match value {
            Some(value) => value,
            None => self.solve(&moves, depth + 1)?.0,
        };
        self.claim(value, &self.padded(goal));
        Some(value)
    }

    /// Two values that fill half a register each in one, where what computes the second can leave it
    /// above the first for no more than moving it there.
    fn left_above(&mut self, low: Value, high: Value, bits: u32) -> Option<Value> {
        let candidates = self.candidates;
        let (value, _) = self.uncast(high);
        let Node::Apply {
            operation,
            mut args,
        } = self.graph.node(value).clone()
        else {
            return None;
        };
        let half = candidates.list[operation].width;
        if half != bits || self.graph.width(low) != 2 * half {
            return None;
        }
        let twin = candidates.twin(operation, Twin::Leaves)?;
        let most = candidates.cost_of(operation) + self.processor().operation / 2;
        if candidates.cost_of(twin.operation) > most {
            return None;
        }
        let lower = self.seen(low, half);
        args.insert(twin.lower?, Argument::Value(lower));
        let operation = twin.operation;
        Some(self.graph.add(Node::Apply { operation, args }))
    }
}
