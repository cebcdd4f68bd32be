//! Grammars in pest's notation, read when they are first used, run on pest's parser state.
//!
//! In: the text of a grammar (a `.pest` file) and the names of its rules, by [`grammar!`]. Out: a
//! `pest::Parser`: pairs, positions and errors are pest's own. What pest's derive writes out as Rust is
//! walked here as data, because compiling what it writes took a tenth of a build; a grammar is
//! read in some ten microseconds. Of the notation there is what our grammars use; anything else is
//! refused when the grammar is read, which every test of a reader does.

mod notation;
mod run;
#[cfg(test)]
mod tests;

/// For [`grammar!`] only.
#[doc(hidden)]
pub use pest;

use pest::RuleType;
use pest::error::Error;
use pest::iterators::Pairs;
use std::sync::OnceLock;

/// A grammar that is read when it is first asked.
pub struct Grammar<R: 'static> {
    text: &'static str,
    names: &'static [(&'static str, R)],
    read: OnceLock<run::Rules<R>>,
}

impl<R: RuleType> Grammar<R> {
    /// Of its text, and the rules that pairs are made of.
    pub const fn new(text: &'static str, names: &'static [(&'static str, R)]) -> Self {
        Grammar {
            text,
            names,
            read: OnceLock::new(),
        }
    }

    /// The pairs of a text.
    ///
    /// # Errors
    /// It is not what the rule says.
    ///
    /// # Panics
    /// The grammar is not in the notation, or its rules are not those that are named: a mistake in this program.
    pub fn parse<'i>(&'static self, rule: R, text: &'i str) -> Result<Pairs<'i, R>, Error<R>> {
        let rules = self.read.get_or_init(|| {
            let read = notation::read(self.text);
            let rules = read.and_then(|list| run::Rules::new(list, self.names));
            rules.unwrap_or_else(|why| panic!("a grammar of this program: {why}"))
        });
        pest::state(text, |state| rules.begin(rule, state))
    }
}

/// Rules that say what the grammar calls them.
pub trait Named: RuleType + 'static {
    /// The name in the grammar.
    fn name(self) -> &'static str;
}

/// A parser by the grammar in a file, and the enumeration `Rule` of the rules that make pairs. Silent
/// rules are not named; `EOI` is there always.
#[macro_export]
macro_rules! grammar {
    ($(#[$about:meta])* $visible:vis $name:ident in $file:literal: $($rule:ident)*) => {
        /// The rules of the grammar that make pairs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(
            non_camel_case_types, missing_docs, clippy::upper_case_acronyms,
            reason = "as they are named in the grammar"
        )]
        $visible enum Rule { EOI, $($rule),* }

        impl $crate::Named for Rule {
            fn name(self) -> &'static str {
                match self {
                    Rule::EOI => "EOI",
                    $(Rule::$rule => stringify!($rule)),*
                }
            }
        }

        $(#[$about])*
        $visible struct $name;

        impl $crate::pest::Parser<Rule> for $name {
            fn parse(
                rule: Rule,
                text: &str,
            ) -> Result<$crate::pest::iterators::Pairs<'_, Rule>, $crate::pest::error::Error<Rule>> {
                static GRAMMAR: $crate::Grammar<Rule> = $crate::Grammar::new(
                    include_str!($file),
                    &[("EOI", Rule::EOI), $((stringify!($rule), Rule::$rule)),*],
                );
                GRAMMAR.parse(rule, text)
            }
        }
    };
}
