//! How C measures time on a processor, and what its values lie in while it does.
//!
//! In: `timing` in `targets.yaml`. Out: [`Timing`]: names of functions, and for a type of C the register of
//! its values. It measures nothing.

use semantics::spelling::{Spelling, is_like};
use serde::Deserialize;

/// What an instruction set is timed by.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// The function that nothing before or after passes.
    pub fence: String,
    /// The function that gives the ticks of a clock.
    pub counter: String,
    registers: Vec<Values>,
    #[serde(default)]
    casts: Vec<Cast>,
}

/// What values of some types lie in; those of others are in registers for numbers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Values {
    /// `*` for any characters.
    types: String,
    constraint: String,
    /// Of vectors, and the type that all of them can be cast to.
    width: Option<u32>,
    #[serde(rename = "type")]
    c_type: Option<String>,
}

/// Vectors of one width.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Vector<'a> {
    /// Their width in bits.
    pub width: u32,
    /// The type that all of them can be cast to.
    pub c_type: &'a str,
}

/// A function that makes a vector of one width one of another, by no instruction.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cast {
    from: u32,
    to: u32,
    by: String,
}

impl Timing {
    /// Whether all names are names.
    pub(crate) fn check(&self) -> Result<(), String> {
        let name = |what: &str, name: &str| Spelling::Identifier.check(what, name);
        name("the fence of `timing`", &self.fence)?;
        name("the counter of `timing`", &self.counter)?;
        for values in &self.registers {
            name("a constraint of `timing`", &values.constraint)?;
            if let Some(c_type) = &values.c_type {
                Spelling::CType.check("a type of `timing`", c_type)?;
            }
        }
        let mut casts = self.casts.iter();
        casts.try_for_each(|cast| name("a cast of `timing`", &cast.by))
    }

    fn values(&self, c_type: &str) -> Option<&Values> {
        self.registers.iter().find(|v| is_like(&v.types, c_type))
    }

    /// What GNU C's assembly calls the register of a value.
    pub fn constraint(&self, c_type: &str) -> &str {
        self.values(c_type).map_or("r", |v| &v.constraint)
    }

    /// The vectors that values of a type are, if they are such.
    pub fn vector(&self, c_type: &str) -> Option<Vector<'_>> {
        let values = self.values(c_type)?;
        let (width, c_type) = (values.width?, values.c_type.as_deref()?);
        Some(Vector { width, c_type })
    }

    /// The function that makes a vector of so many bits one of another width.
    pub fn cast(&self, from: u32, to: u32) -> Option<&str> {
        let cast = self.casts.iter().find(|c| (c.from, c.to) == (from, to))?;
        Some(&cast.by)
    }
}
