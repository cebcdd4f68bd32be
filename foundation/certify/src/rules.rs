//! The table of rewrites: every one by its name, and whether it holds.
//!
//! In: who rewrites ([`Source`]): names with what they say, and what each makes of the terms of
//! a [`Corpus`]. Out: [`Row`] for each name. The formulas that are asked about are what the
//! code that rewrites made of terms, not a second list: `from` and `to` of each use, raw. A name
//! that nothing uses is a failure, as is a use that does not hold.

use crate::ask::{Claim, Outcome};
use crate::corpus::Corpus;
use crate::exhaust;
use crate::many::{Plan, ask_all};
use semantics::build;
use semantics::op::{Op, OpCode, Smt};
use semantics::random::Random;
use semantics::rule;
use semantics::sort::Sort;
use semantics::term::Term;
use smt::normalise;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::Duration;

/// One use of a rewrite.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Use {
    /// The rewrite's name.
    pub rule: &'static str,
    /// What was there.
    pub from: Term,
    /// What it became.
    pub to: Term,
}

/// Who rewrites; of a source that has fewer names only these are asked about.
pub struct Source {
    /// Whose rewrites these are.
    pub name: &'static str,
    /// Each with what it says, and why that holds where no solver can be asked.
    pub rules: Vec<(&'static str, String, Option<&'static str>)>,
    /// What they make of a corpus.
    pub uses: fn(&Corpus) -> Vec<Use>,
}

/// How a rewrite is known to hold.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// A solver says so, or a proof was checked, at every width that was asked.
    Solver,
    /// On every input at 8 bits and less; a solver did not say at some width above.
    Exhaustive,
    /// An argument that is written down, and a test.
    Argued,
    /// Some use is not known to hold.
    Open,
    /// Nothing uses it: it may say anything.
    Unused,
    /// Some use does not hold.
    Wrong,
}

/// One rewrite, and what is known of it.
#[derive(Clone, Debug)]
pub struct Row {
    /// Whose it is.
    pub source: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What it says.
    pub formula: String,
    /// How it is known to hold.
    pub kind: Kind,
    /// Uses that a solver was asked about.
    pub uses: usize,
    /// Of these, answered by it.
    pub solver: usize,
    /// Of the others, shown by a proof that was checked.
    pub shown: usize,
    /// Of the others, tried on every input.
    pub exhaustive: usize,
    /// Widths of the terms of those that are left.
    pub open: BTreeSet<u32>,
    /// The first of those that are left, at the least width.
    pub left: Option<Use>,
    /// A use that does not hold.
    pub wrong: Option<Use>,
    /// The argument, where it is one.
    pub argument: Option<&'static str>,
}

/// So many uses of a rewrite at each width are asked about.
const USES: usize = 6;
/// So many applications of each operator are brought to normal forms.
const OF_EACH: usize = 30;
/// The widest terms that are tried on every input in place of an answer.
const FEW_BITS: u32 = 8;

/// The rewrites of this crate's dependencies: constructors, normal forms, operators' definitions.
pub fn sources() -> Vec<Source> {
    let wider = "rounded once, as `semantics::float::wider` says beside each; its tests hold each \
                 equation against the interpreter on edges and random patterns";
    let saturating = "as `semantics::float::saturating` says; its tests hold it against the \
                      interpreter beside every end of every type";
    let rounded = "as `semantics::float::rounded` says; its tests hold it against the interpreter";
    let quotient = "never rounded up to a whole number, as `semantics::float::quotient` says; its tests \
                    hold it against the interpreter, and try every pair of short integers";
    let argument = |r: normalise::Rule| match r {
        normalise::Rule::WiderFloat => Some(wider),
        normalise::Rule::SaturatingConversion
        | normalise::Rule::ClampedConversion
        | normalise::Rule::WiderConversion => Some(saturating),
        normalise::Rule::RoundedConversion => Some(rounded),
        normalise::Rule::QuotientOfFloats => Some(quotient),
        _ => None,
    };
    let constructors = rule::Rule::ALL.iter();
    let normal = normalise::Rule::ALL.iter();
    vec![
        Source {
            name: "constructors",
            rules: constructors
                .map(|r| (r.name(), r.formula().to_owned(), None))
                .collect(),
            uses: of_constructors,
        },
        Source {
            name: "normal forms",
            rules: normal
                .map(|r| (r.name(), r.formula().to_owned(), argument(*r)))
                .collect(),
            uses: of_normal_forms,
        },
        Source {
            name: "definitions",
            rules: defined()
                .map(|op| {
                    let says = "the prover's definition is the checker's".to_owned();
                    (op.code.info().name, says, None)
                })
                .collect(),
            uses: of_definitions,
        },
    ]
}

fn of_constructors(corpus: &Corpus) -> Vec<Use> {
    let uses = corpus.applications.iter().filter_map(|(op, args)| {
        let rewritten = rule::applied(*op, args)?;
        let from = Term::raw_app(*op, args).ok()?;
        Some(Use {
            rule: rewritten.rule().name(),
            from,
            to: rewritten.term(),
        })
    });
    uses.collect()
}

