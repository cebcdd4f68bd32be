//! Tests of the generated C programs.

use super::show::{Input, show};
use super::{Case, emit, memory, unsupported};
use semantics::build;
use semantics::instruction::{Element, Form, Instruction, Operand, Origin, Output, Role};
use semantics::op::{Op, OpCode};
use semantics::sort::Sort;
use semantics::term::Term;
use toolchain::c;

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
        window: 0,
        headers: vec!["immintrin.h".to_owned()],
    };
    let harness = emit(std::slice::from_ref(&case));
    let lines: Vec<&str> = harness.text.lines().collect();
    let own = &lines[harness.lines[0].start - 1..harness.lines[0].end - 1];
    expect_test::expect![[r#"
        __attribute__((target("sse2")))
        static void case0(const unsigned char *in, unsigned char *out)
        {
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
    "#]]
    .assert_eq(&(own.join("\n") + "\n"));
    assert_eq!((case.input_bytes(), case.output_bytes()), (18, 17));
}

#[test]
fn lines_are_counted_from_each_case() {
    let one = instruction("f", vec![operand("a", "__mmask8", 8, Role::Mask)]);
    let case = Case {
        instruction: &one,
        features: Vec::new(),
        immediates: vec![Vec::new()],
        window: 0,
        headers: vec!["immintrin.h".to_owned()],
    };
    let harness = emit(&[case.clone(), case]);
    let lines: Vec<&str> = harness.text.lines().collect();
    for (index, range) in harness.lines.iter().enumerate() {
        assert!(lines[range.start - 1].contains(&format!("case{index}(")));
    }
}

/// An instruction that returns nothing and writes 16 bytes.
fn store() -> Instruction {
    let operands = vec![
        operand("p", "__m128i*", 64, Role::Pointer { align: 1 }),
        operand("a", "__m128i", 128, Role::Register),
    ];
    let write = Op::new(OpCode::Write);
    let before = Term::var("mem", Sort::Mem);
    let term = build::app(write, &[before, operands[0].var(), operands[1].var()]);
    let mut store = instruction("_mm_storeu_si128", operands);
    store.outputs[0] = Output {
        name: "mem".to_owned(),
        c_type: "void".to_owned(),
        element: Element::Untyped,
        term,
        undefined: Vec::new(),
    };
    store
}

#[test]
fn memory_comes_back_in_windows() {
    let store = store();
    assert_eq!(unsupported(&store), None);
    let case = Case {
        instruction: &store,
        features: Vec::new(),
        immediates: vec![Vec::new()],
        window: 64,
        headers: vec!["immintrin.h".to_owned()],
    };
    assert_eq!((case.input_bytes(), case.output_bytes()), (98, 65));
    let harness = emit(&[case]);
    assert!(harness.text.contains("    _mm_storeu_si128(x0, x1);\n"));
    assert!(harness.text.contains("{case0, 26, 98, 0, 65, 1, 64, 1}"));
}

#[test]
fn what_changes_registers_of_the_machine_is_not_run() {
    let mut flags = store();
    flags.outputs[0].term = Term::var("a", Sort::Bv(128));
    let reason = "it changes registers of the machine";
    assert_eq!(unsupported(&flags), Some(reason));
}

#[test]
fn a_shown_input_is_a_program() {
    let store = store();
    let case = Case {
        instruction: &store,
        features: vec!["sse2".to_owned()],
        immediates: vec![Vec::new()],
        window: 32,
        headers: vec!["immintrin.h".to_owned()],
    };
    let at = memory(0).end - 32;
    let mut after = vec![0; 32];
    after[15] = 7;
    let text = show(
        &case,
        &Input {
            immediates: Vec::new(),
            operands: vec![at.to_le_bytes().to_vec(), vec![0; 16]],
            windows: vec![(at, vec![0; 32])],
            value: Vec::new(),
            after: vec![after],
        },
    );
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("shown.c"), &text).expect("a file");
    let flags = ["-O1", "-Wall", "-Wextra", "-Werror"];
    let all = flags.into_iter().chain(["-o", "shown", "shown.c"]);
    c::compile("gcc", all, folder.path()).unwrap_or_else(|messages| panic!("{text}{messages}"));
    let said = c::run("shown", [""; 0], folder.path()).expect_err("it is another memory");
    assert_eq!(
        said,
        format!("exit status: 1: memory at p ({at:#x}), byte 15: expected 07, found 00")
    );
}
