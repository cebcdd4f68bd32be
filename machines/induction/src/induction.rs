//! What all rounds of a loop leave, from what one leaves that may be any.
//!
//! In: the regions and numbers that a round wrote, over its counter, and in them what earlier rounds
//! carried to it. Out: what the loop leaves, or why that is not known. What a round was handed is one
//! of these: what lay there before the loop, when no earlier round writes there; what the round before
//! it wrote, when the same formula says what lay there before the first; its own running sum, when it
//! adds to what it was handed at the same place. Each is checked for a round that may be any and for
//! the first, which is the induction.

mod written;

use crate::engine::{Engine, FEW, is_small};
use crate::linear::{Counter, For, Linear, Replaced};
use crate::region::{Dim, Found, Region};
use crate::space::Space;
use crate::state::{Left, Mark, part};
use crate::stop::Stop;
use crate::value::{Leaf, Value, added, addends};
use semantics::build as b;
use semantics::op::{Op, OpCode};
use semantics::range::range;
use semantics::sort::Sort;
use semantics::subst::{parts_first, replace};
use semantics::term::Term;
use std::collections::{BTreeMap, HashMap};

/// How a place for numbers goes from round to round, where it does not stay what it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Head {
    /// By a constant.
    Moves(i64),
    /// It holds data of so many bits.
    Data(u32),
}

/// What is taken to hold at the head of a loop.
pub(crate) type Heads = BTreeMap<usize, Head>;

/// By how much a number at a place goes on.
pub(crate) fn moved(heads: &Heads, at: usize) -> i64 {
    match heads.get(&at) {
        Some(Head::Moves(by)) => *by,
        _ => 0,
    }
}

/// A loop whose end is looked at.
struct Closing {
    counter: Counter,
    frame: u32,
    rounds: i64,
    /// What the round wrote, in order.
    own: Vec<(Space, Region)>,
    known: HashMap<Term, Term>,
    depth: u32,
}

/// Parts that what is read is looked at in at most.
const PARTS: usize = 1 << 12;

/// Rounds that may take turns in using places.
const TURNS: i64 = 4;

/// How many rounds back what is carried may come from, by way of others.
const DEPTH: u32 = 4;

