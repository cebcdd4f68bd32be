//! Terms to gates.
//!
//! In: flat terms. Out: words of literals. Operators that the table defines by simpler ones
//! are expanded through it; indices are 64-bit words; memories are chains of writes over an
//! unknown memory whose bytes are inputs, kept consistent by side conditions. It refuses
//! what has no finite encoding (memories compared inside a formula) and formulas past the gate
//! limit.

use super::gates::{Gates, Lit};
use super::words::{self, Word};
use crate::verdict::{Model, Reason};
use semantics::bits::Bits;
use semantics::op::{Op, OpCode, Smt};
use semantics::sort::Sort;
use semantics::term::{Kind, Term};
use semantics::value::{Memory, Value};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Gates past which a question is given up.
pub(crate) const MAX_GATES: usize = 4_000_000;

/// Bits of an index.
const INDEX_BITS: usize = 64;

/// The gates of some terms.
pub(crate) struct Encoder {
    /// The gates.
    pub(crate) gates: Gates,
    memo: HashMap<Term, Rc<Word>>,
    inputs: BTreeMap<String, (Sort, Rc<Word>)>,
    /// Bytes of memories that were asked for: memory, address.
    bytes: HashMap<(Term, Word), Word>,
    /// Reads of unknown memories: name, address, byte.
    reads: BTreeMap<String, Vec<(Word, Word)>>,
    /// Applications of uninterpreted operators: arguments, result.
    applications: Applications,
    /// Literals that must hold in every model.
    pub(crate) conditions: Vec<Lit>,
}

/// Arguments and result of every application, by operator and widths.
type Applications = BTreeMap<(Op, Vec<usize>), Vec<(Vec<Word>, Rc<Word>)>>;

/// A word, or why there is none.
type Encoded = Result<Rc<Word>, Reason>;

impl Encoder {
    /// No gates yet.
    pub(crate) fn new() -> Encoder {
        Encoder {
            gates: Gates::new(),
            memo: HashMap::new(),
            inputs: BTreeMap::new(),
            bytes: HashMap::new(),
            reads: BTreeMap::new(),
            applications: BTreeMap::new(),
            conditions: Vec::new(),
        }
    }

    /// The literals of a term: one for a truth value, 64 for an index.
    pub(crate) fn word(&mut self, t: Term) -> Encoded {
        if let Some(done) = self.memo.get(&t) {
            return Ok(Rc::clone(done));
        }
        if self.gates.len() > MAX_GATES {
            return Err(Reason::TooLarge(MAX_GATES));
        }
        let word = match t.kind() {
            Kind::Var { name, sort } => self.variable(name, *sort)?,
            Kind::Bv(bits) => Rc::new(constant(bits)),
            Kind::Bool(b) => Rc::new(vec![Lit::constant(*b)]),
            Kind::Int(i) => Rc::new(constant(&Bits::from_i128(64, i128::from(*i)))),
            Kind::App { op, args } => self.app(*op, args)?,
            Kind::Bound { .. } | Kind::Map { .. } | Kind::Fold { .. } => {
                return Err(Reason::Unsupported("a rolled term".to_owned()));
            }
        };
        self.memo.insert(t, Rc::clone(&word));
        Ok(word)
    }

    /// The literal of a truth value.
    pub(crate) fn truth(&mut self, t: Term) -> Result<Lit, Reason> {
        Ok(self.word(t)?[0])
    }

    fn variable(&mut self, name: &str, sort: Sort) -> Encoded {
        if let Some((_, word)) = self.inputs.get(name) {
            return Ok(Rc::clone(word));
        }
        let width = match sort {
            Sort::Bool => 1,
            Sort::Int => INDEX_BITS,
            Sort::Bv(w) => w as usize,
            Sort::Mem => return Err(Reason::Unsupported("a memory outside a read".to_owned())),
        };
        let word: Rc<Word> = Rc::new((0..width).map(|_| self.gates.input()).collect());
        self.inputs
            .insert(name.to_owned(), (sort, Rc::clone(&word)));
        Ok(word)
    }

    fn app(&mut self, op: Op, args: &[Term]) -> Encoded {
        if let Smt::Defined(expand) = op.info().smt {
            return self.word(expand(op.params(), args));
        }
        match op.code {
            OpCode::Read => return self.read(args[0], args[1], op.params[0]),
            OpCode::Eq if args[0].sort() == Sort::Mem => {
                return Err(Reason::Unsupported("equality of memories".to_owned()));
            }
            _ => {}
        }
        let words = args
            .iter()
            .map(|&a| self.word(a))
            .collect::<Result<Vec<_>, _>>()?;
        let slices: Vec<&[Lit]> = words.iter().map(|w| w.as_slice()).collect();
        if let Some(word) = gate_level(&mut self.gates, op, &slices) {
            return Ok(Rc::new(word));
        }
        let sorts: Vec<Sort> = args.iter().map(|a| a.sort()).collect();
        match (op.info().smt, op.sort(&sorts)) {
            (Smt::Uninterpreted, Ok(Sort::Bool)) => Ok(self.uninterpreted(op, &words, 1)),
            (Smt::Uninterpreted, Ok(Sort::Bv(width))) => {
                Ok(self.uninterpreted(op, &words, width as usize))
            }
            _ => Err(Reason::Unsupported(format!("`{op}`"))),
        }
    }

