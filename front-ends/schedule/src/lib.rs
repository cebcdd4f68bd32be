//! Schedules: other loops that compute the same.
//!
//! In: a checked kernel, and directives: those written beside it or others. Out: [`Scheduled`],
//! the kernel with its loops rewritten, or the reason why a directive would change the result,
//! with iterations that show it where some are found. Directives apply in the order in which they are
//! written, each to every loop of that name:
//!
//! * `vectorize x by 64`, `vectorize x by 64 tail mask`: lanes instead of iterations;
//! * `vectorize x by 64 tail round`: one vector more, into what rows are padded with;
//! * `vectorize x by 64 tail shift`: one vector more, which ends where the loop does;
//! * `split x by 64 into b`: blocks of iterations, a loop inside a loop;
//! * `compute row at y`, `compute row`: a function's values in an array before they are asked for;
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

mod access;
mod border;
mod buffer;
mod compute;
mod copy;
mod depend;
pub mod directive;
mod fold;
mod interior;
mod nest;
mod order;
pub mod ragged;
mod range;
mod round;
mod shift;
mod stage;
mod vectorize;
mod window;

use directive::{Directive, Located};
use kernel::ast::Ident;
use kernel::bounds::assumptions;
use kernel::index::Symbol;
use kernel::lia::Facts;
use kernel::tree::{Expr, ExprKind, For, Kernel, Op, Stmt, SymbolKind};
use kernel::types::Elem;
use kernel::visit::for_each_stmt;
use semantics::diagnostic::{Diagnostic, suggest};
use semantics::span::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Why a directive is refused.
struct Refusal {
    span: Span,
    message: String,
    notes: Vec<String>,
    hint: Option<String>,
    /// Whether the directives behind it are not looked at.
    last: bool,
}

impl Refusal {
    fn at(span: Span, message: impl Into<String>) -> Refusal {
        Refusal {
            span,
            message: message.into(),
            notes: Vec::new(),
            hint: None,
            last: false,
        }
    }

    /// Nothing has the name; of what is there, the likeliest is told.
    fn absent<'a>(
        span: Span,
        what: &str,
        name: &str,
        there: impl IntoIterator<Item = &'a str>,
    ) -> Refusal {
        let hint = suggest(name, there).map(|near| format!("did you mean `{near}`?"));
        Refusal {
            hint,
            ..Refusal::at(span, format!("there is no {what} `{name}`"))
        }
    }

    fn no_array(kernel: &Kernel, span: Span, name: &str) -> Refusal {
        let arrays = kernel.arrays.iter().map(|array| array.name.as_str());
        Refusal::absent(span, "array", name, arrays)
    }

    fn note(mut self, note: impl Into<String>) -> Refusal {
        self.notes.push(note.into());
        self
    }
}

/// The most operators, counting each statement as one, that one directive writes out: C compilers are
/// slow long before. A kernel that has many itself may become so many times larger.
const MOST_OPERATORS: usize = 16_384;
const LARGER: usize = 16;

/// The most parts of a bound of a loop that a directive makes; bounds of the kernel itself may be
/// longer. What is left over begins where a quotient of the bounds ends, so that one remainder after
/// the other makes them twice as long, and proofs about them many times as slow.
const MOST_PARTS: usize = 128;

/// How many operators there are in statements, and statements.
fn operators(body: &[Stmt]) -> usize {
    let mut count = 0;
    for_each_stmt(body, &mut |stmt, _| {
        count += 1;
        let mut work: Vec<&Expr> = match stmt {
            Stmt::Assign(a) => vec![&a.value],
            _ => Vec::new(),
        };
        while let Some(e) = work.pop() {
            count += usize::from(!e.operands().is_empty());
            work.extend(e.operands());
        }
    });
    count
}

