//! The text form of terms, read.
//!
//! In: texts as [`crate::print`] writes them, and the sorts of the free variables. Out: the
//! very terms that were written (they are not simplified: what is printed reads back as
//! the same node), or diagnostics, as many as there are mistakes.

use crate::bits::Bits;
use crate::diagnostic::{Diagnostic, suggest};
use crate::eval::Input;
use crate::op::{Op, OpCode};
use crate::sexpr::{self, Sexpr, Shape};
use crate::sort::Sort;
use crate::span::{Source, Span};
use crate::table::{MAX_WIDTH, OPERATORS};
use crate::term::{Kind, SortError, Term};
use std::collections::{BTreeMap, HashMap};

/// The first line of a file of terms.
pub const FILE_VERSION: &str = "isaforge-term 1";

/// What a file of terms holds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TermFile {
    /// The free variables with their sorts, in the order of the file.
    pub inputs: Vec<Input>,
    /// The terms with their names, in the order of the file.
    pub outputs: Vec<(String, Term)>,
}

/// Reads one term from a range of a source.
///
/// # Errors
/// Diagnostics that point into the source.
pub fn term(
    source: &Source,
    range: Span,
    inputs: &BTreeMap<String, Sort>,
) -> Result<Term, Vec<Diagnostic>> {
    let found = sexpr::read(source, range)?;
    match found.as_slice() {
        [one] => elaborate(source, one, inputs),
        [] => Err(vec![
            Diagnostic::error("a term is missing").at(source, range),
        ]),
        [_, more, ..] => Err(vec![
            Diagnostic::error("more than one term")
                .at(source, more.span)
                .label("the term ended before this"),
        ]),
    }
}

/// Gives an S-expression its meaning as a term.
///
/// # Errors
/// Diagnostics that point into the source.
pub fn elaborate(
    source: &Source,
    e: &Sexpr,
    inputs: &BTreeMap<String, Sort>,
) -> Result<Term, Vec<Diagnostic>> {
    let mut reader = Reader {
        source,
        inputs,
        locals: Vec::new(),
        binders: 0,
        diagnostics: Vec::new(),
    };
    match reader.term(e) {
        Some(t) if reader.diagnostics.is_empty() => Ok(t),
        _ => Err(reader.diagnostics),
    }
}

/// Reads a file of terms.
///
/// # Errors
/// Diagnostics that point into the file, from all of its items.
pub fn file(source: &Source) -> Result<TermFile, Vec<Diagnostic>> {
    let (first, rest) = source
        .text()
        .split_once('\n')
        .unwrap_or((source.text(), ""));
    if first.trim_end() != FILE_VERSION {
        return Err(vec![
            Diagnostic::error("this is no file of terms")
                .at(source, Span::new(0, first.len()))
                .hint(format!("the first line must be `{FILE_VERSION}`")),
        ]);
    }
    let start = source.text().len() - rest.len();
    let items = sexpr::read(source, Span::new(start, source.text().len()))?;
    let mut file = TermFile::default();
    let mut sorts = BTreeMap::new();
    let mut diagnostics = Vec::new();
    for item in &items {
        if let Err(more) = file_item(source, item, &mut file, &mut sorts) {
            diagnostics.extend(more);
        }
    }
    if diagnostics.is_empty() {
        Ok(file)
    } else {
        Err(diagnostics)
    }
}

fn file_item(
    source: &Source,
    item: &Sexpr,
    file: &mut TermFile,
    sorts: &mut BTreeMap<String, Sort>,
) -> Result<(), Vec<Diagnostic>> {
    let error = |message: String, span| Err(vec![Diagnostic::error(message).at(source, span)]);
    if let Some([name, sort]) = item.form("input") {
        let (Some(name_text), Some(sort_text)) = (name.name(), sort.atom()) else {
            return error("an input has a name and a sort".into(), item.span);
        };
        let sort = match sort_text.parse::<Sort>() {
            Ok(found) => found,
            Err(message) => return error(message, sort.span),
        };
        if sorts.contains_key(name_text) {
            return error(format!("`{name_text}` is declared twice"), name.span);
        }
        sorts.insert(name_text.to_owned(), sort);
        file.inputs.push(Input {
            name: name_text.to_owned(),
            sort,
        });
        return Ok(());
    }
    if let Some([name, body]) = item.form("output") {
        let Some(name_text) = name.name() else {
            return error("an output has a name and a term".into(), item.span);
        };
        if file.outputs.iter().any(|(n, _)| n == name_text) {
            return error(format!("`{name_text}` is defined twice"), name.span);
        }
        let term = elaborate(source, body, sorts)?;
        file.outputs.push((name_text.to_owned(), term));
        return Ok(());
    }
    Err(vec![
        Diagnostic::error("expected an input or an output")
            .at(source, item.span)
            .hint("items are `(input NAME SORT)` and `(output NAME TERM)`"),
    ])
}

