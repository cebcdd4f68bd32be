//! What `isaforge build` costs when nothing was kept, when one family is new, and when
//! nothing is.
//!
//! In: a family file of `isa-specs/x86` (`minmax.yaml` unless another is named), perhaps a
//! vendor's file. Out, on standard output: a row for each run with its seconds. The
//! dictionary has to have the same bytes whatever was kept: else it fails.
//!
//! ```text
//! cargo bench -p cli --bench incremental [-- FAMILY.yaml [vendor.xml]]
//! ```

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;
use std::{env, fs};

fn main() -> ExitCode {
    // What `cargo bench` itself passes begins with a dash.
    let mut named = env::args().skip(1).filter(|a| !a.starts_with('-'));
    let family = named.next().unwrap_or_else(|| "minmax.yaml".to_owned());
    match table(&family, named.next().map(PathBuf::from)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("the dictionaries differ");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the rows; whether all dictionaries of all families are the same.
fn table(family: &str, vendor: Option<PathBuf>) -> io::Result<bool> {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../isa-specs/x86");
    let folder = tempfile::tempdir()?;
    let specs = folder.path().join("specs/x86");
    fs::create_dir_all(&specs)?;
    for entry in fs::read_dir(&ours)? {
        let entry = entry?;
        if entry.path().is_file() {
            fs::copy(entry.path(), specs.join(entry.file_name()))?;
        }
    }
    let manifest = fs::read_to_string(ours.join("manifest.yaml"))?;
    let less: Vec<&str> = manifest.lines().filter(|l| !l.contains(family)).collect();
    let bench = Bench {
        folder: folder.path(),
        vendor,
    };
    let all = bench.run("nothing kept, all families", "one")?;
    fs::write(specs.join("manifest.yaml"), less.join("\n"))?;
    bench.run(&format!("nothing kept, without {family}"), "two")?;
    fs::write(specs.join("manifest.yaml"), &manifest)?;
    let added = bench.run(&format!("all else kept, with {family}"), "two")?;
    let again = bench.run("all kept", "two")?;
    Ok(all == added && all == again)
}

struct Bench<'a> {
    folder: &'a Path,
    vendor: Option<PathBuf>,
}

impl Bench<'_> {
    /// Builds with what is kept under a name, prints the time, returns the dictionary.
    fn run(&self, what: &str, kept: &str) -> io::Result<Vec<u8>> {
        let output = self.folder.join("output");
        let mut command = Command::new(env!("CARGO_BIN_EXE_isaforge"));
        command
            .args(["build", "--isa", "x86", "--isa-specs"])
            .arg(self.folder.join("specs"))
            .arg("--output")
            .arg(&output)
            .arg("--replace")
            .env("XDG_CACHE_HOME", self.folder.join(kept))
            .stdout(Stdio::null());
        if let Some(vendor) = &self.vendor {
            command.arg("--vendor").arg(vendor);
        }
        let started = Instant::now();
        let status = command.status()?;
        let seconds = started.elapsed().as_secs_f64();
        if !status.success() {
            return Err(io::Error::other(format!("isaforge build: {status}")));
        }
        println!("{seconds:6.2} s  {what}");
        fs::read(output.join("x86.dictionary"))
    }
}
