//! From the tree of a body to an instruction: symbolic execution.
//!
//! In: a [`Signature`], its pseudocode and its dialect. Out: an [`Instruction`] whose result is a rolled
//! term over the operands, or diagnostics. Integers are unbounded and exact until they are
//! assigned to a slice; control is concrete wherever it can be; each element of a register
//! stays separate until [`crate::roll`] finds their pattern. Calls for their effect are
//! refused.

mod ahead;
pub(crate) mod compare;
pub(crate) mod expression;
pub(crate) mod float;
mod idiom;
pub(crate) mod machine;
pub(crate) mod memory;
mod merge;
mod place;
pub(crate) mod register;
pub(crate) mod select;
pub(crate) mod shift;
pub(crate) mod state;
pub mod trace;
mod unit;
pub(crate) mod value;

use super::Dialect;
use super::ast::{Block, ExprKind, Name, Statement, StatementKind};
use crate::lowering_cache::{self, LoweringCache, Meaning};
use crate::roll::roll;
use crate::signature::Signature;
use machine::{Execution, Fault, Frame, Run, Slot, fault_with_hint};
use register::{Piece, Register};
use semantics::diagnostic::{Diagnostic, suggest};
use semantics::instruction::{Constants, Element, Instruction, Origin, Output};
use semantics::span::{Source, Span};
use semantics::term::Term;
use std::collections::BTreeMap;
use std::rc::Rc;
use value::{Class, Value};

/// The meaning of a body of pseudocode: the range `span` of `source`, undecoded when it is
/// `xml`. It may be known already; otherwise it is cached.
///
/// # Errors
/// What keeps the body from having a meaning, with places in `source`.
pub(crate) fn lower_cached(
    dialect: &'static dyn Dialect,
    signature: &Signature,
    source: &Source,
    span: Span,
    xml: bool,
    cached: &LoweringCache,
) -> Result<Instruction, Vec<Diagnostic>> {
    signature
        .check()
        .map_err(|wrong| vec![Diagnostic::error(wrong).at(source, span)])?;
    let body = lowering_cache::digest(dialect.name(), signature, source.slice(span), xml);
    if !cached.is_wanted(body) {
        return Err(Vec::new());
    }
    let meaning = match cached.get(body) {
        Some(known) => known,
        None => {
            let block = dialect.parse(source, span, xml)?;
            let found = lower(dialect, signature, &block, source, span)?;
            if found.is_empty() {
                return Err(vec![Diagnostic::error(NOTHING).at(source, span)]);
            }
            cached.keep(body, &found);
            found
        }
    };
    Ok(instruction(signature, meaning, source, span))
}

/// The meaning of a tree.
///
/// # Errors
/// What keeps it from having one, with places in `source`.
pub(crate) fn lower(
    dialect: &'static dyn Dialect,
    signature: &Signature,
    block: &Block,
    source: &Source,
    span: Span,
) -> Result<Meaning, Vec<Diagnostic>> {
    let registers = state::named(source.slice(span), signature);
    let results =
        results(dialect, signature, block, span, &registers).and_then(|r| shallow(r, span));
    let results = results.map_err(|f| {
        let mut diagnostic = Diagnostic::error(f.message).at(source, f.span);
        diagnostic.hint = f.hint;
        vec![diagnostic.with_note(format!("in `{}`", signature.name))]
    })?;
    Ok(named(&results))
}

/// The instruction of a signature, once its meaning is known.
pub(crate) fn instruction(
    signature: &Signature,
    meaning: Meaning,
    source: &Source,
    span: Span,
) -> Instruction {
    let place = source.line_column(span.start);
    Instruction {
        name: signature.name.clone(),
        isa: signature.isa.clone(),
        mnemonic: signature.mnemonic.clone(),
        operands: signature.operands.clone(),
        outputs: outputs(signature, meaning),
        features: signature.features.clone(),
        form: signature.form,
        pseudocode: source.slice(span).to_owned(),
        origin: Origin {
            file: source.name().to_owned(),
            line: u32::try_from(place.line).unwrap_or(u32::MAX),
            ..Origin::default()
        },
    }
}

