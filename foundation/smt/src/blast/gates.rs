//! A graph of gates, each distinct gate held once.
//!
//! In: literals. Out: [`Gates`], literals of simplified gates. Constants fold, arguments
//! stand in order, complements move to the output where a gate allows it. It does not
//! search for equivalent gates that are written differently.

use std::collections::HashMap;

/// A node with a sign: `2 * node + complemented`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Lit(u32);

/// What computes a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Gate {
    /// Node 0: false.
    False,
    /// A free input.
    Input,
    /// Conjunction.
    And(Lit, Lit),
    /// Exclusive or of uncomplemented arguments.
    Xor(Lit, Lit),
    /// `if .0 then .1 else .2`, the condition uncomplemented.
    Mux(Lit, Lit, Lit),
    /// At least two of three.
    Majority(Lit, Lit, Lit),
}

/// The graph.
pub(crate) struct Gates {
    nodes: Vec<Gate>,
    index: HashMap<Gate, u32>,
}

impl Lit {
    /// The constant false.
    pub(crate) const FALSE: Lit = Lit(0);
    /// The constant true.
    pub(crate) const TRUE: Lit = Lit(1);

    /// The node.
    pub(crate) fn node(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Whether the node's value is complemented.
    pub(crate) fn complemented(self) -> bool {
        self.0 & 1 == 1
    }

    /// The constant of that value.
    pub(crate) fn constant(value: bool) -> Lit {
        Lit(u32::from(value))
    }

    /// The value of a constant literal.
    pub(crate) fn as_constant(self) -> Option<bool> {
        (self.0 < 2).then_some(self.0 == 1)
    }

    /// Complemented when asked.
    pub(crate) fn xor(self, flip: bool) -> Lit {
        Lit(self.0 ^ u32::from(flip))
    }
}

impl std::ops::Not for Lit {
    type Output = Lit;
    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

impl Gates {
    /// A graph that holds only the constant.
    pub(crate) fn new() -> Gates {
        Gates {
            nodes: vec![Gate::False],
            index: HashMap::new(),
        }
    }

    /// Number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// What computes a node.
    pub(crate) fn gate(&self, node: usize) -> Gate {
        self.nodes[node]
    }

    /// A new input.
    pub(crate) fn input(&mut self) -> Lit {
        self.push(Gate::Input)
    }

    fn push(&mut self, gate: Gate) -> Lit {
        let node = u32::try_from(self.nodes.len()).expect("the caller bounds the number of gates");
        self.nodes.push(gate);
        Lit(node << 1)
    }

    fn hashed(&mut self, gate: Gate) -> Lit {
        if let Some(&node) = self.index.get(&gate) {
            return Lit(node << 1);
        }
        let lit = self.push(gate);
        self.index.insert(gate, lit.0 >> 1);
        lit
    }

    /// Conjunction.
    pub(crate) fn and(&mut self, a: Lit, b: Lit) -> Lit {
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        if a == Lit::FALSE || a == !b {
            return Lit::FALSE;
        }
        if a == Lit::TRUE || a == b {
            return b;
        }
        self.absorbed(a, b)
            .or_else(|| self.absorbed(b, a))
            .unwrap_or_else(|| self.hashed(Gate::And(a, b)))
    }

    /// `outer and inner`, when the inner conjunction holds the outer literal.
    fn absorbed(&self, outer: Lit, inner: Lit) -> Option<Lit> {
        let Gate::And(x, y) = self.nodes[inner.node()] else {
            return None;
        };
        if inner.complemented() {
            return (x == !outer || y == !outer).then_some(outer);
        }
        if x == outer || y == outer {
            return Some(inner);
        }
        (x == !outer || y == !outer).then_some(Lit::FALSE)
    }

    /// Disjunction.
    pub(crate) fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    /// Exclusive or.
    pub(crate) fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let flip = a.complemented() != b.complemented();
        let (a, b) = (a.xor(a.complemented()), b.xor(b.complemented()));
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        if a == b {
            return Lit::constant(flip);
        }
        if a == Lit::FALSE {
            return b.xor(flip);
        }
        if let Gate::Xor(x, y) = self.nodes[b.node()]
            && (x == a || y == a)
        {
            return if x == a { y } else { x }.xor(flip);
        }
        self.hashed(Gate::Xor(a, b)).xor(flip)
    }

    /// `if c then a else b`.
    pub(crate) fn mux(&mut self, c: Lit, a: Lit, b: Lit) -> Lit {
        if c.complemented() {
            return self.mux(!c, b, a);
        }
        if c == Lit::FALSE || a == b {
            return b;
        }
        if a == !b {
            return !self.xor(c, a);
        }
        if a == c || a == Lit::TRUE {
            return self.or(c, b);
        }
        if a == !c || a == Lit::FALSE {
            return self.and(!c, b);
        }
        if b == c || b == Lit::FALSE {
            return self.and(c, a);
        }
        if b == !c || b == Lit::TRUE {
            return self.or(!c, a);
        }
        if a.complemented() {
            return !self.hashed(Gate::Mux(c, !a, !b));
        }
        self.hashed(Gate::Mux(c, a, b))
    }

    /// At least two of three.
    pub(crate) fn majority(&mut self, a: Lit, b: Lit, c: Lit) -> Lit {
        let mut args = [a, b, c];
        args.sort();
        let [a, b, c] = args;
        if a == b || b == c {
            return b;
        }
        if a == !b {
            return c;
        }
        if b == !c {
            return a;
        }
        match a.as_constant() {
            Some(false) => return self.and(b, c),
            Some(true) => return self.or(b, c),
            None => {}
        }
        let complemented = args.iter().filter(|l| l.complemented()).count();
        if complemented >= 2 {
            return !self.hashed(Gate::Majority(!a, !b, !c));
        }
        self.hashed(Gate::Majority(a, b, c))
    }
}
