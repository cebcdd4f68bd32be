//! Functions of mathematical libraries, by number.
//!
//! In: a number or a name. Out: the [`Function`]. What such a function returns is not fixed by
//! any standard (libraries round differently), so it has no value here: a term that uses one
//! is not evaluated, and solvers know only that equal arguments give equal results.

/// A function of a library: its name and how many floats it takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Function {
    /// Its name in the text form.
    pub name: &'static str,
    /// How many arguments it takes.
    pub arity: usize,
}

const fn function(name: &'static str, arity: usize) -> Function {
    Function { name, arity }
}

/// The functions; a function's number is its place here.
pub const FUNCTIONS: [Function; 29] = [
    function("acos", 1),
    function("acosh", 1),
    function("asin", 1),
    function("asinh", 1),
    function("atan", 1),
    function("atan2", 2),
    function("atanh", 1),
    function("cbrt", 1),
    function("cdf_normal", 1),
    function("cos", 1),
    function("cos_degrees", 1),
    function("cosh", 1),
    function("erf", 1),
    function("inverse_cbrt", 1),
    function("inverse_cdf_normal", 1),
    function("inverse_erf", 1),
    function("inverse_erfc", 1),
    function("inverse_sqrt", 1),
    function("log", 1),
    function("log10", 1),
    function("log2", 1),
    function("pow", 2),
    function("sin", 1),
    function("sin_degrees", 1),
    function("sinh", 1),
    function("tan", 1),
    function("tan_degrees", 1),
    function("tanh", 1),
    function("exp", 1),
];

/// The function of that number.
pub fn by_number(number: u32) -> Option<Function> {
    FUNCTIONS.get(number as usize).copied()
}

/// The number of the function of that name.
pub fn number(name: &str) -> Option<u32> {
    let place = FUNCTIONS.iter().position(|f| f.name == name)?;
    u32::try_from(place).ok()
}
