//! The kernel language's operations on one element, as C functions.
//!
//! In: an operation with the types of its operands and result. Out: an expression that calls
//! a small function, and the text of the functions that were called. Every operation is one
//! row of [`body`]; arithmetic happens in a type in which it is exact, so nothing overflows.

use super::{float, word};
use kernel::tree::{Op, Reduction};
use kernel::types::Elem;
use semantics::float::Format;
use std::collections::BTreeMap;

/// How the names of these functions begin.
const PREFIX: &str = "op_";

/// Whether one of these functions may have the name: they end in the type of an element, but for
/// a few.
pub(super) fn may_define(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(PREFIX) else {
        return false;
    };
    let last = rest.rsplit('_').next().unwrap_or(rest);
    Elem::by_name(last).is_some() || last == "bool" || matches!(rest, "leading" | "odd" | "odd_sum")
}

/// The functions that the emitted code has called so far: name to text.
#[derive(Debug, Default)]
pub(super) struct Functions {
    defined: BTreeMap<String, String>,
    /// What those call, in the order in which C has to see it.
    helpers: BTreeMap<(u8, String), String>,
}

/// The C types of a float that C has, and of its bits; nothing for numbers and patterns.
fn float_types(elem: Elem) -> Option<[String; 2]> {
    let float = matches!(elem.format(), Some(Format::F32 | Format::F64));
    float.then(|| [elem, Elem::unsigned(elem.bits())].map(c_type))
}

/// The C type of an element.
pub(super) fn c_type(elem: Elem) -> String {
    match elem {
        Elem::Bool => "bool".to_owned(),
        Elem::Float(Format::F16 | Format::Bf16) => "uint16_t".to_owned(),
        Elem::Float(Format::F32) => "float".to_owned(),
        Elem::Float(Format::F64) => "double".to_owned(),
        Elem::Int { signed, bits } => format!("{}int{bits}_t", if signed { "" } else { "u" }),
    }
}

/// A constant of a type, so that it has no other type in C.
pub(super) fn constant(elem: Elem, value: i128) -> String {
    match elem {
        Elem::Bool => (value != 0).to_string(),
        Elem::Float(format) => float::float_constant(format, value),
        Elem::Int { signed: true, bits } if value == elem.min() && bits >= 32 => {
            format!("INT{bits}_MIN")
        }
        Elem::Int {
            signed: true,
            bits: 64,
        } => format!("INT64_C({value})"),
        Elem::Int {
            signed: false,
            bits: 64,
        } => format!("UINT64_C({value})"),
        Elem::Int {
            signed: false,
            bits: 32,
        } => format!("{value}u"),
        Elem::Int { .. } => value.to_string(),
    }
}

impl Functions {
    /// The call that computes an operation on one element.
    pub(super) fn apply(&mut self, op: Op, to: Elem, from: &[Elem], args: &[String]) -> String {
        let infix = |symbol: &str| format!("({} {symbol} {})", args[0], args[1]);
        let float = from.iter().chain([&to]).any(|elem| elem.format().is_some());
        match op {
            Op::Bits => {
                let bits = self.bits(from[0], &args[0]);
                let whole = c_type(Elem::unsigned(to.bits()));
                let value = self.value(to, &format!("({whole}){bits}"));
                format!("({}){value}", c_type(to))
            }
            Op::Select => format!("({} ? {} : {})", args[0], args[1], args[2]),
            _ if float => self.call(op, to, from, args),
            Op::Cast => format!("({}){}", c_type(to), args[0]),
            Op::And => infix("&"),
            Op::Or => infix("|"),
            Op::Xor => infix("^"),
            Op::Eq => infix("=="),
            Op::Ne => infix("!="),
            Op::Lt => infix("<"),
            Op::Le => infix("<="),
            Op::Not if to == Elem::Bool => format!("!{}", args[0]),
            _ => self.call(op, to, from, args),
        }
    }

    /// The call that combines two values of a reduction.
    pub(super) fn reduce(&mut self, reduction: Reduction, elem: Elem, args: &[String]) -> String {
        let op = match reduction {
            Reduction::Add => Op::Add,
            Reduction::Min => Op::Min,
            Reduction::Max => Op::Max,
        };
        self.call(op, elem, &[elem, elem], args)
    }

    /// The Euclidean quotient or remainder of two indices.
    pub(super) fn index(&mut self, op: Op, left: &str, right: &str) -> String {
        let elem = Elem::signed(64);
        self.call(
            op,
            elem,
            &[elem, elem],
            &[left.to_owned(), right.to_owned()],
        )
    }

