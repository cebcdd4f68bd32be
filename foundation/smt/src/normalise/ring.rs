//! Terms as polynomials modulo 2^w, and back.
//!
//! In: terms. Out: for a term of width w its polynomial modulo 2^w ([`Normaliser::ring`]),
//! for a term read as an integer a polynomial that is exactly that integer
//! ([`Normaliser::exact`]), and the one term of a polynomial ([`Normaliser::emit`]).
//! Extensions go through sums and products where interval arithmetic shows that nothing
//! overflows; elsewhere the extended term stays an atom.

use super::Normaliser;
use super::poly::{Atom, Monomial, Poly, Range, from_bits, pow2, to_bits, valuation, wrap_signed};
use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use semantics::bits::Bits;
use semantics::build as b;
use semantics::op::{Op, OpCode};
use semantics::term::{Kind, Term};
use std::rc::Rc;

/// Products of sums are multiplied out up to this many terms.
const MAX_TERMS: usize = 128;
/// The most factors of a product that are counted one by one: a square of squares has twice as many
/// each time.
const MAX_DEGREE: usize = 64;

impl Normaliser {
    /// The polynomial of a bit-vector term, reduced modulo 2^width.
    pub(super) fn ring(&mut self, t: Term) -> Rc<Poly> {
        if let Some(done) = self.rings.get(&t) {
            return Rc::clone(done);
        }
        let width = t.width();
        let poly = match t.kind() {
            Kind::Bv(bits) => Poly::constant(from_bits(bits)),
            Kind::App { op, args } => self.ring_of_app(t, *op, args),
            _ => self.atom(t, false),
        };
        let poly = Rc::new(self.reduce(poly, width));
        self.rings.insert(t, Rc::clone(&poly));
        poly
    }

    fn ring_of_app(&mut self, t: Term, op: Op, args: &[Term]) -> Poly {
        let minus = -BigInt::one();
        match op.code {
            OpCode::BvAdd | OpCode::BvSub | OpCode::BvNeg => self.sum(t),
            OpCode::BvXor if t.width() == 1 => self.sum(t),
            OpCode::BvNot => Poly::constant(minus).sub(&self.ring(args[0])),
            OpCode::BvMul => {
                let [x, y] = self.times_divisor([args[0], args[1]]);
                self.product(x, y)
            }
            OpCode::BvShl => match args[1].as_bits().and_then(Bits::to_u64) {
                Some(n) if n < u64::from(t.width()) => {
                    self.ring(args[0]).scale(&(BigInt::one() << n))
                }
                Some(_) => Poly::default(),
                None => self.ring_of_normal(t),
            },
            OpCode::Zext => self.exact(args[0], false),
            OpCode::Sext => self.exact(args[0], true),
            OpCode::Concat => {
                let mut sum = Poly::default();
                let mut start = 0;
                for &part in args.iter().rev() {
                    sum.accumulate(&self.exact(part, false), &pow2(start));
                    start += part.width();
                }
                sum
            }
            _ => self.ring_of_normal(t),
        }
    }

    /// A chain of sums, added up in one go: its inner sums are not worked out one by one.
    fn sum(&mut self, t: Term) -> Poly {
        let mut total = Poly::default();
        let (mut rest, mut factor) = (t, BigInt::one());
        loop {
            let found = summands(rest).filter(|_| rest == t || !self.rings.contains_key(&rest));
            let Some((x, y, sign)) = found else {
                total.accumulate(&self.ring(rest), &factor);
                return total;
            };
            let Some(y) = y else {
                (rest, factor) = (x, factor * sign);
                continue;
            };
            let chain_is_right = sign == 1 && summands(x).is_none();
            let (next, leaf, leaf_factor) = if chain_is_right {
                (y, x, factor.clone())
            } else {
                (x, y, &factor * sign)
            };
            total.accumulate(&self.ring(leaf), &leaf_factor);
            rest = next;
        }
    }

    fn ring_of_normal(&mut self, t: Term) -> Poly {
        let normal = self.norm(t);
        if let Some(held) = self.held(normal) {
            Poly::atom(held)
        } else if normal == t {
            self.atom(t, false)
        } else {
            (*self.ring(normal)).clone()
        }
    }

