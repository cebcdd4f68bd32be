//! A machine from its files.
//!
//! In: the path of a manifest. Out: a [`Machine`], and what is wrong with the instructions
//! that it has not. Words that two instructions share are told; the second is left out.

use super::abi::abi;
use super::ast::Statement;
use super::block::{BLOCK, block};
use super::cost;
use super::encoding;
use super::erratum::erratum;
use super::file::{RawInstruction, RawMachine, RawRegisters};
use super::lower::{self, COUNTER, MEMORY, Meaning, Operand, Scope};
use super::parser;
use super::place::{place_of, place_of_word, refused, size, wrong};
use super::role::roles;
use super::setup;
use super::state::{INTERNAL, Names};
use super::view::{VIEW, view};
use crate::family::file::{Item, items};
use crate::manifest::{files_missing, files_outside, read, scalar_text};
use crate::yaml::error as yaml_error;
use semantics::diagnostic::{Diagnostic, Severity, suggest};
use semantics::instruction::{self, Element, Form, Instruction, Origin, Output, Role};
use semantics::machine::role::Roles;
use semantics::machine::{
    Encoding, Implicit, Machine, MachineInstruction, MachineOperand, OperandKind, RegisterFile,
    Syntax,
};
use semantics::span::Source;
use semantics::spelling::{self, Spelling};
use serde_yaml::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// The most bits of a register.
const MAX_REGISTER: i64 = 1 << 16;

/// Reads a machine; instructions with mistakes are left out and told.
///
/// # Errors
/// When the manifest is wrong: without it nothing has a meaning.
pub fn load(path: &Path) -> Result<(Machine, Vec<Diagnostic>), Vec<Diagnostic>> {
    let source = read(path).map_err(|d| vec![d])?;
    let raw: RawMachine =
        crate::yaml::from_str(source.text()).map_err(|e| vec![yaml_error(&source, 0, &e)])?;
    let wrong = files_outside(raw.files.iter().chain(&raw.procedures), &source);
    let wrong = match (wrong.is_empty(), path.parent()) {
        (true, Some(folder)) => {
            let named: Vec<String> = raw.files.iter().chain(&raw.procedures).cloned().collect();
            files_missing(&named, folder, &source)
        }
        _ => wrong,
    };
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let (mut machine, names) = machine(&raw, &source).map_err(|d| vec![d])?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut diagnostics = Vec::new();
    let mut places: Vec<String> = Vec::new();
    let mut refused: Vec<String> = Vec::new();
    let plain = raw.files.iter().map(|name| (name, false));
    let stateful = raw.procedures.iter().map(|name| (name, true));
    for (name, stateful) in plain.chain(stateful) {
        let source = match read(&folder.join(name)) {
            Ok(source) => source,
            Err(diagnostic) => {
                diagnostics.push(diagnostic);
                continue;
            }
        };
        let (items, wrong) = items::<RawInstruction>(&source);
        diagnostics.extend(wrong);
        for item in &items {
            // What performs something that was refused is told there.
            if stateful && performs(&item.raw.pseudocode, &refused) {
                refused.push(item.raw.instruction.clone());
                continue;
            }
            let made = match stateful {
                true => on_state(item, &mut machine, &names),
                false => one(item, &machine, &mut diagnostics).map(Some),
            };
            let made = made.and_then(|made| {
                let clash = made
                    .as_ref()
                    .and_then(|m| clash(m, &machine, item, &places));
                clash.map_or(Ok(made), Err)
            });
            match made {
                Ok(None) => {}
                Ok(Some(made)) => {
                    machine.instructions.push(made);
                    places.push(item.place_name());
                }
                Err(diagnostic) => {
                    let name = &item.raw.instruction;
                    diagnostics.push(diagnostic.with_note(format!("in the instruction `{name}`")));
                    refused.push(name.clone());
                }
            }
        }
    }
    for (first, raw) in raw
        .cost
        .iter()
        .map(|c| (true, c))
        .chain(raw.costs.iter().map(|c| (false, c)))
    {
        match cost::model(raw, &machine, &refused, &source) {
            Err(wrong) => diagnostics.extend(wrong),
            Ok(model) if first => {
                machine.model = model.name;
                (machine.issue, machine.taken) = (model.issue, model.taken);
                (machine.units, machine.banks) = (model.units, model.banks);
            }
            Ok(model) => machine.models.push(model),
        }
    }
    if let Some(name) = &raw.memory.fence {
        let known = |i: &MachineInstruction| i.instruction.name == *name;
        machine.fence = machine.instructions.iter().position(known);
        if machine.fence.is_none() && !refused.contains(name) {
            diagnostics.push(
                Diagnostic::error(format!("the fence `{name}` is no instruction"))
                    .at(&source, place_of(&source, "fence"))
                    .hint("name an instruction of the files"),
            );
        }
    }
    if let Some(raw) = &raw.setup {
        match setup::setup(raw, &machine, &refused, &source) {
            Ok(setup) => machine.setup = setup,
            Err(wrong) => diagnostics.push(wrong),
        }
    }
    let (roles, wrong) = roles(&raw.roles, &machine, &refused, &source);
    machine.roles = roles;
    diagnostics.extend(wrong);
    for raw in &raw.errata {
        match erratum(raw, &machine, &refused, &source) {
            Ok(None) => {}
            Ok(Some(erratum)) => {
                let found = &mut machine.instructions[erratum.instruction];
                let origin = &mut found.instruction.origin;
                origin
                    .errata
                    .extend(erratum.active.then(|| erratum.name.clone()));
                machine.errata.push(erratum);
            }
            Err(diagnostic) => diagnostics.push(diagnostic),
        }
    }
    Ok((machine, diagnostics))
}

