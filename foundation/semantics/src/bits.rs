//! Bit-vector values of any width.
//!
//! In: widths and limbs. Out: [`Bits`], little-endian limbs of 64 bits, always masked to the
//! width, with the arithmetic of SMT-LIB's bit vectors (total: division by zero gives all
//! ones, the remainder the dividend; shifts past the width shift everything out).

use crate::table::MAX_WIDTH;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// A bit vector.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Bits {
    width: u32,
    limbs: smallvec::SmallVec<[u64; 2]>,
}

fn limb_count(width: u32) -> usize {
    width.div_ceil(64) as usize
}

impl Bits {
    /// All zeros.
    pub fn zero(width: u32) -> Bits {
        Bits {
            width,
            limbs: smallvec::SmallVec::from_elem(0, limb_count(width)),
        }
    }

    /// All ones.
    pub fn ones(width: u32) -> Bits {
        Bits {
            width,
            limbs: smallvec::SmallVec::from_elem(u64::MAX, limb_count(width)),
        }
        .masked()
    }

    fn masked(mut self) -> Bits {
        let rest = self.width % 64;
        if let Some(top) = self.limbs.last_mut().filter(|_| rest != 0) {
            *top &= (1 << rest) - 1;
        }
        self
    }

    /// The number 1.
    pub fn one(width: u32) -> Bits {
        Bits::from_u64(width, 1)
    }

    /// From an unsigned integer, wrapped.
    pub fn from_u64(width: u32, v: u64) -> Bits {
        Bits::from_limbs(width, &[v])
    }

    /// From an unsigned integer, wrapped.
    pub fn from_u128(width: u32, v: u128) -> Bits {
        Bits::from_limbs(width, &[v as u64, (v >> 64) as u64])
    }

    /// From a signed integer, wrapped or sign extended.
    pub fn from_i128(width: u32, v: i128) -> Bits {
        let fill = if v < 0 { u64::MAX } else { 0 };
        let mut b = Bits::zero(width);
        for (k, limb) in b.limbs.iter_mut().enumerate() {
            *limb = if k < 2 { (v >> (64 * k)) as u64 } else { fill };
        }
        b.masked()
    }

    /// From little-endian limbs; missing ones are 0, surplus bits are dropped.
    pub fn from_limbs(width: u32, limbs: &[u64]) -> Bits {
        let mut b = Bits::zero(width);
        for (to, from) in b.limbs.iter_mut().zip(limbs) {
            *to = *from;
        }
        b.masked()
    }

    /// From little-endian bytes; missing ones are 0, surplus bits are dropped.
    pub fn from_bytes(width: u32, bytes: &[u8]) -> Bits {
        let mut b = Bits::zero(width);
        for (k, byte) in bytes.iter().enumerate().take(b.limbs.len() * 8) {
            b.limbs[k / 8] |= u64::from(*byte) << (8 * (k % 8));
        }
        b.masked()
    }

    /// Little-endian bytes, the last one filled with zeros.
    pub fn to_bytes(&self) -> Vec<u8> {
        (0..self.width.div_ceil(8) as usize)
            .map(|k| (self.limbs[k / 8] >> (8 * (k % 8))) as u8)
            .collect()
    }

    /// The width in bits.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Little-endian limbs.
    pub fn limbs(&self) -> &[u64] {
        &self.limbs
    }

    /// The lowest 64 bits.
    pub fn low_u64(&self) -> u64 {
        self.limbs.first().copied().unwrap_or(0)
    }

    /// The unsigned value, when it fits.
    pub fn to_u64(&self) -> Option<u64> {
        self.limbs[1..]
            .iter()
            .all(|&l| l == 0)
            .then(|| self.low_u64())
    }

    /// The unsigned value, when it fits.
    pub fn to_u128(&self) -> Option<u128> {
        let high = self.limbs.get(1).copied().unwrap_or(0);
        let rest = self.limbs.get(2..).unwrap_or(&[]);
        rest.iter()
            .all(|&l| l == 0)
            .then(|| u128::from(self.low_u64()) | u128::from(high) << 64)
    }

    /// The signed value, when it fits.
    pub fn to_i128(&self) -> Option<i128> {
        let wide = self.sext(self.width.max(128));
        let low = u128::from(wide.limbs[0]) | u128::from(wide.limbs[1]) << 64;
        (Bits::from_i128(wide.width, low as i128) == wide).then_some(low as i128)
    }

