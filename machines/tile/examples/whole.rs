//! scratch
use kernel::index::Symbol;
use smt::config::Config;
use smt::prover::Prover;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;
use tile::systolic::place::{Constraints, propose};
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let text = std::fs::read_to_string(&args[0]).unwrap();
    let source = semantics::span::Source::new(&args[0], &text);
    let (kernels, d) = kernel::read(&source);
    assert!(d.is_empty(), "{d:?}");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../isa-specs/gemmini/manifest.yaml");
    let (machine, _) = spec_parser::matrix::load::load(&folder).unwrap();
    let prover = Prover::new(Config::default());
    for k in &kernels {
        let sizes: BTreeMap<Symbol, i64> = k.sizes().zip(args[1..].iter().map(|a| a.parse().unwrap())).collect();
        let t = Instant::now();
        let mut c = Constraints::default();
        if std::env::var("OUTPUTS").is_ok() { c.plan.stationary = tile::systolic::plan::Stationary::Outputs; }
        if std::env::var("ROWS").is_ok() { c.plan.outer = tile::systolic::plan::Outer::Rows; }
        if std::env::var("HW").is_ok() { c.hardware_loop = true; }
        let p = match propose(k, &sizes, &machine, &prover, c) { Ok(p) => p, Err(e) => { println!("{}: {:?}", k.name, e[0].message); continue } };
        let made = t.elapsed();
        let t = Instant::now();
        let r = tile::systolic::whole::prove(k, &sizes, &p, &machine, &prover);
        println!("{} {:?}: {r:?} made {made:?} proved {:?}", k.name, &args[1..], t.elapsed());
    }
}
