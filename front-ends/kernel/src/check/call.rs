//! Checking of calls: casts, built-in operations, helper functions.
//!
//! In: a callee and arguments. Out: a typed expression. The built-in operations are the
//! rows of [`OPERATIONS`]; widening operations are written out as casts and an operation.

use super::expr::apply;
use super::{Binding, Checker};
use crate::ast::{self, Ident};
use crate::tree::{Expr, ExprKind, Function, Op, Reduction};
use crate::types::{Elem, Type};
use semantics::float::Format;
use semantics::span::Span;

/// A built-in operation.
pub(crate) struct Operation {
    /// Its name.
    pub(crate) name: &'static str,
    /// The fewest arguments.
    least: usize,
    /// The most arguments.
    most: usize,
    /// Its kind: how arguments and result are typed.
    rule: Rule,
}

/// How an operation is typed.
#[derive(Clone, Copy)]
enum Rule {
    /// Operands of one integer type, result of that type; more than two fold to the left.
    Same(Op),
    /// Operands of one type, integers or floats, result of that type; more than two fold to
    /// the left.
    Number(Op),
    /// Operands of one float type, result of that type.
    Float(Op),
    /// One lane of `f32` or `f64`: a function of the C library.
    Library(Function),
    /// Operands of one type, a result of that width that is not negative.
    Unsigned(Op),
    /// `clamp(x, lo, hi)`.
    Clamp,
    /// `select(condition, a, b)`.
    Select,
    /// A value and a count of its width.
    RoundShr,
    /// Two factors of one type and a count of that width.
    MulShr(Op),
    /// Each operand at twice the width, then the operation.
    Widening(Op),
    /// The value at twice the width.
    Widen,
    /// Adjacent lanes reduced.
    Reduce(Reduction),
    /// Vectors joined, the first lowest.
    Concat,
    /// Lanes of vectors by turns.
    Interleave,
    /// Lanes of a vector chosen by numbers that are computed.
    Lookup,
    /// A vector repeated.
    Repeat,
    /// Lanes of a vector in a given order.
    Shuffle,
}

/// The name by which an operation is called, if there is one of the same types.
pub(crate) fn name_of(op: Op) -> Option<&'static str> {
    let is_it = |operation: &&Operation| match operation.rule {
        Rule::Same(x) | Rule::Number(x) | Rule::Float(x) | Rule::Unsigned(x) | Rule::MulShr(x) => {
            x == op
        }
        Rule::Select => op == Op::Select,
        Rule::RoundShr => op == Op::RoundShr,
        Rule::Library(function) => op == Op::Call(function),
        _ => false,
    };
    OPERATIONS.iter().find(is_it).map(|o| o.name)
}

const fn row(name: &'static str, least: usize, most: usize, rule: Rule) -> Operation {
    Operation {
        name,
        least,
        most,
        rule,
    }
}

