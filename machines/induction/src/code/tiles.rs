//! Tiles that an instruction writes, element by element in loops.
//!
//! In: a result as a term with maps. Out: writes of an engine. What a tile held before is read while it
//! is written only at the very element; otherwise the result is made beside it first.

use super::meaning::{Bound, Meaning, Register};
use crate::engine::Engine;
use crate::linear::Linear;
use crate::space::Space;
use crate::stop::Stop;
use crate::value::Value;
use semantics::affine::Affine;
use semantics::build as b;
use semantics::op::OpCode;
use semantics::subst::free_vars;
use semantics::term::{Kind, Term};
use std::collections::HashSet;

/// Bits of an element where nothing says how many there are.
const WORD: u32 = 32;

/// Where results lie while a tile is still read.
const BESIDE: Space = Space::Own(u32::MAX, 0);

impl Meaning<'_> {
    /// A tile gets a value.
    pub(super) fn tile_written(
        &self,
        register: Register,
        term: Term,
        engine: &mut Engine<'_>,
    ) -> Result<(), Stop> {
        let tile = self.tile(register);
        let own: Vec<Term> = free_vars(term)
            .into_iter()
            .filter(|v| self.tile_of(*v) == Some(tile))
            .collect();
        let place = Place {
            term,
            at: Term::int(0),
        };
        if own.iter().all(|v| at_itself(place, *v)) {
            return self.put(tile, term, &Linear::default(), &Bound::default(), engine);
        }
        self.put(BESIDE, term, &Linear::default(), &Bound::default(), engine)?;
        let count = i64::from(term.width() / WORD);
        engine.repeat(count, &mut |engine, k| {
            let at = k.times(i64::from(WORD))?;
            let value = engine.read(BESIDE, &at, WORD)?;
            engine.write(tile, &at, WORD, value)
        })
    }

    fn put(
        &self,
        space: Space,
        term: Term,
        at: &Linear,
        bound: &Bound,
        engine: &mut Engine<'_>,
    ) -> Result<(), Stop> {
        let width = term.width();
        match term.kind() {
            Kind::Map { count, body } => {
                let each = i64::from(body.width());
                engine.repeat(i64::from(*count), &mut |engine, k| {
                    let at = at.plus(&k.times(each)?)?;
                    let inner = bound.with([Value::Known(k.clone())]);
                    self.put(space, *body, &at, &inner, engine)
                })
            }
            Kind::Bv(bits) if width > WORD && bits.is_zero() => {
                let count = i64::from(width / WORD);
                engine.repeat(count, &mut |engine, k| {
                    let at = at.plus(&k.times(i64::from(WORD))?)?;
                    engine.write(space, &at, WORD, Value::number(0))
                })
            }
            _ => {
                if let Some(parts) = term.args_of(OpCode::Concat) {
                    let mut low = 0;
                    for part in parts.iter().rev() {
                        self.put(space, *part, &at.offset(low)?, bound, engine)?;
                        low += i64::from(part.width());
                    }
                    return Ok(());
                }
                if let Some([condition, yes, no]) = term.args_of(OpCode::Ite)
                    && width > WORD
                {
                    let holds = self.value(*condition, bound, engine)?;
                    return match super::meaning::decided(&holds) {
                        Some(true) => self.put(space, *yes, at, bound, engine),
                        Some(false) => self.put(space, *no, at, bound, engine),
                        None => Err(Stop::because("a tile is chosen by data")),
                    };
                }
                if width > WORD {
                    for low in (0..width).step_by(WORD as usize) {
                        let part = b::extract(term, low, WORD.min(width - low));
                        let value = self.value(part, bound, engine)?;
                        let at = at.offset(i64::from(low))?;
                        engine.write(space, &at, part.width(), value)?;
                    }
                    return Ok(());
                }
                let mut value = self.value(term, bound, engine)?;
                if let Value::Term(sum) = value {
                    value = Value::Term(engine.leaves.summed(sum)?);
                }
                engine.write(space, at, width, value)
            }
        }
    }
}

/// Rows of a tile that are stored evenly apart.
pub(super) struct Rows {
    tile: Space,
    array: u32,
    /// The first bit there, and in the tile.
    at: Linear,
    low: i64,
    width: u32,
    /// How many rows, and how far apart; how many elements of a row.
    rows: (i64, i64),
    columns: i64,
}

