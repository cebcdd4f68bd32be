//! Conversions of floats to integers by those that saturate.
//!
//! In: a conversion, or a choice. Out: the conversion as a choice between what a machine gives whose
//! conversions saturate (the nearest integer that fits, 0 for a NaN) and the one pattern for what
//! does not fit; and back, which is how it is proved. Only formats of 32 and 64 bits: shorter
//! ones are converted through them ([`super::wider`]).
//!
//! In: a conversion that saturates and is clamped to fewer bits. Out: the float clamped, then converted,
//! and back. `fmin(c, x)` is the NaN where `x` is, which becomes the pattern for what does not fit: the
//! least integer. Of it a clamp to numbers without sign makes 0, and its low bits are 0.

use super::bounds::{number, value};
use super::{Format, Rounding};
use crate::build as b;
use crate::op::{Op, OpCode};
use crate::term::Term;

/// A conversion and what its machine has to compare it with.
struct Conversion {
    op: Op,
    format: Format,
    x: Term,
    whole: Term,
    signed: bool,
}

impl Conversion {
    fn of(op: Op, args: &[Term]) -> Option<Conversion> {
        let signed = op.code == OpCode::FToSint;
        let format = Format::from_code(op.params[0])?;
        let long = matches!(format, Format::F32 | Format::F64) && matches!(op.params[1], 32 | 64);
        // What is rounded to -1 does not fit; what is cut off to 0 does.
        let cut = op.code == OpCode::FToUint && op.params[2] == Rounding::Zero.code();
        let &[x] = args else { return None };
        (long && (signed || cut)).then_some(Conversion {
            op,
            format,
            x,
            whole: Term::raw_app(op, args).ok()?,
            signed,
        })
    }

    /// The bits of a power of two, negative or not.
    fn power(&self, exponent: u32, negative: bool) -> Term {
        let one = (self.format.infinity() >> 1) & self.format.infinity();
        let pattern = one + (u64::from(exponent) << self.format.fraction());
        let sign = if negative { self.format.sign() } else { 0 };
        Term::bv(self.format.width(), i128::from(pattern | sign))
    }

    fn compared(&self, code: OpCode, x: Term, y: Term) -> Term {
        b::app(Op::with(code, self.format.code()), &[x, y])
    }

    /// What is too large, as a float.
    fn bound(&self) -> Term {
        self.power(self.whole.width() - u32::from(self.signed), false)
    }

    /// The conversion that saturates.
    fn saturated(&self) -> Term {
        let (x, w) = (self.x, self.whole.width());
        let sign = b::extract(x, self.format.width() - 1, 1);
        let (most, inside) = match self.signed {
            true => (Term::bv(w, (1 << (w - 1)) - 1), self.whole),
            false => {
                let negative = b::eq(sign, Term::bv(1, 1));
                (Term::bv(w, -1), b::ite(negative, b::zero(w), self.whole))
            }
        };
        let above = self.compared(OpCode::FLe, self.bound(), x);
        let unordered = self.compared(OpCode::FUnord, x, x);
        b::ite(unordered, b::zero(w), b::ite(above, most, inside))
    }

    /// The conversion without sign that saturates, by what is too small.
    fn mended(&self) -> Term {
        let zero = b::zero(self.whole.width());
        let unordered = self.compared(OpCode::FUnord, self.x, self.x);
        let below = self.compared(OpCode::FLe, self.x, self.power(0, true));
        b::ite(unordered, zero, b::ite(below, zero, self.whole))
    }

    /// A choice by what fits. What is too small for a number with sign saturates to its pattern.
    fn chosen(&self) -> Term {
        let w = self.whole.width();
        let below = self.compared(OpCode::FLt, self.x, self.bound());
        let (fits, other) = match self.signed {
            true => (below, Term::bv(w, -(1 << (w - 1)))),
            false => {
                let least = self.power(0, true);
                let above = self.compared(OpCode::FLt, least, self.x);
                (b::both(above, below), Term::bv(w, -1))
            }
        };
        b::ite(fits, self.saturated(), other)
    }
}

/// A conversion by one that saturates.
pub fn by_saturating(op: Op, args: &[Term]) -> Option<Term> {
    Some(Conversion::of(op, args)?.chosen())
}

