//! From the pairs of the grammar to the tree, one function for each rule.
//!
//! In: pairs, and where their text starts in the source. Out: statements and expressions.
//! The only thing that it refuses is an expression too tall for recursive functions.

use super::grammar::Rule;
use crate::pseudocode::ast::{
    Arm, BinaryOp, Block, COMPARISON, Expr, ExprKind, Formal, Function, Label, Name, Statement,
    StatementKind, field_width,
};
use crate::pseudocode::tree::{
    Built, Infixed, binary, compound, integer, next, refused, signed, span, tall,
};
use pest::iterators::Pair;
use semantics::span::Span;
use semantics::table::MAX_WIDTH;
use std::sync::Arc;

/// Builds the tree of a text that starts at byte `base` of its source.
pub(crate) struct Builder {
    pub(crate) base: usize,
}

/// The parts of a pair without its keywords and its end.
fn parts(pair: Pair<'_, Rule>) -> impl Iterator<Item = Pair<'_, Rule>> {
    pair.into_inner().filter(|p| {
        !matches!(
            p.as_rule(),
            Rule::EOI
                | Rule::kw_for
                | Rule::kw_endfor
                | Rule::kw_if
                | Rule::kw_fi
                | Rule::kw_else
                | Rule::kw_case
                | Rule::kw_of
                | Rule::kw_esac
                | Rule::kw_define
                | Rule::kw_return
                | Rule::kw_do
                | Rule::kw_while
                | Rule::kw_od
                | Rule::kw_break
                | Rule::kw_enum
        )
    })
}

fn name(pair: &Pair<'_, Rule>) -> Name {
    pair.as_str().into()
}

impl Builder {
    /// The whole text.
    pub(crate) fn body(&self, pair: Pair<'_, Rule>) -> Built<Block> {
        self.block(next(&mut parts(pair)))
    }

    fn span(&self, pair: &Pair<'_, Rule>) -> Span {
        span(pair, self.base)
    }

    fn block(&self, pair: Pair<'_, Rule>) -> Built<Block> {
        parts(pair).map(|p| self.statement(p)).collect()
    }

    fn statement(&self, pair: Pair<'_, Rule>) -> Built<Statement> {
        let span = self.span(&pair);
        let rule = pair.as_rule();
        let mut inner = parts(pair);
        let kind = match rule {
            Rule::for_loop => self.for_loop(&mut inner)?,
            Rule::while_loop => StatementKind::While {
                condition: self.expr(next(&mut inner))?,
                body: self.block(next(&mut inner))?,
            },
            Rule::if_else => self.if_else(&mut inner)?,
            Rule::case => StatementKind::Case {
                subject: self.expr(next(&mut inner))?,
                arms: inner.map(|p| self.arm(p)).collect::<Built<_>>()?,
            },
            Rule::define => self.define(&mut inner)?,
            Rule::return_value => {
                StatementKind::Return(inner.next().map(|p| self.expr(p)).transpose()?)
            }
            Rule::break_loop => StatementKind::Break,
            Rule::raise => StatementKind::Raise(name(&next(&mut inner))),
            Rule::enumeration => StatementKind::Enum(inner.skip(1).map(member).collect()),
            Rule::table => {
                let table = inner.nth(1).expect("a table has a type and a name");
                StatementKind::Table {
                    name: name(&table),
                    values: inner.skip(1).map(|p| integer(p.as_str())).collect(),
                }
            }
            Rule::declaration => StatementKind::Declare(inner.skip(1).map(|p| name(&p)).collect()),
            _ => self.simple(&mut inner, span)?,
        };
        Ok(Statement { kind, span })
    }

    fn for_loop<'i>(
        &self,
        inner: &mut impl Iterator<Item = Pair<'i, Rule>>,
    ) -> Built<StatementKind> {
        let variable = name(&next(inner));
        let from = self.expr(next(inner))?;
        let down = next(inner).as_str().eq_ignore_ascii_case("downto");
        let to = self.expr(next(inner))?;
        let body = self.block(next(inner))?;
        Ok(StatementKind::For {
            variable,
            from,
            to,
            down,
            body,
        })
    }

    fn if_else<'i>(
        &self,
        inner: &mut impl Iterator<Item = Pair<'i, Rule>>,
    ) -> Built<StatementKind> {
        let condition = self.expr(next(inner))?;
        let mut arms = vec![(condition, self.block(next(inner))?)];
        let mut otherwise = Block::new();
        for pair in inner {
            let is_last = pair.as_rule() == Rule::else_block;
            let mut inner = parts(pair);
            if is_last {
                otherwise = self.block(next(&mut inner))?;
            } else {
                let condition = self.expr(next(&mut inner))?;
                arms.push((condition, self.block(next(&mut inner))?));
            }
        }
        Ok(StatementKind::If { arms, otherwise })
    }

    fn arm(&self, pair: Pair<'_, Rule>) -> Built<Arm> {
        let mut inner = parts(pair);
        let label = next(&mut inner);
        let span = self.span(&label);
        let token = next(&mut parts(label));
        let label = match (token.as_rule(), token.as_str()) {
            (Rule::number, text) => Label::Number(integer(text)),
            (_, "DEFAULT" | "default") => Label::Default,
            (_, text) => Label::Token(text.into()),
        };
        Ok(Arm {
            label,
            span,
            body: self.block(next(&mut inner))?,
        })
    }

    fn define<'i>(&self, inner: &mut impl Iterator<Item = Pair<'i, Rule>>) -> Built<StatementKind> {
        let name = name(&next(inner));
        let mut formals = Vec::new();
        let mut body = Block::new();
        for pair in inner {
            if pair.as_rule() == Rule::formal {
                formals.push(self.formal(pair)?);
            } else {
                body = self.block(pair)?;
            }
        }
        Ok(StatementKind::Define(Arc::new(Function {
            name,
            formals,
            body,
        })))
    }

    fn formal(&self, pair: Pair<'_, Rule>) -> Built<Formal> {
        let span = self.span(&pair);
        let mut inner = parts(pair);
        let name = name(&next(&mut inner));
        let mut width = None;
        if let Some(first) = inner.next() {
            width = if first.as_rule() == Rule::field_name {
                field_width(first.as_str())
            } else {
                let (high, low) = (self.expr(first)?, self.expr(next(&mut inner))?);
                match (high.kind, low.kind) {
                    (ExprKind::Int(h), ExprKind::Int(l)) => Some(slice_width(h, l, span)?),
                    _ => None,
                }
            };
        }
        Ok(Formal { name, width })
    }

    fn simple<'i>(
        &self,
        inner: &mut impl Iterator<Item = Pair<'i, Rule>>,
        span: Span,
    ) -> Built<StatementKind> {
        let target = self.operand(next(inner))?;
        let Some(op) = inner.next() else {
            return match target.kind {
                ExprKind::Call(..) => Ok(StatementKind::Call(target)),
                _ => refused(
                    "this statement does nothing",
                    span,
                    "write `target := value`, or call a function",
                ),
            };
        };
        let op = compound(op.as_str());
        let value = self.expr(next(inner))?;
        Ok(StatementKind::Assign { target, op, value })
    }

    /// A flat list of operands and operators, by precedence; operators of one level group to
    /// the left.
    fn expr(&self, pair: Pair<'_, Rule>) -> Built<Expr> {
        let mut infixed = Infixed::new(self.span(&pair), applied);
        let mut choice = None;
        for part in parts(pair) {
            match part.as_rule() {
                Rule::infix => {
                    let op = infix(next(&mut parts(part)).as_rule());
                    let level = op.map_or(COMPARISON, BinaryOp::precedence);
                    infixed.operator(level, op)?;
                }
                Rule::choice => choice = Some(part),
                _ => infixed.operand(self.operand(part)?),
            }
        }
        let mut expr = infixed.whole()?;
        if let Some(choice) = choice {
            let mut inner = parts(choice);
            let then = self.expr(next(&mut inner))?;
            let otherwise = self.expr(next(&mut inner))?;
            let span = expr.span.to(otherwise.span);
            let kind = ExprKind::Choice(expr.into(), then.into(), otherwise.into());
            expr = Expr::new(kind, span);
        }
        tall(expr)
    }

    fn operand(&self, pair: Pair<'_, Rule>) -> Built<Expr> {
        let mut prefixes = Vec::new();
        let mut expr = None;
        for part in parts(pair) {
            let span = self.span(&part);
            match (part.as_rule(), expr.take()) {
                (Rule::prefix, _) => prefixes.push((part.as_str().trim_end().to_owned(), span)),
                (Rule::postfix, Some(base)) => {
                    expr = Some(tall(self.postfix(base, next(&mut parts(part)))?)?);
                }
                (_, _) => expr = Some(self.primary(next(&mut parts(part)), span)?),
            }
        }
        signed(expr.expect("an operand has a primary"), prefixes)
    }

    fn primary(&self, pair: Pair<'_, Rule>, span: Span) -> Built<Expr> {
        let text = pair.as_str();
        Ok(match pair.as_rule() {
            Rule::number if text.contains('.') => Expr::new(ExprKind::Decimal(text.into()), span),
            Rule::number => Expr::new(ExprKind::Int(integer(text)), span),
            Rule::name => Expr::new(ExprKind::Name(text.into()), span),
            Rule::numbered => {
                let mut inner = parts(pair);
                let family = name(&next(&mut inner));
                let number = self.expr(next(&mut inner))?;
                tall(Expr::new(ExprKind::Numbered(family, number.into()), span))?
            }
            _ => {
                let inner = self.expr(pair)?;
                Expr { span, ..inner }
            }
        })
    }

    fn postfix(&self, base: Expr, pair: Pair<'_, Rule>) -> Built<Expr> {
        let span = base.span.to(self.span(&pair));
        let rule = pair.as_rule();
        let mut inner = parts(pair);
        let kind = match rule {
            Rule::slice => {
                let first = self.expr(next(&mut inner))?;
                match inner.next() {
                    Some(low) => ExprKind::Slice(base.into(), first.into(), self.expr(low)?.into()),
                    None => ExprKind::Index(base.into(), first.into()),
                }
            }
            Rule::field => ExprKind::Field(base.into(), name(&next(&mut inner))),
            _ => {
                let args = inner.map(|p| self.expr(p)).collect::<Built<_>>()?;
                match base.kind {
                    ExprKind::Name(name) => ExprKind::Call(name, args),
                    _ => {
                        let hint = "write an operator between the two parts";
                        return refused("only a name can be called", span, hint);
                    }
                }
            }
        };
        Ok(Expr::new(kind, span))
    }
}

