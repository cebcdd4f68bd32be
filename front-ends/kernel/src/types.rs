//! Types of values: sized integers, floats, truth values, and vectors of them.
//!
//! In: names as written (`i16`, `u8x64`, `bf16x32`). Out: [`Elem`] and [`Type`], with the
//! ranges and the wrapping of values held as `i128`. A float is held as its bit pattern. A
//! vector of one lane is a scalar.

use semantics::float::Format;
use std::fmt;

/// The most lanes that a vector may have.
pub const MAX_LANES: u32 = 4096;

/// The type of one element.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Elem {
    /// A two's complement or unsigned integer.
    Int {
        /// Whether it is two's complement.
        signed: bool,
        /// Its width: 8, 16, 32 or 64 bits.
        bits: u32,
    },
    /// A binary floating-point number of IEEE 754, or bfloat16; held as its pattern.
    Float(Format),
    /// A truth value, as comparisons give it; never stored.
    Bool,
}

impl Elem {
    /// Those that have a name in the language, see [`Elem::by_name`].
    pub fn named() -> impl Iterator<Item = Elem> {
        let int = |bits| [Elem::signed(bits), Elem::unsigned(bits)];
        let floats = Format::ALL.into_iter().map(Elem::Float);
        [8, 16, 32, 64].into_iter().flat_map(int).chain(floats)
    }

    /// A signed integer type.
    pub const fn signed(bits: u32) -> Elem {
        Elem::Int { signed: true, bits }
    }

    /// An unsigned integer type.
    pub const fn unsigned(bits: u32) -> Elem {
        Elem::Int {
            signed: false,
            bits,
        }
    }

    /// The type of that name: `i8` … `i64`, `u8` … `u64`, `f16`, `bf16`, `f32`, `f64`.
    pub fn by_name(name: &str) -> Option<Elem> {
        if let Some(format) = Format::ALL.into_iter().find(|f| f.name() == name) {
            return Some(Elem::Float(format));
        }
        let signed = match name.get(..1)? {
            "i" => true,
            "u" => false,
            _ => return None,
        };
        let bits = match &name[1..] {
            "8" => 8,
            "16" => 16,
            "32" => 32,
            "64" => 64,
            _ => return None,
        };
        Some(Elem::Int { signed, bits })
    }

    /// The width in bits; 1 for a truth value.
    pub fn bits(self) -> u32 {
        match self {
            Elem::Int { bits, .. } => bits,
            Elem::Float(format) => format.width(),
            Elem::Bool => 1,
        }
    }

    /// The format of a float.
    pub fn format(self) -> Option<Format> {
        match self {
            Elem::Float(format) => Some(format),
            Elem::Int { .. } | Elem::Bool => None,
        }
    }

    /// Whether it is an integer or a float.
    pub fn is_number(self) -> bool {
        self != Elem::Bool
    }

    /// Whether the type is two's complement.
    pub fn is_signed(self) -> bool {
        matches!(self, Elem::Int { signed: true, .. })
    }

    /// Whether it is an integer type.
    pub fn is_int(self) -> bool {
        matches!(self, Elem::Int { .. })
    }

    /// The smallest value.
    pub fn min(self) -> i128 {
        if self.is_signed() {
            -(1 << (self.bits() - 1))
        } else {
            0
        }
    }

    /// The largest value.
    pub fn max(self) -> i128 {
        if self.is_signed() {
            (1 << (self.bits() - 1)) - 1
        } else {
            (1 << self.bits()) - 1
        }
    }

    /// The value modulo 2^bits, in this type's range. Of a float the low bits are its
    /// pattern, and every NaN becomes the one that stands for all.
    pub fn wrap(self, value: i128) -> i128 {
        let low = value & ((1 << self.bits()) - 1);
        if let Elem::Float(format) = self {
            let pattern = u64::try_from(low).expect("a pattern has at most 64 bits");
            return if format.is_nan(pattern) {
                i128::from(format.infinity() | format.quiet_bit())
            } else {
                low
            };
        }
        if self.is_signed() && low > self.max() {
            low - (1 << self.bits())
        } else {
            low
        }
    }

    /// The nearest value in this type's range.
    pub fn saturate(self, value: i128) -> i128 {
        value.clamp(self.min(), self.max())
    }

    /// The type of twice the width and the same kind, up to 64 bits.
    pub fn widened(self) -> Option<Elem> {
        match self {
            Elem::Float(Format::F16 | Format::Bf16) => Some(Elem::Float(Format::F32)),
            Elem::Float(Format::F32) => Some(Elem::Float(Format::F64)),
            Elem::Int { signed, bits } if bits < 64 => Some(Elem::Int {
                signed,
                bits: bits * 2,
            }),
            _ => None,
        }
    }

    /// The unsigned type of the same width; floats stay what they are.
    pub fn as_unsigned(self) -> Elem {
        match self {
            Elem::Int { bits, .. } => Elem::unsigned(bits),
            Elem::Float(_) | Elem::Bool => self,
        }
    }

    /// What changes nothing when it is added: 0, and of floats the negative zero.
    pub fn zero_of_sums(self) -> i128 {
        self.format().map_or(0, |f| i128::from(f.sign()))
    }

    /// What no value is above and none below: the neutral values of minimum and maximum.
    pub fn extremes(self) -> (i128, i128) {
        match self.format() {
            Some(f) => (
                i128::from(f.sign() | f.infinity()),
                i128::from(f.infinity()),
            ),
            None => (self.min(), self.max()),
        }
    }
}

impl fmt::Display for Elem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Elem::Int { signed, bits } => write!(f, "{}{bits}", if *signed { "i" } else { "u" }),
            Elem::Float(format) => f.write_str(format.name()),
            Elem::Bool => f.write_str("bool"),
        }
    }
}

/// The type of a value: an element type and a number of lanes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Type {
    /// The type of one lane.
    pub elem: Elem,
    /// Number of lanes, at least 1; 1 is a scalar.
    pub lanes: u32,
}

impl Type {
    /// A scalar type.
    pub const fn scalar(elem: Elem) -> Type {
        Type { elem, lanes: 1 }
    }

    /// The type of that name: `i16`, `u8x64`.
    pub fn by_name(name: &str) -> Option<Type> {
        match name.split_once('x') {
            None => Elem::by_name(name).map(Type::scalar),
            Some((elem, lanes)) => {
                let lanes = lanes.parse().ok().filter(|l| (1..=MAX_LANES).contains(l))?;
                Some(Type {
                    elem: Elem::by_name(elem)?,
                    lanes,
                })
            }
        }
    }

    /// The width of all lanes in bits.
    pub fn width(self) -> u32 {
        self.elem.bits() * self.lanes
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.elem.fmt(f)?;
        if self.lanes > 1 {
            write!(f, "x{}", self.lanes)
        } else {
            Ok(())
        }
    }
}
