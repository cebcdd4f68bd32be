//! Instructions to equivalence classes, every member proved.
//!
//! In: instructions, a prover. Out: [`Classification`]. The steps, each timed in the report:
//! canonical candidates; buckets of equal layout; instructions of several candidates join the
//! bucket that fits; instructions that mean the same under some order of their operands join
//! although their layouts differ; relations between the numbers of a bucket; a proof that
//! each member's own meaning is the class's at the member's numbers. Whatever is not proved
//! stands apart. The result does not depend on the number of threads.

mod meaning;
mod proofs;

use crate::cached::{self, CanonicalCache};
use crate::canon::{Candidate, Canonical, Layout, canonical};
use crate::class::{Apart, ClassMember, Classification, EquivalenceClass, Report, own_outputs};
use crate::relate::{Relations, agreement, relate};
use crate::shard::{self, Proofs};
pub(crate) use meaning::Sampled;
use rayon::prelude::*;
use semantics::digest::{Digest, Digests};
use semantics::instruction::Instruction;
use semantics::term::Term;
use smt::prover::Prover;
use smt::verdict::{Evidence, Verdict};
use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

/// How far a step has come: its name, instructions done, instructions in all.
pub type Progress<'a> = dyn Fn(&'static str, usize, usize) + Sync + 'a;

/// Finds the classes of some instructions.
pub fn classify(
    instructions: &[Instruction],
    prover: &Prover,
    progress: &Progress<'_>,
) -> Classification {
    let (cached, proofs) = (CanonicalCache::default(), Proofs::default());
    classify_cached(instructions, prover, &cached, &proofs, progress)
}

/// The same, finding only candidates that are not cached, and proving only what is not known to be
/// proved. What is found is the same.
pub fn classify_cached(
    instructions: &[Instruction],
    prover: &Prover,
    cached: &CanonicalCache,
    known: &Proofs,
    progress: &Progress<'_>,
) -> Classification {
    let mut report = Report::default();
    let meanings = meanings(instructions);
    let drafts = drafts(
        instructions,
        &meanings,
        (prover, cached),
        progress,
        &mut report,
    );
    let started = Instant::now();
    let classes = prove_all(
        instructions,
        &meanings,
        drafts,
        (prover, known),
        progress,
        &mut report,
    );
    report.times.push(("proofs", started.elapsed()));
    Classification { classes, report }
}

/// The classes of some instructions, their members not proved yet.
fn drafts(
    instructions: &[Instruction],
    meanings: &[Vec<Digest>],
    (prover, cached): (&Prover, &CanonicalCache),
    progress: &Progress<'_>,
    report: &mut Report,
) -> Vec<EquivalenceClass> {
    let started = Instant::now();
    let (read, layouts) = read_all(instructions, meanings, cached, progress);
    report.direct = read.iter().filter(|r| r.canonical.direct).count();
    report.read = cached.fresh();
    report.times.push(("reading", started.elapsed()));

    let started = Instant::now();
    let mut choice = choose(&read);
    report.times.push(("buckets", started.elapsed()));

    let started = Instant::now();
    (report.joined, report.unjoined) = meaning::join(instructions, &read, &mut choice, prover);
    report.times.push(("joining", started.elapsed()));

    let started = Instant::now();
    let buckets = buckets(&choice);
    let drafts = buckets
        .par_iter()
        .map(|(layout, members)| match layouts.get(layout) {
            Some(layout) => draft(layout, members, &choice),
            None => {
                let layout = layout_again(*layout, members, instructions, &read);
                draft(&layout, members, &choice)
            }
        })
        .collect();
    report.times.push(("relations", started.elapsed()));
    drafts
}

/// What has to be proved of the classes of all instructions: each member's results, and those of its
/// class at its numbers. A member whose class has no such results is not among them.
pub(crate) fn questions(
    instructions: &[Instruction],
    prover: &Prover,
    cached: &CanonicalCache,
    progress: &Progress<'_>,
) -> Vec<(usize, Vec<(Term, Term)>)> {
    let meanings = meanings(instructions);
    let all = (prover, cached);
    let drafts = drafts(
        instructions,
        &meanings,
        all,
        progress,
        &mut Report::default(),
    );
    let of = |class: &EquivalenceClass| {
        let one = |member: &ClassMember| {
            let outputs = class.outputs(&member.values, &member.bindings).ok()?;
            let own = own_outputs(&instructions[member.instruction]);
            Some((member.instruction, own.into_iter().zip(outputs).collect()))
        };
        class.members.iter().filter_map(one).collect::<Vec<_>>()
    };
    drafts.par_iter().flat_map_iter(of).collect()
}

