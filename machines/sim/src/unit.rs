//! One instruction made ready to run: its accesses to memory, and what it computes.
//!
//! In: a machine instruction. Out: [`Unit`]: a compiled program that gives the addresses
//! that are read, and one that gives, from what was read there, every result and what is
//! written where. Instructions that read memory after they have written it are refused.

use semantics::build as b;
use semantics::eval::{CompiledTerms, Frame, Input};
use semantics::machine::MachineInstruction;
use semantics::op::OpCode;
use semantics::sort::Sort;
use semantics::subst::{free_vars, rebuild, replace_vars};
use semantics::term::Term;
use semantics::unroll::unroll;
use std::collections::{BTreeMap, HashMap, HashSet};

/// A result of a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    /// The operand with this index.
    Operand(usize),
    /// The implicit register with this index.
    Implicit(usize),
    /// The program counter.
    Counter,
}

/// An instruction made ready.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    /// The operands that are inputs, in order; the counter comes last when it is one.
    pub(crate) inputs: Vec<Option<usize>>,
    /// Gives the addresses.
    addresses: CompiledTerms,
    address_frame: Frame,
    /// Bytes of each read.
    pub(crate) reads: Vec<u32>,
    /// Gives the results, then address and value of each write.
    results: CompiledTerms,
    frame: Frame,
    /// Where results go.
    pub(crate) targets: Vec<Target>,
    /// Bytes of each write, the first first.
    pub(crate) writes: Vec<u32>,
    /// What is broken when the result with this number is 0.
    requires: Vec<(usize, String)>,
    /// How many products it computes.
    pub(crate) products: u64,
}

/// The name of memory in meanings.
const MEMORY: &str = "mem";

impl Unit {
    /// Makes an instruction ready; configuration has the values of `known`, so that what is read
    /// and written is known, and only that is touched.
    ///
    /// # Errors
    /// What about its meaning cannot be run.
    pub(crate) fn new(
        from: &MachineInstruction,
        known: &HashMap<&str, Term>,
    ) -> Result<Unit, String> {
        let mut reads = Vec::new();
        let flat = |t: Term| match known.is_empty() {
            true => unroll(t),
            false => unroll(replace_vars(t, known)),
        };
        let outputs = from.instruction.outputs.iter();
        outputs.for_each(|output| collect_reads(flat(output.term), &mut reads));
        let requires = from.requires.iter();
        requires.for_each(|r| collect_reads(flat(r.condition), &mut reads));
        let mut memo = HashMap::new();
        let (mut results, mut targets, mut writes) = (Vec::new(), Vec::new(), Vec::new());
        let mut stores = Vec::new();
        for output in &from.instruction.outputs {
            let flat = flat(output.term);
            if output.name == MEMORY {
                stores = chain(flat)?;
                continue;
            }
            let (operand, implicit) = (from.operand(&output.name), from.implicit(&output.name));
            targets.push(match (operand, implicit) {
                (Some(k), _) => Target::Operand(k),
                (None, Some(k)) => Target::Implicit(k),
                (None, None) => Target::Counter,
            });
            results.push(without_reads(flat, &reads, &mut memo)?);
        }
        for (address, value) in stores {
            writes.push(value.width() / 8);
            results.push(without_reads(address, &reads, &mut memo)?);
            results.push(without_reads(value, &reads, &mut memo)?);
        }
        let mut requires = Vec::new();
        for requirement in &from.requires {
            let holds = flat(requirement.condition);
            if holds.as_bool() == Some(true) {
                continue;
            }
            let one = b::ite(holds, Term::bv(8, 1), Term::bv(8, 0));
            requires.push((results.len(), requirement.broken.clone()));
            results.push(without_reads(one, &reads, &mut memo)?);
        }
        let variables = variables(&results, &reads);
        let mut inputs: Vec<Input> = Vec::new();
        let mut named = Vec::new();
        for (name, sort) in variables {
            named.push(from.operand(&name));
            inputs.push(Input { name, sort });
        }
        let addresses: Vec<Term> = reads
            .iter()
            .map(|r: &Term| r.args_of(OpCode::Read).expect("only reads are kept")[1])
            .collect();
        let fault = |e: semantics::term::SortError| e.to_string();
        let addresses = CompiledTerms::compile(&addresses, &inputs).map_err(fault)?;
        for (k, read) in reads.iter().enumerate() {
            inputs.push(Input {
                name: read_name(k),
                sort: read.sort(),
            });
        }
        let products = products(&results);
        let results = CompiledTerms::compile(&results, &inputs).map_err(fault)?;
        Ok(Unit {
            inputs: named,
            address_frame: addresses.frame(1),
            addresses,
            reads: reads.iter().map(|r| r.width() / 8).collect(),
            frame: results.frame(1),
            results,
            targets,
            writes,
            requires,
            products,
        })
    }

