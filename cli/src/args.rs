//! The command line: what may be asked of `isaforge` and how its help reads.
//!
//! In: the words of the command line. Out: [`Arguments`]. Names are not looked at
//! here; the commands do that and say what is wrong with them. Of paths only [`files`] knows more.

mod asking;
mod build;
pub(crate) mod files;
mod measures;

pub(crate) use asking::Asking;
use build::BUILD_EXAMPLES;
pub(crate) use build::Build;
pub(crate) use measures::{Ablate, Heuristic, Reach, Rules};

use crate::assets;
use clap::{Args, Parser, Subcommand, ValueEnum};
use semantics::diagnostic::Diagnostic;
use smt::config::{Config, SolverConfig};
use std::path::PathBuf;
use std::time::Duration;
use store::object::Store;
use synth::compile::TIME_LIMIT;

/// Turns vendor descriptions of instruction sets into proved, fast code.
#[derive(Debug, Parser)]
#[command(name = "isaforge", version, after_help = EXAMPLES, disable_help_subcommand = true)]
pub(crate) struct Arguments {
    /// Also take what others have found from a store that several people share, each proved anew
    /// before it is used, and leave there what is found: a folder, `redis://HOST:PORT/NUMBER`,
    /// `s3://BUCKET/PATH`, `https://HOST/PATH`, `webdav://HOST/PATH`. Without it
    /// `$ISAFORGE_STORE` names one, where that is set.
    #[arg(long, global = true, value_name = "WHERE")]
    pub(crate) store: Option<String>,
    /// What is asked.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Shown under the help of the program.
const EXAMPLES: &str = "\
Examples:
  isaforge compile examples/matmul.kernel --target host --run
  isaforge compile blur.kernel --target znver4 -o blur.c --report json
  isaforge check --isa x86 --filter 'dpwssd' --inputs 1000
  isaforge explain _mm512_dpwssd_epi32
  isaforge compile blur.kernel --store redis://builds.local/0

Exit codes:
  0  done
  1  the input is wrong: a kernel, a specification, a name, a path
  2  a check failed: an instruction or a compiled kernel computes something else
  3  a limit was reached; the report says which, and what was done instead";

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compile the kernels of a file to C with intrinsics.
    #[command(after_help = COMPILE_EXAMPLES)]
    Compile(Compile),
    /// Make the dictionary of one or several instruction sets, and from it back ends for
    /// other tools: the offline phase.
    #[command(after_help = BUILD_EXAMPLES)]
    Build(Build),
    /// Put a target's own intrinsics in the place of calls of operations in a module of LLVM IR.
    #[command(after_help = LOWER_EXAMPLES)]
    Lower(Lower),
    /// Check every instruction: on this processor, against a vendor's text, in itself.
    #[command(after_help = CHECK_EXAMPLES)]
    Check(Check),
    /// Show one instruction: pseudocode, meaning, class, parameters, members; or why two are
    /// one operation, or are not.
    Explain(Explain),
    /// Measure what instructions cost on this processor, and write a cost table; or ask LLVM's models.
    #[command(after_help = CALIBRATE_EXAMPLES)]
    Calibrate(Calibrate),
    /// Measure what each heuristic of the search is worth, or how its time grows.
    Ablate(Ablate),
    /// Measure which operations of a processor the search finds when their meaning is asked for.
    Reach(Reach),
    /// List the identities of machine arithmetic that the search knows, prove them, or find them anew.
    Rules(Rules),
    /// List the classes of instructions that are one operation with different numbers.
    Classes(Classes),
    /// Prove every member of a dictionary again; neither it nor the cache is believed.
    Verify(Verify),
    /// Run a program of a machine by the meaning of its instructions.
    #[command(after_help = SIM_EXAMPLES)]
    Sim(Simulate),
    /// Map kernels to the tile instructions of a machine, by proof.
    #[command(after_help = MAP_EXAMPLES)]
    Map(Map),
    /// Begin an instruction set of your own: a folder that loads, checks and compiles as it is.
    #[command(after_help = NEW_ISA_EXAMPLES)]
    NewIsa(NewIsa),
    /// Show what the schedule of a kernel makes of it, one directive after the other.
    #[command(after_help = SCHEDULE_EXAMPLES)]
    Schedule(Schedule),
}

