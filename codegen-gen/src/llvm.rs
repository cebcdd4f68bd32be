//! LLVM IR.
//!
//! In: a lowered kernel, the programs that were found for its windows, and what LLVM calls
//! their intrinsics ([`Names`]). Out: the text of a module with the kernel as a function, the
//! same to callers as that in C. An instruction for which LLVM has no name, and a window for
//! which nothing was found, is written as its meaning, lane by lane. Pointers are opaque
//! (LLVM 15; `-opaque-pointers` before). It names no intrinsic of a target itself.

mod address;
mod meaning;
mod text;
mod window;

use autoir::instructions::Selection;
use autoir::program::Program;
use kernel::tree::{Param, Role};
use lowering::window::{Lowered, Node};
use std::collections::BTreeMap;
use text::Function;

/// How LLVM writes an intrinsic of C.
#[derive(Clone, Debug)]
pub struct Form {
    /// The type of the result.
    pub result: String,
    /// The types of the operands.
    pub operands: Vec<String>,
    /// What computes it.
    pub text: FormText,
}

/// What computes an intrinsic.
#[derive(Clone, Debug)]
pub enum FormText {
    /// A call of an LLVM intrinsic.
    Call(String),
    /// An instruction, its operands as `{0}`, `{1}`, …
    Inline(String),
}

/// What LLVM calls the intrinsics of C.
pub type Names = BTreeMap<String, Form>;

/// What was written.
#[derive(Clone, Debug)]
pub struct Module {
    /// The text.
    pub text: String,
    /// The intrinsics that were written as their meaning, since they have no name.
    pub nameless: Vec<String>,
}

/// The module of a kernel.
///
/// # Errors
/// What cannot be written in LLVM IR: an operator, for example on floats of 16 bits.
pub fn emit(
    lowered: &Lowered,
    programs: &[Option<Program>],
    selection: &Selection,
    names: &Names,
    about: &[String],
) -> Result<Module, String> {
    let mut function = Function::new(lowered, selection, names);
    parameters(&mut function);
    storage(&mut function);
    let windows: Vec<_> = lowered.windows.iter().zip(programs).collect();
    nodes(&mut function, &lowered.body, &windows)?;
    for pointer in std::mem::take(&mut function.on_heap) {
        function.line(&format!("call void @free(ptr {pointer})"));
    }
    let nameless = function.nameless.iter().cloned().collect();
    Ok(Module {
        text: function.finish(about),
        nameless,
    })
}

/// Parameters in order; scalars as numbers of their bits.
fn parameters(f: &mut Function<'_>) {
    let kernel = &f.lowered.kernel;
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
                let value = match (elem.to_string().as_str(), elem.is_signed()) {
                    ("f32", _) => {
                        f.parameters.push(format!("float {name}"));
                        f.value(&format!("bitcast float {name} to i32"))
                    }
                    ("f64", _) => {
                        f.parameters.push(format!("double {name}"));
                        f.value(&format!("bitcast double {name} to i64"))
                    }
                    (_, signed) if bits < 32 => {
                        let extended = if signed { "signext" } else { "zeroext" };
                        f.parameters.push(format!("i{bits} {extended} {name}"));
                        name
                    }
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
    let kernel = &f.lowered.kernel;
    for (id, array) in kernel.arrays.iter().enumerate() {
        if array.role == Role::Local {
            let length = f.length(id);
            let bytes = f.value(&format!("mul i64 {length}, {}", array.elem.bits() / 8));
            let bytes = f.value(&format!("add i64 {bytes}, 64"));
            let pointer = f.value(&format!("call ptr @malloc(i64 {bytes})"));
            f.declarations.insert("declare ptr @malloc(i64)".to_owned());
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
    let elem = f.lowered.kernel.registers[register].ty.elem;
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

type Windows<'a> = [(&'a lowering::window::Window, &'a Option<Program>)];

fn nodes(f: &mut Function<'_>, body: &[Node], windows: &Windows<'_>) -> Result<(), String> {
    for node in body {
        match node {
            Node::Loop(l) => {
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
                f.repeat(&lo, &hi, l.step, &mut |f, x| {
                    f.symbols.insert(l.var, x);
                    nodes(f, &l.body, windows)
                })?;
            }
            Node::Window { window, active } => {
                let (window, program) = windows[*window];
                f.window(window, program.as_ref(), active.as_ref())?;
            }
        }
    }
    Ok(())
}
