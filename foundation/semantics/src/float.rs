//! Binary floating point on bit patterns.
//!
//! In: formats, rounding modes, bit patterns in the low bits of words. Out: bit patterns,
//! exactly as IEEE 754 rounds, with the choices that x86 makes where the standard leaves
//! them open: the first operand that is a NaN is returned quieted, an invalid operation
//! gives the negative quiet NaN without payload, conversions to integers that do not fit
//! give one fixed pattern. All exceptions are masked and subnormals are neither flushed on
//! input nor on output: an instruction that flushes says so in its own term.
//!
//! The arithmetic is `rustc_apfloat`'s (LLVM's), except the square root, which it lacks.
//! There is no reassociation and no approximation here.

pub mod bounds;
pub mod library;
pub mod quotient;
pub mod rounded;
pub mod saturating;
pub(crate) mod special;
pub mod wider;

use rustc_apfloat::ieee::Quad;
use rustc_apfloat::{Float as _, FloatConvert as _, Round, Status};

/// A floating-point format, numbered as operator parameters are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u32)]
pub enum Format {
    /// IEEE binary16: 5 exponent bits, 10 fraction bits.
    F16 = 0,
    /// bfloat16: 8 exponent bits, 7 fraction bits.
    Bf16 = 1,
    /// IEEE binary32: 8 exponent bits, 23 fraction bits.
    F32 = 2,
    /// IEEE binary64: 11 exponent bits, 52 fraction bits.
    F64 = 3,
}

/// How a result that does not fit is rounded, numbered as in x86's rounding control.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u32)]
pub enum Rounding {
    /// To the nearest value, ties to the even one.
    NearestEven = 0,
    /// Towards minus infinity.
    Down = 1,
    /// Towards plus infinity.
    Up = 2,
    /// Towards zero.
    Zero = 3,
    /// To the nearest value, ties away from zero.
    NearestAway = 4,
}

impl Format {
    /// All formats, by number.
    pub const ALL: [Format; 4] = [Format::F16, Format::Bf16, Format::F32, Format::F64];

    /// The format with this number as an operator parameter.
    pub fn from_code(code: u32) -> Option<Format> {
        Format::ALL.get(code as usize).copied()
    }

    /// Its number as an operator parameter.
    pub fn code(self) -> u32 {
        self as u32
    }

    /// Its name in the text form.
    pub fn name(self) -> &'static str {
        ["f16", "bf16", "f32", "f64"][self as usize]
    }

    /// Bits of a value.
    pub fn width(self) -> u32 {
        [16, 16, 32, 64][self as usize]
    }

    /// Bits of the fraction field.
    pub fn fraction(self) -> u32 {
        [10, 7, 23, 52][self as usize]
    }

    /// The sign bit.
    pub fn sign(self) -> u64 {
        1 << (self.width() - 1)
    }

    /// Plus infinity: every exponent bit.
    pub fn infinity(self) -> u64 {
        (self.sign() - 1) & !((1 << self.fraction()) - 1)
    }

    /// The fraction bit that makes a NaN quiet.
    pub fn quiet_bit(self) -> u64 {
        1 << (self.fraction() - 1)
    }

    /// What an invalid operation gives: negative, quiet, no payload.
    pub fn default_nan(self) -> u64 {
        self.sign() | self.infinity() | self.quiet_bit()
    }

    /// Whether a pattern is a NaN.
    pub fn is_nan(self, x: u64) -> bool {
        x & !self.sign() > self.infinity()
    }
}

impl Rounding {
    /// All modes, by number.
    pub const ALL: [Rounding; 5] = [
        Rounding::NearestEven,
        Rounding::Down,
        Rounding::Up,
        Rounding::Zero,
        Rounding::NearestAway,
    ];

    /// The mode with this number as an operator parameter.
    pub fn from_code(code: u32) -> Option<Rounding> {
        Rounding::ALL.get(code as usize).copied()
    }

    /// Its number as an operator parameter.
    pub fn code(self) -> u32 {
        self as u32
    }

