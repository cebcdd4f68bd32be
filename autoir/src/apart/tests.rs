//! What names operations get that compute the same in a word.

use super::tell_apart;
use crate::dictionary::{Evidence, Member, Operation};
use semantics::instruction::Form;

fn member(name: &str) -> Member {
    Member {
        name: name.to_owned(),
        isa: "t".to_owned(),
        mnemonic: None,
        form: Form::Single,
        features: Vec::new(),
        operands: Vec::new(),
        outputs: Vec::new(),
        values: Vec::new(),
        bindings: Vec::new(),
        evidence: Evidence::default(),
    }
}

fn operation(name: &str, members: &[&str]) -> Operation {
    Operation {
        name: name.to_owned(),
        parameters: Vec::new(),
        arguments: Vec::new(),
        results: Vec::new(),
        formula: members.join(" "),
        swizzle: false,
        members: members.iter().map(|m| member(m)).collect(),
    }
}

fn names(operations: &[(&str, &[&str])]) -> Vec<String> {
    let mut all: Vec<Operation> = operations.iter().map(|(n, m)| operation(n, m)).collect();
    tell_apart(&mut all);
    all.into_iter().map(|o| o.name).collect()
}

#[test]
fn a_word_that_few_operations_have_tells_them_apart() {
    let found = names(&[
        ("add", &["_add_epi8", "_add_epi16", "_add_epi64"]),
        ("add", &["_madd52hi_epu64", "_mask_madd52hi_epu64"]),
        ("add", &["_madd52lo_epu64", "_mask_madd52lo_epu64"]),
        ("abs", &["_abs_epi64", "_mask_abs_epi8"]),
    ]);
    assert_eq!(found, ["add", "add_madd52hi", "add_madd52lo", "abs"]);
}

#[test]
fn a_word_of_one_member_in_three_says_nothing_of_the_class() {
    let found = names(&[
        ("fadd", &["_add_ps", "_add_pd", "_add_ph", "_add_sh"]),
        ("fadd", &["_hadd_ps", "_hadd_pd", "_once_ps"]),
    ]);
    assert_eq!(found, ["fadd", "fadd_hadd"]);
}

#[test]
fn a_member_called_so_keeps_the_name_and_numbers_are_the_last_resort() {
    let found = names(&[
        ("load", &["_load_a", "_load_b", "_load_c"]),
        ("load", &["x.load", "y.load", "v.load"]),
        ("load", &["load"]),
        ("load_load", &["z"]),
    ]);
    assert_eq!(found, ["load_2", "load_3", "load", "load_load"]);
}

#[test]
fn two_words_tell_apart_what_one_does_not() {
    let found = names(&[
        ("move", &["a", "b", "c", "d"]),
        ("move", &["_swap_low", "_swap_low_m", "_swap_low_z"]),
        ("move", &["_swap_high"]),
        ("move", &["_keep_low"]),
    ]);
    let expected = ["move", "move_swap_low", "move_high", "move_keep"];
    assert_eq!(found, expected);
}
