//! `isaforge verify --independent`: what a solver says of members as they stand.
//!
//! In: a dictionary, instructions, how to ask. Out: counts, what has no answer, a status.
//! Nothing is normalised before the solver sees it; without an answer nothing is equal.

use crate::args::{Asking, Verify};
use crate::pipeline::Compiled;
use crate::status::Status;
use crate::terminal;
use autoir::dictionary::Dictionary;
use autoir::program::Program as Made;
use autoir::verify::{Claimed, Pair, claims};
use certify::ask::Outcome;
use certify::many::{self, Asked, Plan};
use certify::session::Program;
use lowering::window::Window;
use semantics::diagnostic::Diagnostic;
use semantics::instruction::Instruction;
use semantics::op::{Op, OpCode};
use semantics::random::Random;
use semantics::term::Term;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;
use validate::check::against::listed;

/// How many members without an answer are named.
const NAMED: usize = 40;

/// The solver that was named, as a conversation has it.
pub(super) fn plan(solver: &str, asking: &Asking) -> Result<Plan, Diagnostic> {
    let plan = plan_within(solver, asking.answer_limit)?;
    Ok(Plan {
        total: asking.stop_after.map(Duration::from_secs_f64),
        threads: asking.jobs.unwrap_or(plan.threads),
        ..plan
    })
}

/// The same, each answer within so many seconds.
fn plan_within(solver: &str, limit: f64) -> Result<Plan, Diagnostic> {
    let program = Program::named(solver);
    let started = std::process::Command::new(&program.path)
        .arg("--version")
        .output();
    if solver == "embedded" || started.is_err() {
        let message = format!("cannot ask the solver `{solver}`");
        let hint = "name one that is not part of this program: `--solver z3`, or a program's path";
        return Err(Diagnostic::error(message).hint(hint));
    }
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    Ok(Plan {
        program,
        limit: Duration::from_secs_f64(limit),
        total: None,
        threads: processors,
        chains: true,
    })
}

/// Asks about the members of a dictionary.
pub(super) fn members(
    request: &Verify,
    dictionary: &Dictionary,
    instructions: &[Instruction],
) -> Status {
    let plan = match plan(&request.prover.solver, &request.asking) {
        Ok(plan) => plan,
        Err(diagnostic) => {
            terminal::complain(&[diagnostic]);
            return Status::WrongInput;
        }
    };
    let mut all = claims(dictionary, instructions);
    let members = all.len();
    if let Some(wanted) = request.asking.sample {
        draw(&mut all, wanted, request.asking.seed);
    }
    let pairs = all.iter().map(|c| c.pairs.clone().unwrap_or_default());
    let things = pairs.map(|pairs| pairs.into_iter().map(claim).collect());
    let things: Vec<Vec<certify::ask::Claim>> = things.collect();
    let bar = terminal::bar("asking", things.len());
    let found = many::ask_all(&things, &plan, &|_, _| bar.inc(1));
    bar.finish_and_clear();
    let (text, status) = report("members", &all, &found, members, &request.prover.solver);
    terminal::print(&text);
    status
}

fn claim(pair: Pair) -> certify::ask::Claim {
    certify::ask::Claim {
        a: pair.meaning,
        b: pair.operation,
        element: pair.element,
        live: Vec::new(),
    }
}

/// Asks whether the programs of windows are what the windows want; what is found is told on
/// standard error.
pub(crate) fn windows(solver: &str, limit: f64, compiled: &[Compiled]) -> Status {
    let plan = match plan_within(solver, limit) {
        Ok(plan) => plan,
        Err(diagnostic) => {
            terminal::complain(&[diagnostic]);
            return Status::WrongInput;
        }
    };
    let all = compiled.iter().flat_map(|kernel| &kernel.programs);
    let all: Vec<Claimed> = all.map(of_window).collect();
    let pairs = all.iter().map(|c| c.pairs.clone().unwrap_or_default());
    let things = pairs.map(|pairs| pairs.into_iter().map(claim).collect());
    let things: Vec<Vec<certify::ask::Claim>> = things.collect();
    let bar = terminal::bar("asking", things.len());
    let found = many::ask_all(&things, &plan, &|_, _| bar.inc(1));
    bar.finish_and_clear();
    let (text, status) = report("windows", &all, &found, all.len(), solver);
    eprint!("{text}");
    status
}

