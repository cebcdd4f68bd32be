//! Floating-point values of the pseudocode.
//!
//! In: values whose bits are read as floats, and numbers with a fraction. Out: terms of the
//! floating-point operators. A product that is added to something in the same expression is
//! fused with it; of two products that are added the left one is rounded. How results are
//! rounded, and whether subnormals count, comes from the signature: [`Context`]. Functions by
//! name are in the dialects.

use super::value::{self, Class, Computed, Sym, Value};
use crate::pseudocode::ast::BinaryOp;
use crate::signature::Signature;
use semantics::build as b;
use semantics::float::{Format, Rounding};
use semantics::instruction::Role;
use semantics::op::{Op, OpCode};
use semantics::term::Term;
use std::rc::Rc;

/// What an instruction does to every floating-point result.
#[derive(Clone, Debug, Default)]
pub(crate) struct Context {
    /// Directions other than to nearest, each with its condition.
    directions: Vec<(Term, Rounding)>,
    /// Subnormals count as zeros in fused products, and none comes out.
    flushes: bool,
    /// A reciprocal has a relative error of at most the first times two to minus the second.
    approximation: Option<(u32, u32)>,
}

/// Products that wait for what they are added to.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Products {
    format: Format,
    /// Factors, and whether the product is negated; one or two.
    all: Vec<(Term, Term, bool)>,
}

impl Context {
    /// The context of an intrinsic.
    pub(crate) fn of(signature: &Signature) -> Context {
        let mnemonic = signature.mnemonic.as_deref().unwrap_or("").to_lowercase();
        Context {
            directions: directions(signature, &mnemonic),
            flushes: mnemonic.starts_with("vdpbf16ps"),
            approximation: approximation(&mnemonic),
        }
    }

    /// A result for each rounding direction, chosen by the operand that gives it.
    pub(crate) fn rounded(&self, result: impl Fn(Rounding) -> Term) -> Term {
        let nearest = result(Rounding::NearestEven);
        let others = self.directions.iter().rev();
        others.fold(nearest, |other, (c, r)| b::ite(*c, result(*r), other))
    }

    /// An operator with a format and a rounding.
    pub(crate) fn operator(&self, code: OpCode, format: Format, args: &[Term]) -> Term {
        self.rounded(|r| b::app(Op::with2(code, format.code(), r.code()), args))
    }
}

/// The directions that a constant operand chooses among.
fn directions(signature: &Signature, mnemonic: &str) -> Vec<(Term, Rounding)> {
    let find = |wanted: fn(&Role) -> bool| signature.operands.iter().find(|o| wanted(&o.role));
    let (control, first) = if let Some(o) = find(|r| matches!(r, Role::Rounding)) {
        (o.var(), 8)
    } else if mnemonic.starts_with("vcvtps2ph") {
        // Its control word is an immediate: bits 1:0 unless bit 2 says the current direction.
        match find(|r| matches!(r, Role::Immediate { .. } | Role::Sae)) {
            Some(o) => (b::extract(o.var(), 0, 3), 0),
            None => return Vec::new(),
        }
    } else {
        return Vec::new();
    };
    let at = |k: i128| b::eq(control, Term::bv(control.width(), first + k));
    vec![
        (at(1), Rounding::Down),
        (at(2), Rounding::Up),
        (at(3), Rounding::Zero),
    ]
}

/// The stated relative error of the instructions that approximate.
fn approximation(mnemonic: &str) -> Option<(u32, u32)> {
    let name = mnemonic.strip_prefix('v').unwrap_or(mnemonic);
    let rest = name
        .strip_prefix("rcp")
        .or_else(|| name.strip_prefix("rsqrt"))?;
    if rest.starts_with("14") {
        Some((1, 14))
    } else if rest.starts_with("28") {
        Some((1, 28))
    } else if rest.starts_with("ph") || rest.starts_with("sh") {
        Some(HALF_ERROR)
    } else {
        Some(SINGLE_ERROR)
    }
}

/// 2^-11 + 2^-14: the approximations on halves.
pub(crate) const HALF_ERROR: (u32, u32) = (9, 14);
/// 1.5 · 2^-12: the approximations of SSE.
pub(crate) const SINGLE_ERROR: (u32, u32) = (3, 13);

/// The IEEE format of that many bits.
pub(crate) fn of_width(width: u32) -> Option<Format> {
    match width {
        16 => Some(Format::F16),
        32 => Some(Format::F32),
        64 => Some(Format::F64),
        _ => None,
    }
}

/// The class that a field of that name reads.
pub(crate) fn field(name: &str) -> Option<Class> {
    match name {
        "fp16" | "fp32" | "fp64" => Some(Class::Float),
        "bf16" => Some(Class::Bfloat),
        _ => None,
    }
}

