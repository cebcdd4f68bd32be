//! Candidates: the operations that a target has, as the search wants them.
//!
//! In: what instructions implement, the target's features, a cost table. Out: [`Candidates`], for
//! each operation at numbers with an admitted instruction its result element by element (flat patterns, made when first asked
//! for) and, where the instruction treats its lanes alike and apart, the function of one
//! lane. An instruction is admitted only if the target has all its features.
//!
//! It does not choose between candidates.

use crate::alternatives::BothWays;
use crate::cost::{Cost, CostTable, Rule, Weight};
use crate::exhaust;
use crate::lane_function::{LaneFunction, bitwise, lane_function, packed_lane_function};
use crate::lanes::is_within;
use crate::library::cached::LibraryCache;
use crate::library::{Base, Library, OperandFunction, Taken, taken};
use crate::memo::Memo;
use crate::pairs::Pairs;
use crate::search::bilinear::{Product, product};
use crate::search::doubled::{Doubled, Half, Halving, doubled, turned};
use crate::search::orders::{Order, in_any_order, ordered};
use crate::search::signs::Signs;
use crate::search::{Grammar, Lanes};
use crate::sequence::Sequence;
use crate::swizzle::{MoveTable, is_network, move_table};
use crate::twins::{Found, Twin};
use crate::variants::Variant;
use crate::whole::WholeLibrary;
use crate::widths::Widths;
use autoir::instructions::Implementation;
use autoir::program::{Formal, Instance};
use semantics::bits::Bits;
use semantics::build as b;
use semantics::instruction::{Constants, Form, Role};
use semantics::op::OpCode;
use semantics::subst::replace_vars;
use semantics::term::{Kind, Term};
use smt::prover::Prover;
use smt::verdict::Verdict;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, OnceLock};

/// What an absolute difference without sign is made of; from 0 it is the value itself.
const DIFFERENCE: [OpCode; 3] = [OpCode::Ite, OpCode::BvUlt, OpCode::BvSub];

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
    /// The narrowest vector register of the target.
    narrowest: u32,
    action: Action,
    masked: bool,
    constants: usize,
    elements: Memo<(u32, u32), Term>,
    signature: u128,
    plain_signature: OnceLock<u128>,
    element_widths: OnceLock<HashMap<String, u32>>,
    lane: OnceLock<Option<LaneFunction>>,
    packed: Memo<u32, Option<&'static LaneFunction>>,
}

/// All instructions that a target has.
pub struct Candidates {
    /// In the dictionary's order.
    pub list: Vec<Candidate>,
    /// What each is an instance of, as programs want it.
    pub instances: Arc<[Arc<Instance>]>,
    /// What programs cost.
    pub costs: CostTable,
    /// The widths of the values that the target holds.
    pub widths: Widths,
    /// Which of them are two on halves.
    pub(crate) doubled: Doubled,
    operators: OnceLock<u128>,
    cached: Option<LibraryCache>,
    bases: Memo<u32, Arc<OnceLock<Base>>>,
    libraries: Memo<(u32, BTreeSet<u64>), Arc<Library>>,
    taken: Memo<OperandFunction, Arc<Taken>>,
    whole: Memo<u32, Arc<WholeLibrary>>,
    moves: Memo<(usize, u32), Option<Arc<MoveTable>>>,
    variants: Memo<(usize, u32, BTreeMap<String, Bits>), Arc<Variant>>,
    products: Memo<u32, Arc<BTreeSet<Signs>>>,
    byte_products: Memo<u32, Arc<Vec<Product>>>,
    both_ways: Memo<(u32, OpCode), Option<BothWays>>,
    by_width: OnceLock<BTreeMap<u32, Vec<usize>>>,
    movements: Memo<u32, [Arc<[usize]>; 2]>,
    alike: Memo<(u32, u128), Arc<[usize]>>,
    cheapest_product: OnceLock<Cost>,
    widest_sum: OnceLock<Option<u32>>,
    equalities: Memo<(Term, Term), Equality>,
    narrowed: Memo<(Lanes, Grammar), Option<Sequence>>,
    pub(crate) twins: Memo<(usize, Twin), Option<Found>>,
    pub(crate) read: Memo<(usize, usize, u32), u32>,
}

