//! C with intrinsics.
//!
//! In: a checked kernel. Out: a C file with one function for it ([`emit`]), and a program
//! around it for runs on data ([`harness`](mod@harness)).

pub mod harness;
mod names;
mod operation;
mod plain;
mod scope;
mod text;

use kernel::tree::{For, Kernel, Role, Stmt};
use scope::{Scope, declaration};
use text::Text;

/// A C file with the kernel as a function; `about` goes into its first comment, a line each.
pub fn emit(kernel: &Kernel, about: &[String]) -> String {
    let mut scope = Scope::new(kernel);
    let mut body = Text::default();
    body.open(&format!(
        "void {}({})",
        scope.function,
        scope.parameters().join(", ")
    ));
    scope.declarations(&mut body);
    scope.block(&kernel.body, &mut body);
    body.close();
    let mut text = Text::default();
    about
        .iter()
        .for_each(|line| text.line(&format!("// {line}")));
    for header in ["immintrin.h", "stdbool.h", "stdint.h"] {
        text.line(&format!("#include <{header}>"));
    }
    text.line("");
    for function in scope.functions.definitions() {
        text.lines(function);
        text.line("");
    }
    text.lines(&body.finish());
    text.finish()
}

impl Scope<'_> {
    /// Local arrays and registers.
    fn declarations(&mut self, text: &mut Text) {
        for (id, array) in self.kernel.arrays.iter().enumerate() {
            if array.role == Role::Local {
                let (elem, length) = (operation::c_type(array.elem), self.length(id));
                text.line(&format!(
                    "_Alignas(64) {elem} {}[{length}];",
                    self.array(id)
                ));
            }
        }
        for (id, register) in self.kernel.registers.iter().enumerate() {
            let declared = declaration(register.ty.elem, register.ty.lanes, self.register(id));
            text.line(&format!("{declared};"));
        }
    }

    /// Statements in order.
    fn block(&mut self, statements: &[Stmt], text: &mut Text) {
        for statement in statements {
            match statement {
                Stmt::For(nest) => self.nest(nest, text),
                Stmt::Let(id) => self.plain_let(*id, text),
                Stmt::Assign(assign) => self.plain_assign(assign, text),
            }
        }
    }

    /// A loop.
    fn nest(&mut self, nest: &For, text: &mut Text) {
        let var = self.symbol(nest.var).to_owned();
        let (lo, hi) = (self.index(&nest.lo), self.index(&nest.hi));
        let step = if nest.step == 1 {
            format!("{var}++")
        } else {
            format!("{var} += {}", nest.step)
        };
        text.open(&format!("for (int64_t {var} = {lo}; {var} < {hi}; {step})"));
        self.block(&nest.body, text);
        text.close();
    }
}