/// The conversion that a choice by what fits, of one that saturates, is.
pub fn of_saturating(op: Op, args: &[Term]) -> Option<Term> {
    let &[fits, mut inner, other] = args else {
        return None;
    };
    if op.code != OpCode::Ite {
        return None;
    }
    let wider = inner.as_app().and_then(|(op, args)| of_wider(op, args));
    inner = wider.unwrap_or(inner);
    let args = [fits, inner, other];
    // One that saturates chooses for a NaN, above, and without sign below.
    for _ in 0..3 {
        inner = inner.args_of(OpCode::Ite).map_or(inner, |arms| arms[2]);
    }
    let (code, of) = inner.as_app()?;
    let conversion = Conversion::of(code, of)?;
    let whole = conversion.chosen();
    let same = whole.as_app().is_some_and(|(o, a)| o == op && a == args);
    same.then_some(conversion.whole)
}

/// A conversion that saturates, clamped to at most 16 bits: the conversion of a clamped float.
pub fn by_clamped(op: Op, args: &[Term]) -> Option<Term> {
    let w = op.params[0];
    let clamped = matches!(op.code, OpCode::SatSS | OpCode::SatSU) && w <= 16;
    let conversion = Conversion::that_saturates(*args.first().filter(|_| clamped)?)?;
    let (format, x) = (conversion.format, conversion.x);
    let bound = |code: OpCode, n: f64, x: Term| {
        Term::raw_app(Op::with(code, format.code()), &[number(format, n), x]).ok()
    };
    let converted = |x: Term| Term::raw_app(conversion.op, &[x]).ok();
    if op.code == OpCode::SatSU {
        let most = bound(OpCode::FMin, f64::from((1u32 << w) - 1), x)?;
        return Term::raw_app(op, &[converted(most)?]).ok();
    }
    let half = f64::from(1u32 << (w - 1));
    let clamped = bound(OpCode::FMin, half - 1.0, bound(OpCode::FMax, -half, x)?)?;
    let low = Op::with(OpCode::Extract, w);
    Term::raw_app(low, &[converted(clamped)?, Term::int(0)]).ok()
}

/// A conversion to numbers without sign that saturates, by one that does not, of which only what is too small is
/// mended: that of what is too large is the greatest already.
pub fn mended_below(op: Op, args: &[Term]) -> Option<Term> {
    let t = Term::raw_app(op, args).ok()?;
    let conversion = Conversion::saturating(t).filter(|c| !c.signed)?;
    Some(conversion.mended())
}

/// What [`mended_below`] makes, by the conversion that saturates.
pub fn of_mended_below(t: Term) -> Option<Term> {
    let whole = t.args_of(OpCode::Ite)?[2].args_of(OpCode::Ite)?[2];
    let (op, args) = whole.as_app()?;
    let conversion = Conversion::of(op, args).filter(|c| !c.signed && c.mended() == t)?;
    Some(conversion.saturated())
}

/// The float that a conversion which saturates is of.
pub fn source(t: Term) -> Option<Term> {
    Some(Conversion::saturating(t)?.x)
}

/// A conversion to 32 bits that saturates, by one to 64 bits that does: for machines that convert to as many bits
/// as they convert from.
pub fn by_wider(t: Term) -> Option<Term> {
    let conversion = Conversion::saturating(t)?;
    let is_short = conversion.whole.width() == 32 && conversion.format == Format::F64;
    let wide = conversion.to(64).filter(|_| is_short)?.saturated();
    let clamp = match conversion.signed {
        true => OpCode::SatSS,
        false => OpCode::SatUU,
    };
    Term::raw_app(Op::with(clamp, 32), &[wide]).ok()
}

/// What is saturated to 32 bits, and whether with sign: as one operation, or as low bits of an extreme.
fn saturated_to_short(op: Op, args: &[Term]) -> Option<(Term, bool)> {
    use OpCode as C;
    let (first, is_short) = (*args.first()?, op.params[0] == 32);
    match op.code {
        C::SatSS => is_short.then_some((first, true)),
        C::SatUU => is_short.then_some((first, false)),
        C::Extract if is_short && args[1].as_int() == Some(0) => {
            let bounded = |t: Term, code: C, bound: i128| {
                let bound = Term::bv(t.width(), bound);
                let &[x, y] = t.args_of(code)? else {
                    return None;
                };
                let sides = [(x, y), (y, x)].into_iter();
                sides.filter(|(_, b)| *b == bound).map(|(x, _)| x).next()
            };
            let half = 1i128 << 31;
            let lower = |t: Term| bounded(t, C::Smax, -half);
            let upper = |t: Term| bounded(t, C::Smin, half - 1);
            let both = upper(first).and_then(lower);
            let both = both.or_else(|| lower(first).and_then(upper));
            let unsigned = || bounded(first, C::Umin, 2 * half - 1).map(|t| (t, false));
            both.map(|t| (t, true)).or_else(unsigned)
        }
        _ => None,
    }
}