    /// Whether every bit is 0.
    pub fn is_zero(&self) -> bool {
        self.limbs.iter().all(|&l| l == 0)
    }

    /// One bit.
    pub fn bit(&self, i: u32) -> bool {
        i < self.width && self.limbs[(i / 64) as usize] >> (i % 64) & 1 == 1
    }

    /// This value with one bit changed; a bit past the top is dropped.
    #[must_use]
    pub fn with_bit(mut self, i: u32, value: bool) -> Bits {
        if i < self.width {
            let limb = &mut self.limbs[(i / 64) as usize];
            *limb = *limb & !(1 << (i % 64)) | u64::from(value) << (i % 64);
        }
        self
    }

    /// The bits from `lo` up; those past the top are 0.
    pub fn extract(&self, lo: u32, width: u32) -> Bits {
        let mut out = Bits::zero(width);
        let (skip, shift) = ((lo / 64) as usize, lo % 64);
        for (k, limb) in out.limbs.iter_mut().enumerate() {
            let low = self.limbs.get(skip + k).copied().unwrap_or(0);
            let high = self.limbs.get(skip + k + 1).copied().unwrap_or(0);
            *limb = if shift == 0 {
                low
            } else {
                low >> shift | high << (64 - shift)
            };
        }
        out.masked()
    }

    /// This value above another.
    pub fn concat(&self, lo: &Bits) -> Bits {
        let wide = self.zext(self.width + lo.width);
        wide.shl_u32(lo.width).or(&lo.zext(wide.width))
    }

    /// This value so many times, which are more than none.
    pub fn repeated(&self, count: u32) -> Bits {
        Bits::joined(&vec![self; count as usize]).expect("more than none")
    }

    /// Values side by side, the first uppermost, by halves: one after the other would write as many
    /// bits as the square of their number. Nothing, where there are none.
    pub fn joined(parts: &[&Bits]) -> Option<Bits> {
        match parts {
            [] => None,
            [one] => Some((*one).clone()),
            _ => {
                let (hi, lo) = parts.split_at(parts.len() / 2);
                Some(Bits::joined(hi)?.concat(&Bits::joined(lo)?))
            }
        }
    }

    /// This value with another written at bit `lo`.
    pub fn insert(&self, lo: u32, piece: &Bits) -> Bits {
        let mask = Bits::ones(piece.width).resize(self.width).shl_u32(lo);
        self.and(&mask.not())
            .or(&piece.resize(self.width).shl_u32(lo))
    }

    fn resize(&self, width: u32) -> Bits {
        Bits::from_limbs(width, &self.limbs)
    }

    /// Zero extension.
    pub fn zext(&self, width: u32) -> Bits {
        self.resize(width)
    }

    /// The low bits.
    pub fn trunc(&self, width: u32) -> Bits {
        self.resize(width)
    }

    /// Sign extension.
    pub fn sext(&self, width: u32) -> Bits {
        let wide = self.resize(width);
        if self.bit(self.width - 1) {
            wide.or(&Bits::ones(width).shl_u32(self.width))
        } else {
            wide
        }
    }

    fn zip(&self, o: &Bits, f: impl Fn(u64, u64) -> u64) -> Bits {
        Bits {
            width: self.width,
            limbs: self
                .limbs
                .iter()
                .zip(&o.limbs)
                .map(|(&a, &b)| f(a, b))
                .collect(),
        }
        .masked()
    }

    /// Complement.
    pub fn not(&self) -> Bits {
        self.zip(self, |a, _| !a)
    }

    /// And.
    pub fn and(&self, o: &Bits) -> Bits {
        self.zip(o, |a, b| a & b)
    }

    /// Or.
    pub fn or(&self, o: &Bits) -> Bits {
        self.zip(o, |a, b| a | b)
    }

    /// Exclusive or.
    pub fn xor(&self, o: &Bits) -> Bits {
        self.zip(o, |a, b| a ^ b)
    }

    /// Negation.
    pub fn neg(&self) -> Bits {
        self.not().add(&Bits::from_u64(self.width, 1))
    }

    /// Sum.
    pub fn add(&self, o: &Bits) -> Bits {
        let mut out = self.clone();
        let mut carry = false;
        for (a, &b) in out.limbs.iter_mut().zip(&o.limbs) {
            let (s, c1) = a.overflowing_add(b);
            let (s, c2) = s.overflowing_add(u64::from(carry));
            *a = s;
            carry = c1 || c2;
        }
        out.masked()
    }

