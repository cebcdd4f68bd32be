//! Products by parts, for machines that multiply elements by halves of elements.
//!
//! In: a term that is a product of two elements, perhaps rounded, shifted to the right by half an element
//! or more. Out: the same of the product with the lower half of one factor, whose own lower bits carry
//! nothing, and of the product with its upper half. Nothing wraps: it is exact. The product that is no
//! longer than its factors is the sum of both. Who uses one proves it.

use crate::fragment::is_much;
use crate::legal::{raw, resize, two};
use semantics::op::{Op, OpCode};
use semantics::range::range;
use semantics::sort::Sort;
use semantics::term::Term;

/// A term with the product by halves of one factor or the other, with the product of the lower half.
pub fn by_halves(t: Term) -> Vec<(Term, Term)> {
    let Some((op, args)) = t.as_app() else {
        return Vec::new();
    };
    let (wide, count) = match op.code {
        OpCode::BvMul => return cut(args, t.width()),
        OpCode::SatSS | OpCode::SatSU => (args[0], 0),
        OpCode::Extract => match args[1].as_int().map(u32::try_from) {
            Some(Ok(lo)) => (args[0], lo),
            _ => return Vec::new(),
        },
        _ => return Vec::new(),
    };
    let w = match wide.sort() {
        Sort::Bv(w @ (32 | 64)) => w,
        _ => return Vec::new(),
    };
    let Some(shifted) = Shifted::of(wide) else {
        return Vec::new();
    };
    let whole = |first: bool| {
        let (upper, low) = shifted.by_halves(w, count, first)?;
        let new = match (op.code, shifted.by) {
            (OpCode::Extract, _) => resize(upper, t.width(), false)?,
            _ => raw(op, &[upper])?,
        };
        Some((new, low))
    };
    [false, true].into_iter().filter_map(whole).collect()
}

/// Whether half of the bits hold a value, with a sign or without: a product by it is one by halves
/// already, which would be written by halves without end.
pub(super) fn is_half(t: Term) -> bool {
    let half = t.width() / 2;
    let (least, most) = range(t);
    least >= -(1i128 << (half - 1)) && most < 1 << half
}

/// A product of two elements that is cut to their width.
fn cut(args: &[Term], w: u32) -> Vec<(Term, Term)> {
    let &[x, y] = args else { return Vec::new() };
    if !matches!(w, 16 | 32) || [x, y].iter().any(|x| x.as_bits().is_some()) {
        return Vec::new();
    }
    let sum = |[x, y]: [Term; 2]| {
        let half = w / 2;
        if is_half(y) {
            return None;
        }
        let part = |lo: u32, signed: bool| {
            let part = raw(Op::with(OpCode::Extract, half), &[y, Term::int(lo.into())])?;
            resize(part, w, signed)
        };
        let low = two(OpCode::BvMul, x, part(0, false)?)?;
        let high = two(OpCode::BvMul, x, part(half, true)?)?;
        let up = two(OpCode::BvShl, high, Term::bv(w, half.into()))?;
        Some((two(OpCode::BvAdd, low, up)?, low))
    };
    [[x, y], [y, x]].into_iter().filter_map(sum).collect()
}

/// A product of two elements that are extended with their signs, with what is added to round it, and by
/// how much it is shifted.
struct Shifted {
    factors: [Term; 2],
    rounding: u64,
    by: u32,
}

impl Shifted {
    fn of(t: Term) -> Option<Shifted> {
        let (sum, by) = match t.args_of(OpCode::BvAshr) {
            Some(&[sum, by]) => (sum, u32::try_from(by.as_bits()?.to_u64()?).ok()?),
            _ => (t, 0),
        };
        let constant = |t: Term| t.as_bits().and_then(|bits| bits.to_u64());
        let (product, rounding) = match sum.args_of(OpCode::BvAdd) {
            Some(&[x, y]) => match (constant(x), constant(y)) {
                (Some(n), None) => (y, n),
                (None, Some(n)) => (x, n),
                _ => return None,
            },
            _ => (sum, 0),
        };
        let &[x, y] = product.args_of(OpCode::BvMul)? else {
            return None;
        };
        let half = t.width() / 2;
        let end = 1i128 << (half - 1);
        let fits = |x: Term| -end <= range(x).0 && range(x).1 < end;
        let element = |x: Term| in_bits(x, half).filter(|_| x.as_bits().is_none() && fits(x));
        let factors = [element(x)?, element(y)?];
        let whole = factors.iter().all(|x| x.width() == half);
        whole.then_some(Shifted {
            factors,
            rounding,
            by,
        })
    }

