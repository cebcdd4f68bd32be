//! Operators and calls of Halide as operations on values.
//!
//! In: a name, the result type if the text states one, operands. Out: a [`Value`], or why there
//! is none. Semantics are Halide's: division and remainder are Euclidean and 0 by zero, shifts
//! by a negative count go the other way, `saturating_` clamps, `widening_` is exact.

use super::value::{
    I32, I64, Number, Value, apply, cast, combine, constant, expr, greatest, least, not, product,
    zero_or_one,
};
use kernel::index::Index;
use kernel::tree::{Expr, ExprKind, Op, Reduction};
use kernel::types::{Elem, Type};
use semantics::diagnostic::suggest;
use semantics::span::Span;

/// Why a call has no value: what to say and what to do instead.
pub(super) type Refused = (String, String);

/// A value as data; `None` for addresses.
pub(super) fn data(value: &Value, span: Span) -> Option<Expr> {
    match value {
        Value::Index(number) => Some(number.data(span)),
        Value::Data(e) => Some(e.clone()),
        Value::Opaque => None,
    }
}

/// How many bits the numbers have that data of truth values compare.
fn compared(e: &Expr) -> u32 {
    let operands = e.operands();
    let below = operands.iter().map(|e| match e.ty.elem {
        Elem::Bool => compared(e),
        elem => elem.bits(),
    });
    below.max().unwrap_or(8)
}

/// The operands of an operation as data; truth values beside the others.
fn all(values: &[Value], span: Span) -> Result<Vec<Expr>, Refused> {
    let beside = values.iter().filter_map(|v| match v {
        Value::Index(n) if n.ty.elem != Elem::Bool => Some(n.ty.elem.bits()),
        Value::Data(e) if e.ty.elem != Elem::Bool => Some(e.ty.elem.bits()),
        Value::Data(e) => Some(compared(e)),
        _ => None,
    });
    let bits = beside.max().unwrap_or(8);
    let found = values
        .iter()
        .map(|v| match v {
            Value::Index(n) => Some(n.beside(bits, span)),
            _ => data(v, span),
        })
        .collect::<Option<Vec<_>>>();
    found.ok_or_else(|| {
        (
            "an address is used as a number".to_owned(),
            "compute with the elements of buffers, not with their addresses".to_owned(),
        )
    })
}

/// Whether operands have as many lanes, or one.
fn alike(name: &str, values: &[Value]) -> Result<(), Refused> {
    let lanes = |v: &Value| match v {
        Value::Index(n) => n.ty.lanes,
        Value::Data(e) => e.ty.lanes,
        Value::Opaque => 1,
    };
    let most = values.iter().map(lanes).max().unwrap_or(1);
    match values.iter().map(lanes).find(|&l| l != 1 && l != most) {
        None => Ok(()),
        Some(fewer) => Err((
            format!("`{name}` has operands of {fewer} and of {most} lanes"),
            "the text is damaged: let Halide write it again".to_owned(),
        )),
    }
}

