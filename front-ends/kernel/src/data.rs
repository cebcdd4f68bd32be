//! Data to run a kernel on.
//!
//! In: a kernel, a seed. Out: sizes that satisfy its preconditions, and scalars and arrays
//! filled with random values and with the values where operations go wrong (the ends of the
//! range, 0, 1, -1; infinities, a NaN, the smallest and largest floats). A kernel that leaves
//! the order of sums of floats open gets small whole numbers, so that all orders give one
//! result. The same seed gives the same data on every machine.

use crate::check::MAX_ELEMENTS;
use crate::eval::Data;
use crate::index::{Index, Symbol};
use crate::tree::{Array, Condition, Expr, ExprKind, Kernel, Op, Param, Relation, Role, Stmt};
use crate::types::Elem;
use semantics::float::Format;
use semantics::random::Random;
use std::collections::BTreeMap;

/// The numbers that sizes and data of a seed are drawn from.
pub fn numbers(seed: u64) -> Random {
    Random::new(seed ^ 0x5851_f42d_4c95_7f2d)
}

/// What lies in memory when arrays begin at these addresses, by the index of an array: an
/// address and the bytes from there up, little-endian, for each array that has data. Arrays
/// that a schedule has made have none.
pub fn image(kernel: &Kernel, addresses: &[i64], data: &Data) -> Vec<(u64, Vec<u8>)> {
    let arrays = kernel.arrays.iter().zip(addresses);
    let of = |(array, address): (&crate::tree::Array, &i64)| {
        let bytes = array.elem.bits() as usize / 8;
        let values = data.arrays.get(&array.name)?;
        let flat = values
            .iter()
            .flat_map(|v| v.to_le_bytes().into_iter().take(bytes));
        Some((address.unsigned_abs(), flat.collect()))
    };
    arrays.filter_map(of).collect()
}

/// The first element, as an array's name and a number, that is not in memory as it should be;
/// arrays begin at these addresses, and `memory` gives bytes from an address up. There is one
/// NaN, whatever its bits.
pub fn difference<'m>(
    kernel: &Kernel,
    addresses: &[i64],
    expected: &Data,
    memory: impl Fn(u64, usize) -> Option<&'m [u8]>,
) -> Option<(String, usize)> {
    for (array, address) in kernel.arrays.iter().zip(addresses) {
        let bytes = array.elem.bits() as usize / 8;
        let values = expected.arrays.get(&array.name);
        for (k, wanted) in values.into_iter().flatten().enumerate() {
            let there = memory(address.unsigned_abs() + (k * bytes) as u64, bytes);
            let same = there.is_some_and(|there| {
                let mut word = [0; 16];
                word[..bytes].copy_from_slice(there);
                array.elem.wrap(i128::from_le_bytes(word)) == array.elem.wrap(*wanted)
            });
            if !same {
                return Some((array.name.clone(), k));
            }
        }
    }
    None
}

/// Bounds on generated data.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// No size is larger.
    pub size: i64,
    /// All arrays together have at most this many elements.
    pub elements: i64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            size: 160,
            elements: 1 << 16,
        }
    }
}

/// Sizes to find a counterexample with: what [`sizes`] draws for each of `seeds`, none larger
/// than `most`.
pub fn samples(
    kernel: &Kernel,
    seeds: std::ops::Range<u64>,
    most: i64,
) -> impl Iterator<Item = BTreeMap<Symbol, i64>> + '_ {
    let limits = Limits {
        size: most,
        ..Limits::default()
    };
    seeds.filter_map(move |seed| sizes(kernel, &mut numbers(seed), &limits))
}

/// How many assignments of sizes are tried before giving up.
const ATTEMPTS: u32 = 5000;

