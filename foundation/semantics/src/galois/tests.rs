//! Inverses multiply to one.

use super::{inverse, product};

#[test]
fn inverses_multiply_to_one() {
    for polynomial in [0x11b, 0x1f5] {
        assert_eq!(inverse(polynomial, 0), 0);
        for x in 1..=255u8 {
            let y = inverse(polynomial, x);
            assert_eq!(product(polynomial, u32::from(x), u32::from(y)), 1, "{x}");
        }
    }
}

/// FIPS 197 gives {53} and {ca} as inverses of each other.
#[test]
fn a_published_inverse() {
    assert_eq!(inverse(0x11b, 0x53), 0xca);
}
