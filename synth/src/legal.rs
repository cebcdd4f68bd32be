//! Values of widths that no register has.
//!
//! In: a flat term of one lane; what must not wrap is often written one or two bits wider
//! than an element. Out: an equal term in which such values are computed in the next width
//! that registers have. Each piece between values of usual widths is rewritten by itself and
//! proved equal; where that fails it is left as it is.

use crate::fragment::{Fragment, is_much, rebuild, regular, replace, replace_below};
use semantics::bits::Bits;
use semantics::build as b;
use semantics::op::{Op, OpCode};
use semantics::sort::Sort;
use semantics::term::Term;
use smt::prover::Prover;
use smt::verdict::Verdict;
use std::collections::{HashMap, HashSet};

/// An equal term without values of odd widths, as far as that succeeds.
pub fn legalize(t: Term, prover: &Prover) -> Term {
    let mut pass = Pass {
        prover,
        done: HashMap::new(),
        stuck: HashSet::new(),
        passed: HashSet::new(),
    };
    pass.visit(t)
}

struct Pass<'a> {
    prover: &'a Prover,
    done: HashMap<Term, Term>,
    /// Values whose own piece could not be rewritten: it is tried as part of its users'.
    stuck: HashSet<Term>,
    /// Values of odd widths below which those of usual widths were visited.
    passed: HashSet<Term>,
}

