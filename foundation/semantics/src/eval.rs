//! The interpreter: a term is compiled once to a flat program and run on many inputs.
//!
//! In: terms over named inputs. Out: [`CompiledTerms`], which gives their values. Programs run on
//! a batch of inputs at a time: every register is a row of 64-bit words, one per input of
//! the batch, so that one dispatch serves them all and simple operators run as vector
//! loops. Values of at most 64 bits take one row, wider ones a row per limb; what has no
//! row form goes through the operator table's concrete function.
//!
//! This is the only evaluator of instruction meaning. It does not know instructions,
//! kernels or solvers.

mod compile;
mod narrow;

use crate::bits::Bits;
use crate::op::{Op, OpCode};
use crate::sort::Sort;
use crate::term::{SortError, Term};
use crate::value::Value;
use compile::Compiler;

/// One named input of a program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Input {
    /// The free variable.
    pub name: String,
    /// Its sort.
    pub sort: Sort,
}

/// Where a value lies: rows of words, or a slot for what has no fixed width.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// Consecutive rows starting at the first; a truth value or an index takes one.
    Rows { first: u32, sort: Sort },
    /// A memory.
    Slot(u32),
}

/// One step of a program; operands are rows.
#[derive(Clone, Debug)]
enum Step {
    /// A one-row operator with one or two arguments.
    Narrow {
        code: narrow::Code,
        width: u32,
        to: u32,
        a: u32,
        b: u32,
    },
    /// `to = condition ? a : b`, one row.
    Choose {
        to: u32,
        condition: u32,
        a: u32,
        b: u32,
    },
    /// `to = bits of the rows from a on`; one row, `width` at most 64, `second` for a
    /// value that straddles two rows.
    Bits {
        to: u32,
        a: u32,
        shift: u32,
        width: u32,
        second: bool,
    },
    /// `to = bits of the row a`, sign extended from `from` bits and masked to `width`.
    SignedBits {
        to: u32,
        a: u32,
        shift: u32,
        from: u32,
        width: u32,
    },
    /// `to = the union of the shifted pieces`.
    Pack { to: u32, pieces: Box<[Piece]> },
    /// `to = width bits of the rows from a on`, at the bit offset `(row index) * scale`;
    /// bits past the last row are 0.
    Gather {
        to: u32,
        a: u32,
        rows: u32,
        index: u32,
        scale: u32,
        width: u32,
    },
    /// An operator on values of two rows; a comparison gives one row.
    Double {
        code: OpCode,
        width: u32,
        to: u32,
        a: u32,
        b: u32,
    },
    /// `to |= a ^ b`: what differs between two wide values.
    Differ { to: u32, a: u32, b: u32 },
    /// A floating-point operator.
    Float {
        function: crate::float::WordFn,
        op: Op,
        to: u32,
        args: [u32; 3],
    },
    /// A row of zeros.
    Clear { to: u32 },
    /// `to = all ones when the bit of row a is set`, masked to `width`.
    Fill {
        to: u32,
        a: u32,
        bit: u32,
        width: u32,
    },
    /// `to = row a`, masked to `width`.
    Copy { to: u32, a: u32, width: u32 },
    /// The table's concrete function on whole values.
    Table {
        op: Op,
        to: Place,
        args: Box<[Place]>,
    },
}

/// Bits of a row on their way into another: shifted left, or right when negative.
#[derive(Clone, Copy, Debug)]
struct Piece {
    row: u32,
    shift: i32,
}

/// A compiled term, or several that share inputs and subterms.
#[derive(Clone, Debug)]
pub struct CompiledTerms {
    inputs: Vec<Input>,
    input_places: Vec<Place>,
    constants: Vec<(u32, u64)>,
    steps: Vec<Step>,
    outputs: Vec<Place>,
    rows: u32,
    slots: u32,
}

/// Working memory of a program for one batch; made once, used for many runs.
#[derive(Clone, Debug)]
pub struct Frame {
    lanes: usize,
    words: Vec<u64>,
    slots: Vec<Vec<Value>>,
}

fn mask(width: u32) -> u64 {
    if width >= 64 {
        u64::MAX
    } else {
        (1 << width) - 1
    }
}

fn rows_of(sort: Sort) -> u32 {
    match sort {
        Sort::Bv(w) => w.div_ceil(64),
        _ => 1,
    }
}

