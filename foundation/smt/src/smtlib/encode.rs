//! Terms as terms of SMT-LIB, through the operator table only.
//!
//! In: truth values over flat terms. Out: [`Script`]: declarations, definitions (each shared
//! subterm once), assertions, and what to ask of a model. Variables are renamed by order of
//! appearance, so equal questions give equal scripts: their text is the key of the query
//! cache. Memories are arrays of bytes; operators that the table leaves uninterpreted become
//! declared functions. Index arithmetic that unrolling left is refused.

use crate::verdict::Reason;
use semantics::bits::Bits;
use semantics::build;
use semantics::op::{Op, OpCode, Smt};
use semantics::sort::Sort;
use semantics::term::{Kind, Term};
use smtlib::expression::Expression;
use smtlib::function::Function;
use std::collections::{BTreeMap, HashMap};
use std::fmt;

/// A step of a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// Something has a name.
    Introduce(Function),
    /// What the function before stands for.
    Remark(String),
    /// Something is true.
    Assert(Expression),
}

/// A question in SMT-LIB.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Script {
    /// The logic that it needs.
    pub(crate) logic: String,
    /// All up to the question whether it can be true.
    pub(crate) steps: Vec<Step>,
    /// Variables, each with what it is in the script.
    pub(crate) variables: Vec<(Expression, Term)>,
    /// Addresses at which memories are read.
    pub(crate) addresses: Vec<Expression>,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Introduce(function) => write!(f, "{function}"),
            Step::Remark(text) => write!(f, "; {text}"),
            Step::Assert(truth) => write!(f, "(assert {truth})"),
        }
    }
}

impl Script {
    /// The whole text.
    pub(crate) fn text(&self) -> String {
        let steps: Vec<String> = self.steps.iter().map(Step::to_string).collect();
        format!("(set-logic {})\n{}\n", self.logic, steps.join("\n"))
    }

    /// A variable's name in the script.
    pub(crate) fn canonical_name(&self, name: &str) -> Option<String> {
        self.variables
            .iter()
            .find(|(_, v)| v.as_var() == Some(name))
            .map(|(canonical, _)| canonical.to_string())
    }

    /// The variable's own name.
    pub(crate) fn original_name(&self, canonical: &str) -> Option<String> {
        let called = |(c, _): &&(Expression, Term)| c.to_string() == canonical;
        let (_, variable) = self.variables.iter().find(called)?;
        variable.as_var().map(str::to_owned)
    }
}

/// Writes the question whether all constraints can be true.
pub(crate) fn script(constraints: &[Term]) -> Result<Script, Reason> {
    let mut writer = Writer::default();
    for &c in constraints {
        let truth = writer.term(c)?;
        writer.script.steps.push(Step::Assert(truth));
    }
    let arrays = if writer.arrays { "A" } else { "" };
    let functions = if writer.functions.is_empty() {
        ""
    } else {
        "UF"
    };
    writer.script.logic = format!("QF_{arrays}{functions}BV");
    Ok(writer.script)
}

#[derive(Default)]
struct Writer {
    script: Script,
    known: HashMap<Term, Expression>,
    functions: BTreeMap<String, Function>,
    arrays: bool,
}

/// A term in SMT-LIB, or why there is none.
type Written = Result<Expression, Reason>;

/// A mistake of ours: what we make of terms has a sort.
fn ill(what: String) -> Reason {
    Reason::Unsupported(what)
}

fn apply(symbol: &str, arguments: Vec<Expression>) -> Written {
    Expression::apply(symbol, arguments).map_err(ill)
}

impl Writer {
    fn term(&mut self, t: Term) -> Written {
        if let Some(known) = self.known.get(&t) {
            return Ok(known.clone());
        }
        let written = match t.kind() {
            Kind::Var { sort, .. } => self.variable(t, *sort)?,
            Kind::Bv(bits) => Expression::bits(bits),
            Kind::Bool(b) => Expression::truth(*b),
            Kind::App { op, args } => {
                let applied = self.app(t, *op, args)?;
                self.define(applied)?
            }
            Kind::Int(_) => return Err(Reason::Unsupported("index arithmetic".to_owned())),
            Kind::Bound { .. } | Kind::Map { .. } | Kind::Fold { .. } => {
                return Err(Reason::Unsupported("a rolled term".to_owned()));
            }
        };
        self.known.insert(t, written.clone());
        Ok(written)
    }

    fn variable(&mut self, t: Term, sort: Sort) -> Written {
        if sort == Sort::Int {
            return Err(Reason::Unsupported("index arithmetic".to_owned()));
        }
        let name = format!("v{}", self.script.variables.len());
        let variable = self.introduce(&name, Vec::new(), sort)?.call(Vec::new());
        let variable = variable.map_err(ill)?;
        self.script.variables.push((variable.clone(), t));
        Ok(variable)
    }

