//! The operators of procedures as terms.
//!
//! In: an operator, its types, terms. Out: a term over the table's operators.

use super::Sym;
use crate::build as b;
use crate::float::{Format, Rounding};
use crate::instruction::Element;
use crate::machine::procedure::{Binary, Unary};
use crate::op::{Op, OpCode};
use crate::term::Term;

fn f32_code() -> u32 {
    Format::F32.code()
}

const NEAREST: u32 = Rounding::NearestEven as u32;

fn width(element: Element) -> u32 {
    element.width().unwrap_or(64)
}

fn is_float(element: Element) -> bool {
    matches!(element, Element::Float(_))
}

/// A value as a term of its type.
pub fn term(value: Sym, element: Element) -> Term {
    match value {
        Sym::Term(t) => t,
        Sym::Known(n) if element == Element::Mask => Term::bool(n != 0),
        Sym::Known(n) => Term::bv(width(element), i128::from(n)),
    }
}

/// An operator on a term of type `from`, giving one of type `to`.
///
/// # Errors
/// Where the operator has no term.
pub fn unary(op: Unary, a: Term, from: Element, to: Element) -> Result<Term, String> {
    Ok(match (op, is_float(from), is_float(to)) {
        (Unary::Convert | Unary::Saturate, true, true) | (Unary::AsFloat, ..) => a,
        (Unary::Convert | Unary::Saturate, false, true) => {
            let code = match from {
                Element::Signed(_) => OpCode::FFromSint,
                _ => OpCode::FFromUint,
            };
            b::app(Op::with2(code, f32_code(), NEAREST), &[a])
        }
        (Unary::Convert, false, false) => match from {
            Element::Signed(_) => b::resize_signed(a, width(to)),
            _ => b::resize_unsigned(a, width(to)),
        },
        (Unary::Saturate, false, false) => clamped(a, from, to)?,
        (Unary::Saturate, true, false) => rounded(a, to)?,
        (Unary::Convert, true, false) => return Err("a float is cut".to_owned()),
        (Unary::Not, ..) if to == Element::Mask => b::negate(a),
        (Unary::Not, ..) => b::not(a),
        (Unary::IsFinite, ..) => return Err("it asks whether data is finite".to_owned()),
    })
}

fn clamped(a: Term, from: Element, to: Element) -> Result<Term, String> {
    let (Element::Signed(_), Element::Signed(w)) = (from, to) else {
        return Err("only signed numbers are clamped here".to_owned());
    };
    Ok(match a.width() <= w {
        true => b::sext(a, w),
        false => b::sat_ss(a, w),
    })
}

/// The integer that a float was made of, when every such integer is a float.
fn small_integer(a: Term) -> Option<Term> {
    let [x] = a.args_of(OpCode::FFromSint)? else {
        return None;
    };
    (x.width() <= 24).then_some(*x)
}

/// The nearest integer, clamped; 0 for what is no number.
fn rounded(a: Term, to: Element) -> Result<Term, String> {
    let Element::Signed(w) = to else {
        return Err("only signed numbers are rounded to here".to_owned());
    };
    // A small integer is its own nearest one.
    if let Some(x) = small_integer(a).filter(|x| x.width() <= w) {
        return Ok(b::sext(x, w));
    }
    let x = b::app(Op::with2(OpCode::FRound, f32_code(), NEAREST), &[a]);
    let mut convert = Op::new(OpCode::FToSint);
    convert.params[..3].copy_from_slice(&[f32_code(), w, Rounding::Zero as u32]);
    let whole = b::app(convert, &[x]);
    let power = (1_u64 << (w - 1)) as f32;
    let bound = Term::bv(32, i128::from(power.to_bits()));
    let above = b::app(Op::with(OpCode::FLe, f32_code()), &[bound, x]);
    let is_nan = b::app(Op::with(OpCode::FUnord, f32_code()), &[x, x]);
    let most = Term::bv(w, (1_i128 << (w - 1)) - 1);
    Ok(b::ite(is_nan, b::zero(w), b::ite(above, most, whole)))
}

