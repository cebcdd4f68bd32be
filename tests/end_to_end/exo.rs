//! Products scheduled by Exo with the libraries of a build: on this machine, and in the
//! simulators of machines with tiles; `cargo xtask tools` brings what they need.

use super::{isaforge, shown};
use semantics::random::Random;
use std::fs;
use std::path::Path;
use std::process::Command;
use test_support::need;
use toolchain::find::{self, riscv};

/// Runs a script with Exo's packages, and everything is as it says; or why it cannot run.
#[track_caller]
fn scheduled(script: &str, library: &Path, more: &[&str]) -> Result<(), String> {
    let packages = find::exo()?;
    let output = Command::new("python3")
        .arg(super::folder().join("exo").join(script))
        .arg(library)
        .args(more)
        .env("PYTHONPATH", packages)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .expect("Python starts");
    if output.status.code() == Some(77) {
        return Err(shown(&output));
    }
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    Ok(())
}

#[test]
fn exo_schedules_with_the_library_of_x86() {
    let library = super::back_ends::built().join("exo");
    need!(scheduled("check.py", &library, &["gcc"]));
}

/// Each definition for Arm does what its body says, and so does Exo's own of Neon but one, which
/// multiplies its result instead of its left operand.
#[test]
fn entries_for_arm_do_what_they_say() {
    let (cc, runner) = match cfg!(target_arch = "aarch64") {
        true => ("gcc", ""),
        false => {
            need!(find::on_path("aarch64-linux-gnu-gcc"));
            need!(find::on_path("qemu-aarch64"));
            ("aarch64-linux-gnu-gcc", "qemu-aarch64 -cpu max")
        }
    };
    let library = super::back_ends::others().join("exo");
    let flags = "-march=armv8.6-a+fp16 -static";
    let theirs = ["exo.platforms.neon", "neon_vmul2_4xf32"];
    let arguments = [&["arm", cc, flags, runner][..], &theirs].concat();
    need!(scheduled("entries.py", &library, &arguments));
}

#[track_caller]
fn finished(command: &mut Command) {
    let output = command.output().expect("it was there");
    assert!(output.status.success(), "{command:?}: {}", shown(&output));
}

/// Where constants of a program lie.
const CONSTANTS: u64 = 0x9000;

/// What a script writes, compiled to words of a machine that end behind the last one; beside
/// it its constants.
fn compiled(isa: &str, product: &str, flags: &[&str], at: &Path) {
    // Exo's code includes two headers of which it uses nothing.
    for header in ["stdio.h", "stdlib.h"] {
        fs::write(at.join(header), "").expect("there is room");
    }
    let linked = at.join("linked");
    finished(
        riscv("gcc")
            .expect("it was there")
            .args(flags)
            .args(["-Os", "-Wall", "-Werror", "-ffreestanding", "-nostdlib"])
            .args(["-fno-toplevel-reorder", "-ffunction-sections"])
            .arg("-msmall-data-limit=0")
            .arg("-Wl,--gc-sections,-Ttext=0")
            .arg(format!("-Wl,--section-start=.rodata={CONSTANTS:#x}"))
            .arg(format!("-DPRODUCT={product}"))
            .arg("-I")
            .arg(at)
            .arg(super::folder().join("exo").join(format!("{isa}.c")))
            .arg("-o")
            .arg(&linked),
    );
    for (section, name) in [
        (".text", format!("{product}.bin").as_str()),
        (".rodata", "constants"),
    ] {
        let only = ["-O", "binary", "-j", section];
        let mut objcopy = riscv("objcopy").expect("it is beside gcc");
        finished(objcopy.args(only).arg(&linked).arg(at.join(name)));
    }
}

/// Rows of numbers between -99 and 99.
fn rows(random: &mut Random, rows: usize, columns: usize) -> Vec<Vec<i32>> {
    let mut number = || (random.next_bits() % 199) as i32 - 99;
    let mut row = || (0..columns).map(|_| number()).collect();
    (0..rows).map(|_| row()).collect()
}

/// Numbers as the machine has them in memory.
fn image(rows: &[Vec<i32>], bytes: usize) -> Vec<u8> {
    let all = rows.iter().flatten();
    all.flat_map(|n| n.to_le_bytes()[..bytes].to_vec())
        .collect()
}

/// Runs words with images at addresses; the bytes of a result.
fn simulated(
    isa: &str,
    program: &str,
    images: &[(&str, u64, Vec<u8>)],
    result: (u64, usize),
    at: &Path,
) -> Vec<u8> {
    let mut arguments = vec![
        "sim".to_owned(),
        format!("{program}.bin"),
        "--isa".to_owned(),
        isa.to_owned(),
    ];
    for (name, address, bytes) in images {
        fs::write(at.join(name), bytes).expect("there is room");
        arguments.push("--load".to_owned());
        arguments.push(format!("{name}@{address:#x}"));
    }
    let constants = format!("constants@{CONSTANTS:#x}");
    if fs::metadata(at.join("constants")).is_ok_and(|file| file.len() > 0) {
        arguments.extend(["--load".to_owned(), constants]);
    }
    let (from, length) = result;
    arguments.push("--save".to_owned());
    arguments.push(format!("result@{from:#x}+{length}"));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let output = isaforge(&arguments, at);
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    fs::read(at.join("result")).expect("it was saved")
}

