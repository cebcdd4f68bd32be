//! Registers while a body runs: which bits hold which term.
//!
//! In: writes and reads of bit ranges. Out: terms. Each written element stays a piece of its
//! own, so that a vector is a list of elements and not one nest of insertions. Bits never
//! written read as 0; bits past a fixed size are dropped on writing and read as 0.

use super::select::choose;
use super::value::Class;
use semantics::build as b;
use semantics::term::Term;
use std::collections::BTreeMap;

/// Consecutive bits that were written together.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Piece {
    /// The bits.
    pub(crate) term: Term,
    /// How slices of it are read…
    pub(crate) class: Class,
    /// …from this width on; narrower ones are unsigned.
    pub(crate) element: u32,
}

/// A register or a temporary with slices.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Register {
    /// By lowest bit; never overlapping.
    pieces: BTreeMap<u32, Piece>,
    /// Its width, when it is fixed.
    pub(crate) size: Option<u32>,
}

impl Piece {
    /// The class of a part of this width.
    fn class_at(&self, width: u32) -> Class {
        if width >= self.element {
            self.class
        } else {
            Class::Unsigned
        }
    }

    fn part(&self, lo: u32, width: u32) -> Piece {
        Piece {
            term: b::extract(self.term, lo, width),
            ..*self
        }
    }
}

impl Register {
    /// A register of fixed size with a value.
    pub(crate) fn fixed(piece: Piece) -> Register {
        Register {
            size: Some(piece.term.width()),
            pieces: BTreeMap::from([(0, piece)]),
        }
    }

    /// A temporary with a value.
    pub(crate) fn temporary(piece: Piece) -> Register {
        Register {
            size: None,
            pieces: BTreeMap::from([(0, piece)]),
        }
    }

    /// One past the highest bit that exists.
    pub(crate) fn width(&self) -> u32 {
        self.size.unwrap_or_else(|| {
            self.pieces
                .last_key_value()
                .map_or(0, |(lo, p)| lo + p.term.width())
        })
    }

    /// The pieces that touch a range, lowest first.
    fn touching(&self, lo: u32, end: u32) -> impl Iterator<Item = (u32, &Piece)> {
        let first = self
            .pieces
            .range(..=lo)
            .next_back()
            .map_or(lo, |(&start, _)| start);
        self.pieces
            .range(first..end.max(first))
            .map(|(&start, p)| (start, p))
            .filter(move |(start, p)| start + p.term.width() > lo)
    }

    /// The bits of a range with how they are read.
    pub(crate) fn read(&self, lo: u32, width: u32) -> Piece {
        let end = lo + width;
        let mut parts = Vec::new();
        let mut at = lo;
        let (mut class, mut element, mut constant) = (None, 1, true);
        for (start, piece) in self.touching(lo, end) {
            let (from, to) = (start.max(lo), (start + piece.term.width()).min(end));
            if from > at {
                parts.push(b::zero(from - at));
            }
            parts.push(b::extract(piece.term, from - start, to - from));
            at = to;
            // Constants, such as what stands for masked elements, read as their neighbours.
            if piece.term.as_bits().is_some() && class.is_some() {
                continue;
            }
            let own = piece.class_at(width);
            class = Some(match class {
                Some(c) if c != own && !constant => Class::Unsigned,
                _ => own,
            });
            constant = piece.term.as_bits().is_some();
            element = if constant {
                piece.element
            } else {
                element.max(piece.element)
            };
        }
        if at < end {
            parts.push(b::zero(end - at));
        }
        parts.reverse();
        Piece {
            term: b::concat(&parts),
            class: class.unwrap_or(Class::Unsigned),
            element: element.min(width),
        }
    }

    /// The whole register; slices of it are read as its elements are.
    pub(crate) fn whole(&self) -> Piece {
        let width = self.width().max(1);
        let piece = self.read(0, width);
        let mut tags = self
            .pieces
            .values()
            .filter(|p| p.term.as_bits().is_none())
            .map(|p| (p.class, p.element));
        match tags.next().filter(|first| tags.all(|t| t == *first)) {
            Some((class, element)) => Piece {
                class,
                element,
                ..piece
            },
            None => Piece {
                class: Class::Unsigned,
                ..piece
            },
        }
    }

    /// Writes a range.
    pub(crate) fn write(&mut self, lo: u32, mut piece: Piece) {
        if let Some(size) = self.size {
            if lo >= size {
                return;
            }
            let room = size - lo;
            if piece.term.width() > room {
                piece = piece.part(0, room);
            }
        }
        let end = lo + piece.term.width();
        let old: Vec<(u32, Piece)> = self.touching(lo, end).map(|(s, p)| (s, *p)).collect();
        for (start, p) in old {
            self.pieces.remove(&start);
            let stop = start + p.term.width();
            if start < lo {
                self.pieces.insert(start, p.part(0, lo - start));
            }
            if stop > end {
                self.pieces.insert(end, p.part(end - start, stop - end));
            }
        }
        self.pieces.insert(lo, piece);
    }

