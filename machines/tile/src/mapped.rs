//! A kernel to a program of a machine: the one way in.
//!
//! In: a kernel, the values of its sizes, a machine, a [`Request`]. Out: [`MappedProgram`]: the
//! program, and for which sizes it was proved to be the kernel. Which mapper makes it follows from
//! the machine and the kernel: commands in loops where there is a systolic array
//! ([`crate::systolic`]); a function with loops where the schedule has put arrays into tiles, or
//! loops are asked for ([`crate::loop_codegen`]); else tile instructions one after the other
//! ([`crate::map`]). What no tile instruction does the host computes, and the program says why. It
//! runs nothing and writes no text.

use crate::elementwise;
use crate::error::{Detail, MappingError};
use crate::loop_codegen::{
    Blocks, InTiles, Variant, in_tiles, left_in_tiles, loops_of, uses_tiles,
};
use crate::program::{ArrayUse, Function, TileProgram};
use crate::spilled::spilled;
use crate::systolic::code;
use crate::systolic::place::{self, Constraints};
use crate::systolic::program::CommandProgram;
use crate::whole;
use kernel::index::Symbol;
use kernel::tree::Kernel;
use schedule::Scheduled;
use semantics::diagnostic::Diagnostic;
use semantics::machine::Machine;
use smt::prover::Prover;
use std::collections::BTreeMap;
use std::fmt;

/// What becomes of loops on a machine with tiles, when the schedule has put nothing into these.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Loops {
    /// Blocks of few tiles are written out, others are tiles in loops.
    #[default]
    Large,
    /// Sums are tiles in loops, grouped as is said.
    Tiles(Option<Variant>),
    /// They stay as they are, for the host.
    Written,
}

/// What is asked of a mapping.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The address of the first array.
    pub first: i64,
    /// Each array begins at a multiple of so many bytes.
    pub apart: i64,
    /// What becomes of loops when none of the kernel's arrays are in tiles.
    pub loops: Loops,
    /// What commands of a systolic array are held to.
    pub constraints: Constraints,
    /// Whether commands are wanted as machine code, which takes a proof of its own.
    pub machine_code: bool,
}

impl Request {
    /// Where arrays lie, one after the other, and where the last one ends.
    pub fn placed(&self, arrays: &[ArrayUse]) -> (Vec<i64>, i64) {
        let mut at = self.first;
        let place = |a: &ArrayUse| {
            let here = at;
            at += (a.bytes + self.apart - 1) / self.apart * self.apart;
            here
        };
        (arrays.iter().map(place).collect(), at)
    }

    /// Whether loops of a kernel stay loops on a machine with tiles.
    pub fn keeps_loops(&self, scheduled: &Scheduled) -> bool {
        self.loops == Loops::Written || uses_tiles(scheduled)
    }
}

/// A mapped kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MappedProgram {
    /// What runs.
    pub code: Code,
    /// Where each array lies, when the program is run by itself.
    pub addresses: Vec<i64>,
    /// What was proved of it.
    pub verdict: Verdict,
    /// Why no tile instruction does anything of it, where the host computes what was meant for these.
    pub untiled: Vec<Diagnostic>,
}

/// The forms of mapped code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Code {
    /// Instructions of the host and of tiles, as they stand in memory; without branches, tile
    /// instructions were run while mapping.
    Function(Function),
    /// Commands with affine operands, in loops that no instruction makes yet, and the machine code that does
    /// the same, or why there is none.
    Commands(CommandProgram, Result<Function, String>),
}

/// For which sizes a program was proved to be its kernel. It always holds for all data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// For its own, from the instructions that are written out.
    Proved,
    /// The same mapping for smaller ones.
    ProvedAt {
        /// The sizes by name.
        sizes: Vec<(String, i64)>,
        /// How many elements of results that were.
        elements: usize,
        /// Why it was not shown for its own.
        why: String,
    },
    /// Each of its tile instructions is proved to be a block of loops; that all of them together, and
    /// what the host does, are the kernel was not shown.
    Blocks {
        /// Why not.
        why: String,
    },
    /// Nothing: the host does all of it.
    Open {
        /// Why it was not shown to be the kernel.
        why: String,
    },
}

impl Verdict {
    /// Why the program was not proved for its own sizes, where it was not.
    pub fn limit(&self) -> Option<&str> {
        match self {
            Verdict::Proved => None,
            Verdict::ProvedAt { why, .. } | Verdict::Blocks { why } | Verdict::Open { why } => {
                Some(why)
            }
        }
    }
}

