//! What compositions of two expressions cost beside their parts.
//!
//! In: an operator on elements, and an end that goes on with its result, mostly in wider elements. Out: what
//! the whole costs beside both by themselves, each from memory and to memory. Where the whole is
//! computed element by element and the parts are not, or costs much more than they do, the search knows
//! both and does not see them in it: kinds of weakness are found so that no list of known sequences names.

use semantics::random::Random;
use serde_json::Value;
use std::env;
use test_support::skip_part;

/// Lanes of each loop.
const LANES: u32 = 64;
/// One of so many is run with the tests.
const SHARE: usize = 97;
/// The most that those may cost, in the sum of their parts: the worst of them, `i8` divided by 3, is known.
const MOST: f64 = 1.9;

const TYPES: [&str; 6] = ["u8", "i8", "u16", "i16", "u32", "i32"];

/// On elements `$` and `%` of a type.
const INNER: [&str; 25] = [
    "avg($, %)",
    "avg_floor($, %)",
    "sat_add($, %)",
    "sat_sub($, %)",
    "absd($, %)",
    "min($, %)",
    "max($, %)",
    "$ + %",
    "$ - %",
    "$ * %",
    "$ & %",
    "select($ > %, $, %)",
    "select($ == %, $, 7)",
    "$ ^ (% >> 1)",
    "($ + %) >> 1",
    "abs($)",
    "popcount($)",
    "$ >> 2",
    "$ << 1",
    "clz($)",
    "~$",
    "$ / 3",
    "-$",
    "min($, 9)",
    "clamp($, 3, 90)",
];

/// Types that results are extended to.
const WIDER: [&str; 5] = ["u16", "i16", "u32", "i32", "f32"];

/// On a result `@` that is extended to `TO`, and an element of its own type.
const ENDS: [&str; 4] = [
    "TO(@) + 9",
    "TO(@) * 3",
    "max(TO(@), TO(c[x]))",
    "TO(@) - TO(c[x])",
];

/// On a result that stays as wide.
const AS_WIDE: [&str; 3] = ["max(@, c[x])", "(@ ^ c[x]) + c[x]", "avg(@, c[x])"];

/// A composition of two expressions.
struct Composition {
    of: &'static str,
    inner: &'static str,
    /// The type of the inner one's results.
    between: String,
    end: String,
    to: String,
}

fn bits(ty: &str) -> u32 {
    ty[1..].parse().expect("types end with their width")
}

fn all() -> Vec<Composition> {
    let mut out = Vec::new();
    for of in TYPES {
        for inner in INNER {
            let positive = inner.starts_with("abs");
            let between = match positive {
                true => format!("u{}", bits(of)),
                false => of.to_owned(),
            };
            let mut add = |end: String, to: &str| {
                let (between, to) = (between.clone(), to.to_owned());
                out.push(Composition {
                    of,
                    inner,
                    between,
                    end,
                    to,
                });
            };
            for to in WIDER {
                if bits(to) > bits(of) && !(to == "f32" && bits(of) > 16) {
                    ENDS.iter().for_each(|end| add(end.replace("TO", to), to));
                }
            }
            AS_WIDE
                .iter()
                .for_each(|end| add((*end).to_owned(), &between));
        }
    }
    out
}

impl Composition {
    fn inner(&self) -> String {
        self.inner.replace('$', "a[x]").replace('%', "b[x]")
    }

    /// The whole and both parts: the types of `a` and `c`, the expression, the type of the result.
    fn kernels(&self) -> [(&str, &str, String, &str); 3] {
        let (inner, between) = (self.inner(), self.between.as_str());
        let whole = self.end.replace('@', &inner);
        let end = self.end.replace('@', "a[x]");
        [
            (self.of, between, whole, &self.to),
            (self.of, between, inner, between),
            (between, between, end, &self.to),
        ]
    }

    fn text(&self) -> String {
        format!("{} of {}", self.end.replace('@', &self.inner()), self.of)
    }
}

