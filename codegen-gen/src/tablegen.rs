//! LLVM TableGen: operations as intrinsics, members as selection records.
//!
//! In: a dictionary. Out: `autoir.td` with one overloaded intrinsic for each operation, its
//! parameters as immediate arguments, and for each instruction set a file with a record for
//! each instruction and one that says which intrinsic with which numbers it is. The files
//! include LLVM's own `Intrinsics.td`; `llvm-tblgen` reads them.

use crate::artefact::{Artefact, Input};
use crate::variant::{Given, bound, given, lettered, returned};
use autoir::dictionary::{Binding, Member, Operation, Returned};
use semantics::instruction::{Element, Form, Operand};
use semantics::spelling::line;
use std::io::{self, Write};

/// The classes of the records.
const CLASSES: &str = r#"
// One instruction of a machine. `Returns` and `Operands` have the types that LLVM gives its
// values; `Sequence` is what compilers write as several instructions.
class AutoIRInstruction<string isa, string name, string mnemonic, list<string> features,
                        dag returns, dag operands, string form> {
  string Isa = isa;
  string Name = name;
  string Mnemonic = mnemonic;
  list<string> Features = features;
  dag Returns = returns;
  dag Operands = operands;
  string Form = form;
}

// `Source` with these numbers is `Target`, one to one; `Evidence` is how that was proved.
class AutoIRSelection<Intrinsic operation, list<int> values, dag source, dag target,
                      string evidence> {
  Intrinsic Operation = operation;
  list<int> Values = values;
  dag Source = source;
  dag Target = target;
  string Evidence = evidence;
}

def autoir_returns;   // the types of results
def autoir_operands;  // the operands of an instruction
def autoir_zero;      // an argument that is zero in the instruction
def autoir_state;     // the memory, or other state of the machine
def autoir_pointer;   // the type of an address
class AutoIRImmediate<int size> { int Size = size; }
"#;

/// The files.
pub fn artefacts<'a>(input: &'a Input<'a>) -> Vec<Artefact<'a>> {
    let mut files = vec![Artefact::new("llvm/autoir.td", move |out| {
        intrinsics(input, out)
    })];
    for isa in &input.isas {
        let path = format!("llvm/autoir_{isa}.td");
        files.push(Artefact::new(path, move |out| selections(input, isa, out)));
    }
    files
}

/// Operations as intrinsics.
fn intrinsics(input: &Input<'_>, out: &mut dyn Write) -> io::Result<String> {
    write!(out, "{}", input.header("//"))?;
    out.write_all(b"\ninclude \"llvm/IR/Intrinsics.td\"\n\nlet TargetPrefix = \"autoir\" in {\n")?;
    for operation in &input.dictionary.operations {
        intrinsic(operation, out)?;
    }
    out.write_all(b"}\n")?;
    Ok(format!("{} intrinsics", input.dictionary.operations.len()))
}

/// Whether the argument is a value in at least one member.
fn is_value(operation: &Operation, argument: usize) -> bool {
    let mut members = operation.members.iter();
    members.any(|m| given(m, argument) != Given::State)
}

fn intrinsic(operation: &Operation, out: &mut dyn Write) -> io::Result<()> {
    let results = operation.members.iter().map(|m| returned(m).count());
    let results = results.max().unwrap_or(0);
    let arguments = 0..operation.arguments.len();
    let values: Vec<usize> = arguments.filter(|&a| is_value(operation, a)).collect();
    let parameters = operation.parameters.len();
    let types = std::iter::repeat_n("llvm_any_ty", values.len());
    let types: Vec<&str> = types
        .chain(std::iter::repeat_n("llvm_i64_ty", parameters))
        .collect();
    let mut properties = vec![memory(operation, values.len()).to_owned()];
    properties.retain(|p| !p.is_empty());
    let immediates = (0..parameters).map(|p| format!("ImmArg<ArgIndex<{}>>", values.len() + p));
    properties.extend(immediates);
    writeln!(out, "  // {}", line(&operation.formula))?;
    let names = values.iter().map(|&a| operation.arguments[a].as_str());
    let names: Vec<&str> = names
        .chain(operation.parameters.iter().map(String::as_str))
        .collect();
    writeln!(out, "  // ({})", names.join(", "))?;
    writeln!(
        out,
        "  def int_autoir_{} : DefaultAttrsIntrinsic<[{}], [{}], [{}], \"llvm.autoir.{}\">;",
        operation.name,
        vec!["llvm_any_ty"; results].join(", "),
        types.join(", "),
        properties.join(", "),
        operation.name.replace('_', ".")
    )
}

