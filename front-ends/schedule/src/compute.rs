//! Computing: a function's values in an array, where they were computed at each place that asks for them.
//!
//! In: statements (of a loop, or of the kernel), and a function of indices that they call. Out: loops that
//! compute its values at all places that are asked for into a new array, then the statements, which read
//! them there. Legal when nothing that the function reads is written by the statements, and when each
//! value that is computed reads inside of its arrays, those that nobody asks for too.
//!
//! Calls are found by their values: an expression is a call where it is the function's value with indices
//! for its parameters, however loops have been changed before. What lanes ask for is not looked at:
//! loops are vectorised afterwards. How far the values of one iteration serve the next is not used.

use super::Refusal;
use super::copy::substitute;
use kernel::index::{Index, Symbol};
use kernel::lia::Facts;
use kernel::tree::{
    Access, Array, Assign, Definition, Expr, ExprKind, For, Id, Kernel, Op, Placement, Role, Stmt,
    SymbolKind, Target,
};
use kernel::types::{Elem, Type};
use kernel::values::Values;
use kernel::visit::for_each_stmt;
use semantics::span::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Computes a function before statements that are made anew `inside` a loop, or once.
///
/// # Errors
/// No such function, or none that is called there; what it reads is written there; a range that depends on
/// loops outside; a value that would read outside of an array.
pub(super) fn compute(
    kernel: &mut Kernel,
    body: &[Stmt],
    (name, inside, span): (&str, Option<Symbol>, Span),
    around: &Facts,
) -> Result<Vec<Stmt>, Refusal> {
    let Some(definition) = kernel.definitions.iter().find(|d| d.name == name).cloned() else {
        return Err(no_function(kernel, name, span));
    };
    let own = definition.value.ty;
    let calls = calls(kernel, body, &definition);
    if calls.is_empty() {
        return Err(Refusal::at(span, format!("`{name}` is not called here"))
            .note("what vectors or other directives have made of a call is none any more"));
    }
    is_read_only(kernel, body, &definition)?;
    let place = Region::of(kernel, &calls, &definition, span)?;
    // What is kept takes less room, and is loaded and computed more lanes at a time.
    let elem = Values::of(&kernel.locals).narrower_elements(&definition.value);
    let kept = Type {
        elem: elem.unwrap_or(own.elem),
        ..own
    };
    let array = new_array(kernel, (&definition, kept.elem), &place, inside, around)?;
    let mut body = body.to_vec();
    let seen = kernel.clone();
    kernel.for_each_expr_mut(&mut body, &mut |e| {
        if let Some(args) = matched(&seen, &definition, e) {
            let (ty, span) = (kept, e.span);
            let kind = ExprKind::Load(place.element(array, &args, span));
            *e = cast(Expr { kind, ty, span }, own);
        }
    });
    let mut out = loops(kernel, &definition, &place, (array, span), around)?;
    out.extend(body);
    Ok(out)
}

/// A value in another type that holds it.
fn cast(e: Expr, ty: Type) -> Expr {
    match e.ty == ty {
        true => e,
        false => Expr {
            span: e.span,
            kind: ExprKind::Apply(Op::Cast, vec![e]),
            ty,
        },
    }
}

fn no_function(kernel: &Kernel, name: &str, span: Span) -> Refusal {
    let there = kernel.definitions.iter().map(|d| d.name.as_str());
    Refusal::absent(span, "function of indices", name, there)
        .note("it is one like `fn row(y: index, x: index) -> i16 = …;` that takes no values and reads no `var`")
}

// ---- calls ----

/// The arguments of a call, and the loops around it among the statements.
struct Call {
    args: Vec<Index>,
    loops: Vec<For>,
}

fn calls(kernel: &Kernel, body: &[Stmt], definition: &Definition) -> Vec<Call> {
    let mut calls = Vec::new();
    for_each_stmt(body, &mut |stmt, around| {
        let Some(value) = kernel.value(stmt) else {
            return;
        };
        let unstated = |id: Id| !kernel.locals[id].stated;
        kernel.walk(value, &unstated, &mut |e| {
            match matched(kernel, definition, e) {
                Some(args) => calls.push(Call {
                    args,
                    loops: around.iter().map(|f| (*f).clone()).collect(),
                }),
                None => return e.operands(),
            }
            &[]
        });
    });
    calls
}

