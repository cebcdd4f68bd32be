//! Functions on floats.
//!
//! In: a name and argument values. Out: a float, an integer or a truth value. Besides the
//! project's own names it knows those of Intel's helpers that have an operator: their text in
//! the guide is irregular (it computes without rounding, or calls what is not defined), so
//! they mean the operator even where a body defines them. Polynomials and other
//! transcendental functions are not here.

use crate::pseudocode::lower::float::{self, Context, HALF_ERROR, SINGLE_ERROR, bits_in};
use crate::pseudocode::lower::value::{self, Class, Computed, Sym, Value};
use semantics::build as b;
use semantics::float::{Format, Rounding};
use semantics::op::{Op, OpCode};
use semantics::term::Term;

/// Names of the functions, for suggestions.
pub(super) const NAMES: [&str; 36] = [
    "SQRT",
    "FMA",
    "FMS",
    "FNMA",
    "FNMS",
    "ROUND",
    "FLOOR",
    "CEIL",
    "GETEXP",
    "GETMANT",
    "ROUNDSCALE",
    "REDUCE",
    "RANGE",
    "SCALE",
    "FIXUP",
    "FPCLASS",
    "RCP14",
    "RSQRT14",
    "RCP12",
    "RSQRT12",
    "RCP11",
    "RSQRT11",
    "RCP28",
    "RSQRT28",
    "FLUSH",
    "UNORD",
    "FP16",
    "FP32",
    "FP64",
    "Convert_FP32_To_FP64",
    "Convert_FP64_To_FP32",
    "Convert_FP32_To_FP16",
    "Convert_FP16_To_FP32",
    "Convert_FP32_To_BF16",
    "Convert_BF16_To_FP32",
    "Convert_Int32_To_FP32",
];

/// Whether a function means an operator although a body defines it.
pub(crate) fn overrides(name: &str) -> bool {
    matches!(
        name,
        "SCALE" | "ScaleFP16" | "RANGE" | "FIXUPIMMPD" | "make_fp32"
    ) || name.starts_with("ReduceArgument")
        || name.starts_with("RoundScaleFP")
}

/// The value of a call; none when there is no such function on these arguments.
pub(crate) fn call(context: &Context, name: &str, args: &[Value]) -> Option<Computed<Value>> {
    if let Some(conversion) = Conversion::named(name)
        && let [x] = args
    {
        return Some(conversion.apply(context, x));
    }
    match args {
        [x] => literal(name, x).or_else(|| one(context, name, x)),
        [x, y] => two(context, name, x, y),
        _ => more(context, name, args),
    }
}

/// A number of the format in the function's name: `FP32(2.0)`, and `Cast_FP32` of its bits.
fn literal(name: &str, x: &Value) -> Option<Computed<Value>> {
    let (name, cast) = match name.strip_prefix("Cast_") {
        Some(rest) => (rest, true),
        None => (name, false),
    };
    let format = of_name(name)?;
    if cast {
        return Some(x.bits(format.width()).map(|t| float::float(t, format)));
    }
    if let Some(number) = float::number(x) {
        return Some(Ok(float::float(float::constant(number, format), format)));
    }
    (float::format_of(x) == Some(format)).then(|| Ok(x.clone()))
}

fn of_name(name: &str) -> Option<Format> {
    Some(match name {
        "FP16" => Format::F16,
        "BF16" => Format::Bf16,
        "FP32" => Format::F32,
        "FP64" => Format::F64,
        _ => return None,
    })
}

fn one(context: &Context, name: &str, x: &Value) -> Option<Computed<Value>> {
    if name == "make_fp32" {
        return Some(widened(x));
    }
    let format = float::format_of(x)?;
    let x = match bits_in(context, x, format) {
        Ok(x) => x,
        Err(refusal) => return Some(Err(refusal)),
    };
    let integral = |r: Rounding| b::app(Op::with2(OpCode::FRound, format.code(), r.code()), &[x]);
    let approximate = |code, error| float::approximate(code, x, format, error);
    let term = match name {
        "SQRT" => context.operator(OpCode::FSqrt, format, &[x]),
        "ABS" => float::absolute(x, format),
        "FLOOR" => integral(Rounding::Down),
        "CEIL" => integral(Rounding::Up),
        "TRUNCATE" => integral(Rounding::Zero),
        "ROUND" | "RoundToNearestEven" | "NearbyInt" => integral(Rounding::NearestEven),
        "GETEXP" | "ConvertExpFP16" | "ConvertExpFP32" | "ConvertExpFP64" => {
            b::app(Op::with(OpCode::FGetExp, format.code()), &[x])
        }
        "FLUSH" => float::flushed(x, format),
        "RCP14" => approximate(OpCode::FRcp, (1, 14)),
        "RSQRT14" => approximate(OpCode::FRsqrt, (1, 14)),
        "RCP28" => approximate(OpCode::FRcp, (1, 28)),
        "RSQRT28" => approximate(OpCode::FRsqrt, (1, 28)),
        "RCP12" => approximate(OpCode::FRcp, SINGLE_ERROR),
        "RSQRT12" => approximate(OpCode::FRsqrt, SINGLE_ERROR),
        "RCP11" => approximate(OpCode::FRcp, HALF_ERROR),
        "RSQRT11" => approximate(OpCode::FRsqrt, HALF_ERROR),
        _ => return None,
    };
    Some(Ok(float::float(term, format)))
}

