//! Compilations that succeed: code, report, runs.

use super::{isaforge, root, shown, written};
use serde_json::Value;
use test_support::{need, skip_part};
use toolchain::{c, find};

/// The examples of the project.
fn examples() -> std::path::PathBuf {
    super::folder().join("../examples")
}

#[test]
fn every_example_compiles_and_agrees_with_the_evaluator() {
    let mut names: Vec<_> = std::fs::read_dir(examples())
        .expect("the folder is there")
        .map(|entry| {
            entry
                .expect("it can be read")
                .file_name()
                .into_string()
                .expect("ASCII")
        })
        .filter(|name| name.ends_with(".kernel"))
        .collect();
    names.sort();
    assert!(!names.is_empty());
    for name in names {
        let output = super::isaforge(
            &["compile", &name, "--run", "--report", "json"],
            &examples(),
        );
        let text = super::shown(&output);
        assert!(
            matches!(output.status.code(), Some(0 | 3)),
            "{name}: {text}"
        );
        let runs = text.matches("\"outcome\": \"agreed\"").count();
        let skipped = text.matches("\"outcome\": \"skipped\"").count();
        assert!(
            runs + skipped > 0 && text.matches("\"run\":").count() == runs + skipped,
            "{name}: {text}"
        );
        super::tell_skipped_runs(&name, &text);
    }
}

