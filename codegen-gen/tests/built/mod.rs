//! Kernels as programs: compiled with the harness around them, and run beside the evaluator.

use codegen_gen::c::harness;
use kernel::eval::{self, Data};
use kernel::tree::Kernel;
use std::fs;
use std::path::Path;
use toolchain::c;

/// Writes and compiles C with the harness around it.
#[allow(dead_code)] // Not every test writes C.
pub(crate) fn build(kernel: &Kernel, code: &str, flags: &[&str], folder: &Path) {
    fs::write(folder.join("kernel.c"), code).expect("a temporary folder");
    harnessed(
        kernel,
        &[flags, &["-std=gnu11", "kernel.c"]].concat(),
        folder,
    )
    .unwrap_or_else(|messages| panic!("{code}\n{messages}"));
}

/// Compiles the harness of a kernel with what is there of it.
pub(crate) fn harnessed(kernel: &Kernel, with: &[&str], folder: &Path) -> Result<(), c::Failure> {
    fs::write(folder.join("main.c"), harness::harness(kernel)).expect("a temporary folder");
    let all = [with, &["main.c", "-o", "program", "-lm"]].concat();
    c::compile("gcc", all, folder)
}

/// Runs the program on data; what went wrong, or that it gave what the evaluator gives.
pub(crate) fn run(kernel: &Kernel, data: &Data, folder: &Path) -> Result<(), String> {
    fs::write(folder.join("in"), harness::arguments(kernel, data)).expect("a temporary folder");
    c::run("program", ["in", "out"], folder)
        .map_err(|said| format!("{} on {:?}: {said}", kernel.name, data.sizes))?;
    let bytes = fs::read(folder.join("out")).expect("the program wrote it");
    let expected = eval::run(kernel, data).unwrap_or_else(|e| panic!("{}: {e}", kernel.name));
    for (name, values) in harness::results(kernel, data, &bytes).expect("the right size") {
        let want = &expected.arrays[&name];
        if let Some(i) = (0..values.len()).find(|&i| values[i] != want[i]) {
            let (found, want, sizes) = (values[i], want[i], &data.sizes);
            let place = format!("{} on {sizes:?}: {name}[{i}]", kernel.name);
            return Err(format!("{place} is {found}, not {want}"));
        }
    }
    Ok(())
}
