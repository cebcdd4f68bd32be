//! Bounds that are proved, and those that are refused with a witness.

use crate::check_source;
use expect_test::{Expect, expect};

fn check(text: &str, expected: Expect) {
    let (_, diagnostics) = check_source("k.kernel", text);
    expected.assert_eq(&semantics::diagnostic::render(&diagnostics));
}

#[test]
fn a_step_that_may_pass_the_end_is_shown_by_an_iteration() {
    check(
        "kernel k(n: size, a: in u8[n], b: out u8[n]) {\n  for x in 0..n step 16 { b[x..+16] = a[x..+16]; }\n}\n",
        expect![[r#"
            error: index 15 is outside dimension 0 of `b`, which has 3 elements
             --> k.kernel:2:28
              |
            2 |   for x in 0..n step 16 { b[x..+16] = a[x..+16]; }
              |                            ^^^^^^^^
              = note: for example at n = 3, x = 0
              = hint: state what holds of the sizes in `requires`, for example that they are multiples of 16

            error: index 15 is outside dimension 0 of `a`, which has 3 elements
             --> k.kernel:2:40
              |
            2 |   for x in 0..n step 16 { b[x..+16] = a[x..+16]; }
              |                                        ^^^^^^^^
              = note: for example at n = 3, x = 0
              = hint: state what holds of the sizes in `requires`, for example that they are multiples of 16

        "#]],
    );
}

#[test]
fn a_stencil_that_leaves_the_array() {
    check(
        "kernel k(h: size, w: size, a: in u8[h, w], b: out u8[h, w]) {\n  for y in 0..h { for x in 0..w { b[y, x] = max(a[y, x], a[y - 1, x]); } }\n}\n",
        expect![[r#"
            error: index -1 is outside dimension 0 of `a`, which has 3 elements
             --> k.kernel:2:59
              |
            2 |   for y in 0..h { for x in 0..w { b[y, x] = max(a[y, x], a[y - 1, x]); } }
              |                                                           ^^^^^^^^^^
              = note: for example at h = 3, w = 4, y = 0, x = 0
              = hint: state what holds of the sizes in `requires`, or use `.clamped[..]`

        "#]],
    );
}

#[test]
fn clamped_and_guarded_accesses_are_accepted() {
    check(
        "kernel k(h: size, w: size, a: in u8[h, w], b: out u8[h, w]) {\n  for y in 0..h { for x in 0..w { b[y, x] = max(a.clamped[y+1, x-1], a[min(y+1, h-1), x]); } }\n}\n",
        expect![[""]],
    );
}

#[test]
fn contradictory_preconditions_and_negative_dimensions() {
    check(
        "kernel k(n: size) requires n < 4, n > 8 {}\nkernel l(n: size, a: in u8[n - 2]) {}\n",
        expect![[r#"
        error: no sizes satisfy the preconditions of `k`
         --> k.kernel:1:8
          |
        1 | kernel k(n: size) requires n < 4, n > 8 {}
          |        ^

        error: dimension `n - 2` of `a` may be negative
         --> k.kernel:2:19
          |
        2 | kernel l(n: size, a: in u8[n - 2]) {}
          |                   ^
          = hint: add a precondition: `requires n - 2 >= 0`

    "#]],
    );
}
