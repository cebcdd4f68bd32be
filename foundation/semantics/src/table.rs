//! THE operator table: one row per operator.
//!
//! In: parameters, sorts and values. Out: [`OPERATORS`], from which the interpreter, the
//! solver encodings, the printer and the parser all read. A new operator is one row here.
//! It does not simplify and it does not know how terms are stored.
//!
//! Totality: division and remainder by zero are SMT-LIB's (all ones, the dividend); a
//! shift count past the width shifts everything out (the sign stays for `bvashr`); bits
//! read outside a vector are zero.
//!
//! `select` and `store` are SMT-LIB's, one byte at a time: an encoder splits wider accesses.

use crate::bits::Bits;
use crate::expand;
use crate::float::{self, Format, Rounding, library, special};
use crate::galois;
use crate::op::{OpInfo, Smt};
use crate::sort::Sort;
use crate::value::{Memory, Value};

/// The largest accepted bit-vector width.
pub const MAX_WIDTH: u32 = 1 << 20;

macro_rules! operators {
    ($( $code:ident $name:literal [$($param:literal),*] $arity:expr, $sort:expr, $eval:expr, $smt:expr, $comm:literal, $doc:literal; )*) => {
        /// The operators' identities, in table order.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum OpCode { $( #[doc = $doc] $code ),* }

        /// The table, indexed by [`OpCode`].
        pub static OPERATORS: &[OpInfo] = &[ $( OpInfo {
            code: OpCode::$code, name: $name, params: &[$($param),*], arity: $arity,
            sort: $sort, eval: $eval, smt: $smt, commutative: $comm, doc: $doc,
        } ),* ];
    };
}

fn bv(bits: Bits) -> Value {
    Value::Bv(bits)
}

fn want_bv(s: Sort) -> Result<u32, String> {
    s.width()
        .ok_or_else(|| format!("expected a bit vector, found {s}"))
}

fn want(found: Sort, expected: Sort) -> Result<(), String> {
    if found == expected {
        Ok(())
    } else {
        Err(format!("expected {expected}, found {found}"))
    }
}

fn checked_width(w: u32) -> Result<Sort, String> {
    if (1..=MAX_WIDTH).contains(&w) {
        Ok(Sort::Bv(w))
    } else {
        Err(format!(
            "a width must lie between 1 and {MAX_WIDTH}, not {w}"
        ))
    }
}

fn bool_bool(_: &[u32], s: &[Sort]) -> Result<Sort, String> {
    s.iter().try_for_each(|&x| want(x, Sort::Bool))?;
    Ok(Sort::Bool)
}

fn int_int(_: &[u32], s: &[Sort]) -> Result<Sort, String> {
    s.iter().try_for_each(|&x| want(x, Sort::Int))?;
    Ok(Sort::Int)
}

fn int_bool(_: &[u32], s: &[Sort]) -> Result<Sort, String> {
    s.iter().try_for_each(|&x| want(x, Sort::Int))?;
    Ok(Sort::Bool)
}

fn same_bv(_: &[u32], s: &[Sort]) -> Result<Sort, String> {
    let w = want_bv(s[0])?;
    s.iter().try_for_each(|&x| want(x, Sort::Bv(w)))?;
    Ok(Sort::Bv(w))
}

fn compare_bv(p: &[u32], s: &[Sort]) -> Result<Sort, String> {
    same_bv(p, s).map(|_| Sort::Bool)
}

fn any_equal(_: &[u32], s: &[Sort]) -> Result<Sort, String> {
    want(s[1], s[0]).map(|()| Sort::Bool)
}

fn if_then_else(_: &[u32], s: &[Sort]) -> Result<Sort, String> {
    want(s[0], Sort::Bool)?;
    want(s[2], s[1])?;
    Ok(s[1])
}

fn concat_sort(_: &[u32], s: &[Sort]) -> Result<Sort, String> {
    let mut sum = 0u32;
    for &x in s {
        sum = sum.saturating_add(want_bv(x)?);
    }
    checked_width(sum)
}

fn extract_sort(p: &[u32], s: &[Sort]) -> Result<Sort, String> {
    want_bv(s[0])?;
    want(s[1], Sort::Int)?;
    checked_width(p[0])
}

fn select_sort(p: &[u32], s: &[Sort]) -> Result<Sort, String> {
    want_bv(s[0])?;
    want_bv(s[1])?;
    checked_width(p[0])
}

