//! The local simplification rules behind [`crate::build`].
//!
//! In: an operator and simplified arguments, not all constant, commutative ones in order.
//! Out: an equal, simpler term with the name of the `Rule` that made it, or nothing. Each
//! rule strictly reduces something (widths, nodes, or distance from the shape described in
//! [`crate::build`]), so building ends. Nothing is rewritten without a name: a [`Rewritten`]
//! is made by a rule only.

use crate::affine::{Affine, never_negative};
use crate::bits::Bits;
use crate::build as b;
use crate::op::{Op, OpCode};
use crate::rule::{Rewritten, Rule as R};
use crate::subst::instantiate;
use crate::term::{Kind, Term};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// An equal and simpler term, when a rule applies.
pub(crate) fn simplify(op: Op, a: &[Term]) -> Option<Rewritten> {
    use OpCode as C;
    match op.code {
        C::Not | C::And | C::Or | C::Eq | C::Ite => truth(op.code, a),
        C::IntAdd | C::IntMul => {
            let t = Term::raw_app(op, a).ok()?;
            let sum = Some(Affine::of(t).to_term()).filter(|&n| n != t);
            R::IndexSum.of(sum)
        }
        C::IntDiv | C::IntMod => int_division(op.code, a),
        C::BvNot | C::BvAnd | C::BvOr | C::BvXor => bitwise(op.code, a),
        C::BvNeg | C::BvAdd | C::BvSub | C::BvMul => arithmetic(op.code, a),
        C::BvShl | C::BvLshr | C::BvAshr => shift(op.code, a),
        C::BvUlt | C::BvUle | C::BvSlt | C::BvSle => compare(op.code, a),
        C::Concat => concat(a),
        C::Extract => extract(a[0], a[1], op.params[0]),
        C::Zext | C::Sext => extend(op.code, a[0], op.params[0]),
        C::Elem | C::Slice | C::Insert => indexed(op, a),
        C::SatSS | C::SatSU | C::SatUS | C::SatUU => saturate(op.code, a[0], op.params[0]),
        C::Smin | C::Smax | C::Umin | C::Umax => {
            R::ExtremeOfEquals.of(Some(a[0]).filter(|&x| x == a[1]))
        }
        _ => None,
    }
}

fn truth(code: OpCode, a: &[Term]) -> Option<Rewritten> {
    match code {
        OpCode::Not => R::NotNot.of(a[0].args_of(OpCode::Not).map(|inner| inner[0])),
        OpCode::And => match a[1].as_bool() {
            Some(true) => R::AndTrue.gives(a[0]),
            Some(false) => R::AndFalse.gives(a[1]),
            None => R::AndSame.of(Some(a[0]).filter(|&x| x == a[1])),
        },
        OpCode::Or => match a[1].as_bool() {
            Some(true) => R::OrTrue.gives(a[1]),
            Some(false) => R::OrFalse.gives(a[0]),
            None => R::OrSame.of(Some(a[0]).filter(|&x| x == a[1])),
        },
        OpCode::Eq => equality(a[0], a[1]),
        _ => if_then_else(a[0], a[1], a[2]),
    }
}

fn equality(x: Term, y: Term) -> Option<Rewritten> {
    if x == y {
        return R::EqualSame.gives(Term::bool(true));
    }
    match y.as_bool() {
        Some(true) => return R::EqualTrue.gives(x),
        Some(false) => return R::EqualFalse.gives(b::negate(x)),
        None => {}
    }
    let constant = y.as_bits()?;
    let choice = x.args_of(OpCode::Ite);
    if let Some(args) = choice.filter(|a| a[1..].iter().all(|t| t.as_bits().is_some())) {
        let arms = (b::eq(args[1], y), b::eq(args[2], y));
        return R::EqualChoiceOfConstants.gives(b::ite(args[0], arms.0, arms.1));
    }
    if let Some(inner) = x.args_of(OpCode::Zext) {
        let w = inner[0].width();
        let fits = constant.extract(0, w).zext(constant.width()) == *constant;
        return if fits {
            R::EqualZeroExtended.gives(b::eq(inner[0], b::extract(y, 0, w)))
        } else {
            R::EqualZeroExtendedNever.gives(Term::bool(false))
        };
    }
    None
}