/// Shown under the help of `calibrate`.
const CALIBRATE_EXAMPLES: &str = "\
Examples:
  isaforge calibrate --output znver4.yaml
  isaforge calibrate --models icelake-server,znver4 --output isa-specs/x86/llvm_costs.yaml";

/// Shown under the help of `compile`.
const COMPILE_EXAMPLES: &str = "\
Examples:
  isaforge compile examples/matmul.kernel --target host --run
      compile for this machine, run the result on random data and compare it with
      the kernel's own evaluator
  isaforge compile dot.kernel --target avx2,avx_vnni -o dot.c
      compile for a list of features
  isaforge compile --from-halide blur.stmt --arguments halide -o blur.c
      compile what Halide has scheduled, to a function that takes its buffers
  isaforge compile dot.kernel --target znver4 --solver z3 --smt-transcript dot.smt2
      ask Z3 for every proof, and keep what was asked";

/// What code is written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Emit {
    /// C with intrinsics.
    C,
    /// LLVM IR.
    Llvm,
    /// The programs of the windows as operations of the dictionary, for `--from-autoir`.
    Autoir,
}

/// What may be refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Deny {
    /// Vectors that are computed element by element.
    Scalar,
}

/// How buffers are passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum BufferForm {
    /// Pointers to dense arrays, each followed by its extents.
    Pointers,
    /// Pointers to `halide_buffer_t`.
    Halide,
}

impl BufferForm {
    /// As the importer calls it.
    pub(crate) fn form(self) -> halide::Convention {
        match self {
            BufferForm::Pointers => halide::Convention::Pointers,
            BufferForm::Halide => halide::Convention::Buffers,
        }
    }
}

/// What a window costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum CostRule {
    /// The larger of the longest path and the time for which the busiest resource is taken.
    Pressure,
    /// The sum of all latencies.
    LatencySum,
}

/// `isaforge compile`.
#[derive(Debug, Args)]
pub(crate) struct Compile {
    /// The file of kernels.
    #[arg(
        required_unless_present_any = ["from_halide", "from_autoir"],
        conflicts_with_all = ["from_halide", "from_autoir"]
    )]
    pub(crate) kernel: Option<PathBuf>,
    /// Instead of searching, the programs of a file that `--emit autoir` has written, each proved
    /// anew: the kernels are in it.
    #[arg(long, value_name = "FILE", conflicts_with = "from_halide")]
    pub(crate) from_autoir: Option<PathBuf>,
    /// Instead of kernels, the lowered statement text of a pipeline, as Halide 21 writes it
    /// with `compile_to_lowered_stmt(…, StmtOutputFormat.Text)`.
    #[arg(long, value_name = "FILE.stmt")]
    pub(crate) from_halide: Option<PathBuf>,
    /// Halide's C of the same pipeline, or its LLVM text: float constants, which the statement
    /// text rounds, are read from it exactly. May be given twice, for `float32` and `float64`.
    #[arg(long, value_name = "FILE", requires = "from_halide")]
    pub(crate) constants: Vec<PathBuf>,
    /// How a pipeline of Halide takes its buffers.
    #[arg(long, value_enum, value_name = "FORM", default_value_t = BufferForm::Pointers, requires = "from_halide")]
    pub(crate) arguments: BufferForm,
    /// Processor: `host`, a model (`znver4`, `icelake-server`, `x86-64-v3`) or features
    /// (`avx512f,avx512bw`).
    #[arg(long, value_name = "NAME", default_value = "host")]
    pub(crate) target: String,
    /// Where the C code goes; `-` is standard output, and the report goes to standard error.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Also compile the C code, run it on random data and compare with the kernel's
    /// evaluator.
    #[arg(long)]
    pub(crate) run: bool,
    /// Run it by C functions that are made from the meanings of the instructions, not on this
    /// processor or an emulator: it runs where the target is not.
    #[arg(long, requires = "run")]
    pub(crate) reference: bool,
    /// What is written: C with intrinsics, LLVM IR with the target's intrinsics, or programs of
    /// AutoIR operations. `--run` runs the C code of the same programs.
    #[arg(long, value_enum, value_name = "LANGUAGE", default_value_t = Emit::C)]
    pub(crate) emit: Emit,
    /// How the report is written.
    #[arg(long, value_enum, value_name = "FORM", default_value_t = ReportForm::Text)]
    pub(crate) report: ReportForm,
    /// Seconds that the search for one window may take: counts end it before, on a busy machine too.
    #[arg(long, value_name = "SECONDS", default_value_t = TIME_LIMIT.as_secs_f64(), value_parser = seconds)]
    pub(crate) time_limit: f64,
    /// Memory that may be in use while a window is searched for.
    #[arg(long, value_name = "MB", default_value_t = 8192, value_parser = clap::value_parser!(u64).range(1..=1 << 24))]
    pub(crate) memory_limit: u64,
    /// Tell of each window what was tried, what was refuted by which input, and what won.
    #[arg(long)]
    pub(crate) explain: bool,
    /// Also write a page that shows source, C and assembly side by side and, of each window, what its
    /// cost is made of and bound by, and what `--explain` tells. It is opened in a browser.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Which schedule: the one that is written beside the kernel, or one that is searched for,
    /// for any kernel, whose six best are timed on this machine.
    #[arg(long, value_enum, value_name = "WHICH", default_value_t = Which::Written)]
    pub(crate) schedule: Which,
    /// Seconds that the search for a schedule may take.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) schedule_time: Option<f64>,
    /// The value of a size for which a schedule is searched and timed; 128 when absent.
    #[arg(long, value_name = "NAME=NUMBER", value_parser = size)]
    pub(crate) size: Vec<Size>,
    /// Do without a heuristic of the search.
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) without: Vec<Heuristic>,
    /// What a window costs: the larger of its longest path and the time for which its busiest
    /// resource is taken, or the sum of all latencies.
    #[arg(long, value_enum, value_name = "RULE", default_value_t = CostRule::Pressure)]
    pub(crate) cost: CostRule,
    /// Also ask a solver that is no part of this program (`z3`, or a program's path) whether each
    /// window's program is the window, nothing normalised before.
    #[arg(long, value_name = "SOLVER")]
    pub(crate) certify: Option<String>,
    /// Seconds that it may take for one answer.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = seconds, requires = "certify")]
    pub(crate) certify_limit: f64,
    /// What is an error and not only a warning.
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) deny: Vec<Deny>,
    /// Search anew, and keep nothing of what is found.
    #[arg(long)]
    pub(crate) no_memo: bool,
    /// Seed of the random inputs, of search and of `--run`.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Which prover to ask.
    #[command(flatten)]
    pub(crate) prover: Prover,
    /// Which specifications to use.
    #[command(flatten)]
    pub(crate) specs: Specs,
    /// Run what the manifest in `--isa-specs` names: its compilers with their flags, its emulator,
    /// its files and lines of C. Without it nothing of a set that is not the program's own is run.
    #[arg(long, requires = "isa_specs")]
    pub(crate) trust_specs: bool,
}

