//! The arguments of a pipeline, and what it asks of them.
//!
//! In: the names in the function's head, and the checks and field accesses at its start. Out:
//! [`Arguments`]: buffers with the sizes that describe them, numbers, scalars, and conditions
//! with the error code that Halide gives them. With [`Convention::Pointers`] every buffer is dense
//! and starts at 0, so only extents are left; with [`Convention::Buffers`] minima and strides are
//! arguments too. A number that may be negative is the difference of two sizes.

use super::import::{Binding, Importer, Made};
use super::normal::normal;
use super::syntax::{Expr, Kind, Stated, Stmt, StmtKind};
use super::value::{I32, Number, Value, cast, product, zero_or_one};
use kernel::ast::Direction;
use kernel::index::{Index, Symbol};
use kernel::tree::{
    Array, Condition, ExprKind, Id, Kernel, Param, Relation, Role, Scalar, SymbolKind,
};
use kernel::types::{Elem, Type};
use std::collections::{BTreeMap, BTreeSet};

/// What truth values are in memory: 0 is false, everything else true, and 1 is stored.
pub(super) const TRUTH: Elem = Elem::unsigned(8);

/// The most dimensions of a buffer.
const MAX_DIMS: usize = 16;

/// How arguments are passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Convention {
    /// Pointers to dense arrays, each followed by its extents, the contiguous one first.
    Pointers,
    /// Pointers to `halide_buffer_t`.
    Buffers,
}

/// What a pipeline is called with.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    /// In the order of the function's head.
    pub list: Vec<Argument>,
    /// What has to hold of them.
    pub checks: Vec<Check>,
}

/// An argument.
#[derive(Clone, Debug)]
pub enum Argument {
    /// A buffer.
    Buffer(Buffer),
    /// A 32-bit integer that bounds and indices may be made of.
    Number(Signed),
    /// Another number, by its place among the kernel's scalars.
    Scalar(Id),
}

/// A buffer as an argument.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Its array in the kernel.
    pub array: Id,
    /// Its dimensions, the first as Halide counts them.
    pub dims: Vec<Dim>,
    /// The dimensions of a dense array from the contiguous one outwards.
    pub order: Vec<usize>,
    /// Whether Halide has truth values in it, a byte each.
    pub truth: bool,
}

/// A dimension of a buffer.
#[derive(Clone, Debug)]
pub struct Dim {
    /// The number of elements.
    pub extent: Symbol,
    /// The first coordinate, when it is an argument; otherwise it is 0.
    pub min: Option<Signed>,
    /// The distance of neighbours, when it is an argument; otherwise the buffer is dense.
    pub stride: Option<Signed>,
}

/// A number that may be negative: what it is above 0, less what it is below.
#[derive(Clone, Debug)]
pub struct Signed {
    /// The argument's name.
    pub name: String,
    /// The number where it is positive, else 0.
    pub above: Symbol,
    /// Its absolute value where it is negative, else 0.
    pub below: Symbol,
}

impl Signed {
    fn index(&self) -> Index {
        Index::Sym(self.above).minus(&Index::Sym(self.below))
    }
}

/// A condition on the arguments.
#[derive(Clone, Debug)]
pub struct Check {
    /// What has to hold.
    pub asked: Asked,
    /// What the function returns otherwise: Halide's code for it.
    pub code: i32,
}

/// What a check asks.
#[derive(Clone, Debug)]
pub enum Asked {
    /// A relation of sizes and of numbers that indices are made of.
    Sizes(Condition),
    /// A truth value that parameters make.
    Scalars(kernel::tree::Expr),
}

/// What the text says of a buffer before it is used.
struct Described {
    elem: Elem,
    dims: usize,
    strides: BTreeMap<usize, i64>,
}

impl Described {
    /// The dimensions from the one whose neighbours lie next to each other in memory outwards,
    /// as far as distances are stated; the others as Halide counts them.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.dims).collect();
        let apart = |d: &usize| self.strides.get(d).copied().filter(|s| *s > 0);
        if order.iter().filter_map(apart).any(|s| s == 1) {
            order.sort_by_key(|d| apart(d).unwrap_or(i64::MAX));
        }
        order
    }
}

