//! Memories after several writes, as steps.
//!
//! In: flat terms of a memory. Out: the writes from the first to the last, each perhaps
//! under a condition; steps that differ only in numbers that rise evenly become one loop.
//! Addresses always have a constant, be it 0, so that the first element looks like the
//! others. It does not reorder writes.

use super::form::{
    CanonicalForm, Role, Slot, Token, Writer, apply, constant, flatten, stepped, steps,
};
use semantics::bits::Bits;
use semantics::build;
use semantics::op::{Op, OpCode};
use semantics::sort::Sort;
use semantics::term::Term;
use std::rc::Rc;

/// A memory in terms of the one before.
#[derive(Clone, Copy)]
pub(super) struct Step {
    before: Term,
    condition: Option<Term>,
    address: Term,
    value: Term,
    op: Op,
}

/// The last step to a memory, when it is one.
fn step(t: Term) -> Option<Step> {
    let (condition, written) = match t.args_of(OpCode::Ite) {
        Some(args) => (Some((args[0], args[2])), args[1]),
        None => (None, t),
    };
    let (op, args) = written.as_app()?;
    let fits = op.code == OpCode::Write && condition.is_none_or(|(_, other)| other == args[0]);
    fits.then(|| Step {
        before: args[0],
        condition: condition.map(|(c, _)| c),
        address: args[1],
        value: args[2],
        op,
    })
}

impl Writer<'_> {
    /// The steps to a memory, the last first: several, or one under a condition.
    pub(super) fn steps_of(&self, t: Term) -> Option<Vec<Step>> {
        if t.sort() != Sort::Mem {
            return None;
        }
        let mut all: Vec<Step> = Vec::new();
        let mut at = t;
        while let Some(found) = step(at) {
            at = found.before;
            all.push(found);
        }
        let several = all.len() > 1 || all.first().is_some_and(|s| s.condition.is_some());
        several.then_some(all)
    }

    /// A memory after steps, the last first.
    pub(super) fn chain(&mut self, all: &[Step]) -> Option<(Vec<Token>, Vec<Slot>)> {
        let forms = all
            .iter()
            .map(|s| self.step_form(s))
            .collect::<Option<Vec<_>>>()?;
        let before = self.form(all.last()?.before)?;
        let (mut tokens, mut slots) = (Vec::new(), Vec::new());
        // The outermost loop holds the last steps; within a loop the first step is the least.
        let mut start = 0;
        while start < forms.len() {
            let mut length = 1;
            while start + length < forms.len() && rising(&forms[start..=start + length]).is_some() {
                length += 1;
            }
            let run = &forms[start..start + length];
            let found = match length {
                1 => run[0].slots.iter().map(|_| None).collect(),
                _ => rising(run)?,
            };
            tokens.push(Token::Chain);
            slots.push(Slot::new(Role::Count, length as i64));
            let body = stepped(&run[length - 1], &found, 0);
            tokens.extend(body.tokens);
            slots.extend(body.slots);
            start += length;
        }
        tokens.extend(before.tokens.iter().cloned());
        slots.extend(before.slots.iter().cloned());
        Some((tokens, slots))
    }

    fn step_form(&mut self, s: &Step) -> Option<CanonicalForm> {
        let before = || {
            Rc::new(CanonicalForm {
                tokens: vec![Token::Before],
                slots: Vec::new(),
                width: 0,
            })
        };
        let parts = [before(), self.address(s.address)?, self.form(s.value)?];
        let (tokens, slots) = apply(s.op, &parts);
        let width = 0;
        let written = CanonicalForm {
            tokens,
            slots,
            width,
        };
        let Some(condition) = s.condition else {
            return Some(written);
        };
        let parts = [self.form(condition)?, Rc::new(written), before()];
        let (tokens, slots) = apply(Op::new(OpCode::Ite), &parts);
        Some(CanonicalForm {
            tokens,
            slots,
            width,
        })
    }

    /// An address: a sum whose last addend is a constant.
    pub(super) fn address(&mut self, t: Term) -> Option<Rc<CanonicalForm>> {
        let mut addends = Vec::new();
        flatten(OpCode::BvAdd, t, &mut addends);
        if addends.iter().all(|a| a.as_bits().is_some()) {
            return self.form(t);
        }
        let (fixed, rest): (Vec<Term>, Vec<Term>) =
            addends.into_iter().partition(|a| a.as_bits().is_some());
        let zero = Bits::zero(t.width());
        let offset = fixed
            .iter()
            .filter_map(|a| a.as_bits())
            .fold(zero, |sum, a| sum.add(a));
        let base = rest.into_iter().reduce(build::add)?;
        let (tokens, slots) = constant(&offset);
        let offset = Rc::new(CanonicalForm {
            tokens,
            slots,
            width: t.width(),
        });
        let (tokens, slots) = apply(Op::new(OpCode::BvAdd), &[self.form(base)?, offset]);
        let width = t.width();
        Some(Rc::new(CanonicalForm {
            tokens,
            slots,
            width,
        }))
    }
}

/// The steps of numbers over a run of memory steps that is given last first.
fn rising(run: &[CanonicalForm]) -> Option<Vec<Option<i64>>> {
    let forward: Vec<&CanonicalForm> = run.iter().rev().collect();
    steps(&forward)
}
