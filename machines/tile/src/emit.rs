//! Code of the host: loops, addresses, scalar statements, with tile instructions in between.
//!
//! In: [`NestNode`]s, registers of tiles, registers with the addresses of arrays, which are not
//! changed. Out: machine instructions with branches. Addresses are computed before the loop as far as they do not depend on it; inside
//! a loop that is incremental they move on by a constant, otherwise the rest is added each
//! time. Where registers run out, what is a constant or a sum of loop variables is computed again
//! where it is used. A value that a condition chooses is computed behind a branch. Integers of up to 32
//! bits are what scalar code can compute.

mod branches;
mod counted;
mod division;
mod exact;
mod expression;
mod full;
mod products;

use crate::error::MappingError;
use crate::host::{Binary, Branch, Host, Known};
use crate::nest::{Loop, NestNode, TileOp, place};
use crate::program::Placed;
use crate::webs::Chosen;
use kernel::index::{Index, Linear, Symbol};
use kernel::lia::Facts;
use kernel::tree::{Access, Assign, Expr, ExprKind, Id, Kernel, Stmt, Target};
use semantics::machine::Machine;
use semantics::span::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Registers that are kept for what is computed in a statement.
const KEPT_BACK: usize = 6;

/// A scalar register.
type Reg = i64;

/// Accesses that lie a constant apart: the array, and the coefficients of loops.
type Group = (Id, Vec<(Symbol, i64)>);

/// Emits code.
pub(crate) struct Emit<'a> {
    pub(crate) kernel: &'a Kernel,
    pub(crate) machine: &'a Machine,
    pub(crate) host: &'a Host,
    pub(crate) sizes: &'a BTreeMap<Symbol, i64>,
    /// The registers that hold where arrays begin.
    pub(crate) bases: &'a BTreeMap<Id, Reg>,
    pub(crate) scalars: &'a BTreeMap<Id, i64>,
    pub(crate) chosen: &'a Chosen,
    /// The nodes before which all must be done.
    pub(crate) fences: &'a BTreeSet<usize>,
    pub(crate) code: Vec<Placed>,
    free: Vec<Reg>,
    loops: BTreeMap<Symbol, Reg>,
    locals: BTreeMap<Id, Reg>,
    registers: BTreeMap<Id, Reg>,
    /// What is computed before loops: by group, and for the constant of the group.
    pointers: Vec<Pointer>,
    constants: BTreeMap<i64, Reg>,
    facts: Facts,
    /// What is computed again rather than kept.
    tight: Tight,
    /// Labels, and jumps to them: the instruction, the operand.
    labels: Vec<Option<usize>>,
    jumps: Vec<(usize, usize)>,
    ops: usize,
}

/// What is computed again where it is used, for want of registers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Tight {
    /// Nothing.
    No,
    /// Where loops around other loops end.
    Ends,
    /// Where any loop ends, and strides.
    All,
}

/// A register with a part of an address.
#[derive(Clone, Debug)]
struct Pointer {
    group: Group,
    register: Reg,
    /// The loops whose share is not in it.
    without: Vec<Symbol>,
    /// In bytes from the beginning of the array.
    constant: i64,
}

impl<'a> Emit<'a> {
    pub(crate) fn new(
        context: (&'a Kernel, &'a Machine, &'a Host),
        sizes: &'a BTreeMap<Symbol, i64>,
        bases: &'a BTreeMap<Id, Reg>,
        scalars: &'a BTreeMap<Id, i64>,
        chosen: &'a Chosen,
        fences: &'a BTreeSet<usize>,
        tight: Tight,
    ) -> Emit<'a> {
        let (kernel, machine, host) = context;
        let mut facts = kernel::bounds::assumptions(kernel);
        for (&symbol, &value) in sizes {
            facts.add_at_most(&Index::Sym(symbol), &Index::Const(value));
            facts.add_at_most(&Index::Const(value), &Index::Sym(symbol));
        }
        let taken: Vec<u32> = bases
            .values()
            .filter_map(|b| u32::try_from(*b).ok())
            .collect();
        // The last is taken first: those that a function need not keep.
        let free = machine
            .abi
            .as_ref()
            .map_or_else(Vec::new, |abi| abi.free(&taken));
        Emit {
            kernel,
            machine,
            host,
            sizes,
            bases,
            scalars,
            chosen,
            fences,
            code: Vec::new(),
            free: free.into_iter().rev().map(i64::from).collect(),
            loops: BTreeMap::new(),
            locals: BTreeMap::new(),
            registers: BTreeMap::new(),
            pointers: Vec::new(),
            constants: BTreeMap::new(),
            facts,
            tight,
            labels: Vec::new(),
            jumps: Vec::new(),
            ops: 0,
        }
    }

