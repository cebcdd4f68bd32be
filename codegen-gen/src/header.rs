//! The operations of an instruction set as a header for C and C++.
//!
//! In: a dictionary. Out: `autoir_ISA.h`, one static inline function for each operation and
//! set of numbers, with the intrinsic that asks least of the processor as its body. What has
//! an argument that must be a constant is a macro, because compilers accept such an argument
//! from no parameter of a function. A function is there when the compiler may use the
//! features that it needs. Classes that only other instruction sets have are left out.

use crate::artefact::{Artefact, Input, Set};
use crate::check_harness::c_type;
use crate::variant::{Given, Variant, bound, operand, variants};
use autoir::dictionary::{Binding, Dictionary, Member};
use semantics::instruction::{Form, Instruction, Operand, Origin, Output};
use semantics::spelling::line;
use std::collections::BTreeSet;
use std::io::{self, Write};

/// What a function is called before its variant's name.
const PREFIX: &str = "autoir_";

/// The file of a set.
pub fn artefact<'a>(input: &'a Input<'a>, set: &'a Set) -> Artefact<'a> {
    let path = format!("c/autoir_{}.h", set.isa);
    Artefact::new(path, move |out| write(input, set, out))
}

/// A variant with the member that does it.
pub(crate) struct Function<'a> {
    pub(crate) variant: Variant<'a>,
    pub(crate) member: &'a Member,
    set: &'a Set,
}

/// What is written, in order.
pub(crate) fn functions<'a>(dictionary: &'a Dictionary, set: &'a Set) -> Vec<Function<'a>> {
    let all = variants(dictionary).into_iter();
    let found = all.filter_map(|variant| {
        let member = variant.representative(|m| m.isa == set.isa && m.form != Form::Library)?;
        Some(Function {
            variant,
            member,
            set,
        })
    });
    found.collect()
}

fn write(input: &Input<'_>, set: &Set, out: &mut dyn Write) -> io::Result<String> {
    write!(out, "{}", input.header("//"))?;
    out.write_all(
        b"//\n// Each function is there when the compiler may use the features that it needs\n\
          // (`-march=...`). Arguments in capitals must be constants.\n",
    )?;
    let once = format!("AUTOIR_{}_H", set.isa.to_uppercase());
    writeln!(out, "#ifndef {once}\n#define {once}\n")?;
    for header in &set.headers {
        writeln!(out, "#include <{header}>")?;
    }
    for text in [String::new()].iter().chain(&set.prelude) {
        writeln!(out, "{text}")?;
    }
    let functions = functions(input.dictionary, set);
    for function in &functions {
        function.write(out)?;
    }
    out.write_all(b"\n#endif\n")?;
    let macros = functions.iter().filter(|f| f.is_macro()).count();
    Ok(format!(
        "{} functions, {macros} macros",
        functions.len() - macros
    ))
}