fn if_then_else(c: Term, x: Term, y: Term) -> Option<Rewritten> {
    if x == y {
        return R::ChoiceOfSame.gives(x);
    }
    if let Some(choice) = c.as_bool() {
        return R::ChoiceDecided.gives(if choice { x } else { y });
    }
    if let Some(inner) = c.args_of(OpCode::Not) {
        return R::ChoiceByNot.gives(b::ite(inner[0], y, x));
    }
    match (x.as_bool(), y.as_bool()) {
        (Some(true), Some(false)) => return R::ChoiceIsCondition.gives(c),
        (Some(false), Some(true)) => return R::ChoiceIsNegation.gives(b::negate(c)),
        (Some(false), None) => return R::ChoiceFalseFirst.gives(b::both(b::negate(c), y)),
        (Some(true), None) => return R::ChoiceTrueFirst.gives(b::either(c, y)),
        (None, Some(false)) => return R::ChoiceFalseLast.gives(b::both(c, x)),
        (None, Some(true)) => return R::ChoiceTrueLast.gives(b::either(b::negate(c), x)),
        _ => {}
    }
    if let Some(inner) = x.args_of(OpCode::Ite).filter(|i| i[0] == c) {
        return R::ChoiceWithinFirst.gives(b::ite(c, inner[1], y));
    }
    let inner = y.args_of(OpCode::Ite).filter(|i| i[0] == c)?;
    R::ChoiceWithinLast.gives(b::ite(c, x, inner[2]))
}

fn int_division(code: OpCode, a: &[Term]) -> Option<Rewritten> {
    let d = a[1].as_int().filter(|&d| d > 0)?;
    let form = Affine::of(a[0]);
    let divides = form.coefficients.values().all(|c| c % d == 0);
    if !divides {
        return None;
    }
    let constant = form.constant;
    if code == OpCode::IntMod {
        return R::IndexRemainder.gives(Term::int(constant.rem_euclid(d)));
    }
    let mut quotient = form;
    quotient.coefficients.values_mut().for_each(|c| *c /= d);
    quotient.constant = constant.div_euclid(d);
    R::IndexQuotient.gives(quotient.to_term())
}

fn bitwise(code: OpCode, a: &[Term]) -> Option<Rewritten> {
    let x = a[0];
    if code == OpCode::BvNot {
        return R::ComplementTwice.of(x.args_of(OpCode::BvNot).map(|inner| inner[0]));
    }
    let y = a[1];
    let w = x.width();
    if x == y {
        return match code {
            OpCode::BvXor => R::ExclusiveOrSame.gives(b::zero(w)),
            _ => R::LogicOfSame.gives(x),
        };
    }
    if let Some(k) = y.as_bits() {
        let ones = *k == Bits::ones(w);
        match (code, k.is_zero(), ones) {
            (OpCode::BvAnd, true, _) | (OpCode::BvOr, _, true) => {
                return R::LogicAbsorbed.gives(y);
            }
            (OpCode::BvAnd, _, true) | (OpCode::BvOr | OpCode::BvXor, true, _) => {
                return R::LogicNeutral.gives(x);
            }
            (OpCode::BvXor, _, true) => return R::ExclusiveOrOnes.gives(b::not(x)),
            _ => {}
        }
        if let Some(inner) = x.args_of(code).filter(|i| i[1].as_bits().is_some()) {
            let both = b::app(Op::new(code), &[inner[1], y]);
            return R::LogicOfConstants.gives(b::app(Op::new(code), &[inner[0], both]));
        }
    }
    let complement = |p: Term, q: Term| p.args_of(OpCode::BvNot).is_some_and(|i| i[0] == q);
    if complement(x, y) || complement(y, x) {
        return match code {
            OpCode::BvAnd => R::AndComplement.gives(b::zero(w)),
            _ => R::OrComplement.gives(Term::bits(Bits::ones(w))),
        };
    }
    None
}

fn arithmetic(code: OpCode, a: &[Term]) -> Option<Rewritten> {
    let x = a[0];
    let w = x.width();
    if code == OpCode::BvNeg {
        return R::NegatedTwice.of(x.args_of(OpCode::BvNeg).map(|inner| inner[0]));
    }
    let y = a[1];
    if code == OpCode::BvSub {
        if x == y {
            return R::DifferenceOfSame.gives(b::zero(w));
        }
        if let Some(k) = y.as_bits() {
            return R::DifferenceOfConstant.gives(b::add(x, Term::bits(k.neg())));
        }
        let zero = x.as_bits().filter(|k| k.is_zero());
        return R::DifferenceFromZero.of(zero.map(|_| b::neg(y)));
    }
    let k = y.as_bits()?;
    if code == OpCode::BvAdd && k.is_zero() {
        return R::SumWithZero.gives(x);
    }
    if code == OpCode::BvMul && k.to_u64() == Some(1) {
        return R::ProductWithOne.gives(x);
    }
    if code == OpCode::BvMul && k.is_zero() {
        return R::ProductWithZero.gives(y);
    }
    let inner = x.args_of(code).filter(|i| i[1].as_bits().is_some())?;
    let both = b::app(Op::new(code), &[inner[1], y]);
    R::ArithmeticOfConstants.gives(b::app(Op::new(code), &[inner[0], both]))
}

