//! The named rewrites of canonicalisation.
//!
//! In: flat terms. Out: equal terms in which one meaning is written one way. Every rule has
//! a name, looks at one node, and is held to its meaning by a test. Rules that only shorten
//! belong to [`semantics::build`], which has made these terms; the order of sums and
//! products is found where elements are written as words.

use semantics::bits::Bits;
use semantics::build as b;
use semantics::op::OpCode;
use semantics::range;
use semantics::subst::rebuild;
use semantics::term::Term;
use smt::normalise::order::extreme;
use std::collections::HashMap;

/// A rewrite: an equal term, when it applies.
pub type Rule = fn(Term) -> Option<Term>;

/// The rules by name, in the order in which they are tried.
pub const RULES: &[(&str, Rule)] = &[
    ("not_less_is_at_most", not_less),
    ("choice_by_at_most", choice_by_at_most),
    ("choice_is_minimum", extreme),
    ("choice_is_absolute", choice_is_absolute),
    ("choice_of_bit_is_extension", choice_of_bit),
    ("extension_over_arithmetic", extension_over_arithmetic),
    ("complement_of_choice", complement_of_choice),
    ("compared_complement", compared_complement),
    ("bit_is_zero", bit_is_zero),
    ("extension_of_count", extension_of_count),
    ("choices_of_one_constant", choices_of_one_constant),
];

/// Rules that look at a whole chain: tried from the root down, before the parts of the
/// chain are looked at.
pub const CHAIN_RULES: &[(&str, Rule)] = &[("chain_counts_zeros", chain_counts_zeros)];

/// Applies the rules from the leaves up until none applies.
#[derive(Default)]
pub struct Rewriter {
    done: HashMap<Term, Term>,
}

impl Rewriter {
    /// The term after all rewrites.
    pub fn rewrite(&mut self, t: Term) -> Term {
        if let Some(&known) = self.done.get(&t) {
            return known;
        }
        let whole = CHAIN_RULES.iter().find_map(|(_, rule)| rule(t));
        let mut out = rebuild(whole.unwrap_or(t), |child, _| self.rewrite(child));
        // A rule may make new subterms to which rules apply.
        if let Some(next) = RULES.iter().find_map(|(_, rule)| rule(out)) {
            out = self.rewrite(next);
        }
        self.done.insert(t, out);
        out
    }
}

/// Choices by bits that are shorter are no count.
const LEAST_CHAIN: usize = 8;

/// `x[n-1] ? c : x[n-2] ? c+1 : …`, or from the lowest bit up, is `c` plus the number of
/// zeros before the first one; what is chosen when there is none may be anything.
fn chain_counts_zeros(t: Term) -> Option<Term> {
    let mut links: Vec<(u32, Term)> = Vec::new();
    let (mut source, mut at) = (None, t);
    while let Some(args) = at.args_of(OpCode::Ite) {
        let condition = args[0].args_of(OpCode::Eq)?;
        let clear = condition[0].args_of(OpCode::BvNot).map(|not| not[0]);
        let part = clear.unwrap_or(condition[0]).args_of(OpCode::Extract)?;
        let one = condition[1].as_bits()?;
        let (value, rest) = match clear {
            None => (args[1], args[2]),
            Some(_) => (args[2], args[1]),
        };
        let same = *source.get_or_insert(part[0]) == part[0];
        if !same || one.width() != 1 || one.is_zero() {
            return None;
        }
        links.push((u32::try_from(part[1].as_int()?).ok()?, value));
        at = rest;
    }
    let n = u32::try_from(links.len()).ok()?;
    if links.len() < LEAST_CHAIN || at.as_bits().is_none() {
        return None;
    }
    let (first, second) = (links[0], links[1]);
    let down = second.0 < first.0;
    let start = first.1.as_bits()?;
    let step = second.1.as_bits()?.sub(start);
    let up = step == Bits::one(t.width());
    if !up && step != Bits::ones(t.width()) {
        return None;
    }
    let mut want = start.clone();
    for (k, (position, value)) in (0..n).zip(&links) {
        let place = if down {
            first.0.checked_sub(k)
        } else {
            first.0.checked_add(k)
        };
        if place != Some(*position) || *value.as_bits()? != want {
            return None;
        }
        want = want.add(&step);
    }
    let x = b::extract(source?, first.0.min(links.last()?.0), n);
    let zeros = if down { b::clz(x) } else { b::ctz(x) };
    // Fewer than n zeros fit the width of x; so many that are one less than n have to fit
    // the width of the result.
    let zeros = b::extract(b::zext(zeros, n.max(t.width())), 0, t.width());
    let counted = if up {
        b::add(zeros, Term::bits(start.clone()))
    } else {
        b::sub(Term::bits(start.clone()), zeros)
    };
    let fits = t.width() >= 32 || n < 1 << t.width();
    if fits && at.as_bits() == Some(&want) {
        return Some(counted);
    }
    Some(b::ite(b::eq(x, b::zero(n)), at, counted))
}

