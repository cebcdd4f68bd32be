//! Where a float lies.
//!
//! In: a term of 32 or 64 bits that is read as a float. Out: bounds between which its value is, and
//! whether it can be a NaN; of a conversion to an integer the integers that it gives. Arithmetic is
//! bounded at the ends of what it is applied to: rounding never changes an order. A choice is
//! bounded by what it compares, so that a clamp is what it says.

use super::Format;
use crate::bits::Bits;
use crate::build as b;
use crate::op::{Op, OpCode};
use crate::term::Term;
use std::collections::HashMap;

/// A closed interval of floats; both ends are floats of the format.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bounds {
    /// The least value.
    pub lo: f64,
    /// The greatest value.
    pub hi: f64,
    /// Whether the value can be a NaN too.
    pub nan: bool,
}

impl Bounds {
    const ALL: Bounds = Bounds {
        lo: f64::NEG_INFINITY,
        hi: f64::INFINITY,
        nan: true,
    };

    /// The bounds of a term that is read in a format of 32 or 64 bits.
    pub fn of(t: Term, format: Format) -> Bounds {
        match format {
            Format::F32 | Format::F64 => Visit(format, HashMap::new()).of(t),
            Format::F16 | Format::Bf16 => Bounds::ALL,
        }
    }

    /// Whether the value is always a finite number.
    pub fn is_finite(self) -> bool {
        !self.nan && self.lo.is_finite() && self.hi.is_finite()
    }

    fn union(self, other: Bounds) -> Bounds {
        Bounds {
            lo: self.lo.min(other.lo),
            hi: self.hi.max(other.hi),
            nan: self.nan || other.nan,
        }
    }

    fn at_most(self, hi: f64) -> Bounds {
        let (lo, hi) = (self.lo.min(hi), self.hi.min(hi));
        Bounds { lo, hi, ..self }
    }

    fn at_least(self, lo: f64) -> Bounds {
        let (lo, hi) = (self.lo.max(lo), self.hi.max(lo));
        Bounds { lo, hi, ..self }
    }
}

/// The integers that a conversion gives, least and greatest, where what is converted always fits.
pub fn converted(op: Op, args: &[Term]) -> Option<(i128, i128)> {
    let end = |bits: u32| 2f64.powi(bits as i32);
    // Asked of any application: only of conversions anything is looked at.
    let (least, most) = match op.code {
        OpCode::FToSint => (-end(op.params[1] - 1), end(op.params[1] - 1)),
        OpCode::FToUint => (0.0, end(op.params[1])),
        _ => return None,
    };
    let bounds = Bounds::of(args[0], Format::from_code(op.params[0])?);
    let (lo, hi) = (bounds.lo.floor(), bounds.hi.ceil());
    (bounds.is_finite() && least <= lo && hi < most).then_some((lo as i128, hi as i128))
}

struct Visit(Format, HashMap<Term, Bounds>);

impl Visit {
    fn of(&mut self, t: Term) -> Bounds {
        if let Some(&done) = self.1.get(&t) {
            return done;
        }
        let found = self.shape(t).unwrap_or(Bounds::ALL);
        self.1.insert(t, found);
        found
    }

    fn shape(&mut self, t: Term) -> Option<Bounds> {
        use OpCode as C;
        if let Some(bits) = t.as_bits() {
            let value = value(bits)?;
            let (lo, hi) = (value, value);
            return Some(if value.is_nan() {
                Bounds::ALL
            } else {
                Bounds { lo, hi, nan: false }
            });
        }
        let (op, args) = t.as_app()?;
        if op.code == C::Ite {
            return Some(self.choice(args));
        }
        if Format::from_code(op.params[0]) != Some(self.0) && op.code != C::FConvert {
            return None;
        }
        match op.code {
            C::FMin | C::FMax => {
                let [x, y] = [self.of(args[0]), self.of(args[1])];
                Some(extreme(op.code == C::FMax, x, y))
            }
            C::FRound => {
                let x = self.of(args[0]);
                Some(Bounds {
                    lo: x.lo.floor(),
                    hi: x.hi.ceil(),
                    ..x
                })
            }
            C::FAdd | C::FSub | C::FMul | C::FMadd => self.at_ends(op, args),
            C::FSqrt if self.of(args[0]).lo >= 0.0 => self.at_ends(op, args),
            C::FFromSint | C::FFromUint => of_integer(op, args[0]),
            C::FConvert => {
                let from = Format::from_code(op.params[0])?;
                let to = Format::from_code(op.params[1])?;
                let x = (from == Format::F32 && to == self.0).then(|| Bounds::of(args[0], from))?;
                Some(x)
            }
            _ => None,
        }
    }

