//! The checked kernel: every name resolved, every type known, functions inlined.
//!
//! In: nothing; the checker builds it and schedules rewrite it. Out:
//! [`Kernel`], read by the evaluator and by lowering. Scalar and vector statements have one
//! shape: an expression has lanes, and a scalar has one.

use crate::ast::{Direction, DirectiveText};
use crate::index::{Index, Symbol};
use crate::types::{Elem, Type};
use semantics::span::{Source, Span};
use std::collections::BTreeMap;
use std::fmt;

/// An array, a scalar parameter, a register or a local value: an index into the kernel's
/// table of its kind.
pub type Id = usize;

/// A checked kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The text that it was read from.
    pub source: Source,
    /// Its name.
    pub name: String,
    /// Sizes and loop variables, by [`Symbol`].
    pub symbols: Vec<SymbolInfo>,
    /// Parameters in the order of declaration.
    pub params: Vec<Param>,
    /// Arrays: parameters and local ones.
    pub arrays: Vec<Array>,
    /// Scalar parameters.
    pub scalars: Vec<Scalar>,
    /// Registers: `var` without dimensions.
    pub registers: Vec<Register>,
    /// Values named by `let` or bound to a function's parameter.
    pub locals: Vec<Local>,
    /// Functions of indices alone, which schedules may compute before they are asked for.
    pub definitions: Vec<Definition>,
    /// Preconditions on the sizes.
    pub requires: Vec<Condition>,
    /// The algorithm.
    pub body: Vec<Stmt>,
    /// The schedule as written.
    pub schedule: Vec<DirectiveText>,
    /// The place of its name.
    pub span: Span,
}

impl Kernel {
    /// The name of a size or loop variable.
    pub fn symbol_name(&self, symbol: Symbol) -> String {
        self.symbols[symbol.0 as usize].name.clone()
    }

    /// How many lanes a statement writes; a value of one lane is the same in all of them.
    pub fn lanes(&self, target: &Target) -> u32 {
        match target {
            Target::Register(id) => self.registers[*id].ty.lanes,
            Target::Array(access) => access.lanes,
        }
    }

    /// Values of sizes or loop variables as a list: `n = 3, m = 4`.
    pub fn values_text(&self, values: &BTreeMap<Symbol, i64>) -> String {
        let each = values
            .iter()
            .map(|(&s, v)| format!("{} = {v}", self.symbol_name(s)));
        each.collect::<Vec<_>>().join(", ")
    }

    /// An index as it would be written.
    pub fn index_text(&self, index: &Index) -> String {
        index.display(&|s| self.symbol_name(s)).to_string()
    }

    /// A size or loop variable more.
    pub fn new_symbol(&mut self, name: String, kind: SymbolKind, span: Span) -> Symbol {
        let number = u32::try_from(self.symbols.len()).expect("fewer than 2^32 symbols");
        self.symbols.push(SymbolInfo {
            name,
            kind,
            incremental: false,
            span,
        });
        Symbol(number)
    }

    /// A name that no array has: this one, or one with a number behind it.
    pub fn unused_array_name(&self, like: &str) -> String {
        let taken = |name: &String| self.arrays.iter().any(|a| a.name == *name);
        let numbered = (1..).map(|n| format!("{like}_{n}"));
        let mut all = std::iter::once(like.to_owned()).chain(numbered);
        all.find(|name| !taken(name)).expect("numbers do not end")
    }

    /// The sizes, in order of declaration.
    pub fn sizes(&self) -> impl Iterator<Item = Symbol> + '_ {
        (0u32..)
            .zip(&self.symbols)
            .filter(|(_, s)| s.kind == SymbolKind::Size)
            .map(|(n, _)| Symbol(n))
    }
}

/// What is known of a symbol.
#[derive(Clone, Debug)]
pub struct SymbolInfo {
    /// Its name.
    pub name: String,
    /// Size or loop variable.
    pub kind: SymbolKind,
    /// Whether addresses that depend on this loop variable are kept and moved on by a constant
    /// in each iteration, instead of being computed anew.
    pub incremental: bool,
    /// Where it was declared.
    pub span: Span,
}

/// Whether a symbol is fixed for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// A parameter: at least 0, the same for a whole run.
    Size,
    /// A loop variable.
    Loop,
}

/// A parameter of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Param {
    /// A size.
    Size(Symbol),
    /// A scalar.
    Scalar(Id),
    /// An array.
    Array(Id),
}

