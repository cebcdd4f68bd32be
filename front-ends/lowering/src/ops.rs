//! Operations as terms.
//!
//! In: an operation, its result type, operands as terms with their types. Out: a term of the
//! result's width. Operations that must not wrap are computed one or more bits wider; for a
//! count that is known they use no wider a term than they need.

use kernel::tree::Op;
use kernel::types::Elem;
use semantics::bits::Bits;
use semantics::build as b;
use semantics::difference;
use semantics::division::Narrower;
use semantics::op::OpCode;
use semantics::term::Term;

/// The value in `width` bits, extended by its own signedness or cut.
fn resize(x: Term, from: Elem, width: u32) -> Term {
    if from.is_signed() {
        b::resize_signed(x, width)
    } else {
        b::resize_unsigned(x, width)
    }
}

/// The value clamped to the range of `to`, read by the signedness of `signed`.
fn saturate(x: Term, signed: bool, to: Elem) -> Term {
    let bits = to.bits();
    if x.width() < bits {
        return saturate(
            if signed {
                b::sext(x, bits)
            } else {
                b::zext(x, bits)
            },
            signed,
            to,
        );
    }
    match (signed, to.is_signed()) {
        (true, true) => b::sat_ss(x, bits),
        (true, false) => b::sat_su(x, bits),
        (false, true) => b::sat_us(x, bits),
        (false, false) => b::sat_uu(x, bits),
    }
}

/// The width of the integers that vector machines convert floats to.
const WORD: u32 = 32;

/// The term of one operation on one lane of a vector: floats become small integers by way of words,
/// which machines clamp as they narrow them.
pub(super) fn in_lanes(op: Op, to: Elem, from: &[Elem], x: &[Term]) -> Term {
    let narrows = op == Op::SatCast && to.is_int() && to.bits() < WORD;
    match from.first().and_then(|from| from.format()) {
        Some(_) if narrows => {
            let word = term(op, Elem::signed(WORD), from, x);
            saturate(word, true, to)
        }
        _ => term(op, to, from, x),
    }
}

