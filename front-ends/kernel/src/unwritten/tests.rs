//! Kernels that read what nobody wrote, and kernels that look as if they did.

use crate::check_source;
use crate::data::{Limits, generate};
use crate::eval::run;
use expect_test::expect;

/// Statements of a kernel on `a`, `t` and `m`, with the array `o` (and `c` of 256) of `out`.
fn kernel(body: &str) -> String {
    let head = "kernel k(n: size, a: in i32[n], m: in i32[n, n], t: in u8[n], o: out i32[n], \
                c: out u32[256], s: out i32[1], q: out i32[n, n])";
    let requires = "requires n % 4 == 0, n >= 4";
    format!("{head}\n  {requires} {{\n{body}\n}}\n")
}

/// Each starts with the element that is told.
const WRONG: [(&str, &str); 17] = [
    ("o[0]", "for x in 0..n { o[x] += a[x]; }"),
    ("o[0]", "for x in 0..n { o[x] = max(o[x], a[x]); }"),
    (
        "o[0]",
        "for x in 0..n step 4 { o[x..+4] = a[x..+4] + o[x..+4]; }",
    ),
    ("s[0]", "for x in 0..n { s[0] += a[x]; }"),
    ("o[0]", "for x in 1..n { o[x] = o[x - 1] + a[x]; }"),
    (
        "o[3]",
        "for x in 0..n step 4 { o[x..+3] = a[x..+3]; }\nfor y in 0..n { o[y] += 1; }",
    ),
    (
        "o[1]",
        "for x in 0..n / 2 { o[2*x] = a[x]; }\nfor y in 0..n { o[y] += 1; }",
    ),
    (
        "o[1]",
        "o[0] = a[0];\nfor x in 0..n - 1 { o[x] = o[x + 1] + a[x]; }",
    ),
    (
        "q[0, 0]",
        "for i in 0..n { for j in 0..n { for k in 0..n { q[i, j] += m[i, k] * m[k, j]; } } }",
    ),
    (
        "q[0, 1]",
        "for i in 0..n { q[i, i] = 0; }\nfor x in 0..n { for y in 0..n { q[x, y] += m[x, y]; } }",
    ),
    (
        "q[1, 0]",
        "for i in 0..n { for j in i..n { q[i, j] = m[i, j]; } }\n\
         for x in 0..n { for y in 0..n { o[x] = q[x, y]; } }",
    ),
    (
        "c[0]",
        "for x in 0..n { for i in 0..256 at t[x] { c[i] += 1; } }",
    ),
    (
        "c[255]",
        "for z in 0..255 { c[z] = 0; }\nfor x in 0..n { c[255] += u32(t[x]); }",
    ),
    (
        "w[0]",
        "var w: i32[n];\nfor x in 0..n { w[x] += a[x]; }\nfor y in 0..n { o[y] = w[y]; }",
    ),
    (
        "w[0]",
        "var w: i32[n];\nlet t = w[0];\nfor x in 0..n { o[x] = a[x] + t; }",
    ),
    (
        "o[0]",
        "for x in 0..n { let t = o[x]; o[x] = a[x]; s[0] = t; }",
    ),
    (
        "c[0]",
        "for x in 0..n { for i in 0..200 at i32(t[x]) { c[i] += 1; } }",
    ),
];

