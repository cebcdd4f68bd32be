//! Programs proved at their own sizes: which are, and that no wrong one is.
//!
//! In: kernels of every kind at small, ragged and large sizes; the same with faults planted in what is
//! written out. Out: what is proved, and that what is proved does what the kernel says when it is run.
//! `ISAFORGE_FAULTS` plants as many faults in each program.

#[path = "rvm/board.rs"]
#[allow(dead_code, reason = "other tests need more of it")]
mod board;
#[path = "whole/faults.rs"]
mod faults;
#[path = "whole/runs.rs"]
mod runs;

use board::{Board, described, kernels};
use faults::Planted;
use kernel::index::Symbol;
use kernel::tree::Kernel;
use semantics::random::Random;
use std::collections::BTreeMap;
use tile::mapped::{self, Code, Loops, MappedProgram, Request, Verdict};
use tile::systolic::place::Constraints;
use tile::systolic::plan::{LoopOrder, Plan, Stationary};
use tile::whole;

const PRODUCT: &str = "kernel product(m: size, n: size, k: size, a: in i8[m, k], b: in i8[k, n], \
    bias: in i32[n], out: out i8[m, n]) { for i in 0..m { for j in 0..n { var sum: i32 = bias[j]; \
    for p in 0..k { sum += i32(a[i, p]) * i32(b[p, j]); } \
    out[i, j] = max(i8_sat(round_even(f32(sum) * 0.0078125)), 0); } } }";

const SUMS: &str = "kernel sums(m: size, n: size, k: size, a: in i8[m, k], b: in i8[k, n], \
    c: out i32[m, n]) { for i in 0..m { for j in 0..n { c[i, j] = 0; for p in 0..k { \
    c[i, j] += i32(a[i, p]) * i32(b[p, j]); } } } }";

/// On an array the host goes on with what commands sum; elsewhere it clamps.
const BEHIND: &str = "kernel behind(m: size, n: size, k: size, a: in i8[m, k], b: in i8[n, k], \
    c: out i32[m, n]) { for i in 0..m { for j in 0..n { var s: i32 = 0; for p in 0..k { \
    s += i32(a[i, p]) * i32(b[j, p]); } c[i, j] = min(s, 100) + 3; } } }";

const IMAGES: &str = "kernel images(h: size, w: size, c: size, d: size, \
    image: in i8[2 * h + 2, 2 * w + 2, c], filter: in i8[3, 3, c, d], bias: in i32[d], \
    out: out i8[h, w, d]) { for y in 0..h { for x in 0..w { for z in 0..d { var best: i8 = -128; \
    for py in 0..2 { for px in 0..2 { var sum: i32 = bias[z]; for dy in 0..3 { for dx in 0..3 { \
    for p in 0..c { sum += i32(image[2 * y + py + dy, 2 * x + px + dx, p]) * \
    i32(filter[dy, dx, p, z]); } } } best = max(best, i8_sat(round_even(f32(sum) * 0.0078125))); } } \
    out[y, x, z] = best; } } } }";

const FLOATS: &str = "kernel floats(m: size, n: size, k: size, a: in f32[m, k], b: in f32[k, n], \
    c: out f32[m, n]) { for i in 0..m { for j in 0..n { var s: f32 = 0.0; for p in 0..k { \
    s += a[i, p] * b[p, j]; } c[i, j] = s; } } }";

/// An array by itself.
const GRAM: &str = "kernel gram(m: size, k: size, a: in i8[k, m], c: out i32[m, m]) {
  for i in 0..m { for j in 0..m { var sum: i32 = 0;
    for p in 0..k { sum += i32(a[p, i]) * i32(a[p, j]); } c[i, j] = sum; } } }";

/// Its lower half: loops run as often as those around say.
const TRIANGLE: &str = "kernel triangle(m: size, k: size, a: in i8[m, k], c: inout i32[m, m]) {
  for i in 0..m { for j in 0..i + 1 { for p in 0..k {
    c[i, j] += i32(a[i, p]) * i32(a[j, p]); } } } }";

/// Each element of the one before it: the rounds have no formula.
const RECURRENCE: &str = "kernel recurrence(n: size, x: in i32[n], y: inout i32[n + 1]) {
  for i in 0..n { y[i + 1] = y[i] * 3 + x[i]; } }";

