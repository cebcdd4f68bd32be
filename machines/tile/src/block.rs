//! What a block of loops does to the elements of arrays.
//!
//! In: statements and the values of sizes and outer loop variables. Out: [`Effect`]: for each
//! element that is written a term over the elements that were read before. Variables are
//! numbered in the order in which elements are touched, so that every iteration of an outer
//! loop gives the same terms.

mod known;

pub(crate) use known::{Alike, Effects};

use crate::error::MappingError;
use kernel::index::{Index, Symbol};
use kernel::tree::{Access, Assign, Expr, ExprKind, Id, Kernel, Op, Stmt, Target};
use lowering::operation;
use semantics::sort::Sort;
use semantics::span::Span;
use semantics::term::Term;
use std::collections::BTreeMap;

/// An element: an array and the position in it, in elements as they lie in memory.
pub type Element = (Id, i64);

/// What a block does.
#[derive(Clone, Debug, Default)]
pub struct Effect {
    /// The elements whose values before the block matter, by their variable.
    pub read: BTreeMap<Element, Term>,
    /// The elements that it writes.
    pub written: BTreeMap<Element, Term>,
}

/// The values of sizes and loop variables.
#[derive(Clone, Debug)]
pub struct Values(Vec<i64>);

impl Values {
    /// Sizes have values; loop variables have none yet.
    pub fn new(kernel: &Kernel, sizes: &BTreeMap<Symbol, i64>) -> Values {
        let value = |n: u32| sizes.get(&Symbol(n)).copied().unwrap_or(0);
        Values(
            (0u32..)
                .zip(&kernel.symbols)
                .map(|(n, _)| value(n))
                .collect(),
        )
    }

    /// The value of an index.
    ///
    /// # Errors
    /// When it does not fit 64 bits.
    pub fn of(&self, index: &Index, span: Span) -> Result<i64, MappingError> {
        index.eval(&|s: Symbol| self.0[s.0 as usize]).map_err(|_| {
            MappingError::new(span, "an index does not fit 64 bits", "take smaller sizes")
        })
    }

    /// The index with sizes replaced by their values.
    pub(crate) fn fixed(&self, index: &Index, is_loop: &impl Fn(Symbol) -> bool) -> Index {
        let mut symbols = Vec::new();
        index.for_each_symbol(&mut |s| symbols.push(s));
        symbols.retain(|s| !is_loop(*s));
        symbols.iter().fold(index.clone(), |index, &s| {
            index.substitute(s, &Index::Const(self.0[s.0 as usize]))
        })
    }

    /// Gives a loop variable its value.
    pub fn set(&mut self, symbol: Symbol, value: i64) {
        self.0[symbol.0 as usize] = value;
    }
}

/// The effect of statements.
///
/// # Errors
/// What in them is neither a loop nor arithmetic on single elements.
pub fn effect(kernel: &Kernel, body: &[Stmt], values: &Values) -> Result<Effect, MappingError> {
    let mut run = Run {
        kernel,
        values: values.clone(),
        effect: Effect::default(),
        locals: BTreeMap::new(),
        unstated: BTreeMap::new(),
        registers: BTreeMap::new(),
    };
    run.block(body)?;
    Ok(run.effect)
}

struct Run<'k> {
    kernel: &'k Kernel,
    values: Values,
    effect: Effect,
    locals: BTreeMap<Id, Term>,
    /// The values in the present statement of names that no statement computes.
    unstated: BTreeMap<Id, Term>,
    registers: BTreeMap<Id, Term>,
}

