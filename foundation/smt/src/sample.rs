//! Looking for a difference by evaluation, before any engine is asked.
//!
//! In: terms and a seed. Out: inputs (edge values of integers and floats of every element
//! width, and random ones) on which they were run in the interpreter. Finding nothing proves
//! nothing.

use crate::verdict::Model;
use semantics::bits::Bits;
use semantics::eval::{CompiledTerms, Input};
use semantics::random::Random;
use semantics::sort::Sort;
use semantics::subst::free_vars;
use semantics::term::Term;
use semantics::value::{Memory, Value};

/// Inputs evaluated at a time.
const BATCH: usize = 32;
/// The element widths whose edge values are tried.
const ELEMENTS: [u32; 5] = [8, 16, 32, 64, 1];

/// Edge values of an element: 0, 1, -1, the least, the greatest, and half ways.
fn edge(width: u32, which: u64) -> Bits {
    let ones = Bits::ones(width);
    match which % 8 {
        0 => Bits::zero(width),
        1 => Bits::from_u64(width, 1),
        2 => ones,
        3 => ones.lshr_u32(1).not(),
        4 => ones.lshr_u32(1),
        5 => ones.lshr_u32(1).not().add(&Bits::from_u64(width, 1)),
        6 => ones.lshr_u32(width / 2),
        _ => Bits::from_u64(width, 2),
    }
}

/// Edge values of a float of that width: zeros, one, infinities, quiet and signalling NaN of
/// either sign with different payloads, subnormal numbers.
fn float_edge(width: u32, which: u64) -> Bits {
    let (infinity, quiet): (u64, u64) = match width {
        16 => (0x7c00, 0x0200),
        32 => (0x7f80_0000, 0x0040_0000),
        _ => (0x7ff0_0000_0000_0000, 0x0008_0000_0000_0000),
    };
    let magnitude = match which % 8 {
        0 => 0,
        1 => (infinity >> 1) & !(quiet - 1),
        2 => infinity,
        3 => infinity | quiet | 1,
        4 => infinity | quiet | 2,
        5 => infinity | 3,
        6 => 1,
        _ => infinity - 1,
    };
    let sign = (which / 8 % 2) << (width - 1);
    Bits::from_u64(width, sign | magnitude)
}

/// How the inputs of one sample are drawn: the first samples give every element of every
/// input one edge value, the next mix edge values, the last are random.
fn draw(sort: Sort, sample: usize, random: &mut Random) -> Value {
    match sort {
        Sort::Bool => Value::Bool(random.below(2) == 1),
        Sort::Int => Value::Int(i64::try_from(random.below(64)).expect("below 64")),
        Sort::Mem => Value::Mem(Memory {
            bytes: Default::default(),
            fill: random.next_bits() as u8,
        }),
        Sort::Bv(width) => Value::Bv(draw_bits(width, sample, random)),
    }
}

fn draw_bits(width: u32, sample: usize, random: &mut Random) -> Bits {
    let element = ELEMENTS[sample / 8 % ELEMENTS.len()].min(width);
    let uniform = 8 * ELEMENTS.len();
    let mut out = Bits::zero(width);
    let mut lo = 0;
    while lo < width {
        let piece = match sample {
            s if s < uniform => edge(element, s as u64),
            s if s % 4 == 3 => random.bits(element),
            s if s % 4 == 2 && matches!(element, 16 | 32 | 64) => {
                float_edge(element, random.next_bits())
            }
            _ => match random.below(4) {
                0 => random.bits(element),
                _ => edge(element, random.next_bits()),
            },
        };
        let room = element.min(width - lo);
        out = out.insert(lo, &piece.extract(0, room));
        lo += room;
    }
    out
}

/// The free variables of some terms as inputs of a program.
pub(crate) fn inputs(terms: &[Term]) -> Vec<Input> {
    let mut vars: Vec<Term> = terms.iter().flat_map(|&t| free_vars(t)).collect();
    vars.sort();
    vars.dedup();
    vars.into_iter()
        .map(|v| Input {
            name: v.as_var().expect("free variables are variables").to_owned(),
            sort: v.sort(),
        })
        .collect()
}

/// An input on which two terms of one sort differ, if one of `samples` drawn ones shows it.
pub(crate) fn find_difference(a: Term, b: Term, seed: u64, samples: usize) -> Option<Model> {
    let inputs = inputs(&[a, b]);
    let program = CompiledTerms::compile(&[a, b], &inputs).ok()?;
    let mut random = Random::new(seed);
    let mut frame = program.frame(BATCH);
    for start in (0..samples).step_by(BATCH) {
        let mut drawn: Vec<Vec<Value>> = Vec::with_capacity(BATCH);
        for lane in 0..BATCH {
            let values: Vec<Value> = inputs
                .iter()
                .map(|i| draw(i.sort, start + lane, &mut random))
                .collect();
            for (k, value) in values.iter().enumerate() {
                program.set(&mut frame, k, lane, value);
            }
            drawn.push(values);
        }
        program.execute(&mut frame);
        for (lane, values) in drawn.into_iter().enumerate() {
            if program.get(&frame, 0, lane) != program.get(&frame, 1, lane) {
                return Some(inputs.iter().map(|i| i.name.clone()).zip(values).collect());
            }
        }
    }
    None
}

/// The values of some terms of at most 64 bits on as many drawn inputs, by term.
pub(crate) fn words(terms: &[Term], seed: u64, samples: usize) -> Option<Vec<Vec<u64>>> {
    let inputs = inputs(terms);
    let program = CompiledTerms::compile(terms, &inputs).ok()?;
    let mut random = Random::new(seed);
    let mut frame = program.frame(samples);
    for lane in 0..samples {
        for (k, input) in inputs.iter().enumerate() {
            program.set(&mut frame, k, lane, &draw(input.sort, lane, &mut random));
        }
    }
    program.execute(&mut frame);
    let words = |k| program.output_words(&frame, k).to_vec();
    Some((0..terms.len()).map(words).collect())
}

/// The values of some terms on one input; variables that the model leaves out read as zero.
pub(crate) fn evaluate(terms: &[Term], model: &Model) -> Option<Vec<Value>> {
    let inputs = inputs(terms);
    let program = CompiledTerms::compile(terms, &inputs).ok()?;
    let values: Vec<Value> = inputs
        .iter()
        .map(|i| {
            model
                .get(&i.name)
                .filter(|v| v.sort() == i.sort)
                .cloned()
                .unwrap_or_else(|| nothing(i.sort))
        })
        .collect();
    Some(program.run(&values))
}

/// The zero of a sort.
fn nothing(sort: Sort) -> Value {
    match sort {
        Sort::Bool => Value::Bool(false),
        Sort::Int => Value::Int(0),
        Sort::Bv(width) => Value::Bv(Bits::zero(width)),
        Sort::Mem => Value::Mem(Memory::default()),
    }
}