/// Whether nothing that was made of a loop has bounds that are too long, where its own are not.
fn bounds_are_short(f: &For, made: &[Stmt]) -> Result<(), Refusal> {
    let short = |f: &For| f.lo.is_within(MOST_PARTS) && f.hi.is_within(MOST_PARTS);
    let mut long = false;
    for_each_stmt(made, &mut |stmt, _| {
        long |= matches!(stmt, Stmt::For(g) if !short(g));
    });
    if !long || !short(f) {
        return Ok(());
    }
    let message =
        format!("the bounds of what is left over would have more than {MOST_PARTS} parts");
    Err(Refusal {
        last: true,
        ..Refusal::at(f.span, message)
    })
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

/// A kernel to which its schedule has been applied: what is lowered and mapped. There is no way
/// to apply a schedule to it again.
#[derive(Clone, Debug)]
pub struct Scheduled {
    kernel: Kernel,
    original: Kernel,
    left: BTreeSet<Symbol>,
}

impl Scheduled {
    /// The kernel; it has no directives any more.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The kernel as it was before: what a program has to do. Its arrays are the first of the other's.
    pub fn original(&self) -> &Kernel {
        &self.original
    }

    /// Another kernel in its place, which does the same.
    #[must_use]
    pub fn with_kernel(&self, kernel: Kernel) -> Scheduled {
        Scheduled {
            kernel,
            ..self.clone()
        }
    }

    /// The loops over what does not fill the tiles of its schedule, which it does not change.
    pub fn left(&self) -> &BTreeSet<Symbol> {
        &self.left
    }
}

/// The directives beside a kernel.
///
/// # Errors
/// A diagnostic for each that is not understood.
pub fn directives(kernel: &Kernel) -> Result<Vec<Located>, Vec<Diagnostic>> {
    let (mut all, mut wrong) = (Vec::new(), Vec::new());
    for directive in own(kernel) {
        match directive {
            Ok(directive) => all.push(directive),
            Err(diagnostic) => wrong.push(diagnostic),
        }
    }
    match wrong.is_empty() {
        true => Ok(all),
        false => Err(wrong),
    }
}

/// The kernel with numbers in its schedule where that names parameters of a machine, such as
/// `tile y by ROWS`, `split x by 4 * ROWS`; sizes and loops of the kernel keep their names.
pub fn with_parameters(kernel: &Kernel, parameters: &[(String, i64)]) -> Kernel {
    let mut kernel = kernel.clone();
    let own: BTreeSet<String> = kernel.symbols.iter().map(|s| s.name.clone()).collect();
    let value = |name: &str| {
        let known = parameters.iter().find(|p| p.0 == name);
        known.filter(|_| !own.contains(name)).map(|p| p.1)
    };
    for directive in &mut kernel.schedule {
        for word in &mut directive.words {
            if let Some(number) = value(&word.name) {
                word.name = number.to_string();
            }
        }
        multiplied(&mut directive.words);
    }
    kernel
}

/// Products and quotients of numbers as numbers; no quotient that leaves a remainder.
fn multiplied(words: &mut Vec<Ident>) {
    let number = |w: Option<&Ident>| w.and_then(|w| w.name.parse::<i64>().ok());
    let mut at = 0;
    while at + 2 < words.len() {
        // `n / 4 * 4` is no `n / 16`.
        let divides = at > 0 && words[at - 1].name == "/";
        let product = match (number(words.get(at)), number(words.get(at + 2))) {
            _ if divides => None,
            (Some(a), Some(b)) => match words[at + 1].name.as_str() {
                "*" => a.checked_mul(b),
                "/" if b > 0 && a % b == 0 => Some(a / b),
                _ => None,
            },
            _ => None,
        };
        match product {
            Some(product) => {
                words[at].name = product.to_string();
                words.drain(at + 1..at + 3);
            }
            None => at += 1,
        }
    }
}

fn own(kernel: &Kernel) -> impl Iterator<Item = Result<Located, Diagnostic>> + '_ {
    kernel.schedule.iter().map(|text| {
        let span = text.span;
        match directive::read(text) {
            Ok(directive) => Ok(Located { directive, span }),
            Err(message) => Err(Diagnostic::error(message)
                .at(&kernel.source, span)
                .hint(directive::hint(text))),
        }
    })
}

/// Applies a kernel's own schedule.
///
/// # Errors
/// A diagnostic for each directive that is not understood, names no loop, or would change
/// the result.
pub fn apply(kernel: &Kernel) -> Result<Scheduled, Vec<Diagnostic>> {
    finished(kernel, walk(kernel, own(kernel), &mut |_, _| {}))
}

/// A schedule at sizes.
#[derive(Clone, Debug)]
pub enum At {
    /// As it is for all sizes.
    All(Scheduled),
    /// For whole tiles, and what is left over of which loops; that is as it was written.
    Whole(Scheduled, Vec<ragged::LeftOver>),
    /// Left out, as these sizes fill no tile of it.
    None(Scheduled, String),
}

impl At {
    /// The kernel with as much of its schedule as is for these sizes.
    pub fn scheduled(self) -> Scheduled {
        match self {
            At::All(scheduled) | At::Whole(scheduled, _) | At::None(scheduled, _) => scheduled,
        }
    }
}

