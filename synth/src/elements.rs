//! What a window costs where C computes it element by element.
//!
//! In: a window. Out: an estimate in tenths of a cycle, for windows that are made of what
//! processors have for numbers: integers of up to 64 bits, `f32` and `f64`. Few vectors cost more
//! than that: conversions of 64-bit elements where there is no instruction for them, products of
//! two such lanes. What they take is the target's data; it leaves out what the C compiler may do better.

use crate::cost::Cost;
use crate::goal::leaf;
use lowering::window::Window;
use semantics::float::Format;
use semantics::op::{Op, OpCode};
use semantics::term::Term;
use std::collections::HashSet;
use target::processor::Numbers;

/// What all elements cost; nothing where an operator is no instruction on numbers.
pub(crate) fn cost(window: &Window, numbers: &Numbers) -> Option<Cost> {
    let elements = semantics::unroll::elements(window.term, window.output.elem.bits());
    let mut whole = numbers.access * window.output.lanes;
    let (mut seen, mut work) = (HashSet::new(), elements);
    while let Some(t) = work.pop() {
        if !seen.insert(t) {
            continue;
        }
        if leaf(t).is_some() {
            whole += numbers.access;
        } else if let Some((op, args)) = t.as_app() {
            whole += operator(op, args, numbers)?;
            work.extend(args);
        }
    }
    Some(whole)
}

/// What one operator costs.
fn operator(op: Op, args: &[Term], numbers: &Numbers) -> Option<Cost> {
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
        C::FFromSint | C::FFromUint | C::FToSint | C::FToUint | C::FDiv | C::FSqrt => {
            numbers.divide
        }
        C::BvUdiv | C::BvUrem | C::BvSdiv | C::BvSrem => numbers.divide,
        C::BvMul | C::Ite | C::SatSS | C::SatSU | C::SatUS | C::SatUU => numbers.slow,
        C::Clz | C::Popcnt => numbers.slow,
        _ => numbers.operation,
    })
}

/// Whether a value has more bits than a number; inputs are read in parts.
fn is_long(t: Term) -> bool {
    t.as_var().is_none() && t.sort().width().is_some_and(|w| w > 64)
}
