//! The scalar instructions of a host, by their meaning.
//!
//! In: a machine. Out: [`Host`]: which of its instructions adds, loads, compares and so on,
//! with the operands in a known order. No mnemonic is looked at: an instruction is what was
//! looked for when its meaning is proved equal to that, or for those without a prover when it is
//! written like that.

use crate::program::Placed;
use semantics::build as b;
use semantics::machine::{Machine, MachineInstruction, OperandKind};
use semantics::sort::Sort;
use semantics::term::Term;
use semantics::unroll::unroll;
use smt::config::Config;
use smt::prover::Prover;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

/// An instruction and its operands in the order in which [`Host`] gives their values.
#[derive(Clone, Debug)]
pub struct Known {
    pub(crate) instruction: usize,
    operands: Vec<usize>,
}

impl Known {
    /// The instruction with the values of all operands.
    pub fn placed(&self, given: &[i64]) -> Placed {
        (self.instruction, self.values(given))
    }

    /// The instruction.
    pub fn instruction(&self) -> usize {
        self.instruction
    }

    /// Which of its operands is the one with this number in that order.
    pub fn operand(&self, number: usize) -> usize {
        self.operands[number]
    }

    /// The values of all operands.
    pub(crate) fn values(&self, given: &[i64]) -> Vec<i64> {
        let mut values = vec![0; self.operands.len()];
        for (&operand, &value) in self.operands.iter().zip(given) {
            values[operand] = value;
        }
        values
    }
}

/// Operations of two registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Binary {
    /// Their sum.
    Add,
    /// Their difference.
    Sub,
    /// Their product.
    Mul,
    /// Bits in both.
    And,
    /// Bits in one or both.
    Or,
    /// Bits in one.
    Xor,
    /// 1 where the first is less, with signs.
    Less,
    /// The first shifted to the left by the second, which is less than a register has bits.
    ShiftLeft,
    /// The same to the right, with the sign.
    ShiftRight,
    /// The same without it.
    ShiftRightLogical,
    /// The upper half of the product, with signs.
    HighProduct,
    /// The same without signs.
    HighProductUnsigned,
    /// The quotient of words of 32 bits with signs, rounded to zero; its sign is copied.
    Quotient,
    /// The same without signs; the highest bit of the word is copied.
    QuotientUnsigned,
    /// What [`Binary::Quotient`] leaves over.
    Remainder,
    /// What [`Binary::QuotientUnsigned`] leaves over.
    RemainderUnsigned,
}

impl Binary {
    /// Whether an instruction for it is only recognised as it is written: proofs of products and quotients
    /// take long.
    fn as_written(self) -> bool {
        use Binary as B;
        matches!(
            self,
            B::Mul
                | B::HighProduct
                | B::HighProductUnsigned
                | B::Quotient
                | B::QuotientUnsigned
                | B::Remainder
                | B::RemainderUnsigned
        )
    }
}

/// Comparisons that branch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Branch {
    /// They are equal.
    Equal,
    /// They are not.
    Different,
    /// The first is less, with signs.
    Less,
    /// It is not.
    NotLess,
}

/// The scalar instructions of a host.
#[derive(Clone, Debug)]
pub struct Host {
    /// The file of scalar registers.
    pub(crate) file: usize,
    /// Bits of a scalar register.
    pub(crate) width: u32,
    /// The register that is zero.
    pub zero: i64,
    /// Bits of constants that are added.
    pub(crate) low: u32,
    /// Target, source, constant.
    pub add_constant: Known,
    /// Target, constant; by how many bits it is shifted, and how many it has.
    pub(crate) upper: (Known, u32, u32),
    /// Target, source, count.
    pub(crate) shift_left: Option<Known>,
    pub(crate) shift_right: Option<Known>,
    binary: Vec<(Binary, Known)>,
    /// By bytes and sign: target, base, constant.
    loads: Vec<((u32, bool), Known)>,
    /// By bytes: value, base, constant.
    stores: Vec<(u32, Known)>,
    /// Two registers, distance.
    branches: Vec<(Branch, Known)>,
    /// The register that gets the address behind it, distance.
    pub jump: Option<Known>,
}

impl Host {
    /// The scalar instructions of a machine.
    ///
    /// # Errors
    /// What is missing without which nothing can be computed.
    pub fn of(machine: &Machine) -> Result<Host, String> {
        host(machine, &Prover::new(Config::default()))
    }

