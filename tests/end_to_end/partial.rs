//! Vectors of every number of lanes: what is loaded and stored is just those lanes.
//!
//! Each element type has a kernel with one array for each number of lanes, as statements of so
//! many lanes (`plain`) or as loops vectorised by so many with a kind of tail. What is emitted is
//! built with AddressSanitizer and UBSan, run between pages that may not be touched, and compared
//! with the evaluator, on sizes that move the arrays to every alignment.
//!
//! A sample is among the tests; `cargo xtask lanes` runs all types at 1 to 64 lanes.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use test_support::skip_part;

/// The element types, with the sum of two elements in the kernel language.
const TYPES: [(&str, &str); 12] = [
    ("u8", "a + b"),
    ("i8", "sat_add(a, b)"),
    ("u16", "a + b"),
    ("i16", "min(a, b)"),
    ("u32", "a ^ b"),
    ("i32", "a + b"),
    ("u64", "a + b"),
    ("i64", "a - b"),
    ("f32", "a * b"),
    ("f64", "a + b"),
    ("f16", "a"),
    ("bf16", "b"),
];

/// What becomes of iterations that fill no vector; nothing where statements have the lanes.
const KINDS: [Option<&str>; 4] = [None, Some("mask"), Some("shift"), Some("round")];

/// Whether all is asked for: `cargo xtask lanes`.
fn full() -> bool {
    std::env::var_os("ISAFORGE_TEST_FULL").is_some()
}

/// A kernel with a statement, or a loop, for each number of lanes.
fn kernel(elem: &str, sum: &str, tail: Option<&str>, lanes: &[u32]) -> String {
    let (mut parameters, mut body, mut schedule) = (String::new(), String::new(), String::new());
    for &l in lanes {
        let _ = match tail {
            None => {
                let _ = write!(
                    parameters,
                    ", a{l}: in {elem}[n, {l}], b{l}: in {elem}[n, {l}], o{l}: out {elem}[n, {l}]"
                );
                let value = spelled(sum, l, &format!("i, 0..+{l}"));
                writeln!(body, "    o{l}[i, 0..+{l}] = {value};")
            }
            Some(kind) => {
                let shape = match kind {
                    "round" => format!("{elem}[2, n pad {l}]"),
                    _ => format!("{elem}[2, n]"),
                };
                let _ = write!(
                    parameters,
                    ", a{l}: in {shape}, b{l}: in {shape}, o{l}: out {shape}"
                );
                let value = spelled(sum, l, &format!("i, x{l}"));
                let _ = writeln!(schedule, "  vectorize x{l} by {l} tail {kind};");
                writeln!(body, "    for x{l} in 0..n {{ o{l}[i, x{l}] = {value}; }}")
            }
        };
    }
    let rows = if tail.is_none() { "n" } else { "2" };
    format!(
        "kernel partial(n: size{parameters}) {{\n  for i in 0..{rows} {{\n{body}  }}\n}} schedule {{\n{schedule}}}\n"
    )
}

/// An expression over `a` and `b` with these arrays' elements at a place.
fn spelled(sum: &str, lanes: u32, place: &str) -> String {
    let mut out = String::new();
    let letters: Vec<char> = sum.chars().collect();
    for (k, &c) in letters.iter().enumerate() {
        let alone = |at: Option<&char>| at.is_none_or(|c| !c.is_alphanumeric() && *c != '_');
        let before = k.checked_sub(1).and_then(|k| letters.get(k));
        match c {
            'a' | 'b' if alone(before) && alone(letters.get(k + 1)) => {
                let _ = write!(out, "{c}{lanes}[{place}]");
            }
            _ => out.push(c),
        }
    }
    out
}

/// A C compiler that builds with sanitizers; nothing where gcc has none.
fn sanitizing(folder: &Path) -> Option<std::path::PathBuf> {
    let script = folder.join("cc");
    let text =
        "#!/bin/sh\nexec gcc -fsanitize=address,undefined -fno-sanitize-recover=all \"$@\"\n";
    std::fs::write(&script, text).expect("a script");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&script, mode).expect("it may be run");
    std::fs::write(folder.join("probe.c"), "int main(void) { return 0; }\n").expect("a file");
    let compiler = script.display().to_string();
    let built = toolchain::c::compile(&compiler, ["probe.c", "-o", "probe"], folder);
    built.is_ok().then_some(script)
}

/// A kernel that agreed.
pub(super) struct Agreed {
    /// What was printed.
    pub(super) shown: String,
    /// How many windows have programs.
    windows: usize,
}

