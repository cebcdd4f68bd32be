//! Directives: what is written is read as the same directive, and what is wrong is said.

use super::{Directive, Tail};
use kernel::ast::{DirectiveText, Ident};
use semantics::random::Random;
use semantics::span::Span;

/// A name that no directive has as a word of its own.
fn name(random: &mut Random) -> String {
    const NAMES: [&str; 7] = ["x", "y_1", "i0", "block", "tail_x", "into2", "_b"];
    NAMES[random.below(NAMES.len() as u64) as usize].to_owned()
}

fn count(random: &mut Random, most: i64) -> i64 {
    2 + random.below(most as u64 - 1) as i64
}

fn pair(random: &mut Random) -> Option<(String, String)> {
    (random.below(2) == 0).then(|| (name(random), name(random)))
}

/// One of each kind, with what it is about drawn at random.
fn all(r: &mut Random) -> Vec<Directive> {
    let tail = Tail::ALL[r.below(4) as usize].0;
    let nested = 1 + r.below(3) as usize;
    let names = |r: &mut Random| (0..nested).map(|_| name(r)).collect();
    let at = [
        vec!["8"],
        vec!["n", "-", "8"],
        vec!["2", "*", "m", "+", "x"],
    ];
    let at = &at[r.below(3) as usize];
    vec![
        Directive::Vectorize {
            axis: name(r),
            lanes: count(r, 64) as u32,
            tail,
        },
        Directive::Split {
            axis: name(r),
            by: count(r, 1 << 20),
            into: name(r),
        },
        Directive::Tile {
            axes: names(r),
            by: (0..nested).map(|_| count(r, 1 << 20)).collect(),
            into: names(r),
        },
        Directive::Stage {
            array: name(r),
            over: name(r),
        },
        Directive::Unroll {
            axis: name(r),
            by: (r.below(2) == 0).then(|| count(r, 64)),
        },
        Directive::Jam {
            axis: name(r),
            by: count(r, 64),
        },
        Directive::Interchange {
            outer: name(r),
            inner: name(r),
        },
        Directive::Fission {
            axis: name(r),
            after: name(r),
            into: pair(r),
        },
        Directive::Fuse {
            first: name(r),
            second: name(r),
        },
        Directive::Partition {
            axis: name(r),
            at: at.iter().map(|w| (*w).to_owned()).collect(),
            into: pair(r),
        },
        Directive::ReorderStatements {
            first: name(r),
            second: name(r),
        },
        Directive::RemoveLoop { axis: name(r) },
        Directive::StageMemory {
            array: name(r),
            over: name(r),
            new: name(r),
        },
        Directive::ExpandDimension {
            buffer: name(r),
            by: name(r),
        },
        Directive::LiftAllocation {
            buffer: name(r),
            over: (r.below(2) == 0).then(|| name(r)),
        },
        Directive::SetMemory {
            buffer: name(r),
            memory: name(r),
        },
        Directive::UnrollBuffer {
            buffer: name(r),
            dimension: r.below(4) as usize,
        },
        Directive::Increment { axis: name(r) },
        Directive::BranchFree { axis: name(r) },
    ]
}

#[test]
fn what_is_written_is_read_as_the_same_directive() {
    let mut random = Random::new(1);
    for _ in 0..200 {
        for directive in all(&mut random) {
            let text = directive.to_string();
            assert_eq!(text.parse(), Ok(directive), "{text}");
        }
    }
}

#[test]
fn every_form_of_the_hint_is_a_directive_and_every_directive_is_in_the_hint() {
    let read: Vec<Directive> = super::FORMS
        .iter()
        .map(|form| form.parse().unwrap_or_else(|e| panic!("{form}: {e}")))
        .collect();
    for directive in all(&mut Random::new(2)) {
        let kind = std::mem::discriminant(&directive);
        let shown = read.iter().any(|d| std::mem::discriminant(d) == kind);
        assert!(shown, "{directive}");
    }
}

#[test]
fn what_is_wrong_is_said() {
    for (text, wrong) in [
        ("vectorize x by 1", "expected a number from 2 to"),
        ("vectorize x by 8 tail end", "a tail is `tail scalar`"),
        ("tile y, x by 4 into yo, xo", "as many numbers"),
        ("tile y x by 4, 4 into yo, xo", "as many numbers"),
        ("tile y into yo by 4", "as many numbers"),
        ("fission x after c into a", "the names of two loops"),
        (
            "unroll_buffer t at last",
            "expected a dimension, found `last`",
        ),
        ("vectorize x by -16", "loops go up: `by -16` is no"),
        ("unroll x by - 4", "loops go up: `by -4` is no"),
        (
            "tile y, x by 4, -4 into yo, xo",
            "loops go up: `by -4` is no",
        ),
        ("interchange y x", "is not understood"),
        ("", "is not understood"),
    ] {
        let found = text.parse::<Directive>().expect_err(text);
        assert!(found.contains(wrong), "{text}: {found}");
    }
}

/// What the hint says of words that are no directive.
fn hint(text: &str) -> String {
    let words = text.replace(',', " , ");
    let words = words.split_whitespace().map(|word| Ident {
        name: word.to_owned(),
        span: Span::default(),
    });
    super::hint(&DirectiveText {
        words: words.collect(),
        span: Span::default(),
    })
}

#[test]
fn of_misspelt_words_the_likeliest_is_told() {
    for (text, meant) in [
        ("vectorise x by 8", "vectorize"),
        ("unrol x", "unroll"),
        ("interchnage y, x", "interchange"),
        ("brunch_free x", "branch_free"),
        ("stage_men c over x as t", "stage_mem"),
        ("vectorize x bye 8", "by"),
        ("split x by 8 inot b", "into"),
        ("fission x aftre c", "after"),
        ("stage_mem c ovr x as t", "over"),
        ("tile y, x bz 4, 4 into yo, xo", "by"),
        ("vectorize x by 8 tial mask", "tail"),
        ("vectorize x by 8 tail maks", "mask"),
        ("vectorize x by 8 tail scaler", "scalar"),
    ] {
        assert_eq!(hint(text), format!("did you mean `{meant}`?"), "{text}");
    }
}

/// No word is near: what can be written is shown, of one directive where its name is right.
#[test]
fn what_is_no_misspelt_word_is_told_with_forms() {
    assert_eq!(hint("unroll"), "write `unroll x` or `unroll x by 4`");
    assert_eq!(hint("interchange y x"), "write `interchange y, x`");
    assert_eq!(hint("jam y by 1"), "write `jam y by 4`");
    assert_eq!(hint("reorder y x"), "did you mean `interchange y, x`?");
    for (word, form) in super::ELSEWHERE {
        assert!(super::FORMS.contains(&form), "{form}");
        assert!(
            !super::FORMS
                .iter()
                .any(|f| f.starts_with(&format!("{word} "))),
            "{word}"
        );
    }
    for text in ["", "parallelize x", "x", "by"] {
        let log = hint(text);
        assert!(
            log.starts_with("directives are `vectorize x by 64`, "),
            "{log}"
        );
    }
}
