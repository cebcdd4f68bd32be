//! Schedules: what they make, and what they refuse.

mod buffers;
mod computed;
mod nests;
mod turned;

use expect_test::{Expect, expect};
use kernel::read;
use lowering::lower;
use lowering::window::Lowered;
use semantics::diagnostic::render;
use semantics::span::Source;

/// The refusals of a kernel's schedule.
fn refuse(text: &str, expected: Expect) {
    let (kernels, diagnostics) = read(&Source::new("k.kernel", text));
    assert!(diagnostics.is_empty(), "{}", render(&diagnostics));
    let found = schedule::apply(&kernels[0])
        .and_then(|s| lower(&s))
        .err()
        .unwrap_or_default();
    expected.assert_eq(&render(&found));
}

/// The windows' names and result types after a schedule, with the loops around them.
fn shape(text: &str, expected: Expect) {
    let (kernels, diagnostics) = read(&Source::new("k.kernel", text));
    assert!(diagnostics.is_empty(), "{}", render(&diagnostics));
    let lowered = schedule::apply(&kernels[0])
        .and_then(|s| lower(&s))
        .unwrap_or_else(|d| panic!("{}", render(&d)));
    let mut out = String::new();
    draw(&lowered, &lowered.body, 0, &mut out);
    expected.assert_eq(&out);
}

fn draw(
    lowered: &lowering::window::Lowered,
    nodes: &[lowering::window::LoweredNode],
    depth: usize,
    out: &mut String,
) {
    use lowering::window::LoweredNode;
    for node in nodes {
        let indent = "  ".repeat(depth);
        match node {
            LoweredNode::Loop(l) => {
                let k = &lowered.kernel;
                let (lo, hi) = (k.index_text(&l.lo), k.index_text(&l.hi));
                out.push_str(&format!(
                    "{indent}for {} in {lo}..{hi} step {}\n",
                    k.symbol_name(l.var),
                    l.step
                ));
                draw(lowered, &l.body, depth + 1, out);
            }
            LoweredNode::Window { window, .. } => {
                let w = &lowered.windows[*window];
                let inputs: Vec<String> = w.inputs.iter().map(|i| i.ty.to_string()).collect();
                out.push_str(&format!(
                    "{indent}{}: ({}) -> {}\n",
                    w.name,
                    inputs.join(", "),
                    w.output
                ));
            }
        }
    }
}

