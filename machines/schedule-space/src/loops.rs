//! The loops of a kernel as a schedule sees them.
//!
//! In: a kernel, values of its sizes. Out: a kernel whose loops have names of their own, and
//! [`Loops`]: which loop is inside which, what is in each of them, and by how much each moves what
//! is touched. It takes any kernel, and says nothing about what is legal: directives do.

use kernel::index::{Index, Symbol};
use kernel::tree::{Access, Assign, Expr, ExprKind, For, Kernel, Stmt, SymbolKind, Target};
use kernel::visit::for_each_stmt;
use semantics::span::Span;
use std::collections::{BTreeMap, BTreeSet};

/// A loop.
#[derive(Clone, Debug, Default)]
pub struct Loop {
    /// Its name.
    pub name: String,
    /// The loop that it is directly inside of.
    pub parent: Option<usize>,
    /// The loops directly inside.
    pub inner: Vec<usize>,
    /// Whether nothing but one loop is in it.
    pub only_a_loop: bool,
    /// How often it runs, when that is the same for all sizes.
    pub constant: Option<i64>,
    /// Whether its iterations could become lanes: it has a step of 1, and data choose none of them.
    pub plain: bool,
    /// Bits of the elements that are read, computed and written in it.
    pub bits: BTreeSet<u32>,
    /// How many of the accesses that it moves go elsewhere than to a near neighbour.
    pub far: usize,
    /// How many go to a neighbour or nearly so.
    pub near: usize,
    /// Loops around it that move to a neighbour what it moves elsewhere: it goes through columns, and they
    /// from one to the next.
    pub columns: BTreeSet<String>,
    /// Arrays of which it accumulates in an element that it does not move.
    pub adds_to: BTreeSet<String>,
    /// What its own statements write, in order; loops by their names.
    pub parts: Vec<String>,
    /// Its bounds.
    pub bounds: Option<(Index, Index)>,
    /// Whether there are statements over lanes in it.
    pub has_lanes: bool,
    /// Its place.
    pub span: Span,
}

/// The loops of a kernel, each behind the one that it is inside of.
#[derive(Clone, Debug, Default)]
pub struct Loops {
    /// The loops.
    pub all: Vec<Loop>,
    /// Those that are in no other, in order, with the number of their statement.
    pub roots: Vec<(usize, usize)>,
}

/// Lanes further apart than this are no neighbours: loading them takes an instruction each.
const NEAR: i64 = 4;

impl Loops {
    /// The loops of a kernel; of several that have one name the first.
    pub fn of(kernel: &Kernel, sizes: &BTreeMap<Symbol, i64>) -> Loops {
        let mut walk = Walk {
            kernel,
            values: sizes.clone(),
            around: Vec::new(),
            loops: Loops::default(),
        };
        for (at, stmt) in kernel.body.iter().enumerate() {
            if let Stmt::For(f) = stmt
                && let Some(root) = walk.enter(f, None)
            {
                walk.loops.roots.push((root, at));
            }
        }
        walk.loops
    }

    /// The loop of a name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.all.iter().position(|l| l.name == name)
    }

    /// The loops around one, the innermost first.
    pub fn around(&self, of: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.all[of].parent, |&l| self.all[l].parent)
    }

    /// Whether one is around the other, or both are the same.
    pub fn on_one_path(&self, a: usize, b: usize) -> bool {
        a == b || self.around(a).any(|l| l == b) || self.around(b).any(|l| l == a)
    }

    /// A loop and all inside of it, outer ones first.
    pub fn within(&self, root: usize) -> Vec<usize> {
        let inside = |&l: &usize| l == root || self.around(l).any(|o| o == root);
        (0..self.all.len()).filter(inside).collect()
    }
}

/// What is gone through, at values in the middle of what loops run over.
struct Walk<'k> {
    kernel: &'k Kernel,
    values: BTreeMap<Symbol, i64>,
    /// The loops around what is looked at, outer ones first.
    around: Vec<Symbol>,
    loops: Loops,
}

