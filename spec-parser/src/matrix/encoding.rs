//! Words as they are written down: `11110 00 0 ms2:3 ms1:3 md:3 000 10 000 0101011`.
//!
//! In: the text, most significant bit first, and the names of operands. Out: an
//! [`Encoding`]. `NAME:WIDTH` is a whole operand, `NAME[HIGH:LOW]` some of its bits.

use crate::pseudocode::reading::Refused;
use semantics::diagnostic::suggest;
use semantics::machine::{Encoding, Field};
use semantics::span::Span;

/// A part of the word before its place is known.
enum Part {
    Fixed(u64, u32),
    Field {
        operand: usize,
        from: u32,
        width: u32,
    },
}

/// The encoding of `bits` bits that a text describes.
pub(super) fn read(text: &str, operands: &[String], bits: u32) -> Result<Encoding, Refused> {
    let mut parts = Vec::new();
    for word in text.split_whitespace() {
        let at = word.as_ptr() as usize - text.as_ptr() as usize;
        parts.push(part(word, Span::new(at, at + word.len()), operands)?);
    }
    let width = |p: &Part| match p {
        Part::Fixed(_, width) | Part::Field { width, .. } => *width,
    };
    let all: u32 = parts.iter().map(width).sum();
    if all != bits {
        let message = format!("these are {all} bits, and an instruction has {bits}");
        let hint = match all < bits {
            true => format!("{} are missing", bits - all),
            false => format!("{} are too many", all - bits),
        };
        return Err(Refused::new(Span::new(0, text.len()), message, hint));
    }
    let mut encoding = Encoding::default();
    let mut at = bits;
    for part in parts {
        at -= width(&part);
        match part {
            Part::Fixed(value, width) => {
                encoding.bits |= value << at;
                encoding.mask |= ((1 << width) - 1) << at;
            }
            Part::Field {
                operand,
                from,
                width,
            } => encoding.fields.push(Field {
                operand,
                at,
                width,
                from,
            }),
        }
    }
    whole(&encoding, text, operands)?;
    Ok(encoding)
}

fn part(word: &str, span: Span, operands: &[String]) -> Result<Part, Refused> {
    let wrong = || {
        let message = format!("`{word}` is no part of a word");
        let hint =
            "parts are bits (`0101`), whole operands (`md:3`) and bits of them (`imm[11:5]`)";
        Refused::new(span, message, hint)
    };
    if word.bytes().all(|b| matches!(b, b'0' | b'1')) {
        let width = u32::try_from(word.len()).map_err(|_| wrong())?;
        let value = u64::from_str_radix(word, 2).map_err(|_| wrong())?;
        return Ok(Part::Fixed(value, width));
    }
    let (name, high, low) = match (word.split_once(':'), word.split_once('[')) {
        (_, Some((name, rest))) => {
            let range = rest.strip_suffix(']').ok_or_else(wrong)?;
            let (high, low) = range.split_once(':').unwrap_or((range, range));
            let number = |t: &str| t.parse::<u32>().map_err(|_| wrong());
            (name, number(high)?, number(low)?)
        }
        (Some((name, width)), None) => {
            let width = width.parse::<u32>().ok().filter(|&w| w > 0);
            (name, width.ok_or_else(wrong)? - 1, 0)
        }
        (None, None) => return Err(wrong()),
    };
    if high < low || high > 63 {
        return Err(wrong());
    }
    let operand = operands.iter().position(|o| o == name).ok_or_else(|| {
        let names = operands.iter().map(String::as_str);
        let hint = match suggest(name, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the operands are {}", operands.join(", ")),
        };
        Refused::new(span, format!("there is no operand `{name}`"), hint)
    })?;
    let (from, width) = (low, high - low + 1);
    Ok(Part::Field {
        operand,
        from,
        width,
    })
}

/// Every operand has its bits once.
fn whole(encoding: &Encoding, text: &str, operands: &[String]) -> Result<(), Refused> {
    for (k, name) in operands.iter().enumerate() {
        let (high, low) = encoding.extent(k);
        let own = encoding.fields.iter().filter(|f| f.operand == k);
        let held: u32 = own.map(|f| f.width).sum();
        let message = match () {
            () if held == 0 => format!("the operand `{name}` is not in the word"),
            () if held != high - low => {
                format!("some bits of `{name}` are in the word twice or never")
            }
            () => continue,
        };
        let span = Span::new(0, text.len());
        let hint = format!("write `{name}:WIDTH`, or `{name}[HIGH:LOW]` for each of its parts");
        return Err(Refused::new(span, message, hint));
    }
    Ok(())
}
