//! Covering: an expression that every lane computes, piece by piece, at least cost.
//!
//! In: goals in which every lane computes the same function. Out: registers with that
//! function's values. The expression's graph is covered from its operands up: for each value
//! the cheapest piece that ends in it and that one operation computes, given what the values
//! at the piece's border cost. A value that several others use is charged to each in part.
//! How many lanes a register holds is chosen for the whole expression, so that its widest
//! value fits: a window may be wider than a register, and a value narrower.
//!
//! Values that no operation computes as they are written are written otherwise
//! ([`crate::alternatives`]), then searched for ([`crate::lanes`]).

use super::Search;
use super::dealt::Dealt;
use super::lanewise::{lane_goal, lane_goal_of_wholes};
use super::narrowed::Lanes;
use super::place::Placed;
use super::tables::Lookup;
use super::views::{self, View};
use crate::alternatives::by_upper_half;
use crate::bit_matrix::Factored;
use crate::candidates::Equality;
use crate::cost::Cost;
use crate::estimate::Estimate;
use crate::fragment::{self, Behaviour, Cuts, Fragment, lane_width, regular};
use crate::goal::Goal;
use crate::lanes::{LaneExpr, LaneGoal, LaneOp};
use crate::legal;
use crate::library::Library;
use crate::limit::Bound;
use crate::tabulate::Function;
use autoir::program::{Node, Value};
use semantics::bits::Bits;
use semantics::op::OpCode;
use semantics::sort::Sort;
use semantics::term::Term;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

/// Costs are divided by the number of users: this many parts to a unit.
pub(super) const PARTS: u64 = 64;
/// The most that is counted: where a way to write a value uses another more often than is known, costs grow
/// with each step of a chain.
const MOST_FLOW: u64 = 1 << 48;
/// The largest expression that is covered, in different values, with all other ways to write them.
const MAX_VALUES: usize = 4_000;

/// How a value of the expression is computed.
#[derive(Clone, Debug)]
pub(super) enum How {
    Leaf(usize),
    Constant(Bits),
    Operation {
        op: usize,
        args: Vec<Term>,
    },
    Search {
        expr: LaneExpr,
        leaves: Vec<Term>,
    },
    Same(Term),
    /// From a wider value that one or two registers hold.
    Narrowed {
        of: Term,
        lanes: Lanes,
    },
    /// From two registers that each hold half the lanes in one half.
    Joined,
    /// Of the lower and the upper half of dealt lanes.
    Interleaved([Term; 2]),
    /// In other lanes.
    View(View),
    /// In constants.
    Table(Lookup),
    /// The leaf of that number, in wider places with zeros beside it.
    Extended(usize),
}

impl How {
    /// The values that it rests on with as many lanes.
    pub(super) fn operands(&self) -> Vec<Term> {
        match self {
            How::Leaf(_) | How::Constant(_) | How::Extended(_) => Vec::new(),
            How::Same(other) => vec![*other],
            How::Operation { args, .. } => args.clone(),
            How::Search { leaves, .. } => leaves.clone(),
            How::Narrowed { of, lanes } if lanes.are_whole() => vec![*of],
            // What these rest on is chosen for with fewer lanes.
            How::Narrowed { .. } | How::Joined | How::Interleaved(_) => Vec::new(),
            How::View(view) => view.leaves.clone(),
            How::Table(lookup) => vec![lookup.index],
        }
    }
}

/// A value and a border below it.
type Piece = (Term, Vec<Term>);

