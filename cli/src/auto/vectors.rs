//! Schedules for vectors: searched for under a model of costs, the best timed on this machine.
//!
//! In: any kernel, sizes, the settings of a compilation. Out: the kernel with the schedule that
//! is fastest here, or where this machine cannot run it, cheapest under the model; the kernel as it
//! was written when nothing is cheaper. What can be chosen is said by [`schedule_space::climb`],
//! what code statements get by the synthesis, asked once for each, and what it costs by [`synth::estimate::nest`].
//! The result is cached: read again for the same kernel, sizes and processor.

use super::sizes;
use crate::args::Size;
use crate::assets;
use crate::pipeline::{self, Settings};
use kernel::data::{numbers, ordinary};
use kernel::eval::{self, Data};
use kernel::index::Symbol;
use kernel::tree::Kernel;
use lowering::window::{Lowered, LoweredNode};
use schedule::Scheduled;
use schedule::directive::Directive;
use schedule_space::climb::{self, Evaluate, Found, Limits, search};
use schedule_space::loops::{told_apart, work};
use semantics::diagnostic::Diagnostic;
use semantics::span::Span;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::time::{Duration, Instant};
use store::object::{Key, Kind};
use synth::compile::{Shape, prepared};
use synth::estimate::nest::{self, Code};
use validate::run;

/// How a schedule is searched for.
#[derive(Clone, Debug)]
pub(crate) struct ScheduleRequest {
    /// Sizes that were given.
    pub(crate) sizes: Vec<Size>,
    /// Seconds.
    pub(crate) time: Option<f64>,
    /// Whether what was found before is used, and what is found cached.
    pub(crate) keep: bool,
}

/// Schedules that were timed.
const SCHEDULES: Kind = Kind {
    name: "schedules",
    version: 9,
    most: None,
};

/// How many of the best are timed.
const TIMED: usize = 6;

/// What a schedule takes at most of the time of one that the model has before it, to be faster than
/// that: times of one program differ by as much.
const FASTER: f64 = 0.92;

/// The most schedules of one nest that are costed.
const COSTED: usize = 300;

/// What begins a line about a nest without lanes where a schedule is cached, and what ends it.
const SCALAR: &str = "scalar";
const END: &str = "end";

/// A schedule that was cached.
struct CachedSchedule {
    directives: Vec<Directive>,
    scheduled: Scheduled,
    scalar: Vec<(Span, String)>,
}

/// What was chosen.
pub(crate) struct Chosen {
    /// The kernel after its schedule.
    pub(crate) scheduled: Scheduled,
    /// What the search did, in words.
    pub(crate) reported: String,
    /// Nests that have no lanes, and why.
    pub(crate) scalar: Vec<(Span, String)>,
}

/// A kernel's schedule.
///
/// # Errors
/// What is wrong with sizes that were given, or with the kernel's own directives.
pub(crate) fn choose(
    kernel: &Kernel,
    request: &ScheduleRequest,
    settings: &Settings,
) -> Result<Chosen, Vec<Diagnostic>> {
    let chosen = |scheduled, reported, scalar| {
        Ok(Chosen {
            scheduled,
            reported,
            scalar,
        })
    };
    let own = schedule::directives(kernel)?;
    // Directives that are refused are told where they stand, as without a search.
    let given = schedule::apply(kernel)?;
    let own: Vec<Directive> = own.into_iter().map(|l| l.directive).collect();
    let Some(sizes) = sizes::choose(kernel, &request.sizes).map_err(|d| vec![d])? else {
        let log = "  schedule: none is searched for: no sizes were found that satisfy `requires`\n";
        return chosen(given, log.to_owned(), Vec::new());
    };
    let mut log = format!("  schedule: at {}\n", kernel.values_text(&sizes));
    // Directives that somebody wrote mean the names that they wrote.
    let (kernel, renamed) = match own.is_empty() {
        true => told_apart(kernel),
        false => (kernel.clone(), Vec::new()),
    };
    for (new, old) in renamed {
        let _ = writeln!(log, "  another loop `{old}` is called `{new}`");
    }
    let place = request
        .keep
        .then(|| key(&kernel, &sizes, request.time, settings));
    if let Some(kept) = place.as_ref().and_then(|p| cached(&kernel, p)) {
        let _ = writeln!(log, "  schedule: kept from a search before");
        super::written(&mut log, &kept.directives);
        return chosen(kept.scheduled, log, kept.scalar);
    }
    let Some(found) = searched(&kernel, &own, &sizes, request, settings, &mut log) else {
        return chosen(given, log, Vec::new());
    };
    let candidates: Vec<&[Directive]> = found.best.iter().map(|c| &c.directives[..]).collect();
    let best = timed(&kernel, &sizes, &candidates, settings, &mut log);
    let directives = candidates[best.unwrap_or(0)];
    super::written(&mut log, directives);
    if let Some(key) = place {
        let lines = directives.iter().map(Directive::to_string);
        let scalar = found.scalar.iter().map(|(span, why)| {
            let why = why.replace('\n', " ");
            format!("{SCALAR} {} {} {why}", span.start, span.end)
        });
        let lines: Vec<String> = lines.chain(scalar).chain([END.to_owned()]).collect();
        assets::store().put(SCHEDULES, &key, &lines.join("\n"));
    }
    let scheduled = schedule::apply_directives(&kernel, directives)?;
    chosen(scheduled, log, found.scalar)
}

