//! How long commands of an array take, without running them.
//!
//! In: a program of commands, where its arrays lie. Out: the figures that running it gives, from
//! [`sim::timing`]; none where they depend on data.

use kernel::index::Symbol;
use kernel::tree::Kernel;
use semantics::diagnostic::Diagnostic;
use semantics::machine::Machine;
use sim::timing::{Affine, Part, Taken, Unknown, taken};
use smt::prover::Prover;
use std::collections::BTreeMap;
use tile::mapped::Request;
use tile::systolic::code::{Around, around};
use tile::systolic::place::propose;
use tile::systolic::program::{Amount, CommandNode, CommandProgram};

/// Why there are no figures.
#[derive(Clone)]
pub(super) enum Untold {
    /// They are known only where it runs.
    Runs,
    /// A command breaks a rule of the machine.
    Fault(Box<Diagnostic>),
    /// It has no host's instructions.
    Unwritten(String),
}

/// What a program takes that was looked at while it was proved.
pub(super) struct Estimate {
    program: CommandProgram,
    figures: Result<Taken, Untold>,
}

impl Estimate {
    /// What the commands take that a mapping would prove, with arrays where it would put them; none where
    /// there are none.
    pub(super) fn of(
        kernel: &Kernel,
        sizes: &BTreeMap<Symbol, i64>,
        machine: &Machine,
        prover: &Prover,
        asked: &Request,
    ) -> Option<Estimate> {
        let program = propose(kernel, sizes, machine, prover, asked.constraints).ok()?;
        let (addresses, _) = asked.placed(&program.arrays);
        let figures = figures(machine, &program, &addresses);
        Some(Estimate { program, figures })
    }
}

/// What a program takes, which may have been looked at before.
pub(super) fn figures_or(
    before: Option<&Estimate>,
    machine: &Machine,
    program: &CommandProgram,
    addresses: &[i64],
) -> Result<Taken, Untold> {
    match before {
        Some(before) if before.program == *program => before.figures.clone(),
        _ => figures(machine, program, addresses),
    }
}

/// What a program takes.
pub(super) fn figures(
    machine: &Machine,
    program: &CommandProgram,
    addresses: &[i64],
) -> Result<Taken, Untold> {
    if !program.host.is_empty() {
        return Err(Untold::Runs);
    }
    let around = match super::array::counts_host(machine) {
        true => Some(around(machine, program).map_err(Untold::Unwritten)?),
        false => None,
    };
    let parts = match &around {
        Some((body, around)) => parts(body, Some(around), addresses),
        None => parts(&program.body, None, addresses),
    };
    taken(machine, &parts, program.vars).map_err(|unknown| match unknown {
        Unknown::Data => Untold::Runs,
        Unknown::Fault(fault) => Untold::Fault(fault),
    })
}

/// The nodes of a program, with the instructions of the host around them where they count.
fn parts(body: &[CommandNode], around: Option<&[Around]>, addresses: &[i64]) -> Vec<Part> {
    let part = |(k, node): (usize, &CommandNode)| match (node, around.map(|a| &a[k])) {
        (CommandNode::Do(command), around) => Part::Do {
            instruction: command.instruction,
            operands: command
                .operands
                .iter()
                .map(|a| affine(a, addresses))
                .collect(),
            host: match around {
                Some(Around::Do(before)) => *before,
                _ => 0,
            },
        },
        (CommandNode::Loop { var, count, body }, around) => {
            let (host, inner) = match around {
                Some(Around::Loop(host, inner)) => (*host, Some(inner.as_slice())),
                _ => ([0; 3], None),
            };
            Part::Loop {
                var: *var,
                count: *count,
                host,
                body: parts(body, inner, addresses),
            }
        }
    };
    body.iter().enumerate().map(part).collect()
}

fn affine(amount: &Amount, addresses: &[i64]) -> Affine {
    let base = amount.array.map_or(0, |a| addresses[a]);
    Affine {
        constant: base.wrapping_add(amount.constant),
        terms: amount.terms.iter().map(|(&v, &f)| (v, f)).collect(),
    }
}
