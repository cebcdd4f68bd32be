//! Programs that are changed a little.
//!
//! In: a program, random numbers. Out: one whose loops are cut, exchanged or written out, which mostly
//! does the same; or with one number, place or statement changed, which mostly does not.

use crate::program::{At, Node, Program};
use semantics::random::Random;

/// The program with a change.
pub(crate) fn changed(program: &Program, random: &mut Random) -> Program {
    let mut out = program.clone();
    let many = count(&out.body);
    let mut at = random.below(many);
    let kind = random.below(10);
    let Program { body, vars } = &mut out;
    with_node(body, &mut at, &mut |list, at| {
        change(kind, list, at, vars, random);
    });
    out
}

fn count(nodes: &[Node]) -> u64 {
    let of = |n: &Node| match n {
        Node::Loop(_, _, body) => 1 + count(body),
        Node::Set(..) => 1,
    };
    nodes.iter().map(of).sum()
}

/// Calls `f` with the list and the place of the node of that number; whether there is one.
fn with_node(
    nodes: &mut Vec<Node>,
    number: &mut u64,
    f: &mut dyn FnMut(&mut Vec<Node>, usize),
) -> bool {
    for at in 0..nodes.len() {
        if *number == 0 {
            f(nodes, at);
            return true;
        }
        *number -= 1;
        if let Node::Loop(_, _, body) = &mut nodes[at]
            && with_node(body, number, f)
        {
            return true;
        }
    }
    false
}

fn change(kind: u64, list: &mut Vec<Node>, at: usize, vars: &mut usize, random: &mut Random) {
    let several = list.len() > 1;
    let other = (at + 1) % list.len();
    match (kind, &mut list[at]) {
        (0, _) => list.swap(at, other),
        (1, _) if several => drop(list.remove(at)),
        (2, node) => {
            let twice = node.clone();
            list.insert(at, twice);
        }
        (3, Node::Loop(_, rounds, _)) => *rounds += random.below(3) as i64 - 1,
        (3, Node::Set(target, _, parts)) => {
            let mut all: Vec<&mut At> = std::iter::once(target).chain(parts).collect();
            let at = random.index(all.len());
            all[at].constant += random.below(3) as i64 - 1;
        }
        (4, Node::Set(_, _, parts)) => parts.reverse(),
        (5, Node::Loop(var, rounds, body)) => {
            // The last round apart.
            let last = *rounds - 1;
            let behind: Vec<Node> = body.iter().map(|n| at_value(n, *var, last)).collect();
            *rounds = last;
            list.splice(at + 1..at + 1, behind);
        }
        (6, Node::Loop(var, rounds, body)) if rounds.rem_euclid(2) == 0 => {
            // In pairs.
            let (pair, half) = (*vars, *rounds / 2);
            *vars += 1;
            let inner = body.iter().map(|n| in_pairs(n, *var, pair)).collect();
            list[at] = Node::Loop(pair, half, vec![Node::Loop(*var, 2, inner)]);
        }
        (7, Node::Loop(var, rounds, body)) => {
            if let [Node::Loop(inner, more, of)] = &mut body[..] {
                let exchanged = Node::Loop(*var, *rounds, std::mem::take(of));
                list[at] = Node::Loop(*inner, *more, vec![exchanged]);
            }
        }
        (8, Node::Loop(var, rounds, body)) => {
            // Backwards.
            let last = *rounds - 1;
            let turned = body.iter().map(|n| backwards(n, *var, last)).collect();
            *body = turned;
        }
        _ => {}
    }
}

/// A node with a change to all of its places.
fn each(node: &Node, change: &dyn Fn(&mut At)) -> Node {
    match node {
        Node::Loop(var, rounds, body) => {
            let body = body.iter().map(|n| each(n, change)).collect();
            Node::Loop(*var, *rounds, body)
        }
        Node::Set(target, how, parts) => {
            let mut all = Vec::from([target.clone()]);
            all.extend(parts.iter().cloned());
            all.iter_mut().for_each(change);
            Node::Set(all.remove(0), *how, all)
        }
    }
}

fn factor(at: &mut At, var: usize) -> Option<&mut (usize, i64)> {
    at.factors.iter_mut().find(|f| f.0 == var)
}

fn at_value(node: &Node, var: usize, value: i64) -> Node {
    each(node, &|at| {
        if let Some(&mut (_, by)) = factor(at, var) {
            at.factors.retain(|f| f.0 != var);
            at.constant += by * value;
        }
    })
}

fn in_pairs(node: &Node, var: usize, pair: usize) -> Node {
    each(node, &|at| {
        if let Some(&mut (_, by)) = factor(at, var) {
            at.factors.push((pair, 2 * by));
        }
    })
}

fn backwards(node: &Node, var: usize, last: i64) -> Node {
    each(node, &|at| {
        if let Some(found) = factor(at, var) {
            let by = found.1;
            found.1 = -by;
            at.constant += by * last;
        }
    })
}
