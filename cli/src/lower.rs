//! `isaforge lower`: calls of operations in LLVM IR, as the target's own intrinsics.
//!
//! In: a module as text, the folder of a build, clang. Out: the module with functions in
//! place of the calls, a status. What is read and written is decided in
//! `codegen_gen::lowering::calls`; clang says what an intrinsic of C is in its IR, and whether the
//! module is one.

use crate::args::Lower;
use crate::check::built;
use crate::compile::{cannot_write, read};
use crate::status::Status;
use crate::{build, terminal};
use autoir::dictionary::Dictionary;
use codegen_gen::artefact::Set;
use codegen_gen::lowering::calls::{self, Plan};
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
    if let Err(error) = told_by(request, &FOR_IR, &text).map_err(one)? {
        return Err(one(no_module(&plan, &error)));
    }
    match terminal::file(request.output.as_deref()) {
        None => terminal::print(&text),
        Some(path) => {
            write_whole(path, text.as_bytes()).map_err(|e| one(cannot_write(path, &e)))?
        }
    }
    Ok(())
}

const HINT: &str = "clang 19 says what intrinsics are in LLVM IR; `--clang` names another";

/// How C is compiled, from standard input to standard output.
const FOR_C: [&str; 14] = [
    "-O1",
    "-fno-vectorize",
    "-fno-slp-vectorize",
    "-w",
    "-fno-strict-aliasing",
    "-ferror-limit=0",
    "-S",
    "-emit-llvm",
    "-ffreestanding",
    "-x",
    "c",
    "-",
    "-o",
    "-",
];

/// How a module is read and verified; nothing is made of it.
const FOR_IR: [&str; 9] = [
    "-fverify-intermediate-code",
    "-w",
    "-x",
    "ir",
    "-",
    "-S",
    "-emit-llvm",
    "-o",
    "-",
];

/// What is wrong with a module, as clang says, at the line of the source.
fn no_module(plan: &Plan<'_, '_>, error: &str) -> Diagnostic {
    let at_line = error.lines().find_map(|line| {
        let (_, message) = line.strip_prefix("<stdin>:")?.split_once("error: ")?;
        Some(message)
    });
    // What is wrong with several lines together is told without a place.
    let message = at_line.or_else(|| error.lines().next());
    let message = message.unwrap_or("no reason is given");
    let line = lines(error).next().unwrap_or(0);
    plan.reported(line, &format!("this is no module of LLVM IR: {message}"))
        .hint("clang reads what is lowered; `--clang` names the one that does")
}

/// The lines of its input that a compiler complains of.
fn lines(reported: &str) -> impl Iterator<Item = usize> + '_ {
    let errors = reported.lines().filter(|line| line.contains("error"));
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
    let mut arguments: Vec<String> = FOR_C.map(str::to_owned).to_vec();
    arguments.extend(triple.map(|triple| format!("--target={triple}")));
    let each = features.flat_map(|name| ["-Xclang", "-target-feature", "-Xclang", name]);
    arguments.extend(each.map(str::to_owned));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    told_by(request, &arguments, text)
}

/// What clang makes of a text, or what it complains of.
///
/// # Errors
/// When it does not run.
fn told_by(
    request: &Lower,
    arguments: &[&str],
    text: &str,
) -> Result<Result<String, String>, Diagnostic> {
    let failed = |error: std::io::Error| {
        Diagnostic::error(format!("`{}` does not run: {error}", request.clang)).hint(HINT)
    };
    let mut child = Command::new(&request.clang)
        .args(arguments)
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
    let reported = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(match output.status.success() {
        true => Ok(reported(&output.stdout)),
        false => Err(reported(&output.stderr)),
    })
}
