//! Operations on pairs of registers, for machines that have them on single registers only.
//!
//! In: candidates, and how pairs are joined and taken apart. Out: for each operation that treats
//! the lanes of one register alike, one that does the same to pairs ([`doubled`]), which the
//! search takes for one instruction. Programs in which these are two instructions on the
//! halves again are written by [`super::expansion`]. That an operation on pairs is the one on both halves is
//! shown by their meanings, element by element, before it is a candidate.

use super::orders::{Order, Ordered, dealt, gathered};
use crate::candidates::Candidate;
use crate::cost::Cost;
use autoir::program::{Formal, Instance};
use semantics::build as b;
use semantics::instruction::{Element, Role};
use semantics::op::OpCode;
use semantics::sort::Sort;
use semantics::subst::replace_vars;
use semantics::term::{Kind, Term};
use semantics::unroll::elements;
use std::collections::{BTreeMap, HashMap, HashSet};

/// What is doubled, by the number of candidates.
#[derive(Default)]
pub(crate) struct Doubled {
    /// The operation on halves of each operation on pairs.
    pub(crate) halves: HashMap<usize, Half>,
    /// Operations on whole pairs that do not care for the order of their lanes, with the width of these.
    pub(crate) any_order: HashMap<usize, u32>,
    /// How each operation on lanes in their order is computed.
    pub(crate) ordered: BTreeMap<usize, Ordered>,
    /// Those that compute the same of pairs that lie in different orders.
    pub(crate) alike: HashMap<usize, Vec<usize>>,
    /// How pairs of a width are made.
    pub(crate) pairs: BTreeMap<u32, Halving>,
}

/// The operation on halves, by its number among candidates.
#[derive(Clone, Copy)]
pub(crate) struct Half {
    pub(crate) of: usize,
    /// The width of its lanes; lanes of any width where it computes bit by bit.
    pub(crate) lane: Option<u32>,
}

/// How pairs are made of halves, by the numbers of candidates.
pub(crate) struct Halving {
    pub(crate) join: usize,
    /// Which of its operands is the lower half.
    pub(crate) low: usize,
    pub(crate) high: usize,
    /// What makes a pair of two registers by moving their lanes, for each order besides that in which
    /// they lie.
    pub(crate) turned: BTreeMap<Order, Turned>,
}

/// What moves the lanes of pairs into an order, and from it, as two registers of which the lower one is
/// the operand of that number.
pub(crate) struct Turned {
    /// What each costs.
    pub(crate) cost: Cost,
    pub(crate) into: (usize, usize),
    pub(crate) from: (usize, usize),
}

/// The cheapest of such in an order, for registers of so many bits.
pub(crate) fn turned(list: &[Candidate], order: Order, half: u32) -> Option<Turned> {
    let both = [0, 1].map(|k| Term::var(&format!("half{k}"), Sort::Bv(half)));
    let pair = b::concat(&[both[1], both[0]]);
    let [low, high] = dealt(pair, order, half);
    let find = |wanted: Term| {
        let wanted = elements(wanted, UNIT);
        let usable = |c: &(usize, &Candidate)| {
            let formals = &c.1.instance.formals;
            let halves = formals
                .iter()
                .all(|f| f.width == half && f.role == Role::Register);
            c.1.width == 2 * half && formals.len() == 2 && halves
        };
        let moves = list
            .iter()
            .enumerate()
            .filter(usable)
            .filter_map(|(at, c)| {
                let low = (0..2).find(|&low| {
                    let given = c.instance.formals.iter().zip([low, 1 - low]);
                    let map = given.map(|(f, k)| (f.name.as_str(), both[k])).collect();
                    elements(replace_vars(c.term(), &map), UNIT) == wanted
                })?;
                Some((c.cost, at, low))
            });
        moves.min().map(|(_, at, low)| (at, low))
    };
    let into = find(b::concat(&[high, low]))?;
    Some(Turned {
        cost: list[into.0].cost,
        into,
        from: find(gathered(both, order, half))?,
    })
}

