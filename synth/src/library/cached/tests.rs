//! What was kept is what would be derived.

use super::{LibraryCache, read, read_whole, write, write_whole};
use crate::candidates::{Candidate, Candidates, Equality};
use crate::library::{Base, Library, open};
use crate::sequence::Sequence;
use crate::tests::{candidates, machine, operation};
use crate::whole::WholeLibrary;
use autoir::instructions::Implementation;
use autoir::program::{Instance, Node, Program};
use semantics::build as b;
use semantics::instruction::Role;
use semantics::op::{Op, OpCode};
use semantics::sort::Sort;
use semantics::term::Term;
use std::collections::BTreeSet;
use std::sync::Arc;
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

fn target(cached: Option<LibraryCache>) -> Candidates {
    let mut all = machine();
    all.push(shift());
    candidates(all, cached)
}

/// Everything that a library says, for comparison.
fn reported(library: &Library) -> String {
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
    let cached = Library::new(&other, 16, &numbers);
    assert_eq!(reported(&cached), reported(&own));
    assert!(reported(&own).contains("vpsrlw") && own.ops.len() > base.0.len());
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
    let cached = || Some(LibraryCache::new(&store, Key::of(["a machine"])));
    let numbers = BTreeSet::from([5]);
    let first = reported(&target(cached()).lane_library(16, &numbers));
    let again = reported(&target(cached()).lane_library(16, &numbers));
    assert_eq!(first, again);
    assert_eq!(first, reported(&target(None).lane_library(16, &numbers)));
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
        let cached = LibraryCache::new(&store, Key::of(["a machine"]));
        let equality = cached.equality(x, y, || given.expect("it is known"));
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
    let number = all
        .list
        .iter()
        .position(candidate)
        .expect("of two registers");
    let (name, width) = (&all.list[number].instance.operation, all.list[number].width);
    let ones = "f".repeat(width as usize / 4);
    let line = format!(
        "63 (program sequence (input v0 operand0 0 {width}) (constant v1 {width}:{ones}) \
         (apply v2 {name} () v0 v1) (return v2) )"
    );
    let sequence = Sequence::read(&line, &all).expect("a sequence");
    let again = Sequence::read(&sequence.write(), &all).expect("what was written");
    assert_eq!((again.write(), again.cost), (sequence.write(), 63));
    let mut graph = Program::over(Arc::clone(&all.instances));
    let mut input = |width| {
        let name = format!("a{width}");
        graph.add(Node::Input { name, lo: 0, width })
    };
    let (fits, other) = (input(width), input(width / 2));
    let placed = sequence.placed(&mut graph, &[fits]).expect("its widths");
    let is = |node: &Node| matches!(node, Node::Apply { operation, .. } if *operation == number);
    assert!(is(graph.node(placed)));
    assert_eq!(sequence.placed(&mut graph, &[other]), None);
    assert_eq!(sequence.placed(&mut graph, &[]), None);
    for (old, new) in [
        ("63 ", "many "),
        ("63 ", ""),
        (&format!("apply v2 {name} ()"), "apply v2 nothing ()"),
        (" () ", " (1) "),
        ("v0 v1)", "v0 v2)"),
        ("v0 v1)", "v0)"),
        ("v0 v1)", "v0 v1 v1)"),
        ("v0 v1)", "v0 8:1)"),
        ("(input", "(inputs"),
        (&format!("constant v1 {width}:"), "constant v1 8:"),
        ("(return v2)", "(return v0 v2)"),
        ("(return v2)", ""),
    ] {
        let wrong = line.replacen(old, new, 1);
        assert!(
            wrong != line && Sequence::read(&wrong, &all).is_none(),
            "{wrong}"
        );
    }
}

#[test]
fn a_sequence_is_found_once_and_that_there_is_none_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::at(folder.path());
    let all = target(None);
    let ask = |question: &str, given: Option<Option<Sequence>>| {
        let cached = LibraryCache::new(&store, Key::of(["a machine"]));
        let found = cached.sequence(&all, &[question.to_owned()], || given.clone());
        let again = cached.sequence(&all, &[question.to_owned()], || None);
        [found, again].map(|found| found.map(|s| s.map(|s| s.write())))
    };
    let line = "5 (program sequence (input v0 operand0 0 256) (cast v1 v0 128) (return v1))";
    let sequence = Sequence::read(line, &all);
    let line = sequence.as_ref().expect("a sequence").write();
    assert_eq!(
        ask("one", Some(sequence)),
        [Some(Some(line.clone())), Some(Some(line))]
    );
    assert_eq!(ask("none", Some(None)), [Some(None), Some(None)]);
    assert_eq!(ask("stopped", None), [None, None]);
}
