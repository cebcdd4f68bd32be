//! Rows of cost tables that never count.
//!
//! In: the tables of a set and its instructions. Out: a warning, with place and mend, for each
//! pattern that matches no instruction, and for each all of whose instructions earlier rows match.

use super::{File, Row, parsed};
use crate::compile::read;
use semantics::diagnostic::{Diagnostic, suggest};
use semantics::instruction::Instruction;
use semantics::sort::Sort;
use semantics::span::{Source, Span};
use semantics::spelling::is_like;
use std::collections::BTreeSet;
use std::path::Path;
use synth::cost::looked_up;

/// A name as rows are matched with it, and the width of the registers.
type Known = (String, u32);

/// One pattern of a table.
struct Pattern<'a> {
    name: &'a str,
    row: &'a Row,
    place: Span,
    /// The instructions that it matches.
    all: BTreeSet<&'a Known>,
}

/// What the tables of a set say in vain: what was meant has other costs then.
pub(crate) fn idle(folder: &Path, instructions: &[Instruction]) -> Vec<Diagnostic> {
    let files = std::fs::read_dir(folder.join("cost")).into_iter().flatten();
    let mut paths: Vec<_> = files.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "yaml"));
    paths.sort();
    let known: BTreeSet<Known> = instructions.iter().map(known).collect();
    let sources = paths.iter().filter_map(|path| read(path).ok());
    sources
        .flat_map(|source| in_vain(&source, &known))
        .collect()
}

/// What one table says in vain; nothing of one that cannot be read, as its readers tell that.
fn in_vain(source: &Source, known: &BTreeSet<Known>) -> Vec<Diagnostic> {
    let Ok(file) = parsed(source) else {
        return Vec::new();
    };
    let patterns = patterns(source, &file, known);
    let reported = (0..patterns.len()).filter_map(|n| {
        let one = match patterns[n].all.is_empty() {
            true => Some(unmatched(&patterns[n], known)),
            false => hidden(source, &patterns, n),
        };
        one.map(|d| d.at(source, patterns[n].place))
    });
    reported.collect()
}

/// What the search looks a row up by.
fn known(instruction: &Instruction) -> Known {
    let operands = instruction.operands.iter().map(|o| o.width);
    let result = instruction.outputs.first().map(|o| o.term.sort());
    let result = result.and_then(Sort::width);
    let width = operands.chain(result).max().unwrap_or(0);
    let mnemonic = instruction.mnemonic.as_deref();
    (looked_up(mnemonic.unwrap_or(&instruction.name)), width)
}

/// The patterns of a table in the order in which they are tried.
fn patterns<'a>(source: &Source, file: &'a File, known: &'a BTreeSet<Known>) -> Vec<Pattern<'a>> {
    let mut from = source.text().find("\nrows").unwrap_or(0);
    let mut all = Vec::new();
    for row in &file.rows {
        for name in row.names() {
            let place = place(source.text(), from, name);
            from = place.end;
            let of_row = |(called, width): &&Known| {
                row.width.is_none_or(|w| w == *width) && is_like(name, called)
            };
            let all_of_it = known.iter().filter(of_row).collect();
            all.push(Pattern {
                name,
                row,
                place,
                all: all_of_it,
            });
        }
    }
    all
}

/// Where a pattern stands from some place on: as a whole, and in no comment.
fn place(text: &str, from: usize, name: &str) -> Span {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '*' | '_' | '.');
    let whole = |at: &usize| {
        let line = text[..*at].rfind('\n').map_or(0, |n| n + 1);
        let end = at + name.len();
        !text[line..*at].contains('#')
            && !text[..*at].ends_with(part)
            && !text[end..].starts_with(part)
    };
    let places = text[from..].match_indices(name).map(|(n, _)| from + n);
    let at = places
        .filter(|_| !name.is_empty())
        .find(whole)
        .unwrap_or(from);
    Span::new(at, (at + name.len()).min(text.len()))
}

/// What is told of a pattern that matches nothing.
fn unmatched(pattern: &Pattern, known: &BTreeSet<Known>) -> Diagnostic {
    let name = pattern.name;
    let mut widths: Vec<u32> = known
        .iter()
        .filter(|(called, _)| is_like(name, called))
        .map(|(_, width)| *width)
        .collect();
    widths.sort_unstable();
    widths.dedup();
    if let (Some(width), [_, ..]) = (pattern.row.width, widths.as_slice()) {
        let message = format!("no instruction called `{name}` has registers of {width} bits");
        let widths: Vec<String> = widths.iter().map(u32::to_string).collect();
        return Diagnostic::warning(message).hint(format!("they have {}", widths.join(", ")));
    }
    let near = suggest(name, known.iter().map(|(called, _)| called.as_str()));
    let hint = near.map_or("`*` stands for any text".to_owned(), |near| {
        format!("did you mean `{near}`?")
    });
    Diagnostic::warning(format!("no instruction is called `{name}`")).hint(hint)
}

/// What is told of a pattern all of whose instructions earlier ones match.
fn hidden(source: &Source, patterns: &[Pattern], n: usize) -> Option<Diagnostic> {
    let order: Vec<usize> = (0..patterns.len()).collect();
    if counts(patterns, &order, n) {
        return None;
    }
    let one = &patterns[n];
    let shared = |&m: &usize| !patterns[m].all.is_disjoint(&one.all);
    let before: Vec<usize> = (0..n).filter(shared).collect();
    let first = *before.first()?;
    let line = |m: usize| source.line(patterns[m].place.start);
    let mut lines: Vec<usize> = before.iter().map(|&m| line(m)).collect();
    lines.dedup();
    let (named, s) = match lines.as_slice() {
        [only] => (format!("line {only}"), "s"),
        several => {
            let several: Vec<String> = several.iter().map(usize::to_string).collect();
            (format!("lines {}", several.join(", ")), "")
        }
    };
    let mut moved = order.clone();
    moved[first..=n].rotate_right(1);
    // What counted before has to count still.
    let loses = |&m: &usize| counts(patterns, &order, m) && !counts(patterns, &moved, m);
    let hint = if before.iter().all(|&m| alike(patterns[m].row, one.row)) {
        format!("what {named} say{s} costs the same: leave it out")
    } else if order.iter().any(loses) {
        format!("leave it out, or what {named} say{s}")
    } else {
        format!("move it above line {}", line(first))
    };
    let message = format!("`{}` never counts: {named} match", one.name)
        + if s.is_empty() { "" } else { "es" }
        + " all of its instructions, and the first row that matches counts";
    Some(Diagnostic::warning(message).hint(hint))
}

