//! Calls of operations in LLVM IR, lowered and compiled: what has constant operands, which
//! can be no function of a module.

use super::back_ends::{built, command, mnemonics, printed};
use super::{isaforge, shown};
use std::fs;
use std::path::Path;
use test_support::need;
use toolchain::find::{llvm, on_path};

/// A declaration of a build, with a constant for each argument that must be one.
struct Declared<'t> {
    mnemonic: &'t str,
    result: &'t str,
    name: &'t str,
    types: Vec<&'t str>,
    constants: Vec<Option<u32>>,
    group: &'t str,
}

/// A constant that an argument takes: neither the least, which often does nothing, nor one
/// that shifts everything out.
fn constant(range: &str) -> Option<u32> {
    let numbers = range.split([' ', ',']).filter_map(|word| word.parse().ok());
    let numbers: Vec<u32> = numbers.collect();
    match range.contains(" from ") {
        true => numbers.last().map(|most| 1.min(*most)),
        false => numbers.get(1).copied(),
    }
}

/// The declarations with constants.
fn declared(text: &str) -> Vec<Declared<'_>> {
    let (mut all, mut constants, mut mnemonic) = (Vec::new(), Vec::new(), "-");
    for line in text.lines() {
        if let Some(argument) = line.strip_prefix("; argument ") {
            let (at, range) = argument.split_once(", ").expect("it has a number");
            constants.push((at.parse::<usize>().expect("a number"), constant(range)));
        } else if let Some(about) = line.strip_prefix("; ") {
            mnemonic = about.split(' ').nth(1).unwrap_or("-");
        } else if let Some(rest) = line.strip_prefix("declare ") {
            let (result, rest) = rest.split_once(" @autoir.").expect("it has a name");
            let (name, rest) = rest.split_once('(').expect("it has parameters");
            let (types, group) = rest.split_once(')').expect("it has parameters");
            let types: Vec<&str> = types.split(", ").filter(|t| !t.is_empty()).collect();
            let mut each = vec![None; types.len()];
            for (at, value) in constants.drain(..) {
                each[at] = value;
            }
            if each.iter().any(Option::is_some) {
                all.push(Declared {
                    mnemonic,
                    result,
                    name,
                    types,
                    constants: each,
                    group: group.trim(),
                });
            }
        }
    }
    all
}

/// A function that calls an operation.
fn caller(declared: &Declared<'_>) -> String {
    let each = || declared.types.iter().zip(&declared.constants).enumerate();
    let parameters = each().filter(|(_, (_, constant))| constant.is_none());
    let parameters = parameters.map(|(k, (ty, _))| format!("{ty} %a{k}"));
    let arguments = each().map(|(k, (ty, constant))| match constant {
        Some(value) => format!("{ty} {value}"),
        None => format!("{ty} %a{k}"),
    });
    let (result, name, group) = (declared.result, declared.name, declared.group);
    let (parameters, arguments): (Vec<_>, Vec<_>) = (parameters.collect(), arguments.collect());
    let (parameters, arguments) = (parameters.join(", "), arguments.join(", "));
    let (call, back) = match result {
        "void" => ("call void", "ret void".to_owned()),
        _ => ("%r = call", format!("ret {result} %r")),
    };
    let result_again = if result == "void" { "" } else { result };
    format!(
        "define {result} @caller.{name}({parameters}) {group} {{\n  \
         {call} {result_again} @autoir.{name}({arguments})\n  {back}\n}}\n\n"
    )
}

/// Lowers a module; what is told, and the file of the result.
fn lowered(module: &str, at: &Path) -> (std::process::Output, std::path::PathBuf) {
    let (source, made) = (at.join("calls.ll"), at.join("lowered.ll"));
    fs::write(&source, module).expect("there is room");
    let build = built().display().to_string();
    let (from, to) = (source.display().to_string(), made.display().to_string());
    let output = isaforge(&["lower", &from, "--build", &build, "-o", &to], at);
    (output, made)
}

