//! Tests of the generated C programs.

use super::{Case, emit, input_bytes, output_bytes, unsupported};
use semantics::instruction::{Element, Form, Instruction, Operand, Origin, Output, Role};
use semantics::sort::Sort;
use semantics::term::Term;

fn operand(name: &str, c_type: &str, width: u32, role: Role) -> Operand {
    Operand {
        name: name.to_owned(),
        c_type: c_type.to_owned(),
        element: Element::Unsigned(32),
        width,
        role,
    }
}

/// An instruction that returns its first operand.
fn instruction(name: &str, operands: Vec<Operand>) -> Instruction {
    Instruction {
        name: name.to_owned(),
        isa: "x86".to_owned(),
        mnemonic: None,
        outputs: vec![Output {
            name: "dst".to_owned(),
            c_type: operands[0].c_type.clone(),
            element: Element::Unsigned(32),
            term: Term::var(&operands[0].name, Sort::Bv(operands[0].width)),
            undefined: Vec::new(),
        }],
        operands,
        features: Vec::new(),
        form: Form::Single,
        pseudocode: String::new(),
        origin: Origin::default(),
    }
}

#[test]
fn immediates_become_a_switch() {
    let imm = Role::Immediate { max: 1 };
    let shift = instruction(
        "_mm_slli_epi32",
        vec![
            operand("a", "__m128i", 128, Role::Register),
            operand("imm8", "int", 32, imm),
        ],
    );
    let case = Case {
        instruction: &shift,
        features: vec!["sse2".to_owned()],
        immediates: vec![vec![0], vec![1]],
    };
    let harness = emit(&[case]);
    let lines: Vec<&str> = harness.text.lines().collect();
    let own = &lines[harness.lines[0].start - 1..harness.lines[0].end - 1];
    expect_test::expect![[r#"
        __attribute__((target("sse2")))
        static void case0(const unsigned char *in, unsigned char *out, unsigned n)
        {
            for (; n--; in += 18, out += 16) {
                __m128i x0;
                memcpy(&x0, in + 2, 16);
                __m128i r;
                switch (in[0] | in[1] << 8) {
                case 0: r = _mm_slli_epi32(x0, 0); break;
                case 1: r = _mm_slli_epi32(x0, 1); break;
                default: return;
                }
                memcpy(out, &r, 16);
            }
        }
    "#]]
    .assert_eq(&(own.join("\n") + "\n"));
    assert_eq!((input_bytes(&shift), output_bytes(&shift)), (18, 16));
}

#[test]
fn lines_are_counted_from_each_case() {
    let one = instruction("f", vec![operand("a", "__mmask8", 8, Role::Mask)]);
    let case = Case {
        instruction: &one,
        features: Vec::new(),
        immediates: vec![Vec::new()],
    };
    let harness = emit(&[case.clone(), case]);
    let lines: Vec<&str> = harness.text.lines().collect();
    for (index, range) in harness.lines.iter().enumerate() {
        assert!(lines[range.start - 1].contains(&format!("case{index}(")));
    }
}

#[test]
fn memory_is_not_supported() {
    let load = instruction(
        "_mm_load_si128",
        vec![
            operand("a", "__m128i", 128, Role::Register),
            operand("p", "void*", 64, Role::Pointer),
        ],
    );
    assert_eq!(unsupported(&load), Some("it accesses memory"));
}
