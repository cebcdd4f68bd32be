//! Programs of AutoIR operations as files: written, read back, lowered for another target, and
//! refused where they are not what their windows want.

use std::path::Path;

const KERNEL: &str =
    "kernel mixed(n: size, s: i16, a: in u8[n], b: in u8[n], o: out i16[n], p: out u8[n]) {
  for x in 0..n {
    o[x] = i16(a[x]) * s + (i16(b[x]) >> 3);
    p[x] = avg(max(a[x], b[x]), 9);
  }
} schedule { vectorize x by 16; }
";

fn compile(arguments: &[&str], folder: &Path) -> (String, Option<i32>) {
    let output = super::isaforge(&[&["compile"], arguments].concat(), folder);
    (super::shown(&output), output.status.code())
}

/// A folder with a kernel, and its programs for a processor in `mixed.autoir`.
fn written(target: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("mixed.kernel"), KERNEL).expect("a kernel");
    let arguments = [
        "mixed.kernel",
        "--target",
        target,
        "--emit",
        "autoir",
        "-o",
        "mixed.autoir",
    ];
    let (shown, code) = compile(&arguments, folder.path());
    assert_eq!(code, Some(0), "{shown}");
    let text = std::fs::read_to_string(folder.path().join("mixed.autoir")).expect("it is there");
    (folder, text)
}

#[test]
fn programs_are_read_back_and_lowered() {
    let (folder, text) = written("x86-64-v3");
    assert!(
        text.starts_with("isaforge-autoir 1\n(program mixed.0\n"),
        "{text}"
    );
    assert!(text.ends_with(KERNEL), "{text}");
    let names_an_instruction = text.lines().any(|l| l.contains("_mm"));
    assert!(!names_an_instruction, "{text}");
    let code = |from: &[&str], target: &str, to: &str| {
        let arguments = [from, &["--target", target, "-o", to]].concat();
        let (shown, code) = compile(&arguments, folder.path());
        assert_eq!(code, Some(0), "{shown}");
        std::fs::read_to_string(folder.path().join(to)).expect("it is there")
    };
    let body = |text: String| text.split_once('\n').map(|(_, rest)| rest.to_owned());
    let searched = code(&["mixed.kernel"], "x86-64-v3", "searched.c");
    let lowered = code(&["--from-autoir", "mixed.autoir"], "x86-64-v3", "lowered.c");
    assert_eq!(body(searched), body(lowered.clone()));
    // A target with more instructions has these operations too; the text is the same again.
    let more = code(&["--from-autoir", "mixed.autoir"], "znver4", "more.c");
    assert_eq!(body(lowered), body(more));
    let again = [
        "--from-autoir",
        "mixed.autoir",
        "--target",
        "x86-64-v3",
        "--emit",
        "autoir",
    ];
    let (shown, status) = compile(&[&again[..], &["-o", "-"]].concat(), folder.path());
    assert_eq!(status, Some(0));
    assert!(shown.contains(&text), "{shown}");
}

/// What is proved in steps when it is found, and has no short proof as a whole, is read back all the same:
/// in the steps that a search for the window claims, and no other program stands in its place.
#[test]
fn a_program_without_a_short_proof_is_read_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let kernel = include_str!("../../kernels/sobel5x5.kernel");
    let (algorithm, _) = kernel
        .split_once("} schedule {")
        .expect("it has a schedule");
    let kernel = format!("{algorithm}}} schedule {{ vectorize x by 16; }}\n");
    std::fs::write(folder.path().join("edges.kernel"), kernel).expect("a kernel");
    let file = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("a file");
    let compiled = |arguments: &[&str]| {
        let arguments = [arguments, &["--target", "x86-64-v3"]].concat();
        compile(&arguments, folder.path())
    };
    let emitted = ["edges.kernel", "--emit", "autoir", "-o", "edges.autoir"];
    let (shown, code) = compiled(&emitted);
    assert_eq!(code, Some(0), "{shown}");
    let again = [
        "--from-autoir",
        "edges.autoir",
        "--emit",
        "autoir",
        "-o",
        "again.autoir",
    ];
    let (shown, code) = compiled(&again);
    assert_eq!(code, Some(0), "{shown}");
    assert_eq!(file("again.autoir"), file("edges.autoir"));
    let text = file("edges.autoir");
    let wrong = text.replacen(" 32:2)", " 32:3)", 1);
    assert_ne!(wrong, text);
    std::fs::write(folder.path().join("wrong.autoir"), wrong).expect("a file");
    let (shown, code) = compiled(&["--from-autoir", "wrong.autoir"]);
    assert_eq!(code, Some(1), "{shown}");
}

