//! Statements that Halide 21 has written for three small pipelines: a scaled image with a
//! masked tail, a maximum of neighbours with clamped places, a sum of products over lanes.

use std::path::Path;
use test_support::need;
use toolchain::c;

const PIPELINES: [&str; 3] = ["scaled", "near", "dot"];

fn texts() -> std::path::PathBuf {
    super::folder().join("end_to_end/halide")
}

/// Compiles and runs a pipeline; the report, when its results agree or it cannot be run here.
fn runs(name: &str, arguments: &[&str], folder: &Path) -> String {
    let output = super::isaforge(arguments, folder);
    let text = super::shown(&output);
    assert!(
        matches!(output.status.code(), Some(0 | 3)),
        "{name}: {text}"
    );
    assert!(
        text.contains("\"outcome\": \"agreed\"") || text.contains("\"outcome\": \"skipped\""),
        "{name}: {text}"
    );
    super::tell_skipped_runs(name, &text);
    text
}

#[test]
fn pipelines_compile_and_agree_with_the_evaluator() {
    for name in PIPELINES {
        let file = format!("{name}.stmt");
        let arguments = [
            "compile",
            "--from-halide",
            &file,
            "--run",
            "--report",
            "json",
        ];
        runs(name, &arguments, &texts());
    }
}

#[test]
fn the_function_takes_pointers_or_buffers() {
    for (form, parameters) in [
        (
            "pointers",
            "int scaled(const uint8_t *a, int64_t a_extent_0, int64_t a_extent_1, int16_t scale, uint8_t *",
        ),
        (
            "halide",
            "int scaled(halide_buffer_t *a_buffer, int16_t scale, halide_buffer_t *",
        ),
    ] {
        let arguments = [
            "compile",
            "--from-halide",
            "scaled.stmt",
            "--arguments",
            form,
            "--target",
            "znver4",
            "-o",
            "-",
        ];
        let output = super::isaforge(&arguments, &texts());
        let text = super::shown(&output);
        assert!(
            matches!(output.status.code(), Some(0 | 3)),
            "{form}: {text}"
        );
        assert!(text.contains(parameters), "{form}: {text}");
    }
}

#[test]
fn buffers_that_begin_elsewhere_and_wrong_ones() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = |name: &str| folder.path().join(name).display().to_string();
    let mut words = vec!["-O1".to_owned(), "-march=native".to_owned()];
    for form in ["pointers", "halide"] {
        let source = place(&format!("{form}.c"));
        let arguments = [
            "compile",
            "--from-halide",
            "scaled.stmt",
            "--arguments",
            form,
            "-o",
            &source,
        ];
        let output = super::isaforge(&arguments, &texts());
        let text = super::shown(&output);
        assert!(
            matches!(output.status.code(), Some(0 | 3)),
            "{form}: {text}"
        );
        let code = std::fs::read_to_string(&source).expect("it is written");
        let name = if form == "pointers" {
            "by_pointers"
        } else {
            "by_buffers"
        };
        let renamed = code
            .replace("int scaled(", &format!("int {name}("))
            .replace("scaled_kernel", &format!("{name}_kernel"));
        std::fs::write(&source, renamed).expect("it can be written");
        words.push(source);
    }
    words.push(texts().join("buffers.c").display().to_string());
    words.extend(["-o".to_owned(), place("run")]);
    let compiler = need!(c::compiler().ok_or(c::MISSING));
    let built = c::compile(&compiler, words, folder.path());
    built.unwrap_or_else(|messages| panic!("{messages}"));
    c::run("run", [""; 0], folder.path()).unwrap_or_else(|said| panic!("{said}"));
}

