//! Index expressions: what loop bounds, dimensions and subscripts are made of.
//!
//! In: nothing. Out: [`Index`], a mathematical integer expression over sizes and loop
//! variables, its evaluation, and its [`Linear`] form. Indices never depend on data. They
//! are not machine integers: an overflow of 64 bits is an error, not a wrap.

use std::collections::BTreeMap;
use std::fmt;

/// A size or a loop variable: an entry of the kernel's symbol table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Symbol(pub u32);

/// An index expression. Division and remainder are Euclidean; by zero they are 0.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Index {
    /// A constant.
    Const(i64),
    /// A size or a loop variable.
    Sym(Symbol),
    /// A sum.
    Add(Box<Index>, Box<Index>),
    /// A product.
    Mul(Box<Index>, Box<Index>),
    /// A Euclidean quotient.
    Div(Box<Index>, Box<Index>),
    /// A Euclidean remainder.
    Mod(Box<Index>, Box<Index>),
    /// The smaller.
    Min(Box<Index>, Box<Index>),
    /// The larger.
    Max(Box<Index>, Box<Index>),
}

/// The most parts of an index that is read: names in it stand for whole indices, so that a
/// short text may mean a very long one.
pub const MAX_PARTS: usize = 2000;

/// A sum of symbols with coefficients, and a constant.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Linear {
    /// Coefficients that are not zero.
    pub terms: BTreeMap<Symbol, i64>,
    /// The constant.
    pub constant: i64,
}

impl Linear {
    /// The constant alone.
    pub fn constant(value: i64) -> Linear {
        Linear {
            terms: BTreeMap::new(),
            constant: value,
        }
    }

    /// The coefficient of a symbol.
    pub fn coefficient(&self, symbol: Symbol) -> i64 {
        self.terms.get(&symbol).copied().unwrap_or(0)
    }

    /// The sum; `None` past 64 bits.
    pub fn plus(&self, other: &Linear) -> Option<Linear> {
        let mut out = self.clone();
        out.constant = out.constant.checked_add(other.constant)?;
        for (&s, &c) in &other.terms {
            let sum = out.coefficient(s).checked_add(c)?;
            if sum == 0 {
                out.terms.remove(&s);
            } else {
                out.terms.insert(s, sum);
            }
        }
        Some(out)
    }

    /// The product with a constant; `None` past 64 bits.
    pub fn times(&self, factor: i64) -> Option<Linear> {
        let mut out = Linear::constant(self.constant.checked_mul(factor)?);
        for (&s, &c) in &self.terms {
            let product = c.checked_mul(factor)?;
            if product != 0 {
                out.terms.insert(s, product);
            }
        }
        Some(out)
    }

    /// The expression of this form.
    pub fn to_index(&self) -> Index {
        let mut sum = None;
        for (&s, &c) in &self.terms {
            let term = Index::Sym(s).times(c);
            sum = Some(match sum {
                None => term,
                Some(before) => Index::Add(Box::new(before), Box::new(term)),
            });
        }
        match sum {
            None => Index::Const(self.constant),
            Some(sum) if self.constant == 0 => sum,
            Some(sum) => Index::Add(Box::new(sum), Box::new(Index::Const(self.constant))),
        }
    }
}

impl Index {
    /// The sum, in linear form where both parts have one.
    pub fn plus(&self, other: &Index) -> Index {
        let raw = Index::Add(Box::new(self.clone()), Box::new(other.clone()));
        raw.simplified()
    }

    /// The sum with a constant.
    pub fn offset(&self, by: i64) -> Index {
        self.plus(&Index::Const(by))
    }

    /// The difference.
    pub fn minus(&self, other: &Index) -> Index {
        self.plus(&other.times(-1))
    }

    /// The product with a constant.
    pub fn times(&self, factor: i64) -> Index {
        match factor {
            1 => self.clone(),
            _ => Index::Mul(Box::new(self.clone()), Box::new(Index::Const(factor))),
        }
    }

    /// The lesser of two, not simplified.
    pub fn smaller(a: Index, b: Index) -> Index {
        Index::Min(Box::new(a), Box::new(b))
    }

