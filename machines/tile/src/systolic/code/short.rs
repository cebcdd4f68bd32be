//! Short loops that are written out: what comes into registers before them, and what counts their rounds,
//! would be more than what they do.
//!
//! In: loops of commands. Out: the same commands in the same order, with fewer loops. Those on the top level
//! stay, since code of the host stands between them.

use crate::systolic::program::{Amount, Command, CommandNode};

/// Rounds of a loop, and commands of all of them, that are written out at most.
const ROUNDS: i64 = 8;
const COMMANDS: i64 = 16;

/// Nodes of the top level.
pub(super) fn written_out(body: &[CommandNode]) -> Vec<CommandNode> {
    body.iter().map(within).collect()
}

/// A node, with what is short inside of it written out.
fn within(node: &CommandNode) -> CommandNode {
    match node {
        CommandNode::Do(command) => CommandNode::Do(command.clone()),
        CommandNode::Loop { var, count, body } => CommandNode::Loop {
            var: *var,
            count: *count,
            body: body.iter().flat_map(|n| rounds(within(n))).collect(),
        },
    }
}

/// The rounds of a loop, if it is short.
fn rounds(node: CommandNode) -> Vec<CommandNode> {
    let CommandNode::Loop { var, count, body } = &node else {
        return vec![node];
    };
    let commands = body.iter().map(|n| match n {
        CommandNode::Do(command) => Some(command),
        CommandNode::Loop { .. } => None,
    });
    let Some(commands) = commands.collect::<Option<Vec<_>>>() else {
        return vec![node];
    };
    let all = i64::try_from(commands.len()).map_or(i64::MAX, |n| n.saturating_mul(*count));
    if *count > ROUNDS || all > COMMANDS {
        return vec![node];
    }
    let each = (0..*count).flat_map(|k| {
        commands
            .iter()
            .map(move |c| CommandNode::Do(at(c, *var, k)))
    });
    each.collect()
}

/// A command in a round.
fn at(command: &Command, var: usize, round: i64) -> Command {
    let amount = |amount: &Amount| {
        let mut now = amount.clone();
        let by = now.terms.remove(&var).unwrap_or(0);
        now.constant = now.constant.wrapping_add(by.wrapping_mul(round));
        now
    };
    Command {
        instruction: command.instruction,
        operands: command.operands.iter().map(amount).collect(),
    }
}
