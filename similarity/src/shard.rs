//! The work on single instructions, apart from the work on all of them.
//!
//! In: some of the instructions. Out: [`Prepared`]: how each is read, and proofs that a reading at
//! the instruction's own numbers is what the instruction means, under digests of both terms. A class
//! at a member's numbers is most often just that term, so that whoever classifies all instructions
//! has little left to prove, and what that is can be divided too ([`prepare_rest`]): what is found is
//! the same, whoever prepared how much of it. A digest of
//! both terms is all that is looked at; who may say so is the caller's to know.

use crate::cached::CanonicalCache;
use crate::class::{Apart, ClassMember, EquivalenceClass, own_outputs};
use crate::classify::{Progress, questions, read_each};
use rayon::prelude::*;
use semantics::digest::{Digest, Digests};
use semantics::instruction::Instruction;
use semantics::term::Term;
use smt::prover::Prover;
use smt::verdict::{Evidence, Steps, Verdict};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What was prepared.
pub struct Prepared {
    /// Each instruction's reading.
    pub candidates: CanonicalCache,
    /// What was proved of candidates.
    pub proofs: Proofs,
    /// How much was done.
    pub work: Work,
}

/// Counts of work that do not depend on the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Work {
    /// Instructions that were read.
    pub candidates: usize,
    /// Elements of results that were proved.
    pub elements: usize,
}

impl Work {
    /// One number for both.
    pub fn total(self) -> usize {
        self.candidates + self.elements
    }
}

/// Evidence that two terms are equal, by a digest of both.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Proofs(BTreeMap<Digest, Steps>);

impl Proofs {
    /// Reads what [`Proofs::text`] writes; nothing when it is something else.
    pub fn read(text: &str) -> Option<Proofs> {
        let one = |line: &str| {
            let (digest, steps) = line.split_once(' ')?;
            Some((digest.parse().ok()?, Steps::read(steps)?))
        };
        Some(Proofs(text.lines().map(one).collect::<Option<_>>()?))
    }

    /// A line for each, in order.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (digest, steps) in &self.0 {
            let _ = writeln!(text, "{digest} {steps}");
        }
        text
    }

    /// Adds what another has.
    pub fn extend(&mut self, other: Proofs) {
        self.0.extend(other.0);
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The evidence that two terms are equal, which was found before.
    pub(crate) fn get(&self, own: Term, other: Term) -> Option<Evidence> {
        self.known(both(own, other))
    }

    fn known(&self, both: Digest) -> Option<Evidence> {
        let steps = self.0.get(&both)?;
        Some(Evidence {
            elements: steps.0.clone(),
            questions: 1,
            conflicts: 0,
            cached: 1,
        })
    }
}

fn both(own: Term, other: Term) -> Digest {
    let mut digests = Digests::default();
    let own = digests.of(own);
    Digest::of(&(own, digests.of(other)))
}

/// Reads instructions, and proves of each that its likeliest reading is what it means.
pub fn prepare(instructions: &[Instruction], prover: &Prover, progress: &Progress<'_>) -> Prepared {
    let candidates = CanonicalCache::default();
    let own_classes = read_each(instructions, &candidates, progress);
    let found: Vec<(Digest, Steps, usize)> = own_classes
        .par_iter()
        .zip(instructions)
        .flat_map_iter(|(class, instruction)| proved(class, instruction, prover))
        .collect();
    let work = Work {
        candidates: instructions.len(),
        elements: found.iter().map(|(.., elements)| elements).sum(),
    };
    let proofs = found.into_iter().map(|(both, steps, _)| (both, steps));
    Prepared {
        candidates,
        proofs: Proofs(proofs.collect()),
        work,
    }
}

/// What can be proved of the outputs of an instruction that is a class by itself.
fn proved(
    class: &EquivalenceClass,
    instruction: &Instruction,
    prover: &Prover,
) -> Vec<(Digest, Steps, usize)> {
    let member = &class.members[0];
    let outputs = class.outputs(&member.values, &member.bindings);
    let outputs = outputs.unwrap_or_default();
    let pairs = own_outputs(instruction).into_iter().zip(outputs);
    let one = |(own, other)| {
        let (steps, elements) = shown(own, other, prover)?;
        Some((both(own, other), steps, elements))
    };
    pairs.filter_map(one).collect()
}

/// How two terms are equal, and how many elements were proved for it.
fn shown(own: Term, other: Term, prover: &Prover) -> Option<(Steps, usize)> {
    match prover.prove_equal(own, other) {
        Verdict::Proved(evidence) => {
            let steps = evidence.steps();
            let elements = steps.0.values().sum();
            Some((steps, elements))
        }
        // Whoever classifies asks again, and is told why not.
        Verdict::Refuted(_) | Verdict::Unknown(_) => None,
    }
}

/// Proves one part of what is still open when classes are found among all instructions: `candidates` and
/// `known` are what all parts of the work on single instructions have found. Who does which question
/// follows from the questions: the largest are dealt out first, each to whoever has least so far.
pub fn prepare_rest(
    instructions: &[Instruction],
    prover: &Prover,
    (candidates, known): (&CanonicalCache, &Proofs),
    (part, of): (usize, usize),
    progress: &Progress<'_>,
) -> (Proofs, Work) {
    let all = questions(instructions, prover, candidates, progress);
    let open = all.par_iter().flat_map_iter(|(at, pairs)| {
        let outputs = instructions[*at].outputs.iter().zip(pairs);
        outputs.filter_map(|(output, &(own, other))| {
            let key = both(own, other);
            let element = output.element.width().unwrap_or(8).max(1);
            let elements = own.sort().width().unwrap_or(1) / element;
            let is_open = known.known(key).is_none();
            is_open.then_some(((Reverse(elements), key), (own, other)))
        })
    });
    let open: BTreeMap<_, _> = open.collect();
    let mut loads = vec![0; of];
    let mut mine = Vec::new();
    for ((Reverse(elements), key), pair) in open {
        let least = (0..of).min_by_key(|&k| loads[k]).unwrap_or(0);
        loads[least] += u64::from(elements) + 1;
        if least == part {
            mine.push((key, pair));
        }
    }
    let one = |(key, (own, other)): (Digest, (Term, Term))| {
        let (steps, elements) = shown(own, other, prover)?;
        Some((key, steps, elements))
    };
    let found: Vec<(Digest, Steps, usize)> = mine.into_par_iter().filter_map(one).collect();
    let work = Work {
        candidates: 0,
        elements: found.iter().map(|(.., elements)| elements).sum(),
    };
    let proofs = found.into_iter().map(|(both, steps, _)| (both, steps));
    (Proofs(proofs.collect()), work)
}

/// Whether a member's own meaning is the class's at the member's numbers, by what is known.
///
/// # Errors
/// Why not.
pub(crate) fn prove(
    class: &EquivalenceClass,
    member: &ClassMember,
    instruction: &Instruction,
    prover: &Prover,
    known: &Proofs,
) -> Result<Vec<Evidence>, Apart> {
    if !known.is_empty() {
        let outputs = class.outputs(&member.values, &member.bindings);
        let outputs = outputs.unwrap_or_default();
        let own = own_outputs(instruction);
        let pairs = own.iter().zip(&outputs);
        let found: Option<Vec<Evidence>> = pairs.map(|(&a, &b)| known.get(a, b)).collect();
        if let Some(found) = found.filter(|found| found.len() == own.len()) {
            return Ok(found);
        }
    }
    crate::classify::prove(class, member, instruction, prover)
}
