//! Candidates: the operations that a target has, as the search wants them.
//!
//! In: what instructions implement, the target's features, a cost table. Out: [`Candidates`], for
//! each operation at numbers with an admitted instruction its result element by element (flat patterns, made when first asked
//! for) and, where the instruction treats its lanes alike and apart, the function of one
//! lane. An instruction is admitted only if the target has all its features.
//!
//! It does not choose between candidates.

use crate::cost::{Cost, CostTable, Rule, Weight};
use crate::library::Library;
use crate::search::signs::Signs;
use crate::widths::Widths;
use autoir::instructions::Implementation;
use autoir::program::{Formal, Instance};
use semantics::build as b;
use semantics::instruction::{Constants, Form, Role};
use semantics::op::OpCode;
use semantics::sort::Sort;
use semantics::subst::free_vars;
use semantics::term::{Kind, Term};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock};

/// What an instruction does with its operands' elements.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Action {
    /// It only moves, repeats, drops or chooses them.
    Movement,
    /// It computes with them.
    Computation,
}

/// An operation at numbers that the target has an instruction for.
pub struct Candidate {
    /// The operation.
    pub instance: Arc<Instance>,
    /// The name of the cheapest instruction that implements it, for reports.
    pub instruction: String,
    /// What that is on the machine.
    pub form: Form,
    /// Width of the result in bits.
    pub width: u32,
    /// Width of the elements that the instruction itself speaks of.
    pub natural: u32,
    /// What it counts for in a search.
    pub cost: Cost,
    /// What it costs, and on what.
    pub weight: Weight,
    action: Action,
    elements: Mutex<BTreeMap<u32, &'static [Term]>>,
    signature: OnceLock<u128>,
    lane: OnceLock<Option<LaneFunction>>,
    packed: Mutex<BTreeMap<u32, Option<&'static LaneFunction>>>,
}

/// What an instruction does to one lane, when it does the same to each and keeps them apart.
#[derive(Clone, Debug)]
pub struct LaneFunction {
    /// The vector operands: name and width of a lane.
    pub inputs: Vec<(String, u32)>,
    /// Immediate operands: name, width, largest value.
    pub immediates: Vec<(String, u32, Constants)>,
    /// The result of one lane over variables named after the operands.
    pub term: Term,
    /// Number of lanes.
    pub lanes: u32,
}

/// All instructions that a target has.
pub struct Candidates {
    /// In the dictionary's order.
    pub list: Vec<Candidate>,
    /// What each is an instance of, as programs want it.
    pub instances: Arc<[Arc<Instance>]>,
    /// What programs cost.
    pub rule: Rule,
    /// The widths of the values that the target holds.
    pub widths: Widths,
    operators: OnceLock<u128>,
    libraries: Mutex<HashMap<LibraryKey, Arc<Library>>>,
    products: Mutex<HashMap<u32, Arc<BTreeSet<Signs>>>>,
    both_ways: OnceLock<bool>,
}

/// What a library is for: a number of lanes, and the numbers that may be immediates.
pub type LibraryKey = (u32, BTreeSet<u64>);

impl Candidates {
    /// The operations for which a target has an instruction with all its features. Library calls
    /// and sequences that a compiler makes are never candidates.
    pub fn new(
        instructions: impl IntoIterator<Item = (Instance, Implementation)>,
        features: &BTreeSet<String>,
        costs: &CostTable,
        widths: Widths,
    ) -> Candidates {
        let admitted = instructions
            .into_iter()
            .filter(|(_, i)| matches!(i.form, Form::Single | Form::Free))
            .filter(|(o, _)| !o.accesses_memory() && o.undefined.is_empty())
            .filter(|(_, i)| i.features.iter().all(|f| features.contains(f)));
        let mut places: HashMap<Arc<Instance>, usize> = HashMap::new();
        let mut list: Vec<Candidate> = Vec::new();
        for (instance, implementation) in admitted {
            let instance = Arc::new(instance);
            let weight = costs.of(&implementation);
            let cost = costs.share(&weight);
            match places.get(&instance) {
                // The first of those that cost the same.
                Some(&at) if list[at].cost <= cost => {}
                Some(&at) => list[at].implemented_by(implementation, weight, cost),
                None => {
                    places.insert(Arc::clone(&instance), list.len());
                    list.push(Candidate::new(instance, implementation, weight, cost));
                }
            }
        }
        Candidates {
            widths,
            instances: list.iter().map(|c| Arc::clone(&c.instance)).collect(),
            list,
            rule: costs.rule,
            operators: OnceLock::new(),
            libraries: Mutex::default(),
            products: Mutex::default(),
            both_ways: OnceLock::new(),
        }
    }

