//! From one family to its intrinsics: the product of its axes, then names, operands and masks.
//!
//! In: an [`Item`] of a family file and the manifest. Out: [`Member`]s and diagnostics, at most
//! one for each place however many members it would stop.

use super::Member;
use super::expr::{Bindings, Expr, Value};
use super::file::{Item, RawAxis};
use super::mask::{self, Masking};
use super::template::{Mapped, Problem, Template, problem_of};
use crate::manifest::{Axis, Manifest, Row, read_axis, scalar_text, unknown_feature};
use crate::signature::{Returned, Signature, element_of};
use semantics::diagnostic::{Diagnostic, look_alike, suggest};
use semantics::instruction::{Element, Form, Operand, Role};
use semantics::span::Span;
use semantics::spelling::Spelling;
use serde::Deserialize;

/// The dialect in which [`mask`] writes the masked forms.
const MASKED: &str = "intel";

/// The most rows that the axes of one family may give.
const ROWS: usize = 10_000;

/// A family's texts, parsed once.
struct Family<'a> {
    item: &'a Item,
    manifest: &'a Manifest,
    intrinsic: Template,
    instruction: Option<Template>,
    returns: Template,
    operands: Template,
    undefined: Option<Template>,
    pseudocode: Template,
    only: Option<(Expr, Span)>,
    plain: Option<(Expr, Span)>,
    mask: Option<RawMask>,
    form: Form,
}

/// What stands under `mask`.
#[derive(Clone, Debug)]
struct RawMask {
    element: Expr,
    lanes: Expr,
    merge: Vec<(String, String)>,
    maskz: bool,
    zeroing: Option<String>,
    when: Option<Expr>,
    place: Span,
}

/// `mask` in its long form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LongMask {
    element: serde_yaml::Value,
    lanes: Option<serde_yaml::Value>,
    mask: Option<String>,
    mask2: Option<String>,
    mask3: Option<String>,
    maskz: Option<bool>,
    zeroing: Option<String>,
    when: Option<serde_yaml::Value>,
}

/// Expands a family.
pub(crate) fn family(item: &Item, manifest: &Manifest) -> (Vec<Member>, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let Some(rows) = rows(item, manifest, &mut diagnostics) else {
        return (Vec::new(), diagnostics);
    };
    let family = match Family::parse(item, manifest) {
        Ok(family) => family,
        Err(problem) => {
            diagnostics.push(report(item, &problem, None));
            return (Vec::new(), diagnostics);
        }
    };
    let mut members = Vec::new();
    let mut problems: Vec<(Problem, Bindings)> = Vec::new();
    for row in &rows {
        let bindings = bindings(row, manifest);
        match family.members(row, &bindings) {
            Ok(found) => members.extend(found),
            Err(problem) => {
                if !problems.iter().any(|(p, _)| p.span == problem.span) {
                    problems.push((problem, bindings));
                }
            }
        }
    }
    diagnostics.extend(
        problems
            .iter()
            .map(|(p, b)| report(item, p, Some((b, manifest)))),
    );
    (members, diagnostics)
}

/// A problem as a diagnostic, with the nearest variable as a hint.
fn report(item: &Item, problem: &Problem, at: Option<(&Bindings, &Manifest)>) -> Diagnostic {
    let diagnostic = Diagnostic::error(problem.message.clone())
        .at(&item.source, problem.span)
        .with_note(format!("in the family `{}`", item.raw.family));
    let there = item.source.text()[problem.span.start..].chars().next();
    if let Some(hint) = there
        .and_then(look_alike)
        .as_ref()
        .or(problem.hint.as_ref())
    {
        return diagnostic.hint(hint.clone());
    }
    let (Some(unknown), Some((bindings, manifest))) = (&problem.unknown, at) else {
        return diagnostic;
    };
    if let Some(why) = manifest.not_derived(unknown, bindings) {
        return diagnostic.with_note(why);
    }
    let names: Vec<&str> = bindings.keys().map(String::as_str).collect();
    match suggest(unknown, names.iter().copied()) {
        Some(near) => diagnostic.hint(format!("did you mean `{near}`?")),
        None => diagnostic.hint(format!("the variables here are {}", names.join(", "))),
    }
}

