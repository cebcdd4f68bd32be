//! Extraction and bitwise operators.
//!
//! In: extractions and logic over terms. Out: one form: extraction of sums is rounding
//! down, from which whole multiples, known low parts and inner roundings are taken out;
//! logic is cut where its arguments are, and its arguments stand in order, each once.

use super::Normaliser;
use super::poly::{Atom, Monomial, Poly, Range, floor_shift, pow2, valuation};
use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use semantics::bits::Bits;
use semantics::build as b;
use semantics::op::{Op, OpCode};
use semantics::term::{Kind, Term};
use std::collections::BTreeSet;

/// Logic is cut into at most so many pieces.
const MAX_PIECES: usize = 128;

/// The most parts that a term is flattened to: they may be shared any number of times.
const MAX_PARTS: usize = 4096;

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
                let multiple = (c / pow2(v)) << v; // towards zero: both keep the sign
                below.add_term(m.clone(), c - &multiple);
                above.add_term(m.clone(), multiple);
            }
            let range = self.range(&below);
            let level = floor_shift(&range.lo, v);
            if level == floor_shift(&range.hi, v) {
                return Some((above.divided(&pow2(v)).add(&Poly::constant(level)), v));
            }
        }
        None
    }

    /// A sum with what is carried into its upper words, put together: where `p = p1 2^w + p0`, the multiples
    /// `p1 + floor((2^v p0 + r) / 2^(v+w))` are `floor((2^v p + r) / 2^(v+w))`. So products of words by those
    /// of halves are what whole ones are.
    pub(super) fn carries_joined(&mut self, sum: &Poly) -> Option<Poly> {
        let roundings: Vec<_> = sum
            .0
            .keys()
            .filter_map(|m| Some((m, rounding_of_arithmetic(m)?)))
            .collect();
        // The bit from which on a product is taken by what may be a `p1`.
        let starts: BTreeSet<u32> = roundings
            .iter()
            .filter(|(_, (y, _))| y.args_of(OpCode::BvMul).is_some())
            .map(|&(_, (_, lo))| lo)
            .collect();
        if roundings.len() < 2 || starts.is_empty() {
            return None;
        }
        roundings.into_iter().find_map(|(carry, (y, lo))| {
            let inner = self.ring(y);
            let parts: Vec<&Monomial> = inner
                .0
                .keys()
                .filter(|m| {
                    self.low_word(m)
                        .is_some_and(|(_, start)| starts.contains(&start))
                })
                .collect();
            let whole = !parts.is_empty() && lo + carry[0].term.width() == y.width();
            let lifted = whole.then(|| self.lifted_whole(y))??;
            let mut joins = |part| self.carry_joined(sum, carry, (&lifted, lo), part);
            parts.into_iter().find_map(&mut joins)
        })
    }

    /// The same, where the carry is that of `inner` at bit `lo` and `p0` may be this part of it.
    fn carry_joined(
        &mut self,
        sum: &Poly,
        carry: &Monomial,
        (inner, lo): (&Poly, u32),
        part: &Monomial,
    ) -> Option<Poly> {
        let (product, width) = self.product_of_low(part)?;
        let (c, scale) = (sum.coefficient(carry), inner.coefficient(part));
        if valuation(&scale) + width < lo {
            return None;
        }
        let upper = self.quotient(&product, width);
        let factor = &c * ((&scale << width) >> lo);
        let there = |(m, by): (&Monomial, &BigInt)| sum.coefficient(m) == by * &factor;
        if upper.0.len() != 1 || !upper.0.iter().all(there) {
            return None;
        }
        let mut opened = inner.clone();
        opened.0.remove(part);
        let carried = self.quotient(&opened.plus(&product, &scale), lo);
        let mut rest = sum.plus(&upper, &-factor);
        rest.0.remove(carry);
        Some(rest.plus(&carried, &c))
    }

    /// What is left of a sum of what has no sign without its low bits.
    fn quotient(&mut self, sum: &Poly, lo: u32) -> Poly {
        let (all, _) = self.range(sum).width();
        self.rounded(sum.clone(), all, lo)
    }

    /// A term's polynomial as an integer, where intervals show that it does not overflow and nothing in it
    /// has a sign.
    fn lifted_whole(&mut self, t: Term) -> Option<Poly> {
        let poly = self.ring(t);
        self.lifted(&poly, t.width(), false).filter(has_no_sign)
    }

    /// The term whose low bits of a product a monomial is, and where those of what the product is a multiple
    /// of a power of two of end.
    fn low_word(&mut self, m: &Monomial) -> Option<(Term, u32)> {
        let term = plain(m)?;
        let product = is_arithmetic(term).then(|| self.ring(term))?;
        let (_, by) = product
            .0
            .first_key_value()
            .filter(|_| product.0.len() == 1)?;
        Some((term, term.width() - valuation(by)))
    }

    /// The whole product of which an atom is the low bits, and how many they are.
    fn product_of_low(&mut self, part: &Monomial) -> Option<(Poly, u32)> {
        let (term, _) = self.low_word(part)?;
        let width = term.width();
        let product = self.ring(term);
        let (factors, by) = product.0.first_key_value()?;
        let mut whole = Poly::default();
        let more = if by.is_negative() {
            pow2(width)
        } else {
            BigInt::ZERO
        };
        whole.add_term(factors.clone(), by + more);
        let more = self.range(&whole).width().0 > width;
        (more && has_no_sign(&whole)).then_some((whole, width))
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

/// The term without a sign that a monomial is.
fn plain(m: &Monomial) -> Option<Term> {
    match m[..] {
        [
            Atom {
                term,
                signed: false,
            },
        ] => Some(term),
        _ => None,
    }
}

/// The term whose bits from some on up are what a monomial is.
fn rounding_of_arithmetic(m: &Monomial) -> Option<(Term, u32)> {
    super::constant_extract(plain(m)?).filter(|&(y, lo)| lo > 0 && is_arithmetic(y))
}

/// Whether no coefficient is negative, and no unknown.
fn has_no_sign(sum: &Poly) -> bool {
    let none = |(m, c): (&Monomial, &BigInt)| c.is_positive() && m.iter().all(|a| !a.signed);
    sum.0.iter().all(none)
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
        Some(args) if out.len() < MAX_PARTS => args.iter().for_each(|&a| flatten(a, code, out)),
        _ => out.push(t),
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
