//! Tables: functions of one value of few bits, looked up in constants.
//!
//! In: a value of a lane that depends on one other value, which has few different ones. Out: an
//! operation that chooses lanes of its operands by numbers, with the constants that make it the
//! function; or the function made of two that are looked up ([`crate::tabulate`]). How an
//! operation chooses is read from its meaning: for each number the part of an operand that a
//! lane becomes.
//!
//! It proposes; what is chosen is claimed and proved like all else.

use super::Search;
use super::cover::{Choices, Expression, How, PARTS};
use crate::candidates::{Candidate, Candidates};
use crate::fragment::{constant_bits, lane_width, operands, replace_below};
use crate::lanes::signature_of;
use crate::matching::slot_of;
use crate::tabulate::{Function, functions};
use autoir::program::{Argument, Formal, Node, Value};
use semantics::bits::Bits;
use semantics::op::OpCode;
use semantics::sort::Sort;
use semantics::subst::{free_vars, rebuild};
use semantics::term::Term;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// A function that is written with so many values is looked up before other ways are tried.
const LONG: usize = 24;
/// A function is looked up where other ways cost more than this.
const CHEAP: u64 = 2;
/// Parts of a function are looked up where other ways cost more than this.
const MODERATE: u64 = 6;

/// An operation that looks a function up.
#[derive(Clone, Debug)]
pub(super) struct Lookup {
    pub(super) candidate: usize,
    /// The value that is looked up.
    pub(super) index: Term,
    /// What the other operands hold.
    pub(super) constants: BTreeMap<&'static str, Bits>,
}

/// What a lane becomes by a number: the bits of an operand from one on, or a constant.
#[derive(Clone, Copy)]
enum Entry {
    Part(&'static str, u32),
    Constant(u64),
}

/// An operation that chooses lanes.
pub(super) struct Chooser {
    candidate: usize,
    /// The operand with the numbers, and how far apart they stand.
    index: &'static str,
    stride: u32,
    /// By lane and number.
    entries: HashMap<(usize, u64), Option<Entry>>,
}

/// Operations that choose lanes, cheapest first, by the number of lanes, their width, and that of the
/// numbers.
pub(super) type Choosers = HashMap<[u32; 3], Rc<RefCell<Vec<Chooser>>>>;

impl Search<'_> {
    /// A value looked up, by the simplest of what it depends on: by one operation, and where it is
    /// written at length or costs much, by parts.
    pub(super) fn by_table(
        &mut self,
        e: &Expression,
        choices: &mut Choices,
        t: Term,
        known: Option<u64>,
    ) -> Option<(u64, How)> {
        let cheap = known.is_some_and(|cost| cost <= CHEAP * PARTS);
        if cheap || constant_bits(t).is_some() || !self.chooses(choices.lanes, lane_width(t)) {
            return None;
        }
        let functions = self.functions(t);
        let mut all = functions.iter();
        let best = all.find_map(|function| self.looked_up(e, choices, t, function));
        if best.is_some() || self.indexing || known.is_some_and(|cost| cost <= MODERATE * PARTS) {
            return best;
        }
        self.by_parts(e, choices, t, usize::MAX)
    }

    /// An expression of values that are looked up, each a variable in it: how they are written says
    /// nothing of it. What they are looked up by is simple, as it would be computed for each part; and it
    /// has fewer values than that of which they are parts.
    fn by_parts(
        &mut self,
        e: &Expression,
        choices: &mut Choices,
        t: Term,
        fewer_than: usize,
    ) -> Option<(u64, How)> {
        let functions = self.functions(t);
        let simple = functions.iter().filter(|f| f.is_simple());
        let fewest = simple.min_by_key(|f| f.values.len())?;
        let count = fewest.values.len();
        let whole = (count < fewer_than).then(|| fewest.parts())??;
        let mut names = HashMap::new();
        for part in operands(whole).filter(|part| part.sort() == t.sort()) {
            if constant_bits(part).is_some() || names.contains_key(&part) {
                continue;
            }
            let found = match choices.made.get(&part) {
                Some(made) => made.clone(),
                None => self.part_looked_up(e, choices, part, count),
            };
            found.as_ref()?;
            choices.made.insert(part, found);
            names.insert(part, choices.name(part));
        }
        let named = replace_below(whole, &mut names);
        choices.count(named);
        self.same(e, choices, named)
    }

