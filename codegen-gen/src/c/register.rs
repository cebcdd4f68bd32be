//! Registers in C: types, constants, conversions, loads and stores by width.
//!
//! In: widths in bits, names of variables. Out: C expressions over Intel's intrinsics for
//! moving whole registers. It names no instruction that computes.

use semantics::bits::Bits;

/// The C type of a variable that holds so many bits: a vector, or an unsigned number.
pub(super) fn register_type(width: u32) -> String {
    match width {
        512 | 256 => format!("__m{width}i"),
        128 => "__m128i".to_owned(),
        33..=64 => "uint64_t".to_owned(),
        17..=32 => "uint32_t".to_owned(),
        9..=16 => "uint16_t".to_owned(),
        _ => "uint8_t".to_owned(),
    }
}

/// Whether there is a register of just so many bits.
pub(super) fn is_whole(width: u32) -> bool {
    is_vector(width) || matches!(width, 8 | 16 | 32 | 64)
}

/// Whether so many bits are held in a vector register.
pub(super) fn is_vector(width: u32) -> bool {
    matches!(width, 128 | 256 | 512)
}

/// The feature that moving and holding registers of a width needs beyond SSE2, if any.
pub(super) fn feature(width: u32) -> Option<&'static str> {
    match width {
        512 => Some("AVX512F"),
        256 => Some("AVX"),
        _ => None,
    }
}

/// How intrinsics of a vector width begin and end: `_mm512`, `si512`.
fn affixes(width: u32) -> (&'static str, &'static str) {
    match width {
        512 => ("_mm512", "si512"),
        256 => ("_mm256", "si256"),
        _ => ("_mm", "si128"),
    }
}

/// The vector at an address that need not be aligned.
pub(super) fn load(width: u32, address: &str) -> String {
    let (prefix, suffix) = affixes(width);
    let cast = if width == 512 {
        ""
    } else {
        &format!("(const {} *)", register_type(width))
    };
    format!("{prefix}_loadu_{suffix}({cast}{address})")
}

/// The statement that stores a vector at an address that need not be aligned.
pub(super) fn store(width: u32, address: &str, value: &str) -> String {
    let (prefix, suffix) = affixes(width);
    let cast = if width == 512 {
        ""
    } else {
        &format!("({} *)", register_type(width))
    };
    format!("{prefix}_storeu_{suffix}({cast}{address}, {value});")
}

/// The width of the registers that are loaded and stored under masks.
pub(super) const MASKED: u32 = 512;

/// The feature that loads and stores elements of so many bits under a mask, if any does.
pub(super) fn masking(element: u32) -> Option<&'static str> {
    match element {
        8 | 16 => Some("AVX512BW"),
        32 | 64 => Some("AVX512F"),
        _ => None,
    }
}

/// The vector at an address; elements off the mask are 0 and not touched.
pub(super) fn load_masked(element: u32, mask: &str, address: &str) -> String {
    format!("_mm512_maskz_loadu_epi{element}({mask}, {address})")
}

/// The statement that stores those elements of a vector that are on the mask.
pub(super) fn store_masked(element: u32, mask: &str, address: &str, value: &str) -> String {
    format!("_mm512_mask_storeu_epi{element}({address}, {mask}, {value});")
}

/// Whether parts of so many bits are taken out of a register by the extension that the register
/// needs anyway.
pub(super) fn is_extracted(width: u32, part: u32) -> bool {
    width == 512 && matches!(part, 128 | 256)
}

/// Part number `k` of a register, of so many bits.
pub(super) fn extract(width: u32, part: u32, k: u32, value: &str) -> String {
    debug_assert!(is_extracted(width, part), "{part} bits of {width}");
    match part {
        256 => format!("_mm512_extracti64x4_epi64({value}, {k})"),
        _ => format!("_mm512_extracti32x4_epi32({value}, {k})"),
    }
}

/// The address so many bits behind another one, as something that a cast may precede.
pub(super) fn offset(address: &str, bits: u32) -> String {
    match bits {
        0 => address.to_owned(),
        _ => format!("((uint8_t *){address} + {})", bits / 8),
    }
}