/// Shown under the help of `check`.
const CHECK_EXAMPLES: &str = "\
Examples:
  isaforge check --isa x86
      run every instruction that this processor has on edge and random inputs, and
      compare every bit with the specification
  isaforge check --against intrinsics.xml
      prove each instruction equal to the vendor's body of the same name
  isaforge check --lint
      look for mistakes in the specifications themselves
  isaforge check --headers
      compile a wrapper of every intrinsic with its declared types";

/// `isaforge check`.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Only instructions whose name contains this.
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Option<String>,
    /// Inputs for each instruction, at least.
    #[arg(long, value_name = "NUMBER", default_value_t = 1000,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) inputs: u32,
    /// Seed of the random inputs.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Prove each instruction equal to the body of the same name in a vendor's file.
    #[arg(long, value_name = "FILE")]
    pub(crate) against: Option<PathBuf>,
    /// Look for mistakes in the specifications: result bits written twice or never, operands
    /// without effect, features that do not exist, constant results.
    #[arg(long)]
    pub(crate) lint: bool,
    /// Compile a wrapper of every intrinsic with its declared types; no warning is allowed.
    #[arg(long)]
    pub(crate) headers: bool,
    /// Run the functions of a build's C header on this processor, in place of instructions.
    #[arg(long, value_name = "DIR")]
    pub(crate) build: Option<PathBuf>,
    /// Run instructions on this processor: what is done when nothing else is asked for.
    #[arg(long)]
    pub(crate) hardware: bool,
    /// Run them not on this processor, but by C functions that are made from their meanings.
    #[arg(long)]
    pub(crate) reference: bool,
    /// Which prover to ask.
    #[command(flatten)]
    pub(crate) prover: Prover,
    /// Which specifications to use.
    #[command(flatten)]
    pub(crate) specs: Specs,
    /// Run what the manifest in `--isa-specs` names: its compilers with their flags, its emulator,
    /// its files and lines of C. Without it nothing of a set that is not the program's own is run.
    #[arg(long, requires = "isa_specs")]
    pub(crate) trust_specs: bool,
}

