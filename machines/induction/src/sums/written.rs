//! Rounds in which numbers are factors, each by itself.
//!
//! In: [`Sums`]. Out: the same with a constant for each number that loops move, where the rounds are few.
//! A number in a loop is a place like an element of an array; in rounds that a program has outside of
//! loops it is a constant, and both are one in this form.

use super::{Box, Place, Sums, joined, multiple, wrapped};
use semantics::op::OpCode;
use semantics::subst::{free_vars, replace_vars};
use semantics::term::Term;
use std::collections::HashMap;

/// Rounds that are written out at most.
const MOST: i64 = 1 << 9;

impl Sums {
    /// The same with numbers as constants, and factors that are constants as how often a part is added; none
    /// where there are too many rounds of numbers.
    pub(crate) fn written_out(&self) -> Option<Sums> {
        let numbered = self.kinds.values().flatten().filter(|b| b.has_numbers());
        let rounds = |b: &Box| b.sides.iter().map(|s| s.rounds).product::<i64>();
        if numbered.map(rounds).sum::<i64>() > MOST {
            return None;
        }
        let mut out = Sums {
            width: self.width,
            constant: self.constant,
            ..Sums::default()
        };
        for (&kind, boxes) in &self.kinds {
            for one in boxes {
                for (kind, part) in constants(kind, one)? {
                    add(&mut out, kind, part)?;
                }
            }
        }
        for boxes in out.kinds.values_mut() {
            joined(boxes, self.width);
        }
        out.kinds.retain(|_, boxes| !boxes.is_empty());
        Some(out)
    }
}

/// A box as boxes without numbers, one for each round; as it is where a number moves with loops around.
fn constants(kind: Term, of: &Box) -> Option<Vec<(Term, Box)>> {
    let mut numbers = of.places.iter().filter(|p| p.0.is_none());
    let fixed = numbers.all(|p| p.2.as_constant().is_some());
    if !of.has_numbers() || !fixed {
        return Some(vec![(kind, of.clone())]);
    }
    rounds(of)?
        .into_iter()
        .map(|places| {
            let kind = with_constants(kind, &places)?;
            let places = places.into_iter().filter(|p| p.0.is_some()).collect();
            let part = Box {
                places,
                sides: Vec::new(),
                times: of.times,
            };
            Some((kind, part))
        })
        .collect()
}

/// The places of each round.
fn rounds(of: &Box) -> Option<Vec<Vec<Place>>> {
    let mut all = vec![of.places.clone()];
    for side in &of.sides {
        let mut more = Vec::new();
        for places in &all {
            for k in 0..side.rounds {
                let moved = places.iter().zip(&side.steps).map(|(place, step)| {
                    let at = place.2.offset(step.checked_mul(k)?).ok()?;
                    Some((place.0, place.1, at))
                });
                more.push(moved.collect::<Option<Vec<Place>>>()?);
            }
        }
        all = more;
    }
    Some(all)
}

/// A kind with constants for its numbers; its elements are counted anew.
fn with_constants(kind: Term, places: &[Place]) -> Option<Term> {
    let mut names: HashMap<&str, Term> = HashMap::new();
    let names_of: Vec<String> = (0..places.len()).map(|k| format!("%{k}")).collect();
    let variables = free_vars(kind);
    let mut next = 0;
    for (name, place) in names_of.iter().zip(places) {
        let variable = variables
            .iter()
            .find(|v| v.as_var() == Some(name.as_str()))?;
        let new = match place.0 {
            None => Term::bv(place.1, i128::from(place.2.as_constant()?)),
            Some(_) => {
                next += 1;
                Term::var(&format!("%{}", next - 1), variable.sort())
            }
        };
        names.insert(name, new);
    }
    Some(replace_vars(kind, &names))
}

/// Adds a part, whose constant factor is how often it is added.
fn add(out: &mut Sums, kind: Term, mut part: Box) -> Option<()> {
    let mut kind = kind;
    while let Some([x, y]) = kind.args_of(OpCode::BvMul) {
        let (factor, inner) = match (x.as_bits(), y.as_bits()) {
            (Some(n), _) => (n, *y),
            (_, Some(n)) => (n, *x),
            _ => break,
        };
        part.times = wrapped(multiple(factor, part.times)?, out.width);
        kind = inner;
    }
    if let Some(bits) = kind.as_bits() {
        let more = multiple(bits, part.times)?;
        out.constant = wrapped(out.constant.wrapping_add(more), out.width);
        return Some(());
    }
    out.kinds.entry(kind).or_default().push(part);
    Some(())
}
