//! The instructions of a target as what implements operations.
//!
//! In: a dictionary, or the text of a table. Out: [`InstructionTable`], for each instruction the
//! [`Instance`] of an operation that it implements and how it is written, in a text that is read
//! quickly: its first line has a version and what tells the table from others; then the nodes of
//! all meanings, each once; then one line for each instruction. One is read alone, or all of them
//! in one pass, without parsing any pseudocode. That a text is the one that was written is for
//! whoever keeps it to see to.
//!
//! It is a copy for speed: the dictionary is what it is made from, and what people read. It knows
//! no costs and does not choose.

mod line;
#[cfg(test)]
mod tests;

use crate::dictionary::{Binding, Dictionary, Member, Operation, Returned};
use crate::program::{Bound, Formal, Instance, UNDEFINED};
use crate::transfer::Transfer;
pub use line::Row;
use rayon::prelude::*;
use semantics::build as b;
use semantics::instruction::{Element, Form, Operand};
use semantics::nodes::{self, Reader, Writer};
use semantics::sort::Sort;
use semantics::subst::replace_vars;
use semantics::term::Term;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fmt::Write as _;

/// Where the value of an operand is from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperandSource {
    /// The open argument of that number.
    Formal(usize),
    /// A constant that changes no result.
    Constant(u32),
}

/// How an instruction is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Implementation {
    /// Its name in C.
    pub instruction: String,
    /// The assembly mnemonic, where known.
    pub mnemonic: Option<String>,
    /// What it is on the machine.
    pub form: Form,
    /// Features that it needs.
    pub features: Vec<String>,
    /// Its operands in C order.
    pub operands: Vec<Operand>,
    /// Where the value of each is from.
    pub sources: Vec<OperandSource>,
    /// The type of its result in C.
    pub c_type: String,
    /// How the elements of its result are read.
    pub element: Element,
    /// Width of its result in bits.
    pub width: u32,
}

/// What a member of the dictionary implements, and how it is written; nothing for members that
/// have no single result, access memory at several addresses, or whose operation has no meaning
/// at their numbers.
pub fn implementation(
    operation: &Operation,
    member: &Member,
) -> Option<(Instance, Implementation)> {
    let [returned] = member.outputs.as_slice() else {
        return None;
    };
    let pointers = member.operands.iter().filter(|o| o.role.is_pointer());
    if pointers.count() > 1 {
        return None;
    }
    let instance = instance(operation, member, returned)?;
    let place = |o: &Operand| {
        let bound = |b: &Binding| *b == Binding::Operand(o.name.clone());
        let argument = member.bindings.iter().position(bound)?;
        let open = &instance.arguments[..argument];
        Some(open.iter().filter(|b| **b == Bound::Open).count())
    };
    let source = |o: &Operand| match (place(o), o.role.constants()) {
        (Some(formal), _) => Some(OperandSource::Formal(formal)),
        (None, Some(constants)) => constants.nth(0).map(OperandSource::Constant),
        (None, None) => None,
    };
    let sources = member.operands.iter().map(source).collect::<Option<_>>()?;
    let implementation = Implementation {
        instruction: member.name.clone(),
        mnemonic: member.mnemonic.clone(),
        form: member.form,
        features: member.features.clone(),
        operands: member.operands.clone(),
        sources,
        c_type: returned.c_type.clone(),
        element: returned.element,
        width: instance.width(),
    };
    Some((instance, implementation))
}

