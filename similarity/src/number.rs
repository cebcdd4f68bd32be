//! Numbers of a class: expressions over its parameters.
//!
//! In: parameter values. Out: [`Number`], which stands in a skeleton wherever the members of
//! a class have a width, a count, an offset, a stride, a constant or a mode. It is arithmetic
//! on 64-bit integers that wraps, and nothing else: which numbers depend on which is found in
//! [`crate::relate`].

use semantics::diagnostic::Diagnostic;
use semantics::float::Format;
use semantics::sexpr::Sexpr;
use semantics::span::Source;
use std::fmt;

/// An expression over the parameters `p0`, `p1`, … of a class.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Number {
    /// The same in every member.
    Constant(i64),
    /// The parameter of that number.
    Parameter(usize),
    /// A sum.
    Sum(Box<Number>, Box<Number>),
    /// A product.
    Product(Box<Number>, Box<Number>),
    /// A quotient rounded towards zero; by zero it is 0.
    Quotient(Box<Number>, Box<Number>),
    /// The larger of two.
    Maximum(Box<Number>, Box<Number>),
    /// Two to the power; 0 where the result does not fit 63 bits.
    Power(Box<Number>),
    /// Bits of a number in the floating-point format of that code; 0 where there is none.
    FormatWidth(Box<Number>),
}

impl Number {
    /// The value for these parameter values; a parameter that is not given is 0.
    pub fn value(&self, parameters: &[i64]) -> i64 {
        let both = |a: &Number, b: &Number| (a.value(parameters), b.value(parameters));
        match self {
            Number::Constant(c) => *c,
            Number::Parameter(p) => parameters.get(*p).copied().unwrap_or(0),
            Number::Sum(a, b) => {
                let (a, b) = both(a, b);
                a.wrapping_add(b)
            }
            Number::Product(a, b) => {
                let (a, b) = both(a, b);
                a.wrapping_mul(b)
            }
            Number::Quotient(a, b) => {
                let (a, b) = both(a, b);
                if b == 0 { 0 } else { a.wrapping_div(b) }
            }
            Number::Maximum(a, b) => {
                let (a, b) = both(a, b);
                a.max(b)
            }
            Number::Power(a) => {
                let exponent = u32::try_from(a.value(parameters)).unwrap_or(64);
                if exponent < 63 { 1 << exponent } else { 0 }
            }
            Number::FormatWidth(a) => {
                let code = u32::try_from(a.value(parameters)).ok();
                let format = code.and_then(Format::from_code);
                format.map_or(0, |f| i64::from(f.width()))
            }
        }
    }

    /// Whether every parameter in it satisfies a condition.
    pub fn all_parameters(&self, f: &dyn Fn(usize) -> bool) -> bool {
        match self {
            Number::Constant(_) => true,
            Number::Parameter(p) => f(*p),
            Number::Power(a) | Number::FormatWidth(a) => a.all_parameters(f),
            Number::Sum(a, b)
            | Number::Product(a, b)
            | Number::Quotient(a, b)
            | Number::Maximum(a, b) => a.all_parameters(f) && b.all_parameters(f),
        }
    }

    /// The sum, simplified.
    #[must_use]
    pub fn plus(self, other: Number) -> Number {
        match (self, other) {
            (Number::Constant(a), Number::Constant(b)) => Number::Constant(a.wrapping_add(b)),
            (Number::Constant(0), x) | (x, Number::Constant(0)) => x,
            (a, b) => Number::Sum(Box::new(a), Box::new(b)),
        }
    }

    /// The product, simplified.
    #[must_use]
    pub fn times(self, other: Number) -> Number {
        match (self, other) {
            (Number::Constant(a), Number::Constant(b)) => Number::Constant(a.wrapping_mul(b)),
            (Number::Constant(0), _) | (_, Number::Constant(0)) => Number::Constant(0),
            (Number::Constant(1), x) | (x, Number::Constant(1)) => x,
            (a, b) => Number::Product(Box::new(a), Box::new(b)),
        }
    }

    /// The quotient, simplified.
    #[must_use]
    pub fn over(self, other: Number) -> Number {
        match (self, other) {
            (x, Number::Constant(1)) => x,
            (a, b) => Number::Quotient(Box::new(a), Box::new(b)),
        }
    }

    /// The same expression with every parameter replaced.
    #[must_use]
    pub fn substitute(&self, by: &dyn Fn(usize) -> Number) -> Number {
        match self {
            Number::Constant(c) => Number::Constant(*c),
            Number::Parameter(p) => by(*p),
            Number::Sum(a, b) => a.substitute(by).plus(b.substitute(by)),
            Number::Product(a, b) => a.substitute(by).times(b.substitute(by)),
            Number::Quotient(a, b) => a.substitute(by).over(b.substitute(by)),
            Number::Maximum(a, b) => {
                Number::Maximum(Box::new(a.substitute(by)), Box::new(b.substitute(by)))
            }
            Number::Power(a) => Number::Power(Box::new(a.substitute(by))),
            Number::FormatWidth(a) => Number::FormatWidth(Box::new(a.substitute(by))),
        }
    }

