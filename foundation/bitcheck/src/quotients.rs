//! Quotients by constants, by whatever product and shift they are computed.
//!
//! In: words of products by constants, their upper parts and sums. Out: where such a word is the
//! quotient of a number by a constant that is divided by elsewhere in the claim, the circuit of that
//! quotient. That it is one is arithmetic on whole numbers and not search: with `f·d = 2^k + e`,
//! `0 <= e` and `e·m < 2^k`, every `0 <= x <= m` has `⌊f·x / 2^k⌋ = ⌊x / d⌋`, as `f·x / 2^k` is
//! `x / d` and less than `1 / d` more. Quotients that are rounded to zero are put
//! together of those of `x` or `¬x`, whichever is not negative.

use crate::circuit::Lit;
use crate::words::{Word, Words, constant_of, not, wide, without_zeros};
use semantics::op::OpCode;
use semantics::term::Term;
use std::collections::{HashMap, HashSet};

/// Numbers of more bits are not looked at.
const MOST_BITS: usize = 128;

/// `⌊factor · of / 2^by⌋`.
#[derive(Clone, PartialEq, Debug)]
struct Scaled {
    of: Word,
    factor: u128,
    by: u32,
}

/// What words are of products by constants. Numbers are without sign and without zeros above.
#[derive(Default)]
pub(crate) struct Quotients {
    seen: HashSet<Term>,
    /// Odd parts of what is divided by.
    divisors: HashSet<u128>,
    scaled: HashMap<Word, Scaled>,
    /// Numbers that are half of what one number is more than another, which it is.
    halves: HashMap<Word, (Word, Word)>,
    /// Words that are the product of a word and a constant, modulo their width.
    multiples: HashMap<Word, (Word, u128)>,
}

impl Quotients {
    /// Sees by what is divided in a term.
    pub(crate) fn look(&mut self, t: Term) {
        let mut open = vec![t];
        while let Some(t) = open.pop() {
            if !self.seen.insert(t) {
                continue;
            }
            if let Some((_, _, size)) = division(t) {
                self.divisors.insert(odd(size));
            }
            open.extend(t.children());
        }
    }

    /// Remembers what a word is, and what all its upper parts are.
    fn record(&mut self, word: &[Lit], scaled: &Scaled) {
        let number = without_zeros(word);
        if number.len() > MOST_BITS {
            return;
        }
        for lo in 0..number.len() {
            let part = Scaled {
                by: scaled.by + lo as u32,
                ..scaled.clone()
            };
            self.scaled.entry(number[lo..].to_vec()).or_insert(part);
        }
    }

    /// By what a number is divided to be that, if it is at most so much and that is arithmetic.
    fn divisor(&self, scaled: &Scaled, most: u128) -> Option<u128> {
        let power = 1u128.checked_shl(scaled.by)?;
        let d = power.div_ceil(scaled.factor);
        let more = scaled.factor.checked_mul(d)? - power;
        let is_exact = more.checked_mul(most)? < power;
        (d > 1 && is_exact && self.divisors.contains(&odd(d))).then_some(d)
    }
}

fn odd(d: u128) -> u128 {
    d >> d.trailing_zeros()
}

/// The operator of a quotient or remainder by a constant that is no power of two, whether that is
/// negative, and its magnitude.
fn division(t: Term) -> Option<(OpCode, bool, u128)> {
    let (op, args) = t.as_app()?;
    let signed = match op.code {
        OpCode::BvUdiv | OpCode::BvUrem => false,
        OpCode::BvSdiv | OpCode::BvSrem => true,
        _ => return None,
    };
    let d = args.get(1)?.as_bits()?;
    let is_below = signed && d.bit(d.width() - 1);
    let d = u128::from(d.to_u64()?);
    let width = t.width();
    let size = match is_below {
        true => (1u128 << width) - d,
        false => d,
    };
    (size != 0 && !size.is_power_of_two()).then_some((op.code, is_below, size))
}

