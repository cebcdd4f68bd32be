//! Random kernels: one loop with one statement each, of the operators that the language has.
//!
//! In: random numbers. Out: [`Loop`]s, which are written as kernels by [`text`], several in one
//! if wanted. Every kernel is a right one: types fit, indices are in bounds, schedules are
//! legal. What is drawn depends on the numbers alone.

use semantics::random::Random;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The type of an element by its name; `bool` for conditions.
pub(super) type Ty = &'static str;

pub(super) const INTEGERS: [Ty; 8] = ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"];
pub(super) const FLOATS: [Ty; 4] = ["f16", "bf16", "f32", "f64"];
const COMPARISONS: [&str; 6] = ["==", "!=", "<", "<=", ">", ">="];
/// Numbers of lanes, those that fill registers more often.
const LANES: [u32; 24] = [
    2, 3, 4, 4, 5, 7, 8, 8, 8, 12, 15, 16, 16, 16, 16, 17, 24, 31, 32, 32, 32, 40, 64, 64,
];
/// Operators on floats of one type, those that are drawn more often twice.
pub(super) const OF_FLOATS: [&str; 18] = [
    "($ + $)",
    "($ + $)",
    "($ - $)",
    "($ * $)",
    "($ * $)",
    "($ / $)",
    "fma($, $, $)",
    "min($, $)",
    "max($, $)",
    "abs($)",
    "absd($, $)",
    "(-$)",
    "sqrt($)",
    "floor($)",
    "ceil($)",
    "trunc($)",
    "round_even($)",
    "clamp($, $, $)",
];
/// Operators on integers of one type, those that are drawn more often twice.
pub(super) const OF_INTEGERS: [&str; 19] = [
    "($ + $)",
    "($ + $)",
    "($ - $)",
    "($ - $)",
    "($ * $)",
    "($ & $)",
    "($ | $)",
    "($ ^ $)",
    "min($, $)",
    "max($, $)",
    "sat_add($, $)",
    "sat_sub($, $)",
    "avg($, $)",
    "avg_floor($, $)",
    "(-$)",
    "(~$)",
    "clz($)",
    "popcount($)",
    "clamp($, $, $)",
];
/// Operators on integers of half the width.
pub(super) const WIDENING: [&str; 4] = [
    "widening_mul($, $)",
    "widening_add($, $)",
    "widening_sub($, $)",
    "widen($)",
];
/// The most bits that the widest value of an expression has.
const WIDEST: u32 = 2048;

/// An expression: a text with `$` in place of each operand.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Expr {
    pub(super) ty: Ty,
    pub(super) form: String,
    pub(super) args: Vec<Expr>,
    /// What it reads, when it is a load.
    pub(super) load: Option<Load>,
}

/// An element of an array, or a scalar.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Load {
    /// The array of its type with this number; none: the scalar of its type.
    pub(super) array: Option<u32>,
    pub(super) stride: u32,
    pub(super) offset: u32,
}

/// What the statement does with its value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Store {
    Element,
    /// Every so manieth element.
    Strided(u32),
    Sum,
    Least,
    Greatest,
}

/// A loop with one statement, and how it is vectorised.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Loop {
    pub(super) value: Expr,
    pub(super) store: Store,
    pub(super) lanes: u32,
    pub(super) tail: Option<&'static str>,
}

/// The width of a type in bits.
pub(super) fn bits(ty: Ty) -> u32 {
    ty.trim_start_matches(|c: char| !c.is_ascii_digit())
        .parse()
        .unwrap_or(1)
}

pub(super) fn is_float(ty: Ty) -> bool {
    FLOATS.contains(&ty)
}

pub(super) fn is_signed(ty: Ty) -> bool {
    ty.starts_with('i')
}

/// The integer type of a width.
pub(super) fn integer(signed: bool, width: u32) -> Option<Ty> {
    let fits = |ty: &&Ty| bits(ty) == width && is_signed(ty) == signed;
    INTEGERS.iter().find(fits).copied()
}

impl Expr {
    pub(super) fn new(ty: Ty, form: impl Into<String>, args: Vec<Expr>) -> Expr {
        Expr {
            ty,
            form: form.into(),
            args,
            load: None,
        }
    }

    /// The first array of a type at the loop's variable.
    pub(super) fn plain(ty: Ty) -> Expr {
        let load = Load {
            array: Some(0),
            stride: 1,
            offset: 0,
        };
        Expr {
            load: Some(load),
            ..Expr::new(ty, "", Vec::new())
        }
    }

    /// It and all below it.
    pub(super) fn all(&self) -> Vec<&Expr> {
        let below = self.args.iter().flat_map(Expr::all);
        std::iter::once(self).chain(below).collect()
    }

