//! Values of the pseudocode: exact integers, known or symbolic.
//!
//! In: bits of registers and constants. Out: [`Value`]s, on which arithmetic is unbounded: a
//! symbolic integer is `scale · bits + offset`, where the bits are a term read as signed or
//! unsigned, with a range; every operation makes the bits wide enough for its exact result.
//! Nothing is cut here but by [`Value::bits`]. Statements and names are not known here.

use super::compare::equal;
use super::float::{self, Products};
use super::idiom;
use super::memory::{self, Address};
use super::select::{bit_of, choose, merge_syms};
use super::shift;
use semantics::build as b;
use semantics::op::{Op, OpCode};
use semantics::term::Term;
use std::rc::Rc;
use std::sync::Arc;

/// The widest term whose range is tracked as numbers.
const RANGED: u32 = 100;

/// How the bits of a register are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    /// As an unsigned integer.
    Unsigned,
    /// In two's complement.
    Signed,
    /// As a floating-point number in the IEEE format of its width.
    Float,
    /// As a bfloat16.
    Bfloat,
}

/// A symbolic exact integer: `scale · read(term) + offset`.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Sym {
    /// The bits.
    pub(crate) term: Term,
    /// Whether they are read in two's complement.
    pub(crate) signed: bool,
    /// The factor, not 0.
    pub(crate) scale: i128,
    /// The summand.
    pub(crate) offset: i128,
    /// Bounds of what the bits read as, both inclusive; none for wide bits.
    pub(crate) range: Option<(i128, i128)>,
    /// How slices of it are read.
    pub(crate) class: Class,
    /// From this width on slices have the class; narrower ones are unsigned.
    pub(crate) element: u32,
    /// Whether it was read from a register as it is.
    pub(crate) raw: bool,
}

/// A value.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Value {
    /// A known integer.
    Int(i128),
    /// A symbolic integer.
    Sym(Sym),
    /// The outcome of a comparison; as an integer 1 or 0.
    Truth(Term),
    /// The first shifted left by the second, unbounded.
    Shifted(Rc<Value>, Rc<Sym>),
    /// A bitwise operator on values of which one is only known at a width.
    Pending(OpCode, Rc<Value>, Rc<Value>),
    /// A word such as the name of a comparison.
    Token(Arc<str>),
    /// A number with a fraction, in no format yet.
    Real(f64),
    /// Products of floats that may still be fused with a sum.
    Products(Rc<Products>),
    /// A place in memory.
    Address(Box<Address>),
    /// Either value, for what cannot be merged.
    Choice(Term, Rc<Value>, Rc<Value>),
}

/// Why an operation has no value.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Refusal(pub(crate) String);

pub(crate) type Computed<T> = Result<T, Refusal>;

pub(crate) fn refuse<T>(why: impl Into<String>) -> Computed<T> {
    Err(Refusal(why.into()))
}

/// The most parts of a value that has no width yet.
const MOST_PARTS: u32 = 256;
/// The most levels of a term; the vendor's bodies reach 130.
pub(crate) const MOST_LEVELS: u32 = 1000;
/// The widest value that is computed with.
const WIDEST: u32 = 1 << 13;
/// The largest known integer, factor or summand, in either direction.
const LARGEST: i128 = 1 << 110;

/// Refuses a width that no register has.
fn bounded(width: u32) -> Computed<u32> {
    if width > WIDEST {
        return refuse(format!("this value is wider than {WIDEST} bits"));
    }
    Ok(width)
}

/// Refuses known integers that are too large to be exact.
pub(crate) fn moderate(k: Option<i128>) -> Computed<i128> {
    k.filter(|k| (-LARGEST..=LARGEST).contains(k))
        .map_or_else(|| refuse("this number is too large"), Ok)
}

/// Bits that hold every integer from `lo` to `hi`, signed when `lo` is negative.
pub(crate) fn width_of(lo: i128, hi: i128) -> (u32, bool) {
    if lo >= 0 {
        ((128 - hi.leading_zeros()).max(1), false)
    } else {
        let negative = 129 - (!lo).leading_zeros();
        let positive = if hi < 0 { 1 } else { 129 - hi.leading_zeros() };
        (negative.max(positive), true)
    }
}

