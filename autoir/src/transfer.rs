//! Operations that move data: from and to memory, between registers, constants into registers.
//!
//! In: what an instruction implements. Out: [`Transfer`], when it is one of the moves that the
//! code around operations is made of. That it is one is shown by its meaning, for all values of
//! its operands, when a table of instructions is made; its name says nothing. It does not know
//! how moves are put together.

use crate::program::{Formal, Instance};
use semantics::bits::Bits;
use semantics::build as b;
use semantics::instruction::WIDEST_NUMBER;
use semantics::op::OpCode;
use semantics::sort::Sort;
use semantics::subst::replace_vars;
use semantics::term::Term;
use semantics::unroll::{elements, unroll};
use std::collections::HashMap;
use std::fmt;

#[cfg(test)]
mod tests;

/// A move; all numbers are of bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Transfer {
    /// So many bits from memory, the rest of the register 0.
    Load(u32),
    /// The elements of so many bits whose bit of the mask is 1; the others are 0 and not accessed.
    LoadMasked(u32),
    /// The low bits of a register to memory.
    Store(u32),
    /// The elements of so many bits whose bit of the mask is 1; the others are not accessed.
    StoreMasked(u32),
    /// The low element of so many bits in every place of a wider register.
    Broadcast(u32),
    /// A register of zeros.
    Zero,
    /// The low bits of a register.
    Low,
    /// A register as the low bits of a wider one; what is above does not matter.
    Raise,
    /// So many bits of a register, by a number of the part that is a constant in the code; what
    /// is above them in a wider result does not matter.
    Part(u32),
}

impl fmt::Display for Transfer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Transfer::Load(bits) => write!(f, "load {bits}"),
            Transfer::LoadMasked(element) => write!(f, "load-masked {element}"),
            Transfer::Store(bits) => write!(f, "store {bits}"),
            Transfer::StoreMasked(element) => write!(f, "store-masked {element}"),
            Transfer::Broadcast(element) => write!(f, "broadcast {element}"),
            Transfer::Zero => f.write_str("zero"),
            Transfer::Low => f.write_str("low"),
            Transfer::Raise => f.write_str("raise"),
            Transfer::Part(bits) => write!(f, "part {bits}"),
        }
    }
}

/// The parts of registers that are taken out, the widest first.
const PARTS: [u32; 9] = [2048, 1024, 512, 256, 128, 64, 32, 16, 8];

impl Transfer {
    /// A move from its text.
    pub fn read(text: &str) -> Option<Transfer> {
        let (name, number) = text.split_once(' ').unwrap_or((text, ""));
        let bits = || number.parse().ok();
        Some(match name {
            "load" => Transfer::Load(bits()?),
            "load-masked" => Transfer::LoadMasked(bits()?),
            "store" => Transfer::Store(bits()?),
            "store-masked" => Transfer::StoreMasked(bits()?),
            "broadcast" => Transfer::Broadcast(bits()?),
            "zero" => Transfer::Zero,
            "low" => Transfer::Low,
            "raise" => Transfer::Raise,
            "part" => Transfer::Part(bits()?),
            _ => return None,
        })
    }

    /// What an instance moves, if it only does that.
    pub fn of(instance: &Instance) -> Option<Transfer> {
        let memory = instance.accesses_memory();
        let formals = instance.formals.as_slice();
        let pointers = formals.iter().filter(|f| f.role.is_pointer()).count();
        let constants = formals.iter().filter(|f| f.role.is_constant()).count();
        match (memory, formals.len() - pointers - constants, constants) {
            (true, ..) if constants > 0 => Transfer::of(&at_first_constants(instance)?),
            (true, 0 | 1, 0) if pointers == 1 && instance.width() > 0 => load(instance),
            (true, 1 | 2, 0) if pointers == 1 => store(instance),
            (false, 0, 0) => zero(instance),
            (false, 1, 0) => within_registers(instance),
            (false, 1, 1) => part(instance),
            _ => None,
        }
    }
}

/// The constant that an access to memory is moved by as a transfer: the least that its operand may be,
/// which is no offset, or the distance of neighbours. Nothing for what is no constant.
pub fn first_constant(formal: &Formal) -> Option<Bits> {
    let first = formal.role.constants()?.nth(0)?;
    Some(Bits::from_u64(formal.width, first.into()))
}

