//! Buffers: values that become arrays, dimensions for each iteration, where arrays are made
//! and live, arrays cut into several.
//!
//! In: a kernel and the name of a buffer. Out: the kernel with that buffer changed. Nothing of
//! what is computed changes its order; what has to be shown is that no value is needed that
//! the changed buffer does not hold.

use super::Refusal;
use super::access::{loops_around, touches};
use kernel::index::{Index, Symbol};
use kernel::tree::{
    Access, Array, Assign, Expr, ExprKind, For, Id, Kernel, Placement, Role, Stmt, Target,
};
use kernel::types::Elem;
use kernel::visit::for_each_assign_mut;
use semantics::span::Span;

/// The most arrays that one is cut into.
const MOST_PARTS: i64 = 64;

/// What a name can stand for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Buffer {
    Array(Id),
    Register(Id),
    Value(Id),
}

/// The loop of that name around all that touches a buffer, in a body.
fn find_loop<'b>(kernel: &Kernel, body: &'b [Stmt], around: &[Symbol], x: &str) -> Option<&'b For> {
    let (&first, rest) = around.split_first()?;
    let found = body.iter().find_map(|s| match s {
        Stmt::For(f) if f.var == first => Some(f),
        _ => None,
    })?;
    match kernel.symbol_name(first) == x {
        true => Some(found),
        false => find_loop(kernel, &found.body, rest, x),
    }
}

/// One more dimension, the first, with an element for each iteration of a loop.
///
/// # Errors
/// Nothing of that name in the loop; a value that one iteration leaves to the next; a loop
/// whose length is not known before all loops.
pub(super) fn expand(kernel: &mut Kernel, name: &str, x: &str) -> Result<usize, Refusal> {
    let span = kernel.span;
    let Some(buffer) = named(kernel, name) else {
        return Err(nothing_of(kernel, name));
    };
    let body = kernel.body.clone();
    let holds = |stmts: &[Stmt]| mentioned(kernel, stmts, buffer);
    let around = loops_around(&body, &holds);
    let Some(f) = find_loop(kernel, &body, &around, x).cloned() else {
        let message = format!("no loop `{x}` is around all that touches `{name}`");
        return Err(Refusal::at(
            place_of(kernel, buffer).unwrap_or(span),
            message,
        ));
    };
    let length = f.hi.minus(&f.lo).offset(f.step - 1);
    let length = Index::Div(Box::new(length), Box::new(Index::Const(f.step))).simplified();
    let length = if f.step == 1 {
        f.hi.minus(&f.lo)
    } else {
        length
    };
    let mut moving = None;
    length.for_each_symbol(&mut |s| {
        if kernel.symbols[s.0 as usize].kind == kernel::tree::SymbolKind::Loop {
            moving = Some(s);
        }
    });
    if let Some(symbol) = moving {
        let other = kernel.symbol_name(symbol);
        let message = format!("how often `{x}` runs depends on `{other}`");
        let at = |n: i64| kernel.index_text(&length.substitute(symbol, &Index::Const(n)));
        return Err(Refusal::at(f.span, message).note(format!(
            "for example {other} = 0 needs {} elements and {other} = 1 needs {}",
            at(0),
            at(1)
        )));
    }
    let at = Index::Sym(f.var).minus(&f.lo);
    let at = match f.step {
        1 => at,
        n => Index::Div(Box::new(at), Box::new(Index::Const(n))),
    };
    let array = match buffer {
        Buffer::Array(id) => inside_only(kernel, id, &around, &f)?,
        Buffer::Register(id) => of_register(kernel, id, &f)?,
        Buffer::Value(id) => of_value(kernel, id)?,
    };
    kernel.arrays[array].dims.insert(0, length);
    let widen = |access: &mut Access| {
        if access.array == array {
            access.index.insert(0, at.clone());
            access.dim = access.index.len() - 1;
        }
    };
    let mut body = std::mem::take(&mut kernel.body);
    kernel.for_each_access_mut(&mut body, &mut |access| widen(access));
    kernel.body = body;
    Ok(1)
}

fn nothing_of(kernel: &Kernel, name: &str) -> Refusal {
    let arrays = kernel.arrays.iter().filter(|a| a.role == Role::Local);
    let values = kernel.locals.iter().filter(|v| v.stated);
    let registers = kernel.registers.iter().map(|r| r.name.as_str());
    let there = arrays.map(|a| a.name.as_str()).chain(registers);
    let there = there.chain(values.map(|v| v.name.as_str()));
    Refusal::absent(kernel.span, "value, register or local array", name, there)
}