    /// Difference.
    pub fn sub(&self, o: &Bits) -> Bits {
        self.add(&o.neg())
    }

    /// Product.
    pub fn mul(&self, o: &Bits) -> Bits {
        let mut out = Bits::zero(self.width);
        let n = out.limbs.len();
        for i in 0..n {
            let mut carry = 0u128;
            for j in 0..n - i {
                let x = u128::from(self.limbs[i]) * u128::from(o.limbs[j])
                    + u128::from(out.limbs[i + j])
                    + carry;
                out.limbs[i + j] = x as u64;
                carry = x >> 64;
            }
        }
        out.masked()
    }

    fn divide(&self, o: &Bits) -> (Bits, Bits) {
        if o.is_zero() {
            return (Bits::ones(self.width), self.clone());
        }
        if let (Some(x), Some(y)) = (self.to_u128(), o.to_u128()) {
            return (
                Bits::from_u128(self.width, x / y),
                Bits::from_u128(self.width, x % y),
            );
        }
        let mut quotient = Bits::zero(self.width);
        let mut rest = Bits::zero(self.width + 1);
        let divisor = o.zext(self.width + 1);
        for i in (0..self.width).rev() {
            rest = rest.shl_u32(1);
            rest.limbs[0] |= u64::from(self.bit(i));
            if divisor.ule(&rest) {
                rest = rest.sub(&divisor);
                quotient.limbs[(i / 64) as usize] |= 1 << (i % 64);
            }
        }
        (quotient, rest.trunc(self.width))
    }

    /// Unsigned quotient.
    pub fn udiv(&self, o: &Bits) -> Bits {
        self.divide(o).0
    }

    /// Unsigned remainder.
    pub fn urem(&self, o: &Bits) -> Bits {
        self.divide(o).1
    }

    fn magnitude(&self) -> Bits {
        if self.bit(self.width - 1) {
            self.neg()
        } else {
            self.clone()
        }
    }

    /// Signed quotient.
    pub fn sdiv(&self, o: &Bits) -> Bits {
        let q = self.magnitude().udiv(&o.magnitude());
        if self.bit(self.width - 1) == o.bit(self.width - 1) {
            q
        } else {
            q.neg()
        }
    }

    /// Signed remainder.
    pub fn srem(&self, o: &Bits) -> Bits {
        let r = self.magnitude().urem(&o.magnitude());
        if self.bit(self.width - 1) { r.neg() } else { r }
    }

    /// Left shift by a number.
    pub fn shl_u32(&self, n: u32) -> Bits {
        let mut out = Bits::zero(self.width);
        if n >= self.width {
            return out;
        }
        let (skip, shift) = ((n / 64) as usize, n % 64);
        for k in (skip..out.limbs.len()).rev() {
            let low = self.limbs[k - skip] << shift;
            let high = if shift == 0 || k == skip {
                0
            } else {
                self.limbs[k - skip - 1] >> (64 - shift)
            };
            out.limbs[k] = low | high;
        }
        out.masked()
    }

    /// Logical right shift by a number.
    pub fn lshr_u32(&self, n: u32) -> Bits {
        if n >= self.width {
            Bits::zero(self.width)
        } else {
            self.extract(n, self.width)
        }
    }

    /// Arithmetic right shift by a number.
    pub fn ashr_u32(&self, n: u32) -> Bits {
        let n = n.min(self.width - 1);
        self.extract(n, self.width - n).sext(self.width)
    }

    fn count(&self) -> u32 {
        self.to_u64()
            .map_or(self.width, |n| n.min(u64::from(self.width)) as u32)
    }

    /// Left shift.
    pub fn shl(&self, o: &Bits) -> Bits {
        self.shl_u32(o.count())
    }

    /// Logical right shift.
    pub fn lshr(&self, o: &Bits) -> Bits {
        self.lshr_u32(o.count())
    }

    /// Arithmetic right shift.
    pub fn ashr(&self, o: &Bits) -> Bits {
        self.ashr_u32(o.count())
    }

    /// Left rotation by a number, taken modulo the width.
    pub fn rotl_u32(&self, n: u32) -> Bits {
        let n = n % self.width;
        self.shl_u32(n).or(&self.lshr_u32(self.width - n))
    }