/// The built-in operations; casts are named by their types.
pub(crate) const OPERATIONS: &[Operation] = &[
    row("min", 2, 16, Rule::Number(Op::Min)),
    row("max", 2, 16, Rule::Number(Op::Max)),
    row("sat_add", 2, 2, Rule::Same(Op::SatAdd)),
    row("sat_sub", 2, 2, Rule::Same(Op::SatSub)),
    row("avg", 2, 2, Rule::Same(Op::Avg)),
    row("avg_floor", 2, 2, Rule::Same(Op::AvgFloor)),
    row("clz", 1, 1, Rule::Same(Op::Clz)),
    row("popcount", 1, 1, Rule::Same(Op::Popcount)),
    row("abs", 1, 1, Rule::Unsigned(Op::Abs)),
    row("absd", 2, 2, Rule::Unsigned(Op::Absd)),
    row("fma", 3, 3, Rule::Float(Op::Fma)),
    row("sqrt", 1, 1, Rule::Float(Op::Sqrt)),
    row("round_even", 1, 1, Rule::Float(Op::RoundEven)),
    row("floor", 1, 1, Rule::Float(Op::Floor)),
    row("ceil", 1, 1, Rule::Float(Op::Ceil)),
    row("trunc", 1, 1, Rule::Float(Op::Trunc)),
    row("flush", 1, 1, Rule::Float(Op::Flush)),
    row("exp", 1, 1, Rule::Library(Function::Exp)),
    row("log", 1, 1, Rule::Library(Function::Log)),
    row("pow", 2, 2, Rule::Library(Function::Pow)),
    row("sin", 1, 1, Rule::Library(Function::Sin)),
    row("cos", 1, 1, Rule::Library(Function::Cos)),
    row("tan", 1, 1, Rule::Library(Function::Tan)),
    row("asin", 1, 1, Rule::Library(Function::Asin)),
    row("acos", 1, 1, Rule::Library(Function::Acos)),
    row("atan", 1, 1, Rule::Library(Function::Atan)),
    row("atan2", 2, 2, Rule::Library(Function::Atan2)),
    row("sinh", 1, 1, Rule::Library(Function::Sinh)),
    row("cosh", 1, 1, Rule::Library(Function::Cosh)),
    row("tanh", 1, 1, Rule::Library(Function::Tanh)),
    row("clamp", 3, 3, Rule::Clamp),
    row("select", 3, 3, Rule::Select),
    row("rounding_shr", 2, 2, Rule::RoundShr),
    row("mul_shr", 3, 3, Rule::MulShr(Op::MulShr)),
    row("rounding_mul_shr", 3, 3, Rule::MulShr(Op::RoundMulShr)),
    row("widening_add", 2, 2, Rule::Widening(Op::Add)),
    row("widening_sub", 2, 2, Rule::Widening(Op::Sub)),
    row("widening_mul", 2, 2, Rule::Widening(Op::Mul)),
    row("widening_shl", 2, 2, Rule::Widening(Op::Shl)),
    row("widen", 1, 1, Rule::Widen),
    row("reduce_add", 1, 2, Rule::Reduce(Reduction::Add)),
    row("reduce_min", 1, 2, Rule::Reduce(Reduction::Min)),
    row("reduce_max", 1, 2, Rule::Reduce(Reduction::Max)),
    row("concat", 1, 64, Rule::Concat),
    row("interleave", 2, 16, Rule::Interleave),
    row("lookup", 2, 2, Rule::Lookup),
    row("repeat", 2, 2, Rule::Repeat),
    row("shuffle", 2, 2, Rule::Shuffle),
];

/// The most lanes of a vector among which numbers choose: what eight bits count.
const MAX_TABLE: u32 = 256;

impl<'a> Checker<'a> {
    /// A call.
    pub(super) fn call(
        &mut self,
        e: &'a ast::Expr,
        callee: &'a Ident,
        args: &'a [ast::Expr],
        want: Option<Elem>,
    ) -> Option<Expr> {
        if let Some(Binding::Function(def)) = self.scopes.get(&callee.name).cloned() {
            return self.helper(e, &def, args);
        }
        let (name, saturate) = match callee.name.strip_suffix("_sat") {
            Some(name) => (name, true),
            None => (callee.name.as_str(), false),
        };
        if let Some(ty) = Type::by_name(name) {
            let [arg] = args else {
                self.error(
                    e.span,
                    format!(
                        "`{}(..)` converts one value, not {}",
                        callee.name,
                        args.len()
                    ),
                );
                return None;
            };
            return self.cast(e, arg, ty, saturate);
        }
        let bits = callee.name.strip_suffix("_bits").and_then(Elem::by_name);
        if let (Some(elem), [arg]) = (bits, args) {
            return self.same_bits(e, arg, elem);
        }
        let Some(operation) = OPERATIONS.iter().find(|o| o.name == callee.name) else {
            if let Some(declared) = self.file_functions.get(&callee.name).copied() {
                self.not_yet(callee, declared);
            } else if !matches!(self.scopes.get(&callee.name), Some(Binding::Broken)) {
                match crate::idiom::function(&callee.name) {
                    Some(hint) => {
                        let message = format!("there is no `{}` here", callee.name);
                        self.error_hint(callee.span, message, hint);
                    }
                    None => self.unknown_name(&callee.name, callee.span),
                }
            }
            return None;
        };
        if args.len() < operation.least || args.len() > operation.most {
            let wants = match (operation.least, operation.most) {
                (n, m) if n == m => format!("{n}"),
                (n, m) => format!("{n} to {m}"),
            };
            self.error(
                e.span,
                format!(
                    "`{}` takes {wants} arguments, not {}",
                    operation.name,
                    args.len()
                ),
            );
            return None;
        }
        self.operation(e, operation, args, want)
    }

