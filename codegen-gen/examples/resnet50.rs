//! The layers of ResNet-50 at batch 4 on Gemmini: equality with plain loops, and what they take.
//!
//! In: nothing, or words that a layer's name must contain, and `--host` for a table of cycles with and
//! without the instructions that the host runs for commands. Out: a line for each layer:
//! commands by kind, configuration written outside and inside loops, cycles in the model,
//! how busy the array is, and the same by the machine's own loop where that has the form, and with
//! stationary outputs.

use kernel::index::Symbol;
use kernel::tree::Kernel;
use semantics::diagnostic::render;
use semantics::machine::Machine;
use semantics::span::Source;
use sim::memory::Memory;
use sim::run::Simulator;
use smt::config::Config;
use smt::prover::Prover;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;
use tile::systolic::place::{Constraints, map};
use tile::systolic::plan::Stationary;
use tile::systolic::program::CommandProgram;

/// What a layer is; sizes in the order of its kernel.
struct Layer {
    name: String,
    kernel: &'static str,
    sizes: Vec<i64>,
}

fn layers() -> Vec<Layer> {
    let mut all = Vec::new();
    let mut add = |name: String, kernel, sizes: &[i64]| {
        all.push(Layer {
            name,
            kernel,
            sizes: sizes.to_vec(),
        });
    };
    // Rows, columns, what is summed: the convolutions by 1 times 1 of the four stages.
    let products: &[[i64; 3]] = &[
        [12544, 64, 64],
        [12544, 256, 64],
        [12544, 64, 256],
        [3136, 128, 256],
        [3136, 512, 128],
        [3136, 128, 512],
        [3136, 512, 256],
        [784, 256, 512],
        [784, 1024, 256],
        [784, 256, 1024],
        [784, 1024, 512],
        [196, 512, 1024],
        [196, 2048, 512],
        [196, 512, 2048],
        [196, 2048, 1024],
        [4, 1000, 2048],
    ];
    for s in products {
        add(format!("matmul {}x{}x{}", s[0], s[1], s[2]), "matmul", s);
    }
    add(
        "full width 784x256x512".into(),
        "matmul_full",
        &[784, 256, 512],
    );
    for (size, channels) in [(56, 64), (28, 128), (14, 256), (7, 512)] {
        let sizes = [4, size, size, channels, channels];
        add(
            format!("conv3x3 {size}x{size}x{channels}"),
            "conv3x3",
            &sizes,
        );
    }
    add(
        "conv3x3 and pool 28x28x64".into(),
        "conv3x3_pool",
        &[4, 14, 14, 64, 64],
    );
    add(
        "conv1x1 and pool 56x56x64".into(),
        "conv1x1_pool",
        &[4, 28, 28, 64, 64],
    );
    for (rows, columns) in [(12544, 256), (3136, 512), (784, 1024), (196, 2048)] {
        add(
            format!("residual {rows}x{columns}"),
            "residual_add",
            &[rows, columns],
        );
    }
    all
}

/// Memory of a layer, and where arrays lie.
struct Board {
    bytes: Vec<u8>,
    at: Vec<usize>,
}

impl Board {
    fn new(program: &CommandProgram, seed: u64) -> Board {
        let (mut at, mut end) = (Vec::new(), 4096);
        for array in &program.arrays {
            at.push(end);
            end += usize::try_from(array.bytes)
                .expect("it fits")
                .next_multiple_of(64);
        }
        let mut bytes = vec![0; end];
        let mut state = seed;
        for (array, &start) in program.arrays.iter().zip(&at) {
            let wide = array.name == "bias";
            for (k, byte) in bytes[start..start + array.bytes as usize]
                .iter_mut()
                .enumerate()
            {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                // Words of a bias are small numbers of either sign.
                *byte = if wide && k % 4 >= 2 {
                    0
                } else {
                    (state >> 24) as u8
                };
            }
        }
        Board { bytes, at }
    }

    fn small(&self, array: usize, at: i64) -> i32 {
        i32::from(self.bytes[self.at[array] + at as usize] as i8)
    }

    fn wide(&self, array: usize, at: i64) -> i32 {
        let start = self.at[array] + 4 * at as usize;
        let word = &self.bytes[start..start + 4];
        i32::from_le_bytes([word[0], word[1], word[2], word[3]])
    }
}

/// The nearest byte, ties to even.
fn scaled(sum: i32, by: f32) -> i32 {
    (sum as f32 * by).round_ties_even().clamp(-128.0, 127.0) as i32
}

