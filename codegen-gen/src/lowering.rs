//! Operations of an instruction set as functions of LLVM IR.
//!
//! In: a dictionary, and what LLVM makes of intrinsics ([`Row`]). Out: `autoir_ISA.ll`, one
//! function for each operation and set of numbers, to be linked with modules that call
//! `@autoir.NAME` and inlined there. Its body is the target's own intrinsic, or generic IR
//! where LLVM has none. What has a constant operand is left out: no parameter of a function
//! can become one; [`calls`] lowers calls of these, and `autoir_ISA_calls.ll` declares all. It
//! names no intrinsic of LLVM itself.

pub mod calls;
mod declarations;

use crate::artefact::{Artefact, Input, Set};
use crate::variant::{Variant, bound, variants};
use autoir::dictionary::{Binding, Member};
use semantics::spelling::{Spelling, line};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, Write};

/// What LLVM makes of an intrinsic of C.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// The type of the result.
    pub result: String,
    /// The types of the operands.
    pub operands: Vec<String>,
    /// Statements over `%0`, `%1`, …; the last returns.
    pub body: Vec<String>,
}

/// Reads rows: an intrinsic, its result, operands and statements between bars, one a line.
///
/// # Errors
/// A line with another number of fields, with its number.
pub fn rows(text: &str) -> Result<BTreeMap<String, Row>, String> {
    let list = |field: &str| -> Vec<String> {
        let items = field.split(';').filter(|item| !item.is_empty());
        items.map(str::to_owned).collect()
    };
    let one = |(number, line): (usize, &str)| {
        let fields: Vec<&str> = line.split('|').collect();
        let &[name, result, operands, body] = fields.as_slice() else {
            return Err(format!(
                "row {}: {} fields, not 4",
                number + 1,
                fields.len()
            ));
        };
        let texts = [result]
            .into_iter()
            .chain(operands.split(';'))
            .chain(body.split(';'));
        for text in texts.filter(|text| !text.is_empty()) {
            Spelling::Llvm.check(&format!("row {}: a part", number + 1), text)?;
        }
        let row = Row {
            result: result.to_owned(),
            operands: list(operands),
            body: list(body),
        };
        Ok((name.to_owned(), row))
    };
    text.lines().enumerate().map(one).collect()
}

/// The files of a set.
pub fn artefacts<'a>(input: &'a Input<'a>, set: &'a Set) -> Vec<Artefact<'a>> {
    let path = format!("llvm/autoir_{}.ll", set.isa);
    let functions = Artefact::new(path, move |out| write(input, set, out));
    vec![functions, declarations::artefact(input, set)]
}

/// The line that says what a module is for.
fn triple(set: &Set) -> String {
    match &set.llvm.triple {
        Some(triple) => format!("target triple = \"{triple}\"\n"),
        None => String::new(),
    }
}

fn write(input: &Input<'_>, set: &Set, out: &mut dyn Write) -> io::Result<String> {
    write!(out, "{}", input.header(";"))?;
    out.write_all(
        b";\n; Link with `llvm-link`, then `opt -passes=always-inline,globaldce`. A caller must\n\
          ; have the features of what it calls.\n\n",
    )?;
    out.write_all(triple(set).as_bytes())?;
    let mut groups = Groups::default();
    let (mut count, mut own, mut without) = (0, 0, 0);
    for variant in variants(input.dictionary) {
        let here = |m: &Member| m.isa == set.isa && set.rows.contains_key(&m.name);
        let Some(member) = variant.representative(here) else {
            without += usize::from(variant.members.iter().any(|m| m.isa == set.isa));
            continue;
        };
        let row = &set.rows[&member.name];
        let group = groups.of(features(member, set));
        count += 1;
        let prefix = set.llvm.prefix.as_deref();
        let is_own = |s: &String| prefix.is_some_and(|prefix| s.contains(prefix));
        own += usize::from(row.body.iter().any(is_own));
        function(&variant, member, row, group, out)?;
    }
    groups.write("alwaysinline nounwind", out)?;
    Ok(format!(
        "{count} functions, {own} by LLVM's own intrinsics of {}, {} in generic IR; \
         {without} operations with constant operands or no straight form are not there",
        set.isa,
        count - own
    ))
}

/// The attributes of functions, by the features that they need.
#[derive(Default)]
struct Groups(BTreeMap<String, usize>);

impl Groups {
    /// The number of the group of these features.
    fn of(&mut self, features: String) -> usize {
        let next = self.0.len();
        *self.0.entry(features).or_insert(next)
    }

    /// All of them, each with what every function is.
    fn write(self, every: &str, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"\n")?;
        let mut groups: Vec<(usize, String)> = self.0.into_iter().map(|(f, n)| (n, f)).collect();
        groups.sort();
        for (number, features) in groups {
            let features = match features.is_empty() {
                true => String::new(),
                false => format!(" \"target-features\"=\"{features}\""),
            };
            writeln!(out, "attributes #{number} = {{ {every}{features} }}")?;
        }
        Ok(())
    }
}

/// The features of a member as LLVM spells them.
fn features(member: &Member, set: &Set) -> String {
    let all = member.features.iter().filter_map(|f| set.features.get(f));
    all.map(String::as_str).collect::<Vec<_>>().join(",")
}

fn function(
    variant: &Variant<'_>,
    member: &Member,
    row: &Row,
    group: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let parameters: Vec<String> = order(member)
        .into_iter()
        .map(|at| format!("{} %v{at}", row.operands[at]))
        .collect();
    let name = calls::symbol(&variant.name);
    writeln!(out, "\n; {}", line(&variant.operation.formula))?;
    let numbers = variant.numbers();
    if !numbers.is_empty() {
        writeln!(out, "; {numbers}")?;
    }
    writeln!(
        out,
        "; {} {}\ndefine linkonce_odr {} @{name}({}) #{group} {{",
        member.name,
        line(member.mnemonic.as_deref().unwrap_or("-")),
        row.result,
        parameters.join(", ")
    )?;
    for statement in &row.body {
        writeln!(out, "  {}", renamed(statement))?;
    }
    out.write_all(b"}\n")
}

/// The places of the operands in C, in the order of the operation's arguments.
fn order(member: &Member) -> Vec<usize> {
    let mut seen = BTreeSet::new();
    let of = |name: &str| member.operands.iter().position(|o| o.name == name);
    let bound = bound(member).filter_map(|(a, _)| match &member.bindings[a] {
        Binding::Operand(name) => of(name),
        Binding::Zero => None,
    });
    let all = bound.chain(0..member.operands.len());
    all.filter(|at| seen.insert(*at)).collect()
}

/// Values with names in place of numbers, which would have to be in order.
fn renamed(statement: &str) -> String {
    let mut text = String::with_capacity(statement.len() + 8);
    let mut letters = statement.chars().peekable();
    while let Some(letter) = letters.next() {
        text.push(letter);
        if letter == '%' && letters.peek().is_some_and(char::is_ascii_digit) {
            let _ = text.write_char('v');
        }
    }
    text
}
