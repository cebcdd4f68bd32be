//! Every other way to write a value is equal to it, on edges and random inputs.

use semantics::bits::Bits;
use semantics::build as b;
use semantics::eval::{CompiledTerms, Input};
use semantics::float::Format;
use semantics::op::{Op, OpCode};
use semantics::random::Random;
use semantics::sort::Sort;
use semantics::subst::free_vars;
use semantics::term::Term;
use semantics::value::Value;
use synth::alternatives::{BothWays, alternatives, by_halves, shifted_both_ways, variants};

/// Inputs that each is tried on.
const TRIED: usize = 2_000;

/// A value of a width, often one at an edge.
fn value(random: &mut Random, width: u32) -> Value {
    let mask = u64::MAX >> (64 - width);
    let half = 1 << (width - 1);
    let edges = [0, 1, mask, half, half - 1, half + 1, mask - 1];
    let bits = match random.below(4) {
        0 => *random.pick(&edges),
        1 => random.next_bits() >> random.below(64),
        _ => random.next_bits(),
    };
    Value::Bv(Bits::from_u64(width, bits & mask))
}

/// The other ways to write a value, of which there are so many at least, are equal to it.
fn others_are_equal(t: Term, least: usize) {
    let others = alternatives(t);
    assert!(others.len() >= least, "{t} is written otherwise");
    are_equal(t, &others);
}

fn are_equal(t: Term, others: &[Term]) {
    let variables = free_vars(t);
    let inputs = variables.iter().map(|v| Input {
        name: v.as_var().expect("a variable").to_owned(),
        sort: v.sort(),
    });
    let inputs: Vec<Input> = inputs.collect();
    let all: Vec<Term> = [&[t], others].concat();
    let program = CompiledTerms::compile(&all, &inputs).expect("they read the same");
    let mut random = Random::new(5);
    for _ in 0..TRIED {
        let values = variables.iter().map(|v| value(&mut random, v.width()));
        let values: Vec<Value> = values.collect();
        let results = program.run(&values);
        for (other, result) in all.iter().zip(&results).skip(1) {
            assert_eq!(*result, results[0], "{t} is not {other} at {values:?}");
        }
    }
}

fn variables(width: u32) -> (Term, Term) {
    let variable = |name: &str| Term::var(name, Sort::Bv(width));
    (variable("x"), variable("y"))
}

#[test]
fn extremes_shifts_and_counts_at_every_width() {
    for w in [8, 16, 32, 64] {
        let (x, y) = variables(w);
        for t in [b::smin(x, y), b::smax(x, y), b::umin(x, y), b::umax(x, y)] {
            others_are_equal(t, 1);
        }
        for t in [
            b::abs(x),
            b::ashr(x, y),
            b::clz(x),
            b::rotl(x, Term::bv(w, 3)),
        ] {
            others_are_equal(t, 1);
        }
        others_are_equal(b::popcnt(x), usize::from(w > 8));
        // By more than their width too, and by less as seen from a range.
        for shift in [b::shl, b::lshr, b::ashr] {
            for by in [y, b::and(y, Term::bv(w, (w - 1).into()))] {
                let t = shift(x, by);
                let code = t.as_app().expect("a shift").0.code;
                let all = [OpCode::BvAshr, OpCode::BvLshr];
                let all = all
                    .into_iter()
                    .filter(|down| code == OpCode::BvShl || code == *down);
                for down in all {
                    let ways = |count, down_by_negative| {
                        let ways = BothWays {
                            count,
                            down_by_negative,
                            down,
                        };
                        shifted_both_ways(t, ways)
                    };
                    are_equal(t, &[ways(8, true).expect("no constant")]);
                    // Where the count has no more bits than it needs, not every one can be told: what is
                    // shifted up by as many bits as there are goes down, and leaves its sign.
                    let few = [true, false].map(|down| ways(w.ilog2() + 1, down));
                    let leaves_sign = code == OpCode::BvShl && down == OpCode::BvAshr && by == y;
                    assert_eq!(few.iter().any(Option::is_none), leaves_sign, "{t}");
                    are_equal(t, &few.into_iter().flatten().collect::<Vec<_>>());
                }
            }
        }
    }
    let (x, y) = variables(64);
    others_are_equal(b::mul(x, y), 1);
    let (p, q) = variables(32);
    let product = b::mul(b::sext(p, 64), b::sext(q, 64));
    for t in [b::mul(p, q), b::extract(product, 32, 32)] {
        let parts: Vec<Term> = by_halves(t).into_iter().map(|(t, _)| t).collect();
        assert_eq!(parts.len(), 2, "{t}");
        are_equal(t, &parts);
    }
    others_are_equal(b::mul(x, Term::bv(64, 0x1234_5678_9abc_def1)), 1);
    // Few digits: by shifts too.
    for n in [
        7,
        12,
        1 << 10,
        1 << 50,
        -3,
        i128::from(i64::MAX),
        i128::from(i64::MIN),
    ] {
        others_are_equal(b::mul(x, Term::bv(64, n)), 2);
    }
}

