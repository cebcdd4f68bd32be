//! Code for instruction sets, found by search and proved, as a library.
//!
//! In: a dictionary of instructions (what `isaforge build` writes), what a machine has, and kernels. Out:
//! C with intrinsics, and for each window of a kernel the instructions, their cost and how they were
//! proved. It chooses defaults and joins the crates that do the work, which are re-exported: whoever needs
//! more than [`Compiler`] uses them directly.
//!
//! ```
//! use isaforge::semantics::span::Source;
//! use isaforge::{Compiler, Target};
//!
//! // A dictionary with the instructions that load, add and store sixteen bytes.
//! let path = concat!(env!("CARGO_MANIFEST_DIR"), "/toy.dictionary");
//! let dictionary = isaforge::read_dictionary(path)?;
//! let compiler = Compiler::new(&dictionary, Target::x86(["SSE2"]));
//!
//! let kernel = "kernel sum(n: size, a: in u8[n], b: in u8[n], y: out u8[n]) requires n % 16 == 0 {
//!   for i in 0..n step 16 {
//!     y[i..+16] = a[i..+16] + b[i..+16];
//!   }
//! }
//! ";
//! let compiled = compiler.compile(&Source::new("sum.kernel", kernel)).map_err(isaforge::reported)?;
//! let [sum] = compiled.as_slice() else { panic!("one kernel") };
//! assert_eq!(sum.windows[0].instructions, ["_mm_add_epi8"]);
//! assert!(sum.windows[0].proof.is_some());
//! assert!(sum.code.contains("_mm_add_epi8("));
//!
//! // Mistakes say where they are.
//! let wrong = compiler.compile(&Source::new("sum.kernel", kernel.replace("size", "szie")));
//! let report = isaforge::reported(wrong.expect_err("there is no such type"));
//! assert!(report.contains("sum.kernel:1:15") && report.contains("did you mean `size`?"), "{report}");
//! # Ok::<(), String>(())
//! ```

pub use {autoir, kernel, semantics, smt, synth};
pub use {synth::compile::Options, synth::cost::CostTable, target::RegisterClass};

use autoir::dictionary::Dictionary;
use autoir::instructions::InstructionTable;
use autoir::program::Program;
use codegen_gen::c;
use kernel::tree::Kernel;
use semantics::diagnostic::{Diagnostic, render};
use semantics::span::Source;
use smt::config::Config;
use smt::prover::Prover;
use std::collections::BTreeSet;
use std::path::Path;
use synth::compile::Outcome;
use synth::operations::TargetOperations;
use target::Targets;

/// The processors of x86 and their registers.
const X86: &str = include_str!("../../isa-specs/x86/targets.yaml");
/// The header that declares its intrinsics; a test holds that the specifications name it.
const X86_HEADER: &str = "immintrin.h";

/// What a target has: which of a dictionary's instructions, what they cost, how C holds its registers.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Target {
    /// The features whose instructions may be used.
    pub features: BTreeSet<String>,
    /// What instructions cost.
    pub costs: CostTable,
    /// Its vector registers; those whose feature it lacks are not used.
    pub registers: Vec<RegisterClass>,
    /// Headers that declare the intrinsics.
    pub headers: Vec<String>,
}

impl Target {
    /// A target whose instructions take a cycle each.
    pub fn new(
        features: impl IntoIterator<Item = impl Into<String>>,
        registers: Vec<RegisterClass>,
        headers: Vec<String>,
    ) -> Target {
        Target {
            features: features.into_iter().map(Into::into).collect(),
            costs: CostTable::uniform("one cycle each", 10, 10),
            registers,
            headers,
        }
    }

    /// An x86 processor with these features, as `isaforge explain` spells them: `SSE2`, `AVX2`, `AVX512BW` …
    ///
    /// # Panics
    /// Never: the data of x86 is in the library, and read by its tests.
    pub fn x86(features: impl IntoIterator<Item = impl Into<String>>) -> Target {
        let features: BTreeSet<String> = features.into_iter().map(Into::into).collect();
        let targets = Targets::parse(X86).expect("the tests read it");
        let registers = targets.registers(&features);
        Target::new(features, registers, vec![X86_HEADER.to_owned()])
    }

