//! `isaforge ablate`: what each heuristic of the search is worth, and how its cost grows.
//!
//! In: kernels. Out: a table with a line for the search as it is, for the search without each
//! of its heuristics, and without all of them: seconds, what was tried, windows that were
//! proved, what their code costs. With `--growth`, how seconds grow with the number of
//! operations in a window, and with the share of the instructions that are chosen from.
//! Nothing is taken from the memo and nothing kept.

use crate::args::{Ablate, Compile, Heuristic, ReportForm};
use crate::compile::{self, read};
use crate::pipeline::{self, Settings};
use crate::report::{KernelReport, WindowReport};
use crate::status::Status;
use crate::terminal;
use clap::ValueEnum;
use semantics::diagnostic::Diagnostic;
use semantics::span::Source;
use serde::Serialize;
use std::fmt::Write as _;
use std::time::Instant;

/// Characters of the longest bar.
const BAR: f64 = 30.0;
/// The most operations in a window of `--growth`.
const MOST_OPERATIONS: usize = 12;
/// The shares of the instructions, in eighths.
const SHARES: [usize; 4] = [1, 2, 4, 8];
/// The number of operations in the windows that meet those shares.
const MIDDLE: usize = 6;

/// One line of a table.
#[derive(Debug, Serialize)]
struct Line {
    /// What was left out, or how large the problem was.
    setting: String,
    /// The geometric mean over kernels, and the largest.
    seconds: [f64; 2],
    /// Instructions matched and expressions evaluated.
    tried: u64,
    /// Windows that were proved, of those that were searched.
    proved: [usize; 2],
    /// What the code of the proved ones costs, in cycles.
    cost: f64,
}

/// Runs the command.
pub(crate) fn command(request: &Ablate) -> Status {
    let lines = match request.growth {
        true => growth(request),
        false => heuristics(request),
    };
    match lines {
        Ok(lines) => {
            let text = match request.report {
                ReportForm::Text => table(&lines),
                ReportForm::Json => {
                    serde_json::to_string_pretty(&lines).expect("lines are data") + "\n"
                }
            };
            terminal::print(&text);
            Status::Done
        }
        Err(diagnostics) => {
            terminal::complain(&diagnostics);
            Status::WrongInput
        }
    }
}

/// The search as it is, without each heuristic, and without all.
fn heuristics(request: &Ablate) -> Result<Vec<Line>, Vec<Diagnostic>> {
    let sources: Vec<Source> = (request.kernels.iter())
        .map(|path| read(path).map_err(|diagnostic| vec![diagnostic]))
        .collect::<Result<_, _>>()?;
    let all = Heuristic::value_variants();
    let without = all.iter().map(|h| vec![*h]);
    let settings = [Vec::new()]
        .into_iter()
        .chain(without)
        .chain([all.to_vec()]);
    settings
        .map(|without| {
            let name = match &without[..] {
                [] => "as it is".to_owned(),
                [one] => format!("without {}", name_of(*one)),
                _ => "without any".to_owned(),
            };
            Ok(line(name, &sources, request, &without, None)?.0)
        })
        .collect()
}

fn name_of(heuristic: Heuristic) -> String {
    let value = heuristic.to_possible_value();
    value.map_or_else(String::new, |v| v.get_name().to_owned())
}

/// Windows of more and more operations, then of one size against more and more instructions,
/// those that its code is made of always among them.
fn growth(request: &Ablate) -> Result<Vec<Line>, Vec<Diagnostic>> {
    let mut lines = Vec::new();
    let mut used = Vec::new();
    for operations in 1..=MOST_OPERATIONS {
        let source = Source::new("growth", window(operations));
        let name = format!("{operations} operations");
        let (line, instructions) = line(name, &[source], request, &[], None)?;
        lines.push(line);
        if operations == MIDDLE {
            used = instructions;
        }
    }
    for share in SHARES {
        let source = Source::new("growth", window(MIDDLE));
        let name = format!("{share}/8 of the instructions");
        let part = Some((share, &used[..]));
        lines.push(line(name, &[source], request, &[], part)?.0);
    }
    Ok(lines)
}

