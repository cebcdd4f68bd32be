//! Saturation: a cover of an expression chosen among all ways to write all its values.
//!
//! In: an expression of one lane and how covering computes it. Out: another choice, where one is
//! cheaper. The values are put into an e-graph ([`crate::classes`]), written otherwise in rounds
//! ([`crate::alternatives`]), and for each class the pieces that one operation computes are found
//! over all ways to write what is in them, by what they do. What is taken of them is the choice of
//! least cost, each value counted once.
//!
//! It stands beside [`super::cover`], whose choice it begins with: who asks compares both by what
//! they cost once they are placed. Limits are counts.

use super::Search;
use super::cover::{Choices, Expression, How, PARTS, users};
use crate::alternatives::{alternatives, identities};
use crate::classes::{Class, Classes, Written};
use crate::fragment::{MAX_LEAVES, constant_bits, lane_width, regular};
use autoir::program::Value;
use semantics::subst::replace_vars;
use semantics::term::Term;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

/// The largest expression that is written otherwise, in values.
const MAX_VALUES: usize = 300;
/// The largest one that is written otherwise by all rules.
const FEW_VALUES: usize = 80;
/// Ways to write values beyond which nothing is written otherwise.
const MAX_WRITTEN: usize = 1_500;
/// How often what is new is written otherwise.
const ROUNDS: usize = 2;
/// The pieces that are kept for a class, and those of an operand that larger ones are made of.
const MAX_PIECES: usize = 48;
const INNER_PIECES: usize = 12;
/// The pieces that are made of those of operands: all of three.
const MAX_PRODUCTS: usize = 4_096;
/// Changes of the choice that are tried.
const MAX_TRIED: usize = 4_000;

/// A function of a few classes, over a variable for each.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Piece {
    border: Vec<Class>,
    term: Term,
}

/// A way to compute the value of a class.
#[derive(Clone)]
struct Way {
    how: How,
    of: Vec<Class>,
    /// What it counts for in a search that adds.
    cost: u64,
    /// What it takes of the machine, for how long.
    takes: Option<(Option<String>, u64)>,
}

/// The classes of an expression with all that is known of them.
struct Graph {
    written: HashMap<Class, Vec<Written>>,
    terms: HashMap<Class, Vec<Term>>,
    pieces: HashMap<Class, Rc<Vec<Piece>>>,
    open: HashSet<Class>,
}

/// What a choice costs: the busiest resource, all of them, and what a search that adds counts.
type Measure = (u64, u64, u64);

/// The way that is taken for each class.
type Chosen = HashMap<Class, usize>;

