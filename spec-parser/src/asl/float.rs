//! ASL's functions on floats, which are bits.
//!
//! In: a name and values; the format is that of the width of the bits, and `FPCR` stands for
//! its state after a reset: to nearest, no flush to zero, NaNs propagate. Out: bits or a truth
//! value. Where ASL infers the width of a result from what it is assigned to, the width is a
//! last argument here; left out, it is that of the argument. Which NaN comes out of two is
//! IEEE 754's to leave open, and left open by the checks.

use super::builtin::{bits, truth, width};
use crate::pseudocode::lower::float::{absolute, constant, convert, negated, of_width};
use crate::pseudocode::lower::value::{Computed, Value, refuse};
use semantics::build as b;
use semantics::float::{Format, Rounding};
use semantics::op::{Op, OpCode};
use semantics::term::Term;

/// Names of the functions, for suggestions.
pub(super) const NAMES: &[&str] = &[
    "FPAdd",
    "FPSub",
    "FPMul",
    "FPMulX",
    "FPDiv",
    "FPMulAdd",
    "FPSqrt",
    "FPAbs",
    "FPNeg",
    "FPMax",
    "FPMin",
    "FPMaxNum",
    "FPMinNum",
    "FPCompareEQ",
    "FPCompareGE",
    "FPCompareGT",
    "FPRoundInt",
    "FPConvert",
    "FPConvertBF",
    "FPToFixed",
    "FixedToFP",
    "FPRecipStepFused",
    "FPRSqrtStepFused",
];

/// The value of a call; none when there is no such function on so many values.
pub(super) fn call(name: &str, args: &[Value]) -> Option<Computed<Value>> {
    // The control register is what it is after a reset.
    let state = |v: &&Value| !matches!(v, Value::Token(t) if &**t == "FPCR");
    let args: Vec<&Value> = args.iter().filter(state).collect();
    match args.as_slice() {
        [x] => one(name, x),
        [x, y] if name == "FPConvert" => Some(converted(x, y)),
        [x, y] if name == "FPConvertBF" => Some(to_bfloat(x, y)),
        [x, y] if NAMES.contains(&name) => two(name, x, y),
        [x, y, z] if name == "FPMulAdd" => Some(mul_add(x, y, z)),
        [x, rounding, _exact] if name == "FPRoundInt" => Some(integral(x, rounding)),
        [x, fraction, unsigned, rounding, rest @ ..] => match (name, rest.len()) {
            ("FPToFixed", 0 | 1) => Some(to_fixed(x, fraction, unsigned, rounding, rest)),
            ("FixedToFP", 0 | 1) => Some(from_fixed(x, fraction, unsigned, rounding, rest)),
            _ => None,
        },
        _ => None,
    }
}

/// A float with its format.
fn number(x: &Value) -> Computed<(Term, Format)> {
    let term = bits(x)?;
    match of_width(term.width()) {
        Some(format) => Ok((term, format)),
        None => refuse(format!("no float has {} bits", term.width())),
    }
}

/// Two floats of one format.
fn pair(x: &Value, y: &Value) -> Computed<(Term, Term, Format)> {
    let ((p, format), (q, other)) = (number(x)?, number(y)?);
    if format != other {
        return refuse(format!(
            "one side has {} bits, the other {}",
            p.width(),
            q.width()
        ));
    }
    Ok((p, q, format))
}

fn apply(code: OpCode, format: Format, args: &[Term]) -> Term {
    let op = Op::with2(code, format.code(), Rounding::NearestEven.code());
    b::app(op, args)
}

fn relation(code: OpCode, format: Format, x: Term, y: Term) -> Term {
    b::app(Op::with(code, format.code()), &[x, y])
}

fn is_nan(x: Term, format: Format) -> Term {
    relation(OpCode::FUnord, format, x, x)
}

fn pattern(format: Format, bits: u64) -> Term {
    Term::bv(format.width(), i128::from(bits))
}

/// Whether the magnitude of a float has these bits.
fn has_magnitude(x: Term, format: Format, bits: u64) -> Term {
    b::eq(absolute(x, format), pattern(format, bits))
}

fn one(name: &str, x: &Value) -> Option<Computed<Value>> {
    let result =
        |f: fn(Term, Format) -> Term| number(x).map(|(t, format)| Value::of_bits(f(t, format)));
    Some(match name {
        "FPAbs" => result(absolute),
        "FPNeg" => result(negated),
        "FPSqrt" => result(|t, format| apply(OpCode::FSqrt, format, &[t])),
        _ => return None,
    })
}

