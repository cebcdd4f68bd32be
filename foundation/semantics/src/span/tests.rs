//! Lines, columns and ranges at the edges of texts.

use super::{Source, Span};

#[test]
fn columns_count_characters_from_one() {
    let s = Source::new("f", "ab\nzäß\n\nend");
    let at = |byte| {
        let p = s.line_column(byte);
        assert_eq!(s.line(byte), p.line);
        (p.line, p.column)
    };
    assert_eq!(at(0), (1, 1));
    assert_eq!(at(2), (1, 3));
    assert_eq!(at(3), (2, 1));
    assert_eq!(at(6), (2, 3));
    assert_eq!(at(9), (3, 1));
    assert_eq!(at(1000), (4, 4));
}

#[test]
fn ranges_outside_the_text_are_cut() {
    let s = Source::new("f", "aä");
    assert_eq!(s.slice(Span::new(1, 99)), "ä");
    assert_eq!(
        s.slice(Span::new(2, 3)),
        "ä",
        "inside a character moves to its start"
    );
    assert_eq!(s.slice(Span::new(50, 99)), "");
    assert_eq!(s.slice(Span::new(3, 1)), "");
    assert_eq!(s.line_at(99), (0, "aä"));
    assert_eq!(Source::new("e", "").line_at(0), (0, ""));
}

#[test]
fn lines_come_without_their_ends() {
    let s = Source::new("f", "one\r\ntwo");
    assert_eq!(s.line_at(1), (0, "one"));
    assert_eq!(s.line_at(6), (5, "two"));
}

#[test]
fn spans_join_and_move() {
    let (a, b) = (Span::new(3, 5), Span::new(8, 9));
    assert_eq!(b.to(a), Span::new(3, 9));
    assert_eq!(a.moved(10), Span::new(13, 15));
}
