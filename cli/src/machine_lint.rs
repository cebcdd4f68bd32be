//! `isaforge check` for machines: what can be said of a description without the hardware.
//!
//! In: the arguments. Out: for an instruction set that is a whole machine, what its own files
//! show: mistakes of instructions, those that no unit of the model of cost works on, errata.
//! Other instruction sets are left to [`crate::check`].

use crate::args::Check;
use crate::status::Status;
use crate::{assets, terminal};
use semantics::diagnostic::{Diagnostic, Severity};
use semantics::machine::{Machine, OperandKind};
use semantics::span::{Source, Span};
use smt::config::Config;
use smt::prover::Prover;
use spec_parser::{manifest, matrix};
use std::fmt::Write as _;
use std::path::Path;

/// Runs the command when the instruction set is a machine.
pub(crate) fn command(request: &Check) -> Option<Status> {
    let specs = &request.specs;
    let folder = assets::folder(&specs.isa, specs.isa_specs.as_deref()).ok()?;
    let path = folder.join("manifest.yaml");
    if manifest::dialect(&path).ok()? != "matrix" {
        return None;
    }
    if request.hardware || request.headers || request.against.is_some() || !request.lint {
        let message = format!("no hardware of {} can be asked", specs.isa);
        let hint = "for a machine there is `--lint`; `isaforge sim` runs its programs";
        terminal::complain(&[Diagnostic::error(message).hint(hint)]);
        return Some(Status::WrongInput);
    }
    let (machine, mut diagnostics) = match matrix::load::load(&path) {
        Ok(loaded) => loaded,
        Err(diagnostics) => {
            terminal::complain(&diagnostics);
            return Some(Status::WrongInput);
        }
    };
    // What was refused may be what mapping needs.
    if !diagnostics.iter().any(|d| d.severity == Severity::Error) {
        diagnostics.extend(unmappable(&machine, &path));
    }
    let wrong = terminal::complain(&diagnostics);
    let filter = request.filter.as_deref().unwrap_or_default();
    let (text, found) = report(&machine, filter, diagnostics.len());
    if found == 0 && !wrong {
        terminal::complain(&[crate::check::none_found(request.filter.as_deref())]);
        return Some(Status::WrongInput);
    }
    terminal::print(&text);
    Some(match (wrong, diagnostics.is_empty()) {
        (true, _) => Status::WrongInput,
        (false, false) => Status::CheckFailed,
        (false, true) => Status::Done,
    })
}

/// What keeps programs from being mapped to a machine, at the section of the manifest that says it.
fn unmappable(machine: &Machine, path: &Path) -> Vec<Diagnostic> {
    let Ok(text) = std::fs::read_to_string(path) else {
        return Vec::new();
    };
    let source = Source::of_file(path, text);
    let reported = |key: &str, message: String, hint: &str| {
        let text = source.text();
        let at = text.find(&format!("\n{key}:")).map_or(0, |at| at + 1);
        let named = message.split('`').nth(1).filter(|name| !name.is_empty());
        let inside = named.and_then(|name| Some((text[at..].find(name)?, name)));
        let span = match inside {
            Some((from, name)) => Span::new(at + from, at + from + name.len()),
            None => Span::new(at, at + key.len()),
        };
        Diagnostic::error(message).at(&source, span).hint(hint)
    };
    let setup = "its bytes are what the instruction loads, and instructions require what it sets";
    let faults = tile::configured::faults(machine).into_iter();
    let mut out: Vec<Diagnostic> = faults
        .map(|fault| reported("setup", fault, setup))
        .collect();
    let array = tile::systolic::without_array(machine);
    out.extend(array.map(|reason| {
        let message = format!("nothing can be mapped to its array: {reason}");
        reported("roles", message, "the mapper looks for its commands here")
    }));
    if out.is_empty() {
        let prover = Prover::new(Config::default());
        let tiles = tile::map::without_tiles(machine, &prover);
        out.extend(tiles.map(|reason| {
            let message = format!("nothing can be mapped to its tiles: {reason}");
            let hint = "instructions are known by their meanings: is one of them another than it should be?";
            reported("registers", message, hint)
        }));
    }
    out
}

/// What is printed, and how many instructions there are.
fn report(machine: &Machine, filter: &str, faults: usize) -> (String, usize) {
    let mut text = String::from("lint\n");
    let (mut all, mut notes) = (0, 0);
    for (k, found) in machine.instructions.iter().enumerate() {
        let name = &found.instruction.name;
        if !name.contains(filter) {
            continue;
        }
        all += 1;
        let foreign = |kind: &OperandKind| match kind {
            OperandKind::Register { file, .. } => machine.files[*file].foreign,
            OperandKind::Immediate { .. } => false,
        };
        let tiles = found.operands.iter().any(|o| foreign(&o.kind));
        if tiles && machine.units.iter().all(|u| !u.instructions.contains(&k)) {
            notes += 1;
            let _ = writeln!(
                text,
                "note: no unit of the model of cost works on it: {name}"
            );
        }
    }
    let _ = writeln!(text, "{all:>9}  instructions");
    let _ = writeln!(text, "{:>9}  without findings", all - notes);
    let _ = writeln!(text, "{notes:>9}  with notes only");
    let _ = writeln!(text, "{faults:>9}  with faults");
    (text, all)
}
