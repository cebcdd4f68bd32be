//! Terms with names for binders: what the printer writes.
//!
//! In: a term with de Bruijn indices. Out: [`Graph`], in which every bound variable names
//! its binder, every distinct subterm of one meaning is one node however deep it stands,
//! and each node knows the innermost binder that it depends on: the place where it can be
//! given a name once.

use crate::op::Op;
use crate::term::{Kind, Term};
use hashbrown::HashMap;
use std::rc::Rc;

/// A node, by its position in [`Graph::nodes`]; arguments come before what uses them.
pub(crate) type NodeId = usize;

/// A binder: a map or a fold, by its number; 0 stands for the whole term.
pub(crate) type Scope = usize;

/// What a node is.
pub(crate) enum Shape {
    /// A variable or a constant.
    Leaf(Term),
    /// The index of a map or the iteration of a fold.
    Index(Scope),
    /// The accumulator of a fold.
    Accumulator(Scope),
    /// A bound variable whose binder is not part of the term.
    Loose(u32),
    /// An operator applied.
    App(Op, Vec<NodeId>),
    /// A lane map.
    Map(u32, Scope, NodeId),
    /// A fold: iterations, binder, start, body.
    Fold(u32, Scope, NodeId, NodeId),
}

/// A node with what is known of it.
pub(crate) struct GraphNode {
    /// What it is.
    pub(crate) shape: Shape,
    /// The innermost binder that it depends on.
    pub(crate) home: Scope,
    /// How many nodes have it as an argument.
    pub(crate) uses: u32,
}

/// A term as a graph.
pub(crate) struct Graph {
    /// The nodes, arguments first.
    pub(crate) nodes: Vec<GraphNode>,
    /// The whole term.
    pub(crate) root: NodeId,
}

/// A bound variable as seen from its binder.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Binding {
    Index(Scope),
    Accumulator(Scope),
    Loose(u32),
}

/// A subterm and what its free bound variables stand for: together, one meaning.
type Meaning = (Term, Vec<Binding>);

struct Builder {
    nodes: Vec<GraphNode>,
    scopes: Scope,
    /// Bound variables in reach, outermost first.
    reach: Vec<Binding>,
    done: HashMap<Meaning, NodeId>,
    free: HashMap<Term, Rc<[u32]>>,
}

/// The graph of a term.
pub(crate) fn graph(t: Term) -> Graph {
    let mut builder = Builder {
        nodes: Vec::new(),
        scopes: 0,
        reach: (0..t.binders()).rev().map(Binding::Loose).collect(),
        done: HashMap::new(),
        free: HashMap::new(),
    };
    let root = builder.visit(t);
    builder.nodes[root].uses += 1;
    Graph {
        nodes: builder.nodes,
        root,
    }
}

impl Builder {
    /// The de Bruijn indices that a term needs from outside, in rising order.
    fn free(&mut self, t: Term) -> Rc<[u32]> {
        if t.binders() == 0 {
            return Rc::from([]);
        }
        if let Some(known) = self.free.get(&t) {
            return Rc::clone(known);
        }
        let mut all: Vec<u32> = match t.kind() {
            Kind::Bound { depth, .. } => vec![*depth],
            Kind::Map { body, .. } => below(&self.free(*body), 1),
            Kind::Fold { init, body, .. } => {
                let mut all = below(&self.free(*body), 2);
                all.extend(self.free(*init).iter());
                all
            }
            _ => t.children().flat_map(|c| self.free(c).to_vec()).collect(),
        };
        all.sort_unstable();
        all.dedup();
        let all: Rc<[u32]> = all.into();
        self.free.insert(t, Rc::clone(&all));
        all
    }

    fn binding(&self, depth: u32) -> Binding {
        self.reach[self.reach.len() - 1 - depth as usize]
    }

    fn visit(&mut self, t: Term) -> NodeId {
        let free = self.free(t);
        let bindings: Vec<Binding> = free.iter().map(|&d| self.binding(d)).collect();
        let home = match bindings.first() {
            Some(Binding::Index(scope) | Binding::Accumulator(scope)) => *scope,
            _ => 0,
        };
        let meaning = (t, bindings);
        if let Some(&node) = self.done.get(&meaning) {
            return node;
        }
        let shape = self.shape(t);
        let node = self.nodes.len();
        self.nodes.push(GraphNode {
            shape,
            home,
            uses: 0,
        });
        self.done.insert(meaning, node);
        node
    }

    fn child(&mut self, t: Term) -> NodeId {
        let node = self.visit(t);
        self.nodes[node].uses += 1;
        node
    }

    fn shape(&mut self, t: Term) -> Shape {
        match t.kind() {
            Kind::Bound { depth, .. } => match self.binding(*depth) {
                Binding::Index(scope) => Shape::Index(scope),
                Binding::Accumulator(scope) => Shape::Accumulator(scope),
                Binding::Loose(depth) => Shape::Loose(depth),
            },
            Kind::App { op, args } => {
                Shape::App(*op, args.iter().map(|&a| self.child(a)).collect())
            }
            Kind::Map { count, body } => {
                self.scopes += 1;
                let scope = self.scopes;
                let body = self.under(&[Binding::Index(scope)], *body);
                Shape::Map(*count, scope, body)
            }
            Kind::Fold { count, init, body } => {
                let init = self.child(*init);
                self.scopes += 1;
                let scope = self.scopes;
                let bound = [Binding::Index(scope), Binding::Accumulator(scope)];
                let body = self.under(&bound, *body);
                Shape::Fold(*count, scope, init, body)
            }
            Kind::Var { .. } | Kind::Bv(_) | Kind::Bool(_) | Kind::Int(_) => Shape::Leaf(t),
        }
    }

    fn under(&mut self, bound: &[Binding], body: Term) -> NodeId {
        self.reach.extend(bound);
        let node = self.child(body);
        self.reach.truncate(self.reach.len() - bound.len());
        node
    }
}

/// Indices as seen from outside `binders` binders.
fn below(free: &[u32], binders: u32) -> Vec<u32> {
    free.iter().filter_map(|d| d.checked_sub(binders)).collect()
}
