//! C with intrinsics.
//!
//! In: a lowered kernel. Out: a C file with one function for it ([`emit`]), and a program
//! around it for runs on data ([`harness`](mod@harness)).

mod entry;
mod float;
pub mod harness;
mod names;
mod operation;
mod plain;
mod register;
mod scope;
mod text;
mod vector;
mod word;

use crate::back_end::{BackEnd, Code, Language, Windows};
use autoir::program::placed::{Placed, Placement};
use halide::Import;
use kernel::tree::{Expr, ExprKind, Role};
use lowering::window::{Loop, Lowered, LoweredNode, Window};
use register::Registers;
use scope::Scope;
use semantics::diagnostic::Diagnostic;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use target::RegisterClass;
use target::processor::Processor;
use text::Text;
use vector::Loaded;

/// The most bytes of a local array that lies on the stack.
const MOST_ON_STACK: i64 = 1 << 16;

/// Asks gcc to order instructions before it gives out registers, with an eye on how many there are: it
/// spills half of them otherwise where many sums are in registers, and loads what is used twice twice.
/// clang does so by itself.
const SCHEDULED: &str = "\
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize(\"schedule-insns\", \"sched-pressure\")
#endif";

/// What a C file is made from.
#[derive(Clone, Copy, Debug)]
pub struct Unit<'a> {
    /// The kernel as loops around windows.
    pub lowered: &'a Lowered,
    /// What was found for its windows; one without a program is computed element by element.
    pub placement: &'a Placement,
    /// The vector registers of the target.
    pub registers: &'a [RegisterClass],
    /// The headers of the target.
    pub headers: &'a [String],
    /// Bytes of which the addresses of arrays are multiples.
    pub align: u32,
}

impl<'a> Unit<'a> {
    /// A file in which every window is computed element by element.
    pub fn plain(lowered: &'a Lowered) -> Unit<'a> {
        static NONE: LazyLock<Placement> = LazyLock::new(Placement::default);
        Unit {
            lowered,
            placement: &NONE,
            registers: &[],
            headers: &[],
            align: Processor::default().line,
        }
    }

    /// The features that the C of the programs needs: those of their instructions, and those of
    /// the registers that values are in.
    pub fn features(&self) -> BTreeSet<String> {
        let registers = Registers(self.registers);
        let programs = || {
            self.placement
                .programs
                .iter()
                .flatten()
                .map(|placed| &placed.program)
        };
        let instructions = programs().flat_map(|program| program.applied());
        let instructions = instructions.flat_map(|o| &self.placement.selection.of(o).features);
        let widths = programs()
            .flat_map(|program| (0..program.nodes().len()).map(|value| program.width(value)));
        let held = widths.filter_map(|width| registers.feature(width).map(str::to_owned));
        instructions.cloned().chain(held).collect()
    }
}

/// What the function of a kernel is called.
pub(crate) fn function_name(kernel: &kernel::tree::Kernel) -> String {
    names::Names::default().function(&kernel.name)
}

/// Two kernels of a file that C would have one name for, where there are such.
pub fn clash(kernels: &[kernel::tree::Kernel]) -> Option<Diagnostic> {
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    kernels.iter().find_map(|kernel| {
        let (name, function) = (&kernel.name, function_name(kernel));
        // Two of one name are refused where they are read.
        let other = seen
            .insert(function.clone(), name)
            .filter(|other| other != name)?;
        let message = format!("`{other}` and `{name}` are both `{function}` in C");
        let error = Diagnostic::error(message).at(&kernel.source, kernel.span);
        Some(error.hint("give one of them another name"))
    })
}

/// Names in C of a function and of its arrays, none of them one that the code around them has.
pub(crate) fn names_of<'n>(
    function: &str,
    arrays: impl Iterator<Item = &'n str>,
    around: &dyn Fn(&str) -> bool,
) -> (String, Vec<String>) {
    let mut names = names::Names::default();
    let function = names.function(function);
    let arrays = arrays.map(|name| names.apart(name, around)).collect();
    (function, arrays)
}

