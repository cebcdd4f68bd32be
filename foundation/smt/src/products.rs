//! Products as variables of which only the range is known.
//!
//! In: two terms that are to be proved equal. Out: two terms without the products of extended
//! values, whose equality implies that of the first: each such product is a variable, and one
//! side is only asked for where the variables lie in the products' ranges. Where what is done
//! with a product does not depend on how it came about, this spares the engines a multiplier.
//! It proposes; a refutation of the proposal says nothing.

use semantics::build as b;
use semantics::op::OpCode;
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
}

impl Pass {
    fn visit(&mut self, t: Term) -> Term {
        if let Some(&done) = self.known.get(&t) {
            return done;
        }
        let out = match range(t) {
            Some((least, most)) => self.variable(t.width(), least, most),
            None if matches!(t.kind(), Kind::App { .. }) => rebuild(t, |c, _| self.visit(c)),
            None => t,
        };
        self.known.insert(t, out);
        out
    }

    fn variable(&mut self, width: u32, least: i128, most: i128) -> Term {
        let name = format!("product.{}", self.guards.len());
        let v = Term::var(&name, Sort::Bv(width));
        let number = |n: i128| Term::bv(width, n);
        self.guards
            .push(b::both(b::sle(number(least), v), b::sle(v, number(most))));
        v
    }
}

/// The signed range of a product of extended values, one of them constant perhaps, that is wide
/// enough for it.
fn range(t: Term) -> Option<(i128, i128)> {
    let factors = t.args_of(OpCode::BvMul)?;
    let [x, y] = *factors else { return None };
    let (x, y) = (extended(x)?, extended(y)?);
    let corners = [x.0 * y.0, x.0 * y.1, x.1 * y.0, x.1 * y.1];
    let (least, most) = (*corners.iter().min()?, *corners.iter().max()?);
    let half = 1i128 << (t.width().min(100) - 1);
    (least >= -half && most < half).then_some((least, most))
}

/// The signed range of an extended value or a small constant.
fn extended(t: Term) -> Option<(i128, i128)> {
    if let Some(bits) = t.as_bits() {
        let value = bits.to_u64().filter(|&v| v < 1 << WIDEST)?;
        let sign = if bits.width() <= 64 { bits.width() } else { 64 };
        let value = i128::from(value);
        let negative = value >> (sign - 1) == 1;
        let value = if negative { value - (1 << sign) } else { value };
        return Some((value, value));
    }
    let (op, args) = t.as_app()?;
    let from = args.first()?.sort().width().filter(|&w| w <= WIDEST)?;
    match op.code {
        OpCode::Sext => Some((-(1 << (from - 1)), (1 << (from - 1)) - 1)),
        OpCode::Zext => Some((0, (1 << from) - 1)),
        _ => None,
    }
}
