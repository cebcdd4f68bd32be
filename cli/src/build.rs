//! `isaforge build`: the dictionary, and what other people's tools read of it.
//!
//! In: specifications, or a dictionary that was made before. Out: a folder with all
//! artefacts ([`artefacts`] lists them), a report on standard output, a status. What an
//! artefact looks like is decided in `codegen-gen`.

use crate::args::Build;
use crate::inspect::{counted, finish, load, prover};
use crate::intake::{self, Intake};
use crate::output::{Output, Written};
use crate::status::Status;
use crate::{assets, compile, known, llvm, pin, shard, simulate, terminal};
use autoir::dictionary::{Dictionary, Member};
use catalog::record::Catalog;
use codegen_gen::artefact::{Artefact, Input, Set};
use codegen_gen::{exo, header, lowering, mlir, reference, tablegen};
use semantics::diagnostic::Diagnostic;
use semantics::machine::Machine;
use semantics::spelling::Spelling;
use sha2::{Digest, Sha256};
use similarity::class::Report;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use target::Targets;
use validate::check::faults;

/// A dictionary with what is told of it.
struct Source {
    dictionary: Dictionary,
    text: String,
    report: Option<Report>,
    /// What is told of the parts that it was merged of.
    reported: String,
}

/// `isaforge build`.
pub(crate) fn command(request: &Build) -> Status {
    match run(request) {
        Ok(status) => status,
        Err(diagnostics) => {
            terminal::complain(&diagnostics);
            Status::WrongInput
        }
    }
}

fn run(request: &Build) -> Result<Status, Vec<Diagnostic>> {
    if let Some(share) = request.shard {
        return shard::write(request, share);
    }
    let output = Output::prepare(&request.output, request.replace).map_err(|d| vec![d])?;
    let (intake, wrong, source) = match sources(request) {
        Ok(sources) => sources,
        Err(ended) => return ended,
    };
    let mut input = input(request, &intake, &source);
    for isa in &input.isas {
        let set = set(isa, request.specs.isa_specs.as_deref())?;
        input.sets.push(set);
    }
    let unmade = unmade(&input);
    let known = known::known(&request.specs, &intake)?;
    let (isas, about) = (input.isas.clone(), input.about.clone());
    let catalog = Catalog::new(&source.dictionary, isas, about, &known);
    let machines = machines(request, &input.isas);
    let mut files = artefacts(request, &input, &intake, &source);
    files.extend(references(request, &input)?);
    files.extend(catalog::files(&catalog).into_iter().map(|file| Artefact {
        path: file.path,
        write: file.write,
    }));
    files.extend(
        machines
            .iter()
            .map(|machine| match machine.blocks.is_empty() {
                true => exo::tile::artefact(machine, input.header("#")),
                false => exo::block::artefact(machine, input.header("#")),
            }),
    );
    let written = output.write(&files).map_err(|d| vec![d])?;
    terminal::print(&report(request, &intake, &source, &written, &unmade));
    if request.pin && !wrong {
        let folder = assets::folder(&request.specs.isa, request.specs.isa_specs.as_deref());
        let folder = folder.map_err(|d| vec![d])?;
        terminal::print(&pin::write(&folder, &source.dictionary).map_err(|d| vec![d])?);
    }
    Ok(finish(wrong))
}

/// How a command ends before its work is done.
type Ended = Result<Status, Vec<Diagnostic>>;

/// The instructions, whether some of our specifications are wrong, and the dictionary: of a file, of
/// parts, or made now.
fn sources(request: &Build) -> Result<(Intake, bool, Source), Ended> {
    if !request.merge.is_empty() {
        let merged = shard::merged(request).map_err(Err)?;
        let wrong = terminal::complain(&merged.intake.diagnostics);
        let source = Source {
            text: merged.dictionary.to_string(),
            dictionary: merged.dictionary,
            report: Some(merged.report),
            reported: merged.reported,
        };
        return Ok((merged.intake, wrong, source));
    }
    let (intake, wrong) = load(&request.specs).map_err(Ok)?;
    let source = match &request.dictionary {
        Some(_) => given(request, &intake).map_err(Err)?,
        None => found(&intake, &prover(&request.prover).map_err(Ok)?),
    };
    Ok((intake, wrong, source))
}