/// Sizes that satisfy the preconditions, if some are found within the limits.
pub fn sizes(
    kernel: &Kernel,
    random: &mut Random,
    limits: &Limits,
) -> Option<BTreeMap<Symbol, i64>> {
    let steps: Vec<(Symbol, i64)> = kernel
        .sizes()
        .map(|s| (s, multiple_of(kernel, s)))
        .collect();
    let first = u32::try_from(random.below(8)).ok()?;
    // What arrays have at any sizes.
    let least = elements(kernel.arrays.iter().filter(|a| is_fixed(a)), &|_| 0);
    least.filter(|&n| n <= limits.elements)?;
    for attempt in first..ATTEMPTS {
        let mut values: BTreeMap<Symbol, i64> = BTreeMap::new();
        // An eighth of the attempts takes small sizes only: that is where the edges are.
        // Most mix small, middling and large ones: that fills vectors in every dimension
        // without too many elements.
        for &(symbol, step) in &steps {
            let most = limits.size / step;
            let most = match attempt % 8 {
                0 => most.min(4),
                1..=6 => most.min([3, 24, most][usize::try_from(random.below(3)).ok()?]),
                _ => most,
            };
            let factor = random.below(most.max(1).unsigned_abs() + 1);
            values.insert(symbol, step * i64::try_from(factor).ok()?);
        }
        kernel.requires.iter().for_each(|c| settle(c, &mut values));
        if attempt < REPAIRED {
            repair(kernel, &mut values, random);
        }
        if sound(kernel, &values, limits.elements) {
            return Some(values);
        }
    }
    None
}

/// Shapes around a number of lanes: one size one less than it, equal to it, one more, and
/// past twice it, with all others 0, 1, 2, 5 or 7; as far as the preconditions and `elements`
/// allow (sizes are rounded up to the multiples that are asked for).
pub fn shapes(kernel: &Kernel, lanes: i64, elements: i64) -> Vec<BTreeMap<Symbol, i64>> {
    let mut out = Vec::new();
    let sizes: Vec<(Symbol, i64)> = kernel
        .sizes()
        .map(|s| (s, multiple_of(kernel, s)))
        .collect();
    for base in [2, 5, 1, 0, 7] {
        for &(large, _) in &sizes {
            for value in [2 * lanes + 3, lanes, lanes - 1, lanes + 1] {
                let pick = |s: Symbol| if s == large { value } else { base };
                let rounded = |&(s, step): &(Symbol, i64)| (s, (pick(s) + step - 1) / step * step);
                let mut values: BTreeMap<Symbol, i64> = sizes.iter().map(rounded).collect();
                kernel.requires.iter().for_each(|c| settle(c, &mut values));
                if !sound(kernel, &values, elements) {
                    repair(kernel, &mut values, &mut numbers(0));
                }
                if sound(kernel, &values, elements) && !out.contains(&values) {
                    out.push(values);
                }
            }
        }
    }
    out
}

/// Whether sizes satisfy the preconditions and make arrays that are not too large.
fn sound(kernel: &Kernel, values: &BTreeMap<Symbol, i64>, most: i64) -> bool {
    let value = |s: Symbol| values.get(&s).copied().unwrap_or(0);
    values.values().all(|&v| v >= 0)
        && kernel.requires.iter().all(|c| c.holds(&value))
        && elements(kernel.arrays.iter(), &value).is_some_and(|n| n <= most)
}

/// The least common multiple of what preconditions `size % k == 0` ask for.
fn multiple_of(kernel: &Kernel, symbol: Symbol) -> i64 {
    let mut step = 1i64;
    for condition in kernel
        .requires
        .iter()
        .filter(|c| c.relation == Relation::Eq)
    {
        if let (Index::Mod(size, k), Index::Const(0)) = (&condition.left, &condition.right)
            && let (Index::Sym(s), Index::Const(k @ 1..=4096)) = (&**size, &**k)
            && *s == symbol
            && step % k != 0
        {
            step = step.saturating_mul(*k).min(4096);
        }
    }
    step
}

