//! A chain of named rewrites, replayed.
//!
//! In: two closed terms that are said to be equal, the steps of a chain, and who vouches for
//! one. Out: whether the steps lead both to one term. A step may be used wherever a term has its
//! arguments replaced by what they became: that equals replace equals is all that is believed
//! here. Nothing is simplified, and no step is used that nobody vouches for.

use crate::flat::flat;
use semantics::term::{Kind, Term};
use std::collections::HashMap;
use std::fmt;

/// One step: by which rule, what was there, and what it became.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The rule's name.
    pub rule: &'static str,
    /// An application, its arguments being what they became.
    pub from: Term,
    /// What is equal to it.
    pub to: Term,
}

/// Why a chain shows nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Broken {
    /// Nobody vouches for a step by that rule.
    Step(&'static str),
    /// A step by that rule is between terms of two sorts.
    Sorts(&'static str),
    /// The two terms do not become one.
    Apart,
    /// A term cannot be written out, and why.
    Rolled(String),
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broken::Step(rule) => write!(f, "a step by `{rule}` is not known to hold"),
            Broken::Sorts(rule) => write!(f, "a step by `{rule}` changes the sort"),
            Broken::Apart => f.write_str("the chain does not lead to one term"),
            Broken::Rolled(why) => f.write_str(why),
        }
    }
}

/// Whether the steps lead two terms to one; how many were used.
///
/// # Errors
/// Where the chain breaks.
pub fn replay(
    a: Term,
    b: Term,
    steps: &[Step],
    vouches: &mut dyn FnMut(&Step) -> bool,
) -> Result<usize, Broken> {
    let mut replay = Replay {
        steps: steps.iter().map(|step| (step.from, step)).collect(),
        vouches,
        done: HashMap::new(),
        used: 0,
    };
    let a = replay.value(flat(a).map_err(Broken::Rolled)?)?;
    let b = replay.value(flat(b).map_err(Broken::Rolled)?)?;
    if a == b {
        Ok(replay.used)
    } else {
        Err(Broken::Apart)
    }
}

struct Replay<'a> {
    steps: HashMap<Term, &'a Step>,
    vouches: &'a mut dyn FnMut(&Step) -> bool,
    /// What terms became.
    done: HashMap<Term, Term>,
    used: usize,
}

impl Replay<'_> {
    fn value(&mut self, t: Term) -> Result<Term, Broken> {
        if let Some(&done) = self.done.get(&t) {
            return Ok(done);
        }
        let rebuilt = match t.kind() {
            Kind::App { op, args } => {
                let args = args.iter().map(|&a| self.value(a));
                let args = args.collect::<Result<Vec<_>, _>>()?;
                Term::raw_app(*op, &args).map_err(|e| Broken::Rolled(e.to_string()))?
            }
            _ => t,
        };
        let out = match self.steps.get(&rebuilt) {
            Some(&step) => self.by(step)?,
            None => rebuilt,
        };
        self.done.insert(t, out);
        Ok(out)
    }

    fn by(&mut self, step: &Step) -> Result<Term, Broken> {
        if step.from.sort() != step.to.sort() {
            return Err(Broken::Sorts(step.rule));
        }
        if !(self.vouches)(step) {
            return Err(Broken::Step(step.rule));
        }
        self.used += 1;
        Ok(step.to)
    }
}