/// What a body leaves behind.
struct Results {
    /// The returned value as the pieces that were written, least significant first.
    value: Option<Vec<Term>>,
    /// The memory, where it was written.
    memory: Option<Term>,
    /// Registers of the machine that were written.
    registers: Vec<(Name, Term)>,
    /// What was done to bits.
    events: trace::Events,
    /// Whether the body ended with a value of its own.
    returns: bool,
}

/// Refuses results that recursive functions cannot go down.
fn shallow(results: Results, span: Span) -> Result<Results, Box<Fault>> {
    let pieces = results.value.iter().flatten().copied();
    let effects = results.registers.iter().map(|(_, t)| *t);
    let height = pieces
        .chain(results.memory)
        .chain(effects)
        .map(Term::height);
    if height.max().is_some_and(|h| h > value::MOST_LEVELS) {
        let most = value::MOST_LEVELS;
        return machine::fault(format!("the result is more than {most} levels deep"), span);
    }
    Ok(results)
}

/// The results in the order of an instruction: the returned value, memory, registers.
fn named(results: &Results) -> Meaning {
    let value = results.value.as_ref().map(|pieces| (RESULT, roll(pieces)));
    let memory = results.memory.map(|term| (memory::MEMORY, term));
    let registers = results
        .registers
        .iter()
        .map(|(name, term)| (&**name, *term));
    let all = value.into_iter().chain(memory).chain(registers);
    all.map(|(name, term)| (name.to_owned(), term)).collect()
}

/// The results with their types: only the returned value has one.
fn outputs(signature: &Signature, meaning: Meaning) -> Vec<Output> {
    let output = |(name, term): (String, Term)| {
        let (c_type, element) = match name == RESULT {
            true => (signature.returns.c_type.clone(), signature.returns.element),
            false => ("void".to_owned(), Element::Untyped),
        };
        Output {
            name,
            c_type,
            element,
            term,
            undefined: Vec::new(),
        }
    };
    meaning.into_iter().map(output).collect()
}

/// Runs the body.
fn results(
    dialect: &'static dyn Dialect,
    signature: &Signature,
    block: &Block,
    span: Span,
    registers: &[state::Register],
) -> Result<Results, Box<Fault>> {
    let refuse = |message: &str| {
        Err(Box::new(Fault {
            message: message.to_owned(),
            span,
            hint: None,
        }))
    };
    let width = signature.returns.width;
    let mut assigned = BTreeMap::new();
    names(block, &mut assigned);
    // Where bits are values, memory is read by functions that count bytes themselves.
    let bytes = !dialect.has_bits() && unit::counts_bytes(block);
    let mut machine = Execution {
        dialect,
        functions: functions(block),
        constants: BTreeMap::new(),
        tables: BTreeMap::new(),
        pointers: pointers(dialect, signature),
        floats: float::Context::of(signature),
        bytes,
        acts: false,
        frames: vec![operands(dialect, signature, registers, bytes)],
        aliases: aliases(dialect, signature, &assigned),
        assigned,
        steps: 0,
        events: trace::Events::default(),
    };
    let returned = machine.run(block, span)?;
    machine.tidy();
    let memory = machine.frame().memory.after();
    let registers = written(&machine, registers);
    let events = std::mem::take(&mut machine.events);
    let returns = returned.is_some();
    if width == 0 {
        if memory.is_none() && registers.is_empty() && !machine.acts {
            return refuse(NOTHING);
        }
        return Ok(Results {
            value: None,
            memory,
            registers,
            events,
            returns,
        });
    }
    let value = match returned {
        Some(v) => vec![machine.returned(&v, width, span)?],
        None => match machine.result(signature) {
            Some(register) => register.elements(width),
            None => return machine.no_result(span),
        },
    };
    // A predicate has bits for elements.
    let value = match signature.returns.element {
        Element::Mask => value,
        _ => idiom::whole_masks(&value),
    };
    Ok(Results {
        value: Some(value),
        memory,
        registers,
        events,
        returns,
    })
}

