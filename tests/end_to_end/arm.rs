//! A second vector instruction set: what is compiled for Arm runs as the evaluator says, under an
//! emulator where this processor is no Arm.

use test_support::need;
use toolchain::find;

/// Kernels of the examples, all of whose vectors Arm has instructions for.
const KERNELS: [&str; 6] = [
    "absolute_difference",
    "average_widened",
    "deinterleave",
    "dot_i16",
    "dot_u8i8",
    "matmul",
];

/// Compiles and runs a kernel; the report.
fn run(kernel: &str, target: &str) -> String {
    let file = format!("examples/{kernel}.kernel");
    let arguments = [
        "compile", "--isa", "arm", &file, "--target", target, "--deny", "scalar", "--run",
    ];
    let output = super::isaforge(&arguments, &super::root());
    let shown = super::shown(&output);
    assert!(output.status.code() == Some(0), "{shown}");
    assert!(shown.contains("run: agrees"), "{shown}");
    shown
}

#[test]
fn kernels_run_on_an_emulated_arm_as_the_evaluator_says() {
    if cfg!(not(target_arch = "aarch64")) {
        need!(find::on_path("qemu-aarch64"));
        need!(find::on_path("aarch64-linux-gnu-gcc"));
    }
    for kernel in KERNELS {
        run(kernel, "neoverse-v2");
    }
    // Products of four pairs are one instruction where the processor has it.
    let with = run("dot_u8i8", "neoverse-v2");
    let without = run("dot_u8i8", "armv8-a");
    assert!(with.contains("vusdotq_s32"), "{with}");
    assert!(!without.contains("vusdot"), "{without}");
}

/// Vectors of every length, also such as fill no register and such as end within one.
#[test]
fn parts_of_vectors_are_stored_and_nothing_past_them() {
    if cfg!(not(target_arch = "aarch64")) {
        need!(find::on_path("qemu-aarch64"));
        need!(find::on_path("aarch64-linux-gnu-gcc"));
    }
    let (mut parameters, mut body) = (String::new(), String::new());
    for (elem, lanes) in [
        ("u8", 3),
        ("u8", 15),
        ("i16", 5),
        ("i16", 12),
        ("f32", 3),
        ("u64", 3),
    ] {
        let k = format!("{elem}_{lanes}");
        parameters += &format!(", a_{k}: in {elem}[n, {lanes}], o_{k}: out {elem}[n, {lanes}]");
        body += &format!(
            "  for i_{k} in 0..n {{ o_{k}[i_{k}, 0..+{lanes}] = a_{k}[i_{k}, 0..+{lanes}] + \
             a_{k}[i_{k}, 0..+{lanes}]; }}\n"
        );
    }
    for (tail, elem) in [("mask", "u8"), ("shift", "i32"), ("round", "u16")] {
        let of = if tail == "round" { "m" } else { "n" };
        parameters += &format!(", b_{tail}: in {elem}[{of}], p_{tail}: out {elem}[{of}]");
        body += &format!(
            "  for x_{tail} in 0..{of} {{ p_{tail}[x_{tail}] = b_{tail}[x_{tail}] + 3; }}\n"
        );
    }
    let text = format!(
        "kernel parts(n: size, m: size{parameters}) requires n >= 16, m % 16 == 0 {{\n{body}}}\n\
         schedule {{ vectorize x_mask by 16 tail mask; vectorize x_shift by 16 tail shift; \
         vectorize x_round by 16; }}\n"
    );
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("parts.kernel"), &text).expect("a kernel");
    let arguments = [
        "compile",
        "--isa",
        "arm",
        "parts.kernel",
        "--target",
        "armv8-a",
        "--run",
    ];
    let output = super::isaforge(&arguments, folder.path());
    let shown = super::shown(&output);
    assert!(output.status.code() == Some(0), "{shown}\n{text}");
    assert!(shown.contains("run: agrees"), "{shown}\n{text}");
}
