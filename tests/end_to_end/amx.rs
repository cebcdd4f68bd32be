//! A machine whose programs are C with intrinsics: kernels are mapped, run in the simulator, and
//! compiled.

use super::{run, written};
use std::process::Command;
use test_support::skip_part;
use toolchain::find;

/// The kernels of a file at sizes, mapped to C and run; the C.
fn mapped(file: &str, sizes: [&str; 3]) -> String {
    let at = written("mapped.c", "");
    let mut arguments = vec!["map", file, "--isa", "amx", "--emit", "c", "--run", "5"];
    for size in sizes {
        arguments.extend(["--size", size]);
    }
    arguments.extend(["-o", &at]);
    let (out, err, code) = run(&arguments);
    assert_eq!(code, Some(0), "{file}: {err}");
    assert!(out.contains("run: agrees with the evaluator"), "{out}");
    assert!(!out.contains("DIFFERS"), "{out}");
    std::fs::read_to_string(at).expect("it was written")
}

#[test]
fn kernels_are_c_that_compilers_take() {
    let all = [
        mapped("examples/amx/product.kernel", ["m=32", "n=16", "k=64"]),
        mapped("examples/amx/product.kernel", ["m=19", "n=37", "k=41"]),
        mapped("examples/amx/conv.kernel", ["m=17", "n=18", "k=20"]),
    ];
    for text in &all {
        for part in [
            "_tile_loadconfig(",
            "_tile_loadd(",
            "_tile_dpb",
            "_tile_stored(",
            "_tile_release();",
        ] {
            assert!(text.contains(part), "{part}");
        }
    }
    for compiler in ["gcc-12", "clang-19"] {
        let Ok(path) = find::on_path(compiler) else {
            skip_part!("{compiler} is not installed");
            continue;
        };
        for text in &all {
            let (file, object) = (written("mapped.c", text), written("mapped.o", ""));
            let mut command = Command::new(&path);
            command.args(["-std=gnu11", "-O2", "-Wall", "-Werror"]);
            command.args(["-mamx-tile", "-mamx-int8", "-c", &file, "-o", &object]);
            let output = command.output().expect("the compiler runs");
            let messages = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{compiler}: {messages}");
        }
    }
}

#[test]
fn there_is_no_assembly_of_a_machine_whose_host_is_c() {
    let sizes = ["--size", "m=16", "--size", "n=16", "--size", "k=64"];
    let file = "examples/amx/product.kernel";
    let (_, err, code) =
        run(&[&["map", file, "--isa", "amx", "--emit", "asm"][..], &sizes].concat());
    assert_eq!(code, Some(1), "{err}");
    assert!(
        err.contains("programs of amx are C: `--emit c` writes them"),
        "{err}"
    );
}
