//! Machines that nobody makes: the DSP of the examples, at its own and at other widths, and what
//! `new-isa` begins. Their programs run by functions that are made from their meanings.

use std::fs;
use std::path::Path;
use toolchain::c;

/// The kernels of the DSP, and an instruction that each of them is to have.
const KERNELS: [(&str, &str); 4] = [
    ("filter", "z_qrmul_h"),
    ("complex_filter", "z_qsub_h"),
    ("dot", "z_dot_b"),
    ("swap_channels", "z_perm"),
];

/// What `check` says of a new machine one text of which is replaced, and how it ends.
fn checked_with(file: &str, from: &str, to: &str) -> (String, Option<i32>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let parent = folder.path().to_str().expect("it is UTF-8").to_owned();
    let (_, log, code) = super::run(&["new-isa", "zv", "--folder", &parent]);
    assert_eq!(code, Some(0), "{log}");
    let path = folder.path().join("zv").join(file);
    let text = fs::read_to_string(&path).expect("the file is there");
    assert!(text.contains(from), "no `{from}` in {file}");
    fs::write(&path, text.replacen(from, to, 1)).expect("the test's folder can be written");
    let (report, log, code) = super::run(&["check", "--isa", "zv", "--isa-specs", &parent]);
    (report + &log, code)
}

/// A slip that the C made of the description shares with it is found without being asked for.
#[test]
fn slips_that_a_new_machine_does_not_survive() {
    let instructions = "instructions.yaml";
    let average = "for e = 0 to {W/8-1}\n        Elem[result, e, 8] = (UInt";
    let short = average.replace("-1}", "-2}");
    let long = average.replace("-1}", "}");
    for (file, from, to, code, wanted) in [
        (
            instructions,
            average,
            short.as_str(),
            2,
            "bits 127:120 of the result are never written",
        ),
        (
            instructions,
            average,
            &long,
            1,
            "bits 135 to 128 are not all among them",
        ),
        (
            "manifest.yaml",
            "\"{W}\"",
            "64",
            1,
            "its last 8 bits are those from 56 on",
        ),
        ("manifest.yaml", "W: 128", "W: 100", 1, "no whole bytes"),
        (
            "manifest.yaml",
            "{zv_vec: \"{W}\"}",
            "{zv_vec: \"{W}\", zv_bits: 4}",
            1,
            "`zv_bits` has 4 bits, which are no whole bytes",
        ),
        (
            "manifest.yaml",
            "files: [instructions",
            "files: [instructons",
            1,
            "did you mean `instructions.yaml`?",
        ),
        (
            "manifest.yaml",
            "t: h}",
            "t: h, needs: [HALF]}",
            1,
            "under `features`: `HALF: {}`",
        ),
        ("targets.yaml", "  zv1: {}", "  {}", 1, "there is no model"),
        (
            "targets.yaml",
            "models:",
            "modles:",
            1,
            "did you mean `models`?",
        ),
        (
            "cost/generic.yaml",
            "zv_mul*",
            "zv_mull*",
            0,
            "no instruction is called `zv_mull*`",
        ),
        (
            "cost/generic.yaml",
            "rows:\n",
            "rows:\n  - {mnemonic: \"zv_*\", latency: 2, throughput: 1}\n",
            0,
            "hint: move it above line",
        ),
        (
            instructions,
            "# The instr",
            "\u{feff}# The instr",
            0,
            "16  agreed",
        ),
    ] {
        let (said, ended) = checked_with(file, from, to);
        assert!(said.contains(wanted), "{to}: no `{wanted}` in\n{said}");
        assert_eq!(ended, Some(code), "{to}: {said}");
    }
}

/// Compiles and runs a kernel for a set below `specs`; the report.
fn run(kernel: &str, isa: &str, specs: &str, more: &[&str]) -> String {
    let arguments = [
        "compile",
        kernel,
        "--isa",
        isa,
        "--isa-specs",
        specs,
        "--deny",
        "scalar",
        "--run",
    ];
    let (report, complaints, code) = super::run(&[&arguments, more].concat());
    assert_eq!(code, Some(0), "{report}{complaints}");
    report
}

/// A copy of the DSP with a text of its manifest replaced.
fn changed(folder: &Path, from: &str, to: &str) -> String {
    let source = super::root().join("examples/isa/dsp");
    let copy = folder.join("dsp");
    fs::create_dir_all(copy.join("cost")).expect("the test's folder can be written");
    for file in [
        "manifest.yaml",
        "targets.yaml",
        "instructions.yaml",
        "cost/generic.yaml",
    ] {
        let text = fs::read_to_string(source.join(file)).expect("the file is there");
        let text = match file {
            "manifest.yaml" => {
                assert_eq!(text.matches(from).count(), 1, "`{from}` stands there once");
                text.replace(from, to)
            }
            _ => text,
        };
        fs::write(copy.join(file), text).expect("the test's folder can be written");
    }
    folder.display().to_string()
}

