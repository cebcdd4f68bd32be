//! A stranger's files: what stands in their fields is text in all that is written from them.
//!
//! In: a file of every format, one field at a time with a text behind it that would be code in some language
//! that is written. Each file is given to all commands that write something from it; each either refuses
//! it or writes files in which the text is a comment or quoted. What no test can say of is `prelude` and `spelt`
//! of a set: they are C by definition, and `--trust-specs` is asked for before they are compiled.

#[path = "hostile/fields.rs"]
mod fields;
#[path = "hostile/outside.rs"]
mod outside;

use fields::{Changed, changed};
use outside::{WORD, wrong};
use rayon::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

/// What ends a string, a line, a comment or a block, and means harm behind it.
const HOSTILE: [&str; 4] = [
    "\"); HARM(); //",
    "\nHARM();\n",
    "*/ HARM; /* }]; HARM [{ </script><script>HARM</script> --> | HARM | `HARM` $(HARM)",
    "'''\u{202e}\u{1b}[31m\"\"\"\r\nHARM\\",
];

/// Files of one format, and what is done with them: in the arguments `Q` chooses the set
/// `q`, and `OUT` stands for the folder of results.
struct Format {
    /// Folders and files that are copied beside each other.
    from: &'static [&'static str],
    /// Those whose fields are changed.
    files: &'static [&'static str],
    /// What makes some of them.
    before: &'static [&'static str],
    commands: &'static [&'static str],
}

/// Whether each field is tried with all of them, not with one in turn.
const ALL: &str = "ISAFORGE_HOSTILE_ALL";

#[test]
fn every_field_of_vector_sets() {
    all(&Format {
        from: &["tests/hostile/q", "isa-specs/processor.yaml"],
        files: &[
            "q/manifest.yaml",
            "q/targets.yaml",
            "q/instructions.yaml",
            "q/errata.yaml",
            "q/cost/generic.yaml",
            "q/llvm_members.yaml",
            "q/llvm_costs.yaml",
            "q/checked.yaml",
            "q/compilers.yaml",
            "processor.yaml",
        ],
        before: &[],
        commands: &[
            "build Q -o OUT/built",
            "compile Q --target q2 q/example.kernel -o OUT/k.c --html OUT/k.html --smt-transcript OUT/k.smt2",
            "compile Q --target q2 q/example.kernel -o OUT/k.ll --emit llvm",
            "compile Q --target q2 q/example.kernel -o OUT/k.autoir --emit autoir --report json",
            "check Q --lint",
            "explain Q q_add_w",
            "classes Q",
        ],
    });
}

#[test]
fn every_field_of_vendors_files() {
    all(&Format {
        from: &["tests/hostile/q", "tests/hostile/vendor.xml"],
        files: &["vendor.xml"],
        before: &[],
        commands: &[
            "build Q --vendor vendor.xml -o OUT/built",
            "compile Q --vendor vendor.xml --target q2 q/example.kernel -o OUT/k.c --html OUT/k.html",
            "compile Q --vendor vendor.xml --target q2 q/example.kernel -o OUT/k.ll --emit llvm",
            "explain Q --vendor vendor.xml q_told",
            "check Q --against vendor.xml",
        ],
    });
}

#[test]
fn every_field_of_kernels() {
    all(&Format {
        from: &["tests/hostile/q"],
        files: &["q/example.kernel"],
        before: &[],
        commands: &[
            "compile Q --target q2 q/example.kernel -o OUT/k.c --html OUT/k.html --smt-transcript OUT/k.smt2",
            "compile Q --target q2 q/example.kernel -o OUT/k.ll --emit llvm",
            "compile Q --target q2 q/example.kernel -o OUT/k.autoir --emit autoir --report json",
            "schedule q/example.kernel",
        ],
    });
}

#[test]
fn every_field_of_programs_of_operations() {
    all(&Format {
        from: &["tests/hostile/q"],
        files: &["q.autoir"],
        before: &["compile Q --target q2 q/example.kernel -o q.autoir --emit autoir"],
        commands: &[
            "compile Q --target q2 --from-autoir q.autoir -o OUT/k.c",
            "compile Q --target q2 --from-autoir q.autoir -o OUT/k.ll --emit llvm",
        ],
    });
}

