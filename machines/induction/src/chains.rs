//! Floats that are added one after the other, in a form in which equal chains are found to be so.
//!
//! In: a term that adds floats, rounds of loops among it. Out: [`Chain`]: what it begins with, and the
//! steps in order, each with the places of its elements. How loops are cut in pieces or written out does
//! not show; nothing is re-associated.

use crate::linear::{Counter, Linear, Replaced};
use crate::stop::Stop;
use crate::value::{Leaf, Leaves};
use semantics::build as b;
use semantics::op::{Op, OpCode};
use semantics::sort::Sort;
use semantics::subst::replace_vars;
use semantics::term::Term;

/// An element: its array, its bits, which one.
type Place = (u32, u32, Linear);

/// Rounds of a step: how many, and by how much they move each place.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Side {
    rounds: i64,
    steps: Vec<i64>,
}

/// A step, in loops, the outermost first.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Step {
    op: Op,
    /// What is added, with variables for its elements.
    kind: Vec<Term>,
    places: Vec<Place>,
    sides: Vec<Side>,
}

/// A chain of additions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Chain {
    /// What it begins with.
    pub(crate) base: Term,
    steps: Vec<Step>,
}

/// Steps that are told apart at most.
const MOST: usize = 1 << 12;

/// The bits of the zero that changes nothing where it is added.
fn is_nothing(op: Op, added: &[Term]) -> bool {
    let [only] = added else { return false };
    let width = only.width();
    let bits = only.as_bits().filter(|_| width <= 64);
    op.code == OpCode::FAdd && bits.is_some_and(|b| b.low_u64() == 1 << (width - 1))
}

/// Whether a term adds floats in a chain.
pub(crate) fn adds(leaves: &Leaves, term: Term) -> bool {
    let code = |code| term.args_of(code).is_some();
    matches!(leaves.leaf(term), Some(Leaf::Rounds(..))) || code(OpCode::FAdd) || code(OpCode::FMadd)
}

/// The chain that a term is.
///
/// # Errors
/// When it is none, or has too many steps.
pub(crate) fn chain(leaves: &mut Leaves, term: Term) -> Result<Chain, Stop> {
    let (base, steps) = taken_apart(leaves, term, None, 0)?;
    let real = |s: &&Step| !is_nothing(s.op, &s.kind);
    let steps: Vec<Step> = match steps.iter().any(|s| real(&s)) {
        // A number that was added to is quiet, so that nothing more comes of a zero.
        true => steps.iter().filter(real).cloned().collect(),
        false => steps,
    };
    let steps = joined(steps)?;
    Ok(Chain { base, steps })
}

/// What a term begins with, and its steps; `held` is what a round is handed.
fn taken_apart(
    leaves: &mut Leaves,
    term: Term,
    held: Option<Term>,
    depth: usize,
) -> Result<(Term, Vec<Step>), Stop> {
    let (mut now, mut steps) = (term, Vec::new());
    while Some(now) != held {
        if steps.len() + depth > MOST {
            return Err(Stop::because("floats are added too often"));
        }
        if let Some(Leaf::Rounds(init, bound, own, body)) = leaves.leaf(now).cloned() {
            let rounds = leaves.counters.rounds(bound);
            let counter = leaves.counters.fresh(rounds);
            let opened = Replaced::one(bound, Linear::counter(counter));
            let body = leaves.with(body, &opened)?;
            let (base, inner) = taken_apart(leaves, body, Some(own), depth + steps.len())?;
            if base != own {
                return Err(Stop::because("rounds do not add to what they are handed"));
            }
            let inner = joined(inner)?;
            let [only] = &inner[..] else {
                return Err(Stop::because("the steps of a round are not alike"));
            };
            steps.push(around(only, counter, rounds)?);
            now = init;
            continue;
        }
        let Some((op, added, before)) = step(leaves, now, held) else {
            break;
        };
        steps.push(placed(leaves, op, &added)?);
        now = before;
    }
    steps.reverse();
    Ok((now, steps))
}

/// The last step of a term: what is added, and to what.
fn step(leaves: &Leaves, term: Term, held: Option<Term>) -> Option<(Op, Vec<Term>, Term)> {
    let (op, args) = term.as_app()?;
    match op.code {
        OpCode::FAdd => {
            let deep = |t: Term| match held {
                Some(own) => leaves.variables(t).contains(&own),
                None => adds(leaves, t),
            };
            let (x, y) = (args[0], args[1]);
            match (deep(x), deep(y)) {
                (true, false) => Some((op, vec![y], x)),
                (false, true) => Some((op, vec![x], y)),
                // What a chain begins with is no product.
                (false, false) => {
                    let product =
                        |t: Term| t.args_of(OpCode::FMul).is_some() || is_nothing(op, &[t]);
                    match (product(x), product(y)) {
                        (true, false) => Some((op, vec![x], y)),
                        (false, true) => Some((op, vec![y], x)),
                        _ => None,
                    }
                }
                _ => None,
            }
        }
        OpCode::FMadd => Some((op, args[..2].to_vec(), args[2])),
        _ => None,
    }
}

fn placed(leaves: &Leaves, op: Op, added: &[Term]) -> Result<Step, Stop> {
    let mut all: Vec<(Place, Term)> = Vec::new();
    for term in added {
        for variable in leaves.variables(*term).iter() {
            match leaves.leaf(*variable) {
                Some(Leaf::Element(array, at, bits)) => {
                    all.push(((*array, *bits, at.clone()), *variable));
                }
                Some(_) => {
                    return Err(Stop::because("a step adds what is no function of elements"));
                }
                None => {}
            }
        }
    }
    all.sort();
    all.dedup();
    let mut names = std::collections::HashMap::new();
    for (k, (place, variable)) in all.iter().enumerate() {
        let own = Term::var(&format!("%{k}"), Sort::Bv(place.1));
        names.extend(variable.as_var().map(|name| (name, own)));
    }
    Ok(Step {
        op,
        kind: in_order(added.iter().map(|t| replace_vars(*t, &names)).collect()),
        places: all.into_iter().map(|p| p.0).collect(),
        sides: Vec::new(),
    })
}

