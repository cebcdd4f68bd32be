//! Placing: what covering chose, as values of the program.
//!
//! In: an expression of one lane with the choice for each of its values. Out: registers that hold
//! them, with what each holds as a claim for the proof. It chooses nothing, but that a sum of
//! products may be computed across lanes where that costs less.

use super::Search;
use super::cover::{Choices, Expression, How, users};
use super::extended::zero_extended;
use super::lanewise::lane_goal;
use super::paired_products::adds_products;
use crate::fragment::{self, lane_width};
use crate::goal::{Goal, leaf};
use crate::lanes::{LaneExpr, LaneOp};
use crate::matching::summands;
use crate::widths::Widths;
use autoir::program::{Argument, Node, Value};
use semantics::bits::Bits;
use semantics::op::OpCode;
use semantics::sort::Sort;
use semantics::term::Term;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Goals that may be spent on computing a sum of products across lanes.
const ACROSS_GOALS: usize = 40;
/// Goals for a window that is covered and whose lanes have nothing that instructions across lanes bring
/// together.
pub(super) const APART_GOALS: usize = 64;
/// Goals for one whose lanes have, where these are no sums, for which there are many instructions.
const AMONG_GOALS: usize = 512;

impl Search<'_> {
    pub(super) fn place(
        &mut self,
        e: &Expression,
        choices: &Choices,
        t: Term,
        depth: usize,
        placed: &mut Placed,
    ) -> Option<Value> {
        if let Some(&done) = placed.values.get(&t) {
            return Some(done);
        }
        let (_, how) = choices.made.get(&t)?.as_ref()?;
        let value = match how {
            How::Leaf(k) => {
                let stream = e.streams[*k].part(placed.first as usize, choices.lanes as usize);
                self.solve(&self.padded(&stream), depth + 1)?.0
            }
            How::Extended(k) => {
                let stream = e.streams[*k].part(placed.first as usize, choices.lanes as usize);
                let wide = zero_extended(&stream, lane_width(t));
                self.solve(&self.padded(&wide), depth + 1)?.0
            }
            How::Constant(bits) => self.everywhere(bits, choices.lanes),
            How::Same(other) => self.place(e, choices, *other, depth, placed)?,
            How::Operation { op, args } => {
                let mut values = Vec::new();
                for &arg in args {
                    values.push(self.place(e, choices, arg, depth, placed)?);
                }
                self.apply_lane_op(&choices.lane_library.ops[*op], &values)
            }
            How::Search { expr, leaves } => {
                let mut values = Vec::new();
                for &leaf in leaves {
                    values.push(self.place(e, choices, leaf, depth, placed)?);
                }
                self.place_expr(expr, choices, &values)
            }
            How::View(view) => {
                let mut values = Vec::new();
                for &leaf in &view.leaves {
                    values.push(self.place(e, choices, leaf, depth, placed)?);
                }
                self.place_view(view, &values, placed, choices.lanes, depth)?
            }
            How::Interleaved(halves) => self.place_interleaved(e, *halves, placed)?,
            How::Joined => self.place_joined(e, t, choices, depth, placed)?,
            How::Narrowed { of, lanes } => {
                self.place_narrowed(e, (*of, *lanes), choices, depth, placed)?
            }
            How::Table(lookup) => {
                let index = self.place(e, choices, lookup.index, depth, placed)?;
                self.place_lookup(lookup, index)
            }
        };
        let mut value = value;
        if !matches!(how, How::Leaf(_) | How::Constant(_)) {
            let goal = placed.goal(t, &self.candidates.widths);
            self.claim(value, &goal);
            let across = adds_products(t) || adds_neighbours(e, t);
            if t != e.root && across && !placed.inner.contains(&t) {
                value = self.across_lanes(value, &goal, depth);
            }
        }
        placed.values.insert(t, value);
        Some(value)
    }

    /// A value that holds a goal for less, found by instructions that work across lanes. Few
    /// goals are spent on it, and none of the window's.
    fn across_lanes(&mut self, value: Value, goal: &Goal, depth: usize) -> Value {
        // Sums of one kind are alike: what brought nothing once is not tried again.
        let kind = lane_goal(goal).map(|(lane, streams)| {
            let whole = streams.iter().map(|s| s.input_part().is_some());
            (lane, whole.collect::<Vec<bool>>())
        });
        let Some(kind) = kind.filter(|kind| !self.across && !self.memory.apart.contains(kind))
        else {
            return value;
        };
        let bound = self.estimator.sum(&self.graph, &[value]);
        // Where the same sum is further on in its inputs, so is what was found for it.
        let before = self.memory.across.get(&kind).cloned();
        if let Some((first, found)) = before
            && let Some(further) = self.as_before(&first, &[found], goal)
            && self.estimator.sum(&self.graph, &further) < bound
        {
            return further[0];
        }
        let outer = self.bound;
        self.bound = outer.min(bound);
        self.across = true;
        let found = self.aside(ACROSS_GOALS, |search| search.solve(goal, depth + 1));
        self.across = false;
        self.bound = outer;
        let Some((better, _)) = found.filter(|(_, cost)| *cost < bound) else {
            self.memory.apart.insert(kind);
            return value;
        };
        self.memory.across.insert(kind, (goal.clone(), better));
        better
    }

    fn place_expr(&mut self, expr: &LaneExpr, choices: &Choices, leaves: &[Value]) -> Value {
        match expr {
            LaneExpr::Leaf(k) => leaves[*k],
            LaneExpr::Constant(bits) => self.everywhere(bits, choices.lanes),
            LaneExpr::Apply { op, args } => {
                let values: Vec<Value> = args
                    .iter()
                    .map(|a| self.place_expr(a, choices, leaves))
                    .collect();
                self.apply_lane_op(&choices.lane_library.ops[*op], &values)
            }
        }
    }

    /// A register with a constant in every lane.
    pub(super) fn everywhere(&mut self, bits: &Bits, lanes: u32) -> Value {
        let width = self.candidates.widths.of_lanes(lanes, bits.width());
        let all = bits.repeated(width / bits.width());
        self.graph.add(Node::Constant(all))
    }

    /// An operation applied to registers, with its immediates; operands and results that are the low
    /// end of a register are seen as that.
    pub(super) fn apply_lane_op(&mut self, op: &LaneOp, values: &[Value]) -> Value {
        let c = &self.candidates.list[op.candidate];
        let mut values = values.iter();
        let mut args = Vec::new();
        for o in &c.instance.formals {
            args.push(match op.immediates.iter().find(|(n, _)| *n == o.name) {
                Some((_, bits)) if o.role.is_constant() => Argument::Immediate(bits.clone()),
                Some((_, bits)) => Argument::Value(self.graph.add(Node::Constant(bits.clone()))),
                None => {
                    let value = *values.next().expect("an operand for each input");
                    Argument::Value(self.seen(value, o.width))
                }
            });
        }
        let masks = lane_width(op.term) == 1;
        let value = self.applied(op.candidate, args);
        match c.width < self.candidates.widths.narrowest() && !masks {
            true => self.seen(value, self.candidates.widths.narrowest()),
            false => value,
        }
    }

    /// A value in so many bits.
    pub(super) fn seen(&mut self, value: Value, width: u32) -> Value {
        match self.graph.width(value) == width {
            true => value,
            false => self.graph.add(Node::Cast { value, width }),
        }
    }
}

