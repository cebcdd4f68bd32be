//! Absolute differences as choices: the greater of two less the lesser, by a comparison.
//!
//! In: two terms, or a choice. Out: the choice ([`absolute`]), or the values whose absolute
//! difference a choice is ([`of`]). Other spellings (magnitudes, an extreme less the other) are for
//! whoever meets them.

use crate::build as b;
use crate::op::OpCode;
use crate::term::Term;

/// The absolute difference of two values of one width, read with a sign or without; its own value
/// has none.
pub fn absolute(x: Term, y: Term, signed: bool) -> Term {
    let less = if signed { b::slt(x, y) } else { b::ult(x, y) };
    b::ite(less, b::sub(y, x), b::sub(x, y))
}

/// The two values whose absolute difference a choice is, and whether they are read with a sign.
pub fn of(choice: Term) -> Option<([Term; 2], bool)> {
    let [condition, below, above] = *choice.args_of(OpCode::Ite)? else {
        return None;
    };
    let (op, compared) = condition.as_app()?;
    let signed = match op.code {
        OpCode::BvUlt | OpCode::BvUle => false,
        OpCode::BvSlt | OpCode::BvSle => true,
        _ => return None,
    };
    let (x, y) = (compared[0], compared[1]);
    let is_difference = |of: Term, from: Term, by: Term| {
        of.args_of(OpCode::BvSub)
            .is_some_and(|args| *args == [from, by])
            || of.sort() == from.sort() && of == b::sub(from, by)
    };
    (is_difference(below, y, x) && is_difference(above, x, y)).then_some(([x, y], signed))
}
