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
    touched: Vec<Touched>,
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

/// Rows of an array of the machine, from the first to the second, which is not among them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Touched {
    pub(crate) array: usize,
    pub(crate) written: bool,
    pub(crate) low: usize,
    pub(crate) high: usize,
}

/// Notes that a row is read or written, with those beside it.
pub(super) fn touch(all: &mut Vec<Touched>, array: usize, row: usize, written: bool) {
    for near in all.iter_mut().rev().take(4) {
        if near.array == array && near.written == written && row + 1 >= near.low && row <= near.high
        {
            near.low = near.low.min(row);
            near.high = near.high.max(row + 1);
            return;
        }
    }
    all.push(Touched {
        array,
        written,
        low: row,
        high: row + 1,
    });
}

impl Timeline {
    pub(crate) fn new(state: &State) -> Timeline {
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
        touch(&mut self.touched, array, row, written);
    }

    /// Rows that are read or written.
    pub(crate) fn touch_all(&mut self, touched: &[Touched]) {
        self.touched.extend_from_slice(touched);
    }

    /// A queue works on what was touched; when all of it is done.
    pub(crate) fn spend(&mut self, queue: usize, cycles: u64) -> u64 {
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
        done
    }

    pub(crate) fn settle(&mut self) {
        self.now = self.now.max(self.last);
    }

    /// What was touched since a queue last worked.
    pub(crate) fn touched(&self) -> &[Touched] {
        &self.touched
    }

    /// The cycle at which the host is.
    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    /// All that decides how long whatever follows takes, told from now on: what is in the past
    /// decides nothing. `recent` has all rows that were touched by what is not done.
    pub(crate) fn standing(&self, recent: &[Touched]) -> Vec<u64> {
        let ahead = |at: u64| at.saturating_sub(self.now);
        let mut all = vec![ahead(self.last)];
        for queue in &self.queues {
            all.extend([ahead(queue.free), queue.waiting.len() as u64]);
            all.extend(queue.waiting.iter().map(|at| ahead(*at)));
        }
        all.push(self.touched.len() as u64);
        for t in &self.touched {
            let (array, low, high) = (t.array as u64, t.low as u64, t.high as u64);
            all.extend([array, u64::from(t.written), low, high]);
        }
        for (array, low, high, times) in self.ahead(recent) {
            all.extend([array as u64, low as u64, high as u64]);
            all.extend(times);
        }
        all
    }

    /// Rows of which something is not done yet, neighbours that are alike together: when and by
    /// which queue they are written and read.
    fn ahead(&self, recent: &[Touched]) -> Vec<(usize, usize, usize, [u64; 4])> {
        let mut all: Vec<(usize, usize, usize, [u64; 4])> = Vec::new();
        let by = |at: u64, queue: u32| match at.checked_sub(self.now).filter(|by| *by > 0) {
            Some(by) => [by, u64::from(queue)],
            None => [0; 2],
        };
        for (array, row) in places(recent) {
            let at = &self.rows[array][row];
            let ([written, writer], [read, reader]) =
                (by(at.written, at.writer), by(at.read, at.reader));
            let times = [written, writer, read, reader];
            match all.last_mut() {
                _ if times == [0; 4] => {}
                Some(last) if (last.0, last.2, last.3) == (array, row, times) => last.2 += 1,
                _ => all.push((array, row, row + 1, times)),
            }
        }
        all
    }

    /// So many cycles go by, after which all stands as now; queues worked for so many of them.
    pub(crate) fn goes_on(&mut self, cycles: u64, busy: &[u64], recent: &[Touched]) {
        for (array, row) in places(recent) {
            let row = &mut self.rows[array][row];
            row.written += cycles;
            row.read += cycles;
        }
        for (queue, more) in self.queues.iter_mut().zip(busy) {
            queue.free += cycles;
            queue.busy += more;
            queue.waiting.iter_mut().for_each(|at| *at += cycles);
        }
        self.last += cycles;
        self.now += cycles;
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

/// Each row once, in order.
fn places(recent: &[Touched]) -> Vec<(usize, usize)> {
    let rows = recent
        .iter()
        .flat_map(|t| (t.low..t.high).map(|row| (t.array, row)));
    let mut rows: Vec<(usize, usize)> = rows.collect();
    rows.sort_unstable();
    rows.dedup();
    rows
}

#[cfg(test)]
mod tests;