impl fmt::Display for Verdict {
    /// `proved`, `proved at m=8, n=8`, `its blocks are proved`, `not proved`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Proved => f.write_str("proved"),
            Verdict::ProvedAt { sizes, .. } => {
                let sizes: Vec<String> = sizes.iter().map(|(s, n)| format!("{s}={n}")).collect();
                write!(f, "proved at {}", sizes.join(", "))
            }
            Verdict::Blocks { .. } => f.write_str("its blocks are proved"),
            Verdict::Open { .. } => f.write_str("not proved"),
        }
    }
}

impl MappedProgram {
    /// The kernel's name.
    pub fn name(&self) -> &str {
        match &self.code {
            Code::Function(function) => &function.name,
            Code::Commands(program, _) => &program.name,
        }
    }
}

/// Maps a kernel and proves it. Where it needs more values at once than there are scalar registers, some
/// are kept in memory.
///
/// # Errors
/// What is wrong, with its place.
pub fn map(
    scheduled: &Scheduled,
    sizes: &BTreeMap<Symbol, i64>,
    machine: &Machine,
    prover: &Prover,
    request: &Request,
) -> Result<MappedProgram, Vec<Diagnostic>> {
    let mapped = map_beside(scheduled, sizes, machine, prover, request, &|_, _| ())?;
    Ok(mapped.0)
}

/// The same, with what becomes of commands in the meantime: they are looked at, with where their arrays lie,
/// while they are proved.
///
/// # Errors
/// As [`map`].
pub fn map_beside<T: Send>(
    scheduled: &Scheduled,
    sizes: &BTreeMap<Symbol, i64>,
    machine: &Machine,
    prover: &Prover,
    request: &Request,
    meanwhile: Meanwhile<'_, T>,
) -> Result<(MappedProgram, Option<T>), Vec<Diagnostic>> {
    let wrong = match in_registers(scheduled, sizes, machine, prover, request, meanwhile) {
        Ok(mapped) => return Ok(mapped),
        Err(wrong) => wrong,
    };
    let kernel = scheduled.kernel();
    for of in SPILLED {
        let Some(spilled) = spilled(kernel, of) else {
            break;
        };
        // Commands are proved to be what they are made from.
        if place::serves(machine) && whole::alike(kernel, &spilled, sizes, prover).is_err() {
            continue;
        }
        let spilled = scheduled.with_kernel(spilled);
        let mapped = in_registers(&spilled, sizes, machine, prover, request, meanwhile);
        if let Ok(mut mapped) = mapped {
            // Why the host does it is told of what was written.
            if !mapped.0.untiled.is_empty() {
                mapped.0.untiled = wrong;
            }
            return Ok(mapped);
        }
    }
    Err(wrong)
}

/// One value of so many goes to memory, until the others fit into registers.
const SPILLED: [usize; 3] = [3, 2, 1];

/// What is done with commands, and where their arrays lie, while they are proved.
pub type Meanwhile<'a, T> = &'a (dyn Fn(&CommandProgram, &[i64]) -> T + Sync);

/// Maps a kernel as it is.
fn in_registers<T: Send>(
    scheduled: &Scheduled,
    sizes: &BTreeMap<Symbol, i64>,
    machine: &Machine,
    prover: &Prover,
    request: &Request,
    meanwhile: Meanwhile<'_, T>,
) -> Result<(MappedProgram, Option<T>), Vec<Diagnostic>> {
    let scheduled = &*elementwise::of(scheduled, sizes, prover)?;
    let kernel = scheduled.kernel();
    if place::serves(machine) {
        let held = request.constraints;
        // The machine code, and whether it performs the commands.
        let written = |program: &CommandProgram, addresses: &[i64]| {
            if !request.machine_code {
                return Err("no machine code was asked for".to_owned());
            }
            let function = code::function(machine, program, addresses)?;
            let performs = whole::performs(&function, program, machine);
            Ok((function, performs.is_ok()))
        };
        let beside = |program: &CommandProgram| {
            let (addresses, _) = request.placed(&program.arrays);
            let (function, done) = rayon::join(
                || written(program, &addresses),
                || meanwhile(program, &addresses),
            );
            (function, done, addresses)
        };
        let ((program, verdict, untiled), (function, done, addresses)) =
            place::map_beside_host(kernel, sizes, machine, prover, held, &beside)?;
        let function = function.and_then(|(function, performs)| {
            // Commands that were proved at other sizes alone say as much of their code.
            if verdict == Verdict::Proved && !performs {
                let proved = whole::function(kernel, sizes, &function, machine, prover);
                proved.map_err(|why| format!("its machine code is not proved: {why}"))?;
            }
            Ok(function)
        });
        let mapped = MappedProgram {
            addresses,
            code: Code::Commands(program, function),
            verdict,
            untiled,
        };
        return Ok((mapped, Some(done)));
    }
    let blocks = Blocks::of(machine, prover);
    let function = function((scheduled, &blocks), sizes, machine, prover, request);
    let (function, untiled) = match function {
        Ok(function) => (function, Vec::new()),
        Err(wrong) if request.keeps_loops(scheduled) => return Err(wrong),
        Err(wrong) => {
            let places = (request.first, request.apart);
            let loops = loops_of((scheduled, &blocks), sizes, machine, prover, places);
            let refused = |host| both(kernel, wrong.clone(), host, &blocks.products());
            (loops.map_err(refused)?, wrong)
        }
    };
    let whole = whole::function(scheduled.original(), sizes, &function, machine, prover);
    let verdict = match whole {
        Ok(_) => Verdict::Proved,
        Err(why) if untiled.is_empty() => Verdict::Blocks { why },
        Err(why) => Verdict::Open { why },
    };
    let mapped = MappedProgram {
        addresses: function.addresses.clone(),
        code: Code::Function(function),
        verdict,
        untiled,
    };
    Ok((mapped, None))
}