/// The conversion to 32 bits that one to 64 bits is, which is saturated to these.
pub fn of_wider(op: Op, args: &[Term]) -> Option<Term> {
    let (wide, signed) = saturated_to_short(op, args)?;
    let wide = Conversion::saturating(wide).filter(|c| c.signed == signed)?;
    let narrow = wide.to(32).filter(|_| wide.whole.width() == 64)?;
    // What is rounded down is past a whole number where the float is.
    if wide.op.params[2] == Rounding::Down.code() || narrow.is_bounded() {
        return Some(narrow.saturated());
    }
    // What is rounded is rounded before.
    let round = Op::with2(OpCode::FRound, wide.format.code(), wide.op.params[2]);
    let mut cut = narrow.op;
    cut.params[2] = Rounding::Zero.code();
    let x = Term::raw_app(round, &[wide.x]).ok()?;
    Some(Conversion::of(cut, &[x])?.saturated())
}

/// A conversion that saturates what was rounded, as one that rounds.
pub fn of_rounded(t: Term) -> Option<Term> {
    let plain = Conversion::that_saturates(t)?.saturated();
    (plain != t).then_some(plain)
}

/// What [`by_clamped`] makes, and other clamps of a clamped float that hide what a NaN becomes, by the
/// conversion that saturates.
pub fn of_clamped(op: Op, args: &[Term]) -> Option<Term> {
    use OpCode as C;
    match (op.code, args) {
        (C::SatSU, &[x]) => {
            let (c, most) = Conversion::of_clamped_above(without_saturation(x, op.params[0]))?;
            (most >= (1 << op.params[0]) - 1).then(|| b::app(op, &[c.saturated()]))
        }
        (C::Smax, &[x, k] | &[k, x]) if k.as_bits().is_some() => {
            let (c, most) = Conversion::of_clamped_above(x)?;
            let positive = most >= 0 && !k.as_bits()?.bit(k.width() - 1);
            let bound = Term::bv(k.width(), most);
            positive.then(|| b::smax(b::smin(c.saturated(), bound), k))
        }
        (C::Extract, &[x, lo]) => {
            let (c, least, most) = Conversion::of_clamped(x)?;
            let end = lo.as_int()? + i64::from(op.params[0]);
            let within = (1..i64::from(x.width())).contains(&end) && least <= 0 && most >= 0;
            let whole = [Term::bv(x.width(), least), Term::bv(x.width(), most)];
            let clamped = b::smax(b::smin(c.saturated(), whole[1]), whole[0]);
            within.then(|| b::app(op, &[clamped, lo]))
        }
        _ => None,
    }
}

/// What is saturated to more bits than it is saturated to afterwards.
fn without_saturation(mut x: Term, to: u32) -> Term {
    while let Some((_, inner)) = x
        .as_app()
        .filter(|(op, _)| op.code == OpCode::SatSS && op.params[0] > to)
    {
        x = inner[0];
    }
    x
}

impl Conversion {
    /// The conversion that a term saturates.
    fn saturating(t: Term) -> Option<Conversion> {
        let mut inner = t;
        while let Some(arms) = inner.args_of(OpCode::Ite) {
            inner = arms[2];
        }
        let (op, args) = inner
            .as_app()
            .filter(|(op, _)| matches!(op.code, OpCode::FToSint | OpCode::FToUint))?;
        Conversion::of(op, args).filter(|conversion| conversion.saturated() == t)
    }