/// The product of the axes: each row is the rows of the axes that were put together.
fn rows(item: &Item, manifest: &Manifest, out: &mut Vec<Diagnostic>) -> Option<Vec<Vec<Row>>> {
    let place = item.value_place("vary");
    let before = out.len();
    let mut axes: Vec<Axis> = Vec::new();
    for axis in &item.raw.vary {
        match axis {
            RawAxis::Named(name) => match manifest.axes.get(name) {
                Some(axis) => axes.push(axis.clone()),
                None => out.push(unknown_axis(item, manifest, name, place)),
            },
            RawAxis::Rows(rows) => {
                let at = (&item.source, place);
                axes.push(read_axis(rows, at, &manifest.features, out));
            }
        }
    }
    if out.len() > before {
        return None;
    }
    // Rows are put together axis by axis: each step has to be within the limit, not the end alone.
    let mut counts = axes.iter().scan(1_usize, |count, axis| {
        *count = count.saturating_mul(axis.len());
        Some(*count)
    });
    if counts.any(|count| count > ROWS) {
        out.push(
            Diagnostic::error(format!("the axes give more than {ROWS} rows"))
                .at(&item.source, place)
                .hint("split the family"),
        );
        return None;
    }
    let mut product: Vec<Vec<Row>> = vec![Vec::new()];
    for axis in &axes {
        product = product
            .iter()
            .flat_map(|done| {
                axis.iter().map(move |row| {
                    let mut rows = done.clone();
                    rows.push(row.clone());
                    rows
                })
            })
            .collect();
    }
    Some(product)
}

fn unknown_axis(item: &Item, manifest: &Manifest, name: &str, place: Span) -> Diagnostic {
    let text = item.source.slice(place);
    let span = match text.find(name) {
        Some(n) => Span::new(place.start + n, place.start + n + name.len()),
        None => place,
    };
    let names = || manifest.axes.keys().map(String::as_str);
    let hint = match suggest(name, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!(
            "the axes of the manifest are {}",
            names().collect::<Vec<_>>().join(", ")
        ),
    };
    Diagnostic::error(format!("unknown axis `{name}`"))
        .at(&item.source, span)
        .with_note(format!("in the family `{}`", item.raw.family))
        .hint(hint)
}

/// All the variables of a row.
fn bindings(row: &[Row], manifest: &Manifest) -> Bindings {
    let mut bindings = manifest.parameters.clone();
    let mut templates = Vec::new();
    for part in row {
        bindings.extend(part.variables.iter().cloned());
        templates.extend(&part.templates);
    }
    manifest.derive(&mut bindings, &templates);
    bindings
}

fn fault(message: impl Into<String>, span: Span) -> Problem {
    Problem {
        message: message.into(),
        span,
        unknown: None,
        hint: None,
    }
}

/// A problem and how to mend it.
fn mendable(message: impl Into<String>, span: Span, hint: impl Into<String>) -> Problem {
    Problem {
        hint: Some(hint.into()),
        ..fault(message, span)
    }
}

