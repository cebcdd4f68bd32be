//! Operators: what a table row holds and how a term names one.
//!
//! In: nothing. Out: [`Op`] (a row of [`crate::table::OPERATORS`] with its numeric
//! parameters), [`OpInfo`] (the row itself). The rows are in [`crate::table`];
//! how terms are simplified is in [`crate::build`].

use crate::bits::Bits;
use crate::float::{Format, Rounding, library};
use crate::sort::Sort;
use crate::table::OPERATORS;
use crate::term::Term;
use crate::value::Value;
use std::fmt;

pub use crate::table::OpCode;

/// An operator with its numeric parameters (target widths, float formats, …).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Op {
    /// Which row of the operator table.
    pub code: OpCode,
    /// The row's parameters; those beyond [`OpInfo::params`] are 0.
    pub params: [u32; 3],
}

/// How an operator is written for an SMT solver.
#[derive(Clone, Copy)]
pub enum Smt {
    /// An SMT-LIB function symbol over the same arguments.
    Symbol(&'static str),
    /// An indexed SMT-LIB symbol, written out from parameters and argument sorts.
    Indexed(fn(&[u32], &[Sort]) -> String),
    /// Defined by simpler operators: the expansion of an application.
    Defined(fn(&[u32], &[Term]) -> Term),
    /// Not interpreted: the solver knows only that equal arguments give equal results.
    Uninterpreted,
}

/// One row of the operator table: everything that is known of one operator.
pub struct OpInfo {
    /// The row's identity.
    pub code: OpCode,
    /// The name in the text form.
    pub name: &'static str,
    /// Names of the numeric parameters.
    pub params: &'static [&'static str],
    /// Number of arguments; `None` for one or more.
    pub arity: Option<usize>,
    /// The type rule: parameters and argument sorts to the result sort, or what was expected.
    pub sort: fn(&[u32], &[Sort]) -> Result<Sort, String>,
    /// The concrete function. Total: called only on arguments that the type rule accepts.
    pub eval: fn(&[u32], &[Value]) -> Value,
    /// The solver's view.
    pub smt: Smt,
    /// Whether exchanging the two arguments never changes the result.
    pub commutative: bool,
    /// One line of documentation.
    pub doc: &'static str,
}

impl OpCode {
    /// The table row of this operator.
    pub fn info(self) -> &'static OpInfo {
        &OPERATORS[self as usize]
    }

    /// Whether it is a quotient or a remainder of bits.
    pub fn divides(self) -> bool {
        use OpCode as C;
        matches!(self, C::BvUdiv | C::BvUrem | C::BvSdiv | C::BvSrem)
    }

    /// What an operator on bits of that width, which joins any number of arguments, joins to none:
    /// nothing changes by joining it.
    pub fn neutral(self, width: u32) -> Option<Bits> {
        use OpCode as C;
        let zero = Bits::zero(width);
        let least = zero.clone().with_bit(width - 1, true);
        Some(match self {
            C::BvAdd | C::BvOr | C::BvXor | C::Umax => zero,
            C::BvAnd | C::Umin => zero.not(),
            C::BvMul => Bits::one(width),
            C::Smax => least,
            C::Smin => least.not(),
            _ => return None,
        })
    }
}

impl Op {
    /// An operator without parameters.
    pub const fn new(code: OpCode) -> Op {
        Op {
            code,
            params: [0; 3],
        }
    }

    /// An operator with one parameter.
    pub const fn with(code: OpCode, p: u32) -> Op {
        Op {
            code,
            params: [p, 0, 0],
        }
    }

    /// An operator with two parameters.
    pub const fn with2(code: OpCode, p: u32, q: u32) -> Op {
        Op {
            code,
            params: [p, q, 0],
        }
    }

    /// An operator with three parameters.
    pub const fn with3(code: OpCode, p: u32, q: u32, r: u32) -> Op {
        Op {
            code,
            params: [p, q, r],
        }
    }

    /// The table row.
    pub fn info(self) -> &'static OpInfo {
        self.code.info()
    }

    /// The parameters in use.
    pub fn params(&self) -> &[u32] {
        &self.params[..self.info().params.len()]
    }

    /// Looks an operator up by its name in the text form.
    pub fn by_name(name: &str) -> Option<OpCode> {
        OPERATORS
            .iter()
            .find(|row| row.name == name)
            .map(|row| row.code)
    }

    /// The result sort for the given argument sorts.
    ///
    /// # Errors
    /// A sentence that says what the operator expected.
    pub fn sort(&self, args: &[Sort]) -> Result<Sort, String> {
        let info = self.info();
        if let Some(n) = info.arity {
            if args.len() != n {
                return Err(format!(
                    "`{}` takes {n} arguments, not {}",
                    info.name,
                    args.len()
                ));
            }
        } else if args.is_empty() {
            return Err(format!("`{}` takes at least one argument", info.name));
        }
        (info.sort)(self.params(), args)
    }

    /// Whether the operator has a concrete function. The functions of libraries have none:
    /// a program that needs one is refused when it is compiled.
    pub fn is_evaluable(&self) -> bool {
        self.code != OpCode::FLibrary
    }

    /// Applies the concrete function.
    ///
    /// # Panics
    /// When the operator is not [evaluable](Op::is_evaluable).
    pub fn eval(&self, args: &[Value]) -> Value {
        (self.info().eval)(self.params(), args)
    }
}

/// A parameter as the text form writes it: formats and roundings by name.
pub(crate) fn write_parameter(name: &str, value: u32) -> String {
    let word = match name {
        "format" | "from" | "to" => Format::from_code(value).map(Format::name),
        "rounding" => Rounding::from_code(value).map(Rounding::name),
        "function" => library::by_number(value).map(|f| f.name),
        _ => None,
    };
    word.map_or_else(|| value.to_string(), str::to_owned)
}

/// Reads what [`write_parameter`] writes.
pub(crate) fn read_parameter(name: &str, text: &str) -> Option<u32> {
    match name {
        "format" | "from" | "to" => Format::ALL
            .iter()
            .find(|f| f.name() == text)
            .map(|f| f.code()),
        "rounding" => Rounding::ALL
            .iter()
            .find(|r| r.name() == text)
            .map(|r| r.code()),
        "function" => library::number(text),
        _ => text.parse().ok(),
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.info().name)?;
        if !self.params().is_empty() {
            let named = self.info().params.iter().zip(self.params());
            let list: Vec<String> = named.map(|(n, &p)| write_parameter(n, p)).collect();
            write!(f, "[{}]", list.join(","))?;
        }
        Ok(())
    }
}
