//! Tests whether a value lies in an interval, or outside of one, as one comparison.
//!
//! In: two comparisons of the same value with constants, joined. Out: the value less the lower bound,
//! compared as an unsigned number with the length: right at every width and for both orders, since what is
//! below the lower bound wraps to a number above the length.

use crate::legal::{raw, two};
use semantics::bits::Bits;
use semantics::op::{Op, OpCode};
use semantics::range::ends;
use semantics::sort::Sort;
use semantics::term::Term;

/// The values of which a comparison is true: those of `x` from a number to another one.
struct Interval {
    x: Term,
    signed: bool,
    bounds: (i128, i128),
}

impl Interval {
    /// Of a comparison with a constant, or of what it denies.
    fn of(t: Term, denied: bool) -> Option<Interval> {
        use OpCode as C;
        let (op, args) = t.as_app()?;
        if op.code == C::Not {
            return Interval::of(args[0], !denied);
        }
        let signed = match op.code {
            C::BvUlt | C::BvUle => false,
            C::BvSlt | C::BvSle => true,
            _ => return None,
        };
        let strict = i128::from(matches!(op.code, C::BvUlt | C::BvSlt));
        let width = args[0].sort().width().filter(|w| *w <= 64)?;
        let (least, most) = ends(width, signed);
        let number = |t: Term| {
            let bits = t.as_bits()?;
            match signed {
                true => bits.to_i128(),
                false => bits.to_u64().map(i128::from),
            }
        };
        let (x, (low, high)) = match (number(args[0]), number(args[1])) {
            (None, Some(k)) => (args[0], (least, k - strict)),
            (Some(k), None) => (args[1], (k + strict, most)),
            _ => return None,
        };
        let bounds = match (denied, low == least) {
            (false, _) => (low, high),
            (true, true) => (high + 1, most),
            (true, false) => (least, low - 1),
        };
        Some(Interval { x, signed, bounds })
    }

    /// What is in both, where that is neither nothing nor bounded on one side only.
    fn both(&self, other: &Interval) -> Option<Interval> {
        let (p, q) = (self.bounds, other.bounds);
        let bounds = (p.0.max(q.0), p.1.min(q.1));
        let (least, most) = ends(self.x.width(), self.signed);
        let alike = self.x == other.x && self.signed == other.signed;
        let inner = least < bounds.0 && bounds.0 <= bounds.1 && bounds.1 < most;
        (alike && inner).then_some(Interval { bounds, ..*self })
    }
}

/// The one comparison, of two that are joined by `and` or `or`.
pub(crate) fn one_comparison(t: Term) -> Option<Term> {
    let (op, args) = t.as_app().filter(|_| t.sort() == Sort::Bool)?;
    let outside = match op.code {
        OpCode::And => false,
        OpCode::Or => true,
        _ => return None,
    };
    let &[p, q] = args else { return None };
    let interval = Interval::of(p, outside)?.both(&Interval::of(q, outside)?)?;
    let (w, (low, high)) = (interval.x.width(), interval.bounds);
    let above = two(OpCode::BvSub, interval.x, Term::bv(w, low))?;
    let length = Term::bits(Bits::from_u64(w, (high - low) as u64));
    match outside {
        false => raw(Op::new(OpCode::BvUle), &[above, length]),
        true => raw(Op::new(OpCode::BvUlt), &[length, above]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use smt::prover::Prover;

    #[test]
    fn intervals_are_one_comparison_and_the_same() {
        use OpCode as C;
        let prover = Prover::new(Default::default());
        let x = Term::var("x", Sort::Bv(8));
        let less = |code: C, a: Term, b: Term| raw(Op::new(code), &[a, b]).expect("a comparison");
        for (strict, loose) in [(C::BvUlt, C::BvUle), (C::BvSlt, C::BvSle)] {
            for (low, high) in [(3, 9), (1, 126), (7, 7), (100, 120)] {
                let [k, n] = [low, high].map(|k| Term::bv(8, k));
                let not = |t: Term| raw(Op::new(C::Not), &[t]).expect("a truth value");
                for inside in [
                    [less(loose, k, x), less(loose, x, n)],
                    [not(less(strict, x, k)), not(less(strict, n, x))],
                ] {
                    let outside = inside.map(not);
                    for t in [raw(Op::new(C::And), &inside), raw(Op::new(C::Or), &outside)] {
                        let t = t.expect("a truth value");
                        let one = one_comparison(t).expect("an interval");
                        assert!(prover.prove_equal(t, one).is_proved(), "{t}: {one}");
                    }
                }
            }
            // Nothing, and what is bounded on one side.
            let [k, n] = [9, 3].map(|k| Term::bv(8, k));
            assert_eq!(
                raw(Op::new(C::And), &[less(loose, k, x), less(loose, x, n)])
                    .and_then(one_comparison),
                None
            );
        }
    }
}
