//! When what is done: a model of queues that work beside each other.
//!
//! In: the rows that an instruction touches and the cycles that its queue works. Out:
//! [`Timeline`]: cycles in all, and for which each queue worked. The host issues in order and
//! waits only for room in a queue. A queue begins an instruction when the one before it is
//! done, and when the rows that it reads were written and the rows that it writes were read
//! by the other queues; within a queue results are passed on. Banks, refills of main memory
//! and the host's own loads are not modelled.

use semantics::machine::procedure::State;
use std::collections::VecDeque;

/// A model of time.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// When the host issued the last instruction.
    now: u64,
    queues: Vec<QueueTime>,
    touched: Vec<Touch>,
    /// For each array and row: when it is written and read, and by which queue.
    rows: Vec<Vec<RowTime>>,
    last: u64,
}

#[derive(Clone, Debug)]
struct QueueTime {
    latency: u64,
    entries: usize,
    free: u64,
    busy: u64,
    waiting: VecDeque<u64>,
}

#[derive(Clone, Copy, Debug, Default)]
struct RowTime {
    written: u64,
    writer: u32,
    read: u64,
    reader: u32,
}

#[derive(Clone, Copy, Debug)]
struct Touch {
    array: usize,
    low: usize,
    high: usize,
    written: bool,
}

impl Timeline {
    pub(super) fn new(state: &State) -> Timeline {
        let queues = state.queues.iter().map(|q| QueueTime {
            latency: q.latency,
            entries: q.entries,
            free: 0,
            busy: 0,
            waiting: VecDeque::new(),
        });
        let rows = state.arrays.iter();
        Timeline {
            now: 0,
            queues: queues.collect(),
            touched: Vec::new(),
            rows: rows
                .map(|a| vec![RowTime::default(); a.rows as usize])
                .collect(),
            last: 0,
        }
    }

    /// The host issues an instruction.
    pub(crate) fn issue(&mut self, cycles: u64) {
        self.now += cycles;
    }

    pub(super) fn touch(&mut self, array: usize, row: i64, written: bool) {
        let Ok(row) = usize::try_from(row) else {
            return;
        };
        for touch in self.touched.iter_mut().rev().take(4) {
            if touch.array == array
                && touch.written == written
                && row + 1 >= touch.low
                && row <= touch.high
            {
                touch.low = touch.low.min(row);
                touch.high = touch.high.max(row + 1);
                return;
            }
        }
        self.touched.push(Touch {
            array,
            low: row,
            high: row + 1,
            written,
        });
    }

    pub(super) fn spend(&mut self, queue: usize, cycles: u64) {
        let own = queue as u32;
        let mut start = self.now.max(self.queues[queue].free);
        for touch in &self.touched {
            let rows = &self.rows[touch.array];
            for row in rows.iter().take(touch.high).skip(touch.low) {
                if row.writer != own {
                    start = start.max(row.written);
                }
                if touch.written && row.reader != own {
                    start = start.max(row.read);
                }
            }
        }
        let at = &mut self.queues[queue];
        at.free = start + cycles;
        at.busy += cycles;
        let done = start + cycles + at.latency;
        at.waiting.push_back(start + cycles);
        if at.waiting.len() > at.entries
            && let Some(oldest) = at.waiting.pop_front()
        {
            self.now = self.now.max(oldest);
        }
        self.last = self.last.max(done);
        for touch in self.touched.drain(..) {
            let rows = &mut self.rows[touch.array];
            for row in rows.iter_mut().take(touch.high).skip(touch.low) {
                match touch.written {
                    true => (row.written, row.writer) = (done, own),
                    false => (row.read, row.reader) = (start + cycles, own),
                }
            }
        }
    }

    pub(super) fn settle(&mut self) {
        self.now = self.now.max(self.last);
    }

    /// Cycles until all is done.
    pub fn cycles(&self) -> u64 {
        self.now.max(self.last)
    }

    /// Cycles for which each queue worked.
    pub fn busy(&self) -> Vec<u64> {
        self.queues.iter().map(|q| q.busy).collect()
    }
}
