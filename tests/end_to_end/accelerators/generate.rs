//! Sums as machines with tiles are made for, at random, of sizes from 1 to 1024.
//!
//! In: a seed, a machine. Out: the text of a kernel with values of its sizes: products in every
//! orientation, from zero, from a bias or added to what is there, batches, convolutions of lines and of
//! images with strides and dilations, channels first or last, products with a vector and of two vectors;
//! and what no tile does: transposed and element by element.

use semantics::random::Random;

/// A kernel that was drawn.
#[derive(Clone, Debug)]
pub(super) struct Drawn {
    pub(super) kind: &'static str,
    pub(super) text: String,
    pub(super) sizes: Vec<(&'static str, u64)>,
    /// Whether tiles do it on every machine.
    pub(super) sums: bool,
}

/// Types of both factors and of sums.
#[derive(Clone, Copy)]
struct Types([&'static str; 3]);

impl Types {
    fn drawn(random: &mut Random, machine: &str) -> Types {
        let bytes = [
            ["i8", "i8", "i32"],
            ["u8", "i8", "i32"],
            ["i8", "u8", "i32"],
            ["u8", "u8", "u32"],
        ];
        let all = [
            ["i8", "i16", "i32"],
            ["i16", "i8", "i32"],
            ["i16", "i16", "i32"],
            ["i32", "i32", "i32"],
            ["i16", "i32", "i32"],
            ["u16", "u16", "u32"],
            ["f32", "f32", "f32"],
        ];
        Types(match machine {
            "gemmini" => bytes[0],
            "amx" => *random.pick(&bytes),
            _ => *random.pick(&[bytes.as_slice(), &all].concat()),
        })
    }

    fn float(self) -> bool {
        self.0[2] == "f32"
    }

    fn product(self, x: &str, y: &str) -> String {
        let [left, right, sum] = self.0;
        let cast = |of: &str, from: &str| match from == sum {
            true => of.to_owned(),
            false => format!("{sum}({of})"),
        };
        format!("{} * {}", cast(x, left), cast(y, right))
    }
}

type Kind = fn(&mut Draws, Types) -> Drawn;

const KINDS: [Kind; 16] = [
    product,
    product,
    product,
    product,
    lines,
    lines,
    lines,
    images,
    images,
    images,
    batch,
    vector,
    outer,
    depthwise,
    transposed,
    elementwise,
];

/// Random numbers, and the most that is multiplied and added, so that a simulator ends.
struct Draws {
    random: Random,
    most: u64,
}

impl std::ops::Deref for Draws {
    type Target = Random;

    fn deref(&self) -> &Random {
        &self.random
    }
}

impl std::ops::DerefMut for Draws {
    fn deref_mut(&mut self) -> &mut Random {
        &mut self.random
    }
}

/// The kernel of a seed, in which at most so much is multiplied and added.
pub(super) fn kernel(seed: u64, machine: &str, most: u64) -> Drawn {
    let random = Random::new(seed);
    let mut draws = Draws { random, most };
    loop {
        let types = Types::drawn(&mut draws, machine);
        let make = *draws.pick(&KINDS);
        let drawn = make(&mut draws, types);
        // A host of integers computes no floats beside tiles.
        if drawn.sums && !drawn.text.contains("outer") || !types.float() {
            return drawn;
        }
    }
}

/// Values of sizes whose product, so often, is not too large.
fn sizes(random: &mut Draws, names: &[&'static str], often: u64) -> Vec<(&'static str, u64)> {
    loop {
        let mut size = || match random.below(20) {
            0..4 => 1 + random.below(8),
            4..10 => 1 + random.below(64),
            10..13 => 4 << random.below(9),
            _ => 1 + random.below(1024),
        };
        let all: Vec<(&str, u64)> = names.iter().map(|n| (*n, size())).collect();
        if all.iter().map(|s| s.1).product::<u64>() * often <= random.most {
            return all;
        }
    }
}

/// A kernel of sizes: parameters behind them, and what it does.
fn written(sizes: &[(&'static str, u64)], arrays: &str, body: &str) -> String {
    let names = sizes.iter().map(|s| format!("{}: size, ", s.0));
    format!(
        "kernel t({}{arrays}) {{ {body} }}",
        names.collect::<String>()
    )
}

/// Loops around a body, the outermost first.
fn around(loops: &[(&str, &str)], body: &str) -> String {
    let inner = body.to_owned();
    let each = loops.iter().rev();
    each.fold(inner, |body, (var, count)| {
        format!("for {var} in 0..{count} {{ {body} }}")
    })
}

/// What is before a sum in an array, and the array's role.
fn begin(random: &mut Draws, target: &str) -> (String, &'static str) {
    match random.below(2) {
        0 => (format!("{target} = 0; "), "out"),
        _ => (String::new(), "inout"),
    }
}

fn product(random: &mut Draws, types: Types) -> Drawn {
    let [left, right, sum] = types.0;
    let (a, am) = *random.pick(&[("i, p", "m, k"), ("p, i", "k, m")]);
    let (b, bm) = *random.pick(&[("j, p", "n, k"), ("p, j", "k, n")]);
    let (c, cm) = *random.pick(&[("i, j", "m, n"), ("i, j", "m, n"), ("j, i", "n, m")]);
    let value = types.product(&format!("a[{a}]"), &format!("b[{b}]"));
    let added = format!("for p in 0..k {{ c[{c}] += {value}; }}");
    let in_register = |first: &str, done: &str| {
        format!("var s: {sum} = {first}; for p in 0..k {{ s += {value}; }} c[{c}] = {done};")
    };
    let form = random.below(if types.float() { 3 } else { 6 });
    let (body, role, bias) = match form {
        0 => (format!("c[{c}] = 0; {added}"), "out", ""),
        1 => (added, "inout", ""),
        2 => (in_register("0", "s"), "out", ""),
        3 => (in_register("0", "max(s, 3)"), "out", ""),
        4 => (format!("c[{c}] = bias[j]; {added}"), "out", "n"),
        _ => (in_register("bias[i]", "s"), "out", "m"),
    };
    let bias = match bias {
        "" => String::new(),
        of => format!("bias: in {sum}[{of}], "),
    };
    let sizes = sizes(random, &["m", "n", "k"], 1);
    let arrays = format!("a: in {left}[{am}], b: in {right}[{bm}], {bias}c: {role} {sum}[{cm}]");
    let body = around(&[("i", "m"), ("j", "n")], &body);
    drawn("product", sizes, &arrays, &body)
}

fn drawn(kind: &'static str, sizes: Vec<(&'static str, u64)>, arrays: &str, body: &str) -> Drawn {
    Drawn {
        kind,
        text: written(&sizes, arrays, body),
        sizes,
        sums: true,
    }
}

/// An index that steps through pixels and taps, and how many there are of so many of both.
fn stepped(
    random: &mut Draws,
    (pixel, count): (&str, &str),
    (tap, taps): (&str, u64),
) -> [String; 2] {
    let (stride, apart) = (1 + random.below(4) / 2, 1 + random.below(4) / 2);
    [
        format!("{stride}*{pixel} + {apart}*{tap}"),
        format!("{stride}*{count} + {}", apart * taps),
    ]
}

fn lines(random: &mut Draws, types: Types) -> Drawn {
    let [left, right, sum] = types.0;
    let taps = 1 + random.below(7);
    let [at, wide] = stepped(random, ("j", "n"), ("r", taps));
    let (d, dm, c, cm) = match random.below(2) {
        0 => (format!("q, {at}"), format!("k, {wide}"), "i, j", "m, n"),
        _ => (format!("{at}, q"), format!("{wide}, k"), "j, i", "n, m"),
    };
    let orders = [
        ("i, q, r", format!("m, k, {taps}")),
        ("r, q, i", format!("{taps}, k, m")),
        ("i, r, q", format!("m, {taps}, k")),
    ];
    let (w, wm) = random.pick(&orders);
    let target = format!("c[{c}]");
    let (first, role) = begin(random, &target);
    let value = types.product(&format!("d[{d}]"), &format!("w[{w}]"));
    let taps_text = taps.to_string();
    let inner = [("q", "k"), ("r", taps_text.as_str())];
    let body = format!(
        "{first}{}",
        around(&inner, &format!("{target} += {value};"))
    );
    let arrays = format!("d: in {left}[{dm}], w: in {right}[{wm}], c: {role} {sum}[{cm}]");
    let sizes = sizes(random, &["m", "n", "k"], taps);
    drawn(
        "convolution of lines",
        sizes,
        &arrays,
        &around(&[("i", "m"), ("j", "n")], &body),
    )
}

fn images(random: &mut Draws, types: Types) -> Drawn {
    let [left, right, sum] = types.0;
    let (high, wide) = (1 + random.below(4), 1 + random.below(4));
    let [y, rows] = stepped(random, ("y", "m"), ("r", high));
    let [x, columns] = stepped(random, ("x", "n"), ("t", wide));
    let (d, dm, c, cm, w, wm) = match random.below(2) {
        0 => (
            format!("{y}, {x}, q"),
            format!("{rows}, {columns}, k"),
            "y, x, o",
            "m, n, e",
            "r, t, q, o",
            format!("{high}, {wide}, k, e"),
        ),
        _ => (
            format!("q, {y}, {x}"),
            format!("k, {rows}, {columns}"),
            "o, y, x",
            "e, m, n",
            "o, q, r, t",
            format!("e, k, {high}, {wide}"),
        ),
    };
    let target = format!("c[{c}]");
    let (first, role) = begin(random, &target);
    let value = types.product(&format!("d[{d}]"), &format!("w[{w}]"));
    let (high_text, wide_text) = (high.to_string(), wide.to_string());
    let inner = [
        ("r", high_text.as_str()),
        ("t", wide_text.as_str()),
        ("q", "k"),
    ];
    let body = format!(
        "{first}{}",
        around(&inner, &format!("{target} += {value};"))
    );
    let arrays = format!("d: in {left}[{dm}], w: in {right}[{wm}], c: {role} {sum}[{cm}]");
    let sizes = sizes(random, &["m", "n", "k", "e"], high * wide);
    let body = around(&[("y", "m"), ("x", "n"), ("o", "e")], &body);
    drawn("convolution of images", sizes, &arrays, &body)
}

fn batch(random: &mut Draws, types: Types) -> Drawn {
    let [left, right, sum] = types.0;
    let (b, bm) = *random.pick(&[("z, p, j", "e, k, n"), ("z, j, p", "e, n, k")]);
    let (first, role) = begin(random, "c[z, i, j]");
    let value = types.product("a[z, i, p]", &format!("b[{b}]"));
    let body = format!("{first}for p in 0..k {{ c[z, i, j] += {value}; }}");
    let arrays = format!("a: in {left}[e, m, k], b: in {right}[{bm}], c: {role} {sum}[e, m, n]");
    let sizes = sizes(random, &["m", "n", "k", "e"], 1);
    drawn(
        "batch",
        sizes,
        &arrays,
        &around(&[("z", "e"), ("i", "m"), ("j", "n")], &body),
    )
}

fn vector(random: &mut Draws, types: Types) -> Drawn {
    let [left, right, sum] = types.0;
    let (a, am) = *random.pick(&[("i, p", "m, k"), ("p, i", "k, m")]);
    let (first, role) = begin(random, "c[i]");
    let value = types.product(&format!("a[{a}]"), "b[p]");
    let body = format!("{first}for p in 0..k {{ c[i] += {value}; }}");
    let arrays = format!("a: in {left}[{am}], b: in {right}[k], c: {role} {sum}[m]");
    let sizes = sizes(random, &["m", "k"], 1);
    Drawn {
        sums: !types.float(),
        ..drawn(
            "product with a vector",
            sizes,
            &arrays,
            &around(&[("i", "m")], &body),
        )
    }
}

fn outer(random: &mut Draws, types: Types) -> Drawn {
    let [left, right, sum] = types.0;
    let value = types.product("a[i]", "b[j]");
    let arrays = format!("a: in {left}[m], b: in {right}[n], c: inout {sum}[m, n]");
    let sizes = sizes(random, &["m", "n"], 1);
    let body = around(&[("i", "m"), ("j", "n")], &format!("c[i, j] += {value};"));
    Drawn {
        sums: !types.float(),
        ..drawn("product of vectors", sizes, &arrays, &body)
    }
}

fn depthwise(random: &mut Draws, types: Types) -> Drawn {
    let [left, right, sum] = types.0;
    let (first, role) = begin(random, "c[y, x, q]");
    let value = types.product("d[y + r, x + t, q]", "w[r, t, q]");
    let inner = around(
        &[("r", "3"), ("t", "3")],
        &format!("c[y, x, q] += {value};"),
    );
    let arrays =
        format!("d: in {left}[m + 3, n + 3, k], w: in {right}[3, 3, k], c: {role} {sum}[m, n, k]");
    let sizes = sizes(random, &["m", "n", "k"], 9);
    let body = around(
        &[("y", "m"), ("x", "n"), ("q", "k")],
        &format!("{first}{inner}"),
    );
    Drawn {
        sums: false,
        ..drawn("depthwise convolution", sizes, &arrays, &body)
    }
}

fn transposed(random: &mut Draws, _: Types) -> Drawn {
    let of = *random.pick(&["i8", "i16", "i32", "u8"]);
    let sizes = sizes(random, &["m", "n"], 1);
    let body = around(&[("i", "m"), ("j", "n")], "c[j, i] = a[i, j];");
    Drawn {
        sums: false,
        ..drawn(
            "transposed",
            sizes,
            &format!("a: in {of}[m, n], c: out {of}[n, m]"),
            &body,
        )
    }
}

fn elementwise(random: &mut Draws, _: Types) -> Drawn {
    let of = *random.pick(&["i8", "i16", "i32", "u8"]);
    let value = *random.pick(&[
        "a[i, j] + b[i, j]",
        "a[i, j] - b[i, j]",
        "a[i, j] * b[i, j]",
        "max(a[i, j], b[i, j])",
        "min(max(a[i, j], 3), 90)",
        "a[i, j] >> 2",
    ]);
    let sizes = sizes(random, &["m", "n"], 1);
    let arrays = format!("a: in {of}[m, n], b: in {of}[m, n], c: out {of}[m, n]");
    let body = around(&[("i", "m"), ("j", "n")], &format!("c[i, j] = {value};"));
    Drawn {
        sums: false,
        ..drawn("element by element", sizes, &arrays, &body)
    }
}
