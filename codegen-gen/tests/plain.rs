//! Compiled plain code computes what the kernel's evaluator computes.
//!
//! Every operation on every element type, and the shapes that are not lane by lane, are
//! compiled with warnings as errors and run on random and edge values.

mod built;

use codegen_gen::c::{Unit, emit};
use kernel::data::{Limits, generate};
use kernel::tree::Kernel;
use semantics::diagnostic::render;
use semantics::span::Source;
use std::fmt::Write as _;
use std::path::Path;

/// How many seeds each kernel is run with.
const SEEDS: u64 = 6;

/// The kernels of a text that must be right.
fn kernels(text: &str) -> Vec<Kernel> {
    let (kernels, diagnostics) = kernel::read(&Source::new("test.kernel", text));
    assert!(diagnostics.is_empty(), "{}", render(&diagnostics));
    kernels
}

/// Compiles a kernel and its harness; warnings are errors.
fn compile(kernel: &Kernel, folder: &Path) {
    let lowered = schedule::apply(kernel)
        .and_then(|s| lowering::lower(&s))
        .expect("it can be lowered");
    let code = emit(&Unit::plain(&lowered), &[], None).to_string();
    let checked = ["-fsanitize=undefined", "-fno-sanitize-recover"];
    let flags = [&["-O1", "-Wall", "-Wextra", "-Werror"][..], &checked].concat();
    built::build(kernel, &code, &flags, folder);
}

/// Runs it on the data of a seed and compares.
fn agree(kernel: &Kernel, folder: &Path, seed: u64) {
    let data = generate(kernel, seed, &Limits::default()).expect("sizes are found");
    built::run(kernel, &data, folder).unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
}

/// Compiles and runs every kernel of a text.
fn check(text: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for kernel in &kernels(text) {
        compile(kernel, folder.path());
        (1..=SEEDS).for_each(|seed| agree(kernel, folder.path(), seed));
    }
}

/// A kernel with each operation on one element type.
fn every_operation(elem: &str) -> String {
    let unsigned = elem.replace('i', "u");
    let (bits, small) = (&elem[1..], &elem[1..] != "64");
    let mut rows: Vec<(&str, String)> = [
        "a[i] + b[i]",
        "a[i] - b[i]",
        "a[i] * b[i]",
        "a[i] / b[i]",
        "a[i] % b[i]",
        "-a[i]",
        "~a[i]",
        "a[i] & b[i]",
        "a[i] | b[i]",
        "a[i] ^ b[i]",
        "a[i] << b[i]",
        "a[i] >> b[i]",
        "a[i] << 3",
        "min(a[i], b[i])",
        "max(a[i], b[i], 5)",
        "sat_add(a[i], b[i])",
        "sat_sub(a[i], b[i])",
        "avg(a[i], b[i])",
        "avg_floor(a[i], b[i])",
        "rounding_shr(a[i], b[i])",
        "rounding_shr(a[i], 2)",
        "clz(a[i])",
        "popcount(a[i])",
        "clamp(a[i], 3, 100)",
        "select(a[i] < b[i] || a[i] == 7, a[i], b[i])",
        "select(!(a[i] >= b[i]) && b[i] != 0, a[i], b[i])",
    ]
    .into_iter()
    .map(|text| (elem, text.to_owned()))
    .collect();
    rows.push((&unsigned, "abs(a[i])".to_owned()));
    rows.push((&unsigned, "absd(a[i], b[i])".to_owned()));
    if small {
        rows.push((elem, "mul_shr(a[i], b[i], 7)".to_owned()));
        rows.push((elem, "rounding_mul_shr(a[i], b[i], 7)".to_owned()));
        rows.push((elem, "rounding_mul_shr(a[i], b[i], b[i])".to_owned()));
    }
    for to in ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"] {
        rows.push((to, format!("{to}(a[i])")));
        rows.push((to, format!("{to}_sat(a[i])")));
    }
    let mut text = format!("kernel all_{bits}(n: size, a: in {elem}[n], b: in {elem}[n]");
    for (n, (ty, _)) in rows.iter().enumerate() {
        write!(text, ", r{n}: out {ty}[n]").expect("a string grows");
    }
    text.push_str(") {\n for i in 0..n {\n");
    for (n, (_, value)) in rows.iter().enumerate() {
        writeln!(text, "  r{n}[i] = {value};").expect("a string grows");
    }
    text.push_str(" }\n}\n");
    text
}

#[test]
fn every_operation_on_every_type() {
    for elem in ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"] {
        check(&every_operation(elem));
    }
}