/// Every file of a build: the one place where they are named.
fn artefacts<'a>(
    request: &'a Build,
    input: &'a Input<'a>,
    intake: &'a Intake,
    source: &'a Source,
) -> Vec<Artefact<'a>> {
    let isa = &request.specs.isa;
    let mut files = vec![
        Artefact::new(format!("{isa}.dictionary"), |out| {
            out.write_all(source.text.as_bytes())?;
            Ok("the dictionary".to_owned())
        }),
        Artefact::new(format!("{isa}.left-out"), |out| {
            let text = semantics::diagnostic::lines(&intake.left_out);
            out.write_all(text.as_bytes())?;
            Ok("what of the vendor's file has no meaning".to_owned())
        }),
    ];
    files.extend(tablegen::artefacts(input));
    for set in &input.sets {
        if !set.headers.is_empty() {
            files.push(header::artefact(input, set));
        }
        files.extend(set.own_headers.iter().map(|(name, text)| {
            Artefact::new(format!("c/{name}"), move |out| {
                out.write_all(text.as_bytes())?;
                Ok("what the functions need besides".to_owned())
            })
        }));
        if !set.rows.is_empty() {
            files.extend(lowering::artefacts(input, set));
        }
        if !set.memories.is_empty() {
            files.push(exo::artefact(input, set));
        }
    }
    files.extend(mlir::artefacts(input));
    files
}

/// A header for each set of families that no compiler has: its instructions in portable C.
fn references<'a>(
    request: &Build,
    input: &'a Input<'a>,
) -> Result<Vec<Artefact<'a>>, Vec<Diagnostic>> {
    let mut files = Vec::new();
    for isa in &input.isas {
        let folder = assets::folder(isa, request.specs.isa_specs.as_deref());
        let path = folder.map_err(|d| vec![d])?.join("manifest.yaml");
        let types = spec_parser::manifest::types(&path)?;
        if types.is_empty() || !spec_parser::manifest::c_section(&path)?.is_nobodys() {
            continue;
        }
        let name = format!("c/{}", reference::file_name(isa));
        files.push(Artefact::new(name, move |out| {
            let all = input.instructions.iter().filter(|((of, _), _)| of == isa);
            let all: Vec<_> = all.map(|(_, instruction)| *instruction).collect();
            let made = reference::header(isa, &types, &all, &input.about);
            out.write_all(made.text.as_bytes())?;
            let (here, not) = (made.written.len(), made.left_out.len());
            Ok(match not {
                0 => format!("{here} functions of portable C"),
                _ => format!(
                    "{here} functions of portable C; {not} instructions have none, it says why"
                ),
            })
        }));
    }
    Ok(files)
}

/// What the files are made from.
fn input<'a>(request: &Build, intake: &'a Intake, source: &'a Source) -> Input<'a> {
    let instructions: BTreeMap<_, _> = intake
        .instructions
        .iter()
        .map(|i| ((i.isa.as_str(), i.name.as_str()), i))
        .collect();
    let isas = request.specs.isa.split(',').map(|s| s.trim().to_owned());
    let digest = format!("{:x}", Sha256::digest(source.text.as_bytes()));
    let members = source.dictionary.members().count();
    Input {
        dictionary: &source.dictionary,
        instructions,
        isas: isas.collect(),
        sets: Vec::new(),
        about: vec![
            format!(
                "Made by isaforge {} (`isaforge build --isa {}`); do not edit.",
                env!("CARGO_PKG_VERSION"),
                request.specs.isa
            ),
            format!(
                "From a dictionary of {} operations and {members} members, SHA-256 {:.32}.",
                source.dictionary.operations.len(),
                digest
            ),
        ],
    }
}

