//! Products that are shifted down, in elements of their factors' width.
//!
//! In: the low element of a product of two elements that is shifted down, rounded or not, as fixed
//! point is written. Out: the same made of the upper and the lower half of the product, each of which is
//! an element: the upper half alone where a factor has room to be shifted up before, else both halves
//! shifted towards each other. Where the rest is rounded, what the lower half adds to it is its last bit
//! that goes. What clamps is looked at elsewhere. Who uses one proves it.

use super::fewer_bits::Element;
use crate::legal::{constant_last, resize, rounded_up, two};
use semantics::bits::Bits;
use semantics::op::OpCode;
use semantics::range::range;
use semantics::term::Term;

/// The low element of `(x * y) >> by` or, rounded, of `(x * y + 2^(by-1)) >> by`.
struct Shifted {
    factors: [Term; 2],
    signed: bool,
    by: u32,
    rounded: bool,
    bits: u32,
}

/// Equal terms, each with the product in it that one operation has to compute to be of use.
pub fn by_upper_half(t: Term) -> Vec<(Term, Term)> {
    let both = [false, true].map(|signed| Shifted::of(t, signed));
    // Of factors without sign either reading holds; where both do the shorter one is the same.
    let all = both.into_iter().flatten().flat_map(|shifted| {
        // The first factor with room does, a constant before others: its shift is no operation.
        let first = usize::from(shifted.factors[1].as_bits().is_some());
        let others = |k| {
            let ways = shifted.raised(k).into_iter();
            ways.filter(|(other, _)| *other != t).collect::<Vec<_>>()
        };
        let mut ways = [first, 1 - first].into_iter().map(others);
        match ways.find(|ways| !ways.is_empty()) {
            Some(ways) => ways,
            None => Vec::from_iter(shifted.apart()),
        }
    });
    all.filter(|(other, _)| *other != t).collect()
}

impl Shifted {
    fn of(t: Term, signed: bool) -> Option<Shifted> {
        let bits = t.sort().width().filter(|w| matches!(w, 16 | 32))?;
        let (sum, by) = taken(t, bits, signed)?;
        let (product, rounded) = match sum.args_of(OpCode::BvAdd) {
            Some(&[x, y]) => {
                let (product, half) = constant_last([x, y]);
                let one = Bits::from_u64(sum.width(), 1).shl_u32(by - 1);
                (product, (half == Term::bits(one)).then_some(true)?)
            }
            _ => (sum, false),
        };
        let &[x, y] = product.args_of(OpCode::BvMul)? else {
            return None;
        };
        let shifted = |factors| Shifted {
            factors,
            signed,
            by,
            rounded,
            bits,
        };
        if product.width() == bits {
            return Some(shifted([x, y])).filter(Shifted::is_whole);
        }
        let element = |side| Element { bits, signed }.of(side);
        Some(shifted([element(x)?, element(y)?]))
    }

    /// The least and the greatest value of an element.
    fn range(&self, x: Term) -> Option<(i128, i128)> {
        Some(range(match x.as_bits() {
            Some(bits) if self.signed => Term::bits(bits.sext(2 * self.bits)),
            Some(bits) => Term::bits(bits.zext(2 * self.bits)),
            None => resize(x, 2 * self.bits, self.signed)?,
        }))
    }

    /// Whether an element holds the whole product of the factors, with what rounds it.
    fn is_whole(&self) -> bool {
        let [Some(x), Some(y)] = self.factors.map(|x| self.range(x)) else {
            return false;
        };
        let ends = [x.0, x.1].map(|x| [x * y.0, x * y.1]);
        let half = if self.rounded { 1 << (self.by - 1) } else { 0 };
        let end = 1 << (self.bits - u32::from(self.signed));
        let least = if self.signed { -end } else { 0 };
        ends.as_flattened()
            .iter()
            .all(|n| (least..end - half).contains(n))
    }

    fn shift(&self) -> OpCode {
        match self.signed {
            true => OpCode::BvAshr,
            false => OpCode::BvLshr,
        }
    }

    fn wide_product(&self, [x, y]: [Term; 2]) -> Option<Term> {
        let wide = |x| resize(x, 2 * self.bits, self.signed);
        two(OpCode::BvMul, wide(x)?, wide(y)?)
    }

    /// The upper half of a product of elements.
    fn upper(&self, factors: [Term; 2]) -> Option<Term> {
        let by = Term::bv(2 * self.bits, self.bits.into());
        resize(
            two(self.shift(), self.wide_product(factors)?, by)?,
            self.bits,
            false,
        )
    }

