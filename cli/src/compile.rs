//! `isaforge compile`: reads what was named, runs the pipeline, writes code and report.
//!
//! In: the arguments. Out: a C file, a report, a status. The work is the pipeline's.

use crate::args::{Compile, CostRule, Deny, Emit, ReportForm, Which};
use crate::auto::vectors::ScheduleRequest;
use crate::pipeline::{self, Compiled, ForWindows, Settings};
use crate::report::Report;
use crate::report::page::{self, Message, Shown};
use crate::status::Status;
use crate::{assets, cost, intake, programs, terminal, trust, verify};
use autoir::program::file;
use codegen_gen::back_end::{Code, Language};
use codegen_gen::{c, llvm};
use halide::Constants;
use semantics::diagnostic::Diagnostic;
use semantics::span::{Source, Span};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::local::{program, write_whole};
use store::object::Store;
use synth::compile::Options;
use synth::cost::{CostTable, Rule};
use synth::operations::TargetOperations;
use target::{Target, Targets};
use validate::check::judge;

/// Runs the command.
pub(crate) fn command(request: &Compile) -> Status {
    let (source, mut settings, mut diagnostics) = match prepare(request) {
        Ok(ready) => ready,
        Err(diagnostics) => {
            terminal::complain(&diagnostics);
            return Status::WrongInput;
        }
    };
    let form = request.arguments.form();
    let (mut compiled, more) = match (&request.from_halide, &request.from_autoir) {
        (Some(_), _) => match constants(request) {
            Ok(known) => pipeline::compile_pipeline(&source, form, &known, &settings),
            Err(wrong) => (Vec::new(), vec![wrong]),
        },
        (None, Some(_)) => programs::compile(&source, &mut settings),
        (None, None) => pipeline::compile(&source, &settings),
    };
    diagnostics.extend(more);
    let denied = request.deny.contains(&Deny::Scalar);
    diagnostics.extend(compiled.iter().flat_map(|kernel| kernel.scalar(denied)));
    let code = written(&compiled, &source, request, &settings);
    let output = terminal::file(request.output.as_deref());
    let to_stdout = request.output.is_some() && output.is_none();
    if let Some(output) = output.filter(|_| !code.is_empty()) {
        match write_whole(output, code.as_bytes()) {
            Ok(()) => {
                for kernel in &mut compiled {
                    kernel.report.output = Some(output.display().to_string());
                }
            }
            Err(error) => diagnostics.push(cannot_write(output, &error)),
        }
    }
    let certified = match &request.certify {
        Some(solver) => verify::windows(solver, request.certify_limit, &compiled),
        None => Status::Done,
    };
    let shown = request.html.is_some().then(|| shown(&compiled, &settings));
    let report = Report {
        version: env!("CARGO_PKG_VERSION"),
        target: settings.target.name.clone(),
        candidates: settings.operations.instructions(),
        operations: settings.operations.operations().into(),
        kernels: compiled.into_iter().map(|kernel| kernel.report).collect(),
    };
    if let Some((html, shown)) = request.html.as_deref().zip(shown) {
        let messages: Vec<Message> = diagnostics.iter().map(message).collect();
        let page = page::page((source.name(), source.text()), &report, &shown, &messages);
        if let Err(error) = write_whole(html, page.as_bytes()) {
            diagnostics.push(cannot_write(html, &error));
        }
    }
    // What is wrong comes before the report, where it would end up below hundreds of windows.
    let is_wrong = terminal::complain(&diagnostics);
    if to_stdout {
        terminal::print(&code);
    }
    show(request, &report, to_stdout);
    match is_wrong {
        true => Status::WrongInput,
        false => report.status().max(certified),
    }
}

/// What a page shows of kernels beside their reports.
fn shown(compiled: &[Compiled], settings: &Settings) -> Vec<Shown> {
    let one = |kernel: &Compiled| Shown {
        code: { kernel.code.as_ref() }
            .filter(|code| code.language == Language::C)
            .map(ToString::to_string),
        assembly: pipeline::assembly(kernel, settings),
    };
    compiled.iter().map(one).collect()
}

