//! The named rewrites of canonicalisation.
//!
//! In: flat terms. Out: equal terms in which one meaning is written one way. Every rule has
//! a name, looks at one node, and is held to its meaning by a test. Rules that only shorten
//! belong to [`semantics::build`], which has made these terms; the order of sums and
//! products is found where elements are written as words.

use semantics::build as b;
use semantics::op::OpCode;
use semantics::subst::rebuild;
use semantics::term::Term;
use std::collections::HashMap;

/// A rewrite: an equal term, when it applies.
pub type Rule = fn(Term) -> Option<Term>;

/// The rules by name, in the order in which they are tried.
pub const RULES: &[(&str, Rule)] = &[
    ("not_less_is_at_most", not_less),
    ("choice_is_minimum", choice_is_extreme),
    ("choice_is_absolute", choice_is_absolute),
    ("choice_of_bit_is_extension", choice_of_bit),
    ("extension_over_arithmetic", extension_over_arithmetic),
    ("complement_of_choice", complement_of_choice),
    ("compared_complement", compared_complement),
    ("bit_is_zero", bit_is_zero),
];

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
        let mut out = rebuild(t, |child, _| self.rewrite(child));
        // A rule may make new subterms to which rules apply.
        if let Some(next) = RULES.iter().find_map(|(_, rule)| rule(out)) {
            out = self.rewrite(next);
        }
        self.done.insert(t, out);
        out
    }
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

/// A choice between two values by comparing them is their minimum or maximum.
fn choice_is_extreme(t: Term) -> Option<Term> {
    let args = t.args_of(OpCode::Ite)?;
    let (op, compared) = args[0].as_app()?;
    let (x, y) = (*compared.first()?, *compared.get(1)?);
    let minimum = match (args[1], args[2]) {
        (p, q) if p == x && q == y => true,
        (p, q) if p == y && q == x => false,
        _ => return None,
    };
    match (op.code, minimum) {
        (OpCode::BvUlt | OpCode::BvUle, true) => Some(b::umin(x, y)),
        (OpCode::BvUlt | OpCode::BvUle, false) => Some(b::umax(x, y)),
        (OpCode::BvSlt | OpCode::BvSle, true) => Some(b::smin(x, y)),
        (OpCode::BvSlt | OpCode::BvSle, false) => Some(b::smax(x, y)),
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
    exact(args[0], signed)?;
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

/// The least and the largest number that the bits of a term are when they are read signed
/// or unsigned.
fn range(t: Term, signed: bool) -> Option<(i128, i128)> {
    let full = |w: u32, signed: bool| {
        let all = 1i128.checked_shl(w).filter(|_| w < 100)?;
        Some(if signed {
            (-all / 2, all / 2 - 1)
        } else {
            (0, all - 1)
        })
    };
    let w = t.width();
    let inner = match t.as_app() {
        Some((op, args)) if op.code == OpCode::Zext => range(args[0], false),
        Some((op, args)) if op.code == OpCode::Sext && signed => range(args[0], true),
        _ => exact(t, signed),
    };
    inner.or_else(|| full(w, signed))
}

/// The range of a sum, difference or product that never leaves the range of its width.
fn exact(t: Term, signed: bool) -> Option<(i128, i128)> {
    let (op, args) = t.as_app()?;
    if !matches!(op.code, OpCode::BvAdd | OpCode::BvSub | OpCode::BvMul) {
        return None;
    }
    let ((a, b), (c, d)) = (range(args[0], signed)?, range(args[1], signed)?);
    let (lo, hi) = match op.code {
        OpCode::BvAdd => (a.checked_add(c)?, b.checked_add(d)?),
        OpCode::BvSub => (a.checked_sub(d)?, b.checked_sub(c)?),
        _ => {
            let corners = [
                a.checked_mul(c)?,
                a.checked_mul(d)?,
                b.checked_mul(c)?,
                b.checked_mul(d)?,
            ];
            (*corners.iter().min()?, *corners.iter().max()?)
        }
    };
    let all = 1i128.checked_shl(t.width()).filter(|_| t.width() < 100)?;
    let (least, most) = if signed {
        (-all / 2, all / 2 - 1)
    } else {
        (0, all - 1)
    };
    (least <= lo && hi <= most).then_some((lo, hi))
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

#[cfg(test)]
mod tests {
    use super::{RULES, Rewriter};
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
        let rule = RULES.iter().find(|(n, _)| *n == name).expect("a rule").1;
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
}
