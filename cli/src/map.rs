//! `isaforge map`: kernels to programs of a machine with tiles.
//!
//! In: the arguments. Out: code as C, assembly, a listing or words; a report of instructions,
//! cycles and registers; with `--run` what the simulator says of it. The crates `tile`,
//! `codegen-gen` and `sim` do the work.

mod array;
mod loops;

use crate::args::{Map, MapEmit, Which};
use crate::compile::{cannot_write, read};
use crate::status::Status;
use crate::{assets, auto, inspect, simulate, terminal};
use kernel::index::Symbol;
use kernel::tree::Kernel;
use schedule::Scheduled;
use semantics::diagnostic::{Diagnostic, render, suggest};
use semantics::machine::Machine;
use sim::memory::Memory;
use sim::program::Program;
use sim::retirement::{self, Safe, Unsafe};
use sim::run::Stopped;
use smt::prover::Prover;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Instant;
use tile::program::{ArrayUse, Function, TileProgram};

/// Where arrays lie: each begins at a multiple of this.
const APART: i64 = 64;

/// Instructions that are run at most to look for hazards.
const MOST_STEPS: u64 = 1 << 30;

/// `isaforge map`.
pub(crate) fn command(request: &Map) -> Status {
    match run(request) {
        Ok(status) => status,
        Err(diagnostics) => {
            terminal::complain(&diagnostics);
            Status::WrongInput
        }
    }
}

fn run(request: &Map) -> Result<Status, Vec<Diagnostic>> {
    let (machine, diagnostics) = simulate::machine(&request.isa, request.isa_specs.as_deref())?;
    let mut wrong = terminal::complain(&diagnostics);
    let machine = match &request.cost_model {
        None => machine,
        Some(name) => machine.with_model(name).map_err(|reason| {
            let message = format!("`--cost-model {name}` is not there for {}", request.isa);
            vec![Diagnostic::error(message).hint(reason)]
        })?,
    };
    let has_array = tile::scratch::place::serves(&machine);
    let for_array = request.tile.is_some()
        || request.hardware_loop
        || request.outer.is_some()
        || request.buffers.is_some()
        || request.stationary.is_some();
    if !has_array && for_array {
        let message = format!("{} has no systolic array", machine.isa);
        let hint = "`--tile`, `--outer`, `--buffers`, `--stationary` and `--hardware-loop` are for \
                    machines such as gemmini";
        return Err(vec![Diagnostic::error(message).hint(hint)]);
    }
    if let Some(output) = &request.output {
        assets::is_no_input(output, [request.kernel.as_path()]).map_err(|d| vec![d])?;
    }
    let source = read(&request.kernel).map_err(|d| vec![d])?;
    let (kernels, diagnostics) = kernel::read(&source);
    wrong |= terminal::complain(&diagnostics);
    let prover = request.prover.prover(1).map_err(|d| vec![d])?;
    let mut mapping = Mapping {
        request,
        machine: &machine,
        prover: &prover,
        has_array,
        code: String::new(),
        report: String::new(),
        rows: Vec::new(),
    };
    let (mut status, mut failed) = (Status::Done, 0);
    for kernel in &kernels {
        // What is wrong with one kernel is told, and the others are mapped.
        match mapping.kernel(kernel) {
            Ok(of) => status = status.max(of),
            Err(diagnostics) => {
                terminal::complain(&diagnostics);
                (wrong, failed) = (true, failed + 1);
            }
        }
    }
    let (code, rows) = (mapping.code, mapping.rows);
    let mut report = mapping.report;
    report.push_str(&loops::report(&rows, request.table));
    match &request.output {
        _ if failed == kernels.len() && failed > 0 => eprint!("{report}"),
        None if request.table => terminal::print(&report),
        Some(path) => {
            assets::write_whole(path, code.as_bytes()).map_err(|e| vec![cannot_write(path, &e)])?;
            let _ = writeln!(report, "written: {}", path.display());
            terminal::print(&report);
        }
        None => {
            terminal::print(&code);
            eprint!("{report}");
        }
    }
    Ok(inspect::finish(wrong).max(status))
}

/// Kernels that are mapped one after the other, and what came of them.
struct Mapping<'a> {
    request: &'a Map,
    machine: &'a Machine,
    prover: &'a Prover,
    has_array: bool,
    code: String,
    report: String,
    rows: Vec<loops::Row>,
}

