//! What is told of how a machine stands decides all that follows, and times move on together.

use super::{QueueTime, RowTime, Timeline, Touched};
use semantics::random::Random;
use std::collections::VecDeque;

const ROWS: usize = 6;

/// What a program does to times.
#[derive(Clone, Debug)]
enum Act {
    Issue(u64),
    Work(usize, u64, Vec<Touched>),
    Settle,
}

/// Three queues that are short, slow, or run far ahead.
fn machine(random: &mut Random) -> Timeline {
    let queue = |random: &mut Random| QueueTime {
        latency: *random.pick(&[0, 3, 40]),
        entries: 1 + random.index(4),
        free: 0,
        busy: 0,
        waiting: VecDeque::new(),
    };
    Timeline {
        now: 0,
        queues: (0..3).map(|_| queue(random)).collect(),
        touched: Vec::new(),
        rows: vec![vec![RowTime::default(); ROWS]; 2],
        last: 0,
    }
}

fn act(random: &mut Random) -> Act {
    match random.below(8) {
        0 => Act::Settle,
        1..3 => Act::Issue(1 + random.below(20)),
        _ => {
            let touched = |random: &mut Random| {
                let low = random.index(ROWS);
                Touched {
                    array: random.index(2),
                    written: random.below(2) == 0,
                    low,
                    high: low + 1 + random.index(ROWS - low),
                }
            };
            let rows = (0..random.below(3)).map(|_| touched(random)).collect();
            Act::Work(random.index(3), 1 + random.below(30), rows)
        }
    }
}

/// A machine, with what was touched by what may not be done.
#[derive(Clone)]
struct Stands {
    times: Timeline,
    recent: Vec<(u64, Touched)>,
}

impl Stands {
    fn after(random: &mut Random, acts: u64) -> Stands {
        let mut stands = Stands {
            times: machine(random),
            recent: Vec::new(),
        };
        (0..acts).for_each(|_| stands.act(&act(random)));
        stands
    }

    fn act(&mut self, act: &Act) {
        self.times.issue(1);
        match act {
            Act::Issue(cycles) => self.times.issue(*cycles),
            Act::Settle => self.times.settle(),
            Act::Work(queue, cycles, rows) => {
                self.times.touch_all(rows);
                let done = self.times.spend(*queue, *cycles);
                self.recent.extend(rows.iter().map(|t| (done, *t)));
            }
        }
    }

    fn open(&self) -> Vec<Touched> {
        let now = self.times.now();
        let open = self.recent.iter().filter(|r| r.0 > now);
        open.map(|r| r.1).collect()
    }

    fn standing(&self) -> Vec<u64> {
        self.times.standing(&self.open())
    }

    /// How long acts take from here on, and how long queues work for them.
    fn takes(&self, acts: &[Act]) -> Vec<u64> {
        let (mut on, before) = (self.clone(), self.times.now());
        let mut all = Vec::new();
        for act in acts {
            on.act(act);
            all.extend([on.times.now() - before, on.times.cycles() - before]);
        }
        let busy = on.times.busy().into_iter().zip(self.times.busy());
        all.extend(busy.map(|(after, before)| after - before));
        all
    }
}

/// Changes one of the times, or who a row waits for.
fn change(kind: usize, times: &mut Timeline, random: &mut Random) {
    let by = 1 + random.below(30);
    let queue = random.index(times.queues.len());
    let (array, row) = (random.index(2), random.index(ROWS));
    let (queue, row) = (&mut times.queues[queue], &mut times.rows[array][row]);
    let other = random.below(3) as u32;
    match kind {
        0 => times.last += by,
        1 => queue.free += by,
        2 => queue.waiting.iter_mut().for_each(|at| *at += by),
        3 => drop(queue.waiting.pop_front()),
        4 => queue.waiting.push_front(times.now),
        5 => row.written += by,
        6 => row.read += by,
        7 => row.writer = other,
        8 => row.reader = other,
        _ => times.touched.push(Touched {
            array,
            written: by.is_multiple_of(2),
            low: 0,
            high: ROWS,
        }),
    }
}

const KINDS: usize = 10;

#[test]
fn machines_that_stand_alike_go_on_alike() {
    let mut seen = [0; KINDS];
    for seed in 0..6000 {
        let mut random = Random::new(seed);
        let acts = random.below(25);
        let stands = Stands::after(&mut random, acts);
        let kind = random.index(KINDS);
        // Any row may be one that something waits for.
        let mut stands = stands;
        let all = |array| Touched {
            array,
            written: true,
            low: 0,
            high: ROWS,
        };
        stands.recent.extend([0, 1].map(|a| (u64::MAX, all(a))));
        let mut other = stands.clone();
        change(kind, &mut other.times, &mut random);
        if other.standing() != stands.standing() {
            seen[kind] += 1;
            continue;
        }
        for _ in 0..12 {
            let acts: Vec<Act> = (0..10).map(|_| act(&mut random)).collect();
            assert_eq!(
                stands.takes(&acts),
                other.takes(&acts),
                "seed {seed}, kind {kind}"
            );
        }
    }
    // All that is changed is told of, where it matters.
    assert!(seen.iter().all(|n| *n >= 20), "{seen:?}");
}

#[test]
fn what_goes_on_stands_as_before() {
    for seed in 0..2000 {
        let mut random = Random::new(seed);
        let acts = random.below(25);
        let stands = Stands::after(&mut random, acts);
        let mut later = stands.clone();
        let by = 1 + random.below(1000);
        later.times.goes_on(by, &[1, 2, 3], &stands.open());
        let busy = later.times.busy().into_iter().zip(stands.times.busy());
        let busy: Vec<u64> = busy.map(|(after, before)| after - before).collect();
        assert_eq!(busy, [1, 2, 3]);
        assert_eq!(later.times.now(), stands.times.now() + by);
        let acts: Vec<Act> = (0..12).map(|_| act(&mut random)).collect();
        assert_eq!(stands.takes(&acts), later.takes(&acts), "seed {seed}");
    }
}
