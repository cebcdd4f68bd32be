//! Every kernel file of the repository: it is read without complaint, and its lowered form
//! computes what the oracle says, on random and edge data.

use kernel::data::{Limits, fill, generate, shapes};
use kernel::{eval, read};
use lowering::{lower, replay};
use semantics::diagnostic::render;
use semantics::random::Random;
use semantics::span::Source;
use std::path::{Path, PathBuf};

fn kernel_files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(folder);
    let entries =
        std::fs::read_dir(&folder).expect("the folder of kernels is part of the repository");
    let mut files: Vec<PathBuf> = entries.map(|e| e.expect("readable entry").path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "kernel"));
    files.sort();
    files
}

/// Reads a file and compares lowered kernels with the oracle on at least `runs` inputs
/// each, until every window was executed.
fn check_file(file: &Path, runs: u64) {
    let name = file
        .file_name()
        .expect("a file has a name")
        .to_string_lossy()
        .into_owned();
    let text = std::fs::read_to_string(file).expect("kernel files are text");
    check_text(&name, &text, runs);
}

fn check_text(name: &str, text: &str, runs: u64) {
    let (kernels, diagnostics) = read(&Source::new(name, text));
    assert!(diagnostics.is_empty(), "{}", render(&diagnostics));
    assert!(!kernels.is_empty(), "{name} holds no kernel");
    for kernel in &kernels {
        let lowered = schedule::apply(kernel)
            .and_then(|s| lower(&s))
            .unwrap_or_else(|d| panic!("{}", render(&d)));
        let mut executed = vec![0; lowered.windows.len()];
        let lanes = lowered
            .windows
            .iter()
            .map(|w| w.output.lanes)
            .max()
            .unwrap_or(1);
        let shapes = shapes(kernel, i64::from(lanes), 1 << 18);
        let mut shapes = shapes.iter().map(|s| fill(kernel, s, &mut Random::new(7)));
        let limits = Limits {
            size: 70,
            elements: 1 << 13,
        };
        let mut random = (0..runs).filter_map(|seed| generate(kernel, seed, &limits));
        loop {
            let covered = executed.iter().all(|&n| n > 0);
            let next = random
                .next()
                .or_else(|| if covered { None } else { shapes.next() });
            let Some(data) = next else { break };
            let oracle = eval::run(kernel, &data).unwrap_or_else(|e| panic!("{name}: {e}"));
            let (replayed, counts) =
                replay::run_counting(&lowered, &data).unwrap_or_else(|e| panic!("{name}: {e}"));
            executed
                .iter_mut()
                .zip(counts)
                .for_each(|(sum, n)| *sum += n);
            assert_eq!(
                replayed, oracle,
                "{name}: {} on {:?}",
                kernel.name, data.sizes
            );
        }
        for (window, &times) in lowered.windows.iter().zip(&executed) {
            assert!(times > 0, "{name}: {} was never executed", window.name);
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

#[test]
fn every_example_of_the_language_reference() {
    let page = include_str!("../../kernel/LANGUAGE.md");
    let blocks: Vec<&str> = page.split("```kernel\n").skip(1).collect();
    assert!(blocks.len() >= 10, "one example for each section");
    for (n, block) in blocks.iter().enumerate() {
        let text = block.split("```").next().expect("a split has a first part");
        check_text(&format!("LANGUAGE.md, example {}", n + 1), text, 3);
    }
}
