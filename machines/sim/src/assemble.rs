//! Assembly text to a program.
//!
//! In: text, one instruction, label or directive a line; `#` begins a comment. Out:
//! [`MachineProgram`]. There are two directives: `.word NUMBER`, and `.set REGISTER, NUMBER` for
//! what a register holds at the start.

mod line;

use crate::program::{MachineProgram, Placed, Setting};
use line::{Cursor, Fault};
use semantics::diagnostic::{Diagnostic, suggest};
use semantics::machine::{Machine, MachineInstruction, OperandKind, Syntax};
use semantics::span::{Source, Span};
use std::collections::BTreeMap;

/// A place whose label is not known yet.
struct Open {
    placed: usize,
    operand: usize,
    label: String,
    span: Span,
}

/// What is read so far.
struct Reader<'a> {
    machine: &'a Machine,
    labels: BTreeMap<String, i64>,
    open: Vec<Open>,
    code: Vec<Placed>,
    settings: Vec<Setting>,
}

pub(crate) fn assemble(
    machine: &Machine,
    source: &Source,
) -> Result<MachineProgram, Vec<Diagnostic>> {
    let mut reader = Reader {
        machine,
        labels: BTreeMap::new(),
        open: Vec::new(),
        code: Vec::new(),
        settings: Vec::new(),
    };
    let mut wrong = Vec::new();
    let reported = |fault: Fault| {
        Diagnostic::error(fault.message)
            .at(source, fault.span)
            .hint(fault.hint)
    };
    let mut at = 0;
    for line in source.text().split_inclusive('\n') {
        let code = line.split('#').next().unwrap_or("");
        if let Err(fault) = reader.line(&mut Cursor::new(code, at)) {
            wrong.push(reported(fault));
        }
        at += line.len();
    }
    wrong.extend(reader.resolve().into_iter().map(reported));
    let program = MachineProgram {
        source: source.clone(),
        code: reader.code,
        settings: reader.settings,
    };
    if wrong.is_empty()
        && let Err(diagnostic) = program.words(machine)
    {
        wrong.push(diagnostic);
    }
    if wrong.is_empty() {
        Ok(program)
    } else {
        Err(wrong)
    }
}

impl Reader<'_> {
    fn address(&self) -> i64 {
        self.code.len() as i64 * i64::from(self.machine.word)
    }

    fn line(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        loop {
            let Some((word, span)) = cursor.word() else {
                return cursor.end("an instruction, a label or a directive was expected");
            };
            if cursor.eat(':') {
                let address = self.address();
                if self.labels.insert(word.to_owned(), address).is_some() {
                    let message = format!("the label `{word}` is there twice");
                    return Err(Fault::new(span, message, "give one of them another name"));
                }
                continue;
            }
            match word {
                ".word" => self.raw(cursor, span)?,
                ".set" => self.set(cursor)?,
                _ => self.instruction(word, span, cursor)?,
            }
            return cursor.end("there is more on this line than the instruction has operands");
        }
    }

    fn raw(&mut self, cursor: &mut Cursor<'_>, span: Span) -> Result<(), Fault> {
        let (number, place) = cursor.number()?;
        let word = number as u64 & u64::MAX >> (64 - 8 * self.machine.word);
        let Some((instruction, values)) = self.machine.decode(word) else {
            let message = format!(
                "the word {word:#010x} is no instruction of {}",
                self.machine.isa
            );
            return Err(Fault::new(
                place,
                message,
                "compare it with the encodings of the specification",
            ));
        };
        let span = span.to(place);
        self.code.push(Placed {
            instruction,
            values,
            span,
        });
        Ok(())
    }

    fn set(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        let (name, span) = cursor.expect_word("a register")?;
        let files = self.machine.files.iter().enumerate();
        let mut found = files.filter_map(|(k, f)| Some((k, f.number_of(name)?)));
        let Some((file, register)) = found.next().filter(|f| self.machine.files[f.0].width <= 64)
        else {
            let message = format!("`{name}` is no scalar register");
            return Err(Fault::new(span, message, "tiles are loaded from memory"));
        };
        if !cursor.eat(',') {
            return Err(cursor.missing(","));
        }
        let (value, _) = cursor.number()?;
        self.settings.push(Setting {
            file,
            register,
            value,
        });
        Ok(())
    }

    fn instruction(
        &mut self,
        name: &str,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> Result<(), Fault> {
        let machine = self.machine;
        let all = &machine.instructions;
        let Some(at) = all.iter().position(|i| i.instruction.name == name) else {
            let names = all.iter().map(|i| i.instruction.name.as_str());
            let longer = names.clone().find(|n| n.starts_with(name));
            let hint = match suggest(name, names).or(longer) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!(
                    "`isaforge classes --isa {}` shows what there is",
                    machine.isa
                ),
            };
            return Err(Fault::new(
                span,
                format!("unknown instruction `{name}`"),
                hint,
            ));
        };
        let found = &all[at];
        let mut values = vec![0; found.operands.len()];
        for piece in &found.syntax {
            match piece {
                Syntax::Text(text) => {
                    for c in text.chars().filter(|c| !c.is_whitespace()) {
                        if !cursor.eat(c) {
                            return Err(cursor.missing(&format!("{c}")));
                        }
                    }
                }
                Syntax::Operand(k) => values[*k] = self.operand(found, *k, cursor)?,
            }
        }
        self.code.push(Placed {
            instruction: at,
            values,
            span: span.to(cursor.last()),
        });
        Ok(())
    }

    fn operand(
        &mut self,
        found: &MachineInstruction,
        k: usize,
        cursor: &mut Cursor<'_>,
    ) -> Result<i64, Fault> {
        match found.operands[k].kind {
            OperandKind::Register { file, .. } => {
                let file = &self.machine.files[file];
                let (name, span) = cursor.expect_word("a register")?;
                file.number_of(name).map(i64::from).ok_or_else(|| {
                    let message = format!("`{name}` is no register of the kind `{}`", file.name);
                    let hint = format!("there are {0}0 to {0}{1}", file.name, file.count - 1);
                    Fault::new(span, message, hint)
                })
            }
            OperandKind::Immediate { target: true, .. } if cursor.at_name() => {
                let (label, span) = cursor.expect_word("a label")?;
                self.open.push(Open {
                    placed: self.code.len(),
                    operand: k,
                    label: label.to_owned(),
                    span,
                });
                Ok(0)
            }
            OperandKind::Immediate { .. } => Ok(cursor.number()?.0),
        }
    }

    /// Puts the distances to labels into the places that name them.
    fn resolve(&mut self) -> Vec<Fault> {
        let mut wrong = Vec::new();
        for open in &self.open {
            let Some(target) = self.labels.get(&open.label) else {
                let names = self.labels.keys().map(String::as_str);
                let hint = match suggest(&open.label, names) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "a label is written `name:`".to_owned(),
                };
                let message = format!("there is no label `{}`", open.label);
                wrong.push(Fault::new(open.span, message, hint));
                continue;
            };
            let from = open.placed as i64 * i64::from(self.machine.word);
            // The line itself may be wrong; then it is not there.
            if let Some(placed) = self.code.get_mut(open.placed)
                && let Some(value) = placed.values.get_mut(open.operand)
            {
                *value = target - from;
            }
        }
        wrong
    }
}
