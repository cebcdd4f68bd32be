//! The parser: text to syntax tree.
//!
//! In: a [`Source`]. Out: a [`File`] and what is wrong with the text. The grammar is
//! `grammar.pest`; precedence of operators is applied here. After a mistake the text is
//! taken up again at the next `kernel` or `fn` that starts a line, so that one declaration
//! that cannot be read does not hide the others.

use crate::ast::{
    BinaryOp, Dims, Direction, DirectiveText, Expr, ExprKind, File, Function, Ident, IndexEntry,
    Kernel, Let, Param, Stmt, Subscript, UnaryOp,
};
use crate::idiom;
use pest::Parser as _;
use pest::error::{ErrorVariant, InputLocation};
use pest::iterators::{Pair, Pairs};
use semantics::diagnostic::{Diagnostic, look_alike, suggest};
use semantics::span::{Source, Span};
use std::cell::Cell;

mod grammar {
    //! The parser by `grammar.pest`.

    ::grammar::grammar! {
        /// The grammar; its rules are named as in `grammar.pest`.
        pub(super) Grammar in "grammar.pest":
        file kernel requires param direction dims pad function fparam body block for_stmt at token_open
        word_at let_stmt var_stmt assign_stmt reassociate assign_op schedule directive word expr
        operator unary prefix postfix primary call vector subscript clamped index range_mark
        token_close token_end_index token_semicolon token_arrow token_colon token_dots
        token_equals ident decimal number word_kernel word_requires word_schedule word_for
        word_in word_step word_let word_var word_fn word_by
    }
}

use grammar::{Grammar, Rule};

/// How deeply brackets may nest.
const MAX_NESTING: usize = 100;

/// How many operands one expression may join without brackets.
const MAX_OPERANDS: usize = 200;

/// How deep an expression may become: operands that are joined, brackets and signs around them.
const MAX_LEVELS: usize = 600;

/// The longest name: compilers of C need not tell longer ones apart.
const MAX_NAME: usize = 255;

/// The most bytes of a text; a kernel has at most some thousand statements.
const MAX_BYTES: usize = 2 << 20;

/// Parses a text.
pub(crate) fn parse(source: &Source) -> (File, Vec<Diagnostic>) {
    let mut file = File::default();
    let mut diagnostics = Vec::new();
    if source.text().len() > MAX_BYTES {
        let message = format!("this text has {} bytes", source.text().len());
        let hint = format!("at most {MAX_BYTES} are read: make several files of it");
        let diagnostic = Diagnostic::error(message).at(source, Span::new(0, 0));
        return (file, vec![diagnostic.hint(hint)]);
    }
    if let Some(at) = too_deep(source.text()) {
        let message = format!("brackets nest more than {MAX_NESTING} deep");
        return (
            file,
            vec![Diagnostic::error(message).at(source, Span::new(at, at + 1))],
        );
    }
    if let Some(name) = too_long(source.text()) {
        let message = format!("a name of {} characters", name.end - name.start);
        let hint = format!("names have at most {MAX_NAME}");
        let diagnostic = Diagnostic::error(message).at(source, name);
        return (file, vec![diagnostic.hint(hint)]);
    }
    for (start, text) in declarations(source.text()) {
        match Grammar::parse(Rule::file, text) {
            Ok(pairs) => {
                let builder = Builder {
                    source,
                    start,
                    levels: Cell::new(0),
                };
                let items = pairs.flat_map(Pair::into_inner);
                for item in items {
                    match item.as_rule() {
                        Rule::function => builder
                            .function(item, &mut diagnostics)
                            .map(|f| file.functions.push(f)),
                        Rule::kernel => builder
                            .kernel(item, &mut diagnostics)
                            .map(|k| file.kernels.push(k)),
                        _ => None,
                    };
                }
            }
            Err(error) => diagnostics.push(syntax_error(source, start, &error)),
        }
    }
    (file, diagnostics)
}

