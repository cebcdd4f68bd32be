//! Functions of one value of few bits, by all that they give.
//!
//! In: a term. Out: the values through which alone it depends on its variables, what such a value can
//! be, what the term is for each; and the same function written as functions of parts of that
//! value. Nothing here knows what looks a function up.

use crate::fragment::{Fragment, constant_bits, operands, regular, replace, variable};
use crate::legal::raw;
use semantics::bits::Bits;
use semantics::eval::{CompiledTerms, Input};
use semantics::op::{Op, OpCode};
use semantics::range::range;
use semantics::sort::Sort;
use semantics::term::Term;
use std::cell::OnceCell;
use std::collections::HashMap;

/// The most values that are tabulated.
const MAX_ENTRIES: i128 = 256;
/// What a function depends on is simple where so many values write it: some bits of a leaf.
const SIMPLE: usize = 16;
/// The largest term that is looked at, in different values.
const MAX_VALUES: usize = 4_000;

/// What two values become.
type Joined<'a> = &'a dyn Fn(u64, u64) -> u64;

/// A term as a function of one value.
pub(crate) struct Function {
    /// The value that it depends on.
    pub(crate) index: Term,
    /// What that can be, ascending.
    pub(crate) values: Vec<u64>,
    /// How many values the function is written with.
    pub(crate) length: usize,
    term: Term,
    piece: Term,
    entries: OnceCell<Vec<(u64, u64)>>,
}

/// The term as a function of each value of few bits that it depends on alone, the simplest value
/// first.
pub(crate) fn functions(t: Term) -> Vec<Function> {
    if !matches!(t.sort(), Sort::Bv(1..=64)) {
        return Vec::new();
    }
    let one = |&index: &Term| {
        let values = domain(index)?;
        let piece = Fragment::new(t, &[index]).term;
        Some(Function {
            index,
            values,
            length: downwards(piece)?.len(),
            term: t,
            piece,
            entries: OnceCell::new(),
        })
    };
    let below = dominators(t).unwrap_or_default();
    below.iter().filter_map(one).collect()
}

/// The values through which all variables come into a term, from these upwards, the term itself not
/// among them.
fn dominators(t: Term) -> Option<Vec<Term>> {
    let order = downwards(t)?;
    let place: HashMap<Term, usize> = order.iter().enumerate().map(|(k, &t)| (t, k)).collect();
    // The nearest value above through which each is used, as its place.
    let mut above: Vec<Option<usize>> = vec![None; order.len()];
    let mut common: Option<usize> = None;
    let meet = |above: &[Option<usize>], mut x: usize, mut y: usize| {
        while x != y {
            match x > y {
                true => x = above[x].unwrap_or(0),
                false => y = above[y].unwrap_or(0),
            }
        }
        x
    };
    for (k, &value) in order.iter().enumerate() {
        let mut is_leaf = true;
        for child in operands(value).filter(|c| constant_bits(*c).is_none()) {
            is_leaf = false;
            let at = place[&child];
            above[at] = Some(above[at].map_or(k, |other| meet(&above, other, k)));
        }
        if is_leaf {
            common = Some(common.map_or(k, |other| meet(&above, other, k)));
        }
    }
    let chain = std::iter::successors(common, |&k| above[k]);
    Some(chain.map(|k| order[k]).filter(|&v| v != t).collect())
}

/// The values of a term but for constants, users before what they use.
fn downwards(t: Term) -> Option<Vec<Term>> {
    let mut order = Vec::new();
    let mut seen = HashMap::from([(t, false)]);
    let mut work = vec![t];
    while let Some(&value) = work.last() {
        let entered = seen.get_mut(&value)?;
        if std::mem::replace(entered, true) {
            work.pop();
            order.push(value);
            continue;
        }
        for child in operands(value).filter(|c| constant_bits(*c).is_none()) {
            if seen.len() > MAX_VALUES {
                return None;
            }
            if *seen.entry(child).or_insert(false) {
                continue;
            }
            work.push(child);
        }
    }
    order.reverse();
    Some(order)
}