/// An access to memory with the first of each of its constants.
fn at_first_constants(instance: &Instance) -> Option<Instance> {
    let mut first = instance.clone();
    let (constants, others) = first
        .formals
        .into_iter()
        .partition(|f| f.role.is_constant());
    let given: Vec<Formal> = constants;
    let map = given
        .iter()
        .map(|f| Some((f.name.as_str(), Term::bits(first_constant(f)?))));
    first.term = replace_vars(first.term, &map.collect::<Option<_>>()?);
    first.formals = others;
    Some(first)
}

/// The meaning over an address of 0, without loops; the variables of the memory and the address.
fn at_zero(instance: &Instance) -> Option<(Term, &'static str)> {
    let pointer = instance.formals.iter().find(|f| f.role.is_pointer())?;
    let here = [(pointer.name.as_str(), Term::bv(pointer.width, 0))];
    let term = unroll(replace_vars(instance.term, &HashMap::from(here)));
    let variables = semantics::subst::free_vars(term);
    let mut memories = variables.iter().filter(|v| v.sort() == Sort::Mem);
    let memory = memories.next()?.as_var()?;
    memories.next().is_none().then_some((term, memory))
}

/// What the memory holds from a byte on.
fn held(memory: &str, byte: u32, bits: u32) -> Term {
    let address = Term::bv(64, i128::from(byte));
    unroll(b::read(Term::var(memory, Sort::Mem), address, bits / 8))
}

/// The operand that is no address, and what it is called.
fn others(instance: &Instance) -> Vec<(&str, u32)> {
    let registers = instance.formals.iter().filter(|f| !f.role.is_pointer());
    registers.map(|f| (f.name.as_str(), f.width)).collect()
}

fn load(instance: &Instance) -> Option<Transfer> {
    let (term, memory) = at_zero(instance)?;
    let width = instance.width();
    let Some(&(mask, lanes)) = others(instance).first() else {
        return loaded_bits(term, memory, width);
    };
    let mask = Term::var(mask, Sort::Bv(lanes));
    let all = |element: &u32| {
        let lane = |(j, is): (u32, Term)| {
            let value = held(memory, j * element / 8, *element);
            is == b::ite(b::bit(mask, j), value, b::zero(*element))
        };
        (0..).zip(elements(term, *element)).all(lane)
    };
    let mut widths = masked_elements(width, lanes);
    Some(Transfer::LoadMasked(widths.find(all)?))
}

/// The widths that elements can have of which each has a bit of a mask, which may have more.
fn masked_elements(width: u32, mask: u32) -> impl Iterator<Item = u32> {
    let widths = [8, 16, 32, 64].into_iter();
    widths.filter(move |e| width.is_multiple_of(*e) && width / e <= mask)
}

/// How many leading bits of a register are those of memory, in order, when the rest is 0.
fn loaded_bits(term: Term, memory: &str, width: u32) -> Option<Transfer> {
    let unit = 8;
    let bytes = elements(term, unit);
    let is = |(k, byte): &(u32, &Term)| same_bytes(**byte, held(memory, *k, unit));
    let count = (0..).zip(&bytes).take_while(is).count() as u32;
    let rest = &bytes[count as usize..];
    let zeros = rest.iter().all(|t| *t == b::zero(unit));
    (count > 0 && zeros && count * unit <= width).then_some(Transfer::Load(count * unit))
}

/// Whether a byte of a longer read is the byte that a read of one byte gives.
fn same_bytes(is: Term, byte: Term) -> bool {
    is == byte || single_byte(is) == Some(byte)
}

/// A byte of a longer read as a read of itself.
fn single_byte(t: Term) -> Option<Term> {
    let [whole, lo] = t.args_of(OpCode::Extract)? else {
        return None;
    };
    let [memory, address] = whole.args_of(OpCode::Read)? else {
        return None;
    };
    let (from, lo) = (address.as_bits()?.to_u64()?, lo.as_int()?);
    let at = i128::from(from) + i128::from(lo / 8);
    (lo % 8 == 0).then(|| unroll(b::read(*memory, Term::bv(64, at), 1)))
}

/// A write: under which condition, from which byte on, what.
type Write = (Option<Term>, u64, Term);

