//! What a program takes, without running all rounds of its loops.
//!
//! In: a program, what its scalar instructions do ([`Kind`]), and who counts ([`Meter`]). Out: what is
//! counted is what running every instruction gives. A loop is found when a branch goes back. Its rounds
//! repeat once the meter stands as it did two times before, all told from now on, the same way was taken
//! each time, and scalar registers moved on alike: then all that is compared moves on alike too, and it is
//! known for how many rounds every branch goes the same way. These are not run. What was loaded is taken
//! to be the same in all of them: programs are run so on memory that is zero.

use crate::program::MachineProgram;
use crate::run::{Done, Simulator, Stopped};
use semantics::bits::Bits;
use semantics::machine::{Machine, MachineInstruction, OperandKind};
use semantics::sort::Sort;
use semantics::subst::free_vars;

/// When a branch is taken, numbers with a sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    /// Both are equal, or are not.
    Equal,
    /// The first is less, or is not.
    Less,
}

/// What an instruction does to scalar registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// What it gives moves on by a constant when what it reads does.
    Linear,
    /// The product of two operands.
    Product(usize, usize),
    /// It goes elsewhere by how two operands are.
    Compare(When, usize, usize),
    /// Anything else.
    Other,
}

/// Who counts.
pub trait Meter {
    /// What was counted.
    type Mark: Clone;
    /// An instruction was done; gives what of the addresses decided what it took.
    fn next(&mut self, done: &Done<'_>) -> u64;
    /// All that decides how it goes on, told from now on.
    fn standing(&self) -> u64;
    /// What was counted so far.
    fn mark(&self) -> Self::Mark;
    /// What was done since a mark is done so many times more.
    fn again(&mut self, since: &Self::Mark, times: u64);
}

/// Scalar instructions of a machine: their file, and what each of the machine's instructions is.
#[derive(Clone, Debug)]
pub struct Scalars {
    /// The file of scalar registers.
    pub file: usize,
    /// By instruction.
    pub kinds: Vec<Kind>,
}

/// What decides whether rounds are alike, of one instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Seen {
    at: usize,
    jumps: bool,
    paid: u64,
    what: What,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    /// Numbers that must stay.
    Stays(i64, i64),
    /// Factors, one of which must stay.
    Product(i64, i64),
    /// What is compared.
    Compare(When, i64, i64),
}

/// What is remembered of the rounds of all open loops at most.
const MOST_SEEN: usize = 1 << 20;
/// Rounds of a loop that are remembered.
const MOST_ROUNDS: usize = 64;

/// The beginning of a round.
struct Round<M> {
    standing: u64,
    registers: Vec<Option<i64>>,
    mark: M,
    /// How much was seen before.
    seen: usize,
}

/// A loop that is being run.
struct Open<M> {
    head: usize,
    branch: usize,
    rounds: Vec<Round<M>>,
}

struct Walk<'w, 'm, M: Meter> {
    machine: &'m Machine,
    scalars: &'w Scalars,
    meter: &'w mut M,
    open: Vec<Open<M::Mark>>,
    seen: Vec<Seen>,
}

impl<M: Meter> Walk<'_, '_, M> {
    /// What an instruction reads, before it is done.
    fn reads(&self, simulator: &Simulator<'_>, instruction: usize, values: &[i64]) -> Option<What> {
        let of = |k: usize| scalar(simulator, self.scalars.file, values[k]).unwrap_or(0);
        match self.scalars.kinds[instruction] {
            Kind::Linear => None,
            Kind::Product(x, y) => Some(What::Product(of(x), of(y))),
            Kind::Compare(when, x, y) => Some(What::Compare(when, of(x), of(y))),
            Kind::Other => {
                let found = &self.machine.instructions[instruction];
                let own = |k: &usize, wanted: bool| match found.operands[*k].kind {
                    OperandKind::Register {
                        file,
                        read,
                        written,
                    } => file == self.scalars.file && if wanted { written } else { read },
                    OperandKind::Immediate { .. } => false,
                };
                let all = 0..found.operands.len();
                // What sets no scalar register decides nothing.
                all.clone().find(|k| own(k, true))?;
                let mut read = all.filter(|k| own(k, false)).map(of);
                let (x, y) = (read.next(), read.next());
                Some(What::Stays(x.unwrap_or(0), y.unwrap_or(0)))
            }
        }
    }

