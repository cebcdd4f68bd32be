//! Matching an instruction's element against a goal's element.
//!
//! In: a pattern (a flat term over an instruction's operands) and a goal (a flat term over
//! a window's inputs). Out: [`Binding`]s: which goal term each operand slice has to be so
//! that the two are equal. Matching works on meaning as far as cheap rules carry: sums,
//! products and lattice operations match up to order and grouping, an extension of an
//! operand matches any goal that is such an extension, a missing factor is 1 and a missing
//! summand is 0. What it returns is a proposal: the caller proves the whole program.
//!
//! It does not look at more than one element and does not know costs.

use crate::fragment::is_much;
use semantics::bits::Bits;
use semantics::build as b;
use semantics::op::{Op, OpCode};
use semantics::range::{exactly, range};
use semantics::subst::free_vars;
use semantics::term::{self, Term};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::rc::Rc;

/// A slice of an operand: its name, the lowest bit, the width.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Slot {
    /// The operand.
    pub operand: &'static str,
    /// The lowest bit.
    pub lo: u32,
    /// Number of bits.
    pub width: u32,
}

impl Slot {
    fn overlaps(&self, other: &Slot) -> bool {
        let end = |s: &Slot| s.lo + s.width;
        self.operand == other.operand && self.lo < end(other) && other.lo < end(self)
    }
}

/// What each operand slice has to be.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Binding {
    /// Goal terms by slice, in the order of these; slices never overlap in part.
    slots: Vec<(Slot, Term)>,
}

/// What a slice that has to be a term means for a binding.
enum Place {
    Bound,
    Free(usize),
    Contradicts,
}

impl Binding {
    /// Slices of operands, and what each has to be.
    pub fn slots(&self) -> &[(Slot, Term)] {
        &self.slots
    }

    /// Requires a slice to be a term; false when it already has to be another one.
    fn bind(&mut self, slot: Slot, t: Term) -> bool {
        match self.place(slot, t) {
            Place::Bound => true,
            Place::Contradicts => false,
            Place::Free(at) => {
                self.slots.insert(at, (slot, t));
                true
            }
        }
    }

    /// Slices do not overlap, so only neighbours may contradict a new one.
    fn place(&self, slot: Slot, t: Term) -> Place {
        let at = match self.slots.binary_search_by(|(old, _)| old.cmp(&slot)) {
            Ok(at) if self.slots[at].1 == t => return Place::Bound,
            Ok(_) => return Place::Contradicts,
            Err(at) => at,
        };
        let overlaps = |at: usize| self.slots.get(at).is_some_and(|(s, _)| s.overlaps(&slot));
        match overlaps(at) || at > 0 && overlaps(at - 1) {
            true => Place::Contradicts,
            false => Place::Free(at),
        }
    }

    /// Joins another binding; false, and nothing is changed, when they contradict each other.
    pub fn join(&mut self, other: &Binding) -> bool {
        let agrees =
            |(slot, t): &(Slot, Term)| !matches!(self.place(*slot, *t), Place::Contradicts);
        let fits = other.slots.iter().all(agrees);
        fits && other.slots.iter().all(|&(slot, t)| self.bind(slot, t))
    }
}

/// How many steps matching one element may take.
const MAX_STEPS: u32 = 4_000;
/// How many bindings one element may have; more would not help and cost time.
const MAX_BINDINGS: usize = 24;

/// The slice of an operand that a pattern leaf reads.
pub fn slot_of(pattern: Term) -> Option<Slot> {
    if let Some(operand) = pattern.as_var() {
        return Some(Slot {
            operand,
            lo: 0,
            width: pattern.sort().width()?,
        });
    }
    let args = pattern.args_of(OpCode::Extract)?;
    let operand = args[0].as_var()?;
    let lo = u32::try_from(args[1].as_int()?).ok()?;
    Some(Slot {
        operand,
        lo,
        width: pattern.width(),
    })
}