fn insert_sort(_: &[u32], s: &[Sort]) -> Result<Sort, String> {
    let w = want_bv(s[0])?;
    want_bv(s[1])?;
    let piece = want_bv(s[2])?;
    if piece > w {
        return Err(format!("cannot insert {piece} bits into {w}"));
    }
    Ok(s[0])
}

fn widen_sort(p: &[u32], s: &[Sort]) -> Result<Sort, String> {
    let w = want_bv(s[0])?;
    if p[0] < w {
        return Err(format!("cannot extend {w} bits to {}", p[0]));
    }
    checked_width(p[0])
}

fn saturate_sort(p: &[u32], s: &[Sort]) -> Result<Sort, String> {
    let w = want_bv(s[0])?;
    if p[0] > w {
        return Err(format!("cannot saturate {w} bits to {}", p[0]));
    }
    checked_width(p[0])
}

fn int_to_bv_sort(p: &[u32], s: &[Sort]) -> Result<Sort, String> {
    want(s[0], Sort::Int)?;
    checked_width(p[0])
}

fn bv_to_int_sort(_: &[u32], s: &[Sort]) -> Result<Sort, String> {
    want_bv(s[0]).map(|_| Sort::Int)
}

fn read_sort(p: &[u32], s: &[Sort]) -> Result<Sort, String> {
    want(s[0], Sort::Mem)?;
    want(s[1], Sort::Bv(64))?;
    checked_width(p[0].saturating_mul(8))
}

fn write_sort(_: &[u32], s: &[Sort]) -> Result<Sort, String> {
    want(s[0], Sort::Mem)?;
    want(s[1], Sort::Bv(64))?;
    let w = want_bv(s[2])?;
    if w % 8 == 0 {
        Ok(Sort::Mem)
    } else {
        Err(format!("memory holds bytes; cannot write {w} bits"))
    }
}

fn galois_sort(p: &[u32], s: &[Sort]) -> Result<Sort, String> {
    want(s[0], Sort::Bv(8))?;
    if galois::is_polynomial(p[0]) {
        Ok(Sort::Bv(8))
    } else {
        Err(format!("{} is no polynomial of degree 8", p[0]))
    }
}

fn galois_inverse(p: &[u32], a: &[Value]) -> Value {
    let byte = a[0].bits().low_u64() as u8;
    bv(Bits::from_u64(8, u64::from(galois::inverse(p[0], byte))))
}

fn want_format(code: u32) -> Result<u32, String> {
    let format = Format::from_code(code);
    format
        .map(Format::width)
        .ok_or_else(|| format!("{code} is no floating-point format"))
}

fn want_rounding(code: u32) -> Result<(), String> {
    let rounding = Rounding::from_code(code);
    rounding
        .map(|_| ())
        .ok_or_else(|| format!("{code} is no rounding"))
}

/// The width of an integer that a float converts to or from.
fn want_integer(w: u32) -> Result<u32, String> {
    if (1..=64).contains(&w) {
        Ok(w)
    } else {
        Err(format!("an integer of 1 to 64 bits converts, not {w}"))
    }
}

fn float_sort(p: &[u32], s: &[Sort]) -> Result<Sort, String> {
    let w = want_format(p[0])?;
    p.get(1).map_or(Ok(()), |&r| want_rounding(r))?;
    s.iter().try_for_each(|&x| want(x, Sort::Bv(w)))?;
    Ok(Sort::Bv(w))
}

fn float_bool(p: &[u32], s: &[Sort]) -> Result<Sort, String> {
    float_sort(p, s).map(|_| Sort::Bool)
}

/// Floats, then a control word of so many bits.
fn controlled_sort(p: &[u32], s: &[Sort], control: u32) -> Result<Sort, String> {
    let w = want_format(p[0])?;
    let (last, floats) = s.split_last().expect("the arity was checked");
    floats.iter().try_for_each(|&x| want(x, Sort::Bv(w)))?;
    want(*last, Sort::Bv(control))?;
    Ok(Sort::Bv(w))
}

fn float_control_sort(p: &[u32], s: &[Sort]) -> Result<Sort, String> {
    controlled_sort(p, s, 8)
}

fn float_table_sort(p: &[u32], s: &[Sort]) -> Result<Sort, String> {
    controlled_sort(p, s, 32)
}

fn float_class_sort(p: &[u32], s: &[Sort]) -> Result<Sort, String> {
    controlled_sort(p, s, 8).map(|_| Sort::Bool)
}

