//! Every kernel file of the repository: it is read without complaint, and its lowered form
//! computes what the oracle says, on random and edge data.

use kernel::data::{Limits, generate};
use kernel::{eval, lower, read, replay};
use semantics::diagnostic::render;
use semantics::span::Source;
use std::path::{Path, PathBuf};

fn kernel_files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(folder);
    let entries =
        std::fs::read_dir(&folder).expect("the folder of kernels is part of the repository");
    let mut files: Vec<PathBuf> = entries.map(|e| e.expect("readable entry").path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "kernel"));
    files.sort();
    files
}

/// Reads a file and compares lowered kernels with the oracle on `runs` inputs each.
fn check_file(file: &Path, runs: u64) {
    let name = file
        .file_name()
        .expect("a file has a name")
        .to_string_lossy()
        .into_owned();
    let text = std::fs::read_to_string(file).expect("kernel files are text");
    let (kernels, diagnostics) = read(&Source::new(name.clone(), text));
    assert!(diagnostics.is_empty(), "{}", render(&diagnostics));
    assert!(!kernels.is_empty(), "{name} holds no kernel");
    for kernel in &kernels {
        let lowered = lower::lower(kernel).unwrap_or_else(|d| panic!("{}", render(&d)));
        for seed in 0..runs {
            let limits = Limits {
                size: 64 + 32 * i64::try_from(seed % 3).expect("small"),
                elements: 1 << 14,
            };
            let data = generate(kernel, seed, &limits)
                .unwrap_or_else(|| panic!("{name}: no sizes for {}", kernel.name));
            let oracle = eval::run(kernel, &data).unwrap_or_else(|e| panic!("{name}: {e}"));
            let replayed = replay::run(&lowered, &data).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(
                replayed, oracle,
                "{name}: {} on seed {seed}, sizes {:?}",
                kernel.name, data.sizes
            );
        }
    }
}

#[test]
fn examples_equal_the_oracle() {
    let files = kernel_files("examples");
    assert!(files.len() >= 9, "one example for each window");
    files.iter().for_each(|f| check_file(f, 6));
}

#[test]
fn kernels_equal_the_oracle() {
    kernel_files("kernels")
        .iter()
        .for_each(|f| check_file(f, 4));
}
