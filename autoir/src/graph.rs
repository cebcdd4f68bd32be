//! The evidence: instructions, classes, and proofs as edges between them.
//!
//! In: a dictionary. Out: a graph, its text for Graphviz, and a picture of it. In the picture
//! a class is a disc with its instructions around the centre, and the colour of an edge says
//! what settled the proof. Nothing is proved here.

use crate::dictionary::{Dictionary, Evidence};
use petgraph::graph::{NodeIndex, UnGraph};
use smt::verdict::Step;
use std::fmt::{self, Write as _};

/// A node of the graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ClassNode {
    /// A class: its name and its formula.
    Class(String, String),
    /// An instruction.
    Instruction(String),
}

/// What settled the hardest part of a proof.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Proof {
    /// Both terms are one.
    Identical,
    /// Their normal forms are one.
    NormalForm,
    /// The embedded engine.
    Embedded,
    /// An SMT solver.
    Solver,
}

impl Proof {
    /// All of them, easiest first.
    pub const ALL: [Proof; 4] = [
        Proof::Identical,
        Proof::NormalForm,
        Proof::Embedded,
        Proof::Solver,
    ];

    /// What settled the hardest part of a member's evidence.
    pub fn hardest(evidence: &Evidence) -> Proof {
        match evidence.hardest() {
            None | Some(Step::Identical) => Proof::Identical,
            Some(Step::NormalForm) => Proof::NormalForm,
            Some(Step::Exhaustive | Step::Sat) => Proof::Embedded,
            Some(Step::Solver(_)) => Proof::Solver,
        }
    }

    fn colour(self) -> &'static str {
        match self {
            Proof::Identical => "#7a9cc6",
            Proof::NormalForm => "#4f9d69",
            Proof::Embedded => "#d9822b",
            Proof::Solver => "#b5446e",
        }
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Proof::Identical => "identical",
            Proof::NormalForm => "normal form",
            Proof::Embedded => "embedded engine",
            Proof::Solver => "SMT solver",
        })
    }
}

/// The graph: a node for each class and each instruction, an edge for each proof.
pub fn graph(dictionary: &Dictionary) -> UnGraph<ClassNode, Proof> {
    let mut graph = UnGraph::new_undirected();
    for operation in &dictionary.operations {
        let class = ClassNode::Class(operation.name.clone(), operation.formula.clone());
        let class = graph.add_node(class);
        for member in &operation.members {
            let instruction = graph.add_node(ClassNode::Instruction(member.name.clone()));
            graph.add_edge(class, instruction, Proof::hardest(&member.evidence));
        }
    }
    graph
}

/// The graph for Graphviz.
pub fn dot(graph: &UnGraph<ClassNode, Proof>) -> String {
    let mut text = "graph evidence {\n  node [shape=point];\n".to_owned();
    for index in graph.node_indices() {
        let (shape, label, tip) = match &graph[index] {
            ClassNode::Class(name, formula) => ("box", name, formula),
            ClassNode::Instruction(name) => ("plaintext", name, name),
        };
        let (label, tip) = (label.escape_debug(), tip.escape_debug());
        let _ = writeln!(
            text,
            "  n{} [shape={shape} label=\"{label}\" tooltip=\"{tip}\"];",
            index.index()
        );
    }
    for edge in graph.edge_indices() {
        let Some((a, b)) = graph.edge_endpoints(edge) else {
            continue;
        };
        let (a, b, proof) = (a.index(), b.index(), graph[edge]);
        let colour = proof.colour();
        let _ = writeln!(
            text,
            "  n{a} -- n{b} [color=\"{colour}\" tooltip=\"{proof}\"];"
        );
    }
    text.push_str("}\n");
    text
}

/// Pixels between the centres of neighbouring instructions.
const SPACING: f64 = 7.0;
/// The radius of an instruction.
const DOT: f64 = 2.6;
/// Pixels around a disc, and those for the name below it.
const MARGIN: f64 = 12.0;
const NAME: f64 = 14.0;
/// Width of the picture.
const WIDTH: f64 = 1800.0;
/// Radians between one instruction and the next: the golden angle, so that no two of them
/// stand in one direction from the centre.
const GOLDEN: f64 = 2.399_963_229_728_653;

/// A class in the picture.
struct Disc<'a> {
    name: &'a str,
    formula: &'a str,
    members: Vec<(&'a str, Proof)>,
    /// Of the members' outermost centres.
    radius: f64,
}

