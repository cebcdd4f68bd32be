//! Every kernel of the repository under guard pages: for sizes 0 and 1, one less than the
//! lanes, as many, and one more, and for odd strides, compiled code touches nothing outside its
//! arrays and computes what the evaluator does. The code is the plain one, with the vectors,
//! tails and strides that each schedule makes; that with instructions is run in the same way
//! by the tests of the whole program.

mod built;

use codegen_gen::c::{Unit, emit};
use kernel::data::{fill, shapes};
use kernel::read;
use kernel::tree::Kernel;
use lowering::lower;
use semantics::diagnostic::render;
use semantics::random::Random;
use semantics::span::Source;
use std::fs;
use std::path::{Path, PathBuf};

/// The most elements of one run.
const ELEMENTS: i64 = 1 << 17;

/// How many shapes of a kernel are run.
const SHAPES: usize = 12;

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(folder);
    let entries = fs::read_dir(folder).expect("the folder is part of the repository");
    let mut files: Vec<PathBuf> = entries.map(|e| e.expect("readable").path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "kernel"));
    files.sort();
    files
}

/// Compiles a kernel; how many shapes it was run on.
fn check(kernel: &Kernel, folder: &Path) -> usize {
    let lowered = schedule::apply(kernel)
        .and_then(|s| lower(&s))
        .unwrap_or_else(|d| panic!("{}", render(&d)));
    let code = emit(&Unit::plain(&lowered), &[], None).to_string();
    built::build(kernel, &code, &["-O1"], folder);
    let lanes = lowered
        .windows
        .iter()
        .map(|w| w.output.lanes)
        .max()
        .unwrap_or(1);
    let mut shapes = shapes(kernel, i64::from(lanes), ELEMENTS);
    if shapes.len() > SHAPES {
        // Evenly over all, so that each size has its turn.
        let all = shapes.len();
        shapes = (0..SHAPES)
            .map(|n| shapes[n * all / SHAPES].clone())
            .collect();
    }
    for sizes in &shapes {
        let data = fill(kernel, sizes, &mut Random::new(11));
        built::run(kernel, &data, folder).unwrap_or_else(|wrong| panic!("{wrong}"));
    }
    shapes.len()
}

fn check_folder(name: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for file in files(name) {
        let text = fs::read_to_string(&file).expect("kernel files are text");
        let (kernels, diagnostics) = read(&Source::new(file.display().to_string(), text));
        assert!(diagnostics.is_empty(), "{}", render(&diagnostics));
        for kernel in &kernels {
            let runs = check(kernel, folder.path());
            assert!(runs > 0, "{}: no shape was found", kernel.name);
        }
    }
}

#[test]
fn kernels() {
    check_folder("kernels");
}

#[test]
fn examples() {
    check_folder("examples");
}

#[test]
fn an_access_outside_is_found() {
    let text =
        "kernel shifted(n: size, a: in u8[n], b: out u8[n]) { for x in 0..n { b[x] = a[x]; } }";
    let (kernels, _) = read(&Source::new("k", text));
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (index, says) in [
        ("x - 1", "touches memory"),
        ("x + 1", "touches memory"),
        ("x", ""),
    ] {
        let code = format!(
            "#include <stdint.h>\nvoid shifted(int64_t n, const uint8_t *a, uint8_t *b) {{ for (int64_t x = 0; x < n; x++) b[x] = a[{index}]; }}\n"
        );
        built::build(&kernels[0], &code, &["-O0"], folder.path());
        let sizes = shapes(&kernels[0], 16, 1000);
        let data = fill(&kernels[0], &sizes[0], &mut Random::new(1));
        let wrong = built::run(&kernels[0], &data, folder.path()).err();
        assert_eq!(wrong.is_none(), says.is_empty(), "{wrong:?}");
        assert!(wrong.unwrap_or_default().contains(says));
    }
}
