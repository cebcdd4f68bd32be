//! Halide's lowered statement text as a tree.
//!
//! In: the text. Out: [`StatementText`]: statements and expressions with their places, names not
//! resolved, types only where the text states them. A line is read by `statement.pest`; blocks
//! and the precedence of operators are put together here. What the lines mean is left to the
//! importer.

use kernel::types::{Elem, Type};
use pest::Parser as _;
use pest::error::InputLocation;
use pest::iterators::{Pair, Pairs};
use semantics::diagnostic::Diagnostic;
use semantics::float::Format;
use semantics::span::{Source, Span};
use std::cell::Cell;
use std::collections::BTreeMap;

mod grammar {
    //! The parser by `statement.pest`.

    ::grammar::grammar! {
        /// The grammar; its rules are named as in `statement.pest`.
        pub(super) Grammar in "statement.pest":
        line module function linkage assertion let_stmt condition otherwise otherwise_if close
        produce atomic consume loop_stmt loop_kind device allocate allocated free predicate store
        evaluate expr let_in operator unary negation primary typed task address reinterpret call
        called load loaded aligned type_name name decimal number text kw_let kw_in
    }
}

use grammar::{Grammar, Rule};

/// How deeply brackets, `let … in` and masks may nest in one line.
const MAX_NESTING: usize = 200;

/// The most bytes of a text.
const MAX_BYTES: usize = 32 << 20;

/// How deeply blocks may nest.
const MAX_BLOCKS: usize = 200;

/// How deep an expression may become: operands that are joined, and brackets around them.
const MAX_LEVELS: usize = 1000;

/// A statement file: what its head says, and the function in it.
#[derive(Debug)]
pub(super) struct StatementText {
    pub(super) name: String,
    pub(super) arguments: Vec<String>,
    pub(super) body: Vec<Stmt>,
    /// The functions that the iterations of parallel loops run.
    pub(super) tasks: BTreeMap<String, Task>,
    pub(super) span: Span,
}

/// What an iteration of a parallel loop runs.
#[derive(Debug)]
pub(super) struct Task {
    /// The context, the loop variable, the structure with the names of the function around.
    pub(super) arguments: Vec<String>,
    pub(super) body: Vec<Stmt>,
}

/// A type as the text states it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stated {
    /// A number or truth value, or a vector of them.
    Value(Type),
    /// An address, or a type that kernels do not have.
    Other,
}

#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub(super) kind: Kind,
    pub(super) span: Span,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Number(i128),
    Decimal(String),
    Text,
    /// The function of a parallel loop.
    Task(String),
    Name(String),
    /// `(type)x`: the type of what has none of its own.
    Typed(Stated, Box<Expr>),
    Reinterpret(Stated, Box<Expr>),
    Call(String, Vec<Expr>),
    Load(String, Box<Expr>, Option<Box<Expr>>),
    Not(Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    Let(String, Box<Expr>, Box<Expr>),
}

impl Expr {
    /// Whether a name stands at least twice in it.
    pub(super) fn repeats(&self, name: &str) -> bool {
        self.count(name, 2) >= 2
    }

