//! Smart constructors: terms that are simplified as they are built.
//!
//! In: operators and simplified arguments. Out: an equal term, folded where everything is
//! constant and brought towards one shape: constant right shifts become extractions, low
//! bits of sums and products become narrow sums and products, constants stand last,
//! commutative arguments in structural order. Rules look one or two levels deep and never
//! search; deeper normal forms belong to the crates that need them.
//!
//! # Panics
//! Every constructor panics when the operator's type rule refuses the arguments: callers
//! check sorts first, or use [`crate::term::Term::raw_app`].

use crate::affine::{Affine, never_negative};
use crate::bits::Bits;
use crate::op::{Op, OpCode};
use crate::rule::{Rewritten, Rule};
use crate::rules;
use crate::subst::instantiate;
use crate::term::{Kind, Term};
use crate::value::Value;
use std::cell::RefCell;
use std::collections::HashMap;

/// The most extractions that a thread remembers; then it begins anew.
const MOST_EXTRACTED: usize = 1 << 18;

thread_local! {
    /// What bits of sums and logic are: extractions go down to the leaves, and what is used several times
    /// would be gone through as often.
    static EXTRACTED: RefCell<HashMap<(Term, Term, u32), Term>> = RefCell::default();
}

/// Applies an operator, simplifying.
pub fn app(op: Op, args: &[Term]) -> Term {
    let (OpCode::Extract, &[x, lo]) = (op.code, args) else {
        return simplified(op, args);
    };
    if x.as_app().is_none() {
        return simplified(op, args);
    }
    let key = (x, lo, op.params[0]);
    if let Some(known) = EXTRACTED.with_borrow(|all| all.get(&key).copied()) {
        return known;
    }
    let made = simplified(op, args);
    EXTRACTED.with_borrow_mut(|all| {
        if all.len() >= MOST_EXTRACTED {
            all.clear();
        }
        all.insert(key, made);
    });
    made
}

fn simplified(op: Op, args: &[Term]) -> Term {
    match rewritten(op, args) {
        Some(rewritten) => rewritten.term(),
        None => Term::raw_app(op, args).unwrap_or_else(|e| panic!("{e}")),
    }
}

/// The first rule that applies, and the term that comes of it.
pub(crate) fn rewritten(op: Op, args: &[Term]) -> Option<Rewritten> {
    if let Some(values) = constants(args).filter(|_| op.is_evaluable()) {
        let sorts: Vec<_> = args.iter().map(|a| a.sort()).collect();
        if let Err(message) = op.sort(&sorts) {
            panic!("in `{op}`: {message}");
        }
        if let Some(t) = from_value(&op.eval(&values)) {
            return Rule::Folded.gives(t);
        }
    }
    if op.info().commutative && args.len() == 2 && args[1] < args[0] {
        let other = [args[1], args[0]];
        return rules::simplify(op, &other).or_else(|| {
            let swapped = Term::raw_app(op, &other).unwrap_or_else(|e| panic!("{e}"));
            Rule::Ordered.gives(swapped)
        });
    }
    rules::simplify(op, args)
}

fn constants(args: &[Term]) -> Option<Vec<Value>> {
    args.iter()
        .map(|t| match t.kind() {
            Kind::Bv(bits) => Some(Value::Bv(bits.clone())),
            Kind::Bool(b) => Some(Value::Bool(*b)),
            Kind::Int(i) => Some(Value::Int(*i)),
            _ => None,
        })
        .collect()
}

/// The constant term of a value; a memory has none.
pub fn from_value(value: &Value) -> Option<Term> {
    match value {
        Value::Bool(b) => Some(Term::bool(*b)),
        Value::Int(i) => Some(Term::int(*i)),
        Value::Bv(bits) => Some(Term::bits(bits.clone())),
        Value::Mem(_) => None,
    }
}

