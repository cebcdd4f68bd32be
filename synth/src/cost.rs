//! What instructions cost.
//!
//! In: a table of patterns over mnemonics. Out: the [`Weight`] of each member; what whole
//! programs cost is in [`crate::estimate`]. Costs are data: the
//! tables stand in `isa-specs/<isa>/cost/`. The unit is a tenth of a cycle, so that sums
//! are exact and the order of candidates is the same on every machine.

use autoir::instructions::Implementation;
use semantics::instruction::{Element, Form, Operand, Role};
use semantics::spelling::is_like;
use target::processor::Processor;

/// A cost in tenths of a cycle.
pub type Cost = u32;

/// What an instruction costs: time until its result is there, and time until the next one
/// of its kind can start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Timing {
    /// Latency in tenths of a cycle.
    pub latency: Cost,
    /// Reciprocal throughput in tenths of a cycle.
    pub throughput: Cost,
}

/// One row: a mnemonic pattern (`*` stands for any run of characters), optionally for one
/// register width only.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CostRow {
    /// The pattern, lower case.
    pub mnemonic: String,
    /// The register width in bits that the row is for; any when absent.
    pub width: Option<u32>,
    /// The timing.
    pub timing: Timing,
    /// What it competes for with all others of that name; none when not known.
    pub resource: Option<String>,
}

/// What the cost of a program is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Rule {
    /// The larger of the longest path of latencies and the time for which the busiest
    /// resource is taken.
    #[default]
    Pressure,
    /// All latencies, added.
    LatencySum,
}

impl Rule {
    /// What an instruction counts for in a search that adds: its latency, and its share of
    /// the machine where that matters.
    pub fn share(self, weight: &Weight) -> Cost {
        match self {
            Rule::Pressure => weight.timing.latency + weight.timing.throughput,
            Rule::LatencySum => weight.timing.latency,
        }
    }
}

/// What one instruction costs, and on what.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Weight {
    /// Its timing.
    pub timing: Timing,
    /// What it competes for; instructions of which this is not known compete for one thing.
    pub resource: Option<String>,
    /// Whether it works on numbers or masks, which are held in other registers than vectors.
    pub of_numbers: bool,
}

/// The cost table of one CPU model.
#[derive(Clone, PartialEq, Debug)]
pub struct CostTable {
    /// The CPU model.
    pub model: String,
    /// What programs cost.
    pub rule: Rule,
    /// Rows; the first that matches counts.
    pub rows: Vec<CostRow>,
    /// What no row matches.
    pub default: Timing,
    /// What the processor takes besides instructions.
    pub processor: Processor,
}

impl CostTable {
    /// All instructions take as long as each other, and all else what it takes where nothing is known.
    pub fn uniform(model: &str, latency: Cost, throughput: Cost) -> CostTable {
        CostTable {
            model: model.to_owned(),
            rule: Rule::Pressure,
            rows: Vec::new(),
            default: Timing {
                latency,
                throughput,
            },
            processor: Processor::default(),
        }
    }

    /// What a mnemonic costs at a register width.
    pub fn weight(&self, mnemonic: &str, width: u32) -> Weight {
        let name = looked_up(mnemonic);
        let row = self.rows.iter().find(|r| r.matches(&name, width));
        Weight {
            timing: row.map_or(self.default, |r| r.timing),
            resource: row.and_then(|r| r.resource.clone()),
            of_numbers: false,
        }
    }

    /// What an instruction costs.
    pub fn of(&self, instruction: &Implementation) -> Weight {
        if instruction.form == Form::Free {
            return Weight::default();
        }
        let operands = instruction.operands.iter().map(|o| o.width);
        let width = operands.chain([instruction.width]).max().unwrap_or(0);
        let mnemonic = instruction.mnemonic.as_deref();
        Weight {
            of_numbers: of_numbers(instruction),
            ..self.weight(mnemonic.unwrap_or(&instruction.instruction), width)
        }
    }

    /// What an instruction counts for in a search that adds: its latency, and its share of
    /// the machine where that matters.
    pub fn share(&self, weight: &Weight) -> Cost {
        self.rule.share(weight)
    }
}

impl CostRow {
    /// Whether the row is for instructions of that name ([`looked_up`]) at a register width.
    pub fn matches(&self, name: &str, width: u32) -> bool {
        self.width.is_none_or(|w| w == width) && is_like(&self.mnemonic, name)
    }
}

/// What rows are matched with: a mnemonic's first word, in small letters.
pub fn looked_up(mnemonic: &str) -> String {
    let first = mnemonic.split_whitespace().next();
    first.unwrap_or_default().to_ascii_lowercase()
}

/// Whether all that an instruction takes from registers and its result are single elements or masks.
fn of_numbers(instruction: &Implementation) -> bool {
    let held = |o: &&Operand| matches!(o.role, Role::Register | Role::Mask);
    let operands = instruction.operands.iter().filter(held);
    let mut all = operands.map(|o| (o.element, o.width));
    let number = |(element, width): (Element, u32)| {
        element == Element::Mask || element.width() == Some(width)
    };
    number((instruction.element, instruction.width)) && all.all(number)
}
