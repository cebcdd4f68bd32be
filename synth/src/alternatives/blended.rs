//! Parts of two values put together, as a choice of bytes.
//!
//! In: an or of values that have no byte in common. Out: the same with the bytes that each gives cleared in
//! the other, whatever else is in it: what instructions do that take some elements of one register and the
//! others of another. A value that is cleared already stands without that. Who uses it proves it.

use crate::legal::two;
use semantics::bits::Bits;
use semantics::op::OpCode;
use semantics::range::range;
use semantics::term::Term;

/// Bits of the smallest part that is chosen.
const PART: u32 = 8;

/// An or of two values as a choice of their bytes.
pub(super) fn chosen_bytes(t: Term) -> Option<Term> {
    let &[x, y] = t.args_of(OpCode::BvOr)? else {
        return None;
    };
    let width = t.width();
    if width <= PART || !width.is_multiple_of(PART) {
        return None;
    }
    let (first, second) = (bits_of(x)?, bits_of(y)?);
    let bytes = whole_parts(&second);
    if !first.and(&bytes).is_zero() {
        return None;
    }
    let cleared = |of: Term, mask: &Bits| {
        two(
            OpCode::BvAnd,
            without_mask(of, mask),
            Term::bits(mask.clone()),
        )
    };
    let chosen = two(OpCode::BvOr, cleared(x, &bytes.not())?, cleared(y, &bytes)?)?;
    (chosen != t).then_some(chosen)
}

/// The bits that may be ones, as what a value is made by says; nothing where it may be all.
fn bits_of(t: Term) -> Option<Bits> {
    let (op, args) = t.as_app()?;
    let width = t.width();
    let by = || {
        u32::try_from(args[1].as_bits()?.to_u64()?)
            .ok()
            .filter(|n| (1..width).contains(n))
    };
    match op.code {
        OpCode::BvAnd => args.iter().find_map(|mask| mask.as_bits().cloned()),
        OpCode::BvShl => Some(Bits::ones(width).shl_u32(by()?)),
        OpCode::BvLshr => Some(Bits::ones(width - by()?).zext(width)),
        _ => {
            let (least, most) = range(t);
            let bits = u128::BITS - most.max(0).unsigned_abs().leading_zeros();
            (least >= 0 && (1..width).contains(&bits)).then(|| Bits::ones(bits).zext(width))
        }
    }
}

/// The parts in which a bit is set, whole.
fn whole_parts(bits: &Bits) -> Bits {
    let ones = Bits::ones(PART);
    let mut all = Bits::zero(bits.width());
    for lo in (0..bits.width()).step_by(PART as usize) {
        if !bits.extract(lo, PART).is_zero() {
            all = all.or(&ones.zext(bits.width()).shl_u32(lo));
        }
    }
    all
}

/// What a mask clears just so.
fn without_mask(t: Term, mask: &Bits) -> Term {
    match t.args_of(OpCode::BvAnd) {
        Some(&[x, m]) if m.as_bits() == Some(mask) => x,
        Some(&[m, x]) if m.as_bits() == Some(mask) => x,
        _ => t,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use semantics::sort::Sort;
    use smt::prover::Prover;

    fn by(code: OpCode, x: Term, n: u64) -> Term {
        two(code, x, Term::bits(Bits::from_u64(32, n))).expect("a term")
    }

    #[test]
    fn ors_of_different_bytes_are_choices_of_them() {
        let [x, y] = ["x", "y"].map(|name| Term::var(name, Sort::Bv(32)));
        let prover = Prover::new(Default::default());
        let upper = by(OpCode::BvAnd, y, 0xffff_0000);
        for low in [
            by(OpCode::BvLshr, x, 16),
            by(OpCode::BvLshr, x, 21),
            by(OpCode::BvAnd, x, 0xffff),
            by(OpCode::BvAnd, x, 0x7f7f),
        ] {
            let either = two(OpCode::BvOr, low, upper).expect("an or");
            let masked = by(OpCode::BvAnd, x, 0xffff) == low;
            let Some(chosen) = chosen_bytes(either) else {
                assert!(masked, "{either}");
                continue;
            };
            assert!(prover.prove_equal(either, chosen).is_proved(), "{either}");
        }
        // Values that have a byte in common are no choice.
        let common = two(OpCode::BvOr, by(OpCode::BvLshr, x, 12), upper).expect("an or");
        assert_eq!(chosen_bytes(common), None);
    }
}
