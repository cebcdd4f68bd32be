//! Loop nests with tile instructions in them.
//!
//! In: a kernel after its schedule, the values of its sizes, a machine. Out: [`NestNode`]s: the
//! loops that stay, scalar statements for the host, and tile instructions on named tiles with
//! windows whose first byte is a sum over the loops around. Which blocks are tile instructions
//! the schedule says: those that touch arrays that it has put into the machine's tiles. What a
//! block does is proved for the first iteration; the others do the same elsewhere, because
//! every access to an array moves by the same amount.

use crate::block::{Alike, Effect, Effects, Element, Values};
use crate::error::{Detail, MappingError};
use crate::matching::{Matcher, Mismatch, Tiled, TiledKey, Window};
use kernel::index::{Index, Linear, Symbol};
use kernel::tree::{Access, For, Id, Kernel, Role, Stmt, SymbolKind};
use kernel::visit::for_each_stmt;
use semantics::sort::Sort;
use semantics::span::Span;
use semantics::term::Term;
use std::collections::{BTreeMap, BTreeSet};

/// A tile of an array that lives in tile registers: the array, and which part of it.
pub(crate) type Tile = (Id, i64);

/// A piece of a mapped nest.
#[derive(Clone, Debug)]
pub(crate) enum NestNode {
    Loop(Loop),
    Tile(TileOp),
    Scalar(Scalar),
}

/// A statement of the host.
#[derive(Clone, Debug)]
pub(crate) struct Scalar {
    /// Its number among the nodes.
    pub(crate) id: usize,
    pub(crate) stmt: Stmt,
}

/// Numbers nodes in the order of the text.
pub(crate) fn number(nodes: &mut [NestNode], next: &mut usize) {
    for node in nodes {
        let id = match node {
            NestNode::Loop(l) => &mut l.id,
            NestNode::Tile(op) => &mut op.id,
            NestNode::Scalar(s) => &mut s.id,
        };
        *id = *next;
        *next += 1;
        if let NestNode::Loop(l) = node {
            number(&mut l.body, next);
        }
    }
}

/// A loop of the host.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    /// Its number among the nodes.
    pub(crate) id: usize,
    pub(crate) var: Symbol,
    pub(crate) lo: Index,
    pub(crate) hi: Index,
    pub(crate) step: i64,
    pub(crate) incremental: bool,
    pub(crate) body: Vec<NestNode>,
    pub(crate) span: Span,
}

/// Rows in main memory.
#[derive(Clone, Debug)]
pub(crate) struct Moved {
    pub(crate) array: Id,
    /// The first byte, from the beginning of the array.
    pub(crate) base: Index,
    pub(crate) stride: i64,
    pub(crate) stores: bool,
}

/// A tile instruction on named tiles.
#[derive(Clone, Debug)]
pub(crate) struct TileOp {
    /// Its number among the nodes.
    pub(crate) id: usize,
    pub(crate) instruction: usize,
    /// Operand, tile, whether its value matters, whether it has a new one.
    pub(crate) tiles: Vec<(usize, Tile, bool, bool)>,
    pub(crate) moved: Option<Moved>,
    pub(crate) span: Span,
}

/// Of what is said of a block and of one inside it, that which says more.
fn clearer(inner: MappingError, outer: Option<MappingError>) -> MappingError {
    match outer {
        Some(outer) if outer.detail >= inner.detail.min(Detail::Cause) => outer,
        _ => inner,
    }
}

/// An element that is written, and the one whose value it gets.
type Copied = (Element, Element);

/// Builds nests.
pub(crate) struct Builder<'a> {
    pub(crate) matcher: Matcher<'a>,
    pub(crate) values: Values,
    pub(crate) effects: Effects,
    pub(crate) sizes: &'a BTreeMap<Symbol, i64>,
    /// The name of the file of the tiles.
    pub(crate) memory: &'a str,
    pub(crate) outer: Vec<For>,
}

/// The index with sizes replaced by their values.
pub(crate) fn sized(kernel: &Kernel, sizes: &BTreeMap<Symbol, i64>, index: &Index) -> Index {
    let mut symbols = BTreeSet::new();
    index.for_each_symbol(&mut |s| {
        symbols.insert(s);
    });
    let size = |s: &Symbol| kernel.symbols[s.0 as usize].kind == SymbolKind::Size;
    symbols
        .into_iter()
        .filter(size)
        .fold(index.clone(), |i, s| {
            let value = sizes.get(&s).copied().unwrap_or(0);
            i.substitute(s, &Index::Const(value))
        })
}