/// A product of a product, with a function between them.
const CHAIN: &str = "kernel chain(m: size, n: size, k: size, e: size, a: in i8[m, k], \
    b: in i8[k, n], w: in i8[n, e], c: out i32[m, e]) { var h: i8[m, n]; \
    for i in 0..m { for j in 0..n { var s: i32 = 0; for p in 0..k { \
    s += i32(a[i, p]) * i32(b[p, j]); } h[i, j] = i8_sat(rounding_mul_shr(s, 1234567, 27)); } } \
    for i in 0..m { for j in 0..e { var s: i32 = 0; for q in 0..n { \
    s += i32(h[i, q]) * i32(w[q, j]); } c[i, j] = s; } } }";

/// Two products, of which the low bits are kept in between.
const ATTENTION: &str = "kernel attention(m: size, k: size, a: in i8[m, k], b: in i8[m, k], v: in i16[m, k], \
    c: out i32[m, k]) { var h: i16[m, m]; for i in 0..m { for j in 0..m { var s: i32 = 0; \
    for p in 0..k { s += i32(a[i, p]) * i32(b[j, p]); } h[i, j] = i16(s); } } \
    for i in 0..m { for j in 0..k { var s: i32 = 0; for q in 0..m { \
    s += i32(h[i, q]) * i32(v[q, j]); } c[i, j] = s; } } }";

/// The greatest of windows, without a sign: no tile instruction does it.
const POOL: &str = "kernel pool(m: size, n: size, k: size, a: in u8[2 * m + 1, 2 * n + 1, k], \
    c: out u8[m, n, k]) { for y in 0..m { for x in 0..n { for q in 0..k { var s: u8 = 0; \
    for r in 0..3 { for z in 0..3 { s = max(s, a[2 * y + r, 2 * x + z, q]); } } \
    c[y, x, q] = s; } } } }";

/// A convolution whose results the host clamps without a sign, by branches of which only one writes a
/// register that another loop counts in.
const CLAMPED: &str = "kernel clamped(m: size, n: size, k: size, e: size, \
    d: in u8[k, 2 * m + 3, 2 * n + 5], w: in u8[3, 5, k, e], bias: in u32[e], c: out u8[e, m, n]) \
    { for y in 0..m { for x in 0..n { for o in 0..e { var s: u32 = bias[o]; \
    for r in 0..3 { for q in 0..5 { for p in 0..k { \
    s += u32(d[p, 2 * y + r, 2 * x + q]) * u32(w[r, q, p, o]); } } } \
    c[o, y, x] = u8_sat(s >> 6); } } } }";

/// The same of whole words, which the host compares with a sign.
const WORDS: &str = "kernel words(n: size, a: in u32[2 * n + 1], c: out u32[n]) {
  for x in 0..n { var s: u32 = a[2 * x]; for z in 1..3 { s = min(s, a[2 * x + z]); } c[x] = s; } }";

fn only(text: &str) -> Kernel {
    kernels(text).remove(0)
}

fn sizes(kernel: &Kernel, values: &[i64]) -> BTreeMap<Symbol, i64> {
    kernel.sizes().zip(values.iter().copied()).collect()
}

fn request(loops: Loops, constraints: Constraints) -> Request {
    Request {
        first: 64,
        apart: 64,
        loops,
        constraints,
        machine_code: true,
    }
}

fn map(board: &Board, kernel: &Kernel, values: &[i64], asked: &Request) -> MappedProgram {
    let scheduled = schedule::apply(kernel).expect("it has no schedule");
    let sizes = sizes(kernel, values);
    let mapped = mapped::map(&scheduled, &sizes, &board.machine, &board.prover, asked);
    mapped.unwrap_or_else(|wrong| panic!("{}: {wrong:?}", kernel.name))
}

#[test]
fn commands_are_proved_at_their_own_sizes() {
    let board = Board::new(described("gemmini"));
    let plain = request(Loops::Large, Constraints::default());
    let turned = |outer, stationary| {
        let plan = Plan {
            outer,
            buffers: 2,
            stationary,
        };
        request(
            Loops::Large,
            Constraints {
                plan,
                ..Constraints::default()
            },
        )
    };
    let rows = turned(LoopOrder::Rows, Stationary::Weights);
    let outputs = turned(LoopOrder::Columns, Stationary::Outputs);
    let all: [(&str, &[i64], &Request); 14] = [
        (PRODUCT, &[1, 1, 1], &plain),
        (PRODUCT, &[20, 21, 5], &plain),
        (PRODUCT, &[1023, 1021, 1019], &plain),
        (PRODUCT, &[4096, 4096, 4096], &plain),
        (PRODUCT, &[196, 256, 1024], &rows),
        (PRODUCT, &[4, 1000, 2048], &outputs),
        (SUMS, &[784, 256, 512], &plain),
        (BEHIND, &[33, 65, 100], &plain),
        (IMAGES, &[28, 28, 64, 64], &plain),
        (IMAGES, &[5, 7, 20, 3], &plain),
        (CHAIN, &[33, 70, 45, 29], &plain),
        (ATTENTION, &[19, 36], &plain),
        (POOL, &[7, 9, 11], &plain),
        (WORDS, &[50], &plain),
    ];
    for (text, values, asked) in all {
        let kernel = only(text);
        let program = map(&board, &kernel, values, asked);
        assert_eq!(
            program.verdict,
            Verdict::Proved,
            "{} {values:?}",
            kernel.name
        );
    }
}

