//! Functions each of whose bits is a sum of bits of one value, as matrices of bits.
//!
//! In: a term of logic, shifts by constants, fields and extensions. Out: the value on which alone it
//! depends, or the sum of such as it treats alike, and which of that value's bits are added up in each of its own: exclusively (`xor`), or
//! as "any of them" (`or`; "all of them" is that of the opposites). Parities, Gray codes, reversals,
//! interleaved bits, bits smeared below the first one, rounds of generators of random numbers are such
//! functions. Shifts move through logic wherever terms are made, so the few steps by which people write
//! them are one sum of many parts by then; [`factored`] finds few steps again.
//!
//! It knows no instructions; who uses a term proves it.

mod factor;

use crate::fragment::{constant_bits, rebuild, regular};
use crate::legal::{raw, resize, two};
use factor::Step;
use semantics::bits::Bits;
use semantics::op::{Op, OpCode};
use semantics::sort::Sort;
use semantics::term::Term;
use std::collections::{HashMap, HashSet};

/// Terms with more nodes than this are not read.
const MOST_NODES: usize = 1_000;
/// Bits of all arguments together.
const MOST_BITS: usize = 128;
/// Terms with fewer operations than this are as short as they can be, nearly always: by steps.
const FEW: usize = 4;

/// How bits are added up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sum {
    Xor,
    Or,
}

/// `f(x) = M·(x ^ before) ^ after`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct BitMatrix {
    sum: Sum,
    /// Bits of the widest of argument and result.
    width: u32,
    /// The argument's bits that each bit of the result adds up.
    rows: Vec<u64>,
    /// Bits of the argument that may be ones.
    columns: u64,
    before: u64,
    after: u64,
}

/// One bit of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Bit {
    Constant(bool),
    /// Bits of the arguments, one behind the other, how they are added up where there are more than one,
    /// and whether the sum is inverted.
    Of(u128, Added, bool),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Added {
    Alone,
    Xor,
    Or,
    And,
}

/// Shorter ways to write a term that is a matrix of bits.
#[derive(Default)]
pub(crate) struct Factored {
    /// By few steps, or whether there are any at all.
    pub terms: Vec<Term>,
    /// By counting bits: what is counted, and the whole: of use to machines that count.
    pub counted: Option<(Term, Term)>,
    /// Whether the first of them is less than half as long as the term.
    pub much: bool,
    /// The value that it is a matrix of, and the matrix.
    pub matrix: Option<(Term, BitMatrix)>,
}

/// Shorter ways to write a term that is a matrix of bits.
pub(crate) fn factored(t: Term) -> Factored {
    use OpCode as C;
    let codes = [
        [C::BvXor, C::BvOr, C::BvAnd, C::BvNot, C::Concat, C::Zext],
        [C::Sext, C::BvShl, C::BvLshr, C::BvAshr, C::Rotl, C::Rotr],
    ]
    .concat();
    let mut out = Factored::default();
    if !regular(t) || !t.as_app().is_some_and(|(op, _)| codes.contains(&op.code)) {
        return out;
    }
    let whole = of_whole_values(t, &mut HashMap::new());
    let Some((x, matrix, written)) = Reader::read(whole) else {
        return out;
    };
    if written >= FEW {
        let steps = factor::steps(&matrix).filter(|(_, cost)| (*cost as usize) < written);
        if let Some((steps, cost)) = steps {
            out.much = 2 * cost as usize <= written;
            out.terms.extend(as_term(&matrix, &steps, x, t));
        }
        if x.width() == t.width() {
            out.terms.extend(any(&matrix, x));
            out.counted = counted(&matrix, x);
        }
    }
    out.matrix = Some((x, matrix));
    out
}

/// A term over an argument, by steps.
fn as_term(matrix: &BitMatrix, steps: &[Step], x: Term, t: Term) -> Option<Term> {
    let w = matrix.width;
    let mut now = differing(resize(x, w, false)?, matrix.before)?;
    for step in steps {
        now = step.apply(matrix.sum, now)?;
    }
    resize(differing(now, matrix.after)?, t.width(), false)
}

fn differing(x: Term, mask: u64) -> Option<Term> {
    match mask {
        0 => Some(x),
        _ if mask == ones(x.width()) => raw(Op::new(OpCode::BvNot), &[x]),
        _ => two(OpCode::BvXor, x, constant(x.width(), mask)),
    }
}

