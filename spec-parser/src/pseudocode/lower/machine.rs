//! Runs the statements of a body.
//!
//! In: a tree and the operands of its signature. Out: the bits of the result variable, or
//! the first thing that has no meaning. Control that depends on operands runs every arm on a
//! copy of the variables and merges what they wrote; loops run with known counters. Work is
//! limited by [`STEPS`], so that a body that does not end is refused.

use super::float::Context;
use super::memory::Memory;
use super::merge::Choice;
use super::place::Place;
use super::register::{Piece, Register};
use super::trace::Events;
use super::value::{self, Class, Computed, Refusal, Value};
use super::{compare, select};
use crate::pseudocode::ast::{
    Arm, Block, Expr, ExprKind, Function, Label, Name, Statement, StatementKind,
};
use crate::pseudocode::{Dialect, Effect};
use semantics::build as b;
use semantics::span::Span;
use semantics::term::Term;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// The most statements that one body may run; a slice counts by its width too.
const STEPS: u32 = 100_000;
/// The deepest calls.
const CALLS: usize = 24;

/// What is wrong with a body, and where.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) message: String,
    pub(crate) span: Span,
    pub(crate) hint: Option<String>,
}

pub(crate) type Run<T> = Result<T, Box<Fault>>;

/// Puts a place on a refusal.
pub(crate) fn at<T>(computed: Computed<T>, span: Span) -> Run<T> {
    computed.map_err(|Refusal(message)| {
        Box::new(Fault {
            message,
            span,
            hint: None,
        })
    })
}

/// A fault with a hint.
pub(crate) fn fault_with_hint<T>(
    message: impl Into<String>,
    span: Span,
    hint: impl Into<String>,
) -> Run<T> {
    Err(Box::new(Fault {
        message: message.into(),
        span,
        hint: Some(hint.into()),
    }))
}

/// A fault without a hint.
pub(crate) fn fault<T>(message: impl Into<String>, span: Span) -> Run<T> {
    at(value::refuse(message), span)
}

/// The fault of a body that runs too long.
fn endless<T>(span: Span) -> Run<T> {
    fault(format!("the body runs more than {STEPS} statements"), span)
}

/// What a name holds.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Slot {
    /// A value without slices written to it.
    Scalar(Value),
    /// Bits.
    Bits(Rc<Register>),
}

/// The variables of the body or of one call.
#[derive(Clone, Default, Debug)]
pub(crate) struct Frame {
    pub(crate) slots: BTreeMap<Name, Slot>,
    pub(crate) memory: Memory,
    /// Registers by number, where one was written.
    pub(crate) files: BTreeMap<Name, Term>,
}

/// How a block ended.
#[derive(Clone, Debug)]
enum Flow {
    Next,
    Break,
    Return(Value),
    /// Returned that value when the condition held, else still running.
    Perhaps(Term, Value),
    /// Left the loop around it when the condition held, with these variables, else still running.
    Left(Term, Box<Frame>),
}

/// One run of a body.
pub(crate) struct Execution {
    pub(crate) dialect: &'static dyn Dialect,
    pub(crate) functions: BTreeMap<Name, Arc<Function>>,
    pub(crate) constants: BTreeMap<Name, i128>,
    pub(crate) tables: BTreeMap<Name, Vec<i128>>,
    /// How what the pointer operands point at is read: class and width of an element.
    pub(crate) pointers: BTreeMap<Name, (Class, u32)>,
    /// How floating-point results are made.
    pub(crate) floats: Context,
    /// Whether sums with addresses count bytes; they count bits otherwise.
    pub(crate) bytes: bool,
    /// Whether it was said that something is done which leaves nothing that a meaning has.
    pub(crate) acts: bool,
    pub(crate) frames: Vec<Frame>,
    /// Names that mean another: spellings of the result variable.
    pub(crate) aliases: BTreeMap<Name, Name>,
    /// Names that the body assigns somewhere, for what is read before it is written.
    pub(crate) assigned: BTreeMap<Name, ()>,
    pub(crate) steps: u32,
    /// What is done to bits, for those who check the body.
    pub(crate) events: Events,
}

