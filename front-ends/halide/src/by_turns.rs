//! Vectors that are interleaved, computed at once where they are computed alike.
//!
//! In: the vectors that an interleaving takes lanes of by turns. Out: where all of them apply the same
//! operations to lanes that lie by turns themselves, those operations on what lies there side by side:
//! what is done with every channel of a pixel needs no channel by itself. What remains unread of what
//! was moved for them is dropped ([`unread`]).

use super::import::Importer;
use kernel::index::Index;
use kernel::tree::{Expr, ExprKind, Id, Kernel, Stmt, Target};
use kernel::types::Type;
use kernel::visit::for_each_stmt;
use std::collections::BTreeSet;

/// Where a lane comes from.
#[derive(Clone, PartialEq)]
enum Lane {
    /// An element of an array.
    Element(Id, Index),
    /// A lane of a name or a register.
    Of(bool, Id, u32),
}

impl Importer<'_> {
    /// The interleaving of vectors that are computed alike.
    pub(super) fn computed_by_turns(&self, parts: &[Expr]) -> Option<Expr> {
        let computed = |part: &Expr| matches!(part.kind, ExprKind::Apply(..));
        match parts.len() > 1 && parts.iter().all(computed) {
            true => self.by_turns(parts),
            false => None,
        }
    }

    fn by_turns(&self, parts: &[Expr]) -> Option<Expr> {
        let (first, count) = (&parts[0], u32::try_from(parts.len()).ok()?);
        if parts.iter().any(|part| part.ty != first.ty) {
            return None;
        }
        let ty = match first.ty.lanes {
            1 => first.ty,
            lanes => Type {
                lanes: lanes * count,
                ..first.ty
            },
        };
        let made = |kind| {
            Some(Expr {
                kind,
                ty,
                ..first.clone()
            })
        };
        let numbers = parts.iter().map(numbers);
        if let Some(numbers) = numbers.collect::<Option<Vec<_>>>() {
            let same = numbers.iter().flatten().all(|n| *n == numbers[0][0]);
            let lanes = 0..first.ty.lanes as usize;
            let turns = lanes.flat_map(|l| numbers.iter().map(move |part| part[l]));
            return match same {
                true => made(ExprKind::Const(vec![numbers[0][0]])),
                false if first.ty.lanes > 1 => made(ExprKind::Const(turns.collect())),
                false => None,
            };
        }
        let everywhere: Option<Vec<Expr>> = parts.iter().map(everywhere).collect();
        if let Some(same) = everywhere {
            let order = vec![0; ty.lanes as usize];
            return made(ExprKind::Shuffle(vec![self.by_turns(&same)?], order));
        }
        match &first.kind {
            ExprKind::Scalar(id) if first.ty.lanes == 1 => {
                let same =
                    |part: &Expr| matches!(part.kind, ExprKind::Scalar(other) if other == *id);
                parts.iter().all(same).then(|| first.clone())
            }
            ExprKind::Apply(op, args) => {
                let mut columns = vec![Vec::new(); args.len()];
                for part in parts {
                    match &part.kind {
                        ExprKind::Apply(other, args)
                            if other == op && args.len() == columns.len() =>
                        {
                            let each = columns.iter_mut().zip(args);
                            each.for_each(|(column, arg)| column.push(arg.clone()));
                        }
                        _ => return None,
                    }
                }
                let args = columns.iter().map(|column| self.by_turns(column));
                made(ExprKind::Apply(*op, args.collect::<Option<_>>()?))
            }
            _ => self.beside(parts, ty),
        }
    }

    /// Lanes that lie beside each other once they are taken by turns.
    fn beside(&self, parts: &[Expr], ty: Type) -> Option<Expr> {
        let lanes = parts.iter().map(|part| self.lanes_of(part));
        let lanes: Vec<Vec<Lane>> = lanes.collect::<Option<_>>()?;
        let all = (0..lanes[0].len()).flat_map(|l| lanes.iter().map(move |part| part[l].clone()));
        let all: Vec<Lane> = all.collect();
        if ty.lanes as usize != all.len() {
            // One lane that is the same for all.
            let same = all.iter().all(|lane| *lane == all[0]);
            return (ty.lanes == 1 && same).then(|| parts[0].clone());
        }
        if let Lane::Of(register, id, 0) = all[0] {
            let whole = match register {
                true => self.kernel.registers[id].ty,
                false => self.kernel.locals[id].value.ty,
            };
            let next = |(l, lane): (u32, &Lane)| *lane == Lane::Of(register, id, l);
            let kind = match register {
                true => ExprKind::Register(id),
                false => ExprKind::Local(id),
            };
            return (whole == ty && (0..).zip(&all).all(next)).then(|| Expr {
                kind,
                ty,
                ..parts[0].clone()
            });
        }
        let place = |lane: Lane| match lane {
            Lane::Element(array, index) => Some((array, index)),
            Lane::Of(..) => None,
        };
        let places: Vec<(Id, Index)> = all.into_iter().map(place).collect::<Option<_>>()?;
        let found = self.stretches(&places, ty)?;
        matches!(found.kind, ExprKind::Load(_)).then_some(found)
    }

    fn lanes_of(&self, e: &Expr) -> Option<Vec<Lane>> {
        match &e.kind {
            ExprKind::Load(_) => {
                let places = super::memory::places_of(e)?.into_iter();
                Some(
                    places
                        .map(|(array, index)| Lane::Element(array, index))
                        .collect(),
                )
            }
            ExprKind::Shuffle(parts, order) => {
                let all = parts.iter().map(|part| self.lanes_of(part));
                let all: Vec<Vec<Lane>> = all.collect::<Option<_>>()?;
                let all = all.concat();
                order
                    .iter()
                    .map(|&l| all.get(l as usize).cloned())
                    .collect()
            }
            ExprKind::Register(id) => match self.moved(*id) {
                Some(lanes) => self.lanes_of(lanes),
                None => Some((0..e.ty.lanes).map(|l| Lane::Of(true, *id, l)).collect()),
            },
            ExprKind::Local(id) => Some((0..e.ty.lanes).map(|l| Lane::Of(false, *id, l)).collect()),
            _ => None,
        }
    }

    /// The moved lanes that a register was given before this statement.
    fn moved(&self, register: Id) -> Option<&Expr> {
        let given = |stmt: &&Stmt| matches!(stmt, Stmt::Assign(made) if made.target == Target::Register(register));
        match self.before.iter().rev().find(given)? {
            Stmt::Assign(made) if matches!(made.value.kind, ExprKind::Shuffle(..)) => {
                Some(&made.value)
            }
            _ => None,
        }
    }
}

