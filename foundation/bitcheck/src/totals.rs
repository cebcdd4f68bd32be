//! Sums, products, extremes and exclusive ors whose order, grouping and width do not matter.
//!
//! In: words. Out: the word of their total, the same gates whatever the order in which they were
//! given, however they were grouped, and at whatever width they were added or multiplied where
//! nothing is lost. A word is read as a number with a sign, without the copies of its topmost bit;
//! what is remembered of a total is only what it was made of, so that a total of totals is one.
//! What is doubled is added and multiplied by the gates of what it was: powers of two are taken out.
//! Each of these is an identity of whole numbers; the tests run every one beside the interpreter.

use crate::circuit::{Circuit, Lit};
use crate::products::{Bounded, range_of};
use crate::words::{Word, constant_of, not, number, wide};
use semantics::op::OpCode;
use std::collections::HashMap;

/// Parts of exclusive ors; longer ones are not taken apart.
const MOST_PARTS: usize = 96;
/// The same of sums and extremes, and of products: what is doubled over and over has no end of parts.
const MOST_ADDENDS: usize = 1_024;
const MOST_FACTORS: usize = 32;
/// Numbers of more bits have no bounds here.
const MOST_BITS: usize = 100;

/// What words are totals of.
#[derive(Default)]
pub(crate) struct Totals {
    /// A number without copies of its sign that is the sum of others, nothing being lost.
    exact: HashMap<Word, Vec<Word>>,
    /// A word that is such a sum modulo its width.
    modular: HashMap<Word, Vec<Word>>,
    /// The least and the greatest number that a product may be, nothing being lost.
    ranges: HashMap<Word, (i128, i128)>,
    /// Products of two numbers neither of which is a constant, in the order in which they came.
    pub(crate) bounded: Vec<Bounded>,
    /// A word that is a product modulo its width.
    products: HashMap<Word, Vec<Word>>,
    /// A word that is the least or the greatest of others.
    extremes: HashMap<(OpCode, Word), Vec<Word>>,
    /// A variable that is an exclusive or of others, and perhaps of what is true.
    parities: HashMap<u32, (Vec<Lit>, bool)>,
}

/// A word without copies of its topmost bit: the same number.
pub(crate) fn trimmed(word: &[Lit]) -> Word {
    let mut word = word.to_vec();
    while word.len() > 1 && word[word.len() - 1] == word[word.len() - 2] {
        word.pop();
    }
    word
}

fn top(word: &[Lit]) -> Lit {
    word.last().copied().unwrap_or(Lit::FALSE)
}

/// The number as a word of that width, cut or with copies of its topmost bit.
fn at(word: &[Lit], width: usize) -> Word {
    wide(word, width, top(word))
}

/// How often a number can be halved with nothing lost; never, where it is nothing but zeros.
fn zeros(word: &[Lit]) -> usize {
    let zeros = word.iter().take_while(|&&l| l == Lit::FALSE).count();
    if zeros == word.len() { 0 } else { zeros }
}

/// How many of the low bits of a number are ones; none, where all are.
fn ones(word: &[Lit]) -> usize {
    let ones = word.iter().take_while(|&&l| l == Lit::TRUE).count();
    if ones == word.len() { 0 } else { ones }
}

/// A number, doubled so often.
fn doubled(word: &[Lit], times: usize) -> Word {
    [&vec![Lit::FALSE; times], word].concat()
}

/// The least and the greatest number that a word may be.
fn bounds(word: &[Lit]) -> Option<(i128, i128)> {
    if word.len() > MOST_BITS {
        return None;
    }
    if let Some(number) = constant_of(word) {
        return Some((number, number));
    }
    let half = 1i128 << (word.len() - 1);
    let greatest = half - (1 << zeros(word));
    Some(match top(word) {
        Lit::FALSE => (0, greatest),
        _ => (-half, greatest),
    })
}

/// The bits of a number with a sign between two.
fn bits(lo: i128, hi: i128) -> usize {
    let of = |n: i128| 129 - if n < 0 { !n } else { n }.leading_zeros() as usize;
    of(lo).max(of(hi))
}

/// A number as a sum in which nothing ends with ones: the complement of what is doubled is a doubled
/// complement, and a constant.
fn plain(number: &[Lit]) -> Vec<Word> {
    match ones(number) {
        0 => vec![number.to_vec()],
        times => {
            let doubled = doubled(&number[times..], times);
            vec![doubled, [vec![Lit::TRUE; times], vec![Lit::FALSE]].concat()]
        }
    }
}

