//! The shape in which goals and patterns meet.
//!
//! In: flat terms. Out: equal flat terms in which extensions stand at the leaves wherever
//! value ranges show that the narrower arithmetic cannot wrap: `sext32(a16·b16 : 32)` and
//! `sext32(a)·sext32(b)` become one term; what ranges decide is decided. It does
//! not order sums: matching does.

mod plain;

use semantics::build as b;
use semantics::difference::absolute;
use semantics::op::{Op, OpCode};
use semantics::range::{Range, Ranges, decided, exactly, range};
use semantics::subst::rebuild;
use semantics::term::Term;
use std::collections::HashMap;

/// Moves extensions inwards through sums and products that do not wrap; what people write for an
/// operator becomes the operator.
pub fn sink_extensions(t: Term) -> Term {
    ExtensionSinking::default().visit(t)
}

#[derive(Default)]
struct ExtensionSinking {
    memo: HashMap<Term, Term>,
    ranges: Ranges,
}

impl ExtensionSinking {
    fn visit(&mut self, t: Term) -> Term {
        if let Some(&done) = self.memo.get(&t) {
            return done;
        }
        let inner = rebuild(t, |child, _| self.visit(child));
        let other = plain::plainer(inner)
            .or_else(|| decided(inner, &mut self.ranges))
            .or_else(|| zeros_above(inner, &mut self.ranges));
        let out = match other.filter(|other| *other != inner) {
            Some(other) => self.visit(other),
            None => {
                let inner = absolute_difference(inner).unwrap_or(inner);
                extension_of_arithmetic(inner).map_or(inner, |moved| self.visit(moved))
            }
        };
        self.memo.insert(t, out);
        out
    }
}

/// Bits of a value above all that it can be.
fn zeros_above(t: Term, ranges: &mut Ranges) -> Option<Term> {
    let args = t.args_of(OpCode::Extract)?;
    let lo = u32::try_from(args[1].as_int()?).ok()?;
    let (least, most) = ranges.of(args[0]);
    (least >= 0 && lo > 0 && most >> lo == 0).then(|| b::zero(t.width()))
}

/// An absolute difference, however it is written, as a choice between the two differences: the
/// magnitude of one that cannot wrap, or the greater less the lesser.
fn absolute_difference(t: Term) -> Option<Term> {
    use OpCode as C;
    let (op, args) = t.as_app()?;
    let magnitude = |of: Term, least: u32| {
        let [x, y] = *of.args_of(C::Abs)?.first()?.args_of(C::BvSub)? else {
            return None;
        };
        let ((first, x), (second, y)) = (x.as_app()?, y.as_app()?);
        let extended = matches!(first.code, C::Zext | C::Sext) && first == second;
        let fits = extended && x[0].sort() == y[0].sort() && x[0].width() <= least;
        fits.then(|| absolute(x[0], y[0], first.code == C::Sext))
    };
    match op.code {
        C::Extract if args[1].as_int() == Some(0) => {
            let found = magnitude(args[0], t.width())?;
            Some(b::zext(found, t.width()))
        }
        C::Zext | C::Sext => Some(b::zext(magnitude(args[0], args[0].width() - 1)?, t.width())),
        C::Abs => Some(b::zext(magnitude(t, t.width() - 1)?, t.width())),
        C::BvSub => {
            let ((most, x), (least, y)) = (args[0].as_app()?, args[1].as_app()?);
            let pair = matches!(
                (most.code, least.code),
                (C::Umax, C::Umin) | (C::Smax, C::Smin)
            );
            let same = pair && (x == y || x[..] == [y[1], y[0]]);
            same.then(|| absolute(x[0], x[1], most.code == C::Smax))
        }
        _ => None,
    }
}

/// An extension of a sum, difference or product that does not wrap, moved to its arguments.
fn extension_of_arithmetic(t: Term) -> Option<Term> {
    let (op, outer) = t.as_app()?;
    if !matches!(op.code, OpCode::Sext | OpCode::Zext) {
        return None;
    }
    let wide = t.width();
    let (inner, args) = outer[0].as_app()?;
    if !matches!(inner.code, OpCode::BvAdd | OpCode::BvSub | OpCode::BvMul) {
        return None;
    }
    let w = outer[0].width();
    if w > 60 || wide > 120 {
        return None;
    }
    let signs: &[[OpCode; 2]] = &[
        [OpCode::Sext, OpCode::Sext],
        [OpCode::Zext, OpCode::Zext],
        [OpCode::Zext, OpCode::Sext],
        [OpCode::Sext, OpCode::Zext],
    ];
    signs.iter().find_map(|&[x, y]| {
        let extended = [extend(x, args[0], 2 * w + 2), extend(y, args[1], 2 * w + 2)];
        let (min, max) = exact_range(inner.code, extended)?;
        let fits = match op.code {
            OpCode::Sext => min >= -(1 << (w - 1)) && max < 1 << (w - 1),
            _ => min >= 0 && max < 1 << w,
        };
        fits.then(|| {
            b::app(
                Op::new(inner.code),
                &[extend(x, args[0], wide), extend(y, args[1], wide)],
            )
        })
    })
}

fn extend(code: OpCode, t: Term, width: u32) -> Term {
    if code == OpCode::Sext {
        b::sext(t, width)
    } else {
        b::zext(t, width)
    }
}

fn exact_range(code: OpCode, [x, y]: [Term; 2]) -> Option<Range> {
    exactly(code, range(x), range(y))
}