/// The vector with one number in every element of so many bits.
pub(super) fn broadcast(width: u32, element: u32, value: &str) -> String {
    let (prefix, _) = affixes(width);
    let last = if element == 64 && width < 512 {
        "x"
    } else {
        ""
    };
    let cast = match element {
        8 => "char",
        16 => "short",
        32 => "int",
        _ => "long long",
    };
    format!("{prefix}_set1_epi{element}{last}(({cast}){value})")
}

/// A register at another width: upper bits undefined, or cut off.
pub(super) fn resize(from: u32, to: u32, value: &str) -> String {
    let vector = |width| is_vector(width);
    match (vector(from), vector(to)) {
        _ if from == to => value.to_owned(),
        (true, true) => {
            let (prefix, suffix) = affixes(from.max(to));
            format!(
                "{prefix}_cast{}_{}({value})",
                affixes(from).1,
                if from < to { suffix } else { affixes(to).1 }
            )
        }
        (false, true) => {
            let low = match from {
                64 => format!("_mm_cvtsi64_si128((long long){value})"),
                _ => format!("_mm_cvtsi32_si128((int){value})"),
            };
            resize(128, to, &low)
        }
        (true, false) => {
            let low = resize(from, 128, value);
            let number = if to > 32 {
                "_mm_cvtsi128_si64"
            } else {
                "_mm_cvtsi128_si32"
            };
            format!("({}){number}({low})", register_type(to))
        }
        (false, false) => format!("({}){value}", register_type(to)),
    }
}

/// A vector variable as an operand or from a result of another C type.
pub(super) fn reinterpret(value: &str, width: u32, from: &str, to: &str) -> String {
    let letters = |c_type: &str| match c_type.trim() {
        t if t.ends_with("bh") => None,
        "__m512" | "__m256" | "__m128" => Some("ps"),
        "__m512d" | "__m256d" | "__m128d" => Some("pd"),
        "__m512h" | "__m256h" | "__m128h" => Some("ph"),
        _ => Some(affixes(width).1),
    };
    match (letters(from), letters(to)) {
        (Some(a), Some(b)) if a == b => value.to_owned(),
        (Some(a), Some(b)) => format!("{}_cast{a}_{b}({value})", affixes(width).0),
        _ => format!("({to}){value}"),
    }
}

/// How a constant register is written.
pub(super) enum Constant {
    /// As an expression.
    Expression(String),
    /// As a table in memory: the elements, of so many bits.
    Table(u32, Vec<String>),
}

/// A constant register, its elements of so many bits where they differ.
pub(super) fn constant(bits: &Bits, element: u32) -> Constant {
    let width = bits.width();
    if !is_vector(width) {
        return Constant::Expression(
            format!("{}u", bits.low_u64()).replace("u", if width > 32 { "ull" } else { "u" }),
        );
    }
    if bits.is_zero() {
        let (prefix, suffix) = affixes(width);
        return Constant::Expression(format!("{prefix}_setzero_{suffix}()"));
    }
    let parts = |w: u32| {
        (0..width / w)
            .map(|k| bits.extract(k * w, w).low_u64())
            .collect::<Vec<u64>>()
    };
    for unit in [8, 16, 32, 64] {
        let all = parts(unit);
        if all.iter().all(|part| *part == all[0]) {
            return Constant::Expression(broadcast(width, unit, &hex(all[0])));
        }
    }
    let element = if matches!(element, 8 | 16 | 32 | 64) {
        element
    } else {
        32
    };
    Constant::Table(element, parts(element).into_iter().map(number).collect())
}

/// A number as people read it: small ones in decimal.
fn number(value: u64) -> String {
    if value < 10_000 {
        value.to_string()
    } else {
        hex(value)
    }
}

/// A number with its suffix, small ones in decimal.
fn hex(value: u64) -> String {
    match value {
        0..10_000 => value.to_string(),
        _ if value >> 32 == 0 => format!("{value:#x}"),
        _ => format!("{value:#x}ull"),
    }
}
