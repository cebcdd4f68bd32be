//! Schedules that are searched for.
//!
//! In: a space of candidates ([`space`]), a lower bound for each of them ([`bound`]), and
//! somebody who says what a finished one costs ([`search::Evaluate`]). Out: the cheapest ones,
//! how far from the best they can be at most, and what was done to know it ([`report`]).
//!
//! A candidate is a vector of finite domains: what is still open. A decision takes values out of
//! one of them, what follows from it is taken out of the others, and nothing is ever put back, so
//! that decisions may be made in any order and by anybody: what a user has decided is a
//! candidate like any other. It knows no kernels and no machines: who has one describes its
//! choices, its limits and its costs as functions of a few choices each.
//!
//! ```
//! use autosched::bound::{Model, Term};
//! use autosched::search::{Options, search};
//! use autosched::space::Space;
//!
//! let mut space = Space::new();
//! let (rows, columns) = (space.add("rows", [1, 2, 4, 8]), space.add("columns", [1, 2, 4, 8]));
//! let open = Term::new([rows, columns], |v| (v[0] * v[1]).unsigned_abs());
//! space.at_most("sums fit 8 registers", 8, [open]);
//! // A product of 64 * 64 * 64: each element of a block of one matrix is loaded for each
//! // block of the other.
//! let mut model = Model::new();
//! let loads = model.resource("loads");
//! model.uses(loads, "left matrix", Term::new([columns], |v| 64 * 64 * 64 / v[0].unsigned_abs()));
//! model.uses(loads, "right matrix", Term::new([rows], |v| 64 * 64 * 64 / v[0].unsigned_abs()));
//! let mut exact = model.clone();
//! let found = search(&space, &model, &mut exact, &Options::default()).expect("there are candidates");
//! assert_eq!(found.best[0].cost, 64 * 64 * 64 / 2 + 64 * 64 * 64 / 4);
//! assert_eq!(found.gap(), Some(0));
//! ```

pub mod bound;
pub mod estimate;
pub mod report;
pub mod search;
pub mod space;
