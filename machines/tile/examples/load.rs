//! scratch
use std::path::Path;
fn main() {
    for isa in std::env::args().skip(1) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../isa-specs/{isa}/manifest.yaml"));
    let t = std::time::Instant::now();
    let (machine, _) = spec_parser::matrix::load::load(&folder).unwrap();
    println!("{isa} {} {:?}", machine.instructions.len(), t.elapsed());
    }
}