/// Whether two functions of lanes are equal.
#[derive(Clone, Debug)]
pub(crate) enum Equality {
    /// They are.
    Equal,
    /// They are not, at an input that is worth telling.
    Differs(Option<String>),
    /// Nobody could say.
    Unknown,
}

impl Candidates {
    /// The operations for which a target has an instruction with all its features. Library calls
    /// and sequences that a compiler makes are never candidates. What is derived from them lies in
    /// `cached` for other runs.
    pub(crate) fn new(
        instructions: impl IntoIterator<Item = (Instance, Implementation)>,
        features: &BTreeSet<String>,
        costs: &CostTable,
        widths: Widths,
        cached: Option<LibraryCache>,
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
                    let (instruction, form) = (implementation.instruction, implementation.form);
                    let named = (instruction, form, widths.narrowest());
                    list.push(Candidate::of(instance, named, weight, cost));
                }
            }
        }
        Candidates {
            widths,
            instances: list.iter().map(|c| Arc::clone(&c.instance)).collect(),
            list,
            costs: costs.clone(),
            doubled: Doubled::default(),
            operators: OnceLock::new(),
            cached,
            bases: Memo::default(),
            libraries: Memo::default(),
            taken: Memo::default(),
            whole: Memo::default(),
            moves: Memo::default(),
            variants: Memo::default(),
            products: Memo::default(),
            byte_products: Memo::default(),
            both_ways: Memo::default(),
            by_width: OnceLock::new(),
            movements: Memo::default(),
            alike: Memo::default(),
            cheapest_product: OnceLock::new(),
            widest_sum: OnceLock::new(),
            equalities: Memo::default(),
            narrowed: Memo::default(),
            twins: Memo::default(),
            read: Memo::default(),
        }
    }

    /// The same, with operations on pairs of registers that are two on their halves, where these cost
    /// less than an instruction that does it at once.
    pub(crate) fn with_pairs(mut self, pairs: &Pairs) -> Candidates {
        let place =
            |list: &[Candidate], of: &Arc<Instance>| list.iter().position(|c| c.instance == *of);
        for (&width, pair) in pairs {
            let joins = place(&self.list, &pair.join.0);
            let high = pair
                .high
                .as_ref()
                .and_then(|(high, _)| place(&self.list, high));
            let Some((join, high)) = joins.zip(high) else {
                continue;
            };
            let low = pair.low;
            let turns = [8, 16, 32].map(Order::Turns).into_iter();
            let turned = turns.filter_map(|o| Some((o, turned(&self.list, o, width / 2)?)));
            let turned: BTreeMap<_, _> = turned.collect();
            let orders: Vec<Order> = turned.keys().copied().collect();
            self.doubled.pairs.insert(
                width,
                Halving {
                    join,
                    low,
                    high,
                    turned,
                },
            );
            let own = self.list.len();
            for half in 0..own {
                let twice = self.list[half].twice(self.costs.rule, width);
                let known = |twice: &Candidate| self.list.iter().any(|c| c.does(twice));
                if let Some(twice) = twice.filter(|twice| !known(twice)) {
                    let lane = self.list[half].lane_of_halves();
                    let half = Half { of: half, lane };
                    self.doubled.halves.insert(self.list.len(), half);
                    self.list.push(twice);
                }
            }
            for of in 0..own {
                if let Some(lane) = in_any_order(&self.list[of], width / 2) {
                    self.doubled.any_order.insert(of, lane);
                }
                for (made, how) in ordered(&self.list[of], of, width / 2, &orders) {
                    self.doubled.ordered.insert(self.list.len(), how);
                    self.list.push(made);
                }
            }
        }
        self.doubled.compare(&self.list);
        self.instances = self.list.iter().map(|c| Arc::clone(&c.instance)).collect();
        self
    }

    /// Whether two functions of lanes are equal: asked once, whatever window it is for.
    pub(crate) fn equality(&self, x: Term, y: Term, prover: &Prover) -> Equality {
        self.equalities.get_or((x, y), || match &self.cached {
            Some(cached) => cached.equality(x, y, || compare(x, y, prover)),
            None => compare(x, y, prover),
        })
    }

    /// The operations with results of a width in bits, the cheapest first, of those that cost the same
    /// first what has fewer constants.
    pub(crate) fn by_width(&self, width: u32) -> &[usize] {
        let all = self.by_width.get_or_init(|| {
            let mut all: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
            // What lies in an order is found lane by lane.
            let plain = |k: &usize| !self.doubled.ordered.contains_key(k);
            for (k, c) in self.list.iter().enumerate().filter(|(k, _)| plain(k)) {
                all.entry(c.width).or_default().push(k);
            }
            for list in all.values_mut() {
                list.sort_by_key(|&k| (self.list[k].cost, self.list[k].constants(), k));
            }
            all
        });
        all.get(&width).map_or(&[], Vec::as_slice)
    }

    /// Those of them that only move elements, in the same order, without masks; networks are apart.
    pub(crate) fn movements(&self, width: u32) -> Arc<[usize]> {
        let [movements, _] = self.all_movements(width);
        movements
    }

    /// Those that move elements by networks of choices.
    pub(crate) fn networks(&self, width: u32) -> Arc<[usize]> {
        let [_, networks] = self.all_movements(width);
        networks
    }

    fn all_movements(&self, width: u32) -> [Arc<[usize]>; 2] {
        let moves =
            |c: &Candidate| c.action == Action::Movement && !c.masked && c.form != Form::Free;
        self.movements.get_or(width, || {
            let all = self.by_width(width).iter().copied();
            let all = all.filter(|&k| moves(&self.list[k]));
            let (networks, others): (Vec<usize>, Vec<usize>) =
                all.partition(|&k| is_network(&self.list[k]));
            [others.into(), networks.into()]
        })
    }

    /// Those of them that may be written as what has these operators, in the same order.
    pub(crate) fn alike(&self, width: u32, wanted: u128) -> Arc<[usize]> {
        let may_be = |c: &Candidate| {
            let own = c.plain_signature();
            let covers = own & wanted == wanted;
            let from_nothing = covers && is_within(own & !wanted, &DIFFERENCE);
            let same = own == wanted || c.constants > 0 && covers || from_nothing;
            same && c.form != Form::Free
        };
        let list = || self.by_width(width).iter().copied();
        let made = || list().filter(|&k| may_be(&self.list[k])).collect();
        self.alike.get_or((width, wanted), made)
    }

    /// For how long the operation on registers of a width takes the machine that takes it the least.
    pub(crate) fn least_throughput(&self, width: u32) -> Cost {
        let all = self.by_width(width).iter().map(|&k| &self.list[k].weight);
        let times = all.map(|weight| weight.timing.throughput);
        times.filter(|time| *time > 0).min().unwrap_or(0)
    }

    /// What the operation on registers of a width costs that costs the least, if any costs anything.
    pub(crate) fn least_cost(&self, width: u32) -> Option<Cost> {
        // The cheapest are the first.
        let mut all = self.by_width(width).iter().map(|&k| &self.list[k]);
        let takes = |c: &&Candidate| c.weight.timing.throughput > 0 && !c.weight.of_numbers;
        all.find(takes).map(|c| c.cost)
    }

    /// What the cheapest operation that multiplies costs, and no less than one operation.
    pub(crate) fn cheapest_product(&self) -> Cost {
        let multiply = crate::lanes::signature_of(OpCode::BvMul);
        let least = || {
            let products = self.list.iter().filter(|c| c.signature() & multiply != 0);
            let one = self.costs.processor.operation;
            products.map(|c| c.cost).min().map_or(one, |c| c.max(one))
        };
        *self.cheapest_product.get_or_init(least)
    }

    /// Bits of the widest element that an operation adds two of in every lane.
    pub(crate) fn widest_sum(&self) -> Option<u32> {
        let adds = |c: &&Candidate| {
            let sum = c.lane().and_then(|f| f.term.args_of(OpCode::BvAdd));
            sum.is_some_and(|args| args.iter().all(|t| t.as_var().is_some()))
        };
        let widest = || {
            // From the widest down: what others do to a lane is not worked out for this.
            let add = crate::lanes::signature_of(OpCode::BvAdd);
            let all = self.list.iter().filter(|c| c.signature() & add != 0);
            let mut all: Vec<&Candidate> = all.collect();
            all.sort_by_key(|c| std::cmp::Reverse(c.natural));
            all.into_iter().find(adds).map(|c| c.natural)
        };
        *self.widest_sum.get_or_init(widest)
    }

    /// Whether a value is a quotient or one of floats, by an operator that no operation of the
    /// target computes with: no others put together compute it.
    pub fn lack(&self, t: Term) -> bool {
        let Some((op, _)) = t.as_app() else {
            return false;
        };
        let all = || self.list.iter().fold(0, |all, c| all | c.signature());
        let known = || self.operators.get_or_init(all) & crate::lanes::signature_of(op.code) != 0;
        (op.code.divides() || op.code.info().params.contains(&"format")) && !known()
    }

    /// How an operation shifts lanes of a width up, or down by an operator, as the sign of a count says.
    pub(crate) fn both_ways(&self, width: u32, down: OpCode) -> Option<BothWays> {
        use OpCode as C;
        let of = |code| crate::lanes::signature_of(code);
        let needs = of(C::BvShl) | of(down) | of(C::Ite);
        let shifts = |c: &&Candidate| c.natural == width && c.signature() & needs == needs;
        let found = || {
            let mut all = self.list.iter().filter(shifts);
            all.find_map(|c| shifted_by_sign(c.lane()?, width, down))
        };
        self.both_ways.get_or((width, down), found)
    }

    /// How operations read the factors of products that they add up in elements of a width.
    pub(crate) fn products(&self, element: u32) -> Arc<BTreeSet<Signs>> {
        let multiply = crate::lanes::signature_of(OpCode::BvMul);
        let computes = |c: &&Candidate| {
            c.signature() & multiply != 0 && c.width.is_multiple_of(element) && !c.masked()
        };
        let found = || {
            let all = self.list.iter().filter(computes);
            let signs = all.map(|c| c.element(element, 0));
            let signs = signs.flat_map(|t| Signs::of_sum(crate::canonical::sink_extensions(t)));
            Arc::new(signs.collect())
        };
        self.products.get_or(element, found)
    }

    /// Operations on registers of a width that multiply bytes by matrices of bits, cheapest first.
    pub(crate) fn byte_products(&self, width: u32) -> Arc<Vec<Product>> {
        let one = |k: &usize| product(*k, &self.list[*k]);
        let made = || Arc::new(self.by_width(width).iter().filter_map(one).collect());
        self.byte_products.get_or(width, made)
    }

    /// What a function of lanes does on the fixed inputs: registers of all widths have the same ones.
    pub(crate) fn taken(&self, function: OperandFunction) -> Arc<Taken> {
        let made = |function: &OperandFunction| Arc::new(taken(function));
        self.taken.get_or(function.clone(), || made(&function))
    }

    /// What operation `index` can move at an element width, when it only moves data.
    pub(crate) fn move_table(&self, index: usize, element: u32) -> Option<Arc<MoveTable>> {
        let made = || move_table(&self.list[index], element).map(Arc::new);
        self.moves.get_or((index, element), made)
    }

    /// Operation `index` with these immediates, in elements of a width.
    pub(crate) fn variant(
        &self,
        index: usize,
        element: u32,
        immediates: BTreeMap<String, Bits>,
    ) -> Arc<Variant> {
        let key = (index, element, immediates);
        let made = || Arc::new(Variant::new(&self.list[index], element, key.2.clone()));
        self.variants.get_or(key.clone(), made)
    }

    /// The operations with results of a width, by what they do with whole registers.
    pub(crate) fn whole_library(&self, width: u32) -> Arc<WholeLibrary> {
        let made = || match &self.cached {
            Some(cached) => cached.whole(self, width),
            None => WholeLibrary::new(self, width),
        };
        self.whole.get_or(width, || Arc::new(made()))
    }

    /// The operations with so many lanes, at numbers that may be immediates.
    pub(crate) fn lane_library(&self, lanes: u32, numbers: &BTreeSet<u64>) -> Arc<Library> {
        let made = || Arc::new(Library::new(self, lanes, numbers));
        self.libraries.get_or((lanes, numbers.clone()), made)
    }

    /// How lanes are narrowed: found once, in this run or another; nothing where the search was stopped.
    pub(crate) fn narrowed(
        &self,
        lanes: Lanes,
        grammar: Grammar,
        find: impl FnOnce() -> Option<Option<Sequence>>,
    ) -> Option<Sequence> {
        let found = || match &self.cached {
            Some(cached) => cached.sequence(self, &lanes.question(grammar), find),
            None => find(),
        };
        self.narrowed.get_or_try((lanes, grammar), found)?
    }

    /// The operations with so many lanes at the numbers of every window: found in the store, or kept
    /// there for other runs. Threads wait for the first that asks.
    pub(crate) fn base(&self, lanes: u32) -> Base {
        let own = self.bases.get_or(lanes, Arc::default);
        let made = || match &self.cached {
            Some(cached) => cached.base(self, lanes),
            None => Base::new(self, lanes),
        };
        own.get_or_init(made).clone()
    }
}