    /// Its name in the text form.
    pub fn name(self) -> &'static str {
        ["rne", "rd", "ru", "rz", "rna"][self as usize]
    }

    fn round(self) -> Round {
        match self {
            Rounding::NearestEven => Round::NearestTiesToEven,
            Rounding::Down => Round::TowardNegative,
            Rounding::Up => Round::TowardPositive,
            Rounding::Zero => Round::TowardZero,
            Rounding::NearestAway => Round::NearestTiesToAway,
        }
    }
}

/// An operator on words: its parameters and up to three arguments (unused ones are 0), each
/// masked to its width. Truth values are 0 and 1. [`from_sint`] alone wants its argument
/// sign extended to the word.
pub(crate) type WordFn = fn(&[u32], [u64; 3]) -> u64;

const VALID: &str = "the type rule checked the parameters";

fn format(code: u32) -> Format {
    Format::from_code(code).expect(VALID)
}

fn rounding(code: u32) -> Rounding {
    Rounding::from_code(code).expect(VALID)
}

/// Evaluates an expression with the apfloat type of a format.
macro_rules! with_type {
    ($format:expr, $f:ident => $body:expr) => {
        match $format {
            Format::F16 => {
                type $f = rustc_apfloat::ieee::Half;
                $body
            }
            Format::Bf16 => {
                type $f = rustc_apfloat::ieee::BFloat;
                $body
            }
            Format::F32 => {
                type $f = rustc_apfloat::ieee::Single;
                $body
            }
            Format::F64 => {
                type $f = rustc_apfloat::ieee::Double;
                $body
            }
        }
    };
}

use with_type;

/// The first NaN among the operands, quieted.
fn first_nan(f: Format, operands: &[u64]) -> Option<u64> {
    let nan = operands.iter().find(|&&x| f.is_nan(x))?;
    Some(nan | f.quiet_bit())
}

/// A computed pattern; a NaN that no operand brought is the default one.
fn computed(f: Format, bits: u128) -> u64 {
    let bits = bits as u64;
    if f.is_nan(bits) {
        f.default_nan()
    } else {
        bits
    }
}

/// What the host's own operators give, where they give exactly this: they round to nearest
/// even, and only of NaNs Rust leaves open which.
#[inline]
fn on_host(
    p: &[u32],
    [a, b, _]: [u64; 3],
    single: impl Fn(f32, f32) -> f32,
    double: impl Fn(f64, f64) -> f64,
) -> Option<u64> {
    if p[1] != Rounding::NearestEven as u32 {
        return None;
    }
    if p[0] == Format::F32 as u32 {
        let of = |x: u64| f32::from_bits(x as u32);
        let result = single(of(a), of(b));
        return (!result.is_nan()).then(|| u64::from(result.to_bits()));
    }
    if p[0] == Format::F64 as u32 {
        let result = double(f64::from_bits(a), f64::from_bits(b));
        return (!result.is_nan()).then(|| result.to_bits());
    }
    None
}

macro_rules! binary {
    ($($name:ident $exact:ident $method:ident $operator:tt $doc:literal;)*) => { $(
        #[doc = $doc]
        pub(crate) fn $name(p: &[u32], words: [u64; 3]) -> u64 {
            on_host(p, words, |x, y| x $operator y, |x, y| x $operator y)
                .unwrap_or_else(|| $exact(p, words))
        }

        /// The same in any format and rounding, without the host.
        fn $exact(p: &[u32], [a, b, _]: [u64; 3]) -> u64 {
            let (f, r) = (format(p[0]), rounding(p[1]).round());
            first_nan(f, &[a, b]).unwrap_or_else(|| {
                with_type!(f, F => {
                    let (x, y) = (F::from_bits(a.into()), F::from_bits(b.into()));
                    computed(f, x.$method(y, r).value.to_bits())
                })
            })
        }
    )* };
}

binary! {
    add exact_add add_r + "Sum; parameters: format, rounding.";
    sub exact_sub sub_r - "Difference; parameters: format, rounding.";
    mul exact_mul mul_r * "Product; parameters: format, rounding.";
    div exact_div div_r / "Quotient; parameters: format, rounding.";
}

