//! `isaforge map`: kernels to programs of a machine with tiles.
//!
//! In: the arguments. Out: code as C, assembly, a listing or words; a report of instructions,
//! cycles and registers; with `--run` what the simulator says of it. The crates `tile`,
//! `codegen-gen` and `sim` do the work.

mod array;
mod loops;
mod timing;
mod unrolled;

use crate::args::{Map, MapEmit, Size, Which};
use crate::compile::{cannot_write, read};
use crate::status::Status;
use crate::{auto, inspect, simulate, terminal};
use codegen_gen::back_end::{BackEnd, Code};
use codegen_gen::machine::{TextForm, Tiles};
use kernel::data;
use kernel::index::Symbol;
use kernel::tree::Kernel;
use schedule::Scheduled;
use schedule_space::pace;
use semantics::diagnostic::{Diagnostic, Severity, render, suggest};
use semantics::machine::Machine;
use sim::memory::Memory;
use sim::program::MachineProgram;
use sim::retirement::{self, Safe, Unsafe};
use sim::run::Stopped;
use sim::timing::Taken;
use smt::prover::Prover;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Instant;
use store::local::write_whole;
use tile::loop_codegen::{Blocks, InTiles, in_tiles, uses_tiles};
use tile::mapped::{self, Loops, MappedProgram};
use tile::program::{ArrayUse, Function, TileProgram};
use tile::systolic::program::CommandProgram;
use timing::Untold;

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
    let has_array = tile::systolic::place::serves(&machine);
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
    let source = read(&request.kernel).map_err(|d| vec![d])?;
    let (kernels, diagnostics) = kernel::read(&source);
    wrong |= terminal::complain(&diagnostics);
    if let Some(clash) = codegen_gen::c::clash(&kernels) {
        return Err(vec![clash]);
    }
    let prover = request.prover.prover(1).map_err(|d| vec![d])?;
    let mut mapping = Mapping {
        request,
        machine: &machine,
        prover: &prover,
        has_array,
        codes: Vec::new(),
        report: String::new(),
        rows: Vec::new(),
    };
    wrong |= terminal::complain(&nobodys(&request.size, &kernels));
    let (mut status, mut failed) = (Status::Done, 0);
    for kernel in &kernels {
        // Schedules may name the machine's parameters; functions are handed arrays alone.
        let kernel = &schedule::with_parameters(kernel, &machine.parameters).scalars_in_arrays();
        // What is wrong with one kernel is told, and the others are mapped.
        match mapping.kernel(kernel) {
            Ok(of) => status = status.max(of),
            Err(diagnostics) => {
                terminal::complain(&diagnostics);
                (wrong, failed) = (true, failed + 1);
            }
        }
    }
    let (code, rows) = (Code::joined(&mapping.codes), mapping.rows);
    let mut report = mapping.report;
    report.push_str(&loops::report(&rows, request.table));
    match terminal::file(request.output.as_deref()) {
        // Nothing was mapped, and what the file had stays in it.
        _ if failed == kernels.len() => eprint!("{report}"),
        None if request.table => terminal::print(&report),
        Some(path) => {
            write_whole(path, code.as_bytes()).map_err(|e| vec![cannot_write(path, &e)])?;
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
    codes: Vec<Code>,
    report: String,
    rows: Vec<loops::Row>,
}

impl Mapping<'_> {
    fn kernel(&mut self, kernel: &Kernel) -> Result<Status, Vec<Diagnostic>> {
        let (request, machine) = (self.request, self.machine);
        let sizes = &sizes(kernel, &request.size).map_err(|d| vec![d])?;
        // What an error leaves of a report is not shown.
        let mut report = String::new();
        let (scheduled, asked) = self.asked(kernel, sizes, &mut report)?;
        let start = Instant::now();
        // What commands take is found out while they are proved.
        let figures = |commands: &CommandProgram, addresses: &[i64]| {
            let wanted = request.run.is_none();
            wanted.then(|| timing::figures(machine, commands, addresses))
        };
        let mapped = mapped::map_beside(&scheduled, sizes, machine, self.prover, &asked, &figures);
        let (program, figures) = match mapped {
            Ok(mapped) => mapped,
            Err(wrong) => (self.without_schedule(kernel, sizes, &asked, wrong)?, None),
        };
        let run = Run {
            request,
            kernel,
            sizes,
            machine,
            program: &program,
            figures: figures.flatten(),
            seconds: start.elapsed().as_secs_f64(),
        };
        let text = run.code()?;
        let status = match &program.code {
            mapped::Code::Commands(commands, _) => {
                array::report(&run, commands, &asked, &mut report)?
            }
            mapped::Code::Function(function)
                if function.has_loops(machine) || asked.keeps_loops(&scheduled) =>
            {
                let row = loops::row(&run, function)?;
                let status = row.status();
                self.rows.push(row);
                status
            }
            mapped::Code::Function(function) => unrolled::report(&run, function, &mut report)?,
        };
        if !request.table {
            self.codes.push(text);
        }
        self.report.push_str(&report);
        Ok(status.max(untiled(&program)).max(limit(&program)))
    }

    /// The kernel and what is asked of its mapping, after a search for a schedule where that is
    /// wanted.
    fn asked(
        &self,
        kernel: &Kernel,
        sizes: &BTreeMap<Symbol, i64>,
        report: &mut String,
    ) -> Result<(Scheduled, mapped::Request), Vec<Diagnostic>> {
        let (request, machine, prover) = (self.request, self.machine, self.prover);
        let decided = array::decided(request)?;
        let mut asked = mapped::Request {
            first: i64::from(request.address),
            apart: APART,
            loops: match request.loops || request.table {
                true => Loops::Written,
                false => Loops::Large,
            },
            constraints: decided.constraints(),
            machine_code: !request.table && !matches!(request.emit, MapEmit::C),
        };
        if request.schedule == Which::Written {
            asked.constraints.hardware_loop = request.hardware_loop;
        } else if self.has_array {
            let cycles = |p: &CommandProgram| array::cycles(machine, p, &asked);
            asked.constraints = array::searched(
                request,
                (kernel, sizes),
                machine,
                prover,
                decided,
                &cycles,
                report,
            )?;
        }
        let scheduled = self.for_sizes(kernel, sizes, report)?;
        if request.schedule == Which::Written || self.has_array || uses_tiles(&scheduled) {
            return Ok((scheduled, asked));
        }
        self.tiles_searched(kernel, scheduled, sizes, asked, report)
    }

    /// The kernel with its own schedule applied. Where tiles of the schedule do not divide these sizes, it
    /// is for whole tiles; where they fill none, the kernel is as it was written. Either is told.
    fn for_sizes(
        &self,
        kernel: &Kernel,
        sizes: &BTreeMap<Symbol, i64>,
        report: &mut String,
    ) -> Result<Scheduled, Vec<Diagnostic>> {
        let name = &kernel.name;
        match schedule::apply_at(kernel, sizes)? {
            schedule::At::All(scheduled) => Ok(scheduled),
            schedule::At::Whole(scheduled, left) => {
                for loops in left {
                    let _ = writeln!(report, "schedule of {name}: {loops}");
                }
                Ok(scheduled)
            }
            schedule::At::None(scheduled, why) => {
                let _ = writeln!(report, "schedule of {name}: left out: {why}");
                Ok(scheduled)
            }
        }
    }
}

