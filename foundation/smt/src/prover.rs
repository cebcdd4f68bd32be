//! Proofs of equality and solving for unknowns: the one place that orders the steps.
//!
//! In: terms, rolled or flat. Out: [`Verdict`] and [`Answer`]. A question of equality goes:
//! same node, cut into elements, elements that say the same asked once, normal forms,
//! evaluation on edge and random inputs, the embedded engine, the same for parts of it that seem equal
//! where that gives no short answer, the embedded engine at length, the SMT solver. Every model is
//! run in the interpreter before it is believed. It does not search for programs.

use crate::blast::{self, Found};
use crate::cache::{self, Cache};
use crate::config::Config;
use crate::elements::{self, Question};
use crate::normalise;
use crate::products;
use crate::sample;
use crate::smtlib::{self, External, Script};
use crate::sweep;
use crate::verdict::{Answer, Evidence, Model, Reason, Step, Verdict};
use semantics::build;
use semantics::diagnostic::Diagnostic;
use semantics::op::{Op, OpCode};
use semantics::sort::Sort;
use semantics::subst::replace_parts;
use semantics::term::Term;
use semantics::unroll::unroll;
use semantics::value::Value;
use std::collections::HashMap;

/// Answers questions about terms; shared between threads.
pub struct Prover {
    config: Config,
    solver: Option<External>,
    cache: Option<Cache>,
    problems: Vec<Diagnostic>,
}

/// An engine's answer: what it found, which step that was, conflicts, whether it was cached.
struct Engine {
    found: Found,
    step: Step,
    conflicts: u64,
    cached: bool,
}

/// Inputs on which terms with one normal form are evaluated all the same: the interpreter,
/// not the normal form, has the last word.
const CHECKED_SAMPLES: usize = 64;

/// The embedded engine in cache keys; to be raised when its answers could change.
const EMBEDDED: &str = "embedded 1";

/// What kept proofs were made by: another version's are not believed.
const PROOFS: &str = concat!("proofs 1 of isaforge ", env!("CARGO_PKG_VERSION"));

/// A question after the cheap steps.
enum Cheap {
    Settled(Step),
    Different(Model),
    /// Both sides in normal form, for the engines.
    Open(Term, Term),
}

/// What one question may take.
#[derive(Clone, Copy)]
struct Effort {
    /// Conflicts of the embedded engine.
    conflicts: u64,
    /// Whether the SMT solver is asked too, where there is one.
    solver: bool,
    /// Whether parts that seem equal are asked about where the whole has no answer.
    parts: bool,
}

impl Effort {
    /// As much as a short answer takes.
    fn short(self) -> Effort {
        Effort {
            conflicts: self.conflicts.min(SHORT),
            solver: false,
            parts: false,
        }
    }
}

/// Conflicts of a short answer.
const SHORT: u64 = 5_000;

/// What the names of variables begin with that stand for parts; no operand has such a name.
const CUT: &str = "part ";

/// Parts that are asked about at most.
const PARTS: usize = 64;

/// All bits.
const ALL: &[(u32, u32)] = &[(0, u32::MAX)];

impl Prover {
    /// A prover with these settings. What of them cannot be had (a transcript) is told by
    /// [`Prover::problems`]; the prover works without it.
    pub fn new(config: Config) -> Prover {
        let mut problems = Vec::new();
        let solver = config.solver.clone().map(|solver| {
            let (external, problem) = External::new(solver, config.transcript.as_deref());
            problems.extend(problem);
            external
        });
        let cache = config.cache.clone().map(Cache::open);
        Prover {
            config,
            solver,
            cache,
            problems,
        }
    }

    /// What went wrong when the prover was made.
    pub fn problems(&self) -> &[Diagnostic] {
        &self.problems
    }

