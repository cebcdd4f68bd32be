//! Directives that change buffers: what they make, that it computes the same, and what they
//! refuse.

use super::nests::{makes, refuses};
use expect_test::expect;

#[test]
fn stage_mem() {
    makes(
        r#"kernel k(m: size, n: size, a: in i32[m, n], b: in i32[n], c: inout i32[m]) requires m % 4 == 0, n % 4 == 0 {
  for y in 0..m {
    for x in 0..n {
      c[y] += a[y, x] * b[x];
    }
  }
} schedule { tile y, x by 4, 4 into yo, xo; stage_mem c over xo as t; stage_mem a over y as s; }
"#,
        expect![[r#"
            for yo in 0..m step 4 {
              var t: i32[4];
              for t_i in 0..4 {
                t[t_i] = c[yo + t_i];
              }
              for xo in 0..n step 4 {
                var s: i32[4, 4];
                for s_i in 0..4 {
                  for s_j in 0..4 {
                    s[s_i, s_j] = a[yo + s_i, xo + s_j];
                  }
                }
                for y in yo..yo + 4 {
                  for x in xo..xo + 4 {
                    t[y - yo] += s[y - yo, x - xo] * b[x];
                  }
                }
              }
              for t_i in 0..4 {
                c[yo + t_i] = t[t_i];
              }
            }
        "#]],
    );
}

#[test]
fn stage_mem_refused() {
    refuses(
        r#"kernel k(m: size, n: size, a: in i32[m, n], b: in i32[n], c: inout i32[m]) requires m % 4 == 0, n % 4 == 0 {
  for y in 0..m {
    for x in 0..n {
      c[y] += a[y, x] * b[x];
    }
  }
} schedule { stage_mem c over y as t; }
"#,
        expect![[r#"
            error: `stage_mem c over y as t` is refused: how much of `c` the loop touches depends on how often `y` runs
             --> k.kernel:4:8
              |
            4 |       c[y] += a[y, x] * b[x];
              |        ^^^
              = note: stage inside `y`, or cut it into blocks of a constant number: `tile y by 4 into yo`
              = note: the directive stands at line 7, column 14

        "#]],
    );
}

#[test]
fn stage_mem_outside() {
    refuses(
        r#"kernel k(n: size, a: in i32[n], c: inout i32[n]) {
  for y in 0..n {
    c[0] += a[y];
  }
} schedule { stage_mem c over y as t; }
"#,
        expect![[r#"
            error: `stage_mem c over y as t` is refused: it does not follow that the window of 1 elements in dimension 0 is inside `c`
             --> k.kernel:2:7
              |
            2 |   for y in 0..n {
              |       ^
              = note: at n = 0: it would be 0..1 of 0 elements
              = note: the directive stands at line 5, column 14

        "#]],
    );
}

#[test]
fn expand_dim() {
    makes(
        r#"kernel k(m: size, n: size, a: in i32[m, n], c: out i32[m]) {
  for y in 0..m {
    var s: i32 = 0;
    for x in 0..n {
      s += a[y, x];
    }
    c[y] = s;
  }
} schedule { expand_dim s by y; lift_alloc s; fission y after x into y1, y2; fission y1 after s; }
"#,
        expect![[r#"
            var s: i32[m];
            for y1 in 0..m {
              s[y1] = 0;
            }
            for y1 in 0..m {
              for x in 0..n {
                s[y1] += a[y1, x];
              }
            }
            for y2 in 0..m {
              c[y2] = s[y2];
            }
        "#]],
    );
}

#[test]
fn expand_dim_refused() {
    refuses(
        r#"kernel k(n: size, a: in i32[n], c: out i32[n]) {
  var s: i32 = 0;
  for x in 0..n {
    s += a[x];
    c[x] = s;
  }
} schedule { expand_dim s by x; }
"#,
        expect![[r#"
            error: `expand_dim s by x` is refused: no loop `x` is around all that touches `s`
             --> k.kernel:1:8
              |
            1 | kernel k(n: size, a: in i32[n], c: out i32[n]) {
              |        ^
              = note: the directive stands at line 7, column 14

        "#]],
    );
}

#[test]
fn lift_alloc() {
    makes(
        r#"kernel k(m: size, n: size, a: in i32[m, n], c: out i32[m]) {
  for y in 0..m {
    var s: i32 = 0;
    for x in 0..n {
      s += a[y, x];
    }
    c[y] = s;
  }
} schedule { expand_dim s by y; lift_alloc s; }
"#,
        expect![[r#"
            var s: i32[m];
            for y in 0..m {
              s[y] = 0;
              for x in 0..n {
                s[y] += a[y, x];
              }
              c[y] = s[y];
            }
        "#]],
    );
}

#[test]
fn lift_alloc_refused() {
    refuses(
        r#"kernel k(m: size, n: size, a: in i32[m, n], c: out i32[m]) {
  for y in 0..m {
    var s: i32 = 0;
    for x in 0..n {
      s += a[y, x];
    }
    c[y] = s;
  }
} schedule { expand_dim s by y; lift_alloc s; lift_alloc s; }
"#,
        expect![[r#"
            error: `lift_alloc s` is refused: `s` is made before all loops already
             --> k.kernel:2:7
              |
            2 |   for y in 0..m {
              |       ^
              = note: the directive stands at line 9, column 47

        "#]],
    );
}

#[test]
fn set_memory() {
    makes(
        r#"kernel k(m: size, n: size, a: in i32[m, n], c: out i32[m]) {
  for y in 0..m {
    var s: i32 = 0;
    for x in 0..n {
      s += a[y, x];
    }
    c[y] = s;
  }
} schedule { expand_dim s by y; set_memory s in m; }
"#,
        expect![[r#"
            for y in 0..m {
              var s: i32[m];  // in m
              s[y] = 0;
              for x in 0..n {
                s[y] += a[y, x];
              }
              c[y] = s[y];
            }
        "#]],
    );
}

#[test]
fn set_memory_refused() {
    refuses(
        r#"kernel k(m: size, n: size, a: in i32[m, n], c: out i32[m]) {
  for y in 0..m {
    var s: i32 = 0;
    for x in 0..n {
      s += a[y, x];
    }
    c[y] = s;
  }
} schedule { set_memory c in m; }
"#,
        expect![[r#"
            error: `set_memory c in m` is refused: `c` is a parameter: it lives in main memory, as it was given
             --> k.kernel:1:45
              |
            1 | kernel k(m: size, n: size, a: in i32[m, n], c: out i32[m]) {
              |                                             ^
              = note: a part of it gets a place of its own by `stage_mem c over x as t`
              = note: the directive stands at line 9, column 14

        "#]],
    );
}

#[test]
fn unroll_buffer() {
    makes(
        r#"kernel k(n: size, a: in i32[4, n], c: out i32[4]) {
  for y in 0..4 {
    var s: i32 = 0;

    for x in 0..n {
      s += a[y, x];
    }
    c[y] = s;
  }
} schedule { expand_dim s by y; lift_alloc s; unroll y; unroll_buffer s; }
"#,
        expect![[r#"
            var s_0: i32[1];
            var s_1: i32[1];
            var s_2: i32[1];
            var s_3: i32[1];
            s_0[0] = 0;
            for x in 0..n {
              s_0[0] += a[0, x];
            }
            c[0] = s_0[0];
            s_1[0] = 0;
            for x in 0..n {
              s_1[0] += a[1, x];
            }
            c[1] = s_1[0];
            s_2[0] = 0;
            for x in 0..n {
              s_2[0] += a[2, x];
            }
            c[2] = s_2[0];
            s_3[0] = 0;
            for x in 0..n {
              s_3[0] += a[3, x];
            }
            c[3] = s_3[0];
        "#]],
    );
}

#[test]
fn unroll_buffer_refused() {
    refuses(
        r#"kernel k(n: size, a: in i32[4, n], c: out i32[4]) {
  for y in 0..4 {
    var s: i32 = 0;
    for x in 0..n {
      s += a[y, x];
    }
    c[y] = s;
  }
} schedule { expand_dim s by y; lift_alloc s; unroll_buffer s; }
"#,
        expect![[r#"
            error: `unroll_buffer s` is refused: the index `y` of `s` is no number
             --> k.kernel:2:7
              |
            2 |   for y in 0..4 {
              |       ^
              = note: y = 0 and y = 1 touch different parts
              = note: write out the loop first: `unroll y`
              = note: the directive stands at line 9, column 47

        "#]],
    );
}

#[test]
fn increment() {
    makes(
        r#"kernel k(m: size, n: size, a: in i32[m, n], b: in i32[n], c: inout i32[m]) requires m % 4 == 0, n % 4 == 0 {
  for y in 0..m {
    for x in 0..n {
      c[y] += a[y, x] * b[x];
    }
  }
} schedule { increment x; }
"#,
        expect![[r#"
            for y in 0..m {
              for x in 0..n {  // addresses move on
                c[y] += a[y, x] * b[x];
              }
            }
        "#]],
    );
}

#[test]
fn increment_refused() {
    refuses(
        r#"kernel k(n: size, a: in i32[n], c: out i32[n]) {
  for x in 0..n {
    c[x] = a[x / 2];
  }
} schedule { increment x; }
"#,
        expect![[r#"
            error: `increment x` is refused: the address of `a` does not move on by the same amount each time
             --> k.kernel:3:13
              |
            3 |     c[x] = a[x / 2];
              |             ^^^^^^^
              = note: its index is `x/2`
              = note: at n = 3: it is 0 at x = 0, 0 at x = 1, 1 at x = 2
              = note: `partition x` where the steps change first
              = note: the directive stands at line 5, column 14

        "#]],
    );
}