#[test]
fn every_field_of_dictionaries() {
    all(&Format {
        from: &["tests/hostile/q"],
        files: &["built/q.dictionary"],
        before: &["build Q -o built"],
        commands: &["build Q --dictionary built/q.dictionary -o OUT/built"],
    });
}

#[test]
fn every_field_of_pipelines_of_halide() {
    all(&Format {
        from: &[
            "tests/hostile/q",
            "front-ends/halide/tests/pipelines/fast_log.stmt",
            "front-ends/halide/tests/pipelines/fast_log.c",
        ],
        files: &["fast_log.stmt", "fast_log.c"],
        before: &[],
        commands: &[
            "compile Q --target q2 --from-halide fast_log.stmt --constants fast_log.c -o OUT/k.c --html OUT/k.html",
            "compile Q --target q2 --from-halide fast_log.stmt --constants fast_log.c --arguments halide -o OUT/h.c",
            "compile Q --target q2 --from-halide fast_log.stmt --constants fast_log.c -o OUT/k.ll --emit llvm",
        ],
    });
}

#[test]
fn every_field_of_machines_with_tiles() {
    all(&Format {
        from: &[
            "isa-specs/rvm",
            "isa-specs/riscv.yaml",
            "examples/rvm/product.kernel",
        ],
        files: &[
            "rvm/manifest.yaml",
            "rvm/matrix.yaml",
            "rvm/host.yaml",
            "riscv.yaml",
            "product.kernel",
        ],
        before: &[],
        commands: &[
            "map --isa rvm --isa-specs . product.kernel --size m=8 --size n=4 --size k=16 --emit asm -o OUT/k.s",
            "map --isa rvm --isa-specs . product.kernel --size m=8 --size n=4 --size k=16 --emit c -o OUT/k.c",
            "map --isa rvm --isa-specs . product.kernel --size m=8 --size n=4 --size k=16 -o OUT/k.listing",
            "check --isa rvm --isa-specs . --lint",
            "build --isa rvm --isa-specs . -o OUT/built",
        ],
    });
}

#[test]
fn every_field_of_machines_with_an_array() {
    all(&Format {
        from: &[
            "isa-specs/gemmini",
            "isa-specs/riscv.yaml",
            "kernels/gemmini/matmul.kernel",
        ],
        files: &["gemmini/manifest.yaml", "gemmini/blocks.yaml"],
        before: &[],
        commands: &[
            "map --isa gemmini --isa-specs . matmul.kernel --size m=16 --size n=16 --size k=16 --emit c -o OUT/k.c",
            "map --isa gemmini --isa-specs . matmul.kernel --size m=16 --size n=16 --size k=16 -o OUT/k.listing",
            "build --isa gemmini --isa-specs . -o OUT/built",
        ],
    });
}

#[test]
fn every_field_of_machines_whose_programs_are_c() {
    all(&Format {
        from: &["isa-specs/amx", "examples/amx/product.kernel"],
        files: &["amx/manifest.yaml"],
        before: &[],
        commands: &[
            "map --isa amx --isa-specs . product.kernel --size m=16 --size n=16 --size k=64 --emit c -o OUT/k.c",
        ],
    });
}

/// What was done with a file.
#[derive(Default)]
struct Count {
    done: usize,
    /// What commands said that were not done.
    undone: Vec<String>,
    results: usize,
    /// Results in which the text stands.
    told: usize,
    /// Where it is more than text, or a command ends as none must.
    wrong: Vec<String>,
}

