//! Values in as few bits as they need.
//!
//! In: a value of which few bits count, computed in elements of twice as many or more, as products
//! and sums of extended elements are. Out: the same in elements of half the width, where nothing
//! that is shifted or clamped exceeds them; and a rounding shift of a value that is an element,
//! extended, as machines take it. The ranges are those of [`crate::matching::range`].

use super::down_only;
use crate::legal::{constant_last, raw, resize};
use crate::matching::range;
use semantics::op::{Op, OpCode};
use semantics::term::Term;

/// Elements of a width, with sign or without.
#[derive(Clone, Copy)]
struct Element {
    bits: u32,
    signed: bool,
}

impl Element {
    /// Half as wide as a value, with the sign that holds it.
    fn that_holds(value: Term) -> Option<Element> {
        let bits = value.sort().width()? / 2;
        let of = |signed| Element { bits, signed };
        [of(true), of(false)].into_iter().find(|e| e.holds(value))
    }

    fn holds(self, x: Term) -> bool {
        let (least, most) = range(x);
        let end = 1i128 << (self.bits - u32::from(self.signed));
        least >= if self.signed { -end } else { 0 } && most < end
    }

    fn extension(self) -> OpCode {
        match self.signed {
            true => OpCode::Sext,
            false => OpCode::Zext,
        }
    }

    /// The low bits of a value, computed in them. What is shifted is held.
    fn low(self, x: Term) -> Option<Term> {
        use OpCode as C;
        if x.as_bits().is_some() {
            return resize(x, self.bits, false);
        }
        let (op, args) = x.as_app()?;
        let both = || Some([self.low(args[0])?, self.low(args[1])?]);
        match op.code {
            C::Sext | C::Zext if args[0].width() <= self.bits => {
                resize(args[0], self.bits, op.code == C::Sext)
            }
            C::BvAdd | C::BvSub | C::BvMul | C::BvAnd | C::BvOr | C::BvXor => raw(op, &both()?),
            C::BvAshr | C::BvLshr if self.holds(args[0]) => {
                args[1]
                    .as_bits()?
                    .to_u64()
                    .filter(|&n| n < self.bits.into())?;
                let code = if self.signed { C::BvAshr } else { C::BvLshr };
                raw(Op::new(code), &both()?)
            }
            _ => None,
        }
    }
}

/// A value that is cut from or clamped of one that is shifted down: by what, and the shift with
/// what is shifted and by how much.
struct Taken {
    by: Op,
    shift: Op,
    of: Term,
    n: u32,
}

impl Taken {
    fn of(t: Term) -> Option<Taken> {
        use OpCode as C;
        let (by, args) = t.as_app()?;
        let cut = by.code == C::Extract && args[1].as_int() == Some(0);
        let clamped = matches!(by.code, C::SatSS | C::SatSU | C::SatUS | C::SatUU);
        let wide = args.first()?.sort().width()?;
        let (shift, inner) = args[0].as_app()?;
        let down = matches!(shift.code, C::BvAshr | C::BvLshr);
        let fits = wide.is_multiple_of(16) && t.sort().width()? <= wide / 2;
        if !((cut || clamped) && down && fits) {
            return None;
        }
        let given = || {
            let n = inner[1].as_bits()?.to_u64()?;
            Some((inner[0], u32::try_from(n).ok()?))
        };
        let (of, n) = down_only(shift.code, inner).or_else(given)?;
        let fits = (1..wide / 2).contains(&n);
        fits.then_some(Taken { by, shift, of, n })
    }

    /// Of `value` for what is shifted.
    fn instead(&self, shift: OpCode, value: Term, to: u32) -> Option<Term> {
        let by = Term::bv(value.width(), self.n.into());
        let shifted = raw(Op::new(shift), &[value, by])?;
        match self.by.code {
            OpCode::Extract => resize(shifted, to, false),
            _ => raw(self.by, &[shifted]),
        }
    }
}

/// What is cut or clamped of a shifted value, with the shift in elements of half the width.
pub(super) fn shifted_in_half(t: Term) -> Option<Term> {
    use OpCode as C;
    let mut taken = Taken::of(t)?;
    let wide = taken.of.width();
    let element = Element::that_holds(taken.of)?;
    // Zeros that come down beside a sign are none of what is taken.
    let cut = taken.by.code == C::Extract && taken.n + t.width() <= wide;
    if taken.shift.code == C::BvLshr && range(taken.of).0 < 0 && !cut {
        return None;
    }
    taken.by.code = match (taken.by.code, element.signed) {
        (C::SatSS, false) => C::SatUS,
        (C::SatSU, false) => C::SatUU,
        // Read without sign, a negative value is another one in fewer bits.
        (C::SatUS | C::SatUU, true) if range(taken.of).0 < 0 => return None,
        (code, _) => code,
    };
    // A clamp of elements to themselves is no operation.
    if taken.by.code != C::Extract && t.width() == element.bits {
        return None;
    }
    let shift = match element.signed {
        true => C::BvAshr,
        false => C::BvLshr,
    };
    taken.instead(shift, element.low(taken.of)?, t.width())
}

/// A shift of a sum with half of what is cut off, of a value that is an element, extended; and
/// what is clamped of it again.
pub(super) fn rounded_element(t: Term) -> Option<Term> {
    if let Some((op, args)) = t.as_app()
        && matches!(op.code, OpCode::SatSS | OpCode::SatSU | OpCode::SatUU)
        && let Some(inner) = rounded(args[0])
    {
        return raw(op, &[inner]);
    }
    rounded(t)
}

fn rounded(t: Term) -> Option<Term> {
    let taken = Taken::of(t)?;
    let (value, half) = constant_last(taken.of.args_of(OpCode::BvAdd)?.try_into().ok()?);
    let is_extended = |code| value.args_of(code).is_some();
    if half != Term::bv(value.width(), 1 << (taken.n - 1))
        || is_extended(OpCode::Sext)
        || is_extended(OpCode::Zext)
    {
        return None;
    }
    let element = Element::that_holds(value)?;
    let low = element.low(value)?;
    let value = raw(Op::with(element.extension(), value.width()), &[low])?;
    let sum = raw(Op::new(OpCode::BvAdd), &[value, half])?;
    taken.instead(taken.shift.code, sum, t.width())
}
