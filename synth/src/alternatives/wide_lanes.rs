//! Wide values of a lane by what is computed in lanes of half the width.
//!
//! In: a value of a lane. Out: its lower and its upper half, where both are shorter to compute than it
//! is; sums of products of extended elements as sums of products of both halves of pairs of elements,
//! which instructions that multiply and add neighbours compute. Who uses one proves it.

use super::fewer_bits::Element;
use super::products::{products_of_halves, scaled};
use crate::legal::{raw, resize, two};
use semantics::bits::Bits;
use semantics::op::{Op, OpCode};
use semantics::range::range;
use semantics::term::Term;

/// The most products of a sum that are put together.
const MOST: usize = 16;

/// The lower and the upper half of a value, each way to compute them.
pub(crate) fn halves_of_wide(t: Term) -> Vec<[Term; 2]> {
    let half = t.width() / 2;
    let Some((op, args)) = t.as_app() else {
        return Vec::new();
    };
    let both = [false, true].map(|signed| Element { bits: half, signed });
    let found = match op.code {
        OpCode::Concat if args.len() == 2 && args.iter().all(|x| x.width() == half) => {
            return vec![[args[1], args[0]]];
        }
        OpCode::BvMul => both.map(|kind| of_product(kind, args)),
        OpCode::Zext | OpCode::Sext => both.map(|kind| of_element(kind, t)),
        _ => return Vec::new(),
    };
    let mut found: Vec<[Term; 2]> = found.into_iter().flatten().collect();
    found.dedup();
    found
}

/// An element, and what extends it.
fn of_element(kind: Element, t: Term) -> Option<[Term; 2]> {
    let low = kind.of(t)?;
    let sign = || {
        two(
            OpCode::BvAshr,
            low,
            Term::bv(kind.bits, i128::from(kind.bits - 1)),
        )
    };
    let high = match kind.signed {
        true if range(t).0 < 0 => sign()?,
        true => return None,
        false => Term::bits(Bits::zero(kind.bits)),
    };
    Some([low, high])
}

fn of_product(kind: Element, args: &[Term]) -> Option<[Term; 2]> {
    let &[x, y] = args else { return None };
    let factors = [kind.of(x)?, kind.of(y)?];
    let wide = factors.map(|x| resize(x, 2 * kind.bits, kind.signed));
    let product = two(OpCode::BvMul, wide[0]?, wide[1]?)?;
    let shift = if kind.signed {
        OpCode::BvAshr
    } else {
        OpCode::BvLshr
    };
    let upper = two(shift, product, Term::bv(2 * kind.bits, kind.bits.into()))?;
    let low = two(OpCode::BvMul, factors[0], factors[1])?;
    Some([low, resize(upper, kind.bits, false)?])
}

/// A sum of products of extended elements, two products at a time as those of both halves of values.
pub(crate) fn products_in_pairs(t: Term) -> Option<Term> {
    use OpCode as C;
    let width = t.sort().width().filter(|w| matches!(w, 16 | 32 | 64))?;
    let (op, _) = t.as_app()?;
    if !matches!(op.code, C::BvAdd | C::BvSub | C::BvMul) {
        return None;
    }
    let mut sum = Sum {
        kind: Element {
            bits: width / 2,
            signed: true,
        },
        products: Vec::new(),
        rest: Vec::new(),
    };
    sum.add(t, 1)?;
    let mut twos = sum.products.chunks_exact(2);
    let of_two = |pair: &[[Term; 2]]| product_of_pairs([pair[0], pair[1]]);
    let mut total = of_two(twos.next()?)?;
    for pair in twos.by_ref() {
        total = two(OpCode::BvAdd, total, of_two(pair)?)?;
    }
    for &[x, y] in twos.remainder() {
        let product = two(
            OpCode::BvMul,
            resize(x, width, true)?,
            resize(y, width, true)?,
        )?;
        total = two(OpCode::BvAdd, total, product)?;
    }
    sum.rest.iter().try_fold(total, |total, &(part, less)| {
        let code = if less { OpCode::BvSub } else { OpCode::BvAdd };
        two(code, total, part)
    })
}

/// What a sum is made of.
struct Sum {
    kind: Element,
    /// Products of two elements.
    products: Vec<[Term; 2]>,
    /// What else is added, or taken away.
    rest: Vec<(Term, bool)>,
}

