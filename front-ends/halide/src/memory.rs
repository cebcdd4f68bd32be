//! Loads, stores and shuffles.
//!
//! In: the places of lanes. Out: accesses to stretches of arrays with the order in which their
//! elements are used, or loops that move one lane at a time through a local array.

use super::chosen::{Mask, Place};
use super::import::{Importer, Made};
use super::masked::prefix;
use super::normal::Sum;
use super::operation;
use super::syntax;
use super::value::{LANE, Number, Value, cast, expr};
use kernel::index::Index;
use kernel::tree::{Access, Expr, ExprKind, Id, Stmt, Target};
use kernel::types::{Elem, Type};
use semantics::span::Span;

/// Lanes that are at least so many, and so far apart, are moved in a statement of their own.
const MIN_LANES: u32 = 8;
const MIN_STEP: i64 = 3;

/// So many lanes of which no two lie near each other are moved one at a time.
const MIN_GATHERED: u32 = 4;

/// How far apart elements may lie to be loaded with what is between them.
const MAX_GAP: i64 = 8;

impl Importer<'_> {
    pub(super) fn load(
        &mut self,
        name: &str,
        index: &syntax::Expr,
        predicate: Option<&syntax::Expr>,
    ) -> Made<Value> {
        let array = self.array(name, index.span)?;
        let place = self.place(index)?;
        let mask = match predicate {
            None => None,
            Some(p) => Some(self.mask(p)?),
        };
        let (asked, places) = (mask.as_ref().map_or(1, Mask::lanes), place.lanes());
        if asked != 1 && asked != places {
            return self.refuse(
                index.span,
                format!("{asked} lanes are asked whether to load from {places} places"),
                "the text is damaged: let Halide write it again",
            );
        }
        let value = self.loaded(array, &place, mask.as_ref());
        let truth = self.truths.contains(&array);
        let value = if truth {
            cast(value, Elem::Bool)
        } else {
            value
        };
        Ok(Value::Data(value))
    }

    fn loaded(&mut self, array: Id, place: &Place, mask: Option<&Mask>) -> Expr {
        let (elem, lanes, span) = (self.kernel.arrays[array].elem, place.lanes(), self.span);
        let mask = mask.filter(|mask| !self.is_active(mask));
        let whole = mask.is_none();
        let number = match place {
            Place::Number(number) if whole => number,
            _ => {
                let leading = self.loaded_leading(array, place, mask);
                return leading.unwrap_or_else(|| self.gather(array, place, mask));
            }
        };
        let single = |importer: &Self, index: Index| {
            expr(
                ExprKind::Load(importer.access(array, index, 1, 1)),
                Type::scalar(elem),
                span,
            )
        };
        if lanes == 1 {
            return single(self, number.index.clone());
        }
        if let Some((base, factor)) = number.ramp() {
            match factor.constant_value() {
                Some(0) => {
                    let one = single(self, base);
                    let ty = Type { elem, lanes };
                    return expr(
                        ExprKind::Shuffle(vec![one], vec![0; lanes as usize]),
                        ty,
                        span,
                    );
                }
                Some(1) => {
                    let access = self.access(array, base, lanes, 1);
                    return expr(ExprKind::Load(access), Type { elem, lanes }, span);
                }
                _ => {}
            }
        }
        let places: Vec<(Id, Index)> = (0..i64::from(lanes))
            .map(|l| (array, number.lane(&Index::Const(l))))
            .collect();
        let found = self.stretches(&places, elem_type(elem, lanes));
        let found = found.map(|found| self.taken_apart(found));
        found
            .or_else(|| self.clamped(array, number))
            .unwrap_or_else(|| self.gather(array, place, mask))
    }

    /// The lanes as parts of dense loads, if few loads will do.
    pub(super) fn stretches(&self, places: &[(Id, Index)], ty: Type) -> Option<Expr> {
        let mut bases: Vec<(Id, Sum)> = Vec::new();
        let mut lanes: Vec<(usize, i64)> = Vec::new();
        for (array, index) in places {
            let (at, base) = Sum::of(index)?.split_constant();
            let known = bases.iter().position(|(a, b)| a == array && *b == base);
            let which = known.unwrap_or_else(|| {
                bases.push((*array, base));
                bases.len() - 1
            });
            lanes.push((which, at));
        }
        let few = (ty.lanes as usize / 4).max(8);
        let (mut parts, mut order, mut width) = (Vec::new(), vec![0u32; lanes.len()], 0u32);
        for (which, (array, base)) in bases.iter().enumerate() {
            let mut used: Vec<i64> = lanes
                .iter()
                .filter(|(w, _)| *w == which)
                .map(|(_, at)| *at)
                .collect();
            used.sort_unstable();
            used.dedup();
            for run in used.chunk_by(|a, b| b - a <= MAX_GAP) {
                let (lo, hi) = (run[0], run[run.len() - 1]);
                let count = hi - lo + 1;
                let chunk = if count == 1 { 1 } else { 1i64 << count.ilog2() };
                let starts = if chunk == count {
                    vec![lo]
                } else {
                    vec![lo, hi - chunk + 1]
                };
                for start in starts {
                    let part_lanes = u32::try_from(chunk).ok()?;
                    let access = self.access(*array, base.to_index().offset(start), part_lanes, 1);
                    let part_ty = Type {
                        elem: ty.elem,
                        lanes: part_lanes,
                    };
                    for (slot, (w, at)) in order.iter_mut().zip(&lanes) {
                        if *w == which && (start..start + chunk).contains(at) {
                            *slot = width + u32::try_from(at - start).ok()?;
                        }
                    }
                    parts.push(expr(ExprKind::Load(access), part_ty, self.span));
                    width += part_lanes;
                }
                if parts.len() > few {
                    return None;
                }
            }
        }
        if ty.lanes >= MIN_GATHERED && parts.len() == ty.lanes as usize {
            return None;
        }
        let whole = parts.len() == 1 && order.iter().enumerate().all(|(l, &o)| o as usize == l);
        match parts.pop() {
            Some(part) if whole && part.ty == ty => Some(part),
            Some(part) => {
                parts.push(part);
                Some(expr(ExprKind::Shuffle(parts, order), ty, self.span))
            }
            None => None,
        }
    }

    /// Lanes that lie [`MIN_STEP`] or more apart: how they are moved beside each other is searched for
    /// apart from what is computed of them, and is done once for all that uses them. Pairs stay, which
    /// some instructions take as they lie.
    fn taken_apart(&mut self, lanes: Expr) -> Expr {
        let ExprKind::Shuffle(_, order) = &lanes.kind else {
            return lanes;
        };
        let steps = || order.windows(2).map(|w| i64::from(w[1]) - i64::from(w[0]));
        let far = steps().filter(|step| *step >= MIN_STEP).count();
        match lanes.ty.lanes >= MIN_LANES && 2 * far >= order.len() {
            true => self.in_register("strided", lanes),
            false => lanes,
        }
    }

    /// Moved lanes that were just given a register, as they were before: what is done with them is done
    /// with one movement.
    fn not_apart(&mut self, value: Expr) -> Expr {
        let ExprKind::Register(register) = value.kind else {
            return value;
        };
        match self.before.pop() {
            Some(Stmt::Assign(made))
                if made.target == Target::Register(register)
                    && matches!(made.value.kind, ExprKind::Shuffle(..)) =>
            {
                made.value
            }
            other => {
                self.before.extend(other);
                value
            }
        }
    }

    /// The access to lanes of which a mask is active for leading ones, and for how many.
    fn leading_of(&self, array: Id, place: &Place, mask: Option<&Mask>) -> Option<(Access, Index)> {
        let (Place::Number(number), Some(Mask::Number(mask))) = (place, mask) else {
            return None;
        };
        let (base, stride) = number.ramp()?;
        let stride = stride.constant_value().filter(|stride| *stride != 0)?;
        let access = self.access(array, base, place.lanes(), stride);
        let known = (self.options.masked).contains(&self.kernel.arrays[array].elem.bits());
        let all_asked = known && mask.ty.lanes == place.lanes() && place.lanes() > 1;
        prefix(mask)
            .filter(|_| all_asked)
            .map(|count| (access, count))
    }

    /// Leading lanes loaded at once into a register.
    fn loaded_leading(&mut self, array: Id, place: &Place, mask: Option<&Mask>) -> Option<Expr> {
        let (access, count) = self.leading_of(array, place, mask)?;
        let ty = elem_type(self.kernel.arrays[array].elem, access.lanes);
        let blank = ExprKind::Const(vec![0; ty.lanes as usize]);
        let value = self.in_register("leading", expr(blank, ty, self.span));
        let ExprKind::Register(register) = value.kind else {
            return None;
        };
        let load = expr(ExprKind::Load(access), ty, self.span);
        let all = self.set(register, load);
        let some = self.leading(ty.lanes, count, all);
        self.before.push(some);
        Some(value)
    }

    /// Lanes loaded one by one into a local array.
    fn gather(&mut self, array: Id, place: &Place, mask: Option<&Mask>) -> Expr {
        let (elem, lanes, span) = (self.kernel.arrays[array].elem, place.lanes(), self.span);
        let ty = Type { elem, lanes };
        self.tell_of_lanes(lanes, mask, reason(place));
        let (places, mask) = (self.places(place), self.masked(mask, lanes));
        let buffer = self.local_array("gathered", elem, Index::Const(i64::from(lanes)));
        let whole = self.access(buffer, Index::Const(0), lanes, 1);
        if mask.is_some() {
            let zero = super::value::constant(Type::scalar(elem), 0, span);
            let blank = self.assign(whole.clone(), zero);
            self.before.push(blank);
        }
        let moved = self.each_lane(lanes, mask.as_ref(), |importer, lane| {
            importer.at_place(&places, lane, |importer, index| {
                let from = importer.access(array, index, 1, 1);
                let value = expr(ExprKind::Load(from), Type::scalar(elem), span);
                importer.assign(importer.access(buffer, Index::Sym(lane), 1, 1), value)
            })
        });
        self.before.push(moved);
        expr(ExprKind::Load(whole), ty, span)
    }

    /// A store.
    pub(super) fn stored(
        &mut self,
        array: Id,
        place: &Place,
        value: Expr,
        mask: Option<&Mask>,
    ) -> Vec<Stmt> {
        let mask = mask.filter(|mask| !self.is_active(mask));
        let lanes = place.lanes();
        let value = match mask {
            None => self.not_apart(value),
            Some(_) => value,
        };
        if let (Place::Number(number), None) = (place, mask) {
            if lanes == 1 {
                return vec![self.assign(self.access(array, number.index.clone(), 1, 1), value)];
            }
            let step = number.ramp();
            let step = step.and_then(|(base, f)| Some((base, f.constant_value()?)));
            if let Some((base, stride)) = step.filter(|(_, stride)| *stride != 0) {
                return vec![self.assign(self.access(array, base, lanes, stride), value)];
            }
        }
        if let Some((access, count)) = self.leading_of(array, place, mask) {
            let whole = self.in_register("leading", value);
            let all = self.assign(access, whole);
            return vec![self.leading(lanes, count, all)];
        }
        let (elem, span) = (value.ty.elem, self.span);
        self.tell_of_lanes(lanes, mask, reason(place));
        let (places, mask) = (self.places(place), self.masked(mask, lanes));
        let buffer = self.local_array("result", elem, Index::Const(i64::from(lanes)));
        let whole = self.access(buffer, Index::Const(0), lanes, 1);
        let first = self.assign(whole, value);
        let second = self.each_lane(lanes, mask.as_ref(), |importer, lane| {
            importer.at_place(&places, lane, |importer, index| {
                let from = importer.access(buffer, Index::Sym(lane), 1, 1);
                let value = expr(ExprKind::Load(from), Type::scalar(elem), span);
                importer.assign(importer.access(array, index, 1, 1), value)
            })
        });
        vec![first, second]
    }

    /// Vectors joined and lanes chosen.
    pub(super) fn shuffled(&mut self, name: &str, values: &[Value], span: Span) -> Made<Value> {
        let wrong = |importer: &Self| {
            importer.refuse(
                span,
                format!("`{name}` has operands that are not understood"),
                "the text is damaged: let Halide write it again",
            )
        };
        let numbers = |values: &[Value]| -> Option<Vec<u32>> {
            let number = |v: &Value| match v {
                Value::Index(n) => n.constant().and_then(|c| u32::try_from(c).ok()),
                _ => None,
            };
            values.iter().map(number).collect()
        };
        if let Some(joined) = joined_numbers(name, values) {
            return Ok(Value::Index(joined));
        }
        let vectors = match name {
            "concat_vectors" | "interleave_vectors" => values.len(),
            _ => 1,
        };
        if values.len() < vectors || vectors == 0 {
            return wrong(self);
        }
        let (values, rest) = values.split_at(vectors);
        let Some(rest) = numbers(rest) else {
            return wrong(self);
        };
        if let ("extract_element", [Value::Index(n)], [lane]) = (name, values, &rest[..]) {
            let index = n.lane(&Index::Const(i64::from(*lane)));
            return Ok(Value::Index(Number::scalar(&index, n.ty.elem)));
        }
        if let ("slice_vectors", [Value::Index(n)], [first, step, count]) =
            (name, values, &rest[..])
        {
            let lane = Index::Sym(LANE)
                .times(i64::from(*step))
                .offset(i64::from(*first));
            let ty = Type {
                lanes: *count,
                ..n.ty
            };
            return Ok(Value::Index(Number::new(
                &n.index.substitute(LANE, &lane),
                ty,
            )));
        }
        let parts: Option<Vec<Expr>> = values.iter().map(|v| self.full(v)).collect();
        let Some(parts) = parts else {
            return wrong(self);
        };
        let sum = |sum: u32, p: &Expr| sum.checked_add(p.ty.lanes);
        let few = |n: &u32| (1..=kernel::types::MAX_LANES).contains(n);
        let Some(total) = parts.iter().try_fold(0, sum).filter(few) else {
            return wrong(self);
        };
        if parts.iter().any(|p| p.ty.lanes != parts[0].ty.lanes) {
            return wrong(self);
        }
        let each = parts[0].ty.lanes;
        if let ("interleave_vectors", []) = (name, &rest[..])
            && let Some(whole) = self.computed_by_turns(&parts)
        {
            return Ok(Value::Data(whole));
        }
        let parts = match name {
            "concat_vectors" | "interleave_vectors" => self.rejoined(parts),
            _ => parts,
        };
        let count = u32::try_from(parts.len()).unwrap_or(1);
        let order: Vec<u32> = match (name, &rest[..]) {
            ("concat_vectors", []) => (0..total).collect(),
            ("interleave_vectors", []) => {
                (0..total).map(|l| l % count * each + l / count).collect()
            }
            ("slice_vectors", [first, step, n]) if few(n) => (0..*n)
                .map(|l| first.saturating_add(l.saturating_mul(*step)))
                .collect(),
            ("extract_element", [lane]) => vec![*lane],
            ("shuffle", order) if !order.is_empty() && order.len() <= total as usize * 16 => {
                order.to_vec()
            }
            _ => return wrong(self),
        };
        if order.iter().any(|&l| l >= total) || parts.iter().any(|p| p.ty.elem != parts[0].ty.elem)
        {
            return wrong(self);
        }
        Ok(Value::Data(self.chosen(parts, order)))
    }

    /// Vectors that are about to be joined: what is computed of them is a statement of its own,
    /// so that each is searched for alone, and what joins them only moves elements.
    fn parts_apart(&mut self, parts: Vec<Expr>) -> Vec<Expr> {
        let several = |part: &Expr| part.ty.lanes > 1 && part.ty.elem != Elem::Bool;
        let computed =
            |part: &Expr| matches!(part.kind, ExprKind::Apply(..) | ExprKind::Reduce(..));
        let mut apart = |part: Expr| match several(&part) && computed(&part) {
            true => self.in_register("part", part),
            false => part,
        };
        parts.into_iter().map(&mut apart).collect()
    }

    /// The same; where all of them are moved lanes and constants, they are moved at once.
    fn rejoined(&mut self, parts: Vec<Expr>) -> Vec<Expr> {
        let before = self.before.clone();
        let last_first = parts.iter().rev().map(|part| self.not_apart(part.clone()));
        let mut whole: Vec<Expr> = last_first.collect();
        whole.reverse();
        let moved = |part: &Expr| matches!(part.kind, ExprKind::Shuffle(..) | ExprKind::Const(..));
        match whole.iter().all(moved) {
            true => whole,
            false => {
                self.before = before;
                self.parts_apart(parts)
            }
        }
    }

    /// A value with all its lanes: one that is the same in every lane is written out.
    pub(super) fn full(&self, value: &Value) -> Option<Expr> {
        let e = operation::data(value, self.span)?;
        let lanes = match value {
            Value::Index(n) => n.ty.lanes,
            _ => e.ty.lanes,
        };
        if e.ty.lanes == lanes {
            return Some(e);
        }
        let ty = Type {
            elem: e.ty.elem,
            lanes,
        };
        Some(expr(
            ExprKind::Shuffle(vec![e], vec![0; lanes as usize]),
            ty,
            self.span,
        ))
    }

    /// Lanes of vectors in an order; of loads, the loads that do with the fewest parts.
    fn chosen(&mut self, parts: Vec<Expr>, order: Vec<u32>) -> Expr {
        let ty = elem_type(
            parts[0].ty.elem,
            u32::try_from(order.len()).expect("a vector has fewer lanes"),
        );
        let (parts, order) = flattened(parts, order);
        // Lanes of one load: all of it can be loaded, in whatever pieces suit.
        if let [part] = &parts[..]
            && matches!(&part.kind, ExprKind::Load(access) if access.is_dense())
            && !is_identity(part, ty, &order)
        {
            return self.taken_apart(expr(ExprKind::Shuffle(parts, order), ty, self.span));
        }
        let places: Option<Vec<(Id, Index)>> = parts
            .iter()
            .map(places_of)
            .collect::<Option<Vec<_>>>()
            .map(|p| p.concat());
        if let Some(places) = places {
            let used: Vec<(Id, Index)> =
                order.iter().map(|&l| places[l as usize].clone()).collect();
            if let Some(found) = self.stretches(&used, ty) {
                return self.taken_apart(found);
            }
        }
        match &parts[..] {
            [part] if is_identity(part, ty, &order) => part.clone(),
            _ => expr(ExprKind::Shuffle(parts, order), ty, self.span),
        }
    }
}