#[test]
fn damaged_texts_are_refused_with_their_line() {
    let whole = std::fs::read_to_string(texts().join("dot.stmt")).expect("the text is there");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let cut: String = whole
        .lines()
        .take(60)
        .map(|line| format!("{line}\n"))
        .collect();
    let gpu = whole.replacen("for (", "gpu_block<CUDA> (", 1);
    let call = whole.replace("vector_reduce_add(", "my_sum(");
    for (text, message) in [
        (cut, "the text ends before this block is closed"),
        (gpu, "a `gpu_block<CUDA>` loop"),
        (call, "`my_sum` is not supported"),
    ] {
        std::fs::write(folder.path().join("damaged.stmt"), text).expect("it can be written");
        let arguments = [
            "compile",
            "--from-halide",
            "damaged.stmt",
            "--target",
            "znver4",
        ];
        let output = super::isaforge(&arguments, folder.path());
        let shown = super::shown(&output);
        assert_eq!(output.status.code(), Some(1), "{shown}");
        assert!(
            shown.contains(message) && shown.contains("damaged.stmt:"),
            "{shown}"
        );
    }
}

/// Pipelines with constants, tables, functions of the C library and places that are data, as
/// Halide has written them for the tests of the importer.
#[test]
fn what_depends_on_data_compiles_and_agrees_with_the_evaluator() {
    let folder = super::folder().join("../front-ends/halide/tests/pipelines");
    for (name, form) in [
        ("table", "pointers"),
        ("histogram", "halide"),
        ("warp", "pointers"),
        ("library", "pointers"),
        ("within", "halide"),
        ("chroma", "pointers"),
        ("rows", "pointers"),
        ("fast_log", "pointers"),
        ("blend", "pointers"),
        ("paired", "pointers"),
        ("extents", "halide"),
    ] {
        let file = format!("{name}.stmt");
        let mut arguments = vec!["compile", "--from-halide", &file, "--arguments", form];
        if name == "fast_log" {
            arguments.extend(["--constants", "fast_log.c"]);
        }
        arguments.extend(["--run", "--report", "json"]);
        let text = runs(name, &arguments, &folder);
        if name == "blend" {
            assert!(text.contains("is parallel in Halide"), "{text}");
        }
    }
}

#[test]
fn functions_keep_their_names_and_constants_go_with_code() {
    let folder = super::folder().join("../front-ends/halide/tests/pipelines");
    let run = |more: &[&str]| {
        let mut arguments = vec![
            "compile",
            "--from-halide",
            "sigmoid.stmt",
            "--target",
            "znver4",
        ];
        arguments.extend(more);
        super::isaforge(&arguments, &folder)
    };
    let arguments = [
        "compile",
        "--from-halide",
        "blend.stmt",
        "--target",
        "znver4",
        "-o",
        "-",
    ];
    let named = super::shown(&super::isaforge(&arguments, &folder));
    assert!(named.contains("int op_blend(const uint8_t *a,"), "{named}");
    let arguments = [
        "compile",
        "--from-halide",
        "ranged.stmt",
        "--target",
        "znver4",
        "-o",
        "-",
    ];
    let ranged = super::shown(&super::isaforge(&arguments, &folder));
    let checks = [
        "op_le_bool_f32(g, 4e0f)",
        "return -10;",
        "op_le_bool_f32(0e0f, g)",
        "return -9;",
    ];
    assert!(
        checks.iter().all(|check| ranged.contains(check)),
        "{ranged}"
    );
    let without = run(&["-o", "-"]);
    assert_eq!(without.status.code(), Some(1));
    let log = super::shown(&without);
    assert!(
        log.contains("has rounded the constant") && log.contains("--constants"),
        "{log}"
    );
    let exact = super::shown(&run(&["--constants", "sigmoid.c", "-o", "-"]));
    assert!(
        !exact.contains("expf"),
        "vectors have a polynomial: {exact}"
    );
    let programs = run(&["--constants", "sigmoid.c", "--emit", "autoir", "-o", "-"]);
    assert_eq!(programs.status.code(), Some(1));
    let calls = [
        "compile",
        "--from-halide",
        "library.stmt",
        "--target",
        "znver4",
    ];
    let ir = [&calls[..], &["--emit", "llvm", "-o", "-"]].concat();
    let ir = super::shown(&super::isaforge(&ir, &folder));
    assert!(ir.contains("cannot be written as LLVM IR"), "{ir}");
}
