//! Values by rules: what is a known function, however it is written, by the forms that compute it.
//!
//! In: the rules that come with the program ([`rules`]), pieces of an expression. Out: which function
//! of one or two elements a piece is, found by what it does on the fixed inputs, and terms that
//! compute the same: by forms whose operators a target has, cheapest first, and as the function is
//! known. Who uses one proves it.

use crate::fragment::{self, Behaviour, Fragment};
use crate::library::{Library, taken};
use rules::expression::Expression;
use rules::operator::{OPERATORS, Sort as Kind};
use rules::{Function, Rules};
use semantics::sort::Sort;
use semantics::term::Term;
use std::collections::HashMap;
use std::sync::OnceLock;

/// The most forms of a function that are tried.
const TRIED: usize = 3;
/// What an operator is taken to cost that the target may not have as an operation.
const UNKNOWN: u64 = 15;
/// The widths of elements that registers hold.
const WIDTHS: [u32; 4] = [8, 16, 32, 64];

/// The functions of elements of a width, by what they do.
pub(crate) struct Identities {
    found: HashMap<Behaviour, (usize, &'static [usize])>,
    /// What each operator does, where its operands are elements.
    operators: Vec<Option<Behaviour>>,
}

/// Which function a piece is, and the operand that each of its variables stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    function: &'static Function,
    order: &'static [usize],
    behaviour: Behaviour,
}

fn known() -> &'static Rules {
    static RULES: OnceLock<Rules> = OnceLock::new();
    RULES.get_or_init(Rules::known)
}

impl Identities {
    /// Those of elements of a width that registers hold.
    pub(crate) fn of(width: u32) -> Option<&'static Identities> {
        static ALL: [OnceLock<Identities>; WIDTHS.len()] =
            [const { OnceLock::new() }; WIDTHS.len()];
        let at = WIDTHS.iter().position(|w| *w == width)?;
        Some(ALL[at].get_or_init(|| Identities::new(width)))
    }

    fn new(width: u32) -> Identities {
        let mut found = HashMap::new();
        for (k, function) in known().functions.iter().enumerate() {
            let variables = operands(width, function.is.variables());
            let term = fragment::as_bits(function.is.term(&variables));
            for (behaviour, order) in taken(&(term, inputs(&variables))) {
                found.entry(behaviour).or_insert((k, order));
            }
        }
        let operators = OPERATORS.iter().map(|operator| {
            let elements = operator.takes.iter().all(|kind| *kind == Kind::Element);
            let variables = operands(width, operator.takes.len());
            elements.then(|| {
                let term = fragment::as_bits((operator.term)(&variables));
                taken(&(term, inputs(&variables)))[0].0
            })
        });
        Identities {
            found,
            operators: operators.collect(),
        }
    }

    /// The function that a piece is on the fixed inputs.
    pub(crate) fn find(&self, behaviour: Behaviour) -> Option<Known> {
        let &(k, order) = self.found.get(&behaviour)?;
        let function = &known().functions[k];
        Some(Known {
            function,
            order,
            behaviour,
        })
    }

    /// What the operators of a form cost where registers have some lanes, with those that may be missing.
    fn cost(&self, form: &Expression, library: &Library) -> u64 {
        let one = |operator: usize| {
            let entries = self.operators[operator].map(|behaviour| library.find(behaviour));
            let entry = entries.and_then(<[_]>::first);
            entry.map_or(UNKNOWN, |entry| u64::from(library.ops[entry.op].cost))
        };
        let needs = form.needs().into_iter();
        needs.map(|(operator, n)| n as u64 * one(operator)).sum()
    }

    /// Terms that compute a function of some operands: the cheapest forms, and the function itself. None
    /// where one operation computes it for no more, which is found without rules; but with a constant it may
    /// be part of another operation when it is written otherwise.
    pub(crate) fn terms(&self, known: Known, leaves: &[Term], library: &Library) -> Vec<Term> {
        let operands: Vec<Term> = known.order.iter().map(|&k| leaves[k]).collect();
        let mut forms: Vec<(u64, &Expression)> = (known.function.forms.iter())
            .map(|form| (self.cost(form, library), form))
            .collect();
        forms.sort_by_key(|(cost, _)| *cost);
        let one = library.find(known.behaviour).first();
        let one = one.map(|entry| u64::from(library.ops[entry.op].cost));
        let least = forms.first().map_or(u64::MAX, |(least, _)| *least);
        let alone = !known.function.is.has_constants();
        if alone && one.is_some_and(|one| one <= least) {
            return Vec::new();
        }
        let forms = forms.into_iter().take(TRIED).map(|(_, form)| form);
        let all = forms.chain([&known.function.is]);
        all.map(|form| form.term(&operands)).collect()
    }
}

impl Known {
    /// What it is called.
    pub(crate) fn name(self) -> String {
        self.function.is.to_string()
    }

    /// What it means over the variables of a piece.
    pub(crate) fn meaning(self, piece: &Fragment) -> Term {
        let widths = piece.widths();
        let variables = self.order.iter().map(|&k| fragment::variable(k, widths[k]));
        fragment::as_bits(self.function.is.term(&variables.collect::<Vec<_>>()))
    }
}

/// Variables for the operands of a function.
fn operands(width: u32, count: usize) -> Vec<Term> {
    let named = |k: usize| Term::var(&crate::lanes::operand(k), Sort::Bv(width));
    (0..count).map(named).collect()
}

fn inputs(variables: &[Term]) -> Vec<(String, u32)> {
    let named = variables
        .iter()
        .map(|v| (v.as_var().unwrap_or_default().to_owned(), v.width()));
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_found_by_each_of_its_forms() {
        for width in WIDTHS {
            let identities = Identities::of(width).expect("a width of registers");
            for function in &known().functions {
                let variables = operands(width, function.is.variables());
                for form in function
                    .forms
                    .iter()
                    .filter(|f| f.variables() <= variables.len())
                {
                    let term = fragment::as_bits(form.term(&variables));
                    let order: Vec<usize> = (0..variables.len()).collect();
                    let behaviour = fragment::behaviours(term, &inputs(&variables), &[&order])[0];
                    let found = identities.find(behaviour).map(|known| &known.function.is);
                    assert!(found.is_some(), "{} = {form} at {width}", function.is);
                }
            }
        }
    }
}
