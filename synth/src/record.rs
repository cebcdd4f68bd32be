//! What is kept of a window: its key, and the text of what was found.
//!
//! In: a window's shape, the target's instructions, the options. Out: a key that is the same only when
//! all that the search looks at is the same; and the text of a program with its proof, and
//! back. A text that names an instruction which is not there is no text.

use crate::compile::{Options, Outcome, Shape, WindowReport};
use crate::limit::Bound;
use crate::operations::TargetOperations;
use crate::search::SearchReport;
use autoir::program::{Program, text};
use semantics::digest::Digests;
use semantics::sexpr;
use semantics::span::{Source, Span};
use smt::verdict::{Evidence, Step as Means};
use std::fmt::Write as _;
use std::time::Duration;
use store::object::{Key, Kind};

/// What was found for windows. The version is raised when the search changes what it finds.
pub(crate) const WINDOWS: Kind = Kind {
    name: "windows",
    version: 77,
    most: None,
};

/// The part of all keys that does not depend on the window.
pub(crate) fn setting(operations: &TargetOperations, options: Options) -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!("{version} {options:?} {}", operations.digest())
}

/// The key of a window in a setting; `digests` knows the terms of other windows.
pub(crate) fn key(setting: &str, shape: &Shape, digests: &mut Digests) -> Key {
    let registers = format!("{:?} {:?} {}", shape.inputs, shape.output, shape.whole);
    let term = digests.of(shape.term).to_string();
    let sought = format!("{:?}", shape.sought);
    Key::of([setting, &registers, &term, &sought])
}

/// A program over inputs that are called by their numbers.
pub(crate) fn numbered(program: &Program, inputs: &[String]) -> Program {
    program.renamed(&|name| {
        let place = inputs.iter().position(|i| i == name);
        place.map_or(name.to_owned(), |k| format!("operand{k}"))
    })
}

/// What was found, as text; nothing when it is not worth keeping: what a time limit ended
/// may be found the next time.
pub(crate) fn write(
    program: Option<&Program>,
    report: &WindowReport,
    inputs: &[String],
) -> Option<String> {
    let mut text = String::new();
    match (&report.outcome, program) {
        (Outcome::Proved(evidence), Some(program)) => {
            let bounds = Bound::names(report.search.left_out());
            let _ = writeln!(text, "proved {} {bounds}", report.cost);
            let _ = writeln!(text, "{}", proof(evidence));
            let _ = writeln!(text, "(program window\n{})", numbered(program, inputs));
        }
        (Outcome::NotFound(bounds), _) if !bounds.iter().any(|b| b.is_of_the_machine()) => {
            let _ = writeln!(text, "nothing");
            for bound in bounds {
                let _ = writeln!(text, "{}", bound.name());
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

/// What was found, from its text; by the instructions that there are.
pub(crate) fn read(
    text: &str,
    name: &str,
    inputs: &[String],
    operations: &TargetOperations,
) -> Option<(Option<Program>, WindowReport)> {
    let (head, rest) = text.split_once('\n')?;
    let report = |outcome, cost| WindowReport {
        name: name.to_owned(),
        outcome,
        cost,
        time: [Duration::ZERO; 2],
        search: SearchReport::default(),
        cached: true,
    };
    if head == "nothing" {
        let bounds = rest.lines().filter_map(Bound::named).collect();
        return Some((None, report(Outcome::NotFound(bounds), 0)));
    }
    let (cost, bounds) = head.strip_prefix("proved ")?.split_once(' ')?;
    let cost = cost.parse().ok()?;
    let (evidence, program) = rest.split_once('\n')?;
    let evidence = read_proof(evidence)?;
    let source = Source::new("a cached program", program);
    let items = sexpr::read(&source, Span::new(0, program.len())).ok()?;
    let resolve = |operation: &str, values: &[i64], given: &[text::Given]| {
        operations.resolve(operation, values, given)
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
    let mut report = report(Outcome::Proved(evidence), cost);
    report.search.stopped_by = bounds.split(", ").filter_map(Bound::named).collect();
    Some((Some(program.renamed(&name_of)), report))
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