/// Shown under the help of `lower`.
const LOWER_EXAMPLES: &str = "\
Examples:
  isaforge lower module.ll --build OUT -o lowered.ll
  opt-19 -passes=always-inline,internalize,globaldce lowered.ll | llc-19 -O2
      `OUT/llvm/autoir_ISA_calls.ll` declares what a module may call; arguments that are
      constants of the operation must be numbers in the call";

/// `isaforge lower`.
#[derive(Debug, Args)]
pub(crate) struct Lower {
    /// A module of LLVM IR, as text.
    pub(crate) module: PathBuf,
    /// The folder that `isaforge build` has written.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) build: PathBuf,
    /// Where the module goes; standard output where left out, and `-`.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The clang that says what an intrinsic is in LLVM IR.
    #[arg(long, value_name = "PROGRAM", default_value = "clang-19")]
    pub(crate) clang: String,
    /// Instruction sets of your own in place of those of the program.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) isa_specs: Option<PathBuf>,
}

/// `isaforge explain`.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The intrinsic's name in C.
    pub(crate) intrinsic: String,
    /// Another one: why both are one operation, or what keeps them apart.
    pub(crate) other: Option<String>,
    /// Which prover to ask.
    #[command(flatten)]
    pub(crate) prover: Prover,
    /// Which specifications to use.
    #[command(flatten)]
    pub(crate) specs: Specs,
}

/// Shown under the help of `new-isa`.
const NEW_ISA_EXAMPLES: &str = "\
Examples:
  isaforge new-isa zv --width 128
  isaforge compile zv/example.kernel --isa zv --isa-specs . --target zv1 --run";

/// `isaforge new-isa`.
#[derive(Debug, Args)]
pub(crate) struct NewIsa {
    /// What it is called: a name of C, with which its functions begin.
    pub(crate) name: String,
    /// Bits of a vector: a power of two.
    #[arg(long, value_name = "BITS", default_value_t = 128, value_parser = clap::value_parser!(u32).range(32..=8192))]
    pub(crate) width: u32,
    /// Where its folder is made.
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub(crate) folder: PathBuf,
}

/// `isaforge classes`.
#[derive(Debug, Args)]
pub(crate) struct Classes {
    /// Only classes with a member whose name contains this.
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Option<String>,
    /// Draw instructions, classes and proofs: an `.svg` to look at, or a `.dot` for Graphviz.
    #[arg(long, value_name = "FILE")]
    pub(crate) graph: Option<PathBuf>,
    /// Which prover to ask.
    #[command(flatten)]
    pub(crate) prover: Prover,
    /// Which specifications to use.
    #[command(flatten)]
    pub(crate) specs: Specs,
}

/// `isaforge verify`.
#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// The dictionary, as `isaforge build` writes it.
    #[arg(long, value_name = "FILE", required_unless_present = "rules")]
    pub(crate) dictionary: Option<PathBuf>,
    /// Ask the solver that is named about every rewrite by which this program brings terms to
    /// normal forms, at many widths, and print the table.
    #[arg(long, conflicts_with_all = ["dictionary", "independent"])]
    pub(crate) rules: bool,
    /// The widths at which it is asked.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', requires = "rules",
        value_parser = clap::value_parser!(u32).range(1..=256),
        default_value = "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,32,64")]
    pub(crate) widths: Vec<u32>,
    /// Ask the solver that is named about each member as it stands, nothing normalised before.
    #[arg(long)]
    pub(crate) independent: bool,
    /// How it is asked.
    #[command(flatten)]
    pub(crate) asking: Asking,
    /// Which prover to ask.
    #[command(flatten)]
    pub(crate) prover: Prover,
    /// The instruction sets, separated by commas; without it those of the dictionary's members.
    #[arg(long, value_name = "NAMES")]
    pub(crate) isa: Option<String>,
    /// A folder of specifications to use in place of those inside the program.
    #[arg(long, value_name = "DIR")]
    pub(crate) isa_specs: Option<PathBuf>,
    /// The vendor's own description, read beside ours of the first instruction set.
    #[arg(long, value_name = "FILE")]
    pub(crate) vendor: Option<PathBuf>,
}

