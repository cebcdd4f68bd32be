//! The proof that a program computes its window.
//!
//! In: the values that a search made, what it claims that they hold, the window. Out: a
//! verdict on the program at full width. Each value is proved to hold what is claimed, given
//! that its operands hold what is claimed of them: equal parts of both sides become free
//! variables, so that a step's question is as small as the step. The claims of the results
//! are then compared with the window itself. Where a step cannot be shown by itself, the
//! whole program can be compared with the window at once.

mod cuts;

use crate::exhaust;
use crate::fragment::{Behaviour, behaviours, rebuild, replace_below};
use crate::goal::{Goal, leaf};
use autoir::program::{Program, Value};
use lowering::window::Window;
use semantics::build as b;
use semantics::op::OpCode;
use semantics::sort::Sort;
use semantics::subst::{free_vars, replace_vars};
use semantics::term::Term;
use smt::prover::Prover;
use smt::verdict::{Evidence, Step, Verdict};
use std::collections::{BTreeMap, HashMap, HashSet};

/// How often variables are replaced by what they stand for, to compare two terms.
const MAX_UNFOLDINGS: usize = 24;

/// Parts of both sides past which none are looked for that are written in several ways.
const MAX_PARTS: usize = 1000;

/// What a search made: the values, what they are said to hold, the results among them.
pub struct Found<'a> {
    /// The values.
    pub program: &'a Program,
    /// What they hold.
    pub claims: &'a BTreeMap<Value, Vec<Goal>>,
    /// The results, least significant first.
    pub roots: &'a [Value],
}

/// Whether a program computes the window, on all its lanes, step by step: nothing where a step cannot
/// be shown, and [`prove_whole`] may still show it. Who made the program and its
/// claims does not matter, as long as these are terms over the window's inputs.
pub fn prove_by_steps(window: &Window, found: &Found, prover: &Prover) -> Option<Evidence> {
    let inputs = window.inputs.iter();
    let steps = Steps {
        found,
        prover,
        window,
        widths: inputs.map(|i| (i.name.clone(), i.ty.width())).collect(),
        registers: HashMap::new(),
        names: HashMap::new(),
        meanings: HashMap::new(),
        evidence: Evidence::default(),
    };
    steps.run()
}

/// The whole program against the window at once, whatever it was made by.
pub fn prove_whole(window: &Window, program: &Program, prover: &Prover) -> Verdict {
    prover.prove_equal(computed(window, program), window.term)
}

/// What a program computes of a window's inputs, as wide as the window's result.
pub fn computed(window: &Window, program: &Program) -> Term {
    let widths: HashMap<String, u32> = window
        .inputs
        .iter()
        .map(|i| (i.name.clone(), i.ty.width()))
        .collect();
    let registers: Vec<Term> = program.results(&widths).into_iter().rev().collect();
    b::extract(b::concat(&registers), 0, window.output.width())
}

/// So many times what variables stand for is looked at before all that they rest on.
const NEAR: usize = 3;

/// Functions of so few bits are run on all inputs before a solver is asked.
const FEW_BITS: u32 = 8;

struct Steps<'a> {
    found: &'a Found<'a>,
    prover: &'a Prover,
    window: &'a Window,
    /// The inputs' widths in bits.
    widths: HashMap<String, u32>,
    /// Registers as their users see them.
    registers: HashMap<Value, Term>,
    /// The variable that stands for an element.
    names: HashMap<Term, Term>,
    /// The element that a variable stands for.
    meanings: HashMap<String, Term>,
    evidence: Evidence,
}