/// The registers of the machine that a body has changed.
fn written(machine: &Execution, registers: &[state::Register]) -> Vec<(Name, Term)> {
    let after = |register: &state::Register| {
        let (name, width) = register;
        let term = machine::as_bits(machine.slot(name)).read(0, *width).term;
        (term != state::before(register)).then(|| (name.clone(), term))
    };
    let numbered = machine.frames.first().into_iter().flat_map(|f| &f.files);
    let numbered = numbered.map(|(name, term)| (name.clone(), *term));
    registers.iter().filter_map(after).chain(numbered).collect()
}

/// How what the pointers point at is read.
fn pointers(dialect: &dyn Dialect, signature: &Signature) -> BTreeMap<Name, (Class, u32)> {
    let pointers = signature.operands.iter().filter(|o| o.role.is_pointer());
    pointers
        .map(|o| (o.name.as_str().into(), reading(dialect, o.element)))
        .collect()
}

/// The class and the width of elements.
fn reading(dialect: &dyn Dialect, element: Element) -> (Class, u32) {
    match element {
        _ if dialect.has_bits() => (Class::Unsigned, 1),
        Element::Signed(w) => (Class::Signed, w),
        Element::Unsigned(w) => (Class::Unsigned, w),
        Element::Float(w) => (Class::Float, w),
        Element::Bfloat16 => (Class::Bfloat, 16),
        Element::Mask | Element::Untyped => (Class::Unsigned, 1),
    }
}

/// Why a body has no meaning that leaves nothing behind.
const NOTHING: &str = "the body returns nothing and writes no memory";
/// The name of the result variable.
pub(crate) const RESULT: &str = "dst";

impl Execution {
    fn assigns_result(&self) -> bool {
        self.assigned
            .keys()
            .any(|name| &**name == RESULT || self.aliases.get(name).is_some_and(|n| &**n == RESULT))
    }

    /// Why there is no result: what the body assigns instead.
    fn no_result<T>(&self, span: Span) -> Run<T> {
        let names = || self.assigned.keys().map(|name| &**name);
        let own = self.dialect.results().first().copied().unwrap_or(RESULT);
        let near = suggest(own, names());
        let counters = |name: &&str| name.len() > 1;
        let hint = match (near, names().find(counters)) {
            (Some(near), _) => format!("did you mean `{own}` instead of `{near}`?"),
            (None, Some(name)) => format!("the result is called `{own}`; this assigns `{name}`"),
            (None, None) => format!("the result is called `{own}`"),
        };
        fault_with_hint("the body assigns no result", span, hint)
    }

    /// The bits of the result. A body that assigns none says what becomes of the operand that the
    /// instruction overwrites: the first, where it is of the result's type.
    fn result(&self, signature: &Signature) -> Option<Rc<Register>> {
        let overwritten = signature.operands.first().filter(|o| {
            let alike = o.c_type == signature.returns.c_type && !self.dialect.has_bits();
            alike && self.assigned.contains_key(&Name::from(o.name.as_str()))
        });
        let name = match self.assigns_result() {
            true => RESULT,
            false => overwritten?.name.as_str(),
        };
        match self.slot(&Name::from(name)) {
            Some(Slot::Bits(register)) => Some(register.clone()),
            _ => None,
        }
    }
}

