//! What LLVM calls intrinsics: `isa-specs/<isa>/llvm.yaml`.
//!
//! In: the folder of an instruction set. Out: [`Names`], a form for each intrinsic that the
//! file names; and `llvm_members.yaml`, whole bodies. A row of the file stands for several, one for each width and element.

use crate::compile::read;
use codegen_gen::llvm::{Form, FormText, Names};
use codegen_gen::lowering;
use semantics::diagnostic::Diagnostic;
use semantics::spelling::{Spelling, quoted};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Members {
    rows: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    rows: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    c: String,
    call: Option<String>,
    ir: Option<String>,
    #[serde(rename = "type", default = "same")]
    result: String,
    args: Option<Vec<String>>,
    #[serde(default = "two")]
    count: usize,
    #[serde(default = "all_widths")]
    widths: Vec<u32>,
    #[serde(default = "all_elements")]
    elements: Vec<u32>,
}

fn same() -> String {
    "{T}".to_owned()
}

fn two() -> usize {
    2
}

fn all_widths() -> Vec<u32> {
    vec![128, 256, 512]
}

fn all_elements() -> Vec<u32> {
    vec![8, 16, 32, 64]
}

/// The names of an instruction set.
///
/// # Errors
/// A file that is missing or is not as described at its head.
pub(crate) fn names(folder: &Path) -> Result<Names, Diagnostic> {
    let path = folder.join("llvm.yaml");
    if !path.exists() {
        let message = format!("no LLVM IR for this set: there is no `{}`", path.display());
        return Err(Diagnostic::error(message).hint(
            "`--emit c` writes C; where LLVM has the instructions, `llvm.yaml` says what it calls \
             them, as that of x86 does",
        ));
    }
    let source = read(&path)?;
    parse(source.text())
        .map_err(|message| Diagnostic::error(format!("{}: {message}", path.display())))
}

/// What LLVM makes of each intrinsic of an instruction set; nothing without the file.
///
/// # Errors
/// A file that is not as described at its head.
pub(crate) fn rows(folder: &Path) -> Result<BTreeMap<String, lowering::Row>, Diagnostic> {
    let path = folder.join("llvm_members.yaml");
    if !path.exists() {
        return Ok(BTreeMap::new());
    }
    let source = read(&path)?;
    let wrong = |message: String| Diagnostic::error(format!("{}: {message}", path.display()));
    let file: Members =
        spec_parser::yaml::from_str(source.text()).map_err(|e| wrong(e.to_string()))?;
    lowering::rows(&file.rows).map_err(wrong)
}

/// The most widths, elements and operands of a row.
const MOST: usize = 16;

pub(crate) fn parse(text: &str) -> Result<Names, String> {
    let file: File = spec_parser::yaml::from_str(text).map_err(|error| error.to_string())?;
    let mut names = Names::new();
    for row in &file.rows {
        let few = [row.widths.len(), row.elements.len(), row.count];
        if few.iter().any(|&n| n > MOST) {
            return Err(format!("`{}`: at most {MOST} of each", quoted(&row.c)));
        }
        let zero = |all: &[u32]| all.contains(&0);
        if zero(&row.widths) || zero(&row.elements) {
            return Err(format!("`{}`: a width is at least 1", row.c));
        }
        for (width, element) in row
            .widths
            .iter()
            .flat_map(|w| row.elements.iter().map(move |e| (*w, *e)))
        {
            let (name, form) = row.form(width, element)?;
            names.insert(name, form);
        }
    }
    Ok(names)
}

impl Row {
    /// The row for one width and element.
    fn form(&self, width: u32, element: u32) -> Result<(String, Form), String> {
        let count = width / element;
        let mark = if width == 128 {
            String::new()
        } else {
            width.to_string()
        };
        let fill = |text: &str| {
            text.replace("{T}", &format!("<{count} x i{element}>"))
                .replace("{P}", &mark)
                .replace("{W}", &width.to_string())
                .replace("{E}", &element.to_string())
                .replace("{N}", &count.to_string())
        };
        let spelt = |spelling: Spelling, text: String| {
            let told = spelling.check(&format!("a part of `{}`", quoted(&self.c)), &text);
            told.map(|()| text)
        };
        let text = match (&self.call, &self.ir) {
            (Some(call), None) => FormText::Call(spelt(Spelling::Feature, fill(call))?),
            (None, Some(ir)) => {
                // Places of operands are no braces of LLVM.
                spelt(Spelling::Llvm, fill(ir).replace(['{', '}'], ""))?;
                FormText::Inline(fill(ir))
            }
            _ => return Err(format!("`{}` needs either `call` or `ir`", self.c)),
        };
        let operands: Vec<String> = match &self.args {
            Some(args) => args.iter().map(|a| fill(a)).collect(),
            None => vec![fill("{T}"); self.count],
        };
        for part in operands.iter().chain([&fill(&self.result)]) {
            spelt(Spelling::Llvm, part.clone())?;
        }
        let form = Form {
            result: fill(&self.result),
            operands,
            text,
        };
        Ok((fill(&self.c), form))
    }
}

#[cfg(test)]
mod tests {
    use super::{FormText, parse};

    #[test]
    fn a_row_stands_for_every_width_and_element() {
        let text = "rows:\n  - {c: \"_mm{P}_min_epu{E}\", call: \"llvm.umin.v{N}i{E}\"}\n";
        let names = parse(text).expect("the row is right");
        assert_eq!(names.len(), 12);
        let form = &names["_mm256_min_epu16"];
        assert_eq!(form.operands, ["<16 x i16>", "<16 x i16>"]);
        assert!(matches!(&form.text, FormText::Call(name) if name == "llvm.umin.v16i16"));
        assert!(names.contains_key("_mm_min_epu8"));
    }

    #[test]
    fn wrong_rows() {
        for (text, says) in [
            ("rows:\n  - {c: f}\n", "needs either `call` or `ir`"),
            ("rows:\n  - {c: f, ir: g, widths: [0]}\n", "at least 1"),
            ("rows:\n  - {c: f, it: g}\n", "unknown field"),
        ] {
            let error = parse(text).expect_err("the row is wrong");
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn the_file_that_comes_with_isaforge() {
        let names = parse(include_str!("../../isa-specs/x86/llvm.yaml")).expect("it is right");
        assert!(names.contains_key("_mm512_dpbusd_epi32"));
    }
}
