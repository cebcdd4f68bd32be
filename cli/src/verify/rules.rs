//! `isaforge verify --rules`: the table of rewrites, and whether each holds.
//!
//! In: a solver, widths. Out: a row for each rewrite by its name, counts by how it is known, a
//! status. What is asked about is what the code that rewrites makes of terms.

use crate::args::Verify;
use crate::status::Status;
use crate::terminal;
use certify::corpus::Corpus;
use certify::rules::{Kind, Row, Source, Use, sources, table};
use semantics::sort::Sort;
use similarity::canon::rules::{CHAIN_RULES, RULES};
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The kinds, as the table counts them.
const KINDS: [(Kind, &str); 6] = [
    (
        Kind::Solver,
        "by the solver, or by proofs that were checked, at every width",
    ),
    (
        Kind::Exhaustive,
        "on every input at 8 bits and less; the solver did not say at some width above",
    ),
    (Kind::Argued, "by an argument and a test"),
    (Kind::Open, "not known to hold"),
    (Kind::Unused, "with nothing to try them on"),
    (Kind::Wrong, "wrong"),
];

/// What the solver may count for one use of a rewrite. Uses are small: what takes more is a product
/// or a quotient of wide words, of which ten times as much answers no more.
const EFFORT: u64 = 3_000_000;

/// Asks about every rewrite.
pub(super) fn command(request: &Verify) -> Status {
    let mut plan = match super::independent::plan(&request.prover.solver, &request.asking, EFFORT) {
        Ok(plan) => plan,
        Err(status) => return status,
    };
    plan.chains = false;
    let mut all = sources();
    all.push(canonical());
    let bar = terminal::bar("asking", 0);
    let spent = Mutex::new(Duration::ZERO);
    let rows = table(&all, &request.widths, &plan, &|of, time| {
        bar.set_length(of as u64);
        bar.inc(1);
        *spent.lock().unwrap_or_else(PoisonError::into_inner) += time;
    });
    bar.finish_and_clear();
    let (mut text, status) = report(&rows);
    let spent = spent.into_inner().unwrap_or_else(PoisonError::into_inner);
    let _ = writeln!(text, "{:>9.1}  seconds of the solver", spent.as_secs_f64());
    terminal::print(&text);
    status
}

/// The rewrites of canonical forms, which know nothing of who asks.
fn canonical() -> Source {
    let names = RULES.iter().chain(CHAIN_RULES).map(|(name, _)| *name);
    Source {
        name: "canonical forms",
        rules: names
            .map(|name| (name, name.replace('_', " "), None))
            .collect(),
        uses: of_canonical,
    }
}

fn of_canonical(corpus: &Corpus) -> Vec<Use> {
    let built = corpus.applications.iter();
    let built = built.map(|(op, args)| semantics::build::app(*op, args));
    let mut uses = Vec::new();
    for from in built.chain(corpus.larger.iter().copied()) {
        if from.binders() > 0 || from.sort() == Sort::Int {
            continue;
        }
        for (rule, rewrite) in RULES.iter().chain(CHAIN_RULES) {
            uses.extend(rewrite(from).map(|to| Use { rule, from, to }));
        }
    }
    uses
}

fn report(rows: &[Row]) -> (String, Status) {
    let mut text = String::new();
    for row in rows {
        let (source, name, formula) = (row.source, row.name, &row.formula);
        let (uses, solver) = (row.uses, row.solver);
        let (shown, exhaustive) = (row.shown, row.exhaustive);
        let widths: Vec<String> = row.open.iter().map(u32::to_string).collect();
        let known = match row.argument {
            Some(argument) => format!("argued: {argument}"),
            None => format!(
                "{solver} of {uses} by the solver, {shown} by proofs that were checked, \
                 {exhaustive} on every input"
            ),
        };
        let _ = write!(text, "{source}: {name}: {formula}\n    {known}");
        if !widths.is_empty() {
            let _ = write!(text, "; no answer at {} bits", widths.join(", "));
        }
        text.push('\n');
        if let (Kind::Open, Some(left)) = (row.kind, row.left) {
            let _ = writeln!(text, "    no answer: {} became {}", left.from, left.to);
        }
        if let Some(wrong) = row.wrong {
            let _ = writeln!(text, "    WRONG: {} became {}", wrong.from, wrong.to);
        }
    }
    let uses: usize = rows.iter().map(|row| row.uses).sum();
    let _ = writeln!(text, "{:>9}  rewrites, {uses} uses asked about", rows.len());
    for (kind, what) in KINDS {
        let count = rows.iter().filter(|row| row.kind == kind).count();
        let _ = writeln!(text, "{count:>9}  {what}");
    }
    let status = |row: &Row| match row.kind {
        Kind::Solver | Kind::Exhaustive | Kind::Argued => Status::Done,
        Kind::Open => Status::Limited,
        Kind::Unused | Kind::Wrong => Status::CheckFailed,
    };
    let status = rows.iter().map(status).max().unwrap_or(Status::Done);
    (text, status)
}
