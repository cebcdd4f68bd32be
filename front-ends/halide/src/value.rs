//! Values while a statement file is read: numbers that indices are made of, and data.
//!
//! In: operands. Out: [`Value`]. A number that only sizes, loop variables and constants make is
//! an [`Index`]; a vector of such numbers is an index over a symbol for its lane; a truth value
//! over such numbers is an index that is at least 1 where it holds. Everything else is an
//! expression of the kernel. Indices become data where they meet data.

use super::normal::{Sum, normal};
use super::truth::Truth;
use kernel::index::{Index, Symbol};
use kernel::tree::{Expr, ExprKind, Op};
use kernel::types::{Elem, Type};
use semantics::span::Span;

/// The symbol of the lane in the index of a vector: the first of the kernel's table.
pub(super) const LANE: Symbol = Symbol(0);

pub(super) const I32: Elem = Elem::signed(32);
pub(super) const I64: Elem = Elem::signed(64);

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// A number, a truth value, or a vector of either, that does not depend on data.
    Index(Number),
    /// Anything else that can be computed.
    Data(Expr),
    /// An address, or a field of a buffer that no computation may depend on.
    Opaque,
}

/// A number that does not depend on data.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Number {
    /// It, over [`LANE`] if there are several.
    pub(super) index: Index,
    /// What Halide has it in.
    pub(super) ty: Type,
}

impl Number {
    pub(super) fn new(index: &Index, ty: Type) -> Number {
        // What is one lane is asked for nowhere else but in the first.
        let index = match ty.lanes {
            1 => normal(&index.substitute(LANE, &Index::Const(0))),
            _ => normal(index),
        };
        Number { index, ty }
    }

    pub(super) fn scalar(index: &Index, elem: Elem) -> Number {
        Number::new(index, Type::scalar(elem))
    }

    /// The number in one lane.
    pub(super) fn lane(&self, lane: &Index) -> Index {
        normal(&self.index.substitute(LANE, lane))
    }

    /// First lane and distance of lanes, when they are evenly apart.
    pub(super) fn ramp(&self) -> Option<(Index, Index)> {
        Sum::of(&self.index)?.split(LANE)
    }

    /// Vectors of as many lanes, joined end to end or lane by lane: numbers where theirs are the same
    /// distance apart, and those of each vector as far from the next one's.
    pub(super) fn joined(parts: &[Number], by_turns: bool) -> Option<Number> {
        let [first, second, ..] = parts else {
            return None;
        };
        let ramps: Vec<(Index, Index)> = parts.iter().map(Number::ramp).collect::<Option<_>>()?;
        let apart = |pair: &[(Index, Index)]| normal(&pair[1].0.minus(&pair[0].0));
        let (start, step) = &ramps[0];
        let far = apart(&ramps);
        let even = ramps.iter().all(|ramp| ramp.1 == *step)
            && ramps.windows(2).all(|pair| apart(pair) == far)
            && parts.iter().all(|part| part.ty == second.ty);
        let count = u32::try_from(parts.len()).ok()?;
        let lanes = first.ty.lanes.checked_mul(count)?;
        let by = if by_turns { count } else { first.ty.lanes };
        let of_lanes = || pair(&Index::Sym(LANE), &Index::Const(i64::from(by)));
        let ((all, by), (whole, of)) = (of_lanes(), of_lanes());
        let (quotient, rest) = (Index::Div(all, by), Index::Mod(whole, of));
        let (lane, part) = match by_turns {
            true => (quotient, rest),
            false => (rest, quotient),
        };
        let own = start.plus(&product(step, &lane));
        let index = own.plus(&product(&far, &part));
        let ty = Type { lanes, ..first.ty };
        even.then(|| Number::new(&index, ty))
    }

    pub(super) fn constant(&self) -> Option<i64> {
        self.index.constant_value()
    }

    /// The least and greatest value, when they are constants.
    pub(super) fn bounds(&self) -> Option<(i64, i64)> {
        let (base, factor) = self.ramp()?;
        let (first, step) = (base.constant_value()?, factor.constant_value()?);
        let last = first.checked_add(step.checked_mul(i64::from(self.ty.lanes - 1))?)?;
        Some((first.min(last), first.max(last)))
    }

