//! Literals that are false whatever the inputs are, seen by running the gates on all of them.
//!
//! In: a circuit and a literal of few inputs. Out: whether it is ever true, or nothing, where that
//! were too many runs. 64 inputs are one word, and the gates are those that the clauses are made of.

use crate::circuit::{Circuit, Gate, Lit};
use std::collections::HashSet;

/// So many gates, times words of inputs, are run: a fraction of a second.
const MOST_STEPS: u64 = 1 << 28;
/// Within a word of inputs the first six count up.
const COUNTING: [u64; 6] = [
    0xaaaa_aaaa_aaaa_aaaa,
    0xcccc_cccc_cccc_cccc,
    0xf0f0_f0f0_f0f0_f0f0,
    0xff00_ff00_ff00_ff00,
    0xffff_0000_ffff_0000,
    0xffff_ffff_0000_0000,
];

impl Circuit {
    /// Whether a literal is true for some input; nothing where there are too many to be tried.
    pub fn is_ever(&self, literal: Lit) -> Option<bool> {
        let mut reached: Vec<u32> = self.reached(literal, &HashSet::new()).into_iter().collect();
        reached.sort_unstable();
        let is_input = |v: &u32| *v != 0 && matches!(self.gate(*v), Gate::Input);
        let inputs = reached.iter().filter(|v| is_input(v)).count();
        let words = 1u64 << inputs.saturating_sub(COUNTING.len()).min(63);
        if words.saturating_mul(reached.len() as u64) > MOST_STEPS {
            return None;
        }
        let place = |l: Lit| {
            let place = reached.binary_search(&l.variable());
            let place = place.expect("what a gate is made of is reached with it");
            (place, 0u64.wrapping_sub(u64::from(l.is_negated())))
        };
        let mut next = 0;
        let steps = reached.iter().map(|&v| match self.gate(v) {
            Gate::Input if v == 0 => Step::False,
            Gate::Input => {
                next += 1;
                Step::Input(next - 1)
            }
            Gate::And(a, b) => Step::And(place(a), place(b)),
            Gate::Xor(a, b) => Step::Xor(place(a), place(b)),
        });
        let steps: Vec<Step> = steps.collect();
        let (at, flip) = place(literal);
        let mut values = vec![0u64; steps.len()];
        Some((0..words).any(|word| {
            run(&steps, word, &mut values);
            values[at] ^ flip != 0
        }))
    }
}

/// A gate's place, and all ones where its complement is meant.
type Operand = (usize, u64);

enum Step {
    False,
    /// The input of that number.
    Input(usize),
    And(Operand, Operand),
    Xor(Operand, Operand),
}

/// What every gate is for one word of inputs: those beyond the first six are the bits of its number.
fn run(steps: &[Step], word: u64, values: &mut [u64]) {
    for (at, step) in steps.iter().enumerate() {
        let of = |&(place, flip): &Operand| values[place] ^ flip;
        values[at] = match step {
            Step::False => 0,
            Step::Input(k) => match COUNTING.get(*k) {
                Some(&counting) => counting,
                None => 0u64.wrapping_sub(word >> (k - COUNTING.len()) & 1),
            },
            Step::And(a, b) => of(a) & of(b),
            Step::Xor(a, b) => of(a) ^ of(b),
        };
    }
}