/// A float in, a float out, with a stated relative error.
fn approximation_sort(p: &[u32], s: &[Sort]) -> Result<Sort, String> {
    let w = want_format(p[0])?;
    want(s[0], Sort::Bv(w))?;
    Ok(Sort::Bv(w))
}

/// As many floats as the function of a library takes.
fn library_sort(p: &[u32], s: &[Sort]) -> Result<Sort, String> {
    let Some(function) = library::by_number(p[1]) else {
        return Err(format!("{} is no function of a library", p[1]));
    };
    if s.len() != function.arity {
        let (name, arity) = (function.name, function.arity);
        return Err(format!("`{name}` takes {arity} arguments, not {}", s.len()));
    }
    float_sort(&p[..1], s)
}

fn no_value(p: &[u32], _: &[Value]) -> Value {
    unreachable!("function {} of a library has no value", p[1])
}

fn float_convert_sort(p: &[u32], s: &[Sort]) -> Result<Sort, String> {
    want_rounding(p[2])?;
    want(s[0], Sort::Bv(want_format(p[0])?))?;
    Ok(Sort::Bv(want_format(p[1])?))
}

fn float_to_int_sort(p: &[u32], s: &[Sort]) -> Result<Sort, String> {
    want_rounding(p[2])?;
    want(s[0], Sort::Bv(want_format(p[0])?))?;
    Ok(Sort::Bv(want_integer(p[1])?))
}

fn int_to_float_sort(p: &[u32], s: &[Sort]) -> Result<Sort, String> {
    want_rounding(p[1])?;
    want_integer(want_bv(s[0])?)?;
    Ok(Sort::Bv(want_format(p[0])?))
}

/// The word form of a floating-point operator.
pub(crate) fn float_words(code: OpCode) -> Option<float::WordFn> {
    Some(match code {
        OpCode::FAdd => float::add,
        OpCode::FSub => float::sub,
        OpCode::FMul => float::mul,
        OpCode::FDiv => float::div,
        OpCode::FSqrt => float::sqrt,
        OpCode::FMadd => float::madd,
        OpCode::FMsub => float::msub,
        OpCode::FNmadd => float::nmadd,
        OpCode::FNmsub => float::nmsub,
        OpCode::FRound => float::round,
        OpCode::FMin => float::minimum,
        OpCode::FMax => float::maximum,
        OpCode::FEq => float::equal,
        OpCode::FLt => float::less,
        OpCode::FLe => float::at_most,
        OpCode::FUnord => float::unordered,
        OpCode::FConvert => float::convert,
        OpCode::FToSint => float::to_sint,
        OpCode::FToUint => float::to_uint,
        OpCode::FFromSint => float::from_sint,
        OpCode::FFromUint => float::from_uint,
        OpCode::FScale => special::scale,
        OpCode::FGetExp => special::get_exponent,
        OpCode::FGetMant => special::get_mantissa,
        OpCode::FRoundScale => special::round_scale,
        OpCode::FReduce => special::reduce,
        OpCode::FRange => special::range,
        OpCode::FFixup => special::fix_up,
        OpCode::FClass => special::class,
        OpCode::FRcp => special::reciprocal,
        OpCode::FRsqrt => special::reciprocal_root,
        _ => return None,
    })
}

/// An index as a bit offset, when it is not negative and small enough to matter.
fn offset(i: i64) -> Option<u32> {
    u32::try_from(i).ok()
}

fn extract(p: &[u32], a: &[Value]) -> Value {
    bv(offset(a[1].int()).map_or_else(|| Bits::zero(p[0]), |lo| a[0].bits().extract(lo, p[0])))
}

fn slice(p: &[u32], a: &[Value]) -> Value {
    let lo = a[1].bits().to_u64().and_then(|lo| u32::try_from(lo).ok());
    bv(lo.map_or_else(|| Bits::zero(p[0]), |lo| a[0].bits().extract(lo, p[0])))
}

fn elem(p: &[u32], a: &[Value]) -> Value {
    let lo = a[1]
        .bits()
        .to_u64()
        .and_then(|i| i.checked_mul(u64::from(p[0])));
    let lo = lo.and_then(|lo| u32::try_from(lo).ok());
    bv(lo.map_or_else(|| Bits::zero(p[0]), |lo| a[0].bits().extract(lo, p[0])))
}