/// What is smeared from the first one on, as a shift by the zeros above it; a parity as the lowest bit
/// of a number of ones.
fn counted(matrix: &BitMatrix, x: Term) -> Option<(Term, Term)> {
    let w = matrix.width;
    let x = differing(x, matrix.before)?;
    let below = |i: u32| matrix.rows[i as usize] == ones(w) & !ones(i);
    let (count, whole) = match (matrix.sum, matrix.only_row()) {
        (Sum::Or, _) if (0..w).all(below) => {
            let zeros = raw(Op::new(OpCode::Clz), &[x])?;
            (zeros, two(OpCode::BvLshr, constant(w, ones(w)), zeros)?)
        }
        (Sum::Xor, Some((row, of))) => {
            let some = two(OpCode::BvAnd, x, constant(w, of))?;
            let number = raw(Op::new(OpCode::Popcnt), &[some])?;
            let odd = two(OpCode::BvAnd, number, constant(w, 1))?;
            (number, shifted(odd, i64::from(row))?)
        }
        _ => return None,
    };
    Some((count, differing(whole, matrix.after)?))
}

/// Whether there are any of some bits, as a comparison; what is smeared from the last one on, by what
/// a difference carries.
fn any(matrix: &BitMatrix, x: Term) -> Option<Term> {
    let w = matrix.width;
    if matrix.sum != Sum::Or {
        return None;
    }
    let x = differing(x, matrix.before)?;
    let above = |i: u32| matrix.rows[i as usize] == ones(i + 1);
    let found = if (0..w).all(above) {
        two(OpCode::BvOr, x, raw(Op::new(OpCode::BvNeg), &[x])?)?
    } else {
        let (row, of) = matrix.only_row()?;
        let some = two(OpCode::BvAnd, x, constant(w, of))?;
        let none = two(OpCode::Eq, some, constant(w, 0))?;
        let choice = [none, constant(w, 0), constant(w, 1 << row)];
        raw(Op::new(OpCode::Ite), &choice)?
    };
    differing(found, matrix.after)
}

impl BitMatrix {
    /// Whether a bit of the result adds up one of the argument.
    pub(crate) fn adds(&self, row: u32, column: u32) -> bool {
        self.rows[row as usize] >> column & 1 == 1
    }

    /// Whether each byte of the result is an exclusive sum of bits of that byte of the argument.
    pub(crate) fn is_of_bytes(&self) -> bool {
        let own = |i: usize| 0xff << (i & !7);
        self.sum == Sum::Xor
            && (self.before, self.after) == (0, 0)
            && (self.rows.iter().enumerate()).all(|(i, row)| row & !own(i) == 0)
    }

    /// The one bit of the result that depends on the argument, and on what.
    fn only_row(&self) -> Option<(u32, u64)> {
        let mut rows = (0..).zip(&self.rows).filter(|(_, row)| **row != 0);
        let only = rows.next()?;
        rows.next().is_none().then_some((only.0, *only.1))
    }
}

fn constant(width: u32, mask: u64) -> Term {
    Term::bits(Bits::from_u64(width, mask))
}

/// The value moved up, or down where the number is below 0.
fn shifted(x: Term, by: i64) -> Option<Term> {
    let code = match by {
        0 => return Some(x),
        1.. => OpCode::BvShl,
        _ => OpCode::BvLshr,
    };
    two(code, x, Term::bv(x.width(), i128::from(by.abs())))
}

/// Ones in so many bits, the lowest.
fn ones(width: u32) -> u64 {
    match width {
        64.. => u64::MAX,
        _ => (1 << width) - 1,
    }
}

/// Reads terms as bits of one argument.
struct Reader {
    arguments: Vec<Term>,
    read: HashMap<Term, Option<Vec<Bit>>>,
    operations: usize,
}

impl Reader {
    /// The argument, the matrix, and with how many operations it is written.
    fn read(t: Term) -> Option<(Term, BitMatrix, usize)> {
        let mut reader = Reader {
            arguments: arguments(t)?,
            read: HashMap::new(),
            operations: 0,
        };
        let bits = reader.bits(t)?;
        let kinds: Vec<Added> = bits.iter().filter_map(|bit| bit.added()).collect();
        let kind = kinds.first().copied().unwrap_or(Added::Alone);
        if kinds.iter().any(|other| *other != kind) {
            return None;
        }
        let x = joined(&reader.arguments, kind)?;
        let inverted = kind == Added::And;
        let width = x.width().max(t.width());
        let mut matrix = BitMatrix {
            sum: match kind {
                Added::Or | Added::And => Sum::Or,
                Added::Alone | Added::Xor => Sum::Xor,
            },
            width,
            rows: vec![0; width as usize],
            columns: ones(x.width()),
            before: if inverted { ones(x.width()) } else { 0 },
            after: 0,
        };
        for (i, bit) in bits.iter().enumerate() {
            match *bit {
                Bit::Constant(one) => matrix.after |= u64::from(one) << i,
                Bit::Of(set, _, not) => {
                    matrix.rows[i] = reader.alike(set)?;
                    matrix.after |= u64::from(not != inverted) << i;
                }
            }
        }
        Some((x, matrix, reader.operations))
    }