/// The instruction sets that are machines.
fn machines(request: &Build, isas: &[String]) -> Vec<Machine> {
    let specs = request.specs.isa_specs.as_deref();
    let loaded = isas.iter().map(|isa| simulate::machine(isa, specs));
    // What is wrong with one was told when its instructions were read.
    loaded
        .filter_map(|found| found.ok().map(|(m, _)| m))
        .collect()
}

/// What compilers have to know of an instruction set, from its folder.
///
/// # Errors
/// A file of the folder that is wrong.
pub(crate) fn set(isa: &str, specs: Option<&Path>) -> Result<Set, Vec<Diagnostic>> {
    let one = |diagnostic: Diagnostic| vec![diagnostic];
    let folder = assets::folder(isa, specs).map_err(one)?;
    let manifest = folder.join("manifest.yaml");
    let types = spec_parser::manifest::types(&manifest)?;
    let mut set = Set {
        isa: isa.to_owned(),
        ..Set::default()
    };
    // Machines with tiles have no functions of C.
    if types.is_empty() {
        return Ok(set);
    }
    let section = spec_parser::manifest::c_section(&manifest)?;
    set.headers = match section.headers.is_empty() && section.is_nobodys() {
        true => vec![reference::file_name(isa)],
        false => section.headers,
    };
    if folder.join("targets.yaml").exists() {
        let targets = Targets::load(&folder).map_err(one)?;
        (set.conditions, set.features) = targets.reported();
        set.llvm = targets.llvm().clone();
    }
    for name in set
        .headers
        .iter()
        .filter(|name| section.files.contains(name))
    {
        let text = compile::read(&folder.join(name)).map_err(one)?;
        set.own_headers.insert(name.clone(), text.text().to_owned());
    }
    (set.types, set.prelude, set.spelt) = (types, section.prelude, section.spelt);
    set.memories = memories(section.exo, &set.types, &manifest).map_err(one)?;
    set.unknown = faults::missing(&folder).map_err(one)?;
    set.rows = llvm::rows(&folder).map_err(one)?;
    Ok(set)
}

/// Memories of Exo whose names are names, of types that the set has.
fn memories(
    memories: BTreeMap<String, BTreeMap<String, String>>,
    types: &BTreeMap<String, u32>,
    manifest: &Path,
) -> Result<BTreeMap<String, BTreeMap<String, String>>, Diagnostic> {
    let wrong = |message: String| Diagnostic::error(format!("{}: {message}", manifest.display()));
    for (name, elements) in &memories {
        let what = format!("the memory `{name}` of `exo`");
        Spelling::Identifier.check(&what, name).map_err(wrong)?;
        for (element, vector) in elements {
            Spelling::Identifier
                .check(&format!("an element of {what}"), element)
                .map_err(wrong)?;
            if !types.contains_key(vector) {
                let hint = "`types` of the manifest has the types of registers";
                return Err(wrong(format!("{what} has the unknown type `{vector}`")).hint(hint));
            }
        }
    }
    Ok(memories)
}

/// What is not made of each set, and why.
fn unmade(input: &Input<'_>) -> Vec<String> {
    let mut all = Vec::new();
    for set in &input.sets {
        let isa = &set.isa;
        if set.headers.is_empty() {
            all.push(format!(
                "c/autoir_{isa}.h: its manifest names no header of C"
            ));
        }
        if set.rows.is_empty() {
            all.push(format!(
                "llvm/autoir_{isa}.ll: there is no `llvm_members.yaml`, so LLVM has no names for \
                 its instructions; `compile --emit llvm` writes their meaning"
            ));
        }
        if set.memories.is_empty() && !set.types.is_empty() {
            all.push(format!(
                "exo/autoir_{isa}.py: its manifest has no `exo`, registers as memories of Exo"
            ));
        }
    }
    all
}