    /// The same with sign, of what is not rounded before.
    fn that_saturates(t: Term) -> Option<Conversion> {
        let conversion = Conversion::saturating(t).filter(|c| c.signed)?;
        let op = conversion.op;
        // What must not be converted without rounding it before stays as it is.
        let plain = super::rounded::unrounded(op, conversion.x);
        let plain = plain.and_then(|(op, x)| Conversion::of(op, &[x])?.bounded());
        plain.or_else(|| conversion.bounded())
    }

    /// Whether what lies below the bound is not rounded to it: floats as large as that are whole numbers.
    fn is_bounded(&self) -> bool {
        let cuts = self.op.params[2] == Rounding::Zero.code();
        cuts || self.format.fraction() < self.whole.width() - 1
    }

    /// Itself where that is so.
    fn bounded(self) -> Option<Conversion> {
        self.is_bounded().then_some(self)
    }

    /// The same to another number of bits.
    fn to(&self, bits: u32) -> Option<Conversion> {
        let mut op = self.op;
        op.params[1] = bits;
        Conversion::of(op, &[self.x])
    }

    /// The conversion of what `fmin` clamps from above, and the integer that the bound is.
    fn of_clamped_above(t: Term) -> Option<(Conversion, i128)> {
        let (op, args) = t.as_app().filter(|(op, _)| op.code == OpCode::FToSint)?;
        let format = Format::from_code(op.params[0])?;
        let (bound, x) = clamped(args[0], OpCode::FMin, format)?;
        Some((Conversion::of(op, &[x])?.bounded()?, bound))
    }

    /// The same of what is clamped from both sides, the lower bound first.
    fn of_clamped(t: Term) -> Option<(Conversion, i128, i128)> {
        use OpCode as C;
        let (op, args) = t.as_app().filter(|(op, _)| op.code == C::FToSint)?;
        let format = Format::from_code(op.params[0])?;
        let both = |outer: OpCode, inner: OpCode| {
            let (first, x) = clamped(args[0], outer, format)?;
            let (second, x) = clamped(x, inner, format)?;
            Some((first, second, x))
        };
        let (least, most, x) = match both(C::FMin, C::FMax) {
            Some((most, least, x)) => (least, most, x),
            None => both(C::FMax, C::FMin)?,
        };
        (least <= most).then_some((Conversion::of(op, &[x])?.bounded()?, least, most))
    }
}

/// A bound that is a whole number which fits in 32 bits, and what it bounds: second, so that a NaN stays.
fn clamped(t: Term, code: OpCode, format: Format) -> Option<(i128, Term)> {
    let (op, args) = t.as_app()?;
    let bound = value(args.first()?.as_bits()?)?;
    let whole = bound.fract() == 0.0 && (-2f64.powi(31)..2f64.powi(31)).contains(&bound);
    let same = op.code == code && op.params[0] == format.code();
    (same && whole).then_some((bound as i128, args[1]))
}

#[cfg(test)]
mod tests {
    use super::{
        Conversion, Rounding, by_clamped, by_saturating, by_wider, mended_below, number,
        of_clamped, of_mended_below, of_rounded, of_saturating, of_wider,
    };
    use crate::build as b;
    use crate::float::Format;
    use crate::op::{Op, OpCode};
    use crate::random::Random;
    use crate::sort::Sort;
    use crate::term::Term;
    use crate::testing::same_of_x;

    /// A float near a power of two that is an end of a type, or any bits.
    fn pattern(random: &mut Random, format: Format) -> u64 {
        let bits = random.next_bits();
        let mask = u64::MAX >> (64 - format.width());
        let exponent = *random.pick(&[-1i64, 0, 30, 31, 32, 62, 63, 64]);
        let bias = (format.infinity() >> 1 & format.infinity()) >> format.fraction();
        let biased = (i64::try_from(bias).expect("small") + exponent).unsigned_abs();
        let at = biased << format.fraction() | bits & format.sign();
        match random.below(4) {
            0 => bits & mask,
            1 => at,
            2 => at + 1,
            _ => at - 1,
        }
    }

    #[test]
    fn what_does_not_fit_is_mended_at_every_edge() {
        for format in [Format::F32, Format::F64] {
            for code in [OpCode::FToSint, OpCode::FToUint] {
                for (w, rounding) in [(32, 3), (64, 3), (32, 0), (64, 1), (32, 2)] {
                    let mut op = Op::new(code);
                    op.params[..3].copy_from_slice(&[format.code(), w, rounding]);
                    let x = Term::var("x", Sort::Bv(format.width()));
                    // Without sign only what is cut off: a rounded -0.7 does not fit.
                    if code == OpCode::FToUint && rounding != 3 {
                        assert!(by_saturating(op, &[x]).is_none());
                        continue;
                    }
                    holds(op, x, format);
                }
            }
        }
    }

