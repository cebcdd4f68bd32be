//! Every operation of the language: the oracle and the lowered term agree, on all pairs of
//! bytes and on edge values of the wider types.

use kernel::data::{Limits, generate};
use kernel::eval::{self, Data};
use kernel::read;
use lowering::{lower, replay};
use semantics::diagnostic::render;
use semantics::span::Source;

/// Expressions over `a` and `b` of type T, each cast to T; `T` and `W` (twice as wide) are
/// replaced by types.
const EXPRESSIONS: &[&str] = &[
    "a + b",
    "a - b",
    "a * b",
    "a / b",
    "a % b",
    "a / 7",
    "a % 7",
    "-a",
    "~a",
    "a & b",
    "a | b",
    "a ^ b",
    "a << b",
    "a >> b",
    "a << 3",
    "a >> 3",
    "min(a, b)",
    "max(a, b, 5)",
    "clamp(a, 1, b)",
    "select(a < b, a, b)",
    "select(a <= b && !(a == 3) || a != b, a, 7)",
    "select(a > b, 1, a)",
    "select(a >= b, a, b)",
    "T(abs(a))",
    "T(absd(a, b))",
    "avg(a, b)",
    "avg_floor(a, b)",
    "sat_add(a, b)",
    "sat_sub(a, b)",
    "rounding_shr(a, b)",
    "rounding_shr(a, 0)",
    "rounding_shr(a, 4)",
    "rounding_shr(a, 7)",
    "clz(a)",
    "popcount(a)",
    "T(a == b)",
    "i8(a)",
    "u8(a)",
    "i8_sat(a)",
    "u8_sat(a)",
];

/// Expressions for types of at most 32 bits.
const NARROW: &[&str] = &[
    "mul_shr(a, b, 4)",
    "mul_shr(a, b, b)",
    "rounding_mul_shr(a, b, 0)",
    "rounding_mul_shr(a, b, 7)",
    "rounding_mul_shr(a, b, 100)",
    "rounding_mul_shr(a, b, a)",
    "T_sat(widening_add(a, b))",
    "T_sat(widening_sub(a, b))",
    "T_sat(widening_mul(a, b) >> 3)",
    "T_sat(widening_shl(a, 2))",
    "T(W(a) * W(b) >> 5)",
    "T(widen(a) >> 2)",
    "T(W(a) / 7 + W(a) % 10)",
    "T(i64(a) / -6 ^ i64(a) % -100)",
    "T(i64(a) / -1 ^ i64(a) % 1)",
    "T(i64(a) / -128 ^ i64(a) % 127)",
    "T(i64(a) / 255 ^ i64(a) % 256)",
    "T(i64(a) / 32768 ^ i64(a) % 65535)",
];

fn kernel_of(expression: &str, ty: &str, wide: &str) -> kernel::tree::Kernel {
    let expression = format!("T({expression})")
        .replace('T', ty)
        .replace('W', wide);
    let text = format!(
        "kernel k(n: size, a: in {ty}[n], b: in {ty}[n], out: out {ty}[n]) requires n % 16 == 0 {{\n  \
         for x in 0..n step 16 {{ let a = a[x..+16]; let b = b[x..+16]; out[x..+16] = {expression}; }}\n}}\n"
    );
    let (mut kernels, diagnostics) = read(&Source::new(expression, text));
    assert!(diagnostics.is_empty(), "{}", render(&diagnostics));
    kernels.pop().expect("the text holds one kernel")
}

fn compare(kernel: &kernel::tree::Kernel, data: &Data, what: &str) {
    let lowered = schedule::apply(kernel)
        .and_then(|s| lower(&s))
        .unwrap_or_else(|d| panic!("{}", render(&d)));
    let oracle = eval::run(kernel, data).unwrap_or_else(|e| panic!("{what}: {e}"));
    let replayed = replay::run(&lowered, data).unwrap_or_else(|e| panic!("{what}: {e}"));
    let (x, y) = (&oracle.arrays["out"], &replayed.arrays["out"]);
    if let Some(at) = (0..x.len()).find(|&n| x[n] != y[n]) {
        let (a, b) = (data.arrays["a"][at], data.arrays["b"][at]);
        panic!("{what}: a = {a}, b = {b}: oracle {}, term {}", x[at], y[at]);
    }
}

#[test]
fn all_pairs_of_bytes() {
    for (ty, wide) in [("i8", "i16"), ("u8", "u16")] {
        let first = if ty == "i8" { -128 } else { 0 };
        let mut data = Data::default();
        data.sizes.insert("n".into(), 1 << 16);
        data.arrays
            .insert("a".into(), (0..1 << 16).map(|n| first + n % 256).collect());
        data.arrays
            .insert("b".into(), (0..1 << 16).map(|n| first + n / 256).collect());
        data.arrays.insert("out".into(), vec![0; 1 << 16]);
        for expression in EXPRESSIONS.iter().chain(NARROW) {
            compare(
                &kernel_of(expression, ty, wide),
                &data,
                &format!("{expression} of {ty}"),
            );
        }
    }
}

#[test]
fn edges_of_wider_types() {
    for (ty, wide) in [
        ("i16", "i32"),
        ("u16", "u32"),
        ("i32", "i64"),
        ("u32", "u64"),
        ("i64", ""),
        ("u64", ""),
    ] {
        let narrow = if wide.is_empty() { &[] } else { NARROW };
        for expression in EXPRESSIONS.iter().chain(narrow) {
            let kernel = kernel_of(expression, ty, wide);
            for seed in 0..8 {
                let limits = Limits {
                    size: 400,
                    ..Limits::default()
                };
                let data = generate(&kernel, seed, &limits).expect("n may be any multiple of 16");
                compare(&kernel, &data, &format!("{expression} of {ty}"));
            }
        }
    }
}
