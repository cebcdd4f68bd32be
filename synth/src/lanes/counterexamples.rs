//! What has told functions apart, kept for the windows that follow.
//!
//! In: the reports of finished searches. Out: inputs for the leaves of another goal. A window
//! often differs from its neighbours in a constant or an operation alone, and a candidate that
//! was refuted there is refuted here at once, without the prover. It keeps inputs only: what
//! they are expected to give is computed anew for each goal.

use super::{LaneGoal, LaneReport};
use semantics::bits::Bits;
use std::collections::BTreeMap;

/// Inputs that have refuted candidates, by the widths of the leaves: what has told two
/// functions of such leaves apart tells others apart too.
#[derive(Clone, Debug, Default)]
pub struct Counterexamples {
    by_widths: BTreeMap<Vec<u32>, Vec<Vec<u64>>>,
}

impl Counterexamples {
    /// The most inputs for leaves of the same widths.
    const MOST: usize = 24;

    /// Takes in what a search was refuted by.
    pub fn learn(&mut self, report: &LaneReport) {
        for miss in &report.refuted {
            let widths = miss.input.iter().map(Bits::width).collect();
            let input: Vec<u64> = miss.input.iter().map(Bits::low_u64).collect();
            let known = self.by_widths.entry(widths).or_default();
            if known.len() < Counterexamples::MOST && !known.contains(&input) {
                known.push(input);
            }
        }
    }

    /// The inputs for the leaves of a goal.
    pub(super) fn of(&self, goal: &LaneGoal) -> &[Vec<u64>] {
        let widths: Vec<u32> = goal.leaves.iter().map(|(_, w)| *w).collect();
        self.by_widths.get(&widths).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::super::NearMiss;
    use super::*;
    use semantics::sort::Sort;
    use semantics::term::Term;

    fn goal(widths: &[u32]) -> LaneGoal {
        let name = |k: usize| format!("x{k}");
        let leaves: Vec<(String, u32)> = widths
            .iter()
            .enumerate()
            .map(|(k, w)| (name(k), *w))
            .collect();
        let term = Term::var(&leaves[0].0, Sort::Bv(leaves[0].1));
        LaneGoal { leaves, term }
    }

    fn refuted_by(inputs: &[&[(u32, u64)]]) -> LaneReport {
        let miss = |input: &&[(u32, u64)]| NearMiss {
            expression: "x0".to_owned(),
            names: Vec::new(),
            input: input.iter().map(|&(w, v)| Bits::from_u64(w, v)).collect(),
            expected: Bits::from_u64(8, 0),
            found: Bits::from_u64(8, 1),
            agrees: (1, 2),
        };
        LaneReport {
            refuted: inputs.iter().map(miss).collect(),
            ..LaneReport::default()
        }
    }

    #[test]
    fn inputs_serve_leaves_of_the_same_widths_alone() {
        let mut known = Counterexamples::default();
        known.learn(&refuted_by(&[&[(8, 200), (16, 7)]]));
        known.learn(&refuted_by(&[&[(8, 200), (16, 7)], &[(8, 1), (16, 2)]]));
        assert_eq!(known.of(&goal(&[8, 16])), [vec![200, 7], vec![1, 2]]);
        assert!(known.of(&goal(&[16, 8])).is_empty());
        assert!(known.of(&goal(&[8])).is_empty());
    }

    #[test]
    fn no_more_than_a_bound_is_kept() {
        let mut known = Counterexamples::default();
        for v in 0..100 {
            known.learn(&refuted_by(&[&[(8, v)]]));
        }
        assert_eq!(known.of(&goal(&[8])).len(), Counterexamples::MOST);
    }
}