impl Search<'_> {
    /// Whether these registers rest on such as rules or equality saturation gave.
    pub fn is_rewritten(&self, values: &[Value]) -> bool {
        let needed = self.graph.needed(values);
        needed.iter().any(|value| self.rewritten.contains(value))
    }

    /// Another choice for an expression, where one may be cheaper than what covering chose.
    pub(super) fn saturated(&mut self, e: &Expression, old: &Choices) -> Option<Choices> {
        if users(e.root).len() > MAX_VALUES || e.leaves.contains_key(&e.root) {
            return None;
        }
        let classes = self.written_otherwise(e, old);
        let mut graph = Graph {
            written: classes.all_written(),
            terms: classes.all_terms(),
            pieces: HashMap::new(),
            open: HashSet::new(),
        };
        let root = classes.of(e.root)?;
        let ways = self.all_ways(e, old, &classes, &mut graph, root);
        let by_work = self.estimator.is_by_work();
        let chosen = improved(&ways, root, cheapest(&ways, root)?, by_work);
        self.as_choices(e, old, &classes, &graph, (&ways, &chosen), root)
    }

    /// The values of an expression and of its cover, and other ways to write them.
    fn written_otherwise(&mut self, e: &Expression, old: &Choices) -> Classes {
        let mut classes = Classes::default();
        classes.add(e.root);
        let mut new = in_order(e.root, &mut HashSet::new());
        let mut seen: HashSet<Term> = new.iter().copied().collect();
        // Sorted: which comes first must not depend on a table's order.
        let made: BTreeMap<Term, &How> = (old.made.iter())
            .filter_map(|(t, made)| Some((*t, &made.as_ref()?.1)))
            .collect();
        for (t, how) in made {
            if let How::Same(other) = how {
                let (x, y) = (classes.add(t), classes.add(*other));
                classes.unite(x, y);
                new.extend(in_order(*other, &mut seen));
            }
        }
        let few = new.len() <= FEW_VALUES;
        for _ in 0..ROUNDS {
            let mut next = Vec::new();
            for t in std::mem::take(&mut new) {
                if t.as_app().is_none() || constant_bits(t).is_some() {
                    continue;
                }
                // As in covering: what an operation computes is written otherwise by few rules, unless
                // there is room for all.
                let known = old.made.get(&t).and_then(Option::as_ref);
                let others = match known {
                    Some((_, How::Operation { .. })) if !few => Vec::new(),
                    _ => alternatives(t),
                };
                let by_rules = self.by_rules(old, t);
                let variants = self.variants_of(old, t);
                for other in [identities(t), variants, by_rules.to_vec(), others].concat() {
                    if classes.size() >= MAX_WRITTEN || other.sort() != t.sort() {
                        continue;
                    }
                    let (x, y) = (classes.add(t), classes.add(other));
                    classes.unite(x, y);
                    next.extend(in_order(other, &mut seen));
                }
            }
            new = next;
        }
        classes.close();
        classes
    }

    /// The ways to compute the classes that ways to compute the root rest on.
    fn all_ways(
        &mut self,
        e: &Expression,
        old: &Choices,
        classes: &Classes,
        graph: &mut Graph,
        root: Class,
    ) -> BTreeMap<Class, Vec<Way>> {
        let (mut ways, mut work) = (BTreeMap::new(), vec![root]);
        while let Some(class) = work.pop() {
            if ways.contains_key(&class) {
                continue;
            }
            let found = self.ways_of(e, old, classes, graph, class);
            work.extend(found.iter().flat_map(|way: &Way| way.of.iter().copied()));
            ways.insert(class, found);
        }
        ways
    }

    fn ways_of(
        &mut self,
        e: &Expression,
        old: &Choices,
        classes: &Classes,
        graph: &mut Graph,
        class: Class,
    ) -> Vec<Way> {
        let mut out = Vec::new();
        let t = graph.terms[&class][0];
        if !regular(t) || !self.holds(old.lanes, t) {
            return out;
        }
        for &t in graph.terms[&class].clone().iter() {
            let given = match (e.leaves.get(&t), constant_bits(t)) {
                (Some(&k), _) => Some((How::Leaf(k), 0)),
                (None, Some(bits)) => {
                    Some((How::Constant(bits), u64::from(self.processor().constant)))
                }
                (None, None) => None,
            };
            if let Some((how, cost)) = given {
                let (of, takes) = (Vec::new(), None);
                return vec![Way {
                    how,
                    of,
                    cost,
                    takes,
                }];
            }
            out.extend(self.known_way(old, classes, t));
        }
        let library = Arc::clone(&old.lane_library);
        for piece in graph.pieces(class).iter() {
            if piece.border.is_empty() || piece.border.contains(&class) {
                continue;
            }
            let border: Vec<Term> = piece.border.iter().map(|c| graph.variable(*c)).collect();
            let Some(fragment) = self.fragment(piece.term, &border) else {
                continue;
            };
            for entry in library.find(fragment.1) {
                let op = &library.ops[entry.op];
                let meaning = library.meaning(entry, &fragment.0);
                if self.equal(&op.name, meaning, fragment.0.term) {
                    let args = entry.leaves.iter().map(|&k| border[k]).collect();
                    let of = entry.leaves.iter().map(|&k| piece.border[k]).collect();
                    out.push(self.operation(How::Operation { op: entry.op, args }, of, old));
                    break;
                }
            }
        }
        out
    }

    fn operation(&self, how: How, of: Vec<Class>, old: &Choices) -> Way {
        let How::Operation { op, .. } = &how else {
            unreachable!("only operations are asked for");
        };
        let op = &old.lane_library.ops[*op];
        let weight = &self.candidates.list[op.candidate].weight;
        let takes = Some((weight.resource.clone(), u64::from(weight.timing.throughput)));
        let cost = u64::from(op.cost);
        Way {
            how,
            of,
            cost,
            takes,
        }
    }

    /// How covering computes a term.
    fn known_way(&self, old: &Choices, classes: &Classes, t: Term) -> Option<Way> {
        let (flow, how) = old.made.get(&t)?.as_ref()?;
        if matches!(how, How::Leaf(_) | How::Constant(_) | How::Same(_)) {
            return None;
        }
        let rests = how.operands();
        let of: Vec<Class> = rests
            .iter()
            .map(|t| classes.of(*t))
            .collect::<Option<_>>()?;
        if matches!(how, How::Operation { .. }) {
            return Some(self.operation(how.clone(), of, old));
        }
        let below = rests.iter().filter_map(|t| {
            let flow = old.made.get(t)?.as_ref()?.0;
            Some(flow / old.users.get(t).copied().unwrap_or(1).max(1))
        });
        let cost = flow.saturating_sub(below.sum()).div_ceil(PARTS);
        let takes = Some((None, cost.div_ceil(4)));
        Some(Way {
            how: how.clone(),
            of,
            cost,
            takes,
        })
    }

    /// What was chosen, as what placing reads.
    fn as_choices(
        &self,
        e: &Expression,
        old: &Choices,
        classes: &Classes,
        graph: &Graph,
        (ways, chosen): (&BTreeMap<Class, Vec<Way>>, &Chosen),
        root: Class,
    ) -> Option<Choices> {
        let name = |class: Class| match class == root {
            true => e.root,
            false => graph.terms[&class][0],
        };
        let mut made = old.made.clone();
        for class in needed(ways, chosen, root)? {
            let way = &ways[&class][chosen[&class]];
            let own = name(class);
            for &t in graph.terms[&class].iter().filter(|t| **t != own) {
                made.insert(t, Some((0, How::Same(own))));
            }
            let how = match &way.how {
                How::Operation { op, .. } => {
                    let args: Vec<Term> = way.of.iter().map(|c| name(*c)).collect();
                    let how = How::Operation { op: *op, args };
                    match stepped(old, *op, &way.of, &name).filter(|t| classes.of(*t).is_none()) {
                        Some(step) => {
                            made.insert(step, Some((0, how)));
                            How::Same(step)
                        }
                        None => how,
                    }
                }
                other => other.clone(),
            };
            made.insert(own, Some((0, how)));
        }
        Some(old.with(made))
    }
}

