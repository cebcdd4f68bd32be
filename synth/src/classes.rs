//! Classes of equal terms: an e-graph.
//!
//! In: terms of one lane, and which of them are taken to be equal. Out: for each class the ways in
//! which its value is written, each an operator over classes: terms that differ only in equal parts
//! are one way (congruence), constants of one value and width are one class.
//!
//! Nelson and Oppen, "Fast decision procedures based on congruence closure" (1980). Who says that
//! terms are equal, and what is made of a class, are no concern of this module.

use crate::fragment::constant_bits;
use semantics::op::Op;
use semantics::sort::Sort;
use semantics::term::{Kind, Term};
use std::collections::HashMap;

/// A class by the number of one of its members.
pub(crate) type Class = usize;

/// One way to write a value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Written {
    /// A variable, a constant, an index.
    Leaf(Term),
    /// An operator over classes.
    App(Op, Vec<Class>),
}

/// The classes of some terms.
#[derive(Default)]
pub(crate) struct Classes {
    parents: Vec<Class>,
    written: Vec<Written>,
    /// The terms that were put in, in that order, each with its class.
    terms: Vec<(Term, Class)>,
    of_term: HashMap<Term, Class>,
    of_written: HashMap<Written, Class>,
}

impl Classes {
    /// How many ways to write values there are.
    pub(crate) fn size(&self) -> usize {
        self.written.len()
    }

    /// The class of a term that was put in.
    pub(crate) fn of(&self, t: Term) -> Option<Class> {
        Some(self.find(*self.of_term.get(&t)?))
    }

    /// Puts a term in, with its parts.
    pub(crate) fn add(&mut self, t: Term) -> Class {
        if let Some(known) = self.of(t) {
            return known;
        }
        let written = match t.kind() {
            Kind::App { op, args } => {
                Written::App(*op, args.iter().map(|a| self.add(*a)).collect())
            }
            _ => Written::Leaf(t),
        };
        let class = match self.of_written.get(&written) {
            Some(&known) => self.find(known),
            None => {
                let new = self.parents.len();
                self.parents.push(new);
                self.written.push(written.clone());
                self.of_written.insert(written, new);
                new
            }
        };
        self.terms.push((t, class));
        self.of_term.insert(t, class);
        let constant = constant_bits(t).filter(|_| matches!(t.sort(), Sort::Bv(_)));
        if let Some(bits) = constant.filter(|_| t.as_app().is_some()) {
            let literal = self.add(Term::bits(bits));
            self.unite(literal, class);
        }
        self.find(class)
    }

    /// The member that a class is known by.
    pub(crate) fn find(&self, class: Class) -> Class {
        let mut class = class;
        while self.parents[class] != class {
            class = self.parents[class];
        }
        class
    }

    /// Takes two classes to be one, known by the older; [`Classes::close`] finds what follows.
    pub(crate) fn unite(&mut self, x: Class, y: Class) {
        let (x, y) = (self.find(x), self.find(y));
        self.parents[x.max(y)] = x.min(y);
    }

    /// Unites classes that are written alike, until none is left.
    pub(crate) fn close(&mut self) {
        loop {
            let mut changed = false;
            self.of_written.clear();
            for k in 0..self.written.len() {
                let canonical = self.canonical(&self.written[k]);
                let class = self.find(k);
                match self
                    .of_written
                    .get(&canonical)
                    .map(|&known| self.find(known))
                {
                    Some(known) if known != class => {
                        self.unite(known, class);
                        changed = true;
                    }
                    Some(_) => {}
                    None => {
                        self.of_written.insert(canonical, class);
                    }
                }
            }
            if !changed {
                return;
            }
        }
    }

    fn canonical(&self, written: &Written) -> Written {
        match written {
            Written::Leaf(t) => Written::Leaf(*t),
            Written::App(op, args) => {
                Written::App(*op, args.iter().map(|a| self.find(*a)).collect())
            }
        }
    }

    /// The different ways in which the values of all classes are written.
    pub(crate) fn all_written(&self) -> HashMap<Class, Vec<Written>> {
        let mut out: HashMap<Class, Vec<Written>> = HashMap::new();
        for (k, written) in self.written.iter().enumerate() {
            let list = out.entry(self.find(k)).or_default();
            let canonical = self.canonical(written);
            if !list.contains(&canonical) {
                list.push(canonical);
            }
        }
        out
    }

    /// The terms of all classes, in the order in which they were put in.
    pub(crate) fn all_terms(&self) -> HashMap<Class, Vec<Term>> {
        let mut out: HashMap<Class, Vec<Term>> = HashMap::new();
        for &(t, class) in &self.terms {
            out.entry(self.find(class)).or_default().push(t);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use semantics::op::OpCode;

    fn variable(name: &str) -> Term {
        Term::var(name, Sort::Bv(8))
    }

    fn two(code: OpCode, x: Term, y: Term) -> Term {
        Term::raw_app(Op::new(code), &[x, y]).expect("a term")
    }

    #[test]
    fn equal_parts_make_equal_wholes() {
        let [x, y, z] = ["x", "y", "z"].map(variable);
        let (of_x, of_y) = (two(OpCode::BvSub, x, z), two(OpCode::BvSub, y, z));
        let mut classes = Classes::default();
        let (first, second) = (classes.add(of_x), classes.add(of_y));
        assert_ne!(classes.find(first), classes.find(second));
        let (x, y) = (classes.add(x), classes.add(y));
        classes.unite(x, y);
        classes.close();
        assert_eq!(classes.of(of_x), classes.of(of_y));
        assert_eq!(classes.all_written()[&classes.find(first)].len(), 1);
    }

    #[test]
    fn a_class_keeps_all_ways_to_write_it() {
        let x = variable("x");
        let doubled = two(OpCode::BvAdd, x, x);
        let shifted = two(OpCode::BvShl, x, Term::bv(8, 1));
        let mut classes = Classes::default();
        let (first, second) = (classes.add(doubled), classes.add(shifted));
        classes.unite(second, first);
        classes.close();
        let class = classes.find(first);
        assert_eq!(classes.all_terms()[&class], [doubled, shifted]);
        assert_eq!(classes.all_written()[&class].len(), 2);
    }

    #[test]
    fn constants_of_one_value_are_one_class_by_width() {
        let mut classes = Classes::default();
        let extended =
            Term::raw_app(Op::with(OpCode::Zext, 16), &[Term::bv(8, 5)]).expect("a term");
        let (wide, same) = (classes.add(Term::bv(16, 5)), classes.add(extended));
        let narrow = classes.add(Term::bv(8, 5));
        assert_eq!(wide, same);
        assert_ne!(wide, narrow);
    }
}
