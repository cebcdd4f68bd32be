//! What is printed reads back as the same node; mistakes are told with their place.

use super::{TermFile, file, term};
use crate::build as b;
use crate::diagnostic::render;
use crate::eval::Input;
use crate::print;
use crate::sort::Sort;
use crate::span::{Source, Span};
use crate::term::Term;
use crate::testing::Terms;
use expect_test::expect;
use std::collections::BTreeMap;

fn inputs() -> BTreeMap<String, Sort> {
    Terms::inputs().into_iter().collect()
}

fn read(text: &str) -> Result<Term, String> {
    let source = Source::new("t", text);
    term(&source, Span::new(0, text.len()), &inputs()).map_err(|d| render(&d))
}

#[test]
fn random_terms_read_back() {
    let mut binders = 0;
    for seed in 0..60 {
        let mut terms = Terms::raw(seed);
        for _ in 0..40 {
            let t = terms.term();
            let (flat, broken) = (t.to_string(), format!("{t:#}"));
            binders += usize::from(flat.contains("(map") || flat.contains("(fold"));
            assert_eq!(read(&flat), Ok(t), "{flat}");
            assert_eq!(read(&broken), Ok(t), "{broken}");
        }
    }
    assert!(binders > 100, "only {binders} terms had binders");
}

#[test]
fn shared_subterms_are_written_once() {
    let mut t = Term::var("x8", Sort::Bv(8));
    for k in 0..60 {
        t = b::mul(b::add(t, Term::bv(8, k)), t);
    }
    let text = t.to_string();
    assert!(text.len() < 4000, "{} characters", text.len());
    assert_eq!(read(&text), Ok(t));
}

#[test]
fn deep_terms_do_not_nest_deeply() {
    let (x, y) = (Term::var("x8", Sort::Bv(8)), Term::var("y8", Sort::Bv(8)));
    let t = (0..2000).fold(x, |t, k| {
        if k % 2 == 0 {
            b::udiv(t, y)
        } else {
            b::sub(y, t)
        }
    });
    let text = t.to_string();
    let mut depth = 0;
    let deepest = text.chars().map(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth
    });
    assert!(deepest.max() < Some(100));
    assert_eq!(read(&text), Ok(t));
}

