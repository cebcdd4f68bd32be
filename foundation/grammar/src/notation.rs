//! pest's notation as a tree.
//!
//! In: the text of a grammar. Out: [`Rule`]s in order, or what in it is not read. Names are not looked
//! up here.

use std::iter::Peekable;
use std::str::Chars;

/// A rule as it is written.
pub(crate) struct Rule {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) body: Expr,
}

/// What stands before a rule's brace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Nothing: a pair, with what may stand between tokens.
    Normal,
    /// `_`: no pair of its own.
    Silent,
    /// `@`: a pair without any inside, nothing between its parts.
    Atomic,
    /// `$`: nothing between its parts, pairs inside.
    Compound,
    /// `!`: as a normal one, inside of an atomic one too.
    NonAtomic,
}

/// What a rule matches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Expr {
    Text(String),
    Range(char, char),
    Name(String),
    Ahead(bool, Box<Expr>),
    Sequence(Vec<Expr>),
    Choice(Vec<Expr>),
    Optional(Box<Expr>),
    Repeat(Box<Expr>),
    Push(Box<Expr>),
}

/// The rules of a text.
pub(crate) fn read(text: &str) -> Result<Vec<Rule>, String> {
    let mut reader = Reader {
        rest: text.chars().peekable(),
        line: 1,
    };
    let rules = reader.rules();
    rules.map_err(|why| format!("line {}: {why}", reader.line))
}

struct Reader<'t> {
    rest: Peekable<Chars<'t>>,
    line: usize,
}

impl Reader<'_> {
    fn rules(&mut self) -> Result<Vec<Rule>, String> {
        let mut rules = Vec::new();
        while self.next().is_some() {
            let name = self.name()?;
            self.need('=')?;
            let kind = match self.next() {
                Some('_') => Kind::Silent,
                Some('@') => Kind::Atomic,
                Some('$') => Kind::Compound,
                Some('!') => Kind::NonAtomic,
                _ => Kind::Normal,
            };
            if kind != Kind::Normal {
                self.take();
            }
            self.need('{')?;
            let body = self.choice()?;
            self.need('}')?;
            rules.push(Rule { name, kind, body });
        }
        Ok(rules)
    }

    fn take(&mut self) -> Option<char> {
        let taken = self.rest.next();
        self.line += usize::from(taken == Some('\n'));
        taken
    }

    /// The next character that is neither blank nor in a comment; it is not taken.
    fn next(&mut self) -> Option<char> {
        loop {
            match self.rest.peek() {
                Some(c) if c.is_whitespace() => {
                    self.take();
                }
                Some('/') => while self.take().is_some_and(|c| c != '\n') {},
                other => return other.copied(),
            }
        }
    }

    fn is(&mut self, wanted: char) -> bool {
        let found = self.next() == Some(wanted);
        if found {
            self.take();
        }
        found
    }

    fn need(&mut self, wanted: char) -> Result<(), String> {
        let found = self.next();
        match self.is(wanted) {
            true => Ok(()),
            false => Err(format!("`{wanted}` is expected, found {found:?}")),
        }
    }

    fn name(&mut self) -> Result<String, String> {
        let mut name = String::new();
        let found = self.next();
        while let Some(&c) = self
            .rest
            .peek()
            .filter(|c| c.is_alphanumeric() || **c == '_')
        {
            name.push(c);
            self.take();
        }
        match name.is_empty() {
            true => Err(format!("a name is expected, found {found:?}")),
            false => Ok(name),
        }
    }

    fn choice(&mut self) -> Result<Expr, String> {
        self.is('|');
        let mut all = vec![self.sequence()?];
        while self.is('|') {
            all.push(self.sequence()?);
        }
        Ok(match all.len() {
            1 => all.remove(0),
            _ => Expr::Choice(all),
        })
    }

    fn sequence(&mut self) -> Result<Expr, String> {
        let mut all = vec![self.term()?];
        while self.is('~') {
            all.push(self.term()?);
        }
        Ok(match all.len() {
            1 => all.remove(0),
            _ => Expr::Sequence(all),
        })
    }

    /// What stands before a term is of the term with what stands after it.
    fn term(&mut self) -> Result<Expr, String> {
        for (sign, wanted) in [('&', true), ('!', false)] {
            if self.is(sign) {
                return Ok(Expr::Ahead(wanted, Box::new(self.term()?)));
            }
        }
        let mut term = self.primary()?;
        loop {
            term = match self.next() {
                Some('*') => Expr::Repeat(Box::new(term)),
                Some('+') => Expr::Sequence(vec![term.clone(), Expr::Repeat(Box::new(term))]),
                Some('?') => Expr::Optional(Box::new(term)),
                _ => return Ok(term),
            };
            self.take();
        }
    }

    fn primary(&mut self) -> Result<Expr, String> {
        if self.is('(') {
            let inner = self.choice()?;
            self.need(')')?;
            return Ok(inner);
        }
        match self.next() {
            Some('"') => Ok(Expr::Text(self.quoted('"')?)),
            Some('\'') => {
                let first = self.quoted('\'')?;
                self.need('.')?;
                self.need('.')?;
                let last = self.quoted('\'')?;
                match (first.chars().next(), last.chars().next()) {
                    (Some(first), Some(last)) => Ok(Expr::Range(first, last)),
                    _ => Err("a range has two characters".to_owned()),
                }
            }
            _ => {
                let name = self.name()?;
                if name != "PUSH" {
                    return Ok(Expr::Name(name));
                }
                self.need('(')?;
                let inner = self.choice()?;
                self.need(')')?;
                Ok(Expr::Push(Box::new(inner)))
            }
        }
    }

    fn quoted(&mut self, quote: char) -> Result<String, String> {
        self.need(quote)?;
        let mut text = String::new();
        loop {
            match self.take() {
                Some(c) if c == quote => return Ok(text),
                Some('\\') => text.push(match self.take() {
                    Some('n') => '\n',
                    Some('r') => '\r',
                    Some('t') => '\t',
                    Some(c @ ('\\' | '"' | '\'')) => c,
                    other => return Err(format!("no escape of {other:?} is known")),
                }),
                Some(c) => text.push(c),
                None => return Err(format!("a text has no end, {quote} is expected")),
            }
        }
    }
}
