//! Networks: elements that many index bits choose, each in turn.
//!
//! In: a candidate whose lanes are choices by choices, each by one bit of an operand. Out: for each element
//! the paths through them, each with the bits that lead along it. A butterfly (Hexagon's `vdelta`) has one
//! path from each element to each, so that its control is read off the paths of what is wanted, if these
//! agree where they meet; every shift, reversal, compaction and spread of equal distances is of this kind
//! (Nassimi, Sahni: "Data broadcasting in SIMD computers", 1981). The lanes are followed as they are
//! written, with the numbers of their loops: written out they are 128 trees of as many leaves.

use super::{Brought, ElementMoves, IndexBit, MAX_SUPPORT, Pieces, SUPPORT, Ways, truth};
use crate::candidates::Candidate;
use crate::fragment::replace;
use semantics::bits::Bits;
use semantics::op::OpCode;
use semantics::sort::Sort;
use semantics::term::{Kind, Term};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Choices of which a table of their values is made as quickly.
const FEW: usize = 4;

/// The most paths to one element.
const MOST_PATHS: usize = 512;

/// A part of an operand: which, where it begins, its bits.
type Part = (&'static str, Term, u32);

/// What decides a choice: a part of an operand, which of its bits, and whether the condition holds where that
/// is set.
type Decision = (Part, u32, bool);

/// A candidate's choices.
pub(super) struct Network<'a> {
    candidate: &'a Candidate,
    /// Operands whose pieces come out.
    data: &'a [String],
    decisions: HashMap<Term, Decision>,
}

impl<'a> Network<'a> {
    /// The choices of a candidate, where there are so many that a table of their values is no better.
    pub(super) fn of(
        candidate: &'a Candidate,
        choosers: &BTreeSet<&'static str>,
        data: &'a [String],
    ) -> Option<Network<'a>> {
        let (mut decisions, mut deciding) = (HashMap::new(), HashMap::new());
        let (mut seen, mut work) = (HashSet::new(), lanes(candidate.term()));
        while let Some(t) = work.pop() {
            if let Some(args) = t.args_of(OpCode::Ite)
                && seen.insert(t)
            {
                decisions.insert(args[0], decision(args[0], choosers, &mut deciding)?);
                work.extend(&args[1..]);
            }
        }
        let network = Network {
            candidate,
            data,
            decisions,
        };
        let is_network = network.decisions.len() > FEW && network.element(0).is_some();
        is_network.then_some(network)
    }

    /// What is brought to each element.
    pub(super) fn elements(&self) -> Option<Vec<ElementMoves>> {
        let all = self.candidate.width / self.candidate.natural;
        (0..all).map(|k| self.element(k)).collect()
    }

    fn element(&self, k: u32) -> Option<ElementMoves> {
        let mut walk = Walk {
            network: self,
            loops: Vec::new(),
            bits: Vec::new(),
            paths: Vec::new(),
            brought: Vec::new(),
        };
        let width = self.candidate.natural;
        walk.element(self.candidate.term(), k * width, width)?;
        Some(ElementMoves {
            ways: Ways::Network(walk.paths),
            pieces: Arc::new(Pieces::new(walk.brought)),
        })
    }
}

/// Lanes of what is the same in all of a loop.
fn lanes(t: Term) -> Vec<Term> {
    match t.kind() {
        Kind::Map { body, .. } => lanes(*body),
        _ => match t.args_of(OpCode::Concat) {
            Some(parts) => parts.iter().flat_map(|t| lanes(*t)).collect(),
            None => vec![t],
        },
    }
}

/// The part of an operand that a term is.
fn part(t: Term) -> Option<Part> {
    let (_, args) = t.as_app()?;
    let is_part = t
        .args_of(OpCode::Slice)
        .or(t.args_of(OpCode::Extract))
        .is_some();
    let operand = args.first().filter(|_| is_part)?.as_var()?;
    Some((operand, args[1], t.width()))
}