/// How a function of two lanes shifts the one up, or down by an operator, by the other: by what it does to
/// a negative number by some counts.
fn shifted_by_sign(lane: &LaneFunction, width: u32, operator: OpCode) -> Option<BothWays> {
    let [(x, first), (y, second)] = &lane.inputs[..] else {
        return None;
    };
    if *first != width || *second != width {
        return None;
    }
    let number = Bits::from_u64(width, 5).neg();
    let by = |[of, count]: [&str; 2], k: u64, down: bool| {
        let counted = match down {
            true => Bits::from_u64(width, k).neg(),
            false => Bits::from_u64(width, k),
        };
        let given = [(of, number.clone()), (count, counted)];
        let map = given.map(|(name, bits)| (name, Term::bits(bits)));
        replace_vars(lane.term, &map.into()).as_bits().cloned()
    };
    let one = Bits::from_u64(width, 1);
    let up = number.shl(&one);
    let down = match operator {
        OpCode::BvAshr => number.ashr(&one),
        _ => number.lshr(&one),
    };
    for of in [[x.as_str(), y.as_str()], [y.as_str(), x.as_str()]] {
        let ends = [by(of, 1, true)?, by(of, 1, false)?];
        let down_by_negative = ends == [down.clone(), up.clone()];
        if !down_by_negative && ends != [up.clone(), down.clone()] {
            continue;
        }
        // So many ones are 1 below 0.
        let other = |bits: &u32| by(of, (1 << bits) - 1, false).as_ref() == Some(&ends[0]);
        let count = (4..=width.min(16)).find(other)?;
        return Some(BothWays {
            count,
            down_by_negative,
            down: operator,
        });
    }
    None
}

