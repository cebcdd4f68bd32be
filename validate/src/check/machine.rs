//! Compiling check programs and running them on this machine.
//!
//! In: cases and their encoded inputs. Out: for every case the bytes that came back, or why
//! there are none. A case that does not compile or that crashes costs only itself.

use codegen_gen::check_harness::{Case, Harness, emit, wrapper};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use toolchain::{c, folder, process};

/// Seconds after which a program that runs is ended.
const LIMIT: Duration = Duration::from_secs(120);

/// A compiler of C, with flags besides those that every program gets.
#[derive(Clone, Debug)]
pub struct Compiler {
    /// Its command.
    pub program: String,
    /// The flags.
    pub flags: Vec<String>,
    /// The command before a program, for those that this processor does not run.
    pub runner: Vec<String>,
    /// Files that lie beside a program, with their texts: headers that are made for it, or what
    /// the set has of a C library.
    pub files: Vec<(String, String)>,
}

impl Compiler {
    /// Writes the files that lie beside a program.
    pub(crate) fn write_files(&self, folder: &Path) -> std::io::Result<()> {
        let mut files = self.files.iter();
        files.try_for_each(|(name, text)| {
            let path = folder.join(name);
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(path, text)
        })
    }
}

/// The command that runs a program, by what stands before it where this processor does not run it.
pub(crate) fn command(runner: &[String], program: &Path) -> Command {
    match runner.split_first() {
        Some((first, rest)) => {
            let mut command = Command::new(first);
            command.args(rest).arg(program);
            command
        }
        None => Command::new(program),
    }
}

/// What came of one case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Ran {
    /// The results of all its records.
    Results(Vec<u8>),
    /// It compiled, and was not asked to run.
    Compiled,
    /// The compiler refused it: its message.
    Refused(String),
    /// The program ended in the middle of it.
    Crashed(String),
    /// Nothing could be compiled or run here.
    Impossible(String),
}

/// A case and its input: the records one after another, or none if it is not to run.
pub(crate) struct Job<'a> {
    pub(crate) case: Case<'a>,
    pub(crate) records: Option<(usize, Vec<u8>)>,
}

/// A compiled program, which can be run on several inputs.
pub(crate) struct Built<'a> {
    case: Case<'a>,
    runner: Vec<String>,
    folder: tempfile::TempDir,
}

