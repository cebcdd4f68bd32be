//! One directive: from its words to a [`Change`] and the names it is about.
//!
//! In: the words of a line. Out: the change, or a sentence that says what was expected. That
//! the names exist is looked at when the change is made.

use super::vectorize;
use kernel::ast::Directive;
use kernel::types::MAX_LANES;

/// What can be written, for the hint.
pub(super) const FORMS: &str = "directives are `vectorize x by 64`, `split x by 64 into b`, `tile y, x by 4, 4 into yo, xo`, \
`interchange y, x`, `unroll x`, `unroll x by 4`, `jam y by 4`, `fission x after c`, `fuse x, z`, `partition x at 8`, \
`reorder_stmts a, b`, `remove_loop x`, `stage c over x`, `stage_mem c over x as t`, `expand_dim t by x`, \
`lift_alloc t`, `set_memory t in m`, `unroll_buffer t`, `increment x`, `branch_free x`";

/// One kind of change.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Vectorize(u32, vectorize::Tail),
    Split(i64),
    Tile(Vec<i64>, Vec<String>),
    Stage,
    Unroll(Option<i64>),
    Jam(i64),
    Interchange,
    Fission(Vec<String>),
    Fuse,
    Partition(Vec<String>, Vec<String>),
    ReorderStatements,
    RemoveLoop,
    StageMemory(String),
    ExpandDimension,
    LiftAllocation,
    SetMemory,
    UnrollBuffer(usize),
    Increment,
    BranchFree,
}

/// The names between commas.
fn list(words: &[&str]) -> Option<Vec<String>> {
    let mut out = Vec::new();
    for (n, word) in words.iter().enumerate() {
        match (n % 2, *word) {
            (0, ",") => return None,
            (0, word) => out.push(word.to_owned()),
            (_, ",") => {}
            _ => return None,
        }
    }
    (words.len() % 2 == 1).then_some(out)
}

fn number(text: &str, most: i64) -> Result<i64, String> {
    let value = text.parse::<i64>().ok().filter(|n| (2..=most).contains(n));
    value.ok_or_else(|| format!("expected a number from 2 to {most}, found `{text}`"))
}

fn named(names: &[&str]) -> Vec<String> {
    names.iter().map(|n| (*n).to_owned()).collect()
}

/// A directive's change and the names that it is about, the loop that is changed first.
///
/// # Errors
/// A sentence.
pub(super) fn parse(directive: &Directive) -> Result<(Change, Vec<String>), String> {
    let words: Vec<&str> = directive.words.iter().map(|w| w.name.as_str()).collect();
    match words[..] {
        ["vectorize", x, "by", n, ref tail @ ..] => {
            let tail = match *tail {
                [] | ["tail", "scalar"] => vectorize::Tail::Scalar,
                ["tail", "mask"] => vectorize::Tail::Mask,
                ["tail", "round"] => vectorize::Tail::Round,
                ["tail", "shift"] => vectorize::Tail::Shift,
                _ => {
                    return Err(
                        "a tail is `tail scalar`, `tail mask`, `tail round` or `tail shift`"
                            .to_owned(),
                    );
                }
            };
            let lanes = number(n, i64::from(MAX_LANES))?;
            Ok((
                Change::Vectorize(u32::try_from(lanes).map_err(|e| e.to_string())?, tail),
                named(&[x]),
            ))
        }
        ["unroll", x] => Ok((Change::Unroll(None), named(&[x]))),
        ["unroll", x, "by", n] => Ok((Change::Unroll(Some(number(n, 64)?)), named(&[x]))),
        ["jam", x, "by", n] => Ok((Change::Jam(number(n, 64)?), named(&[x]))),
        ["split", x, "by", n, "into", outer] => {
            Ok((Change::Split(number(n, 1 << 20)?), named(&[x, outer])))
        }
        ["tile", ref rest @ ..] => tile(rest),
        ["stage", array, "over", x] => Ok((Change::Stage, named(&[x, array]))),
        ["interchange", y, ",", x] => Ok((Change::Interchange, named(&[y, x]))),
        _ => second(&words),
    }
}

/// Directives about the order of statements and about buffers.
fn second(words: &[&str]) -> Result<(Change, Vec<String>), String> {
    match *words {
        ["fission", x, "after", at, ref into @ ..] => {
            Ok((Change::Fission(into_two(into)?), named(&[x, at])))
        }
        ["partition", x, "at", ref rest @ ..] => {
            let end = rest.iter().position(|w| *w == "into").unwrap_or(rest.len());
            let names = into_two(&rest[end..])?;
            Ok((Change::Partition(named(&rest[..end]), names), named(&[x])))
        }
        ["fuse", x, ",", z] => Ok((Change::Fuse, named(&[x, z]))),
        ["reorder_stmts", a, ",", b] => Ok((Change::ReorderStatements, named(&[a, b]))),
        ["remove_loop", x] => Ok((Change::RemoveLoop, named(&[x]))),
        ["stage_mem", array, "over", x, "as", new] => {
            Ok((Change::StageMemory(new.to_owned()), named(&[x, array])))
        }
        ["expand_dim", buffer, "by", x] => Ok((Change::ExpandDimension, named(&[x, buffer]))),
        ["lift_alloc", buffer] => Ok((Change::LiftAllocation, named(&["", buffer]))),
        ["lift_alloc", buffer, "over", x] => Ok((Change::LiftAllocation, named(&[x, buffer]))),
        ["set_memory", buffer, "in", memory] => Ok((Change::SetMemory, named(&[memory, buffer]))),
        ["unroll_buffer", buffer] => Ok((Change::UnrollBuffer(0), named(&["", buffer]))),
        ["unroll_buffer", buffer, "at", dim] => {
            let dim = dim
                .parse()
                .map_err(|_| format!("expected a dimension, found `{dim}`"))?;
            Ok((Change::UnrollBuffer(dim), named(&["", buffer])))
        }
        ["increment", x] => Ok((Change::Increment, named(&[x]))),
        ["branch_free", x] => Ok((Change::BranchFree, named(&[x]))),
        _ => Err("this directive is not understood".to_owned()),
    }
}

/// `into a, b`, or nothing.
fn into_two(words: &[&str]) -> Result<Vec<String>, String> {
    match *words {
        [] => Ok(Vec::new()),
        ["into", a, ",", b] => Ok(named(&[a, b])),
        _ => Err("expected `into` and the names of two loops".to_owned()),
    }
}

fn tile(words: &[&str]) -> Result<(Change, Vec<String>), String> {
    let wrong = || {
        "expected loops, as many numbers and as many new names: `tile y, x by 4, 4 into yo, xo`"
            .to_owned()
    };
    let at = |word: &str| words.iter().position(|w| *w == word).ok_or_else(wrong);
    let (by, into) = (at("by")?, at("into")?);
    if by > into {
        return Err(wrong());
    }
    let names = list(&words[..by]).ok_or_else(wrong)?;
    let counts = list(&words[by + 1..into]).ok_or_else(wrong)?;
    let outer = list(&words[into + 1..]).ok_or_else(wrong)?;
    if counts.len() != names.len() || outer.len() != names.len() {
        return Err(wrong());
    }
    let counts = counts.iter().map(|c| number(c, 1 << 20));
    Ok((
        Change::Tile(counts.collect::<Result<_, _>>()?, outer),
        names,
    ))
}