    /// A choice by an order: each arm that is compared is bounded by the other side.
    fn choice(&mut self, args: &[Term]) -> Bounds {
        let [mut x, mut y] = [self.of(args[1]), self.of(args[2])];
        if let Some(&[p, q]) = args[0].args_of(OpCode::FLt) {
            let [below, above] = [self.of(p), self.of(q)];
            if args[1] == p {
                x = Bounds {
                    nan: false,
                    ..x.at_most(above.hi)
                };
            }
            if args[1] == q {
                x = Bounds {
                    nan: false,
                    ..x.at_least(below.lo)
                };
            }
            // Where they are in no order, one may be a NaN.
            if args[2] == p && !above.nan {
                y = y.at_least(above.lo);
            }
            if args[2] == q && !below.nan {
                y = y.at_most(below.hi);
            }
        }
        x.union(y)
    }

    /// Arithmetic on what is finite: its least and its greatest value are at ends of its operands.
    fn at_ends(&mut self, op: Op, args: &[Term]) -> Option<Bounds> {
        let operands: Vec<Bounds> = args.iter().map(|&x| self.of(x)).collect();
        if !operands.iter().all(|x| x.is_finite()) {
            return None;
        }
        let corner = |k: usize| {
            let end = |(at, x): (usize, &Bounds)| {
                number(self.0, if k >> at & 1 == 0 { x.lo } else { x.hi })
            };
            let ends: Vec<Term> = operands.iter().enumerate().map(end).collect();
            value(b::app(op, &ends).as_bits()?)
        };
        let corners: Option<Vec<f64>> = (0..1 << args.len()).map(corner).collect();
        spanned(&corners?)
    }
}

/// The lesser or the greater of two, which is the second where they are in no order.
fn extreme(greater: bool, x: Bounds, y: Bounds) -> Bounds {
    let (lo, hi) = match (greater, x.nan) {
        (true, false) => (x.lo.max(y.lo), x.hi.max(y.hi)),
        (true, true) => (y.lo, x.hi.max(y.hi)),
        (false, false) => (x.lo.min(y.lo), x.hi.min(y.hi)),
        (false, true) => (x.lo.min(y.lo), y.hi),
    };
    Bounds { lo, hi, nan: y.nan }
}

fn of_integer(op: Op, x: Term) -> Option<Bounds> {
    let signed = op.code == OpCode::FFromSint;
    let (extended, inner) = match x.as_app() {
        Some((extension, inner)) if extension.code == OpCode::Zext => (false, inner[0].width()),
        Some((extension, inner)) if extension.code == OpCode::Sext && signed => {
            (true, inner[0].width())
        }
        _ => (signed, x.width()),
    };
    let width = x.width();
    let ends = match extended {
        false => [Bits::zero(width), Bits::ones(inner).zext(width)],
        true => [
            Bits::ones(inner - 1).zext(width).not(),
            Bits::ones(inner - 1).zext(width),
        ],
    };
    let ends: Option<Vec<f64>> = ends
        .into_iter()
        .map(|end| value(b::app(op, &[Term::bits(end)]).as_bits()?))
        .collect();
    spanned(&ends?)
}

/// The bounds of what lies between some numbers.
fn spanned(ends: &[f64]) -> Option<Bounds> {
    let (lo, hi) = ends
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| {
            (lo.min(*x), hi.max(*x))
        });
    let nan = ends.iter().any(|x| x.is_nan());
    (!nan).then_some(Bounds { lo, hi, nan })
}

/// The float that a pattern of 32 or 64 bits is.
pub fn value(bits: &Bits) -> Option<f64> {
    let pattern = bits.to_u64()?;
    match bits.width() {
        32 => Some(f64::from(f32::from_bits(u32::try_from(pattern).ok()?))),
        64 => Some(f64::from_bits(pattern)),
        _ => None,
    }
}

