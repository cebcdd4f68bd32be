//! The text form of programs.
//!
//! In: programs, or their text. Out: the other one. An operation is written with its numbers and
//! all its arguments: a value, a constant in the code (its width and its number), or `0` where the
//! instance has zeros. Which instances there are is asked of whoever knows the target.
//!
//! ```text
//! (program average.0
//!   (input v0 a 0 512)
//!   (input v1 b 0 512)
//!   (apply v2 average_round_up (8 64) v0 v1)
//!   (return v2))
//! ```

use super::{Argument, Bound, Formal, Instance, Node, Program, Region, Value};
use crate::lex::{fail, name, whole};
use semantics::bits::Bits;
use semantics::diagnostic::Diagnostic;
use semantics::print::variable;
use semantics::sexpr::Sexpr;
use semantics::span::Source;
use std::collections::{HashMap, HashSet};
use std::fmt::{self, Write as _};
use std::sync::Arc;

/// The widest register of a text.
const MAX_WIDTH: u32 = 1 << 16;

/// An argument of an operation as it is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Given {
    /// A value of so many bits.
    Value(Value, u32),
    /// A constant in the code.
    Immediate(Bits),
    /// Zeros.
    Zero,
}

impl Given {
    /// Whether these are arguments of an instance of such a form.
    pub fn fit(given: &[Given], arguments: &[Bound], formals: &[Formal]) -> bool {
        let mut open = formals.iter();
        given.len() == arguments.len()
            && given.iter().zip(arguments).all(|(g, bound)| match bound {
                // What accesses memory is made when a program is lowered; it is not written.
                Bound::Memory => false,
                Bound::Zero => *g == Given::Zero,
                Bound::Same(k) => given.get(*k) == Some(g),
                Bound::Open => open.next().is_some_and(|formal| g.fits(formal)),
            })
    }

    fn fits(&self, formal: &Formal) -> bool {
        match (self, formal.role.constants()) {
            (Given::Value(_, width), None) => *width == formal.width,
            (Given::Immediate(bits), Some(constants)) => {
                bits.width() == formal.width
                    && bits.to_u64().is_some_and(|value| constants.contains(value))
            }
            _ => false,
        }
    }
}

/// Who says which instance an operation with numbers and arguments is.
pub type Resolve<'a> = dyn Fn(&str, &[i64], &[Given]) -> Option<Arc<Instance>> + 'a;

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, node) in self.nodes.iter().enumerate() {
            match node {
                Node::Input { name, lo, width } => {
                    writeln!(f, "  (input v{number} {} {lo} {width})", variable(name))?;
                }
                Node::Constant(bits) => writeln!(f, "  (constant v{number} {})", constant(bits))?,
                Node::Cast { value, width } => writeln!(f, "  (cast v{number} v{value} {width})")?,
                Node::Apply { operation, args } => {
                    let text = applied(&self.operations[*operation], args);
                    writeln!(f, "  (apply v{number} {text})")?;
                }
                Node::Active { first, lanes } => {
                    writeln!(f, "  (active v{number} {first} {lanes})")?;
                }
                Node::Store { value, byte } => writeln!(f, "  (store v{value} {byte})")?,
                Node::Copy { byte, bytes } => writeln!(f, "  (copy {byte} {bytes})")?,
            }
        }
        let outputs = self.outputs.iter().map(|value| format!(" v{value}"));
        write!(f, "  (return{})", outputs.collect::<String>())
    }
}

/// An operation with its numbers and arguments.
fn applied(instance: &Instance, args: &[Argument]) -> String {
    let mut text = format!("{} (", variable(&instance.operation));
    let values: Vec<String> = instance.values.iter().map(i64::to_string).collect();
    let _ = write!(text, "{})", values.join(" "));
    let mut open = args.iter();
    let mut shown: Vec<String> = Vec::new();
    for bound in &instance.arguments {
        shown.push(match bound {
            Bound::Zero => "0".to_owned(),
            Bound::Same(k) => shown[*k].clone(),
            Bound::Memory => "memory".to_owned(),
            Bound::Open => match open.next() {
                Some(Argument::Value(v)) => format!("v{v}"),
                Some(Argument::Immediate(bits)) => constant(bits),
                Some(Argument::Address(region, byte)) => address(region, *byte),
                None => "0".to_owned(),
            },
        });
    }
    shown.iter().for_each(|arg| {
        let _ = write!(text, " {arg}");
    });
    text
}