/// All instructions run as the interpreter says.
fn checked(isa: &str, specs: &str, count: usize) {
    let arguments = [
        "check",
        "--isa",
        isa,
        "--isa-specs",
        specs,
        "--inputs",
        "200",
    ];
    let (report, complaints, code) = super::run(&arguments);
    assert_eq!(code, Some(0), "{report}{complaints}");
    assert!(report.contains(&format!("{count}  agreed")), "{report}");
    assert!(report.contains("not that a machine is"), "{report}");
}

#[test]
fn a_dsp_is_checked_and_its_kernels_run() {
    test_support::need!(c::compiler().ok_or(c::MISSING));
    checked("dsp", "examples/isa", 69);
    let report = run(
        "examples/isa/dsp/examples.kernel",
        "dsp",
        "examples/isa",
        &[],
    );
    assert_eq!(
        report.matches("run: agrees").count(),
        KERNELS.len(),
        "{report}"
    );
    for (kernel, instruction) in KERNELS {
        let part = report
            .split("kernel ")
            .find(|part| part.starts_with(&format!("{kernel}\n")));
        let part = part.unwrap_or_else(|| panic!("`{kernel}` is told of: {report}"));
        assert!(
            part.contains(instruction) && part.contains("proved"),
            "{part}"
        );
    }
}

/// Pairs of registers that nothing loads, stores or adds whole; numbers that come in at another width;
/// an order that has no instruction. What the windows cost at most is what they take by hand, but for
/// the last.
#[test]
fn a_dsp_with_pairs_is_checked_and_its_kernels_run() {
    test_support::need!(c::compiler().ok_or(c::MISSING));
    checked("avd", "examples/isa", 67);
    let report = run(
        "examples/isa/avd/examples.kernel",
        "avd",
        "examples/isa",
        &["--report", "json"],
    );
    let report: serde_json::Value = serde_json::from_str(&report).expect("the report is JSON");
    for (kernel, window, instruction, most) in [
        ("product", 0, "av_naru_h", 6.0),
        ("luma", 0, "av_mulw_ub", 12.0),
        ("narrow", 0, "av_naru_h", 1.0),
        // One of them takes the upper half of the sum that comes in.
        ("filter", 1, "av_mulw_h", 17.0),
        ("lesser", 0, "av_sel", 7.0),
    ] {
        let kernels = report["kernels"].as_array().expect("kernels");
        let found = kernels.iter().find(|k| k["name"] == kernel);
        let window = &found.expect("it is compiled")["windows"][window];
        let cost = window["cost"].as_f64();
        assert!(cost.is_some_and(|c| c <= most), "{kernel}: {cost:?}");
        let listed = window["instructions"].to_string();
        assert!(listed.contains(instruction), "{kernel}: {listed}");
    }
}

#[test]
fn another_width_of_the_dsp_is_one_number() {
    test_support::need!(c::compiler().ok_or(c::MISSING));
    let text = |bytes: u32| {
        let halves = bytes / 2;
        format!(
            "kernel average(n: size, a: in u8[n], b: in u8[n], out: out u8[n]) requires n % {bytes} == 0 {{\n  \
             for x in 0..n step {bytes} {{\n    out[x..+{bytes}] = avg(a[x..+{bytes}], b[x..+{bytes}]);\n  }}\n}}\n\
             kernel scale(n: size, c: i16, a: in i16[n], out: out i16[n]) requires n % {halves} == 0 {{\n  \
             for x in 0..n step {halves} {{\n    out[x..+{halves}] = rounding_mul_shr(a[x..+{halves}], c, 15);\n  }}\n}}\n"
        )
    };
    let changes = [
        ("W: 128", "W: 64", 64),
        ("W: 128", "W: 256", 256),
        ("W: 128", "W: 1024", 1024),
        ("A: 40", "A: 48", 128),
    ];
    for (from, to, width) in changes {
        let folder = tempfile::tempdir().expect("there is room");
        let specs = changed(folder.path(), from, to);
        checked("dsp", &specs, 69);
        let kernel = folder.path().join("own.kernel");
        fs::write(&kernel, text(width / 8)).expect("there is room");
        let report = run(&kernel.display().to_string(), "dsp", &specs, &["--no-memo"]);
        assert_eq!(report.matches("run: agrees").count(), 2, "{report}");
        assert_eq!(
            report.matches("z_avg_ub").count(),
            1,
            "one vector: {report}"
        );
        assert!(report.contains("z_qrmul_h"), "{report}");
    }
}