#[test]
fn functions_are_proved_at_their_own_sizes() {
    let all: [(&str, &str, &[i64]); 24] = [
        ("rvm", SUMS, &[8, 8, 32]),
        ("rvm", SUMS, &[17, 13, 9]),
        ("rvm", SUMS, &[1024, 1024, 1024]),
        ("rvm", BEHIND, &[19, 21, 40]),
        ("rvm", FLOATS, &[18, 19, 41]),
        ("amx", SUMS, &[64, 64, 256]),
        ("amx", SUMS, &[33, 47, 129]),
        ("amx", BEHIND, &[100, 50, 75]),
        // Halves of packs that lie between those of others.
        ("amx", SUMS, &[16, 17, 18]),
        // Both factors are one array.
        ("rvm", GRAM, &[17, 66]),
        ("amx", GRAM, &[17, 66]),
        ("rvm", TRIANGLE, &[23, 16]),
        ("rvm", TRIANGLE, &[200, 7]),
        ("amx", TRIANGLE, &[50, 9]),
        ("rvm", RECURRENCE, &[11]),
        ("rvm", RECURRENCE, &[100]),
        ("amx", CHAIN, &[33, 70, 45, 29]),
        ("rvm", ATTENTION, &[19, 36]),
        ("amx", ATTENTION, &[19, 36]),
        ("rvm", POOL, &[7, 9, 11]),
        ("amx", POOL, &[7, 9, 11]),
        ("rvm", WORDS, &[50]),
        ("amx", WORDS, &[50]),
        ("rvm", CLAMPED, &[2, 47, 25, 3]),
    ];
    for (isa, text, values) in all {
        let board = Board::new(described(isa));
        let kernel = only(text);
        let asked = request(Loops::Large, Constraints::default());
        let program = map(&board, &kernel, values, &asked);
        assert_eq!(
            program.verdict,
            Verdict::Proved,
            "{isa} {} {values:?}",
            kernel.name
        );
    }
}

/// Faults that are planted in each program.
fn planted() -> u64 {
    let text = std::env::var("ISAFORGE_FAULTS").ok();
    text.and_then(|t| t.parse().ok()).unwrap_or(12)
}

/// Plants faults in a program, in one of its forms; how many were proved all the same, each of which does
/// what the kernel says when it is run.
fn harmless(isa: &str, text: &str, values: &[i64], seed: u64, form: fn(Code) -> Code) -> u64 {
    let board = Board::new(described(isa));
    let kernel = only(text);
    let asked = request(Loops::Tiles(None), Constraints::default());
    let program = map(&board, &kernel, values, &asked);
    assert_eq!(program.verdict, Verdict::Proved, "{isa} {}", kernel.name);
    let sizes = sizes(&kernel, values);
    let commands = match &program.code {
        Code::Commands(commands, _) => Some(commands.clone()),
        Code::Function(_) => None,
    };
    // Whether machine code performs the commands that it was written of.
    let performs = |code: &Code| match (code, &commands) {
        (Code::Function(function), Some(commands)) => {
            whole::performs(function, commands, &board.machine).is_ok()
        }
        _ => false,
    };
    let whole = form(program.code);
    let follows = commands.as_ref().is_some_and(|c| c.host.is_empty());
    if follows && matches!(whole, Code::Function(_)) {
        assert!(performs(&whole), "{isa} {}", kernel.name);
    }
    let mut random = Random::new(seed);
    let mut harmless = 0;
    for number in 0..planted() {
        let Some(Planted { code, what }) = faults::plant(&whole, &board.machine, &mut random)
        else {
            continue;
        };
        let proved = match &code {
            Code::Commands(c, _) => {
                whole::commands(&kernel, &sizes, c, &board.machine, &board.prover)
            }
            Code::Function(f) => whole::function(&kernel, &sizes, f, &board.machine, &board.prover),
        };
        if proved.is_ok() || performs(&code) {
            harmless += 1;
            for data in 0..3 {
                let agrees = runs::agrees(&board, &kernel, &sizes, &program.addresses, &code, data);
                agrees.unwrap_or_else(|wrong| {
                    panic!(
                        "{isa} {}: fault {number} is proved: {what}: {wrong}",
                        kernel.name
                    )
                });
            }
        }
    }
    harmless
}

