//! What the instructions of a machine are, by their meaning.
//!
//! In: a machine. Out: [`Shapes`]: the instruction that loads a tile row by row, the one that
//! stores it, and those that compute tiles from tiles. No mnemonic is looked at.

use semantics::build as b;
use semantics::machine::{Machine, MachineInstruction, OperandKind};
use semantics::sort::Sort;
use semantics::term::Term;
use semantics::unroll::unroll;
use smt::prover::Prover;

/// A load or a store of a whole tile.
#[derive(Clone, Debug)]
pub(crate) struct Move {
    pub(crate) instruction: usize,
    pub(crate) tile: usize,
    pub(crate) base: usize,
    pub(crate) stride: usize,
}

/// An instruction on tiles alone.
#[derive(Clone, Debug)]
pub(crate) struct Compute {
    pub(crate) instruction: usize,
    pub(crate) target: usize,
    /// Tiles that it reads, without the target.
    pub(crate) sources: Vec<usize>,
    /// Whether what the target held matters.
    pub(crate) updates: bool,
    /// The result, written out.
    pub(crate) meaning: Term,
}

/// The tile instructions of a machine.
#[derive(Clone, Debug)]
pub(crate) struct Shapes {
    /// The file of the tiles.
    pub(crate) file: usize,
    pub(crate) load: Move,
    pub(crate) store: Move,
    pub(crate) computes: Vec<Compute>,
}

impl Shapes {
    /// The instruction that sets a tile to zeros.
    pub(crate) fn zeros(&self) -> Option<&Compute> {
        let zero = |c: &&Compute| {
            let bits = c.meaning.as_bits();
            c.sources.is_empty() && bits.is_some_and(semantics::bits::Bits::is_zero)
        };
        self.computes.iter().find(zero)
    }
}

/// Bytes that a tile moves at a time.
const WORD: u32 = 4;

/// Finds the tile instructions.
///
/// # Errors
/// What is missing.
pub(crate) fn shapes(machine: &Machine, prover: &Prover) -> Result<Shapes, String> {
    let mut files = machine.files.iter().enumerate();
    let (file, _) = files
        .find(|(_, f)| f.row < f.width)
        .ok_or("it has no registers with rows")?;
    let (mut load, mut store, mut computes) = (None, None, Vec::new());
    for (k, found) in machine.instructions.iter().enumerate() {
        let tiles =
            |o: &OperandKind| matches!(o, OperandKind::Register { file: f, .. } if *f == file);
        let of_tiles: Vec<usize> = (0..found.operands.len())
            .filter(|&o| tiles(&found.operands[o].kind))
            .collect();
        let scalars = found.operands.len() - of_tiles.len();
        match (of_tiles.as_slice(), scalars) {
            (&[tile], 2) => {
                load = load.or_else(|| moved(machine, found, k, tile, true, prover));
                store = store.or_else(|| moved(machine, found, k, tile, false, prover));
            }
            (_, 0) if !of_tiles.is_empty() => computes.extend(compute(found, k)),
            _ => {}
        }
    }
    Ok(Shapes {
        file,
        load: load.ok_or("no instruction loads a tile row by row, a stride of bytes apart")?,
        store: store.ok_or("no instruction stores a tile row by row, a stride of bytes apart")?,
        computes,
    })
}

fn compute(found: &MachineInstruction, instruction: usize) -> Option<Compute> {
    let [output] = found.instruction.outputs.as_slice() else {
        return None;
    };
    let target = found.operand(&output.name)?;
    let read = |k: &usize| {
        matches!(
            found.operands[*k].kind,
            OperandKind::Register { read: true, .. }
        )
    };
    let mut sources: Vec<usize> = (0..found.operands.len()).filter(read).collect();
    let updates = sources.contains(&target);
    sources.retain(|k| *k != target);
    Some(Compute {
        instruction,
        target,
        sources,
        updates,
        meaning: unroll(output.term),
    })
}

/// Whether an instruction moves a tile; its two scalars are address and stride in some order.
fn moved(
    machine: &Machine,
    found: &MachineInstruction,
    instruction: usize,
    tile: usize,
    loads: bool,
    prover: &Prover,
) -> Option<Move> {
    let [output] = found.instruction.outputs.as_slice() else {
        return None;
    };
    let kind = &found.operands[tile].kind;
    let OperandKind::Register { file, written, .. } = *kind else {
        return None;
    };
    if written != loads {
        return None;
    }
    let scalars: Vec<usize> = (0..found.operands.len()).filter(|&k| k != tile).collect();
    let orders = [(scalars[0], scalars[1]), (scalars[1], scalars[0])];
    let (base, stride) = orders.into_iter().find(|&(base, stride)| {
        let name = |k: usize| Term::var(&found.operands[k].name, Sort::Bv(machine.address));
        let file = &machine.files[file];
        let expected = expected(machine, (file.width, file.row), name(base), name(stride), {
            let tile = Term::var(&found.operands[tile].name, Sort::Bv(file.width));
            (!loads).then_some(tile)
        });
        let meaning = unroll(output.term);
        meaning == expected
            || meaning.sort() == expected.sort()
                && prover.prove_equal(meaning, expected).is_proved()
    })?;
    Some(Move {
        instruction,
        tile,
        base,
        stride,
    })
}

/// A tile loaded, or memory with one stored, word by word.
fn expected(
    machine: &Machine,
    (width, row): (u32, u32),
    base: Term,
    stride: Term,
    stored: Option<Term>,
) -> Term {
    let mut memory = Term::var("mem", Sort::Mem);
    let mut words = Vec::new();
    for at in (0..width).step_by(8 * WORD as usize) {
        let number = |n: u32| Term::bv(machine.address, i128::from(n));
        let (i, j) = (at / row, at % row / 8);
        let address = b::add(b::add(base, b::mul(number(i), stride)), number(j));
        let address = b::zext(address, 64);
        match stored {
            Some(tile) => memory = b::write(memory, address, b::extract(tile, at, 8 * WORD)),
            None => words.push(b::read(memory, address, WORD)),
        }
    }
    words.reverse();
    if stored.is_some() {
        memory
    } else {
        b::concat(&words)
    }
}
