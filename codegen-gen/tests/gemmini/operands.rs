//! What commands are given by the code around them: random loops of commands with random operands.
//!
//! In: nothing. Out: that every command runs as often and with the operands that its program says, and
//! with as many instructions of the host before it as are counted. The few instructions of the host are
//! run here, by their names.

use super::bench::gemmini;
use semantics::machine::Machine;
use semantics::random::Random;
use semantics::span::Span;
use std::collections::BTreeMap;
use tile::program::{ArrayUse, Placed};
use tile::systolic::code::{for_each_with_host, function};
use tile::systolic::program::{Amount, Command, CommandNode, CommandProgram};

const ADDRESSES: [i64; 2] = [0x4_2340, 0x1_0000_1000];

/// A command, its operands, and the instructions of the host before it.
type Ran = Vec<(usize, Vec<i64>, u64)>;

/// Runs code whose arguments are addresses, with a command for whatever is none of the host's.
fn run(machine: &Machine, code: &[Placed]) -> Ran {
    let mut registers = [0_i64; 32];
    let abi = machine.abi.as_ref().expect("a convention");
    for (register, address) in abi.arguments.iter().zip(ADDRESSES) {
        registers[*register as usize] = address;
    }
    let word = i64::from(machine.word);
    let (mut at, mut host, mut ran) = (0_i64, 0, Ran::new());
    while let Some((k, values)) = code.get(usize::try_from(at).expect("not before the first")) {
        let get = |n: usize| registers[usize::try_from(values[n]).expect("a register")];
        let (mut next, mut result) = (at + 1, None);
        match machine.instructions[*k].instruction.name.as_str() {
            "lui" => result = Some(i64::from((values[1] << 12) as i32)),
            "addi" => result = Some(get(1).wrapping_add(values[2])),
            "slli" => result = Some(get(1) << values[2]),
            "add" => result = Some(get(1).wrapping_add(get(2))),
            "mul" => result = Some(get(1).wrapping_mul(get(2))),
            "beq" if get(0) == get(1) => next = at + values[2] / word,
            "bne" if get(0) != get(1) => next = at + values[2] / word,
            "beq" | "bne" => {}
            "jal" => next = at + values[1] / word,
            _ => {
                ran.push((*k, vec![get(0), get(1)], host));
                (at, host) = (next, 0);
                continue;
            }
        }
        host += 1;
        if let Some(value) = result.filter(|_| values[0] != 0) {
            registers[usize::try_from(values[0]).expect("a register")] = value;
        }
        at = next;
    }
    ran
}

/// Constants and factors as they occur, and some that no instruction adds.
const FAR: [i64; 9] = [
    0,
    16,
    1024,
    -448,
    2047,
    2048,
    12_544,
    1 << 38,
    0x10_0000_0210,
];

fn amount(random: &mut Random, vars: &[usize]) -> Amount {
    let mut terms = BTreeMap::new();
    for var in vars {
        let factor = *random.pick(&[0, 0, 1, -1, 16, 64, 3000, 1 << 33]);
        if factor != 0 {
            terms.insert(*var, factor);
        }
    }
    Amount {
        array: [None, Some(0), Some(1)][random.index(3)],
        constant: random.pick(&FAR) + i64::try_from(random.below(3)).expect("small") * 16,
        terms,
    }
}

/// Loops and commands; `pool` are amounts that occur again and again.
fn nodes(
    random: &mut Random,
    command: usize,
    (outer, vars): (&[usize], &mut usize),
    pool: &[Amount],
) -> Vec<CommandNode> {
    let count = 1 + random.below(5);
    let mut all = Vec::new();
    for _ in 0..count {
        if outer.len() < 4 && random.below(3) == 0 {
            let own = *vars;
            *vars += 1;
            let inside = [outer, &[own]].concat();
            let mut again = pool.to_vec();
            again.extend((0..3).map(|_| amount(random, &inside)));
            all.push(CommandNode::Loop {
                var: own,
                count: 1 + i64::try_from(random.below(4)).expect("small"),
                body: nodes(random, command, (&inside, vars), &again),
            });
            continue;
        }
        let mut operand = || {
            let mut amount = match random.below(4) {
                0 => amount(random, outer),
                _ => random.pick(pool).clone(),
            };
            amount.constant += *random.pick(&[0, 0, 16, 1024, 4096]);
            amount
        };
        all.push(CommandNode::Do(Command {
            instruction: command,
            operands: vec![operand(), operand()],
        }));
    }
    all
}

#[test]
fn commands_get_the_operands_that_are_written() {
    let machine = gemmini();
    let name = |name: &str| {
        let mut all = machine.instructions.iter();
        all.position(|i| i.instruction.name == name)
    };
    let command = name("mvin").expect("a command");
    let array = |name: &str| ArrayUse {
        name: name.to_owned(),
        bytes: 64,
        bits: 8,
        written: false,
        made: false,
    };
    let mut random = Random::new(17);
    let mut commands = 0;
    for n in 0..60 {
        let pool: Vec<Amount> = (0..3).map(|_| amount(&mut random, &[])).collect();
        let mut vars = 0;
        let body = nodes(&mut random, command, (&[], &mut vars), &pool);
        let program = CommandProgram {
            name: "t".to_owned(),
            arrays: vec![array("a"), array("b")],
            vars,
            body,
            host: Vec::new(),
            choices: Vec::new(),
            span: Span::new(0, 0),
        };
        let mut wanted = Ran::new();
        let counted = for_each_with_host(&machine, &program, &ADDRESSES, &mut |k, values, host| {
            wanted.push((k, values.to_vec(), host));
        });
        counted.expect("a host");
        let function = function(&machine, &program, &ADDRESSES).expect("a host");
        let mut ran = run(&machine, &function.code);
        for (ran, wanted) in ran.iter_mut().zip(&wanted) {
            // The last round of each loop that is too long for a branch does not run the jump that is
            // counted.
            if (ran.2..=ran.2 + 4).contains(&wanted.2) {
                ran.2 = wanted.2;
            }
        }
        let mut both = ran.iter().zip(&wanted).enumerate();
        let different = both.find(|(_, (ran, wanted))| ran != wanted);
        assert_eq!(different, None, "program {n}");
        assert_eq!(ran.len(), wanted.len(), "program {n}");
        commands += wanted.len();
    }
    assert!(commands > 2_000, "{commands}");
}
