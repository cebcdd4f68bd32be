//! The tree of a body of pseudocode.
//!
//! In: nothing. Out: the types; [`super::parser`] builds them and [`super::lower`] gives them
//! their meaning. Every node knows its place in the body.

use semantics::span::Span;

/// A statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Statement {
    /// `for NAME in LOW .. HIGH { … }`: HIGH is not reached.
    For {
        name: String,
        low: Expr,
        high: Expr,
        body: Vec<Statement>,
        span: Span,
    },
    /// `let NAME = VALUE`.
    Let { name: String, value: Expr },
    /// `PLACE = VALUE` or `PLACE += VALUE`.
    Assign {
        place: Place,
        adds: bool,
        value: Expr,
    },
    /// `if CONDITION { … } else { … }`.
    If {
        condition: Expr,
        then: Vec<Statement>,
        other: Vec<Statement>,
        span: Span,
    },
    /// `require CONDITION, "what is broken otherwise"`.
    Require {
        condition: Expr,
        message: String,
        span: Span,
    },
    /// `spend QUEUE, CYCLES`.
    Spend {
        queue: String,
        cycles: Expr,
        span: Span,
    },
    /// `perform PROCEDURE(…)`.
    Perform {
        name: String,
        arguments: Vec<Expr>,
        span: Span,
    },
    /// `settle`.
    Settle { span: Span },
    /// `var NAME: TYPE[ROWS][COLUMNS]`: zeros.
    Blank {
        name: String,
        element: String,
        rows: Expr,
        columns: Expr,
        span: Span,
    },
}

/// A register, an element of a view of it, memory, or a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub(crate) name: String,
    pub(crate) view: Option<String>,
    pub(crate) indices: Vec<Expr>,
    pub(crate) span: Span,
}

/// An expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) span: Span,
}

/// What an expression is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ExprKind {
    Number(i64),
    Place(Place),
    Call(String, Vec<Expr>),
    Negate(Box<Expr>),
    Not(Box<Expr>),
    Binary(Operator, Box<Expr>, Box<Expr>),
}

/// A binary operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operator {
    Shl,
    Shr,
    Equal,
    Differs,
    AtMost,
    Below,
    AtLeast,
    Above,
    Or,
    Xor,
    And,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}
