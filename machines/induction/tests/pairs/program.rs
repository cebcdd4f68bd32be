//! Programs of loops over bytes.
//!
//! In: random numbers. Out: [`Program`]: run byte by byte, or executed by an engine.

use induction::Array;
use induction::engine::Engine;
use induction::linear::Linear;
use induction::space::Space;
use induction::stop::Stop;
use induction::value::Value;
use semantics::build as b;
use semantics::random::Random;
use semantics::term::Term;
use std::collections::BTreeMap;
use std::fmt;

/// The array that programs leave.
pub(crate) const OUT: u32 = 1;

const WIDTH: u32 = 8;
const SIZE: i64 = 1024;

/// An array that is read, one that is read and written, two of cells that hold nothing at first.
const SPACES: [Space; 4] = [
    Space::Array(0),
    Space::Array(OUT),
    Space::Cells(0),
    Space::Cells(1),
];

/// The arrays of all programs.
pub(crate) fn arrays() -> Vec<Array> {
    let array = |written| Array {
        bits: WIDTH,
        elements: SIZE,
        given: true,
        written,
        holds: None,
    };
    vec![array(false), array(true)]
}

/// A byte: in which of the spaces, and where: a constant, and the factors of variables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct At {
    pub(crate) space: usize,
    pub(crate) constant: i64,
    pub(crate) factors: Vec<(usize, i64)>,
}

/// How often a loop runs: a constant, and variables of loops around.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Rounds {
    pub(crate) constant: i64,
    pub(crate) factors: Vec<(usize, i64)>,
}

impl Rounds {
    pub(crate) fn of(constant: i64) -> Rounds {
        let factors = Vec::new();
        Rounds { constant, factors }
    }

    fn value(&self, values: &[i64]) -> i64 {
        let moved = self.factors.iter().map(|(v, f)| values[*v] * f);
        moved.sum::<i64>() + self.constant
    }
}

/// A statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Node {
    /// A variable, rounds, what they do.
    Loop(usize, Rounds, Vec<Node>),
    /// A byte becomes another one, or what is made of some.
    Set(At, How, Vec<At>),
}

/// What is made of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum How {
    /// Their sum.
    Sum,
    /// The first without the others; one alone is taken away from nothing.
    Less,
    /// Their product.
    Product,
    /// The greatest, as numbers with a sign.
    Most,
}

impl How {
    fn draw(random: &mut Random) -> How {
        *random.pick(&[
            How::Sum,
            How::Sum,
            How::Sum,
            How::Less,
            How::Product,
            How::Most,
        ])
    }

    fn of(self, bytes: &[u8]) -> u8 {
        let all = bytes.iter().copied();
        let made = match self {
            How::Sum => all.reduce(u8::wrapping_add),
            How::Less if bytes.len() == 1 => all.reduce(u8::wrapping_sub).map(u8::wrapping_neg),
            How::Less => all.reduce(u8::wrapping_sub),
            How::Product => all.reduce(u8::wrapping_mul),
            How::Most => all.max_by_key(|b| *b as i8),
        };
        made.unwrap_or_default()
    }

    fn term(self, bytes: &[Term]) -> Term {
        let all = bytes.iter().copied();
        let made = match self {
            How::Sum => all.reduce(b::add),
            How::Less if bytes.len() == 1 => all.reduce(b::sub).map(b::neg),
            How::Less => all.reduce(b::sub),
            How::Product => all.reduce(b::mul),
            How::Most => all.reduce(b::smax),
        };
        made.unwrap_or_else(|| Term::bv(WIDTH, 0))
    }
}

/// A program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Program {
    pub(crate) body: Vec<Node>,
    pub(crate) vars: usize,
}

/// Why a program is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// It reads what was never written.
    Unwritten,
    /// It goes beyond an array, or writes one that is only read.
    Outside,
}

type Bytes = BTreeMap<i64, u8>;

