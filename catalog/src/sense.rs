//! What an instruction does, in facts that its meaning shows.
//!
//! In: an instruction of a dictionary with the [`Flow`]s of its elements. Out: a set of [`Fact`]s:
//! which operators compute its elements, how wide and of which kind these are, where they move
//! to, what is masked, saturated, rounded, widened. No name is looked at, so that instruction
//! sets that nobody has described yet are found by the same words. The words themselves are
//! in `thesaurus.yaml`.

mod places;
#[cfg(test)]
mod tests;
mod value;

use crate::flow::Flow;
use autoir::dictionary::{Member, Operation};
use semantics::instruction::{Element, Form, Role};
use std::collections::BTreeSet;

macro_rules! facts {
    ($($fact:ident $name:literal $doc:literal;)*) => {
        /// Something that the meaning of an instruction shows.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Fact {
            $(#[doc = $doc] $fact,)*
        }

        impl Fact {
            /// All of them, in order.
            pub const ALL: &'static [Fact] = &[$(Fact::$fact),*];

            /// As the thesaurus writes it.
            pub fn name(self) -> &'static str {
                match self {
                    $(Fact::$fact => $name,)*
                }
            }
        }
    };
}

#[rustfmt::skip] // one fact a line
facts! {
    // What computes an element.
    Add "add" "A sum of two values.";
    Sub "sub" "A difference.";
    Mul "mul" "A product.";
    Div "div" "A quotient.";
    Rem "remainder" "A remainder.";
    Neg "neg" "A negation.";
    Abs "abs" "An absolute value.";
    AbsDiff "absolute-difference" "The absolute value of a difference.";
    Min "min" "The lesser of two values.";
    Max "max" "The greater of two values.";
    MulAdd "multiply-add" "A product with something added or taken away.";
    Average "average" "Half of a sum.";
    Fused "fused" "A float product and sum that are rounded once.";
    HighHalf "high-half" "The upper bits of a product.";
    Sqrt "sqrt" "A square root.";
    Reciprocal "reciprocal" "An approximate reciprocal.";
    RootReciprocal "reciprocal-root" "An approximate reciprocal of a square root.";
    Library "library" "A function of a mathematical library.";
    Scale "scale" "A float times a power of two.";
    Exponent "exponent" "The exponent of a float.";
    Mantissa "mantissa" "The significand of a float.";
    FloatFix "fix-up" "Special floats replaced by a table.";
    And "and" "Bitwise and.";
    Or "or" "Bitwise or.";
    Xor "xor" "Bitwise exclusive or.";
    Not "not" "A complement.";
    AndNot "and-not" "And with a complement.";
    TruthTable "truth-table" "A logic function that a constant tabulates.";
    ShiftLeft "shift-left" "A left shift.";
    ShiftRight "shift-right" "A right shift.";
    Arithmetic "arithmetic-shift" "A right shift that keeps the sign.";
    Rotate "rotate" "A rotation.";
    Funnel "funnel" "A shift of two values as one.";
    ByVector "each-count" "A shift whose count is each element's own.";
    Popcount "popcount" "The number of one bits.";
    LeadingZeros "leading-zeros" "The number of leading zeros.";
    TrailingZeros "trailing-zeros" "The number of trailing zeros.";
    Galois "galois" "Arithmetic in a field of bit polynomials.";
    LowestBit "lowest-bit" "Something done to the lowest one bit.";
    // How it is done.
    Saturate "saturate" "Clamped to the range of its width.";
    Round "round" "Half of the last place is added before the low bits are dropped.";
    RoundIntegral "round-integral" "A float rounded to a whole number.";
    Floor "floor" "Rounded down.";
    Ceil "ceil" "Rounded up.";
    Truncate "truncate" "Rounded towards zero.";
    Widen "widen" "Results in wider elements than operands.";
    Narrow "narrow" "Results in narrower elements than operands.";
    // Comparison and choice.
    Equal "equal" "An equality.";
    Less "less" "A less-than, a greater-than.";
    AtMost "at-most" "An at-most, an at-least.";
    Unordered "unordered" "Whether a float is no number.";
    Class "class" "Whether a float is of a class.";
    ToMask "to-mask" "The result is a mask.";
    TestZero "test-zero" "Whether all bits of something are zero, or ones.";
    Conflict "conflict" "Elements of one operand compared with each other.";
    Blend "blend" "Elements chosen from two operands at the same place.";
    MaskMerge "merge-masked" "What is not chosen is an operand's.";
    MaskZero "zero-masked" "What is not chosen is zero.";
    MaskLogic "of-masks" "All operands are masks.";
    // Between formats.
    SignExtend "sign-extend" "Elements extended with their sign.";
    ZeroExtend "zero-extend" "Elements extended with zeros.";
    IntToFloat "int-to-float" "Integers to floats.";
    FloatToInt "float-to-int" "Floats to integers.";
    FloatToFloat "float-to-float" "Floats to another format.";
    Cast "cast" "The same bits, read otherwise.";
    // Over several elements.
    Sum "sum" "A sum of several elements.";
    Reduce "reduce" "All elements to one.";
    Pairs "pairs" "Neighbouring elements with each other.";
    Dot "dot-product" "A sum of products.";
    Accumulate "accumulate" "Something is added to an operand.";
    Matrix "matrix" "Rows times columns.";
    Complex "complex" "Complex numbers: real and imaginary parts in turn.";
    Alternate "alternate" "A difference and a sum in turn.";
    // Movement.
    Broadcast "broadcast" "One element everywhere.";
    Repeat "repeat" "A block of elements several times.";
    Duplicate "duplicate" "Each second element twice.";
    Reverse "reverse" "Elements or bytes in the opposite order.";
    Interleave "interleave" "Elements of two operands in turn.";
    Deinterleave "deinterleave" "Each second element.";
    Combine "combine" "Two operands one behind the other.";
    Part "part" "Some neighbouring elements of a larger operand.";
    Insert "insert" "One operand with a piece of another in it.";
    ExtractOne "extract" "One element.";
    ShiftElements "shift-elements" "Elements moved up or down, perhaps out of two operands.";
    Shuffle "shuffle" "Elements in another order.";
    ByIndex "by-index" "The order is in a register.";
    ByConstant "by-constant" "The order is in a constant.";
    TwoSources "two-sources" "Elements of two operands in another order.";
    Compress "compress" "The chosen elements moved together.";
    Expand "expand" "Neighbouring elements moved to the chosen places.";
    Set "set" "Elements from separate operands.";
    Zero "zero" "Always zero.";
    Constant "constant" "Always the same.";
    TopBits "top-bits" "The highest bit of each element.";
    MaskToElements "mask-to-elements" "Each bit of a mask as an element of zeros or ones.";
    Copy "copy" "An operand as it is.";
    // Memory.
    Load "load" "It reads memory.";
    Store "store" "It writes memory.";
    Gather "gather" "It reads at several addresses.";
    Scatter "scatter" "It writes at several addresses.";
    // What kind of elements.
    Scalar "scalar" "Only the lowest element is computed, the others are an operand's.";
    Single "single" "One number, in no vector.";
    Float "float" "Floats.";
    Integer "integer" "Integers.";
    Signed "signed" "Signed integers.";
    Unsigned "unsigned" "Unsigned integers.";
    Half "f16" "16-bit floats.";
    Bfloat "bf16" "bfloat16.";
    F32 "f32" "32-bit floats.";
    F64 "f64" "64-bit floats.";
    Bits8 "8-bit" "8-bit elements.";
    Bits16 "16-bit" "16-bit elements.";
    Bits32 "32-bit" "32-bit elements.";
    Bits64 "64-bit" "64-bit elements.";
    V64 "64-bit-vector" "64 bits in all.";
    V128 "128-bit-vector" "128 bits in all.";
    V256 "256-bit-vector" "256 bits in all.";
    V512 "512-bit-vector" "512 bits in all.";
}