    /// A call, the function noted.
    fn call(&mut self, op: Op, to: Elem, from: &[Elem], args: &[String]) -> String {
        let name = name(op, to, from);
        from.iter().chain([&to]).for_each(|elem| self.help(*elem));
        let text = || definition(&name, op, to, from);
        self.defined.entry(name.clone()).or_insert_with(text);
        let args = args
            .iter()
            .zip(from)
            .enumerate()
            .map(|(n, (arg, elem))| match count(op) {
                Some(at) if at == n => format!("({}){arg}", c_type(elem.as_unsigned())),
                _ => arg.clone(),
            });
        format!("{name}({})", args.collect::<Vec<_>>().join(", "))
    }

    /// The functions that operations on a type of 16 bits call.
    fn help(&mut self, elem: Elem) {
        let Some(format @ (Format::F16 | Format::Bf16)) = elem.format() else {
            return;
        };
        let mut add = |rank: u8, name: String, text: String| {
            self.helpers.entry((rank, name)).or_insert(text);
        };
        add(0, "odd".to_owned(), float::ODD.to_owned());
        add(1, "odd_sum".to_owned(), float::ODD_SUM.to_owned());
        add(2, elem.to_string(), float::widen(format));
        add(3, elem.to_string(), float::narrow(format));
    }

    /// The bits below so many, of 64: none below 0, all from 64 on.
    pub(super) fn leading(&mut self, count: &str) -> String {
        let text = format!(
            "static inline uint64_t {PREFIX}leading(int64_t n) {{\n    \
             return n <= 0 ? 0 : n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;\n}}\n"
        );
        self.helpers
            .entry((0, "leading".to_owned()))
            .or_insert(text);
        format!("{PREFIX}leading({count})")
    }

    /// A value as an unsigned number with the same bits.
    pub(super) fn bits(&mut self, elem: Elem, value: &str) -> String {
        match float_types(elem) {
            Some([own, bits]) => self.reinterpret(value, &own, &bits),
            None => value.to_owned(),
        }
    }

    /// An unsigned number as the value with these bits.
    pub(super) fn value(&mut self, elem: Elem, bits: &str) -> String {
        match float_types(elem) {
            Some([own, from]) => self.reinterpret(bits, &from, &own),
            None => bits.to_owned(),
        }
    }

    /// A value of one C type as the value of another, as wide, with the same bits.
    pub(super) fn reinterpret(&mut self, value: &str, from: &str, to: &str) -> String {
        if from == to {
            return value.to_owned();
        }
        let word = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let name: String = format!("{from}_as_{to}").chars().map(word).collect();
        let text = || float::reinterpretation(&name, from, to);
        self.helpers.entry((4, name.clone())).or_insert_with(text);
        format!("{PREFIX}{name}({value})")
    }

    /// The functions that were called, and those that they call, in order.
    pub(super) fn definitions(&self) -> impl Iterator<Item = &str> {
        let all = self.helpers.values().chain(self.defined.values());
        all.map(String::as_str)
    }
}

/// Which operand is a count of bits, read as unsigned.
fn count(op: Op) -> Option<usize> {
    match op {
        Op::Shl | Op::Shr | Op::RoundShr => Some(1),
        Op::MulShr | Op::RoundMulShr => Some(2),
        _ => None,
    }
}

/// The name of the function: the operation and the types that tell it from others.
fn name(op: Op, to: Elem, from: &[Elem]) -> String {
    let word = match op {
        Op::SatCast => "saturate",
        Op::SatAdd => "sat_add",
        Op::SatSub => "sat_sub",
        Op::AvgFloor => "avg_floor",
        Op::RoundShr => "round_shr",
        Op::MulShr => "mul_shr",
        Op::RoundMulShr => "round_mul_shr",
        Op::RoundEven => "round_even",
        Op::Call(function) => function.name(),
        _ => &format!("{op:?}").to_lowercase(),
    };
    match from.first() {
        Some(&first) if first != to => format!("{PREFIX}{word}_{to}_{first}"),
        _ => format!("{PREFIX}{word}_{to}"),
    }
}

/// A type in which sums, differences and shifts of values of at most 32 bits are exact, and which
/// holds the ends of their range.
const WIDE: &str = "int64_t";

/// A type in which products of values of this one, of at most 32 bits, are exact.
fn product(elem: Elem) -> &'static str {
    if elem.bits() <= 16 || elem.is_signed() {
        "int64_t"
    } else {
        "uint64_t"
    }
}

/// `v` clamped to a type's range, as a return statement. An unsigned `v` has no lower end.
pub(super) fn clamped(to: Elem, v_is_unsigned: bool) -> String {
    let (min, max) = (constant(to, to.min()), constant(to, to.max()));
    let t = c_type(to);
    if v_is_unsigned {
        format!("return v > {max} ? {max} : ({t})v;")
    } else {
        format!("return v < {min} ? {min} : v > {max} ? {max} : ({t})v;")
    }
}

