//! The C types of the Intrinsics Guide.
//!
//! In: a type as the guide spells it. Out: its width. Families take the types of their set
//! from its manifest.

use crate::signature;

/// The width in bits of a type by value; 0 for `void`, `None` for pointers and for types that
/// are not known.
pub fn c_type_width(c_type: &str) -> Option<u32> {
    let bare = c_type
        .trim_start_matches("constexpr ")
        .trim_start_matches("const ")
        .trim();
    if bare.contains('*') {
        return None;
    }
    Some(match bare {
        "__m64" => 64,
        "__m128" | "__m128d" | "__m128i" | "__m128h" | "__m128bh" => 128,
        "__m256" | "__m256d" | "__m256i" | "__m256h" | "__m256bh" => 256,
        "__m512" | "__m512d" | "__m512i" | "__m512h" | "__m512bh" => 512,
        "__mmask8" | "__int8" => 8,
        "__mmask16" | "__int16" | "__bfloat16" | "__bf16" => 16,
        "__mmask32" | "__int32" | "unsigned __int32" => 32,
        "__mmask64" | "__int64" | "unsigned __int64" => 64,
        name if name.starts_with("_MM_") && name.ends_with("_ENUM") => 32,
        _ => return signature::c_type_width(bare),
    })
}