/// The operands and the result before the body runs.
fn operands(
    dialect: &dyn Dialect,
    signature: &Signature,
    registers: &[state::Register],
    bytes: bool,
) -> Frame {
    let mut frame = Frame::default();
    for register in registers {
        let piece = Piece {
            term: state::before(register),
            class: Class::Unsigned,
            element: 1,
        };
        let slot = Slot::Bits(Rc::new(Register::fixed(piece)));
        frame.slots.insert(register.0.clone(), slot);
    }
    for o in &signature.operands {
        let slot = |slot| (Name::from(o.name.as_str()), slot);
        if o.role.is_pointer() {
            let address = Value::Address(Box::new(memory::Address {
                base: o.var(),
                offset: Value::Int(0),
                bytes,
            }));
            frame.slots.extend([slot(Slot::Scalar(address))]);
            continue;
        }
        let whole = dialect.has_bits() || dialect.is_enumeration(o);
        if let (true, Some(constants)) = (whole, o.role.constants()) {
            frame
                .slots
                .extend([slot(Slot::Scalar(constant(o.var(), constants)))]);
            continue;
        }
        let (class, element) = reading(dialect, o.element);
        let piece = Piece {
            term: o.var(),
            class,
            element: element.min(o.width),
        };
        let register = Rc::new(Register::fixed(piece));
        frame.slots.extend([slot(Slot::Bits(register))]);
    }
    if signature.returns.width == 0 {
        return frame;
    }
    let zero = Piece {
        term: semantics::build::zero(signature.returns.width),
        class: Class::Unsigned,
        element: 1,
    };
    frame
        .slots
        .insert(RESULT.into(), Slot::Bits(Rc::new(Register::fixed(zero))));
    frame
}

/// A constant operand as an integer: it is one of those that it may be.
fn constant(var: Term, constants: Constants) -> Value {
    let last = constants.nth(constants.count().saturating_sub(1));
    let bounds = constants.nth(0).zip(last);
    let range = bounds.map(|(least, most)| (i128::from(least), i128::from(most)));
    Value::Sym(value::Sym::ranged(var, false, range))
}

/// Other names of the result: `dest`, and `k` where a mask is returned and `k` is no operand.
fn aliases(
    dialect: &dyn Dialect,
    signature: &Signature,
    assigned: &BTreeMap<Name, ()>,
) -> BTreeMap<Name, Name> {
    let free = |name: &str| signature.operands.iter().all(|o| o.name != name);
    let mut out = BTreeMap::new();
    for &spelling in dialect.results() {
        if free(spelling) {
            out.insert(spelling.into(), RESULT.into());
        }
    }
    let mask = signature.returns.c_type.starts_with("__mmask");
    if mask && free("k") && !assigned.contains_key(RESULT) {
        out.insert("k".into(), RESULT.into());
    }
    out
}

/// Functions that the body defines.
fn functions(block: &Block) -> BTreeMap<Name, std::sync::Arc<super::ast::Function>> {
    block
        .iter()
        .filter_map(|s| match &s.kind {
            StatementKind::Define(f) => Some((f.name.clone(), f.clone())),
            _ => None,
        })
        .collect()
}

/// Every name that is assigned somewhere.
fn names(block: &[Statement], out: &mut BTreeMap<Name, ()>) {
    for statement in block {
        match &statement.kind {
            StatementKind::Assign { target, .. } => {
                let mut base = target;
                while let ExprKind::Slice(inner, ..)
                | ExprKind::Index(inner, _)
                | ExprKind::Field(inner, _) = &base.kind
                {
                    base = inner;
                }
                if let Some(name) = base.as_name() {
                    out.insert(name.clone(), ());
                }
            }
            StatementKind::For { body, .. } | StatementKind::While { body, .. } => names(body, out),
            StatementKind::If { arms, otherwise } => {
                arms.iter().for_each(|(_, b)| names(b, out));
                names(otherwise, out);
            }
            StatementKind::Case { arms, .. } => arms.iter().for_each(|a| names(&a.body, out)),
            StatementKind::Define(f) => names(&f.body, out),
            StatementKind::Declare(all) => out.extend(all.iter().map(|n| (n.clone(), ()))),
            _ => {}
        }
    }
}