/// One less than so many, as a word.
fn number_of_parts(parts: usize) -> Word {
    trimmed(&number(parts as i128 - 1, 128))
}

/// The constants among words as one number, and the others; nothing where that is too large.
fn without_constants(
    parts: &[Word],
    neutral: i128,
    of: fn(i128, i128) -> Option<i128>,
) -> Option<(i128, Vec<Word>)> {
    let (mut whole, mut others) = (neutral, Vec::new());
    for part in parts {
        let constant = Some(part).filter(|part| part.len() <= MOST_BITS);
        match constant.and_then(|part| constant_of(part)) {
            Some(constant) => whole = of(whole, constant)?,
            None => others.push(part.clone()),
        }
    }
    Some((whole, others))
}

/// Parts of a sum with the constants among them as one, after all others: what is added to the
/// upper bits of a sum alone is then added by the same gates as to all of it.
fn constants_last(parts: Vec<Word>) -> Vec<Word> {
    let Some((whole, mut others)) = without_constants(&parts, 0, i128::checked_add) else {
        return parts;
    };
    if whole != 0 {
        others.push(trimmed(&number(whole, 128)));
    }
    others
}

/// Factors of a product with the constants among them as one, before all others; one alone where
/// that is zero.
fn constants_first(factors: Vec<Word>) -> Vec<Word> {
    match without_constants(&factors, 1, i128::checked_mul) {
        Some((0, _)) => vec![vec![Lit::FALSE]],
        Some((1, others)) if !others.is_empty() => others,
        Some((whole, others)) => {
            let whole = trimmed(&number(whole, 128));
            std::iter::once(whole).chain(others).collect()
        }
        None => factors,
    }
}

/// Whether the extreme of a word and any other is the other.
fn is_neutral(code: OpCode, word: &[Lit]) -> bool {
    let (low, high) = match code {
        OpCode::Smin => (Lit::TRUE, Lit::FALSE),
        OpCode::Smax => (Lit::FALSE, Lit::TRUE),
        OpCode::Umin => (Lit::TRUE, Lit::TRUE),
        _ => (Lit::FALSE, Lit::FALSE),
    };
    let (last, rest) = word.split_last().unwrap_or((&high, &[]));
    *last == high && rest.iter().all(|&l| l == low)
}

impl Totals {
    /// What a word is the sum of modulo its width; itself when nothing is known.
    fn addends(&self, word: &Word) -> Vec<Word> {
        if let Some(parts) = self.parts(word) {
            return parts;
        }
        // What a sum of k numbers is taken away by: the complements of all, and k - 1.
        if let Some(parts) = self.parts(&not(word)) {
            let more = number_of_parts(parts.len());
            let parts = parts.iter().flat_map(|part| plain(&not(part)));
            return parts.chain([more]).collect();
        }
        plain(&trimmed(word))
    }

    /// What a word is known to be the sum of. Of what is doubled that is the doubled parts.
    fn parts(&self, word: &Word) -> Option<Vec<Word>> {
        let known = self.modular.get(word);
        if let Some(known) = known.or_else(|| self.exact.get(&trimmed(word))) {
            return Some(known.clone());
        }
        match zeros(word) {
            0 => None,
            times => {
                let parts = self.parts(&word[times..].to_vec())?;
                Some(parts.iter().map(|part| doubled(part, times)).collect())
            }
        }
    }

    /// Whether more is known of a number than its bits: that it is a sum, doubled or not.
    pub(crate) fn is_sum(&self, number: &Word) -> bool {
        self.exact.contains_key(&number[zeros(number)..])
    }

    /// The least and the greatest number that a word may be, by what is known of it.
    fn range(&self, number: &Word) -> Option<(i128, i128)> {
        let times = zeros(number);
        let half = self.ranges.get(&number[times..]).copied();
        let known = half.filter(|_| number.len() <= MOST_BITS);
        let known = known.map(|(lo, hi)| (lo << times, hi << times));
        known.or_else(|| bounds(number))
    }

    /// The least and the greatest sum of numbers.
    fn range_of_sum(&self, parts: &[Word]) -> Option<(i128, i128)> {
        parts.iter().try_fold((0i128, 0i128), |(lo, hi), part| {
            let (least, greatest) = self.range(part)?;
            Some((lo.checked_add(least)?, hi.checked_add(greatest)?))
        })
    }

