//! Values that are made of the low bits of wider ones, computed before these are cut.
//!
//! In: a value of a lane. Out: the same as the low bits of one wide value, where all that it is made of is cut
//! from values of that width, or constant: `u8((a >> 11) << 3)` is written with a shift of bytes, which few
//! machines have, and is a shift of `a`'s elements as well. Operators that low bits suffice for are followed, none
//! else. Who uses one proves it.

use crate::fragment::lane_width;
use crate::legal::{raw, two};
use semantics::op::{Op, OpCode};
use semantics::term::Term;
use std::collections::{HashMap, HashSet};

/// A value as the low bits of a wider one.
pub(crate) fn uncut(t: Term) -> Option<Term> {
    // What is cut is that already.
    if t.args_of(OpCode::Extract).is_some() || t.as_bits().is_some() {
        return None;
    }
    let mut uncut = Uncut {
        width: lane_width(t),
        wide: width_before(t)?,
        known: HashMap::new(),
    };
    let wide = uncut.of(t)?;
    raw(
        Op::with(OpCode::Extract, lane_width(t)),
        &[wide, Term::int(0)],
    )
}

/// The width of what the first value that is cut is cut from; none where something else is read.
fn width_before(t: Term) -> Option<u32> {
    let (mut seen, mut work) = (HashSet::new(), vec![t]);
    while let Some(t) = work.pop() {
        if t.as_bits().is_some() || !seen.insert(t) {
            continue;
        }
        if let Some(args) = t.args_of(OpCode::Extract) {
            return args[0].sort().width().filter(|w| *w > lane_width(t));
        }
        let (op, args) = t.as_app()?;
        work.extend(operands(op, args)?);
    }
    None
}

/// The operands whose low bits are all that an operator's result needs of them.
fn operands(op: Op, args: &[Term]) -> Option<&[Term]> {
    use OpCode as C;
    match op.code {
        C::BvAdd | C::BvSub | C::BvMul | C::BvNeg | C::BvAnd | C::BvOr | C::BvXor | C::BvNot => {
            Some(args)
        }
        C::BvShl => args[1].as_bits().is_some().then_some(&args[..1]),
        C::Ite => Some(&args[1..]),
        _ => None,
    }
}

struct Uncut {
    width: u32,
    wide: u32,
    known: HashMap<Term, Option<Term>>,
}

impl Uncut {
    /// A wide value with the same low bits.
    fn of(&mut self, t: Term) -> Option<Term> {
        if let Some(known) = self.known.get(&t) {
            return *known;
        }
        let found = self.computed(t);
        self.known.insert(t, found);
        found
    }

    fn computed(&mut self, t: Term) -> Option<Term> {
        if let Some(bits) = t.as_bits() {
            return Some(Term::bits(bits.zext(self.wide)));
        }
        let (op, args) = t.as_app()?;
        if op.code == OpCode::Extract {
            let lo = args[1]
                .as_int()
                .filter(|_| args[0].sort().width() == Some(self.wide))?;
            return match lo {
                0 => Some(args[0]),
                lo => two(OpCode::BvLshr, args[0], Term::bv(self.wide, lo.into())),
            };
        }
        if t.sort().width() != Some(self.width) {
            return None;
        }
        let followed = operands(op, args)?;
        let mut all = Vec::new();
        for &x in args {
            all.push(match (followed.contains(&x), x.sort().width()) {
                (true, Some(_)) => self.of(x)?,
                // A count, or a condition.
                (_, Some(_)) => Term::bits(x.as_bits()?.zext(self.wide)),
                (_, None) => x,
            });
        }
        raw(op, &all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use semantics::sort::Sort;
    use smt::prover::Prover;

    fn low(x: Term, lo: i64) -> Term {
        raw(Op::with(OpCode::Extract, 8), &[x, Term::int(lo)]).expect("a part")
    }

    #[test]
    fn what_is_made_of_low_bits_is_cut_at_the_end() {
        let [x, y] = ["x", "y"].map(|name| Term::var(name, Sort::Bv(16)));
        let by = |n| Term::bv(8, n);
        let make = |code, x, y| two(code, x, y).expect("a value");
        let shifted = make(OpCode::BvShl, low(x, 3), by(3));
        let all = [
            shifted,
            make(OpCode::BvOr, shifted, low(y, 0)),
            make(
                OpCode::BvMul,
                make(OpCode::BvAnd, low(x, 8), by(240)),
                low(y, 1),
            ),
            make(OpCode::BvSub, by(255), low(y, 5)),
        ];
        let prover = Prover::new(Default::default());
        for t in all {
            let other = uncut(t).expect("all of it is cut from 16 bits");
            assert!(prover.prove_equal(t, other).is_proved(), "{t}: {other}");
            assert_eq!(uncut(other), None);
        }
        // Nothing wider is known of a byte, and low bits do not make a shift down.
        let byte = Term::var("z", Sort::Bv(8));
        assert_eq!(uncut(make(OpCode::BvAdd, low(x, 0), byte)), None);
        assert_eq!(uncut(make(OpCode::BvLshr, low(x, 0), by(1))), None);
    }

    #[test]
    fn values_that_are_used_twice_are_looked_at_once() {
        let [z, low] = [
            Term::var("z", Sort::Bv(8)),
            low(Term::var("x", Sort::Bv(16)), 0),
        ];
        let squares = |x| (0..100).fold(x, |t, _| two(OpCode::BvMul, t, t).expect("a value"));
        assert_eq!(uncut(squares(z)), None);
        let wide = uncut(squares(low)).expect("all of it is cut from 16 bits");
        assert_eq!(uncut(wide), None);
    }
}
