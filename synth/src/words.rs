//! Values of more bits than the widest element, as two elements.
//!
//! In: a value of an element's width made of values of up to twice 64 bits. Out: the same value
//! over their low and high words: sums carry, differences borrow, products are made of those of
//! halves, shifts by constants cross from one word to the other. It is what remains when nothing
//! simpler is known (Knuth, TAOCP 4.3.1, with two digits).

use super::integers::{ones, zero};
use crate::legal::{raw, resize};
use crate::masks::mask;
use semantics::bits::Bits;
use semantics::build as b;
use semantics::op::{Op, OpCode};
use semantics::sort::Sort;
use semantics::term::Term;
use std::collections::HashMap;

/// Bits of a word, and of the widest element.
const WORD: u32 = 64;

/// An operator of two words: constants as their value, without zeros that change nothing.
fn two(code: OpCode, x: Term, y: Term) -> Option<Term> {
    use OpCode as C;
    let constant = |t: Term| t.as_bits().is_some();
    match code {
        _ if constant(x) && constant(y) => Some(b::app(Op::new(code), &[x, y])),
        C::BvAdd | C::BvOr | C::BvXor if x == zero(WORD) => Some(y),
        C::BvAdd | C::BvOr | C::BvXor | C::BvSub if y == zero(WORD) => Some(x),
        _ => raw(Op::new(code), &[x, y]),
    }
}

fn not(x: Term) -> Option<Term> {
    two(OpCode::BvXor, x, ones(WORD))
}

fn shifted(code: OpCode, x: Term, by: u32) -> Option<Term> {
    two(code, x, Term::bv(WORD, by.into()))
}

/// All ones where a value is negative, zeros elsewhere.
fn sign(x: Term) -> Option<Term> {
    match x.as_bits() {
        Some(_) => shifted(OpCode::BvAshr, x, WORD - 1),
        None => mask(two(OpCode::BvSlt, x, zero(WORD))?, WORD),
    }
}

/// The low and the high word; bits from the value's own width on are not defined.
type Pair = [Term; 2];

/// A term over words that equals an application to values of more than one.
pub(super) fn by_words(op: Op, args: &[Term], t: Term) -> Option<Term> {
    use OpCode as C;
    if let Some(field) = extended_field(op, args, t) {
        return Some(field);
    }
    let width = args.first()?.sort().width().filter(|w| *w > WORD)?;
    let small = match t.sort() {
        Sort::Bool => true,
        Sort::Bv(w) => w <= WORD,
        _ => false,
    };
    if width > 2 * WORD || !small {
        return None;
    }
    let mut words = Words::default();
    let signed = !matches!(op.code, C::SatUU | C::SatUS | C::BvUlt | C::BvUle);
    let mut whole = |t: Term| words.extended(t, signed);
    match op.code {
        C::Extract => {
            let lo = u32::try_from(args[1].as_int()?).ok()?;
            resize(from_bit(words.of(args[0])?, lo)?, t.width(), false)
        }
        C::SatSS | C::SatSU | C::SatUU => saturated(op, whole(args[0])?),
        C::BvUlt | C::BvSlt => less(op.code, whole(args[0])?, whole(args[1])?),
        C::BvUle | C::BvSle => {
            let strict = if op.code == C::BvUle {
                C::BvUlt
            } else {
                C::BvSlt
            };
            let greater = less(strict, whole(args[1])?, whole(args[0])?)?;
            raw(Op::new(C::Not), &[greater])
        }
        C::Eq => {
            let (x, y) = (whole(args[0])?, whole(args[1])?);
            raw(Op::new(C::And), &[equal(x[0], y[0])?, equal(x[1], y[1])?])
        }
        _ => None,
    }
}