impl<'a> Family<'a> {
    fn parse(item: &'a Item, manifest: &'a Manifest) -> Result<Family<'a>, Problem> {
        let raw = &item.raw;
        if raw.mask.is_some() && manifest.dialect != MASKED {
            let message = format!("masked forms are written in the dialect `{MASKED}` only");
            return Err(fault(message, item.value_place("mask")));
        }
        let template = |key: &str, text: &str| Template::parse(item.mapped(key, text));
        let condition = |key: &str, value: &Option<serde_yaml::Value>| match value {
            Some(value) => {
                let place = item.value_place(key);
                expression(value, place).map(|e| Some((e, place)))
            }
            None => Ok(None),
        };
        let form = match raw.form.as_deref() {
            None | Some("single") => Form::Single,
            Some("free") => Form::Free,
            Some("sequence") => Form::Sequence,
            Some(other) => {
                let message = format!("`{other}` is no form: there are single, free and sequence");
                return Err(fault(message, item.value_place("form")));
            }
        };
        let known = |name: &String| manifest.features.contains(name);
        let features = raw.features.iter().chain(raw.legacy.iter().flatten());
        if let Some(name) = features.filter(|n| !n.is_empty()).find(|n| !known(n)) {
            let key = if raw.features.contains(name) {
                "features"
            } else {
                "legacy"
            };
            let (message, hint) = unknown_feature(name, &manifest.features);
            return Err(mendable(message, item.value_place(key), hint));
        }
        Ok(Family {
            item,
            manifest,
            intrinsic: template("intrinsic", &raw.intrinsic)?,
            instruction: match &raw.instruction {
                Some(text) => Some(template("instruction", text)?),
                None => None,
            },
            returns: template("returns", &raw.returns)?,
            undefined: match &raw.undefined {
                Some(text) => Some(template("undefined", text)?),
                None => None,
            },
            operands: template("operands", &raw.operands)?,
            pseudocode: template("pseudocode", &raw.pseudocode)?,
            only: condition("only", &raw.only)?,
            plain: condition("plain", &raw.plain)?,
            mask: match &raw.mask {
                Some(value) => Some(raw_mask(value, item.value_place("mask"))?),
                None => None,
            },
            form,
        })
    }

    /// The intrinsics of one row.
    fn members(&self, row: &[Row], bindings: &Bindings) -> Result<Vec<Member>, Problem> {
        if !holds(self.only.as_ref(), bindings)? {
            return Ok(Vec::new());
        }
        let body = self.pseudocode.render(bindings)?;
        let mut forms = Vec::new();
        if let Some(mask) = &self.mask
            && let Some(masking) = mask.at(bindings)?
        {
            let signature = self.signature(row, &with_masked(bindings, true))?;
            let returns = &signature.returns;
            let room = returns.width / masking.element.max(1);
            if returns.c_type == "void" {
                let Some(form) = mask::of_store(&signature, &body, &masking) else {
                    let message = "the masked form of a function that returns nothing needs a \
                        text that is one loop `FOR j` over the elements";
                    return Err(fault(message, masking.place));
                };
                forms.push(form);
            } else if masking.element == 0 || masking.lanes == 0 || masking.lanes > room {
                let message = format!(
                    "{} masked elements of {} bits do not fit in a result of {} bits",
                    masking.lanes, masking.element, returns.width
                );
                return Err(fault(message, masking.place));
            } else {
                forms = mask::forms(&signature, &body, &masking);
            }
        }
        if holds(self.plain.as_ref(), bindings)? {
            let mut signature = self.signature(row, &with_masked(bindings, false))?;
            self.make_legacy(row, bindings, &mut signature);
            forms.insert(0, (signature, body));
        }
        let undefined = self.undefined(bindings)?;
        let member = |(signature, pseudocode)| Member {
            signature,
            pseudocode,
            undefined: undefined.clone(),
            doc: self.item.raw.doc.clone(),
            family: self.item.raw.family.clone(),
            source: self.item.source.clone(),
            place: self.item.place(),
        };
        Ok(forms.into_iter().map(member).collect())
    }

    fn signature(&self, row: &[Row], bindings: &Bindings) -> Result<Signature, Problem> {
        let operands = self.operands.render(bindings)?;
        let mnemonic = match &self.instruction {
            Some(template) => Some(template.render(bindings)?.text).filter(|m| !m.is_empty()),
            None => None,
        };
        let needs = row.iter().flat_map(|r| &r.needs);
        let signature = Signature {
            name: self.intrinsic.render(bindings)?.text,
            mnemonic,
            operands: self.operand_list(&operands, bindings)?,
            returns: self.result(bindings)?,
            isa: self.manifest.isa.clone(),
            features: self.features(needs),
            form: self.form,
        };
        signature.check().map_err(|message| {
            let is_name = !Spelling::Function.takes(&signature.name);
            let key = if is_name { "intrinsic" } else { "operands" };
            fault(message, self.item.value_place(key))
        })?;
        Ok(signature)
    }

    /// The operands, each of a name of its own.
    fn operand_list(&self, text: &Mapped, bindings: &Bindings) -> Result<Vec<Operand>, Problem> {
        let mut operands: Vec<Operand> = Vec::new();
        let dialect = crate::pseudocode::dialect(&self.manifest.dialect);
        // Where bits are values, the result is a variable of this name and no other.
        let result = dialect.filter(|d| d.has_bits()).map(|d| d.results());
        for (text, span) in split(text) {
            let new = operand(text, span, bindings, self.manifest)?;
            let name = &new.name;
            if operands.iter().any(|o| o.name == *name) {
                let message = format!("the operand `{name}` is there twice");
                return Err(mendable(message, span, "give one of them another name"));
            }
            if result.is_some_and(|names| names.contains(&name.as_str())) {
                let message = format!("an operand is called `{name}`, as the result is");
                return Err(mendable(message, span, "give it another name"));
            }
            operands.push(new);
        }
        Ok(operands)
    }

    /// Features in the order of `targets.yaml`, those of the family included.
    fn features<'f>(&'f self, needs: impl Iterator<Item = &'f String>) -> Vec<String> {
        let all: Vec<&String> = needs.chain(&self.item.raw.features).collect();
        let known = &self.manifest.features;
        known.iter().filter(|f| all.contains(f)).cloned().collect()
    }

    /// Makes a form without a mask the one that an older extension has, where one does.
    fn make_legacy(&self, row: &[Row], bindings: &Bindings, signature: &mut Signature) {
        let of_row = row.iter().rev().find_map(|r| r.legacy.as_ref());
        let Some(legacy) = of_row.or(self.item.raw.legacy.as_ref()) else {
            return;
        };
        let index = match bindings.get("W") {
            Some(Value::Int(128)) => 0,
            Some(Value::Int(256)) => 1,
            _ => return,
        };
        let Some(feature) = legacy.get(index).filter(|f| !f.is_empty()) else {
            return;
        };
        signature.features = self.features(std::iter::once(feature));
        let prefixed = ["AVX", "FMA", "FP16C"];
        if index == 0 && !prefixed.iter().any(|p| feature.starts_with(p)) {
            signature.mnemonic = signature
                .mnemonic
                .take()
                .map(|m| m.strip_prefix('v').map_or(m.clone(), str::to_owned));
        }
    }

    /// The bits of the result that are left undefined, written `HIGH:LOW`.
    fn undefined(&self, bindings: &Bindings) -> Result<Vec<(u32, u32)>, Problem> {
        let Some(template) = &self.undefined else {
            return Ok(Vec::new());
        };
        let text = template.render(bindings)?;
        let range = text.text.split_once(':').and_then(|(high, low)| {
            let (high, low) = (high.parse::<u32>().ok()?, low.parse().ok()?);
            (low <= high).then_some((low, high + 1))
        });
        match range {
            Some(range) => Ok(vec![range]),
            None => {
                let place = self.item.value_place("undefined");
                Err(fault("undefined bits are written `HIGH:LOW`", place))
            }
        }
    }

    fn result(&self, bindings: &Bindings) -> Result<Returned, Problem> {
        let text = self.returns.render(bindings)?;
        if text.text.trim() == "void" {
            return Ok(Returned {
                c_type: "void".to_owned(),
                element: Element::Untyped,
                width: 0,
            });
        }
        let span = text.locate(Span::new(0, text.text.len()));
        let operand = operand(&format!("dst {}", text.text), span, bindings, self.manifest)?;
        Ok(Returned {
            c_type: operand.c_type,
            element: operand.element,
            width: operand.width,
        })
    }
}

