//! Multiply-accumulates a second on one core: a loop of each product of RVM, the best of five
//! runs.

use semantics::span::Source;
use sim::memory::Memory;
use sim::program::MachineProgram;
use sim::run::Simulator;
use std::path::Path;
use std::time::Instant;

fn main() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../isa-specs/rvm/manifest.yaml");
    let (machine, wrong) = spec_parser::matrix::load::load(&path).expect("our specification");
    assert!(wrong.is_empty(), "our specification is right");
    for name in ["mmasa.w", "mmada.h", "mmaqa.b", "fmmacc.s"] {
        let product = format!("  {name} m2, m1, m0\n");
        let text = format!(
            ".set a1, 16\n.set a2, 4000\nmld.w m0, (a0), a1\nmld.w m1, (a0), a1\nmzero m2\n\
             loop:\n{}  addi a2, a2, -1\n  bne a2, x0, loop\n",
            product.repeat(8)
        );
        let source = Source::new("loop.s", text);
        let program = MachineProgram::assemble(&machine, &source).expect("it is right");
        let memory = || {
            let mut memory = Memory::new(4096);
            let bytes = memory.get_mut(0, 64).expect("inside");
            (0..16_usize)
                .for_each(|k| bytes[4 * k..][..4].copy_from_slice(&(k as f32).to_le_bytes()));
            memory
        };
        let mut best = f64::INFINITY;
        let mut products = 0;
        for _ in 0..5 {
            let mut simulator = Simulator::new(&machine, memory());
            let start = Instant::now();
            let counts = simulator.run_quietly(&program, u64::MAX).expect("it runs");
            best = best.min(start.elapsed().as_secs_f64());
            products = counts.products;
        }
        println!(
            "{name}: {:.1} million multiply-accumulates a second",
            products as f64 / best / 1e6
        );
    }
}
