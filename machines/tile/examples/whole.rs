//! scratch
use kernel::index::Symbol;
use smt::config::Config;
use smt::prover::Prover;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;
use tile::mapped::{self, Code, Loops, Request};
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let isa = &args[0];
    let text = std::fs::read_to_string(&args[1]).unwrap();
    let source = semantics::span::Source::new(&args[1], &text);
    let (kernels, d) = kernel::read(&source);
    assert!(d.is_empty(), "{d:?}");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../isa-specs/{isa}/manifest.yaml"));
    let t = Instant::now();
    let (machine, _) = spec_parser::matrix::load::load(&folder).unwrap();
    println!("loaded {:?}", t.elapsed());
    let prover = Prover::new(Config::default());
    for k in &kernels {
        let k = &schedule::with_parameters(k, &machine.parameters);
        let sizes: BTreeMap<Symbol, i64> = k.sizes().zip(args[2..].iter().map(|a| a.parse().unwrap())).collect();
        let t = Instant::now();
        let mut request = Request { first: 4096, apart: 64, loops: Loops::Large, constraints: Default::default() };
        if std::env::var("LOOPS").is_ok() { request.loops = Loops::Tiles(None); }
        let c = &mut request.constraints;
        if std::env::var("OUTPUTS").is_ok() { c.plan.stationary = tile::systolic::plan::Stationary::Outputs; }
        if std::env::var("ROWS").is_ok() { c.plan.outer = tile::systolic::plan::Outer::Rows; }
        if std::env::var("HW").is_ok() { c.hardware_loop = true; }
        let scheduled = schedule::apply(k).unwrap();
        let p = match mapped::map(&scheduled, &sizes, &machine, &prover, &request) { Ok(p) => p, Err(e) => { println!("{}: {:?}", k.name, e[0].message); continue } };
        let made = t.elapsed();
        let t = Instant::now();
        let r = match &p.code {
            Code::Commands(c) => tile::whole::commands(k, &sizes, c, &machine, &prover),
            Code::Function(f) => tile::whole::function(k, &sizes, f, &machine, &prover),
        };
        println!("{} {:?}: {r:?} made {made:?} ({}) proved {:?}", k.name, &args[2..], p.verdict, t.elapsed());
    }
}