/// Whether a pattern is the first that matches for some instruction.
fn counts(patterns: &[Pattern], order: &[usize], n: usize) -> bool {
    let earlier = order.iter().take_while(|&&m| m != n);
    let taken: BTreeSet<&Known> = earlier.flat_map(|&m| &patterns[m].all).copied().collect();
    !patterns[n].all.is_subset(&taken)
}

/// Whether two rows give the same costs.
fn alike(a: &Row, b: &Row) -> bool {
    (a.latency, a.throughput, &a.resource) == (b.latency, b.throughput, &b.resource)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is told of rows, each a line, for instructions with widths: line, message and hint.
    fn reported(rows: &[&str], instructions: &[(&str, u32)]) -> Vec<(usize, String, String)> {
        let head = "# k* and the like\nmodel: m\ndefault: {latency: 1, throughput: 1}\nrows:\n";
        let rows: Vec<String> = rows.iter().map(|row| format!("- {{{row}}}\n")).collect();
        let source = Source::new("m.yaml", head.to_owned() + &rows.concat());
        let known = instructions
            .iter()
            .map(|(n, w)| ((*n).to_owned(), *w))
            .collect();
        let all = in_vain(&source, &known).into_iter().map(|d| {
            let (_, place) = d.place.expect("it has a place");
            let line = source.line(place.start) - 4;
            (line, d.message, d.hint.expect("it has a mend"))
        });
        all.collect()
    }

    const ALL: [(&str, u32); 6] = [
        ("vpsadbw", 256),
        ("vpsadbw", 512),
        ("vdbpsadbw", 256),
        ("vmpsadbw", 256),
        ("kand", 64),
        ("add", 128),
    ];

    #[test]
    fn a_row_behind_a_wider_one_is_told_with_what_mends_it() {
        let wide = "mnemonic: \"*psadbw\", latency: 3, throughput: 1";
        let narrow = "mnemonic: \"*mpsadbw\", latency: 4, throughput: 2";
        let between = "mnemonic: k*, latency: 1, throughput: 2";
        let found = reported(&[wide, between, narrow], &ALL);
        let [(3, message, mend)] = found.as_slice() else {
            panic!("{found:?}")
        };
        assert!(
            message.contains("`*mpsadbw` never counts: line 5 matches"),
            "{message}"
        );
        assert_eq!(mend, "move it above line 5");
        // What it says is true.
        assert_eq!(reported(&[narrow, wide, between], &ALL), []);
        // At a width of its own a row hides nothing else, and is hidden by one for all widths.
        let at_512 = "mnemonic: vpsadbw, latency: 3, throughput: 2, width: 512";
        assert_eq!(reported(&[at_512, wide], &ALL), []);
        assert_eq!(reported(&[wide, at_512], &ALL).len(), 1);
    }

    #[test]
    fn what_no_order_mends_is_told_as_that() {
        let mends = |rows: &[&str]| -> Vec<(usize, String)> {
            let reported = reported(rows, &ALL).into_iter();
            reported.map(|(line, _, mend)| (line, mend)).collect()
        };
        let a = "mnemonics: [add, kand], latency: 1, throughput: 1";
        let b = "mnemonics: [\"a*\"], latency: 2, throughput: 1";
        assert_eq!(
            mends(&[a, b]),
            [(2, "leave it out, or what line 5 says".to_owned())]
        );
        let (one, two) = (
            "mnemonic: add, latency: 1, throughput: 1",
            "mnemonic: k*, latency: 1, throughput: 2",
        );
        let both = "mnemonic: \"*a*d\", latency: 2, throughput: 1";
        let several = "leave it out, or what lines 5, 6 say".to_owned();
        assert_eq!(mends(&[one, two, both]), [(3, several)]);
        let same = "mnemonics: [\"*d\", add], latency: 2, throughput: 1";
        assert_eq!(
            mends(&[same]),
            [(
                1,
                "what line 5 says costs the same: leave it out".to_owned()
            )]
        );
        let narrow = "mnemonic: add, latency: 2, throughput: 1, width: 256";
        assert_eq!(mends(&[narrow]), [(1, "they have 128".to_owned())]);
    }

    /// None of ours is hidden; names that only a vendor's file brings may match nothing.
    #[test]
    fn the_rows_of_our_sets_count() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for set in [
            "isa-specs/x86",
            "isa-specs/arm",
            "isa-specs/hvx",
            "examples/isa/avd",
            "examples/isa/dsp",
        ] {
            let folder = root.join(set);
            let loaded = spec_parser::specs::load(&folder.join("manifest.yaml"));
            let loaded = loaded.unwrap_or_else(|_| panic!("{set} loads"));
            let reported = idle(&folder, &loaded.instructions);
            let hidden: Vec<&String> = reported
                .iter()
                .map(|d| &d.message)
                .filter(|m| m.contains("never counts"))
                .collect();
            assert!(hidden.is_empty(), "{set}: {hidden:?}");
        }
    }
}
