//! Terms as words of bits, written from what the table of operators says.
//!
//! In: flat terms. Out: their bits in a [`Circuit`], the lowest first; whether they differ. An
//! operator that is not written here (floats' arithmetic, memory) is a function of which nothing
//! is known but that equal bits give equal results: what is shown is true all the same, and what
//! depends on more is not shown.

use crate::circuit::{Circuit, Cone, Lit};
use crate::products::Bounded;
use crate::quotients::Quotients;
use crate::totals::{Totals, plain_sum, trimmed};
use semantics::bits::Bits;
use semantics::op::{Op, OpCode};
use semantics::sort::Sort;
use semantics::term::{Kind, Term};
use std::collections::{HashMap, HashSet};

/// With so many applications of a function of which nothing is known others are compared.
const MOST_COMPARED: usize = 12;

/// Bits, the lowest first; a truth value has one, and a memory one that stands for it.
pub type Word = Vec<Lit>;

/// Arguments of a function, and its result.
type Applied = (Vec<Word>, Word);

/// A circuit, and the bits of terms in it.
#[derive(Default)]
pub struct Words {
    /// The gates.
    pub circuit: Circuit,
    known: HashMap<Term, Word>,
    /// Words that were shown to be others, which stand for them.
    united: HashMap<Word, Word>,
    /// Results of functions of which nothing is known.
    open: HashMap<(Op, Vec<Word>, u32), Word>,
    /// The same of functions of bits, in the order in which they came.
    of_bits: HashMap<(Op, u32), Vec<Applied>>,
    totals: Totals,
    pub(crate) quotients: Quotients,
}

impl Words {
    /// Sees by what is divided in terms, before words are made of their parts: products by constants
    /// are quotients where there is such a quotient.
    pub fn look(&mut self, terms: &[Term]) {
        terms.iter().for_each(|&t| self.quotients.look(t));
    }

    /// What is true when two flat terms differ at bits `lo` up to `hi`.
    ///
    /// # Errors
    /// A sentence that says what of them has no bits.
    pub fn differ(&mut self, a: Term, b: Term, lo: u32, hi: u32) -> Result<Lit, String> {
        self.look(&[a, b]);
        let (a, b) = (self.word(a)?, self.word(b)?);
        let part = lo as usize..(hi as usize).min(a.len().max(1));
        let (Some(a), Some(b)) = (a.get(part.clone()), b.get(part)) else {
            return Err("the terms have no such bits".to_owned());
        };
        let equal = self.equal(a, b);
        Ok(!equal)
    }

    /// What a literal is made of, as if products were any numbers within their ranges, which have
    /// their ends where their factors do: no single clause of a product's gates says so. Factors
    /// may be any words, too. Nothing when there is no product in it.
    pub fn cone_of_products(&mut self, literal: Lit, any_factors: bool) -> Option<Cone> {
        let mut left = self.totals.bounded.clone();
        let factors = left.iter().filter(|_| any_factors).flat_map(|b| &b.factors);
        let given = left.iter().map(|b| &b.product).chain(factors).flatten();
        let given: HashSet<u32> = given.map(|l| l.variable()).collect();
        let (mut root, mut any) = (literal, false);
        loop {
            let reached = self.circuit.reached(root, &given);
            let is_in = |bounded: &Bounded| {
                let mut bits = bounded.product.iter();
                bits.any(|l| reached.contains(&l.variable()))
            };
            let (inside, others): (Vec<_>, Vec<_>) = left.into_iter().partition(is_in);
            if inside.is_empty() {
                return any.then(|| self.circuit.cone_above(root, &given));
            }
            for bounded in &inside {
                let fact = self.known_of(bounded);
                root = self.circuit.and(root, fact);
            }
            (left, any) = (others, true);
        }
    }

