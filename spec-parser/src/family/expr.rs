//! The expressions inside placeholders: small integer arithmetic over axis variables.
//!
//! In: the text between `{` and `}` and the variables of one expansion. Out: an integer or a
//! string. It has no loops, no assignment and no access to anything but its variables.
//!
//! Grammar, loosest first: `c ? x : y`, `||`, `&&`, comparisons, `+ -`, `* / %`, unary `-`,
//! then integers, names, `'text'`, `(…)`, `min(x, y)`, `max(x, y)`, `log2(x)`.

use std::collections::BTreeMap;
use std::fmt;

/// What a variable is bound to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Value {
    /// A number.
    Int(i64),
    /// A piece of text.
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Int(n) => write!(f, "{n}"),
            Value::Text(t) => f.write_str(t),
        }
    }
}

/// The variables of one expansion.
pub(crate) type Bindings = BTreeMap<String, Value>;

/// A parsed expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Expr {
    /// A literal.
    Literal(Value),
    /// A variable.
    Name(String),
    /// `-x`.
    Negate(Box<Expr>),
    /// `x op y`.
    Binary(Operator, Box<Expr>, Box<Expr>),
    /// `c ? x : y`.
    Choose(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `f(x, …)`.
    Call(Function, Vec<Expr>),
}

/// A binary operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operator {
    Or,
    And,
    Equal,
    Differs,
    AtMost,
    AtLeast,
    Below,
    Above,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// A function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Function {
    Min,
    Max,
    Log2,
}

/// Binary operators by precedence, loosest first; longer spellings before their prefixes.
const LEVELS: &[&[(&str, Operator)]] = &[
    &[("||", Operator::Or)],
    &[("&&", Operator::And)],
    &[
        ("==", Operator::Equal),
        ("!=", Operator::Differs),
        ("<=", Operator::AtMost),
        (">=", Operator::AtLeast),
        ("<", Operator::Below),
        (">", Operator::Above),
    ],
    &[("+", Operator::Add), ("-", Operator::Subtract)],
    &[
        ("*", Operator::Multiply),
        ("/", Operator::Divide),
        ("%", Operator::Remainder),
    ],
];

/// The deepest nesting of an expression.
const DEPTH: usize = 40;

impl Expr {
    /// Reads an expression; the error is a sentence and a byte offset.
    pub(crate) fn parse(text: &str) -> Result<Expr, (String, usize)> {
        let mut parser = Parser {
            text,
            at: 0,
            depth: 0,
        };
        let expr = parser.choose()?;
        parser.skip_blank();
        if parser.at < text.len() {
            return Err(("unexpected text after an expression".into(), parser.at));
        }
        Ok(expr)
    }

    /// The value; the error is a sentence.
    pub(crate) fn eval(&self, bindings: &Bindings) -> Result<Value, Fault> {
        match self {
            Expr::Literal(value) => Ok(value.clone()),
            Expr::Name(name) => bindings
                .get(name)
                .cloned()
                .ok_or_else(|| Fault::Unknown(name.clone())),
            Expr::Negate(x) => {
                let x = x.eval_int(bindings)?;
                x.checked_neg().map(Value::Int).ok_or(Fault::Overflow)
            }
            Expr::Choose(c, x, y) => {
                let arm = if c.eval_int(bindings)? != 0 { x } else { y };
                arm.eval(bindings)
            }
            Expr::Call(function, args) => call(*function, args, bindings),
            Expr::Binary(op, x, y) => binary(*op, x, y, bindings),
        }
    }

    /// The value, which must be a number.
    pub(crate) fn eval_int(&self, bindings: &Bindings) -> Result<i64, Fault> {
        match self.eval(bindings)? {
            Value::Int(n) => Ok(n),
            Value::Text(t) => Err(Fault::NotANumber(t)),
        }
    }
}

/// Why an expression has no value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// No axis binds this variable.
    Unknown(String),
    /// A text where a number is needed.
    NotANumber(String),
    /// Division by zero.
    DivisionByZero,
    /// The result does not fit in 64 bits, or a logarithm of a number below 1.
    Overflow,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Unknown(name) => write!(f, "unknown placeholder variable `{name}`"),
            Fault::NotANumber(text) => write!(f, "`{text}` is text where a number is needed"),
            Fault::DivisionByZero => f.write_str("division by zero in a placeholder"),
            Fault::Overflow => f.write_str("the value of a placeholder is out of range"),
        }
    }
}

