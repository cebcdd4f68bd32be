//! The shape of a whole instruction: words and numbers.
//!
//! In: nests for each output. Out: [`Layout`], equal for instructions that are one operation
//! up to numbers, with the numbers and the operands beside it ([`Candidate`]); and the
//! skeletons of a layout once every number is known as an expression over parameters.
//! Operands are renamed by first use.

use super::form::{CanonicalForm, Joiner, Role, Token, Variable, ZEROS, variable};
use super::roll::{Item, Nest, Run};
use crate::number::Number;
use crate::skeleton::{Operator, Shape, Skeleton, SkeletonNode};
use semantics::digest::Digest;
use semantics::op::{Op, OpCode};
use semantics::sort::Sort;

/// A word of a layout.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Word {
    /// An output of that many runs in a lane, or one that is no register.
    Output(usize, bool),
    /// A run of that many items.
    Run(usize),
    /// An item that is a run.
    Nested,
    /// An item that is an element.
    Element,
    /// A token of an element; variables are renamed.
    Token(Token),
}

/// The shape of an instruction.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Layout {
    /// Outputs as lanes of elements, and the sorts of the arguments (`None`: bits).
    Nested(Vec<NestedWord>, Vec<Option<Sort>>),
    /// Outputs as they were written, for what is too long to be written out.
    Direct(Vec<Skeleton>),
}

/// A word with the roles of its numbers.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct NestedWord {
    word: Word,
    roles: Vec<Role>,
}

/// One way of reading an instruction as a layout with numbers. It may have been kept; then
/// the layout itself is not at hand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Candidate {
    /// What tells its layout from others.
    pub(crate) layout: Digest,
    /// Every number, `None` where any would do.
    pub(crate) numbers: Vec<Option<i64>>,
    /// What each number is.
    pub(crate) roles: Vec<Role>,
    /// The variables in the order of the class's arguments; `None` is the source of zeros.
    pub(crate) arguments: Vec<Option<Variable>>,
    /// For each output that is a register, which number is its whole width.
    pub(crate) registers: Vec<usize>,
    /// For each output that is a register, its whole width.
    pub(crate) widths: Vec<i64>,
}

/// One output on its way into a layout.
pub(crate) enum Output {
    /// A register.
    Register {
        /// The elements.
        nest: Nest,
        /// Whether the bits above the elements are zero, not part of an element.
        padded: bool,
        /// All bits.
        width: u32,
    },
    /// Something that is no bit vector.
    Other(CanonicalForm),
}

#[derive(Default)]
struct Scribe {
    words: Vec<NestedWord>,
    numbers: Vec<Option<i64>>,
    roles: Vec<Role>,
    arguments: Vec<Variable>,
}

impl Scribe {
    fn word(&mut self, word: Word) {
        let roles = Vec::new();
        self.words.push(NestedWord { word, roles });
    }

    fn number(&mut self, role: Role, value: Option<i64>) {
        self.numbers.push(value);
        self.roles.push(role);
        let last = self
            .words
            .last_mut()
            .expect("a word stands before a number");
        last.roles.push(role);
    }

    fn run(&mut self, run: &Run) {
        self.word(Word::Run(run.items.len()));
        self.number(Role::Count, Some(run.count as i64));
        for item in &run.items {
            match item {
                Item::Element(form) => {
                    self.word(Word::Element);
                    self.form(form);
                }
                Item::Run(inner) => {
                    self.word(Word::Nested);
                    self.run(inner);
                }
            }
        }
    }

    fn form(&mut self, form: &CanonicalForm) {
        let mut slots = form.slots.iter();
        for token in &form.tokens {
            let renamed = match token {
                Token::Part(v) => Token::Part(self.argument(*v)),
                Token::Whole(v, sort) => Token::Whole(self.argument(*v), *sort),
                other => other.clone(),
            };
            self.word(Word::Token(renamed));
            for slot in slots.by_ref().take(slots_of(token)) {
                self.number(slot.role, slot.base);
                for step in &slot.steps {
                    self.number(Role::Stride, *step);
                }
            }
        }
    }

    fn argument(&mut self, v: Variable) -> usize {
        if let Some(at) = self.arguments.iter().position(|&a| a == v) {
            return at;
        }
        self.arguments.push(v);
        self.arguments.len() - 1
    }
}

/// How many slots follow a token.
fn slots_of(token: &Token) -> usize {
    match token {
        Token::Operator(code, _) => code.info().params.len(),
        Token::Mode(family, _) => 1 + family.operators()[0].info().params.len(),
        Token::Reduce(Joiner::Mode(_)) => 2,
        Token::Reduce(Joiner::Operator(_)) | Token::Chain | Token::Index => 1,
        Token::Constant | Token::Part(_) => 2,
        Token::Fixed(_) | Token::Truth(_) | Token::Bit | Token::Before | Token::Whole(..) => 0,
    }
}

