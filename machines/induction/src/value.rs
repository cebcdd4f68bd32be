//! What places hold: numbers that are known, or terms over what memory held at first.
//!
//! In: [`Linear`]s and terms. Out: [`Value`]. The variables of a term are leaves: elements of
//! arrays at places that move with counters, sums over the rounds of a counter, and, while a loop
//! is looked at, what earlier rounds of it left. Leaves that are alike are one, so that equal values
//! are mostly one term.

use crate::engine::is_small;
use crate::linear::{Counter, Counters, For, Linear, Replaced, Terms};
use crate::space::Space;
use crate::stop::Stop;
use crate::sums::nested::Shapes;
use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use semantics::build as b;
use semantics::op::OpCode;
use semantics::sort::Sort;
use semantics::subst::{free_vars, replace};
use semantics::term::Term;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::hash::BuildHasher;
use std::rc::Rc;

/// What a place holds.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Value {
    /// A number that is known, or an address.
    Known(Linear),
    /// Data.
    Term(Term),
}

impl Value {
    /// A number.
    pub fn number(n: i64) -> Value {
        Value::Known(Linear::constant(n))
    }
}

/// What a variable of a term stands for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Leaf {
    /// What an array held at first: which element, its bits.
    Element(u32, Linear, u32),
    /// The sum of a term over the rounds of a counter.
    Sum(Counter, Term),
    /// A term over the rounds of a counter, one after the other: what the variable was at first,
    /// the counter, the variable, the term.
    Rounds(Term, Counter, Term, Term),
    /// What the earlier rounds of a loop left at a place: the loop, the place, its bits.
    Carried(u32, Space, Linear, u32),
    /// A number that is used as data, in [`NUMBER`] bits.
    Number(Linear),
}

/// Bits of numbers that are used as data: what fewer are taken of, and what is extended to more.
pub(crate) const NUMBER: u32 = 64;

/// The leaves of all terms, and the counters in them.
#[derive(Debug, Default)]
pub struct Leaves {
    pub(crate) counters: Counters,
    all: Vec<Known>,
    /// Numbers of leaves, by the leaf and by the variable.
    numbers: HashTable<usize>,
    by_variable: HashMap<Term, usize>,
    hasher: DefaultHashBuilder,
    /// Numbers of what stood for counters, and what terms became by these.
    replacements: HashMap<Replaced, u32>,
    changed: HashMap<(Term, u32), Term>,
    terms: RefCell<HashMap<Term, Rc<Parts>>>,
    /// Shapes of sums inside of functions that are added up.
    pub(crate) shapes: Shapes,
}

#[derive(Debug)]
struct Known {
    leaf: Leaf,
    variable: Term,
    own: Rc<Parts>,
}

/// What is in a term.
#[derive(Debug)]
struct Parts {
    /// Its variables, each once.
    variables: Rc<[Term]>,
    /// How deep sums are in it.
    depth: u32,
    /// Counters of loops, in order, each once; not those of sums.
    counters: Vec<Counter>,
    /// The innermost loop of whose earlier rounds something is in it; 0 where there is none.
    carried: u32,
}

/// What the names of variables begin with.
const NAME: char = '@';

/// Whether something stands for one of some counters, which are in order.
fn is_any_of(counters: &[Counter], replaced: &Replaced) -> bool {
    let mut all = replaced.counters();
    all.any(|c| counters.binary_search(&c).is_ok())
}

impl Leaves {
    fn known(&self, variable: Term) -> Option<&Known> {
        Some(&self.all[*self.by_variable.get(&variable)?])
    }

    /// What is in a term.
    fn parts(&self, term: Term) -> Rc<Parts> {
        if let Some(known) = self.terms.borrow().get(&term) {
            return Rc::clone(known);
        }
        if let Some(leaf) = self.known(term) {
            return Rc::clone(&leaf.own);
        }
        let variables: Rc<[Term]> = free_vars(term).into();
        let found = Rc::new(self.together(&variables));
        self.terms.borrow_mut().insert(term, Rc::clone(&found));
        found
    }

    /// What is in some variables.
    fn together(&self, variables: &Rc<[Term]>) -> Parts {
        let (mut counters, mut depth, mut carried) = (Vec::new(), 0, 0);
        for known in variables.iter().filter_map(|v| self.known(*v)) {
            counters.extend(&known.own.counters);
            depth = depth.max(known.own.depth);
            carried = carried.max(known.own.carried);
        }
        counters.sort_unstable();
        counters.dedup();
        Parts {
            variables: Rc::clone(variables),
            depth,
            counters,
            carried,
        }
    }

