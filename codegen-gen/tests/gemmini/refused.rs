//! What cannot be mapped, and what is said of it.

use super::bench::{edited, gemmini, mapped, reported};
use semantics::diagnostic::render;
use tile::systolic::place::Constraints;

const KERNEL: &str = include_str!("../../../kernels/gemmini/matmul.kernel");

fn refused(text: &str, sizes: &[i64], tile: Option<(i64, i64)>, words: &[&str]) {
    let constraints = Constraints {
        tile,
        ..Constraints::default()
    };
    match mapped(&gemmini(), text, sizes, constraints) {
        Ok(_) => panic!("it was mapped; expected {words:?}"),
        Err(log) => {
            for word in words {
                assert!(log.contains(word), "{log}\nhas no `{word}`");
            }
            assert!(log.contains("test.kernel:"), "it has a place: {log}");
        }
    }
}

#[test]
fn a_tile_over_capacity_is_told_with_the_smallest_that_fits() {
    let words = [
        "a block of 16 by 16 tiles needs",
        "of the accumulator; there are 16384 and 1024",
        "the smallest block, 1x1, fits",
    ];
    refused(KERNEL, &[1024, 1024, 64], Some((16, 16)), &words);
    // What is summed is too long for any block.
    let words = [
        "the smallest block, 1x1, needs",
        "smaller sizes of what is summed",
    ];
    refused(KERNEL, &[16, 16, 20000], None, &words);
}

#[test]
fn what_no_store_does_is_told() {
    let text = KERNEL.replace("round_even(f32(sum) * 0.0078125)", "sum >> 7");
    let words = [
        "no store of this machine does this to a sum",
        "i8_sat(round_even(",
    ];
    refused(&text, &[16, 16, 16], None, &words);
    // A negative scale before relu is another thing on hardware than in simulators.
    let text = KERNEL.replace("0.0078125", "(0.0 - 0.5)");
    refused(&text, &[16, 16, 16], None, &["no store of this machine"]);
}

#[test]
fn factors_and_loops_that_do_not_fit_are_told() {
    let text = KERNEL.replace("a: in i8[m, k]", "a: in u8[m, k]");
    let words = [
        "`a` has elements that the array does not take",
        "signed integers of 8 bits",
    ];
    refused(&text, &[16, 16, 16], None, &words);
    let text = KERNEL
        .replace("b: in i8[k, n]", "b: in i8[n, k, 2]")
        .replace("b[p, j]", "b[j, p, 1]");
    refused(
        &text,
        &[16, 16, 16],
        None,
        &["no loop walks neighbours", "exchange dimensions"],
    );
    let text = KERNEL
        .replace("a: in i8[m, k]", "a: in i8[k, m, 2]")
        .replace("a[i, p]", "a[p, i, 1]");
    refused(
        &text,
        &[16, 16, 16],
        None,
        &["neighbours of the left factor"],
    );
    refused(KERNEL, &[0, 16, 16], None, &["this loop runs never"]);
    let text = KERNEL.replace("sum += i32(a[i, p]) * i32(b[p, j])", "sum += i32(a[i, p])");
    refused(
        &text,
        &[16, 16, 16],
        None,
        &["what is summed is no product"],
    );
}

#[test]
fn a_role_that_is_missing_is_named_and_a_wrong_one_is_not_believed() {
    let cases = [
        (("    preload: preload\n", ""), "for the role `preload`"),
        (("    factors: spad\n", ""), "for the role `factors`"),
        (
            (" | stride << 16", ""),
            "its packing `execute.first` has no `stride`",
        ),
        (
            ("row | full", "row | rwos << 60 | full"),
            "has a field `rwos`",
        ),
        (
            ("no_row: GARBAGE", "no_rows: GARBAGE"),
            "no packing `no_row`",
        ),
        // Rows and columns exchanged: it is a packing, and not this machine's.
        (
            ("columns << 32 | rows << 48", "columns << 48 | rows << 32"),
            "",
        ),
        // Another command.
        (("preload: preload", "preload: flush"), ""),
    ];
    for (edit, expected) in cases {
        let machine = edited(&[edit]);
        let found = mapped(&machine, KERNEL, &[5, 7, 9], Constraints::default());
        let log = found
            .err()
            .unwrap_or_else(|| panic!("{edit:?} is believed"));
        assert!(log.contains(expected), "{edit:?}: {log}");
    }
}

#[test]
fn roles_that_are_none_are_told_in_the_manifest() {
    let cases = [
        (
            ("    store: mvout", "    store: mvuot"),
            "did you mean `mvout`?",
        ),
        (
            ("sums: accumulator", "sums: acumulator"),
            "did you mean `accumulator`?",
        ),
        (
            ("stride | scale << 32", "stride / scale"),
            "no packing of fields",
        ),
        (
            ("stride | scale << 32", "stride << scale"),
            "no packing of fields",
        ),
        (
            ("stride | scale << 32", "stride << 64"),
            "no packing of fields",
        ),
        (("stride | scale << 32", "stride | ("), "manifest.yaml"),
    ];
    for (edit, expected) in cases {
        let (_, wrong) = reported(&[edit]);
        let log = render(&wrong);
        assert!(
            wrong.len() == 1 && log.contains(expected),
            "{edit:?}: {log}"
        );
    }
}
