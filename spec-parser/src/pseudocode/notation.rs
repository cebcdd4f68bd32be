//! From the pairs of a notation's grammar to the tree, by what the grammar calls its rules.
//!
//! In: pairs of a grammar whose rules have the names that are known here (`for_loop`, `if_else`,
//! `infix`, `op_add`, …), and where their text starts in the source. Out: statements and expressions.
//! What a notation has in its own way, and what no other has, it says itself.

use super::ast::{
    Arm, Block, Expr, ExprKind, Formal, Function, Label, Name, Statement, StatementKind,
};
use super::tree::{Built, Infixed, integer, next, refused, signed, span, tall};
use grammar::Named;
use pest::iterators::Pair;
use semantics::span::Span;
use std::sync::Arc;

/// Rules that are layout; keywords are too, whose names begin with `kw_`.
const LAYOUT: [&str; 5] = ["EOI", "newline", "enter", "leave", "empty"];

/// The parts of a pair without its keywords and its layout.
pub(crate) fn parts<R: Named>(pair: Pair<'_, R>) -> impl Iterator<Item = Pair<'_, R>> {
    pair.into_inner().filter(|p| {
        let rule = p.as_rule().name();
        !rule.starts_with("kw_") && !LAYOUT.contains(&rule)
    })
}

/// The text of a pair as a name.
pub(crate) fn name<R: Named>(pair: &Pair<'_, R>) -> Name {
    pair.as_str().into()
}

/// Builds the tree of a text in a notation.
pub(crate) trait Notation {
    /// The rules of its grammar.
    type Rule: Named;

    /// Its operators by how tightly they bind, the loosest first.
    const LEVELS: &'static [&'static [Self::Rule]];

    /// The byte of the source at which the text starts.
    fn base(&self) -> usize;

    /// A statement that only this notation has.
    fn own<'i>(
        &self,
        rule: Self::Rule,
        inner: impl Iterator<Item = Pair<'i, Self::Rule>>,
        span: Span,
        out: &mut Block,
    ) -> Built<()>;

    /// An expression, a choice among them.
    fn expr(&self, pair: Pair<'_, Self::Rule>) -> Built<Expr>;

    fn span(&self, pair: &Pair<'_, Self::Rule>) -> Span {
        span(pair, self.base())
    }

    /// Statements in order.
    fn block(&self, pair: Pair<'_, Self::Rule>) -> Built<Block> {
        let mut block = Block::new();
        for part in parts(pair) {
            self.statement(part, &mut block)?;
        }
        Ok(block)
    }

    fn statement(&self, pair: Pair<'_, Self::Rule>, out: &mut Block) -> Built<()> {
        let span = self.span(&pair);
        let rule = pair.as_rule();
        let mut inner = parts(pair);
        let kind = match rule.name() {
            "for_loop" => self.for_loop(&mut inner)?,
            "while_loop" => StatementKind::While {
                condition: self.expr(next(&mut inner))?,
                body: self.block(next(&mut inner))?,
            },
            "if_else" => self.if_else(&mut inner)?,
            "case" => StatementKind::Case {
                subject: self.expr(next(&mut inner))?,
                arms: inner.map(|p| self.arm(p)).collect::<Built<_>>()?,
            },
            "define" => self.define(&mut inner)?,
            "return_value" => {
                StatementKind::Return(inner.next().map(|p| self.expr(p)).transpose()?)
            }
            _ => return self.own(rule, inner, span, out),
        };
        out.push(Statement { kind, span });
        Ok(())
    }

    /// A variable from one value to another, both included, upwards or downwards.
    fn for_loop<'i>(
        &self,
        inner: &mut impl Iterator<Item = Pair<'i, Self::Rule>>,
    ) -> Built<StatementKind> {
        Ok(StatementKind::For {
            variable: name(&next(inner)),
            from: self.expr(next(inner))?,
            down: next(inner).as_str().eq_ignore_ascii_case("downto"),
            to: self.expr(next(inner))?,
            body: self.block(next(inner))?,
        })
    }

    fn if_else<'i>(
        &self,
        inner: &mut impl Iterator<Item = Pair<'i, Self::Rule>>,
    ) -> Built<StatementKind> {
        let condition = self.expr(next(inner))?;
        let mut arms = vec![(condition, self.block(next(inner))?)];
        let mut otherwise = Block::new();
        for pair in inner {
            let rule = pair.as_rule().name();
            if rule == "block" {
                otherwise = self.block(pair)?;
                continue;
            }
            let mut inner = parts(pair);
            if rule == "else_if" {
                let condition = self.expr(next(&mut inner))?;
                arms.push((condition, self.block(next(&mut inner))?));
            } else {
                otherwise = self.block(next(&mut inner))?;
            }
        }
        Ok(StatementKind::If { arms, otherwise })
    }

    /// What happens where the subject of a `case` is that of a label.
    fn arm(&self, pair: Pair<'_, Self::Rule>) -> Built<Arm> {
        let mut inner = parts(pair);
        let label = next(&mut inner);
        let span = self.span(&label);
        let token = next(&mut parts(label));
        let label = match (token.as_rule().name(), token.as_str()) {
            ("number", text) => Label::Number(integer(text)),
            (_, "DEFAULT" | "default") => Label::Default,
            (_, text) => Label::Token(text.into()),
        };
        let body = self.block(next(&mut inner))?;
        Ok(Arm { label, span, body })
    }

    fn define<'i>(
        &self,
        inner: &mut impl Iterator<Item = Pair<'i, Self::Rule>>,
    ) -> Built<StatementKind> {
        let name = name(&next(inner));
        let mut formals = Vec::new();
        let mut body = Block::new();
        for pair in inner {
            match pair.as_rule().name() {
                "formal" => formals.push(self.formal(pair)?),
                _ => body = self.block(pair)?,
            }
        }
        Ok(StatementKind::Define(Arc::new(Function {
            name,
            formals,
            body,
        })))
    }

    /// A formal parameter, whose name comes last.
    fn formal(&self, pair: Pair<'_, Self::Rule>) -> Built<Formal> {
        let last = parts(pair).last().expect("a formal parameter has a name");
        Ok(Formal {
            name: name(&last),
            width: None,
        })
    }

    /// A flat list of operands and operators, by precedence; operators of one level group to the left.
    fn infixed(&self, pair: Pair<'_, Self::Rule>) -> Built<Expr> {
        let mut infixed = Infixed::new(self.span(&pair));
        for part in parts(pair) {
            match part.as_rule().name() {
                "choice" => {}
                "infix" | "linear" => {
                    let op = next(&mut parts(part)).as_rule();
                    let level = Self::LEVELS.iter().position(|l| l.contains(&op));
                    let level = level.expect("every operator has a level") + 1;
                    infixed.operator(level, op)?;
                }
                _ => infixed.operand(self.operand(part)?),
            }
        }
        infixed.whole()
    }

    /// A value with its signs before it and its parts behind it.
    fn operand(&self, pair: Pair<'_, Self::Rule>) -> Built<Expr> {
        let mut prefixes = Vec::new();
        let mut inner = parts(pair);
        let mut first = next(&mut inner);
        while first.as_rule().name() == "prefix" {
            // Behind it there may be a comment.
            let sign = first.as_str().chars().next().unwrap_or_default();
            prefixes.push((sign, self.span(&first)));
            first = next(&mut inner);
        }
        if first.as_rule().name() == "atom" {
            inner = parts(first);
            first = next(&mut inner);
        }
        signed(self.value(first, inner)?, prefixes)
    }

    fn value<'i>(
        &self,
        primary: Pair<'i, Self::Rule>,
        postfixes: impl Iterator<Item = Pair<'i, Self::Rule>>,
    ) -> Built<Expr> {
        let span = self.span(&primary);
        let mut expr = self.primary(next(&mut parts(primary)), span)?;
        for postfix in postfixes {
            expr = tall(self.postfix(expr, next(&mut parts(postfix)))?)?;
        }
        Ok(expr)
    }

    /// The first part of a value, which stands at `span`, brackets included.
    fn primary(&self, pair: Pair<'_, Self::Rule>, span: Span) -> Built<Expr> {
        self.plain(pair, span)
    }

    /// A number, a name, or an expression in brackets.
    fn plain(&self, pair: Pair<'_, Self::Rule>, span: Span) -> Built<Expr> {
        let text = pair.as_str();
        let kind = match pair.as_rule().name() {
            "number" if text.contains('.') => ExprKind::Decimal(text.into()),
            "number" => ExprKind::Int(integer(text)),
            "name" => ExprKind::Name(text.into()),
            _ => {
                let inner = self.expr(pair)?;
                return Ok(Expr { span, ..inner });
            }
        };
        Ok(Expr::new(kind, span))
    }

    /// A slice, a field or a call of what stands before it.
    fn postfix(&self, base: Expr, pair: Pair<'_, Self::Rule>) -> Built<Expr> {
        let span = base.span.to(self.span(&pair));
        let kind = match pair.as_rule().name() {
            "slice" => {
                let mut inner = parts(pair);
                let first = self.expr(next(&mut inner))?;
                match inner.next() {
                    Some(low) => ExprKind::Slice(base.into(), first.into(), self.expr(low)?.into()),
                    None => ExprKind::Index(base.into(), first.into()),
                }
            }
            "field" => ExprKind::Field(base.into(), name(&next(&mut parts(pair)))),
            _ => return self.called(base, pair),
        };
        Ok(Expr::new(kind, span))
    }

    /// A name with its arguments.
    fn called(&self, base: Expr, arguments: Pair<'_, Self::Rule>) -> Built<Expr> {
        let span = base.span.to(self.span(&arguments));
        let args = parts(arguments)
            .map(|p| self.expr(p))
            .collect::<Built<_>>()?;
        match base.kind {
            ExprKind::Name(name) => Ok(Expr::new(ExprKind::Call(name, args), span)),
            _ => {
                let hint = "write an operator between the two parts";
                refused("only a name can be called", span, hint)
            }
        }
    }
}
