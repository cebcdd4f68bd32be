//! Against machine integers for narrow values, by laws for wide ones.

use super::Bits;
use proptest::prelude::*;

/// Widths around the limb boundaries, and anything up to 300.
fn widths() -> impl Strategy<Value = u32> {
    prop_oneof![
        prop::sample::select(vec![1, 2, 8, 63, 64, 65, 127, 128, 129, 192, 512]),
        1..300u32,
    ]
}

/// Values that are random, small, or near the ends of the range.
fn value(width: u32) -> impl Strategy<Value = Bits> {
    let limbs = prop::collection::vec(any::<u64>(), width.div_ceil(64) as usize);
    prop_oneof![
        4 => limbs.prop_map(move |l| Bits::from_limbs(width, &l)),
        1 => (-3..4i128).prop_map(move |v| Bits::from_i128(width, v)),
        1 => (-2..3i128).prop_map(move |v| {
            Bits::ones(width).lshr_u32(1).add(&Bits::from_i128(width, v))
        }),
    ]
}

fn pair(width: impl Strategy<Value = u32>) -> impl Strategy<Value = (Bits, Bits)> {
    width.prop_flat_map(|w| (value(w), value(w)))
}

fn triple() -> impl Strategy<Value = (Bits, Bits, Bits)> {
    widths().prop_flat_map(|w| (value(w), value(w), value(w)))
}

/// The signed value of at most 64 bits.
fn signed(x: &Bits) -> i128 {
    let v = i128::from(x.low_u64());
    if x.bit(x.width() - 1) {
        v - (1 << x.width())
    } else {
        v
    }
}