    /// What was done is looked at; whether rounds were left out.
    fn done(
        &mut self,
        simulator: &mut Simulator<'_>,
        (at, to): (usize, usize),
        what: Option<What>,
        paid: u64,
    ) {
        let jumps = to != at + 1;
        if self.open.is_empty() && to > at {
            return;
        }
        if what.is_some() || jumps || paid != 0 {
            let what = what.unwrap_or(What::Stays(0, 0));
            self.seen.push(Seen {
                at,
                jumps,
                paid,
                what,
            });
        }
        // What is left is no longer looked at.
        while let Some(open) = self.open.last()
            && !(open.head..=open.branch).contains(&to)
        {
            self.open.pop();
        }
        if to <= at && jumps {
            self.arrives(simulator, to, at);
        }
        if self.seen.len() > MOST_SEEN {
            self.seen.clear();
            self.open.clear();
        }
        if self.open.is_empty() {
            self.seen.clear();
        }
    }

    /// A branch has gone back to the head of a loop.
    fn arrives(&mut self, simulator: &mut Simulator<'_>, head: usize, branch: usize) {
        while let Some(open) = self.open.last()
            && (open.head, open.branch) != (head, branch)
            && open.head >= head
            && open.branch <= branch
        {
            self.open.pop();
        }
        let known = self.open.last().map(|o| (o.head, o.branch));
        if known != Some((head, branch)) {
            self.open.push(Open {
                head,
                branch,
                rounds: Vec::new(),
            });
        }
        let round = Round {
            standing: self.meter.standing(),
            registers: registers(simulator, self.machine, self.scalars.file),
            mark: self.meter.mark(),
            seen: self.seen.len(),
        };
        let open = self.open.last_mut().expect("it was pushed");
        if open.rounds.len() >= MOST_ROUNDS {
            open.rounds.clear();
        }
        open.rounds.push(round);
        if let Some((period, times)) = self.repeats() {
            let open = self.open.last_mut().expect("it is open");
            let mut rounds = std::mem::take(&mut open.rounds);
            let (now, then) = (rounds.pop(), rounds.swap_remove(rounds.len() - period));
            self.meter.again(&then.mark, times.unsigned_abs());
            let moves = now
                .iter()
                .flat_map(|now| now.registers.iter().zip(&then.registers));
            for (register, pair) in (0..).zip(moves) {
                if let (Some(is), Some(was)) = pair
                    && is != was
                {
                    let value = is + (is - was) * times;
                    let width = self.machine.files[self.scalars.file].width;
                    let bits = Bits::from_i128(width, i128::from(value));
                    simulator.set(self.scalars.file, register, bits);
                }
            }
            // That so many were left out is part of the way that rounds around take.
            self.seen.push(Seen {
                at: branch,
                jumps: true,
                paid: 0,
                what: What::Stays(times, -1),
            });
        }
    }

    fn last(&self) -> (&Open<M::Mark>, usize) {
        let open = self.open.last().expect("a loop is open");
        (open, open.rounds.len())
    }

    /// How many rounds make what repeats, and how often it does, if it does.
    fn repeats(&self) -> Option<(usize, i64)> {
        let (open, many) = self.last();
        let now = &open.rounds[many - 1];
        let earlier = open.rounds[..many - 1].iter();
        let at = earlier.rev().position(|r| r.standing == now.standing)?;
        let period = at + 1;
        let then = &open.rounds[many - 1 - period];
        let first = &open.rounds[(many - 1).checked_sub(2 * period)?];
        if first.standing != now.standing {
            return None;
        }
        let by = moved(&now.registers, &then.registers)?;
        if moved(&then.registers, &first.registers)? != by {
            return None;
        }
        let before = &self.seen[first.seen..then.seen];
        let after = &self.seen[then.seen..now.seen];
        let each = before.iter().zip(after).map(|(a, b)| lasts(a, b));
        let least = each.min().filter(|_| before.len() == after.len())?;
        (1..i64::MAX).contains(&least).then_some((period, least))
    }
}

