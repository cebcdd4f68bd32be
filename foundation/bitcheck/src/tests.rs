//! Words against the interpreter, on every input of small widths; refutations, right and wrong.

use crate::circuit::{Circuit, Cone, Lit};
use crate::products::{corners, range_of};
use crate::refutation::is_refuted;
use crate::words::Words;
use semantics::bits::Bits;
use semantics::eval::{CompiledTerms, Input};
use semantics::float::Format;
use semantics::op::{Op, OpCode, Smt};
use semantics::random::Random;
use semantics::sort::Sort;
use semantics::subst::free_vars;
use semantics::table::OPERATORS;
use semantics::term::Term;
use semantics::value::Value;
use std::collections::HashMap;

/// The constants of a sort.
fn all_of(sort: Sort) -> Vec<(Term, Value)> {
    match sort {
        Sort::Bool => [false, true]
            .map(|p| (Term::bool(p), Value::Bool(p)))
            .to_vec(),
        Sort::Bv(w) => (0..1u64 << w)
            .map(|n| Bits::from_u64(w, n))
            .map(|bits| (Term::bits(bits.clone()), Value::Bv(bits)))
            .collect(),
        Sort::Int => (0..5).map(|n| (Term::int(n), Value::Int(n))).collect(),
        Sort::Mem => Vec::new(),
    }
}

/// Every way to pick one of each.
fn choices(of: &[Vec<(Term, Value)>]) -> Vec<Vec<(Term, Value)>> {
    of.iter().fold(vec![Vec::new()], |picked, choices| {
        let more = |one: &Vec<(Term, Value)>| {
            let longer = |c: &(Term, Value)| [one.clone(), vec![c.clone()]].concat();
            choices.iter().map(longer).collect::<Vec<_>>()
        };
        picked.iter().flat_map(more).collect()
    })
}

/// How many applications of an operator to constants of these sorts were compared.
fn compare(op: Op, sorts: &[Sort]) -> usize {
    let sort = op.sort(sorts).ok().filter(|&sort| sort != Sort::Int);
    let Some(sort) = sort else { return 0 };
    let of: Vec<Vec<(Term, Value)>> = sorts.iter().map(|&s| all_of(s)).collect();
    let inputs = choices(&of);
    for input in &inputs {
        let (terms, values): (Vec<Term>, Vec<Value>) = input.iter().cloned().unzip();
        let application = Term::raw_app(op, &terms).expect("the sorts were asked for");
        let (result, width) = match op.eval(&values) {
            Value::Bv(bits) => (Term::bits(bits), sort.width().unwrap_or(1)),
            Value::Bool(truth) => (Term::bool(truth), 1),
            other => panic!("{op} gave {other:?}"),
        };
        let differ = Words::default().differ(application, result, 0, width);
        assert_eq!(differ, Ok(Lit::FALSE), "{application} is {result}");
    }
    inputs.len()
}

#[test]
fn every_operator_is_the_interpreters_on_every_input() {
    let floats = |row: &str| row.starts_with('f');
    let widths = [1, 2, 3, 4].map(Sort::Bv);
    for row in OPERATORS.iter().filter(|row| !floats(row.name)) {
        let is_open = matches!(row.smt, Smt::Uninterpreted) || row.code == OpCode::GfInverse;
        let of_indices = row.name.starts_with('i') && row.arity == Some(2) && row.name != "insert";
        let elsewhere = [
            OpCode::IntToBv,
            OpCode::BvToInt,
            OpCode::Read,
            OpCode::Write,
        ];
        if is_open || of_indices || elsewhere.contains(&row.code) {
            continue;
        }
        let mut compared = 0;
        for parameter in 0..=6 {
            let op = Op::with(row.code, parameter);
            if parameter > 0 && row.params.is_empty() {
                break;
            }
            let mut sorts = widths.to_vec();
            sorts.extend([Sort::Bool, Sort::Int]);
            for &x in sorts.iter().filter(|&&x| x != Sort::Int) {
                compared += compare(op, &[x]);
                for &y in &sorts {
                    compared += compare(op, &[x, y]);
                    let third = if row.code == OpCode::Ite {
                        y
                    } else {
                        Sort::Bv(2)
                    };
                    compared += compare(op, &[x, y, third]);
                }
            }
        }
        assert!(compared >= 2, "{} was compared {compared} times", row.name);
    }
}