impl CompiledTerms {
    /// Compiles terms over the given inputs. Inputs that no term uses are allowed.
    ///
    /// # Errors
    /// When a term has a free variable that is no input, or of another sort, or an operator
    /// that is not [evaluable](crate::op::Op::is_evaluable).
    pub fn compile(outputs: &[Term], inputs: &[Input]) -> Result<CompiledTerms, SortError> {
        Compiler::new(inputs).finish(outputs)
    }

    /// Compiles one term over its own free variables, in structural order.
    ///
    /// # Panics
    /// When an operator of the term is not [evaluable](crate::op::Op::is_evaluable).
    pub fn of(term: Term) -> CompiledTerms {
        let inputs: Vec<Input> = crate::subst::free_vars(term)
            .into_iter()
            .map(|v| Input {
                name: v.as_var().expect("free variables have names").to_owned(),
                sort: v.sort(),
            })
            .collect();
        CompiledTerms::compile(&[term], &inputs)
            .expect("every operator has a value, and the inputs are the free variables")
    }

    /// The inputs, in the order in which values are given.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// The sorts of the outputs.
    pub fn output_sorts(&self) -> Vec<Sort> {
        self.outputs
            .iter()
            .map(|p| match p {
                Place::Rows { sort, .. } => *sort,
                Place::Slot(_) => Sort::Mem,
            })
            .collect()
    }

    /// Number of steps: a measure of size.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether there is nothing to compute.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Working memory for `lanes` inputs at a time.
    pub fn frame(&self, lanes: usize) -> Frame {
        let mut frame = Frame {
            lanes,
            words: vec![0; self.rows as usize * lanes],
            slots: vec![
                vec![Value::Mem(crate::value::Memory::default()); lanes];
                self.slots as usize
            ],
        };
        for &(row, word) in &self.constants {
            frame.row_mut(row).fill(word);
        }
        frame
    }

    /// Sets an input of one lane.
    ///
    /// # Panics
    /// When the value is not of the input's sort, or there is no such input or lane.
    pub fn set(&self, frame: &mut Frame, input: usize, lane: usize, value: &Value) {
        assert_eq!(
            value.sort(),
            self.inputs[input].sort,
            "input `{}`",
            self.inputs[input].name
        );
        frame.store(self.input_places[input], lane, value);
    }

    /// The words of an input of at most 64 bits, one per lane, to be filled in place. They
    /// must stay within the input's width.
    ///
    /// # Panics
    /// When the input takes more than one row.
    pub fn input_words<'f>(&self, frame: &'f mut Frame, input: usize) -> &'f mut [u64] {
        match self.input_places[input] {
            Place::Rows { first, sort } if rows_of(sort) == 1 => frame.row_mut(first),
            _ => panic!(
                "input `{}` takes more than one word",
                self.inputs[input].name
            ),
        }
    }

    /// The words of an output of at most 64 bits, one per lane.
    ///
    /// # Panics
    /// When the output takes more than one row.
    pub fn output_words<'f>(&self, frame: &'f Frame, output: usize) -> &'f [u64] {
        match self.outputs[output] {
            Place::Rows { first, sort } if rows_of(sort) == 1 => frame.row(first),
            _ => panic!("the output takes more than one word"),
        }
    }

    /// An output of one lane, after a run.
    pub fn get(&self, frame: &Frame, output: usize, lane: usize) -> Value {
        frame.load(self.outputs[output], lane)
    }

    /// Runs all lanes of a frame.
    pub fn execute(&self, frame: &mut Frame) {
        for step in &self.steps {
            frame.step(step);
        }
    }

    /// Runs on one input and gives every output.
    ///
    /// # Panics
    /// When a value is not of its input's sort.
    pub fn run(&self, values: &[Value]) -> Vec<Value> {
        assert_eq!(values.len(), self.inputs.len(), "one value for each input");
        let mut frame = self.frame(1);
        for (k, value) in values.iter().enumerate() {
            self.set(&mut frame, k, 0, value);
        }
        self.execute(&mut frame);
        (0..self.outputs.len())
            .map(|k| self.get(&frame, k, 0))
            .collect()
    }
}

impl Frame {
    /// Number of inputs that one run serves.
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    fn row(&self, row: u32) -> &[u64] {
        &self.words[row as usize * self.lanes..][..self.lanes]
    }