    /// Whether a value is a quotient or one of floats, by an operator that no operation of the
    /// target computes with: no others put together compute it.
    pub fn lack(&self, t: Term) -> bool {
        use OpCode as C;
        let Some((op, _)) = t.as_app() else {
            return false;
        };
        let divides = matches!(op.code, C::BvUdiv | C::BvUrem | C::BvSdiv | C::BvSrem);
        let all = || self.list.iter().fold(0, |all, c| all | c.signature());
        let known = || self.operators.get_or_init(all) & crate::lanes::signature_of(op.code) != 0;
        (divides || op.code.info().params.contains(&"format")) && !known()
    }

    /// Whether an operation shifts a lane up or down, as the sign of a number says.
    pub(crate) fn shift_both_ways(&self) -> bool {
        use OpCode as C;
        let shifts = |t: Term, codes: &[C]| codes.iter().any(|&code| t.args_of(code).is_some());
        let both = |c: &Candidate| {
            let lane = c.lane().and_then(|lane| lane.term.args_of(C::Ite));
            lane.is_some_and(|arms| {
                shifts(arms[1], &[C::BvLshr, C::BvAshr]) && shifts(arms[2], &[C::BvShl])
            })
        };
        *self.both_ways.get_or_init(|| self.list.iter().any(both))
    }

    /// How operations read the factors of products that they add up in elements of a width.
    pub(crate) fn products(&self, element: u32) -> Arc<BTreeSet<Signs>> {
        let mut known = self
            .products
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let multiply = crate::lanes::signature_of(OpCode::BvMul);
        let computes = |c: &&Candidate| {
            c.signature() & multiply != 0 && c.width.is_multiple_of(element) && !c.masked()
        };
        let found = || {
            let all = self.list.iter().filter(computes);
            let signs = all.filter_map(|c| c.elements(element).first());
            let signs = signs.flat_map(|t| Signs::of_sum(crate::canonical::spread(*t)));
            Arc::new(signs.collect())
        };
        Arc::clone(known.entry(element).or_insert_with(found))
    }

    /// The operations with so many lanes, when they were collected before.
    pub fn kept_library(&self, key: &LibraryKey) -> Option<Arc<Library>> {
        let kept = self
            .libraries
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        kept.get(key).cloned()
    }

    /// Keeps collected operations.
    pub fn keep_library(&self, key: LibraryKey, library: Arc<Library>) {
        let mut kept = self
            .libraries
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        kept.insert(key, library);
    }
}

impl Candidate {
    fn new(
        instance: Arc<Instance>,
        implementation: Implementation,
        weight: Weight,
        cost: Cost,
    ) -> Candidate {
        Candidate {
            width: instance.width(),
            natural: natural_width(instance.term),
            action: match moves_only(instance.term) {
                true => Action::Movement,
                false => Action::Computation,
            },
            instruction: implementation.instruction,
            form: implementation.form,
            instance,
            cost,
            weight,
            elements: Mutex::default(),
            signature: OnceLock::new(),
            lane: OnceLock::new(),
            packed: Mutex::default(),
        }
    }

    /// Takes a cheaper instruction.
    fn implemented_by(&mut self, implementation: Implementation, weight: Weight, cost: Cost) {
        self.instruction = implementation.instruction;
        self.form = implementation.form;
        (self.weight, self.cost) = (weight, cost);
    }