fn binary(op: Operator, x: &Expr, y: &Expr, bindings: &Bindings) -> Result<Value, Fault> {
    if matches!(op, Operator::Equal | Operator::Differs) {
        let same = x.eval(bindings)? == y.eval(bindings)?;
        return Ok(Value::Int(i64::from(same == (op == Operator::Equal))));
    }
    let x = x.eval_int(bindings)?;
    if op == Operator::And && x == 0 {
        return Ok(Value::Int(0));
    }
    if op == Operator::Or && x != 0 {
        return Ok(Value::Int(1));
    }
    let y = y.eval_int(bindings)?;
    if matches!(op, Operator::Divide | Operator::Remainder) && y == 0 {
        return Err(Fault::DivisionByZero);
    }
    let value = match op {
        Operator::Or | Operator::And => Some(i64::from(y != 0)),
        Operator::Equal | Operator::Differs => unreachable!("compared above"),
        Operator::AtMost => Some(i64::from(x <= y)),
        Operator::AtLeast => Some(i64::from(x >= y)),
        Operator::Below => Some(i64::from(x < y)),
        Operator::Above => Some(i64::from(x > y)),
        Operator::Add => x.checked_add(y),
        Operator::Subtract => x.checked_sub(y),
        Operator::Multiply => x.checked_mul(y),
        Operator::Divide => x.checked_div(y),
        Operator::Remainder => x.checked_rem(y),
    };
    value.map(Value::Int).ok_or(Fault::Overflow)
}

fn call(function: Function, args: &[Expr], bindings: &Bindings) -> Result<Value, Fault> {
    let args: Vec<i64> = args
        .iter()
        .map(|a| a.eval_int(bindings))
        .collect::<Result<_, _>>()?;
    let value = match function {
        Function::Min => args.iter().copied().min(),
        Function::Max => args.iter().copied().max(),
        Function::Log2 => args.first().and_then(|a| a.checked_ilog2()).map(i64::from),
    };
    value.map(Value::Int).ok_or(Fault::Overflow)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

type Parsed = Result<Expr, (String, usize)>;

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_blank(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn eat(&mut self, token: &str) -> bool {
        self.skip_blank();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn expect(&mut self, token: &str) -> Result<(), (String, usize)> {
        if self.eat(token) {
            Ok(())
        } else {
            Err((format!("expected `{token}`"), self.at))
        }
    }

    fn choose(&mut self) -> Parsed {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(("the expression is nested too deeply".into(), self.at));
        }
        let condition = self.level(0)?;
        let expr = if self.eat("?") {
            let x = self.choose()?;
            self.expect(":")?;
            let y = self.choose()?;
            Expr::Choose(Box::new(condition), Box::new(x), Box::new(y))
        } else {
            condition
        };
        self.depth -= 1;
        Ok(expr)
    }

    fn level(&mut self, level: usize) -> Parsed {
        let Some(operators) = LEVELS.get(level) else {
            return self.unary();
        };
        let mut left = self.level(level + 1)?;
        while let Some(&(_, op)) = operators.iter().find(|(token, _)| self.eat(token)) {
            let right = self.level(level + 1)?;
            left = Expr::Binary(op, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed {
        if self.eat("-") {
            self.depth += 1;
            if self.depth > DEPTH {
                return Err(("the expression is nested too deeply".into(), self.at));
            }
            let x = self.unary()?;
            self.depth -= 1;
            return Ok(Expr::Negate(Box::new(x)));
        }
        self.atom()
    }

    fn atom(&mut self) -> Parsed {
        self.skip_blank();
        let start = self.at;
        if self.eat("(") {
            let inner = self.choose()?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.eat("'") {
            let Some(length) = self.rest().find('\'') else {
                return Err(("the text has no closing quote".into(), start));
            };
            let text = self.rest()[..length].to_owned();
            self.at += length + 1;
            return Ok(Expr::Literal(Value::Text(text)));
        }
        let length = self
            .rest()
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .unwrap_or(self.rest().len());
        let word = &self.rest()[..length];
        if word.is_empty() {
            return Err(("expected a number, a variable or `(`".into(), start));
        }
        self.at += length;
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return match word.parse() {
                Ok(n) => Ok(Expr::Literal(Value::Int(n))),
                Err(_) => Err((format!("`{word}` is not a number"), start)),
            };
        }
        if self.eat("(") {
            return self.arguments(word, start);
        }
        Ok(Expr::Name(word.to_owned()))
    }

    fn arguments(&mut self, word: &str, start: usize) -> Parsed {
        let (function, arity) = match word {
            "min" => (Function::Min, 2),
            "max" => (Function::Max, 2),
            "log2" => (Function::Log2, 1),
            _ => {
                return Err((
                    format!("`{word}` is not a function: there are `min`, `max` and `log2`"),
                    start,
                ));
            }
        };
        let mut args = vec![self.choose()?];
        while self.eat(",") {
            args.push(self.choose()?);
        }
        self.expect(")")?;
        if args.len() != arity {
            return Err((
                format!("`{word}` takes {arity} arguments, not {}", args.len()),
                start,
            ));
        }
        Ok(Expr::Call(function, args))
    }
}
