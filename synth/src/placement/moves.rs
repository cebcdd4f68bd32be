//! What a target moves data by.
//!
//! In: the instructions of a target that only move data. Out: [`Moves`]: for each move the
//! cheapest, and the cheapest way from one width to another.

use crate::cost::Cost;
use crate::operations::TargetOperations;
use crate::widths::{NUMBERS, Widths};
use autoir::instructions::Implementation;
use autoir::program::Instance;
use autoir::transfer::Transfer;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// A move and what implements it.
#[derive(Clone, Debug)]
pub(super) struct Move {
    pub(super) instance: Arc<Instance>,
    /// The width of what is moved.
    pub(super) from: u32,
    cost: Cost,
}

impl Move {
    /// The widths of operands that are neither addresses nor constants.
    fn operands(&self) -> impl Iterator<Item = u32> + '_ {
        let formals = self.instance.formals.iter();
        let values = formals.filter(|f| !f.role.is_constant() && !f.role.is_pointer());
        values.map(|f| f.width)
    }

    fn width_of_value(&self) -> u32 {
        self.operands().max().unwrap_or(0)
    }

    fn width_of_mask(&self) -> u32 {
        self.operands().min().unwrap_or(0)
    }
}

/// A step from one width to another.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// A number at another width, as C does it.
    Number(u32),
    /// A move.
    Move(Move),
    /// A register as both halves of a pair.
    Twice(Joint),
}

/// What makes a register of two.
#[derive(Clone, Debug)]
pub(super) struct Joint {
    pub(super) join: Arc<Instance>,
    /// Which of its operands is the lower register.
    pub(super) low: usize,
    /// The width of each of the two.
    pub(super) half: u32,
    /// What takes the upper one out.
    pub(super) high: Option<Arc<Instance>>,
    cost: Cost,
}

/// The moves of a target.
pub(super) struct Moves<'a> {
    /// By what they do, the width of what is moved and that of the result.
    all: BTreeMap<(Transfer, u32, u32), Move>,
    implementations: HashMap<Arc<Instance>, &'a Implementation>,
    /// Registers that are made of two, by their width.
    joints: BTreeMap<u32, Joint>,
    widths: Widths,
}

impl<'a> Moves<'a> {
    /// The moves of a target.
    pub(super) fn of(operations: &'a TargetOperations) -> Moves<'a> {
        let mut moves = Moves {
            all: BTreeMap::new(),
            implementations: HashMap::new(),
            joints: BTreeMap::new(),
            widths: operations.widths(),
        };
        for (key, (instance, implementation, cost)) in operations.transfers() {
            let known = &mut moves.implementations;
            known.insert(Arc::clone(instance), implementation);
            let found = Move {
                instance: Arc::clone(instance),
                from: key.1,
                cost: *cost,
            };
            moves.all.insert(*key, found);
        }
        for (&width, pair) in operations.pairs() {
            for (instance, implementation) in
                [Some(&pair.join), pair.high.as_ref()].iter().flatten()
            {
                let known = &mut moves.implementations;
                known.insert(Arc::clone(instance), implementation);
            }
            let joint = Joint {
                join: Arc::clone(&pair.join.0),
                low: pair.low,
                half: width / 2,
                high: pair.high.as_ref().map(|(instance, _)| Arc::clone(instance)),
                cost: operations.cost_of(&pair.join.1),
            };
            moves.joints.insert(width, joint);
        }
        moves
    }

    /// What makes a register of so many bits of two, where nothing loads or stores it whole.
    pub(super) fn joint(&self, width: u32) -> Option<&Joint> {
        self.joints.get(&width)
    }

    /// What implements an operation, if it is a move.
    pub(super) fn implementation(&self, instance: &Instance) -> Option<&'a Implementation> {
        self.implementations.get(instance).copied()
    }

    /// Whether a register has so many bits.
    pub(super) fn is_vector(&self, width: u32) -> bool {
        self.widths.is_vector(width)
    }

