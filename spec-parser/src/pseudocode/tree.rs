//! What all dialects do alike when they make the shared tree of their grammar's pairs.
//!
//! In: pairs and parts of the tree. Out: expressions, integers, spans. Operators and their
//! levels, and what a rule means, are the dialects'. Expressions too tall for recursive
//! functions are refused here.

use super::ast::{BinaryOp, Expr, ExprKind, Name, UnaryOp};
use super::lower::machine::{Execution, Run};
use super::lower::value::Value;
use super::reading::Refused;
use pest::RuleType;
use pest::iterators::Pair;
use semantics::build as b;
use semantics::span::Span;

/// The most levels of one expression: a sum of that many terms is that deep.
pub(crate) const MAX_HEIGHT: u32 = 160;

/// The function of `x && y`.
pub(crate) const BOTH: &str = "&&";
/// The function of `x || y`.
pub(crate) const EITHER: &str = "||";

pub(crate) type Built<T> = Result<T, Refused>;

pub(crate) fn refused<T>(
    message: impl Into<String>,
    span: Span,
    hint: impl Into<String>,
) -> Built<T> {
    Err(Refused::new(span, message, hint))
}

/// The next part of a pair, which the grammar promises.
pub(crate) fn next<'i, R: RuleType>(parts: &mut impl Iterator<Item = Pair<'i, R>>) -> Pair<'i, R> {
    parts.next().expect("the grammar's rule has this part")
}

/// Where a pair stands in a source in which its text begins at byte `base`.
pub(crate) fn span<R: RuleType>(pair: &Pair<'_, R>, base: usize) -> Span {
    let text = pair.as_str();
    let start = pair.as_span().start();
    Span::new(start, start + text.trim_end().len()).moved(base)
}

/// An integer as written; what does not fit is the largest that does.
pub(crate) fn integer(text: &str) -> i128 {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => i128::from_str_radix(digits, 16),
        None => text.parse(),
    }
    .unwrap_or(i128::MAX)
}

pub(crate) fn binary(op: BinaryOp, x: Expr, y: Expr, span: Span) -> Expr {
    Expr::new(ExprKind::Binary(op, x.into(), y.into()), span)
}

pub(crate) fn call(name: &str, args: Vec<Expr>, span: Span) -> Expr {
    Expr::new(ExprKind::Call(Name::from(name), args), span)
}

/// The operator of `+=` and its kin; none of a plain assignment.
pub(crate) fn compound(text: &str) -> Option<BinaryOp> {
    Some(match text {
        "+=" => BinaryOp::Add,
        "-=" => BinaryOp::Sub,
        "*=" => BinaryOp::Mul,
        "|=" => BinaryOp::Or,
        "&=" => BinaryOp::And,
        "^=" => BinaryOp::Xor,
        ">>=" => BinaryOp::Shr,
        "<<=" => BinaryOp::Shl,
        _ => return None,
    })
}

/// A value behind its signs, which stand in the order of the text.
pub(crate) fn signed(mut expr: Expr, prefixes: Vec<(String, Span)>) -> Built<Expr> {
    for (prefix, span) in prefixes.into_iter().rev() {
        let op = match prefix.as_str() {
            "-" => UnaryOp::Negate,
            "+" => UnaryOp::Plus,
            "!" => UnaryOp::LogicalNot,
            _ => UnaryOp::Not,
        };
        let span = span.to(expr.span);
        expr = tall(Expr::new(ExprKind::Unary(op, expr.into()), span))?;
    }
    Ok(expr)
}

/// A flat list of operands and infix operators, grouped by how tightly these bind; operators
/// of one level group to the left.
pub(crate) struct Infixed<O> {
    operands: Vec<Expr>,
    operators: Vec<(u8, O)>,
    count: u32,
    span: Span,
    apply: fn(O, Expr, Expr, Span) -> Expr,
}

impl<O: Copy> Infixed<O> {
    /// `span` is where the whole expression stands.
    pub(crate) fn new(span: Span, apply: fn(O, Expr, Expr, Span) -> Expr) -> Infixed<O> {
        Infixed {
            operands: Vec::new(),
            operators: Vec::new(),
            count: 0,
            span,
            apply,
        }
    }

    pub(crate) fn operand(&mut self, expr: Expr) {
        self.operands.push(expr);
    }

    /// An operator after the operands so far; more than [`MAX_HEIGHT`] are refused.
    pub(crate) fn operator(&mut self, level: u8, op: O) -> Built<()> {
        self.reduce(level);
        self.operators.push((level, op));
        self.count += 1;
        match self.count > MAX_HEIGHT {
            true => too_tall(self.span),
            false => Ok(()),
        }
    }

    pub(crate) fn whole(mut self) -> Built<Expr> {
        self.reduce(0);
        tall(self.operands.pop().expect("an expression has an operand"))
    }

    /// Applies the operators that bind at least as tightly as `least`.
    fn reduce(&mut self, least: u8) {
        while let Some(&(_, op)) = self.operators.last().filter(|(level, _)| *level >= least) {
            self.operators.pop();
            let right = self.operands.pop();
            let right = right.expect("an operator has a right operand");
            let left = self.operands.pop();
            let left = left.expect("an operator has a left operand");
            let span = left.span.to(right.span);
            self.operands.push((self.apply)(op, left, right, span));
        }
    }
}

pub(crate) fn tall(expr: Expr) -> Built<Expr> {
    match expr.height > MAX_HEIGHT {
        true => too_tall(expr.span),
        false => Ok(expr),
    }
}

pub(crate) fn too_tall<T>(span: Span) -> Built<T> {
    let message = format!("this expression is more than {MAX_HEIGHT} levels deep");
    refused(message, span, "split it into several statements")
}

/// The value of `x && y` or `x || y` ([`BOTH`], [`EITHER`]): what the first decides, the second
/// is not asked.
pub(crate) fn decided(machine: &mut Execution, name: &str, x: &Expr, y: &Expr) -> Run<Value> {
    let left = machine.condition(x)?;
    let decides = name == EITHER;
    if left.as_bool() == Some(decides) {
        return Ok(Value::Truth(left));
    }
    let right = machine.condition(y)?;
    Ok(Value::Truth(match decides {
        true => b::either(left, right),
        false => b::both(left, right),
    }))
}