    /// The whole program.
    pub(crate) fn program(mut self, nodes: &[NestNode]) -> Result<Vec<Placed>, MappingError> {
        let mut strides: BTreeSet<i64> = BTreeSet::new();
        strided(nodes, &mut strides);
        let kept = if self.tight == Tight::All { 0 } else { 3 };
        for stride in strides.into_iter().filter(|s| *s != 0).take(kept) {
            let register = self.take(Span::default())?;
            self.constant_into(register, stride);
            self.constants.insert(stride, register);
        }
        self.block(nodes, None)?;
        self.patch()?;
        Ok(self.code)
    }

    fn take(&mut self, span: Span) -> Result<Reg, MappingError> {
        self.free.pop().ok_or_else(|| {
            let message = "there are too few scalar registers for what is computed here";
            MappingError::new(
                span,
                message,
                "nest fewer loops, or compute it in two statements",
            )
        })
    }

    fn give(&mut self, register: Reg) {
        self.free.push(register);
    }

    fn put(&mut self, known: &Known, given: &[i64]) {
        self.code.push(known.placed(given));
    }

    fn binary(&mut self, op: Binary, values: [Reg; 3], span: Span) -> Result<(), MappingError> {
        let host = self.host;
        let Some(known) = host.binary(op) else {
            let message = format!("the host has no instruction for `{op:?}` of two registers");
            return Err(MappingError::new(span, message, "describe one"));
        };
        self.put(known, &values);
        Ok(())
    }

    fn label(&mut self) -> usize {
        self.labels.push(None);
        self.labels.len() - 1
    }

    fn here(&mut self, label: usize) {
        self.labels[label] = Some(self.code.len());
    }

    fn branch(
        &mut self,
        when: Branch,
        (x, y): (Reg, Reg),
        label: usize,
        span: Span,
    ) -> Result<(), MappingError> {
        let host = self.host;
        let Some(known) = host.branch(when) else {
            let message = format!("the host has no branch for `{when:?}`");
            return Err(MappingError::new(span, message, "describe one"));
        };
        self.jumps.push((self.code.len(), label));
        self.put(known, &[x, y, 0]);
        Ok(())
    }

    /// A register gets a constant.
    fn constant_into(&mut self, register: Reg, value: i64) {
        self.code.extend(self.host.constant(register, value));
    }

    fn fits(&self, value: i64) -> bool {
        self.host.fits(value)
    }

    /// Target becomes source plus a constant.
    fn add_into(
        &mut self,
        target: Reg,
        source: Reg,
        value: i64,
        span: Span,
    ) -> Result<(), MappingError> {
        if self.fits(value) {
            let host = self.host;
            if value != 0 || target != source {
                self.put(&host.add_constant, &[target, source, value]);
            }
            return Ok(());
        }
        let temporary = self.take(span)?;
        self.constant_into(temporary, value);
        self.binary(Binary::Add, [target, source, temporary], span)?;
        self.give(temporary);
        Ok(())
    }

    /// Target becomes a register times a constant.
    fn times_into(
        &mut self,
        target: Reg,
        source: Reg,
        by: i64,
        span: Span,
    ) -> Result<(), MappingError> {
        let host = self.host;
        if by == 1 {
            return self.add_into(target, source, 0, span);
        }
        if by > 0
            && by.count_ones() == 1
            && let Some(shift) = &host.shift_left
        {
            self.put(shift, &[target, source, i64::from(by.trailing_zeros())]);
            return Ok(());
        }
        let temporary = self.take(span)?;
        self.constant_into(temporary, by);
        self.binary(Binary::Mul, [target, source, temporary], span)?;
        self.give(temporary);
        Ok(())
    }

