//! Tests of the hardware check: what a wrong meaning, an access too many and a wrong NaN look
//! like. They need a C compiler and a processor of the x86 family.

use super::faults::Faults;
use super::testing::{floats, instruction, operand, register};
use super::{Judge, Options, Verdict, run};
use semantics::instruction::{Element, Instruction, Role};
use target::{Target, Targets};
use test_support::need;
use toolchain::c;

const SUM: &str = "FOR j := 0 to 3\n\ti := j*32\n\tdst[i+31:i] := a[i+31:i] + b[i+31:i]\nENDFOR";

/// What the check says of an instruction, or why it cannot be run.
fn verdict(instruction: &Instruction) -> Result<Verdict, String> {
    let text = "features:\n  SSE2: {flag: sse2, cpuinfo: sse2}\n  AVX: {flag: avx, cpuinfo: avx, implies: [SSE2]}\n  AVX2: {flag: avx2, cpuinfo: avx2, implies: [AVX]}\nmodels: {m: {}}\n";
    let targets = Targets::parse(text).expect("the features are right");
    let host = targets.host().ok();
    let lacks = |host: &Target| {
        instruction
            .features
            .iter()
            .any(|f| !host.features.contains(f))
    };
    let cannot = || format!("this machine cannot run {}", instruction.name);
    let host = host.filter(|h| !lacks(h)).ok_or_else(cannot)?;
    c::compiler().ok_or(c::MISSING)?;
    let options = Options {
        filter: None,
        inputs: 300,
        seed: 1,
        faults: Faults::default(),
        flags: Vec::new(),
        judge: Judge::here(host, vec!["immintrin.h".to_owned()]),
    };
    let mut instruction = instruction.clone();
    instruction.origin.family = Some("test".to_owned());
    let summary = run(&[instruction.clone()], &targets, &options, &|_| ());
    let verdict = summary.verdicts.get(&instruction.name);
    Ok(verdict.expect("it was asked for").clone())
}

#[test]
fn a_right_meaning_agrees() {
    let sum = instruction(
        "_mm_add_epi32",
        vec![register("a"), register("b")],
        true,
        SUM,
    );
    let verdict = need!(verdict(&sum));
    assert!(
        matches!(verdict, Verdict::Agreed(a) if a.records == 300),
        "{verdict:?}"
    );
}

#[test]
fn a_wrong_meaning_is_shown_by_a_small_program() {
    let body = format!("{SUM}\nIF a[64]\n\tdst[127:96] := a[127:96] - b[127:96]\nFI");
    let sum = instruction(
        "_mm_add_epi32",
        vec![register("a"), register("b")],
        true,
        &body,
    );
    let verdict = need!(verdict(&sum));
    let Verdict::Differs(difference) = verdict else {
        panic!("{verdict:?}");
    };
    let program = difference.program.expect("the difference repeats");
    // One bit chooses the wrong arm, and one is enough to see it.
    let array = |name: &str| {
        let line = program
            .lines()
            .find(|l| l.contains(&format!(" {name}[16]")));
        line.expect("the program has the operand")
            .matches("0x")
            .count()
    };
    assert_eq!((array("x0"), array("x1")), (1, 1), "{program}");
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("shown.c"), &program).expect("a file");
    let compiler = c::compiler().expect("it compiled before");
    let command = |name: &str, arguments: &[&str]| {
        let mut command = std::process::Command::new(name);
        command.args(arguments).current_dir(folder.path());
        command.output().expect("it runs")
    };
    let built = command(
        &compiler,
        &["-Wall", "-Wextra", "-Werror", "-o", "shown", "shown.c"],
    );
    assert!(built.status.success(), "{program}");
    let path = folder.path().join("shown");
    let ran = command(&path.to_string_lossy(), &[]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&ran.stdout).contains("the result of _mm_add_epi32"));
}

fn load(name: &str, body: &str) -> Instruction {
    let pointer = operand(
        "p",
        "int const*",
        Element::Signed(32),
        64,
        Role::Pointer { align: 1 },
    );
    let mut load = instruction(name, vec![pointer, register("mask")], true, body);
    load.features = vec!["AVX2".to_owned()];
    load
}

