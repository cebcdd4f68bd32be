//! Rules: identities of machine arithmetic, for elements of any width.
//!
//! In: the operators that machines have for elements ([`operator`]). Out: [`Rules`]: for functions of
//! one or two elements the different ways to compute them, none of which needs all that another
//! needs ([`find`]), each proved equal at every width of elements ([`proof`]), in a text form
//! ([`Rules::read`]). They are found offline, without any target, and shipped with the program;
//! which way is cheapest is for whoever has a target to see.
//!
//! It knows no instructions, no kernels and no costs, and is believed by nobody: what is
//! made by a rule is proved again where it is used.

pub mod expression;
pub mod find;
pub mod operator;
pub mod proof;
mod set;

pub use set::{Function, Rules};
