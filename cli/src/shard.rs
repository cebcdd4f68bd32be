//! `isaforge build --shard I/N` and `--merge`: the offline phase in parts.
//!
//! In: specifications and which part of how many; or the files of all parts. Out: a file with what
//! the work on single instructions found (meanings of bodies, candidates, proofs of candidates); with
//! `--merge` too, what was proved of a part of what those had left; or the dictionary that a run in
//! one piece makes, byte for byte: classes are found and whatever is not among the parts is done
//! where they are merged. Which body is in which part follows from its digest, so that parts need
//! not know of each other. A file names the program, the specifications and the solver that it is
//! of, and a digest of itself. Files are named by the user and believed like a cache of one's own;
//! nothing of them is kept there, and `isaforge verify` believes none.

use crate::args::Build;
use crate::inspect::several;
use crate::intake::{self, Intake};
use crate::status::Status;
use crate::{assets, terminal};
use autoir::dictionary::Dictionary;
use semantics::diagnostic::Diagnostic;
use similarity::cached::CanonicalCache;
use similarity::class::Report;
use similarity::shard::{Proofs, Work, prepare, prepare_rest};
use smt::prover::Prover;
use spec_parser::lowering_cache::LoweringCache;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::str::FromStr;
use store::local::write_whole;
use store::object::Key;

/// How the first line of a part begins.
const MARK: &str = "isaforge part 2";

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

/// What a part is a part of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Round {
    /// The work on single instructions.
    Single,
    /// What is open when all of them are seen together.
    Rest,
}

impl Round {
    fn name(self) -> &'static str {
        match self {
            Round::Single => "part",
            Round::Rest => "rest",
        }
    }
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
    let (round, work, sections) = match request.merge.is_empty() {
        true => single(request, share, &prover)?,
        false => rest(request, share, &prover)?,
    };
    let Work {
        candidates,
        elements,
    } = work;
    let lengths: Vec<String> = sections.iter().map(|s| s.len().to_string()).collect();
    let (body, name) = (sections.concat(), round.name());
    let Share { part, of } = share;
    let digest = Key::of([&body]);
    let head = format!(
        "{MARK} {name} {part}/{of} {origin} {digest} {} {candidates} {elements}\n",
        lengths.join(" ")
    );
    write_whole(output, [head, body].concat().as_bytes()).map_err(|error| {
        vec![Diagnostic::error(format!(
            "cannot write `{}`: {error}",
            output.display()
        ))]
    })?;
    let read = match round {
        Round::Single => format!("{candidates} instructions read, "),
        Round::Rest => String::new(),
    };
    terminal::print(&format!(
        "{name} {part} of {of}: {read}{elements} elements proved\nwritten to {}\n",
        output.display()
    ));
    Ok(Status::Done)
}

/// A part's round, how much was done, and its texts.
type Made = (Round, Work, [String; 3]);

/// A part of the work on single instructions.
fn single(request: &Build, share: Share, prover: &Prover) -> Result<Made, Vec<Diagnostic>> {
    let [part, of] = [share.part - 1, share.of].map(|n| n as usize);
    let meanings = LoweringCache::part(part, of);
    let intake = several(&request.specs, |folder, vendor| {
        intake::instructions_known(folder, vendor, &meanings)
    })?;
    let bar = terminal::bar("reading", intake.instructions.len());
    let done = prepare(&intake.instructions, prover, &|_, n, _| {
        bar.set_position(n as u64)
    });
    bar.finish_and_clear();
    let sections = [
        meanings.text().unwrap_or_else(|| "0\n".to_owned()),
        done.candidates.text().unwrap_or_else(|| "0\n".to_owned()),
        done.proofs.text(),
    ];
    Ok((Round::Single, done.work, sections))
}

/// A part of what those have left.
fn rest(request: &Build, share: Share, prover: &Prover) -> Result<Made, Vec<Diagnostic>> {
    let known = known(&all(request)?)?;
    let intake = several(&request.specs, |folder, vendor| {
        intake::instructions_known(folder, vendor, &known.meanings)
    })?;
    let bar = terminal::bar("reading", intake.instructions.len());
    let [part, of] = [share.part - 1, share.of].map(|n| n as usize);
    let (proofs, work) = prepare_rest(
        &intake.instructions,
        prover,
        (&known.candidates, &known.proofs),
        (part, of),
        &|_, n, _| bar.set_position(n as u64),
    );
    bar.finish_and_clear();
    let none = || "0\n".to_owned();
    Ok((Round::Rest, work, [none(), none(), proofs.text()]))
}

/// A file that was read.
struct Part {
    round: Round,
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
    let [round, share, of, digest, lengths @ ..] = &words[..] else {
        return Err(damaged());
    };
    let mut rounds = [Round::Single, Round::Rest].into_iter();
    let round = rounds.find(|r| r.name() == *round).ok_or_else(damaged)?;
    let share: Share = share.parse().map_err(|_| damaged())?;
    let numbers: Vec<usize> = lengths.iter().filter_map(|w| w.parse().ok()).collect();
    let [one, two, three, candidates, elements] = numbers[..] else {
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
        round,
        share,
        work: Work {
            candidates,
            elements,
        },
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
                let (round, share) = (part.round, part.share);
                if parts.insert((round, share.part), part).is_some() {
                    let (Share { part, of }, name) = (share, round.name());
                    let message = format!("`{}` is {name} {part}/{of} once more", path.display());
                    wrong.push(Diagnostic::error(message).hint("name each part once"));
                }
            }
            Err(diagnostic) => wrong.push(diagnostic),
        }
    }
    if wrong.is_empty() {
        let parts: Vec<&Part> = parts.values().collect();
        for round in [Round::Single, Round::Rest] {
            wrong.extend(missing(&parts, round));
        }
    }
    match wrong.is_empty() {
        true => Ok(parts.into_values().collect()),
        false => Err(wrong),
    }
}

