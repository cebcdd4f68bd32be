//! The oracle: runs the algorithm of a checked kernel, statement by statement.
//!
//! In: a [`Kernel`] and [`Data`]. Out: the data afterwards, or an [`EvalError`] that names
//! the place and the iteration. It works on exact integers and wraps them by type; it knows
//! nothing of terms, windows or schedules, because it is what those are checked against.
//! An access outside an array and a read of an element that nothing has written are errors.

mod float;
mod ops;

use crate::ast::Direction;
use crate::index::{Index, Symbol};
use crate::tree::{
    Access, ActiveLanes, Assign, Expr, ExprKind, For, Kernel, Op, Param, Role, Stmt, SymbolKind,
    Target,
};
use semantics::span::Span;
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeMap;
use std::fmt;

/// The arguments of one run, by name; values are in the range of their type.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Data {
    /// The sizes.
    pub sizes: BTreeMap<String, i64>,
    /// The scalar parameters.
    pub scalars: BTreeMap<String, i128>,
    /// The array parameters, row-major; `out` arrays too (what they hold before).
    pub arrays: BTreeMap<String, Vec<i128>>,
}

/// Why a run stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EvalError {
    /// What happened.
    pub message: String,
    /// Where.
    pub span: Span,
    /// Sizes and loop variables at that point, by name.
    pub iteration: Vec<(String, i64)>,
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        let at: Vec<String> = self
            .iteration
            .iter()
            .map(|(n, v)| format!("{n} = {v}"))
            .collect();
        if at.is_empty() {
            Ok(())
        } else {
            write!(f, " (at {})", at.join(", "))
        }
    }
}

impl std::error::Error for EvalError {}

/// Runs a kernel.
///
/// # Errors
/// Data that do not fit the kernel, a precondition that does not hold, an access outside an
/// array, a read of something never written, an index past 64 bits.
pub fn run(kernel: &Kernel, data: &Data) -> Result<Data, EvalError> {
    let mut machine = Evaluator::new(kernel, data)?;
    machine.block(&kernel.body)?;
    let mut after = data.clone();
    let symbols = machine.symbols;
    for (array, mut buffer) in kernel.arrays.iter().zip(machine.buffers) {
        if let Role::Param(Direction::Out | Direction::InOut) = array.role {
            array.blank_padding(&|s| symbols[s.0 as usize], &mut buffer.values);
            after.arrays.insert(array.name.clone(), buffer.values);
        }
    }
    Ok(after)
}

/// One value per lane: most statements have one lane, and are run millions of times.
type Lanes = SmallVec<[i128; 1]>;

struct Buffer {
    values: Vec<i128>,
    written: Vec<bool>,
    dims: Vec<i64>,
    memory: Vec<i64>,
}

struct Evaluator<'k> {
    kernel: &'k Kernel,
    symbols: Vec<i64>,
    live: Vec<Symbol>,
    scalars: Vec<i128>,
    buffers: Vec<Buffer>,
    registers: Vec<Option<Lanes>>,
    locals: Vec<Option<(u64, Lanes)>>,
    statement: u64,
    /// Those of the partial loop around.
    active: Option<ActiveLanes>,
}

impl<'k> Evaluator<'k> {
    fn new(kernel: &'k Kernel, data: &Data) -> Result<Self, EvalError> {
        let mut machine = Evaluator {
            kernel,
            symbols: vec![0; kernel.symbols.len()],
            live: Vec::new(),
            scalars: vec![0; kernel.scalars.len()],
            buffers: Vec::new(),
            registers: vec![None; kernel.registers.len()],
            locals: vec![None; kernel.locals.len()],
            statement: 0,
            active: None,
        };
        machine.arguments(data)?;
        for condition in &kernel.requires {
            if !condition.holds(&|s| machine.symbols[s.0 as usize]) {
                return Err(machine.error("this precondition does not hold", condition.span));
            }
        }
        for array in &kernel.arrays {
            let all = |dims: &[Index]| {
                let values = dims.iter().map(|d| machine.index(d, array.span));
                values.collect::<Result<Vec<_>, _>>()
            };
            let (dims, memory) = (all(&array.dims)?, all(&array.memory_dims())?);
            let buffer = machine.buffer(array, dims, memory, data)?;
            machine.buffers.push(buffer);
        }
        Ok(machine)
    }

    fn arguments(&mut self, data: &Data) -> Result<(), EvalError> {
        let kernel = self.kernel;
        for param in &kernel.params {
            match *param {
                Param::Size(symbol) => {
                    let name = kernel.symbol_name(symbol);
                    let value = data.sizes.get(&name).copied().filter(|&v| v >= 0);
                    let error = || {
                        self.error(
                            &format!("size `{name}` is missing or negative"),
                            kernel.span,
                        )
                    };
                    self.symbols[symbol.0 as usize] = value.ok_or_else(error)?;
                    self.live.push(symbol);
                }
                Param::Scalar(id) => {
                    let scalar = &kernel.scalars[id];
                    let value = data.scalars.get(&scalar.name).copied();
                    let value = value.filter(|&v| scalar.elem.wrap(v) == v);
                    let message = format!(
                        "scalar `{}` is missing or not of type {}",
                        scalar.name, scalar.elem
                    );
                    self.scalars[id] = value.ok_or_else(|| self.error(&message, kernel.span))?;
                }
                Param::Array(_) => {}
            }
        }
        Ok(())
    }

