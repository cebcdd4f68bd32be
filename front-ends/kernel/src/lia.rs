//! Linear integer arithmetic: proofs about sizes, loops and indices.
//!
//! In: facts (`form >= 0`) and index expressions. Out: whether a goal follows. The method
//! is Fourier–Motzkin elimination with every row divided by the greatest common divisor of
//! its coefficients and its constant rounded down, as in Pugh's Omega test. It proves or
//! says nothing: "not proved" is never "false". It gives up past [`MAX_ROWS`] rows.
//!
//! Quotients by constants become unknowns with two bounding rows; `min` and `max` become
//! cases; products of symbols become unknowns without any fact.

use crate::index::{Index, Symbol};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

mod eliminate;

pub use eliminate::MAX_ROWS;

/// An unknown: a symbol of the kernel, or one that stands for a subexpression.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Unknown {
    /// A size or loop variable.
    Symbol(Symbol),
    /// How often a loop variable has stepped.
    Step(Symbol),
    /// The value of an expression that is not linear.
    Value(Index),
    /// An unknown that the caller numbers.
    Fresh(u32),
}

/// A linear form over unknowns.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct LinearForm {
    terms: BTreeMap<Unknown, i128>,
    constant: i128,
}

impl LinearForm {
    /// A constant.
    pub fn constant(value: i128) -> LinearForm {
        LinearForm {
            terms: BTreeMap::new(),
            constant: value,
        }
    }

    /// One unknown.
    pub fn unknown(u: Unknown) -> LinearForm {
        LinearForm {
            terms: BTreeMap::from([(u, 1)]),
            constant: 0,
        }
    }

    /// `self + factor * other`; saturating, which only ever weakens what can be proved
    /// because saturated rows are dropped by [`Facts::add`].
    pub fn plus(&self, other: &LinearForm, factor: i128) -> LinearForm {
        let mut out = self.clone();
        out.constant = out
            .constant
            .saturating_add(other.constant.saturating_mul(factor));
        for (u, c) in &other.terms {
            let slot = out.terms.entry(u.clone()).or_insert(0);
            *slot = slot.saturating_add(c.saturating_mul(factor));
        }
        out.terms.retain(|_, c| *c != 0);
        out
    }

    /// The sum with a constant.
    pub fn offset(&self, by: i128) -> LinearForm {
        self.plus(&LinearForm::constant(by), 1)
    }

    /// The product with a constant.
    pub fn times(&self, factor: i128) -> LinearForm {
        LinearForm::default().plus(self, factor)
    }

    fn too_large(&self) -> bool {
        LinearForm::is_too_large(self.constant)
            || self.terms.values().any(|&c| LinearForm::is_too_large(c))
    }

    fn is_too_large(entry: i128) -> bool {
        entry.saturating_abs() > 1 << 100
    }

    /// Divides by the gcd of the coefficients, rounding the constant down.
    fn tightened(mut self) -> LinearForm {
        let gcd = self.terms.values().fold(0, |g, c| gcd(g, c.abs()));
        if gcd > 1 {
            self.terms.values_mut().for_each(|c| *c /= gcd);
            self.constant = self.constant.div_euclid(gcd);
        }
        self
    }
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// One way in which an expression can get its value: its form, under side conditions
/// (`form >= 0` each).
#[derive(Clone, Debug)]
pub struct Case {
    /// The value.
    pub form: LinearForm,
    /// When and where it has this form.
    pub side: Vec<LinearForm>,
}

/// The cases of an expression: together they cover every assignment of its symbols.
pub fn cases(index: &Index) -> Vec<Case> {
    let one = |form| {
        vec![Case {
            form,
            side: Vec::new(),
        }]
    };
    match index {
        Index::Const(c) => one(LinearForm::constant(i128::from(*c))),
        Index::Sym(s) => one(LinearForm::unknown(Unknown::Symbol(*s))),
        Index::Add(a, b) => product(a, b, |x, y| vec![(x.plus(y, 1), vec![])]),
        Index::Mul(a, b) => product(a, b, |x, y| {
            let form = if y.terms.is_empty() {
                x.times(y.constant)
            } else if x.terms.is_empty() {
                y.times(x.constant)
            } else {
                LinearForm::unknown(Unknown::Value(index.clone()))
            };
            vec![(form, vec![])]
        }),
        Index::Div(a, b) | Index::Mod(a, b) => {
            let quotient = Index::Div(a.clone(), b.clone());
            product(a, b, |x, y| {
                if !y.terms.is_empty() || y.constant <= 0 {
                    return vec![(LinearForm::unknown(Unknown::Value(index.clone())), vec![])];
                }
                let q = LinearForm::unknown(Unknown::Value(quotient.clone()));
                let rest = x.plus(&q, -y.constant);
                let side = vec![rest.clone(), rest.times(-1).offset(y.constant - 1)];
                let form = if matches!(index, Index::Div(..)) {
                    q
                } else {
                    rest
                };
                vec![(form, side)]
            })
        }
        Index::Min(a, b) => product(a, b, |x, y| {
            vec![
                (x.clone(), vec![y.plus(x, -1)]),
                (y.clone(), vec![x.plus(y, -1)]),
            ]
        }),
        Index::Max(a, b) => product(a, b, |x, y| {
            vec![
                (x.clone(), vec![x.plus(y, -1)]),
                (y.clone(), vec![y.plus(x, -1)]),
            ]
        }),
    }
}

fn product(
    a: &Index,
    b: &Index,
    f: impl Fn(&LinearForm, &LinearForm) -> Vec<(LinearForm, Vec<LinearForm>)>,
) -> Vec<Case> {
    let unknown = |index: &Index| {
        vec![Case {
            form: LinearForm::unknown(Unknown::Value(index.clone())),
            side: Vec::new(),
        }]
    };
    let (mut left, mut right) = (cases(a), cases(b));
    while left.len() * right.len() > MAX_CASES {
        match left.len() > right.len() {
            true => left = unknown(a),
            false => right = unknown(b),
        }
    }
    let mut out = Vec::new();
    for x in left {
        for y in &right {
            for (form, side) in f(&x.form, &y.form) {
                let all = x.side.iter().chain(&y.side).cloned().chain(side).collect();
                out.push(Case { form, side: all });
            }
        }
    }
    out
}

/// More cases of an expression than that are not told apart: of a part of it nothing is known.
const MAX_CASES: usize = 64;

/// Whether the first is at most the second, as far as that was asked.
type Answers = Rc<RefCell<BTreeMap<Index, BTreeMap<Index, bool>>>>;

/// What is known: a conjunction of rows `form >= 0`.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    rows: Vec<LinearForm>,
    /// Answers of [`Facts::proves_at_most`]: the places of a stencil ask the same of each
    /// row and of each column. Copies with the same rows have them together.
    answers: Answers,
}

