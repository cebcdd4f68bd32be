//! How a solver that is no part of this program is asked.

use super::seconds;
use clap::Args;

/// How a solver is asked about what nobody has normalised.
#[derive(Clone, Debug, Args)]
pub(crate) struct Asking {
    /// Seconds that the solver may take for one answer.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = seconds)]
    pub(crate) answer_limit: f64,
    /// What the solver may count for one answer, where it counts (Z3 and cvc5: resource units):
    /// the same answers on every machine, unless the seconds are over before; 30,000,000 when
    /// absent, 3,000,000 for a use of a rewrite.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) effort: Option<u64>,
    /// Seconds after which nothing more is asked; what is left counts as not answered.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) stop_after: Option<f64>,
    /// Conflicts that the search for a proof that is checked here may take for an element;
    /// none is sought at 0.
    #[arg(long, value_name = "NUMBER", default_value_t = 20_000)]
    pub(crate) conflicts: u64,
    /// Only members whose name contains one of these texts, separated by commas.
    #[arg(
        long,
        value_name = "TEXTS",
        value_delimiter = ',',
        requires = "independent"
    )]
    pub(crate) filter: Vec<String>,
    /// Only so many members, drawn at random.
    #[arg(long, value_name = "NUMBER", requires = "independent")]
    pub(crate) sample: Option<usize>,
    /// Seed of what is drawn.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, requires = "sample")]
    pub(crate) seed: u64,
    /// Solvers that run side by side; as many as processors when absent.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) jobs: Option<usize>,
}
