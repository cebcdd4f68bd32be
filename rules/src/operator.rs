//! The operators that rules speak of: what machines do to elements.
//!
//! In: a width, operands. Out: for each operator its result as a number, which is quick, and as a term,
//! which is what it means; a test holds one against the other.

use semantics::bits::Bits;
use semantics::build as b;
use semantics::term::Term;

/// What an operand or a result is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sort {
    /// An element.
    Element,
    /// A truth value.
    Truth,
}

/// A row of [`OPERATORS`].
pub struct Operator {
    /// What it is called.
    pub name: &'static str,
    /// What it takes.
    pub takes: &'static [Sort],
    /// What it gives.
    pub gives: Sort,
    /// Whether its operands may be exchanged.
    pub commutes: bool,
    /// Its result in elements of so many bits; truth values are 0 and 1.
    pub value: fn(u32, &[u64]) -> u64,
    /// What it means.
    pub term: fn(&[Term]) -> Term,
}

const ONE: &[Sort] = &[Sort::Element];
const TWO: &[Sort] = &[Sort::Element, Sort::Element];
const CHOICE: &[Sort] = &[Sort::Truth, Sort::Element, Sort::Element];

const fn row(
    name: &'static str,
    takes: &'static [Sort],
    commutes: bool,
    value: fn(u32, &[u64]) -> u64,
    term: fn(&[Term]) -> Term,
) -> Operator {
    Operator {
        name,
        takes,
        gives: Sort::Element,
        commutes,
        value,
        term,
    }
}

const fn test(
    name: &'static str,
    commutes: bool,
    value: fn(u32, &[u64]) -> u64,
    term: fn(&[Term]) -> Term,
) -> Operator {
    Operator {
        name,
        takes: TWO,
        gives: Sort::Truth,
        commutes,
        value,
        term,
    }
}