/// The variables with `masked`, which names and operands may ask for.
fn with_masked(bindings: &Bindings, masked: bool) -> Bindings {
    let mut bindings = bindings.clone();
    bindings.insert("masked".to_owned(), Value::Int(i64::from(masked)));
    bindings
}

/// Whether a condition holds; one that is not there does.
fn holds(condition: Option<&(Expr, Span)>, bindings: &Bindings) -> Result<bool, Problem> {
    match condition {
        Some((expr, span)) => {
            let value = expr.eval_int(bindings).map_err(|f| problem_of(&f, *span))?;
            Ok(value != 0)
        }
        None => Ok(true),
    }
}

/// A YAML scalar as an expression.
fn expression(value: &serde_yaml::Value, place: Span) -> Result<Expr, Problem> {
    let Some(text) = scalar_text(value) else {
        return Err(fault("expected an expression", place));
    };
    match text.as_str() {
        "true" => return Ok(Expr::Literal(Value::Int(1))),
        "false" => return Ok(Expr::Literal(Value::Int(0))),
        _ => {}
    }
    Expr::parse(&text).map_err(|(message, _)| fault(message, place))
}

fn raw_mask(value: &serde_yaml::Value, place: Span) -> Result<RawMask, Problem> {
    let default_lanes = Expr::Name("N".to_owned());
    if scalar_text(value).is_some() {
        return Ok(RawMask {
            element: expression(value, place)?,
            lanes: default_lanes,
            merge: vec![("mask".to_owned(), "src".to_owned())],
            maskz: true,
            zeroing: None,
            when: None,
            place,
        });
    }
    let long: LongMask = serde_yaml::from_value(value.clone())
        .map_err(|e| fault(format!("`mask` is not understood: {e}"), place))?;
    let optional = |value: &Option<serde_yaml::Value>| match value {
        Some(value) => expression(value, place).map(Some),
        None => Ok(None),
    };
    let src = Some("src".to_owned());
    let kept = [
        ("mask", long.mask.or(src)),
        ("mask2", long.mask2),
        ("mask3", long.mask3),
    ];
    Ok(RawMask {
        element: expression(&long.element, place)?,
        lanes: optional(&long.lanes)?.unwrap_or(default_lanes),
        merge: kept
            .into_iter()
            .filter_map(|(form, operand)| Some((form.to_owned(), operand?)))
            .filter(|(_, operand)| operand != "none")
            .collect(),
        maskz: long.maskz.unwrap_or(true),
        zeroing: long.zeroing,
        when: optional(&long.when)?,
        place,
    })
}

