//! Pairs that must meet in one normal form.

use super::*;

fn var(name: &str, width: u32) -> Term {
    Term::var(name, Sort::Bv(width))
}

fn meets(a: Term, b: Term) {
    let (x, y) = pair(unroll(a), unroll(b));
    let mut finer = Normaliser {
        cuts: cuts(&[unroll(a), unroll(b), x, y]),
        ..Normaliser::default()
    };
    let (x, y) = if x == y {
        (x, y)
    } else {
        (finer.norm(unroll(a)), finer.norm(unroll(b)))
    };
    let shown = |t: Term| t.to_string().chars().take(400).collect::<String>();
    assert!(x == y, "\n{}\n{}", shown(x), shown(y));
}

fn sext(t: Term, w: u32) -> Term {
    b::sext(t, w)
}

#[test]
fn sums_and_products() {
    let (x, y, z) = (var("x", 32), var("y", 32), var("z", 32));
    meets(b::add(b::add(x, y), z), b::add(z, b::add(y, x)));
    meets(b::mul(b::add(x, y), z), b::add(b::mul(z, x), b::mul(z, y)));
    meets(b::sub(x, y), b::add(x, b::add(b::not(y), Term::bv(32, 1))));
    meets(b::shl(x, Term::bv(32, 3)), b::mul(x, Term::bv(32, 8)));
}

/// What lies between two bytes has no sign, so that both extensions of it are one, and it is a short element.
#[test]
fn interpolations_lie_between_their_ends() {
    let [x, y, m, n] = ["x", "y", "m", "n"].map(|name| b::zext(var(name, 8), 32));
    let number = |n: i128| Term::bv(32, n);
    let between =
        |x: Term, y: Term, m: Term| b::add(b::mul(x, m), b::mul(y, b::sub(number(255), m)));
    let one = between(x, y, m);
    meets(sext(one, 64), b::zext(one, 64));
    meets(one, b::zext(b::extract(one, 0, 16), 32));
    let both = between(one, between(y, x, m), n);
    meets(sext(both, 64), b::zext(both, 64));
    meets(both, b::zext(b::extract(both, 0, 24), 32));
    let rounded = b::add(one, number(127));
    let short = b::udiv(b::extract(rounded, 0, 16), Term::bv(16, 255));
    meets(b::udiv(rounded, number(255)), b::zext(short, 32));
}

/// Each value is used twice, so that the product has 2^60 factors.
#[test]
fn products_of_products_stay_as_small_as_their_text() {
    for width in [8, 32, 64] {
        let x = var("x", width);
        let chain = |first: Term, step: &dyn Fn(Term) -> Term| (0..60).fold(first, |t, _| step(t));
        let squares = chain(x, &|t| b::mul(t, t));
        meets(squares, chain(x, &|t| b::mul(b::add(t, b::zero(width)), t)));
        let signs = chain(x, &|t| b::mul(b::mul(t, x), b::neg(t)));
        meets(signs, signs);
        let mixed = chain(x, &|t| b::mul(b::add(t, Term::bv(width, 3)), t));
        meets(mixed, mixed);
        let wide = b::extract(chain(b::sext(x, 128), &|t| b::mul(t, t)), 0, width);
        meets(wide, wide);
    }
    // A product of as many factors as a text has in a row meets however it is grouped.
    let parts: Vec<Term> = (0..200).map(|n| var(["p", "q", "r"][n % 3], 32)).collect();
    let left = parts.iter().copied().reduce(b::mul).expect("factors");
    let right = parts
        .iter()
        .rev()
        .copied()
        .reduce(|t, f| b::mul(f, t))
        .expect("factors");
    meets(left, right);
}

#[test]
fn widened_products() {
    let (a, c) = (var("a", 16), var("c", 16));
    let short = b::mul(sext(a, 32), sext(c, 32));
    let long = b::mul(sext(a, 64), sext(c, 64));
    meets(sext(short, 64), long);
    meets(short, b::extract(long, 0, 32));
    meets(b::extract(short, 16, 16), b::extract(long, 16, 16));
}