impl Walk<'_> {
    fn value(&self, index: &Index) -> Option<i64> {
        let of = |s: Symbol| self.values.get(&s).copied().unwrap_or(0);
        index.eval(&of).ok()
    }

    /// Adds a loop and those inside of it; none of a name that is there already.
    fn enter(&mut self, f: &For, parent: Option<usize>) -> Option<usize> {
        let name = self.kernel.symbol_name(f.var);
        if self.loops.find(&name).is_some() {
            return None;
        }
        let (lo, hi) = (self.value(&f.lo), self.value(&f.hi));
        let (lo, hi) = (lo.unwrap_or(0), hi.unwrap_or(0));
        self.values.insert(f.var, lo + (hi - lo).max(0) / 2);
        let at = self.loops.all.len();
        let length = f.hi.minus(&f.lo).constant_value();
        self.loops.all.push(Loop {
            name,
            parent,
            only_a_loop: matches!(f.body[..], [Stmt::For(_)]),
            constant: length.map(|n| n / f.step),
            plain: f.step == 1 && !f.partial && !f.depends_on_data(),
            bounds: Some((f.lo.clone(), f.hi.clone())),
            span: f.span,
            parts: f.body.iter().filter_map(|s| self.part(s)).collect(),
            ..Loop::default()
        });
        self.around.push(f.var);
        for stmt in &f.body {
            if let Stmt::For(inner) = stmt
                && let Some(inner) = self.enter(inner, Some(at))
            {
                self.loops.all[at].inner.push(inner);
            }
        }
        self.around.pop();
        self.look(f, at);
        Some(at)
    }

    /// What a directive calls a statement.
    fn part(&self, stmt: &Stmt) -> Option<String> {
        let kernel = self.kernel;
        Some(match stmt {
            Stmt::For(f) => kernel.symbol_name(f.var),
            Stmt::Let(_) => return None,
            Stmt::Assign(a) => match &a.target {
                Target::Register(id) => kernel.registers[*id].name.clone(),
                Target::Array(access) => kernel.arrays[access.array].name.clone(),
            },
        })
    }

    /// What is in a loop, whose inner loops have values.
    fn look(&mut self, f: &For, at: usize) {
        let mut found = self.loops.all[at].clone();
        for_each_stmt(&f.body, &mut |stmt, _| {
            self.kernel.for_each_access(stmt, &mut |access, _| {
                let elem = self.kernel.arrays[access.array].elem;
                found.bits.insert(elem.bits().max(8));
                match self.moved(access, f.var) {
                    Moved::Not => {}
                    Moved::Near => found.near += 1,
                    Moved::Far => {
                        found.far += 1;
                        let next = |l: &&Symbol| matches!(self.moved(access, **l), Moved::Near);
                        let columns = self.around.iter().filter(next);
                        found
                            .columns
                            .extend(columns.map(|l| self.kernel.symbol_name(*l)));
                    }
                }
            });
            if let Some(value) = self.kernel.value(stmt) {
                found.has_lanes |= value.ty.lanes > 1;
                self.widths(value, &mut found.bits);
            }
            if let Stmt::Assign(a) = stmt {
                found.adds_to.extend(self.adds(a, f.var));
            }
        });
        self.loops.all[at] = found;
    }

    /// The widths of what a value is computed from.
    fn widths(&self, value: &Expr, bits: &mut BTreeSet<u32>) {
        self.kernel.walk(value, &|_| true, &mut |e| {
            let number = e.ty.elem.is_number();
            if number && !matches!(e.kind, ExprKind::Const(_) | ExprKind::Index(_)) {
                bits.insert(e.ty.elem.bits().max(8));
            }
            e.operands()
        });
    }

    /// The array of which a statement accumulates in an element that a loop does not move.
    fn adds(&self, a: &Assign, var: Symbol) -> Option<String> {
        let Target::Array(access) = &a.target else {
            return None;
        };
        a.accumulation()?;
        let still = matches!(self.moved(access, var), Moved::Not);
        still.then(|| self.kernel.arrays[access.array].name.clone())
    }

    /// By how much an iteration moves an access.
    fn moved(&self, access: &Access, var: Symbol) -> Moved {
        let here = |s: Symbol| self.values.get(&s).copied().unwrap_or(0);
        let next = |s: Symbol| here(s) + i64::from(s == var);
        let by = |i: &Index| match (i.eval(&here), i.eval(&next)) {
            (Ok(a), Ok(b)) => b - a,
            _ => i64::MAX,
        };
        let by: Vec<i64> = access.index.iter().map(by).collect();
        let (last, outer) = by.split_last().expect("arrays have dimensions");
        match (outer.iter().all(|d| *d == 0), last.unsigned_abs()) {
            (true, 0) => Moved::Not,
            (true, n) if n <= NEAR.unsigned_abs() => Moved::Near,
            _ => Moved::Far,
        }
    }
}

