//! Where elements go, on small meanings.

use super::*;
use autoir::dictionary::Dictionary;
use smt::config::Config;
use smt::prover::Prover;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::LazyLock;

const NAMES: [&str; 13] = [
    "_mm_unpacklo_epi16",
    "_mm_shuffle_epi32",
    "_mm_add_epi32",
    "_mm_mask_mov_epi32",
    "_mm_maskz_loadu_epi32",
    "_mm_storeu_si128",
    "_mm_madd_epi16",
    "_mm_permutexvar_epi16",
    "_mm_bslli_si128",
    "_mm_xor_si128",
    "_mm512_reduce_add_epi64",
    "_mm_cvtepi8_epi32",
    "_mm_i32gather_epi32",
];

static SOME: LazyLock<Dictionary> = LazyLock::new(|| {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../isa-specs/x86/manifest.yaml");
    let specs = spec_parser::specs::load(&manifest).expect("our specifications");
    let some: Vec<_> = specs
        .instructions
        .into_iter()
        .filter(|i| NAMES.contains(&i.name.as_str()))
        .collect();
    let prover = Prover::new(Config::default());
    let found = similarity::classify::classify(&some, &prover, &|_, _, _| {});
    autoir::build::build(&found, &some)
});

/// The flows of an instruction on one line: `*` before a source that is computed with, `?`
/// before one that decides.
fn shown(name: &str) -> String {
    let (operation, member) = SOME.member(name).expect("it is in the dictionary");
    let mut text = String::new();
    for flow in flows(operation, member) {
        for (name, value) in &flow.given {
            let _ = write!(text, "{name}={value} ");
        }
        let _ = write!(text, "{:?} {}:{}:", flow.pattern(), flow.result, flow.width);
        for element in &flow.elements {
            text.push(' ');
            if let Some(bits) = &element.constant {
                let _ = write!(text, "{}", bits.low_u64());
            }
            let edges = element.edges.iter().map(|e| {
                let way = match e.way {
                    Way::Moved => "",
                    Way::Computed => "*",
                    Way::Decides => "?",
                };
                let last = match e.count {
                    1 => String::new(),
                    n => format!("-{}", e.first + n - 1),
                };
                format!("{way}{}{}{last}", flow.sources[e.source].name, e.first)
            });
            text += &edges.collect::<Vec<_>>().join("+");
        }
        text.push('\n');
    }
    text
}

#[test]
fn where_elements_go() {
    for (name, expected) in [
        (
            "_mm_unpacklo_epi16",
            "Moves dst:16: a0 b0 a1 b1 a2 b2 a3 b3\n",
        ),
        (
            "_mm_add_epi32",
            "Lanewise dst:32: *a0+*b0 *a1+*b1 *a2+*b2 *a3+*b3\n",
        ),
        (
            "_mm_madd_epi16",
            "Gathers dst:32: *a0-1+*b0-1 *a2-3+*b2-3 *a4-5+*b4-5 *a6-7+*b6-7\n",
        ),
        ("_mm512_reduce_add_epi64", "Gathers dst:64: *a0-7\n"),
        ("_mm_xor_si128", "Lanewise dst:64: *a0+*b0 *a1+*b1\n"),
        ("_mm_cvtepi8_epi32", "Lanewise dst:32: *a0 *a1 *a2 *a3\n"),
        (
            "_mm_mask_mov_epi32",
            "Lanewise dst:32: src0+?k0+a0 src1+?k1+a1 src2+?k2+a2 src3+?k3+a3\n",
        ),
    ] {
        assert_eq!(shown(name), expected, "{name}");
    }
}

#[test]
fn what_decides_is_told_from_what_is_moved() {
    let any = |k: usize| format!(" ?idx{k}+a0-7");
    let every: String = (0..8).map(any).collect();
    assert_eq!(
        shown("_mm_permutexvar_epi16"),
        format!("Moves dst:16:{every}\n")
    );
}

#[test]
fn constants_that_decide_are_given_values() {
    assert_eq!(
        shown("_mm_shuffle_epi32"),
        "imm8=27 Moves dst:32: a3 a2 a1 a0\n\
         imm8=78 Moves dst:32: a2 a3 a0 a1\n\
         imm8=1 Moves dst:32: a1 a0 a0 a0\n"
    );
    let shifted = shown("_mm_bslli_si128");
    let first = "imm8=1 Moves dst:8: 0 a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11 a12 a13 a14\n";
    assert!(shifted.starts_with(first), "{shifted}");
}

#[test]
fn memory_is_a_source_and_a_result() {
    assert_eq!(
        shown("_mm_maskz_loadu_epi32"),
        "Lanewise dst:32: ?k0+*mem_addr0 ?k1+*mem_addr1 ?k2+*mem_addr2 ?k3+*mem_addr3\n"
    );
    assert_eq!(shown("_mm_storeu_si128"), "Lanewise *mem_addr:64: a0 a1\n");
    let gathered = shown("_mm_i32gather_epi32");
    assert!(
        gathered.contains(" ?base_addr0+?vindex3+?scale0+memory0"),
        "{gathered}"
    );
}
