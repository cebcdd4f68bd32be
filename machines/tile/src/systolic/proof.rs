//! That commands do what a kernel says, for whatever memory holds.
//!
//! In: a kernel, sizes, the commands for them, a machine. Out: how many elements were proved,
//! or the first that was not. Every command is run through the machine's procedures on terms;
//! each element of every array is then proved equal to what the kernel makes of it, and
//! nothing else is written. Sizes must be small: each product is a term.

use super::program::CommandProgram;
use crate::block::{self, Effect, Values};
use kernel::index::Symbol;
use kernel::tree::{Kernel, Role, Stmt};
use semantics::instruction::Element;
use semantics::machine::Machine;
use semantics::machine::symbolic::{Source, Symbolic, term};
use semantics::sort::Sort;
use semantics::subst::replace_vars;
use semantics::term::Term;
use smt::prover::Prover;
use smt::verdict::Verdict;
use std::collections::{BTreeMap, HashMap};

/// Where arrays begin: far apart.
const APART: i64 = 1 << 32;

/// Arrays whose elements are anything.
struct Arrays<'a> {
    kernel: &'a Kernel,
    effect: &'a Effect,
    lengths: Vec<i64>,
}

impl Arrays<'_> {
    /// The element of an array at an address.
    fn at(&self, address: i64) -> Option<(usize, i64)> {
        let array = usize::try_from(address / APART - 1).ok()?;
        let bytes = i64::from(self.kernel.arrays.get(array)?.elem.bits() / 8);
        let (index, rest) = (address % APART / bytes, address % APART % bytes);
        (rest == 0 && index < self.lengths[array]).then_some((array, index))
    }
}

impl Source for Arrays<'_> {
    fn element(&mut self, address: i64, element: Element) -> Option<Term> {
        let at = self.at(address)?;
        let bits = self.kernel.arrays[at.0].elem.bits();
        if element.width() != Some(bits) {
            return None;
        }
        let known = self.effect.read.get(&at).copied();
        let fresh = || Term::var(&format!("other{}_{}", at.0, at.1), Sort::Bv(bits));
        Some(known.unwrap_or_else(fresh))
    }
}

/// Proves a program for these sizes: how many elements.
///
/// # Errors
/// What was not proved, and why.
pub fn prove(
    kernel: &Kernel,
    sizes: &BTreeMap<Symbol, i64>,
    program: &CommandProgram,
    machine: &Machine,
    prover: &Prover,
) -> Result<usize, String> {
    let values = Values::new(kernel, sizes);
    let effect = block::effect(kernel, &kernel.body, &values).map_err(|r| r.message)?;
    let lengths = program.arrays.iter().zip(&kernel.arrays);
    let lengths = lengths.map(|(a, k)| a.bytes * 8 / i64::from(k.elem.bits()));
    let mut arrays = Arrays {
        kernel,
        effect: &effect,
        lengths: lengths.collect(),
    };
    let addresses: Vec<i64> = (1..=program.arrays.len() as i64)
        .map(|k| k * APART)
        .collect();
    let mut state = Symbolic::new(machine);
    let mut fault = None;
    program.for_each(&addresses, &mut |at, operands| {
        if fault.is_none() {
            fault = state.run(at, operands, &mut arrays).err();
        }
    });
    if let Some(reason) = fault {
        return Err(reason);
    }
    for (&at, &wanted) in &effect.written {
        let array = &kernel.arrays[at.0];
        let name = || format!("element {} of `{}`", at.1, array.name);
        let address = addresses[at.0] + at.1 * i64::from(array.elem.bits() / 8);
        let found = state.written.get(&address);
        let found = found.ok_or_else(|| format!("{} is not written", name()))?;
        let found = term(*found, Element::Signed(array.elem.bits()));
        let same =
            found == wanted || matches!(prover.prove_equal(wanted, found), Verdict::Proved(_));
        if !same {
            return Err(format!("{} was not proved", name()));
        }
    }
    match state.written.len() == effect.written.len() {
        true => Ok(effect.written.len()),
        false => Err("something else is written, too".to_owned()),
    }
}

/// Proves that two bodies of a kernel make the same of every array that the first one writes; what
/// the second one writes beside them is of arrays that are made.
///
/// # Errors
/// The first element that was not proved.
pub(crate) fn same(
    kernel: &Kernel,
    sizes: &BTreeMap<Symbol, i64>,
    (wanted, found): (&[Stmt], &[Stmt]),
    prover: &Prover,
) -> Result<(), String> {
    let values = Values::new(kernel, sizes);
    let of = |body| block::effect(kernel, body, &values).map_err(|r| r.message);
    let (wanted, found) = (of(wanted)?, of(found)?);
    // Variables are numbered as they are read: here one element has one.
    let one = |effect: &Effect| -> HashMap<String, Term> {
        let read = effect.read.iter();
        let named = read.filter_map(|(at, term)| {
            let name = term.as_var()?.to_owned();
            Some((name, Term::var(&format!("e{}_{}", at.0, at.1), term.sort())))
        });
        named.collect()
    };
    let renamed = |effect: &Effect, term: Term| {
        let names = one(effect);
        let names = names.iter().map(|(n, t)| (n.as_str(), *t)).collect();
        replace_vars(term, &names)
    };
    for (at, term) in &wanted.written {
        let array = &kernel.arrays[at.0];
        let name = || format!("element {} of `{}`", at.1, array.name);
        let other = found.written.get(at);
        let other = other.ok_or_else(|| format!("{} is not written", name()))?;
        let (a, b) = (renamed(&wanted, *term), renamed(&found, *other));
        if a != b && !prover.prove_equal(a, b).is_proved() {
            return Err(format!("{} was not proved", name()));
        }
    }
    let made = |at: &block::Element| kernel.arrays[at.0].role == Role::Local;
    match found
        .written
        .keys()
        .all(|at| wanted.written.contains_key(at) || made(at))
    {
        true => Ok(()),
        false => Err("something else is written, too".to_owned()),
    }
}
