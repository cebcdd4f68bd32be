//! Parallel loops, whose iterations Halide 21 has made functions of.
//!
//! In: `halide_do_par_for(function, min, extent, names)`. Out: a loop on one thread, in which the
//! function's statements stand; names in them are those that the structure passes on.

use super::arguments::{buffer_call, inner_name};
use super::import::{Binding, Importer, Made};
use super::syntax::{Expr, Kind};
use super::value::Value;
use kernel::tree::Stmt;
use semantics::diagnostic::Diagnostic;

/// The most calls of such functions in one text, all written out.
const MOST_CALLS: usize = 256;

impl Importer<'_> {
    /// The loop that is called; nothing when the value is something else.
    pub(super) fn parallel(&mut self, name: &str, value: &Expr) -> Made<Option<Vec<Stmt>>> {
        let Some(("halide_do_par_for", [task, min, extent, closure])) = buffer_call(value) else {
            return Ok(None);
        };
        let span = self.span;
        let damaged = "the text is damaged: let Halide write it again";
        let Kind::Task(task) = &task.kind else {
            return self.refuse(span, "a parallel loop without a function", damaged);
        };
        let program = self.program;
        let Some(found) = program.tasks.get(task) else {
            return self.refuse(span, format!("there is no function `{task}`"), damaged);
        };
        let [_, variable, passed] = &found.arguments[..] else {
            let message = format!("`{task}` is no function of a parallel loop");
            return self.refuse(span, message, damaged);
        };
        if self.running.contains(task) || self.calls == MOST_CALLS {
            let message = format!("`{task}` is called inside itself, or too often");
            return self.refuse(span, message, damaged);
        }
        let structure = inner_name(closure)
            .and_then(|name| self.lookup(name))
            .cloned();
        let Some(structure @ Binding::Struct(_)) = structure else {
            return self.refuse(span, "it is not known what is passed to this loop", damaged);
        };
        let warning = Diagnostic::warning(format!(
            "the loop `{variable}` is parallel in Halide; here it runs on one thread"
        ));
        self.warnings.push(warning.at(&self.kernel.source, span));
        let (lo, extent) = (self.scalar(min)?, self.scalar(extent)?);
        let names = std::mem::replace(&mut self.names, vec![(passed.clone(), structure)]);
        self.calls += 1;
        self.running.push(task.clone());
        let made = self.counted(variable, lo, &extent, |importer| {
            importer.block(&found.body)
        });
        self.running.pop();
        self.names = names;
        self.names
            .push((name.to_owned(), Binding::Value(Value::Opaque)));
        made.map(Some)
    }

    /// What a name stands for that is put into a structure, or taken out of one.
    pub(super) fn passed(&mut self, value: &Expr) -> Made<Option<Binding>> {
        match buffer_call(value) {
            Some(("make_struct", args)) => {
                let mut all = Vec::new();
                for arg in args {
                    let found = match inner_name(arg).and_then(|name| self.lookup(name)) {
                        Some(known) => known.clone(),
                        None => Binding::Value(self.value(arg)?),
                    };
                    all.push(found);
                }
                Ok(Some(Binding::Struct(all)))
            }
            Some(("load_typed_struct_member", [from, _, member])) => {
                let place = match member.kind {
                    Kind::Number(k) => usize::try_from(k).ok(),
                    _ => None,
                };
                let found = match inner_name(from).and_then(|name| self.lookup(name)) {
                    Some(Binding::Struct(all)) => place.and_then(|k| all.get(k)).cloned(),
                    _ => None,
                };
                match found {
                    Some(found) => Ok(Some(found)),
                    None => self.refuse(
                        value.span,
                        "this is nothing that is passed to the loop",
                        "the text is damaged: let Halide write it again",
                    ),
                }
            }
            _ => Ok(None),
        }
    }
}
