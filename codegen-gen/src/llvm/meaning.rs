//! Terms as LLVM IR: what an operation means, in vectors of any target.
//!
//! In: terms over named operands. Out: names of values. Equal parts of a result that lie side by
//! side are one vector: terms of the same shape become one operation on vectors of their
//! arguments, and bits of operands are shuffled into place. What is of no shape is computed by
//! itself and put together. Operators that the table defines by others are expanded; every
//! operator is total, as in the table. It asks for no feature: LLVM selects.

mod float;
mod gather;
mod operator;

use super::text::Function;
use super::types::{self, Typed, integers};
use semantics::bits::Bits;
use semantics::op::{Op, OpCode, Smt};
use semantics::sort::Sort;
use semantics::term::Term;
use semantics::unroll::{elements, unroll};
use std::collections::HashMap;

/// Where the bits of an operand are.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// In memory from an address on, so many.
    Memory(String, u32),
    /// In a value.
    Value(Typed),
    /// Nowhere: they may be anything.
    Anything(u32),
}

/// Writes terms over the same operands, each part of them once.
pub(super) struct Meaning<'p> {
    places: &'p HashMap<String, Place>,
    done: HashMap<Vec<Term>, String>,
}

/// The width of a term; that of a truth value is 1.
fn bits(t: Term) -> u32 {
    match t.sort() {
        Sort::Bool => 1,
        _ => t.width(),
    }
}

/// A constant, truth values too.
fn constant(t: Term) -> Option<Bits> {
    let truth = |truth: bool| Bits::from_u64(1, u64::from(truth));
    t.as_bits().cloned().or_else(|| t.as_bool().map(truth))
}

impl<'p> Meaning<'p> {
    pub(super) fn new(places: &'p HashMap<String, Place>) -> Self {
        Meaning {
            places,
            done: HashMap::new(),
        }
    }

    /// The value of a term.
    ///
    /// # Errors
    /// An operator that LLVM IR does not have.
    pub(super) fn term(&mut self, f: &mut Function<'_>, t: Term) -> Result<Typed, String> {
        let t = unroll(t);
        let (lanes, width) = match parts(t) {
            Some(parts) => (parts.clone(), bits(parts[0])),
            None => (vec![t], bits(t)),
        };
        let name = self.pack(f, &lanes)?;
        Ok(Typed {
            name,
            ty: integers(lanes.len(), width),
            width: bits(t),
        })
    }

    /// The elements of a term, of so many bits each, side by side.
    ///
    /// # Errors
    /// The same.
    pub(super) fn elements(
        &mut self,
        f: &mut Function<'_>,
        t: Term,
        width: u32,
    ) -> Result<Typed, String> {
        let lanes = elements(t, width);
        let name = self.pack(f, &lanes)?;
        Ok(Typed {
            name,
            ty: integers(lanes.len(), width),
            width: t.width(),
        })
    }

    /// Flat terms of one width side by side.
    fn pack(&mut self, f: &mut Function<'_>, terms: &[Term]) -> Result<String, String> {
        if let Some(done) = self.done.get(terms) {
            return Ok(done.clone());
        }
        let value = self.packed(f, terms)?;
        self.done.insert(terms.to_vec(), value.clone());
        Ok(value)
    }

    fn packed(&mut self, f: &mut Function<'_>, terms: &[Term]) -> Result<String, String> {
        let constants = terms.iter().map(|&t| constant(t));
        if let Some(constants) = constants.collect::<Option<Vec<_>>>() {
            return Ok(types::numbers(&constants));
        }
        let (first, lanes) = (terms[0], terms.len());
        if lanes > 1 && terms.iter().all(|t| *t == first) {
            let one = self.pack(f, &[first])?;
            return Ok(f.splat(&one, lanes, bits(first)));
        }
        if let Some(value) = self.gathered(f, terms)? {
            return Ok(value);
        }
        if let ([only], Some(parts)) = (terms, parts(first)) {
            let name = self.pack(f, &parts)?;
            let ty = integers(parts.len(), bits(parts[0]));
            let width = bits(*only);
            return Ok(f.cast(&Typed { name, ty, width }, &format!("i{width}")));
        }
        if let Some((op, args)) = alike(terms) {
            return self.application(f, op, terms, &args);
        }
        match lanes {
            1 => Err(format!("{first} has no value in LLVM IR")),
            _ => self.halves(f, terms),
        }
    }

