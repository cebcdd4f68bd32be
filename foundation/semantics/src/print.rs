//! The text form of terms, written.
//!
//! In: terms. Out: S-expressions, read back by [`crate::parse`]:
//!
//! ```text
//! name |odd name|              a free variable
//! 0x0f:8   -3   true           a bit vector and its width, an index, a truth value
//! (bvadd a b)  (sext[32] a)    an operator, with its parameters in brackets
//! (map 16 (i0) body)           16 elements, the lowest first; `i0` is the index in `body`
//! (fold 8 (a1 i1) init body)   8 iterations; `a1` is the accumulator, `i1` the iteration
//! (let ((t0 x) (t1 y)) body)   names for shared subterms, each in reach of the next
//! ```
//!
//! Whatever is used more than once is named once (unless it is as short as a name), in the
//! body of the innermost binder that it depends on, so the text grows with the number of distinct subterms, not with the size
//! of the tree. Deeply nested subterms are named too, so that the text does not nest deeply.
//! `{}` writes one line; `{:#}` breaks long ones.

use crate::eval::Input;
use crate::named::{Graph, NodeId, Scope, Shape, graph};
use crate::term::{Kind, Term};
use std::collections::BTreeMap;
use std::fmt;

/// Nesting from which on a subterm is named, although it is used only once.
const MAX_HEIGHT: u32 = 48;

/// Columns from which on `{:#}` breaks a list.
const COLUMNS: usize = 100;

/// A text to be written: a word or a list.
enum Text {
    Word(String),
    List(Vec<Text>),
}

impl Text {
    /// Characters on one line, as far as they matter.
    fn fits(&self, room: usize) -> Option<usize> {
        match self {
            Text::Word(w) => room.checked_sub(w.chars().count()),
            Text::List(members) => members
                .iter()
                .try_fold(room.checked_sub(2)?, |room, m| m.fits(room)?.checked_sub(1)),
        }
    }

    fn flat(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        match self {
            Text::Word(w) => out.write_str(w),
            Text::List(members) => {
                out.write_str("(")?;
                for (k, m) in members.iter().enumerate() {
                    if k > 0 {
                        out.write_str(" ")?;
                    }
                    m.flat(out)?;
                }
                out.write_str(")")
            }
        }
    }

    fn broken(&self, out: &mut dyn fmt::Write, indent: usize) -> fmt::Result {
        let members = match self {
            Text::List(members) if self.fits(COLUMNS.saturating_sub(indent)).is_none() => members,
            _ => return self.flat(out),
        };
        out.write_str("(")?;
        for (k, m) in members.iter().enumerate() {
            if k > 0 && matches!(m, Text::Word(_)) && matches!(members[k - 1], Text::Word(_)) {
                out.write_str(" ")?;
            } else if k > 0 {
                write!(out, "\n{:1$}", "", indent + 1)?;
            }
            m.broken(out, indent + 1)?;
        }
        out.write_str(")")
    }
}

/// How the nodes of a graph are called.
struct Namer<'g> {
    graph: &'g Graph,
    /// Names of shared nodes.
    names: BTreeMap<NodeId, String>,
    /// Shared nodes by the binder in whose body they are named, arguments first.
    shared: BTreeMap<Scope, Vec<NodeId>>,
}

