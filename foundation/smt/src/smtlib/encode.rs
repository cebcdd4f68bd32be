//! Terms as SMT-LIB text, through the operator table only.
//!
//! In: truth values over flat terms. Out: [`Script`]: declarations, definitions (each shared
//! subterm once), assertions, and what to ask of a model. Variables are renamed by order of
//! appearance, so equal questions give equal text: the text is also the key of the query
//! cache. Memories are arrays of bytes; operators that the table leaves uninterpreted become
//! declared functions. Index arithmetic that unrolling left is refused.

use crate::verdict::Reason;
use semantics::bits::Bits;
use semantics::build;
use semantics::op::{Op, OpCode, Smt};
use semantics::sort::Sort;
use semantics::term::{Kind, Term};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

/// A question in SMT-LIB.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Script {
    /// The logic that it needs.
    pub(crate) logic: String,
    /// Commands up to and without `(check-sat)`.
    pub(crate) commands: Vec<String>,
    /// Variables by their name in the script.
    pub(crate) variables: Vec<(String, Term)>,
    /// Names of addresses at which memories are read.
    pub(crate) addresses: Vec<String>,
}

impl Script {
    /// The whole text.
    pub(crate) fn text(&self) -> String {
        format!("(set-logic {})\n{}\n", self.logic, self.commands.join("\n"))
    }

    /// A variable's name in the script.
    pub(crate) fn canonical_name(&self, name: &str) -> Option<String> {
        self.variables
            .iter()
            .find(|(_, v)| v.as_var() == Some(name))
            .map(|(canonical, _)| canonical.clone())
    }

    /// The variable's own name.
    pub(crate) fn original_name(&self, canonical: &str) -> Option<String> {
        let (_, variable) = self.variables.iter().find(|(c, _)| c == canonical)?;
        variable.as_var().map(str::to_owned)
    }
}

