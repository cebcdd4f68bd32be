//! `isaforge sim`: a program of a machine, run by the meaning of its instructions.
//!
//! In: the arguments: a program as text or words, images of memory. Out: counts on standard
//! output, a trace when it is asked for, files of memory afterwards, a status. The work is
//! done by the crate `sim`.

use crate::args::Simulate;
use crate::compile::{cannot_read, cannot_write, read};
use crate::status::Status;
use crate::{assets, inspect, terminal};
use semantics::diagnostic::Diagnostic;
use semantics::machine::Machine;
use sim::memory::Memory;
use sim::program::MachineProgram;
use sim::run::{Counts, Simulator, Stopped};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;
use store::local::write_whole;

/// `isaforge sim`.
pub(crate) fn command(request: &Simulate) -> Status {
    match run(request) {
        Ok(status) => status,
        Err(diagnostics) => {
            terminal::complain(&diagnostics);
            Status::WrongInput
        }
    }
}

/// The machine of an instruction set, and what is wrong with some of its instructions.
///
/// # Errors
/// When there is no such instruction set, or it describes no machine.
pub(crate) fn machine(
    isa: &str,
    isa_specs: Option<&Path>,
) -> Result<(Machine, Vec<Diagnostic>), Vec<Diagnostic>> {
    let folder = assets::folder(isa, isa_specs).map_err(|d| vec![d])?;
    let manifest = folder.join("manifest.yaml");
    let dialect = spec_parser::manifest::dialect(&manifest)?;
    if dialect != "matrix" {
        let message = format!("`{isa}` is described as functions of a language, not as a machine");
        return Err(vec![Diagnostic::error(message).hint(
            "machines are those whose manifest says `dialect: matrix`, such as rvm",
        )]);
    }
    spec_parser::matrix::load::load(&manifest)
}

fn run(request: &Simulate) -> Result<Status, Vec<Diagnostic>> {
    let (machine, diagnostics) = machine(&request.isa, request.isa_specs.as_deref())?;
    let wrong = terminal::complain(&diagnostics);
    let program = program(&machine, &request.program)?;
    let memory = memory(request).map_err(|d| vec![d])?;
    let mut simulator = Simulator::new(&machine, memory);
    let start = Instant::now();
    let ended = match request.trace {
        true => simulator.run(&program, request.steps, &mut |line| {
            terminal::print(&format!("{line}\n"));
        }),
        false => simulator.run_quietly(&program, request.steps),
    };
    let counts = match ended {
        Ok(counts) => counts,
        Err(Stopped::Fault(diagnostic)) => return Err(vec![*diagnostic]),
        Err(Stopped::Steps(limit)) => {
            let message = format!("stopped after {limit} instructions");
            terminal::complain(&[Diagnostic::error(message).hint("`--steps` lets it run longer")]);
            return Ok(Status::Limited);
        }
    };
    let seconds = start.elapsed().as_secs_f64();
    for image in &request.save {
        save(image, &simulator.memory).map_err(|d| vec![d])?;
    }
    terminal::print(&summary(&counts, seconds));
    Ok(inspect::finish(wrong))
}

/// The program: words when the file is called `.bin`, else text.
fn program(machine: &Machine, path: &Path) -> Result<MachineProgram, Vec<Diagnostic>> {
    if path.extension().is_some_and(|e| e == "bin") {
        let bytes = assets::contents(path).map_err(|e| vec![cannot_read(path, &e)])?;
        return MachineProgram::from_words(machine, &path.display().to_string(), &bytes);
    }
    let source = read(path).map_err(|d| vec![d])?;
    MachineProgram::assemble(machine, &source)
}

/// Memory with its images.
fn memory(request: &Simulate) -> Result<Memory, Diagnostic> {
    let mut memory = Memory::new(request.memory_size);
    for image in &request.load {
        let (path, at) = image
            .rsplit_once('@')
            .and_then(|(path, at)| Some((Path::new(path), number(at)?)))
            .ok_or_else(|| misread(image, "data.bin@0x1000"))?;
        let bytes = assets::contents(path).map_err(|e| cannot_read(path, &e))?;
        let size = memory.size();
        let there = memory.get_mut(at, bytes.len()).ok_or_else(|| {
            let message = format!("`{image}` does not fit into {size:#x} bytes of memory");
            Diagnostic::error(message).hint(format!(
                "`--memory-size {:#x}` is enough",
                at.saturating_add(bytes.len() as u64)
            ))
        })?;
        there.copy_from_slice(&bytes);
    }
    Ok(memory)
}

/// Writes a part of memory to a file.
fn save(image: &str, memory: &Memory) -> Result<(), Diagnostic> {
    let (path, at, length) = image
        .rsplit_once('@')
        .and_then(|(path, range)| {
            let (at, length) = range.split_once('+')?;
            Some((Path::new(path), number(at)?, number(length)?))
        })
        .ok_or_else(|| misread(image, "out.bin@0x1000+64"))?;
    let count = usize::try_from(length).unwrap_or(usize::MAX);
    let bytes = memory.get(at, count).ok_or_else(|| {
        let message = format!("`{image}` asks for bytes past the end of memory");
        Diagnostic::error(message).hint(format!("memory has {:#x} bytes", memory.size()))
    })?;
    write_whole(path, bytes).map_err(|e| cannot_write(path, &e))
}

fn misread(image: &str, example: &str) -> Diagnostic {
    Diagnostic::error(format!("`{image}` names no part of memory"))
        .hint(format!("write it as `{example}`"))
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// What ran.
fn summary(counts: &Counts, seconds: f64) -> String {
    let mut text = String::new();
    for (name, times) in &counts.instructions {
        let _ = writeln!(text, "{times:>12}  {name}");
    }
    let _ = writeln!(
        text,
        "{:>12}  instructions in {seconds:.3} s",
        counts.total()
    );
    let _ = writeln!(text, "{:>12}  products", counts.products);
    text
}