impl Steps<'_> {
    fn run(mut self) -> Option<Evidence> {
        for value in self.found.program.needed(self.found.roots) {
            let composed = self.composed(value);
            let claims: &[Goal] = self.found.claims.get(&value).map_or(&[], Vec::as_slice);
            for (k, claim) in claims.iter().enumerate() {
                if !self.follows(claim, &claims[..k]) {
                    self.step(composed, claim)?;
                }
            }
            let register = claims.iter().max_by_key(|c| live_bits(c));
            let seen = register.map_or(composed, |claim| {
                self.abstracted(&joined(claim, claims), value)
            });
            self.registers.insert(value, seen);
        }
        self.results()?;
        Some(self.evidence)
    }

    /// A value's register, from its operands' registers as they are seen.
    fn composed(&self, value: Value) -> Term {
        let program = self.found.program;
        program.meaning(value, &self.widths, &|v| self.registers[&v])
    }

    /// A claim as a register of variables: one for each different element that is neither a
    /// constant nor a piece of an input.
    fn abstracted(&mut self, claim: &Goal, value: Value) -> Term {
        let mut parts = Vec::new();
        for (k, element) in claim.elements.iter().enumerate().rev() {
            parts.push(match element {
                None => Term::var(&format!("dead.{value}.{k}"), Sort::Bv(claim.element)),
                Some(t) if leaf(*t).is_some() || t.as_bits().is_some() => *t,
                Some(t) => self.name(*t),
            });
        }
        b::concat(&parts)
    }

    fn name(&mut self, t: Term) -> Term {
        if let Some(&known) = self.names.get(&t) {
            return known;
        }
        let name = format!("element.{}", self.names.len());
        let variable = Term::var(&name, t.sort());
        self.names.insert(t, variable);
        self.meanings.insert(name, t);
        variable
    }

    /// Whether what is claimed is what was claimed and proved of the value before, in other words:
    /// both are about the inputs, so that sums may be grouped in another way.
    fn follows(&mut self, claim: &Goal, before: &[Goal]) -> bool {
        if claim.live().next().is_none() {
            return true;
        }
        let shape = |goal: &Goal| (goal.element, goal.elements.len());
        let evidence = before.iter().find_map(|other| {
            if shape(other) != shape(claim) {
                return None;
            }
            let both = other.elements.iter().zip(&claim.elements);
            let wanted = both.filter(|(_, c)| c.is_some());
            let pairs: Option<Vec<(Term, Term)>> = wanted.map(|(o, c)| (*o).zip(*c)).collect();
            let (is, wanted): (Vec<Term>, Vec<Term>) = pairs?.into_iter().unzip();
            (self.prover).equal_by_normal_form(b::concat(&is), b::concat(&wanted))
        });
        evidence
            .as_ref()
            .inspect(|e| self.evidence.add(e))
            .is_some()
    }

    /// One step: a register against what it is claimed to hold.
    fn step(&mut self, register: Term, claim: &Goal) -> Option<()> {
        if register.width() != claim.width() {
            return None;
        }
        let flat = semantics::unroll::unroll(register);
        let mut map = self.names.clone();
        let mut sides: [Vec<Term>; 2] = Default::default();
        for (k, element) in claim.elements.iter().enumerate().rev() {
            let Some(t) = element else { continue };
            let is = b::extract(flat, k as u32 * claim.element, claim.element);
            let known = self.names.get(t).copied().filter(|n| *n == is);
            sides[0].push(is);
            sides[1].push(known.unwrap_or_else(|| replace_below(*t, &mut map)));
        }
        if sides[0].is_empty() {
            return Some(());
        }
        let [first, second] = &sides;
        let (is, wanted) = (b::concat(first), b::concat(second));
        let evidence = self.prover.equal_by_normal_form(is, wanted);
        let evidence = evidence.or_else(|| self.by_all_inputs(first, second, FEW_BITS));
        let spelled = || [first, second].map(|side| self.all_spelled_out(side));
        // A solver finds quotients hard: all inputs are tried before it is asked, of others behind all else.
        let divided = second.iter().any(|t| divides(*t));
        let evidence = evidence.or_else(|| {
            let [is, wanted] = divided.then(spelled)?;
            self.by_all_inputs(&is, &wanted, exhaust::MOST_BITS)
        });
        let mut verdict = match evidence {
            Some(evidence) => Verdict::Proved(evidence),
            None => self.prover.prove_equal(is, wanted),
        };
        if !matches!(verdict, Verdict::Proved(_))
            && let Some(evidence) = self.of_shared_parts(is, wanted)
        {
            verdict = Verdict::Proved(evidence);
        }
        if !matches!(verdict, Verdict::Proved(_)) {
            let closer = self.all_towards(first, second);
            verdict = self.closely(&closer, second, exhaust::QUICK_BITS);
        }
        if !matches!(verdict, Verdict::Proved(_)) {
            let closer = self.all_towards(second, first);
            verdict = self.closely(first, &closer, exhaust::QUICK_BITS);
        }
        if !matches!(verdict, Verdict::Proved(_))
            && let Some(evidence) = self.near(sides.clone())
        {
            verdict = Verdict::Proved(evidence);
        }
        if !matches!(verdict, Verdict::Proved(_)) {
            let [is, wanted] = spelled();
            if let Some(evidence) = self.by_cuts(&is, &wanted) {
                self.evidence.add(&evidence);
                return Some(());
            }
            verdict = match divided {
                true => self.prover.prove_equal(b::concat(&is), b::concat(&wanted)),
                false => self.closely(&is, &wanted, exhaust::MOST_BITS),
            };
        }
        match verdict {
            Verdict::Proved(evidence) => {
                self.evidence.add(&evidence);
                Some(())
            }
            _ => None,
        }
    }

    /// Both sides with what their variables stand for, as it was written, where what they share is any
    /// value: a product of a value that one step computes otherwise than the window has it.
    fn of_shared_parts(&self, is: Term, wanted: Term) -> Option<Evidence> {
        let variables = self.names.iter().map(|(&t, &name)| (name, t));
        let mut written = variables.collect();
        let [is, wanted] = [is, wanted].map(|side| as_written(side, &mut written));
        let alike = self.alike(&[is, wanted])?;
        // What is written otherwise may have parts that are.
        let [is, wanted] = [is, wanted]
            .map(|side| (0..2).fold(side, |side, _| replace_below(side, &mut alike.clone())));
        let below: HashSet<Term> = parts(&[is]).into_iter().collect();
        let mut shared = HashMap::new();
        let mut work = vec![wanted];
        let mut seen = HashSet::new();
        while let Some(t) = work.pop() {
            let Some((_, args)) = t.as_app().filter(|_| seen.insert(t)) else {
                continue;
            };
            if t != wanted && leaf(t).is_none() && below.contains(&t) {
                let name = format!("shared.{}", shared.len());
                shared.insert(t, Term::var(&name, t.sort()));
            } else {
                work.extend(args);
            }
        }
        if shared.is_empty() {
            return None;
        }
        let [is, wanted] = [is, wanted].map(|side| replace_below(side, &mut shared));
        (self.prover).equal_by_normal_form(is, wanted)
    }

    /// For parts of some terms that are written in several ways, the first of these: what has no product
    /// in it and does the same on fixed inputs is proved to be equal. Nothing where nothing is multiplied.
    fn alike(&self, sides: &[Term]) -> Option<HashMap<Term, Term>> {
        let below = parts(sides);
        let mut products: HashSet<Term> = HashSet::new();
        let mut widths: HashSet<u32> = HashSet::new();
        for &t in &below {
            let (op, args) = t.as_app()?;
            if op.code == OpCode::BvMul {
                widths.insert(t.width());
                products.insert(t);
            } else if args.iter().any(|a| products.contains(a)) {
                products.insert(t);
            }
        }
        if widths.is_empty() || below.len() > MAX_PARTS {
            return None;
        }
        let mut named: HashMap<Term, Term> = HashMap::new();
        let mut inputs = Vec::new();
        for &t in below
            .iter()
            .filter(|t| leaf(**t).is_some() && in_a_word(**t))
        {
            let name = format!("@{}", inputs.len());
            named.insert(t, Term::var(&name, t.sort()));
            inputs.push((name, t.width()));
        }
        let order: Vec<usize> = (0..inputs.len()).collect();
        let variables: HashSet<Term> = named.values().copied().collect();
        let written = below.iter().copied().filter(|t| {
            let factor = t.sort().width().is_some_and(|w| widths.contains(&w));
            factor && in_a_word(*t) && leaf(*t).is_none() && !products.contains(t)
        });
        let mut first: HashMap<Behaviour, Term> = HashMap::new();
        let mut out = HashMap::new();
        for t in written {
            let plain = replace_below(t, &mut named);
            if !free_vars(plain).iter().all(|v| variables.contains(v)) {
                continue;
            }
            let other = *first
                .entry(behaviours(plain, &inputs, &[&order])[0])
                .or_insert(t);
            if other != t && matches!(self.prover.prove_equal(other, t), Verdict::Proved(_)) {
                out.insert(t, other);
            }
        }
        Some(out)
    }

    /// Elements against what they are to be: each of them for all its inputs, where it has at most so many bits
    /// of these, else all at once.
    fn closely(&self, is: &[Term], wanted: &[Term], bits: u32) -> Verdict {
        match self.by_all_inputs(is, wanted, bits) {
            Some(evidence) => Verdict::Proved(evidence),
            None => self.prover.prove_equal(b::concat(is), b::concat(wanted)),
        }
    }

    fn all_towards(&self, these: &[Term], others: &[Term]) -> Vec<Term> {
        let mut map = self.names.clone();
        let pairs = these.iter().zip(others);
        pairs
            .map(|(&t, &other)| self.towards(t, other, &mut map))
            .collect()
    }

    /// A term in which variables that the other one does not have are replaced by what they
    /// stand for, in terms of those that it has.
    fn towards(&self, is: Term, wanted: Term, map: &mut HashMap<Term, Term>) -> Term {
        let known: HashSet<Term> = free_vars(wanted).into_iter().collect();
        let mut is = is;
        for _ in 0..MAX_UNFOLDINGS {
            match self.unfolded(is, &known, map) {
                Some(unfolded) => is = unfolded,
                None => break,
            }
        }
        is
    }

    /// Elements for all their inputs, with what their variables stand for in terms of what these rest on: what
    /// a table is looked up by has bounds that its variable has not.
    fn near(&self, mut sides: [Vec<Term>; 2]) -> Option<Evidence> {
        let (none, mut map) = (HashSet::new(), self.names.clone());
        for _ in 0..NEAR {
            let mut any = false;
            for t in sides.iter_mut().flatten() {
                if let Some(unfolded) = self.unfolded(*t, &none, &mut map) {
                    (*t, any) = (unfolded, true);
                }
            }
            let found =
                any.then(|| self.by_all_inputs(&sides[0], &sides[1], exhaust::QUICK_BITS))?;
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// A term with what its variables stand for, but for those that may stay, in terms of what these rest on,
    /// as `map` names it; nothing where none is replaced.
    fn unfolded(
        &self,
        t: Term,
        stay: &HashSet<Term>,
        map: &mut HashMap<Term, Term>,
    ) -> Option<Term> {
        let variables = free_vars(t).into_iter().filter(|v| !stay.contains(v));
        let meaning = |v: Term| {
            let name = v.as_var()?;
            Some((name, replace_below(*self.meanings.get(name)?, map)))
        };
        let meanings: HashMap<&str, Term> = variables.filter_map(meaning).collect();
        (!meanings.is_empty()).then(|| replace_vars(t, &meanings))
    }

    /// Element by element, where an element depends on at most so many bits.
    fn by_all_inputs(&self, is: &[Term], wanted: &[Term], bits: u32) -> Option<Evidence> {
        let mut known: HashMap<(Term, Term), bool> = HashMap::new();
        for (&x, &y) in is.iter().zip(wanted) {
            let (x, y) = exhaust::renamed(x, y);
            let equal = match known.get(&(x, y)) {
                Some(&done) => done,
                None => exhaust::decide_within(x, y, bits)?,
            };
            known.insert((x, y), equal);
            if !equal {
                return None;
            }
        }
        let mut evidence = Evidence {
            questions: known.len(),
            ..Evidence::default()
        };
        evidence.elements.insert(Step::Exhaustive, is.len());
        Some(evidence)
    }

    /// Element by element, whatever both sides have in common.
    fn by_cuts(&self, is: &[Term], wanted: &[Term]) -> Option<Evidence> {
        let (mut evidence, mut known) = (Evidence::default(), HashSet::new());
        for (&x, &y) in is.iter().zip(wanted) {
            let (x, y) = exhaust::renamed(x, y);
            if x != y && known.insert((x, y)) {
                evidence.add(&cuts::equal(x, y, self.prover)?);
            }
        }
        Some(evidence)
    }

    fn all_spelled_out(&self, parts: &[Term]) -> Vec<Term> {
        parts.iter().map(|&t| self.spelled_out(t)).collect()
    }

    /// A term with what its variables stand for, in terms of the inputs.
    fn spelled_out(&self, t: Term) -> Term {
        let map = self.meanings.iter().map(|(n, &t)| (n.as_str(), t));
        replace_vars(t, &map.collect())
    }

    /// The results, as claimed, against the window.
    fn results(&mut self) -> Option<()> {
        let mut registers = Vec::new();
        for root in self.found.roots.iter().rev() {
            registers.push(self.spelled_out(self.registers[root]));
        }
        let whole = b::extract(b::concat(&registers), 0, self.window.output.width());
        let verdict = self.prover.prove_equal(whole, self.window.term);
        let Verdict::Proved(evidence) = verdict else {
            return None;
        };
        self.evidence.add(&evidence);
        Some(())
    }
}

/// A term with what its variables stand for, those below too; the map is also the memory of what was done.
fn as_written(t: Term, variables: &mut HashMap<Term, Term>) -> Term {
    let out = match (t.as_var(), variables.get(&t)) {
        (None, Some(&done)) => return done,
        (Some(_), Some(&stands_for)) => return as_written(stands_for, variables),
        _ => rebuild(t, |child| as_written(child, variables)),
    };
    if t.as_var().is_none() {
        variables.insert(t, out);
    }
    out
}

/// All applications in some terms, each once, operands before what they are operands of.
fn parts(terms: &[Term]) -> Vec<Term> {
    let (mut seen, mut out) = (HashSet::new(), Vec::new());
    let mut work: Vec<(Term, bool)> = terms.iter().map(|t| (*t, false)).collect();
    while let Some((t, operands_done)) = work.pop() {
        let Some((_, args)) = t.as_app() else {
            continue;
        };
        if operands_done {
            out.push(t);
        } else if seen.insert(t) {
            work.push((t, true));
            work.extend(args.iter().map(|a| (*a, false)));
        }
    }
    out
}

/// Whether there is a quotient or a remainder in a term.
fn divides(t: Term) -> bool {
    let divides = |t: &Term| t.as_app().is_some_and(|(op, _)| op.code.divides());
    parts(&[t]).iter().any(divides)
}

/// Whether a term can be evaluated in a machine word.
fn in_a_word(t: Term) -> bool {
    t.sort().width().is_some_and(|w| w <= u64::BITS)
}

/// A claim with what others of the same value say of elements of which it says nothing.
fn joined(claim: &Goal, others: &[Goal]) -> Goal {
    let mut claim = claim.clone();
    for other in others.iter().filter_map(|o| o.with_element(claim.element)) {
        for (element, more) in claim.elements.iter_mut().zip(other.elements) {
            *element = element.or(more);
        }
    }
    claim
}

fn live_bits(claim: &Goal) -> u32 {
    claim.element * claim.live().count() as u32
}
