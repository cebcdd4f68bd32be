//! The manifest of an instruction set: which files, which axes, which derived variables.
//!
//! In: `isa-specs/<isa>/manifest.yaml` and, for the names of features, the `targets.yaml`
//! beside it. Out: [`Manifest`]. It does not read the families: [`crate::family`] does.

use crate::family::expr::{Bindings, Value};
use crate::family::template::{Mapped, Problem, Template};
use crate::signature::c_type_width;
use crate::yaml::error as yaml_error;
use semantics::diagnostic::{Diagnostic, suggest};
use semantics::span::{Source, Span};
use semantics::spelling::Spelling;
use semantics::table::MAX_WIDTH;
use serde::Deserialize;
use serde_yaml::Mapping;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// What `manifest.yaml` says.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The name of the instruction set.
    pub isa: String,
    /// The notation of the pseudocode.
    pub dialect: String,
    /// The folder that the other files are relative to.
    pub folder: PathBuf,
    /// The family files, in order.
    pub files: Vec<String>,
    /// The file of errata on the vendor's text, if there is one.
    pub errata: Option<String>,
    /// The names of the features, in the order of `targets.yaml`.
    pub features: Vec<String>,
    /// The C types of the set and their widths in bits, besides C's own.
    pub types: BTreeMap<String, u32>,
    /// How C programs that use the set are compiled and run.
    pub c: CSection,
    /// The axes that families may name.
    pub(crate) axes: BTreeMap<String, Axis>,
    /// Numbers of the whole set that its texts may use, such as the width of a vector.
    pub(crate) parameters: Bindings,
    /// Variables that are computed from others, in order.
    pub(crate) derived: Vec<(String, Template)>,
    /// What is wrong with the names of files; the others are read.
    pub(crate) absent: Vec<Diagnostic>,
}

/// How C programs that use an instruction set are compiled, and run on another machine.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CSection {
    /// The headers that declare the functions.
    #[serde(default)]
    pub headers: Vec<String>,
    /// Lines that stand behind them in headers that are made.
    #[serde(default)]
    pub prelude: Vec<String>,
    /// Types that not every compiler has, and what stands for them there.
    #[serde(default)]
    pub spelt: BTreeMap<String, String>,
    /// Memories of Exo for its vector registers: what elements are in Exo's C, and the type of a
    /// register with such elements.
    #[serde(default)]
    pub exo: BTreeMap<String, BTreeMap<String, String>>,
    /// The processor that runs its programs as it is, as Rust names it (`x86_64`, `aarch64`).
    pub native: Option<String>,
    /// Compilers for the set where the processor is another, the best first.
    #[serde(default)]
    pub compilers: Vec<String>,
    /// Flags that its programs need.
    #[serde(default)]
    pub flags: Vec<String>,
    /// Files of the set's folder that lie beside a program when it is compiled, by their paths
    /// there: what of a C library the compiler has not.
    #[serde(default)]
    pub files: Vec<String>,
    /// The command before a program where the processor is another.
    #[serde(default)]
    pub emulator: Vec<String>,
    /// The model of `targets.yaml` that the emulator is.
    pub model: Option<String>,
    /// What to do when a compiler or the emulator is missing.
    pub install: Option<String>,
}

impl CSection {
    /// Whether no processor, compiler or emulator is named that has the set.
    pub fn is_nobodys(&self) -> bool {
        self.native.is_none() && self.compilers.is_empty() && self.emulator.is_empty()
    }

    /// What of it is run, or compiled and run, as it is written, whoever wrote it.
    pub fn code(&self) -> Vec<&str> {
        let spelt = self.spelt.iter().flat_map(|(name, text)| [name, text]);
        let lists = [&self.compilers, &self.emulator, &self.flags, &self.files];
        let all = lists.into_iter().chain([&self.prelude]).flatten();
        all.chain(spelt).map(String::as_str).collect()
    }
}

