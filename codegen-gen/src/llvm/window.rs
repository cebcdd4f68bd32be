//! Windows in LLVM IR: where their inputs and results are, and what has none of a program.
//!
//! In: a window, where its ends are, its placed program if it has one. Out: lines. As in C, elements that are not
//! consecutive are gathered before, and scattered after, as the program says.

use super::meaning::{Meaning, Place};
use super::text::Function;
use super::types::Typed;
use autoir::program::placed::{Copied, Ends, Placed, Residence};
use kernel::index::Index;
use kernel::tree::Access;
use kernel::types::Type;
use lowering::window::{Input, Source, Store, Window};
use std::collections::HashMap;

impl Function<'_> {
    /// A window; only `active` leading lanes are loaded and stored when that is given.
    pub(super) fn window(
        &mut self,
        window: &Window,
        (ends, placed): (&Ends, Option<&Placed>),
        active: Option<&Index>,
    ) -> Result<(), String> {
        let active = active.map(|index| self.index(index));
        let (element, lanes) = (window.output.elem.bits(), window.output.lanes);
        let mut places = HashMap::new();
        for input in &window.inputs {
            let residence = ends.inputs[&input.name];
            let mut place = self.input(input, residence, active.as_deref())?;
            if let (Place::Value(single), None) = (&place, placed) {
                place = Place::Value(self.in_lanes(single, input.ty));
            }
            places.insert(input.name.clone(), place);
        }
        let to = match (&window.store, ends.result) {
            (Store::Register(id), _) => self.registers[id].clone(),
            (Store::Array(_), Residence::Buffer(_)) => self.buffer(element * lanes),
            (Store::Array(access), _) => self.element(access, "0"),
        };
        match placed {
            Some(placed) => self.program(placed, element, &places, &to, active.as_deref())?,
            None => {
                let value = Meaning::new(&places).elements(self, window.term, element)?;
                self.store(&value, &to, 0);
            }
        }
        match (&window.store, ends.result) {
            (Store::Array(access), Residence::Buffer(copied)) => {
                self.scatter(access, &to, (copied, active.as_deref()))
            }
            _ => Ok(()),
        }
    }

    /// Where an input is, after what has to be done to have it there.
    fn input(
        &mut self,
        input: &Input,
        residence: Residence,
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
            Source::Register(_) | Source::Array(_) => {
                if let Residence::Buffer(copied) = residence {
                    return self.gather(&input.source, (copied, active));
                }
                let (pointer, width) = match &input.source {
                    Source::Array(access) => (self.element(access, "0"), element * access.lanes),
                    Source::Register(id) => {
                        let width = self.unit.lowered.kernel.registers[*id].ty.width();
                        (self.registers[id].clone(), width)
                    }
                    Source::Scalar(_) | Source::Index(_) => unreachable!("they are numbers"),
                };
                return Ok(Place::Memory(pointer, width));
            }
        };
        Ok(Place::Value(Typed::integer(single, element)))
    }

    /// A number in every lane.
    fn in_lanes(&mut self, single: &Typed, ty: Type) -> Typed {
        let (lanes, element) = (ty.lanes as usize, ty.elem.bits());
        Typed {
            name: match lanes {
                1 => single.name.clone(),
                _ => self.splat(&single.name, lanes, element),
            },
            ty: super::types::integers(lanes, element),
            width: ty.width(),
        }
    }

    /// How many elements are copied.
    fn count(&mut self, (copied, active): (Copied, Option<&str>)) -> String {
        let lanes = copied.lanes;
        match (copied.active, active) {
            (Some(of), Some(active)) if of == lanes => active.to_owned(),
            (Some(of), Some(active)) => {
                let all = self.value(&format!("mul i64 {active}, {lanes}"));
                let up = self.value(&format!("add i64 {all}, {}", of - 1));
                self.value(&format!("sdiv i64 {up}, {of}"))
            }
            _ => lanes.to_string(),
        }
    }

    /// Elements that are not consecutive, or not all there, put into a buffer; the rest is 0.
    fn gather(
        &mut self,
        source: &Source,
        (copied, active): (Copied, Option<&str>),
    ) -> Result<Place, String> {
        let (bits, lanes) = (copied.element, copied.lanes);
        let buffer = self.buffer(bits * lanes);
        if copied.active.is_some() {
            let bytes = (bits * lanes / 8).to_string();
            let zero = [("ptr", buffer.as_str()), ("i8", "0"), ("i64", &bytes)];
            self.call(
                "llvm.memset.p0.i64",
                "void",
                &[&zero[..], &[("i1", "false")]].concat(),
            );
        }
        let bound = self.count((copied, active));
        self.repeat("0", &bound, 1, &mut |f, lane| {
            let there = match copied.period == lanes {
                true => lane.clone(),
                false => f.value(&format!("urem i64 {lane}, {}", copied.period)),
            };
            let from = match source {
                Source::Array(access) => f.element(access, &there),
                Source::Register(id) => {
                    let base = f.registers[id].clone();
                    f.at(&base, bits, &there)
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
        from: &str,
        (copied, active): (Copied, Option<&str>),
    ) -> Result<(), String> {
        let (bits, bound) = (copied.element, self.count((copied, active)));
        self.repeat("0", &bound, 1, &mut |f, lane| {
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
