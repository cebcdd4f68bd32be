//! What a search did, in words.
//!
//! In: a space, [`Found`]. Out: lines of text. Who searched says what the values mean.

use crate::search::{Ended, Found, Leaf};
use crate::space::Space;
use std::fmt::Write as _;

/// How many places of a bound are told.
const PLACES: usize = 4;

/// The values of a candidate.
pub fn values(space: &Space, leaf: &Leaf) -> String {
    let one = |(var, &value)| format!("{} {}", space.name(var), space.word(var, value));
    let all: Vec<String> = space.vars().zip(&leaf.values).map(one).collect();
    all.join(", ")
}

/// The whole report; costs are in this unit.
pub fn text(space: &Space, found: &Found, unit: &str) -> String {
    let mut out = String::new();
    let size = &found.size;
    let dead = 100.0 * size.dead as f64 / size.descents.max(1) as f64;
    let _ = writeln!(
        out,
        "  space: about {:.3e} ± {:.1e} candidates of {:.3e} combinations ({} descents, {dead:.1} % end nowhere)",
        size.candidates,
        size.error,
        10_f64.powf(space.combinations()),
        size.descents,
    );
    let failed = match &found.failed {
        (0, _) => String::new(),
        (n, why) => format!(
            ", of which {n} cannot be made (the first: {})",
            why.as_deref().unwrap_or("")
        ),
    };
    let _ = writeln!(
        out,
        "  search: {} candidates split, {} evaluated{failed}",
        found.explored, found.evaluated
    );
    levels(&mut out, found);
    for (n, leaf) in found.best.iter().enumerate() {
        let _ = writeln!(
            out,
            "  {}: {} {unit}: {}",
            n + 1,
            leaf.cost,
            values(space, leaf)
        );
    }
    gap(&mut out, found, unit);
    out
}

/// What was cut off at each depth.
fn levels(out: &mut String, found: &Found) {
    let used =
        |(_, level): &(usize, &crate::search::Level)| level.open + level.pruned + level.dead > 0;
    for (depth, level) in found.levels.iter().enumerate().filter(used) {
        let all = level.open + level.pruned;
        let share = 100.0 * level.pruned as f64 / all.max(1) as f64;
        let _ = writeln!(
            out,
            "    depth {depth}: {} open, {} pruned ({share:.0} %), {} without values",
            level.open, level.pruned, level.dead
        );
    }
}

/// How good the best is, and why there is none better.
fn gap(out: &mut String, found: &Found, unit: &str) {
    let (Some(best), Some(gap)) = (found.best.first(), found.gap()) else {
        return;
    };
    let ended = match found.ended {
        Ended::Closed => "nothing is left to look at",
        Ended::Evaluations => "the limit of evaluations was reached",
        Ended::Splits => "the limit of candidates was reached",
        Ended::Time => "the time was over",
    };
    let _ = match gap {
        0 => writeln!(
            out,
            "  gap: 0: under the model no candidate is better than {} {unit} ({ended})",
            best.cost
        ),
        _ => writeln!(
            out,
            "  gap: {gap} {unit}: the best has {}, and what was not looked at has at least {} ({ended})",
            best.cost, found.bound
        ),
    };
    if found.overstated > 0 {
        let _ = writeln!(
            out,
            "  the bound is wrong: {} candidates cost less than it",
            found.overstated
        );
    }
    for (name, bound) in [("all candidates", &found.root), ("the best", &found.winner)] {
        let places = bound.places.iter().take(PLACES);
        let places: Vec<String> = places.map(|(p, n)| format!("{n} {p}")).collect();
        let rest = bound.places.len().saturating_sub(PLACES);
        let rest = if rest == 0 {
            String::new()
        } else {
            format!(" and {rest} more")
        };
        let _ = writeln!(
            out,
            "  bound of {name}: {} {unit} of {}: {}{rest}",
            bound.value,
            bound.resource,
            places.join(", "),
        );
    }
}
