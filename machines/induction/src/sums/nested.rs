//! Sums inside of functions that are added up, as in a product of a product.
//!
//! In: a part of a sum. Out: the part with variables for the sums in it, and these as shapes with places.
//! A shape is a sum without where its elements lie; two are one when they add the same kinds in boxes of
//! the same sides, so that a shape and its places are a sum.

use super::{Box, Piece, Side, Sums, adds, linear, sums_in};
use crate::linear::Counter;
use crate::stop::Stop;
use crate::value::{Leaf, Leaves, added, addends};
use hashbrown::HashMap;
use semantics::build as b;
use semantics::op::OpCode;
use semantics::sort::Sort;
use semantics::subst::rebuild;
use semantics::term::Term;

/// A box without where it lies: how many places it has, its sides, how often.
type Outline = (usize, Vec<Side>, i128);

/// A sum without where its elements lie, constants aside.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Shape {
    width: u32,
    kinds: Vec<(Term, Vec<Outline>)>,
}

/// All shapes, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Shapes {
    all: Vec<Shape>,
    numbers: HashMap<Shape, u32>,
}

impl Shapes {
    fn number(&mut self, shape: Shape) -> u32 {
        if let Some(&known) = self.numbers.get(&shape) {
            return known;
        }
        let number = u32::try_from(self.all.len()).expect("fewer than that");
        self.all.push(shape.clone());
        self.numbers.insert(shape, number);
        number
    }

    /// The kinds that must be one for two shapes to be of one sum when their places are; none where they
    /// are not.
    fn pairs(&self, a: u32, b: u32) -> Option<Vec<(Term, Term)>> {
        let (a, b) = (&self.all[a as usize], &self.all[b as usize]);
        let boxes = |s: &Shape| s.kinds.iter().map(|k| k.1.clone()).collect::<Vec<_>>();
        let alike = a.width == b.width && boxes(a) == boxes(b);
        let kinds = a.kinds.iter().zip(&b.kinds).map(|(x, y)| (x.0, y.0));
        alike.then(|| kinds.collect())
    }
}

/// What the names of sums inside of kinds begin with.
const NAME: &str = "%sum";

/// The variable of a sum in a kind: its shape, and from which place on its own are.
pub(crate) fn variable(shape: u32, first: usize, width: u32) -> Term {
    Term::var(&format!("{NAME}{shape}.{first}"), Sort::Bv(width))
}

/// The shape that a variable in a kind is of, and its first place.
fn shape(variable: &str) -> Option<(u32, &str)> {
    let (shape, first) = variable.strip_prefix(NAME)?.split_once('.')?;
    Some((shape.parse().ok()?, first))
}

/// A sum inside of a kind that may be one inside of another: its name, what it is there, and the kinds
/// that must be one for it.
pub(crate) type Candidate = (&'static str, Term, Vec<(Term, Term)>);

/// The sums inside of the second of two kinds that lie where the first has one.
pub(crate) fn candidates(leaves: &Leaves, first: &[Term], second: &[Term]) -> Vec<Candidate> {
    let of = |v: &Term| {
        let name = v.as_var()?;
        Some((name, *v, shape(name)?))
    };
    let own: Vec<_> = first.iter().filter_map(of).collect();
    let candidate = |(name, _, (there, at)): (_, _, (u32, &str))| {
        let known = own.iter().find(|o| o.2.1 == at && o.2.0 != there);
        let &(_, variable, (here, _)) = known?;
        Some((name, variable, leaves.shapes.pairs(here, there)?))
    };
    second.iter().filter_map(of).filter_map(candidate).collect()
}

/// A part with variables for the sums in it, and these.
pub(super) fn taken_out(
    leaves: &mut Leaves,
    part: Term,
    around: &[Counter],
) -> Result<(Term, Vec<Piece>), Stop> {
    let mut taking = Taking {
        leaves,
        around,
        out: Vec::new(),
        known: HashMap::new(),
    };
    let term = taking.without(part)?;
    Ok((term, taking.out))
}

struct Taking<'a> {
    leaves: &'a mut Leaves,
    /// The counters over which the part is added.
    around: &'a [Counter],
    out: Vec<Piece>,
    known: HashMap<Term, Term>,
}

impl Taking<'_> {
    fn without(&mut self, term: Term) -> Result<Term, Stop> {
        let variables = self.leaves.variables(term);
        let sum = |v: &Term| matches!(self.leaves.leaf(*v), Some(Leaf::Sum(..)));
        if !variables.iter().any(sum) {
            return Ok(term);
        }
        if let Some(&known) = self.known.get(&term) {
            return Ok(known);
        }
        let low = |t: Term| match t.as_app() {
            Some((op, [x, at])) => {
                op.code == OpCode::Extract && at.as_int() == Some(0) && adds(self.leaves, *x)
            }
            _ => false,
        };
        // The low bits of a sum are one too.
        let done = match adds(self.leaves, term) || low(term) {
            true => self.sum(term)?,
            false => self.inside(term)?,
        };
        self.known.insert(term, done);
        Ok(done)
    }

    fn inside(&mut self, term: Term) -> Result<Term, Stop> {
        let mut stop = None;
        let done = rebuild(term, |child, _| {
            self.without(child).unwrap_or_else(|s| {
                stop = Some(s);
                child
            })
        });
        stop.map_or(Ok(done), Err)
    }

    /// A sum: its variable, its constant, and what is a function of other sums.
    fn sum(&mut self, term: Term) -> Result<Term, Stop> {
        let width = term.width();
        let (mut rest, mut plain) = (b::zero(width), Vec::new());
        for part in addends(term) {
            if linear(self.leaves, part, false) {
                plain.push(part);
                continue;
            }
            let part = match part == term {
                true => self.inside(part)?,
                false => self.without(part)?,
            };
            rest = b::add(rest, part);
        }
        if plain.is_empty() {
            return Ok(rest);
        }
        let form = sums_in(self.leaves, added(&plain, width), self.around)?;
        rest = b::add(rest, Term::bv(width, form.constant));
        if form.kinds.is_empty() {
            return Ok(rest);
        }
        Ok(b::add(rest, self.piece(form)))
    }

    /// The variable of a sum that is handed over.
    fn piece(&mut self, form: Sums) -> Term {
        let (mut kinds, mut places) = (Vec::new(), Vec::new());
        for (kind, boxes) in form.kinds {
            let mut outlines = Vec::new();
            for own in boxes {
                let Box {
                    places: at,
                    sides,
                    times,
                } = own;
                outlines.push((at.len(), sides, times));
                places.extend(at);
            }
            kinds.push((kind, outlines));
        }
        let width = form.width;
        let shape = self.leaves.shapes.number(Shape { width, kinds });
        let same = |p: &&Piece| p.shape == Some(shape) && p.places == places;
        if let Some(known) = self.out.iter().find(same) {
            return known.variable;
        }
        let name = format!("{NAME}-{}", self.out.len());
        let variable = Term::var(&name, Sort::Bv(width));
        self.out.push(Piece {
            variable,
            shape: Some(shape),
            places,
        });
        variable
    }
}