    /// A part of a function: looked up by something simple, or by its own parts.
    fn part_looked_up(
        &mut self,
        e: &Expression,
        choices: &mut Choices,
        part: Term,
        fewer_than: usize,
    ) -> Option<(u64, How)> {
        let functions = self.functions(part);
        let mut simple = functions.iter().filter(|f| f.is_simple());
        let found = simple.find_map(|function| self.looked_up(e, choices, part, function));
        found.or_else(|| self.by_parts(e, choices, part, fewer_than))
    }

    /// The same for what is written at length, where other ways would take as long.
    pub(super) fn by_long_table(
        &mut self,
        e: &Expression,
        choices: &mut Choices,
        t: Term,
    ) -> Option<(u64, How)> {
        let long = self.chooses(choices.lanes, lane_width(t))
            && self.functions(t).iter().any(|f| f.length > LONG);
        long.then(|| self.by_table(e, choices, t, None))?
    }

    /// A value as a function of others, found once for all numbers of lanes.
    fn functions(&mut self, t: Term) -> Rc<Vec<Function>> {
        let known = self.memory.functions.entry(t);
        Rc::clone(known.or_insert_with(|| Rc::new(functions(t))))
    }

    /// Whether an operation chooses lanes of that width at all.
    fn chooses(&mut self, lanes: u32, width: u32) -> bool {
        !self.choosers(lanes, width, width).borrow().is_empty()
    }

    /// One operation that looks a function up.
    fn looked_up(
        &mut self,
        e: &Expression,
        choices: &mut Choices,
        t: Term,
        function: &Function,
    ) -> Option<(u64, How)> {
        let choosers = self.choosers(choices.lanes, lane_width(t), lane_width(function.index));
        let list = &self.candidates.list;
        let solve = |chooser: &mut Chooser| {
            let c = &list[chooser.candidate];
            let constants = chooser.solve(c, lane_width(t), choices.lanes, function.entries())?;
            Some((chooser.candidate, constants))
        };
        let (candidate, constants) = choosers.borrow_mut().iter_mut().find_map(solve)?;
        let own = u64::from(list[candidate].cost + self.processor().constant) * PARTS;
        let lookup = Lookup {
            candidate,
            index: function.index,
            constants,
        };
        let outer = std::mem::replace(&mut self.indexing, true);
        let flow = self.choose(e, choices, function.index);
        self.indexing = outer;
        Some((own + flow?, How::Table(lookup)))
    }

    /// The operations that choose lanes of such registers, found once.
    fn choosers(&mut self, lanes: u32, width: u32, index: u32) -> Rc<RefCell<Vec<Chooser>>> {
        let key = [lanes, width, index];
        if let Some(done) = self.choosers.get(&key) {
            return Rc::clone(done);
        }
        let widths = &self.candidates.widths;
        let list = self.candidates.by_width(widths.of_lanes(lanes, width));
        let found = list
            .iter()
            .filter_map(|&k| chooser(self.candidates, k, key));
        let made = Rc::new(RefCell::new(found.collect()));
        self.choosers.insert(key, Rc::clone(&made));
        made
    }

    /// Looks a value up in constants.
    pub(super) fn place_lookup(&mut self, lookup: &Lookup, index: Value) -> Value {
        let instance = &self.candidates.list[lookup.candidate].instance;
        let mut args = Vec::new();
        for o in &instance.formals {
            let held = lookup.constants.get(o.name.as_str());
            args.push(match held {
                Some(bits) if o.role.is_constant() => Argument::Immediate(bits.clone()),
                Some(bits) => Argument::Value(self.graph.add(Node::Constant(bits.clone()))),
                None => Argument::Value(self.seen(index, o.width)),
            });
        }
        let operation = lookup.candidate;
        self.graph.add(Node::Apply { operation, args })
    }
}