    /// A function of which nothing is known.
    fn introduce(
        &mut self,
        name: &str,
        arguments: Vec<(String, Sort)>,
        result: Sort,
    ) -> Result<Function, Reason> {
        let mut sorts = arguments.iter().map(|(_, s)| *s).chain([result]);
        self.arrays |= sorts.any(|sort| sort == Sort::Mem);
        let function = Function::declared(name, arguments, result).map_err(ill)?;
        self.script.steps.push(Step::Introduce(function.clone()));
        Ok(function)
    }

    /// Gives a term a name, so that it is written once.
    fn define(&mut self, whole: Expression) -> Written {
        let name = format!("t{}", self.script.steps.len());
        self.arrays |= whole.sort() == Sort::Mem;
        let function = Function::defined(&name, Vec::new(), whole).map_err(ill)?;
        let named = function.call(Vec::new()).map_err(ill);
        self.script.steps.push(Step::Introduce(function));
        named
    }

    fn app(&mut self, t: Term, op: Op, args: &[Term]) -> Written {
        match op.code {
            OpCode::Extract => return self.extract(args[0], args[1], op.params[0]),
            OpCode::Read => return self.read(args[0], args[1], op.params[0]),
            OpCode::Write => return self.write(args[0], args[1], args[2]),
            _ => {}
        }
        if args.iter().chain([&t]).any(|x| x.sort() == Sort::Int) {
            return Err(Reason::Unsupported("index arithmetic".to_owned()));
        }
        match op.info().smt {
            Smt::Defined(expand) => self.term(expand(op.params(), args)),
            Smt::Symbol("concat") => Expression::joined(self.terms(args)?).map_err(ill),
            Smt::Symbol(symbol) => apply(symbol, self.terms(args)?),
            Smt::Indexed(symbol) => {
                let sorts: Vec<Sort> = args.iter().map(|a| a.sort()).collect();
                apply(&symbol(op.params(), &sorts), self.terms(args)?)
            }
            Smt::Uninterpreted => self.uninterpreted(t, op, args),
        }
    }

    fn terms(&mut self, args: &[Term]) -> Result<Vec<Expression>, Reason> {
        args.iter().map(|&a| self.term(a)).collect()
    }

    fn uninterpreted(&mut self, t: Term, op: Op, args: &[Term]) -> Written {
        let mut written = self.terms(args)?;
        if op.info().commutative {
            written.sort_by_key(Expression::to_string);
        }
        let sorts: Vec<Sort> = args.iter().map(|a| a.sort()).collect();
        let signature = format!("{op} {sorts:?} {}", t.sort());
        let function = match self.functions.get(&signature) {
            Some(known) => known.clone(),
            None => {
                let name = format!("f{}", self.functions.len());
                self.script
                    .steps
                    .push(Step::Remark(format!("{name} is {op}")));
                let arguments = sorts.iter().map(|&sort| (String::new(), sort));
                let function = self.introduce(&name, arguments.collect(), t.sort())?;
                self.functions.insert(signature, function.clone());
                function
            }
        };
        function.call(written).map_err(ill)
    }

    /// Bits from a constant offset; those outside the vector are 0.
    fn extract(&mut self, x: Term, lo: Term, width: u32) -> Written {
        let all = x.width();
        let lo = lo
            .as_int()
            .ok_or_else(|| Reason::Unsupported("extraction at an index".to_owned()))?;
        let Some(lo) = u32::try_from(lo).ok().filter(|&lo| lo < all) else {
            return Ok(Expression::bits(&Bits::zero(width)));
        };
        let inside = width.min(all - lo);
        let bits = self.term(x)?.extract(lo, inside).map_err(ill)?;
        match width - inside {
            0 => Ok(bits),
            more => apply(&format!("(_ zero_extend {more})"), vec![bits]),
        }
    }

    fn read(&mut self, memory: Term, address: Term, bytes: u32) -> Written {
        let memory = self.term(memory)?;
        let mut parts = Vec::new();
        for k in 0..bytes {
            let at = self.address(address, k)?;
            parts.push(apply("select", vec![memory.clone(), at])?);
        }
        parts.reverse();
        Expression::joined(parts).map_err(ill)
    }

    fn write(&mut self, memory: Term, address: Term, value: Term) -> Written {
        let mut written = self.term(memory)?;
        for k in 0..value.width() / 8 {
            let at = self.address(address, k)?;
            let byte = self.term(build::extract(value, 8 * k, 8))?;
            written = apply("store", vec![written, at, byte])?;
        }
        Ok(written)
    }

    /// An address some bytes on.
    fn address(&mut self, address: Term, k: u32) -> Written {
        let at = self.term(build::add(address, Term::bv(64, i128::from(k))))?;
        if !self.script.addresses.contains(&at) {
            self.script.addresses.push(at.clone());
        }
        Ok(at)
    }
}
