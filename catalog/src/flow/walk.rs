//! A term read for where its bits are from.
//!
//! In: a term over operands, some of them constants. Out: the [`Part`]s of its value. Loops
//! run with their indices as numbers; an operator of which all arguments are constants has
//! the interpreter's value; anything else depends on what it reads.

use super::part::{Part, Range, Ranges, What, bitwise, constant, either, join, slice, zip};
use semantics::bits::Bits;
use semantics::op::{Op, OpCode};
use semantics::sort::Sort;
use semantics::term::{Kind, Term};
use semantics::value::Value;
use std::collections::HashMap;
use std::rc::Rc;

/// A write to memory: where, and what.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Write {
    /// The operand that is the address, and bytes from there; nothing when it is not known.
    pub(crate) at: Option<(usize, i64)>,
    pub(crate) parts: Vec<Part>,
}

/// A value.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Abstract {
    Bits(Vec<Part>),
    Int(Option<i64>, Ranges),
    Bool(Option<bool>, Ranges),
    Mem(Vec<Write>),
}

impl Abstract {
    /// All that it depends on.
    fn ranges(&self) -> Ranges {
        match self {
            Abstract::Bits(parts) => reads(parts),
            Abstract::Int(_, on) | Abstract::Bool(_, on) => on.clone(),
            Abstract::Mem(writes) => writes.iter().flat_map(|w| reads(&w.parts)).collect(),
        }
    }

    fn bits(&self) -> &[Part] {
        match self {
            Abstract::Bits(parts) => parts,
            _ => &[],
        }
    }

    /// Its value when that is a constant.
    fn value(&self) -> Option<Value> {
        match self {
            Abstract::Bits(parts) => constant(parts).map(Value::Bv),
            Abstract::Int(Some(n), _) => Some(Value::Int(*n)),
            Abstract::Bool(Some(b), _) => Some(Value::Bool(*b)),
            _ => None,
        }
    }

    fn of(value: Value) -> Abstract {
        match value {
            Value::Bv(bits) => Abstract::Bits(vec![Part::known(bits)]),
            Value::Int(n) => Abstract::Int(Some(n), Ranges::new()),
            Value::Bool(b) => Abstract::Bool(Some(b), Ranges::new()),
            Value::Mem(_) => Abstract::Mem(Vec::new()),
        }
    }
}

fn reads(parts: &[Part]) -> Ranges {
    let each = parts
        .iter()
        .flat_map(|p| p.from().into_iter().chain(p.by.clone()));
    each.collect()
}

