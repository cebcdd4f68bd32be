//! Finding: all ways to compute a function with a few operators, by enumeration from both ends.
//!
//! In: nothing but the operators. Out: for each function of one operator the [`Expression`]s that agree with
//! it on samples: an operator on values of at most two operators each, or a choice between such. No form
//! needs all operators that another needs. They are candidates: [`crate::proof`] says which hold.

mod inverse;
mod values;

use crate::expression::Expression;
use crate::operator::{OPERATORS, Sort};
use crate::set::{Function, Rules};
use inverse::Inverse;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use values::{Id, Made, Values};

/// The seed of the samples.
const SEED: u64 = 1;
/// Operators in a value that the rules are made of which come with the program.
pub const LEVEL: usize = 2;
/// Operators in a condition between values of as many as [`LEVEL`].
const PLAIN: usize = 1;
/// The most operators of a form.
const MAX_SIZE: usize = 5;
/// The most values that are tried for an operand in all pairs.
const MAX_TRIED: usize = 1_200;
/// The most forms of a function that are compared, those with few operators first.
const MAX_COMPARED: usize = 4_000;
/// The most forms of a function.
const MAX_FORMS: usize = 16;

/// What was enumerated, and what came of it.
pub struct Found {
    /// Functions with their forms, not proved.
    pub rules: Rules,
    /// Different values that forms were made of.
    pub values: usize,
    /// Functions that were looked for.
    pub functions: usize,
}

/// Enumerates forms of values of at most so many operators, two at most. `reported` is given how many
/// functions are done, and of how many, after each.
pub fn find(level: usize, reported: &(dyn Fn(usize, usize) + Sync)) -> Found {
    let mut values = Values::new(SEED);
    (1..=level.min(LEVEL)).for_each(|level| values.grow(level));
    let inverse = Inverse::new();
    let wanted = functions(&values);
    let done = AtomicUsize::new(0);
    let of = |&id: &Id| {
        let all = forms(&values, &inverse, id);
        let is = values.form(&values.all[id].made);
        let forms = incomparable(&values, &is, all);
        reported(done.fetch_add(1, Ordering::Relaxed) + 1, wanted.len());
        (!forms.is_empty()).then_some(Function { is, forms })
    };
    let found: Vec<Function> = wanted.par_iter().filter_map(of).collect();
    Found {
        rules: Rules { functions: found },
        values: values.all.len(),
        functions: wanted.len(),
    }
}

/// The functions of one operator that read a variable, and not those that another is with its variables
/// exchanged.
fn functions(values: &Values) -> Vec<Id> {
    let mut out: Vec<Id> = Vec::new();
    for id in [Sort::Element, Sort::Truth]
        .into_iter()
        .flat_map(|sort| values.of(sort, 1))
        .copied()
    {
        let form = values.form(&values.all[id].made);
        let mirrored = mirrored(values, &values.all[id].made);
        let seen = &values.all[id].seen;
        let constant = values.all[id].gives == Sort::Truth && seen.iter().all(|x| *x == seen[0]);
        let first = mirrored.is_none_or(|other| other >= id);
        if form.variables() > 0 && first && !constant && is_wanted(&form) {
            out.push(id);
        }
    }
    out
}

/// The operators of which functions of one element and a constant are looked for.
const WITH_CONSTANTS: &[&str] = &[
    "add", "sub", "and", "or", "xor", "umin", "umax", "smin", "smax", "mask_eq", "mask_ult",
    "mask_slt", "eq", "ult", "ule", "slt", "sle",
];

/// Whether a function of one operator is looked for: of different elements, or of one and a constant where
/// such a function has uses.
fn is_wanted(form: &Expression) -> bool {
    let Expression::Apply(operator, of) = form else {
        return false;
    };
    let twice = of.len() == 2 && of[0] == of[1];
    !twice && (!form.has_constants() || WITH_CONSTANTS.contains(&OPERATORS[*operator].name))
}

/// The value of the other variables.
fn mirrored(values: &Values, made: &Made) -> Option<Id> {
    match made {
        Made::Variable(k) => Some(1 - k),
        Made::Constant(constant) => values.constant(*constant),
        Made::Apply(operator, of) => {
            let of: Option<Vec<Id>> = of
                .iter()
                .map(|&id| mirrored(values, &values.all[id].made))
                .collect();
            let seen = values.apply(*operator, &of?);
            values.find(OPERATORS[*operator].gives, seen)
        }
    }
}

/// All ways to make a function of known values.
fn forms(values: &Values, inverse: &Inverse, function: Id) -> Vec<Made> {
    let gives = values.all[function].gives;
    let mut out = Vec::new();
    for (number, operator) in OPERATORS.iter().enumerate() {
        if operator.gives != gives {
            continue;
        }
        match operator.takes.len() {
            1 => unary(values, number, function, &mut out),
            2 => binary(values, inverse, number, function, &mut out),
            _ => choices(values, number, function, &mut out),
        }
    }
    out.retain(|made| !values.is_made_of(made, function));
    out.retain(|made| *made != values.all[function].made);
    out
}

fn elements(values: &Values) -> impl Iterator<Item = Id> + '_ {
    let levels = (0..=LEVEL).flat_map(|level| values.of(Sort::Element, level));
    levels.copied()
}

fn unary(values: &Values, operator: usize, function: Id, out: &mut Vec<Made>) {
    let is = |&id: &Id| agrees(values, operator, &[id], function);
    let found = elements(values).filter(is);
    out.extend(found.map(|id| Made::Apply(operator, vec![id])));
}