impl Engine<'_> {
    /// Begins a round that may be any.
    pub(crate) fn begin(&mut self, counter: Counter, heads: &Heads) -> Result<(), Stop> {
        let frame = self.state.frame();
        for (&at, head) in heads {
            let value = match *head {
                Head::Moves(by) => {
                    let Some(Some(Value::Known(before))) = self.state.places.get(at).cloned()
                    else {
                        return Err(Stop::because("a number is none"));
                    };
                    Value::Known(before.plus(&Linear::counter(counter).times(by)?)?)
                }
                Head::Data(width) => {
                    let space = Space::Place(u32::try_from(at).unwrap_or(u32::MAX));
                    let leaf = Leaf::Carried(frame, space, Linear::default(), width);
                    Value::Term(self.leaves.variable(leaf, width))
                }
            };
            self.state.places[at] = Some(value);
        }
        Ok(())
    }

    /// Says what a loop leaves; or what else is to be taken to hold at its head.
    pub(crate) fn induction(
        &mut self,
        counter: Counter,
        left: Left,
        before: &Mark,
        heads: &Heads,
    ) -> Result<Option<Heads>, Stop> {
        if let Some(more) = self.heads(counter, &left, before, heads)? {
            return Ok(Some(more));
        }
        let rounds = self.leaves.counters.rounds(counter);
        let mut closing = Closing {
            counter,
            frame: left.frame,
            rounds,
            own: left.regions,
            known: HashMap::new(),
            depth: 0,
        };
        self.written_first(&closing, left.read)?;
        let (mut numbers, mut after) = (Vec::new(), Vec::new());
        for &at in &left.written {
            let Some(value) = self.state.places[at].clone() else {
                after.push((at, None));
                continue;
            };
            match heads.get(&at) {
                Some(Head::Data(width)) => {
                    let place = Space::Place(u32::try_from(at).unwrap_or(u32::MAX));
                    let mut region = Region::one(Linear::default(), *width, value);
                    region.time = u64::MAX;
                    closing.own.push((place, region));
                }
                _ => numbers.push((at, value)),
            }
        }
        // What was there before is read as it was.
        for &at in heads.keys() {
            self.state.places[at] = before.place(at).cloned();
        }
        for at in &left.written {
            self.state.places[*at] = before.place(*at).cloned();
        }
        let last = Replaced::one(counter, Linear::constant(rounds - 1));
        for (at, value) in numbers {
            let value = match value {
                Value::Term(term) => match self.resolved(&mut closing, term) {
                    Ok(term) => Value::Term(term),
                    // What is not known is an error only where it is read.
                    Err(Stop::Because(_)) => {
                        after.push((at, None));
                        continue;
                    }
                    Err(stop) => return Err(stop),
                },
                known => known,
            };
            after.push((at, Some(self.leaves.value_with(&value, &last)?)));
        }
        let mut regions = self.regions(&mut closing)?;
        for value in regions.iter_mut().map(|r| &mut r.1.value) {
            self.left_by(&closing, value);
        }
        for (_, value) in &mut after {
            self.left_by(&closing, value);
        }
        if regions.iter().any(|(_, region)| region.value.is_none()) {
            self.loses(counter)?;
        }
        for (space, region) in &regions {
            if let Space::Place(at) = space {
                after.push((*at as usize, region.value.clone()));
            }
        }
        // Nothing fails from here on.
        for (space, region) in regions {
            if !matches!(space, Space::Place(_)) {
                self.put(space, region);
            }
        }
        for (at, value) in after {
            self.state.places[at] = value;
        }
        Ok(None)
    }

    /// A value behind a loop: it is not known where something is in it that rounds carried, since other
    /// loops have its number.
    fn left_by(&self, closing: &Closing, value: &mut Option<Value>) {
        if let Some(Value::Term(term)) = value
            && self.leaves.carries_of(*term, closing.frame)
        {
            *value = None;
        }
    }

    /// Whether numbers are at the end of a round what they are taken to be at the next one's head.
    pub(crate) fn heads(
        &self,
        counter: Counter,
        left: &Left,
        before: &Mark,
        heads: &Heads,
    ) -> Result<Option<Heads>, Stop> {
        let mut more = heads.clone();
        for &at in left.exposed.intersection(&left.written) {
            let (old, new) = (before.place(at), self.state.places[at].as_ref());
            // What held nothing was not read for a value, but chosen beside another way's.
            let (Some(old), Some(new)) = (old, new) else {
                if let Some(Value::Term(term)) = new {
                    more.insert(at, Head::Data(term.width()));
                }
                continue;
            };
            let moved = match (old, new) {
                (Value::Known(old), Value::Known(new)) => new.minus(old).ok(),
                _ => None,
            };
            match (heads.get(&at), moved) {
                (Some(Head::Data(_)), _) => {}
                (None, _) if old == new => {}
                (Some(Head::Moves(by)), Some(moved)) => {
                    let wanted = Linear::counter(counter).times(*by)?.offset(*by)?;
                    if moved != wanted {
                        let reason = "a number does not go on by the same in each round";
                        return Err(Stop::First(reason.to_owned()));
                    }
                }
                (None, Some(moved)) if moved.as_constant().is_some() => {
                    more.insert(at, Head::Moves(moved.constant));
                }
                (None, None) if !matches!(new, Value::Known(_)) => {
                    let Value::Term(term) = new else { continue };
                    more.insert(at, Head::Data(term.width()));
                }
                _ => {
                    let reason = "a number does not go on by the same in each round";
                    return Err(Stop::First(reason.to_owned()));
                }
            }
        }
        Ok((more != *heads).then_some(more))
    }

    /// What all rounds wrote.
    fn regions(&mut self, closing: &mut Closing) -> Result<Vec<(Space, Region)>, Stop> {
        let unknown = self.disordered(closing)?;
        let mut out = Vec::new();
        for (k, unknown) in unknown.into_iter().enumerate() {
            let (space, mut region) = closing.own[k].clone();
            if unknown {
                region.value = None;
            }
            let mut work = vec![region];
            while let Some(region) = work.pop() {
                match self.closed(closing, space, k, &region) {
                    Ok(done) => out.push((space, done)),
                    // What is not known is an error only where it is read.
                    Err(Stop::Because(_)) if region.value.is_some() => work.push(Region {
                        value: None,
                        ..region
                    }),
                    Err(stop) => work.extend(self.cut(region, stop)?),
                }
            }
        }
        Ok(out)
    }

    /// Which regions are not known behind the loop, because a later round writes over them what the
    /// order of regions hides.
    fn disordered(&self, closing: &Closing) -> Result<Vec<bool>, Stop> {
        let (own, counters) = (&closing.own, &self.leaves.counters);
        let mut unknown = vec![false; own.len()];
        for (i, (space, late)) in own.iter().enumerate() {
            for (j, (other, early)) in own[..=i].iter().enumerate() {
                let moves = late.at.mentions(closing.counter) || early.at.mentions(closing.counter);
                if space == other && moves && late.meets_region(counters, closing.counter, early)? {
                    // A few rounds that take turns are looked at one by one.
                    if closing.rounds <= TURNS {
                        return Err(Stop::Each);
                    }
                    (unknown[i], unknown[j]) = (true, true);
                }
            }
        }
        Ok(unknown)
    }

    /// The parts of a region whose counters are cut.
    fn cut(&mut self, region: Region, stop: Stop) -> Result<Vec<Region>, Stop> {
        let (Stop::Cut(counter, _) | Stop::Group(counter, _)) = stop else {
            return Err(stop);
        };
        let Some(k) = region.dims.iter().position(|d| d.counter == counter) else {
            return Err(stop);
        };
        let (Dim { step, .. }, rounds) = (region.dims[k], self.leaves.counters.rounds(counter));
        let mut part = |first: i64, count: i64, by: i64| -> Result<Region, Stop> {
            // Rounds `first + by * x + y`, with `y` below `by`.
            let (outer, inner) = (
                self.leaves.counters.fresh(count),
                self.leaves.counters.fresh(by),
            );
            let place = Linear::counter(outer)
                .times(by)?
                .plus(&Linear::counter(inner))?;
            let place = place.offset(first)?;
            let value = region.value.as_ref();
            let by_counter = Replaced::one(counter, place);
            let value = value
                .map(|v| self.leaves.value_with(v, &by_counter))
                .transpose()?;
            let mut dims = region.dims.clone();
            dims[k] = Dim {
                counter: inner,
                step,
            };
            dims.insert(
                k,
                Dim {
                    counter: outer,
                    step: step * by,
                },
            );
            dims.retain(|d| self.leaves.counters.rounds(d.counter) > 1);
            let at = region.at.offset(step.saturating_mul(first))?;
            let mut part = Region {
                at,
                dims,
                value,
                ..region.clone()
            };
            // A counter of one round is 0.
            let single = [outer, inner].map(|c| (c, Linear::default()));
            let single = single
                .into_iter()
                .filter(|s| self.leaves.counters.rounds(s.0) == 1);
            let single = Replaced::new(single.collect());
            let value = part.value.as_ref();
            part.value = value
                .map(|v| self.leaves.value_with(v, &single))
                .transpose()?;
            Ok(part)
        };
        match stop {
            Stop::Cut(_, at) => Ok(vec![part(0, at, 1)?, part(at, rounds - at, 1)?]),
            Stop::Group(_, size) => {
                let whole = rounds / size;
                let mut parts = vec![part(0, whole, size)?];
                if whole * size < rounds {
                    parts.push(part(whole * size, rounds - whole * size, 1)?);
                }
                Ok(parts)
            }
            other => Err(other),
        }
    }

    /// What all rounds wrote of a region, the `number`th of the round.
    fn closed(
        &mut self,
        closing: &mut Closing,
        space: Space,
        number: usize,
        region: &Region,
    ) -> Result<Region, Stop> {
        let counter = closing.counter;
        let mut done = region.clone();
        let stays = !region.at.mentions(counter);
        let last = Replaced::one(counter, Linear::constant(closing.rounds - 1));
        match &region.value {
            Some(Value::Term(term)) if self.leaves.carries(*term) => {
                let own = match stays {
                    true => self.running(closing, (space, number), region, *term)?,
                    false => None,
                };
                done.value = match own {
                    Some(value) => value.map(Value::Term),
                    None => {
                        let term = self.resolved(closing, *term)?;
                        Some(Value::Term(self.leaves.summed(term)?))
                    }
                };
            }
            _ => {}
        }
        if stays {
            let value = done.value.as_ref();
            done.value = value
                .map(|v| self.leaves.value_with(v, &last))
                .transpose()?;
            return Ok(done);
        }
        let step = region.at.factor(counter);
        done.at = region.at.with(&Replaced::one(counter, Linear::default()))?;
        done.dims.push(Dim { counter, step });
        done.tidied(self.leaves)
    }

    /// A running sum, or another function of what was handed to the round at the same place; none
    /// when it is none of these, and no value when it is not known.
    fn running(
        &mut self,
        closing: &mut Closing,
        (space, number): (Space, usize),
        region: &Region,
        term: Term,
    ) -> Result<Option<Option<Term>>, Stop> {
        let place = region.place()?;
        let own = Leaf::Carried(closing.frame, space, place.clone(), region.width);
        let own = self.leaves.variable(own, region.width);
        if !self.leaves.variables(term).contains(&own) {
            return Ok(None);
        }
        if let Some(value) = self.narrow(closing, (own, &place, space, number), region, term)? {
            return Ok(Some(Some(value)));
        }
        for (other, later) in &closing.own[number + 1..] {
            let counters = &self.leaves.counters;
            if *other == space && later.meets(counters, &place, region.width)? {
                return Ok(Some(None));
            }
        }
        let before = self.before(space, &place, region.width)?;
        let mut parts = parts_of_sum(term)?;
        let sums = parts.iter().position(|p| *p == own);
        if let Some(at) = sums {
            parts.swap_remove(at);
            if !parts
                .iter()
                .any(|p| self.leaves.variables(*p).contains(&own))
            {
                let rest = self.resolved(closing, added(&parts, region.width))?;
                let rest = self.leaves.total(parts_of_sum(rest)?, region.width)?;
                let mut all = parts_of_sum(before)?;
                for part in addends(rest) {
                    all.push(self.leaves.sum(closing.counter, part)?);
                }
                let total = self.leaves.total(all, region.width)?;
                return Ok(Some(Some(total)));
            }
        }
        // A few rounds of what is no sum are written out.
        if closing.rounds <= FEW {
            return Err(Stop::Each);
        }
        let held = Term::var("held", Sort::Bv(region.width));
        let body = replace(term, &[(own, held)]);
        let body = self.resolved(closing, body)?;
        let rounds = self.leaves.rounds(before, closing.counter, held, body)?;
        Ok(Some(Some(rounds)))
    }

    /// So many bits of what lay at a place before the loop.
    fn before(&mut self, space: Space, place: &Linear, width: u32) -> Result<Term, Stop> {
        let value = self.read(space, place, width)?;
        let term = self.leaves.term(&value, width);
        Ok(match term.width() > width {
            true => b::extract(term, 0, width),
            false => term,
        })
    }

    /// A running value of fewer bits than the register that it lies in, which keeps it extended.
    fn narrow(
        &mut self,
        closing: &mut Closing,
        (own, place, space, number): (Term, &Linear, Space, usize),
        region: &Region,
        term: Term,
    ) -> Result<Option<Term>, Stop> {
        for (op, width) in kinds(term) {
            let low = Leaf::Carried(closing.frame, space, place.clone(), width);
            let low = self.leaves.variable(low, width);
            let wide = b::app(op, &[low]);
            let there = |value| replace(term, &[(own, value)]);
            let Some((found, within)) = extended(there(wide)) else {
                continue;
            };
            if (found, within.width()) != (op, width) {
                continue;
            }
            // Of what the round was handed only the low bits may matter, or it is always extended so.
            let high = Term::var("high", Sort::Bv(region.width - width));
            let any = there(b::concat(&[high, low]));
            let only_low = extended(any).is_some_and(|e| e.0 == op && e.1 == within);
            if !only_low {
                let first = self.before(space, place, region.width)?;
                if b::app(op, &[b::extract(first, 0, width)]) != first {
                    continue;
                }
            }
            let part = Region {
                width,
                value: Some(Value::Term(within)),
                ..region.clone()
            };
            let running = self.running(closing, (space, number), &part, within)?;
            return Ok(running.flatten().map(|sum| b::app(op, &[sum])));
        }
        Ok(None)
    }

    /// A term without what earlier rounds of the loop carried.
    fn resolved(&mut self, closing: &mut Closing, term: Term) -> Result<Term, Stop> {
        if let Some(&known) = closing.known.get(&term) {
            return Ok(known);
        }
        let mut values = Vec::new();
        for &variable in self.leaves.variables(term).iter() {
            let new = match closing.known.get(&variable) {
                Some(&known) => known,
                None => {
                    let new = self.resolved_leaf(closing, variable)?;
                    closing.known.insert(variable, new);
                    new
                }
            };
            if new != variable {
                values.push((variable, new));
            }
        }
        let done = match values.is_empty() {
            true => term,
            false => replace(term, &values),
        };
        closing.known.insert(term, done);
        Ok(done)
    }

    fn resolved_leaf(&mut self, closing: &mut Closing, variable: Term) -> Result<Term, Stop> {
        let Some(leaf) = self.leaves.leaf(variable).cloned() else {
            return Ok(variable);
        };
        match leaf {
            Leaf::Carried(frame, space, at, width) if frame == closing.frame => {
                self.carried(closing, space, &at, width)
            }
            Leaf::Sum(bound, body) if self.leaves.carries(body) => {
                let (counter, body) = self.opened(bound, body)?;
                let sum = self.resolved_sum(closing, counter, body);
                self.leaves.counters.done(For::Sum, counter);
                sum
            }
            Leaf::Rounds(init, bound, held, body)
                if self.leaves.carries(body) || self.leaves.carries(init) =>
            {
                let (counter, body) = self.opened(bound, body)?;
                let init = self.resolved(closing, init);
                let rounds = init
                    .and_then(|init| self.resolved_rounds(closing, (init, held), counter, body));
                self.leaves.counters.done(For::Sum, counter);
                rounds
            }
            _ => Ok(variable),
        }
    }

    /// A body with a counter of one's own in place of that of sums: one that no sum around has, so
    /// that what is found out of one body is known of the next.
    fn opened(&mut self, bound: Counter, body: Term) -> Result<(Counter, Term), Stop> {
        let counters = &mut self.leaves.counters;
        let counter = counters.idle(For::Sum, counters.rounds(bound));
        let by = Replaced::one(bound, Linear::counter(counter));
        Ok((counter, self.leaves.with(body, &by)?))
    }

    fn resolved_sum(
        &mut self,
        closing: &mut Closing,
        counter: Counter,
        body: Term,
    ) -> Result<Term, Stop> {
        let parts = match self.resolved(closing, body) {
            Ok(body) => return self.leaves.sum(counter, body),
            Err(stop) => self.parts_of(counter, body, stop)?,
        };
        let width = body.width();
        let mut all = Vec::new();
        for (outer, inner, body) in parts {
            let sum = match inner {
                None => self.resolved_sum(closing, outer, body),
                Some(inner) => self
                    .resolved_sum(closing, inner, body)
                    .and_then(|sum| self.leaves.sum(outer, sum)),
            };
            let counters = [Some(outer), inner].into_iter().flatten();
            counters.for_each(|c| self.leaves.counters.done(For::Sum, c));
            all.push(sum?);
        }
        Ok(added(&all, width))
    }

    fn resolved_rounds(
        &mut self,
        closing: &mut Closing,
        (init, held): (Term, Term),
        counter: Counter,
        body: Term,
    ) -> Result<Term, Stop> {
        let parts = match self.resolved(closing, body) {
            Ok(body) => return self.leaves.rounds(init, counter, held, body),
            Err(stop) => self.parts_of(counter, body, stop)?,
        };
        let mut so_far = init;
        for (outer, inner, body) in parts {
            if inner.is_some() {
                return Err(Stop::because("rounds of what is no sum are not alike"));
            }
            let rounds = self.resolved_rounds(closing, (so_far, held), outer, body);
            self.leaves.counters.done(For::Sum, outer);
            so_far = rounds?;
        }
        Ok(so_far)
    }

    /// A term over the rounds of a counter in parts: the counters of each, and the term.
    fn parts_of(
        &mut self,
        counter: Counter,
        body: Term,
        stop: Stop,
    ) -> Result<Vec<(Counter, Option<Counter>, Term)>, Stop> {
        let rounds = self.leaves.counters.rounds(counter);
        let mut part = |first: i64, count: i64| -> Result<(Counter, Option<Counter>, Term), Stop> {
            let own = self.leaves.counters.idle(For::Sum, count);
            let place = match count {
                1 => Linear::constant(first),
                _ => Linear::counter(own).offset(first)?,
            };
            let body = self.leaves.with(body, &Replaced::one(counter, place))?;
            Ok((own, None, body))
        };
        match stop {
            Stop::Cut(cut, at) if cut == counter => Ok(vec![part(0, at)?, part(at, rounds - at)?]),
            Stop::Group(cut, size) if cut == counter => {
                let whole = rounds / size;
                let left = match whole * size < rounds {
                    true => Some(part(whole * size, rounds - whole * size)?),
                    false => None,
                };
                let outer = self.leaves.counters.idle(For::Sum, whole);
                let inner = self.leaves.counters.idle(For::Sum, size);
                let place = Linear::counter(outer).times(size)?;
                let place = place.plus(&Linear::counter(inner))?;
                let body = self.leaves.with(body, &Replaced::one(counter, place))?;
                Ok(std::iter::once((outer, Some(inner), body))
                    .chain(left)
                    .collect())
            }
            other => Err(other),
        }
    }

    /// What was handed to a round at a place.
    fn carried(
        &mut self,
        closing: &mut Closing,
        space: Space,
        at: &Linear,
        width: u32,
    ) -> Result<Term, Stop> {
        let mut written = false;
        for (other, region) in &closing.own {
            let counters = &self.leaves.counters;
            if *other == space && region.meets_later(counters, closing.counter, (at, width))? {
                written = true;
                break;
            }
        }
        if !written {
            let value = self.read(space, at, width)?;
            return Ok(self.leaves.term(&value, width));
        }
        let number = self.written_before(closing, space, at, width)?;
        let (term, by) = number;
        if closing.depth >= DEPTH {
            return Err(Stop::because(
                "what is carried from round to round is not known",
            ));
        }
        // Its value in the round before, which may itself be of what was handed to that.
        closing.depth += 1;
        let own = self.resolved(closing, term);
        closing.depth -= 1;
        let value = self.leaves.with(own?, &by)?;
        // What lay there before the first round is what the formula says.
        let first = Replaced::one(closing.counter, Linear::default());
        let wanted = self.leaves.with(value, &first)?;
        let before = self.read(space, &at.with(&first)?, width)?;
        let before = self.leaves.term(&before, width);
        if before != wanted {
            let reason = "what lies there before a loop is unlike what its rounds leave";
            return Err(Stop::First(reason.to_owned()));
        }
        Ok(value)
    }

    /// The value that the round before wrote at a place, over the loop's counter, and what stands for
    /// counters in it.
    fn written_before(
        &mut self,
        closing: &Closing,
        space: Space,
        at: &Linear,
        width: u32,
    ) -> Result<(Term, Replaced), Stop> {
        let (k, replaced, low) = self.found_before(closing, space, at, width)?;
        let region = &closing.own[k].1;
        let Some(value) = &region.value else {
            return Err(Stop::because("what a place holds is not known"));
        };
        let value = self.leaves.value_with(value, &replaced)?;
        let value = part(self.leaves, &value, region.width, low, width);
        let last = Linear::counter(closing.counter).offset(-1)?;
        let term = self.leaves.term(&value, width);
        Ok((term, Replaced::one(closing.counter, last)))
    }

    /// Which of its regions the round before wrote bits in, what stands for its counters, over the
    /// loop's counter, and how many bits into the value.
    fn found_before(
        &mut self,
        closing: &Closing,
        space: Space,
        at: &Linear,
        width: u32,
    ) -> Result<(usize, Replaced, u32), Stop> {
        let counter = closing.counter;
        let before = self.leaves.counters.fresh(closing.rounds - 1);
        // One round alone is round 0.
        let round = match closing.rounds {
            2 => Linear::default(),
            _ => Linear::counter(before),
        };
        let here = at.with(&Replaced::one(counter, round.offset(1)?))?;
        let shifted = Replaced::one(counter, round);
        for (k, (other, region)) in closing.own.iter().enumerate().rev() {
            if *other != space {
                continue;
            }
            let there = region.at.with(&shifted)?;
            let found = region.find_at(&self.leaves.counters, &there, &here, width);
            let found = found.map_err(|stop| match stop {
                Stop::Cut(cut, k) if cut == before => Stop::Cut(counter, k + 1),
                Stop::Group(cut, _) if cut == before => {
                    Stop::because("what is carried from round to round is not known")
                }
                other => other,
            })?;
            let Found::There(replaced, low) = found else {
                continue;
            };
            // Over the loop's counter, whose rounds are one behind here.
            let now = Replaced::one(before, Linear::counter(counter));
            return Ok((k, replaced.with(&now)?, low));
        }
        Err(Stop::because("what is read comes from a round long before"))
    }
}

