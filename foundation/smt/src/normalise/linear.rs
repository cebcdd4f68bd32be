//! Bits as sums over the field of two elements.
//!
//! In: two flat terms. Out: that one becomes the other, by name, when each bit of both is the same
//! sum (exclusive or) of the same bits. What is summed are bits of inputs and of subterms that are no such
//! sums; these are the same where their operands are. That is a normal form of checksums, of hashes made of
//! shifts, and of everything else that is linear, for which search takes exponential time. Of
//! products, sums with carries and conditions on more than one bit it only knows that they are functions.

use super::known::Named;
use super::rule::Rule;
use semantics::op::{Op, OpCode};
use semantics::sort::Sort;
use semantics::term::{Kind, Term};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Terms with more nodes than this are not looked at.
const MOST_NODES: usize = 50_000;

/// A sum: the numbers of its bits, in order; number 0 is the constant 1.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
struct Sum(Vec<u32>);

impl Sum {
    fn constant(one: bool) -> Sum {
        Sum(if one { vec![0] } else { Vec::new() })
    }

    fn of(number: u32) -> Sum {
        Sum(vec![number])
    }

    /// What is in one of both only.
    fn plus(&self, other: &Sum) -> Sum {
        let (mut a, mut b) = (self.0.as_slice(), other.0.as_slice());
        let mut numbers = Vec::with_capacity(a.len() + b.len());
        while let ([x, more @ ..], [y, others @ ..]) = (a, b) {
            if x == y {
                (a, b) = (more, others);
            } else if x < y {
                numbers.push(*x);
                a = more;
            } else {
                numbers.push(*y);
                b = others;
            }
        }
        numbers.extend_from_slice(a);
        numbers.extend_from_slice(b);
        Sum(numbers)
    }

    fn as_constant(&self) -> Option<bool> {
        match self.0.as_slice() {
            [] => Some(false),
            [0] => Some(true),
            _ => None,
        }
    }

    /// The product, when one factor is constant or both are equal.
    fn times(&self, other: &Sum) -> Option<Sum> {
        match (self.as_constant(), other.as_constant()) {
            (Some(one), _) => Some(if one { other.clone() } else { Sum::default() }),
            (_, Some(one)) => Some(if one { self.clone() } else { Sum::default() }),
            _ => (self == other).then(|| self.clone()),
        }
    }
}

/// The bits of a term, lowest first; a truth value has one.
type Word = Rc<Vec<Sum>>;

/// `b` becomes `a` when every bit of both is the same sum; never when either has no exclusive or.
pub(super) fn same(a: Term, b: Term) -> Option<Named> {
    let mut sums = Sums::default();
    let same = sums.is_worthwhile(a) && sums.is_worthwhile(b) && sums.word(a) == sums.word(b);
    same.then(|| Rule::SameSums.gives(a))
}

/// The sums of all terms that were looked at.
#[derive(Default)]
struct Sums {
    words: HashMap<Term, Word>,
    /// The bits of operations that are no sums, by what they are applied to.
    functions: HashMap<(Op, Vec<Word>), Word>,
    /// Bits that are summed.
    count: u32,
}

impl Sums {
    /// Whether a term has an exclusive or, and is not too large.
    fn is_worthwhile(&self, t: Term) -> bool {
        let mut seen = HashSet::new();
        let (mut open, mut found) = (vec![t], false);
        while let Some(t) = open.pop() {
            if seen.insert(t) {
                found |= matches!(t.kind(), Kind::App { op, .. } if op.code == OpCode::BvXor);
                open.extend(t.children());
            }
            if seen.len() > MOST_NODES {
                return false;
            }
        }
        found
    }

    /// The bits of a term, its parts first.
    fn word(&mut self, t: Term) -> Word {
        let mut open = vec![t];
        while let Some(&next) = open.last() {
            let before = open.len();
            let parts = looked_into(next).map_or(&[][..], |(_, parts)| parts);
            open.extend(parts.iter().filter(|p| !self.words.contains_key(p)));
            if open.len() == before {
                let word = self.known(next).unwrap_or_else(|| self.opaque(next));
                self.words.insert(next, word);
                open.pop();
            }
        }
        Rc::clone(&self.words[&t])
    }

