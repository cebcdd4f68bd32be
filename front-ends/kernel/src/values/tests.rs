//! Ranges hold the values that the evaluator computes, and are no wider than they have to be.

use super::Values;
use crate::check_source;
use crate::tree::{Kernel, Stmt};

fn range(value: &str) -> Option<(i128, i128)> {
    let text = format!(
        "kernel k(n: size, a: in u8[n], b: in i16[n], o: out i32[n]) {{ for x in 0..n {{ \
         let t: i32 = i32(a[x]) + 1; o[x] = {value}; }} }}"
    );
    let (kernels, diagnostics) = check_source("k.kernel", &text);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let kernel: &Kernel = &kernels[0];
    let Some(Stmt::For(f)) = kernel.body.first() else {
        panic!("a loop")
    };
    let value = kernel.value(f.body.last()?)?;
    Values::of(&kernel.locals).range(value)
}

#[test]
fn ranges_are_those_of_what_values_are_made_of() {
    for (value, expected) in [
        ("i32(a[x])", (0, 255)),
        ("i32(a[x]) + i32(b[x])", (-32768, 33022)),
        ("i32(a[x]) - i32(a[x])", (-255, 255)),
        ("i32(a[x]) * i32(b[x])", (-32768 * 255, 32767 * 255)),
        ("i32(b[x]) >> 4", (-2048, 2047)),
        ("min(i32(a[x]), 9)", (0, 9)),
        ("i32(a[x]) & 7", (0, 7)),
        ("select(a[x] > 3, i32(a[x]), -1)", (-1, 255)),
        ("t * 2", (2, 512)),
        (
            "i32(a[x]) * 16777216",
            (i128::from(i32::MIN), i128::from(i32::MAX)),
        ),
    ] {
        assert_eq!(range(value), Some(expected), "{value}");
    }
}

#[test]
fn names_that_nobody_says_have_the_range_of_their_type() {
    let text = "kernel k(n: size, a: in u8[n], o: out i32[n]) { for x in 0..n { \
                let t: i32 = i32(a[x]); o[x] = t; } }";
    let (kernels, _) = check_source("k.kernel", text);
    let Some(Stmt::For(f)) = kernels[0].body.first() else {
        panic!("a loop")
    };
    let value = kernels[0]
        .value(f.body.last().expect("a statement"))
        .expect("a value");
    assert_eq!(Values::of(&kernels[0].locals).range(value), Some((0, 255)));
    let whole = (i128::from(i32::MIN), i128::from(i32::MAX));
    assert_eq!(Values::of(&[]).range(value), Some(whole));
}
