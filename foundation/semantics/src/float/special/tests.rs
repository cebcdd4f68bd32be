//! Results that were measured on a processor with AVX-512 F and DQ.

use super::*;

const SINGLE: u32 = Format::F32 as u32;
const DOUBLE: u32 = Format::F64 as u32;
const QUIET: u64 = 0x7fc0_0001;
const SIGNALLING: u64 = 0x7f80_0003;
const INFINITY: u64 = 0x7f80_0000;
const MINUS: u64 = 0x8000_0000;

#[test]
fn scaling_lets_infinite_exponents_beat_quiet_nans() {
    let scale = |a, b| scale(&[SINGLE, 0], [a, b, 0]);
    assert_eq!(scale(QUIET, INFINITY), INFINITY);
    assert_eq!(scale(QUIET, MINUS | INFINITY), 0);
    assert_eq!(scale(SIGNALLING, INFINITY), 0x7fc0_0003);
    assert_eq!(scale(0, INFINITY), Format::F32.default_nan());
    assert_eq!(scale(MINUS, MINUS | INFINITY), MINUS);
    // 1.5 * 2^floor(-2.5) = 1.5 / 8
    assert_eq!(scale(0x3fc0_0000, 0xc020_0000), 0x3e40_0000);
    // The least subnormal halved, rounded up, stays.
    let up = Rounding::Up.code();
    assert_eq!(super::scale(&[SINGLE, up], [1, 0xbf80_0000, 0]), 1);
    assert_eq!(scale(1, 0xbf80_0000), 0);
}

#[test]
fn exponents_of_subnormal_numbers_are_their_values() {
    let exponent = |x| get_exponent(&[SINGLE], [x, 0, 0]);
    assert_eq!(exponent(1), 0xc315_0000); // -149
    assert_eq!(exponent(MINUS), MINUS | INFINITY);
    assert_eq!(exponent(MINUS | INFINITY), INFINITY);
    assert_eq!(exponent(SIGNALLING), 0x7fc0_0003);
}

#[test]
fn mantissas_lie_in_their_intervals() {
    let mantissa = |x, control| get_mantissa(&[SINGLE], [x, control, 0]);
    // 3 = 1.5 * 2^1; odd exponents are halved in interval 1
    let three = 0x4040_0000;
    assert_eq!(mantissa(three, 0), 0x3fc0_0000);
    assert_eq!(mantissa(three, 1), 0x3f40_0000);
    assert_eq!(mantissa(three, 2), 0x3f40_0000);
    assert_eq!(mantissa(three, 3), 0x3f40_0000);
    assert_eq!(mantissa(1, 0), 0x3f80_0000);
    assert_eq!(mantissa(MINUS | three, 4), 0x3fc0_0000);
    assert_eq!(mantissa(MINUS | three, 8), Format::F32.default_nan());
    assert_eq!(mantissa(MINUS, 8), 0xbf80_0000);
    assert_eq!(mantissa(INFINITY, 2), 0x3f80_0000);
}

#[test]
fn rounding_to_places_and_its_remainder() {
    let (round, rest) = (
        |x, control| round_scale(&[SINGLE], [x, control, 0]),
        |x, control| reduce(&[SINGLE], [x, control, 0]),
    );
    let eighth = 0x3e00_0000;
    assert_eq!(round(eighth, 0x20), 0);
    assert_eq!(round(eighth, 0x22), 0x3e80_0000);
    assert_eq!(round(eighth, 0x30), eighth);
    assert_eq!(rest(eighth, 0x20), eighth);
    assert_eq!(rest(eighth, 0x22), 0xbe00_0000);
    assert_eq!(rest(INFINITY, 0), 0);
    // Exact remainders have the sign that the rounding gives to a zero.
    assert_eq!(rest(0x3f80_0000, 0), 0);
    assert_eq!(rest(0x3f80_0000, 1), MINUS);
}

