//! How long commands in loops take: what is told without running them is what running them takes.

use super::board::{ADDS, FULL, GARBAGE, SUMS, edited, local, machine, scale};
use semantics::machine::Machine;
use semantics::random::Random;
use sim::memory::Memory;
use sim::run::Simulator;
use sim::timing::{Affine, Part, Taken, Unknown, taken};

/// Rows that programs use of the scratchpad and of the accumulator.
const ROWS: u64 = 48;

/// What of memory is read begins here, and what is written there.
const READ: i64 = 0x1_0000;
const WRITTEN: i64 = 0x10_0000;

/// Runs every command.
struct Whole<'m> {
    machine: &'m Machine,
    sim: Simulator<'m>,
    vars: Vec<i64>,
    waiting: u64,
    found: Taken,
}

impl Whole<'_> {
    fn run(&mut self, parts: &[Part]) {
        for part in parts {
            match part {
                Part::Loop {
                    var,
                    count,
                    host: [before, end, behind],
                    body,
                } => {
                    self.waiting += before;
                    for k in 0..*count {
                        self.vars[*var] = k;
                        self.run(body);
                        self.waiting += end;
                    }
                    self.waiting += behind;
                }
                Part::Do {
                    instruction,
                    operands,
                    host,
                } => {
                    let host = std::mem::take(&mut self.waiting) + host;
                    self.sim.host(host);
                    self.found.host += host + 1;
                    self.found.commands[*instruction] += 1;
                    let values: Vec<i64> = operands.iter().map(|a| self.value(a)).collect();
                    let done = self.sim.command(*instruction, &values);
                    done.unwrap_or_else(|d| panic!("{d:#?}"));
                }
            }
        }
    }

    fn value(&self, a: &Affine) -> i64 {
        let terms = a.terms.iter().map(|&(v, f)| self.vars[v].wrapping_mul(f));
        terms.fold(a.constant, i64::wrapping_add)
    }
}

fn run_all(machine: &Machine, parts: &[Part], vars: usize) -> Taken {
    let mut whole = Whole {
        machine,
        sim: Simulator::new(machine, Memory::new(4 << 20)),
        vars: vec![0; vars],
        waiting: 0,
        found: Taken::default(),
    };
    whole.found.commands = vec![0; whole.machine.instructions.len()];
    whole.run(parts);
    Taken {
        cycles: whole.sim.timeline().cycles(),
        busy: whole.sim.timeline().busy(),
        products: whole.sim.products(),
        ..whole.found
    }
}

/// Random programs.
struct Drawn<'m> {
    machine: &'m Machine,
    random: Random,
    dim: u64,
    /// How often each loop runs, by its variable.
    counts: Vec<i64>,
}

