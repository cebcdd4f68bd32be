//! Elements as words and numbers.
//!
//! In: the flat term of one element. Out: [`CanonicalForm`]: its operators and leaves as tokens in
//! prefix order, and beside them every number that it holds. Two elements with equal tokens
//! are one operation with different numbers. Sums, products and bitwise operations are
//! flattened and ordered without regard to operand names; arguments that differ only
//! in numbers that rise evenly become one reduction. It does not look across elements:
//! [`super::roll`] does.

use crate::mode::Family;
use semantics::bits::Bits;
use semantics::op::OpCode;
use semantics::sort::Sort;
use semantics::term::{Kind, Term};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;
use std::str::FromStr;

/// Tokens of one element above which it is not written out.
const MAX_TOKENS: usize = 2000;

/// A variable: its position among the instruction's variables, or the source of zeros.
pub(crate) type Variable = usize;

/// What stands for a constant zero where a merge-masked form has its source.
pub(crate) const ZEROS: Variable = usize::MAX;

/// Added to a variable where a masked form takes an element from it that it does not
/// compute: whether that source is also an operand of what is computed makes no other
/// operation.
pub(crate) const SOURCE: Variable = 1 << 32;

/// The variable, whether it is a source or not.
pub(crate) fn variable(v: Variable) -> Variable {
    if v == ZEROS { v } else { v % SOURCE }
}

/// A word of a form.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Token {
    /// An operator with that many arguments; its parameters are numbers.
    Operator(OpCode, usize),
    /// An operator of a family: the mode, then the parameters, are numbers.
    Mode(Family, usize),
    /// An operator over evenly numbered arguments: count; then one of them, then what they
    /// are joined to.
    Reduce(Joiner),
    /// Evenly numbered steps from a memory to the next: count; then a step, then the memory
    /// before it.
    Chain,
    /// The memory before a step.
    Before,
    /// A constant: width and value.
    Constant,
    /// A constant that does not fit a number.
    Fixed(Bits),
    /// A truth value.
    Truth(bool),
    /// One bit as a truth value.
    Bit,
    /// An index constant.
    Index,
    /// Bits of a variable: offset and width.
    Part(Variable),
    /// A variable that has no bits.
    Whole(Variable, Sort),
}

/// The operator of a reduction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Joiner {
    /// Always this one.
    Operator(OpCode),
    /// One of a family; the mode is a number after the count.
    Mode(Family),
}

impl Joiner {
    fn of(code: OpCode) -> (Joiner, Option<Slot>) {
        match Family::of(code) {
            Some((family, mode)) => {
                let slot = Slot::new(Role::Mode(family), mode);
                (Joiner::Mode(family), Some(slot))
            }
            None => (Joiner::Operator(code), None),
        }
    }
}

/// What a number is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Role {
    /// Elements in a lane, or addends in a sum.
    Count,
    /// Lanes of a register.
    Lanes,
    /// Bits of an element.
    Width,
    /// Bits of a whole register.
    Register,
    /// Which operator of a family.
    Mode(Family),
    /// The format of floating-point numbers.
    Format,
    /// How results are rounded.
    Rounding,
    /// Which function of a mathematical library: part of the operator, the same in a class.
    Function(u32),
    /// Bytes that are read from memory.
    Bytes,
    /// Another parameter of an operator.
    Detail,
    /// A bit offset.
    Offset,
    /// Bits from one element or lane to the next.
    Stride,
    /// The value of a constant.
    Value,
}

/// The words for the roles that hold nothing.
const ROLES: [(Role, &str); 11] = [
    (Role::Count, "count"),
    (Role::Lanes, "lanes"),
    (Role::Width, "width"),
    (Role::Register, "register"),
    (Role::Format, "format"),
    (Role::Rounding, "rounding"),
    (Role::Bytes, "bytes"),
    (Role::Detail, "detail"),
    (Role::Offset, "offset"),
    (Role::Stride, "stride"),
    (Role::Value, "value"),
];

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Role::Mode(family) => write!(f, "mode-{}", family.name()),
            Role::Function(which) => write!(f, "function-{which}"),
            plain => {
                let word = ROLES.iter().find(|(role, _)| role == plain);
                f.write_str(word.map_or("", |(_, word)| word))
            }
        }
    }
}

impl FromStr for Role {
    type Err = String;

    /// Reads what [`Display`](fmt::Display) writes.
    fn from_str(word: &str) -> Result<Role, String> {
        let mode = || Family::by_name(word.strip_prefix("mode-")?).map(Role::Mode);
        let which = || word.strip_prefix("function-")?.parse().ok();
        let plain = ROLES.iter().find(|(_, w)| *w == word);
        plain
            .map(|(role, _)| *role)
            .or_else(mode)
            .or_else(|| which().map(Role::Function))
            .ok_or_else(|| format!("`{word}` is no role of a number"))
    }
}

