//! What diagnostics look like.

use super::{Diagnostic, lines, render, suggest};
use crate::span::{Source, Span};
use expect_test::expect;

#[test]
fn the_place_is_drawn_with_a_mark() {
    let source = Source::new("a.kernel", "let x = 1\nlet y = maxx(x, 2)\n");
    let d = Diagnostic::error("unknown function `maxx`")
        .at(&source, Span::new(18, 22))
        .label("not known here")
        .with_note("functions are listed in the manual")
        .hint("did you mean `max`?");
    expect![[r#"
        error: unknown function `maxx`
         --> a.kernel:2:9
          |
        2 | let y = maxx(x, 2)
          |         ^^^^ not known here
          = note: functions are listed in the manual
          = hint: did you mean `max`?
    "#]]
    .assert_eq(&d.to_string());
}

#[test]
fn long_lines_are_cut_on_both_sides() {
    let source = Source::new("long", "x".repeat(500) + "BAD" + &"y".repeat(500));
    let text = Diagnostic::warning("odd")
        .at(&source, Span::new(500, 503))
        .to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[1], " --> long:1:501");
    assert!(lines[3].chars().count() < 120, "{text}");
    let column = |line: &str, c: char| line.chars().position(|x| x == c);
    assert_eq!(column(lines[4], '^'), column(lines[3], 'B'));
    assert_eq!(lines[4].matches('^').count(), 3);
}

#[test]
fn a_range_over_lines_marks_the_first() {
    let source = Source::new("two", "ab cd\nef");
    let text = Diagnostic::error("e")
        .at(&source, Span::new(3, 8))
        .to_string();
    assert!(text.ends_with("  |    ^^\n"), "{text}");
}

#[test]
fn a_place_past_the_end_is_drawn_at_the_end() {
    let source = Source::new("short", "ab");
    let text = Diagnostic::error("e")
        .at(&source, Span::new(2, 2))
        .to_string();
    assert!(text.ends_with("  |   ^\n"), "{text}");
}

#[test]
fn many_are_drawn_in_the_order_of_their_places() {
    let (a, b) = (Source::new("a", "xyz"), Source::new("b", "xyz"));
    let all = [
        Diagnostic::error("third").at(&b, Span::new(0, 1)),
        Diagnostic::error("second").at(&a, Span::new(2, 3)),
        Diagnostic::error("last"),
        Diagnostic::error("first").at(&a, Span::new(0, 1)),
    ];
    let text = render(&all);
    let order: Vec<&str> = text
        .lines()
        .filter_map(|l| l.strip_prefix("error: "))
        .collect();
    assert_eq!(order, ["first", "second", "third", "last"]);
}

#[test]
fn a_list_has_one_line_for_each() {
    let a = Source::new("a", "xyz\nuvw");
    let all = [
        Diagnostic::error("no place").hint("mend it"),
        Diagnostic::error("wrong")
            .at(&a, Span::new(5, 6))
            .with_note("in `f`"),
    ];
    assert_eq!(lines(&all), "a:2:2: wrong; in `f`\nno place; mend it\n");
}

#[test]
fn what_is_quoted_commands_no_terminal() {
    let a = Source::new("a\u{9b}b", "x \x1b[2J\0\u{202e}\x7f\tz\r\n");
    let at_z = Span::new(a.text().find('z').expect("it is there"), a.text().len() - 2);
    let d = Diagnostic::error("found `\x1b]0;t\x07`").at(&a, at_z);
    let d = d.with_note("\u{2066}n").hint("\x08h");
    for text in [d.to_string(), lines(std::slice::from_ref(&d)), render(&[d])] {
        assert!(
            !text.contains(|c: char| c.is_control() && c != '\n'),
            "{text:?}"
        );
        assert!(!text.contains(['\u{202e}', '\u{2066}']), "{text:?}");
        assert!(text.contains("found `␛]0;t␇`"), "{text}");
    }
    let text = Diagnostic::error("m").at(&a, at_z).to_string();
    let column = |line: &str, c| line.chars().position(|at| at == c);
    let [source, mark] = [3, 4].map(|k| text.lines().nth(k).expect("a drawing"));
    assert_eq!(column(source, 'z'), column(mark, '^'), "{text}");
}

#[test]
fn the_nearest_name_is_suggested() {
    let names = ["Saturate8", "SignExtend32", "ZeroExtend32", "max"];
    assert_eq!(suggest("SignExtnd32", names), Some("SignExtend32"));
    assert_eq!(suggest("mxa", names), Some("max"));
    assert_eq!(suggest("saturate8", names), Some("Saturate8"));
    assert_eq!(suggest("popcount", names), None);
    assert_eq!(suggest("", names), None);
}

#[test]
fn what_is_quoted_may_be_of_any_length() {
    let long = "a".repeat(1_000_000);
    let log = Diagnostic::error(format!("unknown target `{long}`")).to_string();
    assert!(log.len() < 3_000, "{}", log.len());
    assert!(log.contains("… and 998024 characters more"), "{log}");
    assert_eq!(suggest(&long, ["aaaa", "bbbb"]), None);
    assert_eq!(suggest("aaab", ["aaaa", &long]), Some("aaaa"));
}

#[test]
fn what_is_quoted_begins_no_line() {
    let source = Source::new("a\nerror: b", "x = 1\n");
    let d = Diagnostic::error("unknown key `x\nerror: forged\n`")
        .at(&source, Span::new(0, 1))
        .label("here\nerror: c")
        .with_note("beside\nerror: d")
        .hint("did you mean `y\nerror: e`?\n");
    let text = d.to_string();
    let begun = text.lines().filter(|line| line.starts_with("error: "));
    assert_eq!(begun.count(), 1, "{text}");
    assert_eq!(lines(&[d]).lines().count(), 1);
}