fn binary(values: &Values, inverse: &Inverse, operator: usize, function: Id, out: &mut Vec<Made>) {
    if let Some(other) = Inverse::exact(operator) {
        for first in elements(values) {
            let seen = values.apply(other, &[function, first]);
            let second = values.find(Sort::Element, seen);
            let commuted = OPERATORS[operator].commutes;
            let second = second.filter(|second| !commuted || first <= *second);
            let of = second.map(|second| match commuted {
                true => vec![first, second],
                false => vec![second, first],
            });
            out.extend(of.map(|of| Made::Apply(operator, of)));
        }
        return;
    }
    let firsts = inverse.possible(values, operator, 0, function, MAX_TRIED);
    let seconds = inverse.possible(values, operator, 1, function, MAX_TRIED);
    for &first in &firsts {
        for &second in &seconds {
            if OPERATORS[operator].commutes && first > second {
                continue;
            }
            if agrees(values, operator, &[first, second], function) {
                out.push(Made::Apply(operator, vec![first, second]));
            }
        }
    }
}

/// Choices between values by conditions: each side agrees with the function wherever it is taken.
fn choices(values: &Values, operator: usize, function: Id, out: &mut Vec<Made>) {
    let wanted = &values.all[function].seen;
    let agreeing = |level: usize| {
        let all = values.of(Sort::Element, level).iter().copied();
        let all = all.filter(|&id| id != function);
        let all = all.map(|id| (id, Places::of(&values.all[id].seen, |k, x| x == wanted[k])));
        all.collect::<Vec<_>>()
    };
    let (few, many) = ([0, 1].map(agreeing).concat(), agreeing(2));
    for level in 0..=LEVEL {
        for &condition in values.of(Sort::Truth, level) {
            let holds = Places::of(&values.all[condition].seen, |_, x| x == 1);
            let fails = Places::of(&values.all[condition].seen, |_, x| x == 0);
            let room = if level <= PLAIN { &many[..] } else { &[] };
            let sides = [&holds, &fails].map(|places| {
                let all = few.iter().chain(room);
                let all = all.filter(|(_, agrees)| agrees.has(places));
                all.map(|(id, _)| *id).collect::<Vec<Id>>()
            });
            for &x in &sides[0] {
                for &y in &sides[1] {
                    out.push(Made::Apply(operator, vec![condition, x, y]));
                }
            }
        }
    }
}

/// A set of samples.
#[derive(Clone)]
struct Places(Vec<u64>);

impl Places {
    fn of(seen: &[u16], has: impl Fn(usize, u16) -> bool) -> Places {
        let mut words = vec![0u64; seen.len().div_ceil(64)];
        for (k, &x) in seen.iter().enumerate() {
            words[k / 64] |= u64::from(has(k, x)) << (k % 64);
        }
        Places(words)
    }

    fn has(&self, other: &Places) -> bool {
        self.0.iter().zip(&other.0).all(|(x, y)| y & !x == 0)
    }
}

/// Whether an operator makes a function of some values.
fn agrees(values: &Values, operator: usize, of: &[Id], function: Id) -> bool {
    let wanted = &values.all[function].seen;
    let mut operands = [0; 3];
    (0..wanted.len()).all(|k| {
        for (operand, &id) in operands.iter_mut().zip(of) {
            *operand = u64::from(values.all[id].seen[k]);
        }
        (OPERATORS[operator].value)(values.samples.widths[k], &operands) as u16 == wanted[k]
    })
}

/// Forms of which none needs all that another needs, or the function itself, the shortest first.
fn incomparable(values: &Values, is: &Expression, mut all: Vec<Made>) -> Vec<Expression> {
    all.sort_by_key(|made| values.operators(made));
    all.truncate(MAX_COMPARED);
    let mut all: Vec<Expression> = all.iter().map(|made| values.form(made)).collect();
    all.retain(|form| form.size() <= MAX_SIZE);
    all.sort_by_cached_key(|form| (form.size(), form.to_string().len(), form.clone()));
    let mut kept: Vec<Expression> = Vec::new();
    for form in all {
        let needs = form.needs();
        let less = |other: &Expression| {
            let mut other = other.needs().into_iter();
            other.all(|(operator, n)| needs.get(&operator).is_some_and(|m| n <= *m))
        };
        if kept.len() < MAX_FORMS && !kept.iter().chain([is]).any(less) {
            kept.push(form);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proof::holds;
    use smt::config::Config;
    use smt::prover::Prover;

    #[test]
    fn values_of_one_operator_give_what_is_known() {
        let found = find(1, &|_, _| {}).rules;
        let forms = |is: &str| {
            let function = found.functions.iter().find(|f| f.is.to_string() == is);
            let forms = function.map(|f| {
                f.forms
                    .iter()
                    .map(Expression::to_string)
                    .collect::<Vec<_>>()
            });
            forms.unwrap_or_default()
        };
        for (is, form) in [
            ("abs(x)", "umin(x, neg(x))"),
            ("avg_floor_u(x, y)", "sub(add(x, y), avg_u(x, y))"),
            ("absd_u(x, y)", "or(sat_sub_u(x, y), sat_sub_u(y, x))"),
            ("sat_sub_u(x, y)", "sub(x, umin(x, y))"),
        ] {
            assert!(forms(is).iter().any(|f| f == form), "{is}: {:?}", forms(is));
        }
        let prover = Prover::new(Config::default());
        for function in found.functions.iter().step_by(9) {
            let held = holds(&function.is, &function.forms[0], &prover);
            assert!(
                held.is_ok(),
                "{} = {}: {held:?}",
                function.is,
                function.forms[0]
            );
        }
    }
}
