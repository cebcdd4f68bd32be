//! Schedules: other loops that compute the same.
//!
//! In: a checked kernel with the directives written beside it. Out: the kernel with its
//! loops rewritten, or the reason why a directive would change the result, with iterations
//! that show it where some are found. Directives apply in the order in which they are
//! written, each to every loop of that name:
//!
//! * `vectorize x by 64`, `vectorize x by 64 tail mask`: lanes instead of iterations;
//! * `vectorize x by 64 tail round`: one vector more, into what rows are padded with;
//! * `split x by 64 into b`: blocks of iterations, a loop inside a loop;
//! * `stage c over x`: an element kept in a register while a loop runs;
//! * `unroll x`, `unroll x by 4`: iterations written out;
//! * `jam y by 4`: iterations side by side, inner loops joined;
//! * `interchange y, x`: the inner of two directly nested loops outside.
//!
//! The evaluator never sees a schedule: it runs the algorithm as it was written.

mod copy;
mod depend;
mod fold;
mod interior;
mod nest;
mod round;
mod stage;
mod vectorize;

use crate::ast::Directive;
use crate::bounds::assumptions;
use crate::lia::Facts;
use crate::tree::{For, Kernel, Stmt, SymbolKind};
use crate::types::Elem;
use semantics::diagnostic::{Diagnostic, suggest};
use semantics::span::Span;

/// Why a directive is refused.
pub(crate) struct Refusal {
    span: Span,
    message: String,
    notes: Vec<String>,
}

impl Refusal {
    fn at(span: Span, message: impl Into<String>) -> Refusal {
        Refusal {
            span,
            message: message.into(),
            notes: Vec::new(),
        }
    }

    fn note(mut self, note: impl Into<String>) -> Refusal {
        self.notes.push(note.into());
        self
    }
}

/// Why floats are not accumulated in another order.
fn order_matters(elem: Elem, span: Span) -> Refusal {
    let large = 1u64 << elem.format().map_or(0, |f| f.fraction() + 1);
    Refusal::at(
        span,
        "floats are accumulated in another order, and are rounded otherwise then",
    )
    .note(format!(
        "for example in {elem}, ({large} + 1) + 1 is {large}, and {large} + (1 + 1) is {}",
        large + 2
    ))
    .note("where any order will do, write `reassociate` before the statement")
}

/// One kind of change.
#[derive(Clone, Copy, Debug)]
enum Change {
    Vectorize(u32, vectorize::Tail),
    Split(i64),
    Stage,
    Unroll(Option<i64>),
    Jam(i64),
    Interchange,
}

/// Applies a kernel's schedule.
///
/// # Errors
/// A diagnostic for each directive that is not understood, names no loop, or would change
/// the result.
pub fn apply(kernel: &Kernel) -> Result<Kernel, Vec<Diagnostic>> {
    let mut out = kernel.clone();
    out.schedule.clear();
    let mut diagnostics = Vec::new();
    for directive in &kernel.schedule {
        match parse(directive) {
            Ok((change, names)) => match run(&mut out, change, &names) {
                Ok(0) => diagnostics.push(no_such_loop(kernel, directive, &names)),
                Ok(_) => {}
                Err(refusal) => diagnostics.push(refused(kernel, directive, refusal)),
            },
            Err(message) => {
                let hint = "directives are `vectorize x by 64`, `split x by 64 into b`, `stage c over x`, `unroll x`, `unroll x by 4`, `jam y by 4`, `interchange y, x`";
                diagnostics.push(
                    Diagnostic::error(message)
                        .at(&kernel.source, directive.span)
                        .hint(hint),
                );
            }
        }
    }
    if diagnostics.is_empty() {
        Ok(out)
    } else {
        Err(diagnostics)
    }
}

fn refused(kernel: &Kernel, directive: &Directive, refusal: Refusal) -> Diagnostic {
    let text = kernel
        .source
        .slice(directive.span)
        .trim_end_matches(';')
        .to_owned();
    let message = format!("`{text}` is refused: {}", refusal.message);
    let at = kernel.source.line_column(directive.span.start);
    let diagnostic = Diagnostic::error(message).at(&kernel.source, refusal.span);
    let diagnostic = refusal
        .notes
        .into_iter()
        .fold(diagnostic, Diagnostic::with_note);
    diagnostic.with_note(format!(
        "the directive stands at line {}, column {}",
        at.line, at.column
    ))
}