/// A binary operator, `min` or `max`.
pub(super) fn binary(symbol: &str, a: &Value, b: &Value, span: Span) -> Result<Value, Refused> {
    if matches!(a, Value::Opaque) || matches!(b, Value::Opaque) {
        return Ok(Value::Opaque);
    }
    alike(symbol, &[a.clone(), b.clone()])?;
    if let (Value::Index(x), Value::Index(y)) = (a, b)
        && let Some(number) = combine(symbol, x, y)
    {
        return Ok(Value::Index(number));
    }
    let mut args = all(&[a.clone(), b.clone()], span)?;
    let elem = args[0].ty.elem;
    if args[1].ty.elem != elem {
        let message = format!(
            "`{symbol}` has operands of types {} and {}",
            elem, args[1].ty.elem
        );
        return Err((
            message,
            "the text is damaged: let Halide write it again".to_owned(),
        ));
    }
    let op = match symbol {
        "+" => Op::Add,
        "-" => Op::Sub,
        "*" => Op::Mul,
        "/" => Op::Div,
        "%" => Op::Rem,
        "min" => Op::Min,
        "max" => Op::Max,
        "==" => Op::Eq,
        "!=" => Op::Ne,
        "<" => Op::Lt,
        "<=" => Op::Le,
        ">" | ">=" => {
            args.reverse();
            if symbol == ">" { Op::Lt } else { Op::Le }
        }
        "&&" => Op::And,
        _ => Op::Or,
    };
    if op == Op::Rem && elem.format().is_some() {
        let rest = super::derived::remainder(&args[0], &args[1], span);
        return Ok(Value::Data(rest));
    }
    if let Some(value) = by_power(op, &args, span) {
        return Ok(Value::Data(value));
    }
    let compares = matches!(op, Op::Eq | Op::Ne | Op::Lt | Op::Le);
    if compares && elem == Elem::Bool {
        let same = apply(Op::Xor, Elem::Bool, args, span);
        let value = if op == Op::Ne {
            same
        } else {
            apply(Op::Not, Elem::Bool, vec![same], span)
        };
        return Ok(Value::Data(value));
    }
    if matches!(op, Op::Eq | Op::Ne)
        && let Some(bit) = bit_in_place(&args, span)
    {
        let zero = constant(Type::scalar(elem), 0, span);
        return Ok(Value::Data(apply(op, Elem::Bool, vec![bit, zero], span)));
    }
    let to = if compares { Elem::Bool } else { elem };
    Ok(Value::Data(apply(op, to, args, span)))
}

/// What is zero where `(x >> n) & 1` is, which is compared with zero: the bit where it is, for lanes
/// of which each asks for another one. Machines have no shifts of bytes by counts that differ.
fn bit_in_place(args: &[Expr], span: Span) -> Option<Expr> {
    let (ExprKind::Apply(Op::And, sides), Some(0)) = (&args[0].kind, args[1].same_constant())
    else {
        return None;
    };
    let elem = args[0].ty.elem;
    let shifted = sides.iter().zip(sides.iter().rev());
    let (x, n) = shifted.into_iter().find_map(|(x, one)| match &x.kind {
        ExprKind::Apply(Op::Shr, args) if one.same_constant() == Some(1) => {
            Some((&args[0], &args[1]))
        }
        _ => None,
    })?;
    let place = constant(Type::scalar(elem), 1, span);
    let place = apply(Op::Shl, elem, vec![place, n.clone()], span);
    let whole = elem.is_int() && !elem.is_signed();
    whole.then(|| apply(Op::And, elem, vec![x.clone(), place], span))
}

/// Logical negation.
pub(super) fn negation(value: &Value, span: Span) -> Value {
    match value {
        Value::Index(n) => Value::Index(Number::new(&not(&n.index), n.ty)),
        Value::Data(e) => Value::Data(apply(Op::Not, Elem::Bool, vec![e.clone()], span)),
        Value::Opaque => Value::Opaque,
    }
}

/// A conversion to a type.
pub(super) fn convert(value: &Value, to: Elem, span: Span) -> Value {
    match value {
        Value::Index(n) if n.ty.elem == Elem::Bool && (to == I32 || to == I64) => {
            let ty = Type { elem: to, ..n.ty };
            Value::Index(Number::new(&zero_or_one(&n.index), ty))
        }
        Value::Index(n) if n.ty.elem != Elem::Bool => {
            let wide = |e: Elem| e == I32 || e == I64;
            let from = n.ty.elem;
            let exact = from == to || from.bits() < to.bits();
            // Not a constant, so an absolute value: nothing that is not less than 2^31.
            let size = from == Elem::unsigned(32) && to == I32 && n.bounds().is_none();
            let kept = wide(to) && exact || size || n.fits(to);
            if kept {
                return Value::Index(Number {
                    ty: Type { elem: to, ..n.ty },
                    ..n.clone()
                });
            }
            Value::Data(cast(n.data(span), to))
        }
        Value::Index(n) => Value::Data(cast(n.beside(to.bits(), span), to)),
        Value::Data(e) if to == I32 || to == I64 => match super::derived::whole(e) {
            Some(index) => Value::Index(Number::scalar(&index, to)),
            None => Value::Data(cast(e.clone(), to)),
        },
        Value::Data(e) => Value::Data(cast(e.clone(), to)),
        Value::Opaque => Value::Opaque,
    }
}