/// Four clauses that cannot all be true, and the step that shows it.
fn contradiction() -> (Cone, Vec<Lit>) {
    let l = |k, negated| Lit::new(k, negated);
    let (x, y) = (l(1, false), l(2, false));
    let all = vec![vec![x, y], vec![x, !y], vec![!x, y], vec![!x, !y]];
    let cone = Cone {
        variables: 3,
        clauses: all,
    };
    (cone, vec![x])
}

#[test]
fn a_refutation_is_checked_step_by_step() {
    let (cone, step) = contradiction();
    assert!(is_refuted(&cone, std::slice::from_ref(&step)));
    assert!(!is_refuted(&cone, &[]), "nothing follows at once");
    let mut fewer = cone.clone();
    fewer.clauses.pop();
    assert!(
        !is_refuted(&fewer, std::slice::from_ref(&step)),
        "these can all be true"
    );
    assert!(
        !is_refuted(&fewer, &[vec![]]),
        "the empty clause is not believed"
    );
    let unknown = vec![Lit::new(7, false)];
    assert!(
        !is_refuted(&cone, &[unknown, step]),
        "of a variable that is not there"
    );
}

#[test]
fn gates_are_what_their_clauses_say() {
    let mut circuit = Circuit::default();
    let (x, y) = (circuit.input(), circuit.input());
    // x xor y = (x or y) and not (x and y), and one that it is not.
    let (sum, any, both) = (circuit.xor(x, y), circuit.or(x, y), circuit.and(x, y));
    let other = circuit.and(any, !both);
    let differ = circuit.xor(sum, other);
    let wrong = circuit.xor(sum, any);
    // By cases of two variables, whatever they are.
    let by_cases = |root: Lit| {
        let cone = circuit.cone(root);
        let variables = || (1..cone.variables).map(|k| Lit::new(k, false));
        let mut pairs = variables().flat_map(|p| variables().map(move |q| (p, q)));
        pairs.any(|(p, q)| {
            let cases = [vec![p, q], vec![p, !q], vec![p], vec![!p, q], vec![!p]];
            is_refuted(&cone, &cases)
        })
    };
    assert!(by_cases(differ), "four cases show it");
    assert!(!by_cases(!differ));
    assert!(!by_cases(wrong), "both may be true");
}

#[test]
fn what_is_not_known_is_a_function() {
    let (x, y) = (Term::var("x", Sort::Bv(32)), Term::var("y", Sort::Bv(32)));
    let sum = |x, y| {
        let op = Op::with2(OpCode::FAdd, 2, 0);
        Term::raw_app(op, &[x, y]).expect("both are floats")
    };
    let mut words = Words::default();
    assert_eq!(words.differ(sum(x, y), sum(x, y), 0, 32), Ok(Lit::FALSE));
    assert_ne!(words.differ(sum(x, y), sum(y, x), 0, 32), Ok(Lit::FALSE));
}

