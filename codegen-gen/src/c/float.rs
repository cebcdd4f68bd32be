//! The kernel language's operations on floats, as C functions.
//!
//! In: an operation with the types of its operands and result. Out: the body of a function.
//! `f32` and `f64` are `float` and `double`; the formats of 16 bits are kept as their
//! patterns and computed in `double`, rounded to odd there and to nearest once. Nothing is
//! contracted: the emitted file turns that off.

use super::operation::{c_type, constant};
use kernel::tree::Op;
use kernel::types::Elem;
use semantics::float::Format;

/// What the emitted file begins with when it computes floats: products and sums are rounded
/// one by one.
pub(super) const NO_CONTRACTION: &str = "\
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize(\"fp-contract=off\")
#endif";

/// The neighbour with an odd last bit, in the direction of what was rounded away.
pub(super) const ODD: &str = "\
static inline double op_odd(double value, double rest) {
    int64_t bits;
    memcpy(&bits, &value, 8);
    if (!(rest > 0 || rest < 0) || __builtin_isinf(rest) || !__builtin_isfinite(value) || (bits & 1))
        return value;
    bits += (rest > 0) == (value > 0) ? 1 : -1;
    memcpy(&value, &bits, 8);
    return value;
}
";

/// A sum rounded to odd.
pub(super) const ODD_SUM: &str = "\
static inline double op_odd_sum(double a, double b) {
    double sum = a + b, other = sum - a;
    return op_odd(sum, (a - (sum - other)) + (b - other));
}
";

/// The C constant of a float.
pub(super) fn float_constant(format: Format, pattern: i128) -> String {
    let bits = u64::try_from(pattern).expect("a pattern has at most 64 bits");
    let (suffix, sign) = match format {
        Format::F16 | Format::Bf16 => return format!("{bits:#06x}"),
        Format::F32 => ("f", bits & format.sign() != 0),
        Format::F64 => ("", bits & format.sign() != 0),
    };
    let minus = if sign { "-" } else { "" };
    match bits & !format.sign() {
        _ if format.is_nan(bits) => format!("__builtin_nan{suffix}(\"\")"),
        magnitude if magnitude == format.infinity() => format!("{minus}__builtin_inf{suffix}()"),
        _ if format == Format::F32 => format!("{:e}f", f32::from_bits(bits as u32)),
        _ => format!("{:e}", f64::from_bits(bits)),
    }
}

/// The function that gives the value of a pattern of 16 bits.
pub(super) fn widen(format: Format) -> String {
    let body = match format {
        Format::Bf16 => {
            "    uint32_t bits = (uint32_t)a << 16;\n    float value;\n    memcpy(&value, &bits, 4);\n    return value;\n"
        }
        _ => {
            "    uint64_t field = a >> 10 & 31, fraction = a & 1023;\n    \
             uint64_t bits = (field == 31 ? 2047 : field + 1008) << 52 | fraction << 42;\n    \
             double value = (double)fraction * 0x1p-24;\n    \
             if (field != 0)\n        memcpy(&value, &bits, 8);\n    \
             return a >> 15 ? -value : value;\n"
        }
    };
    format!(
        "static inline double op_value_{}(uint16_t a) {{\n{body}}}\n",
        format.name()
    )
}

/// The function that rounds to a pattern of 16 bits, ties to even.
pub(super) fn narrow(format: Format) -> String {
    let (least, name) = (
        if format == Format::F16 { -14 } else { -126 },
        format.name(),
    );
    let (fraction, infinity) = (format.fraction(), format.infinity());
    format!(
        "static inline uint16_t op_pattern_{name}(double a) {{\n    \
             uint16_t sign = __builtin_signbit(a) ? 0x8000 : 0;\n    \
             if (a != a)\n        return {:#06x};\n    \
             uint64_t bits;\n    memcpy(&bits, &a, 8);\n    \
             int exponent = (int)(bits >> 52 & 2047) - 1023;\n    \
             if (exponent < {least})\n        exponent = {least};\n    \
             if (exponent > {})\n        return sign | {infinity:#06x};\n    \
             bits = (uint64_t)({} - exponent) << 52;\n    \
             double power;\n    memcpy(&power, &bits, 8);\n    \
             double steps = __builtin_fabs(a) * power;\n    \
             uint32_t whole = (uint32_t)steps;\n    double rest = steps - whole;\n    \
             whole += rest > 0.5 || (rest == 0.5 && (whole & 1));\n    \
             return sign | (uint16_t)(((uint32_t)(exponent - {least}) << {fraction}) + whole);\n}}\n",
        infinity | format.quiet_bit(),
        1 - least,
        1023 + fraction,
    )
}

/// The function of a name that gives the value of a type with the bits of a value of another.
pub(super) fn reinterpretation(name: &str, from: &str, to: &str) -> String {
    format!(
        "static inline {to} op_{name}({from} a) {{\n    {to} b;\n    memcpy(&b, &a, sizeof b);\n    return b;\n}}\n"
    )
}

/// What the function of an operation on floats does; operands are `a`, `b` and `c`.
pub(super) fn body(op: Op, to: Elem, from: &[Elem]) -> String {
    match (from[0].format(), to.format()) {
        (None, Some(format)) => from_integer(format, from[0]),
        (Some(Format::F16 | Format::Bf16), _) => small(op, to, from),
        (Some(format), _) => large(op, to, format),
        (None, None) => unreachable!("an operand or the result is a float"),
    }
}

