//! What the memo keeps of a window: its key, and the text of what was found.
//!
//! In: a window's shape, the target's instructions, the options. Out: a key that is the same only when
//! all that the search looks at is the same; and the text of a program with its proof, and
//! back. A text that names an instruction which is not there is no text.

use crate::compile::{Options, Outcome, Shape, WindowReport};
use crate::search::SearchReport;
use crate::stock::Head;
use crate::supply::Supply;
use autoir::program::{Argument, Program, Step};
use semantics::bits::Bits;
use semantics::term::{Kind, Term};
use sha2::{Digest, Sha256};
use smt::verdict::{Evidence, Step as Means};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::time::Duration;

/// Raised when the search changes what it finds.
const REVISION: u32 = 3;

/// The part of all keys that does not depend on the window.
pub fn setting(supply: &Supply, options: Options) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let text = format!("{version} {REVISION} {options:?} {}", supply.digest());
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
            for step in &program.steps {
                let _ = writeln!(text, "{}", step_text(step, inputs)?);
            }
            let outputs: Vec<String> = program.outputs.iter().map(usize::to_string).collect();
            let _ = writeln!(text, "results {}", outputs.join(" "));
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

fn step_text(step: &Step, inputs: &[String]) -> Option<String> {
    Some(match step {
        Step::Input { name, lo, width } => {
            let k = inputs.iter().position(|i| i == name)?;
            format!("input {k} {lo} {width}")
        }
        Step::Constant(bits) => format!("constant {}", number(bits)),
        Step::Cast { value, width } => format!("cast {value} {width}"),
        Step::Apply { instruction, args } => {
            let args: Vec<String> = args
                .iter()
                .map(|a| match a {
                    Argument::Value(value) => format!("v{value}"),
                    Argument::Immediate(bits) => format!("i{}", number(bits)),
                })
                .collect();
            format!("apply {} {}", instruction.intrinsic, args.join(" "))
        }
    })
}

/// The width and the 64-bit words of a number, least significant first.
fn number(bits: &Bits) -> String {
    let width = bits.width();
    let words = (0..width.div_ceil(64)).map(|k| {
        let count = (width - 64 * k).min(64);
        format!("{:x}", bits.extract(64 * k, count).low_u64())
    });
    format!("{width}:{}", words.collect::<Vec<_>>().join(","))
}

/// A number from its text.
fn read_number(text: &str) -> Option<Bits> {
    let (width, words) = text.split_once(':')?;
    let width: u32 = width.parse().ok().filter(|w| (1..=4096).contains(w))?;
    let words: Vec<u64> = words
        .split(',')
        .map(|w| u64::from_str_radix(w, 16).ok())
        .collect::<Option<_>>()?;
    if words.len() != width.div_ceil(64) as usize {
        return None;
    }
    let parts = words.iter().zip(0u32..).map(|(&word, k)| {
        let count = (width - 64 * k).min(64);
        Bits::from_u64(count, word)
    });
    parts.reduce(|low, high| high.concat(&low))
}

/// What was found, from its text; `by_name` has the instructions that there are.
pub(crate) fn read(
    text: &str,
    name: &str,
    inputs: &[String],
    supply: &Supply,
    by_name: &HashMap<&str, Head<'_>>,
) -> Option<(Option<Program>, WindowReport)> {
    let mut lines = text.lines();
    let head = lines.next()?;
    let report = |outcome, cost| WindowReport {
        name: name.to_owned(),
        outcome,
        instructions: Vec::new(),
        cost,
        time: [Duration::ZERO; 2],
        search: SearchReport::default(),
        kept: true,
    };
    if head == "nothing" {
        let bounds = lines.filter_map(bound).collect();
        return Some((None, report(Outcome::NotFound(bounds), 0)));
    }
    let cost = head.strip_prefix("proved ")?.parse().ok()?;
    let evidence = read_proof(lines.next()?)?;
    let mut program = Program::default();
    for line in lines {
        match line.strip_prefix("results ") {
            Some(list) => {
                let values: Option<Vec<usize>> = list.split(' ').map(|v| v.parse().ok()).collect();
                program.outputs = values?;
            }
            None => {
                let step = read_step(line, inputs, supply, by_name)?;
                if uses(&step).any(|v| v >= program.steps.len()) {
                    return None;
                }
                program.steps.push(step);
            }
        }
    }
    let last = program.steps.len();
    if program.outputs.is_empty() || program.outputs.iter().any(|&v| v >= last) {
        return None;
    }
    let mut report = report(Outcome::Proved(evidence), cost);
    report.instructions = crate::compile::instructions_of(&program);
    Some((Some(program), report))
}

/// The values that a step uses.
fn uses(step: &Step) -> impl Iterator<Item = usize> + '_ {
    let (cast, args) = match step {
        Step::Cast { value, .. } => (Some(*value), &[][..]),
        Step::Apply { args, .. } => (None, args.as_slice()),
        Step::Input { .. } | Step::Constant(_) => (None, &[][..]),
    };
    let values = args.iter().filter_map(|a| match a {
        Argument::Value(value) => Some(*value),
        Argument::Immediate(_) => None,
    });
    cast.into_iter().chain(values)
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

fn read_step(
    line: &str,
    inputs: &[String],
    supply: &Supply,
    by_name: &HashMap<&str, Head<'_>>,
) -> Option<Step> {
    let mut words = line.split(' ');
    let kind = words.next()?;
    Some(match kind {
        "input" => Step::Input {
            name: inputs.get(words.next()?.parse::<usize>().ok()?)?.clone(),
            lo: words.next()?.parse().ok()?,
            width: words.next()?.parse().ok()?,
        },
        "constant" => Step::Constant(read_number(words.next()?)?),
        "cast" => Step::Cast {
            value: words.next()?.parse().ok()?,
            width: words.next()?.parse().ok()?,
        },
        "apply" => {
            let head = by_name.get(words.next()?)?;
            let args = words
                .filter(|w| !w.is_empty())
                .map(|w| match w.strip_prefix('v') {
                    Some(value) => Some(Argument::Value(value.parse().ok()?)),
                    None => Some(Argument::Immediate(read_number(w.strip_prefix('i')?)?)),
                })
                .collect::<Option<Vec<_>>>()?;
            Step::Apply {
                instruction: supply.machine(head)?,
                args,
            }
        }
        _ => return None,
    })
}