    /// A converted float in the least bits that hold it.
    pub(super) fn held(&mut self, t: Term) -> Option<Atom> {
        let (op, args) = t.as_app()?;
        let (least, most) = semantics::float::bounds::converted(op, args)?;
        let bits = |n: i128| 128 - if n < 0 { !n } else { n }.leading_zeros();
        let signed = least < 0;
        let width = bits(least).max(bits(most)).max(1) + u32::from(signed);
        (width < t.width()).then(|| {
            let term = b::extract(t, 0, width);
            self.normal.stays(term);
            Atom { term, signed }
        })
    }

    fn product(&mut self, x: Term, y: Term) -> Poly {
        let (p, q) = (self.ring(x), self.ring(y));
        if p.0.len() * q.0.len() <= MAX_TERMS && p.degree() + q.degree() <= MAX_DEGREE {
            return p.mul(&q);
        }
        let width = x.width();
        let opaque = b::mul(self.emit(&p, width), self.emit(&q, width));
        self.normal.stays(opaque);
        let atom = self.atom(opaque, false);
        self.rings.insert(opaque, Rc::new(atom.clone()));
        atom
    }

    /// A term in normal form as an unknown integer.
    pub(super) fn atom(&mut self, t: Term, signed: bool) -> Poly {
        if let Some(bits) = t.as_bits() {
            let value = from_bits(bits);
            return Poly::constant(if signed {
                wrap_signed(&value, t.width())
            } else {
                value
            });
        }
        if t.width() == 1 && signed {
            return Poly::atom(Atom {
                term: t,
                signed: false,
            })
            .scale(&-BigInt::one());
        }
        if let Some(split) = self.split(t, signed) {
            return split;
        }
        let signed = signed && self.range_of(t, true).lo.is_negative();
        Poly::atom(Atom { term: t, signed })
    }

    /// Bits of an input that the other term reads in smaller pieces, as the sum of those.
    fn split(&mut self, t: Term, signed: bool) -> Option<Poly> {
        let (variable, lo) = super::slice_of(t)?;
        let hi = lo + t.width();
        let inside: Vec<u32> = self
            .cuts
            .get(&variable)?
            .range(lo + 1..hi)
            .copied()
            .collect();
        if inside.is_empty() {
            return None;
        }
        let starts = std::iter::once(lo).chain(inside.iter().copied());
        let ends = inside.iter().copied().chain([hi]);
        let mut sum = Poly::default();
        for (start, end) in starts.zip(ends) {
            let piece = b::extract(variable, start, end - start);
            sum.accumulate(&self.atom(piece, signed && end == hi), &pow2(start - lo));
        }
        Some(sum)
    }

    /// The canonical polynomial modulo 2^width: coefficients nearest 0, atoms no wider than
    /// what their product's coefficient leaves of the width.
    pub(super) fn reduce(&mut self, poly: Poly, width: u32) -> Poly {
        let mut poly = poly;
        loop {
            let mut out = Poly::default();
            let mut again = false;
            for (m, c) in &poly.0 {
                let c = wrap_signed(c, width);
                if c.is_zero() {
                    continue;
                }
                let keep = width - valuation(&c).min(width - 1);
                if m.iter().any(|&a| self.opens_at(a, keep)) {
                    let narrow = self.truncated(m, keep);
                    out.accumulate(&narrow, &c);
                    again = true;
                } else {
                    let mut m = m.clone();
                    m.iter_mut()
                        .filter(|a| a.term.width() == keep)
                        .for_each(|a| a.signed = false);
                    m.sort();
                    again |= out.0.contains_key(&m);
                    out.add_term(m, c);
                }
            }
            if !again {
                match self
                    .rejoined(&out, width)
                    .or_else(|| self.carries_joined(&out))
                {
                    Some(joined) => out = joined,
                    None => return out,
                }
            }
            poly = out;
        }
    }