impl Rows {
    /// The rows that stores are, in order; none when they are not so.
    pub(super) fn of(meaning: &Meaning<'_>, stores: &[(u32, Linear, Term)]) -> Option<Rows> {
        let (array, at, first) = stores.first()?;
        let element = |value: &Term| {
            let (op, [source, low]) = value.as_app()? else {
                return None;
            };
            let tile = meaning
                .tile_of(*source)
                .filter(|_| op.code == OpCode::Extract)?;
            Some((tile, low.as_int()?, op.params[0]))
        };
        let (tile, low, width) = element(first)?;
        let step = i64::from(width);
        let behind = |k: usize| stores[k].1.minus(at).ok()?.as_constant();
        let mut columns = 1;
        while columns < stores.len() && behind(columns) == Some(step * columns as i64) {
            columns += 1;
        }
        let apart = match stores.len() > columns {
            true => behind(columns)?,
            false => 0,
        };
        let all = stores.iter().enumerate().all(|(k, (other, _, value))| {
            let (row, column) = ((k / columns) as i64, (k % columns) as i64);
            other == array
                && behind(k) == Some(row * apart + column * step)
                && element(value) == Some((tile, low + step * k as i64, width))
        });
        let whole = stores.len().is_multiple_of(columns);
        (all && whole).then(|| Rows {
            tile,
            array: *array,
            at: at.clone(),
            low,
            width,
            rows: ((stores.len() / columns) as i64, apart),
            columns: columns as i64,
        })
    }

    /// Stores them.
    pub(super) fn stored(&self, engine: &mut Engine<'_>) -> Result<(), Stop> {
        let (step, (rows, apart)) = (i64::from(self.width), self.rows);
        let space = Space::Array(self.array);
        engine.repeat(rows, &mut |engine, i| {
            engine.repeat(self.columns, &mut |engine, j| {
                let number = i.times(self.columns)?.plus(j)?;
                let from = number.times(step)?.offset(self.low)?;
                let to = self.at.plus(&i.times(apart)?)?.plus(&j.times(step)?)?;
                let value = engine.read(self.tile, &from, self.width)?;
                engine.write(space, &to, self.width, value)
            })
        })
    }
}

/// A part of a result, and where it lies as a term over the counters of maps around.
#[derive(Clone, Copy)]
struct Place {
    term: Term,
    at: Term,
}

/// Whether a variable is read in a result only where the read element itself is written.
fn at_itself(place: Place, variable: Term) -> bool {
    let Place { term, at } = place;
    if !free_vars(term).contains(&variable) {
        return true;
    }
    match term.kind() {
        Kind::Map { body, .. } => {
            let each = Term::int(i64::from(body.width()));
            let moved = semantics::subst::shift(at, 1, 0);
            let at = b::int_add(moved, b::int_mul(Term::index(), each));
            at_itself(Place { term: *body, at }, variable)
        }
        _ => {
            if let Some(parts) = term.args_of(OpCode::Concat) {
                let mut low = 0;
                return parts.iter().rev().all(|part| {
                    let at = b::int_add(at, Term::int(low));
                    low += i64::from(part.width());
                    at_itself(Place { term: *part, at }, variable)
                });
            }
            let at = Affine::of(at);
            reads_only(term, (variable, &at, term.width()), &mut HashSet::new())
        }
    }
}

/// Whether a variable occurs only as the bits of an element.
fn reads_only(term: Term, own: (Term, &Affine, u32), seen: &mut HashSet<Term>) -> bool {
    let (variable, at, width) = own;
    if term == variable {
        return false;
    }
    if !seen.insert(term) {
        return true;
    }
    if let Some((op, [source, low])) = term.as_app()
        && op.code == OpCode::Extract
        && *source == variable
    {
        return Affine::of(*low) == *at && op.params[0] == width;
    }
    match term.kind() {
        // Binders inside move the counters.
        Kind::Map { .. } | Kind::Fold { .. } => !free_vars(term).contains(&variable),
        _ => term.children().all(|child| reads_only(child, own, seen)),
    }
}
