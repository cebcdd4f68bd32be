//! `isaforge build --shard I/N` and `--merge`: the offline phase in parts.
//!
//! In: specifications and which part of how many; or the files of all parts. Out: a file with what
//! the work on single instructions found (meanings of bodies, readings, proofs of readings); or the
//! dictionary that a run in one piece makes, byte for byte: classes are found and whatever is not
//! among the parts is done where they are merged. Which body is in which part follows from its
//! digest, so that parts need not know of each other. A file names the program, the specifications
//! and the solver that it is of, and a digest of itself. Files are named by the user and believed
//! like a cache of one's own; nothing of them is kept there, and `isaforge verify` believes none.

use crate::args::Build;
use crate::inspect::several;
use crate::intake::{self, Intake};
use crate::status::Status;
use crate::{assets, terminal};
use autoir::dictionary::Dictionary;
use semantics::diagnostic::Diagnostic;
use similarity::class::Report;
use similarity::kept::Kept;
use similarity::shard::{Proofs, Work, prepare};
use spec_parser::meanings::Meanings;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::str::FromStr;
use store::local::write_whole;
use store::object::Key;

/// How the first line of a part begins.
const MARK: &str = "isaforge part 1";

/// The most parts.
const MOST: u32 = 1024;

/// One of several parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Share {
    /// From 1.
    part: u32,
    of: u32,
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Share, String> {
        let wrong = || format!("a part of several was expected, from 1/1 to {MOST}/{MOST}");
        let (part, of) = text.split_once('/').ok_or_else(wrong)?;
        let number = |text: &str| text.parse::<u32>().map_err(|_| wrong());
        let (part, of) = (number(part)?, number(of)?);
        match (1..=MOST).contains(&of) && (1..=of).contains(&part) {
            true => Ok(Share { part, of }),
            false => Err(wrong()),
        }
    }
}

/// What a part must have been made with to be of use: this program, these specifications, this
/// solver.
fn origin(request: &Build) -> Result<Key, Vec<Diagnostic>> {
    let program = std::env::current_exe().and_then(std::fs::read);
    let program = program.map_err(|error| {
        let message = format!("cannot read this program, to tell its parts from others': {error}");
        vec![Diagnostic::error(message)]
    })?;
    let mut parts = vec![program];
    let specs = &request.specs;
    for (k, isa) in specs.isa.split(',').enumerate() {
        let folder = assets::folder(isa.trim(), specs.isa_specs.as_deref()).map_err(|d| vec![d])?;
        let vendor = specs.vendor.as_deref().filter(|_| k == 0);
        let files = intake::files(&folder, None).unwrap_or_default();
        parts.push(isa.trim().as_bytes().to_vec());
        parts.extend(files);
        let vendor = vendor.and_then(|path| assets::contents(path).ok());
        parts.push(vendor.unwrap_or_default());
    }
    parts.push(request.prover.solver.as_bytes().to_vec());
    Ok(Key::of(parts))
}

/// Does one part of the work and writes its file.
pub(crate) fn write(request: &Build, share: Share) -> Result<Status, Vec<Diagnostic>> {
    let output = &request.output;
    if output.is_dir() {
        let message = format!("`{}` is a folder, and a part is a file", output.display());
        let hint = format!(
            "name a file, such as `-o {}/part-{}`",
            output.display(),
            share.part
        );
        return Err(vec![Diagnostic::error(message).hint(hint)]);
    }
    let prover = request.prover.without_cache(1).map_err(|d| vec![d])?;
    let origin = origin(request)?;
    let [part, of] = [share.part - 1, share.of].map(|n| n as usize);
    let meanings = Meanings::part(part, of);
    let intake = several(&request.specs, |folder, vendor| {
        intake::instructions_known(folder, vendor, &meanings)
    })?;
    let bar = terminal::bar("reading", intake.instructions.len());
    let done = prepare(&intake.instructions, &prover, &|_, n, _| {
        bar.set_position(n as u64)
    });
    bar.finish_and_clear();
    let Work { readings, elements } = done.work;
    let sections = [
        meanings.text().unwrap_or_else(|| "0\n".to_owned()),
        done.readings.text().unwrap_or_else(|| "0\n".to_owned()),
        done.proofs.text(),
    ];
    let lengths: Vec<String> = sections.iter().map(|s| s.len().to_string()).collect();
    let body = sections.concat();
    let Share { part, of } = share;
    let digest = Key::of([&body]);
    let head = format!(
        "{MARK} {part}/{of} {origin} {digest} {} {readings} {elements}\n",
        lengths.join(" ")
    );
    write_whole(output, [head, body].concat().as_bytes()).map_err(|error| {
        vec![Diagnostic::error(format!(
            "cannot write `{}`: {error}",
            output.display()
        ))]
    })?;
    terminal::print(&format!(
        "part {part} of {of}: {readings} instructions read, {elements} elements proved\nwritten to {}\n",
        output.display()
    ));
    Ok(Status::Done)
}

/// A file that was read.
struct Part {
    share: Share,
    work: Work,
    sections: [String; 3],
}

