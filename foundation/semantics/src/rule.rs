//! The names of the rewrites that build terms.
//!
//! In: nothing. Out: [`Rule`], with what each says; [`Rewritten`], an equal term that only a
//! rule can make, so that no constructor rewrites without a name; [`applied`], what a
//! constructor does first with an application. Which rule applies is in `crate::rules`; that
//! each holds is proved elsewhere, from what [`applied`] says.

use crate::build;
use crate::fault;
use crate::op::Op;
use crate::term::Term;

/// An enumeration `Rule` of rewrites: what it is, then each name with what it says.
#[macro_export]
macro_rules! rules {
    ($what:literal; $( $name:ident $formula:literal; )*) => {
        #[doc = $what]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Rule { $( #[doc = $formula] $name ),* }

        impl Rule {
            /// All rules.
            pub const ALL: &[Rule] = &[ $( Rule::$name ),* ];

            /// The name.
            pub fn name(self) -> &'static str {
                match self { $( Rule::$name => stringify!($name) ),* }
            }

            /// What it says.
            pub fn formula(self) -> &'static str {
                match self { $( Rule::$name => $formula ),* }
            }
        }
    };
}

crate::rules! {
    "A rewrite that constructors apply.";
    Folded "an operator of constants is what the interpreter makes of them";
    Ordered "f(x, y) = f(y, x) of a commutative operator";
    NotNot "not not p = p";
    AndTrue "p and true = p";
    AndFalse "p and false = false";
    AndSame "p and p = p";
    OrTrue "p or true = true";
    OrFalse "p or false = p";
    OrSame "p or p = p";
    EqualSame "(x = x) = true";
    EqualTrue "(p = true) = p";
    EqualFalse "(p = false) = not p";
    EqualChoiceOfConstants "((p ? j : k) = l) = (p ? j = l : k = l)";
    EqualZeroExtended "(zext x = k) = (x = low k), the upper bits of k being zeros";
    EqualZeroExtendedNever "(zext x = k) = false, the upper bits of k not being zeros";
    ChoiceOfSame "(p ? x : x) = x";
    ChoiceDecided "(true ? x : y) = x and (false ? x : y) = y";
    ChoiceByNot "(not p ? x : y) = (p ? y : x)";
    ChoiceIsCondition "(p ? true : false) = p";
    ChoiceIsNegation "(p ? false : true) = not p";
    ChoiceFalseFirst "(p ? false : q) = (not p and q)";
    ChoiceTrueFirst "(p ? true : q) = (p or q)";
    ChoiceFalseLast "(p ? q : false) = (p and q)";
    ChoiceTrueLast "(p ? q : true) = (not p or q)";
    ChoiceWithinFirst "(p ? (p ? x : y) : z) = (p ? x : z)";
    ChoiceWithinLast "(p ? x : (p ? y : z)) = (p ? x : z)";
    IndexSum "sums and products of indices as one sum";
    IndexRemainder "(d*i + k) mod d = k mod d, of indices";
    IndexQuotient "(d*i + k) div d = i + k div d, of indices";
    ComplementTwice "~~x = x";
    ExclusiveOrSame "x ^ x = 0";
    LogicOfSame "x & x = x and x | x = x";
    LogicAbsorbed "x & 0 = 0 and x | ones = ones";
    LogicNeutral "x & ones = x, x | 0 = x and x ^ 0 = x";
    ExclusiveOrOnes "x ^ ones = ~x";
    LogicOfConstants "(x . j) . k = x . (j . k) of and, or, exclusive or";
    AndComplement "x & ~x = 0";
    OrComplement "x | ~x = ones and x ^ ~x = ones";
    NegatedTwice "--x = x";
    DifferenceOfSame "x - x = 0";
    DifferenceOfConstant "x - k = x + -k";
    DifferenceFromZero "0 - x = -x";
    SumWithZero "x + 0 = x";
    ProductWithOne "x * 1 = x";
    ProductWithZero "x * 0 = 0";
    ArithmeticOfConstants "(x . j) . k = x . (j . k) of sum and product";
    ShiftOfZero "a shift of 0 is 0";
    ShiftByZero "a shift by 0 changes nothing";
    ShiftedOut "a shift by the width or more, signed right shifts apart, is 0";
    ShiftedTwice "(x << j) << k = x << (j + k), at most the width";
    ShiftIsExtraction "x >> k = zext of the bits of x from k up";
    ShiftedToSign "x >>s k = sext of the sign, k being the width or more";
    SignedShiftIsExtraction "x >>s k = sext of the bits of x from k up";
    ComparedWithItself "(x < x) = false and (x <= x) = true";
    LessThanZero "(x <u 0) = false";
    ZeroAtMost "(0 <=u x) = true";
    ConcatOfOne "concat(x) = x";
    ConcatWithZeros "concat(0, x) = zext x";
    ConcatFlat "nested concatenations as one; constants, and neighbouring bits of one term, joined";
    ExtendedByNothing "an extension to its own width is the term";
    ExtendedZeroExtension "an extension of a zero extension is a zero extension";
    ExtendedSignExtension "sext(sext x) = sext x";
    IndexedByExtension "an offset's zero extension is the offset";
    InsertedOutside "what is inserted outside is dropped";
    InsertedAtConstant "an insertion at a constant is a concatenation";
    SelectedAtConstant "a part at a constant is an extraction";
    ExtremeOfEquals "min(x, x) = x and max(x, x) = x";
    SaturatedToItself "a saturation to its own width and reading is the term";
    SaturatedSignExtension "a signed saturation of a sign extension from no more bits is one";
    SaturatedZeroExtension "an unsigned saturation of a zero extension from no more bits is one";
    SaturatedShortExtension "a signed saturation of a zero extension from fewer bits is one";
    ExtractedAtSum "an extraction at a sum of constant value is one there";
    ExtractedOutside "bits outside are zeros";
    ExtractedWhole "all bits of x are x";
    ExtractedPastEnd "bits of x and beyond are a zero extension";
    ExtractedTwice "bits of bits of x are bits of x";
    ExtractedFromConcat "bits of a concatenation are those of its parts";
    ExtractedFromExtension "bits of an extension are bits of the term, or zeros, or the sign";
    ExtractedFromLogic "bits of and, or, exclusive or, complement are those of the bits";
    ExtractedFromChoice "bits of (p ? x : y) = (p ? bits of x : bits of y)";
    ExtractedFromLow "low bits of sums, differences and products are those of the low bits";
    ExtractedAboveShift "bits of x << k from k up are bits of x";
    ExtractedBelowShift "bits of x << k below k are zeros";
    ExtractedAcrossShift "bits of x << k across k are low bits of x above zeros";
    ExtractedFromElement "bits within an element of a map are bits of its body there";
    ExtractedElements "whole elements of a map are a shorter map";
}

/// An equal term, and the rule that says so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rewritten {
    rule: Rule,
    term: Term,
}

impl Rewritten {
    /// The rule.
    pub fn rule(self) -> Rule {
        self.rule
    }

    /// The equal term.
    pub fn term(self) -> Term {
        self.term
    }
}

impl Rule {
    /// The term that this rule makes.
    pub(crate) fn gives(self, term: Term) -> Option<Rewritten> {
        let term = fault::made(self.name(), term);
        Some(Rewritten { rule: self, term })
    }

    /// The term that this rule makes, when it makes one.
    pub(crate) fn of(self, term: Option<Term>) -> Option<Rewritten> {
        term.and_then(|term| self.gives(term))
    }
}

/// What [`build::app`] does first with an application, and the term that comes out in the end;
/// nothing when the application stays as it is.
///
/// # Panics
/// When the operator's type rule refuses the arguments.
pub fn applied(op: Op, args: &[Term]) -> Option<Rewritten> {
    build::rewritten(op, args)
}
