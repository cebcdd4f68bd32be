//! Views: registers computed in lanes of another width than that of the values they hold.
//!
//! In: a value of a lane whose function needs wider values than the lane. Out: the same value as a
//! function of pairs of lanes, which stand where they are: the lower lane computed from the low
//! halves, the upper one from the high halves, both put together. Nothing crosses lanes, no
//! register becomes wider. Shifts by a constant need not even be taken apart: the wider lane is
//! shifted, and the bits that came from its neighbour are cleared. Parts of a lane are viewed likewise
//! ([`super::fields`]).
//!
//! It proposes; what is chosen is claimed and proved like all else.

use super::Search;
use super::cover::{Choices, Cover, Expression, How, LaneView, Style, cheaper, users};
use super::place::Placed;
use crate::fragment::{constant_bits, lane_width, operands, replace};
use crate::goal::Goal;
use crate::legal::{raw, two};
use autoir::program::Value;
use semantics::bits::Bits;
use semantics::op::{Op, OpCode};
use semantics::range::range;
use semantics::sort::Sort;
use semantics::term::Term;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The most values at the border of what is computed two lanes at a time.
const MAX_BORDER: usize = 6;

/// A value as a function of other lanes of the registers that hold its leaves: of pairs of lanes, or of
/// each part of one.
#[derive(Clone, Debug)]
pub(super) struct View {
    /// The function over [`other_lane`] variables.
    pub(super) root: Term,
    /// The values that are viewed.
    pub(super) leaves: Vec<Term>,
}

impl Search<'_> {
    /// The cover of a window with values computed two lanes at a time wherever they can be: extending
    /// lanes and narrowing them takes movements, which one port may have to make.
    pub(super) fn cover_in_pairs(
        &mut self,
        e: &Expression,
        goal: &Goal,
        lanes: u32,
    ) -> Option<(Cover, Rc<Choices>)> {
        if !users(e.root).keys().any(|&t| is_of_pair(t)) {
            return None;
        }
        self.cover_in_style(e, goal, lanes, (Style::Pairs, "in pairs of lanes"))
    }

    /// The cheapest way to compute a value, which may be written in these other ways, two lanes at a
    /// time. No operation computes it as it is.
    pub(super) fn by_view(
        &mut self,
        e: &Expression,
        choices: &mut Choices,
        t: Term,
        others: &[Term],
    ) -> Option<(u64, How)> {
        let w = lane_width(t);
        if e.view == LaneView::Pairs
            || choices.lanes < 4
            || !matches!(t.sort(), Sort::Bv(8 | 16 | 32))
        {
            return None;
        }
        let mut best: Option<(u64, How)> = None;
        for view in views(t, others, w) {
            best = cheaper(best, self.by_one_view(e, choices, view));
        }
        best
    }

    /// What it costs to compute a value by a view.
    pub(super) fn by_one_view(
        &mut self,
        e: &Expression,
        choices: &mut Choices,
        view: View,
    ) -> Option<(u64, How)> {
        let flow = self.border(e, choices, &view.leaves)?;
        let lanes = view.expression(choices.lanes);
        let inner = self.choices(&lanes, lanes.lanes)?;
        let (own, _) = inner.made.get(&lanes.root)?.as_ref()?;
        Some((own + flow, How::View(view)))
    }

    /// Computes a value in other lanes of the registers that hold its leaves.
    pub(super) fn place_view(
        &mut self,
        view: &View,
        leaves: &[Value],
        placed: &mut Placed,
        lanes: u32,
        depth: usize,
    ) -> Option<Value> {
        let mut other = view.expression(lanes);
        let choices = self.choices(&other, other.lanes)?;
        let streams = view.leaves.iter();
        other.streams = streams
            .map(|&l| placed.regrouped(l, other.element))
            .collect();
        let mut inner = Placed::new(&other, &choices, 0);
        for (k, &value) in leaves.iter().enumerate() {
            inner.values.insert(other_lane(k, other.element), value);
        }
        let root = other.root;
        self.place(&other, &choices, root, depth, &mut inner)
    }
}

/// The variable that is another lane, of so many bits, of what holds leaf `k`.
pub(super) fn other_lane(k: usize, width: u32) -> Term {
    Term::var(&format!("viewed{k}"), Sort::Bv(width))
}

impl View {
    /// As an expression over the lanes that so many of its leaves are; of its streams nothing is
    /// said.
    fn expression(&self, lanes: u32) -> Expression {
        let (own, element) = (lane_width(self.leaves[0]), self.root.width());
        let variable = |k| (other_lane(k, element), k);
        Expression {
            root: self.root,
            leaves: Rc::new((0..self.leaves.len()).map(variable).collect()),
            streams: Rc::default(),
            element,
            lanes: lanes * own / element,
            view: match element > own {
                true => LaneView::Pairs,
                false => LaneView::Parts,
            },
            dealt: None,
        }
    }
}

/// The ways to compute a value two lanes at a time, the cheapest kind first.
fn views(t: Term, others: &[Term], w: u32) -> Vec<View> {
    let shifted = shifted_pair(t, w);
    if shifted.is_some() {
        return shifted.into_iter().collect();
    }
    let all = std::iter::once(&t).chain(others);
    all.filter_map(|other| halves_of_pair(*other, w)).collect()
}

fn number(width: u32, n: u32) -> Term {
    Term::bv(width, i128::from(n))
}

