//! Rules as a text: functions, and the forms that compute each.
//!
//! In: text, or what was found. Out: [`Rules`], text. The first line has the version; a function stands on
//! a line, its forms on lines behind it, each after `=`; `#` begins a comment. It does not say whether a rule
//! holds.

use crate::expression::{Constant, Expression, VARIABLES};
use crate::operator::{OPERATORS, named};
use pest::Parser as _;
use pest::iterators::Pair;
use std::fmt;

::grammar::grammar! {
    /// The text form.
    Grammar in "rules.pest": file form function term word
}

/// The deepest form that is read.
const MAX_DEPTH: usize = 16;

/// A function and the ways to compute it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// What it is.
    pub is: Expression,
    /// What gives the same, the shortest first.
    pub forms: Vec<Expression>,
}

/// Functions with their forms.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rules {
    /// In the order in which they were found.
    pub functions: Vec<Function>,
}

impl Rules {
    /// Those that come with the program.
    ///
    /// # Panics
    /// Never: a test reads them.
    pub fn known() -> Rules {
        Rules::read(include_str!("identities.txt")).expect("what comes with the program is read")
    }

    /// Reads a text.
    ///
    /// # Errors
    /// Where it is not understood, and what was expected there.
    pub fn read(text: &str) -> Result<Rules, String> {
        let pairs = Grammar::parse(Rule::file, text).map_err(|e| e.to_string())?;
        let mut rules = Rules::default();
        for pair in pairs.flat_map(Pair::into_inner) {
            let rule = pair.as_rule();
            let (line, _) = pair.line_col();
            let at = |why: String| format!("line {line}: {why}");
            let Some(term) = pair.into_inner().next() else {
                continue;
            };
            let form = read(term, MAX_DEPTH).map_err(at)?;
            match rule {
                Rule::function => rules.functions.push(Function {
                    is: form,
                    forms: Vec::new(),
                }),
                _ => {
                    let last = rules.functions.last_mut();
                    let last = last.ok_or_else(|| at("a form without a function".to_owned()))?;
                    if last.is.gives() != form.gives() {
                        return Err(at(format!("`{form}` is not of the kind of `{}`", last.is)));
                    }
                    last.forms.push(form);
                }
            }
        }
        Ok(rules)
    }

    /// How many forms there are.
    pub fn count(&self) -> usize {
        self.functions.iter().map(|f| f.forms.len()).sum()
    }
}

fn read(pair: Pair<'_, Rule>, depth: usize) -> Result<Expression, String> {
    let mut parts = pair.into_inner();
    let word = parts.next().map_or("", |word| word.as_str());
    let depth = depth.checked_sub(1).ok_or("a form that is too deep")?;
    let of: Vec<Expression> = parts
        .map(|part| read(part, depth))
        .collect::<Result<_, _>>()?;
    if of.is_empty() {
        if let Some(k) = VARIABLES.iter().position(|name| *name == word) {
            return Ok(Expression::Variable(k));
        }
        let constant = Constant::ALL.into_iter().find(|c| c.name() == word);
        return constant
            .map(Expression::Constant)
            .ok_or_else(|| format!("`{word}` is no variable and no constant"));
    }
    let operator = named(word).ok_or_else(|| format!("`{word}` is no operator"))?;
    let takes = OPERATORS[operator].takes;
    let given: Vec<_> = of.iter().map(Expression::gives).collect();
    match given == takes {
        true => Ok(Expression::Apply(operator, of)),
        false => Err(format!("`{word}` takes {takes:?}, not {given:?}")),
    }
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "isaforge rules 1")?;
        for function in &self.functions {
            writeln!(f, "{}", function.is)?;
            for form in &function.forms {
                writeln!(f, "  = {form}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_with_the_program_is_read_and_written_alike() {
        let known = Rules::known();
        assert_eq!(Rules::read(&known.to_string()).as_ref(), Ok(&known));
        assert!(known.count() > 1_500);
    }

    #[test]
    fn what_comes_with_the_program_agrees_on_edges_and_samples() {
        let mut random = semantics::random::Random::new(7);
        for function in &Rules::known().functions {
            for form in &function.forms {
                for w in [8, 16, 31] {
                    for test in 0..40 {
                        let ones = crate::operator::ones(w);
                        let edge = [0, 1, ones, ones >> 1, (ones >> 1) + 1];
                        let variables = match test {
                            0..25 => [edge[test / 5], edge[test % 5]],
                            _ => [random.next_bits() & ones, random.next_bits() & ones],
                        };
                        let [is, also] = [&function.is, form].map(|f| f.value(w, &variables));
                        assert_eq!(is, also, "{} = {form} at {w} of {variables:?}", function.is);
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_no_rule_is_told_with_its_line() {
        for (text, why) in [
            ("= not(x)", "line 2: a form without a function"),
            (
                "not(x)\n= ult(x, y)",
                "line 3: `ult(x, y)` is not of the kind of `not(x)`",
            ),
            ("nothing(x)", "line 2: `nothing` is no operator"),
            ("add(x, z)", "line 2: `z` is no variable and no constant"),
            ("select(x, x, x)", "line 2: `select` takes"),
        ] {
            let wrong = Rules::read(&format!("isaforge rules 1\n{text}\n"));
            assert!(wrong.as_ref().is_err_and(|e| e.contains(why)), "{wrong:?}");
        }
        assert!(Rules::read("isaforge rules 2\n").is_err());
    }
}
