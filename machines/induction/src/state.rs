//! What all places hold while a program is executed for all rounds of its loops at once.
//!
//! In: reads and writes. Out: [`State`]: for each space its regions, the latest last; the places of
//! numbers that decide what is done. Inside of a loop that is looked at as a whole, data that the
//! present round has not written is what earlier ones carried, and the loop's end says what that was.

use crate::code::meaning::signed;
use crate::linear::Linear;
use crate::region::{Found, Region};
use crate::space::Space;
use crate::stop::Stop;
use crate::trace::Trace;
use crate::value::{Leaf, Leaves, Value};
use semantics::build as b;
use semantics::term::Term;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// An array in main memory.
#[derive(Clone, Debug)]
pub struct Array {
    /// Bits of an element.
    pub bits: u32,
    /// Elements.
    pub elements: i64,
    /// Whether it holds something at first.
    pub given: bool,
    /// Whether programs may write it.
    pub written: bool,
    /// Its bytes at first, where they are known.
    pub holds: Option<Vec<u8>>,
}

/// A loop that is looked at as a whole.
#[derive(Clone, Debug)]
struct Frame {
    number: u32,
    /// Regions from that time on are of the present round.
    start: u64,
    /// Places of numbers that were read before the present round wrote them, and those written.
    exposed: Log<usize>,
    written: Log<usize>,
    /// Places that were read, and that hold something only where it was written before the round.
    read: RefCell<Log<Bits>>,
}

impl Frame {
    /// How much each of its sets holds.
    fn size(&self) -> [usize; 3] {
        [
            self.exposed.order.len(),
            self.written.order.len(),
            self.read.borrow().order.len(),
        ]
    }

    /// What came in since it was of a size leaves it.
    fn back(&mut self, [exposed, written, read]: [usize; 3]) {
        self.exposed.back(exposed);
        self.written.back(written);
        self.read.get_mut().back(read);
    }
}

/// A set to whose former sizes one can return.
#[derive(Clone, Debug)]
struct Log<T> {
    set: BTreeSet<T>,
    order: Vec<T>,
}

impl<T: Ord + Clone> Log<T> {
    fn new() -> Log<T> {
        Log {
            set: BTreeSet::new(),
            order: Vec::new(),
        }
    }

    fn insert(&mut self, new: T) {
        if !self.set.contains(&new) {
            self.order.push(new.clone());
            self.set.insert(new);
        }
    }

    fn back(&mut self, size: usize) {
        for last in self.order.drain(size..) {
            self.set.remove(&last);
        }
    }
}

/// Places of numbers that the present round wrote on a way, which is one of several.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wrote {
    /// How many it had written before the ways parted.
    pub(crate) before: usize,
    /// Those written since.
    pub(crate) since: BTreeSet<usize>,
}

/// Bits: where, from which on, how many.
pub(crate) type Bits = (Space, Linear, u32);

/// What all places hold.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) arrays: Vec<Array>,
    pub(crate) spaces: BTreeMap<Space, Vec<Region>>,
    pub(crate) places: Vec<Option<Value>>,
    frames: Vec<Frame>,
    time: u64,
    /// What is known of writes on the way that is gone, where that is one of several.
    pub(crate) way: Option<Wrote>,
    /// What was read and written since memory was settled.
    pub(crate) order: Order,
    /// The commands that were performed, where these alone are wanted.
    pub(crate) trace: Option<Trace>,
}

/// What a round of a loop left.
#[derive(Debug)]
pub(crate) struct Left {
    pub(crate) frame: u32,
    pub(crate) regions: Vec<(Space, Region)>,
    /// Places of numbers that it read before it wrote them, and wrote.
    pub(crate) exposed: BTreeSet<usize>,
    pub(crate) written: BTreeSet<usize>,
    /// What it read that must have been written before.
    pub(crate) read: BTreeSet<Bits>,
}

/// A state to which execution can return; nothing older was changed since.
#[derive(Debug)]
pub(crate) struct Mark {
    time: u64,
    places: Vec<Option<Value>>,
    /// How much each loop's sets held.
    frames: Vec<[usize; 3]>,
    order: Order,
    recorded: usize,
}

impl Mark {
    /// How many commands, and loops of these, were recorded.
    pub(crate) fn recorded(&self) -> usize {
        self.recorded
    }

    pub(crate) fn place(&self, at: usize) -> Option<&Value> {
        self.places.get(at)?.as_ref()
    }
}

