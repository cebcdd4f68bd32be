//! Indices in a normal form.
//!
//! In: an index. Out: an equal one that is a sum of products, with like terms added up, and
//! what is divisible taken out of quotients and remainders by constants. Halide's text is full
//! of offsets that cancel once names are replaced by their values.

use kernel::index::{Index, Symbol};
use kernel::tree::Op;
use std::collections::BTreeMap;

/// Terms past which a product stays as it is.
const MAX_TERMS: usize = 24;

/// A sum: factors, each a symbol or an index that is no sum, with a coefficient that is not 0.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Sum(BTreeMap<Vec<Index>, i64>);

impl Sum {
    fn constant(value: i64) -> Sum {
        Sum(BTreeMap::from([(Vec::new(), value)])
            .into_iter()
            .filter(|(_, c)| *c != 0)
            .collect())
    }

    fn atom(index: Index) -> Sum {
        Sum(BTreeMap::from([(vec![index], 1)]))
    }

    /// The sum that an index is; `None` past 64 bits.
    pub(super) fn of(index: &Index) -> Option<Sum> {
        match index {
            Index::Const(c) => Some(Sum::constant(*c)),
            Index::Sym(_) => Some(Sum::atom(index.clone())),
            Index::Add(a, b) => Sum::of(a)?.plus(&Sum::of(b)?, 1),
            Index::Mul(a, b) => Sum::of(a)?.times(&Sum::of(b)?),
            Index::Div(a, b) => Sum::quotient(Sum::of(a)?, Sum::of(b)?),
            Index::Mod(a, b) => Sum::remainder(Sum::of(a)?, Sum::of(b)?),
            Index::Min(a, b) => Sum::extreme(Sum::of(a)?, Sum::of(b)?, true),
            Index::Max(a, b) => Sum::extreme(Sum::of(a)?, Sum::of(b)?, false),
        }
    }

    /// `self + factor * other`.
    pub(super) fn plus(&self, other: &Sum, factor: i64) -> Option<Sum> {
        let mut out = self.clone();
        for (key, c) in &other.0 {
            let more = c.checked_mul(factor)?;
            let slot = out.0.entry(key.clone()).or_insert(0);
            *slot = slot.checked_add(more)?;
            if *slot == 0 {
                out.0.remove(key);
            }
        }
        Some(out)
    }

    fn times(&self, other: &Sum) -> Option<Sum> {
        if self.0.len() * other.0.len() > MAX_TERMS && self.0.len().min(other.0.len()) > 1 {
            let (a, b) = (Box::new(self.to_index()), Box::new(other.to_index()));
            return Some(Sum::atom(Index::Mul(a, b)));
        }
        let mut out = Sum::default();
        for (x, c) in &self.0 {
            for (y, d) in &other.0 {
                let mut key = [x.clone(), y.clone()].concat();
                key.sort();
                let product = Sum(BTreeMap::from([(key, c.checked_mul(*d)?)]));
                out = out.plus(&product, 1)?;
            }
        }
        Some(out)
    }

    /// What is divisible by a number, and the rest.
    fn divided(&self, by: i64) -> (Sum, Sum) {
        let (mut whole, mut rest) = (Sum::default(), Sum::default());
        for (key, &c) in &self.0 {
            if key.is_empty() {
                whole.0.insert(key.clone(), c.div_euclid(by));
                rest.0.insert(key.clone(), c.rem_euclid(by));
            } else if c % by == 0 {
                whole.0.insert(key.clone(), c / by);
            } else {
                rest.0.insert(key.clone(), c);
            }
        }
        whole.0.retain(|_, c| *c != 0);
        rest.0.retain(|_, c| *c != 0);
        (whole, rest)
    }

    fn quotient(a: Sum, b: Sum) -> Option<Sum> {
        match b.value() {
            Some(by) if by > 0 => {
                let (whole, rest) = a.divided(by);
                match rest.value() {
                    Some(_) => Some(whole),
                    None => {
                        let rest = Box::new(rest.to_index());
                        whole.plus(&Sum::atom(Index::Div(rest, Box::new(Index::Const(by)))), 1)
                    }
                }
            }
            _ => Some(Sum::folded(Index::Div(
                Box::new(a.to_index()),
                Box::new(b.to_index()),
            ))),
        }
    }