impl Mapping<'_> {
    /// A kernel whose schedule makes nothing that this machine can run, such as tiles of another
    /// machine's size, is mapped as if it had none, and that is told.
    fn without_schedule(
        &self,
        kernel: &Kernel,
        sizes: &BTreeMap<Symbol, i64>,
        asked: &mapped::Request,
        wrong: Vec<Diagnostic>,
    ) -> Result<MappedProgram, Vec<Diagnostic>> {
        if self.has_array || kernel.schedule.is_empty() {
            return Err(wrong);
        }
        let plain = schedule::apply_directives(kernel, &[])?;
        let tiles = mapped::Request {
            loops: Loops::Tiles(None),
            ..*asked
        };
        let Ok(program) = mapped::map(&plain, sizes, self.machine, self.prover, &tiles) else {
            return Err(wrong);
        };
        let why = wrong.first().map_or("", |w| w.message.as_str());
        let name = &kernel.name;
        let message = format!(
            "the schedule beside `{name}` was left out; with it there is no program: {why}"
        );
        let hint = "a schedule may name the machine's parameters: `tile y by ROWS into yo`";
        let warning = Diagnostic::warning(message).at(&kernel.source, kernel.span);
        terminal::complain(&[warning.hint(hint)]);
        Ok(program)
    }

    /// A schedule for a machine with tile registers that was searched for: of what is written
    /// out where that is short, else of tiles in loops.
    fn tiles_searched(
        &self,
        kernel: &Kernel,
        plain: Scheduled,
        sizes: &BTreeMap<Symbol, i64>,
        mut asked: mapped::Request,
        report: &mut String,
    ) -> Result<(Scheduled, mapped::Request), Vec<Diagnostic>> {
        let (request, machine, prover) = (self.request, self.machine, self.prover);
        let time = request.schedule_time;
        let blocks = Blocks::of(machine, prover);
        let tiles = in_tiles(&plain, sizes, (machine, &blocks), None)?;
        let few = |t: &InTiles<'_>| t.products() <= mapped::MOST_PRODUCTS && !request.loops;
        let chooses = auto::chooses(kernel, sizes, machine);
        if let (None, Err(why)) = (&tiles, &chooses) {
            let (name, why) = (&kernel.name, &why.message);
            let _ = writeln!(report, "schedule of {name}: as written: {why}");
            return Ok((plain, asked));
        }
        // Of a sum of another form, or whose loops are cut already, groups of tiles are chosen.
        let (begin, mut written_out) = (Instant::now(), None);
        if chooses.is_ok() && tiles.as_ref().is_none_or(few) {
            let addresses = |program: &TileProgram| asked.placed(&program.arrays).0;
            let machine = (machine, &blocks);
            let found = auto::tiles(kernel, sizes, machine, prover, &addresses, time, report);
            match found {
                // Tiles in loops may take less.
                Ok(found) if tiles.is_some() && kernel.schedule.is_empty() => {
                    written_out = Some(found);
                }
                Ok((found, _)) => return Ok((found, asked)),
                Err(wrong) if !kernel.schedule.is_empty() => return Err(wrong),
                // No candidate, and no sums: there may be code as it is written.
                Err(wrong) if tiles.is_none() => {
                    let why = wrong.first().map_or("", |w| w.message.as_str());
                    let _ = writeln!(report, "schedule of {}: as written: {why}", kernel.name);
                    return Ok((plain, asked));
                }
                // Sizes that are no multiples of tiles.
                Err(_) => {}
            }
        }
        let scalars = pace::scalars(machine).map_err(|why| vec![Diagnostic::error(why)])?;
        let cycles =
            |f: &Function, limits| pace::cycles((machine, &scalars), f, limits).map(|c| c.total);
        let context = (machine, prover, &blocks);
        let left = time.map(|t| (t - begin.elapsed().as_secs_f64()).max(0.0));
        let over = left.is_some_and(|t| t <= 0.0);
        if let Some((found, _)) = written_out.take_if(|_| over) {
            return Ok((found, asked));
        }
        let (variant, looped) =
            auto::loops::searched(&plain, sizes, context, (left, &cycles), report)?;
        if let Some((found, cost)) = written_out
            && looped.is_none_or(|looped| cost <= looped)
        {
            let _ = writeln!(report, "  written out it takes less: {cost} cycles");
            return Ok((found, asked));
        }
        asked.loops = Loops::Tiles(variant);
        Ok((plain, asked))
    }
}