impl Pass<'_> {
    fn visit(&mut self, t: Term) -> Term {
        if let Some(&done) = self.done.get(&t) {
            return done;
        }
        let simpler = self.low_field(t).or_else(|| self.raised(t));
        let simpler = simpler.or_else(|| self.extended_low_field(t));
        if let Some(field) = simpler.or_else(|| self.extended_choice(t)) {
            self.done.insert(t, field);
            return field;
        }
        for c in crate::fragment::operands(t) {
            self.visit_regular(c);
        }
        let mut border = Border::default();
        self.border(t, &mut border);
        let Border { leaves, odd, .. } = border;
        let mut map: HashMap<Term, Term> = leaves.iter().map(|&l| (l, self.visit(l))).collect();
        let out = match odd {
            true => self.piece(t, &leaves, &map).unwrap_or_else(|| {
                self.stuck.insert(t);
                replace_below(t, &mut map)
            }),
            false => rebuild(t, |c| self.visit(c)),
        };
        self.done.insert(t, out);
        out
    }

    /// A field of a value of an odd width whose bits depend on no higher bits of what it is
    /// made of: the same field of the value in the next usual width. This needs no proof and
    /// has no bound on its size.
    fn low_field(&mut self, t: Term) -> Option<Term> {
        let args = t.args_of(OpCode::Extract)?;
        let lo = u32::try_from(args[1].as_int()?).ok()?;
        if regular(args[0]) || !regular(t) {
            return None;
        }
        let to = next(args[0].width())?;
        let wide = self.low_bits(args[0], to, &mut HashMap::new())?;
        let down = match lo {
            0 => wide,
            _ => raw(
                Op::new(OpCode::BvLshr),
                &[wide, Term::bv(to, i128::from(lo))],
            )?,
        };
        resize(down, t.width(), false)
    }

    /// The same, where the field is extended: shifted to the top and back, or the bits above it cleared.
    fn extended_low_field(&mut self, t: Term) -> Option<Term> {
        let (op, args) = t.as_app()?;
        let down = match op.code {
            OpCode::Zext => OpCode::BvLshr,
            OpCode::Sext => OpCode::BvAshr,
            _ => return None,
        };
        let &[x, lo] = args[0].args_of(OpCode::Extract)? else {
            return None;
        };
        let (w, n, lo) = (
            t.width(),
            args[0].width(),
            u32::try_from(lo.as_int()?).ok()?,
        );
        if regular(x) || !regular(t) || x.width() > w {
            return None;
        }
        let wide = self.low_bits(x, w, &mut HashMap::new())?;
        let shifted = |code: OpCode, x: Term, by: u32| match by {
            0 => Some(x),
            _ => two(code, x, Term::bv(w, by.into())),
        };
        if op.code == OpCode::Zext {
            let low = shifted(down, wide, lo)?;
            return two(OpCode::BvAnd, low, Term::bits(Bits::ones(n).zext(w)));
        }
        shifted(down, shifted(OpCode::BvShl, wide, w - lo - n)?, w - n)
    }

    /// A value of an odd width above zeros: shifted up there, what lies above its own bits is lost.
    fn raised(&mut self, t: Term) -> Option<Term> {
        let &[x, low] = t.args_of(OpCode::Concat)? else {
            return None;
        };
        let nothing = low.as_bits()?.to_u64()? == 0;
        if !nothing || regular(x) || !regular(t) {
            return None;
        }
        let value = self.low_bits(x, t.width(), &mut HashMap::new())?;
        let by = Term::bv(t.width(), i128::from(low.width()));
        raw(Op::new(OpCode::BvShl), &[value, by])
    }

    /// A choice of odd width that is extended: of what is extended.
    fn extended_choice(&mut self, t: Term) -> Option<Term> {
        let (op, args) = t.as_app()?;
        let extends = matches!(op.code, OpCode::Zext | OpCode::Sext);
        if !extends || regular(args[0]) || !regular(t) {
            return None;
        }
        let &[test, x, y] = args[0].args_of(OpCode::Ite)? else {
            return None;
        };
        let signed = op.code == OpCode::Sext;
        let extended = |x: Term| match x.args_of(op.code) {
            Some(&[inner]) => resize(inner, t.width(), signed),
            _ if x.as_bits().is_some() => Some(b::app(op, &[x])),
            _ => resize(x, t.width(), signed),
        };
        let choice = raw(Op::new(OpCode::Ite), &[test, extended(x)?, extended(y)?])?;
        Some(self.visit(choice))
    }

    /// A value whose low bits are those of `x`, in another width.
    fn low_bits(&mut self, x: Term, to: u32, known: &mut HashMap<Term, Term>) -> Option<Term> {
        use OpCode as C;
        if let Some(&done) = known.get(&x) {
            return Some(done);
        }
        if let Some(bits) = x.as_bits() {
            return Some(Term::bits(bits.zext(to)));
        }
        let (op, args) = x.as_app()?;
        let done = match op.code {
            C::BvAdd
            | C::BvSub
            | C::BvMul
            | C::BvNeg
            | C::BvNot
            | C::BvAnd
            | C::BvOr
            | C::BvXor => {
                let parts: Option<Vec<Term>> =
                    args.iter().map(|&a| self.low_bits(a, to, known)).collect();
                raw(op, &parts?)?
            }
            C::BvShl => {
                let by = args[1].as_bits()?.zext(to);
                raw(op, &[self.low_bits(args[0], to, known)?, Term::bits(by)])?
            }
            C::Zext | C::Sext if regular(args[0]) => {
                let signed = op.code == C::Sext;
                resize(self.visit(args[0]), to, signed)?
            }
            C::Extract if regular(args[0]) => {
                let (of, lo) = (self.visit(args[0]), args[1].as_int()?);
                let down = match lo {
                    0 => of,
                    _ => two(C::BvLshr, of, Term::bv(of.width(), lo.into()))?,
                };
                resize(down, to, false)?
            }
            _ => return None,
        };
        known.insert(x, done);
        Some(done)
    }

    /// Visits the nearest values of usual widths.
    fn visit_regular(&mut self, t: Term) {
        if regular(t) {
            self.visit(t);
        } else if self.passed.insert(t) {
            for c in crate::fragment::operands(t) {
                self.visit_regular(c);
            }
        }
    }

    /// The piece between a value and its border, rewritten.
    fn piece(&self, t: Term, leaves: &[Term], map: &HashMap<Term, Term>) -> Option<Term> {
        if leaves.len() > MAX_BORDER || t.sort() == Sort::Bool {
            return None;
        }
        let new = rewritten(&Fragment::new(t, leaves), self.prover)?;
        let mut back: HashMap<Term, Term> = HashMap::new();
        for (k, l) in leaves.iter().enumerate() {
            let variable = crate::fragment::variable(k, crate::fragment::lane_width(*l));
            let place = match l.sort() {
                Sort::Bool => b::eq(variable, Term::bv(1, 1)),
                _ => variable,
            };
            back.insert(place, map[l]);
        }
        Some(replace(new, &mut back))
    }

    /// Adds what lies around a term that is none of the usual widths, or reads such.
    fn border(&self, t: Term, border: &mut Border) {
        for c in crate::fragment::operands(t) {
            if c.as_bits().is_some() || c.as_bool().is_some() || !border.seen.insert(c) {
                continue;
            }
            // What a condition says of the values beside it belongs to the piece.
            let condition = c.sort() == Sort::Bool;
            let stuck = self.stuck.contains(&c);
            border.odd |= condition && compares_odd(c) || stuck || !regular(c);
            if c.as_var().is_some() || regular(c) && !condition && !stuck {
                border.leaves.push(c);
            } else {
                self.border(c, border);
            }
        }
    }
}