    /// Code after which a register holds a constant: upper and lower bits, and of one that is
    /// wider than that its upper part, shifted.
    pub fn constant(&self, register: i64, value: i64) -> Vec<Placed> {
        let half = 1_i64 << (self.low - 1);
        let low = (value.wrapping_add(half)).rem_euclid(2 * half) - half;
        let high = value.wrapping_sub(low);
        let (upper, shift, bits) = &self.upper;
        let wide = self.width > shift + bits;
        let (mut from, mut code) = (self.zero, Vec::new());
        if high != 0 && wide && high != high << (64 - shift - bits) >> (64 - shift - bits) {
            let zeros = high.trailing_zeros();
            code = self.constant(register, high >> zeros);
            let shifted = self.shift_left.as_ref();
            code.extend(shifted.map(|s| s.placed(&[register, register, i64::from(zeros)])));
            from = register;
        } else if high != 0 {
            code.push(upper.placed(&[register, high >> shift & ((1 << bits) - 1)]));
            from = register;
        }
        if low != 0 || high == 0 {
            code.push(self.add_constant.placed(&[register, from, low]));
        }
        code
    }

    /// Whether a constant can be added by one instruction.
    pub fn fits(&self, value: i64) -> bool {
        let half = 1_i64 << (self.low - 1);
        (-half..half).contains(&value)
    }

    /// The instruction for an operation: target, two registers.
    pub fn binary(&self, op: Binary) -> Option<&Known> {
        self.binary.iter().find(|k| k.0 == op).map(|k| &k.1)
    }

    /// The file of scalar registers.
    pub fn file(&self) -> usize {
        self.file
    }

    /// The instruction that shifts to the left: target, source, count.
    pub fn shift_left(&self) -> Option<&Known> {
        self.shift_left.as_ref()
    }

    pub(crate) fn load(&self, bytes: u32, signed: bool) -> Option<&Known> {
        let found = self.loads.iter().find(|k| k.0 == (bytes, signed));
        found.map(|k| &k.1)
    }

    pub(crate) fn store(&self, bytes: u32) -> Option<&Known> {
        self.stores.iter().find(|k| k.0 == bytes).map(|k| &k.1)
    }

    /// The instruction for a branch: two registers, distance.
    pub fn branch(&self, when: Branch) -> Option<&Known> {
        self.branches.iter().find(|k| k.0 == when).map(|k| &k.1)
    }
}

/// Operands of an instruction by what they are.
struct Parts<'m> {
    found: &'m MachineInstruction,
    index: usize,
    target: Option<usize>,
    sources: Vec<usize>,
    constants: Vec<(usize, u32, bool)>,
}

impl Parts<'_> {
    fn new(machine: &Machine, index: usize) -> Option<Parts<'_>> {
        let found = &machine.instructions[index];
        let (mut target, mut sources, mut constants) = (None, Vec::new(), Vec::new());
        for (k, operand) in found.operands.iter().enumerate() {
            match operand.kind {
                OperandKind::Register { file, .. } if machine.files[file].foreign => return None,
                OperandKind::Register { written: true, .. } => target = Some(k),
                OperandKind::Register { .. } => sources.push(k),
                OperandKind::Immediate {
                    width,
                    signed,
                    target: _,
                } => constants.push((k, width, signed)),
            }
        }
        Some(Parts {
            found,
            index,
            target,
            sources,
            constants,
        })
    }

    fn var(&self, operand: usize, width: u32) -> Term {
        Term::var(&self.found.operands[operand].name, Sort::Bv(width))
    }

    /// A constant as wide as a register.
    fn constant(&self, at: usize, width: u32) -> Term {
        let (operand, bits, signed) = self.constants[at];
        let constant = self.var(operand, bits);
        match signed {
            true => b::sext(constant, width),
            false => b::zext(constant, width),
        }
    }

    fn known(&self, operands: Vec<usize>) -> Known {
        Known {
            instruction: self.index,
            operands,
        }
    }

    fn term(&self) -> Option<Term> {
        let [output] = self.found.instruction.outputs.as_slice() else {
            return None;
        };
        Some(unroll(output.term))
    }
}

/// Bits of a register that an instruction for upper bits sets.
const UPPER: u32 = 32;

/// The scalar instructions of a machine.
///
/// # Errors
/// What is missing without which nothing can be computed.
pub(crate) fn host(machine: &Machine, prover: &Prover) -> Result<Host, String> {
    let same = |found: Term, wanted: Term| {
        if found == wanted || found.sort() != wanted.sort() {
            return found == wanted;
        }
        let mut all = EQUAL.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.entry((found, wanted));
        *known.or_insert_with(|| prover.prove_equal(found, wanted).is_proved())
    };
    known(machine, &same)
}

/// Meanings that were asked about: every candidate of a search asks for the same.
static EQUAL: LazyLock<Mutex<HashMap<(Term, Term), bool>>> = LazyLock::new(Mutex::default);