/// The first bracket that nests too deeply.
fn too_deep(text: &str) -> Option<usize> {
    let (mut depth, mut comment) = (0usize, false);
    let bytes = text.as_bytes();
    bytes.iter().enumerate().find_map(|(at, b)| {
        match b {
            b'\n' => comment = false,
            b'/' if bytes.get(at + 1) == Some(&b'/') => comment = true,
            _ if comment => {}
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        (depth > MAX_NESTING).then_some(at)
    })
}

/// The first name that is longer than names may be, where it stands; numbers may be longer.
fn too_long(text: &str) -> Option<Span> {
    let bytes = text.as_bytes();
    let is_word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"//") {
            at += text[at..].find('\n').unwrap_or(text.len() - at);
            continue;
        }
        let rest = &bytes[at..];
        let word = rest.iter().take_while(|&&b| is_word(b)).count();
        if word > MAX_NAME && !rest[0].is_ascii_digit() {
            return Some(Span::new(at, at + word));
        }
        at += word.max(1);
    }
    None
}

/// The text cut before each line that starts with `kernel` or `fn`.
fn declarations(text: &str) -> Vec<(usize, &str)> {
    let mut cuts = vec![0];
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if at > 0 && (line.starts_with("kernel ") || line.starts_with("fn ")) {
            cuts.push(at);
        }
        at += line.len();
    }
    cuts.push(text.len());
    cuts.windows(2).map(|w| (w[0], &text[w[0]..w[1]])).collect()
}

fn syntax_error(source: &Source, start: usize, error: &pest::error::Error<Rule>) -> Diagnostic {
    let at = start
        + match error.location {
            InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
        };
    let rest = &source.text()[at.min(source.text().len())..];
    let word = rest
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(rest.len());
    let found = rest[..word.max(rest.chars().next().map_or(0, char::len_utf8))].trim();
    let alike = rest.chars().next().and_then(look_alike);
    let found = match found {
        "" if rest.trim().is_empty() => "the end".to_owned(),
        "" => "a character that is no blank".to_owned(),
        word => format!("`{word}`"),
    };
    let message = match &error.variant {
        ErrorVariant::ParsingError { positives, .. } => {
            let mut names: Vec<&str> = positives.iter().map(|r| rule_name(*r)).collect();
            names.sort_unstable();
            names.dedup();
            match names.len() {
                1..=6 if !names.contains(&&*found) => {
                    format!("expected {}, found {found}", names.join(" or "))
                }
                _ => format!("{found} cannot stand here"),
            }
        }
        ErrorVariant::CustomError { message } => message.clone(),
    };
    let diagnostic = Diagnostic::error(message).at(source, Span::new(at, at + word.max(1)));
    // A name that goes on with a letter of another alphabet.
    let named = rest
        .char_indices()
        .take_while(|(_, c)| !"(\n{};=".contains(*c));
    let is_foreign = |(_, c): &(usize, char)| c.is_alphanumeric() && !c.is_ascii();
    let foreign = named.into_iter().find(is_foreign);
    if let Some(hint) = alike {
        return diagnostic.hint(hint);
    }
    let reserved = RESERVED.contains(&&rest[..word]);
    if let Some(hint) = misplaced(&rest[..word], &rest[word..]) {
        return diagnostic.hint(hint);
    }
    let before = &source.text()[..source.text().len() - rest.len()];
    if let Some(hint) = idiom::meant(&source.text()[start..], at - start) {
        return diagnostic.hint(hint);
    }
    if let Some(meant) = misspelt(before, rest).or_else(|| expected(&error.variant, rest)) {
        return diagnostic.hint(format!("did you mean `{meant}`?"));
    }
    if let Some((n, letter)) = foreign {
        let place = Span::new(at + n, at + n + letter.len_utf8());
        return Diagnostic::error(format!("`{letter}` cannot stand in a name"))
            .at(source, place)
            .hint("names have the letters a to z and A to Z, digits and `_`");
    }
    match rest.chars().next() {
        _ if reserved && expects_name(&error.variant, &rest[..word]) => {
            let all = RESERVED.map(|word| format!("`{word}`")).join(", ");
            diagnostic.hint(format!(
                "{found} is a word of the language; no name is one of {all}"
            ))
        }
        Some('}') => diagnostic.hint("is a `;` missing before it?"),
        _ => diagnostic,
    }
}