impl Importer<'_> {
    /// Makes the kernel's parameters.
    pub(super) fn declare(&mut self) -> Made<()> {
        let program = self.program;
        let mut facts = Facts::default();
        facts.block(&program.body);
        for task in program.tasks.values() {
            facts.block(&task.body);
        }
        for name in &program.arguments {
            if facts.buffers.contains(name) {
                let Some(described) = facts.described(name).filter(|d| d.dims <= MAX_DIMS) else {
                    let message = format!(
                        "the type of `{name}` or its number of dimensions, 0 to {MAX_DIMS}, is not stated"
                    );
                    return self.refuse(program.span, message, "the checks of the buffers' types are missing: compile without the feature `no_asserts`");
                };
                let direction = match (facts.stored.contains(name), facts.loaded.contains(name)) {
                    (true, true) => Direction::InOut,
                    (true, false) => Direction::Out,
                    _ => Direction::In,
                };
                self.buffer(name, &described, direction);
            } else {
                let ty = facts.types.get(name).copied().unwrap_or(Type::scalar(I32));
                match ty.elem {
                    elem if elem == I32 => {
                        let number = self.signed(&plain_name(name));
                        self.arguments.list.push(Argument::Number(number));
                    }
                    elem => {
                        let truth = elem == Elem::Bool;
                        let elem = if truth { TRUTH } else { elem };
                        let id = self.kernel.scalars.len();
                        self.kernel.scalars.push(Scalar {
                            name: plain_name(name),
                            elem,
                        });
                        self.kernel.params.push(Param::Scalar(id));
                        if truth {
                            self.true_scalars.insert(id);
                        }
                        self.arguments.list.push(Argument::Scalar(id));
                    }
                }
            }
        }
        // The lengths of arrays are made of sizes, which therefore come first.
        self.kernel.params.sort_by_key(|param| match param {
            Param::Size(_) => 0,
            Param::Scalar(_) => 1,
            Param::Array(_) => 2,
        });
        Ok(())
    }

    fn size(&mut self, name: String) -> Symbol {
        let symbol = self.kernel.new_symbol(name, SymbolKind::Size, self.span);
        self.kernel.params.push(Param::Size(symbol));
        symbol
    }

    fn signed(&mut self, name: &str) -> Signed {
        let above = self.size(format!("{name}_above"));
        let below = self.size(format!("{name}_below"));
        Signed {
            name: name.to_owned(),
            above,
            below,
        }
    }

    fn buffer(&mut self, name: &str, described: &Described, direction: Direction) {
        let (array, plain) = (self.kernel.arrays.len(), plain_name(name));
        self.kernel.params.push(Param::Array(array));
        let mut dims = Vec::new();
        for d in 0..described.dims {
            let extent = self.size(format!("{plain}_extent_{d}"));
            let (mut min, mut stride) = (None, None);
            if self.options.convention == Convention::Buffers {
                min = Some(self.signed(&format!("{plain}_min_{d}")));
                if d > 0 || described.strides.get(&0) != Some(&1) {
                    stride = Some(self.signed(&format!("{plain}_stride_{d}")));
                }
            }
            dims.push(Dim {
                extent,
                min,
                stride,
            });
        }
        let buffer = Buffer {
            array,
            dims,
            order: described.order(),
            truth: described.elem == Elem::Bool,
        };
        let elem = match described.elem {
            Elem::Bool => TRUTH,
            elem => elem,
        };
        if buffer.truth {
            self.truths.insert(array);
        }
        self.kernel.arrays.push(Array {
            name: plain,
            elem,
            dims: vec![length(&buffer)],
            pad: 1,
            role: Role::Param(direction),
            placement: kernel::tree::Placement::default(),
            span: self.span,
        });
        self.arguments.list.push(Argument::Buffer(buffer));
    }

    fn buffer_named(&self, name: &str) -> Option<&Buffer> {
        let at = self.program.arguments.iter().position(|a| a == name)?;
        match self.arguments.list.get(at)? {
            Argument::Buffer(buffer) => Some(buffer),
            _ => None,
        }
    }

    /// What a field of a buffer is.
    pub(super) fn field(&mut self, value: &Expr) -> Made<Option<Binding>> {
        let Some((field, args)) = buffer_call(value) else {
            return Ok(None);
        };
        let Some(field) = field.strip_prefix("_halide_buffer_get_") else {
            return Ok(None);
        };
        let Some(name) = args.first().and_then(buffer_of) else {
            return Ok(None);
        };
        let Some(buffer) = self.buffer_named(name) else {
            return self.refuse(
                value.span,
                format!("`{name}` is no argument of the pipeline"),
                "buffers that are made inside a pipeline, for `extern` stages, are not read: compute the values in a Func, or pass them as a buffer. Otherwise the text is damaged",
            );
        };
        let dim = match args.get(1).map(|e| &e.kind) {
            Some(Kind::Number(d)) => usize::try_from(*d).ok().filter(|d| *d < buffer.dims.len()),
            _ => None,
        };
        let number = |index: Index| Ok(Some(Binding::Value(Value::number(index, I32))));
        match (field, dim) {
            ("host", _) => Ok(Some(Binding::Array(buffer.array))),
            ("extent", Some(d)) => number(Index::Sym(buffer.dims[d].extent)),
            ("min", Some(d)) => number(
                buffer.dims[d]
                    .min
                    .as_ref()
                    .map_or(Index::Const(0), Signed::index),
            ),
            ("stride", Some(d)) => number(stride(buffer, d)),
            _ => Ok(Some(Binding::Value(Value::Opaque))),
        }
    }

    /// A parameter that is no buffer.
    pub(super) fn parameter(&self, name: &str) -> Option<Value> {
        let at = self.program.arguments.iter().position(|a| a == name)?;
        match self.arguments.list.get(at)? {
            Argument::Number(number) => Some(Value::number(number.index(), I32)),
            Argument::Scalar(id) => {
                let ty = Type::scalar(self.kernel.scalars[*id].elem);
                let value = super::value::expr(ExprKind::Scalar(*id), ty, self.span);
                let truth = self.true_scalars.contains(id);
                let value = if truth {
                    cast(value, Elem::Bool)
                } else {
                    value
                };
                Some(Value::Data(value))
            }
            Argument::Buffer(_) => None,
        }
    }

    /// A check before the first stage.
    pub(super) fn check(&mut self, condition: &Expr, message: &Expr) -> Made<()> {
        let error = error_of(message).unwrap_or_default();
        if let Kind::Binary("&&", a, b) = &condition.kind {
            self.check(a, message)?;
            return self.check(b, message);
        }
        let (relation, sides) = match &condition.kind {
            Kind::Binary("==", a, b) => (Relation::Eq, Some((a, b))),
            Kind::Binary("<=", a, b) => (Relation::Le, Some((a, b))),
            Kind::Binary("<", a, b) => (Relation::Lt, Some((a, b))),
            Kind::Binary(">=", a, b) => (Relation::Le, Some((b, a))),
            Kind::Binary(">", a, b) => (Relation::Lt, Some((b, a))),
            _ => (Relation::Le, None),
        };
        let found = match sides {
            Some((a, b)) => match (self.value(a)?, self.value(b)?) {
                (Value::Index(a), Value::Index(b)) if a.ty.lanes == 1 && b.ty.lanes == 1 => {
                    Some((relation, side(&a), side(&b)))
                }
                (Value::Opaque, _) | (_, Value::Opaque) => None,
                _ => return self.check_on_data(condition, &error),
            },
            None => match self.value(condition)? {
                Value::Index(truth) if truth.ty.lanes == 1 => {
                    Some((Relation::Le, Index::Const(1), truth.index))
                }
                Value::Opaque => None,
                _ => return self.check_on_data(condition, &error),
            },
        };
        let Some((relation, left, right)) = found else {
            return match error.as_str() {
                "buffer_argument_is_null"
                | "bad_type"
                | "bad_dimensions"
                | "host_is_null"
                | "device_dirty_with_no_device_support" => Ok(()),
                _ => self.refuse(
                    condition.span,
                    "this check is not understood",
                    "only checks of sizes, types and addresses are read",
                ),
            };
        };
        let condition = Condition {
            relation,
            left,
            right,
            span: self.span,
        };
        match (
            condition.left.constant_value(),
            condition.right.constant_value(),
        ) {
            (Some(_), Some(_)) if condition.holds(&|_| 0) => Ok(()),
            (Some(_), Some(_)) => self.refuse(
                self.span,
                "no arguments pass this check",
                "no dense buffer has these strides: take `--arguments halide`",
            ),
            _ => {
                self.kernel.requires.push(condition.clone());
                self.arguments.checks.push(Check {
                    asked: Asked::Sizes(condition),
                    code: code(&error),
                });
                Ok(())
            }
        }
    }

    /// A check of parameters that no index is made of.
    fn check_on_data(&mut self, condition: &Expr, error: &str) -> Made<()> {
        let asked = match self.value(condition)? {
            Value::Data(e) if e.ty == Type::scalar(Elem::Bool) => self.of_parameters(&e),
            _ => None,
        };
        let Some(asked) = asked else {
            return self.refuse(
                condition.span,
                "a check of data",
                "only checks of sizes, types, addresses and parameters are read: what depends on elements of a buffer is to be `clamp`ed",
            );
        };
        self.arguments.checks.push(Check {
            asked: Asked::Scalars(asked),
            code: code(error),
        });
        Ok(())
    }

    /// A value without names, if it is made of parameters, numbers of sizes and constants alone.
    fn of_parameters(&self, e: &kernel::tree::Expr) -> Option<kernel::tree::Expr> {
        let chosen = |index: &Index| self.chosen.iter().any(|(_, s)| index.mentions(*s));
        self.kernel.fold(e, &mut |_| None, &mut |e, args| {
            let kind = match &e.kind {
                ExprKind::Index(index) if chosen(index) => return None,
                ExprKind::Const(_) | ExprKind::Scalar(_) | ExprKind::Index(_) => e.kind.clone(),
                ExprKind::Apply(op, _) => ExprKind::Apply(*op, args),
                _ => return None,
            };
            Some(super::value::expr(kind, e.ty, e.span))
        })
    }
}