macro_rules! constructors {
    ($( $name:ident $code:ident ($($arg:ident),*) $doc:literal; )*) => { $(
        #[doc = $doc]
        pub fn $name($($arg: Term),*) -> Term {
            app(Op::new(OpCode::$code), &[$($arg),*])
        }
    )* };
}

constructors! {
    negate Not (a) "Negation of a truth value.";
    both And (a, b) "Conjunction.";
    either Or (a, b) "Disjunction.";
    eq Eq (a, b) "Equality.";
    ite Ite (c, a, b) "If-then-else.";
    int_add IntAdd (a, b) "Sum of indices.";
    int_mul IntMul (a, b) "Product of indices.";
    int_div IntDiv (a, b) "Floor quotient of indices.";
    int_mod IntMod (a, b) "Floor remainder of indices.";
    int_lt IntLt (a, b) "Less-than on indices.";
    not BvNot (a) "Bitwise complement.";
    and BvAnd (a, b) "Bitwise and.";
    or BvOr (a, b) "Bitwise or.";
    xor BvXor (a, b) "Bitwise exclusive or.";
    neg BvNeg (a) "Negation modulo 2^width.";
    add BvAdd (a, b) "Sum modulo 2^width.";
    sub BvSub (a, b) "Difference modulo 2^width.";
    mul BvMul (a, b) "Product modulo 2^width.";
    udiv BvUdiv (a, b) "Unsigned quotient.";
    urem BvUrem (a, b) "Unsigned remainder.";
    sdiv BvSdiv (a, b) "Signed quotient.";
    srem BvSrem (a, b) "Signed remainder.";
    shl BvShl (a, b) "Left shift.";
    lshr BvLshr (a, b) "Logical right shift.";
    ashr BvAshr (a, b) "Arithmetic right shift.";
    rotl Rotl (a, b) "Left rotation.";
    rotr Rotr (a, b) "Right rotation.";
    ult BvUlt (a, b) "Unsigned less-than.";
    ule BvUle (a, b) "Unsigned at-most.";
    slt BvSlt (a, b) "Signed less-than.";
    sle BvSle (a, b) "Signed at-most.";
    smin Smin (a, b) "Signed minimum.";
    smax Smax (a, b) "Signed maximum.";
    umin Umin (a, b) "Unsigned minimum.";
    umax Umax (a, b) "Unsigned maximum.";
    abs Abs (a) "Absolute value modulo 2^width.";
    popcnt Popcnt (a) "Number of one bits.";
    clz Clz (a) "Number of leading zeros.";
    ctz Ctz (a) "Number of trailing zeros.";
    insert Insert (base, offset, piece) "The base with a piece written at a bit-vector offset.";
    write Write (memory, address, value) "The memory after a write.";
}

macro_rules! sized_constructors {
    ($( $name:ident $code:ident ($($arg:ident),*) $doc:literal; )*) => { $(
        #[doc = $doc]
        pub fn $name($($arg: Term,)* size: u32) -> Term {
            app(Op::with(OpCode::$code, size), &[$($arg),*])
        }
    )* };
}

sized_constructors! {
    zext Zext (a) "Zero extension to `size` bits.";
    sext Sext (a) "Sign extension to `size` bits.";
    slice Slice (a, offset) "`size` bits from a bit-vector offset.";
    elem Elem (a, index) "The element of `size` bits at a bit-vector index.";
    extract_at Extract (a, lo) "`size` bits from an index offset.";
    sat_ss SatSS (a) "Signed to signed saturation to `size` bits.";
    sat_su SatSU (a) "Signed to unsigned saturation to `size` bits.";
    sat_us SatUS (a) "Unsigned to signed saturation to `size` bits.";
    sat_uu SatUU (a) "Unsigned to unsigned saturation to `size` bits.";
    int_to_bv IntToBv (a) "An index as `size` bits.";
    read Read (memory, address) "A read of `size` bytes.";
}

