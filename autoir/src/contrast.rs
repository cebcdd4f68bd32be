//! Where two operations differ.
//!
//! In: two operations. Out: the first place, from the result inwards, at which one has another
//! operator, constant or argument than the other; nothing when only their numbers differ.
//! It compares what is written, not what is meant.

use crate::dictionary::Operation;
use semantics::op::OpCode;
use similarity::skeleton::{Operator, Skeleton, SkeletonNode};
use std::collections::HashSet;
use std::fmt;

/// The first difference.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Contrast {
    /// They have so many results.
    Results(usize, usize),
    /// At a subterm.
    Subterm {
        /// The operators around it, outermost first.
        within: Vec<String>,
        /// What the first operation has there.
        first: String,
        /// What the second one has there.
        second: String,
    },
}

impl fmt::Display for Contrast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Contrast::Results(a, b) => write!(f, "{a} results against {b}"),
            Contrast::Subterm {
                within,
                first,
                second,
            } => {
                write!(f, "{first} against {second}")?;
                match within.is_empty() {
                    true => f.write_str(", at the result"),
                    false => write!(f, ", inside {}", within.join(" / ")),
                }
            }
        }
    }
}

/// The first place at which two operations differ in more than numbers.
pub fn contrast(a: &Operation, b: &Operation) -> Option<Contrast> {
    if a.results.len() != b.results.len() {
        return Some(Contrast::Results(a.results.len(), b.results.len()));
    }
    let names = (&a.arguments[..], &b.arguments[..]);
    let both = a.results.iter().zip(&b.results);
    both.filter(|(x, y)| !x.nodes.is_empty() && !y.nodes.is_empty())
        .find_map(|(x, y)| {
            let mut walk = Walk {
                skeletons: (x, y),
                names,
                seen: HashSet::new(),
                within: Vec::new(),
            };
            walk.at(x.nodes.len() - 1, y.nodes.len() - 1)
        })
}

/// A walk through two skeletons at once.
struct Walk<'a> {
    skeletons: (&'a Skeleton, &'a Skeleton),
    names: (&'a [String], &'a [String]),
    seen: HashSet<(usize, usize)>,
    within: Vec<String>,
}

impl Walk<'_> {
    fn at(&mut self, a: usize, b: usize) -> Option<Contrast> {
        if !self.seen.insert((a, b)) {
            return None;
        }
        let (x, y) = (&self.skeletons.0.nodes[a], &self.skeletons.1.nodes[b]);
        let heads = (head(x, self.names.0), head(y, self.names.1));
        let (parts, others) = (parts(x), parts(y));
        // Arguments are told by their places, for each operation has its own names for them.
        let differ = match (x, y) {
            (SkeletonNode::Argument(i, _), SkeletonNode::Argument(j, _)) => i != j,
            _ => heads.0 != heads.1 || parts.len() != others.len(),
        };
        if differ {
            return Some(Contrast::Subterm {
                within: self.within.clone(),
                first: heads.0,
                second: heads.1,
            });
        }
        self.within.push(heads.0);
        let pairs = parts.into_iter().zip(others);
        let found = pairs.into_iter().find_map(|(p, q)| self.at(p, q));
        self.within.pop();
        found
    }
}

/// What a node is, without its numbers and parts.
fn head(node: &SkeletonNode, names: &[String]) -> String {
    match node {
        SkeletonNode::Argument(index, _) => match names.get(*index) {
            Some(name) => format!("argument {} (`{name}`)", index + 1),
            None => format!("argument {}", index + 1),
        },
        SkeletonNode::Constant(..) => "a constant".to_owned(),
        SkeletonNode::Fixed(bits) => format!("the constant {bits}"),
        SkeletonNode::Truth(truth) => truth.to_string(),
        SkeletonNode::Index(_) => "an index".to_owned(),
        SkeletonNode::Bound(depth, _) => format!("the number of loop {}", depth + 1),
        SkeletonNode::Apply(Operator::Fixed(OpCode::Extract), ..) => "a slice".to_owned(),
        SkeletonNode::Apply(Operator::Fixed(code), ..) => format!("`{}`", code.info().name),
        SkeletonNode::Apply(Operator::Mode(family, _), ..) => format!("`{}`", family.name()),
        SkeletonNode::Map(..) => "elements".to_owned(),
        SkeletonNode::Fold(..) => "a fold".to_owned(),
    }
}

/// The positions of a node's parts.
fn parts(node: &SkeletonNode) -> Vec<usize> {
    match node {
        SkeletonNode::Apply(_, _, args) => args.clone(),
        SkeletonNode::Map(_, body) => vec![*body],
        SkeletonNode::Fold(_, start, body) => vec![*start, *body],
        _ => Vec::new(),
    }
}
