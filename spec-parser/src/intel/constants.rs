//! Numbers of the constants that the Guide's texts name and do not define.
//!
//! In: a name, or a type in C. Out: its number, or how many numbers the type has. They are the
//! enumerations of Intel's header files, as its own compilers have them; comparisons and rounding
//! modes are not here, as the machine takes these by their names.

/// Enumerations: the type, what its names begin with, and these in the order of their numbers;
/// of names on one line, parted by `|`, all have the same number.
const ENUMERATIONS: [(&str, &str, &[&str]); 12] = [
    ("_MM_UPCONV_PS_ENUM", "_MM_UPCONV_PS_", SINGLES),
    ("_MM_UPCONV_EPI32_ENUM", "_MM_UPCONV_EPI32_", DOUBLE_WORDS),
    ("_MM_UPCONV_PD_ENUM", "_MM_UPCONV_PD_", &["NONE"]),
    ("_MM_UPCONV_EPI64_ENUM", "_MM_UPCONV_EPI64_", &["NONE"]),
    ("_MM_DOWNCONV_PS_ENUM", "_MM_DOWNCONV_PS_", SINGLES),
    (
        "_MM_DOWNCONV_EPI32_ENUM",
        "_MM_DOWNCONV_EPI32_",
        DOUBLE_WORDS,
    ),
    ("_MM_DOWNCONV_PD_ENUM", "_MM_DOWNCONV_PD_", &["NONE"]),
    ("_MM_DOWNCONV_EPI64_ENUM", "_MM_DOWNCONV_EPI64_", &["NONE"]),
    (
        "_MM_SWIZZLE_ENUM",
        "_MM_SWIZ_REG_",
        &[
            "NONE|DCBA",
            "CDAB",
            "BADC",
            "AAAA",
            "BBBB",
            "CCCC",
            "DDDD",
            "DACB",
        ],
    ),
    (
        "_MM_BROADCAST32_ENUM",
        "_MM_BROADCAST",
        &["32_NONE|_16X16", "_1X16", "_4X16"],
    ),
    (
        "_MM_BROADCAST64_ENUM",
        "_MM_BROADCAST",
        &["64_NONE|_8X8", "_1X8", "_4X8"],
    ),
    (
        "_MM_EXP_ADJ_ENUM",
        "_MM_EXPADJ_",
        &["NONE", "4", "5", "8", "16", "24", "31", "32"],
    ),
];

const SINGLES: &[&str] = &["NONE", "FLOAT16", "UINT8", "SINT8", "UINT16", "SINT16"];
const DOUBLE_WORDS: &[&str] = &["NONE", "UINT8", "SINT8", "UINT16", "SINT16"];

/// The number of a constant.
pub(super) fn number(name: &str) -> Option<i128> {
    ENUMERATIONS.iter().find_map(|(_, start, names)| {
        let rest = name.strip_prefix(start)?;
        let at = names.iter().position(|n| n.split('|').any(|n| n == rest))?;
        i128::try_from(at).ok()
    })
}

/// The greatest number of an enumeration.
pub(super) fn most(c_type: &str) -> Option<u32> {
    let found = ENUMERATIONS.iter().find(|(name, ..)| *name == c_type);
    found.map(|(_, _, names)| names.len() as u32 - 1)
}
