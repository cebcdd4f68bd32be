//! Ranges of sums whose parts depend on each other: interpolations.
//!
//! In: a sum or a difference, and who knows the ranges of its parts. Out: the range of its value before it
//! wraps. `a * m + b * (255 - m)` of bytes is at most 65025, which the ends of its products do not tell. A
//! polynomial of first degree in each of its variables is a straight line along each of them, so that it has
//! its extremes at corners of the box that they span; all corners are looked at. Sums wrap modulo the same
//! number at every step of a width, so only the whole has to fit; what is extended has to fit by itself.
//! Variables are what is no polynomial, products of what shares a variable among it; that they may depend on
//! each other makes ranges wider, never wrong.

use super::{Range, Ranges, ends, signed};
use crate::op::OpCode;
use crate::term::Term;
use std::collections::{BTreeMap, HashMap};

/// The most variables: there are two to the power of their number of corners.
const VARIABLES: usize = 8;

/// Coefficients, each by the set of variables that it is multiplied by.
type Monomials = BTreeMap<u32, i128>;

/// The range of a sum or a difference whose sides share a variable; none where they do not, or have too many.
pub(super) fn of(ranges: &mut Ranges, t: Term) -> Option<Range> {
    let (op, args) = t.as_app()?;
    let &[x, y] = args else { return None };
    let mut sum = Sum {
        ranges,
        variables: Vec::new(),
        known: HashMap::new(),
    };
    let (Some(x), Some(y)) = (sum.modulo(x), sum.modulo(y)) else {
        ranges.many.insert(t);
        return None;
    };
    let mask = |all: &Monomials| all.keys().fold(0, |mask, variables| mask | variables);
    if mask(&x) & mask(&y) == 0 {
        return None;
    }
    let by = if op.code == OpCode::BvSub { -1 } else { 1 };
    sum.extremes(&added(x, &y, by)?)
}

struct Sum<'a> {
    ranges: &'a mut Ranges,
    /// What is no polynomial, and whether its bits are read without sign.
    variables: Vec<(Term, bool)>,
    /// Polynomials of terms that were looked at: a sum of sums may have any number of ways to each.
    known: HashMap<(Term, Read), Option<Monomials>>,
}

/// How a term is read.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Read {
    Modulo,
    Signed,
    Unsigned,
}