/// An array: row-major, the last dimension contiguous.
#[derive(Clone, Debug)]
pub struct Array {
    /// Its name.
    pub name: String,
    /// The type of an element.
    pub elem: Elem,
    /// Dimensions, outermost first, at least one.
    pub dims: Vec<Index>,
    /// In memory, the last dimension is rounded up to a multiple of this. What lies between
    /// two rows is nobody's: it may be read and written, and does not matter.
    pub pad: i64,
    /// How it may be used.
    pub role: Role,
    /// Where a schedule has put it.
    pub placement: Placement,
    /// Where it was declared.
    pub span: Span,
}

/// Where an array is, as far as a schedule says so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The loop in each iteration of which it is a new array; none: one for the whole kernel.
    /// Every element is written before it is read in such an iteration.
    pub inside: Option<Symbol>,
    /// The memory that it lives in, when that is not the main memory.
    pub memory: Option<String>,
    /// Whether elements may be read that nothing has written: what they hold does not matter.
    pub unset: bool,
}

impl Array {
    /// The dimensions as they lie in memory.
    pub fn memory_dims(&self) -> Vec<Index> {
        let mut dims = self.dims.clone();
        if let Some(last) = dims.last_mut().filter(|_| self.pad > 1) {
            *last = last.rounded_up(self.pad);
        }
        dims
    }

    /// Sets what lies between rows to 0, given the values of sizes.
    pub fn blank_padding(&self, value: &impl Fn(Symbol) -> i64, elements: &mut [i128]) {
        let row = self.memory_dims().pop().and_then(|d| d.eval(value).ok());
        let used = self.dims.last().and_then(|d| d.eval(value).ok());
        let [Some(row), Some(used)] = [row, used].map(|n| n.and_then(|n| usize::try_from(n).ok()))
        else {
            return;
        };
        if used < row {
            elements.chunks_mut(row).for_each(|row| row[used..].fill(0));
        }
    }
}

/// Who owns an array and what may be done with it. No two arrays overlap in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A parameter.
    Param(Direction),
    /// Local to the kernel; holds nothing before it is written.
    Local,
}

/// A scalar parameter.
#[derive(Clone, Debug)]
pub struct Scalar {
    /// Its name.
    pub name: String,
    /// Its type.
    pub elem: Elem,
}

/// A register: a value that statements may change.
#[derive(Clone, Debug)]
pub struct Register {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Whether its lanes are parts of one result, of which only the whole is used: which lane a
    /// value is added to does not matter then.
    pub parts: bool,
}

/// A value with a name.
#[derive(Clone, Debug)]
pub struct Local {
    /// Its name, for messages.
    pub name: String,
    /// The value.
    pub value: Expr,
    /// Whether a [`Stmt::Let`] computes it; otherwise it is computed where it is used.
    pub stated: bool,
}

/// A function of indices alone. Where it is called its value stands, with arguments for parameters.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Its name.
    pub name: String,
    /// Its parameters; [`Definition::parameter`] stands for each in the value.
    pub params: Vec<String>,
    /// The value, of one lane, names in it as their values.
    pub value: Expr,
}

impl Definition {
    /// The symbol of a parameter, which is none of the kernel's.
    pub fn parameter(number: usize) -> Symbol {
        Symbol(u32::MAX - u32::try_from(number).expect("few parameters"))
    }
}

/// A precondition: a comparison of two indices.
#[derive(Clone, Debug)]
pub struct Condition {
    /// The comparison.
    pub relation: Relation,
    /// Left side.
    pub left: Index,
    /// Right side.
    pub right: Index,
    /// Where it was written.
    pub span: Span,
}

/// A comparison of indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Equal.
    Eq,
    /// Different.
    Ne,
    /// At most.
    Le,
    /// Less.
    Lt,
}

impl Condition {
    /// Whether it holds under an assignment; an overflowing side makes it false.
    pub fn holds(&self, value: &impl Fn(Symbol) -> i64) -> bool {
        let (Ok(a), Ok(b)) = (self.left.eval(value), self.right.eval(value)) else {
            return false;
        };
        match self.relation {
            Relation::Eq => a == b,
            Relation::Ne => a != b,
            Relation::Le => a <= b,
            Relation::Lt => a < b,
        }
    }
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// A loop.
    For(For),
    /// The computation of a local value.
    Let(Id),
    /// A store into an array or register.
    Assign(Assign),
}