/// Some of a corpus, spread over it, the same in every run.
pub fn some_of(corpus: &Corpus) -> Vec<Term> {
    let mut terms: Vec<Term> = corpus.terms().filter(|t| t.binders() == 0).collect();
    terms.retain(|t| t.sort() != Sort::Int);
    terms.sort_by_key(|t| t.structural_hash());
    // Rare operators are not to be lost among the many.
    let mut of: BTreeMap<&str, usize> = BTreeMap::new();
    terms.retain(|t| {
        let name = t.as_app().map_or("", |(op, _)| op.code.info().name);
        let count = of.entry(name).or_default();
        *count += 1;
        *count <= OF_EACH
    });
    terms.extend(&corpus.larger);
    terms
}

fn of_normal_forms(corpus: &Corpus) -> Vec<Use> {
    let mut uses = Vec::new();
    for t in some_of(corpus) {
        let steps = normalise::steps(t).into_iter();
        uses.extend(steps.chain(normalise::steps_of_order(t)).map(by_step));
    }
    uses.extend(of_sums(corpus.width));
    uses
}

/// Exclusive ors of a few words, and those that are said to be the same.
fn of_sums(width: u32) -> Vec<Use> {
    let named = |name: &str| Term::var(name, Sort::Bv(width));
    let words = [named("x"), named("y"), build::not(named("x")), named("z")];
    let mut random = Random::new(u64::from(width));
    let mut sum = || {
        let start = *random.pick(&words);
        (0..4).fold(start, |sum, _| {
            let op = Op::new(OpCode::BvXor);
            Term::raw_app(op, &[*random.pick(&words), sum]).expect("words of one width")
        })
    };
    let sums: Vec<Term> = (0..24).map(|_| sum()).collect();
    let pairs = sums
        .iter()
        .flat_map(|&from| sums.iter().map(move |&to| (from, to)));
    let steps = pairs.filter_map(|(from, to)| normalise::step_of_sums(to, from));
    steps.map(by_step).collect()
}

fn by_step(step: normalise::Step) -> Use {
    Use {
        rule: step.rule.name(),
        from: step.from,
        to: step.to,
    }
}

/// Operators that have a definition and are not floats.
fn defined() -> impl Iterator<Item = Op> {
    let rows = semantics::table::OPERATORS.iter();
    let defined = rows.filter(|row| matches!(row.smt, Smt::Defined(_)));
    defined
        .filter(|row| row.code != OpCode::GfInverse)
        .map(|row| Op::new(row.code))
}

fn of_definitions(corpus: &Corpus) -> Vec<Use> {
    let mut uses = Vec::new();
    for (op, args) in &corpus.applications {
        let inputs = args
            .iter()
            .all(|a| a.as_var().is_some() || a.as_app().is_none());
        if let (Smt::Defined(expand), true) = (op.info().smt, inputs) {
            uses.extend(definition(*op, args, expand));
        }
    }
    uses.extend(of_floats());
    uses
}

fn definition(op: Op, args: &[Term], expand: fn(&[u32], &[Term]) -> Term) -> Option<Use> {
    Some(Use {
        rule: op.info().name,
        from: Term::raw_app(op, args).ok()?,
        to: expand(op.params(), args),
    })
}

/// Comparisons and classes of floats, in every format.
fn of_floats() -> Vec<Use> {
    let mut uses = Vec::new();
    for format in semantics::float::Format::ALL {
        let w = format.width();
        let named = |name: &str, w: u32| Term::var(&format!("{name}{w}"), Sort::Bv(w));
        for op in defined() {
            let op = Op::with(op.code, format.code());
            let pairs = [
                [named("x", w), named("y", w)],
                [named("x", w), named("control", 8)],
            ];
            if let (Smt::Defined(expand), "format") = (
                op.info().smt,
                op.info().params.first().copied().unwrap_or(""),
            ) {
                uses.extend(pairs.iter().find_map(|args| {
                    Term::raw_app(op, args).ok()?;
                    definition(op, args, expand)
                }));
            }
        }
    }
    uses
}

/// A row for each rule of a source, before anything was asked.
fn unknown(source: &Source) -> impl Iterator<Item = Row> + '_ {
    let row = |(name, formula, argument): &(&'static str, String, Option<&'static str>)| Row {
        source: source.name,
        name,
        formula: formula.clone(),
        kind: Kind::Unused,
        uses: 0,
        solver: 0,
        shown: 0,
        exhaustive: 0,
        open: BTreeSet::new(),
        left: None,
        wrong: None,
        argument: *argument,
    };
    source.rules.iter().map(row)
}

