//! What may be asked of `isaforge build`.

use super::{Prover, Specs};
use crate::shard::Share;
use clap::Args;
use std::path::PathBuf;

/// Shown under the help of `build`.
pub(super) const BUILD_EXAMPLES: &str = "\
Examples:
  isaforge build -o OUT
  parallel isaforge build --shard {}/8 -o part-{} ::: 1 2 3 4 5 6 7 8
  parallel isaforge build --shard {}/8 --merge part-* -o rest-{} ::: 1 2 3 4 5 6 7 8
  isaforge build --merge part-* rest-* -o OUT
      the same files as from one run: GNU parallel, an array of Slurm jobs or a matrix of a CI
      drive the parts; the second line divides what is known to be open once all instructions
      are seen together, and can be left out: `--merge` does what nobody has done";

/// `isaforge build`.
#[derive(Debug, Args)]
pub(crate) struct Build {
    /// The folder for the dictionary and what is made from it; new or empty. With `--shard`, the
    /// file of the part.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// Take the place of what an earlier build left in the folder.
    #[arg(long)]
    pub(crate) replace: bool,
    /// A dictionary that was made before, in place of finding the classes.
    #[arg(long, value_name = "FILE")]
    pub(crate) dictionary: Option<PathBuf>,
    /// Do only part `I` of `N` of the work on single instructions, and write what was found to
    /// one file; with `--merge`, of the work that is left when all of those are merged.
    #[arg(long, value_name = "I/N", conflicts_with_all = ["dictionary", "replace", "pin"])]
    pub(crate) shard: Option<Share>,
    /// The files of all parts, in any order: only what they have not is done. Those that were
    /// written with `--shard` and `--merge` may be among them, then all of them.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "dictionary")]
    pub(crate) merge: Vec<PathBuf>,
    /// Also write the digest of the table of instructions into the folder of specifications, so
    /// that those who have this folder can take the table from a shared store.
    #[arg(long, requires = "isa_specs", conflicts_with_all = ["dictionary", "vendor"])]
    pub(crate) pin: bool,
    /// Which prover to ask.
    #[command(flatten)]
    pub(crate) prover: Prover,
    /// Which specifications to use.
    #[command(flatten)]
    pub(crate) specs: Specs,
}
