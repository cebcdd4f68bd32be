//! How many rounds of a loop are written out one after the other.
//!
//! In: the loops of a kernel and the placed programs of their windows. Out: by a loop's variable its number
//! of rounds, where that is more than one. Counting and jumping are two or three instructions for each round,
//! which is as much as a short program takes; and compilers write loops out that they vectorise themselves,
//! but not those of intrinsics (gcc 12 none, clang 19 some). What is long gains nothing and is left alone, as is
//! what has loops inside.

use autoir::program::Node;
use autoir::program::placed::Placed;
use lowering::window::{Loop, Lowered, LoweredNode};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use target::RegisterClass;

/// Lanes that are moved one at a time: as many as compilers leave a loop of otherwise.
const SINGLE_LANES: RangeInclusive<i64> = 9..=64;

/// The most rounds of vectors at once.
const MOST_ROUNDS: u32 = 4;

/// The rounds of the loops of a kernel that are more than one.
pub(super) fn unrolled(
    lowered: &Lowered,
    placed: &[Option<Placed>],
    registers: &[RegisterClass],
) -> BTreeMap<u32, u32> {
    let most = registers.iter().filter_map(|class| class.unrolled).max();
    let loops = Loops {
        lowered,
        placed,
        most: most.unwrap_or(0),
    };
    let mut rounds = BTreeMap::new();
    loops.block(&lowered.body, &mut rounds);
    rounds
}

struct Loops<'a> {
    lowered: &'a Lowered,
    placed: &'a [Option<Placed>],
    /// The most instructions that rounds of vectors may be together.
    most: usize,
}

impl Loops<'_> {
    fn block(&self, nodes: &[LoweredNode], rounds: &mut BTreeMap<u32, u32>) {
        for node in nodes {
            let LoweredNode::Loop(nest) = node else {
                continue;
            };
            match self.rounds(nest) {
                1 => self.block(&nest.body, rounds),
                more => {
                    rounds.insert(nest.var.0, more);
                }
            }
        }
    }

    /// How many of a loop's rounds are written out.
    fn rounds(&self, nest: &Loop) -> u32 {
        if nest.at.is_some() {
            return 1;
        }
        let known = (nest.lo.constant_value(), nest.hi.constant_value());
        if let (Some(0), Some(lanes)) = known
            && SINGLE_LANES.contains(&lanes)
            && nest.step == 1
            && nest.body.len() <= 2
            && nest.body.iter().all(|node| self.moves_a_lane(node))
        {
            return u32::try_from(lanes).expect("a few lanes");
        }
        let instructions: Option<usize> = nest.body.iter().map(|n| self.instructions(n)).sum();
        let fit = |rounds: &u32| instructions.is_some_and(|n| n * *rounds as usize <= self.most);
        (2..=MOST_ROUNDS).rev().find(fit).unwrap_or(1)
    }

    /// Whether a window, or the one iteration that data choose, is of one lane.
    fn moves_a_lane(&self, node: &LoweredNode) -> bool {
        let single = |window: usize| self.lowered.windows[window].output.lanes == 1;
        match node {
            LoweredNode::Window { window, active } => {
                let sums = self.lowered.windows[*window].accumulate;
                active.is_none() && single(*window) && !sums
            }
            LoweredNode::Loop(inner) => match (inner.at, inner.body.as_slice()) {
                (Some(_), [LoweredNode::Window { window, .. }]) => single(*window),
                _ => false,
            },
        }
    }

    /// The instructions of a window in vectors.
    fn instructions(&self, node: &LoweredNode) -> Option<usize> {
        let LoweredNode::Window { window, .. } = node else {
            return None;
        };
        let program = &self.placed.get(*window)?.as_ref()?.program;
        let applied = program.nodes().iter();
        Some(
            applied
                .filter(|step| matches!(step, Node::Apply { .. }))
                .count(),
        )
    }
}