/// A logical shift by a constant: the pair is shifted, and what crossed is cleared.
fn shifted_pair(t: Term, w: u32) -> Option<View> {
    let (op, args) = t.as_app()?;
    let &[x, by] = args else { return None };
    let by = by.as_bits()?.to_u64().and_then(|n| u32::try_from(n).ok())?;
    let kept = match op.code {
        OpCode::BvShl if by < w => Bits::ones(w).shl_u32(by),
        OpCode::BvLshr if by < w => Bits::ones(w - by).zext(w),
        _ => return None,
    };
    let pair = two(op.code, other_lane(0, 2 * w), number(2 * w, by))?;
    let root = two(OpCode::BvAnd, pair, Term::bits(kept.concat(&kept)))?;
    let leaves = vec![x];
    Some(View { root, leaves })
}

/// Whether a value is bits of one of twice the width that is made of extended lanes.
pub(super) fn is_of_pair(t: Term) -> bool {
    matches!(t.sort(), Sort::Bv(w @ (8 | 16 | 32)) if part_of_pair(t, w).is_some())
}

/// Bits of a wider value of extended lanes: of the low halves for the lower lane, of the high
/// halves for the upper one.
fn halves_of_pair(t: Term, w: u32) -> Option<View> {
    let (whole, lo, border) = part_of_pair(t, w)?;
    let [low, high] = border.halves.map(|mut map| replace(whole, &mut map));
    let low = down(low, lo)?;
    let low = match range(low) {
        (least, most) if least >= 0 && most < 1 << w => low,
        _ => two(OpCode::BvAnd, low, Term::bits(Bits::ones(w).zext(2 * w)))?,
    };
    let up = match lo {
        0 => two(OpCode::BvShl, high, number(2 * w, w))?,
        _ => masked_up(high, lo, w)?,
    };
    let root = two(OpCode::BvOr, low, up)?;
    let leaves = border.leaves;
    Some(View { root, leaves })
}

/// A value of twice the width made of extended lanes, from where on a value is its bits, and these lanes.
fn part_of_pair(t: Term, w: u32) -> Option<(Term, u32, Border)> {
    let [whole, lo] = *t.args_of(OpCode::Extract)? else {
        return None;
    };
    let (whole, lo) = before_shifts(whole, u32::try_from(lo.as_int()?).ok()?, w);
    if whole.width() != 2 * w || constant_bits(whole).is_some() {
        return None;
    }
    let mut border = Border::default();
    border.look(whole, w)?;
    (!border.leaves.is_empty()).then_some((whole, lo, border))
}

/// What a value is shifted down from by constants, and where the same bits of that begin, as long as they
/// are bits of it.
fn before_shifts(whole: Term, lo: u32, bits: u32) -> (Term, u32) {
    let shift = whole
        .args_of(OpCode::BvLshr)
        .or(whole.args_of(OpCode::BvAshr));
    let by = |n: Term| {
        n.as_bits()
            .and_then(Bits::to_u64)
            .and_then(|n| u32::try_from(n).ok())
    };
    let from = shift.and_then(|args| Some((args[0], lo.checked_add(by(args[1])?)?)));
    match from.filter(|(_, lo)| lo.checked_add(bits).is_some_and(|end| end <= whole.width())) {
        Some((of, lo)) => before_shifts(of, lo, bits),
        None => (whole, lo),
    }
}

/// The extended lanes below a value, and what stands for each in the lower and in the upper half
/// of a pair.
#[derive(Default)]
struct Border {
    leaves: Vec<Term>,
    halves: [HashMap<Term, Term>; 2],
    /// What was looked at: values are used several times.
    seen: HashSet<Term>,
}

impl Border {
    /// Looks below a value; nothing where there is another value of a lane's width.
    fn look(&mut self, t: Term, w: u32) -> Option<()> {
        if !self.seen.insert(t) || constant_bits(t).is_some() {
            return Some(());
        }
        let (op, args) = t.as_app()?;
        if matches!(op.code, OpCode::Sext | OpCode::Zext) {
            return self.extended(t, op.code, args[0], w);
        }
        if !matches!(t.sort(), Sort::Bool) && t.sort() != Sort::Bv(2 * w) {
            return None;
        }
        operands(t).try_for_each(|child| self.look(child, w))
    }

    fn extended(&mut self, t: Term, extension: OpCode, leaf: Term, w: u32) -> Option<()> {
        if leaf.sort() != Sort::Bv(w) || t.width() != 2 * w {
            return None;
        }
        let known = self.leaves.iter().position(|&l| l == leaf);
        let k = known.unwrap_or(self.leaves.len());
        if known.is_none() {
            self.leaves.push(leaf);
        }
        let pair = other_lane(k, 2 * w);
        let low = raw(Op::with(OpCode::Extract, w), &[pair, Term::int(0)])?;
        let shift = match extension {
            OpCode::Sext => OpCode::BvAshr,
            _ => OpCode::BvLshr,
        };
        self.halves[0].insert(t, raw(Op::with(extension, 2 * w), &[low])?);
        self.halves[1].insert(t, two(shift, pair, number(2 * w, w))?);
        (self.leaves.len() <= MAX_BORDER).then_some(())
    }
}

/// A value shifted to the low end.
fn down(x: Term, by: u32) -> Option<Term> {
    match by {
        0 => Some(x),
        _ => two(OpCode::BvLshr, x, number(x.width(), by)),
    }
}

/// The bits of a value from one on in the upper lane: what is below them is cleared.
fn masked_up(x: Term, lo: u32, w: u32) -> Option<Term> {
    let moved = match lo.checked_sub(w) {
        Some(by) => down(x, by)?,
        None => two(OpCode::BvShl, x, number(2 * w, w - lo))?,
    };
    let upper = Term::bits(Bits::ones(w).zext(2 * w).shl_u32(w));
    two(OpCode::BvAnd, moved, upper)
}