impl Words {
    /// A word that is known to be a quotient that is asked for is the circuit of that.
    pub(crate) fn as_quotient(&mut self, word: Word) -> Word {
        if self.quotients.divisors.is_empty() {
            return word;
        }
        let Some(scaled) = self.quotients.scaled.get(&without_zeros(&word)).cloned() else {
            return word;
        };
        let divisor = most(&scaled.of).and_then(|most| self.quotients.divisor(&scaled, most));
        match divisor {
            Some(d) => wide(&self.divided(&scaled.of, d).0, word.len(), Lit::FALSE),
            None => word,
        }
    }

    /// Quotient and remainder of a number by a constant, as one divides on paper: what of both is
    /// even is divided before.
    fn divided(&mut self, a: &[Lit], d: u128) -> (Word, Word) {
        let number = without_zeros(a);
        let even = (d.trailing_zeros() as usize).min(number.len());
        let (low, high) = number.split_at(even);
        let by = odd(d);
        let width = high.len().max(128 - by.leading_zeros() as usize);
        let by: Word = (0..width)
            .map(|k| Lit::constant(by >> k & 1 == 1))
            .collect();
        let high = wide(high, width, Lit::FALSE);
        let (quotient, rest) = match even < d.trailing_zeros() as usize {
            true => (Word::new(), high),
            false => self.quotient(&high, &by),
        };
        (quotient, [low, &rest[..]].concat())
    }

    /// A quotient or remainder by a constant; nothing of other terms.
    pub(crate) fn division(&mut self, t: Term, a: &Word) -> Option<Word> {
        let (code, is_below, size) = division(t)?;
        let width = a.len();
        if matches!(code, OpCode::BvUdiv | OpCode::BvUrem) {
            let (quotient, rest) = self.divided(a, size);
            let wanted = if code == OpCode::BvUdiv {
                quotient
            } else {
                rest
            };
            return Some(wide(&wanted, width, Lit::FALSE));
        }
        let sign = *a.last()?;
        let complement = self.flipped(a, sign);
        let (quotient, rest) = self.divided(&complement, size);
        let [quotient, rest] = [quotient, rest].map(|word| wide(&word, width, Lit::FALSE));
        // Of a negative number the magnitude is one more than its complement.
        let last = constant_word(size - 1, width);
        let ends = self.equal(&rest, &last);
        let zero = vec![Lit::FALSE; width];
        Some(match code {
            OpCode::BvSdiv => {
                let up = self.sum(&not(&quotient), &zero, !ends);
                let plain = self.choice(sign, &up, &quotient);
                match is_below {
                    true => self.negative(&plain),
                    false => plain,
                }
            }
            _ => {
                let down = self.choice(ends, &zero, &not(&rest));
                self.choice(sign, &down, &rest)
            }
        })
    }

    /// Sees what a sum, a difference, a shift or a product by a constant is.
    pub(crate) fn see(&mut self, code: OpCode, a: &Word, b: &Word, word: &Word) {
        if self.quotients.divisors.is_empty() || word.len() > MOST_BITS {
            return;
        }
        match code {
            OpCode::BvMul => {
                self.see_product(a, b, word);
                self.see_product(b, a, word);
            }
            OpCode::BvSub => self.see_difference(a, b, word),
            OpCode::BvAdd => {
                self.see_average(a, b, word);
                self.see_average(b, a, word);
            }
            _ => {}
        }
    }

    fn see_product(&mut self, a: &Word, constant: &Word, word: &Word) {
        let Some(factor) = unsigned(constant).filter(|f| *f > 1 && !f.is_power_of_two()) else {
            return;
        };
        let of = without_zeros(a);
        if constant_of(a).is_some() {
            return;
        }
        let multiple = (a.clone(), factor);
        self.quotients.multiples.insert(word.clone(), multiple);
        let whole = most(&of).and_then(|most| most.checked_mul(factor));
        if whole.is_some_and(|whole| word.len() >= MOST_BITS || whole >> word.len() == 0) {
            let scaled = Scaled { of, factor, by: 0 };
            self.quotients.record(word, &scaled);
        }
    }