impl Facts {
    /// Adds `form >= 0`.
    pub fn add(&mut self, form: LinearForm) {
        if !form.too_large() {
            self.rows.push(form.tightened());
            self.answers = Answers::default();
        }
    }

    /// Adds `left <= right` as far as it is a conjunction: a `min` on the right and a `max`
    /// on the left give one fact for each part, other case distinctions give none.
    pub fn add_at_most(&mut self, left: &Index, right: &Index) {
        match (left, right) {
            (Index::Max(a, b), _) => {
                self.add_at_most(a, right);
                self.add_at_most(b, right);
            }
            (_, Index::Min(a, b)) => {
                self.add_at_most(left, a);
                self.add_at_most(left, b);
            }
            _ => {
                if let ([x], [y]) = (&cases(left)[..], &cases(right)[..]) {
                    x.side
                        .iter()
                        .chain(&y.side)
                        .for_each(|s| self.add(s.clone()));
                    self.add(y.form.plus(&x.form, -1));
                }
            }
        }
    }

    /// Adds `var = lo + step * t`, `t >= 0`, `var < hi`.
    pub fn add_loop(&mut self, var: Symbol, lo: &Index, hi: &Index, step: i64) {
        let v = LinearForm::unknown(Unknown::Symbol(var));
        let t = LinearForm::unknown(Unknown::Step(var));
        self.add(t.clone());
        let mut lo = lo.clone();
        let mut all = cases(&lo);
        if all.len() != 1 {
            lo = self.without_clamps(&lo);
            all = cases(&lo);
        }
        if let [lo] = &all[..] {
            lo.side.iter().for_each(|s| self.add(s.clone()));
            let difference = v.plus(&lo.form, -1).plus(&t, -i128::from(step));
            self.add(difference.clone());
            self.add(difference.times(-1));
        } else {
            self.add_at_most(&lo, &Index::Sym(var));
        }
        self.add_at_most(&Index::Sym(var).offset(1), hi);
    }

    /// An index without those clamps that have no effect where the facts hold.
    pub fn without_clamps(&self, index: &Index) -> Index {
        let out = match index.map_parts(|part| self.without_clamps(part)) {
            Index::Min(a, b) if self.proves_at_most(&a, &b) => *a,
            Index::Min(a, b) if self.proves_at_most(&b, &a) => *b,
            Index::Max(a, b) if self.proves_at_most(&a, &b) => *b,
            Index::Max(a, b) if self.proves_at_most(&b, &a) => *a,
            other => other,
        };
        out.simplified()
    }

    /// Whether `left <= right` follows.
    pub fn proves_at_most(&self, left: &Index, right: &Index) -> bool {
        let known = |all: &BTreeMap<Index, BTreeMap<Index, bool>>| {
            all.get(left).and_then(|of| of.get(right)).copied()
        };
        if let Some(answer) = known(&self.answers.borrow()) {
            return answer;
        }
        let answer = self.proves_anew(left, right);
        let mut answers = self.answers.borrow_mut();
        let of = answers.entry(left.clone()).or_default();
        of.insert(right.clone(), answer);
        answer
    }

    fn proves_anew(&self, left: &Index, right: &Index) -> bool {
        let right = cases(right);
        cases(left).iter().all(|x| {
            right.iter().all(|y| {
                let mut with = Facts {
                    rows: self.rows.clone(),
                    ..Facts::default()
                };
                x.side
                    .iter()
                    .chain(&y.side)
                    .for_each(|s| with.add(s.clone()));
                // The negation: left >= right + 1.
                with.add(x.form.plus(&y.form, -1).offset(-1));
                with.contradictory()
            })
        })
    }

    /// Whether `left == right` follows.
    pub fn proves_equal(&self, left: &Index, right: &Index) -> bool {
        self.proves_at_most(left, right) && self.proves_at_most(right, left)
    }

    /// Whether no integers satisfy all rows, as far as elimination can tell.
    pub fn contradictory(&self) -> bool {
        eliminate::contradictory(&self.rows)
    }
}

#[cfg(test)]
mod tests;