/// What the function does. Operands are `a` and `b`, a count of bits is `n`.
fn body(op: Op, to: Elem, from: &[Elem]) -> String {
    if from.iter().chain([&to]).any(|elem| elem.format().is_some()) {
        return float::body(op, to, from);
    }
    let first = from.first().copied().unwrap_or(to);
    if let Some(body) = word::body(op, to, first) {
        return body;
    }
    let (t, w, p) = (c_type(to), WIDE, product(first));
    let bits = to.bits();
    let u = if bits <= 32 { "uint32_t" } else { "uint64_t" };
    let unsigned_product = p.starts_with('u');
    match op {
        Op::Add => format!("return ({t})(({u})a + ({u})b);"),
        Op::Sub => format!("return ({t})(({u})a - ({u})b);"),
        Op::Mul => format!("return ({t})(({u})a * ({u})b);"),
        Op::Neg => format!("return ({t})(0 - ({u})a);"),
        Op::Not => format!("return ({t})~a;"),
        Op::Div => format!(
            "if (b == 0)\n    return 0;\n{w} q = ({w})a / b;\n{w} r = ({w})a - q * b;\n\
             return ({t})(r >= 0 ? q : b > 0 ? q - 1 : q + 1);"
        ),
        Op::Rem => format!(
            "if (b == 0)\n    return 0;\n{w} r = ({w})a % b;\n\
             return ({t})(r >= 0 ? r : b > 0 ? r + b : r - b);"
        ),
        Op::Min => "return a < b ? a : b;".to_owned(),
        Op::Max => "return a > b ? a : b;".to_owned(),
        Op::Shl => format!("return n < {bits} ? ({t})(({u})a << n) : 0;"),
        Op::Shr if to.is_signed() => format!("return ({t})(a >> (n < {bits} ? n : {}));", bits - 1),
        Op::Shr => format!("return n < {bits} ? ({t})(a >> n) : 0;"),
        Op::SatCast => format!("{w} v = a;\n{}", clamped(to, false)),
        Op::SatAdd => format!("{w} v = ({w})a + b;\n{}", clamped(to, false)),
        Op::SatSub => format!("{w} v = ({w})a - b;\n{}", clamped(to, false)),
        Op::Abs => format!("{w} v = a;\nreturn ({t})(v < 0 ? -v : v);"),
        Op::Absd => format!("{w} v = ({w})a - b;\nreturn ({t})(v < 0 ? -v : v);"),
        Op::Avg => format!("return ({t})((({w})a + b + 1) >> 1);"),
        Op::AvgFloor => format!("return ({t})((({w})a + b) >> 1);"),
        Op::RoundShr => format!(
            "if (n == 0)\n    return a;\nn = n <= {bits} ? n - 1 : {bits};\n\
             return ({t})(((({w})a >> n) + 1) >> 1);"
        ),
        Op::MulShr if unsigned_product => format!(
            "{p} v = n < 64 ? ({p})a * b >> n : 0;\n{}",
            clamped(to, true)
        ),
        Op::MulShr => format!(
            "{p} v = ({p})a * b >> (n < 63 ? n : 63);\n{}",
            clamped(to, false)
        ),
        Op::RoundMulShr => format!(
            "{p} v = ({p})a * b;\nif (n > 64)\n    v = 0;\nelse if (n > 0)\n    \
             v = ((v >> (n - 1)) + 1) >> 1;\n{}",
            clamped(to, unsigned_product)
        ),
        Op::Clz => {
            let unsigned = c_type(first.as_unsigned());
            format!(
                "return a == 0 ? {bits} : ({t})(__builtin_clzll(({unsigned})a) - {});",
                64 - bits
            )
        }
        Op::Popcount => {
            let unsigned = c_type(first.as_unsigned());
            format!("return ({t})__builtin_popcountll(({unsigned})a);")
        }
        Op::Fma
        | Op::Sqrt
        | Op::RoundEven
        | Op::Floor
        | Op::Ceil
        | Op::Trunc
        | Op::Flush
        | Op::Call(_) => {
            unreachable!("{op:?} is of floats")
        }
        Op::Bits
        | Op::Cast
        | Op::And
        | Op::Or
        | Op::Xor
        | Op::Eq
        | Op::Ne
        | Op::Lt
        | Op::Le
        | Op::Select => {
            unreachable!("{op:?} is written infix")
        }
    }
}

/// The whole function.
fn definition(name: &str, op: Op, to: Elem, from: &[Elem]) -> String {
    let letters = ["a", "b", "c"];
    let parameter = |(n, elem): (usize, &Elem)| match count(op) {
        Some(at) if at == n => "uint64_t n".to_owned(),
        _ => format!("{} {}", c_type(*elem), letters[n]),
    };
    let parameters: Vec<String> = from.iter().enumerate().map(parameter).collect();
    let mut text = format!(
        "static inline {} {name}({}) {{\n",
        c_type(to),
        parameters.join(", ")
    );
    for line in body(op, to, from).lines() {
        text.push_str("    ");
        text.push_str(line);
        text.push('\n');
    }
    text.push_str("}\n");
    text
}
