//! Equivalence classes and what was done to find them.
//!
//! In: nothing. Out: [`EquivalenceClass`], [`Classification`]. How they are found is
//! in [`crate::classify`].

use crate::canon::Role;
use crate::skeleton::{Skeleton, SpecialiseError, argument_name};
use semantics::build;
use semantics::instruction::Instruction;
use semantics::sort::Sort;
use semantics::subst::{free_vars, replace_vars};
use semantics::term::Term;
use smt::verdict::{Evidence, Model, Reason};
use std::collections::HashMap;
use std::time::Duration;

/// Instructions that are one operation with different numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EquivalenceClass {
    /// What each output is, over the same parameters and arguments.
    pub skeletons: Vec<Skeleton>,
    /// What each parameter is.
    pub roles: Vec<Role>,
    /// How many arguments there are.
    pub arguments: usize,
    /// Its instructions, in the order in which they were given.
    pub members: Vec<ClassMember>,
}

/// An instruction in a class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClassMember {
    /// Its position among the instructions that were classified.
    pub instruction: usize,
    /// The class's parameters in it.
    pub values: Vec<i64>,
    /// For each argument the variable of the instruction that it is; `None` is a constant
    /// of zeros.
    pub bindings: Vec<Option<String>>,
    /// How its meaning was proved equal to the class's at these values; an entry for each
    /// output.
    pub evidence: Vec<Evidence>,
}

/// Why an instruction stands apart from a class that its shape would put it in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Apart {
    /// It differs from the class at its own numbers on this input.
    Different(Model),
    /// It could not be decided.
    Unknown(Reason),
    /// The class has no meaning at its numbers.
    NoMeaning(String),
}

/// What was done.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Report {
    /// Elements proved, by what settled them.
    pub proved: Evidence,
    /// Those of them that were known to be proved.
    pub known: usize,
    /// Instructions that stand apart, with the reason, in order.
    pub apart: Vec<(usize, Apart)>,
    /// Instructions that joined a class of another shape because they mean the same.
    pub joined: usize,
    /// Instructions that agree on the sampled inputs and yet were not proved to mean the
    /// same: the one, the other, and why; in order.
    pub unjoined: Vec<(usize, usize, Apart)>,
    /// Instructions that were too long to be written out and kept their own loops.
    pub direct: usize,
    /// Instructions whose candidates were found, not kept from an earlier run; equal ones once.
    pub read: usize,
    /// Seconds of each step, in order.
    pub times: Vec<(&'static str, Duration)>,
}

impl Report {
    /// Elements that were proved in this run: what was known to be proved is not among them.
    pub fn proved_elements(&self) -> usize {
        self.proved.elements.values().sum::<usize>() - self.known
    }
}

/// Instructions as classes.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Classification {
    /// The classes, ordered by their first members.
    pub classes: Vec<EquivalenceClass>,
    /// What was done.
    pub report: Report,
}

impl EquivalenceClass {
    /// The outputs of a member over its own operands, from the class.
    ///
    /// # Errors
    /// When the class has no meaning at the member's numbers.
    pub fn outputs(
        &self,
        values: &[i64],
        bindings: &[Option<String>],
    ) -> Result<Vec<Term>, SpecialiseError> {
        let specialised = self.skeletons.iter().map(|s| s.specialise(values));
        specialised.map(|t| bind(t?, bindings)).collect()
    }
}

/// A class's meaning with its arguments replaced by variables; `None` is a constant of zeros.
///
/// # Errors
/// When an argument is not bound, or zero is bound to what is no bit vector.
pub fn bind(term: Term, bindings: &[Option<String>]) -> Result<Term, SpecialiseError> {
    let names: Vec<String> = (0..bindings.len()).map(argument_name).collect();
    let mut values: HashMap<&str, Term> = HashMap::new();
    for variable in free_vars(term) {
        let name = variable.as_var().unwrap_or_default();
        let Some(at) = names.iter().position(|n| n == name) else {
            return Err(SpecialiseError(format!("`{name}` is not bound")));
        };
        let value = match (&bindings[at], variable.sort()) {
            (Some(operand), sort) => Term::var(operand, sort),
            (None, Sort::Bv(w)) => build::zero(w),
            (None, sort) => return Err(SpecialiseError(format!("no constant of sort {sort}"))),
        };
        values.insert(name, value);
    }
    Ok(replace_vars(term, &values))
}

/// The outputs of an instruction as it was given.
pub(crate) fn own_outputs(instruction: &Instruction) -> Vec<Term> {
    instruction.outputs.iter().map(|o| o.term).collect()
}