/// Applies a kernel's own schedule at sizes, where it need not hold for all of them.
///
/// # Errors
/// As for [`apply`].
pub fn apply_at(kernel: &Kernel, sizes: &BTreeMap<Symbol, i64>) -> Result<At, Vec<Diagnostic>> {
    let wrong = match apply(kernel) {
        Ok(scheduled) => return Ok(At::All(scheduled)),
        Err(wrong) => wrong,
    };
    let cut = match ragged::cut(kernel, sizes) {
        Ok(cut) => cut,
        Err(ragged::Uncut::NoTile(why)) => {
            return Ok(At::None(apply_directives(kernel, &[])?, why));
        }
        Err(ragged::Uncut::Order) => return Err(wrong),
    };
    let whole = apply(&cut.kernel).map_err(|_| wrong)?;
    let scheduled = Scheduled {
        original: kernel.clone(),
        left: cut.left,
        ..whole
    };
    Ok(At::Whole(scheduled, cut.loops))
}

/// Applies directives in place of a kernel's own; what is refused is told at the kernel's name.
///
/// # Errors
/// As for [`apply`].
pub fn apply_directives(
    kernel: &Kernel,
    directives: &[Directive],
) -> Result<Scheduled, Vec<Diagnostic>> {
    let span = kernel.span;
    let located = directives.iter().map(|directive| {
        let directive = directive.clone();
        Ok(Located { directive, span })
    });
    finished(kernel, walk(kernel, located, &mut |_, _| {}))
}

fn finished(
    original: &Kernel,
    (diagnostics, kernel): (Vec<Diagnostic>, Kernel),
) -> Result<Scheduled, Vec<Diagnostic>> {
    match diagnostics.is_empty() {
        true => Ok(Scheduled {
            kernel,
            original: original.clone(),
            left: BTreeSet::new(),
        }),
        false => Err(diagnostics),
    }
}

/// A directive, and the kernel after it.
#[derive(Clone, Debug)]
pub struct Stage {
    /// The directive.
    pub directive: Directive,
    /// The kernel with the schedule up to here applied.
    pub scheduled: Scheduled,
}

/// The kernel after each of its directives, as far as they apply, and what is refused.
pub fn stages(kernel: &Kernel) -> (Vec<Stage>, Vec<Diagnostic>) {
    let mut stages = Vec::new();
    let (diagnostics, _) = walk(kernel, own(kernel), &mut |directive, after| {
        stages.push(Stage {
            directive: directive.clone(),
            scheduled: Scheduled {
                kernel: after.clone(),
                original: kernel.clone(),
                left: BTreeSet::new(),
            },
        });
    });
    (stages, diagnostics)
}

/// Applies one directive after the other; `applied` gets each that is not refused, and the
/// kernel after it.
fn walk(
    kernel: &Kernel,
    directives: impl Iterator<Item = Result<Located, Diagnostic>>,
    applied: &mut dyn FnMut(&Directive, &Kernel),
) -> (Vec<Diagnostic>, Kernel) {
    let mut out = kernel.clone();
    out.schedule.clear();
    let (mut diagnostics, mut last) = (Vec::new(), false);
    let mut without: Vec<Directive> = Vec::new();
    let most = MOST_OPERATORS.max(LARGER * operators(&kernel.body));
    for located in directives {
        // A refused directive may leave names behind, so it works on a copy.
        let mut next = out.clone();
        let located = match located {
            Ok(located) => located,
            Err(wrong) => {
                diagnostics.push(wrong);
                continue;
            }
        };
        let directive = &located.directive;
        let done = match run(&mut next, directive, most) {
            Ok(0) => {
                // What a refused directive would have made is not missed once more.
                let made = |name: &&str| without.iter().any(|d| d.makes(name));
                if directive.changes().iter().any(made) {
                    continue;
                }
                Err(nothing_to_change(kernel, &out, &located))
            }
            Ok(_) => Ok(located.directive),
            Err(refusal) => {
                last = refusal.last;
                without.push(directive.clone());
                Err(refused(kernel, &located, refusal))
            }
        };
        match done {
            Err(wrong) if last => {
                diagnostics.push(wrong);
                break;
            }
            Err(wrong) => diagnostics.push(wrong),
            Ok(directive) => {
                out = next;
                applied(&directive, &out);
            }
        }
    }
    (diagnostics, out)
}

fn refused(kernel: &Kernel, located: &Located, refusal: Refusal) -> Diagnostic {
    let message = format!("`{}` is refused: {}", located.directive, refusal.message);
    let at = kernel.source.line_column(located.span.start);
    let mut diagnostic = Diagnostic::error(message).at(&kernel.source, refusal.span);
    diagnostic.hint = refusal.hint;
    let diagnostic = refusal
        .notes
        .into_iter()
        .fold(diagnostic, Diagnostic::with_note);
    diagnostic.with_note(format!(
        "the directive stands at line {}, column {}",
        at.line, at.column
    ))
}

