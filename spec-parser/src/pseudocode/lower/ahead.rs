//! What a loop runs at least, before it is run.
//!
//! In: statements. Out: how many are run, where the bounds of loops are written as numbers: a body whose loops
//! lie deep in each other is refused at its first loop, not after as many statements as a body may run. What
//! may end early, or is bounded by names, counts once.

use crate::pseudocode::ast::{BinaryOp, Expr, ExprKind, Statement, StatementKind, UnaryOp};

/// The least number of statements and rounds; at most `u64::MAX`.
fn least(block: &[Statement]) -> u64 {
    let each = block.iter().map(|s| match &s.kind {
        StatementKind::For {
            from,
            to,
            down,
            body,
            ..
        } => {
            let ends = number(from).zip(number(to));
            let inside = ends.map_or(0, |(first, last)| rounds(first, last, *down, body));
            inside.saturating_add(1)
        }
        _ => 1,
    });
    each.fold(0, u64::saturating_add)
}

/// What the rounds of a loop run at least.
pub(super) fn rounds(first: i128, last: i128, down: bool, body: &[Statement]) -> u64 {
    if ends_early(body) {
        return 0;
    }
    let steps = match down {
        true => first.saturating_sub(last),
        false => last.saturating_sub(first),
    };
    let rounds = steps.saturating_add(1).max(0);
    let rounds = u64::try_from(rounds).unwrap_or(u64::MAX);
    rounds.saturating_mul(least(body).saturating_add(1))
}

/// Whether something may end a loop before its last round.
fn ends_early(block: &[Statement]) -> bool {
    block.iter().any(|s| match &s.kind {
        StatementKind::Break | StatementKind::Return(_) => true,
        StatementKind::For { body, .. } | StatementKind::While { body, .. } => ends_early(body),
        StatementKind::If { arms, otherwise } => {
            arms.iter().any(|(_, then)| ends_early(then)) || ends_early(otherwise)
        }
        StatementKind::Case { arms, .. } => arms.iter().any(|arm| ends_early(&arm.body)),
        _ => false,
    })
}

/// The value of an expression of numbers alone.
fn number(e: &Expr) -> Option<i128> {
    match &e.kind {
        ExprKind::Int(n) => Some(*n),
        ExprKind::Unary(UnaryOp::Negate, x) => number(x)?.checked_neg(),
        ExprKind::Binary(op, x, y) => {
            let (x, y) = (number(x)?, number(y)?);
            match op {
                BinaryOp::Add => x.checked_add(y),
                BinaryOp::Sub => x.checked_sub(y),
                BinaryOp::Mul => x.checked_mul(y),
                _ => None,
            }
        }
        _ => None,
    }
}