impl Role {
    /// What a parameter of an operator is.
    pub(super) fn of_parameter(name: &str, value: u32) -> Role {
        match name {
            "width" => Role::Width,
            "format" | "from" | "to" => Role::Format,
            "rounding" => Role::Rounding,
            "bytes" => Role::Bytes,
            "function" => Role::Function(value),
            _ => Role::Detail,
        }
    }

    /// Whether the number may differ from element to element.
    fn varies(self) -> bool {
        matches!(self, Role::Offset | Role::Value)
    }
}

/// A number of a form: a value at the first element and steps to the next, the innermost
/// loop first. `None` where any number would do.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Slot {
    pub(crate) role: Role,
    pub(crate) base: Option<i64>,
    pub(crate) steps: Vec<Option<i64>>,
}

impl Slot {
    pub(super) fn new(role: Role, base: i64) -> Slot {
        Slot {
            role,
            base: Some(base),
            steps: Vec::new(),
        }
    }
}

/// An element as tokens and numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CanonicalForm {
    pub(crate) tokens: Vec<Token>,
    pub(crate) slots: Vec<Slot>,
    /// Its width in bits; 0 when it is no bit vector.
    pub(crate) width: u32,
}

/// The operators that may be flattened: associative and commutative.
fn flattens(code: OpCode) -> bool {
    use OpCode as C;
    matches!(
        code,
        C::And
            | C::Or
            | C::BvAnd
            | C::BvOr
            | C::BvXor
            | C::BvAdd
            | C::BvMul
            | C::Smin
            | C::Smax
            | C::Umin
            | C::Umax
    )
}

/// Writes elements of one instruction as forms.
pub(crate) struct Writer<'a> {
    /// The instruction's variables, by name.
    variables: &'a [String],
    /// Mask operands: where they choose between a value and zero, zero is a source.
    masks: &'a [Variable],
    done: HashMap<Term, Option<Rc<CanonicalForm>>>,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(variables: &'a [String], masks: &'a [Variable]) -> Writer<'a> {
        Writer {
            variables,
            masks,
            done: HashMap::new(),
        }
    }

    /// The form of a flat term; nothing when it would be too long.
    pub(crate) fn form(&mut self, t: Term) -> Option<Rc<CanonicalForm>> {
        if let Some(known) = self.done.get(&t) {
            return known.clone();
        }
        let made = match self.steps_of(t) {
            Some(steps) => self.chain(&steps),
            None => self.make(t),
        };
        let made = made.map(|(tokens, slots)| {
            Rc::new(CanonicalForm {
                tokens,
                slots,
                width: t.sort().width().unwrap_or(0),
            })
        });
        let made = made.filter(|f| f.tokens.len() <= MAX_TOKENS);
        self.done.insert(t, made.clone());
        made
    }

    fn variable(&self, name: &str) -> Option<Variable> {
        self.variables.iter().position(|v| v == name)
    }

    fn make(&mut self, t: Term) -> Option<(Vec<Token>, Vec<Slot>)> {
        let width = |w: u32| Slot::new(Role::Width, i64::from(w));
        match t.kind() {
            Kind::Var { name, sort } => {
                let v = self.variable(name)?;
                Some(match sort {
                    Sort::Bv(w) => {
                        let slots = vec![Slot::new(Role::Offset, 0), width(*w)];
                        (vec![Token::Part(v)], slots)
                    }
                    other => (vec![Token::Whole(v, *other)], Vec::new()),
                })
            }
            Kind::Bv(bits) => Some(constant(bits)),
            Kind::Bool(b) => Some((vec![Token::Truth(*b)], Vec::new())),
            Kind::Int(i) => Some((vec![Token::Index], vec![Slot::new(Role::Offset, *i)])),
            Kind::App { op, args } => {
                if let Some((v, lo)) = self.part(t) {
                    let slots = vec![Slot::new(Role::Offset, lo), width(t.width())];
                    return Some((vec![Token::Part(v)], slots));
                }
                self.application(*op, args, t)
            }
            Kind::Map { .. } | Kind::Fold { .. } | Kind::Bound { .. } => None,
        }
    }

    /// Bits of a variable at a constant offset.
    fn part(&self, t: Term) -> Option<(Variable, i64)> {
        let args = t.args_of(OpCode::Extract)?;
        Some((self.variable(args[0].as_var()?)?, args[1].as_int()?))
    }

    fn application(
        &mut self,
        op: semantics::op::Op,
        args: &[Term],
        t: Term,
    ) -> Option<(Vec<Token>, Vec<Slot>)> {
        let mut list = Vec::new();
        if flattens(op.code) {
            flatten(op.code, t, &mut list);
        } else {
            list.extend_from_slice(args);
        }
        let one = |t: &Term| t.as_bits().is_some_and(|b| b.width() == 1 && !b.is_zero());
        if op.code == OpCode::Eq && one(&args[1]) {
            let bit = self.form(args[0])?;
            let tokens = std::iter::once(Token::Bit).chain(bit.tokens.iter().cloned());
            return Some((tokens.collect(), bit.slots.clone()));
        }
        let mut forms = list
            .iter()
            .map(|&a| self.form(a))
            .collect::<Option<Vec<_>>>()?;
        if matches!(op.code, OpCode::Read | OpCode::Write) {
            forms[1] = self.address(args[1])?;
        }
        if op.code == OpCode::Ite && self.is_masked(args) {
            match source(&forms[2]) {
                Some(source) => forms[2] = source,
                None if args[2].as_bits().is_some_and(Bits::is_zero) => {
                    forms[2] = zeros(t.width());
                }
                None => {}
            }
        }
        if flattens(op.code) || op.info().commutative {
            forms.sort_by(|a, b| compare(a, b));
        }
        let start = match (op.code, t.sort()) {
            (OpCode::And, _) => Some((vec![Token::Truth(true)], Vec::new())),
            (OpCode::Or, _) => Some((vec![Token::Truth(false)], Vec::new())),
            (code, Sort::Bv(width)) => code.neutral(width).map(|bits| constant(&bits)),
            _ => None,
        };
        match start {
            Some(start) => Some(joined(op, &forms, start)),
            None => Some(apply(op, &forms)),
        }
    }

    /// Whether this is a choice by a mask bit between a value and another element.
    fn is_masked(&self, args: &[Term]) -> bool {
        let bit = args[0].args_of(OpCode::Eq).map(|eq| eq[0]);
        let variable = bit.and_then(|b| {
            self.part(b)
                .map(|p| p.0)
                .or_else(|| self.variable(b.as_var()?))
        });
        let wide = args[2].sort().width().is_some_and(|w| w > 1);
        wide && variable.is_some_and(|v| self.masks.contains(&v))
    }
}