/// The one bit that decides a condition, which may look at others too, as those that are masked out.
/// `known` has which bit it is for conditions over a variable in place of the part.
fn decision(
    t: Term,
    choosers: &BTreeSet<&'static str>,
    known: &mut HashMap<Term, Option<(u32, bool)>>,
) -> Option<Decision> {
    let (mut parts, mut work) = (BTreeSet::new(), vec![t]);
    while let Some(t) = work.pop() {
        match part(t) {
            Some(_) => {
                parts.insert(t);
            }
            None => work.extend(t.children()),
        }
    }
    let &of = parts.first().filter(|_| parts.len() == 1)?;
    let (operand, at, bits) = part(of)?;
    if !choosers.contains(operand) || bits as usize > MAX_SUPPORT {
        return None;
    }
    let support = Term::var(SUPPORT, Sort::Bv(bits));
    let own = replace(t, &mut HashMap::from([(of, support)]));
    let deciding = known.entry(own).or_insert_with(|| deciding(own, bits));
    let (bit, set) = (*deciding)?;
    Some(((operand, at, bits), bit, set))
}

/// Which of so many bits decides a condition over them, and whether it holds where that is set.
fn deciding(t: Term, bits: u32) -> Option<(u32, bool)> {
    let values = (0..1 << bits).map(|value| truth(t, &Bits::from_u64(bits, value)));
    let holds: Vec<bool> = values.collect::<Option<_>>()?;
    let decides = |(bit, set): &(u32, bool)| {
        let mut all = holds.iter().enumerate();
        all.all(|(value, holds)| *holds == ((value >> bit & 1 == 1) == *set))
    };
    let mut all = (0..bits).flat_map(|bit| [(bit, true), (bit, false)]);
    all.find(decides)
}

/// A walk through the choices of one element.
struct Walk<'a> {
    network: &'a Network<'a>,
    /// The numbers of the rounds of loops around, the innermost last.
    loops: Vec<i64>,
    /// Bits that lead here.
    bits: Vec<(IndexBit, bool)>,
    paths: Vec<Vec<(IndexBit, bool)>>,
    /// What each leads to.
    brought: Vec<Option<Brought>>,
}

