//! A kernel as text: its loops and statements as they would be written.
//!
//! In: a kernel, also one after its schedule. Out: lines. What a schedule has added is said
//! in comments: where an array lives, loops whose last vector is shorter, addresses that move
//! on. The text of a kernel without such things can be read again.

use crate::check::call::name_of;
use crate::index::{Index, Symbol};
use crate::tree::{Access, Expr, ExprKind, For, Id, Kernel, Op, Reduction, Role, Stmt, Target};
use crate::types::{Elem, Type};
use std::collections::BTreeSet;

/// The statements of a kernel, one a line, loops indented.
pub fn body(kernel: &Kernel) -> String {
    let mut show = Show {
        kernel,
        out: String::new(),
        registers: BTreeSet::new(),
    };
    show.arrays(None, 0);
    show.block(&kernel.body, 0);
    show.out
}

struct Show<'k> {
    kernel: &'k Kernel,
    out: String,
    /// Registers that were declared.
    registers: BTreeSet<Id>,
}

/// How tightly an operator binds; what is no operator binds tightest.
const TIGHT: u8 = 20;

impl Show<'_> {
    fn line(&mut self, depth: usize, text: &str) {
        for _ in 0..depth {
            self.out.push_str("  ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// The arrays that are made in this loop.
    fn arrays(&mut self, inside: Option<Symbol>, depth: usize) {
        let kernel = self.kernel;
        let local = kernel.arrays.iter().filter(|a| a.role == Role::Local);
        for array in local.filter(|a| a.placement.inside == inside) {
            if array.dims == [Index::Const(0)] {
                continue;
            }
            let dims: Vec<String> = array.dims.iter().map(|d| kernel.index_text(d)).collect();
            let memory = array.placement.memory.as_ref();
            let note = memory.map_or(String::new(), |m| format!("  // in {m}"));
            let (name, elem) = (&array.name, array.elem);
            self.line(
                depth,
                &format!("var {name}: {elem}[{}];{note}", dims.join(", ")),
            );
        }
    }

    fn block(&mut self, body: &[Stmt], depth: usize) {
        for stmt in body {
            match stmt {
                Stmt::For(f) => self.for_loop(f, depth),
                Stmt::Let(id) => {
                    let local = &self.kernel.locals[*id];
                    let text = format!("let {} = {};", local.name, self.expr(&local.value, 0));
                    self.line(depth, &text);
                }
                Stmt::Assign(a) => {
                    let (target, mut declared) = match &a.target {
                        Target::Array(access) => (self.access(access), None),
                        Target::Register(id) => {
                            let register = &self.kernel.registers[*id];
                            let new = !a.accumulate && self.registers.insert(*id);
                            (register.name.clone(), new.then_some(register.ty))
                        }
                    };
                    if declared.is_some() && self.reads_itself(a) {
                        declared = None;
                    }
                    let value = self.expr(&a.value, 0);
                    let text = match declared {
                        Some(ty) => format!("var {target}: {ty} = {value};"),
                        None if a.accumulate => format!("{target} += {value};"),
                        None => format!("{target} = {value};"),
                    };
                    let any = if a.reassociate { "reassociate " } else { "" };
                    self.line(depth, &format!("{any}{text}"));
                }
            }
        }
    }

    fn reads_itself(&self, a: &crate::tree::Assign) -> bool {
        self.kernel.reads(&a.value, &a.target, &|_| true)
    }

    fn for_loop(&mut self, f: &For, depth: usize) {
        let kernel = self.kernel;
        let (lo, hi) = (kernel.index_text(&f.lo), kernel.index_text(&f.hi));
        let info = &kernel.symbols[f.var.0 as usize];
        let step = match f.step {
            1 => String::new(),
            n => format!(" step {n}"),
        };
        let at =
            f.at.map_or_else(String::new, |id| format!(" at {}", kernel.locals[id].name));
        let notes = [
            (info.incremental, "addresses move on"),
            (f.partial, "the last vector is shorter"),
        ];
        let notes: Vec<&str> = notes.iter().filter(|n| n.0).map(|n| n.1).collect();
        let note = match notes.is_empty() {
            true => String::new(),
            false => format!("  // {}", notes.join(", ")),
        };
        self.line(
            depth,
            &format!("for {} in {lo}..{hi}{step}{at} {{{note}", info.name),
        );
        self.arrays(Some(f.var), depth + 1);
        self.block(&f.body, depth + 1);
        self.line(depth, "}");
    }

    fn access(&self, access: &Access) -> String {
        let kernel = self.kernel;
        let mut index: Vec<String> = access.index.iter().map(|i| kernel.index_text(i)).collect();
        if access.lanes > 1 {
            let by = match access.stride {
                1 => String::new(),
                n => format!(" by {n}"),
            };
            index[access.dim] += &format!("..+{}{by}", access.lanes);
        }
        let clamped = if access.clamped { ".clamped" } else { "" };
        format!(
            "{}{clamped}[{}]",
            kernel.arrays[access.array].name,
            index.join(", ")
        )
    }

    fn expr(&self, e: &Expr, around: u8) -> String {
        let kernel = self.kernel;
        match &e.kind {
            ExprKind::Const(values) => constant(e.ty, values),
            ExprKind::Scalar(id) => kernel.scalars[*id].name.clone(),
            ExprKind::Register(id) => kernel.registers[*id].name.clone(),
            ExprKind::Local(id) if kernel.locals[*id].stated => kernel.locals[*id].name.clone(),
            ExprKind::Local(id) if !is_short(kernel, *id) => kernel.locals[*id].name.clone(),
            ExprKind::Local(id) => self.expr(&kernel.locals[*id].value, around),
            ExprKind::Load(access) => self.access(access),
            ExprKind::Index(index) => format!("{}({})", e.ty, kernel.index_text(index)),
            ExprKind::Apply(op, args) => self.apply(*op, args, e.ty, around),
            ExprKind::Reduce(reduction, arg, n) => {
                let name = match reduction {
                    Reduction::Add => "reduce_add",
                    Reduction::Min => "reduce_min",
                    Reduction::Max => "reduce_max",
                };
                format!("{name}({}, {n})", self.expr(arg, 0))
            }
            ExprKind::Shuffle(parts, order) => {
                let parts: Vec<String> = parts.iter().map(|p| self.expr(p, 0)).collect();
                let order: Vec<String> = order.iter().map(u32::to_string).collect();
                let vector = match &parts[..] {
                    [one] => one.clone(),
                    _ => format!("concat({})", parts.join(", ")),
                };
                format!("shuffle({vector}, [{}])", order.join(", "))
            }
        }
    }

    fn apply(&self, op: Op, args: &[Expr], ty: Type, around: u8) -> String {
        if let Some((symbol, level)) = infix(op)
            && let [a, b] = args
        {
            let text = format!(
                "{} {symbol} {}",
                self.expr(a, level),
                self.expr(b, level + 1)
            );
            return match level < around {
                true => format!("({text})"),
                false => text,
            };
        }
        let sign = match op {
            Op::Neg => Some("-"),
            Op::Not if args[0].ty.elem == Elem::Bool => Some("!"),
            Op::Not => Some("~"),
            _ => None,
        };
        if let Some(sign) = sign {
            return format!("{sign}{}", self.expr(&args[0], TIGHT));
        }
        let list: Vec<String> = args.iter().map(|a| self.expr(a, 0)).collect();
        let list = list.join(", ");
        match op {
            Op::Cast => format!("{}({list})", ty.elem),
            Op::SatCast => format!("{}_sat({list})", ty.elem),
            Op::Bits => format!("{}_bits({list})", ty.elem),
            other => format!("{}({list})", name_of(other).unwrap_or("operation")),
        }
    }
}

/// An operation that gives elements of a type, by the name that texts have for it.
pub fn written(op: Op, elem: Elem) -> String {
    let sign = infix(op).map(|i| i.0);
    match op {
        Op::Cast => elem.to_string(),
        Op::SatCast => format!("{elem}_sat"),
        Op::Bits => format!("{elem}_bits"),
        Op::Neg => "-".to_owned(),
        _ => sign.or(name_of(op)).map_or(op.to_string(), str::to_owned),
    }
}

fn constant(ty: Type, values: &[i128]) -> String {
    let one = |v: &i128| match (ty.elem, ty.elem.format()) {
        (_, Some(_)) if *v == 0 => "0".to_owned(),
        (elem, Some(_)) => format!("{elem}:{v:#x}"),
        (Elem::Bool, _) => (if *v == 0 { "false" } else { "true" }).to_owned(),
        _ => v.to_string(),
    };
    match values {
        [v] => one(v),
        _ => format!(
            "[{}]",
            values.iter().map(one).collect::<Vec<_>>().join(", ")
        ),
    }
}

fn infix(op: Op) -> Option<(&'static str, u8)> {
    Some(match op {
        Op::Eq => ("==", 3),
        Op::Ne => ("!=", 3),
        Op::Lt => ("<", 3),
        Op::Le => ("<=", 3),
        Op::Or => ("|", 4),
        Op::Xor => ("^", 5),
        Op::And => ("&", 6),
        Op::Shl => ("<<", 7),
        Op::Shr => (">>", 7),
        Op::Add => ("+", 8),
        Op::Sub => ("-", 8),
        Op::Mul => ("*", 9),
        Op::Div => ("/", 9),
        Op::Rem => ("%", 9),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;

/// Whether the value of a name is short when the names in it are written out too.
fn is_short(kernel: &Kernel, id: Id) -> bool {
    const MOST: usize = 400;
    let (mut work, mut seen) = (vec![&kernel.locals[id].value], 0);
    while let Some(e) = work.pop() {
        seen += 1;
        match &e.kind {
            _ if seen > MOST => return false,
            ExprKind::Local(id) if !kernel.locals[*id].stated => {
                work.push(&kernel.locals[*id].value)
            }
            _ => work.extend(e.operands()),
        }
    }
    true
}