/// Values of two registers between those and wider accumulators: of 128 bits, beside registers of 64
/// and accumulators of 160.
#[test]
fn values_lie_in_several_registers_of_a_narrow_dsp() {
    test_support::need!(c::compiler().ok_or(c::MISSING));
    let folder = tempfile::tempdir().expect("there is room");
    let specs = changed(folder.path(), "W: 128", "W: 64");
    let kernel = folder.path().join("own.kernel");
    let text = "kernel dot(n: size, a: in i8[n], b: in i8[n], y: out i32[4]) requires n % 16 == 0 {
  var s: i32x4 = 0;
  for i in 0..n step 16 {
    s += reduce_add(i32(a[i..+16]) * i32(b[i..+16]), 4);
  }
  y[0..+4] = s;
}
kernel copy(n: size, a: in u8[n], y: out u8[n]) requires n % 16 == 0 {
  for i in 0..n step 16 {
    y[i..+16] = a[i..+16];
  }
}
";
    fs::write(&kernel, text).expect("there is room");
    let report = run(&kernel.display().to_string(), "dsp", &specs, &["--no-memo"]);
    assert_eq!(report.matches("run: agrees").count(), 2, "{report}");
    let dots = report.lines().filter(|line| line.trim() == "z_dot_b");
    assert_eq!(dots.count(), 2, "{report}");
}

#[test]
fn the_header_of_a_machine_that_is_not_there_is_portable() {
    let compiler = test_support::need!(c::compiler().ok_or(c::MISSING));
    let folder = tempfile::tempdir().expect("there is room");
    let built = folder.path().join("built").display().to_string();
    let (report, complaints, code) = super::run(&[
        "build",
        "--isa",
        "dsp",
        "--isa-specs",
        "examples/isa",
        "-o",
        &built,
    ]);
    assert_eq!(code, Some(0), "{report}{complaints}");
    assert!(report.contains("69 functions of portable C"), "{report}");
    let program = "#include \"dsp_reference.h\"\n\
        int main(void)\n{\n    int16_t x[8] = {-32768, 32767, 1, -1, 100, -100, 0, 5}, y[8];\n    \
        zv a = z_ld(x), b = z_qsub_h(z_dup_h(0), a);\n    z_st(y, b);\n    \
        return y[0] != 32767 || y[1] != -32767 || y[5] != 100;\n}\n";
    fs::write(folder.path().join("main.c"), program).expect("there is room");
    let flags = [
        "-std=c99",
        "-pedantic",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Ibuilt/c",
    ];
    let done = c::compile(
        &compiler,
        flags.into_iter().chain(["main.c", "-o", "main"]),
        folder.path(),
    );
    done.unwrap_or_else(|messages| panic!("{messages}"));
    c::run("main", [""; 0], folder.path()).unwrap_or_else(|said| panic!("{said}"));
}

#[test]
fn what_new_isa_begins_checks_compiles_and_runs() {
    test_support::need!(c::compiler().ok_or(c::MISSING));
    let folder = tempfile::tempdir().expect("there is room");
    let specs = folder.path().display().to_string();
    for (name, width) in [("zv", "128"), ("long_one", "1024")] {
        let arguments = ["new-isa", name, "--width", width, "--folder", &specs];
        let (log, complaints, code) = super::run(&arguments);
        assert_eq!(code, Some(0), "{log}{complaints}");
        checked(name, &specs, 16);
        let kernel = format!("{specs}/{name}/example.kernel");
        let arguments = [
            "compile",
            &kernel,
            "--isa",
            name,
            "--isa-specs",
            &specs,
            "--run",
        ];
        let (report, complaints, code) = super::run(&arguments);
        assert_eq!(code, Some(0), "{report}{complaints}");
        assert!(report.contains(&format!("{name}_avg_ub")), "{report}");
        assert!(report.contains("run: agrees"), "{report}");
    }
    run("examples/average.kernel", "zv", &specs, &[]);
    let (_, complaints, code) = super::run(&["new-isa", "zv", "--folder", &specs]);
    assert_eq!(code, Some(1));
    assert!(complaints.contains("is there already"), "{complaints}");
    let (_, complaints, code) = super::run(&["new-isa", "z", "--width", "192", "--folder", &specs]);
    assert_eq!(code, Some(1));
    assert!(complaints.contains("--width 256"), "{complaints}");
}

