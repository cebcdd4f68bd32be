//! Random kernels of random sizes on every machine of ours: mapped, run in the simulator, compared.
//!
//! In: a seed and a number. Out: a table of how many were tiles, commands or code of the host
//! alone, and of what was refused with its reason. `cargo xtask accelerators --seed S --count N`
//! draws others than the test does, `--machine rvm` for machines whose name begins so alone; it asks
//! no compiler of C and no hardware.

#[path = "accelerators/beside.rs"]
mod beside;
#[path = "rvm/board.rs"]
#[allow(dead_code, reason = "other tests need more of it")]
mod board;
#[path = "accelerators/draw.rs"]
mod draw;
#[path = "accelerators/hand.rs"]
mod hand;
#[path = "accelerators/outcome.rs"]
mod outcome;

use board::{Board, described, described_with};
use outcome::{Outcome, Table};
use semantics::random::Random;

/// A number from the environment.
fn given(name: &str, usual: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.and_then(|t| t.parse().ok()).unwrap_or(usual)
}

/// Machines by name, and how often each is drawn.
fn machines() -> Vec<(&'static str, Board, u64)> {
    let of = |name, machine, often| (name, Board::new(machine), often);
    let rvm = |name, from: &str, to: &str| {
        let machine = described_with("rvm", name, &[(from, to)]);
        of(name, machine, 1)
    };
    vec![
        of("rvm", described("rvm"), 8),
        rvm("rvm, 8 rows", "ROWS: 4 ", "ROWS: 8 "),
        rvm("rvm, rows of 256", "RLEN: 32 * ROWS", "RLEN: 256"),
        of("amx", described("amx"), 2),
        of("gemmini", described("gemmini"), 4),
    ]
}

#[test]
fn random_kernels_agree() {
    let mut random = Random::new(given("ISAFORGE_ACCELERATORS_SEED", 1));
    let mut machines = machines();
    if let Ok(only) = std::env::var("ISAFORGE_ACCELERATORS_MACHINE") {
        machines.retain(|m| m.0.starts_with(&only));
    }
    let often: u64 = machines.iter().map(|m| m.2).sum();
    let mut table = Table::default();
    for n in 0..given("ISAFORGE_ACCELERATORS_COUNT", 30) {
        let mut at = random.below(often);
        let drawn = machines.iter().find(|m| {
            let here = at < m.2;
            at = at.wrapping_sub(m.2);
            here
        });
        let (name, board, _) = drawn.expect("one is drawn");
        let kernel = draw::kernel(&mut random, name);
        println!("{n}: {name}: {kernel}");
        let outcome = outcome::of(board, &kernel, n);
        println!("   {outcome}");
        table.add(name, &kernel, &outcome);
        if let Outcome::Wrong(reason) = outcome {
            panic!("{n}: {name}: {kernel}: {reason}");
        }
    }
    println!("{table}");
    assert!(table.with_tiles() > 0, "some are worth tiles");
}
