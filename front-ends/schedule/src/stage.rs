//! Staging: an element of an array kept in a register while a loop runs.
//!
//! In: a loop and an array of which it touches one element (or one vector of elements). Out:
//! a load before the loop, the loop on a register, a store behind it. Legal when every
//! access of the loop to the array is to the same element in all iterations, and that
//! element is inside the array even when the loop does not run.

use super::Refusal;
use super::copy::{Copy, fresh};
use kernel::index::{Index, Symbol};
use kernel::lia::Facts;
use kernel::tree::{Access, Assign, Expr, ExprKind, For, Id, Kernel, Register, Role, Stmt, Target};
use kernel::types::Type;
use kernel::visit::{for_each_assign_mut, for_each_stmt};
use std::collections::BTreeSet;

/// Keeps an array's element in a register over a loop.
///
/// # Errors
/// Why the result would differ.
pub(super) fn stage(
    kernel: &mut Kernel,
    f: &For,
    array: &str,
    around: &Facts,
) -> Result<Vec<Stmt>, Refusal> {
    let Some(id) = kernel.arrays.iter().position(|a| a.name == array) else {
        return Err(Refusal::no_array(kernel, f.span, array));
    };
    let var = fresh(kernel, f.var);
    let body = Copy::with(kernel, f.var, Index::Sym(var)).block(&f.body);
    let mut found = Found::default();
    found.block(kernel, &body, id);
    found.inner.insert(var);
    let access = same_element(kernel, f, id, &found)?;
    inside(kernel, &access, around)?;
    let ty = Type {
        elem: kernel.arrays[id].elem,
        lanes: access.lanes,
    };
    let register = kernel.registers.len();
    kernel.registers.push(Register {
        name: format!("{array}_staged"),
        ty,
        parts: false,
    });
    let mut body = body;
    kernel.for_each_expr_mut(&mut body, &mut |e| {
        if matches!(&e.kind, ExprKind::Load(access) if access.array == id) {
            e.kind = ExprKind::Register(register);
        }
    });
    for_each_assign_mut(&mut body, &mut |a| {
        if matches!(&a.target, Target::Array(access) if access.array == id) {
            a.target = Target::Register(register);
        }
    });
    let span = f.span;
    let move_to = |target, kind| {
        Stmt::Assign(Assign {
            target,
            accumulate: false,
            reassociate: false,
            value: Expr { kind, ty, span },
            span,
        })
    };
    let mut out = vec![
        move_to(Target::Register(register), ExprKind::Load(access.clone())),
        Stmt::For(For {
            var,
            body,
            ..f.clone()
        }),
    ];
    if found.written {
        out.push(move_to(Target::Array(access), ExprKind::Register(register)));
    }
    Ok(out)
}

/// How a loop's body touches an array.
#[derive(Default)]
struct Found {
    accesses: Vec<Access>,
    written: bool,
    /// The variables of inner loops.
    inner: BTreeSet<Symbol>,
}

impl Found {
    fn block(&mut self, kernel: &Kernel, body: &[Stmt], array: Id) {
        for_each_stmt(body, &mut |stmt, _| {
            if let Stmt::For(f) = stmt {
                self.inner.insert(f.var);
            }
            kernel.for_each_access(stmt, &mut |access, writes| {
                if access.array == array {
                    self.written |= writes;
                    self.accesses.push(access.clone());
                }
            });
        });
    }
}

/// The one element that all accesses are to.
fn same_element(kernel: &Kernel, f: &For, array: Id, found: &Found) -> Result<Access, Refusal> {
    let name = &kernel.arrays[array].name;
    let Some(first) = found.accesses.first() else {
        return Err(Refusal::at(
            f.span,
            format!("the loop does not touch `{name}`"),
        ));
    };
    for access in &found.accesses {
        let moves = |s: &&Symbol| access.index.iter().any(|i| i.mentions(**s));
        if let Some(symbol) = found.inner.iter().find(moves) {
            let loop_name = kernel.symbol_name(*symbol);
            let at = |n: i64| {
                let mut access = access.clone();
                for index in &mut access.index {
                    *index = index.substitute(*symbol, &Index::Const(n)).simplified();
                }
                text(kernel, &access)
            };
            let message =
                format!("iterations of `{loop_name}` touch different elements of `{name}`");
            return Err(Refusal::at(access.span, message).note(format!(
                "for example {loop_name} = 0 touches {} and {loop_name} = 1 touches {}",
                at(0),
                at(1)
            )));
        }
        if access != first || access.clamped {
            let message = format!("the loop touches more than one element of `{name}`");
            return Err(Refusal::at(access.span, message).note(format!(
                "each iteration touches {} and {}, which may be the same element",
                text(kernel, first),
                text(kernel, access)
            )));
        }
    }
    Ok(first.clone())
}

fn text(kernel: &Kernel, access: &Access) -> String {
    let index: Vec<String> = access.index.iter().map(|i| kernel.index_text(i)).collect();
    format!("{}[{}]", kernel.arrays[access.array].name, index.join(", "))
}

/// Whether the element is there although no iteration has shown it, and may be read.
fn inside(kernel: &Kernel, access: &Access, facts: &Facts) -> Result<(), Refusal> {
    let array = &kernel.arrays[access.array];
    let lanes = |d: usize| {
        if d == access.dim {
            access.last_index()
        } else {
            access.index[d].clone()
        }
    };
    let fits = (0..access.index.len()).all(|d| {
        let (low, high) = match access.stride < 0 && d == access.dim {
            true => (lanes(d), access.index[d].clone()),
            false => (access.index[d].clone(), lanes(d)),
        };
        facts.proves_at_most(&Index::Const(0), &low)
            && facts.proves_at_most(&high.offset(1), &array.dims[d])
    });
    if !fits {
        let message = format!(
            "it does not follow that {} exists when the loop does not run",
            text(kernel, access)
        );
        return Err(Refusal::at(access.span, message));
    }
    if array.role == Role::Local {
        let note = "keep it in a `var` instead";
        let message = format!(
            "`{}` is local: it may hold nothing before the loop",
            array.name
        );
        return Err(Refusal::at(access.span, message).note(note));
    }
    Ok(())
}
