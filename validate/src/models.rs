//! What the scheduling models of LLVM say that instructions cost.
//!
//! In: instructions, how their set is compiled, names of processors. Out: [`Models`]: of each
//! processor the latency and the throughput of every instruction, as `llvm-mca` prints them, and
//! a text of that which is kept beside the set. Each instruction is what clang makes of its
//! function; where that is another one, its name is told. It measures nothing, and believes the
//! models as little as they deserve: they are shown with their source.

mod assembly;
#[cfg(test)]
mod tests;
mod text;

use crate::check::features;
use assembly::Line;
use codegen_gen::check_harness::{Case, wrapper};
use rayon::prelude::*;
use semantics::instruction::{Form, Instruction};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use target::{Target, Targets};
use toolchain::{c, find, folder};

pub use text::{read, write};

/// Functions in one file.
const BATCH: usize = 500;

/// Regions in one question: the time that `llvm-mca` takes grows with their square.
const REGIONS: usize = 100;

/// Latency and cycles between two starts; none where the model has no such instruction.
pub type Figure = Option<(f64, f64)>;

/// What models say of one instruction.
#[derive(Clone, PartialEq, Debug)]
pub struct Figures {
    /// What stands for it, where the compiler makes another instruction of it.
    pub stands: Option<String>,
    /// A figure of each model.
    pub of: Vec<Figure>,
}

/// What models say of the instructions of a set.
#[derive(Clone, PartialEq, Debug)]
pub struct Models {
    /// Who says it: the program and its version.
    pub source: String,
    /// The processors, as LLVM calls them.
    pub names: Vec<String>,
    /// Figures by the instruction's name.
    pub instructions: BTreeMap<String, Figures>,
}

/// How the functions of a set are compiled.
#[derive(Clone, Debug)]
pub struct Language<'a> {
    /// Features and LLVM's triple.
    pub targets: &'a Targets,
    /// The headers that declare the functions.
    pub headers: &'a [String],
}

/// The programs that are asked.
struct Tools {
    clang: PathBuf,
    mca: PathBuf,
    triple: String,
}

/// Asks `llvm-mca` of LLVM 19 what each model says of each instruction.
///
/// # Errors
/// A tool is not here or does not know a processor, or the set has no triple: in one line.
pub fn ask(
    instructions: &[&Instruction],
    language: &Language<'_>,
    names: &[String],
) -> Result<Models, String> {
    let triple = language.targets.llvm().triple.clone();
    let tools = Tools {
        clang: find::llvm("clang")?.0,
        mca: find::llvm("llvm-mca")?.0,
        triple: triple.ok_or("its `targets.yaml` has no `llvm: triple`")?,
    };
    let source = version(&tools.mca)?;
    for name in names {
        tools.knows(name)?;
    }
    let single = instructions.iter().copied();
    let single: Vec<&Instruction> = single.filter(|i| i.form == Form::Single).collect();
    let lines = tools.lines(&single, language)?;
    let texts: Vec<&str> = lines.iter().map(|(_, line)| line.text.as_str()).collect();
    let ask = |name: &String| -> Result<Vec<Figure>, String> {
        let parts = texts
            .par_chunks(REGIONS)
            .map(|part| tools.figures(name, part));
        let parts: Result<Vec<_>, String> = parts.collect();
        Ok(parts?.into_iter().flatten().collect())
    };
    let said: Result<Vec<_>, String> = names.iter().map(ask).collect();
    let said = said?;
    // Assemblers of some sets take what a processor has not, and its model says something of that.
    let has: Vec<Option<Target>> = names
        .iter()
        .map(|name| language.targets.find(name).ok())
        .collect();
    let needs: BTreeMap<&str, BTreeSet<String>> = single
        .iter()
        .map(|i| (i.name.as_str(), i.features.iter().cloned().collect()))
        .collect();
    let each = lines.iter().enumerate().filter_map(|(k, (name, line))| {
        let needs = needs
            .get(name.as_str())
            .map(|own| language.targets.closure(own));
        let lacks = |target: &Option<Target>| match (target, &needs) {
            (Some(target), Some(needs)) => !needs.is_subset(&target.features),
            _ => false,
        };
        let models = said.iter().zip(&has);
        let figure = |(model, target): (&Vec<Figure>, _)| model[k].filter(|_| !lacks(target));
        let of: Vec<Figure> = models.map(figure).collect();
        let stands = (!line.named).then(|| line.mnemonic().to_owned());
        let known = of.iter().any(Option::is_some);
        known.then(|| (name.clone(), Figures { stands, of }))
    });
    Ok(Models {
        source,
        names: names.to_vec(),
        instructions: each.collect(),
    })
}