/// There is no loop or statement of the name that a directive changes.
fn nothing_to_change(kernel: &Kernel, now: &Kernel, located: &Located) -> Diagnostic {
    let names = located.directive.changes();
    let text = names.join(", ");
    let message = match &located.directive {
        Directive::Interchange { .. } => {
            format!("there are no loops `{text}`, one directly inside the other")
        }
        Directive::Fuse { .. } => {
            format!("there are no loops `{text}`, one directly behind the other")
        }
        Directive::ReorderStatements { .. } => {
            format!("there are no statements for `{text}`, one directly behind the other")
        }
        _ => format!("there is no loop `{}`", names[0]),
    };
    let loops = now.symbols.iter().filter(|s| s.kind == SymbolKind::Loop);
    let known = loops.map(|s| s.name.as_str());
    let diagnostic = Diagnostic::error(message).at(&kernel.source, located.span);
    match suggest(names[0], known).filter(|n| *n != names[0]) {
        Some(near) => diagnostic.hint(format!("did you mean `{near}`?")),
        None => diagnostic,
    }
}

/// The first loop among statements of which data choose the iteration.
fn chosen_by_data(body: &[Stmt]) -> Option<Span> {
    body.iter().find_map(|stmt| match stmt {
        Stmt::For(f) if f.at.is_some() => Some(f.span),
        Stmt::For(f) => chosen_by_data(&f.body),
        _ => None,
    })
}

/// A function of the C library that statements call, and where.
fn called(kernel: &Kernel, body: &[Stmt]) -> Option<(Op, Span)> {
    let mut found = None;
    for_each_stmt(body, &mut |stmt, _| {
        let Some(value) = kernel.value(stmt) else {
            return;
        };
        kernel.walk(value, &|_| true, &mut |e| {
            if let ExprKind::Apply(op @ Op::Call(_), _) = e.kind {
                found.get_or_insert((op, e.span));
            }
            e.operands()
        });
    });
    found
}

fn depends_on_data(span: Span) -> Refusal {
    Refusal::at(
        span,
        "data choose the iteration of this loop, so that it is not known what it touches",
    )
}

