//! The instructions of an instruction set in a form that is read quickly.
//!
//! In: machine operations. Out: [`Stock`], a text whose first line has a version and a
//! digest of the rest: the nodes of all meanings, each once, then one line for each
//! instruction. An instruction is read alone, or all of them in one pass, without parsing
//! any pseudocode. A text whose digest does not fit is no stock.
//!
//! It is a copy for speed: the dictionary is what it is made from, and what people read.

mod line;
#[cfg(test)]
mod tests;

use autoir::program::Machine;
pub(crate) use line::Head;
use semantics::instruction::Form;
use semantics::nodes::{self, Reader, Writer};
use semantics::term::Term;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fmt::Write as _;

/// The first line up to the counts.
const VERSION: &str = "isaforge stock 2";

/// Instructions with their meanings, as text.
pub struct Stock {
    text: String,
    /// Where the line of each node begins and ends.
    nodes: Vec<(u32, u32)>,
    /// The line of each instruction, without its meaning.
    heads: Vec<(u32, u32)>,
    digest: String,
}

impl Stock {
    /// The stock of these instructions.
    pub fn of(machines: &[(Machine, Form)]) -> Stock {
        let mut nodes = Writer::default();
        let mut heads = String::new();
        for (machine, form) in machines {
            let term = nodes.number(machine.term);
            let _ = writeln!(heads, "{}", line::head(machine, *form, term));
        }
        let count = nodes.count();
        let body = nodes.into_text() + &heads;
        let first = format!(
            "{VERSION} {} {} {}\n",
            count,
            machines.len(),
            crate::record::hex(&Sha256::digest(body.as_bytes()))
        );
        Stock::read(first + &body).expect("what was just written is a stock")
    }

    /// A stock from its text; nothing when it is damaged.
    pub fn read(text: String) -> Option<Stock> {
        let (first, body) = text.split_once('\n')?;
        let mut words = first.strip_prefix(VERSION)?.split_whitespace();
        let nodes: usize = words.next()?.parse().ok()?;
        let machines: usize = words.next()?.parse().ok()?;
        let digest = words.next()?.to_owned();
        if crate::record::hex(&Sha256::digest(body.as_bytes())) != digest {
            return None;
        }
        let mut from = u32::try_from(first.len() + 1).ok()?;
        u32::try_from(text.len()).ok()?;
        let mut lines = Vec::with_capacity(nodes + machines);
        for line in body.split_terminator('\n') {
            let to = from + line.len() as u32;
            lines.push((from, to));
            from = to + 1;
        }
        let heads = (lines.len() == nodes + machines).then(|| lines.split_off(nodes))?;
        Some(Stock {
            text,
            nodes: lines,
            heads,
            digest,
        })
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What tells this stock from others.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// What is known of each instruction without its meaning, in order.
    pub(crate) fn heads(&self) -> impl Iterator<Item = Head<'_>> {
        self.heads
            .iter()
            .filter_map(|&range| Head::read(self.at(range)))
    }

    /// One instruction.
    pub(crate) fn machine(&self, head: &Head<'_>) -> Option<Machine> {
        let mut known = HashMap::new();
        let term = self.term(head.term, &mut known)?;
        head.machine(term)
    }

    /// All instructions, in order.
    pub fn machines(&self) -> Vec<(Machine, Form)> {
        let lines = self.nodes.iter().map(|&range| self.at(range));
        let Some(terms) = Reader::default().terms(lines) else {
            return Vec::new();
        };
        self.heads()
            .filter_map(|head| {
                let term = *terms.get(head.term)?;
                Some((head.machine(term)?, head.form))
            })
            .collect()
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
        known.get(&number).copied()
    }
}