/// A word of some width, made of inputs, constants and operators at random.
fn drawn(random: &mut Random, width: u32, depth: u32) -> Term {
    use OpCode as C;
    let raw = |op, args: &[Term]| Term::raw_app(op, args).expect("all have the width");
    if depth == 0 {
        let name = *random.pick(&["x", "y", "z"]);
        return match random.below(4) {
            0 => {
                let number = random.below(1 << width);
                Term::bits(Bits::from_u64(width, number))
            }
            _ => Term::var(&format!("{name}{width}"), Sort::Bv(width)),
        };
    }
    let codes = [
        C::BvAdd,
        C::BvAdd,
        C::BvAdd,
        C::BvSub,
        C::BvMul,
        C::BvMul,
        C::BvXor,
        C::BvXor,
        C::Smin,
        C::Smax,
        C::Umin,
        C::Umax,
        C::BvNeg,
        C::Popcnt,
        C::BvNot,
        C::Zext,
        C::Sext,
        C::Extract,
        C::Elem,
        C::SatSS,
        C::SatSU,
        C::Ite,
    ];
    let code = *random.pick(&codes);
    let narrow = 1 + random.below(width.into()) as u32;
    match code {
        C::BvNeg | C::BvNot | C::Popcnt => raw(Op::new(code), &[drawn(random, width, depth - 1)]),
        C::Zext | C::Sext => {
            let inner = drawn(random, narrow, depth - 1);
            raw(Op::with(code, width), &[inner])
        }
        C::Extract => {
            let (inner, lo) = (drawn(random, width + 1, depth - 1), random.below(2));
            raw(Op::with(code, width), &[inner, Term::int(lo as i64)])
        }
        C::SatSS | C::SatSU => raw(
            Op::with(code, width),
            &[drawn(random, width + 1, depth - 1)],
        ),
        C::Elem => {
            let (from, at) = (
                drawn(random, width + 2, depth - 1),
                drawn(random, 2, depth - 1),
            );
            raw(Op::with(code, width), &[from, at])
        }
        C::Ite => {
            let [a, b, c, d] = [0; 4].map(|_| drawn(random, width, depth - 1));
            let less = *random.pick(&[C::BvSlt, C::BvUlt, C::BvSle]);
            raw(Op::new(C::Ite), &[raw(Op::new(less), &[a, b]), c, d])
        }
        _ => {
            let (a, b) = (
                drawn(random, width, depth - 1),
                drawn(random, width, depth - 1),
            );
            raw(Op::new(code), &[a, b])
        }
    }
}

/// Totals of totals are what the interpreter says they are: all terms are in one circuit, so that
/// what is remembered of one is used for the next.
#[test]
fn whatever_is_remembered_of_totals_is_so() {
    let mut random = Random::new(1);
    for _ in 0..60 {
        let mut words = Words::default();
        let terms: Vec<Term> = (0..40)
            .map(|_| {
                let (width, depth) = (1 + random.below(6) as u32, 1 + random.below(4) as u32);
                drawn(&mut random, width, depth)
            })
            .collect();
        let mut inputs: Vec<Term> = terms.iter().flat_map(|&t| free_vars(t)).collect();
        inputs.sort();
        inputs.dedup();
        let of: Vec<Vec<Lit>> = terms
            .iter()
            .map(|&t| words.word(t).expect("bits"))
            .collect();
        let names = inputs.iter().map(|v| Input {
            name: v.as_var().expect("an input").to_owned(),
            sort: v.sort(),
        });
        let program = CompiledTerms::compile(&terms, &names.collect::<Vec<_>>()).expect("it runs");
        for _ in 0..64 {
            let mut bits: HashMap<u32, bool> = HashMap::new();
            let mut values = Vec::new();
            for &input in &inputs {
                let value = Bits::from_u64(input.width(), random.below(1 << input.width()));
                let word = words.word(input).expect("bits");
                bits.extend(
                    word.iter()
                        .enumerate()
                        .map(|(k, l)| (l.variable(), value.bit(k as u32))),
                );
                values.push(Value::Bv(value));
            }
            let gates = words
                .circuit
                .values(&|variable| bits.get(&variable).map_or(0, |&b| u64::from(b)));
            for ((found, word), term) in program.run(&values).iter().zip(&of).zip(&terms) {
                let Value::Bv(found) = found else {
                    panic!("{term} has no bits")
                };
                for (k, l) in word.iter().enumerate() {
                    let is = gates[l.variable() as usize] & 1 == 1;
                    assert_eq!(
                        is != l.is_negated(),
                        found.bit(k as u32),
                        "bit {k} of {term} for {values:?}"
                    );
                }
            }
        }
    }
}

fn two(code: OpCode, a: Term, b: Term) -> Term {
    Term::raw_app(Op::new(code), &[a, b]).expect("both have one width")
}

fn to(code: OpCode, width: u32, a: Term) -> Term {
    Term::raw_app(Op::with(code, width), &[a]).expect("it has no more bits")
}

/// In a tree, and one after the other with something before that does not matter.
fn grouped(code: OpCode, width: u32, neutral: Bits) -> [Term; 2] {
    let all = (0..8).map(|k| Term::var(&format!("x{k}"), Sort::Bv(width)));
    let all: Vec<Term> = all.collect();
    let turned = all.iter().rev();
    let chain = turned.fold(Term::bits(neutral), |sum, &x| two(code, sum, x));
    let mut level = all;
    while level.len() > 1 {
        let half = level.len() / 2;
        level = (0..half)
            .map(|k| two(code, level[k], level[k + half]))
            .collect();
    }
    [chain, level[0]]
}

