//! The sorts of SMT-LIB's own symbols: the core, bit vectors, arrays of bytes.
//!
//! In: a symbol, with its indices where it has some, and the sorts of its arguments. Out: the sort
//! of the result; nothing when there is no such symbol for these.

use semantics::sort::Sort;

const LOGIC: [&str; 4] = ["and", "or", "xor", "=>"];
/// Of any number of vectors of one width.
const SUMS: [&str; 5] = ["bvand", "bvor", "bvxor", "bvadd", "bvmul"];
/// Of two vectors of one width.
const OPERATIONS: [&str; 12] = [
    "bvsub", "bvudiv", "bvurem", "bvsdiv", "bvsrem", "bvsmod", "bvshl", "bvlshr", "bvashr",
    "bvnand", "bvnor", "bvxnor",
];
const COMPARISONS: [&str; 8] = [
    "bvult", "bvule", "bvugt", "bvuge", "bvslt", "bvsle", "bvsgt", "bvsge",
];

/// The sort of an application.
pub(crate) fn result(symbol: &str, sorts: &[Sort]) -> Option<Sort> {
    use Sort::{Bool, Bv, Mem};
    if sorts.contains(&Sort::Int) {
        return None;
    }
    let alike = sorts.windows(2).all(|pair| pair[0] == pair[1]);
    Some(match (symbol, sorts) {
        ("not", [Bool]) => Bool,
        (logic, [Bool, ..]) if alike && LOGIC.contains(&logic) => Bool,
        ("=" | "distinct", [_, _, ..]) if alike => Bool,
        ("ite", [Bool, x, y]) if x == y => *x,
        ("bvnot" | "bvneg", [Bv(w)]) => Bv(*w),
        (sum, [Bv(w), _, ..]) if alike && SUMS.contains(&sum) => Bv(*w),
        (op, [Bv(w), _]) if alike && OPERATIONS.contains(&op) => Bv(*w),
        (comparison, [Bv(_), _]) if alike && COMPARISONS.contains(&comparison) => Bool,
        ("concat", [Bv(hi), Bv(lo)]) => Bv(hi.checked_add(*lo)?),
        ("select", [Mem, Bv(64)]) => Bv(8),
        ("store", [Mem, Bv(64), Bv(8)]) => Mem,
        (indexed, [Bv(w)]) => Bv(of_indexed(indexed, *w)?),
        _ => return None,
    })
}

/// The width of what `(_ symbol index…)` makes of one vector.
fn of_indexed(symbol: &str, w: u32) -> Option<u32> {
    let inside = symbol.strip_prefix("(_ ")?.strip_suffix(')')?;
    let mut words = inside.split(' ');
    let name = words.next()?;
    let indices: Vec<u32> = words.map(|k| k.parse().ok()).collect::<Option<_>>()?;
    match (name, &indices[..]) {
        ("extract", [hi, lo]) if lo <= hi && *hi < w => Some(hi - lo + 1),
        ("zero_extend" | "sign_extend", [more]) => w.checked_add(*more),
        ("rotate_left" | "rotate_right", [_]) => Some(w),
        ("repeat", [times]) if *times > 0 => w.checked_mul(*times),
        _ => None,
    }
}