#[test]
fn sums_that_do_not_wrap() {
    for w in [8, 16, 32, 64] {
        let (x, y) = variables(w);
        let signed = |t: Term| b::sext(t, w + 1);
        let unsigned = |t: Term| b::zext(t, w + 1);
        others_are_equal(b::sat_ss(b::add(signed(x), signed(y)), w), 1);
        others_are_equal(b::sat_ss(b::sub(signed(x), signed(y)), w), 1);
        others_are_equal(b::sat_uu(b::add(unsigned(x), unsigned(y)), w), 1);
        others_are_equal(b::sat_su(b::sub(unsigned(x), unsigned(y)), w), 1);
        for sum in [
            b::add(signed(x), signed(y)),
            b::add(unsigned(x), unsigned(y)),
        ] {
            others_are_equal(b::extract(sum, 1, w), 1);
            others_are_equal(b::extract(b::add(sum, Term::bv(w + 1, 1)), 1, w), 1);
        }
    }
}

#[test]
fn quotients_that_are_rounded_down() {
    for w in [8, 16, 32] {
        let (x, _) = variables(w);
        for d in [2, 8, 16] {
            let d = Term::bv(w, d);
            let (quotient, rest) = (b::sdiv(x, d), b::srem(x, d));
            let below = b::slt(rest, b::zero(w));
            let less = b::sub(quotient, Term::bv(w, 1));
            others_are_equal(b::ite(below, less, quotient), 1);
            others_are_equal(b::ite(below, b::add(rest, d), rest), 1);
        }
    }
}

#[test]
fn quotients_by_numbers_of_ones() {
    for (w, by) in [(16, 8), (16, 5), (32, 16), (32, 8)] {
        let (x, y) = variables(by);
        let product = b::mul(b::zext(x, w), b::zext(y, w));
        let rounded = b::add(product, Term::bv(w, (1 << (by - 1)) - 1));
        let quotient = b::udiv(rounded, Term::bv(w, (1 << by) - 1));
        let without = |t: &Term| t.to_string().contains("udiv") || t.to_string().contains("mul(");
        let others = alternatives(quotient);
        assert!(!others.is_empty() && !others.iter().all(without));
        others_are_equal(quotient, 1);
    }
}

#[test]
fn what_is_shifted_up_beside_what_fits_below_is_a_sum() {
    let (x, y) = variables(32);
    for by in [1, 5, 16, 31] {
        let up = b::shl(x, Term::bv(32, by));
        let below = b::lshr(y, Term::bv(32, 32 - by));
        for whole in [b::or(up, below), b::xor(below, up)] {
            let others = alternatives(whole);
            assert!(others.iter().any(|t| t.args_of(OpCode::BvAdd).is_some()));
            are_equal(whole, &others);
        }
    }
    let beyond = b::or(b::shl(x, Term::bv(32, 5)), b::lshr(y, Term::bv(32, 26)));
    let is_sum = |t: &Term| t.args_of(OpCode::BvAdd).is_some();
    assert!(!alternatives(beyond).iter().any(is_sum));
}

