//! Machine code as statements of an engine.
//!
//! In: instructions with the values of their operands, as they stand in memory, and their meanings.
//! Out: what they do to registers, tiles and memory. Loops are found from branches that go back; how
//! often one runs follows from what its registers are at the end of a round. A branch forward on data
//! makes both ways, and what they leave is chosen by the condition. Numbers in registers that are
//! functions of counters stay such: addresses are.

pub(crate) mod meaning;
mod tiles;

use crate::choice::chosen;
use crate::engine::Engine;
use crate::induction::{Head, Heads};
use crate::linear::Linear;
use crate::procedure::Procedures;
use crate::state::Wrote;
use crate::stop::Stop;
use crate::value::Value;
use meaning::Meaning;
use semantics::build as b;
use semantics::machine::{Machine, OperandKind};
use semantics::op::OpCode;
use semantics::subst::free_vars;
use semantics::term::Term;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

/// An instruction: its index in [`Machine::instructions`], and the values of its operands.
pub type Word = (usize, Vec<i64>);

/// Machine code that is executed.
#[derive(Debug)]
pub struct Code<'m> {
    pub(crate) machine: &'m Machine,
    code: &'m [Word],
    /// The branches that go back to an instruction, in order.
    loops: BTreeMap<usize, Vec<usize>>,
    /// The first place of registers that hold numbers.
    registers: usize,
    /// Whether uses of memory are in order with what works beside the host.
    beside: bool,
    /// How numbers went on in loops and which were written, by the first instruction: what is tried first the
    /// next time.
    seen: RefCell<BTreeMap<usize, (Heads, BTreeSet<usize>)>>,
    /// Whether numbers alone are followed: what tiles and memory hold is not computed.
    glancing: Cell<bool>,
}

/// The places of a machine's configuration, and behind these of its registers.
pub fn places(machine: &Machine) -> usize {
    let registers: u32 = machine.files.iter().map(|f| f.count).sum();
    machine.state.field_count() + registers as usize
}

/// Ways that execution goes at once, by the instruction that is next.
type Ways = BTreeMap<usize, Vec<Way>>;

/// A way: under which condition it is gone, and what registers hold on it.
#[derive(Clone, Debug)]
struct Way {
    condition: Term,
    places: Vec<Option<Value>>,
    /// Those written since it parted from others.
    written: BTreeSet<usize>,
}

/// Where an instruction goes.
enum Next {
    To(usize),
    /// Where a condition holds, and where it does not.
    Either(Term, usize, usize),
}

/// Instructions that one forward piece runs at most.
const MOST: usize = 1 << 16;

