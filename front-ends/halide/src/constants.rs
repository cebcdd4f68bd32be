//! Exact float constants.
//!
//! In: a second output of the module whose statements are read: Halide's C, which has constants as
//! `float_from_bits(1069066811 /* 1.4427 */)` (those of `float64` are rounded there), or its LLVM text, which has them as `float
//! 0x3FF7154760000000` or in digits that are exact; or both. Out: for each number as the statement
//! text prints it, with six decimals, the floats that are printed so. Where that is one, it is the
//! constant; where they are several, which of them stands where is not known.

use super::import::{Importer, Made};
use super::value::{Value, constant};
use kernel::literal::pattern;
use kernel::types::{Elem, Type};
use semantics::float::Format;
use semantics::span::Span;
use std::collections::{BTreeMap, BTreeSet};

/// The float constants of a module.
#[derive(Clone, Debug, Default)]
pub struct Constants {
    /// Whether they were read from somewhere.
    known: bool,
    /// Patterns by format and text.
    patterns: BTreeMap<(Format, String), BTreeSet<u64>>,
}

/// A float as the statement text prints it: with six decimals, below a millionth with six
/// digits and an exponent.
fn printed(format: Format, bits: u64) -> String {
    let value = match format {
        Format::F32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    };
    if value == 0.0 || value.abs() >= 1e-6 {
        return format!("{value:.6}");
    }
    let text = format!("{value:.6e}");
    match text.split_once("e-") {
        Some((digits, exponent)) => format!("{digits}e-{exponent:0>2}"),
        None => text,
    }
}

impl Constants {
    /// Those of Halide's C or LLVM text.
    pub fn of(text: &str) -> Constants {
        let mut found = Constants {
            known: true,
            ..Constants::default()
        };
        for part in text.split("float_from_bits(").skip(1) {
            let digits = part.split(|c: char| !c.is_ascii_digit()).next();
            if let Some(bits) = digits.and_then(|d| d.parse::<u32>().ok()) {
                found.add(Format::F32, u64::from(bits));
            }
        }
        // Of `float32`, C has just the constants of the pipeline, LLVM's text the run time's too.
        let single = !text.contains("float_from_bits(");
        for line in text.lines() {
            let mut ty = "";
            for word in line.split(|c: char| c.is_whitespace() || "(),<>[]{}".contains(c)) {
                match word {
                    "float" | "double" => ty = word,
                    _ if ty == "double" || ty == "float" && single => found.literal(ty, word),
                    _ => {}
                }
            }
        }
        found
    }

    /// A constant of LLVM's text: the bits of a `double`, or digits.
    fn literal(&mut self, ty: &str, word: &str) {
        let hex = word.strip_prefix("0x").filter(|h| h.len() == 16);
        let value = match hex {
            Some(hex) => u64::from_str_radix(hex, 16).ok().map(f64::from_bits),
            None if word.contains("e+") || word.contains("e-") => word.parse().ok(),
            None => None,
        };
        match (ty, value) {
            ("float", Some(value)) => self.add(Format::F32, u64::from((value as f32).to_bits())),
            (_, Some(value)) => self.add(Format::F64, value.to_bits()),
            (_, None) => {}
        }
    }

    /// A constant with either sign: the two outputs fold negations differently.
    fn add(&mut self, format: Format, bits: u64) {
        for bits in [bits, bits ^ format.sign()] {
            let list = self
                .patterns
                .entry((format, printed(format, bits)))
                .or_default();
            list.insert(bits);
        }
    }

    /// What a text may stand for.
    fn candidates(&self, format: Format, digits: &str) -> Vec<u64> {
        let found = self.patterns.get(&(format, digits.to_owned()));
        found.into_iter().flatten().copied().collect()
    }
}

impl Importer<'_> {
    /// The type of a constant with a point, by its last letter. Both formats of 16 bits are printed with
    /// an `h`: where a pipeline has arrays of both, it is a half float, and refused beside the other.
    pub(super) fn format_of(&self, text: &str) -> Format {
        let has = |format| {
            let mut arrays = self.kernel.arrays.iter();
            arrays.any(|array| array.elem == Elem::Float(format))
        };
        match text.chars().last() {
            Some('h') if has(Format::Bf16) && !has(Format::F16) => Format::Bf16,
            Some('h') => Format::F16,
            _ if text.ends_with('f') => Format::F32,
            _ => Format::F64,
        }
    }

    /// A float constant.
    pub(super) fn decimal(&mut self, text: &str, ty: Type, span: Span) -> Made<Value> {
        let digits = text.trim_end_matches(['f', 'h']);
        let digits = if text.contains("inf") { text } else { digits };
        let Some(format) = ty.elem.format() else {
            return self.refuse(
                span,
                format!("a constant with a point of type {}", ty.elem),
                "the text is damaged: let Halide write it again",
            );
        };
        let value = |bits: i128| Ok(Value::Data(constant(ty, bits, span)));
        if text.contains("inf") {
            let sign = if text.starts_with('-') {
                format.sign()
            } else {
                0
            };
            return value(i128::from(format.infinity() | sign));
        }
        if text.contains("nan") {
            return value(i128::from(format.infinity() | format.quiet_bit()));
        }
        let exact = pattern(format, digits).filter(|(_, exact)| *exact);
        match (&self.options.constants.candidates(format, digits)[..], exact) {
            (&[one], _) => value(i128::from(one)),
            ([], Some((bits, _))) => {
                self.printed.insert(text.to_owned());
                value(bits)
            }
            ([], None) if self.options.constants.known => self.refuse(
                span,
                format!("`{text}` is none of the constants that `--constants` gives"),
                "let Halide write both files in one go, with `func.compile_to`; constants of float64 are exact in its LLVM text alone",
            ),
            ([], None) => self.refuse(
                span,
                format!("`{text}` is not a {} exactly: the text has rounded the constant", ty.elem),
                "let Halide write its C too, `func.compile_to_c(\"f.c\", …)`, where constants are exact, and give it with `--constants f.c` (its LLVM text for float64)",
            ),
            (several, _) => {
                let all: Vec<String> = several.iter().map(|bits| format!("{bits:#x}")).collect();
                let message = format!(
                    "`{text}` stands for several constants of the pipeline, with the bits {}",
                    all.join(" and ")
                );
                self.refuse(
                    span,
                    message,
                    "the text prints six decimals: pass one of them as a `Param`, or scale it",
                )
            }
        }
    }

    /// What is to be told of constants that were taken as they are printed.
    pub(super) fn tell_of_constants(&mut self) {
        let Some(first) = self.printed.first() else {
            return;
        };
        let more = match self.printed.len() {
            1 => String::new(),
            n => format!(" and {} more", n - 1),
        };
        let message = format!(
            "float constants are taken as the text prints them, with six decimals: `{first}`{more}"
        );
        let hint = "`--constants` with Halide's C of the same module gives them exactly";
        let warning = semantics::diagnostic::Diagnostic::warning(message);
        let warning = warning.at(&self.kernel.source, self.program.span);
        self.warnings.push(warning.hint(hint));
    }
}
