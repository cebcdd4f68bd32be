//! Effects of blocks that are alike are found once.
//!
//! In: as for [`effect`]. Out: the same. Blocks are alike when they differ only in which arrays
//! they touch and where in them they begin: then their terms are the same, and each element lies
//! as much further as its array's first access. A block whose indices are no sums of its own
//! loops' variables is asked about anew each time.

use super::{Effect, Element, Values, effect};
use crate::error::MappingError;
use kernel::index::{Index, Symbol};
use kernel::tree::{Access, Assign, Expr, ExprKind, Id, Kernel, Op, Stmt, Target};
use kernel::types::Elem;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Effects by the form of their block, with where its arrays begin.
#[derive(Default)]
pub(crate) struct Effects(HashMap<Vec<Part>, (usize, Vec<Element>, Effect)>);

/// A block among those that are alike.
pub(crate) struct Alike {
    /// The number of their form.
    pub(crate) form: usize,
    /// Each array of the block and the place of its first access.
    pub(crate) origins: Vec<Element>,
}

impl Effects {
    /// The effect of statements, and which blocks are like them.
    ///
    /// # Errors
    /// As for [`effect`].
    pub(crate) fn of(
        &mut self,
        kernel: &Kernel,
        body: &[Stmt],
        values: &Values,
    ) -> Result<(Effect, Option<Alike>), MappingError> {
        let mut form = KnownForm {
            kernel,
            values,
            parts: Vec::new(),
            origins: Vec::new(),
            symbols: Vec::new(),
            names: BTreeSet::new(),
            lets: Vec::new(),
        };
        if form.block(body).is_none() {
            return Ok((effect(kernel, body, values)?, None));
        }
        let origins = form.origins;
        if let Some((number, from, known)) = self.0.get(&form.parts) {
            let form = *number;
            let effect = match moved(known, from, &origins) {
                Some(effect) => effect,
                None => effect(kernel, body, values)?,
            };
            return Ok((effect, Some(Alike { form, origins })));
        }
        let (found, number) = (effect(kernel, body, values)?, self.0.len());
        let known = (number, origins.clone(), found.clone());
        self.0.insert(form.parts, known);
        let form = number;
        Ok((found, Some(Alike { form, origins })))
    }
}

/// The same elsewhere; none past 64 bits.
fn moved(known: &Effect, from: &[Element], to: &[Element]) -> Option<Effect> {
    let by = from.iter().zip(to).map(|(from, to)| {
        let by = to.1.checked_sub(from.1)?;
        Some((from.0, (to.0, by)))
    });
    let by: BTreeMap<Id, (Id, i64)> = by.collect::<Option<_>>()?;
    let all = |elements: &BTreeMap<Element, _>| {
        let one = |(&(array, at), &term): (&Element, &_)| {
            let (array, by) = by.get(&array)?;
            Some(((*array, at.checked_add(*by)?), term))
        };
        elements.iter().map(one).collect::<Option<_>>()
    };
    Some(Effect {
        read: all(&known.read)?,
        written: all(&known.written)?,
    })
}

/// A sum: how often each of the block's own loops' variables, and a constant.
type Sum = (Vec<i64>, i64);

/// What a block is made of, in the order of its text.
#[derive(PartialEq, Eq, Hash)]
enum Part {
    Loop(Sum, Sum, i64),
    End,
    Let(Id),
    Set { accumulate: bool, elem: Elem },
    Register(Id),
    Name(Id),
    Array(usize, Elem, Sum),
    Const(Elem, i128),
    Apply(Op, Elem, usize),
}

struct KnownForm<'k> {
    kernel: &'k Kernel,
    values: &'k Values,
    parts: Vec<Part>,
    /// Each array and the place of its first access, without what loops add.
    origins: Vec<Element>,
    /// The loops around.
    symbols: Vec<Symbol>,
    /// Names whose values the present statement has written out.
    names: BTreeSet<Id>,
    /// Names that a statement computes.
    lets: Vec<Id>,
}

impl KnownForm<'_> {
    fn block(&mut self, body: &[Stmt]) -> Option<()> {
        for stmt in body {
            match stmt {
                Stmt::For(f) if f.at.is_some() || f.partial => return None,
                Stmt::For(f) => {
                    let bounds = (self.sum(&f.lo)?, self.sum(&f.hi)?);
                    self.parts.push(Part::Loop(bounds.0, bounds.1, f.step));
                    self.symbols.push(f.var);
                    self.block(&f.body)?;
                    self.symbols.pop();
                    self.parts.push(Part::End);
                }
                Stmt::Let(id) => {
                    self.names.clear();
                    self.parts.push(Part::Let(*id));
                    self.expression(&self.kernel.locals[*id].value)?;
                    self.lets.push(*id);
                }
                Stmt::Assign(assign) => self.assign(assign)?,
            }
        }
        Some(())
    }

    fn assign(&mut self, assign: &Assign) -> Option<()> {
        self.names.clear();
        self.parts.push(Part::Set {
            accumulate: assign.accumulate,
            elem: assign.value.ty.elem,
        });
        self.expression(&assign.value)?;
        match &assign.target {
            Target::Register(id) => self.parts.push(Part::Register(*id)),
            Target::Array(access) => self.access(access)?,
        }
        Some(())
    }

    /// An index as a sum over the loops around; what else is in it has a value.
    fn sum(&self, index: &Index) -> Option<Sum> {
        let index = self.values.fixed(index, &|s| self.symbols.contains(&s));
        let sum = index.linear()?;
        let factors = self.symbols.iter().map(|s| sum.coefficient(*s));
        Some((factors.collect(), sum.constant))
    }

    fn access(&mut self, access: &Access) -> Option<()> {
        if access.lanes != 1 || access.clamped {
            return None;
        }
        let array = &self.kernel.arrays[access.array];
        let mut at = (vec![0; self.symbols.len()], 0);
        for (index, dim) in access.index.iter().zip(&array.memory_dims()) {
            let (index, dim) = (self.sum(index)?, self.sum(dim)?);
            let dim = dim.0.iter().all(|f| *f == 0).then_some(dim.1)?;
            let more = |old: i64, new: i64| old.checked_mul(dim)?.checked_add(new);
            let factors = at.0.iter().zip(&index.0).map(|(old, new)| more(*old, *new));
            at = (factors.collect::<Option<_>>()?, more(at.1, index.1)?);
        }
        let known = self.origins.iter().position(|o| o.0 == access.array);
        let number = known.unwrap_or_else(|| {
            self.origins.push((access.array, at.1));
            self.origins.len() - 1
        });
        at.1 = at.1.checked_sub(self.origins[number].1)?;
        self.parts.push(Part::Array(number, array.elem, at));
        Some(())
    }

    fn expression(&mut self, e: &Expr) -> Option<()> {
        match &e.kind {
            _ if e.ty.lanes != 1 => return None,
            ExprKind::Const(values) => self.parts.push(Part::Const(e.ty.elem, values[0])),
            ExprKind::Register(id) => self.parts.push(Part::Register(*id)),
            ExprKind::Local(id) => {
                self.parts.push(Part::Name(*id));
                if !self.lets.contains(id) && self.names.insert(*id) {
                    self.expression(&self.kernel.locals[*id].value)?;
                }
            }
            ExprKind::Load(access) => self.access(access)?,
            ExprKind::Apply(op, args) => {
                self.parts.push(Part::Apply(*op, e.ty.elem, args.len()));
                args.iter().try_for_each(|a| self.expression(a))?;
            }
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests;
