//! What is known of a value when only the way of its bits is asked for.
//!
//! In: pieces of operands and constants. Out: [`Part`]s, least significant first, cut and
//! joined as the operators of structure and the bitwise ones do. What an operator does to
//! the numbers is not followed: its result depends on everything that it reads.

use semantics::bits::Bits;
use std::collections::BTreeSet;

/// Bits of an operand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Range {
    pub(crate) operand: usize,
    pub(crate) lo: u32,
    pub(crate) width: u32,
}

pub(crate) type Ranges = BTreeSet<Range>;

/// Where some neighbouring bits are from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum What {
    /// A constant.
    Known(Bits),
    /// Bit `k` is made from bit `lo + k` of each of these.
    Aligned { from: BTreeSet<(usize, u32)> },
    /// Each bit depends on all of these.
    Mixed { from: Ranges },
    /// An operand and so many bytes.
    Address { operand: usize, offset: i64 },
}

/// Some neighbouring bits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    pub(crate) width: u32,
    pub(crate) what: What,
    /// Whether the bits are those of one of the sources, unchanged.
    pub(crate) moved: bool,
    /// What decides which of the sources it is.
    pub(crate) by: Ranges,
}

impl Part {
    pub(crate) fn known(bits: Bits) -> Part {
        Part {
            width: bits.width(),
            what: What::Known(bits),
            moved: true,
            by: Ranges::new(),
        }
    }

    pub(crate) fn operand(operand: usize, lo: u32, width: u32) -> Part {
        Part {
            width,
            what: What::Aligned {
                from: [(operand, lo)].into(),
            },
            moved: true,
            by: Ranges::new(),
        }
    }

    pub(crate) fn mixed(width: u32, from: Ranges, moved: bool, by: Ranges) -> Part {
        Part {
            width,
            what: What::Mixed { from },
            moved,
            by,
        }
    }

    /// What the bits are made from, without what decides.
    pub(crate) fn from(&self) -> Ranges {
        match &self.what {
            What::Known(_) => Ranges::new(),
            What::Aligned { from } => from
                .iter()
                .map(|&(operand, lo)| Range {
                    operand,
                    lo,
                    width: self.width,
                })
                .collect(),
            What::Mixed { from } => from.clone(),
            What::Address { operand, .. } => [Range {
                operand: *operand,
                lo: 0,
                width: self.width,
            }]
            .into(),
        }
    }

    /// Some of the bits.
    fn cut(&self, lo: u32, width: u32) -> Part {
        let what = match &self.what {
            What::Known(bits) => What::Known(bits.extract(lo, width)),
            What::Aligned { from } => What::Aligned {
                from: from.iter().map(|&(o, at)| (o, at + lo)).collect(),
            },
            What::Address { .. } if width < self.width => What::Mixed { from: self.from() },
            other => other.clone(),
        };
        Part {
            width,
            what,
            moved: self.moved,
            by: self.by.clone(),
        }
    }

    /// Both together, when the second goes on where the first ends.
    fn joined(&self, next: &Part) -> Option<Part> {
        if self.moved != next.moved || self.by != next.by {
            return None;
        }
        let what = match (&self.what, &next.what) {
            (What::Known(a), What::Known(b)) => What::Known(b.concat(a)),
            (What::Aligned { from: a }, What::Aligned { from: b }) => {
                let on: BTreeSet<_> = a.iter().map(|&(o, lo)| (o, lo + self.width)).collect();
                if on != *b {
                    return None;
                }
                What::Aligned { from: a.clone() }
            }
            _ => return None,
        };
        Some(Part {
            width: self.width + next.width,
            what,
            ..self.clone()
        })
    }
}

/// Bits from `lo` up; what lies past the end is zero.
pub(crate) fn slice(parts: &[Part], lo: u32, width: u32) -> Vec<Part> {
    let (mut out, mut at) = (Vec::new(), 0);
    for part in parts {
        let (from, to) = (lo.max(at), (lo + width).min(at + part.width));
        if from < to {
            out.push(part.cut(from - at, to - from));
        }
        at += part.width;
    }
    let there: u32 = out.iter().map(|p| p.width).sum();
    if there < width {
        out.push(Part::known(Bits::zero(width - there)));
    }
    out
}

/// The same parts, as few as possible.
pub(crate) fn join(parts: Vec<Part>) -> Vec<Part> {
    let mut out: Vec<Part> = Vec::with_capacity(parts.len());
    for part in parts {
        match out.last().and_then(|last| last.joined(&part)) {
            Some(both) => *out.last_mut().expect("there is a last part") = both,
            None => out.push(part),
        }
    }
    out
}

/// The constant that all the parts are.
pub(crate) fn constant(parts: &[Part]) -> Option<Bits> {
    let mut whole: Option<Bits> = None;
    for part in parts {
        let What::Known(bits) = &part.what else {
            return None;
        };
        whole = Some(match whole {
            None => bits.clone(),
            Some(low) => bits.concat(&low),
        });
    }
    whole
}

/// Two values cut at the same places, piece by piece.
pub(crate) fn zip(a: &[Part], b: &[Part], f: &dyn Fn(&Part, &Part) -> Part) -> Vec<Part> {
    let mut cuts = BTreeSet::new();
    for parts in [a, b] {
        let mut at = 0;
        for part in parts {
            at += part.width;
            cuts.insert(at);
        }
    }
    let (mut out, mut at) = (Vec::new(), 0);
    for cut in cuts {
        let (x, y) = (slice(a, at, cut - at), slice(b, at, cut - at));
        out.push(f(&x[0], &y[0]));
        at = cut;
    }
    join(out)
}

/// What is made from two pieces, bit by bit.
fn of_both(a: &Part, b: &Part) -> What {
    match (&a.what, &b.what) {
        (What::Aligned { from: x }, What::Aligned { from: y }) => What::Aligned {
            from: x.union(y).copied().collect(),
        },
        (What::Aligned { from }, What::Known(_)) | (What::Known(_), What::Aligned { from }) => {
            What::Aligned { from: from.clone() }
        }
        _ => What::Mixed {
            from: a.from().union(&b.from()).copied().collect(),
        },
    }
}

/// What a choice between two pieces gives.
pub(crate) fn either(a: &Part, b: &Part, by: &Ranges) -> Part {
    if a == b {
        return a.clone();
    }
    let all: Ranges = a.by.iter().chain(&b.by).chain(by).copied().collect();
    let moved = a.moved && b.moved;
    Part {
        width: a.width,
        what: of_both(a, b),
        moved,
        by: all,
    }
}

/// What an operator on each bit gives of two pieces; `unit` is the constant bit that leaves
/// the other one as it is, `absorbs` the one that decides.
pub(crate) fn bitwise(a: &Part, b: &Part, unit: bool, absorbs: Option<bool>) -> Part {
    let all = |bits: &Bits, bit: bool| match bit {
        true => *bits == Bits::ones(bits.width()),
        false => bits.is_zero(),
    };
    for (x, y) in [(a, b), (b, a)] {
        let What::Known(bits) = &x.what else { continue };
        if all(bits, unit) {
            return y.clone();
        }
        if absorbs.is_some_and(|bit| all(bits, bit)) {
            return x.clone();
        }
    }
    let by = a.by.union(&b.by).copied().collect();
    Part {
        width: a.width,
        what: of_both(a, b),
        moved: false,
        by,
    }
}