/// Whether a body performs one of these procedures.
fn performs(text: &str, refused: &[String]) -> bool {
    fn any(body: &[Statement], refused: &[String]) -> bool {
        body.iter().any(|statement| match statement {
            Statement::Perform { name, .. } => refused.contains(name),
            Statement::For { body, .. } => any(body, refused),
            Statement::If { then, other, .. } => any(then, refused) || any(other, refused),
            _ => false,
        })
    }
    !refused.is_empty() && parser::body(text).is_ok_and(|body| any(&body, refused))
}

/// The machine without instructions, and the names that bodies on its state may use.
fn machine(raw: &RawMachine, source: &Source) -> Result<(Machine, Names), Diagnostic> {
    Spelling::Identifier
        .check("the name of the machine", &raw.isa)
        .map_err(|message| Diagnostic::error(message).at(source, place_of(source, "isa")))?;
    let mut known = BTreeMap::new();
    let mut parameters = Vec::new();
    for (key, value) in &raw.parameters {
        let name = scalar_text(key).unwrap_or_default();
        let value = size(&name, value, &known, source)?;
        known.insert(name.clone(), value);
        parameters.push((name, value));
    }
    let mut files = Vec::new();
    for (key, value) in &raw.registers {
        let name = scalar_text(key).unwrap_or_default();
        files.push(registers(&name, value, &known, source)?);
    }
    let within = |key: &str, value: &Value, range: std::ops::RangeInclusive<i64>| {
        let n = size(key, value, &known, source)?;
        let least = *range.start();
        match u32::try_from(n).ok().filter(|_| range.contains(&n)) {
            Some(n) => Ok(n),
            None => Err(Diagnostic::error(format!("`{key}` is {n}"))
                .at(source, place_of(source, key))
                .hint(format!("it must lie between {least} and {}", range.end()))),
        }
    };
    let address = within("address", &raw.memory.address, 8..=64)?;
    let word = within("word", &raw.word, 8..=64)? / 8;
    let (state, names) = super::state::state(raw, known, source)?;
    let abi = raw.abi.as_ref().map(|raw| abi(raw, &files, source));
    let spelt = raw.c.as_ref().map(|raw| setup::spelt(raw, source));
    let machine = Machine {
        spelt: spelt.transpose()?,
        setup: None,
        coherent: raw.memory.coherent,
        isa: raw.isa.clone(),
        parameters,
        abi: abi.transpose()?,
        files,
        address,
        aligned: raw.memory.aligned,
        word,
        model: cost::USUAL.to_owned(),
        models: Vec::new(),
        issue: 1,
        taken: 0,
        fence: None,
        errata: Vec::new(),
        units: Vec::new(),
        banks: None,
        instructions: Vec::new(),
        state,
        procedures: Vec::new(),
        views: Vec::new(),
        blocks: Vec::new(),
        roles: Roles::default(),
    };
    Ok((machine, names))
}

