//! LLVM IR.
//!
//! In: a lowered kernel, the placed programs of its windows, and what LLVM makes of their
//! instructions ([`Row`]). Out: a module with the kernel as a function, the same to
//! callers as that in C. Loads, stores and moves are LLVM's own of any target; an instruction of
//! which LLVM has no name, and a window for which nothing was found, is written as its meaning, in
//! vectors (`meaning`). Made for LLVM 19. It names no intrinsic of a target itself.

mod address;
mod meaning;
mod program;
mod text;
mod types;
mod window;

use crate::back_end::{BackEnd, Code, Windows};
use crate::c;
use crate::lowering::Row;
use autoir::program::placed::Placement;
use kernel::tree::{Param, Role};
use lowering::window::{Lowered, LoweredNode};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use target::Llvm;
use target::processor::Processor;
use text::Function;

/// What a module is made from.
#[derive(Clone, Copy, Debug)]
pub struct Unit<'a> {
    /// The kernel as loops around windows.
    pub lowered: &'a Lowered,
    /// What was found for its windows; one without a program is computed as its meaning.
    pub placement: &'a Placement,
    /// What LLVM makes of the instructions of the target.
    pub rows: &'a BTreeMap<String, Row>,
    /// What LLVM has to know of the target.
    pub machine: &'a Llvm,
    /// Its features, as LLVM spells them.
    pub features: &'a str,
    /// Bytes of which the addresses of memory of its own are multiples.
    pub align: u32,
}

impl<'a> Unit<'a> {
    /// A module in which every window is computed as its meaning: none of them has a program.
    pub fn plain(lowered: &'a Lowered, placement: &'a Placement) -> Unit<'a> {
        static NONE: LazyLock<(BTreeMap<String, Row>, Llvm)> = LazyLock::new(Default::default);
        Unit {
            lowered,
            placement,
            rows: &NONE.0,
            machine: &NONE.1,
            features: "",
            align: Processor::default().line,
        }
    }
}

/// LLVM IR of a target.
#[derive(Clone, Debug)]
pub struct Ir {
    /// What LLVM makes of the target's instructions.
    pub rows: BTreeMap<String, Row>,
    /// What LLVM has to know of the target.
    pub machine: Llvm,
    /// Its features: LLVM may use all of them.
    pub features: BTreeSet<String>,
    /// The same as LLVM spells them.
    pub spelt: String,
    /// Bytes of which the addresses of memory of its own are multiples: a line of the target's caches.
    pub align: u32,
}

impl BackEnd<Windows<'_>> for Ir {
    fn code(&self, windows: &Windows<'_>, about: &[String]) -> Result<Code, String> {
        let unit = Unit {
            lowered: windows.lowered,
            placement: windows.placement,
            rows: &self.rows,
            machine: &self.machine,
            features: &self.spelt,
            align: self.align,
        };
        let wrong = |reason| format!("as LLVM IR: {reason}");
        let mut code = emit(&unit, about).map_err(wrong)?;
        code.features.clone_from(&self.features);
        Ok(code)
    }
}

/// The module of a kernel.
///
/// # Errors
/// What cannot be written in LLVM IR: an operator, for example on floats of 16 bits.
pub fn emit(unit: &Unit<'_>, about: &[String]) -> Result<Code, String> {
    let lowered = unit.lowered;
    let mut function = Function::new(unit, c::function_name(&lowered.kernel));
    parameters(&mut function);
    storage(&mut function);
    nodes(&mut function, &lowered.body)?;
    for pointer in std::mem::take(&mut function.on_heap) {
        function.line(&format!("call void @free(ptr {pointer})"));
    }
    Ok(function.finish(about))
}

