//! The equality of two terms in SMT-LIB, as they stand.
//!
//! In: two closed terms of one sort, rolled or flat. Out: [`Question`]: declarations and
//! definitions, each with its sort, and the two names that are to be equal. A map is its
//! elements side by side, a fold its steps one after the other; indices are worked out, for
//! SMT-LIB's bit vectors have none. Floats' arithmetic is a function of which nothing is known
//! but that it is one.

use crate::define::{body, number};
use semantics::op::{Op, OpCode, Smt};
use semantics::sort::Sort;
use semantics::term::{Kind, Term};
use std::collections::{HashMap, HashSet};
use std::fmt;

/// A sort of SMT-LIB.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Truth values.
    Bool,
    /// Bit vectors of that width.
    Bits(u32),
    /// Bytes by 64-bit address.
    Memory,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Bool => f.write_str("Bool"),
            Shape::Bits(w) => write!(f, "(_ BitVec {w})"),
            Shape::Memory => f.write_str("(Array (_ BitVec 64) (_ BitVec 8))"),
        }
    }
}

/// A symbol that a question introduces.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// Its arguments, called `a`, `b`, `c`, ….
    pub arguments: Vec<Shape>,
    /// Its sort.
    pub result: Shape,
    /// What it is; nothing is known of one that has no body.
    pub body: Option<String>,
}

/// Whether two terms differ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Question {
    /// In the order in which they are introduced.
    pub symbols: Vec<Symbol>,
    /// The free variables, by the names that they have here.
    pub variables: Vec<(String, Term)>,
    /// The names of the two terms.
    pub sides: [String; 2],
    /// Their sort.
    pub shape: Shape,
}

/// What a bound variable is while a body is written.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Bound {
    Index(i64),
    Text(String),
}

/// A text, or what SMT-LIB cannot be told.
type Text = Result<String, String>;

/// Names of the arguments of a symbol.
pub const ARGUMENTS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

impl Question {
    /// The question about two terms.
    ///
    /// # Errors
    /// A sentence that says what of them cannot be written.
    pub fn new(a: Term, b: Term) -> Result<Question, String> {
        if a.sort() != b.sort() {
            return Err(format!("{} and {} are no one sort", a.sort(), b.sort()));
        }
        let shape = shape(a.sort())?;
        let mut writer = Writer::default();
        let sides = [writer.term(a, &[])?, writer.term(b, &[])?];
        if shape == Shape::Memory {
            writer.declare("address", &[], Shape::Bits(64), None);
        }
        Ok(Question {
            symbols: writer.symbols,
            variables: writer.variables,
            sides,
            shape,
        })
    }

    /// That the two differ somewhere.
    pub fn differ(&self) -> String {
        let [a, b] = &self.sides;
        match self.shape {
            Shape::Memory => format!("(distinct (select {a} address) (select {b} address))"),
            _ => format!("(distinct {a} {b})"),
        }
    }

    /// That the two differ within `width` bits from bit `lo` up.
    pub fn differ_within(&self, lo: u32, width: u32) -> String {
        let [a, b] = &self.sides;
        let part = |x: &str| format!("((_ extract {} {lo}) {x})", lo + width - 1);
        format!("(distinct {} {})", part(a), part(b))
    }
}

impl fmt::Display for Symbol {
    /// The command that introduces it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = self.arguments.iter().zip(ARGUMENTS);
        match &self.body {
            Some(body) => {
                let arguments: Vec<String> = named.map(|(s, n)| format!("({n} {s})")).collect();
                let (name, arguments) = (&self.name, arguments.join(" "));
                write!(
                    f,
                    "(define-fun {name} ({arguments}) {} {body})",
                    self.result
                )
            }
            None => {
                let sorts: Vec<String> = self.arguments.iter().map(Shape::to_string).collect();
                let (name, sorts) = (&self.name, sorts.join(" "));
                write!(f, "(declare-fun {name} ({sorts}) {})", self.result)
            }
        }
    }
}

fn shape(sort: Sort) -> Result<Shape, String> {
    match sort {
        Sort::Bool => Ok(Shape::Bool),
        Sort::Bv(w) => Ok(Shape::Bits(w)),
        Sort::Mem => Ok(Shape::Memory),
        Sort::Int => Err("an index has no sort of SMT-LIB's bit vectors".to_owned()),
    }
}

