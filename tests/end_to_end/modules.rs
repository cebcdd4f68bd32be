//! `--emit llvm`: what is compiled to LLVM IR runs as the evaluator says, for x86, for two sets of
//! other processors under their emulators, and for a machine that LLVM does not know.

use super::{isaforge, root, shown};
use test_support::{need, skip_part};
use toolchain::find;

/// Loops of several types, tails, strides, choices and scalars.
const KERNELS: &str = "\
kernel wide(n: size, a: in u8[n], b: in u8[n], o: out u16[n]) {
  for x in 0..n { o[x] = u16(a[x]) * u16(b[x]) + 7; }
} schedule { vectorize x by 16 tail mask; }
kernel three(n: size, a: in i32[n, 3], s: i32, o: out i32[n, 3]) {
  for i in 0..n { o[i, 0..+3] = a[i, 0..+3] * s; }
}
kernel chosen(n: size, a: in f32[n], b: in f32[n], s: f32, o: out f32[n]) {
  for x in 0..n { o[x] = select(a[x] < b[x], a[x] * s, b[x] - s); }
} schedule { vectorize x by 8 tail shift; }
kernel pairs(n: size, a: in i16[n, 2], o: out i16[n]) {
  for x in 0..n { o[x] = max(a[x, 0], a[x, 1]); }
} schedule { vectorize x by 16; }
kernel clamped(n: size, a: in u8[n], o: out u8[n]) {
  for x in 0..n { o[x] = u8_sat((i16(a[x]) - 100) * 2); }
} schedule { vectorize x by 32 tail mask; }
";

/// Registers of 128 bytes.
const LONG: &str = "\
kernel difference(n: size, a: in u8[n], b: in u8[n], y: out u8[n]) requires n % 128 == 0 {
  for i in 0..n { y[i] = max(a[i], b[i]) - min(a[i], b[i]); }
} schedule { vectorize i by 128; }
";

/// Compiles to LLVM IR and runs; the module, in which all kernels agreed.
#[track_caller]
fn run(text: &str, more: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let (source, module) = (folder.path().join("k.kernel"), folder.path().join("k.ll"));
    std::fs::write(&source, text).expect("a kernel");
    let (from, to) = (source.display().to_string(), module.display().to_string());
    let arguments = ["compile", &from, "--emit", "llvm", "--run", "-o", &to];
    let output = isaforge(&[&arguments[..], more].concat(), &root());
    let log = shown(&output);
    assert_eq!(output.status.code(), Some(0), "{log}");
    let kernels = text.matches("kernel ").count();
    assert_eq!(log.matches("run: agrees").count(), kernels, "{log}");
    std::fs::read_to_string(module).expect("it was written")
}

#[test]
fn modules_agree_with_the_evaluator() {
    need!(find::llvm("opt"));
    need!(find::llvm("llc"));
    match find::processor(&["avx2"]) {
        Ok(()) => {
            let module = run(KERNELS, &["--target", "x86-64-v3"]);
            assert!(module.contains("call <8 x i32> @llvm.x86.") || module.contains("<16 x i16>"));
            assert!(module.contains("+avx2"), "{module}");
        }
        Err(reason) => skip_part!("{reason}"),
    }
}

#[test]
fn modules_run_on_emulated_processors() {
    need!(find::llvm("opt"));
    let arm = ["qemu-aarch64", "aarch64-linux-gnu-gcc"];
    match arm
        .iter()
        .try_for_each(|tool| find::on_path(tool).map(drop))
    {
        Ok(()) => {
            let set = ["--isa", "arm", "--target"];
            // Two of them: a search for another processor begins anew.
            let two = &KERNELS[..KERNELS.find("kernel chosen").unwrap_or(KERNELS.len())];
            let module = run(two, &[&set[..], &["neoverse-v2"]].concat());
            assert!(module.contains("@llvm.aarch64.neon."), "{module}");
        }
        Err(reason) => skip_part!("{reason}"),
    }
    let hexagon = ["qemu-hexagon", "clang-19", "ld.lld-19"];
    match hexagon
        .iter()
        .try_for_each(|tool| find::on_path(tool).map(drop))
    {
        Ok(()) => {
            let module = run(LONG, &["--isa", "hvx", "--target", "hvx-v66"]);
            assert!(module.contains("@llvm.hexagon.V6."), "{module}");
        }
        Err(reason) => skip_part!("{reason}"),
    }
}

/// LLVM has no name for its instructions: they are their meanings, in vectors.
#[test]
fn modules_of_a_machine_that_llvm_does_not_know() {
    need!(find::llvm("opt"));
    let folder = tempfile::tempdir().expect("a folder");
    let made = isaforge(&["new-isa", "mine", "--width", "128"], folder.path());
    assert_eq!(made.status.code(), Some(0), "{}", shown(&made));
    let specs = folder.path().display().to_string();
    let set = ["--isa", "mine", "--isa-specs", specs.as_str()];
    let average = std::fs::read_to_string(root().join("examples/average.kernel"));
    let module = run(&average.expect("an example"), &set);
    assert!(module.contains("has no name in LLVM here"), "{module}");
    assert!(module.contains(" x i"), "{module}");
}