/// The graph as a picture: the largest classes first, in rows.
pub fn svg(graph: &UnGraph<ClassNode, Proof>) -> String {
    let mut discs: Vec<Disc<'_>> = graph
        .node_indices()
        .filter_map(|index| disc(graph, index))
        .collect();
    discs.sort_by(|a, b| (b.members.len(), a.name).cmp(&(a.members.len(), b.name)));
    let mut body = String::new();
    let (mut x, mut y, mut height) = (MARGIN, 60.0, 0.0_f64);
    for disc in &discs {
        let width = (2.0 * disc.radius + MARGIN).max(6.2 * shown(disc.name).len() as f64 + MARGIN);
        if x + width > WIDTH {
            (x, y, height) = (MARGIN, y + height, 0.0);
        }
        disc.draw(x + width / 2.0, y + disc.radius + DOT, &mut body);
        x += width;
        height = height.max(2.0 * (disc.radius + DOT) + NAME + MARGIN);
    }
    let height = y + height;
    let counts = (discs.len(), graph.edge_count());
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" \
         font-family=\"sans-serif\" font-size=\"10\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{}{body}</svg>\n",
        legend(graph, counts)
    )
}

/// What the colours mean, with how many edges have each.
fn legend(graph: &UnGraph<ClassNode, Proof>, (classes, members): (usize, usize)) -> String {
    let mut text = format!(
        "<text x=\"{MARGIN}\" y=\"22\" font-size=\"15\">{members} members of {classes} classes, \
         and what settled each proof</text>\n"
    );
    let mut x = MARGIN;
    for proof in Proof::ALL {
        let count = graph.edge_weights().filter(|p| **p == proof).count();
        let label = format!("{proof} ({count})");
        let colour = proof.colour();
        let _ = writeln!(
            text,
            "<circle cx=\"{:.0}\" cy=\"38\" r=\"5\" fill=\"{colour}\"/>\
             <text x=\"{:.0}\" y=\"42\" font-size=\"12\">{label}</text>",
            x + 5.0,
            x + 15.0
        );
        x += 40.0 + 7.0 * label.len() as f64;
    }
    text
}

/// A class with its neighbours; nothing for an instruction.
fn disc(graph: &UnGraph<ClassNode, Proof>, index: NodeIndex) -> Option<Disc<'_>> {
    let ClassNode::Class(name, formula) = &graph[index] else {
        return None;
    };
    let mut members: Vec<(&str, Proof)> = graph
        .neighbors(index)
        .filter_map(
            |other| match (&graph[other], graph.find_edge(index, other)) {
                (ClassNode::Instruction(name), Some(edge)) => Some((name.as_str(), graph[edge])),
                _ => None,
            },
        )
        .collect();
    members.sort_unstable();
    let radius = place(members.len()).0;
    Some(Disc {
        name,
        formula,
        members,
        radius,
    })
}

/// The distance and the direction of the instruction of that number from the centre.
fn place(number: usize) -> (f64, f64) {
    let number = number as f64;
    (SPACING * (number + 1.0).sqrt(), GOLDEN * number)
}

/// A class's name as it is written below its disc.
fn shown(name: &str) -> String {
    match name.char_indices().nth(22) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

impl Disc<'_> {
    fn draw(&self, x: f64, y: f64, text: &mut String) {
        let title = escaped(&format!(
            "{} ({} members): {}",
            self.name,
            self.members.len(),
            self.formula
        ));
        let _ = writeln!(text, "<g><title>{title}</title>");
        let mut dots = String::new();
        for (number, (name, proof)) in self.members.iter().enumerate() {
            let (r, angle) = place(number);
            let (px, py) = (x + r * angle.cos(), y + r * angle.sin());
            let colour = proof.colour();
            let _ = writeln!(
                text,
                "<line x1=\"{x:.1}\" y1=\"{y:.1}\" x2=\"{px:.1}\" y2=\"{py:.1}\" \
                 stroke=\"{colour}\" stroke-opacity=\"0.25\"/>"
            );
            let _ = writeln!(
                dots,
                "<circle cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"{DOT}\" fill=\"{colour}\">\
                 <title>{}: {proof}</title></circle>",
                escaped(name)
            );
        }
        text.push_str(&dots);
        let _ = writeln!(
            text,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"#222\"/>\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text></g>",
            y + self.radius + DOT + NAME,
            escaped(&shown(self.name))
        );
    }
}

/// Text as XML has it.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
