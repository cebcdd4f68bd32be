//! How fast a vendor's data file becomes instructions.
//!
//! Reads, lowers and type-checks the whole data file of the Intrinsics Guide on two threads,
//! five times, and prints the times, bodies a second, and the most memory that the process
//! held. The first round builds the terms; later ones find them. Skipped with a word where
//! the file is absent. `cargo bench -p spec-parser`.

use semantics::sort::Sort;
use semantics::span::Source;
use spec_parser::errata;
use spec_parser::intel::guide::{self, Loaded};
use spec_parser::intel::vendor;
use std::path::Path;
use std::time::Instant;

const FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../shared/vendor/intel/intrinsics-guide-3.6.9.xml"
);

fn main() {
    let text = match std::fs::read_to_string(FILE) {
        Ok(text) => text,
        Err(error) => {
            println!("skipped: intrinsics-guide-3.6.9.xml: {error}");
            return;
        }
    };
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../isa-specs/x86/errata.yaml");
    let errata = errata::load(Path::new(path)).expect("our errata are right");
    let source = Source::new("intrinsics-guide-3.6.9.xml", text);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .build()
        .expect("threads start");
    let start = Instant::now();
    let (entries, _) = vendor::read(&source).expect("it is XML");
    println!("{} entries read in {:?}", entries.len(), start.elapsed());
    for round in 1..=5 {
        let start = Instant::now();
        let loaded = pool.install(|| guide::load(&source, &errata).expect("it is XML"));
        let lowered = start.elapsed();
        let checked = type_check(&loaded);
        let time = start.elapsed();
        let counts = loaded.counts;
        let rate = counts.bodies as f64 / time.as_secs_f64();
        println!(
            "round {round}: {} of {} bodies in {lowered:?}, {checked} results checked in {:?}: {rate:.0} bodies/s",
            counts.lowered,
            counts.bodies,
            time - lowered,
        );
    }
    if let Some(peak) = peak() {
        println!("most memory: {peak} MB");
    }
}

/// Checks that each returned value has the width that the signature says; how many there are.
/// That every node of a term obeys its operator's type rule is checked when it is built.
fn type_check(loaded: &Loaded) -> usize {
    let all = loaded.instructions.iter().chain(&loaded.system);
    let outputs = all.flat_map(|i| &i.outputs);
    outputs
        .inspect(|o| {
            let width = spec_parser::intel::types::c_type_width(&o.c_type).unwrap_or(64);
            if o.name == "dst" {
                assert_eq!(o.term.sort(), Sort::Bv(width), "{}", o.c_type);
            }
        })
        .count()
}

/// The most megabytes that the process held, where the system tells.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1024)
}
