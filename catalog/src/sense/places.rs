//! Facts that the ways of elements show.
//!
//! In: the flows of an instruction. Out: facts: a broadcast, a reversal, an interleaving, a sum
//! over neighbours. Operands that only hold what a mask does not choose are left out first.

use super::{Fact, bits};
use crate::flow::{Edge, Element, Flow, Pattern, Way};
use autoir::dictionary::Member;
use semantics::instruction::Role;
use std::collections::BTreeSet;

/// An element that is moved as it is: the source and the place in it.
type Place = (usize, u32);

/// The facts of all flows.
pub(super) fn facts(member: &Member, flows: &[Flow], facts: &mut BTreeSet<Fact>) {
    for flow in flows {
        let flow = without_masks(member, flow);
        widths(&flow, facts);
        if flow.given.is_empty() {
            one(member, &flow, facts);
        } else if flow.pattern() == Pattern::Moves {
            facts.insert(Fact::ByConstant);
            at_a_constant(&flow, facts);
        }
    }
}

/// The flow without what a mask chooses from instead.
fn without_masks(member: &Member, flow: &Flow) -> Flow {
    let mut flow = flow.clone();
    let role = |source: usize| {
        let name = &flow.sources[source].name;
        let operand = member.operands.iter().find(|o| o.name == *name);
        operand.map(|o| o.role)
    };
    let masks: BTreeSet<usize> = (0..flow.sources.len())
        .filter(|&s| role(s) == Some(Role::Mask))
        .collect();
    let decides = |e: &Edge| e.way == Way::Decides && masks.contains(&e.source);
    if masks.is_empty() || !flow.elements.iter().any(|e| e.edges.iter().any(decides)) {
        return flow;
    }
    let kept = (0..flow.sources.len()).find(|&s| {
        let own = |(k, e): (usize, &Element)| {
            let mut here = e.edges.iter().filter(|e| e.source == s);
            let others = e
                .edges
                .iter()
                .any(|e| e.source != s && !masks.contains(&e.source));
            others && here.all(|e| e.first as usize == k && e.count == 1)
        };
        let mut edges = flow.elements.iter().flat_map(|e| &e.edges);
        !masks.contains(&s)
            && flow.sources[s].count as usize == flow.elements.len()
            && flow.elements.iter().enumerate().all(own)
            && edges.any(|e| e.source == s)
    });
    for element in &mut flow.elements {
        element
            .edges
            .retain(|e| !masks.contains(&e.source) && Some(e.source) != kept);
    }
    flow
}

/// Widths of what is computed, and whether the result is wider or narrower.
fn widths(flow: &Flow, facts: &mut BTreeSet<Fact>) {
    facts.extend(bits(flow.width));
    let lanes = |s: &&crate::flow::Source| s.count > 1 || flow.elements.len() == 1;
    let wide = flow.sources.iter().filter(lanes).map(|s| s.width);
    let wide: Vec<u32> = wide.filter(|&w| w >= 8).collect();
    facts.extend(wide.iter().filter_map(|&w| bits(w)));
    let computed = |e: &Edge| e.way != Way::Decides;
    let mut used = flow.elements.iter().flat_map(|e| &e.edges);
    if flow.width < 8 || !used.any(computed) {
        return;
    }
    if wide.iter().any(|&w| w < flow.width) {
        facts.insert(Fact::Widen);
    }
    if !wide.is_empty() && wide.iter().all(|&w| w > flow.width) {
        facts.insert(Fact::Narrow);
    }
}

fn one(member: &Member, flow: &Flow, facts: &mut BTreeSet<Fact>) {
    match flow.pattern() {
        Pattern::Gathers => gathers(flow, facts),
        _ => {
            let moves = |e: &Edge| e.way != Way::Computed;
            let edges = || flow.elements.iter().flat_map(|e| &e.edges);
            if edges().next().is_some() && edges().all(moves) {
                moved(member, flow, facts);
            }
        }
    }
    if is_scalar(flow) {
        facts.insert(Fact::Scalar);
        facts.remove(&Fact::Pairs);
    }
}

