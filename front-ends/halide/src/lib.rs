//! Halide's lowered statement text as a kernel.
//!
//! In: the text that Halide 21 writes with `compile_to_lowered_stmt(…, StmtOutputFormat.Text)`
//! after its own schedule. Out: [`Import`]: a [`Kernel`] with the loops, vectors and
//! allocations as Halide has placed them, and the arguments that the function is called with.
//! From there on everything is as for a kernel of the kernel language, but that it has no
//! schedule: Halide's was applied already. Accesses are those that Halide has proved inside
//! their buffers, given the checks at the start of the text, which become conditions on the
//! arguments. What is not understood is refused with its line; nothing is guessed.

mod accumulate;
mod arguments;
mod by_turns;
mod call;
mod carried;
mod chosen;
mod clamped;
mod constants;
mod derived;
mod elementary;
mod fused;
mod import;
mod masked;
mod memory;
mod narrow;
mod normal;
mod operation;
mod promote;
mod scope;
mod syntax;
mod tasks;
mod truth;
mod value;

pub use arguments::{Argument, Arguments, Asked, Buffer, Check, Convention, Dim, Signed};
pub use constants::Constants;

use import::Importer;
use kernel::tree::{Kernel, SymbolInfo, SymbolKind};
use semantics::diagnostic::{Diagnostic, Severity};
use semantics::span::{Source, Span};
use std::collections::BTreeSet;

/// A pipeline as it was read.
#[derive(Clone, Debug)]
pub struct Import {
    /// The function that the text defines.
    pub name: String,
    /// The computation; its name is the function's with `_kernel` behind it.
    pub kernel: Kernel,
    /// How the function is called.
    pub arguments: Arguments,
    /// How buffers are taken.
    pub convention: Convention,
    /// What is read otherwise than Halide would run it.
    pub warnings: Vec<Diagnostic>,
    /// Statements whose lanes are moved or computed one at a time, and why.
    pub one_by_one: Vec<(Span, String)>,
}

impl Import {
    /// The kernel as it is run on drawn data: buffers with minima and strides are dense ones, and
    /// their first coordinates are near 0.
    pub fn on_samples(&self) -> Kernel {
        let mut kernel = self.kernel.clone();
        arguments::dense(&self.arguments, &mut kernel);
        kernel
    }
}

/// What a text is read with.
#[derive(Clone, Debug)]
pub struct Options<'c> {
    /// How the function takes its buffers.
    pub convention: Convention,
    /// The floats of the text, exactly, as far as that is known.
    pub constants: &'c Constants,
    /// Bits of the elements of which the target loads and stores some of a vector at once: leading
    /// lanes of others are moved one at a time.
    pub masked: BTreeSet<u32>,
    /// Bits of the vectors in which loops keep sums over lanes.
    pub sums: u32,
}

impl<'c> Options<'c> {
    /// For a target that only moves whole vectors, and keeps no sums in lanes.
    pub fn new(convention: Convention, constants: &'c Constants) -> Options<'c> {
        Options {
            convention,
            constants,
            masked: BTreeSet::new(),
            sums: 0,
        }
    }
}

/// Reads a statement text.
///
/// # Errors
/// A diagnostic at the first construct that cannot be read, with what to do instead.
pub fn read(source: &Source, options: &Options<'_>) -> Result<Import, Vec<Diagnostic>> {
    let program = syntax::parse(source)?;
    let name = arguments::plain_name(&program.name);
    let kernel = Kernel {
        source: source.clone(),
        name: format!("{name}_kernel"),
        symbols: vec![SymbolInfo {
            name: "lane".to_owned(),
            kind: SymbolKind::Loop,
            incremental: false,
            span: program.span,
        }],
        params: Vec::new(),
        arrays: Vec::new(),
        scalars: Vec::new(),
        registers: Vec::new(),
        locals: Vec::new(),
        definitions: Vec::new(),
        requires: Vec::new(),
        body: Vec::new(),
        schedule: Vec::new(),
        span: program.span,
    };
    let mut importer = Importer::new(kernel, Arguments::default(), options, &program);
    let made = importer
        .declare()
        .and_then(|()| importer.scoped(&program.body));
    let body = made.map_err(|refusal| vec![*refusal.0])?;
    importer.tell_of_constants();
    let Importer {
        mut kernel,
        arguments,
        mut warnings,
        one_by_one,
        ..
    } = importer;
    kernel.body = body;
    if let Some(outside) = kernel::bounds::refuted(&kernel) {
        let hint = "the pipeline checks no sizes that keep it inside: it has no checks, or the text is damaged";
        warnings.push(Diagnostic {
            severity: Severity::Warning,
            ..outside.hint(hint)
        });
    }
    promote::promote(&mut kernel);
    by_turns::unread(&mut kernel);
    carried::carry(&mut kernel);
    accumulate::accumulate(&mut kernel, options.sums);
    accumulate::trees(&mut kernel);
    Ok(Import {
        name,
        kernel,
        arguments,
        convention: options.convention,
        warnings,
        one_by_one,
    })
}

#[cfg(test)]
mod tests;