pub(crate) fn full_range(width: u32, signed: bool) -> Option<(i128, i128)> {
    (width <= RANGED).then(|| {
        if signed {
            (-(1 << (width - 1)), (1 << (width - 1)) - 1)
        } else {
            (0, (1 << width) - 1)
        }
    })
}

/// The term widened or cut to a width.
pub(crate) fn fit(term: Term, signed: bool, width: u32) -> Term {
    if signed {
        b::resize_signed(term, width)
    } else {
        b::resize_unsigned(term, width)
    }
}

impl Sym {
    /// Bits as an exact integer.
    pub(crate) fn new(term: Term, signed: bool) -> Sym {
        Sym {
            range: full_range(term.width(), signed),
            element: term.width(),
            class: if signed {
                Class::Signed
            } else {
                Class::Unsigned
            },
            term,
            signed,
            scale: 1,
            offset: 0,
            raw: false,
        }
    }

    pub(crate) fn ranged(term: Term, signed: bool, range: Option<(i128, i128)>) -> Sym {
        let all = full_range(term.width(), signed);
        let range = match (range, all) {
            (Some(r), Some(a)) => Some((r.0.max(a.0), r.1.min(a.1))),
            _ => all,
        };
        Sym {
            range,
            ..Sym::new(term, signed)
        }
    }

    /// Whether the integer is just the bits.
    pub(crate) fn plain(&self) -> bool {
        self.scale == 1 && self.offset == 0
    }

    /// Bounds of the integer.
    pub(crate) fn bounds(&self) -> Option<(i128, i128)> {
        let (lo, hi) = self.range?;
        let at = |x: i128| x.checked_mul(self.scale)?.checked_add(self.offset);
        let (p, q) = (at(lo)?, at(hi)?);
        Some((p.min(q), p.max(q)))
    }

    /// The low bits of the integer.
    pub(crate) fn cut(&self, width: u32) -> Term {
        if self.plain() {
            return fit(self.term, self.signed, width);
        }
        if self.term.width() == 1 && !self.signed {
            let one = Term::bv(width, self.scale.wrapping_add(self.offset));
            let condition = b::eq(self.term, Term::bv(1, 1));
            return b::ite(condition, one, Term::bv(width, self.offset));
        }
        let base = fit(self.term, self.signed, width);
        if self.scale == -1 {
            return b::sub(Term::bv(width, self.offset), base);
        }
        let power = self.scale.unsigned_abs();
        let shift = power.trailing_zeros();
        let product = if self.scale > 0 && power.is_power_of_two() {
            if shift == 0 {
                base
            } else if shift >= width {
                b::zero(width)
            } else {
                b::concat(&[b::extract(base, 0, width - shift), b::zero(shift)])
            }
        } else {
            b::mul(base, Term::bv(width, self.scale))
        };
        b::add(product, Term::bv(width, self.offset))
    }

    /// The same integer as plain bits.
    pub(crate) fn plainly(&self) -> Sym {
        if self.plain() {
            return self.clone();
        }
        if let Some((lo, hi)) = self.bounds() {
            let (width, signed) = width_of(lo, hi);
            return Sym::ranged(self.cut(width), signed, Some((lo, hi)));
        }
        let largest = self.scale.unsigned_abs().max(self.offset.unsigned_abs());
        let extra = 128 - largest.leading_zeros() + 2;
        let signed = self.signed || self.offset < 0 || self.scale < 0;
        Sym::new(self.cut(self.term.width() + extra), signed)
    }

    /// Whether it is one floating-point number.
    pub(crate) fn is_float(&self) -> bool {
        matches!(self.class, Class::Float | Class::Bfloat)
            && self.raw
            && self.plain()
            && self.term.width() == self.element
    }

    /// Refuses floating-point numbers.
    fn integer(&self) -> Computed<()> {
        let float = matches!(self.class, Class::Float | Class::Bfloat);
        if float && self.raw && self.term.width() >= self.element {
            return refuse("this does not work on floating-point numbers");
        }
        Ok(())
    }