/// The same in several lanes.
pub(super) fn broadcast(value: &Value, lanes: u32, span: Span) -> Value {
    match value {
        Value::Index(n) if n.ty.lanes == 1 => Value::Index(Number {
            ty: Type { lanes, ..n.ty },
            ..n.clone()
        }),
        Value::Index(n) => {
            let lane = Index::Mod(
                Box::new(Index::Sym(super::value::LANE)),
                Box::new(Index::Const(i64::from(n.ty.lanes))),
            );
            let ty = Type {
                elem: n.ty.elem,
                lanes: n.ty.lanes * lanes,
            };
            Value::Index(Number::new(
                &n.index.substitute(super::value::LANE, &lane),
                ty,
            ))
        }
        Value::Data(e) => {
            let have = e.ty.lanes;
            let ty = Type {
                elem: e.ty.elem,
                lanes: have * lanes,
            };
            let order = (0..ty.lanes).map(|l| l % have).collect();
            Value::Data(expr(ExprKind::Shuffle(vec![e.clone()], order), ty, span))
        }
        Value::Opaque => Value::Opaque,
    }
}

/// `ramp(base, stride, lanes)`.
pub(super) fn ramp(base: &Number, stride: &Number, lanes: u32) -> Number {
    let have = base.ty.lanes;
    let lane = Index::Sym(super::value::LANE);
    let ty = Type {
        elem: base.ty.elem,
        lanes: have * lanes,
    };
    let count = |op: fn(Box<Index>, Box<Index>) -> Index| {
        op(
            Box::new(lane.clone()),
            Box::new(Index::Const(i64::from(have))),
        )
    };
    let (inner, outer) = match have {
        1 => (Index::Const(0), lane.clone()),
        _ => (count(Index::Mod), count(Index::Div)),
    };
    Number::new(
        &base
            .lane(&inner)
            .plus(&product(&stride.lane(&inner), &outer)),
        ty,
    )
}

/// `select(c, a, b)`.
fn select(args: &[Value], span: Span) -> Result<Value, Refused> {
    if let [Value::Index(c), Value::Index(a), Value::Index(b)] = args
        && a.ty.elem == b.ty.elem
        && (a.ty.elem == I32 || a.ty.elem == I64)
    {
        let truth = zero_or_one(&c.index);
        let index = product(&truth, &a.index).plus(&product(&not(&truth), &b.index));
        let lanes = c.ty.lanes.max(a.ty.lanes).max(b.ty.lanes);
        return Ok(Value::Index(Number::new(
            &index,
            Type {
                elem: a.ty.elem,
                lanes,
            },
        )));
    }
    let known = match &args[0] {
        Value::Index(c) => c.constant().map(|c| c >= 1),
        _ => None,
    };
    let mut args = all(args, span)?;
    let (elem, lanes) = (args[1].ty.elem, args.iter().map(|e| e.ty.lanes).max());
    let chosen = known.map(|holds| if holds { 1 } else { 2 });
    match chosen.filter(|&k| Some(args[k].ty.lanes) == lanes) {
        Some(k) => Ok(Value::Data(args.swap_remove(k))),
        None => Ok(Value::Data(apply(Op::Select, elem, args, span))),
    }
}

/// The exact result of an operation in a type of its own.
fn widened(op: Op, to: Elem, args: Vec<Expr>, span: Span) -> Expr {
    let args = args.into_iter().map(|a| cast(a, to)).collect();
    apply(op, to, args, span)
}

/// A quotient or remainder by a power of two as a shift or a mask: Halide's are Euclidean.
fn by_power(op: Op, args: &[Expr], span: Span) -> Option<Expr> {
    let elem = args[0].ty.elem;
    let divisor = args[1]
        .same_constant()
        .filter(|d| *d > 0 && elem.is_int())?;
    let places = u64::try_from(divisor)
        .ok()
        .filter(|d| d.is_power_of_two())?;
    let (op, by) = match op {
        Op::Div => (Op::Shr, i128::from(places.trailing_zeros())),
        Op::Rem => (Op::And, divisor - 1),
        _ => return None,
    };
    let by = constant(Type::scalar(elem), by, span);
    Some(apply(op, elem, vec![args[0].clone(), by], span))
}

