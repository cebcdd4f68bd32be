//! From the pairs of the notation's grammar to the tree that all dialects share.
//!
//! In: pairs, and where their text starts in the source. Out: statements and expressions.
//! `Vu.uh[i]` is a slice, read by a call of its field; `QvV[i]` is a byte that is not 0, for C
//! has predicates as bytes; `memory(p).ub[i]` is memory at an address; a register that is read and written begins as its operand; `x += y`
//! reads the element as its field says.

use super::grammar::Rule;
use super::register::{self, FIELDS, Field, field, is_updated, predicate, vectors};
use crate::pseudocode::ast::{BinaryOp, Block, Expr, ExprKind, Name, Statement, StatementKind};
use crate::pseudocode::tree::{
    BOTH, Built, EITHER, Infixed, binary, call, compound, integer, next, refused, signed, span,
    tall,
};
use pest::iterators::Pair;
use semantics::diagnostic::suggest;
use semantics::span::Span;

/// The function that reads the byte of a predicate.
pub(super) const IS_SET: &str = "predicate";
/// The function that makes the bytes of a predicate: a value and how many bits of it.
pub(super) const BYTES: &str = "predicate bytes";
/// The function of the number of bits of a register.
pub(super) const SIZE: &str = "size";
/// The function of elements in a vector, with how many vectors the register after it has.
pub(super) const ELEMENTS: &str = "VELEM";
/// What stands before an address in the text, and the name of memory in the shared tree.
const MEMORY_AT: &str = "memory";
const MEMORY: &str = "MEM";
/// The name of the result in the shared tree.
const RESULT: &str = "dst";

fn parts(pair: Pair<'_, Rule>) -> impl Iterator<Item = Pair<'_, Rule>> {
    let layout = |p: &Pair<'_, Rule>| {
        use Rule::{EOI, empty, kw_else, kw_for, kw_if, kw_int};
        !matches!(p.as_rule(), EOI | empty | kw_for | kw_if | kw_else | kw_int)
    };
    pair.into_inner().filter(layout)
}

/// Part of a register: where it begins, how wide it is, how it is read.
struct Part {
    base: Expr,
    low: Expr,
    width: Expr,
    field: Option<Field>,
    /// Bits of a predicate, where it is one.
    predicate: Option<Expr>,
}

/// Builds the tree of a text that starts at byte `base` of its source.
pub(super) struct Builder {
    base: usize,
    /// A register of the text from which the width of a vector is told, and how many it holds.
    vector: Option<(Name, u32)>,
}

impl Builder {
    pub(super) fn new(text: &str, base: usize) -> Builder {
        let mut words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let vector = words.find_map(|w| {
            let name = predicate(w).unwrap_or(w);
            Some((Name::from(name), vectors(name)?))
        });
        Builder { base, vector }
    }

    /// The whole text. A register that is read and written begins as it was.
    pub(super) fn body(&self, pair: Pair<'_, Rule>) -> Built<Block> {
        let span = self.span(&pair);
        let mut block = Block::new();
        for part in parts(pair) {
            self.statement(part, &mut block)?;
        }
        if let Some(name) = updated(&block) {
            let expr = |kind| Expr::new(kind, span);
            let kind = StatementKind::Assign {
                target: expr(ExprKind::Name(RESULT.into())),
                op: None,
                value: expr(ExprKind::Name(name)),
            };
            block.iter_mut().for_each(renamed_statement);
            block.insert(0, Statement { kind, span });
        }
        Ok(block)
    }