#[derive(Default)]
struct Writer {
    symbols: Vec<Symbol>,
    introduced: HashSet<String>,
    variables: Vec<(String, Term)>,
    /// Texts of terms, with what their bound variables were.
    known: HashMap<(Term, Vec<Bound>), String>,
}

impl Writer {
    fn declare(&mut self, name: &str, arguments: &[Shape], result: Shape, body: Option<String>) {
        self.introduced.insert(name.to_owned());
        self.symbols.push(Symbol {
            name: name.to_owned(),
            arguments: arguments.to_vec(),
            result,
            body,
        });
    }

    fn term(&mut self, t: Term, bound: &[Bound]) -> Text {
        let used = bound.len() - (t.binders() as usize).min(bound.len());
        let key = (t, bound[used..].to_vec());
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let text = match t.kind() {
            Kind::Var { sort, .. } => {
                let name = format!("v{}", self.variables.len());
                self.declare(&name, &[], shape(*sort)?, None);
                self.variables.push((name.clone(), t));
                name
            }
            Kind::Bv(bits) => number(bits.width(), |k| bits.bit(k)),
            Kind::Bool(truth) => truth.to_string(),
            Kind::Bound { depth, .. } => match nearest(bound, *depth)? {
                Bound::Text(text) => text.clone(),
                Bound::Index(_) => return Err("an index stands where a value is wanted".into()),
            },
            Kind::Int(_) => return Err("an index stands where a value is wanted".into()),
            Kind::Map { count, body } => {
                let elements = (0..*count).rev();
                let elements = elements.map(|k| self.term(*body, &with(bound, &[index(k)])));
                let text = joined(&elements.collect::<Result<Vec<_>, _>>()?);
                self.name(t, text)?
            }
            Kind::Fold { count, init, body } => {
                let start = self.term(*init, bound)?;
                (0..*count).try_fold(start, |so_far, k| {
                    self.term(*body, &with(bound, &[index(k), Bound::Text(so_far)]))
                })?
            }
            Kind::App { op, args } => {
                let text = self.applied(t, *op, args, bound)?;
                self.name(t, text)?
            }
        };
        self.known.insert(key, text.clone());
        Ok(text)
    }

    /// A name for a text, so that it is written once.
    fn name(&mut self, t: Term, text: String) -> Text {
        let name = format!("t{}", self.symbols.len());
        self.declare(&name, &[], shape(t.sort())?, Some(text));
        Ok(name)
    }

    fn applied(&mut self, t: Term, op: Op, args: &[Term], bound: &[Bound]) -> Text {
        match op.code {
            OpCode::Extract => return self.extract(args, op.params[0], bound),
            OpCode::Read => return self.read(args, op.params[0], bound),
            OpCode::Write => return self.write(args, bound),
            OpCode::IntToBv => {
                let value = value(args[0], bound)?;
                return Ok(number(op.params[0], |k| value >> k.min(63) & 1 == 1));
            }
            _ if args.iter().any(|a| a.sort() == Sort::Int) => return condition(op, args, bound),
            _ => {}
        }
        let texts = args.iter().map(|&a| self.term(a, bound));
        let texts = texts.collect::<Result<Vec<String>, String>>()?;
        let symbol = match op.info().smt {
            _ if op.code == OpCode::Concat => return Ok(joined(&texts)),
            Smt::Symbol(symbol) => symbol.to_owned(),
            Smt::Indexed(symbol) => {
                let sorts: Vec<Sort> = args.iter().map(|a| a.sort()).collect();
                symbol(op.params(), &sorts)
            }
            Smt::Defined(_) | Smt::Uninterpreted => self.function(t, op, args)?,
        };
        Ok(format!("({symbol} {})", texts.join(" ")))
    }

    /// The function that an operator is: defined here, or left open.
    fn function(&mut self, t: Term, op: Op, args: &[Term]) -> Text {
        let shapes = args.iter().map(|a| shape(a.sort()));
        let shapes = shapes.collect::<Result<Vec<Shape>, String>>()?;
        let widths = args.iter().map(|a| a.sort().width());
        let widths: Vec<u32> = widths.map(Option::unwrap_or_default).collect();
        let name = format!("|{op} {widths:?}|");
        if !self.introduced.contains(&name) {
            let body = body(op, &widths);
            self.declare(&name, &shapes, shape(t.sort())?, body);
        }
        Ok(name)
    }

