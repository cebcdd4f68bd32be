//! Two versions of a vendor's file, in our own words: errata that were written for the newer one
//! mend what they name, and leave the older one's texts alone where these say something else.

use semantics::bits::Bits;
use semantics::eval::{CompiledTerms, Input};
use semantics::sort::Sort;
use semantics::span::Source;
use semantics::value::Value;
use spec_parser::errata::{Errata, VendorText, parse};
use spec_parser::intel::guide::{self, Loaded};
use spec_parser::intel::vendor;

/// A file with one function of two operands.
fn file(names: [&str; 2], element: &str, body: &str) -> Source {
    let [x, y] = names;
    let text = format!(
        "<list><intrinsic tech=\"T\" name=\"f\"><return type=\"int\" varname=\"dst\" etype=\"UI32\"/>\
         <parameter type=\"int\" varname=\"{x}\" etype=\"{element}\"/>\
         <parameter type=\"int\" varname=\"{y}\" etype=\"UI32\"/>\
         <operation>{body}</operation></intrinsic></list>"
    );
    Source::new("guide.xml", text)
}

fn vendor_text(source: &Source) -> VendorText<'_> {
    let (entries, _) = vendor::read(source).expect("it is XML");
    let span = entries[0].operation.expect("it has a body");
    VendorText::of(source.slice(span), &entries[0].signature())
}

/// An erratum about the texts with a mark, or about any.
fn erratum(mark: Option<u32>, right: &str) -> Errata {
    let texts = mark.map_or(String::new(), |mark| format!("  texts: {mark:08x}\n"));
    let text = format!(
        "- erratum: e\n  intrinsics: [f]\n{texts}  wrong: w\n  established: e\n  right: {right}\n"
    );
    parse(&Source::new("errata.yaml", text)).expect("the erratum is right")
}

fn loaded(source: &Source, errata: &Errata) -> Loaded {
    guide::load(source, errata).expect("it is XML")
}

/// What the one function is of two numbers; nothing when it has no meaning.
fn value(loaded: &Loaded, numbers: [u64; 2]) -> Option<u64> {
    let [instruction] = &loaded.instructions[..] else {
        return None;
    };
    let inputs = instruction.operands.iter().map(|operand| Input {
        name: operand.name.clone(),
        sort: Sort::Bv(32),
    });
    let term = instruction.outputs[0].term;
    let program = CompiledTerms::compile(&[term], &inputs.collect::<Vec<_>>()).expect("it runs");
    match &program.run(&numbers.map(|n| Value::Bv(Bits::from_u64(32, n))))[..] {
        [Value::Bv(bits)] => bits.to_u64(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_text_that_replaces_one_body_replaces_no_other() {
    let wrong = file(["a", "b"], "UI32", "dst[31:0] := a[31:0] - b[31:0]\n");
    let errata = |mark| erratum(mark, "{pseudocode: \"dst[31:0] := a[31:0] + b[31:0]\"}");
    let mending = errata(Some(vendor_text(&wrong).body));
    let newer = loaded(&wrong, &mending);
    assert_eq!(value(&newer, [5, 3]), Some(8));
    assert_eq!(newer.errata["e"], ["f"]);
    // The older text is right, in other words, and of operands that the erratum does not know.
    let right = file(["x", "y"], "UI32", "dst[31:0] := y[31:0] + x[31:0] + 1\n");
    let older = loaded(&right, &mending);
    assert_eq!(value(&older, [5, 3]), Some(9));
    assert!(older.errata.is_empty() && older.diagnostics.is_empty());
    // An erratum that names no text would have spoilt it.
    let spoilt = loaded(&right, &errata(None));
    assert_eq!(value(&spoilt, [5, 3]), None);
    // Where the older text has the same mistake, laid out in another way, it is mended too.
    let same = file(["a", "b"], "UI32", "  dst[31:0]  :=  a[31:0] - b[31:0]");
    assert_eq!(value(&loaded(&same, &mending), [5, 3]), Some(8));
}

#[test]
fn what_mends_a_declaration_is_bound_to_declarations() {
    let body = "dst[31:0] := a[31:0] &gt;&gt; 1\n";
    let wrong = file(["a", "b"], "UI32", body);
    let mending = erratum(Some(vendor_text(&wrong).declared), "{signed: [a]}");
    let minus = u64::from(-8i32 as u32);
    let half = u64::from(-4i32 as u32);
    assert_eq!(
        value(&loaded(&wrong, &Errata::default()), [minus, 0]),
        Some(minus >> 1)
    );
    assert_eq!(value(&loaded(&wrong, &mending), [minus, 0]), Some(half));
    let older = loaded(&file(["a", "b"], "SI32", body), &mending);
    assert_eq!(value(&older, [minus, 0]), Some(half));
    assert!(older.errata.is_empty(), "it was right");
}

#[test]
fn what_is_refused_in_one_text_is_read_in_another() {
    let newer = file(["a", "b"], "UI32", "dst[31:0] := a[31:0]\n");
    let older = file(["a", "b"], "UI32", "dst[31:0] := b[31:0]\n");
    let refusing = erratum(Some(vendor_text(&newer).body), "{refuse: nobody knows}");
    let refused = loaded(&newer, &refusing);
    assert!(refused.instructions.is_empty() && !refused.diagnostics.is_empty());
    assert_eq!(value(&loaded(&older, &refusing), [5, 3]), Some(3));
}