#[test]
fn a_recurrence_is_not_vectorised() {
    refuse(
        "kernel k(n: size, a: inout i32[n + 1]) {\n  for x in 0..n { a[x + 1] = a[x] * 3; }\n} schedule { vectorize x by 8; }\n",
        expect![[r#"
            error: `vectorize x by 8` is refused: two iterations may touch one element of `a`, and one of them writes it
             --> k.kernel:2:20
              |
            2 |   for x in 0..n { a[x + 1] = a[x] * 3; }
              |                    ^^^^^^^
              = note: x = 1 and x = 2 both touch a[2] (at n = 3)
              = note: the directive stands at line 3, column 14

        "#]],
    );
}

#[test]
fn a_value_that_every_iteration_changes() {
    refuse(
        "kernel k(n: size, a: in i32[n], o: out i32[1]) {\n  var s: i32 = 0;\n  for x in 0..n { s = s * 3 + a[x]; }\n  o[0] = s;\n} schedule { vectorize x by 8; }\n",
        expect![[r#"
            error: `vectorize x by 8` is refused: every iteration changes this one value, other than by adding to it
             --> k.kernel:3:19
              |
            3 |   for x in 0..n { s = s * 3 + a[x]; }
              |                   ^^^^^^^^^^^^^^^^^
              = note: sums `s += e`, and `s = min(s, e)` or `max`, can be kept in lanes, when the loop does not use `s` otherwise
              = note: the directive stands at line 5, column 14

        "#]],
    );
    refuse(
        "kernel k(n: size, a: in i32[n], o: out i32[n]) {\n  var s: i32 = 0;\n  for x in 0..n { s += a[x]; o[x] = s; }\n} schedule { vectorize x by 8; }\n",
        expect![[r#"
            error: `vectorize x by 8` is refused: every iteration changes this one value, other than by adding to it
             --> k.kernel:3:37
              |
            3 |   for x in 0..n { s += a[x]; o[x] = s; }
              |                                     ^
              = note: sums `s += e`, and `s = min(s, e)` or `max`, can be kept in lanes, when the loop does not use `s` otherwise
              = note: the directive stands at line 4, column 14

        "#]],
    );
}

#[test]
fn a_sum_in_an_array_that_is_written_elsewhere() {
    refuse(
        "kernel k(n: size, a: in i32[n], o: inout i32[n + 1]) {\n  for x in 0..n { o[0] += a[x]; o[x] = 1; }\n} schedule { vectorize x by 8; }\n",
        expect![[r#"
            error: `vectorize x by 8` is refused: every iteration changes this one value, other than by adding to it
             --> k.kernel:2:33
              |
            2 |   for x in 0..n { o[0] += a[x]; o[x] = 1; }
              |                                 ^^^^^^^^^
              = note: sums `s += e`, and `s = min(s, e)` or `max`, can be kept in lanes, when the loop does not use `s` otherwise
              = note: the directive stands at line 3, column 14

        "#]],
    );
}

#[test]
fn lanes_that_do_not_lie_evenly() {
    refuse(
        "kernel k(n: size, a: in u8[n], o: out u8[n, n]) requires n >= 1 {\n  for x in 0..n { o[x, x] = a[x / 2]; }\n} schedule { vectorize x by 8; }\n",
        expect![[r#"
            error: `vectorize x by 8` is refused: the lanes of `x/2` do not lie evenly apart
             --> k.kernel:2:30
              |
            2 |   for x in 0..n { o[x, x] = a[x / 2]; }
              |                              ^^^^^^^
              = note: the directive stands at line 3, column 14

        "#]],
    );
}

#[test]
fn an_order_that_matters_is_kept() {
    refuse(
        "kernel k(n: size, a: inout i32[n + 1, n + 1]) {\n  for y in 0..n { for x in 0..n { a[y + 1, x] = a[y, x + 1] - a[y, x]; } }\n} schedule { interchange y, x; }\n",
        expect![[r#"
            error: `interchange y, x` is refused: the order of iterations matters in both loops
             --> k.kernel:2:36
              |
            2 |   for y in 0..n { for x in 0..n { a[y + 1, x] = a[y, x + 1] - a[y, x]; } }
              |                                    ^^^^^^^^^^
              = note: y = 1 and y = 2 both touch a[2, 2] (at n = 3)
              = note: the directive stands at line 3, column 14

        "#]],
    );
    refuse(
        "kernel k(n: size, a: inout i32[n + 1]) {\n  for x in 0..n { a[x] = a[x + 1]; }\n} schedule { jam x by 2; }\n",
        expect![[r#"
            error: `jam x by 2` is refused: two iterations may touch one element of `a`, and one of them writes it
             --> k.kernel:2:20
              |
            2 |   for x in 0..n { a[x] = a[x + 1]; }
              |                    ^^^
              = note: x = 2 and x = 1 both touch a[2] (at n = 3)
              = note: the directive stands at line 3, column 14

        "#]],
    );
}

#[test]
fn directives_that_are_not_understood() {
    refuse(
        "kernel k(n: size, a: inout i32[n]) {\n  for x in 0..n { a[x] = 1; }\n} schedule { vectorise x by 8; vectorize xx by 8; vectorize x by 1; unroll x; interchange x, y; }\n",
        expect![[r#"
            error: `unroll x` is refused: this loop has no constant number of iterations
             --> k.kernel:2:7
              |
            2 |   for x in 0..n { a[x] = 1; }
              |       ^
              = note: without `by` all iterations are written out, at most 64
              = note: the directive stands at line 3, column 69

            error: this directive is not understood
             --> k.kernel:3:14
              |
            3 | } schedule { vectorise x by 8; vectorize xx by 8; vectorize x by 1; unroll x; interchange x, y; }
              |              ^^^^^^^^^^^^^^^^^
              = hint: did you mean `vectorize`?

            error: there is no loop `xx`
             --> k.kernel:3:32
              |
            3 | } schedule { vectorise x by 8; vectorize xx by 8; vectorize x by 1; unroll x; interchange x, y; }
              |                                ^^^^^^^^^^^^^^^^^^
              = hint: did you mean `x`?

            error: expected a number from 2 to 4096, found `1`
             --> k.kernel:3:51
              |
            3 | } schedule { vectorise x by 8; vectorize xx by 8; vectorize x by 1; unroll x; interchange x, y; }
              |                                                   ^^^^^^^^^^^^^^^^^
              = hint: write `vectorize x by 64` or `vectorize x by 64 tail mask`

            error: there are no loops `x, y`, one directly inside the other
             --> k.kernel:3:79
              |
            3 | } schedule { vectorise x by 8; vectorize xx by 8; vectorize x by 1; unroll x; interchange x, y; }
              |                                                                               ^^^^^^^^^^^^^^^^^

        "#]],
    );
}

#[test]
fn interiors_and_tails() {
    shape(
        "kernel k(n: size, a: in u8[n], o: out u8[n]) {\n  for x in 0..n { o[x] = max(a.clamped[x - 2], a.clamped[x + 1]); }\n} schedule { vectorize x by 64; }\n",
        expect![[r#"
            for x in 0..min(n, 1) step 1
              k.0: (u8, u8) -> u8
            for x in 1..min(n, 2) step 1
              k.1: (u8, u8) -> u8
            for x in 2..n - 64 step 64
              k.2: (u8x64, u8x64) -> u8x64
            for x in 2 + (max(n - 3, 0)/64)*64..n - 1 step 1
              k.3: (u8, u8) -> u8
            for x in max(2, n - 1)..n step 1
              k.4: (u8, u8) -> u8
        "#]],
    );
    shape(
        "kernel k(n: size, a: in i16[n], o: out i32[1]) requires n % 32 == 0 {\n  var s: i32 = 0;\n  for x in 0..n { s += i32(a[x]) * i32(a[x]); }\n  o[0] = s;\n} schedule { vectorize x by 32; }\n",
        expect![[r#"
            k.0: () -> i32
            k.1: () -> i32x16
            for x in 0..n step 32
              k.2: (i32x16, i16x32) -> i32x16
            k.3: (i32, i32x16) -> i32
            k.4: (i32) -> i32
        "#]],
    );
}

/// A kernel with its schedule, lowered, which computes what the kernel does at some sizes.
fn replayed<const N: usize>(text: &str, sizes: &[[i64; N]]) -> Lowered {
    let (kernels, wrong) = read(&Source::new("k.kernel", text));
    assert!(wrong.is_empty(), "{}", render(&wrong));
    let kernel = &kernels[0];
    let lowered = schedule::apply(kernel).and_then(|s| lower(&s));
    let lowered = lowered.unwrap_or_else(|wrong| panic!("{}", render(&wrong)));
    for values in sizes {
        let sizes = kernel.sizes().zip(*values).collect();
        let data = kernel::data::fill(kernel, &sizes, &mut semantics::random::Random::new(1));
        let oracle = kernel::eval::run(kernel, &data).expect("it runs");
        assert_eq!(
            lowering::replay::run(&lowered, &data),
            Ok(oracle),
            "{values:?}\n{text}"
        );
    }
    lowered
}

#[test]
fn tails_by_mask() {
    let text = "kernel k(n: size, a: in u8[2*n], o: out u8[n]) {\n  for x in 0..n { o[x] = max(a[2*x], a.clamped[x - 1]); }\n} schedule { vectorize x by 64 tail mask; }\n";
    shape(
        text,
        expect![[r#"
            for x in 0..min(n, 1) step 1
              k.0: (u8) -> u8
            for x in 1..n - 63 step 64
              k.1: (u8x64, u8x64, u8x64) -> u8x64
            for x in 1 + (max(n - 1, 0)/64)*64..n step 64
              k.2: (u8x64, u8x64) -> u8x64
        "#]],
    );
    replayed(text, &[0, 1, 63, 64, 65, 66, 130].map(|n| [n]));
    shape(
        "kernel k(n: size, a: in i32[n], o: out i32[1]) {\n  var s: i32 = 0;\n  for x in 0..n { s += a[x]; }\n  o[0] = s;\n} schedule { vectorize x by 8 tail mask; }\n",
        expect![[r#"
            k.0: () -> i32
            k.1: () -> i32x8
            k.2: () -> i32x8
            for x in 0..n - 7 step 8
              k.3: (i32x8, i32x8) -> i32x8
            for x in 0 + (max(n, 0)/8)*8..n step 8
              k.4: (i32x8, i32x8, i32x8) -> i32x8
            k.5: (i32, i32x8) -> i32
            k.6: (i32, i32x8) -> i32
            k.7: (i32) -> i32
        "#]],
    );
}

#[test]
fn tiles_of_a_product_of_matrices() {
    shape(
        "kernel k(m: size, n: size, k: size, a: in i16[m, k], b: in i16[k, n], c: out i32[m, n]) requires m % 2 == 0, n % 16 == 0, k % 2 == 0 {\n  for y in 0..m { for x in 0..n {\n    var s: i32 = 0;\n    for p in 0..k { s += i32(a[y, p]) * i32(b[p, x]); }\n    c[y, x] = s;\n  } }\n} schedule { jam y by 2; vectorize x by 16; unroll p by 2; }\n",
        expect![[r#"
            for y in 0..m step 2
              for x in 0..n step 16
                k.0: () -> i32x16
                k.1: () -> i32x16
                for p in 0..k step 2
                  k.2: (i32x16, i16x16, i16x16, i16x16, i16x16) -> i32x16
                  k.3: (i32x16, i16x16, i16x16, i16x16, i16x16) -> i32x16
                k.4: (i32x16) -> i32x16
                k.5: (i32x16) -> i32x16
        "#]],
    );
    shape(
        "kernel k(n: size, a: in i32[n, n], c: inout i32[n]) {\n  for y in 0..n { for x in 0..n { c[x] += a[x, y]; } }\n} schedule { interchange y, x; }\n",
        expect![[r#"
            for x in 0..n step 1
              for y in 0..n step 1
                k.0: (i32, i32) -> i32
        "#]],
    );
}

#[test]
fn sums_of_floats_keep_their_order() {
    refuse(
        "kernel k(n: size, a: in f32[n], o: out f32[1]) {\n  var s: f32 = 0;\n  for x in 0..n { s += a[x]; }\n  o[0] = s;\n} schedule { vectorize x by 8; }\n",
        expect![[r#"
            error: `vectorize x by 8` is refused: floats are accumulated in another order, and are rounded otherwise then
             --> k.kernel:3:19
              |
            3 |   for x in 0..n { s += a[x]; }
              |                   ^^^^^^^^^^
              = note: for example in f32, (16777216 + 1) + 1 is 16777216, and 16777216 + (1 + 1) is 16777218
              = note: where any order will do, write `reassociate` before the statement
              = note: the directive stands at line 5, column 14

        "#]],
    );
    refuse(
        "kernel k(n: size, a: in f32[n, n], o: inout f32[2*n]) {\n  for y in 0..n { for x in 0..n { o[x + y] += a[y, x]; } }\n} schedule { interchange y, x; }\n",
        expect![[r#"
            error: `interchange y, x` is refused: the order of iterations matters in both loops
             --> k.kernel:2:36
              |
            2 |   for y in 0..n { for x in 0..n { o[x + y] += a[y, x]; } }
              |                                    ^^^^^^^
              = note: sums of floats keep their order unless they are marked `reassociate`
              = note: y = 1 and y = 2 both touch o[3] (at n = 3)
              = note: the directive stands at line 3, column 14

        "#]],
    );
    shape(
        "kernel k(n: size, a: in bf16[n], o: out f32[1]) {\n  var s: f32 = 0;\n  for x in 0..n { reassociate s += f32(a[x]) * f32(a[x]); }\n  o[0] = s;\n} schedule { vectorize x by 32; unroll x by 2; }\n",
        expect![[r#"
            k.0: () -> f32
            k.1: () -> f32x16
            for x in 0..n - 63 step 64
              k.2: (f32x16, bf16x32, bf16x32) -> f32x16
            for x in 0 + (((max(n - 31, 0) + 31)/32)/2)*64..n - 31 step 32
              k.3: (f32x16, bf16x32) -> f32x16
            for x in 0 + (n/32)*32..n - 1 step 2
              k.4: (f32, bf16, bf16) -> f32
            for x in 0 + (n/32)*32 + (((max(n - (0 + (n/32)*32), 0) + 0)/1)/2)*2..n step 1
              k.5: (f32, bf16) -> f32
            k.6: (f32x16) -> f32x8
            k.7: (f32x8) -> f32x4
            k.8: (f32x4) -> f32x2
            k.9: (f32x2) -> f32
            k.10: (f32, f32) -> f32
            k.11: (f32) -> f32
        "#]],
    );
}

#[test]
fn blocks_of_iterations() {
    shape(
        "kernel k(n: size, m: size, a: in i32[n], b: in i32[m], o: out i32[n], p: out i32[m]) requires m % 64 == 0 {\n  for x in 0..n { o[x] = a[x] + 1; }\n  for y in 0..m { p[y] = b[y] + 1; }\n} schedule { split x by 64 into xs; vectorize x by 16; split y by 64 into ys; vectorize y by 16; unroll y; }\n",
        expect![[r#"
            for xs in 0..n - 63 step 64
              for x in xs..xs + 64 step 16
                k.0: (i32x16) -> i32x16
            for x in 0 + (((max(n, 0) + 0)/1)/64)*64..n - 15 step 16
              k.1: (i32x16) -> i32x16
            for x in 0 + ((n/1)/64)*64 + ((n - (0 + ((n/1)/64)*64))/16)*16..n step 1
              k.2: (i32) -> i32
            for ys in 0..m step 64
              k.3: (i32x16) -> i32x16
              k.4: (i32x16) -> i32x16
              k.5: (i32x16) -> i32x16
              k.6: (i32x16) -> i32x16
        "#]],
    );
}

#[test]
fn an_element_kept_in_a_register() {
    shape(
        "kernel k(n: size, k: size, a: in i32[n, k], o: inout i32[n]) {\n  for y in 0..n { for x in 0..k { o[y] += a[y, x]; } }\n} schedule { stage o over x; vectorize x by 16; }\n",
        expect![[r#"
            for y in 0..n step 1
              k.0: (i32) -> i32
              k.1: () -> i32x16
              for x in 0..k - 15 step 16
                k.2: (i32x16, i32x16) -> i32x16
              for x in 0 + (k/16)*16..k step 1
                k.3: (i32, i32) -> i32
              k.4: (i32, i32x16) -> i32
              k.5: (i32) -> i32
        "#]],
    );
    refuse(
        "kernel k(n: size, k: size, a: in i32[n, k], o: inout i32[n]) requires k <= n {\n  for y in 0..n { for x in 0..k { o[x] += a[y, x]; } }\n} schedule { stage o over x; }\n",
        expect![[r#"
            error: `stage o over x` is refused: iterations of `x` touch different elements of `o`
             --> k.kernel:2:36
              |
            2 |   for y in 0..n { for x in 0..k { o[x] += a[y, x]; } }
              |                                    ^^^
              = note: for example x = 0 touches o[0] and x = 1 touches o[1]
              = note: the directive stands at line 3, column 14

        "#]],
    );
    refuse(
        "kernel k(n: size, a: in i32[n], o: inout i32[n]) requires n >= 2 {\n  for x in 0..n { o[0] += a[x]; o[1] += a[x]; }\n} schedule { stage o over x; }\n",
        expect![[r#"
            error: `stage o over x` is refused: the loop touches more than one element of `o`
             --> k.kernel:2:34
              |
            2 |   for x in 0..n { o[0] += a[x]; o[1] += a[x]; }
              |                                  ^^^
              = note: each iteration touches o[0] and o[1], which may be the same element
              = note: the directive stands at line 3, column 14

        "#]],
    );
    refuse(
        "kernel k(n: size, o: inout i32[n]) {\n  for x in 0..n { o[0] += 1; }\n} schedule { stage o over x; }\n",
        expect![[r#"
            error: `stage o over x` is refused: it does not follow that o[0] exists when the loop does not run
             --> k.kernel:2:20
              |
            2 |   for x in 0..n { o[0] += 1; }
              |                    ^^^
              = note: the directive stands at line 3, column 14

        "#]],
    );
}

#[test]
fn tails_by_rounding_up() {
    shape(
        "kernel k(h: size, n: size, a: in u8[h, n pad 64], o: out u8[h, n pad 64]) {\n  for y in 0..h { for x in 0..n { o[y, x] = a[y, x] + 1; } }\n} schedule { vectorize x by 32 tail round; }\n",
        expect![[r#"
            for y in 0..h step 1
              for x in 0..n step 32
                k.0: (u8x32) -> u8x32
        "#]],
    );
}

#[test]
fn tails_by_an_overlap() {
    let text = "kernel k(h: size, n: size, a: in u8[h, n], o: out u8[h, n]) {\n  for y in 0..h { for x in 0..n { o[y, x] = max(a.clamped[y, x - 1], a.clamped[y, x + 2]); } }\n} schedule { vectorize x by 16 tail shift; }\n";
    let sizes = [0, 1, 2, 3, 15, 18, 19, 20, 34, 35, 36, 50, 51, 52];
    replayed(text, &sizes.map(|n| [2, n]));
    for (body, message) in [
        ("o[0, 0] += a[0, x];", "accumulates in `o`"),
        ("o[0, x] += a[0, x];", "reads `o`, which it stores"),
        ("o[0, x] = o[0, x] + a[0, x];", "reads `o`, which it stores"),
        (
            "let t = o[0, x] + 1; o[0, x] = t;",
            "reads `o`, which it stores",
        ),
    ] {
        let text = format!(
            "kernel k(h: size, n: size, a: in u8[h, n], o: inout u8[h, n]) requires h >= 1, n >= 1 {{\n  for x in 0..n {{ {body} }}\n}} schedule {{ vectorize x by 16 tail shift; }}\n"
        );
        let (kernels, _) = read(&Source::new("k.kernel", &text));
        let refused = schedule::apply(&kernels[0])
            .and_then(|s| lower(&s))
            .expect_err("it is refused");
        let rendered = semantics::diagnostic::lines(&refused);
        assert!(rendered.contains(message), "{body}: {rendered}");
    }
}