/// Parameters in order; scalars as numbers of their bits.
fn parameters(f: &mut Function<'_>) {
    let kernel = &f.unit.lowered.kernel;
    for param in &kernel.params {
        match *param {
            Param::Size(symbol) => {
                let name = f.fresh();
                f.parameters.push(format!("i64 {name}"));
                f.symbols.insert(symbol, name);
            }
            Param::Scalar(id) => {
                let elem = kernel.scalars[id].elem;
                let (name, bits) = (f.fresh(), elem.bits());
                let value = match elem.to_string().as_str() {
                    "f32" => {
                        f.parameters.push(format!("float {name}"));
                        f.value(&format!("bitcast float {name} to i32"))
                    }
                    "f64" => {
                        f.parameters.push(format!("double {name}"));
                        f.value(&format!("bitcast double {name} to i64"))
                    }
                    // What is above a small number is not for every caller to clear.
                    _ => {
                        f.parameters.push(format!("i{bits} {name}"));
                        name
                    }
                };
                f.scalars.insert(id, value);
            }
            Param::Array(id) => {
                let name = f.fresh();
                f.parameters.push(format!("ptr noalias {name}"));
                f.arrays.insert(id, name);
            }
        }
    }
}

/// Local arrays and registers.
fn storage(f: &mut Function<'_>) {
    let kernel = &f.unit.lowered.kernel;
    for (id, array) in kernel.arrays.iter().enumerate() {
        if array.role == Role::Local {
            let length = f.length(id);
            let bytes = f.value(&format!("mul i64 {length}, {}", array.elem.bits() / 8));
            let mut bytes = f.value(&format!("add i64 {bytes}, 64"));
            let size = f.unit.machine.size;
            if size < 64 {
                bytes = f.value(&format!("trunc i64 {bytes} to i{size}"));
            }
            let pointer = f.value(&format!("call ptr @malloc(i{size} {bytes})"));
            f.declarations
                .insert(format!("declare ptr @malloc(i{size})"));
            f.declarations.insert("declare void @free(ptr)".to_owned());
            f.on_heap.push(pointer.clone());
            f.arrays.insert(id, pointer);
        }
    }
    for (id, register) in kernel.registers.iter().enumerate() {
        let pointer = f.buffer(register.ty.width());
        f.registers.insert(id, pointer);
    }
}

/// The bounds of a loop around the one iteration that a register chooses, or of none.
fn chosen(f: &mut Function<'_>, register: usize, lo: &str, hi: &str) -> (String, String) {
    let elem = f.unit.lowered.kernel.registers[register].ty.elem;
    let (bits, pointer) = (elem.bits(), f.registers[&register].clone());
    let mut value = f.value(&format!("load i{bits}, ptr {pointer}"));
    if bits < 64 {
        let extend = if elem.is_signed() { "sext" } else { "zext" };
        value = f.value(&format!("{extend} i{bits} {value} to i64"));
    }
    let least = f.value(&format!("icmp sge i64 {value}, {lo}"));
    let most = f.value(&format!("icmp slt i64 {value}, {hi}"));
    let mut inside = f.value(&format!("and i1 {least}, {most}"));
    if bits == 64 && !elem.is_signed() {
        let small = f.value(&format!("icmp sge i64 {value}, 0"));
        inside = f.value(&format!("and i1 {inside}, {small}"));
    }
    let count = f.value(&format!("zext i1 {inside} to i64"));
    let end = f.value(&format!("add i64 {value}, {count}"));
    (value, end)
}

fn nodes(f: &mut Function<'_>, body: &[LoweredNode]) -> Result<(), String> {
    let Unit {
        lowered, placement, ..
    } = *f.unit;
    for node in body {
        match node {
            LoweredNode::Loop(l) => {
                let (lo, hi) = (f.index(&l.lo), f.index(&l.hi));
                let (lo, hi) = match l.at {
                    Some(_) if l.step != 1 => {
                        return Err(
                            "an iteration that data choose, of a loop with a step".to_owned()
                        );
                    }
                    Some(register) => chosen(f, register, &lo, &hi),
                    None => (lo, hi),
                };
                let rounds = placement.unrolled.get(&l.var.0).copied();
                f.repeat_unrolled(&lo, &hi, l.step, rounds.unwrap_or(1), &mut |f, x| {
                    f.symbols.insert(l.var, x);
                    nodes(f, &l.body)
                })?;
            }
            LoweredNode::Window { window, active } => {
                let placed = placement.programs.get(*window).and_then(Option::as_ref);
                let unplaced = || placement.unplaced.get(window);
                let ends = placed.map(|placed| &placed.ends).or_else(unplaced);
                let ends = ends.ok_or("a window has no ends")?;
                f.window(&lowered.windows[*window], (ends, placed), active.as_ref())?;
            }
        }
    }
    Ok(())
}