impl State {
    pub(crate) fn new(arrays: Vec<Array>, places: usize) -> State {
        State {
            arrays,
            spaces: BTreeMap::new(),
            places: vec![None; places],
            frames: Vec::new(),
            time: 0,
            way: None,
            order: Order::default(),
            trace: None,
        }
    }

    /// Begins a loop. Its number is how deep it is: what rounds of it carried is nowhere behind it, and
    /// what is executed again makes the same terms.
    pub(crate) fn enter(&mut self) -> u32 {
        let number = u32::try_from(self.frames.len()).map_or(u32::MAX, |n| n + 1);
        self.time += 1;
        self.frames.push(Frame {
            number,
            start: self.time,
            exposed: Log::new(),
            written: Log::new(),
            read: RefCell::new(Log::new()),
        });
        number
    }

    /// Ends it: what the round left is taken out.
    pub(crate) fn leave(&mut self) -> Left {
        let frame = self.frames.pop().expect("a loop was entered");
        let mut regions = Vec::new();
        for (space, all) in &mut self.spaces {
            let first = all.partition_point(|r| r.time < frame.start);
            regions.extend(all.drain(first..).map(|r| (*space, r)));
        }
        regions.sort_by_key(|r| r.1.time);
        let (exposed, written) = (frame.exposed.set, frame.written.set);
        if let Some(around) = self.frames.last_mut() {
            let new = exposed.difference(&around.written.set);
            new.for_each(|at| around.exposed.insert(*at));
            written.iter().for_each(|at| around.written.insert(*at));
        }
        Left {
            frame: frame.number,
            regions,
            exposed,
            written,
            read: frame.read.into_inner().set,
        }
    }

    /// The number of the loop that is looked at.
    pub(crate) fn frame(&self) -> u32 {
        self.frames.last().map_or(0, |f| f.number)
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark {
            time: self.time,
            places: self.places.clone(),
            frames: self.frames.iter().map(Frame::size).collect(),
            order: self.order.clone(),
            recorded: self.recorded(),
        }
    }

    /// How many commands, and loops of these, are recorded.
    pub(crate) fn recorded(&self) -> usize {
        self.trace.as_ref().map_or(0, Trace::len)
    }

    pub(crate) fn back(&mut self, mark: &Mark) {
        for all in self.spaces.values_mut() {
            let first = all.partition_point(|r| r.time <= mark.time);
            all.truncate(first);
        }
        self.places.clone_from(&mark.places);
        self.frames.truncate(mark.frames.len());
        for (frame, size) in self.frames.iter_mut().zip(&mark.frames) {
            frame.back(*size);
        }
        self.order.clone_from(&mark.order);
        if let Some(trace) = &mut self.trace {
            trace.back(mark.recorded);
        }
    }

    /// A number's place is read.
    pub(crate) fn place(&mut self, at: usize) -> Option<Value> {
        self.expose(at);
        self.places.get(at).cloned().flatten()
    }

    /// What a number's place holds on the present way matters: it may be what lay there before the round.
    pub(crate) fn expose(&mut self, at: usize) {
        let mut way = self.way.as_ref();
        for frame in self.frames.iter_mut().rev() {
            let written = match way.take() {
                // Another way may have written it.
                Some(way) => {
                    let before = &frame.written.order[..way.before.min(frame.written.order.len())];
                    way.since.contains(&at) || before.contains(&at)
                }
                None => frame.written.set.contains(&at),
            };
            if written {
                break;
            }
            frame.exposed.insert(at);
        }
    }

    /// How many places of numbers the present round has written.
    pub(crate) fn count_written(&self) -> usize {
        self.frames.last().map_or(0, |f| f.written.order.len())
    }

    pub(crate) fn set_place(&mut self, at: usize, value: Value) {
        if let Some(frame) = self.frames.last_mut() {
            frame.written.insert(at);
        }
        if let Some(way) = &mut self.way {
            way.since.insert(at);
        }
        self.places[at] = Some(value);
    }

    /// Whether an array can be written, so that it may hold something else than at first.
    pub(crate) fn fixed(&self, space: Space) -> Option<u32> {
        match space {
            Space::Array(n) => (!self.arrays[n as usize].written).then_some(n),
            _ => None,
        }
    }