/// The word of the language that was meant where a name stands before another one.
fn misspelt(before: &str, rest: &str) -> Option<&'static str> {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    let apart = before.trim_end();
    let word = &apart[apart.trim_end_matches(in_word).len()..];
    let beside = apart.len() < before.len() && rest.starts_with(in_word);
    let words = || RESERVED.into_iter().chain(DIRECTIONS);
    let name = beside && word.len() > 2 && words().all(|known| known != word);
    name.then(|| suggest(word, words())).flatten()
}

/// The word of those that could stand here that was meant by the one that does.
fn expected(variant: &ErrorVariant<Rule>, rest: &str) -> Option<&'static str> {
    let rest = rest.strip_prefix('.').unwrap_or(rest);
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
    let word = &rest[..end.unwrap_or(rest.len())];
    let ErrorVariant::ParsingError { positives, .. } = variant else {
        return None;
    };
    let words = positives.iter().flat_map(|rule| words_of(*rule));
    suggest(word, words.copied()).filter(|near| *near != word && word.len() > 1)
}

/// The words that a rule begins with.
fn words_of(rule: Rule) -> &'static [&'static str] {
    match rule {
        Rule::file => &["kernel", "fn"],
        Rule::kernel | Rule::word_kernel => &["kernel"],
        Rule::function | Rule::word_fn => &["fn"],
        Rule::requires | Rule::word_requires => &["requires"],
        Rule::schedule | Rule::word_schedule => &["schedule"],
        Rule::direction => &DIRECTIONS,
        Rule::pad => &["pad"],
        Rule::clamped | Rule::subscript => &["clamped"],
        Rule::word_in => &["in"],
        Rule::word_step => &["step"],
        Rule::word_at => &["at"],
        Rule::word_by => &["by"],
        Rule::for_stmt | Rule::word_for => &["for"],
        Rule::let_stmt | Rule::word_let => &["let"],
        Rule::var_stmt | Rule::word_var => &["var"],
        Rule::reassociate => &["reassociate"],
        _ => &[],
    }
}

/// Which way data of a parameter goes; names may be these words.
const DIRECTIONS: [&str; 3] = ["in", "out", "inout"];

/// Where a part of a kernel belongs that was found somewhere else.
fn misplaced(word: &str, then: &str) -> Option<&'static str> {
    let next = then.trim_start().chars().next()?;
    match word {
        "schedule" if next == '{' => {
            Some("one schedule stands behind the body: `kernel k(…) { … } schedule { … }`")
        }
        "schedule" if next.is_alphanumeric() || next == '_' => Some(
            "a schedule has no name, it is that of the kernel before it: `kernel k(…) { … } schedule { … }`",
        ),
        "requires" if next.is_alphanumeric() || next == '(' => {
            Some("conditions stand before the body: `kernel k(…) requires n % 8 == 0 { … }`")
        }
        _ => None,
    }
}

/// The words that no name is: `keyword` of the grammar.
const RESERVED: [&str; 11] = [
    "by",
    "fn",
    "for",
    "in",
    "kernel",
    "let",
    "reassociate",
    "requires",
    "schedule",
    "step",
    "var",
];

/// Whether a name could stand where this word of the language does; a new kernel is rather one
/// whose predecessor is not closed.
fn expects_name(variant: &ErrorVariant<Rule>, word: &str) -> bool {
    let may_be_name = |rule: &Rule| match rule_name(*rule) {
        "a name" | "a parameter" => true,
        "a statement" | "an expression" => word != "kernel",
        _ => false,
    };
    matches!(variant, ErrorVariant::ParsingError { positives, .. } if positives.iter().any(may_be_name))
}

