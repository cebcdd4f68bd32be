//! Orders of lanes: what wide results lie in, where a machine deals them to two registers in turn.
//!
//! In: candidates whose results or operands are pairs of registers, or two registers that become one
//! of half the width. Out: for each the operation that it is once the lanes of pairs are thought of in
//! their own order ([`ordered`]), which the search takes for one instruction; how its operands and its
//! result really lie is said beside it ([`Ordered`]). Between what widens and what narrows lanes nothing
//! has to move then; where lanes have to lie in their order after all, that is found when programs are
//! written out ([`super::expansion`]).
//!
//! Each is made of the meaning of the instruction, element by element.

use crate::candidates::{Candidate, natural_width};
use crate::cost::Cost;
use crate::lane_function::packed_lane_function;
use autoir::program::{Formal, Instance};
use semantics::build as b;
use semantics::instruction::{Element, Role};
use semantics::sort::Sort;
use semantics::subst::{free_vars, replace_vars};
use semantics::term::{Kind, Term};
use std::collections::HashMap;

/// How the lanes of a pair lie in its two registers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Order {
    /// The lower half of the lanes in the lower register.
    Plain,
    /// Of lanes of so many bits the even ones in the lower register, the odd ones in the upper.
    Turns(u32),
}

/// What an operand of an instruction is, by the numbers of the operands of the ordered operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    /// The same operand.
    Same(usize),
    /// A pair whose lanes lie in an order.
    Pair(usize, Order),
    /// The lower, or the upper, register of such a pair.
    Half(usize, Order, bool),
    /// A pair of two operands.
    Both(usize, usize),
}

/// What the result of an instruction is to the ordered operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Given {
    /// A register.
    Register,
    /// A pair whose lanes lie in an order.
    Pair(Order),
    /// Its lower register.
    Low,
    /// Its upper register.
    High,
}

/// How an instruction computes an ordered operation.
#[derive(Clone, Debug)]
pub(crate) struct Ordered {
    /// The number of the candidate.
    pub(crate) of: usize,
    /// What it costs.
    pub(crate) cost: Cost,
    pub(crate) operands: Vec<Source>,
    pub(crate) given: Given,
}

/// Lanes that are compared before all are.
const FIRST: u32 = 4;

impl Order {
    /// Where a lane lies, counted over both registers, of so many in both.
    fn place(self, lane: u32, lanes: u32) -> u32 {
        match self {
            Order::Plain => lane,
            Order::Turns(_) => lane % 2 * (lanes / 2) + lane / 2,
        }
    }

    /// Whether lanes of so many bits stay whole in it.
    pub(crate) fn keeps(self, lane: u32) -> bool {
        match self {
            Order::Plain => true,
            Order::Turns(width) => width.is_multiple_of(lane),
        }
    }
}

/// The lanes of two registers of so many bits that lie in an order, of the pair of them in their own.
pub(crate) fn dealt(pair: Term, order: Order, half: u32) -> [Term; 2] {
    let Order::Turns(width) = order else {
        return [0, half].map(|lo| b::extract(pair, lo, half));
    };
    [0, 1].map(|first| {
        let lanes = (0..half / width).map(|k| b::extract(pair, (2 * k + first) * width, width));
        b::concat(&lanes.rev().collect::<Vec<_>>())
    })
}

/// The pair of two registers, the lower one first, whose lanes lie in an order.
pub(crate) fn gathered([low, high]: [Term; 2], order: Order, half: u32) -> Term {
    let Order::Turns(width) = order else {
        return b::concat(&[high, low]);
    };
    let lane = |k: u32| b::extract([low, high][k as usize % 2], k / 2 * width, width);
    let lanes = (0..2 * half / width).map(lane);
    b::concat(&lanes.rev().collect::<Vec<_>>())
}

/// The operations that a candidate is where lanes of pairs of registers of `half` bits are thought of in
/// their order, which may lie in these. The number of the candidate is `of`.
pub(crate) fn ordered(
    c: &Candidate,
    of: usize,
    half: u32,
    orders: &[Order],
) -> Vec<(Candidate, Ordered)> {
    let formals = &c.instance.formals;
    let plain = |f: &Formal| {
        let register = f.role == Role::Register && (f.width == half || f.width == 2 * half);
        f.element != Element::Mask && (f.role.is_constant() || register)
    };
    let registers = formals.iter().filter(|f| f.role == Role::Register).count();
    if registers == 0 || !formals.iter().all(plain) || in_any_order(c, half).is_some() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for attempt in attempts(c, half, orders) {
        found.extend(attempt.made(c, of, half));
    }
    found
}

