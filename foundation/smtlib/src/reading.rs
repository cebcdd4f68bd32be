//! Terms of SMT-LIB as text.
//!
//! In: text, and the sorts of the names in it. Out: an [`Expression`], of which every part has a
//! sort. It reads terms only, without `let` and quantifiers.

use crate::expression::Expression;
use crate::value;
use semantics::sort::Sort;
use semantics::value::Value;

/// An application of which not all is read.
#[derive(Default)]
struct Open {
    symbol: Option<String>,
    arguments: Vec<Expression>,
}

pub(crate) fn read(text: &str, names: &[(String, Sort)]) -> Result<Expression, String> {
    let spaced = text.replace('(', " ( ").replace(')', " ) ");
    let mut words = spaced.split_whitespace();
    let mut open: Vec<Open> = Vec::new();
    loop {
        let word = words.next().ok_or("the text ends within a term")?;
        let done = match (word, open.last_mut()) {
            (
                "(",
                Some(Open {
                    symbol: symbol @ None,
                    ..
                }),
            ) => {
                *symbol = Some(indexed(&mut words)?);
                None
            }
            ("(", _) => {
                open.push(Open::default());
                None
            }
            (")", _) => {
                let Open { symbol, arguments } = open.pop().ok_or("a bracket too many")?;
                let symbol = symbol.ok_or("nothing is applied")?;
                Some(Expression::apply(&symbol, arguments)?)
            }
            (
                word,
                Some(Open {
                    symbol: symbol @ None,
                    ..
                }),
            ) => {
                *symbol = Some(word.to_owned());
                None
            }
            (word, _) => Some(atom(word, names)?),
        };
        let Some(done) = done else { continue };
        match open.last_mut() {
            Some(around) => around.arguments.push(done),
            None => {
                return words
                    .next()
                    .map_or(Ok(done), |w| Err(format!("`{w}` is left over")));
            }
        }
    }
}

/// `_ symbol index…)`, the bracket being read.
fn indexed<'t>(words: &mut impl Iterator<Item = &'t str>) -> Result<String, String> {
    let inside: Vec<&str> = words.take_while(|w| *w != ")").collect();
    match inside.first() {
        Some(&"_") => Ok(format!("({})", inside.join(" "))),
        _ => Err("a symbol, or `(_ symbol index)`, is expected".to_owned()),
    }
}

fn atom(word: &str, names: &[(String, Sort)]) -> Result<Expression, String> {
    if let Ok(truth) = word.parse() {
        return Ok(Expression::truth(truth));
    }
    if let Some(digits) = word.strip_prefix("#b") {
        let width = u32::try_from(digits.len()).unwrap_or(0);
        return match value::read(word, Sort::Bv(width))? {
            Value::Bv(bits) => Ok(Expression::bits(&bits)),
            _ => Err(format!("`{word}` is no bit vector")),
        };
    }
    let known = names.iter().find(|(name, _)| name == word);
    known
        .map(|(name, sort)| Expression::name(name, *sort))
        .ok_or_else(|| format!("`{word}` has no sort"))
}