fn registers(
    name: &str,
    value: &Value,
    known: &BTreeMap<String, i64>,
    source: &Source,
) -> Result<RegisterFile, Diagnostic> {
    let place = place_of(source, name);
    let raw: RawRegisters = serde_yaml::from_value(value.clone()).map_err(|e| {
        Diagnostic::error(format!(
            "the registers `{name}` are not what was expected: {e}"
        ))
        .at(source, place)
        .hint("write `m: {count: 8, width: ROWS * RLEN, row: RLEN}`")
    })?;
    let count = size(name, &raw.count, known, source)?;
    let width = size(name, &raw.width, known, source)?;
    let row = match &raw.row {
        Some(row) => size(name, row, known, source)?,
        None => width,
    };
    let fits = (1..=4096).contains(&count)
        && (1..=MAX_REGISTER).contains(&width)
        && row > 0
        && width % row == 0
        && row % 8 == 0;
    if !fits {
        let message = format!("{count} registers of {width} bits with rows of {row} cannot be");
        return Err(Diagnostic::error(message).at(source, place).hint(
            "whole rows fill a register, whole bytes fill a row, and a register has up to 65536 bits",
        ));
    }
    let aliases: Vec<&str> = raw.aliases.split_whitespace().collect();
    let twice = (1..aliases.len()).find(|&n| aliases[..n].contains(&aliases[n]));
    let message = match twice {
        Some(n) => Some(format!(
            "two registers of `{name}` are called `{}`",
            aliases[n]
        )),
        None if !aliases.is_empty() && i64::try_from(aliases.len()) != Ok(count) => Some(format!(
            "`aliases` has {} names for {count} registers",
            aliases.len()
        )),
        None => None,
    };
    if let Some(message) = message {
        let place = place_of_word(source, name, "aliases");
        let hint = "`aliases` has a name for each register, in their order";
        return Err(Diagnostic::error(message).at(source, place).hint(hint));
    }
    for name in std::iter::once(name).chain(aliases) {
        Spelling::Identifier
            .check("the name of a register", name)
            .map_err(|message| Diagnostic::error(message).at(source, place))?;
    }
    let number = |n: i64| u32::try_from(n).expect("bounded above");
    Ok(RegisterFile {
        name: name.to_owned(),
        count: number(count),
        width: number(width),
        row: number(row),
        zero: raw.zero,
        defined: raw.defined,
        foreign: raw.foreign,
        aliases: raw.aliases.split_whitespace().map(str::to_owned).collect(),
    })
}

/// An instruction on declared state; nothing when it is only performed by others.
fn on_state(
    item: &Item<RawInstruction>,
    machine: &mut Machine,
    names: &Names,
) -> Result<Option<MachineInstruction>, Diagnostic> {
    if item.raw.encoding == VIEW {
        let procedure = super::state::procedure(item, &[], machine, names)?;
        machine.procedures.push(procedure);
        let view = view(item, machine, names);
        machine.procedures.pop();
        machine.views.push(view?);
        return Ok(None);
    }
    if item.raw.encoding == BLOCK {
        let block = block(item, machine, names)?;
        machine.blocks.push(block);
        return Ok(None);
    }
    if item.raw.encoding == INTERNAL {
        let operands = item.raw.operands.keys();
        let operands: Vec<String> = operands.filter_map(scalar_text).collect();
        let procedure = super::state::procedure(item, &operands, machine, names)?;
        machine.procedures.push(procedure);
        return Ok(None);
    }
    let (mut operands, encoding, syntax, distinct) = outside(item, machine)?;
    let statement = setup::statement(item, machine, &operands)?;
    let plain: Vec<String> = operands.iter().map(|o| o.name.clone()).collect();
    let procedure = super::state::procedure(item, &plain, machine, names)?;
    for operand in &mut operands {
        if let OperandKind::Register { read, .. } = &mut operand.kind {
            *read = true;
        }
    }
    let used = operands.iter().map(|o| {
        let used = lower::Used {
            read: true,
            after: None,
        };
        (o.name.clone(), used)
    });
    let meaning = Meaning {
        operands: used.collect(),
        memory: None,
        counter: None,
        requires: Vec::new(),
        doubts: Vec::new(),
    };
    let instruction = instruction(item, machine, &operands, &[], &meaning)?;
    machine.procedures.push(procedure);
    Ok(Some(MachineInstruction {
        instruction,
        operands,
        encoding,
        syntax,
        distinct,
        implicit: Vec::new(),
        requires: Vec::new(),
        statement,
        procedure: Some(machine.procedures.len() - 1),
    }))
}

type Outside = (
    Vec<MachineOperand>,
    Encoding,
    Vec<Syntax>,
    Vec<(usize, usize)>,
);

