//! Windows as instructions: one C statement for each node of a placed program.
//!
//! In: a window and its placed program. Out: C. Nothing is chosen here: which instruction loads,
//! moves, computes and stores is in the program and in the selection. Before it elements that are
//! not consecutive are gathered, after it scattered, as the program says.

use super::operation::c_type;
use super::register;
use super::scope::Scope;
use super::text::Text;
use autoir::instructions::{Implementation, OperandSource};
use autoir::program::placed::{Copied, Place, Placed, Residence};
use autoir::program::{Argument, Node, Program, Region, Value};
use kernel::index::Index;
use kernel::types::Elem;
use lowering::window::{Input, Source, Store, Window};
use semantics::bits::Bits;
use semantics::instruction::{Element, Operand, Role};
use std::collections::BTreeMap;

/// Where C has what a program reads and writes.
#[derive(Default)]
struct Places {
    /// The address of each input in memory; of numbers the value, of variables their names.
    inputs: BTreeMap<String, Vec<String>>,
    /// The same of the result.
    result: Vec<String>,
    /// The variable that counts the active lanes.
    active: String,
    /// The memory of the program's own.
    scratch: Option<String>,
    /// The tables so far.
    tables: BTreeMap<Bits, String>,
}

/// The names of what the windows of a block have loaded so far.
pub(super) type Loaded = BTreeMap<Place, String>;