/// All ways, up to a limit, to make the pattern equal to the goal, in a fixed order. `widths`
/// has the element width of each operand, where it is known; `facts` is kept from one match to the next.
pub fn match_element(
    pattern: Term,
    goal: Term,
    widths: &HashMap<String, u32>,
    facts: &Facts,
) -> Vec<Binding> {
    let matcher = Matcher {
        widths,
        facts,
        steps: Cell::new(MAX_STEPS),
    };
    let mut found = matcher.unify(pattern, goal, &Binding::default());
    let mut kept: Vec<Binding> = Vec::new();
    for binding in found.drain(..) {
        if !kept.contains(&binding) {
            kept.push(binding);
        }
    }
    kept
}

/// What was found out of terms of goals: many candidates ask for it.
#[derive(Default)]
pub struct Facts {
    variables: RefCell<HashMap<Term, Rc<[Term]>>>,
    kinds: RefCell<HashMap<Term, Rc<Kind>>>,
    narrowed: RefCell<HashMap<(OpCode, Term, u32), Option<Term>>>,
    lifted: RefCell<HashMap<(Term, u32), Option<Term>>>,
    least: RefCell<HashMap<Term, i128>>,
}

/// What is known by a key, or made now.
fn known<K: Eq + Hash, V: Clone>(
    all: &RefCell<HashMap<K, V>>,
    key: K,
    make: impl FnOnce() -> V,
) -> V {
    all.borrow_mut().entry(key).or_insert_with(make).clone()
}

impl Facts {
    /// The free variables of a term.
    pub(crate) fn variables(&self, t: Term) -> Rc<[Term]> {
        known(&self.variables, t, || free_vars(t).into())
    }

    /// What a part of a sum has in common with those made in the same way.
    fn kind(&self, t: Term) -> Rc<Kind> {
        known(&self.kinds, t, || {
            let variables = self.variables(t);
            let inputs: BTreeSet<&str> = variables.iter().filter_map(|v| v.as_var()).collect();
            let operator = t.as_app().map(|(op, _)| op.code);
            Rc::new((inputs.into_iter().collect(), t.size(), operator))
        })
    }

    fn narrowed(&self, code: OpCode, t: Term, width: u32) -> Option<Term> {
        known(&self.narrowed, (code, t, width), || {
            narrowed(code, t, width)
        })
    }

    /// For the same saturation of a narrower value: that value, extended to the pattern's width.
    fn same_width_saturation(&self, op: Op, pa: &[Term], top: Op, ta: &[Term]) -> Option<Term> {
        if op != top || pa[0].sort() == ta[0].sort() {
            return None;
        }
        let (width, t) = (pa[0].sort().width()?, *ta.first()?);
        match op.code {
            OpCode::SatSS | OpCode::SatSU if t.width() < width => Some(b::sext(t, width)),
            OpCode::SatUU | OpCode::SatUS if t.width() < width => Some(b::zext(t, width)),
            OpCode::SatSS | OpCode::SatSU => self.narrowed(OpCode::Sext, t, width),
            OpCode::SatUU | OpCode::SatUS => self.narrowed(OpCode::Zext, t, width),
            _ => None,
        }
    }

    /// For a sum, difference or product that cannot leave its width: the same in the width of a
    /// pattern's value that is saturated to it, which changes nothing.
    fn exact(&self, op: Op, pa: &[Term], t: Term) -> Option<Term> {
        let is_sum = |t: Term| {
            t.as_app()
                .is_some_and(|(op, _)| matches!(op.code, OpCode::BvAdd | OpCode::BvSub))
        };
        let least = || known(&self.least, t, || range(t).0);
        let saturates = match op.code {
            OpCode::SatSS => is_sum(t),
            OpCode::SatSU | OpCode::SatUU => is_sum(t) && least() >= 0,
            _ => false,
        };
        if !saturates || !is_sum(pa[0]) {
            return None;
        }
        let width = pa[0].sort().width().filter(|w| *w > t.width())?;
        known(&self.lifted, (t, width), || {
            (!is_much(t)).then(|| lifted(t, width)).flatten()
        })
    }
}

