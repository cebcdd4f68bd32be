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

/// Entries as schemas before 3.5 have them: no element types, the technology by extension.
#[test]
fn names_tell_the_elements_of_older_schemas() {
    let text = r"<intrinsics_list version='3.4.2'>
<intrinsic tech='SSE2' vexEq='TRUE' rettype='__m128i' name='_mm_max_epi16'>
  <type>Integer</type><CPUID>SSE2</CPUID><category>Special Math Functions</category>
  <parameter varname='a' type='__m128i'/><parameter varname='b' type='__m128i'/>
  <operation>
FOR j := 0 to 7
  dst[16*j+15:16*j] := MAX(a[16*j+15:16*j], b[16*j+15:16*j])
ENDFOR
  </operation>
  <instruction name='pmaxsw' form='xmm, xmm'/></intrinsic>
<intrinsic tech='SSE4.1' rettype='__m128i' name='_mm_cvtepi8_epi32'>
  <CPUID>SSE4.1</CPUID><category>Convert</category><parameter varname='a' type='__m128i'/>
  <operation>
FOR j := 0 to 3
  dst[32*j+31:32*j] := a[8*j+7:8*j]
ENDFOR
  </operation>
  <instruction name='pmovsxbd' form='xmm, xmm'/></intrinsic>
<intrinsic tech='AVX-512' rettype='__m512' name='_mm512_maskz_add_ps'>
  <CPUID>AVX512F</CPUID><category>Arithmetic</category>
  <parameter varname='k' type='__mmask16'/><parameter varname='a' type='__m512'/>
  <parameter varname='b' type='__m512'/>
  <operation>
FOR j := 0 to 15
  dst[32*j+31:32*j] := k[j] ? a[32*j+31:32*j] + b[32*j+31:32*j] : 0
ENDFOR
  </operation>
  <instruction name='vaddps' form='zmm {z}, zmm, zmm'/></intrinsic>
<intrinsic tech='SSE2' rettype='__m128i' name='_mm_slli_epi32'>
  <CPUID>SSE2</CPUID><category>Shift</category>
  <parameter varname='a' type='__m128i'/><parameter varname='imm8' type='int'/>
  <operation>
FOR j := 0 to 3
  dst[32*j+31:32*j] := a[32*j+31:32*j] &lt;&lt; imm8[7:0]
ENDFOR
  </operation>
  <instruction name='pslld' form='xmm, imm8'/></intrinsic>
<intrinsic tech='SSE' rettype='__m128' name='_mm_set1_ps' sequence='TRUE'>
  <CPUID>SSE</CPUID><category>Set</category><parameter varname='a' type='float'/>
  <operation>dst[31:0] := a[31:0]</operation><instruction name='shufps' form='xmm'/></intrinsic>
<intrinsic tech='SVML' rettype='__m128' name='_mm_sin_ps'>
  <CPUID>SSE</CPUID><category>Trigonometry</category><parameter varname='a' type='__m128'/>
  <operation>dst[31:0] := SIN(a[31:0])</operation></intrinsic>
</intrinsics_list>";
    let source = Source::new("guide.xml", text);
    let loaded = guide::load(&source, &Errata::default()).expect("the file is right");
    assert_eq!(render(&loaded.diagnostics), "");
    let told: Vec<String> = loaded
        .instructions
        .iter()
        .map(|i| {
            let of = |o: &semantics::instruction::Operand| format!("{} {:?}", o.element, o.role);
            let operands: Vec<String> = i.operands.iter().map(of).collect();
            format!(
                "{}: {} {:?}\n  {}",
                i.name,
                operands.join(", "),
                i.form,
                i.term()
            )
        })
        .collect();
    expect![[r#"
        _mm_max_epi16: i16 Register, i16 Register Single
          (map 8 (i1) (smax (extract[16] a (imul i1 16)) (extract[16] b (imul i1 16))))
        _mm_cvtepi8_epi32: i8 Register Single
          (map 4 (i1) (sext[32] (extract[8] a (imul i1 8))))
        _mm512_maskz_add_ps: mask Mask, f32 Register, f32 Register Single
          (map 16 (i1) (ite (= (extract[1] k i1) 0x1:1) (fadd[f32,rne] (extract[32] a (imul i1 32)) (extract[32] b (imul i1 32))) 0x00000000:32))
        _mm_slli_epi32: i32 Register, bits Immediate { max: 255 } Single
          (map 4 (i1) (bvshl (extract[32] a (imul i1 32)) (zext[32] imm8)))
        _mm_set1_ps: f32 Register Sequence
          (zext[128] a)
        _mm_sin_ps: f32 Register Library
          (zext[128] (f_library[f32,sin] (extract[32] a 0)))"#]].assert_eq(&told.join("\n"));
    assert_eq!(
        (
            loaded.counts.instructions,
            loaded.counts.sequences,
            loaded.counts.called
        ),
        (4, 1, 1)
    );
}

#[test]
fn entries_are_told_apart_by_technology_and_types() {
    let entry = |tech: &str, c_type: &str, body: &str| {
        format!(
            "<intrinsic tech='{tech}' name='f'><return type='int' varname='dst'/>\
             <parameter type='{c_type}' varname='a' etype='SI32'/><operation>{body}</operation>\
             <instruction name='f'/></intrinsic>"
        )
    };
    let text = format!(
        "<list>{}{}{}{}{}</list>",
        entry("SSE2", "int", "dst := a + 1"),
        entry("SSE2", "int", "dst := 1 + a"),
        entry("AVX", "int", "dst := a + 1"),
        entry("AVX", "unsigned int", "dst := a + 1"),
        entry("AVX", "int", "dst := a + 2"),
    );
    let source = Source::new("guide.xml", text);
    let loaded = guide::load(&source, &Errata::default()).expect("the file is right");
    let counts = loaded.counts;
    assert_eq!(
        (counts.lowered, counts.repeated, counts.alternatives),
        (5, 1, 3)
    );
    assert_eq!(loaded.instructions.len(), 1);
    let told: Vec<&str> = loaded
        .diagnostics
        .iter()
        .map(|d| d.message.as_str())
        .collect();
    assert_eq!(told, ["`f` is here a second time with another text"]);
}

#[test]
fn entries_without_a_body_are_listed() {
    let text = "<list><intrinsic tech='SSE' name='_mm_castps_pd'><category>Cast</category>\
                <return type='__m128d'/><parameter type='__m128' varname='a'/></intrinsic></list>";
    let source = Source::new("guide.xml", text);
    let loaded = guide::load(&source, &Errata::default()).expect("the file is right");
    assert_eq!(
        loaded.silent,
        [("_mm_castps_pd".to_owned(), "Cast".to_owned())]
    );
}