    fn holds(op: Op, x: Term, format: Format) {
        let whole = Term::raw_app(op, &[x]).expect("the types fit");
        let other = by_saturating(op, &[x]).expect("it is long");
        let (code, args) = other.as_app().expect("a choice");
        assert_eq!(of_saturating(code, args), Some(whole));
        same_of_x([whole, other], format, 3, &|random| pattern(random, format));
    }

    /// Two terms of `x` agree at every edge.
    fn agree(format: Format, whole: Term, other: Term) {
        same_of_x([whole, other], format, 7, &|random| {
            let near = random.below(1 << 18) as f64 / 2.0 - 65_536.0;
            match random.below(2) {
                0 => pattern(random, format),
                _ => number(format, near).as_bits().expect("a number").low_u64(),
            }
        });
    }

    #[test]
    fn what_is_rounded_before_is_clamped_too() {
        for format in [Format::F32, Format::F64] {
            let x = Term::var("x", Sort::Bv(format.width()));
            let nearest = Rounding::NearestEven.code();
            let round = Op::with2(OpCode::FRound, format.code(), nearest);
            let rounded = Term::raw_app(round, &[x]).expect("the types fit");
            let cut = Op::with3(OpCode::FToSint, format.code(), 32, Rounding::Zero.code());
            let saturated = Conversion::of(cut, &[rounded])
                .expect("it is long")
                .saturated();
            for code in [OpCode::SatSS, OpCode::SatSU] {
                let op = Op::with(code, 8);
                let whole = Term::raw_app(op, &[saturated]).expect("the types fit");
                agree(
                    format,
                    whole,
                    by_clamped(op, &[saturated]).expect("it is clamped"),
                );
            }
            // Only an `f32` is as good as whole where 32 bits end.
            assert_eq!(of_rounded(saturated).is_some(), format == Format::F32);
        }
    }

    #[test]
    fn what_is_mended_below_saturates() {
        for (format, w) in [(Format::F32, 32), (Format::F64, 32), (Format::F64, 64)] {
            let x = Term::var("x", Sort::Bv(format.width()));
            let zero = b::zero(w);
            let op = Op::with3(OpCode::FToUint, format.code(), w, Rounding::Zero.code());
            let whole = Term::raw_app(op, &[x]).expect("the types fit");
            let compared = |code: OpCode, y: Term| b::app(Op::with(code, format.code()), &[x, y]);
            let below = compared(OpCode::FLe, number(format, -1.0));
            let mended = b::ite(
                compared(OpCode::FUnord, x),
                zero,
                b::ite(below, zero, whole),
            );
            let other = of_mended_below(mended).expect("it is mended");
            agree(format, mended, other);
            let (op, args) = other.as_app().expect("a choice");
            assert_eq!(mended_below(op, args), Some(mended));
            assert_eq!(of_mended_below(other), None);
        }
    }

    #[test]
    fn what_saturates_at_64_bits_and_then_at_32_saturates_at_32() {
        let x = Term::var("x", Sort::Bv(64));
        let to_nearest = Rounding::NearestEven.code();
        for rounding in [Rounding::Zero.code(), to_nearest, 1, 2] {
            let wide = Op::with3(OpCode::FToSint, Format::F64.code(), 64, rounding);
            let wide = Conversion::of(wide, &[x]).expect("it is long").saturated();
            let op = Op::with(OpCode::SatSS, 32);
            let whole = Term::raw_app(op, &[wide]).expect("the types fit");
            let short = of_wider(op, &[wide]).expect("it is converted to 64 bits");
            agree(Format::F64, whole, short);
            let other = by_wider(short).expect("it is converted to 32 bits");
            agree(Format::F64, whole, other);
            let half = 1i128 << 31;
            let (least, most) = (Term::bv(64, -half), Term::bv(64, half - 1));
            for clamped in [
                b::smin(b::smax(wide, least), most),
                b::smax(b::smin(wide, most), least),
            ] {
                let low = Op::with(OpCode::Extract, 32);
                assert_eq!(of_wider(low, &[clamped, Term::int(0)]), Some(short));
            }
        }
    }

