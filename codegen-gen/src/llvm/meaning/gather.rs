//! Bits of operands as vectors: shuffles.
//!
//! In: terms that are operands, parts of them, or constants. Out: one value with all of them.

use super::super::text::Function;
use super::super::types::{self, Typed, integers};
use super::{Meaning, Place, bits, constant, gcd, lowest};
use semantics::bits::Bits;
use semantics::op::OpCode;
use semantics::sort::Sort;
use semantics::term::Term;

/// The term that another one is bits of, and from which on; operands are bits of themselves.
fn held(t: Term) -> Option<(Term, u32)> {
    if t.as_var().is_some() && t.sort() != Sort::Bool {
        return Some((t, 0));
    }
    let args = t.args_of(OpCode::Extract)?;
    Some((args[0], lowest(args[1])?))
}

/// Whether a term is an operand or bits of one.
pub(super) fn is_held(t: Term) -> bool {
    held(t).is_some_and(|(of, _)| of.as_var().is_some())
}

/// A lane of a shuffle.
enum Lane {
    /// The lane of that source.
    Of(usize, usize),
    Constant(Bits),
    Anything,
}

impl Meaning<'_> {
    /// Bits of operands side by side; nothing when the terms are others.
    pub(super) fn gathered(
        &mut self,
        f: &mut Function<'_>,
        terms: &[Term],
    ) -> Result<Option<String>, String> {
        let width = bits(terms[0]);
        let mut sources: Vec<Term> = Vec::new();
        let mut unit = width;
        for &t in terms.iter().filter(|t| constant(**t).is_none()) {
            let Some((of, lo)) = held(t) else {
                return Ok(None);
            };
            unit = gcd(gcd(unit, lo), of.width());
            if !sources.contains(&of) {
                sources.push(of);
            }
        }
        // Parts of what is computed, at one place of each, are parts of a vector of these.
        let computed = sources.iter().any(|of| of.as_var().is_none());
        if computed && (sources.len() > 1 || terms.len() == 1) {
            return Ok(None);
        }
        if let ([only], Some((of, lo))) = (terms, held(terms[0])) {
            return self.bits_of(f, of, lo, bits(*only)).map(Some);
        }
        if unit < 8 && unit != width {
            return Ok(None);
        }
        self.shuffled(f, terms, &sources, unit).map(Some)
    }

    /// The value of an operand, or of a term.
    fn source(&mut self, f: &mut Function<'_>, of: Term) -> Result<Option<Typed>, String> {
        let Some(name) = of.as_var() else {
            let name = self.pack(f, &[of])?;
            return Ok(Some(Typed::integer(name, of.width())));
        };
        Ok(match self.places.get(name) {
            Some(Place::Memory(pointer, all)) => Some(f.load(&pointer.clone(), 0, *all)),
            Some(Place::Value(value)) => Some(value.clone()),
            Some(Place::Anything(_)) => None,
            None => return Err(format!("`{name}` is not an operand")),
        })
    }

    /// Some bits of an operand as an integer.
    fn bits_of(
        &mut self,
        f: &mut Function<'_>,
        of: Term,
        lo: u32,
        width: u32,
    ) -> Result<String, String> {
        let place = of.as_var().and_then(|name| self.places.get(name));
        if let Some(Place::Memory(pointer, _)) = place
            && lo.is_multiple_of(8)
            && width.is_multiple_of(8)
        {
            let loaded = f.load(&pointer.clone(), lo / 8, width);
            return Ok(f.cast(&loaded, &format!("i{width}")));
        }
        let Some(value) = self.source(f, of)? else {
            return Ok("0".to_owned());
        };
        let unit = gcd(gcd(width, lo), value.width);
        if unit < 8 || value.width <= 64 {
            let whole = f.cast(&value, &format!("i{}", value.width));
            return Ok(f.part(&whole, 1, value.width, lo, width));
        }
        if value.width == width {
            return Ok(f.cast(&value, &format!("i{width}")));
        }
        let lanes = (value.width / unit) as usize;
        let vector = f.cast(&value, &integers(lanes, unit));
        let from = (lo / unit) as usize;
        let taken: Vec<_> = (from..from + (width / unit) as usize).map(Some).collect();
        let name = match taken.len() {
            1 => f.value(&format!(
                "extractelement {} {vector}, i64 {from}",
                integers(lanes, unit)
            )),
            _ => f.shuffle((&vector, "poison"), (lanes, unit), &taken),
        };
        let ty = integers(taken.len(), unit);
        Ok(f.cast(&Typed { name, ty, width }, &format!("i{width}")))
    }

    /// Lanes of sources and constants, in units of so many bits.
    fn shuffled(
        &mut self,
        f: &mut Function<'_>,
        terms: &[Term],
        sources: &[Term],
        unit: u32,
    ) -> Result<String, String> {
        let (width, each) = (bits(terms[0]), bits(terms[0]) / unit);
        let mut vectors = Vec::new();
        for &of in sources {
            vectors.push(self.source(f, of)?.map(|value| {
                let lanes = (value.width / unit) as usize;
                (f.cast(&value, &integers(lanes, unit)), lanes)
            }));
        }
        let mut lanes = Vec::new();
        for &t in terms {
            for k in 0..each {
                lanes.push(match (constant(t), held(t)) {
                    (Some(value), _) => Lane::Constant(value.extract(k * unit, unit)),
                    (None, Some((of, lo))) => {
                        let of = sources.iter().position(|s| *s == of).expect("it was found");
                        match &vectors[of] {
                            Some(_) => Lane::Of(of, (lo / unit + k) as usize),
                            None => Lane::Anything,
                        }
                    }
                    (None, None) => unreachable!("asked by the caller"),
                });
            }
        }
        let name = combined(f, &lanes, &vectors, unit);
        let all = width * terms.len() as u32;
        let value = Typed {
            name,
            ty: integers(lanes.len(), unit),
            width: all,
        };
        Ok(f.cast(&value, &integers(terms.len(), width)))
    }
}

