//! Programs of a machine whose instructions are statements of C: intrinsics for tiles, and what C
//! has for the rest.
//!
//! In: a function, a machine that says how its instructions are spelt. Out: C. Scalar registers are
//! variables, branches go to labels; which statement an instruction is, is the description's word.

use crate::back_end::{Code, Language};
use semantics::machine::{Machine, MachineInstruction, OperandKind, Spelt, Syntax};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use target::processor::Processor;
use tile::program::Function;

/// The function. Its arguments are the addresses of the kernel's arrays; buffers are its own, so
/// that it is not called twice at once.
///
/// # Errors
/// An instruction that has no statement.
pub(crate) fn c(
    machine: &Machine,
    spelt: &Spelt,
    program: &Function,
    about: &[String],
) -> Result<Code, String> {
    let flags = spelt.flags.join(" ");
    let note = format!("Compile it with {flags}.");
    let about = [about, &[note][..usize::from(!flags.is_empty())]].concat();
    let writer = Writer { machine, program };
    let mut text = String::new();
    for header in &spelt.headers {
        let _ = writeln!(text, "#include <{header}>");
    }
    let _ = writeln!(text, "\n{}", spelt.prelude);
    let parameters: Vec<String> = program
        .arguments
        .iter()
        .map(|(array, _)| &program.arrays[*array])
        .filter(|array| !array.made)
        .map(|a| format!("{}void *{}", if a.written { "" } else { "const " }, a.name))
        .collect();
    let _ = writeln!(text, "void {}({}) {{", program.name, parameters.join(", "));
    writer.arrays(&mut text);
    writer.variables(spelt, &mut text);
    let body = writer.body()?;
    let _ = writeln!(text, "{body}}}");
    Ok(Code::of(Language::C, &about, text))
}

struct Writer<'a> {
    machine: &'a Machine,
    program: &'a Function,
}

impl Writer<'_> {
    /// The arrays that nobody hands over.
    fn arrays(&self, text: &mut String) {
        let held: BTreeMap<usize, &[u8]> = self
            .program
            .constants
            .iter()
            .map(|c| (c.array, c.bytes.as_slice()))
            .collect();
        for (array, _) in &self.program.arguments {
            let used = &self.program.arrays[*array];
            if !used.made {
                continue;
            }
            let (name, bytes) = (&used.name, used.bytes);
            let align = Processor::default().line;
            let constant = if used.written { "" } else { "const " };
            let _ = write!(
                text,
                "  static {constant}unsigned char {name}[{bytes}] __attribute__((aligned({align})))"
            );
            if let Some(bytes) = held.get(array) {
                let bytes: Vec<String> = bytes.iter().map(u8::to_string).collect();
                let _ = write!(text, " = {{{}}}", bytes.join(", "));
            }
            text.push_str(";\n");
        }
    }

    /// A variable for each scalar register.
    fn variables(&self, spelt: &Spelt, text: &mut String) {
        let given: BTreeMap<u32, usize> =
            self.program.arguments.iter().map(|a| (a.1, a.0)).collect();
        let zero = self.machine.files[self.program.scalars].zero;
        let mut all: BTreeSet<u32> = given.keys().copied().collect();
        for (k, values) in &self.program.code {
            let operands = self.machine.instructions[*k].operands.iter().zip(values);
            all.extend(operands.filter_map(|(o, v)| match o.kind {
                OperandKind::Register { file, .. } if file == self.program.scalars => {
                    u32::try_from(*v).ok()
                }
                _ => None,
            }));
        }
        let kind = &spelt.register;
        for register in all.into_iter().filter(|r| Some(*r) != zero) {
            let name = self.variable(register);
            let value = match given.get(&register) {
                Some(array) => format!("({kind}){}", self.program.arrays[*array].name),
                None => "0".to_owned(),
            };
            let _ = writeln!(text, "  {kind} {name} = {value};");
        }
    }

    fn variable(&self, register: u32) -> String {
        let file = &self.machine.files[self.program.scalars];
        match file.zero == Some(register) {
            true => "0".to_owned(),
            false => format!("isaforge_{}", file.name_of(register)),
        }
    }

    /// The statements, with labels where branches go.
    fn body(&self) -> Result<String, String> {
        let mut labels = BTreeSet::new();
        let mut lines = Vec::new();
        for (at, (k, values)) in self.program.code.iter().enumerate() {
            let found = &self.machine.instructions[*k];
            lines.push(self.statement(found, values, at, &mut labels)?);
        }
        let mut text = String::new();
        for at in 0..=lines.len() {
            if labels.contains(&at) {
                let _ = writeln!(text, "{}:;", label(at));
            }
            if let Some(line) = lines.get(at) {
                let _ = writeln!(text, "  {line}");
            }
        }
        Ok(text)
    }

    fn statement(
        &self,
        found: &MachineInstruction,
        values: &[i64],
        at: usize,
        labels: &mut BTreeSet<usize>,
    ) -> Result<String, String> {
        let name = &found.instruction.name;
        let pieces = found.statement.as_ref();
        let pieces = pieces.ok_or_else(|| format!("`{name}` is no statement of C"))?;
        let mut line = String::new();
        for piece in pieces {
            let operand = match piece {
                Syntax::Text(text) => {
                    line.push_str(text);
                    continue;
                }
                Syntax::Operand(operand) => *operand,
            };
            let value = values[operand];
            match found.operands[operand].kind {
                OperandKind::Immediate { target: true, .. } => {
                    let to = at as i64 + value / i64::from(self.machine.word);
                    let to = usize::try_from(to).map_err(|_| "a branch goes nowhere".to_owned())?;
                    labels.insert(to);
                    line.push_str(&label(to));
                }
                OperandKind::Register { file, .. } if file == self.program.scalars => {
                    line.push_str(&self.variable(u32::try_from(value).unwrap_or(u32::MAX)));
                }
                _ => {
                    let _ = write!(line, "{value}");
                }
            }
        }
        Ok(line)
    }
}

fn label(at: usize) -> String {
    format!("isaforge_to_{at}")
}
