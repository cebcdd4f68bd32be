//! The values that enumeration knows: each once, in the shortest form, with what it is on samples.
//!
//! In: operators, levels. Out: [`Values`]. Values that agree on all samples are taken to be one here;
//! what is made of them is proved by others.

use crate::expression::{Constant, Expression};
use crate::operator::{OPERATORS, Sort};
use semantics::random::Random;
use std::collections::HashMap;

/// Widths of samples, each with how many there are beside those of edges. The narrowest is the one
/// at which [`super::inverse`] tries all numbers.
const WIDTHS: [(u32, usize); 3] = [(5, 192), (8, 128), (13, 64)];

/// A value by its number.
pub(super) type Id = usize;

/// Inputs, each of a width.
pub(super) struct Samples {
    pub(super) widths: Vec<u32>,
    inputs: [Vec<u64>; 2],
}

impl Samples {
    /// Pairs of edges and pairs by lot at each width, the narrowest first.
    pub(super) fn new(seed: u64) -> Samples {
        let mut random = Random::new(seed);
        let mut samples = Samples {
            widths: Vec::new(),
            inputs: [Vec::new(), Vec::new()],
        };
        for (w, count) in WIDTHS {
            let ones = crate::operator::ones(w);
            let edges = [
                0,
                1,
                2,
                ones,
                ones - 1,
                ones >> 1,
                (ones >> 1) + 1,
                (ones >> 1) + 2,
            ];
            for x in edges {
                for y in edges {
                    samples.add(w, x, y);
                }
            }
            for _ in 0..count {
                let mut one = || random.next_bits() & ones;
                let (x, y) = (one(), one());
                samples.add(w, x, y);
            }
        }
        samples
    }

    fn add(&mut self, w: u32, x: u64, y: u64) {
        self.widths.push(w);
        self.inputs[0].push(x);
        self.inputs[1].push(y);
    }

    /// What a constant is on them.
    fn constant(&self, constant: Constant) -> Seen {
        let widths = self.widths.iter();
        widths.map(|&w| constant.value(w) as u16).collect()
    }

    /// How many there are.
    fn len(&self) -> usize {
        self.widths.len()
    }
}

/// What a value is on the samples.
pub(super) type Seen = Box<[u16]>;

/// A value.
pub(super) struct Value {
    /// How it is made.
    pub(super) made: Made,
    /// What it is on the samples.
    pub(super) seen: Seen,
    /// Element or truth value.
    pub(super) gives: Sort,
    /// How many operators it takes.
    pub(super) level: usize,
}

/// How a value is made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Made {
    Variable(usize),
    Constant(Constant),
    Apply(usize, Vec<Id>),
}

/// All values so far.
pub(super) struct Values {
    pub(super) samples: Samples,
    pub(super) all: Vec<Value>,
    of: HashMap<(Sort, Seen), Id>,
    by_level: HashMap<(Sort, usize), Vec<Id>>,
}

impl Values {
    /// Variables and constants.
    pub(super) fn new(seed: u64) -> Values {
        let mut values = Values {
            samples: Samples::new(seed),
            all: Vec::new(),
            of: HashMap::new(),
            by_level: HashMap::new(),
        };
        for (k, _) in crate::expression::VARIABLES.iter().enumerate() {
            let seen = values.samples.inputs[k].iter().map(|&x| x as u16).collect();
            values.insert(Made::Variable(k), seen, Sort::Element, 0);
        }
        for constant in Constant::ALL {
            let seen = values.samples.constant(constant);
            values.insert(Made::Constant(constant), seen, Sort::Element, 0);
        }
        values
    }

    /// Those of a sort that take so many operators.
    pub(super) fn of(&self, sort: Sort, level: usize) -> &[Id] {
        self.by_level.get(&(sort, level)).map_or(&[], Vec::as_slice)
    }

    /// The value that is this on the samples.
    pub(super) fn find(&self, gives: Sort, seen: Seen) -> Option<Id> {
        self.of.get(&(gives, seen)).copied()
    }

    /// The value that a constant is.
    pub(super) fn constant(&self, constant: Constant) -> Option<Id> {
        self.find(Sort::Element, self.samples.constant(constant))
    }

    /// What an operator is on some values.
    pub(super) fn apply(&self, operator: usize, of: &[Id]) -> Seen {
        let of: Vec<&Seen> = of.iter().map(|&id| &self.all[id].seen).collect();
        let mut operands = [0; 3];
        let one = |k: usize| {
            for (operand, seen) in operands.iter_mut().zip(&of) {
                *operand = u64::from(seen[k]);
            }
            (OPERATORS[operator].value)(self.samples.widths[k], &operands) as u16
        };
        (0..self.samples.len()).map(one).collect()
    }

    /// Adds all that operators make of known values with so many operators in all.
    pub(super) fn grow(&mut self, level: usize) {
        for (number, operator) in OPERATORS.iter().enumerate() {
            for of in self.operands(operator.takes, level - 1) {
                if operator.commutes && of[0] > of[1] {
                    continue;
                }
                let seen = self.apply(number, &of);
                self.insert(Made::Apply(number, of), seen, operator.gives, level);
            }
        }
    }

    /// Lists of known values of these sorts with so many operators in all.
    fn operands(&self, sorts: &[Sort], level: usize) -> Vec<Vec<Id>> {
        let Some((&first, rest)) = sorts.split_first() else {
            return if level == 0 {
                vec![Vec::new()]
            } else {
                Vec::new()
            };
        };
        let mut lists = Vec::new();
        for own in 0..=level {
            let tails = self.operands(rest, level - own);
            for &head in self.of(first, own) {
                lists.extend(tails.iter().map(|tail| [&[head], &tail[..]].concat()));
            }
        }
        lists
    }

    fn insert(&mut self, made: Made, seen: Seen, gives: Sort, level: usize) {
        let id = self.all.len();
        if let std::collections::hash_map::Entry::Vacant(new) = self.of.entry((gives, seen.clone()))
        {
            new.insert(id);
            self.by_level.entry((gives, level)).or_default().push(id);
            self.all.push(Value {
                made,
                seen,
                gives,
                level,
            });
        }
    }

    /// A value as a form.
    pub(super) fn form(&self, made: &Made) -> Expression {
        match made {
            Made::Variable(k) => Expression::Variable(*k),
            Made::Constant(constant) => Expression::Constant(*constant),
            Made::Apply(operator, of) => {
                let of = of.iter().map(|&id| self.form(&self.all[id].made));
                Expression::Apply(*operator, of.collect())
            }
        }
    }

    /// How many operators a value takes, each use of a part counted.
    pub(super) fn operators(&self, made: &Made) -> usize {
        match made {
            Made::Apply(_, of) => 1 + of.iter().map(|&id| self.all[id].level).sum::<usize>(),
            _ => 0,
        }
    }

    /// Whether a value is made of another.
    pub(super) fn is_made_of(&self, made: &Made, other: Id) -> bool {
        match made {
            Made::Apply(_, of) => of
                .iter()
                .any(|&id| id == other || self.is_made_of(&self.all[id].made, other)),
            _ => false,
        }
    }
}
