//! A kernel as one nest of loops around one sum.
//!
//! In: a kernel and the values of its sizes. Out: [`Nest`]: the loops with their lengths, the
//! arrays with their subscripts, and which loops only add. Kernels of another shape are
//! refused with the reason. It changes nothing but sizes, which become numbers.

use kernel::index::{Index, Linear, Symbol};
use kernel::tree::{Access, Assign, Expr, For, Id, Kernel, Stmt, Target};
use schedule::directive::Directive;
use semantics::diagnostic::Diagnostic;
use semantics::span::Span;
use std::collections::{BTreeMap, BTreeSet};

/// A loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// Its name.
    pub name: String,
    /// Its variable.
    pub var: Symbol,
    /// How often it runs.
    pub length: i64,
    /// Whether its iterations add to the same elements.
    pub adds: bool,
}

/// How an array is touched.
#[derive(Clone, Debug)]
pub struct Touched {
    /// Which.
    pub array: Id,
    /// Its subscripts.
    pub index: Vec<Linear>,
}

impl Touched {
    /// Whether a loop moves along the last dimension, from each element to the next, and along
    /// no other.
    pub fn runs_along(&self, var: Symbol) -> bool {
        let last = self.index.len().saturating_sub(1);
        let steps = |(d, i): (usize, &Linear)| i.coefficient(var) == i64::from(d == last);
        self.index.iter().enumerate().all(steps)
    }

    /// Whether a loop moves it at all.
    pub fn moves_with(&self, var: Symbol) -> bool {
        self.index.iter().any(|i| i.coefficient(var) != 0)
    }
}

/// One nest of loops.
#[derive(Clone, Debug)]
pub struct Nest {
    /// The kernel, with numbers for the bounds of loops.
    pub kernel: Kernel,
    /// The loops, the outermost first.
    pub loops: Vec<Loop>,
    /// What is added to.
    pub target: Touched,
    /// What is read for it.
    pub sources: Vec<Touched>,
    /// What is added to.
    pub begins: Begins,
    /// Whether it is added up in a register, and stored behind the loops that add.
    pub in_register: bool,
}

/// What a sum begins with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Begins {
    /// What the array holds.
    AsItIs,
    /// Zero, set inside so many loops; nothing is done with it afterwards.
    Zero(usize),
    /// Something else, or something is done with it.
    Otherwise,
}

/// Finds the nest.
///
/// # Errors
/// What is of another shape, with its place.
pub fn nest(kernel: &Kernel, sizes: &BTreeMap<Symbol, i64>) -> Result<Nest, Diagnostic> {
    let kernel = kernel.at_sizes(sizes);
    let diagnostic = |span: Span, message: &str| {
        Diagnostic::error(format!("`--schedule auto` cannot choose here: {message}"))
            .at(&kernel.source, span)
            .hint("it chooses for one nest of loops around one sum, `c[i, j] += …`; write a schedule by hand for others")
    };
    let mut found = Walk::default();
    let sum = found
        .block(&kernel.body)
        .map_err(|(span, message)| diagnostic(span, message))?;
    let written = |a: &&Assign| matches!(a.target, Target::Array(_));
    let access = match &sum.target {
        Target::Array(access) => access,
        Target::Register(_) => match found.after.iter().find(|a| written(a)).map(|a| &a.target) {
            Some(Target::Array(access)) => access,
            _ => {
                return Err(diagnostic(
                    sum.span,
                    "the sum is in a register that no array gets",
                ));
            }
        },
    };
    let touched = |access: &Access| {
        let index: Option<Vec<Linear>> = access.index.iter().map(Index::linear).collect();
        let plain = access.lanes == 1 && !access.clamped;
        index.filter(|_| plain).map(|index| Touched {
            array: access.array,
            index,
        })
    };
    let not_linear = "a subscript is no sum of loop variables";
    let target = touched(access).ok_or_else(|| diagnostic(access.span, not_linear))?;
    let mut sources = Vec::new();
    let mut wrong = None;
    kernel.for_each_load(&sum.value, &mut |load| match touched(load) {
        Some(source) if source.array == target.array => {}
        Some(source) => sources.push(source),
        None => wrong = Some(load.span),
    });
    if let Some(span) = wrong {
        return Err(diagnostic(span, not_linear));
    }
    let mut loops = Vec::new();
    for f in &found.loops {
        let length = f.hi.minus(&f.lo).constant_value();
        let Some(length) = length.filter(|n| *n > 0 && f.step == 1) else {
            return Err(diagnostic(
                f.span,
                "this loop has another step than 1, or runs never",
            ));
        };
        loops.push(Loop {
            name: kernel.symbol_name(f.var),
            var: f.var,
            length,
            adds: !target.moves_with(f.var),
        });
    }
    let names: BTreeSet<&String> = loops.iter().map(|l| &l.name).collect();
    if names.len() < loops.len() {
        return Err(diagnostic(kernel.span, "two loops have one name"));
    }
    let in_register = matches!(sum.target, Target::Register(_));
    let first = found.before.first().filter(|(_, a)| a.target == sum.target);
    let begins = match (first, found.before.len(), found.after.len()) {
        (None, 0, 0) => Begins::AsItIs,
        (Some(&(depth, a)), 1, 0) if !a.accumulate && is_zero(&a.value) => Begins::Zero(depth),
        _ => Begins::Otherwise,
    };
    Ok(Nest {
        loops,
        target,
        sources,
        begins,
        in_register,
        kernel,
    })
}