/// The rows that a family is multiplied by.
pub(crate) type Axis = Vec<Row>;

/// One row: what it binds and what it needs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    /// Variables and their values.
    pub(crate) variables: Vec<(String, Value)>,
    /// Variables whose values hold placeholders.
    pub(crate) templates: Vec<(String, Template)>,
    /// Features of the instruction in this row.
    pub(crate) needs: Vec<String>,
    /// Features of the forms without masks that older extensions have: 128 and 256 bits.
    pub(crate) legacy: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawManifest {
    isa: String,
    dialect: String,
    files: Vec<String>,
    errata: Option<String>,
    #[serde(default)]
    parameters: Mapping,
    #[serde(default)]
    types: Mapping,
    #[serde(default)]
    c: CSection,
    #[serde(default)]
    axes: BTreeMap<String, Vec<Mapping>>,
    #[serde(default)]
    derived: Mapping,
}

#[derive(Deserialize)]
struct RawTargets {
    #[serde(default)]
    features: Mapping,
}

#[derive(Deserialize)]
struct RawDialect {
    dialect: String,
}

#[derive(Deserialize)]
struct RawName {
    isa: String,
}

#[derive(Deserialize)]
struct RawC {
    #[serde(default)]
    c: CSection,
}

#[derive(Deserialize)]
struct RawTypes {
    dialect: String,
    #[serde(default)]
    parameters: Mapping,
    #[serde(default)]
    types: Mapping,
}

/// The dialect that a manifest names: it decides what else the manifest may say.
///
/// # Errors
/// When the manifest cannot be read or names none.
pub fn dialect(path: &Path) -> Result<String, Vec<Diagnostic>> {
    let source = read(path).map_err(|d| vec![d])?;
    let raw: Result<RawDialect, _> = crate::yaml::from_str(source.text());
    raw.map(|raw| raw.dialect)
        .map_err(|e| vec![yaml_error(&source, 0, &e)])
}

/// The name of the instruction set of a manifest.
///
/// # Errors
/// When the manifest cannot be read or names none.
pub fn name(path: &Path) -> Result<String, Vec<Diagnostic>> {
    let source = read(path).map_err(|d| vec![d])?;
    let raw: Result<RawName, _> = crate::yaml::from_str(source.text());
    raw.map(|raw| raw.isa)
        .map_err(|e| vec![yaml_error(&source, 0, &e)])
}

/// What is wrong with the name in a manifest, when the folder has another one.
pub fn misnamed(path: &Path) -> Option<Diagnostic> {
    let folder = path.parent()?.file_name()?.to_str()?;
    let isa = name(path).ok()?;
    let source = read(path).ok()?;
    (isa != folder).then(|| {
        let message = format!("this is `{isa}`, and its folder is `{folder}`");
        let at = find(&source, "isa:");
        let hint = format!("write `isa: {folder}`, or rename the folder");
        Diagnostic::error(message).at(&source, at).hint(hint)
    })
}

/// What is wrong with the dialect that a manifest names, when nobody knows it.
pub(crate) fn unknown_dialect(path: &Path, dialect: &str) -> Diagnostic {
    let hint = match suggest(dialect, ["intel", "asl", "hvx", "matrix"]) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "there are `intel`, `asl`, `hvx` and `matrix`".to_owned(),
    };
    let unknown = Diagnostic::error(format!("unknown dialect `{dialect}`")).hint(hint);
    match read(path) {
        Ok(source) => {
            let at = find(&source, &format!("dialect: {dialect}"));
            unknown.at(&source, at)
        }
        Err(_) => unknown,
    }
}