/// Why no tile instruction does it, with why the host does not either; of what the host has no instruction
/// for, that first: no tiling of loops would change it.
pub(crate) fn both(
    kernel: &Kernel,
    mut wrong: Vec<Diagnostic>,
    host: MappingError,
    products: &[String],
) -> Vec<Diagnostic> {
    let lacking = host.detail == Detail::Lacking;
    let mut reported = host.reported(kernel);
    if wrong.is_empty() || lacking {
        if let Some(first) = reported.first_mut() {
            first.notes.push(match products {
                [] => "no tile instruction does it either".to_owned(),
                all => format!(
                    "no tile instruction computes this either; tiles multiply and add {}",
                    all.join(", ")
                ),
            });
        }
        return reported;
    }
    if let (Some(first), [why]) = (wrong.first_mut(), &reported[..])
        && first != why
    {
        let note = format!("the host does not do it either: {}", why.message);
        first.notes.push(note);
    }
    wrong
}

/// The most products of tiles that are written one after the other; more are in loops.
pub const MOST_PRODUCTS: i64 = 256;

/// Code for a machine with tile registers.
fn function(
    (scheduled, blocks): (&Scheduled, &Blocks),
    sizes: &BTreeMap<Symbol, i64>,
    machine: &Machine,
    prover: &Prover,
    request: &Request,
) -> Result<Function, Vec<Diagnostic>> {
    let places = (request.first, request.apart);
    if request.keeps_loops(scheduled) {
        let tiled = match uses_tiles(scheduled) {
            true => left_in_tiles(scheduled, sizes, (machine, blocks)),
            false => None,
        };
        if let Some(Ok(function)) = tiled.map(|t| t.map(sizes, machine, prover, places)) {
            return Ok(function);
        }
        let loops = loops_of((scheduled, blocks), sizes, machine, prover, places);
        return loops.map_err(|e| e.reported(scheduled.kernel()));
    }
    let (variant, few) = match request.loops {
        Loops::Tiles(variant) => (variant, 0),
        _ => (None, MOST_PRODUCTS),
    };
    let tiled = in_tiles(scheduled, sizes, (machine, blocks), variant)?;
    let in_loop = |t: &InTiles<'_>| t.map(sizes, machine, prover, places);
    let mut why = None;
    if let Some(tiled) = tiled.as_ref().filter(|t| t.products() > few) {
        match in_loop(tiled) {
            Ok(function) => return Ok(function),
            Err(wrong) => why = Some(wrong),
        }
    }
    let unrolled = crate::map::map((scheduled, blocks), sizes, machine, prover);
    let unrolled = unrolled.and_then(|t| called(&t, scheduled.kernel(), machine, request));
    match (unrolled, tiled, why) {
        (Err(_), Some(tiled), None) => in_loop(&tiled),
        (Err(_), _, Some(why)) => Err(why),
        (unrolled, ..) => unrolled,
    }
}

/// Tile instructions as a function.
fn called(
    tiles: &TileProgram,
    kernel: &Kernel,
    machine: &Machine,
    request: &Request,
) -> Result<Function, Vec<Diagnostic>> {
    let (addresses, _) = request.placed(&tiles.arrays);
    tiles.place(machine, &addresses).map_err(|reason| {
        let hint = "the machine's specification has no instruction for it";
        let diagnostic = Diagnostic::error(reason).at(&kernel.source, kernel.span);
        vec![diagnostic.hint(hint)]
    })
}