/// `not (a < b)` is `b <= a`, and `not (a <= b)` is `b < a`.
fn not_less(t: Term) -> Option<Term> {
    let inner = t.args_of(OpCode::Not)?[0];
    let (op, args) = inner.as_app()?;
    let (x, y) = (*args.first()?, *args.get(1)?);
    match op.code {
        OpCode::BvUlt => Some(b::ule(y, x)),
        OpCode::BvUle => Some(b::ult(y, x)),
        OpCode::BvSlt => Some(b::sle(y, x)),
        OpCode::BvSle => Some(b::slt(y, x)),
        _ => None,
    }
}

/// `x <= y ? p : q` of constants is `y < x ? q : p`.
fn choice_by_at_most(t: Term) -> Option<Term> {
    let args = t.args_of(OpCode::Ite)?;
    let (op, compared) = args[0].as_app()?;
    let (x, y) = (*compared.first()?, *compared.get(1)?);
    args[1].as_bits().and(args[2].as_bits())?;
    match op.code {
        OpCode::BvUle => Some(b::ite(b::ult(y, x), args[2], args[1])),
        OpCode::BvSle => Some(b::ite(b::slt(y, x), args[2], args[1])),
        _ => None,
    }
}

/// `x < 0 ? -x : x` is the absolute value.
fn choice_is_absolute(t: Term) -> Option<Term> {
    let args = t.args_of(OpCode::Ite)?;
    let compared = args[0].args_of(OpCode::BvSlt)?;
    let (x, zero) = (compared[0], compared[1].as_bits()?.is_zero());
    let negated = args[1].args_of(OpCode::BvNeg)?;
    (zero && args[2] == x && negated[0] == x).then(|| b::abs(x))
}

/// `bit ? 11…1 : 00…0` is the sign extension of the bit.
fn choice_of_bit(t: Term) -> Option<Term> {
    let args = t.args_of(OpCode::Ite)?;
    let bit = args[0].args_of(OpCode::Eq)?;
    if bit[0].sort().width() != Some(1) || args[1].sort().width().is_none_or(|w| w <= 1) {
        return None;
    }
    let (yes, no) = (args[1].as_bits()?, args[2].as_bits()?);
    let one = bit[1].as_bits()?.to_u64() == Some(1);
    (one && no.is_zero() && yes.not().is_zero()).then(|| b::sext(bit[0], args[1].width()))
}

/// The extension of a sum, difference or product that cannot overflow is that of extensions.
fn extension_over_arithmetic(t: Term) -> Option<Term> {
    let (op, args) = t.as_app()?;
    let signed = match op.code {
        OpCode::Sext => true,
        OpCode::Zext => false,
        _ => return None,
    };
    let (inner, operands) = args[0].as_app()?;
    if !matches!(inner.code, OpCode::BvAdd | OpCode::BvSub | OpCode::BvMul) {
        return None;
    }
    let &[x, y] = operands else { return None };
    let of = if signed {
        range::range
    } else {
        range::unsigned
    };
    let (least, most) = range::exactly(inner.code, of(x), of(y))?;
    let width = Some(args[0].width()).filter(|width| *width < 100)?;
    let held = range::ends(width, signed);
    if least < held.0 || held.1 < most {
        return None;
    }
    let wide: Vec<Term> = operands
        .iter()
        .map(|&x| {
            if signed {
                b::sext(x, t.width())
            } else {
                b::zext(x, t.width())
            }
        })
        .collect();
    Some(b::app(inner, &wide))
}

/// `not (c ? x : y)` of constants is `c ? not x : not y`.
fn complement_of_choice(t: Term) -> Option<Term> {
    let args = t.args_of(OpCode::BvNot)?[0].args_of(OpCode::Ite)?;
    let (x, y) = (args[1].as_bits()?, args[2].as_bits()?);
    Some(b::ite(args[0], Term::bits(x.not()), Term::bits(y.not())))
}

