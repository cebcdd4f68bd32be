//! Parts of the tree, as all notations make them.
//!
//! In: pairs and smaller parts. Out: expressions, assignments, integers, spans. What rules mean
//! is told by [`super::notation`]. Expressions too tall for recursive functions are refused here.

use super::ast::{BinaryOp, Expr, ExprKind, Name, StatementKind, UnaryOp};
use super::reading::Refused;
use grammar::Named;
use pest::RuleType;
use pest::iterators::Pair;
use semantics::span::Span;

/// The most levels of one expression: a sum of that many terms is that deep.
pub(crate) const MAX_HEIGHT: u32 = 160;

/// The function of `x && y`.
pub(crate) const BOTH: &str = "&&";
/// The function of `x || y`.
pub(crate) const EITHER: &str = "||";
/// The function that puts bits together, the most significant first.
pub(crate) const CONCAT: &str = ":";

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

pub(crate) fn int(number: i128, span: Span) -> Expr {
    Expr::new(ExprKind::Int(number), span)
}

pub(crate) fn named(name: &str, span: Span) -> Expr {
    Expr::new(ExprKind::Name(name.into()), span)
}

/// `width` bits of `base` from bit `low` on.
pub(crate) fn bits_of(base: Expr, low: Expr, width: Expr, span: Span) -> Expr {
    let end = binary(BinaryOp::Add, low.clone(), width, span);
    let high = binary(BinaryOp::Sub, end, int(1, span), span);
    Expr::new(ExprKind::Slice(base.into(), high.into(), low.into()), span)
}

pub(crate) fn chosen(condition: Expr, then: Expr, otherwise: Expr, span: Span) -> Built<Expr> {
    let kind = ExprKind::Choice(condition.into(), then.into(), otherwise.into());
    tall(Expr::new(kind, span))
}

/// A plain assignment.
pub(crate) fn assigned(target: Expr, value: Expr) -> StatementKind {
    StatementKind::Assign {
        target,
        op: None,
        value,
    }
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
pub(crate) fn signed(mut expr: Expr, prefixes: Vec<(char, Span)>) -> Built<Expr> {
    for (prefix, span) in prefixes.into_iter().rev() {
        let op = match prefix {
            '-' => UnaryOp::Negate,
            '+' => UnaryOp::Plus,
            '!' => UnaryOp::LogicalNot,
            _ => UnaryOp::Not,
        };
        let span = span.to(expr.span);
        expr = tall(Expr::new(ExprKind::Unary(op, expr.into()), span))?;
    }
    Ok(expr)
}

/// A flat list of operands and infix operators, grouped by how tightly these bind; operators
/// of one level group to the left.
pub(crate) struct Infixed<R> {
    operands: Vec<Expr>,
    operators: Vec<(usize, R)>,
    count: u32,
    span: Span,
}

impl<R: Named> Infixed<R> {
    /// `span` is where the whole expression stands.
    pub(crate) fn new(span: Span) -> Infixed<R> {
        Infixed {
            operands: Vec::new(),
            operators: Vec::new(),
            count: 0,
            span,
        }
    }

    pub(crate) fn operand(&mut self, expr: Expr) {
        self.operands.push(expr);
    }

    /// An operator after the operands so far; more than [`MAX_HEIGHT`] are refused.
    pub(crate) fn operator(&mut self, level: usize, op: R) -> Built<()> {
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
    fn reduce(&mut self, least: usize) {
        while let Some(&(_, op)) = self.operators.last().filter(|(level, _)| *level >= least) {
            self.operators.pop();
            let right = self.operands.pop();
            let right = right.expect("an operator has a right operand");
            let left = self.operands.pop();
            let left = left.expect("an operator has a left operand");
            let span = left.span.to(right.span);
            self.operands.push(applied(op, left, right, span));
        }
    }
}

/// The value of an operator, by what its rule is called.
fn applied<R: Named>(op: R, left: Expr, right: Expr, span: Span) -> Expr {
    let op = match op.name() {
        "op_both" => return call(BOTH, vec![left, right], span),
        "op_either" => return call(EITHER, vec![left, right], span),
        "op_concat" => return call(CONCAT, vec![left, right], span),
        "op_variable" => return Expr::new(ExprKind::Variable(left.into(), right.into()), span),
        "op_and" => BinaryOp::And,
        "op_or" => BinaryOp::Or,
        "op_xor" => BinaryOp::Xor,
        "op_rotl" => BinaryOp::Rotl,
        "op_shl" => BinaryOp::Shl,
        "op_shr" => BinaryOp::Shr,
        "op_eq" => BinaryOp::Eq,
        "op_ne" => BinaryOp::Ne,
        "op_le" => BinaryOp::Le,
        "op_ge" => BinaryOp::Ge,
        "op_lt" => BinaryOp::Lt,
        "op_gt" => BinaryOp::Gt,
        "op_add" => BinaryOp::Add,
        "op_sub" => BinaryOp::Sub,
        "op_mul" => BinaryOp::Mul,
        "op_div" => BinaryOp::Div,
        "op_rem" => BinaryOp::Rem,
        other => unreachable!("the tree has no operator `{other}`"),
    };
    binary(op, left, right, span)
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