fn differ(a: Term, b: Term) -> Lit {
    let mut words = Words::default();
    words.differ(a, b, 0, a.width()).expect("bits")
}

#[test]
fn a_difference_of_sums_is_one_sum_however_it_is_taken() {
    for factors in [[1, 1, 1, 1], [2, 2, 2, 2], [2, 4, 4, 2], [3, 6, 1, 12]] {
        difference_of_sums(factors);
    }
}

/// Of bytes times these numbers.
fn difference_of_sums(factors: [i128; 4]) {
    use OpCode as C;
    let bytes = ["a", "b", "c", "d"].map(|name| to(C::Zext, 16, Term::var(name, Sort::Bv(8))));
    let part = |k: usize| two(C::BvMul, bytes[k], Term::bv(16, factors[k]));
    let [a, b, c, d] = [0, 1, 2, 3].map(part);
    let (left, right) = (two(C::BvAdd, a, b), two(C::BvAdd, c, d));
    let whole = two(C::BvSub, left, right);
    let each = two(C::BvAdd, two(C::BvSub, a, d), two(C::BvSub, b, c));
    assert_eq!(differ(whole, each), Lit::FALSE);
    let other = two(C::BvAdd, two(C::BvSub, a, d), two(C::BvSub, c, b));
    assert_ne!(differ(whole, other), Lit::FALSE);
    // What is greater is taken less what is not, or the sign of the difference is.
    let turned = two(C::BvSub, right, left);
    let choice = |is_less| {
        Term::raw_app(Op::new(C::Ite), &[is_less, turned, whole]).expect("words of one width")
    };
    let magnitude = Term::raw_app(Op::new(C::Abs), &[whole]).expect("a word");
    assert_eq!(
        differ(choice(two(C::BvUlt, left, right)), magnitude),
        Lit::FALSE
    );
    assert_eq!(
        differ(choice(two(C::BvSlt, left, right)), magnitude),
        Lit::FALSE
    );
    assert_ne!(
        differ(choice(two(C::BvUlt, right, left)), magnitude),
        Lit::FALSE
    );
    // The same of one bit more, of which the lower ones are taken.
    let wide = two(C::BvSub, to(C::Zext, 17, left), to(C::Zext, 17, right));
    let wide = Term::raw_app(Op::new(C::Abs), &[wide]).expect("a word");
    let cut = Term::raw_app(Op::with(C::Extract, 16), &[wide, Term::int(0)]).expect("it has them");
    assert_eq!(
        differ(choice(two(C::BvUlt, left, right)), cut),
        Lit::FALSE,
        "{factors:?}"
    );
}

/// What doubles its parts again and again, and products of zeros and ones, have few parts all the same.
#[test]
fn what_is_doubled_over_and_over_ends() {
    let x = Term::var("x", Sort::Bv(8));
    for start in [x, Term::bv(8, 0), Term::bv(8, 1), Term::bv(8, 3)] {
        for code in [OpCode::BvAdd, OpCode::BvMul, OpCode::BvXor, OpCode::Smax] {
            let doubled = |times| (0..times).fold(start, |t, _| two(code, t, t));
            let other = two(code, doubled(100), two(code, doubled(99), doubled(99)));
            let again = two(code, doubled(100), doubled(100));
            let mut words = Words::default();
            let differ = words.differ(other, again, 0, 8).expect("bits");
            assert_eq!(
                words.circuit.is_ever(differ),
                Some(false),
                "{code:?} of {start}"
            );
        }
    }
    let scaled = |by: &[i128]| {
        let by = by.iter().map(|&by| Term::bv(8, by));
        by.fold(x, |t, by| two(OpCode::BvMul, t, by))
    };
    assert_eq!(differ(scaled(&[3, 1, 5]), scaled(&[15])), Lit::FALSE);
    assert_eq!(differ(scaled(&[16, 16]), Term::bv(8, 0)), Lit::FALSE);
    assert_ne!(differ(scaled(&[3, 5]), scaled(&[14])), Lit::FALSE);
}