    /// The greater of two, not simplified.
    pub fn larger(a: Index, b: Index) -> Index {
        Index::Max(Box::new(a), Box::new(b))
    }

    /// The least multiple of `by` that is not less.
    pub fn rounded_up(&self, by: i64) -> Index {
        let quotient = Index::Div(Box::new(self.offset(by - 1)), Box::new(Index::Const(by)));
        quotient.simplified().times(by)
    }

    /// The same value, in linear form when it has one.
    pub fn simplified(self) -> Index {
        self.linear().map_or(self, |l| l.to_index())
    }

    /// The linear form, when the expression has one.
    pub fn linear(&self) -> Option<Linear> {
        match self {
            Index::Const(c) => Some(Linear::constant(*c)),
            Index::Sym(s) => Some(Linear {
                terms: BTreeMap::from([(*s, 1)]),
                constant: 0,
            }),
            Index::Add(a, b) => a.linear()?.plus(&b.linear()?),
            Index::Mul(a, b) => {
                let (a, b) = (a.linear()?, b.linear()?);
                if b.terms.is_empty() {
                    a.times(b.constant)
                } else if a.terms.is_empty() {
                    b.times(a.constant)
                } else {
                    None
                }
            }
            Index::Div(..) | Index::Mod(..) | Index::Min(..) | Index::Max(..) => {
                self.constant_value().map(Linear::constant)
            }
        }
    }

    /// The value when no symbol occurs.
    pub fn constant_value(&self) -> Option<i64> {
        let mut free = false;
        self.for_each_symbol(&mut |_| free = true);
        if free { None } else { self.eval(&|_| 0).ok() }
    }

    /// The same operation on other parts: `f` of each of its own.
    pub fn map_parts(&self, mut f: impl FnMut(&Index) -> Index) -> Index {
        let mut both = |a: &Index, b: &Index| (Box::new(f(a)), Box::new(f(b)));
        let (make, (a, b)): (fn(_, _) -> Index, _) = match self {
            Index::Const(_) | Index::Sym(_) => return self.clone(),
            Index::Add(a, b) => (Index::Add, both(a, b)),
            Index::Mul(a, b) => (Index::Mul, both(a, b)),
            Index::Div(a, b) => (Index::Div, both(a, b)),
            Index::Mod(a, b) => (Index::Mod, both(a, b)),
            Index::Min(a, b) => (Index::Min, both(a, b)),
            Index::Max(a, b) => (Index::Max, both(a, b)),
        };
        make(a, b)
    }

    /// Calls `f` for each occurrence of a symbol.
    pub fn for_each_symbol(&self, f: &mut impl FnMut(Symbol)) {
        match self {
            Index::Const(_) => {}
            Index::Sym(s) => f(*s),
            Index::Add(a, b)
            | Index::Mul(a, b)
            | Index::Div(a, b)
            | Index::Mod(a, b)
            | Index::Min(a, b)
            | Index::Max(a, b) => {
                a.for_each_symbol(f);
                b.for_each_symbol(f);
            }
        }
    }

    /// Whether it is made of at most so many parts; it looks at no more than that.
    pub fn is_within(&self, most: usize) -> bool {
        let (mut work, mut seen) = (vec![self], 0);
        while let Some(index) = work.pop() {
            seen += 1;
            match index {
                _ if seen > most => return false,
                Index::Const(_) | Index::Sym(_) => {}
                Index::Add(a, b)
                | Index::Mul(a, b)
                | Index::Div(a, b)
                | Index::Mod(a, b)
                | Index::Min(a, b)
                | Index::Max(a, b) => work.extend([&**a, &**b]),
            }
        }
        true
    }

    /// Whether the symbol occurs.
    pub fn mentions(&self, symbol: Symbol) -> bool {
        let mut found = false;
        self.for_each_symbol(&mut |s| found |= s == symbol);
        found
    }

    /// The expression with a symbol replaced.
    pub fn substitute(&self, symbol: Symbol, by: &Index) -> Index {
        match self {
            Index::Sym(s) if *s == symbol => by.clone(),
            other => other.map_parts(|part| part.substitute(symbol, by)),
        }
        .simplified()
    }