/// Shown under the help of `map`.
const MAP_EXAMPLES: &str = "\
Examples:
  isaforge map examples/rvm/product.kernel --size m=8 --size n=8 --size k=32 --run 1
      a listing for `isaforge sim`, and whether it agrees with the kernel's evaluator
  isaforge map examples/rvm/conv1d.kernel --size oc=16 --size n=64 --size ic=4 --emit c -o conv1d.c
      C with inline assembly for a RISC-V compiler
  isaforge map examples/rvm/case_study.kernel --size oc=16 --size n=16 --size ic=4 --loops --table
      five schedules of one algorithm side by side
  isaforge map kernels/gemmini/matmul.kernel --isa gemmini --size m=196 --size n=256 --size k=1024 --run 1
      loops of commands for a systolic array, what they take, and whether they agree
  isaforge map examples/rvm/product_plain.kernel --size m=16 --size n=16 --size k=64 --schedule auto --run 1
      loops as one writes them down, and a schedule that is searched for";

/// Where a schedule comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Which {
    /// It stands beside the kernel.
    Written,
    /// It is searched for.
    Auto,
}

/// The outermost loop over blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Outermost {
    /// Blocks of columns: the right factor stays.
    Columns,
    /// Blocks of rows: the left factor stays.
    Rows,
}

/// What a systolic array keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Keeps {
    /// Tiles of the right factor.
    Weights,
    /// Sums.
    Outputs,
}

/// In what form a mapped kernel is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum MapEmit {
    /// A listing for `isaforge sim`.
    Listing,
    /// A function in assembly for a RISC-V assembler.
    Asm,
    /// C with inline assembly.
    C,
}

/// `isaforge map`.
#[derive(Debug, Args)]
pub(crate) struct Map {
    /// The file of kernels.
    pub(crate) kernel: PathBuf,
    /// The instruction set.
    #[arg(long, value_name = "NAME", default_value = "rvm")]
    pub(crate) isa: String,
    /// A folder of specifications to use in place of those inside the program.
    #[arg(long, value_name = "DIR")]
    pub(crate) isa_specs: Option<PathBuf>,
    /// The value of a size; once for each.
    #[arg(long, value_name = "NAME=NUMBER", value_parser = size)]
    pub(crate) size: Vec<Size>,
    /// Keep loops and leave scalar statements to the host, also where the schedule puts nothing
    /// into tiles. With arrays in tiles loops are kept anyway.
    #[arg(long)]
    pub(crate) loops: bool,
    /// Print one table with a line for each kernel instead of code, and run each: instructions
    /// and cycles of the model, and how many times fewer than the first.
    #[arg(long)]
    pub(crate) table: bool,
    /// What is written.
    #[arg(long, value_enum, value_name = "FORM", default_value_t = MapEmit::Listing)]
    pub(crate) emit: MapEmit,
    /// Where the code goes; standard output when absent, and the report to standard error.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Which schedule: the one that is written beside the kernel, or one that is searched for
    /// and is as what is written says, where that says something.
    #[arg(long, value_enum, value_name = "WHICH", default_value_t = Which::Written)]
    pub(crate) schedule: Which,
    /// Seconds that the search for a schedule may take; without, it ends when nothing is left.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) schedule_time: Option<f64>,
    /// Where the first array lies in a listing; the others follow. Functions in C and in assembly
    /// take addresses as arguments.
    #[arg(long, value_name = "BYTES", default_value_t = 4096)]
    pub(crate) address: u32,
    /// Which of the machine's models of cost counts cycles and guides a search; without, its first.
    #[arg(long, value_name = "NAME")]
    pub(crate) cost_model: Option<String>,
    /// Also run it in the simulator on random data of this seed, 1 where none is given.
    #[arg(long, value_name = "SEED", num_args = 0..=1, default_missing_value = "1", value_parser = seed)]
    pub(crate) run: Option<u64>,
    /// Tiles of rows and of columns of a block, for a machine with a systolic array; with pooling
    /// rows of results and tiles of columns.
    #[arg(long, value_name = "ROWSxCOLUMNS")]
    pub(crate) tile: Option<String>,
    /// The loop over blocks that is outermost, for a machine with a systolic array: its factor
    /// stays in the scratchpad, and the other one is loaded in each round.
    #[arg(long, value_enum, value_name = "BLOCKS")]
    pub(crate) outer: Option<Outermost>,
    /// Buffers for what streams and for sums: with 2 one is filled while the other is used.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(i64).range(1..=2))]
    pub(crate) buffers: Option<i64>,
    /// What the systolic array keeps from one product to the next.
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) stationary: Option<Keeps>,
    /// Let the machine's own loop walk over tiles.
    #[arg(long, conflicts_with_all = ["outer", "buffers", "stationary"])]
    pub(crate) hardware_loop: bool,
    /// Which prover to ask.
    #[command(flatten)]
    pub(crate) prover: Prover,
}