#[test]
fn programs_that_are_not_their_windows_are_refused() {
    let (folder, text) = written("x86-64-v3");
    let refused = |text: &str, target: &str, because: &str| {
        std::fs::write(folder.path().join("wrong.autoir"), text).expect("a file");
        let arguments = ["--from-autoir", "wrong.autoir", "--target", target];
        let (shown, code) = compile(&arguments, folder.path());
        assert_eq!(code, Some(1), "{shown}");
        assert!(shown.contains(because), "{because}: {shown}");
    };
    // One wrong line is one error, whatever is made of its value.
    let at = text.find("(input v0 ").expect("an input");
    let unread = format!(
        "{}(inptu v0 {}",
        &text[..at],
        &text[at + "(input v0 ".len()..]
    );
    std::fs::write(folder.path().join("wrong.autoir"), unread).expect("a file");
    let arguments = ["--from-autoir", "wrong.autoir", "--target", "x86-64-v3"];
    let (shown, code) = compile(&arguments, folder.path());
    assert_eq!(
        (code, shown.matches("error: ").count()),
        (Some(1), 1),
        "{shown}"
    );
    assert!(shown.contains("expected input, constant"), "{shown}");
    let shift = text.find(":3)").expect("a shift by 3");
    let other = format!("{}:4){}", &text[..shift], &text[shift + 3..]);
    refused(&other, "x86-64-v3", "`mixed.0` computes something else at");
    refused(
        &text.replace("(end ", "(end 1"),
        "x86-64-v3",
        "not all programs are there",
    );
    refused(
        &text.replace("--- ", "-- "),
        "x86-64-v3",
        "the kernels are missing",
    );
    refused(
        &text.replace("--- kernels", "--- songs"),
        "x86-64-v3",
        "no language of kernels",
    );
    refused(
        &text.replace("(program mixed.1", "(program mixed.0"),
        "x86-64-v3",
        "there is already a program `mixed.0`",
    );
    refused(
        &text.replace("mixed.1", "mixed.7"),
        "x86-64-v3",
        "no window `mixed.7`",
    );
    refused(
        &text.replace("(input v0 a 0 ", "(input v0 a 8 "),
        "x86-64-v3",
        "mixed",
    );
    refused(
        &text.replace("(input v0 a 0 ", "(input v0 c 0 "),
        "x86-64-v3",
        "no input `c`",
    );
    refused(
        &text.replace("isaforge-autoir 1", "isaforge-autoir 9"),
        "x86-64-v3",
        "another version",
    );
    refused(&text, "sse2", "the target has no instruction for");
    let cut = &text[..text.find("(return").expect("a return")];
    refused(cut, "x86-64-v3", "error");
}

#[test]
fn what_rows_have_in_common_is_a_program_and_read_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let kernel = "kernel grown(h: size, w: size, a: in u8[h + 2, w + 2], o: out u8[h, w]) {
  fn row(y: index, x: index) -> u8 = max(a[y, x], a[y, x + 1], a[y, x + 2]);
  for y in 0..h {
    for x in 0..w { o[y, x] = max(row(y, x), row(y + 1, x), row(y + 2, x)); }
  }
} schedule { jam y by 4; vectorize x by 32 tail mask; }
";
    std::fs::write(folder.path().join("grown.kernel"), kernel).expect("a kernel");
    let code = |from: &[&str], to: &str| {
        let arguments = [from, &["--target", "x86-64-v3", "-o", to]].concat();
        let (shown, code) = compile(&arguments, folder.path());
        assert_eq!(code, Some(0), "{shown}");
        std::fs::read_to_string(folder.path().join(to)).expect("it is there")
    };
    let searched = code(&["grown.kernel"], "searched.c");
    // Six rows of three are formed once, where each of four statements would compare nine bytes.
    let jammed = searched.split("for (int64_t y_2").next().unwrap_or("");
    let whole = jammed.split("for (int64_t x_").nth(1).unwrap_or("");
    let compared = whole.matches("_mm256_max_epu8(").count();
    assert!((16..=20).contains(&compared), "{compared}: {searched}");
    let programs = code(&["grown.kernel", "--emit", "autoir"], "grown.autoir");
    assert!(programs.contains("common0"), "{programs}");
    let lowered = code(&["--from-autoir", "grown.autoir"], "lowered.c");
    let body = |text: &str| text.split_once('\n').map(|(_, rest)| rest.to_owned());
    assert_eq!(body(&searched), body(&lowered));
}