/// What a value can be, where that is little.
fn domain(t: Term) -> Option<Vec<u64>> {
    let Sort::Bv(width @ 2..=64) = t.sort() else {
        return None;
    };
    let (least, most) = match range(t) {
        _ if !regular(t) => return None,
        (least, most) if least >= 0 => (least, most),
        _ if width <= 8 => (0, (1 << width) - 1),
        _ => return None,
    };
    let values = (most - least < MAX_ENTRIES).then_some(least..=most)?;
    values.map(|v| u64::try_from(v).ok()).collect()
}

impl Function {
    /// Whether what the function depends on is written with few values.
    pub(crate) fn is_simple(&self) -> bool {
        downwards(self.index).is_some_and(|values| values.len() <= SIMPLE)
    }

    /// What the index can be, and what the term is then; nothing where it cannot be run.
    pub(crate) fn entries(&self) -> &[(u64, u64)] {
        self.entries.get_or_init(|| self.run().unwrap_or_default())
    }

    fn run(&self) -> Option<Vec<(u64, u64)>> {
        let width = self.index.width();
        let input = Input {
            name: variable(0, width).as_var()?.to_owned(),
            sort: Sort::Bv(width),
        };
        let program = CompiledTerms::compile(&[self.piece], &[input]).ok()?;
        let mut frame = program.frame(self.values.len());
        program
            .input_words(&mut frame, 0)
            .copy_from_slice(&self.values);
        program.execute(&mut frame);
        let results = program.output_words(&frame, 0).iter().copied();
        Some(self.values.iter().copied().zip(results).collect())
    }

    /// The function made of functions of the two halves of its index, or a choice between two
    /// functions of all bits but the highest.
    pub(crate) fn parts(&self) -> Option<Term> {
        let (last, _) = *self.entries().last()?;
        let bits = u64::BITS - last.leading_zeros();
        let from_zero = self.entries().len() as u64 == last + 1;
        if bits < 2 || !from_zero {
            return None;
        }
        self.halves(bits / 2).or_else(|| self.choice(bits - 1))
    }

    /// An operator of what the function is of the low bits and of the high bits.
    fn halves(&self, by: u32) -> Option<Term> {
        use OpCode as C;
        let width = self.index.width();
        let value = |v: u64| self.entries().get(usize::try_from(v).ok()?).map(|e| e.1);
        let low = (1u64 << by) - 1;
        let (zero, mask) = (value(0)?, u64::MAX >> (64 - self.term.width()));
        let sum = |x: u64, y: u64| x.wrapping_add(y).wrapping_sub(zero) & mask;
        let kinds: [(C, Joined); 6] = [
            (C::BvOr, &|x, y| x | y),
            (C::BvAnd, &|x, y| x & y),
            (C::Umin, &|x, y| x.min(y)),
            (C::Umax, &|x, y| x.max(y)),
            (C::BvAdd, &sum),
            (C::BvXor, &|x, y| x ^ y ^ zero),
        ];
        let holds = |of: &&(C, Joined)| {
            let made = |v: u64| Some(of.1(value(v & low)?, value(v & !low)?));
            self.entries().iter().all(|&(v, f)| made(v) == Some(f))
        };
        let code = kinds.iter().find(holds)?.0;
        let first = self.at(self.masked(low)?);
        let shift = Term::bv(width, i128::from(by));
        let upper = raw(Op::new(C::BvLshr), &[self.index, shift])?;
        let second = self.at(raw(Op::new(C::BvShl), &[upper, shift])?);
        let start = Term::bits(Bits::from_u64(self.term.width(), zero));
        let second = match code {
            C::BvAdd if zero != 0 => raw(Op::new(C::BvSub), &[second, start])?,
            C::BvXor if zero != 0 => raw(Op::new(C::BvXor), &[second, start])?,
            _ => second,
        };
        raw(Op::new(code), &[first, second])
    }

