//! The range of an index, from the ranges of its symbols.
//!
//! In: an index, and between which indices each symbol lies. Out: the least and the greatest
//! value that it can be bounded by, over what bounds the symbols; numbers where those are
//! numbers. It looks at each symbol for itself: what follows from several facts together is
//! proved in [`crate::lia`].

use crate::index::{Index, Symbol};

/// The least and the greatest value, both included.
pub type Range = (Index, Index);

impl Index {
    /// The range of an index where that of its symbols is given by `of`. `None` for a symbol
    /// without one, and where the index is not monotone in a way that is seen.
    pub fn range(&self, of: &dyn Fn(Symbol) -> Option<Range>) -> Option<Range> {
        let boxed = |a: Index, b: Index| (Box::new(a), Box::new(b));
        let both = |a: &Index, b: &Index| Some((a.range(of)?, b.range(of)?));
        let range = match self {
            Index::Const(_) => (self.clone(), self.clone()),
            Index::Sym(symbol) => of(*symbol)?,
            Index::Add(a, b) => {
                let (a, b) = both(a, b)?;
                (a.0.plus(&b.0), a.1.plus(&b.1))
            }
            Index::Mul(a, b) => {
                let (a, b) = both(a, b)?;
                product(a, b)?
            }
            Index::Div(a, b) => {
                let (a, b) = both(a, b)?;
                let by = divisor(&b)?;
                let quotient = |x| Index::Div(Box::new(x), Box::new(Index::Const(by)));
                (quotient(a.0), quotient(a.1))
            }
            Index::Mod(a, b) => {
                let by = divisor(&b.range(of)?)?;
                let within = |(low, high): &(i64, i64)| *low >= 0 && *high < by;
                match a
                    .range(of)
                    .filter(|a| numbers(a).is_some_and(|n| within(&n)))
                {
                    Some(a) => a,
                    None => (Index::Const(0), Index::Const(by - 1)),
                }
            }
            Index::Min(a, b) => {
                let (a, b) = both(a, b)?;
                let ((x, y), (z, w)) = (boxed(a.0, b.0), boxed(a.1, b.1));
                (Index::Min(x, y), Index::Min(z, w))
            }
            Index::Max(a, b) => {
                let (a, b) = both(a, b)?;
                let ((x, y), (z, w)) = (boxed(a.0, b.0), boxed(a.1, b.1));
                (Index::Max(x, y), Index::Max(z, w))
            }
        };
        Some((range.0.simplified(), range.1.simplified()))
    }

    /// [`Index::range`] in numbers; `None` also where an end does not fit 64 bits.
    pub fn number_range(&self, of: &dyn Fn(Symbol) -> Option<(i64, i64)>) -> Option<(i64, i64)> {
        let of = |s| of(s).map(|(low, high)| (Index::Const(low), Index::Const(high)));
        numbers(&self.range(&of)?)
    }
}

fn numbers((low, high): &Range) -> Option<(i64, i64)> {
    Some((low.constant_value()?, high.constant_value()?))
}

/// What is divided by, when that is one number above 0.
fn divisor(range: &Range) -> Option<i64> {
    numbers(range).and_then(|(low, high)| (low == high && low > 0).then_some(low))
}

fn product(a: Range, b: Range) -> Option<Range> {
    if let (Some(a), Some(b)) = (numbers(&a), numbers(&b)) {
        let corners = [(a.0, b.0), (a.0, b.1), (a.1, b.0), (a.1, b.1)];
        let corners = corners.map(|(x, y)| x.checked_mul(y));
        let corners: Vec<i64> = corners.into_iter().collect::<Option<_>>()?;
        let ends = (corners.iter().min()?, corners.iter().max()?);
        return Some((Index::Const(*ends.0), Index::Const(*ends.1)));
    }
    let one = |range: &Range| range.0 == range.1;
    let (low, high, by) = match (a.0.constant_value(), b.0.constant_value()) {
        (_, Some(by)) if one(&b) => (a.0, a.1, by),
        (Some(by), _) if one(&a) => (b.0, b.1, by),
        _ if one(&a) && one(&b) => {
            let product = Index::Mul(Box::new(a.0), Box::new(b.0));
            return Some((product.clone(), product));
        }
        _ => return None,
    };
    let (low, high) = (low.times(by), high.times(by));
    Some(if by < 0 { (high, low) } else { (low, high) })
}

#[cfg(test)]
mod tests;