/// Asks of the buffers in a kernel that they are dense.
pub(super) fn dense(arguments: &Arguments, kernel: &mut Kernel) {
    let mut ask = |relation, left: Index, right: Index| {
        let span = kernel.span;
        kernel.requires.push(Condition {
            relation,
            left,
            right,
            span,
        });
    };
    for argument in &arguments.list {
        let Argument::Buffer(buffer) = argument else {
            continue;
        };
        let mut below = Index::Const(1);
        for &d in &buffer.order {
            let dim = &buffer.dims[d];
            if let Some(stride) = &dim.stride {
                ask(Relation::Eq, Index::Sym(stride.below), Index::Const(0));
                ask(Relation::Eq, Index::Sym(stride.above), below.clone());
            }
            if let Some(min) = &dim.min {
                ask(Relation::Le, Index::Sym(min.below), Index::Const(3));
                ask(Relation::Le, Index::Sym(min.above), Index::Const(3));
            }
            below = normal(&product(&below, &Index::Sym(dim.extent)));
        }
    }
}

/// A side of a comparison as an index.
fn side(number: &Number) -> Index {
    match number.ty.elem {
        Elem::Bool => zero_or_one(&number.index),
        _ => number.index.clone(),
    }
}

/// The number of elements from the first to the last of a buffer.
fn length(buffer: &Buffer) -> Index {
    if buffer.dims.iter().all(|d| d.min.is_none()) {
        let extents = buffer.dims.iter().map(|d| Index::Sym(d.extent));
        return normal(&extents.fold(Index::Const(1), |n, e| product(&n, &e)));
    }
    let mut sum = Index::Const(1);
    for (d, dim) in buffer.dims.iter().enumerate() {
        let last = Index::Sym(dim.extent).offset(-1);
        sum = sum.plus(&product(&last, &stride(buffer, d)));
    }
    super::value::greatest(&normal(&sum), &Index::Const(0))
}

