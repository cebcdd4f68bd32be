//! What a kernel is to a machine with a systolic array: a product or a sum of two arrays.
//!
//! In: a kernel with the values of its sizes. Out: `SumOfProducts`: loops with known extents, and
//! the accesses as affine places. It proposes; [`super::proof`] decides. Elements are
//! followed through names and conversions only.

use crate::block::Values;
use crate::error::MappingError;
use kernel::index::Symbol;
use kernel::tree::{Access, Assign, Expr, ExprKind, For, Id, Kernel, Op, Stmt, Target};
use semantics::span::Span;
use std::collections::BTreeMap;

/// A loop from 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Range {
    pub(crate) symbol: Symbol,
    pub(crate) extent: i64,
}

/// Bytes of an array: a constant and a step for each loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub(crate) array: Id,
    pub(crate) constant: i64,
    pub(crate) steps: BTreeMap<Symbol, i64>,
    pub(crate) span: Span,
}

impl Place {
    pub(crate) fn step(&self, symbol: Symbol) -> i64 {
        self.steps.get(&symbol).copied().unwrap_or(0)
    }
}

/// Every result is something of a sum of products.
#[derive(Clone, Debug)]
pub(crate) struct SumOfProducts {
    /// Loops over results.
    pub(crate) outer: Vec<Range>,
    /// Loops over a window whose greatest result is kept.
    pub(crate) pool: Vec<Range>,
    /// Loops over products; none when two arrays are added.
    pub(crate) reduce: Vec<Range>,
    /// Two factors, or two addends, with the expression of each.
    pub(crate) sources: [(Place, Expr); 2],
    /// What a sum begins with.
    pub(crate) init: Option<Place>,
    /// The register that holds the sum; what two addends give has none.
    pub(crate) sum: Option<Id>,
    /// What is stored, of the sum.
    pub(crate) finish: Expr,
    /// Where to.
    pub(crate) out: Place,
    /// The statement that stores.
    pub(crate) span: Span,
}

/// What has no such form.
fn refused<T>(message: &str, hint: &str, span: Span) -> Result<T, MappingError> {
    Err(MappingError::new(span, message, hint))
}

const SHAPE: &str = "write loops over results with `var sum: i32 = bias[j]; for k … { sum += \
                     i32(a[…]) * i32(b[…]); } out[…] = …;` in them, or a sum of two arrays";

/// The form of a kernel.
pub(crate) fn form(kernel: &Kernel, values: &Values) -> Result<SumOfProducts, MappingError> {
    let mut reader = Reader {
        kernel,
        values,
        ranges: BTreeMap::new(),
    };
    let (outer, body) = reader.nest(&kernel.body)?;
    reader.inner(outer, body)
}

struct Reader<'k> {
    kernel: &'k Kernel,
    values: &'k Values,
    /// First value and step of each loop.
    ranges: BTreeMap<Symbol, (i64, i64)>,
}

/// Loops that stand alone in each other, and what is in them.
type Nest<'k> = (Vec<Range>, &'k [Stmt]);

impl<'k> Reader<'k> {
    /// Loops that stand alone in each other, and what is in them.
    fn nest(&mut self, mut body: &'k [Stmt]) -> Result<(Vec<Range>, &'k [Stmt]), MappingError> {
        let mut ranges = Vec::new();
        while let [Stmt::For(f)] = body {
            ranges.push(self.range(f)?);
            body = &f.body;
        }
        Ok((ranges, body))
    }

    fn range(&mut self, f: &For) -> Result<Range, MappingError> {
        let of = |index| self.values.of(index, f.span);
        let (lo, hi) = (of(&f.lo)?, of(&f.hi)?);
        let extent = (hi - lo)
            .max(0)
            .unsigned_abs()
            .div_ceil(f.step.unsigned_abs());
        self.ranges.insert(f.var, (lo, f.step));
        match i64::try_from(extent) {
            Ok(extent) if extent > 0 => Ok(Range {
                symbol: f.var,
                extent,
            }),
            _ => refused("this loop runs never", "take larger sizes", f.span),
        }
    }