impl<'g> Namer<'g> {
    fn new(graph: &'g Graph) -> Namer<'g> {
        let mut namer = Namer {
            graph,
            names: BTreeMap::new(),
            shared: BTreeMap::new(),
        };
        let mut heights = vec![0; graph.nodes.len()];
        for (id, node) in graph.nodes.iter().enumerate() {
            let height = 1 + match &node.shape {
                Shape::App(_, args) => args.iter().map(|&a| heights[a]).max().unwrap_or(0),
                Shape::Map(_, scope, body) => 2 + heights[*body].max(namer.rows(*scope)),
                Shape::Fold(_, scope, init, body) => {
                    2 + heights[*body].max(heights[*init]).max(namer.rows(*scope))
                }
                _ => 0,
            };
            let shared = match &node.shape {
                Shape::Leaf(t) => node.uses > 1 && t.as_bits().is_some_and(|b| b.width() > 64),
                Shape::Index(_) | Shape::Accumulator(_) | Shape::Loose(_) => false,
                Shape::App(_, args) if height == 2 && args.len() <= 3 => false,
                _ => node.uses > 1 || height >= MAX_HEIGHT,
            };
            heights[id] = if shared { 1 } else { height };
            if shared {
                namer.names.insert(id, format!("t{}", namer.names.len()));
                namer.shared.entry(node.home).or_default().push(id);
            }
        }
        namer
    }

    /// The height that named subterms add to a binder's body.
    fn rows(&self, scope: Scope) -> u32 {
        if self.shared.contains_key(&scope) {
            MAX_HEIGHT / 2
        } else {
            0
        }
    }

    /// A node where it is used.
    fn reference(&self, id: NodeId) -> Text {
        match self.names.get(&id) {
            Some(name) => Text::Word(name.clone()),
            None => self.definition(id),
        }
    }

    /// A node written out.
    fn definition(&self, id: NodeId) -> Text {
        let word = |w: String| Text::Word(w);
        match &self.graph.nodes[id].shape {
            Shape::Leaf(t) => word(leaf(*t)),
            Shape::Index(scope) => word(format!("i{scope}")),
            Shape::Accumulator(scope) => word(format!("a{scope}")),
            Shape::Loose(depth) => word(format!("#{depth}")),
            Shape::App(op, args) => {
                let args = args.iter().map(|&a| self.reference(a));
                Text::List(std::iter::once(word(op.to_string())).chain(args).collect())
            }
            Shape::Map(count, scope, body) => Text::List(vec![
                word("map".into()),
                word(count.to_string()),
                Text::List(vec![word(format!("i{scope}"))]),
                self.body(*scope, *body),
            ]),
            Shape::Fold(count, scope, init, body) => Text::List(vec![
                word("fold".into()),
                word(count.to_string()),
                Text::List(vec![word(format!("a{scope}")), word(format!("i{scope}"))]),
                self.reference(*init),
                self.body(*scope, *body),
            ]),
        }
    }

    /// The body of a binder, or the whole term, with the names that belong there.
    fn body(&self, scope: Scope, id: NodeId) -> Text {
        let result = self.reference(id);
        let Some(shared) = self.shared.get(&scope) else {
            return result;
        };
        let rows = shared
            .iter()
            .map(|&s| Text::List(vec![Text::Word(self.names[&s].clone()), self.definition(s)]));
        Text::List(vec![
            Text::Word("let".into()),
            Text::List(rows.collect()),
            result,
        ])
    }
}

fn leaf(t: Term) -> String {
    match t.kind() {
        Kind::Var { name, .. } => variable(name),
        Kind::Bv(bits) => bits.to_string(),
        Kind::Bool(b) => b.to_string(),
        Kind::Int(i) => i.to_string(),
        _ => unreachable!("leaves are variables and constants"),
    }
}

/// A variable's name as it is written: between bars unless it reads as a plain name.
pub fn variable(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_.$".contains(c));
    let local = name
        .strip_prefix(['i', 'a', 't'])
        .is_some_and(|n| !n.is_empty() && n.bytes().all(|c| c.is_ascii_digit()));
    if plain && !local && !matches!(name, "true" | "false") {
        name.to_owned()
    } else {
        format!("|{name}|")
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let graph = graph(*self);
        let text = Namer::new(&graph).body(0, graph.root);
        if f.alternate() {
            text.broken(f, 0)
        } else {
            text.flat(f)
        }
    }
}

/// A file of terms: the inputs with their sorts, then each output.
pub fn file(inputs: &[Input], outputs: &[(String, Term)]) -> String {
    let mut out = String::from("isaforge-term 1\n");
    for input in inputs {
        out += &format!("(input {} {})\n", variable(&input.name), input.sort);
    }
    for (name, term) in outputs {
        out += &format!("(output {}\n{term:#})\n", variable(name));
    }
    out
}