    /// How often a name stands in it, counted up to a number.
    fn count(&self, name: &str, most: usize) -> usize {
        let sum = |all: &mut dyn Iterator<Item = &Expr>| {
            let mut sum = 0;
            for e in all {
                if sum >= most {
                    break;
                }
                sum += e.count(name, most - sum);
            }
            sum
        };
        match &self.kind {
            Kind::Number(_) | Kind::Decimal(_) | Kind::Text | Kind::Task(_) => 0,
            Kind::Name(found) => usize::from(found == name),
            Kind::Typed(_, e) | Kind::Reinterpret(_, e) | Kind::Not(e) => e.count(name, most),
            Kind::Call(_, args) => sum(&mut args.iter()),
            Kind::Load(_, index, mask) => {
                sum(&mut std::iter::once(&**index).chain(mask.as_deref()))
            }
            Kind::Binary(_, a, b) | Kind::Let(_, a, b) => sum(&mut [&**a, &**b].into_iter()),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Stmt {
    pub(super) kind: StmtKind,
    pub(super) span: Span,
}

#[derive(Clone, Debug)]
pub(super) enum StmtKind {
    Assert(Expr, Expr),
    Let(String, Expr),
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    For {
        kind: String,
        name: String,
        min: Expr,
        extent: Expr,
        body: Vec<Stmt>,
    },
    /// `produce` and `consume`: their statements.
    Block(Vec<Stmt>),
    Allocate {
        name: String,
        ty: Stated,
        extents: Vec<Expr>,
    },
    Free,
    Predicate(Expr),
    Store(String, Expr, Expr),
    Evaluate(Expr),
}

/// What is open while lines are read.
enum Open {
    Block,
    If(Expr),
    Else(Expr, Vec<Stmt>),
    /// The `else if` of another condition: one brace closes both.
    ElseIf(Expr, Vec<Stmt>),
    For(String, String, Expr, Expr),
    Function(String, Vec<String>),
    Task(String, Vec<String>),
}

/// Reads a statement file.
pub(super) fn parse(source: &Source) -> Result<StatementText, Vec<Diagnostic>> {
    let mut reader = Reader {
        source,
        stack: Vec::new(),
        lists: vec![Vec::new()],
        program: None,
        tasks: BTreeMap::new(),
        start: 0,
        levels: Cell::new(0),
    };
    let text = source.text();
    if text.len() > MAX_BYTES {
        let message = format!("this text has {} bytes", text.len());
        let hint = format!("at most {MAX_BYTES} are read: unroll less");
        let diagnostic = Diagnostic::error(message).at(source, Span::new(0, 0));
        return Err(vec![diagnostic.hint(hint)]);
    }
    if !text.trim_start().starts_with("module name=") {
        let end = text.find('\n').unwrap_or(text.len());
        let of_c = text.contains("halide_buffer_t *") && text.contains(") {");
        if of_c {
            let hint = "give it with `--constants`, beside the statement text: it says what floats are exactly";
            let message = "this is the C that Halide writes, and not its statement text";
            let wrong = Diagnostic::error(message).at(source, Span::new(0, end));
            return Err(vec![wrong.hint(hint)]);
        }
        return Err(vec![
            Diagnostic::error("this is not the lowered statement text of Halide")
                .at(source, Span::new(0, end))
                .hint("it starts with `module name=…`; Halide writes it with `compile_to_lowered_stmt(file, arguments, StmtOutputFormat.Text)`"),
        ]);
    }
    for line in text.split_inclusive('\n') {
        let content = line.trim_end();
        if !content.trim().is_empty() {
            reader.line(content).map_err(|d| vec![*d])?;
        }
        reader.start += line.len();
    }
    reader.finish().map_err(|d| vec![*d])
}

/// What a line is of that is not read, as a hint.
fn asked_for(line: &str) -> &'static str {
    let of = |words: &[&str]| words.iter().any(|word| line.contains(word));
    if of(&["halide_trace"]) {
        "this traces what the pipeline does: schedule without `trace_loads`, `trace_stores`, `trace_realizations` and `trace_pipeline`"
    } else if of(&["profiler"]) {
        "this profiles the pipeline: compile without the target feature `profile`"
    } else if of(&["halide_do_parallel_tasks", "semaphore", "_fork_"]) {
        "this runs stages beside each other: schedule without `async`"
    } else if of(&["halide_print", "stringify"]) {
        "this prints while the pipeline runs: leave out `print` and `print_when`"
    } else if of(&[
        "_buf = {",
        "gpu_",
        "halide_opencl",
        "halide_cuda",
        "halide_vulkan",
        "halide_metal",
    ]) {
        "this is for a device: schedule without GPU loops, for a target without GPU features"
    } else {
        "only the text that Halide 21 writes is read: no GPU loops, asynchronous stages or embedded data"
    }
}

struct Reader<'s> {
    source: &'s Source,
    stack: Vec<(Open, Span)>,
    /// The statements of each open block.
    lists: Vec<Vec<Stmt>>,
    program: Option<StatementText>,
    tasks: BTreeMap<String, Task>,
    /// Where the line starts.
    start: usize,
    /// How deep the expression is that is being read.
    levels: Cell<usize>,
}

type Read<T> = Result<T, Box<Diagnostic>>;

impl Reader<'_> {
    fn error<T>(&self, span: Span, message: &str, hint: &str) -> Read<T> {
        let diagnostic = Diagnostic::error(message).at(self.source, span);
        Err(Box::new(diagnostic.hint(hint)))
    }

