//! Assembly that is read, figures that are written and read, and `llvm-mca` itself.

use super::assembly::{bodies, line};
use super::{Figures, Language, Models, ask, read, write};
use semantics::instruction::Instruction;
use std::path::Path;
use target::Targets;
use test_support::need;
use toolchain::find;

const ASSEMBLY: &str = "\
\t.text
\t.globl\twrap0
wrap0:                                  # @wrap0
# %bb.0:
\tkmovd\t%edi, %k1
\tvcmpltps\t%zmm1, %zmm0, %k0 {%k1}
\tkmovd\t%k0, %eax
\tretq
.Lfunc_end0:
\t.size\twrap0, .Lfunc_end0-wrap0
wrap12:
\tmovups\t%xmm0, (%rdi)   # a comment
\tretq
\t.size\twrap12, .Lfunc_end1-wrap12
\tnop
";

#[test]
fn the_instruction_of_a_function_is_found_by_its_name() {
    let found = bodies(ASSEMBLY);
    assert_eq!(found.keys().collect::<Vec<_>>(), [&0, &12]);
    assert_eq!(found[&0].len(), 3);
    assert_eq!(found[&12], ["movups\t%xmm0, (%rdi)"]);
    let one = |k: usize, mnemonic| {
        let line = line(&found[&k], mnemonic)?;
        Some((line.mnemonic().to_owned(), line.named))
    };
    assert_eq!(one(0, Some("vcmpps")), Some(("vcmpltps".to_owned(), true)));
    assert_eq!(one(0, Some("vpermd")), None);
    assert_eq!(one(0, None), None);
    // The only one there is, under another name.
    assert_eq!(one(12, Some("movdqu")), Some(("movups".to_owned(), false)));
    assert_eq!(
        one(12, Some("MOVUPS xmm")),
        Some(("movups".to_owned(), true))
    );
}

fn sample() -> Models {
    let figures = |stands: Option<&str>, of: &[Option<(f64, f64)>]| Figures {
        stands: stands.map(str::to_owned),
        of: of.to_vec(),
    };
    let (a, b) = (Some((3.0, 1.0 / 3.0)), Some((11.0, 5.5)));
    Models {
        source: "llvm-mca of LLVM 19.1".to_owned(),
        names: vec!["one".to_owned(), "two".to_owned()],
        instructions: [
            ("add".to_owned(), figures(None, &[a, None])),
            ("sub".to_owned(), figures(None, &[a, None])),
            ("load".to_owned(), figures(Some("movups"), &[a, b])),
        ]
        .into(),
    }
}

#[test]
fn what_is_written_is_read_again() {
    let text = write(&sample(), "isaforge calibrate");
    assert!(text.contains("\n  3|0.33 - = add sub\n"), "{text}");
    assert!(text.contains("\n  3|0.33 11|5.5 movups load\n"), "{text}");
    let again = read(&text).expect("it is its own form");
    assert_eq!(again.instructions["add"].of, [Some((3.0, 0.33)), None]);
    assert_eq!(write(&again, "isaforge calibrate"), text);
}

#[test]
fn a_text_of_another_form_is_told_where() {
    let text = write(&sample(), "isaforge calibrate");
    for (from, to, told) in [
        ("3|0.33 - =", "3|0.33 =", "`=` is no figure like `3|0.5`"),
        ("- = add sub", "- = add add", "`add` is there twice"),
        ("11|5.5", "11/5.5", "`11/5.5` is no figure"),
        ("11|5.5", "-1|5.5", "`-1|5.5` is no figure"),
        ("- = add sub", "-", "names no instruction"),
        ("models:", "model:", "model"),
    ] {
        let wrong = read(&text.replacen(from, to, 1)).expect_err(to);
        assert!(wrong.contains(told), "{wrong}");
    }
}

/// Instructions of a set by their names.
fn instructions(isa: &str, names: &[&str]) -> (Vec<Instruction>, Targets) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../isa-specs")
        .join(isa);
    let targets = Targets::load(&folder).expect("the set has targets");
    let manifest = folder.join("manifest.yaml");
    let all = spec_parser::specs::load(&manifest).expect("the set loads");
    let kept = all.instructions.into_iter();
    (
        kept.filter(|i| names.contains(&i.name.as_str())).collect(),
        targets,
    )
}

#[test]
fn models_of_llvm_are_asked() {
    need!(find::llvm("llvm-mca"));
    need!(find::llvm("clang"));
    let names = [
        "_mm_add_epi8",
        "_mm512_mask_add_epi8",
        "_mm_shuffle_epi32",
        "_mm_slli_epi16",
        "_mm512_mask_cmp_epi8_mask",
        "_mm512_add_ph",
    ];
    let (all, targets) = instructions("x86", &names);
    let all: Vec<&Instruction> = all.iter().collect();
    let language = Language {
        targets: &targets,
        headers: &["immintrin.h".to_owned()],
    };
    let processors = ["znver3", "icelake-server", "sapphirerapids"].map(str::to_owned);
    let models = ask(&all, &language, &processors).expect("it answers");
    assert!(
        models.source.starts_with("llvm-mca of LLVM 19"),
        "{}",
        models.source
    );
    let figures = |name: &str| models.instructions[name].clone();
    for name in names {
        assert_eq!(figures(name).stands, None, "{name}");
    }
    // Vectors are in registers, however wide: nothing is loaded.
    assert_eq!(
        figures("_mm512_mask_add_epi8").of[1].map(|f| f.0),
        Some(1.0)
    );
    // All have SSE2, two have AVX-512, and of FP16 the model of Ice Lake says something that is not so.
    assert_eq!(figures("_mm_add_epi8").of.iter().flatten().count(), 3);
    let fp16: Vec<bool> = figures("_mm512_add_ph")
        .of
        .iter()
        .map(Option::is_some)
        .collect();
    assert_eq!(fp16, [false, false, true]);
    assert_eq!(figures("_mm_add_epi8").of[0].map(|f| f.0), Some(1.0));
    assert_eq!(figures("_mm512_mask_add_epi8").of[0], None);
    assert!(figures("_mm512_mask_add_epi8").of[1].is_some());
    let wrong = ask(&all, &language, &["zen-99".to_owned()]).expect_err("there is none");
    assert!(
        wrong.starts_with("LLVM knows no processor `zen-99`"),
        "{wrong}"
    );
}