    /// Never negative, judged by the range.
    pub(crate) fn natural(&self) -> bool {
        !self.signed || self.range.is_some_and(|(lo, _)| lo >= 0)
    }
}

/// Two plain integers at one width and one reading.
pub(crate) fn common(x: &Sym, y: &Sym) -> (Term, Term, bool) {
    let signed = x.signed || y.signed;
    let need = |s: &Sym| s.term.width() + u32::from(signed && !s.signed);
    let width = need(x).max(need(y));
    (
        fit(x.term, x.signed, width),
        fit(y.term, y.signed, width),
        signed,
    )
}

impl Value {
    /// Bits as an unsigned integer.
    pub(crate) fn unsigned(term: Term) -> Value {
        Value::Sym(Sym::new(term, false))
    }

    /// The value as a symbolic integer; known ones become constants.
    pub(crate) fn sym(&self) -> Computed<Sym> {
        match self {
            Value::Int(k) => {
                let (width, signed) = width_of(*k, *k);
                Ok(Sym::ranged(Term::bv(width, *k), signed, Some((*k, *k))))
            }
            Value::Sym(s) => Ok(s.clone()),
            Value::Truth(c) => Ok(Sym::new(bit_of(*c), false)),
            Value::Choice(c, x, y) => Ok(merge_syms(*c, &x.sym()?, &y.sym()?)),
            Value::Shifted(..) if let Ok(Value::Sym(exact)) = shift::exact(self) => Ok(exact),
            Value::Shifted(..) | Value::Pending(..) => {
                refuse("the result of a shift by an unknown count must be cut to a width first")
            }
            Value::Token(name) => refuse(format!("`{name}` is not a number")),
            Value::Address(place) => place.number(),
            Value::Real(_) | Value::Products(_) => {
                refuse("a number with a fraction has no bits before it has a format")
            }
        }
    }

    /// The symbolic integer for arithmetic: not a floating-point number.
    pub(crate) fn number(&self) -> Computed<Sym> {
        let s = self.sym()?;
        s.integer()?;
        Ok(s)
    }

    /// The low bits.
    pub(crate) fn bits(&self, width: u32) -> Computed<Term> {
        Ok(match self {
            Value::Int(k) => Term::bv(width, *k),
            Value::Shifted(x, count) => b::shl(x.bits(width)?, shift_count(count, width)),
            Value::Choice(c, x, y) => choose(*c, x.bits(width)?, y.bits(width)?),
            Value::Real(number) => match float::of_width(width) {
                Some(format) => float::constant(*number, format),
                None => return refuse("no floating-point format has this width"),
            },
            Value::Pending(code, x, y) => {
                let (p, q) = (x.bits(width)?, y.bits(width)?);
                let rotation = (*code == OpCode::BvOr)
                    .then(|| idiom::rotation(p, q))
                    .flatten();
                rotation.unwrap_or_else(|| b::app(Op::new(*code), &[p, q]))
            }
            _ => self.sym()?.cut(width),
        })
    }

    /// Whether the value is a tree of more parts than are copied and compared as a whole, or
    /// has more levels than recursive functions go down.
    pub(crate) fn is_unwieldy(&self) -> bool {
        fn parts(v: &Value, room: u32) -> Option<u32> {
            let room = room.checked_sub(1)?;
            match v {
                Value::Shifted(x, _) => parts(x, room),
                Value::Pending(_, x, y) | Value::Choice(_, x, y) => parts(y, parts(x, room)?),
                _ => Some(room),
            }
        }
        match self {
            Value::Sym(s) => s.term.height() > MOST_LEVELS,
            Value::Truth(c) => c.height() > MOST_LEVELS,
            _ => parts(self, MOST_PARTS).is_none(),
        }
    }

    /// The value as a condition: not zero.
    pub(crate) fn truth(&self) -> Computed<Term> {
        match self {
            Value::Truth(c) => Ok(*c),
            Value::Int(k) => Ok(Term::bool(*k != 0)),
            _ => equal(self, &Value::Int(0)).map(b::negate),
        }
    }