/// Bits of a variable as the source of what a masked form does not compute.
fn source(form: &CanonicalForm) -> Option<Rc<CanonicalForm>> {
    match form.tokens.as_slice() {
        [Token::Part(v)] => Some(Rc::new(CanonicalForm {
            tokens: vec![Token::Part(v + SOURCE)],
            ..form.clone()
        })),
        _ => None,
    }
}

/// A source of zeros: where its elements lie does not matter.
fn zeros(width: u32) -> Rc<CanonicalForm> {
    let anywhere = Slot {
        role: Role::Offset,
        base: None,
        steps: Vec::new(),
    };
    Rc::new(CanonicalForm {
        tokens: vec![Token::Part(ZEROS)],
        slots: vec![anywhere, Slot::new(Role::Width, i64::from(width))],
        width,
    })
}

pub(super) fn constant(bits: &Bits) -> (Vec<Token>, Vec<Slot>) {
    let value = bits.to_i128().and_then(|v| i64::try_from(v).ok());
    match value {
        Some(v) => {
            let width = Slot::new(Role::Width, i64::from(bits.width()));
            (
                vec![Token::Constant],
                vec![width, Slot::new(Role::Value, v)],
            )
        }
        None => (vec![Token::Fixed(bits.clone())], Vec::new()),
    }
}

/// The most parts that a term is flattened to: parts are shared, and a chain of a few doublings
/// has very many.
const MOST_PARTS: usize = 4096;

pub(super) fn flatten(code: OpCode, t: Term, into: &mut Vec<Term>) {
    match t.args_of(code) {
        Some(args) if into.len() < MOST_PARTS => args.iter().for_each(|&a| flatten(code, a, into)),
        _ => into.push(t),
    }
}

pub(super) fn apply(op: semantics::op::Op, forms: &[Rc<CanonicalForm>]) -> (Vec<Token>, Vec<Slot>) {
    let (mut tokens, mut slots) = (Vec::new(), Vec::new());
    match Family::of(op.code) {
        Some((family, mode)) => {
            tokens.push(Token::Mode(family, forms.len()));
            slots.push(Slot::new(Role::Mode(family), mode));
        }
        None => tokens.push(Token::Operator(op.code, forms.len())),
    }
    for (name, &p) in op.info().params.iter().zip(op.params()) {
        slots.push(Slot::new(Role::of_parameter(name, p), i64::from(p)));
    }
    for form in forms {
        tokens.extend_from_slice(&form.tokens);
        slots.extend_from_slice(&form.slots);
    }
    (tokens, slots)
}

