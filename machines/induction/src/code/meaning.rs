//! What an instruction computes, on values of an engine.
//!
//! In: terms over operands, memory and the program counter. Out: values. Numbers that are functions of
//! counters are added, multiplied by constants and compared as such; everything else is a term.

use super::tiles::Rows;
use super::{Code, Next};
use crate::choice::chosen;
use crate::engine::Engine;
use crate::kernel::at_most;
use crate::linear::Linear;
use crate::region::divided;
use crate::space::Space;
use crate::stop::Stop;
use crate::value::Value;
use semantics::build as b;
use semantics::machine::{MachineInstruction, OperandKind};
use semantics::op::{Op, OpCode};
use semantics::sort::Sort;
use semantics::subst::free_vars;
use semantics::term::{Kind, Term};
use std::cell::RefCell;
use std::collections::HashMap;

/// What variables are that binders bind, the innermost last, and terms that were computed with these.
#[derive(Debug, Default)]
pub(super) struct Bound {
    values: Vec<Value>,
    known: RefCell<HashMap<Term, Value>>,
}

impl Bound {
    /// These, and others inside of them.
    pub(super) fn with(&self, inner: impl IntoIterator<Item = Value>) -> Bound {
        let mut values = self.values.clone();
        values.extend(inner);
        Bound {
            values,
            known: RefCell::default(),
        }
    }
}

/// A register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Register {
    pub(super) file: usize,
    pub(super) number: u32,
}

/// What a name in a meaning is.
#[derive(Clone, Copy, Debug)]
enum Name {
    Register(Register),
    Constant(i64),
}

/// An instruction at a place.
#[derive(Clone, Copy)]
pub(super) struct Meaning<'c> {
    pub(super) code: &'c Code<'c>,
    at: usize,
    found: &'c MachineInstruction,
    values: &'c [i64],
}

/// Memory's name, and that of the program counter.
pub(super) const MEMORY: &str = "mem";
const COUNTER: &str = "pc";

