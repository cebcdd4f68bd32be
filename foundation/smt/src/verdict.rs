//! Answers: three-valued verdicts, models, and the evidence behind them.
//!
//! In: nothing. Out: [`Verdict`], [`Answer`] and what they carry. An answer that was not
//! reached is [`Verdict::Unknown`] with its [`Reason`]; nothing in this crate ever turns it
//! into "equal".

use semantics::value::Value;
use std::collections::BTreeMap;
use std::fmt;

/// A value for each free variable by name; a variable that is absent does not matter.
pub type Model = BTreeMap<String, Value>;

/// The answer to "are these two terms equal for every input?".
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Equal for every input.
    Proved(Evidence),
    /// Different on this input, as the interpreter has confirmed.
    Refuted(Model),
    /// Not decided.
    Unknown(Reason),
}

/// The answer to "is there an input that makes this true?".
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Yes: this one, as the interpreter has confirmed.
    Sat(Model),
    /// No.
    Unsat(Evidence),
    /// Not decided.
    Unknown(Reason),
}

/// How one element of a proof was settled.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Step {
    /// Both terms were the same node.
    Identical,
    /// Both terms have one normal form.
    NormalForm,
    /// Both terms were run on every input there is.
    Exhaustive,
    /// The embedded SAT engine found no difference.
    Sat,
    /// An SMT solver found no difference: its name and version.
    Solver(String),
}

/// Why a verdict is believed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Evidence {
    /// Output elements by the step that settled them, counted before equal questions were
    /// merged.
    pub elements: BTreeMap<Step, usize>,
    /// Different questions that were asked after elements equal up to renaming were merged.
    pub questions: usize,
    /// Conflicts of the embedded SAT engine, in all.
    pub conflicts: u64,
    /// Questions that the query cache answered.
    pub cached: usize,
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Reason {
    /// The embedded engine used up its conflicts.
    Conflicts(u64),
    /// A time limit was reached, in milliseconds.
    TimeLimit(u64),
    /// The solver said `unknown`.
    SolverUnknown(String),
    /// The solver died, or could not be started.
    SolverDied(String),
    /// The solver's answer made no sense, or its model did not hold in the interpreter.
    BadAnswer(String),
    /// The question holds something that no engine can be asked (which).
    Unsupported(String),
    /// The question's formula would be too large: the bound on gates.
    TooLarge(usize),
}

impl Verdict {
    /// Whether equality was proved.
    pub fn is_proved(&self) -> bool {
        matches!(self, Verdict::Proved(_))
    }

    /// Whether a difference was found.
    pub fn is_refuted(&self) -> bool {
        matches!(self, Verdict::Refuted(_))
    }
}

impl Evidence {
    /// Evidence of one step for `count` elements that were one question.
    pub fn of(step: Step, count: usize) -> Evidence {
        Evidence {
            elements: BTreeMap::from([(step, count)]),
            questions: 1,
            ..Evidence::default()
        }
    }

    /// Adds another question's evidence.
    pub fn add(&mut self, other: &Evidence) {
        for (step, n) in &other.elements {
            *self.elements.entry(step.clone()).or_insert(0) += n;
        }
        self.questions += other.questions;
        self.conflicts += other.conflicts;
        self.cached += other.cached;
    }

    /// What settled it, without what it took: the same in every run.
    pub fn steps(&self) -> Steps {
        Steps(self.elements.clone())
    }
}

/// Elements of a proof by the step that settled them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Steps(pub BTreeMap<Step, usize>);

impl Steps {
    /// The weightiest step that was needed.
    pub fn hardest(&self) -> Option<&Step> {
        self.0.keys().next_back()
    }

    /// Reads what [`Display`](fmt::Display) writes; nothing when it is something else.
    pub fn read(text: &str) -> Option<Steps> {
        let mut steps = BTreeMap::new();
        let Some(list) = text.strip_suffix(')') else {
            return text.is_empty().then(Steps::default);
        };
        for one in list.split("), ") {
            let (step, count) = one.rsplit_once(" (")?;
            let known = [
                Step::Identical,
                Step::NormalForm,
                Step::Exhaustive,
                Step::Sat,
            ];
            let known = known.into_iter().find(|s| s.to_string() == step);
            let step = known.unwrap_or_else(|| Step::Solver(step.to_owned()));
            steps.insert(step, count.parse().ok()?);
        }
        Some(Steps(steps))
    }
}

impl fmt::Display for Steps {
    /// Each step with its elements, as `identical (2), embedded SAT (6)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, (step, count)) in self.0.iter().enumerate() {
            let comma = if n == 0 { "" } else { ", " };
            write!(f, "{comma}{step} ({count})")?;
        }
        Ok(())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Identical => f.write_str("identical"),
            Step::NormalForm => f.write_str("normal form"),
            Step::Exhaustive => f.write_str("every input"),
            Step::Sat => f.write_str("embedded SAT"),
            Step::Solver(name) => f.write_str(name),
        }
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.steps())?;
        if self.conflicts > 0 {
            write!(f, ", {} conflicts", self.conflicts)?;
        }
        if self.cached > 0 {
            write!(f, ", {} from the cache", self.cached)?;
        }
        Ok(())
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Conflicts(n) => write!(f, "no answer within {n} conflicts"),
            Reason::TimeLimit(ms) => write!(f, "no answer within {ms} ms"),
            Reason::SolverUnknown(name) => write!(f, "{name} answered `unknown`"),
            Reason::SolverDied(what) => write!(f, "the solver died: {what}"),
            Reason::BadAnswer(what) => write!(f, "the solver's answer cannot be used: {what}"),
            Reason::Unsupported(what) => write!(f, "no engine can be asked about {what}"),
            Reason::TooLarge(gates) => write!(f, "the formula has more than {gates} gates"),
        }
    }
}