/// What is missing among the parts of a round; that of the rest may not have been.
fn missing(parts: &[&Part], round: Round) -> Vec<Diagnostic> {
    let mut shares = parts.iter().filter(|p| p.round == round).map(|p| p.share);
    let name = round.name();
    let of = match (shares.next(), round) {
        (Some(share), _) => share.of,
        (None, Round::Single) => {
            let hint = "name the files that `isaforge build --shard I/N` has written too";
            let message = "the parts of the work on single instructions are not among the files";
            return vec![Diagnostic::error(message).hint(hint)];
        }
        (None, Round::Rest) => return Vec::new(),
    };
    if shares.any(|share| share.of != of) {
        let message = "these are parts of builds in different numbers of parts";
        let hint = "make all of them with one N in `--shard I/N`";
        return vec![Diagnostic::error(message).hint(hint)];
    }
    let there = |part| {
        let mut all = parts.iter();
        all.any(|p| p.round == round && p.share.part == part)
    };
    let gone = (1..=of).filter(|&part| !there(part));
    gone.map(|part| {
        let more = match round {
            Round::Single => "",
            Round::Rest => " --merge …",
        };
        Diagnostic::error(format!("{name} {part}/{of} is not among the files")).hint(format!(
            "make it with `--shard {part}/{of}{more}`, and name it too"
        ))
    })
    .collect()
}

/// What parts have found.
struct Known {
    meanings: LoweringCache,
    candidates: CanonicalCache,
    proofs: Proofs,
}

fn known(parts: &[Part]) -> Result<Known, Vec<Diagnostic>> {
    let (mut meanings, mut candidates) = (LoweringCache::default(), Vec::new());
    let mut proofs = Proofs::default();
    for part in parts {
        let [one, two, three] = &part.sections;
        let read = LoweringCache::read(one)
            .zip(CanonicalCache::read(two))
            .zip(Proofs::read(three));
        let Some(((more, read), proved)) = read else {
            let Share { part, of } = part.share;
            let message = format!("part {part}/{of} is not understood");
            let hint = format!("make it again with `--shard {part}/{of}`");
            return Err(vec![Diagnostic::error(message).hint(hint)]);
        };
        meanings.extend(more);
        candidates.push(read);
        proofs.extend(proved);
    }
    Ok(Known {
        meanings,
        candidates: CanonicalCache::of(candidates),
        proofs,
    })
}

/// What parts become.
pub(crate) struct Merged {
    pub(crate) intake: Intake,
    pub(crate) dictionary: Dictionary,
    pub(crate) report: Report,
    /// What is told of the parts.
    pub(crate) reported: String,
}

/// Merges the parts that a request names.
pub(crate) fn merged(request: &Build) -> Result<Merged, Vec<Diagnostic>> {
    let parts = all(request)?;
    let prover = request.prover.without_cache(1).map_err(|d| vec![d])?;
    let Known {
        meanings,
        candidates,
        proofs,
    } = known(&parts)?;
    let intake = several(&request.specs, |folder, vendor| {
        intake::instructions_known(folder, vendor, &meanings)
    })?;
    let (dictionary, report) = intake::classify_known(&intake, &prover, &candidates, &proofs);
    let here = [
        meanings.fresh(),
        candidates.fresh(),
        report.proved_elements(),
    ];
    Ok(Merged {
        reported: reported(&parts, here),
        intake,
        dictionary,
        report,
    })
}

/// How evenly the work was spread, by counts: all that was done, here too, over what all could have
/// done while the busiest of each round worked and then this run.
fn reported(parts: &[Part], here: [usize; 3]) -> String {
    let mut text = String::new();
    let left: usize = here.iter().sum();
    let (mut sum, mut longest, mut workers) = (left, left, 1);
    let mut divided = false;
    for round in [Round::Single, Round::Rest] {
        let totals = parts.iter().filter(|part| part.round == round);
        let totals: Vec<usize> = totals.map(|part| part.work.total()).collect();
        let Some(most) = totals.iter().max() else {
            continue;
        };
        let (n, all) = (totals.len(), totals.iter().sum::<usize>());
        let what = match round {
            Round::Single => "parts",
            Round::Rest => "parts of the rest",
        };
        let _ = writeln!(
            text,
            "{n} {what}: {all} candidates and elements, {most} in the largest"
        );
        (sum, longest, workers) = (sum + all, longest + most, workers.max(n));
        divided = round == Round::Rest;
    }
    let [bodies, candidates, elements] = here;
    let even = sum as f64 / (workers * longest.max(1)) as f64;
    let _ = writeln!(
        text,
        "left to the merge: {bodies} bodies, {candidates} candidates, {elements} elements; efficiency of \
         all {even:.2}"
    );
    if elements > 0 && !divided {
        let _ = writeln!(
            text,
            "`--shard I/{workers} --merge FILE…` divides what is left too"
        );
    }
    text
}
