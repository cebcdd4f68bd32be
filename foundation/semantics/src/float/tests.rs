//! Against the machine's own arithmetic in double and single precision, and against exact
//! arithmetic where the machine has none.

use super::{Format, Rounding};
use crate::random::Random;

/// A pattern of a format: any, or near zero, one, infinity, the smallest and largest.
fn pattern(random: &mut Random, f: Format) -> u64 {
    let one = f.infinity() >> (f.fraction() + 1) << f.fraction();
    let near = [
        0,
        f.quiet_bit(),
        f.quiet_bit() * 2,
        one,
        f.infinity(),
        f.infinity() | f.quiet_bit(),
    ];
    let sign = if random.below(2) == 0 { 0 } else { f.sign() };
    let magnitude = match random.below(3) {
        0 => near[random.below(6) as usize]
            .wrapping_add(random.below(5))
            .wrapping_sub(2),
        _ => random.next_bits(),
    };
    sign | magnitude & (f.sign() - 1)
}

/// A machine result as x86 gives it: the first NaN operand quieted, else the default NaN.
fn expected(f: Format, operands: &[u64], result: u64) -> u64 {
    match operands.iter().find(|&&x| f.is_nan(x)) {
        Some(nan) => nan | f.quiet_bit(),
        None if f.is_nan(result) => f.default_nan(),
        None => result,
    }
}

macro_rules! against_machine {
    ($name:ident, $format:expr, $f:ty, $u:ty) => {
        #[test]
        fn $name() {
            let mut random = Random::new(11);
            let f = $format;
            let p = [f.code(), Rounding::NearestEven.code()];
            for _ in 0..20_000 {
                let w: [u64; 3] = std::array::from_fn(|_| pattern(&mut random, f));
                let [x, y, z] = w.map(|v| <$f>::from_bits(v as $u));
                let check = |name: &str, got: u64, operands: &[u64], machine: $f| {
                    let want = expected(f, operands, u64::from(machine.to_bits()));
                    assert_eq!(got, want, "{name} {w:x?}");
                };
                check("add", super::add(&p, w), &w[..2], x + y);
                check("exact add", super::exact_add(&p, w), &w[..2], x + y);
                check("sub", super::sub(&p, w), &w[..2], x - y);
                check("exact sub", super::exact_sub(&p, w), &w[..2], x - y);
                check("mul", super::mul(&p, w), &w[..2], x * y);
                check("exact mul", super::exact_mul(&p, w), &w[..2], x * y);
                check("div", super::div(&p, w), &w[..2], x / y);
                check("exact div", super::exact_div(&p, w), &w[..2], x / y);
                check("sqrt", super::sqrt(&p, w), &w[..1], x.sqrt());
                check("madd", super::madd(&p, w), &w, x.mul_add(y, z));
                check("msub", super::msub(&p, w), &w, x.mul_add(y, -z));
                check("nmadd", super::nmadd(&p, w), &w, (-x).mul_add(y, z));
                check("nmsub", super::nmsub(&p, w), &w, (-x).mul_add(y, -z));
                for (r, machine) in [
                    (Rounding::NearestEven, x.round_ties_even()),
                    (Rounding::NearestAway, x.round()),
                    (Rounding::Down, x.floor()),
                    (Rounding::Up, x.ceil()),
                    (Rounding::Zero, x.trunc()),
                ] {
                    check(
                        "round",
                        super::round(&[f.code(), r.code()], w),
                        &w[..1],
                        machine,
                    );
                }
                assert_eq!(super::less(&p, w) == 1, x < y, "{w:x?}");
                assert_eq!(super::at_most(&p, w) == 1, x <= y, "{w:x?}");
                assert_eq!(super::equal(&p, w) == 1, x == y, "{w:x?}");
                let (min, max) = (
                    if x < y { w[0] } else { w[1] },
                    if x > y { w[0] } else { w[1] },
                );
                assert_eq!(super::minimum(&p, w), min, "{w:x?}");
                assert_eq!(super::maximum(&p, w), max, "{w:x?}");
                assert_eq!(super::unordered(&p, w) == 1, x.is_nan() || y.is_nan());
            }
        }
    };
}

against_machine!(single_precision_is_the_machines, Format::F32, f32, u32);
against_machine!(double_precision_is_the_machines, Format::F64, f64, u64);