/// The line of a program's `--version` that has one.
fn version(program: &Path) -> Result<String, String> {
    let output = Command::new(program).arg("--version").output();
    let output = output.map_err(|e| format!("{} does not run: {e}", program.display()))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find(|l| l.contains("version"));
    let number = line.and_then(|l| l.split("version").nth(1));
    let number = number.map(str::trim).ok_or("llvm-mca tells no version")?;
    Ok(format!("llvm-mca of LLVM {number}"))
}

impl Tools {
    /// Whether the model has the processor: LLVM itself only warns and takes another.
    fn knows(&self, name: &str) -> Result<(), String> {
        let said = self.mca(name, "\n", &[])?;
        if said.complaints.contains("is not a recognized processor") {
            return Err(format!(
                "LLVM knows no processor `{name}` of {}: `llvm-mca -mtriple={} -mcpu=help` lists them",
                self.triple, self.triple
            ));
        }
        Ok(())
    }

    /// The line of assembly that each instruction is; those of which nothing is found are left out.
    fn lines(
        &self,
        instructions: &[&Instruction],
        language: &Language<'_>,
    ) -> Result<Vec<(String, Line)>, String> {
        // Flags of a file decide how its functions get vectors, in registers or in memory, so that
        // each file has the features of its instructions and no others.
        let mut groups: BTreeMap<Vec<String>, Vec<&Instruction>> = BTreeMap::new();
        for &instruction in instructions {
            let needed = instruction.features.iter().cloned().collect();
            let flags = language.targets.flags(&language.targets.closure(&needed));
            groups.entry(flags).or_default().push(instruction);
        }
        let batches: Vec<(&[String], &[&Instruction])> = groups
            .iter()
            .flat_map(|(flags, group)| group.chunks(BATCH).map(|batch| (&flags[..], batch)))
            .collect();
        let batches: Result<Vec<_>, String> = batches
            .into_par_iter()
            .map(|(flags, batch)| self.batch(flags, batch, language))
            .collect();
        Ok(batches?.into_iter().flatten().collect())
    }

    /// As [`Tools::lines`], one file at a time: with other constants where none is found.
    fn batch(
        &self,
        flags: &[String],
        instructions: &[&Instruction],
        language: &Language<'_>,
    ) -> Result<Vec<(String, Line)>, String> {
        let mut found: Vec<Option<Line>> = vec![None; instructions.len()];
        for attempt in 0..ATTEMPTS {
            let open = found.iter().enumerate();
            let open: Vec<usize> = open
                .filter(|(k, line)| {
                    let settled = line.as_ref().is_some_and(|l| l.named);
                    !settled && (attempt == 0 || has_constants(instructions[*k]))
                })
                .map(|(k, _)| k)
                .collect();
            if open.is_empty() {
                break;
            }
            let cases: Vec<Case<'_>> = open
                .iter()
                .map(|&k| case(instructions[k], attempt, language))
                .collect();
            for (k, line) in open.iter().zip(self.compile(flags, &cases)?) {
                if line.as_ref().is_some_and(|l| l.named) || found[*k].is_none() {
                    found[*k] = line;
                }
            }
        }
        let named = instructions.iter().map(|i| i.name.clone()).zip(found);
        Ok(named.filter_map(|(n, line)| Some((n, line?))).collect())
    }

