//! What the statements in which a name is in sight do with it.
//!
//! In: a list of statements as read. Out: whether a statement uses a name twice, whether one of
//! them may write a buffer.

use super::syntax::{Expr, Kind, Stmt, StmtKind};

/// How far behind a name its uses are looked for.
const MAX_LOOKED_AT: usize = 64;

/// Whether one of some statements uses a name twice.
pub(super) fn repeats(body: &[Stmt], name: &str) -> bool {
    body.iter()
        .take(MAX_LOOKED_AT)
        .any(|stmt| match &stmt.kind {
            StmtKind::Let(_, value) | StmtKind::Store(_, _, value) => value.repeats(name),
            _ => false,
        })
}

/// Whether statements may write a buffer: calls are taken to, and so is what comes late.
pub(super) fn may_write(body: &[Stmt], buffer: &str) -> bool {
    body.len() > MAX_LOOKED_AT || body.iter().any(|stmt| writes(stmt, buffer))
}

fn writes(stmt: &Stmt, buffer: &str) -> bool {
    match &stmt.kind {
        StmtKind::Store(name, ..) => name == buffer,
        StmtKind::For { body, .. } | StmtKind::Block(body) => may_write(body, buffer),
        StmtKind::If(_, then, otherwise) => may_write(then, buffer) || may_write(otherwise, buffer),
        StmtKind::Let(_, value) => runs(value),
        StmtKind::Evaluate(_) => true,
        StmtKind::Assert(..)
        | StmtKind::Allocate { .. }
        | StmtKind::Free
        | StmtKind::Predicate(_) => false,
    }
}

/// Whether a value is that of a call that runs statements.
fn runs(value: &Expr) -> bool {
    match &value.kind {
        Kind::Call(_, args) => args.iter().any(runs),
        Kind::Task(_) => true,
        _ => false,
    }
}
