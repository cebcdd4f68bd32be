//! A kernel to commands of a machine with a systolic array.
//!
//! In: a kernel, its sizes, a machine, constraints. Out: a [`CommandProgram`], or what
//! cannot be mapped and the change that would make it possible.

use super::config;
use super::emit::Emitter;
use super::form::{self, SumOfProducts};
use super::layout::{self, Layout, ceil};
use super::nodes::Loops;
use super::outline;
use super::parts;
use super::pieces::Pieces;
use super::plan::{LoopOrder, Plan, Stationary};
use super::program::{Amount, CommandNode, CommandProgram, Work};
use super::proof;
use super::store;
use super::units::{Pooling, Rows, SUMS, Transposed, Units};
use crate::block::Values;
use crate::error::{self, MappingError};
use crate::mapped::Verdict;
use crate::program::ArrayUse;
use crate::whole;
use kernel::ast::Direction;
use kernel::index::Symbol;
use kernel::tree::{Kernel, Role, Stmt};
use semantics::diagnostic::Diagnostic;
use semantics::machine::Machine;
use smt::prover::Prover;
use std::collections::BTreeMap;

/// Whether a machine has what this maps to.
pub fn serves(machine: &Machine) -> bool {
    !machine.state.arrays.is_empty()
}

/// What a program is held to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Constraints {
    /// Tiles of rows and of columns of a block; with pooling, rows of results and tiles of columns.
    pub tile: Option<(i64, i64)>,
    /// How blocks are walked over.
    pub plan: Plan,
    /// Whether what the array keeps is demanded; else it keeps the other where it must.
    pub keeps: bool,
    /// Whether the machine's own loop does it.
    pub hardware_loop: bool,
}

/// Maps a kernel to commands alone and proves it.
///
/// # Errors
/// What is wrong, with its place.
pub fn map(
    kernel: &Kernel,
    sizes: &BTreeMap<Symbol, i64>,
    machine: &Machine,
    prover: &Prover,
    constraints: Constraints,
) -> Result<(CommandProgram, Verdict), Vec<Diagnostic>> {
    let target = Target {
        machine,
        prover,
        constraints,
    };
    let (program, verdict, ()) = target.mapped(kernel, sizes, &|_| ())?;
    Ok((program, verdict))
}

/// A mapped kernel: its program, for which sizes it was proved, and why the host does what it does
/// alone.
pub type Mapped = (CommandProgram, Verdict, Vec<Diagnostic>);

/// The same, where what is not commands as it stands goes through the host. What is demanded of
/// commands is not left to it. With what becomes of the program in the meantime, which is looked at while it
/// is proved.
///
/// # Errors
/// As [`map`].
pub fn map_beside_host<T: Send>(
    kernel: &Kernel,
    sizes: &BTreeMap<Symbol, i64>,
    machine: &Machine,
    prover: &Prover,
    constraints: Constraints,
    meanwhile: &(dyn Fn(&CommandProgram) -> T + Sync),
) -> Result<(Mapped, T), Vec<Diagnostic>> {
    let target = Target {
        machine,
        prover,
        constraints,
    };
    let wrong = match target.mapped(kernel, sizes, meanwhile) {
        Ok((program, verdict, done)) => return Ok(((program, verdict, Vec::new()), done)),
        Err(wrong) => wrong,
    };
    error::preconditions(kernel, sizes).map_err(|e| e.reported(kernel))?;
    if constraints.hardware_loop {
        return Err(wrong);
    }
    let mapped = Pieces { target, kernel }.mapped(sizes, wrong)?;
    let done = meanwhile(&mapped.0);
    Ok((mapped, done))
}

/// The commands that [`map`] would prove: for those who only ask what they take.
///
/// # Errors
/// What is wrong, with its place.
pub fn propose(
    kernel: &Kernel,
    sizes: &BTreeMap<Symbol, i64>,
    machine: &Machine,
    prover: &Prover,
    constraints: Constraints,
) -> Result<CommandProgram, Vec<Diagnostic>> {
    let target = Target {
        machine,
        prover,
        constraints,
    };
    target.program(kernel, sizes)
}

/// What commands are for.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) prover: &'a Prover,
    pub(crate) constraints: Constraints,
}

