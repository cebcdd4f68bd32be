//! The masked forms of an AVX-512 operation, written in Intel's notation.
//!
//! In: the form without a mask (signature and pseudocode) and the width of a masked element.
//! Out: the `_mask_`, `_maskz_`, `_mask2_` and `_mask3_` forms: where the text is one loop over
//! the elements, its body goes under `IF k[j]`; any other text computes into a temporary and a
//! loop selects. A function that only writes memory has one masked form, whose writes are
//! made under the mask. Names and operand order are those of the C headers.

use super::template::Mapped;
use crate::signature::Signature;
use semantics::instruction::{Element, Operand, Role};
use semantics::span::Span;

/// How a family is masked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Masking {
    /// Bits of one masked element of the result.
    pub(crate) element: u32,
    /// Number of masked elements.
    pub(crate) lanes: u32,
    /// The merging forms (`mask`, `mask2`, `mask3`), each with the operand whose elements
    /// survive where the mask bit is 0.
    pub(crate) merge: Vec<(String, String)>,
    /// There is a `_maskz_` form.
    pub(crate) maskz: bool,
    /// The `_mask_` form puts zero, not old elements; the name of its mask operand.
    pub(crate) zeroing: Option<String>,
    /// Where the family asks for masks.
    pub(crate) place: Span,
}

/// The variable of the result in the pseudocode.
const RESULT: &str = "dst";

/// All masked forms of an operation.
pub(crate) fn forms(
    plain: &Signature,
    body: &Mapped,
    masking: &Masking,
) -> Vec<(Signature, Mapped)> {
    let mut forms = Vec::new();
    let mut add = |form: &str, mask: &str, kept: Option<&str>| {
        let mut signature = plain.clone();
        signature.name = masked_name(&plain.name, form);
        signature.operands = operands(plain, masking, mask, kept);
        let mut text = select(body, masking, mask, kept);
        if masking.lanes == 1 && (2..plain.returns.width).contains(&masking.element) {
            let updated = kept.filter(|_| form == "mask3");
            keep_rest(&mut text, plain.returns.width, masking, updated);
        }
        forms.push((signature, text));
    };
    if let Some(mask) = &masking.zeroing {
        add("mask", mask, None);
        return forms;
    }
    for (form, kept) in &masking.merge {
        add(form, "k", Some(kept));
    }
    if masking.maskz {
        add("maskz", "k", None);
    }
    forms
}

/// The masked form of a function that returns nothing: the mask comes after the first operand,
/// the address, and an element whose mask bit is 0 is not accessed. None where the text is not
/// one loop over the elements.
pub(crate) fn of_store(
    plain: &Signature,
    body: &Mapped,
    masking: &Masking,
) -> Option<(Signature, Mapped)> {
    let region = loop_body(body, masking)?;
    let mut signature = plain.clone();
    signature.name = masked_name(&plain.name, "mask");
    let after_address = 1.min(signature.operands.len());
    signature
        .operands
        .insert(after_address, mask_operand("k", masking));
    Some((signature, wrap(body, region, "k", None, masking.place)))
}

/// The lines of a body that is one loop over the elements, without those at its start that
/// place the element.
fn loop_body(body: &Mapped, masking: &Masking) -> Option<Span> {
    let header = format!("FOR j := 0 to {}", masking.lanes.checked_sub(1)?);
    let mut lines = body.lines().filter(|(_, l)| !l.trim().is_empty());
    let (_, first) = lines.next()?;
    let mut lines = lines.skip_while(|(_, l)| l.trim().starts_with("i :="));
    let (start, _) = lines.next()?;
    let (end, last) = lines.find(|(_, l)| !l.starts_with(' '))?;
    let whole = first.trim_end() == header && last.trim_end() == "ENDFOR";
    (whole && lines.next().is_none()).then(|| Span::new(start.start, end.start))
}

/// `_mm512_add_epi8` and `maskz` give `_mm512_maskz_add_epi8`.
fn masked_name(plain: &str, form: &str) -> String {
    let head = ["_mm512_", "_mm256_", "_mm_"]
        .into_iter()
        .find(|head| plain.starts_with(head))
        .unwrap_or("");
    format!("{head}{form}_{}", &plain[head.len()..])
}

/// The operands with the mask: after the operand that survives, else first.
fn operands(plain: &Signature, masking: &Masking, mask: &str, kept: Option<&str>) -> Vec<Operand> {
    let k = mask_operand(mask, masking);
    let mut operands = plain.operands.clone();
    let at = kept.map(|kept| operands.iter().position(|o| o.name == kept));
    match (kept, at) {
        (Some(_), Some(Some(index))) => operands.insert(index + 1, k),
        (Some(kept), _) => {
            operands.insert(0, k);
            operands.insert(
                0,
                Operand {
                    name: kept.to_owned(),
                    c_type: plain.returns.c_type.clone(),
                    element: plain.returns.element,
                    width: plain.returns.width,
                    role: Role::Register,
                },
            );
        }
        (None, _) => operands.insert(0, k),
    }
    operands
}

/// The operand that holds the mask.
fn mask_operand(name: &str, masking: &Masking) -> Operand {
    let bits = masking.lanes.next_power_of_two().clamp(8, 64);
    Operand {
        name: name.to_owned(),
        c_type: format!("__mmask{bits}"),
        element: Element::Mask,
        width: bits,
        role: Role::Mask,
    }
}