impl Sum {
    /// Adds a value so many times.
    fn add(&mut self, t: Term, times: i128) -> Option<()> {
        if self.products.len() + self.rest.len() > MOST {
            return None;
        }
        if let Some((op, args)) = t.as_app() {
            let same = |x: &Term| x.sort() == t.sort();
            match op.code {
                OpCode::BvAdd if args.iter().all(same) => {
                    return args.iter().try_for_each(|x| self.add(*x, times));
                }
                OpCode::BvSub if args.iter().all(same) => {
                    self.add(args[0], times)?;
                    return self.add(args[1], -times);
                }
                OpCode::BvMul | OpCode::BvShl => {
                    if let Some((x, number)) = scaled(t) {
                        let n = times.checked_mul(range(number).0)?;
                        return self.add_scaled(t, x, n, times);
                    }
                    if times == 1
                        && op.code == OpCode::BvMul
                        && let (Some(x), Some(y)) = (self.kind.of(args[0]), self.kind.of(args[1]))
                        && ![x, y].iter().any(|x| self.is_half(*x))
                    {
                        self.products.push([x, y]);
                        return Some(());
                    }
                    return self.add_rest(t, times);
                }
                OpCode::Zext | OpCode::Sext => return self.add_scaled(t, t, times, times),
                _ => {}
            }
        }
        self.add_rest(t, times)
    }

    /// Whether a factor is half of a pair already.
    fn is_half(&self, x: Term) -> bool {
        let of = x.args_of(OpCode::Extract).map(|args| args[0]);
        of.is_some_and(|of| of.sort().width() == Some(2 * self.kind.bits))
    }

    /// Adds `n` times `x`, which is `times` times the whole.
    fn add_scaled(&mut self, whole: Term, x: Term, n: i128, times: i128) -> Option<()> {
        let end = 1i128 << (self.kind.bits - 1);
        let sums = matches!(
            x.as_app().map(|(op, _)| op.code),
            Some(OpCode::BvAdd | OpCode::BvSub)
        );
        match self.kind.of(x).filter(|_| (-end..end).contains(&n)) {
            Some(x) => self.products.push([x, Term::bv(self.kind.bits, n)]),
            None if sums => return self.add(x, n),
            None => return self.add_rest(whole, times),
        }
        Some(())
    }

    fn add_rest(&mut self, t: Term, times: i128) -> Option<()> {
        match times {
            1 | -1 => self.rest.push((t, times < 0)),
            n => {
                let n = Term::bv(t.width(), n);
                let value = match t.as_bits() {
                    Some(bits) => Term::bits(bits.mul(n.as_bits()?)),
                    None => two(OpCode::BvMul, t, n)?,
                };
                self.rest.push((value, false));
            }
        }
        Some(())
    }
}

/// The sum of two products as that of the products of both halves of two pairs.
fn product_of_pairs([[a, b], [c, d]]: [[Term; 2]; 2]) -> Option<Term> {
    let pair = |low: Term, high: Term| match (low.as_bits(), high.as_bits()) {
        (Some(low), Some(high)) => Some(Term::bits(high.concat(low))),
        _ => raw(Op::new(OpCode::Concat), &[high, low]),
    };
    products_of_halves(pair(a, c)?, pair(b, d)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use semantics::sort::Sort;
    use smt::prover::Prover;

    fn element(name: &str, signed: bool) -> Term {
        resize(Term::var(name, Sort::Bv(16)), 32, signed).expect("a term")
    }

    fn times(x: Term, y: Term) -> Term {
        two(OpCode::BvMul, x, y).expect("a product")
    }

    fn is_equal(x: Term, y: Term) -> bool {
        let prover = Prover::new(Default::default());
        prover.prove_equal(x, y).is_proved()
    }

    #[test]
    fn a_product_and_an_extended_element_have_halves() {
        for signed in [false, true] {
            let [x, y] = ["x", "y"].map(|name| element(name, signed));
            for t in [x, times(x, y)] {
                let [low, high] = halves_of_wide(t)[0];
                let both = raw(Op::new(OpCode::Concat), &[high, low]).expect("a pair");
                assert!(is_equal(t, both), "{t}");
            }
        }
        let sum = two(OpCode::BvAdd, element("x", true), element("y", true)).expect("a sum");
        assert!(halves_of_wide(sum).is_empty());
    }

    #[test]
    fn two_products_are_those_of_the_halves_of_pairs() {
        let [a, b, c] = ["a", "b", "c"].map(|name| element(name, true));
        let number = |n| Term::bv(32, n);
        let sum = |x, y| two(OpCode::BvAdd, x, y).expect("a sum");
        let difference = two(OpCode::BvSub, a, b).expect("a difference");
        let all = [
            sum(times(a, b), times(c, c)),
            sum(sum(times(a, number(13)), times(b, number(-51))), number(32)),
            times(difference, number(13)),
            sum(sum(times(a, b), c), times(b, c)),
        ];
        for t in all {
            let other = products_in_pairs(t).expect("there are two products");
            assert!(is_equal(t, other), "{t}: {other}");
            assert_eq!(products_in_pairs(other), None, "{other}");
        }
        assert_eq!(products_in_pairs(sum(times(a, b), number(1))), None);
        // 40,000 is no element with a sign.
        assert_eq!(products_in_pairs(times(difference, number(40_000))), None);
    }
}
