//! Twins: operations that do what another does, with the upper halves of wider registers.
//!
//! In: an operation, and which of its registers are to be read from the upper half of one twice as
//! wide, or that its result is to stand above another register. Out: the operation that does that at
//! once, where a target has one: found by its meaning, not by its name.

use crate::candidates::{Candidate, Candidates};
use crate::cost::Cost;
use crate::goal::leaf;
use autoir::program::Formal;
use semantics::build as b;
use semantics::instruction::{Form, Role};
use semantics::sort::Sort;
use semantics::subst::replace_vars;
use semantics::term::Term;
use std::collections::{HashMap, HashSet};

/// What a twin does otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Twin {
    /// It reads the upper halves of registers twice as wide: a bit for each operand.
    Reads(u32),
    /// It leaves the result in the upper half of a register twice as wide, whose lower half is one
    /// more operand.
    Leaves,
}

/// An operation that is one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Found {
    /// Which one.
    pub(crate) operation: usize,
    /// The place among the operands of the one more.
    pub(crate) lower: Option<usize>,
}

impl Candidates {
    /// The cheapest twin of an operation.
    pub(crate) fn twin(&self, of: usize, twin: Twin) -> Option<Found> {
        self.twins.get_or((of, twin), || self.find_twin(of, twin))
    }

    fn find_twin(&self, of: usize, twin: Twin) -> Option<Found> {
        let c = &self.list[of];
        let width = match twin {
            Twin::Reads(_) => c.width,
            Twin::Leaves => 2 * c.width,
        };
        let all = self.by_width(width).iter();
        let mut found = all.filter_map(|&operation| {
            let other = &self.list[operation];
            let alike = other.form != Form::Free
                && other.instance.formals.len()
                    == c.instance.formals.len() + usize::from(twin == Twin::Leaves);
            let lower = match (alike, twin) {
                (true, Twin::Reads(upper)) => reads(c, other, upper).then_some(None),
                (true, Twin::Leaves) => leaves(c, other).map(Some),
                (false, _) => None,
            }?;
            Some(Found { operation, lower })
        });
        found.next()
    }

    /// What an operation counts for.
    pub(crate) fn cost_of(&self, operation: usize) -> Cost {
        self.list[operation].cost
    }

    /// How many of the lowest bits of an operand an operation reads for so many of the lowest of its result.
    pub(crate) fn bits_read(&self, operation: usize, operand: usize, bits: u32) -> u32 {
        let c = &self.list[operation];
        let elements = bits.div_ceil(c.natural).min(c.width / c.natural);
        self.read.get_or((operation, operand, elements), || {
            let name = c.instance.formals[operand].name.as_str();
            let (mut seen, mut most) = (HashSet::new(), 0);
            let mut work: Vec<Term> = (0..elements).map(|k| c.element(c.natural, k)).collect();
            while let Some(t) = work.pop() {
                match leaf(t) {
                    Some((of, lo)) if of == name => most = most.max(lo + t.width()),
                    Some(_) => {}
                    None => work.extend(t.children().filter(|t| seen.insert(*t))),
                }
            }
            most
        })
    }

    /// Whether both halves of all that an operation gives are the same.
    pub(crate) fn repeats(&self, operation: usize) -> bool {
        let half = self.list[operation].width / 2;
        self.repeats_every(operation, half)
    }

    /// Whether all that an operation gives repeats its lowest bits, so many.
    pub(crate) fn repeats_every(&self, operation: usize, bits: u32) -> bool {
        let c = &self.list[operation];
        let each = bits / c.natural;
        c.width.is_multiple_of(bits)
            && bits.is_multiple_of(c.natural)
            && (each..c.width / c.natural)
                .all(|k| c.element(c.natural, k) == c.element(c.natural, k % each))
    }
}

impl Candidate {
    /// Whether it treats the lanes of its registers, of some width, alike and apart.
    pub(crate) fn is_by_lanes(&self) -> bool {
        [8, 16, 32, 64].into_iter().any(|width| {
            self.packed_lane(width).is_some_and(|f| {
                f.lanes * width == self.width && f.inputs.iter().all(|(_, stride)| *stride == width)
            })
        })
    }
}

/// Whether an operation does with the upper halves of these operands what another does with them.
fn reads(c: &Candidate, other: &Candidate, upper: u32) -> bool {
    let pairs = || c.instance.formals.iter().zip(&other.instance.formals);
    let twice = |k: usize| 1 + (upper >> k & 1);
    let fits = pairs()
        .enumerate()
        .all(|(k, (f, g))| f.role == g.role && f.width * twice(k) == g.width);
    let element = c.natural;
    if !fits || !c.width.is_multiple_of(element) {
        return false;
    }
    let spelled = pairs().map(|(f, g)| {
        let whole = Term::var(&g.name, Sort::Bv(g.width));
        (
            f.name.as_str(),
            b::extract(whole, g.width - f.width, f.width),
        )
    });
    let spelled: HashMap<&str, Term> = spelled.collect();
    same(c, &spelled, 0, other, element)
}