/// Shown under the help of `schedule`.
const SCHEDULE_EXAMPLES: &str = "\
Examples:
  isaforge schedule examples/rvm/product_rows.kernel --isa rvm --size m=18 --size n=9 --size k=64 --show
      the loops as they were written, and after each directive, with what it changed
  isaforge schedule examples/conv2d.kernel --html conv2d.html
      the same as a page";

/// `isaforge schedule`.
#[derive(Debug, Args)]
pub(crate) struct Schedule {
    /// The file of kernels.
    pub(crate) kernel: PathBuf,
    /// The machine whose parameters the schedules name, such as `ROWS` of rvm.
    #[arg(long, value_name = "NAME")]
    pub(crate) isa: Option<String>,
    /// A folder of specifications to use in place of those inside the program.
    #[arg(long, value_name = "DIR")]
    pub(crate) isa_specs: Option<PathBuf>,
    /// The value of a size; once for each. What does not fill the tiles of a schedule is cut off then.
    #[arg(long, value_name = "NAME=NUMBER", value_parser = size)]
    pub(crate) size: Vec<Size>,
    /// Print the loops after each directive; without it only the last ones.
    #[arg(long)]
    pub(crate) show: bool,
    /// Write them as a page that needs nothing else.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

/// Shown under the help of `sim`.
const SIM_EXAMPLES: &str = "\
Examples:
  isaforge sim product.s --trace
      each instruction with what it wrote
  isaforge sim product.bin --load a.bin@0x1000 --save c.bin@0x2000+64
      words instead of text; memory from a file, and into one

Text has an instruction, a `label:` or a directive on a line: `.word NUMBER`, or
`.set REGISTER, NUMBER` for what a register holds at the start. A program ends by going past
its last instruction.";

/// `isaforge sim`.
#[derive(Debug, Args)]
pub(crate) struct Simulate {
    /// Assembly text, or little-endian words in a file called `.bin`.
    pub(crate) program: PathBuf,
    /// The instruction set.
    #[arg(long, value_name = "NAME", default_value = "rvm")]
    pub(crate) isa: String,
    /// A folder of specifications to use in place of those inside the program.
    #[arg(long, value_name = "DIR")]
    pub(crate) isa_specs: Option<PathBuf>,
    /// Print each instruction and what it wrote.
    #[arg(long)]
    pub(crate) trace: bool,
    /// Bytes to put into memory before the run.
    #[arg(long, value_name = "FILE@ADDRESS")]
    pub(crate) load: Vec<String>,
    /// Bytes of memory to keep after the run.
    #[arg(long, value_name = "FILE@ADDRESS+LENGTH")]
    pub(crate) save: Vec<String>,
    /// Bytes of memory, from address 0 up.
    #[arg(long, value_name = "BYTES", default_value = "0x100000", value_parser = bytes)]
    pub(crate) memory_size: usize,
    /// Instructions after which the run is stopped.
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000_000_000)]
    pub(crate) steps: u64,
}

/// Which prover to ask.
#[derive(Clone, Debug, Args)]
pub(crate) struct Prover {
    /// `embedded`, `z3`, `cvc5`, `bitwuzla` or the path of an SMT-LIB solver. A named solver
    /// gets every question; the embedded one needs nothing installed.
    #[arg(long, value_name = "NAME", default_value = "embedded")]
    pub(crate) solver: String,
    /// Keep all that is said to and by the solver.
    #[arg(long, value_name = "FILE")]
    pub(crate) smt_transcript: Option<PathBuf>,
    /// Seconds that one proof may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = seconds)]
    pub(crate) proof_limit: f64,
}

impl Prover {
    /// The prover that was asked for; proofs are kept below the user's cache folder.
    ///
    /// # Errors
    /// When the solver that was named cannot be started.
    pub(crate) fn prover(&self, seed: u64) -> Result<smt::prover::Prover, Diagnostic> {
        self.with_cache(seed, Some(assets::store().clone()))
    }

