//! What schemas before 3.5 leave out: the element types.
//!
//! In: an entry whose parameters lack them. Out: the same with the element types that the
//! names tell. Intel's names end in the elements (`_epi16`, `_epu8`, `_ps`), and conversions
//! name the elements that they start from too (`cvtepi8`); constants are told by their types
//! and names. What a file gives is never changed, and what no name tells stays untold.

use super::{Entry, Parameter};

/// Completes an entry.
pub(super) fn complete(entry: &mut Entry) {
    let words: Vec<&str> = entry.name.split('_').collect();
    let result = words.iter().rev().find_map(|w| suffix(w));
    let from = words
        .iter()
        .filter_map(|w| w.strip_prefix("cvt"))
        .find_map(|w| suffix(without_mode(w)));
    let operand = from.or_else(|| result.clone());
    for parameter in &mut entry.parameters {
        tell(parameter, operand.as_deref());
    }
    tell(&mut entry.returns, result.as_deref());
}

/// A conversion's word without what follows `cvt` for saturation, truncation or rounding.
fn without_mode(word: &str) -> &str {
    ["us", "s", "t"]
        .into_iter()
        .filter_map(|mode| word.strip_prefix(mode))
        .find(|rest| suffix(rest).is_some())
        .unwrap_or(word)
}

/// The element type that a word of a name stands for.
fn suffix(word: &str) -> Option<String> {
    let integer = |stem: &str, letters: &str| {
        let width = word.strip_prefix(stem)?;
        matches!(width, "8" | "16" | "32" | "64").then(|| format!("{letters}{width}"))
    };
    integer("epi", "SI")
        .or_else(|| integer("epu", "UI"))
        .or_else(|| integer("pi", "SI"))
        .or_else(|| integer("pu", "UI"))
        .or_else(|| {
            let float = match word {
                "ps" | "ss" => "FP32",
                "pd" | "sd" => "FP64",
                "ph" | "sh" => "FP16",
                "pbh" => "BF16",
                _ => return None,
            };
            Some(float.to_owned())
        })
}

/// Gives a parameter the element type that its type or the intrinsic's name tells.
fn tell(parameter: &mut Parameter, element: Option<&str>) {
    if !parameter.etype.is_empty() {
        return;
    }
    let c_type = parameter.c_type.as_str();
    let enumeration = c_type.starts_with("_MM_") && c_type.ends_with("_ENUM");
    let named = matches!(parameter.name.as_str(), "rounding" | "sae" | "scale");
    let constant = c_type == "const int" || parameter.name.to_lowercase().starts_with("imm");
    parameter.etype = if c_type.starts_with("__mmask") && !c_type.contains('*') {
        "MASK"
    } else if enumeration || named || constant {
        "IMM"
    } else if matches!(c_type, "__m64" | "__m128i" | "__m256i" | "__m512i") {
        // Of these the C type does not tell whether they hold integers of some width.
        element.filter(|e| !e.starts_with('F')).unwrap_or_default()
    } else {
        ""
    }
    .to_owned();
}
