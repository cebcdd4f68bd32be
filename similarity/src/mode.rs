//! Families of operators that differ only in how their arguments are read.
//!
//! In: operators. Out: [`Family`] and a number in it: signedness and saturation are
//! parameters of a class, as widths are. Operators of different families never share a
//! class.

use semantics::op::OpCode;

/// Operators that are one operation in several modes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Family {
    /// Zero (0) or sign (1) extension.
    Extend,
    /// Saturation: signed to signed (0), signed to unsigned (1), unsigned to signed (2),
    /// unsigned to unsigned (3).
    Saturate,
    /// Unsigned (0) or signed (1) minimum.
    Min,
    /// Unsigned (0) or signed (1) maximum.
    Max,
    /// Unsigned (0) or signed (1) less-than.
    Less,
    /// Unsigned (0) or signed (1) at-most.
    AtMost,
    /// Logical (0) or arithmetic (1) right shift.
    ShiftRight,
    /// Unsigned (0) or signed (1) quotient.
    Divide,
    /// Unsigned (0) or signed (1) remainder.
    Remainder,
}

const FAMILIES: &[(Family, &str, &[OpCode])] = &[
    (Family::Extend, "extend", &[OpCode::Zext, OpCode::Sext]),
    (
        Family::Saturate,
        "saturate",
        &[OpCode::SatSS, OpCode::SatSU, OpCode::SatUS, OpCode::SatUU],
    ),
    (Family::Min, "min", &[OpCode::Umin, OpCode::Smin]),
    (Family::Max, "max", &[OpCode::Umax, OpCode::Smax]),
    (Family::Less, "less", &[OpCode::BvUlt, OpCode::BvSlt]),
    (Family::AtMost, "at_most", &[OpCode::BvUle, OpCode::BvSle]),
    (
        Family::ShiftRight,
        "shift_right",
        &[OpCode::BvLshr, OpCode::BvAshr],
    ),
    (Family::Divide, "divide", &[OpCode::BvUdiv, OpCode::BvSdiv]),
    (
        Family::Remainder,
        "remainder",
        &[OpCode::BvUrem, OpCode::BvSrem],
    ),
];

impl Family {
    /// The family of an operator and its number there.
    pub fn of(code: OpCode) -> Option<(Family, i64)> {
        FAMILIES.iter().find_map(|(family, _, codes)| {
            let at = codes.iter().position(|&c| c == code)?;
            Some((*family, i64::try_from(at).ok()?))
        })
    }

    fn row(self) -> &'static (Family, &'static str, &'static [OpCode]) {
        let row = FAMILIES.iter().find(|(f, ..)| *f == self);
        row.expect("every family has a row")
    }

    /// Its name in the text form.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// Its operators, by mode.
    pub fn operators(self) -> &'static [OpCode] {
        self.row().2
    }

    /// The family of that name.
    pub fn by_name(name: &str) -> Option<Family> {
        FAMILIES
            .iter()
            .find(|(_, n, _)| *n == name)
            .map(|(family, ..)| *family)
    }
}
