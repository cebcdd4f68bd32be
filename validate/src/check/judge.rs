//! Who runs an instruction set's programs: this processor, an emulator of another, or functions
//! made from the instructions' meanings, where a manifest names neither.
//!
//! In: what the set's manifest says of its C programs. Out: [`Judge`]: the features that are
//! there, the headers, and the compiler with the command before a program; or what is missing
//! and how it is installed. It runs nothing but `--version`.

use super::machine::Compiler;
use codegen_gen::reference;
use semantics::diagnostic::Diagnostic;
use semantics::instruction::Instruction;
use semantics::spelling::quoted;
use spec_parser::manifest::{self, CSection};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use target::{Target, Targets};
use toolchain::c;

/// Who runs the programs.
#[derive(Clone, Debug)]
pub struct Judge {
    /// What it has.
    pub host: Target,
    /// The headers that declare the functions.
    pub headers: Vec<String>,
    /// The compiler of the programs, or why there is none.
    pub compiler: Result<Compiler, String>,
    /// Whether the functions are made from the meanings of the instructions: nothing has the set.
    /// The compiler can be used once it has them ([`Judge::with_meanings`]).
    pub by_reference: bool,
    /// Instructions that have no such function, and why.
    pub left_out: BTreeMap<String, String>,
    /// The C types of the set, with their widths in bits.
    types: BTreeMap<String, u32>,
}

impl Judge {
    /// This processor, of which `host` says what it has.
    pub fn here(host: Target, headers: Vec<String>) -> Judge {
        Judge {
            host,
            headers,
            compiler: own(),
            by_reference: false,
            left_out: BTreeMap::new(),
            types: BTreeMap::new(),
        }
    }

    /// The same with reference functions of some instructions, where they are wanted.
    pub fn with_meanings<'i>(mut self, of: impl IntoIterator<Item = &'i Instruction>) -> Judge {
        let Some(compiler) = self.compiler.as_mut().ok().filter(|_| self.by_reference) else {
            return self;
        };
        let all: Vec<&Instruction> = of.into_iter().collect();
        let isa = all.first().map_or("", |i| i.isa.as_str());
        let made = reference::header(isa, &self.types, &all, &[]);
        // They stand in for all headers that the manifest names.
        let mut text = Some(made.text);
        let file = |name: &String| (name.clone(), text.take().unwrap_or_default());
        compiler.files = self.headers.iter().map(file).collect();
        self.left_out = made.left_out.into_iter().collect();
        self
    }
}

/// The judge of the instruction set in a folder; by reference functions where nothing else has
/// the set, or where that is asked for.
///
/// Programs that a manifest names, with their flags and files, are run when somebody said that they
/// may (`trusted`): whoever wrote it is as free as whoever asks.
///
/// # Errors
/// When its manifest cannot be read, or this machine cannot be told.
pub fn of(
    folder: &Path,
    targets: &Targets,
    by_reference: bool,
    trusted: bool,
) -> Result<Judge, Vec<Diagnostic>> {
    let section = manifest::c_section(&folder.join("manifest.yaml"))?;
    let one = |diagnostic: Diagnostic| vec![diagnostic];
    if by_reference || section.is_nobodys() {
        return reference(folder, section, targets);
    }
    let here = section.native.as_deref();
    if here.is_none_or(|native| native == std::env::consts::ARCH) {
        return Ok(Judge::here(targets.host().map_err(one)?, section.headers));
    }
    let host = match &section.model {
        Some(model) => targets.find(model).map_err(one)?,
        None => Target {
            name: "none".to_owned(),
            model: String::new(),
            features: Default::default(),
        },
    };
    Ok(Judge {
        compiler: match trusted || section.compilers.is_empty() || section.emulator.is_empty() {
            true => foreign(&section).and_then(|c| with_files(c, folder, &section.files)),
            false => Err(untrusted(&section)),
        },
        ..Judge::here(host, section.headers)
    })
}

/// The judge of a set that no compiler and no machine has.
fn reference(
    folder: &Path,
    section: CSection,
    targets: &Targets,
) -> Result<Judge, Vec<Diagnostic>> {
    let path = folder.join("manifest.yaml");
    let types = manifest::types(&path)?;
    let headers = match section.headers.is_empty() {
        true => vec![reference::file_name(&manifest::name(&path)?)],
        false => section.headers,
    };
    let simple = |name: &String| !name.is_empty() && !name.contains(['/', '\\', '"', '>', '\n']);
    if let Some(name) = headers.iter().find(|name| !simple(name)) {
        let told = Diagnostic::error(format!(
            "the header `{name}` cannot be made: it lies elsewhere"
        ));
        return Err(vec![
            told.hint("name a file without a folder under `c: headers`"),
        ]);
    }
    let with_files = |compiler: Compiler| Compiler {
        flags: vec!["-I.".to_owned()],
        ..compiler
    };
    Ok(Judge {
        compiler: own().map(with_files),
        by_reference: true,
        types,
        ..Judge::here(targets.all(), headers)
    })
}

/// The compiler of this machine's programs.
pub fn own() -> Result<Compiler, String> {
    match c::compiler() {
        Some(program) => Ok(Compiler {
            program,
            flags: Vec::new(),
            runner: Vec::new(),
            files: Vec::new(),
        }),
        None => Err(c::MISSING.to_owned()),
    }
}

/// Why what a manifest names is not run.
pub fn untrusted(section: &CSection) -> String {
    let named: Vec<&str> = section.code().into_iter().take(4).collect();
    let named: Vec<String> = named.into_iter().map(quoted).collect();
    format!(
        "the manifest is not the program's own, and what it names is not run unasked: `{}`; \
         `--trust-specs` runs it",
        named.join("`, `")
    )
}

/// The compiler of another machine's programs, which an emulator runs.
fn foreign(section: &CSection) -> Result<Compiler, String> {
    let missing = |what: &str| match &section.install {
        Some(how) => format!("there is no {what}: {how}"),
        None => format!("there is no {what}"),
    };
    if section.compilers.is_empty() || section.emulator.is_empty() {
        let native = section.native.as_deref().unwrap_or("other");
        return Err(format!(
            "this machine is no {native}, and the manifest names no compiler and emulator"
        ));
    }
    let Some(program) = section.compilers.iter().find(|c| works(c)) else {
        return Err(missing(&section.compilers.join(" or ")));
    };
    if !works(&section.emulator[0]) {
        return Err(missing(&section.emulator[0]));
    }
    Ok(Compiler {
        program: program.clone(),
        flags: section.flags.clone(),
        runner: section.emulator.clone(),
        files: Vec::new(),
    })
}

/// The compiler with files of the set's folder.
fn with_files(compiler: Compiler, folder: &Path, names: &[String]) -> Result<Compiler, String> {
    let read = |name: &String| {
        let below = Path::new(name).components();
        let inside = below.clone().count() > 0 && below.clone().all(is_name);
        let text = match inside {
            true => std::fs::read_to_string(folder.join(name)).map_err(|error| error.to_string()),
            false => Err("it does not lie in the folder".to_owned()),
        };
        text.map(|text| (name.clone(), text))
            .map_err(|why| format!("the manifest's file `{name}` cannot be read: {why}"))
    };
    let files = names.iter().map(read).collect::<Result<_, _>>()?;
    Ok(Compiler { files, ..compiler })
}

/// Whether part of a path names a file or a folder below another.
fn is_name(part: std::path::Component<'_>) -> bool {
    matches!(part, std::path::Component::Normal(_))
}

/// Whether a program answers.
fn works(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null());
    command.output().is_ok_and(|o| o.status.success())
}