    /// The widths of vector registers, the narrowest first.
    pub(super) fn vectors(&self) -> impl Iterator<Item = u32> + '_ {
        self.widths.vectors()
    }

    /// A move of so many bits to so many.
    pub(super) fn find(&self, transfer: Transfer, from: u32, to: u32) -> Option<&Move> {
        self.all.get(&(transfer, from, to))
    }

    /// What loads or stores a register under a mask, and the width of that mask.
    pub(super) fn masked(&self, transfer: Transfer, width: u32) -> Option<(&Move, u32)> {
        let mut all = self.all.iter().filter(|(key, m)| {
            let moved = key.2.max(m.width_of_value());
            key.0 == transfer && moved == width
        });
        let (_, found) = all.next()?;
        Some((found, found.width_of_mask()))
    }

    /// What has a number of so many bits in every place of a register.
    pub(super) fn broadcast(&self, element: u32, to: u32) -> Option<&Move> {
        let all = NUMBERS.into_iter().filter(|from| *from >= element);
        let all = all.filter_map(|from| self.find(Transfer::Broadcast(element), from, to));
        all.min_by_key(|m| (m.cost, m.from))
    }

    /// What loads so many bits into the low end of the narrowest register, where they are no number
    /// that a move brings there.
    pub(super) fn low_end(&self, bits: u32) -> Option<&Move> {
        let narrowest = self.widths.narrowest();
        let load = self.find(Transfer::Load(bits), 0, narrowest)?;
        let number = NUMBERS.contains(&bits) && self.path(bits, narrowest).is_some();
        (bits < narrowest && !number).then_some(load)
    }

    /// What takes so many bits out of a register by their number, in the narrowest register.
    pub(super) fn part(&self, from: u32, bits: u32) -> Option<&Move> {
        let first = (Transfer::Part(bits), from, bits);
        let last = (Transfer::Part(bits), from, u32::MAX);
        self.all.range(first..=last).next().map(|(_, m)| m)
    }

    /// Whether a part of a register can be had by itself.
    pub(super) fn has_part(&self, from: u32, bits: u32) -> bool {
        from == bits || self.part(from, bits).is_some()
    }

    /// The pieces in which so many bits are stored, each a register or a number.
    pub(super) fn pieces(&self, bits: u32) -> Vec<u32> {
        let narrowest = self.widths.narrowest();
        let stored = self.all.keys().filter_map(|key| match *key {
            (Transfer::Store(bits), from, _) if from == narrowest && bits < narrowest => Some(bits),
            _ => None,
        });
        let parts: Vec<u32> = stored.filter(|bits| !NUMBERS.contains(bits)).collect();
        let all = || {
            NUMBERS
                .into_iter()
                .chain(parts.iter().copied())
                .chain(self.vectors().filter(|&w| self.is_stored(w)))
        };
        let (mut pieces, mut at) = (Vec::new(), 0);
        while at < bits {
            let fits = |w: &u32| at % w == 0 && at + w <= bits;
            let Some(width) = all().filter(fits).max() else {
                break;
            };
            pieces.push(width);
            at += width;
        }
        pieces
    }

    /// Whether a register is stored whole, and not as the two that it is made of.
    fn is_stored(&self, width: u32) -> bool {
        self.joint(width).is_none() || self.find(Transfer::Store(width), width, 0).is_some()
    }

    /// The cheapest steps from one width to another: none below the narrower of them.
    pub(super) fn path(&self, from: u32, to: u32) -> Option<Vec<Step>> {
        let least = from.min(to);
        let mut best: BTreeMap<u32, (Cost, Vec<Step>)> = BTreeMap::from([(from, (0, Vec::new()))]);
        let mut done = BTreeSet::new();
        loop {
            let open = best.iter().filter(|(width, _)| !done.contains(*width));
            let (&width, _) =
                open.min_by_key(|(width, (cost, steps))| (*cost, steps.len(), Reverse(**width)))?;
            let (cost, steps) = best[&width].clone();
            if width == to {
                return Some(steps);
            }
            done.insert(width);
            for (next, more, step) in self.steps(width).filter(|(next, ..)| *next >= least) {
                let rank = (cost + more, steps.len() + 1);
                let known = best.get(&next).map(|(cost, steps)| (*cost, steps.len()));
                if known.is_none_or(|known| rank < known) {
                    let steps = [steps.as_slice(), &[step]].concat();
                    best.insert(next, (cost + more, steps));
                }
            }
        }
    }

    /// The steps from a width.
    fn steps(&self, from: u32) -> impl Iterator<Item = (u32, Cost, Step)> + '_ {
        let number = |width: u32| NUMBERS.contains(&width) && !self.is_vector(width);
        let numbers = NUMBERS.into_iter().filter(move |_| number(from));
        let numbers = numbers.filter(move |to| *to != from);
        let moves = [Transfer::Low, Transfer::Raise]
            .into_iter()
            .flat_map(move |t| {
                let range = self.all.range((t, from, 0)..=(t, from, u32::MAX));
                range.map(|(&(.., to), m)| (to, m.cost + 1, Step::Move(m.clone())))
            });
        let everywhere = NUMBERS
            .into_iter()
            .filter(move |e| *e == from && number(from));
        let everywhere = everywhere.flat_map(move |e| {
            let t = Transfer::Broadcast(e);
            let range = self.all.range((t, from, 0)..=(t, from, u32::MAX));
            range.map(|(&(.., to), m)| (to, m.cost + 1, Step::Move(m.clone())))
        });
        let twice = self
            .joints
            .iter()
            .filter(move |(_, joint)| joint.half == from);
        let twice = twice.map(|(&to, joint)| (to, joint.cost + 1, Step::Twice(joint.clone())));
        let moves = moves.chain(everywhere).chain(twice);
        // Numbers change their width by themselves.
        let moves = moves.filter(move |(to, ..)| !(number(from) && number(*to)));
        numbers.map(|to| (to, 0, Step::Number(to))).chain(moves)
    }
}
