//! Extraction and bitwise operators.
//!
//! In: extractions and logic over terms. Out: one form: extraction of sums is rounding
//! down, from which whole multiples, known low parts and inner roundings are taken out;
//! logic is cut where its arguments are, and its arguments stand in order, each once.

use super::Normaliser;
use super::poly::{Poly, Range, floor_shift, pow2, valuation};
use num_bigint::BigInt;
use num_traits::{One, Zero};
use semantics::bits::Bits;
use semantics::build as b;
use semantics::op::{Op, OpCode};
use semantics::term::{Kind, Term};
use std::collections::BTreeSet;

/// Logic is cut into at most so many pieces.
const MAX_PIECES: usize = 128;

impl Normaliser {
    /// The normal form of an extraction at a constant offset within the term.
    pub(super) fn extraction(&mut self, x: Term, lo: u32, width: u32) -> Term {
        let simple = b::extract(x, lo, width);
        let Some((y, lo)) = super::constant_extract(simple) else {
            return self.norm(simple);
        };
        if matches!(y.kind(), Kind::Var { .. }) {
            return simple;
        }
        if is_arithmetic(y) {
            // What its own parts lead back to stays: products beyond the limit do.
            if !self.rounding.insert(simple) {
                return simple;
            }
            let poly = self.ring(y);
            let all = lo + width;
            let poly = self.reduce((*poly).clone(), all);
            let rounded = self.rounded(poly, all, lo);
            self.rounding.remove(&simple);
            return self.emit_reduced(rounded, width);
        }
        let inner = self.norm(y);
        if let Some(held) = self
            .held(inner)
            .filter(|a| lo == 0 && a.term.width() <= width)
        {
            return self.emit_reduced(Poly::atom(held), width);
        }
        let bits = b::extract(inner, lo, width);
        if bits == simple {
            simple
        } else {
            self.norm(bits)
        }
    }

    /// Bits `lo` up to `all` of a polynomial modulo 2^all.
    fn rounded(&mut self, poly: Poly, all: u32, lo: u32) -> Poly {
        if lo == 0 {
            return poly;
        }
        let shared = poly.0.values().map(valuation).min().unwrap_or(0).min(lo);
        if shared > 0 {
            let halved = self.reduce(poly.divided(&pow2(shared)), all - shared);
            return self.rounded(halved, all - shared, lo - shared);
        }
        let (mut whole, mut rest) = (Poly::default(), Poly::default());
        for (m, c) in &poly.0 {
            if m.is_empty() {
                let above = floor_shift(c, lo);
                rest.add_term(m.clone(), c - (&above << lo));
                whole.add_term(m.clone(), above);
            } else {
                let above = c / pow2(lo); // towards zero: what stays keeps its sign
                rest.add_term(m.clone(), c - (&above << lo));
                whole.add_term(m.clone(), above);
            }
        }
        whole.add(&self.rounded_rest(rest, all, lo))
    }

    /// Bits `lo` up to `all` of what has no whole multiple of 2^lo.
    fn rounded_rest(&mut self, rest: Poly, all: u32, lo: u32) -> Poly {
        let range = self.range(&rest);
        let (least, most) = (floor_shift(&range.lo, lo), floor_shift(&range.hi, lo));
        if least == most {
            return Poly::constant(least);
        }
        // Zeros, or ones everywhere: all bits are the same.
        if range.lo == -BigInt::one() && range.hi.is_zero() {
            return rest;
        }
        if let Some((above, below)) = self.without_low_part(&rest, lo) {
            return self.rounded(above, all - below, lo - below);
        }
        if let Some((inner, all, lo)) = self.inner_rounding(&rest, all, lo) {
            return self.rounded(inner, all, lo);
        }
        let (fits, signed) = range.width();
        let fits = fits.max(lo + 1);
        if fits < all {
            let narrow = self.reduce(rest, fits);
            return self.bits_of(&narrow, fits, lo, signed);
        }
        self.bits_of(&rest, all, lo, false)
    }

    /// The sum divided by 2^v (and v), when what is not a multiple of 2^v stays between two
    /// neighbouring multiples and so cannot reach the bits from `lo` up.
    fn without_low_part(&mut self, rest: &Poly, lo: u32) -> Option<(Poly, u32)> {
        let levels: BTreeSet<u32> = rest
            .0
            .values()
            .map(valuation)
            .filter(|&v| v > 0 && v < lo)
            .collect();
        for v in levels.into_iter().rev() {
            let (mut above, mut below) = (Poly::default(), Poly::default());
            for (m, c) in &rest.0 {
                let part = if valuation(c) >= v {
                    &mut above
                } else {
                    &mut below
                };
                part.add_term(m.clone(), c.clone());
            }
            let range = self.range(&below);
            let level = floor_shift(&range.lo, v);
            if level == floor_shift(&range.hi, v) {
                return Some((above.divided(&pow2(v)).add(&Poly::constant(level)), v));
            }
        }
        None
    }

    fn bits_of(&mut self, poly: &Poly, all: u32, lo: u32, signed: bool) -> Poly {
        let poly = self.reduce(poly.clone(), all);
        let term = self.emit(&poly, all);
        let bits = b::extract(term, lo, all - lo);
        if super::constant_extract(bits) == Some((term, lo)) {
            self.normal.stays(bits);
            return self.atom(bits, signed);
        }
        self.exact(bits, signed)
    }

