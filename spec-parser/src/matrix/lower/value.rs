//! Values of expressions: numbers that the description fixes, typed bits, truth values.
//!
//! In: operators and values. Out: values. Arithmetic on integers wraps at the type's width;
//! on floats every operator rounds once, to nearest even, and only `fma` rounds a product
//! and a sum together. A number takes the type of what it meets.

use super::super::ast::Operator;
use crate::pseudocode::reading::Refused;
use semantics::build as b;
use semantics::diagnostic::suggest;
use semantics::float::{Format, Rounding};
use semantics::instruction::Element;
use semantics::op::{Op, OpCode};
use semantics::span::Span;
use semantics::term::Term;

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Data {
    /// A number known now.
    Int(i64),
    /// One that moves with loops.
    Index(Index),
    /// Bits, read as this type.
    Bits(Term, Element),
    /// A condition.
    Truth(Term),
}

/// A number that moves with loops, and the least and the greatest that it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Index {
    pub(super) term: Term,
    pub(super) low: i64,
    pub(super) high: i64,
}

impl Index {
    /// One that does not.
    pub(super) fn number(n: i64) -> Index {
        Index {
            term: Term::int(n),
            low: n,
            high: n,
        }
    }
}

/// The names of types.
const TYPES: &[(&str, Element)] = &[
    ("s8", Element::Signed(8)),
    ("s16", Element::Signed(16)),
    ("s32", Element::Signed(32)),
    ("s64", Element::Signed(64)),
    ("u8", Element::Unsigned(8)),
    ("u16", Element::Unsigned(16)),
    ("u32", Element::Unsigned(32)),
    ("u64", Element::Unsigned(64)),
    ("f16", Element::Float(16)),
    ("f32", Element::Float(32)),
    ("f64", Element::Float(64)),
    ("bf16", Element::Bfloat16),
];

pub(super) fn unsigned(width: u32) -> Element {
    Element::Unsigned(width)
}

/// Bits of a type.
pub(super) fn width(element: Element) -> u32 {
    element.width().expect("only types with a width are made")
}

/// Bytes of a type.
pub(super) fn bytes(element: Element) -> u32 {
    width(element) / 8
}

fn name(element: Element) -> String {
    match element {
        Element::Signed(w) => format!("s{w}"),
        other => other.to_string(),
    }
}

/// Functions that are no conversions.
const FUNCTIONS: [&str; 5] = ["fma", "flush", "quotient", "remainder", "select"];

/// The type of that name.
pub(super) fn element(view: &str, span: Span) -> Result<Element, Refused> {
    let names = TYPES.iter().map(|t| t.0);
    TYPES
        .iter()
        .find(|t| t.0 == view)
        .map(|t| t.1)
        .ok_or_else(|| {
            let other = view.strip_prefix('i').map(|width| format!("s{width}"));
            let known = other.filter(|o| names.clone().any(|n| n == o));
            let near = known.as_deref().or_else(|| suggest(view, names.clone()));
            let hint = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are {}", names.collect::<Vec<_>>().join(", ")),
            };
            Refused::new(span, format!("there is no type `{view}`"), hint)
        })
}

fn format_of(element: Element) -> Option<Format> {
    Some(match element {
        Element::Float(16) => Format::F16,
        Element::Float(32) => Format::F32,
        Element::Float(64) => Format::F64,
        Element::Bfloat16 => Format::Bf16,
        _ => return None,
    })
}

fn format(element: Element) -> Option<u32> {
    format_of(element).map(Format::code)
}

/// A value as bits of that type, as it is written to a place.
pub(super) fn stored(data: Data, element: Element, span: Span) -> Result<Term, Refused> {
    match data {
        Data::Bits(term, own) if own == element => Ok(term),
        Data::Bits(_, own) => Err(Refused::new(
            span,
            format!("this is {}, and {} is expected", name(own), name(element)),
            format!("convert it: `{}(…)`", name(element)),
        )),
        Data::Int(n) => literal(n, element, span),
        Data::Index(index) => {
            // Both ends fit, and so does what lies between.
            for end in [index.low, index.high] {
                literal(end, element, span)?;
            }
            match format(element) {
                None => Ok(b::int_to_bv(index.term, width(element))),
                Some(_) => literal(index.high.max(1), element, span),
            }
        }
        Data::Truth(_) => Err(Refused::new(
            span,
            format!("this is a condition, and {} is expected", name(element)),
            "choose between two values: `select(condition, 1, 0)`",
        )),
    }
}

