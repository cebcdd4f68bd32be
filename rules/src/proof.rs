//! Whether rules hold: each form is asked to equal its function at every width of elements.
//!
//! In: rules, a prover. Out: those that hold, how that is known, the others with why not. Widths are
//! 3 to 16 bits, and 32 and 64: every width that elements of registers have, and others.

use crate::expression::{Expression, VARIABLES};
use crate::operator::Sort;
use crate::set::{Function, Rules};
use rayon::prelude::*;
use semantics::build as b;
use semantics::sort;
use semantics::term::Term;
use smt::prover::Prover;
use smt::verdict::{Evidence, Verdict};

/// The widths at which rules are proved.
pub fn widths() -> impl Iterator<Item = u32> {
    (3..=16).chain([32, 64])
}

/// What became of rules.
#[derive(Default)]
pub struct Proved {
    /// Those that hold.
    pub rules: Rules,
    /// How that is known, over all widths.
    pub evidence: Evidence,
    /// The others: function, form, width, why not.
    pub dropped: Vec<(Expression, Expression, u32, String)>,
}

/// Proves rules; `done` is told of each form.
pub fn prove(rules: &Rules, prover: &Prover, done: &(dyn Fn() + Sync)) -> Proved {
    let of = |function: &Function| {
        let all = function.forms.par_iter().map(|form| {
            let answer = holds(&function.is, form, prover);
            done();
            (form.clone(), answer)
        });
        (function.is.clone(), all.collect::<Vec<_>>())
    };
    let answers: Vec<_> = rules.functions.par_iter().map(of).collect();
    let mut proved = Proved::default();
    for (is, forms) in answers {
        let mut held = Vec::new();
        for (form, answer) in forms {
            match answer {
                Ok(evidence) => {
                    proved.evidence.add(&evidence);
                    held.push(form);
                }
                Err((width, why)) => proved.dropped.push((is.clone(), form, width, why)),
            }
        }
        if !held.is_empty() {
            proved.rules.functions.push(Function { is, forms: held });
        }
    }
    proved
}

/// Whether a form is a function at every width: how that is known, else the first width at which it is
/// not, or at which nobody could say.
pub fn holds(
    function: &Expression,
    form: &Expression,
    prover: &Prover,
) -> Result<Evidence, (u32, String)> {
    let mut all = Evidence::default();
    for width in widths() {
        let variables = VARIABLES.map(|name| Term::var(name, sort::Sort::Bv(width)));
        let bits = |form: &Expression| match form.gives() {
            Sort::Element => form.term(&variables),
            Sort::Truth => b::bool_to_bit(form.term(&variables)),
        };
        match prover.prove_equal(bits(function), bits(form)) {
            Verdict::Proved(evidence) => all.add(&evidence),
            other => return Err((width, format!("{other:?}"))),
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use smt::config::Config;

    fn prover() -> Prover {
        Prover::new(Config::default())
    }

    #[test]
    fn what_comes_with_the_program_holds() {
        // A sample: `isaforge rules --prove` proves all of them.
        let known = Rules::known();
        let some = known.functions.into_iter().step_by(11).map(|f| Function {
            forms: f.forms.into_iter().take(2).collect(),
            ..f
        });
        let proved = prove(
            &Rules {
                functions: some.collect(),
            },
            &prover(),
            &|| {},
        );
        assert!(proved.dropped.is_empty(), "{:?}", proved.dropped);
        assert!(proved.rules.count() > 10);
    }

    #[test]
    fn what_does_not_hold_is_dropped_with_its_width() {
        let wrong = "isaforge rules 1\nabs(x)\n= umax(x, neg(x))\n= umin(x, neg(x))\n";
        let proved = prove(&Rules::read(wrong).expect("a text"), &prover(), &|| {});
        assert_eq!(proved.rules.count(), 1);
        assert!(
            matches!(&proved.dropped[..], [(_, form, 3, _)] if form.to_string() == "umax(x, neg(x))")
        );
    }
}