/// The walk over one term.
pub(crate) struct Walk<'a> {
    /// Operands by name: their number.
    operands: HashMap<&'a str, usize>,
    /// Operands that are constants.
    constants: HashMap<&'a str, Bits>,
    /// Values of bound variables, the innermost last.
    bound: Vec<Rc<Abstract>>,
    /// What was read, for each binder around.
    memo: Vec<HashMap<Term, Rc<Abstract>>>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(names: &[&'a str], constants: &[(&'a str, Bits)]) -> Walk<'a> {
        Walk {
            operands: names.iter().enumerate().map(|(k, &n)| (n, k)).collect(),
            constants: constants.iter().cloned().collect(),
            bound: Vec::new(),
            memo: vec![HashMap::new()],
        }
    }

    /// The number of the memory that an operand points to.
    fn memory(&self, pointer: usize) -> usize {
        self.operands.len() + pointer
    }

    /// The number of memory at a place that is not known.
    fn anywhere(&self) -> usize {
        2 * self.operands.len()
    }

    pub(crate) fn of(&mut self, t: Term) -> Rc<Abstract> {
        let scope = match t.binders() {
            0 => 0,
            _ => self.memo.len() - 1,
        };
        if let Some(done) = self.memo[scope].get(&t) {
            return done.clone();
        }
        let found = Rc::new(self.read(t));
        self.memo[scope].insert(t, found.clone());
        found
    }

    fn read(&mut self, t: Term) -> Abstract {
        match t.kind() {
            Kind::Var { name, sort } => self.variable(name, *sort),
            Kind::Bv(bits) => Abstract::of(Value::Bv(bits.clone())),
            Kind::Bool(b) => Abstract::of(Value::Bool(*b)),
            Kind::Int(n) => Abstract::of(Value::Int(*n)),
            Kind::Bound { depth, .. } => {
                let at = self.bound.len() - 1 - *depth as usize;
                (*self.bound[at]).clone()
            }
            Kind::App { op, args } => {
                let args: Vec<Rc<Abstract>> = args.iter().map(|&a| self.of(a)).collect();
                self.apply(op, &args, t.sort())
            }
            Kind::Map { count, body } => {
                let mut all = Vec::new();
                for k in 0..*count {
                    let index = Abstract::of(Value::Int(i64::from(k)));
                    all.extend_from_slice(self.under(&[Rc::new(index)], *body).bits());
                }
                Abstract::Bits(join(all))
            }
            Kind::Fold { count, init, body } => {
                let mut sum = self.of(*init);
                for k in 0..*count {
                    let index = Rc::new(Abstract::of(Value::Int(i64::from(k))));
                    sum = self.under(&[index, sum], *body);
                }
                (*sum).clone()
            }
        }
    }

    /// A term below a binder, with the values that it binds, the innermost last.
    fn under(&mut self, values: &[Rc<Abstract>], body: Term) -> Rc<Abstract> {
        self.bound.extend_from_slice(values);
        self.memo.push(HashMap::new());
        let found = self.of(body);
        self.memo.pop();
        self.bound.truncate(self.bound.len() - values.len());
        found
    }

    fn variable(&self, name: &str, sort: Sort) -> Abstract {
        if let Some(bits) = self.constants.get(name) {
            return Abstract::of(Value::Bv(bits.clone()));
        }
        match (sort, self.operands.get(name)) {
            (Sort::Bv(width), Some(&operand)) => {
                Abstract::Bits(vec![Part::operand(operand, 0, width)])
            }
            (Sort::Mem, _) => Abstract::Mem(Vec::new()),
            (Sort::Bv(width), None) => Abstract::Bits(vec![Part::mixed(
                width,
                Ranges::new(),
                false,
                Ranges::new(),
            )]),
            (Sort::Int, _) => Abstract::Int(None, Ranges::new()),
            (Sort::Bool, _) => Abstract::Bool(None, Ranges::new()),
        }
    }

    fn apply(&self, op: &Op, args: &[Rc<Abstract>], sort: Sort) -> Abstract {
        let values: Option<Vec<Value>> = args.iter().map(|a| a.value()).collect();
        if let Some(values) = values
            && op.is_evaluable()
        {
            return Abstract::of(op.eval(&values));
        }
        let x = |k: usize| args[k].bits();
        let known = |k: usize| args[k].value();
        let whole = |parts: Vec<Part>| Abstract::Bits(join(parts));
        match op.code {
            OpCode::Ite => self.choice(args),
            OpCode::Concat => whole(args.iter().rev().flat_map(|a| a.bits()).cloned().collect()),
            OpCode::Extract | OpCode::Slice | OpCode::Elem => {
                let width = op.params[0];
                let step = if op.code == OpCode::Elem { width } else { 1 };
                match known(1).and_then(|v| offset(&v, step)) {
                    Some(lo) => whole(slice(x(0), lo, width)),
                    None => whole(vec![Part::mixed(
                        width,
                        args[0].ranges(),
                        x(0).iter().all(|p| p.moved),
                        args[1].ranges(),
                    )]),
                }
            }
            OpCode::Zext => whole(slice(x(0), 0, op.params[0])),
            OpCode::Sext => whole(extended(x(0), op.params[0])),
            OpCode::BvNot => whole(x(0).iter().map(complemented).collect()),
            OpCode::BvAnd => whole(zip(x(0), x(1), &|a, b| bitwise(a, b, true, Some(false)))),
            OpCode::BvOr => whole(zip(x(0), x(1), &|a, b| bitwise(a, b, false, Some(true)))),
            OpCode::BvXor => whole(zip(x(0), x(1), &|a, b| bitwise(a, b, false, None))),
            OpCode::BvShl | OpCode::BvLshr | OpCode::Rotl | OpCode::Rotr => {
                let amount = known(1).and_then(|v| offset(&v, 1));
                match (amount, sort.width()) {
                    (Some(by), Some(width)) => whole(shifted(op.code, x(0), by, width)),
                    _ => anything(args, sort),
                }
            }
            OpCode::BvAdd => match address(x(0), known(1)).or_else(|| address(x(1), known(0))) {
                Some(part) => whole(vec![part]),
                None => anything(args, sort),
            },
            OpCode::Read => self.load(args, op.params[0] * 8),
            OpCode::Write => store(args),
            _ => anything(args, sort),
        }
    }

    fn choice(&self, args: &[Rc<Abstract>]) -> Abstract {
        if let Abstract::Bool(Some(b), _) = *args[0] {
            return (*args[if b { 1 } else { 2 }]).clone();
        }
        let by = args[0].ranges();
        match (&*args[1], &*args[2]) {
            (Abstract::Bits(a), Abstract::Bits(b)) => {
                Abstract::Bits(zip(a, b, &|a, b| either(a, b, &by)))
            }
            (Abstract::Mem(a), Abstract::Mem(b)) => Abstract::Mem(merged(a, b, &by)),
            (a, b) => {
                let all = args.iter().flat_map(|a| a.ranges()).collect();
                match (a, a == b) {
                    (_, true) => a.clone(),
                    (Abstract::Bool(..), _) => Abstract::Bool(None, all),
                    _ => Abstract::Int(None, all),
                }
            }
        }
    }

    /// A read from memory: a piece of what the operand points to, or of what was written.
    fn load(&self, args: &[Rc<Abstract>], width: u32) -> Abstract {
        let by = args[1].ranges();
        let Abstract::Mem(writes) = &*args[0] else {
            return anything(args, Sort::Bv(width));
        };
        let Some((operand, offset)) = place(args[1].bits()) else {
            let memory = Range {
                operand: self.anywhere(),
                lo: 0,
                width,
            };
            let part = Part::mixed(width, [memory].into(), true, by);
            return Abstract::Bits(vec![part]);
        };
        let bytes = i64::from(width / 8);
        let touches = |w: &&Write| match w.at {
            Some((o, at)) => {
                let end = at + i64::from(w.parts.iter().map(|p| p.width).sum::<u32>() / 8);
                o != operand || (at < offset + bytes && offset < end)
            }
            None => true,
        };
        match (writes.iter().rev().find(touches), u32::try_from(offset)) {
            (None, Ok(offset)) => {
                let part = Part::operand(self.memory(operand), offset * 8, width);
                Abstract::Bits(vec![part])
            }
            (Some(w), _) if w.at == Some((operand, offset)) => {
                Abstract::Bits(slice(&w.parts, 0, width))
            }
            _ => anything(args, Sort::Bv(width)),
        }
    }
}