    /// An unknown result: equal arguments must give equal results.
    fn uninterpreted(&mut self, op: Op, args: &[Rc<Word>], width: usize) -> Rc<Word> {
        let mut args: Vec<Word> = args.iter().map(|w| (**w).clone()).collect();
        if op.info().commutative {
            args.sort();
        }
        let shape: Vec<usize> = args.iter().map(Vec::len).chain([width]).collect();
        let known = self
            .applications
            .get(&(op, shape.clone()))
            .cloned()
            .unwrap_or_default();
        if let Some((_, result)) = known.iter().find(|(other, _)| *other == args) {
            return Rc::clone(result);
        }
        let result: Rc<Word> = Rc::new((0..width).map(|_| self.gates.input()).collect());
        for (other, other_result) in &known {
            let same = other.iter().zip(&args).fold(Lit::TRUE, |all, (x, y)| {
                let one = words::equal(&mut self.gates, x, y);
                self.gates.and(all, one)
            });
            let same_result = words::equal(&mut self.gates, other_result, &result);
            let holds = self.gates.or(!same, same_result);
            self.conditions.push(holds);
        }
        self.applications
            .entry((op, shape))
            .or_default()
            .push((args, Rc::clone(&result)));
        result
    }

    fn read(&mut self, memory: Term, address: Term, bytes: u32) -> Encoded {
        let address = self.word(address)?;
        let mut out = Vec::new();
        for k in 0..bytes {
            let step = constant(&Bits::from_u64(64, u64::from(k)));
            let at = words::add(&mut self.gates, &address, &step);
            out.extend(self.byte(memory, &at)?);
        }
        Ok(Rc::new(out))
    }

    /// One byte; what is asked again is not built again, for both sides of a masked write
    /// lead to the same memory.
    fn byte(&mut self, memory: Term, at: &[Lit]) -> Result<Word, Reason> {
        let key = (memory, at.to_vec());
        if let Some(byte) = self.bytes.get(&key) {
            return Ok(byte.clone());
        }
        let byte = self.new_byte(memory, at)?;
        self.bytes.insert(key, byte.clone());
        Ok(byte)
    }

    fn new_byte(&mut self, memory: Term, at: &[Lit]) -> Result<Word, Reason> {
        match memory.kind() {
            Kind::Var { name, .. } => Ok(self.unknown_byte(name, at)),
            Kind::App { op, args } if op.code == OpCode::Write => {
                let (base, value) = (self.word(args[1])?, self.word(args[2])?);
                let below = self.byte(args[0], at)?;
                let mut out = below;
                for (k, byte) in (0u64..).zip(value.chunks(8)) {
                    let step = constant(&Bits::from_u64(64, k));
                    let written = words::add(&mut self.gates, &base, &step);
                    let here = words::equal(&mut self.gates, &written, at);
                    out = words::mux(&mut self.gates, here, byte, &out);
                }
                Ok(out)
            }
            Kind::App { op, args } if op.code == OpCode::Ite => {
                let c = self.truth(args[0])?;
                let (a, b) = (self.byte(args[1], at)?, self.byte(args[2], at)?);
                Ok(words::mux(&mut self.gates, c, &a, &b))
            }
            _ => Err(Reason::Unsupported("a memory of that shape".to_owned())),
        }
    }

    /// A byte of an unknown memory: equal addresses must give equal bytes.
    fn unknown_byte(&mut self, name: &str, at: &[Lit]) -> Word {
        let known = self.reads.get(name).cloned().unwrap_or_default();
        if let Some((_, byte)) = known.iter().find(|(address, _)| address == at) {
            return byte.clone();
        }
        let byte: Word = (0..8).map(|_| self.gates.input()).collect();
        for (address, other) in &known {
            let same_address = words::equal(&mut self.gates, address, at);
            let same_byte = words::equal(&mut self.gates, other, &byte);
            let holds = self.gates.or(!same_address, same_byte);
            self.conditions.push(holds);
        }
        self.reads
            .entry(name.to_owned())
            .or_default()
            .push((at.to_vec(), byte.clone()));
        byte
    }

