//! When a search gives up, in time and memory.
//!
//! In: an instant, and a number of bytes. Out: the name of the limit that is passed, if one
//! is. The memory is that of the whole process, as the system counts it; where the system
//! does not tell, there is no limit on it. The limits that count goals and candidates are
//! where those are made.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

/// The name of the limit on time.
pub(crate) const TIME: &str = "the time limit";
/// The name of the limit on memory.
pub(crate) const MEMORY: &str = "the limit on memory";

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
    pub fn passed(&self) -> Option<&'static str> {
        if Instant::now() > self.deadline {
            return Some(TIME);
        }
        (resident() > self.memory).then_some(MEMORY)
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
    use super::{CALLS, Limit, MEMORY, TIME};
    use std::time::{Duration, Instant};

    #[test]
    fn time_and_memory_are_told_apart() {
        let later = Instant::now() + Duration::from_secs(3600);
        let first = |limit: Limit| (0..=CALLS).find_map(|_| limit.passed());
        let limit = |deadline, memory| Limit { deadline, memory };
        assert_eq!(first(limit(later, u64::MAX)), None);
        assert_eq!(first(limit(Instant::now(), u64::MAX)), Some(TIME));
        if std::path::Path::new("/proc/self/statm").exists() {
            assert_eq!(first(limit(later, 1 << 10)), Some(MEMORY));
        }
    }
}
