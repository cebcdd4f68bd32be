//! That clauses cannot all be true, checked.
//!
//! In: clauses, and more clauses in the order in which a SAT solver learnt them (DRAT without
//! deletions and without new variables). Out: whether each of these follows by unit propagation
//! from what is before it, and then the empty clause. Who wrote the proof does not matter.

use crate::circuit::{Cone, Lit};

/// Whether the learnt clauses show that the clauses cannot all be true.
pub fn is_refuted(cone: &Cone, learnt: &[Vec<Lit>]) -> bool {
    let mut checker = Checker {
        clauses: Vec::new(),
        watched: vec![Vec::new(); 2 * cone.variables as usize],
        values: vec![None; cone.variables as usize],
        trail: Vec::new(),
        reached: 0,
        is_over: false,
    };
    cone.clauses.iter().for_each(|clause| checker.add(clause));
    for clause in learnt {
        let is_known = clause.iter().all(|l| l.variable() < cone.variables);
        if checker.is_over || !is_known || !checker.follows(clause) {
            break;
        }
        checker.add(clause);
    }
    checker.is_over
}

struct Checker {
    clauses: Vec<Vec<Lit>>,
    /// For each literal the clauses of which it is one of the first two.
    watched: Vec<Vec<usize>>,
    values: Vec<Option<bool>>,
    /// What is true, in the order in which it became so.
    trail: Vec<Lit>,
    /// How many of these have been looked at.
    reached: usize,
    /// Whether a clause has no literal that can be true.
    is_over: bool,
}

impl Checker {
    fn index(l: Lit) -> usize {
        2 * l.variable() as usize + usize::from(l.is_negated())
    }

    fn value(&self, l: Lit) -> Option<bool> {
        self.values[l.variable() as usize].map(|value| value != l.is_negated())
    }

    /// A literal is true from now on.
    fn state(&mut self, l: Lit) {
        self.values[l.variable() as usize] = Some(!l.is_negated());
        self.trail.push(l);
    }

    /// A clause holds from now on; nothing is assumed at this time.
    fn add(&mut self, clause: &[Lit]) {
        let mut clause = clause.to_vec();
        clause.sort_unstable();
        clause.dedup();
        if clause.iter().any(|&l| self.value(l) == Some(true)) {
            return;
        }
        clause.retain(|&l| self.value(l).is_none());
        match clause[..] {
            [] => self.is_over = true,
            [one] => {
                self.state(one);
                self.is_over |= !self.propagate();
            }
            [a, b, ..] => {
                let at = self.clauses.len();
                self.watched[Checker::index(a)].push(at);
                self.watched[Checker::index(b)].push(at);
                self.clauses.push(clause);
            }
        }
    }

    /// Whether a clause follows by unit propagation: its complement cannot be.
    fn follows(&mut self, clause: &[Lit]) -> bool {
        let start = self.trail.len();
        let mut conflict = false;
        for &l in clause {
            match self.value(l) {
                Some(true) => conflict = true,
                Some(false) => {}
                None => self.state(!l),
            }
        }
        conflict = conflict || !self.propagate();
        for l in self.trail.drain(start..) {
            self.values[l.variable() as usize] = None;
        }
        self.reached = start;
        conflict
    }

    /// States what clauses leave no choice about; whether no clause is broken.
    fn propagate(&mut self) -> bool {
        while let Some(&l) = self.trail.get(self.reached) {
            self.reached += 1;
            let gone = Checker::index(!l);
            let mut watching = std::mem::take(&mut self.watched[gone]);
            let mut kept = 0;
            for k in 0..watching.len() {
                let at = watching[k];
                if self.moves(at, !l) {
                    continue;
                }
                watching[kept] = at;
                kept += 1;
                let other = self.clauses[at][0];
                match self.value(other) {
                    Some(true) => {}
                    None => self.state(other),
                    Some(false) => {
                        watching.copy_within(k + 1.., kept);
                        watching.truncate(kept + watching.len() - k - 1);
                        self.watched[gone] = watching;
                        return false;
                    }
                }
            }
            watching.truncate(kept);
            self.watched[gone] = watching;
        }
        true
    }

    /// Whether a clause can watch another literal in place of a false one, which is its second
    /// from then on.
    fn moves(&mut self, at: usize, gone: Lit) -> bool {
        let clause = &mut self.clauses[at];
        if clause[0] == gone {
            clause.swap(0, 1);
        }
        let values = &self.values;
        let is_false = |l: Lit| values[l.variable() as usize] == Some(l.is_negated());
        if values[clause[0].variable() as usize] == Some(!clause[0].is_negated()) {
            return false;
        }
        let Some(next) = (2..clause.len()).find(|&k| !is_false(clause[k])) else {
            return false;
        };
        clause.swap(1, next);
        self.watched[Checker::index(clause[1])].push(at);
        true
    }
}