/// The parts of a sum that is small enough to be taken apart.
fn parts_of_sum(term: Term) -> Result<Vec<Term>, Stop> {
    match is_small(term) {
        true => Ok(addends(term)),
        false => Err(Stop::because("a value is too large a term")),
    }
}

/// How a term may be an extension, and of how many bits: as it is one, or as what it is made of is, whatever is
/// made first last.
fn kinds(term: Term) -> Vec<(Op, u32)> {
    let of = |(op, inner): (Op, Term)| (op, inner.width());
    if let Some(found) = extended(term) {
        return vec![of(found)];
    }
    let mut all = Vec::new();
    let parts = parts_first(&[term]).into_iter().rev();
    for part in parts.filter(|t| t.sort() == term.sort()) {
        let kind = extended(part).map(of);
        all.extend(kind.filter(|kind| !all.contains(kind)));
    }
    all
}

/// A term as the extension of a narrower one: as it is written, or since its range says so.
fn extended(term: Term) -> Option<(Op, Term)> {
    let width = term.width();
    if let Some((op, [inner])) = term.as_app()
        && matches!(op.code, OpCode::Sext | OpCode::Zext)
    {
        return (inner.width() < width).then_some((op, *inner));
    }
    let (least, most) = range(term);
    let narrower = [8, 16, 32].into_iter().filter(|bits| *bits < width);
    let fits = |bits: u32, code| match code {
        OpCode::Sext => least >= -(1 << (bits - 1)) && most < 1 << (bits - 1),
        _ => least >= 0 && most < 1 << bits,
    };
    let mut all = narrower.flat_map(|bits| [(bits, OpCode::Sext), (bits, OpCode::Zext)]);
    let (bits, code) = all.find(|(bits, code)| fits(*bits, *code))?;
    Some((Op::with(code, width), b::extract(term, 0, bits)))
}