/// The writes of a memory over the one that there was before, in order.
fn writes(term: Term, memory: &str) -> Option<Vec<Write>> {
    let mut all = Vec::new();
    let mut t = term;
    while t.as_var() != Some(memory) {
        let (condition, written) = match t.args_of(OpCode::Ite) {
            Some([condition, then, _]) => (Some(*condition), *then),
            Some(_) => return None,
            None => (None, t),
        };
        let [before, address, value] = written.args_of(OpCode::Write)? else {
            return None;
        };
        let otherwise = t.args_of(OpCode::Ite).map(|args| args[2]);
        if otherwise.is_some_and(|other| other != *before) {
            return None;
        }
        all.push((condition, address.as_bits()?.to_u64()?, *value));
        t = *before;
    }
    all.reverse();
    Some(all)
}

fn store(instance: &Instance) -> Option<Transfer> {
    let (term, memory) = at_zero(instance)?;
    let writes = writes(term, memory)?;
    let registers = others(instance);
    let is_at = |&(_, byte, _): &Write, bits: u32| byte * 8 == u64::from(bits);
    match registers.as_slice() {
        [(value, width)] => {
            let value = Term::var(value, Sort::Bv(*width));
            let mut at = 0;
            for write in &writes {
                let bits = write.2.width();
                let plain = write.0.is_none() && is_at(write, at) && at + bits <= *width;
                if !plain || write.2 != unroll(b::extract(value, at, bits)) {
                    return None;
                }
                at += bits;
            }
            (at > 0).then_some(Transfer::Store(at))
        }
        [first, second] => masked_store(&writes, *first, *second)
            .or_else(|| masked_store(&writes, *second, *first)),
        _ => None,
    }
}

fn masked_store(writes: &[Write], mask: (&str, u32), value: (&str, u32)) -> Option<Transfer> {
    let (lanes, width) = (mask.1, value.1);
    let element = width.checked_div(writes.len() as u32)?;
    masked_elements(width, lanes).find(|e| *e == element)?;
    let [mask, value] = [mask, value].map(|(name, width)| Term::var(name, Sort::Bv(width)));
    let lane = |(j, (condition, byte, written)): (u32, &Write)| {
        *condition == Some(b::bit(mask, j))
            && *byte * 8 == u64::from(j * element)
            && *written == unroll(b::extract(value, j * element, element))
    };
    let all = (0..).zip(writes).all(lane);
    all.then_some(Transfer::StoreMasked(element))
}

fn zero(instance: &Instance) -> Option<Transfer> {
    let nothing = instance.arguments.is_empty() && instance.undefined.is_empty();
    let zeros = unroll(instance.term).as_bits()?.is_zero();
    (nothing && zeros).then_some(Transfer::Zero)
}

fn within_registers(instance: &Instance) -> Option<Transfer> {
    let formal = &instance.formals[0];
    let (from, to) = (formal.width, instance.width());
    let value = Term::var(&formal.name, Sort::Bv(from));
    let term = unroll(instance.term);
    if to < from {
        return (term == unroll(b::extract(value, 0, to))).then_some(Transfer::Low);
    }
    if to == from {
        return None;
    }
    let mut widths = [8, 16, 32, 64].into_iter().filter(|e| *e <= from);
    let everywhere = |element: &u32| {
        let low = unroll(b::extract(value, 0, *element));
        from <= WIDEST_NUMBER && elements(term, *element).iter().all(|t| *t == low)
    };
    if let Some(element) = widths.find(everywhere) {
        return Some(Transfer::Broadcast(element));
    }
    (b::extract(term, 0, from) == value).then_some(Transfer::Raise)
}

fn part(instance: &Instance) -> Option<Transfer> {
    let mut registers = instance.formals.iter().filter(|f| !f.role.is_constant());
    let mut constants = instance.formals.iter().filter(|f| f.role.is_constant());
    let (register, number) = (registers.next()?, constants.next()?);
    let from = register.width;
    let value = Term::var(&register.name, Sort::Bv(from));
    let is_part = |bits: u32, k: u32| {
        let here = [(number.name.as_str(), Term::bv(number.width, i128::from(k)))];
        let term = unroll(replace_vars(instance.term, &HashMap::from(here)));
        let admitted = number
            .role
            .constants()
            .is_some_and(|c| c.contains(u64::from(k)));
        admitted && b::extract(term, 0, bits) == unroll(b::extract(value, k * bits, bits))
    };
    let mut widths = PARTS
        .into_iter()
        .filter(|bits| *bits <= instance.width() && *bits < from);
    let all = |bits: &u32| (0..from / bits).all(|k| is_part(*bits, k));
    Some(Transfer::Part(widths.find(all)?))
}
