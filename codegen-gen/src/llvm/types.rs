//! Types of LLVM IR, and values with their types.
//!
//! In: numbers of lanes and bits, the text of a type. Out: the text of a type, its width, constants
//! of it. It writes no line.

use semantics::bits::Bits;

/// A value with its type.
#[derive(Clone, Debug)]
pub(super) struct Typed {
    /// What it is called.
    pub(super) name: String,
    /// The text of its type.
    pub(super) ty: String,
    /// Its width in bits.
    pub(super) width: u32,
}

impl Typed {
    /// An integer.
    pub(super) fn integer(name: String, width: u32) -> Typed {
        Typed {
            name,
            ty: format!("i{width}"),
            width,
        }
    }
}

/// So many integers of a width side by side; one of them is no vector.
pub(super) fn integers(lanes: usize, width: u32) -> String {
    vector(lanes, &format!("i{width}"))
}

/// So many values of a type side by side; one of them is no vector.
pub(super) fn vector(lanes: usize, element: &str) -> String {
    match lanes {
        1 => element.to_owned(),
        _ => format!("<{lanes} x {element}>"),
    }
}

/// The type in which so many bits are loaded: a vector where they are more than a number has.
pub(super) fn held(width: u32) -> String {
    let unit = [32, 8].into_iter().find(|unit| width.is_multiple_of(*unit));
    match unit {
        Some(unit) if width > 64 => integers((width / unit) as usize, unit),
        _ => format!("i{width}"),
    }
}

/// The bits of a value of a type; nothing for pointers, structures and what is no type.
pub(super) fn width(ty: &str) -> Option<u32> {
    if let Some(inner) = ty.strip_prefix('<').and_then(|t| t.strip_suffix('>')) {
        let (lanes, element) = inner.split_once(" x ")?;
        return lanes.parse::<u32>().ok()?.checked_mul(width(element)?);
    }
    match ty {
        "half" | "bfloat" => Some(16),
        "float" => Some(32),
        "double" => Some(64),
        _ => ty.strip_prefix('i')?.parse().ok(),
    }
}

/// Whether a type is one integer.
pub(super) fn is_integer(ty: &str) -> bool {
    ty.starts_with('i')
}

/// A constant of any width.
pub(super) fn number(bits: &Bits) -> String {
    match bits.width() {
        1 => (bits.low_u64() == 1).to_string(),
        2..=64 => bits.low_u64().to_string(),
        _ if bits.is_zero() => "0".to_owned(),
        // LLVM reads hexadecimal integers of any width when they are marked as unsigned.
        _ => {
            let bytes = bits.to_bytes();
            let digits: String = bytes.iter().rev().map(|b| format!("{b:02X}")).collect();
            format!("u0x{digits}")
        }
    }
}

/// Constants side by side.
pub(super) fn numbers(values: &[Bits]) -> String {
    if let [only] = values {
        return number(only);
    }
    if values.iter().all(Bits::is_zero) {
        return "zeroinitializer".to_owned();
    }
    let each = values.iter();
    let each = each.map(|bits| format!("i{} {}", bits.width(), number(bits)));
    format!("<{}>", each.collect::<Vec<_>>().join(", "))
}

/// The same constant in so many lanes.
pub(super) fn everywhere(lanes: usize, bits: &Bits) -> String {
    numbers(&vec![bits.clone(); lanes])
}

/// The lanes that a shuffle takes; nothing where it does not matter.
pub(super) fn mask(lanes: &[Option<usize>]) -> String {
    let each = lanes.iter().map(|lane| match lane {
        Some(lane) => format!("i32 {lane}"),
        None => "i32 poison".to_owned(),
    });
    let each: Vec<String> = each.collect();
    format!("<{} x i32> <{}>", lanes.len(), each.join(", "))
}