    /// What the compiler makes of each case; nothing of what it refuses.
    fn compile(&self, flags: &[String], cases: &[Case<'_>]) -> Result<Vec<Option<Line>>, String> {
        let folder = folder::temporary()?;
        let clang = self.clang.display().to_string();
        let triple = format!("--target={}", self.triple);
        let mut kept: Vec<usize> = (0..cases.len()).collect();
        let mut lines = vec![None; cases.len()];
        while !kept.is_empty() {
            let chosen: Vec<Case<'_>> = kept.iter().map(|&k| cases[k].clone()).collect();
            let harness = wrapper::emit(&chosen);
            fs::write(folder.path().join("models.c"), &harness.text)
                .map_err(|e| format!("no temporary file: {e}"))?;
            let flags = flags.iter().map(String::as_str);
            let arguments = [
                "-S",
                "-O2",
                "-w",
                "-ffreestanding",
                "-fno-asynchronous-unwind-tables",
                "-ferror-limit=0",
                &triple,
                "-o",
                "models.s",
                "models.c",
            ];
            let arguments = arguments.into_iter().chain(flags);
            let messages = match c::compile(&clang, arguments, folder.path()) {
                Ok(()) => break,
                Err(c::Failure::Absent(why)) => return Err(why),
                Err(c::Failure::Refused(messages)) => messages,
            };
            let refused = c::complaints(&messages, "models.c", &harness.lines);
            if refused.is_empty() {
                let first = messages.lines().find(|l| l.contains("error"));
                return Err(format!("clang refuses: {}", first.unwrap_or("no message")));
            }
            let mut index = 0..;
            kept.retain(|_| !index.next().is_some_and(|k| refused.contains_key(&k)));
        }
        if kept.is_empty() {
            return Ok(lines);
        }
        let text = fs::read_to_string(folder.path().join("models.s"))
            .map_err(|e| format!("no assembly: {e}"))?;
        let bodies = assembly::bodies(&text);
        for (place, &k) in kept.iter().enumerate() {
            let body = bodies.get(&place).map_or(&[][..], Vec::as_slice);
            lines[k] = assembly::line(body, cases[k].instruction.mnemonic.as_deref());
        }
        Ok(lines)
    }

    /// What a model says of each line.
    fn figures(&self, name: &str, lines: &[&str]) -> Result<Vec<Figure>, String> {
        let mut text = String::new();
        for (k, line) in lines.iter().enumerate() {
            text.push_str(&format!(
                "# LLVM-MCA-BEGIN {k}\n{line}\n# LLVM-MCA-END {k}\n"
            ));
        }
        // The second option leaves out what the processor has not.
        let more = ["--skip-unsupported-instructions=any"];
        let said = self.mca(name, &text, &more)?;
        // It prints nothing where the processor has none of them.
        let report = match said.report.trim() {
            "" => "{}",
            printed => printed,
        };
        let report: Report = serde_json::from_str(report)
            .map_err(|e| format!("llvm-mca for `{name}` answers in another form: {e}"))?;
        let mut figures = vec![None; lines.len()];
        for region in report.regions {
            let index: Option<usize> = region.name.trim().parse().ok();
            let place = index.and_then(|k| figures.get_mut(k));
            if let (Some(place), [one]) = (place, region.info.list.as_slice()) {
                *place = Some((one.latency, one.throughput));
            }
        }
        Ok(figures)
    }

    /// Runs `llvm-mca` on a text.
    fn mca(&self, name: &str, text: &str, more: &[&str]) -> Result<Said, String> {
        let folder = folder::temporary()?;
        fs::write(folder.path().join("models.s"), text)
            .map_err(|e| format!("no temporary file: {e}"))?;
        let output = Command::new(&self.mca)
            .arg(format!("-mtriple={}", self.triple))
            .arg(format!("-mcpu={name}"))
            // The tables of the model: a simulation says no more, and some do not end.
            .args(["--json", "--instruction-tables"])
            .args(more)
            .arg("models.s")
            .current_dir(folder.path())
            .output()
            .map_err(|e| format!("{} does not run: {e}", self.mca.display()))?;
        Ok(Said {
            report: String::from_utf8_lossy(&output.stdout).into_owned(),
            complaints: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }
}

/// What a run of `llvm-mca` printed.
struct Said {
    report: String,
    complaints: String,
}

#[derive(Deserialize)]
struct Report {
    #[serde(rename = "CodeRegions", default)]
    regions: Vec<Region>,
}

#[derive(Deserialize)]
struct Region {
    #[serde(rename = "Name", default)]
    name: String,
    #[serde(rename = "InstructionInfoView")]
    info: Info,
}

#[derive(Deserialize)]
struct Info {
    #[serde(rename = "InstructionList")]
    list: Vec<One>,
}

#[derive(Deserialize)]
struct One {
    #[serde(rename = "Latency")]
    latency: f64,
    #[serde(rename = "RThroughput")]
    throughput: f64,
}

/// How many lists of constants are tried until the compiler makes the instruction of them.
const ATTEMPTS: usize = 6;

fn has_constants(instruction: &Instruction) -> bool {
    instruction.operands.iter().any(|o| o.role.is_constant())
}

/// A function of an instruction; with some constants a compiler sees something simpler.
fn case<'a>(instruction: &'a Instruction, attempt: usize, language: &Language<'_>) -> Case<'a> {
    let operands = instruction.operands.iter();
    let constants = operands.filter_map(|o| o.role.constants());
    let chosen = constants.zip(0..).map(|(all, k)| {
        let count = all.count();
        // Apart from each other, so that not all of them are special at once: a count of 27 leaves
        // nothing of 16 bits, a shift by 1 is a sum.
        let last = count.saturating_sub(1);
        let places = [27 + k, 3 + k, 1, count / 2 + k, last, 0];
        let place = places[attempt % ATTEMPTS] % count.max(1);
        all.nth(place).unwrap_or(0)
    });
    let nothing = Target {
        name: String::new(),
        model: String::new(),
        features: Default::default(),
    };
    Case {
        instruction,
        features: features(instruction, language.targets, &nothing),
        immediates: vec![chosen.collect()],
        window: 0,
        headers: language.headers.to_vec(),
    }
}