/// What lies around a piece.
#[derive(Default)]
struct Border {
    /// Values of usual widths, in the order in which they are met.
    leaves: Vec<Term>,
    /// Whether there are others between.
    odd: bool,
    seen: HashSet<Term>,
}

/// The most values at the border of a piece.
const MAX_BORDER: usize = 6;

fn compares_odd(t: Term) -> bool {
    let (mut seen, mut work) = (HashSet::new(), vec![t]);
    while let Some(t) = work.pop() {
        for c in crate::fragment::operands(t) {
            match c.sort() {
                Sort::Bool if seen.insert(c) => work.push(c),
                Sort::Bool => {}
                _ if !regular(c) => return true,
                _ => {}
            }
        }
    }
    false
}

/// The piece in wider values, proved equal to it.
fn rewritten(piece: &Fragment, prover: &Prover) -> Option<Term> {
    if is_much(piece.term) {
        return None;
    }
    let rounded = halved_first(piece.term);
    let proposals = [rounded.and_then(wide), wide(piece.term)];
    proposals.into_iter().flatten().find(|&new| {
        new.sort() == piece.term.sort()
            && matches!(prover.prove_equal(new, piece.term), Verdict::Proved(_))
    })
}

/// A term in which `(x + 2^(n-1)) >> n` of an extended `x` is `((x >> (n-1)) + 1) >> 1`, or for
/// one bit `(x >> 1) + (x & 1)`, which needs no wider values; nothing when there is none.
fn halved_first(t: Term) -> Option<Term> {
    let (op, args) = t.as_app()?;
    if let Some((x, n, signed)) = rounding(op, args) {
        let code = if signed {
            OpCode::BvAshr
        } else {
            OpCode::BvLshr
        };
        let down = if n == 1 {
            // Half of a value, and the bit that is lost.
            let two = |code: OpCode, x: Term, y: Term| raw(Op::new(code), &[x, y]);
            let one = Term::bv(x.width(), 1);
            let bit = two(OpCode::BvAnd, x, one)?;
            two(OpCode::BvAdd, two(code, x, one)?, bit)?
        } else {
            rounded_up(code, x, n)?
        };
        return resize(down, t.width(), signed);
    }
    let mut changed = false;
    let parts: Vec<Term> = args
        .iter()
        .map(|&a| {
            let new = halved_first(a);
            changed |= new.is_some();
            new.unwrap_or(a)
        })
        .collect();
    changed.then(|| raw(op, &parts)).flatten()
}

/// `((x >> (n-1)) + 1) >> 1` by a shift of either kind, for `n >= 1`: a rounding shift that
/// needs no wider values.
pub(crate) fn rounded_up(shift: OpCode, x: Term, n: u32) -> Option<Term> {
    let number = |n: u32| Term::bv(x.width(), n.into());
    let by = |t: Term, n: u32| raw(Op::new(shift), &[t, number(n)]);
    let rest = raw(Op::new(OpCode::BvAdd), &[by(x, n - 1)?, number(1)])?;
    by(rest, 1)
}

/// The value, the count and the signedness of a rounding shift of an extended value.
pub(crate) fn rounding(op: Op, args: &[Term]) -> Option<(Term, u32, bool)> {
    if op.code != OpCode::Extract {
        return None;
    }
    let n = u32::try_from(args[1].as_int()?).ok().filter(|&n| n >= 1)?;
    let sum = args[0].args_of(OpCode::BvAdd)?;
    let half = sum[1].as_bits()?.to_u64()? == 1 << (n - 1).min(63);
    let (extension, from) = sum[0].as_app()?;
    let signed = extension.code == OpCode::Sext;
    let fits = half && (signed || extension.code == OpCode::Zext) && regular(from[0]);
    (fits && n < from[0].width()).then_some((from[0], n, signed))
}

