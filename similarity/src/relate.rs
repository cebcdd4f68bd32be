//! Which numbers of a class are constants, which depend on others, which are parameters.
//!
//! In: every number of every member, some of them free. Out: [`Relations`]: for each number
//! an expression over as few parameters as were found, and each member's parameter values.
//! A number that is the same in all members becomes a constant; one that is a product,
//! quotient, sum or power of earlier parameters in all members becomes that expression; free
//! numbers take the value that fits. Whatever is found here is only a proposal: members are
//! proved afterwards at their own numbers.

use crate::canon::Role;
use crate::number::Number;
use std::collections::BTreeSet;

/// Numbers as expressions over parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Relations {
    /// For each number its expression.
    pub numbers: Vec<Number>,
    /// What each parameter is.
    pub roles: Vec<Role>,
    /// For each member its parameter values.
    pub values: Vec<Vec<i64>>,
}

/// Factors and divisors that an expression may hold.
const FACTORS: [i64; 7] = [2, 4, 8, 16, 32, 64, 128];

struct Column<'a> {
    rows: &'a [Vec<Option<i64>>],
    at: usize,
}

impl Column<'_> {
    fn known(&self) -> impl Iterator<Item = (usize, i64)> + '_ {
        let at = self.at;
        let values = self.rows.iter().map(move |row| row[at]);
        values.enumerate().filter_map(|(k, v)| Some((k, v?)))
    }

    fn fits(&self, values: &[Vec<i64>], number: &Number) -> bool {
        self.known().all(|(k, v)| number.value(&values[k]) == v)
    }
}

/// Finds the relations between the numbers of the members, a row each.
pub fn relate(rows: &[Vec<Option<i64>>], roles: &[Role]) -> Relations {
    let count = roles.len();
    let mut out = Relations {
        numbers: vec![Number::Constant(0); count],
        roles: Vec::new(),
        values: vec![Vec::new(); rows.len()],
    };
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|&at| (rank(roles[at]), at));
    for at in order {
        let column = Column { rows, at };
        let found = expression(&column, &out, roles[at]);
        out.numbers[at] = match found {
            Some(found) => found,
            None => {
                let parameter = out.roles.len();
                out.roles.push(roles[at]);
                let free = free(&column, roles[at]);
                for (row, values) in rows.iter().zip(&mut out.values) {
                    values.push(row[at].unwrap_or(free));
                }
                Number::Parameter(parameter)
            }
        };
    }
    out
}

/// What a free number is when nothing says: a register of zeros is as wide as the widest.
fn free(column: &Column<'_>, role: Role) -> i64 {
    let widest = column.known().map(|(_, v)| v).max();
    widest.filter(|_| role == Role::Register).unwrap_or(0)
}

/// Counts and element widths are parameters sooner than what follows from them.
fn rank(role: Role) -> u32 {
    match role {
        Role::Format => 0,
        Role::Width => 1,
        Role::Count => 2,
        Role::Lanes => 3,
        Role::Mode(_) | Role::Function(_) => 4,
        Role::Rounding | Role::Bytes | Role::Detail => 5,
        Role::Value => 6,
        Role::Stride => 7,
        Role::Offset => 8,
        Role::Register => 9,
    }
}

/// Numbers follow from numbers only, modes from modes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    Mode,
    Format,
    Rounding,
}

fn kind(role: Role) -> Kind {
    match role {
        Role::Mode(_) => Kind::Mode,
        Role::Format => Kind::Format,
        Role::Rounding => Kind::Rounding,
        _ => Kind::Number,
    }
}

/// A constant or an expression over the parameters so far that fits all members.
fn expression(column: &Column<'_>, so_far: &Relations, role: Role) -> Option<Number> {
    let known: BTreeSet<i64> = column.known().map(|(_, v)| v).collect();
    match known.len() {
        0 => return Some(Number::Constant(0)),
        1 => return known.first().map(|&c| Number::Constant(c)),
        // Counts are seldom functions of widths; two members would always suggest it.
        2 if matches!(role, Role::Count | Role::Lanes) => return None,
        _ => {}
    }
    let atoms: Vec<Number> = (0..so_far.roles.len())
        .filter_map(|p| match (kind(so_far.roles[p]), kind(role)) {
            (a, b) if a == b => Some(Number::Parameter(p)),
            (Kind::Format, Kind::Number) => {
                Some(Number::FormatWidth(Box::new(Number::Parameter(p))))
            }
            _ => None,
        })
        .collect();
    let fits = |n: &Number| column.fits(&so_far.values, n);
    simple(&atoms)
        .find(fits)
        .or_else(|| atoms.iter().find_map(|a| shifted(column, so_far, a)))
        .or_else(|| compound(&atoms).find(fits))
}

