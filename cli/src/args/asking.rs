//! How a solver that is no part of this program is asked.

use super::seconds;
use clap::Args;

/// How a solver is asked about what nobody has normalised.
#[derive(Clone, Debug, Args)]
pub(crate) struct Asking {
    /// Seconds that the solver may take for one answer.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = seconds)]
    pub(crate) answer_limit: f64,
    /// Seconds after which nothing more is asked; what is left counts as not answered.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) stop_after: Option<f64>,
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
