//! The data of the guide, as scripts that hand it over.
//!
//! In: a catalogue. Out: `guide.index({…})` and, for some operations each, packed, `guide.page(n, "…")`.
//! Texts and flows that several instructions of a page share are there once. Names are short
//! because they are there thousands of times; `store.js` says what each of them is.

use super::pack;
use crate::flow::{Flow, Pattern, Way};
use crate::record::{Catalog, Encoding, Entry, Instruction, Slot, form};
use crate::samples::{COUNT, Computed, Kind, VARIABLES};
use crate::sense::Fact;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::Range;

/// A page is full with so many instructions.
const PER_PAGE: usize = 100;

/// Characters of a formula that are searched.
const SEARCHED: usize = 160;

/// Which operations are on which page.
pub(super) struct Plan {
    pages: Vec<Range<usize>>,
}

impl Plan {
    pub(super) fn new(catalog: &Catalog<'_>) -> Plan {
        let (mut pages, mut from, mut count) = (Vec::new(), 0, 0);
        for (k, entry) in catalog.operations.iter().enumerate() {
            count += entry.instructions.len();
            if count >= PER_PAGE {
                pages.push(from..k + 1);
                (from, count) = (k + 1, 0);
            }
        }
        if from < catalog.operations.len() {
            pages.push(from..catalog.operations.len());
        }
        Plan { pages }
    }

    pub(super) fn pages(&self) -> usize {
        self.pages.len()
    }

    /// The operations of a page.
    pub(super) fn shown(&self, page: usize) -> Range<usize> {
        self.pages[page].clone()
    }

    fn page_of(&self, operation: usize) -> usize {
        self.pages.partition_point(|range| range.end <= operation)
    }
}

/// Values, each once, by number.
#[derive(Default)]
pub(super) struct Table {
    numbers: BTreeMap<String, usize>,
    pub(super) list: Vec<String>,
}

impl Table {
    pub(super) fn number(&mut self, text: &str) -> usize {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.list.len();
        self.numbers.insert(text.to_owned(), number);
        self.list.push(text.to_owned());
        number
    }
}

/// An instruction: name, operation, ISA, features, elements, mnemonic, facts.
type Line<'a> = (&'a str, usize, usize, usize, Vec<usize>, usize, usize);

#[derive(Serialize)]
struct Index<'a> {
    about: &'a [String],
    isas: &'a [String],
    kinds: Vec<String>,
    features: Vec<String>,
    elements: Vec<String>,
    mnemonics: Vec<String>,
    facts: Vec<&'static str>,
    senses: Vec<serde_json::Value>,
    operations: Vec<Summary<'a>>,
    instructions: Vec<Line<'a>>,
}

#[derive(Serialize)]
struct Summary<'a> {
    n: &'a str,
    k: usize,
    p: usize,
    f: String,
    m: usize,
}

/// Writes the index.
pub(super) fn index(catalog: &Catalog<'_>, plan: &Plan, out: &mut dyn Write) -> io::Result<String> {
    let (mut kinds, mut features, mut elements) =
        (Table::default(), Table::default(), Table::default());
    let (mut isas, mut mnemonics) = (Table::default(), Table::default());
    let mut senses = Table::default();
    for isa in &catalog.isas {
        isas.number(isa);
    }
    let operations = catalog
        .operations
        .iter()
        .enumerate()
        .map(|(k, entry)| Summary {
            n: &entry.operation.name,
            k: kinds.number(entry.kind.name()),
            p: plan.page_of(k),
            f: entry.operation.formula.chars().take(SEARCHED).collect(),
            m: entry.instructions.len(),
        });
    let operations = operations.collect();
    let instructions = catalog.instructions.iter().map(|i| {
        let mnemonic = i.member.mnemonic.as_deref().unwrap_or_default();
        (
            i.member.name.as_str(),
            i.operation,
            isas.number(&i.member.isa),
            features.number(&i.member.features.join(" ")),
            i.elements().iter().map(|e| elements.number(e)).collect(),
            mnemonics.number(mnemonic),
            senses.number(&serde_json::json!(facts(i)).to_string()),
        )
    });
    let instructions = instructions.collect();
    let known: Result<Vec<_>, _> = senses
        .list
        .iter()
        .map(|s| serde_json::from_str(s))
        .collect();
    let index = Index {
        about: &catalog.about,
        isas: &isas.list,
        kinds: kinds.list,
        features: features.list,
        elements: elements.list,
        mnemonics: mnemonics.list,
        facts: Fact::ALL.iter().map(|f| f.name()).collect(),
        senses: known?,
        operations,
        instructions,
    };
    out.write_all(b"guide.index(")?;
    serde_json::to_writer(&mut *out, &index)?;
    out.write_all(b");\n")?;
    Ok(format!("{} instructions", catalog.instructions.len()))
}

