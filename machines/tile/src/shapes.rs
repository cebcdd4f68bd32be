//! What the instructions of a machine are, by their meaning.
//!
//! In: a machine, under the configuration that its programs begin with. Out: [`Shapes`]: the instruction that loads a tile row by row, the one that
//! stores it, and those that compute tiles from tiles. No mnemonic is looked at.

use crate::configured::Configured;
use crate::products::{Product, product};
use semantics::build as b;
use semantics::machine::{Machine, MachineInstruction, OperandKind};
use semantics::sort::Sort;
use semantics::term::Term;
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
    /// What it is, when it adds a product of two tiles.
    pub(crate) product: Option<Product>,
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

/// The same, where they are other.
const PIECES: [u32; 4] = [WORD, 1, 2, 8];

/// Finds the tile instructions.
///
/// # Errors
/// What is missing.
pub(crate) fn shapes(machine: &Machine, prover: &Prover) -> Result<Shapes, String> {
    let mut files = machine.files.iter().enumerate();
    let (file, _) = files
        .find(|(_, f)| f.row < f.width)
        .ok_or("it has no registers with rows")?;
    let configured = Configured::new(machine)?;
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
                let context = (machine, &configured, prover);
                load = load.or_else(|| moved(context, found, k, tile, true));
                store = store.or_else(|| moved(context, found, k, tile, false));
            }
            (_, 0) if !of_tiles.is_empty() => {
                computes.extend(compute(machine, &configured, found, k));
            }
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

fn compute(
    machine: &Machine,
    configured: &Configured,
    found: &MachineInstruction,
    instruction: usize,
) -> Option<Compute> {
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
    let meaning = configured.meaning(found, output.term)?;
    let name = |k: usize| found.operands[k].name.as_str();
    let size = match found.operands[target].kind {
        OperandKind::Register { file, .. } => (machine.files[file].width, machine.files[file].row),
        OperandKind::Immediate { .. } => return None,
    };
    let product = match sources[..] {
        [x, y] if updates => product((meaning, name(target), [name(x), name(y)]), size),
        _ => None,
    };
    Some(Compute {
        instruction,
        target,
        sources,
        updates,
        meaning,
        product,
    })
}

/// Whether an instruction moves a tile; its two scalars are address and stride in some order.
fn moved(
    (machine, configured, prover): (&Machine, &Configured, &Prover),
    found: &MachineInstruction,
    instruction: usize,
    tile: usize,
    loads: bool,
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
    let meaning = configured.meaning(found, output.term)?;
    let orders = [(scalars[0], scalars[1]), (scalars[1], scalars[0])];
    let (base, stride) = orders.into_iter().find(|&(base, stride)| {
        let name = |k: usize| Term::var(&found.operands[k].name, Sort::Bv(machine.address));
        let file = &machine.files[file];
        let stored = Term::var(&found.operands[tile].name, Sort::Bv(file.width));
        let stored = (!loads).then_some(stored);
        let size = (file.width, file.row);
        let by = |piece| expected(machine, size, piece, (name(base), name(stride)), stored);
        // In the pieces in which it is written, or in words.
        PIECES.into_iter().any(|piece| by(piece) == meaning) || {
            let words = by(WORD);
            meaning.sort() == words.sort() && prover.prove_equal(meaning, words).is_proved()
        }
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
    piece: u32,
    (base, stride): (Term, Term),
    stored: Option<Term>,
) -> Term {
    let mut memory = Term::var("mem", Sort::Mem);
    let mut words = Vec::new();
    for at in (0..width).step_by(8 * piece as usize) {
        let number = |n: u32| Term::bv(machine.address, i128::from(n));
        let (i, j) = (at / row, at % row / 8);
        let address = b::add(b::add(base, b::mul(number(i), stride)), number(j));
        let address = b::zext(address, 64);
        match stored {
            Some(tile) => memory = b::write(memory, address, b::extract(tile, at, 8 * piece)),
            None => words.push(b::read(memory, address, piece)),
        }
    }
    words.reverse();
    if stored.is_some() {
        memory
    } else {
        b::concat(&words)
    }
}