/// The pattern of a float of a format of 32 or 64 bits.
pub fn number(format: Format, x: f64) -> Term {
    match format {
        Format::F32 => Term::bv(32, i128::from((x as f32).to_bits())),
        _ => Term::bv(64, i128::from(x.to_bits())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::{CompiledTerms, Input};
    use crate::float::Rounding;
    use crate::random::Random;
    use crate::sort::Sort;
    use crate::value::Value;

    /// An expression of a float `x`, of a byte `i`, and of constants.
    fn expression(random: &mut Random, depth: u32) -> Term {
        use OpCode as C;
        let format = Format::F32.code();
        let nearest = Rounding::NearestEven.code();
        if depth == 0 || random.below(6) == 0 {
            let byte = Term::var("i", Sort::Bv(8));
            let near = *random.pick(&[0.0f64, -1.0, 255.0, 0.5, 127.5, -300.25, 1e9]);
            return match random.below(4) {
                0 => Term::var("x", Sort::Bv(32)),
                1 => b::app(
                    Op::with2(C::FFromSint, format, nearest),
                    &[b::zext(byte, 32)],
                ),
                2 => b::app(
                    Op::with2(C::FFromSint, format, nearest),
                    &[b::sext(byte, 32)],
                ),
                _ => number(Format::F32, near),
            };
        }
        let mut part = || expression(random, depth - 1);
        let [x, y, z] = [part(), part(), part()];
        let plain = |code| Op::with(code, format);
        let rounded = |code| Op::with2(code, format, nearest);
        match random.below(9) {
            0 => b::app(plain(C::FMin), &[x, y]),
            1 => b::app(plain(C::FMax), &[x, y]),
            2 => b::app(rounded(C::FAdd), &[x, y]),
            3 => b::app(rounded(C::FSub), &[x, y]),
            4 => b::app(rounded(C::FMul), &[x, y]),
            5 => b::app(rounded(C::FMadd), &[x, y, z]),
            6 => b::app(rounded(C::FRound), &[x]),
            7 => b::ite(b::app(plain(C::FLt), &[x, y]), x, y),
            _ => b::ite(b::app(plain(C::FLt), &[x, y]), y, x),
        }
    }

    fn pattern(random: &mut Random) -> u64 {
        let bits = random.next_bits() & 0xffff_ffff;
        let special = [
            0,
            1 << 31,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0000,
            0x7f80_0001,
        ];
        match random.below(3) {
            0 => *random.pick(&special),
            1 => bits,
            _ => u64::from(((bits % 2000) as f32 - 1000.0).to_bits()),
        }
    }

    #[test]
    fn values_lie_within_their_bounds() {
        let mut random = Random::new(11);
        let inputs = [("x", 32), ("i", 8)].map(|(name, width)| Input {
            name: name.to_owned(),
            sort: Sort::Bv(width),
        });
        let mut bounded = 0;
        for _ in 0..600 {
            let t = expression(&mut random, 4);
            let bounds = Bounds::of(t, Format::F32);
            bounded += usize::from(bounds.is_finite());
            let op = Op::with3(
                OpCode::FToSint,
                Format::F32.code(),
                32,
                random.below(4) as u32,
            );
            let whole = b::app(op, &[t]);
            let range = converted(op, &[t]);
            let program = CompiledTerms::compile(&[t, whole], &inputs).expect("closed");
            for _ in 0..40 {
                let (x, i) = (pattern(&mut random), random.below(256));
                let values = [Bits::from_u64(32, x), Bits::from_u64(8, i)].map(Value::Bv);
                let results = program.run(&values);
                let found = value(results[0].bits()).expect("32 bits");
                let inside = bounds.lo <= found && found <= bounds.hi;
                assert!(
                    inside || found.is_nan() && bounds.nan,
                    "{t} is {found}: {bounds:?}"
                );
                let whole = i128::from(results[1].bits().low_u64() as u32 as i32);
                let within = |(lo, hi): (i128, i128)| (lo..=hi).contains(&whole);
                assert!(range.is_none_or(within), "{t} becomes {whole}: {range:?}");
            }
        }
        assert!(bounded > 60, "only {bounded} have bounds");
    }
}