    /// A call of a function that is declared here or further below.
    fn not_yet(&mut self, callee: &Ident, declared: Span) {
        let at = self.source.line(declared.start);
        let message = format!(
            "`{}` is called before it is declared, in line {at}",
            callee.name
        );
        let hint = "a function sees those above it; none calls itself, not through others either";
        self.error_hint(callee.span, message, hint);
    }

    /// The value of another type that has the same bits.
    fn same_bits(&mut self, e: &ast::Expr, arg: &'a ast::Expr, elem: Elem) -> Option<Expr> {
        let value = self.expr(arg, None)?;
        let from = value.ty.elem;
        if from.bits() != elem.bits() || !from.is_number() || !elem.is_number() {
            let message = format!("the bits of {from} are no {elem}");
            let hint =
                "both types need as many bits: `i32_bits(x)` of an `f32`, `f64_bits(x)` of a `u64`";
            self.error_hint(e.span, message, hint);
            return None;
        }
        Some(match from == elem {
            true => value,
            false => apply(Op::Bits, elem, vec![value], e.span),
        })
    }

    fn cast(
        &mut self,
        e: &ast::Expr,
        arg: &'a ast::Expr,
        ty: Type,
        saturate: bool,
    ) -> Option<Expr> {
        let elem = ty.elem;
        let float = elem.format().is_some();
        if saturate && float {
            let hint = format!("write `{elem}(..)`");
            self.error_hint(e.span, "a float has no range to clamp to", hint);
            return None;
        }
        let value = if float && self.untyped(arg) {
            self.expr(arg, Some(elem))?
        } else if let Some(value) = self.constant(arg) {
            let value = if saturate {
                elem.saturate(value)
            } else {
                elem.wrap(value)
            };
            Expr {
                kind: ExprKind::Const(vec![value]),
                ty: Type::scalar(elem),
                span: e.span,
            }
        } else if let ast::ExprKind::Vector(_) = arg.kind {
            self.expr(arg, Some(elem))?
        } else if self.is_index(arg) {
            let index = self.index(arg)?;
            let whole = if float { Elem::signed(64) } else { elem };
            let value = Expr {
                kind: ExprKind::Index(index),
                ty: Type::scalar(whole),
                span: e.span,
            };
            if float {
                apply(Op::Cast, elem, vec![value], e.span)
            } else {
                value
            }
        } else {
            let value = self.expr(arg, None)?;
            let op = if saturate && value.ty.elem.is_number() {
                Op::SatCast
            } else {
                Op::Cast
            };
            if value.ty.elem == elem {
                value
            } else {
                apply(op, elem, vec![value], e.span)
            }
        };
        if ty.lanes == 1 || value.ty.lanes == ty.lanes {
            return Some(value);
        }
        if value.ty.lanes == 1 {
            return self.shuffle(vec![value], vec![0; ty.lanes as usize], e.span);
        }
        self.error(
            e.span,
            format!("{} lanes cannot become {}", value.ty.lanes, ty.lanes),
        );
        None
    }

    fn helper(
        &mut self,
        e: &'a ast::Expr,
        def: &super::FunctionDef<'a>,
        args: &'a [ast::Expr],
    ) -> Option<Expr> {
        let params = &def.source.params;
        if params.len() != args.len() {
            let message = format!(
                "`{}` takes {} arguments, not {}",
                def.source.name.name,
                params.len(),
                args.len()
            );
            self.error(e.span, message);
            return None;
        }
        let mut bound = Vec::new();
        let mut sound = def.sound;
        self.uses_broken |= !def.sound;
        for ((name, ty), arg) in params.iter().zip(args) {
            let binding = if ty.name == "index" {
                self.index(arg).map(Binding::Index)
            } else {
                Elem::by_name(&ty.name).and_then(|elem| {
                    let value = self.expr(arg, Some(elem))?;
                    let value = self.expect_elem(value, elem)?;
                    Some(Binding::Value(self.shared(&name.name, value)))
                })
            };
            sound &= binding.is_some();
            bound.push(binding.unwrap_or(Binding::Broken));
        }
        if !sound {
            return None;
        }
        let value = self.expand(def, bound)?;
        Some(Expr {
            span: e.span,
            ..value
        })
    }