    /// The expression as people write it, with these names for the parameters.
    pub fn infix(&self, names: &[String]) -> String {
        let name = |p: usize| names.get(p).cloned().unwrap_or_else(|| format!("p{p}"));
        let inner = |n: &Number| match n {
            Number::Sum(..) => format!("({})", n.infix(names)),
            _ => n.infix(names),
        };
        match self {
            Number::Constant(c) => c.to_string(),
            Number::Parameter(p) => name(*p),
            Number::Sum(a, b) => match (&**a, &**b) {
                (_, Number::Constant(c)) if *c < 0 => {
                    format!("{} - {}", a.infix(names), c.unsigned_abs())
                }
                (_, Number::Product(x, k)) if matches!(**k, Number::Constant(c) if c < 0) => {
                    format!("{} - {}", a.infix(names), negated(x, k).infix(names))
                }
                (Number::Product(x, k), _) if matches!(**k, Number::Constant(c) if c < 0) => {
                    format!("{} - {}", b.infix(names), negated(x, k).infix(names))
                }
                _ => format!("{} + {}", a.infix(names), b.infix(names)),
            },
            Number::Product(a, b) => format!("{}*{}", inner(a), inner(b)),
            Number::Quotient(a, b) => match **b {
                Number::Product(..) => format!("{}/({})", inner(a), b.infix(names)),
                _ => format!("{}/{}", inner(a), inner(b)),
            },
            Number::Maximum(a, b) => format!("max({}, {})", a.infix(names), b.infix(names)),
            Number::Power(a) => format!("2^{}", inner(a)),
            Number::FormatWidth(a) => format!("bits({})", a.infix(names)),
        }
    }

    /// Reads what [`Display`](fmt::Display) writes.
    ///
    /// # Errors
    /// A diagnostic that points at what is no number.
    pub fn read(source: &Source, e: &Sexpr) -> Result<Number, Diagnostic> {
        if let Some(word) = e.atom() {
            let parameter = word.strip_prefix('p').and_then(|n| n.parse().ok());
            if let Some(p) = parameter {
                return Ok(Number::Parameter(p));
            }
            if let Ok(c) = word.parse() {
                return Ok(Number::Constant(c));
            }
        }
        let two = |keyword: &str| match e.form(keyword) {
            Some([a, b]) => Some((a, b)),
            _ => None,
        };
        let read = |e: &Sexpr| Number::read(source, e).map(Box::new);
        if let Some((a, b)) = two("+") {
            return Ok(Number::Sum(read(a)?, read(b)?));
        }
        if let Some((a, b)) = two("*") {
            return Ok(Number::Product(read(a)?, read(b)?));
        }
        if let Some((a, b)) = two("/") {
            return Ok(Number::Quotient(read(a)?, read(b)?));
        }
        if let Some((a, b)) = two("max") {
            return Ok(Number::Maximum(read(a)?, read(b)?));
        }
        if let Some([a]) = e.form("pow2") {
            return Ok(Number::Power(read(a)?));
        }
        if let Some([a]) = e.form("format-width") {
            return Ok(Number::FormatWidth(read(a)?));
        }
        Err(Diagnostic::error("this is no number of a class")
            .at(source, e.span)
            .hint("a number is `12`, `p0`, `(+ a b)`, `(* a b)`, `(/ a b)`, `(max a b)`, `(pow2 a)` or `(format-width a)`"))
    }
}

/// A product with a negative constant, without its sign.
fn negated(x: &Number, k: &Number) -> Number {
    let positive = k.clone().times(Number::Constant(-1));
    x.clone().times(positive)
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Constant(c) => write!(f, "{c}"),
            Number::Parameter(p) => write!(f, "p{p}"),
            Number::Sum(a, b) => write!(f, "(+ {a} {b})"),
            Number::Product(a, b) => write!(f, "(* {a} {b})"),
            Number::Quotient(a, b) => write!(f, "(/ {a} {b})"),
            Number::Maximum(a, b) => write!(f, "(max {a} {b})"),
            Number::Power(a) => write!(f, "(pow2 {a})"),
            Number::FormatWidth(a) => write!(f, "(format-width {a})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Number;
    use semantics::sexpr;
    use semantics::span::{Source, Span};

    #[test]
    fn what_is_written_reads_back() {
        let text = "(+ (* p0 3) (/ (pow2 p1) -2))";
        let source = Source::new("n", text);
        let found = sexpr::read(&source, Span::new(0, text.len())).expect("it is well formed");
        let number = Number::read(&source, &found[0]).expect("it is a number");
        assert_eq!(number.to_string(), text);
        assert_eq!(number.value(&[5, 4]), 7);
        assert_eq!(number.infix(&[]), "p0*3 + 2^p1/-2");
    }

    #[test]
    fn widths_of_formats_and_differences() {
        let half = Number::FormatWidth(Box::new(Number::Parameter(0)));
        let rest = half.times(Number::Constant(-1)).plus(Number::Constant(128));
        assert_eq!(rest.to_string(), "(+ (* (format-width p0) -1) 128)");
        assert_eq!(rest.infix(&["format".to_owned()]), "128 - bits(format)");
        let values = [0, 1, 2, 3, 4, -1].map(|f| rest.value(&[f]));
        assert_eq!(values, [112, 112, 96, 64, 128, 128]);
    }

    #[test]
    fn division_by_zero_and_large_powers_are_zero() {
        let zero = || Box::new(Number::Constant(0));
        assert_eq!(Number::Quotient(zero(), zero()).value(&[]), 0);
        assert_eq!(Number::Power(Box::new(Number::Constant(63))).value(&[]), 0);
    }
}