/// The values of a term, operands first, those that are new.
fn in_order(t: Term, seen: &mut HashSet<Term>) -> Vec<Term> {
    let mut out = Vec::new();
    fn visit(t: Term, seen: &mut HashSet<Term>, out: &mut Vec<Term>) {
        if seen.insert(t) {
            t.children().for_each(|c| visit(c, seen, out));
            out.push(t);
        }
    }
    visit(t, seen, &mut out);
    out
}

/// What an operation computes of these values, for the proof to go by: it differs from how the value
/// is known by rules only.
fn stepped(old: &Choices, op: usize, of: &[Class], name: &impl Fn(Class) -> Term) -> Option<Term> {
    let op = &old.lane_library.ops[op];
    let values: Vec<Term> = of.iter().map(|c| name(*c)).collect();
    if lane_width(op.term) == 1 || values.iter().any(|t| lane_width(*t) == 1) {
        return None;
    }
    let inputs = op
        .inputs
        .iter()
        .zip(values)
        .map(|((n, _), t)| (n.as_str(), t));
    let t = replace_vars(op.term, &inputs.collect());
    t.as_app()
        .map(|_| t)
        .filter(|t| constant_bits(*t).is_none())
}

impl Graph {
    /// The variable that stands for a class in pieces.
    fn variable(&self, class: Class) -> Term {
        Term::var(&format!("class{class}"), self.terms[&class][0].sort())
    }