/// A counted loop over `lo, lo + step, …` while less than `hi`; or, of these values, the one
/// that a value computed before has, if it is among them.
#[derive(Clone, Debug)]
pub struct For {
    /// The loop variable.
    pub var: Symbol,
    /// First value.
    pub lo: Index,
    /// One past the last value.
    pub hi: Index,
    /// Step, at least 1.
    pub step: i64,
    /// The statements.
    pub body: Vec<Stmt>,
    /// Whether an iteration near the end works on fewer lanes than its statements have: on
    /// the leading `hi - var` of `step`, see [`ActiveLanes`]. Schedules make such loops, and
    /// front ends of masks that hold for leading lanes; the checker does not.
    pub partial: bool,
    /// Whether it is for what vectors leave over, and runs few iterations or none.
    pub leftover: bool,
    /// The local value, a whole number of one lane that a [`Stmt::Let`] computes before, with
    /// which alone the body runs: once when it is one of the loop's values, otherwise not.
    /// That is how indices depend on data: what holds of all the loop's values holds of it.
    pub at: Option<Id>,
    /// The place of the loop variable.
    pub span: Span,
}

/// The lanes that an iteration of a [partial](For::partial) loop works on: the leading ones.
#[derive(Clone, Copy, Debug)]
pub struct ActiveLanes {
    /// How many are active; more than all of them count as all.
    pub active: i64,
    /// How many there are, at least 1.
    pub of: i64,
}

impl ActiveLanes {
    /// How many elements of an access of so many are used: as large a share of them, and the one that
    /// all lanes use.
    pub fn share(self, lanes: u32) -> u32 {
        let of = i128::from(self.of);
        let (active, lanes) = (i128::from(self.active).clamp(0, of), i128::from(lanes));
        let used = (active * lanes + of - 1) / of;
        u32::try_from(used).expect("no more than there are")
    }
}

impl For {
    /// A loop over all whole numbers from the first up to the second.
    pub fn new(var: Symbol, (lo, hi): (Index, Index), body: Vec<Stmt>, span: Span) -> For {
        For {
            var,
            lo,
            hi,
            step: 1,
            body,
            partial: false,
            leftover: false,
            at: None,
            span,
        }
    }

    /// Whether the loop, or one inside it, runs where data say so.
    pub fn depends_on_data(&self) -> bool {
        let inside = |s: &Stmt| matches!(s, Stmt::For(f) if f.depends_on_data());
        self.at.is_some() || self.body.iter().any(inside)
    }
}

/// A store; all loads of the statement happen before it.
#[derive(Clone, Debug)]
pub struct Assign {
    /// Where to.
    pub target: Target,
    /// Whether the value is added to what is there, modulo 2^bits.
    pub accumulate: bool,
    /// Whether the kernel leaves open in which order such statements accumulate floats.
    pub reassociate: bool,
    /// What is stored: the target's type.
    pub value: Expr,
    /// The whole statement.
    pub span: Span,
}

impl Assign {
    /// The operation by which the statement accumulates, `s += e` or `s = max(s, e)`, and
    /// what it adds: of `s = fma(a, b, s)` the product, which is not rounded.
    pub fn accumulation(&self) -> Option<(Reduction, Added<'_>)> {
        if self.accumulate {
            return Some((Reduction::Add, Added::Value(&self.value)));
        }
        let ExprKind::Apply(op, args) = &self.value.kind else {
            return None;
        };
        let is_target = |e: &Expr| match (&e.kind, &self.target) {
            (ExprKind::Register(r), Target::Register(t)) => r == t,
            (ExprKind::Load(access), Target::Array(t)) => access == t,
            _ => false,
        };
        let reduction = match (op, &args[..]) {
            (Op::Fma, [a, b, s]) if is_target(s) => {
                return Some((Reduction::Add, Added::Product(a, b)));
            }
            (Op::Min, _) => Reduction::Min,
            (Op::Max, _) => Reduction::Max,
            (Op::Add, _) => Reduction::Add,
            _ => return None,
        };
        match &args[..] {
            [s, e] if is_target(s) => Some((reduction, Added::Value(e))),
            [e, s] if is_target(s) => Some((reduction, Added::Value(e))),
            _ => None,
        }
    }
}