impl RawMask {
    fn at(&self, bindings: &Bindings) -> Result<Option<Masking>, Problem> {
        let int = |expr: &Expr| {
            expr.eval_int(bindings)
                .map_err(|f| problem_of(&f, self.place))
        };
        if let Some(when) = &self.when
            && int(when)? == 0
        {
            return Ok(None);
        }
        Ok(Some(Masking {
            element: u32::try_from(int(&self.element)?).unwrap_or(0),
            lanes: u32::try_from(int(&self.lanes)?).unwrap_or(0),
            merge: self.merge.clone(),
            maskz: self.maskz,
            zeroing: self.zeroing.clone(),
            place: self.place,
        }))
    }
}

/// The parts of a list that is separated by commas, each with its place in the file.
fn split(list: &Mapped) -> impl Iterator<Item = (&str, Span)> {
    let mut at = 0;
    list.text.split(',').filter_map(move |part| {
        let start = at + (part.len() - part.trim_start().len());
        at += part.len() + 1;
        let text = part.trim();
        let span = list.locate(Span::new(start, start + text.len()));
        (!text.is_empty()).then_some((text, span))
    })
}

/// The role that a word in the place of an element type gives; such operands have no elements.
fn special_role(kind: &str) -> Option<Role> {
    match kind {
        "ROUND" => Some(Role::Rounding),
        "SAE" => Some(Role::Sae),
        "SCALE" => Some(Role::Scale),
        _ => {
            let align = kind.strip_prefix("MEM")?;
            let align = match align.strip_prefix('/') {
                Some(bytes) => bytes.parse().ok()?,
                None if align.is_empty() => 1,
                None => return None,
            };
            u32::is_power_of_two(align).then_some(Role::Pointer { align })
        }
    }
}

