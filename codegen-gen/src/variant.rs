//! Operations at one set of numbers: what other tools see as one function each.
//!
//! In: a dictionary. Out: [`Variant`]s in order, each with a name and the members that are
//! exactly this operation: same values of the parameters, same arguments given rather than
//! zero. It chooses among members only where a back end can name a single one
//! ([`Variant::representative`]).

use autoir::dictionary::{Binding, Dictionary, Member, Operation};
use semantics::instruction::{Element, Form, Operand};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// An operation at one set of numbers.
#[derive(Clone, Debug)]
pub struct Variant<'a> {
    /// The operation.
    pub operation: &'a Operation,
    /// The values of its parameters.
    pub values: &'a [i64],
    /// What each argument is.
    pub given: Vec<Given>,
    /// A name that no other variant has and that is an identifier everywhere:
    /// `add_p8_64`, and `add_masked_p8_64_zsrc` where the argument `src` is zero.
    pub name: String,
    /// The instructions, by instruction set and name.
    pub members: Vec<&'a Member>,
}

/// How an argument of an operation reaches a member.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Given {
    /// As an operand.
    Operand,
    /// It is zero.
    Zero,
    /// It is the memory, or other state of the machine.
    State,
}

/// What an argument is in a member.
pub fn given(member: &Member, argument: usize) -> Given {
    match &member.bindings[argument] {
        Binding::Zero => Given::Zero,
        Binding::Operand(name) => match operand(member, name) {
            Some(_) => Given::Operand,
            None => Given::State,
        },
    }
}

/// The operand of that name.
pub fn operand<'m>(member: &'m Member, name: &str) -> Option<&'m Operand> {
    member.operands.iter().find(|o| o.name == name)
}

/// The operands that the arguments are which are operands, in the order of the arguments.
pub fn bound(member: &Member) -> impl Iterator<Item = (usize, &Operand)> {
    let named = |(at, binding): (usize, &Binding)| match binding {
        Binding::Operand(name) => operand(member, name).map(|o| (at, o)),
        Binding::Zero => None,
    };
    member.bindings.iter().enumerate().filter_map(named)
}

/// The results that are values, not memory or other state.
pub fn returned(member: &Member) -> impl Iterator<Item = &autoir::dictionary::Returned> {
    member.outputs.iter().filter(|o| o.c_type != "void")
}

/// The letters with which LLVM and MLIR name an element of a value of that width, and its bits.
pub(crate) fn lettered(element: Element, width: u32) -> (&'static str, u32) {
    match element {
        Element::Float(w) => ("f", w),
        Element::Bfloat16 => ("bf", 16),
        Element::Mask => ("i", 1),
        Element::Signed(w) | Element::Unsigned(w) => ("i", w),
        Element::Untyped => ("i", width.min(64)),
    }
}

/// All variants, in the order of the dictionary, then of their numbers.
pub fn variants(dictionary: &Dictionary) -> Vec<Variant<'_>> {
    dictionary.operations.iter().flat_map(of).collect()
}

/// The variants of an operation.
pub fn of(operation: &Operation) -> Vec<Variant<'_>> {
    let mut groups: BTreeMap<(&[i64], Vec<Given>), Vec<&Member>> = BTreeMap::new();
    for member in &operation.members {
        let how = (0..member.bindings.len()).map(|a| given(member, a));
        let key = (member.values.as_slice(), how.collect());
        groups.entry(key).or_default().push(member);
    }
    let groups = groups.into_iter().map(|((values, given), members)| {
        let name = name(operation, values, &given);
        Variant {
            operation,
            values,
            given,
            name,
            members,
        }
    });
    groups.collect()
}

fn name(operation: &Operation, values: &[i64], given: &[Given]) -> String {
    let mut name = operation.name.clone();
    for (k, value) in values.iter().enumerate() {
        let mark = if k == 0 { "_p" } else { "_" };
        let sign = if *value < 0 { "m" } else { "" };
        let _ = write!(name, "{mark}{sign}{}", value.unsigned_abs());
    }
    let zeros = given.iter().zip(&operation.arguments);
    for (_, argument) in zeros.filter(|(how, _)| **how == Given::Zero) {
        let _ = write!(name, "_z{argument}");
    }
    name
}

impl<'a> Variant<'a> {
    /// The member of an instruction set that asks least of the machine: one instruction
    /// rather than a sequence, with the fewest features, the first by name.
    pub fn representative(&self, such: impl Fn(&Member) -> bool) -> Option<&'a Member> {
        let members = self.members.iter().copied().filter(|m| such(m));
        members.min_by_key(|m| {
            let rank = match m.form {
                Form::Free => 0,
                Form::Single => 1,
                Form::Sequence => 2,
                Form::Library => 3,
            };
            (rank, m.features.len(), m.name.as_str())
        })
    }

    /// The parameters with their values: `width = 8, count = 64`.
    pub fn numbers(&self) -> String {
        let pairs = self.operation.parameters.iter().zip(self.values);
        let pairs = pairs.map(|(name, value)| format!("{name} = {value}"));
        pairs.collect::<Vec<_>>().join(", ")
    }
}