/// What the operation does to memory.
fn memory(operation: &Operation, values: usize) -> &'static str {
    let reads = values < operation.arguments.len();
    let mut results = operation.members.iter().flat_map(|m| &m.outputs);
    let writes = results.any(|o| o.c_type == "void");
    match (reads, writes) {
        (false, false) => "IntrNoMem",
        (true, false) => "IntrReadMem",
        (_, true) => "IntrHasSideEffects",
    }
}

/// The members of an instruction set.
fn selections(input: &Input<'_>, isa: &str, out: &mut dyn Write) -> io::Result<String> {
    write!(out, "{}", input.header("//"))?;
    out.write_all(b"\ninclude \"autoir.td\"\n")?;
    out.write_all(CLASSES.as_bytes())?;
    let mut count = 0;
    for (operation, member) in input.dictionary.members().filter(|(_, m)| m.isa == isa) {
        count += 1;
        selection(input, operation, member, out)?;
    }
    Ok(format!("{count} instructions with a selection record each"))
}

fn selection(
    input: &Input<'_>,
    operation: &Operation,
    member: &Member,
    out: &mut dyn Write,
) -> io::Result<()> {
    let record = record(member);
    let quoted: Vec<String> = member.features.iter().map(|f| string(f)).collect();
    let result = |o: &Returned| match input.width_of(&member.isa, &o.c_type) {
        Some(width) => value_type(o.element, width),
        None => "untyped".to_owned(),
    };
    let results = returned(member).map(|o| (o.name.as_str(), result(o)));
    let operands = member.operands.iter();
    let operands = operands.map(|o| (o.name.as_str(), operand_type(o)));
    let form = match member.form {
        Form::Single => "single",
        Form::Free => "free",
        Form::Sequence => "sequence",
        Form::Library => "library",
    };
    writeln!(
        out,
        "\ndef {record} : AutoIRInstruction<{}, {}, {}, [{}],\n    {}, {}, \"{form}\">;",
        string(&member.isa),
        string(&member.name),
        string(member.mnemonic.as_deref().unwrap_or("")),
        quoted.join(", "),
        dag("autoir_returns", results),
        dag("autoir_operands", operands),
    )?;
    let values: Vec<String> = member.values.iter().map(i64::to_string).collect();
    let arguments = (0..member.bindings.len())
        .filter(|&a| is_value(operation, a))
        .map(|a| source(member, a))
        .chain(values.iter().map(|v| format!("(i64 {v})")));
    let arguments: Vec<String> = arguments.collect();
    let names = member.operands.iter().map(|o| format!("${}", o.name));
    let names: Vec<String> = names.collect();
    writeln!(
        out,
        "def select_{record} : AutoIRSelection<int_autoir_{}, [{}],\n    (int_autoir_{} {}),\n    ({record} {}), {}>;",
        operation.name,
        values.join(", "),
        operation.name,
        arguments.join(", "),
        names.join(", "),
        string(&member.evidence.to_string().replace('"', "'")),
    )
}

/// A text as a string of TableGen.
fn string(text: &str) -> String {
    let escaped = line(text).replace('"', "\\\"");
    format!("\"{escaped}\"")
}

/// The name of an instruction's record.
fn record(member: &Member) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = member.name.chars().map(plain).collect();
    format!("{}_{}", member.isa, name.trim_start_matches('_'))
}

fn dag<'n>(of: &str, items: impl Iterator<Item = (&'n str, String)>) -> String {
    let items: Vec<String> = items.map(|(name, ty)| format!("{ty}:${name}")).collect();
    format!("({of} {})", items.join(", "))
}

/// An argument of the operation in terms of a member's operands.
fn source(member: &Member, argument: usize) -> String {
    match (&member.bindings[argument], given(member, argument)) {
        (Binding::Zero, _) => "autoir_zero".to_owned(),
        (_, Given::State) => "autoir_state".to_owned(),
        (Binding::Operand(name), _) => {
            let ty = bound(member).find(|(at, _)| *at == argument);
            let ty = ty.map_or_else(|| "untyped".to_owned(), |(_, o)| operand_type(o));
            format!("{ty}:${name}")
        }
    }
}

/// The type of an operand among LLVM's value types.
fn operand_type(operand: &Operand) -> String {
    use semantics::instruction::Role;
    match operand.role {
        Role::Pointer { .. } => "autoir_pointer".to_owned(),
        role if role.is_constant() => format!("AutoIRImmediate<{}>", operand.width),
        _ => value_type(operand.element, operand.width),
    }
}

/// The name of a value type of LLVM.
fn value_type(element: Element, width: u32) -> String {
    let (letter, each) = lettered(element, width);
    let count = width / each.max(1);
    match (count, each.is_power_of_two() && width.is_power_of_two()) {
        (_, false) => "untyped".to_owned(),
        (0 | 1, true) => format!("{letter}{}", each.max(1)),
        (_, true) => format!("v{count}{letter}{each}"),
    }
}
