//! The syntax tree: what was written, with the place of every node.
//!
//! In: nothing; the parser builds it. Out: [`File`]. Names are not resolved and types
//! are not known here: the checker does both.

use semantics::span::Span;

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    /// The name.
    pub name: String,
    /// Its place.
    pub span: Span,
}

/// A whole source text.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// Functions at file level, in order.
    pub functions: Vec<Function>,
    /// Kernels, in order.
    pub kernels: Vec<Kernel>,
}

/// A kernel: parameters, preconditions, statements, schedule.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Its name.
    pub name: Ident,
    /// Its parameters, in order.
    pub params: Vec<Param>,
    /// What must hold of the sizes.
    pub requires: Vec<Expr>,
    /// The algorithm.
    pub body: Vec<Stmt>,
    /// How it is to be run; empty when none was written.
    pub schedule: Vec<DirectiveText>,
    /// The whole declaration.
    pub span: Span,
}

/// How the kernel uses an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Read only.
    In,
    /// Written before it is read; its old contents do not matter.
    Out,
    /// Read and written.
    InOut,
}

/// A kernel parameter: a size, a scalar or an array.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name.
    pub name: Ident,
    /// The direction, when one was written.
    pub direction: Option<Direction>,
    /// The written type: `size` or an element type.
    pub ty: Ident,
    /// The dimensions, outermost first; empty for a scalar.
    pub dims: Dims,
}

/// The dimensions of an array.
#[derive(Clone, Debug, Default)]
pub struct Dims {
    /// Outermost first; none for a scalar or register.
    pub sizes: Vec<Expr>,
    /// What the last one is rounded up to a multiple of in memory, and where that stands.
    pub pad: Option<(i128, Span)>,
}

/// A pure helper function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: Ident,
    /// Parameters: name and written type (`index` for an index).
    pub params: Vec<(Ident, Ident)>,
    /// The written result type.
    pub result: Ident,
    /// Local definitions before the result.
    pub lets: Vec<Let>,
    /// The result.
    pub value: Expr,
}

/// A local definition.
#[derive(Clone, Debug)]
pub struct Let {
    /// The name.
    pub name: Ident,
    /// The written type, when there is one.
    pub ty: Option<Ident>,
    /// The value.
    pub value: Expr,
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// A counted loop.
    For {
        /// The loop variable.
        var: Ident,
        /// First value.
        lo: Expr,
        /// One past the last value.
        hi: Expr,
        /// The step and its place, when written.
        step: Option<(i128, Span)>,
        /// The one value for which the body runs, when written.
        at: Option<Expr>,
        /// The statements.
        body: Vec<Stmt>,
    },
    /// A local definition.
    Let(Let),
    /// A local array or register.
    Var {
        /// The name.
        name: Ident,
        /// The written type.
        ty: Ident,
        /// Dimensions; empty for a register.
        dims: Dims,
        /// The first value, when given.
        init: Option<Expr>,
    },
    /// A helper function inside the kernel.
    Function(Function),
    /// A store.
    Assign {
        /// The array or register.
        target: Ident,
        /// The subscript; none for a register.
        subscript: Option<Subscript>,
        /// Whether it is `+=`.
        accumulate: bool,
        /// The place of `reassociate`, when that was written.
        reassociate: Option<Span>,
        /// The value.
        value: Expr,
        /// The whole statement.
        span: Span,
    },
}

/// One line of a schedule: its words, the first of which names the directive.
#[derive(Clone, Debug)]
pub struct DirectiveText {
    /// The words, commas included.
    pub words: Vec<Ident>,
    /// The whole line.
    pub span: Span,
}

/// What stands in brackets after a name.
#[derive(Clone, Debug)]
pub struct Subscript {
    /// Whether indices are clamped into the array (`a.clamped[..]`).
    pub clamped: bool,
    /// One entry per dimension.
    pub entries: Vec<IndexEntry>,
    /// The brackets with their contents.
    pub span: Span,
}

/// One index, or a range of them: `start..+count by stride`.
#[derive(Clone, Debug)]
pub struct IndexEntry {
    /// The index, or the first of the range.
    pub start: Expr,
    /// Number of elements and stride, for a range.
    pub range: Option<(i128, Option<Expr>)>,
    /// The whole entry.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A number without a type of its own.
    Int(i128),
    /// A number with a point or an exponent, as written.
    Decimal(String),
    /// A name.
    Name(String),
    /// A call of an operation, a type (a cast) or a helper function.
    Call {
        /// What is called.
        callee: Ident,
        /// The arguments.
        args: Vec<Expr>,
    },
    /// An element or a range of elements of an array or vector.
    Access {
        /// The array or vector.
        base: Box<Expr>,
        /// The indices.
        subscript: Subscript,
    },
    /// A constant vector.
    Vector(Vec<Expr>),
    /// A prefix operator.
    Unary(UnaryOp, Box<Expr>),
    /// An infix operator.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
}

/// Prefix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-`
    Neg,
    /// `~`
    Not,
    /// `!`
    LogicalNot,
}

/// Infix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
    /// `&`
    And,
    /// `^`
    Xor,
    /// `|`
    Or,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `&&`
    LogicalAnd,
    /// `||`
    LogicalOr,
}

impl BinaryOp {
    /// The operator as written, and how tightly it binds (larger binds tighter).
    pub const TABLE: &'static [(BinaryOp, &'static str, u8)] = &[
        (BinaryOp::LogicalOr, "||", 1),
        (BinaryOp::LogicalAnd, "&&", 2),
        (BinaryOp::Eq, "==", 3),
        (BinaryOp::Ne, "!=", 3),
        (BinaryOp::Le, "<=", 3),
        (BinaryOp::Ge, ">=", 3),
        (BinaryOp::Lt, "<", 3),
        (BinaryOp::Gt, ">", 3),
        (BinaryOp::Or, "|", 4),
        (BinaryOp::Xor, "^", 5),
        (BinaryOp::And, "&", 6),
        (BinaryOp::Shl, "<<", 7),
        (BinaryOp::Shr, ">>", 7),
        (BinaryOp::Add, "+", 8),
        (BinaryOp::Sub, "-", 8),
        (BinaryOp::Mul, "*", 9),
        (BinaryOp::Div, "/", 9),
        (BinaryOp::Rem, "%", 9),
    ];

    /// The operator as written.
    pub fn symbol(self) -> &'static str {
        Self::TABLE
            .iter()
            .find(|row| row.0 == self)
            .map_or("?", |row| row.1)
    }
}
