//! `isaforge new-isa`: the beginning of an instruction set of one's own.
//!
//! In: a name, the width of its vectors, a folder. Out: a folder of that name with a manifest,
//! models, costs and a few families, all with comments, and a kernel. It loads, checks and compiles
//! as it is. Nothing that is there is written over.

use crate::args::NewIsa;
use crate::status::Status;
use crate::terminal;
use semantics::diagnostic::Diagnostic;
use semantics::spelling::Spelling;
use std::path::Path;
use store::local::write_whole;

/// The files, with `NAME`, `WIDTH` and `LANES` in the places of those.
const FILES: [(&str, &str); 5] = [
    ("manifest.yaml", include_str!("new_isa/manifest.yaml")),
    (
        "instructions.yaml",
        include_str!("new_isa/instructions.yaml"),
    ),
    ("targets.yaml", include_str!("new_isa/targets.yaml")),
    ("cost/generic.yaml", include_str!("new_isa/generic.yaml")),
    ("example.kernel", include_str!("new_isa/example.kernel")),
];

/// Runs the command.
pub(crate) fn command(request: &NewIsa) -> Status {
    match make(request) {
        Ok(text) => {
            terminal::print(&text);
            Status::Done
        }
        Err(diagnostic) => {
            terminal::complain(&[diagnostic]);
            Status::WrongInput
        }
    }
}

/// Writes the files; what is told about them.
fn make(request: &NewIsa) -> Result<String, Diagnostic> {
    let name = request.name.as_str();
    let what = "the name of an instruction set";
    Spelling::Identifier
        .check(what, name)
        .map_err(|wrong| Diagnostic::error(wrong).hint("names of C functions begin with it"))?;
    let width = request.width;
    if !width.is_power_of_two() {
        let message =
            format!("vectors of {width} bits are not searched for: it is no power of two");
        let near = width.next_power_of_two();
        return Err(Diagnostic::error(message).hint(format!("give one, such as `--width {near}`")));
    }
    let folder = request.folder.join(name);
    if folder.exists() {
        let message = format!("`{}` is there already", folder.display());
        return Err(Diagnostic::error(message).hint("give another name, or another `--folder`"));
    }
    for (file, text) in FILES {
        let text = text
            .replace("NAME", name)
            .replace("WIDTH", &width.to_string());
        let text = text.replace("LANES", &(width / 8).to_string());
        let path = folder.join(file);
        write_whole(&path, text.as_bytes()).map_err(|error| {
            Diagnostic::error(format!("cannot write `{}`: {error}", path.display()))
        })?;
    }
    Ok(reported(name, &request.folder, &folder))
}

/// What to do next.
fn reported(name: &str, specs: &Path, folder: &Path) -> String {
    let (specs, folder) = (specs.display(), folder.display());
    format!(
        "written to `{folder}`: a machine that works as it is. Now\n\
         \x20 isaforge check --isa {name} --isa-specs {specs}\n\
         \x20 isaforge compile {folder}/example.kernel --isa {name} --isa-specs {specs} --target {name}1 --run\n\
         \x20 isaforge build --isa {name} --isa-specs {specs} -o built\n\
         and change `{folder}/instructions.yaml`; isa-specs/YOUR_OWN.md says how.\n"
    )
}
