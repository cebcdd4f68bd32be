//! Exo libraries of machines: every block and tile instruction has its definition.

use codegen_gen::exo::block;
use spec_parser::matrix::load::load;
use std::path::Path;

#[test]
fn every_block_of_gemmini_has_a_definition() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../isa-specs/gemmini/manifest.yaml");
    let (machine, wrong) = load(&path).expect("our specification");
    assert!(
        wrong.is_empty(),
        "{}",
        semantics::diagnostic::render(&wrong)
    );
    let mut text = Vec::new();
    let file = block::artefact(&machine, "# made".to_owned());
    let log = (file.write)(&mut text).expect("memory has room");
    let text = String::from_utf8(text).expect("it is text");
    std::fs::write(
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("autoir_gemmini.py"),
        &text,
    )
    .expect("there is room");
    assert_eq!(log, "12 definitions");
    for body in [
        "            for l in seq(0, k):\n                c[i, j] += a[i, l] * b[l, j]\n",
        "            for l in seq(0, k):\n                c[i, j] += a[i, l] * b[j, l]\n",
        "            dst[i, j] += src[i, j]\n",
        "            dst[i, j] = 0.0\n",
        "            y = x * scale\n",
    ] {
        assert!(text.contains(body), "{body} in\n{text}");
    }
}