    /// Bits that are no integer, as a dialect with bits has them: no range makes them known.
    pub(crate) fn of_bits(term: Term) -> Value {
        let mut s = Sym::new(term, false);
        (s.class, s.element, s.raw, s.range) = (Class::Unsigned, 1, true, None);
        Value::Sym(s)
    }

    /// How many bits a value of bits has; none for other values.
    pub(crate) fn width(&self) -> Option<u32> {
        match self {
            Value::Sym(s) if s.raw && s.plain() => Some(s.term.width()),
            _ => None,
        }
    }

    /// The integer, when it is known.
    pub(crate) fn known(&self) -> Option<i128> {
        match self {
            Value::Int(k) => Some(*k),
            Value::Sym(s) => s
                .term
                .as_bits()
                .filter(|_| s.range.is_some())
                .and_then(|bits| {
                    let raw = i128::try_from(bits.to_u128()?).ok()?;
                    let w = bits.width();
                    let read = if s.signed && w < 127 && raw >> (w - 1) == 1 {
                        raw - (1 << w)
                    } else {
                        raw
                    };
                    read.checked_mul(s.scale)?.checked_add(s.offset)
                }),
            Value::Truth(c) => c.as_bool().map(i128::from),
            _ => None,
        }
    }

    /// The value with what is known made known.
    pub(crate) fn settled(self) -> Value {
        match self.known() {
            Some(k) => Value::Int(k),
            None => self,
        }
    }
}

/// A shift count at the width of what is shifted; counts past it stay past it.
pub(crate) fn shift_count(count: &Sym, width: u32) -> Term {
    let count = count.plainly();
    let own = count.term.width();
    if own <= width {
        return b::zext(count.term, width);
    }
    let small = count
        .range
        .is_some_and(|(_, hi)| width >= 100 || hi < 1 << width);
    if small {
        b::extract(count.term, 0, width)
    } else {
        b::sat_uu(count.term, width)
    }
}

/// The sum.
pub(crate) fn add(x: &Value, y: &Value) -> Computed<Value> {
    if let Some(address) = memory::moved(x, y, false) {
        return address;
    }
    if let (Some(p), Some(q)) = (x.known(), y.known()) {
        return moderate(p.checked_add(q)).map(Value::Int);
    }
    if let (_, Some(k)) | (Some(k), _) = (x.known(), y.known()) {
        let s = if x.known().is_some() { y } else { x };
        let mut s = s.number()?;
        s.offset = add_known(s.offset, k)?;
        s.raw = false;
        return Ok(Value::Sym(s));
    }
    let (mut p, mut q) = (x.number()?, y.number()?);
    let offset = add_known(p.offset, q.offset)?;
    (p.offset, q.offset) = (0, 0);
    if p.term == q.term && p.signed == q.signed {
        return scaled(p.clone(), add_known(p.scale, q.scale)?, offset);
    }
    let scale = if p.scale == q.scale { p.scale } else { 1 };
    if p.scale == q.scale {
        (p.scale, q.scale) = (1, 1);
    }
    let (p, q) = (p.plainly(), q.plainly());
    let range = p.range.zip(q.range).map(|(a, c)| (a.0 + c.0, a.1 + c.1));
    let sum = widened(&p, &q, range, 1, b::add)?;
    scaled(sum, scale, offset)
}

fn add_known(x: i128, y: i128) -> Computed<i128> {
    moderate(x.checked_add(y))
}

fn scaled(s: Sym, scale: i128, offset: i128) -> Computed<Value> {
    let (scale, offset) = (moderate(Some(scale))?, moderate(Some(offset))?);
    if scale == 0 {
        return Ok(Value::Int(offset));
    }
    Ok(Value::Sym(Sym {
        scale,
        offset,
        raw: false,
        ..s
    }))
}

