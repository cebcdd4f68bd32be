//! Schedules for vectors: searched for under the model, the best timed on this machine.
//!
//! In: a kernel, sizes, the settings of a compilation. Out: the kernel with the schedule that
//! is fastest here, or where this machine cannot run it, best under the model. What code the
//! innermost statement gets is asked of the synthesis, once for each such statement. The result
//! is cached: read again for the same kernel, sizes and processor.

use crate::pipeline::{self, Settings};
use crate::{assets, map};
use autoir::program::Program;
use autosched::report;
use autosched::search::{Evaluate, Options, Problem, search};
use autosched::space::Space;
use kernel::data::{fill, numbers};
use kernel::eval::{self, Data};
use kernel::index::Symbol;
use kernel::tree::Kernel;
use lowering::window::{Lowered, Node, Source, Store, Window};
use schedule::Scheduled;
use schedule::directive::Directive;
use schedule_space::nest::nest;
use schedule_space::vectors::{Machine, Statement, Usage, Vectors};
use semantics::diagnostic::Diagnostic;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::{Duration, Instant};
use store::object::{Key, Kind};
use synth::estimate::WindowInput;
use validate::run;

/// How a schedule is searched for.
#[derive(Clone, Debug)]
pub(crate) struct ScheduleRequest {
    /// Sizes, as on the command line.
    pub(crate) sizes: Vec<String>,
    /// Seconds.
    pub(crate) time: Option<f64>,
    /// Whether what was found before is used, and what is found cached.
    pub(crate) keep: bool,
}

/// Schedules that were timed.
const SCHEDULES: Kind = Kind {
    name: "schedules",
    version: 1,
    most: None,
};

/// How many of the best are timed.
const TIMED: usize = 10;

/// The value of a size that is not given.
const SIZE: i64 = 128;

/// A kernel's schedule.
///
/// # Errors
/// Why none is found.
pub(crate) fn choose(
    kernel: &Kernel,
    request: &ScheduleRequest,
    settings: &Settings,
) -> Result<(Scheduled, String), Vec<Diagnostic>> {
    let sizes = sizes(kernel, &request.sizes).map_err(|d| vec![d])?;
    let vectors = nest(kernel, &sizes).and_then(|nest| Vectors::new(nest, machine(settings)));
    let vectors = vectors.map_err(|d| vec![d])?;
    let place = request.keep.then(|| key(kernel, &sizes, settings));
    if let Some((directives, scheduled)) = place.as_ref().and_then(|p| cached(kernel, p)) {
        let mut log = "  schedule: kept from a search before\n".to_owned();
        super::written(&mut log, &directives);
        return Ok((scheduled, log));
    }
    let begin = Instant::now();
    let from = vectors.restricted(&schedule::directives(kernel)?);
    let from = from.map_err(|d| vec![d])?;
    let mut estimator = CostEstimator {
        kernel,
        vectors: &vectors,
        settings,
        known: BTreeMap::new(),
    };
    let options = Options {
        from: Some(from),
        keep: TIMED,
        time: request.time.map(Duration::from_secs_f64),
        ..Options::default()
    };
    let found = search(&vectors.space, &vectors.model, &mut estimator, &options);
    let found = found.map_err(|problem| {
        vec![match &problem {
            Problem::Empty(emptied) => vectors.empty(emptied),
            _ => Diagnostic::error(problem.to_string())
                .at(&kernel.source, kernel.span)
                .hint("write a schedule by hand: `vectorize x by 16 tail mask`"),
        }]
    })?;
    let mut log = String::new();
    let _ = writeln!(
        log,
        "  schedule: searched for in {:.2} s, code found for {} statements",
        begin.elapsed().as_secs_f64(),
        estimator.known.len()
    );
    log.push_str(&report::text(&vectors.space, &found, "tenths of a cycle"));
    let candidates: Vec<Vec<Directive>> = found
        .best
        .iter()
        .map(|leaf| vectors.directives(&leaf.values))
        .collect();
    let best = timed(kernel, &sizes, &candidates, settings, &mut log);
    let directives = &candidates[best.unwrap_or(0)];
    super::written(&mut log, directives);
    // What was not timed is not cached: another machine, or this one tomorrow, may time it.
    if let (Some(key), Some(_)) = (place, best) {
        let lines: Vec<String> = directives.iter().map(Directive::to_string).collect();
        assets::store().put(SCHEDULES, &key, &lines.join("\n"));
    }
    Ok((schedule::apply_directives(kernel, directives)?, log))
}

/// The sizes that were given, and a usual value for the others.
fn sizes(kernel: &Kernel, given: &[String]) -> Result<BTreeMap<Symbol, i64>, Diagnostic> {
    let name = |g: &String| g.split_once('=').map(|(name, _)| name.trim().to_owned());
    let named: BTreeSet<String> = given.iter().filter_map(name).collect();
    let missing = kernel.sizes().map(|s| kernel.symbol_name(s));
    let missing = missing.filter(|n| !named.contains(n));
    let missing: Vec<String> = missing.map(|n| format!("{n}={SIZE}")).collect();
    let sizes = map::sizes(kernel, &[given, &missing].concat())?;
    let value = |s: Symbol| sizes.get(&s).copied().unwrap_or(0);
    match kernel.requires.iter().find(|c| !c.holds(&value)) {
        None => Ok(sizes),
        Some(broken) => Err(Diagnostic::error(
            "this precondition does not hold for the sizes of the search",
        )
        .at(&kernel.source, broken.span)
        .hint(format!("give sizes with `--size n=64`; others are {SIZE}"))),
    }
}