    /// The variables of a term.
    pub(crate) fn variables(&self, term: Term) -> Rc<[Term]> {
        Rc::clone(&self.parts(term).variables)
    }

    /// What a variable stands for.
    pub(crate) fn leaf(&self, variable: Term) -> Option<&Leaf> {
        Some(&self.known(variable)?.leaf)
    }

    /// The variable of a leaf of so many bits.
    pub(crate) fn variable(&mut self, leaf: Leaf, width: u32) -> Term {
        let hash = self.hasher.hash_one(&leaf);
        let found = self.numbers.find(hash, |n| self.all[*n].leaf == leaf);
        if let Some(&number) = found {
            return self.all[number].variable;
        }
        let (number, known) = (self.all.len(), self.new_leaf(leaf, width));
        let (all, hasher) = (&self.all, &self.hasher);
        let hash_of = |n: &usize| hasher.hash_one(&all[*n].leaf);
        self.numbers.insert_unique(hash, number, hash_of);
        let variable = known.variable;
        self.by_variable.insert(variable, number);
        self.all.push(known);
        variable
    }

    /// What is known of a leaf that is the next one.
    fn new_leaf(&self, leaf: Leaf, width: u32) -> Known {
        let name = format!("{NAME}{}", self.all.len());
        let variable = Term::var(&name, Sort::Bv(width));
        let variables: Rc<[Term]> = [variable].into();
        let inside: Rc<[Term]> = match &leaf {
            Leaf::Element(..) | Leaf::Number(..) | Leaf::Carried(..) => [].into(),
            Leaf::Sum(_, body) => self.variables(*body),
            Leaf::Rounds(init, _, _, body) => {
                let (init, body) = (self.variables(*init), self.variables(*body));
                init.iter().chain(body.iter()).copied().collect()
            }
        };
        let mut own = self.together(&inside);
        own.variables = variables;
        match &leaf {
            Leaf::Element(_, at, _) | Leaf::Number(at) | Leaf::Carried(_, _, at, _) => {
                own.counters.extend(at.terms.iter().map(|t| t.0));
            }
            Leaf::Sum(counter, _) | Leaf::Rounds(_, counter, ..) => {
                own.counters.retain(|c| c != counter);
                own.depth += 1;
            }
        }
        if let Leaf::Carried(frame, ..) = &leaf {
            own.carried = *frame;
        }
        let own = Rc::new(own);
        Known {
            leaf,
            variable,
            own,
        }
    }

    /// How deep sums are in a term.
    pub(crate) fn depth(&self, term: Term) -> u32 {
        self.parts(term).depth
    }

    /// The arrays whose elements are in a term, also within sums.
    pub(crate) fn arrays(&self, term: Term) -> BTreeSet<u32> {
        let of = |variable: &Term| match self.leaf(*variable) {
            Some(Leaf::Element(array, ..)) => BTreeSet::from([*array]),
            Some(Leaf::Sum(_, body)) => self.arrays(*body),
            Some(Leaf::Rounds(init, _, _, body)) => {
                let (init, body) = (self.arrays(*init), self.arrays(*body));
                init.union(&body).copied().collect()
            }
            _ => BTreeSet::new(),
        };
        self.variables(term).iter().flat_map(of).collect()
    }

    /// Whether a counter occurs in a term.
    pub(crate) fn mentions(&self, term: Term, counter: Counter) -> bool {
        self.parts(term).counters.binary_search(&counter).is_ok()
    }

    /// Whether all places in a term move with one counter so many times as far as with another.
    pub(crate) fn moves_with(
        &self,
        term: Term,
        (outer, inner): (Counter, Counter),
        times: i64,
    ) -> bool {
        self.variables(term).iter().all(|variable| {
            let Some(known) = self.known(*variable) else {
                return true;
            };
            let moves = |c: &Counter| known.own.counters.binary_search(c).is_ok();
            if !moves(&outer) && !moves(&inner) {
                return true;
            }
            match &known.leaf {
                Leaf::Element(_, at, _) | Leaf::Number(at) | Leaf::Carried(_, _, at, _) => {
                    at.factor(inner).checked_mul(times) == Some(at.factor(outer))
                }
                Leaf::Sum(_, body) => self.moves_with(*body, (outer, inner), times),
                Leaf::Rounds(init, _, _, body) => [init, body]
                    .into_iter()
                    .all(|t| self.moves_with(*t, (outer, inner), times)),
            }
        })
    }