/// A field of a value of two words, extended to an element.
fn extended_field(op: Op, args: &[Term], t: Term) -> Option<Term> {
    let signed = op.code == OpCode::Sext;
    let field = *args.first().filter(|_| signed || op.code == OpCode::Zext)?;
    let [x, lo] = *field.args_of(OpCode::Extract)? else {
        return None;
    };
    let wide = (WORD + 1..=2 * WORD).contains(&x.width()) && t.width() <= WORD;
    let spare = WORD.checked_sub(field.width()).filter(|_| wide)?;
    let word = from_bit(Words::default().of(x)?, u32::try_from(lo.as_int()?).ok()?)?;
    let code = if signed {
        OpCode::BvAshr
    } else {
        OpCode::BvLshr
    };
    let top = moved(OpCode::BvShl, word, spare)?;
    resize(moved(code, top, spare)?, t.width(), signed)
}

#[derive(Default)]
struct Words {
    done: HashMap<Term, Option<Pair>>,
}

impl Words {
    fn of(&mut self, x: Term) -> Option<Pair> {
        if let Some(&done) = self.done.get(&x) {
            return done;
        }
        let made = self.made(x);
        self.done.insert(x, made);
        made
    }

    fn made(&mut self, x: Term) -> Option<Pair> {
        use OpCode as C;
        if let Some(bits) = x.as_bits() {
            return Some(constant(&bits.zext(2 * WORD)));
        }
        let (op, args) = x.as_app()?;
        match op.code {
            C::Zext | C::Sext if args[0].width() <= WORD => {
                let low = resize(args[0], WORD, op.code == C::Sext)?;
                let high = if op.code == C::Sext {
                    sign(low)?
                } else {
                    zero(WORD)
                };
                Some([low, high])
            }
            C::Zext | C::Sext => self.extended(args[0], op.code == C::Sext),
            C::BvAdd => sum(self.of(args[0])?, self.of(args[1])?),
            C::BvSub => difference(self.of(args[0])?, self.of(args[1])?),
            C::BvNeg => difference([zero(WORD); 2], self.of(args[0])?),
            C::BvNot => {
                let [low, high] = self.of(args[0])?;
                Some([not(low)?, not(high)?])
            }
            C::BvAnd | C::BvOr | C::BvXor => {
                let (x, y) = (self.of(args[0])?, self.of(args[1])?);
                Some([two(op.code, x[0], y[0])?, two(op.code, x[1], y[1])?])
            }
            C::BvMul => product(self.of(args[0])?, self.of(args[1])?),
            C::BvShl => up(self.of(args[0])?, count(args[1])?),
            C::BvLshr => down(self.extended(args[0], false)?, count(args[1])?, false),
            C::BvAshr => down(self.extended(args[0], true)?, count(args[1])?, true),
            C::Ite => {
                let (x, y) = (self.of(args[1])?, self.of(args[2])?);
                let choose = |k: usize| raw(op, &[args[0], x[k], y[k]]);
                Some([choose(0)?, choose(1)?])
            }
            _ => None,
        }
    }

    /// A value with the bits above its own width zeros, or its sign.
    fn extended(&mut self, x: Term, signed: bool) -> Option<Pair> {
        if let Some(bits) = x.as_bits().filter(|_| signed) {
            return Some(constant(&bits.sext(2 * WORD)));
        }
        let [low, high] = self.of(x)?;
        let spare = (2 * WORD).checked_sub(x.width())?;
        if spare == 0 || x.as_bits().is_some() {
            return Some([low, high]);
        }
        let code = if signed {
            OpCode::BvAshr
        } else {
            OpCode::BvLshr
        };
        let top = shifted(OpCode::BvShl, high, spare)?;
        Some([low, shifted(code, top, spare)?])
    }
}

fn count(by: Term) -> Option<u32> {
    u32::try_from(by.as_bits()?.to_u64()?).ok()
}

fn constant(all: &Bits) -> Pair {
    let high = all.lshr(&Bits::from_u64(2 * WORD, WORD.into()));
    [all, &high].map(|word| Term::bits(word.trunc(WORD)))
}

fn equal(x: Term, y: Term) -> Option<Term> {
    two(OpCode::Eq, x, y)
}

/// Whether one value is less than another, both with defined upper bits.
fn less(code: OpCode, x: Pair, y: Pair) -> Option<Term> {
    let low = two(OpCode::BvUlt, x[0], y[0])?;
    let tie = raw(Op::new(OpCode::And), &[equal(x[1], y[1])?, low])?;
    raw(Op::new(OpCode::Or), &[two(code, x[1], y[1])?, tie])
}