#[test]
fn products_of_what_fits_in_elements_are_products_of_elements() {
    for w in [8, 16, 32] {
        let (x, y) = variables(w);
        let rest = b::sub(Term::bv(2 * w, (1 << w) - 1), b::zext(x, 2 * w));
        let product = b::mul(rest, b::zext(y, 2 * w));
        let others = variants(product);
        let of_elements = |t: &Term| {
            let args = t.args_of(OpCode::BvMul);
            args.is_some_and(|args| args.iter().all(|x| x.args_of(OpCode::Zext).is_some()))
        };
        assert!(others.iter().any(of_elements), "{product}");
        are_equal(product, &others);
    }
}

#[test]
fn comparisons_of_short_floats() {
    let (x, y) = variables(16);
    for format in [Format::F16, Format::Bf16] {
        for code in [OpCode::FLt, OpCode::FLe, OpCode::FEq, OpCode::FUnord] {
            let op = Op::with(code, format.code());
            others_are_equal(b::app(op, &[x, y]), 1);
        }
        for code in [OpCode::FMin, OpCode::FMax] {
            others_are_equal(b::app(Op::with(code, format.code()), &[x, y]), 1);
        }
    }
}

/// Halves of sums and rounding shifts of elements, as fields and as shifts of wider values.
#[test]
fn averages_and_rounding_shifts_at_every_width() {
    for width in [8, 16, 32] {
        let (x, y) = variables(width);
        for (extend, shift) in [
            (
                b::zext as fn(Term, u32) -> Term,
                b::lshr as fn(Term, Term) -> Term,
            ),
            (b::sext, b::lshr),
            (b::sext, b::ashr),
        ] {
            let wide = |t: Term| extend(t, 2 * width);
            let number = |n: i128| Term::bv(2 * width, n);
            let sum = b::add(wide(x), wide(y));
            for sum in [sum, b::add(sum, number(1))] {
                others_are_equal(b::extract(shift(sum, number(1)), 0, width), 1);
                others_are_equal(b::extract(sum, 1, width), 1);
            }
            for by in [1, 2, width - 1] {
                let sum = b::add(wide(x), number(1 << (by - 1)));
                others_are_equal(b::extract(shift(sum, number(by.into())), 0, width), 1);
                others_are_equal(b::extract(sum, by, width), 1);
            }
        }
    }
}

