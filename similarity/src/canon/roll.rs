//! Elements to loops: the two-level structure of lanes and elements.
//!
//! In: the forms of a register's elements, least significant first. Out: [`Nest`]s: the
//! lanes of a register, in each of them runs of elements, in each run one or several forms.
//! It is found from the elements alone, whatever the style of the vendor's text: loops,
//! straight-line slices, helper functions. A register with one loop only has several nests;
//! which one is meant shows when classes are formed.

use super::form::{CanonicalForm, Role, stepped, steps};
use std::rc::Rc;

/// Elements as loops.
#[derive(Clone, Debug)]
enum Seq {
    Item(CanonicalForm),
    Map(usize, Box<Seq>),
    Tuple(Vec<Seq>),
}

/// A run of elements in a lane: how many times, and what is repeated (the first least
/// significant).
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Run {
    pub(crate) count: usize,
    pub(crate) items: Vec<Item>,
}

/// What a run repeats.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Item {
    /// One element.
    Element(CanonicalForm),
    /// A further loop.
    Run(Run),
}

/// A register: lanes of runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Nest {
    pub(crate) lanes: usize,
    pub(crate) runs: Vec<Run>,
}

/// The nests of a list of elements, the preferred first; `true` when that is the one unless
/// nobody else has it.
pub(crate) fn nests(elements: &[Rc<CanonicalForm>]) -> (Vec<Nest>, bool) {
    let forms: Vec<CanonicalForm> = elements.iter().map(|f| (**f).clone()).collect();
    normalise(&roll(&forms, 0))
}

fn roll(forms: &[CanonicalForm], outer: usize) -> Seq {
    let n = forms.len();
    if n == 1 {
        return Seq::Item(forms[0].clone());
    }
    for period in (1..=n / 2).filter(|g| n.is_multiple_of(*g)) {
        if let Some(chunk) = periodic(forms, period, outer) {
            return Seq::Map(n / period, Box::new(roll(&chunk, outer + 1)));
        }
    }
    Seq::Tuple(runs(forms, outer))
}

/// One chunk under a loop, when the list is made of chunks with evenly rising numbers.
fn periodic(forms: &[CanonicalForm], period: usize, outer: usize) -> Option<Vec<CanonicalForm>> {
    let mut chunk = Vec::with_capacity(period);
    for k in 0..period {
        let column: Vec<&CanonicalForm> = forms[k..].iter().step_by(period).collect();
        chunk.push(stepped(column[0], &steps(&column)?, outer));
    }
    Some(chunk)
}

/// The longest runs of one form, from the least significant up.
fn runs(forms: &[CanonicalForm], outer: usize) -> Vec<Seq> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < forms.len() {
        let rest: Vec<&CanonicalForm> = forms[at..].iter().collect();
        let mut length = 1;
        while length < rest.len() && steps(&rest[..=length]).is_some() {
            length += 1;
        }
        out.push(if length == 1 {
            Seq::Item(forms[at].clone())
        } else {
            let found = steps(&rest[..length]).expect("the run was just found");
            let body = stepped(rest[0], &found, outer);
            Seq::Map(length, Box::new(Seq::Item(body)))
        });
        at += length;
    }
    out
}

/// Adds loops of one iteration around a form: their steps may be anything.
fn around(form: &CanonicalForm, inner: usize, outside: usize, present: usize) -> CanonicalForm {
    let mut out = form.clone();
    for slot in &mut out.slots {
        if matches!(slot.role, Role::Offset | Role::Value) {
            let at = slot.steps.len() - present;
            (0..inner).for_each(|_| slot.steps.insert(at, None));
            (0..outside).for_each(|_| slot.steps.push(None));
        }
    }
    out
}

fn item(seq: &Seq, inner: usize, outside: usize, present: usize) -> Item {
    match seq {
        Seq::Item(form) => Item::Element(around(form, inner, outside, present)),
        Seq::Map(count, body) => Item::Run(Run {
            count: *count,
            items: items(body, inner, outside, present),
        }),
        Seq::Tuple(parts) => Item::Run(Run {
            count: 1,
            items: parts
                .iter()
                .map(|p| item(p, inner + 1, outside, present))
                .collect(),
        }),
    }
}

/// Loops of one iteration that are added stand between the loops already around an element
/// and its own; a nested loop's own index is inner to them.
fn items(seq: &Seq, inner: usize, outside: usize, present: usize) -> Vec<Item> {
    match seq {
        Seq::Tuple(parts) => parts
            .iter()
            .map(|p| item(p, inner, outside, present))
            .collect(),
        other => vec![item(other, inner, outside, present)],
    }
}

fn is_plain(seq: &Seq) -> bool {
    match seq {
        Seq::Item(_) => true,
        Seq::Map(..) => false,
        Seq::Tuple(parts) => parts.iter().all(|p| matches!(p, Seq::Item(_))),
    }
}

/// The runs of one lane; `outside` loops are added around, `present` stand there already.
fn lane(seq: &Seq, outside: usize, present: usize) -> Vec<Run> {
    let run = |part: &Seq| match part {
        Seq::Map(count, body) => Run {
            count: *count,
            items: items(body, 0, outside, present + 1),
        },
        other => Run {
            count: 1,
            items: items(other, 1, outside, present),
        },
    };
    match seq {
        Seq::Tuple(parts) => parts.iter().map(run).collect(),
        other => vec![run(other)],
    }
}

fn normalise(seq: &Seq) -> (Vec<Nest>, bool) {
    let one = |lanes, runs| Nest { lanes, runs };
    let inner = |seq: &Seq, outside, present| {
        vec![Run {
            count: 1,
            items: items(seq, 1, outside, present),
        }]
    };
    match seq {
        Seq::Map(count, body) if is_plain(body) => {
            let elements = Run {
                count: *count,
                items: items(body, 0, 1, 1),
            };
            let mut all = vec![one(1, vec![elements]), one(*count, inner(body, 0, 1))];
            if matches!(**body, Seq::Tuple(_)) {
                all.push(one(*count, lane(body, 0, 1)));
            }
            (all, false)
        }
        Seq::Map(count, body) => {
            let elements = Run {
                count: *count,
                items: items(body, 0, 1, 1),
            };
            let lanes = one(*count, lane(body, 0, 1));
            (vec![lanes, one(1, vec![elements])], true)
        }
        Seq::Tuple(_) if is_plain(seq) => (
            vec![one(1, inner(seq, 1, 0)), one(1, lane(seq, 1, 0))],
            false,
        ),
        Seq::Tuple(_) => (vec![one(1, lane(seq, 1, 0))], true),
        Seq::Item(_) => (vec![one(1, inner(seq, 1, 0))], false),
    }
}