/// C with intrinsics, for a target with these registers and headers.
#[derive(Clone, Debug, Default)]
pub struct Intrinsics {
    /// The vector registers of the target.
    pub registers: Vec<RegisterClass>,
    /// The headers of the target.
    pub headers: Vec<String>,
    /// Bytes of which the addresses of arrays are multiples: a line of the target's caches.
    pub align: u32,
}

impl BackEnd<Windows<'_>> for Intrinsics {
    fn code(&self, windows: &Windows<'_>, about: &[String]) -> Result<Code, String> {
        let unit = Unit {
            lowered: windows.lowered,
            placement: windows.placement,
            registers: &self.registers,
            headers: &self.headers,
            align: self.align,
        };
        Ok(emit(&unit, about, windows.import))
    }
}

/// Lines, each with its end.
fn lines(text: &str) -> String {
    text.lines().map(|line| format!("{line}\n")).collect()
}

/// The C of a kernel as a function. `about` goes into the comment before it, a line each. With an
/// import, also the function that a pipeline of Halide is called by: it checks the arguments
/// and calls the kernel.
pub fn emit(unit: &Unit<'_>, about: &[String], import: Option<&Import>) -> Code {
    let lowered = unit.lowered;
    let mut scope = Scope::new(
        &lowered.kernel,
        unit.placement,
        (unit.registers, unit.align),
    );
    scope.materialized.clone_from(&lowered.materialized);
    scope.split(&unit.placement.variables);
    let mut body = Text::default();
    body.open(&format!(
        "void {}({})",
        scope.function,
        scope.parameters().join(", ")
    ));
    scope.declarations(&mut body);
    let programs = unit
        .placement
        .programs
        .iter()
        .chain(std::iter::repeat(&None));
    let windows: Vec<_> = lowered.windows.iter().zip(programs).collect();
    scope.headed(None, &mut body, |scope, text| {
        scope.block(&lowered.body, &windows, text);
    });
    let on_heap = std::mem::take(&mut scope.on_heap);
    on_heap
        .iter()
        .for_each(|name| body.line(&format!("free({name});")));
    body.close();
    if let Some(import) = import {
        scope.entry(import, &mut body);
    }
    let standard = ["stdbool.h", "stdint.h", "stdlib.h", "string.h"];
    let own = unit.headers.iter().map(String::as_str);
    let include = |header: &str| format!("#include <{header}>\n");
    let contraction = uses_floats(lowered).then(|| lines(float::NO_CONTRACTION));
    let scheduled = (!unit.headers.is_empty()).then(|| lines(SCHEDULED));
    let functions = scope.functions.definitions();
    let mut code = Code::of(Language::C, about, body.finish());
    code.head = vec![
        contraction.into_iter().chain(scheduled).collect(),
        own.chain(standard).map(include).collect(),
        vec!["\n".to_owned()],
        functions.map(|text| lines(text) + "\n").collect(),
    ];
    code.features = unit.features();
    code
}

/// Whether a float occurs anywhere.
fn uses_floats(lowered: &Lowered) -> bool {
    let float = |e: &Expr| {
        let mut found = false;
        let mut work = vec![e];
        while let Some(e) = work.pop() {
            found |= e.ty.elem.format().is_some();
            match &e.kind {
                ExprKind::Apply(_, args) | ExprKind::Shuffle(args, _) => work.extend(args),
                ExprKind::Reduce(_, arg, _) => work.push(arg),
                _ => {}
            }
        }
        found
    };
    let values = lowered.windows.iter().map(|w| &w.value);
    let locals = lowered.kernel.locals.iter().map(|l| &l.value);
    values.chain(locals).any(float)
}

