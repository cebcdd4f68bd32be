//! From the pairs of ASL's grammar to the tree: what only this notation has.
//!
//! In: pairs, and where their text starts in the source. Out: statements and expressions.
//! What only ASL has becomes what the tree has: `Elem[x, e, size]`, `Mem[p, bytes]` and
//! `x<lo+:width>` are slices, a declared width is a call of [`SIZED`], a tuple is assigned part by
//! part. It refuses an expression too tall for recursive functions.

use super::grammar::Rule;
use crate::pseudocode::ast::{
    Arm, BinaryOp, Block, Expr, ExprKind, Label, Statement, StatementKind,
};
use crate::pseudocode::lower::memory;
use crate::pseudocode::notation::{Notation, parts};
use crate::pseudocode::tree::{
    Built, assigned, binary, bits_of, call, chosen, int, integer, named, next, refused, tall,
};
use pest::iterators::Pair;
use semantics::span::Span;

/// The function that a declaration calls: a width in bits and a value.
pub(super) const SIZED: &str = "bits(N)";
/// The function that the declaration of an integer calls.
pub(super) const INTEGER: &str = "integer";
/// The function that the declaration of a truth value calls.
pub(super) const BOOLEAN: &str = "boolean";
/// The function whose argument is a string of bits: its digits as a number, and how many.
pub(super) const LITERAL: &str = "'…'";
/// The function that makes the number of a bit of the address of a byte.
pub(super) const BITS_OF: &str = "bits of";

/// The longest string of bits.
const MAX_LITERAL: usize = 120;

/// The digits of a string of bits, most significant first.
fn digits(text: &str) -> String {
    text.chars().filter(|c| matches!(c, '0' | '1')).collect()
}

/// What a variable is declared as.
enum Kind {
    Bits(Expr),
    Integer,
    Boolean,
}

/// Builds the tree of a text that starts at byte `base` of its source.
pub(super) struct Builder {
    pub(super) base: usize,
}

impl Builder {
    fn kind(&self, pair: Pair<'_, Rule>) -> Built<Kind> {
        let span = self.span(&pair);
        let mut inner = pair.into_inner();
        let word = next(&mut inner);
        Ok(match word.as_rule() {
            Rule::kw_integer => Kind::Integer,
            Rule::kw_boolean => Kind::Boolean,
            _ => Kind::Bits(match inner.next() {
                Some(width) => self.expr(width)?,
                None => int(1, span),
            }),
        })
    }

    /// `kind name = value;` checks the value; `bits(N) a, b;` are zeros until they are written.
    fn declaration<'i>(
        &self,
        mut inner: impl Iterator<Item = Pair<'i, Rule>>,
        span: Span,
        out: &mut Block,
    ) -> Built<()> {
        let kind = self.kind(next(&mut inner))?;
        let mut names = Vec::new();
        let mut value = None;
        for part in inner {
            if part.as_rule() == Rule::name {
                let span = self.span(&part);
                names.push(named(part.as_str(), span));
            } else {
                value = Some(self.expr(part)?);
            }
        }
        for target in names {
            let value = match (&kind, &value) {
                (Kind::Bits(width), Some(v)) => call(SIZED, vec![width.clone(), v.clone()], span),
                (Kind::Integer, Some(v)) => call(INTEGER, vec![v.clone()], span),
                (Kind::Boolean, Some(v)) => call(BOOLEAN, vec![v.clone()], span),
                (Kind::Bits(width), None) => call("Zeros", vec![width.clone()], span),
                (_, None) => {
                    let names = target.as_name().into_iter().cloned().collect();
                    let kind = StatementKind::Declare(names);
                    out.push(Statement { kind, span });
                    continue;
                }
            };
            let kind = assigned(target, value);
            out.push(Statement { kind, span });
        }
        Ok(())
    }

    /// `(x, y) = f(…);`: the parts of what a function returns, one after the other.
    fn tuple<'i>(
        &self,
        inner: impl Iterator<Item = Pair<'i, Rule>>,
        span: Span,
        out: &mut Block,
    ) -> Built<()> {
        let all: Vec<_> = inner.collect();
        let (value, targets) = all.split_last().expect("a tuple has a value");
        let value = self.expr(value.clone())?;
        let ExprKind::Call(function, args) = &value.kind else {
            let hint = "write a function that returns so many values";
            return refused("only a call has several values", value.span, hint);
        };
        for (part, target) in targets.iter().enumerate() {
            let target = next(&mut parts(target.clone()));
            if target.as_rule() == Rule::ignored {
                continue;
            }
            let value = call(&format!("{function}.{part}"), args.clone(), value.span);
            let kind = assigned(self.operand(target)?, value);
            out.push(Statement { kind, span });
        }
        Ok(())
    }
}

impl Notation for Builder {
    type Rule = Rule;

