//! Functions of mathematical libraries.
//!
//! In: a name and arguments of which one at least is a float. Out: an application of the
//! uninterpreted function of that name. No value is ever computed: libraries differ in their
//! last bits, and the vendor does not say which ones are meant.

use crate::pseudocode::lower::float::{self, Context, bits_in};
use crate::pseudocode::lower::value::{Computed, Value};
use semantics::build as b;
use semantics::float::library;
use semantics::op::{Op, OpCode};
use semantics::term::Term;

/// Names of the functions with the names of their operators.
const FUNCTIONS: [(&str, &str); 28] = [
    ("ACOS", "acos"),
    ("ACOSH", "acosh"),
    ("ASIN", "asin"),
    ("ASINH", "asinh"),
    ("ATAN", "atan"),
    ("ATAN2", "atan2"),
    ("ATANH", "atanh"),
    ("CubeRoot", "cbrt"),
    ("CDFNormal", "cdf_normal"),
    ("COS", "cos"),
    ("COSD", "cos_degrees"),
    ("COSH", "cosh"),
    ("ERF", "erf"),
    ("InvCubeRoot", "inverse_cbrt"),
    ("InverseCDFNormal", "inverse_cdf_normal"),
    ("InverseERF", "inverse_erf"),
    ("InverseERFC", "inverse_erfc"),
    ("InvSQRT", "inverse_sqrt"),
    ("LOG", "log"),
    ("LOG10", "log10"),
    ("LOG2", "log2"),
    ("POW", "pow"),
    ("SIN", "sin"),
    ("SIND", "sin_degrees"),
    ("SINH", "sinh"),
    ("TAN", "tan"),
    ("TAND", "tan_degrees"),
    ("TANH", "tanh"),
];

/// Names of the functions, for suggestions.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.into_iter().map(|(name, _)| name)
}

/// Whether the name `e` is Euler's number as an argument of this function.
pub(crate) fn takes_euler(name: &str) -> bool {
    matches!(name, "POW" | "FP16" | "FP32" | "FP64")
}

/// The value of a call; none when there is no such function on these arguments.
pub(crate) fn call(context: &Context, name: &str, args: &[Value]) -> Option<Computed<Value>> {
    let (_, operator) = FUNCTIONS.iter().find(|(n, _)| *n == name)?;
    let number = library::number(operator)?;
    if library::by_number(number)?.arity != args.len() {
        return None;
    }
    let format = args.iter().find_map(float::format_of)?;
    let terms: Computed<Vec<Term>> = args.iter().map(|v| bits_in(context, v, format)).collect();
    Some(terms.map(|terms| {
        let op = Op::with2(OpCode::FLibrary, format.code(), number);
        float::float(b::app(op, &terms), format)
    }))
}
