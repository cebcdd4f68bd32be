//! Identities of sums of products that pay only together with what stands around them.
//!
//! In: a term. Out: equal terms: a product of small values as the sum of the products of both
//! halves, which machines that multiply and add pairs compute, the sum around it with it; products
//! by one factor as the product of a sum.

use super::raw;
use crate::legal::two;
use crate::matching::summands;
use semantics::build;
use semantics::op::{Op, OpCode};
use semantics::range::range;
use semantics::term::Term;

/// The most factors of a sum that are compared: further ones have other partners.
const SUMMANDS: usize = 12;

/// Equal terms.
pub(crate) fn identities(t: Term) -> Vec<Term> {
    [product_of_pairs(t), factored(t)]
        .into_iter()
        .flatten()
        .filter(|&other| other != t)
        .collect()
}

/// A product of values that fit in the low halves, one of them without sign: that of the low halves
/// and that of the high ones, of which one is 0.
fn product_of_pairs(t: Term) -> Option<Term> {
    let &[x, y] = t.args_of(OpCode::BvMul)? else {
        return None;
    };
    let w = t.width();
    if !matches!(w, 16 | 32 | 64) {
        return None;
    }
    let half = w / 2;
    let end = 1i128 << (half - 1);
    let small = |x: Term| range(x).0 >= -end && range(x).1 < end;
    let either = range(x).0 >= 0 || range(y).0 >= 0;
    if !small(x) || !small(y) || !either {
        return None;
    }
    products_of_halves(x, y)
}

/// The sum of the products of the lower halves and of the upper ones, with their signs.
pub(super) fn products_of_halves(x: Term, y: Term) -> Option<Term> {
    let (w, half) = (x.width(), x.width() / 2);
    let part = |x: Term, lo: u32| {
        let part = raw(Op::with(OpCode::Extract, half), &[x, Term::int(lo.into())])?;
        raw(Op::with(OpCode::Sext, w), &[part])
    };
    let product = |lo: u32| two(OpCode::BvMul, part(x, lo)?, part(y, lo)?);
    two(OpCode::BvAdd, product(0)?, product(half)?)
}

/// A sum or difference with two products by one factor: the product of the sum of the others.
fn factored(t: Term) -> Option<Term> {
    let subtracted = |part: Term| match part.args_of(OpCode::BvNeg) {
        Some(&[x]) => (true, x),
        _ => (false, part),
    };
    let parts: Vec<(bool, Term)> = summands(t).into_iter().map(subtracted).collect();
    if !(2..=SUMMANDS).contains(&parts.len()) {
        return None;
    }
    for (k, &(_, first)) in parts.iter().enumerate() {
        let Some((_, factor)) = scaled(first) else {
            continue;
        };
        // Which parts have this factor, and the others of them.
        let (mut like, mut rest) = (Vec::new(), parts[..k].to_vec());
        for &(minus, part) in &parts[k..] {
            match scaled(part) {
                Some((x, f)) if f == factor => like.push((minus, x)),
                Some((x, f)) if f == build::neg(factor) => like.push((!minus, x)),
                _ => rest.push((minus, part)),
            }
        }
        if like.len() < 2 {
            continue;
        }
        let (minus, sum) = summed(&like)?;
        rest.push((minus, two(OpCode::BvMul, sum, factor)?));
        return match summed(&rest)? {
            (false, sum) => Some(sum),
            (true, sum) => raw(Op::new(OpCode::BvNeg), &[sum]),
        };
    }
    None
}

/// The sum of what is added less what is subtracted; where all is subtracted, what that sum is.
fn summed(parts: &[(bool, Term)]) -> Option<(bool, Term)> {
    let first = parts.iter().position(|(minus, _)| !minus);
    let (all_minus, start) = (first.is_none(), first.unwrap_or(0));
    let mut others = (0..parts.len()).filter(|k| *k != start);
    let sum = others.try_fold(parts[start].1, |sum, k| match parts[k] {
        (minus, x) if minus == all_minus => two(OpCode::BvAdd, sum, x),
        (_, x) => two(OpCode::BvSub, sum, x),
    })?;
    Some((all_minus, sum))
}

/// A value and the constant that it is multiplied by.
pub(super) fn scaled(t: Term) -> Option<(Term, Term)> {
    match (t.args_of(OpCode::BvMul), t.args_of(OpCode::BvShl)) {
        (Some(&[x, y]), _) if y.as_bits().is_some() => Some((x, y)),
        (Some(&[x, y]), _) if x.as_bits().is_some() => Some((y, x)),
        (_, Some(&[x, by])) => {
            let by = u32::try_from(by.as_bits()?.to_u64()?).ok()?;
            (by < t.width().min(64)).then(|| (x, Term::bv(t.width(), 1 << by)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::legal::resize;
    use semantics::sort::Sort;
    use smt::prover::Prover;

    fn element(name: &str, signed: bool) -> Term {
        resize(Term::var(name, Sort::Bv(8)), 32, signed).expect("a term")
    }

    fn times(x: Term, n: i128) -> Term {
        two(OpCode::BvMul, x, Term::bv(32, n)).expect("a term")
    }

    fn is_equal(x: Term, y: Term) -> bool {
        Prover::new(Default::default())
            .prove_equal(x, y)
            .is_proved()
    }

    #[test]
    fn a_small_product_is_one_of_pairs() {
        let t = times(element("x", true), 77);
        let other = product_of_pairs(t).expect("it is small");
        assert!(is_equal(other, t));
        // Both may be less than 0: the high halves count.
        assert!(product_of_pairs(times(element("x", true), -77)).is_none());
        assert!(product_of_pairs(times(element("x", false), 1 << 15)).is_none());
    }

    #[test]
    fn chains_of_sums_of_sums_are_no_trees() {
        let [mut x, mut y] = ["x", "y"].map(|name| element(name, false));
        for k in 0..60 {
            let code = [OpCode::BvAdd, OpCode::BvSub][k % 2];
            (x, y) = (y, two(code, y, x).expect("a term"));
        }
        assert!(factored(y).is_none());
    }

    #[test]
    fn a_common_factor_is_taken_out() {
        let [x, y, z] = ["x", "y", "z"].map(|name| element(name, false));
        let sum = two(OpCode::BvAdd, times(x, 5), z).expect("a term");
        let sum = two(OpCode::BvAdd, sum, times(y, 5)).expect("a term");
        let other = factored(sum).expect("5 is common");
        assert_eq!(
            other,
            two(
                OpCode::BvAdd,
                z,
                times(two(OpCode::BvAdd, x, y).unwrap(), 5)
            )
            .unwrap()
        );
        assert!(is_equal(other, sum));
        for (a, b) in [(5, 5), (5, -5), (-5, 5)] {
            let difference = two(OpCode::BvSub, times(x, a), times(y, b)).expect("a term");
            for whole in [
                difference,
                two(OpCode::BvSub, z, difference).expect("a term"),
            ] {
                let other = factored(whole).expect("5 is common");
                assert_ne!(other, whole);
                assert!(is_equal(other, whole), "{other}");
            }
        }
        let apart = two(OpCode::BvAdd, times(x, 5), times(y, 6)).expect("a term");
        assert!(factored(apart).is_none());
    }
}
