//! Windows that differ only in how many registers a loop changes side by side.
//!
//! In: the shapes of windows, and what was found for some of them. Out: in which order they are looked for, and which
//! need not be. With fewer registers side by side no program costs less: each takes as much of the machine, and
//! rounds wait for each other as long or longer. So what is found where there are the most is as good where there
//! are fewer, if rounds do not wait there, and so is that there is nothing; only what waits is looked for again.

use super::{Shape, Solved};
use crate::estimate::WindowInput;
use crate::operations::TargetOperations;
use lowering::window::Window;
use std::collections::{BTreeMap, HashMap};
use target::processor::Processor;

/// The windows of one target.
pub(super) struct Beside<'a> {
    pub(super) windows: &'a [&'a Window],
    pub(super) shapes: &'a [Shape],
    pub(super) operations: &'a TargetOperations,
}

impl Beside<'_> {
    /// Of some windows those of which none of the others has more registers side by side.
    pub(super) fn with_most(&self, open: &[usize]) -> Vec<usize> {
        let mut most: HashMap<Shape, u32> = HashMap::new();
        for &k in open {
            let (chains, rest) = self.shapes[k].apart();
            let known = most.entry(rest).or_default();
            *known = chains.max(*known);
        }
        let is_most = |k: &usize| {
            let (chains, rest) = self.shapes[*k].apart();
            most[&rest] == chains
        };
        open.iter().copied().filter(is_most).collect()
    }

    /// What was found for windows that are others with more registers side by side, and in which no round
    /// waits with as many as they have.
    pub(super) fn as_good(
        &self,
        open: &[usize],
        solved: &BTreeMap<usize, Solved>,
    ) -> BTreeMap<usize, Solved> {
        let mut found: HashMap<Shape, Vec<(u32, usize)>> = HashMap::new();
        for &k in solved.keys() {
            let (chains, rest) = self.shapes[k].apart();
            found.entry(rest).or_default().push((chains, k));
        }
        let good = |&k: &usize| {
            let (chains, rest) = self.shapes[k].apart();
            let others = found.get(&rest)?.iter().filter(|(more, _)| *more > chains);
            let (_, other) = others.min()?;
            let (program, report) = &solved[other];
            let program = program.as_ref();
            let program =
                program.map(|p| super::with_inputs(p, self.windows[*other], self.windows[k]));
            let inputs = WindowInput::of(self.windows[k]);
            if program
                .as_ref()
                .is_some_and(|p| self.operations.waits(p, &inputs))
            {
                return None;
            }
            let mut report = report.clone();
            report.name.clone_from(&self.windows[k].name);
            report.time = Default::default();
            Some((k, (program, report)))
        };
        open.iter().filter_map(good).collect()
    }
}

impl Shape {
    /// The same with as many registers side by side as are told apart, where there are fewer.
    pub fn beside_most(&self, processor: &Processor) -> Option<Shape> {
        let mut most = self.clone();
        let chains = most.inputs.iter_mut().map(|(.., chains)| chains);
        for chains in chains.filter(|chains| **chains > 0) {
            *chains = processor.chains;
        }
        (most != *self).then_some(most)
    }

    /// How many registers change side by side, 0 where there are none, and the rest.
    fn apart(&self) -> (u32, Shape) {
        let mut rest = self.clone();
        let chains = rest.inputs.iter_mut().map(|(.., chains)| {
            let of = *chains;
            *chains = of.min(1);
            of
        });
        (chains.max().unwrap_or(0), rest)
    }
}