    fn block(&self, pair: Pair<'_, Rule>) -> Built<Block> {
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
            Rule::for_loop => return self.for_loop(&mut inner, span, out),
            Rule::if_else => {
                let condition = self.expr(next(&mut inner))?;
                let then = self.block(next(&mut inner))?;
                let otherwise = inner.next().map(|p| self.block(p)).transpose()?;
                StatementKind::If {
                    arms: vec![(condition, then)],
                    otherwise: otherwise.unwrap_or_default(),
                }
            }
            Rule::declaration => {
                let name = next(&mut inner);
                StatementKind::Assign {
                    target: Expr::new(ExprKind::Name(name.as_str().into()), self.span(&name)),
                    op: None,
                    value: self.expr(next(&mut inner))?,
                }
            }
            Rule::assign => self.assign(&mut inner)?,
            _ => return self.effect(next(&mut inner), span, out),
        };
        out.push(Statement { kind, span });
        Ok(())
    }

    /// `for (i = a; i < b; i++)`; a step of another size is written out as one of 1.
    fn for_loop<'i>(
        &self,
        inner: &mut impl Iterator<Item = Pair<'i, Rule>>,
        span: Span,
        out: &mut Block,
    ) -> Built<()> {
        let variable = next(inner);
        let from = self.expr(next(inner))?;
        let tested = next(inner);
        let below = next(inner);
        let limit = self.expr(next(inner))?;
        let step = next(inner);
        let place = self.span(&step);
        let mut stepped = parts(step);
        let counted = next(&mut stepped);
        for name in [&tested, &counted] {
            if name.as_str() != variable.as_str() {
                let hint = format!("write `{}`", variable.as_str());
                return refused(
                    "a loop tests and counts its own variable",
                    self.span(name),
                    hint,
                );
            }
        }
        if stepped.next().is_some() {
            return refused(
                "a loop counts by one",
                place,
                "write `i++`, and multiply in the body",
            );
        }
        let one = Expr::new(ExprKind::Int(1), limit.span);
        let to = match below.as_str() {
            "<=" => limit,
            _ => binary(BinaryOp::Sub, limit.clone(), one, limit.span),
        };
        let kind = StatementKind::For {
            variable: variable.as_str().into(),
            from,
            to,
            down: false,
            body: self.block(next(inner))?,
        };
        out.push(Statement { kind, span });
        Ok(())
    }

    /// `SWAP(x, y);` exchanges two places; nothing else is called for its effect.
    fn effect(&self, pair: Pair<'_, Rule>, span: Span, out: &mut Block) -> Built<()> {
        let mut inner = parts(pair);
        let name = next(&mut inner);
        let arguments = inner.next().and_then(|p| p.into_inner().next());
        let arguments: Vec<_> = match arguments {
            Some(a) if a.as_rule() == Rule::arguments => parts(a).collect(),
            _ => Vec::new(),
        };
        let (true, [x, y]) = (name.as_str() == "SWAP", arguments.as_slice()) else {
            let hint = "assign its result, or write `SWAP(x, y);`";
            return refused("only `SWAP` is done for its effect", span, hint);
        };
        let (x, y) = (operand(x), operand(y));
        let kept = Expr::new(ExprKind::Name("swapped".into()), span);
        let (old_x, old_y) = (self.operand(x.clone())?, self.operand(y.clone())?);
        for (target, value) in [
            (kept.clone(), old_x),
            (self.target(x)?.0, old_y),
            (self.target(y)?.0, kept),
        ] {
            let kind = StatementKind::Assign {
                target,
                op: None,
                value,
            };
            out.push(Statement { kind, span });
        }
        Ok(())
    }

    fn assign<'i>(&self, inner: &mut impl Iterator<Item = Pair<'i, Rule>>) -> Built<StatementKind> {
        let left = next(inner);
        let becomes = next(inner);
        let mut value = self.expr(next(inner))?;
        if let Some(op) = compound(becomes.as_str()) {
            let old = self.operand(left.clone())?;
            let span = old.span.to(value.span);
            value = binary(op, old, value, span);
        }
        let (target, bits) = self.target(left)?;
        if let Some(bits) = bits {
            let span = value.span;
            value = call(BYTES, vec![value, bits], span);
        }
        Ok(StatementKind::Assign {
            target,
            op: None,
            value: tall(value)?,
        })
    }

    /// What an assignment writes: a name or a part, and how many bits of a predicate it is.
    fn target(&self, pair: Pair<'_, Rule>) -> Built<(Expr, Option<Expr>)> {
        let span = self.span(&pair);
        let mut inner = parts(pair);
        let primary = next(&mut inner);
        let named = (primary.as_rule() == Rule::primary).then(|| next(&mut parts(primary)));
        let Some(name) = named.filter(|n| n.as_rule() == Rule::name) else {
            let hint = "write a register, an element of one, or a name before the `=`";
            return refused("this cannot be assigned", span, hint);
        };
        let postfixes: Vec<_> = inner.collect();
        match self.part(&name, &postfixes)? {
            Some(part) => Ok((part.slice(span), part.predicate)),
            None if postfixes.is_empty() => {
                Ok((Expr::new(ExprKind::Name(name.as_str().into()), span), None))
            }
            None => refused(
                "this cannot be assigned",
                span,
                "write an element such as `Vd.h[i]`",
            ),
        }
    }

    /// The part of a register that fields and brackets name; none where they are none.
    fn part(&self, name: &Pair<'_, Rule>, postfixes: &[Pair<'_, Rule>]) -> Built<Option<Part>> {
        let span = self.span(name);
        let whole = |base: &str| Part {
            base: Expr::new(ExprKind::Name(base.into()), span),
            low: Expr::new(ExprKind::Int(0), span),
            width: Expr::new(ExprKind::Int(0), span),
            field: None,
            predicate: None,
        };
        let mut rest = postfixes.iter().map(|p| next(&mut parts(p.clone())));
        let Some(first) = rest.next() else {
            return Ok(None);
        };
        if let (Some(register), Rule::index) = (predicate(name.as_str()), first.as_rule()) {
            return self.bits(whole(register), first).map(Some);
        }
        let mut part = whole(name.as_str());
        let mut last = Some(first);
        if let (MEMORY_AT, Some(Rule::arguments)) =
            (name.as_str(), last.as_ref().map(Pair::as_rule))
        {
            let address = last.take().and_then(|a| parts(a).next());
            let Some(address) = address else {
                return refused("no address", span, "write `memory(p).ub[i]`");
            };
            part = Part {
                low: self.expr(address)?,
                ..whole(MEMORY)
            };
            last = rest.next();
            if last.is_none() {
                return refused("memory has elements", span, "write `memory(p).ub[i]`");
            }
        }
        while let Some(fielded) = last {
            if fielded.as_rule() != Rule::field {
                let hint = "elements are written `Vu.h[i]`, bits of predicates `QuV[i]`";
                let span = self.span(&fielded);
                return match fielded.as_rule() {
                    Rule::arguments => Ok(None),
                    _ => refused("this register has no such part", span, hint),
                };
            }
            let index = match rest.next().filter(|p| p.as_rule() == Rule::index) {
                Some(index) => self.expr(next(&mut parts(index)))?,
                None => Expr::new(ExprKind::Int(0), self.span(&fielded)),
            };
            part = self.element(part, &fielded, index)?;
            last = rest.next();
        }
        Ok(Some(part))
    }

    /// Element `index` of a part, by its field; `v` are the vectors of a pair.
    fn element(&self, of: Part, fielded: &Pair<'_, Rule>, index: Expr) -> Built<Part> {
        let span = self.span(fielded);
        let name = next(&mut parts(fielded.clone()));
        let (width, field) = match (name.as_str(), field(name.as_str())) {
            ("v", _) => {
                let size = call(SIZE, vec![of.base.clone()], span);
                let two = Expr::new(ExprKind::Int(2), span);
                (binary(BinaryOp::Div, size, two, span), None)
            }
            (_, Some(field)) => (
                Expr::new(ExprKind::Int(i128::from(field.width)), span),
                Some(field),
            ),
            (other, None) => {
                let near = suggest(other, FIELDS.into_iter().chain(["v"]));
                let hint = match near {
                    Some(near) => format!("did you mean `.{near}`?"),
                    None => format!("fields are {}, and `v` of pairs", FIELDS.join(", ")),
                };
                return refused(format!("there is no field `.{other}`"), span, hint);
            }
        };
        let start = binary(BinaryOp::Mul, index, width.clone(), span);
        Ok(Part {
            low: binary(BinaryOp::Add, of.low.clone(), start, span),
            width,
            field,
            ..of
        })
    }

    /// Bits `[i]` or `[high:low]` of a predicate: as many bytes.
    fn bits(&self, of: Part, index: Pair<'_, Rule>) -> Built<Part> {
        let span = self.span(&index);
        let mut inner = parts(index);
        let high = self.expr(next(&mut inner))?;
        let int = |k| Expr::new(ExprKind::Int(k), span);
        let (low, bits) = match inner.next() {
            None => (high, int(1)),
            Some(low) => {
                let low = self.expr(low)?;
                let past = binary(BinaryOp::Sub, high, low.clone(), span);
                (low, binary(BinaryOp::Add, past, int(1), span))
            }
        };
        Ok(Part {
            low: binary(BinaryOp::Mul, low, int(8), span),
            width: binary(BinaryOp::Mul, bits.clone(), int(8), span),
            predicate: Some(bits),
            ..of
        })
    }

    fn expr(&self, pair: Pair<'_, Rule>) -> Built<Expr> {
        let span = self.span(&pair);
        let mut inner = parts(pair);
        let condition = self.infixed(next(&mut inner))?;
        let Some(then) = inner.next() else {
            return Ok(condition);
        };
        let (then, otherwise) = (self.expr(then)?, self.expr(next(&mut inner))?);
        let kind = ExprKind::Choice(condition.into(), then.into(), otherwise.into());
        tall(Expr::new(kind, span))
    }

    /// A flat list of operands and operators, by precedence; operators of one level group to
    /// the left.
    fn infixed(&self, pair: Pair<'_, Rule>) -> Built<Expr> {
        let mut infixed = Infixed::new(self.span(&pair), applied);
        for part in parts(pair) {
            if part.as_rule() == Rule::infix {
                let op = next(&mut part.into_inner()).as_rule();
                infixed.operator(level(op), op)?;
            } else {
                infixed.operand(self.operand(part)?);
            }
        }
        infixed.whole()
    }

    fn operand(&self, pair: Pair<'_, Rule>) -> Built<Expr> {
        let mut prefixes = Vec::new();
        let mut inner = parts(pair);
        let mut primary = next(&mut inner);
        while primary.as_rule() == Rule::prefix {
            prefixes.push((primary.as_str().trim_end().to_owned(), self.span(&primary)));
            primary = next(&mut inner);
        }
        let postfixes: Vec<_> = inner.collect();
        signed(self.primary(primary, &postfixes)?, prefixes)
    }

    fn primary(&self, pair: Pair<'_, Rule>, postfixes: &[Pair<'_, Rule>]) -> Built<Expr> {
        let first = next(&mut parts(pair));
        let end = postfixes.last().unwrap_or(&first);
        let span = self.span(&first).to(self.span(end));
        if first.as_rule() == Rule::name {
            if let Some(part) = self.part(&first, postfixes)? {
                return tall(part.read(span));
            }
            return self.named(&first, postfixes, span);
        }
        if let Some(extra) = postfixes.first() {
            let hint = "give the value a name first";
            return refused("only registers have parts", self.span(extra), hint);
        }
        match first.as_rule() {
            Rule::number => Ok(Expr::new(ExprKind::Int(integer(first.as_str())), span)),
            _ => Ok(Expr {
                span,
                ..self.expr(first)?
            }),
        }
    }

    /// A name alone, or a call.
    fn named(&self, name: &Pair<'_, Rule>, after: &[Pair<'_, Rule>], span: Span) -> Built<Expr> {
        let text = name.as_str();
        let mut args = match after {
            [] => return Ok(Expr::new(ExprKind::Name(text.into()), span)),
            [one] => {
                let inner = next(&mut parts(one.clone()));
                parts(inner)
                    .map(|p| self.expr(p))
                    .collect::<Built<Vec<_>>>()?
            }
            [_, extra, ..] => {
                let hint = "give the value a name first";
                return refused("only registers have parts", self.span(extra), hint);
            }
        };
        if text == ELEMENTS {
            let Some((register, count)) = &self.vector else {
                return refused("no vector is named here", span, "write a number");
            };
            args.push(Expr::new(ExprKind::Name(register.clone()), span));
            args.push(Expr::new(ExprKind::Int(i128::from(*count)), span));
        }
        tall(call(text, args, span))
    }
}

