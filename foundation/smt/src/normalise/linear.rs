//! Bits as sums over the field of two elements.
//!
//! In: two flat terms. Out: that one becomes the other, by name, when each bit of both is the same
//! sum (exclusive or) of the same bits; bits of inputs, and of subterms that are no such sums, are what is summed. That is a
//! normal form of checksums and of everything else that is linear, for which search takes
//! exponential time. It does not look into products, sums with carries, or conditions on
//! more than one bit.

use super::known::Named;
use super::rule::Rule;
use semantics::op::{Op, OpCode};
use semantics::sort::Sort;
use semantics::term::{Kind, Term};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Terms with more nodes than this are not looked at.
const MOST_NODES: usize = 50_000;

/// A sum: the set of the numbers of its bits; number 0 is the constant 1.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct Sum(Vec<u64>);

impl Sum {
    fn constant(one: bool) -> Sum {
        Sum(if one { vec![1] } else { Vec::new() })
    }

    fn of(number: usize) -> Sum {
        let mut words = vec![0; number / 64 + 1];
        words[number / 64] = 1 << (number % 64);
        Sum(words)
    }

    fn plus(&self, other: &Sum) -> Sum {
        let (long, short) = match self.0.len() >= other.0.len() {
            true => (self, other),
            false => (other, self),
        };
        let mut words = long.0.clone();
        for (word, more) in words.iter_mut().zip(&short.0) {
            *word ^= more;
        }
        while words.last() == Some(&0) {
            words.pop();
        }
        Sum(words)
    }

    fn as_constant(&self) -> Option<bool> {
        match self.0.as_slice() {
            [] => Some(false),
            [1] => Some(true),
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
    /// Bits that are summed.
    count: usize,
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

    /// Bits of which nothing is known.
    fn opaque(&mut self, t: Term) -> Word {
        let width = t.sort().width().unwrap_or(1) as usize;
        let first = self.count + 1;
        self.count += width;
        Rc::new((first..first + width).map(Sum::of).collect())
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

/// The operation and the operands of a term whose bits may be sums of theirs.
fn looked_into(t: Term) -> Option<(Op, &'static [Term])> {
    use OpCode as C;
    let Kind::App { op, args } = t.kind() else {
        return None;
    };
    // Truth values and registers have bits; indices and memories have none here.
    let has_bits = |t: &Term| matches!(t.sort(), Sort::Bool | Sort::Bv(_));
    let parts: &[Term] = match op.code {
        C::Extract => &args[..1],
        C::Concat | C::Zext | C::Sext | C::BvNot | C::BvXor | C::BvAnd | C::BvOr => args,
        C::Not | C::Eq | C::Ite => args,
        _ => return None,
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
        C::Eq if words[0].len() == 1 => vec![words[0][0].plus(&words[1][0]).plus(&one)],
        C::Ite => {
            let choose = |(x, y): (&Sum, &Sum)| Some(y.plus(&words[0][0].times(&x.plus(y))?));
            let pairs = words[1].iter().zip(words[2].iter());
            pairs.map(choose).collect::<Option<_>>()?
        }
        _ => return None,
    })
}

/// A word with more bits above it.
fn filled(word: &[Sum], fill: &Sum, width: usize) -> Vec<Sum> {
    let above = width.saturating_sub(word.len());
    let above = std::iter::repeat_n(fill.clone(), above);
    word.iter().cloned().chain(above).collect()
}
