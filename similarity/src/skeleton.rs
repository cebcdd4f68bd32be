//! Skeletons: canonical terms with their numbers taken out.
//!
//! In: nodes whose numbers are expressions over class parameters. Out: [`Skeleton`], which
//! [`Skeleton::specialise`] turns into a member's meaning over the variables `x0`, `x1`, ….
//! The operators are fixed except for modes of one [`Family`]. How a skeleton is found is in
//! [`crate::canon`] and [`crate::relate`]; its text form is in [`text`].

pub mod text;

use crate::mode::Family;
use crate::number::Number;
use semantics::bits::Bits;
use semantics::build;
use semantics::op::{Op, OpCode};
use semantics::sort::Sort;
use semantics::term::{SortError, Term};

/// The operator of an application.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Operator {
    /// Always this one.
    Fixed(OpCode),
    /// One of a family: the number says which.
    Mode(Family, Number),
}

/// The sort of an argument or a bound variable.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Shape {
    /// A bit vector of that width.
    Bits(Number),
    /// Another sort.
    Other(Sort),
}

/// A node of a skeleton; children are positions of earlier nodes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum SkeletonNode {
    /// The class argument of that number.
    Argument(usize, Shape),
    /// A bit-vector constant: width and value, sign extended.
    Constant(Number, Number),
    /// A bit-vector constant that is the same in every member.
    Fixed(Bits),
    /// A truth value.
    Truth(bool),
    /// An index constant.
    Index(Number),
    /// A bound variable by its de Bruijn index.
    Bound(u32, Shape),
    /// An operator with its numeric parameters and arguments.
    Apply(Operator, Vec<Number>, Vec<usize>),
    /// A lane map.
    Map(Number, usize),
    /// A fold: iterations, start, body.
    Fold(Number, usize, usize),
}

/// A canonical term with its numbers taken out.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Skeleton {
    /// The nodes, children first; the last is the whole.
    pub nodes: Vec<SkeletonNode>,
    /// How many parameters the numbers are over.
    pub parameters: usize,
}

/// Why a skeleton has no meaning at some numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpecialiseError(pub String);

impl std::fmt::Display for SpecialiseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the class has no meaning at these numbers: {}", self.0)
    }
}

impl std::error::Error for SpecialiseError {}

impl From<SortError> for SpecialiseError {
    fn from(e: SortError) -> SpecialiseError {
        SpecialiseError(e.to_string())
    }
}

/// The variable that stands for a class argument.
pub fn argument_name(index: usize) -> String {
    format!("x{index}")
}

fn width(value: i64, what: &str) -> Result<u32, SpecialiseError> {
    u32::try_from(value)
        .ok()
        .filter(|w| (1..=semantics::table::MAX_WIDTH).contains(w))
        .ok_or_else(|| SpecialiseError(format!("{value} is no {what}")))
}

impl Skeleton {
    /// How many arguments the class has.
    pub fn arguments(&self) -> usize {
        let used = self.nodes.iter().filter_map(|n| match n {
            SkeletonNode::Argument(index, _) => Some(index + 1),
            _ => None,
        });
        used.max().unwrap_or(0)
    }

    /// The meaning at these parameter values, over the variables [`argument_name`].
    ///
    /// # Errors
    /// When a width or count is out of range or an operator's type rule is broken.
    pub fn specialise(&self, values: &[i64]) -> Result<Term, SpecialiseError> {
        self.folded(values, |node, terms| {
            specialise_node(node, values, terms, &SIMPLIFIED)
        })
    }

    /// The meaning at these parameter values exactly as the skeleton has it: nothing is
    /// simplified, folded or put in order. Arguments are these variables, or zeros.
    ///
    /// # Errors
    /// When a width or count is out of range, an operator's type rule is broken, or an
    /// argument is not bound.
    pub fn as_written(
        &self,
        values: &[i64],
        bindings: &[Option<String>],
    ) -> Result<Term, SpecialiseError> {
        self.folded(values, |node, terms| match node {
            SkeletonNode::Argument(index, shape) => {
                let unbound = || SpecialiseError(format!("argument {index} is not bound"));
                match (
                    bindings.get(*index).ok_or_else(unbound)?,
                    sort(shape, values)?,
                ) {
                    (Some(name), sort) => Ok(Term::var(name, sort)),
                    (None, Sort::Bv(width)) => Ok(Term::bits(Bits::zero(width))),
                    (None, sort) => Err(SpecialiseError(format!("no constant of sort {sort}"))),
                }
            }
            _ => specialise_node(node, values, terms, &AS_WRITTEN),
        })
    }