fn no_such_loop(kernel: &Kernel, directive: &Directive, names: &[String]) -> Diagnostic {
    let verb = directive.words.first().map_or("", |w| w.name.as_str());
    let text = if verb == "interchange" {
        names.join(", ")
    } else {
        names[0].clone()
    };
    let message = match names.len() {
        _ if verb != "interchange" => format!("there is no loop `{text}`"),
        _ => format!("there are no loops `{text}`, one directly inside the other"),
    };
    let loops = kernel.symbols.iter().filter(|s| s.kind == SymbolKind::Loop);
    let known = loops.map(|s| s.name.as_str());
    let diagnostic = Diagnostic::error(message).at(&kernel.source, directive.span);
    match suggest(&names[0], known).filter(|n| *n != names[0]) {
        Some(near) => diagnostic.hint(format!("did you mean `{near}`?")),
        None => diagnostic,
    }
}

/// A directive's change and the loops that it names.
fn parse(directive: &Directive) -> Result<(Change, Vec<String>), String> {
    let words: Vec<&str> = directive.words.iter().map(|w| w.name.as_str()).collect();
    let number = |text: &str, most: i64| {
        let value = text.parse::<i64>().ok().filter(|n| (2..=most).contains(n));
        value.ok_or_else(|| format!("expected a number from 2 to {most}, found `{text}`"))
    };
    let named = |name: &str| vec![name.to_owned()];
    match words[..] {
        ["vectorize", x, "by", n, ref tail @ ..] => {
            let tail = match *tail {
                [] | ["tail", "scalar"] => vectorize::Tail::Scalar,
                ["tail", "mask"] => vectorize::Tail::Mask,
                ["tail", "round"] => vectorize::Tail::Round,
                _ => {
                    return Err("a tail is `tail scalar`, `tail mask` or `tail round`".to_owned());
                }
            };
            let lanes = number(n, i64::from(crate::types::MAX_LANES))?;
            Ok((
                Change::Vectorize(u32::try_from(lanes).map_err(|e| e.to_string())?, tail),
                named(x),
            ))
        }
        ["unroll", x] => Ok((Change::Unroll(None), named(x))),
        ["unroll", x, "by", n] => Ok((Change::Unroll(Some(number(n, 64)?)), named(x))),
        ["jam", x, "by", n] => Ok((Change::Jam(number(n, 64)?), named(x))),
        ["split", x, "by", n, "into", outer] => {
            let names = vec![x.to_owned(), outer.to_owned()];
            Ok((Change::Split(number(n, 1 << 20)?), names))
        }
        ["stage", array, "over", x] => Ok((Change::Stage, vec![x.to_owned(), array.to_owned()])),
        ["interchange", y, ",", x] => Ok((Change::Interchange, vec![y.to_owned(), x.to_owned()])),
        _ => Err("this directive is not understood".to_owned()),
    }
}

/// Makes a change to every loop of that name; how many there were.
fn run(kernel: &mut Kernel, change: Change, names: &[String]) -> Result<usize, Refusal> {
    let body = kernel.body.clone();
    let facts = assumptions(kernel);
    let mut pass = Pass {
        kernel,
        change,
        names,
        count: 0,
    };
    let body = pass.block(body, &facts)?;
    let count = pass.count;
    kernel.body = body;
    Ok(count)
}

struct Pass<'k> {
    kernel: &'k mut Kernel,
    change: Change,
    names: &'k [String],
    count: usize,
}

impl Pass<'_> {
    fn block(&mut self, body: Vec<Stmt>, facts: &Facts) -> Result<Vec<Stmt>, Refusal> {
        let mut out = Vec::new();
        for stmt in body {
            match stmt {
                Stmt::For(f) => out.extend(self.for_loop(f, facts)?),
                other => out.push(other),
            }
        }
        Ok(out)
    }

    fn for_loop(&mut self, f: For, facts: &Facts) -> Result<Vec<Stmt>, Refusal> {
        if self.kernel.symbol_name(f.var) == self.names[0] && !f.partial {
            let changed = match self.change {
                Change::Vectorize(lanes, tail) => {
                    Some(vectorize::vectorize(self.kernel, &f, lanes, tail, facts)?)
                }
                Change::Split(count) => {
                    Some(nest::split(self.kernel, &f, count, &self.names[1], facts))
                }
                Change::Stage => Some(stage::stage(self.kernel, &f, &self.names[1], facts)?),
                Change::Unroll(count) => Some(nest::unroll(self.kernel, &f, count, facts)?),
                Change::Jam(count) => Some(nest::jam(self.kernel, &f, count, facts)?),
                Change::Interchange => match &f.body[..] {
                    [Stmt::For(inner)] if self.kernel.symbol_name(inner.var) == self.names[1] => {
                        Some(nest::interchange(self.kernel, &f, inner, facts)?)
                    }
                    _ => None,
                },
            };
            if let Some(changed) = changed {
                self.count += 1;
                return Ok(changed);
            }
        }
        let mut inside = facts.clone();
        inside.add_loop(f.var, &f.lo, &f.hi, f.step);
        let body = self.block(f.body, &inside)?;
        Ok(vec![Stmt::For(For { body, ..f })])
    }
}

#[cfg(test)]
mod tests;