    /// Bits of which nothing is known but what they are made of.
    fn opaque(&mut self, t: Term) -> Word {
        // What an extraction past the end gives is not told by its operand alone.
        let function = looked_into(t).filter(|(op, _)| op.code != OpCode::Extract);
        let function = function.map(|(op, parts)| {
            let mut words: Vec<Word> = parts.iter().map(|p| Rc::clone(&self.words[p])).collect();
            if op.code.info().commutative {
                words.sort_unstable();
            }
            (op, words)
        });
        if let Some(known) = function.as_ref().and_then(|f| self.functions.get(f)) {
            return Rc::clone(known);
        }
        let width = t.sort().width().unwrap_or(1);
        let first = self.count + 1;
        self.count += width;
        let word = Word::new((first..first + width).map(Sum::of).collect());
        self.functions
            .extend(function.map(|f| (f, Rc::clone(&word))));
        word
    }

    /// The bits of a term whose parts are known, when they are sums.
    fn known(&self, t: Term) -> Option<Word> {
        let bits = match t.kind() {
            Kind::Bv(bits) => (0..bits.width())
                .map(|k| Sum::constant(bits.bit(k)))
                .collect(),
            Kind::Bool(one) => vec![Sum::constant(*one)],
            Kind::App { op, args } if op.code == OpCode::Extract => {
                let from = usize::try_from(args[1].as_int()?).ok()?;
                let end = from + t.sort().width()? as usize;
                self.words[&args[0]].get(from..end)?.to_vec()
            }
            _ => {
                let (op, parts) = looked_into(t)?;
                let words: Vec<&Word> = parts.iter().map(|part| &self.words[part]).collect();
                applied(op, &words, t.sort().width().unwrap_or(1) as usize)?
            }
        };
        Some(Rc::new(bits))
    }
}

/// The operation and the operands of a term that is one of words.
fn looked_into(t: Term) -> Option<(Op, &'static [Term])> {
    let Kind::App { op, args } = t.kind() else {
        return None;
    };
    // Truth values and registers have bits; indices and memories have none here.
    let has_bits = |t: &Term| matches!(t.sort(), Sort::Bool | Sort::Bv(_));
    let parts: &[Term] = match op.code {
        OpCode::Extract if args[1].as_int().is_some() => &args[..1],
        _ => args,
    };
    parts.iter().all(has_bits).then_some((*op, parts))
}

/// The bits of an operation on words.
fn applied(op: Op, words: &[&Word], width: usize) -> Option<Vec<Sum>> {
    use OpCode as C;
    let one = Sum::constant(true);
    let each = |f: &dyn Fn(&Sum, &Sum) -> Option<Sum>| {
        let first = words[0].to_vec();
        words[1..].iter().try_fold(first, |bits, word| {
            let pairs = bits.iter().zip(word.iter());
            pairs.map(|(x, y)| f(x, y)).collect::<Option<Vec<Sum>>>()
        })
    };
    Some(match op.code {
        C::Concat => words.iter().rev().flat_map(|w| w.to_vec()).collect(),
        C::Zext => filled(words[0], &Sum::default(), width),
        C::Sext => filled(words[0], words[0].last()?, width),
        C::BvNot | C::Not => words[0].iter().map(|x| x.plus(&one)).collect(),
        C::BvXor => each(&|x, y| Some(x.plus(y)))?,
        C::BvAnd => each(&|x, y| x.times(y))?,
        C::BvOr => each(&|x, y| Some(x.plus(y).plus(&x.times(y)?)))?,
        C::BvShl | C::BvLshr | C::BvAshr => {
            let count = constant(words[1])?.min(width);
            let fill = match op.code {
                C::BvAshr => words[0].last()?.clone(),
                _ => Sum::default(),
            };
            let fill = std::iter::repeat_n(fill, count);
            match op.code {
                C::BvShl => fill.chain(words[0][..width - count].to_vec()).collect(),
                _ => words[0][count..].iter().cloned().chain(fill).collect(),
            }
        }
        C::Eq if words[0].len() == 1 => vec![words[0][0].plus(&words[1][0]).plus(&one)],
        C::Ite => {
            let choose = |(x, y): (&Sum, &Sum)| Some(y.plus(&words[0][0].times(&x.plus(y))?));
            let pairs = words[1].iter().zip(words[2].iter());
            pairs.map(choose).collect::<Option<_>>()?
        }
        _ => return None,
    })
}

/// The value of a word of constants.
fn constant(word: &[Sum]) -> Option<usize> {
    word.iter().enumerate().try_fold(0, |sum, (k, bit)| {
        let one = bit.as_constant()?;
        let value = 1_usize.checked_shl(u32::try_from(k).ok()?);
        Some(if one { value? | sum } else { sum })
    })
}

/// A word with more bits above it.
fn filled(word: &[Sum], fill: &Sum, width: usize) -> Vec<Sum> {
    let above = width.saturating_sub(word.len());
    let above = std::iter::repeat_n(fill.clone(), above);
    word.iter().cloned().chain(above).collect()
}
