//! Many terms as lines of text, each node once.
//!
//! In: terms. Out: one line for each node, those that it is made of before it, called by
//! their numbers; and back. Reading looks up no name twice and parses nothing nested, so
//! that thousands of terms take milliseconds. People read [`mod@crate::print`] instead. A
//! line that is not understood is nothing: whoever keeps such text sees to its integrity.

use crate::op::{Op, OpCode};
use crate::sort::Sort;
use crate::table::OPERATORS;
use crate::term::{Kind, Term};
use hashbrown::HashMap;
use std::fmt::Write as _;

/// Terms on their way into text.
#[derive(Default)]
pub struct Writer {
    numbers: HashMap<Term, usize>,
    text: String,
}

impl Writer {
    /// The number of a term, which is written with all that it is made of.
    pub fn number(&mut self, t: Term) -> usize {
        if let Some(&number) = self.numbers.get(&t) {
            return number;
        }
        let children: Vec<usize> = t.children().map(|c| self.number(c)).collect();
        write_node(&mut self.text, t, &children);
        self.numbers.insert(t, self.numbers.len());
        self.numbers.len() - 1
    }

    /// How many nodes were written.
    pub fn count(&self) -> usize {
        self.numbers.len()
    }

    /// The lines.
    pub fn into_text(self) -> String {
        self.text
    }
}

/// Writes the line of a node whose children have these numbers.
fn write_node(out: &mut String, t: Term, children: &[usize]) {
    let _ = match t.kind() {
        Kind::Var { name, sort } => write!(out, "v {sort} {name}"),
        Kind::Bv(bits) => write!(out, "k {bits}"),
        Kind::Bool(value) => write!(out, "b {}", u8::from(*value)),
        Kind::Int(value) => write!(out, "i {value}"),
        Kind::Bound { depth, sort } => write!(out, "d {sort} {depth}"),
        Kind::App { op, .. } => {
            let [p, q, r] = op.params;
            write!(out, "a {} {p},{q},{r}", op.info().name)
        }
        Kind::Map { count, .. } => write!(out, "m {count} ."),
        Kind::Fold { count, .. } => write!(out, "f {count} ."),
    };
    for child in children {
        let _ = write!(out, " {child}");
    }
    out.push('\n');
}

/// The numbers of the nodes that a line's node is made of.
pub fn children(line: &str) -> impl Iterator<Item = usize> + '_ {
    let inner = line.starts_with(['a', 'm', 'f']);
    line.split(' ')
        .skip(3)
        .filter(move |_| inner)
        .filter_map(|word| word.parse().ok())
}

/// What lines are read with.
pub struct Reader {
    operators: HashMap<&'static str, OpCode>,
}

impl Default for Reader {
    fn default() -> Reader {
        let operators = OPERATORS.iter().map(|row| (row.name, row.code));
        Reader {
            operators: operators.collect(),
        }
    }
}

impl Reader {
    /// The terms of many lines, each by its number; nothing when one is not understood.
    pub fn terms<'a>(&self, lines: impl Iterator<Item = &'a str>) -> Option<Vec<Term>> {
        let mut terms: Vec<Term> = Vec::with_capacity(lines.size_hint().0);
        for line in lines {
            let term = self.node(line, &|k| terms.get(k).copied())?;
            terms.push(term);
        }
        Some(terms)
    }

    /// The term of a line, given those that it is made of.
    pub fn node(&self, line: &str, child: &dyn Fn(usize) -> Option<Term>) -> Option<Term> {
        let (kind, rest) = line.split_once(' ')?;
        let (first, second) = rest.split_once(' ').unwrap_or((rest, ""));
        let sort = |text: &str| text.parse::<Sort>().ok();
        Some(match kind {
            "v" => Term::var(second, sort(first)?),
            "k" => Term::bits(rest.parse().ok()?),
            "b" => Term::bool(rest == "1"),
            "i" => Term::int(rest.parse().ok()?),
            "d" => Term::bound(second.parse::<u16>().ok()?.into(), sort(first)?),
            "a" => {
                let mut params = [0; 3];
                let words = second.split(' ').next()?.split(',');
                for (place, word) in params.iter_mut().zip(words) {
                    *place = word.parse().ok()?;
                }
                let code = *self.operators.get(first)?;
                let args: Option<Vec<Term>> = children(line).map(child).collect();
                Term::raw_app(Op { code, params }, &args?).ok()?
            }
            "m" => Term::raw_map(first.parse().ok()?, child(children(line).next()?)?).ok()?,
            "f" => {
                let mut parts = children(line);
                let (init, body) = (child(parts.next()?)?, child(parts.next()?)?);
                Term::raw_fold(first.parse().ok()?, init, body).ok()?
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Reader, Writer, children};
    use crate::build as b;
    use crate::sort::Sort;
    use crate::term::Term;

    #[test]
    fn what_is_written_reads_back_and_shared_nodes_are_there_once() {
        let lane = |name| {
            let lo = b::int_mul(Term::index(), Term::int(16));
            b::extract_at(Term::var(name, Sort::Bv(128)), lo, 16)
        };
        let sums = b::map(8, b::add(lane("a"), lane("b c")));
        let chosen = b::ite(b::eq(sums, Term::bv(128, -3)), sums, Term::bv(128, 0));
        let mut writer = Writer::default();
        let numbers = [writer.number(chosen), writer.number(sums)];
        let count = writer.count();
        let text = writer.into_text();
        assert_eq!(text.lines().count(), count);
        let terms = Reader::default().terms(text.lines()).expect("it is whole");
        assert_eq!(numbers.map(|k| terms[k]), [chosen, sums]);
        for (at, line) in text.lines().enumerate() {
            assert!(children(line).all(|k| k < at), "{line}");
        }
    }

    #[test]
    fn what_is_no_node_is_nothing() {
        for text in [
            "",
            "x 1",
            "a bvadd 0,0,0 0 1",
            "m 2 . 7",
            "k 0x1",
            "d int 4294967295",
            "v bv0 x",
        ] {
            assert_eq!(Reader::default().terms([text].into_iter()), None, "{text}");
        }
    }
}
