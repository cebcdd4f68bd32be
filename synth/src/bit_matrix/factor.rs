//! A matrix of bits as a product of cheap ones.
//!
//! In: a matrix. Out: steps, each of which combines the value with itself shifted, exchanges
//! neighbouring groups of bits, or adds up shifted and masked copies, and what they cost in operations of
//! two operands. One step after the other is split off where that leaves least to do, from the side
//! of the argument or from that of the result: greedy, so not always least.
//!
//! Exclusive sums are divided exactly: `I + S` with a shift `S` has the inverse `I + S + S² + …`. Of
//! sums by "or" the quotient is the greatest matrix that gives no bit too many, and is one if it gives
//! all (residuation in Boolean algebras); what it does not need is taken out again by diagonals.

use super::{BitMatrix, Sum, constant, ones, shifted};
use crate::legal::two;
use semantics::op::OpCode;
use semantics::term::Term;

/// Steps that are split off at most.
const MOST_STEPS: usize = 12;

/// Copies of a value: how far each is moved up, or down, and its mask.
type Copies = Vec<(i64, Option<u64>)>;

/// What a step does to a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// The sum of the value and itself, moved up by so many bits, or down.
    Combine(i64),
    /// Groups of so many bits exchanged with their neighbours.
    Exchange(u32),
    /// The sum of copies, each moved up or down and masked.
    Copies(Copies),
    /// Some of the bits.
    Mask(u64),
}

/// A quotient by some steps: what is left to do between those from either side.
#[derive(Clone)]
struct Left {
    rows: Vec<u64>,
    /// Bits of the result that matter, and bits of the argument that may be ones.
    live: u64,
    columns: u64,
}

/// The cheapest steps that were found, and what they cost.
pub(super) fn steps(matrix: &BitMatrix) -> Option<(Vec<Step>, u32)> {
    let w = matrix.width;
    let mut live = 0;
    for (i, row) in matrix.rows.iter().enumerate() {
        live |= u64::from(*row != 0) << i;
    }
    if live == 0 {
        return None;
    }
    let whole = search(matrix.sum, w, &matrix.rows, ones(w), matrix.columns);
    let masked = (live != ones(w)).then(|| {
        let (mut steps, cost) = search(matrix.sum, w, &matrix.rows, live, matrix.columns);
        steps.push(Step::Mask(live));
        (steps, cost + 1)
    });
    masked
        .into_iter()
        .chain([whole])
        .min_by_key(|(_, cost)| *cost)
}

fn search(sum: Sum, w: u32, rows: &[u64], live: u64, columns: u64) -> (Vec<Step>, u32) {
    let mut left = Left {
        rows: rows.to_vec(),
        live,
        columns,
    };
    let (mut first, mut last, mut spent) = (Vec::new(), Vec::new(), 0);
    let mut best = (Vec::new(), u32::MAX);
    for _ in 0..=MOST_STEPS {
        let (copies, cost) = left.copies(w);
        if spent + cost < best.1 {
            let copies = copies.into_iter().map(Step::Copies);
            let back = last.iter().rev().cloned();
            let steps = first.iter().cloned().chain(copies).chain(back);
            best = (steps.collect(), spent + cost);
        }
        let next = candidates(w).filter_map(|step| {
            let sides = [false, true].into_iter();
            let found = sides.filter_map(|result| {
                let other = left.without(sum, w, &step, result)?;
                let cost = other.copies(w).1 + step.cost(w);
                Some((cost, step.clone(), result, other))
            });
            found.min_by_key(|(cost, ..)| *cost)
        });
        let Some((then, step, result, other)) = next.min_by_key(|(cost, ..)| *cost) else {
            break;
        };
        if then >= cost {
            break;
        }
        spent += step.cost(w);
        match result {
            true => last.push(step),
            false => first.push(step),
        }
        left = other;
    }
    best
}

/// Steps that may be split off; of such as leave as much to do, the farthest leaves what is easier to divide.
fn candidates(w: u32) -> impl Iterator<Item = Step> {
    let combined = (1..i64::from(w))
        .rev()
        .flat_map(|k| [Step::Combine(k), Step::Combine(-k)]);
    let exchanged = (0..6).map(|k| 1 << k).filter(move |k| 2 * k <= w);
    combined.chain(exchanged.map(Step::Exchange))
}