/// A kernel with one window of so many operations, each on what the one before gives.
fn window(operations: usize) -> String {
    let steps = [
        "(E) + i32(b[x])",
        "(E) - i32(c[x])",
        "max(E, i32(b[x]))",
        "(E) >> 3",
        "min(E, i32(c[x]))",
        "i32(absd(E, i32(b[x])))",
    ];
    let value = (0..operations).fold("i32(a[x])".to_owned(), |value, k| {
        steps[k % steps.len()].replace('E', &value)
    });
    format!(
        "kernel growth(n: size, a: in i16[n], b: in i16[n], c: in i16[n], o: out i32[n]) {{\n  \
         for x in 0..n {{ o[x] = i32({value}); }}\n}} schedule {{ vectorize x by 16; }}\n"
    )
}

/// So many eighths of the instructions, and those named.
type Part<'a> = (usize, &'a [String]);

/// Compiles kernels with some heuristics and some instructions left out; the line, and what
/// the code is made of.
fn line(
    setting: String,
    sources: &[Source],
    request: &Ablate,
    without: &[Heuristic],
    part: Option<Part<'_>>,
) -> Result<(Line, Vec<String>), Vec<Diagnostic>> {
    let mut seconds = Vec::new();
    let mut windows: Vec<WindowReport> = Vec::new();
    for source in sources {
        let settings = settings(request, without, part)?;
        let start = Instant::now();
        let (compiled, diagnostics) = pipeline::compile(source, &settings);
        seconds.push(start.elapsed().as_secs_f64());
        if compiled.is_empty() {
            return Err(diagnostics);
        }
        let reports = compiled.into_iter().map(|c| c.report);
        windows.extend(reports.flat_map(|report: KernelReport| report.windows));
    }
    let proved = windows.iter().filter(|w| w.proof.is_some()).count();
    let searched = windows.iter().filter(|w| w.searched).count();
    let logs: f64 = seconds.iter().map(|s| s.max(1e-6).ln()).sum();
    let used = windows.iter().flat_map(|w| w.instructions.clone());
    let used = used.collect();
    let line = Line {
        setting,
        seconds: [
            (logs / seconds.len().max(1) as f64).exp(),
            seconds.iter().copied().fold(0.0, f64::max),
        ],
        tried: windows.iter().map(|w| w.tried).sum(),
        proved: [proved, searched],
        cost: windows
            .iter()
            .filter_map(|w| w.cost)
            .fold(0.0, |x, y| x + y),
    };
    Ok((line, used))
}

/// Fresh settings: nothing that an earlier search computed is there.
fn settings(
    request: &Ablate,
    without: &[Heuristic],
    part: Option<Part<'_>>,
) -> Result<Settings, Vec<Diagnostic>> {
    let whole = Compile {
        time_limit: request.time_limit,
        without: without.to_vec(),
        seed: request.seed,
        ..Compile::fresh(&request.target, &request.prover, &request.specs)
    };
    let (mut settings, _) = compile::settings(&whole)?;
    if let Some((share, named)) = part {
        settings.operations = settings.operations.part(share, 8, named);
    }
    Ok(settings)
}

/// Lines to read, with a bar as long as the seconds are many.
fn table(lines: &[Line]) -> String {
    let mut text = format!(
        "{:28} {:>9} {:>9} {:>12} {:>9} {:>10}\n",
        "", "seconds", "worst", "tried", "proved", "cost"
    );
    let longest = lines.iter().map(|l| l.seconds[0]).fold(0.0, f64::max);
    for line in lines {
        let proved = format!("{}/{}", line.proved[0], line.proved[1]);
        // A whole number of at most BAR.
        let bar = "█".repeat((BAR * line.seconds[0] / longest.max(1e-9)).round() as usize);
        let _ = writeln!(
            text,
            "{:28} {:>9.2} {:>9.2} {:>12} {proved:>9} {:>10.1}  {bar}",
            line.setting, line.seconds[0], line.seconds[1], line.tried, line.cost
        );
    }
    text
}