/// What a statement adds to its target.
#[derive(Clone, Copy, Debug)]
pub enum Added<'e> {
    /// A value.
    Value(&'e Expr),
    /// A product that is added before it is rounded.
    Product(&'e Expr, &'e Expr),
}

/// What a statement writes.
#[derive(Clone, PartialEq, Debug)]
pub enum Target {
    /// A register.
    Register(Id),
    /// Elements of an array.
    Array(Access),
}

/// Elements of an array: one for each lane. Equality is of the elements, wherever they
/// were written.
#[derive(Clone, Debug)]
pub struct Access {
    /// Which array.
    pub array: Id,
    /// The element of lane 0, one index per dimension.
    pub index: Vec<Index>,
    /// Number of lanes; 1 for a single element.
    pub lanes: u32,
    /// The dimension along which the lanes go.
    pub dim: usize,
    /// How far apart the lanes are in that dimension.
    pub stride: i64,
    /// Whether each lane's index in `dim` is clamped into the array.
    pub clamped: bool,
    /// Where it was written.
    pub span: Span,
}

impl PartialEq for Access {
    fn eq(&self, other: &Access) -> bool {
        let key = |a: &Access| (a.array, a.lanes, a.dim, a.stride, a.clamped);
        key(self) == key(other) && self.index == other.index
    }
}

impl Access {
    /// One element.
    pub fn element(array: Id, index: Vec<Index>, span: Span) -> Access {
        Access {
            array,
            dim: index.len().saturating_sub(1),
            index,
            lanes: 1,
            stride: 1,
            clamped: false,
            span,
        }
    }

    /// Whether the lanes are neighbours in memory, lane 0 lowest.
    pub fn is_dense(&self) -> bool {
        self.lanes == 1 || self.stride == 1 && self.dim + 1 == self.index.len() && !self.clamped
    }

    /// The index of the last lane in `dim`, before clamping.
    pub fn last_index(&self) -> Index {
        self.index[self.dim].offset(self.stride * i64::from(self.lanes - 1))
    }
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its type.
    pub ty: Type,
    /// Where it was written.
    pub span: Span,
}

impl Expr {
    /// A function of the C library that is called in it, if any is; not in the values of names.
    pub fn called(&self) -> Option<Function> {
        self.find(&|e| match e.kind {
            ExprKind::Apply(Op::Call(function), _) => Some(function),
            _ => None,
        })
    }

    /// Whether it is made of at most so many parts, those of indices too; it looks at no more
    /// than that.
    pub fn is_within(&self, most: usize) -> bool {
        let (mut work, mut seen) = (vec![self], 0);
        while let Some(e) = work.pop() {
            seen += 1;
            if seen > most {
                return false;
            }
            let small = match &e.kind {
                ExprKind::Index(index) => index.is_within(most),
                ExprKind::Load(access) => access.index.iter().all(|i| i.is_within(most)),
                _ => true,
            };
            if !small {
                return false;
            }
            work.extend(e.operands());
        }
        true
    }
}

/// What an expression is. An operand of one lane beside operands of several is the same in
/// every lane.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// Constants: one for all lanes, or one per lane.
    Const(Vec<i128>),
    /// A scalar parameter.
    Scalar(Id),
    /// A register.
    Register(Id),
    /// A local value.
    Local(Id),
    /// Elements of an array.
    Load(Access),
    /// An index as a number, wrapped to the type.
    Index(Index),
    /// An operation on each lane.
    Apply(Op, Vec<Expr>),
    /// Every `n` adjacent lanes reduced to one by an associative operation.
    Reduce(Reduction, Box<Expr>, u32),
    /// Lanes chosen from the concatenation of the parts.
    Shuffle(Vec<Expr>, Vec<u32>),
}

/// An associative and commutative operation that adjacent lanes can be reduced by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Reduction {
    /// Sum modulo 2^bits.
    Add,
    /// Minimum.
    Min,
    /// Maximum.
    Max,
}