    /// Where the pieces of all of these begin or end.
    fn cuts(all: &[&Register]) -> Vec<u32> {
        let mut cuts: Vec<u32> = all
            .iter()
            .flat_map(|r| r.pieces.iter())
            .flat_map(|(&lo, p)| [lo, lo + p.term.width()])
            .collect();
        cuts.sort_unstable();
        cuts.dedup();
        cuts
    }

    /// One register of several outcomes: for each range that they write differently, what
    /// `merge` makes of their terms.
    pub(crate) fn merged(all: &[&Register], merge: impl Fn(&[Term]) -> Term) -> Register {
        let mut out = Register {
            size: all[0].size,
            pieces: BTreeMap::new(),
        };
        for pair in Register::cuts(all).windows(2) {
            let (lo, width) = (pair[0], pair[1] - pair[0]);
            let covered = all.iter().any(|r| r.touching(lo, pair[1]).next().is_some());
            if !covered {
                continue;
            }
            let parts: Vec<Piece> = all.iter().map(|r| r.read(lo, width)).collect();
            let terms: Vec<Term> = parts.iter().map(|p| p.term).collect();
            let term = if terms.iter().all(|t| *t == terms[0]) {
                terms[0]
            } else {
                merge(&terms)
            };
            out.pieces.insert(
                lo,
                Piece {
                    term,
                    ..Register::tag(all, &parts, lo, width)
                },
            );
        }
        out
    }

    /// How a merged range is read: as the outcomes that are not constant are.
    fn tag(all: &[&Register], parts: &[Piece], lo: u32, width: u32) -> Piece {
        let whole = |r: &Register| {
            r.touching(lo, lo + width)
                .next()
                .map(|(_, p)| (p.class, p.element))
        };
        let mut tags = all
            .iter()
            .zip(parts)
            .filter(|(_, p)| p.term.as_bits().is_none())
            .filter_map(|(r, _)| whole(r));
        let first = tags.next();
        match first.filter(|f| tags.all(|t| t == *f)) {
            Some((class, element)) => Piece {
                class,
                element,
                ..parts[0]
            },
            None => Piece {
                class: Class::Unsigned,
                ..parts[0]
            },
        }
    }

    /// Writes one of several positions: position `k` when `index` is `k`.
    pub(crate) fn scatter(&mut self, positions: &[(u32, Term)], piece: Piece) {
        for &(lo, condition) in positions {
            let old = self.read(lo, piece.term.width());
            let term = choose(condition, piece.term, old.term);
            self.write(lo, Piece { term, ..piece });
        }
    }
}

impl Register {
    /// Whether every bit of a range was written.
    pub(crate) fn covers(&self, lo: u32, width: u32) -> bool {
        let mut at = lo;
        for (start, piece) in self.touching(lo, lo + width) {
            if start > at {
                return false;
            }
            at = start + piece.term.width();
        }
        at >= lo + width
    }

    /// Consecutive written bits: where each run begins, and its pieces.
    pub(crate) fn runs(&self) -> Vec<(u32, Vec<Term>)> {
        let mut runs: Vec<(u32, Vec<Term>)> = Vec::new();
        let mut end = None;
        for (&lo, piece) in &self.pieces {
            match runs.last_mut().filter(|_| end == Some(lo)) {
                Some((_, pieces)) => pieces.push(piece.term),
                None => runs.push((lo, vec![piece.term])),
            }
            end = Some(lo + piece.term.width());
        }
        runs
    }

    /// The lowest `width` bits as the pieces that were written, least significant first.
    pub(crate) fn elements(&self, width: u32) -> Vec<Term> {
        let mut cuts: Vec<u32> = Register::cuts(&[self]);
        cuts.extend([0, width]);
        cuts.retain(|&c| c <= width);
        cuts.sort_unstable();
        cuts.dedup();
        cuts.windows(2)
            .map(|p| self.read(p[0], p[1] - p[0]).term)
            .collect()
    }

    /// The register with the pieces for which `rule` gives another term; none when it gives
    /// none.
    pub(crate) fn rewritten(&self, rule: fn(Term) -> Option<Term>) -> Option<Register> {
        let mut out: Option<Register> = None;
        for (&lo, piece) in &self.pieces {
            if let Some(term) = rule(piece.term) {
                let term = b::resize_unsigned(term, piece.term.width());
                let new = out.get_or_insert_with(|| self.clone());
                new.pieces.insert(lo, Piece { term, ..*piece });
            }
        }
        out
    }
}