/// All of an instruction but its meaning.
fn outside(item: &Item<RawInstruction>, machine: &Machine) -> Result<Outside, Diagnostic> {
    let raw = &item.raw;
    let operands = operands(item, machine)?;
    let names: Vec<String> = operands.iter().map(|o| o.name.clone()).collect();
    let encoding = encoding::read(&raw.encoding, &names, machine.word * 8)
        .map_err(|r| refused(item, "encoding", &raw.encoding, r))?;
    for (k, operand) in operands.iter().enumerate() {
        fits(k, operand, &encoding, machine)
            .map_err(|(message, hint)| wrong(item, "encoding", message, hint))?;
    }
    let syntax = syntax(&raw.syntax, &names).map_err(|(m, h)| wrong(item, "syntax", m, h))?;
    let distinct = raw.distinct.iter().map(|(a, b)| {
        let find = |n: &String| names.iter().position(|o| o == n);
        find(a).zip(find(b)).ok_or_else(|| {
            let message = format!("`{a}` and `{b}` are not both operands");
            wrong(
                item,
                "distinct",
                message,
                format!("the operands are {}", names.join(", ")),
            )
        })
    });
    let distinct = distinct.collect::<Result<Vec<_>, _>>()?;
    Ok((operands, encoding, syntax, distinct))
}

/// One instruction on registers, and what about it deserves a look.
fn one(
    item: &Item<RawInstruction>,
    machine: &Machine,
    doubts: &mut Vec<Diagnostic>,
) -> Result<MachineInstruction, Diagnostic> {
    let (mut operands, encoding, syntax, distinct) = outside(item, machine)?;
    let statement = setup::statement(item, machine, &operands)?;
    let mut implicit = setup::implicit(item, machine, &operands)?;
    let meaning = meaning(item, machine, &operands, &implicit)?;
    for register in &mut implicit {
        let used = &meaning.operands[&register.name];
        (register.read, register.written) = (used.read, used.after.is_some());
        if !register.read && !register.written {
            let message = format!("the register `{}` is not used", register.name);
            return Err(wrong(item, "state", message, "leave it out".into()));
        }
    }
    for operand in &mut operands {
        let used = &meaning.operands[&operand.name];
        if !used.read && used.after.is_none() {
            let message = format!("the operand `{}` is not used", operand.name);
            return Err(wrong(
                item,
                "operands",
                message,
                "use it, or leave it out".into(),
            ));
        }
        if let OperandKind::Register { read, written, .. } = &mut operand.kind {
            (*read, *written) = (used.read, used.after.is_some());
        }
    }
    let instruction = instruction(item, machine, &operands, &implicit, &meaning)?;
    doubts.extend(meaning.doubts.into_iter().map(|doubt| {
        let told = refused(item, "pseudocode", &item.raw.pseudocode, doubt);
        let told = told.with_note(format!("in the instruction `{}`", item.raw.instruction));
        Diagnostic {
            severity: Severity::Warning,
            ..told
        }
    }));
    Ok(MachineInstruction {
        instruction,
        operands,
        encoding,
        syntax,
        distinct,
        implicit,
        requires: meaning.requires,
        statement,
        procedure: None,
    })
}

/// The operands in the order in which they are written.
fn operands(
    item: &Item<RawInstruction>,
    machine: &Machine,
) -> Result<Vec<MachineOperand>, Diagnostic> {
    let mut operands = Vec::new();
    for (key, value) in &item.raw.operands {
        let (name, what) = (scalar_text(key), scalar_text(value));
        let (name, what) = (name.unwrap_or_default(), what.unwrap_or_default());
        let (target, plain) = match what.strip_prefix("to ") {
            Some(rest) => (true, rest),
            None => (false, what.as_str()),
        };
        let file = machine.files.iter().position(|f| f.name == plain);
        let immediate = || {
            let (signed, width) = match plain.strip_prefix('s') {
                Some(width) => (true, width),
                None => (false, plain.strip_prefix('u')?),
            };
            let width = width.parse().ok().filter(|w| (1..=32).contains(w))?;
            Some(OperandKind::Immediate {
                width,
                signed,
                target,
            })
        };
        let kind = match file {
            Some(file) => Some(OperandKind::Register {
                file,
                read: false,
                written: false,
            }),
            None => immediate(),
        };
        let kind = kind.ok_or_else(|| {
            let names = machine.files.iter().map(|f| f.name.as_str());
            let hint = match suggest(plain, names.clone()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!(
                    "registers are {}; constants are `u5`, `s12`, `to s13`",
                    names.collect::<Vec<_>>().join(", ")
                ),
            };
            wrong(
                item,
                "operands",
                format!("`{what}` is no kind of operand"),
                hint,
            )
        })?;
        operands.push(MachineOperand { name, kind });
    }
    Ok(operands)
}

