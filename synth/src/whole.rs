//! Operations by what they do with whole registers.
//!
//! In: candidates and the width of a result. Out: [`WholeLibrary`], the operations with such a
//! result on one to [`MAX_OPERANDS`] registers, found by the lowest bits of what they give on
//! fixed inputs, so that an instruction is found whatever way its meaning is written: also one
//! that joins or crosses lanes.
//!
//! It proves nothing: what agrees on the fixed inputs may differ on others.

use crate::candidates::{Action, Candidate, Candidates};
use autoir::program::Formal;
use semantics::bits::Bits;
use semantics::eval::{CompiledTerms, Input};
use semantics::instruction::Form;
use semantics::random::Random;
use semantics::sort::Sort;
use semantics::term::Term;
use semantics::value::Value;
use std::collections::{BTreeMap, HashMap};

/// The most registers that an operation found here reads.
pub(crate) const MAX_OPERANDS: usize = 3;
/// The most bits of a result that are compared.
const COMPARED: u32 = 64;
/// Number of fixed inputs.
const TESTS: usize = 32;
/// The most choices of immediates of one operation.
const MAX_CHOICES: u64 = 256;
/// The most operations that are kept for one behaviour, cheapest first.
const MAX_ALIKE: usize = 4;

/// What a function gives on the fixed inputs: their number, then a fingerprint.
pub(crate) type Behaviour = (usize, u64);

/// An operation with its immediates given.
pub(crate) struct Entry {
    /// Index of the candidate.
    pub candidate: usize,
    /// The immediates, by name.
    pub immediates: BTreeMap<String, Bits>,
}

/// The operations with results of one width.
#[derive(Default)]
pub(crate) struct WholeLibrary {
    index: HashMap<Behaviour, Vec<Entry>>,
}

impl WholeLibrary {
    /// What was found, in a fixed order.
    pub(crate) fn entries(&self) -> BTreeMap<Behaviour, &[Entry]> {
        let all = self.index.iter();
        all.map(|(behaviour, alike)| (*behaviour, &alike[..]))
            .collect()
    }

    /// One more that does this, no cheaper than those before it.
    pub(crate) fn put(&mut self, behaviour: Behaviour, entry: Entry) {
        let alike = self.index.entry(behaviour).or_default();
        if alike.len() < MAX_ALIKE {
            alike.push(entry);
        }
    }

    /// The operations of the candidates with results of a width in bits.
    pub(crate) fn new(candidates: &Candidates, width: u32) -> WholeLibrary {
        let fits = |c: &Candidate| {
            c.width == width && c.form != Form::Free && c.action() == Action::Computation
        };
        let all = candidates.list.iter().enumerate();
        let mut list: Vec<(usize, &Candidate)> = all.filter(|(_, c)| fits(c)).collect();
        list.sort_by_key(|&(k, c)| (c.cost, c.constants(), k));
        let mut library = WholeLibrary::default();
        for (candidate, c) in list {
            library.add(candidate, c);
        }
        library
    }

    fn add(&mut self, candidate: usize, c: &Candidate) {
        let (constants, registers): (Vec<&Formal>, Vec<&Formal>) = c
            .instance
            .formals
            .iter()
            .partition(|o| o.role.is_constant());
        if !(1..=MAX_OPERANDS).contains(&registers.len()) {
            return;
        }
        let Some(choices) = choices(&constants) else {
            return;
        };
        let compared = c.width.min(COMPARED);
        let read: Vec<(Term, usize, u32)> = registers
            .iter()
            .enumerate()
            .map(|(k, o)| (Term::var(&o.name, Sort::Bv(o.width)), k, 0))
            .collect();
        let inputs = constants
            .iter()
            .map(|o| Term::var(&o.name, Sort::Bv(o.width)));
        let Some(mut function) = Function::new(c.element(compared, 0), &read, inputs) else {
            return;
        };
        for values in choices {
            let behaviour = function.on(&values);
            let Some(behaviour) = behaviour else { continue };
            let names = constants.iter().map(|o| o.name.clone());
            let immediates = names.zip(values).collect();
            let entry = Entry {
                candidate,
                immediates,
            };
            self.put(behaviour, entry);
        }
    }

    /// The operations that give on the fixed inputs what a function gives, cheapest first.
    pub(crate) fn find(&self, behaviour: Behaviour) -> &[Entry] {
        self.index.get(&behaviour).map_or(&[], Vec::as_slice)
    }

    /// What a function of registers gives on the fixed inputs, where it is no constant: each is
    /// a variable, the position whose inputs it takes, and the bit of it where they begin.
    pub(crate) fn behaviour(low: Term, read: &[(Term, usize, u32)]) -> Option<Behaviour> {
        Function::new(low, read, std::iter::empty())?.on(&[])
    }
}

