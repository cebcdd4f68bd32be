//! The memory of a simulated machine: bytes from address 0 up.
//!
//! In: a size, images. Out: bytes. What lies past its end does not exist.

/// Memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Memory {
    bytes: Vec<u8>,
}

impl Memory {
    /// That many bytes, all 0.
    pub fn new(size: usize) -> Memory {
        Memory {
            bytes: vec![0; size],
        }
    }

    /// How many bytes there are.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// The bytes from an address up; nothing when one of them does not exist.
    pub fn get(&self, address: u64, count: usize) -> Option<&[u8]> {
        let start = usize::try_from(address).ok()?;
        self.bytes.get(start..start.checked_add(count)?)
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, address: u64, count: usize) -> Option<&mut [u8]> {
        let start = usize::try_from(address).ok()?;
        self.bytes.get_mut(start..start.checked_add(count)?)
    }

    /// Writes pieces, each from its address up; false when some of them do not exist, and
    /// those are not written.
    #[must_use]
    pub fn put(&mut self, pieces: &[(u64, Vec<u8>)]) -> bool {
        pieces.iter().fold(true, |all, (address, bytes)| {
            let place = self.get_mut(*address, bytes.len());
            let there = place.map(|place| place.copy_from_slice(bytes));
            all && there.is_some()
        })
    }
}
