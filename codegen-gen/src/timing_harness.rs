//! C programs that measure how long instructions take.
//!
//! In: probes, each a mix of instructions that run side by side in one loop, and what a target is timed
//! by. Out: the text of one C program, and which of its lines belong to which probe. It compiles and runs nothing,
//! and decides nothing about what the figures mean.
//!
//! Each copy of an instruction in a probe reads what it wrote the turn before, through one
//! operand; an empty assembly statement after every call keeps the compiler from seeing that.
//! One copy alone measures latency, many copies measure how often one can start, copies of
//! two instructions whether they compete.
//!
//! For each probe the program prints its index and [`REPETITIONS`] pairs of figures, clock
//! ticks of one addition in a chain of additions, which takes one cycle on every processor that has
//! vectors, and of one call of each copy in the probe.

#[cfg(test)]
mod tests;

use crate::check_harness::{Harness, c_type};
use semantics::instruction::{Element, Instruction, Operand};
use std::fmt::Write as _;
use target::timing::Timing;

/// How often each probe is timed.
pub const REPETITIONS: usize = 15;
/// Calls in one turn of the loop, at least.
const CALLS: u32 = 12;
/// Turns of the loop in one timing.
const TURNS: u32 = 250;

/// Copies of one instruction in a probe.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    /// The instruction.
    pub instruction: &'a Instruction,
    /// The operand that reads the copy's last result, as an index; none for copies that
    /// depend on nothing.
    pub chained: Option<usize>,
    /// How many copies run side by side.
    pub copies: u32,
    /// The instruction of one operand that brings the result to where the chained operand
    /// is, when these are registers of different kinds.
    pub back: Option<Way<'a>>,
}

/// The way of a result to an operand of another kind of register.
#[derive(Clone, Copy, Debug)]
pub struct Way<'a> {
    /// The instruction, of one operand.
    pub back: &'a Instruction,
    /// The operand that reads what it returns, as an index.
    pub operand: usize,
}

/// Parts that run in one loop.
#[derive(Clone, Debug)]
pub struct Probe<'a> {
    /// The parts.
    pub parts: Vec<Part<'a>>,
    /// Features as the compiler's `target` attribute spells them.
    pub features: Vec<String>,
}

/// What the programs of a target are written with.
#[derive(Clone, Copy, Debug)]
pub struct Dialect<'a> {
    /// Its clock and registers.
    pub timing: &'a Timing,
    /// The headers of its instructions.
    pub headers: &'a [String],
}

/// Whether a value of one C type is there as another without an instruction.
fn is_there(timing: &Timing, from: &str, to: &str) -> bool {
    let (from, to) = (c_type(from), c_type(to));
    let vectors = || Some((timing.vector(&from)?.width, timing.vector(&to)?.width));
    let cast = |(from, to)| from == to || timing.cast(from, to).is_some();
    from == to || vectors().is_some_and(cast)
}

/// The operands, by index, that can read the instruction's own result without another
/// instruction in between.
pub fn chainable(instruction: &Instruction, timing: &Timing) -> Vec<usize> {
    let Some(result) = instruction.outputs.first() else {
        return Vec::new();
    };
    let reads = |operand: &Operand| {
        !operand.role.is_constant() && is_there(timing, &result.c_type, &operand.c_type)
    };
    let all = instruction.operands.iter().enumerate();
    all.filter(|(_, o)| reads(o)).map(|(k, _)| k).collect()
}

/// Whether `back` alone, with one operand, brings what `there` returns to an operand of
/// `there`: that operand's index.
pub fn brings_back(there: &Instruction, back: &Instruction, timing: &Timing) -> Option<usize> {
    let [operand] = back.operands.as_slice() else {
        return None;
    };
    let (result, returned) = (there.outputs.first()?, back.outputs.first()?);
    if operand.role.is_constant() || !is_there(timing, &result.c_type, &operand.c_type) {
        return None;
    }
    let takes =
        |o: &Operand| !o.role.is_constant() && is_there(timing, &returned.c_type, &o.c_type);
    there.operands.iter().position(takes)
}

/// The headers that every program has.
const HEADERS: [&str; 3] = ["stdio.h", "stdint.h", "string.h"];

