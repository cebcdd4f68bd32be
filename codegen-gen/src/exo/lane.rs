//! The elements of a result as expressions of Exo.
//!
//! In: a member with its operation. Out: [`Lanes`], one expression that holds for each element
//! `i` over `operand[i]`, `operand[0]` and bits of a mask; nothing where the elements differ in
//! more than their index or need an operator that Exo does not have.

use autoir::dictionary::{Member, Operation};
use semantics::float::Rounding;
use semantics::op::OpCode;
use semantics::term::Term;
use semantics::unroll::{elements, unroll};

/// An element of a result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Expr {
    /// An element of an operand: its bits from `lo`, so many.
    Element {
        operand: String,
        lo: u32,
        width: u32,
    },
    /// An element behind a pointer: bytes from it.
    Loaded {
        pointer: String,
        byte: u64,
        width: u32,
    },
    /// Zero.
    Zero,
    /// An operator between two.
    Two(char, Box<Expr>, Box<Expr>),
    /// By a bit of a mask.
    Choice {
        mask: String,
        bit: u32,
        yes: Box<Expr>,
        no: Box<Expr>,
    },
}

/// All elements of a result.
pub(super) struct Lanes {
    /// Bits of an element.
    pub(super) width: u32,
    /// The pointer that they are stored behind; nothing for a returned value.
    pub(super) stored: Option<String>,
    /// The expressions, least significant element first. One that stays what it was is `None`.
    pub(super) each: Vec<Option<Expr>>,
    /// The mask of a masked store.
    pub(super) mask: Option<String>,
}

/// The elements of a member's only result.
pub(super) fn lanes(operation: &Operation, member: &Member, width: u32) -> Option<Lanes> {
    let [only] = member.outputs.as_slice() else {
        return None;
    };
    let term = member.result(operation, 0).ok()?;
    if only.c_type == "void" {
        return stores(unroll(term), width);
    }
    if !term.width().is_multiple_of(width) {
        return None;
    }
    let each = elements(term, width).into_iter().map(|t| expr(t).map(Some));
    Some(Lanes {
        width,
        stored: None,
        each: each.collect::<Option<Vec<_>>>()?,
        mask: None,
    })
}

/// A chain of writes behind one pointer.
fn stores(mut term: Term, width: u32) -> Option<Lanes> {
    let mut found: Vec<(u64, Term)> = Vec::new();
    let (mut pointer, mut mask): (Option<String>, Option<String>) = (None, None);
    loop {
        let (condition, write) = match term.args_of(OpCode::Ite) {
            Some(args) => (Some(condition(args[0])?), args[1]),
            None => (None, term),
        };
        let Some(args) = write.args_of(OpCode::Write) else {
            break;
        };
        let (to, byte) = address(args[1])?;
        if pointer.get_or_insert(to.clone()) != &to {
            return None;
        }
        if let Some((name, bit)) = condition {
            let unlike = u64::from(bit) * u64::from(width / 8) != byte;
            if unlike || mask.get_or_insert(name.clone()) != &name {
                return None;
            }
            let same = term.args_of(OpCode::Ite)?;
            if same[2] != args[0] {
                return None;
            }
        }
        found.push((byte, args[2]));
        term = args[0];
    }
    term.as_var()?;
    found.sort_by_key(|(byte, _)| *byte);
    let mut each = Vec::new();
    for (byte, value) in found {
        let at = each.len() as u64 * u64::from(width / 8);
        if byte != at || !value.width().is_multiple_of(width) {
            return None;
        }
        for lane in elements(value, width) {
            each.push(Some(expr(lane)?));
        }
    }
    Some(Lanes {
        width,
        stored: Some(pointer?),
        each,
        mask,
    })
}

/// A pointer and a constant beside it.
fn address(t: Term) -> Option<(String, u64)> {
    if let Some(name) = t.as_var() {
        return Some((name.to_owned(), 0));
    }
    let args = t.args_of(OpCode::BvAdd)?;
    let (name, constant) = match args[0].as_var() {
        Some(name) => (name, args[1]),
        None => (args[1].as_var()?, args[0]),
    };
    Some((name.to_owned(), constant.as_bits()?.low_u64()))
}

/// A bit of a mask.
fn condition(t: Term) -> Option<(String, u32)> {
    let args = t.args_of(OpCode::Eq)?;
    let is_one = |t: Term| {
        t.as_bits()
            .is_some_and(|b| b.width() == 1 && b.low_u64() == 1)
    };
    let bit = match (is_one(args[0]), is_one(args[1])) {
        (true, _) => args[1],
        (_, true) => args[0],
        _ => return None,
    };
    match part(bit)? {
        (name, lo, 1) => Some((name, lo)),
        _ => None,
    }
}

/// Some bits of an operand.
fn part(t: Term) -> Option<(String, u32, u32)> {
    if let Some(name) = t.as_var() {
        return Some((name.to_owned(), 0, t.width()));
    }
    let args = t.args_of(OpCode::Extract)?;
    let lo = u32::try_from(args[1].as_int()?).ok()?;
    Some((args[0].as_var()?.to_owned(), lo, t.width()))
}

/// The most nodes of the tree that an element is: shared parts are written out.
const MOST_NODES: u32 = 2000;

fn expr(t: Term) -> Option<Expr> {
    if t.size() > MOST_NODES {
        return None;
    }
    if let Some((operand, lo, width)) = part(t) {
        return Some(Expr::Element { operand, lo, width });
    }
    if let Some(bits) = t.as_bits() {
        return bits.is_zero().then_some(Expr::Zero);
    }
    let (op, args) = t.as_app()?;
    let two = |sign: char| {
        let (a, b) = (expr(args[0])?, expr(args[1])?);
        Some(Expr::Two(sign, Box::new(a), Box::new(b)))
    };
    let nearest = op.params().get(1) == Some(&Rounding::NearestEven.code());
    match op.code {
        OpCode::BvAdd => two('+'),
        OpCode::BvSub => two('-'),
        OpCode::BvMul => two('*'),
        OpCode::FAdd if nearest => two('+'),
        OpCode::FSub if nearest => two('-'),
        OpCode::FMul if nearest => two('*'),
        OpCode::FDiv if nearest => two('/'),
        OpCode::FMadd if nearest => {
            let product = two('*')?;
            Some(Expr::Two('+', Box::new(product), Box::new(expr(args[2])?)))
        }
        OpCode::Ite => {
            let (mask, bit) = condition(args[0])?;
            let (yes, no) = (Box::new(expr(args[1])?), Box::new(expr(args[2])?));
            Some(Expr::Choice { mask, bit, yes, no })
        }
        OpCode::Read => {
            let (pointer, byte) = address(args[1])?;
            let width = t.width();
            Some(Expr::Loaded {
                pointer,
                byte,
                width,
            })
        }
        OpCode::Extract => {
            let inner = args[0].args_of(OpCode::Read)?;
            let lo = u64::try_from(args[1].as_int()?).ok()?;
            let (pointer, byte) = address(inner[1])?;
            let width = t.width();
            lo.is_multiple_of(8).then_some(Expr::Loaded {
                pointer,
                byte: byte + lo / 8,
                width,
            })
        }
        _ => None,
    }
}