impl Execution {
    pub(crate) fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("the body has a frame")
    }

    /// Runs a body; the value of a top-level `RETURN`.
    pub(crate) fn run(&mut self, block: &Block, whole: Span) -> Run<Option<Value>> {
        match self.block(block)? {
            Flow::Return(v) => Ok(Some(v)),
            Flow::Next => Ok(None),
            Flow::Break | Flow::Left(..) => fault("`BREAK` outside a loop", whole),
            Flow::Perhaps(..) => fault("the body returns under some conditions only", whole),
        }
    }

    fn block(&mut self, block: &[Statement]) -> Run<Flow> {
        let mut pending: Option<(Term, Value)> = None;
        let mut left: Option<(Term, Frame)> = None;
        for statement in block {
            let flow = match self.statement(statement)? {
                Flow::Left(c, frame) => {
                    left = Some(leave(left, c, *frame));
                    Flow::Next
                }
                flow => flow,
            };
            if pending.is_some() && (left.is_some() || matches!(flow, Flow::Break)) {
                let message = "`BREAK` after a conditional `RETURN` is not described";
                return fault(message, statement.span);
            }
            match joined(pending.take(), flow) {
                Flow::Next => {}
                Flow::Perhaps(c, v) => pending = Some((c, v)),
                Flow::Break => {
                    let now = self.frame();
                    *now = leave(left, Term::bool(true), std::mem::take(now)).1;
                    return Ok(Flow::Break);
                }
                end if left.is_none() => return Ok(end),
                _ => {
                    let message = "`RETURN` after a conditional `BREAK` is not described";
                    return fault(message, statement.span);
                }
            }
        }
        Ok(match (pending, left) {
            (Some((c, v)), _) => Flow::Perhaps(c, v),
            (None, Some((c, frame))) => Flow::Left(c, Box::new(frame)),
            (None, None) => Flow::Next,
        })
    }

    fn statement(&mut self, s: &Statement) -> Run<Flow> {
        self.step(s.span)?;
        match &s.kind {
            StatementKind::Assign { target, op, value } => {
                self.assign(target, *op, value)?;
                Ok(Flow::Next)
            }
            StatementKind::If { arms, otherwise } => self.conditional(arms, otherwise),
            StatementKind::For {
                variable,
                from,
                to,
                down,
                body,
            } => self.counted(variable, from, to, *down, body),
            StatementKind::Case { subject, arms } => self.selection(subject, arms),
            StatementKind::While { condition, body } => self.repeated(condition, body),
            StatementKind::Return(v) => match v {
                Some(v) => Ok(Flow::Return(self.eval(v)?)),
                None => fault("`RETURN` without a value", s.span),
            },
            StatementKind::Break => Ok(Flow::Break),
            StatementKind::Enum(members) => {
                let mut next = 0;
                for (name, given) in members {
                    let k = given.unwrap_or(next);
                    next = k.wrapping_add(1);
                    self.constants.insert(name.clone(), k);
                }
                Ok(Flow::Next)
            }
            StatementKind::Table { name, values } => {
                self.tables.insert(name.clone(), values.clone());
                Ok(Flow::Next)
            }
            // An exception leaves no result: what follows holds when it was not raised.
            StatementKind::Raise(_) => {
                self.acts = true;
                Ok(Flow::Next)
            }
            StatementKind::Declare(_) | StatementKind::Define(_) => Ok(Flow::Next),
            StatementKind::Call(e) => {
                let ExprKind::Call(name, args) = &e.kind else {
                    return fault("a call for its effect is not described", e.span);
                };
                let arguments: Vec<Value> =
                    args.iter().map(|a| self.eval(a)).collect::<Run<_>>()?;
                self.acts = true;
                match self.dialect.effect(name, &arguments) {
                    Some(Effect::Nothing) => {}
                    Some(Effect::Becomes(register, value)) => {
                        let place = Place::whole(&register.into());
                        self.write_place(&place, &value, e.span)?;
                    }
                    None => return fault("a call for its effect is not described", e.span),
                }
                Ok(Flow::Next)
            }
        }
    }

    /// Counts a statement or a round of a loop.
    fn step(&mut self, span: Span) -> Run<()> {
        self.work(1, span)
    }

    /// Counts work of so many statements.
    pub(crate) fn work(&mut self, statements: u32, span: Span) -> Run<()> {
        self.steps += statements;
        match self.steps > STEPS {
            true => endless(span),
            false => Ok(()),
        }
    }

    fn counted(
        &mut self,
        name: &Name,
        from: &Expr,
        to: &Expr,
        down: bool,
        body: &Block,
    ) -> Run<Flow> {
        let (first, last) = (self.known(from)?, self.known(to)?);
        let count = if down { first - last } else { last - first };
        let ahead = super::ahead::rounds(first, last, down, body);
        if ahead > u64::from(STEPS.saturating_sub(self.steps)) {
            return endless(to.span);
        }
        let mut pending: Option<(Term, Value)> = None;
        let mut exits = Vec::new();
        for n in 0..=count {
            self.step(to.span)?;
            let counter = if down { first - n } else { first + n };
            self.set_scalar(name, Value::Int(counter));
            let flow = self.block(body)?;
            match joined(pending.take(), flow) {
                Flow::Next => {}
                Flow::Perhaps(c, v) if exits.is_empty() => pending = Some((c, v)),
                Flow::Left(c, frame) => exits.push((*frame, b::negate(c))),
                Flow::Break => break,
                end if exits.is_empty() => return Ok(end),
                _ => {
                    let message = "`RETURN` after a conditional `BREAK` is not described";
                    return fault(message, to.span);
                }
            }
        }
        self.leave_by(exits, to.span)?;
        Ok(pending.map_or(Flow::Next, |(c, v)| Flow::Perhaps(c, v)))
    }

    /// The variables after a loop: those at the first exit where it did not go on, else those now.
    fn leave_by(&mut self, exits: Vec<(Frame, Term)>, span: Span) -> Run<()> {
        for (exit, c) in exits.into_iter().rev() {
            let after = std::mem::take(self.frame());
            let ends = vec![(after, Flow::Next), (exit, Flow::Next)];
            self.merge(&[c], ends, None, span)?;
        }
        Ok(())
    }

    /// A counter is a number even where an operand or the result has its name.
    fn set_scalar(&mut self, name: &Name, value: Value) {
        self.frame().slots.insert(name.clone(), Slot::Scalar(value));
    }

    fn conditional(&mut self, arms: &[(Expr, Block)], otherwise: &Block) -> Run<Flow> {
        let Some(((condition, block), rest)) = arms.split_first() else {
            return self.block(otherwise);
        };
        let c = self.condition(condition)?;
        match c.as_bool() {
            Some(true) => self.block(block),
            Some(false) => self.conditional(rest, otherwise),
            None => {
                let before = self.frame().clone();
                self.events.conditions += 1;
                let flow = self.block(block)?;
                let then = (std::mem::replace(self.frame(), before), flow);
                let flow = self.conditional(rest, otherwise)?;
                self.events.conditions -= 1;
                let other = (std::mem::take(self.frame()), flow);
                self.merge(&[c], vec![then, other], None, condition.span)
            }
        }
    }

    fn selection(&mut self, subject: &Expr, arms: &[Arm]) -> Run<Flow> {
        let v = self.eval(subject)?.settled();
        let mut conditions = Vec::new();
        let mut labels = Vec::new();
        let mut chosen: Vec<&Block> = Vec::new();
        let mut default = None;
        for arm in arms {
            let label = match &arm.label {
                Label::Default => {
                    default = Some(&arm.body);
                    break;
                }
                Label::Number(k) => Value::Int(*k),
                Label::Token(name) => match self.constants.get(name) {
                    Some(k) => Value::Int(*k),
                    None => match self.dialect.constant(name) {
                        Some(Value::Int(k)) => Value::Int(k),
                        _ => Value::Token(name.clone()),
                    },
                },
            };
            let c = at(compare::equal(&v, &label), arm.span)?;
            match c.as_bool() {
                Some(false) => {}
                Some(true) => {
                    default = Some(&arm.body);
                    break;
                }
                None => {
                    conditions.push(c);
                    labels.push(label.known().unwrap_or(-1));
                    chosen.push(&arm.body);
                }
            }
        }
        let sym = v.sym().ok();
        let exhaustive = sym.as_ref().is_some_and(|s| {
            s.bounds()
                .is_some_and(|(lo, hi)| hi - lo < 64 && (lo..=hi).all(|k| labels.contains(&k)))
        });
        let nothing = Vec::new();
        if exhaustive {
            conditions.pop();
        } else {
            chosen.push(default.unwrap_or(&nothing));
        }
        if chosen.len() == 1 {
            return self.block(chosen[0]);
        }
        let before = self.frame().clone();
        let mut ends = Vec::new();
        self.events.conditions += 1;
        for block in chosen {
            *self.frame() = before.clone();
            let flow = self.block(block)?;
            ends.push((std::mem::take(self.frame()), flow));
        }
        self.events.conditions -= 1;
        let index = sym
            .filter(|s| exhaustive && s.plain() && (0..).zip(&labels).all(|(n, k)| n == *k))
            .map(|s| s.term);
        let index = index.filter(|t| 1usize.checked_shl(t.width()) == Some(labels.len()));
        self.merge(&conditions, ends, index, subject.span)
    }

    /// `DO WHILE`: every state in which the loop may end, merged from the last backwards.
    fn repeated(&mut self, condition: &Expr, body: &Block) -> Run<Flow> {
        let mut exits: Vec<(Frame, Term)> = Vec::new();
        let mut rounds = 0;
        loop {
            rounds += 1;
            self.step(condition.span)?;
            if rounds > 1024 {
                return fault("the loop does not end after 1024 rounds", condition.span);
            }
            let c = self.condition(condition)?;
            match c.as_bool() {
                Some(false) => break,
                Some(true) => {}
                None => exits.push((self.frame().clone(), c)),
            }
            match self.block(body)? {
                Flow::Next => {}
                Flow::Left(c, frame) => exits.push((*frame, b::negate(c))),
                Flow::Break => break,
                _ => return fault("`RETURN` in a loop is not described", condition.span),
            }
        }
        self.leave_by(exits, condition.span)?;
        self.tidy();
        Ok(Flow::Next)
    }

    /// Gives chains that loops leave behind their operator.
    pub(crate) fn tidy(&mut self) {
        for slot in self.frame().slots.values_mut() {
            match slot {
                Slot::Scalar(Value::Sym(s)) if s.plain() => {
                    if let Some(term) = super::idiom::recognise(s.term).filter(|_| !s.signed) {
                        let most = i128::from(term.width());
                        *s = value::Sym::new(term, false);
                        s.range = Some((0, most));
                    }
                }
                Slot::Bits(register) => {
                    let found = register.rewritten(super::idiom::recognise);
                    if let Some(new) = found {
                        *register = Rc::new(new);
                    }
                }
                Slot::Scalar(_) => {}
            }
        }
    }

    /// Merges the ends of arms; the last is the one when no condition holds. With an
    /// `index`, arm `k` is the one for index `k`.
    fn merge(
        &mut self,
        conditions: &[Term],
        ends: Vec<(Frame, Flow)>,
        index: Option<Term>,
        span: Span,
    ) -> Run<Flow> {
        let choice = Choice { conditions, index };
        if ends.iter().all(|(_, f)| matches!(f, Flow::Return(_))) {
            let values: Vec<Value> = ends
                .iter()
                .filter_map(|(_, f)| match f {
                    Flow::Return(v) => Some(v.clone()),
                    _ => None,
                })
                .collect();
            let frame = ends.into_iter().next().expect("there is an arm").0;
            *self.frame() = frame;
            return Ok(Flow::Return(choice.values(&values)));
        }
        if ends.iter().any(|(_, f)| leaves(f)) {
            if ends
                .iter()
                .all(|(_, f)| leaves(f) || matches!(f, Flow::Next))
            {
                return Ok(self.merge_breaks(conditions, ends));
            }
            return fault(
                "`BREAK` and `RETURN` in one statement are not described",
                span,
            );
        }
        if ends.iter().all(|(_, f)| matches!(f, Flow::Next)) {
            let frames: Vec<Frame> = ends.into_iter().map(|(f, _)| f).collect();
            *self.frame() = choice.frames(&frames);
            return Ok(Flow::Next);
        }
        self.merge_returns(conditions, ends)
    }

    /// Some arms left the loop: what follows runs on the merged others.
    fn merge_breaks(&mut self, conditions: &[Term], ends: Vec<(Frame, Flow)>) -> Flow {
        let either = |c: Term, frame: Frame, other: Option<Frame>| match other {
            None => frame,
            Some(other) => Choice {
                conditions: &[c],
                index: None,
            }
            .frames(&[frame, other]),
        };
        let (mut when, mut left, mut stays) = (Term::bool(false), None, None);
        let otherwise = Term::bool(true);
        let guards = conditions.iter().chain([&otherwise]);
        let all: Vec<_> = guards.zip(ends).collect();
        for (&c, (end, flow)) in all.into_iter().rev() {
            let (leaves, gone, on) = match flow {
                Flow::Left(c, gone) => (c, Some(*gone), Some(end)),
                Flow::Break => (Term::bool(true), Some(end), None),
                _ => (Term::bool(false), None, Some(end)),
            };
            when = b::ite(c, leaves, when);
            left = gone.map(|gone| either(c, gone, left.take())).or(left);
            stays = on.map(|on| either(c, on, stays.take())).or(stays);
        }
        let left = left.unwrap_or_default();
        match stays {
            Some(frame) => {
                *self.frame() = frame;
                Flow::Left(when, Box::new(left))
            }
            None => {
                *self.frame() = left;
                Flow::Break
            }
        }
    }

    /// Some arms returned: what follows runs on the merged others.
    fn merge_returns(&mut self, conditions: &[Term], ends: Vec<(Frame, Flow)>) -> Run<Flow> {
        let mut taken: Option<(Term, Value)> = None;
        let mut frame: Option<Frame> = None;
        let otherwise = Term::bool(true);
        let guards = conditions.iter().chain([&otherwise]);
        let all: Vec<_> = guards.zip(ends).collect();
        for (&c, (end, flow)) in all.into_iter().rev() {
            let returned = match flow {
                Flow::Return(v) => Some((Term::bool(true), v)),
                Flow::Perhaps(c2, v) => Some((c2, v)),
                _ => None,
            };
            let stays = returned
                .as_ref()
                .is_none_or(|(c2, _)| c2.as_bool() != Some(true));
            taken = match (returned, taken) {
                (None, None) => None,
                (None, Some((d, w))) => Some((b::both(b::negate(c), d), w)),
                (Some((c2, v)), None) => Some((b::both(c, c2), v)),
                (Some((c2, v)), Some((d, w))) => {
                    Some((b::ite(c, c2, d), select::select(c, &v, &w)))
                }
            };
            if stays {
                frame = Some(match frame {
                    None => end,
                    Some(other) => Choice {
                        conditions: &[c],
                        index: None,
                    }
                    .frames(&[end, other]),
                });
            }
        }
        *self.frame() = frame.unwrap_or_default();
        let (c, v) = taken.expect("an arm returned");
        Ok(Flow::Perhaps(c, v))
    }

    /// Calls a function of the body.
    pub(crate) fn call(&mut self, f: &Arc<Function>, args: &[Expr], span: Span) -> Run<Value> {
        if args.len() != f.formals.len() {
            let message = format!(
                "`{}` takes {} arguments, not {}",
                f.name,
                f.formals.len(),
                args.len()
            );
            return fault(message, span);
        }
        if self.frames.len() > CALLS {
            return fault(format!("`{}` calls itself too often", f.name), span);
        }
        let mut frame = Frame::default();
        for (formal, arg) in f.formals.iter().zip(args) {
            let mut v = self.eval(arg)?;
            if let Some(width) = formal.width {
                v = self.cut_argument(&v, width, arg.span)?;
            }
            frame.slots.insert(formal.name.clone(), Slot::Scalar(v));
        }
        frame.memory = std::mem::take(&mut self.frame().memory);
        frame.files = std::mem::take(&mut self.frame().files);
        self.frames.push(frame);
        let flow = self.block(&f.body);
        let after = self.frames.pop().unwrap_or_default();
        (self.frame().memory, self.frame().files) = (after.memory, after.files);
        match flow? {
            Flow::Return(v) => Ok(v),
            _ => fault(format!("`{}` does not always return a value", f.name), span),
        }
    }

    /// An argument at the width of its formal parameter; its reading stays.
    fn cut_argument(&self, v: &Value, width: u32, span: Span) -> Run<Value> {
        match v {
            Value::Sym(s) if s.plain() && s.term.width() == width => Ok(v.clone()),
            Value::Int(k) if *k >= 0 => Ok(v.clone()),
            _ => {
                let signed = matches!(v, Value::Sym(s) if s.signed);
                let term = at(v.bits(width), span)?;
                Ok(Value::Sym(value::Sym::new(term, signed)))
            }
        }
    }

    /// A condition; `AND` and `OR` do not look at their right side when the left decides.
    pub(crate) fn condition(&mut self, e: &Expr) -> Run<Term> {
        use crate::pseudocode::ast::{BinaryOp, UnaryOp};
        match &e.kind {
            ExprKind::Unary(UnaryOp::Not | UnaryOp::LogicalNot, inner) => {
                Ok(b::negate(self.condition(inner)?))
            }
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), x, y)
                if logical(x) && logical(y) =>
            {
                self.decided(*op == BinaryOp::Or, x, y)
            }
            _ => {
                let v = self.eval(e)?;
                // What is compared and known is 0 or 1.
                if self.dialect.has_bits() && !matches!(v, Value::Truth(_) | Value::Int(0 | 1)) {
                    let is = if v.width().is_some() {
                        "bits"
                    } else {
                        "a number"
                    };
                    let message = format!("this is {is}, not a truth value: compare it");
                    return fault(message, e.span);
                }
                at(v.truth(), e.span)
            }
        }
    }

    /// Whether either or both hold: what the first decides, the second is not asked.
    pub(crate) fn decided(&mut self, either: bool, x: &Expr, y: &Expr) -> Run<Term> {
        let left = self.condition(x)?;
        if left.as_bool() == Some(either) {
            return Ok(left);
        }
        let right = self.condition(y)?;
        Ok(match either {
            true => b::either(left, right),
            false => b::both(left, right),
        })
    }

    /// The bits of a returned value.
    pub(crate) fn returned(&self, v: &Value, width: u32, span: Span) -> Run<Term> {
        self.fits(v, width, span)?;
        at(v.bits(width), span)
    }

    /// Refuses a value that is not of that many bits, where bits have a width.
    pub(crate) fn fits(&self, v: &Value, width: u32, span: Span) -> Run<()> {
        if !self.dialect.has_bits() {
            return Ok(());
        }
        match v.width() {
            Some(own) if own == width => Ok(()),
            Some(own) => fault_with_hint(
                format!("this has {own} bits, not {width}"),
                span,
                match own > width {
                    true => format!("a slice has as many: `x<{}:0>`", width - 1),
                    false => format!(
                        "`ZeroExtend(x, {width})` and `SignExtend(x, {width})` have as many"
                    ),
                },
            ),
            None => fault_with_hint(
                format!("this is no value of {width} bits"),
                span,
                format!("a slice of an integer has a width: `x<{}:0>`", width - 1),
            ),
        }
    }

    /// An integer that must be known while lowering.
    pub(crate) fn known(&mut self, e: &Expr) -> Run<i128> {
        match self.eval(e)?.known() {
            Some(k) => Ok(k),
            None => fault("this must not depend on operands", e.span),
        }
    }
}