/// That a window's program computes it.
fn of_window((window, program): &(Window, Made)) -> Claimed {
    let inputs = window.inputs.iter();
    let widths = inputs.map(|i| (i.name.clone(), i.ty.width())).collect();
    let registers: Vec<Term> = program.results(&widths).into_iter().rev().collect();
    let raw = |op, args: &[Term]| Term::raw_app(op, args).map_err(|e| e.to_string());
    let whole = raw(Op::new(OpCode::Concat), &registers);
    let low = Op::with(OpCode::Extract, window.output.width());
    let whole = whole.and_then(|whole| raw(low, &[whole, Term::int(0)]));
    Claimed {
        operation: "the kernel".to_owned(),
        instruction: window.name.clone(),
        pairs: whole.map(|whole| {
            vec![Pair {
                meaning: window.term,
                operation: whole,
                element: window.output.width() / window.output.lanes,
            }]
        }),
    }
}

/// So many of a list, drawn at random, in its order.
fn draw<T>(list: &mut Vec<T>, wanted: usize, seed: u64) {
    let mut random = Random::new(seed);
    while list.len() > wanted {
        let at = random.below(list.len() as u64);
        list.remove(usize::try_from(at).unwrap_or(0));
    }
}

fn report(
    what: &str,
    all: &[Claimed],
    found: &[Asked],
    of: usize,
    solver: &str,
) -> (String, Status) {
    let (mut text, mut status) = (String::new(), Status::Done);
    let (mut held, mut wrong, mut elements, mut questions) = (0, 0, 0, 0);
    let (mut chained, mut steps) = (0, 0);
    let mut open: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (claimed, asked) in all.iter().zip(found) {
        let (operation, name) = (&claimed.operation, claimed.instruction.as_str());
        if let Err(why) = &claimed.pairs {
            let _ = writeln!(text, "{name} in {operation}: {why}");
            wrong += 1;
            continue;
        }
        for outcome in &asked.outcomes {
            if let Outcome::Holds {
                elements: e,
                questions: q,
            } = outcome
            {
                (elements, questions) = (elements + e, questions + q);
            }
        }
        let by_chain = asked.outcomes.iter().map(|outcome| match outcome {
            Outcome::Chained { steps, .. } => *steps,
            _ => 0,
        });
        let by_chain: usize = by_chain.sum();
        match asked.outcomes.last() {
            None | Some(Outcome::Holds { .. } | Outcome::Chained { .. }) if by_chain > 0 => {
                (chained, steps) = (chained + 1, steps + by_chain);
            }
            None | Some(Outcome::Holds { .. } | Outcome::Chained { .. }) => held += 1,
            Some(Outcome::Fails(input)) => {
                let _ = writeln!(text, "{name} in {operation}: another meaning, such as for");
                text.push_str(&listed(input.iter()));
                wrong += 1;
            }
            Some(Outcome::Open { why, .. }) => open.entry(why.clone()).or_default().push(name),
        }
    }
    for (why, names) in &open {
        let some: Vec<&str> = names.iter().take(NAMED).copied().collect();
        let more = if names.len() > NAMED { ", ..." } else { "" };
        let _ = writeln!(text, "{why}: {}{more}", some.join(", "));
    }
    let times: Duration = found.iter().map(|asked| asked.time).sum();
    let _ = writeln!(text, "{:>9}  {what}, of {of}", all.len());
    let _ = writeln!(
        text,
        "{held:>9}  equal, says {solver} of them as they stand: {elements} elements, {questions} questions"
    );
    let _ = writeln!(
        text,
        "{chained:>9}  equal by chains of rewrites, {steps} steps, {solver} answering for each"
    );
    let _ = writeln!(text, "{wrong:>9}  wrong");
    let left: usize = open.values().map(Vec::len).sum();
    let _ = writeln!(text, "{left:>9}  without an answer");
    let _ = writeln!(text, "{:>9.1}  seconds of the solver", times.as_secs_f64());
    if left > 0 {
        status = Status::Limited;
    }
    if wrong > 0 {
        status = Status::CheckFailed;
    }
    (text, status)
}