fn named(kernel: &Kernel, name: &str) -> Option<Buffer> {
    let array = kernel.arrays.iter().position(|a| a.name == name);
    let found = |b: &Buffer| mentioned(kernel, &kernel.body, *b);
    let registers = (0..kernel.registers.len()).filter(|&k| kernel.registers[k].name == name);
    let values = (0..kernel.locals.len()).filter(|&k| {
        let local = &kernel.locals[k];
        local.stated && local.name == name
    });
    array.map(Buffer::Array).or_else(|| {
        registers
            .map(Buffer::Register)
            .chain(values.map(Buffer::Value))
            .find(found)
    })
}

/// Whether statements mention a buffer.
fn mentioned(kernel: &Kernel, stmts: &[Stmt], buffer: Buffer) -> bool {
    if let Buffer::Array(id) = buffer {
        return touches(kernel, stmts, id);
    }
    let inside = |e: &Expr| {
        let mut found = false;
        let unstated = |id: Id| !kernel.locals[id].stated;
        kernel.for_each_leaf(e, &unstated, &mut |leaf| {
            found |= match (&leaf.kind, buffer) {
                (ExprKind::Register(id), Buffer::Register(b)) => *id == b,
                (ExprKind::Local(id), Buffer::Value(b)) => *id == b,
                _ => false,
            };
        });
        found
    };
    stmts.iter().any(|stmt| match stmt {
        Stmt::For(f) => mentioned(kernel, &f.body, buffer),
        Stmt::Let(id) => buffer == Buffer::Value(*id) || inside(&kernel.locals[*id].value),
        Stmt::Assign(a) => {
            matches!((&a.target, buffer), (Target::Register(id), Buffer::Register(b)) if *id == b)
                || inside(&a.value)
        }
    })
}

fn place_of(kernel: &Kernel, buffer: Buffer) -> Option<Span> {
    match buffer {
        Buffer::Array(id) => Some(kernel.arrays[id].span),
        Buffer::Value(id) => Some(kernel.locals[id].value.span),
        Buffer::Register(_) => None,
    }
}

/// A local array that is made anew in each iteration of the loop, or inside it.
fn inside_only(kernel: &Kernel, id: Id, around: &[Symbol], f: &For) -> Result<Id, Refusal> {
    let array = &kernel.arrays[id];
    let position = |s: Symbol| around.iter().position(|a| *a == s);
    let made = array.placement.inside.and_then(position);
    if array.role == Role::Local && made >= position(f.var) && made.is_some() {
        return Ok(id);
    }
    let (name, x) = (&array.name, kernel.symbol_name(f.var));
    let message = format!("`{name}` is one array for all iterations of `{x}`");
    Err(Refusal::at(array.span, message).note(format!(
        "{x} = 0 may leave it something that {x} = 1 reads: only what is made inside the loop can \
         have an element for each iteration"
    )))
}

/// A register that becomes an array, made anew in each iteration.
fn of_register(kernel: &mut Kernel, id: Id, f: &For) -> Result<Id, Refusal> {
    let register = kernel.registers[id].clone();
    if let Some(span) = unset(kernel, &f.body, id, &mut false) {
        let x = kernel.symbol_name(f.var);
        let message = format!(
            "an iteration of `{x}` reads `{}` as the one before left it",
            register.name
        );
        return Err(Refusal::at(span, message).note(format!("{x} = 1 reads what {x} = 0 wrote")));
    }
    let array = new_array(
        kernel,
        &register.name,
        register.ty.elem,
        register.ty.lanes,
        f,
    )?;
    let span = f.span;
    let access = || element(array, span);
    let mut body = std::mem::take(&mut kernel.body);
    kernel.for_each_expr_mut(&mut body, &mut |e| {
        if matches!(e.kind, ExprKind::Register(r) if r == id) {
            e.kind = ExprKind::Load(access());
        }
    });
    for_each_assign_mut(&mut body, &mut |a| {
        if a.target == Target::Register(id) {
            a.target = Target::Array(access());
        }
    });
    kernel.body = body;
    Ok(array)
}

/// Where a register is read that statements have not written for sure.
fn unset(kernel: &Kernel, body: &[Stmt], id: Id, written: &mut bool) -> Option<Span> {
    let read = |e: &Expr| {
        let mut found = None;
        let unstated = |l: Id| !kernel.locals[l].stated;
        kernel.for_each_leaf(e, &unstated, &mut |leaf| {
            if matches!(leaf.kind, ExprKind::Register(r) if r == id) {
                found = Some(leaf.span);
            }
        });
        found
    };
    for stmt in body {
        let found = match stmt {
            // It may not run: what it writes is written for sure only inside.
            Stmt::For(f) => unset(kernel, &f.body, id, &mut written.clone()),
            Stmt::Let(l) => read(&kernel.locals[*l].value),
            Stmt::Assign(a) => {
                let here = a.target == Target::Register(id);
                let found = read(&a.value).or((here && a.accumulate).then_some(a.span));
                let found = found.filter(|_| !*written);
                *written |= here;
                found
            }
        };
        if let Some(span) = found.filter(|_| !*written || matches!(stmt, Stmt::For(_))) {
            return Some(span);
        }
    }
    None
}

