//! What operators mean that SMT-LIB has no symbol for, in SMT-LIB.
//!
//! In: an operator, its parameters, the widths of its arguments. Out: the body of a function
//! over arguments `a`, `b`, `c`. Written from the table's documentation and not from the
//! expansions that the prover uses: two hands that agree.

use semantics::float::Format;
use semantics::op::{Op, OpCode};

/// A constant of that width.
fn number(width: u32, bit: impl Fn(u32) -> bool) -> String {
    let digits = (0..width).rev().map(|k| if bit(k) { '1' } else { '0' });
    format!("#b{}", digits.collect::<String>())
}

fn constant(width: u32, value: u64) -> String {
    number(width, |k| k < 64 && value >> k & 1 == 1)
}

/// The low `width` bits of a text of `from` bits, or its extension with zeros.
fn fit(text: &str, from: u32, width: u32) -> String {
    if from < width {
        return format!("((_ zero_extend {}) {text})", width - from);
    }
    format!("((_ extract {} 0) {text})", width - 1)
}

/// A choice for each number from 0 up to `count`, the first that holds.
fn first_of(count: u32, otherwise: String, choice: impl Fn(u32) -> (String, String)) -> String {
    (0..count).rev().fold(otherwise, |rest, k| {
        let (when, then) = choice(k);
        format!("(ite {when} {then} {rest})")
    })
}

fn bit(name: &str, k: u32) -> String {
    format!("(= ((_ extract {k} {k}) {name}) #b1)")
}

/// The body of the operator's definition; nothing where it has none.
pub(crate) fn body(op: Op, widths: &[u32]) -> Option<String> {
    use OpCode as C;
    let w = *widths.first()?;
    let order = |at_most: &str| Some(format!("(ite ({at_most} a b) a b)"));
    let counterpart = |at_most: &str| Some(format!("(ite ({at_most} a b) b a)"));
    match op.code {
        C::Smin => order("bvsle"),
        C::Umin => order("bvule"),
        C::Smax => counterpart("bvsle"),
        C::Umax => counterpart("bvule"),
        C::Abs => Some(format!("(ite (bvslt a {}) (bvneg a) a)", constant(w, 0))),
        C::Rotl => Some(rotation(w, "bvshl", "bvlshr")),
        C::Rotr => Some(rotation(w, "bvlshr", "bvshl")),
        C::Slice => Some(slice(w, widths[1], op.params[0])),
        C::Elem => Some(element(w, widths[1], op.params[0])),
        C::Insert => Some(insert(w, widths[1], widths[2])),
        C::SatSS => Some(saturation(w, op.params[0], "sign", true)),
        C::SatSU => Some(saturation(w, op.params[0], "sign", false)),
        C::SatUS => Some(saturation(w, op.params[0], "zero", true)),
        C::SatUU => Some(saturation(w, op.params[0], "zero", false)),
        C::Popcnt => {
            let ones = (0..w).map(|k| fit(&format!("((_ extract {k} {k}) a)"), 1, w));
            ones.reduce(|sum, one| format!("(bvadd {sum} {one})"))
        }
        C::Clz => Some(first_of(w, constant(w, w.into()), |k| {
            (bit("a", w - 1 - k), constant(w, k.into()))
        })),
        C::Ctz => Some(first_of(w, constant(w, w.into()), |k| {
            (bit("a", k), constant(w, k.into()))
        })),
        _ => float(op),
    }
}

fn rotation(w: u32, there: &str, back: &str) -> String {
    let width = constant(w, w.into());
    let count = format!("(bvurem b {width})");
    format!("(bvor ({there} a {count}) ({back} a (bvsub {width} {count})))")
}

fn slice(w: u32, offset: u32, size: u32) -> String {
    let wide = w.max(offset).max(size) + 1;
    let (a, b) = (fit("a", w, wide), fit("b", offset, wide));
    format!("((_ extract {} 0) (bvlshr {a} {b}))", size - 1)
}

fn element(w: u32, index: u32, size: u32) -> String {
    let indices = if index < 31 { 1 << index } else { u32::MAX };
    let zeros = constant(size, 0);
    first_of(w.div_ceil(size).min(indices), zeros, |k| {
        let (lo, hi) = (k * size, ((k + 1) * size).min(w));
        let inside = format!("((_ extract {} {lo}) a)", hi - 1);
        let when = format!("(= b {})", constant(index, k.into()));
        (when, fit(&inside, hi - lo, size))
    })
}

