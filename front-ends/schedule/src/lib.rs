//! Schedules: other loops that compute the same.
//!
//! In: a checked kernel with the directives written beside it. Out: the kernel with its
//! loops rewritten, or the reason why a directive would change the result, with iterations
//! that show it where some are found. Directives apply in the order in which they are
//! written, each to every loop of that name:
//!
//! * `vectorize x by 64`, `vectorize x by 64 tail mask`: lanes instead of iterations;
//! * `vectorize x by 64 tail round`: one vector more, into what rows are padded with;
//! * `vectorize x by 64 tail shift`: one vector more, which ends where the loop does;
//! * `split x by 64 into b`: blocks of iterations, a loop inside a loop;
//! * `stage c over x`: an element kept in a register while a loop runs;
//! * `unroll x`, `unroll x by 4`: iterations written out;
//! * `jam y by 4`: iterations side by side, inner loops joined;
//! * `interchange y, x`: the inner of two directly nested loops outside;
//! * `tile`, `partition`, `increment`, `branch_free`: other ranges;
//! * `fission`, `fuse`, `reorder_stmts`, `remove_loop`: another order;
//! * `stage_mem`: a window of an array with a place of its own;
//! * `expand_dim`, `lift_alloc`, `set_memory`, `unroll_buffer`: other buffers.
//!
//! The evaluator never sees a schedule: it runs the algorithm as it was written.

mod buffer;
mod copy;
mod depend;
mod fold;
mod interior;
mod nest;
mod order;
mod parse;
mod range;
mod reach;
mod round;
mod shift;
mod stage;
mod vectorize;
mod window;

use kernel::ast::Directive;
use kernel::bounds::assumptions;
use kernel::index::Symbol;
use kernel::lia::Facts;
use kernel::tree::{For, Kernel, Stmt, SymbolKind};
use kernel::types::Elem;
use parse::{Change, parse};
use semantics::diagnostic::{Diagnostic, suggest};
use semantics::span::Span;

/// Why a directive is refused.
struct Refusal {
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

/// Applies a kernel's schedule.
///
/// # Errors
/// A diagnostic for each directive that is not understood, names no loop, or would change
/// the result.
pub fn apply(kernel: &Kernel) -> Result<Kernel, Vec<Diagnostic>> {
    let (diagnostics, out) = walk(kernel, &mut |_, _| {});
    if diagnostics.is_empty() {
        Ok(out)
    } else {
        Err(diagnostics)
    }
}

/// A directive as written, and the kernel after it.
#[derive(Clone, Debug)]
pub struct Stage {
    /// The text of the directive.
    pub text: String,
    /// The kernel with the schedule up to here applied.
    pub kernel: Kernel,
}

/// The kernel after each directive, as far as they apply, and what is refused.
pub fn stages(kernel: &Kernel) -> (Vec<Stage>, Vec<Diagnostic>) {
    let mut stages = Vec::new();
    let (diagnostics, _) = walk(kernel, &mut |directive, after| {
        stages.push(Stage {
            text: text(kernel, directive),
            kernel: after.clone(),
        });
    });
    (stages, diagnostics)
}

/// Applies one directive after the other; `applied` gets each that is not refused, and the
/// kernel after it.
fn walk(
    kernel: &Kernel,
    applied: &mut dyn FnMut(&Directive, &Kernel),
) -> (Vec<Diagnostic>, Kernel) {
    let mut out = kernel.clone();
    out.schedule.clear();
    let mut diagnostics = Vec::new();
    for directive in &kernel.schedule {
        // A refused directive may leave names behind, so it works on a copy.
        let mut next = out.clone();
        let wrong = match parse(directive) {
            Ok((change, names)) => match run(&mut next, &change, &names) {
                Ok(0) => Some(no_such_loop(kernel, &out, directive, &names)),
                Ok(_) => None,
                Err(refusal) => Some(refused(kernel, directive, refusal)),
            },
            Err(message) => Some(
                Diagnostic::error(message)
                    .at(&kernel.source, directive.span)
                    .hint(parse::FORMS),
            ),
        };
        match wrong {
            Some(wrong) => diagnostics.push(wrong),
            None => {
                out = next;
                applied(directive, &out);
            }
        }
    }
    (diagnostics, out)
}

fn text(kernel: &Kernel, directive: &Directive) -> String {
    let text = kernel.source.slice(directive.span);
    text.trim_end_matches(';').to_owned()
}

fn refused(kernel: &Kernel, directive: &Directive, refusal: Refusal) -> Diagnostic {
    let text = text(kernel, directive);
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

fn no_such_loop(
    kernel: &Kernel,
    now: &Kernel,
    directive: &Directive,
    names: &[String],
) -> Diagnostic {
    let verb = directive.words.first().map_or("", |w| w.name.as_str());
    let text = names.join(", ");
    let message = match verb {
        "interchange" => format!("there are no loops `{text}`, one directly inside the other"),
        "fuse" => format!("there are no loops `{text}`, one directly behind the other"),
        "reorder_stmts" => {
            format!("there are no statements for `{text}`, one directly behind the other")
        }
        _ => format!("there is no loop `{}`", names[0]),
    };
    let loops = now.symbols.iter().filter(|s| s.kind == SymbolKind::Loop);
    let known = loops.map(|s| s.name.as_str());
    let diagnostic = Diagnostic::error(message).at(&kernel.source, directive.span);
    match suggest(&names[0], known).filter(|n| *n != names[0]) {
        Some(near) => diagnostic.hint(format!("did you mean `{near}`?")),
        None => diagnostic,
    }
}

/// Makes a change to every loop of that name; how many there were.
fn run(kernel: &mut Kernel, change: &Change, names: &[String]) -> Result<usize, Refusal> {
    match change {
        Change::ExpandDimension => return buffer::expand(kernel, &names[1], &names[0]),
        Change::LiftAllocation => return buffer::lift(kernel, &names[1], &names[0]),
        Change::SetMemory => return buffer::set_memory(kernel, &names[1], &names[0]),
        Change::UnrollBuffer(dim) => return buffer::unroll(kernel, &names[1], *dim),
        _ => {}
    }
    let body = kernel.body.clone();
    let facts = assumptions(kernel);
    let mut pass = Pass {
        kernel,
        change,
        names,
        count: 0,
        stack: Vec::new(),
    };
    let body = pass.block(body, &facts)?;
    let count = pass.count;
    kernel.body = body;
    buffer::settle(kernel);
    Ok(count)
}

struct Pass<'k> {
    kernel: &'k mut Kernel,
    change: &'k Change,
    names: &'k [String],
    count: usize,
    /// The loops around, the innermost last.
    stack: Vec<Symbol>,
}

impl Pass<'_> {
    fn block(&mut self, body: Vec<Stmt>, facts: &Facts) -> Result<Vec<Stmt>, Refusal> {
        let mut out = Vec::new();
        let mut rest = body.into_iter().peekable();
        while let Some(stmt) = rest.next() {
            if let Some(next) = rest.peek()
                && let Some(changed) = self.pair(&stmt, next, facts)?
            {
                self.count += 1;
                rest.next();
                out.extend(changed);
                continue;
            }
            match stmt {
                Stmt::For(f) => out.extend(self.for_loop(f, facts)?),
                other => out.push(other),
            }
        }
        Ok(out)
    }

