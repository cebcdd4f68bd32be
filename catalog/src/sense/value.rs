//! Facts that the operators of a meaning show.
//!
//! In: the term of a result. Out: facts. A term is walked once; offsets of elements, addresses
//! and the bits of masks are told apart from what is computed with.

use super::{Fact, bits};
use autoir::dictionary::Member;
use semantics::instruction::Role;
use semantics::op::{Op, OpCode};
use semantics::term::{Kind, Term};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Deeper terms are not walked.
const MAX_HEIGHT: u32 = 2_000;

/// Which operands a term depends on.
#[derive(Clone, Copy, Default)]
struct Reach {
    /// A register, or memory.
    register: bool,
    /// A mask register.
    mask: bool,
    /// A constant operand.
    constant: bool,
    /// A bound variable: another value for each element.
    each: bool,
}

/// What a term is there for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    /// It is, or becomes, a value of the result.
    Value,
    /// It decides.
    Decides,
    /// It is an address.
    Address,
}

struct Walk<'a> {
    member: &'a Member,
    facts: &'a mut BTreeSet<Fact>,
    seen: HashSet<(usize, Place)>,
    /// The operators that compute values.
    codes: BTreeSet<OpCode>,
    reach: HashMap<usize, Reach>,
}

/// The facts of a result.
pub(super) fn facts(term: Term, member: &Member, facts: &mut BTreeSet<Fact>) {
    if term.height() > MAX_HEIGHT {
        return;
    }
    let mut walk = Walk {
        member,
        facts,
        seen: HashSet::new(),
        codes: BTreeSet::new(),
        reach: HashMap::new(),
    };
    walk.visit(term, Place::Value);
    walk.whole(term);
    let codes = walk.codes;
    let both = |a, b| codes.contains(&a) && codes.contains(&b);
    if both(OpCode::FAdd, OpCode::FSub) || both(OpCode::FMadd, OpCode::FMsub) {
        facts.insert(Fact::Alternate);
    }
}

/// Without extensions of the whole and parts of it from the lowest bit.
fn strip(mut term: Term) -> Term {
    while let Some((op, args)) = term.as_app() {
        let low = || args[1].as_int() == Some(0);
        match op.code {
            OpCode::Zext | OpCode::Sext => term = args[0],
            OpCode::Extract if low() => term = args[0],
            _ => break,
        }
    }
    term
}

/// The one element of a result that is the same for all: the body of its maps.
fn element(mut term: Term) -> Term {
    loop {
        term = match (term.kind(), term.as_app()) {
            (Kind::Map { body, .. }, _) => *body,
            (_, Some((op, args))) if op.code == OpCode::Zext && is_map(args[0]) => args[0],
            _ => return term,
        };
    }
}

fn is_map(term: Term) -> bool {
    matches!(term.kind(), Kind::Map { .. })
}

/// Whether it is an element of an operand, perhaps extended.
fn is_read(term: Term) -> bool {
    let term = match term.as_app() {
        Some((op, args)) if matches!(op.code, OpCode::Zext | OpCode::Sext) => args[0],
        _ => term,
    };
    match term.as_app() {
        Some((op, args)) => op.code == OpCode::Extract && args[0].as_var().is_some(),
        None => term.as_var().is_some(),
    }
}

/// The power of two that a constant is.
fn power(term: Term) -> Option<u32> {
    let bits = term.as_bits()?;
    let value = bits.to_u64()?;
    value.is_power_of_two().then(|| value.trailing_zeros())
}

/// Whether it is zero, or a part of zero.
fn is_zero(term: Term) -> bool {
    match term.args_of(OpCode::Extract) {
        Some(args) => is_zero(args[0]),
        None => term.as_bits().is_some_and(|bits| bits.is_zero()),
    }
}

/// Whether it is a product, perhaps one that a mask may make something else.
fn is_product(term: Term) -> bool {
    match strip(term).as_app() {
        Some((op, args)) if op.code == OpCode::Ite => args[1..].iter().any(|&a| is_product(a)),
        Some((op, _)) => matches!(op.code, OpCode::BvMul | OpCode::FMul),
        None => false,
    }
}