/// `NAME [C-TYPE] ETYPE`, `NAME [C-TYPE] LOW..HIGH`, `NAME [C-TYPE] ROUND|SAE|SCALE` or `NAME
/// C-TYPE MEM[/ALIGN]`, with what an address is a multiple of in bytes; the C type is by default `{V}`, of a constant `int`.
fn operand(
    text: &str,
    span: Span,
    bindings: &Bindings,
    manifest: &Manifest,
) -> Result<Operand, Problem> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [name, c_type @ .., kind] = words.as_slice() else {
        let message = format!("`{text}` is not an operand");
        let hint = "an operand is a name, perhaps a C type, and an element type: `a UI8`";
        return Err(mendable(message, span, hint));
    };
    let range = kind.split_once("..");
    let special = special_role(kind);
    let constant = range.is_some() || special.is_some_and(Role::is_constant);
    let c_type = match (c_type, bindings.get("V")) {
        ([], _) if constant => "int".to_owned(),
        ([], Some(vector)) if special.is_none() => vector.to_string(),
        ([], _) => {
            let message = format!("the operand `{name}` has no C type");
            return Err(fault(message, span));
        }
        (words, ..) => words.join(" "),
    };
    let width = match special {
        Some(Role::Pointer { .. }) if c_type.contains('*') => Some(64),
        Some(Role::Pointer { .. }) => None,
        _ => manifest.c_type_width(&c_type).filter(|&w| w > 0),
    };
    let Some(width) = width else {
        let own = manifest.types.keys().map(String::as_str);
        let message = format!("the C type `{c_type}` is not known");
        let ending = format!("{c_type}_t");
        let near = C_TYPES.iter().copied().find(|known| *known == ending);
        let near = near.or_else(|| suggest(&c_type, own.chain(C_TYPES.iter().copied())));
        let hint = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "name it and its width under `types` in manifest.yaml".to_owned(),
        };
        return Err(mendable(message, span, hint));
    };
    let (element, role) = if let Some(role) = special {
        (Element::Untyped, role)
    } else if let Some((low, high)) = range {
        match (low.parse(), high.parse()) {
            (Ok(0), Ok(max)) => (Element::Untyped, Role::Immediate { max }),
            (Ok(least), Ok(max)) if least <= max => (Element::Untyped, Role::Range { least, max }),
            _ => {
                let message = format!("`{kind}` is not a range of numbers");
                let hint = "the least comes first, neither is less than 0: `0..7`";
                return Err(mendable(message, span, hint));
            }
        }
    } else {
        match element_of(kind) {
            Element::Untyped if *kind != "bits" => {
                let message =
                    format!("`{kind}` is no element type such as UI8, SI32, FP64 or MASK");
                return Err(Problem {
                    hint: meant(kind),
                    ..fault(message, span)
                });
            }
            Element::Mask => (Element::Mask, Role::Mask),
            element => (element, Role::Register),
        }
    };
    if let (Role::Register, Some(bits)) = (role, bits_of(element))
        && (bits > width || width % bits != 0)
    {
        let message = format!("`{c_type}` has {width} bits, which are no elements of {bits}");
        let hint = "the width of an element divides that of the type, which manifest.yaml gives under `types`";
        return Err(mendable(message, span, hint));
    }
    Ok(Operand {
        name: (*name).to_owned(),
        c_type,
        element,
        width,
        role,
    })
}

/// C's own types, for suggestions.
const C_TYPES: &[&str] = &[
    "int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t",
    "int", "float", "double",
];

/// The width of elements that have one.
fn bits_of(element: Element) -> Option<u32> {
    match element {
        Element::Signed(bits) | Element::Unsigned(bits) | Element::Float(bits) => Some(bits),
        Element::Bfloat16 => Some(16),
        Element::Mask | Element::Untyped => None,
    }
}

/// What was meant by a word that is near to an element type: `u8`, `int16_t`, `f32`, `0-7`.
fn meant(kind: &str) -> Option<String> {
    let digits = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    if let Some((low, high)) = kind.split_once(['-', ':'])
        && digits(low)
        && digits(high.trim_start_matches('>'))
    {
        return Some(format!("a constant operand has its range: `{low}..{high}`"));
    }
    let bare = kind.to_ascii_lowercase();
    let bare = bare.strip_suffix("_t").unwrap_or(&bare);
    let bits = bare.trim_start_matches(|c: char| !c.is_ascii_digit());
    let stem = match &bare[..bare.len() - bits.len()] {
        "u" | "ui" | "uint" | "unsigned" => "UI",
        "i" | "s" | "si" | "int" | "sint" | "signed" => "SI",
        "f" | "fp" | "float" => "FP",
        "bf" | "bfp" | "bfloat" => "BF",
        _ => return None,
    };
    let word = format!("{stem}{bits}");
    (element_of(&word) != Element::Untyped).then(|| format!("did you mean `{word}`?"))
}