struct Reader<'s> {
    source: &'s Source,
    inputs: &'s BTreeMap<String, Sort>,
    /// Local names in reach, innermost last.
    locals: Vec<(String, Term)>,
    /// Binders around the term that is being read.
    binders: u32,
    diagnostics: Vec<Diagnostic>,
}

/// What a bound variable is while its binder's body is being read: a free variable with a
/// name that no text can hold. [`close`] turns it into a bound variable.
fn placeholder(binder: u32, role: char, sort: Sort) -> Term {
    Term::var(&format!("\0{role}{binder}"), sort)
}

impl Reader<'_> {
    fn fail<T>(&mut self, message: impl Into<String>, span: Span) -> Option<T> {
        self.diagnose(Diagnostic::error(message), span)
    }

    fn diagnose<T>(&mut self, d: Diagnostic, span: Span) -> Option<T> {
        self.diagnostics.push(d.at(self.source, span));
        None
    }

    fn sorted(&mut self, result: Result<Term, SortError>, span: Span) -> Option<Term> {
        match result {
            Ok(t) => Some(t),
            Err(e) => self.fail(e.to_string(), span),
        }
    }

    fn term(&mut self, e: &Sexpr) -> Option<Term> {
        match &e.shape {
            Shape::Quoted(name) => self.variable(name, e.span),
            Shape::Atom(word) => self.atom(word, e.span),
            Shape::List(members) => {
                let Some((head, rest)) = members.split_first() else {
                    return self.fail("an empty list is no term", e.span);
                };
                match head.atom() {
                    Some("let") => self.bindings(rest, e.span),
                    Some("map") => self.map(rest, e.span),
                    Some("fold") => self.fold(rest, e.span),
                    Some(word) => self.application(word, head.span, rest, e.span),
                    None => self.fail("expected the name of an operator", head.span),
                }
            }
        }
    }

    fn atom(&mut self, word: &str, span: Span) -> Option<Term> {
        if word == "true" || word == "false" {
            return Some(Term::bool(word == "true"));
        }
        if word.starts_with("0x") {
            return match word.parse::<Bits>() {
                Ok(bits) => Some(Term::bits(bits)),
                Err(e) => self.fail(e.to_string(), span),
            };
        }
        if word.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            return match word.parse::<i64>() {
                Ok(i) => Some(Term::int(i)),
                Err(_) => {
                    let d = Diagnostic::error(format!("`{word}` is no index"));
                    let hint =
                        "an index is a decimal number of 64 bits; bit vectors are written `0x2a:8`";
                    self.diagnose(d.hint(hint), span)
                }
            };
        }
        match self.locals.iter().rev().find(|(name, _)| name == word) {
            Some((_, t)) => Some(*t),
            None => self.variable(word, span),
        }
    }

    fn variable(&mut self, name: &str, span: Span) -> Option<Term> {
        if let Some(&sort) = self.inputs.get(name) {
            return Some(Term::var(name, sort));
        }
        let locals = self.locals.iter().map(|(n, _)| n.as_str());
        let near = suggest(name, self.inputs.keys().map(String::as_str).chain(locals));
        let mut d = Diagnostic::error(format!("`{name}` is not known here"));
        if let Some(near) = near {
            d = d.hint(format!("did you mean `{near}`?"));
        }
        self.diagnose(d, span)
    }

    fn bindings(&mut self, rest: &[Sexpr], span: Span) -> Option<Term> {
        let [rows, body] = rest else {
            return self.fail("a let is `(let ((NAME TERM) ...) TERM)`", span);
        };
        let Some(rows) = rows.list() else {
            return self.fail("expected a list of `(NAME TERM)`", rows.span);
        };
        let before = self.locals.len();
        let mut complete = true;
        for row in rows {
            let parts = row
                .list()
                .and_then(|r| Some((r.first()?.atom()?, r.get(1)?, r.len())));
            let Some((name, value, 2)) = parts else {
                complete = false;
                self.fail::<()>("expected `(NAME TERM)`", row.span);
                continue;
            };
            match self.term(value) {
                Some(t) => self.locals.push((name.to_owned(), t)),
                None => complete = false,
            }
        }
        let body = if complete { self.term(body) } else { None };
        self.locals.truncate(before);
        body
    }

    fn count(&mut self, e: &Sexpr) -> Option<u32> {
        let count = e.atom().and_then(|w| w.parse::<u32>().ok());
        match count {
            Some(n) if (1..=MAX_WIDTH).contains(&n) => Some(n),
            _ => self.fail(format!("expected a count from 1 to {MAX_WIDTH}"), e.span),
        }
    }

    fn names(&mut self, e: &Sexpr, count: usize) -> Option<Vec<String>> {
        let names: Option<Vec<String>> = e
            .list()
            .and_then(|l| l.iter().map(|n| n.atom().map(str::to_owned)).collect());
        match names {
            Some(names) if names.len() == count => Some(names),
            _ => self.fail(format!("expected a list of {count} local names"), e.span),
        }
    }

    fn map(&mut self, rest: &[Sexpr], span: Span) -> Option<Term> {
        let [count, names, body] = rest else {
            return self.fail("a map is `(map COUNT (INDEX) TERM)`", span);
        };
        let (count, names) = (self.count(count), self.names(names, 1)?);
        let index = placeholder(self.binders, 'i', Sort::Int);
        let body = self.under(names, &[index], body)?;
        self.sorted(Term::raw_map(count?, body), span)
    }

    fn fold(&mut self, rest: &[Sexpr], span: Span) -> Option<Term> {
        let [count, names, init, body] = rest else {
            let message = "a fold is `(fold COUNT (ACCUMULATOR ITERATION) START TERM)`";
            return self.fail(message, span);
        };
        let (count, init) = (self.count(count), self.term(init));
        let (names, init) = (self.names(names, 2)?, init?);
        let accumulator = placeholder(self.binders, 'a', init.sort());
        let iteration = placeholder(self.binders, 'i', Sort::Int);
        let body = self.under(names, &[accumulator, iteration], body)?;
        self.sorted(Term::raw_fold(count?, init, body), span)
    }

    /// A body under a binder; `bound` in the order of de Bruijn indices.
    fn under(&mut self, names: Vec<String>, bound: &[Term], body: &Sexpr) -> Option<Term> {
        let before = self.locals.len();
        self.locals
            .extend(names.into_iter().zip(bound.iter().copied()));
        self.binders += 1;
        let body = self.term(body);
        self.binders -= 1;
        self.locals.truncate(before);
        Some(close(body?, bound))
    }

    fn application(&mut self, word: &str, head: Span, rest: &[Sexpr], span: Span) -> Option<Term> {
        let op = self.operator(word, head);
        let args: Vec<Option<Term>> = rest.iter().map(|a| self.term(a)).collect();
        let args = args.into_iter().collect::<Option<Vec<Term>>>()?;
        self.sorted(Term::raw_app(op?, &args), span)
    }

    fn operator(&mut self, word: &str, span: Span) -> Option<Op> {
        let (name, list) = match word.strip_suffix(']').and_then(|w| w.split_once('[')) {
            Some((name, list)) => (name, list.split(',').collect()),
            None => (word, Vec::new()),
        };
        let Some(code) = Op::by_name(name) else {
            let mut d = Diagnostic::error(format!("no operator is called `{name}`"));
            if let Some(near) = suggest(name, OPERATORS.iter().map(|row| row.name)) {
                d = d.hint(format!("did you mean `{near}`?"));
            }
            return self.diagnose(d, span);
        };
        self.parameters(code, &list, span)
    }

    fn parameters(&mut self, code: OpCode, list: &[&str], span: Span) -> Option<Op> {
        let row = code.info();
        if list.len() != row.params.len() {
            let wanted = match row.params {
                [] => format!("`{}` has no parameters", row.name),
                names => format!("`{0}` is written `{0}[{1}]`", row.name, names.join(",")),
            };
            return self.fail(wanted, span);
        }
        let mut op = Op::new(code);
        for ((slot, name), text) in op.params.iter_mut().zip(row.params).zip(list) {
            match crate::op::read_parameter(name, text) {
                Some(value) => *slot = value,
                None => return self.fail(format!("`{text}` is no {name}"), span),
            }
        }
        Some(op)
    }
}

