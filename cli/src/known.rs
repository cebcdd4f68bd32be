//! What is known of instructions beside their dictionary: sentences, pseudocode, words, costs, checks.
//!
//! In: instruction sets, their folders and instructions. Out: [`Known`] by set and name, for the
//! tables and the guide. A vendor's pseudocode is not ours to show: of instructions that only
//! the vendor's file has, the place there is told.

use crate::args::Specs;
use crate::compile::read;
use crate::intake::Intake;
use crate::{assets, cost};
use catalog::record::{Cost, Encoding, Field, Known};
use semantics::diagnostic::Diagnostic;
use semantics::instruction::{Form, Instruction};
use semantics::machine::{Machine, MachineInstruction, Syntax};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use synth::cost::{CostTable, Rule};
use validate::models::Models;

/// What was found when the instructions of a set were checked: `checked.yaml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Checked {
    /// How many instructions the set had then: with another number it says nothing.
    instructions: usize,
    /// The first that fits an instruction is told.
    checks: Vec<Check>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Check {
    says: String,
    /// Only for instructions that need one of these.
    #[serde(default)]
    features: Vec<String>,
    /// Only for these.
    #[serde(default)]
    instructions: Vec<String>,
}

impl Check {
    fn fits(&self, instruction: &Instruction) -> bool {
        let needs = |f: &String| instruction.features.contains(f);
        match (self.features.is_empty(), self.instructions.is_empty()) {
            (true, true) => true,
            (false, _) if self.features.iter().any(needs) => true,
            _ => self.instructions.contains(&instruction.name),
        }
    }
}

/// One instruction set.
struct Set {
    folder: PathBuf,
    costs: Vec<CostTable>,
    /// What LLVM's models say, where that is kept.
    models: Option<Models>,
    machine: Option<Machine>,
    checks: Vec<Check>,
    /// What an instruction does, in a sentence, by its name.
    docs: BTreeMap<String, String>,
}

/// What is known of every instruction, by instruction set and name.
///
/// # Errors
/// A file of an instruction set that is there and cannot be read.
pub(crate) fn known(
    specs: &Specs,
    intake: &Intake,
) -> Result<BTreeMap<(String, String), Known>, Vec<Diagnostic>> {
    let mut sets = BTreeMap::new();
    for isa in specs.isa.split(',').map(str::trim) {
        let folder = assets::folder(isa, specs.isa_specs.as_deref()).map_err(|d| vec![d])?;
        let own = intake.instructions.iter().filter(|i| i.isa == isa);
        let ours = own.filter(|i| Path::new(&i.origin.file).starts_with(&folder));
        let count = ours.count();
        sets.insert(isa, set(folder, count)?);
    }
    let each = intake.instructions.iter().filter_map(|i| {
        let set = sets.get(i.isa.as_str())?;
        Some(((i.isa.clone(), i.name.clone()), of(i, set)))
    });
    Ok(each.collect())
}

fn set(folder: PathBuf, instructions: usize) -> Result<Set, Vec<Diagnostic>> {
    let costs = tables(&folder).map_err(|d| vec![d])?;
    let models = models(&folder).map_err(|d| vec![d])?;
    let manifest = folder.join("manifest.yaml");
    let (machine, docs) = match spec_parser::manifest::dialect(&manifest)?.as_str() {
        "matrix" => (
            Some(spec_parser::matrix::load::load(&manifest)?.0),
            BTreeMap::new(),
        ),
        _ => (None, docs(&manifest)?),
    };
    let checks = checks(&folder, instructions).map_err(|d| vec![d])?;
    Ok(Set {
        folder,
        costs,
        models,
        machine,
        checks,
        docs,
    })
}

/// The sentences of families, by the names of their members.
fn docs(manifest: &Path) -> Result<BTreeMap<String, String>, Vec<Diagnostic>> {
    let manifest = spec_parser::manifest::load(manifest)?;
    let members = spec_parser::family::load(&manifest).members.into_iter();
    let reported = members.filter(|m| !m.doc.trim().is_empty());
    Ok(reported.map(|m| (m.signature.name, m.doc)).collect())
}

/// The cost tables of a folder, by name; there need not be any.
fn tables(folder: &Path) -> Result<Vec<CostTable>, Diagnostic> {
    let Ok(files) = fs::read_dir(folder.join("cost")) else {
        return Ok(Vec::new());
    };
    let paths = files.flatten().map(|entry| entry.path());
    let yaml = paths.filter(|path| path.extension().is_some_and(|e| e == "yaml"));
    let mut models: Vec<String> = yaml
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    models.sort();
    let each = models.iter();
    each.map(|model| cost::table(folder, model, Rule::default()))
        .collect()
}

/// What `llvm_costs.yaml` says, where it is.
fn models(folder: &Path) -> Result<Option<Models>, Diagnostic> {
    let path = folder.join("llvm_costs.yaml");
    if !path.exists() {
        return Ok(None);
    }
    let source = read(&path)?;
    let models = validate::models::read(source.text());
    models.map(Some).map_err(|why| {
        Diagnostic::error(format!("{}: {why}", path.display()))
            .hint("`isaforge calibrate --models` writes it")
    })
}

