//! The smallest input that still differs, as a C program.
//!
//! In: a case and a record on which the machine and the interpreter differ. Out: the text of
//! a program. Immediates are lowered and operands and memory cleared piece by piece, from
//! halves to single bits, as long as the difference stays; pointers stay where they are.

use super::compare::{Meaning, Outcome, encode};
use super::inputs::Record;
use super::machine::{Built, Compiler};
use super::tolerance::Likeness;
use codegen_gen::check_harness::show::{Input, show};
use codegen_gen::check_harness::{Case, recorded};
use semantics::bits::Bits;

/// The most runs of the program for one reduction.
const RUNS: usize = 200;

/// The most records of one run.
const RECORDS: usize = 4096;

/// The machine and the interpreter, side by side.
struct Bench<'a> {
    built: Built<'a>,
    case: &'a Case<'a>,
    meaning: &'a Meaning<'a>,
    runs: usize,
}

/// The program that shows a difference, for the smallest input that was found; none when the
/// difference does not repeat.
pub(crate) fn program<'a>(
    compiler: &Compiler,
    case: &'a Case<'a>,
    meaning: &'a Meaning<'a>,
    record: &Record,
) -> Option<String> {
    let mut bench = Bench {
        built: Built::new(compiler, case.clone())?,
        case,
        meaning,
        runs: 0,
    };
    bench
        .fails(std::slice::from_ref(record))
        .first()
        .filter(|f| **f)?;
    let mut least = record.clone();
    bench.lower_immediates(&mut least);
    while bench.pass(&mut least) && bench.runs < RUNS {}
    let (expected, found) = bench.outcomes(std::slice::from_ref(&least))?.pop()?;
    let value = meaning.wanted(&expected, &found);
    let input = Input {
        immediates: case.immediates[least.list].clone(),
        operands: least.values.iter().map(Bits::to_bytes).collect(),
        windows: least.windows.clone(),
        value: value.map(|v| v.to_bytes()).unwrap_or_default(),
        after: expected.windows,
    };
    Some(show(case, &input))
}

impl Bench<'_> {
    /// What both compute on some records.
    fn outcomes(&mut self, records: &[Record]) -> Option<Vec<(Outcome, Outcome)>> {
        self.runs += 1;
        let bytes = self.built.run(encode(records))?;
        let expected = self.meaning.expected(records, &self.case.immediates);
        let found = self.meaning.found(records, &bytes);
        Some(expected.into_iter().zip(found).collect())
    }

    /// For each of some records whether the two differ on it.
    fn fails(&mut self, records: &[Record]) -> Vec<bool> {
        let Some(outcomes) = self.outcomes(records) else {
            return vec![false; records.len()];
        };
        let outcomes = records.iter().zip(outcomes);
        let wrong = |(record, (expected, found)): (&Record, (Outcome, Outcome))| {
            self.meaning.compare(record, &expected, &found) == Likeness::Wrong
        };
        outcomes.map(wrong).collect()
    }

    /// The first list of immediates with which it still fails.
    fn lower_immediates(&mut self, least: &mut Record) {
        let with = |list: usize| Record {
            list,
            ..least.clone()
        };
        let records: Vec<Record> = (0..least.list).map(with).collect();
        if let Some(list) = self.fails(&records).iter().position(|&f| f) {
            least.list = list;
        }
    }

    /// Clears pieces of every size, largest first; whether anything was cleared.
    fn pass(&mut self, least: &mut Record) -> bool {
        let mut cleared = false;
        let longest = self
            .pieces(least)
            .iter()
            .map(|p| p.width)
            .max()
            .unwrap_or(0);
        let mut size = longest.next_power_of_two();
        while size >= 1 && self.runs < RUNS {
            cleared |= self.clear(least, size);
            size /= 2;
        }
        cleared
    }

    /// Clears pieces of one size: all at once whose clearing alone keeps the failure, else
    /// the first of them.
    fn clear(&mut self, least: &mut Record, size: u32) -> bool {
        let mut candidates = Vec::new();
        for piece in self.pieces(least) {
            for at in (0..piece.width).step_by(size as usize) {
                let mut record = least.clone();
                if clear(&mut record, piece.part, at, size) && candidates.len() < RECORDS {
                    candidates.push((piece.part, at, record));
                }
            }
        }
        let records: Vec<Record> = candidates.iter().map(|(_, _, r)| r.clone()).collect();
        let fails = self.fails(&records);
        let good: Vec<_> = candidates
            .into_iter()
            .zip(fails)
            .filter(|(_, f)| *f)
            .collect();
        let mut all = least.clone();
        for ((part, at, _), _) in &good {
            clear(&mut all, *part, *at, size);
        }
        let Some(((_, _, first), _)) = good.into_iter().next() else {
            return false;
        };
        let together = self.fails(std::slice::from_ref(&all)).first() == Some(&true);
        *least = if together { all } else { first };
        true
    }

    /// What of a record can be cleared.
    fn pieces(&self, record: &Record) -> Vec<Piece> {
        let operands = recorded(self.case.instruction)
            .zip(&record.values)
            .enumerate();
        let values = operands
            .filter(|(_, (operand, _))| !operand.role.is_pointer())
            .map(|(k, (_, value))| Piece {
                part: Part::Value(k),
                width: value.width(),
            });
        let windows = record
            .windows
            .iter()
            .enumerate()
            .map(|(k, (_, bytes))| Piece {
                part: Part::Window(k),
                width: bytes.len() as u32 * 8,
            });
        values.chain(windows).collect()
    }
}

/// Part of a record.
#[derive(Clone, Copy, Debug)]
enum Part {
    Value(usize),
    Window(usize),
}

/// A part, and how many bits it has.
#[derive(Clone, Copy, Debug)]
struct Piece {
    part: Part,
    width: u32,
}

/// Clears bits of a part; whether any of them was set.
fn clear(record: &mut Record, part: Part, at: u32, size: u32) -> bool {
    let cleared = |bits: &Bits| {
        let size = size.min(bits.width() - at);
        let piece = bits.extract(at, size);
        (!piece.is_zero()).then(|| bits.insert(at, &Bits::zero(size)))
    };
    match part {
        Part::Value(k) => {
            let new = cleared(&record.values[k]);
            new.map(|new| record.values[k] = new).is_some()
        }
        Part::Window(k) => {
            let bytes = &record.windows[k].1;
            let new = cleared(&Bits::from_bytes(bytes.len() as u32 * 8, bytes));
            new.map(|new| record.windows[k].1 = new.to_bytes())
                .is_some()
        }
    }
}