    /// A sum's high bits and its low bits, put together again: `2^k * (t >> k) + (t mod 2^k)`
    /// is `t`.
    fn rejoined(&mut self, poly: &Poly, width: u32) -> Option<Poly> {
        let rounded = poly
            .0
            .iter()
            .filter(|(m, c)| m.len() == 1 && !valuation(c).is_zero());
        let rounded: Vec<(Atom, BigInt)> = rounded.map(|(m, c)| (m[0], c.clone())).collect();
        for (high, c) in rounded {
            let c = if valuation(&c) + 1 == width {
                c.abs()
            } else {
                c
            };
            let Some((t, k)) = super::constant_extract(high.term) else {
                continue;
            };
            if k == 0 || k > valuation(&c) || !super::bitwise::is_arithmetic(t) {
                continue;
            }
            let low = self.ring(b::extract(t, 0, k));
            let low = Atom {
                term: self.emit(&low, k),
                signed: false,
            };
            let scale = &c >> k;
            if poly.coefficient(&vec![low]) != scale {
                continue;
            }
            let mut out = poly.clone();
            out.0.remove(&vec![low]);
            out.0.remove(&vec![high]);
            let whole = self.exact(b::extract(t, 0, k + high.term.width()), high.signed);
            return Some(out.plus(&whole, &scale));
        }
        None
    }

    /// Whether only the low `keep` bits of an atom count and they are more than an atom: it
    /// is wider, or a sum that overflows its own width.
    fn opens_at(&mut self, a: Atom, keep: u32) -> bool {
        let width = a.term.width();
        width > keep
            || width == keep
                && super::bitwise::is_arithmetic(a.term)
                && self
                    .ring(a.term)
                    .as_atom()
                    .is_none_or(|inner| inner.term != a.term)
    }

    fn truncated(&mut self, m: &Monomial, keep: u32) -> Poly {
        Poly::product(each_once(m, |a| match self.opens_at(a, keep) {
            true => (*self.ring(b::extract(a.term, 0, keep))).clone(),
            false => Poly::atom(a),
        }))
    }

    /// The polynomial that is exactly the integer which a term denotes.
    pub(super) fn exact(&mut self, t: Term, signed: bool) -> Poly {
        let poly = self.ring(t);
        let width = t.width();
        if let Some(exact) = self.lifted(&poly, width, signed) {
            return exact;
        }
        let opaque = self.emit(&poly, width);
        self.atom(opaque, signed)
    }

    /// A polynomial modulo 2^width as an integer within the width, when intervals show that
    /// one choice of representatives always lies within.
    pub(super) fn lifted(&mut self, poly: &Poly, width: u32, signed: bool) -> Option<Poly> {
        let target = Range::full(width, signed);
        let near = if signed {
            self.read_signed(poly, width)
        } else {
            poly.clone()
        };
        let mut positive = Poly::default();
        for (m, c) in &near.0 {
            positive.add_term(
                m.clone(),
                if c.is_negative() {
                    c + pow2(width)
                } else {
                    c.clone()
                },
            );
        }
        for candidate in [near, positive] {
            let range = self.range(&candidate);
            let turns = super::poly::floor_shift(&(&range.lo - &target.lo), width);
            let moved = Range::point(-turns << width);
            if range.add(&moved).within(&target) {
                return Some(candidate.add(&Poly::constant(moved.lo)));
            }
        }
        None
    }

    /// The same polynomial modulo 2^width with atoms of full width read as signed.
    fn read_signed(&mut self, poly: &Poly, width: u32) -> Poly {
        let mut out = Poly::default();
        for (m, c) in &poly.0 {
            let signed = |a: Atom| a.signed || a.term.width() == width;
            let factors = each_once(m, |a| self.atom(a.term, signed(a)));
            out.accumulate(&Poly::product(factors), c);
        }
        out
    }

    /// The term of a reduced polynomial.
    pub(super) fn emit(&mut self, poly: &Poly, width: u32) -> Term {
        let t = self.written(poly, width);
        self.normal.stays_unless_known(t);
        self.rings.entry(t).or_insert_with(|| Rc::new(poly.clone()));
        t
    }

    /// Reduces and writes.
    pub(super) fn emit_reduced(&mut self, poly: Poly, width: u32) -> Term {
        let poly = self.reduce(poly, width);
        self.emit(&poly, width)
    }