/// Writes the question whether all constraints can be true.
pub(crate) fn script(constraints: &[Term]) -> Result<Script, Reason> {
    let mut writer = Writer::default();
    for &c in constraints {
        let text = writer.term(c)?;
        writer.script.commands.push(format!("(assert {text})"));
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
    known: HashMap<Term, String>,
    functions: BTreeMap<String, String>,
    arrays: bool,
}

/// A term's text, or why there is none.
type Text = Result<String, Reason>;

impl Writer {
    fn term(&mut self, t: Term) -> Text {
        if let Some(name) = self.known.get(&t) {
            return Ok(name.clone());
        }
        let name = match t.kind() {
            Kind::Var { sort, .. } => self.variable(t, *sort)?,
            Kind::Bv(bits) => literal(bits),
            Kind::Bool(b) => b.to_string(),
            Kind::App { op, args } => {
                let text = self.app(t, *op, args)?;
                self.define(t.sort(), &text)?
            }
            Kind::Int(_) => return Err(Reason::Unsupported("index arithmetic".to_owned())),
            Kind::Bound { .. } | Kind::Map { .. } | Kind::Fold { .. } => {
                return Err(Reason::Unsupported("a rolled term".to_owned()));
            }
        };
        self.known.insert(t, name.clone());
        Ok(name)
    }

    fn variable(&mut self, t: Term, sort: Sort) -> Text {
        let name = format!("v{}", self.script.variables.len());
        let sort = self.sort(sort)?;
        self.script
            .commands
            .push(format!("(declare-fun {name} () {sort})"));
        self.script.variables.push((name.clone(), t));
        Ok(name)
    }

    /// Gives a text a name, so that it is written once.
    fn define(&mut self, sort: Sort, text: &str) -> Text {
        let name = format!("t{}", self.script.commands.len());
        let sort = self.sort(sort)?;
        self.script
            .commands
            .push(format!("(define-fun {name} () {sort} {text})"));
        Ok(name)
    }

    fn sort(&mut self, sort: Sort) -> Text {
        match sort {
            Sort::Bool => Ok("Bool".to_owned()),
            Sort::Bv(w) => Ok(format!("(_ BitVec {w})")),
            Sort::Mem => {
                self.arrays = true;
                Ok("(Array (_ BitVec 64) (_ BitVec 8))".to_owned())
            }
            Sort::Int => Err(Reason::Unsupported("index arithmetic".to_owned())),
        }
    }

    fn app(&mut self, t: Term, op: Op, args: &[Term]) -> Text {
        match op.code {
            OpCode::Extract => return self.extract(args[0], args[1], op.params[0]),
            OpCode::Read => return self.read(args[0], args[1], op.params[0]),
            OpCode::Write => return self.write(args[0], args[1], args[2]),
            _ => {}
        }
        match op.info().smt {
            Smt::Defined(expand) => self.term(expand(op.params(), args)),
            Smt::Symbol(symbol) => {
                let args = self.terms(args)?;
                Ok(applied(symbol, &args))
            }
            Smt::Indexed(symbol) => {
                let sorts: Vec<Sort> = args.iter().map(|a| a.sort()).collect();
                let args = self.terms(args)?;
                Ok(applied(&symbol(op.params(), &sorts), &args))
            }
            Smt::Uninterpreted => self.uninterpreted(t, op, args),
        }
    }

    fn terms(&mut self, args: &[Term]) -> Result<Vec<String>, Reason> {
        args.iter().map(|&a| self.term(a)).collect()
    }

    fn uninterpreted(&mut self, t: Term, op: Op, args: &[Term]) -> Text {
        let mut texts = self.terms(args)?;
        if op.info().commutative {
            texts.sort();
        }
        let sorts = args
            .iter()
            .map(|a| self.sort(a.sort()))
            .collect::<Result<Vec<_>, _>>()?
            .join(" ");
        let result = self.sort(t.sort())?;
        let signature = format!("{op} {sorts} {result}");
        if !self.functions.contains_key(&signature) {
            let name = format!("f{}", self.functions.len());
            self.script.commands.push(format!("; {name} is {op}"));
            self.script
                .commands
                .push(format!("(declare-fun {name} ({sorts}) {result})"));
            self.functions.insert(signature.clone(), name);
        }
        Ok(applied(&self.functions[&signature], &texts))
    }

    /// Bits from a constant offset; those outside the vector are 0.
    fn extract(&mut self, x: Term, lo: Term, width: u32) -> Text {
        let all = x.width();
        let lo = lo
            .as_int()
            .ok_or_else(|| Reason::Unsupported("extraction at an index".to_owned()))?;
        let Some(lo) = u32::try_from(lo).ok().filter(|&lo| lo < all) else {
            return Ok(literal(&Bits::zero(width)));
        };
        let text = self.term(x)?;
        let inside = width.min(all - lo);
        let bits = format!("((_ extract {} {lo}) {text})", lo + inside - 1);
        Ok(if inside < width {
            format!("((_ zero_extend {}) {bits})", width - inside)
        } else {
            bits
        })
    }

    fn read(&mut self, memory: Term, address: Term, bytes: u32) -> Text {
        let memory = self.term(memory)?;
        let mut parts = Vec::new();
        for k in 0..bytes {
            let at = self.address(address, k)?;
            parts.push(format!("(select {memory} {at})"));
        }
        parts.reverse();
        Ok(applied("concat", &parts))
    }

    fn write(&mut self, memory: Term, address: Term, value: Term) -> Text {
        let mut text = self.term(memory)?;
        for k in 0..value.width() / 8 {
            let at = self.address(address, k)?;
            let byte = self.term(build::extract(value, 8 * k, 8))?;
            text = format!("(store {text} {at} {byte})");
        }
        Ok(text)
    }

    /// The name of an address some bytes on.
    fn address(&mut self, address: Term, k: u32) -> Text {
        let at = self.term(build::add(address, Term::bv(64, i128::from(k))))?;
        if !self.script.addresses.contains(&at) {
            self.script.addresses.push(at.clone());
        }
        Ok(at)
    }
}

/// An application; what SMT-LIB defines for two arguments is nested.
fn applied(symbol: &str, args: &[String]) -> String {
    if symbol == "concat" {
        let mut parts = args.iter().cloned();
        let first = parts.next().unwrap_or_default();
        return parts.fold(first, |hi, lo| format!("(concat {hi} {lo})"));
    }
    format!("({symbol} {})", args.join(" "))
}

fn literal(bits: &Bits) -> String {
    let mut out = String::from("#b");
    for k in (0..bits.width()).rev() {
        let _ = write!(out, "{}", u8::from(bits.bit(k)));
    }
    out
}
