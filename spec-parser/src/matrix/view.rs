//! Views: what commands on declared state do to whole tiles, as functions of cells.
//!
//! In: an item whose encoding is `view`: tiles that it reads, the tile that it writes, and a
//! procedure that sets fields and performs commands. Out: an [`Instruction`] over the tiles,
//! found by running the procedure on terms. A command that works on a scratchpad is no
//! function of registers; with such a view it stands beside the instructions of other
//! machines, and what is compared is what the specification says, not a claim of the view.
//! It is no instruction of the machine and is never emitted.

use super::file::{RawInstruction, RawTile};
use super::place::wrong;
use super::state::Names;
use super::{lower, parser};
use crate::family::file::Item;
use crate::manifest::scalar_text;
use crate::roll::roll;
use semantics::build as b;
use semantics::diagnostic::{Diagnostic, suggest};
use semantics::instruction::{Element, Form, Instruction, Operand, Origin, Output, Role};
use semantics::machine::Machine;
use semantics::machine::symbolic::{Source, Symbolic, term};
use semantics::spelling;
use semantics::term::Term;
use serde_yaml::Value;
use std::collections::HashMap;

/// What an item that is a view has for its encoding.
pub(super) const VIEW: &str = "view";

/// The tile's array that stands for main memory.
const MEMORY: &str = "mem";

/// Where the cells of a tile are.
#[derive(Clone, Copy)]
enum Place {
    /// Rows of an array, by its index.
    Cells(usize),
    /// Elements of memory, one after the other.
    Memory,
}

struct Tile {
    place: Place,
    element: Element,
    at: i64,
    rows: i64,
    columns: i64,
}

impl Tile {
    fn element_width(&self) -> u32 {
        self.element.width().unwrap_or(64)
    }

    fn width(&self) -> u32 {
        u32::try_from(self.rows * self.columns).unwrap_or(u32::MAX) * self.element_width()
    }

    /// Row, column and lowest bit of each cell; the first row is least significant.
    fn cells(&self) -> impl Iterator<Item = (i64, i64, u32)> + '_ {
        let bit = |at: i64| u32::try_from(at).expect("bounded below") * self.element_width();
        (0..self.rows)
            .flat_map(move |r| (0..self.columns).map(move |c| (r, c, bit(r * self.columns + c))))
    }

    /// The address of a cell in memory.
    fn address(&self, row: i64, column: i64) -> i64 {
        self.at + (row * self.columns + column) * i64::from(self.element_width() / 8)
    }

    fn c_type(&self, machine: &Machine) -> String {
        let array = match self.place {
            Place::Cells(array) => machine.state.arrays[array].name.as_str(),
            Place::Memory => MEMORY,
        };
        format!("{array}[{}][{}]", self.rows, self.columns)
    }
}

/// Elements of memory by address.
struct Elements(HashMap<i64, (Element, Term)>);

impl Source for Elements {
    fn element(&mut self, address: i64, element: Element) -> Option<Term> {
        let found = self.0.get(&address).filter(|(e, _)| *e == element);
        found.map(|(_, term)| *term)
    }
}

/// The instruction that a view is; its procedure is the machine's last one.
pub(super) fn view(
    item: &Item<RawInstruction>,
    machine: &Machine,
    names: &Names,
) -> Result<Instruction, Diagnostic> {
    let mut tiles = Vec::new();
    for (key, value) in &item.raw.reads {
        let raw: RawTile = serde_yaml::from_value(value.clone()).map_err(|e| {
            let message = format!("a tile is not what was expected: {e}");
            let hint = "write `a: {array: spad, at: 0, rows: DIM}`";
            wrong(item, "reads", message, hint.to_owned())
        })?;
        let tile = tile(item, "reads", &raw, machine, names)?;
        tiles.push((scalar_text(key).unwrap_or_default(), tile));
    }
    let Some(raw) = &item.raw.writes else {
        let hint = "write `writes: {array: accumulator, at: 0, rows: DIM}`";
        let message = "a view has a tile that it writes".to_owned();
        return Err(wrong(item, "encoding", message, hint.to_owned()));
    };
    let result = tile(item, "writes", raw, machine, names)?;
    let commands = item.raw.syntax.split(',').map(str::trim);
    let known = || {
        machine
            .instructions
            .iter()
            .map(|i| i.instruction.name.as_str())
    };
    if let Some(name) = commands
        .into_iter()
        .find(|c| !c.is_empty() && !known().any(|k| k == *c))
    {
        let hint = match suggest(name, known()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`syntax` of a view names the commands that it is for".to_owned(),
        };
        let message = format!("`{name}` is no instruction");
        return Err(wrong(item, "syntax", message, hint));
    }
    let term = meaning(machine, &tiles, &result).map_err(|why| {
        let hint = "a view sets every field that its commands read".to_owned();
        wrong(item, "pseudocode", why, hint)
    })?;
    let operands = tiles.iter().map(|(name, tile)| Operand {
        name: name.clone(),
        c_type: tile.c_type(machine),
        element: tile.element,
        width: tile.width(),
        role: Role::Register,
    });
    let line = item.source.line(item.place().start);
    let made = Instruction {
        name: item.raw.instruction.clone(),
        isa: machine.isa.clone(),
        mnemonic: Some(item.raw.syntax.clone()).filter(|text| !text.is_empty()),
        operands: operands.collect(),
        outputs: vec![Output {
            name: "dst".to_owned(),
            c_type: result.c_type(machine),
            element: result.element,
            term,
            undefined: Vec::new(),
        }],
        features: Vec::new(),
        form: Form::Sequence,
        pseudocode: item.raw.pseudocode.clone(),
        origin: Origin {
            file: item.source.name().to_owned(),
            line: u32::try_from(line).unwrap_or(u32::MAX),
            ..Origin::default()
        },
    };
    let hint = || "these names stand in the code that is made".to_owned();
    spelling::instruction(&made).map_err(|m| wrong(item, "instruction", m, hint()))?;
    Ok(made)
}