/// A multiple of an atom with something added.
fn shifted(column: &Column<'_>, so_far: &Relations, atom: &Number) -> Option<Number> {
    let (row, value) = column.known().next()?;
    let base = atom.value(&so_far.values[row]);
    [1, -1, 2, -2, 4, -4, 8, -8].into_iter().find_map(|k| {
        let constant = value.checked_sub(base.checked_mul(k)?)?;
        let scaled = atom.clone().times(Number::Constant(k));
        let found = scaled.plus(Number::Constant(constant));
        column.fits(&so_far.values, &found).then_some(found)
    })
}

/// Expressions over one atom, from the simplest up.
fn simple(atoms: &[Number]) -> impl Iterator<Item = Number> + '_ {
    let c = Number::Constant;
    let scaled = atoms.iter().flat_map(move |a| {
        FACTORS
            .into_iter()
            .flat_map(move |k| [a.clone().times(c(k)), a.clone().over(c(k))])
    });
    let shifted = atoms.iter().flat_map(move |a| {
        let complement = c(1).plus(a.clone().times(c(-1)));
        // Mask registers have at least eight bits.
        let mask = Number::Maximum(Box::new(a.clone()), Box::new(c(8)));
        let (less, more) = (a.clone().plus(c(-1)), a.clone().plus(c(1)));
        [less, more, complement, mask]
    });
    let powers = atoms.iter().flat_map(move |a| {
        let power = |n| Number::Power(Box::new(n));
        let half = power(a.clone().plus(c(-1)));
        [
            power(a.clone()),
            power(a.clone()).plus(c(-1)),
            half.clone(),
            half.clone().plus(c(-1)),
            half.times(c(-1)),
        ]
    });
    let singles = atoms.iter().cloned();
    singles.chain(scaled).chain(shifted).chain(powers)
}

/// Expressions over two and three atoms.
fn compound(atoms: &[Number]) -> impl Iterator<Item = Number> + '_ {
    let c = Number::Constant;
    let p = |a: usize| atoms[a].clone();
    let count = atoms.len();
    let pairs = (0..count).flat_map(move |a| {
        (0..count).filter(move |&b| b != a).flat_map(move |b| {
            let mut list = vec![p(a).over(p(b)), p(a).plus(p(b).times(c(-1)))];
            if a < b {
                let product = p(a).times(p(b));
                list.push(product.clone());
                list.push(p(a).plus(p(b)));
                for k in FACTORS {
                    list.push(product.clone().times(c(k)));
                    list.push(product.clone().over(c(k)));
                }
                list.push(Number::Maximum(Box::new(product), Box::new(c(8))));
            }
            list
        })
    });
    let triples = (0..count).flat_map(move |a| {
        (a + 1..count).flat_map(move |b| {
            (0..count)
                .filter(move |&d| d != a && d != b)
                .flat_map(move |d| {
                    let product = p(a).times(p(b));
                    let mut list = vec![product.clone().over(p(d))];
                    if d > b {
                        let all = product.times(p(d));
                        list.push(all.clone());
                        list.extend([2, 4, 8].map(|k| all.clone().times(c(k))));
                        list.extend([2, 4, 8].map(|k| all.clone().over(c(k))));
                    }
                    list
                })
        })
    });
    pairs.chain(triples)
}

/// How many of a member's numbers an existing class's relations give right, when the
/// member's parameter values can be read off its numbers.
pub fn agreement(relations: &Relations, row: &[Option<i64>]) -> usize {
    let mut values = vec![0; relations.roles.len()];
    for (number, value) in relations.numbers.iter().zip(row) {
        if let (Number::Parameter(p), Some(v)) = (number, value) {
            values[*p] = *v;
        }
    }
    let pairs = relations.numbers.iter().zip(row);
    pairs
        .filter(|(n, v)| v.is_none_or(|v| n.value(&values) == v))
        .count()
}

#[cfg(test)]
mod tests {
    use super::relate;
    use crate::canon::Role;

    #[test]
    fn constants_and_products_are_no_parameters() {
        let roles = [Role::Width, Role::Count, Role::Register, Role::Format];
        let rows: Vec<Vec<Option<i64>>> = [(8, 16), (16, 8), (8, 64), (32, 16)]
            .iter()
            .map(|&(w, n)| vec![Some(w), Some(n), Some(w * n), Some(3)])
            .collect();
        let found = relate(&rows, &roles);
        assert_eq!(found.roles, [Role::Width, Role::Count]);
        assert_eq!(found.numbers[2].to_string(), "(* p0 p1)");
        assert_eq!(found.numbers[3].to_string(), "3");
        assert_eq!(found.values[3], [32, 16]);
    }

    #[test]
    fn free_numbers_take_what_the_others_have() {
        let roles = [Role::Count, Role::Stride];
        let rows = vec![
            vec![Some(4), Some(32)],
            vec![Some(8), Some(64)],
            vec![Some(2), None],
        ];
        let found = relate(&rows, &roles);
        assert_eq!(found.numbers[1].to_string(), "(* p0 8)");
        assert_eq!(found.numbers[1].value(&found.values[2]), 16);
    }
}