#[derive(Serialize)]
struct Values {
    samples: BTreeMap<String, Vec<Vec<serde_json::Value>>>,
    /// What the element is, and what it depends on.
    shapes: Vec<serde_json::Value>,
    /// A shape, the values, the instructions.
    list: Vec<(usize, Vec<serde_json::Value>, Vec<usize>)>,
}

/// A value as the guide reads it: a float as a number, an integer in decimal.
fn value(kind: Kind, bits: u64) -> serde_json::Value {
    let number = match kind {
        Kind::Float(32) => f64::from(f32::from_bits(bits as u32)),
        Kind::Float(_) => f64::from_bits(bits),
        _ => return bits.to_string().into(),
    };
    match number.is_finite() {
        true => number.into(),
        false => number.to_string().into(),
    }
}

/// Writes what instructions compute on samples.
pub(super) fn values(catalog: &Catalog<'_>, out: &mut dyn Write) -> io::Result<String> {
    let mut found: BTreeMap<&Computed, Vec<usize>> = BTreeMap::new();
    for (number, instruction) in catalog.instructions.iter().enumerate() {
        if let Some(computed) = &instruction.computed {
            found.entry(computed).or_default().push(number);
        }
    }
    let (mut samples, mut shapes) = (BTreeMap::new(), Table::default());
    let mut list = Vec::new();
    for (computed, instructions) in found {
        let from = computed.from.iter();
        for &(kind, _) in from.clone() {
            samples.entry(kind.name()).or_insert_with(|| {
                let one = |v| (0..COUNT).map(|k| value(kind, kind.sample(v, k))).collect();
                (0..VARIABLES).map(one).collect()
            });
        }
        let from: Vec<(String, u32)> = from.map(|(kind, n)| (kind.name(), *n)).collect();
        let shape = serde_json::json!([computed.to.name(), from]);
        let each = computed.values.iter().map(|&v| value(computed.to, v));
        list.push((
            shapes.number(&shape.to_string()),
            each.collect(),
            instructions,
        ));
    }
    let shapes: Result<Vec<_>, _> = shapes
        .list
        .iter()
        .map(|s| serde_json::from_str(s))
        .collect();
    let all = Values {
        samples,
        shapes: shapes?,
        list,
    };
    out.write_all(b"guide.values(")?;
    serde_json::to_writer(&mut *out, &all)?;
    out.write_all(b");\n")?;
    Ok(String::new())
}

/// The facts of an instruction by their numbers in the list of all.
fn facts(instruction: &Instruction<'_>) -> Vec<usize> {
    instruction.facts.iter().map(|&f| f as usize).collect()
}

#[derive(Serialize)]
struct Page<'a> {
    operations: BTreeMap<usize, Operation<'a>>,
    texts: Vec<String>,
    flows: Vec<serde_json::Value>,
    /// Lists of operands or results.
    slots: Vec<serde_json::Value>,
}

#[derive(Serialize)]
struct Operation<'a> {
    parameters: &'a [String],
    arguments: &'a [String],
    formula: &'a str,
    members: Vec<Member<'a>>,
}

#[derive(Serialize)]
struct Member<'a> {
    name: &'a str,
    isa: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    mnemonic: Option<&'a str>,
    form: &'static str,
    features: &'a [String],
    operands: usize,
    results: usize,
    values: &'a [i64],
    arguments: Vec<&'a str>,
    formula: &'a str,
    evidence: String,
    checks: Vec<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<&'a Encoding>,
    #[serde(skip_serializing_if = "Option::is_none")]
    doc: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pseudocode: Option<usize>,
    file: &'a str,
    line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    family: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    errata: &'a [String],
    flows: Vec<usize>,
}