proptest! {
    #[test]
    fn narrow_arithmetic_is_that_of_machine_integers((a, b) in pair(1..=64u32)) {
        let w = a.width();
        let (x, y) = (u128::from(a.low_u64()), u128::from(b.low_u64()));
        let (p, q) = (signed(&a), signed(&b));
        let bits = |v: i128| Bits::from_i128(w, v);
        prop_assert_eq!(a.add(&b), bits(p + q));
        prop_assert_eq!(a.sub(&b), bits(p - q));
        prop_assert_eq!(a.mul(&b), bits(p.wrapping_mul(q)));
        prop_assert_eq!(a.neg(), bits(-p));
        if let (Some(quotient), Some(rest)) = (x.checked_div(y), x.checked_rem(y)) {
            prop_assert_eq!(a.udiv(&b), Bits::from_u128(w, quotient));
            prop_assert_eq!(a.urem(&b), Bits::from_u128(w, rest));
            prop_assert_eq!(a.sdiv(&b), bits(p / q));
            prop_assert_eq!(a.srem(&b), bits(p % q));
        }
        prop_assert_eq!(a.ult(&b), x < y);
        prop_assert_eq!(a.ule(&b), x <= y);
        prop_assert_eq!(a.slt(&b), p < q);
        prop_assert_eq!(a.sle(&b), p <= q);
        let n = y.min(u128::from(w)) as u32;
        prop_assert_eq!(a.shl(&b), Bits::from_u128(w, x << n));
        prop_assert_eq!(a.lshr(&b), Bits::from_u128(w, x >> n));
        prop_assert_eq!(a.ashr(&b), bits(p >> n));
        prop_assert_eq!(a.popcount(), x.count_ones());
        prop_assert_eq!(a.leading_zeros(), x.leading_zeros() - (128 - w));
        prop_assert_eq!(a.trailing_zeros(), x.trailing_zeros().min(w));
        prop_assert_eq!(a.to_i128(), Some(p));
        prop_assert_eq!(a.to_u64(), Some(a.low_u64()));
    }

    #[test]
    fn division_is_total_and_exact((a, b) in pair(widths())) {
        let w = a.width();
        let (q, r) = (a.udiv(&b), a.urem(&b));
        prop_assert_eq!(q.mul(&b).add(&r), a.clone());
        if b.is_zero() {
            prop_assert_eq!(q, Bits::ones(w));
            let minus_or_one = if a.bit(w - 1) { Bits::one(w) } else { Bits::ones(w) };
            prop_assert_eq!(a.sdiv(&b), minus_or_one);
            prop_assert_eq!(a.srem(&b), a);
        } else {
            prop_assert!(r.ult(&b));
            let (q, r) = (a.sdiv(&b), a.srem(&b));
            prop_assert_eq!(q.mul(&b).add(&r), a.clone());
            prop_assert!(r.is_zero() || r.bit(w - 1) == a.bit(w - 1));
        }
    }

    #[test]
    fn ring_laws_hold_at_every_width((a, b, c) in triple()) {
        prop_assert_eq!(a.add(&b), b.add(&a));
        prop_assert_eq!(a.mul(&b), b.mul(&a));
        prop_assert_eq!(a.mul(&b).mul(&c), a.mul(&b.mul(&c)));
        prop_assert_eq!(a.mul(&b.add(&c)), a.mul(&b).add(&a.mul(&c)));
        prop_assert_eq!(a.sub(&b).add(&b), a.clone());
        prop_assert_eq!(a.neg(), a.not().add(&Bits::one(a.width())));
        prop_assert_eq!(a.and(&b).not(), a.not().or(&b.not()));
        prop_assert_eq!(a.xor(&b), a.or(&b).sub(&a.and(&b)));
    }

    #[test]
    fn shifts_multiply_rotate_and_fill((a, b) in pair(widths()), n in 0..600u32) {
        let w = a.width();
        let power = if n < w { Bits::zero(w).with_bit(n, true) } else { Bits::zero(w) };
        prop_assert_eq!(a.shl_u32(n), a.mul(&power));
        if n < w {
            prop_assert_eq!(a.lshr_u32(n), a.udiv(&power));
        } else {
            prop_assert!(a.lshr_u32(n).is_zero());
        }
        let filled = if a.bit(w - 1) { a.not().lshr_u32(n).not() } else { a.lshr_u32(n) };
        prop_assert_eq!(a.ashr_u32(n), filled);
        prop_assert_eq!(a.rotl_u32(n).rotr_u32(n), a.clone());
        prop_assert_eq!(a.rotl(&b).rotr(&b), a.clone());
        prop_assert_eq!(a.rotl_u32(n).bit(n % w), a.bit(0));
    }

    #[test]
    fn pieces_come_apart_and_together((a, b) in (widths(), widths()).prop_flat_map(|(v, w)| (value(v), value(w)))) {
        let (v, w) = (a.width(), b.width());
        let both = a.concat(&b);
        prop_assert_eq!(both.width(), v + w);
        prop_assert_eq!(both.extract(w, v), a.clone());
        prop_assert_eq!(both.extract(0, w), b.clone());
        prop_assert_eq!(both.trunc(w), b.clone());
        prop_assert_eq!(Bits::zero(v + w).insert(0, &b).insert(w, &a), both);
        prop_assert_eq!(a.zext(v + 9).extract(v, 9), Bits::zero(9));
        let sign = if a.bit(v - 1) { Bits::ones(9) } else { Bits::zero(9) };
        prop_assert_eq!(a.sext(v + 9), sign.concat(&a));
        prop_assert_eq!(Bits::from_bytes(v, &a.to_bytes()), a);
    }

    #[test]
    fn counts_and_orders_agree((a, b) in pair(widths())) {
        let w = a.width();
        prop_assert_eq!(a.popcount() + a.not().popcount(), w);
        prop_assert_eq!(a.lshr_u32(w - 1 - a.leading_zeros().min(w - 1)).trunc(1).is_zero(), a.is_zero());
        prop_assert_eq!(a.rotr_u32(a.trailing_zeros()).bit(0), !a.is_zero());
        prop_assert_eq!(a.ult(&b), a < b);
        prop_assert_eq!(a.ule(&b), !b.ult(&a));
        let half = Bits::zero(w).with_bit(w - 1, true);
        prop_assert_eq!(a.slt(&b), a.xor(&half).ult(&b.xor(&half)));
        prop_assert_eq!(a.sle(&b), !b.slt(&a));
    }

    #[test]
    fn the_text_form_reads_back(a in widths().prop_flat_map(value)) {
        prop_assert_eq!(a.to_string().parse::<Bits>(), Ok(a));
    }
}

#[test]
fn texts_that_are_no_bit_vectors_are_refused() {
    for text in [
        "",
        "0x",
        "12",
        "0x1",
        "0x:4",
        "0x1:0",
        "0xg:4",
        "0x10:4",
        "0x2:1",
        "0x1:9999999",
    ] {
        assert!(text.parse::<Bits>().is_err(), "{text}");
    }
    assert_eq!("0x1:1".parse(), Ok(Bits::one(1)));
    assert_eq!("0xF:7".parse(), Ok(Bits::from_u64(7, 15)));
}

#[test]
fn the_text_form_is_padded_to_the_width() {
    assert_eq!(Bits::from_u64(12, 0x2a).to_string(), "0x02a:12");
    assert_eq!(Bits::ones(70).to_string(), "0x3fffffffffffffffff:70");
}