/// The body with the selection by mask.
fn select(body: &Mapped, masking: &Masking, mask: &str, kept: Option<&str>) -> Mapped {
    let lane = if masking.element == 1 {
        "[j]".to_owned()
    } else {
        format!("[i+{}:i]", masking.element - 1)
    };
    let otherwise = match kept {
        Some(kept) => format!("{RESULT}{lane} := {kept}{lane}"),
        None => format!("{RESULT}{lane} := 0"),
    };
    match in_place(body, &lane, masking).filter(|_| masking.lanes > 1) {
        Some(region) => wrap(body, region, mask, Some(&otherwise), masking.place),
        None => after(body, &lane, masking, mask, &otherwise),
    }
}

/// The range of the body of the loop over the elements, where the text is such a loop and
/// writes nothing but the loop's own element of the result.
fn in_place(body: &Mapped, lane: &str, masking: &Masking) -> Option<Span> {
    let mut lines = body
        .lines()
        .filter(|(_, l)| !l.trim().is_empty())
        .peekable();
    let header = format!("FOR j := 0 to {}", masking.lanes.checked_sub(1)?);
    let (_, first) = lines.next()?;
    if first.trim_end() != header {
        return None;
    }
    let offset = format!("i := j*{}", masking.element);
    if masking.element > 1 {
        let (_, second) = lines.next()?;
        if second.trim() != offset {
            return None;
        }
    } else {
        while lines
            .next_if(|(_, l)| l.trim().starts_with("i :="))
            .is_some()
        {}
    }
    let start = lines.peek()?.0.start;
    let mut end = None;
    let target = format!("{RESULT}{lane} :=");
    for (span, line) in lines {
        let code = line.split("//").next().unwrap_or("");
        if end.is_some() {
            return None;
        }
        if code.trim_end() == "ENDFOR" {
            end = Some(span.start);
        } else if writes_elsewhere(code, &target) {
            return None;
        }
    }
    end.map(|end| Span::new(start, end))
}

/// Whether a line uses the result other than by writing the loop's own element, or changes
/// the loop's variables.
fn writes_elsewhere(code: &str, target: &str) -> bool {
    let uses = |names: &[&str]| words(code).any(|(_, word)| names.contains(&word));
    let statement = code.trim();
    (uses(&[RESULT]) && !statement.starts_with(target))
        || ["i", "j"].into_iter().any(|name| {
            let rest = statement.strip_prefix(name);
            rest.is_some_and(|rest| rest.trim_start().starts_with(":="))
        })
}

/// The words of a line, each with its offset.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
        .map(move |word| (word.as_ptr() as usize - line.as_ptr() as usize, word))
}

/// The bits above the only masked element: those of the result without a mask or, where the
/// operand `updated` gives its register to the result (`mask3`), of that operand.
fn keep_rest(text: &mut Mapped, width: u32, masking: &Masking, updated: Option<&str>) {
    let rest = format!("[{}:{}]", width - 1, masking.element);
    let temporary = format!("tmp_{RESULT}");
    let from = updated.unwrap_or(&temporary);
    text.push_derived(&format!("{RESULT}{rest} := {from}{rest}\n"), masking.place);
}

/// Puts a range of lines under the mask, with what is done `otherwise`.
fn wrap(body: &Mapped, region: Span, mask: &str, otherwise: Option<&str>, place: Span) -> Mapped {
    let mut out = Mapped::default();
    out.push_mapped(body, Span::new(0, region.start));
    out.push_derived(&format!("  IF {mask}[j]\n"), place);
    for (span, line) in body.lines() {
        if span.start >= region.start && span.start < region.end {
            if !line.trim().is_empty() {
                out.push_derived("  ", place);
            }
            out.push_mapped(body, span);
        }
    }
    let otherwise = otherwise.map_or(String::new(), |line| format!("  ELSE\n    {line}\n"));
    out.push_derived(&format!("{otherwise}  FI\n"), place);
    out.push_mapped(body, Span::new(region.end, body.text.len()));
    out
}

/// Computes into a temporary, then selects element by element.
fn after(body: &Mapped, lane: &str, masking: &Masking, mask: &str, otherwise: &str) -> Mapped {
    let temporary = format!("tmp_{RESULT}");
    let mut out = Mapped::default();
    for (span, line) in body.lines() {
        let mut at = span.start;
        for (offset, word) in words(line) {
            if word == RESULT {
                let from = Span::new(span.start + offset, span.start + offset + word.len());
                out.push_mapped(body, Span::new(at, from.start));
                out.push_derived(&temporary, body.locate(from));
                at = from.end;
            }
        }
        out.push_mapped(body, Span::new(at, span.end));
    }
    if !out.text.ends_with('\n') {
        out.push_derived("\n", masking.place);
    }
    let offset = if masking.element > 1 {
        format!("  i := j*{}\n", masking.element)
    } else {
        String::new()
    };
    let text = format!(
        "FOR j := 0 to {}\n{offset}  IF {mask}[j]\n    {RESULT}{lane} := {temporary}{lane}\n  ELSE\n    {otherwise}\n  FI\nENDFOR\n",
        masking.lanes - 1
    );
    out.push_derived(&text, masking.place);
    out
}
