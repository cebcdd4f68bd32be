//! The functions of a build's C header, run on this processor.
//!
//! In: the folder of a build. Out: a table on standard output, a status. Each function is
//! compared with what its operation means at its numbers, by the interpreter; how, is the
//! business of the check of instructions.

use crate::args::Check;
use crate::status::Status;
use crate::{assets, build, compile, terminal, trust};
use autoir::dictionary::Dictionary;
use codegen_gen::header;
use semantics::diagnostic::Diagnostic;
use semantics::instruction::Instruction;
use std::fs;
use std::path::{Path, PathBuf};
use target::Targets;
use validate::check::{Options, judge, run};

/// Compares the functions with their operations.
pub(crate) fn check(request: &Check, folder: &Path) -> Status {
    match found(request, folder) {
        Ok(status) => status,
        Err(diagnostics) => {
            terminal::complain(&diagnostics);
            Status::WrongInput
        }
    }
}

fn found(request: &Check, folder: &Path) -> Result<Status, Vec<Diagnostic>> {
    let one = |diagnostic: Diagnostic| vec![diagnostic];
    let dictionary = Dictionary::read(&compile::read(&dictionary(folder)?).map_err(one)?)?;
    let isa = isa(&dictionary);
    let header = folder.join("c").join(format!("autoir_{isa}.h"));
    let header = fs::canonicalize(&header).map_err(|_| one(no_build(&header)))?;
    let set = build::set(isa, request.specs.isa_specs.as_deref())?;
    let specs = &request.specs;
    let folder = assets::folder(isa, specs.isa_specs.as_deref()).map_err(one)?;
    let targets = Targets::load(&folder).map_err(one)?;
    let trusted = trust::trusted(isa, specs, request.trust_specs)?;
    let mut judge = judge::of(&folder, &targets, false, trusted)?;
    if !trusted {
        // The header that was built has the manifest's lines in it.
        let section = spec_parser::manifest::c_section(&folder.join("manifest.yaml"))?;
        judge.compiler = Err(judge::untrusted(&section));
    }
    let functions = header::instructions(&dictionary, &set);
    let names: Vec<(String, String)> = functions
        .iter()
        .map(|(f, member)| (f.name.clone(), (*member).to_owned()))
        .collect();
    let functions: Vec<Instruction> = functions.into_iter().map(|(f, _)| f).collect();
    let mut flags = targets.flags(&judge.host.features);
    flags.extend(["-include".to_owned(), header.display().to_string()]);
    let options = Options {
        filter: request.filter.clone(),
        inputs: request.inputs as usize,
        seed: request.seed,
        faults: super::known_faults(request).map_err(one)?.renamed(&names),
        flags,
        judge,
    };
    let bar = terminal::bar("checking", functions.len());
    let advance = |n: usize| bar.inc(n as u64);
    let summary = run(&functions, &targets, &options, &advance);
    bar.finish_and_clear();
    let title = format!("{}: {} functions", header.display(), functions.len());
    terminal::print(&format!("{title}\n{summary}"));
    Ok(match summary.counts().1 {
        0 => Status::Done,
        _ => Status::CheckFailed,
    })
}

/// The instruction set whose functions a build has: that of the first member.
pub(crate) fn isa(dictionary: &Dictionary) -> &str {
    let first = dictionary.members().next();
    first.map_or("", |(_, member)| member.isa.as_str())
}

/// The one dictionary of a build.
pub(crate) fn dictionary(folder: &Path) -> Result<PathBuf, Vec<Diagnostic>> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths = entries.map(|e| e.path());
    let found = paths.find(|p| p.extension().is_some_and(|e| e == "dictionary"));
    found.ok_or_else(|| vec![no_build(&folder.join("*.dictionary"))])
}

fn no_build(file: &Path) -> Diagnostic {
    Diagnostic::error(format!("there is no `{}`", file.display()))
        .hint("`--build` names a folder that `isaforge build` has written")
}
