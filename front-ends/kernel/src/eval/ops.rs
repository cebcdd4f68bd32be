//! What each operation does to one lane, in exact integers.
//!
//! In: an operation, its result type, operands with their types. Out: the result, in range.
//! Written from the definitions in the language reference, not from the lowering: the two
//! are compared in tests.

use crate::tree::{Op, Reduction};
use crate::types::Elem;

/// A count that is past every width, so that larger ones behave alike.
const FAR: i128 = 100;

/// The count of a shift: the operand read as unsigned, at most [`FAR`].
fn count(elem: Elem, value: i128) -> u32 {
    let count = elem.as_unsigned().wrap(value).min(FAR);
    u32::try_from(count).expect("a count between 0 and FAR fits")
}

/// `(x + (1 << (s-1))) >> s` without wrapping; `x` itself when `s` is 0.
fn round_shift(x: i128, s: u32) -> i128 {
    if s == 0 { x } else { (x + (1 << (s - 1))) >> s }
}

/// The result of one operation on one lane.
///
/// # Panics
/// When the number of operands is not the operation's: the checker excludes it.
pub(super) fn apply(op: Op, to: Elem, from: &[Elem], x: &[i128]) -> i128 {
    if op == Op::Bits {
        return to.wrap(x[0]);
    }
    if op != Op::Select && (from[0].format().is_some() || to.format().is_some()) {
        return super::float::apply(op, to, from, x);
    }
    match op {
        Op::Add => to.wrap(x[0] + x[1]),
        Op::Sub => to.wrap(x[0] - x[1]),
        Op::Mul => to.wrap(x[0].wrapping_mul(x[1])),
        Op::Div if x[1] == 0 => 0,
        Op::Div => to.wrap(x[0].div_euclid(x[1])),
        Op::Rem if x[1] == 0 => 0,
        Op::Rem => to.wrap(x[0].rem_euclid(x[1])),
        Op::Neg => to.wrap(-x[0]),
        Op::Min => x[0].min(x[1]),
        Op::Max => x[0].max(x[1]),
        Op::And => to.wrap(x[0] & x[1]),
        Op::Or => to.wrap(x[0] | x[1]),
        Op::Xor => to.wrap(x[0] ^ x[1]),
        Op::Not => to.wrap(!x[0]),
        Op::Shl | Op::Shr => shift(op, to, x[0], count(from[1], x[1])),
        Op::Eq => i128::from(x[0] == x[1]),
        Op::Ne => i128::from(x[0] != x[1]),
        Op::Lt => i128::from(x[0] < x[1]),
        Op::Le => i128::from(x[0] <= x[1]),
        Op::Select => {
            if x[0] != 0 {
                x[1]
            } else {
                x[2]
            }
        }
        Op::Cast => to.wrap(x[0]),
        Op::SatCast => to.saturate(x[0]),
        Op::SatAdd => to.saturate(x[0] + x[1]),
        Op::SatSub => to.saturate(x[0] - x[1]),
        Op::Abs => x[0].abs(),
        Op::Absd => (x[0] - x[1]).abs(),
        Op::Avg => (x[0] + x[1] + 1) >> 1,
        Op::AvgFloor => (x[0] + x[1]) >> 1,
        Op::RoundShr => round_shift(x[0], count(from[1], x[1])),
        Op::MulShr => to.saturate((x[0] * x[1]) >> count(from[2], x[2])),
        Op::RoundMulShr => to.saturate(round_shift(x[0] * x[1], count(from[2], x[2]))),
        Op::Clz => i128::from(to.as_unsigned().wrap(x[0]).leading_zeros() + to.bits() - 128),
        Op::Popcount => i128::from(to.as_unsigned().wrap(x[0]).count_ones()),
        Op::Bits => to.wrap(x[0]),
        Op::Fma
        | Op::Sqrt
        | Op::RoundEven
        | Op::Floor
        | Op::Ceil
        | Op::Trunc
        | Op::Flush
        | Op::Call(_) => {
            unreachable!("the checker lets {op} be applied to floats only")
        }
    }
}

fn shift(op: Op, to: Elem, x: i128, s: u32) -> i128 {
    let past = s >= to.bits();
    match op {
        Op::Shl if past => 0,
        Op::Shl => to.wrap(x << s),
        _ if past => {
            if x < 0 {
                -1
            } else {
                0
            }
        }
        _ => x >> s,
    }
}

/// Two values reduced to one.
pub(super) fn reduce(reduction: Reduction, elem: Elem, a: i128, b: i128) -> i128 {
    let op = match reduction {
        Reduction::Add => Op::Add,
        Reduction::Min => Op::Min,
        Reduction::Max => Op::Max,
    };
    apply(op, elem, &[elem, elem], &[a, b])
}
