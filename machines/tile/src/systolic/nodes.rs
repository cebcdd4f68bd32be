//! Loops of work, as all emitters make them.
//!
//! In: how many loop variables there are, how often a loop runs, who makes its body. Out: the
//! loop, or its body alone when it runs once.

use super::program::{Amount, CommandNode, Work};

/// Work in loops.
pub(crate) type Nodes = Vec<CommandNode<Work>>;

/// Who counts loop variables.
pub(crate) trait Loops {
    /// How many there are so far.
    fn vars(&mut self) -> &mut usize;

    /// A loop, or its body alone when it runs once.
    fn in_loop(&mut self, count: i64, body: impl FnOnce(&mut Self, &Amount) -> Nodes) -> Nodes {
        match count {
            ..=0 => Vec::new(),
            1 => body(self, &Amount::default()),
            _ => {
                let var = *self.vars();
                *self.vars() += 1;
                let body = body(self, &Amount::var(var));
                vec![CommandNode::Loop { var, count, body }]
            }
        }
    }
}