/// A set of bits moved up or down.
fn moved(bits: u64, by: i64, w: u32) -> u64 {
    match by {
        0.. => bits.checked_shl(by as u32).unwrap_or(0) & ones(w),
        _ => bits.checked_shr((-by) as u32).unwrap_or(0),
    }
}

fn exchanged(bits: u64, k: u32, w: u32) -> u64 {
    let low = lower_halves(k, w);
    (bits >> k) & low | (bits & low) << k
}

/// The lower of each two groups of so many bits.
fn lower_halves(k: u32, w: u32) -> u64 {
    (0..w).filter(|i| i & k == 0).fold(0, |all, i| all | 1 << i)
}

impl Left {
    /// The sum of shifted copies that this is, and what it costs; nothing where it is the value as it stands.
    fn copies(&self, w: u32) -> (Option<Copies>, u32) {
        let (mut copies, mut cost) = (Vec::new(), 0);
        for (by, wanted) in (1 - i64::from(w)..).zip(self.diagonals(w)) {
            if wanted == 0 {
                continue;
            }
            let given = moved(self.columns, by, w) & self.live;
            let mask = (given & !wanted != 0).then_some(wanted);
            cost += u32::from(by != 0) + u32::from(mask.is_some());
            copies.push((by, mask));
        }
        cost += (copies.len() as u32).saturating_sub(1);
        // The likeliest first: what stays, then by distance.
        copies.sort_by_key(|(by, _)| (by.abs(), *by));
        match copies[..] {
            [(0, None)] => (None, 0),
            _ => (Some(copies), cost),
        }
    }

    /// Of the value moved by so many bits, those that are wanted: from `1 - w` bits to `w - 1`.
    fn diagonals(&self, w: u32) -> Vec<u64> {
        let mut wanted = vec![0; 2 * w as usize - 1];
        for i in (0..w).filter(|i| self.live >> i & 1 == 1) {
            let mut row = self.rows[i as usize] & ones(w);
            while row != 0 {
                let j = row.trailing_zeros();
                wanted[(i + w - 1 - j) as usize] |= 1 << i;
                row &= row - 1;
            }
        }
        wanted
    }

    /// What is left when a step is taken first, or last.
    fn without(&self, sum: Sum, w: u32, step: &Step, last: bool) -> Option<Left> {
        let left = match (step, last) {
            (Step::Exchange(k), false) => Left {
                rows: self.rows.iter().map(|r| exchanged(*r, *k, w)).collect(),
                live: self.live,
                columns: exchanged(self.columns, *k, w),
            },
            (Step::Exchange(k), true) => Left {
                rows: (0..w).map(|i| self.rows[(i ^ k) as usize]).collect(),
                live: exchanged(self.live, *k, w),
                columns: self.columns,
            },
            (Step::Combine(by), _) => {
                let rows = match (sum, last) {
                    (Sum::Xor, false) => self.divided_first(*by, w),
                    (Sum::Xor, true) => self.divided_last(*by, w),
                    (Sum::Or, false) => self.residual_first(*by, w)?,
                    (Sum::Or, true) => self.residual_last(*by, w)?,
                };
                let (mut live, mut columns) = (self.live, self.columns);
                match last {
                    true => live |= moved(live, -by, w),
                    false => columns |= moved(columns, *by, w),
                }
                Left {
                    rows,
                    live,
                    columns,
                }
            }
            _ => return None,
        };
        Some(left)
    }

    fn divided_first(&self, by: i64, w: u32) -> Vec<u64> {
        let row = |row: &u64| {
            let (mut sum, mut now) = (0, *row);
            while now != 0 {
                sum ^= now;
                now = moved(now, -by, w);
            }
            sum
        };
        self.rows.iter().map(row).collect()
    }

    fn divided_last(&self, by: i64, w: u32) -> Vec<u64> {
        let row = |i: i64| {
            let (mut sum, mut at) = (0, i);
            while (0..i64::from(w)).contains(&at) {
                sum ^= self.rows[at as usize];
                at -= by;
            }
            sum
        };
        (0..i64::from(w)).map(row).collect()
    }