fn read(path: &Path, origin: &Key) -> Result<Part, Diagnostic> {
    let shown = path.display();
    let bytes = assets::contents(path)
        .map_err(|error| Diagnostic::error(format!("cannot read `{shown}`: {error}")))?;
    let wrong = |what: &str, hint: &str| {
        Diagnostic::error(format!("`{shown}` {what}")).hint(hint.to_owned())
    };
    let damaged = || wrong("is damaged", "make it again with the same `--shard`");
    let text = String::from_utf8(bytes).map_err(|_| damaged())?;
    let Some(rest) = text
        .strip_prefix(MARK)
        .and_then(|rest| rest.strip_prefix(' '))
    else {
        let hint = "`isaforge build --shard 1/8 -o FILE` writes one";
        return Err(wrong("is no part of a build", hint));
    };
    let (head, body) = rest.split_once('\n').ok_or_else(damaged)?;
    let words: Vec<&str> = head.split(' ').collect();
    let [share, of, digest, lengths @ ..] = &words[..] else {
        return Err(damaged());
    };
    let share: Share = share.parse().map_err(|_| damaged())?;
    let numbers: Vec<usize> = lengths.iter().filter_map(|w| w.parse().ok()).collect();
    let [one, two, three, readings, elements] = numbers[..] else {
        return Err(damaged());
    };
    let whole = one.checked_add(two).and_then(|n| n.checked_add(three)) == Some(body.len());
    if !whole || Key::read(digest) != Some(Key::of([body])) {
        return Err(damaged());
    }
    if Key::read(of).as_ref() != Some(origin) {
        let hint = "make all parts and merge them by one program, with the same `--isa`, \
            `--isa-specs`, `--vendor` and `--solver`";
        return Err(wrong("is of another program or other specifications", hint));
    }
    let parts = body.get(..one).zip(body.get(one..one + two));
    let ((one, two), three) = parts.zip(body.get(one + two..)).ok_or_else(damaged)?;
    Ok(Part {
        share,
        work: Work { readings, elements },
        sections: [one, two, three].map(str::to_owned),
    })
}

/// All parts, each once.
fn all(request: &Build) -> Result<Vec<Part>, Vec<Diagnostic>> {
    let origin = origin(request)?;
    let (mut parts, mut wrong) = (BTreeMap::new(), Vec::new());
    for path in &request.merge {
        match read(path, &origin) {
            Ok(part) => {
                let share = part.share;
                if parts.insert(share.part, part).is_some() {
                    let Share { part, of } = share;
                    let message = format!("`{}` is part {part}/{of} once more", path.display());
                    wrong.push(Diagnostic::error(message).hint("name each part once"));
                }
            }
            Err(diagnostic) => wrong.push(diagnostic),
        }
    }
    let of = parts.values().next().map_or(1, |part| part.share.of);
    if parts.values().any(|part| part.share.of != of) {
        let message = "these are parts of builds in different numbers of parts";
        wrong.push(Diagnostic::error(message).hint("make all of them with one N in `--shard I/N`"));
    } else if wrong.is_empty() {
        let missing = (1..=of).filter(|part| !parts.contains_key(part));
        wrong.extend(missing.map(|part| {
            Diagnostic::error(format!("part {part}/{of} is not among the files")).hint(format!(
                "make it with `--shard {part}/{of}`, and name it too"
            ))
        }));
    }
    match wrong.is_empty() {
        true => Ok(parts.into_values().collect()),
        false => Err(wrong),
    }
}

/// What parts become.
pub(crate) struct Merged {
    pub(crate) intake: Intake,
    pub(crate) dictionary: Dictionary,
    pub(crate) report: Report,
    /// What is told of the parts.
    pub(crate) told: String,
}

/// Merges the parts that a request names.
pub(crate) fn merged(request: &Build) -> Result<Merged, Vec<Diagnostic>> {
    let parts = all(request)?;
    let prover = request.prover.without_cache(1).map_err(|d| vec![d])?;
    let (mut meanings, mut readings) = (Meanings::default(), Vec::new());
    let mut proofs = Proofs::default();
    for part in &parts {
        let [one, two, three] = &part.sections;
        let read = Meanings::read(one)
            .zip(Kept::read(two))
            .zip(Proofs::read(three));
        let Some(((more, read), proved)) = read else {
            let Share { part, of } = part.share;
            let message = format!("part {part}/{of} is not understood");
            let hint = format!("make it again with `--shard {part}/{of}`");
            return Err(vec![Diagnostic::error(message).hint(hint)]);
        };
        meanings.extend(more);
        readings.push(read);
        proofs.extend(proved);
    }
    let readings = Kept::of(readings);
    let intake = several(&request.specs, |folder, vendor| {
        intake::instructions_known(folder, vendor, &meanings)
    })?;
    let (dictionary, report) = intake::classify_known(&intake, &prover, &readings, &proofs);
    let here = [meanings.fresh(), readings.fresh(), report.proved_elements()];
    Ok(Merged {
        told: told(&parts, here),
        intake,
        dictionary,
        report,
    })
}

/// How evenly the work was spread, by counts: what all did, over what all could have done while
/// the busiest worked; and what was left to the merge.
fn told(parts: &[Part], [bodies, readings, elements]: [usize; 3]) -> String {
    let totals: Vec<usize> = parts.iter().map(|part| part.work.total()).collect();
    let (sum, most) = (totals.iter().sum::<usize>(), totals.iter().max());
    let most = most.copied().unwrap_or(0).max(1);
    let n = parts.len();
    let even = sum as f64 / (n * most) as f64;
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{n} parts: {sum} readings and elements, {most} in the largest part: efficiency {even:.2}"
    );
    let _ = writeln!(
        text,
        "left to the merge: {bodies} bodies, {readings} readings, {elements} elements"
    );
    text
}
