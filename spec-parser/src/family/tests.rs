//! Tests of the family loader: what a family expands to, and every message about a wrong one.

use super::{Loaded, load};
use crate::manifest;
use expect_test::{Expect, expect};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

const MANIFEST: &str = r#"
isa: test
dialect: intel
types: {__m128i: 128, __m512i: 512}
files: [one.yaml, two.yaml]
axes:
  width:
    - {W: 128, P: "", V: __m128i, needs: [AVX512VL]}
    - {W: 512, P: 512, V: __m512i}
  bw:
    - {E: 8, S: b, needs: [AVX512BW]}
    - {E: 16, S: w, needs: [AVX512BW]}
derived:
  N: "{W/E}"
  H: "{E-1}"
"#;

const TARGETS: &str = "
features:
  SSE2: {flag: sse2, cpuinfo: sse2}
  AVX2: {flag: avx2, cpuinfo: avx2}
  AVX512BW: {flag: avx512bw, cpuinfo: avx512bw}
  AVX512VL: {flag: avx512vl, cpuinfo: avx512vl}
models: {}
";

const ADD: &str = "\
- family: add
  doc: Wrapping addition.
  vary: [width, bw]
  legacy: [SSE2, AVX2]
  intrinsic: _mm{P}_add_epi{E}
  instruction: vpadd{S}
  returns: UI{E}
  operands: a UI{E}, b UI{E}
  mask: E
  pseudocode: |
    FOR j := 0 to {N-1}
      i := j*{E}
      dst[i+{H}:i] := a[i+{H}:i] + b[i+{H}:i]
    ENDFOR
";

/// A folder of its own for one test, removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Folder {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("families-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the temporary folder can be written");
        for (name, text) in files {
            std::fs::write(path.join(name), text).expect("the temporary folder can be written");
        }
        Folder(path)
    }

    fn load(&self) -> Loaded {
        let manifest = manifest::load(&self.0.join("manifest.yaml")).expect("the manifest is good");
        load(&manifest)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Loads two family files.
fn families(one: &str, two: &str) -> Loaded {
    let files = [
        ("manifest.yaml", MANIFEST),
        ("targets.yaml", TARGETS),
        ("one.yaml", one),
        ("two.yaml", two),
    ];
    Folder::new(&files).load()
}

/// What is said about a wrong family in the first file; the good one in the second is loaded.
fn messages(wrong: &str, expect: Expect) {
    let folder = Folder::new(&[
        ("manifest.yaml", MANIFEST),
        ("targets.yaml", TARGETS),
        ("one.yaml", wrong),
        ("two.yaml", ADD),
    ]);
    let loaded = folder.load();
    assert!(
        loaded
            .members
            .iter()
            .any(|m| m.signature.name == "_mm512_add_epi8"),
        "the rest is loaded"
    );
    let text = semantics::diagnostic::render(&loaded.diagnostics);
    expect.assert_eq(&text.replace(&format!("{}/", folder.0.display()), ""));
}

/// A good family with one line replaced.
fn changed(from: &str, to: &str) -> String {
    let renamed = ADD
        .replace("family: add", "family: wrong")
        .replace("_add_", "_wrong_");
    assert!(renamed.contains(from));
    renamed.replace(from, to)
}

/// The signature of a member in one line.
fn signature(loaded: &Loaded, name: &str) -> String {
    let member = loaded
        .members
        .iter()
        .find(|m| m.signature.name == name)
        .expect("it is a member");
    let s = &member.signature;
    let operands: Vec<String> = s
        .operands
        .iter()
        .map(|o| format!("{} {}", o.c_type, o.name))
        .collect();
    let mnemonic = s.mnemonic.as_deref().unwrap_or("-");
    format!(
        "{} {}({}) {mnemonic} {:?}",
        s.returns.c_type,
        s.name,
        operands.join(", "),
        s.features
    )
}

fn body<'a>(loaded: &'a Loaded, name: &str) -> &'a str {
    let member = loaded.members.iter().find(|m| m.signature.name == name);
    &member.expect("it is a member").pseudocode.text
}

