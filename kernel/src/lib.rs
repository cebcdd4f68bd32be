//! The input language: vector expressions in loop nests, and its own evaluator.
//!
//! In: kernel text. Out: checked kernels ([`tree::Kernel`]), what running one means
//! ([`eval`]), data to run it on ([`data`]), and its loops with windows to synthesise
//! ([`lower`]). The language is described in `LANGUAGE.md`. It does not search for
//! instructions and it writes no code.

pub mod ast;
pub mod bounds;
pub mod check;
pub mod data;
pub mod eval;
pub mod halide;
pub mod index;
pub mod lia;
pub mod lower;
pub mod parse;
pub mod replay;
pub mod schedule;
pub mod show;
pub mod tree;
pub mod types;
pub mod window;

use semantics::diagnostic::Diagnostic;
use semantics::span::Source;

/// Reads kernels: parses a text, checks it, and proves all accesses inside their arrays.
/// Kernels with mistakes are left out and reported; the others are returned.
pub fn read(source: &Source) -> (Vec<tree::Kernel>, Vec<Diagnostic>) {
    let (file, mut diagnostics) = parse::parse(source);
    let (kernels, more) = check::check(source, &file);
    diagnostics.extend(more);
    let mut sound = Vec::new();
    for kernel in kernels {
        let found = bounds::check(&kernel);
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
