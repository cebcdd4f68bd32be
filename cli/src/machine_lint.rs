//! `isaforge check` for machines: what can be said of a description without the hardware.
//!
//! In: the arguments. Out: for an instruction set that is a whole machine, what its own files
//! show: mistakes of instructions, those that no unit of the model of cost works on, errata.
//! Other instruction sets are left to [`crate::check`].

use crate::args::Check;
use crate::status::Status;
use crate::{assets, terminal};
use semantics::diagnostic::Diagnostic;
use semantics::machine::{Machine, OperandKind};
use spec_parser::{manifest, matrix};
use std::fmt::Write as _;

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
    let (machine, diagnostics) = match matrix::load::load(&path) {
        Ok(loaded) => loaded,
        Err(diagnostics) => {
            terminal::complain(&diagnostics);
            return Some(Status::WrongInput);
        }
    };
    let wrong = terminal::complain(&diagnostics);
    let filter = request.filter.as_deref().unwrap_or_default();
    let (text, found) = report(&machine, filter, diagnostics.len());
    if found == 0 && !wrong {
        terminal::complain(&[crate::check::none_found(request.filter.as_deref())]);
        return Some(Status::WrongInput);
    }
    terminal::print(&text);
    Some(match wrong {
        true => Status::WrongInput,
        false => Status::Done,
    })
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