/// No operator is that of a variable that holds a comparison.
fn applied(op: Option<BinaryOp>, left: Expr, right: Expr, span: Span) -> Expr {
    match op {
        Some(op) => binary(op, left, right, span),
        None => Expr::new(ExprKind::Variable(left.into(), right.into()), span),
    }
}

/// The number of bits between two numbers of bits, both included.
fn slice_width(high: i128, low: i128, span: Span) -> Built<u32> {
    let bits = high.checked_sub(low).and_then(|n| n.checked_add(1));
    let width = bits.and_then(|n| u32::try_from(n).ok());
    match width.filter(|width| (1..=MAX_WIDTH).contains(width)) {
        Some(width) => Ok(width),
        None => refused(
            format!("`[{high}:{low}]` is no width of a parameter"),
            span,
            "write the highest bit first, as in `[31:0]`",
        ),
    }
}

fn member(pair: Pair<'_, Rule>) -> (Name, Option<i128>) {
    let mut inner = parts(pair);
    let name = name(&next(&mut inner));
    (name, inner.next().map(|p| integer(p.as_str())))
}

fn infix(rule: Rule) -> Option<BinaryOp> {
    Some(match rule {
        Rule::op_or => BinaryOp::Or,
        Rule::op_and => BinaryOp::And,
        Rule::op_xor => BinaryOp::Xor,
        Rule::op_rotl => BinaryOp::Rotl,
        Rule::op_shl => BinaryOp::Shl,
        Rule::op_shr => BinaryOp::Shr,
        Rule::op_eq => BinaryOp::Eq,
        Rule::op_ne => BinaryOp::Ne,
        Rule::op_le => BinaryOp::Le,
        Rule::op_ge => BinaryOp::Ge,
        Rule::op_lt => BinaryOp::Lt,
        Rule::op_gt => BinaryOp::Gt,
        Rule::op_add => BinaryOp::Add,
        Rule::op_sub => BinaryOp::Sub,
        Rule::op_mul => BinaryOp::Mul,
        Rule::op_div => BinaryOp::Div,
        Rule::op_rem => BinaryOp::Rem,
        _ => return None,
    })
}
