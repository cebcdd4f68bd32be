//! Claims settled bit by bit, by proofs that are checked.
//!
//! In: a claim. Out: how many of its elements are shown to be equal ([`Shown`]). A SAT solver
//! searches; what it says is not believed, but what it learnt on the way is checked by
//! `bitcheck`, which also wrote the clauses. Search is limited by conflicts, not by time. No
//! answer is no refutation: of floats and memory only that they are functions is known here.

use crate::ask::{Claim, parts};
use batsat::{Callbacks, ClauseKind, Solver, SolverInterface, SolverOpts, lbool};
use bitcheck::circuit::{Cone, Lit};
use bitcheck::refutation::is_refuted;
use bitcheck::words::Words;
use checker::flat::flat;
use std::collections::HashMap;

/// Cones with more clauses than this are not searched.
const MOST_CLAUSES: usize = 400_000;

/// How much of a claim is shown.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Shown {
    /// Elements whose bits cannot differ.
    pub elements: usize,
    /// All that matter.
    pub of: usize,
    /// Proofs of the SAT solver that were checked; the other elements are one circuit.
    pub proofs: usize,
    /// Clauses in them.
    pub clauses: usize,
}

impl Shown {
    /// Whether nothing is left.
    pub fn is_all(&self) -> bool {
        self.elements == self.of
    }
}

/// Whoever shows claims, and remembers which clauses cannot be true.
pub struct Prover {
    conflicts: u64,
    known: HashMap<Cone, bool>,
}

impl Prover {
    /// May use so many conflicts for an element.
    pub fn new(conflicts: u64) -> Prover {
        Prover {
            conflicts,
            known: HashMap::new(),
        }
    }

    /// What can be shown of a claim; the first element that cannot ends it.
    pub fn show(&mut self, claim: &Claim) -> Shown {
        let parts = parts(claim);
        let mut shown = Shown {
            of: parts.len(),
            ..Shown::default()
        };
        let (Ok(a), Ok(b)) = (flat(claim.a), flat(claim.b)) else {
            return shown;
        };
        let mut words = Words::default();
        for (lo, width) in parts {
            let hi = lo + width.max(1);
            let never = match words.differ(a, b, lo, hi) {
                Ok(Lit::FALSE) => true,
                Ok(differ) => self.never(&words, differ, &mut shown),
                Err(_) => false,
            };
            if !never {
                break;
            }
            shown.elements += 1;
        }
        shown
    }

    /// Whether a literal cannot be true.
    fn never(&mut self, words: &Words, literal: Lit, shown: &mut Shown) -> bool {
        let cone = words.circuit.cone(literal);
        if let Some(&known) = self.known.get(&cone) {
            return known;
        }
        let small = cone.clauses.len() <= MOST_CLAUSES;
        let learnt = small.then(|| search(&cone, self.conflicts)).flatten();
        let never = learnt.is_some_and(|learnt| {
            shown.proofs += 1;
            shown.clauses += learnt.len();
            is_refuted(&cone, &learnt)
        });
        self.known.insert(cone, never);
        never
    }
}

/// Keeps what is learnt.
struct Log {
    learnt: Vec<Vec<Lit>>,
    most: u64,
}

impl Callbacks for Log {
    fn on_new_clause(&mut self, clause: &[batsat::Lit], kind: ClauseKind) {
        if kind == ClauseKind::Learnt {
            let literals = clause.iter().map(|l| Lit::new(l.var().idx(), !l.sign()));
            self.learnt.push(literals.collect());
        }
    }

    fn stop(&self) -> bool {
        self.learnt.len() as u64 >= self.most
    }
}

/// What a SAT solver learnt until it found that clauses cannot all be true; nothing when they
/// can, or when it learnt too much before.
fn search(cone: &Cone, conflicts: u64) -> Option<Vec<Vec<Lit>>> {
    let log = Log {
        learnt: Vec::new(),
        most: conflicts,
    };
    let mut solver = Solver::new(SolverOpts::default(), log);
    let variables: Vec<batsat::Var> = (0..cone.variables)
        .map(|_| solver.new_var_default())
        .collect();
    for clause in &cone.clauses {
        let literal = |l: &Lit| batsat::Lit::new(variables[l.variable() as usize], !l.is_negated());
        let mut clause: Vec<batsat::Lit> = clause.iter().map(literal).collect();
        solver.add_clause_reuse(&mut clause);
    }
    let answer = solver.solve_limited(&[]);
    (answer == lbool::FALSE).then(|| std::mem::take(&mut solver.cb_mut().learnt))
}
