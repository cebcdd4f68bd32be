//! Rolled terms written out, and nothing else.
//!
//! In: closed terms. Out: equal terms without binders, every application as it stands: a map is
//! a concatenation, a fold its steps one in the other, an index its number.

use semantics::bits::Bits;
use semantics::op::{Op, OpCode};
use semantics::sort::Sort;
use semantics::term::{Kind, Term};
use std::collections::HashMap;

/// The term without binders.
///
/// # Errors
/// A sentence that says what cannot be written out.
pub fn flat(t: Term) -> Result<Term, String> {
    Writer::default().term(t, &[])
}

/// Terms with what their bound variables are, the innermost last; indices are numbers.
#[derive(Default)]
struct Writer {
    known: HashMap<(Term, Vec<Term>), Term>,
}

impl Writer {
    fn term(&mut self, t: Term, bound: &[Term]) -> Result<Term, String> {
        let used = bound.len() - (t.binders() as usize).min(bound.len());
        let key = (t, bound[used..].to_vec());
        if let Some(&known) = self.known.get(&key) {
            return Ok(known);
        }
        let index = |k: u32| Term::int(i64::from(k));
        let out = match t.kind() {
            Kind::Bound { depth, .. } => {
                let found = bound.iter().rev().nth(*depth as usize);
                *found.ok_or("a bound variable without a binder")?
            }
            Kind::Map { count, body } => {
                let elements = (0..*count).rev();
                let elements = elements.map(|k| self.term(*body, &[bound, &[index(k)]].concat()));
                raw(
                    Op::new(OpCode::Concat),
                    &elements.collect::<Result<Vec<_>, _>>()?,
                )?
            }
            Kind::Fold { count, init, body } => {
                let start = self.term(*init, bound)?;
                (0..*count).try_fold(start, |so_far, k| {
                    self.term(*body, &[bound, &[index(k), so_far]].concat())
                })?
            }
            Kind::App { op, args } => {
                let args = args.iter().map(|&a| self.term(a, bound));
                applied(*op, &args.collect::<Result<Vec<_>, _>>()?)?
            }
            _ => t,
        };
        self.known.insert(key, out);
        Ok(out)
    }
}

fn raw(op: Op, args: &[Term]) -> Result<Term, String> {
    Term::raw_app(op, args).map_err(|e| e.to_string())
}

/// An application; of indices it is a number, or a truth.
fn applied(op: Op, args: &[Term]) -> Result<Term, String> {
    if op.code == OpCode::Extract || args.iter().all(|a| a.sort() != Sort::Int) {
        return raw(op, args);
    }
    let numbers = args
        .iter()
        .map(|a| a.as_int().ok_or("an index that depends on inputs"));
    let numbers = numbers.collect::<Result<Vec<i64>, _>>()?;
    let (x, y) = (numbers[0], numbers.get(1).copied().unwrap_or(0));
    Ok(match op.code {
        OpCode::IntAdd => Term::int(x.wrapping_add(y)),
        OpCode::IntMul => Term::int(x.wrapping_mul(y)),
        OpCode::IntDiv | OpCode::IntMod if y <= 0 || x < 0 => {
            return Err(format!("`{op}` of {x} and {y}"));
        }
        OpCode::IntDiv => Term::int(x / y),
        OpCode::IntMod => Term::int(x % y),
        OpCode::IntLt => Term::bool(x < y),
        OpCode::Eq => Term::bool(x == y),
        OpCode::IntToBv => Term::bits(Bits::from_i128(op.params[0], x.into())),
        _ => return Err(format!("`{op}` of indices")),
    })
}
