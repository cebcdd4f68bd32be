//! What an operation does to one lane.
//!
//! In: candidates. Out: [`LaneFunction`], for those that do the same to every lane and read no other
//! lane's operands. Most say so by their shape, one map whose index stands nowhere but in where
//! each lane begins; of the others every lane is written out and compared.

use crate::candidates::Candidate;
use autoir::program::Formal;
use semantics::bits::Bits;
use semantics::build as b;
use semantics::instruction::Constants;
use semantics::op::OpCode;
use semantics::sort::Sort;
use semantics::subst::{free_vars, replace_vars};
use semantics::term::{Kind, Term};
use std::collections::{BTreeSet, HashMap, HashSet};

/// What an instruction does to one lane, when it does the same to each and keeps them apart.
#[derive(Clone, Debug)]
pub struct LaneFunction {
    /// The vector operands: name and width of a lane.
    pub inputs: Vec<(String, u32)>,
    /// Immediate operands.
    pub immediates: Immediates,
    /// The result of one lane over variables named after the operands.
    pub term: Term,
    /// Number of lanes.
    pub lanes: u32,
}

/// Immediate operands: name, width, which numbers they may be.
pub(crate) type Immediates = Vec<(String, u32, Constants)>;

/// The largest lane function, in nodes of its tree.
const MAX_LANE_TERM: u32 = 400;

/// The common function of all lanes, where they fill the result and each operand.
pub(crate) fn lane_function(c: &Candidate) -> Option<LaneFunction> {
    let found = packed_lane_function(c, c.natural)?;
    let fills = |(name, stride): &(String, u32)| {
        c.operand(name)
            .is_some_and(|o| o.width == stride * found.lanes)
    };
    let all = found.lanes * c.natural == c.width && found.inputs.iter().all(fills);
    all.then_some(found)
}

/// The common function of the leading lanes of a width that read anything.
pub(crate) fn packed_lane_function(c: &Candidate, width: u32) -> Option<LaneFunction> {
    let other = width != c.natural;
    if !c.width.is_multiple_of(width) || width > 64 || other && !bitwise(c.signature()) {
        return None;
    }
    // What is written out at such length (bit by bit, say) is no operation for a lane search.
    let first = c.element(width, 0);
    if first.size() > MAX_LANE_TERM {
        return None;
    }
    let immediates = immediates_of(c);
    let (lanes, strides) = match shape(c.term(), c.natural, &immediates) {
        Shape::Unclear => return written_out(c, width, immediates),
        Shape::Apart => return None,
        Shape::Alike(lanes, strides) if !other => (lanes, strides),
        Shape::Alike(lanes, strides) => {
            let regular = lanes * c.natural == c.width && strides.values().all(|s| *s == c.natural);
            let strides = strides.into_keys().map(|name| (name, width)).collect();
            (regular.then_some(c.width / width)?, strides)
        }
    };
    let inputs = inputs_of(c, lanes, |o| strides.get(o.name.as_str()).copied())?;
    let term = lane_at(first, 0, &inputs, &immediates)?;
    Some(LaneFunction {
        inputs,
        immediates,
        term,
        lanes,
    })
}

/// The immediate operands of a candidate, and those for which a number may be given like one.
pub(crate) fn immediates_of(c: &Candidate) -> Immediates {
    let formals = c.instance.formals.iter();
    formals
        .filter_map(|o| Some((o.name.clone(), o.width, c.constants_of(o)?)))
        .collect()
}

/// The vector operands, each with how far apart its lanes are; nothing where they do not fit.
fn inputs_of(
    c: &Candidate,
    lanes: u32,
    stride: impl Fn(&Formal) -> Option<u32>,
) -> Option<Vec<(String, u32)>> {
    let vectors = c.instance.formals.iter();
    let vectors = vectors.filter(|o| c.constants_of(o).is_none());
    let one = |o: &Formal| {
        let stride = if lanes == 1 { o.width } else { stride(o)? };
        let fits = stride > 0 && stride <= 64 && stride * lanes <= o.width;
        fits.then(|| (o.name.clone(), stride))
    };
    vectors.map(one).collect()
}