/// Everything computed in usual widths, as if nothing wrapped.
fn wide(t: Term) -> Option<Term> {
    use OpCode as C;
    let Some((op, args)) = t.as_app() else {
        return Some(t);
    };
    let rest = || -> Option<Term> {
        let parts: Option<Vec<Term>> = args.iter().map(|&a| wide(a)).collect();
        raw(op, &parts?)
    };
    let odd = args
        .first()
        .is_some_and(|x| x.sort() != Sort::Bool && !narrow_or_regular(*x));
    match op.code {
        C::SatSS | C::SatSU if odd => raw(op, &[lifted(args[0], true)?]),
        C::SatUS | C::SatUU if odd => raw(op, &[lifted(args[0], false)?]),
        C::Extract if odd => {
            let lo = args[1].as_int()?;
            let x = lifted(args[0], looks_signed(args[0]))?;
            let down = match lo {
                0 => x,
                _ => raw(
                    Op::new(C::BvLshr),
                    &[x, Term::bv(x.width(), i128::from(lo))],
                )?,
            };
            resize(down, t.width(), false)
        }
        C::Zext | C::Sext if odd => {
            let signed = op.code == C::Sext;
            resize(lifted(args[0], signed)?, t.width(), signed)
        }
        C::BvSlt | C::BvSle if odd => compare(op, args, true),
        C::BvUlt | C::BvUle if odd => compare(op, args, false),
        C::Eq if odd => compare(op, args, looks_signed(args[0])),
        _ if odd => None,
        _ => rest(),
    }
}

fn narrow_or_regular(t: Term) -> bool {
    regular(t) || t.sort() == Sort::Bv(1) || t.as_int().is_some()
}

/// An application as it stands: the usual constructors would bring back odd widths.
pub fn raw(op: Op, args: &[Term]) -> Option<Term> {
    Term::raw_app(op, args).ok()
}

/// An operator of two operands.
pub(crate) fn two(code: OpCode, x: Term, y: Term) -> Option<Term> {
    raw(Op::new(code), &[x, y])
}

/// Two operands of what commutes, a constant last.
pub(crate) fn constant_last([x, y]: [Term; 2]) -> (Term, Term) {
    match x.as_bits() {
        Some(_) => (y, x),
        None => (x, y),
    }
}

/// A value in another width, as it stands.
pub fn resize(x: Term, to: u32, signed: bool) -> Option<Term> {
    match x.width() {
        w if w == to => Some(x),
        w if w > to => raw(Op::with(OpCode::Extract, to), &[x, Term::int(0)]),
        _ if signed => raw(Op::with(OpCode::Sext, to), &[x]),
        _ => raw(Op::with(OpCode::Zext, to), &[x]),
    }
}

fn compare(op: Op, args: &[Term], signed: bool) -> Option<Term> {
    raw(op, &[lifted(args[0], signed)?, lifted(args[1], signed)?])
}

/// A value in the next usual width, extended by the given signedness.
fn lifted(x: Term, signed: bool) -> Option<Term> {
    use OpCode as C;
    let w = x.sort().width()?;
    if regular(x) {
        return wide(x);
    }
    let to = next(w)?;
    if let Some(bits) = x.as_bits() {
        let wide = if signed { bits.sext(to) } else { bits.zext(to) };
        return Some(Term::bits(wide));
    }
    let (op, args) = x.as_app()?;
    let all = |signed: bool| -> Option<Term> {
        let parts: Option<Vec<Term>> = args.iter().map(|&a| lifted(a, signed)).collect();
        raw(op, &parts?)
    };
    let shift = |signed: bool| raw(op, &[lifted(args[0], signed)?, lifted(args[1], false)?]);
    match op.code {
        C::Sext | C::Zext => {
            let own = op.code == C::Sext;
            resize(lifted(args[0], own)?, to, own)
        }
        // A constant with its top bit set is what is taken away.
        C::BvAdd => {
            let part = |a: Term| lifted(a, signed || a.as_bits().is_some());
            raw(op, &[part(args[0])?, part(args[1])?])
        }
        C::BvSub | C::BvMul | C::BvNeg | C::BvAnd | C::BvOr | C::BvXor => all(signed),
        // Of the bits above its own none is a one where it is without sign.
        C::BvNot => {
            let own = if signed { to } else { w };
            let ones = Term::bits(Bits::ones(own).zext(to));
            raw(Op::new(C::BvXor), &[lifted(args[0], signed)?, ones])
        }
        C::Smin | C::Smax => all(true),
        C::Umin | C::Umax => all(false),
        C::BvAshr => shift(true),
        C::BvLshr => shift(false),
        C::BvShl => shift(signed),
        C::Ite => raw(
            op,
            &[
                wide(args[0])?,
                lifted(args[1], signed)?,
                lifted(args[2], signed)?,
            ],
        ),
        C::Extract => {
            let from = lifted(args[0], looks_signed(args[0]))?;
            let lo = u32::try_from(args[1].as_int()?).ok()?;
            let (field, own) = field(from, lo, w, signed)?;
            resize(field, to, own)
        }
        _ => None,
    }
}