    /// The value under a name, so that several uses compute it once.
    fn shared(&mut self, name: &str, value: Expr) -> Expr {
        match value.kind {
            ExprKind::Apply(..) | ExprKind::Reduce(..) | ExprKind::Shuffle(..) => {
                self.local(name, value, false).0
            }
            _ => value,
        }
    }

    /// Arguments of one type, numbers taking it from the first argument that has one.
    fn arguments(&mut self, args: &'a [ast::Expr], want: Option<Elem>) -> Option<Vec<Expr>> {
        let first = args.iter().position(|a| !self.untyped(a));
        let lead = first.and_then(|n| self.expr(&args[n], want));
        let elem = match first {
            Some(_) => Some(lead.as_ref()?.ty.elem),
            None => want,
        };
        let mut out = Vec::new();
        let mut sound = true;
        for (n, arg) in args.iter().enumerate() {
            let value = if Some(n) == first {
                lead.clone()
            } else {
                self.expr(arg, elem)
            };
            sound &= value.is_some();
            out.extend(value);
        }
        sound.then_some(out)
    }

    fn operation(
        &mut self,
        e: &'a ast::Expr,
        operation: &Operation,
        args: &'a [ast::Expr],
        want: Option<Elem>,
    ) -> Option<Expr> {
        let (name, span) = (operation.name, e.span);
        match operation.rule {
            Rule::Same(op) | Rule::Number(op) => {
                let values = self.arguments(args, want)?;
                let elem = match operation.rule {
                    Rule::Same(_) => self.same_type(&values, name, span)?,
                    _ => self.same_number(&values, name, span)?,
                };
                let mut values = values.into_iter();
                let first = values.next()?;
                if args.len() == 1 {
                    return Some(apply(op, elem, vec![first], span));
                }
                Some(values.fold(first, |a, b| apply(op, elem, vec![a, b], span)))
            }
            Rule::Float(op) => {
                let values = self.arguments(args, want)?;
                let elem = self.same_number(&values, name, span)?;
                if elem.is_int() {
                    self.error(span, format!("`{name}` needs floats, not {elem}"));
                    return None;
                }
                Some(apply(op, elem, values, span))
            }
            Rule::Library(function) => {
                let values = self.arguments(args, want)?;
                let elem = self.same_number(&values, name, span)?;
                let known = matches!(elem.format(), Some(Format::F32 | Format::F64));
                if !known || values.iter().any(|v| v.ty.lanes > 1) {
                    let types: Vec<String> = values.iter().map(|v| v.ty.to_string()).collect();
                    let message = format!("`{name}` does not apply to {}", types.join(" and "));
                    let hint = "the C library computes it, one value of f32 or f64 at a time: \
                                write it in a loop over single elements";
                    self.error_hint(span, message, hint);
                    return None;
                }
                Some(apply(Op::Call(function), elem, values, span))
            }
            Rule::Unsigned(op) => {
                let values = self.arguments(args, want)?;
                let elem = self.same_number(&values, name, span)?;
                Some(apply(op, elem.as_unsigned(), values, span))
            }
            Rule::Clamp => {
                let values = self.arguments(args, want)?;
                let elem = self.same_number(&values, name, span)?;
                let [x, lo, hi] = <[Expr; 3]>::try_from(values).ok()?;
                Some(apply(
                    Op::Min,
                    elem,
                    vec![apply(Op::Max, elem, vec![x, lo], span), hi],
                    span,
                ))
            }
            Rule::Select => self.select(e, args, want),
            Rule::RoundShr => {
                let (a, b) = self.pair(&args[0], &args[1], want)?;
                self.shift_types(&a, &b, span)?;
                Some(apply(Op::RoundShr, a.ty.elem, vec![a, b], span))
            }
            Rule::MulShr(op) => self.mul_shr(e, name, op, args, want),
            Rule::Widening(op) => self.widening(e, name, op, args),
            Rule::Widen => {
                let value = self.expr(&args[0], None)?;
                self.widened(value, span)
            }
            Rule::Reduce(reduction) => self.reduce(e, reduction, args, want),
            Rule::Concat => {
                let parts = self.arguments(args, want)?;
                let lanes = (0..parts.iter().map(|p| p.ty.lanes).sum()).collect();
                self.one_element_type(&parts, name, span)?;
                self.shuffle(parts, lanes, span)
            }
            Rule::Interleave => {
                let parts = self.arguments(args, want)?;
                let n = parts.first()?.ty.lanes;
                self.one_element_type(&parts, name, span)?;
                if let Some(other) = parts.iter().find(|p| p.ty.lanes != n) {
                    let other = other.ty.lanes;
                    self.error(
                        span,
                        format!("{n} lanes cannot be interleaved with {other}"),
                    );
                    return None;
                }
                let count = u32::try_from(parts.len()).ok()?;
                let order = (0..n).flat_map(|l| (0..count).map(move |part| part * n + l));
                self.shuffle(parts, order.collect(), span)
            }
            Rule::Lookup => self.lookup(e, args, want),
            Rule::Repeat => {
                let value = self.expr(&args[0], want)?;
                let times = self.small_number(&args[1], "how often to repeat")?;
                let lanes = (0..times.checked_mul(value.ty.lanes)?)
                    .map(|l| l % value.ty.lanes)
                    .collect();
                self.shuffle(vec![value], lanes, span)
            }
            Rule::Shuffle => self.explicit_shuffle(e, args, want),
        }
    }

