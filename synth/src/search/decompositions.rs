//! Decompositions: instructions whose meaning matches a goal.
//!
//! In: goals. Out: the instructions that give a goal, each with the smaller goals
//! of its operands, likeliest first; and the cheapest value that they lead to. How terms are
//! matched is in [`crate::matching`].

use super::lanewise::chooses_by;
use super::{Search, cheaper};
use crate::candidates::Action;
use crate::cost::Cost;
use crate::goal::Goal;
use crate::lanes;
use crate::matching::{Binding, Facts, match_element};
use crate::swizzle;
use crate::variants::Variant;
use autoir::program::{Argument, Formal, Value};
use semantics::bits::Bits;
use semantics::build as b;
use semantics::instruction::{Constants, Form};
use semantics::op::OpCode;
use semantics::term::Term;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;

/// How many ways of matching one instruction are followed.
const MAX_MATCHES: usize = 6;
/// How many matching instructions are followed, likeliest first, by depth.
const MAX_WAYS: [usize; 4] = [24, 10, 6, 4];

/// A candidate that matches a goal, and what its operands would have to hold.
pub(super) struct Way {
    pub(super) candidate: usize,
    pub(super) operands: Vec<Wanted>,
    /// It costs no less than this.
    least: Cost,
    /// It is likely to cost this.
    estimate: Cost,
}

/// What matching keeps between the goals of a window.
#[derive(Default)]
pub(super) struct Memory {
    pub(super) facts: Facts,
    variants: HashMap<(usize, u32), Rc<Vec<Arc<Variant>>>>,
    ways: HashMap<(Action, Goal), Ways>,
    matchable: HashMap<Kind, Matchable>,
}

/// The ways to compute a goal by the candidates that were matched.
#[derive(Default)]
struct Ways {
    /// How many of those that may match it these are, the cheapest first.
    matched: usize,
    /// What the candidate of each match costs, in their order.
    matches: Vec<Cost>,
    /// Likeliest first.
    ways: Vec<Rc<Way>>,
}

/// What goals have in common that the same candidates may match.
#[derive(PartialEq, Eq, Hash)]
struct Kind {
    width: u32,
    element: u32,
    action: Action,
    choosing: bool,
    /// The first element that matters.
    first: usize,
}

/// The variants that may match goals of a kind, the cheapest first.
#[derive(Default)]
struct Matchable {
    /// How many of the candidates of their width these are of.
    candidates: usize,
    list: Vec<Pattern>,
}

struct Pattern {
    candidate: usize,
    own: Cost,
    /// The operators that what it matches has in its first element that matters.
    needs: u128,
    variant: Arc<Variant>,
}

/// What an operand has to be; a register with what it costs at least.
pub(super) enum Wanted {
    Immediate(Bits),
    Register(Goal, Cost),
}

