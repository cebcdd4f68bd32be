//! One input of one instruction as a complete C program, for a person to compile and run.
//!
//! In: a case, the input, what the specification says of it. Out: the text of a program that
//! prints every byte that is something else, and then ends with 1. It chooses nothing.

use super::{
    Case, PAGE, attribute, c_type, includes, pointers, recorded, returned, value_bytes, writes,
};
use semantics::instruction::Operand;

/// One input, and what should come of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Input {
    /// The immediates, one value for each.
    pub immediates: Vec<u32>,
    /// The bytes of the other operands, in order.
    pub operands: Vec<Vec<u8>>,
    /// For each pointer the address and the bytes of a window of memory.
    pub windows: Vec<(u64, Vec<u8>)>,
    /// The bytes of the returned value; empty when there is none.
    pub value: Vec<u8>,
    /// The bytes of every window afterwards; empty when the instruction writes no memory.
    pub after: Vec<Vec<u8>>,
}

/// The program that shows one input.
pub fn show(case: &Case<'_>, input: &Input) -> String {
    let name = &case.instruction.name;
    let mut text = String::new();
    if !input.windows.is_empty() {
        text.push_str("#define _GNU_SOURCE\n");
    }
    text.push_str(&includes(std::slice::from_ref(case)));
    text.push_str(
        "#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n#include <sys/mman.h>\n\n",
    );
    for (k, (operand, bytes)) in recorded(case.instruction).zip(&input.operands).enumerate() {
        text.push_str(&format!("/* {} */\n", operand.name));
        text.push_str(&array(&format!("x{k}"), bytes));
    }
    for (k, (_, bytes)) in input.windows.iter().enumerate() {
        text.push_str(&array(&format!("before{k}"), bytes));
    }
    for (k, bytes) in input.after.iter().enumerate() {
        text.push_str(&array(&format!("after{k}"), bytes));
    }
    if returned(case.instruction).is_some() {
        text.push_str(&array("expected", &input.value));
    }
    text.push_str(COMPARE);
    text.push_str(&attribute(&case.features));
    text.push_str("static int run(void)\n{\n    int wrong = 0;\n");
    for (k, operand) in recorded(case.instruction).enumerate() {
        let c_type = c_type(&operand.c_type);
        text.push_str(&format!(
            "    {c_type} a{k};\n    memcpy(&a{k}, x{k}, sizeof x{k});\n"
        ));
    }
    text.push_str(&call(case, input));
    if returned(case.instruction).is_some() {
        let bytes = value_bytes(case.instruction);
        text.push_str(&format!(
            "    wrong |= differs(\"the result of {name}\", expected, &r, {bytes});\n"
        ));
    }
    if writes(case.instruction) {
        for (k, operand) in pointers(case.instruction).enumerate() {
            let (at, bytes) = (input.windows[k].0, input.windows[k].1.len());
            text.push_str(&format!(
                "    wrong |= differs(\"memory at {} ({at:#x})\", after{k}, (void *)(uintptr_t){at:#x}, {bytes});\n",
                operand.name
            ));
        }
    }
    text.push_str("    return wrong;\n}\n\nint main(void)\n{\n");
    for (k, (at, bytes)) in input.windows.iter().enumerate() {
        let page = at / PAGE * PAGE;
        let (guarded, span, bytes) = (page - PAGE, 3 * PAGE, bytes.len());
        text.push_str(&format!(
            "    if (mmap((void *)(uintptr_t){guarded:#x}, {span}, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED\n        || mprotect((void *)(uintptr_t){page:#x}, {PAGE}, PROT_READ | PROT_WRITE))\n        return 2;\n    memcpy((void *)(uintptr_t){at:#x}, before{k}, {bytes});\n"
        ));
    }
    text.push_str("    return run();\n}\n");
    text
}

/// The function that compares.
const COMPARE: &str = "
static int differs(const char *what, const unsigned char *want, const void *have, unsigned n)
{
    const unsigned char *found = have;
    int wrong = 0;
    for (unsigned k = 0; k < n; k++)
        if (found[k] != want[k])
            wrong = printf(\"%s, byte %u: expected %02x, found %02x\\n\", what, k, want[k], found[k]);
    return wrong != 0;
}

";

/// The call of the intrinsic.
fn call(case: &Case<'_>, input: &Input) -> String {
    let (mut number, mut immediates) = (0, input.immediates.iter());
    let mut argument = |operand: &Operand| match operand.role {
        role if role.is_constant() => immediates.next().copied().unwrap_or(0).to_string(),
        _ => {
            number += 1;
            format!("a{}", number - 1)
        }
    };
    let operands = case.instruction.operands.iter();
    let arguments: Vec<String> = operands.map(&mut argument).collect();
    let assigned = returned(case.instruction)
        .map(|o| format!("{} r = ", c_type(&o.c_type)))
        .unwrap_or_default();
    let name = &case.instruction.name;
    format!("    {assigned}{name}({});\n", arguments.join(", "))
}

/// An array of bytes, of which only those are written that are not 0.
fn array(name: &str, bytes: &[u8]) -> String {
    let one = |(k, byte): (usize, &u8)| (*byte != 0).then(|| format!("[{k}] = 0x{byte:02x}"));
    let mut written: Vec<String> = bytes.iter().enumerate().filter_map(one).collect();
    if written.is_empty() {
        written.push("0".to_owned());
    }
    let size = bytes.len().max(1);
    format!(
        "static const unsigned char {name}[{size}] = {{{}}};\n",
        written.join(", ")
    )
}