    /// By the rows of `I | S`: row `j` of it is `j` and `j - by`.
    fn residual_first(&self, by: i64, w: u32) -> Option<Vec<u64>> {
        let outside = !moved(ones(w), by, w) & ones(w);
        let greatest = |row: &u64| row & (moved(*row, by, w) | outside);
        let fits = |row: u64, of: u64| row | moved(row, -by, w) == of;
        let rows: Vec<u64> = self.rows.iter().map(greatest).collect();
        let all = rows.iter().zip(&self.rows).all(|(r, of)| fits(*r, *of));
        all.then(|| {
            pruned(rows, w, |rows| {
                rows.iter().zip(&self.rows).all(|(r, of)| fits(*r, *of))
            })
        })
    }

    fn residual_last(&self, by: i64, w: u32) -> Option<Vec<u64>> {
        let row = |rows: &[u64], i: i64| -> Option<u64> {
            usize::try_from(i).ok().and_then(|i| rows.get(i)).copied()
        };
        let greatest = |i: i64| self.rows[i as usize] & row(&self.rows, i + by).unwrap_or(u64::MAX);
        let fits = |rows: &[u64]| {
            (0..i64::from(w)).all(|i| {
                let given = rows[i as usize] | row(rows, i - by).unwrap_or(0);
                given == self.rows[i as usize]
            })
        };
        let rows: Vec<u64> = (0..i64::from(w)).map(greatest).collect();
        fits(&rows).then(|| pruned(rows, w, fits))
    }
}

/// Without the diagonals that are not needed, the farthest first.
fn pruned(mut rows: Vec<u64>, w: u32, fits: impl Fn(&[u64]) -> bool) -> Vec<u64> {
    let mut far: Vec<i64> = (1 - i64::from(w)..i64::from(w)).collect();
    far.sort_by_key(|by| -by.abs());
    for by in far {
        let mut fewer = rows.clone();
        for (i, row) in fewer.iter_mut().enumerate() {
            let j = i as i64 - by;
            if (0..i64::from(w)).contains(&j) {
                *row &= !(1 << j);
            }
        }
        if fewer != rows && fits(&fewer) {
            rows = fewer;
        }
    }
    rows
}

impl Step {
    /// In operations of two operands.
    fn cost(&self, w: u32) -> u32 {
        match self {
            Step::Combine(_) => 2,
            Step::Exchange(k) if 2 * k == w => 3,
            Step::Exchange(_) => 5,
            Step::Mask(_) => 1,
            Step::Copies(all) => {
                let one = |(by, mask): &(i64, Option<u64>)| {
                    u32::from(*by != 0) + u32::from(mask.is_some()) + 1
                };
                all.iter().map(one).sum::<u32>().saturating_sub(1)
            }
        }
    }

    /// The term of the step's result.
    pub(super) fn apply(&self, sum: Sum, x: Term) -> Option<Term> {
        let w = x.width();
        let code = match sum {
            Sum::Xor => OpCode::BvXor,
            Sum::Or => OpCode::BvOr,
        };
        match self {
            Step::Combine(by) => two(code, x, shifted(x, *by)?),
            Step::Mask(mask) => two(OpCode::BvAnd, x, constant(w, *mask)),
            Step::Exchange(k) => {
                let (down, up) = (shifted(x, -i64::from(*k))?, shifted(x, i64::from(*k))?);
                if 2 * k == w {
                    return two(OpCode::BvOr, down, up);
                }
                let low = lower_halves(*k, w);
                let down = two(OpCode::BvAnd, down, constant(w, low))?;
                let up = two(OpCode::BvAnd, up, constant(w, ones(w) & !low))?;
                two(OpCode::BvOr, down, up)
            }
            Step::Copies(all) => {
                let mut parts = all.iter().map(|(by, mask)| {
                    let copy = shifted(x, *by)?;
                    match mask {
                        Some(mask) => two(OpCode::BvAnd, copy, constant(w, *mask)),
                        None => Some(copy),
                    }
                });
                let first = parts.next()??;
                parts.try_fold(first, |sum, part| two(code, sum, part?))
            }
        }
    }
}
