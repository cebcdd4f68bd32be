//! Which commands a program performs, whatever they do.
//!
//! In: commands as they are performed, in loops, with operands over the counters of these. Out:
//! [`Trace`], and whether two of them are the same commands in the same order ([`Trace::follows`]). So a
//! program whose commands are those of another one, of which it is known what it leaves, leaves the same. A
//! loop of one may be rounds that are written out in the other. Nothing else that programs do is looked
//! at: who records says that there is nothing else.

use crate::linear::{Counter, Linear, Replaced};
use crate::stop::Stop;
use std::rc::Rc;

/// Commands in the order in which they are performed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace(Vec<Step>);

/// A step of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Step {
    /// A command: its index in a machine's instructions, its operands.
    Command(usize, Rc<[Linear]>),
    /// A loop: its counter, how often it runs, what it performs.
    Loop(Counter, i64, Rc<[Step]>),
}

/// Steps that a comparison makes at most.
const MOST: u64 = 1 << 20;

impl Trace {
    pub(crate) fn command(&mut self, instruction: usize, operands: &[Linear]) {
        self.0.push(Step::Command(instruction, operands.into()));
    }

    /// How much is recorded.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// What was recorded since it was so much is forgotten.
    pub(crate) fn back(&mut self, to: usize) {
        self.0.truncate(to);
    }

    /// What was recorded since it was so much is what each round of a loop performs.
    pub(crate) fn in_loop(&mut self, from: usize, counter: Counter, rounds: i64) {
        if self.0.len() > from {
            let body = self.0.drain(from..).collect();
            self.0.push(Step::Loop(counter, rounds, body));
        }
    }

    /// Whether another program performs the same commands.
    ///
    /// # Errors
    /// That operands do not fit, or that it takes too long.
    pub fn follows(&self, other: &Trace) -> Result<bool, Stop> {
        let none = Replaced::default();
        let mut left = MOST;
        same((&self.0, &none), (&other.0, &none), &mut left)
    }
}

/// Steps of one program, with what stands for the counters of loops around.
type Steps<'a> = (&'a [Step], &'a Replaced);

/// Whether steps are the same. Counters of the first program stand as they are; those of the second are
/// replaced by them, and in either by numbers where a loop is written out.
fn same(own: Steps<'_>, other: Steps<'_>, left: &mut u64) -> Result<bool, Stop> {
    let (mut own, mut other) = (Rest::new(own), Rest::new(other));
    loop {
        spend(left, 1)?;
        match (own.first(), other.first()) {
            (None, None) => return Ok(true),
            (Some((Step::Command(x, ours), by)), Some((Step::Command(y, theirs), there))) => {
                if x != y || !operands((ours, &by), (theirs, &there))? {
                    return Ok(false);
                }
                own.pass();
                other.pass();
            }
            (Some((Step::Loop(x, n, ours), by)), Some((Step::Loop(y, m, theirs), there)))
                if n == m =>
            {
                let there = there.and(*y, Linear::counter(*x));
                if !same((ours, &by), (theirs, &there), left)? {
                    return Ok(false);
                }
                own.pass();
                other.pass();
            }
            // It is the shorter one whose rounds are written out in the other program.
            (Some((Step::Loop(_, n, _), _)), Some((Step::Loop(_, m, _), _))) if n < m => {
                own.write_out(left)?;
            }
            (_, Some((Step::Loop(..), _))) => other.write_out(left)?,
            (Some((Step::Loop(..), _)), _) => own.write_out(left)?,
            _ => return Ok(false),
        }
    }
}

fn spend(left: &mut u64, steps: u64) -> Result<(), Stop> {
    let rest = left.checked_sub(steps);
    *left = rest.ok_or_else(|| Stop::because("two programs have too many commands to compare"))?;
    Ok(())
}

fn operands(
    (own, by): (&[Linear], &Replaced),
    (other, there): (&[Linear], &Replaced),
) -> Result<bool, Stop> {
    if own.len() != other.len() {
        return Ok(false);
    }
    for (x, y) in own.iter().zip(other) {
        if x.with(by)? != y.with(there)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What is left of steps, with loops in them that are written out.
struct Rest<'a> {
    /// Steps with what stands for counters in them, the next ones last.
    open: Vec<(&'a [Step], Replaced)>,
}

impl<'a> Rest<'a> {
    fn new((steps, by): Steps<'a>) -> Rest<'a> {
        Rest {
            open: vec![(steps, by.clone())],
        }
    }

    /// The next step.
    fn first(&mut self) -> Option<(&'a Step, Replaced)> {
        while self.open.last().is_some_and(|(steps, _)| steps.is_empty()) {
            self.open.pop();
        }
        let (steps, by) = self.open.last()?;
        Some((&steps[0], by.clone()))
    }

    fn pass(&mut self) {
        if let Some((steps, _)) = self.open.last_mut() {
            *steps = &steps[1..];
        }
    }

    /// The rounds of the loop that is next, one after the other.
    fn write_out(&mut self, left: &mut u64) -> Result<(), Stop> {
        let Some((Step::Loop(counter, rounds, body), by)) = self.first() else {
            return Ok(());
        };
        self.pass();
        spend(left, rounds.unsigned_abs())?;
        for k in (0..*rounds).rev() {
            self.open
                .push((body, by.and(*counter, Linear::constant(k))));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
