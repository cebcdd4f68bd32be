//! From a text of pseudocode to its tree.
//!
//! In: a text. Out: statements, or a [`Refused`] at a place of the text. It checks only the
//! grammar: names, types and sizes are checked by lowering.

use super::ast::{Expr, ExprKind, Operator, Place, Statement};
use super::grammar::{Grammar, Rule};
use crate::pseudocode::notation::parts;
use crate::pseudocode::reading::Refused;
use crate::pseudocode::tree;
use pest::Parser as _;
use pest::error::InputLocation;
use pest::iterators::Pair;
use pest::pratt_parser::{Assoc, Op, PrattParser};
use semantics::span::Span;
use std::sync::LazyLock;

/// Deeper brackets are refused: the tree is walked recursively.
const MAX_DEPTH: usize = 64;

static PRECEDENCE: LazyLock<PrattParser<Rule>> = LazyLock::new(|| {
    let left = |rule| Op::infix(rule, Assoc::Left);
    PrattParser::new()
        .op(left(Rule::op_eq) | left(Rule::op_ne))
        .op(left(Rule::op_lt) | left(Rule::op_le) | left(Rule::op_gt) | left(Rule::op_ge))
        .op(left(Rule::op_or))
        .op(left(Rule::op_xor))
        .op(left(Rule::op_and))
        .op(left(Rule::op_shl) | left(Rule::op_shr))
        .op(left(Rule::op_add) | left(Rule::op_sub))
        .op(left(Rule::op_mul) | left(Rule::op_div) | left(Rule::op_rem))
        .op(Op::prefix(Rule::neg) | Op::prefix(Rule::not))
});

/// Reads a body.
pub(crate) fn body(text: &str) -> Result<Vec<Statement>, Refused> {
    let body = parsed(Rule::body, text)?;
    statements(body)
}

/// Reads one expression, such as the value of a parameter.
pub(crate) fn formula(text: &str) -> Result<Expr, Refused> {
    let formula = parsed(Rule::formula, text)?;
    expression(
        formula
            .into_inner()
            .next()
            .expect("a formula has an expression"),
    )
}

fn parsed(rule: Rule, text: &str) -> Result<Pair<'_, Rule>, Refused> {
    let mut open = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => open.push((at, c)),
            ')' | ']' | '}' => drop(open.pop()),
            _ => {}
        }
        if open.len() > MAX_DEPTH {
            let message = format!("more than {MAX_DEPTH} brackets are open here");
            return Err(Refused::new(
                Span::new(at, at + 1),
                message,
                "name parts with `let`",
            ));
        }
    }
    let mut pairs = Grammar::parse(rule, text).map_err(|error| {
        let at = match error.location {
            InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
        };
        if let Some(refused) = without_reason(&text[..at]) {
            return refused;
        }
        let rest = &text[at..];
        if let (true, Some(&(at, bracket))) = (rest.trim().is_empty(), open.last()) {
            let message = format!("this `{bracket}` is not closed");
            return Refused::new(
                Span::new(at, at + 1),
                message,
                "close it where its part ends",
            );
        }
        let word = rest
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(rest.len());
        let length = word.max(rest.chars().next().map_or(0, char::len_utf8));
        let (what, hint) = match rule {
            Rule::formula => (
                "formula",
                "formulas are made of names, numbers, brackets, `+ - * / % << >> & | ^`",
            ),
            _ => (
                "pseudocode",
                "statements are `for i in 0..N { … }`, `let x = …`, `place = …` and `place += …`",
            ),
        };
        let hint = match &rest[..length] {
            "=" if text[..at].ends_with('=') => "`=` assigns, and `==` compares in conditions",
            ";" => "a statement ends with its line: leave the `;` out",
            _ => hint,
        };
        let message = match &rest[..length] {
            "" => format!("the {what} ends too early"),
            found => format!("unexpected `{}` in the {what}", found.escape_debug()),
        };
        Refused::new(Span::new(at, at + length.max(1)), message, hint)
    })?;
    Ok(pairs.next().expect("a rule gives one pair"))
}

/// The message for a text that ends in a `require` that does not say why.
fn without_reason(before: &str) -> Option<Refused> {
    let start = before.rfind("require")?;
    let open = before[start..].trim_end();
    let told = open.contains('"') || open.len() == "require".len();
    (!told).then(|| {
        let message = "this `require` does not say what is wrong where it does not hold";
        let hint = "write `require CONDITION, \"what is wrong\"`";
        Refused::new(Span::new(start, start + open.len()), message, hint)
    })
}

fn span(pair: &Pair<'_, Rule>) -> Span {
    tree::span(pair, 0)
}

fn statements(pair: Pair<'_, Rule>) -> Result<Vec<Statement>, Refused> {
    parts(pair).map(statement).collect()
}