/// The dictionary that the classes of the instructions make.
fn found(intake: &Intake, prover: &smt::prover::Prover) -> Source {
    let made = intake::made(intake, prover);
    let (text, report) = (made.text.clone(), made.report.clone());
    Source {
        dictionary: intake::read_made(made, intake, prover),
        text,
        report,
        reported: String::new(),
    }
}

/// The dictionary of a file; each of its members must be an instruction that is known.
fn given(request: &Build, intake: &Intake) -> Result<Source, Vec<Diagnostic>> {
    let path = request.dictionary.as_ref().expect("asked by the caller");
    let source = compile::read(path).map_err(|d| vec![d])?;
    let dictionary = Dictionary::read(&source)?;
    let known: BTreeSet<&str> = intake
        .instructions
        .iter()
        .map(|i| i.name.as_str())
        .collect();
    let foreign = |(_, m): &(_, &Member)| !known.contains(m.name.as_str());
    if let Some((_, Member { name, .. })) = dictionary.members().find(foreign) {
        let message = format!("`{}` has `{name}`, which is unknown", path.display());
        let hint = "it is of other specifications: name its instruction sets with `--isa`";
        return Err(vec![Diagnostic::error(message).hint(hint)]);
    }
    Ok(Source {
        text: source.text().to_owned(),
        dictionary,
        report: None,
        reported: String::new(),
    })
}

/// What the steps of a classification took and found.
fn steps(report: &Report, text: &mut String) {
    for (step, time) in &report.times {
        let _ = writeln!(text, "{step}: {:.1} s", time.as_secs_f64());
    }
    let _ = writeln!(text, "candidates that were not cached: {}", report.read);
    let _ = writeln!(text, "proved: {}", report.proved);
    let apart = report.apart.len();
    let _ = writeln!(text, "stand apart from the class of their shape: {apart}");
}

/// What is told at the end.
fn report(
    request: &Build,
    intake: &Intake,
    source: &Source,
    written: &[Written],
    unmade: &[String],
) -> String {
    let mut text = source.reported.clone();
    if let Some(counts) = &intake.counts {
        let _ = writeln!(
            text,
            "vendor's file: {} entries, {} bodies, {} parsed, {} with a meaning",
            counts.entries, counts.bodies, counts.parsed, counts.lowered
        );
    }
    match (&source.report, &request.dictionary) {
        (Some(report), _) => steps(report, &mut text),
        (None, Some(path)) => {
            let _ = writeln!(text, "from `{}`", path.display());
        }
        (None, None) => {
            text.push_str("kept from an earlier run on exactly these instructions\n");
        }
    }
    let forms = source.dictionary.members().map(|(_, m)| m.form);
    let classes = source.dictionary.operations.len();
    let _ = writeln!(text, "{}", counted(forms, classes));
    let _ = writeln!(text, "written to {}:", request.output.display());
    files(written, &mut text);
    for why in unmade {
        let _ = writeln!(text, "not made: {why}");
    }
    text
}

/// The files, a line each; those of which their writer says nothing are counted by folder.
fn files(written: &[Written], text: &mut String) {
    let mut quiet: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
    for file in written {
        if let (true, Some((folder, _))) = (file.about.is_empty(), file.path.split_once('/')) {
            let (files, bytes) = quiet.entry(folder).or_default();
            (*files, *bytes) = (*files + 1, *bytes + file.bytes);
            continue;
        }
        let about = match file.about.is_empty() {
            true => String::new(),
            false => format!(": {}", file.about),
        };
        let _ = writeln!(text, "  {} ({} bytes){about}", file.path, file.bytes);
    }
    for (folder, (files, bytes)) in quiet {
        let _ = writeln!(text, "  {folder}/ ({bytes} bytes): {files} more files");
    }
}
