//! What a machine's instructions and rows of cells are for, and how its registers are packed.
//!
//! In: built by a reader of machines. Out: [`Roles`], asked by mappers that know purposes and no
//! mnemonics. What a manifest says here is a proposal: who makes commands of it proves them by the
//! machine's procedures.

use std::collections::BTreeMap;

/// Purposes by name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Roles {
    /// Indices in [`super::Machine::instructions`].
    pub instructions: BTreeMap<String, usize>,
    /// Indices in [`super::State::arrays`].
    pub arrays: BTreeMap<String, usize>,
    /// What registers hold.
    pub packings: BTreeMap<String, Packing>,
}

/// What a register of 64 bits holds: a constant, and factors of fields.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Packing {
    /// The constant; it wraps.
    pub constant: i64,
    /// The factor of each field by its name.
    pub fields: BTreeMap<String, i64>,
}

/// A packing of fields that are known by their order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packed<const N: usize> {
    /// The constant; it wraps.
    pub constant: i64,
    /// The factor of each field.
    pub factors: [i64; N],
}

impl Roles {
    /// The instruction of a role.
    ///
    /// # Errors
    /// There is none.
    pub fn instruction(&self, role: &str) -> Result<usize, String> {
        let found = self.instructions.get(role).copied();
        found.ok_or_else(|| format!("its manifest names no instruction for the role `{role}`"))
    }

    /// The rows of cells of a role.
    ///
    /// # Errors
    /// There are none.
    pub fn array(&self, role: &str) -> Result<usize, String> {
        let found = self.arrays.get(role).copied();
        found.ok_or_else(|| format!("its manifest names no rows for the role `{role}`"))
    }

    /// Whether the packing of that name has a field.
    pub fn packs(&self, name: &str, field: &str) -> bool {
        let found = self.packings.get(name);
        found.is_some_and(|p| p.fields.contains_key(field))
    }

    /// The packing of that name, of just these fields.
    ///
    /// # Errors
    /// There is none, it lacks one of the fields, or has others.
    pub fn packing<const N: usize>(
        &self,
        name: &str,
        fields: [&str; N],
    ) -> Result<Packed<N>, String> {
        let found = self.packings.get(name);
        let found = found.ok_or_else(|| format!("its manifest has no packing `{name}`"))?;
        if let Some(other) = found.fields.keys().find(|f| !fields.contains(&f.as_str())) {
            let known = fields.join("`, `");
            return Err(format!(
                "its packing `{name}` has a field `{other}`; there are `{known}`"
            ));
        }
        let mut factors = [0; N];
        for (factor, field) in factors.iter_mut().zip(fields) {
            let known = found.fields.get(field);
            *factor = *known.ok_or_else(|| format!("its packing `{name}` has no `{field}`"))?;
        }
        Ok(Packed {
            constant: found.constant,
            factors,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Packed, Packing, Roles};

    #[test]
    fn a_packing_has_just_the_fields_that_are_asked_for() {
        let fields = [("rows", 1 << 48), ("row", 1)];
        let packing = Packing {
            constant: 2,
            fields: fields.map(|(f, n)| (f.to_owned(), n)).into(),
        };
        let roles = Roles {
            packings: [("local".to_owned(), packing)].into(),
            ..Roles::default()
        };
        let packed = Packed {
            constant: 2,
            factors: [1, 1 << 48],
        };
        assert_eq!(roles.packing("local", ["row", "rows"]), Ok(packed));
        for (fields, reported) in [(["row", "x"], "a field `rows`"), (["row", "row"], "`rows`")] {
            let wrong = roles.packing("local", fields).expect_err("it has others");
            assert!(wrong.contains(reported), "{wrong}");
        }
        let wrong = roles.packing("local", ["row", "rows", "columns"]);
        assert_eq!(wrong.unwrap_err(), "its packing `local` has no `columns`");
        assert!(roles.packing("store", ["row"]).is_err());
        assert!(roles.instruction("load").is_err() && roles.array("sums").is_err());
    }
}
