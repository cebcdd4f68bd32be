//! What `compile` tells: for each window what was found, at what cost, how it was proved,
//! how long it took; for each kernel what running it showed.
//!
//! In: facts from the pipeline. Out: text to read, or JSON. It decides nothing but the exit
//! status that follows from the facts.

pub(crate) mod page;
pub(crate) mod spent;

use crate::status::Status;
use kernel::tree::Kernel;
use lowering::window::Window;
use semantics::span::{Source, Span};
use semantics::value::Value;
use serde::Serialize;
use spent::Spent;
use std::fmt::Write as _;
use std::time::Duration;
use synth::limit::Bound;
use validate::run::Outcome;

/// All kernels of a file.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// Version of this program.
    pub(crate) version: &'static str,
    /// The target as asked for.
    pub(crate) target: String,
    /// How many instructions were chosen from.
    pub(crate) candidates: usize,
    /// How many operations these implement: whatever their numbers, and at different numbers.
    pub(crate) operations: [usize; 2],
    /// The kernels, in order.
    pub(crate) kernels: Vec<KernelReport>,
}

/// One kernel.
#[derive(Debug, Serialize)]
pub(crate) struct KernelReport {
    /// Its name.
    pub(crate) name: String,
    /// How its schedule was searched for, when it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) schedule: Option<String>,
    /// Its windows, in order.
    pub(crate) windows: Vec<WindowReport>,
    /// Where the C code is, when it was written to a file.
    pub(crate) output: Option<String>,
    /// What running it showed, when it was asked for.
    pub(crate) run: Option<RunReport>,
}

/// One window.
#[derive(Debug, Serialize)]
pub(crate) struct WindowReport {
    /// Its name.
    pub(crate) name: String,
    /// Line of the statement that it is from, from 1.
    pub(crate) line: usize,
    /// The last line of that statement.
    #[serde(skip)]
    pub(crate) last: usize,
    /// That statement as it is written.
    pub(crate) expression: String,
    /// Type of its result.
    pub(crate) result: String,
    /// The intrinsics in order; none when it is computed element by element.
    pub(crate) instructions: Vec<String>,
    /// Sum of the costs, in the units of the target's cost table; of a window without a program
    /// that was found to cost more, an estimate of what C makes of its elements.
    pub(crate) cost: Option<f64>,
    /// What that is made of, where there is a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) spent: Option<Spent>,
    /// How it was proved equal to the window.
    pub(crate) proof: Option<String>,
    /// Seconds of search and proof.
    pub(crate) seconds: f64,
    /// The limit that ended the search, when one did.
    pub(crate) limit: Option<String>,
    /// Whether it was found in the memo.
    pub(crate) cached: bool,
    /// Whether anything was looked for: one lane of scalars is left to C.
    pub(crate) searched: bool,
    /// Instructions matched and expressions evaluated.
    #[serde(skip)]
    pub(crate) tried: u64,
    /// What the search tried, what was refuted by which input, and why the winner won; only
    /// when it was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) explanation: Vec<String>,
    /// What else there is to say: candidates that were refuted, with the inputs.
    pub(crate) notes: Vec<String>,
}

/// What running a kernel showed.
#[derive(Debug, Serialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub(crate) enum RunReport {
    /// All results as the evaluator says.
    Agreed {
        /// Sets of arguments.
        draws: u64,
        /// Elements compared.
        elements: usize,
        /// Seconds of one call.
        seconds: f64,
    },
    /// Some result is not.
    Disagreed {
        /// Which, and how to see it again.
        what: String,
    },
    /// No arguments were found to run it on.
    Unsized {
        /// What was looked for.
        why: String,
    },
    /// It was not run.
    Skipped {
        /// Why.
        why: String,
    },
}