#[test]
fn commands_with_faults_are_not_proved() {
    let few = planted() / 2;
    let all: [(&str, &[i64]); 5] = [
        (PRODUCT, &[20, 37, 40]),
        (SUMS, &[33, 16, 70]),
        (BEHIND, &[18, 20, 33]),
        (IMAGES, &[3, 4, 18, 17]),
        (CHAIN, &[18, 20, 17, 9]),
    ];
    for (seed, (text, values)) in (1..).zip(all) {
        assert!(
            harmless("gemmini", text, values, seed, |c| c) <= few,
            "{text}"
        );
        // The machine code that is written of them.
        let words = |code| match code {
            Code::Commands(_, function) => Code::Function(function.expect("a host")),
            other => other,
        };
        assert!(
            harmless("gemmini", text, values, seed, words) <= few,
            "{text}"
        );
    }
}

/// The machine code of commands, which assembly cannot be called with, is a listing all the same.
#[test]
fn code_may_have_more_arrays_than_a_function_has_arguments() {
    let (mut arrays, mut loops) = (String::new(), String::new());
    for k in 0..3 {
        arrays += &format!(", a{k}: in i8[m, k], b{k}: in i8[k, n], c{k}: out i32[m, n]");
        loops += &format!(
            "for i in 0..m {{ for j in 0..n {{ var s: i32 = 0; for p in 0..k {{ \
             s += i32(a{k}[i, p]) * i32(b{k}[p, j]); }} c{k}[i, j] = s; }} }}"
        );
    }
    let kernel = only(&format!(
        "kernel nine(m: size, n: size, k: size{arrays}) {{ {loops} }}"
    ));
    let board = Board::new(described("gemmini"));
    let values = [18, 17, 33];
    let asked = request(Loops::Large, Constraints::default());
    let program = map(&board, &kernel, &values, &asked);
    let Code::Commands(_, function) = program.code else {
        panic!("there is an array");
    };
    let code = Code::Function(function.expect("a host"));
    let sizes = sizes(&kernel, &values);
    runs::agrees(&board, &kernel, &sizes, &program.addresses, &code, 1).expect("the same");
}

#[test]
fn functions_with_faults_are_not_proved() {
    let few = planted() / 2;
    let all: [(&str, &str, &[i64]); 10] = [
        ("rvm", SUMS, &[13, 10, 37]),
        ("rvm", TRIANGLE, &[11, 6]),
        ("rvm", SUMS, &[16, 16, 64]),
        ("rvm", BEHIND, &[9, 12, 20]),
        ("rvm", FLOATS, &[8, 9, 11]),
        ("amx", SUMS, &[20, 18, 70]),
        ("amx", CHAIN, &[18, 20, 17, 9]),
        ("rvm", ATTENTION, &[9, 12]),
        ("rvm", POOL, &[3, 2, 5]),
        ("rvm", CLAMPED, &[2, 3, 4, 3]),
    ];
    for (seed, (isa, text, values)) in (1..).zip(all) {
        assert!(
            harmless(isa, text, values, seed, |c| c) <= few,
            "{isa} {text}"
        );
    }
}

#[test]
fn statements_over_vectors_are_those_over_elements() {
    // A step from vector to vector, lanes of their own, and a variable with lanes.
    let product = |inner: &str| {
        format!(
            "kernel lanes(m: size, n: size, k: size, a: in i8[m, k], b: in i8[k, n], \
             c: inout i32[m, n]) requires n % 8 == 0 {{ for i in 0..m {{ for j in 0..n step 8 {{ \
             {inner} }} }} }}"
        )
    };
    let all = [
        "for p in 0..k { c[i, j..+8] += i32(a[i, p]) * i32(b[p, j..+8]); }",
        "c[i, j..+4] = 0; c[i, j + 4..+4] = 0; for p in 0..k { \
         c[i, j..+4] += i32(a[i, p]) * i32(b[p, j..+4]); \
         c[i, j + 4..+4] += i32(a[i, p]) * i32(b[p, j + 4..+4]); }",
        "var s: i32x8 = 0; for p in 0..k { s += i32(a[i, p]) * i32(b[p, j..+8]); } \
         c[i, j..+8] = max(s, 0);",
    ];
    for isa in ["rvm", "amx", "gemmini"] {
        for (inner, seed) in all.iter().zip(0..) {
            let board = Board::new(described(isa));
            let kernel = only(&product(inner));
            let asked = request(Loops::Large, Constraints::default());
            let program = map(&board, &kernel, &[9, 24, 19], &asked);
            assert_eq!(program.verdict, Verdict::Proved, "{isa} {inner}");
            let sizes = sizes(&kernel, &[9, 24, 19]);
            let ran = runs::agrees(
                &board,
                &kernel,
                &sizes,
                &program.addresses,
                &program.code,
                seed,
            );
            ran.unwrap_or_else(|wrong| panic!("{isa} {inner}: {wrong}"));
        }
    }
}

