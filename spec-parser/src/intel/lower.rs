//! From the tree of a body to an instruction: symbolic execution.
//!
//! In: a [`Signature`] and its pseudocode. Out: an [`Instruction`] whose result is a rolled
//! term over the operands, or diagnostics. Integers are unbounded and exact until they are
//! assigned to a slice; control is concrete wherever it can be; each element of a register
//! stays separate until [`crate::roll`] finds their pattern. Memory, floating-point
//! arithmetic and calls for their effect are refused.

mod builtin;
mod compare;
mod expression;
mod idiom;
mod machine;
mod merge;
mod place;
mod register;
mod select;
#[cfg(test)]
mod tests;
mod value;

use super::ast::{Block, ExprKind, Name, Statement, StatementKind};
use super::tree::field_width;
use crate::roll::roll;
use crate::signature::Signature;
use machine::{Fault, Frame, Machine, Slot};
use register::{Piece, Register};
use semantics::diagnostic::Diagnostic;
use semantics::instruction::{Element, Instruction, Origin, Output, Role};
use semantics::span::{Source, Span};
use semantics::term::Term;
use std::collections::BTreeMap;
use std::rc::Rc;
use value::Class;

/// The meaning of a body of pseudocode: the range `span` of `source`, undecoded when it is
/// `xml`.
///
/// # Errors
/// What keeps the body from having a meaning, with places in `source`.
pub fn lower_body(
    signature: &Signature,
    source: &Source,
    span: Span,
    xml: bool,
) -> Result<Instruction, Vec<Diagnostic>> {
    let block = super::parser::parse(source, span, xml)?;
    lower(signature, &block, source, span)
}

/// The meaning of a tree.
///
/// # Errors
/// What keeps it from having one, with places in `source`.
pub fn lower(
    signature: &Signature,
    block: &Block,
    source: &Source,
    span: Span,
) -> Result<Instruction, Vec<Diagnostic>> {
    let pieces = result(signature, block, span).map_err(|f| {
        let mut diagnostic = Diagnostic::error(f.message).at(source, f.span);
        diagnostic.hint = f.hint;
        vec![diagnostic.with_note(format!("in `{}`", signature.name))]
    })?;
    let place = source.line_column(span.start);
    Ok(Instruction {
        name: signature.name.clone(),
        isa: signature.isa.clone(),
        mnemonic: signature.mnemonic.clone(),
        operands: signature.operands.clone(),
        outputs: vec![Output {
            name: "dst".to_owned(),
            c_type: signature.returns.c_type.clone(),
            element: signature.returns.element,
            term: roll(&pieces),
            undefined: Vec::new(),
        }],
        features: signature.features.clone(),
        form: signature.form,
        pseudocode: source.slice(span).to_owned(),
        origin: Origin {
            file: source.name().to_owned(),
            line: u32::try_from(place.line).unwrap_or(u32::MAX),
            ..Origin::default()
        },
    })
}

/// The result, as the pieces that were written, least significant first.
fn result(signature: &Signature, block: &Block, span: Span) -> Result<Vec<Term>, Box<Fault>> {
    let refuse = |message: &str| {
        Err(Box::new(Fault {
            message: message.to_owned(),
            span,
            hint: None,
        }))
    };
    let width = signature.returns.width;
    if width == 0 {
        return refuse("a function that returns nothing is not described");
    }
    if signature.operands.iter().any(|o| o.role == Role::Pointer) {
        return refuse("memory is not described");
    }
    let mut assigned = BTreeMap::new();
    names(block, &mut assigned);
    let mut machine = Machine {
        functions: functions(block),
        constants: BTreeMap::new(),
        tables: BTreeMap::new(),
        frames: vec![operands(signature)],
        aliases: aliases(signature, &assigned),
        assigned,
        steps: 0,
    };
    let returned = machine.run(block, span)?;
    machine.tidy();
    match returned {
        Some(v) => Ok(vec![machine::at(v.bits(width), span)?]),
        None => match machine.slot(&Name::from(RESULT)) {
            Some(Slot::Bits(register)) if machine.assigns_result() => Ok(register.elements(width)),
            _ => refuse("the body assigns no result"),
        },
    }
}

/// The name of the result variable.
const RESULT: &str = "dst";
/// Other spellings of it.
const SPELLINGS: [&str; 3] = ["dest", "DEST", "Dst"];

impl Machine {
    fn assigns_result(&self) -> bool {
        self.assigned
            .keys()
            .any(|name| &**name == RESULT || self.aliases.get(name).is_some_and(|n| &**n == RESULT))
    }
}

/// The operands and the result before the body runs.
fn operands(signature: &Signature) -> Frame {
    let mut frame = Frame::default();
    for o in &signature.operands {
        let (class, element) = match o.element {
            Element::Signed(w) => (Class::Signed, w),
            Element::Unsigned(w) => (Class::Unsigned, w),
            Element::Float(w) => (Class::Float, w),
            Element::Bfloat16 => (Class::Float, 16),
            Element::Mask | Element::Untyped => (Class::Unsigned, 1),
        };
        let piece = Piece {
            term: o.var(),
            class,
            element: element.min(o.width),
        };
        let register = Rc::new(Register::fixed(piece));
        frame
            .slots
            .insert(o.name.as_str().into(), Slot::Bits(register));
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

/// Other names of the result: `dest`, and `k` where a mask is returned and `k` is no operand.
fn aliases(signature: &Signature, assigned: &BTreeMap<Name, ()>) -> BTreeMap<Name, Name> {
    let free = |name: &str| signature.operands.iter().all(|o| o.name != name);
    let mut out = BTreeMap::new();
    for spelling in SPELLINGS {
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