/// The place of an access in its array, in elements, over loop variables.
pub(crate) fn place(kernel: &Kernel, sizes: &BTreeMap<Symbol, i64>, access: &Access) -> Index {
    let mut at = Index::Const(0);
    let dims = kernel.arrays[access.array].memory_dims();
    for (index, dim) in access.index.iter().zip(&dims) {
        let dim = sized(kernel, sizes, dim).constant_value().unwrap_or(1);
        at = at.times(dim).plus(&sized(kernel, sizes, index));
    }
    at.simplified()
}

/// Calls `f` for each access of statements, with the loops around it inside them; the last
/// argument says whether it writes.
pub(crate) fn accesses<'s>(
    kernel: &'s Kernel,
    body: &'s [Stmt],
    f: &mut dyn FnMut(&Access, &[&'s For], bool),
) {
    for_each_stmt(body, &mut |stmt, loops| {
        kernel.for_each_access(stmt, &mut |access, writes| f(access, loops, writes));
    });
}

/// Statements that are the host's alone.
pub(crate) fn of_host(
    kernel: &Kernel,
    sizes: &BTreeMap<Symbol, i64>,
    body: &[Stmt],
) -> Vec<NestNode> {
    let node = |stmt: &Stmt| match stmt {
        Stmt::For(f) => NestNode::Loop(Loop {
            id: 0,
            var: f.var,
            lo: sized(kernel, sizes, &f.lo),
            hi: sized(kernel, sizes, &f.hi),
            step: f.step,
            incremental: kernel.symbols[f.var.0 as usize].incremental,
            body: of_host(kernel, sizes, &f.body),
            span: f.span,
        }),
        other => NestNode::Scalar(Scalar {
            id: 0,
            stmt: other.clone(),
        }),
    };
    body.iter().map(node).collect()
}

impl Builder<'_> {
    fn in_tiles(&self, array: Id) -> bool {
        self.matcher.kernel.arrays[array]
            .placement
            .memory
            .as_deref()
            == Some(self.memory)
    }

    fn name(&self, array: Id) -> &str {
        &self.matcher.kernel.arrays[array].name
    }

    /// The first access to an array in tiles.
    fn tiled(&self, body: &[Stmt]) -> Option<Access> {
        let mut found = None;
        accesses(self.matcher.kernel, body, &mut |a, _, _| {
            if found.is_none() && self.in_tiles(a.array) {
                found = Some(a.clone());
            }
        });
        found
    }

    /// The nodes of a block.
    pub(crate) fn block(&mut self, body: &[Stmt]) -> Result<Vec<NestNode>, MappingError> {
        let mut out = Vec::new();
        for stmt in body {
            let tiled = self.tiled(std::slice::from_ref(stmt));
            match (stmt, tiled) {
                (Stmt::For(f), tiled) => {
                    let reason = match tiled.is_some() {
                        true => match self.instruction(stmt, f)? {
                            Ok(ops) => {
                                out.extend(ops.into_iter().map(NestNode::Tile));
                                continue;
                            }
                            Err(reason) => reason,
                        },
                        false => None,
                    };
                    match self.open(f) {
                        Ok(node) => out.extend(node),
                        Err(inner) => return Err(clearer(inner, reason)),
                    }
                }
                (_, Some(access)) => return Err(self.not_for_the_host(&access)),
                (other, None) => out.push(NestNode::Scalar(Scalar {
                    id: 0,
                    stmt: other.clone(),
                })),
            }
        }
        Ok(out)
    }

    fn not_for_the_host(&self, access: &Access) -> MappingError {
        let (name, memory) = (self.name(access.array), self.memory);
        let message = format!(
            "`{name}` lives in `{memory}`, and the statement here is no tile instruction: the host \
             cannot touch it"
        );
        let hint = format!(
            "make the loops around it a whole tile by `tile`, or leave `{name}` in main memory: \
             `set_memory {name} in main`"
        );
        MappingError::new(access.span, message, hint).saying(Detail::NotForHost)
    }

    /// A loop that stays.
    fn open(&mut self, f: &For) -> Result<Option<NestNode>, MappingError> {
        let (kernel, sizes) = (self.matcher.kernel, self.sizes);
        let (lo, hi) = (sized(kernel, sizes, &f.lo), sized(kernel, sizes, &f.hi));
        let length = hi.minus(&lo).constant_value();
        if length.is_some_and(|n| n <= 0) {
            return Ok(None);
        }
        let first = self.values.of(&f.lo, f.span)?;
        self.values.set(f.var, first);
        self.outer.push(For {
            body: Vec::new(),
            ..f.clone()
        });
        let body = self.block(&f.body);
        self.outer.pop();
        Ok(Some(NestNode::Loop(Loop {
            id: 0,
            var: f.var,
            lo,
            hi,
            step: f.step,
            incremental: kernel.symbols[f.var.0 as usize].incremental,
            body: body?,
            span: f.span,
        })))
    }

    /// How often statements run; none when that depends on the iteration.
    fn runs(&self, stmt: &Stmt) -> Option<u64> {
        let Stmt::For(f) = stmt else { return Some(1) };
        let (kernel, sizes) = (self.matcher.kernel, self.sizes);
        let length = sized(kernel, sizes, &f.hi).minus(&sized(kernel, sizes, &f.lo));
        let length = u64::try_from(length.constant_value()?.max(0)).ok()?;
        let inner = f.body.iter().map(|s| self.runs(s)).sum::<Option<u64>>()?;
        inner.checked_mul(length.div_ceil(u64::try_from(f.step).ok()?))
    }

    /// The instructions that a loop is, or why it is none.
    fn instruction(
        &mut self,
        stmt: &Stmt,
        f: &For,
    ) -> Result<Result<Vec<TileOp>, Option<MappingError>>, MappingError> {
        let file = &self.matcher.machine.files[self.matcher.shapes.file];
        let rows = u64::from(file.width / file.row);
        let most = 2 * rows * rows * u64::from(file.row / 8);
        if self.runs(stmt).is_none_or(|n| n > most) {
            return Ok(Err(None));
        }
        let body = std::slice::from_ref(stmt);
        let found = self.effects.of(self.matcher.kernel, body, &self.values);
        let (effect, alike) = match found {
            Ok(found) => found,
            Err(refused) => return Ok(Err(Some(refused))),
        };
        if let Some(op) = self.copy(f, &effect)? {
            return Ok(op.map(|op| vec![op]).map_err(Some));
        }
        let tiled = match self.matched(effect, alike) {
            Ok(tiled) => tiled,
            Err(reason) => {
                let message = format!("this is no tile instruction: {reason}");
                let hint = "a block is a whole tile: cut the loops around it by `tile`";
                let refused = MappingError::new(f.span, message, hint).saying(reason.detail());
                return Ok(Err(Some(refused)));
            }
        };
        let compute = &self.matcher.shapes.computes[tiled.compute];
        let (operands, target) = (compute.sources.clone(), compute.target);
        let (instruction, updates) = (compute.instruction, compute.updates);
        let mut tiles = Vec::new();
        for (operand, window) in operands.into_iter().zip(&tiled.sources) {
            tiles.push((operand, self.tile(f, *window, instruction)?, true, false));
        }
        let result = self.tile(f, tiled.target, instruction)?;
        let mut ops = Vec::new();
        if tiled.from_zero {
            ops.push(self.zeros(result, f.span)?);
        }
        tiles.push((target, result, updates, true));
        ops.push(TileOp {
            id: 0,
            instruction,
            tiles,
            moved: None,
            span: f.span,
        });
        Ok(Ok(ops))
    }

    /// The instruction that a block is: that of a block which is alike, if its windows lie inside of their
    /// arrays here too.
    fn matched(&mut self, effect: Effect, alike: Option<Alike>) -> Result<Tiled, Mismatch> {
        let Some(Alike { form, origins }) = alike else {
            return self.matcher.find(&self.whole(effect));
        };
        let within = |o: &Element| {
            let each = i64::from(self.tile_bits() / self.matcher.kernel.arrays[o.0].elem.bits());
            self.in_tiles(o.0).then(|| o.1.rem_euclid(each))
        };
        // Of arrays that are tiles it matters where in a tile they begin.
        let key: TiledKey = (form, origins.iter().map(within).collect());
        if let Some(tiled) = self.matcher.known(&key, &origins) {
            return Ok(tiled);
        }
        let tiled = self.matcher.find(&self.whole(effect))?;
        self.matcher
            .proofs
            .forms
            .insert(key, (origins, tiled.clone()));
        Ok(tiled)
    }

    /// Bits of a tile.
    fn tile_bits(&self) -> u32 {
        self.matcher.machine.files[self.matcher.shapes.file].width
    }

    /// What a block does to the whole of a tile of which it writes a part: the rest stays.
    fn whole(&self, mut effect: Effect) -> Effect {
        let kernel = self.matcher.kernel;
        let arrays: BTreeSet<Id> = effect.written.keys().map(|e| e.0).collect();
        for array in arrays.into_iter().filter(|a| self.in_tiles(*a)) {
            let bits = kernel.arrays[array].elem.bits();
            let each = i64::from(self.tile_bits() / bits);
            let tiles: BTreeSet<i64> = effect.written.keys().map(|e| e.1 / each).collect();
            let elements = tiles.iter().flat_map(|t| t * each..(t + 1) * each);
            for element in elements.map(|n| (array, n)) {
                if !effect.written.contains_key(&element) {
                    let known = effect.read.entry(element);
                    let held = *known.or_insert_with(|| {
                        Term::var(&format!("kept{}of{array}", element.1), Sort::Bv(bits))
                    });
                    effect.written.insert(element, held);
                }
            }
        }
        effect
    }

    fn zeros(&self, tile: Tile, span: Span) -> Result<TileOp, MappingError> {
        let zeros = self.matcher.shapes.zeros().ok_or_else(|| {
            MappingError::new(span, "no instruction sets a tile to zeros", "describe one")
        })?;
        Ok(TileOp {
            id: 0,
            instruction: zeros.instruction,
            tiles: vec![(zeros.target, tile, false, true)],
            moved: None,
            span,
        })
    }

    /// Bytes of a row of a tile, and rows.
    fn extent(&self) -> (i64, i64) {
        let file = &self.matcher.machine.files[self.matcher.shapes.file];
        (i64::from(file.row / 8), i64::from(file.width / file.row))
    }

    /// The tile that a window is.
    fn tile(&self, f: &For, window: Window, instruction: usize) -> Result<Tile, MappingError> {
        let (row, rows) = self.extent();
        let name = self.name(window.array);
        if !self.in_tiles(window.array) {
            let found = &self.matcher.machine.instructions[instruction]
                .instruction
                .name;
            let around = self.matcher.kernel.symbol_name(f.var);
            let message = format!(
                "`{found}` takes tiles of `{}`, and `{name}` lives in main memory",
                self.memory
            );
            let made = self.matcher.kernel.arrays[window.array].role == Role::Local;
            let hint = format!(
                "give what it touches a place there: `stage_mem {name} over {around} as {name}_tile; \
                 set_memory {name}_tile in {};`",
                self.memory
            );
            let hint = match made {
                true => format!("put it there: `set_memory {name} in {};`", self.memory),
                false => hint,
            };
            return Err(MappingError::new(f.span, message, hint));
        }
        self.unmoved(f, window.array)?;
        if window.base % (row * rows) != 0 || window.stride != row {
            let message = format!(
                "what is used of `{name}` is no whole tile: it begins at byte {} and its rows lie {} \
                 bytes apart",
                window.base, window.stride
            );
            let hint = format!("a tile has {rows} rows of {row} bytes, one behind the other");
            return Err(MappingError::new(f.span, message, hint));
        }
        Ok((window.array, window.base / (row * rows)))
    }

    /// Tiles have numbers in the instructions: an index that moves has none.
    fn unmoved(&self, f: &For, array: Id) -> Result<(), MappingError> {
        let base = self.moving(f, array)?;
        let Some((&symbol, _)) = base.terms.iter().next() else {
            return Ok(());
        };
        let (name, x) = (self.name(array), self.matcher.kernel.symbol_name(symbol));
        let message = format!(
            "which tile of `{name}` is meant depends on `{x}`, and registers have no index"
        );
        let hint = format!("write the loop out: `unroll {x}`");
        Err(MappingError::new(f.span, message, hint))
    }

    /// By how much the accesses of a block to an array move in the loops around.
    fn moving(&self, f: &For, array: Id) -> Result<Linear, MappingError> {
        let (kernel, sizes) = (self.matcher.kernel, self.sizes);
        let only = [Stmt::For(f.clone())];
        let mut found: Option<Result<Linear, Span>> = None;
        accesses(kernel, &only, &mut |access, loops, _| {
            if access.array != array {
                return;
            }
            let mut at = place(kernel, sizes, access);
            for l in loops.iter().rev() {
                at = at.substitute(l.var, &sized(kernel, sizes, &l.lo));
            }
            let moves = at.simplified().linear().map(|mut l| {
                l.constant = 0;
                l
            });
            found = Some(match (found.take(), moves) {
                (_, None) => Err(access.span),
                (Some(Ok(before)), Some(now)) if before != now => Err(access.span),
                (Some(Err(span)), _) => Err(span),
                (_, Some(now)) => Ok(now),
            });
        });
        let name = self.name(array);
        found.unwrap_or(Ok(Linear::constant(0))).map_err(|span| {
            let message = format!("the accesses to `{name}` do not move together");
            let hint = "indices of a tile are sums of loop variables, alike in all accesses";
            MappingError::new(span, message, hint)
        })
    }

    /// A load or a store, when the block copies between a tile and main memory.
    fn copy(
        &self,
        f: &For,
        effect: &Effect,
    ) -> Result<Option<Result<TileOp, MappingError>>, MappingError> {
        let from: BTreeMap<Term, (Id, i64)> = effect.read.iter().map(|(e, t)| (*t, *e)).collect();
        let pairs: Option<Vec<Copied>> = effect
            .written
            .iter()
            .map(|(e, t)| Some((*e, *from.get(t)?)))
            .collect();
        let Some(pairs) = pairs.filter(|p| !p.is_empty()) else {
            return Ok(None);
        };
        let (to, source) = (pairs[0].0.0, pairs[0].1.0);
        if pairs.iter().any(|p| p.0.0 != to || p.1.0 != source) {
            return Ok(None);
        }
        let loads = self.in_tiles(to);
        if loads == self.in_tiles(source) {
            let message = format!(
                "no instruction copies `{}` to `{}`",
                self.name(source),
                self.name(to)
            );
            let hint = "a tile is loaded from main memory and stored to it";
            return Ok(Some(Err(MappingError::new(f.span, message, hint))));
        }
        let (tile, array) = if loads { (to, source) } else { (source, to) };
        let mut order: Vec<(i64, i64)> = pairs
            .iter()
            .map(|(a, b)| if loads { (a.1, b.1) } else { (b.1, a.1) })
            .collect();
        order.sort_unstable();
        Ok(Some(self.move_of(f, tile, array, &order, loads)))
    }

    fn move_of(
        &self,
        f: &For,
        tile: Id,
        array: Id,
        order: &[(i64, i64)],
        loads: bool,
    ) -> Result<TileOp, MappingError> {
        let (row, rows) = self.extent();
        let bytes = i64::from(self.matcher.kernel.arrays[array].elem.bits() / 8);
        let columns = row / bytes;
        let first = order[0];
        let whole = order.len() as i64 == rows * columns
            && first.0 % (rows * columns) == 0
            && (0..).zip(order).all(|(n, p)| p.0 == first.0 + n);
        let stride = order
            .get(usize::try_from(columns).unwrap_or(0))
            .map_or(columns, |p| p.1 - first.1);
        let even = (0_i64..)
            .zip(order)
            .all(|(n, p)| p.1 == first.1 + n / columns * stride + n % columns);
        if !whole || !even {
            let message = format!(
                "no tile instruction moves this between `{}` and `{}`",
                self.name(array),
                self.name(tile)
            );
            let hint = format!(
                "it moves {rows} rows of {columns} neighbours each, evenly apart: exchange the dimensions \
                 of `{0}` where what should be neighbours is not, or copy it into an array that has them so",
                self.name(array)
            );
            return Err(MappingError::new(f.span, message, hint).saying(Detail::Size));
        }
        self.unmoved(f, tile)?;
        let moves = self.moving(f, array)?;
        let now = moves
            .terms
            .iter()
            .map(|(s, c)| Ok(c * self.values.of(&Index::Sym(*s), f.span)?))
            .sum::<Result<i64, MappingError>>()?;
        let mut base = moves.clone();
        base.constant = first.1 - now;
        self.aligned(f, array, &base, stride, bytes)?;
        let by = match loads {
            true => &self.matcher.shapes.load,
            false => &self.matcher.shapes.store,
        };
        Ok(TileOp {
            id: 0,
            instruction: by.instruction,
            tiles: vec![(by.tile, (tile, first.0 / (rows * columns)), !loads, loads)],
            moved: Some(Moved {
                array,
                base: base.to_index().times(bytes).simplified(),
                stride: stride * bytes,
                stores: !loads,
            }),
            span: f.span,
        })
    }

    /// Tiles are moved in words.
    fn aligned(
        &self,
        f: &For,
        array: Id,
        base: &Linear,
        stride: i64,
        bytes: i64,
    ) -> Result<(), MappingError> {
        let odd = |n: i64| self.matcher.machine.aligned && n * bytes % 4 != 0;
        let steps = self.outer.iter().map(|l| base.coefficient(l.var) * l.step);
        if !odd(base.constant) && !odd(stride) && !steps.into_iter().any(odd) {
            return Ok(());
        }
        let name = self.name(array);
        let message = format!(
            "a window of `{name}` has rows {} bytes apart and does not always begin at a word: tiles \
             are moved in words of 4",
            stride * bytes
        );
        let hint = format!("pad the rows: `[…, … pad {}]`", 4 / bytes.min(4));
        Err(MappingError::new(f.span, message, hint))
    }
}
