//! Faults planted in specifications: the processor has to find each. `cargo xtask mutants` plants
//! 33, the tests some.
//!
//! A fault is one token of a family's pseudocode, changed: a sign, a comparison, a bound, an
//! operand, how something is extended or cut. What the prover shows to be the same all the same is no
//! fault, and what this processor cannot run is drawn again; both are counted.

use rayon::prelude::*;
use semantics::instruction::Instruction;
use semantics::random::Random;
use smt::config::Config;
use smt::prover::Prover;
use spec_parser::{errata, intel, specs};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use target::Targets;
use test_support::need;
use toolchain::find;
use validate::check::against::{self, Answer};
use validate::check::faults::Faults;
use validate::check::judge::{self, Judge};
use validate::check::{Options, run};

/// One of so many faults is planted; all, when it is 1.
const EVERY: &str = "ISAFORGE_FAULTS_EVERY";
/// A data file of the vendor's, the second witness.
const VENDOR: &str = "ISAFORGE_VENDOR";
/// All faults, and those of the tests.
const ALL: usize = 33;
const SAMPLE: usize = 11;
/// The most instructions of a family that are run for one fault.
const MOST: usize = 12;

/// A family's text, and where its pseudocode stands in it.
struct Family {
    name: String,
    text: String,
    body: usize,
}

/// What stands for a token of pseudocode, with what it may be taken for.
const SLIPS: &[(&str, &[&str])] = &[
    ("+", &["-"]),
    ("-", &["+"]),
    ("*", &["+"]),
    ("<", &[">", "<="]),
    (">", &["<", ">="]),
    ("<=", &["<"]),
    (">=", &[">"]),
    ("==", &["!="]),
    ("!=", &["=="]),
    ("<<", &[">>"]),
    (">>", &["<<"]),
    ("?", &[]),
    ("AND", &["OR"]),
    ("OR", &["AND", "XOR"]),
    ("XOR", &["OR"]),
    ("MIN", &["MAX"]),
    ("MAX", &["MIN"]),
    ("a", &["b"]),
    ("b", &["a"]),
    ("0", &["1"]),
    ("1", &["0", "2"]),
    ("8", &["7", "16"]),
    ("16", &["15", "8"]),
    ("32", &["31", "16"]),
    ("SignExtend", &["ZeroExtend"]),
    ("ZeroExtend", &["SignExtend"]),
    ("SignExtend16", &["ZeroExtend16"]),
    ("ZeroExtend16", &["SignExtend16"]),
    ("SignExtend32", &["ZeroExtend32"]),
    ("ZeroExtend32", &["SignExtend32"]),
    ("SignExtend64", &["ZeroExtend64"]),
    ("ZeroExtend64", &["SignExtend64"]),
    ("Saturate8", &["SaturateU8", "Truncate8"]),
    ("SaturateU8", &["Saturate8", "Truncate8"]),
    ("Saturate16", &["SaturateU16", "Truncate16"]),
    ("SaturateU16", &["Saturate16", "Truncate16"]),
    ("Truncate8", &["Saturate8"]),
    ("Truncate16", &["Saturate16"]),
];

/// Words, numbers, signs of one or two characters, and what lies between.
fn tokens(text: &str) -> Vec<&str> {
    let (mut found, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let long = ["<<", ">>", "<=", ">=", "==", "!=", ":="];
        let length = match first {
            c if word(c) => rest.find(|c| !word(c)).unwrap_or(rest.len()),
            _ if long.iter().any(|sign| rest.starts_with(sign)) => 2,
            c => c.len_utf8(),
        };
        let (token, more) = rest.split_at(length);
        found.push(token);
        rest = more;
    }
    found
}

/// All families of the set that have pseudocode.
fn families(folder: &Path) -> Vec<Family> {
    let mut names: Vec<PathBuf> = fs::read_dir(folder)
        .expect("it is in the project")
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.extension().is_some_and(|e| e == "yaml"))
        .collect();
    names.sort();
    let mut found = Vec::new();
    for path in names {
        let text = fs::read_to_string(&path).expect("it is text");
        for item in format!("\n{text}").split("\n- family: ").skip(1) {
            let text = format!("- family: {}\n", item.trim_end());
            if let Some(body) = text.find("  pseudocode: |\n") {
                let name = item.lines().next().unwrap_or_default().to_owned();
                found.push(Family { name, text, body });
            }
        }
    }
    found
}

