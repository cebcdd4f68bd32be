//! Constants as solvers write them.
//!
//! In: text in any of SMT-LIB's notations, and the sort that it must be of. Out: a value. Whatever
//! is not exactly that is an error, never a guess.

use semantics::bits::Bits;
use semantics::sort::Sort;
use semantics::value::Value;

/// The value of a constant: `true`, `#b…`, `#x…`, `(_ bvN w)`.
///
/// # Errors
/// When it is none of that sort.
pub fn read(text: &str, sort: Sort) -> Result<Value, String> {
    let text = text.trim();
    let found = match sort {
        Sort::Bool => text.parse().ok().map(Value::Bool),
        Sort::Bv(width) => bits(text, width).map(Value::Bv),
        Sort::Int | Sort::Mem => None,
    };
    found.ok_or_else(|| {
        let start: String = text.chars().take(120).collect();
        format!("`{start}` is no value of sort {sort}")
    })
}

fn bits(text: &str, width: u32) -> Option<Bits> {
    match text.split_at_checked(2)? {
        ("#b", digits) => of_digits(digits, 1, width),
        ("#x", digits) => of_digits(digits, 4, width),
        _ => of_number(text, width),
    }
}

fn of_digits(digits: &str, each: u32, width: u32) -> Option<Bits> {
    if width == 0 || u32::try_from(digits.len()).ok()?.checked_mul(each)? != width {
        return None;
    }
    let mut out = Bits::zero(width);
    for (k, digit) in (0..).zip(digits.chars().rev()) {
        let digit = digit.to_digit(1 << each)?;
        out = out.insert(k * each, &Bits::from_u64(each, u64::from(digit)));
    }
    Some(out)
}

fn of_number(text: &str, width: u32) -> Option<Bits> {
    let inside = text.strip_prefix("(_ bv")?.strip_suffix(')')?;
    let (number, stated) = inside.split_once(' ')?;
    let number: num_bigint::BigUint = number.parse().ok()?;
    if stated.trim().parse() != Ok(width) || number.bits() > u64::from(width) {
        return None;
    }
    let mut bytes = number.to_bytes_le();
    bytes.resize(width.div_ceil(8) as usize, 0);
    Some(Bits::from_bytes(width, &bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str, width: u32) -> Option<u64> {
        match read(text, Sort::Bv(width)) {
            Ok(Value::Bv(bits)) => bits.to_u64(),
            _ => None,
        }
    }

    #[test]
    fn every_notation_is_read() {
        assert_eq!(number("#b0101", 4), Some(5));
        assert_eq!(number(" #x1f", 8), Some(0x1f));
        assert_eq!(number("(_ bv16 64)", 64), Some(16));
        assert_eq!(read("false", Sort::Bool), Ok(Value::Bool(false)));
    }

    #[test]
    fn what_is_of_another_sort_is_no_value() {
        for (text, width) in [
            ("#b0101", 5),
            ("#x1f", 9),
            ("#xzz", 8),
            ("#b", 1),
            ("(_ bv16 64)", 4),
            ("(_ bv16 4)", 4),
            ("(_ bv-1 4)", 4),
            ("true", 1),
            ("é", 8),
            ("", 8),
        ] {
            assert_eq!(number(text, width), None, "{text}");
        }
        assert!(read("#b1", Sort::Bool).is_err());
    }
}