/// What plain loops give, element by element of the result.
fn plain(layer: &Layer, b: &Board) -> Vec<i32> {
    let s = &layer.sizes;
    let mut out = Vec::new();
    match layer.kernel {
        "matmul" | "matmul_full" => {
            let (m, n, k) = (s[0], s[1], s[2]);
            for i in 0..m {
                let full = layer.kernel == "matmul_full";
                let start = |j| if full { 0 } else { b.wide(2, j) };
                let mut sums: Vec<i32> = (0..n).map(start).collect();
                for p in 0..k {
                    let x = b.small(0, i * k + p);
                    for (j, sum) in (0..).zip(&mut sums) {
                        *sum += x * b.small(1, p * n + j);
                    }
                }
                let finish = |sum: i32| {
                    if full {
                        sum
                    } else {
                        scaled(sum, 1.0 / 128.0).max(0)
                    }
                };
                out.extend(sums.into_iter().map(finish));
            }
        }
        "residual_add" => {
            let add = |e| scaled(b.small(0, e), 0.75) + b.small(1, e);
            out.extend((0..s[0] * s[1]).map(|e| add(e).clamp(0, 127)));
        }
        _ => convolution(layer, b, &mut out),
    }
    out
}

fn convolution(layer: &Layer, b: &Board, out: &mut Vec<i32>) {
    let s = &layer.sizes;
    let (batch, h, w, c, d) = (s[0], s[1], s[2], s[3], s[4]);
    let pool = if layer.kernel.ends_with("pool") { 2 } else { 1 };
    let window = if layer.kernel.starts_with("conv3x3") {
        3
    } else {
        1
    };
    let by = if layer.kernel == "conv3x3" {
        1.0 / 256.0
    } else {
        1.0 / 128.0
    };
    let (rows, columns) = (pool * h + window - 1, pool * w + window - 1);
    for n in 0..batch {
        for y in 0..h {
            for x in 0..w {
                let mut best = vec![i32::MIN; d as usize];
                for e in 0..pool * pool {
                    let (py, px) = (pool * y + e / pool, pool * x + e % pool);
                    let mut sums: Vec<i32> = (0..d).map(|z| b.wide(2, z)).collect();
                    for t in 0..window * window {
                        let row = (n * rows + py + t / window) * columns + px + t % window;
                        for p in 0..c {
                            let v = b.small(0, row * c + p);
                            for (z, sum) in (0..).zip(&mut sums) {
                                *sum += v * b.small(1, (t * c + p) * d + z);
                            }
                        }
                    }
                    for (best, sum) in best.iter_mut().zip(sums) {
                        *best = (*best).max(scaled(sum, by).max(0));
                    }
                }
                out.extend(best);
            }
        }
    }
}

/// Runs a program: the simulator, commands by kind, seconds.
fn run<'m>(
    machine: &'m Machine,
    program: &CommandProgram,
    board: &Board,
) -> (Simulator<'m>, BTreeMap<String, u64>, f64) {
    let mut memory = Memory::new(board.bytes.len());
    let all = memory.get_mut(0, board.bytes.len()).expect("all of it");
    all.copy_from_slice(&board.bytes);
    let mut simulator = Simulator::new(machine, memory);
    let addresses: Vec<i64> = board.at.iter().map(|a| *a as i64).collect();
    let mut kinds = BTreeMap::new();
    let start = Instant::now();
    program.for_each(&addresses, &mut |at, operands| {
        let name = &machine.instructions[at].instruction.name;
        *kinds.entry(name.clone()).or_default() += 1;
        if let Err(fault) = simulator.command(at, operands) {
            panic!("{fault}");
        }
    });
    (simulator, kinds, start.elapsed().as_secs_f64())
}

/// The kernel of a layer.
fn read(layer: &Layer) -> Kernel {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels/gemmini");
    let text = std::fs::read_to_string(folder.join(format!("{}.kernel", layer.kernel)));
    let source = Source::new(layer.kernel, text.expect("a kernel"));
    kernel::read(&source).0.remove(0)
}