impl Scope<'_> {
    /// Local arrays and registers. Arrays whose length depends on a size are on the heap.
    fn declarations(&mut self, text: &mut Text) {
        let align = self.align;
        for (id, array) in self.kernel.arrays.iter().enumerate() {
            if array.role != Role::Local {
                continue;
            }
            let (elem, length) = (operation::c_type(array.elem), self.length(id));
            let name = self.array(id).to_owned();
            let dims = array.memory_dims();
            let element = i64::from(array.elem.bits() / 8);
            let mut constants = dims.iter().map(kernel::index::Index::constant_value);
            let bytes = constants.try_fold(element, |n, d| n.checked_mul(d?));
            if bytes.is_some_and(|bytes| bytes <= MOST_ON_STACK) {
                text.line(&format!("_Alignas({align}) {elem} {name}[{length}];"));
            } else {
                let bytes =
                    format!("(sizeof({elem}) * (size_t)({length}) + {align}) / {align} * {align}");
                text.line(&format!(
                    "{elem} *{name} = aligned_alloc({align}, {bytes});"
                ));
                text.line(&format!("if (!{name})"));
                text.line("    abort();");
                self.on_heap.push(name);
            }
        }
        for (id, register) in self.kernel.registers.iter().enumerate() {
            if let Some(names) = self.pieces.get(&id) {
                let width = register.ty.width() / names.len() as u32;
                let vector = self.registers.c_type(width);
                text.line(&format!("{vector} {};", names.join(", ")));
                continue;
            }
            let (ty, name) = (register.ty, self.register(id));
            let declared = self.declaration(ty.elem, ty.lanes, name);
            text.line(&format!("{declared};"));
        }
    }

    /// Loops and windows in order.
    fn block(
        &mut self,
        nodes: &[LoweredNode],
        windows: &[(&Window, &Option<Placed>)],
        text: &mut Text,
    ) {
        let mut loaded = Loaded::new();
        for node in nodes {
            match node {
                LoweredNode::Loop(nest) => self.nest(nest, windows, text),
                LoweredNode::Window { window: id, active } => match windows[*id] {
                    (window, Some(program)) => {
                        let active = active.as_ref();
                        self.vector((*id, window), program, active, &mut loaded, text);
                    }
                    (window, None) => self.plain(window, active.as_ref(), text),
                },
            }
        }
    }

    /// A loop.
    fn nest(&mut self, nest: &Loop, windows: &[(&Window, &Option<Placed>)], text: &mut Text) {
        let var = self.symbol(nest.var).to_owned();
        let (lo, hi) = (self.index(&nest.lo), self.index(&nest.hi));
        if let Some(register) = nest.at {
            self.chosen(nest, register, text);
            self.headed(Some(nest.var), text, |scope, text| {
                scope.block(&nest.body, windows, text);
            });
            text.close();
            return;
        }
        let step = match nest.step {
            1 => format!("{var}++"),
            step => format!("{var} += {step}"),
        };
        if let Some(rounds) = self.placement.unrolled.get(&nest.var.0) {
            text.line(&format!("#pragma GCC unroll {rounds}"));
        }
        text.open(&format!("for (int64_t {var} = {lo}; {var} < {hi}; {step})"));
        self.headed(Some(nest.var), text, |scope, text| {
            scope.block(&nest.body, windows, text);
        });
        text.close();
    }

    /// Opens the block of the one iteration that a register chooses.
    fn chosen(&mut self, nest: &Loop, register: usize, text: &mut Text) {
        let var = self.symbol(nest.var).to_owned();
        let (lo, hi) = (self.index(&nest.lo), self.index(&nest.hi));
        let value = self.register(register).to_owned();
        let elem = self.kernel.registers[register].ty.elem;
        let known = |n: &kernel::index::Index| n.constant_value().map(i128::from);
        let mut tests = Vec::new();
        if known(&nest.lo).is_none_or(|lo| elem.min() < lo) {
            tests.push(format!("{var} >= {lo}"));
        }
        if known(&nest.hi).is_none_or(|hi| elem.max() >= hi) {
            tests.push(format!("{var} < {hi}"));
        }
        if elem.bits() == 64 && !elem.is_signed() {
            tests.push(format!("{value} <= INT64_MAX"));
        }
        if nest.step > 1 {
            tests.push(format!("({var} - ({lo})) % {} == 0", nest.step));
        }
        let tests = if tests.is_empty() {
            "true".to_owned()
        } else {
            tests.join(" && ")
        };
        text.line(&format!("const int64_t {var} = (int64_t){value};"));
        text.open(&format!("if ({tests})"));
    }
}
