//! Memory while a body runs.
//!
//! In: addresses in bits, as the pseudocode counts them, and bits to write. Out: reads and
//! writes of the byte-addressed memory before the body, [`MEMORY`]. Writes through one
//! address are gathered until something else may see them, so that a vector that is written
//! element by element is one write; under a condition on operands they are made only where it
//! holds. Pointers that are operands of one instruction are taken not to overlap.

use super::register::{Piece, Register};
use super::value::{self, Computed, Sym, Value};
use crate::roll::roll;
use semantics::build as b;
use semantics::op::OpCode;
use semantics::sort::Sort;
use semantics::term::Term;
use std::collections::HashMap;

/// The free variable that stands for the memory before the body, and the output after it.
pub(crate) const MEMORY: &str = "mem";
/// The name of memory in the pseudocode.
pub(crate) const NAME: &str = "MEM";

/// A place in memory: a byte address and an offset in bits, or in bytes.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Address {
    /// The byte address.
    pub(crate) base: Term,
    /// The offset.
    pub(crate) offset: Value,
    /// Whether it is in bytes.
    pub(crate) bytes: bool,
}

/// The sum with an address, or the difference; none when neither is an address.
pub(crate) fn moved(x: &Value, y: &Value, back: bool) -> Option<Computed<Value>> {
    let by = |a: &Address, offset: Computed<Value>| {
        offset.map(|offset| {
            Value::Address(Box::new(Address {
                base: a.base,
                offset,
                bytes: a.bytes,
            }))
        })
    };
    Some(match (x, y) {
        (Value::Address(p), Value::Address(q)) if back && p.base == q.base => {
            value::sub(&p.offset, &q.offset)
        }
        (Value::Address(_), Value::Address(_)) => value::refuse("two addresses do not add up"),
        (Value::Address(p), k) if back => by(p, value::sub(&p.offset, k)),
        (Value::Address(p), k) => by(p, value::add(&p.offset, k)),
        (_, Value::Address(_)) if back => value::refuse("an address cannot be taken away"),
        (k, Value::Address(p)) => by(p, value::add(k, &p.offset)),
        _ => return None,
    })
}

impl Address {
    /// The address as a number, which wraps as pointers do.
    pub(crate) fn number(&self) -> Computed<Sym> {
        if !self.bytes {
            return value::refuse("an address is not a number here");
        }
        let number = b::add(self.base, low_bits(self.offset.bits(64)?, 64));
        Ok(Sym::new(number, false))
    }

    /// The same place, counted in bits.
    pub(crate) fn in_bits(&self) -> Computed<Address> {
        let offset = match self.bytes {
            true => value::mul(&self.offset, &Value::Int(8))?,
            false => self.offset.clone(),
        };
        Ok(Address {
            base: self.base,
            offset,
            bytes: false,
        })
    }

    /// A byte address and the number of a bit from it on.
    fn split(&self) -> Computed<(Term, u32)> {
        if let Some(known) = self.offset.known() {
            if let Some(bit) = super::place::bit_number(known) {
                return Ok((self.base, bit));
            }
            let bytes = Term::bv(64, known.div_euclid(8));
            let bit = u32::try_from(known.rem_euclid(8)).expect("a bit of a byte");
            return Ok((b::add(self.base, bytes), bit));
        }
        let offset = self.offset.sym()?;
        if offset.scale % 8 != 0 || offset.offset % 8 != 0 {
            return value::refuse("this address may lie inside a byte");
        }
        let bytes = Sym {
            scale: offset.scale / 8,
            offset: offset.offset / 8,
            term: low_bits(offset.term, 64),
            ..offset
        };
        Ok((b::add(self.base, bytes.cut(64)), 0))
    }

    /// The byte address of a bit that operands choose, and the number of the bit in the byte;
    /// none where the place of the bit in its byte is known.
    fn chosen_bit(&self) -> Computed<Option<(Term, Term)>> {
        let offset = match &self.offset {
            Value::Sym(s) if s.scale % 8 != 0 => s.plainly(),
            _ => return Ok(None),
        };
        let count = value::shift_right(&Value::Sym(offset.clone()), &Value::Int(3))?;
        let address = b::add(self.base, low_bits(count.bits(64)?, 64));
        Ok(Some((address, offset.cut(3))))
    }
}

/// The low bits of a term, computed at that width where sums and products allow it.
fn low_bits(t: Term, width: u32) -> Term {
    low_bits_of(t, width, &mut HashMap::new())
}

/// The same, each shared part looked at once.
fn low_bits_of(t: Term, width: u32, known: &mut HashMap<Term, Term>) -> Term {
    if t.width() <= width {
        return t;
    }
    if let Some(&done) = known.get(&t) {
        return done;
    }
    let Some((op, args)) = t.as_app() else {
        return b::extract(t, 0, width);
    };
    let mut low = |t: Term| low_bits_of(t, width, known);
    let found = match op.code {
        OpCode::BvAdd => b::add(low(args[0]), low(args[1])),
        OpCode::BvSub => b::sub(low(args[0]), low(args[1])),
        OpCode::BvMul => b::mul(low(args[0]), low(args[1])),
        OpCode::Sext => b::resize_signed(args[0], width),
        OpCode::Zext => b::resize_unsigned(args[0], width),
        _ => b::extract(t, 0, width),
    };
    known.insert(t, found);
    found
}