    /// The result as elements of the given width, least significant first, each a flat
    /// term over the operands. The width must divide the result's.
    pub fn elements(&self, width: u32) -> &'static [Term] {
        let mut cache = self
            .elements
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        cache.entry(width).or_insert_with(|| {
            let flat = semantics::unroll::unroll(self.instance.term);
            let parts: Vec<Term> = (0..self.width / width)
                .map(|k| b::extract(flat, k * width, width))
                .collect();
            Vec::leak(parts)
        })
    }

    /// The operators that it computes with, as [`crate::lanes::signature`] has them.
    pub fn signature(&self) -> u128 {
        let own = || crate::lanes::signature([self.term()]);
        *self.signature.get_or_init(own)
    }

    /// What it does with its operands' elements.
    pub fn action(&self) -> Action {
        self.action
    }

    /// The element width of each operand, where the specification says one.
    pub fn element_widths(&self) -> HashMap<String, u32> {
        let known = self
            .instance
            .formals
            .iter()
            .filter_map(|o| Some((o.name.clone(), o.element.width()?)));
        known.filter(|(_, w)| *w > 1).collect()
    }

    /// The number of operands that are constants in the code: of two instructions that do the
    /// same, that with fewer is taken.
    pub fn constants(&self) -> usize {
        let operands = self.instance.formals.iter();
        operands.filter(|o| o.role.is_constant()).count()
    }

    /// Whether it has a mask operand.
    pub fn masked(&self) -> bool {
        self.instance.formals.iter().any(|o| o.role == Role::Mask)
    }

    /// The meaning over the operands.
    pub fn term(&self) -> Term {
        self.instance.term
    }

    /// The function of one lane, for instructions that treat lanes alike and apart.
    pub fn lane(&self) -> Option<&LaneFunction> {
        self.lane.get_or_init(|| lane_function(self)).as_ref()
    }

    /// The function of one lane, for lanes of the given width in the result that are packed
    /// at the low end of it and of each operand. It may be another width than the natural
    /// one (bitwise operations have lanes of any width), and the lanes may fill a register
    /// in part only (narrowing to less than the smallest register).
    pub fn packed_lane(&self, width: u32) -> Option<&'static LaneFunction> {
        let mut cache = self
            .packed
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        *cache.entry(width).or_insert_with(|| {
            let found = packed_lane_function(self, width)?;
            Some(Box::leak(Box::new(found)))
        })
    }

    /// The operand of that name.
    pub fn operand(&self, name: &str) -> Option<&Formal> {
        self.instance.formals.iter().find(|o| o.name == name)
    }
}

/// Whether a term only moves bits: no arithmetic anywhere.
fn moves_only(t: Term) -> bool {
    use semantics::op::OpCode as C;
    let allowed = [
        C::Elem,
        C::Slice,
        C::Ite,
        C::Eq,
        C::Insert,
        C::IntAdd,
        C::IntMul,
        C::IntDiv,
        C::IntMod,
        C::BvUlt,
    ];
    crate::lanes::operators_of(t)
        .iter()
        .all(|c| allowed.contains(c))
}

/// The width of the innermost lanes of a rolled term.
fn natural_width(t: Term) -> u32 {
    match t.kind() {
        Kind::Map { body, .. } => natural_width(*body),
        Kind::App { args, .. }
            if t.as_app()
                .is_some_and(|(op, _)| op.code == semantics::op::OpCode::Concat) =>
        {
            args.iter()
                .map(|&a| natural_width(a))
                .min()
                .unwrap_or(t.width())
        }
        // Zeros above the lanes are no lanes.
        Kind::App { args, .. } if matches!(args[0].kind(), Kind::Map { .. }) => {
            match t.args_of(semantics::op::OpCode::Zext) {
                Some(inner) => natural_width(inner[0]),
                None => t.width(),
            }
        }
        _ => t.width(),
    }
}

/// The largest lane function, in nodes of its tree.
const MAX_LANE_TERM: u32 = 400;

/// The common function of all lanes, found from lane 0 and checked against the others.
fn lane_function(c: &Candidate) -> Option<LaneFunction> {
    let elements = c.elements(c.natural);
    let lanes = elements.len() as u32;
    // What is written out at such length (bit by bit, say) is no operation for a lane search.
    if c.natural > 64 || elements.first().is_some_and(|t| t.size() > MAX_LANE_TERM) {
        return None;
    }
    let immediates: Vec<_> = c
        .instance
        .formals
        .iter()
        .filter_map(|o| Some((o.name.clone(), o.width, o.role.constants()?)))
        .collect();
    let vectors: Vec<&Formal> = c
        .instance
        .formals
        .iter()
        .filter(|o| !o.role.is_constant())
        .collect();
    if vectors
        .iter()
        .any(|o| o.width % lanes != 0 || o.width / lanes > 64 || o.width / lanes == 0)
    {
        return None;
    }
    let inputs: Vec<(String, u32)> = vectors
        .iter()
        .map(|o| (o.name.clone(), o.width / lanes))
        .collect();
    let at = |lane: u32| lane_at(elements[lane as usize], lane, &inputs, &immediates);
    let term = at(0)?;
    (1..lanes)
        .all(|k| at(k) == Some(term))
        .then_some(LaneFunction {
            inputs,
            immediates,
            term,
            lanes,
        })
}

