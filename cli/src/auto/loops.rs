//! Groups of tiles in loops, searched for.
//!
//! In: a kernel whose sums are tiles in loops, and who counts the cycles of a program. Out: how
//! tiles are grouped, and what the search did in words. The best so far is always there: the
//! usual grouping is the first that is counted.

use autosched::bound::{Model, Term};
use autosched::report;
use autosched::search::{Ended, Evaluate, Options, search};
use autosched::space::Space;
use kernel::index::Symbol;
use schedule::Scheduled;
use semantics::diagnostic::Diagnostic;
use semantics::machine::Machine;
use smt::prover::Prover;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};
use tile::loop_codegen::{Blocks, Variant, in_tiles};
use tile::program::Function;

/// The most instructions that are run to count the cycles of a candidate.
const MOST_STEPS: u64 = 4_000_000;

/// The most tiles of results in a group, and of the depth in a round.
const MOST_TILES: i64 = 6;
const ROUNDS: [i64; 3] = [1, 2, 4];

/// Counts the cycles of a program of at most so many instructions, until then.
pub(crate) type Counts<'a> = dyn Fn(&Function, (u64, Option<Instant>)) -> Option<u64> + 'a;

/// Maps candidates.
struct Grouped<'a> {
    scheduled: &'a Scheduled,
    sizes: &'a BTreeMap<Symbol, i64>,
    machine: &'a Machine,
    prover: &'a Prover,
    blocks: &'a Blocks,
    counts: &'a Counts<'a>,
    until: Option<Instant>,
}

impl Grouped<'_> {
    fn function(&self, variant: Option<Variant>) -> Result<Function, String> {
        let first = |wrong: Vec<Diagnostic>| {
            let message = wrong.first().map(|w| w.message.clone());
            message.unwrap_or_default()
        };
        let of = (self.machine, self.blocks);
        let tiles = in_tiles(self.scheduled, self.sizes, of, variant);
        let tiles = tiles.map_err(first)?.ok_or("there is no sum")?;
        let function = tiles.map(self.sizes, self.machine, self.prover, (0, 64));
        function.map_err(first)
    }

    fn cycles(&self, variant: Option<Variant>) -> Result<u64, String> {
        let function = self.function(variant)?;
        let counted = (self.counts)(&function, (MOST_STEPS, self.until));
        let over = self.until.is_some_and(|until| Instant::now() >= until);
        counted.ok_or_else(|| match over {
            true => "it takes more time to count it than there is".to_owned(),
            false => format!("it takes more than {MOST_STEPS} instructions to count it"),
        })
    }
}

/// The grouping that choices are.
fn variant(values: &[i64]) -> Variant {
    Variant {
        down: values[0],
        along: values[1],
        rounds: values[2],
    }
}

impl Evaluate for Grouped<'_> {
    fn cost(&mut self, _: &Space, values: &[i64]) -> Result<u64, String> {
        self.cycles(Some(variant(values)))
    }
}

/// How tiles are grouped best, none for the usual grouping, and what that takes, where it was counted.
pub(crate) fn searched(
    scheduled: &Scheduled,
    sizes: &BTreeMap<Symbol, i64>,
    (machine, prover, blocks): (&Machine, &Prover, &Blocks),
    (time, counts): (Option<f64>, &Counts<'_>),
    log: &mut String,
) -> Result<(Option<Variant>, Option<u64>), Vec<Diagnostic>> {
    let begin = Instant::now();
    let name = &scheduled.kernel().name;
    let Some(tiles) = in_tiles(scheduled, sizes, (machine, blocks), None)? else {
        let _ = writeln!(log, "schedule of {name}: no sum is worth tiles");
        return Ok((None, None));
    };
    let mut grouped = Grouped {
        scheduled,
        sizes,
        machine,
        prover,
        blocks,
        counts,
        until: time.map(|t| begin + Duration::from_secs_f64(t)),
    };
    let usual = grouped.cycles(None);
    let (space, model) = choices(machine, tiles.products().unsigned_abs());
    let time = time.map(|t| Duration::from_secs_f64(t).saturating_sub(begin.elapsed()));
    let options = Options {
        time,
        ..Options::default()
    };
    let found = match &usual {
        // What is too long to be counted once is not counted again.
        Err(_) => None,
        Ok(_) => search(&space, &model, &mut grouped, &options).ok(),
    };
    let seconds = begin.elapsed().as_secs_f64();
    let Some(found) = found else {
        let why = usual.err().map_or_else(String::new, |w| format!(": {w}"));
        let _ = writeln!(
            log,
            "schedule of {name}: the usual groups of tiles, after {seconds:.2} s{why}"
        );
        return Ok((None, None));
    };
    let _ = writeln!(
        log,
        "schedule of {name}: tiles in loops, {} programs counted in {seconds:.2} s",
        found.evaluated + 1
    );
    log.push_str(&report::text(&space, &found, "cycles"));
    let best = &found.best[0];
    Ok(match usual {
        Ok(usual) if usual <= best.cost => {
            let gap = usual.saturating_sub(found.bound);
            let _ = match found.ended {
                Ended::Closed => writeln!(log, "  the usual groups are the best: {usual} cycles"),
                _ => writeln!(
                    log,
                    "  the usual groups are better: {usual} cycles, and {gap} is the gap with them"
                ),
            };
            (None, Some(usual))
        }
        _ => (Some(variant(&best.values)), Some(best.cost)),
    })
}

/// The choices, and what they cost at least.
fn choices(machine: &Machine, products: u64) -> (Space, Model) {
    let mut space = Space::new();
    let down = space.add("tiles down", 1..=MOST_TILES);
    let along = space.add("tiles along", 1..=MOST_TILES);
    space.add("tiles of depth in a round", ROUNDS);
    let name = format!("a group has at most {MOST_TILES} tiles");
    space.require(name, [down, along], |v| v[0] * v[1] <= MOST_TILES);
    let mut model = Model::new();
    let (product, loads) = tile::loop_codegen::unit_cycles(machine);
    let array = model.resource("the array");
    let busy = products.saturating_mul(product);
    model.uses(array, "products", Term::constant(busy));
    let memory = model.resource("memory");
    let factors = Term::new([down, along], move |v| {
        let (down, along) = (v[0].unsigned_abs(), v[1].unsigned_abs());
        products / down * loads / 2 + products / along * loads / 2
    });
    model.uses(memory, "factors", factors);
    (space, model)
}
