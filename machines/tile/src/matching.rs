//! Whether a block of loops is an instruction, and on which windows of the arrays.
//!
//! In: an [`Effect`] and the tile instructions. Out: [`Tiled`]: the instruction and a window
//! for each of its tiles. Windows are inferred: the elements that the results of row `i` read
//! begin at `base + i * stride`, and so for columns; where a row of a tile has something of every
//! column, its rows are what is read, in order. Base and stride are the solution of these equations, and where they have none there
//! is no window. The whole is then proved: the
//! meaning of the instruction on the windows is what the block does, element by element.

use crate::block::{Effect, Element};
use crate::error::Detail;
use crate::products::Layout;
use crate::shapes::{Compute, Shapes};
use kernel::tree::{Id, Kernel};
use semantics::build as b;
use semantics::machine::Machine;
use semantics::sort::Sort;
use semantics::subst::{free_vars, replace_vars};
use semantics::term::Term;
use smt::prover::Prover;
use std::collections::{BTreeSet, HashMap};
use std::fmt;

/// Rows of an array that lie a stride apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Window {
    /// The array.
    pub array: Id,
    /// The first byte, from the beginning of the array.
    pub base: i64,
    /// Bytes from one row to the next.
    pub stride: i64,
}

/// A block as an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Tiled {
    /// Its index in [`Shapes::computes`].
    pub(crate) compute: usize,
    pub(crate) target: Window,
    /// In the order of [`Compute::sources`].
    pub(crate) sources: Vec<Window>,
    /// The target holds nothing before: it begins as zeros.
    pub(crate) from_zero: bool,
}

/// Why a block is no instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Mismatch {
    SeveralArrays,
    /// So many elements are written, and not rows of columns.
    Size {
        written: usize,
        tile: (i64, i64),
    },
    /// What is written lies unevenly.
    Uneven,
    /// What a result reads of an array spans more than the neighbours of a row.
    Spans {
        array: String,
        neighbours: i64,
        elements: i64,
    },
    NoInstruction,
}

impl Mismatch {
    pub(crate) fn detail(&self) -> Detail {
        match self {
            Mismatch::SeveralArrays | Mismatch::Size { .. } => Detail::Size,
            _ => Detail::Cause,
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mismatch::SeveralArrays => f.write_str("it writes several arrays"),
            Mismatch::Size { written, tile } => {
                let (rows, columns) = tile;
                write!(
                    f,
                    "it writes {written} elements, and a tile has {rows} rows of {columns}"
                )
            }
            Mismatch::Uneven => {
                f.write_str("what it writes is no rows of neighbours, evenly apart")
            }
            Mismatch::Spans {
                array,
                neighbours,
                elements,
            } => write!(
                f,
                "what a result reads of `{array}` is no {neighbours} neighbours: its window spans \
                 {elements} elements"
            ),
            Mismatch::NoInstruction => f.write_str("no instruction on tiles computes this"),
        }
    }
}

/// Blocks that are alike: the number of their form; where in a tile each of their arrays begins, of those that
/// are tiles.
pub(crate) type TiledKey = (usize, Vec<Option<i64>>);

/// What was found out of terms before, which blocks that are alike share.
#[derive(Default)]
pub(crate) struct Proofs {
    /// The variables of results.
    variables: HashMap<Term, Vec<Term>>,
    /// By the two terms.
    terms: HashMap<(Term, Term), bool>,
    /// By the instruction, what its tiles hold, and what is wanted.
    blocks: HashMap<(usize, Vec<Term>, Term), bool>,
    /// The instructions that blocks are, with where the arrays of one of them begin.
    pub(crate) forms: HashMap<TiledKey, (Vec<Element>, Tiled)>,
}

/// What is needed to match.
pub(crate) struct Matcher<'a> {
    pub(crate) kernel: &'a Kernel,
    pub(crate) machine: &'a Machine,
    pub(crate) shapes: &'a Shapes,
    pub(crate) prover: &'a Prover,
    /// Elements of each array in memory.
    pub(crate) lengths: Vec<i64>,
    pub(crate) proofs: Proofs,
}

/// What the rows of a source's window are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum By {
    /// There is one for each row of the results.
    Rows,
    /// There is one for each column.
    Columns,
    /// Each has something of every column, or row.
    Own,
}