    fn moved(&self, code: OpCode, x: Term, by: u32) -> Option<Term> {
        match by {
            0 => Some(x),
            _ => two(code, x, Term::bv(self.bits, by.into())),
        }
    }

    /// The last bit of the lower half of a product of elements: what its upper half is rounded by.
    fn rounding(&self, [x, y]: [Term; 2]) -> Option<Term> {
        self.moved(OpCode::BvLshr, two(OpCode::BvMul, x, y)?, self.bits - 1)
    }

    /// By the upper half of the product with this factor shifted up, and rounded by half an element less
    /// one bit, as machines of fixed point do; with that product.
    fn raised(&self, factor: usize) -> Vec<(Term, Term)> {
        let (x, y) = (self.factors[factor], self.factors[1 - factor]);
        let up = |to: u32| {
            let by = to.checked_sub(self.by)?;
            let factors = [self.scaled(x, by)?, y];
            Some(if factor == 0 {
                factors
            } else {
                [y, factors[0]]
            })
        };
        let whole = || {
            let factors = up(self.bits)?;
            let upper = self.upper(factors)?;
            let whole = match self.rounded {
                true => two(OpCode::BvAdd, upper, self.rounding(factors)?)?,
                false => upper,
            };
            Some((whole, upper))
        };
        let rounded = || {
            let by = self.bits - 1;
            let product = self.wide_product(up(by).filter(|_| self.signed && self.rounded)?)?;
            let number = |n: i128| Term::bv(2 * self.bits, n);
            let sum = two(OpCode::BvAdd, product, number(1 << (by - 1)))?;
            let product = resize(two(self.shift(), sum, number(by.into()))?, self.bits, false)?;
            Some((product, product))
        };
        [rounded(), whole()].into_iter().flatten().collect()
    }

    /// A factor shifted up, where no bit of it is lost.
    fn scaled(&self, x: Term, by: u32) -> Option<Term> {
        let end = 1i128 << (self.bits - u32::from(self.signed)).checked_sub(by)?;
        let (least, most) = self.range(x)?;
        let fits = most < end && least >= if self.signed { -end } else { 0 };
        let x = fits.then_some(x)?;
        match x.as_bits() {
            Some(bits) => Some(Term::bits(bits.shl_u32(by))),
            None => self.moved(OpCode::BvShl, x, by),
        }
    }

    /// By both halves; with the upper one.
    fn apart(&self) -> Option<(Term, Term)> {
        let (by, bits) = (self.by, self.bits);
        let upper = self.upper(self.factors)?;
        if by > bits {
            let further = match self.rounded {
                true => rounded_up(self.shift(), upper, by - bits)?,
                false => self.moved(self.shift(), upper, by - bits)?,
            };
            return Some((further, upper));
        }
        let low = two(OpCode::BvMul, self.factors[0], self.factors[1])?;
        let rest = match self.rounded {
            true if by == bits => self.rounding(self.factors)?,
            true if by > 1 => rounded_up(OpCode::BvLshr, low, by)?,
            true => return None,
            false if by == bits => return Some((upper, upper)),
            false => self.moved(OpCode::BvLshr, low, by)?,
        };
        let upper_bits = self.moved(OpCode::BvShl, upper, bits - by)?;
        Some((two(OpCode::BvAdd, upper_bits, rest)?, upper))
    }
}