/// What a manifest of any dialect says of C programs.
///
/// # Errors
/// When the manifest cannot be read.
pub fn c_section(path: &Path) -> Result<CSection, Vec<Diagnostic>> {
    let source = read(path).map_err(|d| vec![d])?;
    let raw: Result<RawC, _> = serde_yaml::from_str(source.text());
    let section = raw.map(|raw| raw.c);
    let section = section.map_err(|e| vec![yaml_error(&source, 0, &e)])?;
    let mut problems = files_outside(&section.files, &source);
    for name in &section.headers {
        if let Err(message) = Spelling::Header.check("a header", name) {
            problems.push(Diagnostic::error(message).at(&source, find(&source, name)));
        }
    }
    match problems.is_empty() {
        true => Ok(section),
        false => Err(problems),
    }
}

/// What is wrong with the names of files that lie in the folder of a manifest: one that leads out of
/// it would bring what else its reader may read into messages and output.
pub(crate) fn files_outside<'a>(
    names: impl IntoIterator<Item = &'a String>,
    source: &Source,
) -> Vec<Diagnostic> {
    let inside = |name: &&String| {
        let mut parts = Path::new(name).components();
        let is_part = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        !name.is_empty() && parts.all(is_part)
    };
    let wrong = names.into_iter().filter(|name| !inside(name));
    wrong
        .map(|name| {
            let message = format!("the file `{name}` is not in the folder of its set");
            Diagnostic::error(message)
                .at(source, find(source, name))
                .hint("name files by their paths below this folder, without `..`")
        })
        .collect()
}

/// What is wrong with the files of families: one that is not there, or is named twice.
pub(crate) fn files_missing(files: &[String], folder: &Path, source: &Source) -> Vec<Diagnostic> {
    let there = || {
        let names = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let names = names.filter_map(|entry| entry.file_name().into_string().ok());
        names.filter(|name| name.ends_with(".yaml") && !files.contains(name))
    };
    let mut problems = Vec::new();
    if files.is_empty() {
        let diagnostic = Diagnostic::error("the manifest names no files");
        let hint = "list the files of families: `files: [instructions.yaml]`";
        problems.push(diagnostic.at(source, find(source, "files:")).hint(hint));
    }
    for (n, name) in files.iter().enumerate() {
        let place = find(source, name);
        if files[..n].contains(name) {
            let diagnostic = Diagnostic::error(format!("the file `{name}` is named twice"));
            problems.push(diagnostic.at(source, place).hint("leave one of them"));
        } else if !folder.join(name).exists() {
            let message = format!("there is no file `{}`", folder.join(name).display());
            let names: Vec<String> = there().collect();
            let near = suggest(name, names.iter().map(String::as_str));
            let hint = near.map_or(
                "`files` are named by their paths below this folder".to_owned(),
                |n| format!("did you mean `{n}`?"),
            );
            problems.push(Diagnostic::error(message).at(source, place).hint(hint));
        }
    }
    problems
}

/// The C types that a manifest of families names, with their widths in bits; those of a whole
/// machine are other things and left out.
///
/// # Errors
/// When the manifest cannot be read, or a width is no number.
pub fn types(path: &Path) -> Result<BTreeMap<String, u32>, Vec<Diagnostic>> {
    let source = read(path).map_err(|d| vec![d])?;
    let raw: Result<RawTypes, _> = crate::yaml::from_str(source.text());
    let raw = raw.map_err(|e| vec![yaml_error(&source, 0, &e)])?;
    if crate::pseudocode::dialect(&raw.dialect).is_none() {
        return Ok(BTreeMap::new());
    }
    let mut problems = Vec::new();
    let parameters = read_parameters(&raw.parameters, &source, &mut problems);
    let types = read_types(&raw.types, &parameters, &source, &mut problems);
    match problems.is_empty() {
        true => Ok(types),
        false => Err(problems),
    }
}

