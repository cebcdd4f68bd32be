//! Copies of statements under new names.
//!
//! In: statements, and what their symbols become. Out: copies with loop variables and local
//! values of their own. Registers that nothing outside the copied statements mentions get
//! copies too when that is asked for.

use kernel::index::{Index, Symbol};
use kernel::tree::{Access, Array, Assign, Expr, ExprKind, For, Id, Kernel, Stmt, Target};
use std::collections::{BTreeMap, BTreeSet};

/// Copies statements of one kernel.
pub(super) struct Copy<'k> {
    /// The kernel that receives new symbols, locals and registers.
    pub(super) kernel: &'k mut Kernel,
    /// What symbols become.
    pub(super) symbols: BTreeMap<Symbol, Index>,
    /// What local values become.
    pub(super) locals: BTreeMap<Id, Id>,
    /// What registers become.
    pub(super) registers: BTreeMap<Id, Id>,
    /// What arrays become.
    pub(super) arrays: BTreeMap<Id, Id>,
}

impl<'k> Copy<'k> {
    /// A copy with one symbol replaced.
    pub(super) fn with(kernel: &'k mut Kernel, symbol: Symbol, by: Index) -> Self {
        Copy {
            kernel,
            symbols: BTreeMap::from([(symbol, by)]),
            locals: BTreeMap::new(),
            registers: BTreeMap::new(),
            arrays: BTreeMap::new(),
        }
    }

    /// Gives the copies registers of their own in place of the given ones.
    pub(super) fn rename_registers(&mut self, registers: &BTreeSet<Id>) {
        for &id in registers {
            let copy = self.kernel.registers[id].clone();
            self.registers.insert(id, self.kernel.registers.len());
            self.kernel.registers.push(copy);
        }
    }

    /// Gives the copies arrays of their own in place of the given ones.
    pub(super) fn rename_arrays(&mut self, arrays: &BTreeSet<Id>) {
        for &id in arrays {
            let mut copy = self.kernel.arrays[id].clone();
            copy.name = self.kernel.unused_array_name(&copy.name);
            self.arrays.insert(id, self.kernel.arrays.len());
            self.kernel.arrays.push(copy);
        }
    }

    /// A copy of a block.
    pub(super) fn block(&mut self, body: &[Stmt]) -> Vec<Stmt> {
        body.iter().map(|s| self.stmt(s)).collect()
    }

    fn stmt(&mut self, stmt: &Stmt) -> Stmt {
        match stmt {
            Stmt::For(f) => {
                let (lo, hi) = (self.index(&f.lo), self.index(&f.hi));
                let at = f.at.map(|id| self.local(id));
                let var = fresh(self.kernel, f.var);
                self.symbols.insert(f.var, Index::Sym(var));
                let body = self.block(&f.body);
                Stmt::For(For {
                    var,
                    lo,
                    hi,
                    at,
                    body,
                    ..f.clone()
                })
            }
            Stmt::Let(id) => Stmt::Let(self.local(*id)),
            Stmt::Assign(a) => {
                let target = match &a.target {
                    Target::Register(id) => Target::Register(self.register(*id)),
                    Target::Array(access) => Target::Array(self.access(access)),
                };
                let value = self.expr(&a.value);
                Stmt::Assign(Assign {
                    target,
                    value,
                    ..a.clone()
                })
            }
        }
    }

    fn register(&self, id: Id) -> Id {
        self.registers.get(&id).copied().unwrap_or(id)
    }

    fn local(&mut self, id: Id) -> Id {
        if let Some(&done) = self.locals.get(&id) {
            return done;
        }
        let mut local = self.kernel.locals[id].clone();
        local.value = self.expr(&local.value);
        let copy = self.kernel.locals.len();
        self.kernel.locals.push(local);
        self.locals.insert(id, copy);
        copy
    }

    fn index(&self, index: &Index) -> Index {
        substitute(index, &self.symbols)
    }