/// Where the next iteration finds what it touches.
enum Moved {
    /// In the same place.
    Not,
    /// Beside it.
    Near,
    /// Elsewhere.
    Far,
}

/// The kernel with a name of its own for each loop, since directives change all loops of a name;
/// and the new names with those that stand in the text.
pub fn told_apart(kernel: &Kernel) -> (Kernel, Vec<(String, String)>) {
    let mut out = kernel.clone();
    let mut taken: BTreeSet<String> = kernel.symbols.iter().map(|s| s.name.clone()).collect();
    taken.extend(kernel.arrays.iter().map(|a| a.name.clone()));
    taken.extend(kernel.registers.iter().map(|r| r.name.clone()));
    taken.extend(kernel.locals.iter().map(|l| l.name.clone()));
    taken.extend(kernel.scalars.iter().map(|s| s.name.clone()));
    let (mut seen, mut renamed) = (BTreeSet::new(), Vec::new());
    for symbol in &mut out.symbols {
        if symbol.kind != SymbolKind::Loop || seen.insert(symbol.name.clone()) {
            continue;
        }
        let new = (2..).map(|n| format!("{}{n}", symbol.name));
        let new = new.into_iter().find(|n| !taken.contains(n));
        let new = new.expect("there are more numbers than names");
        taken.insert(new.clone());
        seen.insert(new.clone());
        renamed.push((new.clone(), std::mem::replace(&mut symbol.name, new)));
    }
    (out, renamed)
}

/// The lanes of the widest vector in a value.
fn widest(e: &Expr) -> u32 {
    let inner = e.operands().iter().map(widest).max();
    e.ty.lanes.max(inner.unwrap_or(1))
}

/// How many statements of one lane some statements run, nearly: inner loops as often as in the middle of outer ones.
pub fn work(body: &[Stmt], sizes: &BTreeMap<Symbol, i64>) -> i64 {
    let lanes = |stmt: &Stmt| match stmt {
        Stmt::Assign(a) => widest(&a.value).into(),
        _ => 1,
    };
    block(body, &mut sizes.clone(), &lanes)
}

/// How many operators the statements of a kernel compute, as often as they run; what a name stands for
/// once in each.
pub(crate) fn operators(kernel: &Kernel, sizes: &BTreeMap<Symbol, i64>) -> i64 {
    let of = |stmt: &Stmt| {
        let mut count = 1;
        let unstated = |id: usize| !kernel.locals[id].stated;
        if let Some(value) = kernel.value(stmt) {
            kernel.walk(value, &unstated, &mut |e| {
                count += i64::from(!e.operands().is_empty());
                e.operands()
            });
        }
        count
    };
    block(&kernel.body, &mut sizes.clone(), &of)
}

fn block(body: &[Stmt], values: &mut BTreeMap<Symbol, i64>, of: &dyn Fn(&Stmt) -> i64) -> i64 {
    let each = body.iter().map(|stmt| match stmt {
        Stmt::For(f) => {
            let known = |s: Symbol| values.get(&s).copied().unwrap_or(0);
            let value = |index: &Index| index.eval(&known).unwrap_or(0);
            let (lo, hi) = (value(&f.lo), value(&f.hi));
            let rounds = if f.at.is_some() {
                1
            } else {
                (hi - lo).max(0) / f.step
            };
            values.insert(f.var, lo + (hi - lo).max(0) / 2);
            rounds.saturating_mul(block(&f.body, values, of))
        }
        stmt => of(stmt),
    });
    each.fold(0, i64::saturating_add)
}
