//! C programs that run instructions on given inputs, to compare them with their meaning.
//!
//! In: instructions, compiler features and the immediates to try. Out: the text of one C
//! program, and which of its lines belong to which instruction. It compiles and runs nothing,
//! and chooses no inputs.
//!
//! The program takes two file names. From the first it reads groups: the index of a case and
//! a number of records (32 bits each, little-endian), then the records. A record is the index
//! of a list of immediates (16 bits), then every other operand in order. For each group it
//! writes the results of all records to the second file and flushes it.

#[cfg(test)]
mod tests;

use semantics::instruction::{Instruction, Operand, Role};
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
}

/// A program, and where its cases stand in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Harness {
    /// The C code.
    pub text: String,
    /// For each case its lines, from 1.
    pub lines: Vec<Range<usize>>,
}

/// The operands that records hold: all but the immediates.
pub fn recorded(instruction: &Instruction) -> impl Iterator<Item = &Operand> {
    let immediate = |o: &&Operand| o.role.is_constant();
    instruction.operands.iter().filter(move |o| !immediate(o))
}

/// Bytes of one record of inputs.
pub fn input_bytes(instruction: &Instruction) -> usize {
    2 + recorded(instruction)
        .map(|o| o.width as usize / 8)
        .sum::<usize>()
}

/// Bytes of the result of one record.
pub fn output_bytes(instruction: &Instruction) -> usize {
    let output = instruction.outputs.first();
    output.map_or(0, |o| o.term.sort().width().unwrap_or(0) as usize / 8)
}

/// Why an instruction cannot be run by such a program; `None` when it can.
pub fn unsupported(instruction: &Instruction) -> Option<&'static str> {
    if instruction.outputs.len() != 1 || output_bytes(instruction) == 0 {
        return Some("it does not return one value");
    }
    if instruction.operands.iter().any(|o| o.role == Role::Pointer) {
        return Some("it accesses memory");
    }
    if instruction.operands.iter().any(|o| o.c_type == "__m64")
        || instruction.outputs[0].c_type == "__m64"
    {
        return Some("it uses MMX registers");
    }
    None
}

/// The head of the program.
const HEAD: &str = "\
#include <immintrin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

";

/// The rest of the program, after the table of cases.
const MAIN: &str = "\
int main(int argc, char **argv)
{
    if (argc != 3) return 10;
    FILE *from = fopen(argv[1], \"rb\"), *to = fopen(argv[2], \"wb\");
    if (!from || !to) return 11;
    unsigned head[2];
    while (fread(head, sizeof head, 1, from) == 1) {
        if (head[0] >= sizeof cases / sizeof *cases) return 12;
        size_t in = (size_t)cases[head[0]].in * head[1], out = (size_t)cases[head[0]].out * head[1];
        unsigned char *input = malloc(in + 1), *output = calloc(out + 1, 1);
        if (!input || !output) return 13;
        if (fread(input, 1, in, from) != in) return 14;
        cases[head[0]].run(input, output, head[1]);
        if (fwrite(output, 1, out, to) != out || fflush(to)) return 15;
        free(input);
        free(output);
    }
    return 0;
}
";

/// The program that runs the given cases.
pub fn emit(cases: &[Case<'_>]) -> Harness {
    let mut text = String::from(HEAD);
    let mut lines = Vec::with_capacity(cases.len());
    let mut line = HEAD.lines().count() + 1;
    for (index, case) in cases.iter().enumerate() {
        let function = function(index, case);
        let length = function.lines().count();
        lines.push(line..line + length);
        line += length;
        text.push_str(&function);
    }
    text.push_str("static const struct { void (*run)(const unsigned char *, unsigned char *, unsigned); unsigned in, out; } cases[] = {\n");
    for (index, case) in cases.iter().enumerate() {
        let (input, output) = (
            input_bytes(case.instruction),
            output_bytes(case.instruction),
        );
        writeln!(text, "    {{case{index}, {input}, {output}}},").expect("a string grows");
    }
    text.push_str("};\n\n");
    text.push_str(MAIN);
    Harness { text, lines }
}

/// The function that runs one case on many records.
fn function(index: usize, case: &Case<'_>) -> String {
    let instruction = case.instruction;
    let (input, output) = (input_bytes(instruction), output_bytes(instruction));
    let mut text = String::new();
    if !case.features.is_empty() {
        let features = case.features.join(",");
        text.push_str(&format!("__attribute__((target(\"{features}\")))\n"));
    }
    text.push_str(&format!(
        "static void case{index}(const unsigned char *in, unsigned char *out, unsigned n)\n{{\n    for (; n--; in += {input}, out += {output}) {{\n"
    ));
    let mut at = 2;
    for (number, operand) in recorded(instruction).enumerate() {
        let c_type = c_type(&operand.c_type);
        let bytes = operand.width / 8;
        text.push_str(&format!(
            "        {c_type} x{number};\n        memcpy(&x{number}, in + {at}, {bytes});\n"
        ));
        at += bytes as usize;
    }
    let result = c_type(&instruction.outputs[0].c_type);
    text.push_str(&format!("        {result} r;\n"));
    text.push_str(&calls(case));
    text.push_str(&format!("        memcpy(out, &r, {output});\n    }}\n}}\n"));
    text
}

/// The calls, one for each list of immediates.
fn calls(case: &Case<'_>) -> String {
    let name = &case.instruction.name;
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
        format!("r = {name}({});", arguments.join(", "))
    };
    if let [only] = case.immediates.as_slice() {
        return format!("        {}\n", call(only));
    }
    let mut text = String::from("        switch (in[0] | in[1] << 8) {\n");
    for (index, immediates) in case.immediates.iter().enumerate() {
        text.push_str(&format!(
            "        case {index}: {} break;\n",
            call(immediates)
        ));
    }
    text.push_str("        default: return;\n        }\n");
    text
}

/// A type as C compilers other than the vendor's know it.
pub(crate) fn c_type(vendor: &str) -> String {
    let bare = vendor
        .trim_start_matches("constexpr ")
        .trim_start_matches("const ")
        .trim();
    match bare {
        "__int64" => "long long".to_owned(),
        "unsigned __int64" => "unsigned long long".to_owned(),
        "__int32" => "int".to_owned(),
        "unsigned __int32" => "unsigned int".to_owned(),
        "__int16" => "short".to_owned(),
        "__int8" => "char".to_owned(),
        other => other.to_owned(),
    }
}
