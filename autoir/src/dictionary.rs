//! AutoIR: the operations that were found, with their members.
//!
//! In: classes of [`similarity`] (through [`crate::build`]) or a file ([`crate::text`]). Out: [`Dictionary`]. An operation has a skeleton over its parameters and arguments; a
//! member is an instruction with its own numbers and with the operand that each argument
//! is. It holds no costs and knows no target.

use semantics::instruction::{Element, Form, Operand};
use semantics::term::Term;
use similarity::class::bind;
use similarity::skeleton::{Skeleton, SpecialiseError};
use smt::verdict::{Step, Steps};
use std::fmt;

/// The operations of one or several instruction sets.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Dictionary {
    /// Sorted by name.
    pub operations: Vec<Operation>,
}

/// A parameterised operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operation {
    /// What it computes, in a word: `add`, `dot_product_acc`, `interleave`.
    pub name: String,
    /// Names of the parameters: `width`, `lanes`, `signed`.
    pub parameters: Vec<String>,
    /// Names of the arguments: the variables `x0`, `x1`, … of the skeleton.
    pub arguments: Vec<String>,
    /// What each result is; one skeleton for each, over the same parameters.
    pub results: Vec<Skeleton>,
    /// One line: what an element of the result is.
    pub formula: String,
    /// Whether it only moves elements; the formula is then its index map.
    pub swizzle: bool,
    /// The instructions that are this operation, by name.
    pub members: Vec<Member>,
}

/// What an argument of the operation is in a member.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Binding {
    /// The free variable of that name: an operand, or the memory.
    Operand(String),
    /// A constant: a zero-masked form is the merge-masked one with a source of zeros.
    Zero,
}

/// A result of an instruction as C sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Returned {
    /// `dst` for a returned value, else the operand that is written through.
    pub name: String,
    /// Its type in C.
    pub c_type: String,
    /// How its elements are read.
    pub element: Element,
    /// Bits that the vendor leaves undefined: from (inclusive) and to (exclusive).
    pub undefined: Vec<(u32, u32)>,
}

/// An instruction in a class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    /// Its name in C; unique within an instruction set.
    pub name: String,
    /// The instruction set.
    pub isa: String,
    /// The assembly mnemonic, where known.
    pub mnemonic: Option<String>,
    /// What it is on the machine.
    pub form: Form,
    /// Processor features that must all be there.
    pub features: Vec<String>,
    /// Operands in C order.
    pub operands: Vec<Operand>,
    /// Results, the returned value first.
    pub outputs: Vec<Returned>,
    /// The class's parameters in this instruction.
    pub values: Vec<i64>,
    /// For each argument of the operation, what it is here.
    pub bindings: Vec<Binding>,
    /// How its meaning was proved equal to the operation's at these values.
    pub evidence: Evidence,
}

/// What settled the proof of a member, for each of its results.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Evidence(pub Vec<Steps>);

impl Evidence {
    /// The weightiest step of all; nothing when nothing had to be proved.
    pub fn hardest(&self) -> Option<&Step> {
        self.0.iter().filter_map(Steps::hardest).max()
    }

    /// Reads what [`Display`](fmt::Display) writes; nothing when it is something else.
    pub fn read(text: &str) -> Option<Evidence> {
        if text.is_empty() {
            return Some(Evidence::default());
        }
        let each = text.split("; ").map(Steps::read);
        Some(Evidence(each.collect::<Option<_>>()?))
    }
}

impl fmt::Display for Evidence {
    /// The steps of each result, as `identical (1); embedded SAT (8)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, steps) in self.0.iter().enumerate() {
            let between = if n == 0 { "" } else { "; " };
            write!(f, "{between}{steps}")?;
        }
        Ok(())
    }
}

impl Dictionary {
    /// The operation of that name.
    pub fn operation(&self, name: &str) -> Option<&Operation> {
        let found = self
            .operations
            .binary_search_by(|o| o.name.as_str().cmp(name));
        found.ok().map(|at| &self.operations[at])
    }

    /// The first instruction of that name, with its operation.
    pub fn member(&self, instruction: &str) -> Option<(&Operation, &Member)> {
        self.members().find(|(_, m)| m.name == instruction)
    }

    /// The instruction of that name in an instruction set, with its operation.
    pub fn member_in(&self, isa: &str, instruction: &str) -> Option<(&Operation, &Member)> {
        self.members()
            .find(|(_, m)| m.isa == isa && m.name == instruction)
    }

    /// Every instruction with its operation, in order.
    pub fn members(&self) -> impl Iterator<Item = (&Operation, &Member)> {
        let pairs = |o| std::iter::repeat(o);
        self.operations
            .iter()
            .flat_map(move |o| pairs(o).zip(&o.members))
    }
}

impl Operation {
    /// The meaning of the returned value at these parameter values, over `x0`, `x1`, ….
    ///
    /// # Errors
    /// When the operation has no meaning there.
    pub fn specialise(&self, values: &[i64]) -> Result<Term, SpecialiseError> {
        self.result(0, values)
    }

    /// The meaning of one of the results at these parameter values.
    ///
    /// # Errors
    /// When the operation has no such result or no meaning there.
    pub fn result(&self, output: usize, values: &[i64]) -> Result<Term, SpecialiseError> {
        match self.results.get(output) {
            Some(skeleton) => skeleton.specialise(values),
            None => Err(SpecialiseError(format!("there is no result {output}"))),
        }
    }

    /// The member of that name.
    pub fn member(&self, instruction: &str) -> Option<&Member> {
        self.members.iter().find(|m| m.name == instruction)
    }
}

impl Member {
    /// The meaning of the returned value over the member's own operands, from the class.
    ///
    /// # Errors
    /// When the operation has no meaning at the member's numbers.
    pub fn term(&self, operation: &Operation) -> Result<Term, SpecialiseError> {
        self.result(operation, 0)
    }

    /// The meaning of one of the results over the member's own operands.
    ///
    /// # Errors
    /// When the operation has no such result, or no meaning at the member's numbers.
    pub fn result(&self, operation: &Operation, output: usize) -> Result<Term, SpecialiseError> {
        let term = operation.result(output, &self.values)?;
        bind(term, &self.names())
    }

    /// The meaning of one of the results over the member's own operands exactly as the
    /// operation has it; see [`Skeleton::as_written`].
    ///
    /// # Errors
    /// As [`Member::result`].
    pub fn as_written(
        &self,
        operation: &Operation,
        output: usize,
    ) -> Result<Term, SpecialiseError> {
        match operation.results.get(output) {
            Some(skeleton) => skeleton.as_written(&self.values, &self.names()),
            None => Err(SpecialiseError(format!("there is no result {output}"))),
        }
    }

    /// For each argument of the operation its variable here; zeros have none.
    fn names(&self) -> Vec<Option<String>> {
        let name = |binding: &Binding| match binding {
            Binding::Operand(name) => Some(name.clone()),
            Binding::Zero => None,
        };
        self.bindings.iter().map(name).collect()
    }
}
