//! Terms of SMT-LIB.
//!
//! In: names, constants, symbols with arguments, or all that as text. Out: [`Expression`]s, each with its sort. What has no
//! sort is refused when it is made, so that no solver is ever told nonsense. Sorts are those of
//! `semantics`, of which indices are none of SMT-LIB's bit vectors.

use crate::{reading, symbols};
use rsmt2::SmtRes;
use rsmt2::print::{Expr2Smt, Sort2Smt};
use semantics::bits::Bits;
use semantics::sort::Sort;
use std::fmt;
use std::io::Write;
use std::sync::Arc;

/// A term of SMT-LIB.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Expression {
    sort: Sort,
    node: Arc<Shared>,
}

#[derive(PartialEq, Eq, Hash, Debug)]
enum Shared {
    Name(String),
    Bits(Bits),
    Truth(bool),
    Applied(String, Vec<Expression>),
}

impl Expression {
    fn new(sort: Sort, node: Shared) -> Expression {
        let node = Arc::new(node);
        Expression { sort, node }
    }

    /// What a name stands for.
    pub fn name(name: &str, sort: Sort) -> Expression {
        Expression::new(sort, Shared::Name(name.to_owned()))
    }

    /// A bit vector.
    pub fn bits(bits: &Bits) -> Expression {
        Expression::new(Sort::Bv(bits.width()), Shared::Bits(bits.clone()))
    }

    /// A truth value.
    pub fn truth(truth: bool) -> Expression {
        Expression::new(Sort::Bool, Shared::Truth(truth))
    }

    /// A symbol of SMT-LIB's theories, with its indices, applied: `bvadd`, `(_ extract 7 0)`.
    ///
    /// # Errors
    /// A sentence, when there is no such symbol or not for arguments of these sorts.
    pub fn apply(symbol: &str, arguments: Vec<Expression>) -> Result<Expression, String> {
        let sorts: Vec<Sort> = arguments.iter().map(Expression::sort).collect();
        let Some(sort) = symbols::result(symbol, &sorts) else {
            let sorts: Vec<String> = sorts.iter().map(Sort::to_string).collect();
            return Err(format!("`{symbol}` of {} has no sort", sorts.join(", ")));
        };
        Ok(Expression::applied(symbol, arguments, sort))
    }

    /// An application whose sort is known.
    pub(crate) fn applied(symbol: &str, arguments: Vec<Expression>, sort: Sort) -> Expression {
        Expression::new(sort, Shared::Applied(symbol.to_owned(), arguments))
    }

    /// The term that a text is, over names of which the sorts are known.
    ///
    /// # Errors
    /// A sentence that says what of it has no sort.
    pub fn read(text: &str, names: &[(String, Sort)]) -> Result<Expression, String> {
        reading::read(text, names)
    }

    /// Bits of a bit vector: `width` of them from bit `lo` up.
    ///
    /// # Errors
    /// When the vector has not as many.
    pub fn extract(self, lo: u32, width: u32) -> Result<Expression, String> {
        let hi = (lo + width).wrapping_sub(1);
        Expression::apply(&format!("(_ extract {hi} {lo})"), vec![self])
    }

    /// Bit vectors side by side, the first most significant.
    ///
    /// # Errors
    /// When there is none, or one of them is no bit vector.
    pub fn joined(parts: impl IntoIterator<Item = Expression>) -> Result<Expression, String> {
        let mut parts = parts.into_iter();
        let first = parts.next().ok_or("nothing side by side has no sort")?;
        parts.try_fold(first, |hi, lo| Expression::apply("concat", vec![hi, lo]))
    }

    /// Its sort.
    pub fn sort(&self) -> Sort {
        self.sort
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.node {
            Shared::Name(name) => f.write_str(name),
            Shared::Truth(truth) => write!(f, "{truth}"),
            Shared::Bits(bits) => {
                f.write_str("#b")?;
                let digits = (0..bits.width()).rev().map(|k| u8::from(bits.bit(k)));
                digits
                    .into_iter()
                    .try_for_each(|digit| write!(f, "{digit}"))
            }
            Shared::Applied(symbol, arguments) => {
                write!(f, "({symbol}")?;
                arguments.iter().try_for_each(|a| write!(f, " {a}"))?;
                f.write_str(")")
            }
        }
    }
}

impl Expr2Smt<()> for Expression {
    fn expr_to_smt2<W: Write>(&self, w: &mut W, (): ()) -> SmtRes<()> {
        Ok(write!(w, "{self}")?)
    }
}

/// A sort as SMT-LIB writes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Written(pub Sort);

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Sort::Bool => f.write_str("Bool"),
            Sort::Int => f.write_str("Int"),
            Sort::Bv(w) => write!(f, "(_ BitVec {w})"),
            Sort::Mem => f.write_str("(Array (_ BitVec 64) (_ BitVec 8))"),
        }
    }
}

impl Sort2Smt for Written {
    fn sort_to_smt2<W: Write>(&self, w: &mut W) -> SmtRes<()> {
        Ok(write!(w, "{self}")?)
    }
}