/// The numbers of the whole set; each may be a formula over those above it.
fn read_parameters(raw: &Mapping, source: &Source, problems: &mut Vec<Diagnostic>) -> Bindings {
    let mut parameters = Bindings::new();
    for (key, value) in raw {
        let name = key.as_str().unwrap_or_default();
        let place = find(source, &format!("{name}:"));
        match formula(value, place, &parameters) {
            Ok(value) if !name.is_empty() => {
                parameters.insert(name.to_owned(), value);
            }
            Ok(_) => problems.push(
                Diagnostic::error("a parameter must have a name")
                    .at(source, place)
                    .hint("write it as `W: 128`"),
            ),
            Err(wrong) => problems.push(wrong.report(source)),
        }
    }
    parameters
}

/// The C types of a set and their widths in bits: numbers, or formulas over parameters.
fn read_types(
    raw: &Mapping,
    parameters: &Bindings,
    source: &Source,
    problems: &mut Vec<Diagnostic>,
) -> BTreeMap<String, u32> {
    let mut types = BTreeMap::new();
    for (key, value) in raw {
        let name = key.as_str().unwrap_or_default();
        let place = find(source, &format!("{name}:"));
        let width = match formula(value, place, parameters) {
            Ok(Value::Int(width)) => u32::try_from(width).ok(),
            Ok(Value::Text(_)) => None,
            Err(wrong) => {
                problems.push(wrong.report(source));
                continue;
            }
        };
        match width.filter(|width| (1..=MAX_WIDTH).contains(width)) {
            Some(width) if !width.is_multiple_of(8) => {
                let message =
                    format!("the C type `{name}` has {width} bits, which are no whole bytes");
                let hint =
                    "one with fewer elements has them in its low bits, as `\"{max(8, W/8)}\"`";
                problems.push(Diagnostic::error(message).at(source, place).hint(hint));
            }
            Some(width) if !name.is_empty() => {
                types.insert(name.to_owned(), width);
            }
            _ => {
                let message = format!(
                    "the width of the C type `{name}` is no number of bits from 1 to {MAX_WIDTH}"
                );
                let hint =
                    "write it as `vec: 128`, or as a formula over parameters: `\"{W/16*A}\"`";
                problems.push(Diagnostic::error(message).at(source, place).hint(hint));
            }
        }
    }
    types
}

/// A formula without a value.
struct NoValue(Problem);

impl NoValue {
    fn report(self, source: &Source) -> Diagnostic {
        let told = Diagnostic::error(self.0.message).at(source, self.0.span);
        match self.0.unknown {
            Some(_) => told.hint("a formula may use the parameters that stand above it"),
            None => told,
        }
    }
}

/// A number or a text, in which placeholders are replaced.
fn formula(
    value: &serde_yaml::Value,
    place: Span,
    parameters: &Bindings,
) -> Result<Value, NoValue> {
    let no_value = |message: String, span| {
        NoValue(Problem {
            message,
            span,
            unknown: None,
            hint: None,
        })
    };
    let Some(text) = scalar_text(value) else {
        let message = "this must be a number, or a formula in quotes".to_owned();
        return Err(no_value(message, place));
    };
    let template = template_in(&text, place).map_err(|(m, span)| no_value(m, span))?;
    template.value(parameters).map_err(NoValue)
}

