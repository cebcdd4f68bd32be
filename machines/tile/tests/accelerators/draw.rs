//! Kernels as people write them for matrix units, at random.
//!
//! In: random numbers, a machine's name, for the types of elements that it is made for. Out: the text
//! of a kernel with values of its sizes. What a machine refuses is drawn as well, but no floats where
//! they reach a host that has none: RVM adds products of floats in tiles, and its host knows integers.

use kernel::index::Symbol;
use kernel::tree::Kernel;
use semantics::random::Random;
use std::collections::BTreeMap;
use std::fmt;

/// A kernel that was drawn.
pub(crate) struct Drawn {
    /// What it is, for the table.
    pub(crate) kind: &'static str,
    pub(crate) kernel: Kernel,
    pub(crate) sizes: BTreeMap<Symbol, i64>,
    text: String,
}

impl Drawn {
    /// One that was not drawn.
    pub(crate) fn named(
        kind: &'static str,
        text: &str,
        kernel: Kernel,
        sizes: BTreeMap<Symbol, i64>,
    ) -> Drawn {
        Drawn {
            kind,
            kernel,
            sizes,
            text: text.to_owned(),
        }
    }
}

impl fmt::Display for Drawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes = self.kernel.values_text(&self.sizes);
        write!(f, "{}: {sizes}: {}", self.kind, self.text)
    }
}

/// Types of both factors, and of sums.
#[derive(Clone, Copy)]
struct Types {
    left: &'static str,
    right: &'static str,
    sum: &'static str,
    /// Whether the machine's host has floats.
    floats: bool,
}

impl Types {
    fn drawn(random: &mut Random, machine: &str) -> Types {
        let floats = !machine.starts_with("rvm");
        let of = |left, right, sum| Types {
            left,
            right,
            sum,
            floats,
        };
        let bytes = [
            of("i8", "i8", "i32"),
            of("u8", "i8", "i32"),
            of("u8", "u8", "u32"),
        ];
        match machine {
            "gemmini" => bytes[0],
            "amx" => *random.pick(&bytes),
            _ => *random.pick(&[
                of("i8", "i8", "i32"),
                of("i8", "i8", "i32"),
                of("i8", "i16", "i32"),
                of("i16", "i16", "i32"),
                of("i32", "i32", "i32"),
                of("f32", "f32", "f32"),
                of("u8", "i8", "i32"),
                of("u16", "u16", "u32"),
            ]),
        }
    }

    fn float(&self) -> bool {
        self.sum == "f32"
    }

    fn cast(&self, of: &str, from: &str) -> String {
        match from == self.sum {
            true => of.to_owned(),
            false => format!("{}({of})", self.sum),
        }
    }

    fn product(&self, a: &str, b: &str) -> String {
        let (a, b) = (self.cast(a, self.left), self.cast(b, self.right));
        format!("{a} * {b}")
    }
}

/// What a kind of kernel is: its text for some types, and the most of each of its sizes.
type Kind = fn(&mut Random, Types) -> (String, Vec<u64>);

const KINDS: [(&str, Kind); 19] = [
    ("product", product),
    ("product", product),
    ("product in a register", in_register),
    ("convolution of lines", lines),
    ("convolution of images", images),
    ("product with a vector", vector),
    ("sums from a bias", from_bias),
    ("narrow sums", narrow),
    ("depthwise convolution", depthwise),
    ("batch of products", batch),
    ("stencil", stencil),
    ("two products", two_products),
    ("zeroed apart", zeroed_apart),
    ("quantised product", quantised),
    ("sums of rows", sums_of_rows),
    ("difference", difference),
    ("padded convolution", padded),
    ("triangle", triangle),
    ("layer", layer),
];

/// Kinds of which a machine's tiles do all, whatever the size.
const IN_TILES: [&str; 4] = [
    "product",
    "product in a register",
    "convolution of lines",
    "batch of products",
];