/// A message as a page shows it.
fn message(diagnostic: &Diagnostic) -> Message {
    let text = diagnostic.to_string();
    let (title, text) = text.split_once('\n').unwrap_or((&text, ""));
    Message {
        title: title.to_owned(),
        text: text.trim_end().to_owned(),
    }
}

/// The text of all that was compiled: what several kernels need stands in it once.
fn written(
    compiled: &[Compiled],
    source: &Source,
    request: &Compile,
    settings: &Settings,
) -> String {
    if compiled.is_empty() || settings.back_end.is_some() {
        return Code::joined(compiled.iter().filter_map(|kernel| kernel.code.as_ref()));
    }
    let windows = compiled.iter().flat_map(|kernel| &kernel.programs);
    let items = windows.map(|(window, program)| file::item(&window.name, program));
    programs::file(&items.collect::<Vec<_>>(), source, request, settings)
}

/// The float constants of a pipeline, exactly, when they are given.
fn constants(request: &Compile) -> Result<Constants, Diagnostic> {
    if request.constants.is_empty() {
        return Ok(Constants::default());
    }
    if request.emit == Emit::Autoir {
        let message = "`--emit autoir` writes the statement text, in which constants are rounded";
        let wrong = Diagnostic::error(message);
        return Err(wrong.hint("`--constants` goes with `--emit c` and `--emit llvm`"));
    }
    let mut texts = String::new();
    for path in &request.constants {
        texts.push_str(read(path)?.text());
        texts.push('\n');
    }
    Ok(Constants::of(&texts))
}

/// Writes the report where the code does not go.
fn show(request: &Compile, report: &Report, to_stderr: bool) {
    let text = match request.report {
        ReportForm::Text => report.text(),
        ReportForm::Json => report.json(),
    };
    if to_stderr {
        eprint!("{text}");
    } else {
        terminal::print(&text);
    }
}

/// Reads everything that was named; all that is wrong with it. What is wrong with single
/// instructions is only told: the others are used.
fn prepare(request: &Compile) -> Result<(Source, Settings, Vec<Diagnostic>), Vec<Diagnostic>> {
    if !request.size.is_empty() && request.schedule != Which::Auto {
        let message = "`--size` says for what sizes a schedule is searched, and none is";
        let hint = "add `--schedule auto`, or leave `--size` out: code is for all sizes";
        return Err(vec![Diagnostic::error(message).hint(hint)]);
    }
    match read(request.input()) {
        Ok(source) => settings(request).map(|(settings, reported)| (source, settings, reported)),
        // The classes of a set, which may not have been found yet, are not needed to tell this.
        Err(missing) => Err([missing].into_iter().chain(named(request).err()).collect()),
    }
}

/// What the arguments name of the instruction set: its folder, its processors, the one that code is
/// for, and what instructions cost there.
fn named(request: &Compile) -> Result<(PathBuf, Targets, Target, CostTable), Diagnostic> {
    let folder = assets::folder(&request.specs.isa, request.specs.isa_specs.as_deref())?;
    let rule = match request.cost {
        CostRule::Pressure => Rule::Pressure,
        CostRule::LatencySum => Rule::LatencySum,
    };
    let targets = targets(&folder)?;
    let target = target(request, &folder, &targets)?;
    let costs = cost::table(&folder, &target.model, rule)?;
    Ok((folder, targets, target, costs))
}