/// Zeros, or all ones where one word is less than another: less one, what is carried.
fn wraps(x: Term, y: Term) -> Option<Term> {
    let below = two(OpCode::BvUlt, x, y)?;
    raw(Op::new(OpCode::Ite), &[below, ones(WORD), zero(WORD)])
}

fn sum(x: Pair, y: Pair) -> Option<Pair> {
    let low = two(OpCode::BvAdd, x[0], y[0])?;
    let high = two(OpCode::BvAdd, x[1], y[1])?;
    Some([low, two(OpCode::BvSub, high, wraps(low, y[0])?)?])
}

fn difference(x: Pair, y: Pair) -> Option<Pair> {
    let low = two(OpCode::BvSub, x[0], y[0])?;
    let high = two(OpCode::BvSub, x[1], y[1])?;
    Some([low, two(OpCode::BvAdd, high, wraps(x[0], y[0])?)?])
}

/// The low words' whole product, and the low halves of the crossed ones above it.
fn product(x: Pair, y: Pair) -> Option<Pair> {
    let add = |x: Term, y: Term| two(OpCode::BvAdd, x, y);
    let low = two(OpCode::BvMul, x[0], y[0])?;
    let mut high = upper(x[0], y[0])?;
    for (x, y) in [(x[0], y[1]), (x[1], y[0])] {
        if y != zero(WORD) && x != zero(WORD) {
            high = add(high, two(OpCode::BvMul, x, y)?)?;
        }
    }
    Some([low, high])
}

/// The upper word of the product of two words, by the products of their halves.
fn upper(x: Term, y: Term) -> Option<Term> {
    let half = WORD / 2;
    let add = |x: Term, y: Term| two(OpCode::BvAdd, x, y);
    let low = |t: Term| resize(resize(t, half, false)?, WORD, false);
    let high = |t: Term| shifted(OpCode::BvLshr, t, half);
    let (x, y) = ([low(x)?, high(x)?], [low(y)?, high(y)?]);
    let of = |a: usize, b: usize| two(OpCode::BvMul, x[a], y[b]);
    let crossed = [of(0, 1)?, of(1, 0)?];
    let carried = add(add(high(of(0, 0)?)?, low(crossed[0])?)?, low(crossed[1])?)?;
    let above = add(add(of(1, 1)?, high(crossed[0])?)?, high(crossed[1])?)?;
    add(above, high(carried)?)
}

fn up([low, high]: Pair, by: u32) -> Option<Pair> {
    Some(match by {
        0 => [low, high],
        _ if by >= 2 * WORD => [zero(WORD); 2],
        _ if by >= WORD => [zero(WORD), moved(OpCode::BvShl, low, by - WORD)?],
        _ => {
            let crossing = shifted(OpCode::BvLshr, low, WORD - by)?;
            let high = shifted(OpCode::BvShl, high, by)?;
            [
                shifted(OpCode::BvShl, low, by)?,
                two(OpCode::BvOr, high, crossing)?,
            ]
        }
    })
}

/// Shifted down; the upper bits are defined.
fn down([low, high]: Pair, by: u32, signed: bool) -> Option<Pair> {
    let (code, fill) = match signed {
        true => (OpCode::BvAshr, sign(high)?),
        false => (OpCode::BvLshr, zero(WORD)),
    };
    Some(match by {
        0 => [low, high],
        _ if by >= 2 * WORD => [fill; 2],
        _ if by >= WORD => [moved(code, high, by - WORD)?, fill],
        _ => [from_bit([low, high], by)?, shifted(code, high, by)?],
    })
}

fn moved(code: OpCode, x: Term, by: u32) -> Option<Term> {
    match by {
        0 => Some(x),
        _ => shifted(code, x, by),
    }
}

/// The word that begins at a bit.
fn from_bit([low, high]: Pair, lo: u32) -> Option<Term> {
    if lo >= WORD {
        return moved(OpCode::BvLshr, high, lo - WORD);
    }
    if lo == 0 {
        return Some(low);
    }
    let crossing = shifted(OpCode::BvShl, high, WORD - lo)?;
    two(OpCode::BvOr, shifted(OpCode::BvLshr, low, lo)?, crossing)
}