/// How an instruction is read, and what it does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Read {
    pub(crate) canonical: Canonical,
    pub(crate) sampled: Option<Sampled>,
}

/// The digests of each instruction's outputs.
fn meanings(instructions: &[Instruction]) -> Vec<Vec<Digest>> {
    let mut digests = Digests::default();
    instructions
        .iter()
        .map(|i| i.outputs.iter().map(|o| digests.of(o.term)).collect())
        .collect()
}

/// How the instructions are read, in order, and the layouts that were found in doing so: of
/// instructions whose candidates were cached there are none.
fn read_all(
    instructions: &[Instruction],
    meanings: &[Vec<Digest>],
    cached: &CanonicalCache,
    progress: &Progress<'_>,
) -> (Vec<Read>, HashMap<Digest, Layout>) {
    let done = std::sync::atomic::AtomicUsize::new(0);
    let read: Vec<(Read, Vec<Layout>)> = instructions
        .par_iter()
        .zip(meanings)
        .map(|(instruction, meaning)| {
            let key = cached::key(instruction, meaning);
            let read = match cached.get(key) {
                Some(read) => (read, Vec::new()),
                None => {
                    let (read, layouts) = read_one(instruction);
                    cached.keep(key, &read);
                    (read, layouts)
                }
            };
            let n = done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
            progress("reading", n, instructions.len());
            read
        })
        .collect();
    let mut layouts = HashMap::new();
    let read = read.into_iter().map(|(read, found)| {
        let digests = read.canonical.candidates.iter().map(|r| r.layout);
        layouts.extend(digests.zip(found));
        read
    });
    (read.collect(), layouts)
}

/// Each instruction as a class by itself, by its first candidate; all its candidates are kept.
pub(crate) fn read_each(
    instructions: &[Instruction],
    cached: &CanonicalCache,
    progress: &Progress<'_>,
) -> Vec<EquivalenceClass> {
    let meanings = meanings(instructions);
    let (read, layouts) = read_all(instructions, &meanings, cached, progress);
    let classes = read.par_iter().map(|read| {
        let choice = Choice::of(&read.canonical, 0);
        let layout = &layouts[&choice.candidate.layout];
        draft(layout, &[0], std::slice::from_ref(&choice))
    });
    classes.collect()
}

fn read_one(instruction: &Instruction) -> (Read, Vec<Layout>) {
    let (canonical, layouts) = canonical(instruction);
    let sampled = meaning::sample(instruction, &canonical.variables);
    (Read { canonical, sampled }, layouts)
}

/// The layout of a bucket whose members' candidates were all cached: found once more, in a
/// member that is in the bucket by a reading of its own.
fn layout_again(
    layout: Digest,
    members: &[usize],
    instructions: &[Instruction],
    read: &[Read],
) -> Layout {
    let place = |&m: &usize| {
        let mut candidates = read[m].canonical.candidates.iter();
        Some((m, candidates.position(|r| r.layout == layout)?))
    };
    let (member, at) = members
        .iter()
        .find_map(place)
        .expect("who joins a bucket finds somebody there");
    canonical(&instructions[member]).1.swap_remove(at)
}

/// The reading of an instruction that is used, and its variables in the class's order.
#[derive(Clone)]
pub(crate) struct Choice {
    pub(crate) candidate: Candidate,
    pub(crate) bindings: Vec<Option<String>>,
}

impl Choice {
    fn of(canonical: &Canonical, candidate: usize) -> Choice {
        let candidate = canonical.candidates[candidate].clone();
        let bindings = candidate
            .arguments
            .iter()
            .map(|v| v.map(|v| canonical.variables[v].clone()))
            .collect();
        Choice {
            candidate,
            bindings,
        }
    }
}

