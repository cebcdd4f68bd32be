//! Exo libraries: vector instructions as `@instr` definitions with their memories.
//!
//! In: a dictionary, and a set that says which registers Exo's elements are in. Out:
//! `autoir_ISA.py`, which the package `exo-lang` imports: for each
//! instruction whose elements Exo can say, a definition with a body from its meaning and a
//! template from its operands. Where a masked form keeps what an operand was, the definition
//! writes that operand; where it zeroes, the body does. What Exo has no type or operator for
//! is left out and counted.

pub mod block;
mod lane;
pub mod tile;

use crate::artefact::{Artefact, Input, Set};
use autoir::dictionary::{Member, Operation};
use lane::{Expr, Lanes, lanes};
use semantics::instruction::{Element, Form, Operand, Role};
use semantics::spelling::line;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// What the memories of a set have in common.
const HEAD: &str = include_str!("exo/memories.py");

/// The file of a set.
pub fn artefact<'a>(input: &'a Input<'a>, set: &'a Set) -> Artefact<'a> {
    let path = format!("exo/autoir_{}.py", set.isa);
    Artefact::new(path, move |out| write(input, set, out))
}

fn write(input: &Input<'_>, set: &Set, out: &mut dyn Write) -> io::Result<String> {
    writeln!(out, "{}", input.header("#"))?;
    out.write_all(HEAD.as_bytes())?;
    let include = |header: &String| format!("#include <{header}>");
    let headers: Vec<String> = set.headers.iter().map(include).collect();
    let headers = headers.join("\\n");
    for (name, types) in &set.memories {
        let bits = types.values().find_map(|c_type| set.width_of(c_type));
        let bits = bits.unwrap_or(0);
        write!(
            out,
            "\n\nclass {name}(_Vectors):\n    headers = \"{headers}\"\n    bits = {bits}\n    \
             types = {{"
        )?;
        for (at, (element, c_type)) in types.iter().enumerate() {
            let width = set.width_of(element).unwrap_or(0);
            let comma = if at == 0 { "" } else { ", " };
            write!(out, "{comma}\"{element}\": ({width}, \"{c_type}\")")?;
        }
        out.write_all(b"}\n")?;
    }
    let (mut written, mut left) = (0, 0);
    for (operation, member) in input.dictionary.members().filter(|(_, m)| m.isa == set.isa) {
        let forms = match Definition::of(set, operation, member) {
            Some(definition) => definition.forms(),
            None => Vec::new(),
        };
        left += usize::from(forms.is_empty());
        for form in forms {
            written += 1;
            out.write_all(form.as_bytes())?;
        }
    }
    Ok(format!(
        "{written} definitions; {left} instructions have none"
    ))
}

/// An instruction that Exo can say.
struct Definition<'a> {
    operation: &'a Operation,
    member: &'a Member,
    set: &'a Set,
    /// Exo's type of an element, and what that is in C.
    element: (&'static str, &'static str),
    /// Where registers are in Exo.
    memory: &'a str,
    /// The type of a register in C.
    vector: &'a str,
    count: usize,
    stored: Option<String>,
    masked: bool,
    value: Expr,
    /// What a masked-off element is; nothing when it stays.
    otherwise: Option<Expr>,
}

/// Exo's type, and what it is in C.
fn exo_type(element: Element) -> Option<(&'static str, &'static str)> {
    Some(match element {
        Element::Float(16) => ("f16", "_Float16"),
        Element::Float(32) => ("f32", "float"),
        Element::Float(64) => ("f64", "double"),
        Element::Signed(8) => ("i8", "int8_t"),
        Element::Unsigned(8) => ("ui8", "uint8_t"),
        // Sums, differences and low products have the same bits signed and unsigned.
        Element::Signed(16) | Element::Unsigned(16) => ("ui16", "uint16_t"),
        Element::Signed(32) | Element::Unsigned(32) => ("i32", "int32_t"),
        _ => return None,
    })
}

/// The element that a type of C is the only one for.
fn only_element(types: &BTreeMap<String, String>, c_type: &str) -> Option<Element> {
    let mut all = types.iter().filter(|(_, vector)| *vector == c_type);
    let (Some((element, _)), None) = (all.next(), all.next()) else {
        return None;
    };
    Some(match element.as_str() {
        "_Float16" => Element::Float(16),
        "float" => Element::Float(32),
        "double" => Element::Float(64),
        "int8_t" => Element::Signed(8),
        "uint8_t" => Element::Unsigned(8),
        "uint16_t" => Element::Unsigned(16),
        "int32_t" => Element::Signed(32),
        _ => return None,
    })
}