    /// The value of so many bits at a place.
    pub(crate) fn read(
        &self,
        leaves: &mut Leaves,
        space: Space,
        at: &Linear,
        width: u32,
    ) -> Result<Value, Stop> {
        if let Space::Place(at) = space {
            let value = self.places.get(at as usize).cloned().flatten();
            return value.ok_or_else(|| Stop::First("a register was never set".to_owned()));
        }
        let start = self.frames.last().map(|f| (f.start, f.number));
        if let Some(array) = self.fixed(space) {
            return self.first(leaves, space, array, at, width);
        }
        let regions = self.spaces.get(&space).map_or(&[][..], Vec::as_slice);
        for region in regions.iter().rev() {
            if start.is_some_and(|s| region.time < s.0) {
                break;
            }
            if let Some(value) = found(leaves, region, at, width)? {
                return Ok(value);
            }
        }
        let held = self.holds_at_first(space);
        match start {
            Some((_, frame)) => {
                if !held {
                    self.passed((space, at.clone(), width));
                }
                let leaf = Leaf::Carried(frame, space, at.clone(), width);
                Ok(Value::Term(leaves.variable(leaf, width)))
            }
            None => match space {
                Space::Array(array) => self.first(leaves, space, array, at, width),
                _ => Err(Stop::First(format!("{space:?} was never written there"))),
            },
        }
    }

    /// Whether places that were never written hold something.
    fn holds_at_first(&self, space: Space) -> bool {
        match space {
            Space::Array(n) => self.arrays[n as usize].given,
            Space::Place(_) => true,
            _ => false,
        }
    }

    /// That bits were written, or, inside of a loop that is looked at, that they are before it.
    ///
    /// # Errors
    /// That they were not, or how counters must be cut.
    pub(crate) fn touch(
        &self,
        leaves: &Leaves,
        space: Space,
        at: &Linear,
        width: u32,
    ) -> Result<(), Stop> {
        let start = self.frames.last().map_or(0, |f| f.start);
        let regions = self.spaces.get(&space).map_or(&[][..], Vec::as_slice);
        for region in regions.iter().rev() {
            if region.time < start {
                break;
            }
            if let Found::There(..) = region.find(&leaves.counters, at, width)? {
                return Ok(());
            }
        }
        match self.passed((space, at.clone(), width)) {
            true => Ok(()),
            false => Err(Stop::First(format!("{space:?} was never written there"))),
        }
    }

    /// What must have been written before the round of the loop that is looked at, if there is one.
    fn passed(&self, bits: Bits) -> bool {
        let frame = self.frames.last();
        frame.is_some_and(|frame| {
            frame.read.borrow_mut().insert(bits);
            true
        })
    }

    /// What an array held at first.
    fn first(
        &self,
        leaves: &mut Leaves,
        space: Space,
        array: u32,
        at: &Linear,
        width: u32,
    ) -> Result<Value, Stop> {
        let known = &self.arrays[array as usize];
        if !known.given {
            return Err(Stop::First(format!("{space:?} was never written there")));
        }
        debug_assert_eq!(width, known.bits, "arrays are read element by element");
        let (index, left) = crate::region::divided(
            &leaves.counters,
            at,
            i64::from(known.bits),
            i128::from(known.bits) - 1,
        )?;
        if let (Some(bytes), Some(n)) = (&known.holds, index.as_constant()) {
            let size = usize::try_from(width / 8).unwrap_or(1);
            let from = usize::try_from(n)
                .unwrap_or(usize::MAX)
                .saturating_mul(size);
            if let Some(bytes) = bytes.get(from..from.saturating_add(size)) {
                let value = bytes
                    .iter()
                    .rev()
                    .fold(0_u64, |n, b| n << 8 | u64::from(*b));
                return Ok(Value::number(signed(value, width)));
            }
        }
        match left.as_constant() {
            Some(0) => Ok(Value::Term(leaves.element(array, index, width))),
            _ => Err(Stop::because("an address is between two elements")),
        }
    }

    /// Writes a region.
    pub(crate) fn write(&mut self, leaves: &mut Leaves, space: Space, mut region: Region) {
        self.time += 1;
        region.time = self.time;
        let start = self.frames.last().map_or(0, |f| f.start);
        let all = self.spaces.entry(space).or_default();
        let own = all.partition_point(|r| r.time < start);
        let mut at = own;
        while at < all.len() {
            match all[at].is_under(&region, leaves) {
                true => drop(all.remove(at)),
                false => at += 1,
            }
        }
        // With those that it goes on with, where nothing between hides anything.
        let mut at = all.len();
        while at > own.max(all.len().saturating_sub(NEAR)) {
            at -= 1;
            let pairs = at + 1 == all.len() && !matches!(space, Space::Place(_));
            let Some(joined) = joined(leaves, &all[at..], &region, pairs) else {
                continue;
            };
            all.remove(at);
            region = joined;
            region.time = self.time;
            at = all.len();
        }
        all.push(region);
    }

