//! The commands that measure the search itself.

use super::{BufferForm, Compile, CostRule, Emit, Prover, ReportForm, Specs, Which, seconds};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use synth::compile::TIME_LIMIT;

/// `isaforge ablate`.
#[derive(Debug, Args)]
pub(crate) struct Ablate {
    /// Files of kernels.
    #[arg(required_unless_present = "growth")]
    pub(crate) kernels: Vec<PathBuf>,
    /// How seconds grow with the operations in a window, and with the instructions there are.
    #[arg(long, conflicts_with = "kernels")]
    pub(crate) growth: bool,
    /// Processor, as for `compile`.
    #[arg(long, value_name = "NAME", default_value = "host")]
    pub(crate) target: String,
    /// Seconds that the search for one window may take: counts end it before, on a busy machine too.
    #[arg(long, value_name = "SECONDS", default_value_t = TIME_LIMIT.as_secs_f64(), value_parser = seconds)]
    pub(crate) time_limit: f64,
    /// How the table is written.
    #[arg(long, value_enum, value_name = "FORM", default_value_t = ReportForm::Text)]
    pub(crate) report: ReportForm,
    /// Seed of the random inputs of the search.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Which prover to ask.
    #[command(flatten)]
    pub(crate) prover: Prover,
    /// Which specifications to use.
    #[command(flatten)]
    pub(crate) specs: Specs,
}

/// A heuristic of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Heuristic {
    /// Only operations whose operators occur in the window.
    Operators,
    /// No operations on narrower elements than the goal's.
    Elements,
    /// Only the likeliest instructions that match a goal.
    Likeliest,
    /// Expressions that every lane computes are covered lane by lane.
    Lanewise,
    /// Covering at the number of lanes that fits best.
    Scaling,
    /// Covers chosen among all ways to write all values at once.
    Saturation,
    /// Known functions written otherwise by the rules that come with the program.
    Rules,
}

/// `isaforge reach`.
#[derive(Debug, Args)]
pub(crate) struct Reach {
    /// Processor, as for `compile`.
    #[arg(long, value_name = "NAME", default_value = "host")]
    pub(crate) target: String,
    /// Write each meaning through so many identities of machine arithmetic before it is searched
    /// for; 0 asks for what the dictionary says.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub(crate) identities: usize,
    /// Only so many operations, drawn at random.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) sample: Option<usize>,
    /// Only operations whose instruction has this in its name.
    #[arg(long, value_name = "TEXT")]
    pub(crate) named: Option<String>,
    /// Seed of what is drawn: operations, constants in the code, identities.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Seconds that the search for one operation may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = seconds)]
    pub(crate) time_limit: f64,
    /// End with exit code 2 when a smaller share than this is found, in percent.
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, value_parser = percent)]
    pub(crate) least: f64,
    /// How the result is written.
    #[arg(long, value_enum, value_name = "FORM", default_value_t = ReportForm::Text)]
    pub(crate) report: ReportForm,
    /// Which prover to ask.
    #[command(flatten)]
    pub(crate) prover: Prover,
    /// Which specifications to use.
    #[command(flatten)]
    pub(crate) specs: Specs,
}

impl Compile {
    /// A compilation of no file yet, for a target, that remembers nothing.
    pub(crate) fn fresh(target: &str, prover: &Prover, specs: &Specs) -> Compile {
        Compile {
            trust_specs: false,
            kernel: None,
            from_halide: None,
            constants: Vec::new(),
            from_autoir: None,
            arguments: BufferForm::Pointers,
            target: target.to_owned(),
            output: None,
            reference: false,
            run: false,
            emit: Emit::C,
            report: ReportForm::Text,
            time_limit: TIME_LIMIT.as_secs_f64(),
            memory_limit: 8192,
            explain: false,
            html: None,
            schedule: Which::Written,
            schedule_time: None,
            size: Vec::new(),
            without: Vec::new(),
            cost: CostRule::Pressure,
            certify: None,
            certify_limit: 60.0,
            deny: Vec::new(),
            no_memo: true,
            seed: 1,
            prover: prover.clone(),
            specs: specs.clone(),
        }
    }

    /// The heuristics that are used.
    pub(crate) fn grammar(&self) -> synth::search::Grammar {
        let used = |h| !self.without.contains(&h);
        synth::search::Grammar {
            operators: used(Heuristic::Operators),
            elements: used(Heuristic::Elements),
            likeliest: used(Heuristic::Likeliest),
            lanewise: used(Heuristic::Lanewise),
            scaling: used(Heuristic::Scaling),
            saturation: used(Heuristic::Saturation),
            rules: used(Heuristic::Rules),
        }
    }
}

/// `isaforge rules`.
#[derive(Debug, Args)]
pub(crate) struct Rules {
    /// Only functions that have this in their text, as `sat_add_u`.
    #[arg(value_name = "TEXT")]
    pub(crate) named: Option<String>,
    /// Prove the rules again, at every width of elements.
    #[arg(long, conflicts_with = "find")]
    pub(crate) prove: bool,
    /// Find rules anew by enumeration, prove them, and print those that hold.
    #[arg(long)]
    pub(crate) find: bool,
    /// Which prover to ask.
    #[command(flatten)]
    pub(crate) prover: Prover,
}

/// A share of all: from 0 to 100.
fn percent(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok();
    let share = share.filter(|share| (0.0..=100.0).contains(share));
    share.ok_or_else(|| "a share from 0 to 100 was expected".to_owned())
}
