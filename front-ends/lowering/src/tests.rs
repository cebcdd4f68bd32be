//! Lowering: windows of small kernels, and what cannot be lowered.

use crate::lower;
use expect_test::{Expect, expect};
use kernel::read;
use semantics::eval::{CompiledTerms, Input};
use semantics::random::Random;
use semantics::sort::Sort;
use semantics::span::Source;
use semantics::value::Value;
use std::fmt::Write;

/// The windows of a kernel body over arrays `a`, `b` (u8), `s` (i16) and outputs.
fn windows(body: &str, expected: Expect) {
    let text = format!(
        "kernel k(n: size, a: in u8[n], b: in u8[n], s: in i16[2*n], o: out u8[n], w: inout i32[n]) requires n % 64 == 0, n >= 64 {{ {body} }}"
    );
    let (kernels, diagnostics) = read(&Source::new("k", &text));
    assert!(
        diagnostics.is_empty(),
        "{}",
        semantics::diagnostic::render(&diagnostics)
    );
    let lowered = schedule::apply(&kernels[0])
        .and_then(|s| lower(&s))
        .expect("the body lowers");
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
fn stores_by_turns_become_one() {
    windows(
        "for x in 0..n step 64 { w[x + 1..+16 by 2] = i32(a[x..+16]); w[x..+16 by 2] = i32(b[x..+16]); }",
        expect![[r#"
            k.0 (a: u8x16) -> i32x16
              (map 16 (i1) (zext[32] (extract[8] a (imul i1 8))))
            k.1 (b: u8x16) -> i32x16
              (map 16 (i1) (zext[32] (extract[8] b (imul i1 8))))
            k.2 (turn0: i32x16, turn1: i32x16) -> i32x32
              (concat (extract[32] turn0 480) (extract[32] turn1 480) (extract[32] turn0 448) (extract[32] turn1 448) (extract[32] turn0 416) (extract[32] turn1 416) (extract[32] turn0 384) (extract[32] turn1 384) (extract[32] turn0 352) (extract[32] turn1 352) (extract[32] turn0 320) (extract[32] turn1 320) (extract[32] turn0 288) (extract[32] turn1 288) (extract[32] turn0 256) (extract[32] turn1 256) (extract[32] turn0 224) (extract[32] turn1 224) (extract[32] turn0 192) (extract[32] turn1 192) (extract[32] turn0 160) (extract[32] turn1 160) (extract[32] turn0 128) (extract[32] turn1 128) (extract[32] turn0 96) (extract[32] turn1 96) (extract[32] turn0 64) (extract[32] turn1 64) (extract[32] turn0 32) (extract[32] turn1 32) (extract[32] turn0 0) (extract[32] turn1 0))
        "#]],
    );
    // The second reads what the first wrote.
    windows(
        "for x in 0..n step 64 { w[x + 1..+16 by 2] = i32(a[x..+16]); w[x..+16 by 2] = w[x + 1..+16]; }",
        expect![[r#"
            k.0 (a: u8x16) -> i32x16
              (map 16 (i1) (zext[32] (extract[8] a (imul i1 8))))
            k.1 (w: i32x16) -> i32x16
              w
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

#[test]
fn a_value_in_wider_elements_than_the_rest_is_a_window_of_its_own() {
    // In 16 bits inside: merged into what has 8 bits, that would be in two registers; what
    // has 32 bits is in more anyway.
    let value = "let t = u8_sat(i16(a[x..+64]) << 3);";
    windows(
        &format!(
            "for x in 0..n step 64 {{ {value} o[x..+64] = max(t, 3); }}
             for x in 0..n step 64 {{ {value} w[x..+64] = i32(t); }}"
        ),
        expect![[r#"
            k.0 (a: u8x64) -> u8x64
              (map 64 (i1) (sat_su[8] (bvshl (zext[16] (extract[8] a (imul i1 8))) 0x0003:16)))
            k.1 (t: u8x64) -> u8x64
              (map 64 (i1) (umax (extract[8] t (imul i1 8)) 0x03:8))
            k.2 (a: u8x64) -> i32x64
              (map 64 (i1) (zext[32] (sat_su[8] (bvshl (zext[16] (extract[8] a (imul i1 8))) 0x0003:16))))
        "#]],
    );
}

#[test]
fn subnormal_numbers_and_shifts_by_variables() {
    let text = "kernel k(n: size, s: i16, a: in f32[n], b: in bf16[n], c: in i16[n], d: in u8[n], t: in u8[n],\n  o: out f32[n], p: out bf16[n], q: out i16[n], r: out u8[n]) {\n  for x in 0..n { o[x] = flush(a[x]); p[x] = flush(b[x]); q[x] = rounding_shr(c[x], s); r[x] = rounding_shr(d[x], t[x]); }\n} schedule { vectorize x by 8; }\n";
    let (kernels, diagnostics) = read(&Source::new("k", text));
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let lowered = schedule::apply(&kernels[0])
        .and_then(|s| lower(&s))
        .expect("it lowers");
    let sizes = std::collections::BTreeMap::from([(kernel::index::Symbol(0), 16)]);
    let mut data = kernel::data::fill(&kernels[0], &sizes, &mut semantics::random::Random::new(1));
    let singles = [
        0,
        1,
        0x7f_ffff,
        0x80_0000,
        0x8000_0001,
        0x807f_ffff,
        0x7fc0_0000,
        0xff80_0000,
    ];
    let halves = [0, 1, 0x7f, 0x80, 0x8001, 0x807f, 0x7fc0, 0xff80];
    let words = [0, 1, -1, 2, -2, 32767, -32768, -3];
    for k in 0..8 {
        data.arrays.get_mut("a").expect("an array")[k] = singles[k];
        data.arrays.get_mut("b").expect("an array")[k] = halves[k];
        data.arrays.get_mut("c").expect("an array")[k] = words[k];
        data.arrays.get_mut("t").expect("an array")[k] = [0, 1, 2, 7, 8, 9, 200, 255][k];
    }
    for s in [0, 1, 2, 14, 15, 16, 17, -1] {
        data.scalars.insert("s".to_owned(), s);
        let oracle = kernel::eval::run(&kernels[0], &data).expect("it runs");
        assert_eq!(
            oracle.arrays["o"][..8],
            [
                0,
                0,
                0,
                0x80_0000,
                0x8000_0000,
                0x8000_0000,
                0x7fc0_0000,
                0xff80_0000
            ]
        );
        assert_eq!(crate::replay::run(&lowered, &data), Ok(oracle), "s = {s}");
    }
}

#[test]
fn sums_are_dealt_to_lanes_in_several_ways() {
    let text = "kernel k(n: size, a: in u8[n], o: out u32[1]) {
  var t: u32 = 0;
  for x in 0..n { t += u32(a[x]); }
  o[0] = t;
} schedule { vectorize x by 64; }
";
    let (kernels, _) = read(&Source::new("k", text));
    let lowered = schedule::apply(&kernels[0]).and_then(|s| lower(&s));
    let lowered = lowered.expect("the kernel lowers");
    let window = lowered.windows.iter().find(|w| !w.dealt.is_empty());
    let window = window.expect("a sum may be dealt");
    // One and two neighbours at a time, and all that two lanes would get to the first of them.
    assert_eq!(window.dealt.len(), 3);
    let mut random = Random::new(3);
    let widths = window.inputs.iter().map(|i| i.ty.width());
    let given: Vec<Value> = widths.map(|w| Value::Bv(random.bits(w))).collect();
    let inputs = window.inputs.iter().map(|i| Input {
        name: i.name.clone(),
        sort: Sort::Bv(i.ty.width()),
    });
    let inputs: Vec<Input> = inputs.collect();
    let total = |term| {
        let program = CompiledTerms::compile(&[term], &inputs).expect("it is over the inputs");
        let result = program.run(&given).swap_remove(0);
        let lanes = (0..window.output.lanes).map(|k| result.bits().extract(k * 32, 32));
        lanes.reduce(|x, y| x.add(&y)).expect("there are lanes")
    };
    for other in &window.dealt {
        assert_eq!(total(window.term), total(other.term), "{}", other.term);
    }
}