/// All but the kernel.
pub(crate) fn settings(request: &Compile) -> Result<(Settings, Vec<Diagnostic>), Vec<Diagnostic>> {
    let (folder, targets, target, costs) = named(request).map_err(|diagnostic| vec![diagnostic])?;
    let prover = request
        .prover
        .prover(request.seed)
        .map_err(|diagnostic| vec![diagnostic])?;
    let trusted = trust::trusted(&request.specs.isa, &request.specs, request.trust_specs)?;
    let mut judge = judge::of(&folder, &targets, request.reference, trusted)?;
    if judge.by_reference && (request.run || request.schedule == Which::Auto) {
        let loaded = spec_parser::specs::load(&folder.join("manifest.yaml"))?;
        judge = judge.with_meanings(&loaded.instructions);
    }
    let vendor = request.specs.vendor.as_deref();
    let (table, reported) = intake::instruction_table(&folder, vendor, &prover)?;
    let diagnostics = [reported, prover.problems().to_vec()].concat();
    let operations = TargetOperations::new(
        table,
        target.features.clone(),
        costs.clone(),
        targets.registers(&target.features),
    )
    .without_structures(targets.structures());
    let operations = match program() {
        Some(program) => operations.cached_in(assets::store(), &program),
        None => operations,
    };
    let options = Options {
        time: Duration::from_secs_f64(request.time_limit),
        memory: request.memory_limit << 20,
        grammar: request.grammar(),
        ..Options::default()
    };
    let c = c::Intrinsics {
        registers: operations.registers().to_vec(),
        headers: judge.headers.clone(),
        align: operations.processor().line,
    };
    let back_end: Option<Box<dyn ForWindows>> = match request.emit {
        Emit::C => Some(Box::new(c.clone())),
        Emit::Autoir => None,
        Emit::Llvm => Some(Box::new(llvm::Ir {
            rows: crate::llvm::rows(&folder).map_err(|diagnostic| vec![diagnostic])?,
            machine: targets.llvm().clone(),
            features: target.features.clone(),
            spelt: targets.llvm_features(&target.features),
            align: operations.processor().line,
        })),
    };
    if request.emit == Emit::Autoir && request.schedule == Which::Auto {
        let message = "a schedule that is searched for does not stand in the kernel's text";
        return Err(vec![Diagnostic::error(message).hint(
            "write the schedule that the report shows beside the kernel, then `--emit autoir`",
        )]);
    }
    let run = request.run.then_some(request.seed);
    Ok((
        Settings {
            judge,
            targets,
            target,
            operations,
            costs,
            prover,
            explain: request.explain || request.html.is_some(),
            store: match (request.no_memo, request.schedule) {
                (false, _) => Some(assets::store().clone()),
                // What was found when schedules were costed is what is compiled then.
                (true, Which::Auto) => Some(Store::in_memory()),
                (true, Which::Written) => None,
            },
            options,
            back_end,
            c,
            programs: None,
            origin: None,
            run,
            schedule: (request.schedule == Which::Auto).then(|| ScheduleRequest {
                sizes: request.size.clone(),
                time: request.schedule_time,
                keep: !request.no_memo,
            }),
        },
        diagnostics,
    ))
}

/// The processor that was asked for. `host` of a set that this machine is not is the only model
/// that there is.
fn target(request: &Compile, folder: &Path, targets: &Targets) -> Result<Target, Diagnostic> {
    if request.target != "host" {
        let name = &request.target;
        return targets
            .find(name)
            .map_err(|unknown| match assets::with_model(name) {
                Some((isa, model)) if model == *name => {
                    unknown.hint(format!("`{name}` is a model of `--isa {isa}`"))
                }
                Some((isa, model)) if isa != request.specs.isa => {
                    unknown.hint(format!("did you mean `{model}`, of `--isa {isa}`?"))
                }
                _ => unknown,
            });
    }
    let section = spec_parser::manifest::c_section(&folder.join("manifest.yaml"));
    let native = section.map_err(|mut wrong| wrong.swap_remove(0))?.native;
    let here = std::env::consts::ARCH;
    if native.as_deref() == Some(here) {
        return targets.host();
    }
    let models: Vec<&str> = targets.models().collect();
    match models.as_slice() {
        [only] => targets.find(only),
        _ => {
            let isa = &request.specs.isa;
            let message = format!("this machine is no `{isa}`: it is {here}");
            let first = models.first().copied().unwrap_or("MODEL");
            Err(Diagnostic::error(message)
                .with_note(format!("models are: {}", models.join(", ")))
                .hint(format!("name one: `--target {first}`")))
        }
    }
}

