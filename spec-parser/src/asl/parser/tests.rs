//! Texts that are read, and what is said of others.

use super::parse;
use semantics::diagnostic::render;
use semantics::span::{Source, Span};

fn said(text: &str) -> String {
    let source = Source::new("body", text);
    match parse(&source, Span::new(0, text.len())) {
        Ok(block) => format!("{} statements", block.len()),
        Err(diagnostics) => render(&diagnostics),
    }
}

#[test]
fn blocks_are_told_by_their_indentation() {
    let text = "for e = 0 to 3\n    if a<e> == '1' then\n        x = 1;\n        y = 2;\n    else\n        x = 3;\n\n    // a comment\n    z = x;\nw = 1;\n";
    assert_eq!(said(text), "2 statements");
}