fn two(context: &Context, name: &str, x: &Value, y: &Value) -> Option<Computed<Value>> {
    let format = float::format_of(x).or_else(|| float::format_of(y))?;
    let both = || -> Computed<[Term; 2]> {
        Ok([bits_in(context, x, format)?, bits_in(context, y, format)?])
    };
    let controlled = |code: OpCode| -> Computed<Term> {
        let op = Op::with(code, format.code());
        Ok(b::app(op, &[bits_in(context, x, format)?, y.bits(8)?]))
    };
    let plain = |code: OpCode| both().map(|args| b::app(Op::with(code, format.code()), &args));
    let term = match name {
        "MIN" => plain(OpCode::FMin),
        "MAX" => plain(OpCode::FMax),
        "UNORD" => return Some(plain(OpCode::FUnord).map(Value::Truth)),
        "SCALE" | "ScaleFP16" => both().map(|args| context.operator(OpCode::FScale, format, &args)),
        "FPCLASS" | "CheckFPClass_FP16" | "CheckFPClass_FP32" | "CheckFPClass_FP64" => {
            return Some(controlled(OpCode::FClass).map(Value::Truth));
        }
        "ROUND" => directed(context, x, y, format),
        "GETMANT" => controlled(OpCode::FGetMant),
        "ROUNDSCALE" => to_places(context, x, y, format),
        "REDUCE" => controlled(OpCode::FReduce),
        name if name.starts_with("RoundScaleFP") => to_places(context, x, y, format),
        name if name.starts_with("ReduceArgument") => controlled(OpCode::FReduce),
        _ => return None,
    };
    Some(term.map(|t| float::float(t, format)))
}

fn more(context: &Context, name: &str, args: &[Value]) -> Option<Computed<Value>> {
    let format = args.iter().find_map(float::format_of)?;
    let term = |n: usize| bits_in(context, &args[n], format);
    let fused = |code: OpCode| -> Computed<Term> {
        Ok(context.operator(code, format, &[term(0)?, term(1)?, term(2)?]))
    };
    let result = match (name, args.len()) {
        ("FMA", 3) => fused(OpCode::FMadd),
        ("FMS", 3) => fused(OpCode::FMsub),
        ("FNMA", 3) => fused(OpCode::FNmadd),
        ("FNMS", 3) => fused(OpCode::FNmsub),
        ("RANGE", 3) => ranged(format, term(0), term(1), args[2].bits(8)),
        ("RANGE", 4) => ranged(format, term(0), term(1), control(&args[2], &args[3])),
        ("GetNormalizedMantissa" | "GetNormalizedMantissaFP16", 3) => term(0).and_then(|x| {
            // On halves the guide gives the interval before the sign.
            let (sign, interval) = if name.ends_with("FP16") {
                (&args[2], &args[1])
            } else {
                (&args[1], &args[2])
            };
            let op = Op::with(OpCode::FGetMant, format.code());
            Ok(b::app(op, &[x, control(interval, sign)?]))
        }),
        ("FIXUP" | "FIXUPIMMPD", 4) => term(0).and_then(|old| {
            let op = Op::with(OpCode::FFixup, format.code());
            Ok(b::app(op, &[old, term(1)?, args[2].bits(32)?]))
        }),
        _ => return None,
    };
    Some(result.map(|t| float::float(t, format)))
}

fn ranged(
    format: Format,
    x: Computed<Term>,
    y: Computed<Term>,
    control: Computed<Term>,
) -> Computed<Term> {
    Ok(b::app(
        Op::with(OpCode::FRange, format.code()),
        &[x?, y?, control?],
    ))
}

/// A control word of two fields of two bits, the first in bits 1:0.
fn control(low: &Value, high: &Value) -> Computed<Term> {
    Ok(b::concat(&[b::zero(4), high.bits(2)?, low.bits(2)?]))
}

/// `ROUND(x, control)`: to an integral value as bits 1:0 say, unless bit 2 asks for the
/// current direction.
fn directed(context: &Context, x: &Value, control: &Value, format: Format) -> Computed<Term> {
    let x = bits_in(context, x, format)?;
    let control = control.bits(3)?;
    let integral = |r: Rounding| b::app(Op::with2(OpCode::FRound, format.code(), r.code()), &[x]);
    let directions = [(1, Rounding::Down), (2, Rounding::Up), (3, Rounding::Zero)];
    let nearest = integral(Rounding::NearestEven);
    Ok(directions.into_iter().rev().fold(nearest, |other, (k, r)| {
        b::ite(b::eq(control, Term::bv(3, k)), integral(r), other)
    }))
}