/// What the windows of some compositions cost: the whole, and the sum of its parts; none for what is computed
/// element by element.
fn costs(some: &[Composition], [isa, target]: [&str; 2]) -> Vec<[Option<f64>; 2]> {
    let mut text = String::new();
    for (k, composition) in some.iter().enumerate() {
        for (part, (of, other, value, to)) in composition.kernels().iter().enumerate() {
            text += &format!(
                "kernel part{k}_{part}(n: size, a: in {of}[n], b: in {of}[n], c: in {other}[n], o: out {to}[n]) {{\n  \
                 for x in 0..n {{ o[x] = {value}; }}\n}} schedule {{ vectorize x by {LANES}; }}\n"
            );
        }
    }
    let file = super::written(&format!("compositions_{target}.kernel"), &text);
    let words = ["compile", &file, "--isa", isa, "--target", target];
    let (out, err, code) = super::run(&[&words[..], &["--report", "json"]].concat());
    assert!(code.is_some_and(|code| code <= 2), "{out}{err}");
    let report: Value = serde_json::from_str(&out).expect("the report is JSON");
    let kernels = report["kernels"].as_array().expect("kernels");
    assert_eq!(kernels.len(), 3 * some.len());
    let cost = |kernel: &Value| {
        let window = &kernel["windows"][0];
        let vectors = window["outcome"] != "scalar";
        window["cost"]
            .as_f64()
            .filter(|cost| vectors && *cost > 0.0)
    };
    let both = |all: &[Value]| {
        let parts = cost(&all[1]).zip(cost(&all[2]));
        [cost(&all[0]), parts.map(|(inner, end)| inner + end)]
    };
    kernels.chunks(3).map(both).collect()
}

/// How much the dearest of some cost in the sums of their parts, and which are computed element by element though
/// their parts are not.
fn compared(some: &[Composition], machine: [&str; 2]) -> (Vec<(f64, String)>, Vec<String>) {
    let (mut ratios, mut scalar) = (Vec::new(), Vec::new());
    for (composition, cost) in some.iter().zip(costs(some, machine)) {
        match cost {
            [Some(whole), Some(parts)] => ratios.push((whole / parts, composition.text())),
            [None, Some(_)] => scalar.push(composition.text()),
            [_, None] => {}
        }
    }
    ratios.sort_by(|x, y| y.0.total_cmp(&x.0));
    (ratios, scalar)
}

/// A share of all; any others are `cargo xtask compositions`.
#[test]
fn compositions_cost_little_more_than_their_parts() {
    let some: Vec<Composition> = all().into_iter().step_by(SHARE).collect();
    let (ratios, scalar) = compared(&some, ["x86", "x86-64-v3"]);
    assert!(scalar.is_empty(), "{}", scalar.join("\n"));
    assert!(ratios.len() > some.len() / 2, "most parts are vectors");
    let dear: Vec<_> = ratios.iter().filter(|(ratio, _)| *ratio > MOST).collect();
    assert!(dear.is_empty(), "{dear:?}");
    skip_part!("one of {SHARE} is run: others by `cargo xtask compositions`");
}

/// The command: `cargo xtask compositions`.
#[test]
fn many() {
    let Ok(target) = env::var("ISAFORGE_COMPOSITIONS") else {
        return;
    };
    let number = |name: &str| env::var(name).ok()?.parse::<u64>().ok();
    let isa = env::var("ISAFORGE_COMPOSITIONS_ISA").unwrap_or("x86".to_owned());
    let seed = number("ISAFORGE_COMPOSITIONS_SEED").unwrap_or(1);
    let count = number("ISAFORGE_COMPOSITIONS_COUNT").unwrap_or(100);
    let (mut random, mut rest, mut some) = (Random::new(seed), all(), Vec::new());
    while !rest.is_empty() && (some.len() as u64) < count {
        let at = random.below(rest.len() as u64) as usize;
        some.push(rest.swap_remove(at));
    }
    let (ratios, scalar) = compared(&some, [&isa, &target]);
    for (ratio, text) in ratios.iter().filter(|(ratio, _)| *ratio > 1.2) {
        println!("{ratio:.2} {text}");
    }
    for text in &scalar {
        println!("element by element: {text}");
    }
    let logs: f64 = ratios.iter().map(|(ratio, _)| ratio.ln()).sum();
    println!(
        "{target}: {} compositions cost {:.2} of their parts (geometric mean), {} of them more than 1.2, {} are \
         computed element by element",
        ratios.len(),
        (logs / ratios.len().max(1) as f64).exp(),
        ratios.iter().filter(|(ratio, _)| *ratio > 1.2).count(),
        scalar.len()
    );
    assert!(scalar.is_empty(), "compositions of vectors are none");
}