/// Memory with what was written and what still is to be.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct Memory {
    /// The memory as far as it is written; none before any write.
    written: Option<Term>,
    /// Bits to be written from byte addresses on, in the order of the first write.
    pending: Vec<(Term, Register)>,
}

/// Whether two byte addresses are known to be of places that do not overlap.
fn apart(p: Term, q: Term) -> bool {
    p != q && p.as_var().is_some() && q.as_var().is_some()
}

impl Memory {
    fn state(&self) -> Term {
        let before = || Term::var(MEMORY, Sort::Mem);
        self.written.unwrap_or_else(before)
    }

    /// Makes the writes that an access at this address may see, unless they are at it.
    fn settle(&mut self, address: Term) {
        if self
            .pending
            .iter()
            .any(|(k, _)| *k != address && !apart(*k, address))
        {
            self.flush();
        }
    }

    /// Writes bits from an address on.
    pub(crate) fn write(&mut self, to: &Address, piece: Piece) -> Computed<()> {
        if piece.term.width() == 1
            && let Some((address, bit)) = to.chosen_bit()?
        {
            self.flush();
            let byte = b::insert(self.fetch(address, 0, 8), b::zext(bit, 8), piece.term);
            self.written = Some(b::write(self.state(), address, byte));
            return Ok(());
        }
        let (address, bit) = to.split()?;
        self.settle(address);
        match self.pending.iter_mut().find(|(k, _)| *k == address) {
            Some((_, register)) => register.write(bit, piece),
            None => {
                let mut register = Register::default();
                register.write(bit, piece);
                self.pending.push((address, register));
            }
        }
        Ok(())
    }

    /// The bits from an address on.
    pub(crate) fn read(&mut self, from: &Address, width: u32) -> Computed<Term> {
        if width == 1
            && let Some((address, bit)) = from.chosen_bit()?
        {
            self.flush();
            return Ok(b::elem(self.fetch(address, 0, 8), bit, 1));
        }
        let (address, bit) = from.split()?;
        self.settle(address);
        if let Some((_, register)) = self.pending.iter().find(|(k, _)| *k == address) {
            if register.covers(bit, width) {
                return Ok(register.read(bit, width).term);
            }
            self.flush();
        }
        Ok(self.fetch(address, bit, width))
    }

    /// Bits of the memory as it is written.
    fn fetch(&self, address: Term, bit: u32, width: u32) -> Term {
        let first = bit / 8;
        let bytes = (bit + width).div_ceil(8) - first;
        let at = b::add(address, Term::bv(64, i128::from(first)));
        b::extract(b::read(self.state(), at, bytes), bit - first * 8, width)
    }

    /// Makes every pending write.
    fn flush(&mut self) {
        for (address, register) in std::mem::take(&mut self.pending) {
            for (bit, mut pieces) in register.runs() {
                let end = bit + pieces.iter().map(|p| p.width()).sum::<u32>();
                if bit % 8 != 0 {
                    pieces.insert(0, self.fetch(address, bit - bit % 8, bit % 8));
                }
                if end % 8 != 0 {
                    pieces.push(self.fetch(address, end, 8 - end % 8));
                }
                let at = b::add(address, Term::bv(64, i128::from(bit / 8)));
                self.written = Some(b::write(self.state(), at, roll(&pieces)));
            }
        }
    }

    /// The memory after the body; none when it wrote nothing.
    pub(crate) fn after(&mut self) -> Option<Term> {
        self.flush();
        self.written
    }

    /// One memory of several outcomes. What all of them write is written once; else each
    /// condition chooses a memory, so that nothing is touched where it does not hold.
    pub(crate) fn merged(all: &[&Memory], merge: impl Fn(&[Term]) -> Term) -> Memory {
        let first = all[0];
        if all.iter().all(|m| *m == first) {
            return first.clone();
        }
        if all.iter().all(|m| m.covers_as(first)) {
            let pending = (0..first.pending.len())
                .map(|n| {
                    let registers: Vec<&Register> = all.iter().map(|m| &m.pending[n].1).collect();
                    let address = first.pending[n].0;
                    (address, Register::merged(&registers, &merge))
                })
                .collect();
            return Memory {
                written: first.written,
                pending,
            };
        }
        let states: Vec<Term> = all
            .iter()
            .map(|m| {
                let mut m = (*m).clone();
                m.flush();
                m.state()
            })
            .collect();
        Memory {
            written: Some(merge(&states)),
            pending: Vec::new(),
        }
    }

    /// Whether both write the same bits, with whatever values.
    fn covers_as(&self, other: &Memory) -> bool {
        let spans = |r: &Register| -> Vec<(u32, u32)> {
            let width = |pieces: &[Term]| pieces.iter().map(|p| p.width()).sum();
            r.runs().iter().map(|(lo, p)| (*lo, width(p))).collect()
        };
        self.written == other.written
            && self.pending.len() == other.pending.len()
            && self
                .pending
                .iter()
                .zip(&other.pending)
                .all(|(p, q)| p.0 == q.0 && spans(&p.1) == spans(&q.1))
    }
}
