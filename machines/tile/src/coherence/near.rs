//! Instructions that may be under way at once.
//!
//! In: a nest and its fences. Out: two parts that may change places and must not: registers that
//! are written again, memory that two units touch, a host's store to what a unit still loads. From
//! each tile instruction all ways are followed on which fewer others come than retire it. What a
//! loop's variable is on a way is known from how often the way has gone round.

use super::{Clash, Kind, Later, Text, Touch};
use kernel::index::Symbol;
use std::collections::{BTreeMap, BTreeSet};

/// The most parts that are gone through from one instruction.
const MOST_PARTS: usize = 1 << 14;

/// The first clash.
pub(super) fn clash(text: &Text, fences: &BTreeSet<usize>) -> Option<Clash> {
    if text.in_flight < 2 {
        return None;
    }
    for first in 0..text.parts.len() {
        let Kind::Tile(read, written, moved) = &text.parts[first].kind else {
            continue;
        };
        let mut ways = Ways {
            text,
            fences,
            first,
            read,
            written,
            moved: moved.as_ref(),
            gone: 0,
            found: None,
        };
        let way = Way {
            followed: 0,
            writers: written.iter().map(|r| (*r, true)).collect(),
            vars: BTreeMap::new(),
            began: BTreeMap::new(),
        };
        ways.after(first, way);
        if let Some(second) = ways.found {
            return Some((first, second));
        }
    }
    None
}

/// What is known on a way.
#[derive(Clone, Debug)]
struct Way {
    /// Tile instructions since the first.
    followed: usize,
    /// Whether the instruction that wrote a register last is, or waits for, the first.
    writers: BTreeMap<usize, bool>,
    /// Variables that are no longer what they were.
    vars: BTreeMap<usize, Later>,
    /// What variables were at the first, where the way says so.
    began: BTreeMap<Symbol, i64>,
}

struct Ways<'t> {
    text: &'t Text,
    fences: &'t BTreeSet<usize>,
    first: usize,
    read: &'t [usize],
    written: &'t [usize],
    moved: Option<&'t Touch>,
    gone: usize,
    found: Option<usize>,
}

impl Ways<'_> {
    /// Goes on behind a part.
    fn after(&mut self, at: usize, way: Way) {
        let text = self.text;
        let Some(&around) = text.parts[at].around.last() else {
            return self.next(&text.top, at, way);
        };
        let Kind::Loop(_, body) = &text.parts[around].kind else {
            unreachable!("only loops are around others");
        };
        if body.last() != Some(&at) {
            return self.next(body, at, way);
        }
        let (range, symbol) = (text.range(around), text.var(around));
        let now = way.vars.get(&around).copied().unwrap_or(Later::By(0));
        let end = range.ends().1;
        let (again, done) = match now {
            _ if !range.exact() => (Some(Later::Any), true),
            Later::By(by) => {
                let more = by / range.step + 1 < range.count;
                (more.then_some(Later::By(by + range.step)), true)
            }
            Later::Is(value) if value < end => (Some(Later::Is(value + range.step)), false),
            Later::Is(_) => (None, true),
            Later::Further | Later::Any => (Some(Later::Any), true),
        };
        if let Some(now) = again {
            let mut way = way.clone();
            way.vars.insert(around, now);
            self.enter(body[0], way);
        }
        if done {
            let mut way = way;
            if let (Later::By(by), true) = (now, range.exact()) {
                way.began.insert(symbol, end - by);
            }
            self.after(around, way);
        }
    }

    /// Goes on with the part behind another one in the same body.
    fn next(&mut self, body: &[usize], at: usize, way: Way) {
        let here = body.iter().position(|&p| p == at);
        if let Some(&next) = here.and_then(|k| body.get(k + 1)) {
            self.enter(next, way);
        }
    }

    /// Goes into a part.
    fn enter(&mut self, at: usize, mut way: Way) {
        let text = self.text;
        self.gone += 1;
        if self.found.is_some() || self.fences.contains(&text.parts[at].id) {
            return;
        }
        if self.gone > MOST_PARTS {
            self.found = Some(at);
            return;
        }
        match &text.parts[at].kind {
            Kind::Host(touched) => {
                if self.stores_what_is_loaded(touched, &way) {
                    self.found = Some(at);
                    return;
                }
                self.after(at, way);
            }
            Kind::Tile(read, written, moved) => {
                let waits = read.iter().any(|r| way.writers.get(r) == Some(&true));
                if !waits && self.conflicts(written, moved.as_ref(), &way) {
                    self.found = Some(at);
                    return;
                }
                way.followed += 1;
                way.writers.extend(written.iter().map(|r| (*r, waits)));
                // With so many behind it, the first has retired.
                if way.followed + 1 < text.in_flight {
                    self.after(at, way);
                }
            }
            Kind::Loop(_, body) => {
                let range = text.range(at);
                if range.least == 0 || body.is_empty() {
                    self.after(at, way.clone());
                }
                if range.count == 0 || body.is_empty() {
                    return;
                }
                if !has_tiles(text, at) {
                    return self.through(at, way);
                }
                let begin = match range.exact() {
                    true => Later::Is(range.low),
                    false => Later::Any,
                };
                way.vars.insert(at, begin);
                self.enter(body[0], way);
            }
        }
    }

    /// Goes through a loop without tile instructions: its statements come with any values of its
    /// variables.
    fn through(&mut self, at: usize, mut way: Way) {
        let text = self.text;
        let inside = |p: &usize| text.parts[*p].around.contains(&at);
        let parts: Vec<usize> = (at + 1..text.parts.len()).take_while(inside).collect();
        for &part in std::iter::once(&at).chain(&parts) {
            if matches!(text.parts[part].kind, Kind::Loop(..)) {
                way.vars.insert(part, Later::Any);
            }
        }
        for &part in &parts {
            if let Kind::Host(touched) = &text.parts[part].kind
                && self.stores_what_is_loaded(touched, &way)
            {
                self.found = Some(part);
                return;
            }
        }
        self.after(at, way);
    }

    fn conflicts(&self, written: &[usize], moved: Option<&Touch>, way: &Way) -> bool {
        let again = |r: &usize| written.contains(r);
        self.read.iter().any(again)
            || self.written.iter().any(again)
            || match (self.moved, moved) {
                (Some(first), Some(second)) => self.meet(first, second, way),
                _ => false,
            }
    }

    fn stores_what_is_loaded(&self, touched: &[Touch], way: &Way) -> bool {
        let Some(moved) = self.moved.filter(|m| !m.writes) else {
            return false;
        };
        let mut stores = touched.iter().filter(|t| t.writes);
        stores.any(|t| self.meet(moved, t, way))
    }

    fn meet(&self, first: &Touch, second: &Touch, way: &Way) -> bool {
        let text = self.text;
        let later = |symbol: Symbol| {
            let known = way.vars.iter().find(|(l, _)| text.var(**l) == symbol);
            let around = &text.parts[self.first].around;
            match known {
                Some((_, later)) => *later,
                None if around.iter().any(|&l| text.var(l) == symbol) => Later::By(0),
                None => Later::Any,
            }
        };
        text.meet((first, second), &|s| way.began.get(&s).copied(), &later)
    }
}

/// Whether a loop has tile instructions in it.
fn has_tiles(text: &Text, at: usize) -> bool {
    let mut inside = text.parts.iter().filter(|p| p.around.contains(&at));
    inside.any(|p| matches!(p.kind, Kind::Tile(..)))
}