impl Walk<'_> {
    /// Follows so many bits of a term.
    fn element(&mut self, t: Term, low: u32, width: u32) -> Option<()> {
        if let Kind::Map { body, .. } = t.kind() {
            let round = low / body.width();
            self.loops.push(i64::from(round));
            return self.element(*body, low - round * body.width(), width);
        }
        let Some(parts) = t.args_of(OpCode::Concat) else {
            let whole = low == 0 && t.width() == width;
            return self.follow(t).filter(|()| whole);
        };
        let mut low = low;
        for &part in parts.iter().rev() {
            if low < part.width() {
                return self.element(part, low, width);
            }
            low -= part.width();
        }
        None
    }

    /// All paths from a term on.
    fn follow(&mut self, t: Term) -> Option<()> {
        let Some(args) = t.args_of(OpCode::Ite) else {
            self.brought.push(Some(self.leaf(t)?));
            self.paths.push(self.bits.clone());
            return (self.paths.len() <= MOST_PATHS).then_some(());
        };
        let ((operand, at, _), bit, holds) = self.network.decisions.get(&args[0])?;
        let bit = (*operand, u32::try_from(self.number(*at)?).ok()? + bit);
        for (set, then) in [(*holds, args[1]), (!holds, args[2])] {
            match self.bits.iter().find(|known| known.0 == bit) {
                Some(known) if known.1 != set => {}
                Some(_) => self.follow(then)?,
                None => {
                    self.bits.push((bit, set));
                    self.follow(then)?;
                    self.bits.pop();
                }
            }
        }
        Some(())
    }

    /// What lies at the end of a path.
    fn leaf(&self, t: Term) -> Option<Brought> {
        if let Some(bits) = t.as_bits() {
            return Some(Brought::Constant(bits.clone()));
        }
        let (operand, at, width) = part(t)?;
        let data = self.network.data.iter().position(|name| name == operand)?;
        let at = u32::try_from(self.number(at)?).ok()?;
        at.is_multiple_of(width).then_some(Brought::Element {
            data,
            at: (at / width) as usize,
        })
    }

    /// An index, with the numbers of loops.
    fn number(&self, t: Term) -> Option<i64> {
        let both = |args: &[Term]| Some((self.number(args[0])?, self.number(args[1])?));
        match t.kind() {
            Kind::Int(n) => Some(*n),
            Kind::Bound { depth, .. } => {
                let from_the_end = self.loops.iter().rev();
                from_the_end.copied().nth(*depth as usize)
            }
            Kind::App { op, args } => match op.code {
                OpCode::IntAdd => both(args).map(|(x, y)| x.wrapping_add(y)),
                OpCode::IntMul => both(args).map(|(x, y)| x.wrapping_mul(y)),
                _ => None,
            },
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::candidates::Candidates;
    use crate::goal::Goal;
    use crate::swizzle::{Ways, solve_index, with_the_rest};
    use crate::tests::{candidates, operation};
    use semantics::bits::Bits;
    use semantics::build as b;
    use semantics::sort::Sort;
    use semantics::subst::replace_vars;
    use semantics::term::Term;
    use std::collections::{BTreeMap, HashMap};

    const BYTES: u32 = 16;

    fn byte(x: Term, k: u32) -> Term {
        b::extract(x, 8 * k, 8)
    }

    fn register(name: &str) -> Term {
        Term::var(name, Sort::Bv(8 * BYTES))
    }

    /// A butterfly of four stages, from bytes beside each other on, each with the bit of a control that has
    /// that distance; where `masked`, behind a mask.
    fn butterfly(masked: bool) -> Candidates {
        let control = register("control");
        let mut from: Vec<Term> = (0..BYTES).map(|k| byte(register("x"), k)).collect();
        for distance in [1u32, 2, 4, 8] {
            let taken = |k: u32| {
                let own = byte(control, k);
                let bit = b::and(own, Term::bv(8, i128::from(distance)));
                let stays = match masked {
                    true => b::eq(bit, Term::bv(8, 0)),
                    false => {
                        let bit = b::extract(own, distance.trailing_zeros(), 1);
                        b::eq(bit, Term::bv(1, 0))
                    }
                };
                let at = |k: u32| from[k as usize];
                b::ite(stays, at(k), at(k ^ distance))
            };
            from = (0..BYTES).map(taken).collect();
        }
        from.reverse();
        let operands = [("x", 8 * BYTES), ("control", 8 * BYTES)];
        candidates(
            vec![operation("butterfly", &operands, b::concat(&from))],
            None,
        )
    }

    /// A register whose elements are bytes of an input; of `None` nobody wants any.
    fn goal(from: impl Fn(u32) -> Option<u32>) -> Goal {
        let element = |k| from(k).map(|at| byte(register("in"), at));
        Goal {
            element: 8,
            elements: (0..BYTES).map(element).collect(),
        }
    }

    /// What a control brings.
    fn brought(all: &Candidates, index: &BTreeMap<String, Bits>) -> Vec<Term> {
        let mut values: HashMap<&str, Term> = HashMap::from([("x0", register("in"))]);
        values.extend(
            index
                .iter()
                .map(|(n, bits)| (n.as_str(), Term::bits(bits.clone()))),
        );
        let whole = replace_vars(all.list[0].term(), &values);
        (0..BYTES).map(|k| byte(whole, k)).collect()
    }

    #[test]
    fn a_control_is_read_off_the_paths_of_what_is_wanted() {
        for all in [butterfly(true), butterfly(false)] {
            let table = all.move_table(0, 8).expect("it only moves");
            for moves in &table.elements {
                let Ways::Network(paths) = &moves.ways else {
                    panic!("many bits choose");
                };
                assert_eq!(paths.len(), BYTES as usize);
            }
            // Wider elements are moved in parts.
            assert!(all.move_table(0, 16).is_none());
            let source = goal(Some);
            for wanted in [
                goal(|k| Some(BYTES - 1 - k)),
                goal(|k| Some((k + 5) % BYTES)),
                goal(|k| (3 * k + 2 < BYTES).then_some(3 * k + 2)),
                goal(|_| Some(7)),
            ] {
                let index = solve_index(&table, &[&source], &wanted).expect("there is a way");
                let all_of = brought(&all, &index);
                for (found, wanted) in all_of.iter().zip(&wanted.elements) {
                    assert!(wanted.is_none_or(|w| w == *found), "{found}");
                }
                let (index, whole) = with_the_rest(&table, &[&source], &wanted, &index);
                let found: Vec<_> = brought(&all, &index).into_iter().map(Some).collect();
                assert_eq!(whole.elements, found);
            }
        }
    }

    #[test]
    fn paths_that_part_where_they_meet_are_no_control() {
        let all = butterfly(true);
        let table = all.move_table(0, 8).expect("it only moves");
        // Both come through the first byte of the first stage.
        let crossed = goal(|k| [(0, 0), (8, 1)].iter().find(|m| m.0 == k).map(|m| m.1));
        assert!(solve_index(&table, &[&goal(Some)], &crossed).is_none());
    }
}