fn shift(code: OpCode, a: &[Term]) -> Option<Rewritten> {
    let (x, w) = (a[0], a[0].width());
    if x.as_bits().is_some_and(Bits::is_zero) {
        return R::ShiftOfZero.gives(x);
    }
    let count = a[1].as_bits()?;
    let count = count
        .to_u64()
        .map_or(w, |c| u32::try_from(c).unwrap_or(w).min(w));
    if count == 0 {
        return R::ShiftByZero.gives(x);
    }
    match code {
        OpCode::BvShl if count == w => R::ShiftedOut.gives(b::zero(w)),
        OpCode::BvShl => {
            let inner = x.args_of(OpCode::BvShl)?;
            let more = inner[1].as_bits()?.to_u64()?;
            let sum = Term::bv(
                w,
                i128::from(more.saturating_add(u64::from(count)).min(u64::from(w))),
            );
            if w < 64 && u64::from(w) >= 1 << w {
                return None;
            }
            R::ShiftedTwice.gives(b::shl(inner[0], sum))
        }
        OpCode::BvLshr if count == w => R::ShiftedOut.gives(b::zero(w)),
        OpCode::BvLshr => R::ShiftIsExtraction.gives(b::zext(b::extract(x, count, w - count), w)),
        _ if count == w => R::ShiftedToSign.gives(b::sext(b::extract(x, w - 1, 1), w)),
        _ => R::SignedShiftIsExtraction.gives(b::sext(b::extract(x, count, w - count), w)),
    }
}

fn compare(code: OpCode, a: &[Term]) -> Option<Rewritten> {
    let strict = matches!(code, OpCode::BvUlt | OpCode::BvSlt);
    if a[0] == a[1] {
        return R::ComparedWithItself.gives(Term::bool(!strict));
    }
    let zero = |t: Term| t.as_bits().is_some_and(Bits::is_zero);
    match code {
        OpCode::BvUlt if zero(a[1]) => R::LessThanZero.gives(Term::bool(false)),
        OpCode::BvUle if zero(a[0]) => R::ZeroAtMost.gives(Term::bool(true)),
        _ => None,
    }
}

fn concat(a: &[Term]) -> Option<Rewritten> {
    if a.len() == 1 {
        return R::ConcatOfOne.gives(a[0]);
    }
    let flat: Vec<Term> = a
        .iter()
        .flat_map(|t| t.args_of(OpCode::Concat).unwrap_or(std::slice::from_ref(t)))
        .copied()
        .collect();
    let mut parts: Vec<Term> = Vec::with_capacity(flat.len());
    for part in with_constants_joined(&flat) {
        match parts.last().and_then(|&hi| fuse(hi, part)) {
            Some(both) => *parts.last_mut().expect("there was a last part") = both,
            None => parts.push(part),
        }
    }
    if parts.len() > 1 && parts[0].as_bits().is_some_and(Bits::is_zero) {
        let low = b::concat(&parts[1..]);
        let width: u32 = parts.iter().map(|p| p.width()).sum();
        return R::ConcatWithZeros.gives(b::zext(low, width));
    }
    R::ConcatFlat.of((parts != a).then(|| b::concat(&parts)))
}

/// Constants that stand side by side as one: every term is kept, so that none is made of some of them.
fn with_constants_joined(parts: &[Term]) -> Vec<Term> {
    let constants = |a: &Term, b: &Term| a.as_bits().is_some() && b.as_bits().is_some();
    let one = |run: &[Term]| match run {
        [one] => *one,
        _ => {
            let bits: Vec<&Bits> = run.iter().filter_map(|t| t.as_bits()).collect();
            Term::bits(Bits::joined(&bits).expect("a run is of constants"))
        }
    };
    parts.chunk_by(constants).map(one).collect()
}

