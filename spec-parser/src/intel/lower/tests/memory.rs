//! Memory: reads, writes, and what is not touched.

use super::lowered_all;
use expect_test::{Expect, expect};

/// A body over a pointer to singles, an 8-bit mask and a register of two.
fn check(result: u32, body: &str, expected: &Expect) {
    let operands = [
        ("p", "MEM", 64),
        ("k", "MASK", 8),
        ("a", "FP32", 64),
        ("scale", "SCALE", 8),
    ];
    expected.assert_eq(&lowered_all((result, "FP32"), &operands, body));
}

#[test]
fn a_whole_register_is_one_access() {
    check(
        64,
        "dst[63:0] := MEM[p+63:p]",
        &expect!["dst = (read[8] mem p)"],
    );
    check(
        0,
        "MEM[p+63:p] := a[63:0]",
        &expect!["mem = (write mem p a)"],
    );
    check(
        0,
        "FOR j := 0 to 1\n i := j*32\n MEM[p+i+31:p+i] := a[i+31:i]\nENDFOR",
        &expect!["mem = (write mem p a)"],
    );
}

#[test]
fn what_is_masked_off_is_not_touched() {
    check(
        64,
        "FOR j := 0 to 1\n i := j*32\n IF k[j]\n dst[i+31:i] := MEM[p+i+31:p+i]\n ELSE\n dst[i+31:i] := a[i+31:i]\n FI\nENDFOR",
        &expect![
            "dst = (map 2 (i1) (ite (= (extract[1] k i1) 0x1:1) (read[4] mem (bvadd (int2bv[64] (imul i1 4)) p)) (extract[32] a (imul i1 32))))"
        ],
    );
    check(
        0,
        "FOR j := 0 to 1\n i := j*32\n IF k[j]\n MEM[p+i+31:p+i] := a[i+31:i]\n FI\nENDFOR",
        &expect![
            "mem = (let ((t0 (ite (= (extract[1] k 0) 0x1:1) (write mem p (extract[32] a 0)) mem))) (ite (= (extract[1] k 1) 0x1:1) (write t0 (bvadd p 0x0000000000000004:64) (extract[32] a 32)) t0))"
        ],
    );
}

#[test]
fn addresses_that_operands_choose() {
    check(
        32,
        "addr := p + SignExtend64(a[31:0]) * ZeroExtend64(scale) * 8\ndst[31:0] := MEM[addr+31:addr]",
        &expect![
            "dst = (read[4] mem (bvadd (sext[64] (bvmul (zext[40] scale) (sext[40] (extract[32] a 0)))) p))"
        ],
    );
    check(
        0,
        "m := p\nFOR j := 0 to 1\n i := j*32\n IF k[j]\n MEM[m+31:m] := a[i+31:i]\n m := m + 32\n FI\nENDFOR",
        &expect![
            "mem = (let ((t0 (= (extract[1] k 0) 0x1:1)) (t1 (ite t0 (write mem p (extract[32] a 0)) mem))) (ite (= (extract[1] k 1) 0x1:1) (write t1 (bvadd (ite t0 0x0000000000000004:64 0x0000000000000000:64) p) (extract[32] a 32)) t1))"
        ],
    );
}

#[test]
fn a_write_is_seen_by_a_later_read() {
    check(
        0,
        "MEM[p+7:p] := 0\nMEM[p+7:p].bit[1] |= k[0]\nMEM[p+7:p].bit[1] |= k[1]",
        &expect![
            "mem = (write mem p (zext[8] (concat (bvor (extract[1] k 0) (extract[1] k 1)) 0x0:1)))"
        ],
    );
    check(
        8,
        "dst[0] := MEM[p + ZeroExtend64(k)]\nMEM[p + ZeroExtend64(k)] := 1",
        &expect![[r#"
            dst = (zext[8] (elem[1] (read[1] mem (bvadd (zext[64] (extract[5] k 3)) p)) (extract[3] k 0)))
            mem = (let ((t0 (bvadd (zext[64] (extract[5] k 3)) p))) (write mem t0 (insert (read[1] mem t0) (extract[3] k 0) 0x1:1)))"#]],
    );
}

#[test]
fn a_value_and_memory_are_two_results() {
    check(
        32,
        "MEM[p+31:p] := a[63:32]\ndst[31:0] := a[31:0]",
        &expect![[r#"
            dst = (extract[32] a 0)
            mem = (write mem p (extract[32] a 32))"#]],
    );
}

#[test]
fn what_is_no_place_is_said() {
    check(
        32,
        "dst[31:0] := MEM[a+31:a]",
        &expect![[r#"
        error: this does not work on floating-point numbers
         --> body:1:18
          |
        1 | dst[31:0] := MEM[a+31:a]
          |                  ^^^^
          = note: in `f`

    "#]],
    );
    check(
        32,
        "dst[31:0] := p * 2",
        &expect![[r#"
        error: an address is not a number here
         --> body:1:14
          |
        1 | dst[31:0] := p * 2
          |              ^^^^^
          = note: in `f`

    "#]],
    );
    check(
        0,
        "x := 1",
        &expect![[r#"
        error: the body returns nothing and writes no memory
         --> body:1:1
          |
        1 | x := 1
          | ^^^^^^
          = note: in `f`

    "#]],
    );
}