/// The distance of neighbours in a dimension.
fn stride(buffer: &Buffer, d: usize) -> Index {
    match &buffer.dims[d].stride {
        Some(stride) => stride.index(),
        // With minima, only the first dimension has no stride: it is 1.
        None if buffer.dims[d].min.is_some() => Index::Const(1),
        None => {
            let inner = buffer.order.iter().take_while(|&&k| k != d);
            let extents = inner.map(|&k| Index::Sym(buffer.dims[k].extent));
            normal(&extents.fold(Index::Const(1), |n, e| product(&n, &e)))
        }
    }
}

/// What is said of the buffers anywhere in the text.
#[derive(Default)]
struct Facts {
    /// Arguments of which a field is read; of some only the extents.
    buffers: BTreeSet<String>,
    stored: BTreeSet<String>,
    loaded: BTreeSet<String>,
    types: BTreeMap<String, Type>,
    elems: BTreeMap<String, Elem>,
    dims: BTreeMap<String, usize>,
    /// The distances of neighbours that are stated, by buffer and dimension.
    strides: BTreeMap<String, BTreeMap<usize, i64>>,
}

impl Facts {
    fn described(&self, name: &str) -> Option<Described> {
        Some(Described {
            elem: *self.elems.get(name)?,
            dims: *self.dims.get(name)?,
            strides: self.strides.get(name).cloned().unwrap_or_default(),
        })
    }