/// A shift; a negative count of a signed type shifts the other way.
fn shift(
    left: bool,
    rounding: bool,
    to: Elem,
    mut args: Vec<Expr>,
    span: Span,
) -> Result<Expr, Refused> {
    let by = args.pop().expect("a shift has a count");
    let value = cast(args.pop().expect("a shift has a value"), to);
    let constant_count = by.same_constant();
    let right = if rounding { Op::RoundShr } else { Op::Shr };
    let go = |left: bool, count: Expr| {
        let count = cast(count, to.as_unsigned());
        let count = cast(count, to);
        apply(
            if left { Op::Shl } else { right },
            to,
            vec![value.clone(), count],
            span,
        )
    };
    match constant_count {
        Some(c) if c >= 0 => {
            let count = constant(Type::scalar(by.ty.elem), c, span);
            Ok(go(left, count))
        }
        Some(c) => Ok(go(!left, constant(Type::scalar(I32), -c, span))),
        None if !by.ty.elem.is_signed() => Ok(go(left, by)),
        None => {
            let zero = constant(Type::scalar(by.ty.elem), 0, span);
            let negative = apply(Op::Lt, Elem::Bool, vec![by.clone(), zero], span);
            let opposite = apply(Op::Neg, by.ty.elem, vec![by.clone()], span);
            let (there, back) = (go(left, by), go(!left, opposite));
            Ok(apply(Op::Select, to, vec![negative, back, there], span))
        }
    }
}

/// A call by its name. `stated` is the type before the call; 32-bit integers without.
pub(super) fn call(
    name: &str,
    stated: Option<Type>,
    args: &[Value],
    span: Span,
) -> Result<Value, Refused> {
    if args.iter().any(|a| matches!(a, Value::Opaque)) {
        return Ok(Value::Opaque);
    }
    alike(name, args)?;
    match (name, args) {
        ("min" | "max", [a, b]) => return binary(name, a, b, span),
        ("select" | "if_then_else", [_, _, _]) => return select(args, span),
        ("shift_right", [Value::Index(a), Value::Index(by)]) => {
            if let Some(divisor) = power(a, by) {
                let index = Index::Div(Box::new(a.index.clone()), Box::new(Index::Const(divisor)));
                return Ok(Value::Index(Number::new(&index, a.ty)));
            }
        }
        ("shift_left", [Value::Index(a), Value::Index(by)]) => {
            if let Some(factor) = power(a, by) {
                return Ok(Value::Index(Number::new(&a.index.times(factor), a.ty)));
            }
        }
        ("bitwise_and", [Value::Index(a), Value::Index(b)]) => {
            let count = b.constant().and_then(|c| c.checked_add(1));
            let places = count.and_then(|c| u64::try_from(c).ok());
            if let (Some(count), true) = (count, places.is_some_and(u64::is_power_of_two))
                && exact_scalar(a)
            {
                let index = Index::Mod(Box::new(a.index.clone()), Box::new(Index::Const(count)));
                return Ok(Value::Index(Number::new(&index, a.ty)));
            }
        }
        (
            "likely"
            | "likely_if_innermost"
            | "strict_float"
            | "promise_clamped"
            | "unsafe_promise_clamped",
            [a, ..],
        ) => {
            return Ok(a.clone());
        }
        ("abs", [Value::Index(n)]) => {
            let ty = Type {
                elem: n.ty.elem.as_unsigned(),
                ..n.ty
            };
            let negative = n.index.times(-1);
            return Ok(Value::Index(Number::new(
                &greatest(&n.index, &negative),
                ty,
            )));
        }
        ("saturating_sub" | "saturating_add", [Value::Index(a), Value::Index(b)]) => {
            let symbol = if name == "saturating_sub" { "-" } else { "+" };
            if let Some(number) = combine(symbol, a, b).filter(|n| n.ty.elem == I32) {
                let index = clamped(&number.index, I32);
                return Ok(Value::Index(Number::new(&index, number.ty)));
            }
        }
        ("saturating_cast", [Value::Index(n)]) => {
            if let Some(Type {
                elem: elem @ Elem::Int { bits: 8..=32, .. },
                ..
            }) = stated
            {
                let index = clamped(&n.index, elem);
                return Ok(Value::Index(Number::new(&index, Type { elem, ..n.ty })));
            }
        }
        _ => {}
    }
    let to = stated.unwrap_or(Type::scalar(I32));
    let args: Vec<Value> = args.iter().map(|arg| count_of_truth(name, arg)).collect();
    let args = all(&args, span)?;
    intrinsic(name, to, args, span).map(Value::Data)
}

