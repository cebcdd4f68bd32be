//! What lanes have in common: one function, and what each lane feeds it.
//!
//! In: one term for each lane. Out: the function that all of them are (their least general
//! generalisation), with the arguments of each lane: elements of inputs, and constants where
//! these differ between lanes. A lane that was written without a step that does nothing in it
//! (`x + 0`) takes part in that step.
//!
//! Plotkin, "A note on inductive generalization" (1970), over terms with neutral elements. Of
//! operators that differ it does not make a choice by lane.

use crate::goal::leaf;
use semantics::bits::Bits;
use semantics::build as b;
use semantics::op::{Op, OpCode};
use semantics::term::Term;
use std::collections::HashMap;
use std::rc::Rc;

/// The name of the variable that stands for stream `k`.
pub(super) fn leaf_name(k: usize) -> String {
    format!("lane{k}")
}

/// The function over [`leaf_name`] variables, and for each variable its value in every lane.
pub(super) fn common(lanes: Vec<Term>) -> Option<(Term, Vec<Vec<Term>>)> {
    let mut found = Common::default();
    let function = found.visit(lanes)?;
    Some((function, found.streams))
}

#[derive(Default)]
struct Common {
    streams: Vec<Vec<Term>>,
    /// What is known of lanes: terms share parts, of which each is looked at once.
    memo: HashMap<Rc<[Term]>, Option<Term>>,
    /// The lanes that have something in common, in the order in which that was found.
    found: Vec<Rc<[Term]>>,
    /// The number of each variable, as they were met.
    variables: HashMap<Term, usize>,
    /// What is read below a term.
    read: HashMap<Term, u64>,
}

impl Common {
    fn visit(&mut self, lanes: Vec<Term>) -> Option<Term> {
        if let Some(&done) = self.memo.get(lanes.as_slice()) {
            return done;
        }
        let out = self.generalised(&lanes);
        let lanes: Rc<[Term]> = lanes.into();
        if out.is_some() {
            self.found.push(Rc::clone(&lanes));
        }
        self.memo.insert(lanes, out);
        out
    }

    /// As it was when so many streams and lanes were found; what has nothing in common stays known.
    fn back_to(&mut self, (streams, found): (usize, usize)) {
        self.streams.truncate(streams);
        for lanes in self.found.drain(found..) {
            self.memo.remove(&lanes);
        }
    }

    fn generalised(&mut self, lanes: &[Term]) -> Option<Term> {
        let (&first, others) = lanes.split_first()?;
        if lanes.iter().all(|t| leaf(*t).is_some()) {
            return self.stream(lanes);
        }
        let Some((op, args)) = first.as_app() else {
            return match others.iter().all(|t| *t == first) {
                true => Some(first),
                false if lanes.iter().all(|t| t.as_bits().is_some()) => self.stream(lanes),
                false => self.with_neutral(lanes),
            };
        };
        let same = |t: &Term| {
            t.as_app()
                .is_some_and(|(o, a)| o == op && a.len() == args.len())
        };
        if !others.iter().all(same) {
            return self.with_neutral(lanes);
        }
        let turned: Vec<bool> = match *args {
            [x, y] if commutes(op.code) => {
                let of = (self.read_by(x), self.read_by(y));
                lanes.iter().map(|t| self.is_turned(*t, of)).collect()
            }
            _ => vec![false; lanes.len()],
        };
        let argument = |k: usize| {
            let of = move |(t, turned): (&Term, &bool)| {
                let k = if *turned { 1 - k } else { k };
                t.as_app().map(|(_, a)| a[k])
            };
            lanes.iter().zip(&turned).filter_map(of)
        };
        let args: Option<Vec<Term>> = (0..args.len())
            .map(|k| self.visit(argument(k).collect()))
            .collect();
        Some(b::app(op, &args?))
    }

    /// Whether the operands of a lane read what those of another read the other way round: terms are
    /// ordered by how they are written, and a step that is not there is a reason for another order.
    fn is_turned(&mut self, lane: Term, (first, second): (u64, u64)) -> bool {
        let Some((_, &[x, y])) = lane.as_app() else {
            return false;
        };
        first != second && (self.read_by(x), self.read_by(y)) == (second, first)
    }

    /// A bit for each variable below a term; many of them share bits.
    fn read_by(&mut self, t: Term) -> u64 {
        if let Some(&known) = self.read.get(&t) {
            return known;
        }
        let bits = match t.as_app() {
            _ if t.as_var().is_some() => {
                let next = self.variables.len();
                1 << (*self.variables.entry(t).or_insert(next) % 64)
            }
            Some((_, args)) => args.iter().fold(0, |bits, arg| bits | self.read_by(*arg)),
            None => 0,
        };
        self.read.insert(t, bits);
        bits
    }

