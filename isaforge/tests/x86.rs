//! `Target::x86` has what the specifications of x86 say.

use isaforge::Target;
use std::path::Path;

#[test]
fn registers_and_headers_are_those_of_the_specifications() {
    let target = Target::x86(["SSE2", "AVX", "AVX512F"]);
    let classes = target.registers.iter();
    let classes: Vec<_> = classes.map(|r| (r.c_type.as_str(), r.count)).collect();
    assert_eq!(classes, [("__m128i", 16), ("__m256i", 16), ("__m512i", 32)]);
    assert_eq!(Target::x86(["SSE2"]).registers.len(), 1);
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../isa-specs/x86/manifest.yaml");
    let section = spec_parser::manifest::c_section(&manifest).expect("it is read");
    assert_eq!(target.headers, section.headers);
}
