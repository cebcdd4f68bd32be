//! Windows in LLVM IR: where their inputs and results are, and what has none of a program.
//!
//! In: a window, its placed program if it has one. Out: lines. As in C, elements that are not
//! consecutive are gathered before, and scattered after, as the program says.

use super::meaning::{Meaning, Place};
use super::text::Function;
use super::types::Typed;
use autoir::program::placed::{Placed, Residence};
use kernel::index::Index;
use kernel::tree::Access;
use lowering::window::{Input, Source, Store, Window};
use std::collections::HashMap;

impl Function<'_> {
    /// A window; only `active` leading lanes are loaded and stored when that is given.
    pub(super) fn window(
        &mut self,
        window: &Window,
        placed: Option<&Placed>,
        active: Option<&Index>,
    ) -> Result<(), String> {
        let active = active.map(|index| self.index(index));
        let (element, lanes) = (window.output.elem.bits(), window.output.lanes);
        let partial = active.is_some();
        let plain = |access: &Access, own: u32| {
            let dense = access.is_dense() && access.lanes == own;
            match dense && (!partial || own == 1) {
                true => Residence::Memory,
                false => Residence::Buffer,
            }
        };
        let mut places = HashMap::new();
        for input in &window.inputs {
            let residence = match (placed, &input.source) {
                (Some(placed), _) => placed.inputs[&input.name],
                (None, Source::Array(access)) => plain(access, input.ty.lanes),
                (None, Source::Register(id)) => {
                    match self.unit.lowered.kernel.registers[*id].ty.lanes == input.ty.lanes {
                        true => Residence::Memory,
                        false => Residence::Buffer,
                    }
                }
                (None, _) => Residence::Buffer,
            };
            let place = self.input(input, residence, window, active.as_deref())?;
            places.insert(input.name.clone(), place);
        }
        let residence = match (placed, &window.store) {
            (Some(placed), _) => placed.result,
            (None, Store::Array(access)) => plain(access, lanes),
            (None, Store::Register(_)) => Residence::Memory,
        };
        let to = match (&window.store, residence) {
            (Store::Register(id), _) => self.registers[id].clone(),
            (Store::Array(_), Residence::Buffer) => self.buffer(element * lanes),
            (Store::Array(access), _) => self.element(access, "0"),
        };
        match placed {
            Some(placed) => self.program(placed, element, &places, &to, active.as_deref())?,
            None => {
                let value = Meaning::new(&places).elements(self, window.term, element)?;
                self.store(&value, &to, 0);
            }
        }
        match (&window.store, residence) {
            (Store::Array(access), Residence::Buffer) => {
                let bound = active.unwrap_or_else(|| lanes.to_string());
                self.scatter(access, element, &to, &bound)
            }
            _ => Ok(()),
        }
    }

    /// Where an input is, after what has to be done to have it there.
    fn input(
        &mut self,
        input: &Input,
        residence: Residence,
        window: &Window,
        active: Option<&str>,
    ) -> Result<Place, String> {
        let element = input.ty.elem.bits();
        let single = match &input.source {
            Source::Scalar(id) => self.scalars[id].clone(),
            Source::Index(index) => {
                let index = self.index(index);
                match element < 64 {
                    true => self.value(&format!("trunc i64 {index} to i{element}")),
                    false => index,
                }
            }
            Source::Register(id) if residence != Residence::Buffer => {
                let width = self.unit.lowered.kernel.registers[*id].ty.width();
                return Ok(Place::Memory(self.registers[id].clone(), width));
            }
            Source::Array(access) if residence != Residence::Buffer => {
                let pointer = self.element(access, "0");
                return Ok(Place::Memory(pointer, element * access.lanes));
            }
            Source::Register(_) | Source::Array(_) => {
                return self.gather(input, window, active);
            }
        };
        if residence == Residence::Number {
            return Ok(Place::Value(Typed::integer(single, element)));
        }
        let lanes = input.ty.lanes as usize;
        Ok(Place::Value(Typed {
            name: match lanes {
                1 => single,
                _ => self.splat(&single, lanes, element),
            },
            ty: super::types::integers(lanes, element),
            width: input.ty.width(),
        }))
    }

    /// Elements that are not consecutive, or not all there, put into a buffer; the rest is 0.
    fn gather(
        &mut self,
        input: &Input,
        window: &Window,
        active: Option<&str>,
    ) -> Result<Place, String> {
        let (bits, lanes) = (input.ty.elem.bits(), input.ty.lanes);
        let buffer = self.buffer(bits * lanes);
        if active.is_some() {
            let bytes = bits * lanes / 8;
            let zero = [
                ("ptr", buffer.as_str()),
                ("i8", "0"),
                ("i64", &bytes.to_string()),
            ];
            self.call(
                "llvm.memset.p0.i64",
                "void",
                &[&zero[..], &[("i1", "false")]].concat(),
            );
        }
        let out = window.output.lanes;
        let bound = match (&input.source, active) {
            (Source::Array(_), Some(active)) if lanes == out => active.to_owned(),
            (Source::Array(_), Some(active)) => {
                let all = self.value(&format!("mul i64 {active}, {lanes}"));
                let up = self.value(&format!("add i64 {all}, {}", out - 1));
                self.value(&format!("sdiv i64 {up}, {out}"))
            }
            _ => lanes.to_string(),
        };
        let source = input.source.clone();
        self.repeat("0", &bound, 1, &mut |f, lane| {
            let from = match &source {
                Source::Array(access) => {
                    let lane = match access.lanes == lanes {
                        true => lane.clone(),
                        false => f.value(&format!("urem i64 {lane}, {}", access.lanes)),
                    };
                    f.element(access, &lane)
                }
                Source::Register(id) => {
                    let of = f.unit.lowered.kernel.registers[*id].ty.lanes;
                    let lane = f.value(&format!("urem i64 {lane}, {of}"));
                    let base = f.registers[id].clone();
                    f.at(&base, bits, &lane)
                }
                Source::Scalar(_) | Source::Index(_) => unreachable!("they are no elements"),
            };
            let value = f.value(&format!("load i{bits}, ptr {from}, align {}", bits / 8));
            let to = f.at(&buffer, bits, &lane);
            f.line(&format!("store i{bits} {value}, ptr {to}"));
            Ok(())
        })?;
        Ok(Place::Memory(buffer, bits * lanes))
    }

    /// The elements of a buffer to where they go.
    fn scatter(
        &mut self,
        access: &Access,
        bits: u32,
        from: &str,
        bound: &str,
    ) -> Result<(), String> {
        self.repeat("0", bound, 1, &mut |f, lane| {
            let place = f.at(from, bits, &lane);
            let value = f.value(&format!("load i{bits}, ptr {place}"));
            let to = f.element(access, &lane);
            f.line(&format!(
                "store i{bits} {value}, ptr {to}, align {}",
                bits / 8
            ));
            Ok(())
        })
    }
}
