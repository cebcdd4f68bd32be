//! Programs that are changed a little.
//!
//! In: a program, random numbers. Out: one whose loops are cut, exchanged or written out, which mostly
//! does the same; or with one number, place or statement changed, which mostly does not.

use crate::program::{At, Node, Program, Rounds};
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
        (3, Node::Loop(_, rounds, _)) => rounds.constant += random.below(3) as i64 - 1,
        (3, Node::Set(target, _, parts)) => {
            let mut all: Vec<&mut At> = std::iter::once(target).chain(parts).collect();
            let at = random.index(all.len());
            all[at].constant += random.below(3) as i64 - 1;
        }
        (4, Node::Set(_, _, parts)) => parts.reverse(),
        (5, Node::Loop(var, rounds, body)) if rounds.factors.is_empty() => {
            // The last round apart.
            let last = rounds.constant - 1;
            let behind: Vec<Node> = body.iter().map(|n| at_value(n, *var, last)).collect();
            *rounds = Rounds::of(last);
            list.splice(at + 1..at + 1, behind);
        }
        (6, Node::Loop(var, rounds, body))
            if rounds.factors.is_empty() && rounds.constant.rem_euclid(2) == 0 =>
        {
            // In pairs.
            let (pair, half) = (*vars, Rounds::of(rounds.constant / 2));
            *vars += 1;
            let inner = body.iter().map(|n| in_pairs(n, *var, pair)).collect();
            list[at] = Node::Loop(pair, half, vec![Node::Loop(*var, Rounds::of(2), inner)]);
        }
        (7, Node::Loop(var, rounds, body)) => {
            if let [Node::Loop(inner, more, of)] = &mut body[..]
                && more.factors.iter().all(|f| f.0 != *var)
            {
                let exchanged = Node::Loop(*var, rounds.clone(), std::mem::take(of));
                list[at] = Node::Loop(*inner, more.clone(), vec![exchanged]);
            }
        }
        (8, Node::Loop(var, rounds, body)) if rounds.factors.is_empty() => {
            // Backwards.
            let last = rounds.constant - 1;
            let turned = body.iter().map(|n| backwards(n, *var, last)).collect();
            *body = turned;
        }
        _ => {}
    }
}

/// What sums of variables become: a constant, and factors.
type Change<'a> = dyn Fn(&mut i64, &mut Vec<(usize, i64)>) + 'a;

/// A node with a change to all of its places, and to how often loops in it run.
fn each(node: &Node, change: &Change<'_>) -> Node {
    match node {
        Node::Loop(var, rounds, body) => {
            let mut rounds = rounds.clone();
            change(&mut rounds.constant, &mut rounds.factors);
            let body = body.iter().map(|n| each(n, change)).collect();
            Node::Loop(*var, rounds, body)
        }
        Node::Set(target, how, parts) => {
            let mut all = Vec::from([target.clone()]);
            all.extend(parts.iter().cloned());
            all.iter_mut()
                .for_each(|at| change(&mut at.constant, &mut at.factors));
            Node::Set(all.remove(0), *how, all)
        }
    }
}

fn factor(factors: &mut [(usize, i64)], var: usize) -> Option<&mut i64> {
    factors.iter_mut().find(|f| f.0 == var).map(|f| &mut f.1)
}

fn at_value(node: &Node, var: usize, value: i64) -> Node {
    each(node, &|constant, factors| {
        if let Some(&mut by) = factor(factors, var) {
            factors.retain(|f| f.0 != var);
            *constant += by * value;
        }
    })
}

fn in_pairs(node: &Node, var: usize, pair: usize) -> Node {
    each(node, &|_, factors| {
        if let Some(&mut by) = factor(factors, var) {
            factors.push((pair, 2 * by));
        }
    })
}

fn backwards(node: &Node, var: usize, last: i64) -> Node {
    each(node, &|constant, factors| {
        if let Some(found) = factor(factors, var) {
            let by = *found;
            *found = -by;
            *constant += by * last;
        }
    })
}