    /// Bits from an offset up; those outside are zeros.
    fn extract(&mut self, args: &[Term], width: u32, bound: &[Bound]) -> Text {
        let all = args[0].sort().width().ok_or("bits of what has none")?;
        let lo = value(args[1], bound)?;
        let Some(lo) = u32::try_from(lo).ok().filter(|&lo| lo < all) else {
            return Ok(number(width, |_| false));
        };
        let inside = width.min(all - lo);
        let text = self.term(args[0], bound)?;
        let bits = format!("((_ extract {} {lo}) {text})", lo + inside - 1);
        Ok(if inside < width {
            format!("((_ zero_extend {}) {bits})", width - inside)
        } else {
            bits
        })
    }

    fn read(&mut self, args: &[Term], bytes: u32, bound: &[Bound]) -> Text {
        let (memory, address) = (self.term(args[0], bound)?, self.term(args[1], bound)?);
        let bytes = (0..bytes).rev();
        let bytes = bytes.map(|k| format!("(select {memory} {})", further(&address, k)));
        Ok(joined(&bytes.collect::<Vec<_>>()))
    }

    fn write(&mut self, args: &[Term], bound: &[Bound]) -> Text {
        let (memory, address) = (self.term(args[0], bound)?, self.term(args[1], bound)?);
        let written = self.term(args[2], bound)?;
        let bytes = args[2].sort().width().unwrap_or(0) / 8;
        Ok((0..bytes).fold(memory, |memory, k| {
            let byte = format!("((_ extract {} {}) {written})", 8 * k + 7, 8 * k);
            format!("(store {memory} {} {byte})", further(&address, k))
        }))
    }
}

fn index(k: u32) -> Bound {
    Bound::Index(i64::from(k))
}

fn with(bound: &[Bound], inner: &[Bound]) -> Vec<Bound> {
    [bound, inner].concat()
}

/// The innermost bound variable is the last.
fn nearest(bound: &[Bound], depth: u32) -> Result<&Bound, String> {
    let found = bound.iter().rev().nth(depth as usize);
    found.ok_or_else(|| "a bound variable without a binder".to_owned())
}

/// An address some bytes on.
fn further(address: &str, bytes: u32) -> String {
    let bytes = number(64, |k| k < 32 && bytes >> k & 1 == 1);
    format!("(bvadd {address} {bytes})")
}

/// Texts side by side, the first most significant.
fn joined(parts: &[String]) -> String {
    let joined = parts.iter().cloned();
    let joined = joined.reduce(|hi, lo| format!("(concat {hi} {lo})"));
    joined.unwrap_or_default()
}

/// An index as a number.
fn value(t: Term, bound: &[Bound]) -> Result<i64, String> {
    match t.kind() {
        Kind::Int(i) => Ok(*i),
        Kind::Bound { depth, .. } => match nearest(bound, *depth)? {
            Bound::Index(i) => Ok(*i),
            Bound::Text(_) => Err("a value stands where an index is wanted".to_owned()),
        },
        Kind::App { op, args } if args.len() == 2 => {
            let (x, y) = (value(args[0], bound)?, value(args[1], bound)?);
            match op.code {
                OpCode::IntAdd => Ok(x.wrapping_add(y)),
                OpCode::IntMul => Ok(x.wrapping_mul(y)),
                OpCode::IntDiv | OpCode::IntMod if y == 0 => Ok(0),
                OpCode::IntDiv => Ok(x.wrapping_sub(remainder(x, y)).wrapping_div(y)),
                OpCode::IntMod => Ok(remainder(x, y)),
                _ => Err(format!("`{op}` of indices")),
            }
        }
        _ => Err("an index that depends on inputs".to_owned()),
    }
}

/// With the sign of the divisor.
fn remainder(x: i64, y: i64) -> i64 {
    let rest = x.wrapping_rem(y);
    if rest != 0 && (rest < 0) != (y < 0) {
        rest + y
    } else {
        rest
    }
}

/// A comparison of indices.
fn condition(op: Op, args: &[Term], bound: &[Bound]) -> Text {
    let (x, y) = (value(args[0], bound)?, value(args[1], bound)?);
    match op.code {
        OpCode::IntLt => Ok((x < y).to_string()),
        OpCode::Eq => Ok((x == y).to_string()),
        _ => Err(format!("`{op}` of indices")),
    }
}
