//! Proofs of members that earlier runs have made.
//!
//! In: a class, a member, the instruction. Out: the evidence that was kept for exactly this
//! class's terms, these numbers and this meaning, or that of a proof made now. What the
//! instruction is called does not matter. [`super::prove`] believes nothing that was kept.

use crate::class::{Apart, ClassMember, EquivalenceClass};
use semantics::digest::Digest;
use smt::prover::Prover;
use smt::verdict::Evidence;
use std::fmt::Write as _;

/// The evidence for a member; `class` is [`digest_of`] its class, `meaning` has the digests
/// of the instruction's outputs.
pub(super) fn evidence(
    class: Digest,
    member: &ClassMember,
    meaning: &[Digest],
    prover: &Prover,
    prove: impl FnOnce() -> Result<Vec<Evidence>, Apart>,
) -> Result<Vec<Evidence>, Apart> {
    if !prover.keeps() {
        return prove();
    }
    let (values, bindings) = (&member.values, &member.bindings);
    let mut what = format!("{class}{values:?} {bindings:?}\n");
    meaning.iter().for_each(|output| {
        let _ = writeln!(what, "{output}");
    });
    let cached: Option<Vec<Evidence>> = (0..meaning.len())
        .map(|output| prover.cached(&format!("{what}{output}")))
        .collect();
    if let Some(cached) = cached {
        return Ok(cached);
    }
    let found = prove()?;
    for (output, evidence) in found.iter().enumerate() {
        prover.keep(&format!("{what}{output}"), evidence);
    }
    Ok(found)
}

/// The digest of a class's terms, the same in every version.
pub(super) fn digest_of(class: &EquivalenceClass) -> Digest {
    let mut text = String::new();
    for skeleton in &class.skeletons {
        for node in &skeleton.nodes {
            let _ = writeln!(text, "{node}");
        }
        text.push('\n');
    }
    Digest::of(text.as_str())
}
