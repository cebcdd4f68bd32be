//! C programs that run instructions on given inputs, to compare them with their meaning.
//!
//! In: instructions, compiler features and the immediates to try. Out: the text of one C
//! program, and which of its lines belong to which instruction. It compiles and runs nothing,
//! and chooses no inputs.
//!
//! The program takes two file names. From the first it reads groups: the index of a case and
//! a number of records (32 bits each, little-endian), then the records. A record is the index
//! of a list of immediates (16 bits), then every other operand in order, then for each pointer
//! the address and the bytes of a window of memory. For each record it writes to the second
//! file one byte, which is 1 when the instruction accessed what it must not, the returned
//! value, and the bytes of every window when the instruction writes memory.
//!
//! Each pointer has one page of memory at a fixed address, between pages that cannot be
//! accessed: an access beyond either end of the page is seen.

pub mod show;
#[cfg(test)]
mod tests;
pub mod wrapper;

use semantics::instruction::{Instruction, Operand, Output};
use semantics::sort::Sort;
use std::fmt::Write as _;
use std::ops::Range;

/// One instruction to run.
#[derive(Clone, Debug)]
pub struct Case<'a> {
    /// The instruction.
    pub instruction: &'a Instruction,
    /// Features as the compiler's `target` attribute spells them.
    pub features: Vec<String>,
    /// The lists of immediates to try, one value for each immediate operand; one empty list
    /// for an instruction that takes none.
    pub immediates: Vec<Vec<u32>>,
    /// Bytes of the window of memory that a record has for each pointer.
    pub window: usize,
    /// The headers that declare its function.
    pub headers: Vec<String>,
}

/// A program, and where its cases stand in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Harness {
    /// The C code.
    pub text: String,
    /// For each case its lines, from 1.
    pub lines: Vec<Range<usize>>,
}

impl Harness {
    /// A program that begins with a text and one function for each case.
    pub(crate) fn begin(head: String, functions: impl Iterator<Item = String>) -> Harness {
        let mut line = head.lines().count() + 1;
        let (mut text, mut lines) = (head, Vec::new());
        for function in functions {
            let length = function.lines().count();
            lines.push(line..line + length);
            line += length;
            text.push_str(&function);
        }
        Harness { text, lines }
    }
}

/// Bytes of the memory of one pointer, whole pages of every machine; as many before and after it cannot be accessed.
pub const PAGE: u64 = 1 << 16;

/// The most pointers of one instruction.
pub const POINTERS: u64 = 4;

/// The addresses of the memory of an instruction's pointer, the first being 0: in 32 bits, for
/// machines that have no more.
pub fn memory(pointer: usize) -> Range<u64> {
    let start = 0x2000_0000 + (2 * pointer as u64 + 1) * PAGE;
    start..start + PAGE
}

/// The operands that records hold: all but the immediates.
pub fn recorded(instruction: &Instruction) -> impl Iterator<Item = &Operand> {
    let immediate = |o: &&Operand| o.role.is_constant();
    instruction.operands.iter().filter(move |o| !immediate(o))
}

/// The operands that are addresses.
pub fn pointers(instruction: &Instruction) -> impl Iterator<Item = &Operand> {
    let operands = instruction.operands.iter();
    operands.filter(|o| o.role.is_pointer())
}

/// The returned value, unless the function returns nothing.
pub fn returned(instruction: &Instruction) -> Option<&Output> {
    let first = instruction.outputs.first()?;
    (first.term.sort() != Sort::Mem && first.c_type != "void").then_some(first)
}

/// Whether the instruction writes memory.
pub fn writes(instruction: &Instruction) -> bool {
    let mut outputs = instruction.outputs.iter();
    outputs.any(|o| o.term.sort() == Sort::Mem)
}

/// Bytes of the returned value.
pub fn value_bytes(instruction: &Instruction) -> usize {
    let width = returned(instruction).and_then(|o| o.term.sort().width());
    width.unwrap_or(0) as usize / 8
}