/// Writes a page.
pub(super) fn page(
    catalog: &Catalog<'_>,
    plan: &Plan,
    page: usize,
    out: &mut dyn Write,
) -> io::Result<String> {
    let mut tables = Tables::default();
    let operations = plan.shown(page).map(|k| {
        let entry = &catalog.operations[k];
        let all = catalog.members(entry).iter();
        let members = all.map(|i| member(i, entry, &mut tables));
        let operation = Operation {
            parameters: &entry.operation.parameters,
            arguments: &entry.operation.arguments,
            formula: &entry.operation.formula,
            members: members.collect(),
        };
        (k, operation)
    });
    let operations = operations.collect();
    let whole = Page {
        operations,
        texts: tables.texts.list,
        flows: values_of(&tables.flows)?,
        slots: values_of(&tables.slots)?,
    };
    pack::call(out, "page", page, &whole)?;
    Ok(String::new())
}

/// What members of a page share.
#[derive(Default)]
struct Tables {
    texts: Table,
    flows: Table,
    slots: Table,
}

/// The values of which a table has the texts.
fn values_of(table: &Table) -> serde_json::Result<Vec<serde_json::Value>> {
    let each = table.list.iter().map(|text| serde_json::from_str(text));
    each.collect()
}

fn member<'a>(i: &'a Instruction<'_>, entry: &'a Entry<'_>, tables: &mut Tables) -> Member<'a> {
    let (m, known) = (i.member, &i.known);
    let Tables {
        texts,
        flows,
        slots,
    } = tables;
    let mut listed = |list: &[Slot]| slots.number(&serde_json::json!(list).to_string());
    Member {
        name: &m.name,
        isa: &m.isa,
        mnemonic: m.mnemonic.as_deref(),
        form: form(m.form),
        features: &m.features,
        operands: listed(&i.operands),
        results: listed(&i.results),
        values: &m.values,
        arguments: i.arguments(entry).map(|(_, what)| what).collect(),
        formula: &i.formula,
        evidence: m.evidence.to_string(),
        checks: known.checks.iter().map(|c| texts.number(c)).collect(),
        encoding: known.encoding.as_ref(),
        doc: known.doc.as_ref().map(|d| texts.number(d)),
        pseudocode: known.pseudocode.as_ref().map(|p| texts.number(p)),
        file: &known.origin.file,
        line: known.origin.line,
        family: known.origin.family.as_deref(),
        errata: &known.origin.errata,
        flows: i
            .flows
            .iter()
            .map(|f| flows.number(&flow(f).to_string()))
            .collect(),
    }
}

/// A flow: sources as `[name, width, count]`, elements as `[[source, way, first, count], …]` or
/// a constant in hexadecimal. One that goes straight through needs no elements.
fn flow(flow: &Flow) -> serde_json::Value {
    let pattern = match flow.pattern() {
        Pattern::Lanewise => "lanewise",
        Pattern::Moves => "moves",
        Pattern::Gathers => "gathers",
    };
    let sources: Vec<_> = flow
        .sources
        .iter()
        .map(|s| (&s.name, s.width, s.count))
        .collect();
    let elements: Vec<serde_json::Value> = match flow.pattern() {
        Pattern::Lanewise => Vec::new(),
        _ => flow.elements.iter().map(element).collect(),
    };
    serde_json::json!({
        "to": flow.result,
        "width": flow.width,
        "count": flow.elements.len(),
        "pattern": pattern,
        "from": sources,
        "elements": elements,
        "given": flow.given,
    })
}

fn element(element: &crate::flow::Element) -> serde_json::Value {
    match &element.constant {
        Some(bits) if bits.is_zero() => "0".into(),
        Some(bits) if *bits == semantics::bits::Bits::ones(bits.width()) => "all ones".into(),
        Some(bits) => format!("{:#x}", bits.low_u64()).into(),
        None => {
            let edges = element.edges.iter().map(|e| {
                let way = match e.way {
                    Way::Moved => 0,
                    Way::Computed => 1,
                    Way::Decides => 2,
                };
                (e.source, way, e.first, e.count)
            });
            serde_json::json!(edges.collect::<Vec<_>>())
        }
    }
}
