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
        "Q6_Vw_vrmpy_VubVb",
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

/// The code for a machine of version 68, once all of it is vectors and so many kernels ran as the
/// evaluator says.
fn compiled_and_run(folder: &std::path::Path, from: &[&str], kernels: usize) -> String {
    run(folder, from, kernels, &["--deny", "scalar"])
}

/// The code for a machine of version 68, once so many kernels ran as the evaluator says.
fn run(folder: &std::path::Path, from: &[&str], kernels: usize, more: &[&str]) -> String {
    let target = ["compile", "--isa", "hvx", "--target", "hvx-v68"];
    let output_file = ["-o", "out.c", "--run"];
    let output = super::isaforge(&[&target[..], from, &output_file, more].concat(), folder);
    let shown = super::shown(&output);
    assert!(output.status.code() == Some(0), "{shown}");
    assert_eq!(shown.matches("run: agrees").count(), kernels, "{shown}");
    std::fs::read_to_string(folder.join("out.c")).expect("the code")
}

/// Elements wider than those that the machine adds, shifts in both directions, and every other element.
const WIDE: &str = "\
kernel lowest(n: size, a: in u64[n], y: out u64[n]) requires n % 32 == 0 {
  for i in 0..n { y[i] = a[i] & (a[i] - 1); }
} schedule { vectorize i by 32; }
kernel down(n: size, a: in i64[n], y: out i64[n]) requires n % 32 == 0 {
  for i in 0..n { y[i] = a[i] >> 5; }
} schedule { vectorize i by 32; }
kernel clamped(n: size, a: in i64[n], y: out i32[n]) requires n % 32 == 0 {
  for i in 0..n { y[i] = i32_sat(a[i]); }
} schedule { vectorize i by 32; }
kernel up(n: size, a: in u32[n], b: in u32[n], y: out u32[n]) requires n % 32 == 0 {
  for i in 0..n { y[i] = (a[i] << b[i]) ^ (a[i] >> b[i]); }
} schedule { vectorize i by 32; }
kernel every_other(n: size, a: in u32[2 * n], y: out u32[n]) requires n % 32 == 0 {
  for i in 0..n { y[i] = max(a[2 * i], a[2 * i + 1]); }
} schedule { vectorize i by 32; }
kernel product(n: size, a: in u32[n], b: in u32[n], y: out u64[n]) requires n % 32 == 0 {
  for i in 0..n { y[i] = u64(a[i]) * u64(b[i]); }
} schedule { vectorize i by 32; }
kernel half_a_register(n: size, a: in i64[n], b: in i64[n], y: out i64[n]) requires n % 16 == 0 {
  for i in 0..n { y[i] = min(a[i], b[i]); }
} schedule { vectorize i by 16; }
";

#[test]
fn elements_wider_than_the_machine_has_are_computed_in_words() {
    need!(judge());
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("wide.kernel"), WIDE).expect("a kernel");
    let code = compiled_and_run(folder.path(), &["wide.kernel"], 7);
    // Both halves of what one instruction deals out.
    assert_eq!(code.matches("hvx_deinterleave_w(").count(), 6, "{code}");
}

#[test]
fn vectors_narrower_than_a_register_are_computed_in_one() {
    need!(judge());
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("narrow.kernel"), NARROW).expect("a kernel");
    let code = compiled_and_run(folder.path(), &["narrow.kernel"], 4);
    for name in [
        "hvx_load_32",
        "hvx_store_16",
        "hvx_load_64",
        "Q6_Vw_vmin_VwVw",
    ] {
        assert!(code.contains(name), "{name} in\n{code}");
    }
}

/// Vectors of every number of bytes: numbers of elements that no register and no power of two has,
/// with what is left over in arrays that are narrower than a register.
#[test]
fn vectors_of_any_length_are_loaded_and_stored_whole() {
    need!(judge());
    let folder = tempfile::tempdir().expect("a folder");
    let kernel = |lanes: u32| {
        format!(
            "kernel less{lanes}(n: size, a: in u8[n], b: in u8[n], y: out u8[n]) {{
  for i in 0..n {{ y[i] = sat_sub(max(a[i], b[i]), 9); }}
}} schedule {{ vectorize i by {lanes} tail mask; }}\n"
        )
    };
    let lanes = [3, 5, 7, 8, 13, 24, 47, 64, 90, 127];
    let text: String = lanes.into_iter().map(kernel).collect();
    std::fs::write(folder.path().join("any.kernel"), text).expect("a kernel");
    let code = compiled_and_run(folder.path(), &["any.kernel"], lanes.len());
    assert!(code.contains("hvx_store_127"), "{code}");
}