#[test]
fn what_is_shifted_in_fewer_bits_is_the_same() {
    let mut found = 0;
    for (w, from) in [(16, 8), (32, 16)] {
        let wide = 2 * w;
        let (x, y) = variables(from);
        let (z, _) = variables(w);
        for extend in [b::sext, b::zext] {
            let product = b::mul(extend(x, wide), extend(y, wide));
            let sum = b::add(extend(x, wide), extend(y, wide));
            let long = b::add(extend(z, wide), extend(z, wide));
            for value in [product, sum, long] {
                for n in [1, 3, from - 1, from] {
                    let half = Term::bv(wide, 1 << (n - 1));
                    let count = Term::bv(wide, n.into());
                    for of in [value, b::add(value, half), b::sub(half, value)] {
                        for down in [OpCode::BvAshr, OpCode::BvLshr] {
                            let shifted =
                                Term::raw_app(Op::new(down), &[of, count]).expect("of one width");
                            let clamps =
                                [OpCode::SatSS, OpCode::SatSU, OpCode::SatUU, OpCode::SatUS];
                            let clamped = |to| {
                                clamps.map(|code| Term::raw_app(Op::with(code, to), &[shifted]))
                            };
                            let cut = |to| {
                                Term::raw_app(
                                    Op::with(OpCode::Extract, to),
                                    &[shifted, Term::int(0)],
                                )
                            };
                            let all = [from, w].map(|to| [&clamped(to)[..], &[cut(to)]].concat());
                            for t in all.concat().into_iter().flatten() {
                                found += variants(t).len();
                                are_equal(t, &variants(t));
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(found > 500, "{found}");
}

/// Weighted sums that are shifted down, as averages of elements, at random weights.
#[test]
fn weighted_sums_by_averages_are_the_same() {
    let mut random = Random::new(11);
    let mut found = 0;
    for _ in 0..400 {
        let from = *random.pick(&[8, 16]);
        let wide = from * *random.pick(&[2, 4]);
        let signed = random.below(2) == 0;
        let n = u32::try_from(2 + random.below(4)).expect("few");
        let names = ["x", "y", "z"].map(|name| Term::var(name, Sort::Bv(from)));
        let mut sum = Term::bv(wide, i128::from(random.below(1 << n)));
        for x in names {
            let weight = i128::from(random.below(9)) - i128::from(signed) * 4;
            let x = if signed {
                b::sext(x, wide)
            } else {
                b::zext(x, wide)
            };
            sum = b::add(sum, b::mul(x, Term::bv(wide, weight)));
        }
        let count = Term::bv(wide, n.into());
        for down in [OpCode::BvAshr, OpCode::BvLshr] {
            let shifted = Term::raw_app(Op::new(down), &[sum, count]).expect("of one width");
            let cut = Op::with(OpCode::Extract, from);
            let t = Term::raw_app(cut, &[shifted, Term::int(0)]).expect("a part");
            found += variants(t).len();
            are_equal(t, &variants(t));
        }
    }
    assert!(found > 50, "{found}");
}

#[test]
fn sums_of_elements_saturate_as_wider_ones() {
    let mut found = 0;
    for w in [8, 16, 32] {
        let wide = 2 * w;
        let (x, y) = variables(w);
        let half = Term::var("h", Sort::Bv(w / 2));
        let extensions = [
            b::sext as fn(Term, u32) -> Term,
            b::zext as fn(Term, u32) -> Term,
        ];
        for extend in extensions {
            let product = b::mul(extend(half, wide), b::zext(half, wide));
            let twice = |n| b::mul(extend(y, wide), Term::bv(wide, n));
            for other in [product, extend(y, wide), twice(2), twice(3), twice(4)] {
                for join in [b::add, b::sub] {
                    for saturate in [b::sat_ss, b::sat_su, b::sat_uu] {
                        let t = saturate(join(extend(x, wide), other), w);
                        let all = [alternatives(t), variants(t)].concat();
                        found += all.len();
                        are_equal(t, &all);
                    }
                }
            }
        }
    }
    assert!(found > 100, "{found}");
}

#[test]
fn constants_that_are_joined_to_extended_values_stay() {
    let byte = Term::var("x", Sort::Bv(8));
    for extended in [b::zext(byte, 16), b::sext(byte, 16)] {
        let low = Term::bv(2, 1);
        let joined = Term::raw_app(Op::new(OpCode::Concat), &[extended, low]).expect("bits");
        others_are_equal(joined, 0);
    }
}

/// What is computed of extensions is the extension of what is computed of elements, and no mask is needed where
/// nothing is above it.
#[test]
fn operators_and_extensions_in_both_orders() {
    let (x, y) = variables(8);
    let two = |code: OpCode, x: Term, y: Term| b::app(Op::new(code), &[x, y]);
    for (wide, extend) in [
        (16, b::sext as fn(Term, u32) -> Term),
        (32, b::sext),
        (16, b::zext),
        (64, b::zext),
    ] {
        let [p, q, low] = [
            extend(x, wide),
            extend(y, wide),
            extend(Term::bv(8, 90), wide),
        ];
        use OpCode as C;
        for code in [
            C::Smin,
            C::Smax,
            C::Umin,
            C::Umax,
            C::BvAnd,
            C::BvOr,
            C::BvXor,
        ] {
            for (p, q) in [(p, q), (p, low)] {
                let t = two(code, p, q);
                let others = variants(t);
                assert!(!others.is_empty() || t.args_of(code).is_none(), "{t}");
                are_equal(t, &others);
            }
        }
        let chosen = b::ite(b::ult(x, y), p, low);
        assert!(!variants(chosen).is_empty());
        are_equal(chosen, &variants(chosen));
    }
    let average = b::lshr(
        b::add(b::add(b::zext(x, 16), b::zext(y, 16)), Term::bv(16, 1)),
        Term::bv(16, 1),
    );
    let and = Op::new(OpCode::BvAnd);
    let masked = Term::raw_app(and, &[average, Term::bv(16, 255)]).expect("both have 16 bits");
    assert!(variants(masked).contains(&average));
    let cut = Term::raw_app(and, &[average, Term::bv(16, 127)]).expect("both have 16 bits");
    assert!(!variants(cut).contains(&average));
}