/// The family with one token changed, and what was changed; nothing, where no token can be.
fn mutant(family: &Family, random: &mut Random) -> Option<(String, String)> {
    let (head, body) = family.text.split_at(family.body);
    let (first, body) = body.split_at("  pseudocode: |\n".len());
    let mut words = tokens(body);
    let slips = |word: &str| SLIPS.iter().find(|(from, _)| *from == word);
    let places: Vec<(usize, &str)> = words
        .iter()
        .enumerate()
        .flat_map(|(at, word)| {
            slips(word)
                .into_iter()
                .flat_map(move |(_, to)| to.iter().map(move |t| (at, *t)))
        })
        .collect();
    if places.is_empty() {
        return None;
    }
    let (at, to) = *random.pick::<(usize, &str)>(&places);
    let line = words[..at].concat().matches('\n').count() + 1;
    let told = format!("{}, line {line}: `{}` is `{to}`", family.name, words[at]);
    words[at] = to;
    Some((format!("{head}{first}{}", words.concat()), told))
}

/// The set with one family alone, in a folder.
fn alone(set: &Path, folder: &Path, family: &str) -> Result<Vec<Instruction>, String> {
    let manifest = fs::read_to_string(set.join("manifest.yaml")).expect("it is in the project");
    let (head, files) = manifest.split_once("\nfiles:\n").expect("it lists files");
    let rest = files.find("\n\n").expect("axes follow");
    let manifest = format!("{head}\nfiles: [family.yaml]\n{}", &files[rest..]);
    fs::copy(set.join("targets.yaml"), folder.join("targets.yaml")).expect("there is room");
    fs::write(folder.join("manifest.yaml"), manifest).expect("there is room");
    fs::write(folder.join("family.yaml"), family).expect("there is room");
    let loaded = specs::load(&folder.join("manifest.yaml"));
    let loaded = loaded.map_err(|d| d[0].to_string())?;
    match loaded.diagnostics.first() {
        Some(first) => Err(first.to_string()),
        None => Ok(loaded.instructions),
    }
}

/// What became of a fault.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Found {
    /// Its family is no specification any more.
    Refused,
    /// The processor computes something else.
    ByProcessor,
    /// Nobody found it.
    Missed,
    /// The processor agrees, and nobody knows whether it is the same.
    Open,
    /// It is proved to be the same.
    Same,
    /// This processor does not have it.
    NotRun,
}

/// What is asked about faults.
struct Witnesses {
    set: PathBuf,
    targets: Targets,
    judge: Judge,
    faults: Faults,
    prover: Prover,
    vendor: Vec<Instruction>,
}

impl Witnesses {
    /// What this machine has.
    fn here() -> Result<Witnesses, String> {
        let set = Path::new(env!("CARGO_MANIFEST_DIR")).join("../isa-specs/x86");
        let told = |d: semantics::diagnostic::Diagnostic| d.to_string();
        let targets = Targets::load(&set).map_err(told)?;
        let judge = judge::of(&set, &targets, false, true).map_err(|d| d[0].to_string())?;
        let compiler = judge.compiler.clone()?;
        let vendor = match std::env::var_os(VENDOR) {
            None => Vec::new(),
            Some(path) => {
                let text = fs::read_to_string(&path).map_err(|e| format!("{path:?}: {e}"))?;
                let source = semantics::span::Source::new("vendor", &text);
                let errata =
                    errata::load(&set.join("errata.yaml")).map_err(|d| d[0].to_string())?;
                intel::guide::load(&source, &errata)
                    .map_err(told)?
                    .instructions
            }
        };
        Ok(Witnesses {
            faults: Faults::load(&set, &compiler.program).map_err(told)?,
            prover: Prover::new(Config::default()),
            set,
            targets,
            judge,
            vendor,
        })
    }

