//! From the pairs of ASL's grammar to the tree that all dialects share.
//!
//! In: pairs, and where their text starts in the source. Out: statements and expressions.
//! What only ASL has becomes what the tree has: `Elem[x, e, size]`, `Mem[p, bytes]` and
//! `x<lo+:width>` are slices, a concatenation is a call of [`CONCAT`], a declared width is a call of [`SIZED`],
//! a tuple is assigned part by part. It refuses an expression too tall for recursive functions.

use super::grammar::Rule;
use crate::pseudocode::ast::{
    Arm, BinaryOp, Block, Expr, ExprKind, Formal, Function, Label, Name, Statement, StatementKind,
};
use crate::pseudocode::tree::{
    BOTH, Built, EITHER, Infixed, binary, call, integer, next, refused, signed, span, tall,
};
use pest::iterators::Pair;
use semantics::span::Span;
use std::sync::Arc;

/// The function that a concatenation calls, most significant part first.
pub(super) const CONCAT: &str = ":";
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
/// The name of memory in the shared tree, whose addresses count bits.
const MEMORY: &str = "MEM";

/// The longest string of bits.
const MAX_LITERAL: usize = 120;

/// The parts of a pair without its keywords and its layout.
fn parts(pair: Pair<'_, Rule>) -> impl Iterator<Item = Pair<'_, Rule>> {
    pair.into_inner().filter(|p| {
        !matches!(
            p.as_rule(),
            Rule::EOI
                | Rule::newline
                | Rule::enter
                | Rule::leave
                | Rule::kw_for
                | Rule::kw_do
                | Rule::kw_while
                | Rule::kw_if
                | Rule::kw_then
                | Rule::kw_elsif
                | Rule::kw_else
                | Rule::kw_case
                | Rule::kw_of
                | Rule::kw_when
                | Rule::kw_otherwise
                | Rule::kw_return
                | Rule::kw_assert
                | Rule::kw_constant
        )
    })
}

fn name(pair: &Pair<'_, Rule>) -> Name {
    pair.as_str().into()
}

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
    /// The whole text, or the statements of a block.
    pub(super) fn block(&self, pair: Pair<'_, Rule>) -> Built<Block> {
        let mut block = Block::new();
        for part in parts(pair) {
            self.statement(part, &mut block)?;
        }
        Ok(block)
    }

    fn span(&self, pair: &Pair<'_, Rule>) -> Span {
        span(pair, self.base)
    }

    fn statement(&self, pair: Pair<'_, Rule>, out: &mut Block) -> Built<()> {
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
            Rule::return_value => {
                StatementKind::Return(inner.next().map(|p| self.expr(p)).transpose()?)
            }
            // What is asserted holds of every instruction that is described.
            Rule::assertion => return Ok(()),
            Rule::function => self.function(&mut inner)?,
            Rule::declaration => return self.declaration(inner, span, out),
            Rule::tuple_assign => return self.tuple(inner, span, out),
            Rule::call => StatementKind::Call(self.operand(next(&mut inner))?),
            _ => StatementKind::Assign {
                target: self.operand(next(&mut inner))?,
                op: None,
                value: self.expr(next(&mut inner))?,
            },
        };
        out.push(Statement { kind, span });
        Ok(())
    }

    fn for_loop<'i>(
        &self,
        inner: &mut impl Iterator<Item = Pair<'i, Rule>>,
    ) -> Built<StatementKind> {
        let variable = name(&next(inner));
        let from = self.expr(next(inner))?;
        let down = next(inner).as_str().trim() == "downto";
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
            let last = pair.as_rule() == Rule::otherwise;
            let mut inner = parts(pair);
            if last {
                otherwise = self.block(next(&mut inner))?;
            } else {
                let condition = self.expr(next(&mut inner))?;
                arms.push((condition, self.block(next(&mut inner))?));
            }
        }
        Ok(StatementKind::If { arms, otherwise })
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

    fn function<'i>(
        &self,
        inner: &mut impl Iterator<Item = Pair<'i, Rule>>,
    ) -> Built<StatementKind> {
        let _returned = next(inner);
        let name = name(&next(inner));
        let mut formals = Vec::new();
        let mut body = Block::new();
        for pair in inner {
            if pair.as_rule() == Rule::formal {
                let formal = parts(pair).last().expect("a formal parameter has a name");
                formals.push(Formal {
                    name: formal.as_str().into(),
                    width: None,
                });
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

    fn kind(&self, pair: Pair<'_, Rule>) -> Built<Kind> {
        let span = self.span(&pair);
        let mut inner = parts(pair);
        let word = next(&mut inner);
        Ok(match word.as_rule() {
            Rule::kw_integer => Kind::Integer,
            Rule::kw_boolean => Kind::Boolean,
            _ => Kind::Bits(match inner.next() {
                Some(width) => self.expr(width)?,
                None => Expr::new(ExprKind::Int(1), span),
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
                names.push(Expr::new(ExprKind::Name(name(&part)), span));
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
            let kind = StatementKind::Assign {
                target,
                op: None,
                value,
            };
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
            let name = Name::from(format!("{function}.{part}"));
            let value = Expr::new(ExprKind::Call(name, args.clone()), value.span);
            let kind = StatementKind::Assign {
                target: self.operand(target)?,
                op: None,
                value,
            };
            out.push(Statement { kind, span });
        }
        Ok(())
    }

    /// A flat list of operands and operators, by precedence; operators of one level group to
    /// the left.
    fn expr(&self, pair: Pair<'_, Rule>) -> Built<Expr> {
        let span = self.span(&pair);
        let mut infixed = Infixed::new(span, applied);
        for part in parts(pair) {
            match part.as_rule() {
                Rule::choice => {
                    let mut inner = parts(part);
                    let mut one = || self.expr(next(&mut inner));
                    let kind = ExprKind::Choice(one()?.into(), one()?.into(), one()?.into());
                    return tall(Expr::new(kind, span));
                }
                Rule::infix | Rule::linear => {
                    let op = next(&mut part.into_inner()).as_rule();
                    infixed.operator(level(op), op)?;
                }
                _ => infixed.operand(self.operand(part)?),
            }
        }
        infixed.whole()
    }

    fn operand(&self, pair: Pair<'_, Rule>) -> Built<Expr> {
        let mut prefixes = Vec::new();
        let mut inner = parts(pair);
        let mut atom = next(&mut inner);
        while atom.as_rule() == Rule::prefix {
            prefixes.push((atom.as_str().trim_end().to_owned(), self.span(&atom)));
            atom = next(&mut inner);
        }
        let mut tight = parts(atom);
        let primary = next(&mut tight);
        let span = self.span(&primary);
        let mut expr = self.primary(next(&mut parts(primary)), span)?;
        for postfix in tight {
            expr = tall(self.postfix(expr, next(&mut parts(postfix)))?)?;
        }
        signed(expr, prefixes)
    }

    fn primary(&self, pair: Pair<'_, Rule>, span: Span) -> Built<Expr> {
        let text = pair.as_str();
        Ok(match pair.as_rule() {
            Rule::number => Expr::new(ExprKind::Int(integer(text)), span),
            Rule::name => Expr::new(ExprKind::Name(text.into()), span),
            Rule::bit_string => {
                let digits = digits(text);
                if digits.len() > MAX_LITERAL || digits.is_empty() {
                    let message = format!("a string of {} bits", digits.len());
                    return refused(message, span, "write it as a concatenation of shorter ones");
                }
                let number = i128::from_str_radix(&digits, 2).expect("it has few binary digits");
                let int = |k: i128| Expr::new(ExprKind::Int(k), span);
                let args = vec![int(number), int(digits.len() as i128)];
                Expr::new(ExprKind::Call(LITERAL.into(), args), span)
            }
            _ => Expr {
                span,
                ..self.expr(pair)?
            },
        })
    }

    fn postfix(&self, base: Expr, pair: Pair<'_, Rule>) -> Built<Expr> {
        let span = base.span.to(self.span(&pair));
        let rule = pair.as_rule();
        let mut inner = parts(pair);
        let kind = match rule {
            Rule::slice => {
                let first = self.expr(next(&mut inner))?;
                match (inner.next(), inner.next()) {
                    (None, _) => ExprKind::Index(base.into(), first.into()),
                    (Some(low), None) => {
                        ExprKind::Slice(base.into(), first.into(), self.expr(low)?.into())
                    }
                    (_, Some(width)) => {
                        let width = self.expr(width)?;
                        let high = last_bit(&first, &width, span);
                        ExprKind::Slice(base.into(), high.into(), first.into())
                    }
                }
            }
            Rule::index => {
                let args = inner.map(|p| self.expr(p)).collect::<Built<Vec<_>>>()?;
                return element(&base, args, span);
            }
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

/// `Elem[x, e, size]`: the bits `size*e + size - 1` to `size*e` of `x`; `Mem[p, n]`: as many
/// bytes from an address.
fn element(base: &Expr, args: Vec<Expr>, span: Span) -> Built<Expr> {
    let int = |k: i128| Expr::new(ExprKind::Int(k), span);
    let (x, e, size) = match (base.as_name().map(|n| &**n), args.as_slice()) {
        (Some("Elem"), [x, e, size]) => (x, e, size),
        (Some("Mem"), [address, bytes]) => {
            let low = vec![address.clone()];
            let low = Expr::new(ExprKind::Call(BITS_OF.into(), low), address.span);
            let width = binary(BinaryOp::Mul, bytes.clone(), int(8), bytes.span);
            let high = last_bit(&low, &width, span);
            let memory = Expr::new(ExprKind::Name(MEMORY.into()), base.span);
            let kind = ExprKind::Slice(memory.into(), high.into(), low.into());
            return tall(Expr::new(kind, span));
        }
        _ => {
            let hint =
                "elements are `Elem[x, e, size]`, memory `Mem[address, bytes]`, bits `x<high:low>`";
            return refused("only `Elem` and `Mem` have brackets", span, hint);
        }
    };
    let low = binary(BinaryOp::Mul, e.clone(), size.clone(), e.span);
    let high = last_bit(&low, size, e.span);
    let kind = ExprKind::Slice(x.clone().into(), high.into(), low.into());
    tall(Expr::new(kind, span))
}

/// `low + width - 1`.
fn last_bit(low: &Expr, width: &Expr, span: Span) -> Expr {
    let one = Expr::new(ExprKind::Int(1), span);
    let end = binary(BinaryOp::Add, low.clone(), width.clone(), span);
    binary(BinaryOp::Sub, end, one, span)
}

/// How tightly an operator binds.
fn level(op: Rule) -> u8 {
    match op {
        Rule::op_both | Rule::op_either => 1,
        Rule::op_eq | Rule::op_ne | Rule::op_lt | Rule::op_le | Rule::op_gt | Rule::op_ge => 2,
        Rule::op_and | Rule::op_or | Rule::op_eor => 3,
        Rule::op_concat => 4,
        Rule::op_add | Rule::op_sub => 5,
        Rule::op_shl | Rule::op_shr => 6,
        _ => 7,
    }
}

fn applied(op: Rule, left: Expr, right: Expr, span: Span) -> Expr {
    let op = match op {
        Rule::op_concat => return call(CONCAT, vec![left, right], span),
        Rule::op_both => return call(BOTH, vec![left, right], span),
        Rule::op_either => return call(EITHER, vec![left, right], span),
        Rule::op_and => BinaryOp::And,
        Rule::op_or => BinaryOp::Or,
        Rule::op_eor => BinaryOp::Xor,
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
        Rule::op_mod => BinaryOp::Rem,
        _ => BinaryOp::Div,
    };
    binary(op, left, right, span)
}