    /// The pieces that end in a class, in the order in which they are kept.
    fn pieces(&mut self, class: Class) -> Rc<Vec<Piece>> {
        if let Some(done) = self.pieces.get(&class) {
            return Rc::clone(done);
        }
        if !self.open.insert(class) {
            return Rc::default();
        }
        let mut all = Vec::new();
        for written in self.written[&class].clone() {
            if let Written::App(op, args) = written {
                let operands: Vec<Vec<Piece>> = args.iter().map(|a| self.operand(*a)).collect();
                let made = products(&operands).into_iter();
                all.extend(made.filter_map(|(border, args)| {
                    let term = Term::raw_app(op, &args).ok()?;
                    Some(Piece { border, term })
                }));
            }
        }
        let mut all = by_turns(all);
        all.truncate(MAX_PIECES);
        let all = Rc::new(all);
        self.open.remove(&class);
        self.pieces.insert(class, Rc::clone(&all));
        all
    }

    /// What may stand for an operand in a piece.
    fn operand(&mut self, class: Class) -> Vec<Piece> {
        let t = self.terms[&class][0];
        let mut out = Vec::new();
        if regular(t) {
            let (border, term) = (vec![class], self.variable(class));
            out.push(Piece { border, term });
        }
        let constant = |t: &Term| t.as_int().is_some() || constant_bits(*t).is_some();
        if let Some(&term) = self.terms[&class].iter().find(|t| constant(t)) {
            let border = Vec::new();
            out.push(Piece { border, term });
        }
        out.extend(self.pieces(class).iter().take(INNER_PIECES).cloned());
        out
    }
}

/// Pieces in an order of which any beginning has large ones that rest on few values, which save the
/// most, and small ones, of which single operations are made: one of each by turns.
fn by_turns(all: Vec<Piece>) -> Vec<Piece> {
    let (mut by_border, mut by_size) = (all.clone(), all);
    by_border.sort_by_key(|piece| (piece.border.len(), piece.term.size()));
    by_size.sort_by_key(|piece| (piece.term.size(), piece.border.len()));
    let mut seen = HashSet::new();
    let pairs = by_border.into_iter().zip(by_size);
    let all = pairs.flat_map(|(border, size)| [border, size]);
    all.filter(|piece| seen.insert(piece.clone())).collect()
}

/// Choices of one piece for each operand, where they do not rest on too many values: what is made of many
/// parts, as a register is of its lanes, has more than can be looked at.
fn products(operands: &[Vec<Piece>]) -> Vec<(Vec<Class>, Vec<Term>)> {
    let mut all: Vec<(Vec<Class>, Vec<Term>)> = vec![Default::default()];
    for ways in operands {
        let mut next = Vec::new();
        for (border, args) in &all {
            for way in ways {
                let more = way.border.iter().filter(|c| !border.contains(c));
                let border: Vec<Class> = border.iter().chain(more).copied().collect();
                if border.len() <= MAX_LEAVES {
                    next.push((border, [&args[..], &[way.term]].concat()));
                }
            }
        }
        next.truncate(MAX_PRODUCTS);
        all = next;
    }
    all
}

