//! The edges of element types: the values at which instructions go wrong.
//!
//! In: how an element is read, its width, random numbers. Out: bit patterns. For integers:
//! 0, ±1, the ends, powers of two ±1, and what lies halfway between two floats; for floats:
//! zeros, ones, the least and greatest normal and subnormal numbers, infinities, quiet and
//! signalling NaNs with a payload, halfway points of narrower formats and of the integers,
//! and the bounds of conversions to integers. It does not say where they are used.

#[cfg(test)]
mod tests;

use semantics::float::Format;
use semantics::instruction::Element;
use semantics::random::Random;

/// The format in which an element is a float.
pub(crate) fn format(element: Element) -> Option<Format> {
    match element {
        Element::Float(16) => Some(Format::F16),
        Element::Float(32) => Some(Format::F32),
        Element::Float(64) => Some(Format::F64),
        Element::Bfloat16 => Some(Format::Bf16),
        _ => None,
    }
}

/// An edge of an element of at most 64 bits.
pub(crate) fn edge(element: Element, width: u32, random: &mut Random) -> u64 {
    match format(element) {
        Some(format) => float(format, random),
        None => integer(width, random),
    }
}

fn integer(width: u32, random: &mut Random) -> u64 {
    let top = 1_u64 << (width - 1);
    let power = 1_u64 << random.below(u64::from(width));
    match random.below(9) {
        0 => 0,
        1 => 1,
        2 => u64::MAX,
        3 => top,
        4 => top - 1,
        5 => power,
        6 => power.wrapping_sub(1),
        7 => power.wrapping_add(1),
        _ => between_floats(width, random),
    }
}

/// An integer halfway between two numbers of 11, 24 or 53 significant bits, or its negative.
fn between_floats(width: u32, random: &mut Random) -> u64 {
    let fitting = [11, 24, 53].iter().filter(|&&p| p < width).count();
    if fitting == 0 {
        return random.next_bits();
    }
    let precision = [11, 24, 53][random.below(fitting as u64) as usize];
    let shift = 1 + random.below(u64::from(width - precision)) as u32;
    let high = random.next_bits() >> (64 - precision) | 1 << (precision - 1);
    let tie = high.wrapping_shl(shift) | 1 << (shift - 1);
    if random.below(2) == 0 {
        tie
    } else {
        tie.wrapping_neg()
    }
}

fn float(f: Format, random: &mut Random) -> u64 {
    let sign = if random.below(2) == 0 { 0 } else { f.sign() };
    let unit = f.quiet_bit() << 1;
    let payload = random.next_bits() & (unit - 1);
    let one = power(f, 0);
    let magnitude = match random.below(20) {
        0 | 1 => 0,
        2 => one,
        3 => f.infinity(),
        4 => f.infinity() | f.quiet_bit() | payload,
        5 => f.infinity() | payload & (f.quiet_bit() - 1) | 1,
        6 => f.infinity() - 1,
        7 => unit,
        8 => unit - 1,
        9 => 1,
        10 => payload,
        11 => one - 1 + random.below(3),
        12 => one | f.quiet_bit(),
        13 => whole_or_half(f, random),
        14 | 15 => bound(f, random),
        16 | 17 => narrower_tie(f, random),
        18 => power(f, random.below(10) as i32 - 5) | payload,
        _ => power(f, random.below(80) as i32 - 16) | payload,
    };
    sign | magnitude & (f.sign() - 1)
}

/// The pattern of a power of two; beyond the format's range, its end.
fn power(f: Format, exponent: i32) -> u64 {
    let bias = (f.infinity() >> (f.fraction() + 1)) as i32;
    let field = (exponent + bias).clamp(0, 2 * bias);
    (field as u64) << f.fraction()
}

/// A small number with one bit after the point.
fn whole_or_half(f: Format, random: &mut Random) -> u64 {
    let exponent = random.below(7) as i32 - 1;
    let keep = (exponent + 1).max(0) as u32;
    let fraction = random.next_bits() & ((f.quiet_bit() << 1) - 1);
    let drop = f.fraction().saturating_sub(keep);
    power(f, exponent) | fraction >> drop << drop
}

/// At a bound of a conversion to an integer: a power of two, up to two steps beside it, or a
/// half or whole less.
fn bound(f: Format, random: &mut Random) -> u64 {
    const BITS: [i32; 8] = [7, 8, 15, 16, 31, 32, 63, 64];
    let exponent = BITS[random.below(8) as usize];
    let at = power(f, exponent);
    let below = |distance: i32| {
        let bit = f.fraction() as i32 - exponent + distance;
        let step = u32::try_from(bit).ok().and_then(|b| 1_u64.checked_shl(b));
        // One binade down the same distance is twice as many steps.
        step.map_or(at, |step| at.wrapping_sub(2 * step))
    };
    match random.below(5) {
        0 => at,
        1 => at.wrapping_add(1 + random.below(2)),
        2 => at.wrapping_sub(1 + random.below(2)),
        3 => below(0),
        _ => below(-1),
    }
}

/// Halfway between two numbers of a narrower format, or a step beside that.
fn narrower_tie(f: Format, random: &mut Random) -> u64 {
    let narrower: &[(Format, i32)] = match f {
        Format::F64 => &[(Format::F32, 126), (Format::F16, 14), (Format::Bf16, 126)],
        Format::F32 => &[(Format::F16, 14), (Format::Bf16, 126)],
        Format::F16 | Format::Bf16 => return whole_or_half(f, random),
    };
    let (to, least) = narrower[random.below(narrower.len() as u64) as usize];
    let (mut exponent, mut kept) = (random.below(30) as i32 - 15, to.fraction());
    if random.below(3) == 0 {
        // Among the subnormal numbers of the narrower format.
        let below = random.below(u64::from(to.fraction()));
        exponent = -least - 1 - below as i32;
        kept = (to.fraction() - 1).saturating_sub(below as u32);
    }
    let drop = f.fraction() - kept;
    let fraction = random.next_bits() & ((f.quiet_bit() << 1) - 1);
    let tie = fraction >> drop << drop | 1 << (drop - 1);
    (power(f, exponent) | tie).wrapping_add(random.below(3)) - 1
}