impl Mapping<'_> {
    fn kernel(&mut self, kernel: &Kernel) -> Result<Status, Vec<Diagnostic>> {
        let (request, machine, prover) = (self.request, self.machine, self.prover);
        let sizes = sizes(kernel, &request.size).map_err(|d| vec![d])?;
        if self.has_array {
            // What an error leaves of a report is not shown.
            let mut report = String::new();
            let (code, status) = array::one(request, kernel, &sizes, machine, prover, &mut report)?;
            self.code.push_str(&code);
            self.report.push_str(&report);
            return Ok(status);
        }
        let asked = request.loops || request.table;
        let written = schedule::apply(kernel);
        if !asked && !written.as_ref().is_ok_and(tile::loop_codegen::uses_tiles) {
            return self.unrolled(kernel, written, &sizes);
        }
        let row = loops::map(request, (kernel, &written?), &sizes, machine, prover)?;
        let fails = row.agrees == Some(false) || !row.order.1;
        if !request.table {
            self.code.push_str(&row.code);
        }
        self.rows.push(row);
        Ok(if fails {
            Status::CheckFailed
        } else {
            Status::Done
        })
    }

    /// Maps a kernel to tile instructions without loops; `own` is what its schedule
    /// makes of it.
    fn unrolled(
        &mut self,
        kernel: &Kernel,
        own: Result<Scheduled, Vec<Diagnostic>>,
        sizes: &BTreeMap<Symbol, i64>,
    ) -> Result<Status, Vec<Diagnostic>> {
        let (request, machine, prover) = (self.request, self.machine, self.prover);
        let mut report = String::new();
        let scheduled = match request.schedule {
            Which::Written => own?,
            Which::Auto => auto::tiles(
                kernel,
                sizes,
                machine,
                prover,
                &|program| addresses(program, request.address),
                request.schedule_time,
                &mut report,
            )?,
        };
        let start = Instant::now();
        let tiles = tile::map::map(&scheduled, sizes, machine, prover)?;
        let seconds = start.elapsed().as_secs_f64();
        let program = tiles.place(machine, &addresses(&tiles, request.address));
        let program = program.map_err(|reason| vec![no_instruction(kernel, reason)])?;
        let code = written(request.emit, kernel, machine, &program)?;
        told_of(machine, &program, seconds, &mut report);
        // The mapper has proved it; running it is a test of that.
        let (mut order, mut agrees) = (true, true);
        if request.run.is_none() {
            let _ = writeln!(report, "  order: no hazard: proved without a run");
        }
        if let Some(seed) = request.run {
            let (explanation, safe) = ordered(machine, &program).map_err(|d| vec![d])?;
            let _ = writeln!(report, "  order: {explanation}");
            order = safe;
            agrees = loops::simulated(kernel, sizes, machine, &program, seed)?.2;
            let how = if agrees {
                "agrees with"
            } else {
                "DIFFERS from"
            };
            let _ = writeln!(report, "  run: {how} the evaluator");
        }
        self.code.push_str(&code);
        self.report.push_str(&report);
        Ok(match order && agrees {
            true => Status::Done,
            false => Status::CheckFailed,
        })
    }
}

/// The sizes that were given, by the kernel's names.
pub(crate) fn sizes(
    kernel: &Kernel,
    given: &[String],
) -> Result<BTreeMap<Symbol, i64>, Diagnostic> {
    let names: BTreeMap<String, Symbol> =
        kernel.sizes().map(|s| (kernel.symbol_name(s), s)).collect();
    let mut sizes = BTreeMap::new();
    for text in given {
        let parts = text
            .split_once('=')
            .and_then(|(n, v)| Some((n.trim(), v.trim().parse::<i64>().ok()?)));
        let Some((name, value)) = parts.filter(|p| p.1 >= 0) else {
            let message = format!("`{text}` is no size");
            return Err(Diagnostic::error(message).hint("write `--size m=8`"));
        };
        // A file may hold kernels with other sizes.
        if let Some(&symbol) = names.get(name) {
            sizes.insert(symbol, value);
        }
    }
    match names.iter().find(|(_, s)| !sizes.contains_key(s)) {
        None => Ok(sizes),
        Some((name, _)) => {
            let given = given.iter().filter_map(|g| Some(g.split_once('=')?.0));
            let near = given.filter(|g| !names.contains_key(*g));
            let message = format!("the size `{name}` of `{}` has no value", kernel.name);
            let hint = match suggest(name, near) {
                Some(near) => format!("`--size {near}=…` is another name"),
                None => format!("give it with `--size {name}=16`"),
            };
            Err(Diagnostic::error(message)
                .at(&kernel.source, kernel.span)
                .hint(hint))
        }
    }
}

fn addresses(program: &TileProgram, first: u32) -> Vec<i64> {
    let mut at = i64::from(first);
    let place = |a: &tile::program::ArrayUse| {
        let here = at;
        at += (a.bytes + APART - 1) / APART * APART;
        here
    };
    program.arrays.iter().map(place).collect()
}