/// Numbers that are joined as vectors.
fn joined_numbers(name: &str, values: &[Value]) -> Option<Number> {
    let by_turns = match name {
        "concat_vectors" => false,
        "interleave_vectors" => true,
        _ => return None,
    };
    let number = |value: &Value| match value {
        Value::Index(number) => Some(number.clone()),
        _ => None,
    };
    let parts: Vec<Number> = values.iter().map(number).collect::<Option<_>>()?;
    Number::joined(&parts, by_turns)
}

/// Lanes of vectors some of which are lanes of vectors themselves, as lanes of those.
fn flattened(parts: Vec<Expr>, order: Vec<u32>) -> (Vec<Expr>, Vec<u32>) {
    let (mut flat, mut lanes, mut width) = (Vec::new(), Vec::new(), 0);
    for part in parts {
        match part.kind {
            ExprKind::Shuffle(inner, chosen) => {
                lanes.extend(chosen.iter().map(|l| width + l));
                width += inner.iter().map(|p| p.ty.lanes).sum::<u32>();
                flat.extend(inner);
            }
            _ => {
                lanes.extend(width..width + part.ty.lanes);
                width += part.ty.lanes;
                flat.push(part);
            }
        }
    }
    let order = order.iter().map(|&l| lanes[l as usize]).collect();
    (flat, order)
}