/// What covering keeps between goals of one window.
#[derive(Default)]
pub(super) struct Memory {
    pub(super) cuts: Cuts,
    fragments: HashMap<Piece, Rc<(Fragment, Behaviour)>>,
    legal: HashMap<Term, Term>,
    chosen: HashMap<(Term, u32, Style), Option<Rc<Choices>>>,
    /// Other ways to write values by rules, for so many lanes.
    pub(super) by_rules: HashMap<(Term, u32), Rc<Vec<Term>>>,
    /// The bounds that choices are.
    pub(super) extremes: HashMap<Term, Rc<Vec<Term>>>,
    /// Values as matrices of bits.
    pub(super) factored: HashMap<Term, Rc<Factored>>,
    /// Shifts by what is no constant that are part of a shift both ways.
    pub(super) one_way: HashSet<Term>,
    /// Values as functions of few bits.
    pub(super) functions: HashMap<Term, Rc<Vec<Function>>>,
    /// Sums that instructions across lanes compute for no less: the function of a lane, and
    /// which of its operands lie together.
    pub(super) apart: HashSet<(LaneGoal, Vec<bool>)>,
    /// Of sums that they compute for less the one looked at last, and its register.
    pub(super) across: HashMap<(LaneGoal, Vec<bool>), (Goal, Value)>,
    /// What was searched for with so many lanes, as no operation computes it.
    pub(super) searched_for: HashMap<(LaneGoal, u32), Option<(LaneExpr, Cost)>>,
    /// The operations on so many lanes that belong to goals of these operators.
    pub(super) lane_ops: HashMap<(BTreeSet<OpCode>, u32), Rc<[LaneOp]>>,
    /// The lanes of which is searched for how they are narrowed.
    pub(super) narrows: Option<Lanes>,
}

/// What a choice looks at besides the cheapest way by flow, which knows of no port that is busy.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Style {
    /// Nothing.
    Usual,
    /// Values are also written otherwise by rules.
    Rules,
    /// Values are computed two lanes at a time wherever they can be.
    Pairs,
    /// What is narrowed may be computed in two registers of dealt lanes.
    Dealt,
}

/// The choice for one number of lanes.
pub(super) struct Choices {
    pub(super) lanes: u32,
    pub(super) lane_library: Arc<Library>,
    pub(super) users: HashMap<Term, u64>,
    /// The values as the expression has them, which rules write otherwise; what they make they do not.
    pub(super) own: HashSet<Term>,
    pub(super) style: Style,
    pub(super) made: HashMap<Term, Option<(u64, How)>>,
    /// Variables that stand for values, made before what they are used in.
    pub(super) named: Vec<(Term, Term)>,
    pub(super) open: HashSet<Term>,
    /// Of how many operations an operand is being chosen.
    pub(super) depth: u32,
    /// The choices for lanes twice as wide that are dealt from these, by their width.
    pub(super) dealt: BTreeMap<u32, Rc<Choices>>,
    /// While such are made, what they are dealt from.
    pub(super) narrow: Option<Box<Choices>>,
}

/// What the lanes of an expression are of those of the one that it is part of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LaneView {
    /// The same lanes.
    Own,
    /// Pairs of them.
    Pairs,
    /// Parts of them, or these with a function of their parts.
    Parts,
}

/// A goal as an expression of one lane: what the search works on.
pub(super) struct Expression {
    pub(super) root: Term,
    pub(super) leaves: Rc<HashMap<Term, usize>>,
    pub(super) streams: Rc<[Goal]>,
    pub(super) element: u32,
    pub(super) lanes: u32,
    /// What its lanes are of those of another expression.
    pub(super) view: LaneView,
    /// What its lanes are dealt from.
    pub(super) dealt: Option<Rc<Dealt>>,
}

/// Registers that hold a goal, least significant first.
pub(super) struct Cover {
    pub(super) values: Vec<Value>,
    pub(super) estimate: Estimate,
    /// Whether a register holds as many lanes as it can of the widest value.
    pub(super) filled: bool,
}