/// The scalar instructions of a machine whose meanings are written as they are looked for.
///
/// # Errors
/// What is missing without which nothing can be computed.
pub(crate) fn host_as_written(machine: &Machine) -> Result<Host, String> {
    known(machine, &|found, wanted| found == wanted)
}

fn known(machine: &Machine, same: &Same<'_>) -> Result<Host, String> {
    let width = machine.address;
    let mut files = machine.files.iter().enumerate();
    let (file, zero) = files
        .find_map(|(k, f)| (!f.foreign && f.width == width).then_some((k, f.zero?)))
        .ok_or("no scalar register is zero")?;
    let (mut add_constant, mut high, mut shift_left, mut shift_right) = (None, None, None, None);
    let mut jump = None;
    let (mut binary, mut loads, mut stores, mut branches) = (vec![], vec![], vec![], vec![]);
    for index in 0..machine.instructions.len() {
        let Some(parts) = Parts::new(machine, index) else {
            continue;
        };
        if let Some(known) = jump_of(&parts, machine, same) {
            jump = jump.or(Some(known));
            continue;
        }
        let Some(term) = parts.term() else { continue };
        match (parts.target, parts.sources.len(), parts.constants.len()) {
            (Some(target), 2, 0) => {
                let (x, y) = (parts.sources[0], parts.sources[1]);
                if let Some(op) = binary_of(term, parts.var(x, width), parts.var(y, width), same) {
                    binary.push((op, parts.known(vec![target, x, y])));
                }
            }
            (Some(target), 1, 1) => {
                let x = parts.var(parts.sources[0], width);
                let constant = parts.constant(0, width);
                let known = || parts.known(vec![target, parts.sources[0], parts.constants[0].0]);
                if same(term, b::add(x, constant)) {
                    add_constant = add_constant.or(Some((known(), parts.constants[0].1)));
                } else if same(term, b::shl(x, constant)) {
                    shift_left = shift_left.or(Some(known()));
                } else if same(term, b::ashr(x, constant)) {
                    shift_right = shift_right.or(Some(known()));
                } else if let Some(kind) = load_of(term, b::add(x, constant), same) {
                    loads.push((kind, known()));
                }
            }
            (Some(target), 0, 1) => {
                let (constant, bits, _) = parts.constants[0];
                // Of a wide register the lower half is set, and the sign of it is copied upwards.
                let part = width.min(UPPER);
                let shift = part.saturating_sub(bits);
                let wide = b::zext(parts.var(constant, bits), part);
                let shifted = b::shl(wide, Term::bv(part, i128::from(shift)));
                if same(term, b::sext(shifted, width)) {
                    high = Some((parts.known(vec![target, constant]), shift, bits));
                }
            }
            (None, 2, 1) => {
                let (x, y) = (parts.sources[0], parts.sources[1]);
                let constant = parts.constants[0].0;
                if let Some((bytes, swapped)) = store_of(&parts, term, width, same) {
                    let (value, base) = if swapped { (y, x) } else { (x, y) };
                    stores.push((bytes, parts.known(vec![value, base, constant])));
                } else if let Some(when) = branch_of(&parts, term, machine, same) {
                    branches.push((when, parts.known(vec![x, y, constant])));
                }
            }
            _ => {}
        }
    }
    let (add_constant, low) =
        add_constant.ok_or("no instruction adds a constant to a scalar register")?;
    Ok(Host {
        file,
        width,
        zero: i64::from(zero),
        low,
        add_constant,
        upper: high.ok_or("no instruction sets the upper bits of a scalar register")?,
        shift_left,
        shift_right,
        binary,
        loads,
        stores,
        branches,
        jump,
    })
}

type Same<'s> = dyn Fn(Term, Term) -> bool + 's;