impl Case<'_> {
    /// Bytes of the immediates' index and the operands of one record.
    fn operand_bytes(&self) -> usize {
        let operands = recorded(self.instruction);
        2 + operands.map(|o| o.width as usize / 8).sum::<usize>()
    }

    /// Bytes of one record of inputs.
    pub fn input_bytes(&self) -> usize {
        self.operand_bytes() + pointers(self.instruction).count() * (8 + self.window)
    }

    /// Bytes of the results of one record.
    pub fn output_bytes(&self) -> usize {
        let windows = match writes(self.instruction) {
            true => pointers(self.instruction).count() * self.window,
            false => 0,
        };
        1 + value_bytes(self.instruction) + windows
    }
}

/// Why an instruction cannot be run by such a program; `None` when it can.
pub fn unsupported(instruction: &Instruction) -> Option<&'static str> {
    let effect = |o: &Output| o.c_type == "void" && o.term.sort() != Sort::Mem;
    if instruction.outputs.iter().any(effect) {
        return Some("it changes registers of the machine");
    }
    if value_bytes(instruction) == 0 && !writes(instruction) {
        return Some("it returns no value and writes no memory");
    }
    if pointers(instruction).count() as u64 > POINTERS {
        return Some("it has more pointers than the check has memories");
    }
    None
}

/// The head of the program.
const HEAD: &str = "\
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

";

/// The rest of the program, after the table of cases.
const MAIN: &str = "\
static sigjmp_buf before;

static void fault(int signal)
{
    (void)signal;
    siglongjmp(before, 1);
}