impl<'a> Definition<'a> {
    fn of(set: &'a Set, operation: &'a Operation, member: &'a Member) -> Option<Definition<'a>> {
        if member.form == Form::Library || member.operands.iter().any(|o| o.role.is_constant()) {
            return None;
        }
        let output = member.outputs.first()?;
        let is_vector = |o: &&Operand| o.role == Role::Register && memory(set, &o.c_type).is_some();
        let operand = member.operands.iter().find(is_vector);
        let (element, register) = match output.c_type.as_str() {
            "void" => operand.map(|o| (o.element, o.c_type.as_str()))?,
            c_type => (output.element, c_type),
        };
        let (memory, types) = memory(set, register)?;
        let element = match element {
            // What only moves says of its elements what its type does.
            Element::Untyped => {
                let reported = operand.map_or(register, |o| o.c_type.as_str());
                only_element(types, reported)?
            }
            reported => reported,
        };
        let width = element.width()?;
        let element = exo_type(element)?;
        let found = lanes(operation, member, width)?;
        let (value, otherwise, masked) = same(&found)?;
        let definition = Definition {
            operation,
            member,
            set,
            element,
            memory,
            vector: types.get(element.1)?,
            count: found.each.len(),
            stored: found.stored,
            masked,
            value,
            otherwise,
        };
        definition.is_sound(width).then_some(definition)
    }

    /// Whether the operand is a whole vector.
    fn is_vector(&self, operand: &Operand) -> bool {
        operand.role == Role::Register && memory(self.set, &operand.c_type).is_some()
    }

    /// Whether every operand has a form in Exo.
    fn is_sound(&self, width: u32) -> bool {
        let masks = self.member.operands.iter().filter(|o| o.role == Role::Mask);
        let result = self.member.outputs.first().map(|o| o.c_type.as_str());
        if self.stored.is_none() && result != Some(self.vector) {
            return false;
        }
        let fits = |o: &Operand| match o.role {
            Role::Register if self.is_vector(o) => o.c_type == self.vector,
            Role::Register => o.width == width,
            _ => true,
        };
        let bits = self.set.width_of(self.vector);
        let whole = bits.is_some_and(|bits| self.count * width as usize == bits as usize);
        let all = self.member.operands.iter().all(fits);
        whole && all && masks.count() == usize::from(self.masked)
    }

    /// The definitions: with a result of its own, and writing one of its operands.
    fn forms(&self) -> Vec<String> {
        let name = self.member.name.trim_start_matches('_');
        if let Some(pointer) = &self.stored {
            return vec![self.form(name, pointer, &Statement::Set)];
        }
        let kept = self.otherwise.as_ref().and_then(operand_at_lane);
        match (self.masked, kept) {
            (true, Some(kept)) => {
                let how = match self.addend(&kept) {
                    Some(rest) => Statement::Add(rest),
                    None => Statement::Set,
                };
                vec![self.form(name, &kept, &how)]
            }
            (true, None) => vec![self.form(name, "dst", &Statement::Set)],
            (false, _) => {
                let mut forms = vec![self.form(name, "dst", &Statement::Set)];
                let vectors = self.member.operands.iter().filter(|o| self.is_vector(o));
                let mut adding = vectors.filter_map(|o| Some((o, self.addend(&o.name)?)));
                if let Some((operand, rest)) = adding.next_back() {
                    let name = format!("{name}_acc");
                    forms.push(self.form(&name, &operand.name, &Statement::Add(rest)));
                }
                forms
            }
        }
    }

    /// What is added to an operand; nothing when the value is no such sum.
    fn addend(&self, operand: &str) -> Option<Expr> {
        let Expr::Two('+', a, b) = &self.value else {
            return None;
        };
        let is = |e: &Expr| operand_at_lane(e).is_some_and(|name| name == operand);
        let rest = match (is(a), is(b)) {
            (true, false) => b,
            (false, true) => a,
            _ => return None,
        };
        (!mentions(rest, operand)).then(|| (**rest).clone())
    }

    /// One definition that writes `target`.
    fn form(&self, name: &str, target: &str, how: &Statement) -> String {
        let length = if self.masked {
            "N".to_owned()
        } else {
            self.count.to_string()
        };
        let (element, memory) = (self.element.0, self.memory);
        let mut parameters: Vec<String> = Vec::new();
        let mut strides = BTreeSet::new();
        if self.masked {
            parameters.push("N: size".to_owned());
        }
        if target == "dst" {
            parameters.push(format!("dst: [{element}][{}] @ {memory}", self.count));
            strides.insert("dst".to_owned());
        }
        for operand in &self.member.operands {
            let spelt = spelt(&operand.name);
            match operand.role {
                Role::Mask => continue,
                Role::Pointer { .. } => {
                    let one = self.is_broadcast(&operand.name);
                    let length = if one { "1" } else { &length };
                    parameters.push(format!("{spelt}: [{element}][{length}] @ DRAM"));
                }
                _ if self.is_vector(operand) => {
                    parameters.push(format!("{spelt}: [{element}][{}] @ {memory}", self.count));
                }
                _ => {
                    parameters.push(format!("{spelt}: [{element}][1] @ DRAM"));
                    continue;
                }
            }
            strides.insert(spelt);
        }
        let mut text = format!("\n\n# {}\n", line(&self.operation.formula));
        text.push_str(&format!("@instr(\"{}\")\n", self.template(target)));
        text.push_str(&format!("def {name}({}):\n", parameters.join(", ")));
        if self.masked {
            text.push_str(&format!(
                "    assert N >= 1\n    assert N <= {}\n",
                self.count
            ));
        }
        for operand in strides {
            text.push_str(&format!("    assert stride({operand}, 0) == 1\n"));
        }
        text.push_str(&format!("    for i in seq(0, {}):\n", self.count));
        let target = spelt(target);
        let statement = match how {
            Statement::Set => format!("{target}[i] = {}", shown(&self.value)),
            Statement::Add(rest) => format!("{target}[i] += {}", shown(rest)),
        };
        match (self.masked, &self.otherwise) {
            (false, _) => text.push_str(&format!("        {statement}\n")),
            (true, other) => {
                text.push_str(&format!("        if i < N:\n            {statement}\n"));
                let other = other.as_ref().filter(|_| target == "dst");
                if let Some(other) = other {
                    let other = shown(other);
                    text.push_str(&format!(
                        "        else:\n            {target}[i] = {other}\n"
                    ));
                }
            }
        }
        text
    }

    /// A cast of a pointer to Exo's elements, where C has another type.
    fn cast(&self, c_type: &str) -> String {
        let words = c_type.split([' ', '*']).filter(|word| !word.is_empty());
        let pointee: Vec<&str> = words.filter(|word| *word != "const").collect();
        match pointee.as_slice() {
            ["void"] => String::new(),
            [own] if *own == self.element.1 => String::new(),
            _ => format!("({c_type})"),
        }
    }

    /// Whether all elements are the first one behind a pointer.
    fn is_broadcast(&self, pointer: &str) -> bool {
        shown(&self.value).contains(&format!("{}[0]", spelt(pointer)))
    }

    /// The call, with Exo's names of windows.
    fn template(&self, target: &str) -> String {
        let argument = |o: &Operand| {
            let spelt = spelt(&o.name);
            match o.role {
                Role::Mask => format!("({})(~0ULL >> (64 - {{N}}))", o.c_type),
                Role::Pointer { .. } => format!("{}&{{{spelt}_data}}", self.cast(&o.c_type)),
                _ => format!("{{{spelt}_data}}"),
            }
        };
        let arguments = self.member.operands.iter().map(argument);
        let arguments = arguments.collect::<Vec<_>>().join(", ");
        let call = format!("{}({arguments});", self.member.name);
        match self.stored {
            Some(_) => call,
            None => format!("{{{}_data}} = {call}", spelt(target)),
        }
    }
}

/// The memory that a type of C is a register of, and the types of its registers.
fn memory<'a>(set: &'a Set, c_type: &str) -> Option<(&'a str, &'a BTreeMap<String, String>)> {
    let has = |types: &BTreeMap<String, String>| types.values().any(|vector| vector == c_type);
    let found = set.memories.iter().find(|(_, types)| has(types));
    found.map(|(name, types)| (name.as_str(), types))
}