impl<'a> Function<'a> {
    /// The operands that the arguments are, in the order of the arguments, each once.
    pub(crate) fn parameters(&self) -> Vec<&'a Operand> {
        let mut seen = BTreeSet::new();
        let bound = bound(self.member).map(|(_, o)| o);
        let others = self.member.operands.iter();
        let all = bound.chain(others);
        all.filter(|o| seen.insert(o.name.as_str())).collect()
    }

    fn is_macro(&self) -> bool {
        self.member.operands.iter().any(|o| o.role.is_constant())
    }

    /// A type as both languages and all compilers take it.
    pub(crate) fn c_type(&self, declared: &str) -> String {
        let spelt = self.set.spelt.iter();
        let known = spelt.fold(c_type(declared), |known, (from, to)| {
            known.replace(from, to)
        });
        // The vendor declares some pointers that are written through as constant.
        let writes = self.member.outputs.iter().any(|o| o.c_type == "void");
        match writes {
            true => known.replace(" const", ""),
            false => known,
        }
    }

    pub(crate) fn result(&self) -> String {
        let first = self.member.outputs.first();
        first.map_or_else(|| "void".to_owned(), |o| self.c_type(&o.c_type))
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let (conditions, unknown) = (&self.set.conditions, &self.set.unknown);
        let of = |name: &String| conditions.get(name).cloned();
        let mut guards: Vec<String> = self.member.features.iter().filter_map(of).collect();
        guards.extend(unknown.get(&self.member.name).cloned());
        self.comment(out)?;
        if !guards.is_empty() {
            writeln!(out, "#if {}", guards.join(" && "))?;
        }
        let name = format!("{PREFIX}{}", self.variant.name);
        let parameters = self.parameters();
        if self.is_macro() {
            let names = parameters.iter().map(|o| shown(o));
            let names = names.collect::<Vec<_>>().join(", ");
            let arguments = self.member.operands.iter().map(|o| match o.role {
                role if role.is_constant() => format!("({})({})", self.c_type(&o.c_type), shown(o)),
                _ => format!("({})", shown(o)),
            });
            let arguments = arguments.collect::<Vec<_>>().join(", ");
            writeln!(
                out,
                "#define {name}({names}) \\\n  {}({arguments})",
                self.member.name
            )?;
        } else {
            let typed = parameters
                .iter()
                .map(|o| format!("{} {}", self.c_type(&o.c_type), shown(o)));
            let mut typed = typed.collect::<Vec<_>>().join(", ");
            if typed.is_empty() {
                typed.push_str("void");
            }
            let arguments = self.member.operands.iter().map(shown);
            let arguments = arguments.collect::<Vec<_>>().join(", ");
            let result = self.result();
            let back = if result == "void" { "" } else { "return " };
            writeln!(
                out,
                "static inline {result} {name}({typed}) {{\n  {back}{}({arguments});\n}}",
                self.member.name
            )?;
        }
        if !guards.is_empty() {
            out.write_all(b"#endif\n")?;
        }
        Ok(())
    }

    /// What it computes, and who else does.
    fn comment(&self, out: &mut dyn Write) -> io::Result<()> {
        let operation = self.variant.operation;
        writeln!(out, "\n// {}", line(&operation.formula))?;
        let numbers = self.variant.numbers();
        if !numbers.is_empty() {
            writeln!(out, "// {numbers}")?;
        }
        let given = self.variant.given.iter().zip(&operation.arguments);
        let zeros = given.filter(|(how, _)| **how == Given::Zero);
        for (_, argument) in zeros {
            writeln!(out, "// {argument} = 0")?;
        }
        let renamed = operation.arguments.iter().zip(&self.member.bindings);
        for (argument, binding) in renamed {
            if let Binding::Operand(name) = binding
                && name != argument
                && let Some(o) = operand(self.member, name)
            {
                writeln!(out, "// {argument} is {}", shown(o))?;
            }
        }
        for output in &self.member.outputs {
            for (lo, hi) in &output.undefined {
                writeln!(out, "// bits {lo} to {} are undefined", hi - 1)?;
            }
        }
        let same = self.variant.members.iter().map(|m| m.name.as_str());
        writeln!(out, "// {}", same.collect::<Vec<_>>().join(", "))
    }

    /// As an instruction whose meaning is the operation's.
    fn instruction(&self) -> Option<Instruction> {
        let (operation, member) = (self.variant.operation, self.member);
        let outputs = member.outputs.iter().enumerate().map(|(k, o)| {
            let term = member.result(operation, k).ok()?;
            Some(Output {
                name: o.name.clone(),
                c_type: o.c_type.clone(),
                element: o.element,
                term,
                undefined: o.undefined.clone(),
            })
        });
        Some(Instruction {
            name: format!("{PREFIX}{}", self.variant.name),
            isa: member.isa.clone(),
            mnemonic: member.mnemonic.clone(),
            operands: self.parameters().into_iter().cloned().collect(),
            outputs: outputs.collect::<Option<Vec<_>>>()?,
            features: member.features.clone(),
            form: member.form,
            pseudocode: String::new(),
            origin: Origin::default(),
        })
    }
}

/// A parameter's name: constants in capitals.
fn shown(operand: &Operand) -> String {
    match operand.role.is_constant() {
        true => operand.name.to_uppercase(),
        false => operand.name.clone(),
    }
}

/// The functions as instructions, each with the meaning that its operation has at its
/// numbers: what they compute can be compared with that. With each
/// the intrinsic that it calls.
pub fn instructions<'a>(dictionary: &'a Dictionary, set: &'a Set) -> Vec<(Instruction, &'a str)> {
    let all = functions(dictionary, set).into_iter();
    let each = all.filter_map(|f| Some((f.instruction()?, f.member.name.as_str())));
    each.collect()
}
