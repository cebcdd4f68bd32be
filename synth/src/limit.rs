//! What may end a search, and when it gives up in time and memory.
//!
//! In: an instant, and a number of bytes. Out: the [`Bound`] that is passed, if one
//! is. The memory is that of the whole process, as the system counts it; where the system
//! does not tell, there is no limit on it. The limits that count goals and candidates are
//! where those are made.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

/// What may end a search, in the order in which reports name several.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Bound {
    /// A candidate of which no prover could say whether it is equal.
    Undecided,
    /// The number of expressions of lanes.
    Candidates,
    /// The number of goals.
    Goals,
    /// The number of operations that are matched with goals.
    Matches,
    /// The memory of the process.
    Memory,
    /// The number of different values in an expression.
    Values,
    /// The time.
    Time,
    /// The number of candidates that were equal on all tests and yet are not equal.
    Refuted,
}

impl Bound {
    const ALL: [Bound; 8] = [
        Bound::Undecided,
        Bound::Candidates,
        Bound::Goals,
        Bound::Matches,
        Bound::Memory,
        Bound::Values,
        Bound::Time,
        Bound::Refuted,
    ];

    /// As reports name it.
    pub fn name(self) -> &'static str {
        match self {
            Bound::Undecided => "a candidate could not be decided",
            Bound::Candidates => "the limit on candidates",
            Bound::Goals => "the limit on goals",
            Bound::Matches => "the limit on matches",
            Bound::Memory => "the limit on memory",
            Bound::Values => "the limit on values",
            Bound::Time => "the time limit",
            Bound::Refuted => "too many refuted candidates",
        }
    }

    /// The bound of that name.
    pub(crate) fn named(name: &str) -> Option<Bound> {
        Bound::ALL.into_iter().find(|bound| bound.name() == name)
    }

    /// Whether another machine, or the same one at another time, may not reach it.
    pub(crate) fn is_of_the_machine(self) -> bool {
        matches!(self, Bound::Time | Bound::Memory)
    }

    /// Whether goals were left out because of it. Enumerations of small functions, which nearly always end at a
    /// bound of their own, are not counted.
    pub(crate) fn leaves_out(self) -> bool {
        !matches!(self, Bound::Undecided | Bound::Candidates | Bound::Refuted)
    }

    /// The names of several.
    pub fn names(bounds: impl IntoIterator<Item = Bound>) -> String {
        let names: Vec<&str> = bounds.into_iter().map(Bound::name).collect();
        names.join(", ")
    }
}

/// The system is asked for the memory once in so many calls.
const CALLS: u32 = 256;
/// Bytes of a page, of which the system counts the memory.
const PAGE: u64 = 4096;

static ASKED: AtomicU32 = AtomicU32::new(0);
static RESIDENT: AtomicU64 = AtomicU64::new(0);

/// What a search may take.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// When to give up.
    pub deadline: Instant,
    /// The most memory of the process, in bytes.
    pub memory: u64,
}

impl Limit {
    /// The limit that is passed.
    pub fn passed(&self) -> Option<Bound> {
        if Instant::now() > self.deadline {
            return Some(Bound::Time);
        }
        (resident() > self.memory).then_some(Bound::Memory)
    }
}

/// Bytes of memory that this process holds, as last asked.
fn resident() -> u64 {
    if ASKED.fetch_add(1, Ordering::Relaxed).is_multiple_of(CALLS) {
        let reported = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
        let pages = reported
            .split_whitespace()
            .nth(1)
            .and_then(|n| n.parse().ok());
        RESIDENT.store(PAGE * pages.unwrap_or(0u64), Ordering::Relaxed);
    }
    RESIDENT.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::{Bound, CALLS, Limit};
    use std::time::{Duration, Instant};

    #[test]
    fn bounds_are_read_as_they_are_named() {
        for bound in Bound::ALL {
            assert_eq!(Bound::named(bound.name()), Some(bound));
        }
        assert!(Bound::ALL.is_sorted_by_key(|bound| bound.name()));
    }

    #[test]
    fn time_and_memory_are_told_apart() {
        let later = Instant::now() + Duration::from_secs(3600);
        let first = |limit: Limit| (0..=CALLS).find_map(|_| limit.passed());
        let limit = |deadline, memory| Limit { deadline, memory };
        assert_eq!(first(limit(later, u64::MAX)), None);
        assert_eq!(first(limit(Instant::now(), u64::MAX)), Some(Bound::Time));
        if std::path::Path::new("/proc/self/statm").exists() {
            assert_eq!(first(limit(later, 1 << 10)), Some(Bound::Memory));
        }
    }
}