/// Whether memory is read in it, or it is memory that was written.
fn is_memory(term: Term) -> bool {
    match term.as_app() {
        Some((op, _)) if matches!(op.code, OpCode::Read | OpCode::Write) => true,
        Some((op, args)) if matches!(op.code, OpCode::Zext | OpCode::Extract) => is_memory(args[0]),
        _ => false,
    }
}

impl Walk<'_> {
    fn add(&mut self, fact: Fact) {
        self.facts.insert(fact);
    }

    fn role(&self, name: &str) -> Option<Role> {
        let operand = self.member.operands.iter().find(|o| o.name == name)?;
        Some(operand.role)
    }

    fn reach(&mut self, term: Term) -> Reach {
        if let Some(known) = self.reach.get(&term.id()) {
            return *known;
        }
        let mut found = Reach::default();
        match term.kind() {
            Kind::Var { name, .. } => match self.role(name) {
                Some(Role::Mask) => found.mask = true,
                Some(role) if role.is_constant() => found.constant = true,
                Some(Role::Pointer { .. }) => {}
                _ => found.register = true,
            },
            Kind::Bound { .. } => found.each = true,
            _ => {
                for child in term.children() {
                    let one = self.reach(child);
                    found.register |= one.register;
                    found.mask |= one.mask;
                    found.constant |= one.constant;
                    found.each |= one.each;
                }
            }
        }
        self.reach.insert(term.id(), found);
        found
    }

    fn visit(&mut self, term: Term, place: Place) {
        if !self.seen.insert((term.id(), place)) {
            return;
        }
        match term.kind() {
            Kind::Map { body, .. } => self.visit(*body, place),
            Kind::Fold { init, body, .. } => {
                self.fold(*init, *body, place);
                self.visit(*init, place);
                self.visit(*body, place);
            }
            Kind::App { op, args } => {
                if place != Place::Address {
                    self.apply(*op, args, place);
                }
                self.below(*op, args, place);
            }
            _ => {}
        }
    }

    /// Goes on to the arguments.
    fn below(&mut self, op: Op, args: &[Term], place: Place) {
        match op.code {
            OpCode::Read => {
                self.visit(args[0], place);
                self.visit(args[1], Place::Address);
            }
            OpCode::Write => {
                self.visit(args[0], place);
                self.visit(args[1], Place::Address);
                self.visit(args[2], place);
            }
            OpCode::Ite => {
                self.visit(args[0], Place::Decides);
                self.visit(args[1], place);
                self.visit(args[2], place);
            }
            OpCode::Elem | OpCode::Slice => {
                self.visit(args[0], place);
                self.visit(args[1], Place::Address);
            }
            OpCode::Extract => self.visit(args[0], place),
            code if is_shift(code) => {
                self.visit(args[0], place);
                self.visit(args[1], Place::Decides);
            }
            _ => args.iter().for_each(|&a| self.visit(a, place)),
        }
    }

    /// A fold that adds to what is there so far, or takes the least or greatest.
    fn fold(&mut self, init: Term, body: Term, place: Place) {
        let Some((op, args)) = body.as_app() else {
            return;
        };
        let acc = |t: &Term| matches!(t.kind(), Kind::Bound { depth: 0, .. });
        if place != Place::Value || !args.iter().any(acc) {
            return;
        }
        match op.code {
            OpCode::BvAdd | OpCode::FAdd => self.add(Fact::Sum),
            OpCode::FMadd => self.add(Fact::Dot),
            _ => return,
        }
        if args.iter().any(|&a| is_product(a)) {
            self.add(Fact::Dot);
        }
        if is_read(init) {
            self.add(Fact::Accumulate);
        }
    }

    fn apply(&mut self, op: Op, args: &[Term], place: Place) {
        if place == Place::Value {
            self.codes.insert(op.code);
            if let Some(fact) = simple(op.code) {
                self.add(fact);
            }
            self.signs(op.code);
        }
        match op.code {
            OpCode::BvAdd | OpCode::FAdd if place == Place::Value => self.sum(args),
            OpCode::Zext | OpCode::Sext if place == Place::Value && is_read(args[0]) => {
                self.facts.extend(bits(args[0].width()));
                if op.code == OpCode::Zext && args[0].width() >= 8 {
                    self.add(Fact::Unsigned);
                }
            }
            OpCode::BvSub if place == Place::Value => self.add(Fact::Sub),
            OpCode::BvAnd if place == Place::Value => {
                let not = args.iter().any(|a| a.args_of(OpCode::BvNot).is_some());
                self.add(if not { Fact::AndNot } else { Fact::And });
                let negative = |t: Term, of: Term| t.args_of(OpCode::BvNeg) == Some(&[of][..]);
                if negative(args[0], args[1]) || negative(args[1], args[0]) {
                    self.add(Fact::LowestBit);
                }
            }
            OpCode::Abs => {
                let of = strip(args[0]);
                if of.args_of(OpCode::BvSub).is_some() {
                    self.add(Fact::AbsDiff);
                }
            }
            OpCode::Extract if place == Place::Value => self.part(op.params[0], args),
            OpCode::Elem | OpCode::Slice => self.indexed(op, args),
            OpCode::BvLshr | OpCode::BvAshr | OpCode::BvShl if place == Place::Value => {
                self.shift(op.code, args);
            }
            OpCode::Rotl | OpCode::Rotr => self.count(args[1]),
            OpCode::Ite => self.choice(args, place),
            OpCode::Read | OpCode::Write => self.memory(op.code, args),
            OpCode::FRound => self.rounding(op.params[1]),
            OpCode::FToSint | OpCode::FToUint if op.params[2] == TOWARDS_ZERO => {
                self.add(Fact::Truncate);
            }
            _ => {}
        }
        if let Some(fact) = comparison(op.code) {
            self.compared(fact, args);
        }
    }

    /// Which sign an operator reads its arguments with.
    fn signs(&mut self, code: OpCode) {
        use OpCode::{BvAshr, SatSS, SatSU, SatUS, SatUU, Sext, Smax, Smin, Umax, Umin};
        match code {
            Sext | SatSS | SatSU | Smin | Smax | BvAshr => self.add(Fact::Signed),
            SatUS | SatUU | Umin | Umax => self.add(Fact::Unsigned),
            _ => {}
        }
        if matches!(code, SatSU) {
            self.add(Fact::Unsigned);
        }
    }

    fn sum(&mut self, args: &[Term]) {
        let constant = |t: &Term| t.as_bits().is_some();
        let acc = |t: &Term| matches!(t.kind(), Kind::Bound { depth: 0, .. });
        if args.iter().any(|a| constant(a) || acc(a)) {
            return;
        }
        match args.iter().filter(|&&a| is_product(a)).count() {
            0 => self.add(Fact::Add),
            1 => self.add(Fact::MulAdd),
            _ => self.add(Fact::Dot),
        }
        if args.iter().any(|&a| is_read(a)) && !args.iter().all(|&a| is_read(a)) {
            self.add(Fact::Accumulate);
        }
    }

    /// Upper bits: of a product, of a sum with something added for rounding.
    fn part(&mut self, width: u32, args: &[Term]) {
        let Some(low) = args[1].as_int().filter(|&low| low > 0) else {
            return;
        };
        let inner = strip(args[0]);
        if inner.args_of(OpCode::BvMul).is_some() && low + 1 >= i64::from(width) {
            self.add(Fact::HighHalf);
        }
        self.dropped(inner, u32::try_from(low).unwrap_or(0));
    }

    /// Low bits of a value are dropped: halving, rounding.
    fn dropped(&mut self, value: Term, low: u32) {
        let Some(args) = value.args_of(OpCode::BvAdd) else {
            return;
        };
        let half = |t: &Term| power(*t) == low.checked_sub(1);
        let value = match args.iter().position(half) {
            Some(at) => {
                self.add(Fact::Round);
                strip(args[1 - at])
            }
            None => value,
        };
        let upper = value.args_of(OpCode::Extract);
        if upper.is_some_and(|a| strip(a[0]).args_of(OpCode::BvMul).is_some()) {
            self.add(Fact::HighHalf);
        }
        let sum = value.args_of(OpCode::BvAdd);
        if low == 1 && sum.is_some_and(|s| s.iter().all(|&a| is_read(a))) {
            self.add(Fact::Average);
        }
    }

    fn indexed(&mut self, op: Op, args: &[Term]) {
        let (of, by) = (self.reach(args[0]), self.reach(args[1]));
        if of.constant && !of.register && by.register {
            self.add(Fact::TruthTable);
        } else if of.register && op.params[0] > 1 {
            if by.register {
                self.add(Fact::ByIndex);
            } else if by.constant {
                self.add(Fact::ByConstant);
            }
        }
    }

    fn shift(&mut self, code: OpCode, args: &[Term]) {
        let value = strip(args[0]);
        if value.as_bits().is_some() {
            return;
        }
        let both = value.args_of(OpCode::Concat);
        if both.is_some_and(|parts| parts.len() == 2 && parts.iter().all(|&p| !is_zero(p))) {
            self.add(Fact::Funnel);
        } else {
            self.add(match code {
                OpCode::BvShl => Fact::ShiftLeft,
                _ => Fact::ShiftRight,
            });
        }
        if code == OpCode::BvAshr {
            self.add(Fact::Arithmetic);
        }
        // Half of the last place: a constant, or a one that was moved as far.
        let half = |t: &Term| power(*t).is_some() || shifted_one(*t);
        if let Some(sum) = value.args_of(OpCode::BvAdd)
            && sum.iter().any(half)
            && code != OpCode::BvShl
        {
            self.add(Fact::Round);
        }
        self.count(args[1]);
    }

    /// Whether each element has its own count.
    fn count(&mut self, count: Term) {
        let reach = self.reach(count);
        if reach.register && reach.each {
            self.add(Fact::ByVector);
        }
    }

    fn choice(&mut self, args: &[Term], place: Place) {
        let by = self.reach(args[0]);
        if place != Place::Value || !(by.mask || by.register || by.constant) {
            return;
        }
        let bit = is_bit(args[0]);
        if bit && is_memory(args[1]) {
            let zero = is_zero(args[2]);
            self.add(if zero {
                Fact::MaskZero
            } else {
                Fact::MaskMerge
            });
        } else if by.mask && bit && !by.register {
            if is_zero(args[2]) {
                let ones = args[1].as_bits().is_some();
                self.add(if ones {
                    Fact::MaskToElements
                } else {
                    Fact::MaskZero
                });
            } else if args[2].as_bits().is_none() {
                let both = is_read(args[1]) && is_read(args[2]);
                self.add(if both { Fact::Blend } else { Fact::MaskMerge });
            }
        } else if bit && is_read(args[1]) && is_read(args[2]) {
            self.add(Fact::Blend);
        }
    }

    fn memory(&mut self, code: OpCode, args: &[Term]) {
        let address = self.reach(args[1]);
        let gathers = address.register && self.lanes(args[1]);
        self.add(match (code, gathers) {
            (OpCode::Read, false) => Fact::Load,
            (OpCode::Read, true) => Fact::Gather,
            (_, false) => Fact::Store,
            (_, true) => Fact::Scatter,
        });
    }

    /// Whether an address has an element of a vector in it.
    fn lanes(&mut self, term: Term) -> bool {
        match term.as_app() {
            Some((op, args)) if op.code == OpCode::Extract => {
                let (of, at) = (self.reach(args[0]), self.reach(args[1]));
                of.register && at.each
            }
            _ => term.children().any(|child| self.lanes(child)),
        }
    }

    fn rounding(&mut self, rounding: u32) {
        self.add(Fact::RoundIntegral);
        match rounding {
            1 => self.add(Fact::Floor),
            2 => self.add(Fact::Ceil),
            TOWARDS_ZERO => self.add(Fact::Truncate),
            _ => {}
        }
    }

    /// A comparison of what operands hold: against a constant, only equality with zero counts.
    fn compared(&mut self, fact: Fact, args: &[Term]) {
        let reads = |walk: &mut Self, t: Term| {
            let reach = walk.reach(t);
            reach.register && !reach.constant
        };
        if args.iter().all(|&a| reads(self, a)) {
            let one = fact == Fact::Equal && is_one_operand(args[0], args[1]);
            self.add(if one { Fact::Conflict } else { fact });
        } else if fact == Fact::Equal
            && args.iter().any(|&a| reads(self, a))
            && args.iter().any(|a| {
                a.as_bits()
                    .is_some_and(|b| b.width() > 1 && (b.is_zero() || b.not().is_zero()))
            })
        {
            self.add(Fact::TestZero);
        }
    }

    /// What the element as a whole is.
    fn whole(&mut self, term: Term) {
        let element = element(term);
        if let Some((op, args)) = element.as_app() {
            let read = is_read(args[0]) && args[0].as_var().is_none_or(|_| !is_map(term));
            match op.code {
                OpCode::Sext if read && args[0].width() > 1 => self.add(Fact::SignExtend),
                OpCode::Zext if read && args[0].width() > 1 => self.add(Fact::ZeroExtend),
                OpCode::Sext if self.reach(args[0]).mask => self.add(Fact::MaskToElements),
                _ => {}
            }
        }
        if is_zero(term) {
            self.add(Fact::Zero);
        } else if term.as_bits().is_some() {
            self.add(Fact::Constant);
        }
    }
}

