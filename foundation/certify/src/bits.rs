//! Claims settled bit by bit, by proofs that are checked.
//!
//! In: a claim. Out: how many of its elements are shown to be equal ([`Shown`]). A SAT solver
//! searches; what it says is not believed, but what it learnt on the way is checked by
//! `bitcheck`, which also wrote the clauses. Search is limited by conflicts, not by time. Where an
//! element as a whole is too hard, its parts are compared first, from the leaves up, and what is
//! shown to be equal is one part from there on. No answer is no refutation: of floats and memory
//! only that they are functions is known here.

use crate::ask::{Claim, parts};
use crate::chain::within;
use crate::sweep::{Alike, alike};
use batsat::{Callbacks, ClauseKind, Solver, SolverInterface, SolverOpts, lbool};
use bitcheck::circuit::{Cone, Lit};
use bitcheck::refutation::is_refuted;
use bitcheck::words::Words;
use checker::flat::flat;
use semantics::op::OpCode;
use semantics::sort::Sort;
use semantics::term::Term;
use std::collections::{HashMap, HashSet};

/// Cones with more clauses than this are not searched.
const MOST_CLAUSES: usize = 400_000;
/// So many searches may be in vain while parts of one claim are compared; lanes are searched once.
const MOST_FAILURES: usize = 64;
/// What is only a part of the work may take one in so many of the conflicts.
const FOR_A_PART: u64 = 4;

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
    /// What was run on every input in place of a search.
    pub tried: usize,
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
    /// Whether clauses were refuted, and with how many conflicts that was tried.
    known: HashMap<Cone, (bool, u64)>,
    /// Searches that refuted nothing.
    failures: usize,
}

impl Prover {
    /// May use so many conflicts for an element.
    pub fn new(conflicts: u64) -> Prover {
        Prover {
            conflicts,
            known: HashMap::new(),
            failures: 0,
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
        let mut swept = false;
        for (lo, width) in parts {
            let element = |prover: &mut Prover, words: &mut Words, shown: &mut Shown| {
                let differ = words.differ(a, b, lo, lo + width.max(1));
                differ.is_ok_and(|differ| prover.never(words, differ, prover.conflicts, shown))
            };
            let mut never = element(self, &mut words, &mut shown);
            if !never && !swept && self.conflicts > 0 {
                words = self.swept(a, b, &mut shown);
                swept = true;
                never = element(self, &mut words, &mut shown);
            }
            if !never {
                break;
            }
            shown.elements += 1;
        }
        shown
    }

    /// The bits of two terms in which parts that are shown to be equal are one.
    fn swept(&mut self, a: Term, b: Term, shown: &mut Shown) -> Words {
        let mut words = Words::default();
        words.look(&[a, b]);
        let before = self.failures;
        for pair in alike(a, b) {
            if self.failures - before > MOST_FAILURES {
                break;
            }
            let Ok(differ) = words.differ(pair.part, pair.earlier, 0, pair.part.width()) else {
                continue;
            };
            if differ == Lit::FALSE {
                continue;
            }
            let most = self.conflicts / FOR_A_PART;
            if self.above_quotients(&mut words, pair, most, shown)
                || self.never(&mut words, differ, most, shown)
            {
                words.unite(pair.part, pair.earlier);
            }
        }
        words
    }

    /// Whether two parts are equal whatever is divided in them: what a sum of many words is does
    /// not matter to what its quotient is computed by.
    fn above_quotients(
        &mut self,
        words: &mut Words,
        pair: Alike,
        most: u64,
        shown: &mut Shown,
    ) -> bool {
        let sides = [pair.part, pair.earlier];
        let divided = divided(&sides);
        if divided.is_empty() {
            return false;
        }
        let mut all: Vec<Term> = sides.into_iter().flat_map(within).collect();
        all.retain(|t| matches!(t.sort(), Sort::Bv(_)));
        let Ok(mut above) = words.above(&divided, &all) else {
            return false;
        };
        let differ = above.differ(sides[0], sides[1], 0, sides[0].width());
        differ.is_ok_and(|differ| self.never(&mut above, differ, most, shown))
    }

    /// Whether a literal cannot be true: first as if of products only their ranges were known,
    /// which is little to search and often enough.
    fn never(&mut self, words: &mut Words, literal: Lit, most: u64, shown: &mut Shown) -> bool {
        if literal == Lit::FALSE {
            return true;
        }
        let whole = words.circuit.cone(literal);
        if let Some(never) = self.tried(words, literal, &whole, most, shown) {
            return never;
        }
        let of_products = [true, false].into_iter().any(|any_factors| {
            let cone = words.cone_of_products(literal, any_factors);
            cone.is_some_and(|cone| self.refuted(cone, most, shown))
        });
        of_products || self.refuted(whole, most, shown)
    }

    /// The same where inputs are so few that all are tried; nothing where they are not.
    fn tried(
        &mut self,
        words: &Words,
        literal: Lit,
        cone: &Cone,
        most: u64,
        shown: &mut Shown,
    ) -> Option<bool> {
        if let Some(&(true, _)) = self.known.get(cone) {
            return Some(true);
        }
        let never = !words.circuit.is_ever(literal)?;
        shown.tried += usize::from(never);
        self.known.insert(cone.clone(), (never, most));
        Some(never)
    }

    /// Whether clauses cannot all be true.
    fn refuted(&mut self, cone: Cone, most: u64, shown: &mut Shown) -> bool {
        if let Some(&(known, tried)) = self.known.get(&cone)
            && (known || tried >= most)
        {
            return known;
        }
        let small = cone.clauses.len() <= MOST_CLAUSES;
        let learnt = small.then(|| search(&cone, most)).flatten();
        let refuted = learnt.is_some_and(|learnt| {
            shown.proofs += 1;
            shown.clauses += learnt.len();
            is_refuted(&cone, &learnt)
        });
        self.failures += usize::from(!refuted);
        self.known.insert(cone, (refuted, most));
        refuted
    }
}

/// What the outermost quotients and remainders of terms are of.
fn divided(terms: &[Term]) -> Vec<Term> {
    let quotients = [
        OpCode::BvUdiv,
        OpCode::BvUrem,
        OpCode::BvSdiv,
        OpCode::BvSrem,
    ];
    let (mut seen, mut found, mut open) = (HashSet::new(), Vec::new(), terms.to_vec());
    while let Some(t) = open.pop() {
        if !seen.insert(t) {
            continue;
        }
        match t.as_app() {
            Some((op, args)) if quotients.contains(&op.code) => found.extend(args),
            _ => open.extend(t.children()),
        }
    }
    found
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