    /// What is known of a product without its bits.
    fn known_of(&mut self, bounded: &Bounded) -> Lit {
        let Bounded { product, ends, .. } = bounded;
        let [lo, hi] = [ends.0, ends.1].map(|end| number(end, product.len()));
        let (under, over) = (self.less(product, &lo, true), self.less(&hi, product, true));
        let mut known = !self.circuit.or(under, over);
        for corner in &bounded.corners {
            let [end, next] = [corner.end, corner.next].map(|n| number(n, product.len()));
            let is_end = self.equal(product, &end);
            let [a, b] = [0, 1].map(|k| {
                let factor = &bounded.factors[k];
                self.equal(factor, &number(corner.pair[k], factor.len()))
            });
            let is_pair = self.circuit.and(a, b);
            let differ = self.circuit.xor(is_end, is_pair);
            let beyond = match corner.end > corner.next {
                true => self.less(&next, product, true),
                false => self.less(product, &next, true),
            };
            let beyond = self.circuit.and(beyond, !is_end);
            let wrong = self.circuit.or(differ, beyond);
            known = self.circuit.and(known, !wrong);
        }
        known
    }

    /// From here on two terms have the same bits, for whoever has seen it refuted that they differ:
    /// those of fewer bits as numbers, and so has whatever else has the bits that either had. What
    /// was made of the others before stays as it is.
    pub fn unite(&mut self, term: Term, with: Term) {
        let word = |t: Term| self.known.get(&t).map(|word| self.united(word).clone());
        if let (Some(a), Some(b)) = (word(term), word(with))
            && a != b
        {
            let is_shorter = trimmed(&a).len() < trimmed(&b).len();
            let (word, other) = if is_shorter { (a, b) } else { (b, a) };
            self.united.insert(other, word);
        }
    }

    /// The word that stands for one.
    fn united<'a>(&'a self, mut word: &'a Word) -> &'a Word {
        while let Some(next) = self.united.get(word) {
            word = next;
        }
        word
    }

    /// Terms of whose bits in common with some words nothing is known but which are constant, and
    /// which are one: what holds of them holds of these terms. `all` are those that may have them.
    ///
    /// # Errors
    /// A sentence that says what of them has no bits.
    pub fn above(&mut self, cut: &[Term], all: &[Term]) -> Result<Words, String> {
        let mut fresh = Words::default();
        let mut inputs: HashMap<u32, Lit> = HashMap::from([(0, Lit::FALSE)]);
        let mut given: HashMap<Word, Word> = HashMap::new();
        for &t in cut {
            let word = without_zeros(&self.word(t)?);
            let one = |&l: &Lit| {
                let input = inputs.entry(l.variable());
                let input = *input.or_insert_with(|| fresh.circuit.input());
                if l.is_negated() { !input } else { input }
            };
            let any: Word = word.iter().map(one).collect();
            given.insert(word, any);
        }
        given.remove(&Word::new());
        for &t in all {
            let word = self.word(t)?;
            if let Some(any) = given.get(&without_zeros(&word)) {
                fresh.known.insert(t, wide(any, word.len(), Lit::FALSE));
            }
        }
        Ok(fresh)
    }

    /// The bits of a term.
    pub(crate) fn word(&mut self, t: Term) -> Result<Word, String> {
        if let Some(known) = self.known.get(&t) {
            return Ok(self.united(known).clone());
        }
        let width = match t.sort() {
            Sort::Bv(width) => width as usize,
            Sort::Bool | Sort::Mem => 1,
            Sort::Int => return Err("an index that depends on inputs".to_owned()),
        };
        let word = match t.kind() {
            Kind::Var { .. } => self.inputs(width),
            Kind::Bv(bits) => constant(bits),
            Kind::Bool(truth) => vec![Lit::constant(*truth)],
            Kind::App { op, args } if op.code == OpCode::Extract => {
                let from = self.word(args[0])?;
                let lo = args[1].as_int().ok_or("an offset that depends on inputs")?;
                let bit = |k: i64| usize::try_from(lo.saturating_add(k)).ok();
                let bit = |k: i64| bit(k).and_then(|k| from.get(k)).copied();
                let part = (0..i64::from(t.width())).map(|k| bit(k).unwrap_or(Lit::FALSE));
                let part: Word = part.collect();
                if lo == 0 && part.len() < from.len() {
                    self.totals.cut(&from, &part);
                }
                part
            }
            Kind::App { op, args } => {
                let words = args.iter().map(|&a| self.word(a));
                let words: Vec<Word> = words.collect::<Result<_, _>>()?;
                let of_memory = args.iter().any(|a| a.sort() == Sort::Mem);
                let known = words.first().and_then(|a| self.division(t, a));
                match known {
                    Some(word) => word,
                    None if of_memory && op.code == OpCode::Eq => self.function(*op, words, 1),
                    None => self.applied((*op, of_memory), words, width),
                }
            }
            _ => return Err("a bound variable without a binder".to_owned()),
        };
        let word = self.as_quotient(word);
        let word = self.united(&word).clone();
        self.known.insert(t, word.clone());
        Ok(word)
    }

