//! Dictionaries: built from classes, written, read, proved again.

use autoir::build::build;
use autoir::contrast::contrast;
use autoir::dictionary::{Dictionary, Evidence};
use autoir::graph::{self, Proof};
use autoir::verify::{Finding, verify};
use semantics::build as b;
use semantics::diagnostic::render;
use semantics::instruction::{Element, Form, Instruction, Operand, Origin, Output, Role};
use semantics::sort::Sort;
use semantics::span::Source;
use semantics::term::Term;
use similarity::classify::classify;
use smt::config::Config;
use smt::prover::Prover;

fn operand(name: &str, width: u32) -> Operand {
    Operand {
        name: name.to_owned(),
        c_type: "reg *".to_owned(),
        element: Element::Unsigned(8),
        width,
        role: Role::Register,
    }
}

fn instruction(name: &str, width: u32, term: Term) -> Instruction {
    Instruction {
        name: name.to_owned(),
        isa: "test".to_owned(),
        mnemonic: Some("op r, r".to_owned()),
        operands: vec![operand("a", width), operand("b", width)],
        outputs: vec![Output {
            name: "dst".to_owned(),
            c_type: "reg".to_owned(),
            element: Element::Unsigned(8),
            term,
            undefined: vec![(4, 8)],
        }],
        features: vec!["F1".to_owned(), "F2".to_owned()],
        form: Form::Single,
        pseudocode: String::new(),
        origin: Origin::default(),
    }
}

/// An element-wise operation on both operands.
fn each(width: u32, w: u32, f: fn(Term, Term) -> Term) -> Term {
    let at = |name: &str| {
        let offset = b::int_mul(Term::index(), Term::int(i64::from(w)));
        b::extract_at(Term::var(name, Sort::Bv(width)), offset, w)
    };
    b::map(width / w, f(at("a"), at("b")))
}

fn average(x: Term, y: Term) -> Term {
    let w = x.width();
    let sum = b::add(b::zext(x, w + 1), b::zext(y, w + 1));
    b::extract(b::add(sum, Term::bv(w + 1, 1)), 1, w)
}

fn subtract_saturating(x: Term, y: Term) -> Term {
    let w = x.width();
    b::sat_su(b::sub(b::zext(x, w + 1), b::zext(y, w + 1)), w)
}

fn instructions() -> Vec<Instruction> {
    vec![
        instruction("add_8", 128, each(128, 8, b::add)),
        instruction("add_16", 512, each(512, 16, b::add)),
        instruction("add_32", 512, each(512, 32, b::add)),
        instruction("avg_8", 128, each(128, 8, average)),
        instruction("avg_16", 512, each(512, 16, average)),
        instruction("subs_8", 128, each(128, 8, subtract_saturating)),
        instruction("subs_16", 512, each(512, 16, subtract_saturating)),
    ]
}

fn dictionary() -> Dictionary {
    let all = instructions();
    let prover = Prover::new(Config::default());
    build(&classify(&all, &prover, &|_, _, _| {}), &all)
}