impl From<Outcome> for RunReport {
    fn from(outcome: Outcome) -> RunReport {
        match outcome {
            Outcome::Agreed {
                draws,
                elements,
                seconds,
            } => RunReport::Agreed {
                draws,
                elements,
                seconds,
            },
            Outcome::Differs {
                seed,
                array,
                index,
                found,
                expected,
            } => RunReport::Disagreed {
                what: format!("{array}[{index}] is {found}, not {expected} (seed {seed})"),
            },
            Outcome::Broken(what) => RunReport::Disagreed { what },
            Outcome::Skipped(why) => RunReport::Skipped { why },
            Outcome::Unsized(why) => RunReport::Unsized { why },
        }
    }
}

impl RunReport {
    /// In a line.
    fn reported(&self) -> String {
        match self {
            RunReport::Agreed {
                draws,
                elements,
                seconds,
            } => format!(
                "agrees with the evaluator on {elements} elements of {draws} random inputs; {:.3} us for the largest",
                seconds * 1e6
            ),
            RunReport::Disagreed { what } => format!("FAILED: {what}"),
            RunReport::Unsized { why } => format!("not done: {why}"),
            RunReport::Skipped { why } => format!("skipped: {why}"),
        }
    }
}

/// A value as people read it.
fn shown(value: &Value) -> String {
    match value {
        Value::Bv(bits) => bits.to_string(),
        other => format!("{other:?}"),
    }
}

/// So many lines of a statement are in a report that was not asked to explain.
const LINES: usize = 3;

/// And so many letters of each.
const LETTERS: usize = 100;

