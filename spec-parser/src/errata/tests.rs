//! Errata, by example.

use super::{VendorText, alternatives, parse};
use crate::signature::{Returned, Signature};
use expect_test::expect;
use semantics::diagnostic::render;
use semantics::instruction::{Element, Form, Operand, Role};
use semantics::span::Source;

fn signature() -> Signature {
    Signature {
        name: "_mm_f".to_owned(),
        isa: "x86".to_owned(),
        returns: Returned {
            c_type: "__m128i".to_owned(),
            element: Element::Unsigned(32),
            width: 128,
        },
        operands: vec![Operand {
            name: "a".to_owned(),
            c_type: "__m128i".to_owned(),
            element: Element::Unsigned(32),
            width: 128,
            role: Role::Register,
        }],
        features: Vec::new(),
        mnemonic: None,
        form: Form::Single,
    }
}

const TEXT: &str = "\
- erratum: first
  intrinsics: [\"_mm{,256}_f\"]
  wrong: Something.
  established: Somehow.
  right:
    signed: [a]
    pseudocode: |
      dst[{W-1}:0] := {N}
";

#[test]
fn patterns_are_names() {
    assert_eq!(
        alternatives("_mm{,256}_{a,b}"),
        Ok(["_mm_a", "_mm_b", "_mm256_a", "_mm256_b"]
            .map(str::to_owned)
            .to_vec())
    );
    assert!(alternatives("_mm{").is_err());
    let many = alternatives(&"{a,b,c}".repeat(60)).expect_err("these are 3^60 names");
    assert!(many.contains("more than 4096 names"), "{many}");
    assert!(alternatives(&"{a}".repeat(100_000)).is_err());
}

#[test]
fn corrections_apply() {
    let source = Source::new("errata.yaml", TEXT);
    let errata = parse(&source).expect("the text is right");
    assert_eq!(
        errata.intrinsics().collect::<Vec<_>>(),
        ["_mm256_f", "_mm_f"]
    );
    let erratum = &errata.of("_mm_f")[0];
    let mut signature = signature();
    erratum.correct_signature(&mut signature);
    assert_eq!(signature.operands[0].element, Element::Signed(32));
    let text = erratum
        .replacement(&signature)
        .expect("there is one")
        .expect("its variables are bound");
    assert_eq!(text.text, "dst[127:0] := 4\n");
}

#[test]
fn declared_types_and_roundings_are_corrected() {
    let right = "    types: {a: int, dst: long long}\n";
    let text = TEXT.replace("    signed: [a]\n", right);
    let errata = parse(&Source::new("errata.yaml", text)).expect("the text is right");
    let mut changed = signature();
    changed.operands[0].role = Role::Immediate { max: 31 };
    errata.of("_mm_f")[0].correct_signature(&mut changed);
    let operand = &changed.operands[0];
    assert_eq!((operand.width, operand.role), (32, Role::Register));
    assert_eq!(operand.c_type, "int");
    let returns = (changed.returns.width, changed.returns.c_type.as_str());
    assert_eq!(returns, (64, "long long"));

    let text = TEXT.replace("signed: [a]", "rounding: [a]");
    let errata = parse(&Source::new("errata.yaml", text)).expect("the text is right");
    let mut changed = signature();
    errata.of("_mm_f")[0].correct_signature(&mut changed);
    assert_eq!(changed.operands[0].role, Role::Rounding);

    let text = TEXT.replace("signed: [a]", "types: {a: long lung}");
    let problems = parse(&Source::new("errata.yaml", text)).expect_err("there is no such type");
    assert_eq!(
        problems[0].message,
        "`long lung` is no type of a value in C"
    );
}

#[test]
fn mistakes_point_at_the_file() {
    let source = Source::new("errata.yaml", TEXT.replace("wrong:", "worng:"));
    let found = render(&parse(&source).expect_err("a key is misspelt"));
    expect![[r#"
        error: unknown key `worng`
         --> errata.yaml:3:3
          |
        3 |   worng: Something.
          |   ^
          = hint: did you mean `wrong`?

    "#]]
    .assert_eq(&found);
}

#[test]
fn one_text_replaces_another_only_once() {
    let text = "
- erratum: one
  intrinsics: [\"f{1,2}\"]
  wrong: w
  established: e
  right: {pseudocode: \"dst := a\"}
- erratum: two
  intrinsics: [f2]
  wrong: w
  established: e
  right: {refuse: no}
- erratum: three
  intrinsics: [f2]
  wrong: w
  established: e
  right: {elements: {a: Q7}}
";
    let problems = parse(&Source::new("errata.yaml", text)).expect_err("two texts");
    let told: Vec<&str> = problems.iter().map(|p| p.message.as_str()).collect();
    assert_eq!(
        told,
        [
            "`one` and `two` both replace `f2`",
            "`Q7` is no element type"
        ]
    );
}

#[test]
fn an_erratum_mends_only_the_texts_that_it_names() {
    let found = VendorText::of("dst := a\n", &signature());
    let spaced = VendorText::of("  dst :=   a", &signature());
    assert_eq!(found.body, spaced.body, "blanks do not matter");
    let other = VendorText::of("dst := a + 1", &signature());
    let mark = format!("  texts: {:08x}\n  wrong", found.body);
    let of = |text: &str| {
        let errata = parse(&Source::new("errata.yaml", text)).expect("the text is right");
        std::sync::Arc::clone(&errata.of("_mm_f")[0])
    };
    let bound = of(&TEXT.replacen("  wrong", &mark, 1));
    assert!(bound.is_about(found) && !bound.is_about(other));
    assert!(of(TEXT).is_about(found) && of(TEXT).is_about(other));
    // What only operands are mended in is bound to their declarations.
    let (head, _) = TEXT.split_once("    pseudocode").expect("it has a text");
    let mark = format!("  texts: {:08x}\n  wrong", found.declared);
    let declared = of(&head.replacen("  wrong", &mark, 1));
    assert!(declared.is_about(found) && declared.is_about(other));
    let mut changed = signature();
    changed.operands[0].element = Element::Signed(32);
    assert!(!declared.is_about(VendorText::of("dst := a", &changed)));
    let wrong = TEXT.replacen("  wrong", "  texts: 12 x\n  wrong", 1);
    assert!(parse(&Source::new("errata.yaml", wrong)).is_err());
}