/// The numbers of a constant, one for each lane.
fn numbers(e: &Expr) -> Option<Vec<i128>> {
    let lanes = e.ty.lanes as usize;
    match &everywhere(e).as_ref().unwrap_or(e).kind {
        ExprKind::Const(numbers) if numbers.len() == 1 => Some(vec![numbers[0]; lanes]),
        ExprKind::Const(numbers) if numbers.len() == lanes => Some(numbers.clone()),
        _ => None,
    }
}

/// The value that is the same in every lane of a vector.
fn everywhere(e: &Expr) -> Option<Expr> {
    match &e.kind {
        ExprKind::Shuffle(parts, order) if order.iter().all(|l| *l == 0) => match &parts[..] {
            [part] if part.ty.lanes == 1 => Some(part.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// Drops what registers are given that nothing reads.
pub(super) fn unread(kernel: &mut Kernel) {
    loop {
        let mut read = BTreeSet::new();
        for_each_stmt(&kernel.body, &mut |stmt, _| {
            if let Stmt::Assign(made) = stmt
                && let (true, Target::Register(id)) = (made.accumulate, &made.target)
            {
                read.insert(*id);
            }
            if let Some(value) = kernel.value(stmt) {
                kernel.for_each_leaf(value, &|_| true, &mut |leaf| {
                    if let ExprKind::Register(id) = leaf.kind {
                        read.insert(id);
                    }
                });
            }
        });
        let mut dropped = false;
        drop_unread(&mut kernel.body, &read, &mut dropped);
        if !dropped {
            return;
        }
    }
}

fn drop_unread(body: &mut Vec<Stmt>, read: &BTreeSet<Id>, dropped: &mut bool) {
    body.retain_mut(|stmt| match stmt {
        Stmt::For(f) => {
            drop_unread(&mut f.body, read, dropped);
            true
        }
        Stmt::Assign(made) => {
            let kept = !matches!(made.target, Target::Register(id) if !read.contains(&id));
            *dropped |= !kept;
            kept
        }
        Stmt::Let(_) => true,
    });
}