#[test]
fn what_is_added_to_upper_bits_is_added_to_all_of_a_sum() {
    use OpCode as C;
    let [x, y] = ["x", "y"].map(|name| to(C::Zext, 16, Term::var(name, Sort::Bv(8))));
    let sum = |parts: &[Term]| {
        let sum = parts.iter().copied();
        sum.reduce(|sum, t| two(C::BvAdd, sum, t)).expect("parts")
    };
    let upper = |width, t, lo| {
        Term::raw_app(Op::with(C::Extract, width), &[t, Term::int(lo)]).expect("upper bits")
    };
    // `(x + y + 8) >> 4`, the constant in two parts, and by what is left when three bits are gone.
    let [two_of, six] = [2, 6].map(|number| Term::bv(16, number));
    let whole = upper(8, sum(&[two_of, x, six, y]), 4);
    let rounded = |by| {
        let most = upper(9, sum(&[x, y]), 3);
        upper(8, sum(&[most, Term::bv(9, by)]), 1)
    };
    assert_eq!(differ(whole, rounded(1)), Lit::FALSE);
    assert_ne!(differ(whole, rounded(2)), Lit::FALSE);
    let gone = sum(&[x, Term::bv(16, 9), y, Term::bv(16, -9)]);
    assert_eq!(differ(gone, sum(&[x, y])), Lit::FALSE);
}

#[test]
fn what_is_doubled_is_added_and_multiplied_as_what_it_was() {
    use OpCode as C;
    let [x, y] = ["x", "y"].map(|name| to(C::Sext, 32, Term::var(name, Sort::Bv(16))));
    let up = |t, by| two(C::BvShl, t, Term::bv(32, by));
    // Sums of what is doubled are doubled sums.
    let sum = two(C::BvAdd, x, y);
    assert_eq!(
        differ(two(C::BvAdd, up(x, 1), up(y, 1)), up(sum, 1)),
        Lit::FALSE
    );
    assert_ne!(differ(two(C::BvAdd, up(x, 1), y), up(sum, 1)), Lit::FALSE);
    // Products of what is doubled are doubled products, and their sums the doubled sums.
    let product = two(C::BvMul, x, y);
    assert_eq!(
        differ(two(C::BvMul, up(x, 1), up(y, 2)), up(product, 3)),
        Lit::FALSE
    );
    assert_ne!(
        differ(two(C::BvMul, up(x, 1), up(y, 1)), up(product, 3)),
        Lit::FALSE
    );
    let square = two(C::BvMul, x, x);
    let sum = two(C::BvAdd, product, square);
    let parts = [
        two(C::BvMul, x, up(y, 4)),
        two(C::BvMul, up(x, 2), up(x, 2)),
    ];
    assert_eq!(
        differ(two(C::BvAdd, parts[0], parts[1]), up(sum, 4)),
        Lit::FALSE
    );
    // At another width, too: the upper half of a doubled product and a rounding constant.
    let rounded = |width, times, by, lo| {
        let [x, y] = ["x", "y"].map(|name| to(C::Sext, width, Term::var(name, Sort::Bv(16))));
        let product = two(C::BvMul, x, y);
        let product = two(C::BvShl, product, Term::bv(width, times));
        let whole = two(C::BvAdd, product, Term::bv(width, by));
        Term::raw_app(Op::with(C::Extract, 16), &[whole, Term::int(lo)]).expect("upper bits")
    };
    let plain = rounded(32, 0, 1 << 14, 15);
    assert_eq!(differ(rounded(48, 1, 1 << 15, 16), plain), Lit::FALSE);
    assert_ne!(differ(rounded(48, 1, 1 << 14, 16), plain), Lit::FALSE);
}

