//! The equality of two terms in SMT-LIB, as they stand.
//!
//! In: two closed terms of one sort, rolled or flat. Out: [`Question`]: declarations and
//! definitions, each with its sort, and the two expressions that are to be equal. A map is its
//! elements side by side, a fold its steps one after the other; indices are worked out, for
//! SMT-LIB's bit vectors have none. Floats' arithmetic is a function of which nothing is known
//! but that it is one.

use crate::define::body;
use semantics::bits::Bits;
use semantics::op::{Op, OpCode, Smt};
use semantics::sort::Sort;
use semantics::term::{Kind, Term};
use smtlib::expression::Expression;
use smtlib::function::Function;
use std::collections::HashMap;

/// Whether two terms differ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Question {
    /// In the order in which they are introduced.
    pub functions: Vec<Function>,
    /// The free variables, by the names that they have here.
    pub variables: Vec<(String, Term)>,
    /// The two terms.
    pub sides: [Expression; 2],
}

/// What a bound variable is while a body is written.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Bound {
    Index(i64),
    Value(Expression),
}

/// An expression, or what SMT-LIB cannot be told.
type Written = Result<Expression, String>;

/// Names of the arguments of a function.
const ARGUMENTS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

impl Question {
    /// The question about two terms.
    ///
    /// # Errors
    /// A sentence that says what of them cannot be written.
    pub fn new(a: Term, b: Term) -> Result<Question, String> {
        if a.sort() != b.sort() {
            return Err(format!("{} and {} are no one sort", a.sort(), b.sort()));
        }
        let mut writer = Writer::default();
        let sides = [writer.term(a, &[])?, writer.term(b, &[])?];
        if a.sort() == Sort::Mem {
            writer.introduce(Function::declared(ADDRESS, Vec::new(), Sort::Bv(64))?);
        }
        Ok(Question {
            functions: writer.functions,
            variables: writer.variables,
            sides,
        })
    }

    /// The sort of both.
    pub fn sort(&self) -> Sort {
        self.sides[0].sort()
    }

    /// That the two differ somewhere.
    ///
    /// # Errors
    /// Never: both are of one sort.
    pub fn differ(&self) -> Written {
        self.distinct(|side| match side.sort() {
            Sort::Mem => {
                let address = Expression::name(ADDRESS, Sort::Bv(64));
                Expression::apply("select", vec![side, address])
            }
            _ => Ok(side),
        })
    }

    /// That the two differ within `width` bits from bit `lo` up.
    ///
    /// # Errors
    /// When they have no such bits.
    pub fn differ_within(&self, lo: u32, width: u32) -> Written {
        self.distinct(|side| side.extract(lo, width))
    }

    fn distinct(&self, part: impl Fn(Expression) -> Written) -> Written {
        let sides = self.sides.iter().cloned().map(part);
        Expression::apply("distinct", sides.collect::<Result<_, _>>()?)
    }
}

/// Any address.
const ADDRESS: &str = "address";

#[derive(Default)]
struct Writer {
    functions: Vec<Function>,
    /// Those of operators, by their names.
    of_operators: HashMap<String, Function>,
    variables: Vec<(String, Term)>,
    /// What terms are, with what their bound variables were.
    known: HashMap<(Term, Vec<Bound>), Expression>,
}

impl Writer {
    fn introduce(&mut self, function: Function) {
        self.functions.push(function);
    }

    fn term(&mut self, t: Term, bound: &[Bound]) -> Written {
        let used = bound.len() - (t.binders() as usize).min(bound.len());
        let key = (t, bound[used..].to_vec());
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let written = match t.kind() {
            Kind::Var { sort, .. } => {
                let name = format!("v{}", self.variables.len());
                let function = Function::declared(&name, Vec::new(), *sort)?;
                let variable = function.call(Vec::new())?;
                self.introduce(function);
                self.variables.push((name, t));
                variable
            }
            Kind::Bv(bits) => Expression::bits(bits),
            Kind::Bool(truth) => Expression::truth(*truth),
            Kind::Bound { depth, .. } => match nearest(bound, *depth)? {
                Bound::Value(value) => value.clone(),
                Bound::Index(_) => return Err("an index stands where a value is wanted".into()),
            },
            Kind::Int(_) => return Err("an index stands where a value is wanted".into()),
            Kind::Map { count, body } => {
                let elements = (0..*count).rev();
                let elements = elements.map(|k| self.term(*body, &with(bound, &[index(k)])));
                let whole = Expression::joined(elements.collect::<Result<Vec<_>, _>>()?)?;
                self.name(whole)?
            }
            Kind::Fold { count, init, body } => {
                let start = self.term(*init, bound)?;
                (0..*count).try_fold(start, |so_far, k| {
                    self.term(*body, &with(bound, &[index(k), Bound::Value(so_far)]))
                })?
            }
            Kind::App { op, args } => {
                let applied = self.applied(t, *op, args, bound)?;
                self.name(applied)?
            }
        };
        self.known.insert(key, written.clone());
        Ok(written)
    }