/// The way of least cost for each class, each use of a value counted; nothing where the root has
/// none.
fn cheapest(ways: &BTreeMap<Class, Vec<Way>>, root: Class) -> Option<Chosen> {
    // As trees: what is shared is counted each time, so that these are large numbers.
    let mut best: HashMap<Class, (u128, usize)> = HashMap::new();
    loop {
        let mut changed = false;
        for (&class, list) in ways {
            for (k, way) in list.iter().enumerate() {
                // Every step costs something, so that no value rests on itself.
                let own = u128::from(way.cost) + 1;
                let add = |sum: u128, c| Some(sum.saturating_add(best.get(c)?.0));
                let Some(cost) = way.of.iter().try_fold(own, add) else {
                    continue;
                };
                if best.get(&class).is_none_or(|(known, _)| cost < *known) {
                    best.insert(class, (cost, k));
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    best.contains_key(&root)
        .then(|| best.into_iter().map(|(c, (_, k))| (c, k)).collect())
}

/// The classes that a choice needs, operands first; nothing where one rests on itself or has no way.
fn needed(ways: &BTreeMap<Class, Vec<Way>>, chosen: &Chosen, root: Class) -> Option<Vec<Class>> {
    fn visit(
        (ways, chosen): (&BTreeMap<Class, Vec<Way>>, &Chosen),
        class: Class,
        done: &mut HashMap<Class, bool>,
        out: &mut Vec<Class>,
    ) -> Option<()> {
        match done.get(&class) {
            Some(true) => return Some(()),
            Some(false) => return None,
            None => {}
        }
        done.insert(class, false);
        for &c in &ways[&class][*chosen.get(&class)?].of {
            visit((ways, chosen), c, done, out)?;
        }
        done.insert(class, true);
        out.push(class);
        Some(())
    }
    let mut out = Vec::new();
    visit((ways, chosen), root, &mut HashMap::new(), &mut out)?;
    Some(out)
}

fn measure(
    ways: &BTreeMap<Class, Vec<Way>>,
    chosen: &Chosen,
    root: Class,
    by_work: bool,
) -> Option<Measure> {
    let (mut taken, mut sum) = (HashMap::<&Option<String>, u64>::new(), 0);
    for class in needed(ways, chosen, root)? {
        let way = &ways[&class][chosen[&class]];
        sum += way.cost;
        if let Some((resource, time)) = way.takes.as_ref().filter(|_| by_work) {
            *taken.entry(resource).or_default() += time;
        }
    }
    let most = taken.values().copied().max().unwrap_or(0);
    Some((most, taken.values().sum(), sum))
}

/// A choice in which no other way for one class makes the whole cheaper, each value counted once.
fn improved(ways: &BTreeMap<Class, Vec<Way>>, root: Class, start: Chosen, by_work: bool) -> Chosen {
    let mut chosen = start;
    let Some(mut least) = measure(ways, &chosen, root, by_work) else {
        return chosen;
    };
    let mut tried = 0;
    loop {
        let before = least;
        let classes: BTreeSet<Class> = needed(ways, &chosen, root).into_iter().flatten().collect();
        for class in classes {
            for k in 0..ways[&class].len() {
                tried += 1;
                if tried > MAX_TRIED {
                    return chosen;
                }
                let known = chosen[&class];
                chosen.insert(class, k);
                match measure(ways, &chosen, root, by_work).filter(|found| *found < least) {
                    Some(found) => least = found,
                    None => {
                        chosen.insert(class, known);
                    }
                }
            }
        }
        if least == before {
            return chosen;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(of: &[Class], cost: u64) -> Way {
        Way {
            how: How::Leaf(0),
            of: of.to_vec(),
            cost,
            takes: None,
        }
    }

    #[test]
    fn a_value_that_others_need_too_is_counted_once() {
        // 0 needs 1 and 2; 2 costs 5 by itself, or 1 more than 3 (of cost 6), which 1 needs anyway.
        let ways = BTreeMap::from([
            (0, vec![way(&[1, 2], 1)]),
            (1, vec![way(&[3], 1)]),
            (2, vec![way(&[], 5), way(&[3], 1)]),
            (3, vec![way(&[], 6)]),
        ]);
        let start = cheapest(&ways, 0).expect("there are ways");
        assert_eq!(start[&2], 0);
        let chosen = improved(&ways, 0, start, false);
        assert_eq!(chosen[&2], 1);
        assert_eq!(measure(&ways, &chosen, 0, false), Some((0, 0, 9)));
    }

    #[test]
    fn no_value_rests_on_itself() {
        let ways = BTreeMap::from([(0, vec![way(&[1], 0)]), (1, vec![way(&[0], 0)])]);
        assert!(cheapest(&ways, 0).is_none());
        let chosen = HashMap::from([(0, 0), (1, 0)]);
        assert!(needed(&ways, &chosen, 0).is_none());
    }
}