    /// The greatest number that a word without a sign may be.
    pub(crate) fn most(&self, word: &[Lit]) -> Option<u128> {
        let number = trimmed(&wide(word, word.len() + 1, Lit::FALSE));
        let times = zeros(&number);
        let (_, hi) = match self.exact.get(&number[times..]) {
            Some(parts) if number.len() <= MOST_BITS => {
                let (lo, hi) = self.range_of_sum(parts)?;
                (lo, hi.checked_mul(1 << times)?)
            }
            _ => self.range(&number)?,
        };
        u128::try_from(hi).ok()
    }

    /// The low bits of a word are a sum, too, where it is one.
    pub(crate) fn cut(&mut self, from: &Word, low: &Word) {
        let addends = self.addends(from);
        if addends.len() > 1 {
            let cut = addends.iter().map(|a| trimmed(&at(a, low.len())));
            self.modular.insert(low.clone(), cut.collect());
        }
    }

    /// Of two words of one value the second is the sum that the first is.
    pub(crate) fn also(&mut self, word: &Word, other: &Word) {
        let addends = self.addends(word);
        if addends.len() > 1 {
            self.modular.insert(other.clone(), addends);
        }
    }

    /// The sum of words of that width, modulo it.
    pub(crate) fn sum(&mut self, circuit: &mut Circuit, words: &[Word], width: usize) -> Word {
        let mut parts: Vec<Word> = words.iter().flat_map(|w| self.addends(w)).collect();
        if parts.len() > MOST_ADDENDS {
            parts = words.iter().map(|w| trimmed(w)).collect();
        }
        parts.sort();
        let parts = constants_last(parts);
        self.sum_of(circuit, parts, width)
    }

    /// The sum of numbers in their order, modulo a width.
    fn sum_of(&mut self, circuit: &mut Circuit, parts: Vec<Word>, width: usize) -> Word {
        let common = parts.iter().map(|part| zeros(part)).min().unwrap_or(0);
        if common > 0 && common < width {
            let halves = parts.iter().map(|part| part[common..].to_vec()).collect();
            let half = self.sum_of(circuit, halves, width - common);
            return doubled(&half, common);
        }
        let bounds = self.range_of_sum(&parts);
        let is_plain = bounds.is_some_and(|(lo, _)| lo >= 0);
        let needed = bounds.map(|(lo, hi)| bits(lo, hi));
        let needed = needed.filter(|&n| n <= width || is_plain && n == width + 1);
        let taken = needed.unwrap_or(width);
        let mut total = at(parts.first().map_or(&[Lit::FALSE][..], |p| p), taken);
        for part in parts.iter().skip(1) {
            total = plain_sum(circuit, &total, &at(part, taken), Lit::FALSE);
        }
        if needed.is_some() && is_plain {
            total[taken - 1] = Lit::FALSE;
        }
        let word = at(&total, width);
        if parts.len() > 1 {
            if needed.is_some() {
                self.exact.insert(trimmed(&total), parts.clone());
            }
            self.modular.insert(word.clone(), parts);
        }
        word
    }

    /// The product of two words of one width, modulo it.
    pub(crate) fn product(&mut self, circuit: &mut Circuit, a: &Word, b: &Word) -> Word {
        let width = a.len();
        let of = |word: &Word| {
            let known = self.products.get(word).cloned();
            known.unwrap_or_else(|| vec![trimmed(word)])
        };
        let mut factors = [of(a), of(b)].concat();
        if factors.len() > MOST_FACTORS {
            factors = vec![trimmed(a), trimmed(b)];
        }
        factors.sort();
        let factors = constants_first(factors);
        let word = self.product_of(circuit, &factors, width);
        self.products.insert(word.clone(), factors);
        word
    }

    /// The product of numbers, modulo a width: of their odd parts, and doubled.
    fn product_of(&mut self, circuit: &mut Circuit, factors: &[Word], width: usize) -> Word {
        let times: usize = factors.iter().map(|factor| zeros(factor)).sum();
        if times >= width {
            return vec![Lit::FALSE; width];
        }
        let halves = factors
            .iter()
            .map(|factor| factor[zeros(factor)..].to_vec());
        let mut halves: Vec<Word> = halves.collect();
        halves.sort();
        let halves = constants_first(halves);
        let mut word = at(&halves[0], width - times);
        for half in &halves[1..] {
            word = self.product_of_two(circuit, &trimmed(&word), half, width - times);
        }
        doubled(&word, times)
    }