/// The first letters of a line, with `…` for the others.
fn short(line: &str, most: usize) -> String {
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// Bytes of lines around a statement that are shown with it.
const AROUND: usize = 200;

/// The lines of a statement, without what all of them begin with; the statement alone where they
/// are long, as in a text without ends of lines.
fn statement(source: &Source, span: Span) -> String {
    let [(start, _), (last, line)] =
        [span.start, span.end.max(span.start + 1) - 1].map(|at| source.line_at(at));
    let whole = Span::new(start, last + line.len());
    let is_long = whole.end - whole.start > span.end - span.start + AROUND;
    let lines = source.slice(if is_long { span } else { whole }).lines();
    let blanks = |line: &str| line.len() - line.trim_start().len();
    let least = lines.clone().map(blanks).min().unwrap_or(0);
    lines
        .map(|line| line.get(least..).unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}

/// What a search did, in sentences.
fn explanation(found: &synth::compile::WindowReport) -> Vec<String> {
    let search = &found.search;
    let mut lines = Vec::new();
    if found.cached {
        lines.push("found in the memo; `--no-memo` searches anew".to_owned());
        return lines;
    }
    let evaluated: u64 = search.lanes.iter().map(|l| l.evaluations).sum();
    lines.push(format!(
        "{} goals, {} matches of instructions, {} lane searches with {evaluated} expressions",
        search.goals,
        search.matches,
        search.lanes.len()
    ));
    let cost = |c: u32| f64::from(c) / 10.0;
    for (what, price) in &search.tried {
        lines.push(match price {
            Some(price) if *price > found.cost => format!(
                "{what}: cost {:.1}, {:.1} more",
                cost(*price),
                cost(*price - found.cost)
            ),
            Some(price) => format!("{what}: cost {:.1}", cost(*price)),
            None => format!("{what}: not found"),
        });
    }
    let lanes = search.lanes.iter().flat_map(|l| &l.refuted);
    lines.extend(lanes.map(|miss| format!("refuted: {miss}")));
    lines.extend(search.refuted.iter().map(|miss| format!("refuted: {miss}")));
    lines.extend(
        search
            .near_misses
            .iter()
            .map(|miss| format!("nearly: {miss}")),
    );
    if found.cost > 0 && matches!(found.outcome, synth::compile::Outcome::Proved(_)) {
        let least = cost(found.cost);
        lines.push(format!(
            "chosen: the cheapest of these that was proved, cost {least:.1}"
        ));
    }
    lines
}

impl WindowReport {
    /// What is told of a window of a kernel.
    pub(crate) fn new(
        kernel: &Kernel,
        window: &Window,
        found: &synth::compile::WindowReport,
        (instructions, spent): (Vec<String>, Option<Spent>),
        explain: bool,
    ) -> WindowReport {
        let line = |at: usize| kernel.source.line(at);
        let last = line(window.span.end.max(window.span.start + 1) - 1);
        let mut report = WindowReport {
            name: window.name.clone(),
            line: line(window.span.start),
            last,
            expression: statement(&kernel.source, window.span),
            result: window.output.to_string(),
            instructions,
            cost: None,
            spent,
            proof: None,
            seconds: found.time.iter().sum::<Duration>().as_secs_f64(),
            limit: None,
            cached: found.cached,
            searched: found.outcome != synth::compile::Outcome::Scalar,
            tried: found.search.matches as u64
                + found
                    .search
                    .lanes
                    .iter()
                    .map(|l| l.evaluations)
                    .sum::<u64>(),
            explanation: if explain {
                explanation(found)
            } else {
                Vec::new()
            },
            notes: Vec::new(),
        };
        // What nearly does it is of interest where nothing does.
        let done = matches!(
            found.outcome,
            synth::compile::Outcome::Proved(_)
                | synth::compile::Outcome::Scalar
                | synth::compile::Outcome::Elements(_)
        );
        let near = found.search.near_misses.iter().filter(|_| !done);
        report.notes.extend(near.map(ToString::to_string));
        match &found.outcome {
            synth::compile::Outcome::Proved(evidence) => {
                report.cost = Some(f64::from(found.cost) / 10.0);
                report.proof = Some(evidence.to_string());
                report.notes.extend(not_all(found));
            }
            synth::compile::Outcome::Scalar => {
                report
                    .notes
                    .push("one lane of scalars: left to C".to_owned());
            }
            synth::compile::Outcome::Elements(vectors) => {
                let [one, other] = [found.cost, *vectors].map(|cost| f64::from(cost) / 10.0);
                report.cost = Some(one);
                report.notes.push(format!(
                    "left to C, element by element: that costs {one:.1}, the cheapest vectors found \
                     {other:.1}"
                ));
            }
            synth::compile::Outcome::NotFound(bounds) if bounds.is_empty() => {
                report
                    .notes
                    .push("no instructions of the target compute it".to_owned());
            }
            synth::compile::Outcome::NotFound(bounds) => {
                report.limit = Some(Bound::names(bounds.iter().copied()));
            }
            synth::compile::Outcome::Refuted(model) => {
                let inputs = model
                    .iter()
                    .map(|(name, value)| format!("{name} = {}", shown(value)));
                let inputs = inputs.collect::<Vec<_>>().join(", ");
                report.notes.push(format!(
                    "what was found was refuted: it differs at {inputs}"
                ));
            }
            synth::compile::Outcome::NotPlaced(why) => report.notes.push(why.clone()),
            synth::compile::Outcome::Unproved(reason) => {
                report.limit = Some(format!("what was found could not be proved: {reason}"));
            }
        }
        report
    }
}

/// That a search with a result did not look at everything, where it did not.
fn not_all(found: &synth::compile::WindowReport) -> Option<String> {
    let bounds = Bound::names(found.search.left_out());
    let bounds = Some(bounds).filter(|bounds| !bounds.is_empty())?;
    Some(format!(
        "not everything was looked at ({bounds}): there may be something cheaper"
    ))
}

impl Report {
    /// The status that follows.
    pub(crate) fn status(&self) -> Status {
        self.kernels
            .iter()
            .map(KernelReport::status)
            .max()
            .unwrap_or(Status::Done)
    }

    /// As JSON, one object.
    pub(crate) fn json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("names and numbers only");
        text.push('\n');
        text
    }

    /// As lines to read.
    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "target {}: {} operations, {} at their numbers, {} instructions to choose from\n",
            self.target, self.operations[0], self.operations[1], self.candidates
        );
        for kernel in &self.kernels {
            kernel.write(&mut text);
        }
        text
    }
}