/// Gives each file with a changed field to all commands.
fn all(format: &Format) {
    let folder = tempfile::tempdir().expect("there is room");
    for from in format.from {
        let from = super::root().join(from);
        let name = from.file_name().expect("it has a name");
        copy(&from, &folder.path().join(name));
    }
    for command in format.before {
        let output = run(command, folder.path());
        assert!(output.status.success(), "{command}: {output:?}");
    }
    let tame = Case {
        file: format.files[0],
        field: "none".to_owned(),
        text: fs::read_to_string(folder.path().join(format.files[0])).expect("it is there"),
    };
    let count = tried(format, folder.path(), &tame);
    assert!(count.undone.is_empty(), "{:?}", count.undone);
    let of = |file: &&'static str| cases(folder.path(), file);
    let cases: Vec<Case> = format.files.iter().flat_map(of).collect();
    let counts: Vec<Count> = cases
        .par_iter()
        .map(|case| tried(format, folder.path(), case))
        .collect();
    let sum = |of: fn(&Count) -> usize| counts.iter().map(of).sum::<usize>();
    let (done, results, told) = (sum(|c| c.done), sum(|c| c.results), sum(|c| c.told));
    println!(
        "{} files, {done} commands done, {results} results, {told} with the text",
        cases.len()
    );
    assert!(done > 0, "nothing is done with any");
    let wrong: Vec<&str> = counts
        .iter()
        .flat_map(|c| &c.wrong)
        .map(String::as_str)
        .collect();
    assert!(
        wrong.is_empty(),
        "{} are wrong:\n{}",
        wrong.len(),
        wrong.join("\n\n")
    );
}

/// A file with a changed field.
struct Case {
    file: &'static str,
    field: String,
    text: String,
}

fn cases(folder: &Path, file: &'static str) -> Vec<Case> {
    let text = fs::read_to_string(folder.join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
    let ending = file.rsplit('.').next().unwrap_or_default();
    let case = |c: Changed| Case {
        file,
        field: c.field,
        text: c.text,
    };
    // These are C.
    let code = |c: &Changed| ["prelude", "spelt"].iter().any(|key| c.field.contains(key));
    let each = |hostile: &&str| {
        let all = changed(ending, &text, hostile).into_iter();
        all.filter(|c| !code(c)).map(case).collect()
    };
    let all: Vec<Vec<Case>> = HOSTILE.iter().map(each).collect();
    let chosen =
        |of: usize, field: usize| std::env::var_os(ALL).is_some() || field % HOSTILE.len() == of;
    let taken = |(of, cases): (usize, Vec<Case>)| {
        let some = cases
            .into_iter()
            .enumerate()
            .filter(move |(n, _)| chosen(of, *n));
        some.map(|(_, case)| case)
    };
    all.into_iter().enumerate().flat_map(taken).collect()
}

fn run(command: &str, folder: &Path) -> Output {
    let command = command.replace("OUT", "results");
    let words = command.split(' ').flat_map(|word| match word {
        "Q" => vec!["--isa", "q", "--isa-specs", "."],
        _ => vec![word],
    });
    let arguments: Vec<&str> = words.collect();
    super::isaforge(&arguments, folder)
}

fn tried(format: &Format, whole: &Path, case: &Case) -> Count {
    let folder = tempfile::tempdir().expect("there is room");
    copy(whole, folder.path());
    fs::write(folder.path().join(case.file), &case.text).expect("there is room");
    let results = folder.path().join("results");
    fs::create_dir(&results).expect("there is room");
    let mut count = Count::default();
    for command in format.commands {
        let output = run(command, folder.path());
        let said = [&output.stdout[..], &output.stderr[..]].concat();
        let said = String::from_utf8_lossy(&said);
        let odd = |c: char| c != '\n' && c != '\t' && (c.is_control() || c == '\u{202e}');
        let ended = (0..=3).contains(&output.status.code().unwrap_or(-1));
        if !ended || said.contains(odd) || said.lines().any(|l| l.starts_with(WORD)) {
            let place = format!("{}, {}: {command}", case.file, case.field);
            count.wrong.push(format!("{place}\n{said:?}"));
        }
        match output.status.success() {
            true => count.done += 1,
            false => count.undone.push(said.into_owned()),
        }
    }
    for path in files(&results) {
        let bytes = fs::read(&path).expect("it was found");
        let text = String::from_utf8(bytes).expect("it is text");
        count.results += 1;
        if text.contains(WORD) {
            count.told += 1;
            let place = format!("{}, {}: {}", case.file, case.field, path.display());
            count
                .wrong
                .extend(wrong(&path, &text).map(|told| format!("{place}: {told}")));
        }
    }
    count
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).expect("there is room");
        for entry in fs::read_dir(from).expect("it is a folder").flatten() {
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        fs::copy(from, to).expect("there is room");
    }
}

/// All below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("it is a folder").flatten();
    let each = entries
        .map(|e| e.path())
        .flat_map(|path| match path.is_dir() {
            true => files(&path),
            false => vec![path],
        });
    each.collect()
}
