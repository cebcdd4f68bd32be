//! Products as variables of which only the range is known.
//!
//! In: two terms that are to be proved equal. Out: two terms without the products of extended
//! values, whose equality implies that of the first: each such product is a variable, and one
//! side is only asked for where the variables lie in the products' ranges. Where what is done
//! with a product does not depend on how it came about, this spares the engines a multiplier.
//! It proposes; a refutation of the proposal says nothing.

use semantics::build as b;
use semantics::op::OpCode;
use semantics::range::{Range, Ranges, ends};
use semantics::sort::Sort;
use semantics::subst::rebuild;
use semantics::term::{Kind, Term};
use std::collections::HashMap;

/// The widest factor before its extension.
const WIDEST: u32 = 32;

/// The question without products; nothing when there are none.
pub(crate) fn abstracted(x: Term, y: Term) -> Option<(Term, Term)> {
    let mut pass = Pass::default();
    let (x, y) = (pass.visit(x), pass.visit(y));
    let guard = pass.guards.iter().copied().reduce(b::both)?;
    (x.sort() == y.sort() && !matches!(x.sort(), Sort::Mem)).then(|| (b::ite(guard, x, y), y))
}

#[derive(Default)]
struct Pass {
    known: HashMap<Term, Term>,
    guards: Vec<Term>,
    ranges: Ranges,
}

impl Pass {
    fn visit(&mut self, t: Term) -> Term {
        if let Some(&done) = self.known.get(&t) {
            return done;
        }
        let out = match self.range(t) {
            Some(range) => self.variable(t.width(), range),
            None if matches!(t.kind(), Kind::App { .. }) => rebuild(t, |c, _| self.visit(c)),
            None => t,
        };
        self.known.insert(t, out);
        out
    }

    /// The signed range of a product of extended values, one of them constant perhaps, that is wide
    /// enough for it.
    fn range(&mut self, t: Term) -> Option<Range> {
        let factors = t.args_of(OpCode::BvMul)?;
        let whole = ends(Some(t.width()).filter(|w| *w < 100)?, true);
        let short = factors.len() == 2 && factors.iter().all(|&factor| is_short(factor));
        let range = short.then(|| self.ranges.of(t))?;
        (range != whole).then_some(range)
    }

    fn variable(&mut self, width: u32, (least, most): Range) -> Term {
        let name = format!("product.{}", self.guards.len());
        let v = Term::var(&name, Sort::Bv(width));
        let number = |n: i128| Term::bv(width, n);
        self.guards
            .push(b::both(b::sle(number(least), v), b::sle(v, number(most))));
        v
    }
}

/// Whether a value is an extended one or a small constant.
fn is_short(t: Term) -> bool {
    let small = 1 << WIDEST;
    match t.as_bits().map(semantics::range::signed) {
        Some(number) => number.is_some_and(|n| (-small..small).contains(&n)),
        None => t.as_app().is_some_and(|(op, args)| {
            let from = args.first().and_then(|from| from.sort().width());
            matches!(op.code, OpCode::Sext | OpCode::Zext) && from.is_some_and(|w| w <= WIDEST)
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is known of factors bounds their product; what may wrap is no product of numbers.
    #[test]
    fn a_product_lies_in_the_range_of_its_factors() {
        let byte = |name| Term::var(name, Sort::Bv(8));
        let low = |name| b::zext(b::and(byte(name), Term::bv(8, 7)), 16);
        let other = Term::var("other", Sort::Bv(16));
        let (limited, wanted) = abstracted(b::mul(low("x"), low("y")), other).expect("a product");
        let product = Term::var("product.0", Sort::Bv(16));
        let number = |n| Term::bv(16, n);
        let within = b::both(b::sle(number(0), product), b::sle(product, number(49)));
        assert_eq!((limited, wanted), (b::ite(within, product, other), other));
        let wraps = b::mul(b::zext(byte("x"), 16), b::zext(byte("y"), 16));
        assert_eq!(abstracted(wraps, other), None);
    }
}