    /// A variable with these values, one for each lane.
    fn stream(&mut self, lanes: &[Term]) -> Option<Term> {
        let sort = lanes.first()?.sort();
        if lanes.iter().any(|t| t.sort() != sort) {
            return None;
        }
        let k = self.streams.len();
        self.streams.push(lanes.to_vec());
        Some(Term::var(&leaf_name(k), sort))
    }

    /// Lanes some of which are computed by one more step, with a constant where some are.
    fn with_neutral(&mut self, lanes: &[Term]) -> Option<Term> {
        let stepped = |t: &Term| t.as_app().and_then(|(op, _)| step(*t, op).map(|_| op));
        let all = || lanes.iter().filter_map(stepped);
        // A shift is a product too.
        let product = all().find(|op| op.code == OpCode::BvMul);
        let Some(op) = product.or_else(|| all().next()) else {
            return self.with_partner(lanes);
        };
        let neutral = Term::bits(neutral(op.code, lanes[0].sort().width()?)?);
        let known: Vec<_> = lanes.iter().map(|&t| step(t, op)).collect();
        let mut factors = known.iter().flatten().map(|(value, _)| *value);
        let one = factors
            .next()
            .filter(|first| factors.all(|t| t == *first && op.code == OpCode::BvMul));
        let zero = |t: Term| t.as_bits().is_some_and(Bits::is_zero);
        let steps = lanes.iter().zip(known).map(|(&t, found)| match one {
            // Nothing times what the others are multiples of.
            Some(one) if zero(t) => (one, t),
            _ => found.unwrap_or((t, neutral)),
        });
        let (values, constants) = steps.unzip();
        let (value, constant) = (self.visit(values)?, self.visit(constants)?);
        Some(b::app(op, &[value, constant]))
    }

    /// Lanes some of which are put together of two values, the others of one.
    fn with_partner(&mut self, lanes: &[Term]) -> Option<Term> {
        let width = lanes[0].sort().width()?;
        let joins = |t: &Term| {
            let (op, args) = t.as_app()?;
            let joins = commutes(op.code) && args.len() == 2;
            joins.then(|| Some((op, neutral(op.code, width)?)))?
        };
        let (op, neutral) = lanes.iter().find_map(joins)?;
        let neutral = Term::bits(neutral);
        let plain = lanes
            .iter()
            .find(|t| t.as_app().is_none_or(|(own, _)| own != op))?;
        for first in [0, 1] {
            let parts = lanes.iter().map(|&t| match t.as_app() {
                Some((own, &[x, y])) if own == op => match (x == *plain, y == *plain, first) {
                    (true, false, _) | (false, false, 0) | (true, true, _) => (x, y),
                    _ => (y, x),
                },
                _ => (t, neutral),
            });
            let (values, partners) = parts.unzip();
            let before = (self.streams.len(), self.found.len());
            let both = self.visit(values).zip(self.visit(partners));
            if let Some((value, partner)) = both {
                return Some(b::app(op, &[value, partner]));
            }
            self.back_to(before);
        }
        None
    }
}

/// The value and the constant of a step; a shift to the left is a product too.
fn step(t: Term, op: Op) -> Option<(Term, Term)> {
    let (own, args) = t.as_app()?;
    let &[x, y] = args else { return None };
    if !has_neutral(op.code) {
        return None;
    }
    if own == op {
        return match (x.as_bits(), y.as_bits()) {
            (None, Some(_)) => Some((x, y)),
            (Some(_), None) if commutes(op.code) => Some((y, x)),
            _ => None,
        };
    }
    let by = y.as_bits()?.to_u64().and_then(|n| u32::try_from(n).ok())?;
    let product = op.code == OpCode::BvMul && own.code == OpCode::BvShl && by < t.width();
    product.then(|| (x, Term::bits(Bits::from_u64(t.width(), 1).shl_u32(by))))
}

fn commutes(code: OpCode) -> bool {
    use OpCode as C;
    matches!(code, C::BvAdd | C::BvMul | C::BvAnd | C::BvOr | C::BvXor)
}

/// Whether there is a constant with which an operator changes nothing.
fn has_neutral(code: OpCode) -> bool {
    neutral(code, 1).is_some()
}

