//! Values of more bits than a word, as two words.
//!
//! In: a term with values of up to twice a word's bits. Out: the same over their low and high words:
//! sums carry, differences borrow, products are made of those of halves, shifts cross from one word to
//! the other (Knuth, TAOCP 4.3.1, with two digits; compilers call it expansion of integers). It is
//! what remains when nothing simpler is known: of one operator, or of whatever a term computes, where a
//! machine has no elements so wide. What is a quotient by no constant, a float or looked up is left alone.

use crate::alternatives::integers::{ones, simpler, zero};
use crate::goal::leaf;
use crate::legal::{self, raw, resize};
use crate::masks::mask;
use semantics::bits::Bits;
use semantics::build as b;
use semantics::op::{Op, OpCode, Smt};
use semantics::range::range;
use semantics::sort::Sort;
use semantics::term::Term;
use smt::quotient::{by_constant, euclidean};
use std::collections::HashMap;

/// Bits of the widest element that registers have anywhere.
const WIDEST: u32 = 64;

/// The low and the high word; bits from the value's own width on are not defined.
type Pair = [Term; 2];

/// A term over words of the widest element that equals an application to values of more than one.
pub(crate) fn by_words(op: Op, args: &[Term], t: Term) -> Option<Term> {
    Words::new(WIDEST, Depth::One).applied(op, args, t)
}

/// A term's words, lowest first, with nothing in them that is wider than a word: one, where it has no
/// more bits, or two. `last` says that no narrower words are made of these: what two words of a product
/// are is then said by the product.
pub(crate) fn in_words(t: Term, word: u32, last: bool) -> Option<Vec<Term>> {
    let mut words = Words::new(word, Depth::All { last });
    match t.width() <= word {
        true => Some(vec![words.narrow(t)?]),
        false if t.width() == 2 * word => Some(words.of(t)?.to_vec()),
        false => None,
    }
}

/// The width of the widest value that a term computes, and of the term.
pub(crate) fn widest(t: Term) -> u32 {
    let (mut seen, mut work, mut most) = (std::collections::HashSet::new(), vec![t], 0);
    while let Some(t) = work.pop() {
        most = most.max(t.sort().width().unwrap_or(0));
        if leaf(t).is_none() {
            let quotient = t.as_app().and_then(|(op, args)| divided(op, args));
            let below = quotient.map_or_else(|| t.children().collect(), |q| vec![q]);
            work.extend(below.into_iter().filter(|c| seen.insert(*c)));
        }
    }
    most
}

/// A quotient or remainder by a constant without a division.
fn divided(op: Op, args: &[Term]) -> Option<Term> {
    euclidean(op, args).or_else(|| by_constant(op, args))
}

/// How far down a term is written over words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// One operator and what is wider below it.
    One,
    /// All of it.
    All { last: bool },
}

struct Words {
    word: u32,
    depth: Depth,
    done: HashMap<Term, Option<Pair>>,
    narrow: HashMap<Term, Option<Term>>,
}

impl Words {
    fn new(word: u32, depth: Depth) -> Words {
        let (done, narrow) = (HashMap::new(), HashMap::new());
        Words {
            word,
            depth,
            done,
            narrow,
        }
    }

    fn zero(&self) -> Term {
        zero(self.word)
    }

    fn number(&self, n: u32) -> Term {
        Term::bv(self.word, n.into())
    }

    /// A piece of an input, of words of it that begin at multiples of words.
    fn input(&self, t: Term) -> Option<Pair> {
        let (whole, lo) = match t.args_of(OpCode::Extract) {
            Some(args) => (args[0], u32::try_from(args[1].as_int()?).ok()?),
            None => (t, 0),
        };
        let by = lo % self.word;
        let end = lo + t.width();
        let word = |k: u32| {
            let from = lo - by + k * self.word;
            let held = whole.width().min(end.next_multiple_of(self.word));
            match held.saturating_sub(from).min(self.word) {
                0 => self.zero(),
                bits => b::zext(b::extract(whole, from, bits), self.word),
            }
        };
        let at = |k: u32| self.word_at([word(k), word(k + 1)], by);
        Some([at(0)?, at(1)?])
    }

