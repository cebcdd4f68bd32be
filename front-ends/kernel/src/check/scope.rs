//! Names in scope.
//!
//! In: declarations as the checker meets them. Out: what a name means, and the visible name
//! that is nearest to a misspelt one.

use crate::ast;
use crate::index::Index;
use crate::tree::{Expr, Id};
use crate::types::Elem;
use semantics::diagnostic::suggest;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The constants of truth, by what they are as numbers: where nothing else is declared so.
pub(super) const TRUTHS: [&str; 2] = ["false", "true"];

/// What a name means.
#[derive(Clone, Debug)]
pub(super) enum Binding<'a> {
    /// An index: a size, a loop variable, or an expression of them.
    Index(Index),
    /// A value.
    Value(Expr),
    /// An array.
    Array(Id),
    /// A helper function.
    Function(Rc<FunctionDef<'a>>),
    /// Something whose declaration was wrong: it is not complained about again.
    Broken,
}

/// A declared function.
#[derive(Debug)]
pub(super) struct FunctionDef<'a> {
    /// Its text.
    pub(super) source: &'a ast::Function,
    /// How many scopes it can see.
    pub(super) depth: usize,
    /// Whether its body was found right.
    pub(super) sound: bool,
}

/// Nested scopes, innermost last.
#[derive(Debug)]
pub(super) struct Scopes<'a>(Vec<BTreeMap<String, Binding<'a>>>);

impl Default for Scopes<'_> {
    fn default() -> Self {
        Scopes(vec![BTreeMap::new()])
    }
}

impl<'a> Scopes<'a> {
    pub(super) fn push(&mut self) {
        self.0.push(BTreeMap::new());
    }

    pub(super) fn pop(&mut self) {
        self.0.pop();
    }

    pub(super) fn depth(&self) -> usize {
        self.0.len()
    }

    /// Takes away all scopes above the given number of them.
    pub(super) fn hide_above(&mut self, depth: usize) -> Vec<BTreeMap<String, Binding<'a>>> {
        self.0.split_off(depth)
    }

    pub(super) fn restore(&mut self, hidden: Vec<BTreeMap<String, Binding<'a>>>) {
        self.0.extend(hidden);
    }

    /// Adds a name to the innermost scope; false when it was there already and stays.
    pub(super) fn declare(&mut self, name: &str, binding: Binding<'a>) -> bool {
        let scope = self.0.last_mut().expect("there is always the file's scope");
        if scope.contains_key(name) {
            return false;
        }
        scope.insert(name.to_owned(), binding);
        true
    }

    pub(super) fn get(&self, name: &str) -> Option<&Binding<'a>> {
        self.0.iter().rev().find_map(|scope| scope.get(name))
    }

    /// The visible name, built-in operation, conversion or truth value that differs least from `name`.
    pub(super) fn nearest(&self, name: &str) -> Option<String> {
        let visible = self.0.iter().flat_map(BTreeMap::keys).map(String::as_str);
        let built_in = super::call::OPERATIONS.iter().map(|o| o.name);
        let ways = |elem| ["", "_sat", "_bits"].map(|way| format!("{elem}{way}"));
        let conversions: Vec<String> = Elem::named().flat_map(ways).collect();
        let conversions = conversions.iter().map(String::as_str);
        let all = visible.chain(built_in).chain(conversions).chain(TRUTHS);
        suggest(name, all).map(str::to_owned)
    }
}
