//! Small bodies of our own with the terms that they lower to, and bodies without a meaning.

use super::lower_body;
use crate::signature::{Returned, Signature, element_of};
use expect_test::{Expect, expect};
use semantics::diagnostic::render;
use semantics::instruction::{Form, Operand, Role};
use semantics::span::{Source, Span};

mod float;
mod memory;

/// `name type width` for each operand; a width of 8 with type `IMM` is an immediate.
fn signature(result: (u32, &str), operands: &[(&str, &str, u32)]) -> Signature {
    Signature {
        name: "f".to_owned(),
        isa: "test".to_owned(),
        returns: Returned {
            c_type: "r".to_owned(),
            element: element_of(result.1),
            width: result.0,
        },
        operands: operands
            .iter()
            .map(|&(name, etype, width)| Operand {
                name: name.to_owned(),
                c_type: "t".to_owned(),
                element: element_of(etype),
                width,
                role: match etype {
                    "IMM" => Role::Immediate { max: 255 },
                    "MASK" => Role::Mask,
                    "ROUND" => Role::Rounding,
                    "SCALE" => Role::Scale,
                    "MEM" => Role::Pointer { align: 1 },
                    _ => Role::Register,
                },
            })
            .collect(),
        features: Vec::new(),
        mnemonic: None,
        form: Form::Single,
    }
}

fn lowered(result: (u32, &str), operands: &[(&str, &str, u32)], body: &str) -> String {
    let source = Source::new("body", body);
    let span = Span::new(0, body.len());
    match lower_body(&signature(result, operands), &source, span, false) {
        Ok(instruction) => instruction.term().to_string(),
        Err(diagnostics) => render(&diagnostics),
    }
}

/// Every result by name, or what is wrong.
fn lowered_all(result: (u32, &str), operands: &[(&str, &str, u32)], body: &str) -> String {
    let source = Source::new("body", body);
    let span = Span::new(0, body.len());
    match lower_body(&signature(result, operands), &source, span, false) {
        Ok(instruction) => {
            let outputs = instruction.outputs.iter();
            let lines: Vec<String> = outputs
                .map(|o| format!("{} = {}", o.name, o.term))
                .collect();
            lines.join("\n")
        }
        Err(diagnostics) => render(&diagnostics),
    }
}

/// A body over two 32-bit registers of two 16-bit elements each.
fn halves(etype: &str, body: &str, expected: &Expect) {
    let operands = [("a", etype, 32), ("b", etype, 32)];
    expected.assert_eq(&lowered((32, etype), &operands, body));
}

const EACH: &str = "FOR j := 0 to 1\n i := j*16\n dst[i+15:i] := ";

#[test]
fn sums_are_cut_where_they_are_assigned() {
    let body = format!("{EACH}a[i+15:i] + b[i+15:i]\nENDFOR");
    halves(
        "UI16",
        &body,
        &expect!["(map 2 (i1) (bvadd (extract[16] a (imul i1 16)) (extract[16] b (imul i1 16))))"],
    );
    let body = format!("{EACH}(a[i+15:i] + b[i+15:i] + 1) >> 1\nENDFOR");
    halves(
        "UI16",
        &body,
        &expect![
            "(map 2 (i1) (extract[16] (bvadd (bvadd (zext[17] (extract[16] a (imul i1 16))) (zext[17] (extract[16] b (imul i1 16)))) 0x00001:17) 1))"
        ],
    );
}

#[test]
fn saturation_sees_the_exact_sum() {
    let body = format!("{EACH}Saturate16(a[i+15:i] + b[i+15:i])\nENDFOR");
    halves(
        "SI16",
        &body,
        &expect![
            "(map 2 (i1) (sat_ss[16] (bvadd (sext[17] (extract[16] a (imul i1 16))) (sext[17] (extract[16] b (imul i1 16))))))"
        ],
    );
    let body = format!("{EACH}SaturateU16(a[i+15:i] - b[i+15:i])\nENDFOR");
    halves(
        "UI16",
        &body,
        &expect![
            "(map 2 (i1) (sat_su[16] (bvsub (zext[17] (extract[16] a (imul i1 16))) (zext[17] (extract[16] b (imul i1 16))))))"
        ],
    );
}