impl Target<'_> {
    /// The commands, what was proved of them, and what became of them in the meantime.
    fn mapped<T: Send>(
        &self,
        kernel: &Kernel,
        sizes: &BTreeMap<Symbol, i64>,
        meanwhile: &(dyn Fn(&CommandProgram) -> T + Sync),
    ) -> Result<(CommandProgram, Verdict, T), Vec<Diagnostic>> {
        let program = self.program(kernel, sizes)?;
        let (proved, done) = rayon::join(
            || self.proved(kernel, sizes, &program),
            || meanwhile(&program),
        );
        let verdict = proved.map_err(|reason| {
            let message = format!("these commands are not proved to be this kernel: {reason}");
            let hint = "this is a mistake of the mapper or of the specification";
            MappingError::new(kernel.span, message, hint).reported(kernel)
        })?;
        Ok((program, verdict, done))
    }

    /// The commands of all parts, one after the other.
    fn program(
        &self,
        kernel: &Kernel,
        sizes: &BTreeMap<Symbol, i64>,
    ) -> Result<CommandProgram, Vec<Diagnostic>> {
        error::preconditions(kernel, sizes).map_err(|e| e.reported(kernel))?;
        let parts = parts::parts(kernel, sizes);
        let made = parts.iter().map(|part| {
            let mapping = Mapping::new(part, sizes, self.machine, self.prover, self.constraints)?;
            mapping.run().map_err(|e| e.reported(kernel))
        });
        let made = made.collect::<Result<Vec<_>, _>>()?;
        made.into_iter()
            .reduce(CommandProgram::then)
            .ok_or_else(|| {
                let hint = "write a loop";
                MappingError::new(kernel.span, "this kernel does nothing", hint).reported(kernel)
            })
    }

    /// Proves a program; where that is not shown at its sizes, the same mapping at smaller ones.
    fn proved(
        &self,
        kernel: &Kernel,
        sizes: &BTreeMap<Symbol, i64>,
        program: &CommandProgram,
    ) -> Result<Verdict, String> {
        let why = match whole::commands(kernel, sizes, program, self.machine, self.prover) {
            Ok(_) => return Ok(Verdict::Proved),
            Err(why) => why,
        };
        let small = self.reduced(kernel, sizes);
        if small == *sizes {
            proof::prove(kernel, sizes, program, self.machine, self.prover)?;
            return Ok(Verdict::Proved);
        }
        // The smallest blocks, so that there is more than one; but what is chosen by an estimate
        // for these sizes where nothing was asked for.
        let asked = self.constraints.plan != Plan::default();
        let mut smaller = *self;
        smaller.constraints.tile = asked.then_some((1, 1));
        let message = |wrong: Vec<Diagnostic>| {
            let first = wrong.first();
            first.map_or_else(String::new, |w| w.message.clone())
        };
        let at_small = smaller.program(kernel, &small).map_err(message)?;
        let elements = proof::prove(kernel, &small, &at_small, self.machine, self.prover)?;
        let named = |(s, n): (&Symbol, &i64)| (kernel.symbol_name(*s), *n);
        Ok(Verdict::ProvedAt {
            sizes: small.iter().map(named).collect(),
            elements,
            why,
        })
    }

    /// Sizes at which the same commands can be proved: as many tiles beyond the first as
    /// there is room for, and the same partial ones.
    pub(crate) fn reduced(
        &self,
        kernel: &Kernel,
        sizes: &BTreeMap<Symbol, i64>,
    ) -> BTreeMap<Symbol, i64> {
        let dim = self.machine.parameter("DIM").unwrap_or(1).max(1);
        let level = |level: i64| -> BTreeMap<Symbol, i64> {
            let rest = |n: i64| if n % dim == 0 { dim } else { n % dim };
            let one = |n: i64| match level {
                0 => n.min(dim + rest(n)),
                1 => n.min(dim + 1),
                2 => n.min(rest(n)).min(5),
                _ => n.min(level.min(3) - 1),
            };
            sizes.iter().map(|(s, n)| (*s, one(*n))).collect()
        };
        let mut found = level(3);
        for k in (0..3).rev() {
            let sizes = level(k);
            let value = |s: Symbol| sizes.get(&s).copied().unwrap_or(0);
            let holds = kernel.requires.iter().all(|c| c.holds(&value));
            if holds && products(kernel, &sizes).is_some_and(|n| n <= MOST_PRODUCTS) {
                found = sizes;
            }
        }
        found
    }
}

