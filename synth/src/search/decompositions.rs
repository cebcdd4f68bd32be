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
use crate::matching::{Binding, difference, match_element};
use crate::swizzle;
use autoir::program::{Argument, Formal, Value};
use semantics::bits::Bits;
use semantics::build as b;
use semantics::instruction::{Constants, Form};
use semantics::op::OpCode;
use semantics::subst::replace_vars;
use semantics::term::Term;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

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

/// What an operand has to be; a register with what it costs at least.
pub(super) enum Wanted {
    Immediate(Bits),
    Register(Goal, Cost),
}

/// A candidate with small immediates given; its elements are made when first asked for,
/// because most candidates are refused at their first one.
pub(super) struct Variant {
    pub(super) immediates: BTreeMap<String, Bits>,
    term: Term,
    element: u32,
    patterns: RefCell<BTreeMap<usize, Term>>,
    /// Operators without which nothing matches, a bit for each, by element.
    needs: RefCell<BTreeMap<usize, u128>>,
}

impl Variant {
    /// Element `k` as a flat term over the operands that have no value yet.
    pub(super) fn pattern(&self, k: usize) -> Term {
        *self.patterns.borrow_mut().entry(k).or_insert_with(|| {
            let rolled = b::extract(self.term, k as u32 * self.element, self.element);
            crate::canonical::spread(semantics::unroll::unroll(rolled))
        })
    }

    /// The operators that whatever matches element `k` has too.
    fn needs(&self, k: usize) -> u128 {
        let needed = || needed_operators(self.pattern(k), self.immediates.is_empty());
        *self.needs.borrow_mut().entry(k).or_insert_with(needed)
    }
}

impl Search<'_> {
    pub(super) fn match_candidates(
        &mut self,
        goal: &Goal,
        depth: usize,
        mut best: Option<(Value, Cost)>,
        action: Action,
    ) -> Option<(Value, Cost)> {
        let list = self.candidates.by_width(goal.width());
        let mut ways: Vec<Way> = Vec::new();
        let present = lanes::signature(goal.live());
        let choosing = chooses_by(present);
        let bound = best.map_or(self.bound, |(_, cost)| cost.min(self.bound));
        for &index in list {
            let c = &self.candidates.list[index];
            if c.cost >= bound {
                break;
            }
            if let Some(passed) = self.limits.limit.passed() {
                self.report.stopped_by.insert(passed);
                break;
            }
            if c.form == Form::Free
                || c.action() != action
                || self.limits.grammar.elements
                    && c.natural < goal.element
                    && action == Action::Computation
            {
                continue;
            }
            // Without a choice in the goal a mask could only be all ones.
            if !choosing && c.masked() {
                continue;
            }
            let own = c.cost;
            let widths = c.element_widths();
            for variant in self.variants(index, goal.element).iter() {
                for binding in self.bindings(variant, goal, present, widths) {
                    self.report.matches += 1;
                    let way = self.way(index, own, &variant.immediates, &binding, goal);
                    ways.extend(way.filter(|way| way.least < bound));
                }
            }
        }
        ways.sort_by_key(|w| (w.estimate, w.operands.len(), w.candidate));
        let most = match self.limits.grammar.likeliest {
            true => MAX_WAYS[depth.min(MAX_WAYS.len() - 1)],
            false => usize::MAX,
        };
        for way in ways.iter().take(most) {
            best = cheaper(best, self.apply(way, depth, best));
        }
        best
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
    pub(super) fn variants(&mut self, index: usize, element: u32) -> Rc<Vec<Variant>> {
        if let Some(done) = self.variants.get(&(index, element)) {
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
        let made = immediates
            .into_iter()
            .map(|immediates| {
                let map: HashMap<&str, Term> = immediates
                    .iter()
                    .map(|(n, b)| (n.as_str(), Term::bits(b.clone())))
                    .collect();
                let term = if map.is_empty() {
                    c.term()
                } else {
                    replace_vars(c.term(), &map)
                };
                Variant {
                    immediates,
                    term,
                    element,
                    patterns: RefCell::default(),
                    needs: RefCell::default(),
                }
            })
            .collect();
        let made = Rc::new(made);
        self.variants.insert((index, element), Rc::clone(&made));
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
                    let found = match_element(variant.pattern(k), *t, widths);
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

/// The operators of a pattern but those that only place bits, and sums, products and saturations, which
/// match what is written without them.
fn needed_operators(pattern: Term, alone: bool) -> u128 {
    use OpCode as C;
    let optional = [
        C::BvAdd,
        C::BvSub,
        C::BvNeg,
        C::BvMul,
        C::SatSS,
        C::SatSU,
        C::SatUS,
        C::SatUU,
    ];
    // An absolute difference matches what it is from 0; not with each of many immediates.
    let differences = match alone && only_differences(pattern) {
        true => [C::Ite, C::BvUlt].as_slice(),
        false => &[],
    };
    optional
        .iter()
        .chain(differences)
        .fold(lanes::signature([pattern]), |all, &code| {
            all & !lanes::signature_of(code)
        })
}

/// Whether all choices in a pattern are absolute differences without sign.
fn only_differences(pattern: Term) -> bool {
    let (mut seen, mut work) = (HashSet::new(), vec![pattern]);
    while let Some(t) = work.pop() {
        if seen.insert(t) {
            if t.args_of(OpCode::Ite).is_some() && difference(t).is_none() {
                return false;
            }
            work.extend(t.children());
        }
    }
    true
}
