//! Whether a body counts bytes or bits where it adds to an address.
//!
//! In: a tree. Out: the answer, from how memory is looked at. `MEM[p+31:p]` names bits, and so
//! does `MEM[p]` for one of them. A text that never does the first counts bytes when it has an
//! element written at one place (`MEM[p] := x[31:0]`) or read at a distance (`MEM[p + 4*n]`),
//! or when it has addresses and no memory at all.

use super::memory;
use crate::pseudocode::ast::{BinaryOp, Block, Expr, ExprKind, Statement, StatementKind};

/// How memory is named.
#[derive(Default)]
struct Found {
    /// `MEM[high:low]`
    slices: bool,
    /// `MEM[place]`
    places: bool,
    /// The same, of an element.
    elements: bool,
}

/// Whether sums with addresses count bytes.
pub(crate) fn counts_bytes(block: &Block) -> bool {
    let mut found = Found::default();
    statements(block, &mut found);
    !found.slices && found.elements == found.places
}

/// The place in memory that an expression is, where it is just that.
pub(crate) fn place(e: &Expr) -> Option<&Expr> {
    match &e.kind {
        ExprKind::Index(base, place) if is_memory(base) => Some(place),
        _ => None,
    }
}

/// How many bytes lie between the elements that a place is one of: `p + 4*n`, `p + n`.
pub(crate) fn distance(place: &Expr) -> Option<u32> {
    let ExprKind::Binary(BinaryOp::Add, _, by) = &place.kind else {
        return None;
    };
    let factor = |e: &Expr| match e.kind {
        ExprKind::Int(k) => u32::try_from(k).ok(),
        _ => None,
    };
    let found = match &by.kind {
        ExprKind::Binary(BinaryOp::Mul, x, y) => factor(x).or_else(|| factor(y))?,
        ExprKind::Name(_) => 1,
        _ => return None,
    };
    (1..=64).contains(&found).then_some(found)
}

fn is_memory(e: &Expr) -> bool {
    e.as_name().is_some_and(|name| &**name == memory::NAME)
}

fn statements(block: &[Statement], found: &mut Found) {
    for statement in block {
        match &statement.kind {
            StatementKind::Assign { target, value, .. } => {
                if place(target).is_some() && matches!(value.kind, ExprKind::Slice(..)) {
                    (found.places, found.elements) = (true, true);
                } else {
                    expression(target, found);
                }
                expression(value, found);
            }
            StatementKind::For { from, to, body, .. } => {
                expression(from, found);
                expression(to, found);
                statements(body, found);
            }
            StatementKind::While { condition, body } => {
                expression(condition, found);
                statements(body, found);
            }
            StatementKind::If { arms, otherwise } => {
                for (condition, body) in arms {
                    expression(condition, found);
                    statements(body, found);
                }
                statements(otherwise, found);
            }
            StatementKind::Case { subject, arms } => {
                expression(subject, found);
                arms.iter().for_each(|arm| statements(&arm.body, found));
            }
            StatementKind::Define(f) => statements(&f.body, found),
            StatementKind::Return(Some(e)) | StatementKind::Call(e) => expression(e, found),
            _ => {}
        }
    }
}

fn expression(e: &Expr, found: &mut Found) {
    match &e.kind {
        ExprKind::Slice(base, ..) if is_memory(base) => found.slices = true,
        ExprKind::Index(base, place) if is_memory(base) => {
            found.places = true;
            found.elements |= distance(place).is_some();
        }
        _ => {}
    }
    e.kind.parts().for_each(|part| expression(part, found));
}