/// What the rows of each source of an instruction may be.
fn roles_of(compute: &Compute) -> Vec<Vec<By>> {
    let Some(product) = &compute.product else {
        return vec![vec![By::Rows, By::Columns]; compute.sources.len()];
    };
    let of = |layout, by| match layout {
        Layout::Lines => vec![by],
        Layout::Packs(_) => vec![By::Own],
    };
    let mut roles = vec![
        of(product.layouts.0, By::Rows),
        of(product.layouts.1, By::Columns),
    ];
    if product.swapped {
        roles.reverse();
    }
    roles
}

/// What a block does, and the elements that each of its results reads.
struct Seen<'e> {
    effect: &'e Effect,
    read: Vec<Vec<Element>>,
}

impl Seen<'_> {
    fn of<'e>(effect: &'e Effect, variables: &mut HashMap<Term, Vec<Term>>) -> Seen<'e> {
        let names: HashMap<Term, Element> = effect.read.iter().map(|(e, t)| (*t, *e)).collect();
        let elements = |term: &Term| {
            let found = variables.entry(*term);
            let found = found.or_insert_with(|| free_vars(*term).into_iter().collect());
            found.iter().filter_map(|v| names.get(v).copied()).collect()
        };
        Seen {
            effect,
            read: effect.written.values().map(elements).collect(),
        }
    }
}

/// Elements of a window: the first, and how far rows are apart.
#[derive(Clone, Copy)]
struct Rows {
    array: Id,
    base: i64,
    stride: i64,
}

