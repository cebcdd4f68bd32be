//! That what rounds of a loop read was written, by whoever.
//!
//! In: what a round read that holds nothing at first, and what it wrote. Out: that it was written
//! before the loop, or by the round before and for the first round before the loop; what lies before
//! a loop around is left to that one.

use super::{Closing, PARTS};
use crate::engine::Engine;
use crate::linear::{Linear, Replaced};
use crate::space::Space;
use crate::state::Bits;
use crate::stop::Stop;
use std::collections::BTreeSet;

impl Engine<'_> {
    /// That what a round read was written: before the loop, or by the round before, and for the first
    /// round before the loop.
    pub(super) fn written_first(
        &mut self,
        closing: &Closing,
        read: BTreeSet<Bits>,
    ) -> Result<(), Stop> {
        let mut work: Vec<Bits> = read.into_iter().collect();
        let mut parts = 0;
        while let Some((space, at, width)) = work.pop() {
            parts += 1;
            if parts > PARTS {
                return Err(Stop::because("what is read was written in too many pieces"));
            }
            let stop = match self.was_written(closing, (space, &at, width)) {
                Ok(()) => continue,
                Err(stop) => stop,
            };
            let (Stop::Cut(counter, _) | Stop::Group(counter, _)) = stop else {
                return Err(stop);
            };
            // Of loops inside, which are done, each part by itself.
            if !at.mentions(counter) || counter == closing.counter || self.is_open(counter) {
                return Err(stop);
            }
            for place in self.cut_place(&at, stop)? {
                work.push((space, place, width));
            }
        }
        Ok(())
    }

    fn was_written(
        &mut self,
        closing: &Closing,
        (space, at, width): (Space, &Linear, u32),
    ) -> Result<(), Stop> {
        // By the round before, and for the first one before the loop.
        let own = closing.own.iter().any(|own| own.0 == space);
        let by_round = match own {
            true => self.found_before(closing, space, at, width).map(|_| ()),
            false => Err(Stop::First("no round wrote it".to_owned())),
        };
        if by_round.is_ok() {
            let first = Replaced::one(closing.counter, Linear::default());
            return self
                .state
                .touch(self.leaves, space, &at.with(&first)?, width);
        }
        match self.state.touch(self.leaves, space, at, width) {
            Err(Stop::First(_)) if own => by_round,
            before => before,
        }
    }

    /// The places of the rounds of a counter in parts.
    fn cut_place(&mut self, at: &Linear, stop: Stop) -> Result<Vec<Linear>, Stop> {
        let (Stop::Cut(counter, _) | Stop::Group(counter, _)) = stop else {
            return Err(stop);
        };
        let rounds = self.leaves.counters.rounds(counter);
        let mut round = |rounds: i64| match rounds {
            1 => Linear::default(),
            _ => Linear::counter(self.leaves.counters.fresh(rounds)),
        };
        let mut places = Vec::new();
        match stop {
            Stop::Cut(_, cut) => {
                places.push(round(cut));
                places.push(round(rounds - cut).offset(cut)?);
            }
            Stop::Group(_, size) => {
                let whole = rounds / size;
                places.push(round(whole).times(size)?.plus(&round(size))?);
                if whole * size < rounds {
                    places.push(round(rounds - whole * size).offset(whole * size)?);
                }
            }
            _ => {}
        }
        let each = places.into_iter();
        each.map(|p| at.with(&Replaced::one(counter, p))).collect()
    }
}
