//! Calls of operations in LLVM IR, lowered to the target's own intrinsics.
//!
//! In: a module as text that calls `@autoir.NAME`, constants where the operation wants them,
//! and a dictionary. Out: [`Plan`]: the module with a function for each operation and set of
//! constants in place of these calls, and C whose compilation gives their bodies; then
//! [`Plan::module`], all of it. A parameter of a function can be no constant of an intrinsic:
//! so constants go into the functions' names and bodies. Of the module nothing but these
//! calls is read; the rest is LLVM's business. It runs no compiler.

mod text;

use super::features;
use crate::artefact::Set;
use crate::header::{Function, functions};
use autoir::dictionary::Dictionary;
use semantics::diagnostic::{Diagnostic, suggest};
use semantics::instruction::{Constants, Operand};
use semantics::span::{Source, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use text::{Argument, call_before, defined, list, split, types};

/// For how many unknown names the nearest one is told.
const SUGGESTED: usize = 10;

/// What the operations are called in LLVM IR.
const PREFIX: &str = "@autoir.";

/// What an operation is called in LLVM IR.
pub(super) fn symbol(variant: &str) -> String {
    format!("autoir.{}", variant.replace('_', "."))
}

/// A function that is wanted: an operation with its constants.
struct Wanted<'d> {
    function: usize,
    symbol: String,
    constants: BTreeMap<&'d str, i64>,
    /// Where it was first called, and the types of the arguments there.
    place: Span,
    given: Vec<String>,
}

/// A module to be lowered.
pub struct Plan<'s, 'd> {
    source: &'s Source,
    functions: Vec<Function<'d>>,
    set: &'d Set,
    wanted: Vec<Wanted<'d>>,
    text: String,
    /// Where the lines of the text stand in the source.
    lines: Vec<usize>,
    /// How many names were of no operation.
    unknown: usize,
}

/// Reads a module and finds its calls.
///
/// # Errors
/// Every call of no operation of the set, with too few arguments, or without a constant where one
/// is needed; every other use of an operation's name.
pub fn plan<'s, 'd>(
    source: &'s Source,
    dictionary: &'d Dictionary,
    set: &'d Set,
) -> Result<Plan<'s, 'd>, Vec<Diagnostic>> {
    let functions = functions(dictionary, set);
    let names: BTreeMap<String, usize> = functions
        .iter()
        .enumerate()
        .map(|(k, f)| (symbol(&f.variant.name), k))
        .collect();
    let mut plan = Plan {
        source,
        functions,
        set,
        wanted: Vec::new(),
        text: String::new(),
        lines: Vec::new(),
        unknown: 0,
    };
    let (mut wrong, mut begin) = (Vec::new(), 0);
    for line in source.text().split_inclusive('\n') {
        let made = match line
            .split(';')
            .next()
            .is_some_and(|code| code.contains(PREFIX))
        {
            true => plan.line(line, begin, &names),
            false => Ok(line.to_owned()),
        };
        match made {
            Ok(line) => {
                plan.text.push_str(&line);
                plan.lines.extend((!line.is_empty()).then_some(begin));
            }
            Err(diagnostic) => wrong.push(*diagnostic),
        }
        begin += line.len();
    }
    if wrong.is_empty() {
        Ok(plan)
    } else {
        Err(wrong)
    }
}