/// The term of one operation on one lane.
///
/// # Panics
/// When the operands do not fit the operation: the checker excludes it.
pub(super) fn term(op: Op, to: Elem, from: &[Elem], x: &[Term]) -> Term {
    if op == Op::Bits {
        return x[0];
    }
    let floats = from[0].format().is_some() || to.format().is_some();
    if floats && op != Op::Select {
        return super::float::term(op, to, from, x);
    }
    if from[0] == Elem::Bool {
        return truth(op, to, x);
    }
    let (signed, w) = (from[0].is_signed(), from[0].bits());
    let wide = |n: usize, by: u32| resize(x[n], from[n], w + by);
    match op {
        Op::Add => b::add(x[0], x[1]),
        Op::Sub => b::sub(x[0], x[1]),
        Op::Mul => b::mul(x[0], x[1]),
        Op::Neg => b::neg(x[0]),
        Op::And => b::and(x[0], x[1]),
        Op::Or => b::or(x[0], x[1]),
        Op::Xor => b::xor(x[0], x[1]),
        Op::Not => b::not(x[0]),
        Op::Div | Op::Rem => division(op, signed, x[0], x[1]),
        Op::Min if signed => b::smin(x[0], x[1]),
        Op::Min => b::umin(x[0], x[1]),
        Op::Max if signed => b::smax(x[0], x[1]),
        Op::Max => b::umax(x[0], x[1]),
        Op::Shl => b::shl(x[0], x[1]),
        Op::Shr if signed => b::ashr(x[0], x[1]),
        Op::Shr => b::lshr(x[0], x[1]),
        Op::Eq => b::eq(x[0], x[1]),
        Op::Ne => b::negate(b::eq(x[0], x[1])),
        Op::Lt if signed => b::slt(x[0], x[1]),
        Op::Lt => b::ult(x[0], x[1]),
        Op::Le if signed => b::sle(x[0], x[1]),
        Op::Le => b::ule(x[0], x[1]),
        Op::Select => b::ite(x[0], x[1], x[2]),
        Op::Cast => resize(x[0], from[0], to.bits()),
        Op::SatCast => saturate(x[0], signed, to),
        Op::SatAdd => saturate(b::add(wide(0, 1), wide(1, 1)), signed, to),
        Op::SatSub => saturate(b::sub(wide(0, 1), wide(1, 1)), true, to),
        Op::Abs if signed => b::abs(x[0]),
        Op::Abs => x[0],
        Op::Absd => difference::absolute(x[0], x[1], signed),
        Op::Avg | Op::AvgFloor => {
            let sum = b::add(wide(0, 1), wide(1, 1));
            let sum = if op == Op::Avg {
                b::add(sum, Term::bv(w + 1, 1))
            } else {
                sum
            };
            b::extract(sum, 1, w)
        }
        Op::RoundShr if known(x[1]).is_some() => {
            b::extract(round_shift(wide(0, 1), signed, x[1], w), 0, w)
        }
        // The shifted value and the last bit that it loses, if it loses any: nothing wider.
        Op::RoundShr => {
            let shift = |by: Term| match signed {
                true => b::ashr(x[0], by),
                false => b::lshr(x[0], by),
            };
            let one = Term::bv(w, 1);
            let last = b::and(shift(b::sub(x[1], one)), b::umin(x[1], one));
            b::add(shift(x[1]), last)
        }
        Op::MulShr => {
            let (product, s) = (b::mul(wide(0, w), wide(1, w)), b::zext(x[2], w + w));
            saturate(
                if signed {
                    b::ashr(product, s)
                } else {
                    b::lshr(product, s)
                },
                signed,
                to,
            )
        }
        Op::RoundMulShr => {
            // Half of the divisor fits beside the product without a wider term when it is
            // small enough against the largest product.
            let most = if signed { w + w - 2 } else { w + 1 };
            let room = if known(x[2]).is_some_and(|s| s <= u64::from(most)) {
                w
            } else {
                w + 2
            };
            let product = b::mul(wide(0, room), wide(1, room));
            saturate(round_shift(product, signed, x[2], w + w), signed, to)
        }
        Op::Clz => b::clz(x[0]),
        Op::Popcount => b::popcnt(x[0]),
        Op::Bits => x[0],
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

/// The value of a constant count.
fn known(count: Term) -> Option<u64> {
    count.as_bits()?.to_u64()
}

/// Operations whose first operand is a truth value.
fn truth(op: Op, to: Elem, x: &[Term]) -> Term {
    match op {
        Op::And => b::both(x[0], x[1]),
        Op::Or => b::either(x[0], x[1]),
        Op::Not => b::negate(x[0]),
        Op::Xor | Op::Ne => b::ite(x[0], b::negate(x[1]), x[1]),
        Op::Eq => b::ite(x[0], x[1], b::negate(x[1])),
        Op::Select => b::ite(x[0], x[1], x[2]),
        _ => b::ite(x[0], Term::bv(to.bits(), 1), Term::bv(to.bits(), 0)),
    }
}

/// Euclidean division, by zero 0. That by a power of two is a shift with the sign, or what this loses; that of a
/// value that fits fewer bits by a constant that does is that at these bits, extended.
fn division(op: Op, signed: bool, x: Term, y: Term) -> Term {
    let w = x.width();
    if let Some(narrower) = Narrower::of(signed, x, y) {
        let signed = narrower.extension == OpCode::Sext;
        let result = division(op, signed, narrower.dividend, narrower.by());
        return match signed {
            true => b::sext(result, w),
            false => b::zext(result, w),
        };
    }
    if let Some(by) = power_of_two(y).filter(|by| *by < w - u32::from(signed)) {
        let count = Term::bv(w, i128::from(by));
        return match (op, signed) {
            (Op::Div, true) => b::ashr(x, count),
            (Op::Div, false) => b::lshr(x, count),
            _ => b::and(x, Term::bv(w, (1i128 << by) - 1)),
        };
    }
    let (zero, one) = (b::zero(w), Term::bv(w, 1));
    let (quotient, rest) = if signed {
        let (q, r) = (b::sdiv(x, y), b::srem(x, y));
        let negative = b::slt(r, zero);
        let divisor_negative = b::slt(y, zero);
        let towards = b::ite(divisor_negative, b::add(q, one), b::sub(q, one));
        let lifted = b::ite(divisor_negative, b::sub(r, y), b::add(r, y));
        (b::ite(negative, towards, q), b::ite(negative, lifted, r))
    } else {
        (b::udiv(x, y), b::urem(x, y))
    };
    b::ite(
        b::eq(y, zero),
        zero,
        if op == Op::Div { quotient } else { rest },
    )
}

/// Of which power of two a constant is.
fn power_of_two(t: Term) -> Option<u32> {
    let n = t.as_bits()?.to_u64().filter(|n| n.is_power_of_two())?;
    Some(n.trailing_zeros())
}

/// `(x + (1 << (s-1))) >> s` for an `x` that leaves two bits free above its value of `value`
/// bits: past that count, the result is 0.
fn round_shift(x: Term, signed: bool, s: Term, value: u32) -> Term {
    let w = x.width();
    let right = |x: Term, s: Term| if signed { b::ashr(x, s) } else { b::lshr(x, s) };
    if let Some(s) = s.as_bits() {
        let Some(s) = s
            .to_u64()
            .and_then(|s| u32::try_from(s).ok())
            .filter(|&s| s <= value)
        else {
            return b::zero(w);
        };
        if s == 0 {
            return x;
        }
        let half = Term::bits(Bits::from_u64(w, 1).shl(&Bits::from_u64(w, u64::from(s - 1))));
        return right(b::add(x, half), Term::bv(w, i128::from(s)));
    }
    let s = b::zext(s, w);
    let half = b::shl(Term::bv(w, 1), b::sub(s, Term::bv(w, 1)));
    let rounded = right(b::add(x, half), s);
    let far = b::ult(Term::bv(w, i128::from(value)), s);
    b::ite(far, b::zero(w), b::ite(b::eq(s, b::zero(w)), x, rounded))
}