/// The library of a machine, and what Exo makes with it; or which tool is missing.
#[track_caller]
fn library(isa: &str, at: &Path) -> Result<(), String> {
    riscv("gcc")?;
    let output = isaforge(&["build", "--isa", isa, "--output", "built"], at);
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    let more = at.display().to_string();
    scheduled(&format!("{isa}.py"), &at.join("built/exo"), &[&more])
}

#[test]
fn products_with_the_library_of_rvm_run_in_the_simulator() {
    let place = tempfile::tempdir().expect("there is room");
    let at = place.path();
    need!(library("rvm", at));
    let mut random = Random::new(9);
    for (name, window, depth, size, [m, n, k]) in [
        ("words", "exo_win_2i32c", 4, 4, [2, 3, 2]),
        ("bytes", "exo_win_2i8c", 16, 1, [3, 1, 2]),
    ] {
        let (window, elements) = (format!("-DWINDOW={window}"), format!("-DDEPTH={depth}"));
        let flags = ["-march=rv32im", "-mabi=ilp32", &window, &elements];
        compiled("rvm", name, &flags, at);
        let a = rows(&mut random, 4 * m, depth * k);
        let b = rows(&mut random, 4 * n, depth * k);
        let mut c = rows(&mut random, 4 * m, 4 * n);
        let sizes = vec![[m, n, k].map(|size| size as i32).to_vec()];
        let images = [
            ("a", 0x1000, image(&a, size)),
            ("b", 0x2000, image(&b, size)),
            ("c", 0x3000, image(&c, 4)),
            ("sizes", 0x4000, image(&sizes, 4)),
        ];
        let found = simulated("rvm", name, &images, (0x3000, 64 * m * n), at);
        for (row, a) in c.iter_mut().zip(&a) {
            for (sum, b) in row.iter_mut().zip(&b) {
                *sum += a.iter().zip(b).map(|(x, y)| x * y).sum::<i32>();
            }
        }
        assert_eq!(found, image(&c, 4), "{name}");
    }
}

/// The sum of products of each row and each column.
fn product(a: &[Vec<i32>], b: &[Vec<i32>]) -> Vec<Vec<i32>> {
    let sum = |row: &[i32], j: usize| row.iter().zip(b).map(|(x, y)| x * y[j]).sum();
    let row = |row: &Vec<i32>| (0..b[0].len()).map(|j| sum(row, j)).collect();
    a.iter().map(row).collect()
}

#[test]
fn products_with_the_library_of_gemmini_run_in_the_simulator() {
    let place = tempfile::tempdir().expect("there is room");
    let at = place.path();
    need!(library("gemmini", at));
    let mut random = Random::new(9);
    for (name, window, before, size, [m, n, k]) in [
        ("sums", "exo_win_2i32", "", 4, [2, 3, 2]),
        ("scaled", "exo_win_2i8", "&sizes->scale,", 1, [1, 2, 3]),
    ] {
        let (window, before) = (format!("-DRESULT={window}"), format!("-DSCALE={before}"));
        let flags = ["-march=rv64im", "-mabi=lp64", &window, &before];
        compiled("gemmini", name, &flags, at);
        let a = rows(&mut random, 16 * m, 16 * k);
        let b = rows(&mut random, 16 * k, 16 * n);
        let c = rows(&mut random, 16 * m, 16 * n);
        let scale = 1.0_f32 / 1024.0;
        let sizes = vec![vec![
            m as i32,
            n as i32,
            k as i32,
            scale.to_bits().cast_signed(),
        ]];
        let images = [
            ("sizes", 0x8000, image(&sizes, 4)),
            ("a", 0x10000, image(&a, 1)),
            ("b", 0x20000, image(&b, 1)),
            ("c", 0x30000, image(&c, size)),
        ];
        let bytes = 256 * m * n * size;
        let found = simulated("gemmini", name, &images, (0x30000, bytes), at);
        let mut wanted = product(&a, &b);
        for (row, before) in wanted.iter_mut().zip(&c) {
            for (sum, before) in row.iter_mut().zip(before) {
                *sum = match name {
                    "sums" => *sum + before,
                    _ => ((*sum as f32 * scale).round_ties_even() as i32).clamp(0, 127),
                };
            }
        }
        assert!(wanted.iter().flatten().any(|n| *n != 0), "{name}");
        assert_eq!(found, image(&wanted, size), "{name}");
    }
}
