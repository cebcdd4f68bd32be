//! Lanes: goals in which every lane computes the same function.
//!
//! In: such goals. Out: values, by a search over expressions of one lane ([`crate::lanes`])
//! that are then applied to whole registers. What a lane search found, or that it found
//! nothing, is kept for the next goal with the same function.

use super::common::{common, leaf_name};
use super::cover::{Choices, Expression, How, PARTS};
use super::{LaneAnswer, MAX_LANE_SIZE, Search};
use crate::cost::Cost;
use crate::fragment::{self, Fragment, regular, replace};
use crate::goal::{Goal, leaf};
use crate::lanes::{self, LaneExpr, LaneGoal, LaneLimits, LaneOp, NearMiss};
use crate::legal::{raw, resize};
use autoir::program::{Node, Value};
use semantics::bits::Bits;
use semantics::op::{Op, OpCode};
use semantics::sort::Sort;
use semantics::term::Term;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// Expressions tried where no operation computes a value of the expression.
const EVALUATIONS: u64 = 20_000;

impl Search<'_> {
    /// The cheapest expression over lane operations, and whether the search for it was
    /// complete.
    pub(super) fn one_lane(
        &mut self,
        goal: &Goal,
        depth: usize,
        best: Option<(Value, Cost)>,
    ) -> (Option<(Value, Cost)>, bool) {
        let nothing = (None, false);
        let Some((lane_goal, streams)) = lane_goal(goal) else {
            return nothing;
        };
        let too_wide = lane_goal.leaves.iter().any(|(_, w)| *w > 64) || goal.element > 64;
        if too_wide || lane_goal.term.size() > MAX_LANE_SIZE {
            return nothing;
        }
        let mut values = Vec::new();
        let mut leaf_cost = 0;
        for stream in &streams {
            let Some((value, cost)) = self.solve(stream, depth + 1) else {
                return nothing;
            };
            leaf_cost += cost;
            values.push(value);
        }
        let below = best.map_or(UNBOUNDED, |(_, c)| c.saturating_sub(leaf_cost));
        let lanes = goal.elements.len() as u32;
        let ops = self.lane_ops(&lane_goal, lanes);
        let found = self.lane_search(&lane_goal, lanes, &ops, below, depth);
        if depth == 0 && found.0.is_none() {
            self.report.near_misses = self.near_misses(&streams);
        }
        let (Some((expr, cost)), complete) = found else {
            return nothing;
        };
        if cost >= below {
            return (None, complete);
        }
        let value = self.place_lanes(&expr, &ops, &values, lanes);
        (Some((value, cost + leaf_cost)), complete)
    }

    /// Whether every lane computes the same of elements that stand where it stands, or are
    /// the same for all.
    pub(super) fn lanes_stay(&self, goal: &Goal) -> bool {
        let Some((_, streams)) = lane_goal(goal) else {
            return false;
        };
        streams.iter().all(stays)
    }

    /// Whether a lane computes with elements wider than its result.
    pub(super) fn narrows(&self, goal: &Goal) -> bool {
        lane_goal(goal).is_some_and(|(_, streams)| streams.iter().any(|s| s.element > goal.element))
    }

    /// What the last lane search refuted, and what came nearest, in the window's own names.
    fn near_misses(&self, streams: &[Goal]) -> Vec<NearMiss> {
        let Some(last) = self.report.lanes.last() else {
            return Vec::new();
        };
        let names: Vec<&str> = streams
            .iter()
            .map(|s| s.live().find_map(leaf).map_or("constant", |(name, _)| name))
            .collect();
        let named = |miss: &NearMiss| {
            let mut miss = miss.clone();
            for (k, name) in names.iter().enumerate().rev() {
                miss.expression = miss.expression.replace(&leaf_name(k), name);
            }
            miss.names = names.iter().map(|n| (*n).to_owned()).collect();
            miss
        };
        last.refuted
            .iter()
            .chain(&last.nearest)
            .map(named)
            .collect()
    }

    /// One lane search; those that were done before are not done again, unless with a higher
    /// bound on the cost.
    fn lane_search(
        &mut self,
        goal: &LaneGoal,
        lanes: u32,
        ops: &[LaneOp],
        below: Cost,
        depth: usize,
    ) -> LaneAnswer {
        let key = (goal.clone(), lanes);
        if let Some((asked, answer)) = self.lane_answers.get(&key)
            && (answer.0.is_some() || below <= *asked)
        {
            return answer.clone();
        }
        let known = if below < UNBOUNDED { FEWER_BELOW } else { 0 };
        let limits = LaneLimits {
            evaluations: self.limits.lane_evaluations >> (depth.min(4) + known),
            below,
            constant: self.processor().constant,
            limit: self.limits.limit,
        };
        let prover = self.prover;
        let prove = |a, t| prover.prove_equal(a, t);
        let (found, report) = lanes::search(goal, ops, limits, &self.known, &prove);
        self.known.learn(&report);
        self.report.stopped_by.extend(report.stopped_by);
        let answer = (found, report.stopped_by.is_none());
        self.report.lanes.push(report);
        self.lane_answers.insert(key, (below, answer.clone()));
        answer
    }

    /// The lane operations with this number of lanes whose operators belong to the goal.
    fn lane_ops(&mut self, goal: &LaneGoal, lanes: u32) -> Rc<[LaneOp]> {
        let key = (lanes::operators_of(goal.term), lanes);
        if let Some(known) = self.memory.lane_ops.get(&key) {
            return Rc::clone(known);
        }
        let made: Rc<[LaneOp]> = self.lane_ops_of(&key.0, lanes).into();
        self.memory.lane_ops.insert(key, Rc::clone(&made));
        made
    }

    fn lane_ops_of(&self, operators: &BTreeSet<OpCode>, lanes: u32) -> Vec<LaneOp> {
        let choosing = chooses(operators);
        let mut cheapest: BTreeMap<(Term, Vec<(String, u32)>), LaneOp> = BTreeMap::new();
        for (index, c) in self.candidates.list.iter().enumerate() {
            if c.width != c.natural * lanes || !choosing && c.masked() {
                continue;
            }
            let Some(f) = c.lane().filter(|f| f.lanes == lanes) else {
                continue;
            };
            if f.inputs.is_empty()
                || f.inputs.len() > 3
                || self.limits.grammar.operators && !relevant(f.term, operators)
            {
                continue;
            }
            let choices: Vec<Vec<u64>> = f
                .immediates
                .iter()
                .map(|&(_, _, allowed)| self.immediate_values(allowed))
                .collect();
            for values in lanes::product(&choices) {
                let Some(op) = lanes::fix_immediates(index, &c.instruction, f, &values, c.cost)
                else {
                    continue;
                };
                let key = (op.term, op.inputs.clone());
                match cheapest.get(&key) {
                    Some(old) if old.cost <= op.cost => {}
                    _ => {
                        cheapest.insert(key, op);
                    }
                }
            }
        }
        let mut ops: Vec<LaneOp> = cheapest
            .into_values()
            .filter(|op| op.term.as_bits().is_none())
            .collect();
        ops.sort_by_key(|op| (op.cost, op.candidate));
        ops
    }

    fn place_lanes(
        &mut self,
        expr: &LaneExpr,
        ops: &[LaneOp],
        leaves: &[Value],
        lanes: u32,
    ) -> Value {
        match expr {
            LaneExpr::Leaf(k) => leaves[*k],
            LaneExpr::Constant(bits) => {
                let all = (1..lanes).fold(bits.clone(), |acc, _| acc.concat(bits));
                self.graph.add(Node::Constant(all))
            }
            LaneExpr::Apply { op, args } => {
                let op = &ops[*op];
                let values: Vec<Value> = args
                    .iter()
                    .map(|a| self.place_lanes(a, ops, leaves, lanes))
                    .collect();
                self.apply_lane_op(op, &values)
            }
        }
    }

    /// An expression of several operations for a value of its operands.
    pub(super) fn by_search(
        &mut self,
        e: &Expression,
        choices: &mut Choices,
        t: Term,
    ) -> Option<(u64, How)> {
        let cut: Vec<Term> = {
            let mut cut: Vec<Term> = Vec::new();
            for c in fragment::operands(t) {
                if fragment::constant_bits(c).is_none() && !cut.contains(&c) {
                    cut.push(c);
                }
            }
            cut
        };
        if cut.is_empty() || cut.iter().any(|l| !regular(*l)) || self.candidates.lack(t) {
            return None;
        }
        let flow = self.border(e, choices, &cut)?;
        let piece = Fragment::new(t, &cut);
        let goal = LaneGoal {
            leaves: piece
                .widths()
                .into_iter()
                .enumerate()
                .map(|(k, w)| (format!("@{k}"), w))
                .collect(),
            term: piece.term,
        };
        let (expr, cost) = self.searched_for(choices, goal)?;
        let flow = flow + u64::from(cost) * PARTS;
        Some((flow, How::Search { expr, leaves: cut }))
    }

    /// The cheapest expression over the operations with so many lanes; searched for once.
    fn searched_for(&mut self, choices: &Choices, goal: LaneGoal) -> Option<(LaneExpr, Cost)> {
        let key = (goal, choices.lanes);
        if let Some(known) = self.memory.searched_for.get(&key) {
            return known.clone();
        }
        let goal = &key.0;
        let operators = lanes::operators_of(goal.term);
        let all = &choices.lane_library.ops;
        let usable: Vec<usize> = (0..all.len())
            .filter(|&k| relevant(all[k].term, &operators))
            .collect();
        let ops: Vec<LaneOp> = usable.iter().map(|&k| LaneOp::clone(&all[k])).collect();
        let limits = LaneLimits {
            evaluations: EVALUATIONS.min(self.limits.lane_evaluations),
            below: Cost::MAX / 4,
            constant: self.processor().constant,
            limit: self.limits.limit,
        };
        let prover = self.prover;
        let prove = |x, y| prover.prove_equal(x, y);
        let (found, report) = lanes::search(goal, &ops, limits, &self.known, &prove);
        self.known.learn(&report);
        self.report.lanes.push(report);
        let found = found.map(|(expr, cost)| (renumbered(&expr, &usable), cost));
        self.memory.searched_for.insert(key, found.clone());
        found
    }
}

