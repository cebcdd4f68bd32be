//! Blocks: commands on declared state that do one thing to blocks of cells.
//!
//! In: an item whose encoding is `block`, with sizes, real numbers and tiles for operands.
//! Out: a [`Block`]. What it means is not asked here.

use super::file::{RawBlockOperand, RawInstruction};
use super::lower;
use super::parser;
use super::place::wrong;
use super::state::{self, Names};
use crate::family::file::Item;
use crate::manifest::scalar_text;
use semantics::diagnostic::Diagnostic;
use semantics::machine::Machine;
use semantics::machine::block::{Block, BlockOperand, Extent, stride};
use semantics::spelling::Spelling;
use serde_yaml::Value;

/// What an item that is a block has for its encoding.
pub(super) const BLOCK: &str = "block";

/// The tile's array that stands for main memory.
const MEMORY: &str = "mem";

type Operands = Vec<(String, BlockOperand)>;

/// The block of an item.
pub(super) fn block(
    item: &Item<RawInstruction>,
    machine: &Machine,
    names: &Names,
) -> Result<Block, Diagnostic> {
    let name = &item.raw.instruction;
    if machine.blocks.iter().any(|b| b.name == *name) {
        let hint = "give one another name".to_owned();
        return Err(wrong(
            item,
            "instruction",
            format!("the block `{name}` is there twice"),
            hint,
        ));
    }
    let named = |what: &str, text: &str| {
        let hint = "this name stands in the code that is made".to_owned();
        let spelt = Spelling::Identifier.check(what, text);
        spelt.map_err(|message| wrong(item, "instruction", message, hint))
    };
    named("the name of a block", name)?;
    let mut operands: Operands = Vec::new();
    for (key, value) in &item.raw.operands {
        let key = scalar_text(key).unwrap_or_default();
        named("the name of an operand", &key)?;
        let raw: RawBlockOperand = serde_yaml::from_value(value.clone()).map_err(|e| {
            let message = format!("the operand `{key}` is not what was expected: {e}");
            wrong(item, "operands", message, expected().to_owned())
        })?;
        let operand = operand(item, &raw, &operands, machine, names)?;
        operands.push((key, operand));
    }
    let mut plain = Vec::new();
    for (name, operand) in &operands {
        plain.push(name.clone());
        if let BlockOperand::Tile { array: None, .. } = operand {
            plain.push(stride(name));
        }
    }
    Ok(Block {
        name: name.clone(),
        doc: item.raw.doc.clone(),
        procedure: state::procedure(item, &plain, machine, names)?,
        operands,
    })
}

fn expected() -> &'static str {
    "write `{size: DIM}`, `{real: f32}`, or a tile: `{array: spad, rows: n, columns: m}`, in \
     `mem` with a `type`"
}

fn operand(
    item: &Item<RawInstruction>,
    raw: &RawBlockOperand,
    before: &Operands,
    machine: &Machine,
    names: &Names,
) -> Result<BlockOperand, Diagnostic> {
    let refused = |message: String| wrong(item, "operands", message, expected().to_owned());
    let number = |value: &Value| {
        let text = scalar_text(value).unwrap_or_default();
        parser::formula(&text)
            .and_then(|formula| lower::constant(&formula, &names.parameters))
            .map_err(|r| wrong(item, "operands", r.message, r.hint))
    };
    let extent = |value: &Value| {
        let text = scalar_text(value).unwrap_or_default();
        let known = |(name, o): &(String, BlockOperand)| {
            *name == text && matches!(o, BlockOperand::Size(_))
        };
        match before.iter().position(known) {
            Some(at) => Ok(Extent::Size(at)),
            None => number(value).map(Extent::Fixed),
        }
    };
    match (&raw.size, &raw.real, &raw.array, &raw.rows, &raw.columns) {
        (Some(most), None, None, None, None) if raw.element.is_none() => {
            let most = number(most)?;
            match (1..=256).contains(&most) {
                true => Ok(BlockOperand::Size(most)),
                false => Err(refused(format!(
                    "a size of up to {most} cannot be: 1 to 256"
                ))),
            }
        }
        (None, Some(kind), None, None, None) if kind == "f32" && raw.element.is_none() => {
            Ok(BlockOperand::Real)
        }
        (None, None, Some(array), Some(rows), Some(columns)) => {
            let arrays = &machine.state.arrays;
            let found = arrays.iter().position(|a| a.name == *array);
            let element = match (found, &raw.element) {
                (Some(at), None) => arrays[at].element,
                (None, Some(element)) if array == MEMORY => *names
                    .types
                    .get(element)
                    .ok_or_else(|| refused(format!("there is no type `{element}`")))?,
                _ => {
                    return Err(refused(format!(
                        "`{array}` is no array of this machine, or has a type of its own"
                    )));
                }
            };
            Ok(BlockOperand::Tile {
                array: found,
                element,
                rows: extent(rows)?,
                columns: extent(columns)?,
            })
        }
        _ => Err(refused(
            "an operand is a size, a real number or a tile".to_owned(),
        )),
    }
}