    /// Whether the processor has one of these, and whether it computes what they say.
    fn runs(&self, instructions: &[Instruction]) -> (bool, bool) {
        let options = Options {
            filter: None,
            inputs: 400,
            seed: 1,
            faults: self.faults.clone(),
            flags: Vec::new(),
            judge: self.judge.clone(),
        };
        let (agreed, differs, _) = run(instructions, &self.targets, &options, &|_| ()).counts();
        (agreed + differs > 0, differs == 0)
    }

    /// Whether the vendor's text says something else of one of these.
    fn vendor_differs(&self, instructions: &[Instruction]) -> bool {
        let chosen: Vec<&Instruction> = instructions.iter().collect();
        let compared = against::compare(&chosen, &self.vendor, &self.prover, &|_| ());
        let mut answers = compared.answers.values();
        answers.any(|(_, _, answer)| matches!(answer, Answer::Different(_)))
    }

    /// What becomes of a fault, and whether the vendor's text has it as well.
    fn tried(&self, family: &Family, text: &str) -> (Found, bool) {
        let folder = tempfile::tempdir().expect("there is room");
        let right = alone(&self.set, folder.path(), &family.text).expect("it is right");
        let Ok(wrong) = alone(&self.set, folder.path(), text) else {
            return (Found::Refused, false);
        };
        let right: BTreeMap<&str, &Instruction> =
            right.iter().map(|i| (i.name.as_str(), i)).collect();
        let answer = |i: &Instruction| {
            let right = right.get(i.name.as_str());
            right.map_or(Answer::Absent, |r| against::equal(i, r, &self.prover))
        };
        let answers: Vec<Answer> = wrong.par_iter().map(answer).collect();
        let known = answers.iter().any(|a| matches!(a, Answer::Different(_)));
        let other = wrong.iter().zip(&answers);
        let other = other.filter(|(_, answer)| **answer != Answer::Proved);
        let other: Vec<Instruction> = other.map(|(i, _)| i.clone()).collect();
        if other.is_empty() {
            return (Found::Same, false);
        }
        let has = |i: &&Instruction| {
            let needed = i.features.iter().cloned().collect();
            let needed = self.targets.closure(&needed);
            needed.is_subset(&self.judge.host.features)
        };
        let here = other.iter().filter(has);
        let here: Vec<Instruction> = here.cloned().collect();
        let vendor = self.vendor_differs(&some_of(&other));
        let mut ran = self.runs(&some_of(&here));
        if ran.1 && here.len() > MOST {
            ran = self.runs(&here);
        }
        let found = match ran {
            (true, false) => Found::ByProcessor,
            (true, true) if known => Found::Missed,
            (true, true) => Found::Open,
            (false, _) => Found::NotRun,
        };
        (found, vendor)
    }
}

/// A few of them, evenly.
fn some_of(all: &[Instruction]) -> Vec<Instruction> {
    let step = all.len().div_ceil(MOST).max(1);
    all.iter().step_by(step).cloned().collect()
}

#[test]
fn faults_in_specifications_are_found_by_the_processor() {
    need!(find::processor(&["avx2"]));
    let witnesses = need!(Witnesses::here());
    let every = std::env::var(EVERY).ok().and_then(|text| text.parse().ok());
    let wanted = ALL.div_ceil(every.unwrap_or(SAMPLE));
    let families = families(&witnesses.set);
    let mut random = Random::new(33);
    let mut rows: BTreeMap<Found, Vec<String>> = BTreeMap::new();
    let (mut planted, mut by_vendor) = (0, 0);
    while planted < wanted {
        let family: &Family = random.pick(&families);
        let Some((text, told)) = mutant(family, &mut random) else {
            continue;
        };
        let (found, differs) = witnesses.tried(family, &text);
        planted += usize::from(matches!(
            found,
            Found::Refused | Found::ByProcessor | Found::Missed
        ));
        by_vendor += usize::from(differs);
        rows.entry(found).or_default().push(told);
        let drawn: usize = rows.values().map(Vec::len).sum();
        assert!(drawn < 20 * wanted, "too few can be run here");
    }
    for (found, of) in &rows {
        println!("{:>5}  {found:?}", of.len());
        for told in of {
            println!("           {told}");
        }
    }
    if !witnesses.vendor.is_empty() {
        println!("{by_vendor:>5}  differ from the vendor's text");
    }
    assert!(!rows.contains_key(&Found::Missed), "see above");
}