/// A machine whose loads and stores take a distance or an offset, and whose shifts take their count
/// from a number of another width: what is moved is that at the first constant, counts that are known
/// are given as numbers, and a number of the kernel is taken as it is.
#[test]
fn operands_beside_vectors_are_numbers() {
    test_support::need!(c::compiler().ok_or(c::MISSING));
    let folder = tempfile::tempdir().expect("there is room");
    let specs = folder.path().display().to_string();
    let (log, complaints, code) = super::run(&["new-isa", "zv", "--folder", &specs]);
    assert_eq!(code, Some(0), "{log}{complaints}");
    let path = folder.path().join("zv/instructions.yaml");
    let mut text = fs::read_to_string(&path).expect("the file is there");
    for (from, to) in [
        ("p void const* MEM #", "p void const* MEM, s 1..4 #"),
        ("= Mem[p + e, 1]", "= Mem[p + s*e, 1]"),
        ("p void* MEM, a UI8", "p void* MEM, a UI8, o 0..15"),
        ("Mem[p + e, 1] =", "Mem[p + 16*o + e, 1] ="),
        ("a SI{E}, n 0..{E-1}", "a SI{E}, n uint8_t UI8"),
        ("ASR(Elem[a, e, {E}], n)", "ASR(Elem[a, e, {E}], UInt(n))"),
        // Products are only added to something.
        ("zv_mulr_h", "zv_mac_h"),
        (
            "operands: a SI16, b SI16",
            "operands: r SI16, a SI16, b SI16",
        ),
        (
            "integer x = SInt(Elem[a, e, 16])",
            "integer x = SInt(Elem[r, e, 16]) + SInt(Elem[a, e, 16])",
        ),
        ("SignedSat((x + 16384) >> 15, 16)", "x<15:0>"),
    ] {
        assert_eq!(text.matches(from).count(), 1, "`{from}` stands there once");
        text = text.replace(from, to);
    }
    fs::write(&path, text).expect("the test's folder can be written");
    let kernel = super::written(
        "numbers.kernel",
        "kernel shift(n: size, s: u8, a: in i16[n], o: out i16[n], p: out i16[n]) requires n % 8 == 0 {
          for x in 0..n { o[x] = (a[x] >> 3) + a[x]; p[x] = (a[x] >> i16(s)) * a[x]; }
        } schedule { vectorize x by 8; }",
    );
    let code = folder.path().join("shift.c").display().to_string();
    let report = run(&kernel, "zv", &specs, &["-o", &code]);
    assert!(report.contains("run: agrees"), "{report}");
    let text = fs::read_to_string(&code).expect("it is written");
    for wanted in [
        "zv_load(",
        ", 1)",
        "zv_store(",
        ", 0)",
        "zv_sra_h(",
        "zv_mac_h(",
    ] {
        assert!(text.contains(wanted), "no `{wanted}` in\n{text}");
    }
}

/// What one instruction computes is not searched for among what the machine has not, such as instructions
/// that narrow lanes.
#[test]
fn a_machine_with_little_is_no_long_search() {
    let cache = tempfile::tempdir().expect("a folder");
    let arguments = ["compile", "examples/average.kernel", "--isa", "dsp"];
    let more = ["--isa-specs", "examples/isa", "--explain"];
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_isaforge"))
        .args([&arguments[..], &more].concat())
        .current_dir(super::root())
        .env("XDG_CACHE_HOME", cache.path())
        .output()
        .expect("the binary starts");
    let log = super::shown(&output);
    assert_eq!(output.status.code(), Some(0), "{log}");
    assert!(log.contains("z_avg_ub"), "{log}");
    let told = log.lines().find(|line| line.contains(" goals, "));
    let counts = told.unwrap_or_default().split(", ");
    let counts = counts.filter_map(|part| part.trim().split(' ').next()?.parse().ok());
    let counts: Vec<u64> = counts.collect();
    assert!(
        matches!(counts[..], [goals, matches, 3] if goals <= 60 && matches <= 200),
        "{log}"
    );
}

/// Nothing is said to be done that is not: neither for a machine that this is not, nor in a
/// language that knows nothing of the set.
#[test]
fn what_cannot_be_done_for_a_foreign_set_is_told() {
    if cfg!(not(target_arch = "aarch64")) {
        let (_, complaints, code) =
            super::run(&["compile", "examples/average.kernel", "--isa", "arm"]);
        assert_eq!(code, Some(1));
        assert!(complaints.contains("--target armv8-a"), "{complaints}");
    }
}