/// The program that runs the given probes.
pub fn emit(probes: &[Probe<'_>], dialect: Dialect<'_>) -> Harness {
    let headers = dialect.headers.iter().map(String::as_str).chain(HEADERS);
    let head: String = headers.map(|h| format!("#include <{h}>\n")).collect();
    let scope = Scope(dialect.timing);
    let functions = probes
        .iter()
        .enumerate()
        .map(|(k, probe)| scope.function(k, probe));
    let Harness { mut text, lines } = Harness::begin(head + "\n", functions);
    text.push_str("static void (*const probes[])(void) = {\n");
    for index in 0..probes.len() {
        writeln!(text, "    probe{index},").expect("a string grows");
    }
    text.push_str("};\nstatic const double calls[] = {\n");
    for probe in probes {
        writeln!(text, "    {},", unrolled(probe)).expect("a string grows");
    }
    text.push_str("};\n\n");
    text.push_str(&main_function(dialect.timing));
    Harness { text, lines }
}

/// How often each copy is called in one turn of the loop.
fn unrolled(probe: &Probe<'_>) -> u32 {
    let calls: u32 = probe.parts.iter().map(|p| p.copies).sum();
    CALLS.div_ceil(calls.max(1))
}

/// The driver.
fn main_function(timing: &Timing) -> String {
    let (fence, counter) = (&timing.fence, &timing.counter);
    format!(
        "\
static void additions(void)
{{
    uint64_t x = 0;
    for (int n = 0; n < {TURNS}; n++) {{
        {}
    }}
}}

static uint64_t ticks(void (*f)(void))
{{
    {fence}();
    uint64_t from = {counter}();
    {fence}();
    f();
    {fence}();
    uint64_t to = {counter}();
    {fence}();
    return to - from;
}}

int main(void)
{{
    for (unsigned k = 0; k < sizeof probes / sizeof *probes; k++) {{
        printf(\"%u\", k);
        ticks(probes[k]);
        for (int n = 0; n < {REPETITIONS}; n++) {{
            double unit = (double)ticks(additions) / {CALLS} / {TURNS};
            printf(\" %.5f %.5f\", unit, (double)ticks(probes[k]) / calls[k] / {TURNS});
        }}
        printf(\"\\n\");
        fflush(stdout);
    }}
    return 0;
}}
",
        "x++; __asm__ volatile(\"\" : \"+r\"(x)); ".repeat(CALLS as usize)
    )
}

/// How values are named and held in one function.
struct Scope<'a>(&'a Timing);

impl Scope<'_> {
    /// The function of one probe.
    fn function(&self, index: usize, probe: &Probe<'_>) -> String {
        let features = probe.features.join(",");
        let mut text = String::new();
        if !features.is_empty() {
            text.push_str(&format!("__attribute__((target(\"{features}\")))\n"));
        }
        text.push_str(&format!("static void probe{index}(void)\n{{\n"));
        for (p, part) in probe.parts.iter().enumerate() {
            self.declare(&mut text, p, part);
        }
        text.push_str(&format!("    for (int n = 0; n < {TURNS}; n++) {{\n"));
        for _ in 0..unrolled(probe) {
            let most = probe.parts.iter().map(|p| p.copies).max().unwrap_or(0);
            for copy in 0..most {
                for (p, part) in probe.parts.iter().enumerate() {
                    if copy < part.copies {
                        self.call(&mut text, p, part, copy);
                    }
                }
            }
        }
        text.push_str("    }\n}\n");
        text
    }

    /// The operands of a part: one variable each, and one for each copy where it is chained.
    fn declare(&self, text: &mut String, p: usize, part: &Part<'_>) {
        for (k, operand) in part.instruction.operands.iter().enumerate() {
            if operand.role.is_constant() {
                continue;
            }
            let own = c_type(&operand.c_type);
            let copies = if part.chained == Some(k) {
                part.copies
            } else {
                1
            };
            for copy in 0..copies {
                let name = format!("x{p}_{k}_{copy}");
                let fill = fill(operand);
                let constraint = self.0.constraint(&own);
                text.push_str(&format!(
                    "    {own} {name};\n    {{ static const {fill}; memcpy(&{name}, data, sizeof {name}); }}\n    __asm__ volatile(\"\" : \"+{constraint}\"({name}));\n"
                ));
            }
        }
    }

    /// One call of a part and what hides it from the compiler.
    fn call(&self, text: &mut String, p: usize, part: &Part<'_>, copy: u32) {
        let instruction = part.instruction;
        let argument = |(k, operand): (usize, &Operand)| match operand.role.constants() {
            Some(_) => constant(operand).to_string(),
            None if part.chained == Some(k) => format!("x{p}_{k}_{copy}"),
            None => format!("x{p}_{k}_0"),
        };
        let all = instruction.operands.iter().enumerate();
        let arguments: Vec<String> = all.map(argument).collect();
        let call = format!("{}({})", instruction.name, arguments.join(", "));
        let result = instruction
            .outputs
            .first()
            .map_or_else(String::new, |o| c_type(&o.c_type));
        match part.chained {
            Some(k) => {
                let own = c_type(&instruction.operands[k].c_type);
                let name = format!("x{p}_{k}_{copy}");
                let value = match part.back {
                    Some(Way { back, .. }) => {
                        let takes = c_type(&back.operands[0].c_type);
                        let gives = c_type(&back.outputs[0].c_type);
                        let inner = self.reinterpret(&call, &result, &takes);
                        self.reinterpret(&format!("{}({inner})", back.name), &gives, &own)
                    }
                    None => self.reinterpret(&call, &result, &own),
                };
                let constraint = self.0.constraint(&own);
                text.push_str(&format!(
                    "        {name} = {value};\n        __asm__ volatile(\"\" : \"+{constraint}\"({name}));\n"
                ));
            }
            None => {
                let constraint = self.0.constraint(&result);
                text.push_str(&format!(
                    "        {{ {result} r = {call}; __asm__ volatile(\"\" : : \"{constraint}\"(r)); }}\n"
                ));
                self.refresh(text, p, part);
            }
        }
    }

    /// Makes the compiler believe that an operand of an unchained part has changed.
    fn refresh(&self, text: &mut String, p: usize, part: &Part<'_>) {
        for (k, operand) in part.instruction.operands.iter().enumerate() {
            if !operand.role.is_constant() {
                let constraint = self.0.constraint(&c_type(&operand.c_type));
                text.push_str(&format!(
                    "        __asm__ volatile(\"\" : \"+{constraint}\"(x{p}_{k}_0));\n"
                ));
            }
        }
    }

    /// A value of one C type as another, by an expression that costs no instruction.
    fn reinterpret(&self, value: &str, from: &str, to: &str) -> String {
        let Some((have, want)) = self.0.vector(from).zip(self.0.vector(to)) else {
            return value.to_owned();
        };
        let value = format!("(({})({value}))", have.c_type);
        match self.0.cast(have.width, want.width) {
            Some(cast) => format!("({to}){cast}({value})"),
            None => format!("({to}){value}"),
        }
    }
}

/// A constant operand's value in probes: one that makes the instruction do its work.
fn constant(operand: &Operand) -> u32 {
    /// A shift, rotation or element number that is in range everywhere.
    const TYPICAL: u32 = 5;
    let Some(allowed) = operand.role.constants() else {
        return 0;
    };
    let last = allowed.nth(allowed.count() - 1).unwrap_or(0);
    match allowed.contains(u64::from(TYPICAL & last)) && TYPICAL & last != 0 {
        true => TYPICAL & last,
        false => last,
    }
}

/// The declaration of 64 bytes of data for an operand: ones for floats, so that nothing
/// overflows or becomes subnormal, else bytes without a pattern.
fn fill(operand: &Operand) -> String {
    match operand.element {
        Element::Float(64) => format!("double data[8] = {{{}}}", "1, ".repeat(8)),
        Element::Float(32) => format!("float data[16] = {{{}}}", "1, ".repeat(16)),
        Element::Float(_) => format!("uint16_t data[32] = {{{}}}", "0x3c00, ".repeat(32)),
        Element::Bfloat16 => format!("uint16_t data[32] = {{{}}}", "0x3f80, ".repeat(32)),
        _ => {
            let byte = |k: u32| format!("{}, ", k.wrapping_mul(0x9e37_79b9) >> 24);
            let bytes: String = (1..=64).map(byte).collect();
            format!("unsigned char data[64] = {{{bytes}}}")
        }
    }
}