/// What stands around the sum.
#[derive(Default)]
struct Walk<'k> {
    loops: Vec<&'k For>,
    /// Assignments before a loop, with the number of loops around them.
    before: Vec<(usize, &'k Assign)>,
    /// Assignments behind a loop.
    after: Vec<&'k Assign>,
}

impl<'k> Walk<'k> {
    /// The sum inside.
    fn block(&mut self, body: &'k [Stmt]) -> Result<&'k Assign, (Span, &'static str)> {
        let loops = body.iter().enumerate().filter_map(|(at, s)| match s {
            Stmt::For(f) => Some((at, f)),
            _ => None,
        });
        match loops.collect::<Vec<_>>()[..] {
            [] => {
                let sums = body.iter().filter_map(assign);
                match sums.collect::<Vec<_>>()[..] {
                    [sum] if sum.accumulation().is_some() => Ok(sum),
                    [other] => Err((other.span, "this adds nothing up")),
                    [_, other, ..] => Err((other.span, "several statements stand side by side")),
                    [] => Err((Span::default(), "there is no statement")),
                }
            }
            [(at, f)] => {
                let depth = self.loops.len();
                let before = body[..at].iter().filter_map(assign);
                self.before.extend(before.map(|a| (depth, a)));
                self.after.extend(body[at + 1..].iter().filter_map(assign));
                self.loops.push(f);
                self.block(&f.body)
            }
            [_, (_, second), ..] => Err((second.span, "this loop stands beside another")),
        }
    }
}

fn assign(stmt: &Stmt) -> Option<&Assign> {
    match stmt {
        Stmt::Assign(a) => Some(a),
        _ => None,
    }
}

/// Whether an expression is a literal zero.
fn is_zero(e: &Expr) -> bool {
    matches!(&e.kind, kernel::tree::ExprKind::Const(values) if values.iter().all(|v| *v == 0))
}

/// The directives that bring directly nested loops into another order, by neighbours.
pub fn reordered(mut now: Vec<String>, wanted: &[String]) -> Vec<Directive> {
    let mut directives = Vec::new();
    for (place, name) in wanted.iter().enumerate() {
        let Some(mut at) = now.iter().position(|n| n == name) else {
            continue;
        };
        while at > place {
            directives.push(Directive::Interchange {
                outer: now[at - 1].clone(),
                inner: now[at].clone(),
            });
            now.swap(at - 1, at);
            at -= 1;
        }
    }
    directives
}

/// All orders of `count` things, the first that in which they are; of more than four only the
/// turns of that one.
pub fn orders(count: usize) -> Vec<Vec<usize>> {
    if count > 4 {
        let turn = |by: usize| (0..count).map(|k| (k + by) % count).collect();
        return (0..count).map(turn).collect();
    }
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..count {
        let longer = |order: &Vec<usize>| {
            let rest = (0..count).filter(|k| !order.contains(k));
            rest.map(|k| [order.as_slice(), &[k]].concat())
                .collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// The divisors of a number.
pub fn divisors(n: i64) -> Vec<i64> {
    (1..=n).filter(|d| n % d == 0).collect()
}
