//! Reading and refusing S-expressions.

use super::{Shape, read};
use crate::diagnostic::render;
use crate::span::{Source, Span};

fn source(text: &str) -> (Source, Span) {
    (Source::new("s", text), Span::new(0, text.len()))
}

#[test]
fn lists_nest_and_comments_go() {
    let (s, all) = source("; head\n(a (b |odd name|) ; tail (\n -3)\nc");
    let read = read(&s, all).expect("brackets pair");
    assert_eq!(read.len(), 2);
    let members = read[0].form("a").expect("a list headed by `a`");
    assert_eq!(members[0].form("b").map(<[_]>::len), Some(1));
    assert_eq!(
        members[0].list().expect("a list")[1].shape,
        Shape::Quoted("odd name".into())
    );
    assert_eq!(members[1].atom(), Some("-3"));
    assert_eq!(s.slice(members[0].span), "(b |odd name|)");
    assert_eq!(s.slice(read[1].span), "c");
}

#[test]
fn every_unpaired_bracket_is_told() {
    let (s, all) = source("a))\n(b (c\n|open");
    let errors = read(&s, all).expect_err("nothing pairs");
    assert_eq!(errors.len(), 5, "{}", render(&errors));
}

#[test]
fn deep_nesting_does_not_exhaust_the_stack() {
    let text = "(".repeat(100_000) + &")".repeat(100_000);
    let (s, all) = source(&text);
    let errors = read(&s, all).expect_err("far too deep");
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].message, "lists may nest 400 deep");
}

#[test]
fn a_range_of_a_larger_text_keeps_its_places() {
    let (s, _) = source("key: (x y)\n");
    let read = read(&s, Span::new(5, 10)).expect("brackets pair");
    assert_eq!(read[0].span, Span::new(5, 10));
}

#[test]
fn words_and_names_end_where_they_should() {
    let (s, all) = source("é|ü;(|x\u{a0}y||| ;(\r\n|z|(|");
    let words = |text: &str| {
        let (s, all) = source(text);
        let read = read(&s, all).expect("all is closed");
        read.into_iter().map(|one| one.shape).collect::<Vec<_>>()
    };
    let atom = |word: &str| Shape::Atom(word.to_owned());
    let quoted = |word: &str| Shape::Quoted(word.to_owned());
    let expected = [atom("é"), quoted("ü;("), atom("x\u{a0}y"), quoted("")];
    assert_eq!(words("é|ü;(|x\u{a0}y|| ;(\r\n"), expected);
    assert_eq!(words(""), []);
    let errors = read(&s, all).expect_err("bars and brackets are open");
    let messages: Vec<&str> = errors.iter().map(|e| e.message.as_str()).collect();
    let open = "an opening bracket without a closing one";
    let stray = "a name that is not closed";
    assert_eq!(messages, [stray, stray, open]);
}
