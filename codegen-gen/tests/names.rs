//! Kernels, parameters and loops of any name give C that compiles without a word.

use codegen_gen::c;
use semantics::span::Source;
use std::path::Path;
use test_support::need;
use toolchain::find;

/// The C of one kernel and of the program around it.
fn code(text: &str) -> Option<(String, String)> {
    let (kernels, _) = kernel::read(&Source::new("k.kernel", text));
    let lowered = lowering::lower(&schedule::apply(kernels.first()?).ok()?).ok()?;
    let around = c::harness::harness(&kernels[0]);
    Some((
        c::emit(&c::Unit::plain(&lowered), &[], None).to_string(),
        around,
    ))
}

/// A name in each of the places that a kernel has for names.
fn places(name: &str) -> [String; 2] {
    let kernel = |kernel: &str, param: &str, var: &str, value: &str| {
        format!(
            "kernel {kernel}(n: size, {param}: in i32[n], out_0: out i32[n]) {{\n  \
             for {var} in 0..n {{ let {value}: i32 = {param}[{var}] * 3; out_0[{var}] = {value} + {value}; }}\n}}\n"
        )
    };
    [kernel(name, name, "x", "t"), kernel("q", "a", name, "t")]
}

#[test]
fn any_name_gives_c_that_compiles() {
    need!(find::on_path("gcc"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("names");
    std::fs::create_dir_all(&folder).expect("there is room");
    let taken = include_str!("../src/c/names/taken.txt").lines();
    let linked = include_str!("../src/c/names/linked.txt").lines();
    let named = [
        "_",
        "__",
        "_1",
        "op_",
        "op_add_i32",
        "index",
        "div",
        "rand",
        "select",
        "INT8_MAX",
        "NULL",
        "get_array",
        "main",
        "argv",
        "k",
        "l",
        "linux",
        "errno",
        "y1",
        "uint8_t",
        "memcpy",
        "exp",
    ];
    // Words of the kernel language give no kernel and are passed over.
    let some = taken.step_by(481).chain(linked.step_by(901)).chain(named);
    let mut files = Vec::new();
    for (n, name) in some.enumerate() {
        for (m, text) in places(name).iter().enumerate() {
            let Some((kernel, around)) = code(text) else {
                continue;
            };
            // The header of intrinsics takes long to read, and has no name without `_`.
            let kernel = match n % 8 {
                0 => kernel,
                _ => kernel.replace("#include <immintrin.h>", ""),
            };
            for (part, code) in [("kernel", kernel), ("main", around)] {
                let file = format!("{part}_{n}_{m}.c");
                std::fs::write(folder.join(&file), code).expect("there is room");
                files.push(file);
            }
        }
    }
    assert!(files.len() > 60, "{}", files.len());
    let flags = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-function"];
    let flags = flags.into_iter().chain(["-std=gnu11", "-fsyntax-only"]);
    let all = flags.map(str::to_owned).chain(files);
    toolchain::c::compile("gcc", all, &folder).unwrap_or_else(|messages| panic!("{messages}"));
}

#[test]
fn kernels_that_c_has_one_name_for_are_told() {
    let kernel = |name: &str| format!("kernel {name}(o: out u8[4]) {{ o[0] = 1; }}\n");
    let clash = |names: &[&str]| {
        let text: String = names.iter().map(|name| kernel(name)).collect();
        let (kernels, wrong) = kernel::read(&Source::new("k.kernel", text));
        assert!(wrong.is_empty() && kernels.len() == names.len());
        c::clash(&kernels).map(|d| (d.message, d.place.map(|(_, span)| span.start)))
    };
    for (names, function, place) in [
        (["index", "index_1"], "index_1", 40),
        (["_x", "x_1"], "x_1", 38),
        (["_x", "__x"], "x_1", 38),
        (["restrict_1", "restrict"], "restrict_1", 44),
    ] {
        let message = format!(
            "`{}` and `{}` are both `{function}` in C",
            names[0], names[1]
        );
        let told = clash(&names).expect("they clash");
        assert_eq!(told.0, message);
        assert!(told.1.is_some_and(|at| at > place), "{told:?}");
    }
    assert_eq!(clash(&["index", "div", "index_2", "x", "x_1"]), None);
}
