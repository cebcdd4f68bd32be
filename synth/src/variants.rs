//! Variants: operations with their small immediates given, element by element.
//!
//! In: a candidate, numbers for its immediates, a width of elements. Out: [`Variant`], what each element of the
//! result is over the operands that have no value yet, and which operators whatever matches one has too.
//! Both are made when first asked for, because most variants are refused at their first element, and are the
//! same for all windows. How they are matched is in [`crate::matching`].

use crate::candidates::Candidate;
use crate::lanes;
use crate::matching::difference;
use semantics::bits::Bits;
use semantics::build as b;
use semantics::op::OpCode;
use semantics::subst::replace_vars;
use semantics::term::Term;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A candidate with small immediates given.
pub(crate) struct Variant {
    pub(crate) immediates: BTreeMap<String, Bits>,
    term: Term,
    element: u32,
    /// What is known of the elements.
    known: Mutex<Vec<Element>>,
}

/// What is known of an element.
#[derive(Clone, Copy, Default)]
struct Element {
    pattern: Option<Term>,
    /// Operators without which nothing matches, a bit for each.
    needs: Option<u128>,
}

impl Variant {
    /// A candidate with these immediates, in elements of a width.
    pub(crate) fn new(
        candidate: &Candidate,
        element: u32,
        immediates: BTreeMap<String, Bits>,
    ) -> Variant {
        let given = immediates.iter();
        let given: HashMap<&str, Term> = given
            .map(|(name, bits)| (name.as_str(), Term::bits(bits.clone())))
            .collect();
        let term = match given.is_empty() {
            true => candidate.term(),
            false => replace_vars(candidate.term(), &given),
        };
        Variant {
            immediates,
            term,
            element,
            known: Mutex::default(),
        }
    }

    /// Element `k` as a flat term over the operands that have no value yet.
    pub(crate) fn pattern(&self, k: usize) -> Term {
        if let Some(pattern) = self.known(k).pattern {
            return pattern;
        }
        let rolled = b::extract(self.term, k as u32 * self.element, self.element);
        let pattern = crate::canonical::sink_extensions(semantics::unroll::unroll(rolled));
        self.all()[k].pattern = Some(pattern);
        pattern
    }

    /// The operators that whatever matches element `k` has too.
    pub(crate) fn needs(&self, k: usize) -> u128 {
        if let Some(needs) = self.known(k).needs {
            return needs;
        }
        let needs = needed_operators(self.pattern(k), self.immediates.is_empty());
        self.all()[k].needs = Some(needs);
        needs
    }

    fn known(&self, k: usize) -> Element {
        let mut all = self.all();
        if all.len() <= k {
            all.resize(k + 1, Element::default());
        }
        all[k]
    }

    fn all(&self) -> MutexGuard<'_, Vec<Element>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The operators of a pattern but those that only place bits, and sums, products and saturations, which
/// match what is written without them.
fn needed_operators(pattern: Term, alone: bool) -> u128 {
    use OpCode as C;
    let optional = [
        C::BvAdd,
        C::BvSub,
        C::BvNeg,
        C::BvMul,
        C::SatSS,
        C::SatSU,
        C::SatUS,
        C::SatUU,
    ];
    // An absolute difference matches what it is from 0; not with each of many immediates.
    let differences = match alone && only_differences(pattern) {
        true => [C::Ite, C::BvUlt].as_slice(),
        false => &[],
    };
    optional
        .iter()
        .chain(differences)
        .fold(lanes::signature([pattern]), |all, &code| {
            all & !lanes::signature_of(code)
        })
}

/// Whether all choices in a pattern are absolute differences without sign.
fn only_differences(pattern: Term) -> bool {
    let (mut seen, mut work) = (HashSet::new(), vec![pattern]);
    while let Some(t) = work.pop() {
        if seen.insert(t) {
            if t.args_of(OpCode::Ite).is_some() && difference(t).is_none() {
                return false;
            }
            work.extend(t.children());
        }
    }
    true
}
