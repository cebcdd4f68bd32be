//! Procedures: what an instruction does to state that is declared, step by step.
//!
//! In: built by the dialects of `spec-parser`. Out: the types. A tile register is one wide
//! value, and the meaning of an instruction on it is a term; a scratchpad of thousands of
//! rows and configuration that decides what later instructions do are neither. Their
//! instructions are procedures over arrays of cells and configuration fields, with loops and
//! conditions over values that are known only when they run. [`super::arithmetic`] computes,
//! [`super::effects`] tells what is read and written, [`super::symbolic`] gives terms. Each
//! node knows its type; nothing is converted silently.

use crate::instruction::Element;

/// Rows of cells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CellArray {
    /// Its name.
    pub name: String,
    /// How many rows there are.
    pub rows: u32,
    /// Cells of a row, at most [`MAX_COLUMNS`].
    pub columns: u32,
    /// What a cell holds.
    pub element: Element,
}

/// The most cells of a row.
pub const MAX_COLUMNS: u32 = 64;

/// A configuration field, or several of one name that are numbered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigField {
    /// Its name.
    pub name: String,
    /// How many there are.
    pub count: u32,
    /// What it holds.
    pub element: Element,
    /// What it holds after a reset; unknown when that is not told.
    pub reset: Option<i64>,
    /// Where the first lies among all fields of the machine.
    pub first: usize,
}

/// A part of the machine that works on its instructions in order, beside the others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Queue {
    /// Its name.
    pub name: String,
    /// Cycles after its work until the result is there for other queues.
    pub latency: u64,
    /// How many instructions it holds; the host waits while it is full.
    pub entries: usize,
}

/// What a machine's instructions work on beside registers and memory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct State {
    /// Arrays of cells.
    pub arrays: Vec<CellArray>,
    /// Configuration.
    pub fields: Vec<ConfigField>,
    /// What works in parallel, each on its instructions in order.
    pub queues: Vec<Queue>,
    /// Whether memory is settled only by an instruction that says so: until then, what was
    /// written must not be read by another queue or the host.
    pub relaxed: bool,
}

impl State {
    /// How many fields there are, each of a number counted.
    pub fn field_count(&self) -> usize {
        self.fields.iter().map(|f| f.count as usize).sum()
    }

    /// The name of a field by its place among all.
    pub fn field_name(&self, at: usize) -> String {
        let holds = |f: &&ConfigField| (f.first..f.first + f.count as usize).contains(&at);
        match self.fields.iter().find(holds) {
            Some(f) if f.count > 1 => format!("{}[{}]", f.name, at - f.first),
            Some(f) => f.name.clone(),
            None => String::new(),
        }
    }

    /// The place of a field of that name that is not numbered, or of its first.
    pub fn field(&self, name: &str) -> Option<usize> {
        self.fields.iter().find(|f| f.name == name).map(|f| f.first)
    }
}

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Value {
    /// What it is.
    pub kind: ValueKind,
    /// Its type; of a condition [`Element::Mask`].
    pub element: Element,
}

/// What an expression is. Integers are kept sign- or zero-extended to 64 bits, floats of 32
/// bits as their bits, conditions as 0 or 1.
#[derive(Clone, PartialEq, Debug)]
pub enum ValueKind {
    /// A constant.
    Constant(i64),
    /// A name or the variable of a loop, by its slot.
    Local(usize),
    /// An operand.
    Operand(usize),
    /// A field: the first of its name, and which one of them.
    Field(usize, Box<Value>),
    /// A cell: array, row, column. Arrays of the procedure itself come after the machine's.
    Cell(usize, Box<Value>, Box<Value>),
    /// An element of memory at an address.
    Memory(Box<Value>),
    /// An operator on one value.
    Unary(Unary, Box<Value>),
    /// An operator on two values; comparisons are of the type of their operands.
    Binary(Binary, Box<Value>, Box<Value>),
    /// The second when the first holds, else the third; both are computed.
    Select(Box<Value>, Box<Value>, Box<Value>),
}