/// Turns placeholders into the variables of a new binder around the term.
fn close(body: Term, bound: &[Term]) -> Term {
    fn visit(t: Term, bound: &[Term], depth: u32, done: &mut HashMap<(Term, u32), Term>) -> Term {
        if let Some(&known) = done.get(&(t, depth)) {
            return known;
        }
        let raw = "closing keeps every sort";
        let result = match t.kind() {
            Kind::Var { sort, .. } => match (0..).zip(bound).find(|(_, b)| **b == t) {
                Some((k, _)) => Term::bound(depth + k, *sort),
                None => t,
            },
            Kind::App { op, args } => {
                let args: Vec<Term> = args.iter().map(|&a| visit(a, bound, depth, done)).collect();
                Term::raw_app(*op, &args).expect(raw)
            }
            Kind::Map { count, body } => {
                Term::raw_map(*count, visit(*body, bound, depth + 1, done)).expect(raw)
            }
            Kind::Fold { count, init, body } => {
                let init = visit(*init, bound, depth, done);
                let body = visit(*body, bound, depth + 2, done);
                Term::raw_fold(*count, init, body).expect(raw)
            }
            Kind::Bv(_) | Kind::Bool(_) | Kind::Int(_) | Kind::Bound { .. } => t,
        };
        done.insert((t, depth), result);
        result
    }
    visit(body, bound, 0, &mut HashMap::new())
}

#[cfg(test)]
mod tests;