/// The layout of an instruction with its numbers; `sorts` are those of its variables.
pub(crate) fn read(outputs: &[Output], sorts: &[Sort]) -> (Layout, Candidate) {
    let mut scribe = Scribe::default();
    let (mut registers, mut widths) = (Vec::new(), Vec::new());
    for output in outputs {
        match output {
            Output::Register {
                nest,
                padded,
                width,
            } => {
                scribe.word(Word::Output(nest.runs.len(), true));
                registers.push(scribe.numbers.len());
                widths.push(i64::from(*width));
                scribe.number(Role::Register, padded.then_some(i64::from(*width)));
                scribe.number(Role::Lanes, Some(nest.lanes as i64));
                nest.runs.iter().for_each(|r| scribe.run(r));
            }
            Output::Other(form) => {
                scribe.word(Word::Output(1, false));
                scribe.form(form);
            }
        }
    }
    let mut kinds = Vec::new();
    let arguments = scribe.arguments.clone();
    for &v in &arguments {
        let sort = sorts.get(variable(v)).copied();
        let (kind, width) = match sort {
            Some(Sort::Bv(w)) => (None, Some(i64::from(w))),
            None => (None, None),
            other => (other, None),
        };
        kinds.push(kind);
        scribe.numbers.push(width);
        scribe.roles.push(Role::Register);
    }
    let layout = Layout::Nested(scribe.words, kinds);
    let candidate = Candidate {
        layout: Digest::of(&layout),
        numbers: scribe.numbers,
        roles: scribe.roles,
        arguments: arguments
            .into_iter()
            .map(|v| Some(variable(v)).filter(|&v| v != ZEROS))
            .collect(),
        registers,
        widths,
    };
    (layout, candidate)
}

impl Layout {
    /// The skeletons, one for each output, with these expressions for the numbers.
    /// Arguments that `zero` names are constants of zeros in every member.
    pub(crate) fn skeletons(
        &self,
        numbers: &[Number],
        parameters: usize,
        zero: &[bool],
    ) -> Vec<Skeleton> {
        match self {
            Layout::Direct(skeletons) => {
                let by = |n: &Number| n.substitute(&|p| numbers[p].clone());
                let made = skeletons.iter().map(|s| s.map_numbers(&by, parameters));
                made.collect()
            }
            Layout::Nested(words, kinds) => {
                let widths = numbers[numbers.len() - kinds.len()..].to_vec();
                let mut maker = Maker {
                    words: words.iter(),
                    numbers: numbers.iter(),
                    widths,
                    kinds,
                    zero,
                    nodes: Vec::new(),
                    loops: Vec::new(),
                    chains: Vec::new(),
                };
                let mut out = Vec::new();
                while maker.output().is_some() {
                    out.push(Skeleton {
                        nodes: std::mem::take(&mut maker.nodes),
                        parameters,
                    });
                }
                out
            }
        }
    }
}

/// Writes skeletons from words and numbers.
struct Maker<'a> {
    words: std::slice::Iter<'a, NestedWord>,
    numbers: std::slice::Iter<'a, Number>,
    widths: Vec<Number>,
    kinds: &'a [Option<Sort>],
    zero: &'a [bool],
    nodes: Vec<SkeletonNode>,
    /// De Bruijn indices that each enclosing loop takes: 1 for a map, 2 for a fold, and
    /// where its counter is among them. Outermost first. Loops of one iteration in every
    /// member take none.
    loops: Vec<(u32, u32)>,
    /// Which of the loops are chains of memories.
    chains: Vec<usize>,
}