/// A number as bits of that type.
fn literal(n: i64, element: Element, span: Span) -> Result<Term, Refused> {
    let w = width(element);
    if format(element).is_some() {
        if n == 0 {
            return Ok(b::zero(w));
        }
        let message = format!("the number {n} is no {}", name(element));
        return Err(Refused::new(
            span,
            message,
            "only 0 is a number of every type",
        ));
    }
    let signed = matches!(element, Element::Signed(_));
    // Any number that is written down has 64 bits.
    let bits = w.min(65);
    let least = if signed { -(1_i128 << (bits - 1)) } else { 0 };
    let most = least + (1_i128 << bits) - 1;
    if !(least..=most).contains(&i128::from(n)) {
        let message = format!("{n} does not fit into {}", name(element));
        let hint = format!("it holds {least} to {most}");
        return Err(Refused::new(span, message, hint));
    }
    Ok(Term::bv(w, i128::from(n)))
}

pub(super) fn negate(a: Data, span: Span) -> Result<Data, Refused> {
    match a {
        Data::Int(n) => Ok(Data::Int(n.wrapping_neg())),
        Data::Bits(t, e) if format(e).is_none() => Ok(Data::Bits(b::neg(t), e)),
        _ => Err(Refused::new(
            span,
            "only integers are negated",
            "write `0 - …`",
        )),
    }
}

pub(super) fn not(a: Data, span: Span) -> Result<Data, Refused> {
    match a {
        Data::Int(n) => Ok(Data::Int(!n)),
        Data::Bits(t, e) if format(e).is_none() => Ok(Data::Bits(b::not(t), e)),
        Data::Truth(t) => Ok(Data::Truth(b::negate(t))),
        Data::Bits(..) | Data::Index(_) => Err(Refused::new(
            span,
            "a float has no complement",
            "read its bits as integers",
        )),
    }
}

pub(super) fn binary(op: Operator, a: Data, b: Data, span: Span) -> Result<Data, Refused> {
    match (a, b) {
        (Data::Int(x), Data::Int(y)) => numbers(op, x, y, span),
        (Data::Index(x), Data::Index(y)) => indices(op, x, y, span),
        (Data::Index(x), Data::Int(y)) => indices(op, x, Index::number(y), span),
        (Data::Int(x), Data::Index(y)) => indices(op, Index::number(x), y, span),
        (Data::Bits(x, e), other) => {
            let y = stored(other, e, span)?;
            typed(op, x, y, e, span)
        }
        (number @ (Data::Int(_) | Data::Index(_)), Data::Bits(y, e)) => {
            typed(op, stored(number, e, span)?, y, e, span)
        }
        (Data::Truth(x), Data::Truth(y)) => match op {
            Operator::And => Ok(Data::Truth(b::both(x, y))),
            Operator::Or => Ok(Data::Truth(b::either(x, y))),
            _ => Err(Refused::new(
                span,
                "conditions are joined by `&` and `|`",
                "use one of them",
            )),
        },
        _ => Err(Refused::new(
            span,
            "a condition and a value do not mix",
            "use `select(condition, x, y)`",
        )),
    }
}

/// Sums and products of numbers that move; what else is done with them is not known.
fn indices(op: Operator, x: Index, y: Index, span: Span) -> Result<Data, Refused> {
    let unknown = || {
        let message = "a number that moves with a loop is added and multiplied only";
        Refused::new(span, message, "write loops that are run")
    };
    let (term, ends) = match op {
        Operator::Add => {
            let ends = [x.low.checked_add(y.low), x.high.checked_add(y.high)];
            (b::int_add(x.term, y.term), ends)
        }
        Operator::Mul if x.low >= 0 && y.low >= 0 => {
            let ends = [x.low.checked_mul(y.low), x.high.checked_mul(y.high)];
            (b::int_mul(x.term, y.term), ends)
        }
        _ => return Err(unknown()),
    };
    let [Some(low), Some(high)] = ends else {
        return Err(unknown());
    };
    Ok(Data::Index(Index { term, low, high }))
}