impl<'d> Plan<'_, 'd> {
    /// A line with an operation's name in it, as it is in the result.
    fn line(
        &mut self,
        line: &str,
        begin: usize,
        names: &BTreeMap<String, usize>,
    ) -> Result<String, Box<Diagnostic>> {
        let at = line.find(PREFIX).expect("asked by the caller");
        if line.trim_start().starts_with("declare ") {
            return Ok(String::new());
        }
        let rest = &line[at + 1..];
        let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "._".contains(c)));
        let name = &rest[..length.unwrap_or(rest.len())];
        let end = at + 1 + name.len();
        let place = Span::new(begin + at, begin + end);
        let source = self.source;
        let reported = |message: String, hint: String| {
            Box::new(Diagnostic::error(message).at(source, place).hint(hint))
        };
        let Some(&found) = names.get(name) else {
            // A name is compared with thousands: not for a file that is of something else.
            self.unknown += 1;
            let near = (self.unknown <= SUGGESTED)
                .then(|| suggest(name, names.keys().map(String::as_str)))
                .flatten();
            let hint = match near {
                Some(near) => format!("did you mean `@{near}`?"),
                None => {
                    let isa = &self.set.isa;
                    format!("`autoir_{isa}_calls.ll` of a build declares all of them")
                }
            };
            return Err(reported(
                format!("there is no operation `@{name}` of {}", self.set.isa),
                hint,
            ));
        };
        let (true, Some((arguments, after))) = (call_before(&line[..at]), list(&line[end..]))
        else {
            let hint = "only calls on one line are lowered".to_owned();
            return Err(reported(format!("`@{name}` is used, not called"), hint));
        };
        if after.contains(PREFIX) {
            return Err(reported(
                "two calls on a line".to_owned(),
                "one a line".to_owned(),
            ));
        }
        let arguments: Vec<Argument<'_>> = split(arguments);
        let parameters: Vec<&'d Operand> = self.functions[found].parameters();
        if arguments.len() != parameters.len() {
            let (own, wanted) = (arguments.len(), parameters.len());
            let names: Vec<&str> = parameters.iter().map(|o| o.name.as_str()).collect();
            let hint = format!("they are {}", names.join(", "));
            return Err(reported(
                format!("`@{name}` has {wanted} arguments, not {own}"),
                hint,
            ));
        }
        let (mut constants, mut given, mut kept) = (BTreeMap::new(), Vec::new(), Vec::new());
        let mut symbol = name.to_owned();
        for (argument, operand) in arguments.iter().zip(parameters) {
            let Some(allowed) = operand.role.constants() else {
                given.push(argument.ty.to_owned());
                kept.push(argument.text);
                continue;
            };
            let value = argument.value.parse::<i64>().ok();
            let fits = |n: &i64| u64::try_from(*n).is_ok_and(|n| allowed.contains(n));
            let Some(value) = value.filter(fits) else {
                let (own, of) = (argument.value, &operand.name);
                let message = format!("`{own}` is no constant that `{of}` of `@{name}` takes");
                return Err(reported(message, format!("it must be {}", range(allowed))));
            };
            let _ = write!(symbol, ".c{value}");
            constants.insert(operand.name.as_str(), value);
        }
        let text = format!("{}@{symbol}({}){after}", &line[..at], kept.join(", "));
        match self.wanted.iter().find(|w| w.symbol == symbol) {
            Some(known) if known.given != given => {
                let message = format!("`@{name}` is called with other types than before");
                return Err(reported(
                    message,
                    format!("before: {}", known.given.join(", ")),
                ));
            }
            Some(_) => {}
            None => self.wanted.push(Wanted {
                function: found,
                symbol,
                constants,
                place,
                given,
            }),
        }
        Ok(text)
    }

    /// What a compiler says of a line of the lowered module, counted from 1: it points at that line
    /// of the source where it is one of these.
    pub fn reported(&self, line: usize, message: &str) -> Diagnostic {
        let diagnostic = Diagnostic::error(message);
        let place = line.checked_sub(1).and_then(|line| self.lines.get(line));
        match place {
            Some(&begin) => {
                let rest = self.source.text()[begin..].lines().next();
                let end = begin + rest.map_or(0, str::len);
                diagnostic.at(self.source, Span::new(begin, end))
            }
            None => diagnostic,
        }
    }

    /// Whether there is anything to lower.
    pub fn is_empty(&self) -> bool {
        self.wanted.is_empty()
    }

    /// C whose functions `w0`, `w1`, … have the bodies that are wanted, a line each; without
    /// those of the lines of an earlier text, counted from 1, that are `refused`.
    pub fn c(&self, refused: &BTreeSet<usize>) -> String {
        let headers = self.set.headers.iter();
        let headers = headers.map(|header| format!("#include <{header}>"));
        let mut text = String::new();
        for line in headers.chain(self.set.prelude.iter().cloned()) {
            let _ = writeln!(text, "{line}");
        }
        let head = text.lines().count();
        for (number, wanted) in self.wanted.iter().enumerate() {
            if refused.contains(&(head + number + 1)) {
                text.push('\n');
                continue;
            }
            let function = &self.functions[wanted.function];
            let parameters = function.parameters().into_iter();
            let typed = parameters.filter(|o| !o.role.is_constant()).map(|o| {
                let ty = function.c_type(&o.c_type);
                format!("{ty} {}", o.name)
            });
            let typed = typed.collect::<Vec<_>>().join(", ");
            let argument = |o: &Operand| match wanted.constants.get(o.name.as_str()) {
                Some(value) => format!("({})({value})", function.c_type(&o.c_type)),
                None => o.name.clone(),
            };
            let arguments = function.member.operands.iter().map(argument);
            let arguments = arguments.collect::<Vec<_>>().join(", ");
            let (result, name) = (function.result(), &function.member.name);
            let back = if result == "void" { "" } else { "return " };
            let _ = writeln!(
                text,
                "{result} w{number}({typed}) {{ {back}{name}({arguments}); }}"
            );
        }
        text
    }

    /// The module, with the functions that are wanted as `compiled` has them: the text that
    /// clang makes of [`Plan::c`].
    ///
    /// # Errors
    /// Calls whose arguments have other types, and functions that are not there.
    pub fn module(&self, compiled: &str) -> Result<String, Vec<Diagnostic>> {
        let found = defined(compiled);
        let mut text = self.text.clone();
        let mut wrong = Vec::new();
        for (number, wanted) in self.wanted.iter().enumerate() {
            let function = &self.functions[wanted.function];
            let at = |d: Diagnostic| d.at(self.source, wanted.place);
            let Some(definition) = found.get(&number) else {
                let name = &function.member.name;
                let message = format!("the compiler makes nothing of `{name}`");
                wrong.push(at(Diagnostic::error(message)).hint("it may not know this instruction"));
                continue;
            };
            if types(&definition.parameters) != wanted.given {
                let takes = types(&definition.parameters).join(", ");
                let message = format!("the arguments are {}", wanted.given.join(", "));
                wrong.push(at(Diagnostic::error(message)).hint(format!("they must be {takes}")));
                continue;
            }
            let features = features(function.member, self.set);
            let features = match features.is_empty() {
                true => String::new(),
                false => format!(" \"target-features\"=\"{features}\""),
            };
            let _ = write!(
                text,
                "\n; {}\ndefine linkonce_odr {} @{}({}) alwaysinline nounwind{features} {{\n{}}}\n",
                function.member.name,
                definition.result,
                wanted.symbol,
                wanted.given.join(", "),
                definition.body
            );
        }
        if wrong.is_empty() {
            Ok(text)
        } else {
            Err(wrong)
        }
    }
}

/// The constants that an operand may be, in words.
pub(super) fn range(allowed: Constants) -> String {
    match allowed {
        Constants::UpTo(most) => format!("a number from 0 to {most}"),
        Constants::Between(least, most) => format!("a number from {least} to {most}"),
        Constants::List(list) => {
            let list: Vec<String> = list.iter().map(u32::to_string).collect();
            format!("one of {}", list.join(", "))
        }
    }
}
