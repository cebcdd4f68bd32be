//! Faults that are planted in rewrites, in builds for tests only.
//!
//! In: the name of a rewrite and a `Kind`, by `plant`. Out: what that rewrite makes is another term
//! from then on. Only builds with debug assertions have it, which no program that is shipped has:
//! in others there is [`made`] alone, and it changes nothing. So tests need no build of their own.

/// What a rewrite makes.
#[cfg(not(debug_assertions))]
pub fn made(_: &str, to: crate::term::Term) -> crate::term::Term {
    to
}

#[cfg(debug_assertions)]
pub use planted::{Kind, made, plant, planted_times};

#[cfg(debug_assertions)]
mod planted {
    use crate::bits::Bits;
    use crate::eval::{CompiledTerms, Input};
    use crate::op::{Op, OpCode};
    use crate::random::Random;
    use crate::sort::Sort;
    use crate::subst::free_vars_of;
    use crate::term::{Kind as Node, Term};
    use crate::value::Value;
    use std::collections::HashSet;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::sync::{PoisonError, RwLock};

    /// What is done to a term.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Kind {
        /// Its lowest bit is flipped.
        Bit,
        /// Two arguments of an operator change places.
        Exchanged,
        /// A constant is one more.
        Constant,
        /// What is read as signed is read as unsigned, or the other way round.
        Sign,
        /// An extraction begins one bit further up.
        Offset,
        /// An operator is another one.
        Operator,
    }

    impl Kind {
        /// All kinds.
        pub const ALL: [Kind; 6] = [
            Kind::Bit,
            Kind::Exchanged,
            Kind::Constant,
            Kind::Sign,
            Kind::Offset,
            Kind::Operator,
        ];
    }

    /// Inputs at which a changed term is compared with what it was.
    const TRIED: usize = 200;

    /// Whether any fault is planted: almost never, and every rewrite asks.
    static ANY: AtomicBool = AtomicBool::new(false);
    static PLANTED: RwLock<Option<(String, Kind)>> = RwLock::new(None);
    static TIMES: AtomicUsize = AtomicUsize::new(0);

    /// From now on a rewrite makes other terms.
    pub fn plant(rule: &str, kind: Kind) {
        let mut planted = PLANTED.write().unwrap_or_else(PoisonError::into_inner);
        *planted = Some((rule.to_owned(), kind));
        ANY.store(true, Ordering::Release);
    }

    /// How often a fault has changed what was made.
    pub fn planted_times() -> usize {
        TIMES.load(Ordering::Relaxed)
    }

    /// What a rewrite makes.
    pub fn made(rule: &str, to: Term) -> Term {
        if !ANY.load(Ordering::Acquire) {
            return to;
        }
        let planted = PLANTED.read().unwrap_or_else(PoisonError::into_inner);
        let kind = planted.as_ref().filter(|(name, _)| name == rule);
        match kind.and_then(|(_, kind)| faulty(to, *kind)) {
            Some(other) => {
                TIMES.fetch_add(1, Ordering::Relaxed);
                other
            }
            None => to,
        }
    }

    /// A term with the first place changed at which that changes its value: twice an extension has no
    /// sign, and what is changed there is no fault.
    fn faulty(t: Term, kind: Kind) -> Option<Term> {
        if kind == Kind::Bit {
            return flipped(t);
        }
        let at = |place: usize| changed(t, kind, &mut { place }, &mut HashSet::new());
        (0..).map_while(at).find(|other| differs(t, *other))
    }

    /// Whether two terms have different values at some of the inputs that are tried; what cannot be
    /// evaluated has.
    fn differs(a: Term, b: Term) -> bool {
        let input = |v: Term| {
            Some(Input {
                name: v.as_var()?.to_owned(),
                sort: v.sort(),
            })
        };
        let inputs: Option<Vec<Input>> = free_vars_of([a, b]).into_iter().map(input).collect();
        let closed = a.binders() == 0 && b.binders() == 0;
        let terms = inputs
            .filter(|_| closed)
            .and_then(|inputs| CompiledTerms::compile(&[a, b], &inputs).ok());
        let Some(terms) = terms else { return true };
        let mut random = Random::new(1);
        (0..TRIED).any(|_| {
            let values = terms
                .inputs()
                .iter()
                .map(|input| value(&mut random, input.sort));
            let values: Option<Vec<Value>> = values.collect();
            values.is_none_or(|values| {
                let results = terms.run(&values);
                results[0] != results[1]
            })
        })
    }

    /// A value of a sort, of a few as often as of all: operands that are equal are inputs too.
    fn value(random: &mut Random, sort: Sort) -> Option<Value> {
        Some(match sort {
            Sort::Bool => Value::Bool(random.below(2) == 1),
            Sort::Int => Value::Int(random.below(70) as i64),
            Sort::Bv(width) => Value::Bv(match random.below(6) {
                0 => Bits::zero(width),
                1 => Bits::one(width),
                2 => Bits::ones(width),
                _ => random.bits(width),
            }),
            Sort::Mem => return None,
        })
    }

    /// A term changed where that can be done, behind so many such places; `seen` are the terms that are
    /// behind it.
    fn changed(t: Term, kind: Kind, places: &mut usize, seen: &mut HashSet<Term>) -> Option<Term> {
        if !seen.insert(t) {
            return None;
        }
        if let Some(here) = here(t, kind) {
            match places.checked_sub(1) {
                Some(left) => *places = left,
                None => return Some(here),
            }
        }
        let (op, args) = t.as_app()?;
        let (at, other) = args
            .iter()
            .enumerate()
            .find_map(|(k, &arg)| Some((k, changed(arg, kind, places, seen)?)))?;
        let mut args = args.to_vec();
        args[at] = other;
        Term::raw_app(op, &args).ok()
    }

    fn flipped(t: Term) -> Option<Term> {
        let (code, other) = match t.sort() {
            Sort::Bool => return Term::raw_app(Op::new(OpCode::Not), &[t]).ok(),
            Sort::Bv(width) => (OpCode::BvXor, Term::bits(Bits::one(width))),
            Sort::Int => (OpCode::IntAdd, Term::int(1)),
            Sort::Mem => return None,
        };
        Term::raw_app(Op::new(code), &[t, other]).ok()
    }

    fn here(t: Term, kind: Kind) -> Option<Term> {
        if kind == Kind::Constant {
            return match t.kind() {
                Node::Bv(bits) => Some(Term::bits(bits.add(&Bits::one(bits.width())))),
                Node::Bool(truth) => Some(Term::bool(!truth)),
                _ => None,
            };
        }
        let (op, args) = t.as_app()?;
        let (mut op, mut args) = (op, args.to_vec());
        match kind {
            Kind::Exchanged => {
                let last = args.len().checked_sub(2)?;
                if op.info().commutative {
                    return None;
                }
                args.swap(last, last + 1);
            }
            Kind::Offset => {
                let inside = args[0].sort().width()?;
                let lo = args
                    .get(1)?
                    .as_int()
                    .filter(|_| op.code == OpCode::Extract)?;
                let next = if lo + 1 < i64::from(inside) {
                    lo + 1
                } else {
                    lo - 1
                };
                args[1] = Term::int(next);
            }
            Kind::Sign => op.code = other_sign(op.code)?,
            Kind::Operator => {
                op.code = match op.code {
                    OpCode::BvAdd | OpCode::BvSub if t.width() == 1 => OpCode::BvOr,
                    code => other(code)?,
                };
            }
            Kind::Bit | Kind::Constant => return None,
        }
        Term::raw_app(op, &args).ok().filter(|&other| other != t)
    }

    fn other_sign(code: OpCode) -> Option<OpCode> {
        use OpCode as C;
        let pairs = [
            (C::Zext, C::Sext),
            (C::BvUlt, C::BvSlt),
            (C::BvUle, C::BvSle),
            (C::BvLshr, C::BvAshr),
            (C::Umin, C::Smin),
            (C::Umax, C::Smax),
            (C::SatSS, C::SatUS),
            (C::SatSU, C::SatUU),
        ];
        one_of(&pairs, code)
    }

    fn other(code: OpCode) -> Option<OpCode> {
        use OpCode as C;
        let pairs = [
            (C::And, C::Or),
            (C::BvAnd, C::BvOr),
            (C::BvAdd, C::BvSub),
            (C::BvNot, C::BvNeg),
            (C::BvXor, C::BvMul),
            (C::BvUlt, C::BvUle),
            (C::BvSlt, C::BvSle),
            (C::Umin, C::Umax),
            (C::Smin, C::Smax),
            (C::BvShl, C::BvLshr),
            (C::IntAdd, C::IntMul),
        ];
        one_of(&pairs, code)
    }

    /// The other of a pair.
    fn one_of(pairs: &[(OpCode, OpCode)], code: OpCode) -> Option<OpCode> {
        pairs.iter().find_map(|&(a, b)| match code {
            _ if code == a => Some(b),
            _ if code == b => Some(a),
            _ => None,
        })
    }
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::{Kind, made, plant};
    use crate::build as b;
    use crate::sort::Sort;
    use crate::term::Term;

    #[test]
    fn what_changes_no_value_is_no_fault() {
        let x = Term::var("x", Sort::Bv(8));
        // Twice an extension by one bit has no sign.
        let doubled = b::mul(b::zext(b::extract(x, 0, 7), 8), Term::bv(8, 2));
        plant("doubled", Kind::Sign);
        assert_eq!(made("doubled", doubled), doubled);
        // Behind it there is something that has one.
        let half = b::zext(b::extract(x, 0, 4), 8);
        let sum = b::add(doubled, half);
        let signed = b::add(doubled, b::sext(b::extract(x, 0, 4), 8));
        assert_eq!(made("doubled", sum), signed);
    }
}
