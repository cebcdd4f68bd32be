//! Directives that change nests: what they make, that it computes the same, and
//! what they refuse.

use expect_test::{Expect, expect};
use kernel::data::{Limits, fill, generate, numbers, sizes};
use kernel::{eval, show};
use lowering::{lower, replay};
use schedule::apply;
use semantics::diagnostic::render;
use semantics::span::Source;

fn read(text: &str) -> kernel::tree::Kernel {
    let (mut kernels, diagnostics) = kernel::read(&Source::new("k.kernel", text));
    assert!(diagnostics.is_empty(), "{}", render(&diagnostics));
    kernels.remove(0)
}

/// The nest that a schedule makes; on many sizes and data it computes what the algorithm does,
/// statement by statement and lowered. The evaluator tells also of what is read before it is
/// written and of indices outside.
pub(super) fn makes(text: &str, expected: Expect) {
    let kernel = read(text);
    let scheduled = apply(&kernel).unwrap_or_else(|d| panic!("{}", render(&d)));
    let after = scheduled.kernel();
    expected.assert_eq(&show::body(after));
    let lowered = lower(&scheduled).unwrap_or_else(|d| panic!("{}", render(&d)));
    let mut runs = 0;
    for seed in 0..40 {
        let limits = Limits {
            size: 24,
            elements: 1 << 12,
        };
        let small = sizes(&kernel, &mut numbers(seed), &limits)
            .map(|s| fill(&kernel, &s, &mut numbers(seed)));
        let Some(data) = small.or_else(|| generate(&kernel, seed, &limits)) else {
            continue;
        };
        let oracle = eval::run(&kernel, &data).expect("the algorithm runs");
        let direct = eval::run(after, &data).unwrap_or_else(|e| panic!("{e}, {:?}", data.sizes));
        assert_eq!(direct, oracle, "{:?}", data.sizes);
        let replayed = replay::run(&lowered, &data).expect("it runs");
        assert_eq!(replayed, oracle, "lowered, {:?}", data.sizes);
        runs += 1;
    }
    assert!(runs > 20, "only {runs} runs");
}

pub(super) fn refuses(text: &str, expected: Expect) {
    let kernel = read(text);
    let found = apply(&kernel).err().unwrap_or_default();
    expected.assert_eq(&render(&found));
}

