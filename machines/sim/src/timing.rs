//! How long commands in loops take, without their data.
//!
//! In: a machine, commands with affine operands in loops ([`Part`]). Out: [`Taken`], the figures
//! that running every command one by one gives, or why they are not known this way.
//!
//! What a command does to queues follows from its operands and from configuration, and a variable
//! of a loop that only moves addresses in main memory changes nothing about it. So a loop whose
//! variable decides nothing is run until the machine stands as it did after an earlier round, all
//! times told from now on; from there on its rounds repeat, and what is left of them is added. A
//! variable that decides something, such as a row, takes each of its values.

use crate::accelerator::Fault;
use crate::accelerator::outline::{Effect, Outline, Stop};
use crate::accelerator::range::{DATA, Range};
use crate::accelerator::timeline::{Timeline, Touched};
use crate::run::{no_command, refused};
use semantics::diagnostic::Diagnostic;
use semantics::machine::Machine;
use std::collections::HashMap;

/// A part of a program of commands.
#[derive(Clone, Debug)]
pub enum Part {
    /// A loop from 0.
    Loop {
        /// Its variable.
        var: usize,
        /// How often it runs.
        count: i64,
        /// Instructions of the host before it, at the end of each round, behind it.
        host: [u64; 3],
        /// What it runs.
        body: Vec<Part>,
    },
    /// A command.
    Do {
        /// Its index in [`Machine::instructions`].
        instruction: usize,
        /// What its registers hold.
        operands: Vec<Affine>,
        /// Instructions of the host before it.
        host: u64,
    },
}

/// A constant, and multiples of variables of loops; sums wrap.
#[derive(Clone, Debug, Default)]
pub struct Affine {
    /// The constant.
    pub constant: i64,
    /// Variables with their factors.
    pub terms: Vec<(usize, i64)>,
}

/// What a program takes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Taken {
    /// Cycles until all is done.
    pub cycles: u64,
    /// Cycles for which each queue worked.
    pub busy: Vec<u64>,
    /// How often each of the machine's instructions ran as a command.
    pub commands: Vec<u64>,
    /// Instructions of the host, those that are commands among them.
    pub host: u64,
    /// Products of elements.
    pub products: u64,
    /// How many commands were looked at for it.
    pub steps: u64,
}

/// Why it is not known.
#[derive(Clone, Debug)]
pub enum Unknown {
    /// A command breaks a rule of the machine.
    Fault(Box<Diagnostic>),
    /// What is done depends on data.
    Data,
}

/// Variables that may stand for all of their values at once: their bits are below that of data.
const VARIABLES: usize = 63;

/// The most standings that a loop remembers.
const REMEMBERED: usize = 1024;

/// From how many on what was touched is looked through for what is done.
const MOST_RECENT: usize = 4096;

/// What a program with so many variables takes.
///
/// # Errors
/// A rule of the machine that is broken; that something depends on data.
pub fn taken(machine: &Machine, program: &[Part], variables: usize) -> Result<Taken, Unknown> {
    // Variables that take each of their values.
    let mut each = 0;
    let mut outline = Outline::new(machine);
    loop {
        outline.reset();
        let mut walk = Walk {
            machine,
            outline: &mut outline,
            timeline: Timeline::new(&machine.state),
            recent: Vec::new(),
            values: vec![Range::of(0); variables],
            each,
            waiting: 0,
            found: Taken {
                commands: vec![0; machine.instructions.len()],
                ..Taken::default()
            },
        };
        match walk.block(program) {
            Ok(()) => {
                let (cycles, busy) = (walk.timeline.cycles(), walk.timeline.busy());
                return Ok(Taken {
                    cycles,
                    busy,
                    ..walk.found
                });
            }
            Err(Ended::Fault(fault)) => return Err(Unknown::Fault(fault)),
            Err(Ended::Open(from)) if from & DATA == 0 && from & !each != 0 => each |= from,
            Err(Ended::Open(_)) => return Err(Unknown::Data),
        }
    }
}

/// Why a walk ended early.
enum Ended {
    Fault(Box<Diagnostic>),
    /// It depends on variables that stand for several values.
    Open(u64),
}

struct Walk<'w, 'm> {
    machine: &'m Machine,
    outline: &'w mut Outline<'m>,
    timeline: Timeline,
    /// What was touched by what is not done, and some of what is, with when it is.
    recent: Vec<(u64, Touched)>,
    values: Vec<Range>,
    each: u64,
    /// Instructions of the host since the last command.
    waiting: u64,
    found: Taken,
}

/// How far a walk was when a machine stood so: the cycle, and what was found.
struct Point {
    round: i64,
    now: u64,
    busy: Vec<u64>,
    found: Taken,
}

impl Walk<'_, '_> {
    fn block(&mut self, parts: &[Part]) -> Result<(), Ended> {
        for part in parts {
            match part {
                Part::Loop {
                    var,
                    count,
                    host: [before, end, behind],
                    body,
                } => {
                    self.waiting += before;
                    match *count == 1 || self.taken_each(*var) {
                        true => self.each(*var, *count, *end, body)?,
                        false => self.repeated(*var, *count, *end, body)?,
                    }
                    self.values[*var] = Range::of(0);
                    self.waiting += behind;
                }
                Part::Do {
                    instruction,
                    operands,
                    host,
                } => {
                    let operands: Vec<Range> = operands.iter().map(|a| self.value(a)).collect();
                    let host = std::mem::take(&mut self.waiting) + host;
                    self.command(*instruction, &operands, host)?;
                }
            }
        }
        Ok(())
    }