/// A constant index as an offset in bits.
fn offset(value: &Value, step: u32) -> Option<u32> {
    let n = match value {
        Value::Int(n) => u32::try_from(*n).ok()?,
        Value::Bv(bits) => u32::try_from(bits.to_u64()?).ok()?,
        _ => return None,
    };
    n.checked_mul(step).filter(|&n| n < 1 << 30)
}

fn extended(parts: &[Part], width: u32) -> Vec<Part> {
    let has: u32 = parts.iter().map(|p| p.width).sum();
    let mut out = parts.to_vec();
    if width > has {
        let sign = reads(&slice(parts, has - 1, 1));
        out.push(Part::mixed(width - has, sign, false, Ranges::new()));
    }
    out
}

fn complemented(part: &Part) -> Part {
    let (what, moved) = match &part.what {
        What::Known(bits) => (What::Known(bits.not()), true),
        What::Address { .. } => (What::Mixed { from: part.from() }, false),
        other => (other.clone(), false),
    };
    Part {
        what,
        moved,
        ..part.clone()
    }
}

fn shifted(code: OpCode, parts: &[Part], by: u32, width: u32) -> Vec<Part> {
    let zeros = |n: u32| Part::known(Bits::zero(n));
    let around = |by: u32| match by % width {
        0 => parts.to_vec(),
        by => [slice(parts, width - by, by), slice(parts, 0, width - by)].concat(),
    };
    match code {
        OpCode::Rotl => around(by),
        OpCode::Rotr => around(width - by % width),
        _ if by == 0 => parts.to_vec(),
        _ if by >= width => vec![zeros(width)],
        OpCode::BvShl => [vec![zeros(by)], slice(parts, 0, width - by)].concat(),
        _ => [slice(parts, by, width - by), vec![zeros(by)]].concat(),
    }
}