#[test]
fn operations_are_named_by_what_they_compute() {
    let dictionary = dictionary();
    let lines: Vec<String> = dictionary
        .operations
        .iter()
        .map(|o| format!("{}({}): {}", o.name, o.parameters.join(", "), o.formula))
        .collect();
    expect_test::expect![[r#"
        add(width, count): i < count: dst[i] = a[i] + b[i]
        average_round(width, count): i < count: dst[i] = ((zext<width + 1>(a[i]) + zext<width + 1>(b[i])) + 1)[1 +: width]
        sub_sat(width, count): i < count: dst[i] = sat_su<width>(zext<width + 1>(a[i]) - zext<width + 1>(b[i]))"#]]
    .assert_eq(&lines.join("\n"));
}

#[test]
fn what_is_written_reads_back() {
    let dictionary = dictionary();
    let text = dictionary.to_string();
    let back = Dictionary::read(&Source::new("d", text.clone()));
    let back = back.unwrap_or_else(|e| panic!("{}", render(&e)));
    assert_eq!(back, dictionary);
    assert_eq!(back.to_string(), text);
}

#[test]
fn a_member_means_what_its_instruction_means() {
    let dictionary = dictionary();
    let prover = Prover::new(Config::default());
    for i in instructions() {
        let (operation, member) = dictionary.member(&i.name).expect("it was classified");
        let term = member.term(operation).expect("it has a meaning");
        assert!(prover.prove_equal(term, i.term()).is_proved());
    }
}

#[test]
fn a_file_that_was_cut_off_is_refused() {
    let text = dictionary().to_string();
    for end in [text.len() / 2, text.len() - 9] {
        let cut = Source::new("d", &text[..end]);
        let found = Dictionary::read(&cut).expect_err("it is not whole");
        assert!(found.iter().all(|d| d.place.is_some()));
    }
    let whole_items = text.rfind("(end").expect("it ends");
    let found = Dictionary::read(&Source::new("d", &text[..whole_items]));
    let message = render(&found.expect_err("it has no end"));
    assert!(
        message.contains("the dictionary is not complete"),
        "{message}"
    );
    let more = format!("{text}and more\n");
    let found = Dictionary::read(&Source::new("d", more)).expect_err("it goes on");
    let message = render(&found);
    assert!(message.contains("has ended before this"), "{message}");
    assert!(!message.contains("cut off"), "{message}");
}

/// Every word of a dictionary in turn becomes one that would be code where names are written
/// as they are.
#[test]
fn names_that_are_none_are_refused() {
    let text = dictionary().to_string();
    let hostile = "|f(); system(0); //|";
    let mut refused = 0;
    for word in [
        "add",
        "width",
        "a",
        "add_8",
        "test",
        "|op r, r|",
        "F1",
        "|reg *|",
        "dst",
        "reg",
    ] {
        let mut from = 0;
        while let Some(at) = text[from..].find(word).map(|n| from + n) {
            from = at + word.len();
            let around = [&text[at - 1..at], &text[from..from + 1]];
            if !around.iter().all(|c| [" ", "\n", ")", "("].contains(c)) {
                continue;
            }
            let changed = format!("{}{hostile}{}", &text[..at], &text[from..]);
            match Dictionary::read(&Source::new("d", changed)) {
                Err(_) => refused += 1,
                // A word that binds, or free text.
                Ok(read) => {
                    let names = read.members().flat_map(|(o, m)| {
                        let operands = m.operands.iter().flat_map(|o| [&o.name, &o.c_type]);
                        let own = [&o.name, &m.name, &m.isa].into_iter();
                        let all = own.chain(&o.parameters).chain(&o.arguments);
                        let outputs = m.outputs.iter().flat_map(|o| [&o.name, &o.c_type]);
                        let words = m.features.iter().chain(&m.mnemonic);
                        all.chain(operands)
                            .chain(outputs)
                            .chain(words)
                            .collect::<Vec<_>>()
                    });
                    assert!(
                        names.into_iter().all(|n| !n.contains("system")),
                        "{word} at {at}"
                    );
                }
            }
        }
    }
    assert!(refused > 50, "{refused}");
}

#[test]
fn a_file_of_another_version_is_refused() {
    let text = dictionary()
        .to_string()
        .replacen("dictionary 1", "dictionary 7", 1);
    let found = Dictionary::read(&Source::new("d", text)).expect_err("another version");
    expect_test::expect![[r#"
        error: this is a dictionary of another version
         --> d:1:1
          |
        1 | isaforge-dictionary 7
          | ^^^^^^^^^^^^^^^^^^^^^
          = hint: the first line must be `isaforge-dictionary 1`

    "#]]
    .assert_eq(&render(&found));
}

#[test]
fn verification_believes_nothing() {
    let mut dictionary = dictionary();
    let prover = Prover::new(Config::default());
    let all = instructions();
    let good = verify(&dictionary, &all, &prover, &|| ());
    assert!(good.iter().all(|c| matches!(c.finding, Finding::Proved(_))));
    let average = dictionary.operations[1].members.remove(0);
    dictionary.operations[0].members.push(average);
    dictionary.operations[2].members[0].values = vec![3, 1];
    dictionary.operations[2].members[1].name = "unheard".to_owned();
    let narrow = dictionary.operations[0].members[0].values[1] / 2;
    dictionary.operations[0].members[0].values[1] = narrow;
    let bad = verify(&dictionary, &all, &prover, &|| ());
    let count = |f: fn(&Finding) -> bool| bad.iter().filter(|c| f(&c.finding)).count();
    assert_eq!(count(|f| matches!(f, Finding::Different(_))), 1);
    assert_eq!(count(|f| matches!(f, Finding::Missing)), 1);
    let unproved = |f: &Finding| matches!(f, Finding::Unknown(_) | Finding::NoMeaning(_));
    assert_eq!(count(unproved), 2, "{bad:?}");
    let sorts = Finding::NoMeaning("a result of bv256, not bv512".to_owned());
    assert!(bad.iter().any(|c| c.finding == sorts), "{bad:?}");
}

#[test]
fn operations_part_at_a_subterm() {
    let dictionary = dictionary();
    let [add, average, subtract] = &dictionary.operations[..] else {
        panic!("there are three operations");
    };
    let log = |a, b| contrast(a, b).map(|c| c.to_string());
    assert_eq!(log(add, add), None);
    expect_test::expect!["`bvadd` against a slice, inside elements"]
        .assert_eq(&log(add, average).expect("they differ"));
    expect_test::expect!["`bvadd` against `saturate`, inside elements"]
        .assert_eq(&log(add, subtract).expect("they differ"));
}

#[test]
fn the_graph_has_an_edge_for_each_member() {
    let dictionary = dictionary();
    let graph = graph::graph(&dictionary);
    assert_eq!((graph.node_count(), graph.edge_count()), (3 + 7, 7));
    let dot = graph::dot(&graph);
    assert_eq!(dot.matches(" -- ").count(), 7);
    assert!(dot.contains("label=\"average_round\""), "{dot}");
    let svg = graph::svg(&graph);
    assert_eq!(svg.matches("<line ").count(), 7);
    assert!(svg.contains("i &lt; count"), "names and formulas are XML");
    assert!(svg.contains("7 members of 3 classes"), "{svg}");
}

#[test]
fn the_hardest_step_settles() {
    let hardest = |text: &str| {
        let evidence = Evidence::read(text).expect("it is evidence");
        assert_eq!(evidence.to_string(), text);
        Proof::hardest(&evidence)
    };
    assert_eq!(hardest(""), Proof::Identical);
    assert_eq!(hardest("identical (16)"), Proof::Identical);
    assert_eq!(hardest("identical (1), normal form (2)"), Proof::NormalForm);
    let both = "normal form (2); identical (1), embedded SAT (4)";
    assert_eq!(hardest(both), Proof::Embedded);
    let exhaustive = "normal form (2), every input (3)";
    assert_eq!(hardest(exhaustive), Proof::Embedded);
    let solver = "Z3 version 4.15.1 - 64 bit (3); identical (1)";
    assert_eq!(hardest(solver), Proof::Solver);
    for wrong in ["identical", "identical (x)", "(3)", "identical (1);", " "] {
        assert_eq!(Evidence::read(wrong), None, "{wrong}");
    }
}
