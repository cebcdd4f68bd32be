//! Placed programs in LLVM IR: each node in order, nothing chosen.
//!
//! In: a placed program, where its inputs and its result are. Out: lines. What LLVM has of any
//! target (loads, stores, masked ones, moves between registers) is written so; an instruction as
//! LLVM calls it, and as its meaning where it has no name for it.

use super::meaning::{Meaning, Place};
use super::text::Function;
use super::types::{self, Typed, held, integers};
use autoir::instructions::{Implementation, OperandSource};
use autoir::program::placed::{Placed, Residence};
use autoir::program::{Argument, Instance, Node, Program, Region, UNDEFINED, Value};
use autoir::transfer::Transfer;
use semantics::subst::replace_vars;
use semantics::term::Term;
use std::collections::HashMap;

/// Where LLVM has what a program reads and writes.
struct Ends<'p> {
    inputs: &'p HashMap<String, Place>,
    /// The address of the result.
    result: &'p str,
    /// How many lanes are active.
    active: &'p str,
    /// The memory of the program's own.
    scratch: Option<String>,
}

impl Function<'_> {
    /// A program, its results to where they go.
    pub(super) fn program(
        &mut self,
        placed: &Placed,
        element: u32,
        inputs: &HashMap<String, Place>,
        to: &str,
        active: Option<&str>,
    ) -> Result<(), String> {
        let mut ends = Ends {
            inputs,
            result: to,
            active: active.unwrap_or("0"),
            scratch: None,
        };
        let mut values: Vec<Typed> = Vec::new();
        for value in 0..placed.program.nodes().len() {
            let made = self.node(placed, value, element, &values, &mut ends)?;
            values.push(made.unwrap_or_else(|| Typed::integer(String::new(), 0)));
        }
        Ok(())
    }

    /// A node; nothing of one that is no value.
    fn node(
        &mut self,
        placed: &Placed,
        value: Value,
        element: u32,
        values: &[Typed],
        ends: &mut Ends<'_>,
    ) -> Result<Option<Typed>, String> {
        let program = &placed.program;
        let width = program.width(value);
        Ok(match program.node(value) {
            Node::Input { name, lo, .. } => {
                let single = placed.ends.inputs[name] == Residence::Number;
                Some(self.read(&ends.inputs[name], single, *lo, width))
            }
            Node::Constant(bits) => Some(Typed::integer(types::number(bits), width)),
            Node::Cast { value, .. } => {
                let name = self.cast(&values[*value], &format!("i{width}"));
                Some(Typed::integer(name, width))
            }
            Node::Active { first, .. } => Some(self.leading(ends.active, *first, width)),
            Node::Apply { operation, args } => {
                let instance = program.operation(*operation);
                self.apply(instance, args, (program, values), ends)?
            }
            Node::Store { value, byte } => {
                let mut stored = values[*value].clone();
                if placed.ends.result == Residence::Number {
                    let name = self.cast(&stored, &format!("i{element}"));
                    stored = Typed::integer(name, element);
                }
                self.store(&stored, ends.result, *byte);
                None
            }
            Node::Copy { byte, bytes } => {
                let from = ends.scratch.clone().unwrap_or_default();
                let to = self.byte(ends.result, *byte);
                let (of, number) = ("llvm.memcpy.p0.p0.i64", bytes.to_string());
                let args = [
                    ("ptr", to.as_str()),
                    ("ptr", from.as_str()),
                    ("i64", &number),
                ];
                self.call(of, "void", &[&args[..], &[("i1", "false")]].concat());
                None
            }
        })
    }

    /// Some bits of an input.
    fn read(&mut self, place: &Place, single: bool, lo: u32, width: u32) -> Typed {
        let whole = match place {
            Place::Memory(pointer, _) if !single && lo.is_multiple_of(8) => {
                return self.load(pointer, lo / 8, width);
            }
            Place::Memory(pointer, all) => self.load(pointer, 0, *all),
            Place::Value(value) => value.clone(),
            Place::Anything(all) => Typed::integer("0".to_owned(), *all),
        };
        let number = self.cast(&whole, &format!("i{}", whole.width));
        Typed::integer(self.part(&number, 1, whole.width, lo, width), width)
    }

    /// A bit for each of so many lanes from one on: whether it is active.
    fn leading(&mut self, active: &str, first: u32, width: u32) -> Typed {
        let from = self.value(&format!("sub i64 {active}, {first}"));
        let args = [("i64", from.as_str()), ("i64", "0")];
        let least = self.call("llvm.smax.i64", "i64", &args);
        let inside = self.value(&format!("icmp ult i64 {least}, 64"));
        let count = self.value(&format!("select i1 {inside}, i64 {least}, i64 0"));
        let bit = self.value(&format!("shl i64 1, {count}"));
        let below = self.value(&format!("sub i64 {bit}, 1"));
        let all = self.value(&format!("select i1 {inside}, i64 {below}, i64 -1"));
        let name = self.cast(&Typed::integer(all, 64), &format!("i{width}"));
        Typed::integer(name, width)
    }

    /// An operation.
    fn apply(
        &mut self,
        instance: &Instance,
        args: &[Argument],
        (program, values): (&Program, &[Typed]),
        ends: &mut Ends<'_>,
    ) -> Result<Option<Typed>, String> {
        if instance.accesses_memory() || args.iter().any(|a| matches!(a, Argument::Address(..))) {
            return self.access(instance, args, (program, values), ends);
        }
        let selection = &self.unit.placement.selection;
        let instruction = selection.of(instance);
        if instance.transfer.is_none() {
            if let Some(value) = self.named(instruction, args, values) {
                return Ok(Some(value));
            }
            self.nameless.insert(instruction.instruction.clone());
        }
        let (mut places, mut constants) = (HashMap::new(), HashMap::new());
        for (formal, arg) in instance.formals.iter().zip(args) {
            match arg {
                Argument::Value(v) => {
                    let place = Place::Value(self.of_width(&values[*v], formal.width));
                    places.insert(formal.name.clone(), place);
                }
                Argument::Immediate(bits) => {
                    constants.insert(formal.name.as_str(), Term::bits(bits.clone()));
                }
                Argument::Address(..) => return Err("an address that is not read".to_owned()),
            }
        }
        places.insert(UNDEFINED.to_owned(), Place::Anything(instance.width()));
        let term = replace_vars(instance.term, &constants);
        Meaning::new(&places).term(self, term).map(Some)
    }

    /// A value as one of so many bits.
    fn of_width(&mut self, value: &Typed, width: u32) -> Typed {
        match value.width == width {
            true => value.clone(),
            false => Typed::integer(self.cast(value, &format!("i{width}")), width),
        }
    }

    /// An instruction as LLVM calls it.
    fn named(
        &mut self,
        instruction: &Implementation,
        args: &[Argument],
        values: &[Typed],
    ) -> Option<Typed> {
        let row = self.unit.rows.get(&instruction.instruction)?;
        let sources = &instruction.sources;
        let given = sources.iter().map(|source| match source {
            OperandSource::Formal(k) => match &args[*k] {
                Argument::Value(v) => Some(values[*v].clone()),
                _ => None,
            },
            OperandSource::Constant(_) => None,
        });
        let given = given.collect::<Option<Vec<_>>>()?;
        let width = types::width(&row.result)?;
        let fits = |ty: &String| types::width(ty).is_some();
        if given.len() != row.operands.len() || !row.operands.iter().all(fits) {
            return None;
        }
        let operands: Vec<String> = given
            .iter()
            .zip(&row.operands)
            .map(|(value, ty)| self.cast(value, ty))
            .collect();
        let (name, ty) = (self.statements(row, &operands), row.result.clone());
        let value = Typed { name, ty, width };
        Some(self.of_width(&value, instruction.width))
    }

    /// A load or a store, of all elements or of those of a mask.
    fn access(
        &mut self,
        instance: &Instance,
        args: &[Argument],
        (program, values): (&Program, &[Typed]),
        ends: &mut Ends<'_>,
    ) -> Result<Option<Typed>, String> {
        let given: Vec<&Typed> = args
            .iter()
            .filter_map(|arg| match arg {
                Argument::Value(v) => Some(&values[*v]),
                _ => None,
            })
            .collect();
        let address = args.iter().find_map(|arg| match arg {
            Argument::Address(region, byte) => Some((region, *byte)),
            _ => None,
        });
        let (region, byte) = address.ok_or("an access without an address")?;
        let pointer = match region {
            Region::Input(name) => match &ends.inputs[name] {
                Place::Memory(pointer, _) => pointer.clone(),
                _ => return Err(format!("`{name}` is not in memory")),
            },
            Region::Table(bits) => self.table(bits),
            Region::Result => ends.result.to_owned(),
            Region::Scratch => {
                let widths = args.iter().filter_map(|arg| match arg {
                    Argument::Value(v) => Some(program.width(*v)),
                    _ => None,
                });
                let buffer = self.buffer(widths.max().unwrap_or(0));
                ends.scratch = Some(buffer.clone());
                buffer
            }
        };
        let from = self.byte(&pointer, byte);
        let width = instance.width();
        match (instance.transfer, given.as_slice()) {
            (Some(Transfer::Load(bits)), []) => {
                let loaded = self.load(&from, 0, bits);
                Ok(Some(self.of_width(&loaded, width)))
            }
            (Some(Transfer::LoadMasked(element)), [mask]) => {
                let lanes = (width / element) as usize;
                let (ty, mask) = (integers(lanes, element), self.mask(mask, lanes));
                let truth = integers(lanes, 1);
                let args = [("ptr", from.as_str()), ("i32", "1"), (&truth, &mask)];
                let all = [&args[..], &[(ty.as_str(), "zeroinitializer")]].concat();
                let name = format!("llvm.masked.load.v{lanes}i{element}.p0");
                let name = self.call(&name, &ty, &all);
                Ok(Some(Typed { name, ty, width }))
            }
            (Some(Transfer::Store(bits)), [value]) => {
                let ty = held(bits);
                let name = self.low(value, bits, &ty);
                self.store(
                    &Typed {
                        name,
                        ty,
                        width: bits,
                    },
                    &from,
                    0,
                );
                Ok(None)
            }
            (Some(Transfer::StoreMasked(element)), [one, two]) => {
                // The mask is the one with a bit for each element.
                let (mask, value) = match one.width < two.width {
                    true => (one, two),
                    false => (two, one),
                };
                let lanes = (value.width / element) as usize;
                let (ty, truth) = (integers(lanes, element), integers(lanes, 1));
                let (value, mask) = (self.cast(value, &ty), self.mask(mask, lanes));
                let args = [(ty.as_str(), value.as_str()), ("ptr", &from), ("i32", "1")];
                let name = format!("llvm.masked.store.v{lanes}i{element}.p0");
                self.call(&name, "void", &[&args[..], &[(&truth, &mask)]].concat());
                Ok(None)
            }
            _ => Err(format!("`{}` is no load and no store", instance.operation)),
        }
    }

    /// The low bits of a value.
    fn low(&mut self, value: &Typed, bits: u32, ty: &str) -> String {
        if value.width == bits {
            return self.cast(value, ty);
        }
        let number = self.cast(value, &format!("i{}", value.width));
        let number = Typed::integer(number, value.width);
        let low = self.cast(&number, &format!("i{bits}"));
        self.cast(&Typed::integer(low, bits), ty)
    }

    /// The low bits of a mask as a truth value for each lane.
    fn mask(&mut self, mask: &Typed, lanes: usize) -> String {
        let low = self.cast(mask, &format!("i{lanes}"));
        let low = Typed::integer(low, lanes as u32);
        self.cast(&low, &integers(lanes, 1))
    }
}