#[test]
fn the_element_type_says_how_to_compare() {
    let body = format!("{EACH}a[i+15:i] > b[i+15:i] ? a[i+15:i] : b[i+15:i]\nENDFOR");
    halves(
        "SI16",
        &body,
        &expect!["(map 2 (i1) (smax (extract[16] a (imul i1 16)) (extract[16] b (imul i1 16))))"],
    );
    halves(
        "UI16",
        &body,
        &expect!["(map 2 (i1) (umax (extract[16] a (imul i1 16)) (extract[16] b (imul i1 16))))"],
    );
}

#[test]
fn sign_extension_of_a_shift_is_arithmetic() {
    let body = format!("{EACH}SignExtend16(a[i+15:i] >> 3)\nENDFOR");
    halves(
        "UI16",
        &body,
        &expect!["(map 2 (i1) (sext[16] (extract[13] a (iadd (imul i1 16) 3))))"],
    );
}

#[test]
fn arms_merge_what_they_write() {
    let body = "FOR j := 0 to 1\n i := j*16\n IF k[j]\n dst[i+15:i] := a[i+15:i]\n ELSE\n \
                dst[i+15:i] := 0\n FI\nENDFOR";
    let operands = [("k", "MASK", 8), ("a", "UI16", 32)];
    expect![
        "(map 2 (i1) (ite (= (extract[1] k i1) 0x1:1) (extract[16] a (imul i1 16)) 0x0000:16))"
    ]
    .assert_eq(&lowered((32, "UI16"), &operands, body));
}

#[test]
fn cases_of_consecutive_elements_are_an_element() {
    let body = "CASE imm8[1:0] OF\n0: dst[7:0] := a[7:0]\n1: dst[7:0] := a[15:8]\n\
                2: dst[7:0] := a[23:16]\n3: dst[7:0] := a[31:24]\nESAC";
    let operands = [("a", "UI8", 32), ("imm8", "IMM", 8)];
    expect!["(elem[8] a (extract[2] imm8 0))"].assert_eq(&lowered((8, "UI8"), &operands, body));
}

#[test]
fn offsets_may_depend_on_operands() {
    let body = "FOR j := 0 to 3\n i := j*8\n at := 8*b[i+1:i]\n dst[i+7:i] := a[at+7:at]\nENDFOR";
    let operands = [("a", "UI8", 32), ("b", "UI8", 32)];
    expect!["(map 4 (i1) (elem[8] a (extract[2] b (imul i1 8))))"].assert_eq(&lowered(
        (32, "UI8"),
        &operands,
        body,
    ));
}

#[test]
fn loops_that_count_are_counts() {
    let zeros = "n := 15\ndst[15:0] := 0\nDO WHILE (n >= 0 AND a[n] == 0)\n n := n - 1\n \
                 dst[15:0] := dst[15:0] + 1\nOD";
    let operands = [("a", "UI16", 16)];
    expect!["(clz a)"].assert_eq(&lowered((16, "UI16"), &operands, zeros));
    let ones = "DEFINE COUNT(x) {\n n := 0\n DO WHILE x > 0\n n += x[0]\n x >>= 1\n OD\n \
                RETURN n\n}\ndst[15:0] := COUNT(a[15:0])";
    expect!["(popcnt a)"].assert_eq(&lowered((16, "UI16"), &operands, ones));
}

#[test]
fn functions_call_themselves() {
    let body = "DEFINE ALL(src, len) {\n IF len == 2\n RETURN src[15:0] + src[31:16]\n FI\n \
                len := len / 2\n FOR j := 0 to len-1\n i := j*16\n src[i+15:i] := src[i+15:i] + \
                src[i+16*len+15:i+16*len]\n ENDFOR\n RETURN ALL(src[16*len-1:0], len)\n}\n\
                dst[15:0] := ALL(a, 4)";
    expect!["(bvadd (bvadd (extract[16] a 0) (extract[16] a 32)) (bvadd (extract[16] a 16) (extract[16] a 48)))"].assert_eq(&lowered((16, "UI16"), &[("a", "UI16", 64)], body));
}