    fn inputs(&mut self, width: usize) -> Word {
        (0..width).map(|_| self.circuit.input()).collect()
    }

    fn function(&mut self, op: Op, words: Vec<Word>, width: usize) -> Word {
        let key = (op, words, width as u32);
        if let Some(known) = self.open.get(&key) {
            return known.clone();
        }
        let word = self.inputs(width);
        self.open.insert(key, word.clone());
        word
    }

    /// The same of bits: where they are equal to those of an application before, so is the result.
    fn function_of_bits(&mut self, op: Op, words: Vec<Word>, width: usize) -> Word {
        let key = (op, words.clone(), width as u32);
        if let Some(known) = self.open.get(&key) {
            return known.clone();
        }
        let mut word = self.inputs(width);
        let before = self.of_bits.entry((op, width as u32)).or_default().clone();
        for (others, result) in before.iter().rev() {
            let pairs = words.iter().zip(others);
            let same: Vec<Lit> = pairs.map(|(a, b)| self.equal(a, b)).collect();
            let same = same.into_iter();
            let same = same.fold(Lit::TRUE, |all, one| self.circuit.and(all, one));
            word = self.choice(same, result, &word);
        }
        if before.len() < MOST_COMPARED {
            let all = self.of_bits.entry((op, width as u32)).or_default();
            all.push((words, word.clone()));
        }
        self.open.insert(key, word.clone());
        word
    }

    /// An operator of words, and whether one of these stands for a memory.
    fn applied(&mut self, (op, of_memory): (Op, bool), words: Vec<Word>, width: usize) -> Word {
        use OpCode as C;
        let [a, b, c] = [0, 1, 2].map(|k| words.get(k).cloned().unwrap_or_default());
        let c0 = Lit::FALSE;
        match op.code {
            C::Not | C::BvNot => not(&a),
            C::And | C::BvAnd => self.each(&a, &b, Circuit::and),
            C::Or | C::BvOr => self.each(&a, &b, Circuit::or),
            C::BvXor => {
                let pairs = a.iter().zip(&b);
                let both = |(&a, &b)| self.totals.parity(&mut self.circuit, a, b);
                pairs.map(both).collect()
            }
            C::Eq => vec![self.equal(&a, &b)],
            C::Ite => self.choice(a[0], &b, &c),
            C::BvNeg => self.total(&[not(&a), self.one(width)]),
            C::BvAdd | C::BvSub | C::BvMul => self.whole(op.code, &a, &b),
            C::BvUdiv => self.quotient(&a, &b).0,
            C::BvUrem => self.quotient(&a, &b).1,
            C::BvSdiv | C::BvSrem => self.signed_quotient(&a, &b, op.code == C::BvSdiv),
            C::BvShl => self.left(&a, &b),
            C::BvLshr => self.right(&a, &b, 1, c0),
            C::BvAshr => self.right(&a, &b, 1, a[a.len() - 1]),
            C::Rotl => self.rotation(&a, &b, true),
            C::Rotr => self.rotation(&a, &b, false),
            C::BvUlt => vec![self.less(&a, &b, false)],
            C::BvUle => vec![!self.less(&b, &a, false)],
            C::BvSlt => vec![self.less(&a, &b, true)],
            C::BvSle => vec![!self.less(&b, &a, true)],
            C::Smin | C::Umin | C::Smax | C::Umax => self.extreme(op.code, &a, &b),
            C::Abs => {
                let negative = self.negative(&a);
                self.choice(a[a.len() - 1], &negative, &a)
            }
            C::Concat => words.iter().rev().flatten().copied().collect(),
            C::Zext => wide(&a, width, c0),
            C::Sext => wide(&a, width, a[a.len() - 1]),
            C::Slice => self.selected(&a, &b, 1, width),
            C::Elem => self.selected(&a, &b, width, width),
            C::Insert => {
                let mask = wide(&vec![!c0; c.len()], a.len(), c0);
                let (mask, piece) = (self.left(&mask, &b), self.left(&wide(&c, a.len(), c0), &b));
                let kept = self.each(&a, &not(&mask), Circuit::and);
                self.each(&kept, &piece, Circuit::or)
            }
            C::SatSS => self.clamped(&a, width, a[a.len() - 1], true),
            C::SatSU => self.clamped(&a, width, a[a.len() - 1], false),
            C::SatUS => self.clamped(&a, width, c0, true),
            C::SatUU => self.clamped(&a, width, c0, false),
            C::Popcnt => {
                let ones: Vec<Word> = a.iter().map(|&bit| wide(&[bit], width, c0)).collect();
                self.total(&ones)
            }
            C::Clz => self.zeros_before(a.iter().copied(), width),
            C::Ctz => self.zeros_before(a.iter().rev().copied(), width),
            C::FMin | C::FMax => {
                let less = Op::with(C::FLt, op.params[0]);
                let (x, y) = if op.code == C::FMin {
                    (&a, &b)
                } else {
                    (&b, &a)
                };
                match self.of_floats(less, x, y) {
                    Some(first) => self.choice(first, &a, &b),
                    None => self.function_of_bits(op, words, width),
                }
            }
            // Two memories of which the words are equal may differ.
            _ if of_memory => self.function(op, words, width),
            _ => match self.of_floats(op, &a, &b) {
                Some(truth) => vec![truth],
                None => self.function_of_bits(op, words, width),
            },
        }
    }