    /// It shifted further, with the halves of one factor, and the product of the lower one.
    fn by_halves(&self, wide: u32, further: u32, first: bool) -> Option<(Term, Term)> {
        let [x, y] = match first {
            true => [self.factors[1], self.factors[0]],
            false => self.factors,
        };
        let (w, half) = (wide / 2, wide / 4);
        let by = self.by + further;
        // Of what is computed itself the halves are no shorter to say.
        let computed = y.as_app().is_some_and(|(op, _)| op.code == OpCode::BvMul);
        let exact = by >= half && by < wide && self.rounding.is_multiple_of(1 << half);
        if !exact || computed || y.as_bits().is_some() {
            return None;
        }
        let part = |lo: u32, signed: bool| {
            let part = raw(Op::with(OpCode::Extract, half), &[y, Term::int(lo.into())])?;
            resize(part, wide, signed)
        };
        let long = resize(x, wide, true)?;
        let low = two(OpCode::BvMul, long, part(0, false)?)?;
        let low = two(OpCode::BvAshr, low, Term::bv(wide, half.into()))?;
        let low = resize(low, w, false)?;
        let high = two(OpCode::BvMul, long, part(half, true)?)?;
        let mut sum = two(OpCode::BvAdd, high, resize(low, wide, true)?)?;
        if self.rounding != 0 {
            let rest = Term::bv(wide, i128::from(self.rounding >> half));
            sum = two(OpCode::BvAdd, sum, rest)?;
        }
        let upper = match by - half {
            0 => sum,
            by => two(OpCode::BvAshr, sum, Term::bv(wide, by.into()))?,
        };
        Some((upper, low))
    }
}

/// The low bits of a value that is computed of narrower ones, computed in so many.
fn in_bits(x: Term, w: u32) -> Option<Term> {
    if let Some(bits) = x.as_bits() {
        return Some(Term::bits(bits.trunc(w)));
    }
    let (op, args) = x.as_app().filter(|_| !is_much(x))?;
    match op.code {
        OpCode::Sext | OpCode::Zext if args[0].width() <= w => {
            resize(args[0], w, op.code == OpCode::Sext)
        }
        OpCode::BvAdd | OpCode::BvSub | OpCode::BvMul => {
            let parts: Option<Vec<Term>> = args.iter().map(|&x| in_bits(x, w)).collect();
            raw(op, &parts?)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use smt::prover::Prover;

    fn product(w: u32) -> Term {
        let [x, y] = ["x", "y"].map(|name| resize(Term::var(name, Sort::Bv(w)), 2 * w, true));
        two(OpCode::BvMul, x.unwrap(), y.unwrap()).expect("a term")
    }

    fn shifted(t: Term, by: u32) -> Term {
        two(OpCode::BvAshr, t, Term::bv(t.width(), by.into())).expect("a term")
    }

    fn each_is_equal(t: Term, ways: usize) {
        let found = by_halves(t);
        assert_eq!(found.len(), ways);
        for (other, _) in found {
            let prover = Prover::new(Default::default());
            assert!(prover.prove_equal(other, t).is_proved(), "{other}");
        }
    }

    #[test]
    fn upper_halves_are_made_of_products_by_halves() {
        for w in [16, 32] {
            each_is_equal(resize(shifted(product(w), w), w, false).expect("a term"), 2);
            let rounding = Term::bv(2 * w, 1 << (w - 2));
            let rounded = two(OpCode::BvAdd, product(w), rounding).expect("a term");
            let clamped = raw(Op::with(OpCode::SatSS, w), &[shifted(rounded, w - 1)]);
            each_is_equal(clamped.expect("a term"), 2);
            let [x, y] = ["x", "y"].map(|name| Term::var(name, Sort::Bv(w)));
            each_is_equal(two(OpCode::BvMul, x, y).expect("a term"), 2);
        }
    }

    #[test]
    fn a_factor_may_be_a_product_itself() {
        let [x, y] = ["x", "y"].map(|name| resize(Term::var(name, Sort::Bv(16)), 64, true));
        let inner = two(OpCode::BvMul, x.unwrap(), y.unwrap()).expect("a term");
        let z = resize(Term::var("z", Sort::Bv(32)), 64, true).expect("a term");
        let whole = two(OpCode::BvMul, inner, z).expect("a term");
        each_is_equal(resize(shifted(whole, 32), 32, false).expect("a term"), 1);
    }

    #[test]
    fn what_rounds_below_the_halves_is_left_alone() {
        let rounded = two(OpCode::BvAdd, product(32), Term::bv(64, 1 << 8)).expect("a term");
        let t = resize(shifted(rounded, 20), 32, false).expect("a term");
        assert!(by_halves(t).is_empty());
    }
}
