//! What spaces are tested on: machines of our specifications, kernels from their text.

use kernel::tree::Kernel;
use semantics::diagnostic::render;
use semantics::machine::Machine;
use semantics::span::Source;
use std::path::Path;

/// A machine as our specification of that name describes it.
pub(crate) fn machine(isa: &str) -> Machine {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../isa-specs");
    let path = folder.join(isa).join("manifest.yaml");
    let (machine, wrong) = spec_parser::matrix::load::load(&path).expect("our specification");
    assert!(wrong.is_empty(), "our specification is right");
    machine
}

/// The first kernel of a text.
pub(crate) fn parse(text: &str) -> Kernel {
    let (mut kernels, wrong) = kernel::read(&Source::new("test.kernel", text));
    assert!(wrong.is_empty(), "{}", render(&wrong));
    kernels.remove(0)
}
