//! Tiles at sizes that do not fill them.
//!
//! In: a kernel with a schedule, the values of its sizes. Out: a kernel with numbers for sizes that does
//! the same, in which the iterations that do not fill the tiles of its schedule are loops of their own,
//! behind the others and with other names, so that the schedule is for whole tiles; and which loops these
//! are. What becomes of them is for others to say. A nest is cut only where its iterations may run in that
//! order, as for every directive.

use crate::Refusal;
use crate::copy::{Copy, fresh_named, own_registers};
use crate::directive::Directive;
use crate::{directives, order};
use kernel::bounds::assumptions;
use kernel::index::{Index, Symbol};
use kernel::lia::Facts;
use kernel::tree::{For, Kernel, Stmt};
use kernel::visit::for_each_stmt;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What names of loops and values of what is left over end in.
const LEFT: &str = "_left";

/// A kernel whose schedule is for whole tiles.
#[derive(Clone, Debug)]
pub struct Cut {
    /// The kernel, with numbers for sizes, and its schedule beside it.
    pub kernel: Kernel,
    /// The loops over what is left over.
    pub left: BTreeSet<Symbol>,
    /// The loops that were cut.
    pub loops: Vec<LeftOver>,
}

/// A loop that does not fill the tiles of its schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeftOver {
    /// Its name.
    pub name: String,
    /// How often it runs.
    pub count: i64,
    /// How many of its iterations fill tiles.
    pub whole: i64,
}

/// Why a kernel was not cut.
pub enum Uncut {
    /// A loop fills no tile: what is told of it.
    NoTile(String),
    /// What is left over cannot come behind the rest.
    Order,
}

impl From<Refusal> for Uncut {
    fn from(_: Refusal) -> Uncut {
        Uncut::Order
    }
}

/// The kernel at its sizes, with what does not fill tiles behind the rest.
///
/// # Errors
/// Why it cannot be cut.
pub fn cut(kernel: &Kernel, sizes: &BTreeMap<Symbol, i64>) -> Result<Cut, Uncut> {
    let mut cut = Cut {
        kernel: kernel.at_sizes(sizes),
        left: BTreeSet::new(),
        loops: Vec::new(),
    };
    let written: BTreeSet<String> = kernel.symbols.iter().map(|s| s.name.clone()).collect();
    for located in directives(kernel).unwrap_or_default() {
        let Directive::Tile { axes, by, .. } = located.directive else {
            continue;
        };
        let axes: Vec<(String, i64)> = axes.into_iter().zip(by).collect();
        // Loops that another directive makes are its own.
        if axes.iter().any(|a| !written.contains(&a.0)) {
            continue;
        }
        let body = std::mem::take(&mut cut.kernel.body);
        let facts = assumptions(&cut.kernel);
        // What there is before is what others are found in.
        cut.kernel.body.clone_from(&body);
        cut.kernel.body = cut.block(body, &axes, &facts)?;
    }
    Ok(cut)
}

impl fmt::Display for LeftOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LeftOver { name, count, whole } = self;
        write!(
            f,
            "for {whole} of {count} iterations of `{name}`, which fill its tiles; the others are mapped without it"
        )
    }
}

impl Cut {
    fn block(
        &mut self,
        body: Vec<Stmt>,
        axes: &[(String, i64)],
        facts: &Facts,
    ) -> Result<Vec<Stmt>, Uncut> {
        let mut out = Vec::new();
        for stmt in body {
            match stmt {
                Stmt::For(f) if self.kernel.symbol_name(f.var) == axes[0].0 => {
                    out.extend(self.nest(f, axes, facts)?);
                }
                Stmt::For(f) => {
                    let mut inside = facts.clone();
                    inside.add_loop(f.var, &f.lo, &f.hi, f.step);
                    let body = self.block(f.body, axes, &inside)?;
                    out.extend(self.apart(For { body, ..f }, facts)?);
                }
                other => out.push(other),
            }
        }
        Ok(out)
    }

    /// A nest of which each loop is cut: whole tiles first, and what is left over in each loop.
    fn nest(&mut self, f: For, axes: &[(String, i64)], facts: &Facts) -> Result<Vec<Stmt>, Uncut> {
        let (by, name) = (axes[0].1, axes[0].0.clone());
        let (Some(count), false) = (super::nest::iterations(&f), f.partial) else {
            return Ok(vec![Stmt::For(f)]);
        };
        let whole = count - count % by.max(1);
        if whole == 0 {
            let message = format!("{count} iterations of `{name}` fill no tile of {by}");
            return Err(Uncut::NoTile(message));
        }
        let mut inside = facts.clone();
        let point = f.lo.offset(whole * f.step);
        inside.add_loop(f.var, &f.lo, &point, f.step);
        let inner = match (&f.body[..], axes.len()) {
            ([Stmt::For(g)], 2..) if self.kernel.symbol_name(g.var) == axes[1].0 => {
                self.nest(g.clone(), &axes[1..], &inside)?
            }
            _ => f.body.clone(),
        };
        let tiles = For {
            hi: point.clone(),
            body: inner,
            ..f.clone()
        };
        let mut out = self.apart(tiles, facts)?;
        if whole < count {
            out.push(self.rest(&f, point));
            self.loops.push(LeftOver { name, count, whole });
        }
        Ok(out)
    }

    /// A loop, and behind it one over what is left over in it: whole tiles are to be alone.
    fn apart(&mut self, f: For, facts: &Facts) -> Result<Vec<Stmt>, Uncut> {
        let left = |s: &&Stmt| matches!(s, Stmt::For(g) if self.left.contains(&g.var));
        let behind = f.body.iter().rev().take_while(left).count();
        let at = f.body.len() - behind;
        if behind == 0 || at == 0 {
            return Ok(vec![Stmt::For(f)]);
        }
        let parts = order::fission(&mut self.kernel, &f, &at.to_string(), None, facts)?;
        if let Some(Stmt::For(second)) = parts.last() {
            self.kernel.symbols[second.var.0 as usize]
                .name
                .push_str(LEFT);
            self.left.insert(second.var);
        }
        Ok(parts)
    }

    /// The iterations from a point on, under other names.
    fn rest(&mut self, f: &For, point: Index) -> Stmt {
        let name = format!("{}{LEFT}", self.kernel.symbol_name(f.var));
        let own = own_registers(&self.kernel, &f.body);
        let var = fresh_named(&mut self.kernel, f.var, &name);
        let before = (self.kernel.locals.len(), self.kernel.registers.len());
        let mut copy = Copy::with(&mut self.kernel, f.var, Index::Sym(var));
        copy.rename_registers(&own);
        let body = copy.block(&f.body);
        for_each_stmt(&body, &mut |stmt, _| {
            if let Stmt::For(g) = stmt {
                self.kernel.symbols[g.var.0 as usize].name.push_str(LEFT);
            }
        });
        let locals = self.kernel.locals[before.0..]
            .iter_mut()
            .map(|l| &mut l.name);
        let registers = self.kernel.registers[before.1..].iter_mut();
        let names = locals.chain(registers.map(|r| &mut r.name));
        names.for_each(|name| name.push_str(LEFT));
        self.left.insert(var);
        Stmt::For(For {
            var,
            lo: point,
            body,
            ..f.clone()
        })
    }
}
