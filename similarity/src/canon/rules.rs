//! The named rewrites of canonicalisation.
//!
//! In: flat terms. Out: equal terms in which one meaning is written one way. Every rule has
//! a name, looks at one node, and is held to its meaning by a test. Rules that only shorten
//! belong to [`semantics::build`], which has made these terms; the order of sums and
//! products is [`super::form`]'s.

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
    ("extension_of_product_is_product", extended_product),
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
        while let Some(next) = RULES.iter().find_map(|(_, rule)| rule(out)) {
            out = next;
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
    if bit[0].sort().width() != Some(1) || !args[1].sort().width().is_some_and(|w| w > 1) {
        return None;
    }
    let (yes, no) = (args[1].as_bits()?, args[2].as_bits()?);
    let one = bit[1].as_bits()?.to_u64() == Some(1);
    (one && no.is_zero() && yes.not().is_zero()).then(|| b::sext(bit[0], args[1].width()))
}

/// The extension of a product that cannot overflow is the product of extensions.
fn extended_product(t: Term) -> Option<Term> {
    let (op, args) = t.as_app()?;
    let signed = match op.code {
        OpCode::Sext => true,
        OpCode::Zext => false,
        _ => return None,
    };
    let product = args[0].args_of(OpCode::BvMul)?;
    let extended = |t: Term| {
        let (op, inner) = t.as_app()?;
        let sign = match op.code {
            OpCode::Sext => true,
            OpCode::Zext => false,
            _ => return None,
        };
        Some((sign, inner[0]))
    };
    let ((sign_x, x), (sign_y, y)) = (extended(product[0])?, extended(product[1])?);
    let needed = x.width() + y.width();
    let fits = match (signed, sign_x || sign_y) {
        (true, true) | (false, false) => needed <= args[0].width(),
        (true, false) => needed < args[0].width(),
        (false, true) => false,
    };
    let width = t.width();
    let wide = |sign, t| {
        if sign {
            b::sext(t, width)
        } else {
            b::zext(t, width)
        }
    };
    fits.then(|| b::mul(wide(sign_x, x), wide(sign_y, y)))
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
    fn extension_of_product_is_product() {
        let (x4, y4) = (b::extract(x(), 0, 4), b::extract(y(), 0, 4));
        let t = b::sext(b::mul(b::zext(x4, 8), b::sext(y4, 8)), 16);
        let want = b::mul(b::zext(x4, 16), b::sext(y4, 16));
        check("extension_of_product_is_product", t, want);
        let rule = RULES
            .iter()
            .find(|r| r.0 == "extension_of_product_is_product");
        let tight = b::sext(b::mul(b::zext(x4, 8), b::zext(y4, 8)), 16);
        assert_eq!(
            (rule.expect("a rule").1)(tight),
            None,
            "15 * 15 is negative in 8 bits"
        );
    }
}