/// Makes an equation `size == …` true.
fn settle(condition: &Condition, values: &mut BTreeMap<Symbol, i64>) {
    if condition.relation != Relation::Eq {
        return;
    }
    let value = |s: Symbol| values.get(&s).copied().unwrap_or(0);
    let (symbol, result) = match (&condition.left, &condition.right) {
        (Index::Sym(s), other) | (other, Index::Sym(s)) => (*s, other.eval(&value)),
        _ => return,
    };
    if let Ok(result) = result {
        values.insert(symbol, result);
    }
}

/// How many of the first assignments are repaired; more would take long where none is found.
const REPAIRED: u32 = 2000;

/// How often a size is changed so that a condition holds, before other sizes are drawn.
const REPAIRS: usize = 48;

/// No size becomes larger by that, whatever the limit of what is drawn: tables have 256 elements.
const LARGEST: i64 = 4096;

/// Moves sizes until all conditions hold, or too often: of one that does not hold, some size in
/// it as far as makes it hold, were it linear in that size.
fn repair(kernel: &Kernel, values: &mut BTreeMap<Symbol, i64>, random: &mut Random) {
    for _ in 0..REPAIRS {
        let value = |s: Symbol| values.get(&s).copied().unwrap_or(0);
        let Some(wrong) = kernel.requires.iter().find(|c| !c.holds(&value)) else {
            return;
        };
        let mentioned = |s: &Symbol| wrong.left.mentions(*s) || wrong.right.mentions(*s);
        let moves: Vec<(Symbol, i64)> = values
            .keys()
            .filter(|s| mentioned(s))
            .filter_map(|&s| Some((s, moved(wrong, values, s)?)))
            .collect();
        if moves.is_empty() {
            return;
        }
        let (symbol, to) = moves[usize::try_from(random.below(moves.len() as u64)).unwrap_or(0)];
        values.insert(symbol, to);
        kernel.requires.iter().for_each(|c| settle(c, values));
    }
}

/// The value of a size nearest to its own with which a condition would hold that is linear in it.
fn moved(wrong: &Condition, values: &BTreeMap<Symbol, i64>, symbol: Symbol) -> Option<i64> {
    let now = values.get(&symbol).copied()?;
    let excess = |of: i64| {
        let value = |s: Symbol| {
            if s == symbol {
                of
            } else {
                values.get(&s).copied().unwrap_or(0)
            }
        };
        let (left, right) = (
            wrong.left.eval(&value).ok()?,
            wrong.right.eval(&value).ok()?,
        );
        left.checked_sub(right)
    };
    let here = excess(now)?;
    let goal = match wrong.relation {
        Relation::Eq | Relation::Le => here,
        Relation::Lt => here.checked_add(1)?,
        Relation::Ne => 1,
    };
    let inside = |to: &i64| (0..=LARGEST).contains(to);
    for step in [1, -1] {
        let gain = here.checked_sub(excess(now.checked_add(step)?)?)?;
        if gain.signum() == goal.signum() && gain != 0 {
            // Rounded away from where it is: at least that much is needed.
            let steps = goal.unsigned_abs().div_ceil(gain.unsigned_abs());
            let to = now.checked_add(step.checked_mul(i64::try_from(steps).ok()?)?)?;
            return Some(to).filter(inside);
        }
    }
    // Flat here, as `max(256 - x, y)` may be: some way off.
    let far = [now / 2, now * 2 + 1, now + 64, now - 64, 256];
    far.into_iter().filter(inside).find(|&to| {
        let there = excess(to);
        there.is_some_and(|there| match wrong.relation {
            Relation::Eq => there == 0,
            Relation::Ne => there != 0,
            Relation::Le => there <= 0,
            Relation::Lt => there < 0,
        })
    })
}

/// How many elements arrays have; `None` when a size is impossible.
fn elements<'k>(
    mut arrays: impl Iterator<Item = &'k Array>,
    value: &impl Fn(Symbol) -> i64,
) -> Option<i64> {
    arrays.try_fold(0i64, |sum, array| sum.checked_add(length(array, value)?))
}

/// Whether an array has as many elements at any sizes.
fn is_fixed(array: &Array) -> bool {
    let dims = array.memory_dims();
    dims.iter().all(|d| matches!(d, Index::Const(_)))
}