    /// A value of no more bits than a word, with nothing wider below it where all is written over words.
    fn narrow(&mut self, t: Term) -> Option<Term> {
        if self.depth == Depth::One {
            return Some(t);
        }
        if let Some((_, lo)) = leaf(t) {
            let within = lo % self.word + t.width() <= self.word;
            return match within && lo.is_multiple_of(8) {
                true => Some(t),
                false => resize(self.input(t)?[0], t.width(), false),
            };
        }
        let Some((op, args)) = t.as_app() else {
            return Some(t);
        };
        if let Some(&done) = self.narrow.get(&t) {
            return done;
        }
        let wide = |x: &Term| x.sort().width().is_some_and(|w| w > self.word);
        let quotient = divided(op, args);
        let made = match args.iter().any(wide) {
            _ if quotient.is_some() => self.narrow(quotient?),
            true => self.applied(op, args, t),
            false => {
                let args: Option<Vec<Term>> = args.iter().map(|&x| self.narrow(x)).collect();
                args.and_then(|args| raw(op, &args))
            }
        };
        self.narrow.insert(t, made);
        made
    }

    /// An application of which an operand is wider than a word, and the result is not.
    fn applied(&mut self, op: Op, args: &[Term], t: Term) -> Option<Term> {
        use OpCode as C;
        if let Some(field) = self.extended_field(op, args, t) {
            return Some(field);
        }
        let width = args.first()?.sort().width().filter(|w| *w > self.word)?;
        let small = match t.sort() {
            Sort::Bool => true,
            Sort::Bv(w) => w <= self.word,
            _ => false,
        };
        if width > 2 * self.word || !small {
            return None;
        }
        let signed = !matches!(op.code, C::SatUU | C::SatUS | C::BvUlt | C::BvUle);
        match op.code {
            C::Extract => {
                let lo = u32::try_from(args[1].as_int()?).ok()?;
                let words = self.of(args[0])?;
                resize(self.word_at(words, lo)?, t.width(), false)
            }
            C::SatSS | C::SatSU | C::SatUU => {
                let words = self.extended(args[0], signed)?;
                self.saturated(op, words)
            }
            C::BvUlt | C::BvSlt | C::BvUle | C::BvSle => {
                let x = self.extended(args[0], signed)?;
                let y = self.extended(args[1], signed)?;
                match op.code {
                    C::BvUle => not_less(C::BvUlt, y, x),
                    C::BvSle => not_less(C::BvSlt, y, x),
                    strict => less(strict, x, y),
                }
            }
            C::Eq => {
                let x = self.extended(args[0], signed)?;
                let y = self.extended(args[1], signed)?;
                two(C::And, equal(x[0], y[0])?, equal(x[1], y[1])?)
            }
            _ => None,
        }
    }

