//! What is told to a person about a text that is wrong.
//!
//! In: a message, a place, hints. Out: [`Diagnostic`], drawn as text with file, line, column,
//! the offending line and a mark under it. Nothing here prints, and nothing knows colours:
//! the command line does both.

use crate::span::{Source, Span};
use std::fmt::{self, Write as _};

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// The item cannot be used.
    Error,
    /// The item is used, but something about it deserves a look.
    Warning,
    /// For information.
    Note,
}

/// One message, with the place it is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// Where, when there is a text.
    pub place: Option<(Source, Span)>,
    /// What stands under the mark.
    pub label: Option<String>,
    /// Further facts.
    pub notes: Vec<String>,
    /// How to mend it.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// An error without a place.
    pub fn error(message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, message)
    }

    /// A warning without a place.
    pub fn warning(message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, message)
    }

    /// A note without a place.
    pub fn note(message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Note, message)
    }

    fn new(severity: Severity, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity,
            message: message.into(),
            place: None,
            label: None,
            notes: Vec::new(),
            hint: None,
        }
    }

    /// Points at a place.
    #[must_use]
    pub fn at(mut self, source: &Source, span: Span) -> Diagnostic {
        self.place = Some((source.clone(), span));
        self
    }

    /// Writes a few words under the mark.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Diagnostic {
        self.label = Some(text.into());
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn with_note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(text.into());
        self
    }

    /// Says how to mend it.
    #[must_use]
    pub fn hint(mut self, text: impl Into<String>) -> Diagnostic {
        self.hint = Some(text.into());
        self
    }
}

/// The longest excerpt of one line, in characters.
const EXCERPT: usize = 100;
/// The longest line of a message, in characters: what is quoted may be of any length.
const LONGEST_LINE: usize = 2_000;
/// The longest name for which one that was meant is looked for.
const LONGEST_NAME: usize = 255;

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        let mut text = format!("{severity}: {}\n", within(&self.message));
        if let Some((source, span)) = &self.place {
            draw(&mut text, source, *span, self.label.as_deref())?;
        }
        for note in &self.notes {
            writeln!(text, "  = note: {}", within(note))?;
        }
        if let Some(hint) = &self.hint {
            writeln!(text, "  = hint: {}", within(hint))?;
        }
        f.write_str(&visible(&text))
    }
}

/// A text of several lines, of which only the first begins where lines of ours do: what is quoted from a
/// stranger is no message.
fn within(text: &str) -> String {
    text.trim_end_matches('\n').replace('\n', "\n      ")
}

/// A text in one line.
fn one_line(text: &str) -> String {
    text.replace('\n', "\u{240a}")
}

/// A text in which nothing commands a terminal or turns the order of letters, and no line is without
/// end: messages quote what strangers wrote. One character is one character, so that marks stay below
/// what they mark.
fn visible(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\t' => c,
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
        '\x7f' => '\u{2421}',
        '\u{80}'..='\u{9f}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' => '\u{fffd}',
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        _ => c,
    };
    let cut = |line: &str| {
        let (all, end) = (line.trim_end_matches('\n'), line.ends_with('\n'));
        let more = all.chars().count().saturating_sub(LONGEST_LINE);
        let mut kept: String = all.chars().take(LONGEST_LINE).map(shown).collect();
        if more > 0 {
            kept += &format!("… and {more} characters more");
        }
        kept + if end { "\n" } else { "" }
    };
    text.split_inclusive('\n').map(cut).collect()
}

/// Draws the line of a place, with a mark under the range.
fn draw(f: &mut String, source: &Source, span: Span, label: Option<&str>) -> fmt::Result {
    let at = source.line_column(span.start);
    let (start, line) = source.line_at(span.start);
    let gutter = at.line.to_string().len();
    writeln!(
        f,
        "{:gutter$}--> {}:{}:{}",
        "",
        one_line(source.name()),
        at.line,
        at.column
    )?;
    let first = at.column - 1;
    let skip = if first > EXCERPT - 20 { first - 20 } else { 0 };
    let cut_left = if skip > 0 { "…" } else { "" };
    let shown: String = line
        .chars()
        .skip(skip)
        .take(EXCERPT)
        .map(|c| if c == '\t' { ' ' } else { c })
        .collect();
    let cut_right = if line.chars().count() > skip + EXCERPT {
        "…"
    } else {
        ""
    };
    writeln!(f, "{:gutter$} |", "")?;
    writeln!(f, "{} | {cut_left}{shown}{cut_right}", at.line)?;
    let in_line = span.end.min(start + line.len()).max(span.start);
    let marked = source.slice(Span::new(span.start, in_line)).chars().count();
    let indent = first - skip + cut_left.chars().count();
    let room = (EXCERPT + 1).saturating_sub(indent).max(1);
    let mark = "^".repeat(marked.clamp(1, room));
    writeln!(
        f,
        "{:gutter$} | {:indent$}{mark}{}",
        "",
        "",
        label
            .map(|l| format!(" {}", one_line(l)))
            .unwrap_or_default()
    )
}

