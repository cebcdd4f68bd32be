//! Gates to clauses, and the SAT solver under limits.
//!
//! In: literals of an [`super::encode::Encoder`]. Out: whether they can be true together.
//! Clauses are written (Tseitin) for the gates under the asked literals only, each gate
//! once, so questions on one [`Session`] share what was learnt.

use super::gates::{Gate, Gates, Lit};
use crate::verdict::Reason;
use batsat::{Callbacks, ClauseKind, Solver, SolverInterface, SolverOpts, lbool};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// Counts conflicts and watches the clock.
struct Limits {
    conflicts: u64,
    most: u64,
    deadline: Instant,
    asked: Cell<u32>,
    late: Cell<bool>,
}

impl Callbacks for Limits {
    fn on_new_clause(&mut self, _: &[batsat::Lit], kind: ClauseKind) {
        if kind == ClauseKind::Learnt {
            self.conflicts += 1;
        }
    }

    fn stop(&self) -> bool {
        let asked = self.asked.get().wrapping_add(1);
        self.asked.set(asked);
        if asked.is_multiple_of(64) && Instant::now() >= self.deadline {
            self.late.set(true);
        }
        self.late.get() || self.conflicts >= self.most
    }
}

/// A SAT solver that knows some of the gates.
pub(crate) struct Session {
    solver: Solver<Limits>,
    vars: Vec<Option<batsat::Var>>,
    time: Duration,
}

/// What a question came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// They can.
    Sat,
    /// They cannot.
    Unsat,
    /// A limit was reached.
    Unknown(Reason),
}

impl Session {
    /// A solver that may use so many conflicts and so much time in all.
    pub(crate) fn new(conflicts: u64, time: Duration) -> Session {
        let limits = Limits {
            conflicts: 0,
            most: conflicts,
            deadline: Instant::now() + time,
            asked: Cell::new(0),
            late: Cell::new(false),
        };
        Session {
            solver: Solver::new(SolverOpts::default(), limits),
            vars: Vec::new(),
            time,
        }
    }

    /// Conflicts so far.
    pub(crate) fn conflicts(&self) -> u64 {
        self.solver.cb().conflicts
    }

    /// Whether the literals can all be true.
    pub(crate) fn solve(&mut self, gates: &Gates, literals: &[Lit]) -> Outcome {
        if literals.contains(&Lit::FALSE) {
            return Outcome::Unsat;
        }
        let assumed: Vec<batsat::Lit> = literals.iter().map(|&l| self.literal(gates, l)).collect();
        let answer = self.solver.solve_limited(&assumed);
        if answer == lbool::TRUE {
            Outcome::Sat
        } else if answer == lbool::FALSE {
            Outcome::Unsat
        } else if self.solver.cb().late.get() {
            Outcome::Unknown(Reason::TimeLimit(
                u64::try_from(self.time.as_millis()).unwrap_or(u64::MAX),
            ))
        } else {
            Outcome::Unknown(Reason::Conflicts(self.solver.cb().most))
        }
    }

    /// States that a literal is true from now on.
    pub(crate) fn assert(&mut self, gates: &Gates, literal: Lit) {
        let l = self.literal(gates, literal);
        self.solver.add_clause_reuse(&mut vec![l]);
    }

    /// The value of a literal after [`Outcome::Sat`]; unasked gates read as computed from
    /// inputs that are false.
    pub(crate) fn values(&self, gates: &Gates) -> Vec<bool> {
        let mut values = vec![false; gates.len()];
        for node in 0..gates.len() {
            let at = |l: Lit| values[l.node()] != l.complemented();
            values[node] = match gates.gate(node) {
                Gate::False => false,
                Gate::Input => self
                    .vars
                    .get(node)
                    .copied()
                    .flatten()
                    .is_some_and(|v| self.solver.value_var(v) == lbool::TRUE),
                Gate::And(a, b) => at(a) && at(b),
                Gate::Xor(a, b) => at(a) != at(b),
                Gate::Mux(c, a, b) => at(if at(c) { a } else { b }),
                Gate::Majority(a, b, c) => u8::from(at(a)) + u8::from(at(b)) + u8::from(at(c)) >= 2,
            };
        }
        values
    }

    /// The solver's literal, after the clauses of every gate under it.
    fn literal(&mut self, gates: &Gates, l: Lit) -> batsat::Lit {
        if self.vars.len() < gates.len() {
            self.vars.resize(gates.len(), None);
        }
        let mut stack = vec![l.node()];
        while let Some(&node) = stack.last() {
            if self.vars[node].is_some() {
                stack.pop();
                continue;
            }
            let missing: Vec<usize> = arguments(gates.gate(node))
                .into_iter()
                .filter(|&n| self.vars[n].is_none())
                .collect();
            if missing.is_empty() {
                stack.pop();
                self.define(gates.gate(node), node);
            } else {
                stack.extend(missing);
            }
        }
        self.known(l)
    }

    fn known(&self, l: Lit) -> batsat::Lit {
        let var = self.vars[l.node()].expect("the gates under a literal were defined first");
        batsat::Lit::new(var, !l.complemented())
    }

    fn define(&mut self, gate: Gate, node: usize) {
        let var = self.solver.new_var_default();
        self.vars[node] = Some(var);
        let out = batsat::Lit::new(var, true);
        let mut clause = |lits: &[batsat::Lit]| {
            self.solver.add_clause_reuse(&mut lits.to_vec());
        };
        let known =
            |l: Lit| batsat::Lit::new(self.vars[l.node()].expect("defined"), !l.complemented());
        match gate {
            Gate::False => clause(&[!out]),
            Gate::Input => {}
            Gate::And(a, b) => {
                let (a, b) = (known(a), known(b));
                clause(&[!out, a]);
                clause(&[!out, b]);
                clause(&[out, !a, !b]);
            }
            Gate::Xor(a, b) => {
                let (a, b) = (known(a), known(b));
                clause(&[!out, a, b]);
                clause(&[!out, !a, !b]);
                clause(&[out, !a, b]);
                clause(&[out, a, !b]);
            }
            Gate::Mux(c, a, b) => {
                let (c, a, b) = (known(c), known(a), known(b));
                clause(&[!c, !a, out]);
                clause(&[!c, a, !out]);
                clause(&[c, !b, out]);
                clause(&[c, b, !out]);
                clause(&[!a, !b, out]);
                clause(&[a, b, !out]);
            }
            Gate::Majority(a, b, c) => {
                let (a, b, c) = (known(a), known(b), known(c));
                for (x, y) in [(a, b), (a, c), (b, c)] {
                    clause(&[!x, !y, out]);
                    clause(&[x, y, !out]);
                }
            }
        }
    }
}

fn arguments(gate: Gate) -> Vec<usize> {
    match gate {
        Gate::False | Gate::Input => Vec::new(),
        Gate::And(a, b) | Gate::Xor(a, b) => vec![a.node(), b.node()],
        Gate::Mux(a, b, c) | Gate::Majority(a, b, c) => vec![a.node(), b.node(), c.node()],
    }
}