/// All of them.
pub static OPERATORS: &[Operator] = &[
    row("not", ONE, false, |w, x| !x[0] & ones(w), |x| b::not(x[0])),
    row(
        "neg",
        ONE,
        false,
        |w, x| x[0].wrapping_neg() & ones(w),
        |x| b::neg(x[0]),
    ),
    row(
        "abs",
        ONE,
        false,
        |w, x| signed(w, x[0]).unsigned_abs() & ones(w),
        |x| b::abs(x[0]),
    ),
    row(
        "half_u",
        ONE,
        false,
        |_, x| x[0] >> 1,
        |x| b::lshr(x[0], count(x[0], 1)),
    ),
    row(
        "half_s",
        ONE,
        false,
        |w, x| cut(w, signed(w, x[0]) >> 1),
        |x| b::ashr(x[0], count(x[0], 1)),
    ),
    row(
        "sign",
        ONE,
        false,
        |w, x| cut(w, signed(w, x[0]) >> (w - 1)),
        |x| b::ashr(x[0], count(x[0], x[0].width() - 1)),
    ),
    row(
        "top",
        ONE,
        false,
        |w, x| x[0] >> (w - 1),
        |x| b::lshr(x[0], count(x[0], x[0].width() - 1)),
    ),
    row(
        "add",
        TWO,
        true,
        |w, x| x[0].wrapping_add(x[1]) & ones(w),
        |x| b::add(x[0], x[1]),
    ),
    row(
        "sub",
        TWO,
        false,
        |w, x| x[0].wrapping_sub(x[1]) & ones(w),
        |x| b::sub(x[0], x[1]),
    ),
    row("and", TWO, true, |_, x| x[0] & x[1], |x| b::and(x[0], x[1])),
    row("or", TWO, true, |_, x| x[0] | x[1], |x| b::or(x[0], x[1])),
    row("xor", TWO, true, |_, x| x[0] ^ x[1], |x| b::xor(x[0], x[1])),
    row(
        "andnot",
        TWO,
        false,
        |_, x| x[0] & !x[1],
        |x| b::and(x[0], b::not(x[1])),
    ),
    row(
        "umin",
        TWO,
        true,
        |_, x| x[0].min(x[1]),
        |x| b::umin(x[0], x[1]),
    ),
    row(
        "umax",
        TWO,
        true,
        |_, x| x[0].max(x[1]),
        |x| b::umax(x[0], x[1]),
    ),
    row(
        "smin",
        TWO,
        true,
        |w, x| if less(w, x) { x[0] } else { x[1] },
        |x| b::smin(x[0], x[1]),
    ),
    row(
        "smax",
        TWO,
        true,
        |w, x| if less(w, x) { x[1] } else { x[0] },
        |x| b::smax(x[0], x[1]),
    ),
    row(
        "sat_add_u",
        TWO,
        true,
        |w, x| (x[0] + x[1]).min(ones(w)),
        |x| b::sat_uu(b::add(wide(x[0], false), wide(x[1], false)), x[0].width()),
    ),
    row(
        "sat_sub_u",
        TWO,
        false,
        |_, x| x[0].saturating_sub(x[1]),
        |x| b::sat_su(b::sub(wide(x[0], false), wide(x[1], false)), x[0].width()),
    ),
    row(
        "sat_add_s",
        TWO,
        true,
        |w, x| clamped(w, signed(w, x[0]) + signed(w, x[1])),
        |x| b::sat_ss(b::add(wide(x[0], true), wide(x[1], true)), x[0].width()),
    ),
    row(
        "sat_sub_s",
        TWO,
        false,
        |w, x| clamped(w, signed(w, x[0]) - signed(w, x[1])),
        |x| b::sat_ss(b::sub(wide(x[0], true), wide(x[1], true)), x[0].width()),
    ),
    row(
        "avg_u",
        TWO,
        true,
        |_, x| (x[0] + x[1] + 1) >> 1,
        |x| average(x, false, true),
    ),
    row(
        "avg_floor_u",
        TWO,
        true,
        |_, x| (x[0] + x[1]) >> 1,
        |x| average(x, false, false),
    ),
    row(
        "avg_s",
        TWO,
        true,
        |w, x| cut(w, (signed(w, x[0]) + signed(w, x[1]) + 1) >> 1),
        |x| average(x, true, true),
    ),
    row(
        "avg_floor_s",
        TWO,
        true,
        |w, x| cut(w, (signed(w, x[0]) + signed(w, x[1])) >> 1),
        |x| average(x, true, false),
    ),
    row(
        "absd_u",
        TWO,
        true,
        |_, x| x[0].abs_diff(x[1]),
        |x| apart(x, b::ult(x[0], x[1])),
    ),
    row(
        "absd_s",
        TWO,
        true,
        |w, x| signed(w, x[0]).abs_diff(signed(w, x[1])),
        |x| apart(x, b::slt(x[0], x[1])),
    ),
    row(
        "mask_eq",
        TWO,
        true,
        |w, x| mask(w, x[0] == x[1]),
        |x| masked(b::eq(x[0], x[1]), x[0]),
    ),
    row(
        "mask_ult",
        TWO,
        false,
        |w, x| mask(w, x[0] < x[1]),
        |x| masked(b::ult(x[0], x[1]), x[0]),
    ),
    row(
        "mask_slt",
        TWO,
        false,
        |w, x| mask(w, less(w, x)),
        |x| masked(b::slt(x[0], x[1]), x[0]),
    ),
    test(
        "eq",
        true,
        |_, x| u64::from(x[0] == x[1]),
        |x| b::eq(x[0], x[1]),
    ),
    test(
        "ult",
        false,
        |_, x| u64::from(x[0] < x[1]),
        |x| b::ult(x[0], x[1]),
    ),
    test(
        "ule",
        false,
        |_, x| u64::from(x[0] <= x[1]),
        |x| b::ule(x[0], x[1]),
    ),
    test(
        "slt",
        false,
        |w, x| u64::from(less(w, x)),
        |x| b::slt(x[0], x[1]),
    ),
    test(
        "sle",
        false,
        |w, x| u64::from(signed(w, x[0]) <= signed(w, x[1])),
        |x| b::sle(x[0], x[1]),
    ),
    row(
        "select",
        CHOICE,
        false,
        |_, x| if x[0] == 1 { x[1] } else { x[2] },
        |x| b::ite(x[0], x[1], x[2]),
    ),
];