/// That the host computes what no tile instruction does is told, and is a limit that was reached.
fn untiled(program: &MappedProgram) -> Status {
    if program.untiled.is_empty() {
        return Status::Done;
    }
    let name = program.name();
    let reported = program.untiled.iter().map(|why| Diagnostic {
        severity: Severity::Warning,
        message: format!("the host computes `{name}` without tiles: {}", why.message),
        ..why.clone()
    });
    terminal::complain(&reported.collect::<Vec<_>>());
    Status::Limited
}

/// That a program is not proved at its own sizes is told, and is a limit that was reached.
fn limit(program: &MappedProgram) -> Status {
    let Some(why) = program.verdict.limit() else {
        return Status::Done;
    };
    let name = program.name();
    let message = format!("at these sizes the program is not proved to be `{name}`: {why}");
    let hint = match program.verdict {
        mapped::Verdict::ProvedAt { .. } => {
            "the proof is of the same mapping at the smaller sizes that are told (exit code 3)"
        }
        mapped::Verdict::Open { .. } => "run it with `--run` (exit code 3)",
        _ => "its tile instructions are proved one by one; run it with `--run` (exit code 3)",
    };
    terminal::complain(&[Diagnostic::warning(message).hint(hint)]);
    Status::Limited
}

/// A mapped kernel, to be written, run and told of.
struct Run<'a> {
    request: &'a Map,
    kernel: &'a Kernel,
    sizes: &'a BTreeMap<Symbol, i64>,
    machine: &'a Machine,
    program: &'a MappedProgram,
    /// What commands take, where they are not run.
    figures: Option<Result<Taken, Untold>>,
    /// What mapping it took.
    seconds: f64,
}

