//! Input that is wrong: every mistake is shown where it stands, and no kernel comes of it.

use expect_test::{Expect, expect};
use kernel::read;
use lowering::lower;
use semantics::diagnostic::render;
use semantics::span::Source;

/// All complaints about a text, about its schedules too.
fn complaints(text: &str) -> String {
    let (kernels, mut diagnostics) = read(&Source::new("k.kernel", text));
    for kernel in &kernels {
        diagnostics.extend(
            schedule::apply(kernel)
                .and_then(|s| lower(&s))
                .err()
                .unwrap_or_default(),
        );
    }
    render(&diagnostics)
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&complaints(text));
}

#[test]
fn floats_where_integers_are_and_the_other_way_round() {
    check(
        "kernel k(n: size, a: in f32[n], b: in bf16[n], i: in i32[n], o: out f32[n]) {
  for x in 0..n {
    o[x] = a[x] + b[x];
    o[x] = a[x] + i[x];
    o[x] = a[x] & 1;
    o[x] = i32(a[x]);
    o[x] = clz(a[x]);
    o[x] = f32(sqrt(i[x]));
    o[x] = f32_sat(i[x]);
    o[x] = f32(i[x] * 1.5);
    o[x] = 16777217;
    o[x] = 1e40;
    o[x] = f33(a[x]);
    reassociate o[x] = a[x] + 1;
    o[x] = select(a[x], a[x], 0.5);
  }
  var s: i32 = 0;
  reassociate s += 1;
}
",
        expect![[r#"
            error: `+` needs operands of one type, not f32 and bf16
             --> k.kernel:3:12
              |
            3 |     o[x] = a[x] + b[x];
              |            ^^^^^^^^^^^
              = hint: convert one of them, for example `f32(..)`

            error: `+` needs operands of one type, not f32 and i32
             --> k.kernel:4:12
              |
            4 |     o[x] = a[x] + i[x];
              |            ^^^^^^^^^^^
              = hint: convert one of them, for example `f32(..)`

            error: `&` needs integers, not f32
             --> k.kernel:5:12
              |
            5 |     o[x] = a[x] & 1;
              |            ^^^^^^^^

            error: expected f32, found i32
             --> k.kernel:6:12
              |
            6 |     o[x] = i32(a[x]);
              |            ^^^^^^^^^
              = hint: convert it: `f32(..)`

            error: `clz` needs integers, not f32
             --> k.kernel:7:12
              |
            7 |     o[x] = clz(a[x]);
              |            ^^^^^^^^^

            error: `sqrt` needs floats, not i32
             --> k.kernel:8:16
              |
            8 |     o[x] = f32(sqrt(i[x]));
              |                ^^^^^^^^^^

            error: a float has no range to clamp to
             --> k.kernel:9:12
              |
            9 |     o[x] = f32_sat(i[x]);
              |            ^^^^^^^^^^^^^
              = hint: write `f32(..)`

            error: 1.5 is not of type i32
              --> k.kernel:10:23
               |
            10 |     o[x] = f32(i[x] * 1.5);
               |                       ^^^
              = hint: numbers have the type beside them: `i32(f32(..) * 1.5)` computes with floats

            error: 16777217 is not a number of f32
              --> k.kernel:11:12
               |
            11 |     o[x] = 16777217;
               |            ^^^^^^^^
              = hint: `16777217.0` is the nearest number that f32 has

            error: 1e40 is too large for f32
              --> k.kernel:12:12
               |
            12 |     o[x] = 1e40;
               |            ^^^^

            error: `f33` is not a type
              --> k.kernel:13:12
               |
            13 |     o[x] = f33(a[x]);
               |            ^^^
              = hint: types are i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, and vectors of them such as i16x32

            error: `reassociate` is for statements that accumulate
              --> k.kernel:14:5
               |
            14 |     reassociate o[x] = a[x] + 1;
               |     ^^^^^^^^^^^
              = hint: `s += e`, `s = fma(a, b, s)`, `s = min(s, e)` or `s = max(s, e)`

            error: `select` needs a truth value, not f32
              --> k.kernel:15:19
               |
            15 |     o[x] = select(a[x], a[x], 0.5);
               |                   ^^^^
              = hint: compare it: `x != 0`

            error: integers add up alike in any order
              --> k.kernel:18:3
               |
            18 |   reassociate s += 1;
               |   ^^^^^^^^^^^
              = hint: leave `reassociate` out

        "#]],
    );
}

#[test]
fn an_index_outside_for_some_size() {
    check(
        "kernel k(n: size, a: in u8[n pad 16], o: out u8[n]) {\n  for x in 0..n step 16 { o[x] = a[x + 15]; }\n}\n",
        expect![[r#"
            error: index 15 is outside dimension 0 of `a`, which has 3 elements
             --> k.kernel:2:35
              |
            2 |   for x in 0..n step 16 { o[x] = a[x + 15]; }
              |                                   ^^^^^^^^
              = note: for example at n = 3, x = 0
              = hint: state what holds of the sizes in `requires`, or use `.clamped[..]`

        "#]],
    );
}

#[test]
fn an_array_that_stands_for_two() {
    check(
        "kernel k(n: size, a: in u8[n], a: out u8[n]) {\n  for x in 0..n { a[x] = a[x]; }\n}\n",
        expect![[r#"
            error: `a` is already declared here
             --> k.kernel:1:32
              |
            1 | kernel k(n: size, a: in u8[n], a: out u8[n]) {
              |                                ^

            error: `a` is only read: it was declared `in`
             --> k.kernel:2:19
              |
            2 |   for x in 0..n { a[x] = a[x]; }
              |                   ^
              = hint: declare it `a: out u8[..]` or `inout`

        "#]],
    );
}

#[test]
fn an_image_without_pixels() {
    check(
        "kernel k(h: size, w: size, a: in u8[h, w], o: out u8[1]) {\n  o[0] = a.clamped[0, 0];\n}\nkernel l(n: size, o: out u8[0]) {\n  o[0] = 1;\n}\n",
        expect![[r#"
            error: index -1 is outside dimension 1 of `a`, which has 0 elements
             --> k.kernel:2:11
              |
            2 |   o[0] = a.clamped[0, 0];
              |           ^^^^^^^^^^^^^^
              = note: for example at h = 3, w = 0
              = hint: state what holds of the sizes in `requires`, or use `.clamped[..]`

            error: dimension 0 of `o` has no elements
             --> k.kernel:4:19
              |
            4 | kernel l(n: size, o: out u8[0]) {
              |                   ^
              = hint: a size that may be 0 when the code runs is a parameter: `n: size`

        "#]],
    );
}

#[test]
fn functions_that_call_each_other() {
    check(
        "fn f(a: u8) -> u8 = f(a);\nfn g(a: u8) -> u8 = h(a);\nfn h(a: u8) -> u8 = g(a);\nkernel k(n: size, o: out u8[n]) { for x in 0..n { o[x] = h(u8(x)); } }\n",
        expect![[r#"
            error: `f` is called before it is declared, in line 1
             --> k.kernel:1:21
              |
            1 | fn f(a: u8) -> u8 = f(a);
              |                     ^
              = hint: a function sees those above it; none calls itself, not through others either

            error: `h` is called before it is declared, in line 3
             --> k.kernel:2:21
              |
            2 | fn g(a: u8) -> u8 = h(a);
              |                     ^
              = hint: a function sees those above it; none calls itself, not through others either

        "#]],
    );
}

#[test]
fn schedules_that_would_change_the_result() {
    check(
        "kernel k(n: size, a: in i32[n], o: out i32[n], s: inout i32[1]) {
  for x in 0..n { o[x] = a[x]; }
  for y in 0..n { s[0] += a[y]; }
  for z in 0..n { s[0] = s[0] * 2 + a[z]; }
} schedule {
  vectorize x by 8 tail round;
  vectorize y by 8 tail round;
  stage o over x;
  stage q over x;
  stage s over w;
  vectorize z by 8 tail none;
  split z by 1 into b;
}
",
        expect![[r#"
            error: `stage q over x` is refused: there is no array `q`
             --> k.kernel:2:7
              |
            2 |   for x in 0..n { o[x] = a[x]; }
              |       ^
              = note: the directive stands at line 9, column 3
              = hint: did you mean `a`?

            error: `stage o over x` is refused: iterations of `x` touch different elements of `o`
             --> k.kernel:2:20
              |
            2 |   for x in 0..n { o[x] = a[x]; }
              |                    ^^^
              = note: for example x = 0 touches o[0] and x = 1 touches o[1]
              = note: the directive stands at line 8, column 3

            error: `vectorize x by 8 tail round` is refused: behind the end, the last vector leaves the memory of `a`
             --> k.kernel:2:27
              |
            2 |   for x in 0..n { o[x] = a[x]; }
              |                           ^^^
              = note: x = 3 touches index 3 in dimension 0 of `a` (at n = 3)
              = note: padding is promised by `a: .. [.. pad 64]`
              = note: the directive stands at line 6, column 3

            error: `vectorize y by 8 tail round` is refused: what lies behind the end would be accumulated in `s`
             --> k.kernel:3:7
              |
            3 |   for y in 0..n { s[0] += a[y]; }
              |       ^
              = note: `tail mask` leaves it out
              = note: the directive stands at line 7, column 3

            error: there is no loop `w`
              --> k.kernel:10:3
               |
            10 |   stage s over w;
               |   ^^^^^^^^^^^^^^^
              = hint: did you mean `x`?

            error: a tail is `tail scalar`, `tail mask`, `tail round` or `tail shift`
              --> k.kernel:11:3
               |
            11 |   vectorize z by 8 tail none;
               |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^
              = hint: write `vectorize x by 64` or `vectorize x by 64 tail mask`

            error: expected a number from 2 to 1048576, found `1`
              --> k.kernel:12:3
               |
            12 |   split z by 1 into b;
               |   ^^^^^^^^^^^^^^^^^^^^
              = hint: write `split x by 64 into b`

        "#]],
    );
}

#[test]
fn padding_that_is_not_behind_the_end() {
    check(
        "kernel k(n: size, m: size, a: in u8[n pad 8], o: out u8[n pad 8], p: inout u8[n, n pad 8]) requires m <= n {
  for x in 0..n { o[x] = a[x]; }
  for y in 0..m { o[y] = a[y]; }
  for z in 0..n { for w in 0..z { p[z, w] = 3; } }
} schedule {
  vectorize x by 16 tail round;
  vectorize y by 8 tail round;
  vectorize w by 8 tail round;
}
",
        expect![[r#"
            error: `vectorize x by 16 tail round` is refused: behind the end, the last vector leaves the memory of `a`
             --> k.kernel:2:27
              |
            2 |   for x in 0..n { o[x] = a[x]; }
              |                           ^^^
              = note: x = 8 touches index 8 in dimension 0 of `a` (at n = 8, m = 3)
              = note: padding is promised by `a: .. [.. pad 64]`
              = note: the directive stands at line 6, column 3

            error: `vectorize y by 8 tail round` is refused: it does not follow that behind the end the last vector stays in the memory of `a`
             --> k.kernel:3:27
              |
            3 |   for y in 0..m { o[y] = a[y]; }
              |                           ^^^
              = note: padding is promised by `a: .. [.. pad 64]`
              = note: the directive stands at line 7, column 3

            error: `vectorize w by 8 tail round` is refused: it does not follow that behind the end the last vector stays in the memory of `p`
             --> k.kernel:4:36
              |
            4 |   for z in 0..n { for w in 0..z { p[z, w] = 3; } }
              |                                    ^^^^^^
              = note: padding is promised by `p: .. [.. pad 64]`
              = note: the directive stands at line 8, column 3

        "#]],
    );
}

#[test]
fn ten_thousand_statements() {
    let mut text =
        "kernel long(n: size, a: in u8[n], o: out u8[n]) {\n  for x in 0..n {\n".to_owned();
    for n in 0..10_000 {
        let wrong = if n == 9_876 { "b" } else { "a" };
        text.push_str(&format!("    o[x] = {wrong}[x] + {};\n", n % 256));
    }
    text.push_str("  }\n}\n");
    let said = complaints(&text);
    assert!(
        said.contains("there is no `b` here") && said.contains("k.kernel:9879:12"),
        "{said}"
    );
    check(
        &text.replace("b[x] +", "a[x] +"),
        expect![[r#"
            error: `long` has more than 2048 statements
                --> k.kernel:2051:5
                 |
            2051 |     o[x] = a[x] + 0;
                 |     ^^^^^^^^^^^^^^^^
              = hint: write a loop, unroll less, or make several kernels of it

        "#]],
    );
}

#[test]
fn nothing_in_a_dimension() {
    check(
        "kernel k(a: in u8[0], o: out u8[4, 2 - 3]) {
  for x in 0..0 { o[x, 0] = a[x]; }
}
",
        expect![[r#"
            error: dimension 0 of `a` has no elements
             --> k.kernel:1:10
              |
            1 | kernel k(a: in u8[0], o: out u8[4, 2 - 3]) {
              |          ^
              = hint: a size that may be 0 when the code runs is a parameter: `n: size`

            error: dimension 1 of `o` has no elements
             --> k.kernel:1:23
              |
            1 | kernel k(a: in u8[0], o: out u8[4, 2 - 3]) {
              |                       ^
              = hint: a size that may be 0 when the code runs is a parameter: `n: size`

        "#]],
    );
}