/// Cycles of a layer where commands alone take time, and where every instruction of the host does.
fn with_host(machine: &Machine, layer: &Layer, prover: &Prover) {
    let kernel = &read(layer);
    let sizes: BTreeMap<Symbol, i64> = kernel.sizes().zip(layer.sizes.iter().copied()).collect();
    let (program, _) = map(kernel, &sizes, machine, prover, Constraints::default())
        .unwrap_or_else(|wrong| panic!("{}", render(&wrong)));
    let board = Board::new(&program, 0x1234_5678_9abc_def1);
    let (simulator, ..) = run(machine, &program, &board);
    let used = |s: &Simulator<'_>| {
        let cycles = s.timeline().cycles();
        let busy = s.timeline().busy()[1];
        (cycles, 100.0 * busy as f64 / cycles as f64)
    };
    let (cycles, busy) = used(&simulator);
    let counting = machine.clone().with_model("host").expect("a model of cost");
    let mut simulator = Simulator::new(&counting, Memory::new(board.bytes.len()));
    let addresses: Vec<i64> = board.at.iter().map(|a| *a as i64).collect();
    let mut instructions = 0;
    let mut next = |at, operands: &[i64], host| {
        instructions += host + 1;
        simulator.host(host);
        let done = simulator.command(at, operands);
        done.unwrap_or_else(|fault| panic!("{fault}"));
    };
    tile::systolic::code::for_each_with_host(&counting, &program, &addresses, &mut next)
        .expect("it is printed");
    let (slower, less) = used(&simulator);
    println!(
        "| {} | {cycles} | {busy:.1} | {instructions} | {slower} | {less:.1} |",
        layer.name
    );
}

fn one(machine: &Machine, layer: &Layer, prover: &Prover) {
    let kernel = &read(layer);
    let sizes: BTreeMap<Symbol, i64> = kernel.sizes().zip(layer.sizes.iter().copied()).collect();
    let mut constraints = Constraints::default();
    let program = match map(kernel, &sizes, machine, prover, constraints) {
        Ok((program, _)) => program,
        Err(wrong) => return println!("{}: {}", layer.name, render(&wrong)),
    };
    let board = Board::new(&program, 0x1234_5678_9abc_def1);
    let (simulator, kinds, seconds) = run(machine, &program, &board);
    let (mut outside, mut inside) = (0, 0);
    let configure = machine.roles.instruction("configure");
    program.for_each_written(&mut |command, depth| {
        if configure == Ok(command.instruction) {
            *(if depth == 0 {
                &mut outside
            } else {
                &mut inside
            }) += 1;
        }
    });
    let last = board.at.len() - 1;
    let bytes = if layer.kernel == "matmul_full" { 4 } else { 1 };
    let wanted = plain(layer, &board);
    let agrees = |simulator: &Simulator<'_>| {
        let same = wanted.iter().enumerate().all(|(k, v)| {
            let at = (board.at[last] + bytes * k) as u64;
            simulator.memory.get(at, bytes) == Some(&v.to_le_bytes()[..bytes])
        });
        if same { "equal" } else { "DIFFERENT" }
    };
    let used = |simulator: &Simulator<'_>| {
        let cycles = simulator.timeline().cycles();
        let busy = simulator.timeline().busy();
        (cycles, 100.0 * busy[1] as f64 / cycles as f64)
    };
    let (cycles, busy) = used(&simulator);
    let rate = simulator.products() as f64 / seconds / 1e6;
    constraints.hardware_loop = true;
    let own = map(kernel, &sizes, machine, prover, constraints)
        .ok()
        .map(|(program, _)| {
            let (simulator, ..) = run(machine, &program, &board);
            let (cycles, busy) = used(&simulator);
            format!("{cycles} cycles, {busy:.1} %")
        });
    constraints = Constraints::default();
    constraints.plan.stationary = Stationary::Outputs;
    let outputs = map(kernel, &sizes, machine, prover, constraints)
        .ok()
        .filter(|_| layer.kernel != "residual_add")
        .map(|(program, _)| {
            let (simulator, ..) = run(machine, &program, &board);
            format!("{} cycles, {}", used(&simulator).0, agrees(&simulator))
        });
    let kinds: Vec<String> = kinds.iter().map(|(k, n)| format!("{n} {k}")).collect();
    println!(
        "{}: {}; {cycles} cycles, array busy {busy:.1} %; own loop {}; stationary outputs {}; \
         configuration {outside} + {inside}; {}; {rate:.0} million products a second\n    {}",
        layer.name,
        agrees(&simulator),
        own.unwrap_or_else(|| "-".to_owned()),
        outputs.unwrap_or_else(|| "-".to_owned()),
        kinds.join(", "),
        program.choices.join("; ")
    );
}

fn main() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../isa-specs/gemmini/manifest.yaml");
    let (machine, _) = spec_parser::matrix::load::load(&path).expect("our specification");
    let prover = Prover::new(Config::default());
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let host = words.iter().any(|w| w == "--host");
    words.retain(|w| w != "--host");
    if host {
        println!(
            "| layer | cycles | busy % | instructions of the host | cycles with these | busy % |"
        );
        println!("|---|---|---|---|---|---|");
    }
    for layer in layers() {
        if words.is_empty() || words.iter().any(|w| layer.name.contains(w)) {
            match host {
                true => with_host(&machine, &layer, &prover),
                false => one(&machine, &layer, &prover),
            }
        }
    }
}