    /// Rounding down twice is rounding down once, when all that is rounded is one inner
    /// rounding and integers.
    fn inner_rounding(&mut self, rest: &Poly, all: u32, lo: u32) -> Option<(Poly, u32, u32)> {
        let inner = |m: &[super::poly::Atom]| {
            let (y, at) = super::constant_extract(m[0].term)?;
            (m.len() == 1
                && at > 0
                && at + m[0].term.width() == y.width()
                && super::slice_of(m[0].term).is_none())
            .then_some((y, at))
        };
        let mut found = rest
            .0
            .iter()
            .filter_map(|(m, c)| Some((m.clone(), c.clone(), m.first().and_then(|_| inner(m))?)));
        let (m, c, (y, at)) = found.next()?;
        if found.next().is_some() || !c.is_one() {
            return None;
        }
        drop(found);
        let mut others = rest.clone();
        others.0.remove(&m);
        let wide = all + at;
        let inside = self.exact(y, m[0].signed);
        let poly = inside.plus(&others, &pow2(at));
        Some((self.reduce(poly, wide), wide, lo + at))
    }

    /// The normal form of a bitwise and, or, exclusive or.
    pub(super) fn logic(&mut self, code: OpCode, args: &[Term]) -> Term {
        let mut flat: Vec<Term> = Vec::new();
        for &a in args {
            let a = self.norm(a);
            match a.args_of(code) {
                Some(_) => flatten(a, code, &mut flat),
                None => flat.push(a),
            }
        }
        let width = args[0].width();
        let mut at = BTreeSet::new();
        for &t in &flat {
            boundaries(t, &mut at);
            let multiple = self.ring(t).0.values().map(valuation).min().unwrap_or(0);
            at.extend(Some(multiple).filter(|&v| v > 0 && v < width));
        }
        if at.is_empty() || at.len() > MAX_PIECES {
            return self.logic_whole(code, flat);
        }
        let mut parts = Vec::new();
        let mut start = 0;
        for end in at.into_iter().chain([width]) {
            let pieces: Vec<Term> = flat
                .iter()
                .map(|&t| b::extract(t, start, end - start))
                .collect();
            let pieces: Vec<Term> = pieces.into_iter().map(|t| self.norm(t)).collect();
            parts.push(self.logic(code, &pieces));
            start = end;
        }
        parts.reverse();
        self.norm(b::concat(&parts))
    }

    fn logic_whole(&mut self, code: OpCode, mut args: Vec<Term>) -> Term {
        let width = args[0].width();
        let mut flip = false;
        if code == OpCode::BvXor {
            for a in &mut args {
                if let Some(inner) = a.args_of(OpCode::BvNot) {
                    *a = inner[0];
                    flip = !flip;
                }
            }
        }
        args.sort();
        if code != OpCode::BvXor {
            args.dedup();
        }
        if width == 1 && code != OpCode::BvXor {
            return self.one_bit_logic(code, &args);
        }
        if let Some(narrow) = self.narrow_logic(code, &args, width) {
            return narrow;
        }
        let result = args
            .iter()
            .copied()
            .reduce(|x, y| b::app(Op::new(code), &[x, y]))
            .expect("logic has arguments");
        let opaque = |t: Term| t.args_of(code).is_some();
        let result = if opaque(result) {
            self.normal.stays(result);
            result
        } else {
            self.norm(result)
        };
        if flip {
            self.norm(b::not(result))
        } else {
            result
        }
    }

    /// Logic of sign extensions from one width.
    fn narrow_logic(&mut self, code: OpCode, args: &[Term], width: u32) -> Option<Term> {
        let mut narrow = 1;
        for &a in args {
            let range = self.range_of_ring(a)?;
            narrow = narrow.max(range.signed_width());
        }
        if narrow >= width {
            return None;
        }
        let args: Vec<Term> = args.iter().map(|&a| b::extract(a, 0, narrow)).collect();
        let inner = self.logic(code, &args);
        Some(self.norm(b::sext(inner, width)))
    }

    fn range_of_ring(&mut self, t: Term) -> Option<Range> {
        let poly = self.ring(t);
        let exact = self.lifted(&poly, t.width(), true)?;
        Some(self.range(&exact))
    }

    fn one_bit_logic(&mut self, code: OpCode, args: &[Term]) -> Term {
        let truths: Vec<Term> = args.iter().map(|&a| self.bit_is_set(a)).collect();
        let join = if code == OpCode::BvAnd {
            b::both
        } else {
            b::either
        };
        let all = truths
            .into_iter()
            .reduce(join)
            .expect("logic has arguments");
        let all = self.norm(all);
        self.norm(b::bool_to_bit(all))
    }
}

/// Sums, products, complements: what [`Normaliser::ring`] looks into.
pub(super) fn is_arithmetic(t: Term) -> bool {
    t.as_app().is_some_and(|(op, _)| {
        matches!(
            op.code,
            OpCode::BvAdd | OpCode::BvSub | OpCode::BvNeg | OpCode::BvMul | OpCode::BvNot
        )
    })
}

fn flatten(t: Term, code: OpCode, out: &mut Vec<Term>) {
    match t.args_of(code) {
        Some(args) => args.iter().for_each(|&a| flatten(a, code, out)),
        None => out.push(t),
    }
}

/// Bits at which a term is put together from parts.
fn boundaries(t: Term, out: &mut BTreeSet<u32>) {
    match t.kind() {
        Kind::Bv(bits) => constant_runs(bits, out),
        Kind::App { op, args } => match op.code {
            OpCode::Concat => {
                let mut start = 0;
                for part in args.iter().rev().take(args.len() - 1) {
                    start += part.width();
                    out.insert(start);
                }
            }
            OpCode::Zext => {
                out.insert(args[0].width());
                boundaries(args[0], out);
            }
            OpCode::BvNot => boundaries(args[0], out),
            _ => {}
        },
        _ => {}
    }
}

fn constant_runs(bits: &Bits, out: &mut BTreeSet<u32>) {
    out.extend((1..bits.width()).filter(|&k| bits.bit(k) != bits.bit(k - 1)));
}
