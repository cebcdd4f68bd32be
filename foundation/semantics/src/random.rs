//! Pseudo-random numbers that are the same on every machine.
//!
//! In: a seed. Out: a stream of 64-bit numbers. What is sampled anywhere in the project is
//! drawn from here, so that a failure repeats from its seed. Nothing secret may depend on it.

use crate::bits::Bits;

/// A stream of numbers: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next 64 bits.
    pub fn next_bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to before `n`.
    ///
    /// # Panics
    /// When `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        self.next_bits() % n
    }

    /// A place in a list of `len`; 0 in an empty one.
    pub fn index(&mut self, len: usize) -> usize {
        self.below(len.max(1) as u64) as usize
    }

    /// One of several.
    ///
    /// # Panics
    /// When there is none.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.index(from.len())]
    }

    /// A bit vector, every bit equally likely.
    pub fn bits(&mut self, width: u32) -> Bits {
        let limbs: Vec<u64> = (0..width.div_ceil(64)).map(|_| self.next_bits()).collect();
        Bits::from_limbs(width, &limbs)
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    /// The first numbers of seed 1234567, as the reference implementation prints them.
    #[test]
    fn the_reference_numbers_come_out() {
        let mut random = Random::new(1_234_567);
        let drawn: Vec<u64> = (0..3).map(|_| random.next_bits()).collect();
        assert_eq!(
            drawn,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn drawn_bits_fill_their_width() {
        let mut random = Random::new(7);
        let ors = (0..64).fold(crate::bits::Bits::zero(70), |acc, _| {
            acc.or(&random.bits(70))
        });
        assert_eq!(ors, crate::bits::Bits::ones(70));
    }
}
