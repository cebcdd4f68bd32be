//! What was kept is what would be derived.

use super::{Kept, read, read_whole, write, write_whole};
use crate::candidates::{Candidate, Candidates, Equality};
use crate::library::{Base, Library, open};
use crate::sequence::Sequence;
use crate::tests::{candidates, machine, operation};
use crate::whole::WholeLibrary;
use autoir::instructions::Implementation;
use autoir::program::Instance;
use semantics::bits::Bits;
use semantics::build as b;
use semantics::instruction::Role;
use semantics::op::{Op, OpCode};
use semantics::sort::Sort;
use semantics::term::Term;
use std::collections::BTreeSet;
use store::object::{Key, Store};

/// Words moved down by a number in the code.
fn shift() -> (Instance, Implementation) {
    let (x, count) = (
        Term::var("a", Sort::Bv(256)),
        Term::var("count", Sort::Bv(8)),
    );
    let at = b::int_mul(Term::index(), Term::int(16));
    let down = Op::new(OpCode::BvLshr);
    let word = b::app(down, &[b::extract_at(x, at, 16), b::zext(count, 16)]);
    let operands = [("a", 256), ("count", 8)];
    let (mut instance, mut implementation) = operation("vpsrlw", &operands, b::map(16, word));
    let role = Role::Immediate { max: 255 };
    instance.formals[1].role = role;
    implementation.operands[1].role = role;
    (instance, implementation)
}

fn target(kept: Option<Kept>) -> Candidates {
    let mut all = machine();
    all.push(shift());
    candidates(all, kept)
}

/// Everything that a library says, for comparison.
fn told(library: &Library) -> String {
    let mut index: Vec<String> = library.index.iter().map(|e| format!("{e:?}")).collect();
    index.sort();
    format!("{:?} {index:?}", library.ops)
}

#[test]
fn a_base_reads_back_and_its_open_functions_too() {
    let plain = target(None);
    let base = Base::new(&plain, 16);
    let text = write(&base.0, &open(&plain, 16));
    let other = target(None);
    let again = read(&text, &other).expect("what was written");
    assert_eq!(format!("{again:?}"), format!("{:?}", &base.0[..]));
    let numbers = BTreeSet::from([3, 7]);
    let own = Library::new(&plain, 16, &numbers);
    let kept = Library::new(&other, 16, &numbers);
    assert_eq!(told(&kept), told(&own));
    assert!(told(&own).contains("vpsrlw") && own.ops.len() > base.0.len());
}

#[test]
fn text_of_other_operations_is_not_understood() {
    let all = target(None);
    let text = write(&Base::new(&all, 16).0, &open(&all, 16));
    let fewer = candidates(machine()[..3].to_vec(), None);
    assert!(read(&text, &fewer).is_none());
    assert!(read(&text.replace("\no ", "\no x"), &all).is_none());
    let whole = write_whole(&WholeLibrary::new(&all, 256));
    assert!(!whole.is_empty() && read_whole(&whole, &fewer).is_none());
}

#[test]
fn registers_read_back() {
    let all = target(None);
    let library = WholeLibrary::new(&all, 256);
    let text = write_whole(&library);
    let again = read_whole(&text, &all).expect("what was written");
    assert_eq!(write_whole(&again), text);
    assert!(text.contains("x1 0x03:8"), "{text}");
}

#[test]
fn what_a_store_has_is_not_derived_again_and_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::at(folder.path());
    let kept = || Some(Kept::new(&store, Key::of(["a machine"])));
    let numbers = BTreeSet::from([5]);
    let first = told(&target(kept()).lane_library(16, &numbers));
    let again = told(&target(kept()).lane_library(16, &numbers));
    assert_eq!(first, again);
    assert_eq!(first, told(&target(None).lane_library(16, &numbers)));
    assert_eq!(
        std::fs::read_dir(folder.path().join("lanes"))
            .expect("it was left")
            .count(),
        1
    );
}

#[test]
fn an_equality_is_asked_once_and_what_nobody_could_say_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::at(folder.path());
    let [x, y] = ["@0", "@1"].map(|name| Term::var(name, Sort::Bv(8)));
    let ask = |given: Option<Equality>| {
        let kept = Kept::new(&store, Key::of(["a machine"]));
        let equality = kept.equality(x, y, || given.expect("it is known"));
        format!("{equality:?}")
    };
    assert_eq!(ask(Some(Equality::Unknown)), "Unknown");
    let differs = Equality::Differs(Some("@0 = 1, @1 = 2".to_owned()));
    let first = ask(Some(differs));
    assert_eq!(first, ask(None));
}

#[test]
fn sequences_read_back_and_what_is_none_is_refused() {
    let all = target(None);
    let candidate = |c: &Candidate| {
        let operands = &c.instance.formals;
        let registers = operands
            .iter()
            .all(|o| o.role == Role::Register && o.width == c.width);
        registers && operands.len() == 2
    };
    let operation = all
        .list
        .iter()
        .position(candidate)
        .expect("of two registers");
    let width = all.list[operation].width;
    let ones = Bits::ones(width);
    let line = format!("63 1;input {width};constant {ones};apply {operation} 0 1");
    let sequence = Sequence::read(&line, &all).expect("a sequence");
    assert_eq!(sequence.write().as_deref(), Some(&line[..]));
    for (old, new) in [
        ("63 1", "63 2"),
        ("63 1", "63 0"),
        ("63 1", "63"),
        (";apply", ";apply 99999"),
        (" 0 1", " 0 2"),
        (" 0 1", " 0"),
        (" 0 1", " 0 1 1"),
        (" 0 1", " 0 0x1:8"),
        (";input", ";inputs"),
        (&format!("input {width}"), "input 24"),
        (&format!(":{width}"), ":8"),
    ] {
        let wrong = line.replacen(old, new, 1);
        assert!(Sequence::read(&wrong, &all).is_none(), "{wrong}");
    }
}

#[test]
fn a_sequence_is_found_once_and_that_there_is_none_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::at(folder.path());
    let all = target(None);
    let ask = |question: &str, given: Option<Option<Sequence>>| {
        let kept = Kept::new(&store, Key::of(["a machine"]));
        let found = kept.sequence(&all, &[question.to_owned()], || given.clone());
        let again = kept.sequence(&all, &[question.to_owned()], || None);
        [found, again].map(|found| found.map(|s| s.and_then(|s| s.write())))
    };
    let line = "5 1;input 256;cast 0 128".to_owned();
    let sequence = Sequence::read(&line, &all);
    assert!(sequence.is_some());
    assert_eq!(
        ask("one", Some(sequence)),
        [Some(Some(line.clone())), Some(Some(line))]
    );
    assert_eq!(ask("none", Some(None)), [Some(None), Some(None)]);
    assert_eq!(ask("stopped", None), [None, None]);
}
