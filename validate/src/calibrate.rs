//! What instructions cost on this processor.
//!
//! In: instructions and what this machine has. Out: [`Cost`]s, latency, reciprocal throughput
//! and the resource that each instruction competes for, all measured, and a table of them.
//! One instruction stands for all with its mnemonic and register width. Instructions that
//! access memory are not measured: no search chooses among them.

pub mod measure;
pub mod table;
#[cfg(test)]
mod tests;

use crate::check::features;
use codegen_gen::timing_harness::{Dialect, Part, Probe, Way, brings_back, chainable};
use measure::{Figure, Progress};
use semantics::instruction::{Form, Instruction};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use target::{Target, Targets};

/// Copies side by side that hide a latency of eight cycles at one start in a cycle.
const STREAMS: u32 = 10;
/// The most resources that are looked for.
const RESOURCES: usize = 12;
/// Two instructions compete when together they take at least this part of the sum.
const COMPETES: f64 = 0.88;

/// One kind of instruction: its mnemonic and the width of its registers.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Key {
    /// The mnemonic, lower case.
    pub mnemonic: String,
    /// Width of the widest operand or result, in bits.
    pub width: u32,
}

/// What was found of one kind.
#[derive(Clone, PartialEq, Debug)]
pub struct Cost {
    /// Cycles until the result is there; none when no chain of it can be made.
    pub latency: Option<Figure>,
    /// Cycles between two starts.
    pub throughput: Figure,
    /// The kind that it competes with for all of its time.
    pub resource: Option<Key>,
}

/// What was measured.
#[derive(Clone, PartialEq, Debug)]
pub struct Measured {
    /// How many kinds there are that this processor has.
    pub kinds: usize,
    /// What is known of those that could be compiled and run.
    pub costs: BTreeMap<Key, Cost>,
}

/// Measures the kinds of the instructions whose names contain the filter.
pub fn calibrate(machine: &ThisMachine<'_>, filter: Option<&str>) -> Measured {
    let kinds = kinds(machine.all, filter, machine);
    Measured {
        costs: machine.costs(&kinds),
        kinds: kinds.len(),
    }
}

/// What is measured: for each kind the instruction that stands for it.
type Kinds<'a> = BTreeMap<Key, &'a Instruction>;

/// The kinds that this processor has: for each the instruction with the fewest operands,
/// the first by name among equals.
fn kinds<'a>(all: &'a [Instruction], filter: Option<&str>, machine: &ThisMachine<'_>) -> Kinds<'a> {
    let mut kinds: Kinds<'a> = BTreeMap::new();
    for instruction in all {
        let wanted = filter.is_none_or(|f| instruction.name.contains(f));
        let Some(key) = key(instruction).filter(|_| wanted && machine.runs(instruction)) else {
            continue;
        };
        let rank = |i: &Instruction| (i.operands.len(), i.name.clone());
        let better = |old: &&Instruction| rank(instruction) < rank(old);
        if kinds.get(&key).is_none_or(better) {
            kinds.insert(key, instruction);
        }
    }
    kinds
}

/// The kind of an instruction; none for what is not measured.
fn key(instruction: &Instruction) -> Option<Key> {
    let pointer = instruction.operands.iter().any(|o| o.role.is_pointer());
    let foreign = |c_type: &str| c_type.starts_with("__m64");
    let [output] = instruction.outputs.as_slice() else {
        return None;
    };
    let odd = foreign(&output.c_type) || instruction.operands.iter().any(|o| foreign(&o.c_type));
    let reads = instruction.operands.iter().any(|o| !o.role.is_constant());
    if instruction.form != Form::Single || pointer || odd || !reads {
        return None;
    }
    let mnemonic = instruction.mnemonic.as_deref()?.split_whitespace().next()?;
    let widths = instruction.operands.iter().map(|o| o.width);
    let width = widths.chain(output.term.sort().width()).max()?;
    Some(Key {
        mnemonic: mnemonic.to_ascii_lowercase(),
        width,
    })
}

