//! Instructions that mean the same although they look different.
//!
//! In: the chosen candidates. Out: some of them replaced. Instructions are evaluated on fixed
//! inputs under every order of their operands of equal width; those that agree are asked of
//! the prover, and what is proved takes the other's reading, operands permuted. Evaluation
//! only suggests; it proves nothing.

use super::{Choice, Read};
use crate::class::{Apart, own_outputs};
use rayon::prelude::*;
use semantics::bits::Bits;
use semantics::digest::Digest;
use semantics::eval::{CompiledTerms, Input};
use semantics::instruction::Instruction;
use semantics::random::Random;
use semantics::sort::Sort;
use semantics::subst::{free_vars, replace_vars};
use semantics::term::Term;
use semantics::value::Value;
use smt::prover::Prover;
use smt::verdict::Verdict;
use std::collections::{BTreeMap, HashMap};

/// Inputs that every instruction is evaluated on.
const SAMPLES: usize = 8;
/// Instructions with more variables are not permuted.
const MAX_VARIABLES: usize = 4;

/// What an instruction does on the inputs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Sampled {
    /// Its outputs, and the widths of all that goes in and out, under the order of operands
    /// that gives the least.
    pub(crate) digest: Digest,
    /// That order.
    pub(crate) order: Vec<String>,
}

/// Instructions that looked the same on the inputs: the one, the other, why it did not join.
pub(super) type Unjoined = (usize, usize, Apart);

/// Replaces candidates of instructions that mean what an earlier one of a larger bucket means;
/// returns how many, and which only looked like it.
pub(super) fn join(
    instructions: &[Instruction],
    read: &[Read],
    choice: &mut [Choice],
    prover: &Prover,
) -> (usize, Vec<Unjoined>) {
    let mut sizes: HashMap<Digest, usize> = HashMap::new();
    for c in choice.iter() {
        *sizes.entry(c.candidate.layout).or_default() += 1;
    }
    let mut groups: BTreeMap<Digest, Vec<usize>> = BTreeMap::new();
    for (at, found) in read.iter().enumerate() {
        if let Some(found) = &found.sampled {
            groups.entry(found.digest).or_default().push(at);
        }
    }
    let mut wanted = Vec::new();
    for members in groups.values() {
        let best = members
            .iter()
            .copied()
            .max_by_key(|&m| (sizes[&choice[m].candidate.layout], std::cmp::Reverse(m)))
            .expect("a group has members");
        let other = |&&m: &&usize| choice[m].candidate.layout != choice[best].candidate.layout;
        wanted.extend(members.iter().filter(other).map(|&m| (m, best)));
    }
    let order = |m: usize| read[m].sampled.as_ref().map_or(&[][..], |s| &s.order);
    let proved: Vec<Result<Choice, Apart>> = wanted
        .par_iter()
        .map(|&(m, best)| {
            let rename: HashMap<&str, &str> = order(best)
                .iter()
                .map(String::as_str)
                .zip(order(m).iter().map(String::as_str))
                .collect();
            same(&instructions[best], &instructions[m], &rename, prover)?;
            let bindings = choice[best].bindings.iter().map(|b| {
                let name = b.as_deref()?;
                Some((*rename.get(name)?).to_owned())
            });
            Ok(Choice {
                candidate: choice[best].candidate.clone(),
                bindings: bindings.collect(),
            })
        })
        .collect();
    let (mut joined, mut apart) = (0, Vec::new());
    for ((m, best), found) in wanted.into_iter().zip(proved) {
        match found {
            Ok(found) => {
                choice[m] = found;
                joined += 1;
            }
            Err(why) => apart.push((m, best, why)),
        }
    }
    apart.sort_by_key(|(m, best, _)| (*m, *best));
    (joined, apart)
}