/// The lanes as one vector.
fn combined(
    f: &mut Function<'_>,
    lanes: &[Lane],
    vectors: &[Option<(String, usize)>],
    unit: u32,
) -> String {
    let count = lanes.len();
    let constants = lanes.iter().map(|lane| match lane {
        Lane::Constant(value) => value.clone(),
        _ => Bits::zero(unit),
    });
    let constants = types::numbers(&constants.collect::<Vec<_>>());
    let own = |source: usize| -> Vec<Option<usize>> {
        let lane = |lane: &Lane| match lane {
            Lane::Of(of, at) if *of == source => Some(*at),
            _ => None,
        };
        lanes.iter().map(lane).collect()
    };
    let constant = lanes.iter().any(|lane| matches!(lane, Lane::Constant(_)));
    let mut whole = constant.then_some(constants);
    for (source, vector) in vectors.iter().enumerate() {
        let Some((vector, from)) = vector else {
            continue;
        };
        let taken = own(source);
        let is = |(l, at): (usize, &Option<usize>)| at.is_none_or(|at| at == l);
        let placed = match *from == count && taken.iter().enumerate().all(is) {
            true => vector.clone(),
            false if *from == 1 => f.splat(vector, count, unit),
            false => f.shuffle((vector, "poison"), (*from, unit), &taken),
        };
        whole = Some(match whole {
            None => placed,
            Some(before) => {
                let pick = taken.iter().enumerate();
                let pick = pick.map(|(l, at)| Some(if at.is_some() { count + l } else { l }));
                let pick: Vec<_> = pick.collect();
                f.shuffle((&before, &placed), (count, unit), &pick)
            }
        });
    }
    let whole = whole.unwrap_or_else(|| "zeroinitializer".to_owned());
    match lanes.iter().any(|lane| matches!(lane, Lane::Anything)) {
        // What may be anything is one value for all who read it.
        true => f.value(&format!("freeze {} {whole}", integers(count, unit))),
        false => whole,
    }
}