    /// The value under an assignment of the symbols.
    ///
    /// # Errors
    /// [`IndexOverflow`] when a step does not fit 64 bits.
    pub fn eval(&self, value: &impl Fn(Symbol) -> i64) -> Result<i64, IndexOverflow> {
        let both = |a: &Index, b: &Index| Ok((a.eval(value)?, b.eval(value)?));
        let checked = |x: Option<i64>| x.ok_or(IndexOverflow);
        match self {
            Index::Const(c) => Ok(*c),
            Index::Sym(s) => Ok(value(*s)),
            Index::Add(a, b) => both(a, b).and_then(|(a, b)| checked(a.checked_add(b))),
            Index::Mul(a, b) => both(a, b).and_then(|(a, b)| checked(a.checked_mul(b))),
            Index::Div(a, b) => match both(a, b)? {
                (_, 0) => Ok(0),
                (a, b) => checked(a.checked_div_euclid(b)),
            },
            Index::Mod(a, b) => match both(a, b)? {
                (_, 0) => Ok(0),
                (a, b) => checked(a.checked_rem_euclid(b)),
            },
            Index::Min(a, b) => both(a, b).map(|(a, b)| a.min(b)),
            Index::Max(a, b) => both(a, b).map(|(a, b)| a.max(b)),
        }
    }

    /// The expression as text, with the given names.
    pub fn display<'a>(&'a self, name: &'a dyn Fn(Symbol) -> String) -> IndexText<'a> {
        IndexText { index: self, name }
    }
}

/// An index does not fit 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IndexOverflow;

/// An index expression with names for its symbols; prints as it would be written.
pub struct IndexText<'a> {
    index: &'a Index,
    name: &'a dyn Fn(Symbol) -> String,
}

impl fmt::Display for IndexText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sub = |index| IndexText {
            index,
            name: self.name,
        };
        match self.index {
            Index::Const(c) => write!(f, "{c}"),
            Index::Sym(s) => f.write_str(&(self.name)(*s)),
            Index::Add(..) => self.sum(f),
            Index::Mul(a, b) => write!(f, "{}*{}", Atom(sub(a)), Atom(sub(b))),
            Index::Div(a, b) => write!(f, "{}/{}", Atom(sub(a)), Atom(sub(b))),
            Index::Mod(a, b) => write!(f, "{}%{}", Atom(sub(a)), Atom(sub(b))),
            Index::Min(a, b) => write!(f, "min({}, {})", sub(a), sub(b)),
            Index::Max(a, b) => write!(f, "max({}, {})", sub(a), sub(b)),
        }
    }
}

impl IndexText<'_> {
    /// A sum: a part that is not taken away comes first, where there is one.
    fn sum(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        let mut rest = self.index;
        while let Index::Add(a, b) = rest {
            parts.push(&**b);
            rest = a;
        }
        parts.push(rest);
        parts.reverse();
        let taken = |i: &Index| match i {
            Index::Const(c) => *c < 0,
            Index::Mul(_, c) => matches!(**c, Index::Const(c) if c < 0),
            _ => false,
        };
        if let Some(first) = parts.iter().position(|p| !taken(p)) {
            parts[..=first].rotate_right(1);
        }
        let sub = |index| IndexText {
            index,
            name: self.name,
        };
        write!(f, "{}", sub(parts[0]))?;
        for part in &parts[1..] {
            match part {
                Index::Const(c) if *c < 0 => write!(f, " - {}", c.unsigned_abs())?,
                Index::Mul(x, c) => match **c {
                    Index::Const(-1) => write!(f, " - {}", Atom(sub(x)))?,
                    Index::Const(c) if c < 0 => {
                        write!(f, " - {}*{}", Atom(sub(x)), c.unsigned_abs())?;
                    }
                    _ => write!(f, " + {}", sub(part))?,
                },
                _ => write!(f, " + {}", sub(part))?,
            }
        }
        Ok(())
    }
}

struct Atom<'a>(IndexText<'a>);

impl fmt::Display for Atom<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.index {
            Index::Add(..) | Index::Mul(..) | Index::Div(..) | Index::Mod(..) => {
                write!(f, "({})", self.0)
            }
            _ => self.0.fmt(f),
        }
    }
}