/// What an element is taken of that is at most twice as wide, or the element itself that is shifted, and
/// from which bit on.
fn taken(t: Term, bits: u32, signed: bool) -> Option<(Term, u32)> {
    use OpCode as C;
    let number = |t: Term| u32::try_from(t.as_int()?).ok();
    let (op, args) = t.as_app()?;
    let shifted = |t: Term| {
        let (shift, inner) = t.as_app()?;
        let by = u32::try_from(inner.get(1)?.as_bits()?.to_u64()?).ok()?;
        let fits = match shift.code {
            C::BvAshr => signed,
            // Of what is filled in above nothing is taken, or it is what the product has there.
            C::BvLshr => !signed || t.width() > bits && by <= bits,
            _ => false,
        };
        (fits && (1..t.width()).contains(&by)).then_some((inner[0], by))
    };
    match op.code {
        C::BvAshr | C::BvLshr => shifted(t),
        C::Extract => match number(args[1])? {
            0 => shifted(args[0]).filter(|(x, _)| x.width() == 2 * bits),
            // Fewer bits than twice an element's are those of the product all the same.
            lo => (args[0].width() <= 2 * bits).then_some((args[0], lo)),
        },
        C::Sext | C::Zext if signed == (op.code == C::Sext) => {
            let &[x, lo] = args[0].args_of(C::Extract)? else {
                return None;
            };
            let lo = number(lo).filter(|lo| lo + args[0].width() == x.width())?;
            (x.width() == 2 * bits && lo > 0).then_some((x, lo))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::legal::raw;
    use semantics::op::Op;
    use semantics::sort::Sort;
    use smt::prover::Prover;

    /// The low 16 bits of a product that is shifted down, over factors of 32 bits.
    fn shifted(factors: [Term; 2], code: OpCode, by: u32, rounded: bool) -> Term {
        let product = two(OpCode::BvMul, factors[0], factors[1]).expect("a product");
        let number = |n: u32| Term::bv(32, n.into());
        let sum = match rounded {
            true => two(OpCode::BvAdd, product, number(1 << (by - 1))).expect("a sum"),
            false => product,
        };
        let down = two(code, sum, number(by)).expect("a shift");
        resize(down, 16, false).expect("an element")
    }

    fn element(name: &str, width: u32, signed: bool) -> Term {
        resize(Term::var(name, Sort::Bv(width)), 32, signed).expect("a term")
    }

    /// How many other ways there are, each of which is proved, or equal on every input.
    fn all_equal(t: Term) -> usize {
        let others = by_upper_half(t);
        let prover = Prover::new(Default::default());
        for &(other, _) in &others {
            let same = prover.prove_equal(t, other).is_proved()
                || crate::exhaust::decide(t, other) == Some(true);
            assert!(same, "{t}: {other}");
        }
        others.len()
    }

    #[test]
    fn a_product_of_elements_is_shifted_by_both_halves() {
        let kinds = [(true, OpCode::BvAshr), (false, OpCode::BvLshr)];
        for (signed, code) in kinds {
            let factors = ["x", "y"].map(|name| element(name, 16, signed));
            for (by, rounded) in [
                (1, false),
                (7, false),
                (7, true),
                (13, true),
                (15, true),
                (16, true),
            ] {
                assert!(all_equal(shifted(factors, code, by, rounded)) > 0, "{by}");
            }
        }
        let signed = ["x", "y"].map(|name| element(name, 16, true));
        assert!(all_equal(shifted(signed, OpCode::BvAshr, 19, true)) > 0);
    }

    #[test]
    fn a_factor_with_room_is_shifted_up_before() {
        let x = element("x", 8, true);
        for (by, rounded) in [(8, false), (8, true), (10, true)] {
            let t = shifted([x, element("y", 16, true)], OpCode::BvAshr, by, rounded);
            assert!(all_equal(t) > 0, "{by}");
        }
        let constant = |n| {
            shifted(
                [element("y", 16, false), Term::bv(32, n)],
                OpCode::BvLshr,
                8,
                false,
            )
        };
        assert!(all_equal(constant(77)) > 0);
        // There is no room for nine bits.
        let whole = |t: Term| {
            by_upper_half(t)
                .into_iter()
                .filter(|(t, _)| t.args_of(OpCode::Extract).is_some())
        };
        assert_eq!(whole(constant(256)).count(), 0);
        assert!(all_equal(constant(256)) > 0);
    }

    #[test]
    fn a_product_that_an_element_holds_is_one_of_elements() {
        let extended = |x| raw(Op::with(OpCode::Sext, 16), &[x]).expect("a term");
        let [x, y] = ["x", "y"].map(|name| extended(Term::var(name, Sort::Bv(8))));
        let sum = two(
            OpCode::BvAdd,
            two(OpCode::BvMul, x, y).expect("a product"),
            Term::bv(16, 64),
        );
        let t = two(OpCode::BvAshr, sum.expect("a sum"), Term::bv(16, 7)).expect("a shift");
        assert!(all_equal(t) > 0);
        // Of elements of 16 bits it wraps.
        let [x, y] = ["x", "y"].map(|name| Term::var(name, Sort::Bv(16)));
        let product = two(OpCode::BvMul, x, y).expect("a product");
        let t = two(OpCode::BvAshr, product, Term::bv(16, 7)).expect("a shift");
        assert!(by_upper_half(t).is_empty());
    }
}