/// The common function of the leading lanes that read anything.
fn packed_lane_function(c: &Candidate, width: u32) -> Option<LaneFunction> {
    let other = width != c.natural;
    if !c.width.is_multiple_of(width) || width > 64 || other && !bitwise(c.term()) {
        return None;
    }
    let elements = c.elements(width);
    if elements[0].size() > MAX_LANE_TERM {
        return None;
    }
    let lanes = elements
        .iter()
        .take_while(|t| !free_vars(**t).is_empty())
        .count();
    if lanes == 0 || !lanes.is_power_of_two() {
        return None;
    }
    let mut inputs = Vec::new();
    let mut immediates = Vec::new();
    for o in &c.instance.formals {
        match o.role.constants() {
            Some(allowed) => immediates.push((o.name.clone(), o.width, allowed)),
            None => inputs.push((o.name.clone(), lane_stride(elements, lanes, o)?)),
        }
    }
    let at = |lane: usize| lane_at(elements[lane], lane as u32, &inputs, &immediates);
    let term = at(0)?;
    (1..lanes)
        .all(|k| at(k) == Some(term))
        .then_some(LaneFunction {
            inputs,
            immediates,
            term,
            lanes: lanes as u32,
        })
}

/// How far apart the lanes of an operand are, by what the first two lanes read.
fn lane_stride(elements: &[Term], lanes: usize, o: &Formal) -> Option<u32> {
    let lowest = |t: Term| {
        let mut seen = BTreeSet::new();
        let mut stack = vec![t];
        let mut least: Option<u32> = None;
        while let Some(t) = stack.pop() {
            if !seen.insert(t) {
                continue;
            }
            match crate::matching::slot_of(t) {
                Some(slot) if slot.operand == o.name => {
                    least = Some(least.map_or(slot.lo, |l| l.min(slot.lo)));
                }
                Some(_) => {}
                None => stack.extend(t.children()),
            }
        }
        least
    };
    let stride = match lanes {
        1 => o.width,
        _ => lowest(elements[1])?.checked_sub(lowest(elements[0])?)?,
    };
    let fits = stride.is_power_of_two() && stride <= 64 && stride * lanes as u32 <= o.width;
    fits.then_some(stride)
}

/// Whether a term is bitwise logic only, so that its lanes may have any width. Where its own
/// lanes stand is said by indices.
fn bitwise(t: Term) -> bool {
    use semantics::op::OpCode as C;
    let logic = [C::BvAnd, C::BvOr, C::BvXor, C::BvNot];
    let allowed = [&logic[..], &[C::IntAdd, C::IntMul]].concat();
    crate::lanes::operators_of(t)
        .iter()
        .all(|c| allowed.contains(c))
}

/// An element with every operand slice replaced by the lane's variable; nothing when it
/// reads another lane.
fn lane_at(
    element: Term,
    lane: u32,
    inputs: &[(String, u32)],
    immediates: &[(String, u32, Constants)],
) -> Option<Term> {
    fn visit(
        t: Term,
        leaf: &impl Fn(Term) -> Option<Option<Term>>,
        memo: &mut HashMap<Term, Option<Term>>,
    ) -> Option<Term> {
        if let Some(&done) = memo.get(&t) {
            return done;
        }
        let out = leaf(t).unwrap_or_else(|| {
            let mut failed = false;
            let new = semantics::subst::rebuild(t, |child, _| {
                let changed = if failed {
                    None
                } else {
                    visit(child, leaf, memo)
                };
                failed |= changed.is_none();
                changed.unwrap_or(child)
            });
            (!failed).then_some(new)
        });
        memo.insert(t, out);
        out
    }
    let leaf = |t: Term| -> Option<Option<Term>> {
        let slot = crate::matching::slot_of(t)?;
        if immediates.iter().any(|(name, ..)| name == slot.operand) {
            return Some(Some(t));
        }
        let Some((name, w)) = inputs.iter().find(|(name, _)| name == slot.operand) else {
            return Some(None);
        };
        let base = lane * w;
        let inside = slot.lo >= base && slot.lo + slot.width <= base + w;
        Some(inside.then(|| b::extract(Term::var(name, Sort::Bv(*w)), slot.lo - base, slot.width)))
    };
    let lane_term = visit(element, &leaf, &mut HashMap::new())?;
    let known = |t: &Term| {
        t.as_var()
            .is_some_and(|n| inputs.iter().any(|(name, _)| name == n))
    };
    let immediate = |t: &Term| {
        t.as_var()
            .is_some_and(|n| immediates.iter().any(|(name, ..)| name == n))
    };
    free_vars(lane_term)
        .iter()
        .all(|t| known(t) || immediate(t))
        .then_some(lane_term)
}