    /// The model in which each literal has the given value.
    pub(crate) fn model(&self, value: impl Fn(Lit) -> bool) -> Model {
        let bits = |word: &[Lit]| {
            let mut bytes = vec![0u8; word.len().div_ceil(8)];
            for (k, &l) in word.iter().enumerate() {
                bytes[k / 8] |= u8::from(value(l)) << (k % 8);
            }
            Bits::from_bytes(
                u32::try_from(word.len()).expect("widths are 32 bits"),
                &bytes,
            )
        };
        let mut model: Model = BTreeMap::new();
        for (name, (sort, word)) in &self.inputs {
            let v = match sort {
                Sort::Bool => Value::Bool(value(word[0])),
                Sort::Int => Value::Int(bits(word).low_u64() as i64),
                _ => Value::Bv(bits(word)),
            };
            model.insert(name.clone(), v);
        }
        for (name, reads) in &self.reads {
            let mut memory = Memory::default();
            for (address, byte) in reads {
                memory
                    .bytes
                    .insert(bits(address).low_u64(), bits(byte).low_u64() as u8);
            }
            model.insert(name.clone(), Value::Mem(memory));
        }
        model
    }
}

fn constant(bits: &Bits) -> Word {
    (0..bits.width())
        .map(|k| Lit::constant(bits.bit(k)))
        .collect()
}

/// Operators that are gates by themselves; `None` for what must have been expanded.
#[rustfmt::skip] // one operator a line
fn gate_level(g: &mut Gates, op: Op, a: &[&[Lit]]) -> Option<Word> {
    use OpCode as C;
    Some(match op.code {
        C::Not => vec![!a[0][0]],
        C::And | C::BvAnd => words::zip(g, a[0], a[1], Gates::and),
        C::Or | C::BvOr => words::zip(g, a[0], a[1], Gates::or),
        C::BvXor => words::zip(g, a[0], a[1], Gates::xor),
        C::Eq => vec![words::equal(g, a[0], a[1])],
        C::Ite => words::mux(g, a[0][0], a[1], a[2]),
        C::IntAdd | C::BvAdd => words::add(g, a[0], a[1]),
        C::IntMul | C::BvMul => words::mul(g, a[0], a[1]),
        C::IntDiv => floor_division(g, a[0], a[1]).0,
        C::IntMod => floor_division(g, a[0], a[1]).1,
        C::IntLt | C::BvSlt => vec![words::slt(g, a[0], a[1])],
        C::BvUlt => vec![words::ult(g, a[0], a[1])],
        C::BvUle => vec![!words::ult(g, a[1], a[0])],
        C::BvSle => vec![!words::slt(g, a[1], a[0])],
        C::IntToBv | C::Sext => resize(a[0], op.params[0], a[0][a[0].len() - 1]),
        C::Zext => resize(a[0], op.params[0], Lit::FALSE),
        C::BvToInt => resize(a[0], 64, Lit::FALSE),
        C::BvNot => words::not(a[0]),
        C::BvNeg => words::neg(g, a[0]),
        C::BvSub => words::sub(g, a[0], a[1]).0,
        C::BvUdiv => words::udivrem(g, a[0], a[1]).0,
        C::BvUrem => words::udivrem(g, a[0], a[1]).1,
        C::BvSdiv => words::sdivrem(g, a[0], a[1]).0,
        C::BvSrem => words::sdivrem(g, a[0], a[1]).1,
        C::BvShl => words::shift_left(g, a[0], a[1]),
        C::BvLshr => words::shift_right(g, a[0], a[1], Lit::FALSE),
        C::BvAshr => words::shift_right(g, a[0], a[1], a[0][a[0].len() - 1]),
        C::Concat => a.iter().rev().flat_map(|w| w.iter().copied()).collect(),
        C::Extract => resize(&words::shift_right(g, a[0], a[1], Lit::FALSE), op.params[0], Lit::FALSE),
        _ => return None,
    })
}

/// The word cut or filled to a width.
fn resize(a: &[Lit], width: u32, fill: Lit) -> Word {
    (0..width as usize)
        .map(|k| a.get(k).copied().unwrap_or(fill))
        .collect()
}

/// Quotient and remainder of indices, rounding towards minus infinity; by zero 0 and 0.
fn floor_division(g: &mut Gates, a: &[Lit], b: &[Lit]) -> (Word, Word) {
    let (q, r) = words::sdivrem(g, a, b);
    let zero = words::zeros(a.len());
    let exact = words::equal(g, &r, &zero);
    let differ = g.xor(a[a.len() - 1], b[b.len() - 1]);
    let down = g.and(!exact, differ);
    let minus: Word = vec![down; a.len()];
    let q = words::add(g, &q, &minus);
    let back = words::mux(g, down, b, &zero);
    let r = words::add(g, &r, &back);
    let by_zero = words::equal(g, b, &zero);
    (
        words::mux(g, by_zero, &zero, &q),
        words::mux(g, by_zero, &zero, &r),
    )
}