/// Rounding to as many binary places as bits 7:4 of a control say; to none it is what [`directed`]
/// gives, so that it is the same operation as the rounding that has no places.
fn to_places(context: &Context, x: &Value, control: &Value, format: Format) -> Computed<Term> {
    let bits = control.bits(8)?;
    let scaled = Op::with(OpCode::FRoundScale, format.code());
    let scaled = b::app(scaled, &[bits_in(context, x, format)?, bits]);
    let none = b::eq(b::extract(bits, 4, 4), b::zero(4));
    Ok(b::ite(none, directed(context, x, control, format)?, scaled))
}

/// A bfloat16 as the single with the same leading bits.
fn widened(x: &Value) -> Computed<Value> {
    let term = b::concat(&[x.bits(16)?, b::zero(16)]);
    Ok(float::float(term, Format::F32))
}

/// A side of a conversion.
#[derive(Clone, Copy)]
enum Kind {
    Float(Format),
    Int { width: u32, signed: bool },
}

/// What `Convert_A_To_B` names.
struct Conversion {
    from: Kind,
    to: Kind,
    truncates: bool,
}

fn kind(name: &str) -> Option<Kind> {
    if let Some(format) = of_name(name) {
        return Some(Kind::Float(format));
    }
    let (width, signed) = match name.strip_prefix("UInt") {
        Some(width) => (width, false),
        None => (name.strip_prefix("Int")?, true),
    };
    let width = width
        .parse()
        .ok()
        .filter(|w| matches!(w, 8 | 16 | 32 | 64))?;
    Some(Kind::Int { width, signed })
}

impl Conversion {
    fn named(name: &str) -> Option<Conversion> {
        let rest = name.strip_prefix("Convert_")?;
        let (rest, truncates) = match rest.strip_suffix("_Truncate") {
            Some(rest) => (rest, true),
            None => (rest, false),
        };
        let (from, to) = rest.split_once("_To_")?;
        Some(Conversion {
            from: kind(from)?,
            to: kind(to)?,
            truncates,
        })
    }

    fn apply(&self, context: &Context, x: &Value) -> Computed<Value> {
        let rounded = |result: &dyn Fn(Rounding) -> Term| {
            if self.truncates {
                result(Rounding::Zero)
            } else {
                context.rounded(result)
            }
        };
        match (self.from, self.to) {
            (Kind::Float(from), Kind::Float(to)) => between(context, x, from, to),
            (Kind::Float(from), Kind::Int { width, signed }) => {
                // The argument knows better than the name of the function.
                let from = float::format_of(x).unwrap_or(from);
                let x = bits_in(context, x, from)?;
                let code = if signed {
                    OpCode::FToSint
                } else {
                    OpCode::FToUint
                };
                let term =
                    rounded(&|r| b::app(Op::with3(code, from.code(), width, r.code()), &[x]));
                Ok(Value::Sym(Sym::new(term, signed)))
            }
            (Kind::Int { width, signed }, Kind::Float(to)) => {
                let (x, signed) = integer(x, width, signed)?;
                let code = if signed {
                    OpCode::FFromSint
                } else {
                    OpCode::FFromUint
                };
                let of = |r: Rounding| b::app(Op::with2(code, to.code(), r.code()), &[x]);
                let exact = x.width() < to.fraction() + 1;
                let term = if exact {
                    of(Rounding::NearestEven)
                } else {
                    rounded(&of)
                };
                Ok(float::float(term, to))
            }
            (Kind::Int { .. }, Kind::Int { .. }) => {
                value::refuse("a conversion between integers is written as an extension")
            }
        }
    }
}

/// The bits of an integer argument and whether they are signed: not where the function's name
/// or its operand's declaration says that they are not.
fn integer(x: &Value, width: u32, signed: bool) -> Computed<(Term, bool)> {
    match x {
        Value::Sym(s) if s.raw && s.plain() && !s.is_float() => {
            let declared_unsigned = s.element > 1 && s.class != Class::Signed;
            Ok((s.term, signed && !declared_unsigned))
        }
        _ => Ok((x.bits(width)?, signed)),
    }
    .and_then(|(term, signed): (Term, bool)| {
        if term.width() > 64 {
            return value::refuse("an integer of more than 64 bits does not convert");
        }
        Ok((term, signed))
    })
}

/// A float in another format. A bfloat16 is the leading half of a single: widening copies,
/// narrowing rounds to nearest and takes subnormals for zeros, whatever the mode.
fn between(context: &Context, x: &Value, from: Format, to: Format) -> Computed<Value> {
    let from = float::format_of(x).filter(|f| *f != to).unwrap_or(from);
    let bits = bits_in(context, x, from)?;
    let term = match (from, to) {
        (Format::Bf16, Format::F32) => return widened(x),
        (Format::F32, Format::Bf16) => {
            let flushed = float::flushed(bits, from);
            float::convert(flushed, from, to, Rounding::NearestEven)
        }
        _ if from.width() < to.width() => float::convert(bits, from, to, Rounding::NearestEven),
        _ => context.rounded(|r| float::convert(bits, from, to, r)),
    };
    Ok(float::float(term, to))
}
