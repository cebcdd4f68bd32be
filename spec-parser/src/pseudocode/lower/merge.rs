//! Several outcomes of one statement, merged.
//!
//! In: the variables after each arm and the condition of each. Out: the variables after the
//! statement. What a name does not hold in one arm is 0 there, as unwritten bits are.

use super::machine::{Frame, Slot, as_bits};
use super::memory::Memory;
use super::register::Register;
use super::value::{self, Value};
use super::{idiom, select};
use semantics::build as b;
use semantics::sort::Sort;
use semantics::term::Term;
use std::rc::Rc;

/// Which of several outcomes holds.
pub(crate) struct Choice<'a> {
    /// When each outcome but the last holds; the first that does counts.
    pub(crate) conditions: &'a [Term],
    /// The number of the outcome, when it is one.
    pub(crate) index: Option<Term>,
}

impl Choice<'_> {
    fn terms(&self, terms: &[Term]) -> Term {
        if let Some(t) = self.index.and_then(|i| idiom::element_of(i, terms)) {
            return t;
        }
        let (last, rest) = terms.split_last().expect("there is an outcome");
        let pairs = self.conditions.iter().zip(rest).rev();
        let choose = if last.sort() == Sort::Mem {
            b::ite
        } else {
            select::choose
        };
        pairs.fold(*last, |other, (&c, &t)| choose(c, t, other))
    }

    /// The merged values.
    pub(crate) fn values(&self, values: &[Value]) -> Value {
        let plain: Option<Vec<&value::Sym>> = values
            .iter()
            .map(|v| match v {
                Value::Sym(s) if s.plain() => Some(s),
                _ => None,
            })
            .collect();
        if let Some(syms) = plain.filter(|_| self.index.is_some()) {
            let same = |s: &&value::Sym| {
                s.signed == syms[0].signed && s.term.width() == syms[0].term.width()
            };
            if syms.iter().all(same) {
                let terms: Vec<Term> = syms.iter().map(|s| s.term).collect();
                let mut out = value::Sym::new(self.terms(&terms), syms[0].signed);
                (out.class, out.element, out.raw) =
                    (syms[0].class, syms[0].element, syms.iter().all(|s| s.raw));
                return Value::Sym(out);
            }
        }
        let (last, rest) = values.split_last().expect("there is an outcome");
        let pairs = self.conditions.iter().zip(rest).rev();
        pairs.fold(last.clone(), |other, (&c, v)| select::select(c, v, &other))
    }

    /// The merged frames.
    pub(crate) fn frames(&self, frames: &[Frame]) -> Frame {
        let mut out = Frame::default();
        for name in frames.iter().flat_map(|f| f.slots.keys()) {
            if out.slots.contains_key(name) {
                continue;
            }
            let slots: Vec<Option<&Slot>> = frames.iter().map(|f| f.slots.get(name)).collect();
            out.slots.insert(name.clone(), self.slots(&slots));
        }
        for name in frames.iter().flat_map(|f| f.files.keys()) {
            let before = || Term::var(name, Sort::Mem);
            let states = frames.iter().map(|f| f.files.get(name).copied());
            let states: Vec<Term> = states.map(|s| s.unwrap_or_else(before)).collect();
            out.files.insert(name.clone(), self.terms(&states));
        }
        let memories: Vec<&Memory> = frames.iter().map(|f| &f.memory).collect();
        out.memory = Memory::merged(&memories, |t| self.terms(t));
        out
    }

    /// What a name holds afterwards; where it holds nothing its bits are 0.
    fn slots(&self, slots: &[Option<&Slot>]) -> Slot {
        let first = slots
            .iter()
            .flatten()
            .next()
            .expect("some frame has the name");
        let same = |s: &Option<&Slot>| match (s, first) {
            (Some(Slot::Bits(x)), Slot::Bits(y)) => Rc::ptr_eq(x, y) || x == y,
            (Some(s), _) => s == first,
            (None, _) => false,
        };
        if slots.iter().all(same) {
            return (*first).clone();
        }
        if slots.iter().flatten().all(|s| matches!(s, Slot::Scalar(_))) {
            let zero = Value::Int(0);
            let values: Vec<Value> = slots
                .iter()
                .map(|s| match s {
                    Some(Slot::Scalar(v)) => v.clone(),
                    _ => zero.clone(),
                })
                .collect();
            let number = |v: &Value| !matches!(v, Value::Token(_) | Value::Choice(..));
            let first = slots.iter().position(Option::is_some);
            let fallback = first.map_or(zero.clone(), |n| values[n].clone());
            let values: Vec<Value> = if number(&fallback) {
                values
            } else {
                slots
                    .iter()
                    .zip(values)
                    .map(|(s, v)| if s.is_some() { v } else { fallback.clone() })
                    .collect()
            };
            return Slot::Scalar(self.values(&values));
        }
        let registers: Vec<Rc<Register>> = slots.iter().map(|s| as_bits(*s)).collect();
        let all: Vec<&Register> = registers.iter().map(|r| &**r).collect();
        Slot::Bits(Rc::new(Register::merged(&all, |t| self.terms(t))))
    }
}