    /// The product of two numbers, modulo a width; at the least width that holds it, where that is
    /// less.
    fn product_of_two(
        &mut self,
        circuit: &mut Circuit,
        a: &[Lit],
        b: &[Lit],
        width: usize,
    ) -> Word {
        let factors = [a, b].map(trimmed);
        let is_open = factors.iter().all(|factor| constant_of(factor).is_none());
        let ranges = self.range(&factors[0]).zip(self.range(&factors[1]));
        let ranges = ranges.map(|(a, b)| [a, b]);
        let ends = ranges.and_then(range_of);
        let is_plain = ends.is_some_and(|(lo, _)| lo >= 0);
        let needed = ends.map(|(lo, hi)| (bits(lo, hi) - usize::from(is_plain)).max(1));
        let taken = needed.unwrap_or(width).min(width);
        let (a, b) = (at(a, taken), at(b, taken));
        let (a, b) = (a.clone().min(b.clone()), a.max(b));
        let mut product = vec![Lit::FALSE; taken];
        for (k, &bit) in b.iter().enumerate() {
            let row = vec![Lit::FALSE; k].into_iter().chain(a.iter().copied());
            let row: Word = row.take(taken).map(|l| circuit.and(l, bit)).collect();
            product = plain_sum(circuit, &product, &row, Lit::FALSE);
        }
        let fill = if is_plain { Lit::FALSE } else { top(&product) };
        let number = wide(&product, taken + 1, fill);
        if let Some(ends) = ends.filter(|_| needed == Some(taken)) {
            let number = trimmed(&number);
            if is_open && !self.ranges.contains_key(&number) {
                let bounded = ranges.and_then(|of| Bounded::new(number.clone(), factors, of));
                self.bounded.extend(bounded);
            }
            self.ranges.insert(number, ends);
        }
        wide(&product, width, fill)
    }

    /// The least or the greatest of two words; `least` says which of both it is.
    pub(crate) fn extreme(
        &mut self,
        code: OpCode,
        a: &Word,
        b: &Word,
        mut of_two: impl FnMut(&Word, &Word) -> Word,
    ) -> Word {
        let of = |word: &Word| {
            let known = self.extremes.get(&(code, word.clone())).cloned();
            known.unwrap_or_else(|| vec![word.clone()])
        };
        let mut all = [of(a), of(b)].concat();
        if all.len() > MOST_ADDENDS {
            all = vec![a.clone(), b.clone()];
        }
        all.sort();
        all.dedup();
        if all.len() > 1 {
            all.retain(|word| !is_neutral(code, word));
        }
        let mut word = all[0].clone();
        for next in &all[1..] {
            word = of_two(&word, next);
        }
        self.extremes.insert((code, word.clone()), all);
        word
    }

    /// Either of two bits and not both.
    pub(crate) fn parity(&mut self, circuit: &mut Circuit, a: Lit, b: Lit) -> Lit {
        let of = |l: Lit| {
            let plain = Lit::new(l.variable(), false);
            let known = self.parities.get(&l.variable()).cloned();
            let (parts, odd) = known.unwrap_or_else(|| match plain {
                Lit::FALSE => (Vec::new(), false),
                _ => (vec![plain], false),
            });
            (parts, odd != l.is_negated())
        };
        let ((mut parts, odd), (more, other)) = (of(a), of(b));
        for part in more {
            match parts.iter().position(|&p| p == part) {
                Some(twice) => {
                    parts.remove(twice);
                }
                None => parts.push(part),
            }
        }
        if parts.len() > MOST_PARTS {
            return circuit.xor(a, b);
        }
        parts.sort_unstable();
        let odd = odd != other;
        let start = Lit::constant(odd);
        let out = parts
            .iter()
            .fold(start, |sum, &part| circuit.xor(sum, part));
        if parts.len() > 1 {
            let known = (parts, odd != out.is_negated());
            self.parities.insert(out.variable(), known);
        }
        out
    }
}

/// The sum modulo the width, and one more when something is carried in.
pub(crate) fn plain_sum(circuit: &mut Circuit, a: &[Lit], b: &[Lit], carry: Lit) -> Word {
    let mut carry = carry;
    let mut add = |a, b| {
        let half = circuit.xor(a, b);
        let (both, through) = (circuit.and(a, b), circuit.and(half, carry));
        let bit = circuit.xor(half, carry);
        carry = circuit.or(both, through);
        bit
    };
    a.iter().zip(b).map(|(&a, &b)| add(a, b)).collect()
}