/// An operation on the lanes of its operands. Results wrap to the result type unless the
/// operation says otherwise.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Op {
    /// Sum; of floats rounded to the nearest, as all operations on floats.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Euclidean quotient: the remainder is never negative; by zero it is 0. Of floats the
    /// quotient of IEEE 754.
    Div,
    /// Euclidean remainder; by zero it is 0.
    Rem,
    /// Negation.
    Neg,
    /// The first where it is less, else the second.
    Min,
    /// The first where it is greater, else the second.
    Max,
    /// Bitwise (or logical) and.
    And,
    /// Bitwise (or logical) or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Complement of every bit (or of a truth value).
    Not,
    /// Left shift; the count is read as unsigned, past the width the result is 0.
    Shl,
    /// Right shift, of a signed value with its sign; past the width only the sign is left.
    Shr,
    /// Equality.
    Eq,
    /// Inequality.
    Ne,
    /// Less.
    Lt,
    /// At most.
    Le,
    /// The second operand where the first is true, else the third.
    Select,
    /// The value modulo 2^bits of the result type. To a float, the nearest one; from a
    /// float, what is left of the point, and what does not fit is the least value of a
    /// signed type and the greatest of an unsigned one.
    Cast,
    /// The value clamped to the range of the result type; 0 for a NaN.
    SatCast,
    /// Sum clamped to the type's range.
    SatAdd,
    /// Difference clamped to the type's range.
    SatSub,
    /// Absolute value, as an unsigned number of the same width.
    Abs,
    /// Absolute difference, as an unsigned number of the same width.
    Absd,
    /// `(a + b + 1) >> 1`, the sum not wrapped.
    Avg,
    /// `(a + b) >> 1`, the sum not wrapped.
    AvgFloor,
    /// `(a + (1 << (s-1))) >> s`, nothing wrapped; the value itself when `s` is 0.
    RoundShr,
    /// `(a * b) >> s` clamped to the type's range, nothing wrapped.
    MulShr,
    /// `(a * b + (1 << (s-1))) >> s` clamped to the type's range, nothing wrapped.
    RoundMulShr,
    /// Number of leading zero bits.
    Clz,
    /// Number of one bits.
    Popcount,
    /// First times second plus third, of floats, rounded once.
    Fma,
    /// Square root of a float.
    Sqrt,
    /// The integral float that is nearest, ties to the even one.
    RoundEven,
    /// The greatest integral float that is not greater.
    Floor,
    /// The least integral float that is not less.
    Ceil,
    /// The integral float next to it towards zero.
    Trunc,
    /// The float itself, or the zero of its sign where it is subnormal.
    Flush,
    /// The value of the result type that has the same bits; of the NaN some NaN's.
    Bits,
    /// A function of the C library, of `f32` or `f64`, on one lane.
    Call(Function),
}

/// A function of the C library that programs for a kernel call. What it gives is not fixed by
/// any standard: it is what the library of the machine computes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Function {
    /// e to a power.
    Exp,
    /// The natural logarithm.
    Log,
    /// The first to the power of the second.
    Pow,
    /// The sine of an angle in radians.
    Sin,
    /// The cosine of an angle in radians.
    Cos,
    /// The tangent of an angle in radians.
    Tan,
    /// The angle with that sine.
    Asin,
    /// The angle with that cosine.
    Acos,
    /// The angle with that tangent.
    Atan,
    /// The angle of the point whose ordinate is the first, and whose abscissa the second.
    Atan2,
    /// The hyperbolic sine.
    Sinh,
    /// The hyperbolic cosine.
    Cosh,
    /// The hyperbolic tangent.
    Tanh,
}

impl Function {
    /// All of them.
    pub const ALL: [Function; 13] = [
        Function::Exp,
        Function::Log,
        Function::Pow,
        Function::Sin,
        Function::Cos,
        Function::Tan,
        Function::Asin,
        Function::Acos,
        Function::Atan,
        Function::Atan2,
        Function::Sinh,
        Function::Cosh,
        Function::Tanh,
    ];

    /// Its name in C, for `double`.
    pub fn name(self) -> &'static str {
        match self {
            Function::Exp => "exp",
            Function::Log => "log",
            Function::Pow => "pow",
            Function::Sin => "sin",
            Function::Cos => "cos",
            Function::Tan => "tan",
            Function::Asin => "asin",
            Function::Acos => "acos",
            Function::Atan => "atan",
            Function::Atan2 => "atan2",
            Function::Sinh => "sinh",
            Function::Cosh => "cosh",
            Function::Tanh => "tanh",
        }
    }

    /// How many floats it takes.
    pub fn arity(self) -> usize {
        match self {
            Function::Pow | Function::Atan2 => 2,
            _ => 1,
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Op::Call(function) => f.write_str(function.name()),
            _ => write!(f, "{self:?}"),
        }
    }
}