/// Conflicts for whether two functions of lanes are equal. Of 3,000 such questions of the kernels in the
/// repository all have an answer within them.
const CONFLICTS: u64 = 5_000;

/// Compares two functions of lanes: on every input, where there are few.
fn compare(x: Term, y: Term, prover: &Prover) -> Equality {
    match exhaust::decide(x, y) {
        Some(true) => Equality::Equal,
        Some(false) => Equality::Differs(None),
        None => match prover.prove_equal_within(x, y, CONFLICTS) {
            Verdict::Proved(_) => Equality::Equal,
            Verdict::Refuted(model) => {
                let input = model.iter().map(|(n, v)| format!("{n} = {v:?}"));
                Equality::Differs(Some(input.collect::<Vec<_>>().join(", ")))
            }
            Verdict::Unknown(_) => Equality::Unknown,
        },
    }
}

impl Candidate {
    /// What it does to packed lanes of a width, as found before.
    pub(crate) fn set_packed_lane(&self, width: u32, found: Option<LaneFunction>) {
        let leak = || found.map(|found| &*Box::leak(Box::new(found)));
        self.packed.get_or(width, leak);
    }

    /// The operation on pairs of so many bits that is this one on both halves.
    fn twice(&self, rule: Rule, width: u32) -> Option<Candidate> {
        // Few others are compared element by element.
        let apart = bitwise(self.signature) || self.packed_lane(self.natural).is_some();
        let instance = apart.then(|| doubled(&self.instance, width / 2))?;
        let instance = Arc::new(instance?);
        let mut weight = self.weight.clone();
        weight.timing.throughput *= 2;
        let cost = rule.share(&weight);
        let named = (self.instruction.clone(), self.form, self.narrowest);
        Some(Candidate::of(instance, named, weight, cost))
    }