/// The element that each one is, where it is a single one.
fn places(flow: &Flow) -> Option<Vec<Place>> {
    let each = flow.elements.iter().map(|e| match e.edges.as_slice() {
        [edge] if edge.way == Way::Moved && edge.count == 1 => Some((edge.source, edge.first)),
        _ => None,
    });
    each.collect()
}

/// Only the lowest element is computed, and the others, where there are any, are an operand's.
fn is_scalar(flow: &Flow) -> bool {
    let rest = flow.elements.iter().enumerate().skip(1);
    let same = |(k, e): (usize, &Element)| {
        matches!(e.edges.as_slice(), [edge] if edge.way == Way::Moved
            && edge.count == 1 && edge.first as usize == k)
    };
    let first = flow.elements.first().map_or(&[][..], |e| &e.edges);
    let computed = first.iter().any(|e| e.way == Way::Computed) || first.len() > 1;
    if flow.elements.len() == 1 {
        let lowest = |e: &Edge| e.first == 0 && e.count == 1;
        return computed
            && first.iter().all(lowest)
            && flow.sources.iter().any(|s| s.count > 1 && s.width >= 8);
    }
    computed && { rest }.all(same)
}

/// Elements that are computed from several ones of an operand.
fn gathers(flow: &Flow, facts: &mut BTreeSet<Fact>) {
    let several = |e: &Element| {
        let computed = e.edges.iter().filter(|e| e.way == Way::Computed);
        let mut sources = BTreeSet::new();
        computed.fold(false, |many, e| {
            many | (e.count > 1) | !sources.insert(e.source)
        })
    };
    if !flow.elements.iter().any(several) {
        return;
    }
    if flow.elements.len() == 1 {
        facts.insert(Fact::Reduce);
        return;
    }
    let reach = |e: &Element| {
        let computed = e.edges.iter().filter(|e| e.way == Way::Computed);
        computed.map(|e| e.count).max().unwrap_or(0)
    };
    let most = flow.elements.iter().map(reach).max().unwrap_or(0);
    if most == 2 && !facts.contains(&Fact::Complex) {
        facts.insert(Fact::Pairs);
    }
    let fused = facts.contains(&Fact::Fused) || facts.contains(&Fact::Mul);
    if facts.contains(&Fact::Float) && fused && most == 2 && flow.elements.len().is_multiple_of(2) {
        facts.insert(Fact::Complex);
        facts.remove(&Fact::Pairs);
    }
    if is_matrix(flow) {
        facts.insert(Fact::Matrix);
    }
}

/// Two elements share what they have of one source and not of another, and two the reverse.
fn is_matrix(flow: &Flow) -> bool {
    let several: Vec<Vec<&Edge>> = flow
        .elements
        .iter()
        .map(|e| e.edges.iter().filter(|e| e.count > 1).collect())
        .collect();
    let shares = |from: usize, not: usize| {
        several.iter().skip(1).any(|other| {
            let first = &several[0];
            let part = |edges: &[&Edge], s: usize| {
                let found = edges.iter().find(|e| e.source == s);
                found.map(|e| (e.first, e.count))
            };
            part(first, from).is_some()
                && part(first, from) == part(other, from)
                && part(first, not).is_some()
                && part(first, not) != part(other, not)
        })
    };
    let sources = 0..flow.sources.len();
    let mut pairs = sources
        .clone()
        .flat_map(|a| (a + 1..flow.sources.len()).map(move |b| (a, b)));
    several.len() > 3 && pairs.any(|(a, b)| shares(a, b) && shares(b, a))
}

/// What elements do that only move.
fn moved(member: &Member, flow: &Flow, facts: &mut BTreeSet<Fact>) {
    if flow.width == 1 {
        let live = flow.elements.iter().filter(|e| !e.edges.is_empty());
        let from = |e: &Element| e.edges.iter().all(|e| flow.sources[e.source].width > 1);
        if live.clone().count() > 1 && live.clone().all(from) {
            facts.insert(Fact::TopBits);
        }
        return;
    }
    chosen(flow, facts);
    match places(flow) {
        Some(all) => moves(member, flow, &all, facts),
        None => partly(member, flow, facts),
    }
}