impl Search<'_> {
    pub(super) fn match_candidates(
        &mut self,
        goal: &Goal,
        depth: usize,
        mut best: Option<(Value, Cost)>,
        action: Action,
    ) -> Option<(Value, Cost)> {
        let bound = best.map_or(self.bound, |(_, cost)| cost.min(self.bound));
        let most = match self.limits.grammar.likeliest {
            true => MAX_WAYS[depth.min(MAX_WAYS.len() - 1)],
            false => usize::MAX,
        };
        for way in self.ways(goal, action, bound, most) {
            best = cheaper(best, self.apply(&way, depth, best));
        }
        best
    }

    /// So many ways to compute a goal that may cost less than a bound, likeliest first. What was matched
    /// below another bound is not matched again.
    fn ways(&mut self, goal: &Goal, action: Action, bound: Cost, most: usize) -> Vec<Rc<Way>> {
        let key = (action, goal.clone());
        let mut known = self.matching.ways.remove(&key).unwrap_or_default();
        self.match_more(&mut known, goal, action, bound);
        self.report.matches += known.matches.partition_point(|own| *own < bound);
        let ways = known.ways.iter().filter(|way| way.least < bound);
        let ways = ways.take(most).map(Rc::clone).collect();
        self.matching.ways.insert(key, known);
        ways
    }

    /// Matches the candidates that cost less than a bound and were not matched.
    fn match_more(&mut self, known: &mut Ways, goal: &Goal, action: Action, bound: Cost) {
        let Some(first) = goal.elements.iter().position(Option::is_some) else {
            return;
        };
        let present = lanes::signature(goal.live());
        let kind = Kind {
            width: goal.width(),
            element: goal.element,
            action,
            choosing: chooses_by(present),
            first,
        };
        let mut all = self.matching.matchable.remove(&kind).unwrap_or_default();
        self.extend(&mut all, &kind, bound);
        let before = known.ways.len();
        for one in &all.list[known.matched..] {
            if one.own >= bound {
                break;
            }
            known.matched += 1;
            if one.needs & !present != 0 {
                continue;
            }
            if let Some(passed) = self.limits.limit.passed() {
                self.report.stopped_by.insert(passed);
                break;
            }
            let widths = self.candidates.list[one.candidate].element_widths();
            for binding in self.bindings(&one.variant, goal, present, widths) {
                known.matches.push(one.own);
                let given = &one.variant.immediates;
                let way = self.way(one.candidate, one.own, given, &binding, goal);
                known.ways.extend(way.map(Rc::new));
            }
        }
        self.matching.matchable.insert(kind, all);
        if known.ways.len() > before {
            (known.ways).sort_by_key(|w| (w.estimate, w.operands.len(), w.candidate));
        }
    }

    /// Adds what costs less than a bound to what may match goals of a kind.
    fn extend(&mut self, all: &mut Matchable, kind: &Kind, bound: Cost) {
        for &index in &self.candidates.by_width(kind.width)[all.candidates..] {
            let c = &self.candidates.list[index];
            if c.cost >= bound {
                break;
            }
            all.candidates += 1;
            let finer = self.limits.grammar.elements
                && c.natural < kind.element
                && kind.action == Action::Computation;
            // Without a choice in the goal a mask could only be all ones.
            let masked = !kind.choosing && c.masked();
            if c.form == Form::Free || c.action() != kind.action || finer || masked {
                continue;
            }
            let own = c.cost;
            let variants = self.variants(index, kind.element);
            all.list.extend(variants.iter().map(|variant| Pattern {
                candidate: index,
                own,
                needs: variant.needs(kind.first),
                variant: Arc::clone(variant),
            }));
        }
    }

    /// One way to match a candidate, with the goals of its operands; nothing when an operand
    /// is no simpler than the goal.
    pub(super) fn way(
        &self,
        candidate: usize,
        own: Cost,
        immediates: &BTreeMap<String, Bits>,
        binding: &Binding,
        goal: &Goal,
    ) -> Option<Way> {
        let mut operands = Vec::new();
        let (mut least, mut estimate) = (own, own);
        for o in &self.candidates.list[candidate].instance.formals {
            if let Some(bits) = immediates.get(&o.name) {
                operands.push(Wanted::Immediate(bits.clone()));
                continue;
            }
            let operand = operand_goal(o, binding)?;
            if operand.measure() >= goal.measure() {
                return None;
            }
            if o.role.is_constant() {
                operands.push(Wanted::Immediate(operand.constant()?));
                continue;
            }
            let (low, likely) = self.outlook(&operand);
            least += low;
            estimate += likely;
            operands.push(Wanted::Register(operand, low));
        }
        Some(Way {
            candidate,
            operands,
            least,
            estimate,
        })
    }

    /// What a goal costs at least, and what it is likely to cost.
    fn outlook(&self, goal: &Goal) -> (Cost, Cost) {
        if goal.is_constant() {
            return (self.processor().constant, self.processor().constant);
        }
        if goal
            .input_part()
            .is_some_and(|(name, lo)| self.loadable(name, lo, goal.width()).is_some())
        {
            return (0, self.processor().load);
        }
        let one = self.processor().operation;
        if goal.only_moves() {
            // One movement reads two registers.
            let movements = swizzle::inputs_of(goal).len().saturating_sub(1).max(1) as Cost;
            return (one, 5 * movements * one);
        }
        let nodes = goal.live().map(Term::size).max().unwrap_or(1);
        let multiplies = goal
            .live()
            .next()
            .is_some_and(|t| lanes::operators_of(t).contains(&OpCode::BvMul));
        let least = if multiplies {
            self.candidates.cheapest_product()
        } else {
            one
        };
        (least, least + one * nodes.min(100))
    }

    /// The candidate's patterns, one set for each choice of its small immediates.
    pub(super) fn variants(&mut self, index: usize, element: u32) -> Rc<Vec<Arc<Variant>>> {
        if let Some(done) = self.matching.variants.get(&(index, element)) {
            return Rc::clone(done);
        }
        let c = &self.candidates.list[index];
        let mut immediates: Vec<BTreeMap<String, Bits>> = vec![BTreeMap::new()];
        for o in &c.instance.formals {
            let Some(constants) = o.role.constants() else {
                continue;
            };
            // Large immediates of movements are solved from their tables.
            let solved = c.action() == Action::Movement && constants.count() > 8;
            let values = if solved {
                vec![0]
            } else {
                self.immediate_values(constants)
            };
            let values = &values;
            immediates = immediates
                .iter()
                .flat_map(|m| {
                    values.iter().map(move |&v| {
                        let mut m = m.clone();
                        m.insert(o.name.clone(), Bits::from_u64(o.width, v));
                        m
                    })
                })
                .collect();
        }
        let made = immediates.into_iter();
        let made = made.map(|immediates| self.candidates.variant(index, element, immediates));
        let made = Rc::new(made.collect());
        self.matching
            .variants
            .insert((index, element), Rc::clone(&made));
        made
    }

    /// Values worth trying for an immediate: those of every window, and the window's own numbers.
    pub(super) fn immediate_values(&self, constants: Constants) -> Vec<u64> {
        crate::library::immediates(constants, &self.numbers)
    }

    /// Bindings of all elements together: the first element's ways one after another, the
    /// other elements following the same way where they can. The goal has these operators.
    pub(super) fn bindings(
        &self,
        variant: &Variant,
        goal: &Goal,
        present: u128,
        widths: &HashMap<String, u32>,
    ) -> Vec<Binding> {
        let Some(first) = goal.elements.iter().position(Option::is_some) else {
            return Vec::new();
        };
        if variant.needs(first) & !present != 0 {
            return Vec::new();
        }
        let start = match_element(
            variant.pattern(first),
            goal.elements[first].expect("it is live"),
            widths,
            &self.matching.facts,
        );
        let mut out: Vec<Binding> = Vec::new();
        for way in 0..start.len().min(MAX_MATCHES) {
            let mut whole = start[way].clone();
            let all = goal
                .elements
                .iter()
                .enumerate()
                .skip(first + 1)
                .all(|(k, t)| {
                    let Some(t) = t else { return true };
                    let found = match_element(variant.pattern(k), *t, widths, &self.matching.facts);
                    let same = found.get(way).filter(|_| found.len() == start.len());
                    same.into_iter().chain(&found).any(|b| whole.join(b))
                });
            if all && !out.contains(&whole) {
                out.push(whole);
            }
        }
        out
    }

    /// Solves the operands of a matched candidate, as long as it can win: each below what the bound
    /// leaves for it when the others cost the least that they can.
    fn apply(
        &mut self,
        way: &Way,
        depth: usize,
        best: Option<(Value, Cost)>,
    ) -> Option<(Value, Cost)> {
        let outer = self.bound;
        let bound = best.map_or(outer, |(_, cost)| cost.min(outer));
        let mut cost = way.least;
        let mut args = Vec::new();
        for operand in &way.operands {
            if cost >= bound {
                return None;
            }
            let (goal, least) = match operand {
                Wanted::Immediate(bits) => {
                    args.push(Argument::Immediate(bits.clone()));
                    continue;
                }
                Wanted::Register(goal, least) => (goal, least),
            };
            self.bound = bound - (cost - least);
            let solved = self.solve(goal, depth + 1);
            self.bound = outer;
            let (value, more) = solved?;
            cost = cost - least + more;
            args.push(Argument::Value(value));
        }
        if cost >= bound {
            return None;
        }
        let value = self.applied(way.candidate, args);
        let shared = self.estimator.sum(&self.graph, &[value]);
        Some((value, shared.min(cost)))
    }
}

/// What an operand has to hold, from the slices that a binding asks of it.
fn operand_goal(o: &Formal, binding: &Binding) -> Option<Goal> {
    let slots: Vec<_> = binding
        .slots()
        .iter()
        .filter(|(s, _)| s.operand == o.name)
        .collect();
    let mut element = slots
        .iter()
        .map(|(s, _)| s.width)
        .min()
        .unwrap_or_else(|| o.width.min(64));
    while slots
        .iter()
        .any(|(s, _)| s.width % element != 0 || s.lo % element != 0)
        || !o.width.is_multiple_of(element)
    {
        element = if element > 8 {
            element / 2
        } else {
            element - 1
        };
        if element == 0 {
            return None;
        }
    }
    let mut elements = vec![None; (o.width / element) as usize];
    for &(slot, t) in slots {
        let first = (slot.lo / element) as usize;
        if slot.width == element {
            elements[first] = Some(t);
            continue;
        }
        for k in 0..slot.width / element {
            elements[first + k as usize] = Some(b::extract(t, k * element, element));
        }
    }
    Some(Goal { element, elements })
}