/// The width of lanes of a candidate that does the same to all lanes of pairs, in whatever order these lie.
pub(crate) fn in_any_order(c: &Candidate, half: u32) -> Option<u32> {
    let formals = c.instance.formals.iter();
    let mut registers = formals.filter(|f| !f.role.is_constant());
    let pairs = c.width == 2 * half && registers.all(|f| f.width == c.width);
    let found = pairs.then(|| c.packed_lane(c.natural))??;
    let whole = found.lanes * c.natural == c.width && !found.inputs.is_empty();
    let alike = found.inputs.iter().all(|(_, width)| *width == c.natural);
    (whole && alike).then_some(c.natural)
}

/// One way to think of a candidate's operands and result.
struct Attempt {
    /// The width of a lane of the result.
    lane: u32,
    operands: Vec<Source>,
    formals: Vec<Formal>,
    given: Given,
}

/// The ways to think of a candidate.
fn attempts(c: &Candidate, half: u32, orders: &[Order]) -> Vec<Attempt> {
    let (formals, width) = (&c.instance.formals, c.natural);
    let pairs = formals
        .iter()
        .any(|f| f.width == 2 * half && f.role == Role::Register);
    let turns = |width: u32| Some(Order::Turns(width)).filter(|order| orders.contains(order));
    let mut all = Vec::new();
    if c.width == 2 * half {
        if let Some(order) = turns(width) {
            all.push(Attempt::of_each(
                width,
                formals,
                half,
                Given::Pair(order),
                |f| {
                    f.element
                        .width()
                        .is_none_or(|w| w == width)
                        .then_some(order)
                },
            ));
        }
        for (given, lo) in [(Given::Low, 0), (Given::High, half)] {
            let lane = natural_width(b::extract(c.term(), lo, half));
            all.push(Attempt::of_each(lane, formals, half, given, |_| None));
        }
    } else if c.width == half {
        let wide = [Some(Order::Plain), turns(2 * width)];
        for order in wide.into_iter().flatten() {
            if pairs && order != Order::Plain {
                all.push(Attempt::of_each(
                    width,
                    formals,
                    half,
                    Given::Register,
                    |_| Some(order),
                ));
            }
            all.extend(Attempt::joined(width, formals, half, order));
        }
    }
    all
}

impl Attempt {
    /// Pairs in an order, where one is said for them, else as two operands.
    fn of_each(
        lane: u32,
        formals: &[Formal],
        half: u32,
        given: Given,
        order: impl Fn(&Formal) -> Option<Order>,
    ) -> Attempt {
        let (mut operands, mut own) = (Vec::new(), Vec::new());
        for f in formals {
            let at = own.len();
            match (f.width == 2 * half && f.role == Role::Register, order(f)) {
                (false, _) => operands.push(Source::Same(at)),
                (true, Some(order)) => operands.push(Source::Pair(at, order)),
                (true, None) => {
                    operands.push(Source::Both(at, at + 1));
                    let name = format!("{}_upper", f.name);
                    let part = |name| Formal {
                        name,
                        width: half,
                        ..f.clone()
                    };
                    own.extend([part(f.name.clone()), part(name)]);
                    continue;
                }
            }
            own.push(f.clone());
        }
        Attempt {
            lane,
            operands,
            formals: own,
            given,
        }
    }

    /// The only two registers as one pair in an order, either of them the lower.
    fn joined(lane: u32, formals: &[Formal], half: u32, order: Order) -> Vec<Attempt> {
        let registers: Vec<usize> = (0..formals.len())
            .filter(|&k| formals[k].role == Role::Register)
            .collect();
        let &[first, second] = &registers[..] else {
            return Vec::new();
        };
        if [first, second].iter().any(|&k| formals[k].width != half) {
            return Vec::new();
        }
        let of = |low: usize| {
            let (mut operands, mut own) = (Vec::new(), Vec::new());
            for (k, f) in formals.iter().enumerate() {
                match k == first || k == second {
                    false => {
                        operands.push(Source::Same(own.len()));
                        own.push(f.clone());
                    }
                    true => {
                        if k == first {
                            own.push(Formal {
                                width: 2 * half,
                                ..f.clone()
                            });
                        }
                        let pair = own.iter().position(|f| f.name == formals[first].name);
                        operands.push(Source::Half(pair.unwrap_or(0), order, k != low));
                    }
                }
            }
            Attempt {
                lane,
                operands,
                formals: own,
                given: Given::Register,
            }
        };
        vec![of(first), of(second)]
    }

