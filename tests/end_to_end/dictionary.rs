//! Dictionaries: made, drawn, explained, proved again, and tampered with.

use super::{folder, isaforge, shown};
use std::path::Path;
use test_support::need;

/// Runs a command on the small specifications.
fn run(arguments: &[&str], at: &Path) -> (Option<i32>, String) {
    let specs = folder().join("bad_input/specs_small");
    let specs = specs.to_str().expect("ASCII");
    let more = ["--isa-specs", specs];
    let output = isaforge(&[arguments, &more].concat(), at);
    (output.status.code(), shown(&output))
}

#[test]
fn a_dictionary_is_proved_again_and_a_wrong_one_refused() {
    let place = tempfile::tempdir().expect("there is room");
    let (code, text) = run(&["build", "--output", "."], place.path());
    assert_eq!(code, Some(0), "{text}");
    let file = place.path().join("x86.dictionary");
    let (code, text) = run(&["verify", "--dictionary", "x86.dictionary"], place.path());
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("        0  wrong"), "{text}");
    // One operator changed: the member says otherwise, and an input shows it.
    let good = std::fs::read_to_string(&file).expect("it was written");
    let bad = good.replacen("(apply bvadd ", "(apply bvsub ", 1);
    assert_ne!(good, bad);
    std::fs::write(&file, bad).expect("there is room");
    let (code, text) = run(&["verify", "--dictionary", "x86.dictionary"], place.path());
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("another meaning, such as for"), "{text}");
}

#[test]
fn members_are_proved_as_they_stand_and_a_wrong_one_refused() {
    let z3 = need!(toolchain::find::z3());
    let z3 = z3.to_str().expect("ASCII");
    let place = tempfile::tempdir().expect("there is room");
    let (code, text) = run(&["build", "--output", "."], place.path());
    assert_eq!(code, Some(0), "{text}");
    let file = place.path().join("x86.dictionary");
    let ask = [
        "verify",
        "--independent",
        "--dictionary",
        "x86.dictionary",
        "--solver",
    ];
    let (code, text) = run(&[&ask[..], &[z3]].concat(), place.path());
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("        0  without an answer"), "{text}");
    // What is not asked is not proved.
    let late = [z3, "--stop-after", "0.000001"];
    let (code, text) = run(&[&ask[..], &late].concat(), place.path());
    assert_eq!(code, Some(3), "{text}");
    // No solver outside this program, no answer.
    let (code, text) = run(&[&ask[..], &["embedded"]].concat(), place.path());
    assert_eq!(code, Some(1), "{text}");
    let good = std::fs::read_to_string(&file).expect("it was written");
    let bad = good.replacen("(apply bvadd ", "(apply bvsub ", 1);
    assert_ne!(good, bad);
    std::fs::write(&file, bad).expect("there is room");
    let (code, text) = run(&[&ask[..], &[z3]].concat(), place.path());
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("another meaning, such as for"), "{text}");
}

#[test]
fn rewrites_are_a_table_and_none_is_wrong() {
    let z3 = need!(toolchain::find::z3());
    let z3 = z3.to_str().expect("ASCII");
    let few = ["--widths", "1"];
    let table = isaforge(
        &[&["verify", "--rules", "--solver", z3], &few[..]].concat(),
        &folder(),
    );
    let text = shown(&table);
    // One bit has no shifts and no chains: what nothing uses is not known to hold.
    assert_eq!(table.status.code(), Some(2), "{text}");
    assert!(text.contains("        0  wrong"), "{text}");
    assert!(text.contains("        0  not known to hold"), "{text}");
    for name in [
        "constructors: ChoiceByNot:",
        "normal forms: Product:",
        "definitions: sat_us:",
    ] {
        assert!(text.contains(name), "{text}");
    }
    assert!(
        text.contains("canonical forms: choice_is_minimum:"),
        "{text}"
    );
}

#[test]
fn a_dictionary_names_its_instruction_sets() {
    let place = tempfile::tempdir().expect("there is room");
    let run = |arguments: &[&str]| {
        let output = isaforge(arguments, place.path());
        assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
        shown(&output)
    };
    run(&["build", "--isa", "rvm,gemmini", "--output", "."]);
    let text = run(&["verify", "--dictionary", "rvm,gemmini.dictionary"]);
    assert!(text.contains("        0  wrong"), "{text}");
}

#[test]
fn classes_are_drawn_in_two_forms() {
    let place = tempfile::tempdir().expect("there is room");
    for (name, start) in [("g.svg", "<svg "), ("g.dot", "graph evidence {")] {
        let (code, text) = run(&["classes", "--graph", name], place.path());
        assert_eq!(code, Some(0), "{text}");
        let drawn = std::fs::read_to_string(place.path().join(name)).expect("it was drawn");
        assert!(drawn.starts_with(start), "{drawn}");
    }
    let (code, text) = run(&["classes", "--graph", "g.png"], place.path());
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("neither `.svg` nor `.dot`"), "{text}");
}

#[test]
fn two_instructions_are_explained() {
    let explain = |a, b| {
        let output = isaforge(&["explain", a, b], &folder());
        assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
        shown(&output)
    };
    let together = explain("_mm512_adds_epi16", "_mm_adds_epu8");
    assert!(together.contains("Both are add_sat"), "{together}");
    assert!(together.contains("signed"), "{together}");
    let apart = explain("_mm512_add_epi32", "_mm512_sub_epi32");
    assert!(apart.contains("The classes part at: `bvadd` against `bvsub`"));
    assert!(apart.contains("They mean different things, such as for"));
}