/// The operand whose bits an operation has below what another computes, where it does that.
fn leaves(c: &Candidate, other: &Candidate) -> Option<usize> {
    let element = c.natural;
    if !c.width.is_multiple_of(element) {
        return None;
    }
    let formals = &other.instance.formals;
    let is_lower = |f: &Formal| {
        f.width == c.width && f.role == Role::Register && {
            let whole = Term::var(&f.name, Sort::Bv(f.width));
            let mut parts = 0..c.width / element;
            parts.all(|k| other.element(element, k) == b::extract(whole, k * element, element))
        }
    };
    let lower = formals.iter().position(is_lower)?;
    let mut rest = formals.clone();
    rest.remove(lower);
    let own = &c.instance.formals;
    let fits = own
        .iter()
        .zip(&rest)
        .all(|(f, g)| f.role == g.role && f.width == g.width);
    let named = own.iter().zip(&rest);
    let spelled = named.map(|(f, g)| (f.name.as_str(), Term::var(&g.name, Sort::Bv(g.width))));
    let spelled: HashMap<&str, Term> = spelled.collect();
    (fits && same(c, &spelled, c.width / element, other, element)).then_some(lower)
}

/// Whether the elements of an operation, with its operands spelled so, are those of another from one on.
fn same(
    c: &Candidate,
    spelled: &HashMap<&str, Term>,
    from: u32,
    other: &Candidate,
    element: u32,
) -> bool {
    let plain = |t: Term| crate::canonical::sink_extensions(t);
    (0..c.width / element).all(|k| {
        let own = replace_vars(c.element(element, k), spelled);
        plain(own) == plain(other.element(element, from + k))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{candidates, operation};

    /// Element `k` of an operand inside a map, from a bit on.
    fn at(name: &str, whole: u32, element: u32, from: i64) -> Term {
        let stride = b::int_mul(Term::index(), Term::int(element.into()));
        let place = b::int_add(stride, Term::int(from));
        b::extract_at(Term::var(name, Sort::Bv(whole)), place, element)
    }

    /// Differences of extended bytes, of operands of so many bits from these on.
    fn differences(whole: [u32; 2], from: [i64; 2]) -> Term {
        let side = |k: usize| b::zext(at(["a", "b"][k], whole[k], 8, from[k]), 16);
        b::map(8, b::sub(side(0), side(1)))
    }

    #[test]
    fn what_reads_upper_halves_is_found_by_its_meaning() {
        let all = vec![
            operation("low", &[("a", 64), ("b", 64)], differences([64; 2], [0; 2])),
            operation(
                "other",
                &[("a", 128), ("b", 128)],
                differences([128; 2], [64, 0]),
            ),
            operation(
                "high",
                &[("a", 128), ("b", 128)],
                differences([128; 2], [64; 2]),
            ),
        ];
        let machine = candidates(all, None);
        let place = |name: &str| machine.list.iter().position(|c| c.instruction == name);
        let low = place("low").expect("it is one");
        let found = machine
            .twin(low, Twin::Reads(3))
            .map(|found| found.operation);
        assert_eq!(found, place("high"));
        assert_eq!(machine.twin(low, Twin::Reads(1)), None);
        assert_eq!(machine.twin(low, Twin::Leaves), None);
        let high = place("high").expect("it is one");
        assert_eq!(machine.bits_read(low, 0, 128), 64);
        assert_eq!(machine.bits_read(high, 1, 128), 128);
        assert_eq!(
            machine.bits_read(high, 1, 16),
            64 + 8,
            "for the lowest difference"
        );
    }

    #[test]
    fn what_repeats_its_lowest_bits_is_found() {
        let x = Term::var("a", Sort::Bv(64));
        let twice = b::concat(&[x, x]);
        let all = vec![operation("twice", &[("a", 64)], b::concat(&[twice, twice]))];
        let machine = candidates(all, None);
        assert!(machine.repeats(0) && machine.repeats_every(0, 64));
        assert!(!machine.repeats_every(0, 32));
    }

    #[test]
    fn what_leaves_its_result_above_another_register_is_found_by_its_meaning() {
        let upper = |n: u32| b::map(n, b::extract(at("a", 128, 16, 0), 8, 8));
        let lower = |n: u32| b::map(n, b::extract(at("a", 128, 16, 0), 0, 8));
        let r = Term::var("r", Sort::Bv(64));
        let all = vec![
            operation("cut", &[("a", 128)], upper(8)),
            operation("other", &[("r", 64), ("a", 128)], b::concat(&[lower(8), r])),
            operation("below", &[("r", 64), ("a", 128)], b::concat(&[r, upper(8)])),
            operation("above", &[("r", 64), ("a", 128)], b::concat(&[upper(8), r])),
        ];
        let machine = candidates(all, None);
        let place = |name: &str| machine.list.iter().position(|c| c.instruction == name);
        let found = machine.twin(place("cut").expect("it is one"), Twin::Leaves);
        let above = place("above").map(|operation| Found {
            operation,
            lower: Some(0),
        });
        assert_eq!(found, above);
    }
}
