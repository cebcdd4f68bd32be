//! A product by the machine's own loop.
//!
//! In: a `SumOfProducts`, the machine. Out: commands that let the hardware walk over tiles, block by
//! block: what the loops of [`super::emit`] are compared with. Only products of matrices
//! whose rows lie evenly apart have this form.

use super::form::Place;
use super::layout::{Layout, ceil};
use super::nodes::{Loops, Nodes};
use super::plan::Stationary;
use super::program::{Amount, Command, CommandNode, Work};
use super::store::Finish;
use super::units::{Pooling, Units, packed};
use semantics::machine::Machine;
use semantics::machine::role::Packed;

/// The commands of the hardware loop.
struct Loop {
    bounds: usize,
    factors: usize,
    results: usize,
    factor_strides: usize,
    result_strides: usize,
    start: usize,
    /// What the last tiles are short of: rows, columns, what is summed.
    short: Packed<3>,
    /// Tiles of rows, of columns, of what is summed.
    tiles: Packed<3>,
    flags: Packed<2>,
}

impl Loop {
    fn of(machine: &Machine) -> Result<Loop, String> {
        let roles = &machine.roles;
        let find = |role: &str| roles.instruction(role);
        let short = ["rows_short", "columns_short", "depth_short"];
        Ok(Loop {
            bounds: find("loop.bounds")?,
            factors: find("loop.factors")?,
            results: find("loop.results")?,
            factor_strides: find("loop.factor_strides")?,
            result_strides: find("loop.result_strides")?,
            start: find("loop.start")?,
            short: roles.packing("loop.bounds.first", short)?,
            tiles: roles.packing("loop.bounds.second", ["rows", "columns", "depth"])?,
            flags: roles.packing("loop.start.first", ["begins", "full"])?,
        })
    }
}

/// The program; nothing when the product has no such form, or its sum is too long.
pub(crate) fn product(
    layout: &Layout,
    units: &Units,
    finish: Finish,
    machine: &Machine,
) -> Option<(usize, Nodes)> {
    let own = Loop::of(machine).ok()?;
    let l = layout;
    let apart = l.others.is_empty() && l.rounds.is_empty();
    let as_stored = l.transposed == [false, false];
    let plain = l.window.len() == 1 && apart && l.pool.is_none() && as_stored;
    if !plain || l.init.as_ref().is_some_and(|i| i.step(l.rows.symbol) != 0) {
        return None;
    }
    let depth = l.depth();
    let tiles = |extent: i64| ceil(extent, l.dim);
    let (all_i, all_j) = (tiles(l.rows.extent), tiles(l.columns.extent));
    let mut best: Option<(i64, i64, i64)> = None;
    for i in 1..=all_i.min(32) {
        for j in 1..=all_j.min(32) {
            let fits = (i + j) * depth * l.dim <= units.spad_rows / 2
                && i * j * l.dim <= units.sum_rows / 2;
            // Loads for each product: the fewer the better.
            let cost = (i + j) * ceil(all_i, i) * ceil(all_j, j);
            if fits && best.is_none_or(|b| cost < b.0) {
                best = Some((cost, i, j));
            }
        }
    }
    let (_, i, j) = best?;
    let mut walk = Walk {
        layout,
        units,
        finish,
        own,
        block: (i, j),
        vars: 0,
    };
    let (full_i, full_j) = (l.rows.extent / (i * l.dim), l.columns.extent / (j * l.dim));
    let (rest_i, rest_j) = (all_i - full_i * i, all_j - full_j * j);
    let mut nodes = walk.in_loop(full_i, |walk, v| {
        let mut nodes = walk.in_loop(full_j, |walk, w| walk.one(v, w, i, j));
        if rest_j > 0 {
            nodes.extend(walk.one(v, &Amount::of(full_j), i, rest_j));
        }
        nodes
    });
    if rest_i > 0 {
        let v = Amount::of(full_i);
        nodes.extend(walk.in_loop(full_j, |walk, w| walk.one(&v, w, rest_i, j)));
        if rest_j > 0 {
            nodes.extend(walk.one(&v, &Amount::of(full_j), rest_i, rest_j));
        }
    }
    nodes.push(CommandNode::Do(Work {
        command: units.fence(),
        needs: Vec::new(),
    }));
    Some((walk.vars, nodes))
}

