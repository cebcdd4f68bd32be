//! Choices between elements on a target without registers for truth values: none is computed
//! element by element.

use toolchain::c;

const TYPES: [&str; 10] = [
    "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f32", "f64",
];
const COMPARISONS: [&str; 6] = ["==", "!=", "<", "<=", ">", ">="];

/// A kernel with a loop for each comparison of each of these types.
fn kernel(types: &[&str]) -> String {
    let (mut parameters, mut body, mut schedule) = (String::new(), String::new(), String::new());
    for elem in types {
        parameters += &format!(", a_{elem}: in {elem}[n], b_{elem}: in {elem}[n]");
        for (k, comparison) in COMPARISONS.iter().enumerate() {
            let (a, b) = (
                format!("a_{elem}[x_{elem}_{k}]"),
                format!("b_{elem}[x_{elem}_{k}]"),
            );
            parameters += &format!(", o_{elem}_{k}: out {elem}[n]");
            body += &format!(
                "  for x_{elem}_{k} in 0..n {{ o_{elem}_{k}[x_{elem}_{k}] = \
                 select({a} {comparison} {b}, {a} + 3, {b}); }}\n"
            );
            schedule += &format!("  vectorize x_{elem}_{k} by 16;\n");
        }
    }
    format!("kernel choices(n: size{parameters}) {{\n{body}}} schedule {{\n{schedule}}}\n")
}

/// A text compiles for a target, all of it in vectors, and what runs here agrees.
pub(crate) fn compiles(text: &str, target: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("choices.kernel"), text).expect("a kernel");
    let arguments = [
        "compile",
        "choices.kernel",
        "--target",
        target,
        "--deny",
        "scalar",
        "--run",
    ];
    let output = super::isaforge(&arguments, folder.path());
    let shown = super::shown(&output);
    let agrees = shown.contains("run: agrees") || shown.contains("run: not run");
    assert!(output.status.code() == Some(0) && agrees, "{shown}\n{text}");
}

#[test]
fn every_comparison_of_every_type_chooses_in_vectors() {
    compiles(&kernel(&TYPES), "x86-64-v3");
}

#[test]
fn conditions_of_other_widths_and_of_several_parts_choose_in_vectors() {
    let text = "kernel mixed(n: size, a: in u8[n], b: in u8[n], w: in i32[n], c: in u16[n], d: in u16[n],
    o: out u8[n], p: out u8[n], q: out u16[n], r: out u8[n], s: out u8[n]) {
  for x0 in 0..n { o[x0] = select(a[x0] > 9 && b[x0] != 4, b[x0], a[x0]); }
  for x1 in 0..n { p[x1] = select(w[x1] < 900, b[x1], b[x1] + 1); }
  for x2 in 0..n { q[x2] = select(a[x2] == 9 || b[x2] < 3, c[x2], d[x2]); }
  for x3 in 0..n { r[x3] = select(a[x3] == 7, 255, 0); }
  for x4 in 0..n { s[x4] = u8(select(c[x4] > 255, 255, select(c[x4] < 4, 0, c[x4]))); }
} schedule {
  vectorize x0 by 32; vectorize x1 by 16; vectorize x2 by 16; vectorize x3 by 32; vectorize x4 by 16;
}
";
    compiles(text, "x86-64-v3");
}

#[test]
fn what_stays_scalar_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "kernel divided(n: size, a: in u64[n], b: in u64[n], o: out u64[n]) {
  for x in 0..n { o[x] = a[x] / b[x]; }
} schedule { vectorize x by 8; }
";
    std::fs::write(folder.path().join("divided.kernel"), text).expect("a kernel");
    let compile = |more: &[&str]| {
        let arguments = ["compile", "divided.kernel", "--target", "x86-64-v3"];
        let output = super::isaforge(&[&arguments[..], more].concat(), folder.path());
        (super::shown(&output), output.status.code())
    };
    let (log, _) = compile(&[]);
    assert!(
        log.contains("warning: this vector is computed element by element"),
        "{log}"
    );
    assert!(log.contains("divided.kernel:2:"), "{log}");
    let (denied, code) = compile(&["--deny", "scalar"]);
    assert!(
        denied.contains("error: this vector is computed element by element"),
        "{denied}"
    );
    assert_eq!(code, Some(1));
}

/// gcc 12 ends with an error of its own where a masked extension reads a few bytes of memory: what is
/// extended is held in a register.
#[test]
fn what_a_mask_extends_is_no_memory_for_gcc() {
    test_support::need!(toolchain::find::on_path("gcc"));
    let folder = tempfile::tempdir().expect("a folder");
    let text = "kernel k(n: size, a: in u8[n], c: in i64[n], o: out i64[n]) {
  for x in 0..n { o[x] = select(c[x] > 3, i64(a[x]), c[x]); }
} schedule { vectorize x by 8; }
";
    std::fs::write(folder.path().join("k.kernel"), text).expect("a kernel");
    let arguments = ["compile", "k.kernel", "--target", "x86-64-v4", "-o", "k.c"];
    let output = super::isaforge(&arguments, folder.path());
    assert_eq!(output.status.code(), Some(0), "{}", super::shown(&output));
    let code = std::fs::read_to_string(folder.path().join("k.c")).expect("it was written");
    let masked = code
        .find("_mm512_mask_cvtepu8_epi64(")
        .expect("a masked extension");
    let held = code.find("__asm__(\"\" : \"+v\"(").expect("a register");
    assert!(held < masked, "{code}");
    for level in ["-O0", "-O1", "-O2", "-O3"] {
        let built = c::compile(
            "gcc",
            [level, "-march=x86-64-v4", "-c", "k.c", "-o", "k.o"],
            folder.path(),
        );
        built.unwrap_or_else(|messages| panic!("{messages}"));
    }
}

