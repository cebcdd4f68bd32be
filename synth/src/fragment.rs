//! Fragments: pieces of an expression that one instruction may compute.
//!
//! In: a term of one lane. Out: its cuts, each a choice of sub-terms at which the piece that
//! is rooted in the term ends, and for a cut the [`Fragment`], a function of those
//! sub-terms. Fragments are compared by what they do on fixed inputs ([`Behaviour`]), so
//! that an instruction is found whatever way the piece is written.
//!
//! It does not know instructions.

use semantics::bits::Bits;
use semantics::build as b;
use semantics::eval::{CompiledTerms, Input};
use semantics::op::OpCode;
use semantics::sort::Sort;
use semantics::term::{Kind, Term};
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// The most operators of a value, each counted as often as it is read, that is gone through as a tree: of what
/// is computed of itself over and over there are far more.
const MOST_READ: u32 = 4096;

/// Whether a value is too much to be gone through as a tree.
pub(crate) fn is_much(t: Term) -> bool {
    t.size() > MOST_READ
}

/// What a function is on the fixed inputs: a fingerprint.
pub type Behaviour = u128;

/// A function of a few values, as a term over the variables of [`variable`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Fragment {
    /// The sub-terms that it is a function of, in order of first use.
    pub leaves: Vec<Term>,
    /// The function.
    pub term: Term,
}

/// The most values that a fragment may depend on.
pub const MAX_LEAVES: usize = 3;
/// The most cuts that are kept for one term.
const MAX_CUTS: usize = 48;
/// So many cuts of a kind stay where there are too many.
const OF_A_KIND: usize = 12;
/// How many cuts at one border of values, which differ in constants, come before those at others.
const FIRST: usize = 6;
/// Number of fixed inputs.
const TESTS: usize = 128;

/// The width in which a lane holds a term: truth values take one bit.
pub fn lane_width(t: Term) -> u32 {
    t.sort().width().unwrap_or(1)
}

/// Whether registers have lanes for such values.
pub fn regular(t: Term) -> bool {
    matches!(t.sort(), Sort::Bool) || matches!(t.sort(), Sort::Bv(8 | 16 | 32 | 64))
}

/// The variable that stands for leaf `k`.
pub fn variable(k: usize, width: u32) -> Term {
    Term::var(&format!("@{k}"), Sort::Bv(width))
}

/// A term as bits: a truth value becomes one bit.
pub fn as_bits(t: Term) -> Term {
    match t.sort() {
        Sort::Bool => b::bool_to_bit(t),
        _ => t,
    }
}

/// The operands of a term that are values of a lane.
pub fn operands(t: Term) -> impl Iterator<Item = Term> {
    t.children().filter(|c| c.as_int().is_none())
}

/// The cuts of terms, each made once.
#[derive(Default)]
pub struct Cuts {
    known: HashMap<Term, Vec<Vec<Term>>>,
}

impl Cuts {
    /// The cuts of a term, the one at its own operands first. Constants may be inside or
    /// at the border.
    pub fn of(&mut self, t: Term) -> Vec<Vec<Term>> {
        if let Some(done) = self.known.get(&t) {
            return done.clone();
        }
        let mut all: Vec<Vec<Term>> = vec![Vec::new()];
        let mut children: Vec<Term> = Vec::new();
        for c in operands(t) {
            if !children.contains(&c) {
                children.push(c);
            }
        }
        for &child in &children {
            let mut ways = vec![vec![child]];
            if constant(child) {
                ways.push(Vec::new());
                let inner = |t: &Term| operands(*t).next();
                let below = std::iter::successors(inner(&child), inner);
                ways.extend(below.map(|t| vec![t]));
            } else if child.as_app().is_some() && child.as_var().is_none() {
                ways.extend(self.of(child));
            }
            all = product(&all, &ways);
        }
        let own = children;
        let depends = |cut: &Vec<Term>| cut.iter().any(|l| !constant(*l));
        // Where a part has constants only, they may be the operands that are wanted.
        if all.iter().any(depends) {
            all.retain(depends);
        }
        let values = |cut: &[Term]| cut.iter().filter(|l| !constant(**l)).count();
        all.sort_by_key(|cut| (*cut != own, values(cut), cut.len()));
        all.dedup();
        // Each border of values has its say before one of them has all its constants'.
        let mut seen: HashMap<Vec<Term>, usize> = HashMap::new();
        let mut turn = |cut: &[Term]| {
            let border = cut.iter().copied().filter(|l| !constant(*l)).collect();
            let turn = seen.entry(border).or_insert(0);
            *turn += 1;
            *turn - 1
        };
        let mut turns: Vec<(usize, Vec<Term>)> = all
            .into_iter()
            .map(|cut| (turn(&cut) / FIRST, cut))
            .collect();
        turns.sort_by_key(|(turn, _)| *turn);
        let all: Vec<Vec<Term>> = turns.into_iter().map(|(_, cut)| cut).collect();
        let all = of_each_kind(all, |cut| (values(cut), cut.len()));
        self.known.insert(t, all.clone());
        all
    }
}

