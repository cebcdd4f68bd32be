//! Expressions: a function written with the operators of rules.
//!
//! In: operators, variables, constants. Out: [`Expression`], its text, its term at a width, what it needs.

use crate::operator::{OPERATORS, Sort};
use semantics::bits::Bits;
use semantics::term::Term;
use std::collections::BTreeMap;
use std::fmt;

/// The names of variables.
pub const VARIABLES: [&str; 2] = ["x", "y"];

/// A number that every width has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Constant {
    /// No bit.
    Zero,
    /// The lowest bit.
    One,
    /// All bits.
    Ones,
    /// The highest bit: the least number with a sign.
    Least,
    /// All others: the greatest number with a sign.
    Most,
}

impl Constant {
    /// All of them.
    pub const ALL: [Constant; 5] = {
        use Constant as C;
        [C::Zero, C::One, C::Ones, C::Least, C::Most]
    };

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Constant::Zero => "0",
            Constant::One => "1",
            Constant::Ones => "ones",
            Constant::Least => "least",
            Constant::Most => "most",
        }
    }

    /// In elements of so many bits, 64 at most.
    pub fn value(self, width: u32) -> u64 {
        let ones = crate::operator::ones(width);
        match self {
            Constant::Zero => 0,
            Constant::One => 1,
            Constant::Ones => ones,
            Constant::Least => 1 << (width - 1),
            Constant::Most => ones >> 1,
        }
    }
}

/// A function of elements, written.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Expression {
    /// One of [`VARIABLES`].
    Variable(usize),
    /// A number.
    Constant(Constant),
    /// An operator, by its number, on its operands.
    Apply(usize, Vec<Expression>),
}

impl Expression {
    /// What it gives.
    pub fn gives(&self) -> Sort {
        match self {
            Expression::Apply(operator, _) => OPERATORS[*operator].gives,
            _ => Sort::Element,
        }
    }

    /// The number of its operators.
    pub fn size(&self) -> usize {
        self.needs().values().sum()
    }

    /// How often it needs each operator; what it computes twice counts once.
    pub fn needs(&self) -> BTreeMap<usize, usize> {
        let mut parts = Vec::new();
        self.collect(&mut parts);
        parts.sort();
        parts.dedup();
        let mut needs = BTreeMap::new();
        for part in parts {
            if let Expression::Apply(operator, _) = part {
                *needs.entry(*operator).or_insert(0) += 1;
            }
        }
        needs
    }

    fn collect<'a>(&'a self, parts: &mut Vec<&'a Expression>) {
        parts.push(self);
        if let Expression::Apply(_, of) = self {
            of.iter().for_each(|part| part.collect(parts));
        }
    }

    /// Whether it has a constant in it.
    pub fn has_constants(&self) -> bool {
        match self {
            Expression::Variable(_) => false,
            Expression::Constant(_) => true,
            Expression::Apply(_, of) => of.iter().any(Expression::has_constants),
        }
    }

    /// How many variables it is a function of: those up to the last that it reads.
    pub fn variables(&self) -> usize {
        match self {
            Expression::Variable(k) => k + 1,
            Expression::Constant(_) => 0,
            Expression::Apply(_, of) => of.iter().map(Expression::variables).max().unwrap_or(0),
        }
    }

    /// What it is of elements of so many bits.
    pub fn value(&self, width: u32, variables: &[u64]) -> u64 {
        match self {
            Expression::Variable(k) => variables[*k],
            Expression::Constant(constant) => constant.value(width),
            Expression::Apply(operator, of) => {
                let of: Vec<u64> = of.iter().map(|part| part.value(width, variables)).collect();
                (OPERATORS[*operator].value)(width, &of)
            }
        }
    }

    /// The term over these elements, which are of one width.
    pub fn term(&self, variables: &[Term]) -> Term {
        match self {
            Expression::Variable(k) => variables[*k],
            Expression::Constant(constant) => {
                let w = variables[0].width();
                let low = |value| Bits::from_u64(w, value);
                Term::bits(match constant {
                    Constant::Zero => Bits::zero(w),
                    Constant::One => low(1),
                    Constant::Ones => Bits::ones(w),
                    Constant::Least => low(1).shl_u32(w - 1),
                    Constant::Most => low(1).shl_u32(w - 1).not(),
                })
            }
            Expression::Apply(operator, of) => {
                let of: Vec<Term> = of.iter().map(|part| part.term(variables)).collect();
                (OPERATORS[*operator].term)(&of)
            }
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expression::Variable(k) => f.write_str(VARIABLES[*k]),
            Expression::Constant(constant) => f.write_str(constant.name()),
            Expression::Apply(operator, of) => {
                write!(f, "{}(", OPERATORS[*operator].name)?;
                for (k, part) in of.iter().enumerate() {
                    write!(f, "{}{part}", if k == 0 { "" } else { ", " })?;
                }
                f.write_str(")")
            }
        }
    }
}
