//! Terms as LLVM IR.
//!
//! In: a term over named operands. Out: the name of a value of as many bits. Operators that
//! the table defines by others are expanded; every operator is total, as in the table.

use super::text::Function;
use semantics::bits::Bits;
use semantics::float::{Format, Rounding};
use semantics::op::{Op, OpCode, Smt};
use semantics::sort::Sort;
use semantics::term::{Kind, Term};
use semantics::unroll::unroll;
use std::collections::HashMap;

/// Where the bits of an operand are.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// In memory from an address on, so many.
    Memory(String, u32),
    /// In a value of so many bits.
    Value(String, u32),
}

/// Writes terms over the same operands, each part of them once.
pub(super) struct Meaning<'p> {
    places: &'p HashMap<String, Place>,
    done: HashMap<Term, String>,
}

/// A constant of any width.
pub(super) fn number(bits: &Bits) -> String {
    if bits.width() <= 64 {
        return if bits.width() == 1 {
            (bits.low_u64() == 1).to_string()
        } else {
            bits.low_u64().to_string()
        };
    }
    // LLVM reads hexadecimal integers of any width when they are marked as unsigned.
    let digits: String = bits
        .to_bytes()
        .iter()
        .rev()
        .map(|b| format!("{b:02x}"))
        .collect();
    format!("u0x{}", digits.to_uppercase())
}

impl<'p> Meaning<'p> {
    pub(super) fn new(places: &'p HashMap<String, Place>) -> Self {
        Meaning {
            places,
            done: HashMap::new(),
        }
    }

    /// The value of a term.
    pub(super) fn term(&mut self, f: &mut Function<'_>, t: Term) -> Result<String, String> {
        let t = unroll(t);
        self.flat(f, t)
    }

    fn flat(&mut self, f: &mut Function<'_>, t: Term) -> Result<String, String> {
        if let Some(done) = self.done.get(&t) {
            return Ok(done.clone());
        }
        let value = match t.kind() {
            Kind::Var { .. } => self.operand(f, t, 0, t.width())?,
            _ => match (t.as_bits(), t.as_bool(), t.as_app()) {
                (Some(bits), ..) => number(bits),
                (_, Some(truth), _) => truth.to_string(),
                (_, _, Some((op, args))) => self.application(f, t, op, args)?,
                _ => return Err(format!("{t} has no value in LLVM IR")),
            },
        };
        self.done.insert(t, value.clone());
        Ok(value)
    }

    /// Some bits of an operand.
    fn operand(
        &self,
        f: &mut Function<'_>,
        t: Term,
        lo: u32,
        width: u32,
    ) -> Result<String, String> {
        let name = t.as_var().unwrap_or_default();
        match self.places.get(name) {
            Some(Place::Memory(pointer, _)) if lo.is_multiple_of(8) && width.is_multiple_of(8) => {
                let from = f.at(&pointer.clone(), 8, &(lo / 8).to_string());
                Ok(f.value(&format!("load i{width}, ptr {from}, align 1")))
            }
            Some(place) => {
                let (value, all) = match place.clone() {
                    Place::Memory(pointer, all) => (
                        f.value(&format!("load i{all}, ptr {pointer}, align 1")),
                        all,
                    ),
                    Place::Value(value, all) => (value, all),
                };
                Ok(part(f, &value, all, lo, width))
            }
            None => Err(format!("`{name}` is not an operand")),
        }
    }