#[test]
fn help_names_every_command_and_exit_code() {
    let output = super::isaforge(&["--help"], &examples());
    let text = super::shown(&output);
    assert_eq!(output.status.code(), Some(0));
    for word in [
        "compile",
        "build",
        "check",
        "explain",
        "classes",
        "verify",
        "Exit codes:",
        "Examples:",
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

/// Kernels that need the same functions and headers.
const SEVERAL: &str = "
kernel sums(n: size, a: in i16[n], b: in i16[n], o: out i16[n]) {
  for x in 0..n { o[x] = sat_add(a[x], b[x]) / 7; }
}
kernel rooted(n: size, a: in f32[n], o: out f32[n]) {
  for x in 0..n { o[x] = sqrt(a[x]); }
} schedule { vectorize x by 8; }
kernel sums_of_sums(n: size, a: in i16[n], b: in i16[n], o: out i16[n]) {
  for x in 0..n { o[x] = sat_add(a[x], sat_add(b[x], 5)) / 7; }
} schedule { vectorize x by 16; }
";

#[test]
fn several_kernels_are_one_file() {
    let kernels = super::written("several.kernel", SEVERAL);
    for (form, kind, compiler, flags) in [
        ("c", "c", "gcc", &["-Wall", "-Werror"][..]),
        ("llvm", "ir", "clang-19", &["-Wno-override-module"][..]),
    ] {
        let code = super::written(&format!("several.{form}"), "");
        let words = ["compile", &kernels, "--target", "x86-64-v3", "--emit", form];
        let (out, err, status) = super::run(&[&words[..], &["-o", &code]].concat());
        assert_eq!(status, Some(0), "{out}{err}");
        let words = ["-x", kind, "-O1", "-march=haswell", "-c", "-o", "/dev/null"];
        match c::compile(
            compiler,
            words.iter().chain(flags).copied().chain([&*code]),
            &root(),
        ) {
            Ok(()) => {}
            Err(c::Failure::Absent(why)) => skip_part!("{why}"),
            Err(c::Failure::Refused(log)) => panic!("{log}"),
        }
    }
}

/// Masked extensions of 8, 4 and 2 bytes: gcc 12 ended with an error of its own on each.
#[test]
fn masked_extensions_of_few_bytes_are_c_that_compiles() {
    need!(find::on_path("gcc"));
    let kernel = |name: &str, from: &str, to: &str, lanes: u32| {
        format!(
            "kernel {name}(n: size, m: in {to}[n], a: in {from}[n], b: in {to}[n], r: out {to}[n])
    requires n % {lanes} == 0 {{
  for x in 0..n step {lanes} {{
    r[x..+{lanes}] = select(m[x..+{lanes}] < b[x..+{lanes}], {to}(a[x..+{lanes}]), b[x..+{lanes}]);
  }}
}}
"
        )
    };
    let text = [
        kernel("bytes", "u8", "u64", 8),
        kernel("words", "i16", "i64", 2),
        kernel("few", "i8", "i32", 4),
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let from = written("extensions.kernel", &text.concat());
    let to = folder.path().join("extensions.c").display().to_string();
    let output = isaforge(
        &["compile", &from, "--target", "znver4", "-o", &to],
        &root(),
    );
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    let code = std::fs::read_to_string(&to).expect("it was written");
    let masked = code.matches("_mask_cvtep").count();
    assert!(
        masked > 0 && code.matches("__asm__").count() >= masked,
        "{code}"
    );
    let flags = [
        "-O2",
        "-mavx512f",
        "-mavx512bw",
        "-mavx512vl",
        "-mavx512dq",
        "-c",
    ];
    let object = format!("{to}.o");
    let all = flags.into_iter().chain([&*to, "-o", &object]);
    c::compile("gcc", all, &root()).unwrap_or_else(|messages| panic!("{messages}\n{code}"));
}

/// The rounds of loops that a file asks compilers to write out, by the loops' kernels.
fn rounds_written_out(text: &str) -> Vec<Option<u32>> {
    let functions = text.split("\nvoid ").skip(1);
    let asked = |function: &str| {
        let (_, behind) = function.split_once("#pragma GCC unroll ")?;
        behind.lines().next()?.parse().ok()
    };
    functions.map(asked).collect()
}

#[test]
fn rounds_of_short_loops_are_written_out() {
    let long = (1..20).fold("a[x]".to_owned(), |of, n| {
        format!("(max({of}, b[x]) + {n}) ^ a[x]")
    });
    let kernel = |name: &str, value: &str| {
        format!(
            "kernel {name}(n: size, a: in u8[n], b: in u8[n], o: out u8[n]) {{ for x in 0..n {{ o[x] = {value}; }} }} schedule {{ vectorize x by 32; }}\n"
        )
    };
    let text = kernel("short", "avg(a[x], b[x])") + &kernel("long", &long);
    let file = written("unrolled.kernel", &text);
    let folder = tempfile::tempdir().expect("a folder");
    let emitted = |name: &str, emit: &[&str]| {
        let to = folder.path().join(name).display().to_string();
        let words = ["compile", &file, "--target", "x86-64-v3", "-o", &to];
        let output = isaforge(&[&words, emit].concat(), &root());
        assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
        std::fs::read_to_string(&to).expect("it was written")
    };
    let c = emitted("unrolled.c", &[]);
    assert_eq!(rounds_written_out(&c), [Some(4), None], "{c}");
    let llvm = emitted("unrolled.ll", &["--emit", "llvm"]);
    let asked = llvm.matches("!\"llvm.loop.unroll.count\", i32 4").count();
    assert_eq!(asked, 1, "{llvm}");
}

/// The windows of a kernel that were searched for, by the first of their instructions: the time of a search is
/// told of the window that it was for.
fn searched(kernel: &str, target: &str) -> Vec<String> {
    let path = written("beside.kernel", kernel);
    let arguments = [
        "--target",
        target,
        "--no-memo",
        "--report",
        "json",
        "-o",
        "-",
    ];
    let output = isaforge(&[&["compile", &path][..], &arguments].concat(), &root());
    let report: Value = serde_json::from_slice(&output.stderr).expect("a report is JSON");
    let windows = report["kernels"][0]["windows"].as_array().expect("a list");
    let spent = |w: &&Value| w["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0);
    let first = |w: &Value| Some(w["instructions"].as_array()?.first()?.as_str()?.to_owned());
    windows.iter().filter(spent).filter_map(first).collect()
}

/// Four rows side by side, and those that are left over one by one.
#[test]
fn what_waits_for_no_round_is_searched_for_once() {
    let of = |ty: &str, of: &str, by: u32| {
        format!(
            "kernel rows(m: size, n: size, a: in {ty}[m, n], b: in {ty}[n], o: out i32[m]) {{\n  \
             for i in 0..m {{ var s: i32 = 0; for j in 0..n {{ s += {of}; }} o[i] = s; }}\n}} \
             schedule {{ vectorize j by {by}; jam i by 4; }}\n"
        )
    };
    let products = of("i16", "i32(a[i, j]) * i32(b[j])", 64);
    let twice = |kernel: &str, target: &str, name: &str| {
        let all = searched(kernel, target);
        all.iter().filter(|first| first.contains(name)).count()
    };
    assert_eq!(twice(&products, "x86-64-v3", "madd_epi16"), 1);
    // A product that also adds takes four cycles: of one row by itself each round would wait for the last.
    let all = searched(&products, "znver4");
    let products = all
        .iter()
        .filter(|n| n.contains("dpwssd") || n.contains("madd"));
    let products: Vec<&String> = products.collect();
    assert_eq!(products.len(), 2, "{all:?}");
    assert_ne!(products[0], products[1]);
}

/// Nothing else is tried where each register is one instruction than which none costs less.
#[test]
fn registers_that_are_one_instruction_each_are_not_searched_for() {
    for (line, ty, by) in [
        ("o[x] = avg(a[x], b[x]);", "u8", 64),
        ("o[x] = a[x] ^ b[x];", "i32", 16),
        ("o[x] = max(a[x], b[x]);", "i16", 48),
    ] {
        let kernel = format!(
            "kernel each(n: size, a: in {ty}[n], b: in {ty}[n], o: out {ty}[n]) {{\n  \
             for x in 0..n {{ {line} }}\n}} schedule {{ vectorize x by {by}; }}\n"
        );
        let path = written("each.kernel", &kernel);
        let arguments = ["--target", "x86-64-v3", "--no-memo", "--explain", "-o", "-"];
        let output = isaforge(&[&["compile", &path][..], &arguments].concat(), &root());
        let report = String::from_utf8_lossy(&output.stderr).into_owned();
        let (_, told) = report.split_once("proved: ").expect("it is proved");
        let tried = told
            .lines()
            .skip(1)
            .take_while(|line| !line.contains("chosen"));
        let tried: Vec<&str> = tried.filter(|line| line.contains(": cost")).collect();
        assert!(
            matches!(tried[..], [one] if one.contains("by one instruction for each register")),
            "{line}: {report}"
        );
    }
}