impl Part {
    fn slice(&self, span: Span) -> Expr {
        let one = Expr::new(ExprKind::Int(1), span);
        let end = binary(BinaryOp::Add, self.low.clone(), self.width.clone(), span);
        let high = binary(BinaryOp::Sub, end, one, span);
        let kind = ExprKind::Slice(
            self.base.clone().into(),
            high.into(),
            self.low.clone().into(),
        );
        Expr::new(kind, span)
    }

    /// The value of a part: as its field says, or whether a predicate's bit is set.
    fn read(&self, span: Span) -> Expr {
        let slice = self.slice(span);
        match (&self.predicate, self.field) {
            (Some(_), _) => call(IS_SET, vec![slice], span),
            (None, Some(field)) => {
                let sign = Expr::new(ExprKind::Int(i128::from(field.signed)), span);
                let width = Expr::new(ExprKind::Int(i128::from(field.width)), span);
                call("element", vec![slice, width, sign], span)
            }
            (None, None) => slice,
        }
    }
}

/// How tightly an operator binds.
fn level(op: Rule) -> u8 {
    match op {
        Rule::op_either => 1,
        Rule::op_both => 2,
        Rule::op_or => 3,
        Rule::op_xor => 4,
        Rule::op_and => 5,
        Rule::op_eq | Rule::op_ne => 6,
        Rule::op_lt | Rule::op_le | Rule::op_gt | Rule::op_ge => 7,
        Rule::op_shl | Rule::op_shr => 8,
        Rule::op_add | Rule::op_sub => 9,
        _ => 10,
    }
}

