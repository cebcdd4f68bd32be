//! The input language: vector expressions in loop nests, and its own evaluator.
//!
//! In: kernel text. Out: checked kernels ([`tree::Kernel`]), what running one means ([`eval`]),
//! data to run it on ([`data`]) and what is known of indices ([`lia`]). The language is described
//! in `LANGUAGE.md`. A kernel carries its schedule as it was written; the crate `schedule`
//! applies it, and `lowering` makes windows of what comes out.

pub mod ast;
pub mod bounds;
mod check;
pub mod data;
pub mod eval;
mod idiom;
pub mod index;
pub mod lia;
pub mod literal;
mod parse;
pub mod range;
mod scalars;
pub mod show;
mod sizes;
pub mod tree;
pub mod types;
mod unwritten;
pub mod values;
pub mod visit;

use semantics::diagnostic::Diagnostic;
use semantics::span::{Source, Span};

/// Reads kernels: parses a text, checks it, proves all accesses inside their arrays, and looks for
/// reads of what was not written.
/// Kernels with mistakes are left out and reported; the others are returned.
pub fn read(source: &Source) -> (Vec<tree::Kernel>, Vec<Diagnostic>) {
    let (file, mut diagnostics) = parse::parse(source);
    if diagnostics.is_empty() && file.kernels.is_empty() {
        let start = Span::new(0, source.text().len().min(1));
        let hint = "a kernel is written `kernel f(n: size, a: in u8[n], o: out u8[n]) { … }`";
        let empty = Diagnostic::error("there is no kernel in this text");
        diagnostics.push(empty.at(source, start).hint(hint));
    }
    let (kernels, more) = check::check(source, &file);
    diagnostics.extend(more);
    let mut sound = Vec::new();
    for kernel in kernels {
        let mut found = bounds::check(&kernel);
        if found.is_empty() {
            found = unwritten::check(&kernel);
        }
        if found.is_empty() {
            sound.push(kernel);
        }
        diagnostics.extend(found);
    }
    diagnostics.sort_by_key(|d| d.place.as_ref().map(|(_, span)| *span));
    (sound, diagnostics)
}

#[cfg(test)]
fn check_source(name: &str, text: &str) -> (Vec<tree::Kernel>, Vec<Diagnostic>) {
    read(&Source::new(name, text))
}