    /// The last node, each made from the ones before it.
    fn folded(
        &self,
        values: &[i64],
        node_of: impl Fn(&SkeletonNode, &[Term]) -> Result<Term, SpecialiseError>,
    ) -> Result<Term, SpecialiseError> {
        if values.len() != self.parameters {
            let (want, found) = (self.parameters, values.len());
            return Err(SpecialiseError(format!("{want} parameters, not {found}")));
        }
        let mut terms: Vec<Term> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let term = node_of(node, &terms)?;
            terms.push(term);
        }
        let whole = terms.last().copied();
        let whole = whole.ok_or_else(|| SpecialiseError("an empty skeleton".to_owned()))?;
        match whole.binders() {
            0 => Ok(whole),
            _ => Err(SpecialiseError(
                "the number of a round outside its loop".to_owned(),
            )),
        }
    }

    /// Every number, in the order of the nodes.
    pub fn numbers(&self) -> Vec<&Number> {
        let mut all = Vec::new();
        for node in &self.nodes {
            match node {
                SkeletonNode::Argument(_, Shape::Bits(w))
                | SkeletonNode::Bound(_, Shape::Bits(w)) => all.push(w),
                SkeletonNode::Constant(w, v) => all.extend([w, v]),
                SkeletonNode::Index(n) | SkeletonNode::Map(n, _) | SkeletonNode::Fold(n, ..) => {
                    all.push(n)
                }
                SkeletonNode::Apply(op, params, _) => {
                    if let Operator::Mode(_, mode) = op {
                        all.push(mode);
                    }
                    all.extend(params);
                }
                _ => {}
            }
        }
        all
    }

    /// The same skeleton with every number replaced.
    #[must_use]
    pub fn map_numbers(&self, f: &dyn Fn(&Number) -> Number, parameters: usize) -> Skeleton {
        let shape = |s: &Shape| match s {
            Shape::Bits(w) => Shape::Bits(f(w)),
            Shape::Other(sort) => Shape::Other(*sort),
        };
        let node = |n: &SkeletonNode| match n {
            SkeletonNode::Argument(index, s) => SkeletonNode::Argument(*index, shape(s)),
            SkeletonNode::Bound(depth, s) => SkeletonNode::Bound(*depth, shape(s)),
            SkeletonNode::Constant(w, v) => SkeletonNode::Constant(f(w), f(v)),
            SkeletonNode::Index(n) => SkeletonNode::Index(f(n)),
            SkeletonNode::Map(n, body) => SkeletonNode::Map(f(n), *body),
            SkeletonNode::Fold(n, init, body) => SkeletonNode::Fold(f(n), *init, *body),
            SkeletonNode::Apply(op, params, args) => {
                let op = match op {
                    Operator::Fixed(code) => Operator::Fixed(*code),
                    Operator::Mode(family, mode) => Operator::Mode(*family, f(mode)),
                };
                SkeletonNode::Apply(op, params.iter().map(f).collect(), args.clone())
            }
            SkeletonNode::Fixed(bits) => SkeletonNode::Fixed(bits.clone()),
            SkeletonNode::Truth(b) => SkeletonNode::Truth(*b),
        };
        Skeleton {
            nodes: self.nodes.iter().map(node).collect(),
            parameters,
        }
    }
}

fn sort(shape: &Shape, values: &[i64]) -> Result<Sort, SpecialiseError> {
    match shape {
        Shape::Bits(w) => Ok(Sort::Bv(width(w.value(values), "width")?)),
        Shape::Other(sort) => Ok(*sort),
    }
}

/// How what has children is built, once the type rules agree.
struct Constructors {
    app: fn(Op, &[Term]) -> Term,
    map: fn(u32, Term) -> Term,
    fold: fn(u32, Term, Term) -> Term,
}

const SIMPLIFIED: Constructors = Constructors {
    app: build::app,
    map: build::map,
    fold: build::fold,
};

const AS_WRITTEN: Constructors = Constructors {
    app: |op, args| Term::raw_app(op, args).expect("the type rule agreed"),
    map: |count, body| Term::raw_map(count, body).expect("the type rule agreed"),
    fold: |count, init, body| Term::raw_fold(count, init, body).expect("the type rule agreed"),
};

fn specialise_node(
    node: &SkeletonNode,
    values: &[i64],
    done: &[Term],
    build: &Constructors,
) -> Result<Term, SpecialiseError> {
    let child = |at: usize| {
        done.get(at)
            .copied()
            .ok_or_else(|| SpecialiseError(format!("node {at} comes later")))
    };
    match node {
        SkeletonNode::Argument(index, shape) => {
            Ok(Term::var(&argument_name(*index), sort(shape, values)?))
        }
        SkeletonNode::Constant(w, v) => {
            let w = width(w.value(values), "width")?;
            Ok(Term::bv(w, i128::from(v.value(values))))
        }
        SkeletonNode::Fixed(bits) => Ok(Term::bits(bits.clone())),
        SkeletonNode::Truth(b) => Ok(Term::bool(*b)),
        SkeletonNode::Index(n) => Ok(Term::int(n.value(values))),
        SkeletonNode::Bound(depth, shape) => Ok(Term::bound(*depth, sort(shape, values)?)),
        SkeletonNode::Apply(operator, params, args) => {
            let args = args
                .iter()
                .map(|&a| child(a))
                .collect::<Result<Vec<_>, _>>()?;
            apply(operator, params, &args, values, build)
        }
        SkeletonNode::Map(n, body) => {
            let (n, body) = (width(n.value(values), "count")?, child(*body)?);
            Term::raw_map(n, body)?;
            Ok((build.map)(n, body))
        }
        SkeletonNode::Fold(n, init, body) => {
            let (n, init, body) = (n.value(values), child(*init)?, child(*body)?);
            let n = u32::try_from(n).map_err(|_| SpecialiseError(format!("{n} is no count")))?;
            Term::raw_fold(n, init, body)?;
            Ok((build.fold)(n, init, body))
        }
    }
}

fn apply(
    operator: &Operator,
    params: &[Number],
    args: &[Term],
    values: &[i64],
    build: &Constructors,
) -> Result<Term, SpecialiseError> {
    let code = match operator {
        Operator::Fixed(code) => *code,
        Operator::Mode(family, mode) => {
            let mode = mode.value(values);
            let found = usize::try_from(mode)
                .ok()
                .and_then(|m| family.operators().get(m));
            *found
                .ok_or_else(|| SpecialiseError(format!("`{}` has no mode {mode}", family.name())))?
        }
    };
    let mut op = Op::new(code);
    for (slot, number) in op.params.iter_mut().zip(params) {
        let value = number.value(values);
        *slot = u32::try_from(value)
            .map_err(|_| SpecialiseError(format!("{value} is no parameter of an operator")))?;
    }
    Term::raw_app(op, args)?;
    Ok((build.app)(op, args))
}
