//! Programs that were made before, for the windows of a kernel.
//!
//! In: a lowered kernel, programs by the names of its windows, whoever made them; a prover. Out:
//! [`Compiled`], each program proved equal to its window, or what is wrong. A program is proved as a
//! whole; where that has no short answer a search is made for the window, and what that claims of the
//! values that both programs have is proved step by step. The program that was given is what is taken,
//! or nothing: a search's own never stands in its place.

use crate::compile::{
    Compiled, Given, Options, Outcome, Shape, Sought, WindowReport, compile_window, fits,
    is_scalar, prepared,
};
use crate::estimate::WindowInput;
use crate::lanes::Counterexamples;
use crate::operations::TargetOperations;
use crate::proof::{self, Found};
use crate::record::numbered;
use autoir::program::Program;
use lowering::window::{Lowered, Window};
use rayon::prelude::*;
use smt::prover::Prover;
use smt::verdict::{Evidence, Verdict};
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

/// Takes programs that were made before, by the names of the windows: each is proved equal to its
/// window, whoever made it.
///
/// # Errors
/// For each program that is not one of its window what is wrong with it.
pub fn adopt(
    lowered: &Lowered,
    programs: &BTreeMap<String, Program>,
    operations: &TargetOperations,
    (prover, options): (&Prover, Options),
) -> Result<Compiled, Vec<String>> {
    let mut windows = prepared(lowered);
    let verdicts = verdicts(&mut windows, programs, operations, (prover, options));
    let mut compiled = Compiled {
        windows: Vec::new(),
        programs: Vec::new(),
        reports: Vec::new(),
    };
    let mut wrong = Vec::new();
    for (window, (verdict, time)) in windows.iter().zip(verdicts) {
        let mut report = WindowReport::scalar(window);
        report.time[1] = time;
        match verdict {
            None if is_scalar(window) => {}
            None => report.outcome = Outcome::NotFound(Vec::new()),
            Some(Ok(Verdict::Proved(evidence))) => report.outcome = Outcome::Proved(evidence),
            Some(Ok(Verdict::Refuted(model))) => {
                let input = model.iter().map(|(n, v)| format!("{n} = {v:?}"));
                let input = input.collect::<Vec<_>>().join(", ");
                wrong.push(format!(
                    "`{}` computes something else at {input}",
                    window.name
                ));
            }
            Some(Ok(Verdict::Unknown(reason))) => {
                wrong.push(format!("`{}` could not be proved: {reason}", window.name));
            }
            Some(Err(why)) => wrong.push(format!("`{}`: {why}", window.name)),
        }
        let proved = matches!(report.outcome, Outcome::Proved(_));
        let program = programs.get(&window.name).filter(|_| proved);
        if let Some(program) = program {
            report.cost = operations.cost(program, &WindowInput::of(window));
        }
        compiled.programs.push(program.cloned());
        compiled.reports.push(report);
    }
    let known = |name: &String| windows.iter().any(|w| w.name == *name);
    let strange = programs.keys().filter(|name| !known(name));
    wrong.extend(strange.map(|name| format!("the kernels have no window `{name}`")));
    compiled.windows = windows;
    match wrong.is_empty() {
        true => Ok(compiled),
        false => Err(wrong),
    }
}

/// What is known of a window's program, and how long that took; nothing where there is none.
type Judged = (Option<Result<Verdict, String>>, Duration);

/// The verdict on the program of each window. Of windows of one shape with one program the first is
/// looked at.
fn verdicts(
    windows: &mut [Window],
    programs: &BTreeMap<String, Program>,
    operations: &TargetOperations,
    (prover, options): (&Prover, Options),
) -> Vec<Judged> {
    let widths = operations.widths();
    let mut first: HashMap<(Shape, String), usize> = HashMap::new();
    let alike: Vec<usize> = (windows.iter().enumerate())
        .map(|(k, window)| match programs.get(&window.name) {
            None => k,
            Some(program) => *first.entry(key(window, program, operations)).or_insert(k),
        })
        .collect();
    let known: BTreeMap<usize, (Judged, usize)> = (0..windows.len())
        .into_par_iter()
        .filter(|&k| alike[k] == k)
        .map(|k| {
            let (window, start) = (&windows[k], Instant::now());
            let mut place = 0;
            let verdict = programs.get(&window.name).map(|program| {
                fits(program, window, &widths)?;
                let all: Vec<&Window> = std::iter::once(window).chain(&window.dealt).collect();
                let (verdict, of) = proved(&all, program, operations, (prover, options));
                place = of;
                Ok(verdict)
            });
            (k, ((verdict, start.elapsed()), place))
        })
        .collect();
    let mut all = Vec::new();
    for (k, window) in windows.iter_mut().enumerate() {
        let ((verdict, time), place) = known[&alike[k]].clone();
        let mut others = std::mem::take(&mut window.dealt);
        if (1..=others.len()).contains(&place) {
            *window = others.swap_remove(place - 1);
        }
        let time = if alike[k] == k { time } else { Duration::ZERO };
        all.push((verdict, time));
    }
    all
}

/// What two windows with their programs have to have in common for one verdict: all but the names.
fn key(window: &Window, program: &Program, operations: &TargetOperations) -> (Shape, String) {
    let inputs: Vec<String> = window.inputs.iter().map(|i| i.name.clone()).collect();
    (
        Shape::of(window, operations.processor()),
        numbered(program, &inputs).to_string(),
    )
}

/// Whether a program computes the first of some windows that are as good as each other, or else another
/// one, and which.
fn proved(
    windows: &[&Window],
    program: &Program,
    operations: &TargetOperations,
    (prover, options): (&Prover, Options),
) -> (Verdict, usize) {
    let verdict = proof::prove_whole(windows[0], program, prover);
    if matches!(verdict, Verdict::Proved(_)) {
        return (verdict, 0);
    }
    let all = || windows.iter().enumerate();
    for (k, other) in all().skip(1) {
        let again = proof::prove_whole(other, program, prover);
        if matches!(again, Verdict::Proved(_)) {
            return (again, k);
        }
    }
    let open = matches!(verdict, Verdict::Unknown(_));
    let by_steps = |(k, window): (usize, &&Window)| {
        let again = by_steps(window, program, operations, (prover, options))?;
        Some((Verdict::Proved(again), k))
    };
    let again = open.then(|| all().find_map(by_steps)).flatten();
    again.unwrap_or((verdict, 0))
}

/// The same by what a search for the window claims of the values that its program and this one have.
fn by_steps(
    window: &Window,
    program: &Program,
    operations: &TargetOperations,
    (prover, options): (&Prover, Options),
) -> Option<Evidence> {
    let known = Counterexamples::default();
    let given = Given {
        known: &known,
        sought: Sought::Any,
        with_claims: true,
    };
    let candidates = operations.candidates();
    let (found, _, claims) = compile_window(window, candidates, prover, options, given);
    let (both, roots) = found?.beside(program);
    let found = Found {
        program: &both,
        claims: &claims?,
        roots: &roots,
    };
    proof::prove_by_steps(window, &found, prover)
}
