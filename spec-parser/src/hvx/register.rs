//! Names of registers and of their parts, as the manual spells them.
//!
//! In: names. Out: what they say: `Vu` is a vector, `Vuu` two, `QvV` the bits of the predicate
//! `Qv`, `Rt` a number, `Vx` and its kin are read and written; `.uh` are unsigned elements of 16
//! bits. It knows no widths of vectors: they are the manifest's.

/// What a field's elements are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Field {
    /// Bits of one.
    pub(super) width: u32,
    /// Whether it is read in two's complement.
    pub(super) signed: bool,
}

/// The elements that a field names.
pub(super) fn field(name: &str) -> Option<Field> {
    let (letter, signed) = match name.strip_prefix('u') {
        Some(rest) => (rest, false),
        None => (name, true),
    };
    let width = match letter {
        "n" => 4,
        "b" => 8,
        "h" => 16,
        "w" => 32,
        "dw" => 64,
        _ => return None,
    };
    Some(Field { width, signed })
}

/// The names of all fields, for suggestions.
pub(super) const FIELDS: [&str; 10] = ["b", "ub", "h", "uh", "w", "uw", "n", "un", "dw", "udw"];

/// How many vectors a name of a register holds: `Vu` one, `Vuu` two; none for others.
pub(super) fn vectors(name: &str) -> Option<u32> {
    match name.as_bytes() {
        [b'V', x] if x.is_ascii_lowercase() => Some(1),
        [b'V', x, y] if x == y && x.is_ascii_lowercase() => Some(2),
        [b'Q', x] if x.is_ascii_lowercase() => Some(1),
        _ => None,
    }
}

/// The predicate whose bits a name means.
pub(super) fn predicate(name: &str) -> Option<&str> {
    let inner = name.strip_suffix('V')?;
    (inner.len() == 2 && inner.starts_with('Q')).then_some(inner)
}

/// Whether a register of that name is an operand and the result.
pub(super) fn is_updated(name: &str) -> bool {
    matches!(name, "Vx" | "Vxx" | "Qx" | "Rx" | "Rxx")
}

/// The names of results that are no operands.
pub(super) const RESULTS: [&str; 5] = ["Vd", "Vdd", "Qd", "Rd", "Rdd"];