#[test]
fn running_offsets_choose_among_places() {
    let body = "m := 0\nFOR j := 0 to 1\n IF k[j]\n dst[m+7:m] := a[8*j+7:8*j]\n m := m + 8\n \
                FI\nENDFOR\ndst[15:m] := 0";
    let operands = [("k", "MASK", 8), ("a", "UI8", 16)];
    expect!["(let ((t0 (concat (bvadd (zext[2] (extract[1] k 0)) (zext[2] (extract[1] k 1))) 0x0:3)) (t1 (= (extract[1] k 1) 0x1:1)) (t2 (= (extract[1] k 0) 0x1:1))) (concat (ite (bvult 0x08:5 t0) (ite t1 (ite t2 (extract[8] a 8) 0x00:8) 0x00:8) 0x00:8) (ite (= t0 0x00:5) 0x00:8 (ite t1 (ite t2 (extract[8] a 0) (extract[8] a 8)) (ite t2 (extract[8] a 0) 0x00:8)))))"].assert_eq(&lowered((16, "UI8"), &operands, body));
}

#[test]
fn rotations_and_guarded_shifts_are_recognised() {
    let body = format!(
        "DEFINE TURN(x, c) {{\n n := c % 16\n RETURN (x << n) OR (x >> (16 - n))\n}}\n{EACH}\
         TURN(a[i+15:i], b[i+15:i])\nENDFOR"
    );
    halves(
        "UI16",
        &body,
        &expect![
            "(map 2 (i1) (rotl (extract[16] a (imul i1 16)) (zext[16] (extract[4] b (imul i1 16)))))"
        ],
    );
    let body = "FOR j := 0 to 1\n i := j*16\n IF b[i+15:i] < 16\n dst[i+15:i] := \
                ZeroExtend16(a[i+15:i] << b[i+15:i])\n ELSE\n dst[i+15:i] := 0\n FI\nENDFOR";
    halves(
        "UI16",
        body,
        &expect!["(map 2 (i1) (bvshl (extract[16] a (imul i1 16)) (extract[16] b (imul i1 16))))"],
    );
}

#[test]
fn a_variable_may_hold_a_comparison() {
    let body = "CASE imm8[0] OF\n0: OP := _MM_CMPINT_EQ\n1: OP := _MM_CMPINT_NLE\nESAC\n\
                k[0] := (a[7:0] OP b[7:0]) ? 1 : 0\nk[MAX:1] := 0";
    let operands = [("a", "SI8", 8), ("b", "SI8", 8), ("imm8", "IMM", 8)];
    let mut signature = signature((8, "MASK"), &operands);
    signature.returns.c_type = "__mmask8".to_owned();
    let source = Source::new("body", body);
    let result = lower_body(&signature, &source, Span::new(0, body.len()), false);
    expect!["(zext[8] (ite (ite (= (extract[1] imm8 0) 0x1:1) (bvslt b a) (= a b)) 0x1:1 0x0:1))"]
        .assert_eq(&result.expect("it has a meaning").term().to_string());
}