    /// Name and version of the SMT solver, if there is one.
    pub fn solver(&self) -> Option<&str> {
        self.solver.as_ref().map(External::title)
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The evidence of a proof that was kept under a text that says all that was proved; never
    /// when an SMT solver is asked everything.
    pub fn cached(&self, what: &str) -> Option<Evidence> {
        let cache = self.cache.as_ref().filter(|_| !self.config.only_solver)?;
        cache.evidence(&cache::key(PROOFS, what))
    }

    /// Keeps the evidence of a proof.
    pub fn keep(&self, what: &str, evidence: &Evidence) {
        if let Some(cache) = &self.cache {
            cache.put_evidence(&cache::key(PROOFS, what), evidence);
        }
    }

    /// Whether proofs are kept at all.
    pub fn keeps(&self) -> bool {
        self.cache.is_some()
    }

    /// Whether two closed terms of one sort are equal for every input.
    pub fn prove_equal(&self, a: Term, b: Term) -> Verdict {
        self.prove_equal_live(a, b, ALL)
    }

    /// Whether two closed terms of one sort agree on the live bits, for every input.
    ///
    /// `live` holds ranges: the first bit, and the bit after the last. They may reach past
    /// the width. Terms that are not bit vectors are compared whole.
    pub fn prove_equal_live(&self, a: Term, b: Term, live: &[(u32, u32)]) -> Verdict {
        self.equal_on(a, b, live, self.effort())
    }

    /// Whether two closed terms of one sort are equal, as far as normal forms and so many conflicts of the
    /// embedded engine tell: for searches, which ask much that has no short answer.
    pub fn prove_equal_within(&self, a: Term, b: Term, conflicts: u64) -> Verdict {
        let effort = Effort {
            conflicts: conflicts.min(self.config.conflicts),
            solver: false,
            parts: false,
        };
        self.equal_on(a, b, ALL, effort)
    }

    fn equal_on(&self, a: Term, b: Term, live: &[(u32, u32)], effort: Effort) -> Verdict {
        if a.sort() != b.sort() {
            return Verdict::Unknown(Reason::Unsupported(format!(
                "equality of {} and {}",
                a.sort(),
                b.sort()
            )));
        }
        let (a, b) = (unroll(a), unroll(b));
        if a == b {
            return Verdict::Proved(Evidence::of(Step::Identical, 1));
        }
        if a.sort() == Sort::Mem {
            let samples = self.config.samples;
            if let Some(model) = sample::find_difference(a, b, self.config.seed, samples) {
                return Verdict::Refuted(model);
            }
        }
        self.ask_all(a, b, &questions(a, b, live), effort)
    }

    /// The evidence that two closed terms of one sort are equal, where normal forms show it; no
    /// engine is asked.
    pub fn equal_by_normal_form(&self, a: Term, b: Term) -> Option<Evidence> {
        let (a, b) = (unroll(a), unroll(b));
        let mut evidence = Evidence::default();
        for (question, count) in questions(a, b, ALL) {
            match self.cheap(&question) {
                Cheap::Settled(step) => evidence.add(&Evidence::of(step, count)),
                Cheap::Different(_) | Cheap::Open(..) => return None,
            }
        }
        (a.sort() == b.sort()).then_some(evidence)
    }

    /// The first question that is left open ends it: what further ones have to say changes nothing.
    fn ask_all(
        &self,
        a: Term,
        b: Term,
        questions: &[(Question, usize)],
        effort: Effort,
    ) -> Verdict {
        let mut evidence = Evidence::default();
        let mut open = Vec::new();
        for (question, count) in questions {
            match self.cheap(question) {
                Cheap::Settled(step) => evidence.add(&Evidence::of(step, *count)),
                Cheap::Different(model) => return confirmed(a, b, question, &model),
                Cheap::Open(x, y) => open.push((question, *count, x, y)),
            }
        }
        for (question, count, x, y) in open {
            let (engine, parts) = self.decided(question, (x, y), effort);
            evidence.conflicts += engine.conflicts;
            match engine.found {
                Found::Nothing => {
                    evidence.add(&engine.evidence(count));
                    evidence.add(&parts);
                }
                Found::Model(model) => return confirmed(a, b, question, &model),
                Found::Unknown(reason) => return Verdict::Unknown(reason),
            }
        }
        Verdict::Proved(evidence)
    }

    /// What the engines say to an open question, whose normal forms are given, and the evidence of its
    /// parts: what has no short answer is asked again with parts of one side for equal ones of the other.
    fn decided(
        &self,
        question: &Question,
        (x, y): (Term, Term),
        effort: Effort,
    ) -> (Engine, Evidence) {
        let mut evidence = Evidence::default();
        if let Some((limited, wanted)) = products::abstracted(question.a, question.b) {
            let engine = self.differ(normalise::pair(limited, wanted), effort);
            evidence.conflicts += engine.conflicts;
            if matches!(engine.found, Found::Nothing) {
                return (engine, Evidence::default());
            }
        }
        if !effort.parts || effort.conflicts <= SHORT {
            return (self.differ((x, y), effort), evidence);
        }
        let engine = self.differ((x, y), effort.short());
        if !matches!(engine.found, Found::Unknown(_)) {
            return (engine, evidence);
        }
        evidence.conflicts += engine.conflicts;
        let (now, parts) = self.with_parts(question, effort.short());
        evidence.add(&parts);
        let open = match now == question.b {
            true => (x, y),
            false => normalise::pair(question.a, now),
        };
        (self.differ(open, effort), evidence)
    }

    /// The second side of a question with parts of the first for those that are equal, each shown to be
    /// with what was shown before, and the evidence of these.
    fn with_parts(&self, question: &Question, effort: Effort) -> (Term, Evidence) {
        let (mut evidence, mut known, mut cuts) =
            (Evidence::default(), HashMap::new(), HashMap::new());
        let pairs = sweep::alike(question.a, question.b, self.config.seed);
        for (own, part) in pairs.into_iter().take(PARTS) {
            let now = replace_parts(part, &|t| known.get(&t).copied());
            // What was shown to be equal may mostly be anything.
            let [any, other] = [own, now].map(|t| replace_parts(t, &|t| cuts.get(&t).copied()));
            let mut verdict = self.equal_on(any, other, ALL, effort);
            if !verdict.is_proved() && (any, other) != (own, now) {
                verdict = self.equal_on(own, now, ALL, effort);
            }
            if let Verdict::Proved(found) = verdict {
                evidence.add(&found);
                known.insert(part, own);
                let cut = Term::var(&format!("{CUT}{}", cuts.len()), own.sort());
                cuts.entry(own).or_insert(cut);
            }
        }
        let now = replace_parts(question.b, &|t| known.get(&t).copied());
        (now, evidence)
    }

    /// What the engines say to whether two terms can differ.
    fn differ(&self, (x, y): (Term, Term), effort: Effort) -> Engine {
        let constraint = build::negate(build::eq(x, y));
        self.engines(&[constraint], effort, |limits| blast::differ(x, y, limits))
    }

    /// Everything that needs no engine.
    fn cheap(&self, question: &Question) -> Cheap {
        let (a, b) = (question.a, question.b);
        if a == b {
            return Cheap::Settled(Step::Identical);
        }
        let (x, y) = normalise::pair(a, b);
        let met = x == y;
        let samples = if met {
            self.config.samples.min(CHECKED_SAMPLES)
        } else {
            self.config.samples
        };
        match sample::find_difference(a, b, self.config.seed, samples) {
            Some(model) => Cheap::Different(model),
            None if met => Cheap::Settled(Step::NormalForm),
            None => Cheap::Open(x, y),
        }
    }

    /// The embedded engine, then the SMT solver for what that leaves open; both through the
    /// cache. The constraints say the same as what `embedded` asks.
    fn engines(
        &self,
        constraints: &[Term],
        effort: Effort,
        embedded: impl Fn(blast::Limits) -> (Found, u64),
    ) -> Engine {
        let solver = self.solver.as_ref().filter(|_| effort.solver);
        let script =
            (self.cache.is_some() || solver.is_some()).then(|| smtlib::script(constraints));
        let mut engine = None;
        if !(self.config.only_solver && solver.is_some()) {
            let limits = format!("{EMBEDDED} {} conflicts", effort.conflicts);
            engine = Some(self.through_cache(&limits, script.as_ref(), Step::Sat, || {
                embedded(self.limits(effort))
            }));
        }
        if let Some(decided) = engine.take_if(|e| !matches!(e.found, Found::Unknown(_))) {
            return decided;
        }
        let conflicts = engine.as_ref().map_or(0, |e| e.conflicts);
        let unknown = |reason| Engine {
            found: Found::Unknown(reason),
            step: Step::Sat,
            conflicts,
            cached: false,
        };
        match (solver, script) {
            (Some(solver), Some(Ok(script))) => {
                let name = format!("{} {} ms", solver.title(), solver.config().time.as_millis());
                let step = Step::Solver(solver.title().to_owned());
                let asked = Ok(script);
                let ask = || {
                    (
                        asked
                            .as_ref()
                            .map_or_else(|r: &Reason| Found::Unknown(r.clone()), |s| solver.ask(s)),
                        0,
                    )
                };
                let answer = self.through_cache(&name, Some(&asked), step, ask);
                Engine {
                    conflicts,
                    ..answer
                }
            }
            (_, Some(Err(reason))) if engine.is_none() => unknown(reason),
            _ => engine.unwrap_or_else(|| unknown(Reason::Unsupported("any engine".to_owned()))),
        }
    }

    fn through_cache(
        &self,
        engine: &str,
        script: Option<&Result<Script, Reason>>,
        step: Step,
        ask: impl Fn() -> (Found, u64),
    ) -> Engine {
        let (Some(cache), Some(Ok(script))) = (&self.cache, script) else {
            let (found, conflicts) = ask();
            return Engine {
                found,
                step,
                conflicts,
                cached: false,
            };
        };
        let key = cache::key(engine, &script.text());
        if let Some(found) = cache.get(&key) {
            let found = named(found, |name| script.original_name(name));
            return Engine {
                found,
                step,
                conflicts: 0,
                cached: true,
            };
        }
        let (found, conflicts) = ask();
        cache.put(
            &key,
            &named(found.clone(), |name| script.canonical_name(name)),
        );
        Engine {
            found,
            step,
            conflicts,
            cached: false,
        }
    }

    /// What one question may take.
    fn effort(&self) -> Effort {
        Effort {
            conflicts: self.config.conflicts,
            solver: true,
            parts: !self.config.only_solver,
        }
    }

    fn limits(&self, effort: Effort) -> blast::Limits {
        blast::Limits {
            conflicts: effort.conflicts,
            time: self.config.sat_time,
        }
    }

    /// An input that makes every constraint (a truth value) true.
    pub fn solve(&self, constraints: &[Term]) -> Answer {
        let normal: Vec<Term> = constraints
            .iter()
            .map(|&c| normalise::normalise(c))
            .collect();
        self.solve_flat(constraints, &normal)
    }

    /// As [`Prover::solve`], without normal forms: what the engines make of the constraints
    /// as they are written.
    pub fn solve_as_written(&self, constraints: &[Term]) -> Answer {
        let flat: Vec<Term> = constraints.iter().map(|&c| unroll(c)).collect();
        self.solve_flat(constraints, &flat)
    }

    fn solve_flat(&self, constraints: &[Term], flat: &[Term]) -> Answer {
        let engine = self.engines(flat, self.effort(), |limits| blast::satisfy(flat, limits));
        match engine.found {
            Found::Nothing => Answer::Unsat(Evidence {
                conflicts: engine.conflicts,
                ..engine.evidence(1)
            }),
            Found::Model(model) => {
                let values = sample::evaluate(constraints, &model);
                if values.is_some_and(|v| v.iter().all(|v| *v == Value::Bool(true))) {
                    Answer::Sat(model)
                } else {
                    Answer::Unknown(Reason::BadAnswer(
                        "the model does not satisfy the constraints".to_owned(),
                    ))
                }
            }
            Found::Unknown(reason) => Answer::Unknown(reason),
        }
    }
}

impl Engine {
    fn evidence(&self, count: usize) -> Evidence {
        Evidence {
            cached: usize::from(self.cached),
            ..Evidence::of(self.step.clone(), count)
        }
    }
}

/// The answer with the names of its model changed; names that have no other are dropped.
fn named(found: Found, other: impl Fn(&str) -> Option<String>) -> Found {
    match found {
        Found::Model(model) => Found::Model(
            model
                .into_iter()
                .filter_map(|(name, v)| Some((other(&name)?, v)))
                .collect(),
        ),
        found => found,
    }
}

/// The variable that stands for any address; no operand has such a name.
const ANY_ADDRESS: &str = "any address";

/// The distinct questions about the live pieces, each with the number of its pieces.
fn questions(a: Term, b: Term, live: &[(u32, u32)]) -> Vec<(Question, usize)> {
    if a.sort() == Sort::Mem {
        // Memories are equal when every byte is.
        let address = Term::var(ANY_ADDRESS, Sort::Bv(64));
        let byte = |m: Term| build::app(Op::with(OpCode::Read, 1), &[m, address]);
        return vec![(Question::new(byte(a), byte(b)), 1)];
    }
    let Some(_) = a.sort().width() else {
        return vec![(Question::new(a, b), 1)];
    };
    let pieces = elements::live(&elements::pieces(a, b), live);
    let mut questions: Vec<(Question, usize)> = Vec::new();
    let mut known: HashMap<(Term, Term), usize> = HashMap::new();
    for (lo, width) in pieces {
        let question = Question::new(build::extract(a, lo, width), build::extract(b, lo, width));
        match known.get(&(question.a, question.b)) {
            Some(&at) => questions[at].1 += 1,
            None => {
                known.insert((question.a, question.b), questions.len());
                questions.push((question, 1));
            }
        }
    }
    questions
}

/// A refutation, if the interpreter agrees that the terms differ there.
fn confirmed(a: Term, b: Term, question: &Question, model: &Model) -> Verdict {
    let differs = sample::evaluate(&[question.a, question.b], model).is_some_and(|v| v[0] != v[1]);
    let original = question.original(model);
    let differs = differs && sample::evaluate(&[a, b], &original).is_some_and(|v| v[0] != v[1]);
    if differs {
        Verdict::Refuted(original)
    } else {
        Verdict::Unknown(Reason::BadAnswer(
            "the interpreter sees no difference on its model".to_owned(),
        ))
    }
}