impl Drawn<'_> {
    /// Of tiles with so many rows; some loops are there.
    fn new(machine: &Machine, seed: u64, dim: u64, counts: Vec<i64>) -> Drawn<'_> {
        Drawn {
            machine,
            random: Random::new(seed),
            dim,
            counts,
        }
    }

    fn command(&mut self, name: &str, operands: &[Affine]) -> Part {
        let mut all = self.machine.instructions.iter();
        let instruction = all.position(|i| i.instruction.name == name);
        Part::Do {
            instruction: instruction.expect("an instruction"),
            operands: operands.to_vec(),
            host: self.random.below(4),
        }
    }

    fn fixed(&mut self, name: &str, a: u64, b: u64) -> Part {
        let of = |n: u64| Affine {
            constant: n.cast_signed(),
            terms: Vec::new(),
        };
        self.command(name, &[of(a), of(b)])
    }

    /// A local operand whose row may move with one of the loops around it.
    fn local(&mut self, address: u64, rows: u64, columns: u64, around: &[usize]) -> Affine {
        let constant = local(address, rows, columns).cast_signed();
        let row = self.random.below(ROWS - self.dim);
        let mut at = Affine {
            constant: constant + row.cast_signed(),
            terms: Vec::new(),
        };
        if !around.is_empty() && self.random.below(3) == 0 {
            let var = *self.random.pick(around);
            let room = ROWS - self.dim - row;
            let most = room / self.counts[var].unsigned_abs();
            at.terms = vec![(var, self.random.below(most + 1).cast_signed())];
            at.terms.retain(|t| t.1 != 0);
        }
        at
    }

    /// An address that moves with some of the loops around it.
    fn address(&mut self, from: i64, around: &[usize]) -> Affine {
        let mut at = Affine {
            constant: from,
            terms: Vec::new(),
        };
        for &var in around {
            if self.random.below(2) == 0 {
                let by = (0x8000 / self.counts[var].unsigned_abs()).min(64);
                at.terms
                    .push((var, 1 + self.random.below(by).cast_signed()));
            }
        }
        at
    }

    fn side(&mut self) -> u64 {
        match self.random.below(3) {
            0 => 1 + self.random.below(self.dim),
            _ => self.dim,
        }
    }

    fn some(&mut self, around: &[usize], out: &mut Vec<Part>) {
        let (rows, columns) = (self.side(), self.side());
        match self.random.below(8) {
            0 => {
                let stride = 16 + 16 * self.random.below(4);
                let config = 1 | self.dim << 16 | scale(1.0) << 32;
                let part = self.fixed("config", config, stride);
                out.push(part);
            }
            1 | 2 => {
                let to = if self.random.below(3) == 0 { SUMS } else { 0 };
                let from = match self.random.below(6) {
                    0 => Affine::default(),
                    _ => self.address(READ, around),
                };
                let to = self.local(to, rows, columns, around);
                let part = self.command("mvin", &[from, to]);
                out.push(part);
            }
            3 => {
                let to = self.address(WRITTEN, around);
                let from = *self.random.pick(&[SUMS, FULL, 0]);
                let from = self.local(from, rows, columns, around);
                let part = self.command("mvout", &[to, from]);
                out.push(part);
            }
            4 if self.random.below(8) == 0 => {
                let part = self.command("fence", &[]);
                out.push(part);
            }
            _ => {
                let to = if self.random.below(2) == 0 {
                    SUMS
                } else {
                    ADDS
                };
                let weights = self.local(0, rows, columns, around);
                let to = self.local(to, self.dim, columns, around);
                let part = self.command("preload", &[weights, to]);
                out.push(part);
                let left = self.local(0, self.dim, rows, around);
                let nothing = Affine {
                    constant: local(GARBAGE, self.dim, self.dim).cast_signed(),
                    terms: Vec::new(),
                };
                let name = *self
                    .random
                    .pick(&["compute.preloaded", "compute.accumulated"]);
                let part = self.command(name, &[left, nothing]);
                out.push(part);
            }
        }
    }

    /// Something that is not done, quick rounds beside it, and what waits for it.
    fn beside(&mut self, around: &[usize], out: &mut Vec<Part>) {
        (0..1 + self.random.below(3)).for_each(|_| self.some(around, out));
        let (var, count) = (self.counts.len(), 2 + self.random.below(60).cast_signed());
        self.counts.push(count);
        let config = 1 | self.dim << 16 | scale(1.0) << 32;
        let body = match self.random.below(4) {
            0 => Vec::new(),
            1 => vec![self.fixed("config", config, 16)],
            2 => vec![self.fixed("mvin", 0, local(0, 1, 1))],
            _ => {
                let (from, to) = (self.address(WRITTEN, &[var]), local(SUMS, 1, 1));
                let to = Affine {
                    constant: to.cast_signed(),
                    terms: Vec::new(),
                };
                vec![self.command("mvout", &[from, to])]
            }
        };
        let host = [0; 3].map(|_: u64| self.random.below(6));
        out.push(Part::Loop {
            var,
            count,
            host,
            body,
        });
        match self.random.below(2) {
            0 => {
                let fence = self.command("fence", &[]);
                out.push(fence);
            }
            _ => self.some(around, out),
        }
    }

    fn block(&mut self, around: &mut Vec<usize>, out: &mut Vec<Part>) {
        for _ in 0..1 + self.random.below(3) {
            if self.random.below(4) == 0 {
                self.beside(around, out);
            } else if around.len() < 3 && self.random.below(2) == 0 {
                let var = self.counts.len();
                let most = [60, 12, 6][around.len()];
                self.counts.push(1 + self.random.below(most).cast_signed());
                around.push(var);
                let mut body = Vec::new();
                self.block(around, &mut body);
                around.pop();
                let host = [0; 3].map(|_: u64| self.random.below(6));
                let count = self.counts[var];
                out.push(Part::Loop {
                    var,
                    count,
                    host,
                    body,
                });
            } else {
                self.some(around, out);
            }
        }
    }

    /// Everything is configured, and all rows hold something.
    fn program(&mut self) -> Vec<Part> {
        let dim = self.dim;
        let mut out = vec![
            self.fixed("config", 4 | 1 << 16, 1 << 48),
            self.fixed("config", 1 | dim << 16 | scale(1.0) << 32, 16),
            self.fixed("config", 2, 16 | scale(1.0) << 32),
        ];
        for row in (0..ROWS).step_by(dim as usize) {
            out.push(self.fixed("mvin", 0, local(row, dim, dim)));
            out.push(self.fixed("mvin", 0, local(SUMS | row, dim, dim)));
        }
        let zero = local(0, dim, dim);
        out.push(self.fixed("preload", zero, zero | SUMS));
        let nothing = local(GARBAGE, dim, dim);
        out.push(self.fixed("compute.preloaded", zero, nothing));
        self.block(&mut Vec::new(), &mut out);
        out
    }
}

