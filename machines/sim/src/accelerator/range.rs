//! Numbers of which only the least and the greatest are known.
//!
//! In: operators of procedures on [`Range`]s. Out: ranges that hold every result. Each knows which
//! variables of loops it comes from: with one value for each of them it would be one number.

use semantics::instruction::Element;
use semantics::machine::arithmetic;
use semantics::machine::procedure::{Binary, Unary};

/// What is no variable of a loop: data, whose values are not looked at.
pub(crate) const DATA: u64 = 1 << 63;

/// Numbers from the first to the second.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Range {
    pub(crate) low: i64,
    pub(crate) high: i64,
    /// A bit for each variable of a loop that it depends on, and [`DATA`]; none where it is one
    /// number.
    pub(crate) from: u64,
}

impl Range {
    pub(crate) fn of(n: i64) -> Range {
        Range {
            low: n,
            high: n,
            from: 0,
        }
    }

    pub(crate) fn new(low: i64, high: i64, from: u64) -> Range {
        match low == high {
            true => Range::of(low),
            false => Range { low, high, from },
        }
    }

    /// Any number of a type.
    pub(crate) fn any(element: Element, from: u64) -> Range {
        let (low, high) = match element {
            Element::Mask => (0, 1),
            Element::Signed(w) | Element::Unsigned(w) if w < 63 => arithmetic::range(element),
            _ => (i64::MIN, i64::MAX),
        };
        Range::new(low, high, from)
    }

    /// The number, where it is one.
    pub(crate) fn one(self) -> Result<i64, u64> {
        match self.low == self.high {
            true => Ok(self.low),
            false => Err(self.from),
        }
    }

    /// Both, in 128 bits; any number where that leaves 64.
    fn within(low: i128, high: i128, element: Element, from: u64) -> Range {
        let any = Range::any(element, from);
        match (i64::try_from(low), i64::try_from(high)) {
            (Ok(low), Ok(high)) if any.low <= low && high <= any.high => {
                Range::new(low, high, from)
            }
            _ => any,
        }
    }

    /// A sum that wraps.
    pub(crate) fn plus(self, other: Range) -> Range {
        if let (Ok(a), Ok(b)) = (self.one(), other.one()) {
            return Range::of(a.wrapping_add(b));
        }
        binary(Binary::Add, self, other, Element::Signed(64))
    }

    /// A product that wraps.
    pub(crate) fn times(self, factor: i64) -> Range {
        binary(Binary::Mul, self, Range::of(factor), Element::Signed(64))
    }

    /// What holds both.
    pub(crate) fn or(self, other: Range, from: u64) -> Range {
        let from = self.from | other.from | from;
        Range::new(self.low.min(other.low), self.high.max(other.high), from)
    }
}

/// An operator on one.
pub(crate) fn unary(op: Unary, a: Range, from: Element, to: Element) -> Range {
    if let Ok(a) = a.one() {
        return Range::of(arithmetic::unary(op, a, from, to));
    }
    let integers = [from, to]
        .iter()
        .all(|e| matches!(e, Element::Signed(_) | Element::Unsigned(_)));
    let (any, kept) = (
        Range::any(to, a.from),
        matches!(op, Unary::Convert | Unary::Saturate),
    );
    match integers && kept && any.low <= a.low && a.high <= any.high {
        true => a,
        false => any,
    }
}

/// An operator on two.
pub(crate) fn binary(op: Binary, a: Range, b: Range, element: Element) -> Range {
    if let (Ok(a), Ok(b)) = (a.one(), b.one()) {
        return Range::of(arithmetic::binary(op, a, b, element));
    }
    let from = a.from | b.from;
    let open = match op.compares() {
        true => Range::any(Element::Mask, from),
        false => Range::any(element, from),
    };
    match element {
        Element::Mask => of_conditions(op, a, b).unwrap_or(open),
        Element::Signed(_) | Element::Unsigned(_) => of_integers(op, a, b, element).unwrap_or(open),
        _ => open,
    }
}

/// Both or either of two conditions, where one of them decides.
fn of_conditions(op: Binary, a: Range, b: Range) -> Option<Range> {
    let decides = match op {
        Binary::And => Ok(0),
        Binary::Or => Ok(1),
        _ => return None,
    };
    [a, b]
        .into_iter()
        .find(|x| x.one() == decides)
        .map(|_| Range::of(i64::from(op == Binary::Or)))
}

fn of_integers(op: Binary, a: Range, b: Range, element: Element) -> Option<Range> {
    let from = a.from | b.from;
    let wide = |r: Range| (i128::from(r.low), i128::from(r.high));
    let ((al, ah), (bl, bh)) = (wide(a), wide(b));
    let within = |low, high| Some(Range::within(low, high, element, from));
    match op {
        Binary::Add => within(al + bl, ah + bh),
        Binary::Sub => within(al - bh, ah - bl),
        Binary::Mul => {
            let ends = [al * bl, al * bh, ah * bl, ah * bh];
            within(*ends.iter().min()?, *ends.iter().max()?)
        }
        Binary::Min => within(al.min(bl), ah.min(bh)),
        Binary::Max => within(al.max(bl), ah.max(bh)),
        Binary::Div if bl == bh && bl > 0 => within(al.div_euclid(bl), ah.div_euclid(bl)),
        Binary::Shr if bl == bh && (0..i128::from(element.width()?)).contains(&bl) => {
            within(al >> bl, ah >> bl)
        }
        Binary::Shl if bl == bh && (0..i128::from(element.width()?)).contains(&bl) => {
            within(al << bl, ah << bl)
        }
        Binary::And => masked(a, b).or_else(|| masked(b, a)),
        Binary::Equal if ah < bl || bh < al => Some(Range::of(0)),
        Binary::Below => decided(ah < bl, al >= bh),
        Binary::AtMost => decided(ah <= bl, al > bh),
        _ => None,
    }
}

fn decided(always: bool, never: bool) -> Option<Range> {
    (always || never).then(|| Range::of(i64::from(always)))
}

/// The low bits of a number.
fn masked(a: Range, mask: Range) -> Option<Range> {
    let mask = mask.one().ok().filter(|m| *m >= 0)?;
    let bits = mask.trailing_ones();
    if bits >= 63 || mask != !(-1 << bits) {
        return None;
    }
    match a.low >> bits == a.high >> bits {
        true => Some(Range::new(a.low & mask, a.high & mask, a.from)),
        false => Some(Range::new(0, mask, a.from)),
    }
}