#[test]
fn lanes_that_need_each_other_are_refused() {
    let text = "kernel moved(n: size, c: inout i8[n + 1]) requires n % 8 == 0 { \
                for j in 0..n step 8 { c[j + 1..+8] = c[j..+8]; } }";
    let kernel = only(text);
    let scheduled = schedule::apply(&kernel).expect("it has no schedule");
    for isa in ["rvm", "gemmini"] {
        let board = Board::new(described(isa));
        let sizes = sizes(&kernel, &[24]);
        let asked = request(Loops::Large, Constraints::default());
        let mapped = mapped::map(&scheduled, &sizes, &board.machine, &board.prover, &asked);
        let wrong = mapped.expect_err("each lane would read what the one before it wrote");
        assert!(
            wrong[0].message.contains("not the same for each lane"),
            "{wrong:?}"
        );
    }
}

/// What is told of a kernel that is refused: the text at its place, the message, notes and the hint.
fn refused(isa: &str, text: &str, values: &[i64]) -> [String; 4] {
    let board = Board::new(described(isa));
    let kernel = only(text);
    let scheduled = schedule::apply(&kernel).expect("it has no schedule");
    let asked = request(Loops::Large, Constraints::default());
    let sizes = sizes(&kernel, values);
    let mapped = mapped::map(&scheduled, &sizes, &board.machine, &board.prover, &asked);
    let wrong = mapped.expect_err("nothing computes it").remove(0);
    let (_, place) = wrong.place.clone().expect("it is somewhere");
    let at = text[place.start..place.end].to_owned();
    let hint = wrong.hint.clone().unwrap_or_default();
    [at, wrong.message, wrong.notes.join("; "), hint]
}

#[test]
fn what_nothing_computes_is_told_at_its_place() {
    let product = |left: &str, sum: &str, store: &str| {
        format!(
            "kernel t(m: size, n: size, k: size, a: in {left}[m, k], b: in {left}[k, n], \
             c: out i8[m, n], d: out {sum}[m, n]) {{ for i in 0..m {{ for j in 0..n {{ \
             var s: {sum} = 0; for p in 0..k {{ s += {sum}(a[i, p]) * {sum}(b[p, j]); }} {store} }} }} }}"
        )
    };
    let float = product("bf16", "f32", "c[i, j] = 0; d[i, j] = s;");
    let wide = product("i32", "i64", "c[i, j] = 0; d[i, j] = s;");
    let scaled = product(
        "i8",
        "i32",
        "d[i, j] = s; c[i, j] = i8_sat(round_even(f32(s) * 0.5));",
    );
    let all = [
        (
            "amx",
            &float,
            "s += f32(a[i, p]) * f32(b[p, j]);",
            "adds f32",
            "bf16 * bf16 in f32",
            "shift",
        ),
        (
            "gemmini",
            &float,
            "s += f32(a[i, p]) * f32(b[p, j]);",
            "adds f32",
            "i8 * i8 in i32",
            "shift",
        ),
        (
            "rvm",
            &wide,
            "0",
            "computes i64",
            "i32 * i32 in i32",
            "32 bits",
        ),
        (
            "rvm",
            &scaled,
            "i8_sat(round_even(f32(s) * 0.5))",
            "`i8_sat` of f32",
            "f32 * f32",
            "rounding_shr",
        ),
    ];
    for (isa, text, at, message, note, hint) in all {
        let [place, log, notes, mend] = refused(isa, text, &[9, 8, 7]);
        let wanted = [(&place, at), (&log, message), (&notes, note), (&mend, hint)];
        for (found, part) in wanted {
            assert!(found.contains(part), "{isa}: {found} has no {part}\n{text}");
        }
    }
}