/// Picks a reading for each instruction: instructions with a choice take the reading that
/// others, which have none, take too; else the one that most of those with a choice have.
fn choose(read: &[Read]) -> Vec<Choice> {
    let candidates = || read.iter().map(|r| &r.canonical);
    let mut settled: HashMap<Digest, Vec<Vec<Option<i64>>>> = HashMap::new();
    let mut shared: HashMap<Digest, usize> = HashMap::new();
    for c in candidates() {
        if c.settled {
            let candidate = &c.candidates[0];
            let rows = settled.entry(candidate.layout).or_default();
            rows.push(candidate.numbers.clone());
        } else {
            for r in &c.candidates {
                *shared.entry(r.layout).or_default() += 1;
            }
        }
    }
    // A settled instruction that nobody shares its reading with has a choice after all.
    let lonely = |c: &Canonical| {
        let first = &c.candidates[0].layout;
        let alone = settled.get(first).is_none_or(|rows| rows.len() == 1);
        c.settled && alone && !shared.contains_key(first)
    };
    let open = |c: &Canonical| !c.settled || lonely(c) && c.candidates.len() > 1;
    let wanted: HashMap<Digest, &Candidate> = candidates()
        .filter(|c| open(c))
        .flat_map(|c| &c.candidates)
        .map(|r| (r.layout, r))
        .collect();
    let relations: HashMap<Digest, Relations> = wanted
        .into_par_iter()
        .filter_map(|(layout, r)| Some((layout, relate(settled.get(&layout)?, &r.roles))))
        .collect();
    let pick = |c: &Canonical| {
        let skipped = usize::from(c.settled);
        let all = || c.candidates.iter().enumerate().skip(skipped);
        let fits = all().filter_map(|(k, r)| {
            let found = agreement(relations.get(&r.layout)?, &r.numbers);
            Some((found, std::cmp::Reverse(k)))
        });
        let most = || {
            let counted = all().map(|(k, r)| {
                let count = shared.get(&r.layout).copied().unwrap_or(0);
                (count, std::cmp::Reverse(k))
            });
            counted.filter(|(n, _)| *n > 0).max()
        };
        fits.max()
            .or_else(most)
            .map_or(0, |(_, std::cmp::Reverse(k))| k)
    };
    read.par_iter()
        .map(|r| &r.canonical)
        .map(|c| Choice::of(c, if open(c) { pick(c) } else { 0 }))
        .collect()
}

/// Instructions by layout, ordered by the first of each.
fn buckets(choice: &[Choice]) -> Vec<(Digest, Vec<usize>)> {
    let mut by_layout: BTreeMap<Digest, Vec<usize>> = BTreeMap::new();
    for (at, c) in choice.iter().enumerate() {
        by_layout.entry(c.candidate.layout).or_default().push(at);
    }
    let mut all: Vec<_> = by_layout.into_iter().collect();
    all.sort_by_key(|(_, members)| members[0]);
    all
}

/// The class of a bucket, its members not proved yet.
fn draft(layout: &Layout, members: &[usize], choice: &[Choice]) -> EquivalenceClass {
    let roles = &choice[members[0]].candidate.roles;
    let rows: Vec<Vec<Option<i64>>> = members
        .iter()
        .map(|&m| choice[m].candidate.numbers.clone())
        .collect();
    let rows = whole_widths(rows, members, choice);
    let relations = relate(&rows, roles);
    let arguments = choice[members[0]].bindings.len();
    let zero: Vec<bool> = (0..arguments)
        .map(|a| members.iter().all(|&m| choice[m].bindings[a].is_none()))
        .collect();
    let skeletons = layout.skeletons(&relations.numbers, relations.roles.len(), &zero);
    let made = members.iter().zip(relations.values);
    EquivalenceClass {
        skeletons,
        roles: relations.roles,
        arguments,
        members: made
            .map(|(&m, values)| ClassMember {
                instruction: m,
                values,
                bindings: choice[m].bindings.clone(),
                evidence: Vec::new(),
            })
            .collect(),
    }
}

