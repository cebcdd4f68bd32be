//! What an operation is for, in a word.
//!
//! In: an operation, and how elements flow in one of its members. Out: its [`Kind`], told by
//! the operators of its meaning: the name is not looked at.

use crate::flow::Pattern;
use autoir::dictionary::Operation;
use semantics::op::OpCode;
use similarity::skeleton::{Operator, SkeletonNode};
use std::collections::BTreeSet;

/// What an operation is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// It reads memory.
    Load,
    /// It writes memory.
    Store,
    /// It moves, repeats, drops or chooses elements.
    Movement,
    /// It compares.
    Comparison,
    /// It changes the width or the format of elements.
    Conversion,
    /// It computes an element from several of one operand: sums, dot products, products of
    /// tiles, minima of all.
    Reduction,
    /// It computes with floats, element by element.
    Float,
    /// It computes with integers, element by element.
    Integer,
    /// It shifts or rotates.
    Shift,
    /// It works on single bits.
    Logic,
    /// It has the same result always.
    Constant,
}

impl Kind {
    /// All of them, in order.
    pub const ALL: [Kind; 11] = [
        Kind::Load,
        Kind::Store,
        Kind::Movement,
        Kind::Comparison,
        Kind::Conversion,
        Kind::Reduction,
        Kind::Float,
        Kind::Integer,
        Kind::Shift,
        Kind::Logic,
        Kind::Constant,
    ];

    /// As it is written in tables.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Load => "load",
            Kind::Store => "store",
            Kind::Movement => "movement",
            Kind::Comparison => "comparison",
            Kind::Conversion => "conversion",
            Kind::Reduction => "reduction",
            Kind::Float => "float arithmetic",
            Kind::Integer => "integer arithmetic",
            Kind::Shift => "shift",
            Kind::Logic => "logic",
            Kind::Constant => "constant",
        }
    }

    /// The kind of an operation of which a member has a flow of this pattern.
    pub fn of(operation: &Operation, pattern: Option<Pattern>) -> Kind {
        let nodes = || operation.results.iter().flat_map(|r| &r.nodes);
        let codes: BTreeSet<OpCode> = nodes().filter_map(code).collect();
        let folds = nodes().any(|n| matches!(n, SkeletonNode::Fold(..)));
        let has = |wanted: &dyn Fn(OpCode) -> bool| codes.iter().any(|&c| wanted(c));
        let several = folds || pattern == Some(Pattern::Gathers);
        if has(&|c| c == OpCode::Write) {
            Kind::Store
        } else if has(&|c| c == OpCode::Read) {
            Kind::Load
        } else if several && has(&|c| is_float(c) || is_integer(c)) {
            Kind::Reduction
        } else if has(&is_float) {
            Kind::Float
        } else if has(&is_integer) {
            Kind::Integer
        } else if has(&is_comparison) {
            Kind::Comparison
        } else if has(&is_shift) {
            Kind::Shift
        } else if has(&is_logic) {
            Kind::Logic
        } else if has(&is_conversion) {
            Kind::Conversion
        } else if nodes().any(|n| matches!(n, SkeletonNode::Argument(..))) {
            Kind::Movement
        } else {
            Kind::Constant
        }
    }
}

/// The operator of a node; of a family, its first.
fn code(node: &SkeletonNode) -> Option<OpCode> {
    match node {
        SkeletonNode::Apply(Operator::Fixed(code), ..) => Some(*code),
        SkeletonNode::Apply(Operator::Mode(family, _), ..) => {
            // Reading elements with a sign is a conversion, without one it moves bits.
            family.operators().last().copied()
        }
        _ => None,
    }
}

fn is_float(code: OpCode) -> bool {
    use OpCode::{
        FAdd, FDiv, FFixup, FGetExp, FGetMant, FLibrary, FMadd, FMax, FMin, FMsub, FMul, FNmadd,
        FNmsub, FRange, FRcp, FReduce, FRound, FRoundScale, FRsqrt, FScale, FSqrt, FSub,
    };
    matches!(
        code,
        FAdd | FSub
            | FMul
            | FDiv
            | FSqrt
            | FMadd
            | FMsub
            | FNmadd
            | FNmsub
            | FRound
            | FMin
            | FMax
            | FScale
            | FGetExp
            | FGetMant
            | FRoundScale
            | FReduce
            | FRange
            | FFixup
            | FRcp
            | FRsqrt
            | FLibrary
    )
}

fn is_integer(code: OpCode) -> bool {
    use OpCode::{
        Abs, BvAdd, BvMul, BvNeg, BvSdiv, BvSrem, BvSub, BvUdiv, BvUrem, Clz, Ctz, Popcnt, Smax,
        Smin, Umax, Umin,
    };
    matches!(
        code,
        BvNeg
            | BvAdd
            | BvSub
            | BvMul
            | BvUdiv
            | BvUrem
            | BvSdiv
            | BvSrem
            | Smin
            | Smax
            | Umin
            | Umax
            | Abs
            | Popcnt
            | Clz
            | Ctz
    )
}

fn is_conversion(code: OpCode) -> bool {
    use OpCode::{
        FConvert, FFromSint, FFromUint, FToSint, FToUint, SatSS, SatSU, SatUS, SatUU, Sext,
    };
    matches!(
        code,
        Sext | SatSS | SatSU | SatUS | SatUU | FConvert | FToSint | FToUint | FFromSint | FFromUint
    )
}

fn is_comparison(code: OpCode) -> bool {
    use OpCode::{BvSle, BvSlt, BvUle, BvUlt, FClass, FEq, FLe, FLt, FUnord};
    matches!(
        code,
        BvUlt | BvUle | BvSlt | BvSle | FEq | FLt | FLe | FUnord | FClass
    )
}

fn is_shift(code: OpCode) -> bool {
    use OpCode::{BvAshr, BvLshr, BvShl, Rotl, Rotr};
    matches!(code, BvShl | BvLshr | BvAshr | Rotl | Rotr)
}

fn is_logic(code: OpCode) -> bool {
    use OpCode::{BvAnd, BvNot, BvOr, BvXor, GfInverse};
    matches!(code, BvNot | BvAnd | BvOr | BvXor | GfInverse)
}
