//! Clamps whose result has fewer bits than what is clamped.
//!
//! In: a value that is narrowed, or saturated, after it was held within bounds. Out: the value saturated to
//! the narrow width, then held within the same bounds there: `u8(min(max(x, 0), 192))` is
//! `min(u8_sat(x), 192)`. What machines narrow with saturates, and narrow elements are held within bounds four
//! at a time. Who uses one proves it.

use crate::legal::raw;
use crate::matching::narrowed;
use semantics::op::{Op, OpCode};
use semantics::range::{Range, ends, range, unsigned};
use semantics::term::Term;

/// A value that is narrowed within bounds, which are applied after it was narrowed.
pub(super) fn clamped_after(t: Term) -> Option<Term> {
    use OpCode as C;
    let (op, args) = t.as_app()?;
    let (x, bits) = (args[0], t.sort().width()?);
    let (signs, saturates): (&[bool], bool) = match op.code {
        C::Extract if args[1].as_int() == Some(0) => (&[false, true], false),
        C::SatSS => (&[true], true),
        C::SatSU | C::SatUU => (&[false], true),
        _ => return None,
    };
    let source_signed = match (op.code, x.as_app()?.0.code) {
        (C::Extract, C::Smin | C::Smax) | (C::SatSS | C::SatSU, _) => true,
        (C::Extract, C::Umin | C::Umax) | (C::SatUU, _) => false,
        _ => return None,
    };
    signs
        .iter()
        .filter(|&&signed| source_signed || !signed)
        .find_map(|&signed| {
            let to = Narrow { bits, signed };
            let fits = saturates || to.holds(x, source_signed);
            fits.then(|| to.clamped(x, source_signed)).flatten()
        })
}

/// Elements that a value is narrowed to.
#[derive(Clone, Copy)]
struct Narrow {
    bits: u32,
    signed: bool,
}

impl Narrow {
    fn holds(self, x: Term, source_signed: bool) -> bool {
        let (least, most) = values(x, source_signed);
        let (from, to) = ends(self.bits, self.signed);
        from <= least && most <= to
    }

    /// The value below bounds, saturated, within those of them that cut off more than that.
    fn clamped(self, x: Term, source_signed: bool) -> Option<Term> {
        let (mut below, mut bounds) = (x, Vec::new());
        while let Some((next, code, bound)) = self.bounded(below, source_signed) {
            bounds.push((code, bound));
            below = next;
        }
        if bounds.is_empty() || self.holds(below, source_signed) {
            return None;
        }
        let saturation = match (source_signed, self.signed) {
            (true, true) => OpCode::SatSS,
            (true, false) => OpCode::SatSU,
            (false, _) => OpCode::SatUU,
        };
        let mut out = raw(Op::with(saturation, self.bits), &[below])?;
        for (code, bound) in bounds.into_iter().rev() {
            let (least, most) = ends(self.bits, self.signed);
            let end = match code {
                OpCode::Smin | OpCode::Umin => most,
                _ => least,
            };
            if bound != Term::bv(self.bits, end) {
                out = raw(Op::new(code), &[out, bound])?;
            }
        }
        Some(out)
    }

    /// What is held below or above a bound that is one of these elements: the operator on them.
    fn bounded(self, x: Term, source_signed: bool) -> Option<(Term, OpCode, Term)> {
        use OpCode as C;
        let (op, args) = x.as_app()?;
        let code = match (op.code, source_signed, self.signed) {
            (C::Smin, true, true) => C::Smin,
            (C::Smax, true, true) => C::Smax,
            (C::Smin, true, false) | (C::Umin, false, false) => C::Umin,
            (C::Smax, true, false) | (C::Umax, false, false) => C::Umax,
            _ => return None,
        };
        let extension = match self.signed {
            true => C::Sext,
            false => C::Zext,
        };
        let bound = |bound: Term| {
            let held = self.holds(bound, source_signed);
            held.then(|| narrowed(extension, bound, self.bits))?
        };
        [(args[0], args[1]), (args[1], args[0])]
            .into_iter()
            .find_map(|(of, by)| Some((of, code, bound(by)?)))
    }
}

fn values(x: Term, signed: bool) -> Range {
    match signed {
        true => range(x),
        false => unsigned(x),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::legal::{resize, two};
    use semantics::sort::Sort;
    use smt::prover::Prover;

    #[test]
    fn bounds_of_narrow_elements_are_applied_to_them() {
        use OpCode as C;
        let x = Term::var("x", Sort::Bv(32));
        let bound = |n| Term::bv(32, n);
        let parameter = |code, name| {
            let narrow = Term::var(name, Sort::Bv(8));
            raw(Op::with(code, 32), &[narrow]).expect("a bound")
        };
        let (low, high) = (parameter(C::Sext, "low"), parameter(C::Sext, "high"));
        let clamp = |x, [below, above]: [C; 2], low, high| {
            let held = two(above, x, low).expect("a bound");
            two(below, held, high).expect("a bound")
        };
        let (signed, plain) = ([C::Smin, C::Smax], [C::Umin, C::Umax]);
        let narrow = |code, t| raw(Op::with(code, 8), &[t]).expect("narrower");
        let cut = |t| resize(t, 8, false).expect("low bits");
        let prover = Prover::new(Default::default());
        for t in [
            cut(clamp(x, signed, bound(0), bound(192))),
            cut(clamp(x, signed, bound(-100), bound(100))),
            cut(clamp(x, [C::Smax, C::Smin], bound(90), bound(3))),
            cut(clamp(x, plain, bound(7), bound(200))),
            cut(clamp(x, signed, low, high)),
            cut(two(C::Umin, x, parameter(C::Zext, "most")).expect("a bound")),
            narrow(C::SatSU, two(C::Smin, x, bound(40)).expect("a bound")),
            narrow(C::SatSS, clamp(x, signed, bound(-5), bound(5))),
            narrow(C::SatUU, two(C::Umax, x, bound(40)).expect("a bound")),
        ] {
            let other = clamped_after(t).expect("a clamp of elements");
            assert!(prover.prove_equal(t, other).is_proved(), "{t}: {other}");
            assert_eq!(clamped_after(other), None, "{other}");
        }
    }

    #[test]
    fn bounds_that_elements_do_not_hold_stay() {
        use OpCode as C;
        let x = Term::var("x", Sort::Bv(32));
        let held = |code, n| two(code, x, Term::bv(32, n)).expect("a bound");
        for t in [
            resize(held(C::Smin, 192), 8, false),
            resize(held(C::Umin, 256), 8, false),
            raw(Op::with(C::SatSU, 8), &[held(C::Smin, 300)]),
            raw(Op::with(C::SatUU, 8), &[held(C::Smin, 100)]),
        ] {
            assert_eq!(clamped_after(t.expect("narrower")), None);
        }
    }
}