/// The operand that an argument begins with.
fn operand<'i>(argument: &Pair<'i, Rule>) -> Pair<'i, Rule> {
    let infixed = next(&mut parts(argument.clone()));
    next(&mut parts(infixed))
}

fn applied(op: Rule, left: Expr, right: Expr, span: Span) -> Expr {
    let op = match op {
        Rule::op_both => return call(BOTH, vec![left, right], span),
        Rule::op_either => return call(EITHER, vec![left, right], span),
        Rule::op_and => BinaryOp::And,
        Rule::op_or => BinaryOp::Or,
        Rule::op_xor => BinaryOp::Xor,
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
        Rule::op_rem => BinaryOp::Rem,
        _ => BinaryOp::Div,
    };
    binary(op, left, right, span)
}

/// The register that a body reads and writes, if any.
fn updated(block: &[Statement]) -> Option<Name> {
    block.iter().find_map(|s| match &s.kind {
        StatementKind::Assign { target, .. } => {
            let base = match &target.kind {
                ExprKind::Slice(base, ..) => base,
                _ => target,
            };
            base.as_name().filter(|n| is_updated(n)).cloned()
        }
        StatementKind::For { body, .. } => updated(body),
        StatementKind::If { arms, otherwise } => {
            let first = arms.iter().find_map(|(_, b)| updated(b));
            first.or_else(|| updated(otherwise))
        }
        _ => None,
    })
}

/// Calls the result by its name where the text means the register that it begins as.
fn renamed_statement(statement: &mut Statement) {
    match &mut statement.kind {
        StatementKind::Assign { target, value, .. } => {
            renamed(target);
            renamed(value);
        }
        StatementKind::For { from, to, body, .. } => {
            renamed(from);
            renamed(to);
            body.iter_mut().for_each(renamed_statement);
        }
        StatementKind::If { arms, otherwise } => {
            for (condition, body) in arms {
                renamed(condition);
                body.iter_mut().for_each(renamed_statement);
            }
            otherwise.iter_mut().for_each(renamed_statement);
        }
        _ => {}
    }
}

fn renamed(e: &mut Expr) {
    match &mut e.kind {
        ExprKind::Name(name) if register::is_updated(name) => *name = RESULT.into(),
        ExprKind::Unary(_, x) => renamed(x),
        ExprKind::Binary(_, x, y) => [x, y].into_iter().for_each(|e| renamed(e)),
        ExprKind::Choice(x, y, z) | ExprKind::Slice(x, y, z) => {
            [x, y, z].into_iter().for_each(|e| renamed(e));
        }
        ExprKind::Call(_, args) => args.iter_mut().for_each(renamed),
        _ => {}
    }
}