    /// A field of a value of two words, extended to no more than a word.
    fn extended_field(&mut self, op: Op, args: &[Term], t: Term) -> Option<Term> {
        let signed = op.code == OpCode::Sext;
        let field = *args.first().filter(|_| signed || op.code == OpCode::Zext)?;
        let [x, lo] = *field.args_of(OpCode::Extract)? else {
            return None;
        };
        let wide = self.word + 1..=2 * self.word;
        let wide = wide.contains(&x.width()) && t.width() <= self.word;
        let spare = self.word.checked_sub(field.width()).filter(|_| wide)?;
        let words = self.of(x)?;
        let word = self.word_at(words, u32::try_from(lo.as_int()?).ok()?)?;
        let top = moved(OpCode::BvShl, word, spare)?;
        resize(moved(down_by(signed), top, spare)?, t.width(), signed)
    }

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
        if x.width() > 2 * self.word {
            return None;
        }
        if let Some(bits) = x.as_bits() {
            return Some(self.constant(&bits.zext(2 * self.word)));
        }
        if x.width() <= self.word {
            return Some([resize(self.narrow(x)?, self.word, false)?, self.zero()]);
        }
        if leaf(x).is_some() {
            return self.input(x);
        }
        if let Some(words) = self.of_small(x) {
            return Some(words);
        }
        let (op, args) = x.as_app()?;
        if let Some(quotient) = divided(op, args) {
            return self.of(quotient);
        }
        match op.code {
            C::Zext | C::Sext => self.extended(args[0], op.code == C::Sext),
            C::BvAdd => sum(self.of(args[0])?, self.of(args[1])?),
            C::BvSub => difference(self.of(args[0])?, self.of(args[1])?),
            C::BvNeg => difference([self.zero(); 2], self.of(args[0])?),
            C::BvNot => {
                let [low, high] = self.of(args[0])?;
                Some([not(low)?, not(high)?])
            }
            C::BvAnd | C::BvOr | C::BvXor => {
                let (x, y) = (self.of(args[0])?, self.of(args[1])?);
                Some([two(op.code, x[0], y[0])?, two(op.code, x[1], y[1])?])
            }
            C::BvMul => {
                let (x, y) = (self.of(args[0])?, self.of(args[1])?);
                self.product(x, y)
            }
            C::BvShl | C::BvLshr | C::BvAshr => self.shift(op.code, args),
            C::Ite => {
                let (x, y) = (self.of(args[1])?, self.of(args[2])?);
                choice(self.narrow(args[0])?, x, y)
            }
            _ => self.by_definition(op, args, x),
        }
    }

    /// A sum, difference or product that one word holds, computed in it.
    fn of_small(&mut self, x: Term) -> Option<Pair> {
        use OpCode as C;
        let (op, args) = x.as_app()?;
        let (least, most) = range(x);
        let end = 1i128 << (self.word - 1);
        let signed = least < 0;
        let fits = if signed {
            -end <= least && most < end
        } else {
            most < 2 * end
        };
        if !fits || !matches!(op.code, C::BvAdd | C::BvSub | C::BvMul) {
            return None;
        }
        let low = two(op.code, self.of(args[0])?[0], self.of(args[1])?[0])?;
        Some([low, if signed { sign(low)? } else { self.zero() }])
    }

    /// What is written by simpler operators, and counts of bits by those of words.
    fn by_definition(&mut self, op: Op, args: &[Term], x: Term) -> Option<Pair> {
        use OpCode as C;
        match op.code {
            C::Smin | C::Smax | C::Umin | C::Umax | C::Abs => {
                self.of(*simpler(op, args, x).first()?)
            }
            C::Rotl | C::Rotr => match op.info().smt {
                Smt::Defined(expand) => self.of(expand(op.params(), args)),
                _ => None,
            },
            C::Popcnt => {
                let words = self.extended(args[0], false)?;
                let [low, high] = words.map(|w| raw(Op::new(C::Popcnt), &[w]));
                Some([two(C::BvAdd, low?, high?)?, self.zero()])
            }
            C::Clz | C::Ctz if x.width() == 2 * self.word => {
                let [low, high] = self.of(args[0])?;
                let (first, second) = if op.code == C::Clz {
                    (high, low)
                } else {
                    (low, high)
                };
                let further = raw(Op::new(op.code), &[second])?;
                let further = two(C::BvAdd, further, self.number(self.word))?;
                let empty = equal(first, self.zero())?;
                let own = raw(Op::new(op.code), &[first])?;
                Some([raw(Op::new(C::Ite), &[empty, further, own])?, self.zero()])
            }
            _ => None,
        }
    }

    /// A value with the bits above its own width zeros, or its sign.
    fn extended(&mut self, x: Term, signed: bool) -> Option<Pair> {
        if let Some(bits) = x.as_bits().filter(|_| signed) {
            return Some(self.constant(&bits.sext(2 * self.word)));
        }
        if x.width() <= self.word && x.as_bits().is_none() {
            let low = resize(self.narrow(x)?, self.word, signed)?;
            return Some([low, if signed { sign(low)? } else { self.zero() }]);
        }
        let [low, high] = self.of(x)?;
        let spare = (2 * self.word).checked_sub(x.width())?;
        if spare == 0 || x.as_bits().is_some() {
            return Some([low, high]);
        }
        let top = shifted(OpCode::BvShl, high, spare)?;
        Some([low, shifted(down_by(signed), top, spare)?])
    }

    fn constant(&self, all: &Bits) -> Pair {
        let high = all.lshr(&Bits::from_u64(2 * self.word, self.word.into()));
        [all, &high].map(|word| Term::bits(word.trunc(self.word)))
    }

    /// The low words' whole product, and the low halves of the crossed ones above it.
    fn product(&self, x: Pair, y: Pair) -> Option<Pair> {
        let low = two(OpCode::BvMul, x[0], y[0])?;
        let mut high = self.upper(x[0], y[0])?;
        for (x, y) in [(x[0], y[1]), (x[1], y[0])] {
            if y != self.zero() && x != self.zero() {
                high = two(OpCode::BvAdd, high, two(OpCode::BvMul, x, y)?)?;
            }
        }
        Some([low, high])
    }

    /// The upper word of the product of two words: as what it is, or by the products of their halves.
    fn upper(&self, x: Term, y: Term) -> Option<Term> {
        let twice = 2 * self.word;
        if self.depth == (Depth::All { last: true }) && self.word < WIDEST {
            let whole = two(OpCode::BvMul, b::zext(x, twice), b::zext(y, twice))?;
            return raw(
                Op::with(OpCode::Extract, self.word),
                &[whole, Term::int(self.word.into())],
            );
        }
        let half = self.word / 2;
        let add = |x: Term, y: Term| two(OpCode::BvAdd, x, y);
        let low = |t: Term| resize(resize(t, half, false)?, self.word, false);
        let high = |t: Term| shifted(OpCode::BvLshr, t, half);
        let (x, y) = ([low(x)?, high(x)?], [low(y)?, high(y)?]);
        let of = |a: usize, b: usize| two(OpCode::BvMul, x[a], y[b]);
        let crossed = [of(0, 1)?, of(1, 0)?];
        let carried = add(add(high(of(0, 0)?)?, low(crossed[0])?)?, low(crossed[1])?)?;
        let above = add(add(of(1, 1)?, high(crossed[0])?)?, high(crossed[1])?)?;
        add(above, high(carried)?)
    }

    fn shift(&mut self, code: OpCode, args: &[Term]) -> Option<Pair> {
        let value = match code {
            OpCode::BvShl => self.of(args[0])?,
            code => self.extended(args[0], code == OpCode::BvAshr)?,
        };
        match args[1].as_bits() {
            Some(bits) => {
                let by = bits.to_u64().and_then(|n| u32::try_from(n).ok())?;
                match code {
                    OpCode::BvShl => self.up(value, by),
                    code => self.down(value, by, code == OpCode::BvAshr),
                }
            }
            None => self.shift_by(code, value, args[1]),
        }
    }

    fn up(&self, [low, high]: Pair, by: u32) -> Option<Pair> {
        let word = self.word;
        Some(match by {
            0 => [low, high],
            _ if by >= 2 * word => [self.zero(); 2],
            _ if by >= word => [self.zero(), moved(OpCode::BvShl, low, by - word)?],
            _ => {
                let crossing = shifted(OpCode::BvLshr, low, word - by)?;
                let high = shifted(OpCode::BvShl, high, by)?;
                let low = shifted(OpCode::BvShl, low, by)?;
                [low, two(OpCode::BvOr, high, crossing)?]
            }
        })
    }

    /// Shifted down; the upper bits are defined.
    fn down(&self, [low, high]: Pair, by: u32, signed: bool) -> Option<Pair> {
        let (code, word) = (down_by(signed), self.word);
        let fill = if signed { sign(high)? } else { self.zero() };
        Some(match by {
            0 => [low, high],
            _ if by >= 2 * word => [fill; 2],
            _ if by >= word => [moved(code, high, by - word)?, fill],
            _ => [self.word_at([low, high], by)?, shifted(code, high, by)?],
        })
    }

    /// A shift by what is no constant: by more than a word's bits nothing is left of a word, and a count
    /// that would be less than 0 is as many.
    fn shift_by(&mut self, code: OpCode, [low, high]: Pair, count: Term) -> Option<Pair> {
        use OpCode as C;
        let [n, above] = self.extended(count, false)?;
        let width = self.number(self.word);
        let (less, more) = (two(C::BvSub, width, n)?, two(C::BvSub, n, width)?);
        let either = |x: Term, y: Term, z: Term| two(C::BvOr, two(C::BvOr, x, y)?, z);
        let near = two(code, if code == C::BvShl { low } else { high }, n)?;
        let (far, fill) = match code {
            C::BvShl => {
                let (own, far) = (two(code, high, n)?, two(code, low, more)?);
                (either(own, two(C::BvLshr, low, less)?, far)?, self.zero())
            }
            C::BvLshr => {
                let (own, far) = (two(code, low, n)?, two(code, high, more)?);
                (either(own, two(C::BvShl, high, less)?, far)?, self.zero())
            }
            _ => {
                let own = two(C::BvLshr, low, n)?;
                let own = two(C::BvOr, own, two(C::BvShl, high, less)?)?;
                let within = two(C::BvUlt, n, width)?;
                let far = two(code, high, more)?;
                (raw(Op::new(C::Ite), &[within, own, far])?, sign(high)?)
            }
        };
        let moved = if code == C::BvShl {
            [near, far]
        } else {
            [far, near]
        };
        match range(count) {
            (0.., most) if most < 1 << self.word => Some(moved),
            _ => choice(equal(above, self.zero())?, moved, [fill; 2]),
        }
    }

    /// The word that begins at a bit.
    fn word_at(&self, [low, high]: Pair, lo: u32) -> Option<Term> {
        if lo >= self.word {
            return moved(OpCode::BvLshr, high, lo - self.word);
        }
        if lo == 0 {
            return Some(low);
        }
        let crossing = shifted(OpCode::BvShl, high, self.word - lo)?;
        let low = shifted(OpCode::BvLshr, low, lo)?;
        two(OpCode::BvOr, low, crossing)
    }

    /// A value with defined upper bits, clamped to a word and then to fewer bits.
    fn saturated(&self, op: Op, [low, high]: Pair) -> Option<Term> {
        use OpCode as C;
        let choose = |c: Term, x: Term, y: Term| raw(Op::new(C::Ite), &[c, x, y]);
        let fits = |high: Term| equal(high, self.zero());
        let word = match op.code {
            C::SatUU => choose(fits(high)?, low, ones(self.word))?,
            C::SatSU => choose(fits(high)?, low, not(sign(high)?)?)?,
            _ => {
                let most = Term::bits(Bits::ones(self.word - 1).zext(self.word));
                let bound = two(C::BvXor, sign(high)?, most)?;
                choose(equal(high, sign(low)?)?, low, bound)?
            }
        };
        match (op.params[0], op.code) {
            (w, _) if w == self.word => Some(word),
            (_, C::SatSS) => raw(op, &[word]),
            (w, _) => raw(Op::with(C::SatUU, w), &[word]),
        }
    }
}