/// Reads a manifest.
///
/// # Errors
/// What is wrong with it, each with its place: without a manifest nothing can be loaded.
pub fn load(path: &Path) -> Result<Manifest, Vec<Diagnostic>> {
    let source = read(path).map_err(|d| vec![d])?;
    let raw: RawManifest =
        crate::yaml::from_str(source.text()).map_err(|e| vec![yaml_error(&source, 0, &e)])?;
    let mut problems = Vec::new();
    let parameters = read_parameters(&raw.parameters, &source, &mut problems);
    let types = read_types(&raw.types, &parameters, &source, &mut problems);
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let features = read_features(&folder.join("targets.yaml")).unwrap_or_else(|diagnostic| {
        problems.push(diagnostic);
        Vec::new()
    });
    let axes = raw
        .axes
        .iter()
        .map(|(name, rows)| {
            let place = (&source, find(&source, &format!("{name}:")));
            (
                name.clone(),
                read_axis(rows, place, &features, &mut problems),
            )
        })
        .collect();
    let mut derived = Vec::new();
    for (key, value) in &raw.derived {
        let (Some(name), Some(text)) = (key.as_str(), scalar_text(value)) else {
            let place = find(&source, "derived:");
            problems.push(
                Diagnostic::error("a derived variable must be a name and a text")
                    .at(&source, place)
                    .hint("write it as `N: \"{W/E}\"`"),
            );
            continue;
        };
        match template_in(&text, find(&source, &format!("{name}:"))) {
            Ok(template) => derived.push((name.to_owned(), template)),
            Err((message, span)) => problems.push(Diagnostic::error(message).at(&source, span)),
        }
    }
    let named = raw.files.iter().chain(&raw.errata).chain(&raw.c.files);
    problems.extend(files_outside(named, &source));
    let absent = files_missing(&raw.files, &folder, &source);
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(Manifest {
        isa: raw.isa,
        dialect: raw.dialect,
        folder,
        files: raw.files,
        errata: raw.errata,
        types,
        c: raw.c,
        features,
        axes,
        parameters,
        derived,
        absent,
    })
}

/// The names of the features, in the order of `targets.yaml`.
fn read_features(path: &Path) -> Result<Vec<String>, Diagnostic> {
    let source = read(path)?;
    let raw: RawTargets =
        crate::yaml::from_str(source.text()).map_err(|e| yaml_error(&source, 0, &e))?;
    Ok(raw
        .features
        .keys()
        .filter_map(|k| k.as_str().map(str::to_owned))
        .collect())
}

/// The most bytes of a file of a specification.
const MOST_BYTES: u64 = 32 << 20;

/// Reads a text file.
pub(crate) fn read(path: &Path) -> Result<Source, Diagnostic> {
    let limited = std::fs::metadata(path).and_then(|about| {
        // Whoever opens a pipe waits for its other end.
        if !about.is_file() {
            return Err(std::io::Error::other("it is no file"));
        }
        let file = std::fs::File::open(path)?;
        let mut text = String::new();
        std::io::Read::take(file, MOST_BYTES + 1).read_to_string(&mut text)?;
        match text.len() as u64 > MOST_BYTES {
            true => Err(std::io::Error::other("it is too large for a specification")),
            false => Ok(text),
        }
    });
    match limited {
        Ok(text) => Ok(Source::of_file(path, text)),
        Err(error) => Err(
            Diagnostic::error(format!("cannot read `{}`: {error}", path.display()))
                .hint("the files of an instruction set are listed in its manifest.yaml"),
        ),
    }
}

/// Where a key first stands in a source, on a line or behind a brace; its beginning if nowhere.
fn find(source: &Source, needle: &str) -> Span {
    let before = ["  ", "{", " ", "[", "\n"];
    let mut places = before.iter().filter_map(|mark| {
        let found = source.text().find(&format!("{mark}{needle}"))?;
        Some(found + mark.len())
    });
    let at = places.next().unwrap_or(0);
    Span::new(at, at + needle.len())
}

/// A template whose errors all point at `place`.
fn template_in(text: &str, place: Span) -> Result<Template, (String, Span)> {
    let mut mapped = Mapped::default();
    mapped.push_derived(text, place);
    Template::parse(mapped).map_err(|p| (p.message, p.span))
}

/// A YAML scalar as text.
pub(crate) fn scalar_text(value: &serde_yaml::Value) -> Option<String> {
    match value {
        serde_yaml::Value::String(s) => Some(s.clone()),
        serde_yaml::Value::Number(n) => Some(n.to_string()),
        serde_yaml::Value::Bool(b) => Some(b.to_string()),
        _ => None,
    }
}