    fn remainder(a: Sum, b: Sum) -> Option<Sum> {
        match b.value() {
            Some(by) if by > 0 => {
                let (_, rest) = a.divided(by);
                Some(match rest.value() {
                    Some(_) => rest,
                    None => Sum::atom(Index::Mod(
                        Box::new(rest.to_index()),
                        Box::new(Index::Const(by)),
                    )),
                })
            }
            _ => Some(Sum::folded(Index::Mod(
                Box::new(a.to_index()),
                Box::new(b.to_index()),
            ))),
        }
    }

    /// An index that is no sum, or its value.
    fn folded(index: Index) -> Sum {
        match index.constant_value() {
            Some(value) => Sum::constant(value),
            None => Sum::atom(index),
        }
    }

    fn extreme(a: Sum, b: Sum, least: bool) -> Option<Sum> {
        if let Some(apart) = a.plus(&b, -1)?.value() {
            return Some(if (apart <= 0) == least { a } else { b });
        }
        let (mut x, mut y) = (Box::new(a.to_index()), Box::new(b.to_index()));
        if matches!(*x, Index::Const(_)) {
            std::mem::swap(&mut x, &mut y);
        }
        Some(Sum::atom(if least {
            Index::Min(x, y)
        } else {
            Index::Max(x, y)
        }))
    }

    /// The value when it is a constant.
    pub(super) fn value(&self) -> Option<i64> {
        match self.0.len() {
            0 => Some(0),
            1 => self.0.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    /// The one factor that it is but for a constant, with its coefficient, and the constant.
    pub(super) fn single(self) -> Option<(Index, i64, i64)> {
        let (constant, rest) = self.split_constant();
        let mut terms = rest.0.into_iter();
        match (terms.next(), terms.next()) {
            (Some((mut key, c)), None) if key.len() == 1 => Some((key.pop()?, c, constant)),
            _ => None,
        }
    }

    /// The constant in it, and the rest.
    pub(super) fn split_constant(mut self) -> (i64, Sum) {
        let constant = self.0.remove(&Vec::new()).unwrap_or(0);
        (constant, self)
    }

    /// `base + factor * symbol`, where neither part mentions the symbol.
    pub(super) fn split(&self, symbol: Symbol) -> Option<(Index, Index)> {
        let (mut base, mut factor) = (Sum::default(), Sum::default());
        for (key, &c) in &self.0 {
            let (with, without): (Vec<&Index>, Vec<&Index>) =
                key.iter().partition(|i| i.mentions(symbol));
            match with[..] {
                [] => base.0.insert(key.clone(), c),
                [Index::Sym(_)] => factor.0.insert(without.into_iter().cloned().collect(), c),
                _ => return None,
            };
        }
        Some((base.to_index(), factor.to_index()))
    }

    /// The sum as the lesser of two that hold at once, or the greater of two of which one does: what is
    /// added to a minimum or maximum that mentions the symbol is added to both its sides.
    pub(super) fn spread(&self, symbol: Symbol) -> Option<(Op, Index, Index)> {
        let (key, factor) = self.0.iter().find(|(key, _)| {
            matches!(key[..], [Index::Min(..) | Index::Max(..)]) && key[0].mentions(symbol)
        })?;
        let (Index::Min(a, b) | Index::Max(a, b)) = &key[0] else {
            return None;
        };
        let mut rest = self.clone();
        rest.0.remove(key);
        let side = |part: &Index| rest.plus(&Sum::of(part)?, *factor);
        let all = matches!(key[0], Index::Min(..)) == (*factor > 0);
        let op = if all { Op::And } else { Op::Or };
        Some((op, side(a)?.to_index(), side(b)?.to_index()))
    }

    /// The sum as an index.
    pub(super) fn to_index(&self) -> Index {
        let mut sum: Option<Index> = None;
        let constant = self.0.get(&Vec::new()).copied().unwrap_or(0);
        for (key, &c) in self.0.iter().filter(|(key, _)| !key.is_empty()) {
            let product = key
                .iter()
                .cloned()
                .reduce(|a, b| Index::Mul(Box::new(a), Box::new(b)));
            let term = product.expect("a key has a factor").times(c);
            sum = Some(match sum {
                None => term,
                Some(before) => Index::Add(Box::new(before), Box::new(term)),
            });
        }
        match sum {
            None => Index::Const(constant),
            Some(sum) if constant == 0 => sum,
            Some(sum) => Index::Add(Box::new(sum), Box::new(Index::Const(constant))),
        }
    }
}

/// The index in its normal form; as it is where that would not fit 64 bits.
pub(super) fn normal(index: &Index) -> Index {
    Sum::of(index).map_or_else(|| index.clone(), |sum| sum.to_index())
}