fn two(name: &str, x: &Value, y: &Value) -> Option<Computed<Value>> {
    let (x, y, f) = match pair(x, y) {
        Ok(pair) => pair,
        Err(refusal) => return Some(Err(refusal)),
    };
    let holds = |code, x, y| Some(Ok(Value::Truth(relation(code, f, x, y))));
    let term = match name {
        "FPAdd" => apply(OpCode::FAdd, f, &[x, y]),
        "FPSub" => apply(OpCode::FSub, f, &[x, y]),
        "FPMul" => apply(OpCode::FMul, f, &[x, y]),
        "FPDiv" => apply(OpCode::FDiv, f, &[x, y]),
        "FPMulX" => extended_product(x, y, f),
        "FPMax" => extreme(x, y, f, true),
        "FPMin" => extreme(x, y, f, false),
        "FPMaxNum" => extreme_number(x, y, f, true),
        "FPMinNum" => extreme_number(x, y, f, false),
        "FPRecipStepFused" => reciprocal_step(x, y, f),
        "FPRSqrtStepFused" => root_step(x, y, f),
        "FPCompareEQ" => return holds(OpCode::FEq, x, y),
        "FPCompareGE" => return holds(OpCode::FLe, y, x),
        "FPCompareGT" => return holds(OpCode::FLt, y, x),
        _ => return None,
    };
    Some(Ok(Value::of_bits(term)))
}

/// The larger or the smaller float: a NaN where either is one, and -0 is less than 0.
fn extreme(x: Term, y: Term, f: Format, largest: bool) -> Term {
    let (code, zeros) = match largest {
        true => (OpCode::FMax, b::and(x, y)),
        false => (OpCode::FMin, b::or(x, y)),
    };
    let ordered = b::ite(
        relation(OpCode::FEq, f, x, y),
        zeros,
        relation(code, f, x, y),
    );
    b::ite(
        relation(OpCode::FUnord, f, x, y),
        apply(OpCode::FAdd, f, &[x, y]),
        ordered,
    )
}

/// The larger or the smaller float; of a quiet NaN and a number the number.
fn extreme_number(x: Term, y: Term, f: Format, largest: bool) -> Term {
    let quiet = |x: Term| {
        let bit = b::extract(x, f.fraction() - 1, 1);
        b::both(is_nan(x, f), b::eq(bit, Term::bv(1, 1)))
    };
    let alone = |x: Term, y: Term| b::both(quiet(x), b::negate(is_nan(y, f)));
    let both = extreme(x, y, f, largest);
    b::ite(alone(x, y), y, b::ite(alone(y, x), x, both))
}

/// Zero times infinity, in either order.
fn zero_times_infinity(x: Term, y: Term, f: Format) -> Term {
    let one = |x: Term, y: Term| b::both(has_magnitude(x, f, 0), has_magnitude(y, f, f.infinity()));
    b::either(one(x, y), one(y, x))
}

/// The product; of zero and infinity two of their sign.
fn extended_product(x: Term, y: Term, f: Format) -> Term {
    let sign = b::and(b::xor(x, y), pattern(f, f.sign()));
    let two = b::or(sign, constant(2.0, f));
    let product = apply(OpCode::FMul, f, &[x, y]);
    b::ite(zero_times_infinity(x, y, f), two, product)
}

/// `2 - x·y`, rounded once; 2 for zero times infinity.
fn reciprocal_step(x: Term, y: Term, f: Format) -> Term {
    let two = constant(2.0, f);
    let step = apply(OpCode::FMadd, f, &[negated(x, f), y, two]);
    b::ite(zero_times_infinity(x, y, f), two, step)
}

/// `(3 - x·y) / 2`, rounded once; 1.5 for zero times infinity. The halving is exact where it
/// is made: on a factor that is large, else on a result that does not overflow.
fn root_step(x: Term, y: Term, f: Format) -> Term {
    let number = |k: f64| constant(k, f);
    let minus = negated(x, f);
    let half = |t: Term| apply(OpCode::FMul, f, &[t, number(0.5)]);
    let large = relation(OpCode::FLe, f, number(1.0), absolute(x, f));
    let before = apply(OpCode::FMadd, f, &[half(minus), y, number(1.5)]);
    let after = half(apply(OpCode::FMadd, f, &[minus, y, number(3.0)]));
    let step = b::ite(large, before, after);
    b::ite(zero_times_infinity(x, y, f), number(1.5), step)
}

/// `addend + x·y`, rounded once.
fn mul_add(addend: &Value, x: &Value, y: &Value) -> Computed<Value> {
    let (x, y, f) = pair(x, y)?;
    let (addend, other) = number(addend)?;
    if other != f {
        return refuse("the addend has another width than the factors");
    }
    Ok(Value::of_bits(apply(OpCode::FMadd, f, &[x, y, addend])))
}

/// The rounding that a name stands for.
fn rounding(v: &Value) -> Computed<Rounding> {
    let Value::Token(name) = v else {
        return refuse("a rounding is a name such as FPRounding_TIEEVEN");
    };
    Ok(match name.strip_prefix("FPRounding_") {
        Some("TIEEVEN") => Rounding::NearestEven,
        Some("NEGINF") => Rounding::Down,
        Some("POSINF") => Rounding::Up,
        Some("ZERO") => Rounding::Zero,
        Some("TIEAWAY") => Rounding::NearestAway,
        _ => return refuse(format!("the rounding `{name}` is not described")),
    })
}