impl Program {
    /// A program, mostly one that meets no fault.
    pub(crate) fn draw(random: &mut Random) -> Program {
        let any = random.below(8) == 0;
        loop {
            let program = Program::any(random);
            if any || program.run(&mut Random::new(1)).is_ok() {
                return program;
            }
        }
    }

    fn any(random: &mut Random) -> Program {
        let (mut vars, mut body) = (0, Vec::new());
        for space in 2..SPACES.len() {
            let count = *random.pick(&[0, 5, 60, 500]);
            if count > 0 {
                let byte = |space| At {
                    space,
                    constant: 0,
                    factors: vec![(vars, 1)],
                };
                let fill = Node::Set(byte(space), How::Sum, vec![byte(0)]);
                body.push(Node::Loop(vars, Rounds::of(count), vec![fill]));
                vars += 1;
            }
        }
        let more = (0..=random.below(3)).map(|_| node(random, &mut vec![], &mut vars));
        body.extend(more);
        Program { body, vars }
    }

    /// What it leaves in the array, for bytes drawn by lot.
    pub(crate) fn run(&self, random: &mut Random) -> Result<Bytes, Fault> {
        let mut spaces = vec![Bytes::new(); SPACES.len()];
        for space in &mut spaces[..2] {
            space.extend((0..SIZE).map(|k| (k, random.next_bits() as u8)));
        }
        let mut values = vec![0; self.vars];
        run(&self.body, &mut values, &mut spaces)?;
        Ok(spaces.swap_remove(OUT as usize))
    }

    /// Executes it for all that memory may hold.
    pub(crate) fn execute(&self, engine: &mut Engine<'_>) -> Result<(), Stop> {
        let mut values = vec![Linear::default(); self.vars];
        execute(&self.body, &mut values, engine)
    }
}

fn node(random: &mut Random, around: &mut Vec<(usize, i64)>, vars: &mut usize) -> Node {
    let depth = around.len() as u64;
    if depth < 3 && random.below(4 + depth) < 4 {
        let mut rounds = Rounds::of(*random.pick(&[1, 2, 3, 3, 4, 5, 8, 17, 20]));
        let mut most = rounds.constant;
        // Some run as often as a loop around says.
        if let Some(&(outer, count)) = around.last()
            && random.below(6) == 0
        {
            let by = *random.pick(&[1, 1, -1, 2]);
            rounds.factors.push((outer, by));
            most += (by * (count - 1)).max(0);
        }
        let var = *vars;
        *vars += 1;
        around.push((var, most));
        let body = (0..=random.below(2)).map(|_| node(random, around, vars));
        let body = body.collect();
        around.pop();
        return Node::Loop(var, rounds, body);
    }
    let space = 1 + random.index(SPACES.len() - 1);
    let target = at(random, around, space);
    let mut parts: Vec<At> = (0..=random.below(2))
        .map(|_| {
            let space = random.index(SPACES.len());
            at(random, around, space)
        })
        .collect();
    match random.below(4) {
        0 => parts.push(target.clone()),
        // A chain: what lies before it.
        1 => {
            let mut before = target.clone();
            before.constant -= 1;
            parts.push(before);
        }
        _ => {}
    }
    Node::Set(target, How::draw(random), parts)
}

fn at(random: &mut Random, around: &[(usize, i64)], space: usize) -> At {
    let mut factors: Vec<(usize, i64)> = Vec::new();
    let mut step = 1;
    for &(var, rounds) in around.iter().rev() {
        // Mostly places that lie one behind the other, as those of arrays do.
        match random.below(8) {
            0 => {}
            1 => factors.push((var, 1 + random.below(4) as i64)),
            2 => factors.push((var, -step)),
            _ => factors.push((var, step)),
        }
        step *= rounds;
    }
    let low: i64 = factors
        .iter()
        .map(|&(v, f)| {
            let rounds = around.iter().find(|a| a.0 == v).map_or(1, |a| a.1);
            (f * (rounds - 1)).min(0)
        })
        .sum();
    At {
        space,
        constant: random.below(4) as i64 - low,
        factors,
    }
}

