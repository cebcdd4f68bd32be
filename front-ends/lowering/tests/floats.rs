//! Floats: the oracle, which computes with the arithmetic of this machine, and the lowered
//! terms, which the interpreter of instruction meaning evaluates, agree on every operation.

use kernel::data::{Limits, generate};
use kernel::{eval, read};
use lowering::{lower, replay};
use semantics::diagnostic::render;
use semantics::span::Source;

/// Expressions over `a`, `b`, `c` of type T that give T; `I` is an integer array's element.
const EXPRESSIONS: &[&str] = &[
    "a + b",
    "a - b",
    "a * b",
    "a / b",
    "-a",
    "a + 1",
    "a * 0.1",
    "a - -2.5e-3",
    "min(a, b)",
    "max(a, b)",
    "min(a, b, c)",
    "clamp(a, b, c)",
    "abs(a)",
    "absd(a, b)",
    "fma(a, b, c)",
    "fma(a, b, -c)",
    "sqrt(a)",
    "round_even(a)",
    "floor(a)",
    "ceil(a)",
    "trunc(a)",
    "select(a < b, a, b)",
    "select(a == b || a != c, a, b)",
    "select(a >= b && a <= c, 1, 2)",
    "T(a == b)",
    "T(i8(a))",
    "T(u16(a))",
    "T(i32(a))",
    "T(u32(a))",
    "T(i64(a))",
    "T(u64(a))",
    "T(i8_sat(a))",
    "T(u8_sat(a))",
    "T(i16_sat(a))",
    "T(i32_sat(a))",
    "T(u32_sat(a))",
    "T(i64_sat(a))",
    "T(u64_sat(a))",
    "T(i)",
    "T(u)",
    "T(i16(i))",
    "T(u8(u))",
    "T(f32(a))",
    "T(f64(a))",
    "T(bf16(a))",
    "T(f16(a))",
    "T(x + 3)",
    "reduce_add(T([1, 2.5, 0x10, 1e2]))",
    "a + [1, 2, 3, 4, 5, 6, 7, 8.25]",
    "repeat(reduce_add(a, 4), 4)",
    "repeat(reduce_max(a, 2), 2)",
    "repeat(reduce_min(a), 8)",
];

/// Expressions for formats that have a wider one.
const NARROW: &[&str] = &[
    "T(widen(a) * 3)",
    "T(widening_mul(a, b))",
    "T(widening_add(a, b))",
    "T(widening_sub(a, b))",
];

fn compare(expression: &str, ty: &str) {
    let text = format!(
        "kernel k(n: size, a: in T[n], b: in T[n], c: in T[n], i: in i64[n], u: in u64[n], out: inout T[n]) requires n % 8 == 0 {{\n  \
         for x in 0..n step 8 {{ let a = a[x..+8]; let b = b[x..+8]; let c = c[x..+8]; let i = i[x..+8]; let u = u[x..+8]; out[x..+8] += {expression}; }}\n}}\n"
    )
    .replace('T', ty);
    let (kernels, diagnostics) = read(&Source::new(expression, text));
    assert!(diagnostics.is_empty(), "{}", render(&diagnostics));
    let lowered = schedule::apply(&kernels[0])
        .and_then(|s| lower(&s))
        .unwrap_or_else(|d| panic!("{}", render(&d)));
    let mut compared = 0;
    for seed in 0..40 {
        let limits = Limits {
            size: 200,
            ..Limits::default()
        };
        let data = generate(&kernels[0], seed, &limits).expect("n may be any multiple of 8");
        let oracle = eval::run(&kernels[0], &data).unwrap_or_else(|e| panic!("{expression}: {e}"));
        let replayed = replay::run(&lowered, &data).unwrap_or_else(|e| panic!("{expression}: {e}"));
        let (x, y) = (&oracle.arrays["out"], &replayed.arrays["out"]);
        if let Some(at) = (0..x.len()).find(|&n| x[n] != y[n]) {
            let [a, b, c, old] = ["a", "b", "c", "out"].map(|name| data.arrays[name][at]);
            panic!(
                "{expression} of {ty}: a = {a:#x}, b = {b:#x}, c = {c:#x}, old = {old:#x}: oracle {:#x}, term {:#x}",
                x[at], y[at]
            );
        }
        compared += x.len();
    }
    assert!(compared > 1000, "{expression} of {ty} was hardly compared");
}

#[test]
fn f16() {
    EXPRESSIONS
        .iter()
        .chain(NARROW)
        .for_each(|e| compare(e, "f16"));
}

#[test]
fn bf16() {
    EXPRESSIONS
        .iter()
        .chain(NARROW)
        .for_each(|e| compare(e, "bf16"));
}

#[test]
fn f32() {
    EXPRESSIONS
        .iter()
        .chain(NARROW)
        .for_each(|e| compare(e, "f32"));
}

#[test]
fn f64() {
    EXPRESSIONS.iter().for_each(|e| compare(e, "f64"));
}