/// The operands by which, and from which, an operation chooses; nothing where it does something
/// else.
fn chooser(candidates: &Candidates, k: usize, [lanes, width, stride]: [u32; 3]) -> Option<Chooser> {
    let c = &candidates.list[k];
    let formals = &c.instance.formals;
    let plain = !c.masked() && c.constants() == 0 && matches!(formals.len(), 2 | 3);
    let numbers = signature_of(OpCode::Elem) | signature_of(OpCode::BvToInt);
    if !plain || c.natural != width || c.signature() & numbers == 0 {
        return None;
    }
    let mut names: Vec<&'static str> = Vec::new();
    let mut work = vec![c.element(width, 0)];
    while let Some(t) = work.pop() {
        match t.args_of(OpCode::Elem).or(t.args_of(OpCode::Extract)) {
            Some(&[_, at]) if at.as_int().is_none() => {
                names.extend(free_vars(at).iter().filter_map(|v| v.as_var()));
            }
            _ => work.extend(t.children()),
        }
    }
    names.sort_unstable();
    names.dedup();
    let &[index] = &names[..] else { return None };
    (c.operand(index)?.width == candidates.widths.of_lanes(lanes, stride)).then(|| Chooser {
        candidate: k,
        index,
        stride,
        entries: HashMap::new(),
    })
}

/// An operand's name, as terms have it.
pub(super) fn named(o: &Formal) -> Option<&'static str> {
    Term::var(&o.name, Sort::Bv(o.width)).as_var()
}

impl Chooser {
    /// What the other operands have to hold so that every lane looks the function up.
    fn solve(
        &mut self,
        c: &Candidate,
        width: u32,
        lanes: u32,
        function: &[(u64, u64)],
    ) -> Option<BTreeMap<&'static str, Bits>> {
        if function.is_empty() {
            return None;
        }
        let mut held: BTreeMap<(&'static str, u32), u64> = BTreeMap::new();
        for lane in 0..lanes as usize {
            for &(number, wanted) in function {
                let found = match self.entry(c, width, lane, number)? {
                    Entry::Constant(found) => found,
                    Entry::Part(name, lo) => *held.entry((name, lo)).or_insert(wanted),
                };
                if found != wanted {
                    return None;
                }
            }
        }
        let mut constants = BTreeMap::new();
        for o in c.instance.formals.iter().filter(|o| o.name != self.index) {
            constants.insert(named(o)?, Bits::zero(o.width));
        }
        for ((name, lo), value) in held {
            let whole = constants.get_mut(name)?;
            *whole = whole.insert(lo, &Bits::from_u64(width, value));
        }
        Some(constants)
    }

    /// What a lane becomes by a number.
    fn entry(&mut self, c: &Candidate, width: u32, lane: usize, number: u64) -> Option<Entry> {
        let (index, stride) = (self.index, self.stride);
        *self.entries.entry((lane, number)).or_insert_with(|| {
            let lane = u32::try_from(lane)
                .ok()
                .filter(|k| (k + 1) * width <= c.width)?;
            let (element, first) = (c.element(width, lane), lane * stride);
            let number = Bits::from_u64(stride, number);
            let chosen = numbered(element, index, (first, &number), &mut HashMap::new())?;
            match (chosen.as_bits(), slot_of(chosen)) {
                (Some(bits), _) => Some(Entry::Constant(bits.to_u64()?)),
                (None, Some(slot)) if slot.operand != index => {
                    Some(Entry::Part(slot.operand, slot.lo))
                }
                _ => None,
            }
        })
    }
}

/// A term with a number in the place of one lane of an operand; nothing where it reads another.
fn numbered(
    t: Term,
    index: &str,
    (first, number): (u32, &Bits),
    memo: &mut HashMap<Term, Option<Term>>,
) -> Option<Term> {
    if let Some(&done) = memo.get(&t) {
        return done;
    }
    let done = match slot_of(t) {
        Some(slot) if slot.operand == index => {
            let inside = slot.lo >= first && slot.lo + slot.width <= first + number.width();
            inside.then(|| Term::bits(number.extract(slot.lo - first, slot.width)))
        }
        Some(_) => Some(t),
        None => {
            let mut read = true;
            let new = rebuild(t, |child, _| {
                let new = numbered(child, index, (first, number), memo);
                read &= new.is_some();
                new.unwrap_or(child)
            });
            read.then_some(new)
        }
    };
    memo.insert(t, done);
    done
}
