//! Floats that are rounded to whole numbers before something else.
//!
//! In: an application. Out: an equal one of what is not rounded before: a conversion that cuts off is
//! one that rounds; a NaN is one before too; from `2^fraction` on every float is whole, so that
//! comparisons with what is more see no difference; a whole number bounds what is rounded towards it as it
//! bounds the float.

use super::bounds::value;
use super::{Format, Rounding};
use crate::build as b;
use crate::op::{Op, OpCode};
use crate::term::Term;

/// The conversion, and what it converts, of a conversion that cuts off what was rounded.
pub fn unrounded(op: Op, x: Term) -> Option<(Op, Term)> {
    let cuts = matches!(op.code, OpCode::FToSint | OpCode::FToUint)
        && op.params[2] == Rounding::Zero.code();
    let (round, inner) = x
        .as_app()
        .filter(|(r, _)| cuts && r.code == OpCode::FRound)?;
    let same = round.params[0] == op.params[0];
    let op = Op::with3(op.code, op.params[0], op.params[1], round.params[1]);
    same.then_some((op, inner[0]))
}

/// The conversion that rounds, by one that cuts off what was rounded: for machines without it.
pub fn by_rounding(op: Op, args: &[Term]) -> Option<Term> {
    let rounds = matches!(op.code, OpCode::FToSint | OpCode::FToUint)
        && op.params[2] != Rounding::Zero.code();
    let round = Op::with2(OpCode::FRound, op.params[0], op.params[2]);
    let whole = rounds.then(|| Term::raw_app(round, args).ok())??;
    let cut = Op::with3(op.code, op.params[0], op.params[1], Rounding::Zero.code());
    Term::raw_app(cut, &[whole]).ok()
}

/// An application to what is not rounded before.
pub fn of_rounding(op: Op, args: &[Term]) -> Option<Term> {
    use OpCode as C;
    match op.code {
        C::FToSint | C::FToUint => {
            let (op, x) = unrounded(op, args[0])?;
            Some(b::app(op, &[x]))
        }
        C::FUnord | C::FLe | C::FLt => {
            let format = Format::from_code(op.params[0])?;
            let past = |t: &Term| {
                let bound = t.as_bits().and_then(value);
                let least = 2f64.powi(format.fraction() as i32);
                op.code == C::FUnord || bound.is_some_and(|x| x.abs() > least)
            };
            // What is rounded down is at least a whole number, or below one, where the float is.
            let whole = |t: &Term| {
                let bound = t.as_bits().and_then(value);
                bound.is_some_and(|x| x.is_infinite() || x.fract() == 0.0)
            };
            let rounded = |t: &Term, by: Rounding| {
                let round = t.as_app().filter(|(round, _)| round.code == C::FRound);
                round.is_some_and(|(round, _)| round.params[1] == by.code())
            };
            let ways = match op.code {
                C::FLe => [Rounding::Up, Rounding::Down],
                _ => [Rounding::Down, Rounding::Up],
            };
            let free = [0, 1]
                .map(|k| past(&args[1 - k]) || whole(&args[1 - k]) && rounded(&args[k], ways[k]));
            let inner = |(x, free): (&Term, bool)| match x.args_of(C::FRound) {
                Some(inner) if free => inner[0],
                _ => *x,
            };
            let plain: Vec<Term> = args.iter().zip(free).map(inner).collect();
            (plain != args).then(|| b::app(op, &plain))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::float::bounds::number;
    use crate::sort::Sort;
    use crate::testing::same_of_x;

    /// Whether two terms of `x` are equal at fractions, ends of types, infinities and NaN.
    fn same(format: Format, a: Term, b: Term) {
        let whole = [
            0.0,
            1.0,
            255.0,
            8_388_608.0,
            2f64.powi(31),
            2f64.powi(52),
            2f64.powi(63),
        ];
        same_of_x([a, b], format, 5, &|random| {
            let near = random.pick(&whole) + random.below(9) as f64 / 4.0 - 1.0;
            let near = if random.below(2) == 0 { -near } else { near };
            match random.below(3) {
                0 => random.next_bits() & (u64::MAX >> (64 - format.width())),
                _ => number(format, near).as_bits().expect("it is one").low_u64(),
            }
        });
    }

    #[test]
    fn a_whole_number_bounds_what_is_rounded_towards_it_as_it_bounds_the_float() {
        for format in [Format::F32, Format::F64] {
            let x = Term::var("x", Sort::Bv(format.width()));
            let (mut free, mut all) = (0, 0);
            for rounding in 0..4 {
                let round = Op::with2(OpCode::FRound, format.code(), rounding);
                let round = Term::raw_app(round, &[x]).expect("the types fit");
                for bound in [0.0, 1.0, -255.0, 0.5, 2f64.powi(31), f64::INFINITY] {
                    let bound = number(format, bound);
                    for code in [OpCode::FLe, OpCode::FLt] {
                        for sides in [[round, bound], [bound, round]] {
                            let op = Op::with(code, format.code());
                            let whole = Term::raw_app(op, &sides).expect("the types fit");
                            all += 1;
                            if let Some(plain) = of_rounding(op, &sides) {
                                same(format, whole, plain);
                                free += 1;
                            }
                        }
                    }
                }
            }
            assert!(free >= 20 && free < all / 2, "{free} of {all}");
        }
    }

    #[test]
    fn what_is_rounded_before_is_rounded_by_the_conversion() {
        for format in [Format::F32, Format::F64] {
            let x = Term::var("x", Sort::Bv(format.width()));
            for rounding in 0..4 {
                let round = b::app(Op::with2(OpCode::FRound, format.code(), rounding), &[x]);
                for code in [OpCode::FToSint, OpCode::FToUint] {
                    let cut = Op::with3(code, format.code(), 32, Rounding::Zero.code());
                    let both = Term::raw_app(cut, &[round]).expect("the types fit");
                    let once = of_rounding(cut, &[round]).expect("it is rounded");
                    same(format, both, once);
                    let (op, args) = once.as_app().expect("a conversion");
                    let again = by_rounding(op, args);
                    assert_eq!(again.is_some(), rounding != Rounding::Zero.code());
                    assert!(again.is_none_or(|again| again == both));
                }
                let bound = number(format, 2f64.powi(format.fraction() as i32 + 1));
                for (code, args) in [
                    (OpCode::FLe, [bound, round]),
                    (OpCode::FLt, [round, bound]),
                    (OpCode::FUnord, [round, round]),
                ] {
                    let op = Op::with(code, format.code());
                    let whole = Term::raw_app(op, &args).expect("the types fit");
                    let plain = of_rounding(op, &args).expect("it sees no difference");
                    assert_ne!(whole, plain);
                    let bit = |t: Term| b::ite(t, Term::bv(8, 1), Term::bv(8, 0));
                    same(format, bit(whole), bit(plain));
                }
                let near = number(format, 2f64.powi(format.fraction() as i32));
                let left = of_rounding(Op::with(OpCode::FLt, format.code()), &[round, near]);
                assert_eq!(left.is_none(), rounding != Rounding::Down.code());
            }
        }
    }
}