    fn row_mut(&mut self, row: u32) -> &mut [u64] {
        &mut self.words[row as usize * self.lanes..][..self.lanes]
    }

    /// A row to write and one to read; rows are written once, so they differ and the
    /// written one comes later.
    fn pair(&mut self, to: u32, a: u32) -> (&mut [u64], &[u64]) {
        let (before, after) = self.words.split_at_mut(to as usize * self.lanes);
        (
            &mut after[..self.lanes],
            &before[a as usize * self.lanes..][..self.lanes],
        )
    }

    /// A row to write, and a way to the rows before it.
    fn rows<'f>(&'f mut self, to: u32) -> (&'f mut [u64], impl Fn(u32) -> &'f [u64]) {
        let lanes = self.lanes;
        let (before, after) = self.words.split_at_mut(to as usize * lanes);
        let before: &[u64] = before;
        (&mut after[..lanes], move |row| {
            &before[row as usize * lanes..][..lanes]
        })
    }

    fn load(&self, place: Place, lane: usize) -> Value {
        let (first, sort) = match place {
            Place::Slot(slot) => return self.slots[slot as usize][lane].clone(),
            Place::Rows { first, sort } => (first, sort),
        };
        let word = |k: u32| self.words[(first + k) as usize * self.lanes + lane];
        match sort {
            Sort::Bool => Value::Bool(word(0) != 0),
            Sort::Int => Value::Int(word(0) as i64),
            Sort::Bv(w) => {
                let limbs: smallvec::SmallVec<[u64; 8]> = (0..rows_of(sort)).map(word).collect();
                Value::Bv(Bits::from_limbs(w, &limbs))
            }
            Sort::Mem => unreachable!("memories have slots"),
        }
    }

    fn store(&mut self, place: Place, lane: usize, value: &Value) {
        let first = match place {
            Place::Slot(slot) => {
                self.slots[slot as usize][lane] = value.clone();
                return;
            }
            Place::Rows { first, .. } => first,
        };
        let lanes = self.lanes;
        let mut put = |k: usize, word: u64| self.words[(first as usize + k) * lanes + lane] = word;
        match value {
            Value::Bool(b) => put(0, u64::from(*b)),
            Value::Int(i) => put(0, *i as u64),
            Value::Bv(bits) => bits
                .limbs()
                .iter()
                .enumerate()
                .for_each(|(k, &limb)| put(k, limb)),
            Value::Mem(_) => unreachable!("memories have slots"),
        }
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Narrow {
                code,
                width,
                to,
                a,
                b,
            } => self.narrow(code, width, to, a, b),
            Step::Choose {
                to,
                condition,
                a,
                b,
            } => self.choose(to, condition, a, b),
            Step::Bits {
                to,
                a,
                shift,
                width,
                second,
            } => self.bits(to, a, shift, width, second),
            Step::SignedBits {
                to,
                a,
                shift,
                from,
                width,
            } => {
                let (to, a) = self.pair(to, a);
                let (left, right, mask) = (64 - from - shift, 64 - from, mask(width));
                to.iter_mut()
                    .zip(a)
                    .for_each(|(t, &x)| *t = ((x << left) as i64 >> right) as u64 & mask);
            }
            Step::Pack { to, ref pieces } => self.pack(to, pieces),
            Step::Gather {
                to,
                a,
                rows,
                index,
                scale,
                width,
            } => self.gather(to, (a, rows), (index, scale), width),
            Step::Double {
                code,
                width,
                to,
                a,
                b,
            } => self.double(code, width, to, a, b),
            Step::Differ { to, a, b } => {
                let (to, row) = self.rows(to);
                for ((t, &x), &y) in to.iter_mut().zip(row(a)).zip(row(b)) {
                    *t |= x ^ y;
                }
            }
            Step::Float {
                function,
                op,
                to,
                args,
            } => {
                let (to, row) = self.rows(to);
                let [a, b, c] = args.map(row);
                for (k, t) in to.iter_mut().enumerate() {
                    *t = function(op.params(), [a[k], b[k], c[k]]);
                }
            }
            Step::Clear { to } => self.row_mut(to).fill(0),
            Step::Fill { to, a, bit, width } => {
                let (to, a) = self.pair(to, a);
                let mask = mask(width);
                to.iter_mut()
                    .zip(a)
                    .for_each(|(t, &x)| *t = (x >> bit & 1).wrapping_neg() & mask);
            }
            Step::Copy { to, a, width } => {
                let (to, a) = self.pair(to, a);
                let mask = mask(width);
                to.iter_mut().zip(a).for_each(|(t, &x)| *t = x & mask);
            }
            Step::Table { op, to, ref args } => {
                for lane in 0..self.lanes {
                    let values: Vec<Value> = args.iter().map(|&p| self.load(p, lane)).collect();
                    let value = op.eval(&values);
                    self.store(to, lane, &value);
                }
            }
        }
    }

    fn narrow(&mut self, code: narrow::Code, width: u32, to: u32, a: u32, b: u32) {
        let (to, row) = self.rows(to);
        narrow::apply(code, width, to, row(a), row(b));
    }

    fn choose(&mut self, to: u32, condition: u32, a: u32, b: u32) {
        let (to, row) = self.rows(to);
        let (c, a, b) = (row(condition), row(a), row(b));
        for (k, t) in to.iter_mut().enumerate() {
            let chosen = c[k].wrapping_neg();
            *t = a[k] & chosen | b[k] & !chosen;
        }
    }

    fn pack(&mut self, to: u32, pieces: &[Piece]) {
        let (to, row) = self.rows(to);
        for (n, piece) in pieces.iter().enumerate() {
            let (a, by) = (row(piece.row), piece.shift.unsigned_abs());
            match (n, piece.shift < 0) {
                (0, false) => to.iter_mut().zip(a).for_each(|(t, &x)| *t = x << by),
                (0, true) => to.iter_mut().zip(a).for_each(|(t, &x)| *t = x >> by),
                (_, false) => to.iter_mut().zip(a).for_each(|(t, &x)| *t |= x << by),
                (_, true) => to.iter_mut().zip(a).for_each(|(t, &x)| *t |= x >> by),
            }
        }
    }

    fn gather(&mut self, to: u32, from: (u32, u32), at: (u32, u32), width: u32) {
        let lanes = self.lanes;
        let (before, after) = self.words.split_at_mut(to as usize * lanes);
        let source = &before[from.0 as usize * lanes..][..from.1 as usize * lanes];
        let index = &before[at.0 as usize * lanes..][..lanes];
        let (mask, end) = (mask(width), u64::from(from.1) * 64);
        for (k, t) in after[..lanes].iter_mut().enumerate() {
            let offset = index[k].checked_mul(u64::from(at.1)).filter(|&o| o < end);
            *t = offset.map_or(0, |offset| {
                let (row, shift) = ((offset / 64) as usize, offset % 64);
                let low = source[row * lanes + k] >> shift;
                let high = source.get((row + 1) * lanes + k).copied().unwrap_or(0);
                let high = if shift == 0 { 0 } else { high << (64 - shift) };
                (low | high) & mask
            });
        }
    }

    fn double(&mut self, code: OpCode, width: u32, to: u32, a: u32, b: u32) {
        let lanes = self.lanes;
        let (before, after) = self.words.split_at_mut(to as usize * lanes);
        let value = |row: u32, k: usize| {
            let at = row as usize * lanes + k;
            u128::from(before[at]) | u128::from(before[at + lanes]) << 64
        };
        for k in 0..lanes {
            let result = narrow::double(code, width, value(a, k), value(b, k));
            after[k] = result as u64;
            if !narrow::is_comparison(code) {
                after[lanes + k] = (result >> 64) as u64;
            }
        }
    }

    fn bits(&mut self, to: u32, a: u32, shift: u32, width: u32, second: bool) {
        let lanes = self.lanes;
        let (before, after) = self.words.split_at_mut(to as usize * lanes);
        let low = &before[a as usize * lanes..][..lanes];
        let mask = mask(width);
        if second {
            let high = &before[(a + 1) as usize * lanes..][..lanes];
            for (k, t) in after[..lanes].iter_mut().enumerate() {
                *t = (low[k] >> shift | high[k] << (64 - shift)) & mask;
            }
        } else {
            after[..lanes]
                .iter_mut()
                .zip(low)
                .for_each(|(t, &x)| *t = x >> shift & mask);
        }
    }
}

#[cfg(test)]
mod tests;