impl Scope<'_> {
    /// A window by its program; only `active` leading lanes are loaded and stored when that
    /// is given.
    pub(super) fn vector(
        &mut self,
        (id, window): (usize, &Window),
        placed: &Placed,
        active: Option<&Index>,
        loaded: &mut Loaded,
        text: &mut Text,
    ) {
        self.heading(window, text);
        let mut places = Places::default();
        if let Some(index) = active {
            places.active = self.fresh("active");
            let count = self.index(index);
            text.line(&format!("const int64_t {} = {count};", places.active));
        }
        let bound = active.map(|_| places.active.clone());
        for input in &window.inputs {
            let residence = placed.ends.inputs[&input.name];
            let place = self.place(input, residence, bound.as_deref(), text);
            places.inputs.insert(input.name.clone(), place);
        }
        places.result = self.result(window, placed.ends.result, text);
        let mut values: Vec<String> = Vec::new();
        for value in 0..placed.program.nodes().len() {
            let place = (id, value);
            let loads = &self.placement.loads;
            let known = loads.again.get(&place).and_then(|of| loaded.get(of));
            let name = match known {
                Some(name) => name.clone(),
                None => {
                    let name = self.node(window, placed, value, &values, &mut places, text);
                    match loads.held.contains(&place) {
                        true => self.loaded(&name, placed.program.width(value), text),
                        false => name,
                    }
                }
            };
            loaded.insert(place, name.clone());
            values.push(name);
        }
        if let (Residence::Buffer(copied), Store::Array(access)) =
            (placed.ends.result, &window.store)
        {
            let place = self.element(access, Some("l"));
            let buffer = format!("{}[l]", places.result[0]);
            self.copied(copied, bound.as_deref(), (&place, &buffer), text);
        }
    }

    /// The statement of a node; the name of its value, which what is none has not.
    fn node(
        &mut self,
        window: &Window,
        placed: &Placed,
        value: Value,
        values: &[String],
        places: &mut Places,
        text: &mut Text,
    ) -> String {
        let program = &placed.program;
        let width = program.width(value);
        let c_type = self.registers.c_type(width);
        let (hint, expression) = match program.node(value) {
            Node::Input { name, lo, .. } => {
                let place = &places.inputs[name];
                let residence = placed.ends.inputs[name];
                let read = self.read(place, residence, *lo, width, text);
                (format!("v_{name}"), read)
            }
            Node::Constant(bits) => ("k".to_owned(), register::constant(bits)),
            Node::Cast { value, .. } => ("w".to_owned(), format!("({c_type}){}", values[*value])),
            Node::Active { first, .. } => {
                let from = match first {
                    0 => places.active.clone(),
                    _ => format!("{} - {first}", places.active),
                };
                (
                    "m".to_owned(),
                    format!("({c_type}){}", self.functions.leading(&from)),
                )
            }
            Node::Apply { operation, args } => {
                let instance = program.operation(*operation);
                let instruction = self.placement.selection.of(instance);
                let call = self.call(instruction, args, (placed, values), places, text);
                if width == 0 {
                    text.line(&format!("{call};"));
                    return String::new();
                }
                let hint = match args.iter().find(|arg| matches!(arg, Argument::Address(..))) {
                    Some(Argument::Address(Region::Input(name), _)) => format!("v_{name}"),
                    Some(_) => "k".to_owned(),
                    None => "t".to_owned(),
                };
                (hint, self.result_of(instruction, call))
            }
            Node::Store { value, byte } => {
                let stored = (values[*value].as_str(), program.width(*value));
                let to = (placed.ends.result, places.result.as_slice());
                self.save(window.output.elem, stored, *byte, to, text);
                return String::new();
            }
            Node::Copy { byte, bytes } => {
                let to = register::offset(&places.result[0], *byte);
                let from = places.scratch.as_deref().unwrap_or_default();
                text.line(&format!("memcpy({to}, {from}, {bytes});"));
                return String::new();
            }
        };
        let name = self.fresh(&hint);
        text.line(&format!("const {c_type} {name} = {expression};"));
        name
    }

    /// Where an input's bits are, after what has to be done to have them in one place.
    fn place(
        &mut self,
        input: &Input,
        residence: Residence,
        active: Option<&str>,
        text: &mut Text,
    ) -> Vec<String> {
        let place = match (&input.source, residence) {
            (Source::Register(id), Residence::Variables(_)) => return self.pieces[id].clone(),
            (Source::Register(id), Residence::Memory) => self.register(*id).to_owned(),
            (source, Residence::Buffer(copied)) => {
                let lane = match copied.period == copied.lanes {
                    true => "l".to_owned(),
                    false => format!("l % {}", copied.period),
                };
                let element = match source {
                    Source::Array(access) => self.element(access, Some(&lane)),
                    Source::Register(id) => format!("{}[{lane}]", self.register(*id)),
                    Source::Scalar(_) | Source::Index(_) => unreachable!("they are numbers"),
                };
                self.buffer(input, &element, (copied, active), text)
            }
            (Source::Array(access), Residence::Memory) => {
                format!("&{}", self.element(access, None))
            }
            (source, _) => {
                let value = match source {
                    Source::Scalar(id) => self.scalar(*id).to_owned(),
                    Source::Register(id) => self.register(*id).to_owned(),
                    Source::Array(access) => self.element(access, None),
                    Source::Index(index) => {
                        let index = self.index(index);
                        format!("({})({index})", c_type(input.ty.elem))
                    }
                };
                self.functions.bits(input.ty.elem, &value)
            }
        };
        vec![place]
    }

    /// A buffer whose elements are so many that lie elsewhere; the rest is 0.
    fn buffer(
        &mut self,
        input: &Input,
        element: &str,
        (copied, active): (Copied, Option<&str>),
        text: &mut Text,
    ) -> String {
        let name = self.fresh(&format!("b_{}", input.name));
        text.line(&format!(
            "{} = {{0}};",
            self.declaration(input.ty.elem, copied.lanes.max(2), &name)
        ));
        let to = format!("{name}[l]");
        self.copied(copied, active, (&to, element), text);
        name
    }

    /// The loop that copies elements one by one.
    fn copied(
        &self,
        copied: Copied,
        active: Option<&str>,
        (to, from): (&str, &str),
        text: &mut Text,
    ) {
        let lanes = copied.lanes;
        let bound = match (copied.active, active) {
            (Some(of), Some(active)) if of == lanes => active.to_owned(),
            (Some(of), Some(active)) => format!("({active} * {lanes} + {}) / {of}", of - 1),
            _ => lanes.to_string(),
        };
        text.line(&format!("for (int l = 0; l < {bound}; l++)"));
        text.line(&format!("    {to} = {from};"));
    }

    /// Consecutive bits of an input: a variable of vectors, or a number of up to 64 bits.
    fn read(
        &mut self,
        place: &[String],
        residence: Residence,
        lo: u32,
        width: u32,
        text: &mut Text,
    ) -> String {
        let number = self.registers.c_type(width);
        match residence {
            Residence::Variables(of) => place[(lo / of) as usize].clone(),
            Residence::Number if lo == 0 => format!("({number})({})", place[0]),
            Residence::Number => format!("({number})(({}) >> {lo})", place[0]),
            Residence::Memory | Residence::Buffer(_) => {
                let name = self.fresh("n");
                let from = register::offset(&place[0], lo / 8);
                text.line(&format!("{number} {name};"));
                text.line(&format!("memcpy(&{name}, {from}, sizeof {name});"));
                name
            }
        }
    }

    /// Where the result goes: an address, a place of one element, or variables.
    fn result(&mut self, window: &Window, residence: Residence, text: &mut Text) -> Vec<String> {
        let lanes = window.output.lanes;
        let place = match (&window.store, residence) {
            (Store::Register(id), Residence::Variables(_)) => return self.pieces[id].clone(),
            (Store::Register(id), _) => self.register(*id).to_owned(),
            (Store::Array(access), Residence::Number) => self.element(access, None),
            (Store::Array(access), Residence::Memory) => {
                format!("&{}", self.element(access, None))
            }
            (Store::Array(_), _) => {
                let name = self.fresh("result");
                let declared = self.declaration(window.output.elem, lanes.max(2), &name);
                text.line(&format!("{declared};"));
                name
            }
        };
        vec![place]
    }

    /// A value to where the result goes, from a byte of it on.
    fn save(
        &mut self,
        elem: Elem,
        (value, bits): (&str, u32),
        byte: u32,
        (residence, place): (Residence, &[String]),
        text: &mut Text,
    ) {
        match residence {
            Residence::Variables(of) => {
                text.line(&format!("{} = {value};", place[(8 * byte / of) as usize]));
            }
            Residence::Number => {
                let value = match elem.format() {
                    Some(_) => self.functions.value(elem, value),
                    None => format!("({}){value}", c_type(elem)),
                };
                text.line(&format!("{} = {value};", place[0]));
            }
            Residence::Memory | Residence::Buffer(_) => {
                let to = register::offset(&place[0], byte);
                text.line(&format!("memcpy({to}, &{value}, {});", bits / 8));
            }
        }
    }

    /// The call of an instruction.
    fn call(
        &mut self,
        instruction: &Implementation,
        args: &[Argument],
        (placed, values): (&Placed, &[String]),
        places: &mut Places,
        text: &mut Text,
    ) -> String {
        let program = &placed.program;
        let mut arguments = Vec::new();
        for (source, operand) in instruction.sources.iter().zip(&instruction.operands) {
            arguments.push(match source {
                OperandSource::Constant(value) => value.to_string(),
                OperandSource::Formal(k) => match &args[*k] {
                    Argument::Immediate(bits) => bits.low_u64().to_string(),
                    Argument::Value(value) => {
                        let width = program.width(*value);
                        let of = (program, *value);
                        let name = self.held(instruction, &values[*value], of, text);
                        self.operand(operand, &name, width)
                    }
                    Argument::Address(region, byte) => {
                        let bytes = args.iter().find_map(|arg| match arg {
                            Argument::Value(value) => Some(program.width(*value) / 8),
                            _ => None,
                        });
                        let start = self.region(region, bytes.unwrap_or(0), placed, places, text);
                        let at = register::offset(&start, *byte);
                        match operand.c_type.contains("void") {
                            true => at,
                            false => format!("({}){at}", operand.c_type),
                        }
                    }
                },
            });
        }
        format!("{}({})", instruction.instruction, arguments.join(", "))
    }

    /// A value where an instruction wants it: in a register, if compilers need to be told so.
    fn held(
        &mut self,
        instruction: &Implementation,
        value: &str,
        (program, of): (&Program, Value),
        text: &mut Text,
    ) -> String {
        let (width, name) = (program.width(of), &instruction.instruction);
        let is_constant = || is_constant(program, of);
        let Some(constraint) = self.registers.held(width, name, is_constant) else {
            return value.to_owned();
        };
        let constraint = constraint.to_owned();
        self.in_register(&constraint, value, width, text)
    }

    /// What is loaded and read more than once: in a register.
    fn loaded(&mut self, value: &str, width: u32, text: &mut Text) -> String {
        match self.registers.constraint(width).map(str::to_owned) {
            Some(constraint) => self.in_register(&constraint, value, width, text),
            None => value.to_owned(),
        }
    }

    fn in_register(
        &mut self,
        constraint: &str,
        value: &str,
        width: u32,
        text: &mut Text,
    ) -> String {
        let (c_type, name) = (self.registers.c_type(width), self.fresh("h"));
        text.line(&format!("{c_type} {name} = {value};"));
        text.line(&format!("__asm__(\"\" : \"+{constraint}\"({name}));"));
        name
    }

    /// Where a region begins. `bytes` is what scratch memory has to hold.
    fn region(
        &mut self,
        region: &Region,
        bytes: u32,
        placed: &Placed,
        places: &mut Places,
        text: &mut Text,
    ) -> String {
        match region {
            Region::Input(name) => places.inputs[name][0].clone(),
            Region::Result => places.result[0].clone(),
            Region::Scratch => {
                let name = self.fresh("n");
                text.line(&format!("uint8_t {name}[{bytes}];"));
                places.scratch = Some(name.clone());
                name
            }
            Region::Table(bits) => match places.tables.get(bits) {
                Some(name) => name.clone(),
                None => {
                    let name = self.table(bits, placed.tables[bits], text);
                    places.tables.insert(bits.clone(), name.clone());
                    name
                }
            },
        }
    }

    /// A table of constants.
    fn table(&mut self, bits: &Bits, element: u32, text: &mut Text) -> String {
        let name = self.fresh("table");
        let values = register::table(bits, element);
        text.line(&format!(
            "_Alignas({}) static const uint{element}_t {name}[{}] = {{",
            self.align,
            values.len()
        ));
        for row in values.chunks(16) {
            text.line(&format!("    {},", row.join(", ")));
        }
        text.line("};");
        name
    }

    /// What an instruction returns as a value of a program.
    fn result_of(&mut self, instruction: &Implementation, call: String) -> String {
        let own = self.registers.c_type(instruction.width);
        match instruction.c_type.as_str() {
            c_type if own == c_type => call,
            c_type if self.is_single_float(instruction.element, instruction.width) => {
                self.functions.reinterpret(&call, c_type, &own)
            }
            _ => format!("({own}){call}"),
        }
    }

    /// A value as an operand of its type in C.
    fn operand(&mut self, operand: &Operand, name: &str, width: u32) -> String {
        let vector = self.registers.is_vector(width);
        if vector && self.registers.c_type(width) == operand.c_type {
            return name.to_owned();
        }
        if operand.role == Role::Register && self.is_single_float(operand.element, width) {
            let bits = self.registers.c_type(width);
            return self.functions.reinterpret(name, &bits, &operand.c_type);
        }
        format!("({}){name}", operand.c_type)
    }

    /// Whether C has one float of what here are its bits: its conversions change the bits.
    fn is_single_float(&self, element: Element, width: u32) -> bool {
        let float = matches!(element, Element::Float(_) | Element::Bfloat16);
        float && element.width() == Some(width) && !self.registers.is_vector(width)
    }
}

/// Whether a value is made of constants alone.
fn is_constant(program: &Program, value: Value) -> bool {
    match program.node(value) {
        Node::Constant(_) => true,
        Node::Cast { value, .. } => is_constant(program, *value),
        Node::Apply { args, .. } => args.iter().all(|arg| match arg {
            Argument::Immediate(_) => true,
            Argument::Value(value) => is_constant(program, *value),
            Argument::Address(..) => false,
        }),
        _ => false,
    }
}
