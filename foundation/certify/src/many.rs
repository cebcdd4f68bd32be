//! Many things that are said to be equal, asked side by side.
//!
//! In: for each thing its claims. Out: for each what became of it, in the same order, whatever
//! the number of threads. What is the same but for the names of variables is asked about once. When
//! the time for all is over, what is left is not asked and says so.

use crate::alike;
use crate::ask::{Asker, Claim, Outcome};
use crate::bits::{Prover, Shown};
use crate::chain::Chains;
use crate::session::SolverProgram;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How many threads ask, whom, and for how long.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The solver.
    pub program: SolverProgram,
    /// Time for each answer.
    pub limit: Duration,
    /// Time for all.
    pub total: Option<Duration>,
    /// Threads, each with a process of its own.
    pub threads: usize,
    /// Whether what has no answer as it stands is asked about step by step.
    pub chains: bool,
    /// Conflicts that the search for a proof of our own may take for an element; none is sought
    /// at 0.
    pub conflicts: u64,
}

/// What became of one thing.
#[derive(Clone, PartialEq, Debug)]
pub struct Asked {
    /// What became of its claims, the first that does not hold being the last.
    pub outcomes: Vec<Outcome>,
    /// What was shown of each claim that was asked about, whatever the solver says.
    pub shown: Vec<Shown>,
    /// Time that took.
    pub time: Duration,
}

/// Why what comes after the end of the time for all has no answer.
pub const NOT_ASKED: &str = "not asked: the time for all was over";

/// Terms may be deep, and what writes them follows them down.
const STACK: usize = 1 << 28;

/// Asks about all; `done` is told of each.
pub fn ask_all(
    things: &[Vec<Claim>],
    plan: &Plan,
    done: &(dyn Fn(usize, &Asked) + Sync),
) -> Vec<Asked> {
    let begun = Instant::now();
    let mut found: Vec<Option<Asked>> = vec![None; things.len()];
    let first = alike::firsts(things, plan.threads);
    let firsts = (0..things.len()).filter(|&at| first[at] == at).collect();
    side_by_side(things, firsts, plan, begun, done, &mut found);
    let mut left = Vec::new();
    for at in (0..things.len()).filter(|&at| first[at] != at) {
        found[at] = found[first[at]].as_ref().and_then(alike::again);
        match &found[at] {
            Some(asked) => done(at, asked),
            None => left.push(at),
        }
    }
    side_by_side(things, left, plan, begun, done, &mut found);
    let found = found.into_iter().zip(things);
    found
        .map(|(asked, claims)| asked.unwrap_or_else(|| not_asked(claims)))
        .collect()
}

/// Asks about some of the things.
fn side_by_side(
    things: &[Vec<Claim>],
    some: Vec<usize>,
    plan: &Plan,
    begun: Instant,
    done: &(dyn Fn(usize, &Asked) + Sync),
    found: &mut [Option<Asked>],
) {
    let ask = |hands: &mut Hands, k: usize| {
        let at = some[k];
        let late = plan.total.is_some_and(|total| begun.elapsed() >= total);
        let asked = match late {
            true => not_asked(&things[at]),
            false => hands.one(&things[at]),
        };
        done(at, &asked);
        asked
    };
    let asked = on_deep_stacks(some.len(), plan.threads, &|| Hands::new(plan), &ask);
    for (at, asked) in some.iter().zip(asked) {
        found[*at] = Some(asked);
    }
}

/// What a function that follows terms down makes of each number below a bound, in order, with what each
/// thread has of its own.
pub(crate) fn on_deep_stacks<S, T: Send>(
    bound: usize,
    threads: usize,
    start: &(dyn Fn() -> S + Sync),
    make: &(dyn Fn(&mut S, usize) -> T + Sync),
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut own = start();
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let numbers = numbers.take_while(|&at| at < bound);
        numbers
            .map(|at| (at, make(&mut own, at)))
            .collect::<Vec<_>>()
    };
    let mut made: Vec<(usize, T)> = std::thread::scope(|scope| {
        let start = |_| {
            let thread = std::thread::Builder::new().stack_size(STACK);
            let started = thread.spawn_scoped(scope, work);
            started.expect("the system has room for a thread")
        };
        let started: Vec<_> = (0..threads.max(1).min(bound)).map(start).collect();
        let ended = started.into_iter().map(|thread| {
            let ended = thread.join();
            ended.unwrap_or_else(|e| std::panic::resume_unwind(e))
        });
        ended.flatten().collect()
    });
    made.sort_by_key(|(at, _)| *at);
    made.into_iter().map(|(_, made)| made).collect()
}

/// Those who answer.
struct Hands {
    asker: Asker,
    chains: Option<Chains>,
    prover: Option<Prover>,
}

impl Hands {
    fn new(plan: &Plan) -> Hands {
        Hands {
            asker: Asker::new(plan.program.clone(), plan.limit),
            chains: plan.chains.then(Chains::default),
            prover: (plan.conflicts > 0).then(|| Prover::new(plan.conflicts)),
        }
    }

    fn one(&mut self, claims: &[Claim]) -> Asked {
        let begun = Instant::now();
        let (mut outcomes, mut shown) = (Vec::new(), Vec::new());
        for claim in claims {
            let bits = self.prover.as_mut().map(|prover| prover.show(claim));
            let is_shown = bits.as_ref().is_some_and(Shown::is_all);
            shown.extend(bits);
            let outcome = match self.asker.ask(claim) {
                Outcome::Open { elements, .. } if is_shown => Outcome::Shown { elements },
                Outcome::Open { elements, why, .. } => self.by_chain(claim, elements, why),
                outcome => outcome,
            };
            let holds = outcome.holds();
            outcomes.push(outcome);
            if !holds {
                break;
            }
        }
        Asked {
            outcomes,
            shown,
            time: begun.elapsed(),
        }
    }

    /// What was not answered for as it stands, step by step.
    fn by_chain(&mut self, claim: &Claim, elements: usize, why: String) -> Outcome {
        let found = self.chains.as_mut().map(|c| c.ask(&mut self.asker, claim));
        let why = match found {
            Some(Ok(steps)) => return Outcome::Chained { elements, steps },
            Some(Err(broken)) => format!("{why}; {broken}"),
            None => why,
        };
        Outcome::Open {
            answered: 0,
            elements,
            why,
        }
    }
}

fn not_asked(claims: &[Claim]) -> Asked {
    let outcome = Outcome::Open {
        answered: 0,
        elements: claims.len(),
        why: NOT_ASKED.to_owned(),
    };
    Asked {
        outcomes: vec![outcome],
        shown: Vec::new(),
        time: Duration::ZERO,
    }
}
