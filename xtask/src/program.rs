//! Programs that are run for what they do: installers, unpackers.
//!
//! In: a command. Out: whether it succeeded, or why not in one line. What it prints is not
//! shown.

use std::path::Path;
use std::process::Command;

/// Runs a command to its end.
///
/// # Errors
/// That it does not run, or the last thing that it says before it fails.
pub(crate) fn finished(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output();
    let output = output.map_err(|error| format!("{name} does not run: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let last = text.lines().rev().find(|line| !line.trim().is_empty());
    Err(format!(
        "{name} fails: {}",
        last.unwrap_or("it gave no reason")
    ))
}

/// Downloads Debian's packages, so much, and unpacks them into `folder`; nothing is installed.
///
/// # Errors
/// Why that cannot be done, in one line.
pub(crate) fn unpack(folder: &Path, packages: &[&str], size: u32) -> Result<(), String> {
    eprintln!(
        "downloading {}, {size} MB, into {}",
        packages.join(", "),
        folder.display()
    );
    let unreadable = |error| format!("{}: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(unreadable)?;
    let run = |program: &str, arguments: &[&str]| {
        finished(Command::new(program).args(arguments).current_dir(folder))
    };
    run("apt-get", &[&["download"], packages].concat())?;
    let files = std::fs::read_dir(folder).map_err(unreadable)?;
    for file in files.filter_map(Result::ok) {
        let path = file.path();
        if path.extension().is_some_and(|e| e == "deb") {
            run("dpkg-deb", &["-x", &path.display().to_string(), "."])?;
            let _ = std::fs::remove_file(&path);
        }
    }
    Ok(())
}