/// An operator of two words: of constants their value, without zeros that change nothing.
fn two(code: OpCode, x: Term, y: Term) -> Option<Term> {
    use OpCode as C;
    let is_zero = |t: Term| t.as_bits().is_some_and(Bits::is_zero);
    match code {
        _ if x.as_bits().is_some() && y.as_bits().is_some() => Some(b::app(Op::new(code), &[x, y])),
        C::BvAdd | C::BvOr | C::BvXor if is_zero(x) => Some(y),
        C::BvAdd | C::BvOr | C::BvXor | C::BvSub if is_zero(y) => Some(x),
        C::BvShl | C::BvLshr | C::BvAshr if is_zero(x) || is_zero(y) => Some(x),
        C::BvAnd | C::BvMul if is_zero(x) => Some(x),
        C::BvAnd | C::BvMul if is_zero(y) => Some(y),
        _ => legal::two(code, x, y),
    }
}

fn not(x: Term) -> Option<Term> {
    two(OpCode::BvXor, x, ones(x.width()))
}

fn shifted(code: OpCode, x: Term, by: u32) -> Option<Term> {
    two(code, x, Term::bv(x.width(), by.into()))
}

fn moved(code: OpCode, x: Term, by: u32) -> Option<Term> {
    match by {
        0 => Some(x),
        _ => shifted(code, x, by),
    }
}

