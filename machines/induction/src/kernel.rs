//! Kernels as programs of an engine.
//!
//! In: a kernel with the values of its sizes. Out: what it does to its arrays, executed for all rounds
//! of its loops at once. What an operation is to terms is said by `lowering`. The lanes of a vector are
//! values each by itself. Loops that run as data say are refused.

use crate::engine::Engine;
use crate::linear::Linear;
use crate::region::inside;
use crate::space::Space;
use crate::state::Array;
use crate::stop::Stop;
use crate::value::Value;
use ::kernel::ast::Direction;
use ::kernel::index::{Index, Symbol};
use ::kernel::tree::{
    Access, Assign, Expr, ExprKind, For, Id, Kernel, Op, Reduction, Role, Stmt, Target,
};
use ::kernel::types::Elem;
use lowering::operation;
use semantics::term::Term;
use std::collections::BTreeMap;

/// The arrays of a kernel whose sizes are numbers.
///
/// # Errors
/// When a dimension is none.
pub fn arrays(kernel: &Kernel) -> Result<Vec<Array>, Stop> {
    let array = |a: &::kernel::tree::Array| {
        let dims = a.memory_dims();
        let elements = dims
            .iter()
            .try_fold(1_i64, |n, d| n.checked_mul(d.constant_value()?));
        Ok(Array {
            bits: a.elem.bits(),
            elements: elements.ok_or_else(|| Stop::because("an array has no size"))?,
            given: a.role != Role::Local,
            written: a.role != Role::Param(Direction::In),
            holds: None,
        })
    };
    kernel.arrays.iter().map(array).collect()
}

/// Lanes of names.
type Names = BTreeMap<(Id, u32), Term>;

/// A kernel that is executed.
struct Run<'k> {
    kernel: &'k Kernel,
    /// The values of loop variables.
    symbols: BTreeMap<Symbol, Linear>,
    /// The values of names that statements compute, each lane by itself.
    locals: Names,
}

/// Executes the statements of a kernel whose sizes are numbers.
///
/// # Errors
/// What is not known of it.
pub fn run(kernel: &Kernel, body: &[Stmt], engine: &mut Engine<'_>) -> Result<(), Stop> {
    let mut run = Run {
        kernel,
        symbols: BTreeMap::new(),
        locals: BTreeMap::new(),
    };
    run.block(body, engine)
}