    /// Lanes chosen by numbers: one selection for each lane of the table.
    fn lookup(
        &mut self,
        e: &'a ast::Expr,
        args: &'a [ast::Expr],
        want: Option<Elem>,
    ) -> Option<Expr> {
        let (table, number) = (self.expr(&args[0], want), self.expr(&args[1], None));
        let (table, number) = (table?, number?);
        if !number.ty.elem.is_int() || !table.ty.elem.is_number() || table.ty.lanes > MAX_TABLE {
            let message = format!("`lookup` does not apply to {} and {}", table.ty, number.ty);
            let hint = format!(
                "it takes a vector of at most {MAX_TABLE} lanes and integers that choose among \
                 them; a longer table is an array: `for i in 0..n at e {{ … t[i] … }}`"
            );
            self.error_hint(e.span, message, hint);
            return None;
        }
        let (elem, by) = (table.ty.elem, number.ty.elem);
        let (table, number) = (self.shared("table", table), self.shared("number", number));
        let constant = |elem, value| Expr {
            kind: ExprKind::Const(vec![value]),
            ty: Type::scalar(elem),
            span: e.span,
        };
        let mut value = constant(elem, 0);
        for lane in 0..table.ty.lanes {
            let chosen = vec![number.clone(), constant(by, i128::from(lane))];
            let chosen = apply(Op::Eq, Elem::Bool, chosen, e.span);
            let entry = match &table.kind {
                ExprKind::Const(values) => {
                    constant(elem, *values.get(lane as usize).or(values.first())?)
                }
                _ => self.shuffle(vec![table.clone()], vec![lane], e.span)?,
            };
            value = apply(Op::Select, elem, vec![chosen, entry, value], e.span);
        }
        Some(value)
    }

    fn one_element_type(&mut self, parts: &[Expr], name: &str, span: Span) -> Option<()> {
        let elem = parts.first()?.ty.elem;
        if let Some(other) = parts.iter().find(|p| p.ty.elem != elem) {
            self.error(
                span,
                format!(
                    "`{name}` needs one element type, not {elem} and {}",
                    other.ty.elem
                ),
            );
            return None;
        }
        Some(())
    }

    fn select(
        &mut self,
        e: &'a ast::Expr,
        args: &'a [ast::Expr],
        want: Option<Elem>,
    ) -> Option<Expr> {
        let condition = self.expr(&args[0], None);
        let (a, b) = self.pair(&args[1], &args[2], want)?;
        let condition = condition?;
        if condition.ty.elem != Elem::Bool {
            let hint = "compare it: `x != 0`";
            self.error_hint(
                condition.span,
                format!("`select` needs a truth value, not {}", condition.ty),
                hint,
            );
            return None;
        }
        let elem = self.same_value(&[a.clone(), b.clone()], "select", e.span)?;
        let args = vec![condition, a, b];
        self.lanes_agree(&args, e.span)?;
        Some(apply(Op::Select, elem, args, e.span))
    }

    fn mul_shr(
        &mut self,
        e: &'a ast::Expr,
        name: &str,
        op: Op,
        args: &'a [ast::Expr],
        want: Option<Elem>,
    ) -> Option<Expr> {
        let (a, b) = self.pair(&args[0], &args[1], want)?;
        let elem = self.same_type(&[a.clone(), b.clone()], name, e.span)?;
        let count = self.expr(&args[2], Some(elem))?;
        self.shift_types(&a, &count, e.span)?;
        if elem.bits() > 32 {
            self.error(
                e.span,
                format!("`{name}` is defined up to 32 bits, not for {elem}"),
            );
            return None;
        }
        let args = vec![a, b, count];
        self.lanes_agree(&args, e.span)?;
        Some(apply(op, elem, args, e.span))
    }