/// The arguments with which an expression is the function's value.
fn matched(kernel: &Kernel, definition: &Definition, e: &Expr) -> Option<Vec<Index>> {
    let mut pairs = Vec::new();
    alike(kernel, &definition.value, e, &mut pairs).then_some(())?;
    let mut args: Vec<Option<Index>> = vec![None; definition.params.len()];
    while !pairs.is_empty() {
        let before = pairs.len();
        let mut open = Vec::new();
        for (pattern, index) in pairs {
            match solved(&pattern, &index, &mut args) {
                Solved::Alike => {}
                Solved::Differs => return None,
                Solved::Parts(parts) => open.extend(parts),
                Solved::Open => open.push((pattern, index)),
            }
        }
        let stuck = open.len() >= before && open.iter().all(|(p, _)| unknown(p, &args).len() > 1);
        if stuck {
            return None;
        }
        pairs = open;
    }
    args.into_iter().collect()
}

/// Whether two expressions are the same but for indices, which are gathered in pairs.
fn alike(kernel: &Kernel, pattern: &Expr, e: &Expr, pairs: &mut Vec<(Index, Index)>) -> bool {
    if let ExprKind::Local(id) = e.kind
        && !kernel.locals[id].stated
    {
        return alike(kernel, pattern, &kernel.locals[id].value, pairs);
    }
    if pattern.ty != e.ty || pattern.operands().len() != e.operands().len() {
        return false;
    }
    let same = match (&pattern.kind, &e.kind) {
        (ExprKind::Const(x), ExprKind::Const(y)) => x == y,
        (ExprKind::Scalar(x), ExprKind::Scalar(y)) => x == y,
        (ExprKind::Index(x), ExprKind::Index(y)) => {
            pairs.push((x.clone(), y.clone()));
            true
        }
        (ExprKind::Load(x), ExprKind::Load(y)) => {
            pairs.extend(x.index.iter().cloned().zip(y.index.iter().cloned()));
            let of = |a: &Access| (a.array, a.index.len(), a.lanes, a.dim, a.stride, a.clamped);
            of(x) == of(y)
        }
        (ExprKind::Apply(x, _), ExprKind::Apply(y, _)) => x == y,
        (ExprKind::Reduce(x, _, n), ExprKind::Reduce(y, _, m)) => x == y && n == m,
        (ExprKind::Shuffle(_, x), ExprKind::Shuffle(_, y)) => x == y,
        _ => false,
    };
    let mut operands = pattern.operands().iter().zip(e.operands());
    same && operands.all(|(x, y)| alike(kernel, x, y, pairs))
}

/// What is known of an index of the function and the one that stands in its place.
enum Solved {
    Alike,
    Differs,
    /// These have to be alike.
    Parts(Vec<(Index, Index)>),
    /// Other parameters have to be known first.
    Open,
}

/// The parameters in an index of which the argument is not known.
fn unknown(pattern: &Index, args: &[Option<Index>]) -> BTreeSet<usize> {
    let of = |k: &usize| args[*k].is_none() && pattern.mentions(Definition::parameter(*k));
    (0..args.len()).filter(of).collect()
}

fn solved(pattern: &Index, index: &Index, args: &mut [Option<Index>]) -> Solved {
    let open = unknown(pattern, args);
    let known = args.iter().enumerate();
    let known = known.filter_map(|(k, arg)| Some((Definition::parameter(k), arg.clone()?)));
    let pattern = substitute(pattern, &known.collect());
    let differs = |same: bool| if same { Solved::Alike } else { Solved::Differs };
    let mut all = open.iter();
    let (Some(&one), None) = (all.next(), all.next()) else {
        let same = || pattern == *index || pattern.minus(index).constant_value() == Some(0);
        return match (open.is_empty(), pattern.linear()) {
            (true, _) => differs(same()),
            (false, Some(_)) => Solved::Open,
            (false, None) => parts(&pattern, index).map_or(Solved::Differs, Solved::Parts),
        };
    };
    let Some(mut linear) = pattern.linear() else {
        return parts(&pattern, index).map_or(Solved::Differs, Solved::Parts);
    };
    let parameter = Definition::parameter(one);
    let times = linear.terms.remove(&parameter).unwrap_or(0);
    let rest = index.minus(&linear.to_index());
    let argument = match (times, rest.linear()) {
        (1, _) => Some(rest),
        (0, _) | (_, None) => None,
        (n, Some(rest)) => {
            let divides = |c: i64| c % n == 0;
            let whole = divides(rest.constant) && rest.terms.values().all(|c| divides(*c));
            let mut quotient = rest.clone();
            quotient.constant /= n;
            quotient.terms.values_mut().for_each(|c| *c /= n);
            whole.then(|| quotient.to_index())
        }
    };
    args[one] = argument;
    differs(args[one].is_some())
}

/// The parts of two indices of the same operation.
fn parts(pattern: &Index, index: &Index) -> Option<Vec<(Index, Index)>> {
    use Index as I;
    match (pattern, index) {
        (I::Add(a, b), I::Add(x, y))
        | (I::Mul(a, b), I::Mul(x, y))
        | (I::Div(a, b), I::Div(x, y))
        | (I::Mod(a, b), I::Mod(x, y))
        | (I::Min(a, b), I::Min(x, y))
        | (I::Max(a, b), I::Max(x, y)) => {
            let pair = |p: &Index, i: &Index| (p.clone(), i.clone());
            Some(vec![pair(a, x), pair(b, y)])
        }
        _ => None,
    }
}