/// The format of a value that is a float; numbers with a fraction have none of their own.
pub(crate) fn format_of(v: &Value) -> Option<Format> {
    match v {
        Value::Sym(s) if s.is_float() => match s.class {
            Class::Bfloat => Some(Format::Bf16),
            _ => of_width(s.term.width()),
        },
        Value::Products(p) => Some(p.format),
        Value::Choice(_, x, y) => format_of(x).or_else(|| format_of(y)),
        _ => None,
    }
}

/// Whether the value is a float or a number with a fraction.
fn is_float(v: &Value) -> bool {
    matches!(v, Value::Real(_))
        || format_of(v).is_some()
        || matches!(v, Value::Choice(_, x, y) if is_float(x) || is_float(y))
}

/// Bits as a float.
pub(crate) fn float(term: Term, format: Format) -> Value {
    let mut s = Sym::new(term, false);
    s.class = match format {
        Format::Bf16 => Class::Bfloat,
        _ => Class::Float,
    };
    (s.raw, s.range) = (true, None);
    Value::Sym(s)
}

/// A number in a format, rounded to nearest.
pub(crate) fn constant(number: f64, format: Format) -> Term {
    let bits = Term::bv(64, i128::from(number.to_bits()));
    convert(bits, Format::F64, format, Rounding::NearestEven)
}

/// A float in another format.
pub(crate) fn convert(x: Term, from: Format, to: Format, rounding: Rounding) -> Term {
    if from == to {
        return x;
    }
    let op = Op::with3(OpCode::FConvert, from.code(), to.code(), rounding.code());
    b::app(op, &[x])
}

/// The number that an integer or a literal is.
pub(crate) fn number(v: &Value) -> Option<f64> {
    match v {
        Value::Real(x) => Some(*x),
        #[expect(clippy::cast_precision_loss, reason = "just found to be exact")]
        Value::Int(k) if k.unsigned_abs() <= 1 << 53 => Some(*k as f64),
        _ => None,
    }
}

/// The bits of a value in a format.
pub(crate) fn bits_in(context: &Context, v: &Value, format: Format) -> Computed<Term> {
    if let Some(number) = number(v) {
        return Ok(constant(number, format));
    }
    match v {
        Value::Choice(c, x, y) => {
            let (x, y) = (bits_in(context, x, format)?, bits_in(context, y, format)?);
            Ok(b::ite(*c, x, y))
        }
        Value::Products(p) if p.format == format => Ok(p.sum(context)),
        Value::Sym(s) if s.raw && s.plain() && s.term.width() == format.width() => Ok(s.term),
        _ => value::refuse(format!("this is not a {} number", format.name())),
    }
}

impl Products {
    /// The value when nothing more is added.
    fn sum(&self, context: &Context) -> Term {
        let (first, rest) = self.all.split_first().expect("there is a product");
        let product = context.operator(OpCode::FMul, self.format, &[first.0, first.1]);
        let start = if first.2 {
            negated(product, self.format)
        } else {
            product
        };
        self.onto(context, rest, start)
    }

    /// Products added to a number, one after the other.
    fn onto(&self, context: &Context, products: &[(Term, Term, bool)], start: Term) -> Term {
        products.iter().fold(start, |sum, &product| {
            fused(context, self.format, product, sum, false)
        })
    }
}

/// A product plus or minus a number, rounded once.
fn fused(
    context: &Context,
    format: Format,
    (x, y, negative): (Term, Term, bool),
    addend: Term,
    minus: bool,
) -> Term {
    let code = match (negative, minus) {
        (false, false) => OpCode::FMadd,
        (false, true) => OpCode::FMsub,
        (true, false) => OpCode::FNmadd,
        (true, true) => OpCode::FNmsub,
    };
    if context.flushes {
        let args = [x, y, addend].map(|t| flushed(t, format));
        return flushed(context.operator(code, format, &args), format);
    }
    context.operator(code, format, &[x, y, addend])
}

/// The number with the other sign.
pub(crate) fn negated(x: Term, format: Format) -> Term {
    b::xor(x, Term::bv(format.width(), i128::from(format.sign())))
}

/// The number without its sign.
pub(crate) fn absolute(x: Term, format: Format) -> Term {
    b::and(x, Term::bv(format.width(), i128::from(format.sign() - 1)))
}