/// Whether a number of one lane is an index that does not wrap.
fn exact_scalar(n: &Number) -> bool {
    n.ty.lanes == 1 && (n.ty.elem == I32 || n.ty.elem == I64)
}

/// What a shift by a constant number of bits multiplies or divides by; for vectors, shifts of
/// data are left as they are.
fn power(a: &Number, by: &Number) -> Option<i64> {
    let count = by.constant().filter(|c| (0..31).contains(c))?;
    exact_scalar(a).then(|| 1 << count)
}

/// A constant truth value that counts, as in `widening_shift_left(c, (uint1)1)`, as a number.
fn count_of_truth(name: &str, arg: &Value) -> Value {
    match arg {
        Value::Index(n)
            if name.contains("shift") && n.ty.elem == Elem::Bool && n.constant().is_some() =>
        {
            let elem = super::arguments::TRUTH;
            let ty = Type { elem, ..n.ty };
            Value::Index(Number::new(&zero_or_one(&n.index), ty))
        }
        other => other.clone(),
    }
}

/// A number moved to the nearest one that a type has.
fn clamped(index: &Index, elem: Elem) -> Index {
    let end = |x: i128| Index::Const(i64::try_from(x).unwrap_or(i64::MAX));
    greatest(&least(index, &end(elem.max())), &end(elem.min()))
}

/// An intrinsic on data.
fn intrinsic(name: &str, to: Type, args: Vec<Expr>, span: Span) -> Result<Expr, Refused> {
    let elem = to.elem;
    let simple = |op: Op, args: Vec<Expr>| Ok(apply(op, elem, args, span));
    let first = |args: &[Expr]| args[0].ty.elem;
    // Truth values have no arithmetic.
    if is_arithmetic(name) && args.iter().any(|arg| arg.ty.elem == Elem::Bool) {
        return Err(unknown(name));
    }
    match (name, args.len()) {
        ("widening_add", 2) => Ok(widened(Op::Add, elem, args, span)),
        ("widening_sub", 2) => Ok(widened(Op::Sub, elem, args, span)),
        ("widening_mul", 2) => Ok(widened(Op::Mul, elem, args, span)),
        ("widen_right_add", 2) => Ok(widened(Op::Add, elem, args, span)),
        ("widen_right_sub", 2) => Ok(widened(Op::Sub, elem, args, span)),
        ("widen_right_mul", 2) => Ok(widened(Op::Mul, elem, args, span)),
        ("widening_shift_left" | "shift_left", 2) => shift(true, false, elem, args, span),
        ("widening_shift_right" | "shift_right", 2) => shift(false, false, elem, args, span),
        ("rounding_shift_right", 2) => shift(false, true, elem, args, span),
        ("saturating_cast", 1) => simple(Op::SatCast, args),
        ("saturating_add", 2) => simple(Op::SatAdd, args),
        ("saturating_sub", 2) => simple(Op::SatSub, args),
        ("halving_add", 2) => simple(Op::AvgFloor, args),
        ("rounding_halving_add", 2) => simple(Op::Avg, args),
        ("absd", 2) if elem.format().is_some() => simple(Op::Absd, args),
        ("absd", 2) if elem == first(&args).as_unsigned() => simple(Op::Absd, args),
        ("abs", 1) => simple(Op::Abs, args),
        ("mul_shift_right", 3) if elem.bits() <= 32 => simple(Op::MulShr, count_of(args, elem)),
        ("rounding_mul_shift_right", 3) if elem.bits() <= 32 => {
            simple(Op::RoundMulShr, count_of(args, elem))
        }
        ("bitwise_and", 2) => simple(Op::And, args),
        ("bitwise_or", 2) => simple(Op::Or, args),
        ("bitwise_xor", 2) => simple(Op::Xor, args),
        ("bitwise_not", 1) => simple(Op::Not, args),
        ("count_leading_zeros", 1) => simple(Op::Clz, args),
        ("popcount", 1) => simple(Op::Popcount, args),
        ("fma", 3) => simple(Op::Fma, args),
        ("sqrt" | "sqrt_f16" | "sqrt_f32" | "sqrt_f64", 1) => simple(Op::Sqrt, args),
        ("floor_f16" | "floor_f32" | "floor_f64", 1) => simple(Op::Floor, args),
        ("ceil_f16" | "ceil_f32" | "ceil_f64", 1) => simple(Op::Ceil, args),
        ("trunc_f16" | "trunc_f32" | "trunc_f64", 1) => simple(Op::Trunc, args),
        ("round" | "round_f32" | "round_f64", 1) => simple(Op::RoundEven, args),
        ("vector_reduce_add", 1) => reduce(Reduction::Add, to, args, span),
        ("vector_reduce_min", 1) => reduce(Reduction::Min, to, args, span),
        ("vector_reduce_max", 1) => reduce(Reduction::Max, to, args, span),
        _ => super::derived::derived(name, to, &args, span).ok_or_else(|| unknown(name)),
    }
}