impl Search<'_> {
    /// A cover of the window itself: what is compared is what the window costs.
    pub(super) fn cover_window(&mut self, goal: &Goal) -> Option<(Vec<Value>, Estimate)> {
        let cover = self.cover_by(goal, lane_goal(goal), 0, true)?;
        Some((cover.values, cover.estimate))
    }

    /// The same of whole elements, where a window reads parts of them.
    pub(super) fn cover_wholes(&mut self, goal: &Goal) -> Option<(Vec<Value>, Estimate)> {
        let cover = self.cover_by(goal, lane_goal_of_wholes(goal), 0, true)?;
        Some((cover.values, cover.estimate))
    }

    fn cover_by(
        &mut self,
        goal: &Goal,
        read: Option<(LaneGoal, Vec<Goal>)>,
        depth: usize,
        window: bool,
    ) -> Option<Cover> {
        if goal.width() < self.candidates.widths.narrowest() || !self.limits.grammar.lanewise {
            return None;
        }
        let expression = self.expression_of(goal, read?)?;
        let expression = &expression;
        let mut best: Option<Cover> = None;
        let mut lanes = expression.lanes;
        let (mut most, mut any_filled) = (true, false);
        while lanes >= 2 {
            // Registers that are filled in part only compute no less.
            if best.is_some() && !expression.fills(lanes, self.candidates.widths.narrowest()) {
                break;
            }
            if self.fill_one(lanes, expression) && self.holds(lanes, expression.root) {
                let whole = expression.fits(lanes, self.candidates.widths.widest());
                let filled =
                    whole && std::mem::take(&mut most) && !self.moves_parts(expression, lanes);
                let all = match window {
                    true => self.covers_of_window(expression, goal, lanes),
                    false => {
                        let usual =
                            self.cover_by_choice(expression, goal, lanes, depth, Style::Usual);
                        usual.into_iter().map(|(cover, _)| cover).collect()
                    }
                };
                for mut found in all {
                    found.filled &= filled;
                    any_filled |= found.filled;
                    if best
                        .as_ref()
                        .is_none_or(|other| found.estimate < other.estimate)
                    {
                        best = Some(found);
                    }
                }
            }
            if !self.limits.grammar.scaling {
                break;
            }
            lanes /= 2;
        }
        // What costs less than registers that are filled is as good as those.
        if let Some(best) = &mut best {
            best.filled = any_filled;
        }
        best
    }

    /// The cover by the choice for so many lanes in a style, and the choice.
    pub(super) fn cover_by_choice(
        &mut self,
        e: &Expression,
        goal: &Goal,
        lanes: u32,
        depth: usize,
        style: Style,
    ) -> Option<(Cover, Rc<Choices>)> {
        let choices = self.choices_by(e, lanes, style)?;
        let (values, cost) = self.cover_with(e, goal, &choices, depth)?;
        let cover = Cover {
            values,
            estimate: Estimate { cost, busy: 0 },
            filled: style == Style::Usual,
        };
        Some((cover, choices))
    }

    /// The same for a window, whose cost is what it is compared by; `how` tells of it.
    pub(super) fn cover_in_style(
        &mut self,
        e: &Expression,
        goal: &Goal,
        lanes: u32,
        (style, how): (Style, &str),
    ) -> Option<(Cover, Rc<Choices>)> {
        let (mut cover, choices) = self.cover_by_choice(e, goal, lanes, 0, style)?;
        cover.estimate = self.estimate(&cover.values);
        let what = format!("{how}, {lanes} lanes at a time");
        self.tried(&what, Some(cover.estimate.cost));
        Some((cover, choices))
    }

    /// Covers of a window with so many lanes in each register, compared by what the window costs: by the
    /// usual choice; by rules, in pairs or in dealt lanes, where that is less; among all ways to write the
    /// best of these.
    fn covers_of_window(&mut self, e: &Expression, goal: &Goal, lanes: u32) -> Vec<Cover> {
        let mut usual = self.cover_by_choice(e, goal, lanes, 0, Style::Usual);
        if let Some((cover, _)) = &mut usual {
            cover.estimate = self.estimate(&cover.values);
        }
        let known = usual.as_ref().map(|(cover, _)| cover.estimate);
        let what = format!("piece by piece, {lanes} lanes at a time");
        self.tried(&what, known.map(|estimate| estimate.cost));
        let ruled = self.cover_ruled(
            e,
            goal,
            lanes,
            usual.as_ref().map(|(_, choices)| &**choices),
        );
        let in_pairs = self.cover_in_pairs(e, goal, lanes);
        let dealt = self.cover_in_dealt(e, goal, lanes);
        let mut found: Vec<_> = usual.into_iter().collect();
        for (cover, choices) in ruled.into_iter().chain(in_pairs).chain(dealt) {
            let least = found.last().map(|(cover, _)| cover.estimate);
            if least.is_none_or(|least| cover.estimate < least) {
                found.push((cover, choices));
            }
        }
        let start = found.last().map(|(_, choices)| Rc::clone(choices));
        let mut all: Vec<Cover> = found.into_iter().map(|(cover, _)| cover).collect();
        all.extend(start.and_then(|start| self.cover_saturated(e, goal, &start)));
        all.extend(self.cover_of_dealt(e, goal, lanes));
        all
    }

    /// The cheapest cover in one register, its cost, and whether its registers are filled.
    pub(super) fn cover_whole(&mut self, goal: &Goal, depth: usize) -> Option<(Value, Cost, bool)> {
        let cover = self.cover_by(goal, lane_goal(goal), depth, false)?;
        match cover.values[..] {
            [one] => Some((one, cover.estimate.cost, cover.filled)),
            _ => {
                let part = goal.elements.len() / cover.values.len();
                let whole = self.joined(&cover.values, goal, part, depth)?;
                let cost = self.estimator.sum(&self.graph, &[whole]);
                Some((whole, cost, cover.filled))
            }
        }
    }

    pub(super) fn expression(&mut self, goal: &Goal) -> Option<Expression> {
        self.expression_of(goal, lane_goal(goal)?)
    }

    fn expression_of(
        &mut self,
        goal: &Goal,
        (lane, streams): (LaneGoal, Vec<Goal>),
    ) -> Option<Expression> {
        if lane
            .leaves
            .iter()
            .any(|(_, w)| !matches!(w, 8 | 16 | 32 | 64))
        {
            return None;
        }
        let root = match self.memory.legal.get(&lane.term) {
            Some(&done) => done,
            None => {
                let done = legal::legalize(lane.term, self.prover);
                self.memory.legal.insert(lane.term, done);
                done
            }
        };
        let leaves = lane
            .leaves
            .iter()
            .enumerate()
            .map(|(k, (name, w))| (Term::var(name, Sort::Bv(*w)), k))
            .collect::<HashMap<_, _>>();
        let root = self.one_argument(root, &streams);
        let lanes = u32::try_from(goal.elements.len()).ok()?;
        (lanes.is_power_of_two() && users(root).len() <= MAX_VALUES).then_some(Expression {
            root,
            leaves: Rc::new(leaves),
            streams: streams.into(),
            element: goal.element,
            lanes,
            view: LaneView::Own,
            dealt: None,
        })
    }

    /// The cover of a window by another choice than the usual one, where there is one.
    fn cover_saturated(
        &mut self,
        expression: &Expression,
        goal: &Goal,
        old: &Choices,
    ) -> Option<Cover> {
        if !self.limits.grammar.saturation {
            return None;
        }
        let choices = self.saturated(expression, old)?;
        // What pays across lanes was looked for in the usual cover: it takes too long for both.
        let outer = std::mem::replace(&mut self.across, true);
        let found = self.cover_with(expression, goal, &choices, 0);
        self.across = outer;
        let (values, _) = found?;
        let estimate = self.estimate(&values);
        self.rewritten.extend(&values);
        let what = format!("by equality saturation, {} lanes at a time", old.lanes);
        self.tried(&what, Some(estimate.cost));
        Some(Cover {
            values,
            estimate,
            filled: false,
        })
    }

    /// A cover by a choice for so many lanes in each register.
    pub(super) fn cover_with(
        &mut self,
        expression: &Expression,
        goal: &Goal,
        choices: &Choices,
        depth: usize,
    ) -> Option<(Vec<Value>, Cost)> {
        let lanes = choices.lanes;
        let mut values = Vec::new();
        for first in (0..expression.lanes).step_by(lanes as usize) {
            let part = goal.part(first as usize, lanes as usize);
            let value = if part.live().next().is_none() {
                let nothing =
                    Bits::zero(self.candidates.widths.of_lanes(lanes, expression.element));
                self.graph.add(Node::Constant(nothing))
            } else {
                let mut placed = Placed::new(expression, choices, first);
                let root = expression.root;
                let value = self.place(expression, choices, root, depth, &mut placed)?;
                self.claim(value, &self.padded(&part));
                value
            };
            values.push(value);
        }
        // Parts of registers are joined until they fill one.
        let mut part = lanes as usize;
        while values.len() > 1
            && part as u32 * expression.element < self.candidates.widths.narrowest()
        {
            let mut joined = Vec::new();
            for (k, pair) in values.chunks(2).enumerate() {
                let piece = goal.part(2 * k * part, 2 * part);
                joined.push(self.joined(pair, &piece, part, depth)?);
            }
            values = joined;
            part *= 2;
        }
        let cost = self.estimator.sum(&self.graph, &values);
        Some((values, cost))
    }

    /// The operations with so many lanes, at the window's numbers.
    pub(super) fn lane_library(&mut self, lanes: u32) -> Arc<Library> {
        self.candidates.lane_library(lanes, &self.numbers)
    }

    // ---- choosing ----

    /// The choices for an expression and a number of lanes, made once.
    pub(super) fn choices(&mut self, e: &Expression, lanes: u32) -> Option<Rc<Choices>> {
        self.choices_by(e, lanes, Style::Usual)
    }

    /// The same in a style.
    pub(super) fn choices_by(
        &mut self,
        e: &Expression,
        lanes: u32,
        style: Style,
    ) -> Option<Rc<Choices>> {
        let key = (e.root, lanes, style);
        if let Some(done) = self.memory.chosen.get(&key) {
            return done.clone();
        }
        let mut choices = self.no_choices(lanes, style);
        choices.users = users(e.root);
        choices.own = choices.users.keys().copied().collect();
        // What is computed in other lanes may ask for what it is part of.
        self.memory.chosen.insert(key, None);
        let found = self
            .choose(e, &mut choices, e.root)
            .map(|_| Rc::new(choices));
        self.memory.chosen.insert(key, found.clone());
        found
    }

    /// Choices for so many lanes before anything is chosen.
    pub(super) fn no_choices(&mut self, lanes: u32, style: Style) -> Choices {
        Choices {
            lanes,
            lane_library: self.lane_library(lanes),
            own: HashSet::new(),
            users: HashMap::new(),
            style,
            made: HashMap::new(),
            named: Vec::new(),
            open: HashSet::new(),
            depth: 0,
            dealt: BTreeMap::new(),
            narrow: None,
        }
    }

    /// What a value costs, in parts, and how it is computed; nothing when it cannot be.
    pub(super) fn choose(&mut self, e: &Expression, choices: &mut Choices, t: Term) -> Option<u64> {
        if let Some(made) = choices.made.get(&t) {
            return made.as_ref().map(|(flow, _)| *flow);
        }
        if let Some(passed) = self.limits.limit.passed() {
            self.report.stopped_by.insert(passed);
            return None;
        }
        if choices.made.len() >= MAX_VALUES {
            self.report.stopped_by.insert(Bound::Values);
            return None;
        }
        if !choices.open.insert(t) {
            return None;
        }
        let found = self.choice(e, choices, t);
        let found = found.map(|(flow, how)| (flow.min(MOST_FLOW), how));
        choices.open.remove(&t);
        let flow = found.as_ref().map(|(flow, _)| *flow);
        choices.made.insert(t, found);
        flow
    }

    fn choice(&mut self, e: &Expression, choices: &mut Choices, t: Term) -> Option<(u64, How)> {
        if !regular(t) || !self.holds(choices.lanes, t) {
            return None;
        }
        if let Some(bits) = fragment::constant_bits(t) {
            return Some((
                u64::from(self.processor().constant) * PARTS,
                How::Constant(bits),
            ));
        }
        if let Some(dealt) = &e.dealt {
            return self.choice_of_dealt(e, dealt, choices, t);
        }
        if let Some(&k) = e.leaves.get(&t) {
            return Some((0, How::Leaf(k)));
        }
        // What stands for a value that was chosen with another number of lanes is none with this one.
        t.as_app()?;
        // Parts are brought together by one operation where there is one: else they are taken apart first.
        if e.view == LaneView::Parts && t == e.root {
            let parts: Vec<Term> = e.leaves.keys().copied().collect();
            let at_once = self.by_operation_on(e, choices, t, (&parts, u64::MAX));
            if at_once.is_some() {
                return at_once;
            }
        }
        let shorter = self.factored(t);
        let product = self.by_product(e, choices, t, &shorter);
        if let Some(found) = self.by_long_table(e, choices, t) {
            return cheaper(product, Some(found));
        }
        let mut best = self.by_factors(e, choices, &shorter);
        if best.is_none() || !shorter.much {
            best = cheaper(best, self.by_one(e, choices, t));
        }
        best = cheaper(best, product);
        let is_pair = choices.style == Style::Pairs && views::is_of_pair(t);
        let others = (best.is_none() || is_pair).then(|| self.others(t));
        // Nothing is cheaper than one of the cheapest operations.
        let least = u64::from(self.processor().operation) * PARTS;
        let cheapest = |(flow, _): &(u64, How)| *flow <= least;
        let with_rules = choices.style == Style::Rules;
        let by_rules = match with_rules && !best.as_ref().is_some_and(cheapest) {
            true => self.by_rules(choices, t),
            false => Rc::default(),
        };
        let variants = self.variants_of(choices, t);
        for other in variants.into_iter().chain(by_rules.iter().copied()) {
            choices.count(other);
            best = cheaper(best, self.same(e, choices, other));
        }
        best = cheaper(best, self.by_element(e, choices, t));
        if best.is_none() {
            let in_parts = cheaper(
                self.by_half_elements(e, choices, t),
                self.by_counted_parts(e, choices, t),
            );
            for &other in others.iter().flatten() {
                choices.count(other);
                best = cheaper(best, self.same(e, choices, other));
            }
            best = cheaper(in_parts, best);
        }
        if best.is_none() {
            for (other, _) in by_upper_half(t) {
                choices.count(other);
                best = cheaper(best, self.same(e, choices, other));
            }
        }
        let known = best.as_ref().map(|(flow, _)| *flow);
        best = cheaper(best, self.by_extended_leaf(e, choices, t, known));
        let known = best.is_some();
        best = cheaper(best, self.by_narrowing(e, choices, t, known));
        if let Some(others) = others {
            let in_pairs = self.by_view(e, choices, t, &others);
            best = match is_pair {
                true => in_pairs.or(best),
                false => cheaper(best, in_pairs),
            };
        }
        let known = best.as_ref().map(|(flow, _)| *flow);
        best = cheaper(best, self.by_table(e, choices, t, known));
        best.or_else(|| self.by_search(e, choices, t))
    }

    /// A value by an equal one.
    pub(super) fn same(
        &mut self,
        e: &Expression,
        choices: &mut Choices,
        t: Term,
    ) -> Option<(u64, How)> {
        Some((self.choose(e, choices, t)?, How::Same(t)))
    }

    /// The cheapest piece that one operation computes.
    pub(super) fn by_operation(
        &mut self,
        e: &Expression,
        choices: &mut Choices,
        t: Term,
    ) -> Option<(u64, How)> {
        let mut best: Option<(u64, How)> = None;
        for cut in self.memory.cuts.of(t) {
            if cut.iter().all(|l| regular(*l)) {
                let least = best.as_ref().map_or(u64::MAX, |(least, _)| *least);
                best = cheaper(best, self.by_operation_on(e, choices, t, (&cut, least)));
            }
        }
        best
    }

    /// The cheapest operation that computes the piece above a border; nothing where it does not cost less
    /// than what is known.
    fn by_operation_on(
        &mut self,
        e: &Expression,
        choices: &mut Choices,
        t: Term,
        (cut, known): (&[Term], u64),
    ) -> Option<(u64, How)> {
        let library = Arc::clone(&choices.lane_library);
        let piece = self.fragment(t, cut)?;
        for entry in library.find(piece.1) {
            self.report.matches += 1;
            let own = u64::from(library.ops[entry.op].cost) * PARTS;
            if own >= known {
                return None;
            }
            let name = &library.ops[entry.op].name;
            if !self.equal(name, library.meaning(entry, &piece.0), piece.0.term) {
                continue;
            }
            let flow = own + self.border(e, choices, cut)?;
            let args = entry.leaves.iter().map(|&k| cut[k]).collect();
            let how = How::Operation { op: entry.op, args };
            return (flow < known).then_some((flow, how));
        }
        None
    }

    /// What the values at a border cost this user of them.
    pub(super) fn border(
        &mut self,
        e: &Expression,
        choices: &mut Choices,
        cut: &[Term],
    ) -> Option<u64> {
        choices.depth += 1;
        let flows = cut.iter().map(|&leaf| {
            let flow = self.choose(e, choices, leaf)?;
            Some(flow / choices.users.get(&leaf).copied().unwrap_or(1).max(1))
        });
        let sum = flows.sum();
        choices.depth -= 1;
        sum
    }

    /// The piece of a value above a border, and what it does; none where a value at the border is wider than
    /// any element, as what is saturated may be, or where the value rests on others too.
    pub(super) fn fragment(&mut self, t: Term, cut: &[Term]) -> Option<Rc<(Fragment, Behaviour)>> {
        let key = (t, cut.to_vec());
        if let Some(done) = self.memory.fragments.get(&key) {
            return Some(Rc::clone(done));
        }
        if cut.iter().any(|l| lane_width(*l) > u64::BITS) {
            return None;
        }
        let piece = Fragment::new(t, cut);
        let behaviour = piece.behaviour()?;
        let made = Rc::new((piece, behaviour));
        self.memory.fragments.insert(key, Rc::clone(&made));
        Some(made)
    }

    /// Whether an operation is equal to a piece; where it is not, the report says at what.
    pub(super) fn equal(&mut self, name: &str, x: Term, y: Term) -> bool {
        if x == y {
            return true;
        }
        match self.candidates.equality(x, y, self.prover) {
            Equality::Equal => true,
            Equality::Differs(Some(input)) => {
                let refuted = format!("{name} for {y}: not at {input}");
                if !self.report.refuted.contains(&refuted) {
                    self.report.refuted.push(refuted);
                }
                false
            }
            Equality::Differs(None) | Equality::Unknown => false,
        }
    }
}