impl Sum<'_> {
    /// A polynomial that is equal to a term modulo two to the power of its width.
    fn modulo(&mut self, t: Term) -> Option<Monomials> {
        if self.ranges.many.contains(&t) {
            return None;
        }
        self.once((t, Read::Modulo), |sum| sum.modulo_anew(t))
    }

    /// A polynomial whose value is that of a term, read with or without sign.
    fn value(&mut self, t: Term, unsigned: bool) -> Option<Monomials> {
        let read = if unsigned {
            Read::Unsigned
        } else {
            Read::Signed
        };
        self.once((t, read), |sum| sum.value_anew(t, unsigned))
    }

    fn once(
        &mut self,
        key: (Term, Read),
        find: impl FnOnce(&mut Self) -> Option<Monomials>,
    ) -> Option<Monomials> {
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let found = find(self);
        self.known.insert(key, found.clone());
        found
    }

    /// Forgets the variables after the first so many, and what they stand in.
    fn forget(&mut self, after: usize) {
        self.variables.truncate(after);
        let stands = |all: &Monomials| all.keys().all(|variables| variables >> after == 0);
        self.known
            .retain(|_, found| found.as_ref().is_none_or(stands));
    }

    fn modulo_anew(&mut self, t: Term) -> Option<Monomials> {
        use OpCode as C;
        let Some((op, args)) = t.as_app() else {
            return self.value(t, false);
        };
        match (op.code, args) {
            (C::BvNot, &[x]) => added(constant(-1), &self.modulo(x)?, -1),
            (C::BvNeg, &[x]) => added(Monomials::new(), &self.modulo(x)?, -1),
            (C::BvAdd, &[x, y]) => added(self.modulo(x)?, &self.modulo(y)?, 1),
            (C::BvSub, &[x, y]) => added(self.modulo(x)?, &self.modulo(y)?, -1),
            (C::BvMul, &[x, y]) => match multiplied(&self.modulo(x)?, &self.modulo(y)?) {
                Some(product) => Some(product),
                None => self.variable(t, false),
            },
            (C::BvShl, &[x, by]) => match by.as_bits().and_then(signed) {
                Some(by @ 0..64) => added(Monomials::new(), &self.modulo(x)?, 1 << by),
                _ => self.variable(t, false),
            },
            _ => self.value(t, false),
        }
    }

    fn value_anew(&mut self, t: Term, unsigned: bool) -> Option<Monomials> {
        use OpCode as C;
        let width = t.sort().width().filter(|w| (1..100).contains(w))?;
        if let Some(bits) = t.as_bits() {
            return signed(bits).map(|v| constant(without(v, width, unsigned)));
        }
        let Some((op, args)) = t.as_app() else {
            return self.variable(t, unsigned);
        };
        match (op.code, args) {
            (C::Zext, &[x]) => self.value(x, true),
            (C::Sext, &[x]) if !unsigned => self.value(x, false),
            (C::BvNot, &[x]) => {
                let all = without(-1, width, unsigned);
                added(constant(all), &self.value(x, unsigned)?, -1)
            }
            (C::BvNeg | C::BvAdd | C::BvSub | C::BvMul | C::BvShl, _) => {
                let before = self.variables.len();
                let found = self.modulo(t)?;
                let (lo, hi) = self.extremes(&found)?;
                let (least, most) = ends(width, !unsigned);
                if least <= lo && hi <= most {
                    return Some(found);
                }
                self.forget(before);
                self.variable(t, unsigned)
            }
            _ => self.variable(t, unsigned),
        }
    }

    fn variable(&mut self, t: Term, unsigned: bool) -> Option<Monomials> {
        let own = (t, unsigned);
        let place = match self.variables.iter().position(|v| *v == own) {
            Some(place) => place,
            None if self.variables.len() == VARIABLES => return None,
            None => {
                self.variables.push(own);
                self.variables.len() - 1
            }
        };
        Some(Monomials::from([(1 << place, 1)]))
    }

    /// The least and the greatest value at the corners.
    fn extremes(&mut self, polynomial: &Monomials) -> Option<Range> {
        let mut ends = Vec::new();
        for &(t, unsigned) in &self.variables {
            ends.push(match unsigned {
                true => self.ranges.unsigned(t),
                false => self.ranges.of(t),
            });
        }
        at_corners(&ends, polynomial.iter().map(|(set, by)| (*set, *by)))
    }
}

/// The least and the greatest value of a sum of products of first degree in each variable: of the ends of these,
/// at most 31, and coefficients, each by the set of variables that it is multiplied by. None beyond 128 bits.
pub fn at_corners(
    ends: &[Range],
    products: impl Iterator<Item = (u32, i128)> + Clone,
) -> Option<Range> {
    let at = |corner: u32| {
        products
            .clone()
            .try_fold(0i128, |sum, (variables, coefficient)| {
                let factors = ends.iter().enumerate();
                let mut factors = factors.filter(|(k, _)| variables >> k & 1 == 1);
                let product = factors.try_fold(coefficient, |product, (k, (lo, hi))| {
                    product.checked_mul(if corner >> k & 1 == 1 { *hi } else { *lo })
                });
                sum.checked_add(product?)
            })
    };
    let values: Vec<i128> = (0..1u32 << ends.len()).map(at).collect::<Option<_>>()?;
    Some((*values.iter().min()?, *values.iter().max()?))
}

fn constant(value: i128) -> Monomials {
    Monomials::from([(0, value)])
}

/// What a signed value of a width is when its bits are read so.
fn without(value: i128, width: u32, unsigned: bool) -> i128 {
    match unsigned && value < 0 {
        true => value + (1 << width),
        false => value,
    }
}

/// `x + by * y`.
fn added(mut x: Monomials, y: &Monomials, by: i128) -> Option<Monomials> {
    for (variables, coefficient) in y {
        let sum = x.entry(*variables).or_insert(0);
        *sum = sum.checked_add(coefficient.checked_mul(by)?)?;
    }
    x.retain(|_, coefficient| *coefficient != 0);
    Some(x)
}

/// A product, where no variable is a factor on both sides.
fn multiplied(x: &Monomials, y: &Monomials) -> Option<Monomials> {
    let mut product = Monomials::new();
    for (p, first) in x {
        for (q, second) in y {
            if p & q != 0 {
                return None;
            }
            let one = Monomials::from([(p | q, first.checked_mul(*second)?)]);
            product = added(product, &one, 1)?;
        }
    }
    Some(product)
}
