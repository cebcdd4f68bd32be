//! The text form of terms, written.
//!
//! In: terms. Out: S-expressions.

use crate::term::{Kind, Term};
use std::fmt;

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            Kind::Var { name, .. } => f.write_str(name),
            Kind::Bv(bits) => write!(f, "{bits}"),
            Kind::Bool(b) => write!(f, "{b}"),
            Kind::Int(i) => write!(f, "{i}"),
            Kind::Bound { depth, .. } => write!(f, "#{depth}"),
            Kind::App { op, args } => {
                write!(f, "({op}")?;
                args.iter().try_for_each(|a| write!(f, " {a}"))?;
                f.write_str(")")
            }
            Kind::Map { count, body } => write!(f, "(map {count} {body})"),
            Kind::Fold { count, init, body } => write!(f, "(fold {count} {init} {body})"),
        }
    }
}