/// The instance of an operation that a member implements.
fn instance(operation: &Operation, member: &Member, returned: &Returned) -> Option<Instance> {
    let whole = operation.specialise(&member.values).ok()?;
    let name = |k: usize| format!("x{k}");
    let (mut arguments, mut formals) = (Vec::new(), Vec::new());
    let mut put: HashMap<String, Term> = HashMap::new();
    for (k, binding) in member.bindings.iter().enumerate() {
        let variables = semantics::subst::free_vars(whole);
        let variable = variables.into_iter().find(|v| v.as_var() == Some(&name(k)));
        arguments.push(match binding {
            Binding::Zero => {
                if let Some(v) = variable {
                    put.insert(name(k), semantics::build::zero(v.sort().width()?));
                }
                Bound::Zero
            }
            Binding::Operand(operand) => {
                let first = member.bindings.iter().position(|b| b == binding)?;
                let operand = member.operands.iter().find(|o| o.name == *operand);
                if let (None, Some(v)) = (operand, variable) {
                    // What is no operand is the memory.
                    (v.sort() == Sort::Mem).then_some(Bound::Memory)?
                } else if first < k {
                    if let Some(v) = variable {
                        put.insert(name(k), Term::var(&name(first), v.sort()));
                    }
                    Bound::Same(first)
                } else {
                    let operand = operand?;
                    let width = variable.map_or(Some(operand.width), |v| v.sort().width());
                    if operand.width == 0 || width != Some(operand.width) {
                        return None;
                    }
                    formals.push(Formal {
                        name: name(k),
                        element: operand.element,
                        width: operand.width,
                        role: operand.role,
                    });
                    Bound::Open
                }
            }
        });
    }
    let within = |&(lo, hi): &(u32, u32)| lo < hi && hi <= whole.sort().width().unwrap_or(0);
    if !returned.undefined.iter().all(within) {
        return None;
    }
    let map = put.iter().map(|(name, &term)| (name.as_str(), term));
    let mut instance = Instance {
        operation: operation.name.clone(),
        values: member.values.clone(),
        arguments,
        formals,
        term: undefined(replace_vars(whole, &map.collect()), &returned.undefined),
        undefined: returned.undefined.clone(),
        transfer: None,
    };
    instance.transfer = Transfer::of(&instance);
    Some(instance)
}

/// A register of which these bits may be anything.
fn undefined(term: Term, ranges: &[(u32, u32)]) -> Term {
    ranges.iter().fold(term, |term, &(lo, hi)| {
        let width = term.width();
        let unknown = Term::var(UNDEFINED, Sort::Bv(width));
        let part = |of: Term, lo: u32, hi: u32| (lo < hi).then(|| b::extract(of, lo, hi - lo));
        let parts = [
            part(term, hi, width),
            part(unknown, lo, hi),
            part(term, 0, lo),
        ];
        b::concat(&parts.into_iter().flatten().collect::<Vec<_>>())
    })
}

/// The first line up to the counts.
pub const VERSION: &str = "isaforge instructions 5";

/// Instructions with what they implement, as text.
pub struct InstructionTable {
    text: String,
    /// Where the line of each node begins and ends.
    nodes: Vec<(u32, u32)>,
    /// The line of each instruction, without its meaning.
    rows: Vec<(u32, u32)>,
    digest: String,
}

impl InstructionTable {
    /// The table of a dictionary. Calls of a library are no instructions.
    pub fn of_dictionary(dictionary: &Dictionary) -> InstructionTable {
        let members = dictionary.members();
        let single = members.filter(|(_, member)| member.form != Form::Library);
        let all = single.filter_map(|(operation, member)| implementation(operation, member));
        InstructionTable::of(&all.collect::<Vec<_>>())
    }

    /// The table of some instructions.
    ///
    /// # Panics
    /// Never: what was just written is a table.
    pub fn of(all: &[(Instance, Implementation)]) -> InstructionTable {
        let mut nodes = Writer::default();
        let mut rows = String::new();
        for (instance, implementation) in all {
            let term = nodes.number(instance.term);
            let _ = writeln!(rows, "{}", line::row(instance, implementation, term));
        }
        let count = nodes.count();
        let body = nodes.into_text() + &rows;
        let first = format!("{VERSION} {count} {} {}\n", all.len(), digest(&body));
        InstructionTable::read(first + &body).expect("what was just written is a table")
    }