fn integral(x: &Value, direction: &Value) -> Computed<Value> {
    let ((t, f), r) = (number(x)?, rounding(direction)?);
    let op = Op::with2(OpCode::FRound, f.code(), r.code());
    Ok(Value::of_bits(b::app(op, &[t])))
}

fn converted(x: &Value, to: &Value) -> Computed<Value> {
    let ((t, f), to) = (number(x)?, width(to)?);
    let Some(to) = of_width(to) else {
        return refuse(format!("no float has {to} bits"));
    };
    Ok(Value::of_bits(convert(t, f, to, Rounding::NearestEven)))
}

/// A single as a bfloat16 (16), or a bfloat16 as a single (32).
fn to_bfloat(x: &Value, to: &Value) -> Computed<Value> {
    let t = bits(x)?;
    match (t.width(), width(to)?) {
        (32, 16) => {
            let nearest = Rounding::NearestEven;
            Ok(Value::of_bits(convert(
                t,
                Format::F32,
                Format::Bf16,
                nearest,
            )))
        }
        (16, 32) => Ok(Value::of_bits(b::concat(&[t, b::zero(16)]))),
        _ => refuse("a bfloat16 has 16 bits, a single 32"),
    }
}

/// How many bits of a fixed-point number are its fraction.
fn fraction_bits(v: &Value) -> Computed<i32> {
    match v.known() {
        Some(k @ 0..=64) => Ok(i32::try_from(k).expect("at most 64")),
        _ => refuse("the bits of the fraction are a known number from 0 to 64"),
    }
}

fn result_width(x: Term, rest: &[&Value]) -> Computed<u32> {
    rest.first().map_or(Ok(x.width()), |w| width(w))
}

/// A float as a fixed-point number: clamped, and 0 for a NaN.
fn to_fixed(
    x: &Value,
    fraction: &Value,
    unsigned: &Value,
    direction: &Value,
    rest: &[&Value],
) -> Computed<Value> {
    let ((x, f), unsigned) = (number(x)?, truth(unsigned)?);
    let (r, to) = (rounding(direction)?, result_width(x, rest)?);
    if to > 64 {
        return refuse("a float becomes an integer of at most 64 bits");
    }
    // Past the largest number of a half a product is infinite, and clamped all the same.
    let x = match fraction_bits(fraction)? {
        0 => x,
        k => apply(OpCode::FMul, f, &[x, constant(2f64.powi(k), f)]),
    };
    let nan = is_nan(x, f);
    let sign = b::eq(b::extract(x, f.width() - 1, 1), Term::bv(1, 1));
    let (code, most, limit) = match unsigned {
        true => (OpCode::FToUint, (1i128 << to) - 1, to),
        false => (OpCode::FToSint, (1i128 << (to - 1)) - 1, to - 1),
    };
    let at = |k: i128| Term::bv(to, k);
    let exact = b::app(Op::with3(code, f.code(), to, r.code()), &[x]);
    // Whether it fits is asked of the rounded number, where that may be the first one that does not.
    let whole_below = r == Rounding::Zero || limit > f.fraction();
    let rounded = match whole_below {
        true => x,
        false => b::app(Op::with2(OpCode::FRound, f.code(), r.code()), &[x]),
    };
    let bound = constant(2f64.powi(i32::try_from(limit).expect("at most 64")), f);
    let above = relation(OpCode::FLe, f, bound, rounded);
    // What is too small is the least number with sign, as operators have it.
    let clamped = match unsigned {
        true => b::ite(above, at(most), b::ite(sign, at(0), exact)),
        false => b::ite(above, at(most), exact),
    };
    Ok(Value::of_bits(b::ite(nan, at(0), clamped)))
}

/// A fixed-point number as a float, rounded once.
fn from_fixed(
    x: &Value,
    fraction: &Value,
    unsigned: &Value,
    direction: &Value,
    rest: &[&Value],
) -> Computed<Value> {
    let (x, unsigned, r) = (bits(x)?, truth(unsigned)?, rounding(direction)?);
    let to = result_width(x, rest)?;
    let Some(format) = of_width(to) else {
        return refuse(format!("no float has {to} bits"));
    };
    if x.width() > 64 {
        return refuse("an integer of at most 64 bits becomes a float");
    }
    let code = match unsigned {
        true => OpCode::FFromUint,
        false => OpCode::FFromSint,
    };
    let k = fraction_bits(fraction)?;
    // A half is too small for the integer: it is scaled as a single, which holds it exactly.
    let inner = match format {
        Format::F16 if k > 0 && x.width() <= 16 => Format::F32,
        other => other,
    };
    let whole = b::app(Op::with2(code, inner.code(), r.code()), &[x]);
    let scaled = match k {
        0 => whole,
        k => apply(
            OpCode::FMul,
            inner,
            &[whole, constant(2f64.powi(-k), inner)],
        ),
    };
    Ok(Value::of_bits(convert(scaled, inner, format, r)))
}
