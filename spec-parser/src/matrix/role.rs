//! What a manifest says of the purposes of instructions and rows, and of packed registers.
//!
//! In: `roles` of a manifest, the machine with its instructions. Out: [`Roles`], and what of them
//! is wrong. A packing is a formula: names of sizes are numbers, other names are fields.

use super::ast::{Expr, ExprKind, Operator};
use super::parser;
use super::place::{place_of_value, place_of_word};
use crate::pseudocode::reading::Refused;
use semantics::diagnostic::{Diagnostic, suggest};
use semantics::machine::Machine;
use semantics::machine::role::{Packing, Roles};
use semantics::span::Source;
use serde::Deserialize;
use std::collections::BTreeMap;

/// `roles` of a manifest.
#[derive(Deserialize, Clone, Debug, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct RawRoles {
    /// An instruction for each role.
    #[serde(default)]
    instructions: BTreeMap<String, String>,
    /// Rows of cells for each role.
    #[serde(default)]
    arrays: BTreeMap<String, String>,
    /// What registers hold, as formulas.
    #[serde(default)]
    packings: BTreeMap<String, String>,
}

/// The roles; `refused` are instructions whose mistakes are told already.
pub(super) fn roles(
    raw: &RawRoles,
    machine: &Machine,
    refused: &[String],
    source: &Source,
) -> (Roles, Vec<Diagnostic>) {
    let (mut roles, mut wrong) = (Roles::default(), Vec::new());
    let names = machine.instructions.iter();
    let names: Vec<&str> = names.map(|i| i.instruction.name.as_str()).collect();
    for (role, name) in &raw.instructions {
        match names.iter().position(|n| n == name) {
            Some(at) => {
                roles.instructions.insert(role.clone(), at);
            }
            None if refused.contains(name) => {}
            None => wrong.push(unknown([role, name], "instruction", &names, source)),
        }
    }
    let names: Vec<&str> = machine
        .state
        .arrays
        .iter()
        .map(|a| a.name.as_str())
        .collect();
    for (role, name) in &raw.arrays {
        match names.iter().position(|n| n == name) {
            Some(at) => {
                roles.arrays.insert(role.clone(), at);
            }
            None => wrong.push(unknown([role, name], "array", &names, source)),
        }
    }
    let sizes = machine.parameters.iter().cloned().collect();
    for (role, formula) in &raw.packings {
        match parser::formula(formula).and_then(|formula| packing(&formula, &sizes)) {
            Ok(packing) => {
                roles.packings.insert(role.clone(), packing);
            }
            Err(refused) => wrong.push(
                Diagnostic::error(refused.message)
                    .at(source, place_of_value(source, role, formula))
                    .hint(refused.hint),
            ),
        }
    }
    (roles, wrong)
}

fn unknown([role, name]: [&str; 2], what: &str, names: &[&str], source: &Source) -> Diagnostic {
    let message = format!("`{name}`, which is to be `{role}`, is no {what}");
    let diagnostic = Diagnostic::error(message).at(source, place_of_word(source, "roles", name));
    match suggest(name, names.iter().copied()) {
        Some(near) => diagnostic.hint(format!("did you mean `{near}`?")),
        None => diagnostic.hint(format!("name an {what} of this machine")),
    }
}

/// A formula as a constant and factors of fields.
fn packing(formula: &Expr, sizes: &BTreeMap<String, i64>) -> Result<Packing, Refused> {
    let refuse = || {
        let message = "this is no packing of fields";
        let hint = "write fields that are shifted, side by side: `row | columns << 32`";
        Err(Refused::new(formula.span, message, hint))
    };
    let of = |e: &Expr| packing(e, sizes);
    let number = |p: &Packing| p.fields.is_empty().then_some(p.constant);
    match &formula.kind {
        ExprKind::Number(n) => Ok(constant(*n)),
        ExprKind::Place(place) if place.view.is_none() && place.indices.is_empty() => {
            Ok(match sizes.get(&place.name) {
                Some(n) => constant(*n),
                None => Packing {
                    constant: 0,
                    fields: [(place.name.clone(), 1)].into(),
                },
            })
        }
        ExprKind::Binary(Operator::Or | Operator::Add, a, b) => {
            let (mut sum, other) = (of(a)?, of(b)?);
            sum.constant = sum.constant.wrapping_add(other.constant);
            for (field, factor) in other.fields {
                let now = sum.fields.entry(field).or_insert(0);
                *now = now.wrapping_add(factor);
            }
            Ok(sum)
        }
        ExprKind::Binary(Operator::Shl, a, b) => match number(&of(b)?) {
            Some(by @ 0..64) => Ok(times(of(a)?, 1 << by)),
            _ => refuse(),
        },
        ExprKind::Binary(Operator::Mul, a, b) => {
            let (a, b) = (of(a)?, of(b)?);
            match (number(&a), number(&b)) {
                (Some(n), _) => Ok(times(b, n)),
                (_, Some(n)) => Ok(times(a, n)),
                _ => refuse(),
            }
        }
        _ => refuse(),
    }
}

fn constant(n: i64) -> Packing {
    Packing {
        constant: n,
        fields: BTreeMap::new(),
    }
}

fn times(mut packing: Packing, factor: i64) -> Packing {
    packing.constant = packing.constant.wrapping_mul(factor);
    let factors = packing.fields.values_mut();
    factors.for_each(|f| *f = f.wrapping_mul(factor));
    packing
}