#[test]
fn calls_with_constants_become_the_instructions() {
    let (opt, llc) = (need!(llvm("opt")), need!(llvm("llc")));
    need!(on_path("clang-19"));
    let place = tempfile::tempdir().expect("there is room");
    let at = place.path();
    let text = fs::read_to_string(built().join("llvm/autoir_x86_calls.ll")).expect("it was built");
    let groups: String = text
        .lines()
        .filter(|line| line.starts_with("attributes ") || line.starts_with("target "))
        .map(|line| format!("{line}\n"))
        .collect();
    let mut all = declared(&text);
    assert!(all.len() > 1000, "{}", all.len());
    let module =
        |all: &[Declared<'_>]| format!("{groups}{}", all.iter().map(caller).collect::<String>());
    let (mut output, mut made) = lowered(&module(&all), at);
    // What clang does not know is told at its call, and nothing is written.
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    let count = all.len();
    if output.status.code() != Some(0) {
        assert!(!made.exists());
        all.retain(|d| !log.contains(&format!("@autoir.{}(", d.name)));
        (output, made) = lowered(&module(&all), at);
    }
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    println!("{} of {count} are known to clang", all.len());
    assert!(all.len() * 100 > count * 95, "{log}");
    let flat = at.join("flat.bc");
    let passes = "-passes=verify,always-inline,globaldce,verify";
    printed(
        command(&opt, at)
            .arg(passes)
            .arg("-o")
            .arg(&flat)
            .arg(&made),
    );
    let assembly = printed(command(&llc, at).args(["-O1", "-o", "-"]).arg(&flat));
    let found = mnemonics(&assembly, "caller.");
    let mut words = found.values().flatten();
    assert!(
        !words.any(|word| word.starts_with("call")),
        "something is left to call"
    );
    let (mut own, mut named) = (0, 0);
    for declared in all.iter().filter(|d| d.mnemonic != "-") {
        let code = found.get(format!("caller.{}", declared.name).as_str());
        let code = code.unwrap_or_else(|| panic!("{} has no code", declared.name));
        let plain = |word: &str| word.trim_start_matches('v').to_owned();
        named += 1;
        let is_own = code
            .iter()
            .any(|word| plain(word).starts_with(&plain(declared.mnemonic)));
        own += usize::from(is_own);
        if !is_own {
            println!(
                "re-selected: {} ({}): {}",
                declared.name,
                declared.mnemonic,
                code.join(" ")
            );
        }
    }
    println!("{own} of {named} have their member's own mnemonic");
    assert!(own * 10 > named * 7, "{own} of {named}");
}

#[test]
fn wrong_calls_are_told_together_and_nothing_is_written() {
    let place = tempfile::tempdir().expect("there is room");
    let text = fs::read_to_string(built().join("llvm/autoir_x86_calls.ll")).expect("it was built");
    let all = declared(&text);
    let one = |d: &&Declared<'_>| {
        d.types.len() == 2 && d.types[0] == "<2 x i64>" && d.constants[1].is_some()
    };
    let one = all.iter().find(one).expect("a shift by a constant");
    let (name, result) = (one.name, one.result);
    let call = |arguments: &str| format!("  call {result} @autoir.{name}({arguments})\n");
    let module = [
        "define void @f(<2 x i64> %a, i32 %n) {\n".to_owned(),
        call("<2 x i64> %a, i32 %n"),
        call("<2 x i64> %a, i32 70000"),
        call("<2 x i64> %a"),
        "  call void @autoir.ad.p8.16()\n  store ptr @autoir.add.p8.16, ptr null\n".to_owned(),
        "  ret void\n}\n".to_owned(),
    ];
    let (output, made) = lowered(&module.concat(), place.path());
    let log = shown(&output);
    assert_eq!(output.status.code(), Some(1), "{log}");
    for part in [
        "`%n` is no constant that",
        "`70000` is no constant that",
        "has 2 arguments, not 1",
        "there is no operation `@autoir.ad.p8.16`",
        "is used, not called",
        "calls.ll:2:",
        "it must be a number from 0 to",
    ] {
        assert!(log.contains(part), "{part} in {log}");
    }
    assert!(!made.exists());
}

#[test]
fn what_is_no_module_is_told_at_its_line_and_nothing_is_written() {
    need!(on_path("clang-19"));
    let place = tempfile::tempdir().expect("there is room");
    let before = "declare <2 x i64> @autoir.nothing(<2 x i64>)\n";
    for (body, message, line) in [
        (
            "  %r = add i32 %a, %b\n  ret i32 %r\n",
            "undefined value",
            ":3:",
        ),
        (
            "  ret i32 %a\n\n  what is this\n",
            "expected instruction",
            ":5:",
        ),
        (
            "  br i1 true, label %l, label %m\nl:\n  %r = add i32 1, 2\n  br label %m\n\
             m:\n  ret i32 %r\n",
            "does not dominate",
            "",
        ),
    ] {
        let module = format!("{before}define i32 @f(i32 %a) {{\n{body}}}\n");
        let (output, made) = lowered(&module, place.path());
        let log = shown(&output);
        assert_eq!(output.status.code(), Some(1), "{log}");
        assert!(log.contains("no module of LLVM IR"), "{log}");
        assert!(log.contains(message) && log.contains(line), "{log}");
        assert!(!made.exists());
    }
    let (output, made) = lowered("define void @f() {\n  ret void\n}\n", place.path());
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    // A dash is standard output, and no file.
    let build = built().display().to_string();
    let arguments = ["lower", "calls.ll", "--build", &build, "-o", "-"];
    let output = isaforge(&arguments, place.path());
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    assert_eq!(output.stdout, fs::read(made).expect("it was written"));
    assert!(!place.path().join("-").exists());
}