    const LEVELS: &'static [&'static [Rule]] = {
        use Rule as R;
        &[
            &[R::op_both, R::op_either],
            &[R::op_eq, R::op_ne, R::op_lt, R::op_le, R::op_gt, R::op_ge],
            &[R::op_and, R::op_or, R::op_xor],
            &[R::op_concat],
            &[R::op_add, R::op_sub],
            &[R::op_shl, R::op_shr],
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
            // What is asserted holds of every instruction that is described.
            Rule::assertion => return Ok(()),
            Rule::function => {
                let _returned = next(&mut inner);
                self.define(&mut inner)?
            }
            Rule::declaration => return self.declaration(inner, span, out),
            Rule::tuple_assign => return self.tuple(inner, span, out),
            Rule::call => StatementKind::Call(self.operand(next(&mut inner))?),
            _ => assigned(
                self.operand(next(&mut inner))?,
                self.expr(next(&mut inner))?,
            ),
        };
        out.push(Statement { kind, span });
        Ok(())
    }

    fn arm(&self, pair: Pair<'_, Rule>) -> Built<Arm> {
        let span = self.span(&pair);
        let mut inner = parts(pair);
        let first = next(&mut inner);
        let (label, block) = if first.as_rule() == Rule::label {
            let text = first.as_str().trim();
            let label = match parts(first.clone()).next().map(|p| p.as_rule()) {
                Some(Rule::bit_string) => {
                    Label::Number(i128::from_str_radix(&digits(text), 2).unwrap_or(i128::MAX))
                }
                Some(Rule::number) => match text.strip_prefix('-') {
                    Some(rest) => Label::Number(-integer(rest.trim())),
                    None => Label::Number(integer(text)),
                },
                _ => Label::Token(text.into()),
            };
            (label, next(&mut inner))
        } else {
            (Label::Default, first)
        };
        let body = self.block(block)?;
        Ok(Arm { label, span, body })
    }

    fn expr(&self, pair: Pair<'_, Rule>) -> Built<Expr> {
        let span = self.span(&pair);
        let first = parts(pair.clone()).next();
        let Some(choice) = first.filter(|p| p.as_rule() == Rule::choice) else {
            return self.infixed(pair);
        };
        let mut inner = parts(choice);
        let mut one = || self.expr(next(&mut inner));
        chosen(one()?, one()?, one()?, span)
    }

    fn primary(&self, pair: Pair<'_, Rule>, span: Span) -> Built<Expr> {
        if pair.as_rule() != Rule::bit_string {
            return self.plain(pair, span);
        }
        let digits = digits(pair.as_str());
        if digits.len() > MAX_LITERAL || digits.is_empty() {
            let message = format!("a string of {} bits", digits.len());
            return refused(message, span, "write it as a concatenation of shorter ones");
        }
        let number = i128::from_str_radix(&digits, 2).expect("it has few binary digits");
        let args = vec![int(number, span), int(digits.len() as i128, span)];
        Ok(call(LITERAL, args, span))
    }

    fn postfix(&self, base: Expr, pair: Pair<'_, Rule>) -> Built<Expr> {
        let span = base.span.to(self.span(&pair));
        match pair.as_rule() {
            Rule::index => {
                let args = parts(pair).map(|p| self.expr(p));
                element(&base, args.collect::<Built<Vec<_>>>()?, span)
            }
            Rule::slice => {
                let mut inner = parts(pair);
                let first = self.expr(next(&mut inner))?;
                Ok(match (inner.next(), inner.next()) {
                    (None, _) => Expr::new(ExprKind::Index(base.into(), first.into()), span),
                    (Some(low), None) => {
                        let low = self.expr(low)?;
                        let kind = ExprKind::Slice(base.into(), first.into(), low.into());
                        Expr::new(kind, span)
                    }
                    (_, Some(width)) => bits_of(base, first, self.expr(width)?, span),
                })
            }
            _ => self.called(base, pair),
        }
    }
}

/// `Elem[x, e, size]`: the bits `size*e + size - 1` to `size*e` of `x`; `Mem[p, n]`: as many
/// bytes from an address.
fn element(base: &Expr, args: Vec<Expr>, span: Span) -> Built<Expr> {
    match (base.as_name().map(|n| &**n), args.as_slice()) {
        (Some("Elem"), [x, e, size]) => {
            let low = binary(BinaryOp::Mul, e.clone(), size.clone(), e.span);
            tall(bits_of(x.clone(), low, size.clone(), span))
        }
        (Some("Mem"), [address, bytes]) => {
            let low = call(BITS_OF, vec![address.clone()], address.span);
            let width = binary(BinaryOp::Mul, bytes.clone(), int(8, span), bytes.span);
            let memory = named(memory::NAME, base.span);
            tall(bits_of(memory, low, width, span))
        }
        _ => {
            let hint =
                "elements are `Elem[x, e, size]`, memory `Mem[address, bytes]`, bits `x<high:low>`";
            refused("only `Elem` and `Mem` have brackets", span, hint)
        }
    }
}