#[test]
fn rounding_to_no_places_is_rounding() {
    let half = Format::F16;
    for control in 0..16 {
        let mode = immediate_rounding(control);
        for x in 0..1 << half.width() {
            let plain = crate::float::round(&[half.code(), mode.code()], [x, 0, 0]);
            assert_eq!(
                round_scale(&[half.code()], [x, control, 0]),
                plain,
                "{x:#x}, {control}"
            );
        }
    }
}

#[test]
fn range_orders_zeros_and_prefers_numbers() {
    let range = |a, b, control| range(&[SINGLE], [a, b, control]);
    assert_eq!(range(0, MINUS, 4), MINUS);
    assert_eq!(range(MINUS, 0, 5), 0);
    assert_eq!(range(0xbf80_0000, 0x3f80_0000, 6), 0xbf80_0000);
    assert_eq!(range(0xbf80_0000, 0x3f80_0000, 7), 0x3f80_0000);
    assert_eq!(range(0xbf80_0000, 0x3f80_0000, 3), 0xbf80_0000);
    assert_eq!(range(QUIET, 0, 4), 0);
    assert_eq!(range(QUIET, SIGNALLING, 4), 0x7fc0_0003);
    assert_eq!(range(0xffc0_0002, QUIET, 4), 0xffc0_0002);
    assert_eq!(range(MINUS | 1, MINUS, 5), MINUS);
}

#[test]
fn fix_up_answers_by_class() {
    // Entry `answer` for the class of the input, 15 for all others.
    let fix = |x, token: u64, answer: u64| {
        let table = 0xffff_ffff & !(15 << (4 * token)) | answer << (4 * token);
        fix_up(&[SINGLE], [0x1234, x, table])
    };
    assert_eq!(fix(QUIET, 0, 0), 0x1234);
    assert_eq!(fix(SIGNALLING, 1, 2), 0x7fc0_0003);
    assert_eq!(fix(MINUS, 2, 13), 0x3fc9_0fdb);
    assert_eq!(fix(0x3f80_0000, 3, 12), 0x42b4_0000);
    assert_eq!(fix(MINUS | INFINITY, 4, 6), MINUS | INFINITY);
    assert_eq!(fix(INFINITY, 5, 11), 0x3f00_0000);
    assert_eq!(fix(0xc040_0000, 6, 3), Format::F32.default_nan());
    assert_eq!(fix(1, 7, 1), 1);
    assert_eq!(fix(1, 6, 1), 0xff7f_ffff);
}

#[test]
fn classes_are_disjoint_but_for_negative_subnormals() {
    let class = |x, control| class(&[DOUBLE], [x, control, 0]);
    let sign = 1 << 63;
    for (x, control) in [
        (0x7ff8_0000_0000_0001, 1),
        (0, 2),
        (sign, 4),
        (0x7ff0_0000_0000_0000, 8),
        (sign | 0x7ff0_0000_0000_0000, 16),
        (1, 32),
        (sign | 0x3ff0_0000_0000_0000, 64),
        (0x7ff0_0000_0000_0001, 128),
        (sign | 1, 96),
    ] {
        assert_eq!(class(x, control), 1, "{x:x}");
        assert_eq!(class(x, 255 & !control), 0, "{x:x}");
    }
}

#[test]
fn reciprocals_of_zeros_and_infinities() {
    let stated = [SINGLE, 1, 14];
    assert_eq!(reciprocal(&stated, [MINUS, 0, 0]), MINUS | INFINITY);
    assert_eq!(reciprocal(&stated, [MINUS | INFINITY, 0, 0]), MINUS);
    assert_eq!(reciprocal_root(&stated, [MINUS, 0, 0]), MINUS | INFINITY);
    assert_eq!(reciprocal_root(&stated, [INFINITY, 0, 0]), 0);
    assert_eq!(reciprocal_root(&stated, [0x4080_0000, 0, 0]), 0x3f00_0000);
    assert_eq!(
        reciprocal_root(&stated, [0xbf80_0000, 0, 0]),
        Format::F32.default_nan()
    );
}
