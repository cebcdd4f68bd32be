//! Tests of the comparison with a vendor's text: equal, different, not comparable.

use super::{Answer, compare};
use crate::check::testing::{instruction, operand, register};
use semantics::instruction::{Element, Instruction, Role};
use smt::config::Config;
use smt::prover::Prover;

const SUM: &str = "FOR j := 0 to 3\n\ti := j*32\n\tdst[i+31:i] := a[i+31:i] + b[i+31:i]\nENDFOR";

fn shift(name: &str, width: u32, max: u32, body: &str) -> Instruction {
    let role = Role::Immediate { max };
    let immediate = operand("imm8", "int", Element::Untyped, width, role);
    instruction(name, vec![register("a"), immediate], true, body)
}

fn answer(ours: &Instruction, theirs: &Instruction) -> Answer {
    let prover = Prover::new(Config::default());
    let theirs = std::slice::from_ref(theirs);
    let comparison = compare(&[ours], theirs, &prover, &|_| ());
    comparison.answers[&ours.name].2.clone()
}

#[test]
fn names_of_operands_do_not_matter() {
    let ours = instruction("f", vec![register("a"), register("b")], true, SUM);
    let body = SUM.replace("a[", "x[").replace("b[", "y[");
    let theirs = instruction("f", vec![register("x"), register("y")], true, &body);
    assert_eq!(answer(&ours, &theirs), Answer::Proved);
    let swapped = instruction(
        "f",
        vec![register("y"), register("x")],
        true,
        &body.replace(" + ", " - "),
    );
    assert!(matches!(answer(&ours, &swapped), Answer::Different(_)));
}

#[test]
fn a_difference_comes_with_an_input() {
    let ours = instruction("f", vec![register("a"), register("b")], true, SUM);
    let body = format!("{SUM}\ndst[127:96] := a[127:96] - b[127:96]");
    let theirs = instruction("f", vec![register("a"), register("b")], true, &body);
    let Answer::Different(values) = answer(&ours, &theirs) else {
        panic!("they differ");
    };
    let value = |name: &str| &values.iter().find(|(n, _)| n == name).expect("shown").1;
    assert_ne!(value("ours"), value("theirs"));
}

#[test]
fn only_values_that_an_immediate_may_have_count() {
    let narrow = "dst[127:0] := a[127:0] << imm8[2:0]";
    let wide = "dst[127:0] := a[127:0] << imm8[7:0]";
    let theirs = shift("f", 8, 255, wide);
    assert_eq!(answer(&shift("f", 32, 7, narrow), &theirs), Answer::Proved);
    let answer = answer(&shift("f", 32, 15, narrow), &theirs);
    assert!(matches!(answer, Answer::Different(_)));
}

#[test]
fn other_signatures_are_not_compared() {
    let ours = instruction("f", vec![register("a"), register("b")], true, SUM);
    let theirs = shift("f", 8, 7, "dst[127:0] := a[127:0] << imm8[2:0]");
    assert!(matches!(answer(&ours, &theirs), Answer::Signature(_)));
    let other = instruction("g", vec![register("a"), register("b")], true, SUM);
    assert_eq!(answer(&ours, &other), Answer::Absent);
}
