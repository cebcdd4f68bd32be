//! Which operands of commands are kept in registers.
//!
//! In: loops of commands, how many registers there are. Out: the amounts that save most
//! instructions when a register holds each and loops move it on: amounts that differ by a constant
//! that one instruction adds share one.

use std::collections::BTreeMap;
use tile::host::Host;
use tile::systolic::program::{Amount, Node};

/// An amount in a register.
pub(super) struct Kept {
    pub(super) amount: Amount,
    pub(super) register: i64,
}

/// How deep loops are nested.
pub(super) fn depth(body: &[Node]) -> usize {
    let of = |n: &Node| match n {
        Node::Loop { body, .. } => 1 + depth(body),
        Node::Do(_) => 0,
    };
    body.iter().map(of).max().unwrap_or(0)
}

/// Whether something asks for a loop variable that is not held otherwise.
pub(super) fn asked(body: &[Node], var: usize, held: &dyn Fn(&Amount) -> bool) -> bool {
    body.iter().any(|n| match n {
        Node::Loop { body, .. } => asked(body, var, held),
        Node::Do(command) => {
            let mut operands = command.operands.iter();
            operands.any(|a| a.terms.contains_key(&var) && !held(a))
        }
    })
}

/// What amounts have in common: the array and the multiples of loop variables.
type Kind = (Option<usize>, BTreeMap<usize, i64>);

/// Constants of amounts of one kind, with how often each is used.
type Uses = BTreeMap<Kind, BTreeMap<i64, u64>>;

/// The amounts that are kept, the most useful first.
pub(super) fn chosen(host: &Host, body: &[Node], most: usize) -> Vec<Amount> {
    let (mut uses, mut rounds) = (Uses::new(), BTreeMap::new());
    gather(body, 1, &mut uses, &mut rounds);
    let mut groups: Vec<(u64, Amount)> = Vec::new();
    for ((array, terms), constants) in uses {
        let mut left: Vec<(i64, u64)> = constants.into_iter().collect();
        while let Some(&(first, _)) = left.first() {
            let near = |c: &(i64, u64)| host.fits(c.0.wrapping_sub(first));
            let (own, rest): (Vec<_>, Vec<_>) = left.into_iter().partition(near);
            left = rest;
            // The one that is used most needs no instruction; it must be near to all others.
            let all = |c: &(i64, u64)| own.iter().all(|o| host.fits(o.0.wrapping_sub(c.0)));
            let constant = own.iter().filter(|c| all(c)).max_by_key(|c| c.1);
            let amount = Amount {
                array,
                constant: constant.map_or(first, |c| c.0),
                terms: terms.clone(),
            };
            let saved = own.iter().map(|&(c, times)| {
                let now = u64::from(c != amount.constant);
                times.saturating_mul(
                    computed(
                        host,
                        &Amount {
                            constant: c,
                            ..amount.clone()
                        },
                    ) - now,
                )
            });
            let moved = amount
                .terms
                .keys()
                .map(|v| rounds.get(v).copied().unwrap_or(0));
            let saved = saved.sum::<u64>().saturating_sub(moved.sum());
            groups.push((saved, amount));
        }
    }
    groups.retain(|g| g.0 > 0);
    groups.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    groups.truncate(most);
    groups.into_iter().map(|g| g.1).collect()
}

/// Instructions that compute an amount, about; at least one.
fn computed(host: &Host, amount: &Amount) -> u64 {
    let constant = |n: i64| host.constant(host.zero, n).len() as u64;
    let terms = amount.terms.values().map(|f| match f {
        1 => 1,
        f => constant(*f) + 2,
    });
    let array = u64::from(amount.array.is_some());
    (constant(amount.constant) + array + terms.sum::<u64>()).max(1)
}

/// How often amounts are used, and how often loops go round.
fn gather(body: &[Node], times: u64, uses: &mut Uses, rounds: &mut BTreeMap<usize, u64>) {
    for node in body {
        match node {
            Node::Loop { var, count, body } => {
                let times = times.saturating_mul(count.unsigned_abs());
                rounds.insert(*var, times);
                gather(body, times, uses, rounds);
            }
            Node::Do(command) => {
                for amount in &command.operands {
                    let kind = (amount.array, amount.terms.clone());
                    let of = uses.entry(kind).or_default();
                    *of.entry(amount.constant).or_default() += times;
                }
            }
        }
    }
}
