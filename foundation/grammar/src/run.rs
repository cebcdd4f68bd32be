//! Rules that run on pest's parser state.
//!
//! In: rules as they are written, and the names that pairs have. Out: [`Rules`], which walk a text as
//! what pest's derive writes does: what is skipped between tokens, what is put back when a way fails,
//! which rules are tried where (errors are told from that).

use crate::notation::{self, Expr, Kind};
use pest::{Atomicity, ParseResult, ParserState, RuleType};
use std::collections::BTreeMap;

type State<'i, R> = Box<ParserState<'i, R>>;

/// Rules, each by its number.
pub(crate) struct Rules<R> {
    rules: Vec<Rule<R>>,
    /// What may stand between tokens.
    blank: Option<usize>,
    comment: Option<usize>,
}

struct Rule<R> {
    kind: Kind,
    /// What its pairs are; silent rules may have none.
    pair: Option<R>,
    body: Matcher<R>,
}

enum Matcher<R> {
    Text(String),
    Range(char, char),
    /// A character of a class.
    One(fn(char) -> bool),
    Any,
    Start,
    End(R),
    /// All that was pushed.
    Pushed,
    Drop,
    Rule(usize),
    Ahead(bool, Box<Matcher<R>>),
    Sequence(Vec<Matcher<R>>),
    Choice(Vec<Matcher<R>>),
    Optional(Box<Matcher<R>>),
    Repeat(Box<Matcher<R>>),
    /// Up to the first of these texts.
    Until(Vec<&'static str>),
    Push(Box<Matcher<R>>),
    /// What was pushed is put back when it fails.
    Restored(Box<Matcher<R>>),
}

/// Rules that have no text.
fn class(name: &str) -> Option<fn(char) -> bool> {
    Some(match name {
        "ASCII_DIGIT" => |c| c.is_ascii_digit(),
        "ASCII_HEX_DIGIT" => |c| c.is_ascii_hexdigit(),
        "ASCII_ALPHA" => |c| c.is_ascii_alphabetic(),
        "ASCII_ALPHANUMERIC" => |c| c.is_ascii_alphanumeric(),
        _ => return None,
    })
}

impl<R: RuleType> Rules<R> {
    /// Of what is written, and the names of pairs.
    pub(crate) fn new(list: Vec<notation::Rule>, names: &[(&str, R)]) -> Result<Rules<R>, String> {
        let numbers: BTreeMap<&str, usize> = { list.iter().enumerate() }
            .map(|(k, r)| (r.name.as_str(), k))
            .collect();
        if let Some((name, _)) = names
            .iter()
            .find(|(n, _)| *n != "EOI" && !numbers.contains_key(n))
        {
            return Err(format!("there is no rule `{name}`"));
        }
        let maker = Maker {
            list: &list,
            numbers: &numbers,
            names,
        };
        let rules = { list.iter() }
            .map(|rule| maker.rule(rule))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Rules {
            rules,
            blank: numbers.get("WHITESPACE").copied(),
            comment: numbers.get("COMMENT").copied(),
        })
    }

