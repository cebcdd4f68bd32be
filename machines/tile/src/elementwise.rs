//! Statements over vectors as statements over elements, which tiles and hosts take.
//!
//! In: a kernel with its sizes. Out: a kernel without lanes. A loop that goes from vector to vector goes
//! from element to element; where that is not the same, lanes are a loop of their own. Neither is believed:
//! the kernel that comes of it is proved to leave what the other does, at its sizes.

use crate::error::MappingError;
use crate::whole;
use kernel::index::{Index, Symbol};
use kernel::tree::{Access, Assign, Expr, ExprKind, For, Kernel, Stmt, SymbolKind, Target};
use kernel::types::Type;
use schedule::Scheduled;
use semantics::diagnostic::Diagnostic;
use semantics::span::Span;
use smt::prover::Prover;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The same without lanes; as it is where there are none.
///
/// # Errors
/// The statement whose lanes are no elements each by itself.
pub(crate) fn of<'s>(
    scheduled: &'s Scheduled,
    sizes: &BTreeMap<Symbol, i64>,
    prover: &Prover,
) -> Result<Cow<'s, Scheduled>, Vec<Diagnostic>> {
    let kernel = scheduled.kernel();
    let Some(first) = vector(kernel, &kernel.body) else {
        return Ok(Cow::Borrowed(scheduled));
    };
    let span = first.span;
    let mut wrong = None;
    for lanes in [Lanes::Loops, Lanes::Own] {
        let mut elements = Elements {
            kernel: kernel.clone(),
            lanes,
        };
        let body = match elements.block(&kernel.body, &mut Vec::new()) {
            Ok(body) => body,
            Err(error) => {
                wrong = wrong.or(Some(error));
                continue;
            }
        };
        elements.kernel.body = body;
        let registers = &mut elements.kernel.registers;
        registers.iter_mut().for_each(|r| r.ty.lanes = 1);
        match whole::alike(kernel, &elements.kernel, sizes, prover) {
            Ok(_) => return Ok(Cow::Owned(scheduled.with_kernel(elements.kernel))),
            Err(why) => {
                let message = "this is not the same for each lane by itself";
                let hint = format!("{HINT} ({why})");
                wrong = wrong.or(Some(MappingError::new(span, message, hint)));
            }
        }
    }
    Err(wrong.map_or_else(Vec::new, |w| w.reported(kernel)))
}

const HINT: &str =
    "write loops over elements, `for j in 0..n { … c[i, j] … }`: tiles take as many as they hold";

/// What the lanes of a statement become.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lanes {
    /// Rounds of the loop around that goes on by as many.
    Loops,
    /// A loop of their own.
    Own,
}

/// The first statement over vectors.
fn vector<'k>(kernel: &Kernel, body: &'k [Stmt]) -> Option<&'k Assign> {
    body.iter().find_map(|stmt| match stmt {
        Stmt::For(f) => vector(kernel, &f.body),
        Stmt::Assign(assign) => (kernel.lanes(&assign.target) > 1).then_some(assign),
        Stmt::Let(_) => None,
    })
}

struct Elements {
    kernel: Kernel,
    lanes: Lanes,
}

impl Elements {
    /// Statements in loops, of which each has its step and whether it is to go from element to element.
    fn block(
        &mut self,
        body: &[Stmt],
        around: &mut Vec<(i64, bool)>,
    ) -> Result<Vec<Stmt>, MappingError> {
        let each = body.iter().map(|stmt| match stmt {
            Stmt::For(f) => {
                around.push((f.step, false));
                let body = self.block(&f.body, around);
                let single = around.pop().is_some_and(|l| l.1);
                Ok(Stmt::For(For {
                    body: body?,
                    step: if single { 1 } else { f.step },
                    ..f.clone()
                }))
            }
            Stmt::Let(id) if self.kernel.locals[*id].value.ty.lanes > 1 => {
                let span = self.kernel.locals[*id].value.span;
                let message = "a vector has a name, and this machine has none";
                Err(MappingError::new(span, message, HINT))
            }
            Stmt::Assign(assign) => match i64::from(self.kernel.lanes(&assign.target)) {
                1 => Ok(stmt.clone()),
                lanes => self.assign(assign, lanes, around),
            },
            Stmt::Let(_) => Ok(stmt.clone()),
        });
        each.collect()
    }

    fn assign(
        &mut self,
        assign: &Assign,
        count: i64,
        around: &mut [(i64, bool)],
    ) -> Result<Stmt, MappingError> {
        let of_lanes = around.iter_mut().rev().find(|l| l.0 == count);
        let var = match of_lanes.filter(|_| self.lanes == Lanes::Loops) {
            Some(around) => {
                around.1 = true;
                None
            }
            None => Some(self.variable(assign.span)),
        };
        let target = match &assign.target {
            Target::Array(access) => Target::Array(element(access, var)?),
            // One for each element, where the loop around goes from element to element.
            Target::Register(id) if var.is_none() => Target::Register(*id),
            Target::Register(_) => {
                let message = "a vector is kept in a variable, and this machine has no vectors";
                return Err(MappingError::new(assign.span, message, HINT));
            }
        };
        let single = Stmt::Assign(Assign {
            target,
            value: self.value(&assign.value, var)?,
            ..assign.clone()
        });
        Ok(match var {
            None => single,
            Some(var) => Stmt::For(For::new(
                var,
                (Index::Const(0), Index::Const(count)),
                vec![single],
                assign.span,
            )),
        })
    }

    /// A new variable for the lanes of a statement.
    fn variable(&mut self, span: Span) -> Symbol {
        let name = format!("lane{}", self.kernel.symbols.len());
        self.kernel.new_symbol(name, SymbolKind::Loop, span)
    }

    /// A lane of an expression.
    fn value(&self, e: &Expr, lane: Option<Symbol>) -> Result<Expr, MappingError> {
        let kind = match &e.kind {
            _ if e.ty.lanes == 1 => return Ok(e.clone()),
            ExprKind::Local(id) => return self.value(&self.kernel.locals[*id].value, lane),
            ExprKind::Const(values) if values.iter().all(|v| *v == values[0]) => {
                ExprKind::Const(vec![values[0]])
            }
            ExprKind::Load(access) => ExprKind::Load(element(access, lane)?),
            ExprKind::Register(id) if lane.is_none() => ExprKind::Register(*id),
            ExprKind::Apply(op, args) => {
                let args = args.iter().map(|a| self.value(a, lane));
                ExprKind::Apply(*op, args.collect::<Result<_, _>>()?)
            }
            // One value in every lane.
            ExprKind::Shuffle(parts, _) if parts.len() == 1 && parts[0].ty.lanes == 1 => {
                return Ok(parts[0].clone());
            }
            _ => {
                let message = "lanes of a vector are moved here, and this machine has no vectors";
                return Err(MappingError::new(e.span, message, HINT));
            }
        };
        let ty = Type { lanes: 1, ..e.ty };
        let span = e.span;
        Ok(Expr { kind, ty, span })
    }
}

/// A lane of an access: the first, or the one that a variable says.
fn element(access: &Access, lane: Option<Symbol>) -> Result<Access, MappingError> {
    let mut out = access.clone();
    if access.lanes > 1 {
        if access.clamped || lane.is_none() && access.stride != 1 {
            let message = "a vector's elements lie apart here, and this machine has no vectors";
            return Err(MappingError::new(access.span, message, HINT));
        }
        if let Some(lane) = lane {
            let moved = Index::Sym(lane).times(access.stride);
            out.index[access.dim] = access.index[access.dim].plus(&moved).simplified();
        }
    }
    out.lanes = 1;
    Ok(out)
}
