//! All that is known of instructions, in one place and in the words of the tables.
//!
//! In: a dictionary, and of each instruction what the dictionary does not hold ([`Known`]).
//! Out: [`Catalog`]: operations and instructions in the order of the dictionary, with formulas
//! in which the numbers are the instruction's own, and the flow of elements. Nothing is
//! formatted here.

use crate::flow::{self, Flow};
use crate::kind::Kind;
use crate::samples::{self, Computed};
use crate::sense::{self, Fact};
use autoir::dictionary::{Binding, Dictionary, Member, Operation};
use autoir::formula;
use rayon::prelude::*;
use semantics::instruction::{Element, Form, Origin, Role};
use semantics::op::OpCode;
use serde::Serialize;
use similarity::number::Number;
use similarity::skeleton::{Operator, Skeleton, SkeletonNode};
use std::collections::{BTreeMap, BTreeSet};

/// What an instruction costs on a processor.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Cost {
    /// The name of the model.
    pub cpu: String,
    /// Cycles until the result is there.
    pub latency: f64,
    /// Cycles until the next of its kind can start.
    pub throughput: f64,
    /// What it competes for, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// Who says so, where it is not a table of ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The instruction that a compiler makes in its place, and whose cost this is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stands: Option<String>,
}

/// Bits of a word that are bits of an operand.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Field {
    /// The operand.
    pub operand: String,
    /// The lowest bit in the word.
    pub at: u32,
    /// How many bits.
    pub width: u32,
    /// The lowest bit of the operand that is there.
    pub from: u32,
}

/// The word of an instruction, and its text.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Encoding {
    /// The assembly text, operands by name.
    pub text: String,
    /// Bits that are fixed, in hexadecimal.
    pub mask: String,
    /// What they are, in hexadecimal.
    pub bits: String,
    /// Where operands are.
    pub fields: Vec<Field>,
}

/// What is known of an instruction beside what its dictionary says.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Known {
    /// What it does, in a sentence of the specification.
    pub doc: Option<String>,
    /// The pseudocode, where it may be shown: ours, not a vendor's.
    pub pseudocode: Option<String>,
    /// Where the meaning is from.
    pub origin: Origin,
    /// The word, where the specification has it.
    pub encoding: Option<Encoding>,
    /// What it costs, for each processor.
    pub costs: Vec<Cost>,
    /// How its meaning was checked, a sentence each.
    pub checks: Vec<String>,
}

/// An operand or a result, as tables show it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Slot {
    /// Its name.
    pub name: String,
    /// Its type in C, or the kind of register.
    #[serde(rename = "type")]
    pub c_type: String,
    /// How its elements are read: `i8`, `f32`, `mask`, `bits`.
    pub element: String,
    /// Its width in bits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bits: Option<u32>,
    /// How an operand is passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<&'static str>,
    /// The smallest value of an immediate, where that is not 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least: Option<u32>,
    /// The largest value of an immediate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
}

/// An instruction.
pub struct Instruction<'a> {
    /// Its entry in the dictionary.
    pub member: &'a Member,
    /// The number of its operation in [`Catalog::operations`].
    pub operation: usize,
    /// What each result is, with the instruction's own numbers and operands.
    pub formula: String,
    /// Operands in the order of C.
    pub operands: Vec<Slot>,
    /// Results, the returned value first.
    pub results: Vec<Slot>,
    /// What the dictionary does not say.
    pub known: Known,
    /// Where elements go.
    pub flows: Vec<Flow>,
    /// What its meaning shows.
    pub facts: BTreeSet<Fact>,
    /// What it computes on samples, where that can be told.
    pub computed: Option<Computed>,
}

/// An operation.
pub struct Entry<'a> {
    /// It in the dictionary.
    pub operation: &'a Operation,
    /// What it is for.
    pub kind: Kind,
    /// The numbers of its instructions in [`Catalog::instructions`].
    pub instructions: std::ops::Range<usize>,
}