/// What a rule is called in messages.
fn rule_name(rule: Rule) -> &'static str {
    match rule {
        Rule::EOI => "the end",
        Rule::file | Rule::kernel | Rule::function => "`kernel` or `fn`",
        Rule::word_kernel => "`kernel`",
        Rule::word_fn => "`fn`",
        Rule::param | Rule::fparam => "a parameter",
        Rule::ident => "a name",
        Rule::number | Rule::decimal => "a number",
        Rule::reassociate => "`reassociate`",
        Rule::operator => "an operator",
        Rule::assign_op => "`=` or `+=`",
        Rule::block => "`{`",
        Rule::for_stmt | Rule::let_stmt | Rule::var_stmt | Rule::assign_stmt => "a statement",
        Rule::word_for | Rule::word_let | Rule::word_var => "a statement",
        Rule::subscript | Rule::index | Rule::clamped => "an index",
        Rule::body => "`=` or `{`",
        Rule::word_in => "`in`",
        Rule::token_open => "`(`",
        Rule::token_close => "`)`",
        Rule::token_end_index => "`]`",
        Rule::token_semicolon => "`;`",
        Rule::token_arrow => "`->`",
        Rule::token_colon => "`:`",
        Rule::token_dots => "`..`",
        Rule::token_equals => "`=`",
        Rule::range_mark => "`..+`",
        Rule::dims => "dimensions",
        Rule::pad => "`pad`",
        Rule::requires | Rule::word_requires => "`requires`",
        Rule::schedule | Rule::word_schedule => "`schedule`",
        Rule::word_step => "`step`",
        Rule::word_at => "`at`",
        Rule::word_by => "`by`",
        Rule::direction => "`in`, `out` or `inout`",
        Rule::directive | Rule::word => "a directive",
        _ => "an expression",
    }
}

/// Turns pest's pairs into the syntax tree.
struct Builder<'s> {
    source: &'s Source,
    start: usize,
    /// How deep the expression is that is being built.
    levels: Cell<usize>,
}

/// A node that the grammar promises.
const PROMISED: &str = "the grammar promises this part";