#[test]
fn product_from_halves() {
    let (a, c) = (var("a", 16), var("c", 16));
    let low = |t: Term| b::zext(b::extract(t, 0, 8), 32);
    let high = |t: Term| sext(b::extract(t, 8, 8), 32);
    let k = |n: u32| Term::bv(32, i128::from(n));
    let cross = b::add(b::mul(high(a), low(c)), b::mul(low(a), high(c)));
    let halves = b::add(
        b::shl(b::mul(high(a), high(c)), k(16)),
        b::add(b::shl(cross, k(8)), b::mul(low(a), low(c))),
    );
    meets(b::mul(sext(a, 32), sext(c, 32)), halves);
}

#[test]
fn the_upper_word_of_a_product_from_halves() {
    let low = |t: Term| b::zext(b::extract(t, 0, 8), 16);
    let high = |t: Term| b::zext(b::extract(t, 8, 8), 16);
    for c in [
        var("c", 16),
        Term::bv(16, 0x9e37),
        Term::bv(16, 0x0101),
        Term::bv(16, -16),
    ] {
        let a = var("a", 16);
        let whole = b::extract(b::mul(b::zext(a, 32), b::zext(c, 32)), 16, 16);
        let (once, again) = (b::mul(low(a), high(c)), b::mul(high(a), low(c)));
        let carried = b::add(b::add(high(b::mul(low(a), low(c))), low(once)), low(again));
        let above = b::add(b::add(b::mul(high(a), high(c)), high(once)), high(again));
        meets(whole, b::add(above, high(carried)));
    }
}

#[test]
fn rounding() {
    let (a, c) = (var("a", 8), var("c", 8));
    let at = |w: u32| {
        let sum = b::add(b::add(b::zext(a, w), b::zext(c, w)), Term::bv(w, 1));
        b::extract(b::lshr(sum, Term::bv(w, 1)), 0, 8)
    };
    meets(at(16), at(32));
    meets(at(9), at(16));
    let (a, c) = (var("a", 16), var("c", 16));
    let product = b::mul(sext(a, 32), sext(c, 32));
    let twice = b::add(b::ashr(product, Term::bv(32, 14)), Term::bv(32, 1));
    let once = b::add(product, Term::bv(32, 0x4000));
    meets(
        b::extract(twice, 1, 16),
        b::extract(b::ashr(once, Term::bv(32, 15)), 0, 16),
    );
}

#[test]
fn minimum_and_maximum() {
    let (a, c) = (var("a", 8), var("c", 8));
    meets(b::umax(a, c), b::ite(b::ult(a, c), c, a));
    meets(b::smin(a, c), b::ite(b::sle(c, a), c, a));
    meets(b::sub(b::umax(a, c), b::umin(a, c)), {
        let d = b::sub(b::zext(a, 16), b::zext(c, 16));
        b::extract(b::abs(d), 0, 8)
    });
}

#[test]
fn clamps() {
    let x = var("x", 16);
    let clamp = b::smax(b::smin(x, Term::bv(16, 255)), Term::bv(16, 0));
    meets(b::extract(clamp, 0, 8), b::sat_su(x, 8));
    meets(clamp, b::zext(b::sat_su(x, 8), 16));
    let by_choice = b::ite(
        b::slt(Term::bv(16, 255), x),
        Term::bv(8, 255),
        b::extract(x, 0, 8),
    );
    let by_choice = b::ite(b::slt(x, Term::bv(16, 0)), Term::bv(8, 0), by_choice);
    meets(by_choice, b::sat_su(x, 8));
    let (a, c) = (var("a", 8), var("c", 8));
    meets(
        b::sat_ss(b::add(sext(a, 32), sext(c, 32)), 8),
        b::sat_ss(b::add(sext(a, 9), sext(c, 9)), 8),
    );
}

#[test]
fn saturating_subtraction() {
    let (a, c) = (var("a", 8), var("c", 8));
    let wide = b::sat_su(b::sub(b::zext(a, 16), b::zext(c, 16)), 8);
    meets(wide, b::sub(a, b::umin(a, c)));
    meets(wide, b::ite(b::ult(c, a), b::sub(a, c), Term::bv(8, 0)));
}