    /// A number less the upper half of its product.
    fn see_difference(&mut self, a: &Word, b: &Word, word: &Word) {
        let (whole, part) = (without_zeros(a), without_zeros(b));
        let is_less = self.quotients.scaled.get(&part).is_some_and(|s| {
            let power = 1u128.checked_shl(s.by);
            s.of == whole && power.is_some_and(|power| s.factor < power)
        });
        let number = without_zeros(word);
        if is_less && !number.is_empty() {
            let halves = &mut self.quotients.halves;
            halves.insert(number[1..].to_vec(), (whole, part));
        }
    }

    /// Half of a number less the upper half of its product, and that: half of their sum.
    fn see_average(&mut self, half: &Word, part: &Word, word: &Word) {
        let quotients = &self.quotients;
        let part = without_zeros(part);
        let known = quotients.halves.get(&without_zeros(half));
        let Some((_, scaled)) = known
            .filter(|(_, other)| *other == part)
            .zip(quotients.scaled.get(&part))
        else {
            return;
        };
        let power = 1u128.checked_shl(scaled.by);
        let factor = power.and_then(|power| scaled.factor.checked_add(power));
        let Some(factor) = factor else { return };
        let scaled = Scaled {
            of: scaled.of.clone(),
            factor,
            by: scaled.by + 1,
        };
        self.quotients.record(word, &scaled);
    }

    /// What a word is more than the multiple of its quotient, which is rounded down: the remainder.
    pub(crate) fn remainder(&mut self, a: &Word, b: &Word) -> Option<Word> {
        let (of, d) = self.quotients.multiples.get(b).cloned()?;
        if !self.quotients.divisors.contains(&odd(d)) {
            return None;
        }
        let width = a.len();
        let (quotient, rest) = self.divided(a, d);
        if wide(&quotient, width, Lit::FALSE) == of {
            return Some(wide(&rest, width, Lit::FALSE));
        }
        let sign = *a.last()?;
        let complement = self.flipped(a, sign);
        let (quotient, rest) = self.divided(&complement, d);
        let quotient = wide(&quotient, width, Lit::FALSE);
        if self.flipped(&quotient, sign) != of {
            return None;
        }
        let rest = wide(&rest, width, Lit::FALSE);
        let above = self.sum(&constant_word(d - 1, width), &not(&rest), Lit::TRUE);
        Some(self.choice(sign, &above, &rest))
    }
}

/// The greatest number of so many bits.
fn most(number: &[Lit]) -> Option<u128> {
    1u128.checked_shl(number.len() as u32).map(|n| n - 1)
}

/// The number without sign that a word without inputs is.
fn unsigned(word: &[Lit]) -> Option<u128> {
    let number = wide(&without_zeros(word), word.len() + 1, Lit::FALSE);
    let number = without_zeros(&number);
    if number.len() >= MOST_BITS - 1 {
        return None;
    }
    let number = wide(&number, number.len() + 1, Lit::FALSE);
    constant_of(&number).and_then(|n| u128::try_from(n).ok())
}

