//! What main memory holds while queues work beside each other.
//!
//! In: bytes that procedures and the host read and write. Out: whether the result depends on
//! which of two queues is faster. Between two moments at which memory is settled, what a
//! procedure wrote is not read, and what it read is not written.

use super::Fault;

const READ: u8 = 1;
const WRITTEN: u8 = 2;

/// Marks of bytes since memory was settled.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    relaxed: bool,
    marks: Vec<u8>,
    low: usize,
    high: usize,
}

impl Order {
    pub(super) fn new(relaxed: bool) -> Order {
        Order {
            relaxed,
            marks: Vec::new(),
            low: usize::MAX,
            high: 0,
        }
    }

    /// All that is under way is done.
    pub(super) fn settle(&mut self) {
        if self.low < self.high {
            self.marks[self.low..self.high].fill(0);
        }
        (self.low, self.high) = (usize::MAX, 0);
    }

    fn mark(&mut self, at: u64, bytes: usize, forbidden: u8, mark: u8) -> Option<u64> {
        let start = usize::try_from(at).ok()?;
        let end = start + bytes;
        if self.marks.len() < end {
            self.marks.resize(end.next_power_of_two(), 0);
        }
        let there = &mut self.marks[start..end];
        if let Some(k) = there.iter().position(|m| m & forbidden != 0) {
            return Some(at + k as u64);
        }
        there.iter_mut().for_each(|m| *m |= mark);
        if mark != 0 {
            self.low = self.low.min(start);
            self.high = self.high.max(end);
        }
        None
    }

    fn checked(
        &mut self,
        (at, bytes): (u64, usize),
        forbidden: u8,
        mark: u8,
        what: &str,
    ) -> Result<(), Fault> {
        if !self.relaxed {
            return Ok(());
        }
        match self.mark(at, bytes, forbidden, mark) {
            None => Ok(()),
            Some(byte) => Err(Fault(
                format!("{what} at {byte:#x}: the queues are not in order"),
                "`fence` waits for all of them".to_owned(),
            )),
        }
    }

    /// A procedure reads.
    pub(super) fn reads(&mut self, at: u64, bytes: usize) -> Result<(), Fault> {
        let what = "it reads memory that was written since the last fence";
        self.checked((at, bytes), WRITTEN, READ, what)
    }

    /// A procedure writes.
    pub(super) fn writes(&mut self, at: u64, bytes: usize) -> Result<(), Fault> {
        let what = "it writes memory that was read since the last fence";
        self.checked((at, bytes), READ, WRITTEN, what)
    }

    /// The host reads.
    pub(crate) fn host_reads(&mut self, at: u64, bytes: usize) -> Result<(), Fault> {
        let what = "the host reads what was written since the last fence";
        self.checked((at, bytes), WRITTEN, 0, what)
    }

    /// The host writes.
    pub(crate) fn host_writes(&mut self, at: u64, bytes: usize) -> Result<(), Fault> {
        let what = "the host writes what was used since the last fence";
        self.checked((at, bytes), READ | WRITTEN, 0, what)
    }
}