struct Walk<'a> {
    layout: &'a Layout,
    units: &'a Units,
    finish: Finish,
    own: Loop,
    block: (i64, i64),
    vars: usize,
}

impl Loops for Walk<'_> {
    fn vars(&mut self) -> &mut usize {
        &mut self.vars
    }
}

impl Walk<'_> {
    /// One run of the hardware loop over so many tiles.
    fn one(&self, v: &Amount, w: &Amount, rows: i64, columns: i64) -> Nodes {
        let l = self.layout;
        let u = self.units;
        let f = self.finish;
        let small = Units::bytes(u.small);
        let size = if f.full { Units::bytes(u.wide) } else { small };
        // The last tiles are short where the block ends with the matrix.
        let short = |extent: i64, tiles: i64, block: i64| {
            let pad = ceil(extent, l.dim) * l.dim - extent;
            if extent % (block * l.dim) != 0
                && tiles == (extent / l.dim % block) + i64::from(pad > 0)
                && pad > 0
            {
                pad
            } else {
                0
            }
        };
        let last = |amount: &Amount, extent: i64, block: i64| {
            amount.terms.is_empty() && amount.constant == extent / (block * l.dim)
        };
        let pad_i = if last(v, l.rows.extent, self.block.0) {
            short(l.rows.extent, rows, self.block.0)
        } else {
            0
        };
        let pad_j = if last(w, l.columns.extent, self.block.1) {
            short(l.columns.extent, columns, self.block.1)
        } else {
            0
        };
        let pad_k = l.depth() * l.dim - l.inner.extent;
        let place = |p: &Place| {
            Amount {
                array: Some(p.array),
                constant: p.constant,
                ..Amount::default()
            }
            .plus(&v.times(self.block.0 * l.dim * p.step(l.rows.symbol)))
            .plus(&w.times(self.block.1 * l.dim * p.step(l.columns.symbol)))
        };
        let (a, b) = (
            l.left.step(l.rows.symbol).max(l.pitch),
            l.right.step(l.inner.symbol),
        );
        let c = l.out.step(l.rows.symbol).max(size);
        let command = |instruction: usize, rs1: Amount, rs2: Amount| Command {
            instruction,
            operands: vec![rs1, rs2],
        };
        let set = |command: Command| Work {
            command,
            needs: Vec::new(),
        };
        let needs = vec![
            u.execute(1, Stationary::Weights, [false, false]),
            u.loading(0, Amount::of(a), l.dim, (false, 1.0)),
            u.loading(1, Amount::of(b), l.dim, (false, 1.0)),
            u.loading(2, Amount::of(0), l.dim, (false, 1.0)),
            u.storing(c, f.relu, f.scale, Pooling::default()),
        ];
        let bounds = packed(&self.own.tiles, [rows, columns, l.depth()].map(Amount::of));
        let pads = packed(&self.own.short, [pad_i, pad_j, pad_k].map(Amount::of));
        let flags = [l.init.is_some(), f.full].map(|set| Amount::of(i64::from(set)));
        let flags = packed(&self.own.flags, flags);
        let init = l.init.as_ref().map(place).unwrap_or_default();
        let works = [
            set(command(self.own.bounds, pads, bounds)),
            set(command(self.own.factors, place(&l.left), place(&l.right))),
            set(command(self.own.results, init, place(&l.out))),
            set(command(
                self.own.factor_strides,
                Amount::of(a / small),
                Amount::of(b / small),
            )),
            set(command(
                self.own.result_strides,
                Amount::of(0),
                Amount::of(c / size),
            )),
            Work {
                command: command(self.own.start, flags, Amount::of(0)),
                needs,
            },
        ];
        works.into_iter().map(CommandNode::Do).collect()
    }
}