    pub(crate) fn each(
        &mut self,
        a: &[Lit],
        b: &[Lit],
        gate: fn(&mut Circuit, Lit, Lit) -> Lit,
    ) -> Word {
        let pairs = a.iter().zip(b);
        pairs
            .map(|(&a, &b)| gate(&mut self.circuit, a, b))
            .collect()
    }

    pub(crate) fn choice(&mut self, condition: Lit, then: &[Lit], otherwise: &[Lit]) -> Word {
        let pairs = then.iter().zip(otherwise);
        pairs
            .map(|(&a, &b)| self.circuit.choice(condition, a, b))
            .collect()
    }

    pub(crate) fn equal(&mut self, a: &[Lit], b: &[Lit]) -> Lit {
        let differences = self.each(a, b, Circuit::xor);
        let any = differences.into_iter();
        !any.fold(Lit::FALSE, |any, bit| self.circuit.or(any, bit))
    }

    pub(crate) fn sum(&mut self, a: &[Lit], b: &[Lit], carry: Lit) -> Word {
        plain_sum(&mut self.circuit, a, b, carry)
    }

    /// A sum, difference or product of two words, modulo their width.
    fn whole(&mut self, code: OpCode, a: &Word, b: &Word) -> Word {
        let word = match code {
            OpCode::BvMul => self.totals.product(&mut self.circuit, a, b),
            OpCode::BvAdd => self.total(&[a.clone(), b.clone()]),
            _ => self.total(&[a.clone(), not(b), self.one(a.len())]),
        };
        let rest = (code == OpCode::BvSub).then(|| self.remainder(a, b));
        if let Some(rest) = rest.flatten() {
            self.totals.also(&word, &rest);
            return rest;
        }
        self.see(code, a, b, &word);
        word
    }

    /// A word, or its complement where the sign is set.
    pub(crate) fn flipped(&mut self, word: &[Lit], sign: Lit) -> Word {
        let one = |&l: &Lit| self.totals.parity(&mut self.circuit, l, sign);
        word.iter().map(one).collect()
    }

    /// The sum of words of one width, modulo it.
    fn total(&mut self, words: &[Word]) -> Word {
        let width = words.first().map_or(0, Vec::len);
        self.totals.sum(&mut self.circuit, words, width)
    }

    fn one(&self, width: usize) -> Word {
        wide(&[Lit::TRUE], width, Lit::FALSE)
    }