/// The number, or zero of its sign when it is subnormal.
pub(crate) fn flushed(x: Term, format: Format) -> Term {
    let number = |pattern: u64| Term::bv(format.width(), i128::from(pattern));
    let parts = |x: Term| {
        let exponent = b::and(x, number(format.infinity()));
        (b::eq(exponent, number(0)), b::and(x, number(format.sign())))
    };
    if let Some(&[condition, zero, other]) = x.args_of(OpCode::Ite)
        && parts(other) == (condition, zero)
    {
        return x;
    }
    let (condition, zero) = parts(x);
    b::ite(condition, zero, x)
}

/// The negation of a float; none of anything else.
pub(crate) fn negate(v: &Value) -> Option<Value> {
    match v {
        Value::Real(x) => Some(Value::Real(-x)),
        Value::Products(p) => {
            let all = p.all.iter().map(|&(x, y, n)| (x, y, !n)).collect();
            Some(Value::Products(Rc::new(Products { all, ..**p })))
        }
        Value::Sym(s) => {
            let format = format_of(v)?;
            Some(float(negated(s.term, format), format))
        }
        _ => None,
    }
}

/// The value with its products rounded.
pub(crate) fn closed(context: &Context, v: Value) -> Value {
    match &v {
        Value::Products(p) => float(p.sum(context), p.format),
        _ => v,
    }
}

/// An infix operator on floats; none when neither side is one, or it works on bits.
pub(crate) fn apply(
    context: &Context,
    op: BinaryOp,
    x: &Value,
    y: &Value,
) -> Option<Computed<Value>> {
    use BinaryOp as B;
    if matches!(
        op,
        B::And | B::Or | B::Xor | B::Shl | B::Shr | B::Rotl | B::Rem
    ) || !(is_float(x) || is_float(y))
    {
        return None;
    }
    if let Some(truth) = against_nan(context, op, x, y) {
        return Some(truth.map(Value::Truth));
    }
    let Some(format) = format_of(x).or_else(|| format_of(y)) else {
        return Some(folded(op, x, y));
    };
    Some(match op {
        B::Add => sum(context, format, x, y),
        B::Sub => difference(context, format, x, y),
        B::Mul => bits_in(context, x, format)
            .and_then(|p| Ok((p, bits_in(context, y, format)?)))
            .map(|(p, q)| {
                let all = vec![(p, q, false)];
                Value::Products(Rc::new(Products { format, all }))
            }),
        B::Div => quotient(context, format, x, y),
        _ => compare(context, op, format, x, y).map(Value::Truth),
    })
}

/// Arithmetic on literals.
fn folded(op: BinaryOp, x: &Value, y: &Value) -> Computed<Value> {
    match (op, number(x), number(y)) {
        (BinaryOp::Add, Some(p), Some(q)) => Ok(Value::Real(p + q)),
        (BinaryOp::Sub, Some(p), Some(q)) => Ok(Value::Real(p - q)),
        (BinaryOp::Mul, Some(p), Some(q)) => Ok(Value::Real(p * q)),
        (BinaryOp::Div, Some(p), Some(q)) => Ok(Value::Real(p / q)),
        _ => value::refuse("the format of this number is not known"),
    }
}

fn sum(context: &Context, format: Format, x: &Value, y: &Value) -> Computed<Value> {
    let result = match (x, y) {
        (Value::Products(p), Value::Products(q)) => {
            if p.all.len() + q.all.len() > 2 {
                return value::refuse("a sum of more than two products is not described");
            }
            let all = p.all.iter().chain(&q.all).copied().collect();
            return Ok(Value::Products(Rc::new(Products { format, all })));
        }
        (Value::Products(p), c) | (c, Value::Products(p)) => {
            p.onto(context, &p.all, bits_in(context, c, format)?)
        }
        _ => {
            let (p, q) = (bits_in(context, x, format)?, bits_in(context, y, format)?);
            context.operator(OpCode::FAdd, format, &[p, q])
        }
    };
    Ok(float(result, format))
}

fn difference(context: &Context, format: Format, x: &Value, y: &Value) -> Computed<Value> {
    let result = match (x, y) {
        (_, Value::Products(_)) => {
            let minus = negate(y).expect("products have a negation");
            return sum(context, format, x, &minus);
        }
        (Value::Products(p), c) => {
            let (first, rest) = p.all.split_first().expect("there is a product");
            let start = fused(context, format, *first, bits_in(context, c, format)?, true);
            p.onto(context, rest, start)
        }
        _ => {
            let (p, q) = (bits_in(context, x, format)?, bits_in(context, y, format)?);
            context.operator(OpCode::FSub, format, &[p, q])
        }
    };
    Ok(float(result, format))
}