impl Target<'_> {
    /// The commands of a piece.
    pub(crate) fn piece(
        &self,
        kernel: &Kernel,
        sizes: &BTreeMap<Symbol, i64>,
    ) -> Result<CommandProgram, Vec<Diagnostic>> {
        let mapping = Mapping::new(kernel, sizes, self.machine, self.prover, self.constraints)?;
        mapping.run().map_err(|e| e.reported(kernel))
    }
}

/// The arrays of a kernel.
pub(crate) fn used(kernel: &Kernel, values: &Values) -> Result<Vec<ArrayUse>, MappingError> {
    let bytes = |a: &kernel::tree::Array| -> Result<i64, MappingError> {
        let dims = a.memory_dims();
        let sizes = dims.iter().map(|d| values.of(d, a.span));
        let sizes = sizes.collect::<Result<Vec<i64>, _>>()?;
        Ok(sizes.iter().product::<i64>() * i64::from(a.elem.bits()) / 8)
    };
    let arrays = kernel.arrays.iter().map(|a| {
        Ok(ArrayUse {
            name: a.name.clone(),
            bytes: bytes(a)?,
            bits: a.elem.bits(),
            written: a.role != Role::Param(Direction::In),
            made: a.role == Role::Local,
        })
    });
    arrays.collect()
}

/// How many times statements of a kernel run, about: loops whose ends move count as they begin.
fn products(kernel: &Kernel, sizes: &BTreeMap<Symbol, i64>) -> Option<i64> {
    fn of(body: &[Stmt], values: &mut Values) -> Option<i64> {
        let mut all = 0_i64;
        for stmt in body {
            let Stmt::For(f) = stmt else { continue };
            let of = |index, values: &Values| values.of(index, f.span).ok();
            let (lo, hi) = (of(&f.lo, values)?, of(&f.hi, values)?);
            let rounds = (hi - lo).max(0).unsigned_abs();
            let rounds = i64::try_from(rounds.div_ceil(f.step.unsigned_abs())).ok()?;
            values.set(f.var, lo);
            all = all.checked_add(rounds.checked_mul(of_body(&f.body, values)?)?)?;
        }
        Some(all)
    }
    fn of_body(body: &[Stmt], values: &mut Values) -> Option<i64> {
        Some(of(body, values)?.max(1))
    }
    of(&kernel.body, &mut Values::new(kernel, sizes))
}

/// Products that a proof may have.
const MOST_PRODUCTS: i64 = 5000;

struct Mapping<'a> {
    kernel: &'a Kernel,
    machine: &'a Machine,
    units: Units,
    prover: &'a Prover,
    constraints: Constraints,
    values: Values,
}

/// How many loop variables, the work, what was chosen.
type Made = (usize, Vec<CommandNode<Work>>, Vec<String>);

