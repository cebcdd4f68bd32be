//! Random terms and values for property tests.
//!
//! In: a seed. Out: the same values every time, terms over every operator of
//! the table, with maps and folds, from inputs of several sorts ([`Terms`]).

use crate::bits::Bits;
use crate::eval::{CompiledTerms, Input};
use crate::float::Format;
use crate::op::{Op, OpInfo};
use crate::random::Random;
use crate::sort::Sort;
use crate::table::OPERATORS;
use crate::term::{Kind, Term};
use crate::value::{Memory, Value};
use std::collections::BTreeMap;

/// A bit vector: random, small, or near the ends of the range.
pub(crate) fn edgy_bits(random: &mut Random, width: u32) -> Bits {
    let edge = [
        Bits::zero(width),
        Bits::ones(width),
        Bits::one(width),
        Bits::ones(width).lshr_u32(1),
    ];
    match random.below(8) {
        k @ 0..4 => edge[k as usize].clone(),
        4 => edge[3].not(),
        5 => Bits::from_u64(width, random.below(70)),
        _ => random.bits(width),
    }
}

/// Asserts that two terms of `x`, a float, are equal at 20,000 patterns that are drawn.
pub(crate) fn same_of_x(
    terms: [Term; 2],
    format: Format,
    seed: u64,
    pattern: &dyn Fn(&mut Random) -> u64,
) {
    let input = Input {
        name: "x".to_owned(),
        sort: Sort::Bv(format.width()),
    };
    let program = CompiledTerms::compile(&terms, &[input]).expect("both are closed");
    let mut random = Random::new(seed);
    for _ in 0..20_000 {
        let bits = pattern(&mut random);
        let results = program.run(&[Value::Bv(Bits::from_u64(format.width(), bits))]);
        let [a, b] = terms;
        assert_eq!(results[0], results[1], "{a} and {b} at {bits:#x}");
    }
}

/// A value of some sort.
pub(crate) fn any_value(random: &mut Random, sort: Sort) -> Value {
    match sort {
        Sort::Bool => Value::Bool(random.below(2) == 1),
        Sort::Int => Value::Int(random.below(200) as i64 - 20),
        Sort::Bv(w) => Value::Bv(edgy_bits(random, w)),
        Sort::Mem => Value::Mem(Memory {
            bytes: (0..9).map(|k| (k, random.next_bits() as u8)).collect(),
            fill: 7,
        }),
    }
}

/// Likely values of a parameter.
fn parameter_choices(name: &str) -> Vec<u32> {
    match name {
        "format" | "from" | "to" => (0..4).collect(),
        "rounding" => (0..5).collect(),
        "function" => vec![0, 17],
        "polynomial" => vec![0x11b, 0x1f5],
        _ => vec![1, 3, 8, 16, 32, 40, 64, 90, 150, 200],
    }
}

/// Every operator of a row, with likely parameters.
pub(crate) fn operators(row: &OpInfo) -> Vec<Op> {
    let mut all = vec![Op::new(row.code)];
    all.retain(Op::is_evaluable);
    for (k, name) in row.params.iter().enumerate() {
        let choices = parameter_choices(name);
        all = all
            .iter()
            .flat_map(|op| {
                choices.iter().map(move |&c| {
                    let mut op = *op;
                    op.params[k] = c;
                    op
                })
            })
            .collect();
    }
    all
}

/// A growing pool of terms.
pub(crate) struct Terms {
    pub(crate) random: Random,
    /// Terms in reach: free variables, bound variables, and what was built from them.
    pool: Vec<Term>,
    /// How terms are made of operators and arguments.
    make: fn(Op, &[Term]) -> Option<Term>,
}

impl Terms {
    /// Terms that are built exactly as drawn.
    pub(crate) fn raw(seed: u64) -> Terms {
        Terms::new(seed, |op, args| Term::raw_app(op, args).ok())
    }

    /// Terms over the inputs `b i x8 y8 z16 v32 w64 u100 m`.
    pub(crate) fn new(seed: u64, make: fn(Op, &[Term]) -> Option<Term>) -> Terms {
        let mut pool = vec![
            Term::var("b", Sort::Bool),
            Term::var("i", Sort::Int),
            Term::var("m", Sort::Mem),
        ];
        for (name, w) in [
            ("x8", 8),
            ("y8", 8),
            ("z16", 16),
            ("v32", 32),
            ("w64", 64),
            ("u100", 100),
        ] {
            pool.push(Term::var(name, Sort::Bv(w)));
        }
        Terms {
            random: Random::new(seed),
            pool,
            make,
        }
    }

    /// The free variables' sorts.
    pub(crate) fn inputs() -> Vec<(String, Sort)> {
        Terms::raw(0)
            .pool
            .iter()
            .map(|t| {
                (
                    t.as_var().expect("the pool starts with variables").into(),
                    t.sort(),
                )
            })
            .collect()
    }

    fn constant(&mut self) -> Term {
        match self.random.below(6) {
            0 => Term::bool(self.random.below(2) == 0),
            1 => Term::int(self.random.below(40) as i64 - 4),
            _ => {
                let width = *self.random.pick(&[1, 8, 8, 16, 32, 64, 100]);
                Term::bits(edgy_bits(&mut self.random, width))
            }
        }
    }