    /// All that was written may be read by all.
    pub(crate) fn settle(&mut self) {
        self.order.settle();
    }
}

/// How many regions back one is looked for that a new one goes on with.
const NEAR: usize = 12;

/// One region of the first of some and a new one, when one goes on where the other ends and none of
/// those between shares a place with it; `pairs` says whether any two may be one.
fn joined(leaves: &mut Leaves, known: &[Region], new: &Region, pairs: bool) -> Option<Region> {
    let first = &known[0];
    let joined = match first.with_next(new, leaves) {
        Ok(Some(joined)) => Some(joined),
        _ => new.with_next(first, leaves).ok()?,
    };
    let joined = match joined {
        None if pairs => first.paired(new, leaves).ok()?,
        joined => joined,
    }?;
    let hidden = |other: &Region| first.shares(&leaves.counters, other) != Ok(false);
    if known[1..].iter().chain([new]).any(hidden) {
        return None;
    }
    joined.tidied(leaves).ok()
}

/// The value of bits at a place, when they are in a region.
pub(crate) fn found(
    leaves: &mut Leaves,
    region: &Region,
    at: &Linear,
    width: u32,
) -> Result<Option<Value>, Stop> {
    let (replaced, low) = match region.find(&leaves.counters, at, width)? {
        Found::Apart => return Ok(None),
        Found::There(replaced, low) => (replaced, low),
    };
    let Some(value) = &region.value else {
        return Err(Stop::because("what a place holds is not known"));
    };
    let value = leaves.value_with(value, &replaced)?;
    Ok(Some(match width == region.width {
        true => value,
        false => part(leaves, &value, region.width, low, width),
    }))
}

/// Some bits of a value.
pub(crate) fn part(leaves: &mut Leaves, value: &Value, of: u32, low: u32, width: u32) -> Value {
    if let Value::Known(linear) = value
        && let Some(n) = linear.as_constant()
    {
        let bits = b::extract(Term::bv(of, i128::from(n)), low, width);
        return Value::Term(bits);
    }
    let term = leaves.term(value, of);
    Value::Term(b::extract(term, low, width))
}

/// What main memory was used for since it was settled, array by array.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Order {
    used: BTreeSet<(u32, Use)>,
    /// What was used before it was settled for the first time in the present round of each loop
    /// around, and whether it was.
    early: Vec<(BTreeSet<(u32, Use)>, bool)>,
}

/// A use of an array.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Use {
    /// By an instruction that works beside others.
    Read,
    /// As well.
    Written,
    /// By the host.
    HostRead,
    /// As well.
    HostWritten,
}

impl Order {
    fn settle(&mut self) {
        self.used.clear();
        for early in &mut self.early {
            early.1 = true;
        }
    }

    /// An array is used.
    ///
    /// # Errors
    /// When that is not in order with what was used before.
    pub(crate) fn uses(&mut self, array: u32, how: Use) -> Result<(), Stop> {
        if clashes(&self.used, array, how) {
            let reason = "memory is used twice since the last fence, and queues are not in order";
            return Err(Stop::because(reason));
        }
        if matches!(how, Use::Read | Use::Written) {
            self.used.insert((array, how));
        }
        for early in self.early.iter_mut().filter(|e| !e.1) {
            early.0.insert((array, how));
        }
        Ok(())
    }

    pub(crate) fn enter(&mut self) {
        self.early.push((BTreeSet::new(), false));
    }

    /// The end of a round: the next one begins with what was used at its end.
    ///
    /// # Errors
    /// As [`Order::uses`].
    pub(crate) fn leave(&mut self) -> Result<(), Stop> {
        let (early, _) = self.early.pop().unwrap_or_default();
        let mut early = early.into_iter();
        match early.any(|(array, how)| clashes(&self.used, array, how)) {
            true => Err(Stop::because(
                "memory is used in two rounds without a fence, and queues are not in order",
            )),
            false => Ok(()),
        }
    }
}

/// Whether a use is not in order with those before.
fn clashes(used: &BTreeSet<(u32, Use)>, array: u32, how: Use) -> bool {
    let was = |before| used.contains(&(array, before));
    match how {
        Use::Read | Use::HostRead => was(Use::Written),
        Use::Written => was(Use::Read),
        Use::HostWritten => was(Use::Read) || was(Use::Written),
    }
}