/// Elements by strides, backwards and taken in turns: networks whose control is a constant.
const MOVED: &str = "\
kernel backwards(n: size, a: in u8[n], y: out u8[n]) requires n % 128 == 0 {
  for i in 0..n { y[i] = a[n - 1 - i]; }
} schedule { vectorize i by 128; }
kernel third(n: size, a: in u8[n, 3], y: out u8[n]) requires n % 128 == 0 {
  for i in 0..n { y[i] = a[i, 2]; }
} schedule { vectorize i by 128; }
kernel fifth(n: size, a: in i16[n, 5], y: out i16[n]) requires n % 64 == 0 {
  for i in 0..n { y[i] = a[i, 1]; }
} schedule { vectorize i by 64; }
kernel in_turns(n: size, a: in u8[n], b: in u8[n], c: in u8[n], y: out u8[n, 3]) requires n % 128 == 0 {
  for i in 0..n { y[i, 0] = a[i]; y[i, 1] = b[i]; y[i, 2] = c[i]; }
} schedule { vectorize i by 128; }
";

#[test]
fn strided_elements_are_moved_by_networks() {
    need!(judge());
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("moved.kernel"), MOVED).expect("a kernel");
    let code = compiled_and_run(folder.path(), &["moved.kernel"], 4);
    // One for a register that is turned round, one for each that something is taken from.
    let networks = ["Q6_V_vdelta_VV(", "Q6_V_vrdelta_VV("].map(|name| code.matches(name).count());
    assert!(networks.iter().sum::<usize>() >= 1 + 3 + 5 + 9, "{code}");
}

/// 64 bits are loaded into the low end of a register, but an operation may want them as a number.
const TABLE: &str = "isaforge-autoir 1
(program pick.0
  (input v0 t 0 64)
  (constant v1 1024:INDICES)
  (apply v2 permute (16 64 2 64 14) v0 v1)
  (return v2))
(end 1)
--- kernels pick.kernel
kernel pick(t: in i16[4], o: out i16[64]) {
  o[0..+64] = lookup(t[0..+4], u16x64(1));
}
";

#[test]
fn a_number_of_64_bits_is_no_register() {
    need!(judge());
    let folder = tempfile::tempdir().expect("a folder");
    let program = TABLE.replace("INDICES", &"4000".repeat(64));
    std::fs::write(folder.path().join("pick.autoir"), program).expect("a program");
    let code = compiled_and_run(folder.path(), &["--from-autoir", "pick.autoir"], 1);
    assert!(code.contains("Q6_Vh_vlut4_VuhPh"), "{code}");
}

/// Operations that need more than 64 bits on the way, where no C compiler has a wider type; most are
/// computed element by element.
#[test]
fn numbers_of_64_bits_need_no_wider_type() {
    need!(judge());
    let folder = tempfile::tempdir().expect("a folder");
    let results = [
        ("u64", "sat_sub(u64_sat(a[i]), w[i])"),
        ("i64", "sat_add(a[i], i64_sat(w[i]))"),
        ("i64", "sat_sub(a[i] ^ b[i], -9223372036854775807)"),
        ("i64", "avg(a[i], b[i]) % (b[i] / 3)"),
        ("u64", "absd(a[i], b[i]) + avg_floor(w[i], u64(b[i]))"),
        ("i64", "rounding_shr(a[i], i64(w[i] % 70))"),
        ("u64", "abs(rounding_shr(b[i], 11))"),
        ("f16", "f16(a[i]) + f16(w[i])"),
    ];
    let each = |(n, (elem, value)): (usize, &(&str, &str))| {
        format!(
            "kernel word{n}(n: size, a: in i64[n], b: in i64[n], w: in u64[n], y: out {elem}[n]) {{
  for i in 0..n {{ y[i] = {value}; }}
}} schedule {{ vectorize i by 6 tail mask; }}\n"
        )
    };
    let text: String = results.iter().enumerate().map(each).collect();
    std::fs::write(folder.path().join("word.kernel"), text).expect("a kernel");
    run(folder.path(), &["word.kernel"], results.len(), &[]);
}