/// Compiles a kernel with sanitizers and runs it.
pub(super) fn agrees(name: &str, text: &str, target: &str, emit: &str) -> Agreed {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("partial.kernel");
    std::fs::write(&file, text).expect("a kernel");
    let mut command = Command::new(env!("CARGO_BIN_EXE_isaforge"));
    command
        .args([
            "compile",
            "partial.kernel",
            "--target",
            target,
            "--emit",
            emit,
        ])
        .args(["--run", "--report", "json"])
        .current_dir(folder.path())
        .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    match sanitizing(folder.path()) {
        Some(script) if emit == "c" => {
            command.env("CC", script);
        }
        Some(_) => {}
        None => skip_part!("{name} runs without sanitizers: gcc has none here"),
    }
    let output = command.output().expect("the binary starts");
    let shown = super::shown(&output);
    assert!(
        shown.contains("\"outcome\": \"agreed\"") && matches!(output.status.code(), Some(0 | 3)),
        "{name}: {shown}\n{text}"
    );
    let windows = shown.matches("\"proof\": \"").count();
    Agreed { shown, windows }
}

#[test]
fn vectors_of_every_number_of_lanes_touch_just_their_elements() {
    let all: Vec<u32> = (1..=64).collect();
    let sample = [2, 3, 5, 7, 8, 12, 15, 16, 17, 24, 31, 33, 40, 48, 63, 64];
    let mut windows = 0;
    for (elem, sum) in TYPES {
        for tail in KINDS {
            let usual = match tail {
                None => matches!(elem, "u8" | "i16" | "f32"),
                Some(_) => elem == "u8",
            };
            if !usual && !full() {
                continue;
            }
            let lanes = match full() {
                true => &all[..],
                false => &sample,
            };
            let text = kernel(elem, sum, tail, lanes);
            let name = format!("{elem}, tail {}", tail.unwrap_or("none"));
            windows += agrees(&name, &text, "host", "c").windows;
        }
    }
    println!("{windows} windows with programs");
    assert!(windows > 80, "{windows}");
    if !full() {
        skip_part!("a sample is run: every type at 1 to 64 lanes by `cargo xtask lanes`");
    }
}

/// Three of four lanes of each row, at every alignment, by a factor that is a parameter.
#[test]
fn rows_of_three_with_a_scalar_touch_just_their_elements() {
    let text = "\
kernel xyz(n: size, s: f32, a: in f32[n, 3], o: out f32[n, 3]) {
  for i in 0..n { o[i, 0..+3] = a[i, 0..+3] * s; }
}
";
    let agreed = agrees("xyz", text, "host", "c");
    assert_eq!(agreed.windows, 1, "{}", agreed.shown);
}

#[test]
fn copies_are_made_in_registers_of_the_target() {
    let text = kernel("f16", "a", None, &[3, 32, 64]);
    let agreed = agrees("f16, copied", &text, "x86-64-v3", "c");
    assert_eq!(agreed.windows, 3);
}

/// Where a processor has 16-bit floats of its own, C has a type for one: what holds the bits of one
/// is no number to be converted. Run where the processor has them.
#[test]
fn single_short_floats_keep_their_bits() {
    let text = "\
kernel halves(n: size, a: in f16[n, 32], o: out f16[n, 32]) {
  for i in 0..n { o[i, 0..+32] = a[i, 0..+32] * 2.0 + 1.5; }
}
kernel least(n: size, a: in i16[n, 17], b: in i16[n, 17], o: out i16[n, 17]) {
  for i in 0..n { o[i, 0..+17] = min(a[i, 0..+17], b[i, 0..+17]); }
}
";
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("short.kernel"), text).expect("it is written");
    let of = |more: &[&str]| {
        let all = ["compile", "short.kernel", "--target", "sapphirerapids"];
        let output = super::isaforge(&[&all[..], more].concat(), folder.path());
        (output.status.code(), super::shown(&output))
    };
    let (code, log) = of(&["-o", "short.c"]);
    assert_eq!(code, Some(0), "{log}");
    let written = std::fs::read_to_string(folder.path().join("short.c")).expect("it is there");
    for reinterpreted in ["op_uint16_t_as__Float16(", "op__Float16_as_uint16_t("] {
        let found = written.matches(reinterpreted).count();
        assert!(
            found > 1,
            "{reinterpreted} is defined and called: {written}"
        );
    }
    assert!(!written.contains("(_Float16)"), "{written}");
    let (code, log) = of(&["--run", "--report", "json"]);
    assert_ne!(code, Some(2), "{log}");
    super::tell_skipped_runs("short.kernel", &log);
}
