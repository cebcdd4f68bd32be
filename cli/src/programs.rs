//! `compile --emit autoir` and `--from-autoir`: programs of AutoIR operations as files.
//!
//! In: the programs of a text of kernels, or such a file. Out: the file, or the kernels compiled
//! with its programs, each proved anew. The form of the file is the crate `autoir`'s.

use crate::args::{BufferForm, Compile};
use crate::pipeline::{self, Compiled, Settings};
use autoir::program::file::{self, Origin};
use halide::{Constants, Convention};
use semantics::diagnostic::Diagnostic;
use semantics::span::Source;

/// What the kernel language is called in files.
const KERNELS: &str = "kernels";

/// The file of some programs and of what they were made for.
pub(crate) fn file(
    programs: &[String],
    source: &Source,
    request: &Compile,
    settings: &Settings,
) -> String {
    if let Some(origin) = &settings.origin {
        return file::write(programs, origin);
    }
    let language = match (&request.from_halide, request.arguments) {
        (None, _) => KERNELS,
        (Some(_), BufferForm::Pointers) => "halide-pointers",
        (Some(_), BufferForm::Halide) => "halide-buffers",
    };
    let origin = Origin {
        language: language.to_owned(),
        name: source.name().to_owned(),
        text: source.text().to_owned(),
    };
    file::write(programs, &origin)
}

/// Compiles the kernels of a file with the programs that are in it.
pub(crate) fn compile(
    source: &Source,
    settings: &mut Settings,
) -> (Vec<Compiled>, Vec<Diagnostic>) {
    let read = file::read(source, &|operation, values, given| {
        settings.operations.resolve(operation, values, given)
    });
    let (programs, origin) = match read {
        Ok(read) => read,
        Err(diagnostics) => return (Vec::new(), diagnostics),
    };
    settings.programs = Some(programs.into_iter().collect());
    let kernels = Source::new(origin.name.clone(), origin.text.clone());
    let language = origin.language.clone();
    settings.origin = Some(origin);
    let none = Constants::default();
    match language.as_str() {
        KERNELS => pipeline::compile(&kernels, settings),
        "halide-pointers" => {
            pipeline::compile_pipeline(&kernels, Convention::Pointers, &none, settings)
        }
        "halide-buffers" => {
            pipeline::compile_pipeline(&kernels, Convention::Buffers, &none, settings)
        }
        other => {
            let message = format!("`{other}` is no language of kernels");
            let wrong = Diagnostic::error(message)
                .hint("behind `---` stands kernels, halide-pointers or halide-buffers");
            (Vec::new(), vec![wrong])
        }
    }
}