/// What a member of an operation shows.
pub fn of(operation: &Operation, member: &Member, flows: &[Flow]) -> BTreeSet<Fact> {
    let mut facts = BTreeSet::new();
    let registers = member.operands.iter().filter(|o| o.role == Role::Register);
    let mut widest = registers.map(|o| o.width).max().unwrap_or(0);
    for output in 0..member.outputs.len() {
        if let Ok(term) = member.result(operation, output) {
            widest = widest.max(term.sort().width().unwrap_or(0));
            value::facts(term, member, &mut facts);
        }
    }
    declared(member, widest, &mut facts);
    places::facts(member, flows, &mut facts);
    settle(member, widest, &mut facts);
    facts
}

/// What the declaration says: kinds and widths of elements, the whole width.
fn declared(member: &Member, widest: u32, facts: &mut BTreeSet<Fact>) {
    let registers = member.operands.iter().filter(|o| o.role == Role::Register);
    let read = registers.map(|o| o.element);
    for element in read.chain(member.outputs.iter().map(|o| o.element)) {
        if let Element::Float(_) | Element::Bfloat16 = element {
            facts.insert(Fact::Float);
        }
        if let Element::Signed(_) = element {
            facts.insert(Fact::Signed);
        }
        facts.extend(match element {
            Element::Float(16) => Some(Fact::Half),
            Element::Float(32) => Some(Fact::F32),
            Element::Float(64) => Some(Fact::F64),
            Element::Bfloat16 => Some(Fact::Bfloat),
            Element::Signed(w) | Element::Unsigned(w) => bits(w),
            _ => None,
        });
    }
    facts.extend(match widest {
        64 => Some(Fact::V64),
        128 => Some(Fact::V128),
        256 => Some(Fact::V256),
        512 => Some(Fact::V512),
        _ => None,
    });
    if member.form == Form::Free {
        facts.insert(Fact::Cast);
    }
    let values = || {
        let of = |r| matches!(r, Role::Register | Role::Mask);
        member.operands.iter().filter(move |o| of(o.role))
    };
    if values().next().is_some() && values().all(|o| o.role == Role::Mask) {
        facts.insert(Fact::MaskLogic);
    }
    if member.outputs.iter().any(|o| o.element == Element::Mask) {
        facts.insert(Fact::ToMask);
    }
}

