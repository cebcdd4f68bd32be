//! Windows as instructions: one C statement for each node of the program.
//!
//! In: a window and the program that was found for it. Out: C that loads the inputs,
//! computes, and stores the result. Nothing is chosen here but how to write constants and
//! how to load what is not dense; those loads go through a buffer.

use super::operation::c_type;
use super::register::{self, Constant};
use super::scope::{Scope, declaration};
use super::text::Text;
use autoir::instructions::{Implementation, OperandSource};
use autoir::program::{Argument, Node, Program};
use kernel::index::Index;
use kernel::tree::Access;
use kernel::types::Elem;
use lowering::window::{Input, Source, Store, Window};
use semantics::instruction::{Operand, Role};
use std::collections::BTreeMap;

/// Where the bits of an input are.
#[derive(Clone)]
enum Place {
    /// In memory, from this address (of bytes, as C sees it) on.
    Memory(String),
    /// In memory, from this address on, the leading elements, of so many bits; `active` counts
    /// them.
    Leading {
        address: String,
        active: String,
        element: u32,
    },
    /// In variables of vectors of so many bits.
    Pieces(u32, Vec<String>),
    /// In a variable of one element.
    Scalar(String),
    /// One number in every element.
    Everywhere(String, u32),
}

impl Scope<'_> {
    /// A window by its program; only `active` leading lanes are loaded and stored when that
    /// is given.
    pub(super) fn vector(
        &mut self,
        window: &Window,
        program: &Program,
        active: Option<&Index>,
        text: &mut Text,
    ) {
        self.heading(window, text);
        let active = active.map(|index| {
            let name = self.fresh("active");
            text.line(&format!("const int64_t {name} = {};", self.index(index)));
            name
        });
        let mut places = BTreeMap::new();
        for input in &window.inputs {
            let place = match active.as_deref() {
                Some(active) => self.leading(input, window, program, active),
                None => None,
            };
            let place = match place {
                Some(place) => place,
                None => self.place(input, window, active.as_deref(), text),
            };
            places.insert(input.name.as_str(), place);
        }
        let mut values: Vec<(String, u32)> = Vec::new();
        for (number, node) in program.nodes().iter().enumerate() {
            let (value, width) = match node {
                Node::Input { name, lo, width } => {
                    let place = &places[name.as_str()];
                    (self.part(place, *lo, *width, text), *width)
                }
                Node::Constant(bits) => {
                    let element = element_of_use(program, number);
                    (self.constant(bits, element, text), bits.width())
                }
                Node::Cast { value, width } => {
                    let (name, from) = &values[*value];
                    (register::resize(*from, *width, name), *width)
                }
                Node::Apply { operation, args } => {
                    let instruction = self.implementation(program.operation(*operation));
                    self.call(instruction, args, &values)
                }
            };
            values.push((self.named(node, value, width, text), width));
        }
        self.save(window, program, &values, active.as_deref(), text);
    }

    /// A variable for a step's value.
    fn named(&mut self, node: &Node, value: String, width: u32, text: &mut Text) -> String {
        let hint = match node {
            Node::Input { name, .. } => format!("v_{name}"),
            Node::Constant(_) => "k".to_owned(),
            Node::Cast { .. } => "w".to_owned(),
            Node::Apply { .. } => "t".to_owned(),
        };
        let name = self.fresh(&hint);
        text.line(&format!(
            "const {} {name} = {value};",
            register::register_type(width)
        ));
        name
    }

    /// Where an input's bits are, after what has to be done to have them in one place.
    fn place(
        &mut self,
        input: &Input,
        window: &Window,
        active: Option<&str>,
        text: &mut Text,
    ) -> Place {
        let element = input.ty.elem.bits();
        let single = |scope: &mut Self, value: String| {
            let bits = scope.functions.bits(input.ty.elem, &value);
            match input.ty.lanes {
                1 => Place::Scalar(bits),
                _ => Place::Everywhere(bits, element),
            }
        };
        match &input.source {
            Source::Scalar(id) => {
                let value = self.scalar(*id).to_owned();
                single(self, value)
            }
            Source::Index(index) => {
                let index = self.index(index);
                single(self, format!("({})({index})", c_type(input.ty.elem)))
            }
            Source::Register(id) => {
                let lanes = self.kernel.registers[*id].ty.lanes;
                if let Some((width, names)) = self.pieces.get(id) {
                    return Place::Pieces(*width, names.clone());
                }
                let name = self.register(*id).to_owned();
                match lanes {
                    1 => single(self, name),
                    n if n == input.ty.lanes => Place::Memory(name),
                    _ => self.buffer(
                        input,
                        &format!("{name}[l % {lanes}]"),
                        &input.ty.lanes.to_string(),
                        text,
                    ),
                }
            }
            Source::Array(access) if access.lanes == 1 => {
                let value = self.element(access, None);
                single(self, value)
            }
            Source::Array(access)
                if self.is_dense(access) && access.lanes == input.ty.lanes && active.is_none() =>
            {
                Place::Memory(format!("&{}", self.element(access, None)))
            }
            Source::Array(access) => self.gather(input, access, window, active, text),
        }
    }

    /// An input of which leading elements are loaded by masked instructions, where its program
    /// has only parts that there are such for, and uses their extension itself.
    fn leading(
        &mut self,
        input: &Input,
        window: &Window,
        program: &Program,
        active: &str,
    ) -> Option<Place> {
        let Source::Array(access) = &input.source else {
            return None;
        };
        let lanes = [access.lanes, input.ty.lanes];
        let whole = |node: &Node| match node {
            Node::Input { name, width, .. } => *name != input.name || *width == register::MASKED,
            _ => true,
        };
        let fits = lanes == [window.output.lanes; 2]
            && self.is_dense(access)
            && program.nodes().iter().all(whole)
            && self.masks(program, input.ty.elem.bits());
        fits.then(|| Place::Leading {
            address: format!("&{}", self.element(access, None)),
            active: active.to_owned(),
            element: input.ty.elem.bits(),
        })
    }

    /// The mask of those elements of a register, from this one on, that are among the leading
    /// `active` ones.
    fn mask(&mut self, active: &str, first: u32, element: u32) -> String {
        let lanes = register::MASKED / element;
        let from = match first {
            0 => active.to_owned(),
            _ => format!("{active} - {first}"),
        };
        format!("(__mmask{lanes}){}", self.functions.leading(&from))
    }

    /// Whether an access is consecutive elements.
    fn is_dense(&self, access: &Access) -> bool {
        let last = self.kernel.arrays[access.array].dims.len() - 1;
        access.stride == 1 && access.dim == last && !access.clamped
    }

    /// Elements that are not consecutive, or not all there, put into a buffer.
    fn gather(
        &mut self,
        input: &Input,
        access: &Access,
        window: &Window,
        active: Option<&str>,
        text: &mut Text,
    ) -> Place {
        let lane = match access.lanes == input.ty.lanes {
            true => "l".to_owned(),
            false => format!("l % {}", access.lanes),
        };
        let element = self.element(access, Some(&lane));
        let bound = match active {
            Some(active) if access.lanes == window.output.lanes => active.to_owned(),
            Some(active) => format!(
                "({active} * {} + {}) / {}",
                access.lanes,
                window.output.lanes - 1,
                window.output.lanes
            ),
            None => input.ty.lanes.to_string(),
        };
        self.buffer(input, &element, &bound, text)
    }

    /// A buffer whose element `l` is `element`, up to a bound; the rest is 0.
    fn buffer(&mut self, input: &Input, element: &str, bound: &str, text: &mut Text) -> Place {
        let name = self.fresh(&format!("b_{}", input.name));
        text.line(&format!(
            "{} = {{0}};",
            declaration(input.ty.elem, input.ty.lanes.max(2), &name)
        ));
        text.line(&format!("for (int l = 0; l < {bound}; l++)"));
        text.line(&format!("    {name}[l] = {element};"));
        Place::Memory(name)
    }

    /// Consecutive bits of an input as a C expression.
    fn part(&mut self, place: &Place, lo: u32, width: u32, text: &mut Text) -> String {
        match place {
            Place::Memory(address) => {
                let at = register::offset(address, lo);
                if register::is_vector(width) {
                    return register::load(width, &at);
                }
                let name = self.fresh("n");
                text.line(&format!("{} {name};", register::register_type(width)));
                text.line(&format!("memcpy(&{name}, {at}, sizeof {name});"));
                name
            }
            Place::Leading {
                address,
                active,
                element,
            } => {
                let mask = self.mask(active, lo / element, *element);
                register::load_masked(*element, &mask, &register::offset(address, lo))
            }
            Place::Pieces(whole, names) => {
                let name = &names[(lo / whole) as usize];
                match (lo % whole) / width {
                    0 => register::resize(*whole, width, name),
                    part => register::extract(*whole, width, part, name),
                }
            }
            Place::Everywhere(value, element) if register::is_vector(width) => {
                register::broadcast(width, *element, &format!("({value})"))
            }
            Place::Everywhere(value, element) if width > *element => {
                let repeated = register::broadcast(128, *element, &format!("({value})"));
                register::resize(128, width, &repeated)
            }
            Place::Scalar(value) | Place::Everywhere(value, _) => {
                let shifted = if lo == 0 {
                    format!("({value})")
                } else {
                    format!("(({value}) >> {lo})")
                };
                format!("({}){shifted}", register::register_type(width))
            }
        }
    }

    /// A constant as a C expression; tables go before.
    fn constant(&mut self, bits: &semantics::bits::Bits, element: u32, text: &mut Text) -> String {
        match register::constant(bits, element) {
            Constant::Expression(value) => value,
            Constant::Table(element, values) => {
                let name = self.fresh("table");
                text.line(&format!(
                    "_Alignas(64) static const uint{element}_t {name}[{}] = {{",
                    values.len()
                ));
                for row in values.chunks(16) {
                    text.line(&format!("    {},", row.join(", ")));
                }
                text.line("};");
                register::load(bits.width(), &name)
            }
        }
    }

    /// The result to where the window stores it.
    fn save(
        &mut self,
        window: &Window,
        program: &Program,
        values: &[(String, u32)],
        active: Option<&str>,
        text: &mut Text,
    ) {
        let outputs: Vec<&(String, u32)> = program
            .outputs
            .iter()
            .map(|&value| &values[value])
            .collect();
        let (elem, lanes) = (window.output.elem, window.output.lanes);
        if let Store::Register(id) = window.store
            && let Some((width, names)) = self.pieces.get(&id)
        {
            for (name, (value, from)) in names.iter().zip(outputs) {
                let value = register::resize(*from, *width, value);
                text.line(&format!("{name} = {value};"));
            }
            return;
        }
        if let (Store::Array(access), Some(active)) = (&window.store, active)
            && self.save_leading(window, program, access, active, &outputs, text)
        {
            return;
        }
        let direct = match &window.store {
            Store::Register(id) => {
                let name = self.register(*id).to_owned();
                Some(if lanes == 1 { format!("&{name}") } else { name })
            }
            Store::Array(access) if active.is_none() && (lanes == 1 || self.is_dense(access)) => {
                Some(format!("&{}", self.element(access, None)))
            }
            Store::Array(_) => None,
        };
        let address = direct.clone().unwrap_or_else(|| {
            let name = self.fresh("result");
            text.line(&format!("{};", declaration(elem, lanes.max(2), &name)));
            name
        });
        let mut at = 0;
        for (value, width) in outputs {
            let here = register::offset(&address, at);
            let (whole, width) = (value, *width);
            let kept = width.min(window.output.width() - at);
            if kept < width && !register::is_whole(kept) {
                self.save_bytes(&here, whole, width, kept, text);
                at += kept;
                continue;
            }
            let value = register::resize(width, kept, whole);
            if register::is_vector(kept) {
                text.line(&register::store(kept, &here, &value));
            } else if kept == elem.bits() && lanes == 1 {
                let bits = format!("({}){value}", register::register_type(kept));
                let value = match elem.format() {
                    Some(_) => self.functions.value(elem, &bits),
                    None => format!("({}){value}", c_type(elem)),
                };
                text.line(&format!("{} = {value};", here.trim_start_matches('&')));
            } else {
                let name = self.fresh("n");
                text.line(&format!(
                    "const {} {name} = {value};",
                    register::register_type(kept)
                ));
                text.line(&format!("memcpy({here}, &{name}, {});", kept / 8));
            }
            at += kept;
        }
        if let (None, Store::Array(access)) = (direct, &window.store) {
            let bound = active.map_or(lanes.to_string(), str::to_owned);
            let place = self.element(access, Some("l"));
            text.line(&format!("for (int l = 0; l < {bound}; l++)"));
            text.line(&format!("    {place} = {address}[l];"));
        }
    }
}