/// So many bits from `lo` on, extended to the width of the value that they are from, and
/// how.
fn field(x: Term, lo: u32, count: u32, signed: bool) -> Option<(Term, bool)> {
    let width = x.width();
    let number = |n: u32| Term::bv(width, i128::from(n));
    let above = width.checked_sub(lo + count)?;
    let top = match above {
        0 => x,
        _ => raw(Op::new(OpCode::BvShl), &[x, number(above)])?,
    };
    let code = if signed {
        OpCode::BvAshr
    } else {
        OpCode::BvLshr
    };
    Some((raw(Op::new(code), &[top, number(width - count)])?, signed))
}

/// Whether a value comes from signed numbers.
fn looks_signed(t: Term) -> bool {
    crate::lanes::contains(
        t,
        &[OpCode::Sext, OpCode::BvAshr, OpCode::SatSS, OpCode::BvSlt],
    )
}

/// The least usual width that holds so many bits.
fn next(width: u32) -> Option<u32> {
    [8, 16, 32, 64].into_iter().find(|&w| w >= width)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether only values of usual widths are left, and constants.
    fn is_legal(t: Term) -> bool {
        let mut below = crate::fragment::operands(t);
        t.as_bits().is_some() || regular(t) && below.all(is_legal)
    }

    #[test]
    fn fields_above_zeros_are_shifted_up() {
        let x = Term::var("x", Sort::Bv(16));
        let nibble = b::app(
            Op::new(OpCode::BvAdd),
            &[b::extract(x, 0, 4), Term::bv(4, 9)],
        );
        let prover = Prover::new(Default::default());
        for part in [nibble, b::extract(x, 11, 4), b::extract(x, 15, 1)] {
            let t = b::concat(&[part, Term::bv(8 - part.width(), 0)]);
            let new = legalize(t, &prover);
            assert!(is_legal(new), "{t}: {new}");
            assert!(prover.prove_equal(new, t).is_proved(), "{t}: {new}");
        }
    }

    #[test]
    fn shifted_choices_are_choices_of_what_is_shifted() {
        let [x, y, z] = ["x", "y", "z"].map(|name| Term::var(name, Sort::Bv(16)));
        let choice = |x: Term, y: Term, z: Term| {
            let test = raw(Op::new(OpCode::BvUlt), &[x, y]).expect("a comparison");
            raw(Op::new(OpCode::Ite), &[test, x, z]).expect("a choice")
        };
        let part = |t: Term, lo: u32| b::extract(t, lo, 16 - lo);
        let test = raw(Op::new(OpCode::BvUlt), &[z, y]).expect("a comparison");
        for (signed, lo) in [(false, 1), (true, 3)] {
            let inner = resize(part(choice(x, y, z), lo + 1), 16 - lo, signed).expect("a part");
            let both = [test, inner, part(choice(y, z, x), lo)];
            let odd = raw(Op::new(OpCode::Ite), &both).expect("a choice");
            let t = resize(odd, 16, signed).expect("it is longer");
            let prover = Prover::new(Default::default());
            let new = legalize(t, &prover);
            assert!(is_legal(new), "{t}: {new}");
            assert!(prover.prove_equal(new, t).is_proved(), "{t}: {new}");
        }
    }
}