/// `±(a·b) ± c`, rounded once. The signs do not touch a NaN that is passed on. Of several,
/// it is the first of a, b, c, as measured on an x86 processor for the operand orders 132
/// and 231; in the order 213 b goes before a, so where both are NaN the payload depends on
/// which of them a compiler chose.
fn fused(p: &[u32], [a, b, c]: [u64; 3], flip_product: bool, flip_addend: bool) -> u64 {
    let (f, r) = (format(p[0]), rounding(p[1]).round());
    let flip = |x: u64, yes: bool| u128::from(if yes { x ^ f.sign() } else { x });
    first_nan(f, &[a, b, c]).unwrap_or_else(|| {
        with_type!(f, F => {
            let (x, y) = (F::from_bits(flip(a, flip_product)), F::from_bits(b.into()));
            let z = F::from_bits(flip(c, flip_addend));
            computed(f, x.mul_add_r(y, z, r).value.to_bits())
        })
    })
}

/// `a·b + c`, rounded once; parameters: format, rounding.
pub(crate) fn madd(p: &[u32], a: [u64; 3]) -> u64 {
    fused(p, a, false, false)
}

/// `a·b - c`, rounded once; parameters: format, rounding.
pub(crate) fn msub(p: &[u32], a: [u64; 3]) -> u64 {
    fused(p, a, false, true)
}

/// `-(a·b) + c`, rounded once; parameters: format, rounding.
pub(crate) fn nmadd(p: &[u32], a: [u64; 3]) -> u64 {
    fused(p, a, true, false)
}

/// `-(a·b) - c`, rounded once; parameters: format, rounding.
pub(crate) fn nmsub(p: &[u32], a: [u64; 3]) -> u64 {
    fused(p, a, true, true)
}

/// Square root; parameters: format, rounding.
///
/// The significand, scaled to an even exponent and 125 or 126 bits, has an integer root of
/// 63 bits; with one more bit for "not exact" that is enough to round once in any format
/// of at most 53 significant bits.
pub(crate) fn sqrt(p: &[u32], [x, ..]: [u64; 3]) -> u64 {
    let (f, r) = (format(p[0]), rounding(p[1]).round());
    if let Some(nan) = first_nan(f, &[x]) {
        return nan;
    }
    if x & !f.sign() == 0 || x == f.infinity() {
        return x;
    }
    if x & f.sign() != 0 {
        return f.default_nan();
    }
    let fraction = x & (f.quiet_bit() * 2 - 1);
    let field = (x >> f.fraction()) as i32;
    let bias = (f.infinity() >> (f.fraction() + 1)) as i32;
    let significand = u128::from(if field == 0 {
        fraction
    } else {
        fraction + f.quiet_bit() * 2
    });
    let exponent = field.max(1) - bias - f.fraction() as i32;
    let mut shift = significand.leading_zeros() as i32 - 2;
    shift -= (exponent - shift) & 1;
    let scaled = significand << shift;
    let root = scaled.isqrt();
    let sticky = u128::from(root * root != scaled);
    let wide = Quad::from_u128(root << 1 | sticky)
        .value
        .scalbn((exponent - shift) / 2 - 1);
    with_type!(f, F => {
        let rounded: F = wide.convert_r(r, &mut false).value;
        rounded.to_bits() as u64
    })
}

/// The integral value that rounding gives; parameters: format, rounding.
pub(crate) fn round(p: &[u32], [x, ..]: [u64; 3]) -> u64 {
    let (f, r) = (format(p[0]), rounding(p[1]).round());
    first_nan(f, &[x]).unwrap_or_else(
        || with_type!(f, F => F::from_bits(x.into()).round_to_integral(r).value.to_bits() as u64),
    )
}

/// A pattern as an integer that orders as the values do; both zeros are 0.
fn key(f: Format, x: u64) -> i64 {
    let magnitude = (x & !f.sign()) as i64;
    if x & f.sign() == 0 {
        magnitude
    } else {
        -magnitude
    }
}

/// Whether either is a NaN; parameter: format.
pub(crate) fn unordered(p: &[u32], [a, b, _]: [u64; 3]) -> u64 {
    let f = format(p[0]);
    u64::from(f.is_nan(a) || f.is_nan(b))
}

/// Less-than, false for a NaN; parameter: format.
pub(crate) fn less(p: &[u32], a: [u64; 3]) -> u64 {
    let f = format(p[0]);
    u64::from(unordered(p, a) == 0 && key(f, a[0]) < key(f, a[1]))
}