    /// Target becomes the sum of a register and of loops' shares.
    fn sum_into(
        &mut self,
        target: Reg,
        start: Reg,
        terms: &[(Symbol, i64)],
        constant: i64,
        span: Span,
    ) -> Result<(), MappingError> {
        // Loops with the same coefficient are added before they are multiplied.
        let mut by: BTreeMap<i64, Vec<Reg>> = BTreeMap::new();
        for &(symbol, c) in terms {
            by.entry(c).or_default().push(self.loops[&symbol]);
        }
        let mut sum = start;
        for (c, registers) in by {
            let temporary = self.take(span)?;
            let mut from = registers[0];
            for &other in &registers[1..] {
                self.binary(Binary::Add, [temporary, from, other], span)?;
                from = temporary;
            }
            if c != 1 {
                self.times_into(temporary, from, c, span)?;
                from = temporary;
            }
            match sum == self.host.zero {
                true => self.add_into(target, from, 0, span)?,
                false => self.binary(Binary::Add, [target, sum, from], span)?,
            }
            sum = target;
            self.give(temporary);
        }
        if sum != target || constant != 0 {
            self.add_into(target, sum, constant, span)?;
        }
        Ok(())
    }

    /// Where an access lies: bytes from the beginning of its array.
    fn linear(&self, access: &Access, facts: &Facts) -> Option<Linear> {
        let mut access = access.clone();
        for index in &mut access.index {
            *index = facts.without_clamps(index);
        }
        let bytes = i64::from(self.kernel.arrays[access.array].elem.bits() / 8);
        place(self.kernel, self.sizes, &access)
            .linear()?
            .times(bytes)
    }

    fn group(array: Id, linear: &Linear) -> Group {
        (array, linear.terms.iter().map(|(s, c)| (*s, *c)).collect())
    }

    /// A register and a constant that is added to it: the address of an access. The register
    /// is given back when the third is true.
    fn address(
        &mut self,
        array: Id,
        linear: &Linear,
        span: Span,
    ) -> Result<(Reg, i64, bool), MappingError> {
        let group = Self::group(array, linear);
        let best = self.pointers.iter().filter(|p| p.group == group);
        let best = best.min_by_key(|p| (p.without.len(), p.constant.abs_diff(linear.constant)));
        let (start, constant, terms) = match best.cloned() {
            Some(p) => {
                let terms: Vec<(Symbol, i64)> = group
                    .1
                    .iter()
                    .filter(|t| p.without.contains(&t.0))
                    .copied()
                    .collect();
                (p.register, linear.constant - p.constant, terms)
            }
            None => (self.bases[&array], linear.constant, group.1),
        };
        let near = self.fits(constant);
        if terms.is_empty() && near {
            return Ok((start, constant, false));
        }
        let register = self.take(span)?;
        let added = if near { 0 } else { constant };
        self.sum_into(register, start, &terms, added, span)?;
        Ok((register, if near { constant } else { 0 }, true))
    }

    fn block(&mut self, nodes: &[NestNode], around: Option<Symbol>) -> Result<(), MappingError> {
        let (locals, registers) = (self.locals.clone(), self.registers.clone());
        for node in nodes {
            let id = match node {
                NestNode::Loop(l) => l.id,
                NestNode::Tile(op) => op.id,
                NestNode::Scalar(s) => s.id,
            };
            if self.fences.contains(&id)
                && let Some(fence) = self.machine.fence
            {
                let count = self.machine.instructions[fence].operands.len();
                self.code.push((fence, vec![0; count]));
            }
            match node {
                NestNode::Loop(l) => self.for_loop(l, around)?,
                NestNode::Tile(op) => self.tile(op)?,
                NestNode::Scalar(s) => self.scalar(&s.stmt)?,
            }
        }
        for (id, register) in std::mem::replace(&mut self.locals, locals) {
            if !self.locals.contains_key(&id) {
                self.give(register);
            }
        }
        for (id, register) in std::mem::replace(&mut self.registers, registers) {
            if !self.registers.contains_key(&id) {
                self.give(register);
            }
        }
        Ok(())
    }