/// An operator on plain integers at the width of its exact result.
fn widened(
    p: &Sym,
    q: &Sym,
    range: Option<(i128, i128)>,
    extra: u32,
    op: fn(Term, Term) -> Term,
) -> Computed<Sym> {
    let (width, signed) = match range {
        Some((lo, hi)) => width_of(lo, hi),
        None => {
            let signed = p.signed || q.signed;
            let own = p.term.width().max(q.term.width());
            (own + extra + u32::from(p.signed != q.signed), signed)
        }
    };
    let width = bounded(width)?;
    let term = op(fit(p.term, p.signed, width), fit(q.term, q.signed, width));
    Ok(Sym::ranged(term, signed, range))
}

/// The difference.
pub(crate) fn sub(x: &Value, y: &Value) -> Computed<Value> {
    if let Some(address) = memory::moved(x, y, true) {
        return address;
    }
    if let Some(k) = y.known() {
        return add(x, &Value::Int(k.wrapping_neg()));
    }
    if x.known().is_some() {
        return add(x, &neg(y)?);
    }
    let (mut p, mut q) = (x.number()?, y.number()?);
    let offset = add_known(p.offset, q.offset.wrapping_neg())?;
    (p.offset, q.offset) = (0, 0);
    if p.term == q.term && p.signed == q.signed {
        return scaled(p.clone(), p.scale - q.scale, offset);
    }
    let (p, q) = (p.plainly(), q.plainly());
    let range = p.range.zip(q.range).map(|(a, c)| (a.0 - c.1, a.1 - c.0));
    let mut difference = widened(&p, &q, range, 1, b::sub)?;
    difference.signed = range.is_none_or(|r| r.0 < 0);
    scaled(difference, 1, offset)
}

/// The negation.
pub(crate) fn neg(x: &Value) -> Computed<Value> {
    if let Some(k) = x.known() {
        return Ok(Value::Int(k.wrapping_neg()));
    }
    let s = x.number()?;
    let (scale, offset) = (-s.scale, s.offset.wrapping_neg());
    scaled(s, scale, offset)
}

/// The product.
pub(crate) fn mul(x: &Value, y: &Value) -> Computed<Value> {
    if matches!(x, Value::Address(_)) || matches!(y, Value::Address(_)) {
        return refuse("an address is not a number here");
    }
    if let (Some(p), Some(q)) = (x.known(), y.known()) {
        return moderate(p.checked_mul(q)).map(Value::Int);
    }
    if let (_, Some(k)) | (Some(k), _) = (x.known(), y.known()) {
        let s = if x.known().is_some() { y } else { x };
        let s = s.number()?;
        let scale = moderate(s.scale.checked_mul(k))?;
        let offset = moderate(s.offset.checked_mul(k))?;
        return scaled(s, scale, offset);
    }
    let (p, q) = (x.number()?.plainly(), y.number()?.plainly());
    let range = p.range.zip(q.range).and_then(|(a, c)| {
        let all = [
            a.0.checked_mul(c.0)?,
            a.0.checked_mul(c.1)?,
            a.1.checked_mul(c.0)?,
            a.1.checked_mul(c.1)?,
        ];
        Some((*all.iter().min()?, *all.iter().max()?))
    });
    let range = range.filter(|r| width_of(r.0, r.1).0 <= RANGED);
    let extra = p.term.width().min(q.term.width());
    Ok(Value::Sym(widened(&p, &q, range, extra, b::mul)?))
}

/// The quotient (rounded towards zero), or the remainder.
pub(crate) fn divide(x: &Value, y: &Value, remainder: bool) -> Computed<Value> {
    if let (Some(p), Some(q)) = (x.known(), y.known()) {
        let known = if remainder {
            p.checked_rem(q)
        } else {
            p.checked_div(q)
        };
        return known.map_or_else(|| refuse("this divides by zero"), |k| Ok(Value::Int(k)));
    }
    let (p, q) = (x.number()?.plainly(), y.number()?.plainly());
    let power = y.known().filter(|k| *k > 0 && k.count_ones() == 1);
    if let Some(k) = power.filter(|_| p.natural()) {
        return if remainder {
            bitwise(OpCode::BvAnd, x, &Value::Int(k - 1))
        } else {
            shift_right(x, &Value::Int(i128::from(k.trailing_zeros())))
        };
    }
    let (s, t, signed) = common(&p, &q);
    let width = s.width() + u32::from(signed);
    let (s, t) = (fit(s, signed, width), fit(t, signed, width));
    let term = match (signed, remainder) {
        (false, false) => b::udiv(s, t),
        (false, true) => b::urem(s, t),
        (true, false) => b::sdiv(s, t),
        (true, true) => b::srem(s, t),
    };
    Ok(Value::Sym(Sym::new(term, signed)))
}

