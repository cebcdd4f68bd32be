//! Every kernel file of the repository: it is read without complaint, and its lowered form
//! computes what the oracle says, on random and edge data.

use kernel::data::{Limits, fill, generate, shapes};
use kernel::tree::Kernel;
use kernel::{eval, read};
use lowering::window::Lowered;
use lowering::{lower_both, replay};
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
        let scheduled = schedule::apply(kernel).unwrap_or_else(|d| panic!("{}", render(&d)));
        let (lowered, common) = lower_both(&scheduled).unwrap_or_else(|d| panic!("{}", render(&d)));
        check_lowered(name, kernel, &lowered, runs);
        common.inspect(|lowered| check_lowered(name, kernel, lowered, runs));
    }
}

fn check_lowered(name: &str, kernel: &Kernel, lowered: &Lowered, runs: u64) {
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
            replay::run_counting(lowered, &data).unwrap_or_else(|e| panic!("{name}: {e}"));
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

/// Taps of some rows in random order, added up or compared.
fn random_form(random: &mut Random, wide: &str, rows: u64, kind: u64) -> String {
    let part = |random: &mut Random| {
        let (dy, dx) = (random.below(rows), random.below(3));
        let tap = format!("{wide}(a[y + {dy}, x + {dx}])");
        match random.below(4) {
            0 => format!("{tap} * {}", 2 + random.below(9)),
            1 => format!("({tap} << {})", random.below(4)),
            _ => tap,
        }
    };
    let mut text = part(random);
    for _ in 0..2 + random.below(5) {
        let other = part(random);
        text = match kind {
            0 if random.below(4) == 0 => format!("{text} - {other}"),
            0 => format!("{text} + {other}"),
            1 => format!("max({text}, {other})"),
            _ => format!("min({other}, {text})"),
        };
    }
    text
}

/// A stencil of random sums, minima and maxima of random types, with rows beside each other.
fn random_stencil(random: &mut Random) -> String {
    let ty = ["u8", "i8", "u16", "i16", "i32", "u32"][random.index(6)];
    let wide = match ty {
        "u8" | "i8" => ["u8", "i8", "u16", "i16", "i32", "u32"][random.index(6)],
        _ => ["u16", "i16", "i32", "u32"][random.index(4)],
    };
    let kind = random.below(3);
    let row = random_form(random, wide, 1, kind);
    let other = random_form(random, wide, 3, kind);
    let (p, q) = (1 + random.below(4), 1 + random.below(3));
    let value = match (random.below(5), kind) {
        (0, _) => other,
        (1, 0) => format!("row(y, x) * {p} - row(y + 1, x) + {q} * row(y + 2, x)"),
        (2, 0) => format!("({other}) ^ (row(y, x) + {p} * row(y + 1, x) + {q})"),
        (3, 0) => format!("{p} * row(y, x) + {q} * row(y + 1, x) - ({other})"),
        (2, _) => format!("({other}) - max(row(y, x), row(y + 2, x))"),
        (_, 0) => format!("max(row(y, x) + {q} * row(y + 2, x), {other})"),
        (_, 1) => format!("max(max(row(y, x), row(y + 1, x)), {other})"),
        _ => "min(row(y + 2, x), min(row(y, x), row(y + 1, x)))".to_owned(),
    };
    let (jam, lanes) = (2 + random.below(3), [4, 8][random.index(2)]);
    format!(
        "kernel k(h: size, w: size, a: in {ty}[h + 2, w + 2], o: out {wide}[h, w]) {{\n  fn row(y: index, x: index) -> {wide} = {row};\n  for y in 0..h {{\n    for x in 0..w {{\n      o[y, x] = {value};\n    }}\n  }}\n}} schedule {{\n  jam y by {jam};\n  vectorize x by {lanes};\n}}\n"
    )
}

#[test]
fn what_rows_have_in_common_is_formed_once_and_right() {
    let mut random = Random::new(20_261_129);
    let mut found = 0;
    for n in 0..80 {
        let text = random_stencil(&mut random);
        let (kernels, diagnostics) = read(&Source::new("k.kernel", &*text));
        assert!(diagnostics.is_empty(), "{text}{}", render(&diagnostics));
        let scheduled = schedule::apply(&kernels[0]).expect("rows do not depend on each other");
        let (_, common) = lower_both(&scheduled).expect("vectors of integers");
        let Some(common) = common else { continue };
        found += 1;
        check_lowered(&format!("{n}: {text}"), &kernels[0], &common, 2);
    }
    assert!(found >= 25, "{found} of 80 had something in common");
}

/// The types of the registers that rows share, of a stencil of two statements.
fn shared(text: &str) -> Vec<String> {
    let (kernels, diagnostics) = read(&Source::new("k.kernel", text));
    assert!(diagnostics.is_empty(), "{}", render(&diagnostics));
    let scheduled = schedule::apply(&kernels[0]).expect("rows do not depend on each other");
    let (_, common) = lower_both(&scheduled).expect("vectors of integers");
    let registers = common.map(|lowered| lowered.kernel.registers);
    let registers = registers.unwrap_or_default();
    registers.iter().map(|r| r.ty.to_string()).collect()
}

#[test]
fn sums_along_rows_are_kept_in_the_elements_that_hold_them() {
    let of = |value: &str| {
        format!(
            "kernel k(h: size, w: size, a: in u8[h + 2, w + 2], o: out i32[h, w]) {{\n  fn t(y: index, x: index) -> i32 = i32(a[y, x]);\n  for y in 0..h {{\n    for x in 0..w {{ o[y, x] = {value}; }}\n  }}\n}} schedule {{ jam y by 3; vectorize x by 8; }}\n"
        )
    };
    let row = |y: u32| format!("(t(y + {y}, x) + 2 * t(y + {y}, x + 1) + t(y + {y}, x + 2))");
    let [top, mid, low] = [0, 1, 2].map(row);
    let sums = shared(&of(&format!("{top} + 5 * {mid} + {low}")));
    // The rows that two and three of three statements take, for vectors and for what is left over of
    // rows: the loop of these has one statement, which shares with none.
    assert_eq!(sums, ["i16x8", "i16x8", "i16x8"], "255 + 510 + 255");
    // Products that do not wrap in 16 bits are parts with factors in 32.
    let product = |y: u32, by: u32| {
        let tap =
            |x: u32, n: u32| format!("i32(widening_mul(a[y + {y}, x + {x}], u8({})))", n * by);
        format!("({} + {} + {})", tap(0, 1), tap(1, 2), tap(2, 1))
    };
    let [top, mid, low] = [(0, 1), (1, 20), (2, 1)].map(|(y, by)| product(y, by));
    let products = shared(&of(&format!("{top} + {mid} + {low}")));
    assert_eq!(products, ["i16x8", "i16x8", "i16x8"], "255 + 510 + 255");
    let [top, mid, low] = [0, 1, 2].map(row);
    let extremes = shared(&of(&format!("max(max({top}, {mid}), {low})")));
    assert!(extremes.iter().any(|ty| ty == "i32x8"), "{extremes:?}");
    // Products of two elements have nothing in common.
    let products = shared(&of("t(y, x) * t(y + 1, x + 2) + t(y, x + 1) * t(y + 2, x)"));
    assert!(products.is_empty(), "{products:?}");
}

#[test]
fn what_a_statement_changes_is_not_shared() {
    let text = "kernel k(n: size, a: inout i32[2, n], b: in i32[n]) {\n  for x in 0..n {\n    a[0, x] = a[0, x] + a[1, x] + b[x];\n    a[1, x] = a[0, x] + a[1, x] + b[x];\n  }\n} schedule { vectorize x by 8; }\n";
    assert!(shared(text).is_empty());
    check_text("k.kernel", text, 4);
}
