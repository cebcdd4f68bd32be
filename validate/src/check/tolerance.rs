//! In what the result of a machine may differ from the interpreter's and still agree.
//!
//! In: an instruction, a result of each. Out: for each element whether it is the same, another
//! NaN, an approximation within its stated error, or wrong. Only two things are tolerated:
//!
//! - Where both results are NaN, the machine's may be another one of the operands' NaNs made
//!   quiet (converted to the format of the result), or the default NaN, whose sign is the
//!   processor's choice: compilers may commute operands and choose among the forms of a fused
//!   multiplication.
//! - Where an element is computed by an approximation, the machine's result may be off by the
//!   stated relative error and half a unit in the last place, which is the interpreter's own
//!   rounding; by another half where the result is subnormal, which no relative error bounds:
//!   there the machine's own rounding comes to it. Zeros, infinities and NaNs are compared like
//!   any other result; for a result that is subnormal, zero of its sign is accepted.

#[cfg(test)]
mod tests;

use super::edges::format;
use super::inputs::Record;
use codegen_gen::check_harness::{pointers, recorded};
use semantics::bits::Bits;
use semantics::build;
use semantics::float::Format;
use semantics::instruction::{Element, Instruction, Output};
use semantics::op::OpCode;
use semantics::term::Term;
use semantics::unroll::unroll;
use std::collections::{BTreeSet, HashSet};

/// How two results compare; later is worse.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Likeness {
    /// Every bit.
    Same,
    /// Up to an approximation's stated error.
    Near,
    /// Up to which NaN is returned.
    OtherNan,
    /// Different.
    Wrong,
}

/// What is tolerated in one result.
pub(crate) struct Tolerance {
    format: Option<Format>,
    /// The stated relative error of each element; 0 for those that are exact.
    errors: Vec<f64>,
}

impl Tolerance {
    /// What is tolerated in an output.
    pub(crate) fn of(output: &Output) -> Tolerance {
        let format = format(output.element);
        let width = output.term.sort().width().unwrap_or(0);
        let flat = unroll(output.term);
        let errors = match format {
            Some(f) if error(flat) > 0.0 => (0..width / f.width())
                .map(|lane| error(build::extract(flat, lane * f.width(), f.width())))
                .collect(),
            _ => Vec::new(),
        };
        Tolerance { format, errors }
    }

    /// Compares what is defined of two results.
    pub(crate) fn compare(
        &self,
        instruction: &Instruction,
        record: &Record,
        expected: &Bits,
        found: &Bits,
        defined: &Bits,
    ) -> Likeness {
        let wrong = expected.xor(found).and(defined);
        if wrong.is_zero() {
            return Likeness::Same;
        }
        let Some(f) = self.format else {
            return Likeness::Wrong;
        };
        let mut worst = Likeness::Same;
        let mut nans = None;
        for lane in 0..expected.width().div_ceil(f.width()) {
            let element = |bits: &Bits| bits.extract(lane * f.width(), f.width()).low_u64();
            if element(&wrong) == 0 {
                continue;
            }
            let (e, g) = (element(expected), element(found));
            let error = self.errors.get(lane as usize).copied().unwrap_or(0.0);
            let likeness = if f.is_nan(e) && f.is_nan(g) {
                let nans = nans.get_or_insert_with(|| operand_nans(instruction, record, f));
                match is_default(f, g) || nans.contains(&g) {
                    true => Likeness::OtherNan,
                    false => Likeness::Wrong,
                }
            } else if error > 0.0 && is_near(f, e, g, error) {
                Likeness::Near
            } else {
                Likeness::Wrong
            };
            worst = worst.max(likeness);
        }
        worst
    }
}

/// Whether a NaN is the default one, of either sign.
fn is_default(f: Format, nan: u64) -> bool {
    nan | f.sign() == f.default_nan() | f.sign()
}

/// The largest stated error of the approximations in a term; 0 when there are none.
fn error(term: Term) -> f64 {
    let (mut largest, mut seen, mut open) = (0.0_f64, HashSet::new(), vec![term]);
    while let Some(term) = open.pop() {
        if !seen.insert(term) {
            continue;
        }
        if let Some((op, _)) = term.as_app()
            && matches!(op.code, OpCode::FRcp | OpCode::FRsqrt)
        {
            let (times, bits) = (op.params()[1], op.params()[2]);
            largest = largest.max(f64::from(times) * 0.5_f64.powi(bits as i32));
        }
        open.extend(term.children());
    }
    largest
}

/// Whether `found` is within the stated error of `expected`, which is the exact result
/// rounded to nearest.
fn is_near(f: Format, expected: u64, found: u64, error: f64) -> bool {
    let finite = |x: u64| x & f.infinity() != f.infinity();
    if !finite(expected) || !finite(found) || (expected ^ found) & f.sign() != 0 {
        return false;
    }
    let magnitude = expected & !f.sign();
    if magnitude == 0 {
        return false;
    }
    let subnormal = magnitude & f.infinity() == 0;
    if found & !f.sign() == 0 {
        return subnormal;
    }
    let (e, g) = (real(f, expected), real(f, found));
    let unit = real(f, magnitude + 1) - real(f, magnitude);
    let roundings = if subnormal { 2.0 } else { 1.0 };
    (g - e).abs() <= e.abs() * error + roundings * unit / 2.0
}

/// A finite number as the machine's double, which holds every format's exactly.
fn real(f: Format, bits: u64) -> f64 {
    if f == Format::F64 {
        return f64::from_bits(bits);
    }
    let unit = f.quiet_bit() << 1;
    let field = ((bits & f.infinity()) >> f.fraction()) as i32;
    let bias = (f.infinity() >> (f.fraction() + 1)) as i32;
    let fraction = bits & (unit - 1);
    let significand = if field == 0 {
        fraction
    } else {
        fraction | unit
    };
    let magnitude = significand as f64 * 2_f64.powi(field.max(1) - bias - f.fraction() as i32);
    if bits & f.sign() == 0 {
        magnitude
    } else {
        -magnitude
    }
}

/// The NaNs among the operands and in memory, quiet and in a format.
fn operand_nans(instruction: &Instruction, record: &Record, to: Format) -> BTreeSet<u64> {
    let mut found = BTreeSet::new();
    let mut collect = |element: Element, bits: &Bits| {
        let formats = match (format(element), element) {
            (Some(own), _) => vec![own],
            (None, Element::Untyped) => Format::ALL.to_vec(),
            (None, _) => vec![to],
        };
        for from in formats {
            for lane in 0..bits.width() / from.width() {
                let x = bits.extract(lane * from.width(), from.width()).low_u64();
                if from.is_nan(x) {
                    found.insert(converted(from, to, x));
                }
            }
        }
    };
    for (operand, value) in recorded(instruction).zip(&record.values) {
        collect(operand.element, value);
    }
    for (operand, (_, bytes)) in pointers(instruction).zip(&record.windows) {
        collect(
            operand.element,
            &Bits::from_bytes(bytes.len() as u32 * 8, bytes),
        );
    }
    found
}

/// A NaN in another format, quiet: its sign and the high bits of its payload.
fn converted(from: Format, to: Format, x: u64) -> u64 {
    let sign = if x & from.sign() == 0 { 0 } else { to.sign() };
    let payload = x & (from.quiet_bit() - 1);
    let (have, want) = (from.fraction(), to.fraction());
    let payload = match want >= have {
        true => payload << (want - have),
        false => payload >> (have - want),
    };
    sign | to.infinity() | to.quiet_bit() | payload
}