    fn access(&self, access: &Access) -> Access {
        let index = access.index.iter().map(|i| self.index(i)).collect();
        let array = self.arrays.get(&access.array);
        Access {
            index,
            array: array.copied().unwrap_or(access.array),
            ..access.clone()
        }
    }

    fn expr(&mut self, e: &Expr) -> Expr {
        let mut out = e.clone();
        out.for_each_mut(&mut |e| match &mut e.kind {
            ExprKind::Register(id) => *id = self.register(*id),
            ExprKind::Local(id) if !self.outside(*id) => *id = self.local(*id),
            ExprKind::Load(access) => *access = self.access(access),
            ExprKind::Index(index) => *index = self.index(index),
            _ => {}
        });
        out
    }

    /// Whether a local value is computed by a statement that is not copied.
    fn outside(&self, id: Id) -> bool {
        self.kernel.locals[id].stated && !self.locals.contains_key(&id)
    }
}

/// A new symbol with the name of another.
pub(super) fn fresh(kernel: &mut Kernel, like: Symbol) -> Symbol {
    let info = kernel.symbols[like.0 as usize].clone();
    let symbol = Symbol(u32::try_from(kernel.symbols.len()).expect("fewer than 2^32 symbols"));
    kernel.symbols.push(info);
    symbol
}

/// A symbol like another, with a name of its own.
pub(super) fn fresh_named(kernel: &mut Kernel, like: Symbol, name: &str) -> Symbol {
    let symbol = fresh(kernel, like);
    kernel.symbols[symbol.0 as usize].name = name.to_owned();
    symbol
}

/// An index with several symbols replaced at once.
pub(super) fn substitute(index: &Index, by: &BTreeMap<Symbol, Index>) -> Index {
    // Replacements mention new symbols only or the same one shifted, and each symbol is
    // replaced once: the order does not matter.
    by.iter().fold(index.clone(), |index, (symbol, by)| {
        index.substitute(*symbol, by)
    })
}

/// The registers that only the given statements mention.
pub(super) fn own_registers(kernel: &Kernel, body: &[Stmt]) -> BTreeSet<Id> {
    let mut inside = BTreeMap::new();
    count_registers(kernel, body, &mut inside);
    let mut everywhere = BTreeMap::new();
    count_registers(kernel, &kernel.body, &mut everywhere);
    inside
        .into_iter()
        .filter(|(id, n)| everywhere.get(id) == Some(n))
        .map(|(id, _)| id)
        .collect()
}

/// The arrays that are made anew in each iteration of a loop.
pub(super) fn own_arrays(kernel: &Kernel, f: &For) -> BTreeSet<Id> {
    let mut inside = kernel::visit::inner_loops(&f.body);
    inside.insert(f.var);
    let made = |array: &Array| array.placement.inside.is_some_and(|s| inside.contains(&s));
    let all = kernel.arrays.iter().enumerate();
    all.filter(|(_, array)| made(array))
        .map(|(id, _)| id)
        .collect()
}

fn count_registers(kernel: &Kernel, body: &[Stmt], out: &mut BTreeMap<Id, usize>) {
    for stmt in body {
        match stmt {
            Stmt::For(f) => count_registers(kernel, &f.body, out),
            Stmt::Let(id) => count_in(kernel, &kernel.locals[*id].value, out),
            Stmt::Assign(a) => {
                if let Target::Register(id) = a.target {
                    *out.entry(id).or_default() += 1;
                }
                count_in(kernel, &a.value, out);
            }
        }
    }
}

fn count_in(kernel: &Kernel, e: &Expr, out: &mut BTreeMap<Id, usize>) {
    let unstated = |id: Id| !kernel.locals[id].stated;
    kernel.for_each_leaf(e, &unstated, &mut |leaf| {
        if let ExprKind::Register(id) = leaf.kind {
            *out.entry(id).or_default() += 1;
        }
    });
}
