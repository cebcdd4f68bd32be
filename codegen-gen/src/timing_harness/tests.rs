//! What the programs hold: chains, streams, ways back, and data that suits the operands.

use super::*;
use semantics::instruction::{Form, Origin, Output, Role};
use semantics::sort::Sort;
use semantics::term::Term;

fn operand(name: &str, c_type: &str, element: Element, width: u32, role: Role) -> Operand {
    Operand {
        name: name.to_owned(),
        c_type: c_type.to_owned(),
        element,
        width,
        role,
    }
}

fn instruction(name: &str, returns: (&str, u32), operands: Vec<Operand>) -> Instruction {
    Instruction {
        name: name.to_owned(),
        isa: "x86".to_owned(),
        mnemonic: None,
        operands,
        outputs: vec![Output {
            name: "dst".to_owned(),
            c_type: returns.0.to_owned(),
            element: Element::Untyped,
            term: Term::var("a", Sort::Bv(returns.1)),
            undefined: Vec::new(),
        }],
        features: Vec::new(),
        form: Form::Single,
        pseudocode: String::new(),
        origin: Origin::default(),
    }
}

/// What the data of x86 says.
fn timing() -> Timing {
    let text = include_str!("../../../isa-specs/x86/targets.yaml");
    let targets = target::Targets::parse(text).expect("it is right");
    targets.timing().expect("x86 is timed").clone()
}

fn written(probes: &[Probe<'_>]) -> Harness {
    let (timing, headers) = (timing(), ["simd.h".to_owned()]);
    let dialect = Dialect {
        timing: &timing,
        headers: &headers,
    };
    let harness = emit(probes, dialect);
    assert!(harness.text.starts_with("#include <simd.h>\n"));
    harness
}

fn compare() -> Instruction {
    let vector = |n: &str| operand(n, "__m512", Element::Float(32), 512, Role::Register);
    let immediate = Role::Immediate { max: 31 };
    let predicate = operand("imm8", "int", Element::Untyped, 32, immediate);
    instruction(
        "_mm512_cmp_ps_mask",
        ("__mmask16", 16),
        vec![vector("a"), vector("b"), predicate],
    )
}

fn mask_to_vector() -> Instruction {
    let mask = operand("k", "__mmask16", Element::Mask, 16, Role::Mask);
    instruction("_mm512_movm_epi32", ("__m512i", 512), vec![mask])
}

#[test]
fn a_mask_goes_back_through_an_instruction_of_one_operand() {
    let (there, back) = (compare(), mask_to_vector());
    assert!(chainable(&there, &timing()).is_empty());
    assert_eq!(brings_back(&there, &back, &timing()), Some(0));
    assert_eq!(brings_back(&there, &there, &timing()), None);
    let probe = Probe {
        parts: vec![Part {
            instruction: &there,
            chained: Some(0),
            copies: 1,
            back: Some(Way {
                back: &back,
                operand: 0,
            }),
        }],
        features: vec!["avx512f".to_owned()],
    };
    let harness = written(&[probe]);
    let call =
        "x0_0_0 = (__m512)((__m512i)(_mm512_movm_epi32(_mm512_cmp_ps_mask(x0_0_0, x0_1_0, 5))));";
    assert!(harness.text.contains(call), "{}", harness.text);
    assert!(harness.text.contains("float data[16] = {1, 1,"));
}

#[test]
fn copies_read_their_own_results_and_share_the_rest() {
    let vector = |n: &str, w| {
        operand(
            n,
            &format!("__m{w}i"),
            Element::Signed(8),
            w,
            Role::Register,
        )
    };
    let narrow = instruction(
        "narrow",
        ("__m128i", 128),
        vec![vector("a", 512), vector("b", 512)],
    );
    assert_eq!(chainable(&narrow, &timing()), [0, 1]);
    let part = |chained, copies| Part {
        instruction: &narrow,
        chained,
        copies,
        back: None,
    };
    let probes = [
        Probe {
            parts: vec![part(Some(0), 3)],
            features: Vec::new(),
        },
        Probe {
            parts: vec![part(None, 2)],
            features: Vec::new(),
        },
    ];
    let harness = written(&probes);
    let chained = "x0_0_2 = (__m512i)_mm512_castsi128_si512(((__m128i)(narrow(x0_0_2, x0_1_0))));";
    assert!(harness.text.contains(chained), "{}", harness.text);
    assert!(harness.text.contains("__m128i r = narrow(x0_0_0, x0_1_0);"));
    // Twelve calls a turn: four of three copies, six of two.
    assert!(harness.text.contains("calls[] = {\n    4,\n    6,\n};"));
    let lines: Vec<&str> = harness.text.lines().collect();
    let second = &lines[harness.lines[1].start - 1..harness.lines[1].end - 1];
    assert!(second.iter().any(|l| l.contains("probe1")));
}