    /// A table from its text; nothing when it is of another version or cut off.
    pub fn read(text: String) -> Option<InstructionTable> {
        let (first, body) = text.split_once('\n')?;
        let mut words = first.strip_prefix(VERSION)?.split_whitespace();
        let nodes: usize = words.next()?.parse().ok()?;
        let rows: usize = words.next()?.parse().ok()?;
        let reported = words.next()?.to_owned();
        let mut from = u32::try_from(first.len() + 1).ok()?;
        u32::try_from(text.len()).ok()?;
        let mut lines = Vec::new();
        for line in body.split_terminator('\n') {
            let to = from + line.len() as u32;
            lines.push((from, to));
            from = to + 1;
        }
        let whole = nodes.checked_add(rows) == Some(lines.len());
        let rows = whole.then(|| lines.split_off(nodes))?;
        Some(InstructionTable {
            text,
            nodes: lines,
            rows,
            digest: reported,
        })
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What tells this table from others.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// What is known of each instruction without its meaning, in order.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.numbered().map(|(_, row)| row)
    }

    /// The same with their numbers, by which [`InstructionTable::row`] finds them again.
    pub fn numbered(&self) -> impl Iterator<Item = (usize, Row<'_>)> {
        let all = self.rows.iter().enumerate();
        all.filter_map(|(k, &range)| Some((k, Row::read(self.at(range))?)))
    }

    /// The row of that number.
    pub fn row(&self, number: usize) -> Option<Row<'_>> {
        Row::read(self.at(*self.rows.get(number)?))
    }

    /// What an instruction implements, and how it is written.
    pub fn instruction(&self, row: &Row<'_>) -> Option<(Instance, Implementation)> {
        let term = self.term(row.term, &mut HashMap::new())?;
        Some((row.instance(term)?, row.implementation()?))
    }

    /// All instructions, in order.
    pub fn instructions(&self) -> Vec<(Instance, Implementation)> {
        self.instructions_of(self.rows())
    }

    /// The instructions of some rows, in their order.
    pub fn instructions_of<'a>(
        &'a self,
        rows: impl Iterator<Item = Row<'a>>,
    ) -> Vec<(Instance, Implementation)> {
        let lines = self.nodes.iter().map(|&range| self.at(range));
        let Some(terms) = Reader::default().terms(lines) else {
            return Vec::new();
        };
        let whole = |row: Row<'_>| {
            let term = *terms.get(row.term).filter(|t| t.binders() == 0)?;
            Some((row.instance(term)?, row.implementation()?))
        };
        let rows: Vec<Row<'_>> = rows.collect();
        rows.into_par_iter().filter_map(whole).collect()
    }

    fn at(&self, (from, to): (u32, u32)) -> &str {
        &self.text[from as usize..to as usize]
    }

    /// A node with all that it needs.
    fn term(&self, number: usize, known: &mut HashMap<usize, Term>) -> Option<Term> {
        let reader = Reader::default();
        let mut stack = vec![number];
        while let Some(&top) = stack.last() {
            if known.contains_key(&top) {
                stack.pop();
                continue;
            }
            let text = self.at(*self.nodes.get(top)?);
            let missing: Vec<usize> = nodes::children(text)
                .filter(|k| !known.contains_key(k))
                .collect();
            // What a node is made of stands before it: there are no circles.
            if missing.iter().any(|&k| k >= top) {
                return None;
            }
            if missing.is_empty() {
                let term = reader.node(text, &|k| known.get(&k).copied())?;
                known.insert(top, term);
                stack.pop();
            }
            stack.extend(missing);
        }
        known.get(&number).copied().filter(|t| t.binders() == 0)
    }
}

/// What tells an instance in `Row::instance`.
pub fn instance_key(instance: &Instance) -> String {
    line::instance_text(instance)
}

/// Which instruction implements each operation of some programs.
#[derive(Clone, Debug, Default)]
pub struct Selection(HashMap<Instance, Implementation>);

impl Selection {
    /// What implements an operation.
    ///
    /// # Panics
    /// When it is an operation of none of the programs that the selection was made for.
    pub fn of(&self, instance: &Instance) -> &Implementation {
        self.0
            .get(instance)
            .expect("a selection has every operation of its programs")
    }
}

impl FromIterator<(Instance, Implementation)> for Selection {
    fn from_iter<I: IntoIterator<Item = (Instance, Implementation)>>(all: I) -> Selection {
        Selection(all.into_iter().collect())
    }
}

/// The digest of a text in hexadecimal digits.
fn digest(text: &str) -> String {
    format!("{:x}", Sha256::digest(text))
}