/// A kernel.
pub(crate) fn kernel(random: &mut Random, machine: &str) -> Drawn {
    let ((kind, make), types) = loop {
        let (of, types) = (*random.pick(&KINDS), Types::drawn(random, machine));
        if !types.float() || types.floats || IN_TILES.contains(&of.0) {
            break (of, types);
        }
    };
    let (text, most) = make(random, types);
    let kernel = crate::board::kernels(&text).remove(0);
    let values: Vec<i64> = most.iter().map(|m| size(random, *m)).collect();
    let sizes = kernel.sizes().zip(values).collect();
    Drawn {
        kind,
        kernel,
        sizes,
        text,
    }
}

/// A size that is often small and seldom a multiple of anything.
fn size(random: &mut Random, most: u64) -> i64 {
    let most = match random.below(3) {
        0 => most.min(6),
        _ => most,
    };
    i64::try_from(1 + random.below(most)).expect("small")
}

/// The dimensions of an array whose index is this.
fn dims(of: &str) -> String {
    of.replace('i', "m").replace('j', "n").replace('p', "k")
}

fn product(random: &mut Random, t: Types) -> (String, Vec<u64>) {
    let a = *random.pick(&["i, p", "p, i"]);
    let b = *random.pick(&["j, p", "p, j"]);
    let c = *random.pick(&["i, j", "i, j", "j, i"]);
    let (begin, role) = match random.below(2) {
        0 => (format!("c[{c}] = 0;"), "out"),
        _ => (String::new(), "inout"),
    };
    let value = t.product(&format!("a[{a}]"), &format!("b[{b}]"));
    let Types {
        left, right, sum, ..
    } = t;
    let text = format!(
        "kernel t(m: size, n: size, k: size, a: in {left}[{}], b: in {right}[{}], \
         c: {role} {sum}[{}]) {{ for i in 0..m {{ for j in 0..n {{ {begin} \
         for p in 0..k {{ c[{c}] += {value}; }} }} }} }}",
        dims(a),
        dims(b),
        dims(c)
    );
    (text, vec![26, 26, 70])
}

fn in_register(random: &mut Random, t: Types) -> (String, Vec<u64>) {
    let value = t.product("a[i, p]", "b[p, j]");
    let done = match t.sum {
        "i32" => *random.pick(&["s", "max(s, 0)", "min(s, 100) + 3"]),
        _ => "s",
    };
    let Types {
        left, right, sum, ..
    } = t;
    let text = format!(
        "kernel t(m: size, n: size, k: size, a: in {left}[m, k], b: in {right}[k, n], \
         c: out {sum}[m, n]) {{ for i in 0..m {{ for j in 0..n {{ var s: {sum} = 0; \
         for p in 0..k {{ s += {value}; }} c[i, j] = {done}; }} }} }}"
    );
    (text, vec![20, 20, 50])
}

fn lines(random: &mut Random, t: Types) -> (String, Vec<u64>) {
    let (taps, by) = (1 + random.below(5), 1 + random.below(2));
    let value = t.product(&format!("d[c0, {by}*j + r]"), "w[i, c0, r]");
    let Types {
        left, right, sum, ..
    } = t;
    let text = format!(
        "kernel t(m: size, n: size, k: size, d: in {left}[k, {by}*n + {taps}], \
         w: in {right}[m, k, {taps}], c: inout {sum}[m, n]) {{ for i in 0..m {{ \
         for j in 0..n {{ for c0 in 0..k {{ for r in 0..{taps} {{ \
         c[i, j] += {value}; }} }} }} }} }}"
    );
    (text, vec![22, 30, 9])
}

fn images(random: &mut Random, t: Types) -> (String, Vec<u64>) {
    let (h, w) = (1 + random.below(3), 1 + random.below(3));
    let value = t.product("d[y + r, x + s, q]", "w[r, s, q, o]");
    let Types {
        left, right, sum, ..
    } = t;
    let text = format!(
        "kernel t(m: size, n: size, k: size, e: size, d: in {left}[m + {h}, n + {w}, k], \
         w: in {right}[{h}, {w}, k, e], c: out {sum}[m, n, e]) {{ for y in 0..m {{ \
         for x in 0..n {{ for o in 0..e {{ c[y, x, o] = 0; for r in 0..{h} {{ for s in 0..{w} {{ \
         for q in 0..k {{ c[y, x, o] += {value}; }} }} }} }} }} }} }}"
    );
    (text, vec![6, 12, 18, 10])
}