    fn span(&self, pair: &Pair<'_, Rule>) -> Span {
        let span = pair.as_span();
        Span::new(self.start + span.start(), self.start + span.end())
    }

    fn line(&mut self, line: &str) -> Read<()> {
        let whole = Span::new(self.start, self.start + line.len());
        if nesting(line) > MAX_NESTING {
            let message = format!("brackets nest more than {MAX_NESTING} deep");
            return self.error(
                whole,
                &message,
                "compute parts of the expression in a Func of their own",
            );
        }
        let mut pairs = match Grammar::parse(Rule::line, line) {
            Ok(pairs) => pairs,
            Err(error) => {
                let at = match error.location {
                    InputLocation::Pos(at) => at,
                    InputLocation::Span((at, _)) => at,
                };
                let at = (self.start + at).min(whole.end);
                let span = Span::new(at, whole.end.max(at));
                return self.error(
                    span,
                    "this line of the statement text is not understood",
                    asked_for(line),
                );
            }
        };
        let pair = pairs.next().and_then(|line| line.into_inner().next());
        let pair = pair.expect("a line holds a statement");
        if self.stack.is_empty()
            && !matches!(pair.as_rule(), Rule::module | Rule::function | Rule::EOI)
        {
            return self.error(
                whole,
                "a statement outside of the function",
                "the text is damaged: let Halide write it again",
            );
        }
        self.statement(pair, whole)
    }

    fn push(&mut self, kind: StmtKind, span: Span) {
        let list = self
            .lists
            .last_mut()
            .expect("the outermost list is never closed");
        list.push(Stmt { kind, span });
    }

    fn open(&mut self, open: Open, span: Span) -> Read<()> {
        if self.stack.len() >= MAX_BLOCKS {
            let message = format!("blocks nest more than {MAX_BLOCKS} deep");
            return self.error(
                span,
                &message,
                "schedule with fewer loops around each other",
            );
        }
        self.stack.push((open, span));
        self.lists.push(Vec::new());
        Ok(())
    }

    fn statement(&mut self, pair: Pair<'_, Rule>, span: Span) -> Read<()> {
        let rule = pair.as_rule();
        let mut inner = pair.into_inner();
        match rule {
            Rule::function => {
                let linkage = inner.next().expect("a function has a linkage");
                let names: Vec<String> = inner
                    .filter(|p| p.as_rule() == Rule::name)
                    .map(|p| p.as_str().to_owned())
                    .collect();
                if linkage.as_str() == "internal" && self.stack.is_empty() {
                    return self.open(Open::Task(names[0].clone(), names[1..].to_vec()), span);
                }
                if self.program.is_some() || !self.stack.is_empty() {
                    return self.error(
                        span,
                        "a second function in one file",
                        "write one pipeline to a file",
                    );
                }
                self.open(Open::Function(names[0].clone(), names[1..].to_vec()), span)?;
            }
            Rule::assertion => {
                let (condition, message) = (self.next(&mut inner)?, self.next(&mut inner)?);
                self.push(StmtKind::Assert(condition, message), span);
            }
            Rule::let_stmt => {
                let name = self.name(&mut inner);
                let value = self.next(&mut inner)?;
                self.push(StmtKind::Let(name, value), span);
            }
            Rule::condition => {
                let condition = self.next(&mut inner)?;
                self.open(Open::If(condition), span)?;
            }
            Rule::otherwise | Rule::otherwise_if => self.otherwise(&mut inner, span)?,
            Rule::close => self.close(span)?,
            Rule::produce | Rule::consume | Rule::atomic => self.open(Open::Block, span)?,
            Rule::loop_stmt => {
                let kind = inner.next().expect("a loop has a kind").as_str().to_owned();
                let name = self.name(&mut inner);
                let (min, extent) = (self.next(&mut inner)?, self.next(&mut inner)?);
                self.open(Open::For(kind, name, min, extent), span)?;
            }
            Rule::allocate => self.allocate(inner, span)?,
            Rule::free => {
                self.push(StmtKind::Free, span);
            }
            Rule::predicate => {
                let condition = self.next(&mut inner)?;
                self.push(StmtKind::Predicate(condition), span);
            }
            Rule::store => {
                let name = self.name(&mut inner);
                let index = self.next(&mut inner)?;
                let value = self.next(&mut inner)?;
                self.push(StmtKind::Store(name, index, value), span);
            }
            Rule::evaluate => {
                let value = self.next(&mut inner)?;
                self.push(StmtKind::Evaluate(value), span);
            }
            _ => {}
        }
        Ok(())
    }

