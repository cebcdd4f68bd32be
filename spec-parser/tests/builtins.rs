//! Functions that bodies use without defining them, against published values.

mod support;

use semantics::bits::Bits;
use semantics::galois::inverse;
use semantics::instruction::{Element, Form, Instruction, Operand, Role};
use semantics::span::{Source, Span};
use spec_parser::intel::lower::lower_body;
use spec_parser::signature::{Returned, Signature};

fn lowered(body: &str, operands: &[(&str, Element, u32)], width: u32) -> Instruction {
    let signature = Signature {
        name: "f".to_owned(),
        isa: "x86".to_owned(),
        returns: Returned {
            c_type: "__m128i".to_owned(),
            element: Element::Untyped,
            width,
        },
        operands: operands
            .iter()
            .map(|&(name, element, width)| Operand {
                name: name.to_owned(),
                c_type: "__m128i".to_owned(),
                element,
                width,
                role: Role::Register,
            })
            .collect(),
        features: Vec::new(),
        mnemonic: None,
        form: Form::Single,
    };
    let source = Source::new("body", body);
    lower_body(&signature, &source, Span::new(0, body.len()), false)
        .unwrap_or_else(|d| panic!("{}", d[0]))
}

fn run(instruction: &Instruction, values: &[u128]) -> u128 {
    let values = instruction.operands.iter().zip(values);
    support::result(
        instruction,
        values.map(|(o, &v)| Bits::from_u128(o.width, v)),
    )
    .to_u128()
    .expect("at most 128 bits")
}

/// Bytes as they are published, the first being least significant.
fn bytes(hexadecimal: &str) -> u128 {
    u128::from_str_radix(hexadecimal, 16)
        .expect("digits")
        .swap_bytes()
}

const U: Element = Element::Untyped;

/// FIPS 197, appendix B: the first round, and back.
#[test]
fn a_round_of_aes() {
    let (state, key) = (
        bytes("193de3bea0f4e22b9ac68d2ae9f84808"),
        bytes("a0fafe1788542cb123a339392a6c7605"),
    );
    let operands = [("a", U, 128), ("k", U, 128)];
    let round = "dst[127:0] := MixColumns(SubBytes(ShiftRows(a[127:0]))) XOR k[127:0]\n";
    let after = run(&lowered(round, &operands, 128), &[state, key]);
    assert_eq!(after, bytes("a49c7ff2689f352b6b5bea43026a5049"));
    let back = "dst[127:0] := InvShiftRows(InvSubBytes(InvMixColumns(a[127:0] XOR k[127:0])))\n";
    assert_eq!(run(&lowered(back, &operands, 128), &[after, key]), state);
    // FIPS 197, appendix A.1: the word before the round constant is added.
    let word = "dst[31:0] := RotWord(SubWord(a[31:0]))\n";
    let word = lowered(word, &[("a", U, 32)], 32);
    assert_eq!(run(&word, &[0x3c4f_cf09]), 0x01eb_848a);
}

#[test]
fn a_table_that_is_an_inverse_is_recognised() {
    let table: Vec<String> = (0..=255).map(|x| inverse(0x11b, x).to_string()).collect();
    let body = format!(
        "BYTE t[256] = {{ {} }}\ndst[7:0] := t[a[7:0]]\n",
        table.join(", ")
    );
    let found = lowered(&body, &[("a", U, 8)], 8);
    assert_eq!(found.term().to_string(), "(gf_inverse[283] a)");
    // One entry that differs, and it is a table.
    let other = lowered(&body.replace(", 203,", ", 202,"), &[("a", U, 8)], 8);
    assert!(other.term().to_string().starts_with("(elem[8]"));
}

/// The check value of CRC-32C for the text 123456789.
#[test]
fn remainders_of_bit_polynomials() {
    let body = "t[7:0] := v[0:7]\nu[31:0] := c[0:31]\n\
                s[39:0] := (t[7:0] << 32) XOR (u[31:0] << 8)\n\
                r[31:0] := MOD2(s[39:0], 0x11EDC6F41)\ndst[31:0] := r[0:31]\n";
    let step = lowered(body, &[("c", U, 32), ("v", U, 8)], 32);
    let all = b"123456789".iter().fold(0xffff_ffff, |crc, &byte| {
        run(&step, &[crc, u128::from(byte)])
    });
    assert_eq!(all ^ 0xffff_ffff, 0xe306_9283);
}

#[test]
fn comparisons_of_strings() {
    let text = |s: &str| {
        let bytes = s.bytes().enumerate();
        bytes.fold(0, |all, (n, byte)| all | u128::from(byte) << (8 * n))
    };
    let operands = [("a", U, 128), ("b", U, 128), ("imm8", U, 8)];
    let body =
        "dst[15:0] := STRING_COMPARE(a, STRING_LENGTH(a, imm8), b, STRING_LENGTH(b, imm8), imm8)\n";
    let compare = lowered(body, &operands, 16);
    let (vowels, hello) = (text("aeiou"), text("hello world"));
    assert_eq!(run(&compare, &[vowels, hello, 0]), 0b000_1001_0010);
    // Not a vowel: everything, or only what is there.
    assert_eq!(
        run(&compare, &[vowels, hello, 0x10]),
        0xffff & !0b000_1001_0010
    );
    assert_eq!(run(&compare, &[vowels, hello, 0x30]), 0b111_0110_1101);
    assert_eq!(run(&compare, &[text("az"), hello, 0b0100]), 0b111_1101_1111);
    assert_eq!(
        run(&compare, &[text("hallo"), text("hello"), 0b1000]),
        0xffff & !0b10
    );
    assert_eq!(run(&compare, &[text("lo"), hello, 0b1100]), 0b1000);
}

#[test]
fn functions_of_libraries_stay_applications() {
    let single = [("a", Element::Float(32), 128)];
    let power = lowered("dst[31:0] := POW(2.0, a[31:0])\n", &single, 128);
    let expected = "(zext[128] (f_library[f32,pow] 0x40000000:32 (extract[32] a 0)))";
    assert_eq!(power.term().to_string(), expected);
    let remainder = "dst[31:0] := REMAINDER(a[31:0] / b[31:0])\n";
    let signed = [
        ("a", Element::Signed(32), 32),
        ("b", Element::Signed(32), 32),
    ];
    let found = run(&lowered(remainder, &signed, 32), &[0xffff_fff9, 3]);
    assert_eq!(found, 0xffff_ffff);
}

#[test]
fn a_float_or_a_literal_is_a_float() {
    let body = "t[31:0] := k[0] ? a[31:0] : 0.0\ndst[31:0] := t[31:0] + a[63:32]\n";
    let found = lowered(
        body,
        &[("a", Element::Float(32), 128), ("k", Element::Mask, 8)],
        32,
    );
    assert!(found.term().to_string().starts_with("(fadd[f32,rne] (ite"));
}

/// What no operand names is a variable of the meaning, and an output where it is written.
#[test]
fn registers_of_the_machine() {
    let body = "dst[31:0] := MXCSR[31:0] AND a[31:0]\nMXCSR[5:0] := 0\n";
    let found = lowered(body, &[("a", U, 32)], 32);
    let told: Vec<String> = found
        .outputs
        .iter()
        .map(|o| format!("{} = {}", o.name, o.term))
        .collect();
    assert_eq!(
        told,
        [
            "dst = (bvand MXCSR a)",
            "MXCSR = (concat (extract[26] MXCSR 6) 0x00:6)"
        ]
    );
}