    /// Whether something in a term is what earlier rounds of a loop left.
    pub(crate) fn carries(&self, term: Term) -> bool {
        self.parts(term).carried > 0
    }

    /// Whether that is a loop, or one inside of it.
    pub(crate) fn carries_of(&self, term: Term, frame: u32) -> bool {
        self.parts(term).carried >= frame
    }

    /// Whether something stands for a counter of a term.
    fn touched(&self, term: Term, replaced: &Replaced) -> bool {
        is_any_of(&self.parts(term).counters, replaced)
    }

    /// The number of what stands for counters.
    fn replacement(&mut self, replaced: &Replaced) -> u32 {
        if let Some(&known) = self.replacements.get(replaced) {
            return known;
        }
        let number = u32::try_from(self.replacements.len()).expect("fewer than that");
        self.replacements.insert(replaced.clone(), number);
        number
    }

    /// A term with sums in place of counters.
    pub(crate) fn with(&mut self, term: Term, replaced: &Replaced) -> Result<Term, Stop> {
        if !self.touched(term, replaced) {
            return Ok(term);
        }
        let key = (term, self.replacement(replaced));
        if let Some(&known) = self.changed.get(&key) {
            return Ok(known);
        }
        let done = match self.by_variable.get(&term) {
            Some(&number) => self.leaf_with(number, replaced)?,
            None => {
                let mut values: SmallVec<[(Term, Term); 4]> = SmallVec::new();
                for &variable in self.variables(term).iter() {
                    let Some(&number) = self.by_variable.get(&variable) else {
                        continue;
                    };
                    let known = &self.all[number];
                    if is_any_of(&known.own.counters, replaced) {
                        let new = match known.leaf {
                            // What is in sums is remembered.
                            Leaf::Sum(..) | Leaf::Rounds(..) => self.with(variable, replaced)?,
                            _ => self.leaf_with(number, replaced)?,
                        };
                        values.push((variable, new));
                    }
                }
                replace(term, &values)
            }
        };
        self.changed.insert(key, done);
        Ok(done)
    }

    /// A leaf, in which something is replaced, with sums in place of counters.
    fn leaf_with(&mut self, number: usize, replaced: &Replaced) -> Result<Term, Stop> {
        let width = self.all[number].variable.width();
        let new = match &self.all[number].leaf {
            Leaf::Element(array, at, bits) => Leaf::Element(*array, at.with(replaced)?, *bits),
            Leaf::Number(at) => {
                let at = at.with(replaced)?;
                return Ok(self.number(&at, NUMBER));
            }
            Leaf::Carried(of, space, at, bits) => {
                Leaf::Carried(*of, *space, at.with(replaced)?, *bits)
            }
            &Leaf::Sum(counter, body) => {
                let body = self.with(body, replaced)?;
                return self.sum(counter, body);
            }
            &Leaf::Rounds(init, counter, held, body) => {
                let init = self.with(init, replaced)?;
                let body = self.with(body, replaced)?;
                return self.rounds(init, counter, held, body);
            }
        };
        Ok(self.variable(new, width))
    }

    /// A value with sums in place of counters.
    pub(crate) fn value_with(&mut self, value: &Value, by: &Replaced) -> Result<Value, Stop> {
        Ok(match value {
            Value::Known(linear) => Value::Known(linear.with(by)?),
            Value::Term(term) => Value::Term(self.with(*term, by)?),
        })
    }

    /// A number as data: one of fewer bits is part of the same one of more.
    pub(crate) fn number(&mut self, linear: &Linear, width: u32) -> Term {
        if let Some(n) = linear.as_constant() {
            return Term::bv(width, i128::from(n));
        }
        let whole = self.variable(Leaf::Number(linear.clone()), NUMBER);
        match width <= NUMBER {
            true => b::extract(whole, 0, width),
            false => b::sext(whole, width),
        }
    }