/// The first array that has more elements at these sizes than arrays may have.
pub fn too_large<'k>(kernel: &'k Kernel, sizes: &BTreeMap<Symbol, i64>) -> Option<&'k Array> {
    let value = |s: Symbol| sizes.get(&s).copied().unwrap_or(0);
    // What has a dimension that is no number of elements is refused by its conditions.
    let sound = |array: &Array| {
        array
            .memory_dims()
            .iter()
            .all(|d| d.eval(&value).is_ok_and(|n| n >= 0))
    };
    let fits = |array: &Array| length(array, &value).is_some_and(|n| n <= MAX_ELEMENTS);
    let mut arrays = kernel.arrays.iter();
    arrays.find(|array| sound(array) && !fits(array))
}

fn length(array: &Array, value: &impl Fn(Symbol) -> i64) -> Option<i64> {
    array.memory_dims().iter().try_fold(1i64, |n, d| {
        n.checked_mul(d.eval(value).ok().filter(|&d| d >= 0)?)
    })
}

/// Data for one run; `None` when no sizes were found.
pub fn generate(kernel: &Kernel, seed: u64, limits: &Limits) -> Option<Data> {
    let mut random = numbers(seed);
    let sizes = sizes(kernel, &mut random, limits)?;
    Some(fill(kernel, &sizes, &mut random))
}

/// Scalars and arrays for the given sizes.
pub fn fill(kernel: &Kernel, sizes: &BTreeMap<Symbol, i64>, random: &mut Random) -> Data {
    filled(kernel, sizes, random, |_, random| Style::draw(random))
}

/// The same as programs mostly have it, for measurements: integers of any value, floats near 1. Processors
/// may take a hundred times as long for subnormal floats, which products of any floats often are.
pub fn ordinary(kernel: &Kernel, sizes: &BTreeMap<Symbol, i64>, random: &mut Random) -> Data {
    filled(kernel, sizes, random, |elem, _| match elem.format() {
        Some(_) => Style::Small,
        None => Style::Uniform,
    })
}

fn filled(
    kernel: &Kernel,
    sizes: &BTreeMap<Symbol, i64>,
    random: &mut Random,
    style: impl Fn(Elem, &mut Random) -> Style,
) -> Data {
    let value = |s: Symbol| sizes.get(&s).copied().unwrap_or(0);
    let mut data = Data::default();
    let whole = reassociates(&kernel.body);
    let bits = takes_bits(kernel);
    let draw = |elem: Elem, random: &mut Random| match style(elem, random) {
        _ if whole && elem.format().is_some() => Style::Whole,
        _ if bits && elem.format().is_some() => Style::Small,
        style => style,
    };
    for param in &kernel.params {
        match *param {
            Param::Size(s) => {
                data.sizes.insert(kernel.symbol_name(s), value(s));
            }
            Param::Scalar(id) => {
                let scalar = &kernel.scalars[id];
                let drawn = draw(scalar.elem, random).value(scalar.elem, random);
                data.scalars.insert(scalar.name.clone(), drawn);
            }
            Param::Array(id) => {
                let array = &kernel.arrays[id];
                debug_assert!(array.role != Role::Local);
                let len = length(array, &value).unwrap_or(0);
                let style = draw(array.elem, random);
                let values = (0..len).map(|_| style.value(array.elem, random)).collect();
                data.arrays.insert(array.name.clone(), values);
            }
        }
    }
    data
}

/// How an array is filled.
#[derive(Clone, Copy)]
enum Style {
    /// All values alike.
    Uniform,
    /// Mostly the values at the edges of ranges.
    Edges,
    /// Small values around 0.
    Small,
    /// Only the two ends of the range.
    Ends,
    /// Whole numbers up to [`greatest_whole`] and down to its negation, but 0, of floats.
    Whole,
}

