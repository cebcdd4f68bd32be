//! Products that are added to, rounded once.
//!
//! In: sums and differences of floats as the text has them. Out: fused operations, where Halide's own code
//! for the text's target has them: it leaves open how often such a sum is rounded, unless the text says
//! `strict_`, and its results are nearer with one rounding than with two.

use super::import::Importer;
use super::value::{Value, apply};
use kernel::tree::{Expr, ExprKind, Op};
use kernel::types::Elem;
use semantics::float::Format;

/// Whether the module that a text begins with is for a target that has fused operations.
pub(super) fn is_asked(text: &str) -> bool {
    let module = text.lines().find(|line| line.starts_with("module name="));
    let target = module.and_then(|line| line.split_once("target="));
    target.is_some_and(|(_, target)| target.trim().split('-').any(|feature| feature == "fma"))
}

/// The factors of a product.
fn factors(e: &Expr) -> Option<[Expr; 2]> {
    match &e.kind {
        ExprKind::Apply(Op::Mul, args) => args.clone().try_into().ok(),
        _ => None,
    }
}

/// The negation of a value.
fn minus(e: Expr) -> Expr {
    let (elem, span) = (e.ty.elem, e.span);
    apply(Op::Neg, elem, vec![e], span)
}

/// Factors of which one is negated: a constant, else a single number, which are negated once and
/// not in every round, else the first.
fn negated([a, b]: [Expr; 2]) -> [Expr; 2] {
    let steady = |e: &Expr| match e.kind {
        ExprKind::Const(_) => 2,
        _ => u32::from(e.ty.lanes == 1),
    };
    match steady(&b) > steady(&a) {
        true => [a, minus(b)],
        false => [minus(a), b],
    }
}

impl Importer<'_> {
    /// A value as it is, or fused.
    pub(super) fn fused(&self, value: Value) -> Value {
        match value {
            Value::Data(e) => Value::Data(self.fused_sum(e)),
            other => other,
        }
    }

    /// Data as they are, or fused.
    pub(super) fn fused_sum(&self, e: Expr) -> Expr {
        let plain = matches!(e.ty.elem, Elem::Float(Format::F32 | Format::F64));
        if !self.fuses || !plain {
            return e;
        }
        let (span, elem) = (self.span, e.ty.elem);
        let three = match &e.kind {
            ExprKind::Apply(Op::Add, args) => match (factors(&args[0]), factors(&args[1])) {
                (Some([a, b]), _) => Some([a, b, args[1].clone()]),
                (_, Some([a, b])) => Some([a, b, args[0].clone()]),
                _ => None,
            },
            ExprKind::Apply(Op::Sub, args) => match (factors(&args[0]), factors(&args[1])) {
                (_, Some(both)) => {
                    let [a, b] = negated(both);
                    Some([a, b, args[0].clone()])
                }
                (Some([a, b]), _) => Some([a, b, minus(args[1].clone())]),
                _ => None,
            },
            _ => None,
        };
        match three {
            Some(three) => apply(Op::Fma, elem, three.to_vec(), span),
            None => e,
        }
    }
}