/// Searches; nothing when the kernel cannot even be compiled as it is given.
fn searched(
    kernel: &Kernel,
    own: &[Directive],
    sizes: &BTreeMap<Symbol, i64>,
    request: &ScheduleRequest,
    settings: &Settings,
    log: &mut String,
) -> Option<Found> {
    let begin = Instant::now();
    let widths = settings.operations.widths();
    let mut estimator = CostEstimator {
        kernel,
        settings,
        sizes: [sizes.clone(), sizes::near(kernel, sizes)],
        given: None,
        known: HashMap::new(),
    };
    let vectors = climb::Vectors {
        narrowest: widths.vectors().next().unwrap_or(0),
        widest: widths.widest(),
        masked: settings.operations.masked_elements(),
    };
    let limits = Limits {
        evaluations: COSTED,
        until: request.time.map(|t| begin + Duration::from_secs_f64(t)),
        keep: TIMED,
    };
    let found = search(kernel, own, sizes, vectors, &mut estimator, limits).ok()?;
    let _ = writeln!(
        log,
        "  schedule: searched for in {:.2} s, {} schedules of {} nests costed, code looked for {} statements",
        begin.elapsed().as_secs_f64(),
        found.evaluated,
        found.nests.0,
        estimator.known.len()
    );
    reported(&found, log);
    Some(found)
}

/// What a search found, in words.
fn reported(found: &Found, log: &mut String) {
    if found.nests.1 > 0 {
        let _ = writeln!(
            log,
            "  the search ended at a limit in {} nests",
            found.nests.1
        );
    }
    let refused: usize = found.refused.values().sum();
    if let Some((why, _)) = found.refused.iter().max_by_key(|(_, n)| **n) {
        let _ = writeln!(log, "  {refused} schedules are none, most of them as {why}");
    }
    let (best, given) = (found.best[0].cost, found.given);
    let _ = writeln!(
        log,
        "  cost {:.1} cycles, {:.1} as it was given: {:.2} times less",
        best as f64 / 10.0,
        given as f64 / 10.0,
        given as f64 / best.max(1) as f64
    );
}

/// The key of the schedule of a kernel.
fn key(
    kernel: &Kernel,
    sizes: &BTreeMap<Symbol, i64>,
    time: Option<f64>,
    settings: &Settings,
) -> Key {
    let target = &settings.target;
    Key::of([
        env!("CARGO_PKG_VERSION"),
        kernel.source.text(),
        &kernel.name,
        &settings.operations.digest().to_string(),
        &format!("{sizes:?} {time:?} {} {:?}", target.model, target.features),
    ])
}

/// The schedule that is cached, when it can be applied.
fn cached(kernel: &Kernel, key: &Key) -> Option<CachedSchedule> {
    let text = assets::store().get(SCHEDULES, key)?;
    let (mut directives, mut scalar) = (Vec::new(), Vec::new());
    for line in text.strip_suffix(END)?.lines() {
        match line.strip_prefix(SCALAR) {
            None => directives.push(line.parse().ok()?),
            Some(rest) => {
                let mut words = rest.trim_start().splitn(3, ' ');
                let start = words.next()?.parse().ok()?;
                let end = words.next()?.parse().ok()?;
                scalar.push((Span { start, end }, words.next()?.to_owned()));
            }
        }
    }
    let scheduled = schedule::apply_directives(kernel, &directives).ok()?;
    Some(CachedSchedule {
        directives,
        scheduled,
        scalar,
    })
}

