//! Extended leaves: elements that movements bring to wider places, with zeros beside them.
//!
//! In: the extension of a leaf whose elements do not lie side by side in memory, so that they are
//! moved in any case. Out: the register that movements make of them in the wider places at once,
//! with what that costs more than bringing them together as they are. A stretch of memory and one
//! element everywhere are not looked at: what loads them extends them too.

use super::Search;
use super::cover::{Choices, Expression, How, PARTS};
use crate::cost::Cost;
use crate::goal::Goal;
use autoir::program::Value;
use semantics::build as b;
use semantics::op::OpCode;
use semantics::term::Term;

/// Goals that may be spent on bringing elements together.
const GOALS: usize = 40;

impl Search<'_> {
    /// What it costs more to have the elements of a leaf extended than as they are; nothing where that is no
    /// less than what is known.
    pub(super) fn by_extended_leaf(
        &mut self,
        e: &Expression,
        choices: &Choices,
        t: Term,
        known: Option<u64>,
    ) -> Option<(u64, How)> {
        let leaf = t.args_of(OpCode::Zext)?[0];
        let k = *e.leaves.get(&leaf)?;
        let stream = e.streams.get(k)?.part(0, choices.lanes as usize);
        let mut live = stream.live();
        let first = live.next()?;
        let one = live.all(|t| t == first);
        if one || !stream.only_moves() || stream.input_part().is_some() {
            return None;
        }
        let alone = choices.users.get(&leaf).is_none_or(|users| *users <= 1);
        let plain = self.solved_below(&stream, Cost::MAX)?.1;
        let without = if alone { plain } else { 0 };
        let known = known.and_then(|known| Cost::try_from(known.div_ceil(PARTS)).ok());
        let most = known.map_or(Cost::MAX, |known| known.saturating_add(without));
        let extended = zero_extended(&stream, t.width());
        let more = self
            .solved_below(&extended, most)?
            .1
            .saturating_sub(without);
        Some((u64::from(more) * PARTS, How::Extended(k)))
    }

    /// Solves a goal of one register below a bound. What is spent on it is none of the window's.
    fn solved_below(&mut self, goal: &Goal, bound: Cost) -> Option<(Value, Cost)> {
        let bound = std::mem::replace(&mut self.bound, bound);
        let goal = self.padded(goal);
        let found = self.within(GOALS, |search| {
            search.unspent(|search| search.solve(&goal, 1))
        });
        self.bound = bound;
        found
    }
}

/// A goal with each element in the low end of a wider one that is zero above it.
pub(super) fn zero_extended(goal: &Goal, width: u32) -> Goal {
    let wide = |t: &Option<Term>| t.map(|t| b::zext(t, width));
    Goal {
        element: width,
        elements: goal.elements.iter().map(wide).collect(),
    }
}