impl<'a> Mapping<'a> {
    fn new(
        kernel: &'a Kernel,
        sizes: &BTreeMap<Symbol, i64>,
        machine: &'a Machine,
        prover: &'a Prover,
        constraints: Constraints,
    ) -> Result<Mapping<'a>, Vec<Diagnostic>> {
        Ok(Mapping {
            kernel,
            machine,
            units: Units::of(kernel, machine)?,
            prover,
            constraints,
            values: Values::new(kernel, sizes),
        })
    }

    fn run(&self) -> Result<CommandProgram, MappingError> {
        let form = form::form(self.kernel, &self.values)?;
        let (vars, nodes, choices) = match form.sum {
            Some(sum) => self.product(&form, sum)?,
            None => self.addition(&form)?,
        };
        Ok(CommandProgram {
            name: self.kernel.name.clone(),
            arrays: used(self.kernel, &self.values)?,
            vars,
            body: config::place(self.machine, nodes),
            host: Vec::new(),
            choices,
            span: form.span,
        })
    }

    /// Bytes of an element of an array.
    fn bytes(&self, array: usize) -> i64 {
        i64::from(self.kernel.arrays[array].elem.bits() / 8)
    }

    fn small_sources(&self, form: &SumOfProducts) -> Result<(), MappingError> {
        let small = self.units.small.width().unwrap_or(8);
        for (place, e) in &form.sources {
            let array = &self.kernel.arrays[place.array];
            let float = matches!(self.units.small, semantics::instruction::Element::Float(_));
            let fits = array.elem.bits() == small && array.elem.format().is_some() == float;
            if !fits || !float && !array.elem.is_signed() {
                let message = format!("`{}` has elements that the array does not take", array.name);
                let hint = format!(
                    "this machine multiplies {} of {small} bits",
                    if float { "floats" } else { "signed integers" }
                );
                return Err(MappingError::new(e.span, message, hint));
            }
        }
        Ok(())
    }

    fn product(&self, form: &SumOfProducts, sum: usize) -> Result<Made, MappingError> {
        self.small_sources(form)?;
        let finish = store::finish(
            self.kernel,
            (&form.finish, sum),
            self.machine,
            &self.units,
            self.prover,
        );
        let finish = finish.ok_or_else(|| {
            MappingError::new(
                form.finish.span,
                "no store of this machine does this to a sum",
                "a store gives the sum itself, or `i8_sat(round_even(f32(sum) * SCALE))`, and \
                 `max(…, 0)` of that; the scale is a finite constant",
            )
        })?;
        let mut roles = outline::roles(self.kernel, form, &self.units)?;
        roles.plan = self.plan(form, roles.transposed)?;
        let float = matches!(self.units.wide, semantics::instruction::Element::Float(_));
        if let Some((message, hint)) = roles.other_sums().filter(|_| float) {
            return Err(MappingError::new(form.span, message, hint));
        }
        let layout = layout::sized(&roles, &self.units, self.constraints.tile, form)?;
        if self.constraints.hardware_loop {
            let found = super::hardware::product(&layout, &self.units, finish, self.machine);
            let (vars, nodes) = found.ok_or_else(|| {
                MappingError::new(
                    form.span,
                    "this is no product that the machine's own loop does",
                    "it multiplies matrices whose rows lie evenly apart, and half of the \
                     scratchpad must hold a row and a column of tiles; leave `--hardware-loop` out",
                )
            })?;
            return Ok((vars, nodes, vec!["the machine's own loop".to_owned()]));
        }
        let choices = vec![self.chosen(&layout)];
        let mut emitter = Emitter {
            layout: &layout,
            units: &self.units,
            finish,
            vars: 0,
        };
        let nodes = emitter.program();
        let (vars, nodes) = self.in_rounds(&layout, emitter.vars, nodes)?;
        Ok((vars, nodes, choices))
    }

    /// The plan that is asked for; what the array keeps is the other where it has to transpose what it
    /// cannot otherwise.
    fn plan(&self, form: &SumOfProducts, transposed: Transposed) -> Result<Plan, MappingError> {
        let asked = self.constraints.plan;
        let kept = [asked.stationary, Stationary::Weights, Stationary::Outputs];
        let open = if self.constraints.keeps { 1 } else { 3 };
        let can = |k: &&Stationary| self.units.transposes(**k, transposed);
        match kept[..open].iter().find(can) {
            Some(&stationary) => Ok(Plan {
                stationary,
                ..asked
            }),
            None => Err(MappingError::new(
                form.span,
                "the array cannot transpose these factors while it keeps that",
                "leave `--stationary` out, or store a factor the other way round",
            )),
        }
    }

    /// Work in the loops around all of it; the last command, which waits, stays behind them.
    fn in_rounds(
        &self,
        l: &Layout,
        mut vars: usize,
        mut nodes: Vec<CommandNode<Work>>,
    ) -> Result<(usize, Vec<CommandNode<Work>>), MappingError> {
        let wait = nodes.pop();
        for round in l.rounds.iter().rev() {
            let mut steps: BTreeMap<usize, i64> = BTreeMap::new();
            for place in [&l.left, &l.right, &l.out].into_iter().chain(&l.init) {
                let step = place.step(round.symbol);
                if *steps.entry(place.array).or_insert(step) != step {
                    return Err(MappingError::new(
                        place.span,
                        "a loop moves two accesses to this array by different amounts",
                        "take two arrays",
                    ));
                }
            }
            moved(&mut nodes, vars, &steps);
            let count = round.extent;
            let body = std::mem::take(&mut nodes);
            nodes.push(CommandNode::Loop {
                var: vars,
                count,
                body,
            });
            vars += 1;
        }
        nodes.extend(wait);
        Ok((vars, nodes))
    }

    fn chosen(&self, l: &Layout) -> String {
        let name = |r: &super::form::Range| match self.kernel.symbols.get(r.symbol.0 as usize) {
            Some(_) => self.kernel.symbol_name(r.symbol),
            None => "one row".to_owned(),
        };
        let stays = match l.plan.outer {
            LoopOrder::Columns => "columns outermost",
            LoopOrder::Rows => "rows outermost",
        };
        let kept = match l.plan.stationary {
            Stationary::Weights => "weights",
            Stationary::Outputs => "outputs",
        };
        let right = l.right_rows();
        let transposed = match l.transposed {
            [false, false] => "",
            [true, false] => ", the left factor transposed by the array",
            [false, true] => ", the right factor transposed by the array",
            [true, true] => ", both factors transposed by the array",
        };
        format!(
            "rows {} ({}), columns {} ({}), summed {} ({}) at {} places; blocks of {}x{} tiles, \
             {stays}, stationary {kept}{transposed}; scratchpad: left factor {} x {} rows, right factor {} x \
             {right} rows; accumulator {} x {} rows",
            name(&l.rows),
            l.rows.extent,
            name(&l.columns),
            l.columns.extent,
            name(&l.inner),
            l.inner.extent,
            l.window.len(),
            l.tiles.0,
            l.tiles.1,
            l.plan.buffers,
            l.depth() * l.patch,
            l.right_buffers(),
            l.plan.buffers,
            l.tiles.1 * l.span
        )
    }

    /// The sum of two arrays, tile after tile through the accumulator.
    fn addition(&self, form: &SumOfProducts) -> Result<Made, MappingError> {
        self.small_sources(form)?;
        if self.constraints.hardware_loop {
            return Err(MappingError::new(
                form.span,
                "the machine's own loop is mapped for products only",
                "leave `--hardware-loop` out",
            ));
        }
        let found = store::addition(
            self.kernel,
            &form.finish,
            self.machine,
            &self.units,
            self.prover,
        );
        let (scales, finish) = found.ok_or_else(|| {
            MappingError::new(
                form.finish.span,
                "no loads and stores of this machine do this to two elements",
                "loads scale, `i8_sat(round_even(f32(a[…]) * SCALE))`, the accumulator adds in \
                 32 bits, and a store scales the sum",
            )
        })?;
        let u = &self.units;
        let bytes = self.bytes(form.out.array);
        let [a, b] = [&form.sources[0].0, &form.sources[1].0];
        let mut rows = form.outer.clone();
        let neighbours = |r: &&super::form::Range| {
            form.out.step(r.symbol) == bytes
                && [a, b]
                    .iter()
                    .all(|p| p.step(r.symbol) == Units::bytes(u.small))
        };
        let Some(columns) = form.outer.iter().copied().find(|r| neighbours(&r)) else {
            return Err(MappingError::new(
                form.span,
                "no loop walks neighbours of all three arrays",
                "exchange dimensions",
            ));
        };
        rows.retain(|r| r.symbol != columns.symbol);
        let rows = layout::fused(rows, &[a, b, &form.out]);
        let (row, others) = match rows.split_last() {
            Some((row, others)) => (*row, others.to_vec()),
            None => (layout::once(), Vec::new()),
        };
        let mut sums = Sums {
            units: u,
            form,
            columns,
            row,
            scales,
            finish,
            vars: 0,
        };
        let mut nodes = sums.nested(
            &others,
            &Amount::default(),
            &Amount::default(),
            &Amount::default(),
        );
        nodes.push(CommandNode::Do(Work {
            command: u.fence(),
            needs: Vec::new(),
        }));
        let choices = vec![format!(
            "{} rows of {} columns, {} tiles in the accumulator at once",
            row.extent,
            columns.extent,
            sums.held()
        )];
        Ok((sums.vars, nodes, choices))
    }
}