/// A region and a byte in it.
fn address(region: &Region, byte: u32) -> String {
    match region {
        Region::Input(name) => format!("(input {} {byte})", variable(name)),
        Region::Table(bits) => format!("(table {} {byte})", constant(bits)),
        Region::Result => format!("(result {byte})"),
        Region::Scratch => format!("(scratch {byte})"),
    }
}

/// The width of a constant and its number in hexadecimal digits.
fn constant(bits: &Bits) -> String {
    let digits: String = bits
        .to_bytes()
        .iter()
        .rev()
        .map(|b| format!("{b:02x}"))
        .collect();
    let digits = digits.trim_start_matches('0');
    let digits = if digits.is_empty() { "0" } else { digits };
    format!("{}:{digits}", bits.width())
}

/// A constant from its text.
fn read_constant(text: &str) -> Option<Bits> {
    let (width, digits) = text.split_once(':')?;
    let width: u32 = width.parse().ok().filter(|w| (1..=MAX_WIDTH).contains(w))?;
    let mut bits = Bits::zero(width);
    for (k, digit) in (0..).zip(digits.chars().rev()) {
        let value = u64::from(digit.to_digit(16)?);
        for bit in (0..4).filter(|bit| value >> bit & 1 == 1) {
            bits = bits.with_bit(Some(4 * k + bit).filter(|b| *b < width)?, true);
        }
    }
    (!digits.is_empty()).then_some(bits)
}

/// The name of a program and the program, from `(program NAME …)`.
///
/// # Errors
/// Diagnostics that point into the text.
pub fn read(
    source: &Source,
    item: &Sexpr,
    resolve: &Resolve<'_>,
) -> Result<(String, Program), Vec<Diagnostic>> {
    let Some([title, items @ ..]) = item.form("program") else {
        return fail(source, item.span, "expected a program").map_err(|d| vec![d]);
    };
    let title = name(source, title).map_err(|d| vec![d])?.to_owned();
    let mut reader = Reader {
        source,
        resolve,
        program: Program::default(),
        operations: Vec::new(),
        names: HashMap::new(),
    };
    let mut wrong = Vec::new();
    // What is made of a wrong item is wrong for that reason alone.
    let mut unmade: HashSet<&str> = HashSet::new();
    for item in items {
        let mut words = item.list().into_iter().flatten().skip(1);
        let title = words.next().and_then(Sexpr::atom);
        let follows = words.filter_map(Sexpr::atom).any(|w| unmade.contains(w))
            || item.form("return").is_some() && title.is_some_and(|w| unmade.contains(w));
        match reader.item(item) {
            Err(_) if follows => unmade.extend(title),
            Err(diagnostic) => {
                wrong.push(diagnostic);
                unmade.extend(title);
            }
            Ok(()) => {}
        }
    }
    let mut program = reader.program;
    program.operations = reader.operations.into();
    if wrong.is_empty() && program.outputs.is_empty() {
        let message = format!("`{title}` returns nothing");
        let wanted = Diagnostic::error(message).at(source, item.span);
        wrong.push(wanted.hint("its last item is `(return v…)`"));
    }
    match wrong.is_empty() {
        true => Ok((title, program)),
        false => Err(wrong),
    }
}

struct Reader<'a> {
    source: &'a Source,
    resolve: &'a Resolve<'a>,
    program: Program,
    operations: Vec<Arc<Instance>>,
    names: HashMap<String, Value>,
}