/// One register's lanes of an expression as they are placed.
pub(super) struct Placed {
    /// The first lane.
    first: u32,
    lanes: u32,
    pub(super) values: HashMap<Term, Value>,
    /// Sums that are parts of larger ones.
    inner: HashSet<Term>,
    /// Registers of narrow lanes that dealt lanes are made of.
    pub(super) halves: HashMap<Term, Value>,
    /// For each lane that matters, the expression's values in the window's terms.
    meanings: Vec<Option<HashMap<Term, Term>>>,
}

impl Placed {
    pub(super) fn new(e: &Expression, choices: &Choices, first: u32) -> Placed {
        let lanes = choices.lanes;
        let meaning = |at: u32| {
            let stream = |k: usize| e.streams[k].elements[at as usize];
            let leaves = e.leaves.iter().map(|(&name, &k)| Some((name, stream(k)?)));
            let mut known: HashMap<Term, Term> = leaves.collect::<Option<_>>()?;
            for &(name, value) in &choices.named {
                let value = fragment::replace(value, &mut known);
                known.insert(name, value);
            }
            Some(known)
        };
        Placed {
            first,
            lanes,
            values: HashMap::new(),
            inner: partial_sums(e.root),
            halves: HashMap::new(),
            meanings: (first..first + lanes).map(meaning).collect(),
        }
    }

