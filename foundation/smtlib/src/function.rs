//! What a conversation introduces.
//!
//! In: a name, sorts, and what it is. Out: [`Function`], of which expressions are made.

use crate::expression::{Expression, Written};
use semantics::sort::Sort;
use std::fmt;

/// A symbol of our own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    name: String,
    arguments: Vec<(String, Sort)>,
    result: Sort,
    body: Option<Expression>,
}

impl Function {
    /// One of which nothing is known but its sorts; a constant when it has no arguments.
    ///
    /// # Errors
    /// When one of them is no sort of bit vectors, truth values or memories.
    pub fn declared(
        name: &str,
        arguments: Vec<(String, Sort)>,
        result: Sort,
    ) -> Result<Function, String> {
        let mut sorts = arguments.iter().map(|(_, sort)| *sort).chain([result]);
        if sorts.any(|sort| sort == Sort::Int) {
            return Err("an index has no sort of SMT-LIB's bit vectors".to_owned());
        }
        Ok(Function {
            name: name.to_owned(),
            arguments,
            result,
            body: None,
        })
    }

    /// One that is a term over its arguments.
    ///
    /// # Errors
    /// When one of the arguments is an index.
    pub fn defined(
        name: &str,
        arguments: Vec<(String, Sort)>,
        body: Expression,
    ) -> Result<Function, String> {
        let declared = Function::declared(name, arguments, body.sort())?;
        Ok(Function {
            body: Some(body),
            ..declared
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its arguments, each with its sort.
    pub fn arguments(&self) -> &[(String, Sort)] {
        &self.arguments
    }

    /// The sort of its result.
    pub fn result(&self) -> Sort {
        self.result
    }

    /// What it is, where that is known.
    pub fn body(&self) -> Option<&Expression> {
        self.body.as_ref()
    }

    /// The term that it is of arguments.
    ///
    /// # Errors
    /// When it does not take such.
    pub fn call(&self, arguments: Vec<Expression>) -> Result<Expression, String> {
        let taken = self.arguments.iter().map(|(_, sort)| *sort);
        if !taken.eq(arguments.iter().map(Expression::sort)) {
            return Err(format!("`{}` does not take such arguments", self.name));
        }
        Ok(match arguments.is_empty() {
            true => Expression::name(&self.name, self.result),
            false => Expression::applied(&self.name, arguments, self.result),
        })
    }
}

impl fmt::Display for Function {
    /// The command that introduces it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, result) = (&self.name, Written(self.result));
        let spaced = |words: Vec<String>| words.join(" ");
        let arguments = self.arguments.iter();
        match &self.body {
            Some(body) => {
                let named = arguments.map(|(name, sort)| format!("({name} {})", Written(*sort)));
                let named = spaced(named.collect());
                write!(f, "(define-fun {name} ({named}) {result} {body})")
            }
            None => {
                let sorts = spaced(arguments.map(|(_, s)| Written(*s).to_string()).collect());
                write!(f, "(declare-fun {name} ({sorts}) {result})")
            }
        }
    }
}
