//! A C file that wraps intrinsics in functions of their declared types.
//!
//! In: cases. Out: the text, and which of its lines belong to which case. It is only to be
//! compiled: a name, a type, the order of operands or a feature that is not the compiler's
//! gives a warning or an error there.

use super::{Case, Harness, attribute, c_type, includes, returned};
use semantics::instruction::Operand;

/// The file that wraps the given cases, each with the first of its lists of immediates.
pub fn emit(cases: &[Case<'_>]) -> Harness {
    let functions = cases.iter().enumerate().map(|(k, case)| function(k, case));
    Harness::begin(includes(cases) + "\n", functions)
}

/// One wrapper.
fn function(index: usize, case: &Case<'_>) -> String {
    let instruction = case.instruction;
    let none = Vec::new();
    let mut immediates = case.immediates.first().unwrap_or(&none).iter();
    let (mut parameters, mut arguments) = (Vec::new(), Vec::new());
    let mut add = |operand: &Operand| {
        if operand.role.is_constant() {
            let value = immediates.next().copied().unwrap_or(0);
            arguments.push(value.to_string());
        } else {
            let name = format!("x{}", parameters.len());
            parameters.push(format!("{} {name}", c_type(&operand.c_type)));
            arguments.push(name);
        }
    };
    instruction.operands.iter().for_each(&mut add);
    if parameters.is_empty() {
        parameters.push("void".to_owned());
    }
    let (name, parameters) = (&instruction.name, parameters.join(", "));
    let call = format!("{name}({})", arguments.join(", "));
    let attribute = attribute(&case.features);
    match returned(instruction) {
        None => format!(
            "{attribute}void wrap{index}({parameters});\n{attribute}void wrap{index}({parameters})\n{{\n    {call};\n}}\n"
        ),
        Some(output) => {
            let result = c_type(&output.c_type);
            format!(
                "{attribute}{result} wrap{index}({parameters});\n{attribute}{result} wrap{index}({parameters})\n{{\n    _Static_assert(__builtin_types_compatible_p(__typeof__({call}), {result}), \"{name} returns another type\");\n    return {call};\n}}\n"
            )
        }
    }
}
