//! A small grammar with each part of the notation, and the pairs of texts by it.

use crate::{notation, run};
use pest::Parser as _;
use pest::error::{ErrorVariant, InputLocation};
use pest::iterators::Pair;

crate::grammar! {
    /// What the tests read.
    Lines in "tests/lines.pest":
    file line sum number word part spaced block mark inner closed end loose
}

/// A pair as text: its rule, then what is in it, or its own text.
fn shown(pair: Pair<'_, Rule>) -> String {
    let rule = pair.as_rule();
    let text = pair.as_str().to_owned();
    let inner: Vec<String> = pair.into_inner().map(shown).collect();
    match inner.is_empty() {
        true => format!("{rule:?}={text}"),
        false => format!("{rule:?}({})", inner.join(" ")),
    }
}

fn line(text: &str) -> String {
    let mut pairs = Lines::parse(Rule::line, text).unwrap_or_else(|e| panic!("{text}: {e}"));
    shown(pairs.next().expect("a rule is one pair"))
}

#[test]
fn blanks_and_comments_stand_between_tokens_only() {
    assert_eq!(line("1 +  23+4"), "line(sum(number=1 number=23 number=4))");
    assert_eq!(line("1 // one; \n"), "line=");
    assert_eq!(line("1 + // two;\n 2"), "line=");
    assert_eq!(line("1 + // two ends here;"), "line=");
    // Atomic rules have nothing inside; compound ones their pairs; a rule that is not atomic takes blanks there.
    assert_eq!(line("wab"), "line(word(part=a part=b))");
    assert_eq!(line("w a"), "line=");
    assert_eq!(
        line("wa<1  2>"),
        "line(word(part=a part(spaced(number=1 number=2))))"
    );
}

#[test]
fn what_was_pushed_is_put_back_when_a_way_fails() {
    // `closed` pushes `#` and then finds no `!`; the end asks for what the block pushed, once.
    assert_eq!(line("{##x##}"), "line(block(mark=## inner(end=##})))");
    assert_eq!(
        line("{##x#!x##}"),
        "line(block(mark=## inner(closed(mark=#) end=##})))"
    );
}

#[test]
fn errors_say_the_place_and_what_was_expected_there() {
    let error = Lines::parse(Rule::file, "1 + 2\n3 + x").expect_err("no number there");
    assert_eq!(error.location, InputLocation::Pos(10));
    let ErrorVariant::ParsingError {
        positives,
        negatives,
    } = error.variant
    else {
        panic!("{error}");
    };
    assert_eq!((positives, negatives), (vec![Rule::number], vec![]));
    let whole = Lines::parse(Rule::file, "1 + 2\nw?").expect_err("`w` alone is no word");
    assert_eq!(whole.location, InputLocation::Pos(7));
}

#[test]
fn mistakes_in_grammars_are_told() {
    let read = |text: &str, names: &[(&str, Rule)]| {
        let rules = notation::read(text).and_then(|list| run::Rules::new(list, names));
        rules.err().unwrap_or_default()
    };
    let sum = [("sum", Rule::sum)];
    assert_eq!(read("sum = { \"a\" }", &sum), "");
    assert_eq!(read("sum = { other }", &sum), "there is no rule `other`");
    assert_eq!(
        read("sum = { 'a'..'b' }\nrest = { sum }", &sum),
        "the rule `rest` is not named"
    );
    assert_eq!(read("rest = _{ \"a\" }", &sum), "there is no rule `sum`");
    assert_eq!(
        read("sum = {\n\"a }", &sum),
        "line 2: a text has no end, \" is expected"
    );
    assert_eq!(
        read("sum = { \"a\" ", &sum),
        "line 1: `}` is expected, found None"
    );
    assert_eq!(
        read("sum = { \"\\q\" }", &sum),
        "line 1: no escape of Some('q') is known"
    );
}