/// Whether one instruction with its operands renamed is the other.
fn same(
    best: &Instruction,
    other: &Instruction,
    rename: &HashMap<&str, &str>,
    prover: &Prover,
) -> Result<(), Apart> {
    for (a, b) in own_outputs(best).into_iter().zip(own_outputs(other)) {
        match prover.prove_equal(renamed(a, rename), b) {
            Verdict::Proved(_) => {}
            Verdict::Refuted(model) => return Err(Apart::Different(model)),
            Verdict::Unknown(reason) => return Err(Apart::Unknown(reason)),
        }
    }
    Ok(())
}

fn renamed(t: Term, names: &HashMap<&str, &str>) -> Term {
    let values = free_vars(t)
        .into_iter()
        .filter_map(|v| {
            let name = v.as_var()?;
            Some((name, Term::var(names.get(name)?, v.sort())))
        })
        .collect();
    replace_vars(t, &values)
}

/// What an instruction with these variables does on the inputs; nothing when that does not
/// tell much.
pub(super) fn sample(i: &Instruction, variables: &[String]) -> Option<Sampled> {
    let outputs = own_outputs(i);
    let mut sorted: Vec<(u32, &String)> = Vec::new();
    let free: Vec<Term> = outputs.iter().flat_map(|&t| free_vars(t)).collect();
    for name in variables {
        let var = free.iter().find(|v| v.as_var() == Some(name))?;
        sorted.push((var.sort().width()?, name));
    }
    if sorted.len() > MAX_VARIABLES || outputs.iter().any(|t| t.sort().width().is_none()) {
        return None;
    }
    sorted.sort_by_key(|(w, _)| *w);
    let inputs: Vec<Input> = sorted
        .iter()
        .map(|(w, n)| Input {
            name: (*n).clone(),
            sort: Sort::Bv(*w),
        })
        .collect();
    let program = CompiledTerms::compile(&outputs, &inputs).ok()?;
    let widths: Vec<u32> = sorted.iter().map(|(w, _)| *w).collect();
    let orders = permutations(&widths);
    let least = orders
        .into_iter()
        .map(|order| (run(&program, &widths, &order), order))
        .min()?;
    let outputs = outputs.iter().map(|t| t.width());
    let widths: Vec<u32> = widths.into_iter().chain(outputs).collect();
    Some(Sampled {
        digest: Digest::of(&(widths, least.0)),
        order: least.1.iter().map(|&k| sorted[k].1.clone()).collect(),
    })
}

/// Every order of the positions that keeps widths in place.
fn permutations(widths: &[u32]) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for &w in widths {
        all = all
            .into_iter()
            .flat_map(|order| {
                let free = (0..widths.len()).filter(|&k| widths[k] == w && !order.contains(&k));
                let free: Vec<usize> = free.collect();
                free.into_iter().map(move |k| {
                    let mut longer = order.clone();
                    longer.push(k);
                    longer
                })
            })
            .collect();
    }
    all
}

/// The outputs when position `k` of the inputs goes to variable `order[k]`.
fn run(program: &CompiledTerms, widths: &[u32], order: &[usize]) -> Vec<Vec<u64>> {
    let mut out = Vec::new();
    for sample in 0..SAMPLES {
        let mut values = vec![Value::Bool(false); widths.len()];
        for (position, &variable) in order.iter().enumerate() {
            values[variable] = Value::Bv(input(widths[variable], position, sample));
        }
        for value in program.run(&values) {
            out.push(value.bits().limbs().to_vec());
        }
    }
    out
}

/// A fixed pseudo-random input; small numbers now and then, so that counts and indices meet.
fn input(width: u32, position: usize, sample: usize) -> Bits {
    let seed = 0x9e37_79b9_7f4a_7c15u64 ^ ((position as u64) << 32) ^ sample as u64;
    let bits = Random::new(seed).bits(width);
    if sample % 2 == 1 && width > 8 {
        return bits.and(&Bits::from_limbs(
            width,
            &vec![0x0707_0707_0707_0707; width.div_ceil(64) as usize],
        ));
    }
    bits
}