/// The operation that does to both halves of pairs what this one does to registers of so many bits;
/// none where it does something else, or has operands that are not halved and no constants.
pub(crate) fn doubled(instance: &Instance, half: u32) -> Option<Instance> {
    let whole = |f: &&Formal| f.role == Role::Register && f.width == half;
    let shared = |f: &Formal| f.role.is_constant() || f.role == Role::Register;
    let formals = &instance.formals;
    let apart = formals
        .iter()
        .all(|f| f.element != Element::Mask && shared(f));
    if instance.width() != half
        || !apart
        || !formals.iter().any(|f| whole(&f)) && !is_even(instance)
    {
        return None;
    }
    let pairs = formals.iter().filter(whole);
    let pairs: Vec<(&str, Term)> = pairs
        .map(|f| (f.name.as_str(), Term::var(&f.name, Sort::Bv(2 * half))))
        .collect();
    let of = |at: u32| {
        let parts = pairs
            .iter()
            .map(|&(name, pair)| (name, b::extract(pair, at, half)));
        elements(replace_vars(instance.term, &parts.collect()), UNIT)
    };
    let both = [of(0), of(half)].concat();
    let wide = |t: Term| replace_vars(t, &pairs.iter().copied().collect());
    let is_pair = |t: Term| t.as_var().is_some_and(|n| pairs.iter().any(|p| p.0 == n));
    let term = match instance.term.kind() {
        // A map over as many lanes again.
        Kind::Map { count, body } if in_lanes(*body, &is_pair) => b::map(2 * count, wide(*body)),
        // Bits are whatever their number is.
        _ if of_whole(instance.term, &is_pair) => wide(instance.term),
        _ => return None,
    };
    if term.sort() != Sort::Bv(2 * half) || elements(term, UNIT) != both {
        return None;
    }
    let formal = |f: &Formal| Formal {
        width: if whole(&f) { 2 * half } else { f.width },
        ..f.clone()
    };
    Some(Instance {
        operation: format!("{} of both halves", instance.operation),
        formals: formals.iter().map(formal).collect(),
        term,
        ..instance.clone()
    })
}

/// Whether an operation gives one number in all lanes.
fn is_even(instance: &Instance) -> bool {
    let lanes = match instance.term.kind() {
        Kind::Map { body, .. } => elements(instance.term, body.width()),
        _ => return false,
    };
    !instance.formals.is_empty() && lanes.windows(2).all(|pair| pair[0] == pair[1])
}

/// Whether a term reads registers as elements alone.
fn in_lanes(t: Term, is_register: &impl Fn(Term) -> bool) -> bool {
    let (mut seen, mut work) = (HashSet::new(), vec![t]);
    while let Some(t) = work.pop() {
        if is_register(t) {
            return false;
        }
        let element = t.args_of(OpCode::Extract).filter(|a| is_register(a[0]));
        match element {
            Some(args) => work.extend(&args[1..]),
            None if seen.insert(t) => work.extend(t.children()),
            None => {}
        }
    }
    true
}

/// Whether a term is bitwise logic of whole registers.
fn of_whole(t: Term, is_register: &impl Fn(Term) -> bool) -> bool {
    use OpCode as C;
    let logic = [C::BvAnd, C::BvOr, C::BvXor, C::BvNot];
    is_register(t)
        || t.as_app().is_some_and(|(op, args)| {
            logic.contains(&op.code) && args.iter().all(|&a| of_whole(a, is_register))
        })
}

/// What is compared at once.
const UNIT: u32 = 8;

impl Doubled {
    /// Notes which operations on lanes in their order are alike.
    pub(crate) fn compare(&mut self, list: &[Candidate]) {
        let mut groups: BTreeMap<(Term, Vec<u32>), Vec<usize>> = BTreeMap::new();
        for &k in self.ordered.keys() {
            let instance = &list[k].instance;
            let widths = instance.formals.iter().map(|f| f.width).collect();
            groups.entry((instance.term, widths)).or_default().push(k);
        }
        for mut group in groups.into_values().filter(|group| group.len() > 1) {
            group.sort_unstable();
            let each = group.iter().map(|k| (*k, group.clone()));
            self.alike.extend(each);
        }
    }

    /// Whether an operation is another in the program that is written out.
    pub(crate) fn changes(&self, operation: usize) -> bool {
        self.halves.contains_key(&operation) || self.ordered.contains_key(&operation)
    }
}
