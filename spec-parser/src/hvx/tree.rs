//! From the pairs of the grammar to the tree: what only this notation has.
//!
//! In: pairs, and where their text starts in the source. Out: statements and expressions.
//! `Vu.uh[i]` is a slice, read by a call of its field; `QvV[i]` is a byte that is not 0, for C
//! has predicates as bytes; `memory(p).ub[i]` is memory at an address; a register that is read and written begins as its operand; `x += y`
//! reads the element as its field says.

use super::grammar::Rule;
use super::register::{self, FIELDS, Field, field, is_updated, predicate, vectors};
use crate::pseudocode::ast::{BinaryOp, Block, Expr, ExprKind, Name, Statement, StatementKind};
use crate::pseudocode::lower::{RESULT, memory};
use crate::pseudocode::notation::{Notation, name, parts};
use crate::pseudocode::tree::{
    Built, assigned, binary, bits_of, call, chosen, compound, int, named, next, refused, tall,
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
/// What stands before an address in the text.
const MEMORY_AT: &str = "memory";

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
        let mut block = self.block(pair)?;
        if let Some(name) = updated(&block) {
            let kind = assigned(named(RESULT, span), named(&name, span));
            block.iter_mut().for_each(renamed_statement);
            block.insert(0, Statement { kind, span });
        }
        Ok(block)
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
        let kept = named("swapped", span);
        let (old_x, old_y) = (self.operand(x.clone())?, self.operand(y.clone())?);
        for (target, value) in [
            (kept.clone(), old_x),
            (self.target(x)?.0, old_y),
            (self.target(y)?.0, kept),
        ] {
            let kind = assigned(target, value);
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
        Ok(assigned(target, tall(value)?))
    }

    /// What an assignment writes: a name or a part, and how many bits of a predicate it is.
    fn target(&self, pair: Pair<'_, Rule>) -> Built<(Expr, Option<Expr>)> {
        let span = self.span(&pair);
        let mut inner = parts(pair);
        let primary = next(&mut inner);
        let first = (primary.as_rule() == Rule::primary).then(|| next(&mut parts(primary)));
        let Some(name) = first.filter(|n| n.as_rule() == Rule::name) else {
            let hint = "write a register, an element of one, or a name before the `=`";
            return refused("this cannot be assigned", span, hint);
        };
        let postfixes: Vec<_> = inner.collect();
        match self.part(&name, &postfixes)? {
            Some(part) => Ok((part.slice(span), part.predicate)),
            None if postfixes.is_empty() => Ok((named(name.as_str(), span), None)),
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
            base: named(base, span),
            low: int(0, span),
            width: int(0, span),
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
                ..whole(memory::NAME)
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
                None => int(0, self.span(&fielded)),
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
                (binary(BinaryOp::Div, size, int(2, span), span), None)
            }
            (_, Some(field)) => (int(i128::from(field.width), span), Some(field)),
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
        let (low, bits) = match inner.next() {
            None => (high, int(1, span)),
            Some(low) => {
                let low = self.expr(low)?;
                let past = binary(BinaryOp::Sub, high, low.clone(), span);
                (low, binary(BinaryOp::Add, past, int(1, span), span))
            }
        };
        Ok(Part {
            low: binary(BinaryOp::Mul, low, int(8, span), span),
            width: binary(BinaryOp::Mul, bits.clone(), int(8, span), span),
            predicate: Some(bits),
            ..of
        })
    }

    /// A name alone, or a call.
    fn name_or_call(
        &self,
        name: &Pair<'_, Rule>,
        after: &[Pair<'_, Rule>],
        span: Span,
    ) -> Built<Expr> {
        let text = name.as_str();
        let mut args = match after {
            [] => return Ok(named(text, span)),
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
            args.push(named(register, span));
            args.push(int(i128::from(*count), span));
        }
        tall(call(text, args, span))
    }
}

impl Notation for Builder {
    type Rule = Rule;

    const LEVELS: &'static [&'static [Rule]] = {
        use Rule as R;
        &[
            &[R::op_either],
            &[R::op_both],
            &[R::op_or],
            &[R::op_xor],
            &[R::op_and],
            &[R::op_eq, R::op_ne],
            &[R::op_lt, R::op_le, R::op_gt, R::op_ge],
            &[R::op_shl, R::op_shr],
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
            Rule::declaration => {
                let name = next(&mut inner);
                let target = named(name.as_str(), self.span(&name));
                assigned(target, self.expr(next(&mut inner))?)
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
    ) -> Built<StatementKind> {
        let variable = next(inner);
        let from = self.expr(next(inner))?;
        let tested = next(inner);
        let below = next(inner);
        let limit = self.expr(next(inner))?;
        let step = next(inner);
        let place = self.span(&step);
        let mut stepped = parts(step);
        let counted = next(&mut stepped);
        for named in [&tested, &counted] {
            if named.as_str() != variable.as_str() {
                let hint = format!("write `{}`", variable.as_str());
                return refused(
                    "a loop tests and counts its own variable",
                    self.span(named),
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
        let place = limit.span;
        let to = match below.as_str() {
            "<=" => limit,
            _ => binary(BinaryOp::Sub, limit, int(1, place), place),
        };
        Ok(StatementKind::For {
            variable: name(&variable),
            from,
            to,
            down: false,
            body: self.block(next(inner))?,
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
        chosen(condition, then, otherwise, span)
    }

    fn value<'i>(
        &self,
        primary: Pair<'i, Rule>,
        postfixes: impl Iterator<Item = Pair<'i, Rule>>,
    ) -> Built<Expr> {
        let postfixes: Vec<_> = postfixes.collect();
        let first = next(&mut parts(primary));
        let end = postfixes.last().unwrap_or(&first);
        let span = self.span(&first).to(self.span(end));
        if first.as_rule() == Rule::name {
            if let Some(part) = self.part(&first, &postfixes)? {
                return tall(part.read(span));
            }
            return self.name_or_call(&first, &postfixes, span);
        }
        match postfixes.first() {
            Some(extra) => {
                let hint = "give the value a name first";
                refused("only registers have parts", self.span(extra), hint)
            }
            None => self.primary(first, span),
        }
    }
}

impl Part {
    fn slice(&self, span: Span) -> Expr {
        bits_of(
            self.base.clone(),
            self.low.clone(),
            self.width.clone(),
            span,
        )
    }

    /// The value of a part: as its field says, or whether a predicate's bit is set.
    fn read(&self, span: Span) -> Expr {
        let slice = self.slice(span);
        match (&self.predicate, self.field) {
            (Some(_), _) => call(IS_SET, vec![slice], span),
            (None, Some(field)) => {
                let sign = int(i128::from(field.signed), span);
                let width = int(i128::from(field.width), span);
                call("element", vec![slice, width, sign], span)
            }
            (None, None) => slice,
        }
    }
}

/// The operand that an argument begins with.
fn operand<'i>(argument: &Pair<'i, Rule>) -> Pair<'i, Rule> {
    let infixed = next(&mut parts(argument.clone()));
    next(&mut parts(infixed))
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