    /// The operation, where it treats lanes alike and apart.
    fn made(mut self, c: &Candidate, of: usize, half: u32) -> Option<(Candidate, Ordered)> {
        let values = self.values(half);
        let formals = c.instance.formals.iter().zip(&values);
        let map: HashMap<&str, Term> = formals.map(|(f, t)| (f.name.as_str(), *t)).collect();
        let width = self.lane;
        let lane = |k: u32| replace_vars(c.element(width, k), &map);
        let lanes = match self.given {
            Given::Pair(_) => 2 * half / width,
            Given::Low | Given::High | Given::Register => half / width,
        };
        let given = self.given;
        let place = |k: u32| match given {
            Given::Pair(order) => order.place(k, lanes),
            Given::Low | Given::Register => k,
            Given::High => lanes + k,
        };
        let term = |count: u32| {
            let lanes = (0..count).map(|k| lane(place(k)));
            b::concat(&lanes.rev().collect::<Vec<_>>())
        };
        if lanes <= FIRST {
            return None;
        }
        self.drop_unread(lane(place(0)));
        if !self.is_apart(c, term(FIRST), FIRST) {
            return None;
        }
        let whole = match (self.given, c.term().kind()) {
            (Given::Low, Kind::Map { count, body }) => b::map(count / 2, *body),
            _ => term(lanes),
        };
        let made = c.with(self.instance(c, whole));
        let all = made.packed_lane(width).is_some_and(|f| f.lanes == lanes);
        let ordered = Ordered {
            of,
            cost: c.cost,
            operands: self.operands,
            given: self.given,
        };
        all.then_some((made, ordered))
    }

    /// Registers of pairs that no lane reads, as this first one shows, are whatever the others are.
    fn drop_unread(&mut self, first: Term) {
        let read = free_vars(first);
        let is_read = |f: &Formal| read.iter().any(|t| t.as_var() == Some(f.name.as_str()));
        for at in (0..self.operands.len()).rev() {
            let Source::Both(low, high) = self.operands[at] else {
                continue;
            };
            let unread = match (is_read(&self.formals[low]), is_read(&self.formals[high])) {
                (false, true) => low,
                (true, false) => high,
                _ => continue,
            };
            self.formals.remove(unread);
            let moved = |k: usize| k - usize::from(k > unread);
            for source in &mut self.operands {
                *source = match *source {
                    Source::Same(k) => Source::Same(moved(k)),
                    Source::Pair(k, order) => Source::Pair(moved(k), order),
                    Source::Half(k, order, upper) => Source::Half(moved(k), order, upper),
                    Source::Both(x, y) => Source::Both(moved(x), moved(y)),
                };
            }
            self.operands[at] = Source::Both(low, low);
        }
    }

    /// The operands of the instruction over those of the operation.
    fn values(&self, half: u32) -> Vec<Term> {
        let own = |k: usize| Term::var(&self.formals[k].name, Sort::Bv(self.formals[k].width));
        let value = |source: &Source| match *source {
            Source::Same(k) => own(k),
            Source::Pair(k, order) => {
                let [low, high] = dealt(own(k), order, half);
                b::concat(&[high, low])
            }
            Source::Half(k, order, upper) => dealt(own(k), order, half)[usize::from(upper)],
            Source::Both(low, high) => b::concat(&[own(high), own(low)]),
        };
        self.operands.iter().map(value).collect()
    }

    fn is_apart(&self, c: &Candidate, term: Term, lanes: u32) -> bool {
        let few = c.with(self.instance(c, term));
        let found = packed_lane_function(&few, self.lane);
        found.is_some_and(|f| f.lanes == lanes && !f.inputs.is_empty())
    }

    fn instance(&self, c: &Candidate, term: Term) -> Instance {
        let how = format!("{:?} of {:?}", self.given, self.operands);
        Instance {
            operation: format!("{} in order: {how}", c.instance.operation),
            formals: self.formals.clone(),
            term,
            transfer: None,
            ..Instance::clone(&c.instance)
        }
    }
}