    /// A number as what it is made of: counters of only as many bits as they need.
    pub(crate) fn counted(&self, linear: &Linear) -> Term {
        let mut sum = Term::bv(NUMBER, i128::from(linear.constant));
        for &(counter, factor) in &linear.terms {
            let most = self.counters.rounds(counter) - 1;
            let bits = (i64::BITS - most.leading_zeros()).max(1);
            let own = Term::var(&format!("count{}", counter.0), Sort::Bv(bits));
            let times = Term::bv(NUMBER, i128::from(factor));
            sum = b::add(sum, b::mul(b::zext(own, NUMBER), times));
        }
        sum
    }

    /// A value of so many bits as a term.
    pub(crate) fn term(&mut self, value: &Value, width: u32) -> Term {
        match value {
            Value::Known(linear) => self.number(linear, width),
            Value::Term(term) => *term,
        }
    }

    /// The element of an array as it was at first.
    pub(crate) fn element(&mut self, array: u32, at: Linear, bits: u32) -> Term {
        self.variable(Leaf::Element(array, at, bits), bits)
    }

    /// The sum of a term over the rounds of a counter.
    pub(crate) fn sum(&mut self, counter: Counter, body: Term) -> Result<Term, Stop> {
        let rounds = self.counters.rounds(counter);
        if !self.mentions(body, counter) {
            let times = Term::bv(body.width(), i128::from(rounds));
            return Ok(b::mul(body, times));
        }
        if rounds == 1 {
            return self.with(body, &Replaced::one(counter, Linear::default()));
        }
        self.sum_of(counter, rounds, body)
    }

    /// The sum of so many rounds of a term in which a counter occurs, which may have fewer.
    fn sum_of(&mut self, counter: Counter, rounds: i64, body: Term) -> Result<Term, Stop> {
        let bound = self.counters.bound(self.depth(body), rounds);
        let body = match bound == counter {
            true => body,
            false => self.with(body, &Replaced::one(counter, Linear::counter(bound)))?,
        };
        Ok(self.variable(Leaf::Sum(bound, body), body.width()))
    }

    /// A term over the rounds of a counter, one after the other.
    pub(crate) fn rounds(
        &mut self,
        init: Term,
        counter: Counter,
        held: Term,
        body: Term,
    ) -> Result<Term, Stop> {
        let rounds = self.counters.rounds(counter);
        let width = body.width();
        let depth = self.depth(body).max(self.depth(init));
        let bound = self.counters.bound(depth, rounds);
        let own = Term::var(&format!("held{depth}"), Sort::Bv(width));
        let body = self.with(body, &Replaced::one(counter, Linear::counter(bound)))?;
        let body = match own != held {
            true => replace(body, &[(held, own)]),
            false => body,
        };
        Ok(self.variable(Leaf::Rounds(init, bound, own, body), width))
    }
}

/// Parts that a sum has at most before they are joined.
const SUMMED: usize = 3;

impl Leaves {
    /// A term of which many parts that lie one behind the other, such as products of neighbours, are one sum.
    pub(crate) fn summed(&mut self, term: Term) -> Result<Term, Stop> {
        if !is_small(term) {
            return Ok(term);
        }
        match addends(term) {
            parts if parts.len() > SUMMED => self.total(parts, term.width()),
            _ => Ok(term),
        }
    }

    /// The sum of parts, in which those that lie one behind the other are one.
    pub(crate) fn total(&mut self, mut parts: Vec<Term>, width: u32) -> Result<Term, Stop> {
        loop {
            let before = parts.len();
            parts.sort_by_cached_key(|part| self.begins(*part));
            parts = self.runs(parts)?;
            parts = self.behind(parts)?;
            if parts.len() == before {
                return Ok(added(&parts, width));
            }
        }
    }

    /// Parts of which each lies as far behind the one before it are one sum.
    fn runs(&mut self, parts: Vec<Term>) -> Result<Vec<Term>, Stop> {
        // A counter that no part has: what becomes of them is a sum.
        let two = self.counters.idle(For::Sum, 2);
        let out = self.runs_over(two, &parts);
        self.counters.done(For::Sum, two);
        out
    }