/// The number of the rounding towards zero in the parameters of operators.
const TOWARDS_ZERO: u32 = 3;

/// A one that was shifted left.
fn shifted_one(term: Term) -> bool {
    term.args_of(OpCode::BvShl)
        .is_some_and(|args| power(strip(args[0])) == Some(0))
}

/// Whether two elements are of one operand.
fn is_one_operand(a: Term, b: Term) -> bool {
    let source = |t: Term| t.args_of(OpCode::Extract)?[0].as_var();
    source(a).is_some() && source(a) == source(b)
}

/// Whether a truth value is a bit of something.
fn is_bit(term: Term) -> bool {
    let Some((op, args)) = term.as_app() else {
        return false;
    };
    match op.code {
        OpCode::Eq => args[0].sort().width() == Some(1),
        OpCode::Not => is_bit(args[0]),
        _ => false,
    }
}

fn is_shift(code: OpCode) -> bool {
    use OpCode::{BvAshr, BvLshr, BvShl, Rotl, Rotr};
    matches!(code, BvShl | BvLshr | BvAshr | Rotl | Rotr)
}

fn comparison(code: OpCode) -> Option<Fact> {
    use OpCode::{BvSle, BvSlt, BvUle, BvUlt, Eq, FClass, FEq, FLe, FLt, FUnord};
    Some(match code {
        Eq | FEq => Fact::Equal,
        BvUlt | BvSlt | FLt => Fact::Less,
        BvUle | BvSle | FLe => Fact::AtMost,
        FUnord => Fact::Unordered,
        FClass => Fact::Class,
        _ => return None,
    })
}