/// Arrays have ends; those of cells are not looked at here.
fn place(at: &At, values: &[i64]) -> Result<i64, Fault> {
    let moved = at.factors.iter().map(|(v, f)| values[*v] * f);
    let sum = moved.sum::<i64>() + at.constant;
    match at.space >= 2 || (0..SIZE).contains(&sum) {
        true => Ok(sum),
        false => Err(Fault::Outside),
    }
}

fn run(body: &[Node], values: &mut Vec<i64>, spaces: &mut [Bytes]) -> Result<(), Fault> {
    for node in body {
        match node {
            Node::Loop(var, rounds, body) => {
                for k in 0..rounds.value(values) {
                    values[*var] = k;
                    run(body, values, spaces)?;
                }
            }
            Node::Set(target, how, parts) => {
                let mut bytes = Vec::new();
                for part in parts {
                    let value = spaces[part.space].get(&place(part, values)?);
                    bytes.push(*value.ok_or(Fault::Unwritten)?);
                }
                if target.space == 0 {
                    return Err(Fault::Outside);
                }
                let at = place(target, values)?;
                spaces[target.space].insert(at, how.of(&bytes));
            }
        }
    }
    Ok(())
}

fn sum(constant: i64, factors: &[(usize, i64)], values: &[Linear]) -> Result<Linear, Stop> {
    let mut sum = Linear::constant(constant);
    for (var, factor) in factors {
        sum = sum.plus(&values[*var].times(*factor)?)?;
    }
    Ok(sum)
}

fn bits(at: &At, values: &[Linear]) -> Result<(Space, Linear), Stop> {
    let sum = sum(at.constant, &at.factors, values)?;
    Ok((SPACES[at.space], sum.times(i64::from(WIDTH))?))
}

fn execute(body: &[Node], values: &mut Vec<Linear>, engine: &mut Engine<'_>) -> Result<(), Stop> {
    body.iter().try_for_each(|node| match node {
        Node::Loop(var, rounds, body) => {
            let count = sum(rounds.constant, &rounds.factors, values)?;
            let count = count.as_constant().ok_or_else(|| Stop::depends(&count))?;
            engine.repeat(count, &mut |engine, k| {
                values[*var] = k.clone();
                execute(body, values, engine)
            })
        }
        Node::Set(target, how, parts) => {
            let mut bytes = Vec::new();
            for part in parts {
                let (space, at) = bits(part, values)?;
                match engine.read(space, &at, WIDTH)? {
                    Value::Term(term) => bytes.push(term),
                    Value::Known(_) => return Err(Stop::because("a byte is data")),
                }
            }
            let (space, at) = bits(target, values)?;
            engine.write(space, &at, WIDTH, Value::Term(how.term(&bytes)))
        }
    })
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}[{}", SPACES[self.space], self.constant)?;
        self.factors
            .iter()
            .try_for_each(|(v, k)| write!(f, " + {k}*v{v}"))?;
        f.write_str("]")
    }
}

fn show(body: &[Node], depth: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let indent = "  ".repeat(depth);
    body.iter().try_for_each(|node| match node {
        Node::Loop(var, rounds, body) => {
            write!(f, "{indent}for v{var} in 0..{}", rounds.constant)?;
            let more = &rounds.factors;
            more.iter()
                .try_for_each(|(v, k)| write!(f, " + {k}*v{v}"))?;
            writeln!(f)?;
            show(body, depth + 1, f)
        }
        Node::Set(target, how, parts) => {
            let parts: Vec<String> = parts.iter().map(At::to_string).collect();
            writeln!(
                f,
                "{indent}{target} = {}",
                parts.join(&format!(" {how:?} "))
            )
        }
    })
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(&self.body, 0, f)
    }
}
