//! Whether programs on arrays leave the same in memory, at any size.
//!
//! In: two programs, each handed to an [`engine::Engine`] statement by statement with its loops as
//! loops. Out: whether all elements of all arrays hold the same behind both, for all that memory may
//! hold at first. Loops are not run: a round that may be any is executed once on terms, and what all
//! rounds leave follows by induction ([`engine`], module `induction`). So it takes as long for large sizes as
//! for small ones. Whoever executes a program says what its statements do: [`kernel`] those of the
//! kernel language, [`procedure`] the instructions of machines on declared state. What cannot be
//! decided is told as such, never taken for equal.

mod chains;
mod choice;
pub mod code;
pub mod engine;
pub mod equal;
mod induction;
pub mod kernel;
pub mod linear;
mod places;
pub mod procedure;
mod region;
pub mod space;
mod state;
pub mod stop;
mod sums;
pub mod trace;
pub mod value;

pub use state::Array;