fn vector(random: &mut Random, t: Types) -> (String, Vec<u64>) {
    let a = *random.pick(&["i, p", "p, i"]);
    let value = t.product(&format!("a[{a}]"), "b[p]");
    let Types {
        left, right, sum, ..
    } = t;
    let text = format!(
        "kernel t(m: size, k: size, a: in {left}[{}], b: in {right}[k], c: inout {sum}[m]) {{ \
         for i in 0..m {{ for p in 0..k {{ c[i] += {value}; }} }} }}",
        dims(a)
    );
    (text, vec![40, 90])
}

fn from_bias(random: &mut Random, t: Types) -> (String, Vec<u64>) {
    let value = t.product("a[i, p]", "b[p, j]");
    let bias = *random.pick(&["bias[j]", "bias[i]"]);
    let extent = if bias == "bias[j]" { "n" } else { "m" };
    let Types {
        left, right, sum, ..
    } = t;
    let body = match random.below(2) {
        0 => format!("c[i, j] = {bias}; for p in 0..k {{ c[i, j] += {value}; }}"),
        _ => format!(
            "var s: {sum} = {bias}; for p in 0..k {{ s += {value}; }} c[i, j] = {};",
            if t.sum == "i32" { "max(s, 0)" } else { "s" }
        ),
    };
    let text = format!(
        "kernel t(m: size, n: size, k: size, a: in {left}[m, k], b: in {right}[k, n], \
         bias: in {sum}[{extent}], c: out {sum}[m, n]) {{ for i in 0..m {{ for j in 0..n {{ \
         {body} }} }} }}"
    );
    (text, vec![20, 20, 50])
}

fn narrow(random: &mut Random, t: Types) -> (String, Vec<u64>) {
    let (from, sum) = match t.float() {
        true => ("i16", "i16"),
        false => *random.pick(&[("i8", "i16"), ("i8", "i8"), ("i16", "i16"), ("u8", "u16")]),
    };
    let t = Types {
        left: from,
        right: from,
        sum,
        ..t
    };
    let value = t.product("a[i, p]", "b[p, j]");
    let text = format!(
        "kernel t(m: size, n: size, k: size, a: in {from}[m, k], b: in {from}[k, n], \
         c: inout {sum}[m, n]) {{ for i in 0..m {{ for j in 0..n {{ for p in 0..k {{ \
         c[i, j] += {value}; }} }} }} }}"
    );
    (text, vec![20, 20, 50])
}

fn depthwise(random: &mut Random, t: Types) -> (String, Vec<u64>) {
    let by = 1 + random.below(2);
    let value = t.product(&format!("d[{by}*y + r, {by}*x + s, q]"), "w[r, s, q]");
    let Types {
        left, right, sum, ..
    } = t;
    let text = format!(
        "kernel t(m: size, n: size, k: size, d: in {left}[{by}*m + 3, {by}*n + 3, k], \
         w: in {right}[3, 3, k], c: out {sum}[m, n, k]) {{ for y in 0..m {{ for x in 0..n {{ \
         for q in 0..k {{ c[y, x, q] = 0; for r in 0..3 {{ for s in 0..3 {{ \
         c[y, x, q] += {value}; }} }} }} }} }} }}"
    );
    (text, vec![6, 12, 12])
}

fn batch(random: &mut Random, t: Types) -> (String, Vec<u64>) {
    let b = *random.pick(&["z, p, j", "z, j, p"]);
    let value = t.product("a[z, i, p]", &format!("b[{b}]"));
    let Types {
        left, right, sum, ..
    } = t;
    let text = format!(
        "kernel t(m: size, n: size, k: size, e: size, a: in {left}[e, m, k], \
         b: in {right}[{}], c: inout {sum}[e, m, n]) {{ for z in 0..e {{ for i in 0..m {{ \
         for j in 0..n {{ for p in 0..k {{ c[z, i, j] += {value}; }} }} }} }} }}",
        dims(b).replace('z', "e")
    );
    (text, vec![12, 12, 30, 4])
}

