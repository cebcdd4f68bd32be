//! A function of LLVM IR that grows line by line.
//!
//! In: lines. Out: the text of a module. Values are numbered; buffers on the stack are all
//! made at the start, so that loops make none.

use super::Unit;
use super::types::{self, Typed, held, integers, is_integer};
use crate::back_end::{Code, Language};
use crate::lowering::Row;
use kernel::index::Symbol;
use semantics::bits::Bits;
use std::collections::{BTreeMap, BTreeSet};

/// A function that is being written.
pub(super) struct Function<'u> {
    pub(super) unit: &'u Unit<'u>,
    pub(super) name: String,
    pub(super) parameters: Vec<String>,
    pub(super) symbols: BTreeMap<Symbol, String>,
    pub(super) scalars: BTreeMap<usize, String>,
    pub(super) arrays: BTreeMap<usize, String>,
    pub(super) registers: BTreeMap<usize, String>,
    pub(super) declarations: BTreeSet<String>,
    pub(super) on_heap: Vec<String>,
    pub(super) nameless: BTreeSet<String>,
    tables: BTreeMap<Bits, String>,
    /// Of loops that are to be unrolled, how many rounds are one.
    unrolled: Vec<u32>,
    buffers: String,
    body: String,
    next: u32,
}

impl<'u> Function<'u> {
    pub(super) fn new(unit: &'u Unit<'u>, name: String) -> Self {
        Function {
            unit,
            name,
            parameters: Vec::new(),
            symbols: BTreeMap::new(),
            scalars: BTreeMap::new(),
            arrays: BTreeMap::new(),
            registers: BTreeMap::new(),
            declarations: BTreeSet::new(),
            on_heap: Vec::new(),
            nameless: BTreeSet::new(),
            tables: BTreeMap::new(),
            unrolled: Vec::new(),
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
        let call = format!("call {result} @{name}({})", args.join(", "));
        if result == "void" {
            self.line(&call);
            return String::new();
        }
        self.value(&call)
    }

    /// The statements of an intrinsic of C over these operands, which have its types; the
    /// name of what it returns.
    pub(super) fn statements(&mut self, row: &Row, operands: &[String]) -> String {
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        for (number, operand) in operands.iter().enumerate() {
            names.insert(number.to_string(), operand.clone());
        }
        for statement in &row.body {
            let mut text = String::with_capacity(statement.len() + 8);
            let mut rest = statement.as_str();
            while let Some(at) = rest.find('%') {
                text.push_str(&rest[..at]);
                let number: String = rest[at + 1..]
                    .chars()
                    .take_while(char::is_ascii_digit)
                    .collect();
                rest = &rest[at + 1 + number.len()..];
                let known = names.get(&number).cloned();
                let name = known.unwrap_or_else(|| self.fresh());
                text.push_str(&name);
                names.insert(number, name);
            }
            text.push_str(rest);
            match text.strip_prefix("ret ") {
                Some("void") => return String::new(),
                Some(value) => return value[row.result.len()..].trim().to_owned(),
                None => self.line(&text),
            }
        }
        String::new()
    }

    /// Memory of so many bits on the stack.
    pub(super) fn buffer(&mut self, bits: u32) -> String {
        let name = self.fresh();
        let bytes = bits.div_ceil(8);
        let align = self.unit.align;
        self.buffers.push_str(&format!(
            "  {name} = alloca [{bytes} x i8], align {align}\n"
        ));
        name
    }

    /// The address of a table of constants.
    pub(super) fn table(&mut self, bits: &Bits) -> String {
        let next = format!("@{}.table{}", self.name, self.tables.len());
        self.tables.entry(bits.clone()).or_insert(next).clone()
    }

    /// So many bits from a byte behind an address on.
    pub(super) fn load(&mut self, pointer: &str, byte: u32, width: u32) -> Typed {
        let (from, ty) = (self.byte(pointer, byte), held(width));
        let name = self.value(&format!("load {ty}, ptr {from}, align 1"));
        Typed { name, ty, width }
    }

    /// A value to memory, from a byte behind an address on.
    pub(super) fn store(&mut self, value: &Typed, pointer: &str, byte: u32) {
        let to = self.byte(pointer, byte);
        self.line(&format!(
            "store {} {}, ptr {to}, align 1",
            value.ty, value.name
        ));
    }

    /// The address of a byte behind another one.
    pub(super) fn byte(&mut self, pointer: &str, byte: u32) -> String {
        match byte {
            0 => pointer.to_owned(),
            _ => self.value(&format!("getelementptr i8, ptr {pointer}, i64 {byte}")),
        }
    }

    /// A value as one of another type: the same bits, numbers cut off or filled with zeros.
    pub(super) fn cast(&mut self, value: &Typed, ty: &str) -> String {
        let (name, own) = (&value.name, &value.ty);
        if own == ty {
            return name.clone();
        }
        let Some(width) = types::width(ty).filter(|width| *width != value.width) else {
            return self.value(&format!("bitcast {own} {name} to {ty}"));
        };
        let mut number = name.clone();
        if !is_integer(own) {
            number = self.value(&format!("bitcast {own} {name} to i{}", value.width));
        }
        let how = if width < value.width { "trunc" } else { "zext" };
        let resized = self.value(&format!("{how} i{} {number} to i{width}", value.width));
        match is_integer(ty) {
            true => resized,
            false => self.value(&format!("bitcast i{width} {resized} to {ty}")),
        }
    }

    /// A number in every lane.
    pub(super) fn splat(&mut self, value: &str, lanes: usize, width: u32) -> String {
        let ty = integers(lanes, width);
        let one = format!("insertelement {ty} poison, i{width} {value}, i64 0");
        let one = self.value(&one);
        self.shuffle((&one, "poison"), (lanes, width), &vec![Some(0); lanes])
    }

    /// Lanes of two vectors of so many.
    pub(super) fn shuffle(
        &mut self,
        (a, b): (&str, &str),
        (lanes, width): (usize, u32),
        taken: &[Option<usize>],
    ) -> String {
        let (ty, mask) = (integers(lanes, width), types::mask(taken));
        self.value(&format!("shufflevector {ty} {a}, {ty} {b}, {mask}"))
    }

    /// Fewer lanes as some of a wider vector, from one on.
    pub(super) fn widened(
        &mut self,
        value: &str,
        own: usize,
        (lanes, width): (usize, u32),
        at: usize,
    ) -> String {
        if own == 1 {
            let ty = integers(lanes, width);
            return self.value(&format!(
                "insertelement {ty} poison, i{width} {value}, i64 {at}"
            ));
        }
        let taken = (0..lanes).map(|l| l.checked_sub(at).filter(|l| *l < own));
        self.shuffle((value, "poison"), (own, width), &taken.collect::<Vec<_>>())
    }

    /// Some bits of each lane.
    pub(super) fn part(
        &mut self,
        value: &str,
        lanes: usize,
        all: u32,
        lo: u32,
        width: u32,
    ) -> String {
        let ty = integers(lanes, all);
        let low = match lo {
            0 => value.to_owned(),
            _ => {
                let by = types::everywhere(lanes, &Bits::from_u64(all, u64::from(lo)));
                self.value(&format!("lshr {ty} {value}, {by}"))
            }
        };
        match width == all {
            true => low,
            false => self.value(&format!("trunc {ty} {low} to {}", integers(lanes, width))),
        }
    }

    /// A loop over `lo, lo + step, …` less than `hi`.
    pub(super) fn repeat(
        &mut self,
        lo: &str,
        hi: &str,
        step: i64,
        body: &mut dyn FnMut(&mut Self, String) -> Result<(), String>,
    ) -> Result<(), String> {
        self.repeat_unrolled(lo, hi, step, 1, body)
    }

    /// The same, of which so many rounds are written out one after the other.
    pub(super) fn repeat_unrolled(
        &mut self,
        lo: &str,
        hi: &str,
        step: i64,
        rounds: u32,
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
        let unrolled = match rounds {
            1 => String::new(),
            _ => {
                self.unrolled.push(rounds);
                format!(", !llvm.loop !{}", 2 * (self.unrolled.len() - 1))
            }
        };
        self.line(&format!("br label %head{n}{unrolled}"));
        self.body.push_str(&format!("behind{n}:\n"));
        Ok(())
    }

    /// The whole module.
    pub(super) fn finish(self, about: &[String]) -> Code {
        let mut about = about.to_vec();
        let meant = |name: &String| {
            format!("{name} has no name in LLVM here and is written as its meaning.")
        };
        about.extend(self.nameless.iter().map(meant));
        let mut body = String::new();
        for (bits, name) in &self.tables {
            let bytes = bits.to_bytes();
            let text: String = bytes.iter().map(|b| format!("\\{b:02X}")).collect();
            let count = bytes.len();
            body.push_str(&format!(
                "{name} = private unnamed_addr constant [{count} x i8] c\"{text}\", align {}\n",
                self.unit.align,
            ));
        }
        body.push_str(&format!(
            "define void @{}({}) #0 {{\n{}{}  ret void\n}}\n",
            self.name,
            self.parameters.join(", "),
            self.buffers,
            self.body
        ));
        let features = match self.unit.features.is_empty() {
            true => String::new(),
            false => format!(" \"target-features\"=\"{}\"", self.unit.features),
        };
        let attributes = format!("attributes #0 = {{ nounwind{features} }}\n");
        let machine = self.unit.machine;
        let triple = machine.triple.iter();
        let triple = triple.map(|triple| format!("target triple = \"{triple}\"\n\n"));
        let mut code = Code::of(Language::Llvm(machine.flags.clone()), &about, body);
        code.head = vec![triple.collect()];
        let declared = self.declarations.iter().map(|text| format!("{text}\n"));
        let unrolled = self.unrolled.iter().enumerate().map(|(k, rounds)| {
            let (of, count) = (2 * k, 2 * k + 1);
            format!("!{of} = distinct !{{!{of}, !{count}}}\n!{count} = !{{!\"llvm.loop.unroll.count\", i32 {rounds}}}\n")
        });
        code.behind = declared.chain([attributes]).chain(unrolled).collect();
        code
    }
}
