//! One of two values, told by a comparison, in the form in which kernels say it.
//!
//! In: a condition and two terms. Out: one term. What registers hold of narrow elements is extended, and
//! branches choose between these: the choice is made between the elements, so that it becomes no larger
//! with each that is chosen from, and is the minimum or maximum that it means.

use semantics::build as b;
use semantics::op::{Op, OpCode};
use semantics::term::Term;

/// What a value is extended from.
struct Narrow {
    term: Term,
    signed: bool,
}

fn narrow(term: Term) -> Option<Narrow> {
    let of = |code, signed| {
        let inner = term.args_of(code)?.first()?;
        Some(Narrow {
            term: *inner,
            signed,
        })
    };
    of(OpCode::Sext, true)
        .or_else(|| of(OpCode::Zext, false))
        .or_else(|| masked(term))
        .or_else(|| flipped(term))
}

/// What is extended and then flipped by a number that is extended alike.
fn flipped(term: Term) -> Option<Narrow> {
    let &[x, by] = term.args_of(OpCode::BvXor)?.first_chunk()?;
    let (x, by) = match x.as_bits() {
        Some(_) => (by, x),
        None => (x, by),
    };
    by.as_bits()?;
    let (signed, narrow) = narrowed(&[x, by])?;
    Some(Narrow {
        term: b::xor(narrow[0], narrow[1]),
        signed,
    })
}

/// Terms without what flips the sign of each.
fn unsigned(terms: [Term; 2]) -> Option<[Term; 2]> {
    let width = terms[0].width();
    let sign = b::shl(Term::bv(width, 1), Term::bv(width, i128::from(width) - 1));
    let is_flipped = |t: &Term| t.args_of(OpCode::BvXor).is_some_and(|a| a.contains(&sign));
    let known = |t: &Term| t.as_bits().is_some();
    let some = terms.iter().any(is_flipped);
    let all = terms.iter().all(|t| is_flipped(t) || known(t));
    (some && all).then(|| terms.map(|t| b::xor(t, sign)))
}

/// What a mask of low bits leaves.
fn masked(term: Term) -> Option<Narrow> {
    let &[x, mask] = term.args_of(OpCode::BvAnd)? else {
        return None;
    };
    let mask = mask.as_bits().filter(|_| term.width() <= 64)?.low_u64();
    let bits = mask.trailing_ones();
    (bits > 0 && bits < term.width() && mask >> bits == 0).then(|| Narrow {
        term: b::extract(x, 0, bits),
        signed: false,
    })
}

/// Values of which all have so few bits, extended alike: how, and what they are extended from.
fn narrowed(terms: &[Term]) -> Option<(bool, Vec<Term>)> {
    let width = terms.first()?.width();
    let each: Vec<Option<Narrow>> = terms.iter().map(|t| narrow(*t)).collect();
    let signed = each.iter().flatten().next()?.signed;
    if each.iter().flatten().any(|n| n.signed != signed) {
        return None;
    }
    let bits = each.iter().flatten().map(|n| n.term.width()).max()?;
    let extend = |t: Term| match signed {
        true => b::resize_signed(t, width),
        false => b::resize_unsigned(t, width),
    };
    let mut out = Vec::new();
    for (term, own) in terms.iter().zip(each) {
        let own = match own {
            Some(own) if signed => b::resize_signed(own.term, bits),
            Some(own) => b::resize_unsigned(own.term, bits),
            // A number that so few bits hold.
            None => {
                term.as_bits()?;
                let low = b::extract(*term, 0, bits);
                (extend(low) == *term).then_some(low)?
            }
        };
        out.push(own);
    }
    Some((signed, out))
}

/// A comparison of what is extended alike compares what it is extended from.
fn compared(condition: Term) -> Term {
    let Some((op, &[x, y])) = condition.as_app() else {
        return condition;
    };
    let code = match op.code {
        OpCode::Eq | OpCode::BvSlt | OpCode::BvSle | OpCode::BvUlt | OpCode::BvUle => op.code,
        _ => return condition,
    };
    if x.sort().width().is_none() {
        return condition;
    }
    let Some((signed, narrow)) = narrowed(&[x, y]) else {
        let code = match code {
            OpCode::BvSlt => OpCode::BvUlt,
            OpCode::BvSle => OpCode::BvUle,
            _ => return condition,
        };
        return unsigned([x, y]).map_or(condition, |both| b::app(Op::new(code), &both));
    };
    // Zeros above make numbers of them, which every comparison takes as such.
    let code = match (code, signed) {
        (OpCode::BvSlt, false) => OpCode::BvUlt,
        (OpCode::BvSle, false) => OpCode::BvUle,
        (code, _) => code,
    };
    compared(b::app(Op::new(code), &narrow))
}