impl Run<'_> {
    fn block(&mut self, body: &[Stmt]) -> Result<(), MappingError> {
        for stmt in body {
            match stmt {
                Stmt::For(f) if f.at.is_some() || f.partial => {
                    return Err(MappingError::new(
                        f.span,
                        "which of this loop's rounds run depends on data",
                        "a block runs all rounds of its loops",
                    ));
                }
                Stmt::For(f) => {
                    let (lo, hi) = (
                        self.values.of(&f.lo, f.span)?,
                        self.values.of(&f.hi, f.span)?,
                    );
                    let mut at = lo;
                    while at < hi {
                        self.values.set(f.var, at);
                        self.block(&f.body)?;
                        at += f.step;
                    }
                }
                Stmt::Let(id) => {
                    self.unstated.clear();
                    let value = self.expression(&self.kernel.locals[*id].value)?;
                    self.locals.insert(*id, value);
                }
                Stmt::Assign(assign) => self.assign(assign)?,
            }
        }
        Ok(())
    }

    fn assign(&mut self, assign: &Assign) -> Result<(), MappingError> {
        self.unstated.clear();
        let value = self.expression(&assign.value)?;
        let elem = assign.value.ty.elem;
        let sum = |old: Term| operation(Op::Add, elem, &[elem, elem], &[old, value]);
        match &assign.target {
            Target::Register(id) => {
                let new = match assign.accumulate {
                    true => sum(self.register(*id, assign.span)?),
                    false => value,
                };
                self.registers.insert(*id, new);
            }
            Target::Array(access) => {
                let at = self.place(access)?;
                let new = match assign.accumulate {
                    true => sum(self.load(at)),
                    false => value,
                };
                self.effect.written.insert(at, new);
            }
        }
        Ok(())
    }

    fn register(&self, id: Id, span: Span) -> Result<Term, MappingError> {
        self.registers.get(&id).copied().ok_or_else(|| {
            let name = &self.kernel.registers[id].name;
            let message = format!("`{name}` is set outside the block that uses it");
            MappingError::new(
                span,
                message,
                "accumulate into the array: tiles stay in registers anyway",
            )
        })
    }

    /// The element of an access.
    fn place(&self, access: &Access) -> Result<Element, MappingError> {
        if access.lanes != 1 || access.clamped {
            let message = "blocks are made of single elements inside their arrays";
            return Err(MappingError::new(
                access.span,
                message,
                "write loops over elements",
            ));
        }
        let dims = self.kernel.arrays[access.array].memory_dims();
        let mut at = 0_i64;
        for (index, dim) in access.index.iter().zip(&dims) {
            let (index, dim) = (
                self.values.of(index, access.span)?,
                self.values.of(dim, access.span)?,
            );
            at = at * dim + index;
        }
        Ok((access.array, at))
    }

    fn load(&mut self, at: Element) -> Term {
        if let Some(&written) = self.effect.written.get(&at) {
            return written;
        }
        let number = self.effect.read.len();
        let bits = self.kernel.arrays[at.0].elem.bits();
        let new = || Term::var(&format!("x{number}"), Sort::Bv(bits));
        *self.effect.read.entry(at).or_insert_with(new)
    }

    fn expression(&mut self, e: &Expr) -> Result<Term, MappingError> {
        let kernel = self.kernel;
        match &e.kind {
            ExprKind::Const(values) if e.ty.lanes == 1 => Ok(Term::bv(e.ty.elem.bits(), values[0])),
            ExprKind::Register(id) => self.register(*id, e.span),
            ExprKind::Local(id) => match self.locals.get(id).or(self.unstated.get(id)) {
                Some(&known) => Ok(known),
                None => {
                    let term = self.expression(&kernel.locals[*id].value)?;
                    self.unstated.insert(*id, term);
                    Ok(term)
                }
            },
            ExprKind::Load(access) => {
                let at = self.place(access)?;
                Ok(self.load(at))
            }
            ExprKind::Apply(op, args) if e.ty.lanes == 1 => {
                let terms = args.iter().map(|a| self.expression(a));
                let terms = terms.collect::<Result<Vec<_>, _>>()?;
                let from: Vec<_> = args.iter().map(|a| a.ty.elem).collect();
                Ok(operation(*op, e.ty.elem, &from, &terms))
            }
            ExprKind::Scalar(_) => Err(MappingError::new(
                e.span,
                "this is a scalar parameter, and functions for this machine are handed arrays",
                "hand it over as an array of one element: `x: in i32[1]`, and `x[0]` here",
            )),
            _ => Err(MappingError::new(
                e.span,
                "this is no arithmetic on elements of arrays",
                "a block has loads, operations and constants of one lane",
            )),
        }
    }
}