    fn tile(&mut self, op: &TileOp) -> Result<(), MappingError> {
        let at = self.ops;
        self.ops += 1;
        let found = &self.machine.instructions[op.instruction];
        let mut values = vec![0; found.operands.len()];
        for &(operand, _, _, _) in &op.tiles {
            values[operand] = self.chosen.registers[&(at, operand)] as i64;
        }
        let Some(moved) = &op.moved else {
            self.code.push((op.instruction, values));
            return Ok(());
        };
        let Some(linear) = moved.base.linear() else {
            let message = "the window's place is no sum of loop variables";
            return Err(MappingError::new(
                op.span,
                message,
                "write indices without clamps",
            ));
        };
        let (base, constant, mut own) = self.address(moved.array, &linear, op.span)?;
        let mut address = base;
        if constant != 0 {
            if !own {
                address = self.take(op.span)?;
                own = true;
            }
            self.add_into(address, base, constant, op.span)?;
        }
        let (stride, fresh) = match self.constants.get(&moved.stride) {
            Some(&register) => (register, false),
            None if moved.stride == 0 => (self.host.zero, false),
            None => {
                let register = self.take(op.span)?;
                self.constant_into(register, moved.stride);
                (register, true)
            }
        };
        let scalars: Vec<usize> = (0..found.operands.len())
            .filter(|k| op.tiles.iter().all(|t| t.0 != *k))
            .collect();
        let (by_base, by_stride) = self.scalars_of(op, &scalars);
        values[by_base] = address;
        values[by_stride] = stride;
        self.code.push((op.instruction, values));
        if own {
            self.give(address);
        }
        if fresh {
            self.give(stride);
        }
        Ok(())
    }

    fn scalars_of(&self, op: &TileOp, scalars: &[usize]) -> (usize, usize) {
        let stores = usize::from(op.moved.as_ref().is_some_and(|m| m.stores));
        let known = self.scalars.get(&stores).copied().unwrap_or(0);
        let base = usize::try_from(known).unwrap_or(0);
        let stride = scalars.iter().copied().find(|k| *k != base);
        (base, stride.unwrap_or(base))
    }

    fn for_loop(&mut self, l: &Loop, around: Option<Symbol>) -> Result<(), MappingError> {
        let span = l.span;
        let var = self.take(span)?;
        self.index_into(var, &l.lo, span)?;
        let end = self.take(span)?;
        self.index_into(end, &l.hi, span)?;
        self.loops.insert(l.var, var);
        let before = self.facts.clone();
        self.facts.add_loop(l.var, &l.lo, &l.hi, l.step);
        let runs = l.hi.minus(&l.lo).constant_value().is_some_and(|n| n > 0);
        let out = self.label();
        if !runs {
            self.branch(Branch::NotLess, (var, end), out, span)?;
        }
        let outer = l.body.iter().any(|n| matches!(n, NestNode::Loop(_)));
        let again = self.tight == Tight::All || self.tight == Tight::Ends && outer;
        if again {
            self.give(end);
        }
        let first = self.pointers.len();
        self.prepare(l, around)?;
        let top = self.label();
        self.here(top);
        self.block(&l.body, Some(l.var))?;
        let host = self.host;
        for k in first..self.pointers.len() {
            let pointer = self.pointers[k].clone();
            let moves = pointer.group.1.iter().find(|t| t.0 == l.var);
            if let Some((_, c)) = moves.filter(|t| !pointer.without.contains(&t.0)) {
                self.add_into(pointer.register, pointer.register, c * l.step, span)?;
            }
        }
        self.put(&host.add_constant, &[var, var, l.step]);
        let end = if again { self.take(span)? } else { end };
        if again {
            self.index_into(end, &l.hi, span)?;
        }
        self.branch(Branch::Less, (var, end), top, span)?;
        self.here(out);
        for pointer in self.pointers.split_off(first) {
            self.give(pointer.register);
        }
        self.facts = before;
        self.loops.remove(&l.var);
        self.give(end);
        self.give(var);
        Ok(())
    }

