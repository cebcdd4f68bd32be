//! A vector instruction set of a processor without an operating system's C library: its
//! instructions, and what is compiled for it, run under an emulator.

use test_support::need;
use toolchain::find;

/// Whether instructions can be run, or why not.
fn judge() -> Result<(), String> {
    find::on_path("qemu-hexagon")?;
    find::on_path("clang-19")?;
    // The compiler looks for it beside itself, too, where it has no number.
    find::on_path("ld.lld-19").or_else(|_| find::on_path("ld.lld"))?;
    Ok(())
}

#[test]
fn instructions_are_as_an_emulator_has_them() {
    need!(judge());
    let arguments = ["check", "--isa", "hvx", "--filter", "Q6_V"];
    let output = super::isaforge(&arguments, &super::root());
    let shown = super::shown(&output);
    assert!(shown.contains("        0  disagreed"), "{shown}");
    let agreed = shown.lines().find_map(|l| l.trim().split_once("  agreed"));
    let agreed: usize = agreed.map_or(0, |(n, _)| n.parse().unwrap_or(0));
    assert!(agreed >= 200, "{shown}");
}

/// Loops over bytes, halfwords and words in registers of 128 bytes.
const KERNELS: &str = "\
kernel average(n: size, a: in u8[n], b: in u8[n], y: out u8[n]) requires n % 128 == 0 {
  for i in 0..n { y[i] = u8((u16(a[i]) + u16(b[i]) + 1) >> 1); }
} schedule { vectorize i by 128; }
kernel difference(n: size, a: in u8[n], b: in u8[n], y: out u8[n]) requires n % 128 == 0 {
  for i in 0..n { y[i] = max(a[i], b[i]) - min(a[i], b[i]); }
} schedule { vectorize i by 128; }
kernel clamped(n: size, a: in i16[n], b: in i16[n], y: out i16[n]) requires n % 64 == 0 {
  for i in 0..n { y[i] = i16_sat(i32(a[i]) + i32(b[i])); }
} schedule { vectorize i by 64; }
kernel dot(n: size, a: in u8[n], b: in i8[n], result: out i32[32]) requires n % 128 == 0 {
  var sum: i32x32 = 0;
  for x in 0..n step 128 { sum += reduce_add(i32(a[x..+128]) * i32(b[x..+128]), 4); }
  result[0..+32] = sum;
}
";

#[test]
fn kernels_run_on_an_emulated_hexagon_as_the_evaluator_says() {
    need!(judge());
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("hvx.kernel"), KERNELS).expect("a kernel");
    let arguments = [
        "compile",
        "--isa",
        "hvx",
        "hvx.kernel",
        "--target",
        "hvx-v68",
        "--deny",
        "scalar",
        "--run",
    ];
    let output = super::isaforge(&arguments, folder.path());
    let shown = super::shown(&output);
    assert!(output.status.code() == Some(0), "{shown}");
    assert_eq!(shown.matches("run: agrees").count(), 4, "{shown}");
    for name in [
        "Q6_Vub_vavg_VubVub_rnd",
        "Q6_Vub_vabsdiff_VubVub",
        "Q6_Vh_vadd_VhVh_sat",
        "Q6_Vw_vrmpyacc_VwVubVb",
    ] {
        assert!(shown.contains(name), "{shown}");
    }
}

/// Vectors narrower than a register, as schedules for other machines have them.
const NARROW: &str = "\
kernel average(n: size, a: in u8[n], b: in u8[n], y: out u8[n]) {
  for i in 0..n { y[i] = u8((u16(a[i]) + u16(b[i]) + 1) >> 1); }
} schedule { vectorize i by 32 tail shift; }
kernel difference(n: size, a: in u8[n], b: in u8[n], y: out u8[n]) {
  for i in 0..n { y[i] = max(a[i], b[i]) - min(a[i], b[i]); }
} schedule { vectorize i by 16 tail shift; }
kernel clamped(n: size, a: in i16[n], b: in i16[n], y: out i16[n]) {
  for i in 0..n { y[i] = i16_sat(i32(a[i]) + i32(b[i])); }
} schedule { vectorize i by 32 tail shift; }
kernel least(n: size, a: in i32[n], b: in i32[n], y: out i32[n]) {
  for i in 0..n { y[i] = min(a[i], b[i]); }
} schedule { vectorize i by 4 tail shift; }
";

#[test]
fn vectors_narrower_than_a_register_are_computed_in_one() {
    need!(judge());
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("narrow.kernel"), NARROW).expect("a kernel");
    let arguments = [
        "compile",
        "--isa",
        "hvx",
        "narrow.kernel",
        "-o",
        "narrow.c",
        "--run",
        "--deny",
    ];
    let target = ["scalar", "--target", "hvx-v68"];
    let output = super::isaforge(&[&arguments[..], &target].concat(), folder.path());
    let shown = super::shown(&output);
    assert!(output.status.code() == Some(0), "{shown}");
    assert_eq!(shown.matches("run: agrees").count(), 4, "{shown}");
    let code = std::fs::read_to_string(folder.path().join("narrow.c")).expect("the code");
    for name in [
        "hvx_load_32",
        "hvx_store_16",
        "hvx_load_64",
        "Q6_Vw_vmin_VwVw",
    ] {
        assert!(code.contains(name), "{name} in\n{code}");
    }
}
