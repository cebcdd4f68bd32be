//! Numbers as written, as floats.
//!
//! In: a format and the digits. Out: the pattern of the nearest value, ties to even.

use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, Round, Status};
use semantics::float::Format;

/// The pattern of a number, and whether it is that number exactly; none when it is too large.
pub fn pattern(format: Format, text: &str) -> Option<(i128, bool)> {
    match format {
        Format::F16 => read::<Half>(text),
        Format::Bf16 => read::<BFloat>(text),
        Format::F32 => read::<Single>(text),
        Format::F64 => read::<Double>(text),
    }
}

fn read<F: Float>(text: &str) -> Option<(i128, bool)> {
    let read = F::from_str_r(text, Round::NearestTiesToEven).ok()?;
    let pattern = i128::try_from(read.value.to_bits()).ok()?;
    read.value
        .is_finite()
        .then_some((pattern, read.status == Status::OK))
}
