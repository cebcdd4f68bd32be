//! Entries of small data files, and what is said of files that are wrong.

use super::read;
use crate::errata::Errata;
use crate::intel::guide;
use expect_test::expect;
use semantics::diagnostic::render;
use semantics::instruction::{Element, Form, Role};
use semantics::span::Source;

const NEW: &str = r#"<intrinsics_list version="3.6.9">
<intrinsic tech="T" name="f">
  <CPUID>X</CPUID>
  <category>Arithmetic</category>
  <return type="__m128i" varname="dst" etype="SI16"/>
  <parameter type="__m128i" varname="a" etype="UI8"/>
  <parameter type="const int" varname="imm8" etype="IMM" immwidth="2"/>
  <operation>
dst[127:0] := a[127:0] &gt;&gt; imm8[1:0]
  </operation>
  <instruction name="F" form="xmm, imm8"/>
</intrinsic>
</intrinsics_list>
"#;

#[test]
fn an_entry_is_a_signature() {
    let source = Source::new("guide.xml", NEW);
    let (entries, problems) = read(&source).expect("the file is right");
    assert!(problems.is_empty());
    let signature = entries[0].signature();
    assert_eq!(signature.returns.width, 128);
    assert_eq!(signature.returns.element, Element::Signed(16));
    assert_eq!(signature.operands[0].element, Element::Unsigned(8));
    assert_eq!(signature.operands[1].role, Role::Immediate { max: 3 });
    assert_eq!(signature.mnemonic.as_deref(), Some("f xmm, imm8"));
    assert_eq!(signature.form, Form::Single);
    let loaded = guide::load(&source, &Errata::default()).expect("the file is right");
    expect!["(bvlshr a (zext[128] (extract[2] imm8 0)))"]
        .assert_eq(&loaded.instructions[0].term().to_string());
}

#[test]
fn schemas_before_3_5_give_the_type_on_the_entry() {
    let text = r#"<list><intrinsic tech="T" name="f" rettype="int">
        <parameter type="int" varname="a"/><operation>dst := a</operation></intrinsic></list>"#;
    let source = Source::new("guide.xml", text);
    let (entries, problems) = read(&source).expect("the file is right");
    assert!(problems.is_empty());
    assert_eq!(entries[0].signature().returns.width, 32);
}

#[test]
fn one_wrong_entry_does_not_stop_the_others() {
    let text = NEW.replace(
        "</intrinsics_list>",
        "<intrinsic name=\"\"/><intrinsic name=\"g\" tech=\"T\"/></intrinsics_list>",
    );
    let source = Source::new("guide.xml", text);
    let loaded = guide::load(&source, &Errata::default()).expect("the file is XML");
    assert_eq!(loaded.instructions.len(), 1);
    expect![[r#"
        error: an `<intrinsic>` without a name
          --> guide.xml:13:1
           |
        13 | <intrinsic name=""/><intrinsic name="g" tech="T"/></intrinsics_list>
           | ^^^^^^^^^^^^^^^^^^^^
          = hint: this entry is left out

        error: `g` has no return type
          --> guide.xml:13:21
           |
        13 | <intrinsic name=""/><intrinsic name="g" tech="T"/></intrinsics_list>
           |                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          = hint: this entry is left out

    "#]]
    .assert_eq(&render(&loaded.diagnostics));
}

#[test]
fn what_is_not_xml() {
    let source = Source::new(
        "guide.xml",
        "<intrinsics_list>\n  <intrinsic name=\"f\">\n</list>",
    );
    let told = guide::load(&source, &Errata::default()).expect_err("the file is wrong");
    expect![[r#"
        error: this is not XML: expected 'intrinsic' tag, not 'list' at 3:1
         --> guide.xml:3:1
          |
        3 | </list>
          | ^
          = hint: the data file of the Intrinsics Guide is expected here
    "#]]
    .assert_eq(&told.to_string());
}

#[test]
fn a_mistake_in_a_body_points_into_the_file() {
    let source = Source::new("guide.xml", NEW.replace("a[127:0]", "Satrate16(a[127:0])"));
    let loaded = guide::load(&source, &Errata::default()).expect("the file is XML");
    expect![[r#"
        error: the function `Satrate16` is not described
         --> guide.xml:9:15
          |
        9 | dst[127:0] := Satrate16(a[127:0]) &gt;&gt; imm8[1:0]
          |               ^^^^^^^^^^^^^^^^^^^
          = note: in `f`
          = hint: did you mean `Saturate16`?

    "#]]
    .assert_eq(&render(&loaded.diagnostics));
}
