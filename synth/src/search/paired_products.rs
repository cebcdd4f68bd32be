//! Sums of products by two products at a time.
//!
//! In: goals whose elements add up several products of what is loaded, and perhaps something else, a rounding's
//! half for instance. Out: registers that hold the sums of two products each, found by themselves, since
//! instructions that multiply and add neighbours compute just these; then their sum, with what else there is.
//! Which two are added first is as they are written.
//!
//! It proposes; what is chosen is claimed and proved like all else.

use super::Search;
use crate::cost::Cost;
use crate::goal::Goal;
use crate::lanes;
use crate::matching::summands;
use autoir::program::Value;
use semantics::build as b;
use semantics::op::OpCode;
use semantics::term::Term;

/// The most products that are paired: longer sums are folded.
const MOST: usize = 8;
/// Goals that may be spent on two products.
const GOALS: usize = 40;

/// What an element adds up.
struct Parts {
    products: Vec<Term>,
    rest: Vec<Term>,
}

impl Parts {
    fn of(t: Term) -> Parts {
        let (products, rest) = summands(t).into_iter().partition(|t| is_product(*t));
        Parts { products, rest }
    }

    /// The products from one on that are added first, what is taken away behind what it is taken from.
    fn pair(&self, first: usize) -> Option<Term> {
        let last = self.products.len().min(first + 2);
        let negated = |t: Term| Some(t.args_of(OpCode::BvNeg)?[0]);
        match *self.products.get(first..last)? {
            [x] => Some(x),
            [x, y] => Some(match (negated(x), negated(y)) {
                (_, Some(y)) => b::sub(x, y),
                (Some(x), None) => b::sub(y, x),
                (None, None) => b::add(x, y),
            }),
            _ => None,
        }
    }
}

impl Search<'_> {
    /// Registers of a window by sums of two products each: what several of them have in common is paid for
    /// once.
    pub(super) fn in_paired_products(&mut self, goal: &Goal) -> Option<Vec<Value>> {
        goal.live().next().filter(|t| adds_products(*t))?;
        let values = self.registers_in_pairs(goal)?;
        let cost = self.estimate(&values).cost;
        self.tried("by two products at a time", Some(cost));
        Some(values)
    }

    fn registers_in_pairs(&mut self, goal: &Goal) -> Option<Vec<Value>> {
        let widest = (self.candidates.widths.widest() / goal.element) as usize;
        let count = goal.elements.len();
        let mut values = Vec::new();
        for first in (0..count).step_by(widest) {
            let part = goal.part(first, widest.min(count - first));
            let (value, _) = self.products_in_pairs(&part, 0)?;
            self.claim(value, &part);
            values.push(value);
        }
        Some(values)
    }

    /// A sum of products by sums of two products.
    pub(super) fn products_in_pairs(&mut self, goal: &Goal, depth: usize) -> Option<(Value, Cost)> {
        goal.live().next().filter(|t| adds_products(*t))?;
        let all: Vec<Option<Parts>> = goal.elements.iter().map(|t| t.map(Parts::of)).collect();
        let first = all.iter().flatten().next()?;
        let (count, more) = (first.products.len(), first.rest.len());
        let alike = |parts: &Parts| parts.products.len() == count && parts.rest.len() == more;
        if !(2..=MOST).contains(&count)
            || count == 2 && more == 0
            || !all.iter().flatten().all(alike)
        {
            return None;
        }
        let goal_of = |of: &dyn Fn(usize, &Parts) -> Option<Term>| Goal {
            element: goal.element,
            elements: (all.iter().enumerate())
                .map(|(k, parts)| of(k, parts.as_ref()?))
                .collect(),
        };
        let mut sums = Vec::new();
        for k in (0..count).step_by(2) {
            let pair = goal_of(&|_, parts| parts.pair(k));
            sums.push(self.aside(GOALS, |search| search.named_goal(&pair, depth))?);
        }
        let total = goal_of(&|k, parts| {
            let named = sums.iter().map(|sum| sum.elements[k]);
            let mut parts = named.chain(parts.rest.iter().map(|t| Some(*t)));
            parts.try_fold(None, |sum, part| {
                let part = part?;
                Some(Some(sum.map_or(part, |sum| b::add(sum, part))))
            })?
        });
        let (value, cost) = self.solve(&total, depth + 1)?;
        Some((value, self.whole_cost(goal, value, cost)))
    }
}

/// Whether a value is a sum or difference of products of what is loaded, one of them perhaps by 1:
/// instructions that multiply and add neighbours may compute it for less.
pub(super) fn adds_products(t: Term) -> bool {
    if t.args_of(OpCode::BvAdd).is_none() && t.args_of(OpCode::BvSub).is_none() {
        return false;
    }
    let parts = summands(t).into_iter();
    let parts: Vec<Term> = parts.filter(|part| is_product(*part)).collect();
    let multiplied = |t: &Term| lanes::operators_of(*t).contains(&OpCode::BvMul);
    parts.len() > 1 && parts.iter().any(multiplied)
}

/// Whether a value is a product of what is loaded, extended or not, or by 1: the extension itself; or what is
/// taken away of such.
fn is_product(t: Term) -> bool {
    let t = t.args_of(OpCode::BvNeg).map_or(t, |args| args[0]);
    let multiplied = [OpCode::BvMul, OpCode::Zext, OpCode::Sext];
    multiplied.iter().any(|code| t.args_of(*code).is_some())
        && lanes::operators_of(t)
            .iter()
            .all(|code| *code == OpCode::BvMul)
}