fn insert(_: &[u32], a: &[Value]) -> Value {
    let (base, piece) = (a[0].bits(), a[2].bits());
    let Some(lo) = a[1].bits().to_u64().and_then(|lo| u32::try_from(lo).ok()) else {
        return bv(base.clone());
    };
    if lo >= base.width() {
        return bv(base.clone());
    }
    let room = piece.width().min(base.width() - lo);
    bv(base.insert(lo, &piece.extract(0, room)))
}

fn concat(_: &[u32], a: &[Value]) -> Value {
    let parts: Vec<&Bits> = a.iter().map(Value::bits).collect();
    bv(Bits::joined(&parts).expect("the type rule asks for one part"))
}

fn saturate(p: &[u32], a: &[Value], from_signed: bool, to_signed: bool) -> Value {
    let (x, w) = (a[0].bits(), p[0]);
    let wide = if from_signed {
        x.sext(x.width() + 1)
    } else {
        x.zext(x.width() + 1)
    };
    let max = if to_signed {
        Bits::ones(w).lshr_u32(1)
    } else {
        Bits::ones(w)
    }
    .zext(wide.width());
    let min = if to_signed {
        max.not()
    } else {
        Bits::zero(wide.width())
    };
    let clamped = if wide.slt(&min) {
        min
    } else if max.slt(&wide) {
        max
    } else {
        wide
    };
    bv(clamped.trunc(w))
}

fn float_width(code: u32) -> u32 {
    want_format(code).expect("the type rule checked the format")
}

fn float_word(f: float::WordFn, p: &[u32], a: &[Value]) -> u64 {
    let mut words = [0; 3];
    for (word, value) in words.iter_mut().zip(a) {
        *word = value.bits().low_u64();
    }
    f(p, words)
}

fn float_value(f: float::WordFn, p: &[u32], a: &[Value], width: u32) -> Value {
    bv(Bits::from_u64(width, float_word(f, p, a)))
}

fn memory(a: &[Value]) -> &Memory {
    match &a[0] {
        Value::Mem(memory) => memory,
        other => panic!("expected a memory, found {other:?}"),
    }
}

fn read(p: &[u32], a: &[Value]) -> Value {
    let bytes = memory(a).read(a[1].bits().low_u64(), p[0]);
    bv(Bits::from_bytes(p[0] * 8, &bytes))
}

fn write(_: &[u32], a: &[Value]) -> Value {
    let mut memory = memory(a).clone();
    memory.write(a[1].bits().low_u64(), &a[2].bits().to_bytes());
    Value::Mem(memory)
}

fn floor_div(a: i64, b: i64) -> i64 {
    if b == 0 {
        0
    } else {
        a.wrapping_div(b) - i64::from(a.wrapping_rem(b) != 0 && (a < 0) != (b < 0))
    }
}

fn floor_mod(a: i64, b: i64) -> i64 {
    if b == 0 {
        0
    } else {
        a.wrapping_sub(floor_div(a, b).wrapping_mul(b))
    }
}

fn smt_extract_is_special(_: &[u32], _: &[Sort]) -> String {
    "extract".to_owned()
}

use Smt::{Defined, Indexed, Symbol, Uninterpreted};