    /// Another operation that costs the same.
    pub(crate) fn with(&self, instance: Instance) -> Candidate {
        let named = (self.instruction.clone(), self.form, self.narrowest);
        Candidate::of(Arc::new(instance), named, self.weight.clone(), self.cost)
    }

    /// The width of the lanes that must stay whole, where it is done to both halves of pairs: none where
    /// it computes bit by bit.
    fn lane_of_halves(&self) -> Option<u32> {
        (!bitwise(self.signature)).then_some(self.natural)
    }

    /// Whether it does what another does, for no more.
    fn does(&self, other: &Candidate) -> bool {
        let same = self.width == other.width && self.instance.term == other.instance.term;
        let formals = |c: &Candidate| {
            c.instance
                .formals
                .iter()
                .map(|f| f.width)
                .collect::<Vec<_>>()
        };
        same && self.cost <= other.cost && formals(self) == formals(other)
    }

    fn of(
        instance: Arc<Instance>,
        (instruction, form, narrowest): (String, Form, u32),
        weight: Weight,
        cost: Cost,
    ) -> Candidate {
        let signature = crate::lanes::signature([instance.term]);
        Candidate {
            width: instance.width(),
            natural: natural_width(instance.term),
            action: match moves_only(instance.term, signature) {
                true => Action::Movement,
                false => Action::Computation,
            },
            masked: instance.formals.iter().any(|o| o.role == Role::Mask),
            constants: (instance.formals.iter().filter(|o| o.role.is_constant())).count(),
            instruction,
            form,
            narrowest,
            instance,
            cost,
            weight,
            elements: Memo::default(),
            signature,
            plain_signature: OnceLock::new(),
            element_widths: OnceLock::new(),
            lane: OnceLock::new(),
            packed: Memo::default(),
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
    pub fn elements(&self, width: u32) -> Vec<Term> {
        let all = 0..self.width / width;
        all.map(|k| self.element(width, k)).collect()
    }

    /// Element `k` of the result of elements of a width that divides the result's, as a flat term
    /// over the operands.
    pub fn element(&self, width: u32, k: u32) -> Term {
        let rolled = || b::extract(self.instance.term, k * width, width);
        let flat = || semantics::unroll::unroll(rolled());
        self.elements.get_or((width, k), flat)
    }

    /// The operators that it computes with, as [`crate::lanes::signature`] has them.
    pub fn signature(&self) -> u128 {
        self.signature
    }

    /// The operators that it computes with, in the shape in which goals and patterns meet.
    pub(crate) fn plain_signature(&self) -> u128 {
        let plain = || {
            let first = self.element(self.natural, 0);
            crate::lanes::signature([crate::canonical::sink_extensions(first)])
        };
        *self.plain_signature.get_or_init(plain)
    }

    /// What it does with its operands' elements.
    pub fn action(&self) -> Action {
        self.action
    }

    /// The element width of each operand, where the specification says one.
    pub fn element_widths(&self) -> &HashMap<String, u32> {
        self.element_widths.get_or_init(|| {
            let formals = self.instance.formals.iter();
            let known = formals.filter_map(|o| Some((o.name.clone(), o.element.width()?)));
            known.filter(|(_, w)| *w > 1).collect()
        })
    }

    /// The number of operands that are constants in the code: of two instructions that do the
    /// same, that with fewer is taken.
    pub fn constants(&self) -> usize {
        self.constants
    }

    /// The numbers that may be given for an operand when code is made: of one that is a constant in the
    /// code, and of one that is a number beside vectors, which C takes a constant for.
    pub(crate) fn constants_of(&self, o: &Formal) -> Option<Constants> {
        let least = u32::MAX >> 32_u32.saturating_sub(o.width);
        let number = || self.is_number(o).then_some(Constants::UpTo(least));
        o.role.constants().or_else(number)
    }

    /// The same of all operands that have such.
    pub(crate) fn all_constants(&self) -> impl Iterator<Item = Constants> {
        (self.instance.formals.iter()).filter_map(|o| self.constants_of(o))
    }

    /// Whether an operand is a number of C beside vectors, in a register that is no vector's.
    fn is_number(&self, o: &Formal) -> bool {
        let is_vector = |f: &Formal| f.role == Role::Register && f.width >= self.narrowest;
        let one = o.role == Role::Register && o.element.width() == Some(o.width);
        one && o.width < self.narrowest && self.instance.formals.iter().any(is_vector)
    }

    /// Whether it has a mask operand.
    pub fn masked(&self) -> bool {
        self.masked
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
        self.packed.get_or(width, || {
            let found = packed_lane_function(self, width)?;
            Some(Box::leak(Box::new(found)))
        })
    }

    /// The operand of that name.
    pub fn operand(&self, name: &str) -> Option<&Formal> {
        self.instance.formals.iter().find(|o| o.name == name)
    }
}

/// Whether a term, which computes with these operators, only moves bits: no arithmetic anywhere, but that
/// conditions may take bits out of a number by a mask.
fn moves_only(t: Term, signature: u128) -> bool {
    use semantics::op::OpCode as C;
    let moving = [
        C::Elem,
        C::Slice,
        C::Ite,
        C::Eq,
        C::Insert,
        C::IntToBv,
        C::BvUlt,
    ];
    let within = |allowed: &[C]| crate::lanes::is_within(signature, allowed);
    within(&moving) || within(&[&moving[..], &[C::BvAnd]].concat()) && masks_in_conditions(t)
}

/// Whether all conjunctions in a term take bits of conditions out of a number.
fn masks_in_conditions(t: Term) -> bool {
    use semantics::op::OpCode as C;
    let (mut seen, mut work) = (HashSet::new(), vec![(t, false)]);
    while let Some((t, decides)) = work.pop() {
        if !seen.insert((t, decides)) {
            continue;
        }
        let Some((op, args)) = t.as_app() else {
            work.extend(t.children().map(|t| (t, decides)));
            continue;
        };
        let masks = args.iter().any(|t| t.as_bits().is_some());
        if op.code == C::BvAnd && !(decides && masks) {
            return false;
        }
        let inside = |k: usize| decides || op.code == C::Ite && k == 0;
        work.extend(args.iter().enumerate().map(|(k, t)| (*t, inside(k))));
    }
    true
}

/// The width of the innermost lanes of a rolled term.
pub(crate) fn natural_width(t: Term) -> u32 {
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