#[test]
fn comparisons() {
    let (a, c) = (var("a", 8), var("c", 8));
    meets(b::ult(a, c), b::slt(b::zext(a, 16), b::zext(c, 16)));
    meets(b::sle(a, c), b::negate(b::slt(c, a)));
    meets(b::eq(b::zext(a, 32), b::zext(c, 32)), b::eq(a, c));
    meets(b::slt(a, Term::bv(8, 0)), b::bit(a, 7));
    assert_eq!(
        normalise(b::ult(b::zext(a, 16), Term::bv(16, 256))),
        Term::bool(true)
    );
}

#[test]
fn logic_and_structure() {
    let x = var("x", 32);
    meets(
        b::and(x, Term::bv(32, 0xff00)),
        b::shl(b::zext(b::extract(x, 8, 8), 32), Term::bv(32, 8)),
    );
    let (a, c) = (var("a", 8), var("c", 8));
    meets(
        b::or(b::shl(b::zext(a, 16), Term::bv(16, 8)), b::zext(c, 16)),
        b::concat(&[a, c]),
    );
    meets(b::rotl(x, Term::bv(32, 8)), b::rotr(x, Term::bv(32, 24)));
}

#[test]
fn population_count_by_bit_tricks() {
    let x = var("x", 32);
    let k = |n: i128| Term::bv(32, n);
    let half = |t: Term, n: i128, m: i128| b::and(b::lshr(t, k(n)), k(m));
    let t = b::sub(x, half(x, 1, 0x5555_5555));
    let t = b::add(b::and(t, k(0x3333_3333)), half(t, 2, 0x3333_3333));
    let t = b::and(b::add(t, b::lshr(t, k(4))), k(0x0f0f_0f0f));
    let t = b::lshr(b::mul(t, k(0x0101_0101)), k(24));
    meets(t, b::popcnt(x));
}

#[test]
fn lanes_of_a_wide_sum() {
    let (x, y) = (var("x", 128), var("y", 128));
    let low = Term::bits(Bits::from_u128(
        128,
        0x7fff_7fff_7fff_7fff_7fff_7fff_7fff_7fff,
    ));
    let high = b::not(low);
    let sum = b::add(b::and(x, low), b::and(y, low));
    let swar = b::xor(sum, b::and(b::xor(x, y), high));
    let lanes: Vec<Term> = (0..8)
        .rev()
        .map(|k| b::add(b::extract(x, 16 * k, 16), b::extract(y, 16 * k, 16)))
        .collect();
    for (lane, k) in lanes.into_iter().rev().zip(0..) {
        meets(lane, b::extract(swar, 16 * k, 16));
    }
}

/// Random flat terms over every operator whose normal form is not trivial.
struct Terms(semantics::random::Random);

impl Terms {
    fn pick(&mut self, n: u64) -> u64 {
        self.0.below(n)
    }

    fn leaf(&mut self, width: u32) -> Term {
        let names = ["x", "y", "z"];
        let name = names[self.pick(3) as usize];
        match self.pick(6) {
            0 => Term::bits(self.0.bits(width)),
            1 => Term::bv(width, i128::from(self.pick(4)) - 2),
            2 => {
                let lo = self.pick(u64::from(32 - width.min(24))) as u32;
                b::extract(var(name, 32), lo, width)
            }
            _ => Term::var(&format!("{name}{width}"), Sort::Bv(width)),
        }
    }

    fn truth(&mut self, depth: u32) -> Term {
        if depth == 0 {
            return Term::var("p", Sort::Bool);
        }
        let width = [1, 4, 8, 16][self.pick(4) as usize];
        match self.pick(8) {
            0 => b::negate(self.truth(depth - 1)),
            1 => b::both(self.truth(depth - 1), self.truth(depth - 1)),
            2 => b::either(self.truth(depth - 1), self.truth(depth - 1)),
            k => {
                let (x, y) = (self.term(width, depth - 1), self.term(width, depth - 1));
                [b::eq, b::ult, b::ule, b::slt, b::sle][k as usize - 3](x, y)
            }
        }
    }