    fn written(&mut self, poly: &Poly, width: u32) -> Term {
        if let Some(c) = poly.as_constant() {
            return Term::bits(to_bits(&c, width));
        }
        if let Some(t) = disjoint(poly, width) {
            return t;
        }
        let complement = self.reduce(Poly::constant(-BigInt::one()).sub(poly), width);
        if let Some(t) = disjoint(&complement, width) {
            return b::not(t);
        }
        let mut sum: Option<Term> = None;
        let negative_last = |c: &BigInt| c.is_negative();
        for pass in [false, true] {
            for (m, c) in poly
                .0
                .iter()
                .filter(|(m, c)| !m.is_empty() && negative_last(c) == pass)
            {
                let product = scaled(m, &c.abs(), width);
                sum = Some(match (sum, pass) {
                    (None, false) => product,
                    (None, true) => b::neg(product),
                    (Some(s), false) => b::add(s, product),
                    (Some(s), true) => b::sub(s, product),
                });
            }
        }
        let constant = Term::bits(to_bits(&poly.constant_part(), width));
        sum.map_or(constant, |s| b::add(s, constant))
    }
}

/// What a sum adds up: the first summand, the second, and the sign of the last one.
fn summands(t: Term) -> Option<(Term, Option<Term>, i32)> {
    let (op, args) = t.as_app()?;
    match op.code {
        OpCode::BvAdd => Some((args[0], Some(args[1]), 1)),
        OpCode::BvXor if t.width() == 1 => Some((args[0], Some(args[1]), 1)),
        OpCode::BvSub => Some((args[0], Some(args[1]), -1)),
        OpCode::BvNeg => Some((args[0], None, -1)),
        _ => None,
    }
}

/// A product of extended atoms times a positive coefficient.
fn scaled(m: &Monomial, coefficient: &BigInt, width: u32) -> Term {
    let product = m
        .iter()
        .map(|&a| extended(a, width))
        .reduce(b::mul)
        .expect("the constant is written apart");
    if coefficient.is_one() {
        return product;
    }
    b::mul(product, Term::bits(to_bits(coefficient, width)))
}

fn extended(a: Atom, width: u32) -> Term {
    if a.signed {
        b::sext(a.term, width)
    } else {
        b::zext(a.term, width)
    }
}

/// A sum of shifted atoms that share no bit, as a concatenation.
fn disjoint(poly: &Poly, width: u32) -> Option<Term> {
    let constant = to_bits(&poly.constant_part(), width);
    let mut segments: Vec<(u32, Atom)> = Vec::with_capacity(poly.0.len());
    for (m, c) in poly.0.iter().filter(|(m, _)| !m.is_empty()) {
        let c: BigInt = if c.is_negative() {
            c + pow2(width)
        } else {
            c.clone()
        };
        let start = valuation(&c);
        if m.len() != 1 || c != pow2(start) {
            return None;
        }
        segments.push((start, m[0]));
    }
    segments.sort_by_key(|s| s.0);
    let mut parts: Vec<Term> = Vec::new(); // least significant first
    let mut at = 0;
    let mut signed = false;
    for &(start, atom) in &segments {
        let end = start + atom.term.width();
        if start < at || signed || !constant.extract(start, end - start).is_zero() {
            return None;
        }
        if start > at {
            parts.push(Term::bits(constant.extract(at, start - at)));
        }
        parts.push(atom.term);
        at = end;
        signed = atom.signed;
    }
    if signed && at < width && !constant.extract(at, width - at).is_zero() {
        return None;
    }
    if !signed && at < width {
        parts.push(Term::bits(constant.extract(at, width - at)));
    }
    parts.reverse();
    let low = b::concat(&parts);
    Some(if signed { b::sext(low, width) } else { low })
}

/// What becomes of the factors of a product: those that are the same, which lie side by side, once.
fn each_once(m: &Monomial, mut of: impl FnMut(Atom) -> Poly) -> Vec<Poly> {
    let same = m.chunk_by(|a, b| a == b);
    same.flat_map(|same| std::iter::repeat_n(of(same[0]), same.len()))
        .collect()
}
