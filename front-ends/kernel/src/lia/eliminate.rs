//! Elimination: whether rows `form >= 0` have no solution in integers.
//!
//! In: linear forms. Out: whether they contradict each other. The unknowns are numbered
//! once, in their order, and a row is a vector of coefficients: proofs about the places of
//! a stencil are thousands of such questions.

use super::{LinearForm, Unknown, gcd};
use std::collections::BTreeSet;

/// Rows past which elimination gives up.
pub const MAX_ROWS: usize = 4000;

/// `coefficients . unknowns + constant >= 0`; the constant is the last entry.
type Row = Vec<i128>;

/// Whether no integers satisfy all forms, as far as elimination can tell.
pub(super) fn contradictory(forms: &[LinearForm]) -> bool {
    let mut rows = numbered(forms);
    loop {
        rows.sort_unstable();
        rows.dedup();
        if rows.iter().any(|r| is_constant(r) && constant(r) < 0) {
            return true;
        }
        rows.retain(|r| !is_constant(r));
        if let Some((equation, unknown)) = equation(&rows) {
            substitute(&mut rows, &equation, unknown);
            continue;
        }
        let Some(unknown) = cheapest(&rows) else {
            return false;
        };
        let Some(next) = eliminate(rows, unknown) else {
            return false;
        };
        rows = next;
    }
}

fn numbered(forms: &[LinearForm]) -> Vec<Row> {
    let unknowns: BTreeSet<&Unknown> = forms.iter().flat_map(|f| f.terms.keys()).collect();
    let unknowns: Vec<&Unknown> = unknowns.into_iter().collect();
    let row = |form: &LinearForm| {
        let mut row = vec![0; unknowns.len() + 1];
        row[unknowns.len()] = form.constant;
        for (u, &c) in &form.terms {
            row[unknowns.binary_search(&u).expect("every unknown is listed")] = c;
        }
        row
    };
    forms.iter().map(row).collect()
}

fn coefficients(row: &Row) -> &[i128] {
    &row[..row.len() - 1]
}

fn constant(row: &Row) -> i128 {
    row[row.len() - 1]
}

fn is_constant(row: &Row) -> bool {
    coefficients(row).iter().all(|&c| c == 0)
}

/// `x * row + y * other`, divided by the gcd of its coefficients with the constant rounded
/// down; saturating, and none when an entry is too large to be trusted.
fn combined(row: &Row, x: i128, other: &Row, y: i128) -> Option<Row> {
    let both = row.iter().zip(other);
    let mut out: Row = both
        .map(|(a, b)| a.saturating_mul(x).saturating_add(b.saturating_mul(y)))
        .collect();
    if out.iter().any(|&c| LinearForm::is_too_large(c)) {
        return None;
    }
    let divisor = coefficients(&out).iter().fold(0, |g, c| gcd(g, c.abs()));
    if divisor > 1 {
        out.iter_mut().for_each(|c| *c = c.div_euclid(divisor));
    }
    Some(out)
}

/// A row that holds with equality (its negation is there too) and an unknown with
/// coefficient 1 or -1 in it, which can be replaced without losing integrality.
fn equation(rows: &[Row]) -> Option<(Row, usize)> {
    let mut negated = Row::new();
    rows.iter().find_map(|row| {
        let unknown = coefficients(row).iter().position(|c| c.abs() == 1)?;
        negated.clear();
        negated.extend(row.iter().map(|&c| -c));
        rows.binary_search(&negated).ok()?;
        Some((row.clone(), unknown))
    })
}

/// Replaces an unknown by what an equation says it is; a row that grows too large goes.
fn substitute(rows: &mut Vec<Row>, equation: &Row, unknown: usize) {
    let sign = equation[unknown];
    rows.retain_mut(|row| {
        let factor = row[unknown];
        if factor == 0 {
            return true;
        }
        let replaced = combined(row, 1, equation, -factor * sign);
        let kept = replaced.is_some();
        *row = replaced.unwrap_or_default();
        kept
    });
}

/// The unknown whose elimination makes the fewest rows.
fn cheapest(rows: &[Row]) -> Option<usize> {
    let unknowns = rows.first().map_or(0, |r| r.len() - 1);
    let made = |u: usize| {
        let lower = rows.iter().filter(|r| r[u] > 0).count();
        let upper = rows.iter().filter(|r| r[u] < 0).count();
        (lower + upper > 0).then_some((lower * upper, u))
    };
    let (_, unknown) = (0..unknowns).filter_map(made).min()?;
    Some(unknown)
}

/// The rows without an unknown: each lower bound with each upper one.
fn eliminate(rows: Vec<Row>, unknown: usize) -> Option<Vec<Row>> {
    let (with, mut out): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(|r| r[unknown] != 0);
    let (lower, upper): (Vec<Row>, Vec<Row>) = with.into_iter().partition(|r| r[unknown] > 0);
    for low in &lower {
        let rows = upper.iter().filter_map(|high| {
            let (p, n) = (low[unknown], -high[unknown]);
            combined(low, n, high, p)
        });
        out.extend(rows);
        if out.len() > MAX_ROWS {
            return None;
        }
    }
    Some(out)
}