#[test]
fn order_grouping_and_width_make_no_other_circuit() {
    use OpCode as C;
    let (zero, one, ones) = (Bits::zero(64), Bits::one(64), Bits::ones(64));
    let top = Bits::zero(64).with_bit(63, true);
    let all = [
        (C::BvAdd, zero.clone()),
        (C::BvMul, one),
        (C::BvXor, zero.clone()),
        (C::Umax, zero),
        (C::Umin, ones),
        (C::Smax, top.clone()),
        (C::Smin, top.not()),
    ];
    for (code, neutral) in all {
        let [chain, tree] = grouped(code, 64, neutral.clone());
        assert_eq!(differ(chain, tree), Lit::FALSE, "{code:?}");
        let [other, _] = grouped(code, 64, Bits::from_u64(64, 6));
        assert_ne!(differ(other, tree), Lit::FALSE, "{code:?}");
    }
    let (x, y) = (Term::var("x", Sort::Bv(8)), Term::var("y", Sort::Bv(8)));
    let product = |width| two(C::BvMul, to(C::Zext, width, x), to(C::Sext, width, y));
    let cut = |width| to(C::Sext, 40, product(width));
    assert_eq!(differ(cut(16), product(40)), Lit::FALSE);
    assert_ne!(differ(cut(15), product(40)), Lit::FALSE);
    // Three products of bytes fit 17 bits, as no three numbers of 16 bits do.
    let three = |width| {
        let products = [(x, x), (x, y), (y, y)];
        let products = products.map(|(x, y)| {
            let of = |t| to(C::Sext, 16, t);
            to(C::Sext, width, two(C::BvMul, of(x), of(y)))
        });
        let sum = products.into_iter().reduce(|sum, t| two(C::BvAdd, sum, t));
        to(C::Sext, 32, sum.expect("three"))
    };
    assert_eq!(differ(three(17), three(32)), Lit::FALSE);
    assert_ne!(differ(three(16), three(32)), Lit::FALSE);
    // Sums of bits, as narrow as they may be, and one bit too narrow.
    let bit = |k: i64| Term::raw_app(Op::with(C::Extract, 1), &[x, Term::int(k)]).expect("a bit");
    let count = |width| {
        let bits = (0..8).map(|k| to(C::Zext, width, bit(k)));
        bits.reduce(|sum, bit| two(C::BvAdd, sum, bit))
            .expect("eight")
    };
    let wide = |width| to(C::Zext, 32, count(width));
    assert_eq!(differ(wide(4), count(32)), Lit::FALSE);
    assert_ne!(differ(wide(3), count(32)), Lit::FALSE);
    let saturated = |width| {
        to(
            C::SatSS,
            16,
            two(C::BvAdd, squared(width, x), squared(width, y)),
        )
    };
    assert_eq!(differ(saturated(17), saturated(60)), Lit::FALSE);
}

fn squared(width: u32, x: Term) -> Term {
    two(
        OpCode::BvMul,
        to(OpCode::Sext, width, x),
        to(OpCode::Sext, width, x),
    )
}

#[test]
fn ends_of_products_are_where_they_are_said_to_be() {
    let ranges = |top: i128| (-top..=top).flat_map(move |lo| (lo..=top).map(move |hi| (lo, hi)));
    let (mut unique, mut all) = (0, 0);
    for a in ranges(4) {
        for b in ranges(4) {
            let pairs = (a.0..=a.1).flat_map(|x| (b.0..=b.1).map(move |y| [x, y]));
            let pairs: Vec<[i128; 2]> = pairs.collect();
            let of = |p: &[i128; 2]| p[0] * p[1];
            let (lo, hi) = range_of([a, b]).expect("small numbers");
            assert!(
                pairs.iter().map(of).min() == Some(lo) && pairs.iter().map(of).max() == Some(hi)
            );
            for corner in corners([a, b]).expect("small numbers") {
                let (at, others): (Vec<_>, Vec<_>) =
                    pairs.iter().partition(|pair| of(pair) == corner.end);
                assert_eq!(at, [&corner.pair], "{a:?} {b:?}");
                let beyond = |p: &&[i128; 2]| match corner.end == hi {
                    true => of(p) > corner.next,
                    false => of(p) < corner.next,
                };
                assert!(!others.iter().any(beyond), "{a:?} {b:?} {corner:?}");
                unique += 1;
            }
            all += 1;
        }
    }
    assert!(unique > 500 && all == 45 * 45, "{unique} of {all}");
}