/// The width of the elements that the first user of a value speaks of; 32 when none does.
fn element_of_use(program: &Program, value: usize) -> u32 {
    let used = |node: &Node| match node {
        Node::Apply { operation, args } => {
            let at = args.iter().position(|arg| *arg == Argument::Value(value))?;
            program.operation(*operation).formals[at].element.width()
        }
        _ => None,
    };
    program.nodes().iter().find_map(used).unwrap_or(32)
}

impl<'a> Scope<'a> {
    /// Which instruction implements an operation.
    fn implementation(&self, instance: &autoir::program::Instance) -> &'a Implementation {
        self.selection.of(instance)
    }

    /// Whether a program uses the extension that loads and stores elements of so many bits under
    /// a mask: then the target has it.
    fn masks(&self, program: &Program, element: u32) -> bool {
        register::masking(element)
            .is_some_and(|feature| super::features(program, self.selection).contains(feature))
    }

    /// Stores the low bytes of a vector of which no register holds just so many: through memory of
    /// the vector's own width, because nothing past them may be written.
    fn save_bytes(&mut self, to: &str, vector: &str, width: u32, kept: u32, text: &mut Text) {
        let name = self.fresh("n");
        text.line(&format!("uint8_t {name}[{}];", width / 8));
        text.line(&register::store(width, &name, vector));
        text.line(&format!("memcpy({to}, {name}, {});", kept / 8));
    }

    /// Stores leading elements by masked instructions; false where there are none for them.
    fn save_leading(
        &mut self,
        window: &Window,
        program: &Program,
        access: &Access,
        active: &str,
        outputs: &[&(String, u32)],
        text: &mut Text,
    ) -> bool {
        let element = window.output.elem.bits();
        let whole = outputs.iter().all(|(_, width)| *width == register::MASKED)
            && window.output.width().is_multiple_of(register::MASKED);
        if !whole || !self.is_dense(access) || !self.masks(program, element) {
            return false;
        }
        let address = format!("&{}", self.element(access, None));
        for (n, (value, _)) in (0..).zip(outputs) {
            let mask = self.mask(active, n * register::MASKED / element, element);
            let at = register::offset(&address, n * register::MASKED);
            text.line(&register::store_masked(element, &mask, &at, value));
        }
        true
    }

    /// The call of an instruction, and the width of what it returns.
    fn call(
        &mut self,
        instruction: &Implementation,
        args: &[Argument],
        values: &[(String, u32)],
    ) -> (String, u32) {
        let mut arguments = Vec::new();
        for (source, operand) in instruction.sources.iter().zip(&instruction.operands) {
            arguments.push(match source {
                OperandSource::Constant(value) => value.to_string(),
                OperandSource::Formal(k) => match &args[*k] {
                    Argument::Immediate(bits) => bits.low_u64().to_string(),
                    Argument::Value(value) => self.operand(operand, &values[*value]),
                },
            });
        }
        let call = format!("{}({})", instruction.instruction, arguments.join(", "));
        let width = instruction.width;
        let value = match register::is_vector(width) {
            true => register::reinterpret(
                &call,
                width,
                &instruction.c_type,
                &register::register_type(width),
            ),
            false => match float_type(&instruction.c_type) {
                Some(elem) => self.functions.bits(elem, &call),
                None => format!("({}){call}", register::register_type(width)),
            },
        };
        (value, width)
    }
}

impl Scope<'_> {
    /// A value as an operand of its type in C.
    fn operand(&mut self, operand: &Operand, (name, width): &(String, u32)) -> String {
        if operand.role == Role::Register && register::is_vector(*width) {
            let own = register::register_type(*width);
            return register::reinterpret(name, *width, &own, &operand.c_type);
        }
        match float_type(&operand.c_type) {
            Some(elem) => {
                let bits = format!("({}){name}", register::register_type(elem.bits()));
                self.functions.value(elem, &bits)
            }
            None => format!("({}){name}", operand.c_type),
        }
    }
}

/// The element type that a C type is, if it is a float.
fn float_type(c_type: &str) -> Option<Elem> {
    match c_type.trim() {
        "float" => Elem::by_name("f32"),
        "double" => Elem::by_name("f64"),
        _ => None,
    }
}