/// gcc makes shifts and sums of a product by a constant that it knows (527: four for one): it is a product
/// in the machine's code.
#[test]
fn a_product_by_a_constant_stays_one() {
    test_support::need!(toolchain::find::on_path("gcc"));
    let folder = tempfile::tempdir().expect("a folder");
    let text = "kernel k(n: size, a: in u16[n], o: out u16[n]) {
  for x in 0..n { o[x] = a[x] * 527; }
} schedule { vectorize x by 16; }
";
    std::fs::write(folder.path().join("k.kernel"), text).expect("a kernel");
    let arguments = ["compile", "k.kernel", "--target", "x86-64-v3", "-o", "k.c"];
    let output = super::isaforge(&arguments, folder.path());
    assert_eq!(output.status.code(), Some(0), "{}", super::shown(&output));
    let built = c::compile(
        "gcc",
        ["-O3", "-march=x86-64-v3", "-S", "k.c", "-o", "k.s"],
        folder.path(),
    );
    built.unwrap_or_else(|messages| panic!("{messages}"));
    let code = std::fs::read_to_string(folder.path().join("k.s")).expect("it was written");
    assert!(code.contains("vpmullw"), "{code}");
}

#[test]
fn decided_conditions_beside_others_choose_in_vectors() {
    let conditions = [
        "a[x] != 9 || i8(-128) >= i8(31)",
        "i8(-128) < i8(31) || a[x] > 9",
        "i16(3) > 4 && a[x] > 9",
        "a[x] > 9 && !(u8(3) > 4)",
        "!(i32(3) > 4)",
        "(a[x] > 9 || u8(2) > 3) && (u8(1) < 2 && b[x] < 100)",
        "(a[x] > 9) == (b[x] > 9)",
        "(a[x] > 9) != (b[x] > 9 && true)",
        "select(b[x] > 100, a[x] > 9, a[x] > -9 || false)",
        "select(b[x] > 100, true, a[x] > 9) == true",
    ];
    let mut text = String::new();
    for (k, condition) in conditions.iter().enumerate() {
        text += &format!(
            "kernel decided{k}(n: size, a: in i32[n], b: in u8[n], o: out u8[n]) {{
  for x in 0..n {{ o[x] = select({condition}, b[x], u8(3)); }}
}} schedule {{ vectorize x by 16; }}
"
        );
    }
    compiles(&text, "x86-64-v3");
}

#[test]
fn parts_of_wider_lanes_beside_lanes_that_do_not_matter_are_computed() {
    let mut text = String::new();
    for lanes in [3, 7, 9, 17, 19, 33] {
        text += &format!(
            "kernel odd{lanes}(n: size, a: in u8[n], b: in u8[n], c: in u64[n], o: out u8[n], p: out u8[n]) {{
  for x in 0..n {{ o[x] = select(c[x] == 0, a[x], b[x] >> 3); }}
  for y in 0..n {{ p[y] = (a[y] * 37 >> 2) + (b[y] << 3); }}
}} schedule {{ vectorize x by {lanes}; vectorize y by {lanes}; }}
"
        );
    }
    compiles(&text, "x86-64-v3");
}

/// The second register is the first one further on, and so are the steps that prove it.
#[test]
fn halves_that_are_alike_are_proved_by_the_same_steps() {
    let text = "kernel strided(n: size, a: in u64[5*n], o: out u64[n], p: out i64[n]) {
  for x in 0..n { o[x] = a[3*x] % 7; }
  for y in 0..n { p[y] = i64(a[5*y]) / 13; }
} schedule { vectorize x by 8; vectorize y by 8; }
";
    compiles(text, "x86-64-v3");
}

#[test]
fn wide_elements_that_saturate_are_narrowed() {
    let text =
        "kernel sums(n: size, a: in i64[n], b: in u64[n], o: inout u32[1], p: inout u16[1]) {
  for x in 0..n { o[0] = max(o[0], u32(sat_sub(a[x], i64(2915297363784540866)))); }
  for y in 0..n { p[0] = max(p[0], u16(sat_add(b[y], u64(77)))); }
} schedule { vectorize x by 4; vectorize y by 8; }
";
    compiles(text, "x86-64-v3");
    // A choice that is decided within what is converted.
    let text = "kernel converted(n: size, a: in f32[n + 3], b: in u64[n], o: out u64[n]) {
  for x in 0..n { o[x] = u64_sat(select(b[x] > u64(18446744073709551615), a[x], a[x + 3])); }
} schedule { vectorize x by 4; }
";
    compiles(text, "znver4");
}