impl Run<'_> {
    /// The first line of a report.
    fn heading(&self) -> String {
        format!(
            "kernel {}: {}; mapped in {:.2} s",
            self.program.name(),
            self.program.verdict,
            self.seconds
        )
    }

    /// The code.
    fn code(&self) -> Result<Code, Vec<Diagnostic>> {
        let form = match self.request.emit {
            MapEmit::C => TextForm::C,
            MapEmit::Asm => TextForm::Assembly,
            MapEmit::Listing => TextForm::Listing,
        };
        let version = env!("CARGO_PKG_VERSION");
        let from = self.kernel.source.name();
        let about = format!("Made by isaforge {version} from {from}.");
        let machine = self.machine;
        let code = Tiles { machine, form }.code(self.program, &[about]);
        code.map_err(|reason| {
            let hint = match &self.program.code {
                mapped::Code::Commands(..) => "take smaller sizes, or another form with `--emit`",
                mapped::Code::Function(_) => {
                    "the machine's specification has no instruction for it"
                }
            };
            let diagnostic = Diagnostic::error(reason).at(&self.kernel.source, self.kernel.span);
            vec![diagnostic.hint(hint)]
        })
    }
}

/// The sizes that were given, by the kernel's names.
pub(crate) fn sizes(kernel: &Kernel, given: &[Size]) -> Result<BTreeMap<Symbol, i64>, Diagnostic> {
    let names: BTreeMap<String, Symbol> =
        kernel.sizes().map(|s| (kernel.symbol_name(s), s)).collect();
    // A file may hold kernels with other sizes.
    let given_here = given.iter();
    let given_here = given_here.filter_map(|(name, value)| Some((*names.get(name)?, *value)));
    let sizes: BTreeMap<Symbol, i64> = given_here.collect();
    match names.iter().find(|(_, s)| !sizes.contains_key(s)) {
        None => match data::too_large(kernel, &sizes) {
            None => Ok(sizes),
            Some(array) => Err(too_large(kernel, &array.name)),
        },
        Some((name, _)) => {
            let given = given.iter().map(|(name, _)| name.as_str());
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

/// What is wrong with sizes that are given and that none of the kernels has, where there are kernels.
pub(crate) fn nobodys(given: &[Size], kernels: &[Kernel]) -> Vec<Diagnostic> {
    let all = kernels.iter();
    let all = all.flat_map(|k| k.sizes().map(|s| k.symbol_name(s)));
    let names: BTreeSet<String> = all.collect();
    let given = given.iter().map(|(name, _)| name);
    let unknown = given.filter(|name| !kernels.is_empty() && !names.contains(*name));
    let told = unknown.map(|name| {
        let hint = match suggest(name, names.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None if names.is_empty() => "leave `--size` out: there are none".to_owned(),
            None => format!("there are {}", Vec::from_iter(names.clone()).join(", ")),
        };
        Diagnostic::error(format!("no kernel of this file has a size `{name}`")).hint(hint)
    });
    told.collect()
}

/// An array that no memory has room for.
fn too_large(kernel: &Kernel, array: &str) -> Diagnostic {
    let message = format!("at these sizes `{array}` of `{}` is too large", kernel.name);
    Diagnostic::error(message)
        .at(&kernel.source, kernel.span)
        .hint("take smaller sizes: an array has at most 2^38 elements")
}

/// The name of the model of cost, where there are several.
fn model(machine: &Machine) -> String {
    match machine.models.is_empty() {
        true => String::new(),
        false => format!(" `{}`", machine.model),
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
    let program = MachineProgram::new(&format!("{name}.s"), function.code.iter().cloned());
    let words = program.bytes(machine)?;
    let (start, end) = (
        loops::settings(function),
        end(&function.arrays, &function.addresses),
    );
    let in_flight = tile::map::in_flight(machine);
    let listing = format!("{name}.words");
    let mut memory = Memory::new(end);
    let there = memory.put(&function.image());
    debug_assert!(
        there,
        "a function's own arrays are among those of which the last ends there"
    );
    let at = (start.as_slice(), memory);
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