fn statement(pair: Pair<'_, Rule>) -> Result<Statement, Refused> {
    let whole = span(&pair);
    let rule = pair.as_rule();
    let mut parts = parts(pair);
    let mut next = || parts.next().expect("the grammar gives every part");
    Ok(match rule {
        Rule::for_loop => Statement::For {
            name: next().as_str().to_owned(),
            low: expression(next())?,
            high: expression(next())?,
            body: statements(next())?,
            span: whole,
        },
        Rule::binding => Statement::Let {
            name: next().as_str().to_owned(),
            value: expression(next())?,
        },
        Rule::choice => Statement::If {
            condition: expression(next())?,
            then: statements(next())?,
            other: parts.next().map_or(Ok(Vec::new()), statements)?,
            span: whole,
        },
        Rule::requirement => Statement::Require {
            condition: expression(next())?,
            message: next().as_str().trim_matches('"').to_owned(),
            span: whole,
        },
        Rule::spending => Statement::Spend {
            queue: next().as_str().to_owned(),
            cycles: expression(next())?,
            span: whole,
        },
        Rule::performing => Statement::Perform {
            name: next().as_str().to_owned(),
            arguments: parts.map(expression).collect::<Result<_, _>>()?,
            span: whole,
        },
        Rule::settling => Statement::Settle { span: whole },
        Rule::blank => {
            let inner = |p: Pair<'_, Rule>| expression(p.into_inner().next().expect("an index"));
            Statement::Blank {
                name: next().as_str().to_owned(),
                element: next().as_str().to_owned(),
                rows: inner(next())?,
                columns: inner(next())?,
                span: whole,
            }
        }
        _ => Statement::Assign {
            place: place(next())?,
            adds: next().as_str() == "+=",
            value: expression(next())?,
        },
    })
}

fn place(pair: Pair<'_, Rule>) -> Result<Place, Refused> {
    let span = span(&pair);
    let mut parts = pair.into_inner().peekable();
    let name = parts
        .next()
        .expect("a place has a name")
        .as_str()
        .to_owned();
    let view = parts.next_if(|p| p.as_rule() == Rule::name);
    let indices = parts.map(|p| expression(p.into_inner().next().expect("an index")));
    Ok(Place {
        name,
        view: view.map(|v| v.as_str().to_owned()),
        indices: indices.collect::<Result<_, _>>()?,
        span,
    })
}

fn expression(pair: Pair<'_, Rule>) -> Result<Expr, Refused> {
    let merged = |a: &Expr, b: &Expr| a.span.to(b.span);
    PRECEDENCE
        .map_primary(primary)
        .map_prefix(|op, e| {
            let e = e?;
            let whole = span(&op).to(e.span);
            let kind = match op.as_rule() {
                Rule::neg => ExprKind::Negate(Box::new(e)),
                _ => ExprKind::Not(Box::new(e)),
            };
            Ok(Expr { kind, span: whole })
        })
        .map_infix(|a, op, b| {
            let (a, b) = (a?, b?);
            let span = merged(&a, &b);
            let kind = ExprKind::Binary(operator(op.as_rule()), Box::new(a), Box::new(b));
            Ok(Expr { kind, span })
        })
        .parse(pair.into_inner())
}

fn primary(pair: Pair<'_, Rule>) -> Result<Expr, Refused> {
    let span = span(&pair);
    let kind = match pair.as_rule() {
        Rule::number => {
            let text = pair.as_str();
            let value = match text.strip_prefix("0x") {
                Some(hex) => i64::from_str_radix(hex, 16),
                None => text.parse(),
            };
            let value = value.map_err(|_| {
                Refused::new(
                    span,
                    "this number is too large",
                    "numbers have up to 63 bits",
                )
            })?;
            ExprKind::Number(value)
        }
        Rule::call => {
            let mut parts = pair.into_inner();
            let name = parts.next().expect("a call has a name").as_str().to_owned();
            ExprKind::Call(name, parts.map(expression).collect::<Result<_, _>>()?)
        }
        Rule::place => ExprKind::Place(place(pair)?),
        _ => return expression(pair),
    };
    Ok(Expr { kind, span })
}

fn operator(rule: Rule) -> Operator {
    use Operator as O;
    match rule {
        Rule::op_shl => O::Shl,
        Rule::op_shr => O::Shr,
        Rule::op_eq => O::Equal,
        Rule::op_ne => O::Differs,
        Rule::op_le => O::AtMost,
        Rule::op_lt => O::Below,
        Rule::op_ge => O::AtLeast,
        Rule::op_gt => O::Above,
        Rule::op_or => O::Or,
        Rule::op_xor => O::Xor,
        Rule::op_and => O::And,
        Rule::op_add => O::Add,
        Rule::op_sub => O::Sub,
        Rule::op_mul => O::Mul,
        Rule::op_div => O::Div,
        _ => O::Rem,
    }
}