#[test]
fn all_forms_with_their_features() {
    let loaded = families(ADD, "");
    assert!(loaded.diagnostics.is_empty());
    let all: Vec<String> = loaded
        .members
        .iter()
        .map(|m| signature(&loaded, &m.signature.name))
        .collect();
    expect![[r#"
        __m128i _mm_add_epi8(__m128i a, __m128i b) paddb ["SSE2"]
        __m128i _mm_mask_add_epi8(__m128i src, __mmask16 k, __m128i a, __m128i b) vpaddb ["AVX512BW", "AVX512VL"]
        __m128i _mm_maskz_add_epi8(__mmask16 k, __m128i a, __m128i b) vpaddb ["AVX512BW", "AVX512VL"]
        __m128i _mm_add_epi16(__m128i a, __m128i b) paddw ["SSE2"]
        __m128i _mm_mask_add_epi16(__m128i src, __mmask8 k, __m128i a, __m128i b) vpaddw ["AVX512BW", "AVX512VL"]
        __m128i _mm_maskz_add_epi16(__mmask8 k, __m128i a, __m128i b) vpaddw ["AVX512BW", "AVX512VL"]
        __m512i _mm512_add_epi8(__m512i a, __m512i b) vpaddb ["AVX512BW"]
        __m512i _mm512_mask_add_epi8(__m512i src, __mmask64 k, __m512i a, __m512i b) vpaddb ["AVX512BW"]
        __m512i _mm512_maskz_add_epi8(__mmask64 k, __m512i a, __m512i b) vpaddb ["AVX512BW"]
        __m512i _mm512_add_epi16(__m512i a, __m512i b) vpaddw ["AVX512BW"]
        __m512i _mm512_mask_add_epi16(__m512i src, __mmask32 k, __m512i a, __m512i b) vpaddw ["AVX512BW"]
        __m512i _mm512_maskz_add_epi16(__mmask32 k, __m512i a, __m512i b) vpaddw ["AVX512BW"]
    "#]]
    .assert_eq(&(all.join("\n") + "\n"));
}

#[test]
fn a_loop_over_elements_is_masked_in_place() {
    let loaded = families(ADD, "");
    expect![[r#"
        FOR j := 0 to 31
          i := j*16
          IF k[j]
            dst[i+15:i] := a[i+15:i] + b[i+15:i]
          ELSE
            dst[i+15:i] := src[i+15:i]
          FI
        ENDFOR
    "#]]
    .assert_eq(body(&loaded, "_mm512_mask_add_epi16"));
}

#[test]
fn any_other_text_is_masked_afterwards() {
    let other = ADD
        .replace("FOR j := 0 to {N-1}", "FOR m := 0 to {N-1}")
        .replace("i := j*", "i := m*");
    let loaded = families(&other, "");
    expect![[r#"
        FOR m := 0 to 31
          i := m*16
          tmp_dst[i+15:i] := a[i+15:i] + b[i+15:i]
        ENDFOR
        FOR j := 0 to 31
          i := j*16
          IF k[j]
            dst[i+15:i] := tmp_dst[i+15:i]
          ELSE
            dst[i+15:i] := 0
          FI
        ENDFOR
    "#]]
    .assert_eq(body(&loaded, "_mm512_maskz_add_epi16"));
}

#[test]
fn the_mask_follows_the_operand_that_survives() {
    let update = ADD.replace("mask: E", "mask: {element: E, mask: a, mask2: b}");
    let loaded = families(&update, "");
    expect![[
        r#"__m512i _mm512_mask_add_epi8(__m512i a, __mmask64 k, __m512i b) vpaddb ["AVX512BW"]"#
    ]]
    .assert_eq(&signature(&loaded, "_mm512_mask_add_epi8"));
    expect![[
        r#"__m512i _mm512_mask2_add_epi8(__m512i a, __m512i b, __mmask64 k) vpaddb ["AVX512BW"]"#
    ]]
    .assert_eq(&signature(&loaded, "_mm512_mask2_add_epi8"));
    assert!(body(&loaded, "_mm512_mask2_add_epi8").contains("dst[i+7:i] := b[i+7:i]"));
}

#[test]
fn one_masked_element_keeps_the_rest() {
    let (head, _) = ADD.split_once("  mask: E").expect("the family is masked");
    let scalar = format!(
        "{head}  mask: {{element: E, lanes: 1, mask3: b}}\n  pseudocode: |\n    dst[{{H}}:0] := a[{{H}}:0]\n    dst[{{W-1}}:{{E}}] := a[{{W-1}}:{{E}}]\n"
    );
    let loaded = families(&scalar, "");
    expect![[r#"
        tmp_dst[15:0] := a[15:0]
        tmp_dst[127:16] := a[127:16]
        FOR j := 0 to 0
          i := j*16
          IF k[j]
            dst[i+15:i] := tmp_dst[i+15:i]
          ELSE
            dst[i+15:i] := src[i+15:i]
          FI
        ENDFOR
        dst[127:16] := tmp_dst[127:16]
    "#]]
    .assert_eq(body(&loaded, "_mm_mask_add_epi16"));
    assert!(body(&loaded, "_mm_mask3_add_epi16").ends_with("dst[127:16] := b[127:16]\n"));
}

#[test]
fn expanded_text_is_traced_to_the_file() {
    let loaded = families(ADD, "");
    let member = &loaded.members[1];
    let text = &member.pseudocode.text;
    let at = text.find("b[i").expect("the second operand is read");
    let span = member
        .pseudocode
        .locate(semantics::span::Span::new(at, at + 1));
    let place = member.source.line_column(span.start);
    assert_eq!((place.line, place.column), (13, 36));
    assert_eq!(member.source.slice(span), "b");
}

#[test]
fn an_indentation_slip_costs_one_family() {
    messages(
        &changed("  operands:", "   operands:"),
        expect![[r#"
            error: this is not the YAML that was expected: mapping values are not allowed in this context
             --> one.yaml:8:12
              |
            8 |    operands: a UI{E}, b UI{E}
              |            ^
              = hint: indent this line as the one above, or put quotes around a value that holds `: `

        "#]],
    );
}

#[test]
fn an_unknown_variable() {
    messages(
        &changed("dst[i+{H}:i]", "dst[i+{HH}:i]"),
        expect![[r#"
        error: unknown placeholder variable `HH`
          --> one.yaml:13:13
           |
        13 |       dst[i+{HH}:i] := a[i+{H}:i] + b[i+{H}:i]
           |             ^^^^
          = note: in the family `wrong`
          = hint: did you mean `H`?

    "#]],
    );
}

#[test]
fn an_unknown_axis() {
    messages(
        &changed("[width, bw]", "[widht, bw]"),
        expect![[r#"
        error: unknown axis `widht`
         --> one.yaml:3:10
          |
        3 |   vary: [widht, bw]
          |          ^^^^^
          = note: in the family `wrong`
          = hint: did you mean `width`?

    "#]],
    );
}

#[test]
fn an_unknown_key() {
    messages(
        &changed("  returns:", "  result:"),
        expect![[r#"
            error: unknown key `result`
             --> one.yaml:7:3
              |
            7 |   result: UI{E}
              |   ^
              = hint: the keys here are family, doc, vary, only, intrinsic, instruction, form, features, legacy, plain, returns, undefined, operands, mask, pseudocode

        "#]],
    );
}

#[test]
fn an_unknown_feature() {
    messages(
        &changed("legacy: [SSE2, AVX2]", "legacy: [SSE22, AVX2]"),
        expect![[r#"
            error: the feature `SSE22` is not in targets.yaml
             --> one.yaml:4:11
              |
            4 |   legacy: [SSE22, AVX2]
              |           ^^^^^^^^^^^^^
              = note: in the family `wrong`
              = hint: did you mean `SSE2`?

        "#]],
    );
}

#[test]
fn a_wrong_type() {
    messages(
        &changed("intrinsic: _mm{P}_wrong_epi{E}", "intrinsic: [1, 2]"),
        expect![[r#"
            error: this is not the YAML that was expected: intrinsic: invalid type: sequence, expected a string
             --> one.yaml:5:14
              |
            5 |   intrinsic: [1, 2]
              |              ^
              = hint: write it as one text: `a UI8, b UI8`, without brackets

        "#]],
    );
}

#[test]
fn a_wrong_element_type() {
    messages(
        &changed("a UI{E}", "a U{E}"),
        expect![[r#"
            error: `U8` is no element type such as UI8, SI32, FP64 or MASK
             --> one.yaml:8:13
              |
            8 |   operands: a U{E}, b UI{E}
              |             ^^^^^^
              = note: in the family `wrong`
              = hint: did you mean `UI8`?

        "#]],
    );
}

#[test]
fn an_open_placeholder() {
    messages(
        &changed("i := j*{E}", "i := j*{E"),
        expect![[r#"
        error: the placeholder has no closing `}`
          --> one.yaml:12:14
           |
        12 |       i := j*{E
           |              ^^
          = note: in the family `wrong`

    "#]],
    );
}

#[test]
fn placeholders_without_end() {
    let text = changed("i := j*{E}", &format!("i := j*{}", "{E}".repeat(30_000)));
    let told = families(&text, "").diagnostics[0].to_string();
    assert!(told.contains("more than 1000 placeholders"), "{told}");
}

#[test]
fn a_mask_that_does_not_fit() {
    messages(
        &changed("mask: E", "mask: 2*E"),
        expect![[r#"
        error: 16 masked elements of 16 bits do not fit in a result of 128 bits
         --> one.yaml:9:9
          |
        9 |   mask: 2*E
          |         ^^^
          = note: in the family `wrong`

    "#]],
    );
}

#[test]
fn an_intrinsic_that_is_there_twice() {
    let again = ADD.replace("family: add", "family: again");
    messages(
        &again,
        expect![[r#"
        error: the intrinsic `_mm_add_epi8` is there twice
         --> two.yaml:1:1
          |
        1 | - family: add
          | ^^^^^^^^^^^^^
          = note: the first is in the family `again`
          = note: and 11 more of this family
          = hint: leave these rows out with `only`, or the form with `plain`

    "#]],
    );
}

#[test]
fn a_missing_file() {
    let folder = Folder::new(&[
        ("manifest.yaml", MANIFEST),
        ("targets.yaml", TARGETS),
        ("one.yaml", ADD),
    ]);
    let loaded = folder.load();
    assert_eq!(loaded.members.len(), 12);
    let text = semantics::diagnostic::render(&loaded.diagnostics);
    expect![[r#"
        error: there is no file `two.yaml`
         --> manifest.yaml:5:19
          |
        5 | files: [one.yaml, two.yaml]
          |                   ^^^^^^^^
          = hint: `files` are named by their paths below this folder

    "#]]
    .assert_eq(&text.replace(&format!("{}/", folder.0.display()), ""));
}

/// A store, whose masked form writes only under the mask.
const STORE: &str = "\
- family: store
  doc: Elements to memory.
  vary: [width, bw]
  intrinsic: _mm{P}_storeu_epi{E}
  returns: void
  operands: mem_addr void* MEM, a UI{E}
  mask: E
  pseudocode: |
    FOR j := 0 to {N-1}
      i := j*{E}
      MEM[mem_addr+i+{H}:mem_addr+i] := a[i+{H}:i]
    ENDFOR
";

#[test]
fn a_masked_store_writes_under_the_mask() {
    let loaded = families(STORE, "");
    expect![[r#"void _mm_mask_storeu_epi16(void* mem_addr, __mmask8 k, __m128i a) - ["AVX512BW", "AVX512VL"]"#]].assert_eq(&signature(&loaded, "_mm_mask_storeu_epi16"));
    expect![[r#"
        FOR j := 0 to 31
          i := j*16
          IF k[j]
            MEM[mem_addr+i+15:mem_addr+i] := a[i+15:i]
          FI
        ENDFOR
    "#]]
    .assert_eq(body(&loaded, "_mm512_mask_storeu_epi16"));
    let zeroed = loaded
        .members
        .iter()
        .any(|m| m.signature.name.contains("maskz"));
    assert!(!zeroed, "there is no result to zero");
}

#[test]
fn a_masked_store_that_is_no_loop() {
    let straight = STORE
        .replace(
            "    FOR j := 0 to {N-1}\n      i := j*{E}\n",
            "    i := 0\n",
        )
        .replace("    ENDFOR\n", "");
    messages(
        &straight,
        expect![[r#"
        error: the masked form of a function that returns nothing needs a text that is one loop `FOR j` over the elements
         --> one.yaml:7:9
          |
        7 |   mask: E
          |         ^
          = note: in the family `store`

    "#]],
    );
}

#[test]
fn files_of_a_set_lie_in_its_folder() {
    for name in ["../one.yaml", "/etc/hostname", "sub/../../one.yaml", "''"] {
        let wrong = MANIFEST.replacen("one.yaml", name, 1);
        assert_ne!(wrong, MANIFEST);
        let folder = Folder::new(&[("manifest.yaml", &wrong), ("targets.yaml", TARGETS)]);
        let told = manifest::load(&folder.0.join("manifest.yaml")).expect_err(name);
        let text = semantics::diagnostic::render(&told);
        assert!(text.contains("is not in the folder of its set"), "{text}");
    }
}

#[test]
fn what_has_no_value_where_it_is_derived_says_why() {
    let derived = "derived:\n  Q: \"{E/(E-E)}\"\n  R: \"{Q+1}\"\n";
    let manifest = MANIFEST.replacen("derived:\n", derived, 1);
    assert_ne!(manifest, MANIFEST);
    for (name, why) in [
        (
            "Q",
            "derives `Q`, which has no value here: division by zero",
        ),
        (
            "R",
            "derives `R`, which has no value here: unknown placeholder variable `Q`",
        ),
    ] {
        let family = ADD.replacen("{N-1}", &format!("{{{name}}}"), 1);
        let files = [
            ("manifest.yaml", manifest.as_str()),
            ("targets.yaml", TARGETS),
            ("one.yaml", &family),
            ("two.yaml", ""),
        ];
        let text = semantics::diagnostic::render(&Folder::new(&files).load().diagnostics);
        assert!(text.contains(why), "{text}");
    }
}

/// What is said of a family that is ADD with one text replaced.
fn told(from: &str, to: &str) -> String {
    let wrong = changed(from, to);
    let files = [
        ("manifest.yaml", MANIFEST),
        ("targets.yaml", TARGETS),
        ("one.yaml", &wrong),
        ("two.yaml", ADD),
    ];
    let folder = Folder::new(&files);
    semantics::diagnostic::render(&folder.load().diagnostics)
}

#[test]
fn slips_in_signatures_are_told_where_they_are_with_what_was_meant() {
    for (from, to, wanted) in [
        ("a UI{E}", "a u{E}", "one.yaml:8:13"),
        ("a UI{E}", "a u{E}", "did you mean `UI8`?"),
        ("a UI{E}", "a int16_t", "did you mean `SI16`?"),
        ("a UI{E}", "a f32", "did you mean `FP32`?"),
        ("a UI{E}", "a 0-7", "its range: `0..7`"),
        ("a UI{E}", "a 7..0", "the least comes first"),
        ("a UI{E}", "a", "an operand is a name"),
        ("b UI{E}", "a UI{E}", "the operand `a` is there twice"),
        ("a UI{E}", "a UI17", "which are no elements of 17"),
        ("a UI{E}", "a uint8 UI8", "did you mean `uint8_t`?"),
        (
            "intrinsic: _mm{P}_wrong_epi{E}",
            "intrinsic: fünf",
            "one.yaml:5:14",
        ),
        (
            "intrinsic: _mm{P}_wrong_epi{E}",
            "intrinsic: while",
            "no word of C",
        ),
    ] {
        let said = told(from, to);
        assert!(said.contains(wanted), "{to}: no `{wanted}` in\n{said}");
    }
}
