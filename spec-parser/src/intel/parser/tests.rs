//! Trees of small texts, and what is said of texts that are wrong.

use super::parse;
use crate::pseudocode::ast::{BinaryOp, ExprKind, Statement, StatementKind};
use expect_test::{Expect, expect};
use semantics::diagnostic::render;
use semantics::span::{Source, Span};

fn tree(text: &str, xml: bool) -> Result<Vec<Statement>, String> {
    let source = Source::new("body", text);
    parse(&source, Span::new(0, text.len()), xml).map_err(|d| render(&d))
}

/// The value of the only assignment of a text.
fn value(text: &str) -> ExprKind {
    let mut block = tree(text, false).expect("the text is right");
    match block.remove(0).kind {
        StatementKind::Assign { value, .. } => value.kind,
        other => panic!("not an assignment: {other:?}"),
    }
}

fn refused(text: &str, expected: &Expect) {
    expected.assert_eq(&tree(text, false).expect_err("the text is wrong"));
}

#[test]
fn comparisons_bind_tighter_than_connectives() {
    let ExprKind::Binary(BinaryOp::And, left, right) = value("d := a == 0 AND b != 1") else {
        panic!("the connective is outermost");
    };
    assert!(matches!(left.kind, ExprKind::Binary(BinaryOp::Eq, ..)));
    assert!(matches!(right.kind, ExprKind::Binary(BinaryOp::Ne, ..)));
}

#[test]
fn operators_of_one_level_group_to_the_left() {
    let ExprKind::Binary(BinaryOp::Sub, left, _) = value("d := a - b - c") else {
        panic!("a difference");
    };
    assert!(matches!(left.kind, ExprKind::Binary(BinaryOp::Sub, ..)));
}

#[test]
fn lines_go_on_inside_brackets_and_after_a_backslash() {
    let text = "d := f(a,\n  b) + \\\n  c // rest\ne := 1";
    assert_eq!(tree(text, false).expect("the text is right").len(), 2);
}

#[test]
fn else_if_on_one_line_shares_its_end() {
    let text = "IF a\n x := 1\nELSE IF b\n x := 2\nELSE\n x := 3\nFI\ny := 1";
    let block = tree(text, false).expect("the text is right");
    let StatementKind::If { arms, otherwise } = &block[0].kind else {
        panic!("a choice");
    };
    assert_eq!((arms.len(), otherwise.len(), block.len()), (2, 1, 2));
}

#[test]
fn one_line_choices_and_labels_with_statements() {
    let text = "IF (a) x := 1; FI\nCASE(c[1:0]) OF\n0: x := 1\n1 :\n x := 2\n y := 3\nDEFAULT: x := 4\nESAC";
    let block = tree(text, false).expect("the text is right");
    let StatementKind::Case { arms, .. } = &block[1].kind else {
        panic!("a case");
    };
    let sizes: Vec<usize> = arms.iter().map(|a| a.body.len()).collect();
    assert_eq!(sizes, [1, 2, 1]);
}

#[test]
fn spans_point_into_the_file_past_entities() {
    let text = "d := a &gt;&gt; 1\ne := bc &amp; 2";
    let block = tree(text, true).expect("the text is right");
    let StatementKind::Assign { value, .. } = &block[1].kind else {
        panic!("an assignment");
    };
    assert_eq!(&text[value.span.start..value.span.end], "bc &amp; 2");
}

#[test]
fn misspelt_keywords() {
    refused(
        "FOR j := 0 to 3\n d[j] := 1\nENDFRO",
        &expect![[r#"
            error: unexpected `ENDFRO` in the pseudocode
             --> body:3:1
              |
            3 | ENDFRO
              | ^^^^^^ expected `ENDFOR`
              = hint: did you mean `ENDFOR` instead of `ENDFRO`?

        "#]],
    );
    refused(
        "FI k[j]\n d[j] := 1\nFI",
        &expect![[r#"
        error: unexpected `FI` in the pseudocode
         --> body:1:1
          |
        1 | FI k[j]
          | ^^ expected a statement

    "#]],
    );
    refused(
        "d := a XRO b",
        &expect![[r#"
            error: unexpected `XRO` in the pseudocode
             --> body:1:8
              |
            1 | d := a XRO b
              |        ^^^ expected an operator or the end of a block
              = hint: did you mean `XOR` instead of `XRO`?

        "#]],
    );
}

#[test]
fn statements_that_end_too_early() {
    refused(
        "d := a +\ne := 1",
        &expect![[r#"
        error: the statement ends too early
         --> body:1:9
          |
        1 | d := a +
          |         ^ expected an expression

    "#]],
    );
    refused(
        "IF a\n d := 1",
        &expect![[r#"
            error: the pseudocode ends too early
             --> body:2:8
              |
            2 |  d := 1
              |        ^ expected an expression, an operator or the end of a block
              = hint: every `IF` needs its `FI`

        "#]],
    );
}

#[test]
fn brackets() {
    refused(
        "d := (a + b\ne := 1",
        &expect![[r#"
        error: `(` is never closed
         --> body:1:6
          |
        1 | d := (a + b
          |      ^
          = hint: close it on the same statement

    "#]],
    );
    refused(
        "d := a[7:0)",
        &expect![[r#"
        error: `)` does not close this bracket
         --> body:1:11
          |
        1 | d := a[7:0)
          |           ^
          = hint: it was opened with `[`

    "#]],
    );
    refused(
        "d := a)",
        &expect![[r#"
        error: `)` closes nothing that is open
         --> body:1:7
          |
        1 | d := a)
          |       ^
          = hint: take it away, or open it before

    "#]],
    );
}

#[test]
fn depth_is_limited() {
    let brackets = format!("d := {}a{}", "(".repeat(400), ")".repeat(400));
    let blocks = format!("{}{}", "IF a\n".repeat(400), "FI\n".repeat(400));
    let choices = format!("d := {}c", "a ? b : ".repeat(400));
    let sum = format!("d := a{}", " + a".repeat(10_000));
    let signs = format!("d := {}a", "- ".repeat(30_000));
    for text in [brackets, blocks, choices, sum, signs] {
        let told = tree(&text, false).expect_err("the text is too deep");
        assert!(told.contains("levels"), "{told}");
    }
}
