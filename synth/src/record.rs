//! What the memo keeps of a window: its key, and the text of what was found.
//!
//! In: a window's shape, the target's instructions, the options. Out: a key that is the same only when
//! all that the search looks at is the same; and the text of a program with its proof, and
//! back. A text that names an instruction which is not there is no text.

use crate::compile::{Options, Outcome, Shape, WindowReport};
use crate::operations::{Index, TargetOperations};
use crate::search::SearchReport;
use autoir::program::{Program, text};
use semantics::sexpr;
use semantics::span::{Source, Span};
use semantics::term::{Kind, Term};
use sha2::{Digest, Sha256};
use smt::verdict::{Evidence, Step as Means};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::time::Duration;

/// Raised when the search changes what it finds.
const REVISION: u32 = 6;

/// The part of all keys that does not depend on the window.
pub fn setting(operations: &TargetOperations, options: Options) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let text = format!("{version} {REVISION} {options:?} {}", operations.digest());
    hex(&Sha256::digest(text))
}

/// The key of a window in a setting.
pub fn key(setting: &str, shape: &Shape) -> String {
    let mut hash = Sha256::new();
    hash.update(setting);
    hash.update(format!("{:?} {:?}\n", shape.inputs, shape.output));
    hash.update(digest(shape.term, &mut HashMap::new()));
    hex(&hash.finalize())
}

/// A digest of a term by its structure; the same in every process.
fn digest(t: Term, memo: &mut HashMap<Term, [u8; 32]>) -> [u8; 32] {
    if let Some(done) = memo.get(&t) {
        return *done;
    }
    let head = match t.kind() {
        Kind::App { op, .. } => op.to_string(),
        Kind::Map { count, .. } => format!("map {count}"),
        Kind::Fold { count, .. } => format!("fold {count}"),
        Kind::Var { name, sort } => format!("variable {name} {sort}"),
        Kind::Bound { depth, sort } => format!("bound {depth} {sort}"),
        Kind::Bv(_) | Kind::Bool(_) | Kind::Int(_) => format!("{t} {}", t.sort()),
    };
    let mut hash = Sha256::new();
    hash.update(head);
    for child in t.children() {
        hash.update(digest(child, memo));
    }
    let done: [u8; 32] = hash.finalize().into();
    memo.insert(t, done);
    done
}

/// Bytes in hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// What was found, as text; nothing when it is not worth keeping: what a time limit ended
/// may be found the next time.
pub fn write(
    program: Option<&Program>,
    report: &WindowReport,
    inputs: &[String],
) -> Option<String> {
    let mut text = String::new();
    match (&report.outcome, program) {
        (Outcome::Proved(evidence), Some(program)) => {
            let _ = writeln!(text, "proved {}", report.cost);
            let _ = writeln!(text, "{}", proof(evidence));
            let numbered = program.renamed(&|name| {
                let place = inputs.iter().position(|i| i == name);
                place.map_or(name.to_owned(), |k| format!("operand{k}"))
            });
            let _ = writeln!(text, "(program window\n{numbered})");
        }
        (Outcome::NotFound(bounds), _) if !bounds.contains(&"the time limit") => {
            let _ = writeln!(text, "nothing");
            for bound in bounds {
                let _ = writeln!(text, "{bound}");
            }
        }
        _ => return None,
    }
    Some(text)
}

fn proof(evidence: &Evidence) -> String {
    let mut text = format!("proof {} {}", evidence.questions, evidence.conflicts);
    for (means, count) in &evidence.elements {
        let name = match means {
            Means::Identical => "identical".to_owned(),
            Means::NormalForm => "normal".to_owned(),
            Means::Exhaustive => "exhaustive".to_owned(),
            Means::Sat => "sat".to_owned(),
            Means::Solver(name) => format!("solver:{}", name.replace(' ', "_")),
        };
        let _ = write!(text, " {name} {count}");
    }
    text
}

/// What was found, from its text; `by_operation` has the instructions that there are.
pub(crate) fn read(
    text: &str,
    name: &str,
    inputs: &[String],
    by_operation: &Index<'_>,
) -> Option<(Option<Program>, WindowReport)> {
    let (head, rest) = text.split_once('\n')?;
    let report = |outcome, cost| WindowReport {
        name: name.to_owned(),
        outcome,
        cost,
        time: [Duration::ZERO; 2],
        search: SearchReport::default(),
        kept: true,
    };
    if head == "nothing" {
        let bounds = rest.lines().filter_map(bound).collect();
        return Some((None, report(Outcome::NotFound(bounds), 0)));
    }
    let cost = head.strip_prefix("proved ")?.parse().ok()?;
    let (evidence, program) = rest.split_once('\n')?;
    let evidence = read_proof(evidence)?;
    let source = Source::new("a cached program", program);
    let items = sexpr::read(&source, Span::new(0, program.len())).ok()?;
    let resolve = |operation: &str, values: &[i64], given: &[text::Given]| {
        by_operation.resolve(operation, values, given)
    };
    let (_, program) = text::read(&source, items.first()?, &resolve).ok()?;
    let name_of = |name: &str| {
        let place = name
            .strip_prefix("operand")
            .and_then(|k| k.parse::<usize>().ok());
        place
            .and_then(|k| inputs.get(k))
            .map_or(name.to_owned(), String::clone)
    };
    Some((
        Some(program.renamed(&name_of)),
        report(Outcome::Proved(evidence), cost),
    ))
}

/// The bounds that a report may name, as they are written.
fn bound(text: &str) -> Option<&'static str> {
    crate::search::BOUNDS.into_iter().find(|b| *b == text)
}

fn read_proof(line: &str) -> Option<Evidence> {
    let mut words = line.strip_prefix("proof ")?.split(' ');
    let mut evidence = Evidence {
        questions: words.next()?.parse().ok()?,
        conflicts: words.next()?.parse().ok()?,
        ..Evidence::default()
    };
    while let Some(name) = words.next() {
        let means = match name {
            "identical" => Means::Identical,
            "normal" => Means::NormalForm,
            "exhaustive" => Means::Exhaustive,
            "sat" => Means::Sat,
            other => Means::Solver(other.strip_prefix("solver:")?.replace('_', " ")),
        };
        evidence.elements.insert(means, words.next()?.parse().ok()?);
    }
    Some(evidence)
}