    /// The bits of one argument in a sum, where those of all others are the same.
    fn alike(&self, set: u128) -> Option<u64> {
        let w = self.arguments.first()?.width();
        let of = |k: usize| (set >> (k as u32 * w)) as u64 & ones(w);
        let all = (1..self.arguments.len()).all(|k| of(k) == of(0));
        all.then(|| of(0))
    }

    fn bits(&mut self, t: Term) -> Option<Vec<Bit>> {
        if let Some(done) = self.read.get(&t) {
            return done.clone();
        }
        let found = self.bits_of(t).filter(|bits| bits.len() <= 64);
        self.read.insert(t, found.clone());
        found
    }

    fn bits_of(&mut self, t: Term) -> Option<Vec<Bit>> {
        if let Some(k) = self.arguments.iter().position(|x| *x == t) {
            let first = k as u32 * t.width();
            let alone = |i| Bit::Of(1u128 << (first + i), Added::Alone, false);
            return Some((0..t.width()).map(alone).collect());
        }
        if let Some(bits) = constant_bits(t) {
            return Some((0..t.width()).map(|i| Bit::Constant(bits.bit(i))).collect());
        }
        let (op, args) = t.as_app()?;
        let w = t.width() as usize;
        self.operations += match op.code {
            OpCode::Extract => 0,
            // Each part is moved to its place.
            OpCode::Concat => 2 * args.len() - 1,
            _ => 1,
        };
        match op.code {
            OpCode::BvNot => Some(self.bits(args[0])?.into_iter().map(Bit::not).collect()),
            OpCode::BvXor => self.added(args, Bit::xor),
            OpCode::BvOr => self.added(args, Bit::or),
            OpCode::BvAnd => self.added(args, |x, y| Some(Bit::or(x.not(), y.not())?.not())),
            OpCode::Zext | OpCode::Sext => {
                let mut bits = self.bits(args[0])?;
                let top = match op.code {
                    OpCode::Sext => *bits.last()?,
                    _ => Bit::Constant(false),
                };
                bits.resize(w, top);
                Some(bits)
            }
            OpCode::Extract => {
                let lo = usize::try_from(args[1].as_int()?).ok()?;
                Some(self.bits(args[0])?.get(lo..lo + w)?.to_vec())
            }
            OpCode::Concat => {
                let parts: Option<Vec<_>> = args.iter().rev().map(|a| self.bits(*a)).collect();
                Some(parts?.concat())
            }
            OpCode::BvShl | OpCode::BvLshr | OpCode::BvAshr | OpCode::Rotl | OpCode::Rotr => {
                let by = usize::try_from(args[1].as_bits()?.to_u64()?).ok()?;
                Some(moved(op.code, &self.bits(args[0])?, by))
            }
            _ => None,
        }
    }

    fn added(&mut self, args: &[Term], of: fn(Bit, Bit) -> Option<Bit>) -> Option<Vec<Bit>> {
        // Each operation has two operands.
        self.operations += args.len().saturating_sub(2);
        let mut sum = self.bits(*args.first()?)?;
        for a in &args[1..] {
            let more = self.bits(*a)?;
            for (x, y) in sum.iter_mut().zip(more) {
                *x = of(*x, y)?;
            }
        }
        Some(sum)
    }
}

fn moved(code: OpCode, bits: &[Bit], by: usize) -> Vec<Bit> {
    let w = bits.len();
    let at = |i: usize| -> Bit {
        match code {
            OpCode::Rotl => bits[(i + w - by % w) % w],
            OpCode::Rotr => bits[(i + by) % w],
            OpCode::BvShl if i >= by => bits[i - by],
            OpCode::BvShl => Bit::Constant(false),
            _ if by < w - i => bits[i + by],
            OpCode::BvAshr => bits[w - 1],
            _ => Bit::Constant(false),
        }
    };
    (0..w).map(at).collect()
}