    fn each_load(&mut self, change: &mut impl FnMut(&mut Load)) {
        self.load.iter_mut().for_each(&mut *change);
        self.args.iter_mut().for_each(|a| a.each_load(change));
    }

    /// As it is written, in the loop of a number.
    fn text(&self, at: usize) -> String {
        if let Some(load) = &self.load {
            let ty = self.ty;
            return match load.array {
                None => format!("s{at}_{ty}"),
                Some(array) => format!("a{at}_{ty}_{array}[{}]", load.index(&format!("x{at}"))),
            };
        }
        let mut parts = self.form.split('$');
        let mut out = parts.next().unwrap_or_default().to_owned();
        for (part, arg) in parts.zip(&self.args) {
            out += &arg.text(at);
            out += part;
        }
        out
    }
}

impl Load {
    fn index(&self, x: &str) -> String {
        let head = match self.stride {
            1 => x.to_owned(),
            s => format!("{s}*{x}"),
        };
        match self.offset {
            0 => head,
            c => format!("{head} + {c}"),
        }
    }
}

impl Loop {
    /// The kernel of a number.
    pub(super) fn random(seed: u64) -> Loop {
        let mut draw = Draw {
            // Neighbouring seeds have nothing in common.
            random: Random::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ 0x5bf0_3635),
        };
        draw.one()
    }

    /// The kernel alone.
    pub(super) fn text(&self) -> String {
        text(std::slice::from_ref(self))
    }

    /// Whether it divides integers by what it reads: no machine here has that in vectors.
    pub(super) fn divides(&self) -> bool {
        let divides = |e: &&Expr| {
            let by = matches!(e.form.as_str(), "($ / $)" | "($ % $)");
            by && !is_float(e.ty) && e.args[1].all().iter().any(|a| a.load.is_some())
        };
        self.value.all().iter().any(divides)
    }

    fn parameters(&self, at: usize, out: &mut Vec<String>) {
        let mut arrays: BTreeMap<(Ty, Option<u32>), (u32, u32)> = BTreeMap::new();
        for e in self.value.all() {
            if let Some(load) = &e.load {
                let (stride, offset) = arrays.entry((e.ty, load.array)).or_insert((1, 0));
                *stride = load.stride.max(*stride);
                *offset = load.offset.max(*offset);
            }
        }
        let pad = match self.tail {
            Some("round") => format!(" pad {}", self.lanes),
            _ => String::new(),
        };
        for ((ty, array), (stride, offset)) in arrays {
            let n = Load {
                array,
                stride,
                offset,
            };
            out.push(match array {
                None => format!("s{at}_{ty}: {ty}"),
                Some(array) => format!("a{at}_{ty}_{array}: in {ty}[{}{pad}]", n.index("n")),
            });
        }
        let ty = self.value.ty;
        out.push(match self.store {
            Store::Element => format!("o{at}: out {ty}[n{pad}]"),
            Store::Strided(s) => format!("o{at}: inout {ty}[{s}*n]"),
            _ => format!("o{at}: inout {ty}[1]"),
        });
    }

    fn statement(&self, at: usize) -> String {
        let value = self.value.text(at);
        let reassociate = if is_float(self.value.ty) {
            "reassociate "
        } else {
            ""
        };
        match self.store {
            Store::Element => format!("o{at}[x{at}] = {value};"),
            Store::Strided(s) => format!("o{at}[{s}*x{at}] = {value};"),
            Store::Sum => format!("{reassociate}o{at}[0] += {value};"),
            Store::Least => format!("{reassociate}o{at}[0] = min(o{at}[0], {value});"),
            Store::Greatest => format!("{reassociate}o{at}[0] = max(o{at}[0], {value});"),
        }
    }

    /// Makes what is read and scheduled legal beside how it is stored.
    fn settle(&mut self) {
        let widest = self.value.all().iter().map(|e| bits(e.ty)).max();
        while self.lanes > 2 && self.lanes * widest.unwrap_or(8) > WIDEST {
            self.lanes = self.lanes.div_ceil(2);
        }
        match (self.store, self.tail) {
            (Store::Element, Some("round")) => self.value.each_load(&mut |load| {
                (load.stride, load.offset) = (1, 0);
            }),
            (Store::Element | Store::Strided(_), Some("mask" | "shift")) => {}
            (_, Some("mask")) => {}
            _ => self.tail = None,
        }
    }
}

/// The line, from 1, that a loop of [`text`] stands on.
pub(super) fn line(at: usize) -> usize {
    at + 2
}

