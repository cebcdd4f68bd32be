//! Planted mistakes of every kind, which the lint must find.

use super::{Finding, findings};
use crate::check::testing::{instruction, operand, register};
use semantics::instruction::{Element, Instruction, Operand, Role};
use std::collections::BTreeSet;
use target::Targets;

const SUM: &str = "FOR j := 0 to 3\n\ti := j*32\n\tdst[i+31:i] := a[i+31:i] + b[i+31:i]\nENDFOR";

fn both() -> Vec<Operand> {
    vec![register("a"), register("b")]
}

fn immediate(max: u32, width: u32) -> Operand {
    operand(
        "imm8",
        "int",
        Element::Untyped,
        width,
        Role::Immediate { max },
    )
}

fn found(instruction: &Instruction) -> BTreeSet<Finding> {
    let text = "features:\n  SSE2: {flag: sse2, cpuinfo: sse2}\nmodels: {m: {}}\n";
    let targets = Targets::parse(text).expect("the features are right");
    findings(instruction, "intel", &targets, 1)
}

/// What is found in a body over `a` and `b`.
fn of(body: &str) -> Vec<Finding> {
    let instruction = instruction("f", both(), true, body);
    found(&instruction).into_iter().collect()
}

#[test]
fn a_right_specification_has_no_findings() {
    assert_eq!(of(SUM), []);
}

#[test]
fn bits_never_written_are_found() {
    let body = "FOR j := 0 to 2\n\ti := j*32\n\tdst[i+31:i] := a[i+31:i] + b[i+31:i]\nENDFOR";
    assert_eq!(of(body), [Finding::Unwritten(96, 128)]);
}

#[test]
fn bits_written_twice_are_found() {
    let body = format!("{SUM}\ndst[31:0] := a[31:0]");
    assert_eq!(of(&body), [Finding::Twice(0, 32)]);
}

#[test]
fn a_result_that_begins_as_an_operand_may_be_written_once_more() {
    let part = "dst := a\ndst[31:0] := b[31:0]";
    assert_eq!(of(part), []);
    assert_eq!(
        of(&format!("{part}\ndst[15:0] := b[47:32]")),
        [Finding::Twice(0, 16)]
    );
    let moved = "dst[63:0] := a[63:0]\ndst[127:64] := a[127:64]\ndst[31:0] := b[31:0]";
    assert_eq!(of(moved), [Finding::Twice(0, 32)]);
    let lost = format!("dst := a\n{}", SUM.replace("a[", "b["));
    assert!(of(&lost).contains(&Finding::Unused("a".to_owned())));
}

#[test]
fn bits_written_under_a_condition_or_from_themselves_are_not_written_twice() {
    let body = format!("{SUM}\nIF b[0]\n\tdst[31:0] := a[31:0]\nFI");
    assert_eq!(of(&body), []);
    let body = format!("{SUM}\ndst[31:0] := dst[31:0] XOR a[63:32]");
    assert_eq!(of(&body), []);
}

#[test]
fn slices_outside_an_operand_are_found() {
    let body = "dst[127:0] := a[127:0] + b[127:0]\ndst[31:0] := dst[31:0] XOR a[159:128]";
    let outside = Finding::Outside("a".to_owned(), 128, 160);
    assert!(of(body).contains(&outside));
}

#[test]
fn operands_that_are_not_used_are_found() {
    let body = "dst[127:0] := a[127:0]";
    let found = of(body);
    assert!(
        found.contains(&Finding::Unused("b".to_owned())),
        "{found:?}"
    );
}

#[test]
fn operands_whose_use_has_no_effect_are_noted() {
    let body = "FOR j := 0 to 3\n\ti := j*32\n\tIF b[i+31:i] > b[i+31:i]\n\t\tdst[i+31:i] := 0\n\tELSE\n\t\tdst[i+31:i] := a[i+31:i]\n\tFI\nENDFOR";
    let found = of(body);
    let b = |f: &Finding| matches!(f, Finding::NoEffect(n) | Finding::Unused(n) if n == "b");
    assert!(found.iter().any(b), "{found:?}");
}

#[test]
fn constant_results_are_found() {
    let body = "dst[127:0] := (a[127:0] XOR b[127:0]) AND 0";
    let found = of(body);
    assert!(found.contains(&Finding::Constant) || found.contains(&Finding::OneResult));
    assert!(of("dst[127:0] := 5").contains(&Finding::Constant));
}

#[test]
fn features_that_do_not_exist_are_found() {
    let mut sum = instruction("f", both(), true, SUM);
    sum.features.push("SSE9".to_owned());
    assert!(found(&sum).contains(&Finding::Feature("SSE9".to_owned())));
}

#[test]
fn immediates_that_do_not_fit_or_do_nothing_are_found() {
    let body = "dst[127:0] := a[127:0] << imm8[2:0]";
    let of = |max, width| {
        let operands = vec![register("a"), immediate(max, width)];
        found(&instruction("f", operands, true, body))
    };
    assert_eq!(of(7, 8), BTreeSet::new());
    let dead = Finding::NoEffectOfBit("imm8".to_owned(), 3);
    assert_eq!(of(15, 8), BTreeSet::from([dead]));
    assert!(of(511, 8).contains(&Finding::Immediate("imm8".to_owned())));
}

#[test]
fn what_is_no_operand_is_found() {
    let mut sum = instruction("f", both(), true, SUM);
    sum.operands[1].name = "c".to_owned();
    let found = found(&sum);
    assert!(
        found.contains(&Finding::Foreign("b".to_owned())),
        "{found:?}"
    );
    assert!(found.contains(&Finding::Unused("c".to_owned())));
}