/// What the sum of arguments is taken of, when all are treated alike.
fn joined(arguments: &[Term], kind: Added) -> Option<Term> {
    let code = match kind {
        Added::Or => OpCode::BvOr,
        Added::And => OpCode::BvAnd,
        Added::Alone | Added::Xor => OpCode::BvXor,
    };
    let (first, others) = arguments.split_first()?;
    others.iter().try_fold(*first, |sum, x| two(code, sum, *x))
}

/// A term in which what is computed of low bits of values is low bits of what is computed of the values: so a
/// sum and what simplification has left of its lower half are one argument.
fn of_whole_values(t: Term, known: &mut HashMap<Term, Term>) -> Term {
    if let Some(&done) = known.get(&t) {
        return done;
    }
    let new = match t.as_app() {
        Some((op, args)) if !is_through(op, args) => crate::alternatives::uncut(t).unwrap_or(t),
        _ => rebuild(t, |x| of_whole_values(x, known)),
    };
    known.insert(t, new);
    new
}

/// Whether an operator is logic, a shift by a constant, a field, an extension.
fn is_through(op: Op, args: &[Term]) -> bool {
    use OpCode as C;
    match op.code {
        C::BvNot | C::BvXor | C::BvOr | C::BvAnd | C::Zext | C::Sext | C::Concat => true,
        C::Extract => args[1].as_int().is_some(),
        C::BvShl | C::BvLshr | C::BvAshr | C::Rotl | C::Rotr => args[1].as_bits().is_some(),
        _ => false,
    }
}

/// The values below a term that are no logic, no shift and no field: of one width, and of no more than
/// [`MOST_BITS`] together.
fn arguments(t: Term) -> Option<Vec<Term>> {
    let (mut found, mut seen, mut work) = (Vec::<Term>::new(), HashSet::new(), vec![t]);
    while let Some(t) = work.pop() {
        if !seen.insert(t) || t.as_int().is_some() || constant_bits(t).is_some() {
            continue;
        }
        if seen.len() > MOST_NODES {
            return None;
        }
        let through = t.as_app().filter(|&(op, args)| is_through(op, args));
        match through {
            Some((_, args)) => work.extend(args),
            None if !regular(t) || t.sort() == Sort::Bool => return None,
            None => found.push(t),
        }
        let width = found.first().map_or(0, |x| x.width());
        let fits = width as usize * found.len() <= MOST_BITS;
        if !fits || found.iter().any(|x| x.width() != width) {
            return None;
        }
    }
    (!found.is_empty()).then_some(found)
}

impl Bit {
    fn added(self) -> Option<Added> {
        match self {
            Bit::Of(_, added, _) if added != Added::Alone => Some(added),
            _ => None,
        }
    }

    fn not(self) -> Bit {
        match self {
            Bit::Constant(one) => Bit::Constant(!one),
            Bit::Of(set, added, not) => Bit::Of(set, added, !not),
        }
    }

    fn xor(x: Bit, y: Bit) -> Option<Bit> {
        use Added as A;
        Some(match (x, y) {
            (Bit::Constant(one), other) | (other, Bit::Constant(one)) => match one {
                true => other.not(),
                false => other,
            },
            (Bit::Of(a, ka, na), Bit::Of(b, kb, nb)) if a == b && ka == kb => {
                Bit::Constant(na != nb)
            }
            (Bit::Of(a, A::Alone | A::Xor, na), Bit::Of(b, A::Alone | A::Xor, nb)) => {
                let set = a ^ b;
                let added = if set.count_ones() == 1 {
                    A::Alone
                } else {
                    A::Xor
                };
                Bit::Of(set, added, na != nb)
            }
            _ => return None,
        })
    }

    fn or(x: Bit, y: Bit) -> Option<Bit> {
        use Added as A;
        Some(match (x, y) {
            (Bit::Constant(true), _) | (_, Bit::Constant(true)) => Bit::Constant(true),
            (Bit::Constant(false), other) | (other, Bit::Constant(false)) => other,
            _ if x == y => x,
            _ if x == y.not() => Bit::Constant(true),
            (Bit::Of(a, A::Alone | A::Or, false), Bit::Of(b, A::Alone | A::Or, false)) => {
                Bit::Of(a | b, A::Or, false)
            }
            (Bit::Of(a, A::Alone | A::And, true), Bit::Of(b, A::Alone | A::And, true)) => {
                Bit::Of(a | b, A::And, true)
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests;