impl Reader<'_> {
    fn item(&mut self, item: &Sexpr) -> Result<(), Diagnostic> {
        let source = self.source;
        let (title, node) = if let Some([title, input, lo, width]) = item.form("input") {
            let width = self.width(width)?;
            let (name, lo) = (name(source, input)?.to_owned(), whole(source, lo)?);
            (title, Node::Input { name, lo, width })
        } else if let Some([title, bits]) = item.form("constant") {
            let Some(bits) = bits.atom().and_then(read_constant) else {
                return fail(source, bits.span, "expected a constant, as `512:ff`");
            };
            (title, Node::Constant(bits))
        } else if let Some([title, value, width]) = item.form("cast") {
            let (value, width) = (self.value(value)?, self.width(width)?);
            (title, Node::Cast { value, width })
        } else if let Some([title, operation, values, args @ ..]) = item.form("apply") {
            (title, self.apply(item, operation, values, args)?)
        } else if let Some(values) = item.form("return") {
            let values = values.iter().map(|v| self.value(v));
            self.program.outputs = values.collect::<Result<_, _>>()?;
            return Ok(());
        } else {
            let what = "expected input, constant, cast, apply or return";
            return fail(source, item.span, what);
        };
        let value = self.program.add(node);
        let title = name(source, title)?;
        if self.names.insert(title.to_owned(), value).is_some() {
            return fail(source, item.span, format!("`{title}` is there already"));
        }
        Ok(())
    }

    fn width(&self, e: &Sexpr) -> Result<u32, Diagnostic> {
        match whole(self.source, e)? {
            width @ 1..=MAX_WIDTH => Ok(width),
            _ => {
                let message = format!("a register has 1 to {MAX_WIDTH} bits");
                fail(self.source, e.span, message)
            }
        }
    }

    fn value(&self, e: &Sexpr) -> Result<Value, Diagnostic> {
        let title = name(self.source, e)?;
        match self.names.get(title) {
            Some(value) => Ok(*value),
            None => {
                let message = format!("`{title}` is not made before it is used");
                fail(self.source, e.span, message)
            }
        }
    }

    fn bits_of(&self, value: Value) -> u32 {
        match self.program.node(value) {
            Node::Apply { operation, .. } => self.operations[*operation].width(),
            Node::Input { width, .. } | Node::Cast { width, .. } => *width,
            Node::Constant(bits) => bits.width(),
            Node::Active { lanes, .. } => *lanes,
            Node::Store { .. } | Node::Copy { .. } => 0,
        }
    }

    fn apply(
        &mut self,
        item: &Sexpr,
        operation: &Sexpr,
        values: &Sexpr,
        args: &[Sexpr],
    ) -> Result<Node, Diagnostic> {
        let source = self.source;
        let operation = name(source, operation)?;
        let Some(values) = values.list() else {
            return fail(
                source,
                values.span,
                "expected the operation's numbers in brackets",
            );
        };
        let values = values.iter().map(|v| whole(source, v));
        let values: Vec<i64> = values.collect::<Result<_, _>>()?;
        let mut given = Vec::new();
        for arg in args {
            given.push(match arg.atom() {
                Some("0") => Given::Zero,
                Some(text) if text.contains(':') => match read_constant(text) {
                    Some(bits) => Given::Immediate(bits),
                    None => return fail(source, arg.span, "expected a constant, as `8:3`"),
                },
                _ => {
                    let value = self.value(arg)?;
                    Given::Value(value, self.bits_of(value))
                }
            });
        }
        let Some(instance) = (self.resolve)(operation, &values, &given) else {
            let shown: Vec<String> = values.iter().map(i64::to_string).collect();
            let message = format!(
                "the target has no instruction for `{operation}` at {} with these arguments",
                shown.join(", ")
            );
            return fail(source, item.span, message);
        };
        let args = given.into_iter().zip(&instance.arguments);
        let args = args
            .filter(|(_, bound)| **bound == Bound::Open)
            .filter_map(|(g, _)| match g {
                Given::Value(v, _) => Some(Argument::Value(v)),
                Given::Immediate(bits) => Some(Argument::Immediate(bits)),
                Given::Zero => None,
            })
            .collect();
        let known = self.operations.iter().position(|o| *o == instance);
        let operation = known.unwrap_or_else(|| {
            self.operations.push(instance);
            self.operations.len() - 1
        });
        Ok(Node::Apply { operation, args })
    }
}