/// Whether an expression is a truth value by its form.
fn logical(e: &Expr) -> bool {
    use crate::pseudocode::ast::{BinaryOp as B, UnaryOp};
    match &e.kind {
        ExprKind::Unary(UnaryOp::Not | UnaryOp::LogicalNot, inner) => logical(inner),
        ExprKind::Binary(B::And | B::Or, x, y) => logical(x) && logical(y),
        ExprKind::Binary(B::Eq | B::Ne | B::Lt | B::Le | B::Gt | B::Ge, ..)
        | ExprKind::Variable(..)
        | ExprKind::Index(..) => true,
        _ => false,
    }
}

/// Whether a loop is left, perhaps under a condition.
fn leaves(flow: &Flow) -> bool {
    matches!(flow, Flow::Break | Flow::Left(..))
}

/// When a loop was left by now, and with which variables: what was left before counts.
fn leave(before: Option<(Term, Frame)>, c: Term, frame: Frame) -> (Term, Frame) {
    let Some((earlier, first)) = before else {
        return (c, frame);
    };
    let choice = Choice {
        conditions: &[earlier],
        index: None,
    };
    (b::either(earlier, c), choice.frames(&[first, frame]))
}

/// A pending conditional return, followed by another end.
fn joined(pending: Option<(Term, Value)>, flow: Flow) -> Flow {
    match (pending, flow) {
        (None, flow) => flow,
        (Some((c, v)), Flow::Next) => Flow::Perhaps(c, v),
        (Some((c, v)), Flow::Return(w)) => Flow::Return(select::select(c, &v, &w)),
        (Some((c, v)), Flow::Perhaps(d, w)) => {
            Flow::Perhaps(b::either(c, d), select::select(c, &v, &w))
        }
        (Some(_), end @ (Flow::Break | Flow::Left(..))) => end,
    }
}

/// The bits of a slot; nothing for what is not there.
pub(crate) fn as_bits(slot: Option<&Slot>) -> Rc<Register> {
    match slot {
        Some(Slot::Bits(register)) => register.clone(),
        Some(Slot::Scalar(v)) => {
            let wide = v.sym().map(|s| s.plainly());
            Rc::new(wide.map_or_else(
                |_| Register::default(),
                |s| {
                    Register::temporary(Piece {
                        term: s.term,
                        class: s.class,
                        element: s.element,
                    })
                },
            ))
        }
        None => Rc::default(),
    }
}

/// The class of a signed or unsigned integer.
pub(crate) fn class_of(signed: bool) -> Class {
    if signed {
        Class::Signed
    } else {
        Class::Unsigned
    }
}