    fn term(&mut self, width: u32, depth: u32) -> Term {
        if depth == 0 {
            return self.leaf(width);
        }
        let d = depth - 1;
        let binary = [
            b::add,
            b::sub,
            b::mul,
            b::and,
            b::or,
            b::xor,
            b::smin,
            b::smax,
            b::umin,
            b::umax,
            b::shl,
            b::lshr,
            b::ashr,
            b::rotl,
            b::rotr,
            b::udiv,
            b::urem,
            b::sdiv,
            b::srem,
        ];
        match self.pick(34) {
            k if (k as usize) < binary.len() => {
                let (x, y) = (self.term(width, d), self.term(width, d));
                binary[k as usize](x, y)
            }
            19 => b::not(self.term(width, d)),
            20 => b::neg(self.term(width, d)),
            21 => b::abs(self.term(width, d)),
            22 => [b::popcnt, b::clz, b::ctz][self.pick(3) as usize](self.term(width, d)),
            23..=25 => {
                let c = self.truth(d);
                let (x, y) = (self.term(width, d), self.term(width, d));
                b::ite(c, x, y)
            }
            26 | 27 if width > 1 => {
                let inner = 1 + self.pick(u64::from(width) - 1) as u32;
                let t = self.term(inner, d);
                if self.pick(2) == 0 {
                    b::zext(t, width)
                } else {
                    b::sext(t, width)
                }
            }
            28 | 29 if width > 1 => {
                let low = 1 + self.pick(u64::from(width) - 1) as u32;
                let (hi, lo) = (self.term(width - low, d), self.term(low, d));
                b::concat(&[hi, lo])
            }
            30 | 31 => {
                let wide = width + 1 + self.pick(8) as u32;
                let lo = self.pick(u64::from(wide - width) + 1) as u32;
                b::extract(self.term(wide, d), lo, width)
            }
            32 => {
                let wide = width + self.pick(9) as u32;
                let t = self.term(wide, d);
                [b::sat_ss, b::sat_su, b::sat_us, b::sat_uu][self.pick(4) as usize](t, width)
            }
            _ => self.leaf(width),
        }
    }
}

#[test]
fn meaning_is_kept() {
    let mut terms = Terms(semantics::random::Random::new(7));
    for round in 0..3000u64 {
        let width = [1, 3, 8, 9, 16, 32, 70][terms.pick(7) as usize];
        let depth = 1 + round as u32 / 1000;
        let t = terms.term(width, depth);
        let n = normalise(t);
        if let Some(model) = crate::sample::find_difference(t, n, round, 64) {
            panic!("round {round}: on {model:?}\n{t}\nbecame\n{n}");
        }
        let finer = Normaliser {
            cuts: cuts(&[t, n]),
            ..Normaliser::default()
        }
        .norm(t);
        if let Some(model) = crate::sample::find_difference(t, finer, round, 64) {
            panic!("round {round}, cut: on {model:?}\n{t}\nbecame\n{finer}");
        }
        assert_eq!(normalise(t), n, "the same every time");
    }
}

#[test]
fn products_too_large_to_multiply_out_stay_products() {
    let x = var("x", 70);
    let runs = Term::bits(Bits::from_u128(70, 0x3a_ab83_377e_88f4_5fc3));
    let y = b::zext(var("y", 25), 70);
    let product = b::mul(b::xor(x, runs), b::xor(y, runs));
    let n = normalise(product);
    let finer = Normaliser {
        cuts: cuts(&[product, n]),
        ..Normaliser::default()
    }
    .norm(product);
    for t in [n, finer] {
        assert_eq!(crate::sample::find_difference(product, t, 1, 64), None);
    }
}