/// What is written comes first, or a read depends on data.
const RIGHT: [&str; 16] = [
    "for x in 0..n { o[x] = 0; }\nfor y in 0..n { o[y] += a[y]; }",
    "for i in 0..n { for j in 0..n { q[i, j] = 0; for k in 0..n { q[i, j] += m[i, k] * m[k, j]; } } }",
    "s[0] = 0;\nfor x in 0..n { s[0] += a[x]; }",
    "o[0] = a[0];\nfor x in 1..n { o[x] = o[x - 1] + a[x]; }",
    "for x in 0..n { for y in 0..x { q[x, y] = o[y]; } o[x] = a[x]; }",
    "for x in 0..n step 4 { o[x..+4] = a[x..+4]; }\nfor y in 0..n { o[y] += 1; }",
    "for x in 0..n / 4 { for l in 0..4 { o[4*x + l] = 0; } }\nfor y in 0..n { o[y] += a[y]; }",
    "for z in 0..256 { c[z] = 0; }\nfor x in 0..n { for i in 0..256 at t[x] { c[i] += 1; } }",
    "for x in 0..n { for i in 0..n at a[x] { o[i] = i32(x); } }",
    "for x in 0..n { for i in 0..n at a[x] { o[i] = i32(x); for j in 0..n at a[x] { s[0] = o[j]; } } }",
    "for x in 0..n { for i in 0..4 at t[x] { for j in 4..8 at t[x] { c[i] = c[j]; } } }",
    "var w: i32[n];\nfor x in 0..n { w[x] = a[x] * 2; }\nfor y in 0..n { o[y] = w[n - 1 - y]; }",
    "o[n - 1] = a[n - 1];\nfor x in 0..n - 1 { o[n - 2 - x] = o[n - 1 - x] + a[x]; }",
    "for x in 0..n / 2 { o[2*x] = a[x]; o[2*x + 1] = a[x]; }\nfor y in 0..n { o[y] += o.clamped[y + 1]; }",
    "for x in 0..n { o[x] = a[x]; }\nfor y in 0..n - 4 step 4 { o[y..+4] += o[y + 4..+4]; }",
    "for x in 0..n { for y in 0..n - x { q[x, y + x] = m[x, y]; } for z in x..n { o[z] = q[x, z]; } }",
];

#[test]
fn what_is_read_before_it_is_written_is_told() {
    for (element, body) in WRONG {
        let text = kernel(body);
        let (kernels, wrong) = check_source("k.kernel", &text);
        assert!(kernels.is_empty() && wrong.len() == 1, "{body}\n{wrong:?}");
        let message = format!("`{element}` is read before anything is written to it");
        assert_eq!(wrong[0].message, message, "{body}");
        let (_, span) = wrong[0].place.as_ref().expect("it has a place");
        assert!(text[..span.start].ends_with(&element[..1]), "{body}");
    }
}

/// The evaluator is asked too: what is told is what it stops at, and what it runs is not told.
#[test]
fn what_is_right_is_left_alone() {
    for body in RIGHT {
        let (kernels, wrong) = check_source("k.kernel", &kernel(body));
        assert!(wrong.is_empty(), "{body}\n{}", wrong[0].message);
        for seed in 0..20 {
            let data = generate(&kernels[0], seed, &Limits::default()).expect("sizes are found");
            run(&kernels[0], &data).unwrap_or_else(|e| panic!("{body}\n{e}"));
        }
    }
}

#[test]
fn the_mend_is_what_the_array_may_be() {
    let text = "\
kernel k(n: size, a: in u8[n], o: out u8[n]) {
  var w: u8[n];
  for x in 0..n {
    o[x] += a[x];
    w[x] = w[x] + 1;
  }
}
";
    let (_, wrong) = check_source("k.kernel", text);
    expect![[r#"
        error: `o[0]` is read before anything is written to it
         --> k.kernel:4:6
          |
        4 |     o[x] += a[x];
          |      ^^^
          = note: for example at n = 3, x = 0
          = hint: what an `out` array held does not matter: set it before it is added to, or declare `o` as `inout`

        error: `w[0]` is read before anything is written to it
         --> k.kernel:5:13
          |
        5 |     w[x] = w[x] + 1;
          |             ^^^
          = note: for example at n = 3, x = 0
          = hint: an array of the kernel's own holds nothing at first: write it before

    "#]].assert_eq(&semantics::diagnostic::render(&wrong));
}

/// A walk over a large kernel ends, and finds what is near.
#[test]
fn large_kernels_are_looked_at_for_a_short_time() {
    let text = "kernel k(a: in i8[4096, 4096], o: out i32[4096, 4096]) {\n\
        for x in 0..4096 { for y in 0..4096 { o[x, y] = 0; } }\n\
        for i in 0..4096 { for j in 0..4096 { o[i, j] += i32(a[i, j]); } }\n}";
    let (kernels, wrong) = check_source("k.kernel", text);
    assert!(kernels.len() == 1 && wrong.is_empty());
    let (_, wrong) = check_source("k.kernel", &text.replace("o[x, y] = 0", "let t = a[x, y]"));
    assert_eq!(wrong.len(), 1);
}