/// A product as if its bits were any: what is known of it leaves its values, and no others at its
/// ends.
#[test]
fn a_product_that_is_only_bounded_still_has_all_its_values() {
    let (x, y) = (Term::var("x", Sort::Bv(3)), Term::var("y", Sort::Bv(3)));
    let product = two(
        OpCode::BvMul,
        to(OpCode::Sext, 6, x),
        to(OpCode::Sext, 6, y),
    );
    for value in -32..32i128 {
        let mut words = Words::default();
        let other = two(OpCode::Eq, product, Term::bv(6, value));
        let zero = Term::bool(false);
        let differ = words.differ(other, zero, 0, 1).expect("bits");
        let cone = words.cone_of_products(differ, false).expect("a product");
        let has = (-4..4).any(|a| (-4..4).any(|b| a * b == value));
        let most = (-12..=12).contains(&value) || value == 16;
        assert_eq!(satisfiable(&cone), most, "{value}");
        assert!(most || !has, "{value}");
    }
}

/// Whether clauses can all be true, by trying each variable in turn.
fn satisfiable(cone: &Cone) -> bool {
    fn search(clauses: &[Vec<Lit>], values: &mut Vec<Option<bool>>) -> bool {
        let of = |l: Lit, values: &[Option<bool>]| {
            values[l.variable() as usize].map(|v| v != l.is_negated())
        };
        let mut set = Vec::new();
        loop {
            let mut next = None;
            for clause in clauses {
                if clause.iter().any(|&l| of(l, values) == Some(true)) {
                    continue;
                }
                let mut open = clause.iter().filter(|&&l| of(l, values).is_none());
                match (open.next(), open.next()) {
                    (None, _) => {
                        set.into_iter().for_each(|v: usize| values[v] = None);
                        return false;
                    }
                    (Some(&l), None) => next = Some(l),
                    _ => {}
                }
            }
            let Some(l) = next else { break };
            values[l.variable() as usize] = Some(!l.is_negated());
            set.push(l.variable() as usize);
        }
        let Some(free) = values.iter().position(Option::is_none) else {
            return true;
        };
        for truth in [false, true] {
            values[free] = Some(truth);
            if search(clauses, values) {
                return true;
            }
        }
        values[free] = None;
        set.into_iter().for_each(|v| values[v] = None);
        false
    }
    let mut values = vec![None; cone.variables as usize];
    // Variable 0 is false, which a clause says of it.
    search(&cone.clauses, &mut values)
}

/// Patterns at which floats turn: zeros, subnormals, infinities, both kinds of NaN, and some more.
fn patterns(format: Format, random: &mut Random) -> Vec<Bits> {
    let (w, infinity) = (format.width(), format.infinity());
    let quiet = 1u64 << (format.fraction() - 1);
    let sizes = [
        0,
        1,
        1 << format.fraction(),
        infinity - 1,
        infinity,
        infinity + 1,
    ];
    let sizes = sizes
        .into_iter()
        .chain([infinity | quiet, infinity | quiet | 1]);
    let signs = sizes.flat_map(|size| [size, size | 1 << (w - 1)]);
    let mut all: Vec<Bits> = signs.map(|pattern| Bits::from_u64(w, pattern)).collect();
    all.extend((0..6).map(|_| random.bits(w)));
    all
}

#[test]
fn floats_compare_and_are_of_classes_as_the_interpreter_has_them() {
    use OpCode as C;
    let mut random = Random::new(7);
    let mut compared = 0;
    for format in Format::ALL {
        let floats = patterns(format, &mut random);
        for code in [
            C::FUnord,
            C::FEq,
            C::FLt,
            C::FLe,
            C::FMin,
            C::FMax,
            C::FClass,
        ] {
            let op = Op::with(code, format.code());
            let second = match code {
                C::FClass => (0..8).map(|k| Bits::from_u64(8, 1 << k)).collect(),
                _ => floats.clone(),
            };
            for (a, b) in floats
                .iter()
                .flat_map(|a| second.iter().map(move |b| (a, b)))
            {
                let terms = [a, b].map(|bits| Term::bits(bits.clone()));
                let application = Term::raw_app(op, &terms).expect("two floats");
                let (result, width) = match op.eval(&[a, b].map(|b| Value::Bv(b.clone()))) {
                    Value::Bv(bits) => (Term::bits(bits), format.width()),
                    Value::Bool(truth) => (Term::bool(truth), 1),
                    other => panic!("{op} gave {other:?}"),
                };
                let differ = Words::default().differ(application, result, 0, width);
                assert_eq!(differ, Ok(Lit::FALSE), "{application} is {result}");
                compared += 1;
            }
        }
    }
    assert!(compared > 10_000, "{compared}");
}