/// The number of an operator.
pub fn named(name: &str) -> Option<usize> {
    OPERATORS.iter().position(|o| o.name == name)
}

/// All bits of an element.
pub fn ones(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

fn signed(width: u32, x: u64) -> i64 {
    (x << (64 - width)) as i64 >> (64 - width)
}

fn cut(width: u32, x: i64) -> u64 {
    x as u64 & ones(width)
}

fn less(width: u32, x: &[u64]) -> bool {
    signed(width, x[0]) < signed(width, x[1])
}

fn clamped(width: u32, x: i64) -> u64 {
    let end = 1i64 << (width - 1);
    cut(width, x.clamp(-end, end - 1))
}

fn mask(width: u32, holds: bool) -> u64 {
    if holds { ones(width) } else { 0 }
}

fn count(like: Term, n: u32) -> Term {
    Term::bv(like.width(), n.into())
}

/// A value with one bit more.
fn wide(x: Term, signed: bool) -> Term {
    match signed {
        true => b::sext(x, x.width() + 1),
        false => b::zext(x, x.width() + 1),
    }
}

fn average(x: &[Term], signed: bool, up: bool) -> Term {
    let sum = b::add(wide(x[0], signed), wide(x[1], signed));
    let sum = match up {
        true => b::add(sum, count(sum, 1)),
        false => sum,
    };
    b::extract(sum, 1, x[0].width())
}

fn apart(x: &[Term], less: Term) -> Term {
    b::ite(less, b::sub(x[1], x[0]), b::sub(x[0], x[1]))
}

fn masked(holds: Term, like: Term) -> Term {
    let w = like.width();
    b::ite(holds, Term::bits(Bits::ones(w)), Term::bits(Bits::zero(w)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use semantics::eval::{CompiledTerms, Input};
    use semantics::sort::Sort as TermSort;

    #[test]
    fn numbers_are_what_terms_mean() {
        for operator in OPERATORS {
            for w in [2, 5] {
                let sorts = operator.takes.iter().map(|sort| match sort {
                    Sort::Element => TermSort::Bv(w),
                    Sort::Truth => TermSort::Bool,
                });
                let inputs = sorts.enumerate().map(|(k, sort)| Input {
                    name: format!("x{k}"),
                    sort,
                });
                let inputs: Vec<Input> = inputs.collect();
                let bits = |input: &Input| input.sort.width().unwrap_or(1);
                let all: u32 = inputs.iter().map(bits).sum();
                let variables: Vec<Term> =
                    inputs.iter().map(|i| Term::var(&i.name, i.sort)).collect();
                let term = (operator.term)(&variables);
                let program =
                    CompiledTerms::compile(&[term], &inputs).expect("a term over its variables");
                let mut frame = program.frame(1 << all);
                let (mut values, mut lo) = (Vec::new(), 0);
                for (k, input) in inputs.iter().enumerate() {
                    let own: Vec<u64> = (0..1u64 << all)
                        .map(|t| t >> lo & ones(bits(input)))
                        .collect();
                    program.input_words(&mut frame, k).copy_from_slice(&own);
                    values.push(own);
                    lo += bits(input);
                }
                program.execute(&mut frame);
                for (t, &word) in program.output_words(&frame, 0).iter().enumerate() {
                    let x: Vec<u64> = values.iter().map(|own| own[t]).collect();
                    assert_eq!(
                        (operator.value)(w, &x),
                        word,
                        "{} of {x:?} at {w}",
                        operator.name
                    );
                }
            }
        }
    }
}