/// A quotient; of one, by instructions that approximate, an approximation.
fn quotient(context: &Context, format: Format, x: &Value, y: &Value) -> Computed<Value> {
    let divisor = bits_in(context, y, format)?;
    if let Some(error) = context.approximation.filter(|_| number(x) == Some(1.0)) {
        let term = match divisor.args_of(OpCode::FSqrt) {
            Some(root) => approximate(OpCode::FRsqrt, root[0], format, error),
            None => approximate(OpCode::FRcp, divisor, format, error),
        };
        return Ok(float(term, format));
    }
    let args = [bits_in(context, x, format)?, divisor];
    Ok(float(context.operator(OpCode::FDiv, format, &args), format))
}

/// An approximation with its stated error.
pub(crate) fn approximate(code: OpCode, x: Term, format: Format, error: (u32, u32)) -> Term {
    b::app(Op::with3(code, format.code(), error.0, error.1), &[x])
}

fn relation(code: OpCode, format: Format, x: Term, y: Term) -> Term {
    b::app(Op::with(code, format.code()), &[x, y])
}

/// Whether either is a NaN.
pub(crate) fn unordered(format: Format, x: Term, y: Term) -> Term {
    relation(OpCode::FUnord, format, x, y)
}

/// `x == NaN` or `x != NaN`, which the pseudocode means as a question of the class.
fn against_nan(context: &Context, op: BinaryOp, x: &Value, y: &Value) -> Option<Computed<Term>> {
    let nan = |v: &Value| matches!(v, Value::Token(name) if name.eq_ignore_ascii_case("NaN"));
    let (value, _) = match (nan(x), nan(y)) {
        (true, false) => (y, x),
        (false, true) => (x, y),
        _ => return None,
    };
    let format = format_of(value)?;
    let holds = bits_in(context, value, format).map(|t| unordered(format, t, t));
    match op {
        BinaryOp::Eq => Some(holds),
        BinaryOp::Ne => Some(holds.map(b::negate)),
        _ => None,
    }
}

fn compare(
    context: &Context,
    op: BinaryOp,
    format: Format,
    x: &Value,
    y: &Value,
) -> Computed<Term> {
    let (x, y) = (bits_in(context, x, format)?, bits_in(context, y, format)?);
    Ok(match op {
        BinaryOp::Eq => relation(OpCode::FEq, format, x, y),
        BinaryOp::Ne => b::negate(relation(OpCode::FEq, format, x, y)),
        BinaryOp::Lt => relation(OpCode::FLt, format, x, y),
        BinaryOp::Le => relation(OpCode::FLe, format, x, y),
        BinaryOp::Gt => relation(OpCode::FLt, format, y, x),
        BinaryOp::Ge => relation(OpCode::FLe, format, y, x),
        _ => return value::refuse("this operator is no comparison"),
    })
}

/// The comparison that a predicate such as `_CMP_NGE_UQ` names; none of other words. Whether
/// it signals changes no result.
pub(crate) fn predicate(
    context: &Context,
    name: &str,
    x: &Value,
    y: &Value,
) -> Option<Computed<Term>> {
    let kind = name.strip_prefix("_CMP_")?;
    let (kind, suffix) = kind.split_once('_').unwrap_or((kind, ""));
    let format = format_of(x).or_else(|| format_of(y))?;
    let terms = bits_in(context, x, format).and_then(|p| Ok((p, bits_in(context, y, format)?)));
    let (x, y) = match terms {
        Ok(terms) => terms,
        Err(refusal) => return Some(Err(refusal)),
    };
    let is = |code, x, y| relation(code, format, x, y);
    let not = |code, x, y| b::negate(is(code, x, y));
    let unord = unordered(format, x, y);
    Some(Ok(match (kind, suffix.starts_with('U')) {
        ("EQ", false) => is(OpCode::FEq, x, y),
        ("EQ", true) => b::either(is(OpCode::FEq, x, y), unord),
        ("NEQ", true) => not(OpCode::FEq, x, y),
        ("NEQ", false) => b::negate(b::either(is(OpCode::FEq, x, y), unord)),
        ("LT", _) => is(OpCode::FLt, x, y),
        ("LE", _) => is(OpCode::FLe, x, y),
        ("GT", _) => is(OpCode::FLt, y, x),
        ("GE", _) => is(OpCode::FLe, y, x),
        ("NLT", _) => not(OpCode::FLt, x, y),
        ("NLE", _) => not(OpCode::FLe, x, y),
        ("NGT", _) => not(OpCode::FLt, y, x),
        ("NGE", _) => not(OpCode::FLe, y, x),
        ("UNORD", _) => unord,
        ("ORD", _) => b::negate(unord),
        ("FALSE", _) => Term::bool(false),
        ("TRUE", _) => Term::bool(true),
        _ => return None,
    }))
}
