//! Wrong input of every kind gets a message that says where, what and how to mend it, and
//! the rest of the run goes on.

use expect_test::{ExpectFile, expect_file};

/// Runs the binary in the folder of wrong inputs and compares all that it shows.
#[track_caller]
fn check(arguments: &[&str], expected: ExpectFile) {
    let output = super::isaforge(arguments, &super::folder().join("bad_input"));
    expected.assert_eq(&super::shown(&output));
}

#[test]
fn a_missing_file() {
    check(
        &["compile", "type_eror.kernel", "--target", "znver4"],
        expect_file!["../bad_input/missing_file.expected"],
    );
}

#[test]
fn an_unknown_target() {
    check(
        &["compile", "good.kernel", "--target", "znver44"],
        expect_file!["../bad_input/unknown_target.expected"],
    );
}

#[test]
fn an_unknown_target_unlike_any_other() {
    check(
        &["compile", "good.kernel", "--target", "m68k"],
        expect_file!["../bad_input/unlike_target.expected"],
    );
}

#[test]
fn an_unknown_instruction_set() {
    check(
        &["compile", "good.kernel", "--isa", "x68"],
        expect_file!["../bad_input/unknown_isa.expected"],
    );
}

#[test]
fn type_errors_in_a_kernel_and_a_sound_one_beside_it() {
    check(
        &[
            "compile",
            "type_error.kernel",
            "--target",
            "x86-64-v4",
            "-o",
            "-",
        ],
        expect_file!["../bad_input/type_error.expected"],
    );
}

#[test]
fn accesses_outside_arrays() {
    check(
        &["compile", "out_of_range.kernel", "--target", "x86-64"],
        expect_file!["../bad_input/out_of_range.expected"],
    );
}

#[test]
fn text_that_is_no_kernel() {
    check(
        &["compile", "syntax.kernel", "--target", "x86-64"],
        expect_file!["../bad_input/syntax.expected"],
    );
}

#[test]
fn an_option_that_is_not_there() {
    check(
        &["compile", "good.kernel", "--traget", "host"],
        expect_file!["../bad_input/option.expected"],
    );
}

#[test]
fn a_file_that_cannot_be_written() {
    check(
        &[
            "compile",
            "good.kernel",
            "--target",
            "x86-64",
            "-o",
            "good.kernel/out.c",
        ],
        expect_file!["../bad_input/unwritable.expected"],
    );
}