#[rustfmt::skip] // one operator a line, in the columns of the macro above
operators! {
    // Booleans
    Not     "not"  [] Some(1), bool_bool, |_, a| Value::Bool(!a[0].truth()), Symbol("not"), false, "Negation of a truth value.";
    And     "and"  [] Some(2), bool_bool, |_, a| Value::Bool(a[0].truth() && a[1].truth()), Symbol("and"), true, "Conjunction.";
    Or      "or"   [] Some(2), bool_bool, |_, a| Value::Bool(a[0].truth() || a[1].truth()), Symbol("or"), true, "Disjunction.";
    Eq      "="    [] Some(2), any_equal, |_, a| Value::Bool(a[0] == a[1]), Symbol("="), true, "Equality of two values of one sort.";
    Ite     "ite"  [] Some(3), if_then_else, |_, a| if a[0].truth() { a[1].clone() } else { a[2].clone() }, Symbol("ite"), false, "If-then-else.";
    // Index arithmetic; division and remainder round towards minus infinity, by zero give 0
    IntAdd  "iadd" [] Some(2), int_int, |_, a| Value::Int(a[0].int().wrapping_add(a[1].int())), Symbol("+"), true, "Sum of indices.";
    IntMul  "imul" [] Some(2), int_int, |_, a| Value::Int(a[0].int().wrapping_mul(a[1].int())), Symbol("*"), true, "Product of indices.";
    IntDiv  "idiv" [] Some(2), int_int, |_, a| Value::Int(floor_div(a[0].int(), a[1].int())), Uninterpreted, false, "Floor quotient of indices; by zero it is 0.";
    IntMod  "imod" [] Some(2), int_int, |_, a| Value::Int(floor_mod(a[0].int(), a[1].int())), Uninterpreted, false, "Floor remainder of indices; by zero it is 0.";
    IntLt   "ilt"  [] Some(2), int_bool, |_, a| Value::Bool(a[0].int() < a[1].int()), Symbol("<"), false, "Less-than on indices.";
    IntToBv "int2bv" ["width"] Some(1), int_to_bv_sort, |p, a| bv(Bits::from_i128(p[0], i128::from(a[0].int()))), Indexed(|p, _| format!("(_ int2bv {})", p[0])), false, "An index as a bit vector, wrapped to the width.";
    BvToInt "bv2int" [] Some(1), bv_to_int_sort, |_, a| Value::Int(a[0].bits().extract(0, 64).low_u64() as i64), Symbol("bv2nat"), false, "A bit vector as an unsigned index (its low 64 bits).";
    // Bitwise
    BvNot   "bvnot" [] Some(1), same_bv, |_, a| bv(a[0].bits().not()), Symbol("bvnot"), false, "Complement of every bit.";
    BvAnd   "bvand" [] Some(2), same_bv, |_, a| bv(a[0].bits().and(a[1].bits())), Symbol("bvand"), true, "Bitwise and.";
    BvOr    "bvor"  [] Some(2), same_bv, |_, a| bv(a[0].bits().or(a[1].bits())), Symbol("bvor"), true, "Bitwise or.";
    BvXor   "bvxor" [] Some(2), same_bv, |_, a| bv(a[0].bits().xor(a[1].bits())), Symbol("bvxor"), true, "Bitwise exclusive or.";
    // Arithmetic modulo 2^width
    BvNeg   "bvneg" [] Some(1), same_bv, |_, a| bv(a[0].bits().neg()), Symbol("bvneg"), false, "Two's complement negation.";
    BvAdd   "bvadd" [] Some(2), same_bv, |_, a| bv(a[0].bits().add(a[1].bits())), Symbol("bvadd"), true, "Sum modulo 2^width.";
    BvSub   "bvsub" [] Some(2), same_bv, |_, a| bv(a[0].bits().sub(a[1].bits())), Symbol("bvsub"), false, "Difference modulo 2^width.";
    BvMul   "bvmul" [] Some(2), same_bv, |_, a| bv(a[0].bits().mul(a[1].bits())), Symbol("bvmul"), true, "Product modulo 2^width.";
    BvUdiv  "bvudiv" [] Some(2), same_bv, |_, a| bv(a[0].bits().udiv(a[1].bits())), Symbol("bvudiv"), false, "Unsigned quotient; by zero all ones.";
    BvUrem  "bvurem" [] Some(2), same_bv, |_, a| bv(a[0].bits().urem(a[1].bits())), Symbol("bvurem"), false, "Unsigned remainder; by zero the dividend.";
    BvSdiv  "bvsdiv" [] Some(2), same_bv, |_, a| bv(a[0].bits().sdiv(a[1].bits())), Symbol("bvsdiv"), false, "Signed quotient towards zero; by zero 1 or -1 against the sign, as SMT-LIB.";
    BvSrem  "bvsrem" [] Some(2), same_bv, |_, a| bv(a[0].bits().srem(a[1].bits())), Symbol("bvsrem"), false, "Signed remainder with the dividend's sign; by zero the dividend.";
    // Shifts; both arguments of one width
    BvShl   "bvshl"  [] Some(2), same_bv, |_, a| bv(a[0].bits().shl(a[1].bits())), Symbol("bvshl"), false, "Left shift; past the width it is 0.";
    BvLshr  "bvlshr" [] Some(2), same_bv, |_, a| bv(a[0].bits().lshr(a[1].bits())), Symbol("bvlshr"), false, "Logical right shift; past the width it is 0.";
    BvAshr  "bvashr" [] Some(2), same_bv, |_, a| bv(a[0].bits().ashr(a[1].bits())), Symbol("bvashr"), false, "Arithmetic right shift; past the width it is the sign.";
    Rotl    "rotl" [] Some(2), same_bv, |_, a| bv(a[0].bits().rotl(a[1].bits())), Defined(expand::rotl), false, "Left rotation; the count is taken modulo the width.";
    Rotr    "rotr" [] Some(2), same_bv, |_, a| bv(a[0].bits().rotr(a[1].bits())), Defined(expand::rotr), false, "Right rotation; the count is taken modulo the width.";
    // Comparisons
    BvUlt   "bvult" [] Some(2), compare_bv, |_, a| Value::Bool(a[0].bits().ult(a[1].bits())), Symbol("bvult"), false, "Unsigned less-than.";
    BvUle   "bvule" [] Some(2), compare_bv, |_, a| Value::Bool(a[0].bits().ule(a[1].bits())), Symbol("bvule"), false, "Unsigned at-most.";
    BvSlt   "bvslt" [] Some(2), compare_bv, |_, a| Value::Bool(a[0].bits().slt(a[1].bits())), Symbol("bvslt"), false, "Signed less-than.";
    BvSle   "bvsle" [] Some(2), compare_bv, |_, a| Value::Bool(a[0].bits().sle(a[1].bits())), Symbol("bvsle"), false, "Signed at-most.";
    // Structure
    Concat  "concat" [] None, concat_sort, concat, Symbol("concat"), false, "Concatenation, the first argument most significant.";
    Extract "extract" ["width"] Some(2), extract_sort, extract, Indexed(smt_extract_is_special), false, "The bits from a constant or index offset up; bits outside read as 0.";
    Slice   "slice" ["width"] Some(2), select_sort, slice, Defined(expand::slice), false, "The bits from a bit-vector offset up; bits outside read as 0.";
    Elem    "elem" ["width"] Some(2), select_sort, elem, Defined(expand::elem), false, "The element of the given width at a bit-vector index; outside it reads as 0.";
    Insert  "insert" [] Some(3), insert_sort, insert, Defined(expand::insert), false, "The first argument with the third written at the bit offset given by the second; bits outside are dropped.";
    Zext    "zext" ["width"] Some(1), widen_sort, |p, a| bv(a[0].bits().zext(p[0])), Indexed(|p, s| format!("(_ zero_extend {})", p[0] - s[0].width().unwrap_or(0))), false, "Zero extension to the width.";
    Sext    "sext" ["width"] Some(1), widen_sort, |p, a| bv(a[0].bits().sext(p[0])), Indexed(|p, s| format!("(_ sign_extend {})", p[0] - s[0].width().unwrap_or(0))), false, "Sign extension to the width.";
    // Saturation: the first letter says how the argument is read, the second what the result holds
    SatSS   "sat_ss" ["width"] Some(1), saturate_sort, |p, a| saturate(p, a, true, true), Defined(expand::sat_ss), false, "A signed value clamped to the signed range of the width.";
    SatSU   "sat_su" ["width"] Some(1), saturate_sort, |p, a| saturate(p, a, true, false), Defined(expand::sat_su), false, "A signed value clamped to the unsigned range of the width.";
    SatUS   "sat_us" ["width"] Some(1), saturate_sort, |p, a| saturate(p, a, false, true), Defined(expand::sat_us), false, "An unsigned value clamped to the signed range of the width.";
    SatUU   "sat_uu" ["width"] Some(1), saturate_sort, |p, a| saturate(p, a, false, false), Defined(expand::sat_uu), false, "An unsigned value clamped to the unsigned range of the width.";
    Smin    "smin" [] Some(2), same_bv, |_, a| bv(if a[0].bits().sle(a[1].bits()) { a[0].bits().clone() } else { a[1].bits().clone() }), Defined(expand::smin), true, "Signed minimum.";
    Smax    "smax" [] Some(2), same_bv, |_, a| bv(if a[0].bits().sle(a[1].bits()) { a[1].bits().clone() } else { a[0].bits().clone() }), Defined(expand::smax), true, "Signed maximum.";
    Umin    "umin" [] Some(2), same_bv, |_, a| bv(if a[0].bits().ule(a[1].bits()) { a[0].bits().clone() } else { a[1].bits().clone() }), Defined(expand::umin), true, "Unsigned minimum.";
    Umax    "umax" [] Some(2), same_bv, |_, a| bv(if a[0].bits().ule(a[1].bits()) { a[1].bits().clone() } else { a[0].bits().clone() }), Defined(expand::umax), true, "Unsigned maximum.";
    Abs     "abs" [] Some(1), same_bv, |_, a| bv(if a[0].bits().bit(a[0].bits().width() - 1) { a[0].bits().neg() } else { a[0].bits().clone() }), Defined(expand::abs), false, "Absolute value modulo 2^width: the minimum stays itself.";
    Popcnt  "popcnt" [] Some(1), same_bv, |_, a| bv(Bits::from_u64(a[0].bits().width(), u64::from(a[0].bits().popcount()))), Defined(expand::popcnt), false, "Number of one bits, wrapped to the width.";
    Clz     "clz" [] Some(1), same_bv, |_, a| bv(Bits::from_u64(a[0].bits().width(), u64::from(a[0].bits().leading_zeros()))), Defined(expand::clz), false, "Number of leading zeros, wrapped to the width.";
    Ctz     "ctz" [] Some(1), same_bv, |_, a| bv(Bits::from_u64(a[0].bits().width(), u64::from(a[0].bits().trailing_zeros()))), Defined(expand::ctz), false, "Number of trailing zeros, wrapped to the width.";
    GfInverse "gf_inverse" ["polynomial"] Some(1), galois_sort, galois_inverse, Defined(galois::inverse_term), false, "The inverse of a byte in the field of bit polynomials modulo the parameter; of 0 it is 0.";
    // Floats as bit patterns; what x86 does with NaN, see `crate::float`. Not commutative: of
    // two NaN, the first is returned
    FAdd "fadd" ["format", "rounding"] Some(2), float_sort, |p, a| float_value(float::add, p, a, float_width(p[0])), Uninterpreted, false, "Sum of floats.";
    FSub "fsub" ["format", "rounding"] Some(2), float_sort, |p, a| float_value(float::sub, p, a, float_width(p[0])), Uninterpreted, false, "Difference of floats.";
    FMul "fmul" ["format", "rounding"] Some(2), float_sort, |p, a| float_value(float::mul, p, a, float_width(p[0])), Uninterpreted, false, "Product of floats.";
    FDiv "fdiv" ["format", "rounding"] Some(2), float_sort, |p, a| float_value(float::div, p, a, float_width(p[0])), Uninterpreted, false, "Quotient of floats.";
    FSqrt "fsqrt" ["format", "rounding"] Some(1), float_sort, |p, a| float_value(float::sqrt, p, a, float_width(p[0])), Uninterpreted, false, "Square root of a float.";
    FMadd "fmadd" ["format", "rounding"] Some(3), float_sort, |p, a| float_value(float::madd, p, a, float_width(p[0])), Uninterpreted, false, "First times second plus third, rounded once.";
    FMsub "fmsub" ["format", "rounding"] Some(3), float_sort, |p, a| float_value(float::msub, p, a, float_width(p[0])), Uninterpreted, false, "First times second minus third, rounded once.";
    FNmadd "fnmadd" ["format", "rounding"] Some(3), float_sort, |p, a| float_value(float::nmadd, p, a, float_width(p[0])), Uninterpreted, false, "Third minus first times second, rounded once.";
    FNmsub "fnmsub" ["format", "rounding"] Some(3), float_sort, |p, a| float_value(float::nmsub, p, a, float_width(p[0])), Uninterpreted, false, "Minus first times second minus third, rounded once.";
    FRound "fround" ["format", "rounding"] Some(1), float_sort, |p, a| float_value(float::round, p, a, float_width(p[0])), Uninterpreted, false, "A float rounded to an integral value.";
    FMin "fmin" ["format"] Some(2), float_sort, |p, a| float_value(float::minimum, p, a, float_width(p[0])), Defined(expand::fmin), false, "The first float when it is less, else the second.";
    FMax "fmax" ["format"] Some(2), float_sort, |p, a| float_value(float::maximum, p, a, float_width(p[0])), Defined(expand::fmax), false, "The first float when it is greater, else the second.";
    FEq "feq" ["format"] Some(2), float_bool, |p, a| Value::Bool(float_word(float::equal, p, a) == 1), Defined(expand::feq), true, "Equality of floats: false for a NaN, true for zeros of either sign.";
    FLt "flt" ["format"] Some(2), float_bool, |p, a| Value::Bool(float_word(float::less, p, a) == 1), Defined(expand::flt), false, "Less-than on floats: false for a NaN.";
    FLe "fle" ["format"] Some(2), float_bool, |p, a| Value::Bool(float_word(float::at_most, p, a) == 1), Defined(expand::fle), false, "At-most on floats: false for a NaN.";
    FUnord "funord" ["format"] Some(2), float_bool, |p, a| Value::Bool(float_word(float::unordered, p, a) == 1), Defined(expand::funord), true, "Whether either float is a NaN.";
    FConvert "fconvert" ["from", "to", "rounding"] Some(1), float_convert_sort, |p, a| float_value(float::convert, p, a, float_width(p[1])), Uninterpreted, false, "A float in another format.";
    FToSint "f_to_sint" ["format", "width", "rounding"] Some(1), float_to_int_sort, |p, a| float_value(float::to_sint, p, a, p[1]), Uninterpreted, false, "A float as a signed integer; the least one when it does not fit.";
    FToUint "f_to_uint" ["format", "width", "rounding"] Some(1), float_to_int_sort, |p, a| float_value(float::to_uint, p, a, p[1]), Uninterpreted, false, "A float as an unsigned integer; all ones when it does not fit.";
    FFromSint "f_from_sint" ["format", "rounding"] Some(1), int_to_float_sort, |p, a| float_value(float::from_sint, p, &[bv(a[0].bits().sext(64))], float_width(p[0])), Uninterpreted, false, "A signed integer as a float.";
    FFromUint "f_from_uint" ["format", "rounding"] Some(1), int_to_float_sort, |p, a| float_value(float::from_uint, p, a, float_width(p[0])), Uninterpreted, false, "An unsigned integer as a float.";
    // What x86 has beyond IEEE 754, see `crate::float::special`
    FScale "fscale" ["format", "rounding"] Some(2), float_sort, |p, a| float_value(special::scale, p, a, float_width(p[0])), Uninterpreted, false, "The first float times two to the floor of the second, rounded once.";
    FGetExp "f_getexp" ["format"] Some(1), float_sort, |p, a| float_value(special::get_exponent, p, a, float_width(p[0])), Uninterpreted, false, "The exponent of a float, as a float.";
    FGetMant "f_getmant" ["format"] Some(2), float_control_sort, |p, a| float_value(special::get_mantissa, p, a, float_width(p[0])), Uninterpreted, false, "The significand of a float in the interval, and with the sign, that the control word names.";
    FRoundScale "f_round_scale" ["format"] Some(2), float_control_sort, |p, a| float_value(special::round_scale, p, a, float_width(p[0])), Uninterpreted, false, "A float rounded to as many binary places as the control word names.";
    FReduce "f_reduce" ["format"] Some(2), float_control_sort, |p, a| float_value(special::reduce, p, a, float_width(p[0])), Uninterpreted, false, "What rounding to binary places takes away.";
    FRange "f_range" ["format"] Some(3), float_control_sort, |p, a| float_value(special::range, p, a, float_width(p[0])), Uninterpreted, false, "The lesser or greater float, by value or magnitude, with the sign that the control word names.";
    FFixup "f_fixup" ["format"] Some(3), float_table_sort, |p, a| float_value(special::fix_up, p, a, float_width(p[0])), Uninterpreted, false, "What a table of answers has for the class of the second float; it may be the first.";
    FClass "f_class" ["format"] Some(2), float_class_sort, |p, a| Value::Bool(float_word(special::class, p, a) == 1), Defined(expand::fclass), false, "Whether a float is of one of the classes that the control word names.";
    // Approximations: the relative error is at most times * 2^-bits
    FRcp "f_rcp" ["format", "times", "bits"] Some(1), approximation_sort, |p, a| float_value(special::reciprocal, p, a, float_width(p[0])), Uninterpreted, false, "The reciprocal of a float up to the stated relative error; evaluated to about the nearest.";
    FRsqrt "f_rsqrt" ["format", "times", "bits"] Some(1), approximation_sort, |p, a| float_value(special::reciprocal_root, p, a, float_width(p[0])), Uninterpreted, false, "The reciprocal of a square root up to the stated relative error; evaluated to about the nearest.";
    // What no standard fixes: never evaluated, see `Op::is_evaluable`
    FLibrary "f_library" ["format", "function"] None, library_sort, no_value, Uninterpreted, false, "A function of a mathematical library: equal arguments give equal results, and no more is known.";
    // Memory
    Read    "read" ["bytes"] Some(2), read_sort, read, Symbol("select"), false, "Little-endian read of that many bytes at a 64-bit address.";
    Write   "write" [] Some(3), write_sort, write, Symbol("store"), false, "The memory after a little-endian write at a 64-bit address.";
}
