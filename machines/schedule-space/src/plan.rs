//! A schedule as what is decided about each loop.
//!
//! In: decisions. Out: [`Plan`], and the directives that it is, in an order in which they can be
//! applied. Whether they may be applied is said by the crate `schedule`.

use crate::loops::Loops;
use schedule::directive::{Directive, Tail};
use std::collections::{BTreeMap, BTreeSet};

/// What is decided; all that is not stays as it is written.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Plan {
    /// What changes the nest, first and in this order.
    pub shape: Vec<Directive>,
    /// Arrays of which an element stays in a register while a loop runs.
    pub stages: BTreeSet<(String, String)>,
    /// Loops whose iterations become lanes, how many, and what becomes of those left over.
    pub vectors: BTreeMap<String, (u32, Tail)>,
    /// Loops of which iterations run side by side, and how many.
    pub jams: BTreeMap<String, i64>,
    /// Loops of which iterations are written out, and how many.
    pub unrolls: BTreeMap<String, i64>,
}

impl Plan {
    /// The directives; `loops` are those after the shape.
    pub fn directives(&self, loops: &Loops) -> Vec<Directive> {
        let mut all = self.shape.clone();
        all.extend(self.stages.iter().map(|(array, over)| Directive::Stage {
            array: array.clone(),
            over: over.clone(),
        }));
        let outer_first = |name: &String| loops.find(name).unwrap_or(usize::MAX);
        let mut jams: Vec<(&String, &i64)> = self.jams.iter().collect();
        jams.sort_by_key(|(name, _)| outer_first(name));
        all.extend(jams.into_iter().map(|(axis, &by)| Directive::Jam {
            axis: axis.clone(),
            by,
        }));
        all.extend(self.vectors.iter().map(|(axis, &(lanes, tail))| {
            let axis = axis.clone();
            Directive::Vectorize { axis, lanes, tail }
        }));
        all.extend(self.unrolls.iter().map(|(axis, &by)| Directive::Unroll {
            axis: axis.clone(),
            by: Some(by),
        }));
        all
    }

    /// This plan and another one, of other loops.
    #[must_use]
    pub fn and(mut self, other: &Plan) -> Plan {
        let new = other.shape.iter().filter(|d| !self.shape.contains(d));
        let new: Vec<Directive> = new.cloned().collect();
        self.shape.extend(new);
        self.stages.extend(other.stages.iter().cloned());
        self.vectors.extend(other.vectors.clone());
        self.jams.extend(other.jams.clone());
        self.unrolls.extend(other.unrolls.clone());
        self
    }
}
