//! Lowering: windows of small kernels, and what cannot be lowered.

use crate::check_source;
use crate::lower::lower;
use expect_test::{Expect, expect};
use std::fmt::Write;

/// The windows of a kernel body over arrays `a`, `b` (u8), `s` (i16) and outputs.
fn windows(body: &str, expected: Expect) {
    let text = format!(
        "kernel k(n: size, a: in u8[n], b: in u8[n], s: in i16[2*n], o: out u8[n], w: inout i32[n]) requires n % 64 == 0, n >= 64 {{ {body} }}"
    );
    let (kernels, diagnostics) = check_source("k", &text);
    assert!(
        diagnostics.is_empty(),
        "{}",
        semantics::diagnostic::render(&diagnostics)
    );
    let lowered = lower(&kernels[0]).expect("the body lowers");
    let mut out = String::new();
    for window in &lowered.windows {
        let inputs: Vec<String> = window
            .inputs
            .iter()
            .map(|i| format!("{}: {}", i.name, i.ty))
            .collect();
        writeln!(
            out,
            "{} ({}) -> {}\n  {}",
            window.name,
            inputs.join(", "),
            window.output,
            window.term
        )
        .expect("strings can be written to");
    }
    expected.assert_eq(&out);
}

#[test]
fn a_pairwise_product_sum() {
    windows(
        "for x in 0..n step 16 { w[x..+16] += reduce_add(i32(s[2*x..+32]) * i32(s[2*x..+32]), 2); }",
        expect![[r#"
            k.0 (w: i32x16, s: i16x32) -> i32x16
              (map 16 (i1) (let ((t0 (sext[32] (extract[16] s (iadd (imul i1 32) 16)))) (t1 (sext[32] (extract[16] s (imul i1 32))))) (bvadd (bvadd (bvmul t0 t0) (bvmul t1 t1)) (extract[32] w (imul i1 32)))))
        "#]],
    );
}

#[test]
fn averages_and_saturation() {
    windows(
        "for x in 0..n step 64 { o[x..+64] = avg(a[x..+64], sat_sub(b[x..+64], 3)); }",
        expect![[r#"
            k.0 (a: u8x64, b: u8x64) -> u8x64
              (map 64 (i1) (extract[8] (bvadd (bvadd (zext[9] (extract[8] a (imul i1 8))) (zext[9] (sat_su[8] (bvadd (zext[9] (extract[8] b (imul i1 8))) 0x1fd:9)))) 0x001:9) 1))
        "#]],
    );
    windows(
        "for x in 0..n step 32 { o[x..+32] = u8_sat(rounding_mul_shr(s[x..+32], s[n + x..+32], 15)); }",
        expect![[r#"
            k.0 (s: i16x32, s_1: i16x32) -> u8x32
              (map 32 (i1) (sat_su[8] (sat_ss[16] (sext[32] (extract[17] (bvadd (bvmul (sext[32] (extract[16] s (imul i1 16))) (sext[32] (extract[16] s_1 (imul i1 16)))) 0x00004000:32) 15)))))
        "#]],
    );
}

#[test]
fn strided_loads_come_from_dense_registers() {
    windows(
        "for x in 0..n step 16 { w[x..+16] = i32(s[2*x..+16 by 2]) - i32(s[2*x + 1..+16 by 2]); }",
        expect![[r#"
            k.0 (s: i16x16, s_1: i16x16) -> i32x16
              (map 16 (i1) (bvsub (sext[32] (extract[16] (concat s_1 s) (imul i1 32))) (sext[32] (extract[16] (concat s_1 s) (iadd (imul i1 32) 16)))))
        "#]],
    );
}

#[test]
fn values_for_several_statements_are_kept_and_others_merged() {
    windows(
        "let t = i32(s.clamped[0]); for x in 0..n step 64 { let u = avg(a[x..+64], b[x..+64]); o[x..+64] = u; w[x..+64] += t; }",
        expect![[r#"
            k.0 (s: i16) -> i32
              (sext[32] s)
            k.1 (a: u8x64, b: u8x64) -> u8x64
              (map 64 (i1) (extract[8] (bvadd (bvadd (zext[9] (extract[8] a (imul i1 8))) (zext[9] (extract[8] b (imul i1 8)))) 0x001:9) 1))
            k.2 (w: i32x64, t: i32x64) -> i32x64
              (map 64 (i1) (bvadd (extract[32] t (imul i1 32)) (extract[32] w (imul i1 32))))
        "#]],
    );
}