/// That the statements write nothing that the function reads.
fn is_read_only(kernel: &Kernel, body: &[Stmt], definition: &Definition) -> Result<(), Refusal> {
    let mut read = BTreeSet::new();
    kernel.for_each_load(&definition.value, &mut |access| {
        read.insert(access.array);
    });
    let mut written = None;
    for_each_stmt(body, &mut |stmt, _| {
        kernel.for_each_access(stmt, &mut |access, writes| {
            if writes && read.contains(&access.array) {
                written = Some(access.clone());
            }
        });
    });
    let Some(access) = written else {
        return Ok(());
    };
    let (name, array) = (&definition.name, &kernel.arrays[access.array].name);
    let message = format!("`{name}` reads `{array}`, which is written here");
    Err(Refusal::at(access.span, message)
        .note("its values would be those from before that is written"))
}

// ---- where ----

/// The places that are asked for: a block of them.
struct Region {
    /// For each parameter the least argument, and one past the greatest.
    ends: Vec<(Index, Index)>,
    /// The parameters that have more than one argument, each a dimension.
    dims: Vec<usize>,
    /// How often the loops run in which all calls are.
    runs: Vec<Index>,
}

impl Region {
    fn of(
        kernel: &Kernel,
        calls: &[Call],
        definition: &Definition,
        span: Span,
    ) -> Result<Region, Refusal> {
        let of_param = |k: usize| {
            let mut ends: Option<(Index, Index)> = None;
            for call in calls {
                let (lo, hi) = call.ends(k).ok_or_else(|| {
                    let text = kernel.index_text(&call.args[k]);
                    let message = format!("how far `{text}` goes is not known");
                    Refusal::at(span, message).note("it is no sum of multiples of loops")
                })?;
                ends = Some(match ends {
                    None => (lo, hi),
                    Some((low, high)) => (least(low, lo), greatest(high, hi)),
                });
            }
            let (lo, hi) = ends.expect("there is a call");
            Ok((lo, hi.offset(1)))
        };
        let ends = (0..definition.params.len()).map(of_param);
        let ends: Vec<(Index, Index)> = ends.collect::<Result<_, Refusal>>()?;
        let several = |k: &usize| ends[*k].1.minus(&ends[*k].0).constant_value() != Some(1);
        let mut dims: Vec<usize> = (0..ends.len()).filter(several).collect();
        if dims.is_empty() {
            dims.push(ends.len() - 1);
        }
        let around_all = |f: &&For| {
            let around = |call: &Call| call.loops.iter().any(|g| g.var == f.var);
            calls.iter().all(around)
        };
        let common = calls[0].loops.iter().filter(around_all);
        Ok(Region {
            ends,
            dims,
            runs: common.map(|f| f.hi.minus(&f.lo)).collect(),
        })
    }

    /// The element that holds the value for these arguments.
    fn element(&self, array: Id, args: &[Index], span: Span) -> Access {
        let place = |k: &usize| args[*k].minus(&self.ends[*k].0);
        let index: Vec<Index> = self.dims.iter().map(place).collect();
        Access::element(array, index, span)
    }
}

impl Call {
    /// The least and the greatest argument in the loops around it.
    fn ends(&self, param: usize) -> Option<(Index, Index)> {
        let (mut lo, mut hi) = (self.args[param].clone(), self.args[param].clone());
        for f in self.loops.iter().rev() {
            let last = f.hi.offset(-1);
            for (end, first) in [(&mut lo, true), (&mut hi, false)] {
                if !end.mentions(f.var) {
                    continue;
                }
                let up = end.linear()?.coefficient(f.var) > 0;
                let at = if up == first { &f.lo } else { &last };
                *end = end.substitute(f.var, at);
            }
        }
        Some((lo, hi))
    }
}

fn least(a: Index, b: Index) -> Index {
    match a.minus(&b).constant_value() {
        Some(n) if n <= 0 => a,
        Some(_) => b,
        None => Index::smaller(a, b),
    }
}

fn greatest(a: Index, b: Index) -> Index {
    match a.minus(&b).constant_value() {
        Some(n) if n >= 0 => a,
        Some(_) => b,
        None => Index::larger(a, b),
    }
}

