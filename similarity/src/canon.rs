//! Canonical candidates of instructions: what two instructions of one class share.
//!
//! In: instructions. Out: the ways in which an instruction is lanes of
//! elements, each a layout of operators with numbers beside it. The outputs are written out
//! element by element, rewritten by the named rules of [`rules`], and rolled up again, so
//! that the style in which the vendor wrote them leaves no trace. What is too long to be
//! written out keeps the loops that it came with.

mod chain;
mod form;
mod layout;
mod pieces;
mod roll;
pub mod rules;
mod widen;

use crate::number::Number;
use crate::skeleton::{Operator, Shape, Skeleton, SkeletonNode};
use form::Writer;
use layout::Output;
use semantics::digest::Digest;
use semantics::instruction::{self, Instruction};
use semantics::op::OpCode;
use semantics::sort::Sort;
use semantics::subst::free_vars;
use semantics::term::{Kind, Term};
use semantics::unroll::unroll;
use std::collections::{BTreeMap, HashMap, HashSet};

pub use form::Role;
pub(crate) use layout::{Candidate, Layout};

/// Nodes of a term written out, above which it is taken as it stands.
const MAX_FLAT: u64 = 400_000;
/// Elements of a register above which it is taken as it stands.
const MAX_ELEMENTS: usize = 1024;

/// An instruction's candidates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Canonical {
    /// The names of its variables: what arguments are bound to.
    pub(crate) variables: Vec<String>,
    /// The candidates, the preferred first; at least one.
    pub(crate) candidates: Vec<Candidate>,
    /// Whether the first candidate is the one, unless no other instruction has it.
    pub(crate) settled: bool,
    /// Whether its outputs stand as they were given.
    pub(crate) direct: bool,
}

/// The candidates of an instruction, and the layout of each.
pub(crate) fn canonical(instruction: &Instruction) -> (Canonical, Vec<Layout>) {
    let (variables, sorts) = variables(instruction);
    let masks: Vec<usize> = instruction
        .operands
        .iter()
        .filter(|o| o.role == instruction::Role::Mask)
        .filter_map(|o| variables.iter().position(|v| *v == o.name))
        .collect();
    let nested = nested(instruction, &variables, &sorts, &masks);
    let is_direct = nested.is_none();
    let (read, settled) = nested.unwrap_or_else(|| (vec![direct(instruction, &variables)], true));
    let (layouts, candidates) = read.into_iter().unzip();
    let canonical = Canonical {
        variables,
        candidates,
        settled,
        direct: is_direct,
    };
    (canonical, layouts)
}

/// The reading of an instruction in which its outputs stand as they were given.
pub(crate) fn as_given(instruction: &Instruction) -> (Layout, Canonical) {
    let (variables, _) = variables(instruction);
    let (layout, candidate) = direct(instruction, &variables);
    let canonical = Canonical {
        variables,
        candidates: vec![candidate],
        settled: true,
        direct: true,
    };
    (layout, canonical)
}

/// Free variables in the order of the operands; those that are no operand come last.
fn variables(instruction: &Instruction) -> (Vec<String>, Vec<Sort>) {
    let mut found: BTreeMap<&'static str, Sort> = BTreeMap::new();
    for output in &instruction.outputs {
        for v in free_vars(output.term) {
            found.insert(v.as_var().unwrap_or_default(), v.sort());
        }
    }
    let mut all: Vec<(String, Sort)> = Vec::new();
    for operand in &instruction.operands {
        if let Some(sort) = found.remove(operand.name.as_str()) {
            all.push((operand.name.clone(), sort));
        }
    }
    all.extend(found.into_iter().map(|(n, s)| (n.to_owned(), s)));
    all.into_iter().unzip()
}

fn nested(
    instruction: &Instruction,
    variables: &[String],
    sorts: &[Sort],
    masks: &[usize],
) -> Option<(Vec<(Layout, Candidate)>, bool)> {
    let mut writer = Writer::new(variables, masks);
    let mut rewriter = rules::Rewriter::default();
    let mut outputs = Vec::new();
    for output in &instruction.outputs {
        if flat_size(output.term) > MAX_FLAT {
            return None;
        }
        let flat = rewriter.rewrite(unroll(output.term));
        outputs.push(output_nests(flat, &mut writer)?);
    }
    // Only a single output has a choice of nests; several are read in the first way each.
    if let [(choices, settled)] = outputs.as_slice() {
        let candidates = choices
            .iter()
            .map(|o| layout::read(std::slice::from_ref(o), sorts));
        return Some((candidates.collect(), *settled));
    }
    let first = outputs
        .into_iter()
        .filter_map(|(c, _)| c.into_iter().next());
    Some((vec![layout::read(&first.collect::<Vec<_>>(), sorts)], true))
}

fn output_nests(flat: Term, writer: &mut Writer<'_>) -> Option<(Vec<Output>, bool)> {
    let Some(whole) = flat.sort().width() else {
        let form = writer.form(flat)?;
        return Some((vec![Output::Other((*form).clone())], true));
    };
    let mut inner = flat;
    while let Some(args) = inner.args_of(OpCode::Zext) {
        inner = args[0];
    }
    let pieces = pieces::pieces(inner);
    if pieces.len() > MAX_ELEMENTS {
        return None;
    }
    let mut forms = |pieces: &[Term]| {
        let forms = pieces.iter().map(|&p| writer.form(p));
        forms.collect::<Option<Vec<_>>>()
    };
    let plain = forms(&pieces)?;
    let padded = inner.width() != whole;
    let (mut nests, settled) = roll::nests(&plain);
    let widened = pieces.iter().map(|&p| widen::widened(p));
    if let Some(forms) = widened.collect::<Option<Vec<_>>>().and_then(|p| forms(&p)) {
        nests.extend(roll::nests(&forms).0);
    }
    let outputs = nests.into_iter().map(|nest| Output::Register {
        nest,
        padded,
        width: whole,
    });
    Some((outputs.collect(), settled))
}