/// How many of the programs drawn were not looked at as a whole; all of them take what running them
/// takes.
fn agree(machine: &Machine, dim: u64, seeds: std::ops::Range<u64>) -> usize {
    let mut shorter = 0;
    for seed in seeds {
        let mut drawn = Drawn::new(machine, seed, dim, Vec::new());
        let parts = drawn.program();
        let found = taken(machine, &parts, drawn.counts.len());
        let found = found.unwrap_or_else(|u| panic!("seed {seed}: {u:#?}"));
        let all = run_all(machine, &parts, drawn.counts.len());
        let steps = found.steps;
        assert_eq!(Taken { steps: 0, ..found }, all, "seed {seed}: {parts:#?}");
        shorter += usize::from(steps < all.commands.iter().sum());
    }
    shorter
}

#[test]
fn random_programs_take_what_running_them_takes() {
    let machine = machine();
    let shorter = agree(&machine, 16, 0..40);
    assert!(shorter >= 15, "{shorter} of 40");
}

#[test]
fn of_other_machines_too() {
    let small = ("DIM: 16 ", "DIM: 4 ");
    // Queues that are fast and short, and queues that run far ahead of each other.
    let fast = [
        small,
        ("LATENCY: 40", "LATENCY: 7"),
        ("entries: 8", "entries: 2"),
        ("issue: 4", "issue: 1"),
    ];
    let slow = [
        small,
        ("LATENCY: 40", "LATENCY: 300"),
        ("entries: 4", "entries: 30"),
        ("issue: 4", "issue: 1"),
    ];
    for (k, edits) in [fast, slow].iter().enumerate() {
        let machine = edited(&format!("timing{k}"), edits);
        let first = 1000 * (k as u64 + 1);
        let shorter = agree(&machine, 4, first..first + 150);
        assert!(shorter >= 60, "{shorter} of 150");
    }
}

#[test]
fn a_loop_of_any_length_is_looked_at_for_a_few_rounds() {
    let machine = machine();
    let mut drawn = Drawn::new(&machine, 1, 16, vec![1 << 40]);
    let mut parts = drawn.program();
    parts.truncate(3 + 2 * 3 + 2);
    let from = Affine {
        constant: READ,
        terms: vec![(0, 64)],
    };
    let to = Affine {
        constant: local(0, 16, 16).cast_signed(),
        terms: Vec::new(),
    };
    let body = vec![drawn.command("mvin", &[from, to])];
    parts.push(Part::Loop {
        var: 0,
        count: 1 << 40,
        host: [0; 3],
        body,
    });
    let found = taken(&machine, &parts, 1).expect("figures");
    assert!(found.steps < 200, "{}", found.steps);
    // Sixteen beats for each load, after all else.
    let loads: u64 = 16 << 40;
    assert!(
        (loads..loads + 2000).contains(&found.cycles),
        "{}",
        found.cycles
    );
}

#[test]
fn a_broken_rule_is_told() {
    let machine = machine();
    let mut drawn = Drawn::new(&machine, 1, 16, Vec::new());
    let log = |parts: &[Part]| match taken(&machine, parts, 64) {
        Err(Unknown::Fault(fault)) => fault.message.clone(),
        other => panic!("{other:?}"),
    };
    let early = [drawn.fixed("mvin", 0x1000, local(0, 1, 1))];
    assert!(log(&early).contains("is read, and it was never set"));
    let mut parts = drawn.program();
    parts.push(drawn.fixed("mvin", 0, local(16383, 2, 1)));
    assert!(log(&parts).contains("`spad` has no row 16384"));
    parts.pop();
    parts.push(drawn.fixed("mvin", 0, local(0, 17, 1)));
    assert!(log(&parts).contains("a load has 1 to DIM rows"));
}