/// This machine and what it can be asked.
pub struct ThisMachine<'a> {
    /// The features that there are.
    pub targets: &'a Targets,
    /// Those that it has.
    pub host: &'a Target,
    /// What its programs are written with.
    pub dialect: Dialect<'a>,
    /// Its C compiler.
    pub compiler: &'a str,
    /// All instructions.
    pub all: &'a [Instruction],
    /// Who is told how far it is.
    pub progress: &'a dyn Progress,
}

impl<'a> ThisMachine<'a> {
    /// Measures probes.
    fn run(&self, what: &'static str, probes: &[Probe<'_>]) -> Vec<Option<Figure>> {
        measure::run((self.compiler, self.dialect), what, probes, self.progress)
    }

    /// Whether the processor has all features of an instruction.
    fn runs(&self, instruction: &Instruction) -> bool {
        let needed = instruction.features.iter().cloned().collect();
        let all = self.targets.closure(&needed);
        all.iter().all(|f| self.host.features.contains(f))
    }

    /// Measures every kind.
    fn costs(&self, kinds: &Kinds<'_>) -> BTreeMap<Key, Cost> {
        let throughput = self.throughputs(kinds);
        let latency = self.latencies(kinds);
        let mut costs: BTreeMap<Key, Cost> = throughput
            .into_iter()
            .map(|(key, throughput)| {
                let cost = Cost {
                    latency: latency.get(&key).copied(),
                    throughput,
                    resource: None,
                };
                (key, cost)
            })
            .collect();
        self.resources(kinds, &mut costs);
        costs
    }

    /// Cycles between two starts, from many copies side by side.
    fn throughputs(&self, kinds: &Kinds<'_>) -> BTreeMap<Key, Figure> {
        let plan: Vec<Probe<'_>> = kinds
            .values()
            .map(|i| self.planned(vec![self.streams(i, STREAMS)]))
            .collect();
        let measured = self.run("throughput", &plan);
        let per_copy = |f: Option<Figure>| f.map(|f| f.divided(f64::from(STREAMS)));
        named(kinds, measured.into_iter().map(per_copy).collect())
    }

    /// Cycles until the result is there, over the slowest operand.
    fn latencies(&self, kinds: &Kinds<'_>) -> BTreeMap<Key, Figure> {
        let mut plan: Vec<Probe<'_>> = Vec::new();
        let mut owners: Vec<&Key> = Vec::new();
        for (key, instruction) in kinds {
            for operand in chainable(instruction, self.dialect.timing) {
                plan.push(self.planned(vec![chain(instruction, operand, None)]));
                owners.push(key);
            }
        }
        let measured = self.run("latency", &plan);
        let mut slowest: BTreeMap<Key, Figure> = BTreeMap::new();
        for (key, figure) in owners.into_iter().zip(measured) {
            let Some(figure) = figure else { continue };
            let old = slowest.entry(key.clone()).or_insert(figure);
            if figure.cycles > old.cycles {
                *old = figure;
            }
        }
        slowest.extend(self.crossings(kinds));
        slowest
    }

    /// Latencies of those whose result is in another kind of register than every operand:
    /// the time there and back, less half a round trip of the way back.
    fn crossings(&self, kinds: &Kinds<'_>) -> BTreeMap<Key, Figure> {
        let crossing: Vec<(&Key, &Instruction, Way<'_>)> = kinds
            .iter()
            .filter(|(_, i)| chainable(i, self.dialect.timing).is_empty())
            .filter_map(|(key, &i)| Some((key, i, self.way_back(i)?)))
            .collect();
        let plan: Vec<Probe<'_>> = crossing
            .iter()
            .flat_map(|&(_, there, way)| {
                let again = self.way_back(way.back).unwrap_or(way);
                [self.trip(there, way), self.trip(way.back, again)]
            })
            .collect();
        let measured = self.run("crossing", &plan);
        let pairs = crossing.iter().zip(measured.chunks(2));
        pairs
            .filter_map(|((key, ..), pair)| {
                let (there, round) = (pair[0]?, pair[1]?);
                let cycles = (there.cycles - round.cycles / 2.0).max(1.0);
                Some(((*key).clone(), Figure { cycles, ..there }))
            })
            .collect()
    }

    /// A probe of an instruction and its way back.
    fn trip<'p>(&self, there: &'p Instruction, way: Way<'p>) -> Probe<'p> {
        self.planned(vec![chain(there, way.operand, Some(way))])
    }

    /// The first instruction of one operand that brings a result back to an operand.
    fn way_back(&self, there: &Instruction) -> Option<Way<'a>> {
        let measurable = |i: &&Instruction| key(i).is_some() && self.runs(i);
        let mut all = self.all.iter().filter(measurable);
        all.find_map(|back| {
            let operand = brings_back(there, back, self.dialect.timing)?;
            Some(Way { back, operand })
        })
    }

    /// Which kinds compete for all of their time: each is paired with the first of every
    /// resource that was found, and opens its own when it competes with none.
    fn resources(&self, kinds: &Kinds<'_>, costs: &mut BTreeMap<Key, Cost>) {
        for _ in 0..RESOURCES {
            let mut open: Vec<Key> = costs
                .iter()
                .filter(|(_, cost)| cost.resource.is_none())
                .map(|(key, _)| key.clone())
                .collect();
            // Wide registers first: there a kind takes the most of what it needs.
            open.sort_by_key(|key| (Reverse(key.width), key.mnemonic.clone()));
            let Some(first) = open.first() else { return };
            let base = costs[first].throughput.cycles;
            let plan: Vec<Probe<'_>> = open
                .iter()
                .map(|key| {
                    let (n, m) = balance(base, costs[key].throughput.cycles);
                    self.planned(vec![loose(kinds[first], n), loose(kinds[key], m)])
                })
                .collect();
            let measured = self.run("competition", &plan);
            for (key, together) in open.iter().zip(measured) {
                let own = costs[key].throughput.cycles;
                let (n, m) = balance(base, own);
                let alone = f64::from(n) * base + f64::from(m) * own;
                let competes = together.is_some_and(|t| t.cycles >= COMPETES * alone);
                if key == first || competes {
                    let cost = costs.get_mut(key).expect("the key is from this map");
                    cost.resource = Some(first.clone());
                }
            }
        }
    }

    /// Copies that each wait for themselves alone.
    fn streams<'p>(&self, instruction: &'p Instruction, copies: u32) -> Part<'p> {
        Part {
            chained: chainable(instruction, self.dialect.timing).first().copied(),
            ..loose(instruction, copies)
        }
    }

    /// A probe with the compiler's words for the features of its parts.
    fn planned<'p>(&self, parts: Vec<Part<'p>>) -> Probe<'p> {
        let mut words: BTreeSet<String> = BTreeSet::new();
        for part in &parts {
            let instructions = [Some(part.instruction), part.back.map(|w| w.back)];
            for instruction in instructions.into_iter().flatten() {
                words.extend(features(instruction, self.targets, self.host));
            }
        }
        Probe {
            parts,
            features: words.into_iter().collect(),
        }
    }
}

/// Copies of two instructions that each take about as long.
fn balance(first: f64, second: f64) -> (u32, u32) {
    /// Copies of each where they cost the same.
    const HALF: f64 = 6.0;
    let share =
        |own: f64, other: f64| (HALF * (other / own).sqrt()).round().clamp(1.0, 10.0) as u32;
    (share(first, second), share(second, first))
}

/// Copies that wait for nothing.
fn loose(instruction: &Instruction, copies: u32) -> Part<'_> {
    Part {
        instruction,
        chained: None,
        copies,
        back: None,
    }
}

/// One copy that waits for itself.
fn chain<'a>(instruction: &'a Instruction, operand: usize, back: Option<Way<'a>>) -> Part<'a> {
    Part {
        instruction,
        chained: Some(operand),
        copies: 1,
        back,
    }
}

/// The figures of the kinds that were measured.
fn named(kinds: &Kinds<'_>, measured: Vec<Option<Figure>>) -> BTreeMap<Key, Figure> {
    let pairs = kinds.keys().zip(measured);
    pairs
        .filter_map(|(key, f)| Some((key.clone(), f?)))
        .collect()
}