/// An expression over a selection of operations, as one over all of them.
fn renumbered(expr: &LaneExpr, of: &[usize]) -> LaneExpr {
    match expr {
        LaneExpr::Apply { op, args } => LaneExpr::Apply {
            op: of[*op],
            args: args.iter().map(|a| renumbered(a, of)).collect(),
        },
        other => other.clone(),
    }
}

/// The bound of a search for which nothing is known.
const UNBOUNDED: Cost = Cost::MAX / 4;

/// Of the expressions that a search may try, the half so often where a program is known that it
/// has to be cheaper than.
const FEWER_BELOW: usize = 3;

/// Whether a lane operation can matter for a goal that uses these operators: choices
/// (comparisons, minima, saturation) only where the goal chooses, bitwise logic only there
/// or where the goal has some, and everything rarer only where the goal has the very same.
pub(super) fn relevant(t: Term, goal: &BTreeSet<OpCode>) -> bool {
    use OpCode as C;
    let logic = [C::BvAnd, C::BvOr, C::BvXor, C::BvNot];
    let linear = [C::BvAdd, C::BvSub, C::BvNeg];
    let choosing = chooses(goal);
    lanes::operators_of(t).iter().all(|c| {
        goal.contains(c)
            || linear.contains(c)
            || choosing && (CHOICES.contains(c) || logic.contains(c))
            || logic.contains(c) && logic.iter().any(|l| goal.contains(l))
    })
}