/// `not x = c` is `x = not c`.
fn compared_complement(t: Term) -> Option<Term> {
    let args = t.args_of(OpCode::Eq)?;
    let inner = args[0].args_of(OpCode::BvNot)?[0];
    Some(b::eq(inner, Term::bits(args[1].as_bits()?.not())))
}

/// A bit that is 0 is not 1.
fn bit_is_zero(t: Term) -> Option<Term> {
    let args = t.args_of(OpCode::Eq)?;
    let constant = args[1].as_bits()?;
    (constant.width() == 1 && constant.is_zero()).then(|| b::negate(b::eq(args[0], Term::bv(1, 1))))
}

/// The low bits of a count of zeros that hold every count, extended, are the count.
fn extension_of_count(t: Term) -> Option<Term> {
    let part = t.args_of(OpCode::Zext)?[0];
    let args = part.args_of(OpCode::Extract)?;
    let (op, counted) = args[0].as_app()?;
    let bits = counted.first()?.sort().width()?;
    let holds = part.width() >= 32 || bits < 1 << part.width();
    let counts = matches!(op.code, OpCode::Clz | OpCode::Ctz | OpCode::Popcnt);
    if !counts || !holds || args[1].as_int() != Some(0) {
        return None;
    }
    let wide = b::zext(args[0], bits.max(t.width()));
    Some(b::extract(wide, 0, t.width()))
}

/// `c ? x : (d ? x : y)` is `(c or d) ? x : y`.
fn choices_of_one_constant(t: Term) -> Option<Term> {
    let outer = t.args_of(OpCode::Ite)?;
    let inner = outer[2].args_of(OpCode::Ite)?;
    let same = outer[1] == inner[1] && outer[1].as_bits().is_some();
    same.then(|| b::ite(b::either(outer[0], inner[0]), outer[1], inner[2]))
}

#[cfg(test)]
mod tests {
    use super::{CHAIN_RULES, RULES, Rewriter};
    use semantics::build as b;
    use semantics::sort::Sort;
    use semantics::term::Term;
    use smt::config::Config;
    use smt::prover::Prover;

    fn x() -> Term {
        Term::var("x", Sort::Bv(8))
    }

    fn y() -> Term {
        Term::var("y", Sort::Bv(8))
    }

    /// The named rule applies to `t`, gives `want`, and the prover agrees.
    fn check(name: &str, t: Term, want: Term) {
        let mut rules = RULES.iter().chain(CHAIN_RULES);
        let rule = rules.find(|(n, _)| *n == name).expect("a rule").1;
        assert_eq!(rule(t), Some(want), "{name}");
        assert!(
            Prover::new(Config::default())
                .prove_equal(t, want)
                .is_proved()
        );
        assert_eq!(Rewriter::default().rewrite(t), want);
    }

    #[test]
    fn not_less_is_at_most() {
        check(
            "not_less_is_at_most",
            b::negate(b::slt(x(), y())),
            b::sle(y(), x()),
        );
    }

    #[test]
    fn choice_is_minimum() {
        let t = b::ite(b::ult(x(), y()), x(), y());
        check("choice_is_minimum", t, b::umin(x(), y()));
        let t = b::ite(b::sle(x(), y()), y(), x());
        check("choice_is_minimum", t, b::smax(x(), y()));
    }

    #[test]
    fn choice_is_absolute() {
        let t = b::ite(b::slt(x(), b::zero(8)), b::neg(x()), x());
        check("choice_is_absolute", t, b::abs(x()));
    }

    #[test]
    fn choice_of_bit_is_extension() {
        let t = b::ite(b::bit(x(), 3), Term::bv(8, -1), b::zero(8));
        let want = b::sext(b::extract(x(), 3, 1), 8);
        check("choice_of_bit_is_extension", t, want);
    }