    fn widened(&mut self, value: Expr, span: Span) -> Option<Expr> {
        let Some(elem) = value.ty.elem.widened() else {
            self.error(
                span,
                format!("there is nothing wider than {}", value.ty.elem),
            );
            return None;
        };
        Some(apply(Op::Cast, elem, vec![value], span))
    }

    /// A product may mix signedness and is signed then; a difference is always signed.
    fn widening(
        &mut self,
        e: &'a ast::Expr,
        name: &str,
        op: Op,
        args: &'a [ast::Expr],
    ) -> Option<Expr> {
        let (a, b) = self.pair(&args[0], &args[1], None)?;
        let (x, y) = (a.ty.elem, b.ty.elem);
        let mixed = op == Op::Mul && x.is_int() && x.as_unsigned() == y.as_unsigned();
        if op == Op::Shl {
            self.shift_types(&a, &b, e.span)?;
        } else if !mixed {
            self.same_number(&[a.clone(), b.clone()], name, e.span)?;
        }
        let Some(wide) = x.widened() else {
            self.error(e.span, format!("there is nothing wider than {x}"));
            return None;
        };
        let signed = x.is_signed() || op == Op::Sub || op == Op::Mul && y.is_signed();
        let elem = if signed && wide.is_int() {
            Elem::signed(wide.bits())
        } else {
            wide
        };
        let mut args = vec![a, b];
        self.lanes_agree(&args, e.span)?;
        for arg in &mut args {
            let span = arg.span;
            let placeholder = Expr {
                kind: ExprKind::Const(Vec::new()),
                ..arg.clone()
            };
            *arg = apply(
                Op::Cast,
                elem,
                vec![std::mem::replace(arg, placeholder)],
                span,
            );
        }
        Some(apply(op, elem, args, e.span))
    }

    fn reduce(
        &mut self,
        e: &'a ast::Expr,
        reduction: Reduction,
        args: &'a [ast::Expr],
        want: Option<Elem>,
    ) -> Option<Expr> {
        let value = self.expr(&args[0], want)?;
        let n = match args.get(1) {
            Some(n) => self.small_number(n, "how many lanes to reduce")?,
            None => value.ty.lanes,
        };
        if !value.ty.elem.is_number() || value.ty.lanes % n != 0 {
            let message = format!("{} cannot be reduced by {n} adjacent lanes", value.ty);
            self.error_hint(e.span, message, "the number must divide the lanes");
            return None;
        }
        let ty = Type {
            elem: value.ty.elem,
            lanes: value.ty.lanes / n,
        };
        Some(Expr {
            kind: ExprKind::Reduce(reduction, Box::new(value), n),
            ty,
            span: e.span,
        })
    }

    fn small_number(&mut self, e: &ast::Expr, what: &str) -> Option<u32> {
        let value = self.constant(e).and_then(|v| u32::try_from(v).ok());
        let value = value.filter(|v| (1..=crate::types::MAX_LANES).contains(v));
        if value.is_none() {
            self.error(e.span, format!("{what} is a number of at least 1"));
        }
        value
    }

    fn explicit_shuffle(
        &mut self,
        e: &'a ast::Expr,
        args: &'a [ast::Expr],
        want: Option<Elem>,
    ) -> Option<Expr> {
        let value = self.expr(&args[0], want)?;
        let ast::ExprKind::Vector(order) = &args[1].kind else {
            self.error_hint(
                args[1].span,
                "the order of lanes is a constant vector",
                "for example `[3, 2, 1, 0]`",
            );
            return None;
        };
        let mut lanes = Vec::new();
        for lane in order {
            let found = self
                .constant(lane)
                .and_then(|l| u32::try_from(l).ok())
                .filter(|&l| l < value.ty.lanes);
            let Some(found) = found else {
                self.error(
                    lane.span,
                    format!("this lane does not exist: the vector is {}", value.ty),
                );
                return None;
            };
            lanes.push(found);
        }
        self.shuffle(vec![value], lanes, e.span)
    }
}
