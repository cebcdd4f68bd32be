//! How long a program for tiles takes, without running all rounds of its loops.
//!
//! In: a machine, a function. Out: its cycles in the machine's model, on data that are all zero, which
//! decide nothing but branches of the host.

use semantics::machine::Machine;
use sim::memory::Memory;
use sim::program::{MachineProgram, Setting};
use sim::rounds::{Kind, Meter, Scalars, When, run};
use sim::run::{Done, Simulator};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Instant;
use tile::cost::{Clock, Cycles};
use tile::host::{Binary, Branch, Host};
use tile::program::Function;

/// Instructions from one look at the clock to the next.
const LOOKS: u64 = 1 << 12;

/// A clock that is told what a program does.
struct Paced<'p> {
    clock: Clock<'p>,
    function: &'p Function,
}

impl<'p> Meter for Paced<'p> {
    type Mark = Clock<'p>;

    fn next(&mut self, done: &Done<'_>) -> u64 {
        let placed = &self.function.code[done.at];
        let touched: Vec<u64> = done.touched.iter().map(|a| a.address).collect();
        self.clock.next(placed, done.jumps, &touched);
        self.clock.decides(placed.0, &touched)
    }

    fn standing(&self) -> u64 {
        let mut hash = DefaultHasher::new();
        self.clock.standing().hash(&mut hash);
        hash.finish()
    }

    fn mark(&self) -> Clock<'p> {
        self.clock.clone()
    }

    fn again(&mut self, since: &Clock<'p>, times: u64) {
        self.clock.again(since, times);
    }
}

/// What the scalar instructions of a machine do.
///
/// # Errors
/// What is missing without which nothing can be computed.
pub fn scalars(machine: &Machine) -> Result<Scalars, String> {
    let host = Host::of(machine)?;
    let mut kinds = vec![Kind::Other; machine.instructions.len()];
    for known in [host.binary(Binary::Add), host.binary(Binary::Sub)] {
        known
            .into_iter()
            .for_each(|k| kinds[k.instruction()] = Kind::Linear);
    }
    for known in [Some(&host.add_constant), host.shift_left()]
        .into_iter()
        .flatten()
    {
        kinds[known.instruction()] = Kind::Linear;
    }
    if let Some(known) = host.binary(Binary::Mul) {
        kinds[known.instruction()] = Kind::Product(known.operand(1), known.operand(2));
    }
    for (branch, when) in [
        (Branch::Equal, When::Equal),
        (Branch::Different, When::Equal),
        (Branch::Less, When::Less),
        (Branch::NotLess, When::Less),
    ] {
        if let Some(known) = host.branch(branch) {
            kinds[known.instruction()] = Kind::Compare(when, known.operand(0), known.operand(1));
        }
    }
    Ok(Scalars {
        file: host.file(),
        kinds,
    })
}

/// A function as a program, and a machine whose memory holds its arrays; none where they do not fit.
pub fn loaded<'m>(
    machine: &'m Machine,
    function: &Function,
) -> Option<(MachineProgram, Simulator<'m>)> {
    let code = function.code.iter().cloned();
    let mut listed = MachineProgram::new(&format!("{}.s", function.name), code);
    let of = |&(array, register): &(usize, u32)| Setting {
        file: function.scalars,
        register,
        value: function.addresses[array],
    };
    listed.settings = function.arguments.iter().map(of).collect();
    let ends = function.arrays.iter().zip(&function.addresses);
    let end = ends.map(|(a, at)| at + a.bytes).max().unwrap_or(0);
    let mut memory = Memory::new(usize::try_from(end).ok()?);
    let fits = memory.put(&function.image());
    fits.then(|| (listed, Simulator::new(machine, memory)))
}

/// The cycles of a function; none when more than so many instructions must be run to count them, or when
/// that takes longer than until then.
pub fn cycles(
    (machine, scalars): (&Machine, &Scalars),
    function: &Function,
    (most, until): (u64, Option<Instant>),
) -> Option<Cycles> {
    let (listed, mut simulator) = loaded(machine, function)?;
    let mut paced = Paced {
        clock: Clock::new(machine, tile::map::in_flight(machine)),
        function,
    };
    let mut more = |steps: u64| {
        let late = || steps.is_multiple_of(LOOKS) && until.is_some_and(|u| Instant::now() >= u);
        steps < most && !late()
    };
    let program = (&listed, scalars);
    run(&mut simulator, machine, program, &mut paced, &mut more).ok()?;
    Some(paced.clock.cycles())
}