    fn inner(
        &mut self,
        outer: Vec<Range>,
        body: &'k [Stmt],
    ) -> Result<SumOfProducts, MappingError> {
        let (mut assigns, mut loops) = (Vec::new(), Vec::new());
        for stmt in body {
            match stmt {
                Stmt::Let(_) => {}
                Stmt::Assign(assign) => assigns.push(assign),
                Stmt::For(f) => loops.push((f, stmt)),
            }
        }
        let span = assigns.last().map_or(self.kernel.span, |a| a.span);
        if let Some(added) = assigns.iter().find(|a| a.accumulate) {
            return refused(
                "this is added to what is there, and the machine's loads and stores are not in order",
                "store it in another array",
                added.span,
            );
        }
        match (&assigns[..], &loops[..]) {
            ([first, last], [(f, stmt)]) => {
                if let (Some(register), Target::Array(out)) = (register(first), &last.target) {
                    return match self.pools(register, f)? {
                        Some((pool, body)) => self.pooled(outer, pool, (first, last), body),
                        None => {
                            let out = self.place(out)?;
                            self.product(outer, Vec::new(), first, stmt, &last.value, out)
                        }
                    };
                }
                refused("these loops are no sum of products", SHAPE, span)
            }
            ([only], []) => self.addition(outer, only),
            _ => refused("these statements are no sum of products", SHAPE, span),
        }
    }