    #[test]
    fn so_it_is_without_sign() {
        let x = Term::var("x", Sort::Bv(64));
        let op = Op::with3(
            OpCode::FToUint,
            Format::F64.code(),
            64,
            Rounding::Zero.code(),
        );
        let wide = Conversion::of(op, &[x]).expect("it is long").saturated();
        let clamp = Op::with(OpCode::SatUU, 32);
        let whole = Term::raw_app(clamp, &[wide]).expect("the types fit");
        let short = of_wider(clamp, &[wide]).expect("it is converted to 64 bits");
        agree(Format::F64, whole, short);
        assert_eq!(by_wider(short), Some(whole));
        let least = b::umin(wide, Term::bv(64, (1 << 32) - 1));
        let low = Op::with(OpCode::Extract, 32);
        assert_eq!(of_wider(low, &[least, Term::int(0)]), Some(short));
        assert_eq!(of_wider(Op::with(OpCode::SatSU, 32), &[wide]), None);
    }

    #[test]
    fn what_is_clamped_is_clamped_before_it_is_converted() {
        for format in [Format::F32, Format::F64] {
            let x = Term::var("x", Sort::Bv(format.width()));
            for rounding in 0..4 {
                let to = Op::with3(OpCode::FToSint, format.code(), 32, rounding);
                // Of an `f64` a rounded value may reach the bound that it was below.
                if format == Format::F64 && rounding != Rounding::Zero.code() {
                    assert!(
                        Conversion::of(to, &[x])
                            .and_then(Conversion::bounded)
                            .is_none()
                    );
                    continue;
                }
                let saturated = Conversion::of(to, &[x]).expect("it is long").saturated();
                for (code, w) in [
                    (OpCode::SatSS, 8),
                    (OpCode::SatSU, 8),
                    (OpCode::SatSS, 16),
                    (OpCode::SatSU, 16),
                ] {
                    let op = Op::with(code, w);
                    let whole = Term::raw_app(op, &[saturated]).expect("the types fit");
                    let other = by_clamped(op, &[saturated]).expect("it is clamped");
                    agree(format, whole, other);
                    let (code, args) = other.as_app().expect("it is applied");
                    let back = of_clamped(code, args).expect("it was clamped");
                    agree(format, whole, back);
                }
                let most = Op::with(OpCode::FMin, format.code());
                let bounded =
                    Term::raw_app(most, &[number(format, 300.0), x]).expect("the types fit");
                let bounded = Term::raw_app(to, &[bounded]).expect("the types fit");
                let raised = Term::raw_app(Op::new(OpCode::Smax), &[bounded, Term::bv(32, 7)])
                    .expect("the types fit");
                let (code, args) = raised.as_app().expect("it is applied");
                agree(
                    format,
                    raised,
                    of_clamped(code, args).expect("a NaN becomes 7"),
                );
                // A NaN would become the bound, or the least that a byte has.
                let negative = [bounded, Term::bv(32, -7)];
                assert!(of_clamped(Op::new(OpCode::Smax), &negative).is_none());
                assert!(of_clamped(Op::with(OpCode::SatSS, 8), &[bounded]).is_none());
                let otherwise =
                    Term::raw_app(most, &[x, number(format, 300.0)]).expect("the types fit");
                let otherwise = Term::raw_app(to, &[otherwise]).expect("the types fit");
                assert!(of_clamped(Op::with(OpCode::SatSU, 8), &[otherwise]).is_none());
            }
        }
    }

    #[test]
    fn a_choice_of_another_bound_is_none() {
        let mut op = Op::new(OpCode::FToSint);
        op.params[..3].copy_from_slice(&[Format::F32.code(), 32, 3]);
        let x = Term::var("x", Sort::Bv(32));
        let other = by_saturating(op, &[x]).expect("it is long");
        let (code, args) = other.as_app().expect("a choice");
        let wrong = [args[0], args[1], Term::bv(32, 7)];
        assert_eq!(of_saturating(code, &wrong), None);
        let wrong = [Term::var("c", Sort::Bool), args[1], args[2]];
        assert_eq!(of_saturating(code, &wrong), None);
    }
}