    fn application(
        &mut self,
        f: &mut Function<'_>,
        t: Term,
        op: Op,
        args: &[Term],
    ) -> Result<String, String> {
        if op.code == OpCode::Extract {
            let lo = args[1].as_int().and_then(|lo| u32::try_from(lo).ok());
            let lo = lo.ok_or("an extract at no constant")?;
            if args[0].as_var().is_some() {
                return self.operand(f, args[0], lo, t.width());
            }
            let value = self.flat(f, args[0])?;
            return Ok(part(f, &value, args[0].width(), lo, t.width()));
        }
        if let Some(float) = float(op.code)
            && let Some(format) = Format::from_code(op.params()[0])
        {
            return self.float(f, t, op, format, float, args);
        }
        if let Smt::Defined(expand) = op.info().smt {
            return self.term(f, expand(op.params(), args));
        }
        let x = args
            .iter()
            .map(|&a| self.flat(f, a))
            .collect::<Result<Vec<_>, _>>()?;
        let ty = type_of(args[0]);
        let w = if args[0].sort() == Sort::Bool {
            1
        } else {
            args[0].width()
        };
        let two =
            |f: &mut Function<'_>, op: &str| f.value(&format!("{op} {ty} {}, {}", x[0], x[1]));
        Ok(match op.code {
            OpCode::Not => f.value(&format!("xor i1 {}, true", x[0])),
            OpCode::And | OpCode::BvAnd => two(f, "and"),
            OpCode::Or | OpCode::BvOr => two(f, "or"),
            OpCode::BvXor => two(f, "xor"),
            OpCode::Eq => two(f, "icmp eq"),
            OpCode::Ite => {
                let ty = type_of(t);
                f.value(&format!("select i1 {}, {ty} {}, {ty} {}", x[0], x[1], x[2]))
            }
            OpCode::BvNot => f.value(&format!("xor {ty} {}, -1", x[0])),
            OpCode::BvNeg => f.value(&format!("sub {ty} 0, {}", x[0])),
            OpCode::BvAdd => two(f, "add"),
            OpCode::BvSub => two(f, "sub"),
            OpCode::BvMul => two(f, "mul"),
            OpCode::BvUlt => two(f, "icmp ult"),
            OpCode::BvUle => two(f, "icmp ule"),
            OpCode::BvSlt => two(f, "icmp slt"),
            OpCode::BvSle => two(f, "icmp sle"),
            OpCode::BvUdiv | OpCode::BvUrem | OpCode::BvSdiv | OpCode::BvSrem => {
                divide(f, op.code, &ty, &x)
            }
            OpCode::BvShl | OpCode::BvLshr | OpCode::BvAshr => shift(f, op.code, w, &x),
            OpCode::Zext => f.value(&format!("zext {ty} {} to i{}", x[0], t.width())),
            OpCode::Sext => f.value(&format!("sext {ty} {} to i{}", x[0], t.width())),
            OpCode::Concat => concat(f, t.width(), args, &x),
            _ => return Err(format!("`{}` is not written in LLVM IR", op.info().name)),
        })
    }

    fn float(
        &mut self,
        f: &mut Function<'_>,
        t: Term,
        op: Op,
        format: Format,
        float: Float,
        args: &[Term],
    ) -> Result<String, String> {
        let unknown = || {
            format!(
                "`{}` of {} is not written in LLVM IR",
                op.info().name,
                format.name()
            )
        };
        let (ty, short) = float_type(format).ok_or_else(unknown)?;
        let from_integer = matches!(float, Float::FromInteger(_));
        let mut x = Vec::new();
        for &arg in args {
            let value = self.flat(f, arg)?;
            let width = arg.width();
            x.push(if from_integer {
                value
            } else {
                f.value(&format!("bitcast i{width} {value} to {ty}"))
            });
        }
        let nearest = |at: usize| op.params().get(at) == Some(&Rounding::NearestEven.code());
        let typed: Vec<(&str, &str)> = x.iter().map(|v| (ty, v.as_str())).collect();
        let (result, ty) = match float {
            Float::Two(name) if nearest(1) => {
                (f.value(&format!("{name} {ty} {}, {}", x[0], x[1])), ty)
            }
            Float::Call(name) if nearest(1) => {
                (f.call(&format!("llvm.{name}.{short}"), ty, &typed), ty)
            }
            Float::Compare(name) => {
                return Ok(f.value(&format!("fcmp {name} {ty} {}, {}", x[0], x[1])));
            }
            Float::Extreme(name) => {
                let first = f.value(&format!("fcmp {name} {ty} {}, {}", x[0], x[1]));
                (
                    f.value(&format!("select i1 {first}, {ty} {}, {ty} {}", x[0], x[1])),
                    ty,
                )
            }
            Float::Round => {
                let name = match Rounding::from_code(op.params()[1]) {
                    Some(Rounding::NearestEven) => "roundeven",
                    Some(Rounding::Down) => "floor",
                    Some(Rounding::Up) => "ceil",
                    Some(Rounding::Zero) => "trunc",
                    _ => return Err(unknown()),
                };
                (f.call(&format!("llvm.{name}.{short}"), ty, &typed), ty)
            }
            Float::Convert if nearest(2) => {
                let to = Format::from_code(op.params()[1]).and_then(float_type);
                let (to, _) = to.ok_or_else(unknown)?;
                let name = if format == Format::F32 {
                    "fpext"
                } else {
                    "fptrunc"
                };
                (f.value(&format!("{name} {ty} {} to {to}", x[0])), to)
            }
            Float::FromInteger(name) if nearest(1) => (
                f.value(&format!("{name} i{} {} to {ty}", args[0].width(), x[0])),
                ty,
            ),
            _ => return Err(unknown()),
        };
        Ok(f.value(&format!("bitcast {ty} {result} to i{}", t.width())))
    }
}