    /// Terms that are not alike: those below and above the middle, put together.
    fn halves(&mut self, f: &mut Function<'_>, terms: &[Term]) -> Result<String, String> {
        let (lanes, width) = (terms.len(), bits(terms[0]));
        let middle = lanes.next_power_of_two() / 2;
        let mut half = |terms: &[Term], at: usize| -> Result<String, String> {
            let value = self.pack(f, terms)?;
            Ok(f.widened(&value, terms.len(), (lanes, width), at))
        };
        let low = half(&terms[..middle], 0)?;
        let high = half(&terms[middle..], middle)?;
        let taken = (0..lanes).map(|l| Some(if l < middle { l } else { lanes + l }));
        Ok(f.shuffle((&low, &high), (lanes, width), &taken.collect::<Vec<_>>()))
    }

    /// An operator on vectors of its arguments.
    fn application(
        &mut self,
        f: &mut Function<'_>,
        op: Op,
        terms: &[Term],
        args: &[Vec<Term>],
    ) -> Result<String, String> {
        if let Some(float) = float::float(op) {
            return self.float(f, (op, float), terms, args);
        }
        if let Smt::Defined(expand) = op.info().smt {
            let given = (0..terms.len()).map(|l| args.iter().map(|a| a[l]).collect::<Vec<_>>());
            let expanded = given.map(|given| unroll(expand(op.params(), &given)));
            return self.pack(f, &expanded.collect::<Vec<_>>());
        }
        if op.code == OpCode::Extract {
            let lo = lowest(args[1][0]).ok_or("an extract at no constant")?;
            let value = self.pack(f, &args[0])?;
            return Ok(f.part(&value, terms.len(), bits(args[0][0]), lo, bits(terms[0])));
        }
        let values = args.iter().map(|arg| self.pack(f, arg));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        operator::written(f, op, terms, args, &values)
    }
}

/// The offset of an extract.
fn lowest(t: Term) -> Option<u32> {
    u32::try_from(t.as_int()?).ok()
}

/// The operator that all of these terms apply, and each of its arguments in all of them.
fn alike(terms: &[Term]) -> Option<(Op, Vec<Vec<Term>>)> {
    let (op, args) = terms[0].as_app()?;
    let mut all: Vec<Vec<Term>> = args.iter().map(|&a| vec![a]).collect();
    for t in &terms[1..] {
        let (own, these) = t.as_app()?;
        let same = own == op && these.len() == args.len();
        let same = same && these.iter().zip(args).all(|(a, b)| a.sort() == b.sort());
        let constant = op.code != OpCode::Extract || these[1] == args[1];
        if !same || !constant {
            return None;
        }
        all.iter_mut().zip(these).for_each(|(all, a)| all.push(*a));
    }
    Some((op, all))
}

/// What a term is put together from, the least significant first, all of one width.
fn parts(t: Term) -> Option<Vec<Term>> {
    t.sort().width()?;
    let mut all = Vec::new();
    let mut open = vec![t];
    while let Some(t) = open.pop() {
        match t.as_app() {
            Some((op, args)) if op.code == OpCode::Concat => open.extend(args),
            Some((op, args)) if op.code == OpCode::Zext && all.is_empty() && open.is_empty() => {
                let above = t.width() - args[0].width();
                open.push(Term::bits(Bits::zero(above)));
                open.push(args[0]);
            }
            _ => all.push(t),
        }
    }
    let unit = all.iter().fold(0, |unit, t| gcd(unit, t.width()));
    let whole = |t: &Term| t.width() == unit || t.as_bits().is_some() || gather::is_held(*t);
    let lanes = t.width() / unit;
    if lanes < 2 || all.len() < 2 || (unit < 8 && unit != 1) || !all.iter().all(whole) {
        return None;
    }
    if unit == 1 && all.iter().any(|t| t.width() != 1) && lanes > 64 {
        return None;
    }
    Some(all.into_iter().flat_map(|t| elements(t, unit)).collect())
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}
