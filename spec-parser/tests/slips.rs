//! Slips in the descriptions of machines: each is told at its own place, and nothing that follows
//! from it.

use semantics::diagnostic::{Diagnostic, Severity, render};
use spec_parser::manifest::misnamed;
use spec_parser::matrix::load::load;
use std::fs;
use std::path::{Path, PathBuf};

/// A slip: set and file, what stands there and what is written instead, the message and the text
/// that it points at.
type Slip = [&'static str; 5];

const SLIPS: &[Slip] = &[
    [
        "rvm/manifest.yaml",
        "mld.w, mst.w]",
        "mld.w, mst.h]",
        "a unit works on `mst.h`, which is no instruction",
        "mst.h",
    ],
    [
        "rvm/manifest.yaml",
        "not: [m0]",
        "not: [m9]",
        "`m9` is no value of `ms`",
        "m9",
    ],
    [
        "rvm/manifest.yaml",
        "operand: ms\n",
        "operand: md\n",
        "`mst.w` has no operand `md`",
        "md",
    ],
    [
        "rvm/manifest.yaml",
        "t3 t4 t5 t6",
        "t3 t4 t5",
        "`aliases` has 31 names for 32 registers",
        "aliases",
    ],
    [
        "rvm/manifest.yaml",
        "t3 t4 t5 t6",
        "t3 t4 t5 t5",
        "two registers of `x` are called `t5`",
        "aliases",
    ],
    [
        "rvm/manifest.yaml",
        "cycles: ROWS, latency: 2",
        "cycles: 0, latency: 2",
        "the unit `array` takes no time for anything",
        "array",
    ],
    [
        "rvm/manifest.yaml",
        "holds: {ROWS",
        "holds: {ROW",
        "`ROW` is no parameter",
        "ROW",
    ],
    [
        "rvm/manifest.yaml",
        "  - host.yaml",
        "  - hosts.yaml",
        "there is no file `hosts.yaml`",
        "hosts.yaml",
    ],
    [
        "rvm/matrix.yaml",
        "    } }\n\n- instruction: mmasa.w",
        "    }\n\n- instruction: mmasa.w",
        "this `{` is not closed",
        "{",
    ],
    [
        "rvm/matrix.yaml",
        "+= ms1.s32[i][k]",
        "+= ms1.i32[i][k]",
        "there is no type `i32`",
        "ms1.i32[i][k]",
    ],
    [
        "rvm/matrix.yaml",
        "md.s32[i][j] += s32(ms1.s8",
        "md.s32[i][j] = s32(ms1.s8",
        "an element of `md` is given another value before this one is read",
        "md.s32[i][j]",
    ],
    [
        "rvm/matrix.yaml",
        "for i in 0..ROWS {",
        "for i in 1..ROWS {",
        "not all of `md` is written, and nothing says that the rest is kept",
        "md.s32[i][j]",
    ],
    [
        "amx/manifest.yaml",
        "value: ROWS, times: TILES",
        "value: ROWS, times: TILE",
        "unknown name `TILE`",
        "TILE",
    ],
    [
        "amx/manifest.yaml",
        "setup:\n  instruction: ldtilecfg",
        "setup:\n  instruction: ldtilecfgs",
        "`ldtilecfgs` of `setup` is no instruction",
        "ldtilecfgs",
    ],
    [
        "amx/manifest.yaml",
        "link: x62",
        "link: x64",
        "no register `x` is called `x64`",
        "x64",
    ],
    [
        "amx/product.yaml",
        "require sd.u16[0][0] > 0, \"the tile has no shape\"",
        "require sd.u16[0][0] > 0",
        "this `require` does not say what is wrong where it does not hold",
        "require sd.u16[0][0] > 0",
    ],
    [
        "amx/tile.yaml",
        "s7.u16[0][1] =",
        "s6.u16[0][1] =",
        "an element of `s6` is given another value before this one is read",
        "s6.u16[0][1]",
    ],
    [
        "gemmini/manifest.yaml",
        "load: mvin\n",
        "load: mvim\n",
        "`mvim`, which is to be `load`, is no instruction",
        "mvim",
    ],
    [
        "gemmini/move.yaml",
        "spad[row][c] = sat(elem,",
        "spad[row][c] = sat(ellem,",
        "there is no type `ellem`",
        "ellem",
    ],
    [
        "gemmini/compute.yaml",
        "set_preload(rs1, rs2)",
        "set_preloads(rs1, rs2)",
        "there is no procedure `set_preloads`",
        "perform set_preloads(rs1, rs2)",
    ],
    [
        "gemmini/config.yaml",
        "dataflow = weights",
        "dataflow == weights",
        "unexpected `=` in the pseudocode",
        "=",
    ],
    [
        "gemmini/views.yaml",
        "preload, compute.preloaded",
        "preload, compute.preload",
        "`compute.preload` is no instruction",
        "compute.preload",
    ],
    [
        "gemmini/blocks.yaml",
        "array: spad, rows: n",
        "array: spat, rows: n",
        "`spat` is no array of this machine, or has a type of its own",
        "spat",
    ],
];

/// A copy of a set that is shipped.
fn copied(isa: &str, folder: &Path) -> PathBuf {
    let ours = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../isa-specs")).join(isa);
    let theirs = folder.join(isa);
    fs::create_dir_all(&theirs).expect("there is room");
    for entry in fs::read_dir(ours).expect("it is there") {
        let path = entry.expect("it can be read").path();
        if path.is_file() {
            fs::copy(&path, theirs.join(path.file_name().expect("a file"))).expect("there is room");
        }
    }
    theirs
}

fn edited(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).expect("it is there");
    assert!(text.contains(from), "{}: {from}", path.display());
    fs::write(path, text.replacen(from, to, 1)).expect("there is room");
}