fn constant_word(number: u128, width: usize) -> Word {
    let bit = |k: usize| number.checked_shr(k as u32).unwrap_or(0) & 1 == 1;
    (0..width).map(|k| Lit::constant(bit(k))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use semantics::build as b;
    use semantics::op::Op;
    use semantics::sort::Sort;

    fn differ(a: Term, b: Term) -> (Words, Lit) {
        let mut words = Words::default();
        let differ = words.differ(a, b, 0, a.width());
        (words, differ.expect("both have bits"))
    }

    /// The upper part of a product with a constant, as wide as the number.
    fn upper(x: Term, factor: u64, by: u32, width: u32) -> Term {
        let product = b::mul(b::zext(x, width), Term::bv(width, factor.into()));
        b::extract(product, by, x.width())
    }

    #[test]
    fn products_are_taken_for_quotients_where_they_are_these_and_nowhere_else() {
        let x = Term::var("x", Sort::Bv(4));
        let (mut same, mut other) = (0, 0);
        for d in [3u64, 5, 6, 7, 10, 12, 15] {
            for (factor, by) in (3..128).flat_map(|f| (1..8).map(move |by| (f, by))) {
                let (words, differ) =
                    differ(b::udiv(x, Term::bv(4, d.into())), upper(x, factor, by, 12));
                let wrong = (0..16).any(|x: u64| x / d != ((x * factor) >> by) & 15);
                assert_eq!(
                    words.circuit.is_ever(differ),
                    Some(wrong),
                    "{factor} {by} / {d}"
                );
                (same, other) = (same + u32::from(!wrong), other + u32::from(wrong));
            }
        }
        assert!(same > 10 && other > 1000, "{same} {other}");
    }

    /// The factor and the shift of a quotient by a constant, the factor perhaps of one bit more.
    fn factor(d: u64, bits: u32) -> (u128, u32) {
        let by = bits + 64 - (d - 1).leading_zeros();
        ((1u128 << by).div_ceil(d.into()), by)
    }

    #[test]
    fn quotients_of_words_need_no_search() {
        let [x, other] = ["x", "y"].map(|name| Term::var(name, Sort::Bv(32)));
        for d in [3u64, 5, 7, 10, 14, 60, 641, 1_000_000_007] {
            let (factor, by) = factor(d, 32);
            let quotient = match u64::try_from(factor).ok().filter(|f| f >> 32 == 0) {
                Some(factor) => upper(x, factor, by, 64),
                None => {
                    let part = upper(x, (factor - (1 << 32)) as u64, 32, 64);
                    let half = b::lshr(b::sub(x, part), Term::bv(32, 1));
                    b::lshr(b::add(half, part), Term::bv(32, i128::from(by) - 33))
                }
            };
            let by = Term::bv(32, d.into());
            assert_eq!(differ(b::udiv(x, by), quotient).1, Lit::FALSE, "{d}");
            let multiple = b::mul(quotient, by);
            let rest = b::sub(x, multiple);
            assert_eq!(differ(rest, b::urem(x, by)).1, Lit::FALSE, "{d}");
            let more = |t| Term::raw_app(Op::new(OpCode::BvAdd), &[t, other]).expect("words");
            let minus = |t| Term::raw_app(Op::new(OpCode::BvSub), &[t, multiple]).expect("words");
            let orders = [more(minus(x)), minus(more(x))];
            let used = orders.map(|t| b::xor(t, quotient));
            let used = used.map(|t| b::xor(t, b::udiv(x, by)));
            assert_eq!(differ(used[0], used[1]).1, Lit::FALSE, "{d}");
        }
    }

    #[test]
    fn what_is_rounded_to_zero_is_right_on_every_byte() {
        let x = Term::var("x", Sort::Bv(8));
        for d in (-128..128).filter(|d| *d != 0) {
            for (code, of) in [(OpCode::BvSdiv, 0), (OpCode::BvSrem, 1)] {
                let by = Term::bv(8, d);
                let is = if code == OpCode::BvSdiv {
                    b::sdiv(x, by)
                } else {
                    b::srem(x, by)
                };
                for n in -128..128i128 {
                    let wanted = [n / d, n % d][of] & 255;
                    let wanted = Term::bv(8, wanted);
                    let mut words = Words::default();
                    let at = b::eq(x, Term::bv(8, n));
                    let wrong = b::ite(at, b::eq(is, wanted), Term::bool(true));
                    let wrong = words.differ(wrong, Term::bool(true), 0, 1);
                    let wrong = wrong.expect("it has bits");
                    assert_eq!(words.circuit.is_ever(wrong), Some(false), "{n} {d}");
                }
            }
        }
    }

    #[test]
    fn remainders_that_are_never_negative_are_what_is_left_of_quotients_rounded_down() {
        let x = Term::var("x", Sort::Bv(8));
        for d in [3, 7, 10, 60, 100] {
            let by = Term::bv(8, d);
            let sign = b::ashr(x, Term::bv(8, 7));
            let down = b::xor(b::udiv(b::xor(x, sign), by), sign);
            let is = b::sub(x, b::mul(down, by));
            let rest = b::srem(x, by);
            let wanted = b::ite(b::slt(rest, Term::bv(8, 0)), b::add(rest, by), rest);
            let (words, differ) = differ(is, wanted);
            assert_eq!(words.circuit.is_ever(differ), Some(false), "{d}");
        }
    }
}