    /// A name for an expression, so that it is written once.
    fn name(&mut self, whole: Expression) -> Written {
        let name = format!("t{}", self.functions.len());
        let function = Function::defined(&name, Vec::new(), whole)?;
        let named = function.call(Vec::new());
        self.introduce(function);
        named
    }

    fn applied(&mut self, t: Term, op: Op, args: &[Term], bound: &[Bound]) -> Written {
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
        let arguments = args.iter().map(|&a| self.term(a, bound));
        let arguments = arguments.collect::<Result<Vec<Expression>, String>>()?;
        match op.info().smt {
            _ if op.code == OpCode::Concat => Expression::joined(arguments),
            Smt::Symbol(symbol) => Expression::apply(symbol, arguments),
            Smt::Indexed(symbol) => {
                let sorts: Vec<Sort> = args.iter().map(|a| a.sort()).collect();
                Expression::apply(&symbol(op.params(), &sorts), arguments)
            }
            Smt::Defined(_) | Smt::Uninterpreted => self.function(t, op, args)?.call(arguments),
        }
    }

    /// The function that an operator is: defined here, or left open.
    fn function(&mut self, t: Term, op: Op, args: &[Term]) -> Result<Function, String> {
        let widths = args.iter().map(|a| a.sort().width());
        let widths: Vec<u32> = widths.map(Option::unwrap_or_default).collect();
        let name = format!("|{op} {widths:?}|");
        if let Some(known) = self.of_operators.get(&name) {
            return Ok(known.clone());
        }
        let named = ARGUMENTS.iter().zip(args);
        let arguments: Vec<(String, Sort)> = named
            .map(|(&name, a)| (name.to_owned(), a.sort()))
            .collect();
        let function = match body(op, &widths) {
            Some(text) => {
                let body = Expression::read(&text, &arguments)?;
                Function::defined(&name, arguments, body)?
            }
            None => Function::declared(&name, arguments, t.sort())?,
        };
        if function.result() != t.sort() {
            return Err(format!("`{op}` is of sort {} here", function.result()));
        }
        self.introduce(function.clone());
        self.of_operators.insert(name, function.clone());
        Ok(function)
    }

    /// Bits from an offset up; those outside are zeros.
    fn extract(&mut self, args: &[Term], width: u32, bound: &[Bound]) -> Written {
        let all = args[0].sort().width().ok_or("bits of what has none")?;
        let lo = value(args[1], bound)?;
        let Some(lo) = u32::try_from(lo).ok().filter(|&lo| lo < all) else {
            return Ok(number(width, |_| false));
        };
        let inside = width.min(all - lo);
        let bits = self.term(args[0], bound)?.extract(lo, inside)?;
        match width - inside {
            0 => Ok(bits),
            more => Expression::apply(&format!("(_ zero_extend {more})"), vec![bits]),
        }
    }

    fn read(&mut self, args: &[Term], bytes: u32, bound: &[Bound]) -> Written {
        let (memory, address) = (self.term(args[0], bound)?, self.term(args[1], bound)?);
        let bytes = (0..bytes).rev().map(|k| {
            let at = further(&address, k)?;
            Expression::apply("select", vec![memory.clone(), at])
        });
        Expression::joined(bytes.collect::<Result<Vec<_>, _>>()?)
    }

    fn write(&mut self, args: &[Term], bound: &[Bound]) -> Written {
        let (memory, address) = (self.term(args[0], bound)?, self.term(args[1], bound)?);
        let written = self.term(args[2], bound)?;
        let bytes = args[2].sort().width().unwrap_or(0) / 8;
        (0..bytes).try_fold(memory, |memory, k| {
            let byte = written.clone().extract(8 * k, 8)?;
            Expression::apply("store", vec![memory, further(&address, k)?, byte])
        })
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
fn further(address: &Expression, bytes: u32) -> Written {
    let bytes = number(64, |k| k < 32 && bytes >> k & 1 == 1);
    Expression::apply("bvadd", vec![address.clone(), bytes])
}

/// A constant of that width.
fn number(width: u32, bit: impl Fn(u32) -> bool) -> Expression {
    let bits = (0..width).filter(|&k| bit(k));
    let zero = Bits::zero(width);
    Expression::bits(&bits.fold(zero, |bits, k| bits.with_bit(k, true)))
}

/// An index as a number.
fn value(t: Term, bound: &[Bound]) -> Result<i64, String> {
    match t.kind() {
        Kind::Int(i) => Ok(*i),
        Kind::Bound { depth, .. } => match nearest(bound, *depth)? {
            Bound::Index(i) => Ok(*i),
            Bound::Value(_) => Err("a value stands where an index is wanted".to_owned()),
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
fn condition(op: Op, args: &[Term], bound: &[Bound]) -> Written {
    let (x, y) = (value(args[0], bound)?, value(args[1], bound)?);
    match op.code {
        OpCode::IntLt => Ok(Expression::truth(x < y)),
        OpCode::Eq => Ok(Expression::truth(x == y)),
        _ => Err(format!("`{op}` of indices")),
    }
}
