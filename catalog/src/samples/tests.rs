//! What instructions compute on samples, against what is written here by hand.

use super::*;
use crate::flow;
use autoir::dictionary::Dictionary;
use smt::config::Config;
use smt::prover::Prover;
use std::path::Path;
use std::sync::LazyLock;

const NAMES: [&str; 9] = [
    "_mm_adds_epu8",
    "_mm_hadd_epi16",
    "_mm_fmadd_ps",
    "_mm_slli_epi16",
    "_mm_addsub_ps",
    "_mm_mask_add_epi16",
    "_mm_shuffle_epi8",
    "_mm_cvtepu8_epi16",
    "_mm_move_ss",
];

static SOME: LazyLock<Dictionary> = LazyLock::new(|| {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../isa-specs/x86/manifest.yaml");
    let specs = spec_parser::specs::load(&manifest).expect("our specifications");
    let all = specs.instructions.into_iter();
    let some: Vec<_> = all.filter(|i| NAMES.contains(&i.name.as_str())).collect();
    let prover = Prover::new(Config::default());
    let found = similarity::classify::classify(&some, &prover, &|_, _, _| {});
    autoir::build::build(&found, &some)
});

fn of(name: &str) -> Option<Computed> {
    let (operation, member) = SOME.member(name).expect("it is in the dictionary");
    computed(operation, member, &flow::flows(operation, member))
}

#[test]
fn values_are_those_of_the_formula() {
    let adds = of("_mm_adds_epu8").expect("it is elementwise");
    assert_eq!((adds.to, adds.from.len()), (Kind::Integer(8), 2));
    let byte = Kind::Integer(8);
    for (k, &value) in adds.values.iter().enumerate() {
        let (a, b) = (byte.sample(0, k), byte.sample(1, k));
        assert_eq!(value, (a + b).min(255), "{a} + {b}");
    }
    let hadd = of("_mm_hadd_epi16").expect("it adds neighbours");
    let word = Kind::Integer(16);
    assert_eq!(hadd.from, [(word, 2)]);
    for (k, &value) in hadd.values.iter().enumerate() {
        assert_eq!(value, (word.sample(0, k) + word.sample(1, k)) & 0xffff);
    }
    let fma = of("_mm_fmadd_ps").expect("it is elementwise");
    for (k, &value) in fma.values.iter().enumerate() {
        let x = |v| f32::from_bits(Kind::Float(32).sample(v, k) as u32);
        assert_eq!(f32::from_bits(value as u32), x(0).mul_add(x(1), x(2)));
    }
    let shift = of("_mm_slli_epi16").expect("its count is a constant");
    assert_eq!(shift.from, [(word, 1), (Kind::Constant, 1)]);
    for (k, &value) in shift.values.iter().enumerate() {
        let shifted = word.sample(0, k) << Kind::Constant.sample(1, k);
        assert_eq!(value, shifted & 0xffff);
    }
    // Bytes that move, with zeros above, are numbers that are extended.
    let extended = of("_mm_cvtepu8_epi16").expect("it extends");
    assert_eq!((extended.to, extended.from), (word, vec![(byte, 1)]));
    for (k, &value) in extended.values.iter().enumerate() {
        assert_eq!(value, byte.sample(0, k));
    }
}

#[test]
fn what_differs_from_element_to_element_is_left_out() {
    for name in [
        "_mm_addsub_ps",
        "_mm_mask_add_epi16",
        "_mm_shuffle_epi8",
        "_mm_move_ss",
    ] {
        assert_eq!(of(name), None, "{name}");
    }
}