/// The constant with which an operator changes nothing.
fn neutral(code: OpCode, width: u32) -> Option<Bits> {
    use OpCode as C;
    match code {
        C::BvSub | C::BvShl | C::BvLshr | C::BvAshr => Some(Bits::zero(width)),
        _ => code.neutral(width),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use semantics::sort::Sort;

    fn x(k: u32) -> Term {
        b::extract(Term::var("x", Sort::Bv(64)), 8 * k, 8)
    }

    fn two(code: OpCode, x: Term, y: Term) -> Term {
        b::app(Op::new(code), &[x, y])
    }

    fn number(n: i128) -> Term {
        Term::bv(8, n)
    }

    #[test]
    fn constants_that_differ_are_a_stream() {
        let lanes = (0..4).map(|k| two(OpCode::BvAnd, x(k), number(3 + i128::from(k))));
        let (function, streams) = common(lanes.collect()).expect("one function");
        assert_eq!(function.to_string(), "(bvand lane0 lane1)");
        assert_eq!(streams[0], (0..4).map(x).collect::<Vec<_>>());
        assert_eq!(streams[1], [3, 4, 5, 6].map(number));
    }

    #[test]
    fn a_constant_of_all_lanes_stays() {
        let lanes = (0..4).map(|k| two(OpCode::BvAnd, x(k), number(3)));
        let (function, streams) = common(lanes.collect()).expect("one function");
        assert_eq!(
            (function.to_string(), streams.len()),
            ("(bvand lane0 0x03:8)".into(), 1)
        );
    }

    #[test]
    fn a_lane_without_the_step_takes_part_in_it() {
        let add = [x(0), two(OpCode::BvAdd, x(1), number(1))];
        let (_, streams) = common(add.to_vec()).expect("one function");
        assert_eq!(streams[1], [0, 1].map(number));
        let scaled = [
            x(0),
            two(OpCode::BvMul, x(1), number(3)),
            two(OpCode::BvShl, x(2), number(2)),
        ];
        let (_, streams) = common(scaled.to_vec()).expect("one function");
        assert_eq!(streams[1], [1, 3, 4].map(number));
    }

    #[test]
    fn a_lane_without_the_step_may_have_its_operands_the_other_way_round() {
        let base = Term::var("base", Sort::Bv(8));
        for first in [
            two(OpCode::BvMul, base, x(0)),
            two(OpCode::BvMul, x(0), base),
        ] {
            let lane = |k: u32| {
                let less = two(OpCode::BvAdd, base, number(-i128::from(k)));
                [
                    two(OpCode::BvMul, less, x(k)),
                    two(OpCode::BvMul, x(k), less),
                ]
            };
            let others = (1..8u32).map(|k| lane(k)[usize::from(k % 3 == 0)]);
            let lanes = std::iter::once(first).chain(others).collect();
            let (_, streams) = common(lanes).expect("one function");
            assert!(streams.contains(&vec![base; 8]), "{streams:?}");
            assert!(streams.contains(&(0..8).map(x).collect()), "{streams:?}");
        }
    }

    #[test]
    fn multiples_of_one_value_beside_another_are_one_function() {
        let (base, far) = (x(0), x(1));
        let times = |n: i128| two(OpCode::BvAdd, base, two(OpCode::BvMul, far, number(n)));
        let doubled = two(OpCode::BvShl, far, number(1));
        let lanes = [
            base,
            two(OpCode::BvAdd, base, far),
            two(OpCode::BvAdd, base, doubled),
            times(3),
        ];
        let (function, streams) = common(lanes.to_vec()).expect("one function");
        assert!(function.to_string().contains("bvmul"));
        assert!(streams.contains(&[0, 1, 2, 3].map(number).to_vec()));
        assert!(streams.contains(&vec![base; 4]) && streams.contains(&vec![far; 4]));
    }

    #[test]
    fn conditions_that_differ_have_no_step() {
        let less = |k: u32, n: i128| b::slt(x(k), number(n));
        let lanes = [less(0, 3), b::eq(x(1), number(4))];
        let lanes = lanes.map(|c| b::ite(c, x(2), x(3)));
        assert!(common(lanes.to_vec()).is_none());
    }

    /// What has nothing in common at the bottom is found out once, not once for each path to it.
    #[test]
    fn deep_functions_that_differ_far_below_are_told_apart() {
        let chain = |first: Term| {
            (0..60).fold(first, |t, _| {
                two(
                    OpCode::BvAdd,
                    two(OpCode::BvAnd, t, number(7)),
                    b::sext(b::extract(t, 1, 7), 8),
                )
            })
        };
        let divided = |k: u32| two(OpCode::BvUdiv, x(k), x(k + 1));
        assert!(common(vec![chain(divided(0)), chain(x(2))]).is_none());
        assert!(common(vec![chain(divided(0)), chain(divided(2))]).is_some());
    }

    #[test]
    fn different_functions_have_nothing_in_common() {
        let lanes = [
            two(OpCode::BvAdd, x(0), x(1)),
            two(OpCode::BvSub, x(2), x(3)),
        ];
        assert!(common(lanes.to_vec()).is_none());
    }
}