/// At-most, false for a NaN; parameter: format.
pub(crate) fn at_most(p: &[u32], a: [u64; 3]) -> u64 {
    let f = format(p[0]);
    u64::from(unordered(p, a) == 0 && key(f, a[0]) <= key(f, a[1]))
}

/// Equality, false for a NaN, true for zeros of either sign; parameter: format.
pub(crate) fn equal(p: &[u32], a: [u64; 3]) -> u64 {
    let f = format(p[0]);
    u64::from(unordered(p, a) == 0 && key(f, a[0]) == key(f, a[1]))
}

/// The first when it is less, else the second (so for a NaN, and for two zeros);
/// parameter: format.
pub(crate) fn minimum(p: &[u32], a: [u64; 3]) -> u64 {
    if less(p, a) == 1 { a[0] } else { a[1] }
}

/// The first when it is greater, else the second (so for a NaN, and for two zeros);
/// parameter: format.
pub(crate) fn maximum(p: &[u32], a: [u64; 3]) -> u64 {
    if less(p, [a[1], a[0], 0]) == 1 {
        a[0]
    } else {
        a[1]
    }
}

/// Conversion between formats; parameters: from, to, rounding. A NaN keeps its sign and the
/// high bits of its payload.
pub(crate) fn convert(p: &[u32], [x, ..]: [u64; 3]) -> u64 {
    let (from, to, r) = (format(p[0]), format(p[1]), rounding(p[2]).round());
    if from.is_nan(x) {
        let sign = if x & from.sign() == 0 { 0 } else { to.sign() };
        let payload = x & (from.quiet_bit() - 1);
        let (have, want) = (from.fraction(), to.fraction());
        let payload = if want >= have {
            payload << (want - have)
        } else {
            payload >> (have - want)
        };
        return sign | to.infinity() | to.quiet_bit() | payload;
    }
    with_type!(from, F => with_type!(to, T => {
        let quad: Quad = F::from_bits(x.into()).convert(&mut false).value;
        let result: T = quad.convert_r(r, &mut false).value;
        result.to_bits() as u64
    }))
}

fn low(width: u32, value: u64) -> u64 {
    value & (u64::MAX >> (64 - width))
}

/// Conversion to a signed integer; parameters: format, width, rounding. What does not fit
/// gives the least integer.
pub(crate) fn to_sint(p: &[u32], [x, ..]: [u64; 3]) -> u64 {
    let limit = 1i128 << (p[1] - 1);
    let fits = integral(p, x).filter(|n| (-limit..limit).contains(n));
    low(p[1], fits.unwrap_or(limit) as u64)
}

/// Conversion to an unsigned integer; parameters: format, width, rounding. What does not
/// fit gives all ones.
pub(crate) fn to_uint(p: &[u32], [x, ..]: [u64; 3]) -> u64 {
    let limit = 1i128 << p[1];
    let fits = integral(p, x).filter(|n| (0..limit).contains(n));
    low(p[1], fits.unwrap_or(-1) as u64)
}

/// The value rounded to an integer, unless it is a NaN or has more than 128 bits.
fn integral(p: &[u32], x: u64) -> Option<i128> {
    let (f, r) = (format(p[0]), rounding(p[2]).round());
    if f.is_nan(x) {
        return None;
    }
    with_type!(f, F => {
        let whole = F::from_bits(x.into()).round_to_integral(r).value;
        let result = whole.to_i128_r(128, Round::TowardZero, &mut false);
        (!result.status.contains(Status::INVALID_OP)).then_some(result.value)
    })
}

/// Conversion from a signed integer, sign extended to the word; parameters: format,
/// rounding.
pub(crate) fn from_sint(p: &[u32], [x, ..]: [u64; 3]) -> u64 {
    let r = rounding(p[1]).round();
    with_type!(format(p[0]), F => F::from_i128_r(i128::from(x as i64), r).value.to_bits() as u64)
}

/// Conversion from an unsigned integer; parameters: format, rounding.
pub(crate) fn from_uint(p: &[u32], [x, ..]: [u64; 3]) -> u64 {
    let r = rounding(p[1]).round();
    with_type!(format(p[0]), F => F::from_u128_r(x.into(), r).value.to_bits() as u64)
}

#[cfg(test)]
mod tests;