/// A named value that becomes an array.
fn of_value(kernel: &mut Kernel, id: Id) -> Result<Id, Refusal> {
    let local = kernel.locals[id].clone();
    let (ty, span) = (local.value.ty, local.value.span);
    if ty.elem == Elem::Bool {
        let message = format!(
            "`{}` is a truth value, and no memory holds those",
            local.name
        );
        return Err(Refusal::at(span, message).note("`select` numbers by it first"));
    }
    let holder = loops_around(&kernel.body, &|s| mentioned(kernel, s, Buffer::Value(id)));
    let inside = holder.last().copied();
    let array = array_of(kernel, &local.name, ty.elem, ty.lanes, span)?;
    kernel.arrays[array].placement.inside = inside;
    let mut body = std::mem::take(&mut kernel.body);
    stored(&mut body, id, &|| {
        Stmt::Assign(Assign {
            target: Target::Array(element(array, span)),
            accumulate: false,
            reassociate: false,
            value: local.value.clone(),
            span,
        })
    });
    kernel.for_each_expr_mut(&mut body, &mut |e| {
        if matches!(e.kind, ExprKind::Local(l) if l == id) {
            e.kind = ExprKind::Load(element(array, e.span));
        }
    });
    kernel.body = body;
    Ok(array)
}

/// Puts a store in the place of the statement that computes a value.
fn stored(body: &mut [Stmt], id: Id, store: &dyn Fn() -> Stmt) {
    for stmt in body {
        match stmt {
            Stmt::For(f) => stored(&mut f.body, id, store),
            Stmt::Let(l) if *l == id => *stmt = store(),
            _ => {}
        }
    }
}

fn new_array(
    kernel: &mut Kernel,
    name: &str,
    elem: Elem,
    lanes: u32,
    f: &For,
) -> Result<Id, Refusal> {
    let array = array_of(kernel, name, elem, lanes, f.span)?;
    kernel.arrays[array].placement.inside = Some(f.var);
    Ok(array)
}

fn array_of(
    kernel: &mut Kernel,
    name: &str,
    elem: Elem,
    lanes: u32,
    span: Span,
) -> Result<Id, Refusal> {
    if lanes != 1 {
        let message = format!("`{name}` has {lanes} lanes, and arrays hold single elements");
        return Err(Refusal::at(span, message));
    }
    if kernel.arrays.iter().any(|a| a.name == name) {
        return Err(Refusal::at(
            span,
            format!("there is an array `{name}` already"),
        ));
    }
    kernel.arrays.push(Array {
        name: name.to_owned(),
        elem,
        dims: Vec::new(),
        pad: 1,
        role: Role::Local,
        placement: Placement::default(),
        span,
    });
    Ok(kernel.arrays.len() - 1)
}

/// The element of an array that has no dimension yet.
fn element(array: Id, span: Span) -> Access {
    Access::element(array, Vec::new(), span)
}

fn local(kernel: &Kernel, name: &str) -> Result<Id, Refusal> {
    let found = kernel.arrays.iter().position(|a| a.name == name);
    let id = found.ok_or_else(|| Refusal::no_array(kernel, kernel.span, name))?;
    match kernel.arrays[id].role {
        Role::Local => Ok(id),
        Role::Param(_) => {
            let message =
                format!("`{name}` is a parameter: it lives in main memory, as it was given");
            let note =
                format!("a part of it gets a place of its own by `stage_mem {name} over x as t`");
            Err(Refusal::at(kernel.arrays[id].span, message).note(note))
        }
    }
}

/// Makes an array outside the loop in which it was made, or outside a loop of that name.
///
/// # Errors
/// An array that is made outside all loops, or outside that one.
pub(super) fn lift(kernel: &mut Kernel, name: &str, over: Option<&str>) -> Result<usize, Refusal> {
    let id = local(kernel, name)?;
    let array = &kernel.arrays[id];
    let around = loops_around(&kernel.body, &|s| touches(kernel, s, id));
    let made = array.placement.inside;
    let at = made.and_then(|s| around.iter().position(|a| *a == s));
    let Some(at) = at else {
        let message = format!("`{name}` is made before all loops already");
        return Err(Refusal::at(array.span, message));
    };
    let outside = match over {
        None => Some(at),
        Some(x) => (0..=at).rev().find(|&k| kernel.symbol_name(around[k]) == x),
    };
    let Some(outside) = outside else {
        let over = over.unwrap_or_default();
        let message = format!("`{name}` is not made inside a loop `{over}`");
        return Err(Refusal::at(array.span, message));
    };
    let parent = outside.checked_sub(1).map(|k| around[k]);
    kernel.arrays[id].placement.inside = parent;
    Ok(1)
}