    /// Computes before a loop what addresses in it, and in loops directly inside, need.
    fn prepare(&mut self, l: &Loop, around: Option<Symbol>) -> Result<(), MappingError> {
        let mut wanted: Vec<(Group, i64, Vec<Symbol>)> = Vec::new();
        self.wanted(&l.body, &[], &mut wanted);
        for node in &l.body {
            if let NestNode::Loop(inner) = node {
                self.wanted(&inner.body, &[inner.var], &mut wanted);
            }
        }
        for (group, constant, mut without) in wanted {
            let moves = group.1.iter().any(|t| t.0 == l.var);
            if moves && !l.incremental {
                without.push(l.var);
            }
            without.retain(|s| group.1.iter().any(|t| t.0 == *s));
            let known = self.pointers.iter().any(|p| {
                let far = p.constant.abs_diff(constant) >= 1 << (self.host.low - 1);
                p.group == group && !far && p.without.iter().all(|s| without.contains(s))
            });
            if known || self.free.len() <= KEPT_BACK {
                continue;
            }
            let linear = Linear {
                terms: group
                    .1
                    .iter()
                    .copied()
                    .filter(|t| !without.contains(&t.0))
                    .collect(),
                constant,
            };
            // The array's own register is as good.
            if linear.terms.is_empty() && constant == 0 {
                continue;
            }
            // An earlier pointer has a part of it, when it is of the loop around.
            let part = self.pointers.iter().find(|p| {
                p.group == group
                    && p.constant == constant
                    && around.is_some_and(|a| p.without.contains(&a))
            });
            let part = part.cloned();
            let register = self.take(l.span)?;
            match part {
                Some(part) => {
                    let terms: Vec<(Symbol, i64)> = group
                        .1
                        .iter()
                        .copied()
                        .filter(|t| part.without.contains(&t.0) && !without.contains(&t.0))
                        .collect();
                    self.sum_into(register, part.register, &terms, 0, l.span)?;
                }
                None => {
                    let terms: Vec<(Symbol, i64)> =
                        linear.terms.iter().map(|(s, c)| (*s, *c)).collect();
                    let (start, constant) = (self.bases[&group.0], linear.constant);
                    self.sum_into(register, start, &terms, constant, l.span)?;
                }
            }
            self.pointers.push(Pointer {
                group,
                register,
                without,
                constant,
            });
        }
        Ok(())
    }

    /// The groups of accesses directly in a body, with the loops that come later.
    fn wanted(
        &self,
        nodes: &[NestNode],
        later: &[Symbol],
        out: &mut Vec<(Group, i64, Vec<Symbol>)>,
    ) {
        let mut add = |array: Id, linear: Linear| {
            let group = Self::group(array, &linear);
            let near = |o: &&mut (Group, i64, Vec<Symbol>)| {
                o.0 == group && o.2 == later && o.1.abs_diff(linear.constant) < 1024
            };
            if out.iter_mut().find(near).is_none() {
                out.push((group, linear.constant, later.to_vec()));
            }
        };
        for node in nodes {
            match node {
                NestNode::Loop(_) => {}
                NestNode::Tile(op) => {
                    if let Some(moved) = &op.moved
                        && let Some(linear) = moved.base.linear()
                    {
                        add(moved.array, linear);
                    }
                }
                NestNode::Scalar(s) => {
                    each_access(self.kernel, &s.stmt, &mut |access, condition| {
                        let mut facts = self.facts.clone();
                        if let Some(condition) = condition {
                            expression::assume(self.kernel, condition, &mut facts);
                        }
                        if let Some(linear) = self.linear(access, &facts) {
                            add(access.array, linear);
                        }
                    })
                }
            }
        }
    }

    fn scalar(&mut self, stmt: &Stmt) -> Result<(), MappingError> {
        match stmt {
            Stmt::For(_) => Ok(()),
            Stmt::Let(id) => {
                let value = &self.kernel.locals[*id].value;
                let register = self.take(value.span)?;
                self.value_into(register, value)?;
                self.locals.insert(*id, register);
                Ok(())
            }
            Stmt::Assign(assign) => self.assign(assign),
        }
    }

