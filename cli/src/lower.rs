//! `isaforge lower`: calls of operations in LLVM IR, as the target's own intrinsics.
//!
//! In: a module as text, the folder of a build, clang. Out: the module with functions in
//! place of the calls, a status. What is read and written is decided in
//! `codegen_gen::lowering::calls`; clang says what an intrinsic of C is in its IR.

use crate::args::Lower;
use crate::check::built;
use crate::compile::{cannot_write, read};
use crate::status::Status;
use crate::{assets, build, terminal};
use autoir::dictionary::Dictionary;
use codegen_gen::artefact::Set;
use codegen_gen::lowering::calls;
use semantics::diagnostic::Diagnostic;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Command, Stdio};
use store::local::write_whole;

/// `isaforge lower`.
pub(crate) fn command(request: &Lower) -> Status {
    match run(request) {
        Ok(()) => Status::Done,
        Err(diagnostics) => {
            terminal::complain(&diagnostics);
            Status::WrongInput
        }
    }
}

fn run(request: &Lower) -> Result<(), Vec<Diagnostic>> {
    let one = |diagnostic: Diagnostic| vec![diagnostic];
    if let Some(output) = &request.output {
        assets::is_no_input(output, [request.module.as_path()]).map_err(one)?;
    }
    let source = read(&request.module).map_err(one)?;
    let dictionary = built::dictionary(&request.build)?;
    let dictionary = Dictionary::read(&read(&dictionary).map_err(one)?)?;
    let isa = built::isa(&dictionary);
    let set = build::set(isa, request.isa_specs.as_deref())?;
    let plan = calls::plan(&source, &dictionary, &set)?;
    let mut refused = BTreeSet::new();
    let compiled = loop {
        if plan.is_empty() {
            break String::new();
        }
        match compiled(request, &plan.c(&refused), &set).map_err(one)? {
            Ok(text) => break text,
            Err(error) => {
                let lines: BTreeSet<usize> = lines(&error).collect();
                if lines.is_subset(&refused) {
                    let first = error.lines().find(|line| line.contains("error"));
                    let first = first.unwrap_or("it gives no reason");
                    let message = format!("`{}` fails: {first}", request.clang);
                    return Err(one(Diagnostic::error(message).hint(HINT)));
                }
                refused.extend(lines);
            }
        }
    };
    let text = plan.module(&compiled)?;
    match &request.output {
        None => terminal::print(&text),
        Some(path) => {
            write_whole(path, text.as_bytes()).map_err(|e| one(cannot_write(path, &e)))?
        }
    }
    Ok(())
}

const HINT: &str = "clang 19 says what intrinsics are in LLVM IR; `--clang` names another";

/// The lines of its input that a compiler complains of.
fn lines(told: &str) -> impl Iterator<Item = usize> + '_ {
    let errors = told.lines().filter(|line| line.contains("error"));
    errors.filter_map(|line| {
        line.strip_prefix("<stdin>:")?
            .split(':')
            .next()?
            .parse()
            .ok()
    })
}

/// What clang makes of C, or what it complains of.
///
/// # Errors
/// When it does not run.
fn compiled(request: &Lower, text: &str, set: &Set) -> Result<Result<String, String>, Diagnostic> {
    let triple = set.llvm.triple.iter();
    let features = set.features.values().flat_map(|all| all.split(','));
    let failed = |error: std::io::Error| {
        Diagnostic::error(format!("`{}` does not run: {error}", request.clang)).hint(HINT)
    };
    let mut child = Command::new(&request.clang)
        .args(["-O1", "-fno-vectorize", "-fno-slp-vectorize", "-w"])
        .args([
            "-fno-strict-aliasing",
            "-ferror-limit=0",
            "-S",
            "-emit-llvm",
        ])
        .args(triple.map(|triple| format!("--target={triple}")))
        .arg("-ffreestanding")
        .args(features.flat_map(|name| ["-Xclang", "-target-feature", "-Xclang", name]))
        .args(["-x", "c", "-", "-o", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let mut input = child.stdin.take().expect("it was asked for");
    // A compiler that ends early closes its input, and says why on standard error.
    let text = text.to_owned();
    let feeding = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().map_err(failed)?;
    let _ = feeding.join();
    let told = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(match output.status.success() {
        true => Ok(told(&output.stdout)),
        false => Err(told(&output.stderr)),
    })
}