impl Builder<'_> {
    fn span(&self, pair: &Pair<Rule>) -> Span {
        let span = pair.as_span();
        Span::new(span.start(), span.end()).moved(self.start)
    }

    fn ident(&self, pair: &Pair<Rule>) -> Ident {
        Ident {
            name: pair.as_str().to_owned(),
            span: self.span(pair),
        }
    }

    fn next_ident(&self, pairs: &mut Pairs<Rule>) -> Ident {
        self.ident(&pairs.next().expect(PROMISED))
    }

    fn kernel(&self, pair: Pair<Rule>, out: &mut Vec<Diagnostic>) -> Option<Kernel> {
        let span = self.span(&pair);
        let before = out.len();
        let mut inner = pair.into_inner();
        let name = self.next_ident(&mut inner);
        let mut kernel = Kernel {
            name,
            params: Vec::new(),
            requires: Vec::new(),
            body: Vec::new(),
            schedule: Vec::new(),
            span,
        };
        for part in inner {
            match part.as_rule() {
                Rule::param => kernel.params.push(self.param(part, out)),
                Rule::requires => {
                    kernel.requires = part.into_inner().map(|e| self.expr(e, out)).collect()
                }
                Rule::block => kernel.body = self.block(part, out),
                _ => kernel.schedule = part.into_inner().map(|d| self.directive(d)).collect(),
            }
        }
        (out.len() == before).then_some(kernel)
    }

    fn directive(&self, pair: Pair<Rule>) -> DirectiveText {
        let span = self.span(&pair);
        DirectiveText {
            words: pair.into_inner().map(|w| self.ident(&w)).collect(),
            span,
        }
    }

    fn param(&self, pair: Pair<Rule>, out: &mut Vec<Diagnostic>) -> Param {
        let mut inner = pair.into_inner().peekable();
        let name = self.ident(&inner.next().expect(PROMISED));
        let direction =
            inner
                .next_if(|p| p.as_rule() == Rule::direction)
                .map(|p| match p.as_str() {
                    "in" => Direction::In,
                    "out" => Direction::Out,
                    _ => Direction::InOut,
                });
        let ty = self.ident(&inner.next().expect(PROMISED));
        let dims = inner
            .next()
            .map_or_else(Dims::default, |d| self.dims(d, out));
        Param {
            name,
            direction,
            ty,
            dims,
        }
    }

    fn dims(&self, pair: Pair<Rule>, out: &mut Vec<Diagnostic>) -> Dims {
        let mut dims = Dims::default();
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::expr => dims.sizes.push(self.expr(part, out)),
                Rule::number => dims.pad = Some((self.number(&part, out), self.span(&part))),
                _ => {}
            }
        }
        dims
    }

    fn exprs(&self, pair: Pair<Rule>, out: &mut Vec<Diagnostic>) -> Vec<Expr> {
        pair.into_inner().map(|e| self.expr(e, out)).collect()
    }

    fn function(&self, pair: Pair<Rule>, out: &mut Vec<Diagnostic>) -> Option<Function> {
        let before = out.len();
        let mut inner = pair.into_inner().peekable();
        let name = self.ident(&inner.next().expect(PROMISED));
        let mut params = Vec::new();
        while let Some(p) = inner.next_if(|p| p.as_rule() == Rule::fparam) {
            let mut p = p.into_inner();
            params.push((self.next_ident(&mut p), self.next_ident(&mut p)));
        }
        let result = self.ident(&inner.next().expect(PROMISED));
        let mut body = inner.next().expect(PROMISED).into_inner().peekable();
        let mut lets = Vec::new();
        while let Some(l) = body.next_if(|p| p.as_rule() == Rule::let_stmt) {
            lets.push(self.let_stmt(l, out));
        }
        let value = self.expr(body.next().expect(PROMISED), out);
        (out.len() == before).then_some(Function {
            name,
            params,
            result,
            lets,
            value,
        })
    }

    fn block(&self, pair: Pair<Rule>, out: &mut Vec<Diagnostic>) -> Vec<Stmt> {
        pair.into_inner()
            .filter_map(|s| self.statement(s, out))
            .collect()
    }

    fn statement(&self, pair: Pair<Rule>, out: &mut Vec<Diagnostic>) -> Option<Stmt> {
        let span = self.span(&pair);
        match pair.as_rule() {
            Rule::for_stmt => Some(self.for_stmt(pair, out)),
            Rule::let_stmt => Some(Stmt::Let(self.let_stmt(pair, out))),
            Rule::var_stmt => {
                let mut inner = pair.into_inner().peekable();
                let name = self.ident(&inner.next().expect(PROMISED));
                let ty = self.ident(&inner.next().expect(PROMISED));
                let dims = inner.next_if(|p| p.as_rule() == Rule::dims);
                let dims = dims.map_or_else(Dims::default, |d| self.dims(d, out));
                let init = inner.next().map(|e| self.expr(e, out));
                Some(Stmt::Var {
                    name,
                    ty,
                    dims,
                    init,
                })
            }
            Rule::function => self.function(pair, out).map(Stmt::Function),
            _ => {
                let mut inner = pair.into_inner().peekable();
                let reassociate = inner.next_if(|p| p.as_rule() == Rule::reassociate);
                let reassociate = reassociate.map(|p| self.span(&p));
                let target = self.ident(&inner.next().expect(PROMISED));
                let subscript = inner.next_if(|p| p.as_rule() == Rule::subscript);
                let subscript = subscript.map(|s| self.subscript(s, out));
                let accumulate = inner.next().expect(PROMISED).as_str() == "+=";
                let value = self.expr(inner.next().expect(PROMISED), out);
                Some(Stmt::Assign {
                    target,
                    subscript,
                    accumulate,
                    reassociate,
                    value,
                    span,
                })
            }
        }
    }

    fn for_stmt(&self, pair: Pair<Rule>, out: &mut Vec<Diagnostic>) -> Stmt {
        let mut inner = pair.into_inner().peekable();
        let var = self.ident(&inner.next().expect(PROMISED));
        let lo = self.expr(inner.next().expect(PROMISED), out);
        let hi = self.expr(inner.next().expect(PROMISED), out);
        let step = inner.next_if(|p| p.as_rule() == Rule::number);
        let step = step.map(|s| (self.number(&s, out), self.span(&s)));
        let at = inner.next_if(|p| p.as_rule() == Rule::at);
        let at = at
            .and_then(|p| p.into_inner().next())
            .map(|e| self.expr(e, out));
        let body = self.block(inner.next().expect(PROMISED), out);
        Stmt::For {
            var,
            lo,
            hi,
            step,
            at,
            body,
        }
    }

    fn let_stmt(&self, pair: Pair<Rule>, out: &mut Vec<Diagnostic>) -> Let {
        let mut inner = pair.into_inner().peekable();
        let name = self.ident(&inner.next().expect(PROMISED));
        let ty = inner
            .next_if(|p| p.as_rule() == Rule::ident)
            .map(|t| self.ident(&t));
        let value = self.expr(inner.next().expect(PROMISED), out);
        Let { name, ty, value }
    }

    fn number(&self, pair: &Pair<Rule>, out: &mut Vec<Diagnostic>) -> i128 {
        let digits = pair.as_str().replace('_', "");
        let value = match digits.strip_prefix("0x") {
            Some(hex) => i128::from_str_radix(hex, 16),
            None => digits.parse(),
        };
        value.ok().filter(|v| *v < 1 << 64).unwrap_or_else(|| {
            out.push(
                Diagnostic::error("this number does not fit 64 bits")
                    .at(self.source, self.span(pair)),
            );
            0
        })
    }

    fn subscript(&self, pair: Pair<Rule>, out: &mut Vec<Diagnostic>) -> Subscript {
        let span = self.span(&pair);
        let mut subscript = Subscript {
            clamped: false,
            entries: Vec::new(),
            span,
        };
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::clamped => subscript.clamped = true,
                _ => subscript.entries.push(self.entry(part, out)),
            }
        }
        subscript
    }

    fn entry(&self, pair: Pair<Rule>, out: &mut Vec<Diagnostic>) -> IndexEntry {
        let span = self.span(&pair);
        let mut inner = pair.into_inner();
        let start = self.expr(inner.next().expect(PROMISED), out);
        let range = inner.next().map(|_mark| {
            let count = self.number(&inner.next().expect(PROMISED), out);
            (count, inner.next().map(|by| self.expr(by, out)))
        });
        IndexEntry { start, range, span }
    }

    /// What `build` makes one level or more below the present one, unless that is too deep.
    fn deeper(
        &self,
        by: usize,
        span: Span,
        out: &mut Vec<Diagnostic>,
        build: impl FnOnce(&mut Vec<Diagnostic>) -> Expr,
    ) -> Expr {
        let above = self.levels.get();
        if above + by > MAX_LEVELS {
            let message = format!("this expression is more than {MAX_LEVELS} levels deep");
            let hint = "name parts of it with `let`";
            out.push(Diagnostic::error(message).at(self.source, span).hint(hint));
            return Expr {
                kind: ExprKind::Int(0),
                span,
            };
        }
        self.levels.set(above + by);
        let built = build(out);
        self.levels.set(above);
        built
    }

    fn expr(&self, pair: Pair<Rule>, out: &mut Vec<Diagnostic>) -> Expr {
        let span = self.span(&pair);
        let operands = pair.clone().into_inner().count().div_ceil(2);
        let by = operands.min(MAX_OPERANDS);
        self.deeper(by, span, out, |out| self.joined(pair, out))
    }

    /// Precedence climbing over `unary (operator unary)*`.
    fn joined(&self, pair: Pair<Rule>, out: &mut Vec<Diagnostic>) -> Expr {
        let (span, mut count) = (self.span(&pair), 1);
        let mut inner = pair.into_inner();
        let first = self.unary(inner.next().expect(PROMISED), out);
        let mut values = vec![first];
        let mut operators: Vec<(BinaryOp, u8)> = Vec::new();
        while let Some(operator) = inner.next() {
            count += 1;
            if count > MAX_OPERANDS {
                inner.next();
                continue;
            }
            let row = BinaryOp::TABLE
                .iter()
                .find(|row| row.1 == operator.as_str());
            let &(op, _, binding) = row.expect("the grammar lists the operators of the table");
            while operators
                .last()
                .is_some_and(|&(_, before)| before >= binding)
            {
                reduce(&mut values, &mut operators);
            }
            operators.push((op, binding));
            values.push(self.unary(inner.next().expect(PROMISED), out));
        }
        while !operators.is_empty() {
            reduce(&mut values, &mut operators);
        }
        if count > MAX_OPERANDS {
            let message = format!("an expression has at most {MAX_OPERANDS} operands in a row");
            let hint = "name parts of it with `let`";
            out.push(Diagnostic::error(message).at(self.source, span).hint(hint));
            return Expr {
                kind: ExprKind::Int(0),
                span,
            };
        }
        values
            .pop()
            .expect("one value is left when all operators are applied")
    }

    fn unary(&self, pair: Pair<Rule>, out: &mut Vec<Diagnostic>) -> Expr {
        let span = self.span(&pair);
        let signs = pair.clone().into_inner().count() - 1;
        self.deeper(signs, span, out, |out| self.signed(pair, out))
    }

    fn signed(&self, pair: Pair<Rule>, out: &mut Vec<Diagnostic>) -> Expr {
        let span = self.span(&pair);
        let mut prefixes = Vec::new();
        let mut value = None;
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::prefix => prefixes.push((
                    self.span(&part),
                    match part.as_str() {
                        "-" => UnaryOp::Neg,
                        "~" => UnaryOp::Not,
                        _ => UnaryOp::LogicalNot,
                    },
                )),
                _ => value = Some(self.postfix(part, out)),
            }
        }
        let value = value.expect(PROMISED);
        prefixes
            .into_iter()
            .rev()
            .fold(value, |value, (at, op)| Expr {
                kind: ExprKind::Unary(op, Box::new(value)),
                span: at.to(span),
            })
    }

    fn postfix(&self, pair: Pair<Rule>, out: &mut Vec<Diagnostic>) -> Expr {
        let span = self.span(&pair);
        let subscripts = pair.clone().into_inner().count() - 1;
        self.deeper(subscripts, span, out, |out| self.subscripted(pair, out))
    }

    fn subscripted(&self, pair: Pair<Rule>, out: &mut Vec<Diagnostic>) -> Expr {
        let mut inner = pair.into_inner();
        let base = self.primary(inner.next().expect(PROMISED), out);
        inner.fold(base, |base, s| {
            let subscript = self.subscript(s, out);
            let span = base.span.to(subscript.span);
            Expr {
                kind: ExprKind::Access {
                    base: Box::new(base),
                    subscript,
                },
                span,
            }
        })
    }

    fn primary(&self, pair: Pair<Rule>, out: &mut Vec<Diagnostic>) -> Expr {
        let span = self.span(&pair);
        let part = pair.into_inner().next().expect(PROMISED);
        let kind = match part.as_rule() {
            Rule::number => ExprKind::Int(self.number(&part, out)),
            Rule::decimal => ExprKind::Decimal(part.as_str().to_owned()),
            Rule::ident => ExprKind::Name(part.as_str().to_owned()),
            Rule::vector => ExprKind::Vector(self.exprs(part, out)),
            Rule::call => {
                let mut inner = part.into_inner();
                let callee = self.next_ident(&mut inner);
                ExprKind::Call {
                    callee,
                    args: inner.map(|e| self.expr(e, out)).collect(),
                }
            }
            _ => {
                return Expr {
                    span,
                    ..self.expr(part, out)
                };
            }
        };
        Expr { kind, span }
    }
}

fn reduce(values: &mut Vec<Expr>, operators: &mut Vec<(BinaryOp, u8)>) {
    let (op, _) = operators.pop().expect("the caller saw an operator");
    let right = values.pop().expect("each operator has a right operand");
    let left = values.pop().expect("each operator has a left operand");
    let span = left.span.to(right.span);
    values.push(Expr {
        kind: ExprKind::Binary(op, Box::new(left), Box::new(right)),
        span,
    });
}

#[cfg(test)]
mod tests;