/// One kernel with these loops, one on a line.
pub(super) fn text(loops: &[Loop]) -> String {
    let mut parameters = vec!["n: size".to_owned()];
    let (mut body, mut schedule) = (String::new(), String::new());
    for (at, one) in loops.iter().enumerate() {
        one.parameters(at, &mut parameters);
        let _ = writeln!(body, "  for x{at} in 0..n {{ {} }}", one.statement(at));
        let tail = one.tail.map_or(String::new(), |t| format!(" tail {t}"));
        let _ = writeln!(schedule, "  vectorize x{at} by {}{tail};", one.lanes);
    }
    let parameters = parameters.join(", ");
    format!("kernel random({parameters}) {{\n{body}}} schedule {{\n{schedule}}}\n")
}

struct Draw {
    random: Random,
}

impl Draw {
    fn one(&mut self) -> Loop {
        let ty = match self.random.below(4) {
            0 => *self.random.pick(&FLOATS),
            _ => *self.random.pick(&INTEGERS),
        };
        let depth = 1 + self.random.below(3) as u32;
        let store = match self.random.below(10) {
            0 => Store::Sum,
            1 => Store::Least,
            2 => Store::Greatest,
            3 => Store::Strided(2 + self.random.below(2) as u32),
            _ => Store::Element,
        };
        let accumulates = matches!(store, Store::Sum | Store::Least | Store::Greatest);
        let value = match (accumulates, is_float(ty)) {
            (true, true) => {
                let ty = *self.random.pick(&["f32", "f64"]);
                self.exact(ty, depth)
            }
            _ => self.value(ty, depth),
        };
        let tails = [None, None, Some("mask"), Some("shift"), Some("round")];
        let mut made = Loop {
            value,
            store,
            lanes: *self.random.pick(&LANES),
            tail: *self.random.pick(&tails),
        };
        made.settle();
        made
    }

    /// What floats may be accumulated from: small whole numbers stay whole.
    fn exact(&mut self, ty: Ty, depth: u32) -> Expr {
        if depth == 0 || self.random.below(4) == 0 {
            return self.load(ty);
        }
        let forms = ["($ + $)", "($ - $)", "($ * $)", "min($, $)", "max($, $)"];
        let form = *self.random.pick(&forms);
        let args = vec![self.exact(ty, depth - 1), self.load(ty)];
        Expr::new(ty, form, args)
    }

    fn load(&mut self, ty: Ty) -> Expr {
        let array = match self.random.below(12) {
            0 => None,
            _ => Some(self.random.below(2) as u32),
        };
        let stride = match self.random.below(8) {
            0 if array.is_some() => 2 + self.random.below(3) as u32,
            _ => 1,
        };
        let offset = match self.random.below(4) {
            0 if array.is_some() => 1 + self.random.below(3) as u32,
            _ => 0,
        };
        let load = Load {
            array,
            stride,
            offset,
        };
        Expr {
            load: Some(load),
            ..Expr::new(ty, "", Vec::new())
        }
    }

    /// A number of a type, often one at an edge.
    fn number(&mut self, ty: Ty) -> Expr {
        if is_float(ty) {
            let text = *self
                .random
                .pick(&["0", "1", "-1", "0.5", "2", "3.25", "-100"]);
            return Expr::new(ty, format!("{ty}({text})"), Vec::new());
        }
        let width = bits(ty);
        let (least, most) = match is_signed(ty) {
            true => (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1),
            false => (0, (1i128 << width) - 1),
        };
        let small = i128::from(self.random.below(20));
        let any = least + (i128::from(self.random.next_bits()) & ((1 << width) - 1));
        let power = 1i128 << self.random.below(u64::from(width - 1));
        let number = *self
            .random
            .pick(&[small, small, -small, any, power, power - 1, most, least]);
        let number = number.clamp(least, most);
        Expr::new(ty, format!("{ty}({number})"), Vec::new())
    }

    fn leaf(&mut self, ty: Ty) -> Expr {
        match self.random.below(6) {
            0 => self.number(ty),
            _ => self.load(ty),
        }
    }

    /// An expression of a type, at most so deep.
    fn value(&mut self, ty: Ty, depth: u32) -> Expr {
        if depth == 0 || self.random.below(8) == 0 {
            return self.leaf(ty);
        }
        let depth = depth - 1;
        match self.random.below(10) {
            0 | 1 => {
                let condition = self.condition(depth);
                let args = vec![condition, self.value(ty, depth), self.value(ty, depth)];
                Expr::new(ty, "select($, $, $)", args)
            }
            2 | 3 => self.conversion(ty, depth),
            _ if is_float(ty) => self.of_floats(ty, depth),
            4 | 5 => self.rare(ty, depth),
            _ => self.of_integers(ty, depth),
        }
    }