/// Two neighbours as one part: adjacent bits of one register.
fn fuse(hi: Term, lo: Term) -> Option<Term> {
    let (source, start) = bits_of(lo);
    let (source_hi, start_hi) = bits_of(hi);
    let adjacent = source == source_hi && start_hi == start.checked_add(lo.width())?;
    (adjacent && hi != lo).then(|| b::extract(source, start, lo.width() + hi.width()))
}

fn bits_of(t: Term) -> (Term, u32) {
    t.args_of(OpCode::Extract)
        .and_then(|a| Some((a[0], u32::try_from(a[1].as_int()?).ok()?)))
        .unwrap_or((t, 0))
}

/// What a term is the zero extension of, when at least one zero was added.
fn widened(x: Term) -> Option<Term> {
    let inner = x.args_of(OpCode::Zext)?[0];
    (inner.width() < x.width()).then_some(inner)
}

fn extend(code: OpCode, x: Term, w: u32) -> Option<Rewritten> {
    if x.width() == w {
        return R::ExtendedByNothing.gives(x);
    }
    if let Some(inner) = widened(x) {
        return R::ExtendedZeroExtension.gives(b::zext(inner, w));
    }
    let inner = x.args_of(OpCode::Sext).filter(|_| code == OpCode::Sext)?;
    R::ExtendedSignExtension.gives(b::sext(inner[0], w))
}

fn indexed(op: Op, a: &[Term]) -> Option<Rewritten> {
    if let Some(inner) = a[1].args_of(OpCode::Zext) {
        let mut args = a.to_vec();
        args[1] = inner[0];
        return R::IndexedByExtension.gives(b::app(op, &args));
    }
    let n = a[1].as_bits()?.to_u64().and_then(|n| u32::try_from(n).ok());
    let w = a[0].width();
    match op.code {
        OpCode::Insert => {
            let Some(lo) = n.filter(|&lo| lo < w) else {
                return R::InsertedOutside.gives(a[0]);
            };
            let room = a[2].width().min(w - lo);
            let mut parts = Vec::new();
            if lo + room < w {
                parts.push(b::extract(a[0], lo + room, w - lo - room));
            }
            parts.push(b::extract(a[2], 0, room));
            if lo > 0 {
                parts.push(b::extract(a[0], 0, lo));
            }
            R::InsertedAtConstant.gives(b::concat(&parts))
        }
        code => {
            let size = op.params[0];
            let scale = if code == OpCode::Elem { size } else { 1 };
            let lo = n.and_then(|n| n.checked_mul(scale)).filter(|&lo| lo < w);
            let part = lo.map_or_else(|| b::zero(size), |lo| b::extract(a[0], lo, size));
            R::SelectedAtConstant.gives(part)
        }
    }
}

fn saturate(code: OpCode, x: Term, w: u32) -> Option<Rewritten> {
    let (zext, sext) = (widened(x), x.args_of(OpCode::Sext));
    match code {
        OpCode::SatSS | OpCode::SatUU if x.width() == w => R::SaturatedToItself.gives(x),
        OpCode::SatSS if sext.is_some_and(|i| i[0].width() <= w) => {
            R::SaturatedSignExtension.of(sext.map(|i| b::sext(i[0], w)))
        }
        OpCode::SatSS if zext.is_some_and(|i| i.width() < w) => {
            R::SaturatedShortExtension.of(zext.map(|i| b::zext(i, w)))
        }
        OpCode::SatSU | OpCode::SatUU if zext.is_some_and(|i| i.width() <= w) => {
            R::SaturatedZeroExtension.of(zext.map(|i| b::zext(i, w)))
        }
        OpCode::SatUS if zext.is_some_and(|i| i.width() < w) => {
            R::SaturatedShortExtension.of(zext.map(|i| b::zext(i, w)))
        }
        _ => None,
    }
}

fn extract(x: Term, lo: Term, w: u32) -> Option<Rewritten> {
    let Some(constant) = lo.as_int() else {
        let form = Affine::of(lo);
        let constant = form.coefficients.is_empty();
        let at = constant.then(|| b::extract_at(x, Term::int(form.constant), w));
        return R::ExtractedAtSum.of(at);
    };
    match u32::try_from(constant) {
        Ok(lo) if lo < x.width() => extract_constant(x, lo, w),
        _ => R::ExtractedOutside.gives(b::zero(w)),
    }
}