/// How many more rounds go the way of two, by what was seen in them.
fn lasts(before: &Seen, after: &Seen) -> i64 {
    if (before.at, before.jumps, before.paid) != (after.at, after.jumps, after.paid) {
        return 0;
    }
    match (before.what, after.what) {
        (What::Stays(..), What::Stays(..)) if before.what == after.what => i64::MAX,
        (What::Product(a, b), What::Product(x, y)) if a == x || b == y => i64::MAX,
        (What::Compare(_, a, b), What::Compare(when, x, y)) => {
            let (was, is) = (a - b, x - y);
            stays(when, is, is - was)
        }
        _ => 0,
    }
}

/// For how many more rounds a difference that moves on so decides the same.
fn stays(when: When, is: i64, by: i64) -> i64 {
    match when {
        _ if by == 0 => i64::MAX,
        When::Equal if is == 0 => 0,
        When::Equal if is % by == 0 && is / by < 0 => -is / by - 1,
        When::Less if is < 0 && by > 0 => (-1 - is) / by,
        When::Less if is >= 0 && by < 0 => is / -by,
        _ => i64::MAX,
    }
}

/// By how much registers moved; none where one is known only once.
fn moved(now: &[Option<i64>], then: &[Option<i64>]) -> Option<Vec<i64>> {
    let each = now.iter().zip(then).map(|pair| match pair {
        (Some(a), Some(b)) => Some(a - b),
        (None, None) => Some(0),
        _ => None,
    });
    each.collect()
}

fn scalar(simulator: &Simulator<'_>, file: usize, register: i64) -> Option<i64> {
    let bits = simulator.get(file, u32::try_from(register).ok()?)?;
    Some(bits.sext(64.max(bits.width())).low_u64().cast_signed())
}

fn registers(simulator: &Simulator<'_>, machine: &Machine, file: usize) -> Vec<Option<i64>> {
    let all = 0..i64::from(machine.files[file].count);
    all.map(|k| scalar(simulator, file, k)).collect()
}

/// The registers that an instruction sets, where it does nothing else and touches no memory.
fn computes(found: &MachineInstruction, scalars: usize) -> Option<Vec<(usize, usize)>> {
    if found.procedure.is_some() {
        return None;
    }
    let outputs = found.instruction.outputs.iter();
    let set = outputs.map(|output| {
        let memory = free_vars(output.term).iter().any(|v| v.sort() == Sort::Mem);
        let operand = found.operand(&output.name).filter(|_| !memory)?;
        match found.operands[operand].kind {
            OperandKind::Register { file, .. } if file != scalars => Some((operand, file)),
            _ => None,
        }
    });
    set.collect()
}

/// Runs a program on a simulator, rounds that repeat left out; `more` is asked before each instruction
/// that is run, with how many were.
///
/// # Errors
/// When a rule of the machine is broken; how many were run when no more was wanted.
pub fn run<'m, M: Meter>(
    simulator: &mut Simulator<'m>,
    machine: &'m Machine,
    (program, scalars): (&MachineProgram, &Scalars),
    meter: &mut M,
    more: &mut dyn FnMut(u64) -> bool,
) -> Result<u64, Stopped> {
    let mut walk = Walk {
        machine,
        scalars,
        meter,
        open: Vec::new(),
        seen: Vec::new(),
    };
    let all = machine.instructions.iter();
    let computes: Vec<_> = all.map(|found| computes(found, scalars.file)).collect();
    simulator.begin(program);
    let mut steps = 0;
    while let Some(at) = simulator.next(program)? {
        if !more(steps) {
            return Err(Stopped::Steps(steps));
        }
        steps += 1;
        let placed = &program.code[at];
        let mut what = walk.reads(simulator, placed.instruction, &placed.values);
        let done = match &computes[placed.instruction] {
            Some(set) => {
                let registers = set.iter().map(|&(k, file)| (file, placed.values[k]));
                simulator.pass(at, registers)
            }
            None => simulator.advance(program, at)?,
        };
        let paid = walk.meter.next(&done);
        // What is loaded, not where from.
        let loads = !done.touched.is_empty();
        if loads && matches!(what, Some(What::Stays(..))) {
            let target = placed.values.first().copied().unwrap_or(0);
            let loaded = scalar(simulator, scalars.file, target).unwrap_or(0);
            what = Some(What::Stays(loaded, 0));
        }
        let to = simulator.position();
        walk.done(simulator, (at, to), what, paid);
    }
    Ok(steps)
}