impl<'c> Meaning<'c> {
    pub(super) fn new(
        code: &'c Code<'c>,
        at: usize,
        found: &'c MachineInstruction,
        values: &'c [i64],
    ) -> Meaning<'c> {
        Meaning {
            code,
            at,
            found,
            values,
        }
    }

    fn name(&self, name: &str) -> Option<Name> {
        if let Some(k) = self.found.operand(name) {
            let value = self.values[k];
            return Some(match self.found.operands[k].kind {
                OperandKind::Register { file, .. } => Name::Register(Register {
                    file,
                    number: u32::try_from(value).ok()?,
                }),
                OperandKind::Immediate { .. } => Name::Constant(value),
            });
        }
        let implicit = &self.found.implicit[self.found.implicit(name)?];
        Some(Name::Register(Register {
            file: implicit.file,
            number: implicit.number(self.values),
        }))
    }

    /// Whether a register holds elements, and not one number.
    pub(super) fn is_tile(&self, register: Register) -> bool {
        let file = &self.code.machine.files[register.file];
        file.row < file.width
    }

    pub(super) fn tile(&self, register: Register) -> Space {
        let file = u32::try_from(register.file).unwrap_or(u32::MAX);
        Space::Tile(file, register.number)
    }

    /// The tile that a variable is.
    pub(super) fn tile_of(&self, variable: Term) -> Option<Space> {
        match self.name(variable.as_var()?)? {
            Name::Register(register) if self.is_tile(register) => Some(self.tile(register)),
            _ => None,
        }
    }

    /// The place of the register that a variable is.
    pub(super) fn place_of(&self, variable: Term) -> Option<usize> {
        match self.name(variable.as_var()?)? {
            Name::Register(register) if !self.is_tile(register) => {
                Some(self.code.register(register.file, register.number))
            }
            _ => None,
        }
    }

    /// The number that an operand is.
    pub(super) fn number(&self, operand: usize, engine: &mut Engine<'_>) -> Result<Linear, Stop> {
        let name = &self.found.operands[operand].name;
        match self.name(name) {
            Some(Name::Constant(n)) => Ok(Linear::constant(n)),
            Some(Name::Register(register)) => match self.held(register, engine)? {
                Value::Known(n) => Ok(n),
                Value::Term(_) => Err(Stop::because("an operand of a command is data")),
            },
            None => Err(Stop::because("an operand has no meaning")),
        }
    }

    fn held(&self, register: Register, engine: &mut Engine<'_>) -> Result<Value, Stop> {
        let file = &self.code.machine.files[register.file];
        if file.zero == Some(register.number) {
            return Ok(Value::number(0));
        }
        let at = self.code.register(register.file, register.number);
        let value = engine.place(at);
        value.ok_or_else(|| {
            let name = file.name_of(register.number);
            Stop::First(format!("`{name}` is read before it is set"))
        })
    }

    /// What must hold before the instruction holds.
    pub(super) fn required(&self, engine: &mut Engine<'_>) -> Result<(), Stop> {
        for &(a, c) in &self.found.distinct {
            if self.values[a] == self.values[c] {
                return Err(Stop::because("two operands are the same register"));
            }
        }
        for requirement in &self.found.requires {
            let holds = self.value(requirement.condition, &Bound::default(), engine)?;
            if decided(&holds) != Some(true) {
                return Err(Stop::because(requirement.broken.clone()));
            }
        }
        Ok(())
    }

    /// Does the instruction; where it goes. `alone` says that no other way is gone beside.
    pub(super) fn done(&self, alone: bool, engine: &mut Engine<'_>) -> Result<Next, Stop> {
        let (mut numbers, mut tiles, mut memory) = (Vec::new(), Vec::new(), None);
        let mut next = Next::To(self.at + 1);
        for output in &self.found.instruction.outputs {
            match output.name.as_str() {
                MEMORY => memory = Some(self.stores(output.term, engine)?),
                COUNTER => next = self.next(output.term, engine)?,
                name => match self.name(name) {
                    Some(Name::Register(register)) if self.is_tile(register) => {
                        tiles.push((register, output.term));
                    }
                    Some(Name::Register(register)) => {
                        let value = self.value(output.term, &Bound::default(), engine)?;
                        numbers.push((register, value));
                    }
                    _ => return Err(Stop::because("a result has no place")),
                },
            }
        }
        let memory: Vec<(Term, Term)> = memory.unwrap_or_default();
        let works = !tiles.is_empty() || !memory.is_empty();
        if works && !alone {
            return Err(Stop::because("memory is written as data say"));
        }
        // What is stored is what tiles held before.
        self.stored(&memory, engine)?;
        for (register, term) in tiles {
            self.tile_written(register, term, engine)?;
        }
        self.numbers_written(numbers, engine)?;
        Ok(next)
    }

    /// Does of the instruction what follows from numbers, and to numbers; where it goes. A number
    /// that is read from memory or a tile is data.
    pub(super) fn glanced(&self, engine: &mut Engine<'_>) -> Result<Next, Stop> {
        let (mut numbers, mut next) = (Vec::new(), Next::To(self.at + 1));
        for output in &self.found.instruction.outputs {
            let term = output.term;
            match (output.name.as_str(), self.name(&output.name)) {
                (MEMORY, _) => {}
                (COUNTER, _) => next = self.next(term, engine)?,
                (_, Some(Name::Register(register))) if !self.is_tile(register) => {
                    let reads = |v: &Term| v.sort() == Sort::Mem || self.tile_of(*v).is_some();
                    let value = match free_vars(term).iter().any(reads) {
                        true => Value::Term(Term::var(&format!("%data{}", self.at), term.sort())),
                        false => self.value(term, &Bound::default(), engine)?,
                    };
                    numbers.push((register, value));
                }
                _ => {}
            }
        }
        self.numbers_written(numbers, engine)?;
        Ok(next)
    }

    /// Puts numbers into registers.
    fn numbers_written(
        &self,
        numbers: Vec<(Register, Value)>,
        engine: &mut Engine<'_>,
    ) -> Result<(), Stop> {
        for (register, value) in numbers {
            let file = &self.code.machine.files[register.file];
            if file.zero != Some(register.number) {
                let at = self.code.register(register.file, register.number);
                engine.followed(&value)?;
                engine.set_place(at, value);
            }
        }
        Ok(())
    }

    /// Where the program counter goes.
    fn next(&self, term: Term, engine: &mut Engine<'_>) -> Result<Next, Stop> {
        if let Some([condition, yes, no]) = term.args_of(OpCode::Ite) {
            let holds = self.value(*condition, &Bound::default(), engine)?;
            let (yes, no) = (self.index(*yes, engine)?, self.index(*no, engine)?);
            return Ok(match (decided(&holds), holds) {
                (Some(true), _) => Next::To(yes),
                (Some(false), _) => Next::To(no),
                (None, Value::Term(holds)) => Next::Either(holds, yes, no),
                (None, Value::Known(_)) => return Err(Stop::because("a condition is a number")),
            });
        }
        Ok(Next::To(self.index(term, engine)?))
    }

    fn index(&self, term: Term, engine: &mut Engine<'_>) -> Result<usize, Stop> {
        let to = self.known(term, engine)?.as_constant();
        let word = i64::from(self.code.machine.word).max(1);
        let to = to.filter(|n| n % word == 0 && *n >= 0).map(|n| n / word);
        let to = to.and_then(|n| usize::try_from(n).ok());
        to.ok_or_else(|| Stop::because("a branch goes to no instruction"))
    }

    /// A value that is a number.
    pub(super) fn known(&self, term: Term, engine: &mut Engine<'_>) -> Result<Linear, Stop> {
        match self.value(term, &Bound::default(), engine)? {
            Value::Known(n) => Ok(n),
            Value::Term(_) => Err(Stop::because("a number depends on data")),
        }
    }

    /// What is stored, in order: address and value.
    fn stores(&self, term: Term, engine: &mut Engine<'_>) -> Result<Vec<(Term, Term)>, Stop> {
        let (mut out, mut term, bound) = (Vec::new(), term, Bound::default());
        loop {
            if term.as_var() == Some(MEMORY) {
                out.reverse();
                return Ok(out);
            }
            if let Some([condition, yes, no]) = term.args_of(OpCode::Ite) {
                let holds = self.value(*condition, &bound, engine)?;
                term = match decided(&holds) {
                    Some(true) => *yes,
                    Some(false) => *no,
                    None => return Err(Stop::because("memory is written as data say")),
                };
                continue;
            }
            let Some([before, address, value]) = term.args_of(OpCode::Write) else {
                return Err(Stop::because("what memory becomes is not followed"));
            };
            out.push((*address, *value));
            term = *before;
        }
    }

    /// Stores, whose values are what registers hold before the instruction.
    fn stored(&self, stores: &[(Term, Term)], engine: &mut Engine<'_>) -> Result<(), Stop> {
        let bound = Bound::default();
        let mut places = Vec::new();
        for (address, value) in stores {
            let (array, at) = in_array(self.value(*address, &bound, engine)?)?;
            if self.code.beside() {
                engine.uses(array, false, true)?;
            }
            places.push((array, at, *value));
        }
        if let Some(rows) = Rows::of(self, &places) {
            return rows.stored(engine);
        }
        let mut values = Vec::new();
        for (array, at, value) in places {
            values.push((array, at, value.width(), self.value(value, &bound, engine)?));
        }
        for (array, at, width, value) in values {
            engine.write(Space::Array(array), &at, width, value)?;
        }
        Ok(())
    }

    /// The value of a term.
    pub(super) fn value(
        &self,
        term: Term,
        bound: &Bound,
        engine: &mut Engine<'_>,
    ) -> Result<Value, Stop> {
        if let Some(known) = bound.known.borrow().get(&term) {
            return Ok(known.clone());
        }
        let value = self.computed(term, bound, engine)?;
        if matches!(term.kind(), Kind::App { .. }) {
            bound.known.borrow_mut().insert(term, value.clone());
        }
        Ok(value)
    }

    fn computed(&self, term: Term, bound: &Bound, engine: &mut Engine<'_>) -> Result<Value, Stop> {
        match term.kind() {
            Kind::Var { name, sort } => self.variable(name, *sort, engine),
            Kind::Bv(bits) => Ok(match bits.width() <= 64 {
                true => Value::Known(Linear::constant(signed(bits.low_u64(), bits.width()))),
                false => Value::Term(term),
            }),
            Kind::Bool(_) => Ok(Value::Term(term)),
            Kind::Int(n) => Ok(Value::number(*n)),
            Kind::Bound { depth, .. } => {
                let at = bound.values.len().checked_sub(1 + *depth as usize);
                let value = at.map(|at| bound.values[at].clone());
                value.ok_or_else(|| Stop::because("a variable is bound nowhere"))
            }
            Kind::Fold { count, init, body } => {
                let mut held = self.value(*init, bound, engine)?;
                for k in 0..*count {
                    let inner = bound.with([Value::number(i64::from(k)), held]);
                    held = self.value(*body, &inner, engine)?;
                }
                Ok(held)
            }
            Kind::Map { .. } => Err(Stop::because("elements are computed inside of others")),
            Kind::App { op, args } => self.applied(*op, args, bound, engine),
        }
    }

    fn variable(&self, name: &str, sort: Sort, engine: &mut Engine<'_>) -> Result<Value, Stop> {
        if name == COUNTER {
            let word = i64::from(self.code.machine.word).max(1);
            let at = i64::try_from(self.at).unwrap_or(i64::MAX);
            return Ok(Value::number(at.saturating_mul(word)));
        }
        match self.name(name) {
            Some(Name::Constant(n)) => Ok(Value::Known(Linear::constant(match sort {
                Sort::Bv(width) => signed(n as u64, width),
                _ => n,
            }))),
            Some(Name::Register(register)) if self.is_tile(register) => {
                Err(Stop::because("a tile is used as a whole"))
            }
            Some(Name::Register(register)) => self.held(register, engine),
            None => Err(Stop::because("a name has no meaning")),
        }
    }

    fn applied(
        &self,
        op: Op,
        args: &[Term],
        bound: &Bound,
        engine: &mut Engine<'_>,
    ) -> Result<Value, Stop> {
        match op.code {
            OpCode::Ite => {
                let holds = self.value(args[0], bound, engine)?;
                return match decided(&holds) {
                    Some(true) => self.value(args[1], bound, engine),
                    Some(false) => self.value(args[2], bound, engine),
                    None => {
                        let values = self.values(&args[1..], bound, engine)?;
                        let width = args[1].width();
                        let terms = values.iter().map(|v| engine.leaves.term(v, width));
                        let terms: Vec<Term> = terms.collect();
                        let holds = engine.leaves.term(&holds, 1);
                        Ok(Value::Term(chosen(holds, terms[0], terms[1])))
                    }
                };
            }
            OpCode::And | OpCode::Or => {
                let first = self.value(args[0], bound, engine)?;
                let ends = op.code == OpCode::Or;
                if decided(&first) == Some(ends) {
                    return Ok(first);
                }
            }
            OpCode::Extract => {
                if let Some(tile) = self.tile_of(args[0]) {
                    let Value::Known(at) = self.value(args[1], bound, engine)? else {
                        return Err(Stop::because("which element is meant depends on data"));
                    };
                    return engine.read(tile, &at, op.params[0]);
                }
            }
            OpCode::Read => {
                if args[0].as_var() != Some(MEMORY) {
                    return Err(Stop::because("memory is read that was just written"));
                }
                let at = self.value(args[1], bound, engine)?;
                let (array, at) = in_array(at)?;
                if self.code.beside() {
                    engine.uses(array, false, false)?;
                }
                return engine.read(Space::Array(array), &at, 8 * op.params[0]);
            }
            _ => {}
        }
        let values = self.values(args, bound, engine)?;
        if let Some(known) = of_numbers(op, args, &values, engine)? {
            return Ok(known);
        }
        let each = args.iter().zip(&values);
        let terms = each.map(|(t, v)| match (t.sort(), v) {
            (_, Value::Term(term)) => Ok(*term),
            (Sort::Bv(width), known) => Ok(engine.leaves.term(known, width)),
            (Sort::Int, Value::Known(n)) => match n.as_constant() {
                Some(n) => Ok(Term::int(n)),
                None => Err(Stop::Cut(n.terms[0].0, 1)),
            },
            _ => Err(Stop::because("a number is no data")),
        });
        let terms = terms.collect::<Result<Vec<Term>, Stop>>()?;
        if op.code == OpCode::Extract
            && terms[1].as_int() == Some(0)
            && let Some(low) = low(terms[0], op.params[0], DEEP)
        {
            return Ok(plain(low));
        }
        Ok(plain(b::app(op, &terms)))
    }

    fn values(
        &self,
        args: &[Term],
        bound: &Bound,
        engine: &mut Engine<'_>,
    ) -> Result<Vec<Value>, Stop> {
        args.iter().map(|a| self.value(*a, bound, engine)).collect()
    }
}