    fn block(&mut self, body: &[Stmt]) {
        for stmt in body {
            match &stmt.kind {
                StmtKind::Assert(condition, _) => self.assertion(condition),
                StmtKind::Let(_, value) => {
                    if let Some((call, args)) = buffer_call(value)
                        && call.starts_with("_halide_buffer_get_")
                    {
                        self.buffers
                            .extend(args.first().and_then(buffer_of).map(str::to_owned));
                    }
                    self.expr(value);
                }
                StmtKind::If(condition, then, otherwise) => {
                    self.expr(condition);
                    self.block(then);
                    self.block(otherwise);
                }
                StmtKind::For {
                    min, extent, body, ..
                } => {
                    self.expr(min);
                    self.expr(extent);
                    self.block(body);
                }
                StmtKind::Block(body) => self.block(body),
                StmtKind::Store(name, index, value) => {
                    self.stored.insert(name.clone());
                    self.expr(index);
                    self.expr(value);
                }
                StmtKind::Predicate(e) | StmtKind::Evaluate(e) => self.expr(e),
                StmtKind::Allocate { extents, .. } => extents.iter().for_each(|e| self.expr(e)),
                StmtKind::Free => {}
            }
        }
    }

    fn assertion(&mut self, condition: &Expr) {
        self.expr(condition);
        let Kind::Binary("==", a, b) = &condition.kind else {
            return;
        };
        let (Kind::Name(field), Some(value)) = (&a.kind, number(b)) else {
            return;
        };
        let Some((name, field)) = field.rsplit_once('.') else {
            return;
        };
        match (field, name.strip_suffix(".stride")) {
            ("type", _) => {
                let found = elem_of_code(value).map(|e| (name.to_owned(), e));
                self.elems.extend(found);
            }
            ("dimensions", _) => {
                let found = usize::try_from(value).ok().map(|d| (name.to_owned(), d));
                self.dims.extend(found);
            }
            (dim, Some(buffer)) => {
                if let (Ok(dim), Ok(value)) = (dim.parse(), i64::try_from(value)) {
                    let strides = self.strides.entry(buffer.to_owned()).or_default();
                    strides.insert(dim, value);
                }
            }
            _ => {}
        }
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            Kind::Typed(Stated::Value(ty), inner) => {
                if let Kind::Name(name) = &inner.kind {
                    self.types.entry(name.clone()).or_insert(*ty);
                }
                self.expr(inner);
            }
            Kind::Typed(_, inner) | Kind::Reinterpret(_, inner) | Kind::Not(inner) => {
                self.expr(inner)
            }
            Kind::Call(_, args) => args.iter().for_each(|a| self.expr(a)),
            Kind::Load(name, index, predicate) => {
                self.loaded.insert(name.clone());
                self.expr(index);
                predicate.iter().for_each(|p| self.expr(p));
            }
            Kind::Binary(_, a, b) | Kind::Let(_, a, b) => {
                self.expr(a);
                self.expr(b);
            }
            Kind::Number(_) | Kind::Decimal(_) | Kind::Text | Kind::Task(_) | Kind::Name(_) => {}
        }
    }
}