    /// The lanes that are placed.
    pub(super) fn all_lanes(&self) -> Range<u32> {
        self.first..self.first + self.lanes
    }

    /// What a value is in each lane, in the window's terms.
    fn held(&mut self, t: Term) -> Vec<Option<Term>> {
        let one = |lane: &mut Option<HashMap<Term, Term>>| {
            Some(fragment::as_bits(fragment::replace(t, lane.as_mut()?)))
        };
        self.meanings.iter_mut().map(one).collect()
    }

    /// What other lanes of the register hold that holds a value: of several together, or of parts of each.
    pub(super) fn regrouped(&mut self, t: Term, element: u32) -> Goal {
        let (own, elements) = (lane_width(t), self.held(t));
        if element < own {
            let goal = Goal {
                element: own,
                elements,
            };
            return goal.with_element(element).expect("parts of lanes");
        }
        let nothing = Term::var(super::NOTHING, Sort::Bv(own));
        let together = |lanes: &[Option<Term>]| {
            let all = lanes.iter().rev();
            let all = all.map(|lane| lane.unwrap_or(nothing));
            let matters = lanes.iter().any(Option::is_some);
            matters.then(|| semantics::build::concat(&all.collect::<Vec<Term>>()))
        };
        let groups = elements.chunks_exact((element / own) as usize);
        Goal {
            element,
            elements: groups.map(together).collect(),
        }
    }

    /// What the lanes of a value hold.
    pub(super) fn goal(&mut self, t: Term, widths: &Widths) -> Goal {
        let width = lane_width(t);
        let mut elements = self.held(t);
        elements.resize((widths.of_lanes(self.lanes, width) / width) as usize, None);
        Goal {
            element: width,
            elements,
        }
    }
}

/// Whether two summands are elements that lie beside each other in an input, extended, of which the lanes
/// read every other pair.
fn adds_neighbours(e: &Expression, t: Term) -> bool {
    if t.args_of(OpCode::BvAdd).is_none() {
        return false;
    }
    let place = |t: Term| {
        let inner = (t.args_of(OpCode::Zext)).or(t.args_of(OpCode::Sext))?[0];
        let stream = &e.streams[*e.leaves.get(&inner)?];
        let mut lanes = stream.elements.iter().map(|t| leaf((*t)?));
        let (first, second) = (lanes.next()??, lanes.next()??);
        let twice = first.1 + 2 * stream.element;
        (second == (first.0, twice)).then_some((first, stream.element))
    };
    let places: Vec<_> = summands(t).into_iter().filter_map(place).collect();
    let beside = |&((name, lo), element): &((&str, u32), u32)| {
        let next = |other: &((&str, u32), u32)| *other == ((name, lo + element), element);
        places.iter().any(next)
    };
    places.iter().any(beside)
}

/// Whether lanes of two operands lie between each other in one input: what instructions across lanes bring
/// together. Where the lanes of an operand lie need not be known.
fn lie_among_each_other(e: &Expression) -> bool {
    let mut apart = HashSet::new();
    for stream in e.streams.iter().filter(|stream| !stream.is_constant()) {
        let places: Option<Vec<_>> = stream.live().map(leaf).collect();
        let Some(mut places) = places else {
            return true;
        };
        places.dedup();
        let beside = |two: &[(&str, u32)]| two[1] == (two[0].0, two[0].1 + stream.element);
        if !places.windows(2).all(beside) && !apart.insert(places[0].0) {
            return true;
        }
    }
    false
}

impl Search<'_> {
    /// How many goals a window that is covered may have come to when what instructions mean was looked at.
    pub(super) fn goals_beside_a_cover(&mut self, goal: &Goal) -> usize {
        if goal.live().next().is_some_and(|t| summands(t).len() > 1) {
            return self.limits.goals;
        }
        let across = self.expression(goal);
        let more = match across.is_none_or(|e| lie_among_each_other(&e)) {
            true => AMONG_GOALS,
            false => APART_GOALS,
        };
        self.report.goals + more
    }
}

/// The sums that are operands of sums.
pub(super) fn partial_sums(root: Term) -> HashSet<Term> {
    let is_sum = |t: Term| t.args_of(OpCode::BvAdd).or(t.args_of(OpCode::BvSub));
    users(root)
        .into_keys()
        .filter_map(is_sum)
        .flatten()
        .copied()
        .collect()
}