/// Whether a function computes with numbers of one kind of bits.
fn is_arithmetic(name: &str) -> bool {
    let with = [
        "mul_shift_right",
        "saturating_add",
        "saturating_sub",
        "halving_add",
    ];
    with.iter().any(|part| name.ends_with(part))
        || ["absd", "abs", "fma", "popcount", "count_leading_zeros"].contains(&name)
}

/// The operands of a scaled product, with the count in the type of the others.
fn count_of(mut args: Vec<Expr>, elem: Elem) -> Vec<Expr> {
    let count = args.pop().expect("a scaled product has a count");
    args.push(cast(count, elem));
    args
}

/// Adjacent lanes as one.
fn reduce(
    reduction: Reduction,
    to: Type,
    mut args: Vec<Expr>,
    span: Span,
) -> Result<Expr, Refused> {
    let arg = args.pop().expect("a reduction has an operand");
    let (have, want) = (arg.ty.lanes, to.lanes);
    if have == want {
        return Ok(arg);
    }
    if want == 0 || have % want != 0 {
        return Err((
            format!("{have} lanes are reduced to {want}"),
            "the text is damaged: let Halide write it again".to_owned(),
        ));
    }
    Ok(expr(
        ExprKind::Reduce(reduction, Box::new(arg), have / want),
        to,
        span,
    ))
}

/// What statement texts are full of.
const COMMON: [&str; 12] = [
    "ramp", "min", "max", "select", "abs", "uint8", "uint16", "uint32", "int8", "int16", "int32",
    "float32",
];

/// The message about a call that is not known.
fn unknown(name: &str) -> Refused {
    let hint = if matches!(
        name,
        "asinh_f32" | "acosh_f32" | "atanh_f32" | "asinh_f64" | "acosh_f64" | "atanh_f64"
    ) {
        "it is not among the functions here: write it with `log` and `sqrt`, as `log(x + sqrt(x*x + 1))` for `asinh`"
    } else if name.starts_with("_halide") || name.starts_with("halide_") {
        "calls of Halide's runtime are not read: compile without profiling, tracing, GPU or asynchronous features"
    } else if let Some(near) = suggest(name, COMMON).filter(|_| !name.contains("_f")) {
        return (
            format!("`{name}` is not supported"),
            format!("the text is damaged if this is `{near}`: let Halide write it again"),
        );
    } else {
        "functions outside of the pipeline (`extern`) are not read: compute the values in a Func, or pass them as a buffer"
    };
    (format!("`{name}` is not supported"), hint.to_owned())
}
