//! Faults planted in the C that is written, between its writer and the compiler: `--run` has to
//! find each. `cargo xtask mutants` runs all of them, the tests some.

use crate::root;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use test_support::need;
use toolchain::find;

/// Loads, stores, tables, sums that are kept, subscripts with strides, and loops.
const KERNEL: &str = "\
kernel sums(n: size, a: in i16[n], b: in i16[n], w: in i32[2*n], r: out i32[8], d: out i32[n])
    requires n % 16 == 0 {
  var sum: i32x8 = 0;
  for x in 0..n step 16 {
    sum += reduce_add(i32(a[x..+16]) * i32(b[x..+16]), 2);
    d[x..+16] = w[2*x+1..+16 by 2] - i32(a[x..+16]);
  }
  r[0..+8] = sum;
}
";

/// Every so many faults are planted; all, when it is 1.
const EVERY: &str = "ISAFORGE_FAULTS_EVERY";
/// Faults between those of the tests.
const SAMPLE: usize = 9;

/// What the writer does wrong, and the edit of its text by `sed -E`.
const FAULTS: [(&str, &str); 27] = [
    ("a load begins early", r"/loadu/s/ \+ 16\)/ + 12)/"),
    ("a load begins late", r"/loadu/s/ \+ 32\)/ + 36)/"),
    (
        "a load of another array",
        r"0,/loadu(.*)&b\[x\]/s//loadu\1\&a[x]/",
    ),
    ("a store begins early", r"/storeu/s/ \+ (16|32)\)/ + 8)/"),
    (
        "a store of another value",
        r"0,/(storeu.*&d\[x\], )t_[0-9]+/s//\1t_1/",
    ),
    ("a store is lost", r"/storeu.*&r\[0\]/d"),
    (
        "a store in the middle is lost",
        r"0,/storeu.*d\[x\]/{/storeu.*d\[x\]/d}",
    ),
    ("what is kept is not written back", r"/^ +sum = t_[0-9]+;/d"),
    ("what is kept is not read", r"s/v_sum = sum/v_sum = t/"),
    (
        "another first value",
        r"s/_mm256_setzero_si256\(\)/_mm256_set1_epi32(1)/",
    ),
    (
        "operands exchanged",
        r"0,/(_sub_epi32\()(t_[0-9]+), (t_[0-9]+)/s//\1\3, \2/",
    ),
    (
        "an operand twice",
        r"0,/(_madd_epi16\()(v_[a-z]+), v_[a-z]+/s//\1\2, \2/",
    ),
    ("an immediate is one less", r"s/, 221\)/, 220)/"),
    ("an immediate is cut", r"0,/, 221\)/s//, 93)/"),
    (
        "halves exchanged",
        r"0,/(set_m128\()(.*), ([^,]*)\);/s//\1\3, \2);/",
    ),
    ("an entry of a table", r"s/ 1, 3, 5, 7,/ 1, 3, 5, 6,/"),
    (
        "elements of a table",
        r"s/const uint32_t (table)/const uint16_t \1/",
    ),
    (
        "a table for a value",
        r"s/(permutevar8x32_epi32\()([a-z0-9_]+), ([a-z0-9_]+)/\1\3, \2/",
    ),
    ("a step too long", r"s/x \+= 16/x += 32/"),
    ("an end too early", r"s/x < n;/x < n - 16;/"),
    ("an end too late", r"s/x < n;/x < n + 16;/"),
    ("a start too late", r"s/int64_t x = 0/int64_t x = 16/"),
    ("a subscript without its factor", r"s/x \* 2/x/g"),
    (
        "another instruction",
        r"s/_mm256_add_epi32/_mm256_sub_epi32/",
    ),
    ("another sign", r"0,/cvtepi16_epi32/s//cvtepu16_epi32/"),
    ("another width", r"s/_madd_epi16/_mullo_epi16/"),
    ("another name", r"s/void sums\(/void total(/"),
];

/// A compiler of C that edits what it is given, and says when that changed something.
fn compiler(folder: &Path) -> PathBuf {
    let path = folder.join("cc");
    let script = "#!/bin/sh
if [ -f kernel.c ]; then
    sed -E \"$FAULT\" kernel.c > kernel.new || exit 9
    cmp -s kernel.c kernel.new || touch \"$FAULT_SEEN\"
    mv kernel.new kernel.c
fi
exec gcc \"$@\"
";
    fs::write(&path, script).expect("the test's folder can be written");
    let runs = fs::Permissions::from_mode(0o755);
    fs::set_permissions(&path, runs).expect("the file is ours");
    path
}

/// Whether a fault changed the text, and whether the run agrees all the same.
fn tried(folder: &Path, fault: &str) -> (bool, bool) {
    let seen = folder.join("seen");
    let _ = fs::remove_file(&seen);
    let kernel = folder.join("sums.kernel");
    fs::write(&kernel, KERNEL).expect("the test's folder can be written");
    let out = folder.join("sums.c");
    let output = Command::new(env!("CARGO_BIN_EXE_isaforge"))
        .args(["compile", "--target", "x86-64-v3", "--run", "-o"])
        .args([&out, &kernel])
        .current_dir(root())
        .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .env("CC", compiler(folder))
        .env("FAULT", fault)
        .env("FAULT_SEEN", &seen)
        .output()
        .expect("the binary starts");
    (seen.exists(), output.status.success())
}

#[test]
fn faults_in_c_are_found_by_runs() {
    need!(find::processor(&["avx2"]));
    let every = std::env::var(EVERY).ok().and_then(|text| text.parse().ok());
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (planted, agrees) = tried(folder.path(), "");
    assert!(!planted && agrees, "the kernel is right without a fault");
    let (mut found, mut missed, mut nothing) = (0, Vec::new(), Vec::new());
    for (name, fault) in FAULTS.iter().step_by(every.unwrap_or(SAMPLE)) {
        match tried(folder.path(), fault) {
            (false, _) => nothing.push(name),
            (true, true) => missed.push(name),
            (true, false) => found += 1,
        }
    }
    println!("{found:>5}  faults of the writer found by runs");
    println!("{:>5}  missed: {missed:?}", missed.len());
    println!("{:>5}  with nothing to change: {nothing:?}", nothing.len());
    assert!(missed.is_empty(), "{missed:?}");
    assert!(found > 3 * nothing.len(), "{nothing:?}");
}
