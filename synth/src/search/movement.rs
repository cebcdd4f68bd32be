//! Movement: one instruction that brings pieces of the inputs into the wanted order.
//!
//! In: goals whose elements are pieces of inputs. Out: values, with the index constants of
//! the instruction solved from its move table. It looks at one instruction at a time;
//! [`super`] puts two in a row where one will not do.

use super::{Search, cheaper};
use crate::cost::Cost;
use crate::goal::{Goal, leaf};
use crate::legal::two;
use crate::swizzle::{self, MoveTable};
use autoir::program::Formal;
use autoir::program::{Argument, Node, Value};
use semantics::bits::Bits;
use semantics::build as b;
use semantics::instruction::WIDEST_NUMBER;
use semantics::op::OpCode;
use semantics::sort::Sort;
use semantics::term::Term;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// The registers of a width that a goal's elements may come from.
pub(super) type Sources = BTreeMap<u32, Rc<[Goal]>>;

/// What registers of inputs depend on: the width of elements and of registers, and for each input the first
/// of its elements that is wanted.
type Origin = (u32, u32, Vec<(&'static str, Option<u32>)>);

/// Registers of moves.
#[derive(Default)]
pub(super) struct Moves {
    /// All that lies in each, also what nobody asked for.
    whole: HashMap<Value, Goal>,
    /// Registers that hold consecutive pieces of inputs.
    sources: HashMap<Origin, Rc<[Goal]>>,
    /// Those that another register of the same goal needs anyway.
    pub(super) given: Vec<(Value, Goal)>,
}

/// A goal and the registers that its elements may come from, as elements of one width.
struct View {
    goal: Goal,
    sources: Sources,
    /// By width of registers: which of them has an element, and where in it.
    places: BTreeMap<u32, Places>,
}

/// Which of some registers has an element, and where in it.
type Places = HashMap<Term, Vec<(usize, usize)>>;

/// How many choices of registers for the operands of an instruction are tried.
const MOST_CHOICES: usize = 64;

fn places_in(registers: &[Goal]) -> Places {
    let mut places = Places::new();
    for (register, of) in registers.iter().enumerate() {
        for (at, element) in of.elements.iter().enumerate() {
            if let Some(t) = element {
                places.entry(*t).or_default().push((register, at));
            }
        }
    }
    places
}

impl View {
    fn new(goal: Goal, sources: Sources) -> View {
        View {
            goal,
            sources,
            places: BTreeMap::new(),
        }
    }

    /// In parts of the elements.
    fn in_parts(&self, element: u32) -> Option<View> {
        let parts = |(width, registers): (&u32, &Rc<[Goal]>)| {
            let registers = registers.iter().map(|r| r.with_element(element));
            Some((*width, registers.collect::<Option<_>>()?))
        };
        let sources = self.sources.iter().map(parts).collect::<Option<_>>()?;
        Some(View::new(self.goal.with_element(element)?, sources))
    }
}

impl Search<'_> {
    /// One instruction with solved index constants over registers that hold input pieces. Networks are left:
    /// what else brings a goal may bring the rest of a register as well.
    pub(super) fn move_once(&mut self, goal: &Goal) -> Option<(Value, Cost)> {
        self.move_by(goal, Sources::new(), false)
    }

    /// A network over registers that hold input pieces.
    pub(super) fn move_by_network(&mut self, goal: &Goal) -> Option<(Value, Cost)> {
        self.move_by(goal, Sources::new(), true)
    }

    /// The same over these registers of the goal's width alone.
    pub(super) fn move_between(
        &mut self,
        goal: &Goal,
        registers: &[Goal],
    ) -> Option<(Value, Cost)> {
        self.move_from(goal, Sources::from([(goal.width(), registers.into())]))
    }

    /// The same over some registers; a network only where nothing else will do.
    pub(super) fn move_from(&mut self, goal: &Goal, sources: Sources) -> Option<(Value, Cost)> {
        let moved = self.move_by(goal, sources.clone(), false);
        moved.or_else(|| self.move_by(goal, sources, true))
    }

    fn move_by(
        &mut self,
        goal: &Goal,
        sources: Sources,
        by_network: bool,
    ) -> Option<(Value, Cost)> {
        let names = swizzle::inputs_of(goal);
        if names.is_empty() || names.len() > 4 {
            return None;
        }
        let list = match by_network {
            true => self.candidates.networks(goal.width()),
            false => self.candidates.movements(goal.width()),
        };
        let given = View::new(goal.clone(), sources);
        let mut views: BTreeMap<u32, View> = BTreeMap::new();
        let mut best: Option<(Value, Cost)> = None;
        for &index in &*list {
            let c = &self.candidates.list[index];
            if best.is_some_and(|(_, cost)| c.cost >= cost) {
                break;
            }
            let natural = c.natural;
            let own = self.candidates.move_table(index, goal.element);
            let narrower = own.is_none() && natural > 1 && natural < goal.element;
            // What moves narrower elements moves these in parts.
            let (table, element) = match narrower {
                true => (self.candidates.move_table(index, natural), natural),
                false => (own, goal.element),
            };
            let Some(table) = table else {
                continue;
            };
            let view = match views.entry(element) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => match given.in_parts(element) {
                    Some(view) => new.insert(view),
                    None => continue,
                },
            };
            best = cheaper(best, self.move_with(index, &table, &names, view));
        }
        best
    }

    /// What else lies in the registers of moves that the given values are made of.
    pub(super) fn moved_for(&self, values: &[Value]) -> Vec<(Value, Goal)> {
        let needed = self.graph.needed(values).into_iter();
        let whole = needed.filter_map(|value| Some((value, self.moves.whole.get(&value)?.clone())));
        whole.collect()
    }

    /// What moves cost by themselves.
    pub(super) fn cost_of_moves(&self, moves: &[Value]) -> Cost {
        let cost = |value: &Value| match self.graph.node(*value) {
            Node::Apply { operation, .. } => self.candidates.list[*operation].cost,
            _ => 0,
        };
        moves.iter().map(cost).sum()
    }

    /// A register of a move that another register needs anyway, where it holds a goal.
    pub(super) fn held_by_a_move(&self, goal: &Goal) -> Option<Value> {
        let holds = |whole: &Goal| {
            let whole = whole.with_element(goal.element);
            whole.is_some_and(|whole| whole.holds(goal))
        };
        let (value, _) = (self.moves.given.iter()).find(|(_, whole)| holds(whole))?;
        Some(*value)
    }

    /// Tries every choice of whole inputs (or loadable parts) for the data operands.
    fn move_with(
        &mut self,
        index: usize,
        table: &MoveTable,
        names: &[&'static str],
        view: &mut View,
    ) -> Option<(Value, Cost)> {
        let c = &self.candidates.list[index];
        let widths: Vec<u32> = table
            .data
            .iter()
            .map(|n| c.operand(n).map_or(0, |o| o.width))
            .collect();
        if names.len() > table.data.len() * 2 {
            return None;
        }
        let View {
            goal,
            sources,
            places,
        } = view;
        for &w in &widths {
            let registers = (sources.entry(w)).or_insert_with(|| self.sources(goal, names, w));
            places.entry(w).or_insert_with(|| places_in(registers));
        }
        let registers: Vec<&Rc<[Goal]>> = widths.iter().map(|w| &sources[w]).collect();
        let places: Vec<&Places> = widths.iter().map(|w| &places[w]).collect();
        let mut best: Option<(Value, Cost)> = None;
        for choice in choices(table, goal, &registers, &places) {
            let picked = choice.iter().zip(&registers);
            let picked: Vec<&Goal> = picked.map(|(&at, all)| &all[at]).collect();
            if let Some(solution) = swizzle::solve_index(table, &picked, goal) {
                let c = &self.candidates.list[index];
                let constant = |name| c.operand(name).is_some_and(|o| o.role.is_constant());
                let open = goal.elements.contains(&None);
                let fixed = open && solution.keys().all(|name| constant(name));
                let whole = fixed.then(|| swizzle::with_the_rest(table, &picked, goal, &solution));
                let solution = whole.as_ref().map_or(&solution, |(solution, _)| solution);
                let sources: BTreeMap<&str, &Goal> =
                    table.data.iter().map(String::as_str).zip(picked).collect();
                let placed = self.place_move(index, &sources, solution, best);
                if let (Some((value, _)), Some((_, whole))) = (placed, whole) {
                    self.moves.whole.insert(value, whole);
                }
                best = cheaper(best, placed);
            }
        }
        best
    }

    /// Registers of a width that hold consecutive pieces of the named inputs: whole inputs,
    /// parts that start where a wanted piece does, and small inputs under dead upper bits.
    fn sources(&mut self, goal: &Goal, names: &[&'static str], width: u32) -> Rc<[Goal]> {
        let first = |name: &'static str| {
            let places = goal.live().filter_map(leaf).filter(|(n, _)| *n == name);
            (name, places.map(|(_, lo)| lo).min())
        };
        let origin = (
            goal.element,
            width,
            names.iter().map(|n| first(n)).collect(),
        );
        if let Some(known) = self.moves.sources.get(&origin) {
            return Rc::clone(known);
        }
        let made: Rc<[Goal]> = self.sources_from(&origin).into();
        self.moves.sources.insert(origin, Rc::clone(&made));
        made
    }

    fn sources_from(&self, (element, width, inputs): &Origin) -> Vec<Goal> {
        let (element, width) = (*element, *width);
        let mut out = Vec::new();
        for &(name, first) in inputs {
            let Some(input) = self.input(name) else {
                continue;
            };
            let mut starts = BTreeSet::from([0]);
            // The last elements are numbers too, where the rest of a number does not matter.
            let number = width < self.candidates.widths.narrowest();
            if input.in_memory && (input.width > width || number) {
                starts.extend((0..input.width / width).map(|k| k * width));
                let within =
                    |lo: &u32| lo.is_multiple_of(8) && (number || lo + width <= input.width);
                starts.extend(first.filter(within));
            }
            for start in starts {
                let var = Term::var(name, Sort::Bv(input.width));
                let piece = |k: u32| {
                    let lo = start + k * element;
                    (lo + element <= input.width).then(|| b::extract(var, lo, element))
                };
                if width.is_multiple_of(element) {
                    out.push(Goal {
                        element,
                        elements: (0..width / element).map(piece).collect(),
                    });
                }
            }
        }
        out
    }

    /// One element in every lane of a register, as the low end of the widest register with it
    /// in every lane: for widths at which the target repeats no element of a scalar.
    pub(super) fn repeated(&mut self, goal: &Goal) -> Option<(Value, Cost)> {
        let mut live = goal.live();
        let element = live.next().filter(|t| leaf(*t).is_some())?;
        let more = live.all(|t| t == element);
        let widest = self.candidates.widths.widest();
        if !more || goal.width() >= widest || !widest.is_multiple_of(goal.element) {
            return None;
        }
        let wide = Goal {
            element: goal.element,
            elements: vec![Some(element); (widest / goal.element) as usize],
        };
        let (value, cost) = self.solve(&wide, 0)?;
        let width = goal.width();
        Some((self.graph.add(Node::Cast { value, width }), cost))
    }

    /// One element of an input in every lane of a register, of a machine that repeats only wider ones:
    /// the wider one has it in its low end, and is shifted and put together until it is full of it.
    pub(super) fn repeated_in_wider(&mut self, goal: &Goal, depth: usize) -> Option<(Value, Cost)> {
        let mut live = goal.live();
        let element = live.next().filter(|t| leaf(*t).is_some())?;
        let (width, all) = (goal.element, goal.elements.len());
        let wider = [16, 32, WIDEST_NUMBER].into_iter().filter(|w| *w > width);
        if goal.width() < self.candidates.widths.narrowest() || live.any(|t| t != element) {
            return None;
        }
        let mut best = None;
        for wide in wider {
            let each = (wide / width) as usize;
            if all % each != 0 {
                break;
            }
            let low = |k: usize| k.is_multiple_of(each).then_some(element);
            let sparse = Goal {
                element: width,
                elements: (0..all).map(low).collect(),
            };
            let Some((value, _)) = self.solve(&sparse, depth + 1) else {
                continue;
            };
            self.claim(value, &sparse);
            let register = self.named(value);
            let full = |k: usize| full_of(b::extract(register, k as u32 * wide, wide), width);
            let whole = Goal {
                element: wide,
                elements: (0..all / each).map(full).collect(),
            };
            best = cheaper(best, self.solve(&whole, depth + 1));
            if best.is_some() {
                break;
            }
        }
        let (value, _) = best?;
        Some((value, self.estimator.sum(&self.graph, &[value])))
    }

    /// A part of a wider register of which the rest does not matter: for what comes from registers that
    /// are wider than the goal, or is moved by what fills a pair of registers.
    pub(super) fn half_of_wider(&mut self, goal: &Goal) -> Option<(Value, Cost)> {
        let names = swizzle::inputs_of(goal);
        let from = names.iter().filter_map(|name| self.input(name));
        let from = from.map(|input| input.width).max()?;
        let width = goal.width();
        let dealt = |w: u32| self.candidates.doubled.pairs.contains_key(&w);
        let mut wider = self.candidates.widths.vectors();
        let wide = wider
            .find(|&w| w > width && (w <= from || dealt(w)) && w.is_multiple_of(goal.element))?;
        let low = self.move_once(&goal.widened(wide)).map(|(value, cost)| {
            let low = Node::Cast { value, width };
            (self.graph.add(low), cost)
        });
        if low.is_some() || wide != 2 * width {
            return low;
        }
        let high = self.candidates.doubled.pairs.get(&wide)?.high;
        let nothing = std::iter::repeat_n(None, goal.elements.len());
        let above = Goal {
            element: goal.element,
            elements: nothing.chain(goal.elements.iter().copied()).collect(),
        };
        let (pair, cost) = self.move_once(&above)?;
        self.claim(pair, &above);
        let args = vec![Argument::Value(pair)];
        let taken = self.candidates.list[high].cost;
        Some((self.applied(high, args), cost + taken))
    }

    fn place_move(
        &mut self,
        index: usize,
        sources: &BTreeMap<&str, &Goal>,
        solution: &BTreeMap<String, Bits>,
        best: Option<(Value, Cost)>,
    ) -> Option<(Value, Cost)> {
        let own = self.candidates.list[index].cost;
        let operands = self.candidates.list[index].instance.formals.clone();
        let mut args = Vec::new();
        let mut cost = own;
        for o in &operands {
            if let Some(bits) = solution.get(&o.name) {
                args.push(self.index_argument(o, bits)?);
                cost += if o.role.is_constant() {
                    0
                } else {
                    self.processor().constant
                };
                continue;
            }
            let (value, more) = self.source_value(sources.get(o.name.as_str())?)?;
            cost += more;
            args.push(Argument::Value(value));
        }
        if best.is_some_and(|(_, bound)| cost >= bound) {
            return None;
        }
        Some((
            self.graph.add(Node::Apply {
                operation: index,
                args,
            }),
            cost,
        ))
    }

    fn index_argument(&mut self, o: &Formal, bits: &Bits) -> Option<Argument> {
        if let Some(constants) = o.role.constants() {
            let allowed = constants.contains(bits.to_u64()?);
            return allowed.then(|| Argument::Immediate(bits.clone()));
        }
        Some(Argument::Value(
            self.graph.add(Node::Constant(bits.clone())),
        ))
    }
}

/// Of the first choices of a register for each operand those from which an instruction can bring each wanted
/// element, whatever it brings to the others meanwhile.
fn choices(
    table: &MoveTable,
    goal: &Goal,
    registers: &[&Rc<[Goal]>],
    places: &[&Places],
) -> Vec<Vec<usize>> {
    // They are numbered, the first operand's register running fastest.
    let mut all = 1;
    let of_operand = |registers: &&Rc<[Goal]>| {
        let before = all;
        all *= registers.len();
        (before, registers.len())
    };
    let of_operand: Vec<(usize, usize)> = registers.iter().map(of_operand).collect();
    let picked = |choice: usize, (before, count): (usize, usize)| choice / before % count;
    let mut left: Vec<usize> = (0..all.min(MOST_CHOICES)).collect();
    for (moves, wanted) in table.elements.iter().zip(&goal.elements) {
        let Some(wanted) = wanted.filter(|t| !moves.brings_constant(*t)) else {
            continue;
        };
        let mut from = Vec::new();
        for (data, places) in places.iter().enumerate() {
            let places = places.get(&wanted).into_iter().flatten();
            let brought = places.filter(|(_, at)| moves.brings(data, *at));
            from.extend(brought.map(|(register, _)| (of_operand[data], *register)));
        }
        left.retain(|choice| {
            from.iter()
                .any(|&(of, register)| picked(*choice, of) == register)
        });
        if left.is_empty() {
            break;
        }
    }
    let registers = |choice: usize| of_operand.iter().map(|of| picked(choice, *of)).collect();
    left.into_iter().map(registers).collect()
}

/// An element with its low bits, as many as given, over and over.
fn full_of(t: Term, width: u32) -> Option<Term> {
    let w = t.width();
    let mask = Term::bits(Bits::ones(width).zext(w));
    let mut all = two(OpCode::BvAnd, t, mask)?;
    let mut filled = width;
    while filled < w {
        let by = Term::bv(w, filled.into());
        all = two(OpCode::BvOr, two(OpCode::BvShl, all, by)?, all)?;
        filled *= 2;
    }
    Some(all)
}