/// The first of two values where a condition holds, else the second.
pub(crate) fn chosen(condition: Term, yes: Term, no: Term) -> Term {
    if yes == no {
        return yes;
    }
    if let Some(&[inner]) = condition.args_of(OpCode::Not) {
        return chosen(inner, no, yes);
    }
    if yes.sort().width().is_some()
        && let Some((signed, narrow)) = narrowed(&[yes, no])
    {
        let (inner, width) = (chosen(condition, narrow[0], narrow[1]), yes.width());
        return match signed {
            true => b::sext(inner, width),
            false => b::zext(inner, width),
        };
    }
    if yes.sort().width().is_some()
        && let Some([x, y]) = unsigned([yes, no])
    {
        let width = yes.width();
        let sign = b::shl(Term::bv(width, 1), Term::bv(width, i128::from(width) - 1));
        return b::xor(chosen(condition, x, y), sign);
    }
    let condition = compared(condition);
    extreme(condition, yes, no).unwrap_or_else(|| b::ite(condition, yes, no))
}

/// The minimum or maximum that a choice is.
fn extreme(condition: Term, yes: Term, no: Term) -> Option<Term> {
    let (op, args) = condition.as_app()?;
    let (least, most) = match op.code {
        OpCode::BvSlt | OpCode::BvSle => (OpCode::Smin, OpCode::Smax),
        OpCode::BvUlt | OpCode::BvUle => (OpCode::Umin, OpCode::Umax),
        _ => return None,
    };
    match args {
        [x, y] if (*x, *y) == (yes, no) => Some(b::app(Op::new(least), &[yes, no])),
        [x, y] if (*x, *y) == (no, yes) => Some(b::app(Op::new(most), &[yes, no])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use semantics::sort::Sort;
    use smt::config::Config;
    use smt::prover::Prover;

    /// The comparisons of two values.
    fn comparisons(x: Term, y: Term) -> Vec<Term> {
        let all = [
            b::slt(x, y),
            b::sle(y, x),
            b::ult(x, y),
            b::ule(y, x),
            b::eq(x, y),
        ];
        let negated = all.map(b::negate);
        all.into_iter().chain(negated).collect()
    }

    #[test]
    fn what_is_chosen_is_the_same() {
        let variable = |name, bits| Term::var(name, Sort::Bv(bits));
        let (x, y, z) = (variable("x", 5), variable("y", 5), variable("z", 3));
        let sides = [
            b::sext(x, 9),
            b::zext(x, 9),
            b::sext(y, 9),
            b::zext(y, 9),
            b::sext(z, 9),
            b::zext(z, 9),
            variable("w", 9),
            b::and(variable("w", 9), Term::bv(9, 31)),
            b::xor(variable("w", 9), Term::bv(9, 1 << 8)),
            b::xor(b::sext(x, 9), Term::bv(9, -16)),
            Term::bv(9, 3),
            Term::bv(9, -3),
            Term::bv(9, 20),
        ];
        let prover = Prover::new(Config::default());
        for &p in &sides {
            for &q in &sides {
                for condition in comparisons(p, q) {
                    for (yes, no) in [(p, q), (q, p), (p, sides[4]), (sides[3], q)] {
                        let found = chosen(condition, yes, no);
                        let wanted = b::ite(condition, yes, no);
                        assert!(
                            prover.prove_equal(found, wanted).is_proved(),
                            "{condition} {yes} {no}: {found}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn the_largest_of_many_elements_stays_small() {
        let element = |k: u32| Term::var(&format!("e{k}"), Sort::Bv(8));
        for signed in [true, false] {
            let extended = |t: Term| match signed {
                true => b::sext(t, 32),
                false => b::zext(t, 32),
            };
            let (mut found, mut wanted) = (extended(element(0)), element(0));
            for k in 1..200 {
                let next = element(k);
                found = chosen(b::slt(found, extended(next)), extended(next), found);
                wanted = match signed {
                    true => b::smax(wanted, next),
                    false => b::umax(wanted, next),
                };
            }
            assert_eq!(b::extract(found, 0, 8), wanted);
        }
    }
}
