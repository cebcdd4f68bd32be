//! Shifts of exact integers by counts that are not known.
//!
//! In: an integer and a count. Out: the exact result, rounded down where it goes to the right.
//! A shift to the left stays open ([`Value::Shifted`]) until a width cuts it, or [`exact`] makes
//! room for all its bits.

use super::compare::less;
use super::select::select;
use super::value::{self, Computed, Sym, Value, refuse, shift_left, shift_right};
use semantics::build as b;

/// The widest shift whose exact result is computed.
const MOST_SHIFTED: u32 = 512;

/// An integer as plain bits, shifts by counts that are not known included.
pub(crate) fn exact(x: &Value) -> Computed<Value> {
    match x {
        Value::Shifted(inner, count) => {
            let s = exact(inner)?.number()?.plainly();
            let most = count.range.map(|r| r.1).and_then(|r| u32::try_from(r).ok());
            let Some(width) = most
                .and_then(|m| m.checked_add(s.term.width()))
                .filter(|w| *w <= MOST_SHIFTED)
            else {
                return refuse(format!("this shift may have more than {MOST_SHIFTED} bits"));
            };
            let term = value::fit(s.term, s.signed, width);
            let term = b::shl(term, value::shift_count(count, width));
            Ok(Value::Sym(Sym::new(term, s.signed)))
        }
        Value::Choice(c, x, y) => Ok(select(*c, &exact(x)?, &exact(y)?)),
        _ => Ok(x.clone()),
    }
}

/// `x << n`, or `x >> n` where it goes to the `right`; the other way, rounded down, where `n` is
/// negative.
pub(crate) fn both_ways(x: &Value, n: &Value, right: bool) -> Computed<Value> {
    if !right {
        return leftwards(x, n);
    }
    let natural = n.known().is_none() && n.sym().is_ok_and(|s| s.plainly().natural());
    if natural && !matches!(x, Value::Choice(..)) {
        return shift_right(&exact(x)?, n);
    }
    leftwards(x, &value::neg(n)?)
}

fn leftwards(x: &Value, n: &Value) -> Computed<Value> {
    if let Value::Choice(c, p, q) = x {
        return Ok(select(*c, &leftwards(p, n)?, &leftwards(q, n)?));
    }
    if let Some(k) = n.known() {
        return match k < 0 {
            true => shift_right(&exact(x)?, &Value::Int(-k)),
            false => shift_left(x, n),
        };
    }
    let count = n.number()?.plainly();
    let Some((least, most)) = count.range else {
        return refuse("this shift count is too wide");
    };
    if least >= 0 {
        return shift_left(x, n);
    }
    let right = |count: Sym| {
        let count = value::neg(&Value::Sym(count))?;
        shift_right(&exact(x)?, &count)
    };
    if most <= 0 {
        return right(count);
    }
    let negative = less(&Value::Sym(count.clone()), &Value::Int(0))?;
    let left = Sym {
        range: Some((0, most)),
        ..count.clone()
    };
    let down = Sym {
        range: Some((least, -1)),
        ..count
    };
    let left = shift_left(x, &Value::Sym(left))?;
    Ok(select(negative, &right(down)?, &left))
}