/// Factors in an order that is the same for both of theirs: which of two NaNs comes of them nobody says,
/// for kernels know one.
fn in_order(mut kind: Vec<Term>) -> Vec<Term> {
    match &mut kind[..] {
        [only] => {
            if let Some((op, &[x, y])) = only.as_app()
                && op.code == OpCode::FMul
                && y < x
            {
                *only = b::app(op, &[y, x]);
            }
        }
        factors => factors.sort(),
    }
    kind
}

/// A step in one more loop around.
fn around(step: &Step, counter: Counter, rounds: i64) -> Result<Step, Stop> {
    let mut out = step.clone();
    let steps = step.places.iter().map(|p| p.2.factor(counter)).collect();
    let first = Replaced::one(counter, Linear::default());
    for place in &mut out.places {
        place.2 = place.2.with(&first)?;
    }
    if rounds > 1 {
        out.sides.insert(0, Side { rounds, steps });
    }
    tidied(out)
}

/// Loops of which the outer one goes on where the inner one ends are one.
fn tidied(mut step: Step) -> Result<Step, Stop> {
    let mut k = 0;
    while k + 1 < step.sides.len() {
        let (outer, inner) = (&step.sides[k], &step.sides[k + 1]);
        let far = inner.steps.iter().map(|s| s.checked_mul(inner.rounds));
        if outer.steps.iter().zip(far).all(|(s, f)| f == Some(*s)) {
            let rounds = outer.rounds.checked_mul(inner.rounds);
            let rounds = rounds.ok_or_else(|| Stop::because("a loop runs too often"))?;
            step.sides[k + 1].rounds = rounds;
            step.sides.remove(k);
            k = k.saturating_sub(1);
        } else {
            k += 1;
        }
    }
    Ok(step)
}

/// Steps that go on where the one before ends are one with it.
fn joined(steps: Vec<Step>) -> Result<Vec<Step>, Stop> {
    let mut all = steps;
    loop {
        let before = all.len();
        let mut out: Vec<Step> = Vec::new();
        for step in all {
            let both = match out.last() {
                Some(last) => with_next(last, &step)?,
                None => None,
            };
            match both {
                Some(both) => {
                    out.pop();
                    out.push(both);
                }
                None => out.push(step),
            }
        }
        if out.len() == before {
            return Ok(out);
        }
        all = out;
    }
}

/// How far a step is behind another one, when only that differs in where they begin.
fn apart(first: &Step, second: &Step) -> Option<Vec<i64>> {
    let alike = first.op == second.op
        && first.kind == second.kind
        && first.places.len() == second.places.len();
    let each = first.places.iter().zip(&second.places);
    let each = each.map(|(a, b)| {
        let same = a.0 == b.0 && a.1 == b.1;
        b.2.minus(&a.2).ok().filter(|_| same)?.as_constant()
    });
    alike.then(|| each.collect::<Option<Vec<i64>>>())?
}

fn with_next(first: &Step, second: &Step) -> Result<Option<Step>, Stop> {
    let Some(apart) = apart(first, second) else {
        return Ok(None);
    };
    let goes_on = |side: &Side| {
        let far = side.steps.iter().map(|s| s.checked_mul(side.rounds));
        apart.iter().zip(far).all(|(a, f)| f == Some(*a))
    };
    // One more round, or more, of the outermost loop.
    if let Some((outer, inner)) = first.sides.split_first()
        && goes_on(outer)
    {
        let more = match second.sides.split_first() {
            Some((own, rest)) if own.steps == outer.steps && rest == inner => Some(own.rounds),
            _ if second.sides == inner => Some(1),
            _ => None,
        };
        if let Some(more) = more {
            let mut both = first.clone();
            both.sides[0].rounds += more;
            return tidied(both).map(Some);
        }
    }
    // The first of the second's rounds.
    if let Some((outer, inner)) = second.sides.split_first()
        && first.sides == inner
        && apart == outer.steps
    {
        let mut both = first.clone();
        let rounds = outer.rounds + 1;
        both.sides.insert(
            0,
            Side {
                rounds,
                ..outer.clone()
            },
        );
        return tidied(both).map(Some);
    }
    // Two rounds of a new one.
    if first.sides == second.sides && apart.iter().any(|n| *n != 0) {
        let mut both = first.clone();
        both.sides.insert(
            0,
            Side {
                rounds: 2,
                steps: apart,
            },
        );
        return tidied(both).map(Some);
    }
    Ok(None)
}

impl Chain {
    /// Whether both add the same in the same order; `alike` says whether two parts are equal.
    pub(crate) fn adds_alike(
        &self,
        other: &Chain,
        alike: &mut dyn FnMut(Term, Term) -> bool,
    ) -> bool {
        let same = |(a, b): (&Step, &Step), alike: &mut dyn FnMut(Term, Term) -> bool| {
            let kinds = a.kind.len() == b.kind.len()
                && a.kind
                    .iter()
                    .zip(&b.kind)
                    .all(|(x, y)| x == y || alike(*x, *y));
            a.op == b.op && a.places == b.places && a.sides == b.sides && kinds
        };
        self.steps.len() == other.steps.len()
            && self
                .steps
                .iter()
                .zip(&other.steps)
                .all(|pair| same(pair, alike))
    }
}