/// In the narrow formats, a sum, product, quotient or root computed in double precision and
/// rounded to nearest again is the correctly rounded one (Figueroa 1995: 53 >= 2·11 + 2).
#[test]
fn narrow_formats_round_once() {
    let mut random = Random::new(12);
    for f in [Format::F16, Format::Bf16, Format::F32] {
        let widen = |x: u64| {
            f64::from_bits(super::convert(
                &[f.code(), Format::F64.code(), 0],
                [x, 0, 0],
            ))
        };
        let narrow =
            |x: f64| super::convert(&[Format::F64.code(), f.code(), 0], [x.to_bits(), 0, 0]);
        let p = [f.code(), 0];
        for _ in 0..20_000 {
            let w: [u64; 3] = std::array::from_fn(|_| pattern(&mut random, f));
            let (x, y) = (widen(w[0]), widen(w[1]));
            if x.is_nan() || y.is_nan() {
                continue;
            }
            let want = |r: f64| {
                if r.is_nan() {
                    f.default_nan()
                } else {
                    narrow(r)
                }
            };
            assert_eq!(super::add(&p, w), want(x + y), "{f:?} {w:x?}");
            assert_eq!(super::mul(&p, w), want(x * y), "{f:?} {w:x?}");
            assert_eq!(super::div(&p, w), want(x / y), "{f:?} {w:x?}");
            assert_eq!(super::sqrt(&p, w), want(x.sqrt()), "{f:?} {w:x?}");
        }
    }
}

#[test]
fn conversions_are_the_machines() {
    let mut random = Random::new(13);
    let (single, double) = (Format::F32.code(), Format::F64.code());
    for _ in 0..20_000 {
        let (s, d) = (
            pattern(&mut random, Format::F32),
            pattern(&mut random, Format::F64),
        );
        let (x, y) = (f32::from_bits(s as u32), f64::from_bits(d));
        if !x.is_nan() {
            assert_eq!(
                super::convert(&[single, double, 0], [s, 0, 0]),
                f64::from(x).to_bits()
            );
        }
        if !y.is_nan() {
            assert_eq!(
                super::convert(&[double, single, 0], [d, 0, 0]),
                u64::from((y as f32).to_bits())
            );
        }
        let fits = y.trunc() >= -2f64.powi(31) && y.trunc() < 2f64.powi(31);
        let want = if fits { y as i32 } else { i32::MIN };
        assert_eq!(
            super::to_sint(&[double, 32, 3], [d, 0, 0]),
            u64::from(want as u32),
            "{y}"
        );
        let fits = y.trunc() >= 0.0 && y.trunc() < 2f64.powi(64);
        let want = if fits { y as u64 } else { u64::MAX };
        assert_eq!(super::to_uint(&[double, 64, 3], [d, 0, 0]), want, "{y}");
        let n = random.next_bits();
        assert_eq!(
            super::from_sint(&[double, 0], [n, 0, 0]),
            (n as i64 as f64).to_bits()
        );
        assert_eq!(
            super::from_uint(&[single, 0], [n, 0, 0]),
            u64::from((n as f32).to_bits())
        );
    }
}

/// Directed results enclose the exact one: they are equal or neighbours, and the root's
/// square lies between.
#[test]
fn directed_roundings_enclose() {
    let mut random = Random::new(14);
    for f in Format::ALL {
        for _ in 0..4_000 {
            let w: [u64; 3] = std::array::from_fn(|_| pattern(&mut random, f));
            for op in [super::add, super::mul, super::div, super::sqrt, super::madd] {
                let [near, down, up, zero, away] =
                    Rounding::ALL.map(|r| op(&[f.code(), r.code()], w));
                if f.is_nan(near) {
                    assert!([down, up, zero, away].iter().all(|&x| x == near));
                    continue;
                }
                let (lo, hi) = (super::key(f, down), super::key(f, up));
                assert!(
                    hi - lo == 0 || hi - lo == 1,
                    "{f:?} {w:x?}: {down:x} {up:x}"
                );
                assert!(near == down || near == up, "{f:?} {w:x?}");
                assert!(away == down || away == up, "{f:?} {w:x?}");
                let towards_zero = if near & f.sign() == 0 { down } else { up };
                assert_eq!(zero & !f.sign(), towards_zero & !f.sign(), "{f:?} {w:x?}");
            }
        }
    }
}

#[test]
fn nans_are_passed_on_as_x86_does() {
    let f = Format::F32;
    let (signalling, quiet) = (0x7f80_0001, 0xffc0_0002);
    let p = [f.code(), 0];
    assert_eq!(super::add(&p, [signalling, quiet, 0]), 0x7fc0_0001);
    assert_eq!(super::add(&p, [quiet, signalling, 0]), quiet);
    assert_eq!(super::nmadd(&p, [0, f.infinity(), quiet]), quiet);
    assert_eq!(super::madd(&p, [0, f.infinity(), 0]), f.default_nan());
    assert_eq!(super::minimum(&p, [quiet, 0, 0]), 0);
    assert_eq!(super::minimum(&p, [0, signalling, 0]), signalling);
    let to = Format::F16;
    assert_eq!(
        super::convert(&[f.code(), to.code(), 0], [0xff80_2001, 0, 0]),
        0xfe01
    );
    assert_eq!(
        super::convert(&[to.code(), f.code(), 0], [0xfc01, 0, 0]),
        0xffc0_2000
    );
}