fn loaded(set: &Path) -> Vec<Diagnostic> {
    match load(&set.join("manifest.yaml")) {
        Ok((_, diagnostics)) | Err(diagnostics) => diagnostics,
    }
}

#[test]
fn a_slip_is_told_at_its_place_and_alone() {
    for [file, from, to, message, at] in SLIPS {
        let folder = tempfile::tempdir().expect("there is room");
        let (isa, name) = file.split_once('/').expect("a set and a file");
        let set = copied(isa, folder.path());
        edited(&set.join(name), from, to);
        let told = loaded(&set);
        let text = render(&told);
        let follow = told.iter().skip(1).any(|d| d.severity == Severity::Error);
        assert!(!told.is_empty() && !follow, "{file}: {to}\n{text}");
        let own = told[0].message.replace(&format!("{}/", set.display()), "");
        assert_eq!(&own, message, "{file}: {to}\n{text}");
        let (source, span) = told[0].place.as_ref().expect("it has a place");
        assert_eq!(source.slice(*span), *at, "{file}: {to}\n{text}");
        assert!(text.contains("= hint: "), "{text}");
    }
}

/// What is kept is said, and what is replaced is a constant: nothing to doubt.
#[test]
fn what_is_meant_is_not_doubted() {
    let folder = tempfile::tempdir().expect("there is room");
    let set = copied("rvm", folder.path());
    let all = "    for i in 0..ROWS { for j in 0..RLEN/32 {\n      md.s32[i][j] = 0\n    } }\n";
    let first = "    for j in 0..RLEN/32 { md.s32[0][j] = 1 }\n";
    for body in [format!("    md = md\n{first}"), format!("{all}{first}")] {
        edited(&set.join("matrix.yaml"), all, &body);
        let told = loaded(&set);
        assert!(told.is_empty(), "{}", render(&told));
        edited(&set.join("matrix.yaml"), &body, all);
    }
    edited(&set.join("matrix.yaml"), all, first);
    let told = loaded(&set);
    assert!(told.len() == 1 && told[0].severity == Severity::Warning);
}

#[test]
fn a_set_has_the_name_of_its_folder() {
    let folder = tempfile::tempdir().expect("there is room");
    let manifest = copied("rvm", folder.path()).join("manifest.yaml");
    assert_eq!(misnamed(&manifest), None);
    edited(&manifest, "isa: rvm", "isa: rwm");
    let told = misnamed(&manifest).expect("it is another name");
    assert_eq!(told.message, "this is `rwm`, and its folder is `rvm`");
}