    /// The rule of which the whole is made.
    pub(crate) fn begin<'i>(&self, rule: R, state: State<'i, R>) -> ParseResult<State<'i, R>> {
        let number = self.rules.iter().position(|r| r.pair == Some(rule));
        self.rule(
            number.expect("every rule that is named was looked up"),
            state,
        )
    }

    fn rule<'i>(&self, number: usize, state: State<'i, R>) -> ParseResult<State<'i, R>> {
        let Rule { kind, pair, body } = &self.rules[number];
        let run = |state| self.run(body, state);
        let between = Some(number) == self.blank || Some(number) == self.comment;
        let Some(pair) = *pair else {
            return if between {
                state.atomic(Atomicity::Atomic, run)
            } else {
                run(state)
            };
        };
        match kind {
            Kind::Atomic => state.rule(pair, |s| s.atomic(Atomicity::Atomic, run)),
            Kind::Compound => state.atomic(Atomicity::CompoundAtomic, |s| s.rule(pair, run)),
            Kind::NonAtomic => state.atomic(Atomicity::NonAtomic, |s| s.rule(pair, run)),
            Kind::Normal | Kind::Silent => state.rule(pair, run),
        }
    }

    fn run<'i>(&self, node: &Matcher<R>, state: State<'i, R>) -> ParseResult<State<'i, R>> {
        match node {
            Matcher::Text(text) => state.match_string(text),
            Matcher::Range(first, last) => state.match_range(*first..*last),
            Matcher::One(class) => state.match_char_by(class),
            Matcher::Any => state.skip(1),
            Matcher::Start => state.start_of_input(),
            Matcher::End(end) => state.rule(*end, |s| s.end_of_input()),
            Matcher::Pushed => state.stack_match_peek(),
            Matcher::Drop => state.stack_drop(),
            Matcher::Rule(number) => self.rule(*number, state),
            Matcher::Ahead(wanted, inner) => state.lookahead(*wanted, |s| self.run(inner, s)),
            Matcher::Sequence(all) => state.sequence(|s| self.sequence(all, s)),
            Matcher::Choice(all) => self.choice(all, state),
            Matcher::Optional(inner) => state.optional(|s| self.run(inner, s)),
            Matcher::Repeat(inner) => self.repeat(inner, state),
            Matcher::Until(texts) => state.skip_until(texts),
            Matcher::Push(inner) => state.stack_push(|s| self.run(inner, s)),
            Matcher::Restored(inner) => state.restore_on_err(|s| self.run(inner, s)),
        }
    }

    fn sequence<'i>(
        &self,
        all: &[Matcher<R>],
        mut state: State<'i, R>,
    ) -> ParseResult<State<'i, R>> {
        for (k, node) in all.iter().enumerate() {
            if k > 0 {
                state = self.skip(state)?;
            }
            state = self.run(node, state)?;
        }
        Ok(state)
    }

    fn choice<'i>(&self, all: &[Matcher<R>], mut state: State<'i, R>) -> ParseResult<State<'i, R>> {
        for node in all {
            match self.run(node, state) {
                Ok(state) => return Ok(state),
                Err(back) => state = back,
            }
        }
        Err(state)
    }

    fn repeat<'i>(&self, inner: &Matcher<R>, state: State<'i, R>) -> ParseResult<State<'i, R>> {
        let again =
            |state: State<'i, R>| state.sequence(|s| self.skip(s).and_then(|s| self.run(inner, s)));
        state.sequence(|s| s.optional(|s| self.run(inner, s).and_then(|s| s.repeat(again))))
    }

    /// Blanks and comments, where they may stand.
    fn skip<'i>(&self, state: State<'i, R>) -> ParseResult<State<'i, R>> {
        if state.atomicity() != Atomicity::NonAtomic {
            return Ok(state);
        }
        match (self.blank, self.comment) {
            (None, None) => Ok(state),
            (Some(only), None) | (None, Some(only)) => state.repeat(|s| self.rule(only, s)),
            (Some(blank), Some(comment)) => {
                let blanks = |state: State<'i, R>| state.repeat(|s| self.rule(blank, s));
                let commented = |state: State<'i, R>| {
                    state.sequence(|s| self.rule(comment, s).and_then(blanks))
                };
                state.sequence(|s| blanks(s).and_then(|s| s.repeat(commented)))
            }
        }
    }
}

/// Looks names up, and marks what has to be put back.
struct Maker<'a, R> {
    list: &'a [notation::Rule],
    numbers: &'a BTreeMap<&'a str, usize>,
    names: &'a [(&'a str, R)],
}