#[test]
fn what_has_no_meaning_is_said() {
    let operands = [("a", "UI16", 32), ("f", "FP32", 32)];
    let all: String = [
        "dst[15:0] := Satruate16(a[15:0])",
        "dst[15:0] := b[15:0]",
        "dst[31:0] := f[31:0] % f[31:0]",
        "DO WHILE a[0] == a[0]\n x := 1\nOD",
        "dst[15:0] := MEM[a+15:a]",
        "x := 1",
        "DEFINE F(x) {\n RETURN F(x)\n}\ndst[15:0] := F(1)",
        "FOR j := 0 to a[3:0]\n dst[j] := 1\nENDFOR",
        "dst[15:0] := SHUFFLE",
    ]
    .iter()
    .map(|body| lowered((32, "UI16"), &operands, body))
    .collect();
    expect![[r#"
        error: the function `Satruate16` is not described
         --> body:1:14
          |
        1 | dst[15:0] := Satruate16(a[15:0])
          |              ^^^^^^^^^^^^^^^^^^^
          = note: in `f`
          = hint: did you mean `Saturate16`?

        error: `b` has no value
         --> body:1:14
          |
        1 | dst[15:0] := b[15:0]
          |              ^^^^^^^
          = note: in `f`
          = hint: did you mean `a`?

        error: this does not work on floating-point numbers
         --> body:1:14
          |
        1 | dst[31:0] := f[31:0] % f[31:0]
          |              ^^^^^^^^^^^^^^^^^
          = note: in `f`

        error: the loop does not end after 1024 rounds
         --> body:1:10
          |
        1 | DO WHILE a[0] == a[0]
          |          ^^^^^^^^^^^^
          = note: in `f`

        error: this is no place in memory
         --> body:1:14
          |
        1 | dst[15:0] := MEM[a+15:a]
          |              ^^^^^^^^^^^
          = note: in `f`

        error: the body assigns no result
         --> body:1:1
          |
        1 | x := 1
          | ^^^^^^
          = note: in `f`
          = hint: the result is called `dest`

        error: `F` calls itself too often
         --> body:2:9
          |
        2 |  RETURN F(x)
          |         ^^^^
          = note: in `f`

        error: this must not depend on operands
         --> body:1:15
          |
        1 | FOR j := 0 to a[3:0]
          |               ^^^^^^
          = note: in `f`

        error: `SHUFFLE` has no value
         --> body:1:14
          |
        1 | dst[15:0] := SHUFFLE
          |              ^^^^^^^
          = note: in `f`

    "#]]
    .assert_eq(&all);
}

/// Bodies with their words exchanged, doubled and left out: never a panic.
#[test]
fn mangled_bodies_are_refused_or_lowered() {
    let bodies = [
        "m := 0\nFOR j := 0 to 3\n IF k[j]\n dst[m+7:m] := a[8*j+7:8*j]\n m := m + 8\n FI\n\
         ENDFOR\ndst[31:m] := 0",
        "DEFINE F(x[15:0], n) {\n IF n == 1\n RETURN x[7:0]\n FI\n RETURN F(x >> 1, n - 1) + 1\n\
         }\nDO WHILE a[0] == 1\n a >>= 1\n i := i + 8\nOD\ndst[15:0] := F(a[15:0] * b[15:0], 4)",
        "CASE k[1:0] OF\n0: t := a << b[3:0]\n1: t := a >> b\n2: t.word := ABS(a - b)\nDEFAULT: \
         OP := _MM_CMPINT_LT\nESAC\ndst.byte[k[0]] := t ? Saturate8(t * 3) : (a OP b)",
    ];
    let operands = [("a", "SI16", 32), ("b", "UI8", 32), ("k", "MASK", 8)];
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |n: usize| {
        state = state
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 33) as usize % n.max(1)
    };
    let (mut meanings, mut refusals) = (0, 0);
    for round in 0..1200 {
        let mut words: Vec<&str> = bodies[round % bodies.len()]
            .split_inclusive(|c: char| !c.is_ascii_alphanumeric())
            .collect();
        for _ in 0..=random(3) {
            let (from, to) = (random(words.len()), random(words.len()));
            match random(3) {
                0 => words.swap(from, to),
                1 => words.insert(to, words[from]),
                _ => drop(words.remove(from)),
            }
        }
        match lowered((32, "UI8"), &operands, &words.concat()).starts_with("error") {
            true => refusals += 1,
            false => meanings += 1,
        }
    }
    assert!(
        meanings > 50 && refusals > 50,
        "{meanings} meanings, {refusals} refusals"
    );
}

#[test]
fn sizes_are_limited() {
    let operands = [("a", "UI16", 32)];
    for body in [
        "x := a\nFOR j := 0 to 40\n x := x * x\nENDFOR\ndst := x",
        "x := 3\nFOR j := 0 to 400\n x := x * x\nENDFOR\ndst := x",
        "x := a\nFOR j := 0 to 400\n x := x << 1000\nENDFOR\ndst := x",
        "x[4000000000] := 1\ndst := x",
        "FOR i := 0 to 100000000000\nFOR j := 0 to 100000000000\n x := 1\nENDFOR\nENDFOR",
        "DEFINE F(n) {\n RETURN F(n) + F(n)\n}\ndst := F(1)",
        "dst := 99999999999999999999999999999999999999999999999999 + 1",
    ] {
        let text = lowered((32, "UI16"), &operands, body);
        assert!(text.starts_with("error"), "{body}\n{text}");
    }
}
