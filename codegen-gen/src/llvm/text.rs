//! A function of LLVM IR that grows line by line.
//!
//! In: lines. Out: the text of a module. Values are numbered; buffers on the stack are all
//! made at the start, so that loops make none.

use super::Names;
use autoir::instructions::Selection;
use kernel::index::Symbol;
use lowering::window::Lowered;
use semantics::spelling;
use std::collections::{BTreeMap, BTreeSet};

/// A function that is being written.
pub(super) struct Function<'l> {
    pub(super) lowered: &'l Lowered,
    pub(super) selection: &'l Selection,
    pub(super) names: &'l Names,
    pub(super) parameters: Vec<String>,
    pub(super) symbols: BTreeMap<Symbol, String>,
    pub(super) scalars: BTreeMap<usize, String>,
    pub(super) arrays: BTreeMap<usize, String>,
    pub(super) registers: BTreeMap<usize, String>,
    pub(super) declarations: BTreeSet<String>,
    pub(super) on_heap: Vec<String>,
    pub(super) nameless: BTreeSet<String>,
    buffers: String,
    body: String,
    next: u32,
}

impl<'l> Function<'l> {
    pub(super) fn new(lowered: &'l Lowered, selection: &'l Selection, names: &'l Names) -> Self {
        Function {
            lowered,
            selection,
            names,
            parameters: Vec::new(),
            symbols: BTreeMap::new(),
            scalars: BTreeMap::new(),
            arrays: BTreeMap::new(),
            registers: BTreeMap::new(),
            declarations: BTreeSet::new(),
            on_heap: Vec::new(),
            nameless: BTreeSet::new(),
            buffers: String::new(),
            body: String::new(),
            next: 0,
        }
    }

    /// A new name of a value.
    pub(super) fn fresh(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    pub(super) fn line(&mut self, text: &str) {
        self.body.push_str("  ");
        self.body.push_str(text);
        self.body.push('\n');
    }

    /// A value with a name.
    pub(super) fn value(&mut self, text: &str) -> String {
        let name = self.fresh();
        self.line(&format!("{name} = {text}"));
        name
    }

    /// A call of an intrinsic of LLVM.
    pub(super) fn call(&mut self, name: &str, result: &str, args: &[(&str, &str)]) -> String {
        let types: Vec<&str> = args.iter().map(|(ty, _)| *ty).collect();
        let types = types.join(", ");
        self.declarations
            .insert(format!("declare {result} @{name}({types})"));
        let args: Vec<String> = args.iter().map(|(ty, v)| format!("{ty} {v}")).collect();
        self.value(&format!("call {result} @{name}({})", args.join(", ")))
    }

    /// Memory of so many bits on the stack.
    pub(super) fn buffer(&mut self, bits: u32) -> String {
        let name = self.fresh();
        let bytes = bits.div_ceil(8);
        self.buffers
            .push_str(&format!("  {name} = alloca [{bytes} x i8], align 64\n"));
        name
    }

    /// A loop over `lo, lo + step, …` less than `hi`.
    pub(super) fn repeat(
        &mut self,
        lo: &str,
        hi: &str,
        step: i64,
        body: &mut dyn FnMut(&mut Self, String) -> Result<(), String>,
    ) -> Result<(), String> {
        let counter = self.buffer(64);
        self.next += 1;
        let n = self.next;
        self.line(&format!("store i64 {lo}, ptr {counter}"));
        self.line(&format!("br label %head{n}"));
        self.body.push_str(&format!("head{n}:\n"));
        let x = self.value(&format!("load i64, ptr {counter}"));
        let more = self.value(&format!("icmp slt i64 {x}, {hi}"));
        self.line(&format!("br i1 {more}, label %body{n}, label %behind{n}"));
        self.body.push_str(&format!("body{n}:\n"));
        body(self, x.clone())?;
        let next = self.value(&format!("add nsw i64 {x}, {step}"));
        self.line(&format!("store i64 {next}, ptr {counter}"));
        self.line(&format!("br label %head{n}"));
        self.body.push_str(&format!("behind{n}:\n"));
        Ok(())
    }

    /// The whole module.
    pub(super) fn finish(self, about: &[String]) -> String {
        let about = about.iter().map(|line| spelling::line(line));
        let mut text: String = about.map(|line| format!("; {line}\n")).collect();
        for name in &self.nameless {
            text.push_str(&format!(
                "; {name} has no name in LLVM here and is written as its meaning.\n"
            ));
        }
        text.push_str(&format!(
            "define void @{}({}) {{\n{}{}  ret void\n}}\n",
            self.lowered.kernel.name,
            self.parameters.join(", "),
            self.buffers,
            self.body
        ));
        for declaration in &self.declarations {
            text.push_str(declaration);
            text.push('\n');
        }
        text
    }
}
