//! Numbers that look random and are the same in every run.
//!
//! In: a seed. Out: numbers. For estimates and for descents; nothing secret depends on them.

/// A stream of numbers (SplitMix64).
#[derive(Clone, Debug)]
pub struct Stream(u64);

impl Stream {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Stream {
        Stream(seed)
    }

    /// The next number.
    pub fn next_number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `count`, which is not 0.
    pub fn below(&mut self, count: usize) -> usize {
        let count = count.max(1) as u128;
        let scaled = (u128::from(self.next_number()) * count) >> 64;
        usize::try_from(scaled).unwrap_or(0)
    }

    /// A place in a list of weights, each as likely as it is heavy; none when all are 0.
    pub fn weighted(&mut self, weights: &[u64]) -> Option<usize> {
        let all: u128 = weights.iter().map(|&w| u128::from(w)).sum();
        let mut at = (u128::from(self.next_number()) * all) >> 64;
        let mut places = weights.iter().enumerate().filter(|(_, w)| **w > 0);
        places.find_map(|(k, &w)| match at < u128::from(w) {
            true => Some(k),
            false => {
                at -= u128::from(w);
                None
            }
        })
    }
}
