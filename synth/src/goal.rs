//! Goals: what a register has to hold.
//!
//! In: flat element terms over a window's inputs. Out: [`Goal`], a register's worth of
//! elements some of which may not matter. Goals are compared structurally, so that one
//! solution serves every place that needs the same register.

use semantics::bits::Bits;
use semantics::build as b;
use semantics::op::OpCode;
use semantics::term::Term;

/// A register's elements, least significant first; `None` where any value will do.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Goal {
    /// Width of one element in bits.
    pub element: u32,
    /// The elements.
    pub elements: Vec<Option<Term>>,
}

impl Goal {
    /// Width of the register in bits.
    pub fn width(&self) -> u32 {
        self.element * self.elements.len() as u32
    }

    /// The same as the low end of a register of so many bits, of which the rest does not matter.
    pub fn widened(&self, width: u32) -> Goal {
        let mut goal = self.clone();
        goal.elements.resize((width / goal.element) as usize, None);
        goal
    }

    /// The elements that matter.
    pub fn live(&self) -> impl Iterator<Item = Term> + '_ {
        self.elements.iter().copied().flatten()
    }

    /// A measure that every reduction to operands makes smaller: nodes to be computed, then
    /// elements to be placed.
    pub fn measure(&self) -> (u64, usize) {
        let nodes = |t: Term| {
            if leaf(t).is_some() || t.as_bits().is_some() {
                0
            } else {
                u64::from(t.size())
            }
        };
        (
            self.live().map(nodes).sum(),
            self.live().filter(|t| t.as_bits().is_none()).count(),
        )
    }

    /// Whether every element that matters is a constant.
    pub fn is_constant(&self) -> bool {
        self.live().all(|t| t.as_bits().is_some())
    }

    /// The value, when every element that matters is a constant; the others are 0.
    pub fn constant(&self) -> Option<Bits> {
        let zero = Bits::zero(self.element);
        let bits = |e: &Option<Term>| e.map_or(Some(&zero), |t| t.as_bits());
        let parts: Option<Vec<&Bits>> = self.elements.iter().rev().map(bits).collect();
        Bits::joined(&parts?)
    }

    /// The input and the lowest bit, when the register is consecutive bits of one input.
    pub fn input_part(&self) -> Option<(&'static str, u32)> {
        let mut found: Option<(&'static str, i64)> = None;
        for (k, t) in self.elements.iter().enumerate() {
            let Some(t) = t else { continue };
            let (name, lo) = leaf(*t)?;
            let base = i64::from(lo) - k as i64 * i64::from(self.element);
            match found {
                Some(f) if f != (name, base) => return None,
                _ => found = Some((name, base)),
            }
        }
        let (name, base) = found?;
        u32::try_from(base).ok().map(|base| (name, base))
    }

    /// The goal with all of its elements written otherwise; none where one of them cannot be.
    pub(crate) fn with_all(&self, other: &mut dyn FnMut(Term) -> Option<Term>) -> Option<Goal> {
        let mut one = |t: &Option<Term>| match t {
            Some(t) => other(*t).map(Some),
            None => Some(None),
        };
        let elements: Option<Vec<Option<Term>>> = self.elements.iter().map(&mut one).collect();
        Some(Goal {
            element: self.element,
            elements: elements?,
        })
    }

    /// Whether a register with these elements holds what is wanted in its place.
    pub(crate) fn holds(&self, wanted: &Goal) -> bool {
        let mut both = self.elements.iter().zip(&wanted.elements);
        let same = self.elements.len() == wanted.elements.len();
        same && both.all(|(own, wanted)| wanted.is_none() || own == wanted)
    }

    /// Whether every element that matters is a piece of an input or a constant.
    pub fn only_moves(&self) -> bool {
        self.live()
            .all(|t| leaf(t).is_some() || t.as_bits().is_some())
    }

    /// The elements from `first` on.
    pub fn part(&self, first: usize, count: usize) -> Goal {
        Goal {
            element: self.element,
            elements: self.elements[first..first + count].to_vec(),
        }
    }

    /// The lower half, where nothing of the upper one matters.
    pub fn lower_half(&self) -> Option<Goal> {
        let half = self.elements.len() / 2;
        let free = |elements: &[Option<Term>]| elements.iter().all(Option::is_none);
        let whole = half > 0 && self.elements.len().is_multiple_of(2);
        (whole && free(&self.elements[half..])).then(|| self.part(0, half))
    }

    /// The same register seen as elements of another width, when that loses nothing.
    pub fn with_element(&self, width: u32) -> Option<Goal> {
        if width == self.element {
            return Some(self.clone());
        }
        if width > self.element {
            let n = (width / self.element) as usize;
            if !width.is_multiple_of(self.element) || !self.elements.len().is_multiple_of(n) {
                return None;
            }
            let elements = self
                .elements
                .chunks(n)
                .map(join_chunk)
                .collect::<Option<Vec<_>>>()?;
            return Some(Goal {
                element: width,
                elements,
            });
        }
        if !self.element.is_multiple_of(width) {
            return None;
        }
        let pieces = |t: &Option<Term>| -> Vec<Option<Term>> {
            (0..self.element / width)
                .map(|k| t.map(|t| b::extract(t, k * width, width)))
                .collect()
        };
        Some(Goal {
            element: width,
            elements: self.elements.iter().flat_map(pieces).collect(),
        })
    }
}

/// Neighbours as one wider element: all of them matter, or none does.
fn join_chunk(chunk: &[Option<Term>]) -> Option<Option<Term>> {
    if chunk.iter().all(Option::is_none) {
        return Some(None);
    }
    let parts: Option<Vec<Term>> = chunk.iter().rev().copied().collect();
    Some(Some(b::concat(&parts?)))
}

/// The input and the lowest bit, for a term that is a piece of an input.
pub(crate) fn leaf(t: Term) -> Option<(&'static str, u32)> {
    if let Some(name) = t.as_var() {
        return Some((name, 0));
    }
    let args = t.args_of(OpCode::Extract)?;
    Some((args[0].as_var()?, u32::try_from(args[1].as_int()?).ok()?))
}