/// What the shape of a term says of its lanes.
enum Shape {
    /// So many that do the same, so far apart in each operand.
    Alike(u32, HashMap<&'static str, u32>),
    /// They do not do the same, or read other lanes.
    Apart,
    /// It does not say.
    Unclear,
}

/// The lanes of a term, where it is one map of several whose index stands nowhere but in where lanes
/// begin.
fn shape(t: Term, width: u32, immediates: &Immediates) -> Shape {
    let t = t.args_of(OpCode::Zext).map_or(t, |inner| inner[0]);
    let (count, body) = match t.kind() {
        Kind::Map { count, body } if body.width() == width && *count > 1 => (*count, *body),
        _ => return Shape::Unclear,
    };
    let given = |name: &str| immediates.iter().any(|(other, ..)| other == name);
    let (mut strides, mut seen, mut work) = (HashMap::new(), HashSet::new(), vec![body]);
    let mut read_apart = false;
    while let Some(t) = work.pop() {
        if t.as_bits().is_some() || t.as_var().is_some_and(given) || !seen.insert(t) {
            continue;
        }
        let Some((_, args)) = t.as_app() else {
            match t.as_var() {
                Some(_) => read_apart = true,
                None if t.as_int().is_some() || t.as_bool().is_some() => {}
                None => return Shape::Unclear,
            }
            continue;
        };
        let place = t
            .args_of(OpCode::Extract)
            .and_then(|a| Some((a[0], linear(a[1])?)));
        match place {
            Some((of, (stride, offset))) if of.as_var().is_some_and(|name| !given(name)) => {
                let within = 0 <= offset && offset + i64::from(t.width()) <= stride;
                let stride = u32::try_from(stride).unwrap_or(0);
                let name = of.as_var().expect("it is one");
                read_apart |= !within || *strides.entry(name).or_insert(stride) != stride;
            }
            Some((of, place))
                if of
                    .as_bits()
                    .is_some_and(|bits| repeats(bits, t.width(), place, count)) => {}
            _ => work.extend(args),
        }
    }
    match read_apart {
        true => Shape::Apart,
        false => Shape::Alike(count, strides),
    }
}

/// Whether so many parts of a constant are the same.
fn repeats(bits: &Bits, width: u32, (stride, offset): (i64, i64), count: u32) -> bool {
    let part = |k: u32| {
        let lo = u32::try_from(i64::from(k) * stride + offset).ok()?;
        (lo + width <= bits.width()).then(|| bits.extract(lo, width))
    };
    let first = part(0);
    first.is_some() && (1..count).all(|k| part(k) == first)
}

/// An index of the innermost binder as a multiple and an offset.
fn linear(at: Term) -> Option<(i64, i64)> {
    if let Some(offset) = at.as_int() {
        return Some((0, offset));
    }
    if matches!(at.kind(), Kind::Bound { depth: 0, .. }) {
        return Some((1, 0));
    }
    let (op, args) = at.as_app().filter(|(_, args)| args.len() == 2)?;
    let (x, y) = (linear(args[0])?, linear(args[1])?);
    match op.code {
        OpCode::IntAdd => Some((x.0.checked_add(y.0)?, x.1.checked_add(y.1)?)),
        OpCode::IntMul if x.0 == 0 => Some((y.0.checked_mul(x.1)?, y.1.checked_mul(x.1)?)),
        OpCode::IntMul if y.0 == 0 => Some((x.0.checked_mul(y.1)?, x.1.checked_mul(y.1)?)),
        _ => None,
    }
}

/// The common function of the leading lanes, each compared with the first.
fn written_out(c: &Candidate, width: u32, immediates: Immediates) -> Option<LaneFunction> {
    let all = (0..c.width / width).map(|k| c.element(width, k));
    let mut leading = all.take_while(|t| !free_vars(*t).is_empty());
    let (first, second) = (leading.next()?, leading.next());
    let lanes = if second.is_some() { 2 } else { 1 };
    let inputs = inputs_of(c, lanes, |o| lane_stride(first, second?, o))?;
    let at = |lane: u32, t: Term| lane_at(t, lane, &inputs, &immediates);
    let term = at(0, first)?;
    let mut lanes = 1;
    for t in second.into_iter().chain(leading) {
        if at(lanes, t) != Some(term) {
            return None;
        }
        lanes += 1;
    }
    let fits =
        |(name, stride): &(String, u32)| c.operand(name).is_some_and(|o| stride * lanes <= o.width);
    inputs.iter().all(fits).then_some(LaneFunction {
        inputs,
        immediates,
        term,
        lanes,
    })
}

/// What a movement does to each lane of a width, at these values of its immediates; nothing where it does not
/// the same to all.
pub(crate) fn moved(
    c: &Candidate,
    width: u32,
    (inputs, immediates): (&[(String, u32)], &Immediates),
    values: &[u64],
) -> Option<LaneFunction> {
    let given = immediates.iter().zip(values);
    let given = given.map(|((name, width, _), value)| {
        let bits = Bits::from_u64(*width, *value);
        (name.as_str(), Term::bits(bits))
    });
    let given: HashMap<&str, Term> = given.collect();
    let lanes = c.width / width;
    let at = |k: u32| {
        let element = replace_vars(c.element(width, k), &given);
        lane_at(element, k, inputs, &[])
    };
    let term = at(0)?;
    let alike = (1..lanes).all(|k| at(k) == Some(term));
    alike.then(|| LaneFunction {
        inputs: inputs.to_vec(),
        immediates: immediates.clone(),
        term,
        lanes,
    })
}

/// How far apart the lanes of an operand are, by what the first two lanes read.
fn lane_stride(first: Term, second: Term, o: &Formal) -> Option<u32> {
    let lowest = |t: Term| {
        let mut seen = BTreeSet::new();
        let mut stack = vec![t];
        let mut least: Option<u32> = None;
        while let Some(t) = stack.pop() {
            if !seen.insert(t) {
                continue;
            }
            match crate::matching::slot_of(t) {
                Some(slot) if slot.operand == o.name => {
                    least = Some(least.map_or(slot.lo, |l| l.min(slot.lo)));
                }
                Some(_) => {}
                None => stack.extend(t.children()),
            }
        }
        least
    };
    lowest(second)?.checked_sub(lowest(first)?)
}

/// Whether what computes with these operators is bitwise logic only, so that its lanes may have any
/// width.
pub(crate) fn bitwise(signature: u128) -> bool {
    use semantics::op::OpCode as C;
    crate::lanes::is_within(signature, &[C::BvAnd, C::BvOr, C::BvXor, C::BvNot])
}

/// An element with every operand slice replaced by the lane's variable; nothing when it
/// reads another lane.
fn lane_at(
    element: Term,
    lane: u32,
    inputs: &[(String, u32)],
    immediates: &[(String, u32, Constants)],
) -> Option<Term> {
    fn visit(
        t: Term,
        leaf: &impl Fn(Term) -> Option<Option<Term>>,
        memo: &mut HashMap<Term, Option<Term>>,
    ) -> Option<Term> {
        if let Some(&done) = memo.get(&t) {
            return done;
        }
        let out = leaf(t).unwrap_or_else(|| {
            let mut failed = false;
            let new = semantics::subst::rebuild(t, |child, _| {
                let changed = if failed {
                    None
                } else {
                    visit(child, leaf, memo)
                };
                failed |= changed.is_none();
                changed.unwrap_or(child)
            });
            (!failed).then_some(new)
        });
        memo.insert(t, out);
        out
    }
    let leaf = |t: Term| -> Option<Option<Term>> {
        let slot = crate::matching::slot_of(t)?;
        if immediates.iter().any(|(name, ..)| name == slot.operand) {
            return Some(Some(t));
        }
        let Some((name, w)) = inputs.iter().find(|(name, _)| name == slot.operand) else {
            return Some(None);
        };
        let base = lane * w;
        let inside = slot.lo >= base && slot.lo + slot.width <= base + w;
        Some(inside.then(|| b::extract(Term::var(name, Sort::Bv(*w)), slot.lo - base, slot.width)))
    };
    let lane_term = visit(element, &leaf, &mut HashMap::new())?;
    let known = |t: &Term| {
        t.as_var()
            .is_some_and(|n| inputs.iter().any(|(name, _)| name == n))
    };
    let immediate = |t: &Term| {
        t.as_var()
            .is_some_and(|n| immediates.iter().any(|(name, ..)| name == n))
    };
    free_vars(lane_term)
        .iter()
        .all(|t| known(t) || immediate(t))
        .then_some(lane_term)
}