/// Operators that choose between values.
const CHOICES: [OpCode; 15] = {
    use OpCode as C;
    [
        C::BvUlt,
        C::BvUle,
        C::BvSlt,
        C::BvSle,
        C::Eq,
        C::Ite,
        C::Smin,
        C::Smax,
        C::Umin,
        C::Umax,
        C::Abs,
        C::SatSS,
        C::SatSU,
        C::SatUS,
        C::SatUU,
    ]
};

pub(super) fn chooses(operators: &BTreeSet<OpCode>) -> bool {
    CHOICES.iter().any(|c| operators.contains(c))
}

/// The same of operators that are bits of a [signature](lanes::signature).
pub(super) fn chooses_by(present: u128) -> bool {
    CHOICES
        .iter()
        .any(|c| present & lanes::signature_of(*c) != 0)
}

/// The function that every lane computes, with the streams that feed it; nothing when lanes
/// differ, or do not all matter. Fields of elements (`x >> 3` is one) are read from whole elements:
/// of such a width, where there are several, that the streams lie as they are in their inputs.
pub(super) fn lane_goal(goal: &Goal) -> Option<(LaneGoal, Vec<Goal>)> {
    let plain = lane_goal_from(goal, Reading::Plain)?;
    let usual = |found: &(LaneGoal, Vec<Goal>)| found.1.iter().all(of_elements);
    let from = |w: u32| lane_goal_from(goal, Reading::Fields(w)).filter(usual);
    if usual(&plain) {
        return Some(holding(&plain.1).and_then(from).unwrap_or(plain));
    }
    let (narrow, wide): (Vec<u32>, Vec<u32>) =
        WIDTHS.into_iter().partition(|w| *w < goal.element.min(64));
    let found: Vec<_> = wide.into_iter().filter_map(from).collect();
    let lies = |(_, streams): &(LaneGoal, Vec<Goal>)| streams.iter().all(stays);
    let best = found.iter().find(|found| lies(found)).cloned();
    // Fields of narrow elements are wider once these are extended.
    let narrow = || narrow.into_iter().filter_map(from).find(lies);
    let other = || found.into_iter().next();
    Some(best.or_else(narrow).or_else(other).unwrap_or(plain))
}