/// Everything.
pub struct Catalog<'a> {
    /// What made it and from what, a sentence each.
    pub about: Vec<String>,
    /// The instruction sets, in the order in which they were asked for.
    pub isas: Vec<String>,
    /// The operations by name.
    pub operations: Vec<Entry<'a>>,
    /// The instructions by operation and name.
    pub instructions: Vec<Instruction<'a>>,
}

impl<'a> Catalog<'a> {
    /// The catalogue of a dictionary; `known` is by instruction set and name.
    pub fn new(
        dictionary: &'a Dictionary,
        isas: Vec<String>,
        about: Vec<String>,
        known: &BTreeMap<(String, String), Known>,
    ) -> Catalog<'a> {
        let members: Vec<(usize, &Operation, &Member)> = dictionary
            .operations
            .iter()
            .enumerate()
            .flat_map(|(k, o)| o.members.iter().map(move |m| (k, o, m)))
            .collect();
        let instructions: Vec<Instruction<'a>> = members
            .into_par_iter()
            .map(|(k, o, m)| instruction(k, o, m, known.get(&(m.isa.clone(), m.name.clone()))))
            .collect();
        let (mut operations, mut at) = (Vec::new(), 0);
        for operation in &dictionary.operations {
            let end = at + operation.members.len();
            let flows = instructions[at..end].iter().flat_map(|i| &i.flows);
            let pattern = flows.map(Flow::pattern).next();
            operations.push(Entry {
                operation,
                kind: Kind::of(operation, pattern),
                instructions: at..end,
            });
            at = end;
        }
        Catalog {
            about,
            isas,
            operations,
            instructions,
        }
    }

    /// The instructions of an operation.
    pub fn members(&self, entry: &Entry<'a>) -> &[Instruction<'a>] {
        &self.instructions[entry.instructions.clone()]
    }

    /// The operation of an instruction.
    pub fn operation(&self, instruction: &Instruction<'a>) -> &Entry<'a> {
        &self.operations[instruction.operation]
    }
}

impl Instruction<'_> {
    /// The parameters of its operation with their values here.
    pub fn parameters<'b>(&'b self, of: &'b Entry<'_>) -> impl Iterator<Item = (&'b str, i64)> {
        let names = of.operation.parameters.iter().map(String::as_str);
        names.zip(self.member.values.iter().copied())
    }

    /// The arguments of its operation with what each is here.
    pub fn arguments<'b>(&'b self, of: &'b Entry<'_>) -> impl Iterator<Item = (&'b str, &'b str)> {
        let names = of.operation.arguments.iter().map(String::as_str);
        names.zip(self.member.bindings.iter().map(bound))
    }

    /// Kinds of elements of its operands and results, each once; pointers and constants
    /// have none.
    pub fn elements(&self) -> Vec<String> {
        let operands = self.member.operands.iter();
        let values = operands.filter(|o| matches!(o.role, Role::Register | Role::Mask));
        let outputs = self.member.outputs.iter().map(|o| o.element);
        let all = values.map(|o| o.element).chain(outputs);
        let reported = all.filter(|e| *e != Element::Untyped);
        let mut names: Vec<String> = reported.map(|e| e.to_string()).collect();
        names.sort();
        names.dedup();
        names
    }
}

/// What an argument is, as it is written in a formula.
pub fn bound(binding: &Binding) -> &str {
    match binding {
        Binding::Operand(name) => name,
        Binding::Zero => "0",
    }
}

/// What an instruction is on the machine, in a word.
pub fn form(form: Form) -> &'static str {
    match form {
        Form::Single => "instruction",
        Form::Free => "cast",
        Form::Sequence => "sequence",
        Form::Library => "library",
    }
}