    fn taken_each(&self, var: usize) -> bool {
        var >= VARIABLES || self.each & (1 << var) != 0
    }

    fn value(&self, a: &Affine) -> Range {
        let terms = a.terms.iter().map(|&(v, f)| self.values[v].times(f));
        terms.fold(Range::of(a.constant), Range::plus)
    }

    /// A loop whose variable takes each of its values.
    fn each(&mut self, var: usize, count: i64, end: u64, body: &[Part]) -> Result<(), Ended> {
        for k in 0..count {
            self.values[var] = Range::of(k);
            self.block(body)?;
            self.waiting += end;
        }
        Ok(())
    }

    /// A loop whose variable decides nothing: once the machine stands as it did before, what is
    /// left follows.
    fn repeated(&mut self, var: usize, count: i64, end: u64, body: &[Part]) -> Result<(), Ended> {
        self.values[var] = Range::new(0, count - 1, 1 << var);
        let mut stood: HashMap<Vec<u64>, Point> = HashMap::new();
        let (mut round, mut searching) = (0, true);
        while round < count {
            self.block(body)?;
            self.waiting += end;
            round += 1;
            if !searching || round == count {
                continue;
            }
            let standing = self.standing();
            if let Some(point) = stood.get(&standing) {
                let times = (count - round) / (round - point.round);
                self.again(point, times.unsigned_abs());
                round += times * (round - point.round);
                searching = false;
            } else if stood.len() < REMEMBERED {
                let point = self.point(round);
                stood.insert(standing, point);
            }
        }
        Ok(())
    }

    /// All that decides what follows, told from now on.
    fn standing(&mut self) -> Vec<u64> {
        self.forget();
        let mut all = self.timeline.standing(&touched(&self.recent));
        all.push(self.waiting);
        for field in &self.outline.fields {
            match field {
                Some(r) => {
                    all.extend([1, r.low.cast_unsigned(), r.high.cast_unsigned(), r.from]);
                }
                None => all.push(0),
            }
        }
        all
    }

    fn point(&self, round: i64) -> Point {
        Point {
            round,
            now: self.timeline.now(),
            busy: self.timeline.busy(),
            found: self.found.clone(),
        }
    }

    /// What was done since a point is done so many times more.
    fn again(&mut self, since: &Point, times: u64) {
        let by = times * (self.timeline.now() - since.now);
        let busy = self.timeline.busy();
        let busy: Vec<u64> = busy
            .iter()
            .zip(&since.busy)
            .map(|(now, then)| times * (now - then))
            .collect();
        let recent = touched(&self.recent);
        self.timeline.goes_on(by, &busy, &recent);
        self.recent.iter_mut().for_each(|r| r.0 += by);
        let (now, then) = (&mut self.found, &since.found);
        now.host += times * (now.host - then.host);
        now.products += times * (now.products - then.products);
        for (now, then) in now.commands.iter_mut().zip(&then.commands) {
            *now += times * (*now - then);
        }
    }

    fn command(&mut self, at: usize, operands: &[Range], host: u64) -> Result<(), Ended> {
        let machine = self.machine;
        self.found.steps += 1;
        self.found.commands[at] += 1;
        self.found.host += host + 1;
        let reported = |fault: Fault| {
            let values = operands.iter().map(|o| o.low).collect::<Vec<_>>();
            Ended::Fault(refused(machine, at, &values, fault))
        };
        let Some(procedure) = machine.instructions[at].procedure else {
            return Err(reported(no_command()));
        };
        let issued = (host + 1).saturating_mul(machine.issue);
        self.timeline.issue(issued);
        let effects = match self.outline.perform(procedure, operands) {
            Ok(effects) => effects,
            Err(Stop::Fault(fault)) => return Err(reported(fault)),
            Err(Stop::Open(from)) => return Err(Ended::Open(from)),
        };
        self.found.products += effects.products;
        for effect in &effects.all {
            match effect {
                Effect::Touch(rows) => self.timeline.touch_all(rows),
                Effect::Spend(queue, cycles) => {
                    let first = self.recent.len();
                    let rows = self.timeline.touched().iter().map(|t| (0, *t));
                    self.recent.extend(rows);
                    let done = self.timeline.spend(*queue, *cycles);
                    self.recent[first..].iter_mut().for_each(|r| r.0 = done);
                }
                Effect::Settle => self.timeline.settle(),
                Effect::Field(..) => {}
            }
        }
        if self.recent.len() >= MOST_RECENT {
            self.forget();
        }
        Ok(())
    }

    /// What is done is no longer kept.
    fn forget(&mut self) {
        let now = self.timeline.now();
        self.recent.retain(|r| r.0 > now);
    }
}

fn touched(of: &[(u64, Touched)]) -> Vec<Touched> {
    of.iter().map(|r| r.1).collect()
}
