//! The page of a compilation: what is on it, and how it behaves in a browser.

use super::browser::Browser;
use super::contrast::faint;
use serde_json::json;
use std::path::{Path, PathBuf};
use test_support::{need, skip_part};

/// A kernel with a loop that carries a sum, a statement of two lines, and a division by a constant.
const KERNEL: &str = "kernel some(n: size, a: in i16[n], b: in i16[n], q: in i32[n], y: out i32[8], z: out i32[n]) requires n % 16 == 0 {
  var s: i32x8 = 0;
  for i in 0..n step 16 {
    s += reduce_add(
      i32(a[i..+16]) * i32(b[i..+16]), 2);
  }
  y[0..+8] = s;
  for i in 0..n step 8 {
    z[i..+8] = q[i..+8] / 7;
  }
}
";

/// The page, made once for each kernel.
fn made(name: &str, kernel: &str) -> (PathBuf, String) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("page")
        .join(name);
    std::fs::create_dir_all(&folder).expect("the test's folder can be written");
    let (source, page) = (folder.join("some.kernel"), folder.join("some.html"));
    std::fs::write(&source, kernel).expect("the test's folder can be written");
    let [source, html] = [&source, &page].map(|path| path.display().to_string());
    let arguments = [
        "compile",
        &source,
        "--target",
        "x86-64-v3",
        "--html",
        &html,
        "--no-memo",
    ];
    let (report, log, code) = super::run(&arguments);
    assert!(matches!(code, Some(0 | 3)), "{report}{log}");
    let text = std::fs::read_to_string(&page).expect("the page was written");
    (page, text)
}

#[test]
fn a_page_shows_source_code_and_assembly_side_by_side() {
    let (path, text) = made("whole", KERNEL);
    for wanted in [
        "kernel some",
        "_mm256_madd_epi16",
        "s += reduce_add(",
        "bound by",
        "Proved equal to the expression",
        "loads",
        "moves",
        "chosen: the cheapest of these that was proved",
        " more</li>",
    ] {
        assert!(text.contains(wanted), "no `{wanted}` on the page");
    }
    // The statement of two lines is shown whole.
    assert!(
        text.contains("s += reduce_add(\n  i32(a[i..+16]) * i32(b[i..+16]), 2);"),
        "{text}"
    );
    let mut page = need!(Browser::start());
    page.open(
        &format!("file://{}", path.display()),
        "document.querySelector('.kernel')",
    );
    let columns = page.value("document.querySelectorAll('.column pre').length");
    if columns == json!(3) {
        // The product is of the same window in all columns.
        let of = |text: &str| {
            format!(
                "[...document.querySelectorAll('.column span')].find((s) => s.textContent.includes({text:?})).dataset.of"
            )
        };
        let [source, code, assembly] =
            ["s += reduce_add", "_mm256_madd_epi16", "vpmaddwd"].map(|t| page.value(&of(t)));
        assert!(
            source.is_string() && source == code && code == assembly,
            "{source} {code} {assembly}"
        );
        // Loops around windows are of none.
        let own = page.value("[...document.querySelectorAll('.column span')].filter((s) => /for \\(int64_t i/.test(s.textContent) && s.dataset.of).length");
        assert_eq!(own, json!(0));
    } else {
        skip_part!("no compiler or `objdump` for x86 here");
    }
    // One that is pointed at is marked in all columns and below.
    page.value("document.querySelector('.column [data-of=\"1\"]').dispatchEvent(new PointerEvent('pointerover', {bubbles: true}))");
    let marked = "[...document.querySelectorAll('.on')]";
    assert_eq!(
        page.value(&format!(
            "{marked}.length > 4 && {marked}.every((e) => e.dataset.of === '1')"
        )),
        json!(true)
    );
    let pale = faint(&mut page, 60);
    assert!(pale.is_empty(), "{}", pale.join("\n"));
    // On a phone nothing sticks out.
    let phone = json!({"width": 390, "height": 800, "deviceScaleFactor": 2, "mobile": true});
    page.call("Emulation.setDeviceMetricsOverride", phone);
    page.wait("document.documentElement.scrollWidth <= 390");
    assert!(page.mistakes.is_empty(), "{:?}", page.mistakes);
}

#[test]
fn warnings_come_first_and_names_are_no_markup() {
    let kernel = "// <img src=x onerror=alert(1)> & </pre>\nkernel share(n: size, a: in i64[n], b: in i64[n], y: out i64[n]) requires n % 8 == 0 {\n  \
                  for i in 0..n step 8 {\n    y[i..+8] = a[i..+8] / b[i..+8];\n  }\n}\n";
    let (_, text) = made("scalar", kernel);
    let warning = text
        .find("this vector is computed element by element")
        .expect("the warning");
    assert!(
        warning < text.find("kernel share").expect("the kernel"),
        "warnings come first"
    );
    assert!(text.contains("Computed element by element by C."), "{text}");
    assert!(
        text.contains("&lt;img src=x") && !text.contains("<img"),
        "{text}"
    );
}

#[test]
fn a_page_does_not_overwrite_what_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("own.kernel");
    std::fs::write(&source, KERNEL).expect("it can be written");
    let own = source.display().to_string();
    let (_, log, code) = super::run(&["compile", &own, "--target", "x86-64-v3", "--html", &own]);
    assert_eq!(code, Some(1), "{log}");
    let after = std::fs::read_to_string(&source).expect("it is there");
    assert!(after.starts_with("kernel some("), "the kernel is as it was");
}