impl KernelReport {
    /// The status that follows.
    fn status(&self) -> Status {
        let limited = self.windows.iter().any(|window| window.limit.is_some());
        match self.run {
            Some(RunReport::Disagreed { .. }) => Status::CheckFailed,
            Some(RunReport::Unsized { .. }) => Status::Limited,
            _ if limited => Status::Limited,
            _ => Status::Done,
        }
    }

    /// Adds the lines of a kernel.
    fn write(&self, text: &mut String) {
        let _ = writeln!(text, "\nkernel {}", self.name);
        text.push_str(self.schedule.as_deref().unwrap_or_default());
        for window in &self.windows {
            window.write(text);
        }
        if let Some(output) = &self.output {
            let _ = writeln!(text, "  code: {output}");
        }
        if let Some(run) = &self.run {
            let _ = writeln!(text, "  run: {}", run.reported());
        }
    }
}

impl WindowReport {
    /// The statement as it is written: all of it with `--explain`, otherwise its first lines as far
    /// as they are short, with `…` for what is left out.
    fn stated(&self) -> Vec<String> {
        if !self.explanation.is_empty() {
            return self.expression.lines().map(str::to_owned).collect();
        }
        let mut lines = self.expression.lines();
        let shown = lines.by_ref().take(LINES);
        let mut shown: Vec<String> = shown.map(|line| short(line, LETTERS)).collect();
        if lines.next().is_some() {
            shown.push("…".to_owned());
        }
        shown
    }

    /// Adds the lines of a window.
    fn write(&self, text: &mut String) {
        let _ = write!(
            text,
            "  {} (line {}, {}): ",
            self.name, self.line, self.result
        );
        let _ = match (self.instructions.is_empty(), self.cost) {
            (true, None) => writeln!(text, "computed element by element ({:.2} s)", self.seconds),
            (_, cost) => writeln!(
                text,
                "cost {:.1} ({:.2} s)",
                cost.unwrap_or(0.0),
                self.seconds
            ),
        };
        for line in self.stated() {
            let _ = writeln!(text, "    | {line}");
        }
        for instruction in &self.instructions {
            let _ = writeln!(text, "    {instruction}");
        }
        if let Some(split) = self.spent.as_ref().and_then(Spent::reported) {
            let _ = writeln!(text, "    {split}");
        }
        if let Some(proof) = &self.proof {
            let _ = writeln!(text, "    proved: {proof}");
        }
        for line in &self.explanation {
            let _ = writeln!(text, "    {line}");
        }
        if let Some(limit) = &self.limit {
            let _ = writeln!(text, "    limit: {limit}");
        }
        for note in &self.notes {
            let _ = writeln!(text, "    note: {note}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut_between_letters() {
        assert_eq!(short("a = ±1;", 7), "a = ±1;");
        assert_eq!(short("a = ±1;", 5), "a = ±…");
        assert_eq!(short("a = ±1;", 4), "a = …");
        assert_eq!(short("", 0), "");
    }

    #[test]
    fn a_statement_is_its_lines_or_itself() {
        let shown = |text: &str, what: &str| {
            let at = text.find(what).expect("it stands there");
            statement(&Source::new("k", text), Span::new(at, at + what.len()))
        };
        assert_eq!(shown("{\n  a =\n    1;\n}\n", "a =\n    1"), "a =\n  1;");
        assert_eq!(shown("{ a = 1; }\n", "a = 1"), "{ a = 1; }");
        let long = "b = 2; ".repeat(40) + "a = 1;";
        assert_eq!(shown(&long, "a = 1"), "a = 1");
    }
}