    /// The least or the greatest of two words.
    fn extreme(&mut self, code: OpCode, a: &Word, b: &Word) -> Word {
        let signed = matches!(code, OpCode::Smin | OpCode::Smax);
        let is_least = matches!(code, OpCode::Smin | OpCode::Umin);
        let mut totals = std::mem::take(&mut self.totals);
        let word = totals.extreme(code, a, b, |a, b| {
            let (x, y) = if is_least { (b, a) } else { (a, b) };
            let turned = self.less(x, y, signed);
            self.choice(turned, b, a)
        });
        self.totals = totals;
        word
    }

    /// Low bits after a shift right by so many units; what no count reaches is not looked at.
    fn selected(&mut self, a: &[Lit], count: &[Lit], unit: usize, width: usize) -> Word {
        let most = self.totals.most(count);
        let most = most.and_then(|most| usize::try_from(most).ok());
        let reached = most.and_then(|most| most.checked_mul(unit)?.checked_add(width));
        let mut from = a.to_vec();
        from.truncate(reached.unwrap_or(a.len()));
        let from = wide(&from, a.len().max(width), Lit::FALSE);
        wide(
            &self.right(&from, count, unit, Lit::FALSE),
            width,
            Lit::FALSE,
        )
    }

    pub(crate) fn negative(&mut self, a: &[Lit]) -> Word {
        self.total(&[not(a), self.one(a.len())])
    }

    /// Quotient and remainder, as one divides on paper; by zero all ones and the dividend.
    pub(crate) fn quotient(&mut self, a: &[Lit], b: &[Lit]) -> (Word, Word) {
        let width = a.len();
        let (mut rest, by) = (vec![Lit::FALSE; width + 1], wide(b, width + 1, Lit::FALSE));
        let mut quotient = vec![Lit::FALSE; width];
        for k in (0..width).rev() {
            rest.insert(0, a[k]);
            rest.truncate(width + 1);
            let fits = !self.less(&rest, &by, false);
            let less = self.sum(&rest, &not(&by), Lit::TRUE);
            rest = self.choice(fits, &less, &rest);
            quotient[k] = fits;
        }
        rest.truncate(width);
        (quotient, rest)
    }

    fn signed_quotient(&mut self, a: &[Lit], b: &[Lit], quotient: bool) -> Word {
        let signs = [a[a.len() - 1], b[b.len() - 1]];
        let [x, y] = [(a, signs[0]), (b, signs[1])].map(|(word, sign)| {
            let negative = self.negative(word);
            self.choice(sign, &negative, word)
        });
        let (wanted, sign) = match (self.quotient(&x, &y), quotient) {
            ((wanted, _), true) => (wanted, self.circuit.xor(signs[0], signs[1])),
            ((_, wanted), false) => (wanted, signs[0]),
        };
        let negative = self.negative(&wanted);
        self.choice(sign, &negative, &wanted)
    }

    /// Shifted right by as many units as the count says.
    fn right(&mut self, a: &[Lit], count: &[Lit], unit: usize, fill: Lit) -> Word {
        let mut word = a.to_vec();
        for (k, &bit) in count.iter().enumerate() {
            let by = u32::try_from(k).ok().and_then(|k| 1usize.checked_shl(k));
            let by = by.and_then(|by| by.checked_mul(unit)).unwrap_or(a.len());
            let moved = word.iter().skip(by.min(a.len())).copied();
            let moved = wide(&moved.collect::<Word>(), a.len(), fill);
            word = self.choice(bit, &moved, &word);
        }
        word
    }

    fn left(&mut self, a: &[Lit], count: &[Lit]) -> Word {
        let turned: Word = a.iter().rev().copied().collect();
        let mut word = self.right(&turned, count, 1, Lit::FALSE);
        word.reverse();
        word
    }

    fn rotation(&mut self, a: &[Lit], count: &[Lit], left: bool) -> Word {
        let width = constant(&Bits::from_u64(a.len() as u32, a.len() as u64));
        let there = self.quotient(count, &width).1;
        let back = self.sum(&width, &not(&there), Lit::TRUE);
        let (left, right) = if left { (there, back) } else { (back, there) };
        let (left, right) = (self.left(a, &left), self.right(a, &right, 1, Lit::FALSE));
        self.each(&left, &right, Circuit::or)
    }