/// The same, of just what is read.
pub(super) fn lane_goal_as_read(goal: &Goal) -> Option<(LaneGoal, Vec<Goal>)> {
    lane_goal_from(goal, Reading::Plain)
}

/// The function that every lane computes of whole elements of the inputs, where what it reads lies in
/// parts of such side by side: `a[2 * x]` and `a[2 * x + 1]` are two bytes of one word.
pub(super) fn lane_goal_of_wholes(goal: &Goal) -> Option<(LaneGoal, Vec<Goal>)> {
    let plain = lane_goal_from(goal, Reading::Plain)?;
    let least = plain
        .1
        .iter()
        .filter(|s| !stays(s))
        .map(|s| s.element)
        .min()?;
    let wider = WIDTHS.into_iter().filter(|w| *w > least);
    let mut found = wider.filter_map(|w| lane_goal_from(goal, Reading::Wholes(w)));
    found.find(|(_, streams)| streams.iter().all(|s| of_elements(s) && stays(s)))
}

/// The same function of other streams, in the lanes that a goal has.
pub(super) fn of_streams(lane: &LaneGoal, streams: &[Goal], goal: &Goal) -> Goal {
    let at = |k: usize| {
        let names = lane
            .leaves
            .iter()
            .map(|(name, w)| Term::var(name, Sort::Bv(*w)));
        let read = streams.iter().map(|stream| stream.elements[k]);
        let pairs = names.zip(read).map(|(name, t)| Some((name, t?)));
        let mut map: HashMap<Term, Term> = pairs.collect::<Option<_>>()?;
        Some(replace(lane.term, &mut map))
    };
    Goal {
        element: goal.element,
        elements: (0..goal.elements.len()).map(at).collect(),
    }
}

