//! What all notations of pseudocode share: a tree, and the machine that runs it on symbols.
//!
//! In: a `Dialect`, which reads its notation into the tree and knows its functions. Out: the
//! meanings of bodies, by [`lower`]. Statements, control that depends on operands, exact
//! integers, registers that are written in pieces, memory and the rolling of results are here;
//! grammars, operators and functions by name are the dialects'.

pub mod ast;
pub(crate) mod layout;
pub mod lower;
pub(crate) mod notation;
pub(crate) mod reading;
pub(crate) mod tree;

use ast::{BinaryOp, Block, Expr, Name};
use lower::machine::{Execution, Run};
use lower::value::{Computed, Value, refuse};
use semantics::diagnostic::Diagnostic;
use semantics::instruction::Operand;
use semantics::span::{Source, Span};
use semantics::term::Term;

/// What a call does that stands alone.
pub(crate) enum Effect {
    /// Nothing that a meaning has: it takes time, or moves data between caches.
    Nothing,
    /// A register of the machine becomes a value.
    Becomes(&'static str, Value),
}

/// A notation: how it is read, and what its names and operators mean.
pub(crate) trait Dialect: Sync {
    /// The name that manifests give it.
    fn name(&self) -> &'static str;

    /// Reads a body: the range `span` of `source`, undecoded when it is `xml`.
    ///
    /// # Errors
    /// What is wrong with the text.
    fn parse(&self, source: &Source, span: Span, xml: bool) -> Result<Block, Vec<Diagnostic>>;

    /// Whether bits are values of their own, with a width, that only a function makes an
    /// integer; otherwise bits are integers, read as their elements are.
    fn has_bits(&self) -> bool {
        false
    }

    /// Names that mean the result where no operand has them.
    fn results(&self) -> &'static [&'static str];

    /// The value of a call whose arguments count as they are written; none where their values do.
    fn form(&self, _: &mut Execution, _: &Name, _: &[Expr], _: Span) -> Run<Option<Value>> {
        Ok(None)
    }

    /// The value of a function that the body does not define, or defines in vain; none where there
    /// is none of that name on so many values.
    fn function(&self, machine: &Execution, name: &str, args: &[Value]) -> Option<Computed<Value>>;

    /// What a call does that stands alone; none where that is not known.
    fn effect(&self, _name: &str, _arguments: &[Value]) -> Option<Effect> {
        None
    }

    /// An infix operator on values of which one at least is no exact integer; none where the
    /// dialect has no meaning of its own for it.
    fn apply(
        &self,
        machine: &Execution,
        op: BinaryOp,
        x: &Value,
        y: &Value,
    ) -> Option<Computed<Value>>;

    /// The complement of bits, where it is not that of an exact integer.
    fn complement(&self, _x: &Value) -> Option<Computed<Value>> {
        None
    }

    /// Whether a function means the dialect's own although a body defines it.
    fn overrides(&self, _function: &str) -> bool {
        false
    }

    /// The comparison that a variable holds.
    fn compare(&self, _: &Execution, _: &Value, _: &Value, _: &Value) -> Computed<Term> {
        refuse("a comparison is written with its operator")
    }

    /// An entry of a table of constants.
    fn look_up(&self, _table: &[i128], _index: &Value) -> Computed<Value> {
        refuse("tables are not described")
    }

    /// What a name means that no variable has.
    fn constant(&self, _name: &Name) -> Option<Value> {
        None
    }

    /// Whether an operand is one of the numbers of an enumeration and no other.
    fn is_enumeration(&self, _operand: &Operand) -> bool {
        false
    }

    /// The names of the functions, for suggestions.
    fn functions(&self) -> Vec<&'static str>;
}

/// The width in the name of a function, such as `sat8`.
pub(crate) fn width_in(name: &str, stem: &str, most: u32) -> Option<u32> {
    let width = name.strip_prefix(stem)?.parse().ok()?;
    (1..=most).contains(&width).then_some(width)
}

/// The dialect of that name among those that read bodies of pseudocode.
pub(crate) fn dialect(name: &str) -> Option<&'static dyn Dialect> {
    let known: [&'static dyn Dialect; 3] =
        [&crate::intel::Intel, &crate::asl::Asl, &crate::hvx::Hvx];
    known.into_iter().find(|d| d.name() == name)
}