/// Times candidates, and tells which is the fastest; none when they cannot be run here.
fn timed(
    kernel: &Kernel,
    sizes: &BTreeMap<Symbol, i64>,
    candidates: &[&[Directive]],
    settings: &Settings,
    log: &mut String,
) -> Option<usize> {
    if work(&kernel.body, sizes) > sizes::MOST_RUN {
        let _ = writeln!(
            log,
            "  not timed: the evaluator would take long at these sizes"
        );
        return None;
    }
    let judge = &settings.judge;
    if judge.by_reference || judge.compiler.as_ref().is_ok_and(|c| !c.runner.is_empty()) {
        let _ = writeln!(
            log,
            "  not timed: another machine would be timed than that of the target"
        );
        return None;
    }
    let data = ordinary(kernel, sizes, &mut numbers(1));
    let expected = match eval::run(kernel, &data) {
        Ok(expected) => expected,
        Err(error) => {
            let _ = writeln!(log, "  not timed: the evaluator stops: {error}");
            return None;
        }
    };
    let mut best: Option<(f64, usize)> = None;
    for (n, directives) in candidates.iter().enumerate() {
        match time_one(kernel, directives, (&data, &expected), settings) {
            Ok(seconds) => {
                let line: Vec<String> = directives.iter().map(Directive::to_string).collect();
                let (us, line) = (seconds * 1e6, line.join("; "));
                let _ = writeln!(log, "  timed {}: {us:.2} us: {line}", n + 1);
                if best.is_none_or(|b| seconds < b.0 * FASTER) {
                    best = Some((seconds, n));
                }
            }
            Err(why) => {
                let why = why.lines().next().unwrap_or("").to_owned();
                let _ = writeln!(log, "  not timed {}: {why}", n + 1);
            }
        }
    }
    if let Some((seconds, n)) = best {
        let _ = writeln!(
            log,
            "  fastest here: {} with {:.2} us",
            n + 1,
            seconds * 1e6
        );
    }
    best.map(|b| b.1)
}

/// The seconds of one call.
fn time_one(
    kernel: &Kernel,
    directives: &[Directive],
    (data, expected): (&Data, &Data),
    settings: &Settings,
) -> Result<f64, String> {
    let (code, needed) = schedule::apply_directives(kernel, directives)
        .and_then(|scheduled| pipeline::code(&scheduled, settings))
        .map_err(first)?;
    let (compiler, flags) = pipeline::runnable(&needed, settings)?;
    match run::timed(kernel, &code, (compiler, &flags), data, expected) {
        Ok(seconds) => Ok(seconds),
        Err(
            run::Outcome::Skipped(why) | run::Outcome::Unsized(why) | run::Outcome::Broken(why),
        ) => Err(why),
        Err(other) => Err(format!("its results are wrong: {other:?}")),
    }
}

/// What the first of some diagnostics says.
fn first(wrong: Vec<Diagnostic>) -> String {
    wrong
        .first()
        .map_or_else(String::new, |d| d.message.clone())
}

/// Asks the synthesis for the code of statements, and the model what it costs.
struct CostEstimator<'a> {
    kernel: &'a Kernel,
    settings: &'a Settings,
    /// The sizes of the search, and some near them, where all that is left over is different.
    sizes: [BTreeMap<Symbol, i64>; 2],
    /// Statements, and values that vector code computes, of the kernel as it was given, which is
    /// asked for first.
    given: Option<(usize, usize)>,
    known: HashMap<Shape, Option<Code>>,
}

/// The most statements that a schedule writes out, and the most values that all vector code of a kernel
/// computes: C compilers take long for more, and processors too.
const STATEMENTS: usize = 96;
const VALUES: usize = 12_000;

/// What sizes near those of the search count for, as a part of these.
const NEAR: u64 = 8;