    fn buffer(
        &self,
        array: &crate::tree::Array,
        dims: Vec<i64>,
        memory: Vec<i64>,
        data: &Data,
    ) -> Result<Buffer, EvalError> {
        let len = memory
            .iter()
            .try_fold(1i64, |n, &d| if d < 0 { None } else { n.checked_mul(d) });
        let len = len.and_then(|n| usize::try_from(n).ok());
        let Some(len) = len else {
            return Err(self.error(
                &format!("array `{}` has no possible size: {dims:?}", array.name),
                array.span,
            ));
        };
        match array.role {
            Role::Local => Ok(Buffer {
                values: vec![0; len],
                written: vec![false; len],
                dims,
                memory,
            }),
            Role::Param(direction) => {
                let values = data.arrays.get(&array.name).cloned().unwrap_or_default();
                if values.len() != len || values.iter().any(|&v| array.elem.wrap(v) != v) {
                    let message = format!(
                        "array `{}` needs {len} elements of {}",
                        array.name, array.elem
                    );
                    return Err(self.error(&message, array.span));
                }
                Ok(Buffer {
                    values,
                    written: vec![direction != Direction::Out; len],
                    dims,
                    memory,
                })
            }
        }
    }

    fn error(&self, message: &str, span: Span) -> EvalError {
        let named = |&s: &Symbol| (self.kernel.symbol_name(s), self.symbols[s.0 as usize]);
        EvalError {
            message: message.to_owned(),
            span,
            iteration: self.live.iter().map(named).collect(),
        }
    }

    fn index(&self, index: &Index, span: Span) -> Result<i64, EvalError> {
        index
            .eval(&|s| self.symbols[s.0 as usize])
            .map_err(|_| self.error("this index does not fit 64 bits", span))
    }

    fn block(&mut self, body: &[Stmt]) -> Result<(), EvalError> {
        for stmt in body {
            match stmt {
                Stmt::For(f) => self.for_loop(f)?,
                Stmt::Let(id) => {
                    self.statement += 1;
                    let value = self.expr(&self.kernel.locals[*id].value)?;
                    self.locals[*id] = Some((self.statement, value));
                }
                Stmt::Assign(a) => {
                    self.statement += 1;
                    self.assign(a)?;
                }
            }
        }
        Ok(())
    }

    fn for_loop(&mut self, f: &For) -> Result<(), EvalError> {
        let (mut x, hi) = (self.index(&f.lo, f.span)?, self.index(&f.hi, f.span)?);
        debug_assert!(self.kernel.symbols[f.var.0 as usize].kind == SymbolKind::Loop);
        self.live.push(f.var);
        if let Some(id) = f.at {
            let value = self.local(id)?;
            let found = value.first().and_then(|&v| i64::try_from(v).ok());
            if let Some(v) = found.filter(|v| (x..hi).contains(v) && (v - x) % f.step == 0) {
                self.symbols[f.var.0 as usize] = v;
                self.block(&f.body)?;
            }
            self.live.pop();
            return Ok(());
        }
        let around = self.active;
        while x < hi {
            self.symbols[f.var.0 as usize] = x;
            if f.partial {
                let (active, of) = (hi.saturating_sub(x), f.step);
                self.active = Some(ActiveLanes { active, of });
            }
            self.block(&f.body)?;
            let Some(next) = x.checked_add(f.step) else {
                break;
            };
            x = next;
        }
        self.active = around;
        self.live.pop();
        Ok(())
    }

    fn assign(&mut self, a: &Assign) -> Result<(), EvalError> {
        let value = self.expr(&a.value)?;
        let elem = a.value.ty.elem;
        let sum = |old, new| ops::apply(Op::Add, elem, &[elem, elem], &[old, new]);
        match &a.target {
            Target::Register(id) => {
                let lanes = self.kernel.registers[*id].ty.lanes;
                let mut value = broadcast(value, lanes);
                if a.accumulate {
                    let old = self.register(*id, a.span)?;
                    value = old.iter().zip(&value).map(|(&o, &v)| sum(o, v)).collect();
                }
                self.registers[*id] = Some(value);
            }
            Target::Array(access) => {
                let places = self.places(access)?;
                let value = broadcast(value, access.lanes);
                for (&place, &v) in places.iter().zip(&value) {
                    if a.accumulate && !self.buffers[access.array].written[place] {
                        return Err(self.unwritten(access));
                    }
                    let buffer = &mut self.buffers[access.array];
                    buffer.values[place] = if a.accumulate {
                        sum(buffer.values[place], v)
                    } else {
                        v
                    };
                    buffer.written[place] = true;
                }
            }
        }
        Ok(())
    }