impl<'m> Code<'m> {
    /// Code of a machine, whose numbers lie as [`places`] says.
    pub fn new(machine: &'m Machine, code: &'m [Word], beside: bool) -> Code<'m> {
        let mut new = Code {
            machine,
            code,
            loops: BTreeMap::new(),
            registers: machine.state.field_count(),
            beside,
            seen: RefCell::default(),
            glancing: Cell::new(false),
        };
        for branch in 0..code.len() {
            if let Some(first) = new.back(branch) {
                new.loops.entry(first).or_default().push(branch);
            }
        }
        new
    }

    /// The place of a register that holds a number.
    pub fn register(&self, file: usize, number: u32) -> usize {
        let before: u32 = self.machine.files[..file].iter().map(|f| f.count).sum();
        self.registers + (before + number) as usize
    }

    /// Runs all of it.
    ///
    /// # Errors
    /// What is not known of it.
    pub fn run(&self, engine: &mut Engine<'_>) -> Result<(), Stop> {
        self.piece((0, self.code.len()), None, engine)
    }

    /// The instruction that a branch at a place goes back to.
    fn back(&self, at: usize) -> Option<usize> {
        self.target(at).filter(|to| *to <= at)
    }

    /// The instruction behind it that a branch at a place goes to.
    fn ahead(&self, at: usize) -> Option<usize> {
        self.target(at).filter(|to| *to > at)
    }

    /// The instruction that a branch at a place goes to.
    fn target(&self, at: usize) -> Option<usize> {
        let (k, values) = &self.code[at];
        let operands = self.machine.instructions[*k].operands.iter().zip(values);
        let word = i64::from(self.machine.word).max(1);
        let target = operands.clone().find_map(|(o, v)| match o.kind {
            OperandKind::Immediate { target: true, .. } => Some(v / word),
            _ => None,
        })?;
        let to = i64::try_from(at).ok()?.checked_add(target)?;
        usize::try_from(to).ok()
    }

    /// The last branch that goes back to an instruction, before an end.
    fn loop_at(&self, at: usize, end: usize) -> Option<usize> {
        let all = self.loops.get(&at)?;
        all.iter().rev().find(|k| **k < end).copied()
    }

    /// Instructions from one on up to an end; those of a loop around have begun at `inside`.
    fn piece(
        &self,
        (from, end): (usize, usize),
        inside: Option<usize>,
        engine: &mut Engine<'_>,
    ) -> Result<(), Stop> {
        // How many places the round had written where there was one way.
        let mut before = 0;
        // The instruction that is next where there is one way, and otherwise all ways.
        let (mut next, mut ways) = (Some(from), Ways::new());
        let mut count = 0;
        loop {
            let (at, condition) = match (next.take(), ways.pop_first()) {
                (Some(at), _) => (at, None),
                (None, Some((at, here))) => (at, self.met(here, (before, &ways), engine)?),
                (None, None) => return Ok(()),
            };
            let alone = condition.is_none();
            count += 1;
            if count > MOST {
                return Err(Stop::because("too many instructions follow each other"));
            }
            if at >= end {
                return match alone && at == end {
                    true => Ok(()),
                    false => Err(Stop::because("a branch goes out of a loop")),
                };
            }
            let to = match self.loop_at(at, end).filter(|_| inside != Some(at)) {
                Some(last) if alone => {
                    self.in_loop((at, last), engine)?;
                    Next::To(last + 1)
                }
                Some(_) => return Err(Stop::because("a loop runs as data say")),
                None => self.instruction(at, alone, engine)?,
            };
            if alone {
                before = engine.state.count_written();
            }
            match to {
                Next::To(to) if alone && to > at => next = Some(to),
                to => {
                    let condition = condition.unwrap_or(Term::bool(true));
                    self.goes_on(&mut ways, at, (condition, to), engine)?;
                }
            }
        }
    }

    /// The condition under which ways that meet are gone; none where there is no other one.
    fn met(
        &self,
        here: Vec<Way>,
        (before, others): (usize, &Ways),
        engine: &mut Engine<'_>,
    ) -> Result<Option<Term>, Stop> {
        let (condition, since) = self.joined(here, before, engine)?;
        let alone = others.is_empty();
        engine.state.way = (!alone).then_some(Wrote { before, since });
        Ok((!alone).then_some(condition))
    }

    /// Ways that meet, as one: each place holds what it holds on the way that is gone.
    fn joined(
        &self,
        here: Vec<Way>,
        before: usize,
        engine: &mut Engine<'_>,
    ) -> Result<(Term, BTreeSet<usize>), Stop> {
        let mut all = here.into_iter();
        let Some(first) = all.next() else {
            return Err(Stop::because("no way leads to an instruction"));
        };
        let mut now = first;
        for other in all {
            now.written.retain(|at| other.written.contains(at));
            let since = now.written.clone();
            engine.state.way = Some(Wrote { before, since });
            for (at, held) in now.places.iter_mut().enumerate() {
                let there = &other.places[at];
                if held == there {
                    continue;
                }
                engine.state.expose(at);
                *held = match (&*held, there) {
                    (Some(x), Some(y)) => {
                        let width = self.width_of(at);
                        let (x, y) = (engine.leaves.term(x, width), engine.leaves.term(y, width));
                        Some(Value::Term(chosen(now.condition, x, y)))
                    }
                    _ => None,
                };
            }
            now.condition = b::either(now.condition, other.condition);
        }
        engine.state.places = now.places;
        Ok((now.condition, now.written))
    }

    /// Bits of the register at a place.
    fn width_of(&self, at: usize) -> u32 {
        let mut first = self.registers;
        for file in &self.machine.files {
            let end = first + file.count as usize;
            if (first..end).contains(&at) {
                return file.width;
            }
            first = end;
        }
        64
    }

    fn goes_on(
        &self,
        ways: &mut Ways,
        at: usize,
        (condition, next): (Term, Next),
        engine: &Engine<'_>,
    ) -> Result<(), Stop> {
        let (places, way) = (&engine.state.places, &engine.state.way);
        let written = way.as_ref().map(|w| w.since.clone()).unwrap_or_default();
        let mut add = |to: usize, condition: Term| {
            if to <= at {
                return Err(Stop::because("a branch goes back where no loop is"));
            }
            let (places, written) = (places.clone(), written.clone());
            let way = Way {
                condition,
                places,
                written,
            };
            ways.entry(to).or_default().push(way);
            Ok(())
        };
        match next {
            Next::To(to) => add(to, condition),
            Next::Either(holds, yes, no) => {
                add(yes, b::both(condition, holds))?;
                add(no, b::both(condition, b::negate(holds)))
            }
        }
    }

    /// One instruction, and where it goes.
    fn instruction(&self, at: usize, alone: bool, engine: &mut Engine<'_>) -> Result<Next, Stop> {
        let (k, values) = &self.code[at];
        let found = &self.machine.instructions[*k];
        if found.procedure.is_some() {
            if !alone {
                return Err(Stop::because("a command runs as data say"));
            }
            // It changes no number that the host has.
            if self.glancing.get() {
                return Ok(Next::To(at + 1));
            }
            let meaning = Meaning::new(self, at, found, values);
            let operands = (0..found.operands.len()).map(|o| meaning.number(o, engine));
            let operands = operands.collect::<Result<Vec<_>, _>>()?;
            Procedures::new(self.machine, 0).run(*k, operands, engine)?;
            return Ok(Next::To(at + 1));
        }
        let meaning = Meaning::new(self, at, found, values);
        if self.glancing.get() {
            return meaning.glanced(engine);
        }
        meaning.required(engine)?;
        meaning.done(alone, engine)
    }

    /// Whether the host's uses of memory are looked at.
    pub(crate) fn beside(&self) -> bool {
        self.beside
    }

    /// The branch that decides whether a loop goes on, whose last instruction goes back: that, or one
    /// before it that goes over it.
    fn decides(&self, last: usize) -> usize {
        let before = last
            .checked_sub(1)
            .filter(|k| self.ahead(*k) == Some(last + 1));
        match before {
            Some(before) if self.compared(last).is_none() => before,
            _ => last,
        }
    }

    /// A loop from its first instruction to the branch that goes back to it.
    fn in_loop(&self, (first, last): (usize, usize), engine: &mut Engine<'_>) -> Result<(), Stop> {
        let last = self.decides(last);
        let body = |engine: &mut Engine<'_>| -> Result<Linear, Stop> {
            self.piece((first, last), Some(first), engine)?;
            self.left(last, engine)
        };
        let seen = self.seen.borrow().get(&first).cloned();
        if let Some((heads, written)) = seen
            && let Some(apart) = self.expected(last, (&heads, &written), engine)
            && self.tried((last, &heads), &apart, engine, &body)?
        {
            return Ok(());
        }
        // How numbers go on is mostly seen from numbers; what that gives is checked like anything else.
        if !self.glancing.get() {
            self.glancing.set(true);
            let glance = engine.trial(&mut |engine| body(engine));
            self.glancing.set(false);
            if let Ok((heads, written, apart)) = glance {
                let seen = (heads.clone(), written);
                self.seen.borrow_mut().insert(first, seen);
                if self.tried((last, &heads), &apart, engine, &body)? {
                    return Ok(());
                }
            }
        }
        let (heads, written, apart) = engine.trial(&mut |engine| body(engine))?;
        let seen = (heads.clone(), written);
        self.seen.borrow_mut().insert(first, seen);
        self.rounds((last, &heads), &apart, engine, &body)
    }

    /// All rounds of a loop, if what is taken to hold at its head turns out to, else nothing is done;
    /// whether it does.
    fn tried(
        &self,
        (last, heads): (usize, &Heads),
        apart: &Linear,
        engine: &mut Engine<'_>,
        body: &dyn Fn(&mut Engine<'_>) -> Result<Linear, Stop>,
    ) -> Result<bool, Stop> {
        // A copy: what was written before may be joined with what is written here.
        let (before, lost) = (engine.state.clone(), engine.lost());
        match self.rounds((last, heads), apart, engine, body) {
            // What was taken to hold may be what makes it depend on another loop.
            Err(Stop::Because(_) | Stop::First(_) | Stop::Depends(_)) => {
                engine.state = before;
                engine.forgets(lost);
                Ok(false)
            }
            done => done.map(|()| true),
        }
    }

    /// All rounds of a loop, at the end of whose first one side of its condition is more than the other
    /// by `apart`.
    fn rounds(
        &self,
        (last, heads): (usize, &Heads),
        apart: &Linear,
        engine: &mut Engine<'_>,
        body: &dyn Fn(&mut Engine<'_>) -> Result<Linear, Stop>,
    ) -> Result<(), Stop> {
        let moves = self.moves(last, heads)?;
        let (condition, ..) = self.condition(last)?;
        let rounds = rounds(condition, apart, moves)?;
        engine.repeat_from(rounds, heads, &mut |engine, k| {
            let now = body(engine)?;
            // What the number of rounds was found from.
            match now == apart.plus(&k.times(moves)?)? {
                true => Ok(()),
                false => Err(Stop::because("how often a loop runs is not known")),
            }
        })
    }

    /// What `apart` will be, if numbers go on as is said and what does not stays what it is.
    fn expected(
        &self,
        last: usize,
        (heads, written): (&Heads, &BTreeSet<usize>),
        engine: &Engine<'_>,
    ) -> Option<Linear> {
        let (_, x, y) = self.condition(last).ok()?;
        let (k, values) = &self.code[last];
        let meaning = Meaning::new(self, last, &self.machine.instructions[*k], values);
        let side = |t: Term| {
            let at = meaning.place_of(t)?;
            // What a round sets anew is not what lies there before.
            if written.contains(&at) && !matches!(heads.get(&at), Some(Head::Moves(_))) {
                return None;
            }
            let Some(Some(Value::Known(now))) = engine.state.places.get(at) else {
                return None;
            };
            now.offset(crate::induction::moved(heads, at)).ok()
        };
        side(y)?.minus(&side(x)?).ok()
    }

    /// What a branch asks, and whether it is taken when that holds; none where it always is.
    fn compared(&self, at: usize) -> Option<(Term, bool)> {
        let found = &self.machine.instructions[self.code[at].0];
        let output = found.instruction.outputs.iter().find(|o| o.name == "pc");
        let &[condition, yes, _] = output.and_then(|o| o.term.args_of(OpCode::Ite))? else {
            return None;
        };
        let distance = found.operands.iter().find(|o| {
            let kind = &o.kind;
            matches!(kind, OperandKind::Immediate { target: true, .. })
        })?;
        let goes = free_vars(yes)
            .iter()
            .any(|v| v.as_var() == Some(distance.name.as_str()));
        Some((condition, goes))
    }

    /// The condition under which a loop goes on, and what it compares.
    fn condition(&self, at: usize) -> Result<(Goes, Term, Term), Stop> {
        let Some((mut condition, taken)) = self.compared(at) else {
            return Err(Stop::because("a loop has no condition"));
        };
        // A branch that goes ahead leaves the loop.
        let mut holds = taken == self.back(at).is_some();
        while let Some([inner]) = condition.args_of(OpCode::Not) {
            (condition, holds) = (*inner, !holds);
        }
        let pair = |code| condition.args_of(code).map(|a| (a[0], a[1]));
        let found = if let Some((x, y)) = pair(OpCode::BvSlt) {
            match holds {
                true => (Goes::Below, x, y),
                false => (Goes::AtMost, y, x),
            }
        } else if let Some((x, y)) = pair(OpCode::BvSle) {
            match holds {
                true => (Goes::AtMost, x, y),
                false => (Goes::Below, y, x),
            }
        } else if let Some((x, y)) = pair(OpCode::Eq) {
            match holds {
                true => return Err(Stop::because("a loop runs while two numbers are equal")),
                false => (Goes::Unlike, x, y),
            }
        } else {
            return Err(Stop::because("the condition of a loop is not followed"));
        };
        Ok(found)
    }

    /// By how much the second side of the condition at the end of a loop is more than the first.
    fn left(&self, last: usize, engine: &mut Engine<'_>) -> Result<Linear, Stop> {
        let (_, x, y) = self.condition(last)?;
        let (k, values) = &self.code[last];
        let found = &self.machine.instructions[*k];
        let meaning = Meaning::new(self, last, found, values);
        let (x, y) = (meaning.known(x, engine)?, meaning.known(y, engine)?);
        let half = i128::from(self.machine.address) - 1;
        for side in [&x, &y] {
            let (low, high) = engine.leaves.counters.range(side);
            if side.base.is_some() || low < -(1 << half) || high >= 1 << half {
                return Err(Stop::because("what a loop compares may wrap"));
            }
        }
        y.minus(&x)
    }

    /// By how much that goes on from round to round.
    fn moves(&self, last: usize, heads: &Heads) -> Result<i64, Stop> {
        let (_, x, y) = self.condition(last)?;
        let (k, values) = &self.code[last];
        let found = &self.machine.instructions[*k];
        let meaning = Meaning::new(self, last, found, values);
        let by = |t: Term| {
            meaning
                .place_of(t)
                .map_or(0, |at| crate::induction::moved(heads, at))
        };
        Ok(by(y) - by(x))
    }
}

/// When a branch goes back: how two numbers are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Goes {
    Below,
    AtMost,
    Unlike,
}

/// How often a loop runs: at least once, and on while its condition holds at the end of a round, where
/// one side is more than the other by `apart`, and each round by `moves` more.
fn rounds(goes: Goes, apart: &Linear, moves: i64) -> Result<i64, Stop> {
    let unknown = || Stop::because("how often a loop runs is not known");
    let apart = apart.as_constant().ok_or_else(|| Stop::depends(apart))?;
    // The first round, from 0, at whose end it does not go on.
    let last = match goes {
        Goes::Below if apart <= 0 => 0,
        Goes::AtMost if apart < 0 => 0,
        Goes::Unlike if apart == 0 => 0,
        Goes::Below if moves < 0 => (apart - moves - 1) / -moves,
        Goes::AtMost if moves < 0 => apart / -moves + 1,
        Goes::Unlike if moves != 0 && apart % moves == 0 && apart / moves < 0 => -(apart / moves),
        _ => return Err(unknown()),
    };
    last.checked_add(1).ok_or_else(unknown)
}

#[cfg(test)]
mod tests;