fn extract_constant(x: Term, lo: u32, w: u32) -> Option<Rewritten> {
    let width = x.width();
    if lo == 0 && w == width {
        return R::ExtractedWhole.gives(x);
    }
    if w > width - lo {
        return R::ExtractedPastEnd.gives(b::zext(b::extract(x, lo, width - lo), w));
    }
    match x.kind() {
        Kind::App { op, args } => extract_from_app(*op, args, x, lo, w),
        Kind::Map { count, body } => extract_from_map(*count, *body, lo, w),
        _ => None,
    }
}

/// The most paths down a term that an extraction goes.
const MOST_PATHS: u32 = 1 << 14;
/// So many it goes down whatever they share.
const FEW_PATHS: u32 = 1 << 4;
/// The most paths for each node that they meet.
const MOST_SHARING: u32 = 2;

/// Whether an extraction may move into a term. It goes down every path, and what several of them meet
/// comes out in other bits each time: such a term would be one of pieces, larger than what it is made of.
fn is_moved_into(x: Term) -> bool {
    let size = x.size();
    if size <= FEW_PATHS {
        return true;
    }
    let mut paths: HashMap<Term, u32> = HashMap::new();
    let mut open = vec![(x, false)];
    while let Some((t, are_below_known)) = open.pop() {
        let below = entered(t);
        if are_below_known {
            let sum = below.iter().map(|t| paths[t]);
            paths.insert(t, sum.fold(1, u32::saturating_add));
        } else if let Entry::Vacant(vacant) = paths.entry(t) {
            vacant.insert(0);
            open.push((t, true));
            open.extend(below.iter().map(|&t| (t, false)));
        }
        if paths.len() > MOST_PATHS as usize {
            return false;
        }
    }
    let nodes = u32::try_from(paths.len()).unwrap_or(u32::MAX);
    paths[&x] <= FEW_PATHS.max((nodes * MOST_SHARING).min(MOST_PATHS))
}

/// The operands into which an extraction moves.
fn entered(t: Term) -> &'static [Term] {
    use OpCode as C;
    let Some((op, args)) = t.as_app() else {
        return &[];
    };
    match op.code {
        C::Extract | C::Zext | C::Sext | C::BvShl => &args[..1],
        C::Concat | C::BvNot | C::BvAnd | C::BvOr | C::BvXor => args,
        C::BvNeg | C::BvAdd | C::BvSub | C::BvMul => args,
        C::Ite => &args[1..],
        _ => &[],
    }
}

fn extract_from_app(op: Op, args: &[Term], x: Term, lo: u32, w: u32) -> Option<Rewritten> {
    match op.code {
        OpCode::Extract => {
            let safe = never_negative(args[1]);
            let further = || b::int_add(args[1], Term::int(i64::from(lo)));
            R::ExtractedTwice.of(safe.then(|| b::extract_at(args[0], further(), w)))
        }
        OpCode::Concat => R::ExtractedFromConcat.gives(extract_from_concat(args, lo, w)),
        OpCode::Zext | OpCode::Sext => {
            R::ExtractedFromExtension.gives(extract_from_extension(op.code, args[0], lo, w))
        }
        _ if !is_moved_into(x) => None,
        OpCode::BvNot | OpCode::BvAnd | OpCode::BvOr | OpCode::BvXor => {
            let parts: Vec<Term> = args.iter().map(|&t| b::extract(t, lo, w)).collect();
            R::ExtractedFromLogic.gives(b::app(op, &parts))
        }
        OpCode::Ite => {
            let arms = (b::extract(args[1], lo, w), b::extract(args[2], lo, w));
            R::ExtractedFromChoice.gives(b::ite(args[0], arms.0, arms.1))
        }
        OpCode::BvNeg | OpCode::BvAdd | OpCode::BvSub | OpCode::BvMul if lo + w < x.width() => {
            let parts: Vec<Term> = args.iter().map(|&t| b::extract(t, 0, lo + w)).collect();
            R::ExtractedFromLow.gives(b::extract(b::app(op, &parts), lo, w))
        }
        OpCode::BvShl => {
            let count = args[1]
                .as_bits()?
                .to_u64()
                .and_then(|c| u32::try_from(c).ok())?;
            if count <= lo {
                return R::ExtractedAboveShift.gives(b::extract(args[0], lo - count, w));
            }
            if count >= lo + w {
                return R::ExtractedBelowShift.gives(b::zero(w));
            }
            let zeros = count - lo;
            let parts = [b::extract(args[0], 0, w - zeros), b::zero(zeros)];
            R::ExtractedAcrossShift.gives(b::concat(&parts))
        }
        _ => None,
    }
}

