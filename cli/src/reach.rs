//! `isaforge reach`: which operations of a target the search finds.
//!
//! In: a target. Out: of its operations without masks how many are found, by windows that compute
//! what they mean, at no more than they cost; the others each with what was found in its place.
//! Nothing is taken from the memo and nothing kept.

use crate::args::{Compile, Reach, ReportForm};
use crate::compile;
use crate::status::Status;
use crate::terminal;
use rayon::prelude::*;
use semantics::diagnostic::Diagnostic;
use semantics::random::Random;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use synth::reach::{Probe, Reached, Spelling, probe, reached};

/// What is told.
#[derive(Debug, Serialize)]
struct Report {
    /// Operations at numbers that were searched for.
    asked: usize,
    /// Those that were found at no more than they cost.
    reached: usize,
    /// Operations that no window can be made of: masked ones, odd operands.
    left_out: usize,
    /// The others.
    lost: Vec<Lost>,
}

/// An operation that was not found.
#[derive(Debug, Serialize)]
struct Lost {
    instruction: String,
    /// In cycles.
    cost: f64,
    found: Option<f64>,
    instructions: Vec<String>,
    why: Option<String>,
    window: String,
}

/// Runs the command.
pub(crate) fn command(request: &Reach) -> Status {
    match measured(request) {
        Ok(report) => {
            let text = match request.report {
                ReportForm::Text => written(&report),
                ReportForm::Json => {
                    serde_json::to_string_pretty(&report).expect("a report is data") + "\n"
                }
            };
            terminal::print(&text);
            match 100.0 * report.reached as f64 >= request.least * report.asked as f64 {
                true => Status::Done,
                false => Status::CheckFailed,
            }
        }
        Err(diagnostics) => {
            terminal::complain(&diagnostics);
            Status::WrongInput
        }
    }
}

fn measured(request: &Reach) -> Result<Report, Vec<Diagnostic>> {
    let fresh = Compile {
        time_limit: request.time_limit,
        seed: request.seed,
        ..Compile::fresh(&request.target, &request.prover, &request.specs)
    };
    let (settings, _) = compile::settings(&fresh)?;
    let candidates = settings.operations.candidates();
    let spelling = |k: usize| match request.identities {
        0 => Spelling::Meaning,
        steps => Spelling::Identities(steps, request.seed.wrapping_add(k as u64)),
    };
    let probes = (0..candidates.list.len())
        .into_par_iter()
        .map(|k| Some((k, probe(candidates, k, spelling(k), request.seed)?)));
    let probes: Vec<Option<(usize, Probe)>> = probes.collect();
    let left_out = probes.iter().filter(|p| p.is_none()).count();
    let wanted = |k: usize| match &request.named {
        Some(text) => candidates.list[k].instruction.contains(text.as_str()),
        None => true,
    };
    let mut probes: Vec<_> = probes.into_iter().flatten().collect();
    probes.retain(|(k, _)| wanted(*k));
    if let Some(most) = request.sample {
        let mut random = Random::new(request.seed);
        while probes.len() > most {
            probes.swap_remove(random.index(probes.len()));
        }
    }
    let bar = terminal::bar("operations", probes.len());
    let found: Vec<Reached> = probes
        .par_iter()
        .map(|(k, probe)| {
            let found = reached(candidates, *k, probe, &settings.prover, settings.options);
            bar.inc(1);
            found
        })
        .collect();
    bar.finish_and_clear();
    let lost = found.iter().filter(|r| !r.is_reached()).map(Lost::of);
    let lost: Vec<Lost> = lost.collect();
    Ok(Report {
        asked: found.len(),
        reached: found.len() - lost.len(),
        left_out,
        lost,
    })
}

impl Lost {
    fn of(reached: &Reached) -> Lost {
        let cycles = |tenths: u32| f64::from(tenths) / 10.0;
        let found = reached.found.as_ref();
        Lost {
            instruction: reached.instruction.clone(),
            cost: cycles(reached.cost),
            found: found.map(|(cost, _)| cycles(*cost)),
            instructions: found.map(|(_, used)| used.clone()).unwrap_or_default(),
            why: reached.why.clone(),
            window: reached.window.to_string(),
        }
    }
}

fn written(report: &Report) -> String {
    let mut text = String::new();
    for lost in &report.lost {
        let _ = write!(text, "{:36} {:>7.1}", lost.instruction, lost.cost);
        let _ = match (lost.found, &lost.why) {
            (Some(cost), _) => {
                let mut counted: BTreeMap<&str, usize> = BTreeMap::new();
                for name in &lost.instructions {
                    *counted.entry(name).or_default() += 1;
                }
                let used = counted.iter().map(|(name, n)| format!("{n} {name}"));
                let used: Vec<String> = used.collect();
                writeln!(text, " {cost:>7.1}  {}", used.join(", "))
            }
            (None, why) => writeln!(text, "    none  {}", why.as_deref().unwrap_or("")),
        };
    }
    let share = 100.0 * report.reached as f64 / report.asked.max(1) as f64;
    let _ = writeln!(
        text,
        "{} of {} operations found at no more than they cost ({share:.1} %); {} take masks or other \
         operands that no window has",
        report.reached, report.asked, report.left_out
    );
    text
}
