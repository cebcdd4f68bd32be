//! What the files of a machine say, before anything is made of it.
//!
//! In: YAML. Out: the raw structures. Their meaning is [`super::load`]'s.

use serde::Deserialize;
use serde_yaml::{Mapping, Value};

/// `manifest.yaml` of a machine.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct RawMachine {
    pub(super) isa: String,
    #[serde(rename = "dialect")]
    pub(super) _dialect: String,
    pub(super) files: Vec<String>,
    /// Files of instructions on declared state.
    #[serde(default)]
    pub(super) procedures: Vec<String>,
    #[serde(default)]
    pub(super) parameters: Mapping,
    /// Names of types.
    #[serde(default)]
    pub(super) types: Mapping,
    #[serde(default)]
    pub(super) arrays: Mapping,
    #[serde(default)]
    pub(super) fields: Mapping,
    #[serde(default)]
    pub(super) queues: Mapping,
    pub(super) registers: Mapping,
    /// A known convention, or one that is written out.
    pub(super) abi: Option<Value>,
    pub(super) memory: RawMemory,
    pub(super) word: Value,
    pub(super) setup: Option<super::setup::RawSetup>,
    pub(super) c: Option<super::setup::RawSpelt>,
    pub(super) cost: Option<RawCost>,
    /// Other models of cost.
    #[serde(default)]
    pub(super) costs: Vec<RawCost>,
    #[serde(default)]
    pub(super) errata: Vec<super::erratum::RawErratum>,
    #[serde(default)]
    pub(super) roles: super::role::RawRoles,
}

/// What models of cost know.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCost {
    pub(super) model: Option<String>,
    pub(super) source: Option<String>,
    #[serde(default)]
    pub(super) holds: Mapping,
    pub(super) issue: Value,
    pub(super) taken: Option<Value>,
    #[serde(default)]
    pub(super) units: Vec<RawUnit>,
    pub(super) banks: Option<RawBanks>,
}

/// Banks of memory.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct RawBanks {
    pub(super) count: Value,
    pub(super) stripe: Value,
    pub(super) beat: Value,
}

/// What works beside the host.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct RawUnit {
    pub(super) unit: String,
    pub(super) cycles: Value,
    pub(super) latency: Value,
    pub(super) instructions: Vec<String>,
}

/// One kind of registers.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct RawRegisters {
    pub(super) count: Value,
    pub(super) width: Value,
    pub(super) row: Option<Value>,
    pub(super) zero: Option<u32>,
    #[serde(default)]
    pub(super) defined: bool,
    #[serde(default)]
    pub(super) foreign: bool,
    #[serde(default)]
    pub(super) aliases: String,
}

/// Memory.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct RawMemory {
    pub(super) address: Value,
    #[serde(default)]
    pub(super) aligned: bool,
    pub(super) fence: Option<String>,
    #[serde(default)]
    pub(super) coherent: bool,
    #[serde(default)]
    pub(super) relaxed: bool,
}

/// Rows of cells.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct RawArray {
    pub(super) rows: Value,
    pub(super) columns: Value,
    #[serde(rename = "type")]
    pub(super) element: String,
}

/// What works in parallel.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct RawQueue {
    pub(super) latency: Value,
    pub(super) entries: Value,
}

/// A configuration field.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct RawField {
    #[serde(rename = "type")]
    pub(super) element: String,
    pub(super) count: Option<Value>,
    pub(super) reset: Option<i64>,
}

/// One instruction.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct RawInstruction {
    pub(super) instruction: String,
    pub(super) doc: String,
    #[serde(default, rename = "note")]
    pub(super) _note: String,
    #[serde(default)]
    pub(super) operands: Mapping,
    #[serde(default)]
    pub(super) syntax: String,
    pub(super) encoding: String,
    #[serde(default)]
    pub(super) distinct: Vec<(String, String)>,
    /// Registers beside the operands, by name: `shape[td]`, `palette[0]`.
    #[serde(default)]
    pub(super) state: Mapping,
    /// The statement of C that it is.
    pub(super) c: Option<String>,
    /// The tiles that a view reads, by name.
    #[serde(default)]
    pub(super) reads: Mapping,
    /// The tile that a view writes.
    pub(super) writes: Option<RawTile>,
    pub(super) pseudocode: String,
}

/// An operand of a block: a size, a real number, or a tile.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct RawBlockOperand {
    pub(super) size: Option<Value>,
    pub(super) real: Option<String>,
    pub(super) array: Option<String>,
    #[serde(rename = "type")]
    pub(super) element: Option<String>,
    pub(super) rows: Option<Value>,
    pub(super) columns: Option<Value>,
}

/// Rows of an array, or elements of memory.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTile {
    pub(super) array: String,
    pub(super) at: Value,
    pub(super) rows: Value,
    pub(super) columns: Option<Value>,
    #[serde(rename = "type")]
    pub(super) element: Option<String>,
}