/// Fewer arguments than this are written one by one; two addends are a sum all the same, two
/// conditions a conjunction.
fn least_run(code: OpCode) -> usize {
    match code {
        OpCode::BvAdd | OpCode::And | OpCode::Or => 2,
        _ => 3,
    }
}

/// A sum or the like: arguments that are one form with evenly rising numbers become
/// reductions.
fn joined(
    op: semantics::op::Op,
    forms: &[Rc<CanonicalForm>],
    start: (Vec<Token>, Vec<Slot>),
) -> (Vec<Token>, Vec<Slot>) {
    let (mut tokens, mut slots) = (Vec::new(), Vec::new());
    let mut single: Vec<Rc<CanonicalForm>> = Vec::new();
    let mut at = 0;
    while at < forms.len() {
        let same = forms[at..]
            .iter()
            .take_while(|f| f.tokens == forms[at].tokens)
            .count();
        let group: Vec<&CanonicalForm> = forms[at..at + same].iter().map(Rc::as_ref).collect();
        match steps(&group).filter(|_| same >= least_run(op.code)) {
            Some(steps) => {
                let (joiner, mode) = Joiner::of(op.code);
                tokens.push(Token::Reduce(joiner));
                slots.push(Slot::new(Role::Count, same as i64));
                slots.extend(mode);
                let body = stepped(group[0], &steps, 0);
                tokens.extend(body.tokens);
                slots.extend(body.slots);
            }
            None => single.extend(forms[at..at + same].iter().cloned()),
        }
        at += same;
    }
    let rest = match single.as_slice() {
        [] => start,
        [one] => (one.tokens.clone(), one.slots.clone()),
        several => apply(op, several),
    };
    tokens.extend(rest.0);
    slots.extend(rest.1);
    (tokens, slots)
}

/// The steps of every number over a list of forms with equal tokens, when they are even.
pub(crate) fn steps(forms: &[&CanonicalForm]) -> Option<Vec<Option<i64>>> {
    let first = forms.first()?;
    if forms[1..].iter().any(|f| f.tokens != first.tokens) {
        return None;
    }
    let second = forms.get(1).unwrap_or(first);
    let mut steps = Vec::with_capacity(first.slots.len());
    for at in 0..first.slots.len() {
        let (a, b) = (&first.slots[at], &second.slots[at]);
        let step = match (a.base, b.base) {
            (Some(x), Some(y)) => Some(y.checked_sub(x)?),
            (None, None) => None,
            _ => return None,
        };
        if step.is_some_and(|s| s != 0) && !a.role.varies() {
            return None;
        }
        for (k, form) in (0i64..).zip(forms) {
            let slot = &form.slots[at];
            let want = match (a.base, step) {
                (Some(x), Some(s)) => Some(x.checked_add(s.checked_mul(k)?)?),
                _ => None,
            };
            if slot.base != want || slot.steps != a.steps {
                return None;
            }
        }
        steps.push(step);
    }
    Some(steps)
}

/// A form under one more loop; `outer` loops already stand around it.
pub(crate) fn stepped(form: &CanonicalForm, steps: &[Option<i64>], outer: usize) -> CanonicalForm {
    let mut out = form.clone();
    for (slot, step) in out.slots.iter_mut().zip(steps) {
        if slot.role.varies() {
            let at = slot.steps.len() - outer;
            slot.steps.insert(at, *step);
        }
    }
    out
}

fn blind(token: &Token) -> Token {
    match token {
        Token::Part(_) => Token::Part(0),
        Token::Whole(_, sort) => Token::Whole(0, *sort),
        other => other.clone(),
    }
}

/// An order that looks at operand names last but for the numbers that differ by element.
fn compare(a: &CanonicalForm, b: &CanonicalForm) -> Ordering {
    let blind_of = |f: &CanonicalForm| f.tokens.iter().map(blind).collect::<Vec<_>>();
    let fixed = |f: &CanonicalForm| -> Vec<Option<i64>> {
        let cached = f.slots.iter().filter(|s| !s.role.varies());
        cached.map(|s| s.base).collect()
    };
    let leaf_last = |f: &CanonicalForm| f.tokens.len() == 1 && f.tokens[0] == Token::Constant;
    leaf_last(a)
        .cmp(&leaf_last(b))
        .then_with(|| blind_of(a).cmp(&blind_of(b)))
        .then_with(|| fixed(a).cmp(&fixed(b)))
        .then_with(|| a.tokens.cmp(&b.tokens))
        .then_with(|| a.slots.cmp(&b.slots))
}