/// What elements do of which each is one of an operand.
fn moves(member: &Member, flow: &Flow, all: &[Place], facts: &mut BTreeSet<Fact>) {
    let count = |s: usize| flow.sources[s].count;
    let n = all.len();
    let sources: BTreeSet<usize> = all.iter().map(|p| p.0).collect();
    let single = sources.len() == 1;
    let narrow = sources.iter().any(|&s| flow.sources[s].width > flow.width);
    let is = |want: &dyn Fn(usize) -> Place| all.iter().enumerate().all(|(k, p)| *p == want(k));
    let (first, from) = all[0];
    let straight = is(&|k| (first, from + k as u32));
    let found = if n > 1 && all.iter().all(|p| *p == all[0]) {
        Fact::Broadcast
    } else if narrow || (single && is_cut(member, flow, all)) {
        Fact::Narrow
    } else if straight && n as u32 == count(first) {
        Fact::Copy
    } else if straight && n == 1 {
        Fact::ExtractOne
    } else if straight {
        Fact::Part
    } else if single
        && (1..n).any(|b| n.is_multiple_of(b) && is(&|k| (first, from + (k % b) as u32)))
    {
        Fact::Repeat
    } else if single && blocks(n).any(|b| is(&|k| (first, (k / b * b + b - 1 - k % b) as u32))) {
        Fact::Reverse
    } else if single && all.chunks(2).all(|c| c.len() == 2 && c[0] == c[1]) {
        Fact::Duplicate
    } else if sources.len() == n && all.iter().all(|p| count(p.0) == 1) {
        Fact::Set
    } else if is_interleaved(all) {
        Fact::Interleave
    } else if is_deinterleaved(all) {
        Fact::Deinterleave
    } else if sources.len() == 2 && all.chunks(n / 2).all(is_run) {
        Fact::Combine
    } else if sources.len() == 2 && all.iter().enumerate().all(|(k, p)| p.1 as usize == k) {
        Fact::Blend
    } else {
        Fact::Shuffle
    };
    facts.insert(found);
    if sources.len() == 2 && found == Fact::Shuffle {
        facts.insert(Fact::TwoSources);
    }
}

/// The low part of each element of an operand.
fn is_cut(member: &Member, flow: &Flow, all: &[Place]) -> bool {
    let [first, second, ..] = all else {
        return false;
    };
    let step = second.1.saturating_sub(first.1);
    let every = |(k, p): (usize, &Place)| p.1 == k as u32 * step;
    let mut operands = member.operands.iter();
    let own = operands.find(|o| o.name == flow.sources[first.0].name);
    let declared = own.and_then(|o| o.element.width());
    step > 1 && declared == Some(step * flow.width) && all.iter().enumerate().all(every)
}

/// Sizes of blocks that divide a count.
fn blocks(n: usize) -> impl Iterator<Item = usize> {
    (2..=n).filter(move |b| n.is_multiple_of(*b))
}

/// Neighbours of one source in order.
fn is_run(places: &[Place]) -> bool {
    places.windows(2).all(|w| w[1] == (w[0].0, w[0].1 + 1))
}

/// Two sources, or two parts of one, in turn.
fn is_interleaved(all: &[Place]) -> bool {
    let turn = |c: &[Place]| c.len() == 2 && c[0].1 == c[1].1 && c[0].0 != c[1].0;
    let next = |w: &[Place]| w[0].0 == w[1].0 && w[0].1 < w[1].1;
    let every: Vec<Place> = all.iter().copied().step_by(2).collect();
    all.len() > 1 && all.chunks(2).all(turn) && every.windows(2).all(next)
}

/// Each second element of the sources.
fn is_deinterleaved(all: &[Place]) -> bool {
    let step = |w: &[Place]| w[0].0 != w[1].0 || w[1].1 == w[0].1 + 2;
    all.len() > 1 && all.windows(2).all(step)
}