impl Run<'_> {
    fn block(&mut self, body: &[Stmt], engine: &mut Engine<'_>) -> Result<(), Stop> {
        body.iter().try_for_each(|stmt| match stmt {
            Stmt::For(f) => self.repeated(f, engine),
            Stmt::Let(id) => {
                let value = &self.kernel.locals[*id].value;
                for lane in 0..value.ty.lanes {
                    let term = self.expression(value, lane, &mut Names::new(), engine)?;
                    self.locals.insert((*id, lane), term);
                }
                Ok(())
            }
            Stmt::Assign(assign) => self.assign(assign, engine),
        })
    }

    fn repeated(&mut self, f: &For, engine: &mut Engine<'_>) -> Result<(), Stop> {
        if f.at.is_some() || f.partial {
            return Err(Stop::because("a loop runs as data say"));
        }
        let (lo, hi) = (self.index(&f.lo, engine)?, self.index(&f.hi, engine)?);
        let length = hi.minus(&lo)?;
        let length = length.as_constant().ok_or_else(|| Stop::depends(&length))?;
        let rounds = length.max(0).unsigned_abs().div_ceil(f.step.unsigned_abs());
        let rounds = i64::try_from(rounds).map_err(|_| Stop::because("a loop runs too often"))?;
        engine.repeat(rounds, &mut |engine, k| {
            let value = k.times(f.step)?.plus(&lo)?;
            self.symbols.insert(f.var, value);
            self.block(&f.body, engine)
        })
    }

    fn assign(&mut self, assign: &Assign, engine: &mut Engine<'_>) -> Result<(), Stop> {
        let ty = assign.value.ty;
        let (mut names, mut all) = (Names::new(), Vec::new());
        for lane in 0..self.kernel.lanes(&assign.target) {
            let value = self.expression(&assign.value, lane, &mut names, engine)?;
            let (space, at) = match &assign.target {
                Target::Register(id) => (register(*id), in_register(lane, ty.elem)),
                Target::Array(access) => self.place(access, lane, engine)?,
            };
            all.push((space, at, value));
        }
        // Every lane is computed before any is written.
        for (space, at, mut value) in all {
            let width = value.width();
            if assign.accumulate {
                let old = engine.read(space, &at, width)?;
                let old = engine.leaves.term(&old, width);
                value = operation(Op::Add, ty.elem, &[ty.elem, ty.elem], &[old, value]);
            }
            engine.write(space, &at, width, Value::Term(value))?;
        }
        Ok(())
    }

    /// Where a lane of an access lies.
    fn place(
        &self,
        access: &Access,
        lane: u32,
        engine: &Engine<'_>,
    ) -> Result<(Space, Linear), Stop> {
        let array = &self.kernel.arrays[access.array];
        let mut at = Linear::default();
        for ((k, index), dim) in access.index.iter().enumerate().zip(array.memory_dims()) {
            let all = dim.constant_value();
            let all = all.ok_or_else(|| Stop::because("an array has no size"))?;
            let mut index = self.index(index, engine)?;
            if k == access.dim && lane > 0 {
                let far = access.stride.checked_mul(i64::from(lane));
                index = index.offset(far.ok_or_else(|| Stop::because("a lane is far away"))?)?;
            }
            let used = array.dims[k].constant_value().unwrap_or(all);
            if access.clamped && k == access.dim {
                index = clamped(&index, used - 1, engine)?;
            }
            inside(&engine.leaves.counters, &index, used)?;
            at = at.times(all)?.plus(&index)?;
        }
        let at = at.times(i64::from(array.elem.bits()))?;
        Ok((Space::Array(number(access.array)), at))
    }

    /// The value of an index.
    fn index(&self, index: &Index, engine: &Engine<'_>) -> Result<Linear, Stop> {
        let both = |a: &Index, b: &Index| Ok((self.index(a, engine)?, self.index(b, engine)?));
        let counters = &engine.leaves.counters;
        match index {
            Index::Const(n) => Ok(Linear::constant(*n)),
            Index::Sym(symbol) => {
                let known = self.symbols.get(symbol).cloned();
                known.ok_or_else(|| Stop::because("a size has no value"))
            }
            Index::Add(a, b) => both(a, b).and_then(|(a, b)| a.plus(&b)),
            Index::Mul(a, b) => {
                let (a, b) = both(a, b)?;
                match (a.as_constant(), b.as_constant()) {
                    (_, Some(n)) => a.times(n),
                    (Some(n), _) => b.times(n),
                    _ => Err(Stop::because("loop variables are multiplied")),
                }
            }
            Index::Div(a, b) | Index::Mod(a, b) => {
                let (a, b) = both(a, b)?;
                let by = b.as_constant().filter(|n| *n > 0);
                let by = by.ok_or_else(|| Stop::because("a loop variable divides"))?;
                let most = i128::from(by) - 1;
                let (whole, left) = crate::region::divided(counters, &a, by, most)?;
                Ok(match index {
                    Index::Div(..) => whole,
                    _ => left,
                })
            }
            Index::Min(a, b) | Index::Max(a, b) => {
                let (a, b) = both(a, b)?;
                let least = at_most(&a, &b, engine)? == matches!(index, Index::Min(..));
                Ok(if least { a } else { b })
            }
        }
    }

    /// A lane of an expression; what has one is the same in all.
    fn expression(
        &self,
        e: &Expr,
        lane: u32,
        names: &mut Names,
        engine: &mut Engine<'_>,
    ) -> Result<Term, Stop> {
        let bits = e.ty.elem.bits();
        let lane = if e.ty.lanes == 1 { 0 } else { lane };
        match &e.kind {
            ExprKind::Const(values) => {
                let own = values.get(lane as usize).unwrap_or(&values[0]);
                Ok(Term::bv(bits, *own))
            }
            ExprKind::Register(id) => {
                let value = engine.read(register(*id), &in_register(lane, e.ty.elem), bits)?;
                Ok(engine.leaves.term(&value, bits))
            }
            ExprKind::Local(id) => {
                let key = (*id, lane);
                if let Some(&known) = self.locals.get(&key).or(names.get(&key)) {
                    return Ok(known);
                }
                let value = &self.kernel.locals[*id].value;
                let term = self.expression(value, lane, names, engine)?;
                names.insert(key, term);
                Ok(term)
            }
            ExprKind::Load(access) => {
                let (space, at) = self.place(access, lane, engine)?;
                let value = engine.read(space, &at, bits)?;
                Ok(engine.leaves.term(&value, bits))
            }
            ExprKind::Index(index) => {
                let value = self.index(index, engine)?;
                Ok(engine.leaves.number(&value, bits))
            }
            ExprKind::Apply(op, args) => {
                if *op == Op::Select
                    && let Some(holds) = self.decided(&args[0], engine)?
                {
                    let chosen = if holds { &args[1] } else { &args[2] };
                    return self.expression(chosen, lane, names, engine);
                }
                let terms = args.iter().map(|a| self.expression(a, lane, names, engine));
                let terms = terms.collect::<Result<Vec<_>, _>>()?;
                let from: Vec<_> = args.iter().map(|a| a.ty.elem).collect();
                Ok(operation(*op, e.ty.elem, &from, &terms))
            }
            ExprKind::Reduce(how, arg, n) => self.reduced(*how, (arg, lane * n, *n), names, engine),
            ExprKind::Shuffle(parts, order) => {
                let mut at = order[lane as usize];
                for part in parts {
                    if at < part.ty.lanes {
                        return self.expression(part, at, names, engine);
                    }
                    at -= part.ty.lanes;
                }
                Err(Stop::because("a lane is chosen that is none"))
            }
            _ => Err(Stop::because("this is no arithmetic on elements of arrays")),
        }
    }

    /// So many lanes from one on, as one.
    fn reduced(
        &self,
        how: Reduction,
        (arg, first, n): (&Expr, u32, u32),
        names: &mut Names,
        engine: &mut Engine<'_>,
    ) -> Result<Term, Stop> {
        let elem = arg.ty.elem;
        if elem.format().is_some() {
            return Err(Stop::because("floats in lanes are reduced"));
        }
        let op = match how {
            Reduction::Add => Op::Add,
            Reduction::Min => Op::Min,
            Reduction::Max => Op::Max,
        };
        let mut all = self.expression(arg, first, names, engine)?;
        for lane in first + 1..first + n {
            let next = self.expression(arg, lane, names, engine)?;
            all = operation(op, elem, &[elem, elem], &[all, next]);
        }
        Ok(all)
    }

    /// Whether a comparison of indices holds, where it is one.
    fn decided(&self, e: &Expr, engine: &mut Engine<'_>) -> Result<Option<bool>, Stop> {
        let ExprKind::Apply(op, args) = &e.kind else {
            return Ok(None);
        };
        let side = |e: &Expr| -> Result<Option<Linear>, Stop> {
            match &e.kind {
                ExprKind::Index(index) => self.index(index, engine).map(Some),
                ExprKind::Const(v) => Ok(i64::try_from(v[0]).ok().map(Linear::constant)),
                _ => Ok(None),
            }
        };
        let [a, b] = &args[..] else { return Ok(None) };
        let (Some(x), Some(y)) = (side(a)?, side(b)?) else {
            return Ok(None);
        };
        // Indices are exact, and compared as they are when both fit the type.
        let elem = a.ty.elem;
        for side in [&x, &y] {
            let (low, high) = engine.leaves.counters.range(side);
            if elem.wrap(low) != low || elem.wrap(high) != high {
                return Ok(None);
            }
        }
        Ok(match op {
            Op::Lt => Some(!at_most(&y, &x, engine)?),
            Op::Le => Some(at_most(&x, &y, engine)?),
            Op::Eq | Op::Ne => {
                let same = at_most(&x, &y, engine)? && at_most(&y, &x, engine)?;
                Some(same == (*op == Op::Eq))
            }
            _ => None,
        })
    }
}