fn stencil(random: &mut Random, t: Types) -> (String, Vec<u64>) {
    let from = if t.float() { "i16" } else { t.left };
    let at = |y: u64, x: u64, n: u64| format!("{n} * i32(d[y + {y}, x + {x}])");
    let points: Vec<String> = (0..2 + random.below(4))
        .map(|_| at(random.below(3), random.below(3), 1 + random.below(4)))
        .collect();
    let text = format!(
        "kernel t(m: size, n: size, d: in {from}[m + 3, n + 3], c: out i32[m, n]) {{ \
         for y in 0..m {{ for x in 0..n {{ c[y, x] = {}; }} }} }}",
        points.join(" + ")
    );
    (text, vec![12, 24])
}

fn two_products(random: &mut Random, t: Types) -> (String, Vec<u64>) {
    let Types {
        left, right, sum, ..
    } = t;
    let first = t.product("a[i, p]", "b[p, j]");
    let second = t.product("a[i, p]", "d[j, p]");
    let between = match random.below(3) {
        0 if !t.float() => {
            format!("for i in 0..m {{ for j in 0..n {{ c[i, j] = c[i, j] + {sum}(1); }} }}")
        }
        _ => String::new(),
    };
    let text = format!(
        "kernel t(m: size, n: size, k: size, a: in {left}[m, k], b: in {right}[k, n], \
         d: in {right}[n, k], c: inout {sum}[m, n], e: inout {sum}[m, n]) {{ \
         for i in 0..m {{ for j in 0..n {{ for p in 0..k {{ c[i, j] += {first}; }} }} }} {between} \
         for i in 0..m {{ for j in 0..n {{ for p in 0..k {{ e[i, j] += {second}; }} }} }} }}"
    );
    (text, vec![16, 16, 40])
}

fn zeroed_apart(random: &mut Random, t: Types) -> (String, Vec<u64>) {
    let Types {
        left, right, sum, ..
    } = t;
    let value = t.product("a[i, p]", "b[p, j]");
    let order = *random.pick(&[["i", "j", "p"], ["p", "i", "j"], ["i", "p", "j"]]);
    let around = order.map(|v| format!("for {v} in 0..{} {{", dims(v)));
    let text = format!(
        "kernel t(m: size, n: size, k: size, a: in {left}[m, k], b: in {right}[k, n], \
         c: out {sum}[m, n]) {{ for i in 0..m {{ for j in 0..n {{ c[i, j] = 0; }} }} \
         {} c[i, j] += {value}; }} }} }} }}",
        around.join(" ")
    );
    (text, vec![20, 20, 50])
}

fn quantised(random: &mut Random, t: Types) -> (String, Vec<u64>) {
    let (left, right) = match t.float() {
        true => ("i8", "i8"),
        false => (t.left, t.right),
    };
    let (x, y) = (random.below(5), random.below(3));
    let minus = |e: &str, n: u64| match n {
        0 => format!("i32({e})"),
        _ => format!("(i32({e}) - {n})"),
    };
    let value = format!("{} * {}", minus("a[i, p]", x), minus("b[j, p]", y));
    let done = *random.pick(&["i8_sat(s >> 5)", "s", "i32(i8_sat((s + 8) >> 4))"]);
    let to = if done.starts_with("i8") { "i8" } else { "i32" };
    let text = format!(
        "kernel t(m: size, n: size, k: size, a: in {left}[m, k], b: in {right}[n, k], \
         c: out {to}[m, n]) {{ for i in 0..m {{ for j in 0..n {{ var s: i32 = 0; \
         for p in 0..k {{ s += {value}; }} c[i, j] = {done}; }} }} }}"
    );
    (text, vec![20, 20, 50])
}