impl Maker<'_> {
    fn node(&mut self, node: SkeletonNode) -> usize {
        if let Some(at) = self.nodes.iter().position(|n| *n == node) {
            return at;
        }
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn number(&mut self) -> Number {
        let next = self.numbers.next();
        next.expect("a layout has a number for each role").clone()
    }

    fn word(&mut self) -> &Word {
        let next = self.words.next();
        &next.expect("a layout is complete").word
    }

    /// The next output; its root becomes the last node.
    fn output(&mut self) -> Option<()> {
        let (runs, register) = match self.words.next()?.word {
            Word::Output(runs, register) => (runs, register),
            _ => return None,
        };
        let mut root = if register {
            let whole = self.number();
            let lanes = self.number();
            let inner = self.counted(&lanes, |m| {
                let parts = (0..runs).map(|_| m.run()).collect();
                m.concat(parts)
            });
            match whole {
                Number::Constant(0) => inner,
                whole => self.apply(OpCode::Zext, vec![whole], vec![inner]),
            }
        } else {
            self.element()
        };
        if root + 1 != self.nodes.len() {
            let copy = self.nodes[root].clone();
            self.nodes.push(copy);
            root = self.nodes.len() - 1;
        }
        self.nodes.truncate(root + 1);
        Some(())
    }

    fn apply(&mut self, code: OpCode, params: Vec<Number>, args: Vec<usize>) -> usize {
        self.node(SkeletonNode::Apply(Operator::Fixed(code), params, args))
    }

    /// A map, or its body where it always has one element.
    fn counted(&mut self, count: &Number, body: impl FnOnce(&mut Self) -> usize) -> usize {
        let single = *count == Number::Constant(1);
        self.loops.push(if single { (0, 0) } else { (1, 0) });
        let body = body(self);
        self.loops.pop();
        if single {
            body
        } else {
            self.node(SkeletonNode::Map(count.clone(), body))
        }
    }

    /// Parts, the least significant first, as one.
    fn concat(&mut self, mut parts: Vec<usize>) -> usize {
        if let [one] = parts[..] {
            return one;
        }
        parts.reverse();
        self.apply(OpCode::Concat, Vec::new(), parts)
    }

    fn run(&mut self) -> usize {
        let items = match self.word() {
            Word::Run(items) => *items,
            other => unreachable!("a lane holds runs, not {other:?}"),
        };
        let count = self.number();
        self.counted(&count, |m| {
            let mut parts = Vec::new();
            for _ in 0..items {
                let nested = matches!(m.word(), Word::Nested);
                parts.push(if nested { m.run() } else { m.element() });
            }
            m.concat(parts)
        })
    }

    fn element(&mut self) -> usize {
        let token = match self.word() {
            Word::Token(token) => token.clone(),
            other => unreachable!("an element holds tokens, not {other:?}"),
        };
        match token {
            Token::Operator(code, n) => {
                let params = code.info().params.iter().map(|_| self.number()).collect();
                let args: Vec<usize> = (0..n).map(|_| self.element()).collect();
                self.folded(Operator::Fixed(code), code, params, args)
            }
            Token::Mode(family, n) => {
                let mode = self.number();
                let code = family.operators()[0];
                let params = code.info().params.iter().map(|_| self.number()).collect();
                let args: Vec<usize> = (0..n).map(|_| self.element()).collect();
                self.folded(Operator::Mode(family, mode), code, params, args)
            }
            Token::Reduce(joiner) => self.reduce(joiner),
            Token::Chain => self.chain(),
            Token::Before => self.before(),
            Token::Constant => self.constant(),
            Token::Fixed(bits) => self.node(SkeletonNode::Fixed(bits)),
            Token::Truth(b) => self.node(SkeletonNode::Truth(b)),
            Token::Bit => {
                let bit = self.element();
                let one = self.node(SkeletonNode::Constant(
                    Number::Constant(1),
                    Number::Constant(1),
                ));
                self.apply(OpCode::Eq, Vec::new(), vec![bit, one])
            }
            Token::Index => self.affine(),
            Token::Part(v) => self.part(v),
            Token::Whole(v, sort) => self.node(SkeletonNode::Argument(v, Shape::Other(sort))),
        }
    }

    /// An application; flattened operators are written two by two again.
    fn folded(
        &mut self,
        operator: Operator,
        code: OpCode,
        params: Vec<Number>,
        args: Vec<usize>,
    ) -> usize {
        let nothing = |a: usize| {
            matches!(
                &self.nodes[a],
                SkeletonNode::Constant(_, Number::Constant(0))
            )
        };
        if code == OpCode::BvAdd && args.len() == 2 && nothing(args[1]) {
            return args[0];
        }
        if Op::new(code).info().arity != Some(2) || args.len() <= 2 {
            return self.node(SkeletonNode::Apply(operator, params, args));
        }
        let mut all = args.into_iter();
        let first = all.next().expect("more than two arguments");
        all.fold(first, |acc, arg| {
            self.node(SkeletonNode::Apply(
                operator.clone(),
                params.clone(),
                vec![acc, arg],
            ))
        })
    }

    /// The body is written under the fold, then what it is joined to outside.
    fn reduce(&mut self, joiner: Joiner) -> usize {
        let count = self.number();
        let operator = match joiner {
            Joiner::Operator(code) => Operator::Fixed(code),
            Joiner::Mode(family) => Operator::Mode(family, self.number()),
        };
        self.loops.push((2, 1));
        let addend = self.element();
        self.loops.pop();
        let init = self.element();
        let shape = match joiner {
            Joiner::Operator(OpCode::And | OpCode::Or) => Shape::Other(Sort::Bool),
            _ => Shape::Bits(self.width_of(addend)),
        };
        let acc = self.node(SkeletonNode::Bound(0, shape));
        let body = self.node(SkeletonNode::Apply(operator, Vec::new(), vec![acc, addend]));
        self.node(SkeletonNode::Fold(count, init, body))
    }

    /// A step is written under the fold, then the memory before it outside.
    fn chain(&mut self) -> usize {
        let count = self.number();
        self.chains.push(self.loops.len());
        self.loops.push((2, 1));
        let body = self.element();
        self.loops.pop();
        self.chains.pop();
        let init = self.element();
        self.node(SkeletonNode::Fold(count, init, body))
    }

    /// The memory before a step: bound by the fold of the nearest chain.
    fn before(&mut self) -> usize {
        let chain = self.chains.last().copied().unwrap_or_default();
        let inner = self.loops.iter().skip(chain + 1);
        let depth = inner.map(|(binders, _)| binders).sum();
        self.node(SkeletonNode::Bound(depth, Shape::Other(Sort::Mem)))
    }

    /// The width of a node as an expression, from the number nearest below it.
    fn width_of(&self, at: usize) -> Number {
        match &self.nodes[at] {
            SkeletonNode::Argument(_, Shape::Bits(w)) | SkeletonNode::Bound(_, Shape::Bits(w)) => {
                w.clone()
            }
            SkeletonNode::Constant(w, _) => w.clone(),
            SkeletonNode::Fixed(bits) => Number::Constant(i64::from(bits.width())),
            SkeletonNode::Apply(op, params, args) => {
                let code = match op {
                    Operator::Fixed(code) => *code,
                    Operator::Mode(family, _) => family.operators()[0],
                };
                let names = code.info().params;
                match names.iter().position(|n| *n == "width") {
                    Some(k) => params[k].clone(),
                    None if code == OpCode::Concat => args
                        .iter()
                        .map(|&a| self.width_of(a))
                        .reduce(Number::plus)
                        .unwrap_or(Number::Constant(0)),
                    None if code == OpCode::Ite => self.width_of(args[1]),
                    None => args
                        .first()
                        .map_or(Number::Constant(0), |&a| self.width_of(a)),
                }
            }
            SkeletonNode::Map(count, body) => count.clone().times(self.width_of(*body)),
            SkeletonNode::Fold(_, init, _) => self.width_of(*init),
            _ => Number::Constant(0),
        }
    }

    fn constant(&mut self) -> usize {
        let width = self.number();
        let base = self.number();
        let steps: Vec<Number> = self.steps();
        if steps.iter().all(|s| *s == Number::Constant(0)) {
            return self.node(SkeletonNode::Constant(width, base));
        }
        let value = self.sum(&base, &steps);
        self.apply(OpCode::IntToBv, vec![width], vec![value])
    }

    fn part(&mut self, v: usize) -> usize {
        let offset = self.affine();
        let width = self.number();
        if self.zero.get(v) == Some(&true) {
            return self.node(SkeletonNode::Constant(width, Number::Constant(0)));
        }
        let shape = match self.kinds[v] {
            Some(sort) => Shape::Other(sort),
            None => Shape::Bits(self.widths[v].clone()),
        };
        let whole = Shape::Bits(width.clone());
        let start = self.nodes[offset] == SkeletonNode::Index(Number::Constant(0));
        let argument = self.node(SkeletonNode::Argument(v, shape.clone()));
        if start && shape == whole {
            return argument;
        }
        self.apply(OpCode::Extract, vec![width], vec![argument, offset])
    }

    fn steps(&mut self) -> Vec<Number> {
        (0..self.loops.len()).map(|_| self.number()).collect()
    }

    fn affine(&mut self) -> usize {
        let base = self.number();
        let steps = self.steps();
        self.sum(&base, &steps)
    }

    /// `base + step·counter + …` over the enclosing loops, the innermost first.
    fn sum(&mut self, base: &Number, steps: &[Number]) -> usize {
        let mut total: Option<usize> = None;
        let loops = self.loops.clone();
        let mut depth = 0;
        for ((binders, counter), step) in loops.iter().rev().zip(steps) {
            if *binders > 0 && *step != Number::Constant(0) {
                let index = self.node(SkeletonNode::Bound(
                    depth + counter,
                    Shape::Other(Sort::Int),
                ));
                let product = if *step == Number::Constant(1) {
                    index
                } else {
                    let step = self.node(SkeletonNode::Index(step.clone()));
                    self.apply(OpCode::IntMul, Vec::new(), vec![index, step])
                };
                total = Some(match total {
                    None => product,
                    Some(sum) => self.apply(OpCode::IntAdd, Vec::new(), vec![sum, product]),
                });
            }
            depth += binders;
        }
        match total {
            None => self.node(SkeletonNode::Index(base.clone())),
            Some(sum) if *base == Number::Constant(0) => sum,
            Some(sum) => {
                let base = self.node(SkeletonNode::Index(base.clone()));
                self.apply(OpCode::IntAdd, Vec::new(), vec![sum, base])
            }
        }
    }
}