static int one(const struct entry *entry, const unsigned char *in, unsigned char *out)
{
    const unsigned char *windows = in + entry->operands;
    uint64_t address;
    for (unsigned k = 0; k < entry->pointers; k++) {
        memcpy(&address, windows + k * (8 + entry->window), 8);
        memcpy((void *)(uintptr_t)address, windows + k * (8 + entry->window) + 8, entry->window);
    }
    if (sigsetjmp(before, 0)) {
        out[0] = 1;
        return 0;
    }
    entry->run(in, out + 1);
    for (unsigned k = 0; entry->writes && k < entry->pointers; k++) {
        memcpy(&address, windows + k * (8 + entry->window), 8);
        memcpy(out + 1 + entry->value + k * entry->window, (void *)(uintptr_t)address, entry->window);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 3) return 10;
    FILE *from = fopen(argv[1], \"rb\"), *to = fopen(argv[2], \"wb\");
    if (!from || !to) return 11;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = fault;
    action.sa_flags = SA_NODEFER;
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    MAPPED
    unsigned head[2];
    while (fread(head, sizeof head, 1, from) == 1) {
        if (head[0] >= sizeof cases / sizeof *cases) return 12;
        const struct entry *entry = &cases[head[0]];
        unsigned char *input = malloc(entry->in), *output = malloc(entry->out);
        if (!input || !output) return 13;
        while (head[1]--) {
            memset(output, 0, entry->out);
            if (fread(input, 1, entry->in, from) != entry->in) return 14;
            one(entry, input, output);
            if (fwrite(output, 1, entry->out, to) != entry->out) return 15;
        }
        if (fflush(to)) return 15;
        free(input);
        free(output);
    }
    return 0;
}
";

/// The memory of the pointers, where an instruction has any.
const MAPPED: &str = "\
    char *memory = mmap((void *)(uintptr_t)MEMORY, SPAN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (memory != (char *)(uintptr_t)MEMORY) return 16;
    for (size_t at = PAGE; at < SPAN; at += 2 * PAGE)
        if (mprotect(memory + at, PAGE, PROT_READ | PROT_WRITE)) return 17;
";

/// The program that runs the given cases.
pub fn emit(cases: &[Case<'_>]) -> Harness {
    let (start, span) = (memory(0).start - PAGE, (2 * POINTERS + 1) * PAGE);
    let head = format!(
        "#define _GNU_SOURCE\n#define PAGE {PAGE}\n#define MEMORY {start:#x}\n#define SPAN {span}\n{}{HEAD}",
        includes(cases)
    );
    let functions = cases.iter().enumerate().map(|(k, case)| function(k, case));
    let Harness { mut text, lines } = Harness::begin(head, functions);
    text.push_str("static const struct entry { void (*run)(const unsigned char *, unsigned char *); unsigned operands, in, value, out, pointers, window, writes; } cases[] = {\n");
    for (index, case) in cases.iter().enumerate() {
        let (operands, input) = (case.operand_bytes(), case.input_bytes());
        let (value, output) = (value_bytes(case.instruction), case.output_bytes());
        let (pointers, window) = (pointers(case.instruction).count(), case.window);
        let writes = u8::from(writes(case.instruction));
        writeln!(
            text,
            "    {{case{index}, {operands}, {input}, {value}, {output}, {pointers}, {window}, {writes}}},"
        )
        .expect("a string grows");
    }
    text.push_str("};\n\n");
    let mapped = cases
        .iter()
        .any(|case| pointers(case.instruction).count() > 0);
    text.push_str(&MAIN.replace("    MAPPED\n", if mapped { MAPPED } else { "" }));
    Harness { text, lines }
}

/// The lines that include the headers of some cases, each once.
fn includes(cases: &[Case<'_>]) -> String {
    let mut seen: Vec<&String> = Vec::new();
    for header in cases.iter().flat_map(|case| &case.headers) {
        if !seen.contains(&header) {
            seen.push(header);
        }
    }
    seen.iter().map(|h| format!("#include <{h}>\n")).collect()
}

/// The compiler's `target` attribute, as a line.
fn attribute(features: &[String]) -> String {
    match features {
        [] => String::new(),
        some => format!("__attribute__((target(\"{}\")))\n", some.join(",")),
    }
}

/// The function that runs one case on one record.
fn function(index: usize, case: &Case<'_>) -> String {
    let instruction = case.instruction;
    let mut text = attribute(&case.features);
    let unused = match returned(instruction) {
        Some(_) => "",
        None => "    (void)out;\n",
    };
    text.push_str(&format!(
        "static void case{index}(const unsigned char *in, unsigned char *out)\n{{\n{unused}"
    ));
    let mut at = 2;
    for (number, operand) in recorded(instruction).enumerate() {
        let c_type = c_type(&operand.c_type);
        let bytes = operand.width / 8;
        // Addresses may be narrower than records have them.
        let copied = match operand.role.is_pointer() {
            true => format!("sizeof x{number}"),
            false => bytes.to_string(),
        };
        text.push_str(&format!(
            "    {c_type} x{number};\n    memcpy(&x{number}, in + {at}, {copied});\n"
        ));
        at += bytes as usize;
    }
    if at == 2 && case.immediates.len() == 1 {
        text.push_str("    (void)in;\n");
    }
    let result = returned(instruction);
    if let Some(output) = result {
        text.push_str(&format!("    {} r;\n", c_type(&output.c_type)));
    }
    text.push_str(&calls(case));
    if result.is_some() {
        let bytes = value_bytes(instruction);
        text.push_str(&format!("    memcpy(out, &r, {bytes});\n"));
    }
    text.push_str("}\n");
    text
}

/// The calls, one for each list of immediates.
fn calls(case: &Case<'_>) -> String {
    let name = &case.instruction.name;
    let assigned = returned(case.instruction).map_or("", |_| "r = ");
    let call = |immediates: &[u32]| {
        let (mut number, mut immediates) = (0, immediates.iter());
        let mut argument = |operand: &Operand| match operand.role {
            role if role.is_constant() => immediates.next().copied().unwrap_or(0).to_string(),
            _ => {
                number += 1;
                format!("x{}", number - 1)
            }
        };
        let operands = case.instruction.operands.iter();
        let arguments: Vec<String> = operands.map(&mut argument).collect();
        format!("{assigned}{name}({});", arguments.join(", "))
    };
    if let [only] = case.immediates.as_slice() {
        return format!("    {}\n", call(only));
    }
    let mut text = String::from("    switch (in[0] | in[1] << 8) {\n");
    for (index, immediates) in case.immediates.iter().enumerate() {
        text.push_str(&format!("    case {index}: {} break;\n", call(immediates)));
    }
    text.push_str("    default: return;\n    }\n");
    text
}

/// A type as C compilers other than the vendor's know it.
pub(crate) fn c_type(vendor: &str) -> String {
    let words = vendor.replace('*', " * ");
    let known = words.split_whitespace().filter_map(|word| match word {
        "constexpr" => None,
        "const" if !vendor.contains('*') => None,
        "__int64" => Some("long long"),
        "__int32" => Some("int"),
        "__int16" => Some("short"),
        "__int8" => Some("char"),
        other => Some(other),
    });
    known.collect::<Vec<_>>().join(" ")
}
