//! Our own specifications have none of the mistakes that the lint is certain of.

use rayon::prelude::*;
use semantics::diagnostic::render;
use spec_parser::{manifest, specs};
use std::fs;
use std::path::Path;
use target::Targets;
use validate::check::lint::faults;

#[test]
fn sets_that_are_described_have_no_faults() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../isa-specs"));
    let mut looked_at = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let set = entry.expect("its entries can be read").path();
        let path = set.join("manifest.yaml");
        // Machines have no models of processors; `tests/end_to_end/machine.rs` looks at them.
        if !set.join("targets.yaml").exists() {
            continue;
        }
        let dialect = manifest::dialect(&path).unwrap_or_else(|d| panic!("{}", render(&d)));
        let loaded = specs::load(&path).unwrap_or_else(|d| panic!("{}", render(&d)));
        let targets = Targets::load(&set).unwrap_or_else(|d| panic!("{}", d.message));
        let wrong: Vec<String> = loaded
            .instructions
            .par_iter()
            .flat_map_iter(|instruction| {
                let found = faults(instruction, &dialect, &targets).into_iter();
                let certain = found.filter(|f| f.is_fault());
                certain.map(|f| format!("{}: {f}", instruction.name))
            })
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        println!("{dialect}: {} instructions", loaded.instructions.len());
        looked_at.push(loaded.instructions.len());
    }
    assert!(
        looked_at.len() >= 3 && looked_at.iter().all(|&n| n > 100),
        "{looked_at:?}"
    );
}