fn role(role: Role) -> (&'static str, Option<u32>) {
    match role {
        Role::Register => ("register", None),
        Role::Mask => ("mask", None),
        Role::Immediate { max } | Role::Range { max, .. } => ("immediate", Some(max)),
        Role::Rounding => ("rounding", None),
        Role::Sae => ("sae", None),
        Role::Scale => ("scale", None),
        Role::Pointer { .. } => ("pointer", None),
    }
}

fn instruction<'a>(
    number: usize,
    operation: &'a Operation,
    member: &'a Member,
    known: Option<&Known>,
) -> Instruction<'a> {
    let operands = member.operands.iter().map(|o| {
        let (role, max) = role(o.role);
        Slot {
            name: o.name.clone(),
            c_type: o.c_type.clone(),
            element: o.element.to_string(),
            bits: Some(o.width),
            role: Some(role),
            least: match o.role {
                Role::Range { least, .. } => Some(least),
                _ => None,
            },
            max,
        }
    });
    let terms: Vec<_> = (0..member.outputs.len())
        .map(|k| operation.result(k, &member.values).ok())
        .collect();
    let results = member.outputs.iter().zip(&terms).map(|(o, term)| Slot {
        name: o.name.clone(),
        c_type: o.c_type.clone(),
        element: o.element.to_string(),
        bits: term.and_then(|t| t.sort().width()),
        role: None,
        least: None,
        max: None,
    });
    let flows = flow::flows(operation, member);
    Instruction {
        member,
        operation: number,
        formula: own_formula(operation, member),
        operands: operands.collect(),
        results: results.collect(),
        known: known.cloned().unwrap_or_default(),
        computed: samples::computed(operation, member, &flows),
        facts: sense::of(operation, member, &flows),
        flows,
    }
}

/// The formula with the numbers and the operands of one instruction.
fn own_formula(operation: &Operation, member: &Member) -> String {
    let names: Vec<String> = member
        .bindings
        .iter()
        .map(|b| bound(b).to_owned())
        .collect();
    let results = operation.results.iter().zip(&member.outputs);
    let each = results.map(|(skeleton, output)| {
        let number = |n: &Number| Number::Constant(n.value(&member.values));
        let own = without_zeros(skeleton.map_numbers(&number, 0));
        let text = formula::formula(&own, &[], &names);
        match output.name.as_str() {
            "dst" => text,
            name => text.replacen("dst", name, 1),
        }
    });
    each.collect::<Vec<_>>().join("; ")
}

/// The same meaning without sums with 0 and products with 0 and 1 among its offsets: nodes refer to
/// what such a one leaves.
fn without_zeros(mut skeleton: Skeleton) -> Skeleton {
    let mut stands_for: Vec<usize> = Vec::with_capacity(skeleton.nodes.len());
    for at in 0..skeleton.nodes.len() {
        if let SkeletonNode::Apply(_, _, args) = &mut skeleton.nodes[at] {
            args.iter_mut().for_each(|arg| *arg = stands_for[*arg]);
        }
        match &mut skeleton.nodes[at] {
            SkeletonNode::Map(_, body) => *body = stands_for[*body],
            SkeletonNode::Fold(_, init, body) => {
                (*init, *body) = (stands_for[*init], stands_for[*body]);
            }
            _ => {}
        }
        let is = |k: usize, n: i64| skeleton.nodes[k] == SkeletonNode::Index(Number::Constant(n));
        let left = match &skeleton.nodes[at] {
            SkeletonNode::Apply(Operator::Fixed(OpCode::IntAdd), _, args) if is(args[0], 0) => {
                args[1]
            }
            SkeletonNode::Apply(Operator::Fixed(OpCode::IntAdd), _, args) if is(args[1], 0) => {
                args[0]
            }
            SkeletonNode::Apply(Operator::Fixed(OpCode::IntMul), _, args) if is(args[1], 1) => {
                args[0]
            }
            SkeletonNode::Apply(Operator::Fixed(OpCode::IntMul), _, args) if is(args[1], 0) => {
                args[1]
            }
            _ => at,
        };
        stands_for.push(left);
    }
    skeleton
}