/// Whether one sum is at most another; rounds are cut where it is for some.
pub(crate) fn at_most(a: &Linear, b: &Linear, engine: &Engine<'_>) -> Result<bool, Stop> {
    let apart = b.minus(a)?;
    let (low, high) = engine.leaves.counters.range(&apart);
    match (low >= 0, high < 0) {
        (true, _) => Ok(true),
        (_, true) => Ok(false),
        _ => match inside(&engine.leaves.counters, &apart, i64::MAX) {
            Ok(()) => Ok(true),
            Err(stop) => Err(stop),
        },
    }
}

/// An index that is taken into an array.
fn clamped(index: &Linear, last: i64, engine: &Engine<'_>) -> Result<Linear, Stop> {
    let (first, last) = (Linear::default(), Linear::constant(last));
    if at_most(index, &first, engine)? {
        return Ok(first);
    }
    Ok(match at_most(index, &last, engine)? {
        true => index.clone(),
        false => last,
    })
}

/// Where a lane lies in a register.
fn in_register(lane: u32, elem: Elem) -> Linear {
    Linear::constant(i64::from(lane) * i64::from(elem.bits()))
}

fn register(id: Id) -> Space {
    Space::Register(number(id))
}

pub(crate) fn number(id: Id) -> u32 {
    u32::try_from(id).unwrap_or(u32::MAX)
}
