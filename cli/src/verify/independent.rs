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
use certify::ask::{Claim, Outcome};
use certify::bits::Shown;
use certify::many::{self, Asked, Plan};
use certify::session::SolverProgram;
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

/// Conflicts for an element of a window, in the search for a proof that is checked.
const CONFLICTS: u64 = 20_000;

/// What the solver may count for one answer about a member.
const EFFORT: u64 = 30_000_000;

/// The solver that was named, as a conversation has it, with that effort unless another is asked
/// for; what is wrong with it is told.
///
/// # Errors
/// The status to end with.
pub(super) fn plan(solver: &str, asking: &Asking, effort: u64) -> Result<Plan, Status> {
    let plan = plan_within(solver, asking.answer_limit)?;
    Ok(Plan {
        program: SolverProgram {
            units: Some(asking.effort.unwrap_or(effort)),
            ..plan.program
        },
        total: asking.stop_after.map(Duration::from_secs_f64),
        threads: asking.jobs.unwrap_or(plan.threads),
        conflicts: asking.conflicts,
        ..plan
    })
}

/// The same, each answer within so many seconds.
fn plan_within(solver: &str, limit: f64) -> Result<Plan, Status> {
    let program = SolverProgram::named(solver);
    let started = std::process::Command::new(&program.path)
        .arg("--version")
        .output();
    if solver == "embedded" || started.is_err() {
        let message = format!("cannot ask the solver `{solver}`");
        let hint = "name one that is not part of this program: `--solver z3`, or a program's path";
        terminal::complain(&[Diagnostic::error(message).hint(hint)]);
        return Err(Status::WrongInput);
    }
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    Ok(Plan {
        program,
        limit: Duration::from_secs_f64(limit),
        total: None,
        threads: processors,
        chains: true,
        conflicts: CONFLICTS,
    })
}

/// Asks about the members of a dictionary.
pub(super) fn members(
    request: &Verify,
    dictionary: &Dictionary,
    instructions: &[Instruction],
) -> Status {
    let solver = &request.prover.solver;
    let plan = match plan(solver, &request.asking, EFFORT) {
        Ok(plan) => plan,
        Err(status) => return status,
    };
    let mut all = claims(dictionary, instructions);
    let members = all.len();
    let filter = &request.asking.filter;
    if !filter.is_empty() {
        all.retain(|claimed| filter.iter().any(|text| claimed.instruction.contains(text)));
    }
    if all.is_empty() && members > 0 {
        let texts = filter.join("`, `");
        let message = format!("no member of the dictionary has a name that contains `{texts}`");
        terminal::complain(&[Diagnostic::error(message)]);
        return Status::WrongInput;
    }
    if let Some(wanted) = request.asking.sample {
        draw(&mut all, wanted, request.asking.seed);
    }
    let found = ask(&all, &plan);
    let (text, status) = report("members", &all, &found, members, solver);
    terminal::print(&text);
    status
}

/// Asks whether the programs of windows are what the windows want; what is found is told on
/// standard error.
pub(crate) fn windows(solver: &str, limit: f64, compiled: &[Compiled]) -> Status {
    let plan = match plan_within(solver, limit) {
        Ok(plan) => plan,
        Err(status) => return status,
    };
    let all = compiled.iter().flat_map(|kernel| &kernel.programs);
    let all: Vec<Claimed> = all.map(of_window).collect();
    let found = ask(&all, &plan);
    let (text, status) = report("windows", &all, &found, all.len(), solver);
    eprint!("{text}");
    status
}

/// Asks about all, and shows how far it is.
fn ask(all: &[Claimed], plan: &Plan) -> Vec<Asked> {
    let claims = |claimed: &Claimed| match &claimed.pairs {
        Ok(pairs) => pairs.iter().map(claim).collect(),
        Err(_) => Vec::new(),
    };
    let things: Vec<Vec<Claim>> = all.iter().map(claims).collect();
    let bar = terminal::bar("asking", things.len());
    let found = many::ask_all(&things, plan, &|_, _| bar.inc(1));
    bar.finish_and_clear();
    found
}