impl Evaluate for CostEstimator<'_> {
    fn cost(&mut self, directives: &[Directive]) -> Result<u64, String> {
        let scheduled = schedule::apply_directives(self.kernel, directives).map_err(first)?;
        let (lowered, common) = lowering::lower_both(&scheduled).map_err(first)?;
        let is_given = self.given.is_none();
        let (statements, values) = self.given.unwrap_or_default();
        let most = STATEMENTS.max(4 * statements);
        if !is_given && written(&lowered) > most {
            return Err(format!("it writes out more than {most} statements"));
        }
        let (cost, all) = self.time(&lowered);
        let most = VALUES.max(2 * values);
        if !is_given && all > most {
            return Err(format!("it computes more than {most} values side by side"));
        }
        self.given.get_or_insert((written(&lowered), all));
        let common = common.map(|lowered| self.time(&lowered).0);
        Ok(common.unwrap_or(cost).min(cost))
    }
}

impl CostEstimator<'_> {
    /// What statements cost by the model, and how many values their code computes.
    fn time(&mut self, lowered: &Lowered) -> (u64, usize) {
        let windows = prepared(lowered);
        let shapes: Vec<Shape> = windows
            .iter()
            .map(|w| Shape::of(w, self.settings.operations.processor()))
            .collect();
        self.find(lowered, &shapes);
        let codes: Vec<Option<&Code>> = shapes.iter().map(|s| self.known[s].as_ref()).collect();
        let values = codes.iter().flatten().map(|c| c.program.nodes().len());
        let [at, near] = &self.sizes;
        let of = |sizes| nest::cost(lowered, &windows, &codes, sizes, &self.settings.operations);
        (of(at) + of(near) / NEAR, values.sum())
    }

    /// Looks for the code of windows whose shapes are new. Where registers change side by side it is also
    /// looked for beside as many of them as are told apart: that is found once for all schedules in which no round
    /// waits.
    fn find(&mut self, lowered: &Lowered, shapes: &[Shape]) {
        let processor = self.settings.operations.processor();
        let mut wanted: Vec<(usize, Shape, u32)> = Vec::new();
        for (k, own) in shapes.iter().enumerate() {
            if self.known.contains_key(own) {
                continue;
            }
            let most = own.beside_most(processor);
            let most = most.map(|shape| (shape, processor.chains));
            let own = (own.clone(), lowered.windows[k].chains);
            for (shape, chains) in most.into_iter().chain([own]) {
                let is_known = self.known.contains_key(&shape);
                if !is_known && !wanted.iter().any(|(_, other, _)| *other == shape) {
                    wanted.push((k, shape, chains));
                }
            }
        }
        if wanted.is_empty() {
            return;
        }
        let partial = tails(&lowered.body);
        let window = |(k, _, chains): &(usize, Shape, u32)| {
            let mut window = lowered.windows[*k].clone();
            let all = std::iter::once(&mut window.chains);
            let all = all.chain(window.dealt.iter_mut().map(|w| &mut w.chains));
            all.filter(|c| **c > 0).for_each(|c| *c = *chains);
            window
        };
        let alone = Lowered {
            windows: wanted.iter().map(window).collect(),
            body: (wanted.iter().enumerate())
                .map(|(window, (k, ..))| LoweredNode::Window {
                    window,
                    active: partial.get(k).cloned(),
                })
                .collect(),
            ..lowered.clone()
        };
        let found = pipeline::search(&alone, self.settings, &|| {});
        let programs = found.windows.iter().zip(found.programs);
        for ((_, shape, _), (window, program)) in wanted.into_iter().zip(programs) {
            let code = program.map(|program| Code::new(window, program, &self.settings.operations));
            self.known.insert(shape, code);
        }
    }
}

/// How many statements a kernel writes out, those left aside that name a value for others.
fn written(lowered: &Lowered) -> usize {
    let windows = lowered.windows.iter();
    windows.filter(|w| !w.names_a_value()).count()
}

/// The windows that run as tails, with the lanes that count.
fn tails(body: &[LoweredNode]) -> BTreeMap<usize, kernel::index::Index> {
    let mut all = BTreeMap::new();
    for node in body {
        match node {
            LoweredNode::Loop(l) => all.extend(tails(&l.body)),
            LoweredNode::Window {
                window,
                active: Some(active),
            } => {
                all.insert(*window, active.clone());
            }
            LoweredNode::Window { active: None, .. } => {}
        }
    }
    all
}