fn number(e: &Expr) -> Option<i128> {
    match &e.kind {
        Kind::Number(n) => Some(*n),
        Kind::Typed(_, inner) => number(inner),
        _ => None,
    }
}

/// The element type of a `halide_type_t` as a number: its kind, bits and lanes from the low
/// byte up.
fn elem_of_code(code: i128) -> Option<Elem> {
    let (kind, bits, lanes) = (code & 255, u32::try_from(code >> 8 & 255).ok()?, code >> 16);
    let prefix = match kind {
        0 => "i",
        1 => "u",
        2 => "f",
        4 => "bf",
        _ => return None,
    };
    if lanes != 1 {
        return None;
    }
    match (kind, bits) {
        (1, 1) => Some(Elem::Bool),
        _ => Elem::by_name(&format!("{prefix}{bits}")),
    }
}

/// A call, with or without the type of its result.
pub(super) fn buffer_call(e: &Expr) -> Option<(&str, &[Expr])> {
    match &e.kind {
        Kind::Call(name, args) => Some((name, args)),
        Kind::Typed(_, inner) => buffer_call(inner),
        _ => None,
    }
}

/// A name, with or without its type.
pub(super) fn inner_name(e: &Expr) -> Option<&str> {
    match &e.kind {
        Kind::Name(name) => Some(name),
        Kind::Typed(_, inner) => inner_name(inner),
        _ => None,
    }
}

/// The buffer of `(struct halide_buffer_t *)name.buffer`.
fn buffer_of(e: &Expr) -> Option<&str> {
    inner_name(e)?.strip_suffix(".buffer")
}

/// Whether a condition asks if only the bounds of a buffer are wanted.
pub(super) fn asks_for_bounds(e: &Expr) -> bool {
    match &e.kind {
        Kind::Call(name, _) => name == "_halide_buffer_is_bounds_query",
        Kind::Typed(_, inner) | Kind::Not(inner) => asks_for_bounds(inner),
        Kind::Binary("||", a, b) => asks_for_bounds(a) && asks_for_bounds(b),
        _ => false,
    }
}

/// The error that a check's message names, without `halide_error_`.
pub(super) fn error_of(message: &Expr) -> Option<String> {
    match &message.kind {
        Kind::Let(_, _, body) => error_of(body),
        _ => buffer_call(message)
            .and_then(|(name, _)| name.strip_prefix("halide_error_"))
            .map(str::to_owned),
    }
}

/// Halide's code of an error, as `HalideRuntime.h` numbers them; -1 is the general one.
fn code(error: &str) -> i32 {
    match error {
        "explicit_bounds_too_small" => -2,
        "bad_type" => -3,
        "access_out_of_bounds" => -4,
        "buffer_allocation_too_large" => -5,
        "buffer_extents_too_large" => -6,
        "constraints_make_required_region_smaller" => -7,
        "constraint_violated" => -8,
        "param_too_small_i64" | "param_too_small_u64" | "param_too_small_f64" => -9,
        "param_too_large_i64" | "param_too_large_u64" | "param_too_large_f64" => -10,
        "buffer_argument_is_null" => -12,
        "requirement_failed" => -27,
        "buffer_extents_negative" => -28,
        "host_is_null" => -34,
        _ => -1,
    }
}

/// A name of Halide's as one of the kernel language.
pub(super) fn plain_name(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|c| if c == '.' || c == '$' { '_' } else { c })
        .collect();
    plain.trim_start_matches('_').to_owned()
}