/// Whether the kernel computes with the bits of floats: those of a NaN are not known.
fn takes_bits(kernel: &Kernel) -> bool {
    let within = |e: &Expr| {
        let found = e.find(&|e| match &e.kind {
            ExprKind::Apply(Op::Bits, args) => args[0].ty.elem.format(),
            _ => None,
        });
        found.is_some()
    };
    let mut found = kernel.locals.iter().any(|local| within(&local.value));
    crate::visit::for_each_stmt(&kernel.body, &mut |stmt, _| {
        found |= matches!(stmt, Stmt::Assign(a) if within(&a.value));
    });
    found
}

/// Whether some sum of floats may be added up in any order.
fn reassociates(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::For(f) => reassociates(&f.body),
        Stmt::Let(_) => false,
        Stmt::Assign(a) => a.reassociate,
    })
}

impl Style {
    fn draw(random: &mut Random) -> Style {
        match random.below(8) {
            0..=3 => Style::Uniform,
            4 | 5 => Style::Edges,
            6 => Style::Small,
            _ => Style::Ends,
        }
    }

    fn value(self, elem: Elem, random: &mut Random) -> i128 {
        let bits = i128::from(random.next_bits());
        let pick = |values: &[i128]| values[(bits % values.len() as i128) as usize];
        if let Some(format) = elem.format() {
            return elem.wrap(self.float(format, bits));
        }
        match self {
            Style::Uniform => elem.wrap(bits),
            Style::Edges => {
                let (lo, hi) = (elem.min(), elem.max());
                let middle = hi / 2;
                elem.wrap(pick(&[
                    lo,
                    lo + 1,
                    hi,
                    hi - 1,
                    0,
                    1,
                    -1,
                    2,
                    middle,
                    middle + 1,
                    bits >> 20,
                ]))
            }
            Style::Small => elem.wrap(bits % 9 - 4),
            Style::Ends | Style::Whole => pick(&[elem.min(), elem.max()]),
        }
    }

    /// The pattern of a float; a NaN only among edges.
    fn float(self, format: Format, bits: i128) -> i128 {
        let [sign, infinity, quiet] =
            [format.sign(), format.infinity(), format.quiet_bit()].map(i128::from);
        let (unit, one) = (quiet * 2, (infinity >> 1) & infinity);
        let high = bits >> 20;
        let some_sign = if high & 1 == 0 { 0 } else { sign };
        match self {
            Style::Uniform => match bits & (sign + infinity + unit - 1) {
                large if large & infinity == infinity => large - (infinity - one),
                pattern => pattern,
            },
            Style::Edges => {
                let edges = [
                    0,
                    1,
                    unit - 1,
                    unit,
                    infinity - 1,
                    infinity,
                    infinity + quiet,
                    one,
                    one + 1,
                    one - 1,
                    one - unit,
                    one + unit,
                    one + quiet,
                ];
                edges[(bits % edges.len() as i128) as usize] | some_sign
            }
            Style::Small => {
                // Near 1: results are rounded, and differences cancel.
                let exponent = (bits & 7) * unit - 4 * unit;
                some_sign | (one + exponent + (high >> 1 & (unit - 1)))
            }
            Style::Ends => some_sign | (infinity - 1),
            Style::Whole => {
                let number = 1 + bits.rem_euclid(greatest_whole(format));
                some_sign | whole(format, number)
            }
        }
    }
}

/// The greatest of the small whole numbers: products of two are summed exactly, 256 of them at least.
fn greatest_whole(format: Format) -> i128 {
    match format {
        Format::Bf16 => 1,
        Format::F16 => 2,
        Format::F32 | Format::F64 => 8,
    }
}

/// The pattern of a whole number from 1 to 255.
fn whole(format: Format, number: i128) -> i128 {
    let exponent = number.ilog2();
    let one = i128::from((format.infinity() >> 1) & format.infinity());
    let fraction = (number - (1 << exponent)) << (format.fraction() - exponent);
    one + (i128::from(exponent) << format.fraction()) + fraction
}

#[cfg(test)]
mod tests;