    /// Right rotation by a number, taken modulo the width.
    pub fn rotr_u32(&self, n: u32) -> Bits {
        self.rotl_u32(self.width - n % self.width)
    }

    /// Left rotation; the count is taken modulo the width.
    pub fn rotl(&self, o: &Bits) -> Bits {
        self.rotl_u32(o.urem_small(self.width))
    }

    /// Right rotation; the count is taken modulo the width.
    pub fn rotr(&self, o: &Bits) -> Bits {
        self.rotr_u32(o.urem_small(self.width))
    }

    fn urem_small(&self, d: u32) -> u32 {
        let d = u128::from(d);
        self.limbs
            .iter()
            .rev()
            .fold(0u128, |r, &l| (r << 64 | u128::from(l)) % d) as u32
    }

    /// Unsigned less-than.
    pub fn ult(&self, o: &Bits) -> bool {
        self.limbs.iter().rev().cmp(o.limbs.iter().rev()) == Ordering::Less
    }

    /// Unsigned at-most.
    pub fn ule(&self, o: &Bits) -> bool {
        !o.ult(self)
    }

    /// Signed less-than.
    pub fn slt(&self, o: &Bits) -> bool {
        match (self.bit(self.width - 1), o.bit(self.width - 1)) {
            (true, false) => true,
            (false, true) => false,
            _ => self.ult(o),
        }
    }

    /// Signed at-most.
    pub fn sle(&self, o: &Bits) -> bool {
        !o.slt(self)
    }

    /// Number of one bits.
    pub fn popcount(&self) -> u32 {
        self.limbs.iter().map(|l| l.count_ones()).sum()
    }

    /// Number of leading zeros.
    pub fn leading_zeros(&self) -> u32 {
        (0..self.width)
            .rev()
            .find(|&i| self.bit(i))
            .map_or(self.width, |i| self.width - 1 - i)
    }

    /// Number of trailing zeros.
    pub fn trailing_zeros(&self) -> u32 {
        (0..self.width).find(|&i| self.bit(i)).unwrap_or(self.width)
    }
}

impl PartialOrd for Bits {
    fn partial_cmp(&self, o: &Bits) -> Option<Ordering> {
        Some(self.cmp(o))
    }
}

impl Ord for Bits {
    fn cmp(&self, o: &Bits) -> Ordering {
        self.width
            .cmp(&o.width)
            .then_with(|| self.limbs.iter().rev().cmp(o.limbs.iter().rev()))
    }
}

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("0x")?;
        let digits = self.width.div_ceil(4);
        (0..digits)
            .rev()
            .try_for_each(|k| write!(f, "{:x}", self.extract(4 * k, 4).low_u64()))?;
        write!(f, ":{}", self.width)
    }
}

/// Why a text is not a bit vector.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseBitsError(String);

impl fmt::Display for ParseBitsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ParseBitsError {}

/// Reads what [`Display`](fmt::Display) writes: `0x`, hexadecimal digits, `:`, the width.
impl FromStr for Bits {
    type Err = ParseBitsError;

    fn from_str(text: &str) -> Result<Bits, ParseBitsError> {
        let error = |what: &str| Err(ParseBitsError(format!("`{text}`: {what}")));
        let Some((digits, width)) = text.strip_prefix("0x").and_then(|t| t.split_once(':')) else {
            return error("a bit vector is written 0x, hexadecimal digits, a colon, the width");
        };
        let width = match width.parse::<u32>() {
            Ok(width) if (1..=MAX_WIDTH).contains(&width) => width,
            _ => return error("the width must lie between 1 and 1048576"),
        };
        if digits.is_empty() || digits.len() > width.div_ceil(4) as usize {
            return error("the number of digits does not fit the width");
        }
        let mut bits = Bits::zero(width.next_multiple_of(4));
        for (k, c) in digits.bytes().rev().enumerate() {
            match char::from(c).to_digit(16) {
                Some(d) => bits.limbs[k / 16] |= u64::from(d) << (4 * (k % 16)),
                None => return error("not a hexadecimal digit"),
            }
        }
        let low = bits.trunc(width);
        if low.popcount() == bits.popcount() {
            Ok(low)
        } else {
            error("the value does not fit the width")
        }
    }
}

impl fmt::Debug for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests;