/// Says in which memory an array lives. Which memories there are, who may touch them and
/// what they hold is the machine's business: the mapper looks at it.
///
/// # Errors
/// A parameter.
pub(super) fn set_memory(kernel: &mut Kernel, name: &str, memory: &str) -> Result<usize, Refusal> {
    let id = local(kernel, name)?;
    kernel.arrays[id].placement.memory = (memory != "main").then(|| memory.to_owned());
    Ok(1)
}

/// One array for each index of a dimension.
///
/// # Errors
/// A dimension that is no small number, or an index in it that varies.
pub(super) fn unroll(kernel: &mut Kernel, name: &str, dim: usize) -> Result<usize, Refusal> {
    let id = local(kernel, name)?;
    let array = kernel.arrays[id].clone();
    let Some(length) = array.dims.get(dim) else {
        let message = format!("`{name}` has no dimension {dim}");
        return Err(Refusal::at(array.span, message));
    };
    let count = length
        .constant_value()
        .filter(|n| (1..=MOST_PARTS).contains(n));
    let Some(count) = count else {
        let text = kernel.index_text(length);
        let message =
            format!("dimension {dim} of `{name}` is `{text}`, no number up to {MOST_PARTS}");
        return Err(Refusal::at(array.span, message));
    };
    let mut body = std::mem::take(&mut kernel.body);
    let mut varies = None;
    let mut look = |access: &Access| {
        if access.array == id && access.index[dim].constant_value().is_none() {
            varies = Some(access.clone());
        }
    };
    kernel.for_each_access_mut(&mut body, &mut |access| look(access));
    if let Some(access) = varies {
        kernel.body = body;
        return Err(varying(kernel, &access, dim));
    }
    let first = kernel.arrays.len();
    for n in 0..count {
        let mut part = array.clone();
        part.dims.remove(dim);
        if part.dims.is_empty() {
            part.dims.push(Index::Const(1));
        }
        part.name = format!("{name}_{n}");
        kernel.arrays.push(part);
    }
    let part = |access: &mut Access| {
        if access.array == id {
            let at = access.index.remove(dim).constant_value().unwrap_or(0);
            if access.index.is_empty() {
                access.index.push(Index::Const(0));
            }
            access.array = first + usize::try_from(at).unwrap_or(0);
            access.dim = access.index.len() - 1;
        }
    };
    kernel.for_each_access_mut(&mut body, &mut |access| part(access));
    kernel.body = body;
    // Nothing touches the whole one any more.
    kernel.arrays[id].dims = vec![Index::Const(0)];
    kernel.arrays[id].placement = Placement::default();
    kernel.arrays[id].name = format!("{name}_all");
    Ok(1)
}

fn varying(kernel: &Kernel, access: &Access, dim: usize) -> Refusal {
    let index = &access.index[dim];
    let (name, text) = (&kernel.arrays[access.array].name, kernel.index_text(index));
    let mut symbol = None;
    index.for_each_symbol(&mut |s| symbol = Some(s));
    let message = format!("the index `{text}` of `{name}` is no number");
    let refusal = Refusal::at(access.span, message);
    let Some(symbol) = symbol else { return refusal };
    let x = kernel.symbol_name(symbol);
    refusal
        .note(format!("{x} = 0 and {x} = 1 touch different parts"))
        .note(format!("write out the loop first: `unroll {x}`"))
}

/// Keeps it true, after loops have changed, that arrays are made around all that touches them:
/// one whose loop has gone or split is made in the innermost loop that is still around.
pub(super) fn settle(kernel: &mut Kernel) {
    for id in 0..kernel.arrays.len() {
        let Some(made) = kernel.arrays[id].placement.inside else {
            continue;
        };
        let around = loops_around(&kernel.body, &|s| touches(kernel, s, id));
        if !around.contains(&made) {
            let name = kernel.symbol_name(made);
            let same = around
                .iter()
                .rev()
                .find(|s| kernel.symbol_name(**s) == name);
            kernel.arrays[id].placement.inside = same.or(around.last()).copied();
        }
    }
}