    pub(crate) fn less(&mut self, a: &[Lit], b: &[Lit], signed: bool) -> Lit {
        let number = |word: &[Lit]| match signed {
            true => trimmed(word),
            false => trimmed(&wide(word, word.len() + 1, Lit::FALSE)),
        };
        let (a, b) = (number(a), number(b));
        let width = a.len().max(b.len());
        let (a, b) = (
            wide(&a, width, a[a.len() - 1]),
            wide(&b, width, b[b.len() - 1]),
        );
        if let Some(sign) = self.sign_of_difference(&a, &b) {
            return sign;
        }
        let mut less = Lit::FALSE;
        for (k, (&a, &b)) in a.iter().zip(&b).enumerate() {
            let differ = self.circuit.xor(a, b);
            let greatest = if k == width - 1 { a } else { b };
            less = self.circuit.choice(differ, greatest, less);
        }
        less
    }

    /// Whether what one sum is more than another is negative, the difference being one sum.
    fn sign_of_difference(&mut self, a: &[Lit], b: &[Lit]) -> Option<Lit> {
        let is_open = [a, b].iter().all(|word| constant_of(word).is_none());
        let is_sum = [a, b].iter().any(|word| self.totals.is_sum(&trimmed(word)));
        (is_open && is_sum).then(|| {
            let width = a.len() + 2;
            let [a, b] = [a, b].map(|word| wide(word, width, word[word.len() - 1]));
            let difference = self.total(&[a, not(&b), self.one(width)]);
            difference[width - 1]
        })
    }

    /// A word with that sign, clamped to what the width holds.
    fn clamped(&mut self, a: &[Lit], width: usize, sign: Lit, signed: bool) -> Word {
        let kept = width - usize::from(signed);
        let value = trimmed(&wide(a, a.len() + 1, sign));
        let least = Lit::constant(signed);
        let all = value.len().max(width + 1);
        let value = wide(&value, all, value[value.len() - 1]);
        let bounds = [(!Lit::FALSE, Lit::FALSE), (Lit::FALSE, least)];
        let [most, least] = bounds.map(|(low, high)| wide(&vec![low; kept], all, high));
        let (under, over) = (
            self.less(&value, &least, true),
            self.less(&most, &value, true),
        );
        let clamped = self.choice(over, &most, &value);
        let mut word = self.choice(under, &least, &clamped);
        word.truncate(width);
        word
    }

    /// How many zeros there are before the last of the bits that is one.
    fn zeros_before(&mut self, bits: impl Iterator<Item = Lit>, width: usize) -> Word {
        let number = |k: usize| constant(&Bits::from_u64(width as u32, k as u64));
        let mut count = number(width);
        for (k, bit) in bits.enumerate() {
            count = self.choice(bit, &number(width - 1 - k), &count);
        }
        count
    }
}

pub(crate) fn constant(bits: &Bits) -> Word {
    (0..bits.width())
        .map(|k| Lit::constant(bits.bit(k)))
        .collect()
}

/// A number with a sign as a word of at least that width.
pub(crate) fn number(of: i128, width: usize) -> Word {
    let bits = 0..width.max(128);
    let bits = bits.map(|k| Lit::constant(of >> k.min(127) & 1 == 1));
    wide(
        &trimmed(&bits.collect::<Word>()),
        width,
        Lit::constant(of < 0),
    )
}

/// The number that a word without inputs is.
pub(crate) fn constant_of(word: &[Lit]) -> Option<i128> {
    let of = |number: i128, l: &Lit| match *l {
        Lit::FALSE => Some(number << 1),
        Lit::TRUE => Some(number << 1 | 1),
        _ => None,
    };
    let start = if word.last() == Some(&Lit::TRUE) {
        -1
    } else {
        0
    };
    word.iter().rev().try_fold(start, of)
}

/// The same number without sign, without the zeros above it.
pub(crate) fn without_zeros(word: &[Lit]) -> Word {
    let zeros = word.iter().rev().take_while(|&&l| l == Lit::FALSE).count();
    word[..word.len() - zeros].to_vec()
}

pub(crate) fn not(a: &[Lit]) -> Word {
    a.iter().map(|&bit| !bit).collect()
}

/// The low bits, or more of them.
pub(crate) fn wide(a: &[Lit], width: usize, fill: Lit) -> Word {
    let above = std::iter::repeat(fill);
    a.iter().copied().chain(above).take(width).collect()
}