impl Matcher<'_> {
    /// The instruction that does what a block does.
    pub(crate) fn find(&mut self, effect: &Effect) -> Result<Tiled, Mismatch> {
        let arrays: BTreeSet<Id> = effect.written.keys().map(|e| e.0).collect();
        let [target] = arrays.iter().copied().collect::<Vec<_>>()[..] else {
            return Err(Mismatch::SeveralArrays);
        };
        let out = self.target(target, effect)?;
        let effect = &Seen::of(effect, &mut self.proofs.variables);
        let mut best = Mismatch::NoInstruction;
        for at in 0..self.shapes.computes.len() {
            match self.try_one(at, out, effect) {
                Ok(tiled) => return Ok(tiled),
                Err(Some(reason)) => best = reason,
                Err(None) => {}
            }
        }
        Err(best)
    }

    /// The instruction of a block whose arrays begin there, as one that is alike is known.
    pub(crate) fn known(&self, form: &TiledKey, origins: &[Element]) -> Option<Tiled> {
        let (from, known) = self.proofs.forms.get(form)?;
        let moved = |window: &Window| {
            let (old, new) = (from.iter().zip(origins)).find(|(o, _)| o.0 == window.array)?;
            let bytes = self.bits(new.0) / 8;
            let base = (new.1.checked_sub(old.1)?).checked_mul(bytes)?;
            Some(Window {
                array: new.0,
                base: window.base.checked_add(base)?,
                ..*window
            })
        };
        let inside = |window: &Window| {
            let (rows, wide) = self.shape(self.bits(window.array));
            let bytes = self.bits(window.array) / 8;
            let end = window.base + (rows - 1) * window.stride + wide * bytes;
            window.base >= 0 && end <= self.lengths[window.array] * bytes
        };
        let sources = known
            .sources
            .iter()
            .map(moved)
            .collect::<Option<Vec<_>>>()?;
        let target = moved(&known.target)?;
        sources.iter().all(inside).then_some(Tiled {
            target,
            sources,
            ..*known
        })
    }

    fn bits(&self, array: Id) -> i64 {
        i64::from(self.kernel.arrays[array].elem.bits())
    }

    /// Rows of a tile, and its elements of that many bits in a row.
    fn shape(&self, bits: i64) -> (i64, i64) {
        let file = &self.machine.files[self.shapes.file];
        (i64::from(file.width / file.row), i64::from(file.row) / bits)
    }

    /// The window that is written: all of it, once.
    fn target(&self, array: Id, effect: &Effect) -> Result<Rows, Mismatch> {
        let (rows, columns) = self.shape(self.bits(array));
        let at: Vec<i64> = effect.written.keys().map(|e| e.1).collect();
        if at.len() as i64 != rows * columns {
            return Err(Mismatch::Size {
                written: at.len(),
                tile: (rows, columns),
            });
        }
        let base = at[0];
        let stride = at[at.len().min(columns as usize)..]
            .first()
            .map_or(columns, |a| a - base);
        let expected = (0..rows).flat_map(|i| (0..columns).map(move |j| base + i * stride + j));
        match expected.eq(at.iter().copied()) {
            true => Ok(Rows {
                array,
                base,
                stride,
            }),
            false => Err(Mismatch::Uneven),
        }
    }

    fn try_one(
        &mut self,
        at: usize,
        out: Rows,
        seen: &Seen<'_>,
    ) -> Result<Tiled, Option<Mismatch>> {
        let (shapes, effect) = (self.shapes, seen.effect);
        let compute = &shapes.computes[at];
        let read: BTreeSet<Id> = effect.read.keys().map(|e| e.0).collect();
        let reads_target = effect.read.keys().any(|e| e.0 == out.array);
        if reads_target && !compute.updates {
            return Err(None);
        }
        let arrays: Vec<Id> = read.iter().copied().filter(|a| *a != out.array).collect();
        let by = roles_of(compute);
        let count = compute.sources.len();
        let choices: Vec<usize> = by.iter().map(|by| arrays.len() * by.len()).collect();
        if (count == 0) != arrays.is_empty() {
            return Err(None);
        }
        let mut reason = None;
        for choice in 0..choices.iter().product::<usize>().max(1) {
            let mut rest = choice;
            let picks: Vec<(usize, By)> = (0..count)
                .map(|k| {
                    let pick = rest % choices[k];
                    rest /= choices[k];
                    (pick / by[k].len(), by[k][pick % by[k].len()])
                })
                .collect();
            let used: BTreeSet<usize> = picks.iter().map(|p| p.0).collect();
            if used.len() != arrays.len() {
                continue;
            }
            let windows = picks
                .iter()
                .map(|p| self.rows(arrays[p.0], p.1, out, seen))
                .collect::<Result<Vec<_>, _>>();
            let windows = match windows {
                Ok(windows) => windows,
                Err(why) => {
                    reason = reason.or(why);
                    continue;
                }
            };
            if self.proved(
                compute,
                out,
                &windows,
                effect,
                !reads_target && compute.updates,
            ) {
                let window = |r: &Rows| self.window(r);
                return Ok(Tiled {
                    compute: at,
                    target: window(&out),
                    sources: windows.iter().map(window).collect(),
                    from_zero: !reads_target && compute.updates,
                });
            }
        }
        Err(reason)
    }

    fn window(&self, rows: &Rows) -> Window {
        let bytes = self.bits(rows.array) / 8;
        Window {
            array: rows.array,
            base: rows.base * bytes,
            stride: rows.stride * bytes,
        }
    }

    /// The window of an array that the results read: one of its rows for each row of the
    /// results, or for each column.
    fn rows(
        &self,
        array: Id,
        by: By,
        out: Rows,
        found: &Seen<'_>,
    ) -> Result<Rows, Option<Mismatch>> {
        let (rows, columns) = self.shape(self.bits(out.array));
        let (own_rows, wide) = self.shape(self.bits(array));
        if by == By::Own {
            let own = self.own_rows(array, (own_rows, wide), found.effect);
            return own.ok_or(None);
        }
        let by_rows = by == By::Rows;
        // Columns beyond those that a product has keep what they hold.
        let each = if by_rows { rows } else { columns.min(own_rows) };
        if each != own_rows {
            return Err(None);
        }
        // The first and the last element that each reads.
        let mut seen: Vec<Option<(i64, i64)>> = vec![None; each as usize];
        for (n, read) in found.read.iter().enumerate() {
            let n = n as i64;
            let at = if by_rows { n / columns } else { n % columns };
            let mut places = read.iter().filter(|e| e.0 == array).map(|e| e.1);
            match seen.get_mut(at as usize) {
                Some(seen) => {
                    *seen = places.fold(*seen, |seen, p| match seen {
                        Some((first, last)) => Some((first.min(p), last.max(p))),
                        None => Some((p, p)),
                    });
                }
                None if places.next().is_some() => return Err(None),
                None => {}
            }
        }
        let first = |i: usize| seen[i].map(|s| s.0);
        let Some((base, last)) = seen[0] else {
            return Err(None);
        };
        let stride = if each > 1 {
            first(1).map_or(0, |f| f - base)
        } else {
            wide
        };
        let even = (0..each).all(|i| first(i as usize) == Some(base + i * stride));
        if even && last - base >= wide {
            return Err(Some(Mismatch::Spans {
                array: self.kernel.arrays[array].name.clone(),
                neighbours: wide,
                elements: last - base + 1,
            }));
        }
        let end = base + (each - 1) * stride + wide;
        let inside = base >= 0 && end <= self.lengths[array] && stride >= 0;
        (even && inside)
            .then_some(Rows {
                array,
                base,
                stride,
            })
            .ok_or(None)
    }

    /// The window of an array of which each row has something of every result.
    fn own_rows(&self, array: Id, (rows, wide): (i64, i64), effect: &Effect) -> Option<Rows> {
        let mut places = effect.read.keys().filter(|e| e.0 == array).map(|e| e.1);
        let base = places.next()?;
        let stride = places
            .find(|p| *p >= base + wide)
            .map_or(wide, |p| p - base);
        let end = base + (rows - 1) * stride + wide;
        let inside = base >= 0 && end <= self.lengths[array];
        inside.then_some(Rows {
            array,
            base,
            stride,
        })
    }

    /// Whether the instruction on these windows does what the block does.
    fn proved(
        &mut self,
        compute: &Compute,
        out: Rows,
        windows: &[Rows],
        effect: &Effect,
        from_zero: bool,
    ) -> bool {
        let width = compute.meaning.width();
        let target = match from_zero {
            true => b::zero(width),
            false => self.contents(out, effect),
        };
        let mut held = vec![target];
        held.extend(windows.iter().map(|rows| self.contents(*rows, effect)));
        let parts: Vec<Term> = effect.written.values().rev().copied().collect();
        let wanted = b::concat(&parts);
        let key = (compute.instruction, held, wanted);
        if let Some(&known) = self.proofs.blocks.get(&key) {
            return known;
        }
        let first = parts.last().copied();
        let proved = self.computes(compute, &key.1, (first, wanted));
        self.proofs.blocks.insert(key, proved);
        proved
    }

    /// Whether an instruction whose target and sources hold these gives what is wanted; `first` is
    /// the first element of that.
    fn computes(
        &mut self,
        compute: &Compute,
        held: &[Term],
        (first, wanted): (Option<Term>, Term),
    ) -> bool {
        let found = &self.machine.instructions[compute.instruction];
        let operands = std::iter::once(&compute.target).chain(&compute.sources);
        let names = operands.map(|k| found.operands[*k].name.as_str());
        let values: HashMap<&str, Term> = names.zip(held.iter().copied()).collect();
        // One element refutes most of what is tried.
        if let Some(element) = first {
            let done = b::extract(compute.meaning, 0, element.width());
            if !self.equal(replace_vars(done, &values), element) {
                return false;
            }
        }
        self.equal(replace_vars(compute.meaning, &values), wanted)
    }

    fn equal(&mut self, done: Term, wanted: Term) -> bool {
        let prover = self.prover;
        let proved = || prover.prove_equal(done, wanted).is_proved();
        let known = self.proofs.terms.entry((done, wanted));
        done == wanted || *known.or_insert_with(proved)
    }

    /// What a window holds before the block.
    fn contents(&self, rows: Rows, effect: &Effect) -> Term {
        let bits = self.bits(rows.array);
        let (count, columns) = self.shape(bits);
        let element = |n: i64| {
            let at = rows.base + n / columns * rows.stride + n % columns;
            let unread = || {
                let width = u32::try_from(bits).expect("elements are narrow");
                Term::var(&format!("unread{n}of{}", rows.array), Sort::Bv(width))
            };
            effect
                .read
                .get(&(rows.array, at))
                .copied()
                .unwrap_or_else(unread)
        };
        let parts: Vec<Term> = (0..count * columns).rev().map(element).collect();
        b::concat(&parts)
    }
}