impl<R: RuleType> Maker<'_, R> {
    fn named(&self, name: &str) -> Option<R> {
        { self.names.iter() }
            .find(|(n, _)| *n == name)
            .map(|(_, rule)| *rule)
    }

    fn rule(&self, rule: &notation::Rule) -> Result<Rule<R>, String> {
        let pair = match rule.kind {
            Kind::Silent => None,
            _ => {
                let named = self.named(&rule.name);
                Some(named.ok_or_else(|| format!("the rule `{}` is not named", rule.name))?)
            }
        };
        Ok(Rule {
            kind: rule.kind,
            pair,
            body: self.node(&rule.body)?,
        })
    }

    fn node(&self, expr: &Expr) -> Result<Matcher<R>, String> {
        let boxed = |e: &Expr| self.node(e).map(Box::new);
        let each = |all: &[Expr]| {
            all.iter()
                .map(|e| self.node(e))
                .collect::<Result<Vec<_>, _>>()
        };
        let restored = |e: &Expr| {
            let node = self.node(e)?;
            Ok::<_, String>(match self.pushes(e, &mut Vec::new()) {
                true => Matcher::Restored(Box::new(node)),
                false => node,
            })
        };
        Ok(match expr {
            Expr::Text(text) => Matcher::Text(text.clone()),
            Expr::Range(first, last) => Matcher::Range(*first, *last),
            Expr::Name(name) => self.name(name)?,
            Expr::Ahead(wanted, inner) => Matcher::Ahead(*wanted, boxed(inner)?),
            Expr::Sequence(all) => Matcher::Sequence(each(all)?),
            Expr::Choice(all) => {
                Matcher::Choice(all.iter().map(restored).collect::<Result<Vec<_>, _>>()?)
            }
            Expr::Optional(inner) => Matcher::Optional(Box::new(restored(inner)?)),
            Expr::Repeat(inner) => match until(inner) {
                Some(texts) => Matcher::Until(texts),
                None => Matcher::Repeat(Box::new(restored(inner)?)),
            },
            Expr::Push(inner) => Matcher::Push(boxed(inner)?),
        })
    }

    fn name(&self, name: &str) -> Result<Matcher<R>, String> {
        if let Some(&number) = self.numbers.get(name) {
            return Ok(Matcher::Rule(number));
        }
        Ok(match name {
            "ANY" => Matcher::Any,
            "SOI" => Matcher::Start,
            "EOI" => Matcher::End(self.named("EOI").ok_or("`EOI` is not named")?),
            "PEEK_ALL" => Matcher::Pushed,
            "DROP" => Matcher::Drop,
            _ => Matcher::One(class(name).ok_or_else(|| format!("there is no rule `{name}`"))?),
        })
    }

    /// Whether what is pushed changes somewhere in it.
    fn pushes<'e>(&'e self, expr: &'e Expr, seen: &mut Vec<&'e str>) -> bool {
        match expr {
            Expr::Push(_) => true,
            Expr::Name(name) if name == "DROP" => true,
            Expr::Name(name) => self.numbers.get(name.as_str()).is_some_and(|&number| {
                let rule = &self.list[number];
                if seen.contains(&rule.name.as_str()) {
                    return false;
                }
                seen.push(&rule.name);
                self.pushes(&rule.body, seen)
            }),
            Expr::Text(_) | Expr::Range(..) => false,
            Expr::Ahead(_, inner) | Expr::Optional(inner) | Expr::Repeat(inner) => {
                self.pushes(inner, seen)
            }
            Expr::Sequence(all) | Expr::Choice(all) => all.iter().any(|e| self.pushes(e, seen)),
        }
    }
}

/// `(!"x" ~ ANY)*` goes up to the first `x`. Nothing is skipped between single characters: what has such a
/// repetition is atomic.
fn until(repeated: &Expr) -> Option<Vec<&'static str>> {
    let Expr::Sequence(all) = repeated else {
        return None;
    };
    let [Expr::Ahead(false, end), Expr::Name(any)] = all.as_slice() else {
        return None;
    };
    let ends = match &**end {
        Expr::Choice(ends) => ends.as_slice(),
        one => std::slice::from_ref(one),
    };
    let texts = ends.iter().map(|e| match e {
        // A grammar stays as long as the program.
        Expr::Text(text) => Some(&*text.clone().leak()),
        _ => None,
    });
    { texts }
        .collect::<Option<Vec<_>>>()
        .filter(|_| any == "ANY")
}