/// An operator on two values of a type.
///
/// # Errors
/// Where the operator has no term.
pub fn binary(op: Binary, x: Sym, y: Sym, element: Element) -> Result<Term, String> {
    let (a, c) = (term(x, element), term(y, element));
    if is_float(element) {
        return of_floats(op, a, c);
    }
    let signed = matches!(element, Element::Signed(_));
    let truth = element == Element::Mask;
    Ok(match op {
        Binary::And if truth => b::both(a, c),
        Binary::Or if truth => b::either(a, c),
        // A sum with 0 is the other, as it is in every kernel.
        Binary::Add if x == Sym::Known(0) => c,
        Binary::Add if y == Sym::Known(0) => a,
        Binary::Add => b::add(a, c),
        Binary::Sub => b::sub(a, c),
        Binary::Mul => b::mul(a, c),
        Binary::And => b::and(a, c),
        Binary::Or => b::or(a, c),
        Binary::Xor => b::xor(a, c),
        Binary::Shl => b::shl(a, c),
        Binary::Shr if signed => b::ashr(a, c),
        Binary::Shr => b::lshr(a, c),
        Binary::RoundShr => shifted(a, y)?,
        Binary::Min if signed => b::smin(a, c),
        Binary::Max if signed => b::smax(a, c),
        Binary::Min => b::umin(a, c),
        Binary::Max => b::umax(a, c),
        Binary::Equal => b::eq(a, c),
        Binary::Below if signed => b::slt(a, c),
        Binary::Below => b::ult(a, c),
        Binary::AtMost if signed => b::sle(a, c),
        Binary::AtMost => b::ule(a, c),
        Binary::Div | Binary::Rem => return Err("data is divided".to_owned()),
    })
}

/// A shift to the right that rounds to even.
fn shifted(a: Term, by: Sym) -> Result<Term, String> {
    let Sym::Known(n) = by else {
        return Err("a shift depends on data".to_owned());
    };
    let w = a.width();
    let n = match u32::try_from(n).ok().filter(|n| *n < w) {
        Some(0) => return Ok(a),
        Some(n) => n,
        None => return Ok(b::zero(w)),
    };
    let floor = b::ashr(a, Term::bv(w, i128::from(n)));
    let rest = b::extract(a, 0, n);
    let half = Term::bv(n, 1_i128 << (n - 1));
    let tie = b::both(b::eq(rest, half), b::bit(a, n));
    let up = b::either(b::ult(half, rest), tie);
    Ok(b::add(floor, b::ite(up, Term::bv(w, 1), b::zero(w))))
}

/// A number in place of its product with 1, which differs from it in a NaN that is not quiet:
/// for operators that make every NaN quiet.
fn without_one(t: Term) -> Term {
    let one = Term::bv(32, i128::from(1.0_f32.to_bits()));
    match t.args_of(OpCode::FMul) {
        Some([x, y]) if *y == one => *x,
        _ => t,
    }
}

fn of_floats(op: Binary, x: Term, y: Term) -> Result<Term, String> {
    let quiet = [without_one(x), without_one(y)];
    let rounded = |code| b::app(Op::with2(code, f32_code(), NEAREST), &quiet);
    let plain = |code| b::app(Op::with(code, f32_code()), &[x, y]);
    let one = Term::bv(32, i128::from(1.0_f32.to_bits()));
    Ok(match op {
        // A small integer times 1 is exact.
        Binary::Mul if y == one && small_integer(x).is_some() => x,
        Binary::Add => rounded(OpCode::FAdd),
        Binary::Sub => rounded(OpCode::FSub),
        Binary::Mul => rounded(OpCode::FMul),
        Binary::Min => plain(OpCode::FMin),
        Binary::Max => plain(OpCode::FMax),
        Binary::Equal => plain(OpCode::FEq),
        Binary::Below => plain(OpCode::FLt),
        Binary::AtMost => plain(OpCode::FLe),
        Binary::RoundShr => x,
        _ => return Err("floats have no bits".to_owned()),
    })
}

/// One of two values of a type.
pub fn select(c: Term, x: Sym, y: Sym, element: Element) -> Term {
    b::ite(c, term(x, element), term(y, element))
}

#[cfg(test)]
mod tests;