/// Operators that are a fact whatever their arguments are.
fn simple(code: OpCode) -> Option<Fact> {
    Some(match code {
        OpCode::BvMul | OpCode::FMul => Fact::Mul,
        OpCode::BvUdiv | OpCode::BvSdiv | OpCode::FDiv => Fact::Div,
        OpCode::BvUrem | OpCode::BvSrem => Fact::Rem,
        OpCode::BvNeg => Fact::Neg,
        OpCode::Abs => Fact::Abs,
        OpCode::FSub => Fact::Sub,
        OpCode::Smin | OpCode::Umin | OpCode::FMin => Fact::Min,
        OpCode::Smax | OpCode::Umax | OpCode::FMax => Fact::Max,
        OpCode::FMadd | OpCode::FMsub | OpCode::FNmadd | OpCode::FNmsub => Fact::Fused,
        OpCode::FSqrt => Fact::Sqrt,
        OpCode::FRcp => Fact::Reciprocal,
        OpCode::FRsqrt => Fact::RootReciprocal,
        OpCode::FLibrary => Fact::Library,
        OpCode::FScale => Fact::Scale,
        OpCode::FGetExp => Fact::Exponent,
        OpCode::FGetMant => Fact::Mantissa,
        OpCode::FFixup => Fact::FloatFix,
        OpCode::FRoundScale => Fact::RoundIntegral,
        OpCode::BvOr => Fact::Or,
        OpCode::BvXor => Fact::Xor,
        OpCode::BvNot => Fact::Not,
        OpCode::Rotl | OpCode::Rotr => Fact::Rotate,
        OpCode::Popcnt => Fact::Popcount,
        OpCode::Clz => Fact::LeadingZeros,
        OpCode::Ctz => Fact::TrailingZeros,
        OpCode::GfInverse => Fact::Galois,
        OpCode::SatSS | OpCode::SatSU | OpCode::SatUS | OpCode::SatUU => Fact::Saturate,
        OpCode::FFromSint | OpCode::FFromUint => Fact::IntToFloat,
        OpCode::FToSint | OpCode::FToUint => Fact::FloatToInt,
        OpCode::FConvert => Fact::FloatToFloat,
        _ => return None,
    })
}