/// The fact of a width of elements.
fn bits(width: u32) -> Option<Fact> {
    Some(match width {
        8 => Fact::Bits8,
        16 => Fact::Bits16,
        32 => Fact::Bits32,
        64 => Fact::Bits64,
        _ => return None,
    })
}

/// Facts that stand for more general ones, which they are made of.
const SPECIAL: [(Fact, &[Fact]); 16] = [
    (Fact::AbsDiff, &[Fact::Abs, Fact::Sub]),
    (Fact::AndNot, &[Fact::And, Fact::Not]),
    (Fact::Alternate, &[Fact::Add, Fact::Sub]),
    (Fact::Average, &[Fact::Add]),
    (Fact::Dot, &[Fact::Sum, Fact::Add, Fact::Mul, Fact::MulAdd]),
    (Fact::MulAdd, &[Fact::Add, Fact::Mul]),
    (Fact::Sum, &[Fact::Add]),
    (Fact::Conflict, &[Fact::Equal]),
    (
        Fact::Scalar,
        &[
            Fact::Insert,
            Fact::Combine,
            Fact::Part,
            Fact::Blend,
            Fact::Copy,
        ],
    ),
    (Fact::MaskMerge, &[Fact::MaskZero]),
    (Fact::Widen, &[Fact::Narrow]),
    (Fact::Insert, ORDER),
    (Fact::Part, ORDER),
    (Fact::ExtractOne, ORDER),
    (Fact::Reduce, ORDER),
    (Fact::ShiftElements, ORDER),
];

/// Any order of elements: what is known more exactly is not told so.
const ORDER: &[Fact] = &[Fact::Shuffle, Fact::TwoSources];

/// What follows from other facts.
fn settle(member: &Member, widest: u32, facts: &mut BTreeSet<Fact>) {
    if facts.contains(&Fact::Compress) || facts.contains(&Fact::Expand) {
        let registers = member.operands.iter().filter(|o| o.role == Role::Register);
        let merges = registers.count() > 1;
        facts.remove(&Fact::Blend);
        facts.remove(&[Fact::MaskMerge, Fact::MaskZero][usize::from(merges)]);
    }
    for (special, general) in SPECIAL {
        if facts.contains(&special) {
            facts.retain(|fact| !general.contains(fact));
        }
    }
    if facts.contains(&Fact::MaskLogic) {
        return;
    }
    if !facts.contains(&Fact::Float) {
        facts.insert(Fact::Integer);
    }
    if widest <= 64 {
        facts.insert(Fact::Single);
    }
}