fn down_by(signed: bool) -> OpCode {
    match signed {
        true => OpCode::BvAshr,
        false => OpCode::BvLshr,
    }
}

/// All ones where a value is negative, zeros elsewhere.
fn sign(x: Term) -> Option<Term> {
    match x.as_bits() {
        Some(_) => shifted(OpCode::BvAshr, x, x.width() - 1),
        None => mask(two(OpCode::BvSlt, x, zero(x.width()))?, x.width()),
    }
}

fn choice(condition: Term, x: Pair, y: Pair) -> Option<Pair> {
    let one = |k: usize| match x[k] == y[k] {
        true => Some(x[k]),
        false => raw(Op::new(OpCode::Ite), &[condition, x[k], y[k]]),
    };
    Some([one(0)?, one(1)?])
}

fn equal(x: Term, y: Term) -> Option<Term> {
    two(OpCode::Eq, x, y)
}

/// Whether one value is less than another, both with defined upper bits.
fn less(code: OpCode, x: Pair, y: Pair) -> Option<Term> {
    let low = two(OpCode::BvUlt, x[0], y[0])?;
    let tie = two(OpCode::And, equal(x[1], y[1])?, low)?;
    two(OpCode::Or, two(code, x[1], y[1])?, tie)
}

fn not_less(code: OpCode, x: Pair, y: Pair) -> Option<Term> {
    raw(Op::new(OpCode::Not), &[less(code, x, y)?])
}

/// Zeros, or all ones where one word is less than another: less one, what is carried.
fn wraps(x: Term, y: Term) -> Option<Term> {
    let below = two(OpCode::BvUlt, x, y)?;
    raw(
        Op::new(OpCode::Ite),
        &[below, ones(x.width()), zero(x.width())],
    )
}