fn sums_of_rows(random: &mut Random, t: Types) -> (String, Vec<u64>) {
    let a = *random.pick(&["i, p", "p, i"]);
    let from = if t.float() { "i16" } else { t.left };
    let text = format!(
        "kernel t(m: size, k: size, a: in {from}[{}], c: inout i32[m]) {{ \
         for i in 0..m {{ for p in 0..k {{ c[i] += i32(a[{a}]); }} }} }}",
        dims(a)
    );
    (text, vec![24, 60])
}

fn difference(random: &mut Random, t: Types) -> (String, Vec<u64>) {
    let Types {
        left, right, sum, ..
    } = t;
    let value = t.product("a[i, p]", "b[p, j]");
    let begin = *random.pick(&["", "c[i, j] = 0;"]);
    let role = if begin.is_empty() { "inout" } else { "out" };
    let text = format!(
        "kernel t(m: size, n: size, k: size, a: in {left}[m, k], b: in {right}[k, n], \
         c: {role} {sum}[m, n]) {{ for i in 0..m {{ for j in 0..n {{ {begin} for p in 0..k {{ \
         c[i, j] = c[i, j] - {value}; }} }} }} }}"
    );
    (text, vec![20, 20, 50])
}

fn padded(random: &mut Random, t: Types) -> (String, Vec<u64>) {
    let from = if t.float() { "i32" } else { t.left };
    let taps = 2 + random.below(3);
    let text = format!(
        "kernel t(m: size, n: size, k: size, d: in {from}[k, n], w: in {from}[m, k, {taps}], \
         c: out i32[m, n]) requires n <= 65536 {{ for i in 0..m {{ for j in 0..n {{ c[i, j] = 0; \
         for q in 0..k {{ for r in 0..{taps} {{ \
         let y = select(i32(j + r) < i32(n), i32(d.clamped[q, j + r]), 0); \
         c[i, j] += y * i32(w[i, q, r]); }} }} }} }} }}"
    );
    (text, vec![16, 20, 6])
}

fn triangle(random: &mut Random, t: Types) -> (String, Vec<u64>) {
    let Types {
        left, right, sum, ..
    } = t;
    let value = t.product("a[i, p]", "b[p, j]");
    let (j, p) = *random.pick(&[("n", "i + 1"), ("i + 1", "k")]);
    let text = format!(
        "kernel t(m: size, n: size, k: size, a: in {left}[m, m + k], b: in {right}[m + k, m + n], \
         c: inout {sum}[m, m + n]) {{ for i in 0..m {{ for j in 0..{j} {{ for p in 0..{p} {{ \
         c[i, j] += {value}; }} }} }} }}"
    );
    (text, vec![16, 16, 20])
}

/// A layer of a quantised network as it is written for arrays that scale what they store.
fn layer(random: &mut Random, t: Types) -> (String, Vec<u64>) {
    let by = 1 + random.below(2);
    let begin = *random.pick(&["bias[o]", "0"]);
    let scaled = [
        ("s", "i32"),
        ("i8_sat((s + 64) >> 7)", "i8"),
        ("i8_sat(round_even(f32(s) * 0.0078125))", "i8"),
        ("max(i8_sat(round_even(f32(s) * 0.015625)), 0)", "i8"),
    ];
    let (done, to) = *random.pick(if t.floats { &scaled } else { &scaled[..2] });
    let from = if t.float() || t.left != t.right {
        "i8"
    } else {
        t.left
    };
    let text = format!(
        "kernel t(m: size, n: size, k: size, e: size, d: in {from}[{by}*m + 3, {by}*n + 3, k], \
         w: in {from}[3, 3, k, e], bias: in i32[e], c: out {to}[m, n, e]) {{ for y in 0..m {{ \
         for x in 0..n {{ for o in 0..e {{ var s: i32 = {begin}; for r in 0..3 {{ for q in 0..3 {{ \
         for p in 0..k {{ s += i32(d[{by}*y + r, {by}*x + q, p]) * i32(w[r, q, p, o]); }} }} }} \
         c[y, x, o] = {done}; }} }} }} }}"
    );
    (text, vec![5, 9, 18, 18])
}