    /// A choice by one bit, the highest that the index has.
    fn choice(&self, bit: u32) -> Option<Term> {
        let width = self.index.width();
        let number = |n: u64| Term::bits(Bits::from_u64(width, n));
        let is_high = match bit + 1 == width {
            true => raw(Op::new(OpCode::BvSlt), &[self.index, number(0)])?,
            false => raw(
                Op::new(OpCode::BvSlt),
                &[number((1 << bit) - 1), self.index],
            )?,
        };
        let low = self.masked((1 << bit) - 1)?;
        let high = raw(Op::new(OpCode::BvOr), &[low, number(1 << bit)])?;
        raw(
            Op::new(OpCode::Ite),
            &[is_high, self.at(high), self.at(low)],
        )
    }

    /// The index with some bits only.
    fn masked(&self, bits: u64) -> Option<Term> {
        let width = self.index.width();
        let (of, own) = match self.index.args_of(OpCode::BvAnd) {
            Some(&[x, number]) if number.as_bits().is_some() => (x, number.as_bits()?.to_u64()?),
            _ => (self.index, u64::MAX),
        };
        let kept = Term::bits(Bits::from_u64(width, bits & own));
        raw(Op::new(OpCode::BvAnd), &[of, kept])
    }

    /// The function of another index.
    fn at(&self, index: Term) -> Term {
        replace(self.term, &mut HashMap::from([(self.index, index)]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exhaust::decide;
    use semantics::build as b;

    fn byte() -> Term {
        Term::var("x", Sort::Bv(8))
    }

    fn two(code: OpCode, x: Term, y: Term) -> Term {
        b::app(Op::new(code), &[x, y])
    }

    /// A choice among numbers by the low bits of a byte, as people write tables.
    fn table(entries: &[i128], bits: i128) -> Term {
        let index = two(OpCode::BvAnd, byte(), Term::bv(8, bits));
        let entry = |other: Term, (k, &value): (usize, &i128)| {
            let is = b::eq(index, Term::bv(8, k as i128));
            b::ite(is, Term::bv(8, value), other)
        };
        entries.iter().enumerate().fold(Term::bv(8, 0), entry)
    }

    fn count() -> Term {
        b::app(Op::new(OpCode::Popcnt), &[byte()])
    }

    #[test]
    fn what_a_function_is_made_of_is_the_function() {
        let numbers: Vec<i128> = (0..64).map(|k| (k * k * 37 + 11) % 251).collect();
        let zeros = b::app(Op::new(OpCode::Clz), &[byte()]);
        let shifted = two(OpCode::BvMul, byte(), Term::bv(8, 5));
        let all = [
            count(),
            zeros,
            shifted,
            table(&numbers, 63),
            two(OpCode::BvXor, count(), Term::bv(8, 9)),
        ];
        for t in all {
            let found = functions(t);
            assert!(!found.is_empty(), "{t}");
            for function in &found {
                let parts = function.parts().expect("more than one bit");
                assert_eq!(decide(t, parts), Some(true), "{t}: {parts}");
            }
        }
    }

    #[test]
    fn a_table_is_a_function_of_the_bits_that_choose() {
        let t = table(&[5, 6, 7, 8], 3);
        let fewest = functions(t).into_iter().min_by_key(|f| f.values.len());
        let fewest = fewest.expect("a function");
        assert_eq!(fewest.entries(), [(0, 5), (1, 6), (2, 7), (3, 8)]);
        // Of two bytes it is no function of few bits, of their sum it is.
        let other = Term::var("y", Sort::Bv(8));
        let sum = two(OpCode::BvAdd, byte(), other);
        assert!(functions(sum).is_empty());
        let counted = functions(b::app(Op::new(OpCode::Popcnt), &[sum]));
        assert_eq!(counted.len(), 1);
        assert_eq!(counted[0].index, sum);
    }
}