/// All messages in the order of their sources and places (those without a place last),
/// each followed by an empty line.
/// Of very many the first ones are shown, and how many more there are.
pub fn render(diagnostics: &[Diagnostic]) -> String {
    const MOST: usize = 500;
    let sorted = sorted(diagnostics);
    let shown = sorted.iter().take(MOST).map(|d| format!("{d}\n"));
    let more = sorted.len().saturating_sub(MOST);
    let rest = (more > 0).then(|| format!("note: and {more} more messages\n\n"));
    shown.chain(rest).collect()
}

/// One line for each message, in the same order: the place, what is wrong, the facts.
pub fn lines(diagnostics: &[Diagnostic]) -> String {
    let line = |d: &&Diagnostic| {
        let place = d.place.as_ref().map_or(String::new(), |(source, span)| {
            let at = source.line_column(span.start);
            format!("{}:{}:{}: ", source.name(), at.line, at.column)
        });
        let facts = d.notes.iter().chain(&d.hint);
        let rest: String = facts.map(|fact| format!("; {fact}")).collect();
        visible(&one_line(&format!("{place}{}{rest}", d.message))) + "\n"
    };
    sorted(diagnostics).iter().map(line).collect()
}

fn sorted(diagnostics: &[Diagnostic]) -> Vec<&Diagnostic> {
    let mut sorted: Vec<&Diagnostic> = diagnostics.iter().collect();
    sorted.sort_by_key(|d| {
        let place = d.place.as_ref();
        (place.is_none(), place.map(|(s, span)| (s.name(), *span)))
    });
    sorted
}

/// The candidate nearest to a misspelt name, when one is near enough to be meant: at most a
/// third of the name's length in edits (insertions, deletions, replacements, swaps). Of those as
/// near, one that begins alike: the first letter is seldom the wrong one. What is longer than names
/// are is no name that was misspelt.
pub fn suggest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    let limit = (length / 3).max(1);
    if length > LONGEST_NAME {
        return None;
    }
    let first = |text: &str| text.chars().next().map(|c| c.to_ascii_lowercase());
    candidates
        .into_iter()
        .filter(|c| c.chars().count().abs_diff(length) <= limit)
        .map(|c| (distance(name, c), first(name) != first(c), c))
        .filter(|&(d, ..)| d <= limit)
        .min()
        .map(|(.., c)| c)
}

/// How far two names are apart; those of the same words in another order or in other letters, `add_sat` and
/// `sat_add`, `TRUE` and `true`, not far.
fn distance(a: &str, b: &str) -> usize {
    let words = |name: &str| {
        let mut all: Vec<String> = name.split('_').map(str::to_lowercase).collect();
        all.sort_unstable();
        all
    };
    match a != b && words(a) == words(b) {
        true => 1,
        false => edit_distance(a, b),
    }
}

/// What was meant by a character that only looks like one of the grammars, with its number: editors and
/// pages of documents put these in the place of `-`, blanks and quotation marks.
pub fn look_alike(c: char) -> Option<String> {
    let meant = match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => "-",
        '\u{a0}' | '\u{2000}'..='\u{200b}' | '\u{202f}' | '\u{205f}' | '\u{3000}' | '\u{feff}' => {
            "a blank"
        }
        '\u{2018}' | '\u{2019}' => "'",
        '\u{201c}' | '\u{201d}' => "\"",
        '\u{d7}' | '\u{2217}' | '\u{22c5}' | '\u{b7}' => "*",
        '\u{f7}' => "/",
        '\u{2264}' => "<=",
        '\u{2265}' => ">=",
        '\u{2260}' => "!=",
        '\u{2026}' => "..",
        '\u{37e}' => ";",
        '\u{2192}' => "->",
        '\u{ff01}'..='\u{ff5e}' => {
            let plain = char::from_u32(u32::from(c) - 0xfee0)?;
            return Some(format!("this is U+{:04X}: write `{plain}`", u32::from(c)));
        }
        _ => return None,
    };
    let meant = match meant {
        "a blank" => meant.to_owned(),
        sign => format!("`{sign}`"),
    };
    Some(format!("this is U+{:04X}: write {meant}", u32::from(c)))
}

/// Edit distance with swaps of neighbours (optimal string alignment), without regard to case.
fn edit_distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().collect();
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replace = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replace.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests;
