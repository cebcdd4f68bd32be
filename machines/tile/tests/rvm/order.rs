//! The order of words: what the mapper emits is safe, and what is taken away from it is missed.
//!
//! The check reads words and knows nothing of the mapper's own analysis of hazards.

use crate::board::{Board, end, kernels, map_written, rvm, settings};
use kernel::tree::Kernel;
use semantics::diagnostic::render;
use semantics::machine::{Machine, OperandKind};
use sim::retirement::{Kind, Safe, Unsafe};
use std::collections::BTreeSet;
use tile::program::{Function, Placed};

fn study() -> Vec<Kernel> {
    kernels(include_str!("../../../../examples/rvm/case_study.kernel"))
}

fn mapped(board: &Board, kernel: &Kernel, sizes: [i64; 3]) -> Function {
    let sizes = kernel.sizes().zip(sizes).collect();
    map_written(kernel, &sizes, &board.machine, &board.prover)
        .unwrap_or_else(|wrong| panic!("{}: {}", kernel.name, render(&wrong)))
}

/// What the check of some code for a program says.
fn order(board: &Board, program: &Function, code: &[Placed]) -> Result<Safe, Unsafe> {
    let end = end(&program.arrays, &program.addresses);
    board.order(code, (&settings(program), end))
}

/// The code without the instruction at a position; branches over it are shorter.
fn without(machine: &Machine, code: &[Placed], gone: usize) -> Vec<Placed> {
    let (word, gone) = (i64::from(machine.word), gone as i64);
    let mut out = Vec::new();
    for (at, (k, values)) in (0_i64..).zip(code).filter(|(at, _)| *at != gone) {
        let mut values = values.clone();
        for (operand, value) in machine.instructions[*k].operands.iter().zip(&mut values) {
            if let OperandKind::Immediate { target: true, .. } = operand.kind {
                let to = at + *value / word;
                let moved = |p: i64| p - i64::from(p > gone);
                *value = (moved(to) - moved(at)) * word;
            }
        }
        out.push((*k, values));
    }
    out
}

#[test]
fn every_fence_is_missed_when_it_is_taken_away() {
    let board = Board::new(rvm());
    let mut taken = 0;
    for kernel in &study() {
        let program = mapped(&board, kernel, [16, 8, 2]);
        let safe = order(&board, &program, &program.code).expect("safe");
        assert_eq!(safe.words, program.code.len());
        assert_eq!(safe.fences > 0, program.fences > 0, "{}", kernel.name);
        let fences = program.code.iter().enumerate();
        let fences = fences.filter(|(_, p)| board.machine.fence == Some(p.0));
        for (at, _) in fences {
            let shorter = without(&board.machine, &program.code, at);
            match order(&board, &program, &shorter) {
                Err(Unsafe::Hazard(..)) => taken += 1,
                other => panic!("{}: without the fence at {at}: {other:?}", kernel.name),
            }
        }
    }
    assert!(taken >= 6, "{taken} fences");
}

/// The code with one tile register instead of another.
fn renamed(machine: &Machine, code: &[Placed], from: i64, to: i64) -> Vec<Placed> {
    let mut code = code.to_vec();
    for (k, values) in &mut code {
        for (operand, value) in machine.instructions[*k].operands.iter().zip(values) {
            if let OperandKind::Register { file, .. } = operand.kind
                && machine.files[file].foreign
                && *value == from
            {
                *value = to;
            }
        }
    }
    code
}

fn tiles(machine: &Machine, code: &[Placed]) -> BTreeSet<i64> {
    let of = |(k, values): &Placed| -> Vec<i64> {
        let operands = machine.instructions[*k].operands.iter().zip(values);
        let tile = |kind: &OperandKind| match kind {
            OperandKind::Register { file, .. } => machine.files[*file].foreign,
            OperandKind::Immediate { .. } => false,
        };
        operands
            .filter(|(o, _)| tile(&o.kind))
            .map(|(_, v)| *v)
            .collect()
    };
    code.iter().flat_map(of).collect()
}

#[test]
fn a_tile_that_is_used_again_too_early_is_missed() {
    let board = Board::new(rvm());
    let kernel = study()
        .into_iter()
        .find(|k| k.name == "listing5")
        .expect("it is there");
    let program = mapped(&board, &kernel, [16, 8, 2]);
    let used = tiles(&board.machine, &program.code);
    let (mut early, mut tried) = (0, 0);
    for &from in &used {
        for &to in used.iter().filter(|to| **to != from) {
            tried += 1;
            let other = renamed(&board.machine, &program.code, from, to);
            match order(&board, &program, &other) {
                Err(Unsafe::Hazard(hazard, log)) => {
                    assert!(hazard.first < other.len() && !log.message.is_empty());
                    early += u32::from(hazard.kind != Kind::Units);
                }
                // A product of a tile with itself, which has no meaning.
                Err(Unsafe::Stopped(_)) => {}
                other => println!("m{from} as m{to}: {other:?}"),
            }
        }
    }
    assert!(early * 2 > tried, "{early} of {tried}");
}

#[test]
fn fences_are_where_they_are_needed_at_any_size() {
    let board = Board::new(rvm());
    for kernel in &study() {
        let mut fences = 0;
        for sizes in [[16, 4, 1], [48, 20, 2], [32, 12, 3]] {
            let program = mapped(&board, kernel, sizes);
            let safe = order(&board, &program, &program.code);
            let safe = safe.unwrap_or_else(|wrong| panic!("{} {sizes:?}: {wrong:?}", kernel.name));
            assert_eq!(safe.words, program.code.len());
            fences = program.fences;
        }
        // These are not run: what is proved does not depend on how often loops go round.
        for sizes in [[64, 64, 8], [64, 1024, 16], [1024, 1024, 64]] {
            let program = mapped(&board, kernel, sizes);
            assert_eq!(program.fences, fences, "{} {sizes:?}", kernel.name);
        }
    }
}