/// What the target's registers and caches are.
fn machine(settings: &Settings) -> Machine {
    let has = |feature: &str| settings.target.features.contains(feature);
    let (width, registers) = match (has("AVX512F"), has("AVX2")) {
        (true, _) => (512, 32),
        (_, true) => (256, 16),
        _ => (128, 16),
    };
    Machine {
        width,
        registers,
        // The least of the tables, on the busier of two kinds of pipes.
        instruction: 5,
        load: if width == 512 { 10 } else { 5 },
        store: if width == 512 { 10 } else { 5 },
        cache: (32 << 10, 10),
    }
}

/// The key of the schedule of a kernel.
fn key(kernel: &Kernel, sizes: &BTreeMap<Symbol, i64>, settings: &Settings) -> Key {
    let target = &settings.target;
    Key::of([
        env!("CARGO_PKG_VERSION"),
        kernel.source.text(),
        &kernel.name,
        &settings.operations.digest().to_string(),
        &format!("{sizes:?} {} {:?}", target.model, target.features),
    ])
}

/// The directives of a schedule that is cached and the kernel after them, when they can be applied.
fn cached(kernel: &Kernel, key: &Key) -> Option<(Vec<Directive>, Scheduled)> {
    let text = assets::store().get(SCHEDULES, key)?;
    let directives: Vec<Directive> = text
        .lines()
        .map(str::parse)
        .collect::<Result<_, _>>()
        .ok()?;
    let scheduled = schedule::apply_directives(kernel, &directives).ok()?;
    (!directives.is_empty()).then_some((directives, scheduled))
}

/// Times candidates, and tells which is the fastest; none when they cannot be run here.
fn timed(
    kernel: &Kernel,
    sizes: &BTreeMap<Symbol, i64>,
    candidates: &[Vec<Directive>],
    settings: &Settings,
    log: &mut String,
) -> Option<usize> {
    let data = fill(kernel, sizes, &mut numbers(1));
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
                let _ = writeln!(log, "  timed {}: {:.2} us", n + 1, seconds * 1e6);
                if best.is_none_or(|b| seconds < b.0) {
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

/// Asks the synthesis what statements take.
struct CostEstimator<'a> {
    kernel: &'a Kernel,
    vectors: &'a Vectors,
    settings: &'a Settings,
    known: BTreeMap<Statement, Result<Usage, String>>,
}

impl Evaluate for CostEstimator<'_> {
    fn cost(&mut self, _: &Space, values: &[i64]) -> Result<u64, String> {
        let statement = self.vectors.statement(values);
        let usage = match self.known.get(&statement) {
            Some(known) => known.clone(),
            None => {
                let usage = self.usage(&statement);
                self.known.insert(statement, usage.clone());
                usage
            }
        };
        usage.map(|usage| self.vectors.cost(values, usage))
    }
}

impl CostEstimator<'_> {
    /// What the code of a statement takes.
    fn usage(&self, statement: &Statement) -> Result<Usage, String> {
        let lowered = schedule::apply_directives(self.kernel, &statement.directives())
            .and_then(|scheduled| lowering::lower(&scheduled))
            .map_err(first)?;
        let sums = lowered
            .windows
            .iter()
            .filter_map(|w| Some((w, carried(w)?)));
        let (window, carried) = sums
            .max_by_key(|(w, _)| (w.output.lanes, w.inputs.len()))
            .ok_or("no statement adds up in a register")?;
        let alone = Lowered {
            windows: vec![window.clone()],
            body: vec![Node::Window {
                window: 0,
                active: None,
            }],
            ..lowered.clone()
        };
        let found = crate::pipeline::search(&alone, self.settings, &|| {});
        let program = found.programs[0].as_ref().ok_or("no code was found")?;
        Ok(self.program_usage(program, &carried))
    }

    /// The time for which the busiest resource is taken, loads apart, and the longest chain from
    /// what is carried to the results.
    fn program_usage(&self, program: &Program, carried: &str) -> Usage {
        let inputs = [WindowInput {
            name: carried.to_owned(),
            width: 0,
            in_memory: false,
            carried: true,
        }];
        let usage = self.settings.operations.usage(program, &inputs);
        Usage {
            pipes: u64::from(usage.taken.values().copied().max().unwrap_or(0)),
            chain: u64::from(usage.chain),
        }
    }
}

/// The input that holds the sum so far, of a window that adds to it.
fn carried(window: &Window) -> Option<String> {
    let same = |source: &Source| match (source, &window.store) {
        (Source::Register(from), Store::Register(to)) => from == to,
        (Source::Array(from), Store::Array(to)) => from == to,
        _ => false,
    };
    let input = window.inputs.iter().find(|i| same(&i.source))?;
    (window.output.lanes > 1).then(|| input.name.clone())
}