/// All values of some constants together, where they are not too many.
fn choices(constants: &[&Formal]) -> Option<Vec<Vec<Bits>>> {
    let mut all: Vec<Vec<Bits>> = vec![Vec::new()];
    for o in constants {
        let known = o.role.constants()?;
        if known.count().saturating_mul(all.len() as u64) > MAX_CHOICES {
            return None;
        }
        let values = (0..known.count()).filter_map(|rank| known.nth(rank));
        let values: Vec<Bits> = values.map(|v| Bits::from_u64(o.width, v.into())).collect();
        let with = |head: &Vec<Bits>| {
            let head = head.clone();
            values
                .iter()
                .map(move |v| [&head[..], std::slice::from_ref(v)].concat())
                .collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    Some(all)
}

/// A compiled function, its registers filled with the fixed inputs.
struct Function {
    program: CompiledTerms,
    frame: semantics::eval::Frame,
    registers: usize,
    constants: usize,
}

impl Function {
    fn new(
        low: Term,
        read: &[(Term, usize, u32)],
        constants: impl Iterator<Item = Term>,
    ) -> Option<Function> {
        let named = |t: Term| {
            Some(Input {
                name: t.as_var()?.to_owned(),
                sort: t.sort(),
            })
        };
        let inputs: Option<Vec<Input>> = read
            .iter()
            .map(|r| r.0)
            .chain(constants)
            .map(named)
            .collect();
        let inputs = inputs?;
        let program = CompiledTerms::compile(&[low], &inputs).ok()?;
        let mut frame = program.frame(TESTS);
        for (k, &(variable, position, lo)) in read.iter().enumerate() {
            for test in 0..TESTS {
                let value = fixed(position, test, variable.width() - lo);
                let value = value.zext(variable.width()).shl_u32(lo);
                program.set(&mut frame, k, test, &Value::Bv(value));
            }
        }
        Some(Function {
            constants: inputs.len() - read.len(),
            registers: read.len(),
            program,
            frame,
        })
    }

    /// What it gives with these constants, where that is not the same for all inputs.
    fn on(&mut self, constants: &[Bits]) -> Option<Behaviour> {
        debug_assert_eq!(constants.len(), self.constants);
        for (k, value) in constants.iter().enumerate() {
            for test in 0..TESTS {
                let value = Value::Bv(value.clone());
                self.program
                    .set(&mut self.frame, self.registers + k, test, &value);
            }
        }
        self.program.execute(&mut self.frame);
        let words = self.program.output_words(&self.frame, 0);
        let mix = |acc: u64, &w: &u64| {
            (acc ^ w)
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .rotate_left(29)
        };
        let varies = words.iter().any(|w| *w != words[0]);
        varies.then(|| {
            (
                self.registers,
                words.iter().fold(self.registers as u64, mix),
            )
        })
    }
}

/// A fixed input of a position: numbers of all sizes for elements of all widths, which do not
/// depend on how many bits of them are read.
fn fixed(position: usize, test: usize, width: u32) -> Bits {
    let mut random = Random::new(((position as u64) << 32) | test as u64);
    let kind = match test {
        0..8 => 0,
        _ => random.below(9),
    };
    let limbs: Vec<u64> = (0..width.div_ceil(64))
        .map(|_| of_kind(kind, random.next_bits()))
        .collect();
    Bits::from_limbs(width, &limbs)
}

/// A random word as numbers of one kind: anything; small ones, as counts and indices are; the ends
/// of ranges; floats of ordinary size.
fn of_kind(kind: u64, word: u64) -> u64 {
    let small = |lane: u32| {
        (0..64 / lane).fold(0, |all, k| {
            let part = (word >> (k * lane)) & (lane as u64 - 1);
            all | part << (k * lane)
        })
    };
    let exponents = |lane: u32, mantissa: u32, kept: u64| {
        (0..64 / lane).fold(word, |all, k| {
            let at = k * lane + mantissa;
            let bias = (1 << (lane - mantissa - 2)) - 1;
            let exponent: u64 = bias - 8 + ((word >> at) & 31);
            all & !(kept << at) | exponent << at
        })
    };
    match kind {
        3 => small(64),
        4 => small(32),
        5 => small(16),
        6 => small(8),
        7 => exponents(32, 23, 0xff),
        8 => exponents(64, 52, 0x7ff),
        2 => (word & 0x8080_8080_8080_8080) | ((word & 0x0101_0101_0101_0101) * 0x7f),
        _ => word,
    }
}