#[test]
fn normal_forms_are_mostly_stable() {
    let mut terms = Terms(semantics::random::Random::new(11));
    let mut moved = 0;
    for _ in 0..1000 {
        let t = terms.term(16, 3);
        let n = normalise(t);
        moved += u32::from(normalise(n) != n);
    }
    assert!(
        moved <= 30,
        "{moved} of 1000 normal forms are not their own normal form"
    );
}

#[test]
fn order_and_grouping_do_not_matter_however_large() {
    // Trees of 64 leaves: too large for what looks at every pair of operands.
    let leaves: Vec<Term> = (0..64).map(|k| var(&format!("x{k}"), 16)).collect();
    let tree = |leaves: &[Term], f: fn(Term, Term) -> Term| {
        let mut level = leaves.to_vec();
        while level.len() > 1 {
            level = level.chunks(2).map(|p| f(p[0], p[1])).collect();
        }
        level[0]
    };
    for f in [b::umax as fn(Term, Term) -> Term, b::smin, b::xor, b::or] {
        let chain = leaves.iter().rev().copied().reduce(f).expect("leaves");
        let (x, y) = pair(tree(&leaves, f), chain);
        assert!(x == y);
        let (x, y) = pair(tree(&leaves, f), f(chain, var("z", 16)));
        assert!(x != y, "an operand more is another term");
    }
}

/// The remainder of a 40-bit polynomial over bits: `choose` says how a step takes the divisor.
fn checksum(input: Term, choose: fn(Term, Term) -> Term) -> Term {
    let mut rest = b::zero(32);
    for k in (0..40).rev() {
        let top = b::extract(rest, 31, 1);
        let shifted = b::concat(&[b::extract(rest, 0, 31), b::extract(input, k, 1)]);
        rest = choose(top, shifted);
    }
    rest
}

#[test]
fn checksums_meet_however_they_are_written() {
    let divisor = || Term::bv(32, 0x1edc_6f41);
    let masked = |top, rest| b::xor(rest, b::and(sext(top, 32), Term::bv(32, 0x1edc_6f41)));
    let chosen = |top, rest| {
        let one = b::eq(top, Term::bv(1, 1));
        b::ite(one, b::xor(Term::bv(32, 0x1edc_6f41), rest), rest)
    };
    let other = |top, rest| b::xor(rest, b::and(sext(top, 32), Term::bv(32, 0x1edc_6f45)));
    let (x, y) = (var("x", 40), var("y", 40));
    let both = checksum(b::xor(x, y), masked);
    let apart = b::xor(checksum(y, chosen), checksum(x, chosen));
    assert!(
        linear::same(both, apart).is_some(),
        "the sum of checksums is that of the sum"
    );
    meets(both, apart);
    assert!(linear::same(both, checksum(b::xor(x, y), other)).is_none());
    assert!(linear::same(both, checksum(x, masked)).is_none());
    // Of what is not linear only that equal operands give equal results is known.
    let product = b::mul(b::extract(x, 0, 32), divisor());
    assert!(linear::same(b::xor(product, both), b::xor(apart, product)).is_some());
    let more = b::add(product, Term::bv(32, 1));
    assert!(linear::same(b::xor(product, both), b::xor(apart, more)).is_none());
    let of = |t| b::xor(b::mul(t, var("z", 32)), divisor());
    assert!(linear::same(of(both), of(apart)).is_some());
    assert!(linear::same(of(both), of(product)).is_none());
}