    /// Sets an input.
    pub(crate) fn set(&mut self, input: usize, value: &semantics::value::Value) {
        if !self.reads.is_empty() {
            self.addresses.set(&mut self.address_frame, input, 0, value);
        }
        self.results.set(&mut self.frame, input, 0, value);
    }

    /// Computes the addresses that are read.
    pub(crate) fn find_addresses(&mut self) {
        self.addresses.execute(&mut self.address_frame);
    }

    /// The address of a read.
    pub(crate) fn address(&self, read: usize) -> u64 {
        self.addresses.output_words(&self.address_frame, read)[0]
    }

    /// Sets what was read; at most 8 bytes.
    pub(crate) fn set_read(&mut self, read: usize, word: u64) {
        let input = self.inputs.len() + read;
        self.results.input_words(&mut self.frame, input)[0] = word;
    }

    /// Computes the results.
    pub(crate) fn compute(&mut self) {
        self.results.execute(&mut self.frame);
    }

    /// What is broken of what must hold before the instruction.
    pub(crate) fn broken(&self) -> Option<&str> {
        let zero = |k: usize| self.results.output_words(&self.frame, k)[0] == 0;
        let mut broken = self.requires.iter().filter(|r| zero(r.0));
        broken.next().map(|r| r.1.as_str())
    }

    /// A result, by the order of [`Unit::targets`].
    pub(crate) fn result(&self, k: usize) -> semantics::value::Value {
        self.results.get(&self.frame, k, 0)
    }

    /// Address and value of a write; at most 8 bytes.
    pub(crate) fn write(&self, k: usize) -> (u64, u64) {
        let at = self.targets.len() + 2 * k;
        let word = |k| self.results.output_words(&self.frame, k)[0];
        (word(at), word(at + 1))
    }
}

/// The writes of a memory, the first first.
fn chain(memory: Term) -> Result<Vec<(Term, Term)>, String> {
    let (mut writes, mut rest) = (Vec::new(), memory);
    while let Some(args) = rest.args_of(OpCode::Write) {
        writes.push((args[1], args[2]));
        rest = args[0];
    }
    writes.reverse();
    match rest.as_var() {
        Some(MEMORY) => Ok(writes),
        _ => Err("it writes memory only under a condition".to_owned()),
    }
}

fn read_name(k: usize) -> String {
    format!("%read{k}")
}

/// The reads of memory in a term, those of its least significant parts first.
fn collect_reads(t: Term, reads: &mut Vec<Term>) {
    let (mut seen, mut stack) = (HashSet::new(), vec![t]);
    while let Some(t) = stack.pop() {
        if !seen.insert(t) {
            continue;
        }
        if t.args_of(OpCode::Read).is_some() && !reads.contains(&t) {
            reads.push(t);
        }
        stack.extend(t.children());
    }
}

/// The term with every read of memory replaced by a variable.
fn without_reads(t: Term, reads: &[Term], memo: &mut HashMap<Term, Term>) -> Result<Term, String> {
    if let Some(&done) = memo.get(&t) {
        return Ok(done);
    }
    let out = match t.args_of(OpCode::Read) {
        Some(args) => {
            if args[0].as_var() != Some(MEMORY) {
                return Err("it reads memory after it has written it".to_owned());
            }
            if t.width() > 64 || free_vars(args[1]).iter().any(|v| v.sort() == Sort::Mem) {
                return Err("it reads more than 8 bytes at once, or where memory says".to_owned());
            }
            let k = reads.iter().position(|r| *r == t);
            let k = k.expect("all reads were collected");
            Term::var(&read_name(k), t.sort())
        }
        None => {
            let mut wrong = None;
            let out = rebuild(t, |child, _| match without_reads(child, reads, memo) {
                Ok(done) => done,
                Err(reason) => {
                    wrong = Some(reason);
                    child
                }
            });
            match wrong {
                Some(reason) => return Err(reason),
                None => out,
            }
        }
    };
    memo.insert(t, out);
    Ok(out)
}

/// What the results and the addresses are computed from, but for what is read.
fn variables(results: &[Term], reads: &[Term]) -> BTreeMap<String, Sort> {
    let addresses = reads
        .iter()
        .filter_map(|r| r.args_of(OpCode::Read).map(|args| args[1]));
    let all = results.iter().copied().chain(addresses);
    all.flat_map(free_vars)
        .map(|v| (v.as_var().unwrap_or_default().to_owned(), v.sort()))
        .filter(|(name, _)| !name.starts_with('%'))
        .collect()
}

/// How many products of two values that are no constants there are.
fn products(results: &[Term]) -> u64 {
    let mut seen = HashSet::new();
    let mut stack: Vec<Term> = results.to_vec();
    let mut count = 0;
    while let Some(t) = stack.pop() {
        if !seen.insert(t) {
            continue;
        }
        let codes = [OpCode::BvMul, OpCode::FMul, OpCode::FMadd];
        let factors = codes.iter().find_map(|&code| t.args_of(code));
        count += u64::from(factors.is_some_and(|f| f[1].as_bits().is_none()));
        stack.extend(t.children());
    }
    count
}