fn insert(w: u32, offset: u32, piece: u32) -> String {
    let wide = w.max(offset) + 1;
    let (a, b, c) = (
        fit("a", w, wide),
        fit("b", offset, wide),
        fit("c", piece, wide),
    );
    let mask = fit(&number(piece, |_| true), piece, wide);
    let kept = format!("(bvand {a} (bvnot (bvshl {mask} {b})))");
    format!("((_ extract {} 0) (bvor {kept} (bvshl {c} {b})))", w - 1)
}

fn saturation(w: u32, to: u32, read: &str, signed: bool) -> String {
    let wide = w + 2;
    let value = format!("((_ {read}_extend 2) a)");
    let top = if signed { to - 1 } else { to };
    let most = number(wide, |k| k < top);
    let least = number(wide, |k| signed && k >= top);
    let low = |text: &str| format!("((_ extract {} 0) {text})", to - 1);
    format!(
        "(ite (bvslt {value} {least}) {} (ite (bvslt {most} {value}) {} {}))",
        low(&least),
        low(&most),
        low(&value)
    )
}

/// Comparisons and classes of floats, as IEEE 754 has them on patterns.
fn float(op: Op) -> Option<String> {
    use OpCode as C;
    let f = Format::from_code(op.params[0])?;
    let w = f.width();
    let size = |x: &str| format!("((_ extract {} 0) {x})", w - 2);
    let nan = |x: &str| format!("(bvugt {} {})", size(x), constant(w - 1, f.infinity()));
    let zeros = format!("(= {} {})", size("(bvor a b)"), constant(w - 1, 0));
    let either_nan = format!("(or {} {})", nan("a"), nan("b"));
    let less = |a: &str, b: &str| {
        let (s, t) = (bit(a, w - 1), bit(b, w - 1));
        let signs = format!("(ite {t} (bvugt {a} {b}) true)");
        let positive = format!("(and (not {t}) (bvult {a} {b}))");
        format!("(and (not {either_nan}) (not {zeros}) (ite {s} {signs} {positive}))")
    };
    let equal = format!("(and (not {either_nan}) (or (= a b) {zeros}))");
    Some(match op.code {
        C::FUnord => either_nan,
        C::FEq => equal,
        C::FLt => less("a", "b"),
        C::FLe => format!("(or {} {equal})", less("a", "b")),
        C::FMin => format!("(ite {} a b)", less("a", "b")),
        C::FMax => format!("(ite {} a b)", less("b", "a")),
        C::FClass => classes(f),
        _ => return None,
    })
}

/// Bit `k` of `b` asks for class `k`.
fn classes(f: Format) -> String {
    let w = f.width();
    let field = |hi: u32, lo: u32| format!("((_ extract {hi} {lo}) a)");
    let (exponent, fraction) = (field(w - 2, f.fraction()), field(f.fraction() - 1, 0));
    let exponent_bits = w - 1 - f.fraction();
    let full = format!("(= {exponent} {})", number(exponent_bits, |_| true));
    let none = format!("(= {exponent} {})", constant(exponent_bits, 0));
    let empty = format!("(= {fraction} {})", constant(f.fraction(), 0));
    let (quiet, negative) = (bit("a", f.fraction() - 1), bit("a", w - 1));
    let classes = [
        format!("(and {full} {quiet})"),
        format!("(and (not {negative}) {none} {empty})"),
        format!("(and {negative} {none} {empty})"),
        format!("(and (not {negative}) {full} {empty})"),
        format!("(and {negative} {full} {empty})"),
        format!("(and {none} (not {empty}))"),
        format!("(and {negative} (not {full}) (not (and {none} {empty})))"),
        format!("(and {full} (not {empty}) (not {quiet}))"),
    ];
    let asked = (0..8).zip(&classes);
    let asked: Vec<String> = asked
        .map(|(k, class)| format!("(and {} {class})", bit("b", k)))
        .collect();
    format!("(or {})", asked.join(" "))
}