/// Not more cuts than are looked at, in their order. Some of each kind stay: below a chain of values there
/// are as many cuts at one value as it is long.
fn of_each_kind<K: Eq + Hash>(all: Vec<Vec<Term>>, kind: impl Fn(&[Term]) -> K) -> Vec<Vec<Term>> {
    let mut left = all.len().saturating_sub(MAX_CUTS);
    if left == 0 {
        return all;
    }
    let mut counts: HashMap<K, usize> = HashMap::new();
    for cut in &all {
        *counts.entry(kind(cut)).or_insert(0) += 1;
    }
    // The last of the kinds of which there are too many.
    let mut kept: Vec<Vec<Term>> = Vec::new();
    for cut in all.into_iter().rev() {
        let count = counts.entry(kind(&cut)).or_insert(0);
        if left > 0 && *count > OF_A_KIND {
            (*count, left) = (*count - 1, left - 1);
        } else {
            kept.push(cut);
        }
    }
    kept.reverse();
    kept.truncate(MAX_CUTS);
    kept
}

fn constant(t: Term) -> bool {
    constant_bits(t).is_some()
}

/// Each of these with each of those, in order, where that is not too many leaves.
fn product(all: &[Vec<Term>], ways: &[Vec<Term>]) -> Vec<Vec<Term>> {
    let (mut out, mut seen) = (Vec::new(), HashSet::new());
    for head in all {
        for way in ways {
            let mut cut = head.clone();
            cut.extend(way.iter().filter(|l| !head.contains(l)));
            if cut.len() <= MAX_LEAVES && seen.insert(cut.clone()) {
                out.push(cut);
            }
        }
    }
    out
}

impl Fragment {
    /// The piece of a term above a cut.
    pub fn new(root: Term, cut: &[Term]) -> Fragment {
        let mut map: HashMap<Term, Term> = HashMap::new();
        for (k, &leaf) in cut.iter().enumerate() {
            let variable = variable(k, lane_width(leaf));
            let value = match leaf.sort() {
                Sort::Bool => b::eq(variable, Term::bv(1, 1)),
                _ => variable,
            };
            map.insert(leaf, value);
        }
        let inner = replace_below(root, &mut map);
        Fragment {
            leaves: cut.to_vec(),
            term: as_bits(inner),
        }
    }

    /// Widths of the leaves.
    pub fn widths(&self) -> Vec<u32> {
        self.leaves.iter().map(|l| lane_width(*l)).collect()
    }

    /// What it does on the fixed inputs; nothing where it rests on more than its leaves.
    pub fn behaviour(&self) -> Option<Behaviour> {
        let inputs: Vec<(String, u32)> = self
            .widths()
            .into_iter()
            .enumerate()
            .map(|(k, w)| (format!("@{k}"), w))
            .collect();
        let order: Vec<usize> = (0..inputs.len()).collect();
        tried(self.term, &inputs, &[&order])?.first().copied()
    }
}

/// An application to other operands, as it stands: nothing is simplified, so that the parts
/// of a term are found again in what is made of it.
pub fn rebuild(t: Term, mut f: impl FnMut(Term) -> Term) -> Term {
    match t.kind() {
        Kind::App { op, args } => {
            let new: Vec<Term> = args.iter().map(|&a| f(a)).collect();
            if new[..] == args[..] {
                return t;
            }
            Term::raw_app(*op, &new).unwrap_or_else(|_| b::app(*op, &new))
        }
        _ => t,
    }
}