    /// The loops over a window, when the register keeps the greatest result of one.
    fn pools(&mut self, register: Id, f: &'k For) -> Result<Option<Nest<'k>>, MappingError> {
        let mut body: &[Stmt] = &f.body;
        while let [Stmt::For(inner)] = body {
            body = &inner.body;
        }
        let keeps = |stmt: &Stmt| match stmt {
            Stmt::Assign(a) => a.target == Target::Register(register) && is_max(a, register),
            _ => false,
        };
        if !body.last().is_some_and(keeps) || body.len() < 2 {
            return Ok(None);
        }
        let mut ranges = vec![self.range(f)?];
        let (more, body) = self.nest(&f.body)?;
        ranges.extend(more);
        Ok(Some((ranges, body)))
    }

    fn pooled(
        &mut self,
        outer: Vec<Range>,
        pool: Vec<Range>,
        (first, last): (&'k Assign, &'k Assign),
        body: &'k [Stmt],
    ) -> Result<SumOfProducts, MappingError> {
        let stored = matches!((&last.value.kind, register(first)), (ExprKind::Register(r), Some(best)) if *r == best);
        let kept = body.iter().filter(|s| !matches!(s, Stmt::Let(_)));
        let kept: Vec<&Stmt> = kept.collect();
        let ([Stmt::Assign(init), sums @ Stmt::For(_), Stmt::Assign(keep)], true) =
            (&kept[..], stored)
        else {
            return refused("this is no greatest of sums of products", SHAPE, last.span);
        };
        let Target::Array(out) = &last.target else {
            return refused("the greatest is stored nowhere", SHAPE, last.span);
        };
        let out = self.place(out)?;
        let ExprKind::Apply(_, args) = &keep.value.kind else {
            return refused("the greatest is no maximum", SHAPE, keep.span);
        };
        let own = |e: &&Expr| !matches!(e.kind, ExprKind::Register(_));
        let value = args.iter().find(own).unwrap_or(&keep.value);
        self.product(outer, pool, init, sums, value, out)
    }

    fn product(
        &mut self,
        outer: Vec<Range>,
        pool: Vec<Range>,
        first: &'k Assign,
        sums: &'k Stmt,
        finish: &'k Expr,
        out: Place,
    ) -> Result<SumOfProducts, MappingError> {
        let (reduce, body) = self.nest(std::slice::from_ref(sums))?;
        let statement = body.iter().rev().find_map(|s| match s {
            Stmt::Assign(a) => Some(a),
            _ => None,
        });
        let sum = register(first);
        let added = statement.filter(|a| a.accumulate && register(a) == sum && sum.is_some());
        let Some(added) = added else {
            return refused("this is no sum of products", SHAPE, first.span);
        };
        let product = self.resolved(&added.value);
        let ExprKind::Apply(Op::Mul, factors) = &product.kind else {
            return refused("what is summed is no product", SHAPE, added.span);
        };
        let init = match self.resolved(&first.value).kind {
            ExprKind::Const(values) if values[0] == 0 => None,
            _ => Some(self.source(&first.value)?),
        };
        if init.as_ref().is_some_and(|i| i.array == out.array) {
            return refused(
                "a sum begins with what its target holds, and the machine's loads and stores are not in order",
                "store the sum in another array",
                first.span,
            );
        }
        Ok(SumOfProducts {
            outer,
            pool,
            reduce,
            sources: [
                (self.source(&factors[0])?, factors[0].clone()),
                (self.source(&factors[1])?, factors[1].clone()),
            ],
            init,
            sum,
            finish: finish.clone(),
            out,
            span: added.span,
        })
    }

    fn addition(
        &mut self,
        outer: Vec<Range>,
        only: &'k Assign,
    ) -> Result<SumOfProducts, MappingError> {
        let Target::Array(out) = &only.target else {
            return refused("nothing is stored", SHAPE, only.span);
        };
        let mut loads = Vec::new();
        let through = |_: Id| true;
        self.kernel
            .for_each_leaf(&only.value, &through, &mut |leaf| {
                if let ExprKind::Load(access) = &leaf.kind {
                    loads.push((access.clone(), leaf.clone()));
                }
            });
        let [(a, left), (b, right)] = &loads[..] else {
            return refused("this is no sum of two arrays", SHAPE, only.span);
        };
        let mut sources = [
            (self.place(a)?, left.clone()),
            (self.place(b)?, right.clone()),
        ];
        sources.sort_by_key(|s| s.0.array);
        Ok(SumOfProducts {
            outer,
            pool: Vec::new(),
            reduce: Vec::new(),
            sources,
            init: None,
            sum: None,
            finish: only.value.clone(),
            out: self.place(out)?,
            span: only.span,
        })
    }

    /// An expression with names replaced by what they stand for.
    fn resolved(&self, e: &Expr) -> Expr {
        let mut e = e.clone();
        while let ExprKind::Local(id) = e.kind {
            e = self.kernel.locals[id].value.clone();
        }
        e
    }

    /// The element that is converted.
    fn source(&self, e: &Expr) -> Result<Place, MappingError> {
        let e = self.resolved(e);
        match &e.kind {
            ExprKind::Load(access) => self.place(access),
            ExprKind::Apply(Op::Cast, args) => self.source(&args[0]),
            _ => refused(
                "this is no element of an array, converted",
                "the array multiplies elements as they are loaded",
                e.span,
            ),
        }
    }

    fn place(&self, access: &Access) -> Result<Place, MappingError> {
        if access.lanes != 1 || access.clamped {
            let hint = "write loops over elements";
            return refused("an access is no single element", hint, access.span);
        }
        let array = &self.kernel.arrays[access.array];
        let bytes = i64::from(array.elem.bits() / 8);
        let mut place = Place {
            array: access.array,
            constant: 0,
            steps: BTreeMap::new(),
            span: access.span,
        };
        for (index, dim) in access.index.iter().zip(array.memory_dims()) {
            let dim = self.values.of(&dim, access.span)?;
            place.constant *= dim;
            place.steps.values_mut().for_each(|s| *s *= dim);
            let fixed = self.values.fixed(index, &|s| self.ranges.contains_key(&s));
            let Some(linear) = fixed.linear() else {
                let hint = "subscripts are sums of loop variables";
                return refused("this subscript is no sum", hint, access.span);
            };
            place.constant += linear.constant;
            for (symbol, factor) in linear.terms {
                let (lo, step) = self.ranges.get(&symbol).copied().unwrap_or((0, 1));
                place.constant += lo * factor;
                *place.steps.entry(symbol).or_insert(0) += step * factor;
            }
        }
        place.constant *= bytes;
        place.steps.values_mut().for_each(|s| *s *= bytes);
        place.steps.retain(|_, s| *s != 0);
        Ok(place)
    }
}

fn register(assign: &Assign) -> Option<Id> {
    match assign.target {
        Target::Register(id) => Some(id),
        Target::Array(_) => None,
    }
}

/// Whether a statement keeps the greater of a register and something.
fn is_max(assign: &Assign, id: Id) -> bool {
    match &assign.value.kind {
        ExprKind::Apply(Op::Max, args) => args
            .iter()
            .any(|a| matches!(a.kind, ExprKind::Register(r) if r == id)),
        _ => false,
    }
}
