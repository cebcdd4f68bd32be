//! The string comparisons of SSE4.2.
//!
//! In: two vectors of 16 bytes or 8 words, how many of their elements are valid, and the
//! control byte. Out: one bit for each element of the second vector, after the polarity was
//! applied; or the length of a string that ends before a zero element. The control byte:
//! bit 0 words instead of bytes, bit 1 signed, bits 3:2 the kind of comparison, bits 5:4 the
//! polarity. What is made of the bits (an index, a mask, a flag) is left to the text.

use crate::pseudocode::lower::select::bit_of;
use crate::pseudocode::lower::value::{Computed, Sym, Value};
use semantics::build as b;
use semantics::term::Term;

/// Names of the functions, for suggestions.
pub(crate) const NAMES: [&str; 2] = ["STRING_COMPARE", "STRING_LENGTH"];

/// One vector and how many of its elements count.
struct Text {
    bits: Term,
    length: Term,
    /// Bits of an element.
    size: u32,
}

impl Text {
    fn count(&self) -> u32 {
        128 / self.size
    }

    fn element(&self, k: u32) -> Term {
        b::extract(self.bits, k * self.size, self.size)
    }

    fn valid(&self, k: u32) -> Term {
        let width = self.length.width();
        b::ult(Term::bv(width, i128::from(k)), self.length)
    }
}

/// The value of a call; none when there is no such function.
pub(super) fn call(name: &str, args: &[Value]) -> Option<Computed<Value>> {
    match (name, args) {
        ("STRING_LENGTH", [x, control]) => Some(length(x, control)),
        ("STRING_COMPARE", [x, n, y, m, control]) => Some(compare(x, n, y, m, control)),
        _ => None,
    }
}

/// Bits of either element size, by the lowest bit of the control.
fn of_size(control: Term, of: impl Fn(u32) -> Term) -> Term {
    b::ite(b::bit(control, 0), of(16), of(8))
}

/// The number of elements before the first that is zero.
fn length(x: &Value, control: &Value) -> Computed<Value> {
    let (x, control) = (x.bits(128)?, control.bits(8)?);
    let term = of_size(control, |size| {
        let count = 128 / size;
        (0..count)
            .rev()
            .fold(Term::bv(5, i128::from(count)), |rest, k| {
                let end = b::eq(b::extract(x, k * size, size), b::zero(size));
                b::ite(end, Term::bv(5, i128::from(k)), rest)
            })
    });
    Ok(Value::Sym(Sym::ranged(term, false, Some((0, 16)))))
}

fn compare(x: &Value, n: &Value, y: &Value, m: &Value, control: &Value) -> Computed<Value> {
    let (bits, other, control) = (x.bits(128)?, y.bits(128)?, control.bits(8)?);
    // Lengths may be constants, which are as wide as they need to be.
    let wide = |v: &Value| -> Computed<Term> {
        let s = v.sym()?.plainly();
        Ok(b::zext(s.term, s.term.width().max(5)))
    };
    let (n, m) = (wide(n)?, wide(m)?);
    let term = of_size(control, |size| {
        let text = |bits, length| Text { bits, length, size };
        let (set, text) = (text(bits, n), text(other, m));
        let mut out: Vec<Term> = (0..text.count())
            .map(|j| {
                bit_of(polarity(
                    &text,
                    j,
                    control,
                    element(&set, &text, j, control),
                ))
            })
            .collect();
        out.reverse();
        b::zext(b::concat(&out), 16)
    });
    Ok(Value::unsigned(term))
}

/// The comparison for element `j` of the second vector, of the kind that bits 3:2 name.
fn element(set: &Text, text: &Text, j: u32, control: Term) -> Term {
    let kinds = [
        any(set, text, j),
        ranges(set, text, j, control),
        each(set, text, j),
        ordered(set, text, j),
    ];
    let (low, high) = (b::bit(control, 2), b::bit(control, 3));
    b::ite(
        high,
        b::ite(low, kinds[3], kinds[2]),
        b::ite(low, kinds[1], kinds[0]),
    )
}

/// Equal to some element.
fn any(set: &Text, text: &Text, j: u32) -> Term {
    let some = (0..set.count()).fold(Term::bool(false), |found, i| {
        let equal = b::eq(set.element(i), text.element(j));
        b::either(found, b::both(set.valid(i), equal))
    });
    b::both(text.valid(j), some)
}

/// Between the two elements of some pair.
fn ranges(set: &Text, text: &Text, j: u32, control: Term) -> Term {
    let at_most = |x, y| b::ite(b::bit(control, 1), b::sle(x, y), b::ule(x, y));
    let some = (0..set.count())
        .step_by(2)
        .fold(Term::bool(false), |found, i| {
            let inside = b::both(
                at_most(set.element(i), text.element(j)),
                at_most(text.element(j), set.element(i + 1)),
            );
            b::either(found, b::both(set.valid(i + 1), inside))
        });
    b::both(text.valid(j), some)
}

/// Equal to the element in the same place; past the ends of both is equal.
fn each(set: &Text, text: &Text, j: u32) -> Term {
    let (p, q) = (set.valid(j), text.valid(j));
    let equal = b::eq(set.element(j), text.element(j));
    b::ite(p, b::both(q, equal), b::negate(q))
}

/// The first vector begins here, as far as the second reaches.
fn ordered(set: &Text, text: &Text, j: u32) -> Term {
    (0..set.count() - j).fold(Term::bool(true), |so_far, i| {
        let equal = b::eq(set.element(i), text.element(j + i));
        let fits = b::ite(
            set.valid(i),
            b::both(text.valid(j + i), equal),
            Term::bool(true),
        );
        b::both(so_far, fits)
    })
}

/// Bits 5:4: as it is, negated, as it is, negated where the element is valid.
fn polarity(text: &Text, j: u32, control: Term, bit: Term) -> Term {
    let only_valid = b::ite(b::bit(control, 5), text.valid(j), Term::bool(true));
    let flip = b::both(b::bit(control, 4), only_valid);
    b::ite(flip, b::negate(bit), bit)
}
