//! The names of the rewrites of normal forms.
//!
//! In: nothing. Out: [`Rule`], with what each says, and [`Step`], one use of a rule. That each
//! holds is proved elsewhere, from the steps that are made.

use semantics::term::Term;

/// One rewrite of one subterm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// By which rule.
    pub rule: Rule,
    /// The subterm.
    pub from: Term,
    /// What it became.
    pub to: Term,
}

semantics::rules! {
    "A rewrite of normal forms.";
    DecidedByRange "a comparison, extreme or saturation that the ranges of its operands decide";
    WiderFloat "an operation on short floats is one on longer ones, rounded once";
    QuotientByConstant "a quotient by a constant is the upper half of a product, shifted";
    SaturatingConversion "a float as an integer is a conversion that saturates, where it fits";
    RoundedConversion "a rounded float that is cut off to an integer is one that is converted, rounding";
    ClampedConversion "a clamped float as a clamped integer is a conversion that saturates, clamped";
    WiderConversion "a float as 64 bits that saturate, saturated to 32, is one as 32 bits that saturate";
    QuotientOfFloats "a quotient of whole floats that is cut off is one of integers";
    RemainderByQuotient "a remainder is what a quotient leaves: x - x / y * y";
    NarrowQuotient "a quotient of values that fit fewer bits is that of these, extended";
    EuclideanQuotient "a quotient or remainder made non-negative is shifts, masks and products";
    AbsoluteDifference "(x < y ? y - x : x - y) is the low bits of abs (x - y) with a bit more";
    Negation "not p, p being in normal form";
    Junction "and, or: flat, in order, each argument once; p and not p is false";
    Equality "x = y is that their difference is 0, at the least width that tells";
    Choice "p ? x : y with what both share taken out; a compared difference is an extreme";
    Sum "sums, differences, complements as a polynomial modulo 2^w";
    Product "products multiplied out, modulo 2^w";
    Extension "extensions through sums and products that do not overflow";
    Concatenation "concat(x, y) = 2^w * zext x + zext y";
    SumOfBits "x ^ y = x + y, of one bit";
    ShiftByConstant "x << k = 2^k * x";
    Logic "and, or, exclusive or: cut where the arguments are, in order, each once";
    Less "x < y is that x - y is negative, divided by what its coefficients share";
    AtMost "x <= y is not y < x";
    Extraction "bits of a sum are the sum rounded down: whole multiples and low parts taken out";
    Saturation "a saturation is the minimum of a maximum";
    Extreme "max(x, y) = x + y - min(x, y), with what both share taken out";
    Magnitude "abs x = max(x, -x)";
    Population "the number of ones is the sum of the bits";
    RotationByConstant "a rotation by a constant exchanges two pieces";
    Rotation "a rotation is to the left, by the count modulo the width";
    NarrowExtreme "an extreme at the least width that holds it, extended";
    Arguments "an operator of arguments in normal form";
    Regrouped "arguments in which order and grouping do not matter, in order; neutral ones dropped";
    ChoiceIsExtreme "(x < y ? x : y) = min(x, y)";
    SameSums "bits that are the same exclusive or of the same bits are equal";
    WithinOrdered "an operator of arguments in order";
}
