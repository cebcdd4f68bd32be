//! A program: what was found for one window.
//!
//! In: built by synthesis. Out: [`Program`], a graph of machine operations over the
//! window's inputs, with its meaning as terms ([`Program::results`]) and what code
//! generation needs of each operation. Values are in order: a step uses earlier ones only.
//! It does not say where inputs come from or results go: the window does.

use semantics::bits::Bits;
use semantics::build as b;
use semantics::instruction::Operand;
use semantics::sort::Sort;
use semantics::subst::replace_vars;
use semantics::term::Term;
use std::collections::{BTreeSet, HashMap};
use std::fmt;

/// A value of a program: the number of the step that makes it.
pub type Value = usize;

/// Straight-line code for one window.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Program {
    /// The steps, each using earlier ones only.
    pub steps: Vec<Step>,
    /// The registers that together are the window's result, least significant first.
    pub outputs: Vec<Value>,
}

/// How a value is made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// Consecutive bits of an input of the window.
    Input {
        /// The input's name.
        name: String,
        /// The lowest bit.
        lo: u32,
        /// Number of bits.
        width: u32,
    },
    /// A constant register.
    Constant(Bits),
    /// A register seen as a wider one, its upper bits not defined, or its low bits; free.
    Cast {
        /// The register.
        value: Value,
        /// The new width in bits.
        width: u32,
    },
    /// An instruction.
    Apply {
        /// Which.
        instruction: Machine,
        /// The operands in C order.
        args: Vec<Argument>,
    },
}

/// What an operand of an instruction is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Argument {
    /// A computed value.
    Value(Value),
    /// A constant in the instruction.
    Immediate(Bits),
}

/// An operation of the dictionary at a member's numbers: one instruction of the target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Machine {
    /// The operation's name in the dictionary.
    pub operation: String,
    /// The values of the operation's parameters.
    pub values: Vec<i64>,
    /// The instruction's name in C.
    pub intrinsic: String,
    /// The assembly mnemonic, where known.
    pub mnemonic: Option<String>,
    /// Its operands in C order.
    pub operands: Vec<Operand>,
    /// The type of its result in C.
    pub c_type: String,
    /// Features that it needs.
    pub features: Vec<String>,
    /// What it computes, over the operands as free variables.
    pub term: Term,
}

impl Program {
    /// The features that its instructions need.
    pub fn features(&self) -> BTreeSet<String> {
        let machines = self.steps.iter().filter_map(|step| match step {
            Step::Apply { instruction, .. } => Some(instruction),
            _ => None,
        });
        machines
            .flat_map(|machine| machine.features.iter().cloned())
            .collect()
    }

    /// The number of bits of a value.
    pub fn width(&self, value: Value) -> u32 {
        match &self.steps[value] {
            Step::Input { width, .. } | Step::Cast { width, .. } => *width,
            Step::Constant(bits) => bits.width(),
            Step::Apply { instruction, .. } => instruction.term.width(),
        }
    }

    /// The meaning of each output over the window's inputs, free variables of the given
    /// widths. Bits that a cast leaves undefined are fresh variables.
    pub fn results(&self, inputs: &HashMap<String, u32>) -> Vec<Term> {
        let mut terms: Vec<Term> = Vec::new();
        for (number, step) in self.steps.iter().enumerate() {
            let term = match step {
                Step::Input { name, lo, width } => {
                    let whole = inputs.get(name).copied().unwrap_or(lo + width);
                    b::extract(Term::var(name, Sort::Bv(whole)), *lo, *width)
                }
                Step::Constant(bits) => Term::bits(bits.clone()),
                Step::Cast { value, width } => cast(terms[*value], *width, number),
                Step::Apply { instruction, args } => apply(instruction, args, &terms),
            };
            terms.push(term);
        }
        self.outputs.iter().map(|&value| terms[value]).collect()
    }
}

/// A register at another width.
fn cast(term: Term, width: u32, number: usize) -> Term {
    match width.checked_sub(term.width()) {
        None => b::extract(term, 0, width),
        Some(0) => term,
        Some(more) => {
            let unknown = Term::var(&format!("undefined.{number}"), Sort::Bv(more));
            b::concat(&[unknown, term])
        }
    }
}

/// An instruction's meaning with its operands put in.
fn apply(instruction: &Machine, args: &[Argument], terms: &[Term]) -> Term {
    let values = args.iter().map(|arg| match arg {
        Argument::Value(value) => terms[*value],
        Argument::Immediate(bits) => Term::bits(bits.clone()),
    });
    let names = instruction
        .operands
        .iter()
        .map(|operand| operand.name.as_str());
    replace_vars(instruction.term, &names.zip(values).collect())
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, step) in self.steps.iter().enumerate() {
            writeln!(f, "v{number} = {step}")?;
        }
        let outputs: Vec<String> = self
            .outputs
            .iter()
            .map(|value| format!("v{value}"))
            .collect();
        writeln!(f, "return {}", outputs.join(", "))
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Input { name, lo, width } => write!(f, "{name}[{lo}+:{width}]"),
            Step::Constant(bits) => write!(f, "{bits}"),
            Step::Cast { value, width } => write!(f, "cast{width}(v{value})"),
            Step::Apply { instruction, args } => {
                let args = args.iter().map(|arg| match arg {
                    Argument::Value(value) => format!("v{value}"),
                    Argument::Immediate(bits) => bits.to_string(),
                });
                write!(
                    f,
                    "{}({})",
                    instruction.intrinsic,
                    args.collect::<Vec<_>>().join(", ")
                )
            }
        }
    }
}
