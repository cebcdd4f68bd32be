//! From the pairs of Intel's grammar to the tree: what only this notation has.
//!
//! In: pairs, and where their text starts in the source. Out: statements and expressions.
//! The only thing that it refuses is an expression too tall for recursive functions.

use super::grammar::Rule;
use crate::pseudocode::ast::{
    Block, Expr, ExprKind, Formal, Name, Statement, StatementKind, field_width,
};
use crate::pseudocode::notation::{Notation, name, parts};
use crate::pseudocode::tree::{Built, chosen, compound, integer, next, refused, tall};
use pest::iterators::Pair;
use semantics::span::Span;
use semantics::table::MAX_WIDTH;

/// Builds the tree of a text that starts at byte `base` of its source.
pub(crate) struct Builder {
    pub(crate) base: usize,
}

impl Builder {
    /// The whole text.
    pub(crate) fn body(&self, pair: Pair<'_, Rule>) -> Built<Block> {
        self.block(next(&mut parts(pair)))
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
}

impl Notation for Builder {
    type Rule = Rule;

    const LEVELS: &'static [&'static [Rule]] = {
        use Rule as R;
        &[
            &[R::op_or],
            &[R::op_and],
            &[R::op_xor],
            &[
                R::op_eq,
                R::op_ne,
                R::op_lt,
                R::op_le,
                R::op_gt,
                R::op_ge,
                R::op_variable,
            ],
            &[R::op_shl, R::op_shr, R::op_rotl],
            &[R::op_add, R::op_sub],
            &[R::op_mul, R::op_div, R::op_rem],
        ]
    };

    fn base(&self) -> usize {
        self.base
    }

    fn own<'i>(
        &self,
        rule: Rule,
        mut inner: impl Iterator<Item = Pair<'i, Rule>>,
        span: Span,
        out: &mut Block,
    ) -> Built<()> {
        let kind = match rule {
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
        out.push(Statement { kind, span });
        Ok(())
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

    fn expr(&self, pair: Pair<'_, Rule>) -> Built<Expr> {
        let choice = parts(pair.clone()).find(|p| p.as_rule() == Rule::choice);
        let condition = self.infixed(pair)?;
        let Some(choice) = choice else {
            return Ok(condition);
        };
        let mut inner = parts(choice);
        let (then, otherwise) = (self.expr(next(&mut inner))?, self.expr(next(&mut inner))?);
        let span = condition.span.to(otherwise.span);
        chosen(condition, then, otherwise, span)
    }

    fn primary(&self, pair: Pair<'_, Rule>, span: Span) -> Built<Expr> {
        if pair.as_rule() != Rule::numbered {
            return self.plain(pair, span);
        }
        let mut inner = parts(pair);
        let family = name(&next(&mut inner));
        let number = self.expr(next(&mut inner))?;
        tall(Expr::new(ExprKind::Numbered(family, number.into()), span))
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