fn extract_from_extension(code: OpCode, y: Term, lo: u32, w: u32) -> Term {
    let yw = y.width();
    if lo + w <= yw {
        return b::extract(y, lo, w);
    }
    let inside = yw.saturating_sub(lo);
    match (code, inside) {
        (OpCode::Zext, 0) => b::zero(w),
        (OpCode::Zext, n) => b::zext(b::extract(y, lo, n), w),
        (_, 0) => b::sext(b::extract(y, yw - 1, 1), w),
        (_, n) => b::sext(b::extract(y, lo, n), w),
    }
}

fn extract_from_concat(parts: &[Term], lo: u32, w: u32) -> Term {
    let mut pieces = Vec::new();
    let mut start = 0;
    for &part in parts.iter().rev() {
        let end = start + part.width();
        let (from, to) = (start.max(lo), end.min(lo + w));
        if from < to {
            pieces.push(b::extract(part, from - start, to - from));
        }
        start = end;
    }
    pieces.reverse();
    b::concat(&pieces)
}

fn extract_from_map(count: u32, body: Term, lo: u32, w: u32) -> Option<Rewritten> {
    let ew = body.width();
    let element = |k: u32| instantiate(body, &[Term::int(i64::from(k))]);
    if lo / ew == (lo + w - 1) / ew {
        return R::ExtractedFromElement.gives(b::extract(element(lo / ew), lo % ew, w));
    }
    if lo.is_multiple_of(ew) && w.is_multiple_of(ew) {
        let shifted = b::int_add(Term::index(), Term::int(i64::from(lo / ew)));
        let n = w / ew;
        debug_assert!(n < count);
        return R::ExtractedElements.gives(b::map(n, reindex(body, shifted)));
    }
    None
}

/// The body with its index replaced by an expression over the *same* index.
fn reindex(body: Term, by: Term) -> Term {
    // Instantiation removes the innermost binder; the expression's own index must survive
    // it, so the other bound variables are first moved out of the way.
    let moved = crate::subst::shift(body, 1, 1);
    instantiate(moved, &[by])
}

#[cfg(test)]
mod tests {
    use crate::build as b;
    use crate::op::OpCode;
    use crate::sort::Sort;
    use crate::term::Term;
    use std::collections::HashSet;
    use std::time::{Duration, Instant};

    /// As many bytes as a term may have: each is written some twenty times, not once for each beside it, which takes 8 GB.
    #[test]
    fn many_constants_side_by_side_are_joined() {
        const COUNT: u32 = 1 << 17;
        let start = Instant::now();
        let parts: Vec<Term> = (0..COUNT)
            .map(|n| Term::bv(8, i128::from(n % 251)))
            .collect();
        let whole = b::concat(&parts);
        for n in [0, 1, 77_777, COUNT - 1] {
            let part = b::extract(whole, 8 * (COUNT - 1 - n), 8);
            assert_eq!(part, parts[n as usize], "{n}");
        }
        // What is no constant keeps constants apart.
        let x = Term::var("x", Sort::Bv(8));
        let mixed = b::concat(&[parts[1], parts[2], x, parts[3], parts[4]]);
        let apart = [Term::bv(16, 0x0102), x, Term::bv(16, 0x0304)];
        assert_eq!(mixed, b::concat(&apart));
        assert!(start.elapsed() < Duration::from_secs(5));
    }

    /// A hash of sixty steps: each step reads the one before in two places.
    #[test]
    fn extractions_do_not_take_shared_terms_apart() {
        let step = |t: Term, k: u32| b::xor(t, b::lshr(t, Term::bv(32, i128::from(7 + k % 9))));
        let x = Term::var("x", Sort::Bv(32));
        let (mut chain, mut nodes) = (x, Vec::new());
        for k in 0..60 {
            chain = step(chain, k);
            let (mut seen, mut open) = (HashSet::from([chain]), vec![chain]);
            while let Some(t) = open.pop() {
                open.extend(t.children().filter(|&c| seen.insert(c)));
            }
            nodes.push(seen.len());
        }
        assert!(nodes[59] - nodes[29] <= 30 * 4, "{nodes:?}");
        // What shares nothing is moved into, however long it is.
        let sum = (0..60).fold(x, |sum, k| {
            b::xor(sum, Term::var(&format!("y{k}"), Sort::Bv(32)))
        });
        assert!(b::extract(sum, 8, 8).args_of(OpCode::Extract).is_none());
    }
}
