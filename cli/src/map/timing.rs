//! How long commands of an array take, without running them.
//!
//! In: a program of commands, where its arrays lie. Out: the figures that running it gives, from
//! [`sim::timing`]; none where they depend on data.

use semantics::diagnostic::Diagnostic;
use semantics::machine::Machine;
use sim::timing::{Affine, Part, Taken, Unknown, taken};
use tile::systolic::code::{Around, around};
use tile::systolic::program::{Amount, CommandNode, CommandProgram};

/// Why there are no figures.
pub(super) enum Untold {
    /// They are known only where it runs.
    Runs,
    /// A command breaks a rule of the machine.
    Fault(Box<Diagnostic>),
    /// It has no host's instructions.
    Unwritten(String),
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
