//! Operators on floats, in vectors or alone.
//!
//! In: an operator and its arguments. Out: the name of its result, as bits.

use super::super::text::Function;
use super::super::types::{integers, vector};
use super::{Meaning, bits};
use semantics::float::{Format, Rounding};
use semantics::op::{Op, OpCode};
use semantics::term::Term;

/// How an operator on floats is written.
#[derive(Clone, Copy)]
pub(super) enum Float {
    Two(&'static str),
    Call(&'static str),
    Compare(&'static str),
    Extreme(&'static str),
    Round,
    Convert,
    FromInteger(&'static str),
}

/// The way of an operator on floats; none for others.
pub(super) fn float(op: Op) -> Option<(Format, Float)> {
    let way = match op.code {
        OpCode::FAdd => Float::Two("fadd"),
        OpCode::FSub => Float::Two("fsub"),
        OpCode::FMul => Float::Two("fmul"),
        OpCode::FDiv => Float::Two("fdiv"),
        OpCode::FSqrt => Float::Call("sqrt"),
        OpCode::FMadd => Float::Call("fma"),
        OpCode::FEq => Float::Compare("oeq"),
        OpCode::FLt => Float::Compare("olt"),
        OpCode::FLe => Float::Compare("ole"),
        OpCode::FUnord => Float::Compare("uno"),
        OpCode::FMin => Float::Extreme("olt"),
        OpCode::FMax => Float::Extreme("ogt"),
        OpCode::FRound => Float::Round,
        OpCode::FConvert => Float::Convert,
        OpCode::FFromSint => Float::FromInteger("sitofp"),
        OpCode::FFromUint => Float::FromInteger("uitofp"),
        _ => return None,
    };
    Some((Format::from_code(op.params()[0])?, way))
}

/// LLVM's type of a format, and its letters in names.
fn float_type(format: Format) -> Option<(&'static str, &'static str)> {
    match format {
        Format::F32 => Some(("float", "f32")),
        Format::F64 => Some(("double", "f64")),
        Format::F16 | Format::Bf16 => None,
    }
}

impl Meaning<'_> {
    /// Writes an operator on floats.
    pub(super) fn float(
        &mut self,
        f: &mut Function<'_>,
        (op, (format, float)): (Op, (Format, Float)),
        terms: &[Term],
        args: &[Vec<Term>],
    ) -> Result<String, String> {
        let unknown = || {
            let name = op.info().name;
            format!("`{name}` of {} is not written in LLVM IR", format.name())
        };
        let lanes = terms.len();
        let (element, short) = float_type(format).ok_or_else(unknown)?;
        let ty = vector(lanes, element);
        let called = |name: &str| match lanes {
            1 => format!("llvm.{name}.{short}"),
            _ => format!("llvm.{name}.v{lanes}{short}"),
        };
        let mut x = Vec::new();
        for arg in args {
            let value = self.pack(f, arg)?;
            let from = integers(lanes, bits(arg[0]));
            x.push(match float {
                Float::FromInteger(_) => value,
                _ => f.value(&format!("bitcast {from} {value} to {ty}")),
            });
        }
        let nearest = |at: usize| op.params().get(at) == Some(&Rounding::NearestEven.code());
        let typed: Vec<(&str, &str)> = x.iter().map(|v| (ty.as_str(), v.as_str())).collect();
        let (result, ty) = match float {
            Float::Two(name) if nearest(1) => (
                f.value(&format!("{name} {ty} {}, {}", x[0], x[1])),
                ty.clone(),
            ),
            Float::Call(name) if nearest(1) => (f.call(&called(name), &ty, &typed), ty.clone()),
            Float::Compare(name) => {
                return Ok(f.value(&format!("fcmp {name} {ty} {}, {}", x[0], x[1])));
            }
            Float::Extreme(name) => {
                let (a, b, truth) = (&x[0], &x[1], integers(lanes, 1));
                let first = f.value(&format!("fcmp {name} {ty} {a}, {b}"));
                let chosen = format!("select {truth} {first}, {ty} {a}, {ty} {b}");
                (f.value(&chosen), ty.clone())
            }
            Float::Round => {
                let name = match Rounding::from_code(op.params()[1]) {
                    Some(Rounding::NearestEven) => "roundeven",
                    Some(Rounding::Down) => "floor",
                    Some(Rounding::Up) => "ceil",
                    Some(Rounding::Zero) => "trunc",
                    _ => return Err(unknown()),
                };
                (f.call(&called(name), &ty, &typed), ty.clone())
            }
            Float::Convert if nearest(2) => {
                let to = Format::from_code(op.params()[1]).and_then(float_type);
                let to = vector(lanes, to.ok_or_else(unknown)?.0);
                let name = if format == Format::F32 {
                    "fpext"
                } else {
                    "fptrunc"
                };
                (f.value(&format!("{name} {ty} {} to {to}", x[0])), to)
            }
            Float::FromInteger(name) if nearest(1) => {
                let from = integers(lanes, bits(args[0][0]));
                (
                    f.value(&format!("{name} {from} {} to {ty}", x[0])),
                    ty.clone(),
                )
            }
            _ => return Err(unknown()),
        };
        let to = integers(lanes, bits(terms[0]));
        Ok(f.value(&format!("bitcast {ty} {result} to {to}")))
    }
}
