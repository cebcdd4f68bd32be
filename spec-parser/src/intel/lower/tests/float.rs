//! Floats: arithmetic, fusing, rounding, comparisons, functions by name.

use super::lowered_all;
use expect_test::{Expect, expect};

/// A body over three singles and a rounding direction that it may not have.
fn check(body: &str, expected: &Expect) {
    let operands = [("a", "FP32", 32), ("b", "FP32", 32), ("c", "FP32", 32)];
    let body = format!("dst[31:0] := {body}");
    expected.assert_eq(&lowered_all((32, "FP32"), &operands, &body));
}

fn rounded(body: &str, expected: &Expect) {
    let operands = [("a", "FP32", 32), ("b", "FP32", 32), ("r", "ROUND", 8)];
    expected.assert_eq(&lowered_all((32, "FP32"), &operands, body));
}

#[test]
fn products_in_sums_are_fused() {
    check(
        "a[31:0] * b[31:0] + c[31:0]",
        &expect!["dst = (fmadd[f32,rne] a b c)"],
    );
    check(
        "c[31:0] - a[31:0] * b[31:0]",
        &expect!["dst = (fnmadd[f32,rne] a b c)"],
    );
    check(
        "-(a[31:0] * b[31:0]) - c[31:0]",
        &expect!["dst = (fnmsub[f32,rne] a b c)"],
    );
    check(
        "(a[31:0] * b[31:0]) - (b[31:0] * c[31:0])",
        &expect!["dst = (fnmadd[f32,rne] b c (fmul[f32,rne] a b))"],
    );
    check(
        "(a[31:0] * b[31:0]) - (b[31:0] * c[31:0]) + c[31:0]",
        &expect!["dst = (fnmadd[f32,rne] b c (fmadd[f32,rne] a b c))"],
    );
}

#[test]
fn a_product_that_is_assigned_is_rounded() {
    rounded(
        "t[31:0] := a[31:0] * b[31:0]\ndst[31:0] := t[31:0] + a[31:0]",
        &expect![
            "dst = (let ((t0 (ite (= r 0x09:8) (fmul[f32,rd] a b) (ite (= r 0x0a:8) (fmul[f32,ru] a b) (ite (= r 0x0b:8) (fmul[f32,rz] a b) (fmul[f32,rne] a b)))))) (ite (= r 0x09:8) (fadd[f32,rd] t0 a) (ite (= r 0x0a:8) (fadd[f32,ru] t0 a) (ite (= r 0x0b:8) (fadd[f32,rz] t0 a) (fadd[f32,rne] t0 a)))))"
        ],
    );
}

#[test]
fn the_rounding_operand_chooses() {
    rounded(
        "dst[31:0] := SQRT(a[31:0])",
        &expect![
            "dst = (ite (= r 0x09:8) (fsqrt[f32,rd] a) (ite (= r 0x0a:8) (fsqrt[f32,ru] a) (ite (= r 0x0b:8) (fsqrt[f32,rz] a) (fsqrt[f32,rne] a))))"
        ],
    );
    rounded(
        "dst[31:0] := Convert_FP32_To_Int32_Truncate(a[31:0])",
        &expect!["dst = (f_to_sint[f32,32,rz] a)"],
    );
}

#[test]
fn literals_take_the_format_of_the_other_side() {
    check(
        "a[31:0] * 0.5 + 1.0",
        &expect!["dst = (fmadd[f32,rne] a 0x3f000000:32 0x3f800000:32)"],
    );
    check(
        "1.0 / a[31:0]",
        &expect!["dst = (fdiv[f32,rne] 0x3f800000:32 a)"],
    );
    check("2", &expect!["dst = 0x00000002:32"]);
}

#[test]
fn comparisons_know_nans() {
    check(
        "a[31:0] < b[31:0] ? a[31:0] : b[31:0]",
        &expect!["dst = (fmin[f32] a b)"],
    );
    check(
        "(a[31:0] != NaN AND a[31:0] >= b[31:0]) ? 1 : 0",
        &expect!["dst = (zext[32] (ite (and (not (funord[f32] a a)) (fle[f32] b a)) 0x1:1 0x0:1))"],
    );
    rounded(
        "OP := _CMP_NLE_UQ\ndst[31:0] := (a[31:0] OP b[31:0]) ? 1 : 0",
        &expect!["dst = (zext[32] (bvnot (ite (fle[f32] a b) 0x1:1 0x0:1)))"],
    );
}

#[test]
fn functions_by_name() {
    check(
        "GETMANT(a[31:0], 2)",
        &expect!["dst = (f_getmant[f32] a 0x02:8)"],
    );
    check(
        "RANGE(a[31:0], b[31:0], 5)",
        &expect!["dst = (f_range[f32] a b 0x05:8)"],
    );
    check(
        "FLUSH(FLUSH(a[31:0]))",
        &expect!["dst = (ite (= (bvand a 0x7f800000:32) 0x00000000:32) (bvand a 0x80000000:32) a)"],
    );
    check("ROUND(a[31:0], 3)", &expect!["dst = (fround[f32,rz] a)"]);
    check(
        "ZeroExtend32(Convert_FP32_To_BF16(a[31:0]))",
        &expect![
            "dst = (zext[32] (fconvert[f32,bf16,rne] (ite (= (bvand a 0x7f800000:32) 0x00000000:32) (bvand a 0x80000000:32) a)))"
        ],
    );
    check(
        "RSQRT14(ABS(a[31:0]))",
        &expect!["dst = (f_rsqrt[f32,1,14] (bvand a 0x7fffffff:32))"],
    );
}

#[test]
fn what_is_no_float_is_said() {
    check(
        "SQRT(1)",
        &expect![[r#"
            error: `SQRT` does not work on these values
             --> body:1:14
              |
            1 | dst[31:0] := SQRT(1)
              |              ^^^^^^^
              = note: in `f`

        "#]],
    );
    check(
        "(a[31:0] * b[31:0]) + (b[31:0] * c[31:0]) + (a[31:0] * c[31:0])",
        &expect![[r#"
            error: a sum of more than two products is not described
             --> body:1:14
              |
            1 | dst[31:0] := (a[31:0] * b[31:0]) + (b[31:0] * c[31:0]) + (a[31:0] * c[31:0])
              |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
              = note: in `f`

        "#]],
    );
}

#[test]
fn integers_convert_as_they_are_declared() {
    let converted = |etype: &str, name: &str| {
        let body = format!("dst[31:0] := Convert_{name}_To_FP32(n[31:0])");
        lowered_all((32, "FP32"), &[("n", etype, 32)], &body)
    };
    let signed = "dst = (f_from_sint[f32,rne] n)";
    let unsigned = "dst = (f_from_uint[f32,rne] n)";
    assert_eq!(converted("SI32", "Int32"), signed);
    assert_eq!(converted("SI32", "UInt32"), unsigned);
    // The guide writes `Int32` for both.
    assert_eq!(converted("UI32", "Int32"), unsigned);
}