const MASKED: &str = "FOR j := 0 to 3\n\ti := j*32\n\tIF mask[i+31]\n\t\tdst[i+31:i] := MEM[p+i+31:p+i]\n\tELSE\n\t\tdst[i+31:i] := 0\n\tFI\nENDFOR";

#[test]
fn masked_elements_are_not_accessed() {
    let verdict = need!(verdict(&load("_mm_maskload_epi32", MASKED)));
    assert!(
        matches!(verdict, Verdict::Agreed(a) if a.records == 300),
        "{verdict:?}"
    );
}

#[test]
fn an_access_too_many_is_seen() {
    // The machine accesses all four elements, whatever the specification says of a mask.
    let body = MASKED.replace("mask[i+31]", "j == 0");
    let pointer = operand(
        "p",
        "__m128i const*",
        Element::Signed(32),
        64,
        Role::Pointer { align: 1 },
    );
    let mut load = instruction(
        "_mm_loadu_si128",
        vec![pointer, register("mask")],
        true,
        &body,
    );
    load.operands.truncate(1);
    let verdict = need!(verdict(&load));
    assert!(matches!(&verdict, Verdict::Differs(d) if d.found.fault || d.found.value.is_some()));
}

#[test]
fn what_is_written_is_compared() {
    let body = "MEM[p+63:p] := a[63:0]";
    let pointer = |name: &str| {
        operand(
            name,
            "__m128i*",
            Element::Signed(32),
            64,
            Role::Pointer { align: 1 },
        )
    };
    let half = instruction(
        "_mm_storel_epi64",
        vec![pointer("p"), register("a")],
        false,
        body,
    );
    let right = need!(verdict(&half));
    assert!(matches!(right, Verdict::Agreed(_)), "{right:?}");
    let whole = instruction(
        "_mm_storeu_si128",
        vec![pointer("p"), register("a")],
        false,
        body,
    );
    let wrong = verdict(&whole).expect("the other was run");
    assert!(matches!(wrong, Verdict::Differs(_)), "{wrong:?}");
}

#[test]
fn an_aligned_load_faults_where_it_is_said_to_and_nowhere_else() {
    let body = "dst[127:0] := MEM[p+127:p]";
    let load = |align: u32| {
        let role = Role::Pointer { align };
        let pointer = operand("p", "__m128i const*", Element::Signed(32), 64, role);
        let mut load = instruction("_mm_load_si128", vec![pointer, register("a")], true, body);
        load.operands.truncate(1);
        verdict(&load)
    };
    let said = need!(load(16));
    assert!(
        matches!(&said, Verdict::Agreed(a) if a.unaligned > 0),
        "{said:?}"
    );
    let unsaid = need!(load(1));
    assert!(matches!(unsaid, Verdict::Differs(_)), "{unsaid:?}");
}

#[test]
fn another_nan_is_counted_and_another_number_is_wrong() {
    let sum = |body: &str| {
        let operands = vec![floats("a"), floats("b")];
        verdict(&instruction("_mm_add_ps", operands, true, body))
    };
    // The other order of operands returns the other NaN.
    let swapped = SUM.replace("a[i+31:i] + b[i+31:i]", "b[i+31:i] + a[i+31:i]");
    let swapped = need!(sum(&swapped));
    let Verdict::Agreed(agreement) = swapped else {
        panic!("{swapped:?}");
    };
    assert!(agreement.other_nan > 0 && agreement.other_nan < agreement.records);
    let wrong = sum(&SUM.replace('+', "-").replace("i-31", "i+31"));
    assert!(matches!(wrong, Ok(Verdict::Differs(_))));
}

#[test]
fn features_are_spelt_as_the_attribute_of_a_function_has_them() {
    let text = include_str!("../../../isa-specs/arm/targets.yaml");
    let arm = Targets::parse(text).expect("the features are right");
    let body = "dst[127:0] := a[127:0]";
    let mut dot = instruction("vusdotq_s32", vec![register("a")], true, body);
    dot.features = vec!["I8MM".to_owned()];
    dot.origin.family = Some("dot".to_owned());
    let host = arm.find("max").expect("a model");
    assert_eq!(super::features(&dot, &arm, &host), ["+i8mm", "+simd"]);
}