/// How a definition changes its target.
enum Statement {
    Set,
    Add(Expr),
}

/// A name that Exo takes and the definition does not use itself.
fn spelt(name: &str) -> String {
    match name {
        "i" | "N" | "in" | "if" | "is" | "or" | "size" => format!("{name}_"),
        _ => name.to_owned(),
    }
}

/// The operand that the expression is, element by element.
fn operand_at_lane(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Element { operand, lo: 1, .. } => Some(operand.clone()),
        _ => None,
    }
}

fn mentions(expr: &Expr, name: &str) -> bool {
    match expr {
        Expr::Element { operand, .. } => operand == name,
        Expr::Loaded { pointer, .. } => pointer == name,
        Expr::Zero => false,
        Expr::Two(_, a, b) => mentions(a, name) || mentions(b, name),
        Expr::Choice { yes, no, .. } => mentions(yes, name) || mentions(no, name),
    }
}

/// An expression over `i`.
fn shown(expr: &Expr) -> String {
    let place = |at: u64| if at == 0 { "0" } else { "i" };
    match expr {
        Expr::Element { operand, lo, .. } => format!("{}[{}]", spelt(operand), place((*lo).into())),
        Expr::Loaded { pointer, byte, .. } => format!("{}[{}]", spelt(pointer), place(*byte)),
        Expr::Zero | Expr::Choice { .. } => "0.0".to_owned(),
        Expr::Two(sign, a, b) => {
            let inner = |e: &Expr| match e {
                Expr::Two('*', ..) | Expr::Element { .. } | Expr::Loaded { .. } => shown(e),
                _ => format!("({})", shown(e)),
            };
            format!("{} {sign} {}", inner(a), inner(b))
        }
    }
}