    /// The same with other costs.
    #[must_use]
    pub fn with_costs(self, costs: CostTable) -> Target {
        Target { costs, ..self }
    }
}

/// Compiles kernels for one target.
pub struct Compiler {
    operations: TargetOperations,
    headers: Vec<String>,
    prover: Prover,
    options: Options,
}

/// A kernel as code.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Compiled {
    /// The kernel's name, which is that of its function in C.
    pub name: String,
    /// The function in C.
    pub code: String,
    /// What was found for each of its windows, the pieces that are searched for one by one.
    pub windows: Vec<Window>,
}

/// What was found for a window.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Window {
    /// Its name: the kernel's, and a number.
    pub name: String,
    /// The instructions in order; none where C computes it element by element.
    pub instructions: Vec<String>,
    /// What they cost, in cycles.
    pub cost: f64,
    /// How they were proved equal to the window; nothing where there are none.
    pub proof: Option<String>,
}

impl Compiler {
    /// A compiler with the instructions of a dictionary that a machine has.
    pub fn new(dictionary: &Dictionary, target: Target) -> Compiler {
        let has = |class: &RegisterClass| {
            let needs = class.needs.as_ref();
            needs.is_none_or(|feature| target.features.contains(feature))
        };
        let registers = target.registers.iter().filter(|c| has(c)).cloned();
        Compiler {
            operations: TargetOperations::new(
                InstructionTable::of_dictionary(dictionary),
                target.features.clone(),
                target.costs.clone(),
                registers.collect(),
            ),
            headers: target.headers,
            prover: Prover::new(Config::default()),
            options: Options::default(),
        }
    }

    /// The same with other bounds on the search.
    #[must_use]
    pub fn with_options(self, options: Options) -> Compiler {
        Compiler { options, ..self }
    }

    /// How many instructions there are to choose from.
    pub fn instructions(&self) -> usize {
        self.operations.instructions()
    }

    /// The kernels of a text, each with its schedule applied, as C.
    ///
    /// # Errors
    /// What is wrong with the text, at its place; [`reported`] writes it out.
    pub fn compile(&self, source: &Source) -> Result<Vec<Compiled>, Vec<Diagnostic>> {
        let (kernels, wrong) = kernel::read(source);
        if !wrong.is_empty() {
            return Err(wrong);
        }
        kernels.iter().map(|kernel| self.one(kernel)).collect()
    }

    fn one(&self, kernel: &Kernel) -> Result<Compiled, Vec<Diagnostic>> {
        let mut lowered = lowering::lower(&schedule::apply(kernel)?)?;
        let (operations, prover) = (&self.operations, &self.prover);
        let mut found =
            synth::compile::compile(&lowered, operations, prover, self.options, None, &|_| {});
        lowered.windows = std::mem::take(&mut found.windows);
        let placement = found.place(&lowered, operations);
        let windows = found.reports.iter().zip(&found.programs);
        let windows = windows.map(|(report, program)| {
            let applied = program.iter().flat_map(Program::applied);
            Window {
                name: report.name.clone(),
                instructions: applied
                    .map(|o| placement.selection.of(o).instruction.clone())
                    .collect(),
                cost: f64::from(report.cost) / 10.0,
                proof: match &report.outcome {
                    Outcome::Proved(evidence) => Some(evidence.to_string()),
                    _ => None,
                },
            }
        });
        let windows = windows.collect();
        let unit = c::Unit {
            lowered: &lowered,
            placement: &placement,
            registers: operations.registers(),
            headers: &self.headers,
            align: operations.processor().line,
        };
        let about = [format!("Made of the kernel `{}`.", kernel.name)];
        Ok(Compiled {
            name: kernel.name.clone(),
            code: c::emit(&unit, &about, None).to_string(),
            windows,
        })
    }
}

/// The dictionary in a file.
///
/// # Errors
/// The file cannot be read, or is no dictionary: what is wrong, and where.
pub fn read_dictionary(path: impl AsRef<Path>) -> Result<Dictionary, String> {
    let path = path.as_ref().display().to_string();
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    Dictionary::read(&Source::new(path, text)).map_err(reported)
}

/// Diagnostics as they are shown to people: the place, the line, a hint.
pub fn reported(diagnostics: impl AsRef<[Diagnostic]>) -> String {
    render(diagnostics.as_ref())
}