    fn register(&self, id: usize, span: Span) -> Result<Lanes, EvalError> {
        let name = &self.kernel.registers[id].name;
        self.registers[id].clone().ok_or_else(|| {
            self.error(
                &format!("`{name}` is read before anything is written to it"),
                span,
            )
        })
    }

    fn unwritten(&self, access: &Access) -> EvalError {
        let name = &self.kernel.arrays[access.array].name;
        self.error(
            &format!("an element of `{name}` is read before anything is written to it"),
            access.span,
        )
    }

    /// The positions of an access in its array, of the lanes that are active.
    fn places(&self, access: &Access) -> Result<SmallVec<[usize; 1]>, EvalError> {
        let buffer = &self.buffers[access.array];
        let first = access
            .index
            .iter()
            .map(|i| self.index(i, access.span))
            .collect::<Result<SmallVec<[i64; 4]>, _>>()?;
        let share = |active: ActiveLanes| active.share(access.lanes);
        let lanes = self.active.map_or(access.lanes, share);
        let mut out = SmallVec::with_capacity(lanes as usize);
        for lane in 0..i64::from(lanes) {
            let mut place = 0i64;
            for (d, (&i, &len)) in first.iter().zip(&buffer.dims).enumerate() {
                let mut i = i;
                if d == access.dim {
                    i = i.saturating_add(lane.saturating_mul(access.stride));
                    if access.clamped {
                        i = i.min(len - 1).max(0);
                    }
                }
                if i < 0 || i >= len {
                    let name = &self.kernel.arrays[access.array].name;
                    let message = format!(
                        "index {i} is outside dimension {d} of `{name}`, which has {len} elements"
                    );
                    return Err(self.error(&message, access.span));
                }
                place = place * buffer.memory[d] + i;
            }
            out.push(usize::try_from(place).expect("a place inside an array is not negative"));
        }
        Ok(out)
    }

    fn expr(&mut self, e: &Expr) -> Result<Lanes, EvalError> {
        match &e.kind {
            ExprKind::Const(values) => Ok(Lanes::from_slice(values)),
            ExprKind::Scalar(id) => Ok(smallvec![self.scalars[*id]]),
            ExprKind::Register(id) => self.register(*id, e.span),
            ExprKind::Local(id) => self.local(*id),
            ExprKind::Index(index) => {
                let value = i128::from(self.index(index, e.span)?);
                Ok(smallvec![e.ty.elem.wrap(value)])
            }
            ExprKind::Load(access) => {
                let places = self.places(access)?;
                let buffer = &self.buffers[access.array];
                let set = self.kernel.arrays[access.array].placement.unset
                    || places.iter().all(|&p| buffer.written[p]);
                if !set {
                    return Err(self.unwritten(access));
                }
                let mut values: Lanes = places.iter().map(|&p| buffer.values[p]).collect();
                // No active lane uses what is not loaded.
                values.resize(access.lanes as usize, 0);
                Ok(values)
            }
            ExprKind::Apply(op, args) => {
                let values = args
                    .iter()
                    .map(|a| self.expr(a))
                    .collect::<Result<SmallVec<[Lanes; 3]>, _>>()?;
                let from: SmallVec<[_; 3]> = args.iter().map(|a| a.ty.elem).collect();
                let lane = |j: usize| {
                    let x: SmallVec<[i128; 3]> = values
                        .iter()
                        .map(|v| if v.len() == 1 { v[0] } else { v[j] })
                        .collect();
                    ops::apply(*op, e.ty.elem, &from, &x)
                };
                Ok((0..e.ty.lanes as usize).map(lane).collect())
            }
            ExprKind::Reduce(reduction, arg, n) => {
                let value = broadcast(self.expr(arg)?, arg.ty.lanes);
                let reduce = |chunk: &[i128]| {
                    let combine = |a, &b| ops::reduce(*reduction, e.ty.elem, a, b);
                    chunk[1..].iter().fold(chunk[0], combine)
                };
                Ok(value.chunks(*n as usize).map(reduce).collect())
            }
            ExprKind::Shuffle(parts, lanes) => {
                let mut all = Vec::new();
                for part in parts {
                    all.extend(broadcast(self.expr(part)?, part.ty.lanes));
                }
                Ok(lanes.iter().map(|&l| all[l as usize]).collect())
            }
        }
    }

    fn local(&mut self, id: usize) -> Result<Lanes, EvalError> {
        let local = &self.kernel.locals[id];
        match &self.locals[id] {
            Some((when, value)) if local.stated || *when == self.statement => Ok(value.clone()),
            _ => {
                let value = self.expr(&local.value)?;
                self.locals[id] = Some((self.statement, value.clone()));
                Ok(value)
            }
        }
    }
}

/// A value with the given number of lanes: one lane is repeated.
fn broadcast(value: Lanes, lanes: u32) -> Lanes {
    if value.len() == 1 {
        smallvec![value[0]; lanes as usize]
    } else {
        value
    }
}