    fn allocate(&mut self, inner: Pairs<'_, Rule>, span: Span) -> Read<()> {
        let mut inner = inner;
        let name = inner
            .next()
            .expect("an allocation has a name")
            .as_str()
            .to_owned();
        let ty = inner.next().expect("an allocation has a type");
        let ty = self.stated(&ty)?;
        let sizes = inner.filter(|pair| pair.as_rule() == Rule::expr);
        let extents = sizes
            .map(|pair| self.expr(pair))
            .collect::<Read<Vec<_>>>()?;
        self.push(StmtKind::Allocate { name, ty, extents }, span);
        Ok(())
    }

    fn otherwise(&mut self, inner: &mut Pairs<'_, Rule>, span: Span) -> Read<()> {
        let then = self.lists.pop().unwrap_or_default();
        match self.stack.pop() {
            Some((Open::If(condition), at)) => {
                self.stack.push((Open::Else(condition, then), at));
                self.lists.push(Vec::new());
                if inner.peek().is_some() {
                    let (Some((Open::Else(condition, then), at)), _) = (self.stack.pop(), ())
                    else {
                        unreachable!("it was pushed above");
                    };
                    let next = self.next(inner)?;
                    self.stack.push((Open::ElseIf(condition, then), at));
                    self.open(Open::If(next), span)?;
                }
                Ok(())
            }
            _ => self.error(
                span,
                "`else` without `if`",
                "the text is damaged: let Halide write it again",
            ),
        }
    }

    fn close(&mut self, span: Span) -> Read<()> {
        let Some((open, at)) = self.stack.pop() else {
            return self.error(
                span,
                "a brace too many",
                "the text is damaged: let Halide write it again",
            );
        };
        let body = self.lists.pop().unwrap_or_default();
        match open {
            Open::Block => self.push(StmtKind::Block(body), at),
            Open::If(condition) => {
                self.push(StmtKind::If(condition, body, Vec::new()), at);
                while matches!(self.stack.last(), Some((Open::ElseIf(..), _))) {
                    let Some((Open::ElseIf(condition, then), at)) = self.stack.pop() else {
                        break;
                    };
                    let otherwise = self.lists.pop().unwrap_or_default();
                    self.push(StmtKind::If(condition, then, otherwise), at);
                }
            }
            Open::Else(condition, then) => {
                self.push(StmtKind::If(condition, then, body), at);
                while matches!(self.stack.last(), Some((Open::ElseIf(..), _))) {
                    let Some((Open::ElseIf(condition, then), at)) = self.stack.pop() else {
                        break;
                    };
                    let otherwise = self.lists.pop().unwrap_or_default();
                    self.push(StmtKind::If(condition, then, otherwise), at);
                }
            }
            Open::ElseIf(..) => {}
            Open::For(kind, name, min, extent) => {
                self.push(
                    StmtKind::For {
                        kind,
                        name,
                        min,
                        extent,
                        body,
                    },
                    at,
                );
            }
            Open::Function(name, arguments) => {
                self.program = Some(StatementText {
                    name,
                    arguments,
                    body,
                    tasks: BTreeMap::new(),
                    span: at,
                });
            }
            Open::Task(name, arguments) => {
                self.tasks.insert(name, Task { arguments, body });
            }
        }
        Ok(())
    }

    fn finish(self) -> Read<StatementText> {
        let end = Span::new(self.start, self.start);
        if let Some((_, at)) = self.stack.last() {
            return self.error(
                *at,
                "the text ends before this block is closed",
                "the file is cut off: let Halide write it again",
            );
        }
        match self.program {
            Some(program) => Ok(StatementText {
                tasks: self.tasks,
                ..program
            }),
            None => {
                let diagnostic =
                    Diagnostic::error("there is no function in this text").at(self.source, end);
                Err(Box::new(
                    diagnostic.hint("the file is cut off: let Halide write it again"),
                ))
            }
        }
    }