/// Whether lanes chosen of a vector are all of it as they are.
fn is_identity(part: &Expr, ty: Type, order: &[u32]) -> bool {
    part.ty == ty && order.iter().enumerate().all(|(l, &o)| o as usize == l)
}

/// Why lanes are moved one at a time.
fn reason(place: &Place) -> &'static str {
    match place {
        Place::Data(_) => "their places, or which of them are active, are data",
        Place::Number(_) => {
            "their places are not evenly apart, or data say which of them are active"
        }
    }
}

fn elem_type(elem: Elem, lanes: u32) -> Type {
    Type { elem, lanes }
}

/// Where each lane comes from, when all are loaded.
pub(super) fn places_of(e: &Expr) -> Option<Vec<(Id, Index)>> {
    match &e.kind {
        ExprKind::Load(access) => {
            let place = |l: u32| {
                (
                    access.array,
                    access.index[0].offset(access.stride * i64::from(l)),
                )
            };
            Some((0..access.lanes).map(place).collect())
        }
        ExprKind::Shuffle(parts, order) => {
            let all = parts
                .iter()
                .map(places_of)
                .collect::<Option<Vec<_>>>()?
                .concat();
            order
                .iter()
                .map(|&l| all.get(l as usize).cloned())
                .collect()
        }
        _ => None,
    }
}