/// The text of a program.
fn written(
    emit: MapEmit,
    kernel: &Kernel,
    machine: &Machine,
    program: &Function,
) -> Result<String, Vec<Diagnostic>> {
    let text = match emit {
        MapEmit::Listing => Ok(codegen_gen::machine::listing_of(machine, program)),
        MapEmit::Asm => codegen_gen::machine::function(machine, program),
        MapEmit::C => {
            let about = format!(
                "Made by isaforge {} from {}.",
                env!("CARGO_PKG_VERSION"),
                kernel.source.name()
            );
            codegen_gen::machine::c(machine, program, &[about])
        }
    };
    text.map_err(|reason| vec![no_instruction(kernel, reason)])
}

/// What the machine lacks for a program.
fn no_instruction(kernel: &Kernel, reason: String) -> Diagnostic {
    let diagnostic = Diagnostic::error(reason).at(&kernel.source, kernel.span);
    diagnostic.hint("the machine's specification has no instruction for it")
}

/// The name of the model of cost, where there are several.
fn model(machine: &Machine) -> String {
    match machine.models.is_empty() {
        true => String::new(),
        false => format!(" `{}`", machine.model),
    }
}

/// Instructions by kind, cycles, registers, seconds.
fn told_of(machine: &Machine, program: &Function, seconds: f64, report: &mut String) {
    let _ = writeln!(
        report,
        "kernel {}: mapped and proved in {seconds:.2} s",
        program.name
    );
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for (k, _) in &program.code {
        *kinds
            .entry(&machine.instructions[*k].instruction.name)
            .or_default() += 1;
    }
    let kinds: Vec<String> = kinds
        .iter()
        .map(|(name, n)| format!("{n} {name}"))
        .collect();
    let _ = writeln!(report, "  instructions: {}", kinds.join(", "));
    let _ = writeln!(
        report,
        "  tile registers: {} hold something at once",
        program.registers
    );
    let cycles = tile::cost::cycles(machine, &program.code, tile::map::in_flight(machine));
    let busy = machine
        .units
        .iter()
        .zip(&cycles.busy)
        .map(|(u, n)| format!("{} {n}", u.name));
    let busy = busy.collect::<Vec<_>>().join(", ");
    let _ = writeln!(
        report,
        "  cycles in the model{}: {} (host {}, {busy})",
        model(machine),
        cycles.total,
        cycles.issued
    );
    for (array, address) in program.arrays.iter().zip(&program.addresses) {
        let _ = writeln!(
            report,
            "  {} at {address:#x}, {} bytes",
            array.name, array.bytes
        );
    }
}

/// Where the last array ends.
fn end(arrays: &[ArrayUse], addresses: &[i64]) -> usize {
    let ends = arrays.iter().zip(addresses).map(|(a, at)| at + a.bytes);
    usize::try_from(ends.max().unwrap_or(0)).unwrap_or(usize::MAX)
}

/// Arrays that do not lie where the program has them.
fn outside(kernel: &Kernel) -> Diagnostic {
    let message = format!("the arrays of `{}` do not fit into memory", kernel.name);
    let diagnostic = Diagnostic::error(message).at(&kernel.source, kernel.span);
    diagnostic.hint("take smaller sizes, or a smaller `--address`")
}

/// Whether the words of a program are safe in the order in which they may retire: what is
/// told, and whether they are.
fn ordered(machine: &Machine, function: &Function) -> Result<(String, bool), Diagnostic> {
    let name = &function.name;
    let program = Program::new(&format!("{name}.s"), function.code.iter().cloned());
    let words = program.bytes(machine)?;
    let (start, end) = (
        loops::settings(function),
        end(&function.arrays, &function.addresses),
    );
    let in_flight = tile::map::in_flight(machine);
    let listing = format!("{name}.words");
    let at = (start.as_slice(), Memory::new(end));
    let explanation = match retirement::check(
        machine,
        (&listing, &words),
        at,
        in_flight,
        MOST_STEPS,
    ) {
        Ok(safe) => {
            let Safe {
                words,
                executed,
                units,
                fences,
            } = safe;
            let explanation = format!(
                "no hazard in the {words} words for these sizes: {executed} executed, {units} of \
                 tiles, {fences} fences"
            );
            return Ok((explanation, true));
        }
        Err(Unsafe::Words(wrong)) => render(&wrong),
        Err(Unsafe::Hazard(_, explanation) | Unsafe::Stopped(Stopped::Fault(explanation))) => {
            explanation.to_string()
        }
        Err(Unsafe::Stopped(Stopped::Steps(n))) => format!("unknown: more than {n} steps"),
    };
    Ok((explanation, false))
}