    fn name(&self, inner: &mut Pairs<'_, Rule>) -> String {
        let pair = inner.find(|p| p.as_rule() == Rule::name);
        pair.expect("the grammar has a name here")
            .as_str()
            .to_owned()
    }

    fn next(&self, inner: &mut Pairs<'_, Rule>) -> Read<Expr> {
        let pair = inner.find(|p| p.as_rule() == Rule::expr);
        self.expr(pair.expect("the grammar has an expression here"))
    }

    fn expr(&self, pair: Pair<'_, Rule>) -> Read<Expr> {
        let (above, by) = (
            self.levels.get(),
            pair.clone().into_inner().count().div_ceil(2),
        );
        if above + by > MAX_LEVELS {
            let message = format!("this expression is more than {MAX_LEVELS} levels deep");
            let hint = "compute parts of the expression in a Func of their own";
            return self.error(self.span(&pair), &message, hint);
        }
        self.levels.set(above + by);
        let read = self.joined(pair);
        self.levels.set(above);
        read
    }

    fn joined(&self, pair: Pair<'_, Rule>) -> Read<Expr> {
        let span = self.span(&pair);
        let mut operands = Vec::new();
        let mut operators: Vec<&'static str> = Vec::new();
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::let_in => {
                    let mut inner = part.into_inner();
                    let name = self.name(&mut inner);
                    let (value, body) = (self.next(&mut inner)?, self.next(&mut inner)?);
                    let kind = Kind::Let(name, Box::new(value), Box::new(body));
                    return Ok(Expr { kind, span });
                }
                Rule::operator => {
                    let (symbol, level) = operator(part.as_str());
                    while operators.last().is_some_and(|o| operator(o).1 >= level) {
                        join(&mut operands, &mut operators);
                    }
                    operators.push(symbol);
                }
                _ => operands.push(self.unary(part)?),
            }
        }
        while !operators.is_empty() {
            join(&mut operands, &mut operators);
        }
        Ok(operands.pop().expect("an expression has an operand"))
    }

    fn unary(&self, pair: Pair<'_, Rule>) -> Read<Expr> {
        let span = self.span(&pair);
        let (mut negated, mut value) = (false, None);
        for part in pair.into_inner() {
            match part.as_rule() {
                // Two of them are none.
                Rule::negation => negated = !negated,
                _ => value = Some(self.primary(part)?),
            }
        }
        let value = value.expect("negations stand before a value");
        Ok(match negated {
            true => Expr {
                kind: Kind::Not(Box::new(value)),
                span,
            },
            false => value,
        })
    }

    fn primary(&self, pair: Pair<'_, Rule>) -> Read<Expr> {
        let pair = match pair.as_rule() {
            Rule::primary => pair
                .into_inner()
                .next()
                .expect("a primary holds one of its forms"),
            _ => pair,
        };
        let span = self.span(&pair);
        let text = pair.as_str().to_owned();
        let kind = match pair.as_rule() {
            Rule::expr => return self.expr(pair),
            Rule::text => Kind::Text,
            Rule::task => {
                let name = pair.into_inner().next().expect("a task has a name");
                Kind::Task(name.as_str().to_owned())
            }
            Rule::address => {
                let mut inner = pair.into_inner();
                let ty = self.stated(&inner.next().expect("an address has a type"))?;
                Kind::Typed(ty, Box::new(self.next(&mut inner)?))
            }
            Rule::decimal => Kind::Decimal(text),
            Rule::number => match text.parse() {
                Ok(number) => Kind::Number(number),
                Err(_) => {
                    return self.error(
                        span,
                        "this number is too large",
                        "numbers have at most 64 bits",
                    );
                }
            },
            Rule::name => Kind::Name(text),
            Rule::typed => {
                let mut inner = pair.into_inner();
                let ty = self.stated(&inner.next().expect("a typed value has a type"))?;
                let value = self.primary(inner.next().expect("a typed value has a value"))?;
                Kind::Typed(ty, Box::new(value))
            }
            Rule::reinterpret => {
                let mut inner = pair.into_inner();
                let ty = self.stated(&inner.next().expect("a reinterpretation has a type"))?;
                Kind::Reinterpret(ty, Box::new(self.next(&mut inner)?))
            }
            Rule::call => {
                let mut inner = pair.into_inner();
                let called = inner.next().expect("a call has a name");
                let name = called.as_str().trim_end_matches('(').trim().to_owned();
                let args = inner.map(|p| self.expr(p)).collect::<Read<Vec<_>>>()?;
                Kind::Call(name, args)
            }
            Rule::load => return self.load(pair, span),
            _ => {
                return self.error(
                    span,
                    "this is not understood",
                    "only the text that Halide 21 writes is read",
                );
            }
        };
        Ok(Expr { kind, span })
    }

    fn load(&self, pair: Pair<'_, Rule>, span: Span) -> Read<Expr> {
        let mut inner = pair.into_inner();
        let loaded = inner.next().expect("a load has a name");
        let name = loaded.as_str().trim_end_matches('[').trim().to_owned();
        let (mut index, mut predicate) = (None, None);
        for part in inner {
            match part.as_rule() {
                Rule::expr => index = Some(Box::new(self.expr(part)?)),
                Rule::unary => predicate = Some(Box::new(self.unary(part)?)),
                _ => {}
            }
        }
        let index = index.expect("a load has an index");
        Ok(Expr {
            kind: Kind::Load(name, index, predicate),
            span,
        })
    }

    fn stated(&self, pair: &Pair<'_, Rule>) -> Read<Stated> {
        let text = pair.as_str();
        if text.ends_with('*') {
            return Ok(Stated::Other);
        }
        match stated(text) {
            Some(ty) => Ok(ty),
            None => self.error(
                self.span(pair),
                &format!("the type `{text}` is not supported"),
                "integers of 8, 16, 32 and 64 bits, float16, bfloat16, float32 and float64 are",
            ),
        }
    }
}

