//! Tests that the edges are what they say.

use super::{bound, float, narrower_tie};
use crate::check::inputs::numbers;
use semantics::float::Format;

#[test]
fn every_kind_of_float_is_drawn() {
    for f in Format::ALL {
        let mut random = numbers(1, "edges");
        let drawn: Vec<u64> = (0..2000).map(|_| float(f, &mut random)).collect();
        let one = f.infinity() >> (f.fraction() + 1) << f.fraction();
        let least = f.quiet_bit() << 1;
        for edge in [0, one, f.infinity(), f.infinity() - 1, least, least - 1, 1] {
            for sign in [0, f.sign()] {
                assert!(drawn.contains(&(edge | sign)), "{} {edge:x}", f.name());
            }
        }
        let quiet = |x: u64| x & f.quiet_bit() != 0;
        assert!(drawn.iter().any(|&x| f.is_nan(x) && quiet(x)));
        assert!(drawn.iter().any(|&x| f.is_nan(x) && !quiet(x)));
        assert!(drawn.iter().all(|&x| x <= f.sign() | (f.sign() - 1)));
    }
}

#[test]
fn bounds_of_conversions_are_drawn() {
    let mut random = numbers(1, "bounds");
    let drawn: Vec<f64> = (0..2000)
        .map(|_| f64::from_bits(bound(Format::F64, &mut random)))
        .collect();
    for x in [
        127.5,
        255.0,
        32767.5,
        2147483648.0,
        2147483647.5,
        4294967295.0,
        9223372036854775808.0,
    ] {
        assert!(drawn.contains(&x), "{x}");
    }
}

#[test]
fn ties_of_narrower_formats_are_drawn() {
    let mut random = numbers(1, "ties");
    let mut tie = |_| {
        let x = f64::from_bits(narrower_tie(Format::F64, &mut random));
        let (low, high) = (x as f32, f64::from(x as f32));
        let other = if high < x {
            low.next_up()
        } else {
            low.next_down()
        };
        (x - high).abs() == (f64::from(other) - x).abs()
    };
    assert!((0..200).map(&mut tie).filter(|&t| t).count() > 10);
}