fn numbers(op: Operator, x: i64, y: i64, span: Span) -> Result<Data, Refused> {
    use Operator as O;
    let truth = |t: bool| Ok(Data::Truth(Term::bool(t)));
    let shift = u32::try_from(y).ok();
    let n = match op {
        O::Add => x.checked_add(y),
        O::Sub => x.checked_sub(y),
        O::Mul => x.checked_mul(y),
        O::Div => x.checked_div_euclid(y),
        O::Rem => x.checked_rem_euclid(y),
        O::And => Some(x & y),
        O::Or => Some(x | y),
        O::Xor => Some(x ^ y),
        O::Shl => shift.and_then(|s| x.checked_shl(s)),
        O::Shr => shift.and_then(|s| x.checked_shr(s)),
        O::Equal => return truth(x == y),
        O::Differs => return truth(x != y),
        O::AtMost => return truth(x <= y),
        O::Below => return truth(x < y),
        O::AtLeast => return truth(x >= y),
        O::Above => return truth(x > y),
    };
    n.map(Data::Int).ok_or_else(|| {
        Refused::new(
            span,
            "this number cannot be computed",
            "it is too large, or divides by 0",
        )
    })
}

fn typed(op: Operator, x: Term, y: Term, e: Element, span: Span) -> Result<Data, Refused> {
    use Operator as O;
    if let Some(format) = format(e) {
        return float(op, x, y, format, e, span);
    }
    let signed = matches!(e, Element::Signed(_));
    let bits = |t: Term| Ok(Data::Bits(t, e));
    let truth = |t: Term| Ok(Data::Truth(t));
    let less = |x, y| if signed { b::slt(x, y) } else { b::ult(x, y) };
    match op {
        O::Add => bits(b::add(x, y)),
        O::Sub => bits(b::sub(x, y)),
        O::Mul => bits(b::mul(x, y)),
        O::And => bits(b::and(x, y)),
        O::Or => bits(b::or(x, y)),
        O::Xor => bits(b::xor(x, y)),
        O::Shl => bits(b::shl(x, y)),
        O::Shr if signed => bits(b::ashr(x, y)),
        O::Shr => bits(b::lshr(x, y)),
        O::Equal => truth(b::eq(x, y)),
        O::Differs => truth(b::negate(b::eq(x, y))),
        O::Below => truth(less(x, y)),
        O::Above => truth(less(y, x)),
        O::AtMost => truth(b::negate(less(y, x))),
        O::AtLeast => truth(b::negate(less(x, y))),
        O::Div | O::Rem => Err(Refused::new(
            span,
            "elements have no quotient here",
            "`quotient(a, b)` and `remainder(a, b)` round to zero; `/` is for sizes and indices",
        )),
    }
}

fn float(
    op: Operator,
    x: Term,
    y: Term,
    format: u32,
    e: Element,
    span: Span,
) -> Result<Data, Refused> {
    let code = match op {
        Operator::Add => OpCode::FAdd,
        Operator::Sub => OpCode::FSub,
        Operator::Mul => OpCode::FMul,
        _ => {
            let message = "floats are added, subtracted and multiplied";
            return Err(Refused::new(
                span,
                message,
                "`fma(a, b, c)` is a*b + c, rounded once",
            ));
        }
    };
    Ok(Data::Bits(b::app(nearest(code, format), &[x, y]), e))
}

fn nearest(code: OpCode, format: u32) -> Op {
    Op::with2(code, format, Rounding::NearestEven as u32)
}

