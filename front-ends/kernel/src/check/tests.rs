//! What the checker says of texts that are wrong.

use crate::check_source;
use expect_test::{Expect, expect};

fn check(text: &str, expected: Expect) {
    let (_, diagnostics) = check_source("k.kernel", text);
    expected.assert_eq(&semantics::diagnostic::render(&diagnostics));
}

#[test]
fn what_is_wrong_is_told_once_not_for_the_numbers_beside_it() {
    let text = "kernel k(n: size, a: in u32[n], o: out u32[n]) {
  for x in 0..n {
    let b = lost(a[x]);
    o[x] = (b + 3 + ((b >> 16) & 1)) >> 16 | (7 * a[z]);
  }
}
";
    check(
        text,
        expect![[r#"
            error: there is no `lost` here
             --> k.kernel:3:13
              |
            3 |     let b = lost(a[x]);
              |             ^^^^

            error: there is no `z` here
             --> k.kernel:4:53
              |
            4 |     o[x] = (b + 3 + ((b >> 16) & 1)) >> 16 | (7 * a[z]);
              |                                                     ^
              = hint: a size is a parameter: `z: size`

        "#]],
    );
}

#[test]
fn every_mistake_is_reported_once_and_other_kernels_go_on() {
    let text = "\
fn half(a: u8) -> u8 = a >> 1 + c;
kernel first(n: size, a: in u8[n], b: in i16[n], o: out u8[n]) {
  for x in 0..n {
    o[x] = half(a[x]) + b[x];
    o[x] = a[y] + 300;
    a[x] = 1;
    o[a[x]] = mx(a[x], 3);
    o[x, x] = half(a[x], 1);
  }
}
kernel second(n: size, a: in u8[n], o: out u8[n]) {
  for x in 0..n { o[x] = half(a[x]); }
}
kernel third(n: size, o: out u8[n]) {
  for x in 0..n { o[x] = u8(x); }
}
";
    let (kernels, _) = check_source("k.kernel", text);
    let names: Vec<&str> = kernels.iter().map(|k| k.name.as_str()).collect();
    assert_eq!(names, ["third"]);
    check(
        text,
        expect![[r#"
            error: there is no `c` here
             --> k.kernel:1:33
              |
            1 | fn half(a: u8) -> u8 = a >> 1 + c;
              |                                 ^

            error: there is no `y` here
             --> k.kernel:5:14
              |
            5 |     o[x] = a[y] + 300;
              |              ^
              = hint: a size is a parameter: `y: size`

            error: 300 does not fit u8, which holds 0 to 255
             --> k.kernel:5:19
              |
            5 |     o[x] = a[y] + 300;
              |                   ^^^

            error: `a` is only read: it was declared `in`
             --> k.kernel:6:5
              |
            6 |     a[x] = 1;
              |     ^
              = hint: declare it `a: out u8[..]` or `inout`

            error: this is data, and an index must not depend on data
             --> k.kernel:7:7
              |
            7 |     o[a[x]] = mx(a[x], 3);
              |       ^^^^
              = hint: indices are made of sizes, loop variables, numbers, + - * / % min max clamp; where data choose, `for i in 0..n at e { … a[i] … }` runs once, with `i` equal to the data `e`

            error: there is no `mx` here
             --> k.kernel:7:15
              |
            7 |     o[a[x]] = mx(a[x], 3);
              |               ^^

            error: `o` has 1 dimensions, not 2
             --> k.kernel:8:6
              |
            8 |     o[x, x] = half(a[x], 1);
              |      ^^^^^^

            error: `half` takes 1 arguments, not 2
             --> k.kernel:8:15
              |
            8 |     o[x, x] = half(a[x], 1);
              |               ^^^^^^^^^^^^^

        "#]],
    );
}

#[test]
fn types_that_do_not_fit() {
    check(
        "kernel k(n: size, a: in i16[32], b: in i32[32], o: out u8[32]) {
  o[0..+32] = a[0..+32];
  o[0..+16] = u8(a[0..+32]);
  o[0..+32] = u8(a[0..+32] + b[0..+32]);
  o[0..+32] = u8(a[0..+32] >> b[0..+32]);
  o[0..+32] = u8(select(a[0..+32], a[0..+32], 0));
  o[0..+16] = u8(reduce_add(a[0..+32], 5));
  o[0..+16] = u8(a[0..+32][8..+16 by 2]);
  o[0] = 1 + 2 * 200;
  let t = 5;
  let u: i16x4 = [1, 2, 3];
  o[0] = u9(4);
}
",
        expect![[r#"
            error: expected u8, found i16
             --> k.kernel:2:15
              |
            2 |   o[0..+32] = a[0..+32];
              |               ^^^^^^^^^
              = hint: `u8(..)` keeps the low bits, `u8_sat(..)` clamps

            error: expected 16 lanes, found 32
             --> k.kernel:3:15
              |
            3 |   o[0..+16] = u8(a[0..+32]);
              |               ^^^^^^^^^^^^^

            error: `+` needs operands of one type, not i16x32 and i32x32
             --> k.kernel:4:18
              |
            4 |   o[0..+32] = u8(a[0..+32] + b[0..+32]);
              |                  ^^^^^^^^^^^^^^^^^^^^^
              = hint: convert one of them, for example `i32(..)`

            error: a shift needs a count of the value's width, not i16x32 by i32x32
             --> k.kernel:5:18
              |
            5 |   o[0..+32] = u8(a[0..+32] >> b[0..+32]);
              |                  ^^^^^^^^^^^^^^^^^^^^^^
              = hint: convert the count: `i16(..)`

            error: `select` needs a truth value, not i16x32
             --> k.kernel:6:25
              |
            6 |   o[0..+32] = u8(select(a[0..+32], a[0..+32], 0));
              |                         ^^^^^^^^^
              = hint: compare it: `x != 0`

            error: i16x32 cannot be reduced by 5 adjacent lanes
             --> k.kernel:7:18
              |
            7 |   o[0..+16] = u8(reduce_add(a[0..+32], 5));
              |                  ^^^^^^^^^^^^^^^^^^^^^^^^
              = hint: the number must divide the lanes

            error: lane 32 does not exist: this is i16x32
             --> k.kernel:8:28
              |
            8 |   o[0..+16] = u8(a[0..+32][8..+16 by 2]);
              |                            ^^^^^^^^^^^

            error: 401 does not fit u8, which holds 0 to 255
             --> k.kernel:9:10
              |
            9 |   o[0] = 1 + 2 * 200;
              |          ^^^^^^^^^^^

            error: the type of this number is not known here
              --> k.kernel:10:11
               |
            10 |   let t = 5;
               |           ^
              = hint: write for example `i32(5)`

            error: expected 4 lanes, found 3
              --> k.kernel:11:18
               |
            11 |   let u: i16x4 = [1, 2, 3];
               |                  ^^^^^^^^^

            error: `u9` is not a type
              --> k.kernel:12:10
               |
            12 |   o[0] = u9(4);
               |          ^^
              = hint: types are i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, and vectors of them such as i16x32

        "#]],
    );
}

#[test]
fn declarations() {
    check(
        "kernel k(n: size, n: u8, m: in size, a: in i16x4[n], b: out u8, c: in u8[q]) requires n + 1, n < d {
  var t: u8;
  var v: i32x16 = 0;
  for x in 0..n step 0 { var w: u8[n]; }
  for x in 0..b { v[0] = 1; }
  n = 3;
  c[0] = 4;
}
",
        expect![[r#"
            error: `n` is already declared here
             --> k.kernel:1:19
              |
            1 | kernel k(n: size, n: u8, m: in size, a: in i16x4[n], b: out u8, c: in u8[q]) requires n + 1, n < d {
              |                   ^

            error: a size has no direction and no dimensions
             --> k.kernel:1:32
              |
            1 | kernel k(n: size, n: u8, m: in size, a: in i16x4[n], b: out u8, c: in u8[q]) requires n + 1, n < d {
              |                                ^^^^

            error: `i16x4` is a vector type; elements are scalars
             --> k.kernel:1:44
              |
            1 | kernel k(n: size, n: u8, m: in size, a: in i16x4[n], b: out u8, c: in u8[q]) requires n + 1, n < d {
              |                                            ^^^^^
              = hint: write `i16`

            error: a scalar is read only
             --> k.kernel:1:54
              |
            1 | kernel k(n: size, n: u8, m: in size, a: in i16x4[n], b: out u8, c: in u8[q]) requires n + 1, n < d {
              |                                                      ^
              = hint: use an array of one element: `[1]`

            error: there is no `q` here
             --> k.kernel:1:74
              |
            1 | kernel k(n: size, n: u8, m: in size, a: in i16x4[n], b: out u8, c: in u8[q]) requires n + 1, n < d {
              |                                                                          ^
              = hint: a size is a parameter: `q: size`

            error: a precondition is a comparison of sizes
             --> k.kernel:1:87
              |
            1 | … in u8[q]) requires n + 1, n < d {
              |                      ^^^^^
              = hint: for example `requires n % 16 == 0, n >= 16`

            error: there is no `d` here
             --> k.kernel:1:98
              |
            1 | …requires n + 1, n < d {
              |                      ^
              = hint: a size is a parameter: `d: size`

            error: a variable needs a first value
             --> k.kernel:2:7
              |
            2 |   var t: u8;
              |       ^
              = hint: for example `var acc: i32x16 = 0;`

            error: a step is at least 1
             --> k.kernel:4:22
              |
            4 |   for x in 0..n step 0 { var w: u8[n]; }
              |                      ^

            error: a local array cannot be declared inside a loop
             --> k.kernel:4:30
              |
            4 |   for x in 0..n step 0 { var w: u8[n]; }
              |                              ^
              = hint: declare it before the loop

            error: this is data, and an index must not depend on data
             --> k.kernel:5:15
              |
            5 |   for x in 0..b { v[0] = 1; }
              |               ^
              = hint: a number that is fixed for a run is declared `b: size`

            error: `v` cannot be assigned to
             --> k.kernel:5:19
              |
            5 |   for x in 0..b { v[0] = 1; }
              |                   ^
              = hint: only arrays and `var` can

            error: `n` cannot be assigned to
             --> k.kernel:6:3
              |
            6 |   n = 3;
              |   ^
              = hint: only arrays and `var` can

        "#]],
    );
}

#[test]
fn syntax() {
    check(
        "kernel a(n: size) { for x in 0..n { } \nkernel b(n: size) { let x = 1 }\nkernel c(n size) {}\nkernel d() {}\n",
        expect![[r#"
            error: expected `fn` or a statement, found `kernel`
             --> k.kernel:2:1
              |
            2 | kernel b(n: size) { let x = 1 }
              | ^^^^^^

            error: expected `;` or an index or an operator, found `}`
             --> k.kernel:2:31
              |
            2 | kernel b(n: size) { let x = 1 }
              |                               ^
              = hint: is a `;` missing before it?

            error: expected `:`, found `size`
             --> k.kernel:3:12
              |
            3 | kernel c(n size) {}
              |            ^^^^

        "#]],
    );
    check(
        "kernel a(o: out u8[1]) { o[0] = (1 + ; }\nkernel b(o: out u8[1]) { o[0] = 1_000_000_000_000_000_000_000_000; }\nkernel c(o: out u8[1]) { o[0] = 1 $ 2; }\n",
        expect![[r#"
            error: expected an expression, found `;`
             --> k.kernel:1:38
              |
            1 | kernel a(o: out u8[1]) { o[0] = (1 + ; }
              |                                      ^

            error: this number does not fit 64 bits
             --> k.kernel:2:33
              |
            2 | kernel b(o: out u8[1]) { o[0] = 1_000_000_000_000_000_000_000_000; }
              |                                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

            error: expected `;` or an index or an operator, found `$`
             --> k.kernel:3:35
              |
            3 | kernel c(o: out u8[1]) { o[0] = 1 $ 2; }
              |                                   ^

        "#]],
    );
    let deep = format!(
        "kernel a(o: out u8[1]) {{ o[0] = {}1{}; }}\n",
        "(".repeat(200),
        ")".repeat(200)
    );
    check(
        &deep,
        expect![[r#"
        error: brackets nest more than 100 deep
         --> k.kernel:1:132
          |
        1 | …((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((…
          |                      ^

    "#]],
    );
}

#[test]
fn values_that_nest_too_deeply() {
    let lets: String = (1..2000)
        .map(|n| format!("let t{n} = t{} * t{};\n", n - 1, n - 1))
        .collect();
    let text =
        format!("kernel k(o: out i32[1], s: i32) {{\nlet t0 = s + 1;\n{lets}o[0] = t1999;\n}}\n");
    let (_, diagnostics) = check_source("k.kernel", &text);
    assert!(
        !diagnostics.is_empty() && diagnostics.len() < 20,
        "{}",
        diagnostics.len()
    );
    expect![[r#"
        error: this value nests more than 300 operations deep
           --> k.kernel:152:12
            |
        152 | let t150 = t149 * t149;
            |            ^^^^^^^^^^^
          = hint: keep a part of it in a `var` or an array
    "#]]
    .assert_eq(&diagnostics[0].to_string());
    let sum = vec!["s"; 5000].join(" + ");
    let (_, diagnostics) = check_source(
        "k.kernel",
        &format!("kernel k(o: out i32[1], s: i32) {{ o[0] = {sum}; }}\n"),
    );
    expect!["an expression has at most 200 operands in a row"].assert_eq(&diagnostics[0].message);
}

#[test]
fn ten_thousand_statements() {
    let statements: String = (0..10_000)
        .map(|n| format!("o[x] = a[x] + {};\n", n % 200))
        .collect();
    let text = format!(
        "kernel k(n: size, a: in u8[n], o: out u8[n]) {{ for x in 0..n {{\n{statements}}} }}\n"
    );
    let (kernels, diagnostics) = check_source("k.kernel", &text);
    assert!(diagnostics.is_empty());
    assert_eq!(kernels.len(), 1);
}

#[test]
fn chains_of_functions_are_not_exponential() {
    let functions: String = (1..40)
        .map(|n| {
            format!(
                "fn f{n}(x: i32) -> i32 = f{}(x) * f{}(x + 1);\n",
                n - 1,
                n - 1
            )
        })
        .collect();
    let text = format!(
        "fn f0(x: i32) -> i32 = x;\n{functions}kernel k(o: out i32[1], s: i32) {{ o[0] = f39(s); }}\n"
    );
    let (_, diagnostics) = check_source("k.kernel", &text);
    expect!["calls of functions unfold to more than 20000 here"].assert_eq(&diagnostics[0].message);
}

fn messages(text: &str) -> String {
    let (_, diagnostics) = check_source("k.kernel", text);
    semantics::diagnostic::lines(&diagnostics)
}

#[test]
fn words_of_the_language_are_named() {
    let log = messages("kernel k(kernel: size, o: out u8[4]) { o[0] = 1; }\n");
    assert!(log.contains("`kernel` is a word of the language"), "{log}");
    for word in ["by", "step", "in", "for", "fn", "let", "var", "schedule"] {
        for text in [
            format!("kernel k({word}: size, o: out u8[4]) {{ o[0] = 1; }}\n"),
            format!("kernel k(o: out u8[4]) {{ let t = {word} + 1; o[0] = t; }}\n"),
            format!("kernel k(o: out u8[4]) {{ let {word} = 1; o[0] = 1; }}\n"),
        ] {
            let log = messages(&text);
            let named = format!("`{word}` is a word of the language");
            assert!(log.contains(&named) && log.contains("`by`, `fn`"), "{log}");
        }
    }
    let named = messages("kernel k(o: out u8[4]) { o[0] = 1; }\nschedule k { unroll x; }\n");
    assert!(named.contains("`schedule` cannot stand here"), "{named}");
    assert!(named.contains("a schedule has no name"), "{named}");
    let other = messages("kernel k(o: out u8[4]) { let t = ; o[0] = t; }\n");
    assert!(!other.contains("a word of the language"), "{other}");
}

#[test]
fn a_misspelt_word_before_a_name_is_told() {
    let body = |text: &str| messages(&format!("kernel k(n: size, o: out u8[n]) {{ {text} }}\n"));
    for (text, meant) in [
        ("for i in 0..n { reasociate o[i] += 1; }", "reassociate"),
        ("fro i in 0..n { o[i] = 1; }", "for"),
        ("lett t = 1; o[0] = t;", "let"),
        ("vra t: u8 = 1; o[0] = t;", "var"),
    ] {
        let log = body(text);
        assert!(
            log.contains(&format!("did you mean `{meant}`?")),
            "{text}: {log}"
        );
    }
    for text in ["o n = 1;", "größe t = 1;", "something t = 1;"] {
        let log = body(text);
        assert!(
            !log.is_empty() && !log.contains("did you mean"),
            "{text}: {log}"
        );
    }
}

#[test]
fn a_misspelt_word_where_few_can_stand_is_told() {
    let header = "kernel k(n: size, a: in u8[n], o: out u8[n])";
    let body = "{ for x in 0..n { o[x] = a[x]; } }";
    let around = |text: &str, by: &str| format!("{header} {body}\n").replacen(text, by, 1);
    for (text, meant) in [
        (around("kernel", "kernal"), "kernel"),
        (around("in u8", "inn u8"), "in"),
        (around("out", "otu"), "out"),
        (around("out", "inuot"), "inout"),
        (around("[n]", "[n pd 8]"), "pad"),
        (around("{ for", "require n > 4 { for"), "requires"),
        (around("n {", "n stp 2 {"), "step"),
        (around("x in", "x ni"), "in"),
        (around("a[x]", "a.clampd[x]"), "clamped"),
        (around("a[x]", "sum(a[x..+4 bey 2])"), "by"),
        (
            format!("{header} {body} schedul {{ unroll x; }}\n"),
            "schedule",
        ),
    ] {
        let log = messages(&text);
        assert!(
            log.contains(&format!("did you mean `{meant}`?")),
            "{text}: {log}"
        );
    }
    for text in [
        around("in u8", "u u8"),
        around("[n]", "[n p]"),
        around("n {", "n }"),
    ] {
        let log = messages(&text);
        assert!(
            !log.is_empty() && !log.contains("did you mean"),
            "{text}: {log}"
        );
    }
}

#[test]
fn parts_of_a_kernel_at_another_place_are_told_where_they_belong() {
    let inside = "kernel k(n: size, o: out u8[n]) {\n  for i in 0..n { o[i] = 1; }\n  schedule { vectorize i by 4; }\n}\n";
    assert!(messages(inside).contains("stands behind the body"));
    let inside = "kernel k(n: size, o: out u8[n]) {\n  requires n > 4;\n  o[0] = 1;\n}\n";
    assert!(messages(inside).contains("stand before the body"));
    let twice = "kernel k(n: size, o: out u8[n]) { o[0] = 1; } schedule { } schedule { }\n";
    assert!(messages(twice).contains("stands behind the body"));
}

#[test]
fn one_iteration_is_chosen_by_one_integer_inside_the_array() {
    let with = |body: &str| {
        format!(
            "kernel k(n: size, a: in u8[n], f: in f32[n], o: inout u8[200]) {{ for x in 0..n {{ {body} }} }}\n"
        )
    };
    let sound = [
        "for i in 0..200 at a[x] { o[i] = a[x]; }",
        "for i in 0..200 step 2 at a[x] + 1 { o[i + 1] = 1; }",
        "for i in 0..n at a[x] { for k in 0..200 at a[i] { o[k] += 1; } }",
    ];
    for body in sound {
        assert_eq!(messages(&with(body)), "", "{body}");
    }
    for (body, message) in [
        ("for i in 0..256 at a[x] { o[i] = 1; }", "outside"),
        (
            "for i in 0..200 at f[x] { o[i] = 1; }",
            "the value behind `at` is of type f32",
        ),
        ("for i in 0..200 at i { o[i] = 1; }", "there is no `i`"),
        ("o[a[x]] = 1;", "`for i in 0..n at e"),
    ] {
        let log = messages(&with(body));
        assert!(log.contains(message), "{body}: {log}");
    }
}

#[test]
fn bits_and_functions_of_the_library() {
    let with = |value: &str| {
        format!(
            "kernel k(a: in f32[8], b: in u32[8], h: in f16[8], o: inout f32[8]) {{ {value} }}\n"
        )
    };
    for sound in [
        "o[0..+8] = f32_bits(i32_bits(a[0..+8]) + 1) + f32_bits(b[0..+8]);",
        "o[0] = exp(a[0]) + pow(a[1], 2) + atan2(a[2], a[3]);",
    ] {
        assert_eq!(messages(&with(sound)), "", "{sound}");
    }
    for (wrong, message) in [
        ("o[0] = f32_bits(h[0]);", "the bits of f16 are no f32"),
        ("o[0..+8] = exp(a[0..+8]);", "`exp` does not apply to f32x8"),
        ("o[0] = f32(exp(h[0]));", "`exp` does not apply to f16"),
        ("o[0] = f32(exp(b[0]));", "`exp` does not apply to u32"),
        ("o[0] = pow(a[0]);", "`pow` takes 2 arguments"),
    ] {
        let log = messages(&with(wrong));
        assert!(log.contains(message), "{wrong}: {log}");
    }
}

#[test]
fn arrays_of_truth_values() {
    let with = |body: &str| {
        format!("kernel k(a: in i16[8], m: inout bool[8], s: in bool[8]) {{ {body} }}\n")
    };
    for sound in [
        "m[0] = a[0] > 1 && !m[1] || s[2];",
        "m[0..+8] = a[0..+8] == 3;",
        "var t: bool[4]; t[0] = s[0]; m[0] = t[0];",
    ] {
        assert_eq!(messages(&with(sound)), "", "{sound}");
    }
    for (wrong, message) in [
        ("m[0] = a[0];", "elements of `m` are truth values"),
        ("m[0] += s[0];", "elements of `m` are truth values"),
        ("m[0..+8] = a[0..+4] > 1;", "expected 8 lanes, found 4"),
        (
            "var t: bool = s[0]; m[0] = t;",
            "`bool` is the type of arrays alone",
        ),
    ] {
        let log = messages(&with(wrong));
        assert!(log.contains(message), "{wrong}: {log}");
    }
}

#[test]
fn a_range_of_several_dimensions_is_its_rows() {
    let text = "\
kernel f(a: in u8[4, 6], o: inout u8[6, 4]) {
  o[1..+2 by 2, 0..+4] += a[2..+2, 5..+4 by -1] + 1;
}
";
    let (kernels, diagnostics) = check_source("k.kernel", text);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let a: Vec<i128> = (0..24).collect();
    let data = crate::eval::Data {
        arrays: [("a".to_owned(), a), ("o".to_owned(), vec![100; 24])].into(),
        ..crate::eval::Data::default()
    };
    let result = crate::eval::run(&kernels[0], &data).expect("it runs");
    let mut expected = vec![100; 24];
    for (row, from) in [(1, 2), (3, 3)] {
        for x in 0..4 {
            expected[4 * row + x] += 6 * i128::from(from) + 5 - x as i128 + 1;
        }
    }
    assert_eq!(result.arrays["o"], expected);
    let clamped = "kernel f(n: size, o: out u8[n, n]) { o.clamped[0..+2, 0..+2] = 1; }";
    let (_, diagnostics) = check_source("k.kernel", clamped);
    let log = semantics::diagnostic::lines(&diagnostics);
    assert!(log.contains("store each row for itself"), "{log}");
}

#[test]
fn misspelt_operations_and_conversions_are_named() {
    for (wrong, meant) in [
        ("i8_sta(a[0])", "i8_sat"),
        ("u16_bist(a[0])", "u16_bits"),
        ("popcont(a[0])", "popcount"),
    ] {
        let log = messages(&format!(
            "kernel k(a: in i16[8], o: out i16[8]) {{ o[0] = {wrong}; }}\n"
        ));
        let hint = format!("did you mean `{meant}`?");
        assert!(log.contains(&hint), "{wrong}: {log}");
    }
}

#[test]
fn what_is_missing_is_named_where_it_is_missing() {
    let head = "kernel k(a: in i16[64], o: out i16[64]) {";
    for (body, wanted, found) in [
        ("fn f(x: i16) { x }", "`->`", "{"),
        ("fn f(x: i16) = x;", "`->`", "="),
        ("fn f(x: i16 -> i16 { x }", "`)`", "-"),
        ("fn f(x i16) -> i16 { x }", "`:`", "i16"),
        ("fn f(x: i16) -> i16 x;", "`=` or `{`", "x"),
        ("let x 3;", "`=`", "3"),
        ("var x i16 = 1;", "`:`", "i16"),
        ("for i 0..4 { o[i] = 1; }", "`in`", "0"),
        ("for i in 0 to 4 { o[i] = 1; }", "`..`", "to"),
        ("for i in 0..4 o[i] = 1;", "`{`", "o"),
        ("o[0] = (1 + 2;", "`)`", ";"),
        ("o[0] = min(1, 2;", "`)`", ";"),
        ("o[0 = 1;", "`]`", "="),
        ("o[0] = 1 o[1] = 2;", "`;`", "o"),
    ] {
        let text = format!("{head}\n  {body}\n}}\n");
        let (_, diagnostics) = check_source("k.kernel", &text);
        let message = &diagnostics[0].message;
        let tail = format!(", found `{found}`");
        let names_it = message.starts_with("expected ") && message.contains(wanted);
        assert!(names_it && message.ends_with(&tail), "{body}: {message}");
    }
}

#[test]
fn types_that_somebody_meant() {
    let hint = |ty: &str| {
        let text = format!("kernel k(n: size, a: in u8[n], o: out {ty}[n]) {{}}");
        let (_, wrong) = crate::check_source("k.kernel", &text);
        let log = semantics::diagnostic::render(&wrong);
        let hint = log.lines().find_map(|l| l.split_once("hint: "));
        hint.map_or(String::new(), |(_, hint)| hint.to_owned())
    };
    for (typed, meant) in [
        ("szie", "size"),
        ("siez", "size"),
        ("i61", "i16"),
        ("uint8_t", "u8"),
        ("float", "f32"),
        ("uu8", "u8"),
        ("fp32", "f32"),
    ] {
        assert_eq!(hint(typed), format!("did you mean `{meant}`?"), "{typed}");
    }
    // Another number is no slip.
    for typed in ["u24", "i128", "u9", "pixel"] {
        assert!(hint(typed).starts_with("types are i8, "), "{typed}");
    }
}

#[test]
fn what_other_languages_write_is_told_as_it_is_written_here() {
    let body = |body: &str| {
        format!(
            "kernel k(n: size, a: in u8[n], o: out u8[n]) {{\n  for x in 0..n {{ {body} }}\n}}\n"
        )
    };
    for (text, wanted) in [
        (body("o[x] = a[x] > 3 ? 1 : 0;"), "`select(c, a, b)`"),
        (body("if a[x] > 3 { o[x] = 1; }"), "there are no branches"),
        (body("if (a[x] > 3) { o[x] = 1; }"), "there are no branches"),
        (body("while x < 3 { o[x] = 1; }"), "loops are counted"),
        (body("o[x] = a[x]; return;"), "has no `return`"),
        (body("o[x]++;"), "`x += 1`"),
        (body("o[x] -= a[x];"), "`x = x - y`"),
        (body("o[x] = a[x] ** 2;"), "`x * x`"),
        (body("o[x] = (u8)a[x];"), "`i16(x)`"),
        (body("o[x] = a[x] & 1u;"), "have no suffix"),
        (body("o[x][0] = a[x];"), "`a[y, x]`"),
        (body("o[x] = a[x]; /* c */"), "begins with `//`"),
        (body("o[x] =\u{a0}a[x];"), "U+00A0: write a blank"),
        (body("o[x] = a[x] \u{2212} 1;"), "U+2212: write `-`"),
        (body("var s = 0; o[x] = a[x];"), "`var s: i32 = 0;`"),
        (
            body("o[x] = add_sat(a[x], a[x]);"),
            "did you mean `sat_add`?",
        ),
        (
            body("o[x] = select(a[x] > 3 == TRUE, a[x], 0);"),
            "did you mean `true`?",
        ),
        (body("o[x] = a[x] * 0.5;"), "`u8(f32(..) * 0.5)`"),
        (body("o[x] = u8(round(f32(a[x])));"), "`round_even(x)`"),
        (
            body("o[x] = u8(fabs(f32(a[x])));"),
            "`select(x < 0.0, -x, x)`",
        ),
        (body("o[x] = count_ones(a[x]);"), "`popcount(x)`"),
        (body("o[x] = rotl(a[x], 3);"), "`x << 3 | x >> 29`"),
        (body("o[x] = where(a[x] > 3, 1, 0);"), "`select(c, a, b)`"),
        (
            body("for (int i = 0; i < n; i++) { o[i] = 1; }"),
            "`for x in 0..n { … }`",
        ),
        (body("for i in 0..=n { o[x] = 1; }"), "`0..n + 1`"),
        ("void f(int n) {\n}\n".to_owned(), "a kernel is written"),
        ("# c\n".to_owned(), "begins with `//`"),
        ("// nothing\n".to_owned(), "there is no kernel"),
        (
            "kernel k(o: out u8[4]) {\n  for x in 0..4 { o[x] = 1;\n}\n".to_owned(),
            "that of `kernel k",
        ),
        (
            "kernel k(o: out u8[m]) { for x in 0..m { o[x] = 1; } }\n".to_owned(),
            "`m: size`",
        ),
    ] {
        let (_, diagnostics) = crate::check_source("k.kernel", &text);
        let said = semantics::diagnostic::render(&diagnostics);
        assert!(said.contains(wanted), "{text}\nno `{wanted}` in\n{said}");
        assert_eq!(diagnostics.len(), 1, "one mistake is told once:\n{said}");
    }
}

#[test]
fn what_is_suggested_is_right_when_it_is_written() {
    let text = "kernel k(n: size, a: in u8[n], o: out u8[n]) {\n  for x in 0..n { o[x] = u8(f32(a[x]) * 0.5); }\n}\n";
    assert!(crate::check_source("k.kernel", text).1.is_empty());
}