/// Makes a change to every loop of that name; how many there were, at least one for a buffer.
fn run(kernel: &mut Kernel, directive: &Directive, most: usize) -> Result<usize, Refusal> {
    let buffers = matches!(
        directive,
        Directive::ExpandDimension { .. }
            | Directive::LiftAllocation { .. }
            | Directive::UnrollBuffer { .. }
            | Directive::Compute { at: None, .. }
    );
    if let (true, Some(span)) = (buffers, chosen_by_data(&kernel.body)) {
        return Err(depends_on_data(span));
    }
    match directive {
        Directive::ExpandDimension { buffer, by } => return buffer::expand(kernel, buffer, by),
        Directive::LiftAllocation { buffer, over } => {
            return buffer::lift(kernel, buffer, over.as_deref());
        }
        Directive::Compute { function, at: None } => {
            let (body, facts) = (kernel.body.clone(), assumptions(kernel));
            let whole = (function.as_str(), None, kernel.span);
            kernel.body = compute::compute(kernel, &body, whole, &facts)?;
            return Ok(1);
        }
        Directive::SetMemory { buffer, memory } => {
            return buffer::set_memory(kernel, buffer, memory);
        }
        Directive::UnrollBuffer { buffer, dimension } => {
            return buffer::unroll(kernel, buffer, *dimension);
        }
        _ => {}
    }
    let body = kernel.body.clone();
    let facts = assumptions(kernel);
    let mut pass = Pass {
        kernel,
        directive,
        axis: directive.changes()[0],
        count: 0,
        left: most,
        most,
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
    directive: &'k Directive,
    /// The loop that is changed, or the first name of two.
    axis: &'k str,
    count: usize,
    /// Operators that may be written out still, and in all.
    left: usize,
    most: usize,
    /// The loops around, the innermost last.
    stack: Vec<Symbol>,
}

impl Pass<'_> {
    /// Counts what the directive makes of a loop; beside as many copies as it asks for stands what is
    /// left over.
    fn write_out(&mut self, f: &For) -> Result<(), Refusal> {
        let copies = match self.directive {
            Directive::Jam { by, .. } | Directive::Unroll { by: Some(by), .. } => *by,
            Directive::Unroll { by: None, .. } => nest::iterations(f).unwrap_or(0),
            _ => 1,
        };
        let copies = usize::try_from(copies).unwrap_or(0).saturating_add(1);
        let written = operators(&f.body).saturating_mul(copies);
        let Some(left) = self.left.checked_sub(written) else {
            let message = format!("more than {} operators would be written out", self.most);
            return Err(Refusal {
                last: true,
                ..Refusal::at(f.span, message)
            });
        };
        self.left = left;
        Ok(())
    }

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
        let called = |kernel: &Kernel, stmt: &Stmt, name: &String| {
            access::names(kernel, stmt).contains(name)
        };
        let data = [one, two]
            .into_iter()
            .any(|stmt| matches!(stmt, Stmt::For(f) if f.depends_on_data()));
        match (self.directive, one, two) {
            _ if data => Ok(None),
            (Directive::Fuse { first, second }, Stmt::For(f), Stmt::For(g))
                if self.kernel.symbol_name(f.var) == *first
                    && self.kernel.symbol_name(g.var) == *second =>
            {
                order::fuse(self.kernel, f, g, facts).map(Some)
            }
            (Directive::ReorderStatements { first, second }, one, two)
                if called(self.kernel, one, first) && called(self.kernel, two, second) =>
            {
                order::reorder(self.kernel, one, two, facts).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn for_loop(&mut self, f: For, facts: &Facts) -> Result<Vec<Stmt>, Refusal> {
        if self.kernel.symbol_name(f.var) == self.axis
            && !f.partial
            && let Some(span) = chosen_by_data(&[Stmt::For(f.clone())])
        {
            return Err(depends_on_data(span));
        }
        if self.kernel.symbol_name(f.var) == self.axis && !f.partial {
            self.write_out(&f)?;
            if let Some(changed) = self.change_loop(&f, facts)? {
                bounds_are_short(&f, &changed)?;
                self.count += 1;
                return Ok(changed);
            }
        }
        let mut inside = facts.clone();
        inside.add_loop(f.var, &f.lo, &f.hi, f.step);
        self.stack.push(f.var);
        let body = self.block(f.body, &inside)?;
        self.stack.pop();
        Ok(vec![Stmt::For(For { body, ..f })])
    }

    fn change_loop(&mut self, f: &For, facts: &Facts) -> Result<Option<Vec<Stmt>>, Refusal> {
        let kernel = &mut *self.kernel;
        let changed = match self.directive {
            Directive::Vectorize { lanes, tail, .. } => {
                if let Some((function, span)) = called(kernel, &f.body) {
                    let message = format!("`{function}` is computed one value at a time");
                    return Err(Refusal::at(span, message));
                }
                vectorize::vectorize(kernel, f, *lanes, *tail, facts)?
            }
            Directive::Split { by, into, .. } => nest::split(kernel, f, *by, into, facts),
            Directive::Tile { axes, by, into } => range::tile(kernel, f, axes, by, into, facts)?,
            Directive::Compute { function, .. } => {
                let mut inside = facts.clone();
                inside.add_loop(f.var, &f.lo, &f.hi, f.step);
                let place = (function.as_str(), Some(f.var), f.span);
                let body = compute::compute(kernel, &f.body, place, &inside)?;
                vec![Stmt::For(For { body, ..f.clone() })]
            }
            Directive::Stage { array, .. } => stage::stage(kernel, f, array, facts)?,
            Directive::Unroll { by, .. } => nest::unroll(kernel, f, *by, facts)?,
            Directive::Jam { by, .. } => nest::jam(kernel, f, *by, facts)?,
            Directive::Interchange { inner, .. } => match &f.body[..] {
                [Stmt::For(g)] if kernel.symbol_name(g.var) == *inner => {
                    nest::interchange(kernel, f, g, facts)?
                }
                _ => return Ok(None),
            },
            Directive::Fission { after, into, .. } => {
                order::fission(kernel, f, after, into.as_ref(), facts)?
            }
            Directive::Partition { at, into, .. } => {
                range::partition(kernel, f, at, into.as_ref(), &self.stack, facts)?
            }
            Directive::RemoveLoop { .. } => order::remove_loop(kernel, f, facts)?,
            Directive::StageMemory { array, new, .. } => {
                window::stage(kernel, f, array, new, facts)?
            }
            Directive::Increment { .. } => range::increment(kernel, f)?,
            Directive::BranchFree { .. } => range::branch_free(kernel, f)?,
            Directive::Fuse { .. }
            | Directive::ReorderStatements { .. }
            | Directive::ExpandDimension { .. }
            | Directive::LiftAllocation { .. }
            | Directive::SetMemory { .. }
            | Directive::UnrollBuffer { .. } => return Ok(None),
        };
        Ok(Some(changed))
    }
}
