//! Circuits of one-bit gates, and what of them is clauses.
//!
//! In: gates, one at a time. Out: literals; the clauses that say what the gates above one
//! literal are ([`Circuit::cone`]). A gate that is there is not made twice, and one of constants,
//! of one input twice, or of an input and its complement is none: nothing else is simplified.

use std::collections::{HashMap, HashSet};
use std::ops::Not;

/// A variable or its complement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Lit(u32);

impl Lit {
    /// What is false: the complement of variable 0.
    pub const FALSE: Lit = Lit(0);
    /// What is true.
    pub const TRUE: Lit = Lit(1);

    /// The variable, or its complement.
    pub fn new(variable: u32, negated: bool) -> Lit {
        Lit(variable << 1 | u32::from(negated))
    }

    /// The constant.
    pub fn constant(truth: bool) -> Lit {
        Lit(u32::from(truth))
    }

    /// Its variable.
    pub fn variable(self) -> u32 {
        self.0 >> 1
    }

    /// Whether it is its variable's complement.
    pub fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }
}

impl Not for Lit {
    type Output = Lit;

    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

/// What a variable is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Gate {
    /// Anything.
    Input,
    /// Both.
    And(Lit, Lit),
    /// One of both.
    Xor(Lit, Lit),
}

/// Gates, each made of those before it.
pub struct Circuit {
    gates: Vec<Gate>,
    known: HashMap<Gate, Lit>,
}

/// A conjunction of clauses, over variables of its own; variable 0 is one that is false.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Cone {
    /// How many variables there are.
    pub variables: u32,
    /// The clauses.
    pub clauses: Vec<Vec<Lit>>,
}

impl Default for Circuit {
    fn default() -> Circuit {
        Circuit {
            gates: vec![Gate::Input],
            known: HashMap::new(),
        }
    }
}

impl Circuit {
    /// A bit of which nothing is known.
    pub fn input(&mut self) -> Lit {
        self.made(Gate::Input)
    }

    fn made(&mut self, gate: Gate) -> Lit {
        let variable = u32::try_from(self.gates.len()).expect("a circuit has less than 2^31 gates");
        self.gates.push(gate);
        Lit::new(variable, false)
    }

    fn shared(&mut self, gate: Gate) -> Lit {
        if let Some(&known) = self.known.get(&gate) {
            return known;
        }
        let made = self.made(gate);
        self.known.insert(gate, made);
        made
    }

    /// Both.
    pub fn and(&mut self, a: Lit, b: Lit) -> Lit {
        let (a, b) = (a.min(b), a.max(b));
        match a {
            Lit::FALSE => Lit::FALSE,
            Lit::TRUE => b,
            _ if a == b => a,
            _ if a == !b => Lit::FALSE,
            _ => self.shared(Gate::And(a, b)),
        }
    }

    /// Either.
    pub fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    /// One and not the other.
    pub fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let flip = a.is_negated() != b.is_negated();
        let plain = |l: Lit| Lit::new(l.variable(), false);
        let (a, b) = (plain(a.min(b)), plain(a.max(b)));
        let sum = match a {
            Lit::FALSE => b,
            _ if a == b => Lit::FALSE,
            _ => self.shared(Gate::Xor(a, b)),
        };
        if flip { !sum } else { sum }
    }

    /// The one where the condition holds, else the other.
    pub fn choice(&mut self, condition: Lit, then: Lit, otherwise: Lit) -> Lit {
        if then == otherwise {
            return then;
        }
        let (then, otherwise) = (self.and(condition, then), self.and(!condition, otherwise));
        self.or(then, otherwise)
    }

    pub(crate) fn gate(&self, variable: u32) -> Gate {
        self.gates[variable as usize]
    }

    /// What every variable is, for 64 inputs at a time.
    pub fn values(&self, input: &dyn Fn(u32) -> u64) -> Vec<u64> {
        let mut values: Vec<u64> = Vec::with_capacity(self.gates.len());
        for (variable, gate) in (0..).zip(&self.gates) {
            let of = |l: Lit| {
                values[l.variable() as usize] ^ 0u64.wrapping_sub(u64::from(l.is_negated()))
            };
            let value = match *gate {
                Gate::Input if variable == 0 => 0,
                Gate::Input => input(variable),
                Gate::And(a, b) => of(a) & of(b),
                Gate::Xor(a, b) => of(a) ^ of(b),
            };
            values.push(value);
        }
        values
    }

    /// The clauses that say that a literal is true, and what it is made of; variables are
    /// numbered as they are met, so that cones of one shape are equal.
    pub fn cone(&self, root: Lit) -> Cone {
        self.cone_above(root, &HashSet::new())
    }

    /// The variables of what a literal is made of, as far as those that are given.
    pub(crate) fn reached(&self, root: Lit, given: &HashSet<u32>) -> HashSet<u32> {
        let (mut seen, mut open) = (HashSet::new(), vec![root.variable()]);
        while let Some(variable) = open.pop() {
            if !seen.insert(variable) || given.contains(&variable) {
                continue;
            }
            if let Gate::And(a, b) | Gate::Xor(a, b) = self.gates[variable as usize] {
                open.extend([b.variable(), a.variable()]);
            }
        }
        seen
    }

    /// The same, as if nothing were known of variables that are given: what cannot be true so
    /// cannot be true at all.
    pub(crate) fn cone_above(&self, root: Lit, given: &HashSet<u32>) -> Cone {
        let gate = |variable: u32| match given.contains(&variable) {
            true => Gate::Input,
            false => self.gates[variable as usize],
        };
        let mut numbers: HashMap<u32, u32> = HashMap::from([(0, 0)]);
        let mut open = vec![root.variable()];
        let mut order = Vec::new();
        while let Some(variable) = open.pop() {
            let next = u32::try_from(numbers.len()).expect("no more than the circuit has");
            if numbers.contains_key(&variable) {
                continue;
            }
            numbers.insert(variable, next);
            order.push(variable);
            if let Gate::And(a, b) | Gate::Xor(a, b) = gate(variable) {
                open.extend([b.variable(), a.variable()]);
            }
        }
        let of = |l: Lit| Lit::new(numbers[&l.variable()], l.is_negated());
        let mut clauses = vec![vec![Lit::TRUE], vec![of(root)]];
        for variable in order {
            let out = of(Lit::new(variable, false));
            match gate(variable) {
                Gate::Input => {}
                Gate::And(a, b) => {
                    let (a, b) = (of(a), of(b));
                    clauses.extend([vec![!out, a], vec![!out, b], vec![out, !a, !b]]);
                }
                Gate::Xor(a, b) => {
                    let (a, b) = (of(a), of(b));
                    clauses.extend([vec![!out, a, b], vec![!out, !a, !b]]);
                    clauses.extend([vec![out, !a, b], vec![out, a, !b]]);
                }
            }
        }
        Cone {
            variables: u32::try_from(numbers.len()).expect("no more than the circuit has"),
            clauses,
        }
    }
}
