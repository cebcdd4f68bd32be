//! Rows of cells, and which of them were written.
//!
//! In: rows, columns, values. Out: values, or why there is none.

use super::Fault;
use semantics::machine::procedure::CellArray;

/// An array of cells.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    name: String,
    rows: usize,
    columns: usize,
    cells: Vec<i64>,
    /// A bit for each cell of a row that was written.
    written: Vec<u64>,
}

impl Rows {
    pub(super) fn new(from: &CellArray) -> Rows {
        let (rows, columns) = (from.rows as usize, from.columns as usize);
        Rows {
            name: from.name.clone(),
            rows,
            columns,
            cells: vec![0; rows * columns],
            written: vec![0; rows],
        }
    }

    /// All zeros.
    pub(super) fn blank(&mut self) {
        self.cells.fill(0);
        self.written.fill(u64::MAX);
    }

    /// Where cells from a column on begin.
    fn place(&self, row: i64, column: i64, count: usize) -> Result<(usize, usize), Fault> {
        let found = usize::try_from(row).ok().filter(|r| *r < self.rows);
        let Some(r) = found else {
            return Err(no_row(&self.name, row, self.rows));
        };
        let found = usize::try_from(column).ok();
        match found.filter(|c| c + count <= self.columns) {
            Some(c) => Ok((r, c)),
            None => Err(Fault(
                format!(
                    "a row of `{}` has no cells {column} to {}",
                    self.name,
                    column + count as i64 - 1
                ),
                format!("it has {}, from 0", self.columns),
            )),
        }
    }

    /// Neighbours of a row that were all written.
    pub(super) fn run(&self, row: i64, column: i64, count: usize) -> Result<&[i64], Fault> {
        let (r, c) = self.place(row, column, count)?;
        let wanted = mask(count) << c;
        if self.written[r] & wanted != wanted {
            let missing = (wanted & !self.written[r]).trailing_zeros();
            return Err(Fault(
                format!(
                    "the row {row} of `{}` is read, and its cell {missing} was never written",
                    self.name
                ),
                "load it or write a result there before".to_owned(),
            ));
        }
        let start = r * self.columns + c;
        Ok(&self.cells[start..start + count])
    }

    /// The same, to be written.
    pub(super) fn run_mut(
        &mut self,
        row: i64,
        column: i64,
        count: usize,
    ) -> Result<&mut [i64], Fault> {
        let (r, c) = self.place(row, column, count)?;
        self.written[r] |= mask(count) << c;
        let start = r * self.columns + c;
        Ok(&mut self.cells[start..start + count])
    }

    pub(super) fn get(&self, row: i64, column: i64) -> Result<i64, Fault> {
        Ok(self.run(row, column, 1)?[0])
    }

    pub(super) fn put(&mut self, row: i64, column: i64, value: i64) -> Result<(), Fault> {
        self.run_mut(row, column, 1)?[0] = value;
        Ok(())
    }
}

/// A row beyond the last.
pub(super) fn no_row(name: &str, row: i64, rows: usize) -> Fault {
    Fault(
        format!("`{name}` has no row {row}"),
        format!("there are {rows}, from 0"),
    )
}

fn mask(count: usize) -> u64 {
    match count {
        64.. => u64::MAX,
        _ => !(u64::MAX << count),
    }
}
