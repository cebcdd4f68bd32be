//! Whether two programs leave the same in arrays.
//!
//! In: what an engine knows behind each of them. Out: whether all elements of the arrays that are
//! handed over are equal, for whatever memory held at first. Each place that one of them wrote is read
//! behind the other; the values are compared as sums over counters, and what is done to these by a
//! prover.

use crate::chains::{self, Chain, chain};
use crate::engine::{Engine, is_small};
use crate::linear::{Counter, Linear, Replaced};
use crate::region::Region;
use crate::space::Space;
use crate::state::State;
use crate::stop::Stop;
use crate::sums::{Sums, adds, linear, nested, sums, wrapped};
use crate::value::{Leaf, Leaves, Value, added, addends};
use semantics::build as b;
use semantics::op::OpCode;
use semantics::sort::Sort;
use semantics::subst::{free_vars, rebuild, replace_vars};
use semantics::term::{Kind, Term};
use smt::prover::Prover;
use std::collections::{BTreeSet, HashMap};

/// What arrays hold behind a program.
#[derive(Debug)]
pub struct Memory {
    state: State,
}

impl Engine<'_> {
    /// What arrays hold now.
    pub fn memory(self) -> Memory {
        Memory { state: self.state }
    }
}

/// A difference that was not ruled out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Different {
    /// The array.
    pub array: u32,
    /// Why.
    pub reason: String,
}

/// That two programs leave the same in some arrays; how many groups of elements were compared.
///
/// # Errors
/// The first that was not shown to be equal.
pub fn equal(
    leaves: &mut Leaves,
    (wanted, found): (&Memory, &Memory),
    arrays: &[u32],
    prover: &Prover,
) -> Result<usize, Different> {
    let mut comparison = Comparison {
        leaves,
        prover,
        known: Vec::new(),
        chains: Vec::new(),
        rounds: Vec::new(),
        apart: Apart::Nothing,
        alike: HashMap::new(),
        groups: 0,
        vain: 0,
    };
    for &array in arrays {
        let compared = comparison.array(array, &wanted.state, &found.state);
        compared.map_err(|stop| Different {
            array,
            reason: stop.reason(),
        })?;
    }
    Ok(comparison.groups)
}

struct Comparison<'a> {
    leaves: &'a mut Leaves,
    prover: &'a Prover,
    /// Sums that occur in the two terms that are compared, each with its variable and its term.
    known: Vec<(Sums, Term, Term)>,
    /// Chains of floats, as well.
    chains: Vec<(Chain, Term)>,
    /// Rounds of what is neither.
    rounds: Vec<Term>,
    /// What is no part of a sum.
    apart: Apart,
    /// Kinds of parts that were asked about.
    alike: HashMap<(Term, Term), bool>,
    groups: usize,
    /// How many elements were asked about as they are and not proved.
    vain: usize,
}

/// What is added to a sum over rounds and is no part of it: what stays outside is told apart by the
/// prover, what is inside by its sum over counters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Apart {
    Nothing,
    /// What adds inside of a function.
    Functions,
    /// That, and what is of other arrays than rounds are, which one program may hold in more bits.
    Once,
}

/// Elements that are asked about in vain at most: each may take as long as a proof may.
const MOST_VAIN: usize = 2;

/// Groups of elements that are compared at most.
const MOST_GROUPS: usize = 1 << 14;