#[test]
fn tile() {
    makes(
        r#"kernel k(m: size, n: size, a: in i32[m, n], b: in i32[n], c: inout i32[m]) requires m % 4 == 0, n % 4 == 0 {
  for y in 0..m {
    for x in 0..n {
      c[y] += a[y, x] * b[x];
    }
  }
} schedule { tile y, x by 4, 2 into yo, xo; }
"#,
        expect![[r#"
            for yo in 0..m step 4 {
              for xo in 0..n step 2 {
                for y in yo..yo + 4 {
                  for x in xo..xo + 2 {
                    c[y] += a[y, x] * b[x];
                  }
                }
              }
            }
        "#]],
    );
}

#[test]
fn tile_refused() {
    refuses(
        r#"kernel k(m: size, n: size, a: in i32[m, n], b: in i32[n], c: inout i32[m]) {
  for y in 0..m {
    for x in 0..n {
      c[y] += a[y, x] * b[x];
    }
  }
} schedule { tile y, x by 4, 2 into yo, xo; }
"#,
        expect![[r#"
            error: `tile y, x by 4, 2 into yo, xo` is refused: it does not follow that 4 divides `m`, the length of `y`
             --> k.kernel:2:7
              |
            2 |   for y in 0..m {
              |       ^
              = note: at m = 3, n = 4: 3 iterations of `y` are left over
              = note: require it (`requires m % 4 == 0`, rows padded where they are not), or cut off the rest by `split y by 4 into ..`
              = note: the directive stands at line 7, column 14

        "#]],
    );
}

#[test]
fn tile_not_nested() {
    refuses(
        r#"kernel k(m: size, n: size, a: in i32[m, n], c: out i32[m]) requires m % 4 == 0, n % 4 == 0 {
  for y in 0..m {
    var s: i32 = 0;
    for x in 0..n {
      s += a[y, x];
    }
    c[y] = s;
  }
} schedule { tile y, x by 4, 4 into yo, xo; }
"#,
        expect![[r#"
            error: `tile y, x by 4, 4 into yo, xo` is refused: `x` is not the one statement of `y`
             --> k.kernel:2:7
              |
            2 |   for y in 0..m {
              |       ^
              = note: put the other statements into a loop of their own first: `fission y after ..`
              = note: the directive stands at line 9, column 14

        "#]],
    );
}

#[test]
fn fission() {
    makes(
        r#"kernel k(n: size, a: in i32[n], b: inout i32[n + 1], c: out i32[n]) {
  for x in 0..n {
    b[x] = a[x] * 3;
    c[x] = b[x] + 1;
  }
} schedule { fission x after b into x1, x2; }
"#,
        expect![[r#"
            for x1 in 0..n {
              b[x1] = a[x1] * 3;
            }
            for x2 in 0..n {
              c[x2] = b[x2] + 1;
            }
        "#]],
    );
}

#[test]
fn fission_refused() {
    refuses(
        r#"kernel k(n: size, a: in i32[n], b: inout i32[n + 1], c: out i32[n]) {
  for x in 0..n {
    b[x] = a[x] * 3;
    c[x] = b[x + 1];
  }
} schedule { fission x after b; }
"#,
        expect![[r#"
            error: `fission x after b` is refused: the two parts may touch one element of `b` in iterations that change places
             --> k.kernel:3:6
              |
            3 |     b[x] = a[x] * 3;
              |      ^^^
              = note: x = 2 and x = 1 both touch b[2] (at n = 3)
              = note: the directive stands at line 6, column 14

        "#]],
    );
}

#[test]
fn fission_of_a_value() {
    refuses(
        r#"kernel k(n: size, a: in i32[n], c: out i32[n]) {
  for x in 0..n {
    let t = a[x] * 3;
    c[x] = t + t;
  }
} schedule { fission x after t; }
"#,
        expect![[r#"
            error: `fission x after t` is refused: `t` goes from one part of the loop to the other
             --> k.kernel:4:12
              |
            4 |     c[x] = t + t;
              |            ^
              = note: give each iteration its own: `expand_dim t by x` before this
              = note: the directive stands at line 6, column 14

        "#]],
    );
}

#[test]
fn fission_of_an_expanded_value() {
    makes(
        r#"kernel k(n: size, a: in i32[n], c: out i32[n]) {
  for x in 0..n {
    let t = a[x] * 3;
    c[x] = t + t;
  }
} schedule { expand_dim t by x; lift_alloc t; fission x after t; }
"#,
        expect![[r#"
            var t: i32[n];
            for x in 0..n {
              t[x] = a[x] * 3;
            }
            for x in 0..n {
              c[x] = t[x] + t[x];
            }
        "#]],
    );
}

#[test]
fn fuse() {
    makes(
        r#"kernel k(n: size, a: in i32[n], b: out i32[n], c: out i32[n]) {
  for x in 0..n {
    b[x] = a[x] * 3;
  }
  for z in 0..n {
    c[z] = a[z] + 1;
  }
} schedule { fuse x, z; }
"#,
        expect![[r#"
            for x in 0..n {
              b[x] = a[x] * 3;
              c[x] = a[x] + 1;
            }
        "#]],
    );
}

#[test]
fn fuse_refused() {
    refuses(
        r#"kernel k(n: size, a: in i32[n], b: out i32[n + 1], c: out i32[n]) {
  for x in 0..n {
    b[x] = a[x] * 3;
  }
  for z in 0..n {
    c[z] = b[z] + b[n - 1 - z];
  }
} schedule { fuse x, z; }
"#,
        expect![[r#"
            error: `fuse x, z` is refused: the two parts may touch one element of `b` in iterations that change places
             --> k.kernel:3:6
              |
            3 |     b[x] = a[x] * 3;
              |      ^^^
              = note: x = 2 and x = 0 both touch b[2] (at n = 3)
              = note: the directive stands at line 8, column 14

        "#]],
    );
}

#[test]
fn fuse_other_bounds() {
    refuses(
        r#"kernel k(n: size, a: in i32[n], b: out i32[n], c: out i32[n]) {
  for x in 0..n {
    b[x] = a[x] * 3;
  }
  for z in 0..n/2 {
    c[z] = a[z] + 1;
  }
} schedule { fuse x, z; }
"#,
        expect![[r#"
            error: `fuse x, z` is refused: `x` and `z` do not end together
             --> k.kernel:5:7
              |
            5 |   for z in 0..n/2 {
              |       ^
              = note: at n = 3: one at 3 and the other at 1
              = note: the directive stands at line 8, column 14

        "#]],
    );
}

#[test]
fn reorder_stmts() {
    makes(
        r#"kernel k(n: size, a: in i32[n], b: inout i32[n + 1], c: out i32[n]) {
  for x in 0..n {
    b[x] = a[x] * 3;
    c[x] = a[x] + 1;
  }
} schedule { reorder_stmts b, c; }
"#,
        expect![[r#"
            for x in 0..n {
              c[x] = a[x] + 1;
              b[x] = a[x] * 3;
            }
        "#]],
    );
}

#[test]
fn reorder_stmts_refused() {
    refuses(
        r#"kernel k(n: size, a: in i32[n], b: inout i32[n + 1], c: out i32[n]) {
  for x in 0..n {
    b[x] = a[x] * 3;
    c[x] = b[x] + 1;
  }
} schedule { reorder_stmts b, c; }
"#,
        expect![[r#"
            error: `reorder_stmts b, c` is refused: the statements may touch one element of `b`
             --> k.kernel:3:6
              |
            3 |     b[x] = a[x] * 3;
              |      ^^^
              = note: both touch b[0] (at n = 3)
              = note: the directive stands at line 6, column 14

        "#]],
    );
}

#[test]
fn remove_loop() {
    makes(
        r#"kernel k(n: size, m: size, a: in i32[n], c: out i32[n]) requires m >= 1 {
  for x in 0..n {
    for y in 0..m {
      c[x] = a[x] * 3;
    }
  }
} schedule { remove_loop y; }
"#,
        expect![[r#"
            for x in 0..n {
              c[x] = a[x] * 3;
            }
        "#]],
    );
}

#[test]
fn remove_loop_that_may_not_run() {
    refuses(
        r#"kernel k(n: size, m: size, a: in i32[n], c: out i32[n]) {
  for x in 0..n {
    for y in 0..m {
      c[x] = a[x] * 3;
    }
  }
} schedule { remove_loop y; }
"#,
        expect![[r#"
            error: `remove_loop y` is refused: it does not follow that `y` runs at least once
             --> k.kernel:3:9
              |
            3 |     for y in 0..m {
              |         ^
              = note: at n = 3, m = 0: it does not run at all
              = note: the directive stands at line 7, column 14

        "#]],
    );
}

#[test]
fn remove_loop_refused() {
    refuses(
        r#"kernel k(n: size, m: size, a: in i32[n], c: inout i32[n]) requires m >= 1 {
  for x in 0..n {
    for y in 0..m {
      c[x] += a[x];
    }
  }
} schedule { remove_loop y; }
"#,
        expect![[r#"
            error: `remove_loop y` is refused: a second iteration finds `c` as the first one left it
             --> k.kernel:4:7
              |
            4 |       c[x] += a[x];
              |       ^^^^^^^^^^^^^
              = note: y = 0 changes `c` and y = 1 changes it again
              = note: the directive stands at line 7, column 14

        "#]],
    );
}

#[test]
fn partition() {
    makes(
        r#"kernel k(n: size, a: in i32[n], c: out i32[n]) requires n >= 4, n <= 10000 {
  for x in 0..n {
    c[x] = select(i32(x + 2) < i32(n), a.clamped[x + 2], 7);
  }
} schedule { partition x at n - 2 into xi, xe; }
"#,
        expect![[r#"
            for xi in 0..n - 2 {
              c[xi] = a[xi + 2];
            }
            for xe in n - 2..n {
              c[xe] = 7;
            }
        "#]],
    );
}

#[test]
fn partition_refused() {
    refuses(
        r#"kernel k(n: size, a: in i32[n], c: out i32[n]) requires n <= 10000 {
  for x in 0..n {
    c[x] = select(i32(x + 2) < i32(n), a.clamped[x + 2], 7);
  }
} schedule { partition x at n - 2; }
"#,
        expect![[r#"
            error: `partition x at n - 2` is refused: it does not follow that `n - 2` is at least the first value of `x`
             --> k.kernel:2:7
              |
            2 |   for x in 0..n {
              |       ^
              = note: at n = 1: `n - 2` is -1 and `x` runs over 0..1
              = note: the directive stands at line 5, column 14

        "#]],
    );
}

#[test]
fn branch_free() {
    makes(
        r#"kernel k(n: size, a: in i32[n], c: out i32[n]) requires n >= 4, n <= 10000 {
  for x in 0..n {
    c[x] = select(i32(x + 2) < i32(n), a.clamped[x + 2], 7);
  }
} schedule { branch_free x; }
"#,
        expect![[r#"
            for x in 0..n {
              c[x] = 7 ^ (a[min(max(x + 2, 0), n - 1)] ^ 7) & -i32(i32(x + 2) < i32(n));
            }
        "#]],
    );
}

#[test]
fn branch_free_refused() {
    refuses(
        r#"kernel k(n: size, a: in i32[n], b: inout i32[n + 1], c: out i32[n]) {
  for x in 0..n {
    b[x] = a[x] * 3;
    c[x] = b[x] + 1;
  }
} schedule { branch_free x; }
"#,
        expect![[r#"
            error: `branch_free x` is refused: nothing is chosen by a condition in this loop
             --> k.kernel:2:7
              |
            2 |   for x in 0..n {
              |       ^
              = note: the directive stands at line 6, column 14

        "#]],
    );
}

#[test]
fn iterations_that_data_choose_stay_as_they_are() {
    let with = |directive: &str| {
        format!(
            "kernel k(n: size, a: in u8[n], o: inout i32[256], f: inout f32[n]) {{
  for x in 0..n {{
    let t = i32(a[x]);
    for i in 0..256 at t {{
      o[i] += t;
    }}
  }}
  for y in 0..n {{
    f[y] = exp(f[y]);
  }}
}} schedule {{ {directive}; }}
"
        )
    };
    for (directive, message) in [
        ("vectorize x by 8", "data choose the iteration of this loop"),
        ("unroll i by 2", "data choose the iteration of this loop"),
        ("interchange x, i", "data choose the iteration of this loop"),
        (
            "stage_mem o over x as s",
            "data choose the iteration of this loop",
        ),
        (
            "fission x after t",
            "data choose the iteration of this loop",
        ),
        (
            "expand_dim t by x",
            "data choose the iteration of this loop",
        ),
        ("fuse x, y", "data choose the iteration of this loop"),
        ("vectorize y by 8", "`exp` is computed one value at a time"),
    ] {
        let refused = apply(&read(&with(directive))).expect_err(directive);
        let log = semantics::diagnostic::lines(&refused);
        assert!(log.contains(message), "{directive}: {log}");
    }
    apply(&read(&with("unroll y by 2"))).expect("loops beside it may change");
}
