//! Kept meanings are those that would be found anew, and text that is something else is
//! nothing.

use super::LoweringCache;
use crate::intel::Intel;
use crate::pseudocode::lower::lower_cached;
use crate::signature::{Returned, Signature};
use semantics::instruction::{Element, Form, Instruction, Operand, Role};
use semantics::span::{Source, Span};

fn signature(name: &str, width: u32) -> Signature {
    let operand = |name: &str| Operand {
        name: name.to_owned(),
        c_type: "__m128i".to_owned(),
        element: Element::Signed(16),
        width,
        role: Role::Register,
    };
    Signature {
        name: name.to_owned(),
        isa: "x86".to_owned(),
        returns: Returned {
            c_type: "__m128i".to_owned(),
            element: Element::Signed(16),
            width,
        },
        operands: vec![operand("a"), operand("b")],
        features: Vec::new(),
        mnemonic: None,
        form: Form::Single,
    }
}

/// A sum of elements, a difference, the sum with another result, and no meaning at all.
fn lowered(cached: &LoweringCache) -> Vec<Option<Instruction>> {
    let sum = "FOR j := 0 to 7\n i := j*16\n dst[i+15:i] := a[i+15:i] + b[i+15:i]\nENDFOR";
    let difference = sum.replace(" + ", " - ");
    let bodies = [
        ("_sum", 128, sum),
        ("_difference", 128, &difference),
        ("_half", 128, "dst[63:0] := a[63:0]\ndst[127:64] := 0"),
        ("_wrong", 128, "dst[127:0] := nobody"),
    ];
    let lower = |&(name, width, text): &(&str, u32, &str)| {
        let source = Source::new(name, text);
        let whole = Span::new(0, text.len());
        lower_cached(
            &Intel,
            &signature(name, width),
            &source,
            whole,
            false,
            cached,
        )
        .ok()
    };
    bodies.iter().map(lower).collect()
}

#[test]
fn what_was_kept_is_what_is_found() {
    let first = LoweringCache::default();
    let cold = lowered(&first);
    assert_eq!(first.fresh(), 3, "what has no meaning is not kept");
    let text = first.text().expect("all of it is new");
    let again = LoweringCache::read(&text).expect("it is whole");
    assert_eq!(lowered(&again), cold);
    assert_eq!((again.fresh(), again.text()), (0, None));
}

#[test]
fn another_signature_or_body_is_another_meaning() {
    let text = "dst[127:0] := a[127:0]";
    let of = |name: &str, text: &str| super::digest("intel", &signature(name, 128), text, false);
    assert_ne!(of("_a", text), of("_b", text));
    assert_ne!(of("_a", text), of("_a", "dst[127:0] := b[127:0]"));
    assert_ne!(
        of("_a", text),
        super::digest("intel", &signature("_a", 128), text, true)
    );
}

#[test]
fn what_is_no_text_of_meanings_is_nothing() {
    let first = LoweringCache::default();
    lowered(&first);
    let text = first.text().expect("all of it is new");
    let half = &text[..text.len() / 2];
    for wrong in ["", "7", "x\n", "2\nb 1\n", "0\nnonsense dst=1\n", half] {
        assert!(LoweringCache::read(wrong).is_none(), "{}", wrong.len());
    }
}
