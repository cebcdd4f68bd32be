//! Quotients by constants as products and shifts.
//!
//! In: a value and a constant. Out: an equal term without a division. That it is equal is
//! arithmetic, not search: with `m = ⌈2^(w+s) / d⌉` and `e = m·d − 2^(w+s)`, the quotient of every
//! `x < 2^w` is `⌊m·x / 2^(w+s)⌋` when `e·2^w ≤ 2^(w+s)` (Granlund and Montgomery, 1994). What is
//! not a constant, or wider than 32 bits, is left alone.

use semantics::op::{Op, OpCode};
use semantics::term::Term;

fn app(op: Op, args: &[Term]) -> Option<Term> {
    Term::raw_app(op, args).ok()
}

fn two(code: OpCode, x: Term, y: Term) -> Option<Term> {
    app(Op::new(code), &[x, y])
}

fn number(width: u32, n: u128) -> Option<Term> {
    Some(Term::bv(width, i128::try_from(n).ok()?))
}

fn shifted(x: Term, by: u32) -> Option<Term> {
    two(OpCode::BvLshr, x, number(x.width(), by.into())?)
}

fn low(x: Term, width: u32) -> Option<Term> {
    app(Op::with(OpCode::Extract, width), &[x, Term::int(0)])
}

/// A quotient or remainder by a constant without a division: as it stands, not simplified.
pub fn by_constant(op: Op, args: &[Term]) -> Option<Term> {
    let &[x, divisor] = args else { return None };
    let w = x.sort().width().filter(|w| (2..=32).contains(w))?;
    let d = divisor.as_bits()?.to_u64()?;
    let negative = d >> (w - 1) == 1;
    let size = if negative { (1 << w) - d } else { d };
    match op.code {
        OpCode::BvUdiv => unsigned(x, d),
        OpCode::BvSdiv if d != 0 => {
            let least = two(OpCode::BvSlt, x, number(w, 0)?)?;
            let minus = |t: Term| two(OpCode::BvSub, number(w, 0)?, t);
            let (up, down) = (unsigned(x, size)?, unsigned(minus(x)?, size)?);
            let sides = match negative {
                false => [least, minus(down)?, up],
                true => [least, down, minus(up)?],
            };
            app(Op::new(OpCode::Ite), &sides)
        }
        OpCode::BvUrem | OpCode::BvSrem if d != 0 => {
            let code = match op.code {
                OpCode::BvUrem => OpCode::BvUdiv,
                _ => OpCode::BvSdiv,
            };
            let quotient = by_constant(Op::new(code), args)?;
            two(OpCode::BvSub, x, two(OpCode::BvMul, quotient, divisor)?)
        }
        _ => None,
    }
}

/// The unsigned quotient: the upper part of a product, shifted.
fn unsigned(x: Term, d: u64) -> Option<Term> {
    let (w, d) = (x.width(), u128::from(d));
    match d {
        0 => return None,
        1 => return Some(x),
        _ if d.is_power_of_two() => return shifted(x, d.trailing_zeros()),
        _ => {}
    }
    let extend = |t: Term| app(Op::with(OpCode::Zext, 2 * w), &[t]);
    let product = |m: u128| two(OpCode::BvMul, extend(x)?, extend(number(w, m)?)?);
    let exact = |s: u32| {
        let m = (1u128 << (w + s)).div_ceil(d);
        let error = m * d - (1u128 << (w + s));
        (m < 1 << w && error << w <= 1 << (w + s)).then_some((m, w + s))
    };
    if let Some((m, s)) = (0..w).find_map(exact) {
        return low(shifted(product(m)?, s)?, w);
    }
    // A factor of one bit more: its upper bit is the dividend itself, added by halves.
    let s = 128 - (d - 1).leading_zeros();
    let m = (1u128 << (w + s)).div_ceil(d) - (1 << w);
    let upper = low(shifted(product(m)?, w)?, w)?;
    let rest = two(OpCode::BvSub, x, upper)?;
    shifted(two(OpCode::BvAdd, shifted(rest, 1)?, upper)?, s - 1)
}

#[cfg(test)]
mod tests {
    use super::by_constant;
    use semantics::build as b;
    use semantics::eval::{Input, Program};
    use semantics::op::{Op, OpCode};
    use semantics::sort::Sort;
    use semantics::term::Term;

    /// Both on every dividend of 8 or 16 bits.
    fn holds(code: OpCode, width: u32, d: i128) {
        let x = Term::var("x", Sort::Bv(width));
        let args = [x, Term::bv(width, d)];
        let whole = b::app(Op::new(code), &args);
        let other = by_constant(Op::new(code), &args).expect("it is written otherwise");
        let inputs = [Input {
            name: "x".to_owned(),
            sort: Sort::Bv(width),
        }];
        let program = Program::compile(&[whole, other], &inputs).expect("both are closed");
        let mut frame = program.frame(1 << width);
        for (value, word) in program.input_words(&mut frame, 0).iter_mut().enumerate() {
            *word = value as u64;
        }
        program.execute(&mut frame);
        let [is, wanted] = [0, 1].map(|k| program.output_words(&frame, k));
        assert_eq!(is, wanted, "{code:?} by {d} in {width} bits");
    }

    #[test]
    fn every_quotient_of_a_byte_and_many_of_two_are_right() {
        use OpCode as C;
        let codes = [C::BvUdiv, C::BvUrem, C::BvSdiv, C::BvSrem];
        for d in 1..256 {
            codes.iter().for_each(|&code| holds(code, 8, d));
        }
        for d in [
            1, 2, 3, 5, 6, 7, 10, 100, 641, 1000, 25_000, 32_767, 32_768, 65_535,
        ] {
            codes.iter().for_each(|&code| holds(code, 16, d));
        }
    }
}