/// How an operator on floats is written.
#[derive(Clone, Copy)]
enum Float {
    Two(&'static str),
    Call(&'static str),
    Compare(&'static str),
    Extreme(&'static str),
    Round,
    Convert,
    FromInteger(&'static str),
}

/// The way of an operator on floats; none for others.
fn float(code: OpCode) -> Option<Float> {
    Some(match code {
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
    })
}

/// LLVM's type of a format, and its letters in names.
fn float_type(format: Format) -> Option<(&'static str, &'static str)> {
    match format {
        Format::F32 => Some(("float", "f32")),
        Format::F64 => Some(("double", "f64")),
        Format::F16 | Format::Bf16 => None,
    }
}

fn type_of(t: Term) -> String {
    match t.sort() {
        Sort::Bool => "i1".to_owned(),
        _ => format!("i{}", t.width()),
    }
}

fn part(f: &mut Function<'_>, value: &str, all: u32, lo: u32, width: u32) -> String {
    let low = match lo {
        0 => value.to_owned(),
        _ => f.value(&format!("lshr i{all} {value}, {lo}")),
    };
    if width == all {
        return low;
    }
    f.value(&format!("trunc i{all} {low} to i{width}"))
}

fn concat(f: &mut Function<'_>, width: u32, args: &[Term], x: &[String]) -> String {
    let (mut whole, mut at) = (None, 0);
    for (arg, value) in args.iter().zip(x).rev() {
        let w = arg.width();
        let mut wide = value.clone();
        if w < width {
            wide = f.value(&format!("zext i{w} {wide} to i{width}"));
        }
        if at > 0 {
            wide = f.value(&format!("shl i{width} {wide}, {at}"));
        }
        whole = Some(match whole {
            None => wide,
            Some(low) => f.value(&format!("or i{width} {low}, {wide}")),
        });
        at += w;
    }
    whole.unwrap_or_else(|| "0".to_owned())
}

/// A shift; past the width, what is left is the sign or nothing.
fn shift(f: &mut Function<'_>, code: OpCode, w: u32, x: &[String]) -> String {
    let inside = f.value(&format!("icmp ult i{w} {}, {w}", x[1]));
    let past = if code == OpCode::BvAshr { w - 1 } else { 0 };
    let count = f.value(&format!("select i1 {inside}, i{w} {}, i{w} {past}", x[1]));
    let name = match code {
        OpCode::BvShl => "shl",
        OpCode::BvLshr => "lshr",
        _ => return f.value(&format!("ashr i{w} {}, {count}", x[0])),
    };
    let shifted = f.value(&format!("{name} i{w} {}, {count}", x[0]));
    f.value(&format!("select i1 {inside}, i{w} {shifted}, i{w} 0"))
}

/// A division as SMT-LIB defines it: by zero all ones (signed: 1 for a negative number) and
/// the number itself as the remainder.
fn divide(f: &mut Function<'_>, code: OpCode, ty: &str, x: &[String]) -> String {
    let (a, b) = (&x[0], &x[1]);
    let zero = f.value(&format!("icmp eq {ty} {b}, 0"));
    let signed = matches!(code, OpCode::BvSdiv | OpCode::BvSrem);
    let minus = f.value(&format!("icmp eq {ty} {b}, -1"));
    let odd = if signed {
        f.value(&format!("or i1 {zero}, {minus}"))
    } else {
        zero.clone()
    };
    let divisor = f.value(&format!("select i1 {odd}, {ty} 1, {ty} {b}"));
    let name = match code {
        OpCode::BvUdiv => "udiv",
        OpCode::BvUrem => "urem",
        OpCode::BvSdiv => "sdiv",
        _ => "srem",
    };
    let mut value = f.value(&format!("{name} {ty} {a}, {divisor}"));
    if code == OpCode::BvSdiv {
        let negated = f.value(&format!("sub {ty} 0, {a}"));
        value = f.value(&format!("select i1 {minus}, {ty} {negated}, {ty} {value}"));
    }
    let by_zero = match code {
        OpCode::BvUdiv => "-1".to_owned(),
        OpCode::BvSdiv => {
            let negative = f.value(&format!("icmp slt {ty} {a}, 0"));
            f.value(&format!("select i1 {negative}, {ty} 1, {ty} -1"))
        }
        _ => a.clone(),
    };
    f.value(&format!("select i1 {zero}, {ty} {by_zero}, {ty} {value}"))
}
