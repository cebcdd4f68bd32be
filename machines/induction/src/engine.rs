//! Programs executed for all rounds of their loops at once.
//!
//! In: who executes a program, statement by statement, with its loops handed to [`Engine::repeat`].
//! Out: what all places hold behind it. A loop is executed once, for a round that may be any, on
//! what earlier rounds may have left; module `induction` then says what that was. Where rounds are
//! not alike they are cut into groups that are, or executed one by one where they are few.

use crate::code::meaning::plain;
use crate::induction::Heads;
use crate::linear::{Counter, For, Linear};
use crate::region::{Dim, Region};
use crate::space::Space;
use crate::state::{Array, Mark, State, Use};
use crate::stop::Stop;
use crate::trace::Trace;
use crate::value::{Leaves, Value};
use semantics::build as b;
use semantics::term::Term;
use std::collections::BTreeSet;

/// What a round of a loop does.
pub type Round<'a> = dyn FnMut(&mut Engine<'_>, &Linear) -> Result<(), Stop> + 'a;

/// Where a program is executed.
#[derive(Debug)]
pub struct Engine<'l> {
    pub(crate) leaves: &'l mut Leaves,
    pub(crate) state: State,
    /// Steps that may still be made.
    left: u64,
    /// The counters of loops that are being executed.
    open: Vec<Counter>,
    /// Whether loops of which it is not known what they leave are executed round by round.
    stepping: bool,
    /// Whether there was such a loop.
    lost: bool,
}

/// Rounds that are executed one by one where they are not alike.
pub(crate) const FEW: i64 = 16;

/// Rounds of a loop on which others depend, or of a recurrence, that are executed one by one at most.
const SINGLE: i64 = 1 << 11;

/// Groups that the rounds of a loop are cut into at most.
const GROUPS: usize = 64;

/// The rounds of a loop that are looked at together: from which on, and how many.
type Group = (i64, i64);

/// Levels of a term that places hold at most.
const MOST: u32 = 400;

/// The same where a recurrence may add some with each round.
const MOST_STEPPING: u32 = 1 << 13;

/// Its nodes at most, when it is written as a tree. Of a recurrence there may be more, as of the sum of the
/// last two: then parts are shared, and such a term is only ever equal to itself.
const MOST_NODES: u32 = 1 << 16;

/// Whether a term may be taken apart.
pub(crate) fn is_small(term: Term) -> bool {
    term.size() <= MOST_NODES
}