impl Comparison<'_> {
    fn array(&mut self, array: u32, wanted: &State, found: &State) -> Result<(), Stop> {
        let space = Space::Array(array);
        for state in [wanted, found] {
            let regions = state.spaces.get(&space).cloned().unwrap_or_default();
            for region in regions {
                self.region(space, &region, wanted, found)?;
            }
        }
        Ok(())
    }

    /// All places of a region, in groups whose elements are alike.
    fn region(
        &mut self,
        space: Space,
        region: &Region,
        wanted: &State,
        found: &State,
    ) -> Result<(), Stop> {
        let mut work = vec![region.place()?];
        while let Some(place) = work.pop() {
            self.groups += 1;
            if self.groups > MOST_GROUPS {
                return Err(Stop::because(
                    "too many groups of elements are unlike each other",
                ));
            }
            match self.group(space, &place, region.width, wanted, found) {
                Ok(()) => {}
                Err(Stop::Cut(counter, at)) if place.mentions(counter) => {
                    let rounds = self.leaves.counters.rounds(counter);
                    for (first, count) in [(at, rounds - at), (0, at)] {
                        work.push(self.part(&place, counter, first, (count, 1))?);
                    }
                }
                Err(Stop::Group(counter, size)) if place.mentions(counter) => {
                    let rounds = self.leaves.counters.rounds(counter);
                    let whole = rounds / size * size;
                    if whole < rounds {
                        work.push(self.part(&place, counter, whole, (rounds - whole, 1))?);
                    }
                    work.push(self.part(&place, counter, 0, (rounds / size, size))?);
                }
                Err(stop) => {
                    // Through two rounds any line goes, so that what one of them adds may be told of
                    // as another part of the other: each by itself.
                    let two = |c: &Counter| self.leaves.counters.rounds(*c) == 2;
                    let Some(counter) = place.terms.iter().map(|t| t.0).find(two) else {
                        return Err(stop);
                    };
                    for first in [1, 0] {
                        work.push(self.part(&place, counter, first, (1, 1))?);
                    }
                }
            }
        }
        Ok(())
    }

    /// A place for rounds from one on, so many times so many.
    fn part(
        &mut self,
        place: &Linear,
        counter: Counter,
        first: i64,
        (count, size): (i64, i64),
    ) -> Result<Linear, Stop> {
        let mut now = Linear::constant(first);
        for (rounds, step) in [(count, size), (size, 1)] {
            if rounds > 1 {
                let own = self.leaves.counters.fresh(rounds);
                now = now.plus(&Linear::counter(own).times(step)?)?;
            }
        }
        place.with(&Replaced::one(counter, now))
    }

    fn group(
        &mut self,
        space: Space,
        place: &Linear,
        width: u32,
        wanted: &State,
        found: &State,
    ) -> Result<(), Stop> {
        let wanted = wanted.read(self.leaves, space, place, width)?;
        let found = found.read(self.leaves, space, place, width)?;
        if wanted == found {
            return Ok(());
        }
        let of = |v: &Value, leaves: &mut Leaves| leaves.term(v, width);
        let (wanted, found) = (of(&wanted, self.leaves), of(&found, self.leaves));
        match self.same(wanted, found)? {
            true => Ok(()),
            false => Err(Stop::because("an element was not shown to be equal")),
        }
    }

    /// Whether two terms are equal.
    fn same(&mut self, wanted: Term, found: Term) -> Result<bool, Stop> {
        if wanted == found {
            return Ok(true);
        }
        if !is_small(wanted) || !is_small(found) {
            return Err(Stop::because("a value is too large a term"));
        }
        if adds(self.leaves, wanted) && adds(self.leaves, found) {
            let (a, b) = (sums(self.leaves, wanted)?, sums(self.leaves, found)?);
            if a.more_than(&b, &mut |x, y| self.one_kind(x, y)) == Some(0) {
                return Ok(true);
            }
        }
        if chains::adds(self.leaves, wanted) && chains::adds(self.leaves, found) {
            let (a, b) = (chain(self.leaves, wanted), chain(self.leaves, found));
            if let (Ok(a), Ok(b)) = (a, b)
                && a.adds_alike(&b, &mut |x, y| self.one_kind(x, y))
                && (a.base == b.base || self.same(a.base, b.base)?)
            {
                return Ok(true);
            }
        }
        // What occurred in other elements is asked of no more: there may be thousands of them.
        self.known.clear();
        self.chains.clear();
        self.rounds.clear();
        // Functions of sums may be parts of sums, or sums parts of functions. What is alike is asked once.
        let mut asked = Vec::new();
        for apart in [Apart::Nothing, Apart::Functions, Apart::Once] {
            self.apart = apart;
            let (mut a, mut b) = self.both_without_sums(wanted, found)?;
            // Sums may be the low bits of one that occurred behind them.
            if self.known.len() > 1 {
                (a, b) = self.both_without_sums(wanted, found)?;
            }
            let both = self.plain(a, b);
            if !asked.contains(&both) {
                if both.0 == both.1 || self.proved(both.0, both.1) {
                    return Ok(true);
                }
                asked.push(both);
            }
        }
        // What is no sum over rounds may be asked as it is.
        let whole = self.leaves.depth(wanted) == 0 && self.leaves.depth(found) == 0;
        if !whole || self.vain >= MOST_VAIN {
            return Ok(false);
        }
        let (a, b) = self.plain(wanted, found);
        let proved = !asked.contains(&(a, b)) && self.proved(a, b);
        self.vain += usize::from(!proved);
        Ok(proved)
    }

    /// Both terms with variables for sums.
    fn both_without_sums(&mut self, wanted: Term, found: Term) -> Result<(Term, Term), Stop> {
        let mut memo = HashMap::new();
        let wanted = self.without_sums(wanted, &mut memo)?;
        Ok((wanted, self.without_sums(found, &mut memo)?))
    }

    /// A term with a variable for each sum, the same for equal ones.
    fn without_sums(&mut self, term: Term, memo: &mut HashMap<Term, Term>) -> Result<Term, Stop> {
        if let Some(&known) = memo.get(&term) {
            return Ok(known);
        }
        let done = match term.kind() {
            _ if adds(self.leaves, term) => self.sum(term, memo)?,
            _ if chains::adds(self.leaves, term) => self.chain(term)?,
            Kind::Var { .. } => {
                if matches!(self.leaves.leaf(term), Some(Leaf::Carried(..))) {
                    return Err(Stop::because("what a loop carries is not known"));
                }
                term
            }
            _ => self.parts_without_sums(term, memo)?,
        };
        memo.insert(term, done);
        Ok(done)
    }

    fn parts_without_sums(
        &mut self,
        term: Term,
        memo: &mut HashMap<Term, Term>,
    ) -> Result<Term, Stop> {
        let mut stop = None;
        let done = rebuild(term, |child, _| {
            self.without_sums(child, memo).unwrap_or_else(|s| {
                stop = Some(s);
                child
            })
        });
        stop.map_or(Ok(done), Err)
    }

    /// The variable of a sum, with its constant, and with what is a function of other sums.
    fn sum(&mut self, term: Term, memo: &mut HashMap<Term, Term>) -> Result<Term, Stop> {
        let mut rest = b::zero(term.width());
        let mut plain = Vec::new();
        let parts = addends(term);
        let arrays = (self.apart == Apart::Once).then(|| self.arrays_of_rounds(&parts));
        for part in parts {
            match self.is_in_sum(part, arrays.as_ref()) {
                true => plain.push(part),
                false => {
                    // What is taken away is a sum too, and one part.
                    let part = match part == term {
                        true => self.parts_without_sums(part, memo)?,
                        false => self.without_sums(part, memo)?,
                    };
                    rest = b::add(rest, part);
                }
            }
        }
        if plain.is_empty() {
            return Ok(rest);
        }
        let mut form = sums(self.leaves, added(&plain, term.width()))?;
        let width = form.width;
        // Numbers alone are a constant.
        if form.has_numbers()
            && let Some(constant) = form.written_out().filter(|w| w.kinds.is_empty())
        {
            form = constant;
        }
        if form.kinds.is_empty() {
            return Ok(b::add(rest, Term::bv(width, form.constant)));
        }
        let mut known = std::mem::take(&mut self.known);
        let seen = self.seen(&known, &form);
        let (variable, constant) = seen.unwrap_or_else(|| {
            let new = Term::var(&format!("sum{}", known.len()), Sort::Bv(width));
            let constant = form.constant;
            known.push((form, new, added(&plain, width)));
            (new, constant)
        });
        self.known = known;
        Ok(b::add(variable, b::add(rest, Term::bv(width, constant))))
    }

    /// Whether an addend is part of a sum over rounds, which are of these arrays where others are apart.
    fn is_in_sum(&self, part: Term, arrays: Option<&BTreeSet<u32>>) -> bool {
        let once =
            |arrays| self.leaves.depth(part) == 0 && self.leaves.arrays(part).is_disjoint(arrays);
        let functions = self.apart != Apart::Nothing;
        let apart = arrays.is_some_and(once) || functions && self.is_of_rounds(part);
        !apart && linear(self.leaves, part, functions)
    }

    /// Whether rounds of what is no sum are in a term: the same are found by what they do.
    fn is_of_rounds(&self, term: Term) -> bool {
        let rounds = |v: &Term| matches!(self.leaves.leaf(*v), Some(Leaf::Rounds(..)));
        self.leaves.variables(term).iter().any(rounds)
    }

    /// The arrays that rounds are of; what is added to these before they are a function's is of others.
    fn arrays_of_rounds(&self, parts: &[Term]) -> BTreeSet<u32> {
        let variables = parts
            .iter()
            .flat_map(|p| self.leaves.variables(*p).to_vec());
        let rounds = variables.filter(|v| self.leaves.depth(*v) > 0);
        rounds.flat_map(|v| self.leaves.arrays(v)).collect()
    }

    /// What stands for a sum that occurred, was taken away, or whose low bits these are, of the widest, and
    /// the constant that is added to it.
    fn seen(&mut self, known: &[(Sums, Term, Term)], form: &Sums) -> Option<(Term, i128)> {
        let mut wider: Vec<_> = known.iter().filter(|k| k.0.width >= form.width).collect();
        wider.sort_by_key(|k| std::cmp::Reverse(k.0.width));
        wider.into_iter().find_map(|(of, variable, term)| {
            let low = (of.width > form.width)
                .then(|| sums(self.leaves, b::extract(*term, 0, form.width)).ok());
            let of = low.unwrap_or_else(|| Some(of.clone()))?;
            let variable = b::extract(*variable, 0, form.width);
            let mut constant = |of: &Sums| {
                let mut alike = |a, b| self.one_kind(a, b);
                let more = form.may_be(of).then(|| form.more_than(of, &mut alike));
                Some(wrapped(of.constant + more??, form.width))
            };
            if let Some(constant) = constant(&of) {
                return Some((variable, constant));
            }
            Some((b::neg(variable), constant(&of.negated())?))
        })
    }

    /// Rounds of what is no sum, the same term for those that do the same; what is none stays.
    fn one_of_rounds(&mut self, term: Term) -> Term {
        let rounds = matches!(self.leaves.leaf(term), Some(Leaf::Rounds(..)));
        if !rounds || self.rounds.contains(&term) {
            return term;
        }
        // What is not decided of two is not taken for equal.
        let mut all = self.rounds.clone().into_iter();
        let seen = all.find(|seen| matches!(self.same_rounds(*seen, term), Ok(true)));
        self.rounds.extend(seen.is_none().then_some(term));
        seen.unwrap_or(term)
    }

    /// Whether as many rounds begin with the same and each does the same, whatever it is handed.
    fn same_rounds(&mut self, wanted: Term, found: Term) -> Result<bool, Stop> {
        let [wanted, found] = [wanted, found].map(|term| self.leaves.leaf(term).cloned());
        let (
            Some(Leaf::Rounds(first, counter, held, body)),
            Some(Leaf::Rounds(other, bound, own, inner)),
        ) = (wanted, found)
        else {
            return Ok(false);
        };
        // Those as deep as each other have one counter, and one name for what they are handed.
        if (counter, held) != (bound, own) {
            return Ok(false);
        }
        // What was found out of the terms around says nothing of these.
        let around = (
            std::mem::take(&mut self.known),
            std::mem::take(&mut self.chains),
            std::mem::take(&mut self.rounds),
            self.apart,
        );
        let same = match self.same(first, other) {
            Ok(true) => self.same(body, inner),
            done => done,
        };
        (self.known, self.chains, self.rounds, self.apart) = around;
        same
    }

    /// The variable of a chain of floats, the same for equal ones; other rounds are told apart by what they do.
    fn chain(&mut self, term: Term) -> Result<Term, Stop> {
        let Ok(form) = chain(self.leaves, term) else {
            return Ok(self.one_of_rounds(term));
        };
        let known = std::mem::take(&mut self.chains);
        let mut same = known.iter().filter(|k| {
            k.0.base == form.base && form.adds_alike(&k.0, &mut |a, b| self.one_kind(a, b))
        });
        let variable = same.next().map(|k| k.1);
        drop(same);
        self.chains = known;
        Ok(variable.unwrap_or_else(|| {
            let name = format!("chain{}", self.chains.len());
            let new = Term::var(&name, term.sort());
            self.chains.push((form, new));
            new
        }))
    }

    /// Both terms with plain names for their variables, so that questions are alike, and with numbers
    /// as what they are made of.
    fn plain(&self, a: Term, b: Term) -> (Term, Term) {
        let [a, b] = [a, b].map(|term| self.counted(term));
        let mut names: HashMap<&str, Term> = HashMap::new();
        for variable in free_vars(a).into_iter().chain(free_vars(b)) {
            if let Some(name) = variable.as_var()
                && !names.contains_key(name)
            {
                let own = Term::var(&format!("x{}", names.len()), variable.sort());
                names.insert(name, own);
            }
        }
        (replace_vars(a, &names), replace_vars(b, &names))
    }

    /// A term whose numbers are what they are made of.
    fn counted(&self, term: Term) -> Term {
        let of = |variable: &Term| match self.leaves.leaf(*variable) {
            Some(Leaf::Number(at)) if at.base.is_none() => {
                Some((variable.as_var()?, self.leaves.counted(at)))
            }
            _ => None,
        };
        let numbers: HashMap<&str, Term> = free_vars(term).iter().filter_map(of).collect();
        replace_vars(term, &numbers)
    }

    /// Whether two terms are equal for all values of their variables.
    fn proved(&self, a: Term, b: Term) -> bool {
        // What is done alike to the only parts that are not alike is mostly more than a proof bears.
        let (x, y) = unlike(a, b);
        let one = |x, y| self.prover.prove_equal(x, y).is_proved();
        // Products whose factors are equal are, which is far less to ask than whether the products are.
        let factors = || {
            let (x, y) = (x.args_of(OpCode::BvMul), y.args_of(OpCode::BvMul));
            let (Some([p, q]), Some([r, s])) = (x, y) else {
                return false;
            };
            one(*p, *r) && one(*q, *s) || one(*p, *s) && one(*q, *r)
        };
        factors() || (x, y) != (a, b) && one(x, y) || one(a, b)
    }

    /// Whether two kinds of parts are equal for all elements.
    fn one_kind(&mut self, a: Term, b: Term) -> bool {
        if let Some(&known) = self.alike.get(&(a, b)) {
            return known;
        }
        // Sums in them are one where their own kinds are.
        let mut names = HashMap::new();
        for (name, there, pairs) in nested::candidates(self.leaves, &free_vars(a), &free_vars(b)) {
            if pairs.into_iter().all(|(x, y)| self.one_kind(x, y)) {
                names.insert(name, there);
            }
        }
        let there = replace_vars(b, &names);
        let one = self.proved(a, there);
        self.alike.insert((a, b), one);
        one
    }
}

/// The parts of two terms that make all the difference: the same is done to both.
fn unlike(a: Term, b: Term) -> (Term, Term) {
    let (Some((op, own)), Some((other, others))) = (a.as_app(), b.as_app()) else {
        return (a, b);
    };
    if op != other || own.len() != others.len() {
        return (a, b);
    }
    let mut others = others.to_vec();
    if let ([x, y], [p, q]) = (own, &others[..])
        && op.info().commutative
        && (x == q || y == p)
    {
        others.swap(0, 1);
    }
    let mut pairs = own.iter().zip(others).filter(|(x, y)| *x != y);
    match (pairs.next(), pairs.next()) {
        (Some((x, y)), None) if x.sort() == y.sort() => unlike(*x, y),
        _ => (a, b),
    }
}