/// What matching needs to know of the candidate.
struct Matcher<'a> {
    widths: &'a HashMap<String, u32>,
    facts: &'a Facts,
    /// Steps that are left: sums of many equal parts match in too many ways to try all.
    steps: Cell<u32>,
}

impl Matcher<'_> {
    /// Requires a slice to be a term. A slice that is some of the upper bits of an element,
    /// when the term is those bits of something, requires the whole element to be that.
    fn bind(&self, env: &mut Binding, slot: Slot, t: Term) -> bool {
        let Some(&element) = self.widths.get(slot.operand) else {
            return env.bind(slot, t);
        };
        let inside = slot.lo % element;
        if inside == 0 || inside + slot.width > element {
            return env.bind(slot, t);
        }
        let whole = t
            .args_of(OpCode::Extract)
            .filter(|a| a[0].width() == element && a[1].as_int() == Some(i64::from(inside)));
        match whole {
            Some(a) => env.bind(
                Slot {
                    lo: slot.lo - inside,
                    width: element,
                    ..slot
                },
                a[0],
            ),
            None => env.bind(slot, t),
        }
    }

    fn unify(&self, p: Term, t: Term, env: &Binding) -> Vec<Binding> {
        if p.sort() != t.sort() || self.steps.get() == 0 {
            return Vec::new();
        }
        self.steps.set(self.steps.get() - 1);
        if let Some(slot) = slot_of(p) {
            let mut env = env.clone();
            return if self.bind(&mut env, slot, t) {
                vec![env]
            } else {
                Vec::new()
            };
        }
        match p.kind() {
            term::Kind::App { op, args } => match op.code {
                OpCode::Sext | OpCode::Zext => self.unify_extension(op.code, p, args[0], t, env),
                OpCode::BvAdd | OpCode::BvSub => self.unify_sum(p, t, env),
                OpCode::BvMul => self.unify_product(p, t, env),
                // What is subtracted from a value may be a constant of the goal.
                OpCode::BvNeg if t.as_bits().is_some() => self.unify(args[0], b::neg(t), env),
                OpCode::BvNot if t.as_bits().is_some() => self.unify(args[0], b::not(t), env),
                OpCode::Ite => self.unify_choice(p, t, env),
                _ if associative(op.code) => self.unify_flat(op.code, p, t, env),
                _ => self.unify_same(p, t, env),
            },
            _ if p == t => vec![env.clone()],
            _ => Vec::new(),
        }
    }

    /// `ext(p)` matches any `t` that is the same extension of its own low bits.
    fn unify_extension(
        &self,
        code: OpCode,
        p: Term,
        inner: Term,
        t: Term,
        env: &Binding,
    ) -> Vec<Binding> {
        self.facts.narrowed(code, t, inner.width()).map_or_else(
            || self.unify_same(p, t, env),
            |low| self.unify(inner, low, env),
        )
    }

    /// Same operator, arguments one by one; both orders of a commutative one.
    fn unify_same(&self, p: Term, t: Term, env: &Binding) -> Vec<Binding> {
        let (Some((op, pa)), Some((top, ta))) = (p.as_app(), t.as_app()) else {
            return Vec::new();
        };
        if let Some(t) = self.facts.same_width_saturation(op, pa, top, ta) {
            return self.unify(pa[0], t, env);
        }
        if let Some(t) = self.facts.exact(op, pa, t) {
            return self.unify(pa[0], t, env);
        }
        if op != top || pa.len() != ta.len() {
            return Vec::new();
        }
        let mut found = self.unify_list(pa, ta, env);
        if op.info().commutative {
            found.extend(self.unify_list(pa, &[ta[1], ta[0]], env));
        }
        found.truncate(MAX_BINDINGS);
        found
    }

    /// A choice matches the same choice; an absolute difference without sign any value, which is
    /// its own from 0.
    fn unify_choice(&self, p: Term, t: Term, env: &Binding) -> Vec<Binding> {
        let found = self.unify_same(p, t, env);
        if !found.is_empty() {
            return found;
        }
        difference(p).map_or(found, |of| {
            self.unify_list(&of, &[t, b::zero(t.width())], env)
        })
    }

    fn unify_list(&self, ps: &[Term], ts: &[Term], env: &Binding) -> Vec<Binding> {
        let mut envs = vec![env.clone()];
        for (&p, &t) in ps.iter().zip(ts) {
            envs = envs
                .iter()
                .flat_map(|e| self.unify(p, t, e))
                .take(MAX_BINDINGS)
                .collect();
        }
        envs
    }

    fn unify_sum(&self, p: Term, t: Term, env: &Binding) -> Vec<Binding> {
        let patterns = summands(p);
        let (mut goal, absent) = (summands(t), b::zero(t.width()));
        // Those that are made alike of the same inputs are likeliest to belong together.
        goal.sort_by_cached_key(|t| self.facts.kind(*t));
        let join = |parts: &[Term]| {
            parts
                .iter()
                .copied()
                .reduce(b::add)
                .expect("parts are not empty")
        };
        Distribution {
            matcher: self,
            goal: &goal,
            join,
            absent: Some(absent),
        }
        .run(patterns, env)
    }

    fn unify_product(&self, p: Term, t: Term, env: &Binding) -> Vec<Binding> {
        let patterns = flatten(OpCode::BvMul, p);
        let goal = factors(t);
        let join = |parts: &[Term]| {
            parts
                .iter()
                .copied()
                .reduce(b::mul)
                .expect("parts are not empty")
        };
        if t.as_bits().is_some_and(Bits::is_zero) {
            // One factor is 0; the others may be anything.
            let mut found: Vec<Binding> = (patterns.iter().rev())
                .flat_map(|&p| self.unify(p, t, env))
                .collect();
            found.truncate(MAX_BINDINGS);
            return found;
        }
        Distribution {
            matcher: self,
            goal: &goal,
            join,
            absent: Some(Term::bv(t.width(), 1)),
        }
        .run(patterns, env)
    }

    fn unify_flat(&self, code: OpCode, p: Term, t: Term, env: &Binding) -> Vec<Binding> {
        let goal = flatten(code, t);
        if goal.len() < 2 {
            return Vec::new();
        }
        let patterns = flatten(code, p);
        let join: fn(&[Term]) -> Term = match code {
            OpCode::BvAnd => |x| x.iter().copied().reduce(b::and).expect("not empty"),
            OpCode::BvOr => |x| x.iter().copied().reduce(b::or).expect("not empty"),
            OpCode::BvXor => |x| x.iter().copied().reduce(b::xor).expect("not empty"),
            OpCode::Smin => |x| x.iter().copied().reduce(b::smin).expect("not empty"),
            OpCode::Smax => |x| x.iter().copied().reduce(b::smax).expect("not empty"),
            OpCode::Umin => |x| x.iter().copied().reduce(b::umin).expect("not empty"),
            OpCode::Umax => |x| x.iter().copied().reduce(b::umax).expect("not empty"),
            OpCode::And => |x| x.iter().copied().reduce(b::both).expect("not empty"),
            _ => |x| x.iter().copied().reduce(b::either).expect("not empty"),
        };
        Distribution {
            matcher: self,
            goal: &goal,
            join,
            absent: None,
        }
        .run(patterns, env)
    }
}

