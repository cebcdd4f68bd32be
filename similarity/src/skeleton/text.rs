//! The text form of skeletons.
//!
//! In: skeletons, or S-expressions with their source. Out: one list for each node, children
//! first, named by position (`%3`), so that the text grows with the number of nodes:
//!
//! ```text
//! (argument 0 p1)   (constant 16 p2)   (fixed 0x0f:8)   (truth true)   (index p3)
//! (bound 0 int)     (apply bvadd () %0 %1)    (apply (mode extend p4) (32) %2)
//! (map p0 %5)       (fold p1 %2 %6)
//! ```

use super::{Operator, Shape, Skeleton, SkeletonNode};
use crate::mode::Family;
use crate::number::Number;
use semantics::bits::Bits;
use semantics::diagnostic::Diagnostic;
use semantics::op::Op;
use semantics::sexpr::Sexpr;
use semantics::sort::Sort;
use semantics::span::{Source, Span};
use std::fmt;

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Bits(w) => write!(f, "{w}"),
            Shape::Other(sort) => write!(f, "{sort}"),
        }
    }
}

impl fmt::Display for SkeletonNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SkeletonNode::Argument(index, shape) => write!(f, "(argument {index} {shape})"),
            SkeletonNode::Constant(w, v) => write!(f, "(constant {w} {v})"),
            SkeletonNode::Fixed(bits) => write!(f, "(fixed {bits})"),
            SkeletonNode::Truth(b) => write!(f, "(truth {b})"),
            SkeletonNode::Index(n) => write!(f, "(index {n})"),
            SkeletonNode::Bound(depth, shape) => write!(f, "(bound {depth} {shape})"),
            SkeletonNode::Apply(op, params, args) => {
                match op {
                    Operator::Fixed(code) => write!(f, "(apply {}", code.info().name)?,
                    Operator::Mode(family, mode) => {
                        write!(f, "(apply (mode {} {mode})", family.name())?;
                    }
                }
                let params: Vec<String> = params.iter().map(Number::to_string).collect();
                write!(f, " ({})", params.join(" "))?;
                args.iter().try_for_each(|a| write!(f, " %{a}"))?;
                f.write_str(")")
            }
            SkeletonNode::Map(n, body) => write!(f, "(map {n} %{body})"),
            SkeletonNode::Fold(n, init, body) => write!(f, "(fold {n} %{init} %{body})"),
        }
    }
}

/// Reads the nodes of a skeleton.
///
/// # Errors
/// A diagnostic for each node that cannot be read.
pub fn read(
    source: &Source,
    nodes: &[Sexpr],
    parameters: usize,
) -> Result<Skeleton, Vec<Diagnostic>> {
    let mut out = Skeleton {
        nodes: Vec::new(),
        parameters,
    };
    let mut diagnostics = Vec::new();
    for (at, e) in nodes.iter().enumerate() {
        let reader = Reader { source, at };
        match reader.node(e) {
            Ok(node) => out.nodes.push(node),
            Err(d) => diagnostics.push(d),
        }
    }
    if diagnostics.is_empty() {
        Ok(out)
    } else {
        Err(diagnostics)
    }
}

struct Reader<'s> {
    source: &'s Source,
    at: usize,
}

impl Reader<'_> {
    fn fail<T>(&self, message: &str, span: Span) -> Result<T, Diagnostic> {
        Err(Diagnostic::error(message).at(self.source, span))
    }

    fn number(&self, e: &Sexpr) -> Result<Number, Diagnostic> {
        Number::read(self.source, e)
    }

    fn whole<T: std::str::FromStr>(&self, e: &Sexpr) -> Result<T, Diagnostic> {
        match e.atom().and_then(|w| w.parse().ok()) {
            Some(value) => Ok(value),
            None => self.fail("this value cannot be read", e.span),
        }
    }

    fn shape(&self, e: &Sexpr) -> Result<Shape, Diagnostic> {
        match e.atom().and_then(|w| w.parse::<Sort>().ok()) {
            Some(sort) => Ok(Shape::Other(sort)),
            None => self.number(e).map(Shape::Bits),
        }
    }

    fn child(&self, e: &Sexpr) -> Result<usize, Diagnostic> {
        let word = e.atom().and_then(|w| w.strip_prefix('%'));
        match word.and_then(|w| w.parse::<usize>().ok()) {
            Some(at) if at < self.at => Ok(at),
            _ => self.fail("expected an earlier node, as `%3`", e.span),
        }
    }

    fn operator(&self, e: &Sexpr) -> Result<Operator, Diagnostic> {
        if let Some([family, mode]) = e.form("mode") {
            return match family.atom().and_then(Family::by_name) {
                Some(found) => Ok(Operator::Mode(found, self.number(mode)?)),
                None => self.fail("no such family of operators", family.span),
            };
        }
        match e.atom().and_then(Op::by_name) {
            Some(code) => Ok(Operator::Fixed(code)),
            None => self.fail("no such operator", e.span),
        }
    }

    fn node(&self, e: &Sexpr) -> Result<SkeletonNode, Diagnostic> {
        let (head, rest) = match e.list().and_then(<[Sexpr]>::split_first) {
            Some((head, rest)) => (head.atom().unwrap_or(""), rest),
            None => return self.fail("expected a node of a skeleton", e.span),
        };
        match (head, rest) {
            ("argument", [index, shape]) => Ok(SkeletonNode::Argument(
                self.whole(index)?,
                self.shape(shape)?,
            )),
            ("constant", [w, v]) => Ok(SkeletonNode::Constant(self.number(w)?, self.number(v)?)),
            ("fixed", [bits]) => Ok(SkeletonNode::Fixed(self.whole::<Bits>(bits)?)),
            ("truth", [b]) => Ok(SkeletonNode::Truth(self.whole(b)?)),
            ("index", [n]) => Ok(SkeletonNode::Index(self.number(n)?)),
            ("bound", [depth, shape]) => match self.whole::<u32>(depth)? {
                // No loops nest as deeply as a number of 32 bits can say.
                65_536.. => self.fail("no loops nest so deeply", depth.span),
                loops => Ok(SkeletonNode::Bound(loops, self.shape(shape)?)),
            },
            ("apply", [op, params, args @ ..]) => {
                let list = params.list().unwrap_or_default();
                let params = list
                    .iter()
                    .map(|p| self.number(p))
                    .collect::<Result<_, _>>()?;
                let args = args
                    .iter()
                    .map(|a| self.child(a))
                    .collect::<Result<_, _>>()?;
                Ok(SkeletonNode::Apply(self.operator(op)?, params, args))
            }
            ("map", [n, body]) => Ok(SkeletonNode::Map(self.number(n)?, self.child(body)?)),
            ("fold", [n, init, body]) => {
                let children = (self.child(init)?, self.child(body)?);
                Ok(SkeletonNode::Fold(self.number(n)?, children.0, children.1))
            }
            _ => self.fail("expected a node of a skeleton", e.span),
        }
    }
}