/// Addresses move on with a loop variable, by so many bytes for each array.
fn moved(nodes: &mut [CommandNode<Work>], var: usize, steps: &BTreeMap<usize, i64>) {
    for node in nodes {
        match node {
            CommandNode::Loop { body, .. } => moved(body, var, steps),
            CommandNode::Do(work) => {
                for amount in &mut work.command.operands {
                    let step = amount.array.and_then(|a| steps.get(&a));
                    if let Some(&step) = step.filter(|s| **s != 0) {
                        amount.terms.insert(var, step);
                    }
                }
            }
        }
    }
}

/// Sums of two arrays.
struct Sums<'a> {
    units: &'a Units,
    form: &'a SumOfProducts,
    columns: super::form::Range,
    row: super::form::Range,
    scales: [f32; 2],
    finish: store::Finish,
    vars: usize,
}

impl Loops for Sums<'_> {
    fn vars(&mut self) -> &mut usize {
        &mut self.vars
    }
}

impl Sums<'_> {
    /// Tiles that the accumulator holds.
    fn held(&self) -> i64 {
        let across = ceil(self.columns.extent, self.units.dim);
        (self.units.sum_rows / self.units.dim / across).max(1) * across
    }

    fn nested(
        &mut self,
        others: &[super::form::Range],
        a: &Amount,
        b: &Amount,
        out: &Amount,
    ) -> Vec<CommandNode<Work>> {
        let form = self.form;
        if let Some((first, rest)) = others.split_first() {
            return self.in_loop(first.extent, |e, v| {
                let step = |x: &Amount, p: &form::Place| x.plus(&v.times(p.step(first.symbol)));
                let [p, q] = [&form.sources[0].0, &form.sources[1].0];
                let (a, b) = (step(a, p), step(b, q));
                e.nested(rest, &a, &b, &step(out, &form.out))
            });
        }
        let dim = self.units.dim;
        let across = ceil(self.columns.extent, dim);
        let lines = (self.units.sum_rows / dim / across).max(1);
        let (full, rest) = (self.row.extent / dim, self.row.extent % dim);
        let bases = [a.clone(), b.clone(), out.clone()];
        let mut nodes = self.in_loop(full / lines, |e, v| {
            e.in_loop(lines, |e, w| {
                let at = v.times(lines).plus(w);
                e.line(&bases, &at, w, dim)
            })
        });
        let done = full / lines * lines;
        nodes.extend(self.in_loop(full - done, |e, w| e.line(&bases, &w.add(done), w, dim)));
        if rest > 0 {
            nodes.extend(self.line(&bases, &Amount::of(full), &Amount::default(), rest));
        }
        nodes
    }

    /// Tiles beside each other; `slot` is their line in the accumulator.
    fn line(
        &mut self,
        bases: &[Amount; 3],
        at: &Amount,
        slot: &Amount,
        rows: i64,
    ) -> Vec<CommandNode<Work>> {
        let dim = self.units.dim;
        let (full, rest) = (self.columns.extent / dim, self.columns.extent % dim);
        let across = ceil(self.columns.extent, dim);
        let mut nodes = self.in_loop(full, |e, j| {
            e.one(bases, at, (slot, across), j, (rows, dim))
        });
        if rest > 0 {
            let j = Amount::of(full);
            nodes.extend(self.one(bases, at, (slot, across), &j, (rows, rest)));
        }
        nodes
    }

    fn one(
        &self,
        bases: &[Amount; 3],
        at: &Amount,
        (slot, across): (&Amount, i64),
        j: &Amount,
        (rows, columns): (i64, i64),
    ) -> Vec<CommandNode<Work>> {
        let (u, dim) = (self.units, self.units.dim);
        let held = (u.sum_rows / dim).max(1);
        let row = match across <= held {
            true => slot.times(across * dim).plus(&j.times(dim)),
            false => Amount::default(),
        };
        let [a, b] = [&self.form.sources[0].0, &self.form.sources[1].0];
        let place = |base: &Amount, p: &form::Place| {
            let start = Amount {
                array: Some(p.array),
                constant: p.constant,
                ..Amount::default()
            };
            start
                .plus(base)
                .plus(&at.times(dim * p.step(self.row.symbol)))
                .plus(&j.times(dim * p.step(self.columns.symbol)))
        };
        let load = |id: usize, p: &form::Place, base: &Amount, how: Rows| {
            let stride = p.step(self.row.symbol);
            CommandNode::Do(Work {
                command: u.load(id, place(base, p), u.local(&row, how, rows, columns)),
                needs: vec![u.loading(id as i64, Amount::of(stride), dim, (true, self.scales[id]))],
            })
        };
        let added = Rows { adds: true, ..SUMS };
        let stored = Rows {
            full: self.finish.full,
            ..SUMS
        };
        let out = &self.form.out;
        let f = &self.finish;
        vec![
            load(0, a, &bases[0], SUMS),
            load(1, b, &bases[1], added),
            CommandNode::Do(Work {
                command: u.store(place(&bases[2], out), u.local(&row, stored, rows, columns)),
                needs: vec![u.storing(
                    out.step(self.row.symbol),
                    f.relu,
                    f.scale,
                    Pooling::default(),
                )],
            }),
        ]
    }
}