/// The left shift, unbounded.
pub(crate) fn shift_left(x: &Value, count: &Value) -> Computed<Value> {
    match count.known() {
        Some(k) if (0..64).contains(&k) => mul(x, &Value::Int(1 << k)),
        Some(k) if (0..=4096).contains(&k) => {
            let s = x.number()?.plainly();
            let zeros = u32::try_from(k).expect("k is at most 4096");
            bounded(s.term.width() + zeros)?;
            let term = b::concat(&[s.term, b::zero(zeros)]);
            Ok(Value::Sym(Sym::new(term, s.signed)))
        }
        Some(_) => refuse("this shift count is out of range"),
        None => {
            let count = count.number()?.plainly();
            if !count.natural() {
                return refuse("this shift count may be negative");
            }
            Ok(Value::Shifted(Rc::new(x.clone()), Rc::new(count)))
        }
    }
}

/// The right shift, rounded towards minus infinity.
pub(crate) fn shift_right(x: &Value, count: &Value) -> Computed<Value> {
    if let (Some(p), Some(k)) = (x.known(), count.known()) {
        return Ok(Value::Int(p >> k.clamp(0, 127)));
    }
    let s = x.sym()?.plainly();
    let width = s.term.width();
    let Some(k) = count.known() else {
        let count = count.number()?.plainly();
        if !count.natural() {
            return refuse("this shift count may be negative");
        }
        let by = shift_count(&count, width);
        let term = if s.signed {
            b::ashr(s.term, by)
        } else {
            b::lshr(s.term, by)
        };
        let range = s.range.map(|(lo, hi)| (lo.min(0), hi.max(-1)));
        return Ok(Value::Sym(Sym::ranged(term, s.signed, range)));
    };
    if k < 0 {
        return refuse("this shift count is negative");
    }
    let k = u32::try_from(k).unwrap_or(u32::MAX);
    if k >= width {
        if !s.signed {
            return Ok(Value::Int(0));
        }
        return Ok(Value::Sym(Sym::new(b::extract(s.term, width - 1, 1), true)));
    }
    let term = b::extract(s.term, k, width - k);
    let range = s.range.map(|(lo, hi)| (lo >> k, hi >> k));
    Ok(Value::Sym(Sym::ranged(term, s.signed, range)))
}

/// Conjunction, disjunction or exclusive or, bit by bit.
pub(crate) fn bitwise(code: OpCode, x: &Value, y: &Value) -> Computed<Value> {
    if let (Value::Truth(p), Value::Truth(q)) = (x, y) {
        return Ok(match code {
            OpCode::BvAnd => Value::Truth(b::both(*p, *q)),
            OpCode::BvOr => Value::Truth(b::either(*p, *q)),
            _ => Value::unsigned(b::xor(bit_of(*p), bit_of(*q))),
        });
    }
    if let (Some(p), Some(q)) = (x.known(), y.known()) {
        return Ok(Value::Int(match code {
            OpCode::BvAnd => p & q,
            OpCode::BvOr => p | q,
            _ => p ^ q,
        }));
    }
    let late = |v: &Value| matches!(v, Value::Shifted(..) | Value::Pending(..));
    if late(x) || late(y) {
        return Ok(Value::Pending(code, Rc::new(x.clone()), Rc::new(y.clone())));
    }
    let (p, q) = (x.sym()?.plainly(), y.sym()?.plainly());
    let op = Op::new(code);
    if code == OpCode::BvAnd && (p.natural() || q.natural()) {
        let own = |s: &Sym| {
            if s.natural() {
                s.term.width()
            } else {
                u32::MAX
            }
        };
        let width = own(&p).min(own(&q));
        let term = b::app(
            op,
            &[fit(p.term, p.signed, width), fit(q.term, q.signed, width)],
        );
        let hi = |s: &Sym| {
            if s.natural() {
                s.range.map(|r| r.1)
            } else {
                None
            }
        };
        let top = [hi(&p), hi(&q)].into_iter().flatten().min();
        return Ok(Value::Sym(Sym::ranged(term, false, top.map(|t| (0, t)))));
    }
    let (s, t, signed) = common(&p, &q);
    if let Some(both) = (code == OpCode::BvOr)
        .then(|| idiom::disjoint(s, t))
        .flatten()
    {
        return Ok(Value::Sym(Sym::new(both, signed)));
    }
    Ok(Value::Sym(Sym::new(b::app(op, &[s, t]), signed)))
}