/// Reads the rows of an axis; what is wrong points at `place`.
pub(crate) fn read_axis(
    rows: &[Mapping],
    (source, place): (&Source, Span),
    features: &[String],
    problems: &mut Vec<Diagnostic>,
) -> Axis {
    let mut axis = Axis::new();
    for raw in rows {
        match read_row(raw, place) {
            Ok(row) => {
                let named = row.needs.iter().chain(row.legacy.iter().flatten());
                let unknown = named.filter(|n| !n.is_empty() && !features.contains(n));
                problems.extend(unknown.map(|name| {
                    let (message, hint) = unknown_feature(name, features);
                    Diagnostic::error(message).at(source, place).hint(hint)
                }));
                axis.push(row);
            }
            Err((message, span)) => problems.push(
                Diagnostic::error(message)
                    .at(source, span)
                    .hint("a row binds variables to numbers or texts: `{E: 8, S: b}`; `needs` and `legacy` are lists of features"),
            ),
        }
    }
    axis
}

/// The message and the hint for a feature that `targets.yaml` does not have.
pub(crate) fn unknown_feature(name: &str, features: &[String]) -> (String, String) {
    let hint = match suggest(name, features.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("name it there under `features`: `{name}: {{}}`"),
    };
    (format!("the feature `{name}` is not in targets.yaml"), hint)
}

fn read_row(raw: &Mapping, place: Span) -> Result<Row, (String, Span)> {
    let mut row = Row::default();
    for (key, value) in raw {
        let Some(name) = key.as_str() else {
            return Err(("a variable of an axis row must be a name".into(), place));
        };
        match name {
            "needs" => row.needs = feature_list(name, value).map_err(|m| (m, place))?,
            "legacy" => row.legacy = Some(feature_list(name, value).map_err(|m| (m, place))?),
            _ => match value {
                serde_yaml::Value::Number(n) if n.is_i64() => {
                    let n = n.as_i64().expect("tested in the guard");
                    row.variables.push((name.to_owned(), Value::Int(n)));
                }
                serde_yaml::Value::String(text) if text.contains('{') => {
                    let template = template_in(text, place)?;
                    row.templates.push((name.to_owned(), template));
                }
                serde_yaml::Value::String(text) => {
                    row.variables
                        .push((name.to_owned(), Value::Text(text.clone())));
                }
                _ => {
                    return Err((
                        format!("the variable `{name}` must be a whole number or a text"),
                        place,
                    ));
                }
            },
        }
    }
    Ok(row)
}

/// A list of feature names.
fn feature_list(name: &str, value: &serde_yaml::Value) -> Result<Vec<String>, String> {
    let list = value.as_sequence().map(|items| {
        items
            .iter()
            .map(|item| item.as_str().map(str::to_owned))
            .collect::<Option<Vec<String>>>()
    });
    list.flatten()
        .ok_or_else(|| format!("`{name}` must be a list of feature names"))
}

impl Manifest {
    /// The width in bits of a C type by value, C's own or the set's.
    pub fn c_type_width(&self, c_type: &str) -> Option<u32> {
        let bare = c_type.strip_prefix("const ").unwrap_or(c_type);
        self.types.get(bare).copied().or_else(|| c_type_width(bare))
    }

    /// How a variable is derived, and why it has no value, where that is so.
    pub(crate) fn not_derived(&self, name: &str, bindings: &Bindings) -> Option<String> {
        let (_, template) = self.derived.iter().find(|(known, _)| known == name)?;
        let why = template.value(bindings).err()?.message;
        Some(format!(
            "the manifest derives `{name}`, which has no value here: {why}"
        ))
    }

    /// Adds the derived variables whose inputs are all bound, and then `templates`.
    pub(crate) fn derive(&self, bindings: &mut Bindings, templates: &[&(String, Template)]) {
        for (name, template) in self.derived.iter().chain(templates.iter().copied()) {
            if let Ok(value) = template.value(bindings) {
                bindings.entry(name.clone()).or_insert(value);
            }
        }
    }
}
