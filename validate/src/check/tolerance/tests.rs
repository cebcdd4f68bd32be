//! Tests of what is tolerated, and of what is not.

use super::{is_default, is_near, real};
use semantics::float::Format;

#[test]
fn approximations_are_near_within_their_error() {
    let f = Format::F32;
    let bits = |x: f32| u64::from(x.to_bits());
    let error = 0.5_f64.powi(14);
    let third = 1.0_f32 / 3.0;
    assert!(is_near(
        f,
        bits(third),
        bits(third * (1.0 + 0.9 / 16384.0)),
        error
    ));
    assert!(!is_near(
        f,
        bits(third),
        bits(third * (1.0 + 1.2 / 16384.0)),
        error
    ));
    assert!(!is_near(f, bits(third), bits(-third), error));
    assert!(!is_near(f, bits(third), 0, error));
    assert!(!is_near(f, f.infinity(), bits(f32::MAX), error));
    assert!(!is_near(f, 0, 1, error));
    // A subnormal result may be zero of its sign.
    assert!(is_near(f, 0x8000_0100, 0x8000_0000, error));
    assert!(!is_near(f, 0x8000_0100, 0, error));
}

/// Seen: 1 / 32800 is 511.5005 units of the least half; `vrcpph` answers 511, the nearest is 512.
#[test]
fn a_subnormal_approximation_is_rounded_by_the_machine_too() {
    let error = 9.0 * 0.5_f64.powi(14);
    assert!(is_near(Format::F16, 0x200, 0x1ff, error));
    assert!(!is_near(Format::F16, 0x200, 0x1fe, error));
    assert!(!is_near(Format::F16, 0x3c00, 0x3c02, error));
}

#[test]
fn numbers_are_read_exactly() {
    for x in [1.0_f32, -0.375, f32::MIN_POSITIVE, 1e-40, f32::MAX] {
        assert_eq!(real(Format::F32, u64::from(x.to_bits())), f64::from(x));
    }
    assert_eq!(real(Format::F16, 0x3c01), 1.0 + 1.0 / 1024.0);
    assert_eq!(real(Format::Bf16, 0x3f80), 1.0);
}

#[test]
fn the_default_nan_has_either_sign_and_no_payload() {
    assert!(is_default(Format::F32, 0x7fc0_0000));
    assert!(is_default(Format::F32, 0xffc0_0000));
    assert!(!is_default(Format::F32, 0x7fc0_0001));
    assert!(!is_default(Format::F32, 0x7f80_0001));
    assert!(is_default(Format::F16, 0x7e00));
}