/// Whether the bits in the word can name every value.
fn fits(
    k: usize,
    operand: &MachineOperand,
    encoding: &Encoding,
    machine: &Machine,
) -> Result<(), (String, String)> {
    let (high, low) = encoding.extent(k);
    let name = &operand.name;
    match operand.kind {
        OperandKind::Register { file, .. } => {
            let file = &machine.files[file];
            let needed = u32::BITS - (file.count - 1).leading_zeros();
            if low > 0 || high < needed {
                let message = format!(
                    "`{name}` has {high} bits, and there are {} registers `{}`",
                    file.count, file.name
                );
                return Err((message, format!("write `{name}:{needed}`")));
            }
        }
        OperandKind::Immediate { width, .. } if high != width => {
            let message =
                format!("`{name}` is a constant of {width} bits, and the word has {high}");
            return Err((
                message,
                format!("the highest part is `{name}[{}:…]`", width - 1),
            ));
        }
        OperandKind::Immediate { .. } => {}
    }
    Ok(())
}

/// The text after the mnemonic: characters, and operands in braces.
fn syntax(text: &str, operands: &[String]) -> Result<Vec<Syntax>, (String, String)> {
    pieces(text, operands, Spelling::Assembly)
}

/// A text with operands in braces, all of which it has.
pub(super) fn pieces(
    text: &str,
    operands: &[String],
    spelling: Spelling,
) -> Result<Vec<Syntax>, (String, String)> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, tail) = after.split_once('}').ok_or_else(|| {
            (
                "a `{` is not closed".to_owned(),
                "operands are written `{md}`".to_owned(),
            )
        })?;
        if !before.is_empty() {
            pieces.push(Syntax::Text(before.to_owned()));
        }
        let operand = operands.iter().position(|o| o == name).ok_or_else(|| {
            let hint = format!("the operands are {}", operands.join(", "));
            (format!("there is no operand `{name}`"), hint)
        })?;
        pieces.push(Syntax::Operand(operand));
        rest = tail;
    }
    if !rest.is_empty() {
        pieces.push(Syntax::Text(rest.to_owned()));
    }
    for piece in &pieces {
        if let Syntax::Text(text) = piece {
            let hint = || "this text stands in the code that is made".to_owned();
            spelling
                .check("the text of an instruction", text)
                .map_err(|message| (message, hint()))?;
        }
    }
    let missing = (0..operands.len()).find(|k| !pieces.contains(&Syntax::Operand(*k)));
    match missing {
        Some(k) => Err((
            format!("the operand `{}` is not in the text", operands[k]),
            format!("write `{{{}}}` where it stands", operands[k]),
        )),
        None => Ok(pieces),
    }
}

fn meaning(
    item: &Item<RawInstruction>,
    machine: &Machine,
    operands: &[MachineOperand],
    implicit: &[Implicit],
) -> Result<Meaning, Diagnostic> {
    let parameters = machine.parameters.iter().cloned().collect();
    let named = operands.iter().map(|o| {
        let operand = match o.kind {
            OperandKind::Register { file, .. } => Operand::Register {
                width: machine.files[file].width,
                row: machine.files[file].row,
            },
            OperandKind::Immediate { width, signed, .. } => Operand::Immediate { width, signed },
        };
        (o.name.clone(), operand)
    });
    let beside = implicit.iter().map(|i| {
        let file = &machine.files[i.file];
        let (width, row) = (file.width, file.row);
        (i.name.clone(), Operand::Register { width, row })
    });
    let scope = Scope {
        parameters: &parameters,
        operands: &named.chain(beside).collect(),
        address: machine.address,
    };
    let text = &item.raw.pseudocode;
    let meaning = parser::body(text)
        .and_then(|body| lower::lower(&body, &scope))
        .map_err(|r| refused(item, "pseudocode", text, r))?;
    let written = meaning.operands.values().any(|used| used.after.is_some());
    if !written && meaning.memory.is_none() && meaning.counter.is_none() {
        let message = "this instruction changes nothing".to_owned();
        return Err(wrong(
            item,
            "pseudocode",
            message,
            "assign a register, `mem` or `pc`".into(),
        ));
    }
    Ok(meaning)
}

