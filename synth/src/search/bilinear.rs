//! Matrices of bits by one operation: the bytes of one operand, each multiplied by a matrix that another holds.
//!
//! In: a value of a lane that is a matrix of bits of another, no bit of it of a bit in another byte. Out:
//! an operation with two registers whose result has, at each bit, the exclusive sum of bits of one
//! operand's byte, each where a bit of the other is one; and that other operand, as a constant that
//! makes it the matrix. Which bit of the constant stands for which of the matrix is read off what the
//! operation gives: for each bit of a byte alone, and constants in which the places of bits are counted.
//!
//! It proposes; what is chosen is claimed and proved like all else.

use super::Search;
use super::cover::{Choices, Expression, How, PARTS};
use super::tables::{Lookup, named};
use crate::bit_matrix::{BitMatrix, Factored};
use crate::candidates::Candidate;
use crate::fragment::lane_width;
use crate::lanes::signature_of;
use autoir::program::Formal;
use semantics::bits::Bits;
use semantics::eval::{CompiledTerms, Input};
use semantics::op::OpCode;
use semantics::random::Random;
use semantics::sort::Sort;
use semantics::term::Term;
use semantics::value::Value;
use std::collections::{BTreeMap, HashMap};

/// Products of random numbers that are compared with what was read.
const CHECKED: usize = 8;

/// For bit `i` of a byte of the result and bit `j` of that byte of the operand, the bit of the matrix's
/// operand that stands for them.
type Places = [[u32; 8]; 8];

/// An operation that multiplies bytes by matrices.
pub(crate) struct Product {
    candidate: usize,
    matrix: &'static str,
    /// By byte.
    places: Vec<Places>,
}

impl Search<'_> {
    /// A value as one product of bytes and a matrix.
    pub(super) fn by_product(
        &mut self,
        e: &Expression,
        choices: &mut Choices,
        t: Term,
        shorter: &Factored,
    ) -> Option<(u64, How)> {
        let (x, matrix) = shorter.matrix.as_ref()?;
        let x = *x;
        if x.width() != t.width() || !matrix.is_of_bytes() {
            return None;
        }
        let width = (self.candidates.widths).of_lanes(choices.lanes, lane_width(t));
        let products = self.candidates.byte_products(width);
        let mut solved = products.iter().filter_map(|product| {
            let held = product.solve(matrix, t.width(), width)?;
            Some((product, held))
        });
        let (product, held) = solved.next()?;
        let c = &self.candidates.list[product.candidate];
        let mut constants: BTreeMap<&'static str, Bits> = (c.instance.formals.iter())
            .filter(|o| o.role.is_constant())
            .filter_map(|o| Some((named(o)?, Bits::zero(o.width))))
            .collect();
        constants.insert(product.matrix, held);
        let own = u64::from(c.cost + self.processor().constant) * PARTS;
        let lookup = Lookup {
            candidate: product.candidate,
            index: x,
            constants,
        };
        let flow = self.border(e, choices, &[x])?;
        Some((own + flow, How::Table(lookup)))
    }
}

/// What candidate `k` multiplies, where it does nothing else.
pub(crate) fn product(k: usize, c: &Candidate) -> Option<Product> {
    let formals = &c.instance.formals;
    let needed = signature_of(OpCode::BvXor) | signature_of(OpCode::BvAnd);
    let (constants, registers): (Vec<&Formal>, Vec<&Formal>) =
        formals.iter().partition(|o| o.role.is_constant());
    let zero = |o: &&Formal| o.role.constants().is_some_and(|c| c.contains(0));
    let [one, other] = registers[..] else {
        return None;
    };
    if c.masked() || c.signature() & needed != needed || !constants.iter().all(zero) {
        return None;
    }
    let same = one.width == c.width && other.width == c.width;
    let ways = [(one, other), (other, one)].into_iter().filter(|_| same);
    let mut found = ways.filter_map(|(x, matrix)| {
        let places = |byte| places(c, byte, x, matrix, &constants);
        // Most candidates are refused at their first byte.
        places(0)?;
        Some(Product {
            candidate: k,
            matrix: named(matrix)?,
            places: (0..c.width / 8).map(places).collect::<Option<_>>()?,
        })
    });
    found.next()
}

/// Where the bits of the matrix of one byte stand.
fn places(
    c: &Candidate,
    byte: u32,
    x: &Formal,
    matrix: &Formal,
    constants: &[&Formal],
) -> Option<Places> {
    let input = |o: &Formal| Input {
        name: o.name.clone(),
        sort: Sort::Bv(o.width),
    };
    let inputs: Vec<Input> = [x, matrix]
        .into_iter()
        .chain(constants.iter().copied())
        .map(input)
        .collect();
    let program = CompiledTerms::compile(&[c.element(8, byte)], &inputs).ok()?;
    let zeros = constants.iter().map(|o| Value::Bv(Bits::zero(o.width)));
    let zeros: Vec<Value> = zeros.collect();
    let run = |x: &Bits, matrix: &Bits| -> u64 {
        let registers = [Value::Bv(x.clone()), Value::Bv(matrix.clone())];
        let out = program.run(&[&registers[..], &zeros].concat());
        out[0].bits().low_u64()
    };
    let w = matrix.width;
    let counted = |bit: u32| (0..w).filter(move |at| at >> bit & 1 == 1);
    let counted = |bit| counted(bit).fold(Bits::zero(w), |all, at| all.with_bit(at, true));
    let counts: Vec<Bits> = (0..w.ilog2()).map(counted).collect();
    let mut places = Places::default();
    for j in 0..8 {
        let alone = Bits::zero(w).with_bit(8 * byte + j, true);
        if run(&alone, &Bits::zero(w)) != 0 || run(&alone, &Bits::ones(w)) != 0xff {
            return None;
        }
        for (bit, of) in counts.iter().enumerate() {
            let out = run(&alone, of);
            for (i, row) in places.iter_mut().enumerate() {
                row[j as usize] |= ((out >> i & 1) as u32) << bit;
            }
        }
    }
    let mut random = Random::new(u64::from(byte));
    let agrees = (0..CHECKED).all(|_| {
        let (x, matrix) = (random.bits(w), random.bits(w));
        let one = |i: usize, j: u32| x.bit(8 * byte + j) && matrix.bit(places[i][j as usize]);
        let bit = |i: usize| (0..8).fold(false, |sum, j| sum ^ one(i, j));
        run(&x, &matrix) == (0..8).fold(0, |all, i| all | u64::from(bit(i)) << i)
    });
    agrees.then_some(places)
}

impl Product {
    /// What the matrix's operand has to hold, for lanes of a width in a register.
    fn solve(&self, matrix: &BitMatrix, lane: u32, width: u32) -> Option<Bits> {
        let mut held: HashMap<u32, bool> = HashMap::new();
        for (byte, places) in (0..width / 8).zip(&self.places) {
            let first = 8 * byte % lane;
            for (i, row) in (0..8).zip(places) {
                for (j, place) in (0..8).zip(row) {
                    let wanted = matrix.adds(first + i, first + j);
                    if *held.entry(*place).or_insert(wanted) != wanted {
                        return None;
                    }
                }
            }
        }
        let ones = held.into_iter().filter(|(_, one)| *one);
        Some(ones.fold(Bits::zero(width), |all, (at, _)| all.with_bit(at, true)))
    }
}