/// How the parts of a flattened goal are given to the parts of a flattened pattern.
struct Distribution<'a> {
    matcher: &'a Matcher<'a>,
    goal: &'a [Term],
    join: fn(&[Term]) -> Term,
    absent: Option<Term>,
}

impl Distribution<'_> {
    /// Gives `patterns` in turn one of the goal's unused parts; patterns that are bare
    /// operands come last and share what is left.
    fn assign(
        &self,
        patterns: &[Term],
        order: &[usize],
        used: u64,
        env: &Binding,
        out: &mut Vec<Binding>,
    ) {
        if out.len() >= MAX_BINDINGS || self.matcher.steps.get() == 0 {
            return;
        }
        let Some((&p, rest)) = patterns.split_first() else {
            if used.count_ones() as usize == self.goal.len() {
                out.push(env.clone());
            }
            return;
        };
        let free = (0..self.goal.len()).filter(|k| used >> k & 1 == 0);
        if rest.is_empty() {
            let left: Vec<Term> = free.map(|k| self.goal[k]).collect();
            let whole = if left.is_empty() {
                self.absent
            } else {
                Some((self.join)(&left))
            };
            out.extend(
                whole
                    .into_iter()
                    .flat_map(|t| self.matcher.unify(p, t, env)),
            );
            return;
        }
        let bare = slot_of(p).is_some();
        let two_bare = bare && rest.len() == 1 && slot_of(rest[0]).is_some();
        if two_bare && used == 0 && self.goal.len() >= FEWEST_GROUPED {
            return self.assign_groups(p, rest, order, env, out);
        }
        let turns = (0..self.goal.len()).map(|turn| if bare { order[turn] } else { turn });
        for k in turns.filter(|k| used >> k & 1 == 0) {
            for e in self.matcher.unify(p, self.goal[k], env) {
                self.assign(rest, order, used | 1 << k, &e, out);
            }
        }
        if let Some(absent) = self
            .absent
            .filter(|_| self.goal.len() < patterns.len() + used.count_ones() as usize)
        {
            for e in self.matcher.unify(p, absent, env) {
                self.assign(rest, order, used, &e, out);
            }
        }
    }

    /// Gives two bare operands many parts: to one of them those that are made alike of the same
    /// input, to the other one the rest; where all are alike, one half each.
    fn assign_groups(
        &self,
        p: Term,
        rest: &[Term],
        order: &[usize],
        env: &Binding,
        out: &mut Vec<Binding>,
    ) {
        let mut groups: Vec<(Rc<Kind>, Vec<usize>)> = Vec::new();
        for (k, t) in self.goal.iter().enumerate() {
            let kind = self.matcher.facts.kind(*t);
            match groups.iter_mut().find(|(other, _)| *other == kind) {
                Some((_, group)) => group.push(k),
                None => groups.push((kind, vec![k])),
            }
        }
        let all = self.goal.len();
        if let [(_, alike)] = &mut groups[..] {
            alike.truncate(if all.is_multiple_of(2) { all / 2 } else { 1 });
        }
        groups.sort_by_key(|(_, group)| group.len());
        for (_, group) in &groups {
            let parts: Vec<Term> = group.iter().map(|&k| self.goal[k]).collect();
            let used = group.iter().fold(0, |used, k| used | 1 << k);
            for e in self.matcher.unify(p, (self.join)(&parts), env) {
                self.assign(rest, order, used, &e, out);
            }
        }
    }

    fn run(&self, mut patterns: Vec<Term>, env: &Binding) -> Vec<Binding> {
        if self.goal.len() > 60 {
            return Vec::new();
        }
        patterns.sort_by_key(|p| (slot_of(*p).is_some(), std::cmp::Reverse(p.size())));
        // What is unlike the parts before it is likelier to stand apart than one of many alike.
        let kind = |t: &Term| self.matcher.facts.kind(*t);
        let kinds: Vec<_> = self.goal.iter().map(kind).collect();
        let mut order: Vec<usize> = (0..kinds.len()).collect();
        order.sort_by_key(|k| kinds[..*k].contains(&kinds[*k]));
        let mut out = Vec::new();
        self.assign(&patterns, &order, 0, env, &mut out);
        out
    }
}