fn claim(pair: &Pair) -> Claim {
    Claim {
        a: pair.meaning,
        b: pair.operation,
        element: pair.element,
        live: Vec::new(),
    }
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

/// What became of all, counted.
#[derive(Default)]
struct Counts {
    /// Equal, says the solver; elements and questions.
    held: usize,
    elements: usize,
    questions: usize,
    /// Not answered by the solver, shown all the same.
    shown: usize,
    /// By chains, and their steps.
    chained: usize,
    steps: usize,
    wrong: usize,
    /// Of those that hold, shown by proofs that were checked; the proofs, and their clauses.
    checked: usize,
    proofs: usize,
    clauses: usize,
    tried: usize,
}

impl Counts {
    /// One that holds.
    fn holds(&mut self, asked: &Asked) {
        let (mut by_chain, mut by_bits) = (0, false);
        for outcome in &asked.outcomes {
            match outcome {
                Outcome::Holds {
                    elements,
                    questions,
                } => {
                    self.elements += elements;
                    self.questions += questions;
                }
                Outcome::Chained { steps, .. } => by_chain += steps,
                Outcome::Shown { .. } => by_bits = true,
                Outcome::Fails(_) | Outcome::Open { .. } => {}
            }
        }
        self.steps += by_chain;
        self.chained += usize::from(by_chain > 0);
        self.shown += usize::from(by_chain == 0 && by_bits);
        self.held += usize::from(by_chain == 0 && !by_bits);
        let all = asked.shown.len() == asked.outcomes.len();
        self.checked += usize::from(all && asked.shown.iter().all(Shown::is_all));
        self.proofs += asked.shown.iter().map(|s| s.proofs).sum::<usize>();
        self.clauses += asked.shown.iter().map(|s| s.clauses).sum::<usize>();
        self.tried += asked.shown.iter().map(|s| s.tried).sum::<usize>();
    }

    /// As the command prints them.
    fn text(&self, solver: &str) -> String {
        let Counts {
            held,
            elements,
            questions,
            shown,
            chained,
            steps,
            wrong,
            checked,
            proofs,
            clauses,
            tried,
        } = self;
        let rows = [
            (
                held,
                format!(
                    "equal, says {solver} of them as they stand: {elements} elements, {questions} questions"
                ),
            ),
            (
                shown,
                format!("equal by proofs that were checked here, {solver} having no answer"),
            ),
            (
                chained,
                format!("equal by chains of rewrites, {steps} steps, {solver} answering for each"),
            ),
            (
                checked,
                format!(
                    "of all these by proofs that were checked here too: {proofs} proofs, {clauses} clauses; \
                     {tried} on every input"
                ),
            ),
            (wrong, "wrong".to_owned()),
        ];
        let line = |(count, what): &(&usize, String)| format!("{count:>9}  {what}\n");
        rows.iter().map(line).collect()
    }
}

fn report(
    what: &str,
    all: &[Claimed],
    found: &[Asked],
    of: usize,
    solver: &str,
) -> (String, Status) {
    let (mut text, mut counts) = (String::new(), Counts::default());
    let mut open: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (claimed, asked) in all.iter().zip(found) {
        let (operation, name) = (&claimed.operation, claimed.instruction.as_str());
        if let Err(why) = &claimed.pairs {
            let _ = writeln!(text, "{name} in {operation}: {why}");
            counts.wrong += 1;
            continue;
        }
        match asked.outcomes.last() {
            Some(Outcome::Fails(input)) => {
                let _ = writeln!(text, "{name} in {operation}: another meaning, such as for");
                text.push_str(&listed(input.iter()));
                counts.wrong += 1;
            }
            Some(Outcome::Open { why, .. }) => open.entry(why.clone()).or_default().push(name),
            _ => counts.holds(asked),
        }
    }
    for (why, names) in &open {
        let _ = writeln!(text, "{why}: {}", names.join(", "));
    }
    let times: Duration = found.iter().map(|asked| asked.time).sum();
    let left: usize = open.values().map(Vec::len).sum();
    let _ = writeln!(text, "{:>9}  {what}, of {of}", all.len());
    text.push_str(&counts.text(solver));
    let _ = writeln!(text, "{left:>9}  without an answer");
    let _ = writeln!(text, "{:>9.1}  seconds of the solver", times.as_secs_f64());
    let status = match (counts.wrong, left) {
        (0, 0) => Status::Done,
        (0, _) => Status::Limited,
        _ => Status::CheckFailed,
    };
    (text, status)
}
