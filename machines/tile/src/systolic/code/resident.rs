//! Which operands of commands are kept in registers while a loop runs.
//!
//! In: the body of a loop, what is in registers already, how many there are. Out: the amounts that save
//! most instructions when a register holds each and every round moves it on: amounts that differ by a
//! constant that one instruction adds share one. What an inner loop moves on by itself counts where that
//! is entered.

use crate::host::Host;
use crate::systolic::program::{Amount, CommandNode};
use std::collections::BTreeMap;

/// An amount in a register.
pub(super) struct Resident {
    pub(super) amount: Amount,
    pub(super) register: i64,
}

/// How deep loops are nested.
pub(super) fn depth(body: &[CommandNode]) -> usize {
    let of = |n: &CommandNode| match n {
        CommandNode::Loop { body, .. } => 1 + depth(body),
        CommandNode::Do(_) => 0,
    };
    body.iter().map(of).max().unwrap_or(0)
}

/// What amounts have in common: the array and the multiples of loop variables.
type Kind = (Option<usize>, BTreeMap<usize, i64>);

/// Constants of amounts of one kind, with how often each is used in a round.
type Uses = BTreeMap<Kind, BTreeMap<i64, u64>>;

/// A loop that is looked at for what is kept while it runs.
pub(super) struct Looked<'a> {
    pub(super) host: &'a Host,
    pub(super) var: usize,
    pub(super) count: i64,
    pub(super) body: &'a [CommandNode],
}

impl Looked<'_> {
    /// The amounts that are kept, the most useful first; `held` says what is in a register but for a
    /// constant that one instruction adds.
    pub(super) fn chosen(&self, held: &dyn Fn(&Amount) -> bool, most: usize) -> Vec<Amount> {
        let mut uses = Uses::new();
        gather(self.body, 1, &mut Vec::new(), &mut uses);
        let mut groups: Vec<(u64, Amount)> = Vec::new();
        for ((array, terms), constants) in uses {
            let with = |constant: i64| Amount {
                array,
                constant,
                terms: terms.clone(),
            };
            let mut left: Vec<(i64, u64)> = constants.into_iter().collect();
            left.retain(|c| !held(&with(c.0)));
            while let Some(&(first, _)) = left.first() {
                let near = |c: &(i64, u64)| self.host.fits(c.0.wrapping_sub(first));
                let (own, rest): (Vec<_>, Vec<_>) = left.into_iter().partition(near);
                left = rest;
                // The one that is used most needs no instruction; it must be near to all others.
                let all =
                    |c: &(i64, u64)| own.iter().all(|o| self.host.fits(o.0.wrapping_sub(c.0)));
                let constant = own.iter().filter(|c| all(c)).max_by_key(|c| c.1);
                let amount = with(constant.map_or(first, |c| c.0));
                groups.push((self.saved(&amount, &own), amount));
            }
        }
        groups.retain(|g| g.0 > 0);
        groups.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        groups.truncate(most);
        groups.into_iter().map(|g| g.1).collect()
    }

    /// Instructions that are saved by an amount in a register, about.
    fn saved(&self, amount: &Amount, uses: &[(i64, u64)]) -> u64 {
        let each = uses.iter().map(|&(constant, times)| {
            let now = u64::from(constant != amount.constant);
            let of = Amount {
                constant,
                ..amount.clone()
            };
            times.saturating_mul(computed(self.host, &of) - now)
        });
        let moved = amount.terms.get(&self.var).map(|by| added(self.host, *by));
        let round = each.sum::<u64>().saturating_sub(moved.unwrap_or(0));
        let all = round.saturating_mul(self.count.unsigned_abs());
        all.saturating_sub(computed(self.host, amount))
    }

    /// Registers that are left to inner loops, at most: as many as one of them moves on.
    pub(super) fn reserved(&self) -> usize {
        let inner = self.body.iter().filter_map(|node| match node {
            CommandNode::Loop { var, count, body } => Some(Looked {
                var: *var,
                count: *count,
                body,
                ..*self
            }),
            CommandNode::Do(_) => None,
        });
        let each = inner.map(|l| {
            let own = l.chosen(&|a| !a.terms.contains_key(&l.var), INNER);
            own.len().max(l.reserved())
        });
        each.max().unwrap_or(0)
    }
}

/// Registers that are left to inner loops at most.
const INNER: usize = 6;

/// Instructions that add a constant to a register.
fn added(host: &Host, value: i64) -> u64 {
    match host.fits(value) {
        true => 1,
        false => constant(host, value) + 1,
    }
}

fn constant(host: &Host, value: i64) -> u64 {
    host.constant(host.zero, value).len() as u64
}

/// Instructions that add multiples of variables to a register.
fn multiples<'f>(host: &Host, factors: impl Iterator<Item = &'f i64>) -> u64 {
    let each = factors.map(|f| match f {
        0 => 0,
        1 => 1,
        f => constant(host, *f) + 2,
    });
    each.sum()
}

/// Instructions that compute an amount, about; at least one.
pub(super) fn computed(host: &Host, amount: &Amount) -> u64 {
    let array = u64::from(amount.array.is_some());
    let terms = multiples(host, amount.terms.values());
    (constant(host, amount.constant) + array + terms).max(1)
}

/// How far an amount is from another one; none where another array is meant.
pub(super) fn apart(from: &Amount, to: &Amount) -> Option<Amount> {
    let alike = from.array == to.array;
    alike.then(|| {
        let mut apart = Amount {
            array: None,
            ..to.clone()
        };
        apart.constant = to.constant.wrapping_sub(from.constant);
        for (&var, &factor) in &from.terms {
            let left = apart.terms.entry(var).or_insert(0);
            *left = left.wrapping_sub(factor);
        }
        apart.terms.retain(|_, factor| *factor != 0);
        apart
    })
}

/// Instructions that come from one amount to another one; at least one.
pub(super) fn steps(host: &Host, apart: &Amount) -> u64 {
    let by = match apart.constant {
        0 => 0,
        n => added(host, n),
    };
    (by + multiples(host, apart.terms.values())).max(1)
}

/// How often amounts are used in a round. What mentions variables of loops inside is used, without
/// these, where the outermost of them begins; `inside` has these loops, and how often they begin.
fn gather(body: &[CommandNode], times: u64, inside: &mut Vec<(usize, u64)>, uses: &mut Uses) {
    for node in body {
        match node {
            CommandNode::Loop { var, count, body } => {
                inside.push((*var, times));
                let times = times.saturating_mul(count.unsigned_abs());
                gather(body, times, inside, uses);
                inside.pop();
            }
            CommandNode::Do(command) => {
                for amount in &command.operands {
                    let begun = inside.iter().find(|i| amount.terms.contains_key(&i.0));
                    let mut terms = amount.terms.clone();
                    terms.retain(|var, _| inside.iter().all(|i| i.0 != *var));
                    let of = uses.entry((amount.array, terms)).or_default();
                    let of = of.entry(amount.constant).or_default();
                    *of = of.saturating_add(begun.map_or(times, |b| b.1));
                }
            }
        }
    }
}
