//! Compiles the interpreter to WebAssembly, for the guide to compute with.
//!
//! In: the crate `interpreter` and what it uses. Out: `$OUT_DIR/interpreter.wasm`, which is empty, and a
//! warning says so, where Rust's target `wasm32-unknown-unknown` is not installed: guides that are made then have
//! no form to try instructions in, and nothing else is missing. All profiles share one build under
//! `interpreter/` in the target folder.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const TARGET: &str = "wasm32-unknown-unknown";

fn main() {
    let root = Path::new(&variable("CARGO_MANIFEST_DIR")).join("..");
    for path in [
        "foundation/interpreter",
        "foundation/semantics/src",
        "foundation/semantics/Cargo.toml",
    ] {
        println!("cargo::rerun-if-changed={}", root.join(path).display());
    }
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(variable("OUT_DIR"));
    let module = compile(&root, &out).unwrap_or_else(|why| {
        println!("cargo::warning=guides will have no form to try instructions in: {why}");
        Vec::new()
    });
    fs::write(out.join("interpreter.wasm"), module).expect("cargo's folder can be written");
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}

/// The module, or why there is none.
fn compile(root: &Path, out: &Path) -> Result<Vec<u8>, String> {
    let installed = PathBuf::from(sysroot()?).join("lib/rustlib");
    // Changes when a target is installed.
    let components = installed.join("components");
    if components.exists() {
        println!("cargo::rerun-if-changed={}", components.display());
    }
    if !installed.join(TARGET).join("lib").exists() {
        return Err(format!(
            "`rustup target add {TARGET}` brings what is missing"
        ));
    }
    let ours = shared(out).join("interpreter");
    let mut cargo = Command::new(variable("CARGO"));
    cargo.current_dir(root);
    // What is said of the build around this one is not said of this one.
    let names = env::vars_os().map(|(name, _)| name);
    for name in names.filter(|name| is_of_the_build(&name.to_string_lossy())) {
        cargo.env_remove(name);
    }
    let arguments =
        "rustc --quiet --frozen --package interpreter --lib --crate-type cdylib --release";
    cargo
        .args(arguments.split(' '))
        .args(["--target", TARGET, "--target-dir"])
        .arg(&ours)
        .args(["--config", "profile.release.opt-level='s'"])
        .args(["--config", "profile.release.lto='fat'"])
        .args(["--config", "profile.release.codegen-units=1"])
        .args(["--config", "profile.release.strip=true"]);
    let run = cargo.output().map_err(|error| format!("cargo: {error}"))?;
    if !run.status.success() {
        let reported = String::from_utf8_lossy(&run.stderr).replace('\n', " ");
        return Err(format!("it does not compile for {TARGET}: {reported}"));
    }
    let module = ours.join(TARGET).join("release/interpreter.wasm");
    fs::read(&module).map_err(|error| format!("{}: {error}", module.display()))
}

fn is_of_the_build(name: &str) -> bool {
    [
        "RUSTC_W",
        "RUSTFLAGS",
        "CARGO_ENCODED",
        "CARGO_PROFILE",
        "CARGO_BUILD",
        "CARGO_TARGET",
        "CARGO_CFG",
    ]
    .iter()
    .any(|prefix| name.starts_with(prefix))
}

fn sysroot() -> Result<String, String> {
    let run = Command::new(variable("RUSTC"))
        .args(["--print", "sysroot"])
        .output();
    let run = run.map_err(|error| format!("rustc: {error}"))?;
    Ok(String::from_utf8_lossy(&run.stdout).trim().to_owned())
}

/// The target folder: three above the folder of a package, and one more where a target is named.
fn shared(out: &Path) -> PathBuf {
    let above = out
        .ancestors()
        .skip(4)
        .find(|path| path.join("CACHEDIR.TAG").exists() || path.join(".rustc_info.json").exists());
    above.unwrap_or(out).to_owned()
}