/// Where some members have zeros above their elements and others have none, the width of
/// the whole register is a number of all of them.
fn whole_widths(
    mut rows: Vec<Vec<Option<i64>>>,
    members: &[usize],
    choice: &[Choice],
) -> Vec<Vec<Option<i64>>> {
    for (output, &at) in choice[members[0]].candidate.registers.iter().enumerate() {
        if rows.iter().any(|row| row[at].is_some()) {
            for (row, &m) in rows.iter_mut().zip(members) {
                row[at] = Some(choice[m].candidate.widths[output]);
            }
        }
    }
    rows
}

/// Proves every member; those that are not proved become classes of their own.
fn prove_all(
    instructions: &[Instruction],
    meanings: &[Vec<Digest>],
    mut drafts: Vec<EquivalenceClass>,
    (prover, known): (&Prover, &Proofs),
    progress: &Progress<'_>,
    report: &mut Report,
) -> Vec<EquivalenceClass> {
    let place: BTreeMap<usize, (usize, usize)> = drafts
        .iter()
        .enumerate()
        .flat_map(|(c, class)| {
            let members = class.members.iter().enumerate();
            members.map(move |(m, member)| (member.instruction, (c, m)))
        })
        .collect();
    let proofs = {
        let done = std::sync::atomic::AtomicUsize::new(0);
        let work: Vec<(usize, (usize, usize))> = place.into_iter().collect();
        let digests: Vec<Digest> = drafts.par_iter().map(proofs::digest_of).collect();
        work.par_iter()
            .map(|&(at, (c, m))| {
                let (class, own) = (&drafts[c], &instructions[at]);
                let member = &class.members[m];
                let prove = || shard::prove(class, member, own, prover, known);
                let found = proofs::evidence(digests[c], member, &meanings[at], prover, prove);
                let n = done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
                progress("proving", n, instructions.len());
                (at, (c, m), found)
            })
            .collect::<Vec<_>>()
    };
    let mut alone = Vec::new();
    let mut lost: Vec<(usize, usize)> = Vec::new();
    for (at, (c, m), found) in proofs {
        match found {
            Ok(evidence) => {
                evidence.iter().for_each(|e| report.proved.add(e));
                let known = evidence
                    .iter()
                    .filter(|e| e.cached > 0 && e.cached == e.questions);
                report.known += known.flat_map(|e| e.elements.values()).sum::<usize>();
                drafts[c].members[m].evidence = evidence;
            }
            Err(why) => {
                report.apart.push((at, why));
                lost.push((c, m));
                alone.push(by_itself(&instructions[at], at, prover));
            }
        }
    }
    lost.sort_unstable();
    for &(c, m) in lost.iter().rev() {
        drafts[c].members.remove(m);
    }
    drafts.retain(|c| !c.members.is_empty());
    drafts.extend(alone);
    drafts.sort_by_key(|c| c.members[0].instruction);
    drafts
}

/// Whether a member's own meaning is the class's at the member's numbers.
///
/// # Errors
/// Why not.
pub fn prove(
    class: &EquivalenceClass,
    member: &ClassMember,
    instruction: &Instruction,
    prover: &Prover,
) -> Result<Vec<Evidence>, Apart> {
    let outputs = class
        .outputs(&member.values, &member.bindings)
        .map_err(|e| Apart::NoMeaning(e.to_string()))?;
    let own = own_outputs(instruction);
    if outputs.len() != own.len() {
        let (have, want) = (outputs.len(), own.len());
        return Err(Apart::NoMeaning(format!("{have} outputs, not {want}")));
    }
    let mut evidence = Vec::new();
    for (a, b) in own.into_iter().zip(outputs) {
        match prover.prove_equal(a, b) {
            Verdict::Proved(e) => evidence.push(e),
            Verdict::Refuted(model) => return Err(Apart::Different(model)),
            Verdict::Unknown(reason) => return Err(Apart::Unknown(reason)),
        }
    }
    Ok(evidence)
}

/// A class of one instruction as it was given: proved by being the same terms.
fn by_itself(instruction: &Instruction, at: usize, prover: &Prover) -> EquivalenceClass {
    let (layout, canonical) = crate::canon::as_given(instruction);
    let choice = Choice::of(&canonical, 0);
    let mut class = draft(&layout, &[0], std::slice::from_ref(&choice));
    class.members[0].instruction = at;
    if let Ok(evidence) = prove(&class, &class.members[0], instruction, prover) {
        class.members[0].evidence = evidence;
    }
    class
}