/// How many nodes a term has once its loops are written out, shared ones counted once
/// within a loop; saturating.
fn flat_size(t: Term) -> u64 {
    fn visit(root: Term, memo: &mut HashMap<Term, u64>) -> u64 {
        if let Some(&known) = memo.get(&root) {
            return known;
        }
        let (mut seen, mut stack, mut size) = (HashSet::from([root]), vec![root], 0u64);
        while let Some(t) = stack.pop() {
            size = size.saturating_add(1);
            let inner = match t.kind() {
                Kind::Map { count, body } | Kind::Fold { count, body, .. } => {
                    let once = visit(*body, memo);
                    size = size.saturating_add(once.saturating_mul(u64::from(*count)));
                    Some(*body)
                }
                _ => None,
            };
            let outer = t.children().filter(|c| Some(*c) != inner);
            stack.extend(outer.filter(|c| seen.insert(*c)));
        }
        memo.insert(root, size);
        size
    }
    visit(t, &mut HashMap::new())
}

/// The outputs as they stand, every number taken out.
fn direct(instruction: &Instruction, variables: &[String]) -> (Layout, Candidate) {
    let mut taker = Taker {
        variables,
        nodes: Vec::new(),
        index: HashMap::new(),
        numbers: Vec::new(),
        roles: Vec::new(),
        arguments: Vec::new(),
    };
    let mut skeletons = Vec::new();
    for output in &instruction.outputs {
        taker.visit(output.term);
        taker.index.clear();
        skeletons.push(Skeleton {
            nodes: std::mem::take(&mut taker.nodes),
            parameters: 0,
        });
    }
    let parameters = taker.numbers.len();
    skeletons.iter_mut().for_each(|s| s.parameters = parameters);
    let layout = Layout::Direct(skeletons);
    let candidate = Candidate {
        layout: Digest::of(&layout),
        numbers: taker.numbers,
        roles: taker.roles,
        arguments: taker.arguments.into_iter().map(Some).collect(),
        registers: Vec::new(),
        widths: Vec::new(),
    };
    (layout, candidate)
}

struct Taker<'a> {
    variables: &'a [String],
    nodes: Vec<SkeletonNode>,
    index: HashMap<Term, usize>,
    numbers: Vec<Option<i64>>,
    roles: Vec<Role>,
    arguments: Vec<usize>,
}

impl Taker<'_> {
    fn number(&mut self, role: Role, value: i64) -> Number {
        self.numbers.push(Some(value));
        self.roles.push(role);
        Number::Parameter(self.numbers.len() - 1)
    }

    fn shape(&mut self, sort: Sort) -> Shape {
        match sort {
            Sort::Bv(w) => Shape::Bits(self.number(Role::Width, i64::from(w))),
            other => Shape::Other(other),
        }
    }

    fn visit(&mut self, t: Term) -> usize {
        if let Some(&at) = self.index.get(&t) {
            return at;
        }
        let node = self.node(t);
        self.nodes.push(node);
        self.index.insert(t, self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    fn argument(&mut self, name: &str) -> usize {
        let v = self.variables.iter().position(|v| v == name);
        let v = v.expect("every free variable was listed");
        if let Some(at) = self.arguments.iter().position(|&a| a == v) {
            return at;
        }
        self.arguments.push(v);
        self.arguments.len() - 1
    }

    fn node(&mut self, t: Term) -> SkeletonNode {
        match t.kind() {
            Kind::Var { name, sort } => {
                let at = self.argument(name);
                SkeletonNode::Argument(at, self.shape(*sort))
            }
            Kind::Bv(bits) => match bits.to_i128().and_then(|v| i64::try_from(v).ok()) {
                Some(v) => {
                    let width = self.number(Role::Width, i64::from(bits.width()));
                    SkeletonNode::Constant(width, self.number(Role::Value, v))
                }
                None => SkeletonNode::Fixed(bits.clone()),
            },
            Kind::Bool(b) => SkeletonNode::Truth(*b),
            Kind::Int(i) => SkeletonNode::Index(self.number(Role::Offset, *i)),
            Kind::Bound { depth, sort } => SkeletonNode::Bound(*depth, self.shape(*sort)),
            Kind::Map { count, body } => {
                let body = self.visit(*body);
                SkeletonNode::Map(self.number(Role::Count, i64::from(*count)), body)
            }
            Kind::Fold { count, init, body } => {
                let (init, body) = (self.visit(*init), self.visit(*body));
                SkeletonNode::Fold(self.number(Role::Count, i64::from(*count)), init, body)
            }
            Kind::App { op, args } => {
                let args = args.iter().map(|&a| self.visit(a)).collect();
                let params = op.info().params.iter().zip(op.params());
                let params = params
                    .map(|(name, &p)| self.number(Role::of_parameter(name, p), i64::from(p)))
                    .collect();
                SkeletonNode::Apply(Operator::Fixed(op.code), params, args)
            }
        }
    }
}
