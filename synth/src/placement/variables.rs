//! Registers of a kernel as vector variables.
//!
//! In: a lowered kernel, what was found for its windows, the moves of a target. Out: for each register that is
//! only read and written by whole vectors, the width of these. Such a register is a variable
//! for each of its vectors, which compilers keep in machine registers from window to window;
//! others are arrays, which some compilers store after each statement. It emits nothing.

use super::moves::Moves;
use autoir::program::{Node, Program};
use kernel::tree::{Expr, ExprKind};
use lowering::window::{Lowered, Source, Store, Window};
use std::collections::{BTreeMap, BTreeSet};

/// What is known of a register's uses.
#[derive(Clone, Debug)]
enum Use {
    /// Read and written in these places: first bit and number of bits.
    Parts {
        read: Vec<(u32, u32)>,
        written: Vec<(u32, u32)>,
    },
    /// Used element by element.
    Elements,
}

/// The width of the vectors that each register is made of, for those that are made of
/// vectors.
pub(super) fn widths(
    lowered: &Lowered,
    programs: &[Option<Program>],
    moves: &Moves<'_>,
) -> BTreeMap<usize, u32> {
    let none = Use::Parts {
        read: Vec::new(),
        written: Vec::new(),
    };
    let mut uses = vec![none; lowered.kernel.registers.len()];
    for (window, program) in lowered.windows.iter().zip(programs) {
        match program {
            Some(program) => note_parts(lowered, window, program, &mut uses),
            None => note_elements(lowered, window, &mut uses),
        }
    }
    let total = |id: usize| lowered.kernel.registers[id].ty.width();
    let width = |(id, found): (usize, &Use)| Some((id, vectors(found, total(id), moves)?));
    uses.iter().enumerate().filter_map(width).collect()
}

/// The one width by which a register of so many bits is written, if there is one and every
/// read is a vector, or a part of one that an instruction takes out.
fn vectors(found: &Use, total: u32, moves: &Moves<'_>) -> Option<u32> {
    let Use::Parts { read, written } = found else {
        return None;
    };
    let width = written.first()?.1;
    let whole = written
        .iter()
        .all(|&(lo, bits)| bits == width && lo % width == 0);
    let within = read.iter().all(|&(lo, bits)| {
        let part = moves.has_part(width, bits) && lo % bits == 0;
        bits <= width && (lo % width == 0 || part)
    });
    let fits = moves.is_vector(width) && total.is_multiple_of(width);
    (whole && within && fits).then_some(width)
}

/// The uses of registers by a window that has a program.
fn note_parts(lowered: &Lowered, window: &Window, program: &Program, uses: &mut [Use]) {
    for input in &window.inputs {
        let Source::Register(id) = input.source else {
            continue;
        };
        if lowered.kernel.registers[id].ty.lanes != input.ty.lanes {
            uses[id] = Use::Elements;
        }
        if let Use::Parts { read, .. } = &mut uses[id] {
            read.extend(program.nodes().iter().filter_map(|node| match node {
                Node::Input { name, lo, width } if *name == input.name => Some((*lo, *width)),
                _ => None,
            }));
        }
    }
    if let Store::Register(id) = window.store
        && let Use::Parts { written, .. } = &mut uses[id]
    {
        written.extend(parts(window, program));
    }
}

/// Where the outputs of a window's program go in its result: first bit and number of bits.
fn parts(window: &Window, program: &Program) -> Vec<(u32, u32)> {
    let mut at = 0;
    let mut place = |&value: &usize| {
        let kept = program.width(value).min(window.output.width() - at);
        at += kept;
        (at - kept, kept)
    };
    program.outputs.iter().map(&mut place).collect()
}

/// The registers of a window that is computed element by element.
fn note_elements(lowered: &Lowered, window: &Window, uses: &mut [Use]) {
    if let Store::Register(id) = window.store {
        uses[id] = Use::Elements;
    }
    let mut work: Vec<&Expr> = vec![&window.value];
    // Values are shared: a chain of them has few, and very many ways through them.
    let mut seen = BTreeSet::new();
    while let Some(value) = work.pop() {
        match &value.kind {
            ExprKind::Register(id) => uses[*id] = Use::Elements,
            ExprKind::Local(id) => match lowered.materialized.get(id) {
                Some(&register) => uses[register] = Use::Elements,
                None if seen.insert(*id) => work.push(&lowered.kernel.locals[*id].value),
                None => {}
            },
            ExprKind::Apply(_, args) | ExprKind::Shuffle(args, _) => work.extend(args),
            ExprKind::Reduce(_, arg, _) => work.push(arg),
            _ => {}
        }
    }
}