/// The instruction as the rest of the program knows it.
fn instruction(
    item: &Item<RawInstruction>,
    machine: &Machine,
    operands: &[MachineOperand],
    implicit: &[Implicit],
    meaning: &Meaning,
) -> Result<Instruction, Diagnostic> {
    let c_type = |o: &MachineOperand| match o.kind {
        OperandKind::Register { file, .. } => machine.files[file].name.clone(),
        OperandKind::Immediate { width, signed, .. } => {
            format!("{}{width}", if signed { 's' } else { 'u' })
        }
    };
    let inputs = operands.iter().filter(|o| meaning.operands[&o.name].read);
    let inputs = inputs.map(|o| {
        let (width, role) = match o.kind {
            OperandKind::Register { file, .. } => (machine.files[file].width, Role::Register),
            OperandKind::Immediate { width, .. } => {
                let max = u32::try_from((1_u64 << width) - 1).unwrap_or(u32::MAX);
                (width, Role::Immediate { max })
            }
        };
        instruction::Operand {
            name: o.name.clone(),
            c_type: c_type(o),
            element: Element::Untyped,
            width,
            role,
        }
    });
    let beside = implicit.iter().filter(|i| i.read);
    let beside = beside.map(|i| instruction::Operand {
        name: i.name.clone(),
        c_type: machine.files[i.file].name.clone(),
        element: Element::Untyped,
        width: machine.files[i.file].width,
        role: Role::Register,
    });
    let output = |name: &str, c_type: String, term| Output {
        name: name.to_owned(),
        c_type,
        element: Element::Untyped,
        term,
        undefined: Vec::new(),
    };
    let mut outputs = Vec::new();
    for operand in operands {
        if let Some(after) = meaning.operands[&operand.name].after {
            outputs.push(output(&operand.name, c_type(operand), after));
        }
    }
    for register in implicit {
        if let Some(after) = meaning.operands[&register.name].after {
            let file = machine.files[register.file].name.clone();
            outputs.push(output(&register.name, file, after));
        }
    }
    outputs.extend(meaning.memory.map(|t| output(MEMORY, "void".into(), t)));
    outputs.extend(meaning.counter.map(|t| output(COUNTER, "void".into(), t)));
    let line = item.source.line(item.place().start);
    let made = Instruction {
        name: item.raw.instruction.clone(),
        isa: machine.isa.clone(),
        mnemonic: Some(item.raw.instruction.clone()),
        operands: inputs.chain(beside).collect(),
        outputs,
        features: Vec::new(),
        form: Form::Single,
        pseudocode: item.raw.pseudocode.clone(),
        origin: Origin {
            file: item.source.name().to_owned(),
            line: u32::try_from(line).unwrap_or(u32::MAX),
            ..Origin::default()
        },
    };
    let beside = implicit.iter().map(|i| i.name.as_str());
    let mut names = operands.iter().map(|o| o.name.as_str()).chain(beside);
    let spelt = spelling::instruction(&made).and_then(|()| {
        names.try_for_each(|name| Spelling::Identifier.check("the name of an operand", name))
    });
    let hint = || "these names stand in the code that is made".to_owned();
    spelt.map_err(|message| self::wrong(item, "instruction", message, hint()))?;
    Ok(made)
}

/// An instruction of the same name or with words in common, if there is one.
fn clash(
    made: &MachineInstruction,
    machine: &Machine,
    item: &Item<RawInstruction>,
    places: &[String],
) -> Option<Diagnostic> {
    for (other, place) in machine.instructions.iter().zip(places) {
        let (name, theirs) = (&made.instruction.name, &other.instruction.name);
        if name == theirs {
            let message = format!("the instruction `{name}` is there twice");
            let diagnostic = wrong(item, "instruction", message, "give one another name".into());
            return Some(diagnostic.with_note(format!("the first is at {place}")));
        }
        if let Some(word) = made.encoding.overlap(&other.encoding) {
            let message = format!("the word {word:#010x} is both `{name}` and `{theirs}`");
            let hint = "change a fixed bit of one of them, or fix a bit that one leaves open";
            let diagnostic = wrong(item, "encoding", message, hint.into());
            return Some(diagnostic.with_note(format!("`{theirs}` is at {place}")));
        }
    }
    None
}
