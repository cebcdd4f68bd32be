//! Preparing a window's inputs.
//!
//! In: a window as the kernel's lowering left it. Out: an equal window whose inputs are as
//! small as what they hold, and in which neighbours in memory are one input: a register
//! filled with copies of an element becomes that element, and `a[i]` beside `a[i + 1]`
//! becomes one input of two elements. So two scalars can be loaded and spread as a pair, and
//! shifted views of a row are parts of one stretch of memory.
//!
//! Loads of tails touch only live lanes, so windows that run as tails keep what they load.

use kernel::index::Linear;
use kernel::tree::Access;
use kernel::types::Type;
use lowering::window::{Input, Source, Window};
use semantics::build as b;
use semantics::sort::Sort;
use semantics::subst::replace_vars;
use semantics::term::Term;
use std::collections::HashMap;

/// The window with repeated inputs made small and neighbouring ones joined.
pub(crate) fn prepare(window: &Window) -> Window {
    joined(&small(window, &|_| true))
}

/// A window that runs as a tail, with the scalars made small that registers are filled with.
pub(crate) fn prepare_tail(window: &Window) -> Window {
    small(window, &|source| !matches!(source, Source::Array(_)))
}

/// The window with the repeated inputs made small that come from certain places.
fn small(window: &Window, from: &dyn Fn(&Source) -> bool) -> Window {
    let mut inputs: Vec<Input> = Vec::new();
    let mut values: HashMap<&str, Term> = HashMap::new();
    for input in &window.inputs {
        let small = match from(&input.source) {
            true => without_copies(input),
            false => input.clone(),
        };
        values.insert(&input.name, repeated(variable(&small), input.ty.width()));
        inputs.push(small);
    }
    Window {
        inputs,
        term: replace_vars(window.term, &values),
        ..window.clone()
    }
}

/// The window with neighbours in memory as one input.
fn joined(window: &Window) -> Window {
    let inputs = &window.inputs;
    let mut joined: HashMap<String, Term> = HashMap::new();
    let mut kept: Vec<Input> = Vec::new();
    for group in neighbours(inputs) {
        let (whole, parts) = join(inputs, &group);
        joined.extend(parts);
        kept.push(whole);
    }
    let parts = joined.iter().map(|(n, &t)| (n.as_str(), t)).collect();
    Window {
        inputs: kept,
        term: replace_vars(window.term, &parts),
        ..window.clone()
    }
}

fn variable(input: &Input) -> Term {
    Term::var(&input.name, Sort::Bv(input.ty.width()))
}

/// The input with as many lanes as its source has.
fn without_copies(input: &Input) -> Input {
    let lanes = match &input.source {
        Source::Array(access) => access.lanes,
        Source::Scalar(_) | Source::Index(_) => 1,
        Source::Register(_) => input.ty.lanes,
    };
    Input {
        ty: Type { lanes, ..input.ty },
        ..input.clone()
    }
}

fn repeated(t: Term, width: u32) -> Term {
    let copies = (width / t.width()) as usize;
    b::concat(&vec![t; copies])
}

/// Inputs by groups of neighbours, in order of the first of each; within a group by place.
fn neighbours(inputs: &[Input]) -> Vec<Vec<usize>> {
    let mut groups: Vec<(Option<Base>, Members)> = Vec::new();
    for (k, input) in inputs.iter().enumerate() {
        let place = match &input.source {
            Source::Array(access) => base(access),
            _ => None,
        };
        let (base, at) = place.map_or((None, 0), |(b, at)| (Some(b), at));
        match groups.iter_mut().find(|(b, _)| b.is_some() && *b == base) {
            Some((_, members)) => members.push((at, k)),
            None => groups.push((base, vec![(at, k)])),
        }
    }
    groups
        .into_iter()
        .flat_map(|(_, members)| stretches(members, inputs))
        .collect()
}

/// What neighbouring accesses share: the array, and the index without its constant.
type Base = (usize, Vec<Linear>);

/// Inputs of a group by their element offset from the base.
type Members = Vec<(i64, usize)>;

/// The base of a dense access and the element offset from it.
fn base(access: &Access) -> Option<(Base, i64)> {
    if !access.is_dense() || access.clamped {
        return None;
    }
    let mut index: Vec<Linear> = access
        .index
        .iter()
        .map(kernel::index::Index::linear)
        .collect::<Option<_>>()?;
    let last = index.last_mut()?;
    let at = std::mem::take(&mut last.constant);
    Some(((access.array, index), at))
}

/// Splits the members of a group where memory between them is not read.
fn stretches(mut members: Members, inputs: &[Input]) -> Vec<Vec<usize>> {
    members.sort_unstable();
    let mut out: Vec<Vec<usize>> = Vec::new();
    let mut end = i64::MIN;
    for (at, k) in members {
        if at <= end {
            out.last_mut()
                .expect("an earlier member set the end")
                .push(k);
        } else {
            out.push(vec![k]);
        }
        end = end.max(at + i64::from(inputs[k].ty.lanes));
    }
    out
}

/// One input for a group, and each member as a part of it.
fn join(inputs: &[Input], group: &[usize]) -> (Input, HashMap<String, Term>) {
    let first = &inputs[group[0]];
    let Source::Array(access) = &first.source else {
        return (first.clone(), HashMap::new());
    };
    let Some((_, start)) = base(access).filter(|_| group.len() > 1) else {
        return (first.clone(), HashMap::new());
    };
    let place = |k: usize| match &inputs[k].source {
        Source::Array(a) => base(a).map_or(0, |(_, at)| (at - start) as u32),
        _ => 0,
    };
    let lanes = group
        .iter()
        .map(|&k| place(k) + inputs[k].ty.lanes)
        .max()
        .unwrap_or(1);
    let dim = access.index.len() - 1;
    let whole = Input {
        name: first.name.clone(),
        ty: Type { lanes, ..first.ty },
        source: Source::Array(Access {
            lanes,
            dim,
            stride: 1,
            ..access.clone()
        }),
    };
    let bits = first.ty.elem.bits();
    let parts = group.iter().map(|&k| {
        let part = b::extract(variable(&whole), place(k) * bits, inputs[k].ty.width());
        (inputs[k].name.clone(), part)
    });
    let parts = parts.collect();
    (whole, parts)
}