/// A kernel with each operation on one float type.
fn every_float_operation(elem: &str) -> String {
    let mut rows: Vec<(&str, String)> = [
        "a + b",
        "a - b",
        "a * b",
        "a / b",
        "-a",
        "a * 0.1 - -2.5e-3",
        "min(a, b)",
        "max(a, b, 5)",
        "abs(a)",
        "absd(a, b)",
        "fma(a, b, c)",
        "sqrt(a)",
        "round_even(a)",
        "floor(a)",
        "ceil(a)",
        "trunc(a)",
        "clamp(a, b, c)",
        "select(a < b || a == 7, a, b)",
        "select(a >= b && a != c, a, b)",
        "(a * b + c)",
        "E(a <= b)",
        "E(w)",
        "E(v)",
        "E(i8(w))",
        "E(u16(v))",
        "E(x - 3)",
    ]
    .into_iter()
    .map(|text| (elem, text.replace('E', elem)))
    .collect();
    for to in ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"] {
        rows.push((to, format!("{to}(a)")));
        rows.push((to, format!("{to}_sat(a)")));
    }
    for to in ["f16", "bf16", "f32", "f64"] {
        rows.push((to, format!("{to}(a)")));
    }
    let params: String = (0..)
        .zip(&rows)
        .map(|(n, (ty, _))| format!(", r{n}: out {ty}[n]"))
        .collect();
    let body: String = (0..)
        .zip(&rows)
        .map(|(n, (_, value))| format!("  r{n}[x] = {value};\n"))
        .collect();
    format!(
        "kernel all_{elem}(n: size, a: in {elem}[n], b: in {elem}[n], c: in {elem}[n], v: in u64[n], w: in i64[n]{params}) {{\n \
         for x in 0..n {{\n  let a = a[x]; let b = b[x]; let c = c[x]; let v = v[x]; let w = w[x];\n{body} }}\n}}\n"
    )
}

#[test]
fn every_operation_on_every_float() {
    for elem in ["f16", "bf16", "f32", "f64"] {
        check(&every_float_operation(elem));
    }
}

#[test]
fn sums_of_floats() {
    check(
        "kernel sums(n: size, a: in f32[n], b: in bf16[n], o: inout f32[2], p: inout f64[1])
           requires n >= 1 {
           var least: f32 = 1e38;
           for i in 0..n {
             reassociate o[0] += a[i] * f32(b[i]);
             reassociate least = min(least, a[i]);
             reassociate p[0] = fma(f64(a[i]), 3, p[0]);
           }
           o[1] = least + -0.0;
         } schedule { vectorize i by 16 tail mask; }",
    );
}

#[test]
fn vectors_reductions_shuffles_and_accumulators() {
    check(
        "kernel shapes(n: size, double: in i16[n, 32], b: in i16[32], s: i16, c: inout i32[n, 16], d: out i16[n, 32])
           requires n >= 1 {
           var acc: i32x16 = i32x16(0);
           for i in 0..n {
             let t = s + i16(i);
             let x = double[i, 0..+32];
             acc += reduce_add(widening_mul(x, b[0..+32]), 2);
             c[i, 0..+16] += acc;
             let even = shuffle(x, [0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30]);
             d[i, 0..+16] = even + t;
             d[i, 16..+16] = interleave(double[i, 0..+8 by 4], b.clamped[28..+8]);
             let total = reduce_max(x);
             c[i, 3] = i32(total) + i32(t);
           }
         }",
    );
}

#[test]
fn local_arrays_of_any_size() {
    check(
        "kernel locals(n: size, a: in u8[n], b: out u8[n]) {
           var fixed: u8[2, 4];
           var tmp: u8[n];
           for i in 0..n { tmp[i] = a[i] + 1; }
           for i in 0..n { fixed[1, 2] = tmp[n - 1 - i]; b[i] = fixed[1, 2]; }
         }",
    );
}

/// Sizes say how long arrays are, wherever they stand among the parameters.
#[test]
fn sizes_stand_behind_the_arrays_that_they_size() {
    check(
        "kernel last(a: in u8[n, m], o: out u16[m, n], n: size, s: u16, m: size) {\n\
         for i in 0..n { for j in 0..m { o[j, i] = u16(a[i, j]) + s; } }\n}\n\
         kernel between(o: out i32[2 * n + 1], n: size, a: in i32[n]) {\n\
         for i in 0..2 * n + 1 { o[i] = -1; }\n\
         for i in 0..n { o[2 * i] = a[i]; }\n}\n",
    );
}