    /// The prover that was asked for, which proves everything anew.
    ///
    /// # Errors
    /// When the solver that was named cannot be started.
    pub(crate) fn without_cache(&self, seed: u64) -> Result<smt::prover::Prover, Diagnostic> {
        self.with_cache(seed, None)
    }

    fn with_cache(
        &self,
        seed: u64,
        cache: Option<Store>,
    ) -> Result<smt::prover::Prover, Diagnostic> {
        let limit = Duration::from_secs_f64(self.proof_limit);
        let named = (self.solver != EMBEDDED).then(|| SolverConfig {
            time: limit,
            ..SolverConfig::named(&self.solver)
        });
        if let Some(solver) = &named {
            let started = std::process::Command::new(&solver.program)
                .arg("--version")
                .output();
            started.map_err(|error| {
                Diagnostic::error(format!(
                    "cannot start the solver `{}`: {error}",
                    self.solver
                ))
                .hint("name a program on the PATH or its path; `embedded` needs none")
            })?;
        }
        Ok(smt::prover::Prover::new(Config {
            seed,
            sat_time: limit,
            only_solver: named.is_some(),
            solver: named,
            cache,
            transcript: self.smt_transcript.clone(),
            ..Config::default()
        }))
    }
}

/// The name of the prover inside the program.
const EMBEDDED: &str = "embedded";

/// Which specifications to use.
#[derive(Clone, Debug, Args)]
pub(crate) struct Specs {
    /// The instruction set.
    #[arg(long, value_name = "NAME", default_value = "x86")]
    pub(crate) isa: String,
    /// A folder of specifications to use in place of those inside the program.
    #[arg(long, value_name = "DIR")]
    pub(crate) isa_specs: Option<PathBuf>,
    /// The vendor's own description, read beside ours.
    #[arg(long, value_name = "FILE")]
    pub(crate) vendor: Option<PathBuf>,
}

/// `isaforge calibrate`.
#[derive(Debug, Args)]
pub(crate) struct Calibrate {
    /// Measure nothing, and ask llvm-mca of LLVM 19 what its models of these processors say;
    /// `llvm_costs.yaml` of a set is what the tables and the guide show.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) models: Vec<String>,
    /// Where the table goes; standard output when absent.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Only instructions whose names contain this.
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Option<String>,
    /// Which instructions.
    #[command(flatten)]
    pub(crate) specs: Specs,
}

impl Compile {
    /// The file that is compiled.
    pub(crate) fn input(&self) -> &std::path::Path {
        let others = self.from_halide.as_ref().or(self.from_autoir.as_ref());
        let named = others.or(self.kernel.as_ref());
        named.expect("the command line asks for one of them")
    }
}

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportForm {
    /// Lines to read.
    Text,
    /// One JSON object.
    Json,
}

/// A number of bytes: at most 4 GiB.
fn bytes(text: &str) -> Result<usize, String> {
    let number = match text.strip_prefix("0x") {
        Some(hex) => usize::from_str_radix(hex, 16),
        None => text.parse(),
    };
    number
        .ok()
        .filter(|&n| n <= 1 << 32)
        .ok_or_else(|| "a number of bytes was expected, such as 65536 or 0x10000".to_owned())
}

/// A size, and its value, which is not negative.
pub(crate) type Size = (String, i64);

fn size(text: &str) -> Result<Size, String> {
    let parts = text.split_once('=');
    let (name, number) = parts.ok_or("a name and a number were expected, such as `m=8`")?;
    match number.trim().parse() {
        Ok(number @ 0..) if !name.trim().is_empty() => Ok((name.trim().to_owned(), number)),
        _ => Err(format!("a size is a number from 0 to {}", i64::MAX)),
    }
}

/// A number of seconds: positive and at most a day.
fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 86_400.0 => Ok(value),
        Ok(_) => Err("seconds are more than 0 and at most 86400, a day".to_owned()),
        Err(_) => Err("a number of seconds was expected, such as 60 or 0.5".to_owned()),
    }
}

/// A seed; what stands behind an option that may go without one is often meant to be something else.
fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| {
        let most = u64::MAX;
        format!(
            "a seed is a number from 0 to {most}; without one, name the kernel before the option"
        )
    })
}