/// Whether a number is ever the value of a word, as the gates say and as the interpreter does.
#[test]
fn what_is_tried_on_every_input_is_tried_on_every_input() {
    let mut random = Random::new(7);
    let (mut yes, mut no) = (0, 0);
    for _ in 0..600 {
        let (width, depth) = (1 + random.below(4) as u32, 1 + random.below(4) as u32);
        let term = drawn(&mut random, width, depth);
        let number = Bits::from_u64(width, random.below(1 << width));
        let inputs = free_vars(term);
        let all: u32 = inputs.iter().map(|v| v.width()).sum();
        if all > 12 {
            continue;
        }
        let names = inputs.iter().map(|v| Input {
            name: v.as_var().expect("an input").to_owned(),
            sort: v.sort(),
        });
        let program = CompiledTerms::compile(&[term], &names.collect::<Vec<_>>()).expect("it runs");
        let is_value = |input: u64| {
            let mut from = 0;
            let values = inputs.iter().map(|v| {
                let bits = Bits::from_u64(v.width(), input >> from & ((1 << v.width()) - 1));
                from += v.width();
                Value::Bv(bits)
            });
            program.run(&values.collect::<Vec<_>>()) == [Value::Bv(number.clone())]
        };
        let is_ever = (0..1u64 << all).any(is_value);
        let mut words = Words::default();
        let differ = words.differ(term, Term::bits(number.clone()), 0, width);
        let differ = differ.expect("it has bits");
        let found = words.circuit.is_ever(!differ);
        assert_eq!(found, Some(is_ever), "{term} is {number}");
        *if is_ever { &mut yes } else { &mut no } += 1;
    }
    assert!(yes > 50 && no > 50, "{yes} {no}");
    let mut words = Words::default();
    let wide = |name: &str| Term::var(name, Sort::Bv(64));
    let product = two(OpCode::BvMul, wide("x"), wide("y"));
    let differ = words.differ(product, wide("z"), 0, 64).expect("bits");
    assert_eq!(words.circuit.is_ever(differ), None, "too many");
}

/// What is cut off may be anything, but the same thing wherever it is.
#[test]
fn above_a_cut_words_are_any() {
    let var = |name: &str, width| Term::var(name, Sort::Bv(width));
    let sum = two(OpCode::BvAdd, var("x", 16), var("y", 16));
    let turned = two(OpCode::BvAdd, var("y", 16), var("x", 16));
    let more = two(OpCode::BvAdd, turned, Term::bits(Bits::from_u64(16, 1)));
    let complement = |x: Term| Term::raw_app(Op::new(OpCode::BvNot), &[x]).expect("a word");
    let three = Term::bits(Bits::from_u64(16, 3));
    let mut words = Words::default();
    let mut is_ever = |a: Term, b: Term| {
        let all = [a, b, sum, turned, more, to(OpCode::Zext, 32, turned)];
        let mut above = words.above(&[sum], &all).expect("all have bits");
        let differ = above.differ(a, b, 0, a.width()).expect("all have bits");
        above.circuit.is_ever(differ)
    };
    let quotient = two(OpCode::BvUdiv, sum, three);
    assert_eq!(
        is_ever(quotient, two(OpCode::BvUdiv, turned, three)),
        Some(false)
    );
    assert_eq!(is_ever(sum, turned), Some(false));
    assert_eq!(is_ever(complement(sum), turned), Some(true));
    // By a product, of what has more bits.
    let by_product = |factor: u64| {
        let factor = Term::bits(Bits::from_u64(32, factor));
        let product = two(OpCode::BvMul, to(OpCode::Zext, 32, turned), factor);
        let upper = Term::raw_app(Op::with(OpCode::Extract, 16), &[product, Term::int(16)]);
        let one = Term::bits(Bits::from_u64(16, 1));
        two(OpCode::BvLshr, upper.expect("bits of a word"), one)
    };
    assert_eq!(is_ever(quotient, by_product(0xaaab)), Some(false));
    assert_eq!(is_ever(quotient, by_product(0xaaaa)), Some(true));
    // Something else than what is cut off is another word.
    assert_eq!(
        is_ever(quotient, two(OpCode::BvUdiv, more, three)),
        Some(true)
    );
}