    /// Whether all lanes fit a type for certain.
    pub(super) fn fits(&self, elem: Elem) -> bool {
        let inside = |x: i64| elem.is_int() && elem.saturate(i128::from(x)) == i128::from(x);
        self.bounds()
            .is_some_and(|(lo, hi)| inside(lo) && inside(hi))
    }

    /// The number as data.
    pub(super) fn data(&self, span: Span) -> Expr {
        self.beside(8, span)
    }

    /// The number as data, which meets data of so many bits if it is a truth value.
    pub(super) fn beside(&self, bits: u32, span: Span) -> Expr {
        let Type { elem, lanes } = self.ty;
        if elem == Elem::Bool {
            let truth = (lanes > 1).then(|| Truth { lanes, bits, span }.of(&self.index));
            return truth.flatten().unwrap_or_else(|| {
                // A difference of two numbers of 32 bits may need more.
                let wide = Type { elem: I64, lanes };
                let count = Number {
                    ty: wide,
                    ..self.clone()
                }
                .data(span);
                let one = constant(Type::scalar(I64), 1, span);
                expr(ExprKind::Apply(Op::Le, vec![one, count]), self.ty, span)
            });
        }
        let single = |index: Index| match index.constant_value() {
            Some(c) => constant(Type::scalar(elem), i128::from(c), span),
            None => expr(ExprKind::Index(index), Type::scalar(elem), span),
        };
        if lanes == 1 {
            return single(self.index.clone());
        }
        let wide = elem == I32 || elem == I64;
        match self.ramp() {
            Some((base, factor)) if factor.constant_value() == Some(0) => single(base),
            Some((base, factor)) if factor.constant_value().is_some() || wide => {
                let multiples = |of: i128| {
                    let each = (0..i128::from(lanes)).map(|l| elem.wrap(l * of));
                    expr(ExprKind::Const(each.collect()), self.ty, span)
                };
                let steps = match factor.constant_value() {
                    Some(step) => multiples(i128::from(step)),
                    None => apply(Op::Mul, elem, vec![multiples(1), single(factor)], span),
                };
                match base.constant_value() {
                    Some(0) => steps,
                    _ => apply(Op::Add, elem, vec![single(base), steps], span),
                }
            }
            _ if wide => self.computed(&self.index, span),
            // What a narrow number is made of need not fit its type.
            _ => {
                let ty = Type { elem: I64, lanes };
                let wide = Number { ty, ..self.clone() };
                cast(wide.computed(&self.index, span), elem)
            }
        }
    }

    /// A number of the same lanes.
    fn part(&self, index: &Index) -> Number {
        let (index, ty) = (index.clone(), self.ty);
        Number { index, ty }
    }

    /// An index over the lanes, computed as a vector; what is the same in every lane as a scalar.
    fn computed(&self, index: &Index, span: Span) -> Expr {
        let Type { elem, lanes } = self.ty;
        let two = |op, a: &Index, b: &Index| {
            let (a, b) = (self.computed(a, span), self.computed(b, span));
            apply(op, elem, vec![a, b], span)
        };
        match index {
            _ if !index.mentions(LANE) => match index.constant_value() {
                Some(c) => constant(Type::scalar(elem), i128::from(c), span),
                None => expr(ExprKind::Index(index.clone()), Type::scalar(elem), span),
            },
            Index::Const(c) => constant(Type::scalar(elem), i128::from(*c), span),
            Index::Sym(_) => {
                let each = (0..i128::from(lanes)).map(|l| elem.wrap(l));
                expr(ExprKind::Const(each.collect()), self.ty, span)
            }
            Index::Add(..) | Index::Mul(..) if self.part(index).ramp().is_some() => {
                self.part(index).data(span)
            }
            Index::Add(a, b) => two(Op::Add, a, b),
            Index::Mul(a, b) => two(Op::Mul, a, b),
            Index::Div(a, b) => two(Op::Div, a, b),
            Index::Mod(a, b) => two(Op::Rem, a, b),
            Index::Min(a, b) => two(Op::Min, a, b),
            Index::Max(a, b) => two(Op::Max, a, b),
        }
    }
}

impl Value {
    pub(super) fn number(index: Index, elem: Elem) -> Value {
        Value::Index(Number::scalar(&index, elem))
    }
}