    /// Draws arguments until an operator accepts them.
    fn application(&mut self) -> Term {
        loop {
            let row = &OPERATORS[self.random.below(OPERATORS.len() as u64) as usize];
            let mut op = Op::new(row.code);
            if !op.is_evaluable() {
                continue;
            }
            for (slot, name) in op.params.iter_mut().zip(row.params) {
                let choices = parameter_choices(name);
                *slot = *self.random.pick(&choices);
            }
            let arity = row.arity.unwrap_or(1 + self.random.below(3) as usize);
            for _ in 0..12 {
                let args: Vec<Term> = (0..arity)
                    .map(|_| {
                        if self.random.below(8) == 0 {
                            self.constant()
                        } else {
                            let from = self.pool.len();
                            self.pool[self.random.below(from as u64) as usize]
                        }
                    })
                    .collect();
                let sorts: Vec<Sort> = args.iter().map(|a| a.sort()).collect();
                let small = op
                    .sort(&sorts)
                    .is_ok_and(|s| s.width().is_none_or(|w| w <= 400));
                if let Some(t) = (self.make)(op, &args).filter(|_| small) {
                    return t;
                }
            }
        }
    }

    /// A body over a few more terms in reach, built from `bound` and the pool.
    fn body(
        &mut self,
        bound: &[Term],
        binders: u32,
        depth: u32,
        accept: fn(Term, Sort) -> bool,
        sort: Sort,
    ) -> Term {
        let mark = self.pool.len();
        let outer: Vec<Term> = self.pool.clone();
        self.pool = outer
            .iter()
            .map(|&t| crate::subst::shift(t, binders, 0))
            .collect();
        for _ in 0..3 {
            self.pool.extend(bound);
        }
        let mut best = None;
        for _ in 0..60 {
            let t = self.step(depth + 1);
            self.pool.push(t);
            if accept(t, sort) && self.pool.len() > mark + 8 {
                best = Some(t);
                break;
            }
        }
        let fallback = || {
            *self
                .pool
                .iter()
                .rev()
                .find(|&&t| accept(t, sort))
                .expect("the accumulator is in the pool")
        };
        let found = best.unwrap_or_else(fallback);
        self.pool = outer;
        found
    }

    fn step(&mut self, depth: u32) -> Term {
        match self.random.below(12) {
            0 if depth < 3 => {
                let body = self.body(
                    &[Term::index()],
                    1,
                    depth,
                    |t, _| t.sort().width().is_some_and(|w| w <= 64),
                    Sort::Int,
                );
                let count = 1 + self.random.below(4) as u32;
                Term::raw_map(count, body).expect("bodies are narrow")
            }
            1 if depth < 3 => {
                let start = self.pool.len() as u64;
                let init = self.pool[self.random.below(start) as usize];
                if matches!(init.sort(), Sort::Int | Sort::Mem) {
                    return self.application();
                }
                let accumulator = Term::bound(0, init.sort());
                let iteration = Term::bound(1, Sort::Int);
                let body = self.body(
                    &[accumulator, iteration],
                    2,
                    depth,
                    |t, sort| t.sort() == sort,
                    init.sort(),
                );
                let count = 1 + self.random.below(3) as u32;
                Term::raw_fold(count, init, body).expect("the body has the accumulator's sort")
            }
            _ => self.application(),
        }
    }

    /// The next term; it may use all that came before.
    pub(crate) fn term(&mut self) -> Term {
        let t = self.step(0);
        self.pool.push(t);
        if self.pool.len() > 60 {
            self.pool.truncate(9);
        }
        t
    }
}

/// The value of a term by definition: every operator by its concrete function, maps and
/// folds step by step. `bound` holds the values of bound variables, innermost last.
pub(crate) fn value_of(t: Term, free: &BTreeMap<String, Value>, bound: &mut Vec<Value>) -> Value {
    match t.kind() {
        Kind::Var { name, .. } => free[&**name].clone(),
        Kind::Bv(bits) => Value::Bv(bits.clone()),
        Kind::Bool(b) => Value::Bool(*b),
        Kind::Int(i) => Value::Int(*i),
        Kind::Bound { depth, .. } => bound[bound.len() - 1 - *depth as usize].clone(),
        Kind::App { op, args } => {
            let args: Vec<Value> = args.iter().map(|&a| value_of(a, free, bound)).collect();
            op.eval(&args)
        }
        Kind::Map { count, body } => {
            let elements = (0..*count).map(|k| {
                bound.push(Value::Int(i64::from(k)));
                let element = value_of(*body, free, bound).bits().clone();
                bound.pop();
                element
            });
            let all = elements.reduce(|low, high| high.concat(&low));
            Value::Bv(all.expect("a map has elements"))
        }
        Kind::Fold { count, init, body } => {
            let init = value_of(*init, free, bound);
            (0..*count).fold(init, |accumulator, k| {
                bound.extend([Value::Int(i64::from(k)), accumulator]);
                let next = value_of(*body, free, bound);
                bound.truncate(bound.len() - 2);
                next
            })
        }
    }
}

/// Random values of the free variables.
pub(crate) fn random_inputs(random: &mut Random) -> BTreeMap<String, Value> {
    let inputs = Terms::inputs().into_iter();
    inputs
        .map(|(name, sort)| (name, any_value(random, sort)))
        .collect()
}