/// What is asked: whose rewrite, at which width, and a use of it. What is the same at several
/// widths is asked at the first.
fn questions(sources: &[Source], widths: &[u32]) -> Vec<(&'static str, u32, Use)> {
    let (mut all, mut seen) = (Vec::new(), HashSet::new());
    for &width in widths {
        let corpus = Corpus::of(width);
        for source in sources {
            let mut uses = (source.uses)(&corpus);
            uses.retain(|one| source.rules.iter().any(|(name, ..)| *name == one.rule));
            let new = few(uses, width).into_iter().filter(|&one| seen.insert(one));
            all.extend(new.map(|one| (source.name, width, one)));
        }
    }
    all
}

/// Asks about every rewrite at every width; `done` is told of every question that was answered,
/// how many there are, and how long it took.
pub fn table(
    sources: &[Source],
    widths: &[u32],
    plan: &Plan,
    done: &(dyn Fn(usize, Duration) + Sync),
) -> Vec<Row> {
    let mut rows: Vec<Row> = sources.iter().flat_map(unknown).collect();
    let questions = questions(sources, widths);
    let things = questions.iter().map(|(_, _, one)| vec![claim(one)]);
    let things: Vec<Vec<Claim>> = things.collect();
    let answers = ask_all(&things, plan, &|_, asked| done(things.len(), asked.time));
    for (((source, width, one), claims), asked) in questions.iter().zip(&things).zip(answers) {
        let row = rows
            .iter_mut()
            .find(|r| r.source == *source && r.name == one.rule);
        let row = row.expect("a source uses only the rules that it names");
        if row.argument.is_some() {
            continue;
        }
        row.uses += 1;
        match asked.outcomes.first() {
            Some(Outcome::Holds { .. }) => row.solver += 1,
            Some(Outcome::Shown { .. }) => row.shown += 1,
            Some(Outcome::Fails(_)) => row.wrong = row.wrong.or(Some(*one)),
            _ => match exhaust::equal(&claims[0]) {
                Some(true) => row.exhaustive += 1,
                Some(false) => row.wrong = row.wrong.or(Some(*one)),
                None => {
                    if row.open.first().is_none_or(|least| width < least) {
                        row.left = Some(*one);
                    }
                    row.open.insert(*width);
                }
            },
        }
    }
    rows.iter_mut().for_each(judge);
    rows
}

fn judge(row: &mut Row) {
    row.kind = match row {
        Row { wrong: Some(_), .. } => Kind::Wrong,
        Row {
            argument: Some(_), ..
        } => Kind::Argued,
        Row { uses: 0, .. } => Kind::Unused,
        Row { open, .. } if open.iter().any(|w| *w <= FEW_BITS) => Kind::Open,
        Row {
            open, exhaustive, ..
        } if !open.is_empty() || *exhaustive > 0 => Kind::Exhaustive,
        _ => Kind::Solver,
    };
}

/// Some uses of each rule, spread over all, the same in every run; of narrow words one more for
/// each operator that is anywhere in what comes out: what a rule hands on is seen only where there
/// is such a thing.
fn few(uses: Vec<Use>, width: u32) -> Vec<Use> {
    let mut of: BTreeMap<&str, BTreeMap<(u64, u64), Use>> = BTreeMap::new();
    for one in uses.into_iter().filter(|one| one.from != one.to) {
        let key = (one.from.structural_hash(), one.to.structural_hash());
        of.entry(one.rule).or_default().insert(key, one);
    }
    let chosen = |uses: BTreeMap<(u64, u64), Use>| {
        let mut seen = HashSet::new();
        let all = uses.into_values().enumerate();
        let kept = all.filter(move |(k, one)| {
            let before = seen.len();
            seen.extend(operators(one.to));
            *k < USES || seen.len() > before && width <= FEW_BITS
        });
        kept.map(|(_, one)| one)
    };
    of.into_values().flat_map(chosen).collect()
}

/// The operators within a term, each with whether it is the outermost.
fn operators(t: Term) -> HashSet<(bool, usize)> {
    let inside = |t: Term| t.as_app().map(|(op, _)| op.code as usize);
    let all = crate::chain::within(t);
    let all = all.into_iter().filter_map(inside).map(|code| (false, code));
    all.chain(inside(t).map(|code| (true, code))).collect()
}

/// That a use holds; what has an index in it holds for the first few.
fn claim(one: &Use) -> Claim {
    let closed = |t: Term| {
        let bits = match t.sort() {
            Sort::Int => Term::raw_app(Op::with(OpCode::IntToBv, 32), &[t]).unwrap_or(t),
            _ => t,
        };
        match t.binders() {
            0 => bits,
            _ => Term::raw_map(4, bits).unwrap_or(bits),
        }
    };
    let (mut a, mut b) = (closed(one.from), closed(one.to));
    if one.from.binders() != one.to.binders() {
        // The index went away on one side.
        let around = |t: Term| Term::raw_map(4, t).unwrap_or(t);
        (a, b) = match one.from.binders() {
            0 => (around(a), b),
            _ => (a, around(b)),
        };
    }
    Claim {
        a,
        b,
        element: a.sort().width().unwrap_or(1),
        live: Vec::new(),
    }
}