fn from_integer(format: Format, from: Elem) -> String {
    match format {
        Format::F32 => "return (float)a;".to_owned(),
        Format::F64 => "return (double)a;".to_owned(),
        Format::F16 | Format::Bf16 if from.bits() == 64 => format!(
            "return op_pattern_{}(op_odd_sum((double)(a >> 32) * 0x1p32, (double)(a & 0xffffffff)));",
            format.name()
        ),
        Format::F16 | Format::Bf16 => format!("return op_pattern_{}((double)a);", format.name()),
    }
}

/// On `float` and `double`.
fn large(op: Op, to: Elem, format: Format) -> String {
    let f = if format == Format::F32 { "f" } else { "" };
    match op {
        Op::Add => "return a + b;".to_owned(),
        Op::Sub => "return a - b;".to_owned(),
        Op::Mul => "return a * b;".to_owned(),
        Op::Div => "return a / b;".to_owned(),
        Op::Neg => "return -a;".to_owned(),
        Op::Min => "return a < b ? a : b;".to_owned(),
        Op::Max => "return a > b ? a : b;".to_owned(),
        Op::Abs => format!("return __builtin_fabs{f}(a);"),
        Op::Absd => format!("return __builtin_fabs{f}(a - b);"),
        Op::Fma => format!("return __builtin_fma{f}(a, b, c);"),
        Op::Sqrt => format!("return __builtin_sqrt{f}(a);"),
        Op::RoundEven => format!("return __builtin_rint{f}(a);"),
        Op::Floor => format!("return __builtin_floor{f}(a);"),
        Op::Ceil => format!("return __builtin_ceil{f}(a);"),
        Op::Trunc => format!("return __builtin_trunc{f}(a);"),
        Op::Flush => {
            let least = if f.is_empty() {
                "0x1p-1022"
            } else {
                "0x1p-126f"
            };
            format!("return __builtin_fabs{f}(a) < {least} ? __builtin_copysign{f}(0, a) : a;")
        }
        Op::Cast | Op::SatCast => convert(op, to, "a"),
        Op::Call(function) => match function.arity() {
            2 => format!("return __builtin_{}{f}(a, b);", function.name()),
            _ => format!("return __builtin_{}{f}(a);", function.name()),
        },
        _ => comparison(op, "a", "b"),
    }
}

/// On patterns of 16 bits.
fn small(op: Op, to: Elem, from: &[Elem]) -> String {
    let name = from[0].to_string();
    let value = |letter: &str| format!("op_value_{name}({letter})");
    let (a, b, c) = (value("a"), value("b"), value("c"));
    let rounded = match op {
        Op::Min => return format!("return {a} < {b} ? a : b;"),
        Op::Max => return format!("return {a} > {b} ? a : b;"),
        Op::Cast | Op::SatCast => return convert(op, to, &a),
        Op::Eq | Op::Ne | Op::Lt | Op::Le => return comparison(op, &a, &b),
        Op::Add => format!("op_odd_sum({a}, {b})"),
        Op::Sub => format!("op_odd_sum({a}, -{b})"),
        Op::Absd => format!("__builtin_fabs(op_odd_sum({a}, -{b}))"),
        Op::Mul => format!("{a} * {b}"),
        Op::Fma => format!("op_odd_sum({a} * {b}, {c})"),
        Op::Div => {
            return format!(
                "double p = {a}, q = {b}, quotient = p / q;\n\
                 double rest = __builtin_fma(-quotient, q, p);\n\
                 return op_pattern_{name}(op_odd(quotient, q < 0 ? -rest : rest));"
            );
        }
        Op::Sqrt => {
            return format!(
                "double p = {a}, root = __builtin_sqrt(p);\n\
                 return op_pattern_{name}(op_odd(root, __builtin_fma(-root, root, p)));"
            );
        }
        Op::Neg => return "return a ^ 0x8000;".to_owned(),
        Op::Abs => return "return a & 0x7fff;".to_owned(),
        Op::Flush => {
            let exponent = from[0].format().map_or(0, |format| format.infinity());
            return format!("return a & {exponent:#x} ? a : a & 0x8000;");
        }
        Op::RoundEven => format!("__builtin_rint({a})"),
        Op::Floor => format!("__builtin_floor({a})"),
        Op::Ceil => format!("__builtin_ceil({a})"),
        Op::Trunc => format!("__builtin_trunc({a})"),
        _ => unreachable!("the checker does not let {op} be applied to floats"),
    };
    format!("return op_pattern_{name}({rounded});")
}

fn comparison(op: Op, a: &str, b: &str) -> String {
    let symbol = match op {
        Op::Eq => "==",
        Op::Ne => "!=",
        Op::Lt => "<",
        _ => "<=",
    };
    format!("return {a} {symbol} {b};")
}

/// A float in another format, or as an integer.
fn convert(op: Op, to: Elem, value: &str) -> String {
    let t = c_type(to);
    match to.format() {
        Some(Format::F16 | Format::Bf16) => return format!("return op_pattern_{to}({value});"),
        Some(_) => return format!("return ({t}){value};"),
        None => {}
    }
    let (least, most) = (constant(to, to.min()), constant(to, to.max()));
    let start = format!("double v = {value};\n");
    let bits = to.bits();
    match (op, to.is_signed()) {
        (Op::SatCast, true) => format!(
            "{start}return v != v ? 0 : v < -0x1p{0} ? {least} : v >= 0x1p{0} ? {most} : ({t})v;",
            bits - 1
        ),
        (Op::SatCast, false) => {
            format!("{start}return !(v > -1) ? 0 : v >= 0x1p{bits} ? {most} : ({t})v;")
        }
        (_, true) => format!(
            "{start}return v >= -0x1p{0} && v < 0x1p{0} ? ({t})v : {least};",
            bits - 1
        ),
        (_, false) => format!("{start}return v > -1 && v < 0x1p{bits} ? ({t})v : {most};"),
    }
}
