//! Cached candidates are those that would be found anew, and text that is something else is
//! nothing.

use super::{CanonicalCache, key};
use crate::classify::{classify, classify_cached};
use crate::shard::Proofs;
use semantics::build as b;
use semantics::digest::Digests;
use semantics::instruction::{Element, Form, Instruction, Operand, Origin, Output, Role};
use semantics::sort::Sort;
use semantics::term::Term;
use smt::config::Config;
use smt::prover::Prover;

/// Lanes of something of two registers, kept where the bit of a mask is not set.
fn instruction(name: &str, w: u32, masked: bool, f: fn(Term, Term) -> Term) -> Instruction {
    let n = 256 / w;
    let part = |name: &str, w: u32| {
        let total = w * n;
        let lo = b::int_mul(Term::index(), Term::int(i64::from(w)));
        b::extract_at(Term::var(name, Sort::Bv(total)), lo, w)
    };
    let computed = f(part("a", w), part("b", w));
    let element = match masked {
        true => b::ite(
            b::eq(part("k", 1), Term::bv(1, 1)),
            computed,
            part("src", w),
        ),
        false => computed,
    };
    let operand = |(name, width, role): (&str, u32, Role)| Operand {
        name: name.to_owned(),
        c_type: "reg".to_owned(),
        element: Element::Untyped,
        width,
        role,
    };
    let masks = [("src", 256, Role::Register), ("k", n, Role::Mask)];
    let registers = [("a", 256, Role::Register), ("b", 256, Role::Register)];
    let operands = masks.into_iter().filter(|_| masked).chain(registers);
    Instruction {
        name: name.to_owned(),
        isa: "test".to_owned(),
        mnemonic: None,
        operands: operands.map(operand).collect(),
        outputs: vec![Output {
            name: "dst".to_owned(),
            c_type: "reg".to_owned(),
            element: Element::Untyped,
            term: b::map(n, element),
            undefined: Vec::new(),
        }],
        features: Vec::new(),
        form: Form::Single,
        pseudocode: String::new(),
        origin: Origin::default(),
    }
}

fn instructions() -> Vec<Instruction> {
    let mut all = Vec::new();
    for w in [8, 16, 32] {
        all.push(instruction(&format!("add_{w}"), w, false, b::add));
        all.push(instruction(&format!("sub_{w}"), w, false, b::sub));
        all.push(instruction(&format!("mask_add_{w}"), w, true, b::add));
        // As a sum it is read in another way, and joins on the inputs.
        all.push(instruction(&format!("minus_{w}"), w, false, |x, y| {
            b::not(b::add(b::not(x), y))
        }));
    }
    all
}

#[test]
fn what_is_kept_changes_nothing() {
    let prover = Prover::new(Config::default());
    let all = instructions();
    let cold = classify(&all, &prover, &|_, _, _| {});
    // Everything but one shape is kept, as when a family is added.
    let first = CanonicalCache::default();
    let some: Vec<Instruction> = all
        .iter()
        .filter(|i| !i.name.starts_with("sub") && i.name != "add_16")
        .cloned()
        .collect();
    classify_cached(&some, &prover, &first, &Proofs::default(), &|_, _, _| {});
    let text = first.text().expect("all of it is new");
    let again = CanonicalCache::read(&text).expect("it is whole");
    let found = classify_cached(&all, &prover, &again, &Proofs::default(), &|_, _, _| {});
    assert_eq!(found.classes, cold.classes);
    assert_eq!(
        (found.report.read, found.report.joined),
        (4, cold.report.joined)
    );
    let last = CanonicalCache::read(&again.text().expect("some is new")).expect("it is whole");
    let warm = classify_cached(&all, &prover, &last, &Proofs::default(), &|_, _, _| {});
    assert_eq!(warm.classes, cold.classes);
    assert_eq!((warm.report.read, last.text()), (0, None));
}

#[test]
fn candidates_come_back_as_they_were() {
    let prover = Prover::new(Config::default());
    let (all, first) = (instructions(), CanonicalCache::default());
    classify_cached(&all, &prover, &first, &Proofs::default(), &|_, _, _| {});
    let again = CanonicalCache::read(&first.text().expect("new")).expect("it is whole");
    let fresh = first.fresh.into_inner().expect("nobody failed");
    for instruction in &all {
        let meaning = [Digests::default().of(instruction.outputs[0].term)];
        let key = key(instruction, &meaning);
        assert_eq!(again.get(key).as_ref(), fresh.get(&key));
        assert!(again.get(key).is_some(), "{}", instruction.name);
        // Another role of an operand is another reading.
        let mut other = instruction.clone();
        other.operands[0].role = Role::Mask;
        assert_eq!(again.get(super::key(&other, &meaning)), None);
    }
}

#[test]
fn what_is_no_text_of_candidates_is_nothing() {
    let prover = Prover::new(Config::default());
    let first = CanonicalCache::default();
    classify_cached(
        &instructions(),
        &prover,
        &first,
        &Proofs::default(),
        &|_, _, _| {},
    );
    let text = first.text().expect("new");
    let wrong = [
        "",
        "x\n",
        "2\nff width\n",
        "1\nff no-role\n",
        "0\nnonsense\n",
    ];
    assert!(
        wrong
            .iter()
            .all(|text| CanonicalCache::read(text).is_none())
    );
    // A line that names what is not there is not believed, whatever else is.
    let layouts: usize = text
        .lines()
        .next()
        .and_then(|n| n.parse().ok())
        .expect("a count");
    let bare: Vec<&str> = text.lines().skip(1 + layouts).collect();
    let bare =
        CanonicalCache::read(&format!("0\n{}\n", bare.join("\n"))).expect("lines are read late");
    for key in bare.known.keys() {
        assert_eq!(bare.get(*key), None);
    }
}