/// A type by Halide's name of it.
pub(super) fn stated(text: &str) -> Option<Stated> {
    let (name, lanes) = match text.rsplit_once('x') {
        Some((name, lanes)) => (name, lanes.parse().ok()?),
        None => (text, 1),
    };
    let elem = match name {
        "bool" | "uint1" => Elem::Bool,
        "float16" => Elem::Float(Format::F16),
        "bfloat16" => Elem::Float(Format::Bf16),
        "float32" => Elem::Float(Format::F32),
        "float64" => Elem::Float(Format::F64),
        _ => {
            let short = match name.strip_prefix('u') {
                Some(rest) => format!("u{}", rest.strip_prefix("int")?),
                None => format!("i{}", name.strip_prefix("int")?),
            };
            Elem::by_name(&short)?
        }
    };
    (1..=kernel::types::MAX_LANES)
        .contains(&lanes)
        .then_some(Stated::Value(Type { elem, lanes }))
}

/// Joins the last two operands by the last operator.
fn join(operands: &mut Vec<Expr>, operators: &mut Vec<&'static str>) {
    let symbol = operators.pop().expect("there is an operator");
    let right = operands.pop().expect("an operator has a right side");
    let left = operands.pop().expect("an operator has a left side");
    let span = Span::new(left.span.start, right.span.end);
    let kind = Kind::Binary(symbol, Box::new(left), Box::new(right));
    operands.push(Expr { kind, span });
}

/// An operator and how tightly it binds.
fn operator(text: &str) -> (&'static str, u8) {
    const ALL: [(&str, u8); 13] = [
        ("||", 0),
        ("&&", 1),
        ("==", 2),
        ("!=", 2),
        ("<=", 3),
        (">=", 3),
        ("<", 3),
        (">", 3),
        ("+", 4),
        ("-", 4),
        ("*", 5),
        ("/", 5),
        ("%", 5),
    ];
    ALL.into_iter()
        .find(|(symbol, _)| *symbol == text)
        .expect("the grammar has these operators")
}

/// How deeply a line nests: brackets outside of texts, and each `let` and `if` in it, of which
/// the next may stand inside.
fn nesting(line: &str) -> usize {
    let (mut depth, mut most, mut text, mut escaped) = (0usize, 0, false, false);
    for c in line.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if text => escaped = true,
            '"' => text = !text,
            _ if text => {}
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        most = most.max(depth);
    }
    let words = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    most + words.filter(|w| matches!(*w, "let" | "if")).count()
}