    fn runs_over(&mut self, two: Counter, parts: &[Term]) -> Result<Vec<Term>, Stop> {
        let (mut out, mut at) = (Vec::new(), 0);
        while at < parts.len() {
            let first = parts[at];
            let mut apart = Vec::new();
            let body = match parts.get(at + 1) {
                // What earlier rounds of a loop left may turn out to lie in several places.
                Some(&next) if first.as_bits().is_none() && !self.carries(first) => {
                    self.between(first, next, two, &mut apart)?
                }
                _ => None,
            };
            let on = apart.iter().find(|n| **n != 0).is_some_and(|n| *n > 0);
            let Some(body) = body.filter(|_| on) else {
                out.push(first);
                at += 1;
                continue;
            };
            let mut rounds = 2;
            while let Some(&next) = parts.get(at + rounds as usize) {
                let there = Replaced::one(two, Linear::constant(rounds));
                if self.with(body, &there)? != next {
                    break;
                }
                rounds += 1;
            }
            out.push(self.sum_of(two, rounds, body)?);
            at += rounds as usize;
        }
        Ok(out)
    }

    /// Sums that go on where the one before them ends are one with it.
    fn behind(&mut self, parts: Vec<Term>) -> Result<Vec<Term>, Stop> {
        let mut out: Vec<Term> = Vec::new();
        for part in parts {
            let both = match out.last() {
                Some(&before) => match self.continued(before, part)? {
                    Some(both) => Some(both),
                    None => self.continued(part, before)?,
                },
                None => None,
            };
            match both {
                Some(both) => {
                    out.pop();
                    out.push(both);
                }
                None => out.push(part),
            }
        }
        Ok(out)
    }

    /// Where the elements of a term begin.
    fn begins(&self, term: Term) -> Vec<(u32, i64)> {
        let of = |variable: &Term| match self.leaf(*variable) {
            Some(Leaf::Element(array, at, _)) => vec![(*array, at.constant)],
            Some(Leaf::Sum(_, body)) => self.begins(*body),
            _ => Vec::new(),
        };
        if self.leaf(term).is_some() {
            return of(&term);
        }
        let mut all: Vec<(u32, i64)> = self.variables(term).iter().flat_map(of).collect();
        all.sort_unstable();
        all
    }

    /// Whether a term with something in place of a counter may be another one with other counters, as
    /// its leaves are: as many, and one of them where one of the other's is.
    pub(crate) fn may_be(
        &mut self,
        (term, by): (Term, &Replaced),
        other: Term,
    ) -> Result<bool, Stop> {
        let (own, others) = (self.variables(term), self.variables(other));
        // Leaves may become one only where counters become numbers.
        let apart = !by.is_number();
        if own.len() < others.len() || apart && own.len() > others.len() {
            return Ok(false);
        }
        let Some(&first) = own.first() else {
            return Ok(true);
        };
        let leaf = self.with(first, by)?;
        let from = self.begins(leaf);
        Ok(leaf.as_var().is_none() || others.iter().any(|v| self.begins(*v) == from))
    }

    /// One sum of two, when the second goes on where the first ends.
    fn continued(&mut self, first: Term, second: Term) -> Result<Option<Term>, Stop> {
        let Some(Leaf::Sum(own, body)) = self.leaf(first).cloned() else {
            return Ok(None);
        };
        let rounds = self.counters.rounds(own);
        let mut more = None;
        if let Some(Leaf::Sum(other, there)) = self.leaf(second).cloned() {
            let later = Replaced::one(own, Linear::counter(other).offset(rounds)?);
            if self.may_be((body, &later), there)? && self.with(body, &later)? == there {
                more = Some(self.counters.rounds(other));
            }
        }
        if more.is_none() {
            let next = Replaced::one(own, Linear::constant(rounds));
            if self.may_be((body, &next), second)? && self.with(body, &next)? == second {
                more = Some(1);
            }
        }
        let Some(more) = more else { return Ok(None) };
        self.sum_of(own, rounds + more, body).map(Some)
    }

