//! Sums of products of any size: random kernels with random sizes, mapped with loops, run and
//! compared.
//!
//! `SUMS=400 SEED=7 cargo test -p tile --test rvm any_size` draws others.

use crate::board::{Board, kernels, rvm};
use semantics::diagnostic::render;
use semantics::random::Random;
use tile::loop_codegen::in_tiles;

/// A size that is often small and seldom a multiple of anything.
fn size(random: &mut Random, most: u64) -> i64 {
    let narrow = random.below(3) == 0;
    let most = if narrow { most.min(6) } else { most };
    i64::try_from(1 + random.below(most)).expect("small")
}

/// A kernel, and how many sizes it has with the most of each.
fn text(random: &mut Random) -> (String, Vec<u64>) {
    let (from, to, wide) = match random.below(8) {
        0 => ("i16", "i32", "i32"),
        1 => ("i32", "i32", "i32"),
        2 => ("f32", "f32", "f32"),
        3 => ("u8", "i32", "i32"),
        4 => ("u16", "u32", "u32"),
        _ => ("i8", "i32", "i32"),
    };
    let other = match from {
        "i8" => *random.pick(&["i8", "i8", "i16", "u8"]),
        _ => from,
    };
    let cast = |e: &str| match from == wide {
        true => e.to_owned(),
        false => format!("{wide}({e})"),
    };
    let product = |a: &str, b: &str| format!("{} * {}", cast(a), cast(b));
    let begin = *random.pick(&["", "c[i, j] = 0;"]);
    let role = if begin.is_empty() { "inout" } else { "out" };
    match random.below(7) {
        0..=2 => {
            let a = *random.pick(&["i, p", "p, i"]);
            let b = *random.pick(&["j, p", "p, j"]);
            let c = *random.pick(&["i, j", "i, j", "j, i"]);
            let dims = |of: &str| of.replace('i', "m").replace('j', "n").replace('p', "k");
            let begin = begin.replace("i, j", c);
            let value = product(&format!("a[{a}]"), &format!("b[{b}]"));
            let text = format!(
                "kernel t(m: size, n: size, k: size, a: in {from}[{}], b: in {other}[{}], \
                 c: {role} {to}[{}]) {{ for i in 0..m {{ for j in 0..n {{ {begin} \
                 for p in 0..k {{ c[{c}] += {value}; }} }} }} }}",
                dims(a),
                dims(b),
                dims(c)
            );
            (text, vec![26, 26, 70])
        }
        3 => {
            let (taps, by) = (1 + random.below(5), 1 + random.below(2));
            let value = product(&format!("d[c0, {by}*j + r]"), "w[i, c0, r]");
            let text = format!(
                "kernel t(m: size, n: size, k: size, d: in {from}[k, {by}*n + {taps}], \
                 w: in {other}[m, k, {taps}], c: {role} {to}[m, n]) {{ for i in 0..m {{ \
                 for j in 0..n {{ {begin} for c0 in 0..k {{ for r in 0..{taps} {{ \
                 c[i, j] += {value}; }} }} }} }} }}"
            );
            (text, vec![22, 30, 9])
        }
        4 => {
            let (h, w) = (1 + random.below(3), 1 + random.below(3));
            let value = product("d[y + r, x + s, q]", "w[r, s, q, o]");
            let begin = begin.replace("i, j", "y, x, o");
            let text = format!(
                "kernel t(m: size, n: size, k: size, e: size, d: in {from}[m + {h}, n + {w}, k], \
                 w: in {other}[{h}, {w}, k, e], c: {role} {to}[m, n, e]) {{ for y in 0..m {{ \
                 for x in 0..n {{ for o in 0..e {{ {begin} for r in 0..{h} {{ for s in 0..{w} {{ \
                 for q in 0..k {{ c[y, x, o] += {value}; }} }} }} }} }} }} }}"
            );
            (text, vec![6, 12, 18, 10])
        }
        5 => {
            let value = product("a[i, p]", "b[p]");
            let begin = begin.replace("i, j", "i");
            let text = format!(
                "kernel t(m: size, k: size, a: in {from}[m, k], b: in {other}[k], \
                 c: {role} {to}[m]) {{ for i in 0..m {{ {begin} for p in 0..k {{ \
                 c[i] += {value}; }} }} }}"
            );
            (text, vec![40, 90])
        }
        _ => {
            let value = product("a[i, p]", "b[p, j]");
            let done = match to {
                "i32" => *random.pick(&["s", "max(s, 0)", "min(s, 100) + 3"]),
                _ => "s",
            };
            let text = format!(
                "kernel t(m: size, n: size, k: size, a: in {from}[m, k], b: in {other}[k, n], \
                 c: out {to}[m, n]) {{ for i in 0..m {{ for j in 0..n {{ var s: {to} = 0; \
                 for p in 0..k {{ s += {value}; }} c[i, j] = {done}; }} }} }}"
            );
            (text, vec![20, 20, 50])
        }
    }
}

/// A number from the environment.
fn given(name: &str, usual: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.and_then(|t| t.parse().ok()).unwrap_or(usual)
}

#[test]
fn sums_of_any_size_agree() {
    let board = Board::new(rvm());
    let mut random = Random::new(given("SEED", 1));
    let mut with_tiles = 0;
    for n in 0..given("SUMS", 16) {
        let (text, most) = text(&mut random);
        let kernel = &kernels(&text)[0];
        let sizes = most.iter().map(|m| size(&mut random, *m));
        let sizes = kernel.sizes().zip(sizes.collect::<Vec<_>>()).collect();
        let values = kernel.values_text(&sizes);
        let scheduled = schedule::apply(kernel).expect("nothing is scheduled");
        let (machine, prover) = (&board.machine, &board.prover);
        let tiled =
            in_tiles(&scheduled, &sizes, machine, prover, None).expect("nothing is required");
        let tiled = tiled.unwrap_or_else(|| panic!("{n}: no sum: {text}\n{values}"));
        let program = tiled.map(&sizes, machine, prover, (64, 64));
        let program = program.unwrap_or_else(|w| panic!("{n}: {text}\n{values}: {}", render(&w)));
        println!("{n}: {values}: {text}");
        with_tiles += usize::from(program.registers > 0);
        board.agrees(kernel, &sizes, &program, n..n + 1);
    }
    assert!(with_tiles > 0, "some are worth tiles");
}