    /// A change of two neighbours.
    fn pair(
        &mut self,
        one: &Stmt,
        two: &Stmt,
        facts: &Facts,
    ) -> Result<Option<Vec<Stmt>>, Refusal> {
        let called =
            |kernel: &Kernel, stmt: &Stmt, name: &String| reach::names(kernel, stmt).contains(name);
        match (self.change, one, two) {
            (Change::Fuse, Stmt::For(f), Stmt::For(g))
                if self.kernel.symbol_name(f.var) == self.names[0]
                    && self.kernel.symbol_name(g.var) == self.names[1] =>
            {
                order::fuse(self.kernel, f, g, facts).map(Some)
            }
            (Change::ReorderStatements, one, two)
                if called(self.kernel, one, &self.names[0])
                    && called(self.kernel, two, &self.names[1]) =>
            {
                order::reorder(self.kernel, one, two, facts).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn for_loop(&mut self, f: For, facts: &Facts) -> Result<Vec<Stmt>, Refusal> {
        if self.kernel.symbol_name(f.var) == self.names[0]
            && !f.partial
            && let Some(changed) = self.change_loop(&f, facts)?
        {
            self.count += 1;
            return Ok(changed);
        }
        let mut inside = facts.clone();
        inside.add_loop(f.var, &f.lo, &f.hi, f.step);
        self.stack.push(f.var);
        let body = self.block(f.body, &inside)?;
        self.stack.pop();
        Ok(vec![Stmt::For(For { body, ..f })])
    }

    fn change_loop(&mut self, f: &For, facts: &Facts) -> Result<Option<Vec<Stmt>>, Refusal> {
        let (kernel, names) = (&mut *self.kernel, self.names);
        let changed = match self.change {
            Change::Vectorize(lanes, tail) => {
                vectorize::vectorize(kernel, f, *lanes, *tail, facts)?
            }
            Change::Split(count) => nest::split(kernel, f, *count, &names[1], facts),
            Change::Tile(counts, outer) => range::tile(kernel, f, names, counts, outer, facts)?,
            Change::Stage => stage::stage(kernel, f, &names[1], facts)?,
            Change::Unroll(count) => nest::unroll(kernel, f, *count, facts)?,
            Change::Jam(count) => nest::jam(kernel, f, *count, facts)?,
            Change::Interchange => match &f.body[..] {
                [Stmt::For(inner)] if kernel.symbol_name(inner.var) == names[1] => {
                    nest::interchange(kernel, f, inner, facts)?
                }
                _ => return Ok(None),
            },
            Change::Fission(into) => order::fission(kernel, f, &names[1], into, facts)?,
            Change::Partition(at, into) => {
                range::partition(kernel, f, at, into, &self.stack, facts)?
            }
            Change::RemoveLoop => order::remove_loop(kernel, f, facts)?,
            Change::StageMemory(new) => window::stage(kernel, f, &names[1], new, facts)?,
            Change::Increment => range::increment(kernel, f)?,
            Change::BranchFree => range::branch_free(kernel, f)?,
            Change::Fuse
            | Change::ReorderStatements
            | Change::ExpandDimension
            | Change::LiftAllocation
            | Change::SetMemory
            | Change::UnrollBuffer(_) => return Ok(None),
        };
        Ok(Some(changed))
    }
}