/// Operations of a sum whose low bits are taken, one inside of another, at most.
const DEEP: u32 = 8;

/// The low bits of sums and products of numbers that were extended: what a host computes in wide registers
/// as it is written down. None of anything else.
fn low(term: Term, width: u32, deep: u32) -> Option<Term> {
    if term.as_bits().is_some() {
        return Some(b::extract(term, 0, width));
    }
    let (op, args) = term.as_app()?;
    let deeper = |t: Term| low(t, width, deep.checked_sub(1)?);
    match op.code {
        OpCode::Sext | OpCode::Zext if args[0].width() == width => {
            Some(deeper(args[0]).unwrap_or(args[0]))
        }
        OpCode::Extract => {
            // Shifted up and down again, which is what extends a number.
            let from = args[1].as_int().and_then(|n| u64::try_from(n).ok())?;
            let shifted = args[0].args_of(OpCode::BvShl);
            let by = shifted.and_then(|s| s[1].as_bits());
            let by = by.filter(|b| b.width() <= 64).map(|b| b.low_u64());
            match (from, shifted) {
                (0, _) => deeper(args[0]),
                (_, Some([inner, _])) if by == Some(from) => deeper(*inner),
                _ => None,
            }
        }
        OpCode::BvAdd | OpCode::BvSub | OpCode::BvMul => {
            let args = args.iter().map(|a| deeper(*a));
            Some(b::app(op, &args.collect::<Option<Vec<Term>>>()?))
        }
        _ => None,
    }
}