fn binary_of(term: Term, x: Term, y: Term, same: &Same<'_>) -> Option<Binary> {
    let width = term.sort().width()?;
    if x.sort() != term.sort() {
        return None;
    }
    let one = |c: Term| b::ite(c, Term::bv(width, 1), Term::bv(width, 0));
    let count = b::and(y, Term::bv(width, i128::from(width) - 1));
    let high = |x: Term, y: Term| b::extract(b::mul(x, y), width, width);
    let (x_wide, y_wide) = (b::sext(x, 2 * width), b::sext(y, 2 * width));
    let (x_long, y_long) = (b::zext(x, 2 * width), b::zext(y, 2 * width));
    let bits = width.min(WORD);
    let (x_word, y_word) = (b::extract(x, 0, bits), b::extract(y, 0, bits));
    let by_zero = |t: Term| {
        let ones = Term::bv(bits, -1);
        b::ite(b::eq(y_word, b::zero(bits)), ones, t)
    };
    let word = |t: Term| b::sext(t, width);
    let all = [
        (Binary::Add, b::add(x, y)),
        (Binary::Sub, b::sub(x, y)),
        (Binary::Mul, b::mul(x, y)),
        (Binary::And, b::and(x, y)),
        (Binary::Or, b::or(x, y)),
        (Binary::Xor, b::xor(x, y)),
        (Binary::Less, one(b::slt(x, y))),
        (Binary::ShiftLeft, b::shl(x, count)),
        (Binary::ShiftRight, b::ashr(x, count)),
        (Binary::ShiftRightLogical, b::lshr(x, count)),
        (Binary::HighProduct, high(x_wide, y_wide)),
        (Binary::HighProductUnsigned, high(x_long, y_long)),
        (Binary::Quotient, word(by_zero(b::sdiv(x_word, y_word)))),
        (Binary::QuotientUnsigned, word(b::udiv(x_word, y_word))),
        (Binary::Remainder, word(b::srem(x_word, y_word))),
        (Binary::RemainderUnsigned, word(b::urem(x_word, y_word))),
    ];
    let found = all.iter().find(|a| a.1 == term);
    let found = found.or_else(|| all.iter().find(|a| !a.0.as_written() && same(term, a.1)));
    found.map(|a| a.0)
}

/// Bits of the words that are divided.
const WORD: u32 = 32;

fn load_of(term: Term, address: Term, same: &Same<'_>) -> Option<(u32, bool)> {
    let width = term.sort().width()?;
    let memory = Term::var("mem", Sort::Mem);
    let address = b::zext(address, 64);
    for bytes in [8_u32, 4, 2, 1].into_iter().filter(|n| 8 * n <= width) {
        let there = b::read(memory, address, bytes);
        let signed = b::sext(there, width);
        let unsigned = b::zext(there, width);
        if same(term, signed) {
            return Some((bytes, true));
        }
        if same(term, unsigned) {
            return Some((bytes, false));
        }
    }
    None
}

/// Bytes that are stored, and whether the first register is the address.
fn store_of(parts: &Parts<'_>, term: Term, width: u32, same: &Same<'_>) -> Option<(u32, bool)> {
    if term.sort() != Sort::Mem {
        return None;
    }
    let memory = Term::var("mem", Sort::Mem);
    let constant = parts.constant(0, width);
    for swapped in [false, true] {
        let (value, base) = match swapped {
            false => (parts.sources[0], parts.sources[1]),
            true => (parts.sources[1], parts.sources[0]),
        };
        let address = b::zext(b::add(parts.var(base, width), constant), 64);
        for bytes in [8_u32, 4, 2, 1].into_iter().filter(|n| 8 * n <= width) {
            let value = b::extract(parts.var(value, width), 0, 8 * bytes);
            if same(term, b::write(memory, address, value)) {
                return Some((bytes, swapped));
            }
        }
    }
    None
}

/// An instruction that goes somewhere and says from where.
fn jump_of(parts: &Parts<'_>, machine: &Machine, same: &Same<'_>) -> Option<Known> {
    let width = machine.address;
    let [(constant, ..)] = parts.constants.as_slice() else {
        return None;
    };
    let target = parts.target?;
    let [a, other] = parts.found.instruction.outputs.as_slice() else {
        return None;
    };
    let name = &parts.found.operands[target].name;
    let (link, next) = if a.name == *name {
        (a, other)
    } else {
        (other, a)
    };
    let pc = Term::var("pc", Sort::Bv(width));
    let behind = b::add(pc, Term::bv(width, i128::from(machine.word)));
    let goes = same(unroll(next.term), b::add(pc, parts.constant(0, width)));
    let known = parts.sources.is_empty() && goes && same(unroll(link.term), behind);
    known.then(|| parts.known(vec![target, *constant]))
}

fn branch_of(parts: &Parts<'_>, term: Term, machine: &Machine, same: &Same<'_>) -> Option<Branch> {
    let width = machine.address;
    if term.sort() != Sort::Bv(width) {
        return None;
    }
    let pc = Term::var("pc", Sort::Bv(width));
    let (x, y) = (
        parts.var(parts.sources[0], width),
        parts.var(parts.sources[1], width),
    );
    let there = b::add(pc, parts.constant(0, width));
    let next = b::add(pc, Term::bv(width, i128::from(machine.word)));
    let when = |c: Term| b::ite(c, there, next);
    let all = [
        (Branch::Equal, when(b::eq(x, y))),
        (Branch::Different, when(b::negate(b::eq(x, y)))),
        (Branch::Less, when(b::slt(x, y))),
        (Branch::NotLess, when(b::sle(y, x))),
    ];
    all.into_iter().find(|a| same(term, a.1)).map(|a| a.0)
}
