//! What a window costs where C computes it element by element.
//!
//! In: a window. Out: an estimate in tenths of a cycle, for windows that are made of what
//! processors have for numbers: integers of up to 64 bits, `f32` and `f64`. Few vectors cost more
//! than that: conversions of 64-bit elements where there is no instruction for them, products of
//! two such lanes. It knows no target and leaves out what the C compiler may do better.

use crate::cost::Cost;
use crate::goal::leaf;
use lowering::window::Window;
use semantics::float::Format;
use semantics::op::{Op, OpCode};
use semantics::term::Term;
use std::collections::HashSet;

/// A load or a store.
const ACCESS: Cost = 5;

/// What all elements cost; nothing where an operator is no instruction on numbers.
pub(crate) fn cost(window: &Window) -> Option<Cost> {
    let elements = semantics::unroll::elements(window.term, window.output.elem.bits());
    let mut whole = ACCESS * window.output.lanes;
    let (mut seen, mut work) = (HashSet::new(), elements);
    while let Some(t) = work.pop() {
        if !seen.insert(t) {
            continue;
        }
        if leaf(t).is_some() {
            whole += ACCESS;
        } else if let Some((op, args)) = t.as_app() {
            whole += operator(op, args)?;
            work.extend(args);
        }
    }
    Some(whole)
}

/// What one operator costs.
fn operator(op: Op, args: &[Term]) -> Option<Cost> {
    use OpCode as C;
    let params = op.info().params.iter().zip(op.params());
    let mut formats = params.filter(|(name, _)| **name == "format");
    let is_number = |code: u32| matches!(Format::from_code(code), Some(Format::F32 | Format::F64));
    if !formats.all(|(_, code)| is_number(*code)) || args.iter().any(|a| is_long(*a)) {
        return None;
    }
    Some(match op.code {
        C::Extract | C::Concat | C::Zext | C::Sext => 0,
        C::FConvert if op.params[..2].iter().any(|code| !is_number(*code)) => return None,
        C::FFromSint | C::FFromUint | C::FToSint | C::FToUint | C::FDiv | C::FSqrt => 20,
        C::BvUdiv | C::BvUrem | C::BvSdiv | C::BvSrem => 20,
        C::BvMul | C::Ite | C::SatSS | C::SatSU | C::SatUS | C::SatUU => 10,
        C::Clz | C::Popcnt => 10,
        _ => 5,
    })
}

/// Whether a value has more bits than a number; inputs are read in parts.
fn is_long(t: Term) -> bool {
    t.as_var().is_none() && t.sort().width().is_some_and(|w| w > 64)
}