fn sum(x: Pair, y: Pair) -> Option<Pair> {
    let low = two(OpCode::BvAdd, x[0], y[0])?;
    let high = two(OpCode::BvAdd, x[1], y[1])?;
    let is_zero = |t: Term| t.as_bits().is_some_and(Bits::is_zero);
    match is_zero(x[0]) || is_zero(y[0]) {
        true => Some([low, high]),
        false => Some([low, two(OpCode::BvSub, high, wraps(low, y[0])?)?]),
    }
}

fn difference(x: Pair, y: Pair) -> Option<Pair> {
    let low = two(OpCode::BvSub, x[0], y[0])?;
    let high = two(OpCode::BvSub, x[1], y[1])?;
    match y[0].as_bits().is_some_and(Bits::is_zero) {
        true => Some([low, high]),
        false => Some([low, two(OpCode::BvAdd, high, wraps(x[0], y[0])?)?]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alternatives::integers::number;
    use smt::prover::Prover;
    use smt::verdict::Verdict;

    fn word(name: &str) -> Term {
        Term::var(name, Sort::Bv(WIDEST))
    }

    fn wide(name: &str, code: OpCode) -> Term {
        b::app(Op::with(code, 2 * WIDEST), &[word(name)])
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
                let moved = two(code, sum, number(2 * WIDEST, by)).expect("a shift");
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

    /// A value of two words of 32 bits, proved to be what its words are.
    fn proved_in_words(t: Term) {
        let words = in_words(t, 32, true).expect("two words");
        for word in &words {
            assert!(
                widest(*word) <= 32 || t.args_of(OpCode::BvMul).is_some(),
                "{word}"
            );
        }
        let whole = b::concat(&[words[1], words[0]]);
        let verdict = Prover::new(smt::config::Config::default()).prove_equal(whole, t);
        assert!(matches!(verdict, Verdict::Proved(_)), "{t}: {verdict:?}");
    }

    #[test]
    fn whatever_has_two_words_is_written_over_them() {
        use OpCode as C;
        let of = |name: &str| Term::var(name, Sort::Bv(64));
        let (x, y) = (of("x"), of("y"));
        let few = b::app(Op::new(C::BvAnd), &[y, Term::bv(64, 63)]);
        for code in [C::BvShl, C::BvLshr, C::BvAshr] {
            proved_in_words(legal::two(code, x, few).expect("a shift"));
            proved_in_words(legal::two(code, x, y).expect("a shift"));
        }
        for code in [C::Smin, C::Umax, C::BvSub, C::BvXor] {
            proved_in_words(legal::two(code, x, y).expect("a value"));
        }
        for code in [C::Rotl, C::Rotr] {
            for count in [Term::bv(64, 13), Term::bv(64, 77), few, y] {
                proved_in_words(legal::two(code, x, count).expect("a rotation"));
            }
        }
        for code in [C::Abs, C::Clz, C::Ctz, C::Popcnt, C::BvNot, C::BvNeg] {
            proved_in_words(raw(Op::new(code), &[x]).expect("a value"));
        }
        let long = |name: &str| b::sext(Term::var(name, Sort::Bv(16)), 64);
        proved_in_words(legal::two(C::BvMul, long("z"), long("w")).expect("a product"));
        let unaligned = b::zext(b::extract(x, 5, 51), 64);
        proved_in_words(legal::two(C::BvAdd, unaligned, y).expect("a sum"));
    }

    #[test]
    fn products_of_words_by_those_of_halves_are_right() {
        let x = Term::var("x", Sort::Bv(32));
        let by = |n: u64| Term::bits(Bits::from_u64(32, n));
        let numbers = [0x9e37_79b9, 0x7f4a_7c15, 0x1_0001, 0xffff_fff0, 1_000_003];
        let variable = Term::var("y", Sort::Bv(32));
        for factor in numbers.map(by).into_iter().chain([variable]) {
            let whole = two(OpCode::BvMul, b::zext(x, 64), b::zext(factor, 64)).expect("a product");
            let words = in_words(whole, 32, false).expect("over words");
            let prover = Prover::new(smt::config::Config::default());
            for (k, word) in (0..).zip(words) {
                let verdict = prover.prove_equal(word, b::extract(whole, 32 * k, 32));
                assert!(
                    matches!(verdict, Verdict::Proved(_)),
                    "{factor} {k}: {verdict:?}"
                );
            }
        }
    }
}