impl<'a> Built<'a> {
    /// The program of one case; none when it does not compile.
    pub(crate) fn new(compiler: &Compiler, case: Case<'a>) -> Option<Built<'a>> {
        let folder = folder::temporary().ok()?;
        let jobs = [Job {
            case: case.clone(),
            records: None,
        }];
        let complaints = compile(compiler, &jobs, &[0], folder.path()).ok()?;
        let runner = compiler.runner.clone();
        complaints.is_empty().then_some(Built {
            case,
            runner,
            folder,
        })
    }

    /// The results of some records; none when the program does not end well.
    pub(crate) fn run(&self, records: (usize, Vec<u8>)) -> Option<Vec<u8>> {
        let count = records.0;
        let jobs = [Job {
            case: self.case.clone(),
            records: Some(records),
        }];
        let waiting = BTreeSet::from([0]);
        once(&self.runner, &jobs, &[0], &waiting, self.folder.path()).ok()?;
        let bytes = fs::read(self.folder.path().join("output")).ok()?;
        (bytes.len() == count * self.case.output_bytes()).then_some(bytes)
    }
}

/// Compiles and runs some cases as one program.
pub(crate) fn run(compiler: &Compiler, jobs: &[Job<'_>]) -> Vec<Ran> {
    let impossible =
        |error: &dyn std::fmt::Display| vec![Ran::Impossible(error.to_string()); jobs.len()];
    let folder = match folder::temporary() {
        Ok(folder) => folder,
        Err(error) => return impossible(&error),
    };
    let mut refused: BTreeMap<usize, String> = BTreeMap::new();
    loop {
        let kept: Vec<usize> = (0..jobs.len())
            .filter(|i| !refused.contains_key(i))
            .collect();
        if kept.is_empty() {
            break;
        }
        let complaints = match compile(compiler, jobs, &kept, folder.path()) {
            Ok(complaints) => complaints,
            Err(error) => return impossible(&error),
        };
        if complaints.is_empty() {
            break;
        }
        refused.extend(complaints);
    }
    let mut results: Vec<Ran> = (0..jobs.len())
        .map(|i| match refused.get(&i) {
            Some(message) => Ran::Refused(message.clone()),
            None => Ran::Compiled,
        })
        .collect();
    let kept: Vec<usize> = (0..jobs.len())
        .filter(|i| !refused.contains_key(i))
        .collect();
    execute(&compiler.runner, jobs, &kept, folder.path(), &mut results);
    results
}

/// Compiles wrappers of some cases; those of which the compiler complains, by place.
pub(crate) fn compile_wrappers(
    compiler: &Compiler,
    cases: &[Case<'_>],
) -> Result<BTreeMap<usize, String>, String> {
    let folder = folder::temporary()?;
    let harness = wrapper::emit(cases);
    // Macros of the headers change signs.
    let warnings = [
        "-Wconversion",
        "-Wno-sign-conversion",
        "-Wmissing-prototypes",
        "-c",
    ];
    compile_text(compiler, &harness, &warnings, folder.path())
}

/// Compiles the kept cases; the refused ones of them, each with the compiler's message.
fn compile(
    compiler: &Compiler,
    jobs: &[Job<'_>],
    kept: &[usize],
    folder: &Path,
) -> Result<BTreeMap<usize, String>, String> {
    let cases: Vec<Case<'_>> = kept.iter().map(|&i| jobs[i].case.clone()).collect();
    let complaints = compile_text(compiler, &emit(&cases), &[], folder)?;
    let original = |(index, message): (usize, String)| (kept[index], message);
    Ok(complaints.into_iter().map(original).collect())
}

/// Compiles a text; of its cases those that are refused, each with the compiler's message.
fn compile_text(
    compiler: &Compiler,
    harness: &Harness,
    more: &[&str],
    folder: &Path,
) -> Result<BTreeMap<usize, String>, String> {
    fs::write(folder.join("check.c"), &harness.text)
        .and_then(|()| compiler.write_files(folder))
        .map_err(|e| format!("no temporary file: {e}"))?;
    let first = [
        "-std=gnu11",
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        c::all_errors(&compiler.program),
    ];
    let flags = more
        .iter()
        .copied()
        .chain(compiler.flags.iter().map(String::as_str));
    let arguments = first.into_iter().chain(flags);
    let arguments = arguments.chain(["-o", "program", "check.c"]);
    let text = match c::compile(&compiler.program, arguments, folder) {
        Ok(()) => return Ok(BTreeMap::new()),
        Err(c::Failure::Absent(why)) => return Err(why),
        Err(c::Failure::Refused(messages)) => messages,
    };
    let complaints = c::complaints(&text, "check.c", &harness.lines);
    if complaints.is_empty() {
        let first = text
            .lines()
            .find(|l| l.contains("error"))
            .unwrap_or("no message");
        return Err(format!("{} refuses the program: {first}", compiler.program));
    }
    Ok(complaints)
}

/// Runs the program, again without each case that ends it.
fn execute(
    runner: &[String],
    jobs: &[Job<'_>],
    kept: &[usize],
    folder: &Path,
    results: &mut [Ran],
) {
    let mut waiting: BTreeSet<usize> = (0..kept.len())
        .filter(|&k| jobs[kept[k]].records.is_some())
        .collect();
    while !waiting.is_empty() {
        let ended = match once(runner, jobs, kept, &waiting, folder) {
            Ok(ended) => ended,
            Err(error) => {
                for k in waiting {
                    results[kept[k]] = Ran::Impossible(error.clone());
                }
                return;
            }
        };
        let bytes = fs::read(folder.join("output")).unwrap_or_default();
        let mut at = 0;
        let mut culprit = None;
        for &k in &waiting {
            let job = &jobs[kept[k]];
            let count = job.records.as_ref().map_or(0, |(count, _)| *count);
            let size = job.case.output_bytes() * count;
            let Some(piece) = bytes.get(at..at + size) else {
                culprit = Some(k);
                break;
            };
            results[kept[k]] = Ran::Results(piece.to_vec());
            at += size;
        }
        let Some(culprit) = culprit else { return };
        results[kept[culprit]] =
            Ran::Crashed(ended.unwrap_or_else(|| "its results are cut short".to_owned()));
        waiting.retain(|&k| k > culprit);
    }
}

/// One run of the program; how it ended when that was not well.
fn once(
    runner: &[String],
    jobs: &[Job<'_>],
    kept: &[usize],
    waiting: &BTreeSet<usize>,
    folder: &Path,
) -> Result<Option<String>, String> {
    let mut input = Vec::new();
    for &k in waiting {
        let (count, records) = jobs[kept[k]]
            .records
            .as_ref()
            .expect("only those wait that run");
        let header = [k as u32, *count as u32];
        input.extend(header.iter().flat_map(|word| word.to_le_bytes()));
        input.extend_from_slice(records);
    }
    fs::write(folder.join("input"), input).map_err(|e| format!("no temporary file: {e}"))?;
    let _ = fs::remove_file(folder.join("output"));
    let mut command = command(runner, &folder.join("program"));
    command.args(["input", "output"]).current_dir(folder);
    process::run_within(LIMIT, &mut command)
}