    fn condition(&mut self, depth: u32) -> Expr {
        if depth > 0 && self.random.below(4) == 0 {
            let form = *self.random.pick(&["($ && $)", "($ || $)", "!$"]);
            let count = form.matches('$').count();
            let args = (0..count).map(|_| self.condition(depth - 1)).collect();
            return Expr::new("bool", form, args);
        }
        let ty = self.any_type();
        let form = format!("($ {} $)", self.random.pick(&COMPARISONS));
        let right = match self.random.below(2) {
            0 => self.number(ty),
            _ => self.value(ty, depth.min(1)),
        };
        Expr::new("bool", form, vec![self.value(ty, depth.min(1)), right])
    }

    fn any_type(&mut self) -> Ty {
        let types: &[Ty] = match self.random.below(5) {
            0 => &FLOATS,
            _ => &INTEGERS,
        };
        types[self.random.index(types.len())]
    }

    fn conversion(&mut self, ty: Ty, depth: u32) -> Expr {
        if self.random.below(10) == 0 {
            return Expr::new(ty, format!("{ty}($)"), vec![self.condition(depth)]);
        }
        let mut from = self.any_type();
        if from == ty {
            from = if ty == "i32" { "u8" } else { "i32" };
        }
        let saturates = !is_float(ty) && self.random.below(2) == 0;
        let form = format!("{ty}{}($)", if saturates { "_sat" } else { "" });
        Expr::new(ty, form, vec![self.value(from, depth)])
    }

    fn of_floats(&mut self, ty: Ty, depth: u32) -> Expr {
        let form = *self.random.pick(&OF_FLOATS);
        let args = (0..form.matches('$').count()).map(|_| self.value(ty, depth));
        let args = args.collect();
        Expr::new(ty, form, args)
    }

    fn of_integers(&mut self, ty: Ty, depth: u32) -> Expr {
        let form = *self.random.pick(&OF_INTEGERS);
        let args = (0..form.matches('$').count()).map(|_| self.value(ty, depth));
        let args = args.collect();
        Expr::new(ty, form, args)
    }

    /// Shifts, divisions, operations whose operands have other types.
    fn rare(&mut self, ty: Ty, depth: u32) -> Expr {
        let width = bits(ty);
        let by = self.random.below(u64::from(width));
        let shift = *self.random.pick(&["<<", ">>", ">>"]);
        let half = integer(is_signed(ty), width / 2);
        let two = |draw: &mut Draw, of: Ty| vec![draw.value(of, depth), draw.value(of, depth)];
        match self.random.below(12) {
            0..=2 => Expr::new(ty, format!("($ {shift} {by})"), vec![self.value(ty, depth)]),
            3 => {
                let args = two(self, ty);
                match self.random.below(2) {
                    0 => Expr::new(ty, format!("($ {shift} $)"), args),
                    _ => Expr::new(ty, format!("($ {shift} ($ & {}))", width - 1), args),
                }
            }
            4 => {
                let args = vec![self.value(ty, depth)];
                Expr::new(ty, format!("rounding_shr($, {by})"), args)
            }
            5 if width <= 32 => {
                let name = *self.random.pick(&["mul_shr", "rounding_mul_shr"]);
                let by = width - self.random.below(2) as u32;
                let args = two(self, ty);
                Expr::new(ty, format!("{name}($, $, {by})"), args)
            }
            6 => {
                let divisor = *self.random.pick(&[3, 5, 7, 10, 16, 100]);
                let by = *self.random.pick(&["/", "%"]);
                let args = vec![self.value(ty, depth)];
                Expr::new(ty, format!("($ {by} {divisor})"), args)
            }
            7 if self.random.below(6) == 0 => {
                let form = *self.random.pick(&["($ / $)", "($ % $)"]);
                let args = two(self, ty);
                Expr::new(ty, form, args)
            }
            8 | 9 if !is_signed(ty) => {
                let signed = integer(true, width).expect("every width has a signed type");
                let of = *self.random.pick(&[ty, signed]);
                match self.random.below(2) {
                    0 => Expr::new(ty, "absd($, $)", two(self, of)),
                    _ => Expr::new(ty, "abs($)", vec![self.value(signed, depth)]),
                }
            }
            _ => match half {
                Some(half) => self.widening(ty, half, depth),
                None => self.of_integers(ty, depth),
            },
        }
    }

    fn widening(&mut self, ty: Ty, half: Ty, depth: u32) -> Expr {
        let form = *self.random.pick(&WIDENING);
        // A difference is signed.
        let form = match is_signed(ty) {
            false if form == "widening_sub($, $)" => "widening_add($, $)",
            _ => form,
        };
        let args = (0..form.matches('$').count()).map(|_| self.value(half, depth));
        let args = args.collect();
        Expr::new(ty, form, args)
    }
}