/// What `checked.yaml` says, when it is of these instructions.
fn checks(folder: &Path, instructions: usize) -> Result<Vec<Check>, Diagnostic> {
    let path = folder.join("checked.yaml");
    if !path.exists() {
        return Ok(Vec::new());
    }
    let source = read(&path)?;
    let file: Checked = spec_parser::yaml::from_str(source.text()).map_err(|error| {
        Diagnostic::error(format!("{}: {error}", path.display())).hint(
            "it has `instructions`, a number, and `checks` of `says` and perhaps `features` and `instructions`",
        )
    })?;
    let same = file.instructions == instructions;
    Ok(if same { file.checks } else { Vec::new() })
}

fn of(instruction: &Instruction, set: &Set) -> Known {
    let file = Path::new(&instruction.origin.file);
    let own = file.strip_prefix(set.folder.parent().unwrap_or(&set.folder));
    let mut origin = instruction.origin.clone();
    origin.file = match own {
        Ok(path) => format!("isa-specs/{}", path.display()),
        Err(_) => file
            .file_name()
            .map_or_else(String::new, |n| n.to_string_lossy().into_owned()),
    };
    let machine = set.machine.as_ref().and_then(|machine| {
        let found = machine.instruction(&instruction.name)?;
        Some((machine, found))
    });
    Known {
        doc: own
            .is_ok()
            .then(|| set.docs.get(&instruction.name).cloned())
            .flatten(),
        pseudocode: own
            .is_ok()
            .then(|| instruction.pseudocode.trim_end().to_owned()),
        origin,
        encoding: machine.map(|(_, found)| encoding(found)),
        costs: match machine {
            Some((machine, _)) => unit(machine, &instruction.name).into_iter().collect(),
            None => {
                let reported = set.models.iter().flat_map(|m| modelled(instruction, m));
                costs(instruction, &set.costs)
                    .into_iter()
                    .chain(reported)
                    .collect()
            }
        },
        checks: set
            .checks
            .iter()
            .find(|check| own.is_ok() && check.fits(instruction))
            .map(|check| check.says.clone())
            .into_iter()
            .collect(),
    }
}

/// What an instruction costs by each table; what is no single instruction has no cost there.
fn costs(instruction: &Instruction, tables: &[CostTable]) -> Vec<Cost> {
    if instruction.form != Form::Single {
        return Vec::new();
    }
    let operands = instruction.operands.iter().map(|o| o.width);
    let outputs = instruction.outputs.iter();
    let results = outputs.filter_map(|o| o.term.sort().width());
    let width = operands.chain(results).max().unwrap_or(0);
    let name = instruction.mnemonic.as_deref().unwrap_or(&instruction.name);
    let cycles = |tenths: u32| f64::from(tenths) / 10.0;
    let each = tables.iter().map(|table| {
        let weight = table.weight(name, width);
        Cost {
            cpu: table.model.clone(),
            latency: cycles(weight.timing.latency),
            throughput: cycles(weight.timing.throughput),
            resource: weight.resource,
            source: None,
            stands: None,
        }
    });
    each.collect()
}

/// What models of LLVM say of an instruction.
fn modelled(instruction: &Instruction, models: &Models) -> Vec<Cost> {
    let Some(figures) = models.instructions.get(&instruction.name) else {
        return Vec::new();
    };
    let each = models.names.iter().zip(&figures.of);
    let known = each.filter_map(|(cpu, figure)| {
        let (latency, throughput) = (*figure)?;
        Some(Cost {
            cpu: cpu.clone(),
            latency,
            throughput,
            resource: None,
            source: Some(models.source.clone()),
            stands: figures.stands.clone(),
        })
    });
    known.collect()
}

/// What an instruction costs on a machine, where one of its units works on it.
fn unit(machine: &Machine, name: &str) -> Option<Cost> {
    let here = |k: &usize| {
        let found = machine.instructions.get(*k);
        found.is_some_and(|i| i.instruction.name == name)
    };
    let unit = machine
        .units
        .iter()
        .find(|u| u.instructions.iter().any(here))?;
    Some(Cost {
        cpu: machine.isa.clone(),
        latency: unit.latency as f64,
        throughput: unit.cycles as f64,
        resource: Some(unit.name.clone()),
        source: None,
        stands: None,
    })
}

/// The word and the text of an instruction.
fn encoding(found: &MachineInstruction) -> Encoding {
    let mut text = found.instruction.name.clone();
    if !found.syntax.is_empty() {
        text.push(' ');
    }
    for piece in &found.syntax {
        match piece {
            Syntax::Text(piece) => text.push_str(piece),
            Syntax::Operand(k) => text.push_str(&found.operands[*k].name),
        }
    }
    let fields = found.encoding.fields.iter().map(|f| Field {
        operand: found.operands[f.operand].name.clone(),
        at: f.at,
        width: f.width,
        from: f.from,
    });
    Encoding {
        text,
        mask: format!("{:#x}", found.encoding.mask),
        bits: format!("{:#x}", found.encoding.bits),
        fields: fields.collect(),
    }
}