    #[test]
    fn extension_over_arithmetic() {
        let (x4, y4) = (b::extract(x(), 0, 4), b::extract(y(), 0, 4));
        let t = b::sext(b::mul(b::zext(x4, 8), b::sext(y4, 8)), 16);
        let want = b::mul(b::zext(x4, 16), b::sext(y4, 16));
        check("extension_over_arithmetic", t, want);
        let t = b::zext(b::add(b::zext(x4, 5), b::zext(y4, 5)), 16);
        let want = b::add(b::zext(x4, 16), b::zext(y4, 16));
        check("extension_over_arithmetic", t, want);
        let rule = RULES.iter().find(|r| r.0 == "extension_over_arithmetic");
        let rule = rule.expect("a rule").1;
        let tight = b::sext(b::mul(b::zext(x4, 8), b::zext(y4, 8)), 16);
        assert_eq!(rule(tight), None, "15 * 15 is negative in 8 bits");
        let wraps = b::zext(b::sub(b::zext(x4, 8), b::zext(y4, 8)), 16);
        assert_eq!(rule(wraps), None, "0 - 1 is 255 in 8 bits");
    }

    #[test]
    fn complement_of_choice() {
        let c = b::ult(x(), y());
        let t = b::not(b::ite(c, Term::bv(8, 3), Term::bv(8, 5)));
        let want = b::ite(c, Term::bv(8, -4), Term::bv(8, -6));
        check("complement_of_choice", t, want);
    }

    #[test]
    fn compared_complement() {
        let t = b::eq(b::not(x()), Term::bv(8, 3));
        check("compared_complement", t, b::eq(x(), Term::bv(8, -4)));
    }

    #[test]
    fn bit_is_zero() {
        let bit = b::extract(x(), 3, 1);
        let t = b::eq(bit, b::zero(1));
        check("bit_is_zero", t, b::negate(b::bit(x(), 3)));
    }

    #[test]
    fn choice_by_at_most() {
        let t = b::ite(b::sle(x(), y()), Term::bv(4, 1), Term::bv(4, 7));
        let want = b::ite(b::slt(y(), x()), Term::bv(4, 7), Term::bv(4, 1));
        check("choice_by_at_most", t, want);
    }

    #[test]
    fn choices_of_one_constant() {
        let (c, d) = (b::bit(x(), 3), b::ult(x(), y()));
        let t = b::ite(c, b::zero(8), b::ite(d, b::zero(8), y()));
        check(
            "choices_of_one_constant",
            t,
            b::ite(b::either(c, d), b::zero(8), y()),
        );
    }

    #[test]
    fn extension_of_count() {
        let t = b::zext(b::extract(b::clz(x()), 0, 4), 8);
        check("extension_of_count", t, b::clz(x()));
        let t = b::zext(b::extract(b::popcnt(x()), 0, 7), 16);
        check("extension_of_count", t, b::zext(b::popcnt(x()), 16));
        let rule = RULES.iter().find(|r| r.0 == "extension_of_count");
        let short = b::zext(b::extract(b::ctz(x()), 0, 3), 8);
        assert_eq!(rule.expect("a rule").1(short), None, "8 needs four bits");
    }

    #[test]
    fn chain_counts_zeros() {
        let x = || Term::var("x", Sort::Bv(16));
        let chain = |down: bool, step: i128, end: i128| {
            (0..16u32).rev().fold(Term::bv(8, end), |rest, k| {
                let position = if down { 15 - k } else { k };
                let value = Term::bv(8, 3 + step * i128::from(k));
                b::ite(b::bit(x(), position), value, rest)
            })
        };
        let narrow = |t: Term| b::extract(t, 0, 8);
        let want = b::add(narrow(b::clz(x())), Term::bv(8, 3));
        check("chain_counts_zeros", chain(true, 1, 19), want);
        let less = b::sub(Term::bv(8, 3), narrow(b::ctz(x())));
        let want = b::ite(b::eq(x(), b::zero(16)), Term::bv(8, 77), less);
        check("chain_counts_zeros", chain(false, -1, 77), want);
        let rule = CHAIN_RULES[0].1;
        let part = Term::var("y", Sort::Bv(64));
        let lane = (0..32u32).fold(Term::bv(6, 32), |rest, k| {
            b::ite(b::bit(part, 32 + k), Term::bv(6, i128::from(31 - k)), rest)
        });
        let want = b::extract(b::clz(b::extract(part, 32, 32)), 0, 6);
        check("chain_counts_zeros", lane, want);
        let odd = b::ite(b::bit(x(), 15), Term::bv(8, 4), chain(true, 1, 19));
        assert_eq!(rule(odd), None, "the first bit is asked twice");
        let uneven = b::ite(b::bit(x(), 15), Term::bv(8, 9), chain(true, 1, 19));
        assert_eq!(rule(uneven), None);
    }
}