/// The place in memory that an address is.
fn place(parts: &[Part]) -> Option<(usize, i64)> {
    let [part] = parts else { return None };
    match &part.what {
        What::Aligned { from } if part.moved && part.by.is_empty() && from.len() == 1 => {
            from.iter().next().filter(|f| f.1 == 0).map(|f| (f.0, 0))
        }
        What::Address { operand, offset } => Some((*operand, *offset)),
        _ => None,
    }
}

/// The sum of an address and a constant.
fn address(parts: &[Part], constant: Option<Value>) -> Option<Part> {
    let Some(Value::Bv(bits)) = constant else {
        return None;
    };
    let (operand, offset) = place(parts)?;
    let width = bits.width();
    let more = i64::try_from(bits.to_i128()?).ok()?;
    (width == 64).then(|| Part {
        width,
        what: What::Address {
            operand,
            offset: offset.wrapping_add(more),
        },
        moved: false,
        by: Ranges::new(),
    })
}

fn store(args: &[Rc<Abstract>]) -> Abstract {
    let mut writes = match &*args[0] {
        Abstract::Mem(writes) => writes.clone(),
        _ => Vec::new(),
    };
    let at = place(args[1].bits());
    writes.retain(|w| at.is_none() || w.at != at);
    writes.push(Write {
        at,
        parts: args[2].bits().to_vec(),
    });
    Abstract::Mem(writes)
}

/// A choice between two memories that begin alike.
fn merged(a: &[Write], b: &[Write], by: &Ranges) -> Vec<Write> {
    let same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let mut out = a[..same].to_vec();
    for write in a[same..].iter().chain(&b[same..]) {
        let mut write = write.clone();
        for part in &mut write.parts {
            part.by.extend(by.iter().copied());
        }
        out.push(write);
    }
    out
}

/// What is known of a result when nothing is known of the operator.
fn anything(args: &[Rc<Abstract>], sort: Sort) -> Abstract {
    let all = || args.iter().flat_map(|a| a.ranges()).collect::<Ranges>();
    match sort {
        Sort::Bv(width) => {
            let parts = args.iter().flat_map(|a| a.bits());
            let by = parts.clone().flat_map(|p| p.by.iter().copied()).collect();
            let bits: Ranges = parts.flat_map(Part::from).collect();
            let others = args.iter().filter(|a| !matches!(***a, Abstract::Bits(_)));
            let from = others.flat_map(|a| a.ranges()).chain(bits).collect();
            Abstract::Bits(vec![Part::mixed(width, from, false, by)])
        }
        Sort::Bool => Abstract::Bool(None, all()),
        Sort::Int => Abstract::Int(None, all()),
        Sort::Mem => Abstract::Mem(vec![Write {
            at: None,
            parts: Vec::new(),
        }]),
    }
}