    /// A term over a counter that is the first one where it is 0 and the second where it is 1.
    pub(crate) fn between(
        &mut self,
        first: Term,
        second: Term,
        counter: Counter,
        apart: &mut Vec<i64>,
    ) -> Result<Option<Term>, Stop> {
        let (own, others) = (self.variables(first), self.variables(second));
        if first.width() != second.width() || own.len() != others.len() {
            return Ok(None);
        }
        // The same term but for its variables, which are taken in the order of their kinds, and those of one
        // array as they lie: which of two factors is named first says nothing. Where that is not it, as they
        // were made.
        let key = |l: &Leaves, v: &Term| match l.leaf(*v) {
            Some(Leaf::Element(array, at, bits)) => {
                let space = Some(Space::Array(*array));
                (0, 0, space, *bits, at.terms.clone(), at.constant)
            }
            Some(Leaf::Carried(frame, space, at, bits)) => (
                1,
                *frame,
                Some(*space),
                *bits,
                at.terms.clone(),
                at.constant,
            ),
            Some(Leaf::Sum(bound, _)) => (2, bound.0, None, v.width(), Terms::new(), 0),
            _ => (3, 0, None, v.width(), Terms::new(), 0),
        };
        let sorted = |l: &Leaves, all: &[Term], lie: bool| {
            let mut all = all.to_vec();
            all.sort_by_cached_key(|v| {
                let (kind, of, space, bits, terms, at) = key(l, v);
                ((kind, of, space, bits, terms), lie.then_some(at), *v)
            });
            all
        };
        let [lie, made] = [true, false].map(|lie| {
            let (own, others) = (sorted(self, &own, lie), sorted(self, &others, lie));
            own.into_iter().zip(others).collect::<Vec<(Term, Term)>>()
        });
        let before = apart.len();
        if let Some(body) = self.paired((first, second), &lie, counter, apart)? {
            return Ok(Some(body));
        }
        apart.truncate(before);
        match lie == made {
            true => Ok(None),
            false => self.paired((first, second), &made, counter, apart),
        }
    }

    /// The same, by which variable of the first becomes which of the second.
    fn paired(
        &mut self,
        (first, second): (Term, Term),
        pairs: &[(Term, Term)],
        counter: Counter,
        apart: &mut Vec<i64>,
    ) -> Result<Option<Term>, Stop> {
        let mut names = Vec::new();
        for (a, b) in pairs {
            let new = match (self.leaf(*a).cloned(), self.leaf(*b).cloned()) {
                _ if a == b => *a,
                (Some(Leaf::Element(x, at, bits)), Some(Leaf::Element(y, there, other)))
                    if x == y && bits == other =>
                {
                    let Some(at) = on_line((&at, &there), counter, apart)? else {
                        return Ok(None);
                    };
                    self.element(x, at, bits)
                }
                (
                    Some(Leaf::Carried(frame, space, at, bits)),
                    Some(Leaf::Carried(other, own, there, width)),
                ) if (frame, space, bits) == (other, own, width) => {
                    let Some(at) = on_line((&at, &there), counter, apart)? else {
                        return Ok(None);
                    };
                    self.variable(Leaf::Carried(frame, space, at, bits), bits)
                }
                (Some(Leaf::Sum(x, body)), Some(Leaf::Sum(y, there))) if x == y => {
                    match self.between(body, there, counter, apart)? {
                        Some(body) => self.sum(x, body)?,
                        None => return Ok(None),
                    }
                }
                _ => return Ok(None),
            };
            names.extend((new != *a).then_some((*a, new)));
        }
        let body = replace(first, &names);
        // It is believed only where it gives both.
        let at = |n: i64| Replaced::one(counter, Linear::constant(n));
        let gives = self.with(body, &at(0))? == first && self.with(body, &at(1))? == second;
        Ok(gives.then_some(body))
    }
}

/// A place that is the first one where a counter is 0 and the second where it is 1, when they lie so far
/// apart for all others.
fn on_line(
    (first, second): (&Linear, &Linear),
    counter: Counter,
    apart: &mut Vec<i64>,
) -> Result<Option<Linear>, Stop> {
    let Some(by) = second.minus(first)?.as_constant() else {
        return Ok(None);
    };
    apart.push(by);
    let moved = Linear::counter(counter).times(by)?;
    first.plus(&moved).map(Some)
}

/// The parts of a sum, without order.
pub(crate) fn addends(term: Term) -> Vec<Term> {
    let (mut out, mut work) = (Vec::new(), vec![term]);
    while let Some(term) = work.pop() {
        if let Some(args) = term.args_of(OpCode::BvAdd) {
            work.extend(args);
        } else if let Some([x, y]) = term.args_of(OpCode::BvSub) {
            work.push(*x);
            out.extend(addends(*y).into_iter().map(b::neg));
        } else {
            out.push(term);
        }
    }
    out
}

/// The sum of parts; 0 of none.
pub(crate) fn added(parts: &[Term], width: u32) -> Term {
    let all = parts.iter().copied();
    all.reduce(b::add).unwrap_or_else(|| b::zero(width))
}