/// Operators on one value; the type of the expression is that of the result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unary {
    /// The same number; integers are cut to the width, to a float is rounded to nearest even.
    Convert,
    /// The nearest number of the type: a float goes to the nearest integer, ties to even;
    /// what lies outside is clamped. 0 for a NaN.
    Saturate,
    /// The bits, read as a float of 32 bits.
    AsFloat,
    /// Complement of every bit, or of a condition.
    Not,
    /// Whether a float is neither infinite nor a NaN.
    IsFinite,
}

/// Operators on two values of one type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Binary {
    /// Sum; integers wrap, floats round to nearest even.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Euclidean quotient, 0 by 0; integers only.
    Div,
    /// Euclidean remainder, 0 by 0; integers only.
    Rem,
    /// Bitwise and; of conditions both.
    And,
    /// Bitwise or; of conditions either.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Left shift; past the width 0.
    Shl,
    /// Right shift, of a signed number with its sign; past the width that alone is left.
    Shr,
    /// Right shift of a signed number that rounds to nearest even; nothing on a float.
    RoundShr,
    /// The lesser.
    Min,
    /// The greater.
    Max,
    /// Equality.
    Equal,
    /// Less.
    Below,
    /// At most.
    AtMost,
}

impl Binary {
    /// Whether the result is a condition.
    pub fn compares(self) -> bool {
        matches!(self, Binary::Equal | Binary::Below | Binary::AtMost)
    }
}

/// A step.
#[derive(Clone, PartialEq, Debug)]
pub enum Action {
    /// Names a value.
    Let(usize, Value),
    /// Writes a field: the first of its name, which one of them, the value.
    Field(usize, Value, Value),
    /// Writes a cell: array, row, column, value.
    Cell(usize, Value, Value, Value),
    /// Writes an element of memory.
    Memory(Value, Value),
    /// One of two.
    If(Value, Vec<Action>, Vec<Action>),
    /// From the first to the second, which is not reached.
    For(usize, Value, Value, Vec<Action>),
    /// What must hold, or the rest is undefined.
    Require(Value, String),
    /// A queue works for that many cycles on what was read and written since the last.
    Spend(usize, Value),
    /// Another procedure with values for its operands.
    Perform(usize, Vec<Value>),
    /// Memory is settled.
    Settle,
    /// An array of the procedure begins with zeros.
    Blank(usize),
}

/// What is done to declared state.
#[derive(Clone, PartialEq, Debug)]
pub struct Procedure {
    /// Its name: the mnemonic where it is an instruction.
    pub name: String,
    /// The names of its operands; all are read as signed numbers of 64 bits.
    pub operands: Vec<String>,
    /// How many slots its names and loops need.
    pub slots: usize,
    /// Its own arrays.
    pub arrays: Vec<CellArray>,
    /// The steps.
    pub body: Vec<Action>,
}

impl Value {
    /// A number of 64 bits.
    pub fn number(n: i64) -> Value {
        Value {
            kind: ValueKind::Constant(n),
            element: Element::Signed(64),
        }
    }

    /// Calls `f` with the parts.
    pub fn for_each_part<'v>(&'v self, f: &mut impl FnMut(&'v Value)) {
        match &self.kind {
            ValueKind::Constant(_) | ValueKind::Local(_) | ValueKind::Operand(_) => {}
            ValueKind::Field(_, a) | ValueKind::Memory(a) | ValueKind::Unary(_, a) => f(a),
            ValueKind::Cell(_, a, b) | ValueKind::Binary(_, a, b) => {
                f(a);
                f(b);
            }
            ValueKind::Select(a, b, c) => {
                f(a);
                f(b);
                f(c);
            }
        }
    }

    /// Whether it is computed from the slot.
    pub fn mentions(&self, slot: usize) -> bool {
        let mut found = self.kind == ValueKind::Local(slot);
        self.for_each_part(&mut |part| found |= part.mentions(slot));
        found
    }
}