impl<'l> Engine<'l> {
    /// An engine on arrays, with so many places for numbers, and steps that it makes at most.
    pub fn new(
        leaves: &'l mut Leaves,
        arrays: Vec<Array>,
        places: usize,
        steps: u64,
    ) -> Engine<'l> {
        Engine {
            leaves,
            state: State::new(arrays, places),
            left: steps,
            open: Vec::new(),
            stepping: false,
            lost: false,
        }
    }

    /// The same, but loops of which it is not known what they leave are executed round by round, if
    /// there are not too many: recurrences.
    #[must_use]
    pub fn stepping(mut self, stepping: bool) -> Engine<'l> {
        self.stepping = stepping;
        self
    }

    /// The same, but of commands it is recorded which are performed, and nothing is done by them; who
    /// uses memory beside them is refused.
    #[must_use]
    pub fn recording(mut self) -> Engine<'l> {
        self.state.trace = Some(Trace::default());
        self
    }

    /// A command is performed; whether it is only recorded.
    pub(crate) fn records(&mut self, instruction: usize, operands: &[Linear]) -> bool {
        let trace = self.state.trace.as_mut();
        trace.is_some_and(|trace| {
            trace.command(instruction, operands);
            true
        })
    }

    /// The commands that were performed, where they were recorded.
    pub fn trace(self) -> Trace {
        self.state.trace.unwrap_or_default()
    }

    /// That data in memory or tiles may be used: they may not where commands alone are recorded.
    fn data_allowed(&self, space: Space) -> Result<(), Stop> {
        match &self.state.trace {
            Some(_) if !matches!(space, Space::Place(_)) => {
                Err(Stop::because("memory is used beside commands"))
            }
            _ => Ok(()),
        }
    }

    /// Whether there was a loop of which it is not known what it leaves.
    pub fn lost(&self) -> bool {
        self.lost
    }

    /// What a loop leaves is not known.
    ///
    /// # Errors
    /// That its rounds are to be executed each by itself, where that is done.
    pub(crate) fn loses(&mut self, counter: Counter) -> Result<(), Stop> {
        self.lost = true;
        match self.stepping {
            true => Err(Stop::Depends(counter)),
            false => Ok(()),
        }
    }

    /// That a value is small enough to be followed.
    pub(crate) fn followed(&self, value: &Value) -> Result<(), Stop> {
        let Value::Term(term) = value else {
            return Ok(());
        };
        let fits = match self.stepping {
            true => term.height() <= MOST_STEPPING,
            false => term.height() <= MOST && is_small(*term),
        };
        match fits {
            true => Ok(()),
            false => Err(Stop::because("a value is too large a term")),
        }
    }

    /// That loops were lost is forgotten, as what was tried is.
    pub(crate) fn forgets(&mut self, lost: bool) {
        self.lost = lost;
    }

    /// Steps left.
    pub fn steps(&self) -> u64 {
        self.left
    }

    fn step(&mut self) -> Result<(), Stop> {
        self.left = self
            .left
            .checked_sub(1)
            .ok_or_else(|| Stop::because("it takes more steps than are made for a proof"))?;
        Ok(())
    }

    /// The value of so many bits at a place; what is wider than the elements of an array is that of
    /// several.
    ///
    /// # Errors
    /// Why it is not known, or how counters must be cut.
    pub fn read(&mut self, space: Space, at: &Linear, width: u32) -> Result<Value, Stop> {
        self.step()?;
        self.data_allowed(space)?;
        let Some(bits) = self.element_bits(space, at, width)? else {
            return self.state.read(self.leaves, space, at, width);
        };
        if bits > width {
            let (element, low) = self.inside(at, bits)?;
            let value = self.state.read(self.leaves, space, &element, bits)?;
            return Ok(crate::state::part(self.leaves, &value, bits, low, width));
        }
        let mut parts = Vec::new();
        for low in (0..width).step_by(bits as usize) {
            let at = at.offset(i64::from(low))?;
            let value = self.state.read(self.leaves, space, &at, bits)?;
            parts.push(self.leaves.term(&value, bits));
        }
        parts.reverse();
        Ok(plain(b::concat(&parts)))
    }

    /// Bits of an element, when other than so many are moved; that all of these are of the array.
    fn element_bits(&self, space: Space, at: &Linear, width: u32) -> Result<Option<u32>, Stop> {
        let Space::Array(array) = space else {
            return Ok(None);
        };
        let known = &self.state.arrays[array as usize];
        let (low, high) = self.leaves.counters.range(at);
        let end = i128::from(known.elements) * i128::from(known.bits);
        if low < 0 || high + i128::from(width) > end {
            return Err(Stop::because(format!(
                "array {array} is touched outside of its elements"
            )));
        }
        Ok((known.bits != width).then_some(known.bits))
    }

    /// The element that a place is in, and how many bits into it.
    fn inside(&self, at: &Linear, bits: u32) -> Result<(Linear, u32), Stop> {
        let step = i64::from(bits);
        let (whole, left) =
            crate::region::divided(&self.leaves.counters, at, step, i128::from(bits) - 1)?;
        match left.as_constant().and_then(|n| u32::try_from(n).ok()) {
            Some(low) => Ok((whole.times(step)?, low)),
            None => Err(Stop::Cut(left.terms[0].0, 1)),
        }
    }

    /// Writes so many bits at a place.
    ///
    /// # Errors
    /// As [`Engine::read`].
    pub fn write(
        &mut self,
        space: Space,
        at: &Linear,
        width: u32,
        value: Value,
    ) -> Result<(), Stop> {
        self.step()?;
        self.data_allowed(space)?;
        self.followed(&value)?;
        // What they hold at first is what is read of them, for ever.
        if let Some(array) = self.state.fixed(space) {
            let reason = format!("array {array} is written, which is only to be read");
            return Err(Stop::because(reason));
        }
        let Some(bits) = self.element_bits(space, at, width)? else {
            self.put(space, Region::one(at.clone(), width, value));
            return Ok(());
        };
        if bits > width {
            return Err(Stop::because("less than an element is written"));
        }
        let term = self.leaves.term(&value, width);
        for low in (0..width).step_by(bits as usize) {
            let at = at.offset(i64::from(low))?;
            let value = plain(b::extract(term, low, bits));
            self.put(space, Region::one(at, bits, value));
        }
        Ok(())
    }

    pub(crate) fn put(&mut self, space: Space, region: Region) {
        self.state.write(self.leaves, space, region);
    }

    /// So many values that lie one behind the other become zeros.
    ///
    /// # Errors
    /// When there are too many steps.
    pub fn blank(&mut self, space: Space, count: i64, width: u32) -> Result<(), Stop> {
        self.step()?;
        self.data_allowed(space)?;
        let mut zeros = Region::one(Linear::default(), width, Value::number(0));
        if count > 1 {
            let counter = self.leaves.counters.fresh(count);
            let step = i64::from(width);
            zeros.dims.push(Dim { counter, step });
        }
        self.put(space, zeros);
        Ok(())
    }

    /// A place for numbers.
    pub fn place(&mut self, at: usize) -> Option<Value> {
        self.state.place(at)
    }

    /// A place for numbers gets a value.
    pub fn set_place(&mut self, at: usize, value: Value) {
        self.state.set_place(at, value);
    }

    /// An array is used by what works beside others, or the host; `beside` says which.
    ///
    /// # Errors
    /// When that is not in order with what was done before.
    pub fn uses(&mut self, array: u32, beside: bool, writes: bool) -> Result<(), Stop> {
        let how = match (beside, writes) {
            (true, false) => Use::Read,
            (true, true) => Use::Written,
            (false, false) => Use::HostRead,
            (false, true) => Use::HostWritten,
        };
        self.state.order.uses(array, how)
    }

    /// All that was done to memory is done.
    pub fn settle(&mut self) {
        self.state.settle();
    }

    /// Whether a counter is one of a loop that is being executed.
    pub(crate) fn is_open(&self, counter: Counter) -> bool {
        self.open.contains(&counter)
    }

    /// A loop of so many rounds.
    ///
    /// # Errors
    /// What is not known of it, or how counters of loops around must be cut.
    pub fn repeat(&mut self, rounds: i64, body: &mut Round<'_>) -> Result<(), Stop> {
        self.repeat_from(rounds, &Heads::default(), body)
    }

    /// A round from what is there, of which nothing stays: how numbers go on, the places of numbers that it
    /// wrote, and what it gives.
    pub(crate) fn trial<T>(
        &mut self,
        body: &mut dyn FnMut(&mut Engine<'_>) -> Result<T, Stop>,
    ) -> Result<(Heads, BTreeSet<usize>, T), Stop> {
        let before = self.state.mark();
        self.state.enter();
        self.state.order.enter();
        let given = body(self);
        let given = match given {
            Ok(given) => given,
            Err(stop) => {
                self.state.back(&before);
                return Err(stop);
            }
        };
        let left = self.state.leave();
        let none = self.leaves.counters.fresh(1);
        let heads = self.heads(none, &left, &before, &Heads::default());
        self.state.back(&before);
        Ok((heads?.unwrap_or_default(), left.written, given))
    }

    /// A loop of which something is known already.
    pub(crate) fn repeat_from(
        &mut self,
        rounds: i64,
        known: &Heads,
        body: &mut Round<'_>,
    ) -> Result<(), Stop> {
        let mut groups: Vec<Group> = vec![(0, rounds)];
        let mut cuts = 0;
        while let Some((first, count)) = groups.pop() {
            match count {
                ..=0 => continue,
                1 => {
                    body(self, &Linear::constant(first))?;
                    continue;
                }
                _ => {}
            }
            cuts += 1;
            if cuts > GROUPS {
                return Err(Stop::because(
                    "the rounds of a loop are too unlike each other",
                ));
            }
            let (mark, counter) = (
                self.state.mark(),
                self.leaves.counters.idle(For::Loop, count),
            );
            self.open.push(counter);
            let done = self.alike((counter, first), known, &mark, body);
            self.open.pop();
            self.leaves.counters.done(For::Loop, counter);
            let Err(stop) = done else { continue };
            self.state.back(&mark);
            match stop {
                Stop::Cut(cut, at) if cut == counter => {
                    groups.push((first + at, count - at));
                    groups.push((first, at));
                }
                Stop::Group(cut, size) if cut == counter => {
                    self.grouped((first, count), size, body)?;
                }
                Stop::Depends(of) if of == counter => self.one_by_one((first, count), body)?,
                Stop::Cut(..) | Stop::Group(..) | Stop::Depends(_) => return Err(stop),
                Stop::First(_) if count > FEW => {
                    groups.push((first + 1, count - 1));
                    groups.push((first, 1));
                }
                Stop::First(_) | Stop::Because(_) | Stop::Each if count <= FEW => {
                    for k in first..first + count {
                        body(self, &Linear::constant(k))?;
                    }
                }
                Stop::First(_) | Stop::Because(_) | Stop::Each => match self.loses(counter) {
                    Err(_) => self.one_by_one((first, count), body)?,
                    Ok(()) => return Err(stop),
                },
            }
        }
        Ok(())
    }

    /// Rounds, each by itself: a loop inside runs more or less often in each, or each goes on from the
    /// one before it in a way that has no formula.
    fn one_by_one(&mut self, (first, count): Group, body: &mut Round<'_>) -> Result<(), Stop> {
        if count > SINGLE {
            let reason = "a loop has too many rounds to execute each by itself";
            return Err(Stop::because(reason));
        }
        (first..first + count).try_for_each(|k| body(self, &Linear::constant(k)))
    }

    /// Rounds in groups of so many, and those that are left.
    fn grouped(
        &mut self,
        (first, count): Group,
        size: i64,
        body: &mut Round<'_>,
    ) -> Result<(), Stop> {
        self.repeat(count / size, &mut |engine, group| {
            let from = group.times(size)?.offset(first)?;
            engine.repeat(size, &mut |engine, k| body(engine, &from.plus(k)?))
        })?;
        let done = count / size * size;
        self.repeat(count - done, &mut |engine, k| {
            body(engine, &k.offset(first + done)?)
        })
    }

    /// The rounds of a counter, at once, from what is there.
    fn alike(
        &mut self,
        (counter, first): (Counter, i64),
        known: &Heads,
        before: &Mark,
        body: &mut Round<'_>,
    ) -> Result<(), Stop> {
        let round = Linear::counter(counter).offset(first)?;
        let mut heads = known.clone();
        loop {
            self.state.enter();
            self.state.order.enter();
            self.begin(counter, &heads)?;
            body(self, &round)?;
            self.state.order.leave()?;
            let left = self.state.leave();
            match self.induction(counter, left, before, &heads)? {
                Some(more) => {
                    self.state.back(before);
                    heads = more;
                }
                None => {
                    if let Some(trace) = &mut self.state.trace {
                        let rounds = self.leaves.counters.rounds(counter);
                        trace.in_loop(before.recorded(), counter, rounds);
                    }
                    return Ok(());
                }
            }
        }
    }
}