/// The fewest parts that are given to two operands by groups.
const FEWEST_GROUPED: usize = 4;

/// What two parts of a sum have in common that are made in the same way, of the same inputs: these,
/// the size, the operator.
type Kind = (Vec<&'static str>, u32, Option<OpCode>);

/// The values of which a term is the absolute difference without sign.
pub(crate) fn difference(t: Term) -> Option<[Term; 2]> {
    let (two, signed) = semantics::difference::of(t)?;
    (!signed).then_some(two)
}

fn associative(code: OpCode) -> bool {
    use OpCode as C;
    matches!(
        code,
        C::BvAnd | C::BvOr | C::BvXor | C::Smin | C::Smax | C::Umin | C::Umax | C::And | C::Or
    )
}

/// The low bits of `t`, when `t` is their extension.
pub fn narrowed(code: OpCode, t: Term, width: u32) -> Option<Term> {
    let low = b::extract(t, 0, width);
    (extended(code, low, t.width()) == t || range_allows(code, t, width)).then_some(low)
}

/// A value extended with its sign or with zeros, by the operator's code.
pub fn extended(code: OpCode, t: Term, width: u32) -> Term {
    match code {
        OpCode::Sext => b::sext(t, width),
        _ => b::zext(t, width),
    }
}

/// Whether the value range of `t` shows that it is an extension of its low bits.
fn range_allows(code: OpCode, t: Term, width: u32) -> bool {
    let (min, max) = range(t);
    let Some(bits) = 1i128.checked_shl(width).filter(|_| width < 100) else {
        return false;
    };
    match code {
        OpCode::Sext => min >= -(bits >> 1) && max < bits >> 1,
        _ => min >= 0 && max < bits,
    }
}

/// Flattened arguments of an associative operator.
pub fn flatten(code: OpCode, t: Term) -> Vec<Term> {
    let mut out = Vec::new();
    let mut stack = vec![t];
    while let Some(t) = stack.pop() {
        match t.args_of(code) {
            Some(args) if out.len() + stack.len() < MOST_PARTS => stack.extend(args.iter().rev()),
            _ => out.push(t),
        }
    }
    out
}

/// The most parts that a term is flattened to: parts are shared, and a chain of a few doublings
/// has very many.
const MOST_PARTS: usize = 4096;

/// Flattened summands; a difference contributes its negated right side.
pub fn summands(t: Term) -> Vec<Term> {
    fn visit(t: Term, negative: bool, out: &mut Vec<Term>) {
        if out.len() >= MOST_PARTS {
            out.push(if negative { b::neg(t) } else { t });
        } else if let Some(a) = t.args_of(OpCode::BvAdd) {
            a.iter().for_each(|&x| visit(x, negative, out));
        } else if let Some(a) = t.args_of(OpCode::BvSub) {
            visit(a[0], negative, out);
            visit(a[1], !negative, out);
        } else if let Some(a) = t.args_of(OpCode::BvNeg) {
            visit(a[0], !negative, out);
        } else {
            out.push(if negative { b::neg(t) } else { t });
        }
    }
    let mut out = Vec::new();
    visit(t, false, &mut out);
    out
}

/// Flattened factors; a shift by a constant is a factor too, and so is a negation.
pub(crate) fn factors(t: Term) -> Vec<Term> {
    if let Some(a) = t.args_of(OpCode::BvShl)
        && let Some(n) = a[1]
            .as_bits()
            .and_then(Bits::to_u64)
            .filter(|&n| n < u64::from(t.width()).min(120))
    {
        let mut out = factors(a[0]);
        out.push(Term::bv(t.width(), 1i128 << n));
        return out;
    }
    if let Some(a) = t.args_of(OpCode::BvNeg) {
        let mut out = factors(a[0]);
        out.push(Term::bv(t.width(), -1));
        return out;
    }
    flatten(OpCode::BvMul, t)
}

/// A value in a greater width with its sign, computed there as far as nothing is lost; none where a
/// sum may be.
fn lifted(t: Term, width: u32) -> Option<Term> {
    let Some((op, args)) = t.as_app() else {
        return Some(b::sext(t, width));
    };
    if !matches!(op.code, OpCode::BvAdd | OpCode::BvSub | OpCode::BvMul) {
        return Some(b::sext(t, width));
    }
    let half = 1i128 << (t.width() - 1);
    let (least, most) = exactly(op.code, range(args[0]), range(args[1]))?;
    if least < -half || most >= half {
        return match op.code {
            OpCode::BvMul => Some(b::sext(t, width)),
            _ => None,
        };
    }
    let sides = [lifted(args[0], width)?, lifted(args[1], width)?];
    Some(b::app(op, &sides))
}