#[test]
fn sharing_stays_inside_the_binder_it_depends_on() {
    let x = Term::var("w64", Sort::Bv(64));
    let element = b::extract_at(x, b::int_mul(Term::index(), Term::int(8)), 8);
    let wide = b::sext(element, 16);
    let t = b::map(
        8,
        b::mul(
            wide,
            b::add(wide, b::zext(Term::var("y8", Sort::Bv(8)), 16)),
        ),
    );
    expect![[r#"(map 8 (i1) (let ((t0 (sext[16] (extract[8] w64 (imul i1 8))))) (bvmul (bvadd (zext[16] y8) t0) t0)))"#]]
    .assert_eq(&t.to_string());
    let fold = b::fold(
        3,
        Term::var("y8", Sort::Bv(8)),
        b::add(
            Term::bound(0, Sort::Bv(8)),
            b::extract_at(x, Term::bound(1, Sort::Int), 8),
        ),
    );
    expect!["(fold 3 (a1 i1) y8 (bvadd (extract[8] w64 i1) a1))"].assert_eq(&fold.to_string());
}

#[test]
fn odd_names_are_written_between_bars() {
    for name in [
        "i1",
        "a0",
        "t17",
        "two words",
        "true",
        "7up",
        "0x1:1",
        "-",
        "(",
        "i",
        "dst",
    ] {
        let t = b::not(Term::var(name, Sort::Bv(8)));
        let inputs = BTreeMap::from([(name.to_owned(), Sort::Bv(8))]);
        let text = t.to_string();
        let source = Source::new("t", text.as_str());
        let read = term(&source, Span::new(0, text.len()), &inputs);
        assert_eq!(read, Ok(t), "{text}");
    }
}

#[test]
fn files_read_back() {
    let mut terms = Terms::raw(77);
    let inputs: Vec<Input> = Terms::inputs()
        .into_iter()
        .map(|(name, sort)| Input { name, sort })
        .collect();
    let outputs: Vec<(String, Term)> = (0..20).map(|k| (format!("o{k}"), terms.term())).collect();
    let text = print::file(&inputs, &outputs);
    assert!(
        text.starts_with("isaforge-term 1\n(input b bool)\n"),
        "{text}"
    );
    let read = file(&Source::new("f", text.as_str()));
    assert_eq!(read, Ok(TermFile { inputs, outputs }));
}

#[test]
fn every_mistake_of_a_file_is_told() {
    let text = "isaforge-term 1
(input x bv8)
(input y bv0)
(input x bv9)
(output a (bvadd x (bvsubb x 0x1:8)))
(output b (bvadd x 0x100:8))
(output c (sext x))
(output d (map 0 (i) x))
(output e (let ((t (bvnot xx))) t))
(output f (bvadd x 1))
(output a x)
(stray)
";
    let errors = file(&Source::new("f", text)).expect_err("nearly everything is wrong");
    expect![[r#"
        error: `bv0` is no sort: there are bool, int, mem, and bv1 to bv1048576
         --> f:3:10
          |
        3 | (input y bv0)
          |          ^^^

        error: `x` is declared twice
         --> f:4:8
          |
        4 | (input x bv9)
          |        ^

        error: no operator is called `bvsubb`
         --> f:5:21
          |
        5 | (output a (bvadd x (bvsubb x 0x1:8)))
          |                     ^^^^^^
          = hint: did you mean `bvsub`?

        error: `0x100:8`: the number of digits does not fit the width
         --> f:6:20
          |
        6 | (output b (bvadd x 0x100:8))
          |                    ^^^^^^^

        error: `sext` is written `sext[width]`
         --> f:7:12
          |
        7 | (output c (sext x))
          |            ^^^^

        error: expected a count from 1 to 1048576
         --> f:8:16
          |
        8 | (output d (map 0 (i) x))
          |                ^

        error: `xx` is not known here
         --> f:9:27
          |
        9 | (output e (let ((t (bvnot xx))) t))
          |                           ^^
          = hint: did you mean `x`?

        error: in `bvadd`: expected bv8, found int
          --> f:10:11
           |
        10 | (output f (bvadd x 1))
           |           ^^^^^^^^^^^

        error: expected an input or an output
          --> f:12:1
           |
        12 | (stray)
           | ^^^^^^^
          = hint: items are `(input NAME SORT)` and `(output NAME TERM)`

    "#]]
    .assert_eq(&render(&errors));
}

#[test]
fn a_file_of_something_else_is_refused() {
    for text in ["", "isaforge-term 2\n", "(input x bv8)"] {
        let errors = file(&Source::new("f", text)).expect_err("the first line is wrong");
        assert_eq!(errors[0].message, "this is no file of terms");
    }
}

/// Texts with characters taken out, doubled or exchanged are read or refused, never a panic.
#[test]
fn damaged_texts_are_refused_in_peace() {
    let (mut read_anyway, mut refused) = (0, 0);
    for seed in 0..20 {
        let mut terms = Terms::raw(500 + seed);
        for _ in 0..30 {
            let mut text: Vec<char> = terms.term().to_string().chars().take(600).collect();
            for _ in 0..=terms.random.below(3) {
                let at = terms.random.below(text.len() as u64) as usize;
                let other = text[terms.random.below(text.len() as u64) as usize];
                match terms.random.below(3) {
                    0 if text.len() > 1 => drop(text.remove(at)),
                    1 => text.insert(at, other),
                    _ => text[at] = other,
                }
            }
            let text: String = text.into_iter().collect();
            match read(&text) {
                Ok(t) => {
                    read_anyway += 1;
                    assert_eq!(read(&t.to_string()), Ok(t));
                }
                Err(message) => {
                    refused += 1;
                    assert!(message.contains("error: "), "{message}");
                }
            }
        }
    }
    assert!(
        read_anyway > 5 && refused > 300,
        "{read_anyway} read, {refused} refused"
    );
}
