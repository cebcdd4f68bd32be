//! The names that C takes: `codegen-gen/src/c/names/*.txt`.
//!
//! In: the C compiler and the C library of this machine. Out: two files of words. A name is
//! taken where a declaration of it, after all headers that emitted code includes, gives an
//! error, or where a header defines it as a macro; it is linked where the compiler knows a
//! function of that name or the library exports a symbol, which a function of a kernel would
//! stand for in every program that it is linked with. Names that begin with `_` are left out: none is ever emitted. Words
//! are only added, so that the files fit every machine on which they were made.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// What emitted code and the program around it include, and what users may have included before.
const HEADERS: &str = "\
#define _GNU_SOURCE
#include <errno.h>
#include <immintrin.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>
";

/// Keywords of C, of which some may stand where a name is declared (`restrict`) and some are in no
/// header; those of newer standards and of C++, which the compiler here need not know.
const KEYWORDS: &str = "auto break case char const continue default do double else enum extern float \
    for goto if inline int long register restrict return short signed sizeof static struct switch \
    typedef union unsigned void volatile while \
    alignas alignof and and_eq asm bitand bitor bool catch char16_t char32_t \
    char8_t class co_await co_return co_yield compl concept const_cast consteval constexpr constinit \
    decltype delete dynamic_cast explicit export false friend mutable namespace new noexcept not \
    not_eq nullptr operator or or_eq private protected public reinterpret_cast requires \
    static_assert static_cast template this thread_local throw true try typeid typename typeof \
    typeof_unqual using virtual wchar_t xor xor_eq main";

/// Writes the files; whether that was possible.
pub(crate) fn run(root: &Path) -> bool {
    match write(root) {
        Ok(reported) => {
            println!("{reported}");
            true
        }
        Err(reason) => {
            eprintln!("error: {reason}");
            false
        }
    }
}

fn write(root: &Path) -> Result<String, String> {
    let folder = root.join("codegen-gen/src/c/names");
    let (mut taken, mut linked) = (
        read(&folder.join("taken.txt")),
        read(&folder.join("linked.txt")),
    );
    let macros = output(
        "gcc",
        &["-std=gnu11", "-march=native", "-E", "-dM", "-x", "c", "-"],
        HEADERS,
    )?;
    let defined = macros.lines().filter_map(|l| l.strip_prefix("#define "));
    let defined: BTreeSet<String> = defined.filter_map(first_word).collect();
    let text = output("gcc", &["-std=gnu11", "-E", "-P", "-x", "c", "-"], HEADERS)?;
    let library = symbols();
    let builtin = strings_of_compiler();
    let mut candidates = words(&text);
    candidates.extend(KEYWORDS.split_whitespace().map(str::to_owned));
    candidates.extend(builtin);
    let (errors, warnings) = refused(&candidates)?;
    taken.extend(errors);
    linked.extend(warnings);
    taken.extend(defined);
    taken.extend(KEYWORDS.split_whitespace().map(str::to_owned));
    linked.extend(library);
    let plain = |name: &String| !name.starts_with('_') && !name.contains('.');
    taken.retain(plain);
    linked.retain(|name| plain(name) && !taken.contains(name));
    for (name, words) in [("taken.txt", &taken), ("linked.txt", &linked)] {
        let lines: Vec<&str> = words.iter().map(String::as_str).collect();
        fs::write(folder.join(name), lines.join("\n") + "\n").map_err(|e| e.to_string())?;
    }
    Ok(format!(
        "{} names are taken, {} more are linked",
        taken.len(),
        linked.len()
    ))
}

fn read(path: &Path) -> BTreeSet<String> {
    words(&fs::read_to_string(path).unwrap_or_default())
}

fn words(text: &str) -> BTreeSet<String> {
    let all = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let names = all.filter(|w| w.starts_with(|c: char| c.is_ascii_alphabetic()));
    names.map(str::to_owned).collect()
}

fn first_word(text: &str) -> Option<String> {
    words(text.split(' ').next()?.split('(').next()?).pop_first()
}

/// What a program says on standard output when it is given a text.
fn output(program: &str, arguments: &[&str], text: &str) -> Result<String, String> {
    let path = env::temp_dir().join(format!("isaforge-c-names-{}.c", std::process::id()));
    fs::write(&path, text).map_err(|e| e.to_string())?;
    let arguments = arguments.iter().filter(|a| **a != "-");
    let run = Command::new(program)
        .args(arguments)
        .arg(&path)
        .env("LC_ALL", "C")
        .output();
    let _ = fs::remove_file(&path);
    let run = run.map_err(|e| format!("{program} does not run: {e}"))?;
    let text = if run.stdout.is_empty() {
        run.stderr
    } else {
        run.stdout
    };
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// The names of which a declaration is refused, and those of which it is warned of: compilers
/// know functions of these names. Each has a line of its own.
fn refused(candidates: &BTreeSet<String>) -> Result<(BTreeSet<String>, BTreeSet<String>), String> {
    let names: Vec<&String> = candidates.iter().collect();
    let mut text = format!("{HEADERS}struct isaforge_any;\n");
    let head = text.lines().count();
    for name in &names {
        text.push_str(&format!(
            "extern void *(*{name}(struct isaforge_any *))(void);\n"
        ));
    }
    let arguments = [
        "-std=gnu11",
        "-fsyntax-only",
        "-Wall",
        "-Wextra",
        "-fmax-errors=0",
        "-x",
        "c",
        "-",
    ];
    let reported = output("gcc", &arguments, &text)?;
    let of = |complaint: &str| {
        let lines = reported.lines().filter(|l| l.contains(complaint));
        let numbers = lines.filter_map(|l| {
            l.split(".c:")
                .nth(1)?
                .split(':')
                .next()?
                .parse::<usize>()
                .ok()
        });
        let named = numbers.filter_map(|line| names.get(line.checked_sub(head + 1)?));
        named.map(|name| (*name).clone()).collect()
    };
    Ok((of(": error: "), of(": warning: ")))
}

/// What the C library and the mathematical library export.
fn symbols() -> BTreeSet<String> {
    let path = |name: &str| {
        let run = Command::new("gcc")
            .arg(format!("-print-file-name={name}"))
            .output();
        let run = run.ok().filter(|o| o.status.success())?;
        Some(String::from_utf8_lossy(&run.stdout).trim().to_owned())
    };
    let files = ["libc.so.6", "libm.so.6"]
        .iter()
        .filter_map(|name| path(name));
    let exported = files.filter_map(|file| {
        let run = Command::new("nm")
            .args(["-D", "--defined-only", &file])
            .output()
            .ok()?;
        Some(String::from_utf8_lossy(&run.stdout).into_owned())
    });
    let lines: String = exported.collect();
    let names = lines
        .lines()
        .filter_map(|l| l.rsplit(' ').next()?.split('@').next());
    names.flat_map(words).collect()
}

/// The builtin functions that the compiler's own text names.
fn strings_of_compiler() -> BTreeSet<String> {
    let path = Command::new("gcc").arg("-print-prog-name=cc1").output();
    let path = path.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned());
    let bytes = path.ok().and_then(|p| fs::read(p).ok()).unwrap_or_default();
    let text: String = bytes
        .iter()
        .map(|&b| if b.is_ascii_graphic() { b as char } else { ' ' })
        .collect();
    let names = text.split(' ').filter_map(|w| w.strip_prefix("__builtin_"));
    names.filter(|n| n.len() < 40).flat_map(words).collect()
}