pub(super) fn expr(kind: ExprKind, ty: Type, span: Span) -> Expr {
    Expr { kind, ty, span }
}

/// A constant in every lane.
pub(super) fn constant(ty: Type, value: i128, span: Span) -> Expr {
    let kind = ExprKind::Const(vec![ty.elem.wrap(value)]);
    expr(kind, Type::scalar(ty.elem), span)
}

/// An operation on data; as many lanes as the operand with most.
pub(super) fn apply(op: Op, elem: Elem, args: Vec<Expr>, span: Span) -> Expr {
    let lanes = args.iter().map(|a| a.ty.lanes).max().unwrap_or(1);
    expr(ExprKind::Apply(op, args), Type { elem, lanes }, span)
}

/// Data of another type, modulo 2^bits.
pub(super) fn cast(value: Expr, elem: Elem) -> Expr {
    if value.ty.elem == elem {
        return value;
    }
    let span = value.span;
    if elem == Elem::Bool {
        let zero = constant(Type::scalar(value.ty.elem), 0, span);
        return apply(Op::Ne, Elem::Bool, vec![value, zero], span);
    }
    apply(Op::Cast, elem, vec![value], span)
}

fn pair(a: &Index, b: &Index) -> (Box<Index>, Box<Index>) {
    (Box::new(a.clone()), Box::new(b.clone()))
}

pub(super) fn least(a: &Index, b: &Index) -> Index {
    let (a, b) = pair(a, b);
    Index::Min(a, b)
}

pub(super) fn greatest(a: &Index, b: &Index) -> Index {
    let (a, b) = pair(a, b);
    Index::Max(a, b)
}

pub(super) fn product(a: &Index, b: &Index) -> Index {
    let (a, b) = pair(a, b);
    Index::Mul(a, b)
}

/// The distance of two numbers.
fn distance(a: &Index, b: &Index) -> Index {
    let apart = normal(&a.minus(b));
    greatest(&apart, &apart.times(-1))
}

/// What is at least 1 where the truth value is not.
pub(super) fn not(truth: &Index) -> Index {
    normal(&Index::Const(1).minus(truth))
}

/// A truth value as 0 or 1.
pub(super) fn zero_or_one(truth: &Index) -> Index {
    normal(&least(&greatest(truth, &Index::Const(0)), &Index::Const(1)))
}

/// The operation of two numbers, if it has an index; comparisons and logic give a truth value.
pub(super) fn combine(symbol: &str, a: &Number, b: &Number) -> Option<Number> {
    let lanes = a.ty.lanes.max(b.ty.lanes);
    let (x, y) = (&a.index, &b.index);
    let (p, q) = pair(x, y);
    let (index, elem) = match symbol {
        "<=" => (y.minus(x).offset(1), Elem::Bool),
        "<" => (y.minus(x), Elem::Bool),
        ">=" => (x.minus(y).offset(1), Elem::Bool),
        ">" => (x.minus(y), Elem::Bool),
        "==" if a.ty.elem != Elem::Bool => (Index::Const(1).minus(&distance(x, y)), Elem::Bool),
        "!=" if a.ty.elem != Elem::Bool => (distance(x, y), Elem::Bool),
        "==" => (greatest(&least(x, y), &least(&not(x), &not(y))), Elem::Bool),
        "!=" => (greatest(&least(x, &not(y)), &least(&not(x), y)), Elem::Bool),
        "&&" => (Index::Min(p, q), Elem::Bool),
        "||" => (Index::Max(p, q), Elem::Bool),
        _ if a.ty.elem == Elem::Bool => return None,
        _ => {
            let index = match symbol {
                "+" => x.plus(y),
                "-" => x.minus(y),
                "*" => Index::Mul(p, q),
                "/" => Index::Div(p, q),
                "%" => Index::Mod(p, q),
                "min" => Index::Min(p, q),
                "max" => Index::Max(p, q),
                _ => return None,
            };
            (index, a.ty.elem)
        }
    };
    let number = Number::new(&index, Type { elem, lanes });
    // Halide's 32-bit and 64-bit signed arithmetic does not overflow in a valid program; what is
    // narrower or unsigned wraps, and stays a number only where it does not.
    let exact = elem == Elem::Bool || elem == I32 || elem == I64 || number.fits(elem);
    exact.then_some(number)
}