/// The complement of every bit of the unbounded integer.
pub(crate) fn complement(x: &Value) -> Computed<Value> {
    if let Value::Truth(c) = x {
        return Ok(Value::Truth(b::negate(*c)));
    }
    if let Some(k) = x.known() {
        return Ok(Value::Int(!k));
    }
    let s = x.sym()?.plainly();
    let width = s.term.width() + u32::from(!s.signed);
    let mut out = Sym::new(b::not(fit(s.term, s.signed, width)), true);
    out.element = s.term.width();
    out.class = s.class;
    Ok(Value::Sym(out))
}

/// Saturation of the exact integer to `width` bits.
pub(crate) fn saturate(x: &Value, width: u32, signed: bool) -> Computed<Value> {
    let (lo, hi) = full_range(width, signed).expect("saturation goes to at most 64 bits");
    if let Some(k) = x.known() {
        return Ok(Value::Int(k.clamp(lo, hi)));
    }
    let s = x.number()?.plainly();
    if s.range.is_some_and(|r| r.0 >= lo && r.1 <= hi) {
        let cut = fit(s.term, s.signed, width);
        return Ok(Value::Sym(Sym::ranged(cut, signed, s.range)));
    }
    let from_signed = s.signed;
    let wide = fit(s.term, s.signed, s.term.width().max(width));
    let term = match (from_signed, signed) {
        (true, true) => b::sat_ss(wide, width),
        (true, false) => b::sat_su(wide, width),
        (false, true) => b::sat_us(wide, width),
        (false, false) => b::sat_uu(wide, width),
    };
    let range = s.range.map(|r| (r.0.clamp(lo, hi), r.1.clamp(lo, hi)));
    Ok(Value::Sym(Sym::ranged(term, signed, range)))
}

/// `SignExtendN`: the bits as they are, read in two's complement.
pub(crate) fn sign_extend(x: &Value, width: u32) -> Computed<Value> {
    if x.known().is_some() {
        return Ok(x.clone());
    }
    let s = x.sym()?.plainly();
    let own = s.term.width().min(width);
    if s.signed && own == s.term.width() {
        return Ok(Value::Sym(s));
    }
    Ok(Value::Sym(Sym::new(fit(s.term, s.signed, own), true)))
}

/// `ZeroExtendN`: the bits as they are, read as unsigned.
pub(crate) fn zero_extend(x: &Value, width: u32) -> Computed<Value> {
    match x {
        Value::Int(k) if *k >= 0 => Ok(x.clone()),
        Value::Sym(s) if s.raw && s.plain() => {
            let own = s.term.width().min(width);
            Ok(Value::unsigned(b::extract(s.term, 0, own)))
        }
        Value::Sym(s)
            if s.bounds()
                .is_some_and(|(lo, hi)| lo >= 0 && width_of(lo, hi).0 <= width) =>
        {
            Ok(x.clone())
        }
        _ => Ok(Value::unsigned(x.bits(width)?)),
    }
}

/// A count of at most the width of what is counted.
pub(crate) fn counted(term: Term) -> Value {
    let width = term.width();
    let mut s = Sym::new(term, false);
    // The operators wrap at the width: only for one bit can the count not be held.
    if width > 1 {
        s.range = Some((0, i128::from(width)));
    }
    Value::Sym(s)
}