/// Replaces sub-terms; the map is also the memory of what was done.
pub fn replace(t: Term, map: &mut HashMap<Term, Term>) -> Term {
    if let Some(&done) = map.get(&t) {
        return done;
    }
    let out = replace_below(t, map);
    map.insert(t, out);
    out
}

/// Replaces sub-terms of a term, but not the term itself.
pub fn replace_below(t: Term, map: &mut HashMap<Term, Term>) -> Term {
    rebuild(t, |child| replace(child, map))
}

/// What a function does on the fixed inputs, for each of some orders: its input `k` gets those of position
/// `order[k]`.
///
/// # Panics
/// When it reads others.
pub fn behaviours(term: Term, inputs: &[(String, u32)], orders: &[&[usize]]) -> Vec<Behaviour> {
    tried(term, inputs, orders).expect("a function reads only its inputs")
}

/// The same; nothing where it reads others.
fn tried(term: Term, inputs: &[(String, u32)], orders: &[&[usize]]) -> Option<Vec<Behaviour>> {
    let named = inputs.iter().map(|(name, width)| Input {
        name: name.clone(),
        sort: Sort::Bv(*width),
    });
    let named: Vec<Input> = named.collect();
    let program = CompiledTerms::compile(&[term], &named).ok()?;
    let mut frame = program.frame(TESTS);
    let run = |order: &&[usize]| {
        for (k, (_, width)) in inputs.iter().enumerate() {
            program
                .input_words(&mut frame, k)
                .copy_from_slice(&tests(order[k], *width));
        }
        program.execute(&mut frame);
        let mut by_position = vec![0; order.iter().max().map_or(0, |most| most + 1)];
        for (k, (_, w)) in inputs.iter().enumerate() {
            by_position[order[k]] = *w;
        }
        let head = by_position.iter().fold(u64::from(term.width()), |acc, &w| {
            acc.wrapping_mul(131).wrapping_add(u64::from(w))
        });
        crate::lanes::behaviour(head, program.output_words(&frame, 0))
    };
    Some(orders.iter().map(run).collect())
}

/// The fixed inputs of a position: all pairs of edges for the first two, then a mixture.
fn tests(position: usize, width: u32) -> Vec<u64> {
    let mask = u64::MAX >> (64 - width);
    let half = 1u64 << (width - 1);
    let edges = [
        0,
        1,
        mask,
        half,
        half.wrapping_sub(1),
        half + 1,
        mask.wrapping_sub(1),
    ];
    let mut state = (position as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..TESTS)
        .map(|test| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let x = (state ^ (state >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
            let random = x ^ (x >> 29);
            let value = match (test, position) {
                (0..49, 0) => edges[test / 7],
                (0..49, 1) => edges[test % 7],
                (0..49, _) => edges[(test / 7 + 2 * test + 1) % 7],
                // Small numbers, which counts of shifts are.
                (49..80, _) if random >> 60 < 6 => random % (u64::from(width) + 2),
                (80..100, _) => random >> (random >> 58),
                _ => random,
            };
            value & mask
        })
        .collect()
}

/// The constant that a term is, as bits of a lane.
pub fn constant_bits(t: Term) -> Option<Bits> {
    if let Some(truth) = t.as_bool() {
        return Some(Bits::from_u64(1, u64::from(truth)));
    }
    // A constant in another width stands as it is where its operand is to be found.
    match t.as_app() {
        Some((op, args)) => {
            let width = t.sort().width()?;
            match op.code {
                OpCode::Sext => Some(constant_bits(args[0])?.sext(width)),
                OpCode::Zext => Some(constant_bits(args[0])?.zext(width)),
                OpCode::Extract => {
                    let lo = u32::try_from(args[1].as_int()?).ok()?;
                    Some(constant_bits(args[0])?.extract(lo, width))
                }
                OpCode::BvNeg => Some(constant_bits(args[0])?.neg()),
                _ => None,
            }
        }
        _ => t.as_bits().cloned(),
    }
}
