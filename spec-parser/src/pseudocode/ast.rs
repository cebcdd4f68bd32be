//! The tree of a body of pseudocode.
//!
//! In: nothing. Out: statements and expressions, each with its place in the source. The
//! tree is what was written: meaning (widths, signs, what a name refers to) is given by
//! lowering.

use semantics::span::Span;
use std::sync::Arc;

/// A name as written.
pub type Name = Arc<str>;

/// Statements in order.
pub type Block = Vec<Statement>;

/// A statement and where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement {
    /// What it does.
    pub kind: StatementKind,
    /// Where it stands.
    pub span: Span,
}

/// What a statement does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StatementKind {
    /// `target := value`, or `target op= value`.
    Assign {
        /// What is written.
        target: Expr,
        /// The operator of `op=`.
        op: Option<BinaryOp>,
        /// The value.
        value: Expr,
    },
    /// A call for its effect.
    Call(Expr),
    /// `FOR variable := from to|downto to … ENDFOR`, both ends included.
    For {
        /// The loop variable.
        variable: Name,
        /// Its first value.
        from: Expr,
        /// Its last value.
        to: Expr,
        /// It counts down.
        down: bool,
        /// The body.
        body: Block,
    },
    /// `DO WHILE condition … OD`.
    While {
        /// The condition.
        condition: Expr,
        /// The body.
        body: Block,
    },
    /// `IF … ELSE IF … ELSE … FI`.
    If {
        /// Conditions with what happens under them, the first that holds counting.
        arms: Vec<(Expr, Block)>,
        /// What happens when none holds.
        otherwise: Block,
    },
    /// `CASE subject OF label: … ESAC`.
    Case {
        /// What is compared.
        subject: Expr,
        /// Its arms, the first that fits counting.
        arms: Vec<Arm>,
    },
    /// `DEFINE name(formals) { … }`.
    Define(Arc<Function>),
    /// `RETURN value`.
    Return(Option<Expr>),
    /// `BREAK`.
    Break,
    /// `#DE` and its like: an exception is raised.
    Raise(Name),
    /// `enum name { member := value, … }`.
    Enum(Vec<(Name, Option<i128>)>),
    /// `type name, name`: declares without effect.
    Declare(Vec<Name>),
    /// `type name[size] = { values }`: a table of constants.
    Table {
        /// Its name.
        name: Name,
        /// The values in order.
        values: Vec<i128>,
    },
}

/// One arm of a `CASE`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arm {
    /// What the subject must equal.
    pub label: Label,
    /// Where the label stands.
    pub span: Span,
    /// What happens then.
    pub body: Block,
}

/// The label of an arm.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Label {
    /// A number.
    Number(i128),
    /// A token of an enumeration.
    Token(Name),
    /// Anything.
    Default,
}

/// A function defined in a body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Its name.
    pub name: Name,
    /// Its formal parameters.
    pub formals: Vec<Formal>,
    /// Its body.
    pub body: Block,
}

/// A formal parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Formal {
    /// Its name.
    pub name: Name,
    /// Its width in bits, when the text gives one.
    pub width: Option<u32>,
}

/// An expression and where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
    /// Levels of the tree under and including this node.
    pub height: u32,
}

/// What an expression is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExprKind {
    /// An integer.
    Int(i128),
    /// A decimal fraction, as written.
    Decimal(Name),
    /// A name.
    Name(Name),
    /// A prefix operator.
    Unary(UnaryOp, Box<Expr>),
    /// An infix operator.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `left OP right`: the comparison that the variable `OP` holds.
    Variable(Box<Expr>, Box<Expr>),
    /// `condition ? then : otherwise`.
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `base[high:low]`.
    Slice(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `base[index]`: a bit, or an element when the base is a field like `.byte`.
    Index(Box<Expr>, Box<Expr>),
    /// `base.field`.
    Field(Box<Expr>, Name),
    /// `name(arguments)`.
    Call(Name, Vec<Expr>),
    /// `name{number}`: the operand that is called `name0`, `name1`, ….
    Numbered(Name, Box<Expr>),
}

/// A prefix operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnaryOp {
    /// `-`
    Negate,
    /// `+`
    Plus,
    /// `NOT`, `~`
    Not,
    /// `!`
    LogicalNot,
}

/// An infix operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BinaryOp {
    /// `OR`, `|`
    Or,
    /// `AND`, `&`
    And,
    /// `XOR`, `^`
    Xor,
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
    /// `<<`
    Shl,
    /// `>>`
    Shr,
    /// `<<<`
    Rotl,
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
}

impl ExprKind {
    /// The expressions that it is made of, in their order.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Expr> {
        let (few, many): ([Option<&Expr>; 3], &[Expr]) = match self {
            ExprKind::Int(_) | ExprKind::Decimal(_) | ExprKind::Name(_) => ([None; 3], &[]),
            ExprKind::Unary(_, a) | ExprKind::Field(a, _) | ExprKind::Numbered(_, a) => {
                ([Some(a), None, None], &[])
            }
            ExprKind::Binary(_, a, b) | ExprKind::Variable(a, b) | ExprKind::Index(a, b) => {
                ([Some(a), Some(b), None], &[])
            }
            ExprKind::Choice(a, b, c) | ExprKind::Slice(a, b, c) => {
                ([Some(a), Some(b), Some(c)], &[])
            }
            ExprKind::Call(_, args) => ([None; 3], args),
        };
        few.into_iter().flatten().chain(many)
    }
}

impl Expr {
    /// A node over its parts, with its height.
    pub fn new(kind: ExprKind, span: Span) -> Expr {
        let below = kind.parts().map(|part| part.height).max().unwrap_or(0);
        Expr {
            kind,
            span,
            height: below + 1,
        }
    }

    /// The name, when the expression is one.
    pub fn as_name(&self) -> Option<&Name> {
        match &self.kind {
            ExprKind::Name(name) => Some(name),
            _ => None,
        }
    }
}

/// The width in bits that a field stands for.
pub(crate) fn field_width(field: &str) -> Option<u32> {
    Some(match field {
        "bit" => 1,
        "byte" => 8,
        "word" | "fp16" | "bf16" => 16,
        "dword" | "fp32" => 32,
        "qword" | "fp64" => 64,
        "m128" => 128,
        "m256" => 256,
        "m512" => 512,
        _ => return None,
    })
}