/// The models and features of an instruction set, from its folder.
pub(crate) fn targets(folder: &Path) -> Result<Targets, Diagnostic> {
    let path = folder.join("targets.yaml");
    let source = read_file(&path)?;
    let types = spec_parser::manifest::types(&folder.join("manifest.yaml"));
    let types = types.map_err(|mut wrong| wrong.swap_remove(0))?;
    let targets: Targets = spec_parser::yaml::from_str(source.text())
        .map_err(|error| spec_parser::yaml::error(&source, 0, &error))?;
    let targets = targets.checked();
    targets
        .and_then(|targets| targets.with_types(&types))
        .map_err(|message| {
            // What is wrong is the last name that the message quotes, if the file has it.
            let named = message.split('`').skip(1).step_by(2);
            let places = named.filter_map(|name| Some((source.text().find(name)?, name.len())));
            let place = places.filter(|(_, length)| *length > 0).last();
            let reported = match place {
                Some((at, length)) => {
                    Diagnostic::error(message.clone()).at(&source, Span::new(at, at + length))
                }
                None => Diagnostic::error(format!("{}: {message}", path.display())),
            };
            reported.hint("isa-specs/README.md describes `registers`, `features` and `models`")
        })
}

/// A text file.
pub(crate) fn read(path: &Path) -> Result<Source, Diagnostic> {
    assets::contents(path)
        .and_then(|bytes| {
            let wrong = |_| std::io::Error::from(std::io::ErrorKind::InvalidData);
            let text = String::from_utf8(bytes).map_err(wrong)?;
            Ok(Source::of_file(path, text))
        })
        .map_err(|error| cannot_read(path, &error))
}

/// A text file, and no pipe or device: whoever opens a pipe waits for its other end.
pub(crate) fn read_file(path: &Path) -> Result<Source, Diagnostic> {
    match fs::metadata(path) {
        Ok(about) if !about.is_file() => {
            Err(cannot_read(path, &std::io::Error::other("it is no file")))
        }
        _ => read(path),
    }
}

/// The message about a file that cannot be read, with its nearest neighbour.
pub(crate) fn cannot_read(path: &Path, error: &std::io::Error) -> Diagnostic {
    let reason = match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::InvalidData => "it is not UTF-8 text".to_owned(),
        _ => error.to_string(),
    };
    let complaint = Diagnostic::error(format!("cannot read `{}`: {reason}", path.display()));
    let missing = error.kind() == std::io::ErrorKind::NotFound;
    match neighbour(path).filter(|_| missing) {
        Some(near) => complaint.hint(format!("did you mean `{near}`?")),
        None => complaint,
    }
}

/// The path that is there and nearest to a missing one: with another name for its first part that is not.
pub(crate) fn neighbour(path: &Path) -> Option<String> {
    let parts = path.ancestors().filter(|part| !part.as_os_str().is_empty());
    let missing = parts.take_while(|part| !part.exists()).last()?;
    let folder = missing
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let names = fs::read_dir(folder)
        .ok()?
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.collect();
    names.sort();
    let wanted = missing.file_name()?.to_string_lossy();
    let near = semantics::diagnostic::suggest(&wanted, names.iter().map(String::as_str))?;
    let behind = path.strip_prefix(missing).ok()?.components();
    let mut found = missing.with_file_name(near);
    found.extend(behind);
    found.exists().then(|| found.display().to_string())
}

/// The message about a file that cannot be written.
pub(crate) fn cannot_write(path: &Path, error: &std::io::Error) -> Diagnostic {
    Diagnostic::error(format!("cannot write `{}`: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::neighbour;
    use std::fs;

    #[test]
    fn the_first_part_of_a_path_that_is_missing_is_mended() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |path: &str| folder.path().join(path);
        fs::create_dir_all(at("examples/isa")).expect("there is room");
        fs::write(at("examples/isa/dsp.yaml"), "").expect("there is room");
        let near = |path: &str| neighbour(&at(path));
        let there = Some(at("examples/isa/dsp.yaml").display().to_string());
        for wrong in [
            "exmaples/isa/dsp.yaml",
            "examples/iza/dsp.yaml",
            "examples/isa/dps.yaml",
        ] {
            assert_eq!(near(wrong), there, "{wrong}");
        }
        // Nothing is there with one part mended, or nothing is wrong.
        assert_eq!(near("exmaples/isa/dps.yaml"), None);
        assert_eq!(near("examples/isa/dsp.yaml"), None);
    }
}