impl Choices {
    /// The same lanes and operations, with values made otherwise.
    pub(super) fn with(&self, made: HashMap<Term, Option<(u64, How)>>) -> Choices {
        Choices {
            lanes: self.lanes,
            lane_library: Arc::clone(&self.lane_library),
            users: self.users.clone(),
            own: self.own.clone(),
            style: self.style,
            made,
            named: self.named.clone(),
            open: HashSet::new(),
            depth: 0,
            dealt: self.dealt.clone(),
            narrow: None,
        }
    }

    /// Counts the users of the values of another way to write something, where they are new: the most that
    /// one way has, or what it costs would be counted for each of them.
    pub(super) fn count(&mut self, t: Term) {
        let others = users(t).into_iter();
        let new = others.filter(|(value, _)| !self.own.contains(value));
        new.for_each(|(value, count)| {
            let known = self.users.entry(value).or_insert(count);
            *known = count.max(*known);
        });
    }
}

impl Expression {
    /// Whether so many lanes of its widest value are no less than a register.
    fn fills(&self, lanes: u32, narrowest: u32) -> bool {
        let widths = users(self.root)
            .into_keys()
            .filter(|t| regular(*t))
            .map(lane_width);
        lanes * widths.max().unwrap_or(0) >= narrowest
    }

    /// Whether a register holds so many lanes of every value that must be computed.
    fn fits(&self, lanes: u32, widest: u32) -> bool {
        let widths = self.streams.iter().map(|s| s.element).chain([self.element]);
        widths.max().is_some_and(|w| lanes * w <= widest)
    }
}

/// The cheaper of two ways to compute a value, of two that cost the same the first.
pub(super) fn cheaper(a: Option<(u64, How)>, b: Option<(u64, How)>) -> Option<(u64, How)> {
    match (a, b) {
        (Some(x), Some(y)) => Some(if y.0 < x.0 { y } else { x }),
        (x, y) => x.or(y),
    }
}

/// How many values use each value of an expression.
pub(super) fn users(root: Term) -> HashMap<Term, u64> {
    let mut out = HashMap::from([(root, 1)]);
    let mut stack = vec![root];
    let mut seen = HashSet::new();
    while let Some(t) = stack.pop() {
        if !seen.insert(t) {
            continue;
        }
        for c in fragment::operands(t) {
            *out.entry(c).or_insert(0) += 1;
            stack.push(c);
        }
    }
    out
}