/// Whether a stream is one of elements as registers have them, not of fields from some bit on.
fn of_elements(stream: &Goal) -> bool {
    let mut starts = stream.live().filter_map(leaf).map(|(_, lo)| lo);
    regular_width(stream.element) && starts.all(|lo| lo.is_multiple_of(8))
}

/// The width of a stream's elements of which another stream has parts.
fn holding(streams: &[Goal]) -> Option<u32> {
    let within = |part: &Goal, whole: &Goal| {
        let mut pairs = part.live().map(leaf).zip(whole.live().map(leaf));
        pairs.all(|pair| match pair {
            (Some((name, lo)), Some((same, from))) => {
                name == same && from <= lo && lo + part.element <= from + whole.element
            }
            _ => false,
        })
    };
    let holds = |whole: &&Goal| {
        let parts = streams.iter().filter(|s| s.element < whole.element);
        parts.into_iter().any(|part| within(part, whole))
    };
    streams
        .iter()
        .filter(|s| s.element <= 64)
        .find(holds)
        .map(|s| s.element)
}

/// Whether the elements of a stream stand where they lie in an input, are the same for all lanes,
/// or are constants.
pub(super) fn stays(stream: &Goal) -> bool {
    let first = stream.live().next();
    stream.input_part().is_some() || stream.is_constant() || stream.live().all(|t| Some(t) == first)
}

/// Widths of elements, least first.
const WIDTHS: [u32; 4] = [8, 16, 32, 64];

fn regular_width(w: u32) -> bool {
    WIDTHS.contains(&w)
}

/// How inputs are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// Each part of them by itself.
    Plain,
    /// Fields as parts of elements of a width; what is an element of its own only where a lane reads the
    /// other too.
    Fields(u32),
    /// Whatever lies in elements of a width as parts of these.
    Wholes(u32),
}

/// The same, of inputs that are read in a way.
fn lane_goal_from(goal: &Goal, reading: Reading) -> Option<(LaneGoal, Vec<Goal>)> {
    let whole = |t| match reading {
        Reading::Plain => t,
        Reading::Fields(width) => {
            let mut read = Vec::new();
            abstract_leaves(t, &mut read, &mut HashMap::new());
            Elements::new(width, Some(read)).fields(t)
        }
        Reading::Wholes(width) => Elements::new(width, None).fields(t),
    };
    let (term, values) = common(goal.live().map(whole).collect())?;
    let widths = values.iter().map(|lanes| lanes[0].width());
    let leaves = widths.enumerate().map(|(k, w)| (leaf_name(k), w)).collect();
    let stream = |lanes: Vec<Term>| {
        let mut lanes = lanes.into_iter();
        let place = |t: &Option<Term>| t.and_then(|_| lanes.next());
        let elements: Vec<_> = goal.elements.iter().map(place).collect();
        let element = elements.iter().flatten().next().map_or(0, |t| t.width());
        Goal { element, elements }
    };
    let streams = values.into_iter().map(stream).collect();
    Some((LaneGoal { leaves, term }, streams))
}

/// Fields of inputs as parts of elements of a width, in the function of one lane.
struct Elements {
    width: u32,
    /// What the lane reads of its inputs, where an element of its own is a part of those alone.
    read: Option<Vec<Term>>,
    memo: HashMap<Term, Term>,
}

impl Elements {
    fn new(width: u32, read: Option<Vec<Term>>) -> Elements {
        Elements {
            width,
            read,
            memo: HashMap::new(),
        }
    }

