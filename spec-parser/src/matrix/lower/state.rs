//! A register while a body runs: its bits in pieces.
//!
//! In: reads and writes of bit ranges. Out: terms, and the whole register at the end, rolled.

use crate::roll::roll;
use semantics::build as b;
use semantics::sort::Sort;
use semantics::span::Span;
use semantics::term::Term;
use std::collections::BTreeMap;

/// A register's bits: pieces by their lowest bit, which cover it.
#[derive(Clone, Debug)]
pub(super) struct Register {
    width: u32,
    row: u32,
    before: Term,
    pieces: BTreeMap<u32, Term>,
    /// Pieces that were written and that nothing has read since, with where.
    fresh: BTreeMap<u32, (u32, Span)>,
    /// Where it was first written.
    written: Option<Span>,
    read: bool,
}

impl Register {
    pub(super) fn new(name: &str, width: u32, row: u32) -> Register {
        let before = Term::var(name, Sort::Bv(width));
        Register {
            width,
            row,
            before,
            pieces: BTreeMap::from([(0, before)]),
            fresh: BTreeMap::new(),
            written: None,
            read: false,
        }
    }

    /// One of zeros, which is nobody's operand.
    pub(super) fn blank(name: &str, width: u32, row: u32) -> Register {
        Register {
            pieces: BTreeMap::from([(0, b::zero(width))]),
            read: true,
            ..Register::new(name, width, row)
        }
    }

    /// The same register, of which nothing is known but by its name.
    pub(super) fn unknown(&self, name: &str) -> Register {
        Register {
            read: true,
            ..Register::new(name, self.width, self.row)
        }
    }

    /// Bits from `low` up.
    pub(super) fn read(&mut self, low: u32, width: u32) -> Term {
        let end = low + width;
        let first = self.pieces.range(..=low).next_back().map_or(0, |p| *p.0);
        let parts: Vec<Term> = self
            .pieces
            .range(first..end)
            .map(|(&at, &piece)| {
                let (from, to) = (low.max(at), end.min(at + piece.width()));
                b::extract(piece, from - at, to - from)
            })
            .rev()
            .collect();
        let term = b::concat(&parts);
        self.take(low, end);
        self.read = self.read || semantics::subst::free_vars(term).contains(&self.before);
        term
    }

    /// Whether it was written.
    pub(super) fn changed(&self) -> bool {
        self.written.is_some()
    }

    /// What was written within these bits and not read is no longer so; where the first was
    /// written.
    fn take(&mut self, low: u32, end: u32) -> Option<Span> {
        let reached = self.fresh.range(..end).rev();
        let inside: Vec<u32> = reached
            .take_while(|(at, (width, _))| **at + *width > low)
            .map(|(at, _)| *at)
            .collect();
        let mut first = None;
        for at in inside {
            first = self.fresh.remove(&at).map(|(_, span)| span);
        }
        first
    }

    /// Where it was first written, when some bits of it keep what they were and nobody has read it.
    pub(super) fn partly_written(&self) -> Option<Span> {
        let keeps = |(&at, &piece): (&u32, &Term)| {
            let old = b::extract(self.before, at, piece.width());
            piece == old
        };
        let keeps_some = !self.read && self.pieces.iter().any(keeps);
        self.written.filter(|_| keeps_some)
    }

    /// Bits from a place on that moves with loops; none when it was written.
    pub(super) fn read_at(&mut self, low: Term, width: u32) -> Option<Term> {
        self.read = true;
        self.element(low, width)
    }

    /// The same, which is not said to be read.
    pub(super) fn element(&self, low: Term, width: u32) -> Option<Term> {
        let known = self.written.is_none() && self.pieces.len() == 1;
        known.then(|| b::extract_at(self.pieces[&0], low, width))
    }

    /// Bits from `low` up have a new value, by what stands at `span`; where they were given one before
    /// that nothing has read and that is neither a constant nor what they were.
    pub(super) fn write(&mut self, low: u32, value: Term, span: Span) -> Option<Span> {
        let end = low + value.width();
        let lost = self.take(low, end);
        let begins = value == b::extract(self.before, low, value.width());
        if value.as_bits().is_none() && !begins {
            self.fresh.insert(low, (value.width(), span));
        }
        for cut in [low, end] {
            let Some((&at, &piece)) = self.pieces.range(..cut).next_back() else {
                continue;
            };
            let past = at + piece.width();
            if past > cut {
                self.pieces.insert(at, b::extract(piece, 0, cut - at));
                self.pieces
                    .insert(cut, b::extract(piece, cut - at, past - cut));
            }
        }
        let inside: Vec<u32> = self.pieces.range(low..end).map(|p| *p.0).collect();
        for at in inside {
            self.pieces.remove(&at);
        }
        self.pieces.insert(low, value);
        self.written = self.written.or(Some(span));
        lost
    }

    /// Whether what it held before matters: it was read, or part of it is kept.
    pub(super) fn was_read(&self) -> bool {
        let kept = || {
            let piece = |&t: &Term| semantics::subst::free_vars(t).contains(&self.before);
            self.pieces.values().any(piece)
        };
        self.read || (self.written.is_some() && kept())
    }

    /// The whole register, when it was written; a loop over rows where it has rows.
    pub(super) fn after(&self) -> Option<Term> {
        let pieces: Vec<Term> = self.pieces.values().copied().collect();
        debug_assert_eq!(self.width % self.row, 0, "rows fill a register");
        self.written.map(|_| roll(&pieces))
    }
}