/// A value with defined upper bits, clamped to a word and then to fewer bits.
fn saturated(op: Op, [low, high]: Pair) -> Option<Term> {
    use OpCode as C;
    let choose = |c: Term, x: Term, y: Term| raw(Op::new(C::Ite), &[c, x, y]);
    let fits = |high: Term| equal(high, zero(WORD));
    let word = match op.code {
        C::SatUU => choose(fits(high)?, low, ones(WORD))?,
        C::SatSU => {
            let bound = not(sign(high)?)?;
            choose(fits(high)?, low, bound)?
        }
        _ => {
            let most = Term::bits(Bits::ones(WORD - 1).zext(WORD));
            let bound = two(C::BvXor, sign(high)?, most)?;
            choose(equal(high, sign(low)?)?, low, bound)?
        }
    };
    match (op.params[0], op.code) {
        (WORD, _) => Some(word),
        (_, C::SatSS) => raw(op, &[word]),
        (w, _) => raw(Op::with(C::SatUU, w), &[word]),
    }
}

#[cfg(test)]
mod tests {
    use super::super::integers::number;
    use super::*;
    use smt::prover::Prover;
    use smt::verdict::Verdict;

    fn word(name: &str) -> Term {
        Term::var(name, Sort::Bv(WORD))
    }

    fn wide(name: &str, code: OpCode) -> Term {
        b::app(Op::with(code, 2 * WORD), &[word(name)])
    }

    /// A term and the same over words, proved equal.
    fn proved(t: Term) {
        let (op, args) = t.as_app().expect("an application");
        let words = by_words(op, args, t).expect("over words");
        let verdict = Prover::new(smt::config::Config::default()).prove_equal(words, t);
        assert!(matches!(verdict, Verdict::Proved(_)), "{t}: {verdict:?}");
    }

    #[test]
    fn sums_and_differences_of_all_kinds_are_right() {
        for code in [OpCode::Zext, OpCode::Sext] {
            let (x, y) = (wide("x", code), wide("y", code));
            for inner in [OpCode::BvAdd, OpCode::BvSub] {
                let whole = two(inner, x, y).expect("of one width");
                proved(
                    raw(Op::with(OpCode::Extract, 64), &[whole, Term::int(3)]).expect("a field"),
                );
                for clamp in [OpCode::SatSS, OpCode::SatSU, OpCode::SatUU] {
                    for w in [16, 64] {
                        proved(raw(Op::with(clamp, w), &[whole]).expect("a clamp"));
                    }
                }
            }
        }
    }

    #[test]
    fn comparisons_and_shifts_are_right() {
        let (x, y) = (wide("x", OpCode::Sext), wide("y", OpCode::Zext));
        let sum = two(OpCode::BvAdd, x, y).expect("of one width");
        for code in [
            OpCode::BvUlt,
            OpCode::BvSlt,
            OpCode::BvUle,
            OpCode::BvSle,
            OpCode::Eq,
        ] {
            proved(two(code, sum, y).expect("a comparison"));
        }
        for code in [OpCode::BvShl, OpCode::BvLshr, OpCode::BvAshr] {
            for by in [1, 63, 64, 65, 127] {
                let moved = two(code, sum, number(2 * WORD, by)).expect("a shift");
                proved(
                    raw(Op::with(OpCode::Extract, 64), &[moved, Term::int(1)]).expect("a field"),
                );
            }
        }
    }

    #[test]
    fn products_agree_on_samples() {
        for code in [OpCode::Zext, OpCode::Sext] {
            let whole = two(OpCode::BvMul, wide("x", code), wide("y", code)).expect("a product");
            let t = raw(Op::with(OpCode::Extract, 64), &[whole, Term::int(40)]).expect("a field");
            let (op, args) = t.as_app().expect("an application");
            let words = by_words(op, args, t).expect("over words");
            let verdict = Prover::new(smt::config::Config {
                conflicts: 10,
                ..Default::default()
            })
            .prove_equal(words, t);
            assert!(!verdict.is_refuted(), "{verdict:?}");
        }
    }
}
