//! Products of products: sums in which functions of sums are added.
//!
//! In: random numbers. Out: [`Program`]s that leave `f(A·B)·C` for a function of elements, of any sizes.

use crate::program::{At, How, Node, Program, Rounds};
use semantics::random::Random;

/// Variables of the loops: the first three of one product, the others of the other.
const VARS: usize = 6;

fn at(space: usize, constant: i64, factors: &[(usize, i64)]) -> At {
    At {
        space,
        constant,
        factors: factors.to_vec(),
    }
}

fn around(loops: &[(usize, i64)], body: Vec<Node>) -> Vec<Node> {
    loops.iter().rev().fold(body, |body, (var, rounds)| {
        vec![Node::Loop(*var, Rounds::of(*rounds), body)]
    })
}

/// What a product is of, and where it is left.
struct Product {
    loops: [(usize, i64); 3],
    factors: [At; 2],
    function: Option<How>,
    out: At,
}

impl Product {
    /// The loops over results, and in them the sum.
    fn nodes(self) -> Vec<Node> {
        // A cell for one product, behind what lies in the others.
        let one = at(3, 0, &[]);
        let [first, second] = self.factors;
        let zero = at(0, 0, &[]);
        let clear = Node::Set(self.out.clone(), How::Less, vec![zero.clone(), zero]);
        let changed = match self.function {
            Some(how) => Node::Set(one.clone(), how, vec![first, at(0, 7, &[])]),
            None => Node::Set(one.clone(), How::Sum, vec![first]),
        };
        let times = Node::Set(one.clone(), How::Product, vec![one.clone(), second]);
        let add = Node::Set(self.out.clone(), How::Sum, vec![self.out, one]);
        let sum = around(&self.loops[2..], vec![changed, times, add]);
        around(&self.loops[..2], [vec![clear], sum].concat())
    }
}

/// A product of a product, with a function between them or none.
pub(crate) fn draw(random: &mut Random) -> Program {
    let mut size = || *random.pick(&[1, 2, 3, 4, 5, 6, 8, 17]);
    let (m, k, n, e) = (size(), size(), size(), size());
    let function = *random.pick(&[None, Some(How::Most), Some(How::Product), Some(How::Less)]);
    let inner = Product {
        loops: [(0, m), (1, n), (2, k)],
        factors: [at(0, 0, &[(0, k), (2, 1)]), at(0, 300, &[(2, n), (1, 1)])],
        function: None,
        out: at(2, 0, &[(0, n), (1, 1)]),
    };
    let outer = Product {
        loops: [(3, m), (4, e), (5, n)],
        factors: [at(2, 0, &[(3, n), (5, 1)]), at(0, 600, &[(5, e), (4, 1)])],
        function,
        out: at(1, 0, &[(3, e), (4, 1)]),
    };
    Program {
        body: [inner.nodes(), outer.nodes()].concat(),
        vars: VARS,
    }
}