/// The one expression that all elements are, with 1 for the place of element `i` and 0 for
/// the first element; what masked-off ones are; whether there is a mask.
fn same(found: &Lanes) -> Option<(Expr, Option<Expr>, bool)> {
    let mut all = found.each.iter().enumerate().map(|(i, e)| {
        let expr = e.as_ref()?;
        placed(expr, i as u64, found.width)
    });
    let first = all.next()??;
    let mut general: Option<Expr> = None;
    for lane in all {
        let lane = lane?;
        if general.get_or_insert_with(|| lane.clone()) != &lane {
            return None;
        }
    }
    let general = general?;
    if at_first(&general) != first {
        return None;
    }
    match general {
        Expr::Choice { yes, no, .. } => {
            let nested = |e: &Expr| matches!(e, Expr::Choice { .. });
            let whole = !nested(&yes) && !nested(&no) && found.mask.is_none();
            whole.then_some((*yes, Some(*no), true))
        }
        value => Some((value, None, found.mask.is_some())),
    }
}

/// An expression of element `i` with places told as the element's own (1) or the first (0).
fn placed(expr: &Expr, i: u64, width: u32) -> Option<Expr> {
    let place = |at: u64, own: u64| match at {
        0 => Some(0),
        at if at == own => Some(1),
        _ => None,
    };
    let (i_bits, i_bytes) = (i * u64::from(width), i * u64::from(width / 8));
    Some(match expr {
        Expr::Element {
            operand,
            lo,
            width: w,
        } => Expr::Element {
            operand: operand.clone(),
            lo: place(u64::from(*lo), i_bits).filter(|_| *w == width)?,
            width,
        },
        Expr::Loaded {
            pointer,
            byte,
            width: w,
        } => Expr::Loaded {
            pointer: pointer.clone(),
            byte: place(*byte, i_bytes).filter(|_| *w == width)?.into(),
            width,
        },
        Expr::Zero => Expr::Zero,
        Expr::Two(sign, a, b) => Expr::Two(
            *sign,
            Box::new(placed(a, i, width)?),
            Box::new(placed(b, i, width)?),
        ),
        Expr::Choice { mask, bit, yes, no } => Expr::Choice {
            mask: mask.clone(),
            bit: (u64::from(*bit) == i).then_some(0)?,
            yes: Box::new(placed(yes, i, width)?),
            no: Box::new(placed(no, i, width)?),
        },
    })
}

/// The same for the first element, whose place is 0 either way.
fn at_first(expr: &Expr) -> Expr {
    let first = |e: &Expr| Box::new(at_first(e));
    match expr {
        Expr::Element { operand, width, .. } => Expr::Element {
            operand: operand.clone(),
            lo: 0,
            width: *width,
        },
        Expr::Loaded { pointer, width, .. } => Expr::Loaded {
            pointer: pointer.clone(),
            byte: 0,
            width: *width,
        },
        Expr::Zero => Expr::Zero,
        Expr::Two(sign, a, b) => Expr::Two(*sign, first(a), first(b)),
        Expr::Choice { mask, yes, no, .. } => Expr::Choice {
            mask: mask.clone(),
            bit: 0,
            yes: first(yes),
            no: first(no),
        },
    }
}