/// A constant as a number.
pub(crate) fn plain(term: Term) -> Value {
    match term.as_bits().filter(|b| b.width() <= 64) {
        Some(bits) => Value::number(signed(bits.low_u64(), bits.width())),
        None => match term.as_int() {
            Some(n) => Value::number(n),
            None => Value::Term(term),
        },
    }
}

/// Bits as a number with a sign.
pub(crate) fn signed(bits: u64, width: u32) -> i64 {
    let up = 64 - width.clamp(1, 64);
    (bits << up) as i64 >> up
}

/// What a condition is, when that is known.
pub(super) fn decided(value: &Value) -> Option<bool> {
    match value {
        Value::Term(term) => term.as_bool(),
        Value::Known(_) => None,
    }
}

/// The array that an address is in, and the first bit.
fn in_array(at: Value) -> Result<(u32, Linear), Stop> {
    let Value::Known(mut at) = at else {
        return Err(Stop::because("an address depends on data"));
    };
    let array = at.base.take();
    let array = array.ok_or_else(|| Stop::because("an address is in no array"))?;
    Ok((array, at.times(8)?))
}

/// An operator on numbers that are functions of counters; none where it is left to terms.
fn of_numbers(
    op: Op,
    args: &[Term],
    values: &[Value],
    engine: &Engine<'_>,
) -> Result<Option<Value>, Stop> {
    let mut numbers = Vec::new();
    for value in values {
        match value {
            Value::Known(n) => numbers.push(n),
            Value::Term(_) => return Ok(None),
        }
    }
    let counters = &engine.leaves.counters;
    let constant = |n: &Linear| n.as_constant();
    let known = |n: Linear| Ok(Some(Value::Known(n)));
    let truth = |holds: bool| Ok(Some(Value::Term(Term::bool(holds))));
    let all_constant = numbers.iter().all(|n| n.as_constant().is_some());
    let bits =
        |width: u32| matches!(args.first().map(|a| a.sort()), Some(Sort::Bv(w)) if w == width);
    let wide = args.first().map_or(0, |a| match a.sort() {
        Sort::Bv(width) => width,
        _ => 64,
    });
    let fits = |n: &Linear, low: i128, high: i128| {
        let (least, most) = counters.range(n);
        n.base.is_none() && least >= low && most <= high
    };
    let half = 1_i128 << (wide.clamp(1, 64) - 1);
    match (op.code, &numbers[..]) {
        (OpCode::IntAdd, [x, y]) => known(x.plus(y)?),
        (OpCode::IntMul, [x, y]) => match (constant(x), constant(y)) {
            (_, Some(n)) => known(x.times(n)?),
            (Some(n), _) => known(y.times(n)?),
            _ => Err(Stop::because("counters are multiplied")),
        },
        (OpCode::IntDiv | OpCode::IntMod, [x, y]) => {
            let by = constant(y).filter(|n| *n > 0);
            let by = by.ok_or_else(|| Stop::because("a counter divides"))?;
            let (whole, left) = divided(counters, x, by, i128::from(by) - 1)?;
            known(if op.code == OpCode::IntDiv {
                whole
            } else {
                left
            })
        }
        (OpCode::IntLt, [x, y]) => truth(!at_most(y, x, engine)?),
        (OpCode::IntToBv, [x]) => known((*x).clone()),
        _ if all_constant => Ok(None),
        (OpCode::BvAdd, [x, y]) => known(x.plus(y)?),
        (OpCode::BvSub, [x, y]) => known(x.minus(y)?),
        (OpCode::BvNeg, [x]) => known(x.times(-1)?),
        (OpCode::BvMul, [x, y]) => match (constant(x), constant(y)) {
            (_, Some(n)) => known(x.times(n)?),
            (Some(n), _) => known(y.times(n)?),
            _ => Ok(None),
        },
        (OpCode::BvShl, [x, y]) => match constant(y).filter(|n| (0..62).contains(n)) {
            Some(by) => known(x.times(1 << by)?),
            None => Ok(None),
        },
        (OpCode::BvAshr, [x, y]) if fits(x, -half, half - 1) => {
            match constant(y).filter(|n| (0..62).contains(n)) {
                Some(by) => {
                    let (whole, _) = divided(counters, x, 1 << by, (1 << by) - 1)?;
                    known(whole)
                }
                None => Ok(None),
            }
        }
        // An address, and a number that keeps its sign, is the same in more bits.
        (OpCode::Zext, [x]) if x.base.is_some() || fits(x, 0, half - 1) => known((*x).clone()),
        (OpCode::Sext, [x]) if fits(x, -half, half - 1) => known((*x).clone()),
        (OpCode::BvSlt | OpCode::BvSle, [x, y]) => {
            if !fits(x, -half, half - 1) || !fits(y, -half, half - 1) {
                return Err(Stop::because("what is compared may wrap"));
            }
            match op.code {
                OpCode::BvSlt => truth(!at_most(y, x, engine)?),
                _ => truth(at_most(x, y, engine)?),
            }
        }
        (OpCode::BvUlt | OpCode::BvUle, [x, y]) => {
            if !fits(x, 0, half - 1) || !fits(y, 0, half - 1) {
                return Err(Stop::because("what is compared may wrap"));
            }
            match op.code {
                OpCode::BvUlt => truth(!at_most(y, x, engine)?),
                _ => truth(at_most(x, y, engine)?),
            }
        }
        (OpCode::Eq, [x, y]) if bits(wide) => {
            if !fits(x, -half, half - 1) || !fits(y, -half, half - 1) {
                return Err(Stop::because("what is compared may wrap"));
            }
            truth(at_most(x, y, engine)? && at_most(y, x, engine)?)
        }
        _ => Ok(None),
    }
}