    /// A term in which fields of inputs are parts of elements, where they lie in one.
    fn fields(&mut self, t: Term) -> Term {
        if let Some(&done) = self.memo.get(&t) {
            return done;
        }
        let out = match leaf(t) {
            Some(_) => {
                let field = self.field(t);
                field.and_then(|(shifted, w)| resize(shifted, w, false))
            }
            None => match sunk(t) {
                Some(logic) => Some(self.fields(logic)),
                None => self.shifted(t),
            },
        };
        let out = match out {
            Some(out) => out,
            None if leaf(t).is_some() => t,
            None => semantics::subst::rebuild(t, |child, _| self.fields(child)),
        };
        self.memo.insert(t, out);
        out
    }

    /// The upper field of an element, extended to the element's width again: the element shifted.
    fn shifted(&self, t: Term) -> Option<Term> {
        let (extension, inner) = t.as_app()?;
        let code = match extension.code {
            OpCode::Zext => OpCode::BvLshr,
            OpCode::Sext => OpCode::BvAshr,
            _ => return None,
        };
        let (shifted, w) = self.field(inner[0])?;
        let by = shifted.args_of(OpCode::BvLshr)?;
        let upper = by[1].as_bits()?.to_u64()? + u64::from(w) == u64::from(self.width);
        (upper && t.width() == self.width).then(|| raw(Op::new(code), by))?
    }

    /// The element that a field of an input lies in, shifted down to the field, and the width of
    /// the field. A field that is an element of its own is none, unless the lane reads the other too.
    fn field(&self, t: Term) -> Option<(Term, u32)> {
        let (_, lo) = leaf(t)?;
        let (w, input) = (t.width(), t.args_of(OpCode::Extract)?[0]);
        let base = lo / self.width * self.width;
        let inside =
            w < self.width && lo + w <= base + self.width && base + self.width <= input.width();
        if !inside {
            return None;
        }
        let element = semantics::build::extract(input, base, self.width);
        let own = regular_width(w) && lo.is_multiple_of(8);
        let alone = |read: &Vec<Term>| !read.contains(&element);
        if own && self.read.as_ref().is_some_and(alone) {
            return None;
        }
        if lo == base {
            return Some((element, w));
        }
        let by = Term::bv(self.width, i128::from(lo - base));
        Some((raw(Op::new(OpCode::BvLshr), &[element, by])?, w))
    }
}

/// Bitwise logic of fields, extended: the logic of the extended fields.
fn sunk(t: Term) -> Option<Term> {
    let (extension, inner) = t.as_app()?;
    let signed = extension.code == OpCode::Sext;
    if !signed && extension.code != OpCode::Zext || regular_width(inner[0].width()) {
        return None;
    }
    let (logic, sides) = inner[0].as_app()?;
    let wide = |x: Term| match x.as_bits() {
        Some(_) => Some(semantics::build::app(extension, &[x])),
        None => raw(extension, &[x]),
    };
    match logic.code {
        OpCode::BvAnd | OpCode::BvOr | OpCode::BvXor => {
            raw(logic, &[wide(sides[0])?, wide(sides[1])?])
        }
        OpCode::BvNot => {
            let ones = Term::bits(Bits::ones(inner[0].width()));
            raw(Op::new(OpCode::BvXor), &[wide(sides[0])?, wide(ones)?])
        }
        _ => None,
    }
}

pub(super) fn abstract_leaves(
    t: Term,
    leaves: &mut Vec<Term>,
    memo: &mut HashMap<Term, Term>,
) -> Term {
    if let Some(&done) = memo.get(&t) {
        return done;
    }
    let out = if leaf(t).is_some() {
        let k = leaves.iter().position(|&l| l == t).unwrap_or_else(|| {
            leaves.push(t);
            leaves.len() - 1
        });
        Term::var(&leaf_name(k), t.sort())
    } else {
        semantics::subst::rebuild(t, |child, _| abstract_leaves(child, leaves, memo))
    };
    memo.insert(t, out);
    out
}