/// LLVM has no name for what such a machine does: the module has the meanings in its place.
#[test]
fn a_machine_that_llvm_does_not_know_has_its_meaning_in_llvm_ir() {
    let module = super::written("dsp.ll", "");
    let arguments = ["compile", "examples/average.kernel", "--isa", "dsp"];
    let more = [
        "--isa-specs",
        "examples/isa",
        "--emit",
        "llvm",
        "-o",
        &module,
    ];
    let (out, complaints, code) = super::run(&[&arguments[..], &more, &["--run"]].concat());
    assert!(matches!(code, Some(0 | 3)), "{out}{complaints}");
    assert!(out.contains("z_avg_ub"), "{out}");
    let text = std::fs::read_to_string(&module).expect("the module was written");
    let meant = "z_avg_ub has no name in LLVM here and is written as its meaning";
    assert!(text.contains(meant), "{text}");
    if code == Some(3) || out.contains("run: skipped: there is no `opt`") {
        test_support::skip!("the module is not run: {out}");
    }
    assert!(out.contains("run: agrees with the evaluator"), "{out}");
}

/// Functions that are made from meanings compute what the interpreter does, for sets that nobody
/// wrote with them in mind: wide shifts, fields, tables, structures, memory under masks.
#[test]
fn reference_functions_of_other_sets_agree() {
    test_support::need!(c::compiler().ok_or(c::MISSING));
    for (isa, filter) in [
        ("arm", "vqrdmulh"),
        ("arm", "vld3q_lane"),
        ("x86", "_mm_mask_i32scatter"),
        ("x86", "gf2p8affineinv"),
    ] {
        let arguments = [
            "check",
            "--isa",
            isa,
            "--reference",
            "--filter",
            filter,
            "--inputs",
            "100",
        ];
        let (report, complaints, code) = super::run(&arguments);
        assert_eq!(code, Some(0), "{report}{complaints}");
        assert!(
            report.contains("0  disagreed") && report.contains("0  not checked"),
            "{report}"
        );
    }
    // What has no function is told, and the exit code says that something was not checked.
    let arguments = [
        "check",
        "--isa",
        "arm",
        "--reference",
        "--filter",
        "vaddq_f32",
    ];
    let (report, _, code) = super::run(&arguments);
    assert_eq!(code, Some(3), "{report}");
    assert!(
        report.contains("it has no reference function: `fadd`"),
        "{report}"
    );
}

/// What a stranger's manifest names is run when the caller says so, and not before; headers are no
/// paths to files of theirs.
#[cfg(unix)]
#[test]
fn what_a_strangers_manifest_names_is_not_run_unasked() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("there is room");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (program, ran) = (at("program"), at("ran"));
    fs::write(&program, format!("#!/bin/sh\ntouch {ran}\nexit 0\n")).expect("there is room");
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(&program, mode).expect("it is ours");
    let with = |section: &str| {
        let files = format!("c: {section}\nfiles: [instructions.yaml]");
        changed(folder.path(), "files: [instructions.yaml]", &files)
    };
    let section = format!(
        "{{headers: [dsp.h], native: other, compilers: [{program}], emulator: [{program}]}}"
    );
    let specs = with(&section);
    let set = ["--isa", "dsp", "--isa-specs", &specs];
    let kernel = at("k.kernel");
    let text = "kernel k(a: in u8[16], o: out u8[16]) { o[0..+16] = a[0..+16] + 1; }\n";
    fs::write(&kernel, text).expect("there is room");
    let check = ["check", "--inputs", "20"];
    let compile = ["compile", &kernel, "--target", "zv1", "--run", "-o", "-"];
    for command in [&check[..], &compile[..]] {
        let (report, complaints, _) = super::run(&[command, &set].concat());
        let log = format!("{report}{complaints}");
        assert!(log.contains("--trust-specs"), "{log}");
        assert!(log.contains("program"), "which it would be: {log}");
        assert!(!Path::new(&ran).exists(), "it was run: {log}");
    }
    super::run(&[&check[..], &set, &["--trust-specs"]].concat());
    assert!(Path::new(&ran).exists(), "it was asked for");
    for header in ["/tmp/theirs.h", "../theirs.h", "x.h>\\n#include <y.h"] {
        let specs = with(&format!("{{headers: [\"{header}\"]}}"));
        let set = ["--isa", "dsp", "--isa-specs", &specs];
        let (report, complaints, code) = super::run(&[&check[..], &set].concat());
        assert_eq!(code, Some(1), "{header}: {report}{complaints}");
        assert!(complaints.contains("a header"), "{complaints}");
    }
}