fn new_array(
    kernel: &mut Kernel,
    (definition, elem): (&Definition, Elem),
    place: &Region,
    inside: Option<Symbol>,
    around: &Facts,
) -> Result<Id, Refusal> {
    let length = |k: &usize| {
        let (lo, hi) = &place.ends[*k];
        let length = hi.minus(lo);
        match around.proves_at_most(&Index::Const(0), &length) {
            true => length,
            false => Index::larger(length, Index::Const(0)),
        }
    };
    let dims: Vec<Index> = place.dims.iter().map(length).collect();
    let sizes: BTreeSet<Symbol> = kernel.sizes().collect();
    for dim in &dims {
        let mut moving = None;
        dim.for_each_symbol(&mut |s| moving = moving.or((!sizes.contains(&s)).then_some(s)));
        if let Some(symbol) = moving {
            let (name, x) = (&definition.name, kernel.symbol_name(symbol));
            let message = format!("how many values of `{name}` are asked for depends on `{x}`");
            let hint = format!(
                "places that are asked for move unlike each other with `{x}`: `compute {name}` makes all \
                 values before all loops"
            );
            return Err(Refusal {
                hint: Some(hint),
                ..Refusal::at(definition.value.span, message)
            });
        }
    }
    let array = kernel.arrays.len();
    kernel.arrays.push(Array {
        name: kernel.unused_array_name(&definition.name),
        elem,
        dims,
        pad: 1,
        role: Role::Local,
        placement: Placement {
            inside,
            ..Placement::default()
        },
        span: definition.value.span,
    });
    Ok(array)
}

// ---- the loops ----

/// The loops that compute all values; in one that runs once or not at all, where only that calls are made
/// shows that they read inside of their arrays.
fn loops(
    kernel: &mut Kernel,
    definition: &Definition,
    place: &Region,
    (array, span): (Id, Span),
    around: &Facts,
) -> Result<Vec<Stmt>, Refusal> {
    let named = |kernel: &mut Kernel, name: String| kernel.new_symbol(name, SymbolKind::Loop, span);
    let mut args: Vec<Index> = place.ends.iter().map(|(lo, _)| lo.clone()).collect();
    let mut vars = Vec::new();
    for &k in &place.dims {
        let var = named(
            kernel,
            format!("{}_{}", definition.name, definition.params[k]),
        );
        args[k] = Index::Sym(var);
        vars.push(var);
    }
    let by = args.iter().enumerate();
    let by: BTreeMap<Symbol, Index> = by
        .map(|(k, arg)| (Definition::parameter(k), arg.clone()))
        .collect();
    let mut facts = around.clone();
    for (&k, &var) in place.dims.iter().zip(&vars) {
        let (lo, hi) = &place.ends[k];
        facts.add_loop(var, lo, hi, 1);
    }
    let mut any = None;
    if reads_inside(kernel, &definition.value, &by, &facts).is_err() {
        let once = place.runs.iter().cloned();
        let once = once.fold(Index::Const(1), Index::smaller);
        let var = named(kernel, format!("{}_any", definition.name));
        facts.add_loop(var, &Index::Const(0), &once, 1);
        any = Some((var, once));
    }
    reads_inside(kernel, &definition.value, &by, &facts).map_err(|access| {
        let array = &kernel.arrays[access.array].name;
        let name = &definition.name;
        let message = format!("a value of `{name}` that is computed may read outside of `{array}`");
        Refusal::at(access.span, message)
            .note("values are computed for a block of arguments, also those that nobody asks for")
    })?;
    let mut value = definition.value.clone();
    value.for_each_index_mut(&mut |index| *index = facts.without_clamps(&substitute(index, &by)));
    let elem = kernel.arrays[array].elem;
    let ty = Type { elem, ..value.ty };
    let mut stmt = Stmt::Assign(Assign {
        target: Target::Array(place.element(array, &args, span)),
        accumulate: false,
        reassociate: false,
        value: cast(value, ty),
        span,
    });
    for (&k, &var) in place.dims.iter().zip(&vars).rev() {
        stmt = Stmt::For(For::new(var, place.ends[k].clone(), vec![stmt], span));
    }
    Ok(vec![match any {
        None => stmt,
        Some((var, once)) => Stmt::For(For::new(var, (Index::Const(0), once), vec![stmt], span)),
    }])
}

/// Whether a value reads inside of its arrays, with arguments for its parameters; else an access that
/// may not.
fn reads_inside(
    kernel: &Kernel,
    value: &Expr,
    args: &BTreeMap<Symbol, Index>,
    facts: &Facts,
) -> Result<(), Access> {
    let mut outside = None;
    kernel.for_each_load(value, &mut |access| {
        let index = access.index.iter().map(|index| substitute(index, args));
        let access = Access {
            index: index.collect(),
            ..access.clone()
        };
        if outside.is_none() && !kernel::bounds::is_inside(kernel, &access, facts) {
            outside = Some(access);
        }
    });
    outside.map_or(Ok(()), Err)
}