/// `width` bits from bit `lo` up; bits past the top read as 0.
pub fn extract(a: Term, lo: u32, width: u32) -> Term {
    extract_at(a, Term::int(i64::from(lo)), width)
}

/// The lowest `width` bits, or the zero extension to it.
pub fn resize_unsigned(a: Term, width: u32) -> Term {
    if width >= a.width() {
        zext(a, width)
    } else {
        extract(a, 0, width)
    }
}

/// The lowest `width` bits, or the sign extension to it.
pub fn resize_signed(a: Term, width: u32) -> Term {
    if width >= a.width() {
        sext(a, width)
    } else {
        extract(a, 0, width)
    }
}

/// One bit as a truth value.
pub fn bit(a: Term, index: u32) -> Term {
    eq(extract(a, index, 1), Term::bv(1, 1))
}

/// A truth value as one bit.
pub fn bool_to_bit(c: Term) -> Term {
    ite(c, Term::bv(1, 1), Term::bv(1, 0))
}

/// Concatenation, the first part most significant.
pub fn concat(parts: &[Term]) -> Term {
    app(Op::new(OpCode::Concat), parts)
}

/// A quotient of two numbers with signs in more bits: only that of the least one by -1 is not extended.
pub fn extended_quotient(quotient: Term, x: Term, y: Term, width: u32) -> Term {
    let w = quotient.width();
    let least = eq(x, Term::bv(w, -(1 << (w - 1))));
    let over = both(least, eq(y, Term::bv(w, -1)));
    let sign = sext(extract(quotient, w - 1, 1), width - w);
    concat(&[ite(over, zero(width - w), sign), quotient])
}

/// A rolled lane map: element 0 is least significant. The body's innermost bound variable
/// is the element's index.
pub fn map(count: u32, body: Term) -> Term {
    if count == 1 {
        return instantiate(body, &[Term::int(0)]);
    }
    whole_register(count, body)
        .unwrap_or_else(|| Term::raw_map(count, body).unwrap_or_else(|e| panic!("{e}")))
}

/// A map that copies consecutive elements of one register is one extraction.
fn whole_register(count: u32, body: Term) -> Option<Term> {
    let (op, args) = body.as_app().filter(|(op, _)| op.code == OpCode::Extract)?;
    let (source, mut lo) = (args[0], Affine::of(args[1]));
    let index = Term::index();
    if source.binders() > 0 && uses_index(source)
        || lo.coefficient(index) != i64::from(op.params[0])
    {
        return None;
    }
    lo.coefficients.remove(&index);
    let outer = |t: Term| instantiate(t, &[Term::int(0)]);
    let lo = lo.to_term();
    if uses_index(lo) || !never_negative(lo) {
        return None;
    }
    Some(extract_at(outer(source), outer(lo), op.params[0] * count))
}

/// Whether the innermost bound variable occurs.
fn uses_index(t: Term) -> bool {
    let mut seen = hashbrown::HashSet::new();
    let mut stack = vec![(t, 0)];
    while let Some((t, depth)) = stack.pop() {
        if t.binders() <= depth || !seen.insert((t, depth)) {
            continue;
        }
        match t.kind() {
            Kind::Bound { depth: d, .. } if *d == depth => return true,
            Kind::Map { body, .. } => stack.push((*body, depth + 1)),
            Kind::Fold { init, body, .. } => stack.extend([(*init, depth), (*body, depth + 2)]),
            _ => stack.extend(t.children().map(|c| (c, depth))),
        }
    }
    false
}

/// `count` iterations of `body` from `init`; the body binds the accumulator (0) and the
/// iteration (1).
pub fn fold(count: u32, init: Term, body: Term) -> Term {
    match count {
        0 => init,
        1 => instantiate(body, &[init, Term::int(0)]),
        _ => Term::raw_fold(count, init, body).unwrap_or_else(|e| panic!("{e}")),
    }
}

/// A constant of all zeros.
pub fn zero(width: u32) -> Term {
    Term::bits(Bits::zero(width))
}
