//! What an operand can be, given the result: by all numbers of a narrow width.
//!
//! In: an operator, which of its two operands, a function. Out: the values that the operand may be, so
//! that pairs are tried among few.

use super::values::{Id, Values};
use crate::operator::{OPERATORS, Sort, named};

/// The width at which all numbers are tried.
const WIDTH: u32 = 5;
const NUMBERS: usize = 1 << WIDTH;

/// For each operator of two operands, for each place: whether an operand can give a result.
pub(super) struct Inverse(Vec<[Vec<bool>; 2]>);

impl Inverse {
    pub(super) fn new() -> Inverse {
        let of = |operator: &crate::operator::Operator| {
            let mut possible = [
                vec![false; NUMBERS * NUMBERS],
                vec![false; NUMBERS * NUMBERS],
            ];
            if operator.takes.len() == 2 {
                for x in 0..NUMBERS {
                    for y in 0..NUMBERS {
                        let result = (operator.value)(WIDTH, &[x as u64, y as u64]) as usize;
                        possible[0][result * NUMBERS + x] = true;
                        possible[1][result * NUMBERS + y] = true;
                    }
                }
            }
            possible
        };
        Inverse(OPERATORS.iter().map(of).collect())
    }

    /// The operator that gives an operand of another exactly: of `a + b = f` it is `f - a`.
    pub(super) fn exact(operator: usize) -> Option<usize> {
        match OPERATORS[operator].name {
            "add" => named("sub"),
            // `b - a = f` where `b` is `f + a`.
            "sub" => named("add"),
            "xor" => named("xor"),
            _ => None,
        }
    }

    /// The values that an operand may be, those with few operators first.
    pub(super) fn possible(
        &self,
        values: &Values,
        operator: usize,
        place: usize,
        function: Id,
        most: usize,
    ) -> Vec<Id> {
        let table = &self.0[operator][place];
        let wanted = &values.all[function].seen;
        let narrow = values
            .samples
            .widths
            .iter()
            .take_while(|w| **w == WIDTH)
            .count();
        let can = |id: &Id| {
            let value = &values.all[*id];
            let mut all = value.seen[..narrow].iter().zip(&wanted[..narrow]);
            value.gives == Sort::Element
                && all.all(|(&x, &f)| table[usize::from(f) * NUMBERS + usize::from(x)])
        };
        (0..values.all.len()).filter(can).take(most).collect()
    }
}
