//! Windows in LLVM IR: load, compute, store.
//!
//! In: a window, the program that was found for it if one was. Out: lines. Every register is
//! an integer of its width, read as a vector where an instruction wants one.

use super::FormText;
use super::meaning::{Meaning, Place};
use super::text::Function;
use autoir::instructions::{Implementation, OperandSource};
use autoir::program::{Argument, Instance, Node, Program};
use kernel::index::Index;
use lowering::window::{Input, Source, Store, Window};
use semantics::unroll::elements;
use std::collections::HashMap;

impl Function<'_> {
    /// A window; only `active` leading lanes are loaded and stored when that is given.
    pub(super) fn window(
        &mut self,
        window: &Window,
        program: Option<&Program>,
        active: Option<&Index>,
    ) -> Result<(), String> {
        let active = active.map(|index| self.index(index));
        let mut places = HashMap::new();
        for input in &window.inputs {
            let pointer = self.input(input, window, active.as_deref())?;
            let place = Place::Memory(pointer, input.ty.width());
            places.insert(input.name.clone(), place);
        }
        // The last register of a program may be wider than what is left of the result.
        let registers = program.map_or(0, |p| p.outputs.iter().map(|&v| p.width(v)).sum());
        let result = self.buffer(registers.max(window.output.width()));
        match program {
            Some(program) => self.steps(program, &places, &result)?,
            None => self.lanes(window.term, window.output.elem.bits(), &places, &result)?,
        }
        self.save(window, &result, active.as_deref())
    }

    /// Memory that holds an input.
    fn input(
        &mut self,
        input: &Input,
        window: &Window,
        active: Option<&str>,
    ) -> Result<String, String> {
        let (bits, lanes) = (input.ty.elem.bits(), input.ty.lanes);
        let kernel = &self.lowered.kernel;
        match &input.source {
            Source::Register(id) if kernel.registers[*id].ty.lanes == lanes => {
                return Ok(self.registers[id].clone());
            }
            Source::Array(access)
                if access.is_dense()
                    && access.lanes == lanes
                    && (active.is_none() || lanes == 1) =>
            {
                return Ok(self.element(access, "0"));
            }
            _ => {}
        }
        let buffer = self.buffer(bits * lanes);
        let single = match &input.source {
            Source::Scalar(id) => Some(self.scalars[id].clone()),
            Source::Index(index) => {
                let index = self.index(index);
                Some(if bits < 64 {
                    self.value(&format!("trunc i64 {index} to i{bits}"))
                } else {
                    index
                })
            }
            Source::Register(_) | Source::Array(_) => None,
        };
        let out = window.output.lanes;
        let bound = match (&input.source, active) {
            (Source::Array(access), Some(active)) if access.lanes == out => active.to_owned(),
            (Source::Array(access), Some(active)) if access.lanes > 1 => {
                let all = self.value(&format!("mul i64 {active}, {}", access.lanes));
                let up = self.value(&format!("add i64 {all}, {}", out - 1));
                self.value(&format!("sdiv i64 {up}, {out}"))
            }
            _ => lanes.to_string(),
        };
        let source = input.source.clone();
        self.repeat("0", &bound, 1, &mut |f, lane| {
            let value = match (&single, &source) {
                (Some(value), _) => value.clone(),
                (None, Source::Array(access)) => {
                    let lane = match access.lanes == lanes {
                        true => lane.clone(),
                        false => f.value(&format!("urem i64 {lane}, {}", access.lanes)),
                    };
                    let from = f.element(access, &lane);
                    f.value(&format!("load i{bits}, ptr {from}, align {}", bits / 8))
                }
                (None, Source::Register(id)) => {
                    let of = f.lowered.kernel.registers[*id].ty.lanes;
                    let lane = f.value(&format!("urem i64 {lane}, {of}"));
                    let base = f.registers[id].clone();
                    let from = f.at(&base, bits, &lane);
                    f.value(&format!("load i{bits}, ptr {from}"))
                }
                (None, _) => return Err("an input without a value".to_owned()),
            };
            let to = f.at(&buffer, bits, &lane);
            f.line(&format!("store i{bits} {value}, ptr {to}"));
            Ok(())
        })?;
        Ok(buffer)
    }

    /// A term, element by element, into memory.
    fn lanes(
        &mut self,
        term: semantics::term::Term,
        bits: u32,
        places: &HashMap<String, Place>,
        to: &str,
    ) -> Result<(), String> {
        let mut meaning = Meaning::new(places);
        let mut values = Vec::new();
        for term in elements(term, bits) {
            values.push(meaning.term(self, term)?);
        }
        for (lane, value) in values.iter().enumerate() {
            let place = self.at(to, bits, &lane.to_string());
            self.line(&format!("store i{bits} {value}, ptr {place}, align 1"));
        }
        Ok(())
    }

    /// The steps of a program, its results into memory.
    fn steps(
        &mut self,
        program: &Program,
        places: &HashMap<String, Place>,
        to: &str,
    ) -> Result<(), String> {
        let mut values: Vec<(String, u32)> = Vec::new();
        for node in program.nodes() {
            values.push(match node {
                Node::Input { name, lo, width } => {
                    let Place::Memory(pointer, _) = &places[name] else {
                        return Err(format!("`{name}` is not in memory"));
                    };
                    let from = self.at(&pointer.clone(), 8, &(lo / 8).to_string());
                    (
                        self.value(&format!("load i{width}, ptr {from}, align 1")),
                        *width,
                    )
                }
                Node::Constant(bits) => (super::meaning::number(bits), bits.width()),
                Node::Cast { value, width } => {
                    let (name, from) = values[*value].clone();
                    let name = match from.cmp(width) {
                        std::cmp::Ordering::Equal => name,
                        std::cmp::Ordering::Less => {
                            self.value(&format!("zext i{from} {name} to i{width}"))
                        }
                        std::cmp::Ordering::Greater => {
                            self.value(&format!("trunc i{from} {name} to i{width}"))
                        }
                    };
                    (name, *width)
                }
                Node::Apply { operation, args } => {
                    self.apply(program.operation(*operation), args, &values)?
                }
                Node::Active { .. } | Node::Store { .. } | Node::Copy { .. } => {
                    return Err("LLVM places programs itself".to_owned());
                }
            });
        }
        let mut at = 0;
        for &output in &program.outputs {
            let (value, width) = &values[output];
            let place = self.at(to, 8, &(at / 8).to_string());
            self.line(&format!("store i{width} {value}, ptr {place}, align 1"));
            at += width;
        }
        Ok(())
    }

    /// An instruction by its name in LLVM, or as its meaning.
    fn apply(
        &mut self,
        instance: &Instance,
        args: &[Argument],
        values: &[(String, u32)],
    ) -> Result<(String, u32), String> {
        let width = instance.width();
        let given = args.iter().map(|arg| match arg {
            Argument::Value(v) => Ok(values[*v].clone()),
            Argument::Immediate(bits) => Ok((super::meaning::number(bits), bits.width())),
            Argument::Address(..) => Err("LLVM places programs itself".to_owned()),
        });
        let given: Vec<(String, u32)> = given.collect::<Result<_, _>>()?;
        let instruction = self.selection.of(instance);
        let args = in_order(instruction, &given);
        let form = self.names.get(&instruction.instruction).cloned();
        let Some(form) = form.filter(|form| form.operands.len() == args.len()) else {
            self.nameless.insert(instruction.instruction.clone());
            let formals = instance.formals.iter().zip(given);
            let places = formals
                .map(|(formal, (value, width))| (formal.name.clone(), Place::Value(value, width)));
            let places = places.collect();
            return Ok((Meaning::new(&places).term(self, instance.term)?, width));
        };
        let mut operands = Vec::new();
        for ((value, width), ty) in args.iter().zip(&form.operands) {
            operands.push(self.value(&format!("bitcast i{width} {value} to {ty}")));
        }
        let result = match &form.text {
            FormText::Call(name) => {
                let typed: Vec<(&str, &str)> = form
                    .operands
                    .iter()
                    .zip(&operands)
                    .map(|(ty, v)| (ty.as_str(), v.as_str()))
                    .collect();
                self.call(name, &form.result, &typed)
            }
            FormText::Inline(text) => {
                let text = operands
                    .iter()
                    .enumerate()
                    .fold(text.clone(), |text, (n, v)| {
                        text.replace(&format!("{{{n}}}"), v)
                    });
                self.value(&text)
            }
        };
        let value = self.value(&format!("bitcast {} {result} to i{width}", form.result));
        Ok((value, width))
    }

    /// The result to where the window stores it.
    fn save(&mut self, window: &Window, from: &str, active: Option<&str>) -> Result<(), String> {
        let (bits, lanes) = (window.output.elem.bits(), window.output.lanes);
        let whole = match &window.store {
            Store::Register(id) => Some(self.registers[id].clone()),
            Store::Array(access) if access.is_dense() && (active.is_none() || lanes == 1) => {
                Some(self.element(access, "0"))
            }
            Store::Array(_) => None,
        };
        if let Some(to) = whole {
            let all = bits * lanes;
            let value = self.value(&format!("load i{all}, ptr {from}, align 1"));
            self.line(&format!(
                "store i{all} {value}, ptr {to}, align {}",
                bits / 8
            ));
            return Ok(());
        }
        let Store::Array(access) = window.store.clone() else {
            return Ok(());
        };
        let bound = active.map_or(lanes.to_string(), str::to_owned);
        self.repeat("0", &bound, 1, &mut |f, lane| {
            let place = f.at(from, bits, &lane);
            let value = f.value(&format!("load i{bits}, ptr {place}"));
            let to = f.element(&access, &lane);
            f.line(&format!(
                "store i{bits} {value}, ptr {to}, align {}",
                bits / 8
            ));
            Ok(())
        })
    }
}

/// The operands of an instruction in C order.
fn in_order(instruction: &Implementation, given: &[(String, u32)]) -> Vec<(String, u32)> {
    let sources = instruction.sources.iter().zip(&instruction.operands);
    let operand = sources.map(|(source, operand)| match source {
        OperandSource::Formal(k) => given[*k].clone(),
        OperandSource::Constant(value) => (value.to_string(), operand.width),
    });
    operand.collect()
}