/// A conversion, `fma`, `select`, `min` or `max`.
pub(super) fn call(function: &str, mut args: Vec<Data>, span: Span) -> Result<Data, Refused> {
    let count = |n: usize, args: &[Data]| match args.len() == n {
        true => Ok(()),
        false => {
            let message = format!(
                "`{function}` has {n} arguments, and here are {}",
                args.len()
            );
            Err(Refused::new(span, message, "see isa-specs/README.md"))
        }
    };
    match function {
        "fma" => {
            count(3, &args)?;
            let types = args.iter().find_map(|a| match a {
                Data::Bits(_, e) => format(*e).map(|f| (*e, f)),
                _ => None,
            });
            let Some((e, format)) = types else {
                return Err(Refused::new(
                    span,
                    "`fma` is for floats",
                    "integers need none: nothing is rounded",
                ));
            };
            let terms = args.into_iter().map(|a| stored(a, e, span));
            let terms = terms.collect::<Result<Vec<_>, _>>()?;
            Ok(Data::Bits(
                b::app(nearest(OpCode::FMadd, format), &terms),
                e,
            ))
        }
        "select" => {
            count(3, &args)?;
            let (other, then, condition) = (args.pop(), args.pop(), args.pop());
            let (Some(other), Some(then), Some(Data::Truth(c))) = (other, then, condition) else {
                return Err(Refused::new(
                    span,
                    "the first argument must be a condition",
                    "compare two values",
                ));
            };
            let e = match (&then, &other) {
                (Data::Bits(_, e), _) | (_, Data::Bits(_, e)) => *e,
                _ => {
                    return Err(Refused::new(
                        span,
                        "two numbers have no type",
                        "convert one: `u32(1)`",
                    ));
                }
            };
            let (x, y) = (stored(then, e, span)?, stored(other, e, span)?);
            Ok(Data::Bits(b::ite(c, x, y), e))
        }
        "quotient" | "remainder" => {
            count(2, &args)?;
            let e = args.iter().find_map(|a| match a {
                Data::Bits(_, e) if format(*e).is_none() => Some(*e),
                _ => None,
            });
            let Some(e) = e else {
                let message = format!("`{function}` is for integers of a type");
                return Err(Refused::new(span, message, "convert one: `s32(x)`"));
            };
            let terms = args.into_iter().map(|a| stored(a, e, span));
            let terms = terms.collect::<Result<Vec<_>, _>>()?;
            let (x, y) = (terms[0], terms[1]);
            Ok(Data::Bits(division(function == "quotient", x, y, e), e))
        }
        "flush" => {
            count(1, &args)?;
            let wrong = "`flush` is for floats";
            let refused = || Refused::new(span, wrong, "integers have no subnormal numbers");
            let Data::Bits(t, e) = args.remove(0) else {
                return Err(refused());
            };
            let format = format_of(e).ok_or_else(refused)?;
            Ok(Data::Bits(flushed(t, format), e))
        }
        _ => {
            let to = element(function, span).map_err(|refused| Refused {
                message: format!("there is no function `{function}`"),
                hint: match suggest(
                    function,
                    FUNCTIONS.into_iter().chain(TYPES.iter().map(|t| t.0)),
                ) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!(
                        "`{}` and the types: {}",
                        FUNCTIONS.join("`, `"),
                        refused.hint
                    ),
                },
                ..refused
            })?;
            count(1, &args)?;
            convert(args.remove(0), to, span)
        }
    }
}

fn convert(data: Data, to: Element, span: Span) -> Result<Data, Refused> {
    match data {
        Data::Int(_) | Data::Index(_) => Ok(Data::Bits(stored(data, to, span)?, to)),
        Data::Bits(t, from) if format(from).is_none() && format(to).is_none() => {
            let w = width(to);
            let t = match from {
                Element::Signed(_) => b::resize_signed(t, w),
                _ => b::resize_unsigned(t, w),
            };
            Ok(Data::Bits(t, to))
        }
        Data::Bits(t, from) if from == to => Ok(Data::Bits(t, to)),
        // The upper half of an f32 is a bf16.
        Data::Bits(t, Element::Bfloat16) if to == Element::Float(32) => {
            Ok(Data::Bits(b::concat(&[t, b::zero(16)]), to))
        }
        _ => Err(Refused::new(
            span,
            format!("this cannot become {}", name(to)),
            "integers are converted, and bf16 to f32",
        )),
    }
}

/// The quotient, rounded to zero, or what it leaves over; by zero all ones, and all of it.
fn division(quotient: bool, x: Term, y: Term, e: Element) -> Term {
    match (quotient, matches!(e, Element::Signed(_))) {
        (true, false) => b::udiv(x, y),
        (true, true) => {
            let ones = Term::bv(x.width(), -1);
            b::ite(b::eq(y, b::zero(x.width())), ones, b::sdiv(x, y))
        }
        (false, false) => b::urem(x, y),
        (false, true) => b::srem(x, y),
    }
}

/// The zero of its sign where a float is subnormal.
fn flushed(t: Term, format: Format) -> Term {
    let w = t.width();
    let exponent = b::and(t, Term::bv(w, i128::from(format.infinity())));
    let sign = Term::bv(w, 1_i128 << (w - 1));
    b::ite(b::eq(exponent, b::zero(w)), b::and(t, sign), t)
}