/// Elements that are one of several, or constants in places.
fn partly(member: &Member, flow: &Flow, facts: &mut BTreeSet<Fact>) {
    let zeros = flow.elements.iter().filter(|e| e.edges.is_empty()).count();
    let each = || flow.elements.iter().enumerate();
    let from = |e: &Element| match e.edges.as_slice() {
        [edge] if edge.way == Way::Moved && edge.count == 1 => Some((edge.source, edge.first)),
        _ => None,
    };
    let single: Vec<(usize, Place)> = each().filter_map(|(k, e)| Some((k, from(e)?))).collect();
    if zeros > 0 && single.len() + zeros == flow.elements.len() && !single.is_empty() {
        let shift = |(k, p): &(usize, Place)| *k as i64 - i64::from(p.1);
        let all = shift(&single[0]);
        if all != 0 && single.iter().all(|s| shift(s) == all) {
            facts.insert(Fact::ShiftElements);
        }
    }
    // Which ones are chosen by a count of what is chosen before.
    let masked = member.operands.iter().any(|o| o.role == Role::Mask);
    let ranges: Vec<(usize, u32, u32)> = each()
        .filter_map(|(k, e)| {
            let moved = e.edges.iter().filter(|e| e.way == Way::Moved);
            let places: Vec<u32> = moved.map(|e| e.first).collect();
            Some((k, *places.iter().min()?, *places.iter().max()?))
        })
        .collect();
    let n = flow.elements.len();
    if masked && n > 1 && ranges.len() == n {
        let up = |(k, low, _): &(usize, u32, u32)| *low as usize >= *k;
        let down = |(k, _, high): &(usize, u32, u32)| *high as usize <= *k;
        if ranges.iter().all(down) && ranges[n - 1].1 == 0 {
            facts.insert(Fact::Expand);
        } else if ranges.iter().all(up) && ranges[0].2 as usize + 1 >= n {
            facts.insert(Fact::Compress);
        }
    }
}

/// Elements that go where a constant says, for one of its values.
fn at_a_constant(flow: &Flow, facts: &mut BTreeSet<Fact>) {
    let from = |e: &Element| match e.edges.as_slice() {
        [edge] if edge.way == Way::Moved && edge.count == 1 => Some((edge.source, edge.first)),
        _ => None,
    };
    let each = flow.elements.iter().enumerate();
    let live: Vec<(usize, Place)> = each.filter_map(|(k, e)| Some((k, from(e)?))).collect();
    let zeros = flow.elements.iter().filter(|e| e.edges.is_empty()).count();
    if live.len() + zeros < flow.elements.len() {
        chosen(flow, facts);
        return;
    }
    let places: Vec<Place> = live.iter().map(|l| l.1).collect();
    let Some(&(first, at)) = places.first() else {
        return;
    };
    let sources: BTreeSet<usize> = places.iter().map(|p| p.0).collect();
    let breaks = places.windows(2).filter(|w| !is_run(w)).count();
    let still = |s: usize| live.iter().filter(|l| l.1 == (s, l.0 as u32)).count();
    let kept = sources.iter().map(|&s| still(s)).max().unwrap_or(0);
    facts.insert(if live.len() == 1 {
        Fact::ExtractOne
    } else if kept == live.len() {
        return;
    } else if sources.len() == 2 && kept > 0 && (kept + 1 == live.len() || kept * 2 >= live.len()) {
        Fact::Insert
    } else if breaks == 0 && zeros == 0 && flow.sources[first].count as usize > live.len() {
        Fact::Part
    } else if breaks <= 1 && (zeros > 0 || at > 0) && !(breaks == 1 && sources.len() == 1) {
        Fact::ShiftElements
    } else {
        chosen(flow, facts);
        return;
    });
}

/// Elements whose order a register or a constant has.
fn chosen(flow: &Flow, facts: &mut BTreeSet<Fact>) {
    if flow.elements.len() == 1 {
        return;
    }
    if !facts.contains(&Fact::ByIndex) && !facts.contains(&Fact::ByConstant) {
        return;
    }
    let moved = flow.elements.iter().flat_map(|e| &e.edges);
    let moved = moved.filter(|e| e.way == Way::Moved);
    let straight = |(k, e): (usize, &Element)| {
        let mut moved = e.edges.iter().filter(|e| e.way == Way::Moved);
        moved.all(|e| e.first as usize == k || flow.sources[e.source].count == 1)
    };
    let sources: BTreeSet<usize> = moved.map(|e| e.source).collect();
    if flow.elements.iter().enumerate().all(straight) {
        return;
    }
    facts.insert(Fact::Shuffle);
    if sources.len() > 1 {
        facts.insert(Fact::TwoSources);
    }
}