    fn assign(&mut self, assign: &Assign) -> Result<(), MappingError> {
        let span = assign.span;
        let elem = assign.value.ty.elem;
        if assign.accumulate && elem.format().is_some() {
            return Err(expression::no_such_of(span, "adds", elem));
        }
        match &assign.target {
            Target::Register(id) => {
                let known = self.registers.get(id).copied();
                let register = match known {
                    Some(register) => register,
                    None => self.take(span)?,
                };
                if assign.accumulate {
                    let added = self.take(span)?;
                    self.value_into(added, &assign.value)?;
                    self.binary(Binary::Add, [register, register, added], span)?;
                    self.wrap(register, assign.value.ty.elem, span)?;
                    self.give(added);
                } else {
                    let value = self.take(span)?;
                    self.value_into(value, &assign.value)?;
                    self.add_into(register, value, 0, span)?;
                    self.give(value);
                }
                self.registers.insert(*id, register);
                Ok(())
            }
            Target::Array(access) => {
                let value = self.take(span)?;
                self.value_into(value, &assign.value)?;
                let (base, constant, own) = self.address_of(access)?;
                let elem = self.kernel.arrays[access.array].elem;
                if assign.accumulate {
                    let old = self.take(span)?;
                    self.load_into(old, elem, base, constant, span)?;
                    self.binary(Binary::Add, [value, old, value], span)?;
                    self.give(old);
                }
                let host = self.host;
                let Some(store) = host.store(elem.bits() / 8) else {
                    return Err(expression::no_such_of(span, "stores", elem));
                };
                self.put(store, &[value, base, constant]);
                if own {
                    self.give(base);
                }
                self.give(value);
                Ok(())
            }
        }
    }
}

/// The strides of loads and stores.
fn strided(nodes: &[NestNode], strides: &mut BTreeSet<i64>) {
    for node in nodes {
        match node {
            NestNode::Loop(l) => strided(&l.body, strides),
            NestNode::Tile(op) => strides.extend(op.moved.as_ref().map(|m| m.stride)),
            NestNode::Scalar(_) => {}
        }
    }
}

/// Calls `f` for each access of a statement, with the condition behind which it is computed.
fn each_access<'k>(
    kernel: &'k Kernel,
    stmt: &'k Stmt,
    f: &mut dyn FnMut(&'k Access, Option<(&'k Expr, bool)>),
) {
    match stmt {
        Stmt::For(l) => l.body.iter().for_each(|s| each_access(kernel, s, f)),
        Stmt::Let(id) => in_value(
            kernel,
            &kernel.locals[*id].value,
            None,
            &mut BTreeSet::new(),
            f,
        ),
        Stmt::Assign(a) => {
            in_value(kernel, &a.value, None, &mut BTreeSet::new(), f);
            if let Target::Array(access) = &a.target {
                f(access, None);
            }
        }
    }
}

/// Values that were seen, by their names and the conditions behind which they are computed.
type Seen = BTreeSet<(usize, Option<(usize, bool)>)>;

fn in_value<'k>(
    kernel: &'k Kernel,
    e: &'k Expr,
    condition: Option<(&'k Expr, bool)>,
    seen: &mut Seen,
    f: &mut dyn FnMut(&'k Access, Option<(&'k Expr, bool)>),
) {
    match &e.kind {
        ExprKind::Apply(kernel::tree::Op::Select, args) if args.len() == 3 => {
            in_value(kernel, &args[0], condition, seen, f);
            in_value(kernel, &args[1], Some((&args[0], true)), seen, f);
            in_value(kernel, &args[2], Some((&args[0], false)), seen, f);
        }
        ExprKind::Load(access) => f(access, condition),
        ExprKind::Local(id) if !kernel.locals[*id].stated => {
            let behind = condition.map(|(e, holds)| (std::ptr::from_ref(e) as usize, holds));
            if seen.insert((*id, behind)) {
                in_value(kernel, &kernel.locals[*id].value, condition, seen, f);
            }
        }
        _ => {
            for operand in e.operands() {
                in_value(kernel, operand, condition, seen, f);
            }
        }
    }
}
