//! What meanings show, on instructions of the specifications.

use super::*;
use crate::flow;
use autoir::dictionary::Dictionary;
use smt::config::Config;
use smt::prover::Prover;
use std::path::Path;
use std::sync::LazyLock;

/// Instructions, and the facts of each beside those of kinds and widths.
const SHOWN: [(&str, &str); 27] = [
    ("_mm_adds_epu8", "add saturate unsigned"),
    ("_mm_mask_add_epi16", "add merge-masked"),
    ("_mm_avg_epu8", "average round unsigned"),
    ("_mm_mulhrs_epi16", "mul high-half round signed"),
    ("_mm_mul_epi32", "mul widen signed"),
    ("_mm_madd_epi16", "widen pairs dot-product signed"),
    ("_mm_sad_epu8", "absolute-difference widen sum unsigned"),
    ("_mm_hadd_epi16", "sum pairs"),
    ("_mm512_reduce_max_epi32", "max reduce signed"),
    ("_mm_shuffle_epi8", "shuffle by-index"),
    ("_mm_shuffle_epi32", "shuffle by-constant"),
    ("_mm_unpacklo_epi16", "interleave"),
    ("_mm_set1_epi16", "broadcast"),
    ("_bswap", "reverse single"),
    ("_mm_alignr_epi8", "funnel shift-elements by-constant"),
    ("_mm_extract_epi16", "extract by-constant"),
    ("_mm_insert_epi16", "insert by-constant"),
    ("_mm_movemask_epi8", "top-bits"),
    ("_mm_packs_epi16", "saturate narrow signed"),
    ("_mm256_cvtepi32_epi16", "narrow"),
    ("_mm_cvtepi8_epi16", "widen sign-extend signed"),
    ("_mm_cvttps_epi32", "truncate float-to-int float signed"),
    ("_mm_maskz_compress_epi32", "zero-masked compress"),
    ("_mm_i32gather_epi32", "gather signed"),
    ("_mm_addsub_ps", "alternate float"),
    ("_mm_add_ss", "add scalar float"),
    ("_mm_conflict_epi32", "conflict"),
];

static SOME: LazyLock<Dictionary> = LazyLock::new(|| {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../isa-specs/x86/manifest.yaml");
    let specs = spec_parser::specs::load(&manifest).expect("our specifications");
    let wanted = |name: &str| SHOWN.iter().any(|(n, _)| *n == name);
    let all = specs.instructions.into_iter();
    let some: Vec<_> = all.filter(|i| wanted(&i.name)).collect();
    let prover = Prover::new(Config::default());
    let found = similarity::classify::classify(&some, &prover, &|_, _, _| {});
    autoir::build::build(&found, &some)
});

#[test]
fn meanings_show_what_instructions_do() {
    let kinds = |name: &&str| {
        !name.ends_with("-bit") && !name.ends_with("-vector") && !["integer", "f32"].contains(name)
    };
    let mut wrong = Vec::new();
    for (name, wanted) in SHOWN {
        let (operation, member) = SOME.member(name).expect("it is in the dictionary");
        let facts = of(operation, member, &flow::flows(operation, member));
        let names: Vec<&str> = facts.iter().map(|f| f.name()).filter(kinds).collect();
        let mut wanted: Vec<&str> = wanted.split(' ').collect();
        wanted.sort_by_key(|w| Fact::ALL.iter().position(|f| f.name() == *w));
        if names != wanted {
            wrong.push(format!(
                "{name}: {}, not {}",
                names.join(" "),
                wanted.join(" ")
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn widths_and_kinds_are_told() {
    let (operation, member) = SOME.member("_mm_mul_epi32").expect("it is there");
    let facts = of(operation, member, &flow::flows(operation, member));
    for fact in [Fact::Bits32, Fact::Bits64, Fact::V128, Fact::Integer] {
        assert!(facts.contains(&fact), "{fact:?}");
    }
    assert!(!facts.contains(&Fact::Single));
}
