//! Who runs an instruction set's programs: this processor, or an emulator of another.
//!
//! In: what the set's manifest says of its C programs. Out: [`Judge`]: the features that are
//! there, the headers, and the compiler with the command before a program; or what is missing
//! and how it is installed. It runs nothing but `--version`.

use super::machine::Compiler;
use semantics::diagnostic::Diagnostic;
use spec_parser::manifest::{self, CSection};
use std::path::Path;
use std::process::{Command, Stdio};
use target::{Target, Targets};
use toolchain::c;

/// Who runs the programs.
#[derive(Clone, Debug)]
pub struct Judge {
    /// What it has.
    pub host: Target,
    /// The headers that declare the functions.
    pub headers: Vec<String>,
    /// The compiler of the programs, or why there is none.
    pub compiler: Result<Compiler, String>,
}

/// The judge of the instruction set in a folder.
///
/// # Errors
/// When its manifest cannot be read, or this machine cannot be told.
pub fn of(folder: &Path, targets: &Targets) -> Result<Judge, Vec<Diagnostic>> {
    let section = manifest::c_section(&folder.join("manifest.yaml"))?;
    let one = |diagnostic: Diagnostic| vec![diagnostic];
    let here = section.native.as_deref();
    if here.is_none_or(|native| native == std::env::consts::ARCH) {
        return Ok(Judge {
            host: targets.host().map_err(one)?,
            headers: section.headers,
            compiler: own(),
        });
    }
    let host = match &section.model {
        Some(model) => targets.find(model).map_err(one)?,
        None => Target {
            name: "none".to_owned(),
            model: String::new(),
            features: Default::default(),
        },
    };
    Ok(Judge {
        host,
        compiler: foreign(&section),
        headers: section.headers,
    })
}

/// The compiler of this machine's programs.
pub fn own() -> Result<Compiler, String> {
    match c::compiler() {
        Some(program) => Ok(Compiler {
            program,
            flags: Vec::new(),
            runner: Vec::new(),
        }),
        None => Err(c::MISSING.to_owned()),
    }
}

/// The compiler of another machine's programs, which an emulator runs.
fn foreign(section: &CSection) -> Result<Compiler, String> {
    let missing = |what: &str| match &section.install {
        Some(how) => format!("there is no {what}: {how}"),
        None => format!("there is no {what}"),
    };
    if section.compilers.is_empty() || section.emulator.is_empty() {
        let native = section.native.as_deref().unwrap_or("other");
        return Err(format!(
            "this machine is no {native}, and the manifest names no compiler and emulator"
        ));
    }
    let Some(program) = section.compilers.iter().find(|c| works(c)) else {
        return Err(missing(&section.compilers.join(" or ")));
    };
    if !works(&section.emulator[0]) {
        return Err(missing(&section.emulator[0]));
    }
    Ok(Compiler {
        program: program.clone(),
        flags: section.flags.clone(),
        runner: section.emulator.clone(),
    })
}

/// Whether a program answers.
fn works(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null());
    command.output().is_ok_and(|o| o.status.success())
}
