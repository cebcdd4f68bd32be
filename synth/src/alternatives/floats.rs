//! Operations on floats by others: those of 16 bits by integers and by wider floats.
//!
//! In: an application. Out: equal terms: arithmetic and conversions of short floats as
//! [`semantics::float::wider`] has them, their comparisons by the order of patterns; conversions to
//! integers by those that saturate ([`semantics::float::saturating`]); the lesser and
//! the greater of two as a choice, for machines whose own treat NaN or zeros in another way; quotients of
//! integers by those of floats ([`semantics::float::quotient`]).

use crate::legal::raw;
use semantics::build as b;
use semantics::float::{Format, quotient, rounded, saturating, wider};
use semantics::op::{Op, OpCode};
use semantics::term::Term;

/// Equal terms, likeliest first.
pub(crate) fn simpler(op: Op, args: &[Term]) -> Vec<Term> {
    use OpCode as C;
    let short = || Format::from_code(op.params[0]).filter(|f| f.width() == 16);
    let found = match op.code {
        C::FLt | C::FLe | C::FEq | C::FUnord => short().and_then(|f| compared(f, op.code, args)),
        C::FMin => extreme(op, args, [0, 1]),
        C::FMax => extreme(op, args, [1, 0]),
        _ => wider::by_wider(op, args),
    };
    let saturated = saturating::by_saturating(op, args);
    let quotients = quotient::by_floats(op, args);
    found
        .into_iter()
        .chain(rounded::by_rounding(op, args))
        .chain(saturated)
        .chain(quotients)
        .collect()
}

/// A conversion of what is clamped or rounded, where one of what is not does as much.
pub(crate) fn converted(t: Term) -> Option<Term> {
    let (op, args) = t.as_app()?;
    if let Some((op, x)) = args.first().and_then(|&x| rounded::unrounded(op, x)) {
        return raw(op, &[x]);
    }
    saturating::by_clamped(op, args).or_else(|| saturating::of_rounded(t))
}

/// A conversion by ones that saturate, as many bits to as many; of each the conversion that it rests on and the float
/// that is converted.
pub(crate) fn saturated(t: Term) -> Vec<(Term, Term, Term)> {
    let mended = saturating::of_mended_below(t);
    let wider = saturating::by_wider(mended.unwrap_or(t));
    let wide = wider.and_then(|other| Some((other, *other.as_app()?.1.first()?)));
    let all = mended.map(|m| (m, m)).into_iter().chain(wide);
    all.filter_map(|(other, rests_on)| Some((other, rests_on, saturating::source(rests_on)?)))
        .collect()
}

fn two(code: OpCode, x: Term, y: Term) -> Option<Term> {
    applied(Op::new(code), &[x, y])
}

/// An application as it stands; of constants, its value.
fn applied(op: Op, args: &[Term]) -> Option<Term> {
    let constant = |t: &Term| t.as_bits().is_some() || t.as_bool().is_some();
    match args.iter().all(constant) {
        true => Some(b::app(op, args)),
        false => raw(op, args),
    }
}

/// The first operand where these two are in order, else the second.
fn extreme(op: Op, args: &[Term], order: [usize; 2]) -> Option<Term> {
    let less = Op {
        code: OpCode::FLt,
        ..op
    };
    let less = raw(less, &order.map(|k| args[k]))?;
    raw(Op::new(OpCode::Ite), &[less, args[0], args[1]])
}

/// A comparison by numbers in the order of the floats; none is true where a magnitude is past
/// infinity.
fn compared(format: Format, code: OpCode, args: &[Term]) -> Option<Term> {
    use OpCode as C;
    let number = |n: u64| Term::bv(16, i128::from(n));
    let magnitude = |x: Term| two(C::BvAnd, x, number(format.sign() - 1));
    let is_nan = |x: Term| two(C::BvSlt, number(format.infinity()), magnitude(x)?);
    let unordered = b::either(is_nan(args[0])?, is_nan(args[1])?);
    if code == C::FUnord {
        return Some(unordered);
    }
    let key = |x: Term| -> Option<Term> {
        let negative = two(C::BvSlt, x, number(0))?;
        let below = two(C::BvSub, number(0), magnitude(x)?)?;
        applied(Op::new(C::Ite), &[negative, below, magnitude(x)?])
    };
    let order = match code {
        C::FLt => C::BvSlt,
        C::FLe => C::BvSle,
        _ => C::Eq,
    };
    let holds = two(order, key(args[0])?, key(args[1])?)?;
    Some(b::both(b::negate(unordered), holds))
}