#[test]
fn hashes_made_of_shifts_meet_however_shifts_are_written() {
    use semantics::op::{Op, OpCode as C};
    let raw = |code, args: &[Term]| Term::raw_app(Op::new(code), args).expect("words");
    let by = |n: u32| Term::bv(32, i128::from(n));
    let x = var("x", 32);
    let hashed = |shift: &dyn Fn(C, Term, u32) -> Term| {
        (0..12).fold(x, |t, k| match k % 3 {
            0 => b::xor(t, shift(C::BvShl, t, 13)),
            1 => b::xor(t, shift(C::BvLshr, t, 17)),
            _ => b::xor(shift(C::BvAshr, t, 5), t),
        })
    };
    let plain = hashed(&|code, t, n| raw(code, &[t, by(n)]));
    let parts = hashed(&|code, t, n| match code {
        C::BvShl => b::concat(&[b::extract(t, 0, 32 - n), b::zero(n)]),
        C::BvLshr => b::zext(b::extract(t, n, 32 - n), 32),
        _ => b::sext(b::extract(t, n, 32 - n), 32),
    });
    let other = hashed(&|code, t, n| raw(code, &[t, by(n + u32::from(n == 17))]));
    assert!(linear::same(plain, parts).is_some());
    assert!(linear::same(plain, other).is_none());
    // More than all bits, and a number of bits that is no constant.
    let out = b::xor(raw(C::BvLshr, &[x, by(40)]), var("y", 32));
    assert!(linear::same(out, raw(C::BvXor, &[var("y", 32), b::zero(32)])).is_some());
    let any = |t| b::xor(raw(C::BvShl, &[t, var("n", 32)]), x);
    let past = |at| {
        let op = Op::with(C::Extract, 16);
        let part = Term::raw_app(op, &[x, Term::int(at)]).expect("a part");
        b::xor(part, var("h", 16))
    };
    assert!(linear::same(past(20), past(24)).is_none());
    assert!(linear::same(any(plain), any(parts)).is_some());
    assert!(linear::same(any(plain), any(other)).is_none());
}

#[test]
fn low_bits_of_products_that_stay_do_not_lead_back_to_themselves() {
    // Large as trees, so that an extraction is not moved inwards; and with many parts.
    let large = |name: &str| {
        let more = |t, _| b::xor(b::add(t, var("s", 8)), b::sub(t, var("t", 8)));
        (0..24).fold(var(name, 8), more)
    };
    let sum = |many| (0..many).fold(large("x"), |sum, k| b::sub(sum, var(&format!("y{k}"), 8)));
    let product = |many| b::mul(sum(many), var("z", 8));
    for low in 1..8 {
        let bits = |t| b::extract(t, 0, low);
        meets(bits(product(150)), bits(product(150)));
        let (one, other) = pair(bits(product(150)), bits(product(151)));
        assert!(one != other);
    }
}

#[test]
fn quotients_through_floats() {
    let zero = |t: Term| b::eq(t, b::zero(t.width()));
    for w in [8, 16, 32] {
        let (x, y) = (var("x", w), var("y", w));
        let quotients: [fn(Term, Term) -> Term; 4] = [b::udiv, b::sdiv, b::urem, b::srem];
        for (k, divided) in quotients.into_iter().enumerate() {
            let whole = b::ite(zero(y), b::zero(w), divided(x, y));
            let (op, args) = whole.as_app().expect("a choice");
            let all = semantics::float::quotient::by_floats(op, args);
            assert!(!all.is_empty());
            for floats in all {
                meets(whole, floats);
            }
            // The guard as a mask, and what is left over of a quotient that has one of its own.
            let quotient = b::ite(zero(y), b::zero(w), [b::udiv, b::sdiv][k % 2](x, y));
            let rest = b::sub(x, b::mul(quotient, y));
            meets(rest, [b::urem, b::srem][k % 2](x, y));
        }
    }
}

#[test]
fn quotients_of_extended_values() {
    let (x, y) = (var("x", 8), var("y", 16));
    let at = |w: u32| {
        b::ite(
            b::eq(y, b::zero(16)),
            b::zero(w),
            b::zext(b::udiv(b::zext(x, 16), y), w),
        )
    };
    let wide = b::udiv(b::zext(x, 32), b::zext(y, 32));
    meets(b::ite(b::eq(y, b::zero(16)), b::zero(32), wide), at(32));
    let (x, y) = (var("x", 16), var("y", 16));
    let wide = b::sdiv(sext(x, 32), sext(y, 32));
    meets(b::extract(wide, 0, 16), b::sdiv(x, y));
    // -32768 by -1 is 32768 in 32 bits.
    assert_ne!(normalise(wide), normalise(sext(b::sdiv(x, y), 32)));
}