fn tile(
    item: &Item<RawInstruction>,
    key: &str,
    raw: &RawTile,
    machine: &Machine,
    names: &Names,
) -> Result<Tile, Diagnostic> {
    let number = |value: &Value| {
        let text = scalar_text(value).unwrap_or_default();
        parser::formula(&text)
            .and_then(|formula| lower::constant(&formula, &names.parameters))
            .map_err(|refused| wrong(item, key, refused.message, refused.hint))
    };
    let arrays = &machine.state.arrays;
    let found = arrays.iter().position(|a| a.name == raw.array);
    let (place, element, columns) = match (found, &raw.columns, &raw.element) {
        (Some(at), None, None) => {
            let array = &arrays[at];
            (Place::Cells(at), array.element, i64::from(array.columns))
        }
        (None, Some(columns), Some(element)) if raw.array == MEMORY => {
            let Some(&element) = names.types.get(element) else {
                let message = format!("there is no type `{element}`");
                let known: Vec<&str> = names.types.keys().map(String::as_str).collect();
                return Err(wrong(
                    item,
                    key,
                    message,
                    format!("types are {}", known.join(", ")),
                ));
            };
            (Place::Memory, element, number(columns)?)
        }
        _ => {
            let message = format!("`{}` is no tile of this machine", raw.array);
            let all: Vec<&str> = arrays.iter().map(|a| a.name.as_str()).collect();
            let hint = format!(
                "rows of {}; or of `mem`, with `columns` and `type`",
                all.join(", ")
            );
            return Err(wrong(item, key, message, hint));
        }
    };
    let (at, rows) = (number(&raw.at)?, number(&raw.rows)?);
    if !(1..=256).contains(&rows) || !(1..=256).contains(&columns) {
        let message = format!("a tile of {rows} rows and {columns} columns cannot be");
        return Err(wrong(item, key, message, "up to 256 of each".to_owned()));
    }
    Ok(Tile {
        place,
        element,
        at,
        rows,
        columns,
    })
}

/// The tile that is written, over the tiles that are read.
fn meaning(machine: &Machine, tiles: &[(String, Tile)], result: &Tile) -> Result<Term, String> {
    let mut state = Symbolic::new(machine);
    let mut memory = Elements(HashMap::new());
    for (name, tile) in tiles {
        let all = Term::var(name, semantics::sort::Sort::Bv(tile.width()));
        for (row, column, bit) in tile.cells() {
            let cell = b::extract(all, bit, tile.element_width());
            match tile.place {
                Place::Cells(array) => state.set_cell(array, tile.at + row, column, cell),
                Place::Memory => {
                    let at = tile.address(row, column);
                    memory.0.insert(at, (tile.element, cell));
                }
            }
        }
    }
    state.perform(machine.procedures.len() - 1, &[], &mut memory)?;
    let mut pieces = Vec::new();
    for (row, column, _) in result.cells() {
        let (value, place) = match result.place {
            Place::Cells(array) => {
                let row = result.at + row;
                (state.cell_at(array, row, column), format!("row {row}"))
            }
            Place::Memory => {
                let at = result.address(row, column);
                (state.written.get(&at).copied(), format!("address {at:#x}"))
            }
        };
        let value = value.ok_or_else(|| format!("it does not write {place} of its result"))?;
        pieces.push(term(value, result.element));
    }
    Ok(roll(&pieces))
}
